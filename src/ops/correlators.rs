//! Hadron correlators of a propagator at zero momentum, summed over space on the device.

use num_complex::Complex64;

use super::contract::{baryon, mesons, Baryon, Closing, Sink};
use super::gamma::Gamma;
use super::source::check_propagator;
use crate::error::{words, Result};
use crate::fields::{BoundaryKind, SpinorField};
use crate::operators::Boundary;
use crate::params::choices;

/// Connected correlators of degenerate quarks, one number for each time from the source. S is the propagator S(x,
/// source); the antiquark follows by gamma5-hermiticity.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlators {
    /// The meson with gamma5 at both ends, sum_x tr S S^dagger.
    pub pion: Vec<f64>,
    /// sum_x tr[G S G^dagger S^dagger], G = gamma5 gamma_i: the vector mesons along x, y, z.
    pub rho: [Vec<f64>; 3],
    /// N = eps_abc (u_a^T C gamma5 d_b) u_c with C = gamma_y gamma_t, traced with
    /// (1 + gamma_t)/2: the nucleon forward in time, its parity partner backward. The average over
    /// configurations is real.
    pub nucleon: Vec<Complex64>,
}

/// Correlators of a propagator with its source at this position, index = (t - source) mod T. Three quarks that went over
/// the end of the lattice in time carry the third power of the boundary phase, which is taken out of the nucleon; the
/// threefold phases in space shift its momentum ([`Boundary::momentum_shift`]), so that nothing depends on where the
/// source is. In mesons they cancel. Sums are in double.
///
/// # Errors
/// `FieldMismatch`: not twelve right-hand sides on the full lattice; `InvalidArgument`: the source
/// is outside.
pub fn correlators(
    propagator: &SpinorField,
    origin: [usize; 4],
    boundary: Boundary,
) -> Result<Correlators> {
    check_propagator(propagator, "propagator")?;
    let pairs = mesons(propagator, propagator, Sink::at_rest(origin[3]))?;
    let real = |gamma| pairs.correlator(gamma, gamma).iter().map(|z| z.re).collect();
    let closed = Closing::plain(boundary);
    Ok(Correlators {
        pion: real(Gamma::FIVE),
        rho: [Gamma::X, Gamma::Y, Gamma::Z].map(real),
        nucleon: baryon(Baryon::Nucleon, propagator, None, (origin, [0; 3]), closed)?,
    })
}

/// The functional form of a correlator's dependence on time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum EffectiveMass {
    /// cosh(m (t - T/2)), mesons: m(t) = arcosh[(C(t-1) + C(t+1)) / (2 C(t))].
    Cosh,
    /// exp(-m t): m(t) = ln[C(t) / C(t+1)].
    Log,
}

words!(EffectiveMass {
    Cosh => "PLAQ_MASS_FORM_COSH",
    Log => "PLAQ_MASS_FORM_LOG",
});

choices! {
    /// Functional forms of a correlator, from which effective masses are computed.
    names EffectiveMass: plaq_mass_form {
        /// cosh(m (t - T/2)), mesons: arcosh[(C(t-1) + C(t+1)) / (2 C(t))].
        Cosh = 0, PLAQ_MASS_FORM_COSH, "cosh";
        /// exp(-m t): ln[C(t) / C(t+1)].
        Log = 1, PLAQ_MASS_FORM_LOG, "log";
    }
}

/// Effective masses between boundaries in time: at each time ln of C there over C one slice farther from the source, so
/// that a state that decays away from the source has the same mass on both sides of it; NaN where one of the two slices
/// is a boundary or noise exceeds the signal. `correlator`: a number for each stored slice, starting with the slice of
/// the source; slices before it are at the end. `source`: the time slice of the source.
pub fn outward_mass(correlator: &[f64], source: usize, boundary: BoundaryKind) -> Vec<f64> {
    let slices = correlator.len();
    let inside = |slice: usize| (1..boundary.extent(slices)).contains(&slice);
    let mass = |t: usize| {
        let slice = (source + t) % slices;
        let (next, farther) = match slice >= source {
            true => (slice + 1, t + 1),
            false => (slice.wrapping_sub(1), t - 1),
        };
        match inside(slice) && inside(next) {
            true => (correlator[t] / correlator[farther]).ln(),
            false => f64::NAN,
        }
    };
    (0..slices).map(mass).map(|m| if m.is_finite() { m } else { f64::NAN }).collect()
}

/// Effective masses m(t) in lattice units, one for each time of `correlator`; NaN where the formula has no solution:
/// at the ends, and where noise exceeds the signal.
pub fn effective_mass(correlator: &[f64], form: EffectiveMass) -> Vec<f64> {
    let c = |t: usize| correlator.get(t).copied().unwrap_or(f64::NAN);
    let mass = |t: usize| match form {
        EffectiveMass::Cosh if t == 0 => f64::NAN,
        EffectiveMass::Cosh => ((c(t - 1) + c(t + 1)) / (2.0 * c(t))).acosh(),
        EffectiveMass::Log => (c(t) / c(t + 1)).ln(),
    };
    (0..correlator.len()).map(mass).map(|m| if m.is_finite() { m } else { f64::NAN }).collect()
}
