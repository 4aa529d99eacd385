//! Low modes, or the whole inverse, of the coarsest level's operator S, which the set-up computes.

use std::sync::Arc;

use num_complex::Complex64;

use super::gathering::coarsest_unknowns;
use super::params::{Coarsest, MAX_DIRECT_UNKNOWNS, UNITS};
use super::{CoarseSystem, MultigridParams};
use crate::bail;
use crate::error::Result;
use crate::fields::{CoarseField, DenseMatrix, Overlaps, Subset, VectorField};
use crate::linop::{LinOp, Shape};
use crate::operators::{CoarseOperator, QuarkAction};
use crate::refuse;
use crate::solvers::dense::{eigen_hermitian, inverse};

/// Results of the set-up for the operator S of the coarsest level: its low modes, and its inverse.
#[derive(Default)]
pub(super) struct CoarsestModes {
    pub modes: Option<Arc<Modes>>,
    pub direct: Option<Direct>,
}

/// Low modes of S: vectors V, and U = S V with orthonormal columns, so that V U^dagger inverts S on
/// the span of U. S is not normal: an iteration of a Krylov solver produces components along U
/// again, which are projected out in every step.
pub(super) struct Modes {
    pub v: CoarseField,
    pub u: CoarseField,
}

/// The operator (1 - U U^dagger) S, which is S once the low modes have been solved for.
pub(super) struct Deflated {
    pub system: Arc<CoarseSystem>,
    pub modes: Arc<Modes>,
}

impl LinOp for Deflated {
    fn shape(&self) -> Shape {
        self.system.shape()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.system.apply(out, inp)?;
        self.modes.project(&mut self.system.coarse(out, "out")?).map(|_| ())
    }
    fn flops(&self) -> f64 {
        self.system.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.system.bytes(nrhs)
    }
}

/// This rank's rows of the inverse of S.
pub(super) struct Direct {
    pub inverse: DenseMatrix,
    /// Number of unknowns on ranks before this one.
    pub first: usize,
}

/// Refuses parameters that the coarsest level's solver does not support.
pub(super) fn check(params: &MultigridParams, op: &dyn QuarkAction) -> Result<()> {
    let flavours = op.shape().components.slices as u64;
    let unknowns = flavours * coarsest_unknowns(op.links().geometry(), params);
    if params.coarsest == Coarsest::Direct && unknowns > MAX_DIRECT_UNKNOWNS {
        refuse!(
            BadParameter,
            "coarsest: direct",
            expected("at most {MAX_DIRECT_UNKNOWNS} unknowns, the coarsest level has {unknowns}")
        );
    }
    let modes = params.coarsest_modes.unwrap_or(0);
    if 2 * modes as u64 > unknowns {
        refuse!(
            BadParameter,
            "coarsest_modes",
            expected("at most half of the {unknowns} unknowns of the coarsest level"),
            found("{modes}")
        );
    }
    Ok(())
}

impl Modes {
    /// Solves for the low modes: x = V U^dagger r, and r -= U U^dagger r.
    pub fn apply(&self, x: &mut CoarseField, r: &mut CoarseField) -> Result<()> {
        let along = self.project(r)?;
        x.combine(&self.v, &along, 1.0, false)
    }

    /// Projects low modes out of q: q -= U U^dagger q; returns U^dagger q.
    pub fn project(&self, q: &mut CoarseField) -> Result<Overlaps> {
        let along = self.u.overlaps(q)?;
        q.combine(&self.u, &along, -1.0, true)?;
        Ok(along)
    }

    /// Adds the low modes' part to x: for q = S x and `along` = U^dagger q, x -= sign V U^dagger q;
    /// after that S x has no component along U.
    pub fn complete(&self, x: &mut CoarseField, along: &Overlaps, sign: f64) -> Result<()> {
        x.combine(&self.v, along, -sign, true)
    }
}

/// The matrix Q / sqrt(lambda), made of eigenvectors Q and eigenvalues lambda of the Gram matrix of
/// v: the product of v and this matrix has orthonormal columns. Eigenvectors whose eigenvalue is
/// only rounding error are left out.
pub(super) fn orthonormaliser(v: &CoarseField) -> Result<Overlaps> {
    let k = v.nrhs();
    let (values, vectors) = eigen_hermitian(&v.overlaps_now(v)?, k)?;
    let max = values.last().copied().unwrap_or(0.0);
    if !(max.is_finite() && max > 0.0) {
        bail!(NotFinite, "low modes of the coarsest level are zero or not finite");
    }
    let scale = |l: f64| if l > 1e-14 * max { 1.0 / l.sqrt() } else { 0.0 };
    let scaled: Vec<Complex64> =
        vectors.iter().enumerate().map(|(i, z)| z * scale(values[i % k])).collect();
    Overlaps::of(v.device(), k, &scaled)
}

impl Direct {
    pub fn new(op: &CoarseOperator) -> Result<Self> {
        let (grid, subset) = (op.grid(), op.subset());
        let comm = grid.comm();
        let own = op.field(subset, 1)?.range().1 * op.rows();
        let mut counts = vec![0.0; comm.size()];
        counts[comm.rank()] = own as f64;
        comm.sum(&mut counts)?;
        let first = counts[..comm.rank()].iter().sum::<f64>() as usize;
        let solved = |sites: usize| if grid.has_parity() { sites.div_ceil(2) } else { sites };
        let n = solved(grid.global_volume()) * op.rows();
        // 1 - S of unit vectors: rows of this rank, [row][column].
        let mut whole = vec![Complex64::ZERO; n * n];
        for from in (0..n).step_by(UNITS) {
            let count = UNITS.min(n - from);
            let mut unit = op.field(subset, count)?;
            let mut numbers = vec![0.0; 2 * own * count];
            for j in 0..count {
                let row = (from + j).wrapping_sub(first);
                if row < own {
                    numbers[2 * (row * count + j)] = 1.0;
                }
            }
            unit.load(&numbers)?;
            let mut image = unit.like(count)?;
            let mut odd = op.field(Subset::Odd, count)?;
            op.one_minus_schur(&mut image, &unit, &mut odd)?;
            let image = image.save()?;
            for row in 0..own {
                for j in 0..count {
                    let at = 2 * (row * count + j);
                    whole[(first + row) * n + from + j] = Complex64::new(image[at], image[at + 1]);
                }
            }
        }
        if comm.size() > 1 {
            for row in whole.chunks_mut(n) {
                comm.sum(bytemuck::cast_slice_mut(row))?;
            }
        }
        for (at, entry) in whole.iter_mut().enumerate() {
            *entry = f64::from(at / n == at % n) - *entry;
        }
        let Some(whole) = inverse(&whole, n) else {
            bail!(
                BadParameter,
                "coarsest: direct: the operator of the coarsest level has no inverse: are links and \
                 null vectors finite?"
            );
        };
        let rows: Vec<Complex64> = (0..n)
            .flat_map(|c| (0..own).map(move |r| (r, c)))
            .map(|(r, c)| whole[(first + r) * n + c])
            .collect();
        let inverse = DenseMatrix::new(op.device(), op.precision(), own, n, &rows)?;
        Ok(Direct { inverse, first })
    }
}
