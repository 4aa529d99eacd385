//! Operators used in solves with the overlap operator: its unitary part, and the inverse of the Wilson operator.

use std::sync::Arc;

use super::Sign;
use crate::backend::Device;
use crate::compose::DiracSolver;
use crate::error::Result;
use crate::fields::{blas, SpinorField};
use crate::linop::{LinOp, Shape};
use crate::operators::{chiral_sum, one_and_gamma5};
use crate::solvers;

/// The unitary operator gamma5 sign(Q).
pub(super) struct Unitary(pub(super) Arc<Sign>);

impl LinOp for Unitary {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.0.apply(out, inp)?;
        chiral_sum(out, Some(one_and_gamma5(0.0, 1.0)), &[])
    }
    fn flops(&self) -> f64 {
        self.0.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.0.bytes(nrhs)
    }
}

/// D_W^-1 to a low accuracy; its vectors may have another precision than those of the solver.
pub(super) struct WilsonInverse {
    pub(super) solver: DiracSolver,
    pub(super) shape: Shape,
}

impl LinOp for WilsonInverse {
    fn shape(&self) -> Shape {
        self.shape.clone()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let own = self.solver.op().shape().precision;
        if own == inp.precision() {
            self.solver.solve(out, inp, &mut solvers::no_monitor)?;
            return Ok(());
        }
        let (mut x, mut b) = (inp.like(own)?, inp.like(own)?);
        blas::copy(&mut b, inp)?;
        self.solver.solve(&mut x, &b, &mut solvers::no_monitor)?;
        blas::copy(out, &x)
    }
    fn flops(&self) -> f64 {
        0.0
    }
    fn bytes(&self, _: usize) -> f64 {
        0.0
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let multigrid = self.solver.multigrid().map(|m| m.like_on(device)).transpose()?;
        let op = self.solver.op().like_on(device)?;
        let solver =
            DiracSolver::new(op, self.solver.params().clone())?.with_multigrid(multigrid)?;
        Ok(Arc::new(WilsonInverse { solver, shape: self.shape.on(device) }))
    }
}
