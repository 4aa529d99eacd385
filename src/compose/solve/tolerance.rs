//! The link that repeats a preconditioned solve until the equation of the caller is solved to the tolerance.

use std::sync::Arc;
use std::time::Instant;

use super::equation::SolveReport;
use super::inverter::{Inverter, SolveRequest};
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, VectorField};
use crate::linop::{LinOp, Shape};
use crate::solvers::{Monitor, SolverReport, Stop, StoppedBy};

/// Largest number of times that a preconditioned solve is continued because the residual of the whole equation is still
/// too large.
const EXTENSIONS: usize = 3;

/// A link that repeats the solve by the links after it, which may be for a preconditioned system, until the residual
/// of the caller's equation, computed with `op`, meets the criteria. The report is about this equation.
pub struct ToTolerance {
    pub next: Arc<dyn Inverter>,
    /// The operator of the caller's equation.
    pub op: Arc<dyn LinOp>,
    /// The criteria that the solver was made with.
    pub goals: Stop,
}

impl Inverter for ToTolerance {
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let (start, stop) = (Instant::now(), request.stop);
        let mut request = *request;
        let mut total: Option<SolveReport> = None;
        let falling = b.device().falling(stop.fall(), 1);
        for attempt in 0..=EXTENSIONS {
            let part = self.next.solve(x, b, &request, watch)?;
            falling.after(attempt + 1);
            let claimed = part.solver.converged;
            let mut all = match total.take() {
                Some(before) => before.followed_by(part),
                None => part,
            };
            let report = &mut all.solver;
            residual_of(report, &*self.op, x, b, (request.norms, stop.site > 0.0))?;
            // Factor by which the worst right-hand side exceeds a criterion; 1: the criterion is met.
            let lag = |values: &[f64], tol: f64| {
                let worst = values.iter().fold(0.0f64, |m, &v| m.max(v));
                if tol > 0.0 && worst > tol {
                    worst / tol
                } else {
                    1.0
                }
            };
            let l2 = lag(&report.residual, stop.residual);
            let hq = lag(&report.residual_hq, stop.heavy_quark);
            let site = lag(&report.residual_site, stop.site);
            report.converged = l2 == 1.0 && hq == 1.0 && site == 1.0;
            request.stop.iterations = stop.iterations.saturating_sub(report.iterations);
            request.stop.seconds = stop.since(start).seconds;
            let extend = claimed && !report.converged && request.stop.iterations > 0;
            report.stopped_by = match report.converged {
                true => Some(stop.last_goal(&report.residual, &report.residual_hq)),
                // The solve met the goals of the preconditioned system, but not those of the equation.
                false if request.stop.iterations == 0 => {
                    report.stopped_by.max(Some(StoppedBy::Iterations))
                }
                false => report.stopped_by.max(Some(StoppedBy::Standstill)),
            };
            report.standstill = report.stopped_by == Some(StoppedBy::Standstill);
            total = Some(all);
            if !extend {
                break;
            }
            let tighter = |lag: f64| if lag > 1.0 { 0.8 / lag } else { 1.0 };
            request.stop.residual *= tighter(l2);
            request.stop.heavy_quark *= tighter(hq);
            if site > 1.0 {
                let reached = report_residual(&total);
                let goal =
                    if request.stop.residual > 0.0 { request.stop.residual } else { reached };
                request.stop.residual = goal.min(reached) * tighter(site);
            }
            request.guess = true;
        }
        Ok(total.expect("the loop runs at least once"))
    }

    fn shape(&self) -> Shape {
        self.next.shape()
    }
    fn next(&self) -> Option<&dyn Inverter> {
        Some(&*self.next)
    }
    fn name(&self, _: usize) -> String {
        let heavy = |tol| format!("heavy-quark residual {tol:e}");
        let others = match (self.goals.residual(), self.goals.heavy_quark()) {
            (Some(tol), None) => format!("to {tol:e}"),
            (Some(tol), Some(hq)) => format!("to {tol:e} and {}", heavy(hq)),
            (None, hq) => format!("to {}", heavy(hq.unwrap_or(0.0))),
        };
        match self.goals.site {
            0.0 => others,
            site => format!("{others} and {site:e} of the largest site"),
        }
    }
}

/// The largest residual in the report so far; 0 without a report.
fn report_residual(report: &Option<SolveReport>) -> f64 {
    let all = report.iter().flat_map(|report| &report.solver.residual);
    all.fold(0.0, |largest, &r| largest.max(r))
}

/// Writes the residuals of M x = b to the report; `norms` are |b| of every right-hand side, and with `sites` the
/// largest residual of a site is computed, too.
fn residual_of(
    report: &mut SolverReport,
    op: &dyn LinOp,
    x: &VectorField,
    b: &VectorField,
    (norms, sites): (&[f64], bool),
) -> Result<()> {
    (report.residual, report.residual_hq) = (vec![], vec![]);
    report.residual_site = vec![];
    let residuals = x.like_with(x.precision(), x.part())?;
    for (first, count) in x.parts() {
        let (x, b) = (x.columns(first, count)?, b.columns(first, count)?);
        let mut r = residuals.columns(0, count)?;
        op.apply(&mut r, &x)?;
        op.free_idle();
        blas::axpby(&blas::uniform(count, 1.0), &b, &blas::uniform(count, -1.0), &mut r)?;
        let (r2, norms) = (blas::norm2(&r)?, &norms[first..first + count]);
        let relative = |(r, b): (&f64, &f64)| if *b > 0.0 { r.sqrt() / b } else { r.sqrt() };
        report.residual.extend(r2.iter().zip(norms).map(relative));
        if sites {
            let (largest_r, largest_b) = (blas::largest_site(&r)?, blas::largest_site(&b)?);
            let relative = |(r, b): (&f64, &f64)| if *b > 0.0 { r / b } else { *r };
            report.residual_site.extend(largest_r.iter().zip(&largest_b).map(relative));
        }
        let hq = blas::heavy_quark_residual(&x, &r)?;
        report
            .residual_hq
            .extend(hq.iter().zip(norms).map(|(v, b)| if *b == 0.0 { 0.0 } else { *v }));
    }
    match report.residual.iter().position(|v| !v.is_finite()) {
        Some(i) => bail!(SolverBreakdown, "the residual of right-hand side {i} is not finite"),
        None => Ok(()),
    }
}
