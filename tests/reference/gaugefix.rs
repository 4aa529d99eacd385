//! Reference gauge fixing by relaxation in SU(2) and SU(3): functionals, violations and the local updates of
//! culgt-2012 (Schroeck, Vogt, arXiv:1212.5221), on a stored g with the links fixed.
//!
//! Three places differ from the printed paper. Eq. (14) has -u_0 u_2 for the forward link, as
//! Eq. (12) gives, and Eq. (26) a factor two, as Eq. (24) gives; the self-checks show that the
//! printed forms fail. Eq. (16) becomes a sum of squares over the subgroups, because terms of
//! its sum could cancel where the functional is not stationary.

use super::matrix::{add, dag, mul, one, scale, sub, trace, zero, Matrix};
use super::su3::transform;
use super::{GaugeN, Lattice, C};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Landau,
    /// Coulomb gauge: the functional has links in the three directions other than `time`; slices of constant `time` are
    /// independent of each other.
    Coulomb {
        time: usize,
    },
    MaximallyAbelian,
    /// The Landau functional over diagonal g, in U(1)^(N-1): the freedom that the maximally Abelian gauge leaves.
    AbelianLandau,
}

impl Condition {
    pub fn directions(self) -> Vec<usize> {
        (0..4).filter(|&mu| self != Condition::Coulomb { time: mu }).collect()
    }
}

/// The quality of gauge fixing on a set of sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// F of Eq. (4) or (11): the mean over links, at most one.
    pub functional: f64,
    /// Mean of the [`violation`] over sites, Eq. (7) or (13).
    pub theta: f64,
    /// Largest violation of a site.
    pub theta_max: f64,
}

/// Computes F and theta over some sites, all of them or a slice, with V the number of these sites.
pub fn quality<const N: usize>(
    lat: Lattice,
    v: &GaugeN<N>,
    condition: Condition,
    sites: &[usize],
) -> Quality {
    let directions = condition.directions();
    let (mut functional, mut theta, mut theta_max) = (0.0, 0.0, 0.0f64);
    for &x in sites {
        for mu in &directions {
            functional += link_functional(condition, &v[x * 4 + mu]);
        }
        let at_x = violation(lat, v, condition, x);
        theta += at_x;
        theta_max = theta_max.max(at_x);
    }
    let n = sites.len() as f64;
    functional /= (N * directions.len()) as f64 * n;
    Quality { functional, theta: theta / n, theta_max }
}

/// The quality of U^g over the whole lattice.
pub fn quality_of<const N: usize>(
    lat: Lattice,
    u: &GaugeN<N>,
    g: &[Matrix<N>],
    condition: Condition,
) -> Quality {
    let all: Vec<usize> = (0..lat.volume()).collect();
    quality(lat, &transform(lat, u, g), condition, &all)
}

/// Sites of the slice x_axis = at.
pub fn slice(lat: Lattice, axis: usize, at: usize) -> Vec<usize> {
    (0..lat.volume()).filter(|&x| lat.coords(x)[axis] == at).collect()
}

/// The functional of one link: Re tr U, or the sum of |U_ii|^2 (Eqs. 4, 11).
pub fn link_functional<const N: usize>(condition: Condition, v: &Matrix<N>) -> f64 {
    match condition {
        Condition::MaximallyAbelian => (0..N).map(|i| v[i][i].norm_sqr()).sum(),
        _ => trace(v).re,
    }
}

/// The violation of one site, whose mean is theta: tr Delta Delta^dag / N (Eq. 7), or the sum
/// over the SU(2) subgroups of |X_12|^2 / N (Eq. 13).
pub fn violation<const N: usize>(
    lat: Lattice,
    v: &GaugeN<N>,
    condition: Condition,
    x: usize,
) -> f64 {
    let squares = match condition {
        Condition::MaximallyAbelian => {
            let out = outgoing(lat, v, &vec![one(); lat.volume()], condition, x);
            pairs::<N>().iter().map(|&(i, j)| off_diagonal(&out, i, j)[0][1].norm_sqr()).sum()
        }
        _ => {
            let d = delta(lat, v, condition, x);
            trace(&mul(&d, &dag(&d))).re
        }
    };
    squares / N as f64
}

/// The vector potential A, the traceless part of (U - U^dag) / 2i (a g = 1).
pub fn vector_potential<const N: usize>(u: &Matrix<N>) -> Matrix<N> {
    let a = scale(C::new(0.0, -0.5), &sub(u, &dag(u)));
    sub(&a, &scale(trace(&a) / N as f64, &one()))
}

/// Computes Delta(x) of Eq. (6), only its diagonal for diagonal transformations.
pub fn delta<const N: usize>(
    lat: Lattice,
    v: &GaugeN<N>,
    condition: Condition,
    x: usize,
) -> Matrix<N> {
    let mut sum = zero();
    for mu in condition.directions() {
        let here = vector_potential(&v[x * 4 + mu]);
        let before = vector_potential(&v[lat.backward(x, mu) * 4 + mu]);
        sum = add(&sum, &sub(&here, &before));
    }
    if condition == Condition::AbelianLandau {
        return std::array::from_fn(|i| {
            std::array::from_fn(|j| if i == j { sum[i][j] } else { C::ZERO })
        });
    }
    sum
}

/// The SU(2) subgroups (i, j), in the order of an update.
pub fn pairs<const N: usize>() -> &'static [(usize, usize)] {
    match N {
        2 => &[(0, 1)],
        _ => &[(0, 2), (1, 2), (1, 0)],
    }
}

/// The links that leave x times the dagger of g at their other ends: U_mu(x) g(x+mu)^dag and U_mu(x-mu)^dag
/// g(x-mu)^dag. Their sum is K(x) of Eq. (19).
pub fn outgoing<const N: usize>(
    lat: Lattice,
    u: &GaugeN<N>,
    g: &[Matrix<N>],
    condition: Condition,
    x: usize,
) -> Vec<Matrix<N>> {
    let mut out = vec![];
    for mu in condition.directions() {
        let (up, down) = (lat.forward(x, mu), lat.backward(x, mu));
        out.push(mul(&u[x * 4 + mu], &dag(&g[up])));
        out.push(mul(&dag(&u[down * 4 + mu]), &dag(&g[down])));
    }
    out
}

/// Computes X of Eq. (12) in the subgroup (i, j) from H_i - H_j, where H_c is the sum over links of v_c v_c^dag, v_c
/// is column c of a link that leaves x, and rows i, j are taken. For SU(2) this is Eq. (12), since V sigma_3 V^dag =
/// v_1 v_1^dag - v_2 v_2^dag.
pub fn off_diagonal<const N: usize>(out: &[Matrix<N>], i: usize, j: usize) -> Matrix<2> {
    let mut x = zero();
    for v in out {
        for (a, row) in [i, j].into_iter().enumerate() {
            for (b, column) in [i, j].into_iter().enumerate() {
                x[a][b] += v[row][i] * v[column][i].conj() - v[row][j] * v[column][j].conj();
            }
        }
    }
    x
}

/// A multiple of the quaternion h of the subgroup (i, j) that makes the functional of `h V`
/// largest over the links V that leave a site.
pub fn optimum<const N: usize>(
    condition: Condition,
    out: &[Matrix<N>],
    i: usize,
    j: usize,
) -> [f64; 4] {
    if condition == Condition::MaximallyAbelian {
        // By Eq. (29); the functional is (h X h^dag)_11 + constant, and the optimal h turns the vector of X to +z.
        let x = off_diagonal(out, i, j);
        let (d, e, f) = (0.5 * (x[0][0] - x[1][1]).re, x[0][1].im, x[0][1].re);
        let lambda = (d * d + e * e + f * f).sqrt();
        // This form of the first component avoids cancellation for a negative D.
        let first = if d < 0.0 { (e * e + f * f) / (lambda - d) } else { lambda + d };
        return [first, e, f, 0.0];
    }
    // By Eq. (20): the dagger of the quaternion in the block (i, j) of K (Fig. A.10).
    let k = out.iter().fold(zero(), |sum, v| add(&sum, v));
    let a0 = k[i][i].re + k[j][j].re;
    let a3 = k[i][i].im - k[j][j].im;
    if condition == Condition::AbelianLandau {
        return [a0, 0.0, 0.0, -a3];
    }
    let a2 = k[i][j].re - k[j][i].re;
    let a1 = k[i][j].im + k[j][i].im;
    [a0, -a1, -a2, -a3]
}

/// Rules for how far an update goes beyond the optimum (Sections 2.2.3, 2.2.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The element g^omega to first order (Fig. A.11).
    FirstOrder(f64),
    /// The exact element g^omega; omega = 2 is microcanonical.
    Exact(f64),
}

/// The unit quaternion of a step, from a multiple of the optimal one. If the latter is zero, all elements are
/// optimal, and the result is the unit element.
pub fn overrelaxed(a: [f64; 4], step: Step) -> [f64; 4] {
    let vector2 = a[1] * a[1] + a[2] * a[2] + a[3] * a[3];
    let all2 = a[0] * a[0] + vector2;
    if all2 == 0.0 {
        return [1.0, 0.0, 0.0, 0.0];
    }
    let (first, factor) = match step {
        Step::FirstOrder(omega) => (a[0], (omega * a[0] * a[0] + vector2) / all2),
        Step::Exact(omega) => {
            let angle = omega * vector2.sqrt().atan2(a[0]);
            (angle.cos(), if vector2 == 0.0 { 0.0 } else { angle.sin() / vector2.sqrt() })
        }
    };
    let norm = (first * first + factor * factor * vector2).sqrt();
    [first, factor * a[1], factor * a[2], factor * a[3]].map(|c| c / norm)
}

/// Embeds an SU(2) element in rows and columns i, j of a unit matrix, Eq. (22).
pub fn embed<const N: usize>(h: [f64; 4], i: usize, j: usize) -> Matrix<N> {
    let mut m = one();
    m[i][i] = C::new(h[0], h[3]);
    m[i][j] = C::new(h[2], h[1]);
    m[j][i] = C::new(-h[2], h[1]);
    m[j][j] = C::new(h[0], -h[3]);
    m
}

/// Updates g on one site, subgroup by subgroup.
pub fn relax_site<const N: usize>(
    lat: Lattice,
    u: &GaugeN<N>,
    g: &mut [Matrix<N>],
    condition: Condition,
    step: Step,
    x: usize,
) {
    let ends = outgoing(lat, u, g, condition, x);
    for &(i, j) in pairs::<N>() {
        let out: Vec<Matrix<N>> = ends.iter().map(|end| mul(&g[x], end)).collect();
        let h = overrelaxed(optimum(condition, &out, i, j), step);
        g[x] = mul(&embed(h, i, j), &g[x]);
    }
}

/// One iteration of Alg. 1: the even sites, then the odd ones.
pub fn sweep<const N: usize>(
    lat: Lattice,
    u: &GaugeN<N>,
    g: &mut [Matrix<N>],
    condition: Condition,
    step: Step,
) {
    assert!(lat.extents.iter().all(|l| l % 2 == 0), "sites of one parity would be neighbours");
    for parity in 0..2 {
        for x in lat.sites_of_parity(parity) {
            relax_site(lat, u, g, condition, step, x);
        }
    }
}

/// Sweeps from g = 1 until theta falls below the tolerance; returns g and the number of sweeps, or `None` if
/// `max_sweeps` do not suffice.
pub fn fix<const N: usize>(
    lat: Lattice,
    u: &GaugeN<N>,
    condition: Condition,
    omega: f64,
    tolerance: f64,
    max_sweeps: usize,
) -> Option<(Vec<Matrix<N>>, usize)> {
    let mut g = vec![one(); lat.volume()];
    for sweeps in 0..=max_sweeps {
        if quality_of(lat, u, &g, condition).theta < tolerance {
            return Some((g, sweeps));
        }
        sweep(lat, u, &mut g, condition, Step::FirstOrder(omega));
    }
    None
}
