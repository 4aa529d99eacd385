//! Minimal residual (Saad, Iterative Methods for Sparse Linear Systems, section 5.3.2): as a solver, and a fixed
//! number of steps of it as a preconditioner.

use std::sync::Arc;

use num_complex::Complex64;

use super::mixed_precision::{MixedPrecision, Next};
use crate::backend::Device;
use crate::error::Result;
use crate::fields::blas::{self, Times};
use crate::fields::VectorField;
use crate::linop::{LinOp, Shape, Workspace};

/// Minimal residual (Saad, Iterative Methods for Sparse Linear Systems, Algorithm 5.3); with a preconditioner K steps
/// go along K r.
pub(super) fn run(mixed: &mut MixedPrecision, preconditioner: Option<&dyn LinOp>) -> Result<()> {
    if !mixed.running() {
        return Ok(());
    }
    let mut n = mixed.nrhs();
    let mut q = mixed.vector()?;
    let mut turned = preconditioner.map(|_| mixed.vector()).transpose()?;
    while mixed.running() {
        match (preconditioner, &mut turned) {
            (Some(inverse), Some(z)) => {
                mixed.counted(inverse).apply(z, &mixed.r)?;
                mixed.operator().apply(&mut q, z)?;
            }
            _ => mixed.operator().apply(&mut q, &mixed.r)?,
        }
        let (qr, qq) = blas::dot_norm(&q, &mixed.r)?;
        let step = mixed.masked(|i| mixed.params.omega * qr[i] / qq[i]);
        if (0..n).any(|i| !step[i].is_finite()) {
            mixed.breakdown("M r is 0 or not finite")?;
            continue;
        }
        let (x, r) = mixed.split();
        blas::axpy(&step, turned.as_ref().unwrap_or(r), x)?;
        let minus: Vec<Complex64> = step.iter().map(|a| -a).collect();
        let r2 = blas::axpy_norm(&minus, &q, r)?;
        mixed.count(8, 144 + 96 + 144);
        if mixed.advance(&r2) == Next::Refresh {
            mixed.refresh()?;
            let mut fields: Vec<&mut VectorField> = turned.iter_mut().chain([&mut q]).collect();
            if let Some(keep) = mixed.shrink(&mut fields)? {
                n = keep.len();
            }
        }
    }
    Ok(())
}

/// An operator that makes a few steps of minimal residual from zero, without checking convergence.
pub struct MinimalResidual {
    op: Arc<dyn LinOp>,
    steps: usize,
    omega: f64,
    workspace: Workspace,
}

impl MinimalResidual {
    /// Makes the operator with `steps` steps, at least one, and relaxation `omega` between 0 and 2.
    pub fn new(op: Arc<dyn LinOp>, steps: usize, omega: f64) -> Self {
        assert!(steps > 0 && omega > 0.0 && omega < 2.0);
        MinimalResidual { op, steps, omega, workspace: Workspace::default() }
    }
}

impl LinOp for MinimalResidual {
    fn shape(&self) -> Shape {
        self.op.range()
    }
    fn range(&self) -> Shape {
        self.op.shape()
    }
    fn free_idle(&self) {
        self.workspace.clear();
        self.op.free_idle();
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let (shape, n) = (self.op.shape(), inp.nrhs());
        let r = &mut *self.workspace.field(&shape, n)?;
        let q = &mut *self.workspace.field(&shape, n)?;
        blas::copy(r, inp)?;
        out.clear()?;
        for step in 0..self.steps {
            self.op.apply(q, r)?;
            // The host waits for nothing. A zero residual stays zero.
            let sums = blas::dot_norm_later(q, r)?;
            let times = Times::DotOverNorm(&sums);
            blas::axpy_times(&blas::uniform(n, self.omega), times, r, out)?;
            if step + 1 < self.steps {
                blas::axpy_times(&blas::uniform(n, -self.omega), times, q, r)?;
            }
        }
        Ok(())
    }
    fn flops(&self) -> f64 {
        self.steps as f64 * (self.op.flops() + (12 + 8 + 8) as f64 * self.op.shape().numbers())
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let vector = self.op.shape().bytes(nrhs) as f64;
        self.steps as f64 * (self.op.bytes(nrhs) + 8.0 * vector)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let op = self.op.like_on_device(device)?;
        Ok(Arc::new(MinimalResidual::new(op, self.steps, self.omega)))
    }
}
