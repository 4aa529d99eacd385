//! Tests of lists of integrators: the power of their errors, and reversibility.

use plaq::error::Status;
use plaq::fields::{GaugeField, Precision};
use plaq::ops::hmc::gauge_action::{GaugeCoefficients, GaugeForce, GaugeMonomial};
use plaq::ops::hmc::integrator::{steps_of, Level, Scheme, Step};
use plaq::ops::hmc::{Hmc, HmcParams, Monomial};

use super::common::{self, devices, over_ranks};
use super::links;
use super::reference::{su3, Lattice};

fn level(scheme: Scheme, steps: usize, names: &[&str]) -> Level {
    Level { scheme, steps, monomials: names.iter().map(|s| s.to_string()).collect() }
}

#[test]
fn lists_have_no_step_twice() {
    let list = steps_of(&[level(Scheme::Leapfrog, 3, &["a"])], 1.5).unwrap();
    let kicks: Vec<f64> = list
        .iter()
        .filter_map(|s| match s {
            Step::Kick { time, .. } => Some(*time),
            _ => None,
        })
        .collect();
    assert_eq!(kicks, [0.25, 0.5, 0.5, 0.25]);
    assert_eq!(list.len(), 7);
    for outer in Scheme::ALL {
        for inner in Scheme::ALL {
            let levels = [level(outer, 2, &["a"]), level(inner, 3, &["b"])];
            let list = steps_of(&levels, 1.0).unwrap();
            let (mut links, mut a, mut b) = (0.0, 0.0, 0.0);
            for (k, step) in list.iter().enumerate() {
                match step {
                    Step::Links(t) => links += t,
                    Step::Kick { level: 0, time } => a += time,
                    Step::Kick { time, .. } => b += time,
                    Step::ShiftedKick { level: 0, time, .. } => a += time,
                    Step::ShiftedKick { time, .. } => b += time,
                }
                if let (Step::Links(_), Some(Step::Links(_))) = (step, list.get(k + 1)) {
                    panic!("{outer:?} in {inner:?}: two link updates in a row");
                }
            }
            for (what, sum) in [("links", links), ("a", a), ("b", b)] {
                assert!((sum - 1.0).abs() < 1e-14, "{outer:?}, {inner:?}: {what} {sum}");
            }
            // Read backwards the list of steps is the same, as integrators are symmetric.
            let back: Vec<Step> = list.iter().rev().copied().collect();
            let times = |list: &[Step]| -> Vec<f64> {
                let of = |s: &Step| match *s {
                    Step::Links(t) => Some(t),
                    _ => None,
                };
                list.iter().filter_map(of).collect()
            };
            for (x, y) in times(&list).iter().zip(times(&back)) {
                assert!((x - y).abs() < 1e-15, "{outer:?}, {inner:?}");
            }
        }
    }
    for bad in [0.0, -1.0, f64::NAN] {
        let e = steps_of(&[level(Scheme::Leapfrog, 3, &["a"])], bad).unwrap_err();
        assert_eq!(e.status, Status::BadParameter);
    }
    assert!(steps_of(&[level(Scheme::Leapfrog, 0, &["a"])], 1.0).is_err());
    assert!(steps_of(&[], 1.0).is_err());
    assert!(Scheme::parse("euler").is_err());
    for s in Scheme::ALL {
        assert_eq!(Scheme::parse(s.name()).unwrap(), s);
    }
}

/// A chain with the action of plaquettes at one level and of rectangles at another.
fn chain(field: &GaugeField, levels: Vec<Level>, length: f64) -> Hmc {
    let (device, geometry) = (field.device(), field.geometry());
    let of = |name: &str, c| {
        let force = GaugeForce::new(device, geometry, Precision::F64, c).unwrap();
        Box::new(GaugeMonomial::new(name, force)) as Box<dyn Monomial>
    };
    let rectangles = GaugeCoefficients::anisotropic([4.0; 2], [0.0; 2], [-1.0 / 12.0; 3]).unwrap();
    let plaquettes = GaugeCoefficients::wilson(4.0 * 20.0 / 12.0).unwrap();
    let mut monomials = vec![of("plaquettes", plaquettes)];
    if levels.len() > 1 {
        monomials.push(of("rectangles", rectangles));
    }
    let params = HmcParams {
        length,
        levels,
        seed: 77,
        trajectory: 0,
        accept_until: 0,
        reversibility_every: 1,
        smd: None,
    };
    Hmc::new(device, geometry, Precision::F64, monomials, params).unwrap()
}

#[test]
fn errors_fall_with_their_power_and_trajectories_return() {
    let device = &devices()[0];
    let extents = over_ranks([4, 4, 4, 4]);
    let geometry = common::geometry(extents, device);
    let u = su3::smooth_gauge::<3>(Lattice::new(extents), 0.4, 61);
    for nested in [false, true] {
        for scheme in Scheme::ALL {
            let delta = |steps: usize| {
                let mut field = links(device, &geometry, &u, Precision::F64);
                let levels = if nested {
                    vec![level(scheme, steps, &["rectangles"]), level(scheme, 2, &["plaquettes"])]
                } else {
                    vec![level(scheme, steps, &["plaquettes"])]
                };
                let mut hmc = chain(&field, levels, 0.4);
                let report = hmc.run(&mut field).unwrap();
                let links = report.reversibility_links.unwrap();
                let hamiltonian = report.reversibility_hamiltonian.unwrap();
                // Each step of the trajectory and of the way back adds its rounding.
                let rounding = 2.0 * hmc.steps().len() as f64 * f64::EPSILON;
                let energy = report.kinetic_start
                    + report.monomials.iter().map(|m| m.action_start.abs()).sum::<f64>();
                assert!(links < 8.0 * rounding, "{scheme:?}: links {links:e}");
                assert!(hamiltonian < rounding * energy, "{scheme:?}: {hamiltonian:e}");
                assert!(report.correction < 1e-12);
                report.delta_h
            };
            let (coarse, fine) = (delta(4), delta(8));
            let power = (coarse / fine).abs().log2();
            println!("{scheme:?}, nested {nested}: {coarse:e}, {fine:e}, power {power:.3}");
            let order = f64::from(scheme.order());
            assert!((power - order).abs() < 0.25, "{scheme:?}, nested {nested}: power {power}");
        }
    }
}
