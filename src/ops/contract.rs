//! Hadron correlators: contractions of quark propagators at a sink that is summed over space with a momentum.

use num_complex::Complex64;

use super::gamma::{Gamma, SpinMatrix};
use super::source::{check_momentum, check_propagator, check_spinors};
use super::structure::spin::{Diquark, Projector, Spin};
use super::structure::three_quarks::{Pairing, ThreeQuarks};
use crate::backend::args::MesonArgs;
use crate::backend::kernels;
use crate::bail;
use crate::error::{words, Result};
use crate::fields::time_slices::over_slices;
use crate::fields::{blas, Geometry, Precision, SpinorField};
use crate::operators::Boundary;
use crate::params::choices;
use crate::refuse;

/// The source's position, the momentum of the sink, and the boundary of the hadron.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sink {
    /// Position of the source: times are counted from its t, and the momentum's phase is 1 at its x, y, z.
    pub origin: [usize; 4],
    /// Integer momentum: p_i = (2 pi momentum_i + pi shift_i) / L_i with the shift of `boundary`
    /// ([`Boundary::momentum_shift`]), and the sum over space has the phase exp(-i p (x - origin)).
    pub momentum: [i32; 3],
    /// The boundary of the product of the hadron's quarks. Its phase in time, of modulus 1, multiplies the contractions
    /// at times before the source's, which are reached across the end of the lattice, and is divided out.
    pub boundary: Boundary,
}

impl Sink {
    /// A sink for quark and antiquark with the same boundary, whose phases cancel.
    pub fn new(origin: [usize; 4], momentum: [i32; 3]) -> Self {
        Sink { origin, momentum, boundary: Boundary::PERIODIC }
    }
    /// Such a sink of momentum 0, for a source on this time slice.
    pub fn at_rest(time: usize) -> Self {
        Sink::new([0, 0, 0, time], [0; 3])
    }

    fn check(&self, geometry: &Geometry) -> Result<()> {
        let extents = geometry.global_extents();
        if self.origin.iter().zip(extents).any(|(&x, l)| x >= l) {
            let origin = self.origin;
            bail!(InvalidArgument, "position: {origin:?} is outside of the lattice {extents:?}");
        }
        check_momentum(self.wave())
    }

    fn wave(&self) -> [i32; 4] {
        let [x, y, z] = self.momentum;
        [x, y, z, 0]
    }

    fn moving(&self) -> i32 {
        (self.momentum != [0; 3] || self.boundary.momentum_shift() != [0.0; 4]) as i32
    }
}

/// A copy of the field in single precision if it is in half precision, which contractions do not support; else
/// `None`.
fn widened(field: &SpinorField) -> Result<Option<SpinorField>> {
    if field.precision() != Precision::F16 {
        return Ok(None);
    }
    let mut single = field.like(Precision::F32)?;
    blas::copy(&mut single, field)?;
    Ok(Some(single))
}

/// Contractions of two quark propagators in all spin components, from which the correlators for all pairs of Gammas
/// follow.
#[derive(Clone, Debug)]
pub struct Mesons {
    /// For each time from the source, the contraction summed over space, with index 4 (4 (4 alpha + gamma) + beta) +
    /// delta of the four spin indices.
    spins: Vec<[Complex64; 256]>,
}

impl Mesons {
    /// The correlator with Gamma_A at the sink and Gamma_B at the source over the time from the
    /// source,
    ///
    /// C_AB(t) = sum_x exp(-i p (x - x0)) <O_A(x, t0 + t) O_B(x0, t0)^dagger>, O_A = qbar' Gamma_A q,
    ///         = -sum_x exp(-i p (x - x0)) tr\[Gamma_A S(x, x0) gamma_t Gamma_B^dagger gamma_t
    ///           gamma5 S'(x, x0)^dagger gamma5\],
    ///
    /// connected, with gamma5-hermiticity for the antiquark (Gattringer and Lang, Quantum Chromodynamics
    /// on the Lattice, 6.1). For A = B and fermions antiperiodic in time the average over
    /// configurations is positive where the transfer matrix is.
    pub fn correlator(&self, sink: Gamma, source: Gamma) -> Vec<Complex64> {
        let five = SpinMatrix::gamma5();
        let left = five.times(sink.matrix());
        let gamma_t = SpinMatrix::axis(3);
        let right = gamma_t.times(source.matrix().dagger()).times(gamma_t).times(five);
        // Row gamma of `left` has its non-zero entry in column alpha, row beta of `right` in column delta.
        let at = |m: &[Complex64; 256]| {
            let terms = (0..16).map(|i| {
                let (gamma, beta) = (i / 4, i % 4);
                let (alpha, delta) = (left.column[gamma], right.column[beta]);
                let weight = left.entry(gamma) * right.entry(beta);
                weight * m[4 * (4 * (4 * alpha + gamma) + beta) + delta]
            });
            -terms.sum::<Complex64>()
        };
        self.spins.iter().map(at).collect()
    }
}

/// Contracts the propagators of a quark and of an antiquark into mesons (Gattringer, Lang, Quantum Chromodynamics on
/// the Lattice, section 6.1); the second one is given as the propagator of a quark with the antiquark's mass. Each
/// has twelve columns, 3 spin + colour, or for noise diluted in spin four, one for each spin.
///
/// # Errors
/// `FieldMismatch`: not as many columns, or other lattices; `InvalidArgument`: a source outside of the
/// lattice.
pub fn mesons(quark: &SpinorField, other: &SpinorField, sink: Sink) -> Result<Mesons> {
    check_spinors(quark, "quark")?;
    if quark.nrhs() != 12 && quark.nrhs() != 4 {
        refuse!(
            FieldMismatch,
            "quark",
            expected("12 right-hand sides on the full lattice, or 4 of noise diluted in spin"),
            found("{}", quark.nrhs())
        );
    }
    quark.check_like(other, "antiquark")?;
    sink.check(quark.geometry())?;
    let wide = [widened(quark)?, widened(other)?];
    let (quark, other) = (wide[0].as_ref().unwrap_or(quark), wide[1].as_ref().unwrap_or(other));
    let same = [quark.precision(), other.precision()];
    if same[0] != same[1] {
        // Both propagators are converted to the higher precision of the two.
        let [a, b] = [copy_to(quark, Precision::F64)?, copy_to(other, Precision::F64)?];
        return contract_mesons(&a, &b, sink);
    }
    contract_mesons(quark, other, sink)
}

fn copy_to(field: &SpinorField, precision: Precision) -> Result<SpinorField> {
    let mut copy = field.like(precision)?;
    blas::copy(&mut copy, field)?;
    Ok(copy)
}

fn contract_mesons(quark: &SpinorField, other: &SpinorField, sink: Sink) -> Result<Mesons> {
    let args = MesonArgs {
        geom: quark.geometry().args(),
        quark: quark.view(),
        other: other.view(),
        slice: 0,
        colours: (quark.nrhs() / 4) as i32,
        moving: sink.moving(),
        momentum: sink.wave(),
        position: sink.origin.map(|x| x as i32),
        shift: sink.boundary.momentum_shift(),
    };
    let all = over_slices(quark, (16, 32), |slice, work| {
        quark.device().reduce(
            kernels::Mesons::of(quark.precision())?,
            &MesonArgs { slice, ..args },
            work,
        )
    })?;
    let times = quark.geometry().global_extents()[3];
    let spins = |t: usize| {
        let end = sink.origin[3] + t;
        let phase = if end < times { Complex64::ONE } else { sink.boundary.across_time() };
        std::array::from_fn(|i| {
            let (ends, k) = (i % 16, i / 16);
            let z = &all[(end % times * 16 + ends) * 32 + 2 * k..];
            phase * Complex64::new(z[0], z[1])
        })
    };
    Ok(Mesons { spins: (0..times).map(spins).collect() })
}

/// Baryons of light (l) and strange (s) quarks; u and d have the same mass. Each value's formula is the operator at
/// the sink.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Baryon {
    /// eps_abc (u_a^T C gamma5 d_b) u_c.
    Nucleon,
    /// eps_abc (u_a^T C gamma5 s_b) u_c.
    Sigma,
    /// eps_abc (s_a^T C gamma5 u_b) s_c.
    Xi,
    /// The octet's singlet in isospin, eps_abc \[2 (u_a^T C gamma5 d_b) s_c + (u_a^T C gamma5 s_b) d_c -
    /// (d_a^T C gamma5 s_b) u_c\] / sqrt 6.
    Lambda,
    /// eps_abc (u_a^T C gamma_i u_b) u_c.
    Delta,
    /// eps_abc \[2 (u_a^T C gamma_i s_b) u_c + (u_a^T C gamma_i u_b) s_c\] / sqrt 3.
    SigmaStar,
    /// eps_abc \[2 (s_a^T C gamma_i u_b) s_c + (s_a^T C gamma_i s_b) u_c\] / sqrt 3.
    XiStar,
    /// eps_abc (s_a^T C gamma_i s_b) s_c.
    Omega,
}

words!(Baryon {
    Nucleon => "PLAQ_BARYON_NUCLEON",
    Sigma => "PLAQ_BARYON_SIGMA",
    Xi => "PLAQ_BARYON_XI",
    Lambda => "PLAQ_BARYON_LAMBDA",
    Delta => "PLAQ_BARYON_DELTA",
    SigmaStar => "PLAQ_BARYON_SIGMA_STAR",
    XiStar => "PLAQ_BARYON_XI_STAR",
    Omega => "PLAQ_BARYON_OMEGA",
});

choices! {
    /// Baryons of light quarks u = d and strange ones s; epsilon over colours is understood.
    names Baryon: plaq_baryon {
        /// (u C gamma5 d) u.
        Nucleon = 0, PLAQ_BARYON_NUCLEON, "nucleon";
        /// (u C gamma5 s) u.
        Sigma = 1, PLAQ_BARYON_SIGMA, "sigma";
        /// (s C gamma5 u) s.
        Xi = 2, PLAQ_BARYON_XI, "xi";
        /// (2 (u C gamma5 d) s + (u C gamma5 s) d - (d C gamma5 s) u) / sqrt(6).
        Lambda = 3, PLAQ_BARYON_LAMBDA, "lambda";
        /// (u C gamma_i u) u.
        Delta = 4, PLAQ_BARYON_DELTA, "delta";
        /// (2 (u C gamma_i s) u + (u C gamma_i u) s) / sqrt(3).
        SigmaStar = 5, PLAQ_BARYON_SIGMA_STAR, "sigma_star";
        /// (2 (s C gamma_i u) s + (s C gamma_i s) u) / sqrt(3).
        XiStar = 6, PLAQ_BARYON_XI_STAR, "xi_star";
        /// (s C gamma_i s) s.
        Omega = 7, PLAQ_BARYON_OMEGA, "omega";
    }
}

/// Spin projection that closes the free spin indices of a baryon's correlator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// The trace tr\[P C\], with the decuplet averaged over its three polarisations.
    Trace,
    /// Projection of the decuplet on spin 3/2 at rest: sum_ij tr\[P (delta_ij - gamma_i gamma_j / 3) C_ji\] / 3.
    ThreeHalves,
}

words!(Projection {
    Trace => "PLAQ_PROJECTION_TRACE",
    ThreeHalves => "PLAQ_PROJECTION_THREE_HALVES",
});

choices! {
    /// Projections of the free spin indices of a baryon's correlator C, with P = (1 + parity gamma_t) / 2.
    names Projection: plaq_projection {
        /// tr P C; for the decuplet averaged over i = x, y, z.
        Trace = 0, PLAQ_PROJECTION_TRACE, "trace";
        /// Spin 3/2 of the decuplet at rest: 1/3 times the sum over i, j of tr P (delta_ij - gamma_i gamma_j / 3)
        /// C_ji.
        ThreeHalves = 1, PLAQ_PROJECTION_THREE_HALVES, "three_halves";
    }
}

/// The projection of the free spins of a baryon's correlator, and the boundaries of its quarks.
#[derive(Clone, Copy)]
pub struct Closing {
    /// Parity of the states that propagate forward in time, 1 or -1.
    pub parity: i32,
    pub projector: Projector,
    pub projection: Projection,
    /// Boundaries of light and of strange quarks.
    pub boundary: [Boundary; 2],
}

impl Closing {
    /// Positive parity, not polarised, with the same boundary for all quarks.
    pub fn plain(boundary: Boundary) -> Closing {
        let (projector, projection) = (Projector::Unpolarised, Projection::Trace);
        Closing { parity: 1, projector, projection, boundary: [boundary; 2] }
    }
}

/// The Wick contractions of three quarks: their flavours (bit k: quark k is strange), and assignments of quarks to
/// the positions in the operators at sink and source, each with a weight.
struct Lines {
    flavours: i32,
    terms: Vec<([usize; 3], [usize; 3], f64)>,
}

const CYCLIC: [[usize; 3]; 3] = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];
/// The assignment of quark k to position k of an operator; positions 0 and 1 are joined by C gamma5 or C gamma_i.
const STRAIGHT: [usize; 3] = [0, 1, 2];

impl Baryon {
    pub const ALL: [Baryon; 8] = [
        Baryon::Nucleon,
        Baryon::Sigma,
        Baryon::Xi,
        Baryon::Lambda,
        Baryon::Delta,
        Baryon::SigmaStar,
        Baryon::XiStar,
        Baryon::Omega,
    ];

    fn decuplet(self) -> bool {
        use Baryon::{Delta, Omega, SigmaStar, XiStar};
        matches!(self, Delta | SigmaStar | XiStar | Omega)
    }

    fn strange(self) -> bool {
        !matches!(self, Baryon::Nucleon | Baryon::Delta)
    }

    /// The boundary of the product of its quarks, from those of light and of strange quarks.
    pub fn boundary(self, [light, strange]: [Boundary; 2]) -> Boundary {
        let flavours = self.lines().flavours;
        let quarks = [0, 1, 2].map(|k| if flavours >> k & 1 == 1 { strange } else { light });
        Boundary::of_hadron(&quarks, &[])
    }

    /// All contractions of this baryon by Wick's theorem. Colours are antisymmetric at sink and source, so that
    /// exchanging quarks does not change the sign.
    fn lines(self) -> Lines {
        let octet = |flavours| Lines {
            flavours,
            terms: vec![(STRAIGHT, STRAIGHT, 1.0), (STRAIGHT, [2, 1, 0], 1.0)],
        };
        // The decuplet's vertex is the sum over the three cyclic assignments of quarks to positions. Three identical
        // quarks need only one of these at the sink.
        let alike = |flavours| Lines {
            flavours,
            terms: CYCLIC.iter().map(|&source| (STRAIGHT, source, 2.0)).collect(),
        };
        let mixed = |flavours| {
            let ends = CYCLIC.iter().flat_map(|&a| CYCLIC.iter().map(move |&b| (a, b, 2.0 / 3.0)));
            Lines { flavours, terms: ends.collect() }
        };
        match self {
            Baryon::Nucleon => octet(0),
            Baryon::Sigma => octet(2),
            Baryon::Xi => octet(5),
            Baryon::Lambda => lambda(),
            Baryon::Delta => alike(0),
            Baryon::SigmaStar => mixed(4),
            Baryon::XiStar => mixed(6),
            Baryon::Omega => alike(7),
        }
    }
}

/// The contractions of the lambda: quarks u, d, s take the positions of the three terms of its operator.
fn lambda() -> Lines {
    const VERTEX: [([usize; 3], f64); 3] = [([0, 1, 2], 2.0), ([0, 2, 1], 1.0), ([2, 0, 1], -1.0)];
    let ends = VERTEX.iter().flat_map(|a| VERTEX.iter().map(move |b| (a, b)));
    let terms = ends.map(|(a, b)| (a.0, b.0, a.1 * b.1 / 6.0)).collect();
    Lines { flavours: 4, terms }
}

/// Correlators of a baryon over the time from the source for each of the momenta,
/// C(t) = sum_x exp(-i p (x - x0)) tr\[P <O(x, t0 + t) Obar(x0, t0)>\], P of [`Projector::matrix`],
/// C = gamma_y gamma_t, Obar = O^dagger gamma_t: with `parity` 1 the baryon forward in time and its
/// partner of the other parity backward. (Operators: Leinweber, Draper and Woloshyn, Phys. Rev. D 46, 3067;
/// signs such that the correlators of positive parity are positive.) Of the boundary phases of light and of strange
/// quarks the product of those in time is divided out at times before the source's, and the sums of those in space shift
/// the momenta, see [`ThreeQuarks`].
///
/// # Errors
/// `FieldMismatch`: not twelve columns, or other lattices; `InvalidArgument`: a source outside of the
/// lattice, a parity that is not 1 or -1, a projection on spin 3/2 of an octet baryon or of a moving one,
/// no strange quark where one is needed.
pub fn baryons(
    baryon: Baryon,
    light: &SpinorField,
    strange: Option<&SpinorField>,
    (origin, momenta): ([usize; 4], &[[i32; 3]]),
    Closing { parity, projector, projection, boundary }: Closing,
) -> Result<Vec<Vec<Complex64>>> {
    check_propagator(light, "propagator")?;
    if !matches!(parity, 1 | -1) {
        refuse!(InvalidArgument, "parity", expected("1 or -1"), found("{parity}"));
    }
    if baryon.strange() && strange.is_none() {
        refuse!(InvalidArgument, "strange", expected("a propagator for {baryon}"), found("none"));
    }
    let three_halves = projection == Projection::ThreeHalves;
    let shifted = baryon.boundary(boundary).momentum_shift() != [0.0; 4];
    let moving = shifted || momenta.iter().any(|&p| p != [0; 3]);
    if three_halves && (!baryon.decuplet() || moving) {
        bail!(InvalidArgument, "projection: spin 3/2 is for decuplet baryons at rest");
    }
    let strange = strange.unwrap_or(light);
    light.check_like(strange, "strange")?;
    let lines = baryon.lines();
    let mut all = vec![vec![Complex64::ZERO; light.geometry().global_extents()[3]]; momenta.len()];
    for (sink, source, closing) in vertices(baryon.decuplet(), three_halves) {
        let projector = projector.matrix(parity).times(closing).transposed();
        for (at_sink, at_source, weight) in &lines.terms {
            // For each position at the sink: the quark, its boundary, and the position at the source to which it
            // is connected.
            let (mut quarks, mut taken, mut to) = ([light; 3], [boundary[0]; 3], [0; 3]);
            for k in 0..3 {
                to[at_sink[k]] = at_source[k];
                if lines.flavours >> k & 1 == 1 {
                    (quarks[at_sink[k]], taken[at_sink[k]]) = (strange, boundary[1]);
                }
            }
            let three = ThreeQuarks { quarks, origin, boundary: taken };
            let found = three.pairings([sink, source], &[Pairing(to)], momenta)?;
            for (sums, slices) in all.iter_mut().zip(&found[0]) {
                for (sum, c) in sums.iter_mut().zip(slices) {
                    *sum += *weight * projector.contracted(c);
                }
            }
        }
    }
    Ok(all)
}

/// The correlator of a baryon for a single momentum, see [`baryons`].
///
/// # Errors
/// Errors of [`baryons`].
pub fn baryon(
    baryon: Baryon,
    light: &SpinorField,
    strange: Option<&SpinorField>,
    (origin, momentum): ([usize; 4], [i32; 3]),
    closed: Closing,
) -> Result<Vec<Complex64>> {
    Ok(baryons(baryon, light, strange, (origin, &[momentum]), closed)?.remove(0))
}

/// Spin matrices of a baryon's contraction, for each term: [matrix of the diquark at the sink, that at the source,
/// the matrix that multiplies the projector on the free spins].
fn vertices(decuplet: bool, three_halves: bool) -> Vec<(Spin, Spin, Spin)> {
    let one = Spin::from(SpinMatrix::ONE);
    if !decuplet {
        let five = Diquark::C5.matrix();
        return vec![(five, five, one)];
    }
    let axes = [Diquark::Cx, Diquark::Cy, Diquark::Cz].map(Diquark::matrix);
    let mut all = vec![];
    for (j, i) in (0..9).map(|k| (k / 3, k % 3)) {
        let [at_j, at_i] = [axes[j], axes[i]];
        if i == j {
            // For i = j the projector on spin 3/2 is 1 - gamma_i gamma_i / 3 = 2/3.
            let weight = if three_halves { 2.0 / 9.0 } else { 1.0 / 3.0 };
            all.push((at_i, at_i, one.scaled(weight.into())));
        } else if three_halves {
            let product = SpinMatrix::axis(i).times(SpinMatrix::axis(j));
            all.push((at_j, at_i, Spin::from(product).scaled((-1.0 / 9.0).into())));
        }
    }
    all
}
