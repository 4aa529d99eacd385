//! The report on a gauge fixing.

use super::params::Algorithm;
use super::quality::Quality;
use crate::params::reports;

reports! {
    /// Result for one gauge copy, or for one slice of a copy.
    #[derive(Copy, Default)]
    pub part Fixed: plaq_gaugefix_state {
        /// Gauge functional; of a copy in Coulomb gauge the average over slices.
        functional: f64;
        /// Violation theta; of a copy in Coulomb gauge the average over slices.
        theta: f64;
        /// Largest violation of any single site.
        theta_max: f64;
        /// Seconds that the copy took; 0 for a slice.
        seconds: f64;
        /// Number of sweeps, those of annealing not counted; of a copy in Coulomb gauge of the slowest slice.
        iterations: usize;
        /// 1: all criteria were met.
        converged: bool;
    }
}

impl Fixed {
    pub fn quality(&self) -> Quality {
        Quality { functional: self.functional, theta: self.theta, theta_max: self.theta_max }
    }
    pub(super) fn set_quality(&mut self, quality: Quality) {
        let Quality { functional, theta, theta_max } = quality;
        (self.functional, self.theta, self.theta_max) = (functional, theta, theta_max);
    }
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
    /// Largest violation theta that counted as converged.
    pub stop_theta: f64,
}

reports! {
    /// Report of a gauge fixing.
    pub struct GaugeFixTotals: plaq_gaugefix_report {
        /// Gauge functional of the fixed field; in Coulomb gauge the average over slices.
        functional: f64;
        /// Violation theta of the fixed field; in Coulomb gauge the average over slices.
        theta: f64;
        /// Largest violation of any single site.
        theta_max: f64;
        /// Gauge functional that the fixing of the residual gauge freedom reached; 0: there was no such fixing.
        residual_functional: f64;
        /// Violation theta of the fixing of the residual gauge freedom; 0: there was no such fixing.
        residual_theta: f64;
        /// Number of sweeps, those of annealing not counted; in Coulomb gauge of the slowest slice.
        iterations: usize;
        /// Number of sweeps of the residual fixing.
        residual_iterations: usize;
        /// Seconds that the fixing took.
        seconds: f64;
        /// 1: all criteria were met, in every slice and by the residual fixing.
        converged: bool;
        /// 1: the callback asked to stop.
        stopped: bool;
        /// Method that was used: the requested one, or the one chosen by PLAQ_GAUGEFIX_AUTO.
        method: Algorithm;
        /// Number of copies made.
        copies: u64;
        /// Number of the copy that is kept; in Coulomb gauge, where each slice is that of its best copy, of the one with
        /// the largest functional.
        best_copy: u64;
        /// Largest violation theta that counted as converged.
        stop_theta: f64;
    }
}

impl GaugeFixReport {
    /// The report on the field that is returned.
    pub fn totals(&self) -> GaugeFixTotals {
        let (total, residual) = (self.best.total, self.best.residual);
        let left = residual.unwrap_or_default();
        GaugeFixTotals {
            functional: total.functional,
            theta: total.theta,
            theta_max: total.theta_max,
            residual_functional: left.functional,
            residual_theta: left.theta,
            iterations: total.iterations,
            residual_iterations: left.iterations,
            seconds: self.seconds,
            converged: total.converged && residual.is_none_or(|r| r.converged),
            stopped: self.stopped,
            method: self.method,
            copies: self.copies.len() as u64,
            best_copy: self.best_copy as u64,
            stop_theta: self.stop_theta,
        }
    }
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
