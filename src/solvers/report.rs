//! Report on a solve.

use super::params::SolverKind;
use super::stop::StoppedBy;

/// The largest of numbers that are not negative; 0 if there are none.
pub fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, &v| v.max(m))
}

/// The result of a solve. Residuals are recomputed from x in precise arithmetic, never those of a recurrence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolverReport {
    /// Number of iterations of the slowest right-hand side; one of BiCGStab has two applications.
    pub iterations: usize,
    /// True if every right-hand side meets every criterion.
    pub converged: bool,
    /// True if the monitor asked to stop or the time was over; x then holds what was reached.
    pub stopped: bool,
    /// The criterion that ended the solve.
    pub stopped_by: Option<StoppedBy>,
    /// True if the solve gave up before the iterations were used up, since recomputed residuals no longer fell.
    pub standstill: bool,
    /// |b - M x| / |b| of every right-hand side; 0 for a zero source.
    pub residual: Vec<f64>,
    /// Heavy-quark residual of every right-hand side.
    pub residual_hq: Vec<f64>,
    /// Largest |b - M x| at any site, divided by the largest |b| at any site, of every right-hand side; empty if this
    /// was not required.
    pub residual_site: Vec<f64>,
    /// Number of times that the residual was recomputed in precise arithmetic.
    pub reliable_updates: usize,
    /// Number of times that directions were thrown away after a breakdown or a standstill.
    pub restarts: usize,
    /// The algorithm that took over when the requested one made no more progress; None: there was no need.
    pub fallback: Option<SolverKind>,
    pub seconds: f64,
    /// Number of floating-point operations of operators and vectors.
    pub flops: f64,
    pub bytes: f64,
    /// Largest |r| / |b| over the right-hand sides after every iteration, as given by the recurrence for the system
    /// that is iterated; empty if it was not recorded.
    pub history: Vec<f64>,
}

impl SolverReport {
    /// Joins the reports of two consecutive solves of one system; residuals are those of the second.
    pub fn followed_by(self, second: SolverReport) -> SolverReport {
        SolverReport {
            iterations: self.iterations + second.iterations,
            converged: self.converged && second.converged,
            stopped: self.stopped || second.stopped,
            stopped_by: self.stopped_by.max(second.stopped_by),
            standstill: self.standstill || second.standstill,
            reliable_updates: self.reliable_updates + second.reliable_updates,
            restarts: self.restarts + second.restarts,
            fallback: second.fallback.or(self.fallback),
            seconds: self.seconds + second.seconds,
            flops: self.flops + second.flops,
            bytes: self.bytes + second.bytes,
            history: [self.history, second.history].concat(),
            residual: second.residual,
            residual_hq: second.residual_hq,
            residual_site: second.residual_site,
        }
    }

    /// Joins the reports of two solves, `self` for the first right-hand sides and `others` for those that follow.
    pub fn join(mut self, mut others: SolverReport) -> SolverReport {
        let iterations = self.iterations.max(others.iterations);
        let mut join = |a: fn(&mut Self) -> &mut Vec<f64>| {
            let mut all = std::mem::take(a(&mut self));
            all.append(a(&mut others));
            all
        };
        let (residual, residual_hq) = (join(|r| &mut r.residual), join(|r| &mut r.residual_hq));
        let residual_site = join(|r| &mut r.residual_site);
        let both = self.followed_by(others);
        SolverReport { iterations, residual, residual_hq, residual_site, ..both }
    }
}
