//! Coarse operators M_c = R M P (Clark et al., arXiv:1612.07873, section 3.4), of Wilson-type operators
//! and of coarse ones alike: the hops of null vectors, one direction and one chirality at a time, are
//! restricted on the sites that face another aggregate. The diagonal is what of the whole operator remains.

use std::sync::Arc;

use super::Transfer;
use crate::backend::args::CoarseMatrixArgs;
use crate::backend::{kernels, Buffer, Work};
use crate::error::Result;
use crate::fields::{CoarseField, Gather, Precision, SpinorField, Subset};
use crate::linop::LinOp;
use crate::operators::{CoarseOperator, DiracParams, HopCall, SiteTerm, Wilson};

/// Null vectors whose hops are held at a time.
pub(super) const COLUMNS: usize = 8;

/// An operator of which a coarser one can be made.
#[derive(Clone)]
pub enum FineOperator {
    Dirac(Arc<Wilson>),
    Coarse(Arc<CoarseOperator>),
}

impl FineOperator {
    /// `take(direction, hop)` for each of the eight directions, then `take(8, all of M)`, of `columns` with one
    /// chirality.
    fn pieces(
        &self,
        columns: &CoarseField,
        chirality: usize,
        mut take: impl FnMut(usize, &CoarseField) -> Result<()>,
    ) -> Result<()> {
        let mut piece = columns.like(columns.nrhs())?;
        match self {
            FineOperator::Dirac(op) => {
                let field = |precision| {
                    SpinorField::new(
                        columns.device(),
                        columns.grid().fine(),
                        precision,
                        Subset::Full,
                        columns.nrhs(),
                    )
                };
                let precision = op.gauge().precision();
                let (mut v, mut w) = (field(precision)?, field(precision)?);
                columns.give_spinors(0, &mut v, chirality)?;
                for mu in 0..4 {
                    let mut hop = [0.0; 4];
                    hop[mu] = op.params().hop[mu];
                    let params = DiracParams {
                        hop,
                        mass: 1.0 + hop[mu].abs(),
                        boundary: op.params().boundary,
                        ..Default::default()
                    };
                    let one = Wilson::from_parts(op.gauge().clone(), None, None, params)?;
                    for parity in 0..2 {
                        let call = HopCall {
                            parity,
                            dagger: false,
                            coef: -op.kappa(),
                            site_hop: SiteTerm::One,
                            y: None,
                        };
                        one.hop(&mut w, &v, &call)?;
                    }
                    // (1 -+ gamma_mu) U: projectors tell the directions apart.
                    for forward in [false, true] {
                        let sign = if forward { 1.0 } else { -1.0 };
                        piece.take_spinors(0, &w, Some((mu, sign)))?;
                        take(2 * mu + forward as usize, &piece)?;
                    }
                }
                op.apply(&mut w, &v)?;
                piece.take_spinors(0, &w, None)?;
                take(8, &piece)
            }
            FineOperator::Coarse(op) => {
                let mut v = columns.like(columns.nrhs())?;
                v.take_columns(0, columns, 0, columns.nrhs(), chirality)?;
                let mut scaled = columns.like(columns.nrhs())?;
                for d in (0..8).filter(|&d| op.grid().hops(d / 2)) {
                    op.one_hop(&mut scaled, &v, d)?;
                    op.diagonal(&mut piece, &scaled)?;
                    take(d, &piece)?;
                }
                op.apply(&mut piece, &v)?;
                take(8, &piece)
            }
        }
    }

    /// R M P.
    ///
    /// # Errors
    /// `OutOfMemory`; `BadParameter`: a diagonal matrix of the coarse operator has no inverse.
    pub fn coarsened(&self, transfer: &Transfer, precision: Precision) -> Result<CoarseOperator> {
        let (hops, diagonal) = self.matrices(transfer, precision)?;
        CoarseOperator::new(transfer.coarse(), precision, transfer.rows(), hops, diagonal)
    }

    /// The same on the ranks where its level is gathered; `None` on the others.
    pub fn coarsened_on(
        &self,
        transfer: &Transfer,
        precision: Precision,
        gather: Option<&Gather>,
    ) -> Result<Option<CoarseOperator>> {
        let Some(gather) = gather else { return self.coarsened(transfer, precision).map(Some) };
        let (hops, diagonal) = self.matrices(transfer, precision)?;
        let rows = transfer.rows();
        let bytes = rows * rows * 2 * precision.bytes();
        let hops = gather.take_buffer(hops, 8 * bytes)?;
        let diagonal = gather.take_buffer(diagonal, bytes)?;
        match (gather.inner(), hops, diagonal) {
            (Some(grid), Some(hops), Some(diagonal)) => {
                CoarseOperator::new(grid, precision, rows, hops, diagonal).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Hops, [site][direction][column][row], and the diagonal.
    fn matrices(&self, transfer: &Transfer, precision: Precision) -> Result<(Buffer, Buffer)> {
        let (grid, rows) = (transfer.coarse(), transfer.rows());
        let n = rows / 2;
        let matrix = rows * rows;
        let bytes = matrix * 2 * precision.bytes();
        let hops = grid.device().alloc((grid.volume() * 8 * bytes).max(16))?;
        let diagonal = grid.device().alloc((grid.volume() * bytes).max(16))?;
        let vectors = transfer.vectors();
        for first in (0..n).step_by(COLUMNS) {
            let count = COLUMNS.min(n - first);
            let mut columns = vectors.like(count)?;
            columns.take_columns(0, vectors, first, count, 0)?;
            for chirality in 0..2 {
                let column = chirality * n + first;
                self.pieces(&columns, chirality + 1, |d, piece| {
                    let (to, step, face) = match d {
                        8 => (diagonal.ptr(), matrix, None),
                        d if grid.hops(d / 2) => {
                            (hops.ptr().offset((d * bytes) as u64), 8 * matrix, Some(d))
                        }
                        _ => return Ok(()),
                    };
                    transfer.restrict_columns(to, precision, step, column, piece, face)
                })?;
            }
        }
        let args = CoarseMatrixArgs {
            inp: hops.ptr(),
            out: diagonal.ptr(),
            rows: rows as i32,
            each: grid.directions(),
            ..Default::default()
        };
        let device = grid.device();
        let work = Work::rows(device, grid.volume(), matrix);
        device.launch(kernels::CoarseInner::of(precision)?, &args, work)?;
        Ok((hops, diagonal))
    }
}
