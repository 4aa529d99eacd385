//! Random, unit and transformed gauge fields of SU(N), and tests of unitarity.

use super::matrix::{add, dag, det, mul, one, scale, sub, trace, zero, Matrix};
use super::rng::Rng;
use super::{largest, GaugeN, Lattice, C};

/// Projects a matrix onto SU(N): Gram-Schmidt on the rows, then division of the last row by the phase of the
/// determinant, as codes that store two rows of a link commonly do.
pub fn reunitarise<const N: usize>(a: &Matrix<N>) -> Matrix<N> {
    let mut u = *a;
    for i in 0..N {
        for j in 0..i {
            let overlap: C = (0..N).map(|k| u[j][k].conj() * u[i][k]).sum();
            for k in 0..N {
                let along = overlap * u[j][k];
                u[i][k] -= along;
            }
        }
        let norm = u[i].iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        u[i] = u[i].map(|z| z / norm);
    }
    let phase = det(&u).conj();
    u[N - 1] = u[N - 1].map(|z| z * phase);
    u
}

/// A random SU(N) matrix from the Haar measure: Gram-Schmidt of a complex normal matrix.
pub fn haar<const N: usize>(rng: &mut Rng) -> Matrix<N> {
    reunitarise(&std::array::from_fn(|_| std::array::from_fn(|_| rng.gaussian())))
}

/// A random hermitian traceless matrix with normally distributed coefficients.
pub fn random_hermitian<const N: usize>(rng: &mut Rng) -> Matrix<N> {
    let a: Matrix<N> = std::array::from_fn(|_| std::array::from_fn(|_| rng.gaussian()));
    let h = scale(C::new(0.5, 0.0), &add(&a, &dag(&a)));
    sub(&h, &scale(trace(&h) / N as f64, &one()))
}

/// Computes exp(i h) by scaling, Taylor series and squaring.
pub fn exp_i<const N: usize>(h: &Matrix<N>) -> Matrix<N> {
    let small = scale(C::new(0.0, 1.0 / 16.0), h);
    let mut term = one();
    let mut sum = one();
    for n in 1..20 {
        term = scale(C::new(1.0 / n as f64, 0.0), &mul(&term, &small));
        sum = add(&sum, &term);
    }
    (0..4).fold(sum, |power, _| mul(&power, &power))
}

/// The violation of unitarity: |U U^dag - 1| (largest entry) or |det U - 1|, whichever is larger.
pub fn unitarity_violation<const N: usize>(u: &Matrix<N>) -> f64 {
    let off = sub(&mul(u, &dag(u)), &one());
    let det = (det(u) - C::ONE).norm();
    largest(off.iter().flatten().map(|z| z.norm()).chain([det]))
}

pub fn unit_gauge<const N: usize>(lat: Lattice) -> GaugeN<N> {
    vec![one(); lat.volume() * 4]
}

/// Random independent links from the Haar measure.
pub fn haar_gauge<const N: usize>(lat: Lattice, seed: u64) -> GaugeN<N> {
    let mut rng = Rng::new(seed);
    (0..lat.volume() * 4).map(|_| haar(&mut rng)).collect()
}

/// Links exp(i epsilon h) with h normally distributed: near the unit matrix for a small epsilon.
pub fn smooth_gauge<const N: usize>(lat: Lattice, epsilon: f64, seed: u64) -> GaugeN<N> {
    let mut rng = Rng::new(seed);
    let link = |_| exp_i(&scale(C::new(epsilon, 0.0), &random_hermitian(&mut rng)));
    (0..lat.volume() * 4).map(link).collect()
}

/// A random Haar matrix g(x) for every site.
pub fn random_transformation<const N: usize>(lat: Lattice, seed: u64) -> Vec<Matrix<N>> {
    let mut rng = Rng::new(seed);
    (0..lat.volume()).map(|_| haar(&mut rng)).collect()
}

/// Transforms links: U_mu(x) -> g(x) U_mu(x) g(x + mu)^dag.
pub fn transform<const N: usize>(lat: Lattice, gauge: &GaugeN<N>, g: &[Matrix<N>]) -> GaugeN<N> {
    let mut out = vec![zero(); gauge.len()];
    for lex in 0..lat.volume() {
        for mu in 0..4 {
            let right = dag(&g[lat.forward(lex, mu)]);
            out[lex * 4 + mu] = mul(&mul(&g[lex], &gauge[lex * 4 + mu]), &right);
        }
    }
    out
}
