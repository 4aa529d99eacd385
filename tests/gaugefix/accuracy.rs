//! Effects of precision on functional and violation (culgt-2012, section 4.5): bounds follow from the rounding of g
//! alone, since links are only read.

use super::common::{devices, over_ranks};
use super::*;

/// Half a unit in the last place of single-precision numbers near one.
const SINGLE: f64 = f32::EPSILON as f64 / 2.0;
const DOUBLE: f64 = f64::EPSILON / 2.0;

/// The violation that rounding leaves. With g exp(i w^a T^a), where each w has size `rounding`, Delta^a is 8 w(x)
/// minus w of the eight neighbours, 72 w^2 in square; there are eight components, and tr T T = 1/2.
fn floor(rounding: f64) -> f64 {
    8.0 * 72.0 / 2.0 / 3.0 * rounding * rounding
}

/// Estimate how far F can be below its maximum: Delta^a (-D^2)^-1 Delta^a / (16 N V), with the smallest eigenvalue of
/// the Laplacian (D^2 differs little from it near unit links).
fn below_maximum(extents: [usize; 4], theta: f64) -> f64 {
    let longest = *extents.iter().max().unwrap() as f64;
    theta / (8.0 * 4.0 * (std::f64::consts::PI / longest).sin().powi(2))
}

#[test]
fn rounding_bounds_functional_violation_and_unitarity() {
    let extents = over_ranks([4, 4, 4, 8]);
    let lat = Lattice::new(extents);
    let links: Gauge = su3::smooth_gauge::<3>(lat, 0.1, 91).iter().map(su3::reunitarise).collect();
    for device in devices() {
        let geometry = common::geometry(extents, &device);
        let u = field(&device, &geometry, &links, whole::<3>());
        let run = |precision, max_iterations| {
            let params = GaugeFixParams {
                precision,
                max_iterations,
                check_every: 10,
                stop: theta_below(1e-40),
                ..relaxing(Condition::Landau)
            };
            watched(&u, &params)
        };
        let what = device.name();
        let (double, history) = run(Working::Double, 2000);
        let top = double.report.best.total.quality();
        assert!(top.theta < floor(DOUBLE), "{what} {top:?}");
        assert!(history
            .windows(2)
            .all(|p| p[1].quality.functional > p[0].quality.functional - 16.0 * DOUBLE));

        let (mixed, _) = run(Working::Mixed, 2000);
        let mixed = mixed.report.best.total.quality();
        assert!(mixed.theta < floor(DOUBLE), "{what} {mixed:?}");
        assert!((mixed.functional - top.functional).abs() < 16.0 * DOUBLE, "{what} {mixed:?}");

        // The job in single precision ends by itself, and many sweeps later its result is no worse.
        let (single, history) = run(Working::Single, 20_000);
        assert!(single.report.best.total.iterations < 2000, "{what} {:?}", single.report);
        let ended = single.report.best.total.quality();
        assert!(ended.theta < floor(SINGLE), "{what} {ended:?}");
        let missing = top.functional - ended.functional;
        let rounding = 16.0 * DOUBLE;
        assert!(missing > -rounding, "{what} {missing:e}");
        // On links near the unit matrix the distance to the maximum is at most twice what the free Laplacian gives.
        let allowed = 2.0 * below_maximum(extents, ended.theta);
        assert!(missing < allowed + rounding, "{what} {missing:e} {allowed:e}");
        // The functional as measured in single precision: a trace of two products is off by a few roundings, and so are
        // its changes.
        for pair in history.windows(2) {
            let rise = pair[1].quality.functional - pair[0].quality.functional;
            assert!(rise > -4.0 * SINGLE, "{what} {pair:?}");
        }
        let measured = history.last().unwrap().quality.functional;
        assert!((measured - ended.functional).abs() < 4.0 * SINGLE, "{what} {measured} {ended:?}");

        // The links are as close to SU(3) as one transformation in double leaves them, after any number of sweeps:
        // three products of three terms each, and the rounding of g.
        for precision in [Working::Single, Working::Mixed, Working::Double] {
            for sweeps in [10, 2000] {
                let fixed = run(precision, sweeps).0.gauge;
                let off = plaq::ops::observables::unitarity(&fixed).unwrap().worst();
                assert!(off < 64.0 * DOUBLE, "{what} {precision:?} {sweeps}: {off:e}");
            }
        }
    }
}
