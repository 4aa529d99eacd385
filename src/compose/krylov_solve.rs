//! One Krylov solve with what leads there and back.

use std::sync::Arc;

use super::deflation::{Deflation, Sides};
use super::equation::Equations;
use crate::error::Result;
use crate::fields::{blas, SpinorField};
use crate::linop::{LinOp, SchurComplement, SchurSource, SchurVectors};
use crate::solvers::{self, Monitor, SolverKind, SolverParams, SolverReport, System};

/// The equation, how the Krylov space is built, and what leads there and back.
pub(super) struct KrylovSolve {
    /// Where the full solution comes from that of a Schur complement.
    pub around: Option<Arc<dyn SchurComplement>>,
    /// M or M^dagger of the Krylov space, and which normal equations are formed.
    pub op: Arc<dyn LinOp>,
    pub normal: Equations,
    pub system: System,
    pub kind: SolverKind,
    /// Largest factor between recomputed residuals in mixed precision; 0: any.
    pub delta: f64,
    pub dagger: bool,
    pub deflation: Option<Deflation>,
}

impl KrylovSolve {
    /// The same equation by BiCGStab.
    pub fn without_multigrid(self) -> Self {
        let System { precise, sloppy, scale, .. } = self.system;
        let system = System { sloppy, scale, ..System::new(precise) };
        KrylovSolve { system, kind: SolverKind::BiCgStab, delta: 0.0, ..self }
    }

    pub fn run(
        self,
        x: &mut SpinorField,
        b: &SpinorField,
        params: &SolverParams,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let low = self.deflation.as_ref();
        let Some(schur) = self.around.clone() else {
            return self.krylov(low, x, (b, None), params, monitor);
        };
        let scale = Some(blas::norm2(b)?.iter().map(|v| v.sqrt()).collect());
        let how = (self.dagger, params.initial_guess);
        let solve = KrylovSolve { system: System { scale, ..self.system }, ..self };
        let mut halves = SchurVectors::prepare(&*schur, x, b, how)?;
        let low = solve.deflation.as_ref();
        let SchurVectors { x, source, .. } = &mut halves;
        let report = solve.krylov(low, x, (source.vector(), Some(source)), params, monitor)?;
        halves.reconstruct()?;
        Ok(report)
    }

    /// The Krylov solve, or with low modes those between which it is deflated.
    fn krylov(
        &self,
        low: Option<&Deflation>,
        x: &mut SpinorField,
        (b, origin): (&SpinorField, Option<&SchurSource>),
        params: &SolverParams,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        if let Some(deflation) = low {
            let equation = (&*self.op, Sides::of_one(self.dagger), self.system.scale.as_deref());
            let part = |x: &mut SpinorField, params: &SolverParams| {
                self.krylov(None, x, (b, None), params, &mut *monitor)
            };
            return deflation.solve(equation, x, b, params, part);
        }
        let delta = params.delta_up_to(self.delta);
        let mut params = SolverParams { kind: self.kind, delta, ..params.clone() };
        match self.normal {
            Equations::Direct => {
                solvers::solve_with_origin(&self.system, &params, x, (b, origin), monitor)
            }
            Equations::NormalResidual => {
                let mut source = b.like(b.precision())?;
                self.op.apply_dagger(&mut source, b)?;
                // Its residual is compared with its own source.
                let system = System { scale: None, ..self.system.clone() };
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
                let system = System { scale, ..self.system.clone() };
                let report = solvers::solve(&system, &params, &mut y, &r, monitor)?;
                self.op.apply_dagger(&mut r, &y)?;
                blas::axpy(&one, &r, x)?;
                Ok(report)
            }
        }
    }
}
