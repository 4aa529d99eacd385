//! What came of a gauge fixing.

use super::params::Algorithm;
use super::quality::Quality;

/// One slice of a copy in Coulomb gauge, or all of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fixed {
    pub quality: Quality,
    /// Sweeps, those of an annealing left out.
    pub iterations: usize,
    pub converged: bool,
}

/// One gauge copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CopyReport {
    /// Result on the whole lattice: averages over the slices, the most iterations, all converged.
    pub total: Fixed,
    /// Results of slices in Coulomb gauge, by the coordinate along `time`.
    pub slices: Vec<Fixed>,
    /// Landau gauge by diagonal transformations after maximally Abelian gauge, where asked for.
    pub residual: Option<Fixed>,
    pub seconds: f64,
}

/// All copies. Not converged is no error: it is said here.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeFixReport {
    /// Method that was taken: what `Automatic` chose, or what was asked for.
    pub method: Algorithm,
    pub copies: Vec<CopyReport>,
    /// What is returned; in Coulomb gauge every slice is the best of all copies.
    pub best: CopyReport,
    /// Number of the copy returned; in Coulomb gauge of the copy with the largest total.
    pub best_copy: usize,
    pub seconds: f64,
    /// The callback ended it.
    pub stopped: bool,
}

/// Where a gauge fixing is, for the callback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub copy: usize,
    /// Sweeps of this copy, annealing included.
    pub sweeps: usize,
    /// Quality in the precision of the sweeps. Mostly it was measured in the middle of the last sweep, theta
    /// and its maximum at odd sites, which had not been changed yet.
    pub quality: Quality,
    /// Temperature of an annealing under way.
    pub temperature: Option<f64>,
}
