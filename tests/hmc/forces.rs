//! Tests of gauge actions and forces against closed loops that the reference multiplies link by link.

use plaq::fields::{GaugeField, Momenta, Precision, Recon};
use plaq::ops::hmc::gauge_action::{
    GaugeCoefficients, GaugeForce, LinkAction, DBW2, IWASAKI, TREE_LEVEL_SYMANZIK,
};
use plaq::ops::observables::wilson_action;

use super::common::{self, devices, extents_on, largest, over_ranks, tolerance, Lex};
use super::reference::{hmc as slow, su3, Lattice};
use super::{check_along, coefficients, links, momenta};

/// Coefficients of the Wilson action, an anisotropic one, improved ones, and one with different numbers in every
/// plane.
fn actions() -> Vec<(&'static str, GaugeCoefficients)> {
    let odd = GaugeCoefficients {
        plaquette: [1.0, 2.0, -0.5, 0.3, 0.7, 1.1],
        first: [0.2, -0.3, 0.4, 0.5, -0.6, 0.7],
        second: [-0.1, 0.25, 0.35, -0.45, 0.55, 0.65],
    };
    vec![
        ("Wilson", GaugeCoefficients::wilson(5.7).unwrap()),
        ("anisotropic", GaugeCoefficients::anisotropic([1.5, 9.0], [1.0, 1.0], [0.0; 3]).unwrap()),
        ("Symanzik", GaugeCoefficients::improved(4.0, TREE_LEVEL_SYMANZIK).unwrap()),
        ("Iwasaki", GaugeCoefficients::improved(2.6, IWASAKI).unwrap()),
        ("DBW2", GaugeCoefficients::improved(0.87, DBW2).unwrap()),
        ("odd", odd),
    ]
}

fn expected(c: &GaugeCoefficients) -> slow::Coefficients {
    slow::Coefficients { plaquette: c.plaquette, first: c.first, second: c.second }
}

#[test]
fn actions_match_the_reference() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let u = su3::smooth_gauge::<3>(lat, 0.5, 21);
            for (name, c) in actions() {
                let s = slow::action(lat, &u, &expected(&c));
                let total: f64 =
                    [c.plaquette, c.first, c.second].iter().flatten().map(|k| k.abs()).sum();
                let size = total * lat.volume() as f64;
                for precision in [Precision::F64, Precision::F32] {
                    let field = links(&device, &geometry, &u, precision);
                    let mut force = GaugeForce::new(&device, &geometry, precision, c).unwrap();
                    let found = force.action(&field).unwrap();
                    let tol = 4.0 * tolerance(precision, 18.0);
                    let off = (found - s).abs() / size;
                    assert!(off < tol, "{name} {extents:?} {precision:?}: {found}, {s}");
                    if name == "Wilson" {
                        let wilson = wilson_action(&field, 5.7).unwrap();
                        assert!((found - wilson).abs() / size < tol, "{found}, {wilson}");
                    }
                }
            }
        }
    }
}

#[test]
fn forces_are_derivatives_of_the_action() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let mut u = su3::haar_gauge::<3>(lat, 31);
            for (name, c) in actions() {
                let field = links(&device, &geometry, &u, Precision::F64);
                let mut force = GaugeForce::new(&device, &geometry, Precision::F64, c).unwrap();
                let mut p = Momenta::new(&device, &geometry, Precision::F64).unwrap();
                let report = force.kick(&field, &mut p, 1.0, -1.0).unwrap();
                let f = p.save_lex().unwrap();
                // The report's root mean square and largest modulus of the force.
                let sizes: Vec<f64> =
                    f.chunks(8).map(|l| l.iter().map(|v| v * v).sum::<f64>()).collect();
                let rms = (sizes.iter().sum::<f64>() / sizes.len() as f64).sqrt();
                let max = largest(sizes.iter().copied()).sqrt();
                assert!((report.rms / rms - 1.0).abs() < 1e-12, "{name}: {report:?}, {rms}");
                assert!((report.max / max - 1.0).abs() < 1e-12, "{name}: {report:?}, {max}");
                // A link of each direction, at faces of the part and inside.
                let slow_c = expected(&c);
                for mu in 0..4 {
                    let x = (mu * 7919 + 13 * part[3]) % lat.volume();
                    let link = x * 4 + mu;
                    let lat = &lat;
                    let s = |u: &_| slow::action(*lat, u, &slow_c);
                    for a in [mu, 7 - mu] {
                        let d = slow::derivative(&mut u, link, a, 4e-3, &s);
                        let found = f[8 * link + a];
                        let off = (found - d).abs() / max;
                        assert!(
                            off < 1e-8,
                            "{name} {extents:?} at {:?}, direction {mu}, generator {a}: {found}, {d}",
                            lat.coords(x)
                        );
                    }
                }
            }
        }
    }
}

/// Forces are derivatives of the action along random momenta of all links at once, by the library's own action and
/// link update.
#[test]
fn forces_are_derivatives_along_momenta() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let u = su3::smooth_gauge::<3>(lat, 0.6, 41);
            let v = coefficients(lat, 42);
            for (name, c) in actions() {
                let mut force = GaugeForce::new(&device, &geometry, Precision::F64, c).unwrap();
                let field = links(&device, &geometry, &u, Precision::F64);
                let mut p = Momenta::new(&device, &geometry, Precision::F64).unwrap();
                force.kick(&field, &mut p, 1.0, -1.0).unwrap();
                check_along(&format!("{name} {extents:?}"), &mut force, &u, &p, &v, 2e-3);
            }
        }
    }
}

#[test]
fn single_precision_and_scaled_momenta() {
    for device in devices() {
        let extents = over_ranks([8, 4, 4, 12]);
        let geometry = common::geometry(extents, &device);
        let lat = Lattice::new(extents);
        let u = su3::haar_gauge::<3>(lat, 51);
        let p = coefficients(lat, 52);
        for (name, c) in actions() {
            let kicked = |precision| {
                let field = links(&device, &geometry, &u, precision);
                let mut force = GaugeForce::new(&device, &geometry, precision, c).unwrap();
                let mut field_p = momenta(&device, &geometry, &p, precision);
                force.kick(&field, &mut field_p, -0.5, 0.3).unwrap();
                field_p.save_lex().unwrap()
            };
            let (double, single) = (kicked(Precision::F64), kicked(Precision::F32));
            let off = common::distance(&single, &double);
            assert!(off < 2e-5, "{name}: {off:e}");
            let field = links(&device, &geometry, &u, Precision::F64);
            let mut force = GaugeForce::new(&device, &geometry, Precision::F64, c).unwrap();
            let mut f = Momenta::new(&device, &geometry, Precision::F64).unwrap();
            force.kick(&field, &mut f, 0.0, -1.0).unwrap();
            let f = f.save_lex().unwrap();
            let expected: Vec<f64> = p.iter().zip(&f).map(|(p, f)| -0.5 * p - 0.3 * f).collect();
            let off = common::distance(&double, &expected);
            assert!(off < 1e-13, "{name}: {off:e}");
        }
    }
}

/// Forces are derivatives on large lattices, whose links GPUs process in columns along z, here of four links with a
/// last column of two.
#[test]
fn forces_of_columns_are_derivatives() {
    for device in devices().into_iter().filter(|d| !d.is_cpu()) {
        let geometry = common::geometry(over_ranks([32, 32, 38, 32]), &device);
        let field = |seed| {
            let mut p = Momenta::new(&device, &geometry, Precision::F64).unwrap();
            p.set_gaussian(seed, 0).unwrap();
            p
        };
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_near_unit(3, 0.5).unwrap();
        let actions = [0.0, TREE_LEVEL_SYMANZIK].map(|c1| GaugeCoefficients::improved(6.0, c1));
        for c in actions {
            let mut force =
                GaugeForce::new(&device, &geometry, Precision::F64, c.unwrap()).unwrap();
            let (v, mut f) = (field(1), field(2));
            force.kick(&u, &mut f, 0.0, -1.0).unwrap();
            let (ff, vv) = (f.kinetic().unwrap(), v.kinetic().unwrap());
            f.add(1.0, 1.0, &v).unwrap();
            let slope = f.kinetic().unwrap() - ff - vv;
            let at = |step: f64| {
                let mut moved = u.to(Precision::F64, Recon::R18).unwrap();
                moved.evolve(&v, step).unwrap();
                force.action(&moved).unwrap()
            };
            let d = common::derivative(at, 2e-3);
            println!("columns: {slope}, {d}, |F| {}", (2.0 * ff).sqrt());
            assert!((slope - d).abs() < 1e-5 * (2.0 * ff).sqrt(), "{slope}, {d}");
        }
    }
}

#[test]
fn bad_couplings_are_refused() {
    for beta in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(GaugeCoefficients::wilson(beta).is_err());
    }
    assert!(GaugeCoefficients::improved(5.0, f64::NAN).is_err());
}
