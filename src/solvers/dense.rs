//! Small dense matrices on the host, row by row: hermitian eigenproblems.

use num_complex::Complex64;

use crate::bail;
use crate::error::Result;

/// Steps of the QL iteration for one eigenvalue.
const MOST_STEPS: usize = 60;

/// A = U diag(values) U^dagger with ascending values; U_ik, row i, is component i of vector k. Only the
/// lower triangle of A is read. Householder's reduction and implicit QL (Golub and Van Loan, section 8.3).
///
/// # Errors
/// `SolverBreakdown`: A holds NaN or infinity.
pub fn eigen_hermitian(a: &[Complex64], n: usize) -> Result<(Vec<f64>, Vec<Complex64>)> {
    assert_eq!(a.len(), n * n, "a square matrix");
    if a.iter().any(|z| !z.is_finite()) {
        bail!(SolverBreakdown, "a projected matrix holds NaN or infinity");
    }
    let mut a = a.to_vec();
    for i in 0..n {
        for j in i + 1..n {
            a[i * n + j] = a[j * n + i].conj();
        }
        a[i * n + i].im = 0.0;
    }
    // A = H_0 .. H_{n-2} T (..)^dagger, H = 1 - 2 v v^dagger, T tridiagonal.
    let mut reflections: Vec<Vec<Complex64>> = Vec::new();
    let mut off = vec![Complex64::ZERO; n];
    for k in 0..n.saturating_sub(1) {
        let x: Vec<Complex64> = (k + 1..n).map(|i| a[i * n + k]).collect();
        let norm = x.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        let mut v = x;
        if norm == 0.0 {
            reflections.push(Vec::new());
            continue;
        }
        let phase = if v[0].norm() > 0.0 { v[0] / v[0].norm() } else { Complex64::ONE };
        off[k] = -phase * norm;
        v[0] -= off[k];
        let length = v.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        v.iter_mut().for_each(|z| *z /= length);
        let m = n - k - 1;
        let row = |i: usize| (k + 1 + i) * n + k + 1;
        // A - 2 v w^dagger - 2 w v^dagger, w = A v - (v^dagger A v) v.
        let mut w: Vec<Complex64> = (0..m)
            .map(|i| a[row(i)..row(i) + m].iter().zip(&v).map(|(a, v)| a * v).sum())
            .collect();
        let along: Complex64 = v.iter().zip(&w).map(|(v, w)| v.conj() * w).sum();
        w.iter_mut().zip(&v).for_each(|(w, v)| *w -= along * v);
        for i in 0..m {
            let (vi, wi) = (2.0 * v[i], 2.0 * w[i]);
            for (z, (v, w)) in a[row(i)..row(i) + m].iter_mut().zip(v.iter().zip(&w)) {
                *z -= vi * w.conj() + wi * v.conj();
            }
        }
        reflections.push(v);
    }
    let mut d: Vec<f64> = (0..n).map(|i| a[i * n + i].re).collect();
    let mut e: Vec<f64> = off.iter().map(|z| z.norm()).collect();
    // Row k: vector k of the real tridiagonal matrix.
    let mut z = vec![0.0; n * n];
    (0..n).for_each(|i| z[i * n + i] = 1.0);
    tridiagonal(&mut d, &mut e, &mut z)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| d[i].total_cmp(&d[j]));
    let mut phases = vec![Complex64::ONE; n];
    for k in 1..n {
        let o = off[k - 1];
        phases[k] = phases[k - 1] * if o.norm() > 0.0 { o / o.norm() } else { Complex64::ONE };
    }
    let mut vectors = vec![Complex64::ZERO; n * n];
    for (to, &from) in order.iter().enumerate() {
        let mut u: Vec<Complex64> =
            phases.iter().zip(&z[from * n..(from + 1) * n]).map(|(p, z)| p * z).collect();
        for (k, v) in reflections.iter().enumerate().rev().filter(|(_, v)| !v.is_empty()) {
            let part = &mut u[k + 1..];
            let along: Complex64 = v.iter().zip(&*part).map(|(v, u)| v.conj() * u).sum();
            part.iter_mut().zip(v).for_each(|(u, v)| *u -= 2.0 * along * v);
        }
        (0..n).for_each(|i| vectors[i * n + to] = u[i]);
    }
    Ok((order.iter().map(|&i| d[i]).collect(), vectors))
}

/// Eigenvalues d and vectors (rows of z) of the symmetric tridiagonal matrix with diagonal d and
/// e[i] between i and i + 1, where z begins as the unit matrix.
fn tridiagonal(d: &mut [f64], e: &mut [f64], z: &mut [f64]) -> Result<()> {
    let n = d.len();
    for l in 0..n {
        for step in 0.. {
            let small = |i: usize| e[i].abs() <= f64::EPSILON * (d[i].abs() + d[i + 1].abs());
            let m = (l..n - 1).find(|&i| small(i)).unwrap_or(n - 1);
            if m == l {
                break;
            }
            if step == MOST_STEPS {
                bail!(SolverBreakdown, "the QL iteration of a projected matrix does not converge");
            }
            let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let r = g.hypot(1.0);
            g = d[m] - d[l] + e[l] / (g + r.copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut early = false;
            for i in (l..m).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    early = true;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = d[i + 1] - p;
                let t = (d[i] - g) * s + 2.0 * c * b;
                p = s * t;
                d[i + 1] = g + p;
                g = c * t - b;
                let (low, high) = z.split_at_mut((i + 1) * n);
                for (x, y) in low[i * n..].iter_mut().zip(&mut high[..n]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
            if !early {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
        }
    }
    Ok(())
}

/// The matrices T and R with W = (W T) R for vectors W with products G = W^dagger W: the columns of W T
/// are orthonormal. Columns of T are left out where vectors depend on others: the rank comes last.
pub(super) fn orthonormaliser(
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
}
