//! Tests of the reference's gauge fixing against derivatives, exact cases and MILC.

use super::reference::descent::{self, fourier, momentum_squared};
use super::reference::gaugefix::*;
use super::reference::matrix::{add, dag, distance, mul, one, scale, trace, zero, Matrix};
use super::reference::observables::plaquette;
use super::reference::rng::Rng;
use super::reference::{largest, su3, Gauge, GaugeN, Lattice, C};
use super::{milc_field, ROUNDING};

const CONDITIONS: [Condition; 5] = [
    Condition::Landau,
    Condition::Coulomb { time: 3 },
    Condition::Coulomb { time: 1 },
    Condition::MaximallyAbelian,
    Condition::AbelianLandau,
];

fn small() -> Lattice {
    Lattice::new([4, 2, 6, 2])
}

fn functional<const N: usize>(
    lat: Lattice,
    u: &GaugeN<N>,
    g: &[Matrix<N>],
    condition: Condition,
) -> f64 {
    quality_of(lat, u, g, condition).functional
}

/// A random transformation in the set over which the condition's functional is maximised.
fn start<const N: usize>(lat: Lattice, condition: Condition, seed: u64) -> Vec<Matrix<N>> {
    if condition != Condition::AbelianLandau {
        return su3::random_transformation(lat, seed);
    }
    let mut rng = Rng::new(seed);
    (0..lat.volume())
        .map(|_| {
            let angles: Vec<f64> = (1..N).map(|_| 6.3 * rng.uniform()).collect();
            let last = -angles.iter().sum::<f64>();
            let mut m = zero();
            for (i, angle) in angles.into_iter().chain([last]).enumerate() {
                m[i][i] = C::from_polar(1.0, angle);
            }
            m
        })
        .collect()
}

#[test]
fn unit_and_diagonal_fields_are_fixed() {
    let lat = small();
    let unit = su3::unit_gauge::<3>(lat);
    let phases: Gauge =
        (0..4).flat_map(|mu| start::<3>(lat, Condition::AbelianLandau, mu)).collect();
    for condition in CONDITIONS {
        let q = quality_of(lat, &unit, &vec![one(); lat.volume()], condition);
        assert_eq!(q, Quality { functional: 1.0, theta: 0.0, theta_max: 0.0 });
        let q = quality_of(lat, &phases, &vec![one(); lat.volume()], condition);
        if condition == Condition::MaximallyAbelian {
            assert!((q.functional - 1.0).abs() < ROUNDING && q.theta_max < ROUNDING);
        } else {
            assert!(q.functional < 0.5 && q.theta > 0.1);
        }
        // A random field is far from gauge-fixed, and its worst site is well above the mean.
        let haar = su3::haar_gauge::<2>(lat, 31);
        let q = quality_of(lat, &haar, &vec![one(); lat.volume()], condition);
        assert!(q.functional < 0.6 && q.theta > 0.1 && q.theta_max > 1.5 * q.theta);
    }
}

/// Checks that F changes along exp(i eps T) on one site, times N d V, by -eps tr T Delta, and for the maximally
/// Abelian gauge, with T_ij = t, by -2 eps Im t conj(X_12).
fn violation_is_the_gradient<const N: usize>() {
    let lat = small();
    let u = su3::haar_gauge::<N>(lat, 32);
    let g = su3::random_transformation::<N>(lat, 33);
    let v = su3::transform(lat, &u, &g);
    for condition in CONDITIONS {
        let links = (N * condition.directions().len() * lat.volume()) as f64;
        for (x, row, column, t) in [
            (5, 0, 1, C::new(0.5, 0.0)),
            (40, 0, 1, C::new(0.0, 0.5)),
            (17, 0, N - 1, C::new(0.3, -0.4)),
            (63, N - 2, N - 1, C::new(0.0, -0.5)),
            (80, 0, 0, C::ONE),
        ] {
            let mut generator = zero::<N>();
            generator[row][column] = t;
            generator[column][row] = t.conj();
            if row == column {
                generator[N - 1][N - 1] = -t;
            }
            if condition == Condition::AbelianLandau && row != column {
                continue;
            }
            let at = |epsilon: f64| {
                let mut turned = g.clone();
                let turn = su3::exp_i(&scale(C::new(epsilon, 0.0), &generator));
                turned[x] = mul(&turn, &g[x]);
                links * functional(lat, &u, &turned, condition)
            };
            let h = 1e-3;
            // The derivative by finite differences of fourth order, with an error of about h^4.
            let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let expected = if condition == Condition::MaximallyAbelian {
                let out = outgoing(lat, &v, &vec![one(); lat.volume()], condition, x);
                let derivative = |i, j| off_diagonal(&out, i, j)[0][1];
                if row == column {
                    0.0
                } else {
                    -2.0 * (t * derivative(row, column).conj()).im
                }
            } else {
                -trace(&mul(&generator, &delta(lat, &v, condition, x))).re
            };
            assert!((slope - expected).abs() < 1e-9, "{condition:?} {x}: {slope} {expected}");
        }
        // The squared gradient at a site, the sum over orthonormal generators with tr T_a T_b = delta_ab, is N theta(x)
        // for functionals of traces and 2 N theta(x) for that of |U_ii|^2.
        let factor = if condition == Condition::MaximallyAbelian { 2.0 } else { 1.0 };
        let x = 21;
        let mut squares = 0.0;
        for generator in generators::<N>(condition == Condition::AbelianLandau) {
            let at = |epsilon: f64| {
                let mut turned = g.clone();
                let turn = su3::exp_i(&scale(C::new(epsilon, 0.0), &generator));
                turned[x] = mul(&turn, &g[x]);
                links * functional(lat, &u, &turned, condition)
            };
            let h = 1e-3;
            let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            squares += slope * slope;
        }
        let theta = N as f64 * violation(lat, &v, condition, x);
        assert!((squares - factor * theta).abs() < 1e-8, "{condition:?}: {squares} {theta}");
    }
}

/// Hermitian traceless generators with tr T_a T_b = delta_ab, or only the diagonal ones.
fn generators<const N: usize>(diagonal: bool) -> Vec<Matrix<N>> {
    let mut all = vec![];
    for j in 1..N {
        let mut d = zero();
        let norm = 1.0 / ((j * (j + 1)) as f64).sqrt();
        for (i, row) in d.iter_mut().enumerate().take(j) {
            row[i] = C::new(norm, 0.0);
        }
        d[j][j] = C::new(-norm * j as f64, 0.0);
        all.push(d);
        for i in (0..j).filter(|_| !diagonal) {
            for t in [C::ONE, C::I] {
                let mut m = zero();
                m[i][j] = t * 0.5f64.sqrt();
                m[j][i] = m[i][j].conj();
                all.push(m);
            }
        }
    }
    all
}

#[test]
fn violation_is_the_gradient_su2() {
    violation_is_the_gradient::<2>();
}

#[test]
fn violation_is_the_gradient_su3() {
    violation_is_the_gradient::<3>();
}

/// The functionals of Eqs. (8) and (9) are 2 F - 2/N with F of Eq. (11): sum_a (t_a)_i (t_a)_j over the diagonal
/// generators is 2 (delta_ij - 1/N), and the squared moduli of a unitary matrix add up to N.
#[test]
fn abelian_functional_by_generators_and_by_moduli() {
    fn check<const N: usize>() {
        let lat = small();
        let u = su3::haar_gauge::<N>(lat, 34);
        let mut sum = 0.0;
        for t in generators::<N>(true) {
            // The diagonal generators sigma_3, lambda_3, lambda_8 have tr t_a t_b = 2 delta_ab.
            let t = scale(C::new(2f64.sqrt(), 0.0), &t);
            for link in &u {
                sum += trace(&mul(&mul(&t, link), &mul(&t, &dag(link)))).re;
            }
        }
        let by_generators = sum / (N * u.len()) as f64;
        let f = functional(lat, &u, &vec![one(); lat.volume()], Condition::MaximallyAbelian);
        assert!((by_generators - (2.0 * f - 2.0 / N as f64)).abs() < ROUNDING);
    }
    check::<2>();
    check::<3>();
}

/// The violation X of a site for SU(2) is Eq. (12) itself (so that theta is Eq. (13) without another factor) and Eq.
/// (14), except for the sign of u_0 u_2 of the forward link: Eq. (28) has -2 u_0 u_2.
#[test]
fn abelian_violation_of_su2_by_cayley_klein_parameters() {
    let lat = small();
    let u = su3::haar_gauge::<2>(lat, 35);
    let mut sigma3 = one::<2>();
    sigma3[1][1] = -C::ONE;
    let (mut theta, mut printed_is_off) = (0.0, 0.0f64);
    for x in 0..lat.volume() {
        let (mut x12, mut explicit, mut printed) = (C::ZERO, C::ZERO, C::ZERO);
        for mu in 0..4 {
            let (here, before) = (u[x * 4 + mu], u[lat.backward(x, mu) * 4 + mu]);
            let up = mul(&mul(&here, &sigma3), &dag(&here));
            let down = mul(&mul(&dag(&before), &sigma3), &before);
            x12 += up[0][1] + down[0][1];
            let cayley_klein = |m: &Matrix<2>| [m[0][0].re, m[0][1].im, m[0][1].re, m[0][0].im];
            let [u0, u1, u2, u3] = cayley_klein(&here);
            let [w0, w1, w2, w3] = cayley_klein(&before);
            let forward = |sign: f64| 2.0 * C::new(sign * u0 * u2 + u1 * u3, -u0 * u1 - u2 * u3);
            let backward = 2.0 * C::new(w0 * w2 + w1 * w3, w0 * w1 - w2 * w3);
            explicit += forward(-1.0) + backward;
            printed += forward(1.0) + backward;
        }
        assert!((x12 - explicit).norm() < ROUNDING);
        printed_is_off = printed_is_off.max((x12 - printed).norm());
        theta += x12.norm_sqr() / (2 * lat.volume()) as f64;
    }
    assert!(printed_is_off > 1.0);
    let ours = quality_of(lat, &u, &vec![one(); lat.volume()], Condition::MaximallyAbelian).theta;
    assert!((ours - theta).abs() < ROUNDING);
}

/// No element of the subgroup gives a larger functional than the optimum. For SU(2) and the maximally Abelian gauge
/// the test also shows that Eqs. (26)-(29) need D = 2 sum (u_0^2 + u_3^2 - 1/2), as Eq. (24) has.
#[test]
fn no_group_element_beats_the_optimum() {
    fn best<const N: usize>(condition: Condition, lat: Lattice, x: usize) {
        let u = su3::haar_gauge::<N>(lat, 36);
        let out = outgoing(lat, &u, &vec![one(); lat.volume()], condition, x);
        let mut rng = Rng::new(37);
        for &(i, j) in pairs::<N>() {
            let value = |h: [f64; 4]| -> f64 {
                let h = embed(h, i, j);
                out.iter().map(|v| link_functional(condition, &mul(&h, v))).sum()
            };
            let top = value(overrelaxed(optimum(condition, &out, i, j), Step::FirstOrder(1.0)));
            for n in 0..1000 {
                let (z, w) = (rng.gaussian(), rng.gaussian());
                let mut h = [z.re, z.im, w.re, w.im];
                if condition == Condition::AbelianLandau {
                    (h[1], h[2]) = (0.0, 0.0);
                }
                // Half of the random elements are close to the optimum.
                if n % 2 == 0 {
                    let a = overrelaxed(optimum(condition, &out, i, j), Step::FirstOrder(1.0));
                    h = std::array::from_fn(|k| a[k] + 0.05 * h[k]);
                }
                let h = overrelaxed(h, Step::FirstOrder(1.0));
                assert!(value(h) <= top + ROUNDING, "{condition:?} {N} {x}");
            }
        }
    }
    let lat = small();
    for condition in CONDITIONS {
        for x in [0, 7, 50] {
            best::<2>(condition, lat, x);
            best::<3>(condition, lat, x);
        }
    }
    // D, E and F of Eqs. (26)-(28), from the links V that leave a site.
    let u = su3::haar_gauge::<2>(lat, 38);
    let unit = vec![one(); lat.volume()];
    let out = outgoing(lat, &u, &unit, Condition::MaximallyAbelian, 9);
    let (mut d, mut e, mut f) = (0.0, 0.0, 0.0);
    for m in &out {
        let [u0, u1, u2, u3] = [m[0][0].re, m[0][1].im, m[0][1].re, m[0][0].im];
        d += 2.0 * (u0 * u0 + u3 * u3 - 0.5);
        e += 2.0 * (-u0 * u1 - u2 * u3);
        f += 2.0 * (-u0 * u2 + u1 * u3);
    }
    let eigenvector = |d: f64| [d + (d * d + e * e + f * f).sqrt(), e, f, 0.0];
    let unit_vector = |a| overrelaxed(a, Step::FirstOrder(1.0));
    let ours = unit_vector(optimum(Condition::MaximallyAbelian, &out, 0, 1));
    let off = |a: [f64; 4]| largest((0..4).map(|k| (a[k] - ours[k]).abs()));
    assert!(off(unit_vector(eigenvector(d))) < ROUNDING);
    assert!(off(unit_vector(eigenvector(0.5 * d))) > 1e-3);
}

fn relaxation_climbs<const N: usize>() {
    let lat = small();
    let u = su3::haar_gauge::<N>(lat, 39);
    for condition in CONDITIONS {
        for step in [1.0, 1.3, 1.7, 1.95]
            .into_iter()
            .flat_map(|omega| [Step::FirstOrder(omega), Step::Exact(omega)])
        {
            let mut g = start::<N>(lat, condition, 40);
            let first = functional(lat, &u, &g, condition);
            for parity in [0, 1, 0, 1, 0, 1] {
                let before = functional(lat, &u, &g, condition);
                let mut site = before;
                for x in lat.sites_of_parity(parity) {
                    relax_site(lat, &u, &mut g, condition, step, x);
                    if x < 16 {
                        let now = functional(lat, &u, &g, condition);
                        assert!(now > site - 1e-14, "{condition:?} {step:?}: {site} {now}");
                        site = now;
                    }
                }
                let after = functional(lat, &u, &g, condition);
                assert!(after > before, "{condition:?} {step:?}: {before} {after}");
            }
            assert!(functional(lat, &u, &g, condition) > first + 0.05, "{condition:?} {step:?}");
        }
    }
}

#[test]
fn relaxation_never_lowers_the_functional_su2() {
    relaxation_climbs::<2>();
}

#[test]
fn relaxation_never_lowers_the_functional_su3() {
    relaxation_climbs::<3>();
}

/// Microcanonical sweeps keep the functional: omega = 2 is a reflection of the local functional about its maximum.
/// The step to first order in omega does not keep it.
#[test]
fn microcanonical_sweeps_keep_the_functional() {
    fn check<const N: usize>() {
        let lat = small();
        let u = su3::haar_gauge::<N>(lat, 41);
        for condition in CONDITIONS {
            let from = start::<N>(lat, condition, 42);
            let mut g = from.clone();
            let before = functional(lat, &u, &g, condition);
            for _ in 0..5 {
                sweep(lat, &u, &mut g, condition, Step::Exact(2.0));
            }
            assert!((functional(lat, &u, &g, condition) - before).abs() < ROUNDING);
            assert!(g.iter().zip(&from).any(|(a, b)| distance(a, b) > 0.5));
            let mut g = from.clone();
            sweep(lat, &u, &mut g, condition, Step::FirstOrder(2.0));
            assert!(functional(lat, &u, &g, condition) > before + 0.01);
        }
    }
    check::<2>();
    check::<3>();
}

#[test]
fn sweeps_reach_every_gauge() {
    fn check<const N: usize>() {
        let lat = Lattice::new([4, 4, 4, 4]);
        // On links closer to the unit field the maximally Abelian gauge needs thousands of sweeps.
        let u = su3::smooth_gauge::<N>(lat, 0.4, 43);
        let p = plaquette(lat, &u);
        for condition in CONDITIONS {
            let (g, sweeps) = fix(lat, &u, condition, 1.7, 1e-14, 1000).expect("converged");
            assert!(sweeps > 5, "{condition:?} {N}: {sweeps}");
            let q = quality_of(lat, &u, &g, condition);
            assert!(q.theta < 1e-13 && q.theta_max < 1e-11, "{condition:?} {N}: {q:?}");
            assert!(q.functional > functional(lat, &u, &vec![one(); lat.volume()], condition));
            assert!(g.iter().all(|m| su3::unitarity_violation(m) < ROUNDING));
            let fixed = plaquette(lat, &su3::transform(lat, &u, &g));
            assert!((fixed.spatial - p.spatial).abs() < ROUNDING);
            assert!((fixed.temporal - p.temporal).abs() < ROUNDING);
        }
    }
    check::<2>();
    check::<3>();
}

/// Diagonal transformations leave F and theta of the maximally Abelian gauge unchanged.
#[test]
fn residual_phases_leave_the_abelian_gauge() {
    let lat = small();
    let u = su3::haar_gauge::<3>(lat, 44);
    let mut g = su3::random_transformation::<3>(lat, 45);
    for _ in 0..20 {
        sweep(lat, &u, &mut g, Condition::MaximallyAbelian, Step::FirstOrder(1.6));
    }
    let before = quality_of(lat, &u, &g, Condition::MaximallyAbelian);
    let trace_before = functional(lat, &u, &g, Condition::AbelianLandau);
    for _ in 0..400 {
        sweep(lat, &u, &mut g, Condition::AbelianLandau, Step::FirstOrder(1.6));
    }
    let after = quality_of(lat, &u, &g, Condition::MaximallyAbelian);
    assert!((before.functional - after.functional).abs() < ROUNDING);
    assert!((before.theta - after.theta).abs() < ROUNDING && before.theta > 1e-6);
    assert!((before.theta_max - after.theta_max).abs() < ROUNDING);
    let residual = quality_of(lat, &u, &g, Condition::AbelianLandau);
    assert!(residual.theta < 1e-13 && residual.functional > trace_before + 0.1, "{residual:?}");
}

/// Slices of the Coulomb gauge along every axis are fixed independently, and the mean of their functionals is that of
/// the whole lattice.
#[test]
fn coulomb_slices_are_independent() {
    let lat = Lattice::new([4, 2, 6, 4]);
    for time in 0..4 {
        let condition = Condition::Coulomb { time };
        let u = su3::haar_gauge::<3>(lat, 46);
        let mut other = u.clone();
        let mut rng = Rng::new(47);
        for &x in &slice(lat, time, 1) {
            for mu in 0..4 {
                other[x * 4 + mu] = su3::haar(&mut rng);
            }
        }
        // New links along time do not change the result.
        for x in 0..lat.volume() {
            other[x * 4 + time] = su3::haar(&mut rng);
        }
        let mut g = vec![one(); lat.volume()];
        let mut h = g.clone();
        for _ in 0..3 {
            sweep(lat, &u, &mut g, condition, Step::FirstOrder(1.7));
            sweep(lat, &other, &mut h, condition, Step::FirstOrder(1.7));
        }
        for x in 0..lat.volume() {
            let same = lat.coords(x)[time] != 1;
            assert_eq!(distance(&g[x], &h[x]) == 0.0, same, "{time} {x}");
        }
        let v = su3::transform(lat, &u, &g);
        let slices: Vec<Quality> = (0..lat.extents[time])
            .map(|at| quality(lat, &v, condition, &slice(lat, time, at)))
            .collect();
        let whole = quality_of(lat, &u, &g, condition);
        let mean = |f: fn(&Quality) -> f64| slices.iter().map(f).sum::<f64>() / slices.len() as f64;
        assert!((mean(|q| q.functional) - whole.functional).abs() < ROUNDING);
        assert!((mean(|q| q.theta) - whole.theta).abs() < ROUNDING);
        let worst = slices.iter().map(|q| q.theta_max).fold(0.0, f64::max);
        assert_eq!(worst, whole.theta_max);
    }
}

#[test]
fn fourier_transform_of_a_plane_wave() {
    let lat = Lattice::new([4, 3, 2, 5]);
    let h = su3::random_hermitian::<2>(&mut Rng::new(48));
    let k = lat.lex([1, 2, 1, 3]);
    let phase = |x: usize| -> f64 {
        let (x, k) = (lat.coords(x), lat.coords(k));
        (0..4).map(|mu| (x[mu] * k[mu]) as f64 / lat.extents[mu] as f64).sum()
    };
    let wave: Vec<Matrix<2>> = (0..lat.volume())
        .map(|x| scale(C::from_polar(1.0, std::f64::consts::TAU * phase(x)), &h))
        .collect();
    for (p, m) in fourier(lat, &wave, -1.0).iter().enumerate() {
        let size = if p == k { lat.volume() as f64 } else { 0.0 };
        assert!(distance(m, &scale(C::new(size, 0.0), &h)) < ROUNDING * 100.0);
    }
    let back = fourier(lat, &fourier(lat, &wave, -1.0), 1.0);
    let volume = C::new(lat.volume() as f64, 0.0);
    assert!(back.iter().zip(&wave).all(|(a, b)| distance(a, &scale(volume, b)) < 1e-11));
    // The lattice Laplacian applied to the wave gives its eigenvalue p^2.
    for x in 0..lat.volume() {
        let mut laplacian = scale(C::new(8.0, 0.0), &wave[x]);
        for mu in 0..4 {
            for y in [lat.forward(x, mu), lat.backward(x, mu)] {
                laplacian = add(&laplacian, &scale(-C::ONE, &wave[y]));
            }
        }
        let p2 = C::new(momentum_squared(lat, &[0, 1, 2, 3], k), 0.0);
        assert!(distance(&laplacian, &scale(p2, &wave[x])) < ROUNDING);
    }
}

/// Near the unit field a step multiplies a mode of Delta by 1 - alpha p^2, or by 1 - alpha p2max with acceleration,
/// so that alpha = 1/p2max reaches the maximum in one step.
#[test]
fn steepest_descent_damps_modes_as_the_laplacian_says() {
    let lat = Lattice::new([4, 4, 2, 8]);
    for condition in [Condition::Landau, Condition::Coulomb { time: 2 }] {
        let p2max = 4.0 * condition.directions().len() as f64;
        let u = su3::smooth_gauge::<3>(lat, 1e-6, 49);
        let modes = |g: &[Matrix<3>]| {
            let v = su3::transform(lat, &u, g);
            let field: Vec<Matrix<3>> =
                (0..lat.volume()).map(|x| delta(lat, &v, condition, x)).collect();
            fourier(lat, &field, -1.0)
        };
        let unit = vec![one(); lat.volume()];
        let before = modes(&unit);
        for (accelerated, alpha) in [(false, 0.09), (true, 0.5 / p2max), (true, 1.0 / p2max)] {
            let mut g = unit.clone();
            descent::step(lat, &u, &mut g, condition, alpha, accelerated);
            for (k, (b, a)) in before.iter().zip(&modes(&g)).enumerate() {
                let p2 = momentum_squared(lat, &condition.directions(), k);
                let size = if accelerated { p2max } else { p2 };
                let damped = scale(C::new(1.0 - alpha * size, 0.0), b);
                // The step is exact to first order: the error is of second order in 1e-6, times some hundred sites.
                assert!(distance(a, &damped) < 1e-8, "{condition:?} {k}");
            }
        }
        assert!(before.iter().any(|m| distance(m, &zero()) > 1e-6));
    }
}

#[test]
fn steepest_descent_reaches_the_gauge_of_relaxation() {
    let lat = Lattice::new([4, 2, 4, 8]);
    let u = su3::smooth_gauge::<3>(lat, 0.1, 50);
    for condition in [Condition::Landau, Condition::Coulomb { time: 3 }] {
        let p2max = 4.0 * condition.directions().len() as f64;
        let (g, _) = fix(lat, &u, condition, 1.5, 1e-18, 1000).expect("converged");
        let by_relaxation = functional(lat, &u, &g, condition);
        let mut steps = vec![];
        for (accelerated, alpha) in [(false, 1.4 / p2max), (true, 0.8 / p2max)] {
            let mut g = vec![one(); lat.volume()];
            let mut count = 0;
            let mut last = functional(lat, &u, &g, condition);
            while quality_of(lat, &u, &g, condition).theta > 1e-18 {
                descent::step(lat, &u, &mut g, condition, alpha, accelerated);
                let now = functional(lat, &u, &g, condition);
                assert!(now > last - 1e-14, "{condition:?} {accelerated}: {last} {now}");
                (last, count) = (now, count + 1);
                assert!(count < 1000);
            }
            assert!((last - by_relaxation).abs() < ROUNDING, "{condition:?} {accelerated}");
            steps.push(count);
        }
        assert!(2 * steps[1] < steps[0], "{condition:?}: {steps:?}");
    }
}

/// Functionals agree with those of MILC's own relaxation. MILC stopped when F changed by less than 1e-7 or 1e-8, so
/// that fixing further may gain a little.
#[test]
fn functionals_agree_with_milc() {
    for (name, condition, omega, milc) in [
        ("milc.lat.sample.l4444", Condition::Coulomb { time: 3 }, 1.5, 0.894051297),
        ("milc.lat.sample.l4448", Condition::Coulomb { time: 3 }, 1.0, 0.862916095),
        ("milc.lat.sample.l4448", Condition::Landau, 1.0, 0.849082229),
    ] {
        let Some((lat, stored)) = milc_field(name) else { return };
        let u: Gauge = stored.iter().map(su3::reunitarise).collect();
        let (g, sweeps) = fix(lat, &u, condition, omega, 1e-12, 2000).expect("converged");
        let f = functional(lat, &u, &g, condition);
        println!("{name} {condition:?}: {f:.9} after {sweeps} sweeps, MILC {milc:.9}");
        assert!(f >= milc - 1e-6, "{name} {condition:?}: {f} {milc}");
    }
}
