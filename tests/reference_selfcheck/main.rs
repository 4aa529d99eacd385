//! Tests of the reference against identities of physics.md, exact results, and numbers of another code.

mod gaugefix;

use crate::{common, reference};
use common::milc::{self, Milc, CSW};
use reference::dirac::{gamma5_conjugate, mass_of_kappa, Dirac, Params, Preconditioned};
use reference::gamma::{gamma5, gammas, rotation, Basis};
use reference::matrix::{add, dag, det, distance, inverse, mul, one, product, scale, zero, Matrix};
use reference::solve::{cgne, dense, dense_solve};
use reference::{correlators, dirac, gamma, matrix, observables, philox, rng, spinor, su3};
use reference::{Field, Gauge, Lattice, C};

/// Tolerance for sums of up to some thousand terms of order one in double precision.
const ROUNDING: f64 = 1e-12;

fn general_params() -> Params {
    Params {
        mass: 0.3,
        csw: 1.1,
        csw_t: 0.9,
        mu: 0.17,
        exponential: false,
        hop: [0.7, 0.7, 0.7, 1.0],
        boundary: [C::ONE, C::from_polar(1.0, 0.4), C::ONE, -C::ONE],
    }
}

#[test]
fn the_largest_of_values_sees_nan() {
    assert_eq!(common::largest([1.0, 3.0, 2.0]), 3.0);
    assert_eq!(common::largest([]), 0.0);
    assert!([[f64::NAN, 1.0], [1.0, f64::NAN]].into_iter().all(|v| common::largest(v).is_nan()));
}

#[test]
fn neighbours_undo_each_other_and_change_parity() {
    for extents in [[4, 6, 2, 4], [3, 5, 2, 1]] {
        let lat = Lattice::new(extents);
        for x in 0..lat.volume() {
            assert_eq!(lat.lex(lat.coords(x)), x);
            for mu in 0..4 {
                assert_eq!(lat.backward(lat.forward(x, mu), mu), x);
                let odd_wrap = lat.wraps_forward(x, mu) && extents[mu] % 2 == 1;
                let changes = lat.parity(lat.forward(x, mu)) != lat.parity(x);
                assert_eq!(changes, !odd_wrap);
            }
        }
    }
}

#[test]
fn checkerboard_index_is_half_the_lexicographic_one() {
    for extents in [[4, 6, 2, 4], [3, 4, 5, 3]] {
        let lat = Lattice::new(extents);
        for parity in 0..2 {
            for (cb, lex) in lat.sites_of_parity(parity).into_iter().enumerate() {
                assert_eq!(lat.cb(lex), cb);
            }
        }
        let field: Vec<usize> = (0..2 * lat.volume()).collect();
        assert_eq!(lat.lexicographic_order(&lat.even_odd_order(&field, 2), 2), field);
    }
}

/// Random numbers are the known answers of Random123 (kat_vectors, philox4x32 with 10 rounds).
#[test]
fn philox_known_answers() {
    let max = u32::MAX;
    let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
    let known = [
        ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ([max; 4], [max; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
        (pi, [0xa409_3822, 0x299f_31d0], [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
    ];
    for (counter, key, answer) in known {
        assert_eq!(philox::philox4x32_10(counter, key), answer);
    }
}

/// Random numbers are those of another implementation of Philox.
#[test]
fn philox_of_another_crate() {
    let mut rng = rng::Rng::new(11);
    let mut word = || (rng.uniform() * 4_294_967_296.0) as u32;
    for _ in 0..10_000 {
        let counter = [word(), word(), word(), word()];
        let key = [word(), word()];
        let known = rand_philox::philox4x32_10(counter, key);
        assert_eq!(philox::philox4x32_10(counter, key), known);
    }
}

#[test]
fn dense_algebra() {
    let mut rng = rng::Rng::new(3);
    let a: Matrix<6> = std::array::from_fn(|_| std::array::from_fn(|_| rng.gaussian()));
    let b: Matrix<6> = std::array::from_fn(|_| std::array::from_fn(|_| rng.gaussian()));
    assert!(distance(&mul(&a, &inverse(&a)), &one()) < ROUNDING);
    assert!((det(&mul(&a, &b)) / (det(&a) * det(&b)) - 1.0).norm() < ROUNDING);
    let m = su3::random_hermitian::<3>(&mut rng);
    let rule = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    assert!((det(&m) - rule).norm() < ROUNDING);
}

#[test]
fn random_links_are_special_unitary() {
    let mut rng = rng::Rng::new(5);
    for _ in 0..100 {
        assert!(su3::unitarity_violation(&su3::haar::<3>(&mut rng)) < ROUNDING);
        assert!(su3::unitarity_violation(&su3::haar::<2>(&mut rng)) < ROUNDING);
        let near = su3::exp_i(&scale(C::new(0.1, 0.0), &su3::random_hermitian::<3>(&mut rng)));
        assert!(su3::unitarity_violation(&near) < ROUNDING);
        assert!(distance(&near, &one()) < 0.5);
    }
    // Haar averages <tr U> = 0 and <|tr U|^2> = 1, which random signs or phases alone would not give.
    let links = su3::haar_gauge::<3>(Lattice::new([8, 8, 8, 8]), 6);
    let traces: Vec<C> = links.iter().map(matrix::trace).collect();
    let n = traces.len() as f64;
    let five_sigma = 5.0 / n.sqrt();
    assert!((traces.iter().sum::<C>() / n).norm() < five_sigma);
    assert!((traces.iter().map(|z| z.norm_sqr()).sum::<f64>() / n - 1.0).abs() < five_sigma);
}

#[test]
fn gamma_matrices_of_all_bases() {
    for basis in Basis::ALL {
        let g = gammas(basis);
        for mu in 0..4 {
            assert_eq!(distance(&g[mu], &dag(&g[mu])), 0.0);
            for nu in 0..4 {
                let delta = C::new(if mu == nu { 2.0 } else { 0.0 }, 0.0);
                let anticommutator = add(&mul(&g[mu], &g[nu]), &mul(&g[nu], &g[mu]));
                assert_eq!(distance(&anticommutator, &scale(delta, &one())), 0.0);
            }
        }
        for to in Basis::ALL {
            let r = rotation(basis, to);
            assert!(distance(&mul(&r, &dag(&r)), &one()) < 1e-15);
            for (mine, theirs) in g.iter().zip(gammas(to)) {
                assert!(distance(&product(&[&r, mine, &dag(&r)]), &theirs) < 1e-15);
            }
        }
    }
    // gamma5 is diagonal or not as the documentation of each basis states.
    let i2 = |a: f64, b: f64, diagonal: bool| -> Matrix<4> {
        let mut m = zero();
        for k in 0..4 {
            let column = if diagonal { k } else { (k + 2) % 4 };
            m[k][column] = C::new(if k < 2 { a } else { b }, 0.0);
        }
        m
    };
    assert_eq!(gamma5(Basis::DeGrandRossi), i2(1.0, -1.0, true));
    assert_eq!(gamma5(Basis::Ukqcd), i2(1.0, 1.0, false));
    assert_eq!(gamma5(Basis::Chiral), i2(-1.0, 1.0, true));
    assert_eq!(gamma5(Basis::DiracPauli), i2(-1.0, -1.0, false));
    let c = gamma::charge_conjugation();
    for g in gammas(Basis::DeGrandRossi) {
        let transpose: Matrix<4> = std::array::from_fn(|i| std::array::from_fn(|j| g[j][i]));
        assert_eq!(distance(&product(&[&c, &g, &dag(&c)]), &scale(-C::ONE, &transpose)), 0.0);
    }
}

#[test]
fn gauge_observables_are_gauge_invariant() {
    let lat = Lattice::new([3, 4, 2, 5]);
    let u = su3::smooth_gauge::<3>(lat, 0.3, 8);
    let v = su3::transform(lat, &u, &su3::random_transformation(lat, 9));
    let (p, q) = (observables::plaquette(lat, &u), observables::plaquette(lat, &v));
    assert!((p.spatial - q.spatial).abs() < ROUNDING && (p.temporal - q.temporal).abs() < ROUNDING);
    assert!((p.total - 0.5 * (p.spatial + p.temporal)).abs() < ROUNDING);
    let loops = |g: &Gauge| observables::polyakov_loop(lat, g);
    assert!((loops(&u) - loops(&v)).norm() < ROUNDING);
    let charge = |g: &Gauge| observables::topological_charge(lat, g, false);
    assert!((charge(&u) - charge(&v)).abs() < ROUNDING);
    assert!(charge(&u).abs() > 1e-4);
    assert!((observables::link_trace(&u) - observables::link_trace(&v)).abs() > 0.1);
    let su2 = su3::smooth_gauge::<2>(lat, 0.3, 8);
    let turned = su3::transform(lat, &su2, &su3::random_transformation(lat, 9));
    let su2_plaquette = observables::plaquette(lat, &su2).total;
    assert!((su2_plaquette - observables::plaquette(lat, &turned).total).abs() < ROUNDING);
    assert!(su2_plaquette > 0.3 && su2_plaquette < 1.0);
    // Every plaquette contains four links, so that the sum over links counts it four times.
    let through =
        |(n, link)| matrix::trace(&mul(link, &observables::staple(lat, &u, n / 4, n % 4)));
    let sum: f64 = u.iter().enumerate().map(through).map(|z| z.re).sum();
    let plaquettes = 4.0 * 18.0 * lat.volume() as f64 * p.total;
    assert!((sum / plaquettes - 1.0).abs() < ROUNDING);
    let action = 6.0 * (6.0 * lat.volume() as f64 - plaquettes / 12.0);
    assert!((observables::wilson_action(lat, &u, 6.0) / action - 1.0).abs() < ROUNDING);
}

/// Links with constant abelian flux f1 in the xy planes and f2 in the zt planes of a 6^4 lattice, along diag(1, -1,
/// 0), so that F_xy = i sin f1 diag(1, -1, 0) exactly. Fluxes are in units of 2 pi / 36.
fn flux_field(lat: Lattice, f1: f64, f2: f64) -> Gauge {
    let mut u = su3::unit_gauge::<3>(lat);
    for x in 0..lat.volume() {
        let [x0, x1, x2, x3] = lat.coords(x).map(|c| c as f64);
        let seam = |mu: usize, angle: f64| if lat.wraps_forward(x, mu) { -angle } else { 0.0 };
        let angles = [seam(0, 6.0 * f1 * x1), f1 * x0, seam(2, 6.0 * f2 * x3), f2 * x2];
        for mu in 0..4 {
            u[4 * x + mu][0][0] = C::from_polar(1.0, angles[mu]);
            u[4 * x + mu][1][1] = C::from_polar(1.0, -angles[mu]);
        }
    }
    u
}

/// The charge of constant flux is Q = V 2 sin f1 sin f2 / 4 pi^2, which tends to 2 n1 n2, and the clover term is
/// -(c_s sin f1 sigma_xy + c_t sin f2 sigma_zt)/2 with sigma_xy = diag(1, -1, 1, -1) and sigma_zt = diag(-1, 1, 1,
/// -1).
#[test]
fn constant_flux_has_the_known_charge_and_clover_term() {
    let lat = Lattice::new([6, 6, 6, 6]);
    let (n1, n2) = (1.0, -2.0);
    let tau = std::f64::consts::TAU;
    let (f1, f2) = (tau * n1 / 36.0, tau * n2 / 36.0);
    let u = flux_field(lat, f1, f2);
    let generator = [1.0, -1.0, 0.0];
    for x in 0..lat.volume() {
        let f = observables::field_strength(lat, &u, x, 0, 1);
        let blocks = dirac::clover_blocks(lat, &u, 1.1, 0.7, x);
        for c in 0..3 {
            assert!((f[c][c] - C::new(0.0, f1.sin() * generator[c])).norm() < ROUNDING);
            for (s, (xy, zt)) in
                [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)].iter().enumerate()
            {
                let term = -0.5 * (1.1 * f1.sin() * xy + 0.7 * f2.sin() * zt) * generator[c];
                let i = 3 * (s % 2) + c;
                assert!((blocks[s / 2][i][i] - term).norm() < ROUNDING);
            }
        }
    }
    let exact = 2.0 * lat.volume() as f64 * f1.sin() * f2.sin() / (tau * tau);
    assert!((observables::topological_charge(lat, &u, false) - exact).abs() < ROUNDING);
    assert!((exact - 2.0 * n1 * n2).abs() < 0.2);
}

#[test]
fn adjoint_and_gamma5_hermiticity() {
    let lat = Lattice::new([3, 2, 4, 5]);
    let u = su3::haar_gauge::<3>(lat, 10);
    let d = Dirac::new(lat, &u, general_params());
    let flipped = Dirac::new(lat, &u, Params { mu: -d.params.mu, ..d.params });
    let (a, b) = (spinor::random(lat, 11), spinor::random(lat, 12));
    let (left, right) = (spinor::dot(&a, &d.apply(&b)), spinor::dot(&d.apply_dag(&a), &b));
    assert!((left - right).norm() < ROUNDING * spinor::norm2(&a));
    // gamma5 D(mu) gamma5 = D(-mu)^dag for the twisted mass mu
    let conjugated = gamma5_conjugate(|f| d.apply(f), &a);
    assert!(spinor::relative_distance(&conjugated, &flipped.apply_dag(&a)) < ROUNDING);
    for blocks in dirac::clover_blocks(lat, &u, 1.0, 1.3, 7) {
        assert!(distance(&blocks, &dag(&blocks)) < ROUNDING);
    }
}

#[test]
fn dirac_is_gauge_covariant() {
    let lat = Lattice::new([4, 3, 2, 3]);
    let u = su3::haar_gauge::<3>(lat, 13);
    let g = su3::random_transformation::<3>(lat, 14);
    let v = su3::transform(lat, &u, &g);
    let rotate =
        |f: &Field| -> Field { f.iter().zip(&g).map(|(s, m)| gamma::mul_colour(m, s)).collect() };
    let psi = spinor::random(lat, 15);
    let before = rotate(&Dirac::new(lat, &u, general_params()).apply(&psi));
    let after = Dirac::new(lat, &v, general_params()).apply(&rotate(&psi));
    assert!(spinor::relative_distance(&after, &before) < ROUNDING);
}

/// The operator acts on a plane wave as D = m + sum h (1 - cos p) + i mu gamma5 + i sum h gamma_mu sin p_mu, so the
/// eigenvalues at mu = 0 are those of physics.md.
#[test]
fn free_spectrum() {
    let lat = Lattice::new([4, 3, 5, 6]);
    let u = su3::unit_gauge::<3>(lat);
    let p = general_params();
    let d = Dirac::new(lat, &u, p);
    let n = [1.0, 2.0, -2.0, 1.0];
    let momentum: [f64; 4] = std::array::from_fn(|mu| {
        (std::f64::consts::TAU * n[mu] + p.boundary[mu].arg()) / lat.extents[mu] as f64
    });
    let spin = spinor::random(Lattice::new([1; 4]), 16)[0];
    let wave = |x: usize| {
        let phase: f64 = (0..4).map(|mu| momentum[mu] * lat.coords(x)[mu] as f64).sum();
        spin.map(|colour| colour.map(|z| z * C::from_polar(1.0, phase)))
    };
    let psi: Field = (0..lat.volume()).map(wave).collect();
    let unit = scale(C::new(d.params.mass, 0.0), &one());
    let mut symbol = add(&unit, &scale(C::new(0.0, p.mu), &gamma5(Basis::DeGrandRossi)));
    for (mu, g) in gammas(Basis::DeGrandRossi).iter().enumerate() {
        let wilson = p.hop[mu] * (1.0 - momentum[mu].cos());
        symbol = add(&symbol, &scale(C::new(wilson, 0.0), &one()));
        symbol = add(&symbol, &scale(C::new(0.0, p.hop[mu] * momentum[mu].sin()), g));
    }
    let expected: Field = psi.iter().map(|s| gamma::mul_spin(&symbol, s)).collect();
    assert!(spinor::relative_distance(&d.apply(&psi), &expected) < ROUNDING);
}

#[test]
fn kappa_normalisation_is_one_minus_kappa_hop() {
    let lat = Lattice::new([2, 3, 2, 3]);
    let u = su3::haar_gauge::<3>(lat, 17);
    let d = Dirac::new(lat, &u, Params::wilson(mass_of_kappa(0.13)));
    assert!((d.params.kappa() - 0.13).abs() < ROUNDING);
    let psi = spinor::random(lat, 18);
    let expected = spinor::axpy(C::new(-0.13, 0.0), &d.hop(false, &psi), &psi);
    assert!(spinor::relative_distance(&d.apply_kappa(&psi), &expected) < ROUNDING);
}

#[test]
fn even_odd_solves_give_the_full_solve() {
    let lat = Lattice::new([2, 4, 2, 2]);
    let u = su3::smooth_gauge::<3>(lat, 0.4, 19);
    let d = Dirac::new(lat, &u, general_params());
    let b = spinor::random(lat, 20);
    let (exact, ln_det) = dense_solve(dense(|f| d.apply(f), lat.volume()), &b);
    let full = cgne(|f| d.apply(f), |f| d.apply_dag(f), &b, 1e-13);
    assert!(spinor::relative_distance(&full.x, &exact) < 1e-11);
    for parity in 0..2 {
        for symmetric in [true, false] {
            let pc = Preconditioned { parity, symmetric };
            let source = d.prepare(pc, &b);
            let apply = |f: &Field| d.apply_eo(pc, false, f);
            let half = cgne(apply, |f| d.apply_eo(pc, true, f), &source, 1e-13);
            assert!(half.iterations < full.iterations);
            let x = d.reconstruct(pc, &half.x, &b);
            assert!(spinor::relative_distance(&x, &exact) < 1e-11, "{pc:?}");
            // The determinant of the Schur complement Mhat: det D = det A_qq det Mhat (times det A_pp when symmetric).
            let with_unit =
                |f: &Field| spinor::axpy(C::ONE, &spinor::on_parity(lat, 1 - parity, f), &apply(f));
            let (_, ln_det_eo) = dense_solve(dense(with_unit, lat.volume()), &b);
            let mut total = ln_det_eo + d.ln_det_diagonal(1 - parity);
            if symmetric {
                total += d.ln_det_diagonal(parity);
            }
            assert!((total.re - ln_det.re).abs() < 1e-10, "{pc:?}");
            assert!((C::new(0.0, total.im - ln_det.im).exp() - 1.0).norm() < 1e-10, "{pc:?}");
        }
    }
}

/// The gauge transformation S(x, 0) -> g(x) S(x, 0) g(0)^dag leaves hadron correlators unchanged; for baryons because
/// det g = 1.
#[test]
fn hadrons_are_gauge_invariant() {
    let lat = Lattice::new([1, 2, 1, 2]);
    let mut rng = rng::Rng::new(21);
    let g = su3::random_transformation::<3>(lat, 22);
    let columns: Vec<Field> = (0..12).map(|n| spinor::random(lat, rng.bits() + n)).collect();
    let turned: Vec<Field> = (0..12)
        .map(|n| {
            let mut column = spinor::zero(lat);
            for from in 0..3 {
                let weight = g[0][n % 3][from].conj();
                column = spinor::axpy(weight, &columns[n / 3 * 3 + from], &column);
            }
            column.iter().zip(&g).map(|(s, m)| gamma::mul_colour(m, s)).collect()
        })
        .collect();
    let same = |a: C, b: C| assert!((a - b).norm() < ROUNDING * a.norm(), "{a} {b}");
    for t in 0..2 {
        let real = |x: f64| C::new(x, 0.0);
        let pions = [&columns, &turned].map(|s| real(correlators::pion(lat, s)[t]));
        same(pions[0], pions[1]);
        let rhos = [&columns, &turned].map(|s| real(correlators::rho(lat, s, 2)[t]));
        same(rhos[0], rhos[1]);
        let nucleons = [&columns, &turned].map(|s| correlators::nucleon(lat, s)[t]);
        same(nucleons[0], nucleons[1]);
    }
}

/// Correlators of static quarks, S = (1 + gamma_t)/2, count states: tr S S^dag = 6 for both mesons. For the nucleon
/// the norm of eps_abc (u+_up,a d+_down,b - u+_down,a d+_up,b) u+_s,c |0> is 12 + 6 for each spin s: direct term 24,
/// exchange term 12.
#[test]
fn static_hadrons_count_states() {
    let lat = Lattice::new([1; 4]);
    let p = scale(C::new(0.5, 0.0), &gamma::one_plus(1.0, &gammas(Basis::DeGrandRossi)[3]));
    let column = |b: &Field| vec![gamma::mul_spin(&p, &b[0])];
    let propagator = correlators::point_propagator(lat, 0, column);
    assert!((correlators::pion(lat, &propagator)[0] - 6.0).abs() < ROUNDING);
    assert!((correlators::rho(lat, &propagator, 1)[0] - 6.0).abs() < ROUNDING);
    assert!((correlators::nucleon(lat, &propagator)[0] - 36.0).norm() < ROUNDING);
}

/// Correlators of free heavy quarks fall off with their quarks: a nucleon as three quark propagators, a pion as two,
/// and the forward nucleon is positive.
#[test]
fn free_hadrons_fall_off_with_their_quarks() {
    let lat = Lattice::new([2, 2, 2, 12]);
    let u = su3::unit_gauge::<3>(lat);
    let mass: f64 = 2.0;
    let d = Dirac::new(lat, &u, Params::wilson(mass));
    let solve = |b: &Field| cgne(|f| d.apply(f), |f| d.apply_dag(f), b, 1e-14).x;
    let propagator = correlators::point_propagator(lat, 0, solve);
    let pion = correlators::pion(lat, &propagator);
    let nucleon = correlators::nucleon(lat, &propagator);
    // The quark of zero momentum falls off as 1/(1 + m); heavier ones have died out at these times.
    let fall = (1.0 + mass).ln();
    for t in 2..4 {
        assert!(nucleon[t].re > 0.0 && nucleon[t].im.abs() < 1e-12 * nucleon[t].re);
        assert!((pion[t] / pion[t + 1]).ln() > 2.0 * fall);
        assert!((nucleon[t].re / nucleon[t + 1].re).ln() > 3.0 * fall);
    }
}

/// A gauge field in MILC's version 5 format, in either byte order: a header of 96 bytes (magic
/// number 20103, extents, time stamp, order, two checksums), then float32 links, x fastest,
/// [mu][row][column]. None, with a message, where the file is absent.
fn milc_field(name: &str) -> Option<(Lattice, Gauge)> {
    let bytes = std::fs::read(common::configuration(name)?).unwrap();
    let four = |n: usize| -> [u8; 4] { bytes[4 * n..4 * n + 4].try_into().unwrap() };
    let big = u32::from_be_bytes(four(0)) == 20103;
    let word = |n| if big { u32::from_be_bytes(four(n)) } else { u32::from_le_bytes(four(n)) };
    assert_eq!(word(0), 20103);
    let lat = Lattice::new(std::array::from_fn(|mu| word(1 + mu) as usize));
    assert_eq!(bytes.len(), 96 + lat.volume() * 4 * 72);
    let real = |n: usize| f64::from(f32::from_bits(word(24 + n)));
    let entry = |n: usize| C::new(real(2 * n), real(2 * n + 1));
    let link = |l| std::array::from_fn(|i| std::array::from_fn(|j| entry(9 * l + 3 * i + j)));
    Some((lat, (0..4 * lat.volume()).map(link).collect()))
}

/// Checks pion and rho correlators against MILC's. Links are projected onto SU(3) in double (with links as stored,
/// one of the 24 numbers is off in its last digit).
///
/// What made every digit agree: hops with (1 - gamma_mu) forward, the clover term + csw (i/4)
/// sigma_mu_nu F_mu_nu with the trace of F kept, the boundary sign on the hops only, and the
/// meson sum tr[G S G^dag S^dag] with G = gamma5 Gamma. The opposite clover sign is off by one
/// percent and more.
fn agrees_with_milc(milc: &Milc) {
    let Some((lat, stored)) = milc_field(milc.name) else { return };
    let (kappa, time) = (milc.kappa, if milc.antiperiodic { -C::ONE } else { C::ONE });
    let u: Gauge = stored.iter().map(su3::reunitarise).collect();
    let boundary = [C::ONE, C::ONE, C::ONE, time];
    let d = Dirac::new(lat, &u, Params { boundary, ..Params::clover(mass_of_kappa(kappa), CSW) });
    let solve = |b: &Field| {
        let x = cgne(|f| d.apply(f), |f| d.apply_dag(f), b, 1e-13).x;
        spinor::scale(C::new(0.5 / kappa, 0.0), &x)
    };
    let propagator = correlators::point_propagator(lat, 0, solve);
    let rho = std::array::from_fn(|i| correlators::rho(lat, &propagator, i));
    milc.check_mesons(&correlators::pion(lat, &propagator), &rho, 0.0, "reference");
}

#[test]
fn clover_mesons_agree_with_milc_periodic() {
    agrees_with_milc(&milc::PERIODIC);
}

#[test]
fn clover_mesons_agree_with_milc_antiperiodic() {
    agrees_with_milc(&milc::ANTIPERIODIC);
}

/// Plaquettes and link traces agree with those that MILC wrote when it made the fields (3 is the unit field), to the
/// digits that links in single precision allow.
#[test]
fn plaquettes_agree_with_milc() {
    for milc in [milc::PERIODIC, milc::ANTIPERIODIC] {
        let Some((lat, u)) = milc_field(milc.name) else { return };
        let p = observables::plaquette(lat, &u);
        let ours = [3.0 * p.spatial, 3.0 * p.temporal, 3.0 * observables::link_trace(&u)];
        let theirs = [milc.plaquettes[0], milc.plaquettes[1], milc.link_trace];
        for (a, b) in ours.iter().zip(theirs) {
            assert!((a - b).abs() < ROUNDING, "{}: {a} {b}", milc.name);
        }
    }
    // Reunitarising in double changes plaquettes by the rounding of the stored links, about 1e-8.
    let Some((lat, u)) = milc_field(milc::PERIODIC.name) else { return };
    let v: Gauge = u.iter().map(su3::reunitarise).collect();
    let p = observables::plaquette(lat, &v);
    assert!((3.0 * p.spatial - 1.79467514697).abs() < 1e-11);
    assert!((3.0 * p.temporal - 1.77442577644).abs() < 1e-11);
}
