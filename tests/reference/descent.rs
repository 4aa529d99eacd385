//! Reference for steepest descent to Landau and Coulomb gauge with Fourier acceleration (Davies et al., Phys. Rev.
//! D37 (1988) 1581).

use super::gaugefix::{delta, Condition};
use super::matrix::{add, mul, scale, zero, Matrix};
use super::su3::{exp_i, reunitarise, transform};
use super::{GaugeN, Lattice, C};

/// Computes sum_x exp(i sign p x) f(x) with p_mu = 2 pi k_mu / L_mu, one direction after the other.
pub fn fourier<const N: usize>(lat: Lattice, f: &[Matrix<N>], sign: f64) -> Vec<Matrix<N>> {
    let mut field = f.to_vec();
    for mu in 0..4 {
        let l = lat.extents[mu];
        let mut out = vec![zero(); field.len()];
        for (k, sum) in out.iter_mut().enumerate() {
            let mut x = lat.coords(k);
            let p = std::f64::consts::TAU * x[mu] as f64 / l as f64;
            for n in 0..l {
                x[mu] = n;
                let phase = C::from_polar(1.0, sign * p * n as f64);
                *sum = add(sum, &scale(phase, &field[lat.lex(x)]));
            }
        }
        field = out;
    }
    field
}

/// The eigenvalue p^2 = sum 4 sin^2(p_mu / 2) of the lattice Laplacian, with the sum over `directions`.
pub fn momentum_squared(lat: Lattice, directions: &[usize], k: usize) -> f64 {
    let k = lat.coords(k);
    let half = |mu: &usize| std::f64::consts::PI * k[*mu] as f64 / lat.extents[*mu] as f64;
    directions.iter().map(|mu| 4.0 * half(mu).sin().powi(2)).sum()
}

/// Transforms g -> exp(-i alpha D) g with D = Delta, or with Delta times p2max / p^2 in momentum space, p2max = 4 per
/// direction. In the paper's form the exponent is (alpha/2) (p2max/p^2) sum_mu Delta_-mu (U - U^dag), which is the
/// same: the backward difference of U - U^dag = 2i A is -2i Delta. At p = 0 Delta vanishes.
pub fn step<const N: usize>(
    lat: Lattice,
    u: &GaugeN<N>,
    g: &mut [Matrix<N>],
    condition: Condition,
    alpha: f64,
    accelerated: bool,
) {
    let v = transform(lat, u, g);
    let mut d: Vec<Matrix<N>> = (0..lat.volume()).map(|x| delta(lat, &v, condition, x)).collect();
    if accelerated {
        let directions = condition.directions();
        d = fourier(lat, &d, -1.0);
        for (k, m) in d.iter_mut().enumerate() {
            let p2 = momentum_squared(lat, &directions, k);
            let factor = if p2 > 0.0 { 4.0 * directions.len() as f64 / p2 } else { 1.0 };
            *m = scale(C::new(factor / lat.volume() as f64, 0.0), m);
        }
        d = fourier(lat, &d, 1.0);
    }
    for (g, d) in g.iter_mut().zip(&d) {
        // Each exponential is off the group by its own rounding, which would add up over steps.
        *g = reunitarise(&mul(&exp_i(&scale(C::new(-alpha, 0.0), d)), g));
    }
}
