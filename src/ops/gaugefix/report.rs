//! Report on a gauge fixing.

use super::params::Algorithm;
use super::quality::Quality;

/// The result for one slice in Coulomb gauge, or for a whole copy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fixed {
    pub quality: Quality,
    /// Number of sweeps, without those of an annealing.
    pub iterations: usize,
    pub converged: bool,
}

/// The result of one gauge copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CopyReport {
    /// The result on the whole lattice: averages over the slices, the largest number of iterations, converged if all
    /// are.
    pub total: Fixed,
    /// The results of the slices in Coulomb gauge, in the order of the coordinate along `time`.
    pub slices: Vec<Fixed>,
    /// Landau gauge by diagonal transformations after maximally Abelian gauge, where asked for.
    pub residual: Option<Fixed>,
    pub seconds: f64,
}

/// The results of all copies. Not to converge is no error; the report says it.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeFixReport {
    /// Method that was taken: what `Automatic` chose, or what was asked for.
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
    /// Quality in the precision of the sweeps. Mostly it was measured in the middle of the last sweep, theta
    /// and its maximum at odd sites, which had not been changed yet.
    pub quality: Quality,
    /// The temperature, during an annealing.
    pub temperature: Option<f64>,
}
