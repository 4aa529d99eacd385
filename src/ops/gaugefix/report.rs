//! The report on a gauge fixing.

use super::params::Algorithm;
use super::quality::Quality;

/// The result for one slice in Coulomb gauge, or for a whole copy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fixed {
    pub quality: Quality,
    /// Number of sweeps, those of annealing not counted.
    pub iterations: usize,
    pub converged: bool,
}

/// The result of one gauge copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CopyReport {
    /// The result for the whole lattice: averages over slices, the largest number of iterations, and whether all
    /// slices converged.
    pub total: Fixed,
    /// The results of the slices in Coulomb gauge, in the order of the coordinate along `time`.
    pub slices: Vec<Fixed>,
    /// The result of the Landau gauge by diagonal transformations that follows maximally Abelian gauge; None if it
    /// was not asked for.
    pub residual: Option<Fixed>,
    pub seconds: f64,
}

/// The results of all copies. A fixing that has not converged is not an error; it is reported here.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeFixReport {
    /// The method that was used: the one that `Automatic` chose, or the one asked for.
    pub method: Algorithm,
    pub copies: Vec<CopyReport>,
    /// The copy that is returned; in Coulomb gauge every slice is the best of all copies.
    pub best: CopyReport,
    /// Number of the copy that is returned; in Coulomb gauge of the one with the largest functional on the whole
    /// lattice.
    pub best_copy: usize,
    pub seconds: f64,
    /// True if the callback ended the fixing.
    pub stopped: bool,
}

/// The state of a gauge fixing, for the callback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub copy: usize,
    /// Number of sweeps of this copy, those of an annealing included.
    pub sweeps: usize,
    /// Quality in the precision of the sweeps. It is usually measured during the last sweep, after even sites and
    /// before odd sites were changed, theta and theta_max on odd sites.
    pub quality: Quality,
    /// The temperature; None if the copy is not being annealed.
    pub temperature: Option<f64>,
}
