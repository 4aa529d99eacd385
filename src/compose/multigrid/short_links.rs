//! The choice of a precision for the links of a coarse operator: the shortest one of which rounding
//! does not change the lowest modes.

use num_complex::Complex64;

use crate::error::Result;
use crate::fields::CoarseField;
use crate::operators::{CoarseOperator, LinkPrecision};
use crate::solvers::dense::{inverse, spectral_radius};

/// Largest part of a low mode, 0 to 1, that may remain after a correction with the rounded
/// operator; a solve on a coarse level leaves this part of the residual by default.
const MAX_LEFT: f64 = 0.25;

/// A copy of a coarse operator with its links in the first precision of `choices` with which at
/// most `MAX_LEFT` of low modes remains after a correction, or in the last one; links that are not
/// in single precision are copied unchanged. With null vectors T = `tests`, H = T^dagger A T, and
/// H' the same for the rounded operator, the eigenvalues of 1 - H'^-1 H are the parts of low modes
/// that a correction leaves.
///
/// # Errors
/// Errors of [`CoarseOperator::with_short_links`].
pub fn shortened(
    op: &CoarseOperator,
    tests: &CoarseField,
    choices: &[LinkPrecision],
) -> Result<CoarseOperator> {
    let Some((&longest, shorter)) = choices.split_last() else { return op.duplicate() };
    let n = tests.nrhs();
    let products = |op: &CoarseOperator| {
        let mut image = tests.like(n)?;
        op.apply(&mut image, tests)?;
        tests.overlaps_now(&image)
    };
    if !shorter.is_empty() {
        let exact = products(op)?;
        for &bits in shorter {
            let short = op.with_short_links(bits)?;
            let left = part_left(&exact, &products(&short)?, n);
            if left < MAX_LEFT {
                return Ok(short);
            }
            log::info!(
                "multigrid: {bits} links leave {left:.2} of a low mode: longer ones are taken"
            );
        }
    }
    op.with_short_links(longest)
}

/// The largest modulus of an eigenvalue of 1 - rounded^-1 exact, for n x n matrices.
fn part_left(exact: &[Complex64], rounded: &[Complex64], n: usize) -> f64 {
    if exact == rounded {
        return 0.0;
    }
    let Some(inverse) = inverse(rounded, n) else { return f64::INFINITY };
    let entry = |k: usize| {
        let (row, column) = (k / n, k % n);
        let sum = |j| inverse[row * n + j] * (rounded[j * n + column] - exact[j * n + column]);
        (0..n).map(sum).sum()
    };
    let product: Vec<Complex64> = (0..n * n).map(entry).collect();
    spectral_radius(&product, n).unwrap_or(f64::INFINITY)
}
