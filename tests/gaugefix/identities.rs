//! Identities of gauge fixing (physics.md), and the functionals that MILC reaches.

use plaq::ops::config::{load_gauge, LoadOptions};
use plaq::ops::observables::{plaquette, polyakov_loop, unitarity};

use super::common::{configuration, devices, over_ranks, ranks, tolerance, Lex};
use super::reference::matrix::trace;
use super::*;

fn groups_and_forms() -> Vec<(Recon, Precision)> {
    let precisions = [Precision::F64, Precision::F32];
    [Recon::R18, Recon::Su2].into_iter().flat_map(|r| precisions.map(|p| (r, p))).collect()
}

fn haar(
    device: &Device,
    extents: [usize; 4],
    (recon, precision): (Recon, Precision),
) -> GaugeField {
    let geometry = common::geometry(extents, device);
    let mut u = GaugeField::new(device, &geometry, precision, recon).unwrap();
    u.set_random(71).unwrap();
    u
}

#[test]
fn closed_loops_and_determinants_stay() {
    let extents = over_ranks([4, 6, 2, 8]);
    for device in devices() {
        for form in groups_and_forms() {
            let u = haar(&device, extents, form);
            for condition in conditions() {
                for precision in [Working::Single, Working::Mixed, Working::Double] {
                    let params =
                        GaugeFixParams { max_iterations: 40, precision, ..relaxing(condition) };
                    let v = quietly(&u, &params).gauge;
                    let what = format!("{form:?} {condition:?} {precision:?} {}", device.name());
                    let tol = tolerance(form.1, 64.0);
                    let (p, q) = (plaquette(&u).unwrap(), plaquette(&v).unwrap());
                    assert!((p.spatial - q.spatial).abs() < tol, "{what}");
                    assert!((p.temporal - q.temporal).abs() < tol, "{what}");
                    let (before, after) = (u.save_lex().unwrap(), v.save_lex().unwrap());
                    assert!(common::distance(&after, &before) > 0.1, "{what}");
                    for mu in 0..4 {
                        let (a, b) =
                            (polyakov_loop(&u, mu).unwrap(), polyakov_loop(&v, mu).unwrap());
                        assert!((a - b).norm() < tol, "{what} {mu}");
                    }
                    assert!(unitarity(&v).unwrap().worst() < tol, "{what}");
                }
            }
        }
    }
}

/// The functional never falls from one check of a run to the next, in double precision.
#[test]
fn the_functional_never_falls() {
    let extents = over_ranks([4, 4, 2, 8]);
    for device in devices() {
        for recon in [Recon::R18, Recon::Su2] {
            let u = haar(&device, extents, (recon, Precision::F64));
            for condition in conditions() {
                let methods = [1.0, 1.7, 1.99].map(|omega| (omega, Method::Overrelaxation));
                let stochastic = Method::StochasticRelaxation { probability: 0.7 };
                for (omega, method) in methods.into_iter().chain([(1.0, stochastic)]) {
                    let params = GaugeFixParams {
                        method,
                        omega,
                        max_iterations: 30,
                        check_every: 1,
                        precision: Working::Double,
                        ..relaxing(condition)
                    };
                    let (fixed, told) = watched(&u, &params);
                    // The residual functional is another one.
                    let told = &told[..31];
                    for (n, pair) in told.windows(2).enumerate() {
                        assert_eq!((pair[0].sweeps, pair[1].sweeps), (n, n + 1));
                        let [a, b] = [0, 1].map(|k| pair[k].quality.functional);
                        assert!(b > a - 1e-14, "{condition:?} {method:?} {omega}: {a} {b}");
                    }
                    let [first, last] = [0, 30].map(|k| told[k].quality);
                    assert!(last.functional > first.functional + 0.05, "{first:?} {last:?}");
                    let best = fixed.report.best.total.quality();
                    assert!((best.functional - last.functional).abs() < 1e-13, "{best:?} {last:?}");
                }
            }
        }
    }
}

/// Smooth fields are fixed to the requested violation in every precision, at the same maximum.
#[test]
fn smooth_fields_are_fixed_to_the_same_maximum() {
    fn check<const N: usize>() {
        let extents = over_ranks([4, 4, 4, 8]);
        let lat = Lattice::new(extents);
        // Links near the unit field, without a gauge transformation, have a single maximum to find.
        let links = su3::smooth_gauge::<N>(lat, 0.4, 72);
        for device in devices() {
            let geometry = common::geometry(extents, &device);
            let u = field(&device, &geometry, &links, whole::<N>());
            for condition in conditions() {
                let run = |precision, theta| {
                    let params = GaugeFixParams {
                        stop: theta_below(theta),
                        precision,
                        ..relaxing(condition)
                    };
                    let fixed = quietly(&u, &params);
                    let what = format!("SU({N}) {condition:?} {precision:?} on {}", device.name());
                    let best = fixed.report.best.clone();
                    assert!(best.total.converged && best.total.theta <= theta, "{what}");
                    assert!(best.residual.is_none_or(|r| r.converged && r.theta <= theta));
                    let g = matrices::<N>(&fixed.transformation);
                    report_is_true(lat, &links, &g, (condition, &fixed), 1e-12, &what);
                    best.total.functional
                };
                let double = run(Working::Double, 1e-20);
                let mixed = run(Working::Mixed, 1e-20);
                let single = run(Working::Single, 1e-9);
                assert!((double - mixed).abs() < 1e-12, "{condition:?} {double} {mixed}");
                assert!((double - single).abs() < 1e-7, "{condition:?} {double} {single}");
            }
        }
    }
    check::<3>();
    check::<2>();
}

/// Near the unit field the same maximum is found from any start, up to a constant transformation (in Coulomb gauge
/// one per slice), which does not change traces of links inside.
#[test]
fn the_maximum_does_not_depend_on_a_constant_transformation() {
    let extents = over_ranks([4, 4, 4, 4]);
    let lat = Lattice::new(extents);
    let device = devices().pop().unwrap();
    let geometry = common::geometry(extents, &device);
    let links = su3::smooth_gauge::<3>(lat, 0.1, 73);
    let turn = vec![su3::random_transformation::<3>(Lattice::new([1; 4]), 74)[0]; lat.volume()];
    for condition in [Condition::Landau, Condition::Coulomb { time: 2 }] {
        let run = |links: &Gauge| {
            let u = field(&device, &geometry, links, whole::<3>());
            let params = GaugeFixParams { stop: theta_below(1e-22), ..relaxing(condition) };
            gauge_from::<3>(&quietly(&u, &params).gauge.save_lex().unwrap())
        };
        let (plain, turned) = (run(&links), run(&su3::transform(lat, &links, &turn)));
        assert!(furthest(&plain, &turned) > 0.1);
        for l in (0..plain.len()).filter(|l| slowly(condition).directions().contains(&(l % 4))) {
            assert!((trace(&plain[l]) - trace(&turned[l])).norm() < 1e-9, "{condition:?} {l}");
        }
    }
}

/// The residual gauge, whose transformations are phases, changes neither F nor theta, which depend on squares of the
/// diagonal.
#[test]
fn the_residual_gauge_keeps_the_abelian_one() {
    let extents = over_ranks([4, 2, 4, 8]);
    for device in devices() {
        for recon in [Recon::R18, Recon::Su2] {
            let u = haar(&device, extents, (recon, Precision::F64));
            let run = |residual| {
                let params = GaugeFixParams {
                    max_iterations: 50,
                    check_every: 5,
                    precision: Working::Double,
                    ..relaxing(Condition::MaximallyAbelian { residual })
                };
                quietly(&u, &params)
            };
            let (without, with) = (run(false), run(true));
            let (a, b) = (without.report.best.total, with.report.best.total);
            assert!((a.functional - b.functional).abs() < 1e-13, "{a:?} {b:?}");
            assert!((a.theta - b.theta).abs() < 1e-12, "{a:?} {b:?}");
            let trace = |f: &GaugeFixed| plaquette(&f.gauge).unwrap().link_trace;
            assert!(trace(&with) > trace(&without) + 0.05);
            let residual = with.report.best.residual.unwrap().quality();
            assert!((residual.functional - trace(&with)).abs() < 1e-12);
        }
    }
}

/// Functionals reach the values F of MILC's runs, which stopped at a change of 1e-7 or 1e-8.
#[test]
fn functionals_reach_those_of_milc() {
    let coulomb = Condition::Coulomb { time: 3 };
    for (name, condition, omega, milc) in [
        ("milc.lat.sample.l4444", coulomb, 1.5, 0.894051297),
        ("milc.lat.sample.l4448", coulomb, 1.0, 0.862916095),
        ("milc.lat.sample.l4448", Condition::Landau, 1.0, 0.849082229),
    ] {
        let Some(path) = configuration(name) else { return };
        for device in devices() {
            for (storage, precision) in [
                (Precision::F64, Working::Double),
                (Precision::F64, Working::Mixed),
                (Precision::F32, Working::Single),
            ] {
                let options = LoadOptions::default();
                let loaded =
                    load_gauge(&device, &ranks(), &path, storage, Recon::R18, &options).unwrap();
                let theta = if precision == Working::Single { 1e-10 } else { 1e-14 };
                let params = GaugeFixParams {
                    omega,
                    stop: theta_below(theta),
                    precision,
                    ..relaxing(condition)
                };
                let best = quietly(&loaded.gauge, &params).report.best.total;
                let f = best.functional;
                println!("{name} {condition:?} {precision:?} {}: {f:.9} {milc}", device.name());
                assert!(best.converged && f >= milc - 1e-6, "{best:?}");
            }
        }
    }
}
