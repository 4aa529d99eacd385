//! Tests of solvers with an approximate inverse that changes from one application to the next.

use std::sync::Arc;

use plaq::error::Status;
use plaq::fields::{Precision, Recon, Subset};
use plaq::linop::{LinOp, Normal};
use plaq::solvers::{
    no_monitor, solve, Inverse, IterationSums, SolverKind, SolverParams, SolverReport, Stop, System,
};

use super::reference::spinor;
use super::{parameter_sets, setups};

/// An operator that runs a few steps of a solver from zero.
fn steps(op: &Arc<dyn LinOp>, kind: SolverKind, max: usize) -> Arc<dyn LinOp> {
    let params = SolverParams {
        kind,
        stop: Stop { iterations: max, ..Stop::at(1e-30) },
        ..Default::default()
    };
    Arc::new(Inverse::approximate(System::new(op.clone()), params).unwrap())
}

/// Sums over the ranks in an iteration, each a wait for all of them, one after the other and fused; GCR with a
/// preconditioner takes one whatever the number of its directions.
#[test]
fn iterations_take_few_sums() {
    for s in setups() {
        let op = s.wilson_12(parameter_sets()[1], Precision::F64);
        let comm = op.gauge().geometry().comm().clone();
        if comm.size() == 1 {
            return println!("skipped: one rank");
        }
        let b = s.spinors(Precision::F64, Subset::Full, &[&spinor::random(s.lat, 60)]);
        let op: Arc<dyn LinOp> = op;
        use IterationSums::{Fused, Separate};
        for (kind, sums, preconditioned, expected) in [
            (SolverKind::Cg, Some(Separate), false, 2),
            (SolverKind::Cg, Some(Fused), false, 1),
            (SolverKind::Cgne, Some(Separate), false, 2),
            (SolverKind::Cgne, Some(Fused), false, 1),
            (SolverKind::Cgnr, Some(Separate), false, 3),
            (SolverKind::Cgnr, Some(Fused), false, 1),
            (SolverKind::BiCgStab, Some(Separate), false, 3),
            (SolverKind::BiCgStab, Some(Fused), false, 2),
            (SolverKind::BiCgStab, Some(Fused), true, 2),
            (SolverKind::Gcr, None, true, 1),
        ] {
            let taken = |iterations| {
                let stop = Stop { iterations, ..Stop::at(1e-30) };
                let ask = SolverParams { kind, stop, nkrylov: 12, sums, ..Default::default() };
                let hermitian: Arc<dyn LinOp> = match kind {
                    SolverKind::Cg => Arc::new(Normal::mdag_m(op.clone())),
                    _ => op.clone(),
                };
                let preconditioner = preconditioned.then(|| op.clone());
                let system = System { preconditioner, ..System::new(hermitian) };
                let mut x = b.like(Precision::F64).unwrap();
                let before = comm.counts().sums;
                let report = solve(&system, &ask, &mut x, &b, &mut no_monitor).unwrap();
                assert_eq!(report.iterations, iterations, "{kind:?}");
                comm.counts().sums - before
            };
            let [few, more] = [3, 9].map(taken);
            assert_eq!(more - few, 6 * expected, "{kind:?} {sums:?}: {few} and {more} sums");
        }
    }
}

#[test]
fn preconditioned_solves_need_fewer_iterations() {
    for s in setups() {
        let precise = s.wilson_12(parameter_sets()[1], Precision::F64);
        let low = Arc::new(precise.to(Precision::F32, Recon::R12).unwrap());
        let fields: Vec<_> = (0..3).map(|i| spinor::random(s.lat, 60 + i)).collect();
        let zero = spinor::zero(s.lat);
        let b =
            s.spinors(Precision::F64, Subset::Full, &[&fields[0], &zero, &fields[1], &fields[2]]);
        for kind in [
            SolverKind::Cg,
            SolverKind::BiCgStab,
            SolverKind::Gcr,
            SolverKind::BlockGcr,
            SolverKind::Mr,
        ] {
            let of = |op: Arc<dyn LinOp>| -> Arc<dyn LinOp> {
                match kind {
                    SolverKind::Cg => Arc::new(Normal::mdag_m(op)),
                    _ => op,
                }
            };
            let (precise, low) = (of(precise.clone()), of(low.clone()));
            for sloppy in [None, Some(low)] {
                let inner = if kind == SolverKind::Cg { kind } else { SolverKind::Mr };
                let inverse = steps(sloppy.as_ref().unwrap_or(&precise), inner, 4);
                let ask = SolverParams { kind, stop: Stop::at(1e-10), ..Default::default() };
                let run = |preconditioner| -> SolverReport {
                    let system = System {
                        sloppy: sloppy.clone(),
                        preconditioner,
                        ..System::new(precise.clone())
                    };
                    let device = precise.shape().device;
                    let mut x = b.like(Precision::F64).unwrap();
                    // Before the first solve, which allocates the buffers for messages to other ranks.
                    let announced = system.memory(&ask, b.nrhs()).unwrap();
                    device.reset_peak();
                    let before = device.used().0;
                    let r = solve(&system, &ask, &mut x, &b, &mut no_monitor).unwrap();
                    let taken = device.used().1 - before;
                    assert!(taken <= announced, "{kind:?}: {taken} bytes, announced {announced}");
                    let mut image = b.like(Precision::F64).unwrap();
                    precise.apply(&mut image, &x).unwrap();
                    let (image, b) = (s.columns(&image), s.columns(&b));
                    for i in [0, 2, 3] {
                        let found = spinor::relative_distance(&image[i], &b[i]);
                        assert!(found <= 1.01e-10, "{kind:?} {i}: {found:e} {r:?}");
                        assert!((found - r.residual[i]).abs() < 1e-13, "{kind:?} {i}: {r:?}");
                    }
                    assert!(r.converged && r.fallback.is_none(), "{kind:?} {r:?}");
                    assert_eq!(spinor::norm2(&s.columns(&x)[1]), 0.0);
                    r
                };
                let (without, with) = (run(None).iterations, run(Some(inverse)).iterations);
                assert!(2 * with < without, "{kind:?}: {with} for {without} iterations");
            }
        }
    }
}

#[test]
fn who_takes_no_preconditioner_says_so() {
    let s = &setups()[0];
    let op: Arc<dyn LinOp> = s.wilson_12(parameter_sets()[0], Precision::F64);
    let b = s.spinors(Precision::F64, Subset::Full, &[&spinor::random(s.lat, 2)]);
    let preconditioner = Some(steps(&op, SolverKind::Mr, 2));
    let system = System { preconditioner, ..System::new(op) };
    for kind in [SolverKind::Cgne, SolverKind::Cgnr] {
        let ask = SolverParams { kind, ..Default::default() };
        let mut x = b.like(Precision::F64).unwrap();
        let e = solve(&system, &ask, &mut x, &b, &mut no_monitor).unwrap_err();
        assert_eq!(e.status, Status::Unsupported);
        assert!(e.message().contains("takes no preconditioner"), "{e}");
    }
}

/// An inverse with a tolerance reaches it or returns an error, and is hermitian if its operator is.
#[test]
fn inverses_are_operators() {
    for s in setups() {
        let op: Arc<dyn LinOp> = s.wilson_12(parameter_sets()[1], Precision::F64);
        let field = spinor::random(s.lat, 5);
        let b = s.spinors(Precision::F64, Subset::Full, &[&field]);
        let ask = SolverParams {
            kind: SolverKind::BiCgStab,
            stop: Stop::at(1e-12),
            ..Default::default()
        };
        let inverse = Inverse::new(System::new(op.clone()), ask.clone()).unwrap();
        let (mut x, mut image) = (b.like(Precision::F64).unwrap(), b.like(Precision::F64).unwrap());
        inverse.apply(&mut x, &b).unwrap();
        op.apply(&mut image, &x).unwrap();
        let found = spinor::relative_distance(&s.columns(&image)[0], &field);
        assert!(found < 1.01e-12, "{found:e}");
        assert_eq!(inverse.apply_dagger(&mut x, &b).unwrap_err().status, Status::Unsupported);
        let few = SolverParams { stop: Stop { iterations: 2, ..ask.stop }, ..ask.clone() };
        let few = Inverse::new(System::new(op.clone()), few).unwrap();
        assert_eq!(few.apply(&mut x, &b).unwrap_err().status, Status::NotConverged);

        let normal: Arc<dyn LinOp> = Arc::new(Normal::mdag_m(op));
        let ask = SolverParams { kind: SolverKind::Cg, ..ask };
        let inverse = Inverse::new(System::new(normal.clone()), ask).unwrap();
        assert!(inverse.hermitian());
        inverse.apply_dagger(&mut x, &b).unwrap();
        normal.apply(&mut image, &x).unwrap();
        let found = spinor::relative_distance(&s.columns(&image)[0], &field);
        assert!(found < 1.01e-12, "{found:e}");
    }
}
