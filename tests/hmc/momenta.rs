//! Tests of momenta and of link updates with them.

use plaq::error::Status;
use plaq::fields::{Momenta, MomentaForm, Precision, SiteOrder};

use super::common::{self, devices, distance, extents_on, largest, over_ranks, tolerance, Lex};
use super::reference::matrix::{mul, scale, Matrix};
use super::reference::numbers::gauge_from;
use super::reference::philox::philox4x32_10;
use super::reference::{hmc as slow, su3, Lattice, C};
use super::{coefficients, links, momenta};

const SEED: u64 = 0x0123_4567_89ab_cdef;
/// The kernels' constant RANDOM_MOMENTA, which distinguishes this stream of random numbers.
const PURPOSE: u32 = 6;

/// The eight normal random numbers of a link that kernels/philox.h defines.
fn normals(lex: usize, mu: u32, step: u32) -> Vec<f64> {
    let key = [SEED as u32, (SEED >> 32) as u32];
    let words = |block| philox4x32_10([lex as u32, PURPOSE << 16 | mu << 24, step, block], key);
    let mut all = vec![];
    for n in 0..2 {
        let (high, low) = (words(2 * n), words(2 * n + 1));
        let u: Vec<f64> = (0..4)
            .map(|k| {
                let bits = u64::from(high[k]) << 20 | u64::from(low[k]) >> 12;
                (bits as f64 + 0.5) / (1u64 << 52) as f64
            })
            .collect();
        for k in [0, 2] {
            let z = C::from_polar((-2.0 * u[k].ln()).sqrt(), std::f64::consts::TAU * u[k + 1]);
            all.extend([z.re, z.im]);
        }
    }
    all
}

#[test]
fn the_heat_bath_is_what_philox_says() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let expected: Vec<f64> =
                (0..4 * lat.volume()).flat_map(|l| normals(l / 4, l as u32 % 4, 3)).collect();
            for precision in [Precision::F64, Precision::F32] {
                let mut p = Momenta::new(&device, &geometry, precision).unwrap();
                p.set_gaussian(SEED, 3).unwrap();
                let found = p.save_lex().unwrap();
                assert!(distance(&found, &expected) < tolerance(precision, 4.0), "{precision:?}");
                let kinetic = 0.5 * expected.iter().map(|v| v * v).sum::<f64>();
                let off = (p.kinetic().unwrap() / kinetic - 1.0).abs();
                let sum = (expected.len() as f64).sqrt();
                assert!(off < tolerance(precision, sum), "kinetic term off by {off:e}");
                let max = expected.chunks(8).map(|l| l.iter().map(|v| v * v).sum::<f64>());
                let max = largest(max);
                let off = (p.norm2().unwrap().1 / max - 1.0).abs();
                assert!(off < tolerance(precision, 8.0), "largest momentum off by {off:e}");
            }
        }
    }
}

#[test]
fn momenta_have_their_moments() {
    let device = &devices()[0];
    let extents = over_ranks([8, 8, 8, 8]);
    let geometry = common::geometry(extents, device);
    let mut p = Momenta::new(device, &geometry, Precision::F64).unwrap();
    p.set_gaussian(17, 0).unwrap();
    let n = 32.0 * geometry.global_volume() as f64;
    // p^2 of a normal number p has the variance 2.
    let off = (2.0 * p.kinetic().unwrap() / n - 1.0) / (2.0 / n).sqrt();
    assert!(off.abs() < 5.0, "kinetic term is {off} standard errors off");
    let v = p.save_lex().unwrap();
    let third = v.iter().map(|x| x.powi(3)).sum::<f64>() / (15.0 * n).sqrt();
    let fourth = v.iter().map(|x| x.powi(4) - 3.0).sum::<f64>() / (96.0 * n).sqrt();
    let pairs = v.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n.sqrt();
    for (what, off) in [("third", third), ("fourth", fourth), ("neighbours", pairs)] {
        assert!(off.abs() < 5.0, "{what} moment is {off} standard errors off");
    }
}

#[test]
fn arrays_hold_what_they_say() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let p = coefficients(lat, 5);
            let field = momenta(&device, &geometry, &p, Precision::F64);
            assert_eq!(field.save_lex().unwrap(), p);
            let local = Lattice::new(geometry.extents());
            let origin = geometry.origin();
            let forms = [MomentaForm::Coefficients, MomentaForm::Ten, MomentaForm::Matrices];
            for form in forms.into_iter().chain([MomentaForm::OpenQcd]) {
                for order in [SiteOrder::Lexicographic, SiteOrder::EvenOdd] {
                    let mut array = vec![7.0; local.volume() * 4 * form.reals()];
                    field.save(&mut array, form, order, 2.0).unwrap();
                    let mut odd = 0;
                    let mut even = 0;
                    for x in 0..local.volume() {
                        let c = local.coords(x);
                        let at = match (order, local.parity(x)) {
                            (SiteOrder::Lexicographic, _) => x,
                            (_, 0) => (even, even += 1).0,
                            _ => (odd, odd += 1).0 + local.volume() / 2,
                        };
                        let whole = lat.lex(std::array::from_fn(|mu| c[mu] + origin[mu]));
                        for mu in 0..4 {
                            let h = &p[(whole * 4 + mu) * 8..][..8];
                            let m = scale(C::new(0.0, 2.0), &slow::algebra(h));
                            let flat = |z: &Matrix<3>, e: [usize; 2]| z[e[0]][e[1]];
                            let expected: Vec<f64> = match form {
                                MomentaForm::Coefficients => h.iter().map(|v| 2.0 * v).collect(),
                                MomentaForm::Ten => {
                                    let off = [[0, 1], [0, 2], [1, 2]].map(|e| flat(&m, e));
                                    let diagonal = (0..3).map(|i| m[i][i].im);
                                    let off = off.iter().flat_map(|z| [z.re, z.im]);
                                    off.chain(diagonal).chain([0.0]).collect()
                                }
                                MomentaForm::OpenQcd => {
                                    let off = [[0, 1], [0, 2], [1, 2]].map(|e| flat(&m, e));
                                    let d: [f64; 3] = std::array::from_fn(|i| m[i][i].im);
                                    let diagonal = [(d[0] - d[1]) / 3.0, (d[0] - d[2]) / 3.0];
                                    let off = off.iter().flat_map(|z| [z.re, z.im]);
                                    diagonal.into_iter().chain(off).collect()
                                }
                                MomentaForm::Matrices => {
                                    m.iter().flatten().flat_map(|z| [z.re, z.im]).collect()
                                }
                            };
                            let found = &array[(at * 4 + mu) * form.reals()..][..form.reals()];
                            let d = distance(found, &expected);
                            assert!(d < 1e-15, "{form:?} {order:?} at {c:?}, {mu}: {d:e}");
                        }
                    }
                    let mut back = Momenta::new(&device, &geometry, Precision::F64).unwrap();
                    back.load(&array, form, order, 2.0).unwrap();
                    assert!(distance(&back.save_lex().unwrap(), &p) < 1e-15, "{form:?} {order:?}");
                }
            }
            let mut single = Momenta::new(&device, &geometry, Precision::F32).unwrap();
            single.copy_from(&field).unwrap();
            assert!(distance(&single.save_lex().unwrap(), &p) < 1e-7);
            let mut sum = momenta(&device, &geometry, &p, Precision::F64);
            sum.add(3.0, -2.0, &single).unwrap();
            assert!(distance(&sum.save_lex().unwrap(), &p) < 1e-6);
            sum.scale(-2.0).unwrap();
            let doubled: Vec<f64> = p.iter().map(|v| -2.0 * v).collect();
            assert!(distance(&sum.save_lex().unwrap(), &doubled) < 1e-6);
        }
    }
}

/// Momenta are loaded and saved in the order of openQCD: odd sites, z fastest, then y, x, t; for each site the link
/// to +t and the link from -t, then those of x, y, z.
#[test]
fn arrays_in_the_order_of_openqcd() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let p = coefficients(lat, 5);
            let field = momenta(&device, &geometry, &p, Precision::F64);
            let (l, origin) = (geometry.extents(), geometry.origin());
            let mut expected = vec![];
            for i in 0..geometry.volume() {
                let here =
                    [i / (l[2] * l[1]) % l[0], i / l[2] % l[1], i % l[2], i / (l[2] * l[1] * l[0])];
                let c: [usize; 4] = std::array::from_fn(|mu| here[mu] + origin[mu]);
                if c.iter().sum::<usize>() % 2 == 0 {
                    continue;
                }
                for mu in [3, 0, 1, 2] {
                    let mut before = c;
                    before[mu] = (c[mu] + extents[mu] - 1) % extents[mu];
                    for site in [c, before] {
                        let h = &p[(lat.lex(site) * 4 + mu) * 8..][..8];
                        expected.extend(h.iter().map(|v| -1.5 * v));
                    }
                }
            }
            let (form, order) = (MomentaForm::Coefficients, SiteOrder::OpenQcd);
            let mut array = vec![7.0; expected.len()];
            field.save(&mut array, form, order, -1.5).unwrap();
            assert!(distance(&array, &expected) < 1e-14, "{extents:?}");
            let mut back = Momenta::new(&device, &geometry, Precision::F64).unwrap();
            back.load(&expected, form, order, -1.5).unwrap();
            assert!(distance(&back.save_lex().unwrap(), &p) < 1e-14, "{extents:?}");
            for form in [MomentaForm::OpenQcd, MomentaForm::Ten, MomentaForm::Matrices] {
                let mut array = vec![7.0; 4 * geometry.volume() * form.reals()];
                field.save(&mut array, form, order, 2.0).unwrap();
                back.clear().unwrap();
                back.load(&array, form, order, 2.0).unwrap();
                assert!(distance(&back.save_lex().unwrap(), &p) < 1e-14, "{form:?} {extents:?}");
            }
            array[20] = f64::INFINITY;
            let bad = back.load(&array, form, order, 1.0).unwrap_err();
            assert_eq!(bad.status, Status::NotFinite);
            assert!(distance(&back.save_lex().unwrap(), &p) < 1e-14);
        }
    }
}

#[test]
fn bad_arrays_leave_the_momenta() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), device);
    let mut p = Momenta::new(device, &geometry, Precision::F64).unwrap();
    p.set_gaussian(3, 0).unwrap();
    let before = p.save_lex().unwrap();
    let mut array = vec![1.0; 40 * geometry.volume()];
    let short = p.load(&array[1..], MomentaForm::Ten, SiteOrder::EvenOdd, 1.0).unwrap_err();
    assert_eq!(short.status, Status::BadLayout);
    let zero = p.load(&array, MomentaForm::Ten, SiteOrder::EvenOdd, 0.0).unwrap_err();
    assert_eq!(zero.status, Status::InvalidArgument);
    array[33] = f64::NAN;
    array[9] = f64::NAN; // free
    let nan = p.load(&array, MomentaForm::Ten, SiteOrder::EvenOdd, 1.0).unwrap_err();
    assert_eq!(nan.status, Status::NotFinite);
    assert_eq!(p.save_lex().unwrap(), before);
    let half = Momenta::new(device, &geometry, Precision::F16).unwrap_err();
    assert_eq!(half.status, Status::Unsupported);
}

#[test]
fn links_follow_the_exponential() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let u = su3::haar_gauge::<3>(lat, 7);
            let mut p = coefficients(lat, 8);
            // Momenta zero, with degenerate and nearly degenerate eigenvalues, and large ones.
            p[..8].fill(0.0);
            p[8..16].copy_from_slice(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
            p[16..24].copy_from_slice(&[1e-9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
            p[24..32].iter_mut().for_each(|v| *v *= 6.0);
            for precision in [Precision::F64, Precision::F32] {
                let mut field = links(&device, &geometry, &u, precision);
                let mut field_p = momenta(&device, &geometry, &p, precision);
                for step in [0.1, -0.9] {
                    field.evolve(&field_p, step).unwrap();
                }
                let found = gauge_from::<3>(&field.save_lex().unwrap());
                let mut apart = Vec::new();
                for (l, link) in found.iter().enumerate() {
                    let h = &p[8 * l..][..8];
                    let part: Vec<f64> = h.iter().map(|v| -0.8 * v).collect();
                    let expected = mul(&su3::exp_i(&slow::algebra(&part)), &u[l]);
                    apart.push(super::reference::matrix::distance(link, &expected));
                }
                let worst = largest(apart);
                let tol = 8.0 * tolerance(precision, 12.0);
                assert!(worst < tol, "{extents:?} {precision:?}: {worst:e}, {tol:e}");
                // An evolution by p and back.
                let before = links(&device, &geometry, &u, precision);
                field_p.scale(2.0).unwrap();
                field.evolve(&field_p, 0.4).unwrap();
                let off = field.distance(&before).unwrap();
                assert!(off < tol, "{precision:?}: {off:e} after the way back");
                let correction = field.reunitarise().unwrap();
                assert!(correction < tol, "{correction:e}");
                let again = field.reunitarise().unwrap();
                assert!(again <= 16.0 * precision.epsilon(), "{precision:?}: {again:e}");
            }
        }
    }
}
