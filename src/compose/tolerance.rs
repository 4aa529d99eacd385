//! Solves of another system than the one asked for, taken further until the latter meets the criteria.

use std::time::Instant;

use crate::bail;
use crate::error::Result;
use crate::fields::{blas, SpinorField};
use crate::solvers::{Monitor, SolverParams, SolverReport, StoppedBy};

/// Times that a preconditioned solve is taken further when the full residual lags behind.
const EXTENSIONS: usize = 3;

/// Runs `attempt`, which may solve another system than the one asked for, until the system whose
/// `image` of x should be b meets the criteria; the report is about the latter.
pub(super) fn to_tolerance(
    asked: &SolverParams,
    x: &mut SpinorField,
    b: &SpinorField,
    monitor: &mut Monitor,
    attempt: impl Fn(&mut SpinorField, &SolverParams, &mut Monitor) -> Result<SolverReport>,
    image: impl Fn(&mut SpinorField, &SpinorField) -> Result<()>,
) -> Result<SolverReport> {
    let (start, stop) = (Instant::now(), asked.stop);
    let mut params = asked.clone();
    let mut total: Option<SolverReport> = None;
    for _ in 0..=EXTENSIONS {
        let part = attempt(x, &params, monitor)?;
        let claimed = part.converged;
        let mut report = match total.take() {
            Some(before) => before.followed_by(part),
            None => part,
        };
        residual_of(&mut report, &image, x, b)?;
        // How far the worst right-hand side is from a criterion; 1: it is met.
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
        report.converged = l2 == 1.0 && hq == 1.0;
        params.stop.iterations = stop.iterations.saturating_sub(report.iterations);
        params.stop.seconds = stop.since(start).seconds;
        let extend = claimed && !report.converged && params.stop.iterations > 0;
        report.stopped_by = match report.converged {
            true => Some(stop.last_goal(&report.residual, &report.residual_hq)),
            // The goals of another system were met.
            false if params.stop.iterations == 0 => {
                report.stopped_by.max(Some(StoppedBy::Iterations))
            }
            false => report.stopped_by.max(Some(StoppedBy::Standstill)),
        };
        report.standstill = report.stopped_by == Some(StoppedBy::Standstill);
        total = Some(report);
        if !extend {
            break;
        }
        let tighter = |lag: f64| if lag > 1.0 { 0.8 / lag } else { 1.0 };
        params.stop.residual *= tighter(l2);
        params.stop.heavy_quark *= tighter(hq);
        params.initial_guess = true;
    }
    Ok(total.expect("the loop runs at least once"))
}

/// Puts the residuals of M x = b into the report, M x being the `image` of x.
fn residual_of(
    report: &mut SolverReport,
    image: impl Fn(&mut SpinorField, &SpinorField) -> Result<()>,
    x: &SpinorField,
    b: &SpinorField,
) -> Result<()> {
    (report.residual, report.residual_hq) = (vec![], vec![]);
    let room = x.like_with(x.precision(), x.part())?;
    for (first, count) in x.parts() {
        let (x, b) = (x.columns(first, count)?, b.columns(first, count)?);
        let mut r = room.columns(0, count)?;
        image(&mut r, &x)?;
        blas::axpby(&blas::uniform(count, 1.0), &b, &blas::uniform(count, -1.0), &mut r)?;
        let (r2, b2) = (blas::norm2(&r)?, blas::norm2(&b)?);
        let relative = |(r, b): (&f64, &f64)| if *b > 0.0 { (r / b).sqrt() } else { r.sqrt() };
        report.residual.extend(r2.iter().zip(&b2).map(relative));
        let hq = blas::heavy_quark_residual(&x, &r)?;
        report
            .residual_hq
            .extend(hq.iter().zip(&b2).map(|(v, b)| if *b == 0.0 { 0.0 } else { *v }));
    }
    match report.residual.iter().position(|v| !v.is_finite()) {
        Some(i) => bail!(SolverBreakdown, "the residual of right-hand side {i} is not finite"),
        None => Ok(()),
    }
}
