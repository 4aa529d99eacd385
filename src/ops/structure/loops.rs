//! Quark loops Tr[Gamma line exp(-i p x) M^-1] by noise. Columns are contracted in groups right after they are
//! solved, and not kept.

use std::ops::ControlFlow;
use std::sync::Arc;

use num_complex::Complex64;

use super::insertions::{conserved_current, insertions, Lines};
use super::lines::Factor;
use super::sequential::times_spin;
use super::spin::Spin;
use crate::compose::{DiracSolver, SolveReport};
use crate::error::{significant, Result};
use crate::fields::{blas, vanish, GaugeField, Noise, Precision, SpinorField};
use crate::operators::{Boundary, QuarkAction, Wilson};
use crate::ops::gamma::SpinMatrix;
use crate::ops::links_mark::check_configuration;
use crate::ops::propagator::{check, propagates, solve_parts, Solves};
use crate::ops::source::{noise_seed_row, Dilute, Source, COLUMNS};
use crate::params::{choices, parameters, Parameters as _, Set};
use crate::refuse;
use crate::solvers::{no_monitor, Monitor};

choices! {
    /// Ways of contracting noise eta with solutions into loops; S = M^-1.
    pub enum OneEnd: plaq_loops_kind {
        /// eta^dagger Gamma S eta: the loops of S.
        None = 0, PLAQ_LOOPS_PLAIN, "plain";
        /// (S eta)^dagger gamma5 Gamma S eta: the loops of S(mu) gamma5 S(-mu) with twisted mass mu (Boucaud et al.,
        /// Comput. Phys. Commun. 179, 695), so with the factor -2 i mu those of S(mu) - S(-mu).
        Same = 1, PLAQ_LOOPS_ONE_END, "one_end";
        /// (S' gamma5 eta)^dagger gamma5 Gamma S eta: the loops of S S' with another operator, so with the factor
        /// m' - m those of S - S' of two masses (Giusti et al., Eur. Phys. J. C 79, 586). S' is gamma5-hermitian.
        Other = 2, PLAQ_LOOPS_DIFFERENCE, "difference";
    }
}

parameters! {
    /// Parameters of the noise for loops.
    pub composed struct LoopsParams: plaq_loops_params {
        /// Estimator: how noise and solutions are contracted, by one-end tricks or without.
        kind: OneEnd = OneEnd::None;
        /// Numbers from which noise at all sites is drawn.
        noise: Noise = Noise::Z4;
        with noise_seed_row;
        /// Number of the first noise vector; a later one continues an earlier estimate.
        first: usize = 0, within(0, 1 << 20);
        /// Number of noise vectors.
        vectors: usize = 1, within(1, 1 << 20);
        /// Indices in which noise is diluted, any of PLAQ_DILUTE_SPIN, PLAQ_DILUTE_COLOUR, PLAQ_DILUTE_PARITY and
        /// PLAQ_DILUTE_TIME together; contributions of the parts are added.
        dilute: Set<Dilute> = Set::NONE;
        /// Number of parts of the time slices with PLAQ_DILUTE_TIME, else 0.
        time_parts: usize = 0, within(0, 1 << 20);
        /// Hierarchical probing: number of plane waves by which each noise vector is multiplied, 1 (none) to the
        /// number of sites; the estimate is the mean over them. Complete levels work best: for extents divisible by 4
        /// they are 2, 16, 32, 256.
        probes: usize = 1, within(1, i32::MAX as i64);
        /// Complex factor (re, im) of all loops: -2 i mu for PLAQ_LOOPS_ONE_END, m' - m for PLAQ_LOOPS_DIFFERENCE.
        factor: [f64; 2] = [1.0, 0.0];
    }
}

impl LoopsParams {
    /// Makes the noise; in messages names of members follow `argument`, if that is not empty.
    ///
    /// # Errors
    /// `InvalidArgument`: parts of the time slices without dilution in time, more vectors than there are seeds for,
    /// or a factor that is not finite.
    pub fn noise(&self, argument: &str) -> Result<LoopNoise> {
        self.check_rows(argument)?;
        let prefix = if argument.is_empty() { String::new() } else { format!("{argument}.") };
        if self.dilute.contains(Dilute::Time) != (self.time_parts > 0) {
            refuse!(
                InvalidArgument,
                "{prefix}time_parts",
                expected("a divisor of the lattice's T with PLAQ_DILUTE_TIME, 0 without"),
                found("{}", self.time_parts)
            );
        }
        if self.first + self.vectors > 1 << 20 {
            refuse!(
                InvalidArgument,
                "{prefix}vectors",
                expected("at most 1048576 with those before"),
                found("{}", self.first + self.vectors)
            );
        }
        if self.factor.iter().any(|x| !x.is_finite()) {
            refuse!(
                InvalidArgument,
                "{prefix}factor",
                expected("two numbers"),
                found("{:?}", self.factor)
            );
        }
        Ok(LoopNoise {
            noise: self.noise,
            seed: self.seed,
            first: self.first,
            vectors: self.vectors,
            dilute: [Dilute::Spin, Dilute::Colour, Dilute::Parity].map(|i| self.dilute.contains(i)),
            time_parts: self.time_parts.max(1),
            probes: self.probes,
        })
    }
}

/// The noise vectors, and the columns of each: one for every part of a dilution, whose contributions are added, and
/// for every probing vector, over which the mean is taken.
#[derive(Clone, Copy, Debug)]
pub struct LoopNoise {
    pub noise: Noise,
    pub seed: u64,
    /// Number of the first noise vector.
    pub first: usize,
    pub vectors: usize,
    /// Whether noise is diluted in spin, colour and parity.
    pub dilute: [bool; 3],
    /// Number of parts of the time slices in which noise is diluted; 1: none.
    pub time_parts: usize,
    /// Number of probing vectors, 1 to the lattice's volume ([`probe`]).
    pub probes: usize,
}

impl LoopNoise {
    fn source(&self) -> Source {
        Source {
            noise: Some(self.noise),
            seed: self.seed,
            vectors: self.first + self.vectors,
            dilute: [false, false, self.dilute[2]],
            time_parts: self.time_parts,
            ..Source::volume()
        }
    }

    /// Refuses parts of time slices and numbers of waves that are not possible on a lattice.
    ///
    /// # Errors
    /// `InvalidArgument`: no waves or more than sites, or parts of the time slices that do not divide T.
    pub fn check(&self, extents: [usize; 4]) -> Result<()> {
        if self.probes == 0 {
            refuse!(InvalidArgument, "probes", expected("1 or more"), found("0"));
        }
        probe(extents, self.probes - 1)?;
        if !extents[3].is_multiple_of(self.time_parts.max(1)) {
            refuse!(
                InvalidArgument,
                "time_parts",
                expected("a divisor of the lattice's T, {}", extents[3]),
                found("{}", self.time_parts)
            );
        }
        Ok(())
    }

    /// Number of columns that a noise vector is split into.
    pub fn columns(&self) -> usize {
        self.parts().iter().product::<usize>() * self.probes
    }

    /// The dilution as [number of spins with columns of their own, number of such colours, columns of one spin and
    /// colour of a vector].
    fn parts(&self) -> [usize; 3] {
        let [spin, colour, _] = self.dilute;
        let rest = Source { vectors: 1, ..self.source() }.columns();
        [if spin { 4 } else { 1 }, if colour { 3 } else { 1 }, rest]
    }

    /// Number of noise vectors, at least one, whose columns of the same plane wave are solved for together if `at_once`
    /// columns are; 0: twelve columns.
    pub(super) fn vectors_together(&self, at_once: usize) -> usize {
        let parts: usize = self.parts().iter().product();
        (if at_once == 0 { COLUMNS } else { at_once } / parts).max(1)
    }

    /// Sets columns `first` and following, as many as the field has, of a noise vector, times a plane wave. Every
    /// column has independent noise, also columns of the same vector with other spins and colours, for which sources
    /// of mesons share the noise; so errors of contributions that are added are independent. The columns are zero on
    /// time slices where quarks vanish at boundaries.
    pub(super) fn set(
        &self,
        b: &SpinorField,
        vector: usize,
        first: usize,
        wave: [i32; 4],
    ) -> Result<()> {
        let [spins, colours, rest] = self.parts();
        for k in 0..b.nrhs() {
            let parts = spins * colours * rest;
            let (vector, column) = (vector + (first + k) / parts, (first + k) % parts);
            let source = Source {
                colour: (colours > 1).then_some(column % colours),
                spin: (spins > 1).then_some(column / colours % spins),
                first: vector * rest + column / (colours * spins),
                count: Some(1),
                momentum: wave,
                ..self.source()
            };
            let mut column = b.columns(k, 1)?;
            source.set(&mut column)?;
            vanish(&mut column, b.geometry().boundary())?;
        }
        Ok(())
    }
}

/// The plane wave number c, as [n_x, n_y, n_z, n_t], of the waves exp(2 pi i sum_mu n_mu x_mu / L_mu) with which
/// noise is multiplied in hierarchical probing (Stathopoulos, Laeuchli, Orginos, SIAM J. Sci. Comput. 35, S299, with
/// waves for Hadamard vectors). The mean over the first N waves cancels contributions of all pairs of sites of
/// different colours, if N is the number of colours of a complete level: even and odd sites (N = 2), all coordinates
/// modulo 2 (16), with checkerboards of these (32), modulo 4 (256), ...; factors 3, 5, ... of extents come last.
/// Every level contains the waves of those before it, and in the last one each site has its own colour.
///
/// # Errors
/// `InvalidArgument`: `c` is not less than the number of sites.
pub fn probe(extents: [usize; 4], c: usize) -> Result<[i32; 4]> {
    let volume: usize = extents.iter().product();
    if c >= volume {
        refuse!(
            InvalidArgument,
            "probes",
            expected("1 to {volume}, a wave for each site"),
            found("{}", c + 1)
        );
    }
    let (mut remainder, mut n) = (c, [0; 4]);
    for (order, wave) in generators(extents) {
        let digit = remainder % order;
        remainder /= order;
        for mu in 0..4 {
            n[mu] = (n[mu] + digit * wave[mu]) % extents[mu];
        }
    }
    Ok(n.map(|n| n as i32))
}

/// Plane waves that generate all others, each with the number of its multiples that are not generated by those before
/// it.
fn generators(extents: [usize; 4]) -> Vec<(usize, [usize; 4])> {
    let mut all = vec![];
    let mut left = extents;
    let mut prime = 2;
    while left != [1; 4] {
        let mut power = prime;
        loop {
            let divisible: Vec<usize> =
                (0..4).filter(|&mu| left[mu].is_multiple_of(prime)).collect();
            if divisible.is_empty() {
                break;
            }
            let along = |mu: usize| {
                let mut wave = [0; 4];
                wave[mu] = extents[mu] / power;
                (prime, wave)
            };
            match prime == 2 && divisible.len() == 4 {
                // The first waves separate the two parities.
                true => {
                    all.push((2, extents.map(|l| l / power)));
                    all.extend((0..3).map(along));
                }
                false => all.extend(divisible.iter().map(|&mu| along(mu))),
            }
            divisible.iter().for_each(|&mu| left[mu] /= prime);
            power *= prime;
        }
        prime += 1;
    }
    all
}

/// The smallest number of waves of hierarchical probing, forming a group, whose mean cancels all pairs of different
/// sites up to `reach` steps apart.
pub(super) fn probes_beyond(extents: [usize; 4], reach: usize) -> usize {
    let (all, far) = (generators(extents), reach as i64);
    let axis = |mu: usize| {
        let farthest = far.min(extents[mu] as i64 / 2);
        -farthest..=farthest
    };
    let near = |x: [i64; 4]| (1..=far).contains(&x.iter().map(|x| x.abs()).sum());
    let mut kept: Vec<[i64; 4]> = axis(0)
        .flat_map(|x| axis(1).map(move |y| [x, y]))
        .flat_map(|[x, y]| axis(2).map(move |z| [x, y, z]))
        .flat_map(|[x, y, z]| axis(3).map(move |t| [x, y, z, t]))
        .filter(|x| near(*x))
        .collect();
    let mut count = 1;
    for (order, wave) in all {
        if kept.is_empty() {
            break;
        }
        // Sites whose phases exp(2 pi i sum_mu n_mu x_mu / L_mu) are 1.
        let volume: i64 = extents.iter().map(|l| *l as i64).product();
        let turns = |x: &[i64; 4]| {
            (0..4).map(|mu| wave[mu] as i64 * x[mu] * (volume / extents[mu] as i64)).sum::<i64>()
        };
        kept.retain(|x| turns(x).rem_euclid(volume) == 0);
        count *= order;
    }
    count
}

/// Loops of one noise vector.
pub struct Loops {
    /// Loops [line][Gamma][momentum][t], with t the time on the lattice.
    pub lines: Vec<Complex64>,
    /// Loops of the conserved vector current: [mu][momentum][t].
    pub current: Vec<Complex64>,
}

impl Loops {
    /// Loops of the same shape with all numbers zero.
    fn nothing(like: &Loops) -> Loops {
        let zeros = |of: &[Complex64]| vec![Complex64::ZERO; of.len()];
        Loops { lines: zeros(&like.lines), current: zeros(&like.current) }
    }
    pub(super) fn add(&mut self, other: &Loops, factor: Complex64) {
        let all = self.lines.iter_mut().chain(&mut self.current);
        all.zip(other.lines.iter().chain(&other.current)).for_each(|(sum, z)| *sum += factor * z);
    }
}

/// Operators in loops: lines as in [`insertions`], and momenta p of the phase exp(-i p x), where x is the place of
/// Gamma, counted from the lattice's origin.
#[derive(Clone, Copy)]
pub struct LoopOperators<'a> {
    pub lines: &'a [Vec<Factor>],
    pub momenta: &'a [[i32; 3]],
    /// Links along lines, which may be smeared.
    pub links: &'a Arc<GaugeField>,
    /// Links of the operator, with which its vector current is conserved.
    pub own: &'a Arc<GaugeField>,
    pub boundary: [f64; 4],
}

impl LoopOperators<'_> {
    /// Contracts X^dagger gamma5 with S and sums over their columns.
    ///
    /// # Errors
    /// Errors of [`insertions`].
    pub fn contracted(&self, back: &SpinorField, forward: &SpinorField) -> Result<Loops> {
        let lines = Lines {
            back,
            forward,
            links: Some(self.links),
            boundary: [Boundary(self.boundary); 2],
            origin: [0; 4],
        };
        let backwards: Vec<[i32; 3]> = self.momenta.iter().map(|p| p.map(|n| -n)).collect();
        let current = conserved_current(Lines { links: Some(self.own), ..lines }, &backwards)?;
        Ok(Loops { lines: insertions(lines, self.lines, &backwards)?, current })
    }
}

/// A function that computes L b, the approximate inverse by low modes, or if its argument is true L' b of the second
/// quark; this is subtracted from inverses.
pub type LowInverse<'a> = dyn Fn(&SpinorField, bool) -> Result<SpinorField> + 'a;
/// A function that changes columns of solutions before these are contracted.
pub type Change<'a> = dyn Fn(&mut SpinorField) -> Result<()> + 'a;

/// The way in which solutions are contracted: the kind, the second quark if there is one, and a factor for the loops.
#[derive(Clone, Copy)]
pub struct LoopKind<'a> {
    pub how: OneEnd,
    pub other: Option<&'a DiracSolver>,
    pub factor: Complex64,
    /// Low modes whose contribution is subtracted: the loops are those of M^-1 - L, S S' - L L' or S(mu) gamma5
    /// S(-mu) - L(mu) gamma5 L(-mu).
    pub low: Option<&'a LowInverse<'a>>,
    /// A function applied to solutions of plain loops, without low modes.
    pub change: Option<&'a Change<'a>>,
}

/// The twisted mass of an operator.
fn twisted_mass(op: &dyn QuarkAction) -> f64 {
    op.as_any().downcast_ref::<Wilson>().map_or(0.0, |op| op.params().mu)
}

/// Refuses quarks of which a kind of loops cannot be made: one without a twisted mass for `OneEnd::Same`; for
/// `OneEnd::Other` none, two of one mass, whose difference is zero, or twisted ones, as contractions take S' as
/// gamma5-hermitian.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn check_quarks(
    how: OneEnd,
    solver: &DiracSolver,
    other: Option<&DiracSolver>,
    factor: Complex64,
) -> Result<()> {
    match (how, other) {
        (OneEnd::None, _) => {}
        (OneEnd::Same, _) => {
            if twisted_mass(&**solver.op()) == 0.0 {
                refuse!(
                    InvalidArgument,
                    "solver",
                    expected("an operator with a twisted mass mu for {how}"),
                    found("mu = 0")
                );
            }
        }
        (OneEnd::Other, None) => {
            refuse!(
                InvalidArgument,
                "other",
                expected("the solver of the other quark"),
                found("none")
            )
        }
        (OneEnd::Other, Some(other)) => {
            for (name, solver) in [("solver", solver), ("other", other)] {
                let mu = twisted_mass(&**solver.op());
                if mu != 0.0 {
                    refuse!(
                        InvalidArgument,
                        "{name}",
                        expected("an operator without a twisted mass for {how}"),
                        found("mu = {mu}")
                    );
                }
            }
            if factor == Complex64::ZERO {
                refuse!(
                    InvalidArgument,
                    "other",
                    expected("another mass than that of `solver`, as the difference of equal quarks is zero"),
                    found("the same")
                );
            }
        }
    }
    Ok(())
}

/// Refuses two operators D and D', in mass normalisation, unless D' - D is the number `factor`; this is tested on a
/// random vector.
fn check_difference(solver: &DiracSolver, other: &DiracSolver, factor: Complex64) -> Result<()> {
    let shape = solver.op().shape();
    let mut b = shape.field(1)?;
    b.set_noise(Noise::Normal, 1, 0)?;
    let image = |op: &dyn QuarkAction| {
        let mut out = shape.field(1)?;
        op.apply(&mut out, &b)?;
        let scale = blas::uniform(1, 1.0 / op.mass_scale());
        blas::axpby(&blas::uniform(1, 0.0), &b, &scale, &mut out)?;
        Ok::<_, crate::error::Error>(out)
    };
    let (own, mut left) = (image(&**solver.op())?, image(&**other.op())?);
    let size = blas::norm2(&own)?[0].sqrt();
    blas::axpy(&blas::uniform(1, -1.0), &own, &mut left)?;
    blas::axpy(&[-factor], &b, &mut left)?;
    let off = blas::norm2(&left)?[0].sqrt() / size;
    if off.is_nan() || off > 1e4 * shape.precision.epsilon() {
        refuse!(
            InvalidArgument,
            "other",
            expected("an operator that differs in the mass alone, by {}", factor.re),
            found("one that differs from it by {} of itself", significant(off, 2))
        );
    }
    Ok(())
}

/// Estimates the sum over x of exp(-i p x) tr\[Gamma line S\] by noise vectors, without the sign of the fermion loop,
/// times `factor`. `done` is called with the number and the estimates of each noise vector, in order. If noise
/// vectors have few columns, several are solved together. If the monitor asks for it, the function ends early,
/// without the vectors that are not complete.
///
/// # Errors
/// `BadParameter`: not a solver for M; `InvalidArgument`: [`probe`], errors of [`insertions`]; `Unsupported`:
/// operators in half precision; those of [`DiracSolver::solve`].
pub fn loops(
    (solver, at_once): (&DiracSolver, usize),
    noise: LoopNoise,
    LoopKind { how, other, factor, low, change }: LoopKind,
    operators: LoopOperators,
    monitor: &mut Monitor,
    done: &mut dyn FnMut(usize, Loops),
) -> Result<SolveReport> {
    let shape = solver.op().shape();
    for solver in [Some(solver), other].into_iter().flatten() {
        if !propagates(&**solver.op()) || solver.op().shape().precision == Precision::F16 {
            refuse!(
                Unsupported,
                "solver",
                expected("an operator on spinors in single or double precision"),
                found("{}", solver.op().describe())
            );
        }
    }
    check_quarks(how, solver, other, factor)?;
    let other = match (how, other) {
        (OneEnd::Other, Some(other)) => {
            if other.op().shape().geometry != shape.geometry
                || other.op().shape().precision != shape.precision
            {
                refuse!(
                    FieldMismatch,
                    "other",
                    expected("an operator of the same lattice and precision")
                );
            }
            check(other, COLUMNS, at_once)?;
            check_difference(solver, other, factor)?;
            Some(other)
        }
        _ => None,
    };
    check_configuration(solver.op().links(), "solver", operators.links, "gauge")?;
    let extents = shape.geometry.global_extents();
    let parts: usize = noise.parts().iter().product();
    let together = noise.vectors_together(at_once).min(noise.vectors);
    check(solver, parts * together, at_once)?;
    noise.check(extents)?;
    let five = Spin::from(SpinMatrix::gamma5());
    let (mut total, mut ended) = (None::<SolveReport>, false);
    let end = noise.first + noise.vectors;
    for vector in (noise.first..end).step_by(together) {
        let columns = parts * together.min(end - vector);
        let at_once = if at_once == 0 { COLUMNS } else { at_once }.min(columns);
        let mut sums: Vec<Option<Loops>> = vec![];
        sums.resize_with(columns / parts, || None);
        for c in 0..noise.probes {
            let momentum = probe(extents, c)?;
            let eta = |first: usize, count: usize| {
                let b = shape.field(count)?;
                noise.set(&b, vector, first, momentum)?;
                Ok(b)
            };
            let solutions = |_: usize, count: usize| shape.field(count);
            let mut of_other: Option<SolveReport> = None;
            let mut take = |first: usize, mut x: SpinorField, report: &SolveReport| {
                if report.solver.stopped {
                    ended = true;
                    return Ok(ControlFlow::Break(()));
                }
                let mut less = low.map(|low| low(&eta(first, x.nrhs())?, false)).transpose()?;
                if how == OneEnd::None {
                    if let Some(less) = less.take() {
                        blas::axpy(&blas::uniform(x.nrhs(), -1.0), &less, &mut x)?;
                    }
                    change.map_or(Ok(()), |change| change(&mut x))?;
                }
                let (mut back, mut less_back) = (None, None);
                if how != OneEnd::Same {
                    let b = eta(first, x.nrhs())?;
                    times_spin(&b, five)?;
                    back = Some(b);
                }
                if let (Some(other), Some(b)) = (other, &mut back) {
                    less_back = low.map(|low| low(b, true)).transpose()?;
                    let mut solved = shape.field(b.nrhs())?;
                    let report = other.solve(&mut solved, b, &mut no_monitor)?;
                    of_other = Some(match of_other.take() {
                        Some(before) => before.join(report),
                        None => report,
                    });
                    *b = solved;
                }
                let back = back.as_ref().unwrap_or(&x);
                let less = less.as_ref().map(|less| (less_back.as_ref().unwrap_or(less), less));
                let factor = factor / noise.probes as f64;
                // Each vector has an estimate of its own.
                let mut column = 0;
                while column < x.nrhs() {
                    let place = (first + column) / parts;
                    let count = ((place + 1) * parts - first - column).min(x.nrhs() - column);
                    let of = |back: &SpinorField, x: &SpinorField| {
                        operators
                            .contracted(&back.columns(column, count)?, &x.columns(column, count)?)
                    };
                    let mut found = of(back, &x)?;
                    if let Some((back, x)) = less {
                        found.add(&of(back, x)?, Complex64::from(-1.0));
                    }
                    match &mut sums[place] {
                        Some(sum) => sum.add(&found, factor),
                        none => {
                            let mut sum = Loops::nothing(&found);
                            sum.add(&found, factor);
                            *none = Some(sum);
                        }
                    }
                    column += count;
                }
                Ok(ControlFlow::Continue(()))
            };
            let by = Solves::of(solver);
            let report =
                solve_parts(&by, at_once, columns, (&eta, &solutions), monitor, &mut take)?;
            // A solve for the other quark counts like those for the first.
            let report = match of_other {
                Some(other) => report.join(other),
                None => report,
            };
            total = Some(match total.take() {
                Some(before) => before.join(report),
                None => report,
            });
            if ended {
                break;
            }
        }
        if ended {
            break;
        }
        for (k, sums) in sums.into_iter().flatten().enumerate() {
            done(vector + k, sums);
        }
    }
    match total {
        Some(report) => Ok(report),
        None => refuse!(InvalidArgument, "vectors", expected("1 or more"), found("0")),
    }
}
