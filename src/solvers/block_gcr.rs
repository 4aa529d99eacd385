//! Restarted GCR in which all right-hand sides share one space: each takes its step along the directions of all
//! (O'Leary, Linear Algebra Appl. 29, 293, for conjugate gradients). Directions are added in blocks, each an
//! orthonormal basis of the residuals (Dubrulle, Electron. Trans. Numer. Anal. 12, 216): components that sources
//! share are solved for once, and sources may be equal, zero or multiples of each other.
//!
//! The images W = M Z of a block are orthogonal to those of other blocks, and have a Gram matrix among themselves. x
//! is updated once per cycle, or when the residual is recomputed.

use std::sync::Arc;

use num_complex::Complex64;

use super::dense::orthonormaliser_above;
use super::mixed_precision::{retain, MixedPrecision, Next};
use super::{SolverParams, System};
use crate::error::Result;
use crate::fields::{basis, blas, Precision, VectorField};
use crate::linop::{Adjoint, Convert, LinOp, Product};

/// A direction is dropped as noise if, after orthogonalisation to the other directions of its block and of its image to
/// earlier images, at most this multiple of the rounding error is left.
const NOISE: f64 = 100.0;
/// An image is orthogonalised once more if orthogonalising it to earlier images leaves less than this part of its
/// square norm.
const MIN_REMAINDER: f64 = 0.01;

/// A small dense matrix, row by row.
type Matrix = Vec<Complex64>;

/// Directions that were added together.
struct Block {
    /// Number of the block's first direction, in the fields of directions and of images.
    first: usize,
    /// Number of directions in the block.
    count: usize,
    /// Coefficients, `first` rows, of all earlier images that were subtracted from the images of this block.
    overlaps: Matrix,
    /// Scalar products of the block's images with each other.
    gram: Matrix,
    /// Inverse of the Gram matrix `gram`, restricted to linearly independent images.
    inverse: Matrix,
}

/// The directions and their images, and the coefficients by which the images reduced the residuals. Rows of `steps`
/// and `totals` are directions, columns are right-hand sides.
#[derive(Default)]
struct Space {
    blocks: Vec<Block>,
    /// Coefficients of the images that have been subtracted from residuals since x was last updated.
    steps: Vec<Vec<Complex64>>,
    /// Coefficients of the images that have been subtracted since the space began.
    totals: Vec<Vec<Complex64>>,
}

impl Space {
    /// Number of directions that are kept now.
    fn len(&self) -> usize {
        self.steps.len()
    }

    /// Converts coefficients of the orthogonalised images (`steps`) to coefficients of the directions.
    fn solution(&self, steps: &[Vec<Complex64>]) -> Matrix {
        let mut y = steps.to_vec();
        for block in self.blocks.iter().rev() {
            let (before, own) = y.split_at_mut(block.first);
            for (row, overlaps) in before.iter_mut().zip(block.overlaps.chunks(block.count)) {
                for (overlap, own) in overlaps.iter().zip(&*own) {
                    row.iter_mut().zip(own).for_each(|(y, own)| *y -= overlap * own);
                }
            }
        }
        y.concat()
    }

    /// Adds to x the steps since its last update.
    fn flush(&mut self, z: &VectorField, x: &mut VectorField) -> Result<()> {
        let y = self.solution(&self.steps);
        if y.iter().any(|c| *c != Complex64::ZERO) {
            let nrhs = x.nrhs();
            basis::combine(z, 0..self.len(), &y, 1.0, x, 0..nrhs)?;
        }
        self.steps.iter_mut().for_each(|row| row.fill(Complex64::ZERO));
        Ok(())
    }

    /// Coefficients of the images in the projection of vectors on their span, from the products of all images with
    /// the vectors.
    fn projection(&self, products: &[Complex64], vectors: usize) -> Matrix {
        let mut found = vec![];
        for Block { first, count, inverse, .. } in &self.blocks {
            let products = &products[first * vectors..(first + count) * vectors];
            found.extend(product(inverse, products, (*count, vectors)));
        }
        found
    }

    /// Makes the vectors w orthogonal to all images. Returns the coefficients that were subtracted, and the products
    /// of the resulting vectors with each other, set to 0 for vectors of which only rounding remains.
    fn orthogonal(&self, q: &VectorField, w: &mut VectorField) -> Result<(Matrix, Matrix)> {
        let (before, n) = (self.len(), w.nrhs());
        let mut overlaps = vec![Complex64::ZERO; before * n];
        let mut lengths: Option<Vec<f64>> = None;
        loop {
            let mut taken = vec![0.0; n];
            if before > 0 {
                let products = basis::dots(q, 0..before, w, 0..n)?;
                let projection = self.projection(&products, n);
                for (k, (c, product)) in projection.iter().zip(&products).enumerate() {
                    taken[k % n] += (c.conj() * product).re;
                }
                let minus: Matrix = projection.iter().map(|c| -c).collect();
                basis::combine(q, 0..before, &minus, 1.0, w, 0..n)?;
                overlaps.iter_mut().zip(projection).for_each(|(all, c)| *all += c);
            }
            let mut gram = basis::dots(w, 0..n, w, 0..n)?;
            let left: Vec<f64> = (0..n).map(|i| gram[i * n + i].re).collect();
            let again = lengths.is_some();
            let lengths = lengths
                .get_or_insert_with(|| left.iter().zip(&taken).map(|(l, t)| l + t).collect());
            if !again && left.iter().zip(&*lengths).any(|(left, all)| *left < MIN_REMAINDER * all) {
                continue;
            }
            let noise = (NOISE * w.precision().epsilon()).powi(2);
            for i in (0..n).filter(|&i| left[i] <= noise * lengths[i]) {
                exclude(&mut gram, i, n);
            }
            return Ok((overlaps, gram));
        }
    }

    /// Adds a block of `count` directions, whose images have been stored already; returns false if none of the images
    /// can be used.
    fn push(&mut self, q: &VectorField, count: usize, nrhs: usize) -> Result<bool> {
        let first = self.len();
        let mut w = q.columns(first, count)?;
        let (overlaps, gram) = self.orthogonal(q, &mut w)?;
        let (t, rank) = basis_of(&gram, count, w.precision())?;
        let pairs = (0..count * count).map(|k| (k / count, k % count));
        let entry = |(i, j): (usize, usize)| -> Complex64 {
            (0..rank).map(|k| t[i * rank + k] * t[j * rank + k].conj()).sum()
        };
        let inverse = pairs.map(entry).collect();
        self.blocks.push(Block { first, count, overlaps, gram, inverse });
        let rows = std::iter::repeat_n(vec![Complex64::ZERO; nrhs], count);
        self.steps.extend(rows.clone());
        self.totals.extend(rows);
        Ok(rank > 0)
    }

    /// Subtracts from the residuals their components along the images from number `from` on. Returns whether all
    /// steps are finite.
    fn step(&mut self, q: &VectorField, from: usize, mixed: &mut MixedPrecision) -> Result<bool> {
        let (all, n) = (self.len(), mixed.nrhs());
        let mut products = vec![Complex64::ZERO; from * n];
        products.extend(basis::dots(q, from..all, &mixed.r, 0..n)?);
        let mut projection = self.projection(&products, n).split_off(from * n);
        for (k, c) in projection.iter_mut().enumerate() {
            if !mixed.active[k % n] {
                *c = Complex64::ZERO;
            }
        }
        if !projection.iter().all(|c| c.is_finite()) {
            return Ok(false);
        }
        let minus: Matrix = projection.iter().map(|c| -c).collect();
        basis::combine(q, from..all, &minus, 1.0, &mut mixed.r, 0..n)?;
        for (row, found) in projection.chunks(n).enumerate() {
            for (i, c) in found.iter().enumerate() {
                self.steps[from + row][i] += c;
                self.totals[from + row][i] += c;
            }
        }
        Ok(true)
    }

    /// Scalar products of the vectors W d with each other, where each of the columns d holds coefficients of images.
    fn products(&self, d: &[Complex64], columns: usize) -> Matrix {
        let mut found = vec![Complex64::ZERO; columns * columns];
        for Block { first, count, gram, .. } in &self.blocks {
            let own = &d[first * columns..(first + count) * columns];
            let turned = product(gram, own, (*count, columns));
            for (left, right) in own.chunks(columns).zip(turned.chunks(columns)) {
                for (row, a) in found.chunks_mut(columns).zip(left) {
                    row.iter_mut().zip(right).for_each(|(sum, b)| *sum += a.conj() * b);
                }
            }
        }
        found
    }

    /// Replaces all directions by as few as span the steps taken for each right-hand side: a restart that keeps this
    /// information.
    fn fold(&mut self, z: &mut VectorField, q: &mut VectorField, nrhs: usize) -> Result<()> {
        let (all, found, lost) = (self.len(), self.solution(&self.totals), self.totals.concat());
        let (t, rank) = basis_of(&self.products(&lost, nrhs), nrhs, q.precision())?;
        *self = Space::default();
        if rank == 0 {
            return Ok(());
        }
        basis::rotate(z, 0..all, &product(&found, &t, (all, rank)))?;
        basis::rotate(q, 0..all, &product(&lost, &t, (all, rank)))?;
        if !self.push(q, rank, nrhs)? {
            *self = Space::default();
        }
        Ok(())
    }

    /// Keeps only the right-hand sides with these indices; all directions are kept.
    fn keep(&mut self, keep: &[usize]) {
        self.steps.iter_mut().chain(&mut self.totals).for_each(|row| retain(row, keep));
    }
}

/// Removes vector i of n from a Gram matrix: sets its row and its column to zero.
fn exclude(gram: &mut [Complex64], i: usize, n: usize) {
    for j in 0..n {
        (gram[i * n + j], gram[j * n + i]) = (Complex64::ZERO, Complex64::ZERO);
    }
}

/// The matrix T of n rows for which the columns of W T are orthonormal, for vectors W with this Gram matrix, and the
/// number of its columns: vectors that are linear combinations of others up to rounding are left out.
fn basis_of(gram: &[Complex64], n: usize, precision: Precision) -> Result<(Matrix, usize)> {
    let noise = (NOISE * precision.epsilon()).powi(2);
    let (t, _, rank) = orthonormaliser_above(gram, n, noise)?;
    Ok((t, rank))
}

/// A matrix of `from` columns, extended by columns of zeros to `to` columns.
fn padded(a: &[Complex64], from: usize, to: usize) -> Matrix {
    let zeros = vec![Complex64::ZERO; to - from];
    a.chunks(from).flat_map(|row| [row, &zeros].concat()).collect()
}

/// The product of two matrices; a has `rows` rows and b has `columns` columns.
fn product(a: &[Complex64], b: &[Complex64], (rows, columns): (usize, usize)) -> Matrix {
    let mut c = vec![Complex64::ZERO; rows * columns];
    for (c, a) in c.chunks_mut(columns).zip(a.chunks(a.len() / rows)) {
        for (a, b) in a.iter().zip(b.chunks(columns)) {
            c.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
        }
    }
    c
}

/// Makes an orthonormal basis of the residuals that are iterated, in the first vectors of v; further vectors of v are
/// set to 0. Returns the number of basis vectors (0 if all residuals are 0), and the number of vectors to iterate.
fn basis_of_residuals(mixed: &MixedPrecision, v: &VectorField) -> Result<(usize, usize)> {
    let n = mixed.nrhs();
    let mut gram = basis::dots(&mixed.r, 0..n, &mixed.r, 0..n)?;
    (0..n).filter(|&i| !mixed.active[i]).for_each(|i| exclude(&mut gram, i, n));
    let (t, rank) = basis_of(&gram, n, mixed.precision())?;
    if rank == 0 {
        return Ok((0, 0));
    }
    // Few numbers of columns are used, since a GPU compiles kernels for each.
    let mut count = n;
    while count > 1 && count.div_ceil(4) >= rank {
        count = count.div_ceil(4);
    }
    let mut v = v.columns(0, count)?;
    basis::combine(&mixed.r, 0..n, &padded(&t, rank, count), 0.0, &mut v, 0..count)?;
    Ok((rank, count))
}

pub(super) fn run(mixed: &mut MixedPrecision, preconditioner: Option<&dyn LinOp>) -> Result<()> {
    if !mixed.running() {
        return Ok(());
    }
    let max = mixed.params.nkrylov.min(mixed.params.stop.iterations);
    // The memory for the largest number of directions is allocated from the beginning.
    let (mut z, mut q) = (mixed.vectors(max)?, mixed.vectors(max)?);
    let basis = preconditioner.map(|_| mixed.vector()).transpose()?;
    let mut space = Space::default();
    let mut before = mixed.nrhs();
    while mixed.running() {
        let (mut next, mut broken) = (Next::Continue, false);
        while next == Next::Continue && space.len() + mixed.nrhs() <= z.nrhs() {
            let (first, n) = (space.len(), mixed.nrhs());
            let own = z.columns(first, n)?;
            let (rank, count) = basis_of_residuals(mixed, basis.as_ref().unwrap_or(&own))?;
            broken = rank == 0;
            if broken {
                break;
            }
            if count != before {
                // Frees the vectors that the preconditioner keeps for other numbers of right-hand sides.
                preconditioner.into_iter().for_each(|inverse| inverse.free_idle());
                before = count;
            }
            let mut direction = z.columns(first, count)?;
            if let (Some(inverse), Some(basis)) = (preconditioner, &basis) {
                mixed.counted(inverse).apply(&mut direction, &basis.columns(0, count)?)?;
            }
            mixed.operator().apply(&mut q.columns(first, count)?, &direction)?;
            broken = !(space.push(&q, rank, n)? && space.step(&q, first, mixed)?);
            if broken {
                break;
            }
            let r2 = blas::norm2(&mixed.r)?;
            let k = first / n;
            mixed.count(2 * k + 13, 96 * (2 * first + 5 * n) + 48);
            next = mixed.advance(&r2);
        }
        space.flush(&z, mixed.x())?;
        if broken {
            space = Space::default();
            mixed.breakdown("the images of all directions vanish or are not finite")?;
        } else if next == Next::Refresh {
            mixed.refresh()?;
        }
        // Directions are kept when residuals are recomputed. When no more fit, a restart folds them into fewer ones, or
        // drops them if there is memory for less than three.
        let full = space.len() + mixed.nrhs() > z.nrhs();
        if full && max < 3 {
            space = Space::default();
        } else if full {
            space.fold(&mut z, &mut q, mixed.nrhs())?;
        }
        if next == Next::Refresh {
            if let Some(keep) = mixed.shrink(&mut [])? {
                space.keep(&keep);
            }
        }
        // Residuals that were recomputed may have components along the images; the others are orthogonal to them.
        if mixed.running() && next == Next::Refresh && space.len() > 0 {
            space.step(&q, 0, mixed)?;
        }
    }
    Ok(())
}

/// The system with its iteration in single precision instead of 16 bits, and its parameters; `None` if the iteration
/// has no 16-bit vectors. Block GCR needs the products of all pairs of vectors, which are not available in 16 bits.
pub(super) fn in_single(
    system: &System,
    params: &SolverParams,
) -> Result<Option<(System, SolverParams)>> {
    let inner = match &system.sloppy {
        Some(op) if op.shape().precision == Precision::F16 => Precision::F16,
        _ => return Ok(None),
    };
    let convert = |op: &Arc<dyn LinOp>| -> Result<Arc<dyn LinOp>> {
        let single = |shape| Convert::new(shape, Precision::F32);
        let into = Adjoint(Arc::new(single(op.shape())?));
        let back = single(op.range())?;
        Ok(Arc::new(Product::new(vec![Arc::new(back), op.clone(), Arc::new(into)])?))
    };
    let system = System {
        sloppy: system.sloppy.as_ref().map(convert).transpose()?,
        preconditioner: system.preconditioner.as_ref().map(convert).transpose()?,
        ..system.clone()
    };
    Ok(Some((system, SolverParams { delta: params.delta_in(inner), ..params.clone() })))
}
