//! Tests of what ends a solve: every criterion alone and with others, on all ranks after the same iteration.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plaq::compose::{DiracSolver, Schur, Solution, SolveParams};
use plaq::fields::{Precision, SpinorField, Subset};
use plaq::linop::{LinOp, Normal, Shape};
use plaq::operators::DiracParams;
use plaq::ops::propagator::propagator;
use plaq::ops::source::Source;
use plaq::solvers::{
    multishift, no_monitor, solve, Criterion, Progress, Shift, SolverKind, SolverParams,
    SolverReport, Stop, StoppedBy, System,
};

use super::common::{self, ranks};
use super::reference::{spinor, Spinor, C};
use super::{parameter_sets, plain, setups, Setup, KINDS};

/// The operator M with a delay in each application.
struct Slow(Arc<dyn LinOp>, Duration);

impl LinOp for Slow {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> plaq::error::Result<()> {
        std::thread::sleep(self.1);
        self.0.apply(out, inp)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> plaq::error::Result<()> {
        std::thread::sleep(self.1);
        self.0.apply_dagger(out, inp)
    }
    fn hermitian(&self) -> bool {
        self.0.hermitian()
    }
    fn flops(&self) -> f64 {
        self.0.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.0.bytes(nrhs)
    }
}

/// The slow operator M, or for algorithms that need it the normal operator.
fn operator(s: &Setup, kind: SolverKind, each: Duration) -> Arc<Slow> {
    let op = s.wilson_12(parameter_sets()[0], Precision::F64);
    let op: Arc<dyn LinOp> = match kind {
        SolverKind::Cg | SolverKind::MultiShift => Arc::new(Normal::mdag_m(op)),
        _ => op,
    };
    Arc::new(Slow(op, each))
}

fn three(s: &Setup) -> SpinorField {
    let fields: Vec<_> = (0..3).map(|i| spinor::random(s.lat, 40 + i)).collect();
    s.spinors(Precision::F64, Subset::Full, &fields.iter().collect::<Vec<_>>())
}

/// Checks that the report is the same on all ranks.
fn alike(r: &SolverReport) {
    let mine = (r.iterations as u64 * 8 + r.stopped_by.unwrap() as u64).to_ne_bytes();
    let all = ranks().all_gather(&mine).unwrap();
    assert!(all.chunks(8).all(|theirs| theirs == mine), "{r:?}");
}

#[test]
fn every_criterion_ends_a_solve_by_itself() {
    for s in setups() {
        let b = three(&s);
        for kind in KINDS {
            let op = operator(&s, kind, Duration::ZERO);
            let base = SolverParams {
                kind,
                stop: Stop { heavy_quark: 0.0, ..Stop::at(0.0) },
                ..Default::default()
            };
            let run = |params: SolverParams| plain(&op, &params, &b).unwrap().1;
            let r =
                run(SolverParams { stop: Stop { residual: 1e-8, ..base.stop }, ..base.clone() });
            assert!(r.converged && r.residual.iter().all(|&r| r <= 1e-8), "{kind:?} {r:?}");
            assert_eq!(r.stopped_by, Some(StoppedBy::Residual), "{kind:?}");
            let r =
                run(SolverParams { stop: Stop { heavy_quark: 1e-8, ..base.stop }, ..base.clone() });
            assert!(r.converged && r.residual_hq.iter().all(|&r| r <= 1e-8), "{kind:?} {r:?}");
            assert_eq!(r.stopped_by, Some(StoppedBy::HeavyQuark), "{kind:?}");
            // If both criteria are set, the one that takes longer ends the solve.
            for (tol, tol_hq, by) in
                [(1e-9, 1e-2, StoppedBy::Residual), (1e-2, 1e-9, StoppedBy::HeavyQuark)]
            {
                let r = run(SolverParams {
                    stop: Stop { residual: tol, heavy_quark: tol_hq, ..base.stop },
                    ..base.clone()
                });
                assert!(r.converged && !r.stopped, "{kind:?} {r:?}");
                assert_eq!(r.stopped_by, Some(by), "{kind:?}");
            }
            let few = SolverParams {
                stop: Stop { residual: 1e-12, iterations: 4, ..base.stop },
                ..base.clone()
            };
            let r = run(few);
            assert!(!r.converged && !r.stopped && !r.standstill && r.iterations == 4, "{r:?}");
            assert_eq!(r.stopped_by, Some(StoppedBy::Iterations), "{kind:?}");
            let r = run(SolverParams {
                stop: Stop { residual: 1e-12, seconds: 0.0, ..base.stop },
                ..base.clone()
            });
            assert!(!r.converged && r.stopped && r.iterations <= 2, "{kind:?} {r:?}");
            assert_eq!(r.stopped_by, Some(StoppedBy::Seconds), "{kind:?}");
            alike(&r);
            let mut x = b.like(Precision::F64).unwrap();
            let system = System::new(op.clone() as Arc<dyn LinOp>);
            let ask = SolverParams { stop: Stop { residual: 1e-12, ..base.stop }, ..base.clone() };
            let mut third = |p: &Progress| match p.iteration {
                3 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            };
            let r = solve(&system, &ask, &mut x, &b, &mut third).unwrap();
            assert!(!r.converged && r.stopped && r.iterations == 3, "{kind:?} {r:?}");
            assert_eq!(r.stopped_by, Some(StoppedBy::Callback), "{kind:?}");
            // With ample limits the residual ends the solve.
            let ask =
                SolverParams { stop: Stop { residual: 1e-6, seconds: 1e3, ..base.stop }, ..base };
            assert_eq!(run(ask).stopped_by, Some(StoppedBy::Residual));
        }
        // A tolerance below double precision ends by a standstill.
        let ask = SolverParams { stop: Stop::at(1e-18), ..Default::default() };
        let r = plain(&operator(&s, SolverKind::Cgnr, Duration::ZERO), &ask, &b).unwrap().1;
        assert!(!r.converged && r.standstill, "{r:?}");
        assert_eq!(r.stopped_by, Some(StoppedBy::Standstill));
    }
}

/// A preconditioner of a few steps of a solver with its own time limit; its applications are counted.
struct Inside(System, SolverParams, AtomicUsize);

impl LinOp for Inside {
    fn shape(&self) -> Shape {
        self.0.precise.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> plaq::error::Result<()> {
        let r = solve(&self.0, &self.1, out, inp, &mut no_monitor)?;
        assert_eq!(r.stopped_by, Some(StoppedBy::Iterations));
        self.2.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    fn flops(&self) -> f64 {
        0.0
    }
    fn bytes(&self, _: usize) -> f64 {
        0.0
    }
}

/// The time limit of one rank ends the solve on all ranks after the same iteration; a solve with its own limit inside
/// of another one keeps both limits.
#[test]
fn time_is_over_on_all_ranks_at_once() {
    let s = &setups()[0];
    let b = three(s);
    let last = ranks().rank() + 1 == ranks().size();
    let own = if last { 0.06 } else { 1e6 };
    for kind in KINDS {
        let op = operator(s, kind, Duration::from_millis(5));
        let ask = SolverParams {
            kind,
            stop: Stop { seconds: own, ..Stop::at(1e-13) },
            ..Default::default()
        };
        // A first solve compiles kernels before time is measured.
        plain(
            &op,
            &SolverParams { stop: Stop { iterations: 2, ..Stop::at(1e-13) }, ..ask.clone() },
            &b,
        )
        .unwrap();
        let (x, r) = plain(&op, &ask, &b).unwrap();
        assert_eq!(r.stopped_by, Some(StoppedBy::Seconds), "{kind:?} {r:?}");
        assert!(r.stopped && !r.converged && r.iterations > 1, "{kind:?} {r:?}");
        assert!(r.iterations <= 16, "{kind:?} {r:?}");
        alike(&r);
        // x agrees with the report, and a later solve has a time limit of its own.
        let again = SolverParams {
            initial_guess: true,
            stop: Stop { seconds: 1e6, residual: 1e-8, ..ask.stop },
            ..ask
        };
        let system = System::new(op.clone() as Arc<dyn LinOp>);
        let mut y = x;
        let none = SolverParams { stop: Stop { iterations: 0, ..again.stop }, ..again.clone() };
        let found = solve(&system, &none, &mut y, &b, &mut no_monitor).unwrap();
        assert_eq!(found.stopped_by, Some(StoppedBy::Iterations));
        for (a, b) in found.residual.iter().zip(&r.residual) {
            assert!((a - b).abs() < 1e-12, "{kind:?} {found:?} {r:?}");
        }
        let r = solve(&system, &again, &mut y, &b, &mut no_monitor).unwrap();
        assert_eq!(r.stopped_by, Some(StoppedBy::Residual), "{kind:?} {r:?}");
    }

    let op = operator(s, SolverKind::Gcr, Duration::from_millis(5));
    let kind = SolverKind::Mr;
    let inner = SolverParams {
        kind,
        stop: Stop { iterations: 2, seconds: 1e6, ..Stop::default() },
        ..Default::default()
    };
    let system = System::new(op.clone() as Arc<dyn LinOp>);
    let inside = Arc::new(Inside(system.clone(), inner, AtomicUsize::new(0)));
    let system = System { preconditioner: Some(inside.clone()), ..system };
    let kind = SolverKind::Gcr;
    let ask =
        SolverParams { kind, stop: Stop { seconds: own, ..Stop::at(1e-13) }, ..Default::default() };
    let mut x = b.like(Precision::F64).unwrap();
    let r = solve(&system, &ask, &mut x, &b, &mut no_monitor).unwrap();
    assert_eq!(r.stopped_by, Some(StoppedBy::Seconds), "{r:?}");
    assert!(r.iterations > 0 && r.iterations <= 6, "{r:?}");
    assert_eq!(inside.2.load(Ordering::Relaxed), r.iterations);
    alike(&r);
}

/// Parts of a solve share its time limit: two equations one after the other, shifts and their refinement, batches of
/// a propagator.
#[test]
fn parts_of_a_solve_share_its_time() {
    let s = &setups()[0];
    let op = s.wilson_12(parameter_sets()[0], Precision::F64);
    let b = three(s);
    let solver = |max_seconds| SolverParams {
        kind: SolverKind::BiCgStab,
        stop: Stop { seconds: max_seconds, ..Stop::at(1e-9) },
        ..Default::default()
    };
    for solution in [Solution::Mat, Solution::MatDag, Solution::MatDagMat] {
        for even_odd in [None, Some(Schur { parity: 0, symmetric: true })] {
            let run = |seconds| {
                let solver = solver(seconds);
                let ask = SolveParams { solver, solution, even_odd, ..Default::default() };
                let mut x = b.like(Precision::F64).unwrap();
                let solver = DiracSolver::new(op.clone(), ask).unwrap();
                solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver
            };
            let (r, enough) = (run(0.0), run(1e3));
            assert_eq!(r.stopped_by, Some(StoppedBy::Seconds), "{solution:?} {r:?}");
            assert!(r.stopped && !r.converged && r.iterations <= 4, "{r:?}");
            alike(&r);
            assert_eq!(enough.stopped_by, Some(StoppedBy::Residual));
            assert!(enough.converged && !enough.stopped);
        }
    }
    let op = operator(s, SolverKind::MultiShift, Duration::from_millis(2));
    let shifts = [0.0, 0.1, 0.5].map(|sigma| Shift { sigma, tol: 1e-12, heavy_quark: 0.0 });
    let run = |max_seconds, max_iterations| {
        let ask = SolverParams {
            stop: Stop { seconds: max_seconds, iterations: max_iterations, ..Stop::default() },
            ..Default::default()
        };
        let system = System::new(op.clone() as Arc<dyn LinOp>);
        let mut xs: Vec<_> = shifts.iter().map(|_| b.like(Precision::F64).unwrap()).collect();
        multishift(&system, &ask, &shifts, true, &mut xs, &b, &mut no_monitor).unwrap().0
    };
    let r = run(0.01, 1000);
    assert!(r.stopped && !r.converged && r.iterations <= 8, "{r:?}");
    assert_eq!(r.stopped_by, Some(StoppedBy::Seconds), "{r:?}");
    alike(&r);
    let r = run(f64::INFINITY, 3);
    assert!(!r.stopped && !r.converged && r.iterations == 3, "{r:?}");
    assert_eq!(r.stopped_by, Some(StoppedBy::Iterations), "{r:?}");
    assert_eq!(run(1e3, 1000).stopped_by, Some(StoppedBy::Residual));

    let fine = s.wilson_12(parameter_sets()[0], Precision::F64);
    let ask = SolveParams { solver: solver(1e-9), ..Default::default() };
    let dirac = DiracSolver::new(fine, ask).unwrap();
    let start = Instant::now();
    let source = Source::point([0; 4]);
    let (_, r) = propagator(&dirac, source, 3, &mut no_monitor).unwrap();
    assert!(r.solver.stopped && !r.solver.converged && r.solver.residual.len() == 12);
    assert!(r.solver.iterations <= 2 && start.elapsed().as_secs() < 60, "{:?}", r.solver);
    assert_eq!(r.solver.stopped_by, Some(StoppedBy::Seconds));
}

#[test]
fn criteria_combine() {
    let stop = Stop::new()
        .and(Criterion::Residual(1e-6))
        .and(Criterion::HeavyQuark(1e-3))
        .and(Criterion::Iterations(50))
        .and(Criterion::Iterations(20))
        .and(Criterion::Residual(1e-8))
        .and(Criterion::Seconds(2.0));
    assert_eq!((stop.residual(), stop.heavy_quark()), (Some(1e-8), Some(1e-3)));
    assert_eq!(stop.seconds(), Some(2.0));
    assert!(stop.at_limit(20) && !stop.at_limit(19));
    assert_eq!(stop.lag(1e-8, 1e-3), 1.0);
    assert!((stop.lag(1e-6, 1e-3) - 1e-2).abs() < 1e-15);
    assert!((stop.lag(1e-8, 1e-1) - 0.7e-2).abs() < 1e-15);
    assert!(stop.met(&[1e-8, 0.0], &[1e-4, 1e-3]) && !stop.met(&[1e-8, 2e-8], &[0.0, 0.0]));
    assert!(!stop.met(&[0.0], &[2e-3]));
    assert_eq!(stop.last_goal(&[0.9e-8], &[1e-4]), StoppedBy::Residual);
    assert_eq!(stop.last_goal(&[0.1e-8], &[0.9e-3]), StoppedBy::HeavyQuark);
    assert_eq!(Stop::new().lag(1.0, 1.0), 1.0);
    assert!(!Stop::new().at_limit(usize::MAX) && Stop::new().seconds().is_none());
    let ask =
        SolverParams { stop: Stop { seconds: -1.0, ..Stop::default() }, ..Default::default() };
    assert!(ask.check().is_err());
    assert!(SolverParams {
        stop: Stop { seconds: f64::NAN, ..Stop::default() },
        ..Default::default()
    }
    .check()
    .is_err());
}

/// Solves for a point source with a heavy quark until the heavy-quark residual meets its goal, in double and with
/// single and 16 bits inside, and compares each site with the reference. Returns the numbers of iterations.
fn heavy_quark(s: &Setup, (kappa, csw, goal): (f64, f64, f64), kind: SolverKind) -> [usize; 3] {
    let source = s.spinors(Precision::F64, Subset::Full, &[&spinor::point(s.lat, 0, 1, 2)]);
    let mass = 0.5 / kappa - 4.0;
    let p = DiracParams { mass, csw, csw_t: csw, ..Default::default() };
    let op = s.wilson_12(p, Precision::F64);
    [None, Some(Precision::F32), Some(Precision::F16)].map(|sloppy| {
        let mut ask = super::params(kind, Precision::F64, sloppy);
        (ask.solver.stop.residual, ask.solver.stop.heavy_quark) = (1e-10, goal);
        let solver = DiracSolver::new(op.clone(), ask.clone()).unwrap();
        let mut x = source.like(Precision::F64).unwrap();
        let r = solver.solve(&mut x, &source, &mut no_monitor).unwrap().solver;
        println!("{kappa} {kind} {sloppy:?}: {} {:?}", r.iterations, r.residual_hq);
        assert!(r.converged && r.residual_hq[0] <= goal, "{kappa} {ask:?} {r:?}");
        let x = s.columns(&x).remove(0);
        if sloppy.is_none() || s.lat.volume() > 1 << 11 {
            every_site(s, &p, &x, &s.columns(&source)[0], goal);
        }
        r.iterations
    })
}

/// Checks every site of the solution against the reference's measure of the heavy-quark residual.
fn every_site(s: &Setup, p: &DiracParams, x: &super::Field, source: &super::Field, goal: f64) {
    let left = spinor::axpy(-C::ONE, &s.image_of(p, x), source);
    let size = |f: &Spinor| f.iter().flatten().map(|z| z.norm_sqr()).sum::<f64>();
    let sum: f64 = left.iter().zip(x).map(|(r, x)| size(r) / size(x)).sum();
    let found = (sum / s.lat.volume() as f64).sqrt();
    assert!(found <= 1.1 * goal, "{p:?}: {found:e}");
}

/// Goals of the heavy-quark residual are met for correlators that fall by many decades: it demands digits on sites
/// where the solution is far below the rounding of sites near the source. 16 bits inside take about as many
/// iterations as more bits do. The lattice is the same on any number of ranks.
#[test]
fn heavy_quark_goals_of_heavy_quarks_are_met() {
    let device = common::devices().remove(0);
    let s = Setup::new(&device, [4, 4, 4, 32], 0.35);
    for (kappa, csw, goal) in [0.03, 0.05, 0.07, 0.1]
        .into_iter()
        .flat_map(|kappa| [(kappa, 0.0, 1e-6), (kappa, 1.2, 1e-8)])
    {
        for kind in [SolverKind::Cgne, SolverKind::Cgnr, SolverKind::BiCgStab, SolverKind::Gcr] {
            let [iterations, single, half] = heavy_quark(&s, (kappa, csw, goal), kind);
            for more in [single, half] {
                assert!(2 * more <= 3 * iterations + 4, "{kappa} {kind}: {more}, {iterations}");
            }
        }
    }
}

/// A solution that falls by 40 decades, more than single precision can represent, is right.
#[test]
fn numbers_below_those_of_single_precision_are_right() {
    let device = common::devices().remove(0);
    let s = Setup::new(&device, [4, 4, 4, 64], 0.35);
    for kind in [SolverKind::Cgne, SolverKind::Cgnr, SolverKind::BiCgStab, SolverKind::Gcr] {
        heavy_quark(&s, (0.03, 0.0, 1e-6), kind);
    }
}
