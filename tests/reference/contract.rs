//! Reference contractions by Wick's theorem, term by term: baryons of any flavours, mesons of any Gammas.

use super::correlators::Propagator;
use super::gamma::{charge_conjugation, gamma5, gammas, Basis, Gamma};
use super::matrix::{dag, mul, one, product, scale, zero, Matrix};
use super::{Lattice, C};

/// The matrix gamma_x^a gamma_y^b gamma_z^c gamma_t^d with number a + 2 b + 4 c + 8 d.
pub fn gamma_of(number: usize) -> Gamma {
    let g = gammas(Basis::DeGrandRossi);
    (0..4).filter(|mu| number >> mu & 1 == 1).fold(one(), |m, mu| mul(&m, &g[mu]))
}

/// Computes exp(i p (x - origin)) with p = 2 pi n / L.
pub fn wave(lat: Lattice, lex: usize, n: [i32; 4], origin: [usize; 4]) -> C {
    let x = lat.coords(lex);
    let angle = |mu: usize| {
        let (l, steps) = (lat.extents[mu] as i64, x[mu] as i64 - origin[mu] as i64);
        // The angle is reduced to less than a full turn, since large angles have large rounding errors.
        std::f64::consts::TAU * (i64::from(n[mu]) * steps).rem_euclid(l) as f64 / l as f64
    };
    C::from_polar(1.0, (0..4).map(angle).sum())
}

fn block(s: &Propagator, x: usize, a: usize, b: usize) -> Matrix<4> {
    let colours = s.len() / 4;
    std::array::from_fn(|i| std::array::from_fn(|j| s[j * colours + b][x][i][a]))
}

/// Computes -sum_x exp(-i p (x - origin)) tr[A S Bbar gamma5 S'^dagger gamma5], Bbar = gamma_t B^dagger gamma_t, for
/// each time t of the lattice.
pub fn meson(
    lat: Lattice,
    [quark, other]: [&Propagator; 2],
    [a, b]: [&Gamma; 2],
    (n, origin): ([i32; 3], [usize; 4]),
) -> Vec<C> {
    let g5 = gamma5(Basis::DeGrandRossi);
    let gt = gammas(Basis::DeGrandRossi)[3];
    let source = product(&[&gt, &dag(b), &gt, &g5]);
    let mut out = vec![C::ZERO; lat.extents[3]];
    for x in 0..lat.volume() {
        let phase = wave(lat, x, [n[0], n[1], n[2], 0], origin).conj();
        for c in 0..3 {
            for d in 0..quark.len() / 4 {
                let back = dag(&block(other, x, c, d));
                let line = product(&[a, &block(quark, x, c, d), &source, &back, &g5]);
                let trace: C = (0..4).map(|i| line[i][i]).sum();
                out[lat.coords(x)[3]] -= phase * trace;
            }
        }
    }
    out
}

/// A baryon's operator as a sum of terms: a weight and the flavours of its three slots, of which the first two are
/// joined by a spin matrix; 0: u, 1: d, 2: s.
pub type Operator = &'static [(f64, [usize; 3])];

const PERMUTATIONS: [([usize; 3], f64); 6] = [
    ([0, 1, 2], 1.0),
    ([1, 2, 0], 1.0),
    ([2, 0, 1], 1.0),
    ([0, 2, 1], -1.0),
    ([2, 1, 0], -1.0),
    ([1, 0, 2], -1.0),
];

/// Computes <O_gamma(x) Obar_gamma'(0)> summed over x with a momentum, for each time t of the lattice; `quarks` are
/// the propagators of u, d, s. O = sum w eps_abc (q1_a^T G q2_b) q3_c, with a separate matrix G at the source.
pub fn baryon(
    lat: Lattice,
    quarks: [&Propagator; 3],
    operator: Operator,
    [at_sink, at_source]: [&Gamma; 2],
    (n, origin): ([i32; 3], [usize; 4]),
) -> Vec<Gamma> {
    let gt = gammas(Basis::DeGrandRossi)[3];
    // The operator at the source: Obar = O^dagger gamma_t = w eps_abc (gamma_t q)bar..., with the spins of the pair in
    // the order (second, first).
    let transpose: Gamma = std::array::from_fn(|i| std::array::from_fn(|j| gt[j][i]));
    let conjugate = product(&[&gt, &dag(at_source), &transpose]);
    let entries = |m: &Gamma| -> Vec<(usize, usize, C)> {
        let all = (0..16).map(|k| (k / 4, k % 4, m[k / 4][k % 4]));
        all.filter(|&(_, _, z)| z != C::ZERO).collect()
    };
    let (sink, source) = (entries(at_sink), entries(&conjugate));
    let mut out = vec![zero::<4>(); lat.extents[3]];
    for x in 0..lat.volume() {
        let phase = wave(lat, x, [n[0], n[1], n[2], 0], origin).conj();
        let sum = &mut out[lat.coords(x)[3]];
        for &(weight, flavours) in operator {
            for &(weight0, flavours0) in operator {
                for (p, sign) in PERMUTATIONS {
                    // Wick contraction p: the quark in slot k at the sink comes from slot p[k] at the source.
                    if (0..3).any(|k| flavours[k] != flavours0[p[k]]) {
                        continue;
                    }
                    for (c, eps) in PERMUTATIONS {
                        for (c0, eps0) in PERMUTATIONS {
                            for &(i, j, g) in &sink {
                                for &(j0, i0, g0) in &source {
                                    let w = weight * weight0 * sign * eps * eps0 * phase * g * g0;
                                    for k in 0..16 {
                                        let (s, s0) = ([i, j, k / 4], [i0, j0, k % 4]);
                                        let line = |q: usize| {
                                            let column = 3 * s0[p[q]] + c0[p[q]];
                                            quarks[flavours[q]][column][x][s[q]][c[q]]
                                        };
                                        sum[k / 4][k % 4] += w * line(0) * line(1) * line(2);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    out
}

/// Computes tr[(1 + parity gamma_t)/2 E C] for every t.
pub fn closed(all: &[Gamma], parity: f64, e: &Gamma) -> Vec<C> {
    let gt = gammas(Basis::DeGrandRossi)[3];
    let half = scale(C::new(0.5, 0.0), &super::gamma::one_plus(parity, &gt));
    let p = mul(&half, e);
    all.iter().map(|c| (0..4).map(|i| mul(&p, c)[i][i]).sum()).collect()
}

/// The matrices C gamma5, C gamma_x, C gamma_y, C gamma_z.
pub fn vertices() -> [Gamma; 4] {
    let c = charge_conjugation();
    let [x, y, z, _] = gammas(Basis::DeGrandRossi);
    [gamma5(Basis::DeGrandRossi), x, y, z].map(|g| mul(&c, &g))
}
