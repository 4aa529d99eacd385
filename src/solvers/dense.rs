//! Small dense matrices on the host, row by row.

use nalgebra::linalg::{Cholesky, Schur, SymmetricEigen};
use nalgebra::DMatrix;
use num_complex::Complex64;

use crate::bail;
use crate::error::Result;

/// Largest number of QR sweeps for one eigenvalue.
const MAX_SWEEPS: usize = 60;

fn matrix(a: &[Complex64], n: usize) -> DMatrix<Complex64> {
    assert_eq!(a.len(), n * n, "a square matrix");
    DMatrix::from_row_slice(n, n, a)
}

/// Eigenvalues, ascending, and eigenvectors of the hermitian n x n matrix A = U diag(values) U^dagger: U_ik, row i,
/// is component i of vector k. Only the lower triangle of A is read.
///
/// # Errors
/// `SolverBreakdown`: A holds NaN or infinity.
pub fn eigen_hermitian(a: &[Complex64], n: usize) -> Result<(Vec<f64>, Vec<Complex64>)> {
    let a = matrix(a, n);
    if a.iter().any(|z| !z.is_finite()) {
        bail!(SolverBreakdown, "a projected matrix holds NaN or infinity");
    }
    if n == 0 {
        return Ok((vec![], vec![]));
    }
    // A diagonal matrix needs no iteration.
    let diagonal = (0..n).all(|j| (j + 1..n).all(|i| a[(i, j)] == Complex64::ZERO));
    let (values, vectors): (Vec<f64>, DMatrix<Complex64>) = if diagonal {
        (a.diagonal().iter().map(|z| z.re).collect(), DMatrix::identity(n, n))
    } else {
        let Some(found) = SymmetricEigen::try_new(a, f64::EPSILON, MAX_SWEEPS * n) else {
            bail!(SolverBreakdown, "the QR iteration of a projected matrix does not converge");
        };
        (found.eigenvalues.iter().copied().collect(), found.eigenvectors)
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let sorted = order.iter().map(|&k| values[k]).collect();
    Ok((sorted, (0..n * n).map(|k| vectors[(k / n, order[k % n])]).collect()))
}

/// The largest eigenvalue of the symmetric tridiagonal matrix with this diagonal and `beside[i]` between i and
/// i + 1, and its unit eigenvector; `beside` may be longer.
///
/// # Errors
/// Errors of [`eigen_hermitian`].
pub(crate) fn top_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> Result<(f64, Vec<f64>)> {
    let n = diagonal.len();
    let mut a = vec![Complex64::ZERO; n * n];
    for i in 0..n {
        a[i * n + i] = diagonal[i].into();
        if i > 0 {
            a[i * n + i - 1] = beside[i - 1].into();
        }
    }
    let (values, vectors) = eigen_hermitian(&a, n)?;
    Ok((values[n - 1], (0..n).map(|i| vectors[i * n + n - 1].re).collect()))
}

/// The inverse of an n x n matrix by LU decomposition with partial pivoting; None if it is singular or not finite.
pub(crate) fn inverse(a: &[Complex64], n: usize) -> Option<Vec<Complex64>> {
    let inverse = matrix(a, n).try_inverse()?;
    let rows = (0..n * n).map(|k| inverse[(k / n, k % n)]).collect::<Vec<_>>();
    rows.iter().all(|z| z.is_finite()).then_some(rows)
}

/// The largest modulus of an eigenvalue of an n x n matrix; None if it is not finite, or the QR iteration does not
/// converge.
pub(crate) fn spectral_radius(a: &[Complex64], n: usize) -> Option<f64> {
    let a = matrix(a, n);
    if a.iter().any(|z| !z.is_finite()) {
        return None;
    }
    let triangular = Schur::try_new(a, f64::EPSILON, MAX_SWEEPS * n)?.unpack().1;
    Some(triangular.diagonal().iter().map(|z| z.norm()).fold(0.0, f64::max))
}

/// x with A x = b for a positive n x n matrix A, from the eigenvectors of A scaled to ones on the diagonal; parts
/// along those whose eigenvalues are rounding noise are left out.
///
/// # Errors
/// Errors of [`eigen_hermitian`].
pub(crate) fn solve_positive(a: &[Complex64], b: &[Complex64]) -> Result<Vec<Complex64>> {
    let n = b.len();
    // T T^dagger is the inverse.
    let (t, _, rank) = orthonormaliser(a, n)?;
    let along = |k: usize| -> Complex64 { (0..n).map(|i| t[i * rank + k].conj() * b[i]).sum() };
    let along: Vec<Complex64> = (0..rank).map(along).collect();
    Ok((0..n).map(|i| (0..rank).map(|k| t[i * rank + k] * along[k]).sum()).collect())
}

/// The upper triangular matrix T for which the columns of W T are orthonormal, for vectors W with products
/// G = W^dagger W; none: they depend on each other so much that digits would be lost. In a rehearsal 1.
pub(crate) fn cholesky(g: &[Complex64], n: usize) -> Option<Vec<Complex64>> {
    let unit: Vec<f64> = (0..n).map(|i| g[i * n + i].re.sqrt().recip()).collect();
    if !unit.iter().all(|u| u.is_finite()) {
        return None;
    }
    let scaled = DMatrix::from_fn(n, n, |i, j| g[i * n + j] * unit[i] * unit[j]);
    let lower = Cholesky::new(scaled)?.unpack();
    if lower.diagonal().iter().any(|z| !(z.re > 1e-4)) {
        return None;
    }
    let t = lower.ad_solve_lower_triangular(&DMatrix::identity(n, n))?;
    Some((0..n * n).map(|k| t[(k / n, k % n)] * unit[k / n]).collect())
}

/// The matrices T and R with W = (W T) R for vectors W with products G = W^dagger W: the columns of W T
/// are orthonormal. Columns of T are left out where vectors depend on others: the rank comes last.
pub(crate) fn orthonormaliser(
    g: &[Complex64],
    n: usize,
) -> Result<(Vec<Complex64>, Vec<Complex64>, usize)> {
    // Scaled to ones on the diagonal: vectors of very different length are not dependent.
    let length: Vec<f64> = (0..n).map(|i| g[i * n + i].re.max(0.0).sqrt()).collect();
    let unit = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
    let scaled: Vec<Complex64> =
        (0..n * n).map(|k| g[k] * unit(length[k / n]) * unit(length[k % n])).collect();
    let (values, u) = eigen_hermitian(&scaled, n)?;
    let kept: Vec<usize> = (0..n).rev().filter(|&k| values[k] > 1e-13 * n as f64).collect();
    let rank = kept.len();
    let mut t = vec![Complex64::ZERO; n * rank];
    let mut r = vec![Complex64::ZERO; rank * n];
    for (to, &k) in kept.iter().enumerate() {
        let root = values[k].sqrt();
        for i in 0..n {
            t[i * rank + to] = u[i * n + k] * (unit(length[i]) / root);
            r[to * n + i] = u[i * n + k].conj() * (root * length[i]);
        }
    }
    Ok((t, r, rank))
}

pub(super) fn identity(n: usize) -> Vec<Complex64> {
    (0..n * n).map(|k| if k / n == k % n { Complex64::ONE } else { Complex64::ZERO }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(n: usize) -> Vec<Complex64> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut a = vec![Complex64::ZERO; n * n];
        for i in 0..n {
            for j in 0..=i {
                let z = Complex64::new(next(), if i == j { 0.0 } else { next() });
                (a[i * n + j], a[j * n + i]) = (z, z.conj());
            }
        }
        a
    }

    fn defect(a: &[Complex64], n: usize) -> f64 {
        let (values, u) = eigen_hermitian(a, n).unwrap();
        assert!(values.windows(2).all(|w| w[0] <= w[1]));
        let mut worst = 0.0f64;
        for k in 0..n {
            for i in 0..n {
                let image: Complex64 = (0..n).map(|j| a[i * n + j] * u[j * n + k]).sum();
                worst = worst.max((image - values[k] * u[i * n + k]).norm());
                let product: Complex64 = (0..n).map(|j| u[j * n + i].conj() * u[j * n + k]).sum();
                worst = worst.max((product - if i == k { 1.0 } else { 0.0 }).norm());
            }
        }
        worst
    }

    #[test]
    fn random_degenerate_and_arrow_matrices() {
        for n in [1, 2, 3, 17, 40] {
            assert!(defect(&random(n), n) < 1e-12 * n as f64);
        }
        let n = 12;
        let mut a = vec![Complex64::ZERO; n * n];
        for i in 0..n {
            a[i * n + i] = Complex64::new((i / 4) as f64, 0.0);
        }
        assert!(defect(&a, n) < 1e-13);
        for i in 0..n - 1 {
            let z = Complex64::new(0.3, 0.1 * i as f64);
            (a[(n - 1) * n + i], a[i * n + n - 1]) = (z, z.conj());
        }
        assert!(defect(&a, n) < 1e-12);
    }

    #[test]
    fn inverses_solutions_and_tridiagonal_matrices() {
        let n = 30;
        let a = random(n);
        let product = |a: &[Complex64], b: &[Complex64]| -> Vec<Complex64> {
            let at = |i: usize, j: usize| (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum();
            (0..n * n).map(|k| at(k / n, k % n)).collect()
        };
        let off = |a: &[Complex64], b: &[Complex64]| {
            a.iter().zip(b).fold(0.0f64, |m, (x, y)| m.max((x - y).norm()))
        };
        assert!(off(&product(&inverse(&a, n).unwrap(), &a), &identity(n)) < 1e-11);
        assert!(inverse(&[Complex64::ZERO; 4], 2).is_none());
        let adjoint = |a: &[Complex64]| -> Vec<Complex64> {
            (0..n * n).map(|k| a[k % n * n + k / n].conj()).collect()
        };
        let t = cholesky(&product(&adjoint(&a), &a), n).unwrap();
        let orthonormal = product(&a, &t);
        assert!(off(&product(&adjoint(&orthonormal), &orthonormal), &identity(n)) < 1e-9);
        assert!((0..n * n).all(|k| k / n <= k % n || t[k] == Complex64::ZERO));
        // Rows and columns 0 and 1 of the positive matrix are the same: x is split between both.
        let mut twice = a.clone();
        (0..n).for_each(|i| twice[i * n + 1] = twice[i * n]);
        let gram = product(&adjoint(&twice), &twice);
        assert!(cholesky(&gram, n).is_none());
        let x: Vec<Complex64> = (0..n).map(|i| a[i * n + i.max(1) - 1]).collect();
        let b: Vec<Complex64> =
            gram.chunks(n).map(|r| r.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
        let found = solve_positive(&gram, &b).unwrap();
        let image: Vec<Complex64> =
            gram.chunks(n).map(|r| r.iter().zip(&found).map(|(a, x)| a * x).sum()).collect();
        assert!(off(&image, &b) < 1e-9 && (found[0] - found[1]).norm() < 1e-9);
        // 2 on the diagonal, -1 beside it: 2 + 2 cos(pi / (n + 1)).
        let (top, v) = top_of_tridiagonal(&vec![2.0; n], &vec![-1.0; n]).unwrap();
        let angle = std::f64::consts::PI / (n + 1) as f64;
        assert!((top - 2.0 - 2.0 * angle.cos()).abs() < 1e-13);
        for k in 0..n {
            let expect = (2.0 / (n + 1) as f64).sqrt() * ((k + 1) as f64 * angle).sin();
            assert!((v[k].abs() - expect).abs() < 1e-12);
        }
    }
}
