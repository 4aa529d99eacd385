//! The prolongator between levels as an operator.

use std::sync::Arc;

use super::rows::shape_of;
use super::transfer::Transfer;
use crate::error::Result;
use crate::fields::{CoarseField, Geometry, Subset, VectorField};
use crate::linop::{LinOp, Shape};

/// The prolongator P from a coarser level to all sites of the next finer one as an operator; its adjoint is the
/// restrictor R.
pub struct Prolongator {
    transfer: Arc<Transfer>,
    fine: Arc<Geometry>,
    coarse: Arc<Geometry>,
}

impl Prolongator {
    pub fn new(transfer: Arc<Transfer>) -> Arc<Self> {
        let fine = transfer.fine().rows(Subset::Full);
        let coarse = transfer.coarse().rows(Subset::Full);
        Arc::new(Prolongator { transfer, fine, coarse })
    }
    /// The two vector fields, on the coarse and on the fine level, as coarse vectors.
    fn vectors(
        &self,
        coarse: (&VectorField, &str),
        fine: (&VectorField, &str),
    ) -> Result<(CoarseField, CoarseField)> {
        self.shape().check(coarse.0, coarse.1)?;
        self.range().check(fine.0, fine.1)?;
        let (above, below) = (self.transfer.coarse(), self.transfer.fine());
        Ok((
            CoarseField::of_rows(above, Subset::Full, coarse.0),
            CoarseField::of_rows(below, Subset::Full, fine.0),
        ))
    }
}

impl LinOp for Prolongator {
    fn shape(&self) -> Shape {
        let transfer = &self.transfer;
        shape_of(transfer.coarse(), &self.coarse, transfer.precision(), transfer.rows())
    }
    fn range(&self) -> Shape {
        let transfer = &self.transfer;
        shape_of(transfer.fine(), &self.fine, transfer.precision(), transfer.components())
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let (inp, mut out) = self.vectors((inp, "in"), (out, "out"))?;
        self.transfer.prolong(&mut out, &inp)
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let (mut out, inp) = self.vectors((out, "out"), (inp, "in"))?;
        self.transfer.restrict(&mut out, &inp)
    }
    /// Number of floating-point operations of an application: a complex multiplication and an
    /// addition for every number of every null vector.
    fn flops(&self) -> f64 {
        8.0 * self.range().numbers() * self.transfer.count() as f64
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let vectors = self.transfer.count();
        (self.range().bytes(vectors + nrhs) + self.shape().bytes(nrhs)) as f64
    }
}
