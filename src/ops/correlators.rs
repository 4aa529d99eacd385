//! Zero-momentum hadron correlators of a propagator, summed over space on the device.

use num_complex::Complex64;

use super::propagator::COLUMNS;
use crate::backend::args::CorrelatorArgs;
use crate::backend::Work;
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, Precision, SpinorField, Subset};

/// Connected correlators of degenerate quarks over the time from the source, one number per time
/// slice. S is the propagator S(x, source); gamma5-hermiticity gives the backward quark.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlators {
    /// sum_x tr S S^dagger: the meson with gamma5 at both ends.
    pub pion: Vec<f64>,
    /// sum_x tr[G S G^dagger S^dagger], G = gamma5 gamma_i: the vector mesons along x, y, z.
    pub rho: [Vec<f64>; 3],
    /// N = eps_abc (u_a^T C gamma5 d_b) u_c with C = gamma_y gamma_t, traced with
    /// (1 + gamma_t)/2: the nucleon forward in time, its parity partner backward. The average over
    /// configurations is real.
    pub nucleon: Vec<Complex64>,
}

/// Correlators of a propagator with its source at time `source_time`, index = (t - source) mod T.
/// `phase` is the fermions' boundary phase in time (-1: antiperiodic): three quarks that went over
/// the boundary carry it to the third power, which is taken out of the nucleon, so that nothing
/// depends on where the source is. In mesons it cancels. Sums are in double.
///
/// # Errors
/// `FieldMismatch`: not twelve right-hand sides on the full lattice; `InvalidArgument`: the source
/// is outside.
pub fn correlators(
    propagator: &SpinorField,
    source_time: usize,
    phase: Complex64,
) -> Result<Correlators> {
    let s = propagator;
    if s.nrhs() != COLUMNS || s.subset() != Subset::Full {
        bail!(
            FieldMismatch,
            "propagator: expected {COLUMNS} right-hand sides on the full lattice, found {} on {:?}",
            s.nrhs(),
            s.subset()
        );
    }
    let (times, first) = (s.geometry().global_extents()[3], s.geometry().origin()[3]);
    if source_time >= times {
        bail!(InvalidArgument, "source_time: expected 0 to {}, found {source_time}", times - 1);
    }
    if s.precision() == Precision::F16 {
        let mut single = s.like(Precision::F32)?;
        blas::copy(&mut single, s)?;
        return correlators(&single, source_time, phase);
    }
    let geom = s.geometry().args();
    let args = CorrelatorArgs { geom, propagator: s.view() };
    let piece = geom.t as usize;
    let (lanes, outer) = (s.geometry().lanes(), s.geometry().outer());
    let work = Work { n: outer / piece, batches: 2 * piece, lanes };
    let sums = s.device().reduce(kernel!("correlators"), &[s.precision().token()], &args, work)?;
    // Two parities of a slice; six sums of the piece's times, six of those of the upper lanes.
    let mut all = vec![0.0; 6 * times];
    for (t, slice) in
        all.chunks_exact_mut(6).skip(first).take(s.geometry().extents()[3]).enumerate()
    {
        for (k, sum) in slice.iter_mut().enumerate() {
            let (slice, k) = (t % piece, k + 6 * (t / piece));
            *sum = sums[2 * slice * 12 + k] + sums[(2 * slice + 1) * 12 + k];
        }
    }
    s.geometry().comm().sum(&mut all)?;
    let at = |t: usize, k: usize| all[6 * t + k];
    let row = |k: usize| (0..times).map(|t| at((source_time + t) % times, k)).collect();
    let nucleon = |t: usize| {
        let there = source_time + t;
        let z = Complex64::new(at(there % times, 4), at(there % times, 5));
        if there >= times {
            z * phase.powu(3)
        } else {
            z
        }
    };
    Ok(Correlators {
        pion: row(0),
        rho: [row(1), row(2), row(3)],
        nucleon: (0..times).map(nucleon).collect(),
    })
}

/// What a correlator looks like over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectiveMass {
    /// cosh(m (t - T/2)), mesons: m(t) = arcosh[(C(t-1) + C(t+1)) / (2 C(t))].
    Cosh,
    /// exp(-m t): m(t) = ln[C(t) / C(t+1)].
    Log,
}

/// Effective masses m(t) in lattice units, as many as `correlator` has times; NaN where there is
/// none: at the ends, and where noise is larger than the signal.
pub fn effective_mass(correlator: &[f64], form: EffectiveMass) -> Vec<f64> {
    let c = |t: usize| correlator.get(t).copied().unwrap_or(f64::NAN);
    let mass = |t: usize| match form {
        EffectiveMass::Cosh if t == 0 => f64::NAN,
        EffectiveMass::Cosh => ((c(t - 1) + c(t + 1)) / (2.0 * c(t))).acosh(),
        EffectiveMass::Log => (c(t) / c(t + 1)).ln(),
    };
    (0..correlator.len()).map(mass).map(|m| if m.is_finite() { m } else { f64::NAN }).collect()
}
