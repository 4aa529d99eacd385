//! Quarks at the boundaries of the Schroedinger functional: boundary-to-bulk propagators and the correlators f_A, f_P
//! and f_1 (Luescher, Weisz, Nucl. Phys. B 479 (1996) 429; Luescher, Sint, Sommer, Wittig, Nucl. Phys. B 491 (1997)
//! 344).

use std::f64::consts::PI;

use num_complex::Complex64;

use super::contract::{mesons, Sink};
use super::gamma::Gamma;
use super::propagator::propagator_of;
use crate::backend::External;
use crate::bail;
use crate::compose::{DiracSolver, Normalisation, SolveReport};
use crate::error::{host_array, Result};
use crate::fields::{blas, BoundaryKind, GammaBasis, Layout, Precision, SpinorField};
use crate::linop::LinOp;
use crate::operators::{CovariantShift, Wilson};
use crate::params::choices;
use crate::refuse;
use crate::solvers::Monitor;

choices! {
    /// Boundaries of the Schroedinger functional.
    pub enum BoundaryEnd: plaq_boundary_end {
        /// The boundary at slice 0.
        Lower = 0, PLAQ_BOUNDARY_END_LOWER, "lower";
        /// The boundary at slice T, the one after the last stored slice.
        Upper = 1, PLAQ_BOUNDARY_END_UPPER, "upper";
    }
}

/// Number of columns that are solved for: spins 0 and 1 of three colours; the projector gives the others.
const COLUMNS: usize = 6;

impl BoundaryEnd {
    /// The sign of gamma_t in the projector on boundary fields: (1 + gamma_t) / 2 at the lower boundary, (1 -
    /// gamma_t) / 2 at the upper one.
    fn sign(self) -> f64 {
        match self {
            BoundaryEnd::Lower => 1.0,
            BoundaryEnd::Upper => -1.0,
        }
    }
    /// The step, as in paths, from the slice next to the boundary to the boundary itself; boundary fields are stored
    /// on slice 0 for both boundaries.
    fn step(self) -> u8 {
        match self {
            BoundaryEnd::Lower => 4,
            BoundaryEnd::Upper => 3,
        }
    }
}

/// A solver, with data that functions of this file share.
struct Quarks<'a> {
    solver: &'a DiracSolver,
    wilson: &'a Wilson,
    at_once: usize,
    /// Phases theta of quarks in x, y, z, in units of pi.
    phases: [f64; 3],
}

impl<'a> Quarks<'a> {
    fn new(solver: &'a DiracSolver, at_once: usize, phases: [f64; 3]) -> Result<Self> {
        match solver.op().as_any().downcast_ref::<Wilson>() {
            Some(wilson) if wilson.gauge().precision() != Precision::F16 => {
                Ok(Quarks { solver, wilson, at_once, phases })
            }
            _ => refuse!(
                Unsupported,
                "solver",
                expected("a Wilson operator in single or double precision")
            ),
        }
    }

    fn kind(&self) -> BoundaryKind {
        self.wilson.gauge().geometry().boundary().kind()
    }

    fn check(&self, end: BoundaryEnd) -> Result<()> {
        let hop = self.wilson.params().hop[3];
        if hop != 1.0 {
            refuse!(Unsupported, "hop[3]", expected("1 for boundary fields"), found("{hop}"));
        }
        let there = match end {
            BoundaryEnd::Lower => self.kind() == BoundaryKind::Sf,
            BoundaryEnd::Upper => matches!(self.kind(), BoundaryKind::Sf | BoundaryKind::OpenSf),
        };
        match there {
            true => Ok(()),
            false => refuse!(
                Unsupported,
                "boundary_time",
                expected("fixed links at the {end} boundary"),
                found("{}", self.kind())
            ),
        }
    }

    /// The coefficient c~t of boundary fields at this boundary: cF, or cF'.
    fn coefficient(&self, end: BoundaryEnd) -> f64 {
        match end {
            BoundaryEnd::Lower => self.wilson.params().cf,
            BoundaryEnd::Upper => self.wilson.params().cf_prime,
        }
    }

    fn volume(&self) -> f64 {
        let [x, y, z, _] = self.wilson.gauge().geometry().global_extents();
        (x * y * z) as f64
    }

    /// The source on time slice 0: column 3 s + c is P e_s e_c for s = 0, 1, times exp(i theta x / L), the wave of a
    /// quark of momentum zero.
    fn wall(&self, end: BoundaryEnd) -> Result<SpinorField> {
        let geometry = self.wilson.gauge().geometry();
        let (local, whole, origin) =
            (geometry.extents(), geometry.global_extents(), geometry.origin());
        let field = self.solver.op().shape().field(COLUMNS)?;
        let slice = if origin[3] == 0 { local[0] * local[1] * local[2] } else { 0 };
        let mut host = host_array(24 * geometry.volume(), 0.0, "a column on the host")?;
        let layout = Layout::lexicographic_spinor(Precision::F64, GammaBasis::DeGrandRossi);
        for column in 0..COLUMNS {
            host.fill(0.0);
            for site in 0..slice {
                let x = [site % local[0], site / local[0] % local[1], site / (local[0] * local[1])];
                let turn =
                    (0..3).map(|k| self.phases[k] * (x[k] + origin[k]) as f64 / whole[k] as f64);
                let phase = Complex64::from_polar(0.5, PI * turn.sum::<f64>());
                for (spin, sign) in [(column / 3, 1.0), (column / 3 + 2, end.sign())] {
                    let at = 24 * site + 2 * (3 * spin + column % 3);
                    (host[at], host[at + 1]) = (sign * phase.re, sign * phase.im);
                }
            }
            let mut one = field.columns(column, 1)?;
            one.load(&layout, &External::read(&[&host[..]]), false)?;
        }
        Ok(field)
    }

    /// Parallel transports fields by one slice away from this boundary: from slice 0, which stores fields of the
    /// boundary, to the slice next to it, and from the slice next to the opposite boundary to that boundary.
    fn carried(&self, from: &SpinorField, end: BoundaryEnd) -> Result<SpinorField> {
        let links = self.wilson.gauge().clone();
        let shift =
            CovariantShift::new(links, from.components(), vec![end.step()])?.with_boundary_fields();
        let mut to = from.like(from.precision())?;
        shift.apply(&mut to, from)?;
        Ok(to)
    }

    /// Solves for the first six columns of the boundary-to-bulk propagator H, those of spins 0 and 1.
    fn solve(&self, end: BoundaryEnd, watch: &mut Monitor) -> Result<(SpinorField, SolveReport)> {
        self.check(end)?;
        let source = self.carried(&self.wall(end)?, end)?;
        let (mut h, report) = propagator_of(self.solver, &source, self.at_once, watch)?;
        let scale = match self.solver.params().normalisation {
            Normalisation::Mass => 1.0,
            Normalisation::Kappa => self.solver.op().mass_scale(),
        };
        let scale = blas::uniform(COLUMNS, scale * self.coefficient(end));
        blas::axpby(&blas::uniform(COLUMNS, 0.0), &source, &scale, &mut h)?;
        Ok((h, report))
    }

    /// All twelve columns of H; columns of spins 2 and 3 are plus or minus those of spins 0 and 1.
    fn all_columns(&self, end: BoundaryEnd, h: &SpinorField) -> Result<SpinorField> {
        let all = self.solver.op().shape().field(2 * COLUMNS)?;
        for (first, sign) in [(0, 1.0), (COLUMNS, end.sign())] {
            let mut half = all.columns(first, COLUMNS)?;
            let zero = blas::uniform(COLUMNS, 0.0);
            half.clear()?;
            blas::axpby(&blas::uniform(COLUMNS, sign), h, &zero, &mut half)?;
        }
        Ok(all)
    }

    /// Computes f_1 = 1/2 tr K^dagger K, K = c~t sum_x P U(x, 0)^-1 H(x) / L^3 on the slice next to the other
    /// boundary.
    fn f_1(&self, end: BoundaryEnd, h: &SpinorField) -> Result<f64> {
        let other = match end {
            BoundaryEnd::Lower => BoundaryEnd::Upper,
            BoundaryEnd::Upper => BoundaryEnd::Lower,
        };
        let (wall, there) = (self.wall(end)?, self.carried(h, end)?);
        let mut sum = 0.0;
        for i in 0..COLUMNS {
            for j in 0..COLUMNS {
                sum += blas::dot(&wall.columns(i, 1)?, &there.columns(j, 1)?)?[0].norm_sqr();
            }
        }
        // Unit vectors of the projector are columns of the wall times the root of 2.
        Ok(0.5 * 4.0 * sum * (self.coefficient(other) / self.volume()).powi(2))
    }
}

/// The boundary-to-bulk propagator H(x) = c~t sum_y D^-1(x, y) U(y - t, t)^dagger P_+ with y on slice 1, of the lower
/// end, or c~t sum_y D^-1(x, y) U(y, t) P_- with y on slice T - 1, of the upper one. P_+- = (1 +- gamma_t) / 2. It
/// has twelve columns, 3 spin + colour of the boundary field, of which six are solved for. c~t is cF, or cF' at the
/// upper end, and D is that of mass normalisation. `phases`: phases theta of quarks in x, y, z in units of pi;
/// boundary fields of momentum zero are exp(i theta x / L).
///
/// # Errors
/// `Unsupported`: links that are not fixed at this boundary, another action, half precision; errors of
/// [`super::propagator::propagator_of`].
pub fn boundary_propagator(
    solver: &DiracSolver,
    end: BoundaryEnd,
    (at_once, phases): (usize, [f64; 3]),
    watch: &mut Monitor,
) -> Result<(SpinorField, SolveReport)> {
    let quarks = Quarks::new(solver, at_once, phases)?;
    let (h, report) = quarks.solve(end, watch)?;
    Ok((quarks.all_columns(end, &h)?, report))
}

/// Correlators of boundary fields for each slice x0. They are 0 on slices where quarks vanish, and NaN if the links
/// do not have that boundary.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryCorrelators {
    /// f_A(x0) = -1/2 tr H^dagger gamma_t H, averaged over space, for H of the lower boundary.
    pub f_a: Vec<f64>,
    pub f_p: Vec<f64>,
    /// g_A(x0) = 1/2 tr H^dagger gamma_t H for H of the upper boundary, which is f_A with time reversed.
    pub g_a: Vec<f64>,
    pub g_p: Vec<f64>,
    /// The correlator f_1 between the fields of both boundaries.
    pub f_1: f64,
}

/// Computes all correlators for the boundaries that the links have; the report is that of all solves.
///
/// # Errors
/// Errors of [`boundary_propagator`].
pub fn boundary_correlators(
    solver: &DiracSolver,
    (at_once, phases): (usize, [f64; 3]),
    watch: &mut Monitor,
) -> Result<(BoundaryCorrelators, SolveReport)> {
    let quarks = Quarks::new(solver, at_once, phases)?;
    let ends = match quarks.kind() {
        BoundaryKind::Sf => &[BoundaryEnd::Lower, BoundaryEnd::Upper][..],
        _ => &[BoundaryEnd::Upper],
    };
    let unknown = || vec![f64::NAN; solver.op().shape().geometry.global_extents()[3]];
    let mut found = BoundaryCorrelators {
        f_a: unknown(),
        f_p: unknown(),
        g_a: unknown(),
        g_p: unknown(),
        f_1: f64::NAN,
    };
    let mut total: Option<SolveReport> = None;
    for &end in ends {
        let (h, report) = quarks.solve(end, watch)?;
        let all = quarks.all_columns(end, &h)?;
        let pairs = mesons(&all, &all, Sink::at_rest(0))?;
        let of = |sink: Gamma, factor: f64| -> Vec<f64> {
            let factor = factor / quarks.volume();
            // Adding 0 turns -0 into 0.
            pairs.correlator(sink, Gamma::FIVE).iter().map(|z| factor * z.re + 0.0).collect()
        };
        // Gamma number 7 is gamma_x gamma_y gamma_z = -gamma_t gamma5.
        let axial = of(Gamma::new(7)?, -0.5 * end.sign());
        let density = of(Gamma::FIVE, 0.5);
        match end {
            BoundaryEnd::Lower => {
                (found.f_a, found.f_p) = (axial, density);
                found.f_1 = quarks.f_1(end, &h)?;
            }
            BoundaryEnd::Upper => (found.g_a, found.g_p) = (axial, density),
        }
        total = Some(match total {
            Some(before) => before.join(report),
            None => report,
        });
    }
    match total {
        Some(report) => Ok((found, report)),
        None => bail!(Internal, "boundary correlators: no end"),
    }
}
