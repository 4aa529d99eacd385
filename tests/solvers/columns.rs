//! Tests of right-hand sides that converge or stagnate independently of the others.

use std::ops::ControlFlow;
use std::sync::Arc;

use plaq::compose::{DiracSolver, Schur, Solution, SolveParams};
use plaq::fields::{blas, Precision, Recon, SpinorField, Subset};
use plaq::linop::{LinOp, Shape};
use plaq::operators::{DiracParams, Wilson};
use plaq::solvers::{
    no_monitor, solve, Progress, SolverKind, SolverParams, Stop, StoppedBy, System,
};

use super::reference::{spinor, Field};
use super::{parameter_sets, plain, residual, setups};

/// The hop alone, which maps one parity to the other, so that <r, M r> = 0 on a parity.
struct Hop(Arc<Wilson>);

impl Hop {
    fn drop_unit(out: &mut SpinorField, inp: &SpinorField) -> plaq::error::Result<()> {
        blas::axpy(&blas::uniform(inp.nrhs(), -1.0), inp, out)
    }
}

impl LinOp for Hop {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> plaq::error::Result<()> {
        self.0.apply(out, inp)?;
        Self::drop_unit(out, inp)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> plaq::error::Result<()> {
        self.0.apply_dagger(out, inp)?;
        Self::drop_unit(out, inp)
    }
    fn flops(&self) -> f64 {
        self.0.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.0.bytes(nrhs)
    }
}

#[test]
fn bicgstab_at_a_standstill_leaves_the_rest_to_cg() {
    for s in setups() {
        let op = Arc::new(Hop(s.wilson_12(parameter_sets()[0], Precision::F64)));
        let even = spinor::on_parity(s.lat, 0, &spinor::random(s.lat, 2));
        let b = s.spinors(Precision::F64, Subset::Full, &[&even]);
        let ask =
            SolverParams { kind: SolverKind::BiCgStab, stop: Stop::at(1e-9), ..Default::default() };
        let (x, r) = plain(&op, &ask, &b).unwrap();
        assert!(r.converged && r.restarts > 0, "{r:?}");
        assert_eq!(r.fallback, Some(SolverKind::Cgnr), "{r:?}");
        let mut image = b.like(Precision::F64).unwrap();
        op.apply(&mut image, &x).unwrap();
        let found = spinor::relative_distance(&s.columns(&image)[0], &s.columns(&b)[0]);
        assert!((found - r.residual[0]).abs() < 1e-13);
        let ask = SolverParams { fall_back: false, ..ask };
        let (_, r) = plain(&op, &ask, &b).unwrap();
        assert!(!r.converged && r.fallback.is_none(), "{r:?}");
    }
}

/// A right-hand side that BiCGStab cannot solve does not affect the others. If a solve ends while CGNR works on one
/// of the right-hand sides on which BiCGStab failed, the others are as reported, even if they are further from their
/// solution than zero.
#[test]
fn what_cgnr_has_not_begun_with_is_as_it_is_reported() {
    for s in setups() {
        let op = Arc::new(Hop(s.wilson_12(parameter_sets()[0], Precision::F64)));
        let even = spinor::on_parity(s.lat, 0, &spinor::random(s.lat, 2));
        let (far, zero) = (spinor::scale(3.0.into(), &even), spinor::zero(s.lat));
        let b = s.spinors(Precision::F64, Subset::Full, &[&even, &zero, &even]);
        let mut x = s.spinors(Precision::F64, Subset::Full, &[&far, &zero, &far]);
        let ask = SolverParams {
            kind: SolverKind::BiCgStab,
            stop: Stop::at(1e-9),
            initial_guess: true,
            ..Default::default()
        };
        // CGNR begins at zero.
        let mut enough = |p: &Progress| match p.residual[0] < 1.0 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let r = solve(&System::new(op.clone()), &ask, &mut x, &b, &mut enough).unwrap();
        assert!(r.stopped && r.fallback.is_some(), "{r:?}");
        assert!(r.residual[0] < 1.0 && r.residual[2] > 1.0, "{r:?}");
        let mut image = b.like(Precision::F64).unwrap();
        op.apply(&mut image, &x).unwrap();
        let images = s.columns(&image);
        for i in [0, 2] {
            let found = spinor::relative_distance(&images[i], &even);
            assert!((found / r.residual[i] - 1.0).abs() < 1e-6, "{i}: {found} {r:?}");
        }
    }
}

#[test]
fn each_right_hand_side_stops_by_itself() {
    for s in setups() {
        let op = Arc::new(Hop(s.wilson_12(parameter_sets()[0], Precision::F64)));
        let even = spinor::on_parity(s.lat, 0, &spinor::random(s.lat, 2));
        let full = spinor::random(s.lat, 3);
        let (zero, other) = (spinor::zero(s.lat), spinor::random(s.lat, 4));
        let b = s.spinors(Precision::F64, Subset::Full, &[&full, &even, &zero, &other]);
        let ask =
            SolverParams { kind: SolverKind::BiCgStab, stop: Stop::at(1e-9), ..Default::default() };
        let mut last = 0;
        let mut monitor = |p: &Progress| {
            assert!(p.residual.len() == 4 && p.iteration == last + 1);
            last = p.iteration;
            ControlFlow::Continue(())
        };
        let mut x = b.like(Precision::F64).unwrap();
        let r = solve(&System::new(op.clone()), &ask, &mut x, &b, &mut monitor).unwrap();
        assert!(r.converged && !r.standstill, "{r:?}");
        assert_eq!(r.fallback, Some(SolverKind::Cgnr), "{r:?}");
        assert_eq!((r.residual[2], r.residual_hq[2]), (0.0, 0.0));
        let mut image = b.like(Precision::F64).unwrap();
        op.apply(&mut image, &x).unwrap();
        let (image, b) = (s.columns(&image), s.columns(&b));
        for i in [0, 1, 3] {
            let found = spinor::relative_distance(&image[i], &b[i]);
            assert!(found <= 1e-9 * 1.01, "{i}: {found:e} {r:?}");
            assert!((found - r.residual[i]).abs() < 1e-13, "{i}: {found:e} {r:?}");
            assert!(r.residual_hq[i] > 0.0);
        }
    }
}

/// A column of BiCGStab has its residual recomputed when it needs to be, not when other columns do: its iteration is
/// the same with other columns as alone, except that columns that stagnate in 16 bits wait for their update.
#[test]
fn updates_of_columns_are_their_own() {
    for s in setups() {
        let op = s.wilson_12(parameter_sets()[1], Precision::F64);
        let fields: Vec<Field> = (0..5).map(|i| spinor::random(s.lat, 70 + i)).collect();
        let solver = SolverParams {
            kind: SolverKind::BiCgStab,
            stop: Stop::at(1e-11),
            ..Default::default()
        };
        let sloppy = Arc::new(op.to(Precision::F16, Recon::R12).unwrap());
        let system = System::with_sloppy(op, sloppy);
        let solve = |fields: &[&Field]| {
            let b = s.spinors(Precision::F64, Subset::Full, fields);
            let mut x = b.like(Precision::F64).unwrap();
            let report = solve(&system, &solver, &mut x, &b, &mut no_monitor).unwrap();
            assert!(report.converged, "{report:?}");
            (s.columns(&x), report)
        };
        let (together, all) = solve(&fields.iter().collect::<Vec<_>>());
        let (mut longest, mut updates) = (0, 0);
        for (field, x) in fields.iter().zip(&together) {
            let (alone, report) = solve(&[field]);
            longest = longest.max(report.iterations);
            updates = updates.max(report.reliable_updates);
            let distance = spinor::relative_distance(x, &alone[0]);
            assert!(distance < if s.device.is_cpu() { 1e-15 } else { 1e-9 }, "{distance:e}");
        }
        if s.device.is_cpu() {
            assert_eq!(all.iterations, longest);
        }
        assert!(all.reliable_updates > updates, "{all:?}: {updates}");
    }
}

/// Seven columns, solved in precise arithmetic two at a time and the last one by itself, with systems that lie in the
/// memory of the solution, meet their tolerance by the reference: from zero and from a guess, for M and for its
/// adjoint.
#[test]
fn columns_by_parts_meet_their_goals() {
    for s in setups() {
        let p = parameter_sets()[3];
        let (op, dirac) = (s.wilson_12(p, Precision::F64), s.dirac(&p));
        let zero = spinor::zero(s.lat);
        let mut fields: Vec<Field> = (0..7).map(|i| spinor::random(s.lat, 50 + i)).collect();
        fields[4] = zero.clone();
        let all: Vec<&Field> = fields.iter().collect();
        let b = s.spinors(Precision::F64, Subset::Full, &all);
        for (k, low) in [Precision::F16, Precision::F32].into_iter().enumerate() {
            for (parity, symmetric, solution) in [
                (0, true, Solution::Mat),
                (1, true, Solution::MatDag),
                (1, false, Solution::Mat),
                (0, false, Solution::MatDag),
            ] {
                let kind = [SolverKind::BiCgStab, SolverKind::Cgnr][(k + parity) % 2];
                let solver = SolverParams { kind, stop: Stop::at(1e-10), ..Default::default() };
                let asked = SolveParams {
                    solver,
                    solution,
                    even_odd: Some(Schur { parity, symmetric }),
                    sloppy: Some((low, Recon::R12)),
                    ..Default::default()
                };
                let what = format!("{:?} {asked:?}", s.lat.extents);
                let mut x = b.like(Precision::F64).unwrap();
                let solver = DiracSolver::new(op.clone(), asked.clone()).unwrap();
                let first = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
                assert!(first.converged, "{what}");
                let check = |x: &SpinorField, found: &[f64]| {
                    for (i, (x, b)) in s.columns(x).iter().zip(&fields).enumerate() {
                        if i == 4 {
                            assert!(spinor::norm2(x) == 0.0 && found[i] == 0.0, "{what}");
                            continue;
                        }
                        let distance = residual(&dirac, &asked, x, b);
                        assert!(distance <= 1.01e-10, "{what} {i}: {distance:e}");
                        assert!((distance - found[i]).abs() < 1e-13, "{what} {i}: {found:?}");
                    }
                };
                check(&x, &first.residual);
                // Two of them have to begin anew.
                let guess = SolverParams { initial_guess: true, ..asked.solver.clone() };
                let solver = SolveParams { solver: guess, ..asked.clone() };
                let solver = DiracSolver::new(op.clone(), solver).unwrap();
                let nothing = b.like_with(Precision::F64, 1).unwrap();
                x.copy_rhs(1, &nothing, 0, 1).unwrap();
                x.copy_rhs(6, &nothing, 0, 1).unwrap();
                let second = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
                assert!(second.converged && second.iterations > 0, "{what}");
                check(&x, &second.residual);
                let again = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
                assert!(4 * again.iterations < first.iterations, "{what}: {first:?} {again:?}");
            }
        }
    }
}

/// Fields shrink once half of the right-hand sides have converged, in one precision and in two.
#[test]
fn right_hand_sides_that_are_done_leave() {
    for s in setups() {
        let fine = s.wilson_12(parameter_sets()[1], Precision::F64);
        let full = spinor::random(s.lat, 3);
        // Its solution is known but for 1e-6.
        let near = spinor::random(s.lat, 5);
        let b = s.spinors(Precision::F64, Subset::Full, &[&near, &full, &near, &near]);
        for kind in [SolverKind::Cgnr, SolverKind::Cgne, SolverKind::BiCgStab, SolverKind::Gcr] {
            for low in [None, Some(Precision::F32)] {
                let coarse = SolverParams { kind, stop: Stop::at(1e-6), ..Default::default() };
                let (guess, _) = plain(&fine, &coarse, &b).unwrap();
                let mut x = b.like(Precision::F64).unwrap();
                for column in [0, 2, 3] {
                    x.copy_rhs(column, &guess, column, 1).unwrap();
                }
                let low = low.map(|p| Arc::new(fine.to(p, Recon::R12).unwrap()) as Arc<dyn LinOp>);
                let system = System { sloppy: low, ..System::new(fine.clone()) };
                let ask = SolverParams { kind, initial_guess: true, ..Default::default() };
                let r = solve(&system, &ask, &mut x, &b, &mut no_monitor).unwrap();
                assert!(r.converged, "{kind:?} {r:?}");
                let mut image = b.like(Precision::F64).unwrap();
                fine.apply(&mut image, &x).unwrap();
                for (i, (image, b)) in s.columns(&image).iter().zip(s.columns(&b)).enumerate() {
                    let found = spinor::relative_distance(image, &b);
                    assert!(found <= ask.stop.residual * 1.01, "{kind:?} {i}: {found:e}");
                    assert!((found - r.residual[i]).abs() < 1e-13, "{kind:?} {i} {r:?}");
                }
            }
        }
    }
}

/// Beyond the critical kappa BiCGStab does not converge: every column switches to CGNR by itself, soon if its
/// residual does not fall at all, and the report gives the true reason for the end of the solve.
#[test]
fn all_columns_leave_bicgstab_where_it_leads_nowhere() {
    let s = &setups()[0];
    let sources: Vec<Field> = (0..12).map(|i| spinor::point(s.lat, 0, i / 3, i % 3)).collect();
    let all: Vec<&Field> = sources.iter().collect();
    let b = s.spinors(Precision::F64, Subset::Full, &all);
    for mass in [-0.6, -0.8, -1.0, -1.2] {
        let p = DiracParams { mass, csw: 1.0, csw_t: 1.0, ..Default::default() };
        let op = s.wilson_12(p, Precision::F64);
        let run = |kind: SolverKind, iterations: usize| {
            let mut ask = super::params(kind, Precision::F64, Some(Precision::F32));
            ask.solver.stop = Stop { iterations, ..Stop::at(1e-10) };
            let mut x = b.like(Precision::F64).unwrap();
            let solver = DiracSolver::new(op.clone(), ask).unwrap();
            let max = s.device.used().0 + solver.memory(12).unwrap();
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
            assert!(report.memory_peak <= max, "{mass}: {} of {max}", report.memory_peak);
            let r = report.solver;
            println!(
                "{mass} {kind} {iterations}: {} {:?} {:?}",
                r.iterations, r.fallback, r.residual
            );
            (r, x)
        };
        let (cg, _) = run(SolverKind::Cgnr, 10_000);
        let max = 8 * cg.iterations;
        let (r, x) = run(SolverKind::BiCgStab, max);
        assert!(r.converged && !r.standstill && r.iterations <= max, "{mass}: {r:?}");
        for (x, b) in s.columns(&x).iter().zip(&sources) {
            let found = spinor::relative_distance(&s.image_of(&p, x), b);
            assert!(found <= 1.01e-10, "{mass}: {found:e}");
        }
        // Too few for any of them.
        let (r, _) = run(SolverKind::BiCgStab, 20);
        assert!(!r.converged && !r.standstill, "{mass}: {r:?}");
        assert_eq!(r.stopped_by, Some(StoppedBy::Iterations), "{mass}");
    }
}
