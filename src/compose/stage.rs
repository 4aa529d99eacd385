//! Parts of a solve: one Krylov solve with what leads there and back, and its repetition until the equation
//! asked for is solved.

use std::sync::Arc;
use std::time::Instant;

use super::even_odd::{solve_through, SchurComplement};
use crate::bail;
use crate::error::{words, Result};
use crate::fields::{blas, SpinorField};
use crate::linop::{LinOp, Uses};
use crate::solvers::{self, Monitor, SolverKind, SolverParams, SolverReport, StoppedBy, System};

/// What the Krylov space is built from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Equations {
    /// M itself. Plain CG then needs M^dagger M on the left; CGNE and CGNR bring their own
    /// normal equations.
    Direct,
    /// M^dagger M x = M^dagger b
    NormalResidual,
    /// M M^dagger y = b, x = M^dagger y
    NormalError,
}

words!(Equations {
    Direct => "PLAQ_EQUATIONS_DIRECT",
    NormalResidual => "PLAQ_EQUATIONS_NORMAL_RESIDUAL",
    NormalError => "PLAQ_EQUATIONS_NORMAL_ERROR",
});

/// Times that a preconditioned solve is taken further when the full residual lags behind.
const EXTENSIONS: usize = 3;

/// One Krylov solve: the equation, how the Krylov space is built, and what leads there and back.
pub(super) struct Stage {
    /// Where the full solution comes from that of a Schur complement.
    pub around: Option<Arc<dyn SchurComplement>>,
    /// M or M^dagger of the Krylov space, and which normal equations are formed.
    pub op: Arc<dyn LinOp>,
    pub normal: Equations,
    pub system: System,
    pub kind: SolverKind,
    /// Of mixed precision, at most.
    pub delta: f64,
    pub dagger: bool,
}

impl Stage {
    pub fn memory(&self, params: &SolverParams, nrhs: usize) -> u64 {
        let params = SolverParams { kind: self.kind, ..params.clone() };
        let vector = self.op.shape().bytes(nrhs);
        let mut sum = self.system.memory(&params, nrhs);
        // The right-hand side of the normal equations.
        if self.normal != Equations::Direct {
            sum += vector;
        }
        if let Some(schur) = &self.around {
            // The two fields of the preconditioned system, and temporaries that it does not have.
            let cg = matches!(self.kind, SolverKind::Cgne | SolverKind::Cgnr);
            let both = self.normal != Equations::Direct || (cg && self.system.sloppy.is_none());
            let uses = if both { Uses::BOTH } else { Uses::FORWARD };
            let counted = self.op.memory(nrhs, uses);
            sum += 2 * vector + schur.memory_around(nrhs, self.dagger).saturating_sub(counted);
        }
        sum
    }

    pub fn run(
        self,
        x: &mut SpinorField,
        b: &SpinorField,
        params: &SolverParams,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let Some(schur) = self.around.clone() else {
            return self.krylov(x, b, params, monitor);
        };
        let norms = blas::norm2(b)?;
        if let Some(i) = norms.iter().position(|v| !v.is_finite()) {
            bail!(NotFinite, "b: right-hand side {i} holds NaN or infinity, or its norm overflows");
        }
        let scale = Some(norms.iter().map(|v| v.sqrt()).collect());
        let how = (self.dagger, params.initial_guess);
        let stage = Stage { system: System { scale, ..self.system }, ..self };
        solve_through(&*schur, x, b, how, |x, b| stage.krylov(x, b, params, monitor))
    }

    /// The Krylov solve itself.
    fn krylov(
        self,
        x: &mut SpinorField,
        b: &SpinorField,
        params: &SolverParams,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let delta = params.delta.min(self.delta);
        let mut params = SolverParams { kind: self.kind, delta, ..params.clone() };
        match self.normal {
            Equations::Direct => solvers::solve(&self.system, &params, x, b, monitor),
            Equations::NormalResidual => {
                let mut source = b.like(b.precision())?;
                self.op.apply_dagger(&mut source, b)?;
                // Its residual is compared with its own source.
                let system = System { scale: None, ..self.system };
                solvers::solve(&system, &params, x, &source, monitor)
            }
            Equations::NormalError => {
                // No guess for y is known from one for x: start from the residual.
                let guess = params.initial_guess;
                params.initial_guess = false;
                let mut y = b.like(b.precision())?;
                if !guess {
                    let report = solvers::solve(&self.system, &params, &mut y, b, monitor)?;
                    self.op.apply_dagger(x, &y)?;
                    return Ok(report);
                }
                let (one, n) = (blas::uniform(b.nrhs(), 1.0), b.nrhs());
                let mut r = b.like(b.precision())?;
                self.op.apply(&mut r, x)?;
                blas::axpby(&one, b, &blas::uniform(n, -1.0), &mut r)?;
                let norms: Vec<f64> = blas::norm2(b)?.iter().map(|v| v.sqrt()).collect();
                let scale = Some(self.system.scale.clone().unwrap_or(norms));
                let system = System { scale, ..self.system };
                let report = solvers::solve(&system, &params, &mut y, &r, monitor)?;
                self.op.apply_dagger(&mut r, &y)?;
                blas::axpy(&one, &r, x)?;
                Ok(report)
            }
        }
    }
}

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
        let mut r = x.like(x.precision())?;
        image(&mut r, x)?;
        residual_of(&mut report, r, x, b)?;
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

/// Puts the residuals of M x = b into the report; `image` = M x.
fn residual_of(
    report: &mut SolverReport,
    mut image: SpinorField,
    x: &SpinorField,
    b: &SpinorField,
) -> Result<()> {
    let n = b.nrhs();
    blas::axpby(&blas::uniform(n, 1.0), b, &blas::uniform(n, -1.0), &mut image)?;
    let (r2, b2) = (blas::norm2(&image)?, blas::norm2(b)?);
    let relative = |(r, b): (&f64, &f64)| if *b > 0.0 { (r / b).sqrt() } else { r.sqrt() };
    report.residual = r2.iter().zip(&b2).map(relative).collect();
    if let Some(i) = report.residual.iter().position(|v| !v.is_finite()) {
        bail!(SolverBreakdown, "the residual of right-hand side {i} is not finite");
    }
    report.residual_hq = blas::heavy_quark_residual(x, &image)?;
    for (hq, b2) in report.residual_hq.iter_mut().zip(&b2) {
        if *b2 == 0.0 {
            *hq = 0.0;
        }
    }
    Ok(())
}
