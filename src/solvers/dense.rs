//! Small dense matrices on the host, stored row by row.

use nalgebra::linalg::{Cholesky, Schur};
use nalgebra::DMatrix;
use num_complex::Complex64;

use crate::bail;
use crate::error::Result;

/// Largest number of QR sweeps for one eigenvalue.
const MAX_SWEEPS: usize = 60;
/// Number of multiplications, taking a fraction of a second, after which a caller is asked whether to continue. It is
/// the same on all ranks.
const WORK_PER_CHECK: usize = 100_000_000;
/// Largest side of a matrix whose eigenvectors take at most about a second.
pub(super) const QUICK: usize = 512;

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
    let found = eigen_hermitian_while(a, n, &mut || true)?;
    Ok(found.expect("nobody ends it"))
}

/// Like [`eigen_hermitian`], for matrices that may be large; the time grows as n^3. None: `continues`, which is called
/// from time to time, returned false. Householder reflections lead to tridiagonal form (Golub and Van Loan, Matrix
/// Computations, section 8.3), which is diagonalised by implicit QL (Dubrulle, Martin and Wilkinson, Numer. Math. 12,
/// 377).
pub(super) fn eigen_hermitian_while(
    a: &[Complex64],
    n: usize,
    continues: &mut dyn FnMut() -> bool,
) -> Result<Option<(Vec<f64>, Vec<Complex64>)>> {
    assert_eq!(a.len(), n * n, "a square matrix");
    if a.iter().any(|z| !z.is_finite()) {
        bail!(SolverBreakdown, "a projected matrix holds NaN or infinity");
    }
    let mut since = 0;
    let mut count_work = |work: usize| {
        since += work;
        since < WORK_PER_CHECK || {
            since = 0;
            continues()
        }
    };
    // The matrix is scaled to numbers of order 1, so that no product overflows.
    let scale = a.iter().fold(0.0f64, |m, z| m.max(z.re.abs()).max(z.im.abs()));
    let scale = if scale > 0.0 { scale } else { 1.0 };
    let Some(Tridiagonal { mut diagonal, mut off_diagonal, phases, reflections }) =
        Tridiagonal::of(a.iter().map(|z| z / scale).collect(), n, &mut count_work)
    else {
        return Ok(None);
    };
    // Row k of z becomes eigenvector k.
    let mut z = vec![0.0; n * n];
    (0..n).for_each(|k| z[k * n + k] = 1.0);
    if !implicit_ql(&mut diagonal, &mut off_diagonal, &mut z, &mut count_work)? {
        return Ok(None);
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| diagonal[i].total_cmp(&diagonal[j]));
    let mut u = vec![Complex64::ZERO; n * n];
    for (to, &k) in order.iter().enumerate() {
        let mut v: Vec<Complex64> =
            z[k * n..(k + 1) * n].iter().zip(&phases).map(|(z, phase)| z * phase).collect();
        for (first, w) in reflections.iter().enumerate().rev() {
            let v = &mut v[first + 1..];
            let along: Complex64 = w.iter().zip(&*v).map(|(w, v)| w.conj() * v).sum();
            v.iter_mut().zip(w).for_each(|(v, w)| *v -= 2.0 * along * w);
        }
        (0..n).for_each(|i| u[i * n + to] = v[i]);
        if !count_work(n * n) {
            return Ok(None);
        }
    }
    Ok(Some((order.into_iter().map(|k| scale * diagonal[k]).collect(), u)))
}

/// The decomposition A = Q D T D^dagger Q^dagger with a real symmetric tridiagonal matrix T.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// Off-diagonal entries of T between rows i and i + 1; the last one is 0.
    off_diagonal: Vec<f64>,
    /// The diagonal elements of D, numbers of modulus 1.
    phases: Vec<Complex64>,
    /// Unit vectors w of the reflections 1 - 2 w w^dagger whose product is Q; vector number k belongs to the rows from
    /// k + 1 on, and is empty if no reflection is needed.
    reflections: Vec<Vec<Complex64>>,
}

impl Tridiagonal {
    /// Decomposes a hermitian matrix whose lower triangle is given; None: `count_work` returned false.
    fn of(
        mut a: Vec<Complex64>,
        n: usize,
        count_work: &mut dyn FnMut(usize) -> bool,
    ) -> Option<Self> {
        let (mut off_diagonal, mut phases) = (vec![0.0; n], vec![Complex64::ONE; n]);
        let mut reflections = vec![];
        for k in 0..n.saturating_sub(1) {
            let mut w: Vec<Complex64> = (k + 1..n).map(|i| a[i * n + k]).collect();
            let length = w.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
            let phase = match w[0].norm() {
                0.0 => Complex64::ONE,
                size => w[0] / size,
            };
            let rest = w[1..].iter().map(|z| z.norm_sqr()).sum::<f64>();
            let mut next = w[0];
            if rest > 0.0 {
                // The reflection maps the column to -phase length in its first row and zero in the others.
                next = -phase * length;
                w[0] += phase * length;
                let unit = 1.0 / (w[0].norm_sqr() + rest).sqrt();
                w.iter_mut().for_each(|z| *z *= unit);
                reflect(&mut a[(k + 1) * n..], (n, k + 1), &w);
            } else {
                w.clear();
            }
            off_diagonal[k] = next.norm();
            let turn = if off_diagonal[k] > 0.0 { next / off_diagonal[k] } else { Complex64::ONE };
            phases[k + 1] = phases[k] * turn;
            reflections.push(w);
            if !count_work(2 * (n - k) * (n - k)) {
                return None;
            }
        }
        let diagonal = (0..n).map(|i| a[i * n + i].re).collect();
        Some(Tridiagonal { diagonal, off_diagonal, phases, reflections })
    }
}

/// Applies a reflection from both sides, B = (1 - 2 w w^dagger) B (1 - 2 w w^dagger), to the lower triangle of the
/// block of these rows that begins at column `from`; rows have n numbers.
fn reflect(rows: &mut [Complex64], (n, from): (usize, usize), w: &[Complex64]) {
    let m = w.len();
    let mut p = vec![Complex64::ZERO; m];
    for i in 0..m {
        let row = &rows[i * n + from..][..i];
        let mut sum = rows[i * n + from + i].re * w[i];
        for ((b, w_j), p_j) in row.iter().zip(w).zip(&mut p) {
            sum += b * w_j;
            *p_j += b.conj() * w[i];
        }
        p[i] += sum;
    }
    let half: f64 = w.iter().zip(&p).map(|(w, p)| (w.conj() * p).re).sum();
    // B - w q^dagger - q w^dagger, q = 2 (p - half w).
    let q: Vec<Complex64> = p.iter().zip(w).map(|(p, w)| 2.0 * (p - half * w)).collect();
    for i in 0..m {
        let (w_i, q_i) = (w[i], q[i]);
        for ((b, w_j), q_j) in rows[i * n + from..][..=i].iter_mut().zip(w).zip(&q) {
            *b -= w_i * q_j.conj() + q_i * w_j.conj();
        }
    }
}

/// Diagonalises a real symmetric tridiagonal matrix with entries of order 1, where `off_diagonal[i]` is the entry
/// between rows i and i + 1, and applies the same rotations to the rows of z. Returns false if `count_work` did.
fn implicit_ql(
    diagonal: &mut [f64],
    off_diagonal: &mut [f64],
    z: &mut [f64],
    count_work: &mut dyn FnMut(usize) -> bool,
) -> Result<bool> {
    let n = diagonal.len();
    for low in 0..n {
        for sweep in 0.. {
            let small = |i: usize| {
                let near = diagonal[i].abs() + diagonal[i + 1].abs();
                off_diagonal[i].abs() <= f64::EPSILON * (near + f64::EPSILON)
            };
            let high = (low..n - 1).find(|&i| small(i)).unwrap_or(n - 1);
            if high == low {
                break;
            }
            if sweep == MAX_SWEEPS {
                bail!(SolverBreakdown, "the QR iteration of a projected matrix does not converge");
            }
            // Wilkinson's shift, from the 2 x 2 block at the lower end.
            let half = 0.5 * (diagonal[low + 1] - diagonal[low]) / off_diagonal[low];
            let shift = diagonal[low] - off_diagonal[low] / (half + half.hypot(1.0).copysign(half));
            let (mut sine, mut cosine, mut taken) = (1.0, 1.0, 0.0);
            let mut bulge = diagonal[high] - shift;
            let mut split = false;
            for i in (low..high).rev() {
                let (over, under) = (sine * off_diagonal[i], cosine * off_diagonal[i]);
                let length = over.hypot(bulge);
                off_diagonal[i + 1] = length;
                if length == 0.0 {
                    // The matrix splits into two blocks.
                    diagonal[i + 1] -= taken;
                    split = true;
                    break;
                }
                (sine, cosine) = (over / length, bulge / length);
                let above = diagonal[i + 1] - taken;
                let step = (diagonal[i] - above) * sine + 2.0 * cosine * under;
                taken = sine * step;
                diagonal[i + 1] = above + taken;
                bulge = cosine * step - under;
                let (before, after) = z.split_at_mut((i + 1) * n);
                for (x, y) in before[i * n..].iter_mut().zip(&mut after[..n]) {
                    (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
                }
            }
            off_diagonal[high] = 0.0;
            if !split {
                diagonal[low] -= taken;
                off_diagonal[low] = bulge;
            }
            if !count_work((high - low) * n) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The largest eigenvalue, and its unit eigenvector, of the symmetric tridiagonal matrix with this diagonal and with
/// `off_diagonal[i]` between rows i and i + 1; `off_diagonal` may be longer.
///
/// # Errors
/// Errors of [`eigen_hermitian`].
pub(crate) fn top_of_tridiagonal(
    diagonal: &[f64],
    off_diagonal: &[f64],
) -> Result<(f64, Vec<f64>)> {
    let n = diagonal.len();
    let mut a = vec![Complex64::ZERO; n * n];
    for i in 0..n {
        a[i * n + i] = diagonal[i].into();
        if i > 0 {
            a[i * n + i - 1] = off_diagonal[i - 1].into();
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

/// The solution x of A x = b for a positive n x n matrix A, from the eigenvectors of A scaled to a unit diagonal;
/// components along eigenvectors whose eigenvalue is only rounding error are left out.
///
/// # Errors
/// Errors of [`eigen_hermitian`].
pub(crate) fn solve_positive(a: &[Complex64], b: &[Complex64]) -> Result<Vec<Complex64>> {
    let n = b.len();
    // T T^dagger is the inverse of A, without the components that are left out.
    let (t, _, rank) = orthonormaliser(a, n)?;
    let along = |k: usize| -> Complex64 { (0..n).map(|i| t[i * rank + k].conj() * b[i]).sum() };
    let along: Vec<Complex64> = (0..rank).map(along).collect();
    Ok((0..n).map(|i| (0..rank).map(|k| t[i * rank + k] * along[k]).sum()).collect())
}

/// The upper triangular matrix T for which the columns of W T are orthonormal, for vectors W with products G =
/// W^dagger W; None: the vectors are so nearly dependent that digits would be lost.
pub(crate) fn cholesky(g: &[Complex64], n: usize) -> Option<Vec<Complex64>> {
    let unit: Vec<f64> = (0..n).map(|i| g[i * n + i].re.sqrt().recip()).collect();
    if !unit.iter().all(|u| u.is_finite()) {
        return None;
    }
    let scaled = DMatrix::from_fn(n, n, |i, j| g[i * n + j] * unit[i] * unit[j]);
    let lower = Cholesky::new(scaled)?.unpack();
    if lower.diagonal().iter().any(|z| z.re.is_nan() || z.re <= 1e-4) {
        return None;
    }
    let t = lower.ad_solve_lower_triangular(&DMatrix::identity(n, n))?;
    Some((0..n * n).map(|k| t[(k / n, k % n)] * unit[k / n]).collect())
}

/// The matrices T and R with W = (W T) R and orthonormal columns of W T, for vectors W with products G = W^dagger W.
/// For vectors that depend on others columns of T are left out; the number of columns is the rank, which comes last.
pub(crate) fn orthonormaliser(
    g: &[Complex64],
    n: usize,
) -> Result<(Vec<Complex64>, Vec<Complex64>, usize)> {
    orthonormaliser_above(g, n, 0.0)
}

/// Like [`orthonormaliser`], but vectors count as dependent if some unit combination of them has a square norm of at
/// most `least`.
pub(super) fn orthonormaliser_above(
    g: &[Complex64],
    n: usize,
    least: f64,
) -> Result<(Vec<Complex64>, Vec<Complex64>, usize)> {
    // The matrix is scaled to ones on the diagonal, as vectors of very different length need not be dependent.
    let length: Vec<f64> = (0..n).map(|i| g[i * n + i].re.max(0.0).sqrt()).collect();
    let unit = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
    let scaled: Vec<Complex64> =
        (0..n * n).map(|k| g[k] * unit(length[k / n]) * unit(length[k % n])).collect();
    let (values, u) = eigen_hermitian(&scaled, n)?;
    let kept: Vec<usize> =
        (0..n).rev().filter(|&k| values[k] > least.max(1e-13 * n as f64)).collect();
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
    use crate::error::Status;

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

    /// Tests matrices with the largest and smallest entries, block-diagonal ones, and zero.
    #[test]
    fn matrices_of_any_size_and_those_that_fall_apart() {
        let n = 24;
        for size in [1e-290, 1e-5, 1e290] {
            let a: Vec<Complex64> = random(n).iter().map(|z| size * z).collect();
            let (values, u) = eigen_hermitian(&a, n).unwrap();
            for k in 0..n {
                for i in 0..n {
                    let image: Complex64 = (0..n).map(|j| a[i * n + j] / size * u[j * n + k]).sum();
                    assert!((image - values[k] / size * u[i * n + k]).norm() < 1e-12, "{size:e}");
                }
            }
        }
        let mut blocks = random(n);
        for i in 0..n {
            (0..n).filter(|j| i / 5 != j / 5).for_each(|j| blocks[i * n + j] = Complex64::ZERO);
        }
        assert!(defect(&blocks, n) < 1e-12);
        assert_eq!(defect(&[Complex64::ZERO; 16], 4), 0.0);
        let mut bad = random(n);
        bad[3 * n + 1].im = f64::NAN;
        assert_eq!(eigen_hermitian(&bad, n).unwrap_err().status, Status::SolverBreakdown);
        bad[3 * n + 1].im = f64::INFINITY;
        assert_eq!(eigen_hermitian(&bad, n).unwrap_err().status, Status::SolverBreakdown);
    }

    /// The diagonalisation of a large matrix ends soon after it is asked to.
    #[test]
    fn a_large_matrix_is_given_up() {
        let n = 1200;
        let a: Vec<Complex64> = (0..n * n)
            .map(|k| Complex64::new(1.0 / (1.0 + (k / n) as f64 + (k % n) as f64), 0.0))
            .collect();
        for allowed in [0, 3] {
            let mut asked = 0;
            let found = eigen_hermitian_while(&a, n, &mut || {
                asked += 1;
                asked <= allowed
            });
            assert!(found.unwrap().is_none());
            assert_eq!(asked, allowed + 1);
        }
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
        // The first two columns are equal, so that the solution is divided equally between these components.
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
        // The matrix with 2 on the diagonal and -1 beside it has the largest eigenvalue 2 + 2 cos(pi / (n + 1)).
        let (top, v) = top_of_tridiagonal(&vec![2.0; n], &vec![-1.0; n]).unwrap();
        let angle = std::f64::consts::PI / (n + 1) as f64;
        assert!((top - 2.0 - 2.0 * angle.cos()).abs() < 1e-13);
        for k in 0..n {
            let expect = (2.0 / (n + 1) as f64).sqrt() * ((k + 1) as f64 * angle).sin();
            assert!((v[k].abs() - expect).abs() < 1e-12);
        }
    }
}
