//! Tests of random fields, heat bath and overrelaxation.

use crate::{common, reference};
use std::sync::Arc;

use common::{devices, distance, lattices, tolerance, Lex};
use plaq::backend::Device;
use plaq::error::Status;
use plaq::fields::{GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset};
use plaq::ops::observables::{plaquette, unitarity, wilson_action};
use plaq::ops::quenched::{overrelax, Quenched};
use reference::matrix::{mul, scale, trace, Matrix};
use reference::numbers::{field_from, gauge_from};
use reference::philox::philox4x32_10;
use reference::{observables, su3, GaugeN, Lattice, C};

const SEED: u64 = 0x0123_4567_89ab_cdef;

fn links(
    device: &Device,
    geometry: &Arc<Geometry>,
    precision: Precision,
    recon: Recon,
) -> GaugeField {
    GaugeField::new(device, geometry, precision, recon).unwrap()
}

/// Mean of independent values, and its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let m = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (n - 1.0);
    (m, (variance / n).sqrt())
}

/// Checks that the mean is within five standard errors; the random numbers are fixed, so that the result is the same
/// in every run.
fn check(values: &[f64], expected: f64, slack: f64, what: &str) {
    let (m, error) = mean(values);
    println!("{what}: {m:.6} +- {error:.6}, expected {expected:.6}");
    assert!((m - expected).abs() < 5.0 * error + slack, "{what}: {m} +- {error}, not {expected}");
}

/// The four 32-bit words of a random block, as kernels/philox.h defines it.
fn words(lex: usize, purpose: u32, index: u32, step: u32, block: u32) -> [u32; 4] {
    let key = [SEED as u32, (SEED >> 32) as u32];
    philox4x32_10([lex as u32, purpose << 16 | index << 24, step, block], key)
}

/// Four numbers in (0, 1) with 52 bits, from two blocks.
fn uniforms(lex: usize, purpose: u32, index: u32, step: u32, n: u32) -> [f64; 4] {
    let high = words(lex, purpose, index, step, 2 * n);
    let low = words(lex, purpose, index, step, 2 * n + 1);
    std::array::from_fn(|k| {
        ((u64::from(high[k]) << 20 | u64::from(low[k]) >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    })
}

fn normals(n: usize, lex: usize, purpose: u32, index: u32, step: u32) -> Vec<f64> {
    let mut all = vec![];
    for block in 0..n.div_ceil(4) {
        let u = uniforms(lex, purpose, index, step, block as u32);
        for k in [0, 2] {
            let z = C::from_polar((-2.0 * u[k].ln()).sqrt(), std::f64::consts::TAU * u[k + 1]);
            all.extend([z.re, z.im]);
        }
    }
    all.truncate(n);
    all
}

#[test]
fn spinor_noise_is_what_philox_says() {
    for device in devices() {
        for extents in lattices() {
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            for (subset, precision) in [
                (Subset::Full, Precision::F64),
                (Subset::Odd, Precision::F32),
                (Subset::Even, Precision::F16),
            ] {
                let mut f = SpinorField::new(&device, &geometry, precision, subset, 2).unwrap();
                let has = |lex| match subset {
                    Subset::Full => true,
                    Subset::Even => lat.parity(lex) == 0,
                    Subset::Odd => lat.parity(lex) == 1,
                };
                f.set_noise(Noise::Z4, SEED, 7).unwrap();
                let found = f.save_lex().unwrap();
                for b in 0..2 {
                    for lex in (0..lat.volume()).filter(|&lex| has(lex)) {
                        for i in 0..12 {
                            let word = words(lex, 2, 0, 7 + b as u32, i as u32 / 4)[i % 4];
                            let expected = C::i().powu(word >> 30);
                            let at = ((b * lat.volume() + lex) * 12 + i) * 2;
                            let found = C::new(found[at], found[at + 1]);
                            // In fixed point numbers are rounded to half a unit of the largest one, which is 1 here.
                            let exact = if precision == Precision::F16 {
                                precision.epsilon()
                            } else {
                                f32::EPSILON as f64
                            };
                            assert!((found - expected).norm() <= exact, "{found} {expected}");
                        }
                    }
                }
                f.set_noise(Noise::Normal, SEED, 3).unwrap();
                let found = f.save_lex().unwrap();
                let expected: Vec<f64> = (0..2 * lat.volume())
                    .flat_map(|i| {
                        let (b, lex) = (i / lat.volume(), i % lat.volume());
                        let mut v = normals(24, lex, 1, 0, 3 + b as u32);
                        v.iter_mut().for_each(|x| *x *= if has(lex) { 0.5f64.sqrt() } else { 0.0 });
                        v
                    })
                    .collect();
                assert!(distance(&found, &expected) < tolerance(precision, 4.0), "{precision:?}");
            }
        }
    }
}

#[test]
fn noise_has_its_moments() {
    let device = &devices()[0];
    let geometry = common::geometry([8, 4, 4, 12], device);
    for noise in [Noise::Normal, Noise::Z4] {
        let mut f = SpinorField::new(device, &geometry, Precision::F64, Subset::Full, 2).unwrap();
        f.set_noise(noise, 5, 0).unwrap();
        let z: Vec<C> =
            field_from(&f.save_lex().unwrap()).into_iter().flatten().flatten().collect();
        let of = |g: &dyn Fn(&C) -> f64| z.iter().map(g).collect::<Vec<_>>();
        let rounding = 1e-14;
        check(&of(&|c| c.re), 0.0, 0.0, "Re");
        check(&of(&|c| c.im), 0.0, 0.0, "Im");
        check(&of(&|c| c.norm_sqr()), 1.0, rounding, "|c|^2");
        check(&of(&|c| (c * c).re), 0.0, 0.0, "Re c^2");
        let fourth = if noise == Noise::Z4 { 1.0 } else { 2.0 };
        check(&of(&|c| c.norm_sqr().powi(2)), fourth, rounding, "|c|^4");
        // Neighbouring colours, and the two right-hand sides, are not correlated.
        let half = z.len() / 2;
        check(
            &(1..z.len()).map(|i| (z[i] * z[i - 1].conj()).re).collect::<Vec<_>>(),
            0.0,
            0.0,
            "pairs",
        );
        check(
            &(0..half).map(|i| (z[i] * z[half + i].conj()).re).collect::<Vec<_>>(),
            0.0,
            0.0,
            "rhs",
        );
    }
}

/// The geometry of the undivided lattice on the device whose results the others are compared with.
fn part_or_whole(
    extents: [usize; 4],
    lanes: usize,
    device: &Device,
    reference: &Device,
) -> Arc<Geometry> {
    if device == reference {
        Geometry::with_lanes(extents, lanes).unwrap()
    } else {
        common::geometry(extents, device)
    }
}

#[test]
fn starts_do_not_depend_on_device_lanes_threads_or_storage() {
    let reference = Device::cpu(1).unwrap();
    for extents in lattices() {
        for group in [Recon::R18, Recon::Su2] {
            let start = |device: &Device, lanes, precision, recon, width: Option<f64>| {
                let geometry = part_or_whole(extents, lanes, device, &reference);
                let mut u = links(device, &geometry, precision, recon);
                match width {
                    None => u.set_random(SEED).unwrap(),
                    Some(width) => u.set_near_unit(SEED, width).unwrap(),
                }
                u.save_lex().unwrap()
            };
            for width in [None, Some(0.5)] {
                let expected = start(&reference, 1, Precision::F64, group, width);
                for device in devices() {
                    let lanes = device.max_lanes();
                    for precision in Precision::ALL {
                        let found = start(&device, lanes, precision, group, width);
                        let off = distance(&found, &expected);
                        assert!(
                            off < tolerance(precision, 32.0),
                            "{} {precision:?} {off}",
                            device.name()
                        );
                    }
                    if group == Recon::R18 {
                        let found = start(&device, lanes, Precision::F64, Recon::R12, width);
                        assert!(distance(&found, &expected) < tolerance(Precision::F64, 32.0));
                    }
                }
            }
        }
    }
}

/// exp(i sum h_a T_a) with the generators that set_near_unit documents.
fn exp_generators(h: &[f64]) -> Matrix<3> {
    let z = |re, im| C::new(re, im);
    let d = h[7] / 3f64.sqrt();
    let sum = [
        [z(h[2] + d, 0.0), z(h[0], -h[1]), z(h[3], -h[4])],
        [z(h[0], h[1]), z(d - h[2], 0.0), z(h[5], -h[6])],
        [z(h[3], h[4]), z(h[5], h[6]), z(-2.0 * d, 0.0)],
    ];
    su3::exp_i(&scale(z(0.5, 0.0), &sum))
}

#[test]
fn near_unit_links_are_exponentials_of_normal_generators() {
    for device in devices() {
        let extents = [4, 4, 4, 4];
        let geometry = common::geometry(extents, &device);
        let mut u = links(&device, &geometry, Precision::F64, Recon::R18);
        for width in [0.01, 1.0] {
            u.set_near_unit(SEED, width).unwrap();
            let found: GaugeN<3> = gauge_from(&u.save_lex().unwrap());
            for (i, link) in found.iter().enumerate() {
                let h: Vec<f64> = normals(8, i / 4, 0, (i % 4) as u32, 0);
                let expected = exp_generators(&h.iter().map(|p| p * width).collect::<Vec<_>>());
                // The reference squares its series ten times, which multiplies rounding errors by 2^10.
                assert!(reference::matrix::distance(link, &expected) < 1024.0 * f64::EPSILON);
            }
        }
        u.set_unit().unwrap();
        assert_eq!(plaquette(&u).unwrap().total, 1.0);
        let bad = u.set_near_unit(1, 1.5).unwrap_err();
        assert_eq!(bad.status, Status::InvalidArgument);
    }
}

#[test]
fn random_starts_have_the_moments_of_the_haar_measure() {
    let device = &devices()[0];
    let geometry = common::geometry([8; 4], device);
    let mut u = links(device, &geometry, Precision::F64, Recon::R18);
    u.set_random(11).unwrap();
    assert!(unitarity(&u).unwrap().worst() < 1e-14);
    let three: GaugeN<3> = gauge_from(&u.save_lex().unwrap());
    let of = |g: &dyn Fn(&Matrix<3>) -> f64| three.iter().map(g).collect::<Vec<_>>();
    // Haar averages are the numbers of invariants in products of representations: 3x3bar has 1, 3x3x3 1, (3x3bar)^2 2.
    check(&of(&|m| trace(m).re), 0.0, 0.0, "SU(3) tr");
    check(&of(&|m| trace(m).norm_sqr()), 1.0, 0.0, "SU(3) |tr|^2");
    check(&of(&|m| (trace(m) * trace(m)).re), 0.0, 0.0, "SU(3) tr^2");
    check(&of(&|m| trace(m).powu(3).re), 1.0, 0.0, "SU(3) tr^3");
    check(&of(&|m| trace(m).norm_sqr().powi(2)), 2.0, 0.0, "SU(3) |tr|^4");
    for i in 0..9 {
        check(&of(&|m| m[i / 3][i % 3].norm_sqr()), 1.0 / 3.0, 0.0, "SU(3) |U_ij|^2");
        check(&of(&|m| m[i / 3][i % 3].re), 0.0, 0.0, "SU(3) Re U_ij");
    }
    let neighbours: Vec<f64> =
        three.windows(2).map(|w| trace(&mul(&w[0], &reference::matrix::dag(&w[1]))).re).collect();
    check(&neighbours, 0.0, 0.0, "SU(3) neighbours");

    let mut u = links(device, &geometry, Precision::F64, Recon::Su2);
    u.set_random(12).unwrap();
    let two: GaugeN<2> = gauge_from(&u.save_lex().unwrap());
    let of = |g: &dyn Fn(&Matrix<2>) -> f64| two.iter().map(g).collect::<Vec<_>>();
    check(&of(&|m| trace(m).re), 0.0, 0.0, "SU(2) tr");
    check(&of(&|m| trace(m).re.powi(2)), 1.0, 0.0, "SU(2) tr^2");
    check(&of(&|m| trace(m).re.powi(4)), 2.0, 0.0, "SU(2) tr^4");
    check(&of(&|m| m[0][1].norm_sqr()), 0.5, 0.0, "SU(2) |U_01|^2");
}

#[test]
fn overrelaxation_keeps_the_action_and_moves_the_links() {
    for device in devices() {
        for extents in lattices() {
            let geometry = common::geometry(extents, &device);
            for precision in [Precision::F64, Precision::F32] {
                for recon in [Recon::R18, Recon::Su2] {
                    let mut u = links(&device, &geometry, precision, recon);
                    u.set_near_unit(3, 0.6).unwrap();
                    let (before, start) = (u.save_lex().unwrap(), wilson_action(&u, 6.0).unwrap());
                    for _ in 0..3 {
                        overrelax(&mut u, [1.0; 2]).unwrap();
                    }
                    let found = wilson_action(&u, 6.0).unwrap();
                    // A sweep leaves the rounding of some 32 operations on each link, with any sign, in the average
                    // plaquette, and S = 36 V (1 - P); there are 3 sweeps.
                    let slack = 3.0 * 36.0 * geometry.volume() as f64 * tolerance(precision, 32.0);
                    assert!(
                        (found - start).abs() < slack,
                        "{precision:?} {recon:?}: {start} {found}"
                    );
                    assert!(distance(&u.save_lex().unwrap(), &before) > 0.1);
                    assert!(unitarity(&u).unwrap().worst() < tolerance(precision, 16.0));
                }
            }
        }
    }
}

#[test]
fn a_sweep_does_not_depend_on_device_lanes_or_threads() {
    let one = Device::cpu(1).unwrap();
    for extents in lattices() {
        for recon in [Recon::R18, Recon::Su2] {
            for precision in [Precision::F64, Precision::F32] {
                let run = |device: &Device, lanes, sweeps| {
                    let geometry = part_or_whole(extents, lanes, device, &one);
                    let mut u = links(device, &geometry, precision, recon);
                    // Links near 1, so that the staples of a link do not cancel: its rounding is divided by the size of
                    // their sum.
                    u.set_near_unit(SEED, 0.4).unwrap();
                    let mut update = Quenched::new(5.0, 9).unwrap();
                    update.overrelax = 1;
                    update.run(&mut u, sweeps).unwrap();
                    assert_eq!(update.sweep, sweeps as u32);
                    u.save_lex().unwrap()
                };
                let plain = run(&one, 1, 1);
                for device in devices() {
                    let found = run(&device, device.max_lanes(), 1);
                    // Rounding grows along a sweep, where links depend on links updated before. A try of the heat bath
                    // at the edge of acceptance may fall either way, once in 1e7 tries in single precision.
                    let off = distance(&found, &plain);
                    println!("{extents:?} {recon:?} {precision:?} {off:e}");
                    assert!(off < 100.0 * tolerance(precision, 64.0), "{} {off}", device.name());
                    if device.is_cpu() {
                        // With the number of lanes that a rank's part has, since kernels for other numbers of lanes
                        // round differently.
                        let lanes = common::geometry(extents, &device).lanes();
                        let (a, b) = (run(&device, lanes, 5), run(&one, lanes, 5));
                        assert_eq!(a, b, "threads or ranks change bits");
                    }
                }
            }
        }
    }
}

/// Thermalises, then measures configurations that are `skip` updates apart, and returns them.
fn ensemble<const N: usize>(
    (extents, beta): ([usize; 4], f64),
    precision: Precision,
    (thermalise, measure, skip): (usize, usize, usize),
    mut visit: impl FnMut(&GaugeField),
) {
    let device = devices().pop().unwrap();
    let geometry = common::geometry(extents, &device);
    let mut u = links(&device, &geometry, precision, if N == 3 { Recon::R18 } else { Recon::Su2 });
    u.set_random(17).unwrap();
    let mut update = Quenched::new(beta, 23).unwrap();
    update.run(&mut u, thermalise).unwrap();
    for _ in 0..measure {
        update.run(&mut u, skip).unwrap();
        visit(&u);
    }
}

/// Averages of `n` bins, whose error includes autocorrelations shorter than a bin.
fn bins(values: &[f64], n: usize) -> Vec<f64> {
    values.chunks(values.len() / n).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect()
}

fn plaquettes<const N: usize>(
    lattice: ([usize; 4], f64),
    precision: Precision,
    counts: (usize, usize, usize),
) -> Vec<f64> {
    let mut values = vec![];
    ensemble::<N>(lattice, precision, counts, |u| values.push(plaquette(u).unwrap().total));
    bins(&values, 20)
}

/// Checks the Schwinger-Dyson equation from the invariance of the Haar measure under U -> exp(i e T_a) U for one link
/// U with staples A: <sum_a (d_a s)^2> = -<sum_a d_a d_a s> for the weight exp(s), s = b Re tr U A, b = beta / N,
/// that is b^2 <sum_a (Re tr i T_a U A)^2> = b (N^2 - 1)/(2N) <Re tr U A>. True on every lattice.
fn schwinger_dyson<const N: usize>(extents: [usize; 4], beta: f64, precision: Precision) {
    let lat = Lattice::new(extents);
    let mut defects = vec![];
    ensemble::<N>((extents, beta), precision, (100, 60, 3), |u| {
        let links: GaugeN<N> = gauge_from(&u.save_lex().unwrap());
        let (mut square, mut linear) = (0.0, 0.0);
        for i in 0..links.len() {
            let w = mul(&links[i], &observables::staple(lat, &links, i / 4, i % 4));
            // sum_a (Re tr i T_a W)^2 = 1/2 tr H^2 with H the traceless (W - W^dagger) / 2i
            let t = trace(&w).im / N as f64;
            for r in 0..N {
                for c in 0..N {
                    let h = (w[r][c] - w[c][r].conj()) / C::new(0.0, 2.0);
                    let h = if r == c { h - t } else { h };
                    square += 0.5 * h.norm_sqr();
                }
            }
            linear += trace(&w).re;
        }
        let (b, n) = (beta / N as f64, N as f64);
        defects.push((b * square - (n * n - 1.0) / (2.0 * n) * linear) / links.len() as f64);
    });
    check(
        &bins(&defects, 20),
        0.0,
        0.0,
        &format!("Schwinger-Dyson SU({N}) beta {beta} {precision:?}"),
    );
}

#[test]
fn heat_bath_satisfies_the_schwinger_dyson_equation() {
    for precision in [Precision::F64, Precision::F32] {
        schwinger_dyson::<3>([4, 4, 4, 4], 5.7, precision);
        schwinger_dyson::<2>([4, 4, 4, 4], 2.3, precision);
    }
    // At strong coupling the heat bath draws x0 without Kennedy and Pendleton's method; and lattices with one lane.
    schwinger_dyson::<3>([4, 4, 4, 4], 0.9, Precision::F64);
    schwinger_dyson::<3>(common::over_ranks([2, 6, 4, 2]), 2.0, Precision::F64);
    schwinger_dyson::<2>(common::over_ranks([2, 6, 4, 2]), 0.7, Precision::F32);
}

/// Mean <Re tr U / N> of one SU(3) plaquette with weight exp(beta/3 Re tr U), from Weyl's integral over the
/// eigenvalues.
fn one_plaquette_su3(beta: f64) -> f64 {
    let n = 400;
    let angle = |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
    let (mut sum, mut norm) = (0.0, 0.0);
    for i in 0..n {
        for j in 0..n {
            let (a, b) = (angle(i), angle(j));
            let z = [C::from_polar(1.0, a), C::from_polar(1.0, b), C::from_polar(1.0, -a - b)];
            let vandermonde = (z[0] - z[1]) * (z[1] - z[2]) * (z[2] - z[0]);
            let t = (z[0] + z[1] + z[2]).re;
            let weight = vandermonde.norm_sqr() * (beta / 3.0 * t).exp();
            sum += weight * t / 3.0;
            norm += weight;
        }
    }
    sum / norm
}

/// Mean <Re tr U / N> of one SU(2) plaquette with weight exp(beta/2 tr U).
fn one_plaquette_su2(beta: f64) -> f64 {
    let n = 1000;
    let (mut sum, mut norm) = (0.0, 0.0);
    for i in 0..n {
        let a = std::f64::consts::PI * (i as f64 + 0.5) / n as f64;
        let weight = a.sin().powi(2) * (beta * a.cos()).exp();
        sum += weight * a.cos();
        norm += weight;
    }
    sum / norm
}

#[test]
fn strong_coupling_plaquettes() {
    // In four dimensions the plaquette is the one-plaquette mean u plus 4 u^5 and higher orders: each plaquette is a
    // face of 2 (d - 2) = 4 cubes. The slack is twice the term 4 u^5.
    for beta in [0.5, 1.0, 2.0] {
        let u = one_plaquette_su3(beta);
        assert!((u / (beta / 18.0) - 1.0).abs() < 0.1 * beta, "u = beta/18 + ..., found {u}");
        let values = plaquettes::<3>(([4; 4], beta), Precision::F64, (20, 1000, 1));
        check(&values, u, 8.0 * u.powi(5), &format!("SU(3) beta {beta}"));
    }
    for beta in [0.3, 0.6, 1.0] {
        let u = one_plaquette_su2(beta);
        let values = plaquettes::<2>(([4; 4], beta), Precision::F32, (20, 1000, 1));
        check(&values, u, 8.0 * u.powi(5), &format!("SU(2) beta {beta}"));
    }
}

#[test]
fn plaquettes_of_the_literature() {
    // Values for large volumes: SU(3) at beta 5.7 0.5490, SU(2) at beta 2.3 0.6027; the slack is half of the last
    // digit.
    for precision in [Precision::F64, Precision::F32] {
        let values = plaquettes::<3>(([8; 4], 5.7), precision, (100, 400, 1));
        check(&values, 0.5490, 0.5e-4, &format!("SU(3) beta 5.7 {precision:?}"));
        let values = plaquettes::<2>(([8; 4], 2.3), precision, (100, 600, 1));
        check(&values, 0.6027, 0.5e-4, &format!("SU(2) beta 2.3 {precision:?}"));
    }
}

/// The heat bath reproduces the configuration of tests/data. All x86-64 processors round alike with one lane. If the
/// random stream, the order of updates or the updates themselves change, the test fails: then make the files anew.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_carried_configuration_can_be_made_again() {
    let device = Device::cpu(2).unwrap();
    let geometry = Geometry::with_lanes([4, 4, 4, 8], 1).unwrap();
    let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_random(1).unwrap();
    Quenched::new(6.0, 1).unwrap().run(&mut u, 300).unwrap();
    let made: Vec<f64> = u.save_lex().unwrap().iter().map(|&v| f64::from(v as f32)).collect();
    let path = std::path::Path::new("tests/data/quenched-b6.0-4x4x4x8.ildg");
    assert_eq!(plaq::io::read_gauge(path, None).unwrap().links, made);
}

#[test]
fn storages_without_whole_links_are_refused() {
    let device = &devices()[0];
    let geometry = common::geometry([4; 4], device);
    for (precision, recon) in [(Precision::F16, Recon::R18), (Precision::F64, Recon::R12)] {
        let mut u = links(device, &geometry, precision, recon);
        u.set_unit().unwrap();
        let mut update = Quenched::new(6.0, 1).unwrap();
        assert_eq!(update.run(&mut u, 1).unwrap_err().status, Status::Unsupported);
        assert_eq!(update.sweep, 0);
    }
    for beta in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Quenched::new(beta, 1).unwrap_err().status, Status::InvalidArgument);
    }
}
