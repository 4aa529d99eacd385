//! Tolerances of eigensolvers: what they are by default, what is refused, and that coarse ones end.

use crate::eigen::{dense, links, square, verify, SMALL};
use crate::{common, reference};

use common::{devices, over_ranks};
use plaq::error::Status;
use plaq::fields::Precision;
use plaq::solvers::{self, EigenParams};
use reference::{su3, Gauge, Lattice};

/// Defaults converge in either precision, to a tolerance that it reaches; less is refused.
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
                solvers::eigen(&op, None, &params, None, &mut solvers::unwatched).unwrap();
            assert!(report.converged && report.restarts < 20, "{precision:?}: {report:?}");
            let (residual, _) = verify(&op, &v, &report.values);
            assert!(residual < usual * report.largest, "{precision:?}: {residual:e}");
            let params = EigenParams { tol: 0.5 * least, ..params };
            let refused =
                solvers::eigen(&op, None, &params, None, &mut solvers::unwatched).unwrap_err();
            assert_eq!(refused.status, Status::BadParameter, "{refused}");
        }
    }
}

/// A coarse tolerance ends a verified search, too, and no sooner than its values are the lowest to that tolerance.
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
                solvers::eigen(&op, None, &params, None, &mut solvers::unwatched).unwrap();
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
