//! The choice of the algorithm that solves with the overlap operator in the least time.
//!
//! D_N(m) has its eigenvalues on a circle around rho + m / 2 of radius rho - m / 2. Each step of SUMR reduces the
//! residual by the ratio of the radius to the distance of the centre from zero, CG on D^dagger D of one chirality by
//! the same factor: both take ln(1 / tol) rho / m applications of the sign function. Eigenvalues near m on the circle
//! are few or deflated: m is replaced by the least modulus mu of the remaining ones. GCR with the inverse of the Wilson
//! operator takes [`PRECONDITIONED`] times ln(1 / tol), whatever the mass.

//!
//! To invert the Wilson operator to a tenth, BiCGStab takes about 1 / e iterations on even-odd preconditioned systems,
//! where e is the distance of the low edge of its spectrum from zero, and multigrid about as long as [`CYCLES`] of
//! these iterations, whatever e is. Multigrid must save more time in all solves than its set-up takes.

use super::{Overlap, OverlapModes};
use crate::linop::LinOp;

/// Cost, per ln(1 / tol), of a solve with the Wilson operator's inverse as preconditioner, in applications of the
/// sign function, including the time of the inverse and of orthogonalising directions (docs/lab/overlap.md).
const PRECONDITIONED: f64 = 4.5;

/// Number of iterations of BiCGStab in whose time multigrid reduces the residual by a factor of ten
/// (docs/lab/multigrid.md).
const CYCLES: f64 = 10.0;
/// Number of iterations of the outer GCR, divided by ln(1 / tol): 2.7 to 4.9 were measured (docs/lab/overlap.md).
const OUTER: f64 = 4.0;
/// Time of multigrid's set-up, in iterations of BiCGStab for one right-hand side: on a CPU, and on a GPU with at
/// least [`FULL`] sites. A GPU with fewer sites needs hardly less time for a set-up.
const SETUP: [f64; 2] = [1500.0, 4000.0];
/// Number of sites of a rank from which on a set-up keeps a GPU busy.
const FULL: f64 = 2097152.0;
/// Number of sites from which on a lattice is worth a coarse level.
const LEAST: usize = 4096;

/// The device and the amount of work of a solve with the Wilson operator's inverse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::compose) struct Work {
    /// Number of sites of the whole lattice, and of a rank's part.
    pub sites: [usize; 2],
    pub cpu: bool,
    /// Distance of the Wilson operator's spectrum from zero, in lattice units.
    pub distance: f64,
    pub tol: f64,
    /// Number of solves: right-hand sides times masses.
    pub solves: usize,
    /// True if the set-up has been done already.
    pub ready: bool,
}

impl Work {
    pub fn multigrid_wins(&self) -> bool {
        let saved = 1.0 / self.distance.max(f64::MIN_POSITIVE) - CYCLES;
        let outer = OUTER * (1.0 / self.tol).ln().max(1.0);
        let setup = match (self.ready, self.cpu) {
            (true, _) => 0.0,
            (_, true) => SETUP[0],
            _ => SETUP[1] * (FULL / self.sites[1] as f64).max(1.0),
        };
        self.sites[0] >= LEAST && saved * outer * self.solves as f64 > setup
    }
}

impl Overlap {
    /// Whether multigrid is expected to invert the Wilson operator in less time than BiCGStab. `distance`: of the low
    /// edge of its spectrum from zero; `solves`: number of solves to `tol`, right-hand sides times masses; `ready`:
    /// no set-up is needed any more.
    pub fn multigrid_wins(&self, distance: f64, tol: f64, solves: usize, ready: bool) -> bool {
        let shape = self.shape();
        let sites = [shape.geometry.global_volume(), shape.geometry.volume()];
        Work { sites, cpu: shape.device.is_cpu(), distance, tol, solves, ready }.multigrid_wins()
    }

    /// Whether GCR preconditioned by the Wilson operator's inverse, run for each mass separately, is expected to take
    /// less time than one Krylov space without preconditioner that all masses share, whose length the smallest mass
    /// determines. `modes` are projected out of the start.
    pub fn preconditioner_wins(&self, modes: Option<&OverlapModes>, masses: &[f64]) -> bool {
        let least = masses.iter().fold(f64::INFINITY, |m, &v| m.min(v));
        let found = modes.map_or(0.0, |modes| {
            // Unknown eigenvalues of a chirality are above its last known one.
            let last = modes.values().iter().map(|v| v.last().copied().unwrap_or(0.0));
            last.fold(f64::INFINITY, f64::min).max(0.0)
        });
        let (scale, shift) = super::OverlapSquare::shift_of(self.rho(), least);
        let mu = (scale * (found + shift)).sqrt();
        self.rho() > PRECONDITIONED * masses.len() as f64 * mu
    }
}
