//! Tests of solvers: every algorithm, precision pair, operator and even-odd form; true residuals are recomputed by
//! the reference operator on the host.

mod block;
mod columns;
mod preconditioned;
mod range;
mod shifts;
mod stop;
mod sums;

use crate::setup::{reference_params, Setup};
use crate::{common, reference};
use std::ops::ControlFlow;
use std::sync::Arc;

use common::{devices, ranks, Lex};
use plaq::compose::{
    DiracSolver, Equations, Normalisation, Schur, Solution, SolveParams, SolveReport,
};
use plaq::error::Status;
use plaq::fields::{blas, GaugeField, Precision, Recon, SpinorField, Subset};
use plaq::linop::{LinOp, Normal};
use plaq::operators::{DiracParams, EvenOdd, Wilson};
use plaq::ops::config::{load_gauge, LoadOptions};
use plaq::params::Choice;
use plaq::solvers::{
    multishift, no_monitor, solve, Progress, Shift, SolverKind, SolverParams, SolverReport, Stop,
    System,
};
use reference::dirac::{Dirac, Preconditioned};
use reference::numbers::{field_from, field_numbers, gauge_numbers};
use reference::{spinor, Field, Lattice, C};

const EXTENTS: [[usize; 4]; 2] = [[4, 4, 4, 4], [2, 6, 4, 2]];
const KINDS: [SolverKind; 7] = [
    SolverKind::Cg,
    SolverKind::Cgne,
    SolverKind::Cgnr,
    SolverKind::BiCgStab,
    SolverKind::Gcr,
    SolverKind::BlockGcr,
    SolverKind::Mr,
];
/// Pairs of precisions of the operator and of the iteration.
const PAIRS: [(Precision, Option<Precision>); 5] = [
    (Precision::F64, None),
    (Precision::F64, Some(Precision::F32)),
    (Precision::F64, Some(Precision::F16)),
    (Precision::F32, None),
    (Precision::F32, Some(Precision::F16)),
];

/// Parameters for Wilson; clover with every option; twisted mass; twisted clover.
fn parameter_sets() -> Vec<DiracParams> {
    let plain = DiracParams { mass: 0.3, ..Default::default() };
    let clover = DiracParams {
        csw: 1.1,
        csw_t: 0.9,
        hop: [0.8, 0.8, 0.8, 1.0],
        boundary: [C::ONE, C::from_polar(1.0, 0.4), C::ONE, -C::ONE],
        ..plain
    };
    vec![
        plain,
        clover,
        DiracParams { mu: 0.17, boundary: [C::ONE; 4], ..plain },
        DiracParams { mu: -0.25, ..clover },
    ]
}

impl Setup {
    fn wilson_12(&self, params: DiracParams, precision: Precision) -> Arc<Wilson> {
        Arc::new(self.wilson_in(params, precision, Recon::R12))
    }
    fn dirac(&self, p: &DiracParams) -> Dirac<'_> {
        Dirac::new(self.lat, &self.links, reference_params(p))
    }
    /// Computes M x by the reference, in the kappa normalisation.
    fn image_of(&self, p: &DiracParams, x: &Field) -> Field {
        image(&self.dirac(p), &SolveParams::default(), x)
    }
    /// The right-hand sides of a field, as fields of the reference.
    fn columns(&self, f: &SpinorField) -> Vec<Field> {
        f.save_lex().unwrap().chunks(24 * self.lat.volume()).map(field_from).collect()
    }
}

fn setups() -> Vec<Setup> {
    devices()
        .iter()
        .flat_map(|d| EXTENTS.map(|e| Setup::new(d, common::over_ranks(e), 0.35)))
        .collect()
}

/// Two sources of very different norm, which must not matter.
fn sources(lat: Lattice, subset: Subset) -> [Field; 2] {
    let cut = |f: Field| match subset {
        Subset::Full => f,
        Subset::Even => spinor::on_parity(lat, 0, &f),
        Subset::Odd => spinor::on_parity(lat, 1, &f),
    };
    let small = spinor::scale(C::new(3e-9, 0.0), &spinor::random(lat, 22));
    [cut(spinor::random(lat, 21)), cut(small)]
}

/// Applies the operator of the equation in the kappa or mass normalisation, by the reference.
fn image(dirac: &Dirac, params: &SolveParams, x: &Field) -> Field {
    let kappa = match params.normalisation {
        Normalisation::Kappa => 2.0 * dirac.params.kappa(),
        Normalisation::Mass => 1.0,
    };
    let full = |dagger: bool, v: &Field| {
        let out = if dagger { dirac.apply_dag(v) } else { dirac.apply(v) };
        spinor::scale(C::new(kappa, 0.0), &out)
    };
    let half = |dagger: bool, v: &Field| {
        let Schur { parity, symmetric } = params.even_odd.unwrap();
        let out = dirac.apply_eo(Preconditioned { parity, symmetric }, dagger, v);
        spinor::scale(C::new(if symmetric { 1.0 } else { kappa }, 0.0), &out)
    };
    match params.solution {
        Solution::Mat => full(false, x),
        Solution::MatDag => full(true, x),
        Solution::MatDagMat => full(true, &full(false, x)),
        Solution::MatPc => half(false, x),
        Solution::MatPcDag => half(true, x),
        Solution::MatPcDagMatPc => half(true, &half(false, x)),
        Solution::MatMatDag => full(false, &full(true, x)),
        Solution::MatPcMatPcDag => half(false, &half(true, x)),
    }
}

fn residual(dirac: &Dirac, params: &SolveParams, x: &Field, b: &Field) -> f64 {
    spinor::relative_distance(&image(dirac, params, x), b)
}

fn tolerance(precision: Precision) -> f64 {
    if precision == Precision::F64 {
        1e-12
    } else {
        2e-6
    }
}

/// Solves, and compares the report with residuals of the reference.
fn run(s: &Setup, p: DiracParams, precision: Precision, params: SolveParams) -> SolveReport {
    let what = format!("{:?} {precision:?} {params:?} {p:?}", s.lat.extents);
    let dirac = s.dirac(&p);
    let solver = DiracSolver::new(s.wilson_12(p, precision), params.clone()).unwrap();
    let [a, c] = sources(s.lat, solver.subset());
    let b = s.spinors(precision, solver.subset(), &[&a, &c]);
    let mut x = b.like(precision).unwrap();
    let geometry = solver.op().shape().geometry;
    let (held, halos, memory) =
        (s.device.used().0, geometry.halo_bytes(&s.device), solver.memory(2).unwrap());
    s.device.limit_memory(held + memory);
    let report =
        solver.solve(&mut x, &b, &mut no_monitor).unwrap_or_else(|e| panic!("{what}: {e}"));
    s.device.limit_memory(u64::MAX);
    let extra = report.memory_peak - held;
    assert!(extra <= memory, "{what}: {extra} bytes, estimate {memory}");
    // GCR takes its directions as it needs them; the others use what was announced.
    if !params.solver.kind.is_gcr() {
        assert!(memory as f64 <= 1.02 * extra as f64, "{what}: only {extra} bytes of {memory}");
    }
    // Buffers for messages remain allocated after a solve.
    let kept = geometry.halo_bytes(&s.device) - halos;
    assert_eq!(s.device.used().0, held + kept, "{what}: memory is left behind");
    let r = &report.solver;
    assert!(r.converged && !r.stopped && r.fallback.is_none(), "{what}: {r:?}");
    // Rounding of b - M x: about a hundred terms of relative size |M| |x| / |b|, squared for M^dagger M.
    let compute = if precision == Precision::F64 { f64::EPSILON } else { f32::EPSILON as f64 };
    let slack = 60.0 * compute;
    for ((x, b), told) in s.columns(&x).iter().zip(s.columns(&b)).zip(&r.residual) {
        let found = residual(&dirac, &params, x, &b);
        assert!(*told <= tolerance(precision), "{what}: told {told:e}");
        assert!((found - told).abs() <= slack, "{what}: found {found:e}, told {told:e}");
    }
    assert!(r.seconds > 0.0 && r.flops > 0.0 && r.bytes > 0.0 && r.iterations > 0);
    report
}

fn params(kind: SolverKind, precision: Precision, sloppy: Option<Precision>) -> SolveParams {
    SolveParams {
        solver: SolverParams { kind, stop: Stop::at(tolerance(precision)), ..Default::default() },
        equations: match kind {
            SolverKind::Cg => Equations::NormalResidual,
            _ => Equations::Direct,
        },
        sloppy: sloppy.map(|p| (p, Recon::R12)),
        ..Default::default()
    }
}

fn schurs() -> Vec<Schur> {
    let both = [true, false];
    both.iter()
        .flat_map(|&symmetric| (0..2).map(move |parity| Schur { parity, symmetric }))
        .collect()
}

#[test]
fn every_solver_in_every_precision_on_every_operator() {
    for s in setups() {
        for p in parameter_sets() {
            for kind in KINDS {
                for (precision, sloppy) in PAIRS {
                    run(&s, p, precision, params(kind, precision, sloppy));
                    let full = SolveParams { even_odd: None, ..params(kind, precision, sloppy) };
                    run(&s, p, precision, full);
                }
            }
        }
    }
}

/// Every equation is solved with every even-odd type; several ranks, each of which computes the whole reference, test
/// the smaller lattice.
#[test]
fn every_solution_and_even_odd_type() {
    let double = Precision::F64;
    for s in setups().into_iter().skip((ranks().size() > 1).into()) {
        for p in parameter_sets() {
            for solution in [
                Solution::Mat,
                Solution::MatDag,
                Solution::MatDagMat,
                Solution::MatPc,
                Solution::MatPcDag,
                Solution::MatPcDagMatPc,
                Solution::MatMatDag,
                Solution::MatPcMatPcDag,
            ] {
                for kind in [SolverKind::Cg, SolverKind::BiCgStab] {
                    for schur in schurs().into_iter().map(Some).chain([None]) {
                        if schur.is_none() && solution.preconditioned() {
                            continue;
                        }
                        let base = params(kind, double, Some(Precision::F32));
                        let base = SolveParams { solution, even_odd: schur, ..base };
                        run(&s, p, double, base.clone());
                        let mass = SolveParams { normalisation: Normalisation::Mass, ..base };
                        run(&s, p, double, mass);
                    }
                }
            }
        }
    }
}

#[test]
fn normal_equations_both_ways() {
    let s = &setups()[0];
    let p = parameter_sets()[1];
    for kind in KINDS {
        for equations in [Equations::NormalResidual, Equations::NormalError] {
            // Solvers with normal equations of their own, CGNR and CGNE, refuse the other form.
            let other = match equations {
                Equations::NormalResidual => SolverKind::Cgne,
                _ => SolverKind::Cgnr,
            };
            if kind == other {
                let ask = SolveParams { equations, ..params(kind, Precision::F64, None) };
                let error = DiracSolver::new(s.wilson_12(p, Precision::F64), ask).err().unwrap();
                assert_eq!(error.status, Status::BadParameter, "{error}");
                continue;
            }
            for even_odd in [Some(Schur { parity: 1, symmetric: true }), None] {
                let base = params(kind, Precision::F64, Some(Precision::F32));
                run(s, p, Precision::F64, SolveParams { equations, even_odd, ..base });
            }
        }
    }
}

#[test]
fn minimal_residual_inside_saves_iterations() {
    for s in setups() {
        let p = parameter_sets()[1];
        let kinds = [SolverKind::Gcr, SolverKind::BlockGcr, SolverKind::BiCgStab, SolverKind::Mr];
        for ((precision, sloppy), kind) in
            PAIRS.into_iter().flat_map(|pair| kinds.map(|k| (pair, k)))
        {
            let plain = params(kind, precision, sloppy);
            let inner = SolveParams { precondition_steps: 4, ..plain.clone() };
            let without = run(&s, p, precision, plain).solver.iterations;
            let with = run(&s, p, precision, inner).solver.iterations;
            assert!(2 * with < without, "{with} {without}");
        }
    }
}

/// Calls `solve` on the full operator, without even-odd preconditioning.
fn plain<O: LinOp + 'static>(
    op: &Arc<O>,
    params: &SolverParams,
    b: &SpinorField,
) -> Result<(SpinorField, SolverReport), plaq::error::Error> {
    let mut x = b.like(b.precision()).unwrap();
    let report = solve(&System::new(op.clone()), params, &mut x, b, &mut no_monitor)?;
    Ok((x, report))
}

#[test]
fn right_hand_sides_do_not_know_of_each_other() {
    for s in setups() {
        let op = s.wilson_12(parameter_sets()[1], Precision::F64);
        let fields: Vec<Field> = (0..4).map(|i| spinor::random(s.lat, 30 + i)).collect();
        // Right-hand side 1 is zero: it converges at once and takes no part any more.
        let easy = spinor::zero(s.lat);
        let all: Vec<&Field> = [&fields[0], &easy, &fields[1], &fields[2], &fields[3]].into();
        for kind in [SolverKind::Cgne, SolverKind::Cgnr, SolverKind::BiCgStab, SolverKind::Gcr] {
            let params = SolverParams { kind, stop: Stop::at(1e-11), ..Default::default() };
            let together = s.spinors(Precision::F64, Subset::Full, &all);
            let (x, report) = plain(&op, &params, &together).unwrap();
            assert!(report.converged);
            let mut longest = 0;
            for (i, b) in all.iter().enumerate() {
                let (alone, single) =
                    plain(&op, &params, &s.spinors(Precision::F64, Subset::Full, &[*b])).unwrap();
                longest = longest.max(single.iterations);
                let (x, y) = (&s.columns(&x)[i], &s.columns(&alone)[0]);
                if i == 1 {
                    assert_eq!(spinor::norm2(x) + spinor::norm2(y), 0.0);
                    assert_eq!(single.iterations, 0);
                    assert!(single.converged && single.residual == [0.0]);
                    continue;
                }
                let distance = spinor::relative_distance(x, y);
                assert!(distance < 1e-13, "{kind:?} {i}: {distance:e}");
                assert!((report.residual[i] - single.residual[0]).abs() < 1e-14);
            }
            assert_eq!(report.iterations, longest, "{kind:?}");
        }
    }
}

#[test]
fn heavy_quark_criterion() {
    for s in setups() {
        let p = parameter_sets()[0];
        let dirac = s.dirac(&p);
        for kind in [SolverKind::Cg, SolverKind::BiCgStab, SolverKind::Gcr, SolverKind::BlockGcr] {
            for sloppy in [None, Some(Precision::F32), Some(Precision::F16)] {
                for tol in [0.0, 1e-4] {
                    let mut ask = params(kind, Precision::F64, sloppy);
                    (ask.solver.stop.residual, ask.solver.stop.heavy_quark) = (tol, 1e-9);
                    let solver =
                        DiracSolver::new(s.wilson_12(p, Precision::F64), ask.clone()).unwrap();
                    let source = spinor::point(s.lat, 0, 1, 2);
                    let b = s.spinors(Precision::F64, Subset::Full, &[&source]);
                    let mut x = b.like(Precision::F64).unwrap();
                    let r = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
                    assert!(r.converged, "{ask:?} {r:?}");
                    let x = &s.columns(&x)[0];
                    let left = spinor::axpy(-C::ONE, &image(&dirac, &ask, x), &source);
                    let site = |f: &reference::Spinor| {
                        f.iter().flatten().map(|z| z.norm_sqr()).sum::<f64>()
                    };
                    let sum: f64 = left.iter().zip(x).map(|(r, x)| site(r) / site(x)).sum();
                    let found = (sum / s.lat.volume() as f64).sqrt();
                    assert!(r.residual_hq[0] <= 1e-9, "{r:?}");
                    assert!((found / r.residual_hq[0] - 1.0).abs() < 1e-3, "{found:e} {r:?}");
                }
            }
        }
    }
}

#[test]
fn shifts_agree_with_solves_of_their_own() {
    for s in setups() {
        let p = parameter_sets()[1];
        let fine = s.wilson_12(p, Precision::F64);
        let odd = |op| -> Arc<dyn LinOp> {
            Arc::new(Normal::mdag_m(Arc::new(EvenOdd::new(op, 1, false))))
        };
        let normal = odd(fine.clone());
        let [a, c] = sources(s.lat, Subset::Odd);
        let zero = spinor::zero(s.lat);
        let b = s.spinors(Precision::F64, Subset::Odd, &[&a, &zero, &c]);
        let shifts =
            [0.5, 0.0, 0.02, 7.0].map(|sigma| Shift { sigma, tol: 1e-11, heavy_quark: 0.0 });
        let dirac = s.dirac(&p);
        for low in [None, Some(Precision::F32), Some(Precision::F16)] {
            let sloppy = low.map(|p| odd(Arc::new(fine.to(p, Recon::R12).unwrap())));
            let system = System { sloppy, ..System::new(normal.clone()) };
            let mut xs: Vec<SpinorField> =
                shifts.iter().map(|_| b.like(Precision::F64).unwrap()).collect();
            let ask = SolverParams { history: true, ..Default::default() };
            let (total, each) =
                multishift(&system, &ask, &shifts, true, &mut xs, &b, &mut no_monitor).unwrap();
            assert!(total.converged, "{low:?} {total:?} {each:?}");
            assert_eq!(total.history.len(), total.iterations);
            for ((shift, x), told) in shifts.iter().zip(&xs).zip(&each) {
                assert!(told.converged);
                for (i, (x, b)) in s.columns(x).iter().zip([&a, &zero, &c]).enumerate() {
                    if i == 1 {
                        assert_eq!(spinor::norm2(x), 0.0);
                        assert_eq!(told.residual[i], 0.0);
                        continue;
                    }
                    let even_odd = Some(Schur { parity: 1, symmetric: false });
                    let ask = SolveParams {
                        solution: Solution::MatPcDagMatPc,
                        even_odd,
                        ..Default::default()
                    };
                    let image = spinor::axpy(C::new(shift.sigma, 0.0), x, &image(&dirac, &ask, x));
                    let found = spinor::relative_distance(&image, b);
                    assert!(found < 1e-11 * 1.01, "{shift:?}: {found:e}");
                    assert!((found - told.residual[i]).abs() < 2e-14, "{found:e} {told:?}");
                }
                if low.is_none() {
                    // In one precision nothing is left to refine, and large shifts converge early.
                    assert!(told.refinement <= 2, "{each:?}");
                }
            }
            assert!(each[3].iterations < each[1].iterations);
        }
        // Without refinement the report gives the residual that the solve in lower precision has reached.
        let low = odd(Arc::new(fine.to(Precision::F16, Recon::R12).unwrap()));
        let system = System::with_sloppy(normal.clone(), low);
        let mut xs: Vec<SpinorField> =
            shifts.iter().map(|_| b.like(Precision::F64).unwrap()).collect();
        let ask = SolverParams::default();
        let (total, _) =
            multishift(&system, &ask, &shifts, false, &mut xs, &b, &mut no_monitor).unwrap();
        assert!(!total.converged && total.residual[0] > 1e-7 && total.residual[0] < 1e-2);
    }
}

#[test]
fn not_converged_is_in_the_report() {
    let s = &setups()[0];
    let op = s.wilson_12(parameter_sets()[0], Precision::F64);
    let b = s.spinors(Precision::F64, Subset::Full, &[&spinor::random(s.lat, 1)]);
    for kind in
        [SolverKind::Cgne, SolverKind::Cgnr, SolverKind::BiCgStab, SolverKind::Gcr, SolverKind::Mr]
    {
        let ask = SolverParams {
            kind,
            history: true,
            stop: Stop { iterations: 3, ..Stop::default() },
            ..Default::default()
        };
        let (x, r) = plain(&op, &ask, &b).unwrap();
        assert!(!r.converged && r.iterations == 3 && r.history.len() == 3, "{r:?}");
        let dirac = s.dirac(op.params());
        let ask = SolveParams::default();
        let found = residual(&dirac, &ask, &s.columns(&x)[0], &s.columns(&b)[0]);
        assert!((found - r.residual[0]).abs() < 1e-13);
        assert!((r.history[2] / found - 1.0).abs() < 1e-10, "{kind:?} {:?} {found}", r.history);
    }
    // A tolerance below double precision is reported as not reached.
    for kind in [SolverKind::Cgnr, SolverKind::BiCgStab, SolverKind::Gcr] {
        let ask = SolverParams { kind, stop: Stop::at(1e-18), ..Default::default() };
        let (_, r) = plain(&op, &ask, &b).unwrap();
        assert!(!r.converged && r.residual[0] < 1e-14, "{r:?}");
        assert!(r.iterations < ask.stop.iterations, "{r:?}");
    }
}

/// Conjugate gradients in half precision near the critical hopping parameter take about as many iterations as in
/// higher precision: x is long compared with the gradient, so that rounding to 16 bits spoils conjugacy unless the
/// residual is recomputed in time.
#[test]
fn conjugate_gradient_in_half_precision_keeps_pace_near_the_critical_point() {
    let path = "tests/data/quenched-b6.0-8x8x8x8.nersc";
    for device in setups().iter().step_by(EXTENTS.len()).map(|s| &s.device) {
        let options = LoadOptions::default();
        let (f64, r18) = (Precision::F64, Recon::R18);
        let gauge = load_gauge(device, &ranks(), path.as_ref(), f64, r18, &options).unwrap().gauge;
        let p = DiracParams { csw: 1.769, csw_t: 1.769, ..Default::default() };
        let op = Arc::new(Wilson::new(Arc::new(gauge), p.with_kappa(0.1347)).unwrap());
        let shape = op.shape();
        let mut b = shape.field(1).unwrap();
        b.load_lex(&field_numbers(&spinor::point(Lattice::new([8; 4]), 0, 1, 2))).unwrap();
        for kind in [SolverKind::Cgnr, SolverKind::Cgne] {
            for tol in [1e-10, 1e-12] {
                let run = |low| {
                    let solver = SolverParams { kind, stop: Stop::at(tol), ..Default::default() };
                    let sloppy = Some((low, Recon::R12));
                    let ask = SolveParams { solver, sloppy, ..Default::default() };
                    let mut x = shape.field(1).unwrap();
                    let solver = DiracSolver::new(op.clone(), ask).unwrap();
                    let r = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
                    assert!(r.converged && !r.standstill, "{low:?} {r:?}");
                    r.iterations
                };
                let (single, half) = (run(Precision::F32), run(Precision::F16));
                println!("{kind:?} {tol:e}: {single} iterations in single, {half} in half");
                assert!(half as f64 <= 1.3 * single as f64, "{kind:?} {tol}: {half}, {single}");
            }
        }
    }
}

#[test]
fn a_solve_that_stands_still_ends_early_and_says_so() {
    let s = &setups()[0];
    let op = s.wilson_12(parameter_sets()[0], Precision::F32);
    let b = s.spinors(Precision::F32, Subset::Full, &[&spinor::random(s.lat, 1)]);
    for kind in [
        SolverKind::Cgne,
        SolverKind::Cgnr,
        SolverKind::BiCgStab,
        SolverKind::Gcr,
        SolverKind::BlockGcr,
    ] {
        let ask = SolverParams { kind, stop: Stop::at(1e-9), ..Default::default() };
        let (_, r) = plain(&op, &ask, &b).unwrap();
        assert!(!r.converged && !r.stopped && r.standstill, "{kind:?} {r:?}");
        assert!(r.iterations < 2500 && r.residual[0] < 1e-5, "{kind:?} {r:?}");
    }
    let ask =
        SolverParams { stop: Stop { iterations: 3, ..Stop::default() }, ..Default::default() };
    assert!(!plain(&op, &ask, &b).unwrap().1.standstill);
}

#[test]
fn a_monitor_sees_progress_and_stops() {
    let s = &setups()[0];
    let op = s.wilson_12(parameter_sets()[0], Precision::F64);
    let b = s.spinors(Precision::F64, Subset::Full, &[&spinor::random(s.lat, 1)]);
    let mut x = b.like(Precision::F64).unwrap();
    let mut seen = vec![];
    let mut monitor = |p: &Progress| {
        seen.push((p.iteration, p.residual[0], p.seconds));
        if p.iteration == 5 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let r = solve(&System::new(op.clone()), &SolverParams::default(), &mut x, &b, &mut monitor)
        .unwrap();
    assert!(r.stopped && !r.converged && r.iterations == 5);
    assert_eq!(seen.len(), 5);
    assert!((seen[4].1 / r.residual[0] - 1.0).abs() < 1e-10);
    let dirac = s.dirac(op.params());
    let found = residual(&dirac, &SolveParams::default(), &s.columns(&x)[0], &s.columns(&b)[0]);
    assert!((found - r.residual[0]).abs() < 1e-13 && found < 0.9);
}

#[test]
fn an_initial_guess_is_used() {
    for s in setups() {
        let p = parameter_sets()[3];
        let op = s.wilson_12(p, Precision::F64);
        for (solution, kind) in [
            (Solution::Mat, SolverKind::Cg),
            (Solution::MatDag, SolverKind::BiCgStab),
            (Solution::MatDagMat, SolverKind::Cg),
            (Solution::MatPc, SolverKind::Gcr),
        ] {
            let mut ask = params(kind, Precision::F64, Some(Precision::F32));
            (ask.solution, ask.normalisation) = (solution, Normalisation::Mass);
            let first = DiracSolver::new(op.clone(), ask.clone()).unwrap();
            let [a, c] = sources(s.lat, first.subset());
            let b = s.spinors(Precision::F64, first.subset(), &[&a, &c]);
            let mut x = b.like(Precision::F64).unwrap();
            let cold = first.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
            ask.solver.initial_guess = true;
            ask.solver.stop.residual = 1e-11;
            let again = DiracSolver::new(op.clone(), ask).unwrap();
            let warm = again.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
            assert!(warm.converged && warm.iterations < 4, "{solution:?} {cold:?} {warm:?}");
        }
    }
}

#[test]
fn sources_that_are_not_finite_are_refused() {
    for s in setups() {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut source = spinor::random(s.lat, 1);
            source[3][1][2] = C::new(bad, 0.0);
            for kind in KINDS {
                let ask = params(kind, Precision::F64, Some(Precision::F32));
                let op = s.wilson_12(parameter_sets()[0], Precision::F64);
                let solver = DiracSolver::new(op, ask).unwrap();
                let b =
                    s.spinors(Precision::F64, Subset::Full, &[&spinor::random(s.lat, 2), &source]);
                let mut x = s.spinors(Precision::F64, Subset::Full, &[&source, &source]);
                let error = solver.solve(&mut x, &b, &mut no_monitor).unwrap_err();
                assert_eq!(error.status, Status::NotFinite, "{error}");
                assert!(error.message().contains("right-hand side 1"), "{error}");
            }
        }
    }
}

#[test]
fn an_operator_that_yields_nan_is_a_breakdown() {
    let s = &setups()[0];
    let mut numbers = gauge_numbers(&s.links);
    numbers[100] = f64::NAN;
    let mut links = GaugeField::new(&s.device, &s.geometry, Precision::F64, Recon::R18).unwrap();
    links.load_lex(&numbers).unwrap();
    let op = Arc::new(Wilson::new(Arc::new(links), parameter_sets()[0]).unwrap());
    let b = s.spinors(Precision::F64, Subset::Full, &[&spinor::random(s.lat, 2)]);
    for kind in KINDS.into_iter().filter(|kind| *kind != SolverKind::Cg) {
        let ask = SolverParams { kind, ..Default::default() };
        let error = plain(&op, &ask, &b).unwrap_err();
        assert_eq!(error.status, Status::SolverBreakdown, "{kind:?} {error}");
    }
}

/// Coefficients computed on the device from sums that the host has not read equal those from the sums, also for more
/// right-hand sides than one launch takes; if they are not finite, y is left unchanged by x.
#[test]
fn coefficients_come_from_sums_under_way() {
    use blas::Times;
    let nan = f64::NAN;
    for s in setups() {
        for (precision, subset, n) in [
            (Precision::F64, Subset::Full, 3),
            (Precision::F32, Subset::Odd, 3),
            (Precision::F16, Subset::Even, 3),
            (Precision::F64, Subset::Even, 33),
        ] {
            let vectors = |seed| -> Vec<Field> {
                (0..n as u64).map(|i| spinor::random(s.lat, seed + 100 * i)).collect()
            };
            let load =
                |seed| s.spinors(precision, subset, &vectors(seed).iter().collect::<Vec<_>>());
            let (mut x, z, y) = (load(1), load(2), load(3));
            // Right-hand side 1 is zero, and right-hand side 2 has no finite number (zero in fixed point).
            let bad = precision != Precision::F16;
            let which =
                |i: usize| [1.0, 0.0, if bad { nan } else { 0.0 }].get(i).map_or(1.0, |v| *v);
            let c: Vec<C> = (0..n as usize).map(|i| C::new(which(i), 0.0)).collect();
            blas::axpby(&c, &x.like(precision).unwrap(), &c, &mut x).unwrap();
            let a: Vec<C> = (0..n as usize).map(|i| C::new(0.3, 0.1 * i as f64 - 0.7)).collect();
            let (dots, norms) = blas::dot_norm(&x, &z).unwrap();
            // Several sums are under way at once, and are awaited in another order than they were started.
            let sums = [0; 4].map(|_| blas::dot_norm_later(&x, &z).unwrap());
            let (above, above2) = (blas::norm2_later(&z).unwrap(), blas::norm2(&z).unwrap());
            let told = blas::Sums::of_norms(&above2);
            assert!(told.known());
            let over = |below: &dyn Fn(usize) -> f64| -> Vec<C> {
                (0..n as usize).map(|i| C::new(above2[i] / below(i), 0.0)).collect()
            };
            let factors: [(Times, Vec<C>); 7] = [
                (Times::NormOverReal(&above, &sums[0]), over(&|i| dots[i].re)),
                (Times::NormOverNorm(&above, &sums[2]), over(&|i| norms[i])),
                (Times::NormOverNorm(&told, &sums[1]), over(&|i| norms[i])),
                (Times::OverDot(&sums[3]), dots.iter().map(|d| d.inv()).collect()),
                (Times::OverReal(&sums[0]), dots.iter().map(|d| C::new(1.0 / d.re, 0.0)).collect()),
                (Times::OverNorm(&sums[2]), norms.iter().map(|n| C::new(1.0 / n, 0.0)).collect()),
                (
                    Times::DotOverNorm(&sums[1]),
                    dots.iter().zip(&norms).map(|(d, n)| d / n).collect(),
                ),
            ];
            let same = |u: &SpinorField, v: &SpinorField, what: &str| {
                let minus = blas::uniform(n as usize, -1.0);
                let mut off = v.like(precision).unwrap();
                blas::copy(&mut off, v).unwrap();
                blas::axpby(&blas::uniform(n as usize, 1.0), u, &minus, &mut off).unwrap();
                let (off, all) = (blas::norm2(&off).unwrap(), blas::norm2(v).unwrap());
                for (i, (o, v)) in off.iter().zip(&all).enumerate() {
                    let max = (4.0 * precision.epsilon()).powi(2) * v;
                    assert!(*o <= max, "{what}, {precision:?} {subset:?} {n}, {i}: {o:e} {v:e}");
                }
            };
            for (k, (times, values)) in factors.iter().enumerate() {
                let what = format!("factor {k}");
                let product: Vec<C> = a.iter().zip(values).map(|(a, v)| a * v).collect();
                let fresh = || {
                    let mut copy = y.like(precision).unwrap();
                    blas::copy(&mut copy, &y).unwrap();
                    copy
                };
                let mut want = fresh();
                // The host computes the expected result: a term with a coefficient that is not finite is replaced by
                // zeros.
                let usable: Vec<C> =
                    product.iter().map(|p| if p.is_finite() { *p } else { C::ZERO }).collect();
                let mut clean = load(1);
                let keep: Vec<C> =
                    c.iter().map(|c| if c.is_nan() { C::ZERO } else { *c }).collect();
                blas::axpby(&keep, &x.like(precision).unwrap(), &keep, &mut clean).unwrap();
                let norm = blas::axpy_norm(&usable, &clean, &mut want).unwrap();
                let mut got = fresh();
                blas::axpy_times(&a, *times, &x, &mut got).unwrap();
                same(&got, &want, &what);
                let mut got = fresh();
                let found =
                    blas::axpy_norm_times(&a, *times, &x, &mut got).unwrap().get().unwrap().1;
                same(&got, &want, &what);
                for (f, w) in found.iter().zip(&norm) {
                    assert!((f - w).abs() <= 8.0 * precision.epsilon() * w, "{what}: {f} {w}");
                }
            }
            // One pass of CG: both coefficients come from sums, and a search direction whose coefficient has no finite
            // sums starts afresh.
            let ones = blas::uniform(n as usize, 1.0);
            let zeros = blas::uniform(n as usize, 0.0);
            let usable: Vec<C> = factors[1].1.iter().map(|v| C::new(v.re, 0.0)).collect();
            let usable: Vec<C> =
                usable.iter().map(|v| if v.is_finite() { *v } else { C::ZERO }).collect();
            let alpha: Vec<C> = a.iter().zip(&usable).map(|(a, v)| a * v).collect();
            let mut clean = load(1);
            let keep: Vec<C> = c.iter().map(|c| if c.is_nan() { C::ZERO } else { *c }).collect();
            blas::axpby(&zeros, &z, &keep, &mut clean).unwrap();
            let (mut want, mut got) = (load(3), load(3));
            let mut p = x.like(precision).unwrap();
            blas::copy(&mut p, &x).unwrap();
            blas::cg_update(&mut want, &alpha, &mut clean, &usable, &z, &ones).unwrap();
            let (first, second) =
                (Times::NormOverNorm(&above, &sums[2]), Times::NormOverNorm(&told, &sums[1]));
            blas::cg_update_times(&mut got, (&a, first), &mut p, (&ones, second), &z, &ones)
                .unwrap();
            same(&got, &want, "the solution of cg_update");
            same(&p, &clean, "the direction of cg_update");
            for later in sums.into_iter().rev() {
                let (d, n) = later.get().unwrap();
                let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                let parts = |v: &[C]| v.iter().flat_map(|z| [z.re, z.im]).collect::<Vec<_>>();
                assert_eq!(bits(&n), bits(&norms));
                assert_eq!(bits(&parts(&d)), bits(&parts(&dots)));
            }
        }
    }
}

#[test]
fn misuse_is_a_status() {
    let s = &setups()[0];
    let op = s.wilson_12(parameter_sets()[0], Precision::F64);
    let b = s.spinors(Precision::F64, Subset::Full, &[&spinor::random(s.lat, 2)]);
    let status = |ask: SolverParams| plain(&op, &ask, &b).unwrap_err().status;
    let base = SolverParams::default();
    assert_eq!(
        status(SolverParams { stop: Stop { residual: 0.0, ..base.stop }, ..base.clone() }),
        Status::BadParameter
    );
    assert_eq!(
        status(SolverParams { stop: Stop { residual: f64::NAN, ..base.stop }, ..base.clone() }),
        Status::BadParameter
    );
    assert_eq!(status(SolverParams { delta: 1.0, ..base.clone() }), Status::BadParameter);
    assert_eq!(status(SolverParams { nkrylov: 0, ..base.clone() }), Status::BadParameter);
    assert_eq!(status(SolverParams { omega: 2.0, ..base.clone() }), Status::BadParameter);
    assert_eq!(status(SolverParams { kind: SolverKind::Cg, ..base.clone() }), Status::Unsupported);
    let mut half = s.spinors(Precision::F64, Subset::Even, &[&spinor::random(s.lat, 2)]);
    let e = solve(&System::new(op.clone()), &base, &mut half, &b, &mut no_monitor).unwrap_err();
    assert_eq!(e.status, Status::FieldMismatch);
    let kind = |word| SolverKind::from_word(word, "solver");
    assert_eq!(kind("bicgstab").unwrap(), SolverKind::BiCgStab);
    for known in KINDS {
        assert_eq!(kind(known.name()).unwrap(), known);
    }
    assert_eq!(kind("CG").unwrap(), SolverKind::Cg);
    for unknown in ["C G", "", "cgx"] {
        assert_eq!(kind(unknown).unwrap_err().status, Status::InvalidArgument);
    }
    assert_eq!(SolveParams::default().equations, Equations::Direct);
    let solver = SolverParams { kind: SolverKind::Cg, ..base };
    let hint = DiracSolver::new(op, SolveParams { solver, ..Default::default() }).err().unwrap();
    assert!(hint.status == Status::Unsupported && hint.message().contains("normal equations"));
    let wide = SolveParams { sloppy: Some((Precision::F64, Recon::R18)), ..Default::default() };
    let single = s.wilson_12(parameter_sets()[0], Precision::F32);
    assert_eq!(DiracSolver::new(single, wide).err().unwrap().status, Status::BadParameter);
}
