//! Tests of deflated solves: the same solutions in fewer iterations, for every equation and algorithm.

use crate::{common, reference};
use std::sync::Arc;

use common::{devices, over_ranks, Lex};
use num_complex::Complex64;
use plaq::backend::Device;
use plaq::compose::{Deflation, DiracSolver, Equations, LowModes, Schur, Solution, SolveParams};
use plaq::error::Status;
use plaq::fields::{blas, GaugeField, Noise, Precision, Recon, SpinorField};
use plaq::operators::{DiracParams, Distance, Doublet, DoubletParams, QuarkAction, Wilson};
use plaq::solvers::{no_monitor, EigenParams, SolverKind, SolverParams, Stop};
use reference::numbers::gauge_numbers;
use reference::{su3, Gauge, Lattice};
use Precision::{F16, F32, F64};

fn gauge(device: &Device) -> GaugeField {
    let extents = over_ranks([4, 4, 4, 8]);
    let links: Gauge = su3::smooth_gauge(Lattice::new(extents), 0.08, 7);
    let geometry = common::geometry(extents, device);
    let mut gauge = GaugeField::new(device, &geometry, F64, Recon::R18).unwrap();
    gauge.load_lex(&gauge_numbers(&links)).unwrap();
    gauge
}

/// Parameters of periodic quarks of a small mass, for which twelve modes of each flavour lie far below all others.
fn quarks() -> DiracParams {
    DiracParams { mass: 0.05, boundary: [Complex64::ONE; 4], ..Default::default() }
}

fn operator(device: &Device) -> Arc<dyn QuarkAction> {
    let params = DiracParams { csw: 1.0, csw_t: 1.0, ..quarks() };
    Arc::new(Wilson::new(Arc::new(gauge(device)), params).unwrap())
}

fn modes(op: &Arc<dyn QuarkAction>, form: Option<Schur>, count: usize) -> Arc<LowModes> {
    let params = EigenParams { count, verify: false, ..Default::default() };
    let (modes, report) = LowModes::find(op, form, &params, &mut no_monitor).unwrap();
    assert!(report.converged && modes.count() == count, "{report:?}");
    Arc::new(modes)
}

fn noise(solver: &DiracSolver, precision: Precision) -> SpinorField {
    let mut b = solver.op().subset_shape(solver.subset()).field(2).unwrap();
    b.set_noise(Noise::Normal, 3, 0).unwrap();
    assert_eq!(b.precision(), precision);
    b
}

/// The largest relative distance |a - b| / |b| over the right-hand sides.
fn off(a: &SpinorField, b: &SpinorField) -> f64 {
    let mut r = b.like(b.precision()).unwrap();
    blas::copy(&mut r, a).unwrap();
    blas::axpy(&blas::uniform(2, -1.0), b, &mut r).unwrap();
    let (r, b) = (blas::norm2(&r).unwrap(), blas::norm2(b).unwrap());
    r.iter().zip(&b).map(|(r, b)| (r / b).sqrt()).fold(0.0, f64::max)
}

/// A case: the Schur complement, if any, the equation, the algorithm, the equations that it iterates, and its lower
/// precision, if any.
type Case = (Option<Schur>, Solution, SolverKind, Equations, Option<Precision>);

fn cases() -> Vec<Case> {
    let even = Some(Schur::EVEN_SYMMETRIC);
    let odd = Some(Schur { parity: 1, symmetric: false });
    use Equations::{Direct, NormalError, NormalResidual};
    use Solution::*;
    use SolverKind::{BiCgStab, Cg, Cgne, Cgnr, Gcr};
    vec![
        (None, Mat, Cgnr, Direct, None),
        (None, MatDag, Cg, NormalResidual, Some(F32)),
        (None, MatDagMat, Cg, Direct, Some(F32)),
        (None, MatMatDag, Cg, Direct, None),
        (even, Mat, Cgnr, Direct, Some(F16)),
        (even, Mat, Gcr, Direct, None),
        (even, MatDag, Cgne, Direct, Some(F32)),
        (even, MatDagMat, BiCgStab, Direct, None),
        (odd, MatDag, BiCgStab, Direct, Some(F32)),
        (odd, MatPc, Cg, NormalError, None),
        (odd, MatPcDag, Cgnr, Direct, Some(F32)),
        (even, MatPcDagMatPc, Cg, Direct, Some(F16)),
        (odd, MatPcMatPcDag, Cg, Direct, Some(F32)),
        (odd, MatMatDag, Cgnr, Direct, None),
    ]
}

#[test]
fn deflated_solves_take_fewer_iterations_to_the_same_solution() {
    for device in devices() {
        let op = operator(&device);
        let forms =
            [None, Some(Schur::EVEN_SYMMETRIC), Some(Schur { parity: 1, symmetric: false })];
        let all = forms.map(|form| (form, modes(&op, form, 12)));
        let low = op.shared_copy((F32, Recon::R12)).unwrap();
        let single = modes(&low, Some(Schur::EVEN_SYMMETRIC), 12);
        for (form, solution, kind, equations, sloppy) in cases() {
            let solver =
                SolverParams { kind, stop: Stop::at(1e-11), nkrylov: 20, ..Default::default() };
            let sloppy = sloppy.map(|p| (p, Recon::R12));
            let params = SolveParams {
                solver,
                solution,
                equations,
                even_odd: form,
                sloppy,
                ..Default::default()
            };
            let run = |deflation: Option<Deflation>, guess: Option<&SpinorField>| {
                let solver =
                    SolverParams { initial_guess: guess.is_some(), ..params.solver.clone() };
                let params = SolveParams { solver, ..params.clone() };
                let solver = DiracSolver::new(op.clone(), params.clone()).unwrap();
                let solver = solver.with_deflation(deflation).unwrap();
                let b = noise(&solver, F64);
                let mut x = b.like(F64).unwrap();
                if let Some(guess) = guess {
                    blas::copy(&mut x, guess).unwrap();
                }
                // Later its buffers for messages would be there.
                let max = device.used().0 + solver.memory(2).unwrap();
                device.limit_memory(max);
                let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
                device.limit_memory(u64::MAX);
                assert!(report.solver.converged, "{params:?}: {report:?}");
                assert!(report.memory_peak <= max, "{params:?}: {max} {report:?}");
                (x, report.solver.iterations)
            };
            let found = &all.iter().find(|m| m.0 == form).unwrap().1;
            let (expect, plain) = run(None, None);
            // Modes are projected out of the starting residual alone, each time the residual has fallen by a factor of
            // 1e-4, or without waiting for it to fall.
            for restart in [0.0, 1e-4, 1.0] {
                let deflation = Deflation { modes: found.clone(), count: 12, restart };
                let (x, iterations) = run(Some(deflation.clone()), None);
                let max = if restart == 1e-4 { 0.8 } else { 0.95 };
                assert!(
                    (iterations as f64) < max * plain as f64 && off(&x, &expect) < 1e-6,
                    "{params:?}, {restart}: {iterations} of {plain}, off by {:e}",
                    off(&x, &expect)
                );
                let (x, again) = run(Some(deflation), Some(&x));
                assert!(again <= 2 && off(&x, &expect) < 1e-6, "{params:?}: {again} again");
            }
            // None of the modes, and modes in single precision.
            let deflation = Deflation { modes: found.clone(), count: 0, restart: 1e-4 };
            assert!(off(&run(Some(deflation), None).0, &expect) < 1e-6);
            if form == Some(Schur::EVEN_SYMMETRIC) {
                let deflation = Deflation { modes: single.clone(), count: 12, restart: 1e-4 };
                let (x, iterations) = run(Some(deflation), None);
                assert!(
                    (iterations as f64) < 0.8 * plain as f64 && off(&x, &expect) < 1e-6,
                    "{params:?}, single: {iterations} of {plain}"
                );
            }
        }
    }
}

/// Solves of a doublet, whose vectors have two slices, are deflated.
#[test]
fn a_doublet_is_deflated() {
    for device in devices() {
        let wilson = DiracParams { mu: 0.02, ..quarks() };
        let doublet = DoubletParams { wilson, epsilon: 0.01 };
        let op: Arc<dyn QuarkAction> =
            Arc::new(Doublet::new(Arc::new(gauge(&device)), doublet).unwrap());
        let modes = modes(&op, Some(Schur::EVEN_SYMMETRIC), 24);
        let solver =
            SolverParams { kind: SolverKind::Cgnr, stop: Stop::at(1e-10), ..Default::default() };
        let run = |deflation| {
            let params = SolveParams { solver: solver.clone(), ..Default::default() };
            let solver = DiracSolver::new(op.clone(), params).unwrap();
            let solver = solver.with_deflation(deflation).unwrap();
            let b = noise(&solver, F64);
            let mut x = b.like(F64).unwrap();
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
            assert!(report.converged, "{report:?}");
            (x, report.iterations)
        };
        let (expect, plain) = run(None);
        let (x, iterations) = run(Some(Deflation { modes, count: 24, restart: 1e-4 }));
        assert!(10 * iterations < 8 * plain && off(&x, &expect) < 1e-6, "{iterations} of {plain}");
    }
}

#[test]
fn modes_of_another_operator_are_refused() {
    let device = &devices()[0];
    let op = operator(device);
    let deflation = |op: &Arc<dyn QuarkAction>, form| {
        Some(Deflation { modes: modes(op, form, 1), count: 1, restart: 0.1 })
    };
    let good = SolveParams {
        solver: SolverParams { kind: SolverKind::Cgnr, ..Default::default() },
        even_odd: Some(Schur::EVEN_SYMMETRIC),
        ..Default::default()
    };
    let refused = |deflation, params: SolveParams, status| {
        let solver = DiracSolver::new(op.clone(), params).unwrap();
        let error = solver.with_deflation(deflation).err().unwrap();
        assert_eq!(error.status, status, "{error}");
    };
    let even = Some(Schur::EVEN_SYMMETRIC);
    refused(deflation(&op, None), good.clone(), Status::FieldMismatch);
    refused(deflation(&operator(device), even), good.clone(), Status::FieldMismatch);
    let distance = Some(Distance { alpha: 0.2, t0: 0 });
    let params = SolveParams { distance, ..good.clone() };
    refused(deflation(&op, even), params, Status::Unsupported);
    let params = SolveParams { automatic: Some(0), ..good.clone() };
    refused(deflation(&op, even), params, Status::Unsupported);
    let solver = DiracSolver::new(op.clone(), good).unwrap();
    let solver = solver.with_deflation(deflation(&op, even)).unwrap();
    op.update(&gauge(device)).unwrap();
    let (b, mut x) = (noise(&solver, F64), noise(&solver, F64));
    let error = solver.solve(&mut x, &b, &mut no_monitor).unwrap_err();
    assert_eq!(error.status, Status::FieldMismatch, "{error}");
}
