//! Tests of Fourier-accelerated descents against the reference.

use plaq::ops::config::{load_gauge, LoadOptions};

use super::common::ranks;
use super::reference::descent;
use super::reference::matrix::trace;
use super::*;

const ALPHA: f64 = 0.08;

fn methods(alpha: f64) -> [Method; 2] {
    [Method::FourierDescent { alpha }, Method::FourierCg { alpha }]
}

/// The gauges for which there are descents: two on a GPU, which compiles kernels for each.
fn gauges() -> Vec<Condition> {
    let coulomb = (0..4).map(|time| Condition::Coulomb { time });
    coulomb.chain([Condition::Landau]).collect()
}
fn tested(device: &Device, condition: Condition) -> bool {
    device.is_cpu() || [Condition::Landau, Condition::Coulomb { time: 1 }].contains(&condition)
}

fn descending(condition: Condition, method: Method) -> GaugeFixParams {
    let precision = Working::Double;
    GaugeFixParams { method, check_every: 1, precision, ..GaugeFixParams::new(condition) }
}

/// Each step from the same start with the same alpha agrees with the reference.
fn steps_match<const N: usize>(extents: [usize; 4]) {
    const STEPS: usize = 3;
    let lat = Lattice::new(extents);
    let links = rough::<N>(lat, 0.4, 61);
    for condition in gauges() {
        let stepped = |links: &GaugeN<N>| {
            let mut all = vec![vec![one(); lat.volume()]];
            for n in 0..STEPS {
                let mut g = all[n].clone();
                descent::step(lat, links, &mut g, slowly(condition), ALPHA / 2.0, true);
                all.push(g);
            }
            all
        };
        let expected = stepped(&links);
        // The functional rises with every step, so that no step is halved.
        let f = |g: &Vec<Matrix<N>>| slow::quality_of(lat, &links, g, slowly(condition)).functional;
        let rises: Vec<f64> = expected.iter().map(f).collect();
        assert!(rises.windows(2).all(|f| f[1] > f[0]), "{rises:?}");
        let rounding = |p: Precision| {
            let moved = stepped(&shaken(&links, 4.0 * p.epsilon()));
            furthest(&moved[STEPS], &expected[STEPS])
        };
        let serves = |d: &Device| serves(d, extents) && tested(d, condition);
        for device in devices().into_iter().filter(serves) {
            let geometry = common::geometry(extents, &device);
            let u = field(&device, &geometry, &links, whole::<N>());
            for (working, p) in
                [(Working::Double, Precision::F64), (Working::Single, Precision::F32)]
            {
                let params = GaugeFixParams {
                    stop: theta_below(1e-30),
                    max_iterations: STEPS,
                    precision: working,
                    ..descending(condition, Method::FourierDescent { alpha: ALPHA / 2.0 })
                };
                let (fixed, told) = watched(&u, &params);
                let what = format!("SU({N}) {extents:?} {condition:?} {p:?} on {}", device.name());
                let total = fixed.report.best.total;
                assert_eq!((total.iterations, total.converged), (STEPS, false), "{what}");
                let g = matrices::<N>(&fixed.transformation);
                let (off, allowed) = (furthest(&g, &expected[STEPS]), 10.0 * rounding(p));
                println!("{what}: {off:e} of {allowed:e}");
                assert!(
                    off < allowed && allowed < 1e5 * p.epsilon(),
                    "{what}: {off:e} {allowed:e}"
                );
                for (told, f) in told.iter().zip(&rises) {
                    assert!((told.quality.functional - f).abs() < 64.0 * p.epsilon(), "{what}");
                }
                let tol = tolerance(Precision::F64, 64.0);
                report_is_true(lat, &links, &g, (condition, &fixed), tol, &what);
                assert!(g.iter().all(|m| su3::unitarity_violation(m) < tol), "{what}");
            }
        }
    }
}

#[test]
fn descents_match_the_reference_su3() {
    more_lattices().into_iter().for_each(steps_match::<3>);
}

#[test]
fn descents_match_the_reference_su2() {
    more_lattices().into_iter().for_each(steps_match::<2>);
}

/// A small step along the accelerated gradient raises the sum of traces by alpha sum tr Delta D,
/// with D = Delta times p2max / p^2.
#[test]
fn the_gradient_is_the_derivative_of_the_functional() {
    let lat = Lattice::new([4, 6, 4, 8]);
    let links = rough::<3>(lat, 0.4, 62);
    for condition in [Condition::Landau, Condition::Coulomb { time: 1 }] {
        let main = slowly(condition);
        let directions = main.directions();
        let delta: Vec<Matrix<3>> =
            (0..lat.volume()).map(|x| slow::delta(lat, &links, main, x)).collect();
        let mut d = descent::fourier(lat, &delta, -1.0);
        for (k, m) in d.iter_mut().enumerate() {
            let p2 = descent::momentum_squared(lat, &directions, k);
            let factor = if p2 > 0.0 { 4.0 * directions.len() as f64 / p2 } else { 0.0 };
            *m = scale(C::new(factor / lat.volume() as f64, 0.0), m);
        }
        let d = descent::fourier(lat, &d, 1.0);
        let slope: f64 = delta.iter().zip(&d).map(|(a, b)| trace(&mul(a, b)).re).sum();
        let slope = slope / (3 * directions.len() * lat.volume()) as f64;
        for device in devices() {
            let geometry = common::geometry(lat.extents, &device);
            let u = field(&device, &geometry, &links, whole::<3>());
            let alpha = 1e-6;
            let params = GaugeFixParams {
                max_iterations: 1,
                ..descending(condition, Method::FourierDescent { alpha })
            };
            let (_, told) = watched(&u, &params);
            let rise = (told[1].quality.functional - told[0].quality.functional) / alpha;
            // The slack is for rounding of the two functionals and for the second derivative.
            assert!((rise - slope).abs() < 1e-4 * slope, "{condition:?}: {rise} {slope}");
        }
    }
}

/// Descents from a rough start never lower the functional, with suitable steps and with steps that are much too long.
#[test]
fn descents_never_lower_the_functional() {
    let extents = [4, 4, 2, 8];
    for device in devices() {
        for recon in [Recon::R18, Recon::Su2] {
            let geometry = common::geometry(extents, &device);
            let mut u = GaugeField::new(&device, &geometry, Precision::F64, recon).unwrap();
            u.set_random(71).unwrap();
            for condition in gauges().into_iter().filter(|c| tested(&device, *c)) {
                for method in [ALPHA, 1.5].into_iter().flat_map(methods) {
                    let params =
                        GaugeFixParams { max_iterations: 30, ..descending(condition, method) };
                    let (fixed, told) = watched(&u, &params);
                    for (n, pair) in told.windows(2).enumerate() {
                        assert_eq!((pair[0].sweeps, pair[1].sweeps), (n, n + 1));
                        let [a, b] = [0, 1].map(|k| pair[k].quality.functional);
                        assert!(b > a - 1e-14, "{condition:?} {method:?}: {a} {b}");
                    }
                    let [first, last] = [&told[0], &told[told.len() - 1]].map(|t| t.quality);
                    assert!(last.functional > first.functional + 0.05, "{first:?} {last:?}");
                    let best = fixed.report.best.total.quality();
                    assert!((best.functional - last.functional).abs() < 1e-13, "{best:?} {last:?}");
                }
            }
        }
    }
}

/// Descents near the unit field, where there is one maximum, reach the maximum of overrelaxation, in every precision.
#[test]
fn descents_reach_the_maximum_of_overrelaxation() {
    fn check<const N: usize>() {
        let extents = [4, 6, 4, 8];
        let lat = Lattice::new(extents);
        let links = su3::smooth_gauge::<N>(lat, 0.4, 72);
        for device in devices() {
            let geometry = common::geometry(extents, &device);
            let u = field(&device, &geometry, &links, whole::<N>());
            for condition in gauges().into_iter().filter(|c| tested(&device, *c)) {
                let run = |method, precision, theta| {
                    let stop = theta_below(theta);
                    let params =
                        GaugeFixParams { stop, precision, ..descending(condition, method) };
                    let fixed = quietly(&u, &params);
                    let what = format!("SU({N}) {condition:?} {method:?} {precision:?}");
                    let best = fixed.report.best.total;
                    assert!(best.converged && best.theta <= theta, "{what}: {best:?}");
                    let g = matrices::<N>(&fixed.transformation);
                    report_is_true(lat, &links, &g, (condition, &fixed), 1e-12, &what);
                    best.functional
                };
                let f = run(Method::Overrelaxation, Working::Double, 1e-20);
                for method in methods(ALPHA) {
                    for (precision, theta, tol) in [
                        (Working::Double, 1e-20, 1e-12),
                        (Working::Mixed, 1e-20, 1e-12),
                        (Working::Single, 1e-9, 1e-7),
                    ] {
                        let found = run(method, precision, theta);
                        assert!((f - found).abs() < tol, "{condition:?} {method:?} {f} {found}");
                    }
                }
            }
        }
    }
    check::<3>();
    check::<2>();
}

/// Conjugate gradients reach the same violation on a thermalised field in fewer iterations than overrelaxation.
#[test]
fn conjugate_gradients_take_fewer_iterations_than_overrelaxation() {
    for device in devices() {
        let u = quenched(&device);
        for condition in [Condition::Landau, Condition::Coulomb { time: 3 }] {
            let [slow, descent, cg] = [
                Method::Overrelaxation,
                Method::FourierDescent { alpha: ALPHA },
                Method::FourierCg { alpha: ALPHA },
            ]
            .map(|method| {
                let best = quietly(&u, &descending(condition, method)).report.best.total;
                println!("{condition:?} {method:?} {}: {best:?}", device.name());
                assert!(best.converged);
                best.iterations
            });
            assert!(2 * cg < slow && cg < descent, "{condition:?}: {slow} {descent} {cg}");
        }
    }
}

fn quenched(device: &Device) -> GaugeField {
    let path = std::path::Path::new("tests/data/quenched-b6.0-8x8x8x8.nersc");
    let (options, form) = (LoadOptions::default(), (Precision::F64, Recon::R18));
    load_gauge(device, &ranks(), path, form.0, form.1, &options).unwrap().gauge
}

/// Steps of steepest descent that are too long to converge are shortened, also if single precision hides that the
/// functional falls.
#[test]
fn descents_with_long_steps_converge() {
    for device in devices() {
        let u = quenched(&device);
        for condition in [Condition::Landau, Condition::Coulomb { time: 3 }] {
            for precision in [Working::Double, Working::Mixed] {
                let run = |alpha| {
                    let method = Method::FourierDescent { alpha };
                    let params = GaugeFixParams { precision, ..descending(condition, method) };
                    let best = quietly(&u, &params).report.best.total;
                    println!("{condition:?} {precision:?} {alpha}: {best:?}");
                    assert!(best.converged, "{condition:?} {precision:?} {alpha}: {best:?}");
                    best.iterations
                };
                let good = run(ALPHA);
                for alpha in [0.2, 0.5] {
                    let found = run(alpha);
                    assert!(found < 3 * good / 2, "{condition:?} {alpha}: {found} {good}");
                }
            }
        }
    }
}

/// The automatic method is one of the others, and gives the same result as asking for that one.
#[test]
fn the_automatic_method_is_one_of_the_others() {
    for device in devices() {
        let u = quenched(&device);
        let descends = device.is_cpu() || ranks().size() == 1;
        let cg = (Algorithm::FourierCg, Method::FourierCg { alpha: ALPHA });
        let relaxation = (Algorithm::Overrelaxation, Method::Overrelaxation);
        for (condition, (algorithm, method)) in [
            (Condition::Landau, if descends { cg } else { relaxation }),
            (Condition::Coulomb { time: 3 }, if descends { cg } else { relaxation }),
            (Condition::MaximallyAbelian { residual: false }, relaxation),
        ] {
            let params = GaugeFixParams::new(condition);
            let chosen = quietly(&u, &params);
            let asked = quietly(&u, &GaugeFixParams { method, ..params });
            let what = format!("{condition:?} on {}", device.name());
            assert_eq!(chosen.report.method, algorithm, "{what}");
            assert_eq!(asked.report.method, algorithm, "{what}");
            assert!(chosen.report.best.total.converged, "{what}");
            assert!(matrices::<3>(&chosen.transformation) == matrices::<3>(&asked.transformation));
        }
    }
}

/// The callback is called every `check_every` steps, and with the result of the last step.
#[test]
fn descents_tell_of_their_last_step() {
    for device in devices() {
        let u = quenched(&device);
        let method = Method::FourierCg { alpha: ALPHA };
        let params = GaugeFixParams { check_every: 10, ..descending(Condition::Landau, method) };
        let (fixed, told) = watched(&u, &params);
        let best = fixed.report.best.total;
        let steps: Vec<usize> = told.iter().map(|t| t.sweeps).collect();
        assert!(best.converged && best.iterations % 10 != 0, "{best:?}");
        let mut expected: Vec<usize> = (0..best.iterations).step_by(10).collect();
        expected.push(best.iterations);
        assert_eq!(steps, expected);
        assert_eq!(told.last().unwrap().quality, best.quality());
    }
}

/// The result of a slice does not depend on the others, nor on when they end.
#[test]
fn slices_descend_on_their_own() {
    for (extents, time) in [([4, 6, 4, 8], 3), ([8, 4, 4, 2], 0), ([4, 6, 2, 4], 1)] {
        let extents = over_ranks(extents);
        let lat = Lattice::new(extents);
        let fields = [0.05, 0.4].map(|e| rough::<3>(lat, e, 63));
        let other = rough::<3>(lat, 0.7, 64);
        let at = |l: usize| lat.coords(l / 4)[time];
        let kept = [1, extents[time] - 1];
        let links: Gauge = (0..4 * lat.volume()).map(|l| fields[at(l) % 2][l]).collect();
        let changed: Gauge = (0..4 * lat.volume())
            .map(|l| if kept.contains(&at(l)) { links[l] } else { other[l] })
            .collect();
        for device in devices().into_iter().filter(|d| d.is_cpu() || time == 3) {
            let geometry = common::geometry(extents, &device);
            for method in methods(ALPHA) {
                let run = |links: &Gauge| {
                    let u = field(&device, &geometry, links, whole::<3>());
                    let condition = Condition::Coulomb { time };
                    let fixed = quietly(&u, &descending(condition, method));
                    let best = fixed.report.best.clone();
                    assert!(best.total.converged);
                    let g = matrices::<3>(&fixed.transformation);
                    report_is_true(lat, links, &g, (condition, &fixed), 1e-12, "slices");
                    (g, best.slices)
                };
                let ((g, slices), (h, others)) = (run(&links), run(&changed));
                let fewest = slices.iter().map(|s| s.iterations).min().unwrap();
                assert!(slices.iter().any(|s| s.iterations > fewest + 2), "{slices:?}");
                for x in (0..lat.volume()).filter(|x| kept.contains(&lat.coords(*x)[time])) {
                    assert!(g[x] == h[x], "{extents:?} {time} {method:?} site {x}");
                }
                for c in kept {
                    assert_eq!(slices[c], others[c], "{extents:?} {time} {method:?}");
                }
            }
        }
    }
}

#[test]
fn descents_refuse_what_they_cannot_do() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([4; 4]), &device);
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_random(86).unwrap();
        let refused = |condition, method, status: Status, name: &str| {
            let params = GaugeFixParams { max_iterations: 1, ..descending(condition, method) };
            let error = fix_gauge(&u, &params, &mut |_| panic!("refused first")).unwrap_err();
            assert_eq!(error.status, status, "{error}");
            assert!(error.to_string().contains(name), "{name}: {error}");
        };
        for alpha in [0.0, -0.1, f64::NAN, f64::INFINITY] {
            for method in methods(alpha) {
                refused(Condition::Landau, method, Status::BadParameter, "alpha");
            }
        }
        for method in methods(ALPHA) {
            let abelian = Condition::MaximallyAbelian { residual: false };
            refused(abelian, method, Status::Unsupported, "overrelaxation");
        }
    }
}
