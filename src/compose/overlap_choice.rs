//! Which algorithm solves with the overlap operator in the least time.
//!
//! D_N(m) has its eigenvalues on a circle around rho + m / 2 of radius rho - m / 2. Minimal residuals of SUMR fall by
//! the radius over the distance of the centre, CG on D^dagger D of one chirality at the same rate: both take
//! ln(1 / tol) rho / m applications of the sign function. What is near m on the circle is sparse or deflated: the least
//! modulus mu of what is left stands for m. GCR with the inverse of the Wilson operator takes [`PRECONDITIONED`]
//! times ln(1 / tol), whatever the mass.

use super::{Overlap, OverlapModes};

/// Cost of a solve with the Wilson operator's inverse per ln(1 / tol), in applications of the sign function, with
/// the time of the inverse and of the directions: measured, docs/overlap.md.
const PRECONDITIONED: f64 = 4.5;

impl Overlap {
    /// Is GCR with the Wilson operator's inverse expected to solve for these masses, one after the other, in less
    /// time than the Krylov space of the least one without it takes, which all masses share? `modes` are taken
    /// out of the start.
    pub fn preconditioner_wins(&self, modes: Option<&OverlapModes>, masses: &[f64]) -> bool {
        let least = masses.iter().fold(f64::INFINITY, |m, &v| m.min(v));
        let found = modes.map_or(0.0, |modes| {
            // Of either chirality what is not found is above the last one that is.
            let last = modes.values().iter().map(|v| v.last().copied().unwrap_or(0.0));
            last.fold(f64::INFINITY, f64::min).max(0.0)
        });
        let (scale, shift) = super::OverlapSquare::shift_of(self.rho(), least);
        let mu = (scale * (found + shift)).sqrt();
        self.rho() > PRECONDITIONED * masses.len() as f64 * mu
    }
}
