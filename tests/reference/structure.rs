//! Reference for operators between two quark lines and for baryons of any three quarks, term by term from their
//! definitions.

use super::contract::{gamma_of, wave};
use super::correlators::Propagator;
use super::gamma::{gamma5, gammas, Basis, Gamma};
use super::matrix::{dag, mul, product, zero};
use super::{Field, Gauge, Lattice, C};

/// Links multiplied by the quarks' boundary phase in time, exp(i pi boundary).
pub fn with_phase(lat: Lattice, links: &Gauge, boundary: f64) -> Gauge {
    let mut out = links.clone();
    let phase = C::from_polar(1.0, std::f64::consts::PI * boundary);
    for x in (0..lat.volume()).filter(|&x| lat.wraps_forward(x, 3)) {
        out[4 * x + 3].iter_mut().flatten().for_each(|z| *z *= phase);
    }
    out
}

/// Computes U_mu(x) f(x + mu), or U_mu(x - mu)^dagger f(x - mu).
pub fn carried(lat: Lattice, u: &Gauge, f: &Field, mu: usize, forward: bool) -> Field {
    let at = |x: usize| {
        let (n, link) = match forward {
            true => (lat.forward(x, mu), u[4 * x + mu]),
            false => (lat.backward(x, mu), dag(&u[4 * lat.backward(x, mu) + mu])),
        };
        f[n].map(|s| std::array::from_fn(|a| (0..3).map(|b| link[a][b] * s[b]).sum()))
    };
    (0..lat.volume()).map(at).collect()
}

fn nabla(lat: Lattice, u: &Gauge, f: &Field, mu: usize) -> Field {
    let (ahead, behind) = (carried(lat, u, f, mu, true), carried(lat, u, f, mu, false));
    let half = |a: &C, b: &C| 0.5 * (a - b);
    let site = |x: usize| {
        std::array::from_fn(|s| std::array::from_fn(|c| half(&ahead[x][s][c], &behind[x][s][c])))
    };
    (0..lat.volume()).map(site).collect()
}

/// Pairs (weight, qbar's field, q's field) of a product of operators: numbers 0 to 7 are steps along a link, 8 + mu
/// is (D - D')_mu / 2.
fn operands(
    lat: Lattice,
    u: &Gauge,
    back: &Field,
    forward: &Field,
    line: &[i32],
) -> Vec<(f64, Field, Field)> {
    let Some((&last, rest)) = line.split_last() else {
        return vec![(1.0, back.clone(), forward.clone())];
    };
    // The last factor acts first on q, and after all others on qbar.
    if last < 8 {
        let (mu, ahead) = if last < 4 { (last, true) } else { (7 - last, false) };
        let moved = carried(lat, u, forward, mu as usize, ahead);
        return operands(lat, u, back, &moved, rest);
    }
    let mu = (last - 8) as usize;
    let right = operands(lat, u, back, &nabla(lat, u, forward, mu), rest);
    let left = operands(lat, u, back, forward, rest);
    let right = right.into_iter().map(|(w, b, f)| (0.5 * w, b, f));
    right.chain(left.into_iter().map(|(w, b, f)| (-0.5 * w, nabla(lat, u, &b, mu), f))).collect()
}

fn contracted(b: &super::Spinor, m: &Gamma, f: &super::Spinor) -> C {
    let mut sum = C::ZERO;
    for (r, s, c) in (0..48).map(|k| (k / 12, k / 3 % 4, k % 3)) {
        sum += b[r][c].conj() * m[r][s] * f[s][c];
    }
    sum
}

/// Computes sum_z exp(i q (z - origin)) X^dagger gamma5 Gamma [line] S for each time t of the lattice.
pub fn insertion(
    lat: Lattice,
    u: &Gauge,
    [back, forward]: [&Propagator; 2],
    (line, gamma): (&[i32], usize),
    (q, origin): ([i32; 3], [usize; 4]),
) -> Vec<C> {
    let m = mul(&gamma5(Basis::DeGrandRossi), &gamma_of(gamma));
    let mut out = vec![C::ZERO; lat.extents[3]];
    for (b, f) in back.iter().zip(forward) {
        for (weight, b, f) in operands(lat, u, b, f, line) {
            for x in 0..lat.volume() {
                let phase = weight * wave(lat, x, [q[0], q[1], q[2], 0], origin);
                out[lat.coords(x)[3]] += phase * contracted(&b[x], &m, &f[x]);
            }
        }
    }
    out
}

/// The conserved current in direction mu for each time t of the lattice.
pub fn current(
    lat: Lattice,
    u: &Gauge,
    [back, forward]: [&Propagator; 2],
    mu: usize,
    (q, origin): ([i32; 3], [usize; 4]),
) -> Vec<C> {
    let five = gamma5(Basis::DeGrandRossi);
    let g = gammas(Basis::DeGrandRossi)[mu];
    let half = |sign: f64| -> Gamma {
        let one = |i, j| if i == j { C::ONE } else { C::ZERO };
        let m: Gamma =
            std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (sign * one(i, j) + g[i][j])));
        mul(&five, &m)
    };
    let mut out = vec![C::ZERO; lat.extents[3]];
    for (b, f) in back.iter().zip(forward) {
        let (b_moved, f_moved) = (carried(lat, u, b, mu, true), carried(lat, u, f, mu, true));
        for x in 0..lat.volume() {
            let both = contracted(&b_moved[x], &half(1.0), &f[x])
                + contracted(&b[x], &half(-1.0), &f_moved[x]);
            out[lat.coords(x)[3]] += wave(lat, x, [q[0], q[1], q[2], 0], origin) * both;
        }
    }
    out
}

const PERMUTATIONS: [([usize; 3], f64); 6] = [
    ([0, 1, 2], 1.0),
    ([1, 2, 0], 1.0),
    ([2, 0, 1], 1.0),
    ([0, 2, 1], -1.0),
    ([2, 1, 0], -1.0),
    ([1, 0, 2], -1.0),
];

/// Computes C_ss' of eps_abc (q1_a^T Gamma q2_b) q3_c for each time t of the lattice, where the quarks of the sink's
/// slots are contracted with slots `to` of the source.
pub fn three_quarks(
    lat: Lattice,
    quarks: [&Propagator; 3],
    to: [usize; 3],
    [at_sink, at_source]: [&Gamma; 2],
    (p, origin): ([i32; 3], [usize; 4]),
) -> Vec<Gamma> {
    let gt = gammas(Basis::DeGrandRossi)[3];
    let transpose: Gamma = std::array::from_fn(|i| std::array::from_fn(|j| gt[j][i]));
    // Rows of `conjugate` belong to the second spin of the pair.
    let conjugate = product(&[&gt, &dag(at_source), &transpose]);
    // By Wick's theorem.
    let sign = PERMUTATIONS.iter().find(|(p, _)| *p == to).unwrap().1;
    let mut out = vec![zero::<4>(); lat.extents[3]];
    for x in 0..lat.volume() {
        let phase = sign * wave(lat, x, [p[0], p[1], p[2], 0], origin).conj();
        let sum = &mut out[lat.coords(x)[3]];
        for ((c, eps), (d, eps0)) in
            PERMUTATIONS.iter().flat_map(|a| PERMUTATIONS.iter().map(move |b| (a, b)))
        {
            for k in 0..256 {
                let (i, j, j0, i0) = (k / 64, k / 16 % 4, k / 4 % 4, k % 4);
                let w = eps * eps0 * phase * at_sink[i][j] * conjugate[j0][i0];
                if w == C::ZERO {
                    continue;
                }
                for s in 0..16 {
                    let (sink, source) = ([i, j, s / 4], [i0, j0, s % 4]);
                    let line = |q: usize| quarks[q][3 * source[to[q]] + d[to[q]]][x][sink[q]][c[q]];
                    sum[s / 4][s % 4] += w * line(0) * line(1) * line(2);
                }
            }
        }
    }
    out
}
