//! Small dense complex matrices: colour (2, 3), spin (4), clover blocks (6), and matrices of any size.

use super::{largest, C};

pub type Matrix<const N: usize> = [[C; N]; N];

#[inline]
pub fn zero<const N: usize>() -> Matrix<N> {
    [[C::ZERO; N]; N]
}

#[inline]
pub fn one<const N: usize>() -> Matrix<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| if i == j { C::ONE } else { C::ZERO }))
}

#[inline]
pub fn mul<const N: usize>(a: &Matrix<N>, b: &Matrix<N>) -> Matrix<N> {
    let mut out = zero();
    for i in 0..N {
        for j in 0..N {
            for k in 0..N {
                out[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    out
}

/// The product of several matrices, left to right.
#[inline]
pub fn product<const N: usize>(factors: &[&Matrix<N>]) -> Matrix<N> {
    factors.iter().fold(one(), |acc, m| mul(&acc, m))
}

#[inline]
pub fn apply<const N: usize>(a: &Matrix<N>, v: &[C; N]) -> [C; N] {
    std::array::from_fn(|i| (0..N).map(|j| a[i][j] * v[j]).sum())
}

#[inline]
pub fn add<const N: usize>(a: &Matrix<N>, b: &Matrix<N>) -> Matrix<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] + b[i][j]))
}

#[inline]
pub fn sub<const N: usize>(a: &Matrix<N>, b: &Matrix<N>) -> Matrix<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] - b[i][j]))
}

#[inline]
pub fn scale<const N: usize>(c: C, a: &Matrix<N>) -> Matrix<N> {
    a.map(|row| row.map(|z| c * z))
}

/// Computes exp(a) by the series of exp(a / 8) and three squarings.
pub fn exponential<const N: usize>(a: &Matrix<N>) -> Matrix<N> {
    let small = scale(C::new(0.125, 0.0), a);
    let (mut sum, mut term) = (one(), one());
    for k in 1..30 {
        term = scale(C::new(1.0 / f64::from(k), 0.0), &mul(&term, &small));
        sum = add(&sum, &term);
    }
    (0..3).fold(sum, |root, _| mul(&root, &root))
}

/// The hermitian conjugate.
#[inline]
pub fn dag<const N: usize>(a: &Matrix<N>) -> Matrix<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i].conj()))
}

#[inline]
pub fn trace<const N: usize>(a: &Matrix<N>) -> C {
    (0..N).map(|i| a[i][i]).sum()
}

/// The largest modulus of an entry of a - b.
#[inline]
pub fn distance<const N: usize>(a: &Matrix<N>, b: &Matrix<N>) -> f64 {
    largest(sub(a, b).iter().flatten().map(|z| z.norm()))
}

pub fn det<const N: usize>(a: &Matrix<N>) -> C {
    ln_det(a).exp()
}

/// Computes ln det a = ln |det a| + i arg det a, the argument modulo 2 pi.
pub fn ln_det<const N: usize>(a: &Matrix<N>) -> C {
    eliminate(&mut a.map(|row| row.to_vec()))
}

/// The inverse by Gauss-Jordan elimination with pivoting.
pub fn inverse<const N: usize>(a: &Matrix<N>) -> Matrix<N> {
    let unit = one::<N>();
    let mut rows: [Vec<C>; N] = std::array::from_fn(|i| [a[i], unit[i]].concat());
    eliminate(&mut rows);
    std::array::from_fn(|i| std::array::from_fn(|j| rows[i][N + j]))
}

/// Gauss-Jordan elimination of the rows (A | B) in place, leaving (1 | A^-1 B); returns ln det A. A singular A gives
/// infinities and NaN, never a wrong finite answer.
pub fn eliminate(rows: &mut [Vec<C>]) -> C {
    let n = rows.len();
    let mut ln_det = C::ZERO;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].norm().total_cmp(&rows[j][k].norm()));
        let pivot = pivot.expect("the range k..n is not empty");
        if pivot != k {
            rows.swap(k, pivot);
            ln_det += C::new(0.0, std::f64::consts::PI);
        }
        ln_det += rows[k][k].ln();
        let inv = rows[k][k].inv();
        rows[k].iter_mut().for_each(|z| *z *= inv);
        let top = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[k];
            if i != k && factor != C::ZERO {
                row.iter_mut().zip(&top).for_each(|(z, t)| *z -= factor * t);
            }
        }
    }
    ln_det
}
