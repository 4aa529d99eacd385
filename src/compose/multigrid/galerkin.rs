//! Coarse operators M_c = R M P (Clark et al., arXiv:1612.07873, section 3.4) of Wilson-type and of
//! coarse operators. Hops of null vectors, for one direction and one chirality at a time, are
//! restricted on the sites that have a neighbour in another aggregate. Hops backward are gamma5
//! times the adjoint of hops forward times gamma5 and are not computed again, except in directions
//! that are divided among ranks. The diagonal term is the restricted whole operator minus these
//! hops.

use std::sync::Arc;

use num_complex::Complex64;

use super::Transfer;
use crate::backend::args::CoarseMatrixArgs;
use crate::backend::{kernels, Buffer, Work};
use crate::error::Result;
use crate::fields::{blas, CoarseField, Gather, Precision, SpinorField, Subset};
use crate::operators::{CoarseOperator, Coarsenable};

/// Number of null vectors whose hops are held at a time, unless chosen otherwise.
const COLUMNS: usize = 8;

/// An operator from which a coarser one can be made.
#[derive(Clone)]
pub enum FineOperator {
    Dirac(Arc<dyn Coarsenable>),
    Coarse(Arc<CoarseOperator>),
}

/// A group of null vectors, the hop of these vectors in one direction, and temporary vectors for
/// the operator.
struct Pieces<'a> {
    columns: CoarseField,
    piece: CoarseField,
    fine: FineVectors<'a>,
}

enum FineVectors<'a> {
    Spinors(&'a dyn Coarsenable, [SpinorField; 2]),
    Coarse(&'a CoarseOperator, [CoarseField; 2]),
}

impl FineOperator {
    /// A bit for each direction (bit mu) in which hops backward are derived from hops forward.
    fn derived(&self, transfer: &Transfer) -> i32 {
        let whole = |mu: &usize| !transfer.coarse().comm().split(*mu);
        let made = match self {
            FineOperator::Dirac(op) => op.has_hop_forward(transfer.precision()),
            FineOperator::Coarse(_) => true,
        };
        directions(transfer).filter(|mu| made && whole(mu)).map(|mu| 1 << mu).sum()
    }

    /// For the part of the null vectors with each chirality, calls `take(chirality, direction,
    /// hop)` for each direction with hops between aggregates (only forward where the backward hop
    /// is derived from it), then `take(chirality, 8, product)` with the product of the whole
    /// operator M + i twist gamma5. A hop has correct values on sites with a neighbour in another
    /// aggregate; values on other sites are unspecified.
    fn pieces(
        &self,
        work: &mut Pieces<'_>,
        transfer: &Transfer,
        twist: f64,
        mut take: impl FnMut(usize, usize, &CoarseField) -> Result<()>,
    ) -> Result<()> {
        let Pieces { columns, piece, fine } = work;
        let (derived, n) = (self.derived(transfer), columns.nrhs());
        let is_derived = |mu: usize| derived >> mu & 1 == 1;
        let gamma5 = |chirality| if chirality == 0 { 1.0 } else { -1.0 };
        let twisted = |chirality| vec![Complex64::new(0.0, twist * gamma5(chirality)); n];
        match fine {
            FineVectors::Spinors(op, [v, w]) => {
                for chirality in 0..2 {
                    columns.copy_to_spinors(0, v, chirality + 1)?;
                    for mu in directions(transfer) {
                        if is_derived(mu) {
                            op.hop_forward(mu, piece, transfer.faces(), v)?;
                            take(chirality, 2 * mu + 1, piece)?;
                            continue;
                        }
                        op.hops(mu, w, v)?;
                        // Forward hops contain 1 - gamma_mu and backward hops 1 + gamma_mu: these projectors separate
                        // them.
                        for forward in [false, true] {
                            let sign = if forward { 1.0 } else { -1.0 };
                            piece.copy_from_spinors(0, w, Some((mu, sign)))?;
                            take(chirality, 2 * mu + forward as usize, piece)?;
                        }
                    }
                    op.apply(w, v)?;
                    if twist != 0.0 {
                        blas::axpy(&twisted(chirality), v, w)?;
                    }
                    piece.copy_from_spinors(0, w, None)?;
                    take(chirality, 8, piece)?;
                }
            }
            FineVectors::Coarse(op, [v, scaled]) => {
                for chirality in 0..2 {
                    v.copy_from_columns(0, columns, 0, n, chirality + 1)?;
                    let both = |mu: usize| if is_derived(mu) { 1..2 } else { 0..2 };
                    for d in directions(transfer).flat_map(|mu| both(mu).map(move |f| 2 * mu + f)) {
                        op.one_hop(scaled, v, d)?;
                        op.diagonal(piece, scaled)?;
                        take(chirality, d, piece)?;
                    }
                    op.apply(piece, v)?;
                    if twist != 0.0 {
                        piece.axpy(&twisted(chirality), v)?;
                    }
                    take(chirality, 8, piece)?;
                }
            }
        }
        Ok(())
    }

    /// Memory for hops of `n` null vectors.
    fn work(&self, vectors: &CoarseField, n: usize) -> Result<Pieces<'_>> {
        let fine = match self {
            FineOperator::Dirac(op) => {
                let shape = op.subset_shape(Subset::Full);
                FineVectors::Spinors(&**op, [shape.field(n)?, shape.field(n)?])
            }
            FineOperator::Coarse(op) => {
                FineVectors::Coarse(op, [vectors.like(n)?, vectors.like(n)?])
            }
        };
        Ok(Pieces { columns: vectors.like(n)?, piece: vectors.like(n)?, fine })
    }

    /// The coarse operator R M P (Clark et al., arXiv:1612.07873, section 3.4, step 4 of the set-up).
    ///
    /// # Errors
    /// `OutOfMemory`; `BadParameter`: a diagonal matrix of the coarse operator has no inverse.
    pub fn coarsened(&self, transfer: &Transfer, precision: Precision) -> Result<CoarseOperator> {
        let parts: (usize, AfterPart) = (COLUMNS, &mut || Ok(()));
        let (hops, diagonal) = self.matrices(transfer, precision, 0.0, parts)?;
        CoarseOperator::new(transfer.coarse(), precision, transfer.rows(), hops, diagonal)
    }

    /// R (M + i twist gamma5) P = R M P + i twist gamma5, on the ranks where its level is gathered; `None` on the
    /// others. `parts`: number of null vectors whose hops are held at a time, and a function that is called after each
    /// such group.
    pub fn coarsened_on(
        &self,
        transfer: &Transfer,
        precision: Precision,
        twist: f64,
        gather: Option<&Gather>,
        parts: (usize, AfterPart),
    ) -> Result<Option<CoarseOperator>> {
        let (hops, diagonal) = self.matrices(transfer, precision, twist, parts)?;
        let rows = transfer.rows();
        let Some(gather) = gather else {
            let made = CoarseOperator::new(transfer.coarse(), precision, rows, hops, diagonal);
            return made.map(Some);
        };
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

    /// Computes the matrices of hops, [site][direction][column][row], and those of the diagonal
    /// term.
    fn matrices(
        &self,
        transfer: &Transfer,
        precision: Precision,
        twist: f64,
        (together, after): (usize, AfterPart),
    ) -> Result<(Buffer, Buffer)> {
        let (grid, rows) = (transfer.coarse(), transfer.rows());
        let n = rows / 2;
        let matrix = rows * rows;
        let bytes = matrix * 2 * precision.bytes();
        let hops = grid.device().alloc((grid.volume() * 8 * bytes).max(16))?;
        let diagonal = grid.device().alloc((grid.volume() * bytes).max(16))?;
        let vectors = transfer.vectors()?;
        let mut work: Option<Pieces> = None;
        for first in (0..n).step_by(together) {
            let count = together.min(n - first);
            let mut pieces = match work.take().filter(|work| work.columns.nrhs() == count) {
                Some(pieces) => pieces,
                None => self.work(vectors, count)?,
            };
            pieces.columns.copy_from_columns(0, vectors, first, count, 0)?;
            self.pieces(&mut pieces, transfer, twist, |chirality, d, piece| {
                let column = chirality * n + first;
                let (to, step, face) = match d {
                    8 => (diagonal.ptr(), matrix, None),
                    d => (hops.ptr().offset((d * bytes) as u64), 8 * matrix, Some(d)),
                };
                transfer.restrict_columns(to, precision, step, column, piece, face)
            })?;
            work = Some(pieces);
            after()?;
        }
        drop(work);
        let (device, work) = (grid.device(), Work::rows(grid.device(), grid.volume(), matrix));
        let derived = self.derived(transfer);
        if derived != 0 {
            let args = CoarseMatrixArgs {
                left: grid.neighbours().ptr(),
                out: hops.ptr(),
                rows: rows as i32,
                each: derived,
                ..Default::default()
            };
            device.launch(kernels::CoarseAdjoint::of(precision)?, &args, work)?;
        }
        let args = CoarseMatrixArgs {
            inp: hops.ptr(),
            out: diagonal.ptr(),
            rows: rows as i32,
            each: grid.directions(),
            ..Default::default()
        };
        device.launch(kernels::CoarseInner::of(precision)?, &args, work)?;
        Ok((hops, diagonal))
    }
}

/// A function that is called after each part of the work; its error ends the work.
pub type AfterPart<'a> = &'a mut dyn FnMut() -> Result<()>;

/// The directions in which a step leads to another coarse site.
fn directions(transfer: &Transfer) -> impl Iterator<Item = usize> + '_ {
    (0..4).filter(|&mu| transfer.coarse().hops(mu))
}
