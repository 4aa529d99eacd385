//! Functional and violation on a random start that other codes can make, too, after a number of sweeps of
//! overrelaxation in double precision with omega 1.7 rounded to single.

use super::common::{devices, ranks};
use super::*;
use reference::hot_start::hot_start;

/// Number of sweeps, F of Eq. (4) and theta of Eq. (7), from an independent program in double precision.
type Row = (usize, f64, f64);
const SMALL: [Row; 1] = [(20, 0.58326020304184, 1.5544392394e-2)];
const LARGE: [Row; 3] = [
    (1, 0.36941206350872, 2.2080741324),
    (10, 0.57199677440655, 8.4967741969e-2),
    (100, 0.59023094451115, 9.0222277853e-4),
];

fn rows_come_out(device: &Device, extents: [usize; 4], rows: &[Row]) {
    let geometry = common::geometry(extents, device);
    let links = hot_start(Lattice::new(extents), 1);
    let u = field(device, &geometry, &links, whole::<3>());
    for &(sweeps, functional, theta) in rows {
        let params = GaugeFixParams {
            omega: f64::from(1.7f32),
            stop: theta_below(1e-30),
            max_iterations: sweeps,
            precision: Working::Double,
            ..relaxing(Condition::Landau)
        };
        let total = quietly(&u, &params).report.best.total;
        assert_eq!(total.iterations, sweeps);
        let off = |found: f64, expected: f64| (found / expected - 1.0).abs();
        let (f, t) = (off(total.functional, functional), off(total.theta, theta));
        println!("{extents:?} {sweeps} on {}: F {f:e}, theta {t:e}", device.name());
        assert!(f < 1e-10 && t < 1e-10, "{extents:?} after {sweeps}: {:?}", total.quality());
    }
}

#[test]
fn a_known_hot_start_gives_known_numbers() {
    for device in devices() {
        rows_come_out(&device, [8; 4], &SMALL);
    }
}

/// Overrelaxation of a large random start gives the known numbers; a CPU computes only the row in the middle.
#[test]
fn a_large_hot_start_gives_known_numbers() {
    if ranks().size() > 1 {
        println!("skipped: every rank would make the whole lattice");
        return;
    }
    let Some(device) = devices().pop() else { return };
    let rows = if device.is_cpu() { &LARGE[1..2] } else { &LARGE[..] };
    rows_come_out(&device, [32; 4], rows);
}
