//! Tests of tolerances and limits of eigensolvers: default tolerances, refused values, and that searches end.

use std::ops::ControlFlow;

use crate::eigen::{dense, links, square, verify, SMALL};
use crate::{common, reference};

use common::{devices, over_ranks};
use plaq::error::Status;
use plaq::fields::Precision;
use plaq::solvers::{self, EigenParams, End, Filter, StoppedBy};
use reference::{su3, Gauge, Lattice};

/// Searches converge in both precisions to the default tolerance, which depends on the precision; smaller tolerances
/// are refused.
#[test]
fn the_tolerance_goes_by_the_precision() {
    let extents = over_ranks([4, 2, 2, 4]);
    let u = su3::smooth_gauge(Lattice::new(extents), 0.5, 4);
    let u: Gauge = u.iter().map(su3::reunitarise).collect();
    for device in devices() {
        for (precision, usual, least) in
            [(Precision::F64, 1e-10, 1e-16), (Precision::F32, 1e-6, 1e-8)]
        {
            let op = square(&device, extents, &u, precision);
            let params = EigenParams { count: 4, ..Default::default() };
            let (v, report) =
                solvers::eigen(&op, None, &params, None, &mut solvers::no_monitor).unwrap();
            assert!(report.converged && report.restarts < 20, "{precision:?}: {report:?}");
            let (residual, _) = verify(&op, &v, &report.values);
            assert!(residual < usual * report.largest, "{precision:?}: {residual:e}");
            let params = EigenParams { tol: 0.5 * least, ..params };
            let refused =
                solvers::eigen(&op, None, &params, None, &mut solvers::no_monitor).unwrap_err();
            assert_eq!(refused.status, Status::BadParameter, "{refused}");
        }
    }
}

/// A verified search with a coarse tolerance ends, but not before its values are the lowest to that tolerance.
#[test]
fn coarse_tolerances_end() {
    if common::ranks().size() > 1 {
        return;
    }
    let exact = dense();
    let op = square(&devices()[0], SMALL, &links(), Precision::F64);
    for tol in [0.5, 0.1, 3e-2, 1e-2, 1e-3] {
        for (count, block) in [(1, 1), (3, 1), (9, 3)] {
            let params = EigenParams { count, block, tol, ..Default::default() };
            let (v, report) =
                solvers::eigen(&op, None, &params, None, &mut solvers::no_monitor).unwrap();
            assert!(report.converged && report.restarts < 20, "{tol} {count}: {report:?}");
            let (residual, _) = verify(&op, &v, &report.values);
            assert!(residual <= tol * report.largest, "{tol} {count}: {residual:e}");
            for (value, expect) in report.values.iter().zip(exact) {
                let error = (value - expect).abs();
                assert!(error <= tol.min(1e-2) * report.largest, "{tol} {count}: {error:e}");
            }
        }
    }
}

/// A monitor ends a search with a basis of hundreds of vectors while the host diagonalises its matrix, which takes
/// longer than the device's work on the vectors.
#[test]
fn a_search_ends_in_the_midst_of_a_large_matrix() {
    // The monitor is called for each of the 162 blocks of the basis, and then during the diagonalisation of the matrix
    // of dimension 648.
    const STOP: i32 = 165;
    let device = devices().pop().expect("a device");
    let extents = over_ranks([4, 4, 2, 4]);
    let lat = Lattice::new(extents);
    let u: Gauge = su3::smooth_gauge(lat, 0.5, 4).iter().map(su3::reunitarise).collect();
    let op = square(&device, extents, &u, Precision::F64);
    let (count, max_vectors, block) = (300, 760, 4);
    let params = EigenParams {
        end: End::Largest,
        count,
        max_vectors,
        block,
        filter: Filter::Plain,
        verify: false,
        ..Default::default()
    };
    let mut calls = 0;
    let mut monitor = |_: &solvers::Progress| {
        calls += 1;
        match calls {
            STOP => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let (v, report) = solvers::eigen(&op, None, &params, None, &mut monitor).unwrap();
    assert!(report.stopped && !report.converged, "{report:?}");
    assert_eq!(report.stopped_by, Some(StoppedBy::Callback));
    assert_eq!((calls, v.nrhs()), (STOP, count));
    // Applications: those of a probe, of the basis, and two for each vector that is returned.
    assert!(report.applications < 24 + 704 + 2 * count as u64, "{report:?}");
    let (_, off) = verify(&op, &v, &report.values);
    assert!(off < 1e-10, "{off:e}");
}

/// Wherever a search is stopped, its values are in order, and those of the vectors.
#[test]
fn results_agree_wherever_a_search_is_stopped() {
    let device = devices().remove(0);
    let extents = over_ranks([4, 2, 2, 4]);
    let u = su3::smooth_gauge(Lattice::new(extents), 0.5, 4);
    let u: Gauge = u.iter().map(su3::reunitarise).collect();
    let op = square(&device, extents, &u, Precision::F64);
    for calls in (1..200).step_by(7) {
        let mut left = calls;
        let mut stop = |_: &solvers::Progress| {
            left -= 1;
            match left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        let params = EigenParams::default();
        let (v, report) = solvers::eigen(&op, None, &params, None, &mut stop).unwrap();
        assert!(report.values.is_sorted() && v.nrhs() == report.values.len(), "{report:?}");
        let (residual, off) = verify(&op, &v, &report.values);
        let said = report.residuals.iter().fold(0.0f64, |m, r| m.max(*r));
        assert!((residual - said).abs() < 1e-8 * said.max(1e-4), "{calls} {report:?}");
        assert!(off < 1e-10, "{calls} {off:e}");
    }
}
