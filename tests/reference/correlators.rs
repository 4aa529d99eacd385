//! Reference hadron correlators at zero momentum from a point source, one value for each time t of the lattice (with
//! the source at t = 0, t is the distance).

use super::gamma::{charge_conjugation, gamma5, gammas, one_plus, Basis, Gamma};
use super::matrix::{dag, mul, product, scale, zero, Matrix};
use super::spinor::point;
use super::{Field, Lattice, C};

/// A propagator: `propagator[source_spin * 3 + source_colour]` is the column S(x, source).
pub type Propagator = Vec<Field>;

/// Solves for twelve columns with a point source on site `source`.
pub fn point_propagator(
    lat: Lattice,
    source: usize,
    solve: impl Fn(&Field) -> Field,
) -> Propagator {
    (0..12).map(|column| solve(&point(lat, source, column / 3, column % 3))).collect()
}

/// The spin-colour matrix of a site, with row and column spin * 3 + colour.
fn site_matrix(propagator: &Propagator, x: usize) -> Matrix<12> {
    std::array::from_fn(|row| std::array::from_fn(|column| propagator[column][x][row / 3][row % 3]))
}

fn on_colour(spin: &Gamma) -> Matrix<12> {
    let mut out = zero();
    for i in 0..12 {
        for j in (0..12).filter(|&j| i % 3 == j % 3) {
            out[i][j] = spin[i / 3][j / 3];
        }
    }
    out
}

fn sum_over_space(lat: Lattice, value: impl Fn(usize) -> C) -> Vec<C> {
    let mut out = vec![C::ZERO; lat.extents[3]];
    for x in 0..lat.volume() {
        out[lat.coords(x)[3]] += value(x);
    }
    out
}

/// Computes sum_x tr[G S(x,0) G^dag S(x,0)^dag] with G = gamma5 Gamma: the connected correlator of the meson qbar
/// Gamma q with gamma5-hermiticity used for the backward quark. The sign is the one in which every meson's correlator
/// is positive.
pub fn meson(lat: Lattice, propagator: &Propagator, gamma: &Gamma) -> Vec<f64> {
    let g = on_colour(&mul(&gamma5(Basis::DeGrandRossi), gamma));
    let g_dag = dag(&g);
    let site = |x| {
        let s = site_matrix(propagator, x);
        let left = product(&[&g, &s, &g_dag]);
        left.iter().flatten().zip(s.iter().flatten()).map(|(a, b)| a * b.conj()).sum()
    };
    sum_over_space(lat, site).into_iter().map(|z: C| z.re).collect()
}

/// The correlator of the pion: Gamma = gamma5, so sum_x |S(x,0)|^2.
pub fn pion(lat: Lattice, propagator: &Propagator) -> Vec<f64> {
    meson(lat, propagator, &gamma5(Basis::DeGrandRossi))
}

/// The correlator of the rho polarised along direction i: Gamma = gamma_i at source and sink.
pub fn rho(lat: Lattice, propagator: &Propagator, i: usize) -> Vec<f64> {
    meson(lat, propagator, &gammas(Basis::DeGrandRossi)[i])
}

/// The permutations of three colours with their signs.
const EPSILON: [([usize; 3], f64); 6] = [
    ([0, 1, 2], 1.0),
    ([1, 2, 0], 1.0),
    ([2, 0, 1], 1.0),
    ([0, 2, 1], -1.0),
    ([2, 1, 0], -1.0),
    ([1, 0, 2], -1.0),
];

fn nonzero(m: &Gamma) -> Vec<(usize, usize, C)> {
    let entries = (0..16).map(|n| (n / 4, n % 4, m[n / 4][n % 4]));
    entries.filter(|&(_, _, z)| z != C::ZERO).collect()
}

/// The correlator of the nucleon N = eps_abc (u_a^T C gamma5 d_b) u_c with degenerate quarks, traced with (1 +
/// gamma_t)/2. Forward in time it propagates the state of positive parity. Wick's theorem gives a direct term and,
/// with the opposite sign, one in which the two u quarks are exchanged.
pub fn nucleon(lat: Lattice, propagator: &Propagator) -> Vec<C> {
    let gamma_t = gammas(Basis::DeGrandRossi)[3];
    let diquark = mul(&charge_conjugation(), &gamma5(Basis::DeGrandRossi));
    // The operator at the source: in Nbar = N^dag gamma_t the matrix C gamma5 becomes gamma_t (C gamma5)^dag gamma_t^T.
    let transpose = std::array::from_fn(|i| std::array::from_fn(|j| gamma_t[j][i]));
    let sink = nonzero(&diquark);
    let source = nonzero(&product(&[&gamma_t, &dag(&diquark), &transpose]));
    let projector = nonzero(&scale(C::new(0.5, 0.0), &one_plus(1.0, &gamma_t)));
    sum_over_space(lat, |x| {
        let m = site_matrix(propagator, x);
        let s = |spin: usize, colour: usize, spin0: usize, colour0: usize| {
            m[spin * 3 + colour][spin0 * 3 + colour0]
        };
        let mut sum = C::ZERO;
        for ([a, b, c], sign) in EPSILON {
            for ([a0, b0, c0], sign0) in EPSILON {
                for &(alpha, beta, g) in &sink {
                    for &(beta0, alpha0, g0) in &source {
                        let down = sign * sign0 * g * g0 * s(beta, b, beta0, b0);
                        for &(rho0, rho, p) in &projector {
                            let direct = s(alpha, a, alpha0, a0) * s(rho, c, rho0, c0);
                            let exchange = s(alpha, a, rho0, c0) * s(rho, c, alpha0, a0);
                            sum += p * down * (direct - exchange);
                        }
                    }
                }
            }
        }
        sum
    })
}
