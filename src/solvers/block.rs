//! Operations of eigensolvers on blocks of vectors.

use std::ops::Range;

use num_complex::Complex64;

use super::dense::orthonormaliser;
use crate::error::Result;
use crate::fields::{basis, VectorField, VectorSet};

/// Makes the vectors `which` orthonormal among themselves and to the first `before` vectors, which are orthonormal
/// already. Linearly independent vectors come first; returns their number.
pub(super) fn orthonormalise(
    v: &mut VectorField,
    before: usize,
    which: Range<usize>,
) -> Result<usize> {
    if which.is_empty() {
        return Ok(0);
    }
    let mut x = v.like_with(v.precision(), which.len())?;
    x.copy_rhs(0, v, which.start, which.len())?;
    let rank = orthonormal_to(&VectorSet::of(v)?, before, &mut x)?;
    v.copy_rhs(which.start, &x, 0, rank)?;
    Ok(rank)
}

/// Makes the right-hand sides of x orthonormal among themselves and to the first `before` vectors of a set.
pub(super) fn orthonormal_to(v: &VectorSet, before: usize, x: &mut VectorField) -> Result<usize> {
    let mut rank = x.nrhs();
    for _ in 0..2 {
        if rank == 0 {
            break;
        }
        let c = v.dots(0..before, x, 0..rank)?;
        let minus: Vec<Complex64> = c.iter().map(|z| -z).collect();
        v.combine(0..before, &minus, 1.0, x, 0..rank)?;
        let g = basis::dots(x, 0..rank, x, 0..rank)?;
        let (t, _, next) = orthonormaliser(&g, rank)?;
        basis::rotate(x, 0..rank, &t)?;
        rank = next;
    }
    Ok(rank)
}

/// Divides vectors into groups of four, or of `block` if that is more, and groups of one for those that remain; so a
/// GPU compiles kernels for only two numbers of right-hand sides.
pub fn portions(which: Range<usize>, block: usize) -> impl Iterator<Item = (usize, usize)> {
    let max = block.max(4);
    let whole = which.len() / max;
    let rest = which.start + whole * max..which.end;
    let whole = (0..whole).map(move |k| (which.start + k * max, max));
    whole.chain(rest.map(|k| (k, 1)))
}

/// A lower bound, which holds with probability 0.9999, for the component of a random unit vector of this dimension
/// along a given unit vector.
pub(super) fn share_of_random(dimension: usize) -> f64 {
    1e-2 / (dimension as f64).sqrt()
}
