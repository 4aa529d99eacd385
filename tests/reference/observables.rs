//! Reference gauge observables of SU(N). Links have no boundary phases here (physics.md, Lattice).

use super::matrix::{add, dag, mul, one, product, scale, sub, trace, zero, Matrix};
use super::{GaugeN, Lattice, C};

/// The plaquette matrix U_mu(x) U_nu(x+mu) U_mu(x+nu)^dag U_nu(x)^dag.
pub fn plaquette_matrix<const N: usize>(
    lat: Lattice,
    u: &GaugeN<N>,
    x: usize,
    mu: usize,
    nu: usize,
) -> Matrix<N> {
    let (x_mu, x_nu) = (lat.forward(x, mu), lat.forward(x, nu));
    let back = mul(&u[x * 4 + nu], &u[x_nu * 4 + mu]);
    product(&[&u[x * 4 + mu], &u[x_mu * 4 + nu], &dag(&back)])
}

/// Average plaquettes Re tr U_mu_nu / N, which are one on unit links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plaquette {
    pub total: f64,
    /// Average over the planes xy, xz, yz.
    pub spatial: f64,
    /// Average over the planes xt, yt, zt.
    pub temporal: f64,
}

/// The average plaquette (physics.md, Lattice).
pub fn plaquette<const N: usize>(lat: Lattice, u: &GaugeN<N>) -> Plaquette {
    let (mut spatial, mut temporal) = (0.0, 0.0);
    for x in 0..lat.volume() {
        for nu in 0..4 {
            for mu in 0..nu {
                let p = trace(&plaquette_matrix(lat, u, x, mu, nu)).re;
                *(if nu == 3 { &mut temporal } else { &mut spatial }) += p;
            }
        }
    }
    let norm = (3 * N * lat.volume()) as f64;
    Plaquette {
        total: (spatial + temporal) / (2.0 * norm),
        spatial: spatial / norm,
        temporal: temporal / norm,
    }
}

/// The average of Re tr U / N over all links.
pub fn link_trace<const N: usize>(u: &GaugeN<N>) -> f64 {
    u.iter().map(|link| trace(link).re).sum::<f64>() / (N * u.len()) as f64
}

/// The average over space of tr(prod_t U_t) / N.
pub fn polyakov_loop<const N: usize>(lat: Lattice, u: &GaugeN<N>) -> C {
    let slice = lat.volume() / lat.extents[3];
    let mut sum = C::ZERO;
    for start in 0..slice {
        let line = (0..lat.extents[3]).fold(one(), |w, t| mul(&w, &u[(start + slice * t) * 4 + 3]));
        sum += trace(&line);
    }
    sum / (N * slice) as f64
}

/// Wilson gauge action beta sum_{x, mu<nu} (1 - Re tr U_mu_nu / N) (physics.md, HMC).
pub fn wilson_action<const N: usize>(lat: Lattice, u: &GaugeN<N>, beta: f64) -> f64 {
    beta * 6.0 * lat.volume() as f64 * (1.0 - plaquette(lat, u).total)
}

/// The sum A of the six staples of a link: the sum of plaquettes through the link is Re tr U_mu(x) A.
pub fn staple<const N: usize>(lat: Lattice, u: &GaugeN<N>, x: usize, mu: usize) -> Matrix<N> {
    let x_mu = lat.forward(x, mu);
    let mut sum = zero();
    for nu in (0..4).filter(|&nu| nu != mu) {
        let (up, down) = (lat.forward(x, nu), lat.backward(x, nu));
        let down_mu = lat.backward(x_mu, nu);
        let upper = mul(&u[x_mu * 4 + nu], &dag(&mul(&u[x * 4 + nu], &u[up * 4 + mu])));
        let lower = mul(&dag(&mul(&u[down * 4 + mu], &u[down_mu * 4 + nu])), &u[down * 4 + nu]);
        sum = add(&sum, &add(&upper, &lower));
    }
    sum
}

/// The clover-leaf field strength (Q - Q^dag) / 8 of the four plaquettes of the mu-nu plane that start and end at x,
/// all in the same sense. It is anti-hermitian, has a trace, and is about i a^2 g F.
pub fn field_strength<const N: usize>(
    lat: Lattice,
    u: &GaugeN<N>,
    x: usize,
    mu: usize,
    nu: usize,
) -> Matrix<N> {
    let link = |site: usize, dir: usize| u[site * 4 + dir];
    let (mu_up, nu_up) = (lat.forward(x, mu), lat.forward(x, nu));
    let (mu_dn, nu_dn) = (lat.backward(x, mu), lat.backward(x, nu));
    let corner = lat.backward(mu_dn, nu);
    let leaves = [
        // leaf 1: right, up, left, down
        [link(x, mu), link(mu_up, nu), dag(&link(nu_up, mu)), dag(&link(x, nu))],
        // leaf 2: up, left, down, right
        [
            link(x, nu),
            dag(&link(lat.forward(mu_dn, nu), mu)),
            dag(&link(mu_dn, nu)),
            link(mu_dn, mu),
        ],
        // leaf 3: left, down, right, up
        [dag(&link(mu_dn, mu)), dag(&link(corner, nu)), link(corner, mu), link(nu_dn, nu)],
        // leaf 4: down, right, up, left
        [
            dag(&link(nu_dn, nu)),
            link(nu_dn, mu),
            link(lat.forward(nu_dn, mu), nu),
            dag(&link(x, mu)),
        ],
    ];
    let q = leaves.iter().fold(zero(), |sum, [a, b, c, d]| add(&sum, &product(&[a, b, c, d])));
    scale(C::new(0.125, 0.0), &sub(&q, &dag(&q)))
}

/// The density of Q = 1/(32 pi^2) sum_x eps_mu_nu_rho_sigma tr F_mu_nu F_rho_sigma with eps_xyzt = 1 and the
/// hermitian F = -i field_strength: the terms of every x. `kept` says whether the trace of F is kept.
pub fn charge_density<const N: usize>(lat: Lattice, u: &GaugeN<N>, kept: bool) -> Vec<f64> {
    let at = |x: usize| {
        let f = |mu, nu| {
            let full = field_strength(lat, u, x, mu, nu);
            let part = if kept { C::ZERO } else { trace(&full) / N as f64 };
            sub(&full, &scale(part, &one()))
        };
        let pairs = [([0, 1, 2, 3], 1.0), ([0, 2, 1, 3], -1.0), ([0, 3, 1, 2], 1.0)];
        // The sign comes from (-i)^2, the factor 8 from 8 of the 24 orders of indices for each of the three splits.
        let terms =
            pairs.map(|([a, b, c, d], sign)| -8.0 * sign * trace(&mul(&f(a, b), &f(c, d))).re);
        terms.iter().sum::<f64>() / (32.0 * std::f64::consts::PI.powi(2))
    };
    (0..lat.volume()).map(at).collect()
}

/// The topological charge, the sum of [`charge_density`].
pub fn topological_charge<const N: usize>(lat: Lattice, u: &GaugeN<N>, kept: bool) -> f64 {
    charge_density(lat, u, kept).iter().sum()
}
