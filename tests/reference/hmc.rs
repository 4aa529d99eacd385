//! Reference generators, closed loops and gauge actions of physics.md (HMC), from products of links along paths.

use super::matrix::{dag, mul, one, scale, trace, zero, Matrix};
use super::su3::exp_i;
use super::{Gauge, Lattice, C};

/// The generator T_a = lambda_a / 2, tr T_a T_b = delta_ab / 2.
pub fn generator(a: usize) -> Matrix<3> {
    let mut t = zero::<3>();
    let half = C::new(0.5, 0.0);
    let pairs = [(0, 1), (0, 1), (0, 0), (0, 2), (0, 2), (1, 2), (1, 2), (0, 0)];
    match a {
        2 => (t[0][0], t[1][1]) = (half, -half),
        7 => {
            let d = half / 3f64.sqrt();
            (t[0][0], t[1][1], t[2][2]) = (d, d, -2.0 * d);
        }
        _ => {
            let (i, j) = pairs[a];
            let v = if [0, 3, 5].contains(&a) { half } else { C::new(0.0, -0.5) };
            (t[i][j], t[j][i]) = (v, v.conj());
        }
    }
    t
}

/// Computes sum_a h_a T_a.
pub fn algebra(h: &[f64]) -> Matrix<3> {
    (0..8).fold(zero(), |sum, a| super::matrix::add(&sum, &scale(C::new(h[a], 0.0), &generator(a))))
}

/// Computes exp(i sum_a h_a T_a) U.
pub fn moved(u: &Matrix<3>, h: &[f64]) -> Matrix<3> {
    mul(&exp_i(&algebra(h)), u)
}

/// The ordered product of links along a path from x; a step is a direction 0 to 3 forward, or minus 1 minus the
/// direction backward.
pub fn path(lat: Lattice, u: &[Matrix<3>], x: usize, steps: &[i32]) -> Matrix<3> {
    let (mut at, mut product) = (x, one());
    for &s in steps {
        if s >= 0 {
            product = mul(&product, &u[at * 4 + s as usize]);
            at = lat.forward(at, s as usize);
        } else {
            let mu = (-1 - s) as usize;
            at = lat.backward(at, mu);
            product = mul(&product, &dag(&u[at * 4 + mu]));
        }
    }
    product
}

/// Coefficients for the planes 01, 02, 12, 03, 13, 23: of plaquettes, of rectangles with two steps in the lower
/// direction, and of rectangles with two steps in the higher one.
pub struct Coefficients {
    pub plaquette: [f64; 6],
    pub first: [f64; 6],
    pub second: [f64; 6],
}

const PLANES: [(i32, i32); 6] = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)];

/// Computes the sum of coefficient (1 - Re tr loop / 3) over the lattice.
pub fn action(lat: Lattice, u: &Gauge, c: &Coefficients) -> f64 {
    let mut sum = 0.0;
    for x in 0..lat.volume() {
        for (n, (a, b)) in PLANES.into_iter().enumerate() {
            let (ra, rb) = (-1 - a, -1 - b);
            let mut add = |k: f64, steps: &[i32]| {
                if k != 0.0 {
                    sum += k * (1.0 - trace(&path(lat, u, x, steps)).re / 3.0);
                }
            };
            add(c.plaquette[n], &[a, b, ra, rb]);
            add(c.first[n], &[a, a, b, ra, ra, rb]);
            add(c.second[n], &[a, b, b, ra, rb, rb]);
        }
    }
    sum
}

/// Computes the derivative d f / d omega for U_mu(x) -> exp(i omega T_a) U_mu(x), by fourth-order differences.
pub fn derivative(u: &mut Gauge, link: usize, a: usize, h: f64, f: &dyn Fn(&Gauge) -> f64) -> f64 {
    let keep = u[link];
    let mut at = |omega: f64| {
        let mut p = [0.0; 8];
        p[a] = omega;
        u[link] = moved(&keep, &p);
        let value = f(u);
        u[link] = keep;
        value
    };
    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
}
