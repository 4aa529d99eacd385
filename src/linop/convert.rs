//! The linear operator that converts vectors to another precision.

use super::{LinOp, Shape};
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, Precision, RhsOrder, VectorField};

/// The operator that converts vectors to another precision; its adjoint converts them back.
pub struct Convert {
    domain: Shape,
    range: Shape,
}

impl Convert {
    /// Makes the operator that converts fields of `domain` to `precision`.
    ///
    /// # Errors
    /// `Unsupported`: to 16 bits, for fields with right-hand sides fastest in memory.
    pub fn new(domain: Shape, precision: Precision) -> Result<Self> {
        if domain.order == RhsOrder::Fastest && precision == Precision::F16 {
            bail!(Unsupported, "change of precision: to 16 bits with right-hand sides fastest");
        }
        let range = Shape { precision, ..domain.clone() };
        Ok(Convert { domain, range })
    }
}

impl LinOp for Convert {
    fn shape(&self) -> Shape {
        self.domain.clone()
    }
    fn range(&self) -> Shape {
        self.range.clone()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.domain.check(inp, "in")?;
        self.range.check(out, "out")?;
        blas::copy(out, inp)
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.range.check(inp, "in")?;
        self.domain.check(out, "out")?;
        blas::copy(out, inp)
    }
    fn hermitian(&self) -> bool {
        self.domain == self.range
    }
    fn flops(&self) -> f64 {
        0.0
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        (self.domain.bytes(nrhs) + self.range.bytes(nrhs)) as f64
    }
}
