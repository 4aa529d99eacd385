//! Tests of when gauge fixing ends: tolerances, limits, slices, copies, the callback, refusals.

use super::common::{devices, over_ranks, shared, Lex};
use super::*;
use plaq::ops::gaugefix::{CopyReport, Fixed};

/// The first number of sweeps after which the reference satisfies `done`, given the qualities
/// before and after.
fn sweeps_until<const N: usize>(
    lat: Lattice,
    links: &GaugeN<N>,
    params: &GaugeFixParams,
    sites: &[usize],
    done: impl Fn(&slow::Quality, &slow::Quality) -> bool,
) -> usize {
    let condition = slowly(params.condition);
    let mut g = vec![one(); lat.volume()];
    let quality =
        |g: &[Matrix<N>]| slow::quality(lat, &su3::transform(lat, links, g), condition, sites);
    let mut before = quality(&g);
    for n in 1..params.max_iterations {
        slow::sweep(lat, links, &mut g, condition, slow::Step::FirstOrder(params.omega));
        let now = quality(&g);
        if n % params.check_every == 0 {
            if done(&before, &now) {
                return n;
            }
            before = now;
        }
    }
    panic!("the reference does not come to an end");
}

fn base(condition: Condition) -> GaugeFixParams {
    GaugeFixParams {
        omega: 1.5,
        max_iterations: 500,
        check_every: 1,
        precision: Working::Double,
        ..relaxing(condition)
    }
}

#[test]
fn all_criteria_stop_where_the_reference_does() {
    let extents = over_ranks([4, 4, 4, 4]);
    let lat = Lattice::new(extents);
    let links = su3::smooth_gauge::<3>(lat, 0.4, 81);
    let all: Vec<usize> = (0..lat.volume()).collect();
    for condition in [Condition::Landau, Condition::MaximallyAbelian { residual: false }] {
        for check_every in [1, 7] {
            // Each criterion alone, and all together, when the last one to be met counts.
            for (theta, theta_max, change) in [
                (1e-6, 0.0, 0.0),
                (0.0, 1e-6, 0.0),
                (0.0, 0.0, 1e-6),
                (1e-2, 0.0, 1e-6),
                (1e-6, 0.0, 1e-3),
                (1e-6, 3e-6, 1e-3),
            ] {
                let stop = Stop { theta, theta_max, change };
                let params = GaugeFixParams { stop, check_every, ..base(condition) };
                let expected = sweeps_until(lat, &links, &params, &all, |before, now| {
                    let rise = now.functional - before.functional;
                    (theta == 0.0 || now.theta <= theta)
                        && (theta_max == 0.0 || now.theta_max <= theta_max)
                        && (change == 0.0 || rise <= change * check_every as f64)
                });
                assert!(expected > check_every);
                for device in devices() {
                    let geometry = common::geometry(extents, &device);
                    let u = field(&device, &geometry, &links, whole::<3>());
                    let (fixed, told) = watched(&u, &params);
                    let total = fixed.report.best.total;
                    assert!(total.converged && !fixed.report.stopped);
                    assert_eq!(total.iterations, expected, "{condition:?} {stop:?} {check_every}");
                    let checks: Vec<usize> = told.iter().map(|p| p.sweeps).collect();
                    let wanted: Vec<usize> = (0..=expected).step_by(check_every).collect();
                    assert_eq!(checks, wanted);
                    assert!(told.iter().all(|p| p.copy == 0 && p.temperature.is_none()));
                }
            }
        }
    }
}

/// Every slice ends by itself, and is not changed afterwards.
#[test]
fn slices_stop_one_by_one() {
    for (extents, time) in
        [([4, 6, 2, 8], 3), ([8, 4, 4, 4], 0), ([4, 6, 4, 4], 1), ([2, 4, 12, 4], 2)]
    {
        let extents = over_ranks(extents);
        let lat = Lattice::new(extents);
        // Slices of different roughness need different numbers of sweeps.
        let fields: Vec<Gauge> =
            [1e-4, 0.05, 0.4].map(|e| su3::smooth_gauge::<3>(lat, e, 82)).into();
        let links: Gauge =
            (0..4 * lat.volume()).map(|l| fields[lat.coords(l / 4)[time] * 5 % 3][l]).collect();
        let condition = Condition::Coulomb { time };
        let params = GaugeFixParams { stop: theta_below(1e-8), ..base(condition) };
        let expected = shared(extents[time], 1, |at| {
            let sites = slow::slice(lat, time, at);
            vec![sweeps_until(lat, &links, &params, &sites, |_, now| now.theta <= 1e-8) as f64]
        });
        let expected: Vec<usize> = expected.into_iter().map(|n| n as usize).collect();
        let max = *expected.iter().max().unwrap();
        assert!(expected.iter().any(|n| n + 5 < max), "{expected:?}");
        let mut g = vec![one(); lat.volume()];
        let mut frozen = g.clone();
        for n in 1..=max {
            slow::sweep(lat, &links, &mut g, slowly(condition), slow::Step::FirstOrder(1.5));
            for x in (0..lat.volume()).filter(|&x| expected[lat.coords(x)[time]] >= n) {
                frozen[x] = g[x];
            }
        }
        for device in devices() {
            let geometry = common::geometry(extents, &device);
            let u = field(&device, &geometry, &links, whole::<3>());
            let fixed = quietly(&u, &params);
            let best = &fixed.report.best;
            let found: Vec<usize> = best.slices.iter().map(|s| s.iterations).collect();
            assert_eq!(found, expected, "{extents:?} {time} on {}", device.name());
            assert!(best.total.converged && best.slices.iter().all(|s| s.converged));
            assert_eq!(best.total.iterations, max);
            let g = matrices::<3>(&fixed.transformation);
            assert!(furthest(&g, &frozen) < 1e-10, "{extents:?} {time} on {}", device.name());
            report_is_true(lat, &links, &g, (condition, &fixed), 1e-12, "slices");
        }
    }
}

/// A run that does not converge ends at the requested number of sweeps, reports it, and returns the field of that
/// sweep.
#[test]
fn limits_are_kept_and_reported() {
    let extents = over_ranks([4, 4, 4, 4]);
    let lat = Lattice::new(extents);
    let links = rough::<3>(lat, 0.4, 83);
    for device in devices() {
        let geometry = common::geometry(extents, &device);
        let u = field(&device, &geometry, &links, whole::<3>());
        for condition in conditions() {
            for precision in [Working::Single, Working::Mixed, Working::Double] {
                for (max_iterations, check_every) in [(1, 1), (6, 3), (5, 10), (7, 3)] {
                    let params = GaugeFixParams {
                        max_iterations,
                        check_every,
                        precision,
                        stop: theta_below(1e-20),
                        ..base(condition)
                    };
                    let fixed = quietly(&u, &params);
                    let best = &fixed.report.best;
                    let what =
                        format!("{condition:?} {precision:?} {max_iterations} {check_every}");
                    assert!(!best.total.converged && !fixed.report.stopped, "{what}");
                    assert_eq!(best.total.iterations, max_iterations, "{what}");
                    assert!(best.slices.iter().all(|s| s.iterations == max_iterations), "{what}");
                    assert!(best.residual.is_none_or(|r| r.iterations == max_iterations));
                    let g = matrices::<3>(&fixed.transformation);
                    report_is_true(lat, &links, &g, (condition, &fixed), 1e-12, &what);
                }
            }
        }
        // A tolerance that single precision cannot reach: the job ends by itself.
        let params = GaugeFixParams {
            precision: Working::Single,
            stop: theta_below(1e-22),
            max_iterations: 100_000,
            ..base(Condition::Landau)
        };
        let best = quietly(&u, &params).report.best.total;
        assert!(!best.converged && best.iterations < 10_000, "{best:?}");
        assert!(best.theta < 1e-10, "{best:?}");
    }
}

/// A field that is already fixed takes no sweep.
#[test]
fn a_fixed_field_is_left_alone() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([4; 4]), &device);
        for recon in [Recon::R18, Recon::Su2] {
            let mut u = GaugeField::new(&device, &geometry, Precision::F64, recon).unwrap();
            u.set_unit().unwrap();
            for condition in conditions() {
                let fixed = quietly(&u, &GaugeFixParams::new(condition));
                let total = fixed.report.best.total;
                assert!(total.converged && total.iterations == 0, "{total:?}");
                assert_eq!(
                    total.quality(),
                    Quality { functional: 1.0, theta: 0.0, theta_max: 0.0 }
                );
                assert!(fixed.gauge.save_lex().unwrap() == u.save_lex().unwrap());
            }
        }
    }
}

#[test]
fn the_callback_ends_it() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([4; 4]), &device);
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_random(84).unwrap();
        for condition in conditions() {
            let params = GaugeFixParams { copies: 3, check_every: 2, ..base(condition) };
            let mut calls = 0;
            let fixed = fix_gauge(&u, &params, &mut |progress| {
                calls += 1;
                progress.sweeps >= 6
            });
            let report = fixed.unwrap().report;
            assert!(report.stopped && report.copies.len() == 1 && !report.best.total.converged);
            // The callback asks to end at sweep 6, and the job ends with the next check or the one after.
            let sweeps = report.best.total.iterations;
            assert!((6..=8).contains(&sweeps), "{condition:?}: {sweeps} sweeps, {calls} calls");
        }
    }
}

/// The best of several copies is returned, in Coulomb gauge slice by slice.
#[test]
fn the_best_copy_is_returned() {
    let extents = over_ranks([4, 4, 4, 4]);
    let lat = Lattice::new(extents);
    let links = su3::haar_gauge::<3>(lat, 85);
    for device in devices() {
        let geometry = common::geometry(extents, &device);
        let u = field(&device, &geometry, &links, whole::<3>());
        for condition in conditions() {
            let params = GaugeFixParams {
                copies: 4,
                omega: 1.7,
                check_every: 10,
                max_iterations: 20_000,
                stop: theta_below(1e-12),
                ..base(condition)
            };
            let fixed = quietly(&u, &params);
            let report = &fixed.report;
            assert_eq!(report.copies.len(), 4);
            assert!(report.copies.iter().all(|c| c.total.converged), "{condition:?}");
            let of = |k: usize| report.copies[k].total.functional;
            let top = (0..4).map(of).fold(0.0, f64::max);
            let low = (0..4).map(of).fold(1.0, f64::min);
            // Copies of a rough field end in different maxima.
            assert!(top - low > 1e-5, "{condition:?}: {low} {top}");
            assert_eq!(of(report.best_copy), top, "{condition:?} {report:?}");
            if let Condition::Coulomb { .. } = condition {
                for (at, best) in report.best.slices.iter().enumerate() {
                    let slices = report.copies.iter().map(|c| c.slices[at].functional);
                    assert_eq!(best.functional, slices.fold(0.0, f64::max));
                }
                assert!(report.best.total.functional >= top);
            } else {
                assert_eq!(report.best, report.copies[report.best_copy]);
            }
            let g = matrices::<3>(&fixed.transformation);
            report_is_true(lat, &links, &g, (condition, &fixed), 1e-12, "copies");
            // The first copy is that of a job with one copy, unless that also starts from a random transformation.
            let one = quietly(&u, &GaugeFixParams { copies: 1, ..params }).report;
            let timeless = |copy: &CopyReport| {
                let total = Fixed { seconds: 0.0, ..copy.total };
                CopyReport { total, ..copy.clone() }
            };
            assert_eq!(timeless(&one.best), timeless(&report.copies[0]), "{condition:?}");
            let random = GaugeFixParams { copies: 1, random_start: true, ..params };
            let random = quietly(&u, &random).report;
            assert!(timeless(&random.best) != timeless(&one.best), "{condition:?}");
            let seconds: f64 = report.copies.iter().map(|c| c.total.seconds).sum();
            assert!(
                report.copies.iter().all(|c| c.total.seconds > 0.0) && seconds <= report.seconds
            );
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4; 4]), device);
    let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_random(86).unwrap();
    let good = GaugeFixParams { max_iterations: 1, ..relaxing(Condition::Landau) };
    let schedule = plaq::ops::gaugefix::Schedule { steps: 2, ..Default::default() };
    let nan = f64::NAN;
    let bad: Vec<(GaugeFixParams, &str)> = [0.99, 2.0, -1.0, nan, f64::INFINITY]
        .map(|omega| (GaugeFixParams { omega, ..good }, "omega"))
        .into_iter()
        .chain([-1.0, nan, f64::INFINITY].into_iter().flat_map(|x| {
            [
                (Stop { theta: x, theta_max: 0.0, change: 1.0 }, "theta"),
                (Stop { theta: 1.0, theta_max: x, change: 0.0 }, "theta_max"),
                (Stop { theta: 1.0, theta_max: 0.0, change: x }, "change"),
            ]
            .map(|(stop, name)| (GaugeFixParams { stop, ..good }, name))
        }))
        .chain([1.0, -0.1, nan].map(|probability| {
            let method = Method::StochasticRelaxation { probability };
            (GaugeFixParams { method, ..good }, "probability")
        }))
        .chain([(0.1, 0.2), (1.0, 0.0), (1.0, -1.0), (nan, 1.0), (1.0, nan)].map(|(hot, cold)| {
            let schedule = plaq::ops::gaugefix::Schedule { hot, cold, ..schedule };
            (GaugeFixParams { method: Method::Annealing(schedule), ..good }, "temperatures")
        }))
        .chain([
            (GaugeFixParams { stop: theta_below(0.0), ..good }, "stop"),
            (GaugeFixParams { max_iterations: 0, ..good }, "max_iterations"),
            (GaugeFixParams { check_every: 0, ..good }, "check_every"),
            (GaugeFixParams { copies: 0, ..good }, "copies"),
            (GaugeFixParams { condition: Condition::Coulomb { time: 4 }, ..good }, "direction"),
        ])
        .collect();
    for (params, name) in bad {
        let error = fix_gauge(&u, &params, &mut |_| panic!("refused first")).unwrap_err();
        assert_eq!(error.status, Status::BadParameter, "{name}: {error}");
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
    assert!(fix_gauge(&u, &good, &mut |_| false).is_ok());
}

#[test]
fn bad_links_are_refused() {
    for device in devices() {
        let extents = over_ranks([4; 4]);
        let geometry = common::geometry(extents, &device);
        let params = GaugeFixParams::new(Condition::Landau);
        let status = |u: &GaugeField| {
            fix_gauge(u, &params, &mut |_| panic!("refused first")).unwrap_err().status
        };
        let mut half = GaugeField::new(&device, &geometry, Precision::F16, Recon::R18).unwrap();
        half.set_unit().unwrap();
        assert_eq!(status(&half), Status::Unsupported);
        let links = su3::haar_gauge::<3>(Lattice::new(extents), 87);
        for precision in [Precision::F64, Precision::F32] {
            for (value, expected) in [
                (C::new(f64::NAN, 0.0), Status::NotFinite),
                (C::new(0.0, f64::INFINITY), Status::NotFinite),
                (C::new(1.5, 0.0), Status::NotUnitary),
            ] {
                let mut broken = links.clone();
                let at = broken.len() - 7;
                broken[at][1][2] = value;
                let u = field(&device, &geometry, &broken, (precision, Recon::R18));
                assert_eq!(status(&u), expected, "{precision:?} {value}");
            }
        }
    }
}
