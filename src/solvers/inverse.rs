//! Solves as operators: the inverse of an operator, and rational functions of one.

use std::sync::Arc;

use super::{no_monitor, rational_sum, solve, RationalParams, SolverParams, System};
use crate::backend::Device;
use crate::bail;
use crate::error::{significant, Result};
use crate::fields::{blas, VectorField};
use crate::linop::{LinOp, Shape};

/// The operator M^-1, applied by a solve from zero. If it stops by a tolerance it is an inverse to that accuracy; if
/// it stops only by the number of iterations it is a preconditioner for solvers that allow it to change.
pub struct Inverse {
    system: System,
    params: SolverParams,
    exact: bool,
}

impl Inverse {
    /// An inverse; an application that does not meet the goals of `params` fails (`NotConverged`).
    ///
    /// # Errors
    /// `BadParameter`: those of [`solve`].
    pub fn new(system: System, params: SolverParams) -> Result<Self> {
        params.check()?;
        Ok(Inverse { system, params: SolverParams { initial_guess: false, ..params }, exact: true })
    }
    /// An approximate inverse; an application returns what its iterations have reached.
    ///
    /// # Errors
    /// Errors of `new`.
    pub fn approximate(system: System, params: SolverParams) -> Result<Self> {
        Ok(Inverse { exact: false, ..Inverse::new(system, params)? })
    }
}

impl LinOp for Inverse {
    fn shape(&self) -> Shape {
        self.system.precise.range()
    }
    fn range(&self) -> Shape {
        self.system.precise.shape()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let report = solve(&self.system, &self.params, out, inp, &mut no_monitor)?;
        if self.exact && !report.converged {
            bail!(
                NotConverged,
                "inverse: {} reached residuals of {:?} in {} iterations",
                self.params.kind.name(),
                report.residual,
                report.iterations
            );
        }
        Ok(())
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        if !self.hermitian() {
            bail!(Unsupported, "this inverse has no adjoint: take that of the adjoint operator");
        }
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        self.exact && self.system.precise.hermitian()
    }
    /// Number of floating-point operations of one iteration; the number of iterations is not known.
    fn flops(&self) -> f64 {
        self.system.precise.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.system.precise.bytes(nrhs)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let (system, params) = (self.system.like_on(device)?, self.params.clone());
        Ok(Arc::new(Inverse { system, params, ..*self }))
    }
}

/// The operator c + sum_k w_k (A + sigma_k)^-1 for a hermitian operator A for which A + sigma is positive with the
/// smallest shift; applied with one Krylov space ([`rational_sum`]).
pub struct RationalFunction {
    op: Arc<dyn LinOp>,
    constant: f64,
    weights: Vec<f64>,
    shifts: Vec<f64>,
    params: RationalParams,
}

impl RationalFunction {
    /// # Errors
    /// `BadParameter`: no pole, not as many weights; `Unsupported`: A is not hermitian.
    pub fn new(
        op: Arc<dyn LinOp>,
        constant: f64,
        weights: Vec<f64>,
        shifts: Vec<f64>,
        params: RationalParams,
    ) -> Result<Self> {
        if shifts.is_empty() || shifts.len() != weights.len() {
            bail!(BadParameter, "rational: {} shifts with {} weights", shifts.len(), weights.len());
        }
        if !op.hermitian() {
            bail!(Unsupported, "a rational function is taken of a hermitian operator");
        }
        Ok(RationalFunction { op, constant, weights, shifts, params })
    }
}

impl LinOp for RationalFunction {
    fn shape(&self) -> Shape {
        self.op.shape()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let op = &*self.op;
        let report = rational_sum(op, &self.shifts, &self.weights, &self.params, out, inp)?;
        if !report.converged {
            bail!(
                NotConverged,
                "rational: not to a residual of {} in {} iterations",
                significant(self.params.tol, 2),
                report.iterations
            );
        }
        blas::axpy(&blas::uniform(inp.nrhs(), self.constant), inp, out)
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    /// Number of floating-point operations of one iteration; the number of iterations is not known.
    fn flops(&self) -> f64 {
        self.op.flops() + (20 + 8 * self.shifts.len()) as f64 * self.shape().numbers()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let vectors = (7 + 5 * self.shifts.len()) as f64;
        self.op.bytes(nrhs) + vectors * self.shape().bytes(nrhs) as f64
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let (op, weights) = (self.op.like_on_device(device)?, self.weights.clone());
        Ok(Arc::new(RationalFunction { op, weights, shifts: self.shifts.clone(), ..*self }))
    }
}
