//! Tests of block GCR, whose right-hand sides share one space of directions, against GCR for each of them.

use std::sync::Arc;

use plaq::compose::{DiracSolver, SolveParams};
use plaq::error::Status;
use plaq::fields::{blas, Noise, Precision, Recon, SpinorField, Subset};
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, Wilson};
use plaq::ops::config::{load_gauge, LoadOptions};
use plaq::solvers::{no_monitor, solve, SolverKind, SolverParams, SolverReport, Stop, System};

use super::reference::{spinor, Field, C};
use super::{parameter_sets, plain, ranks, residual, setups, tolerance, Setup, EXTENTS, PAIRS};

fn ask(kind: SolverKind, tol: f64) -> SolverParams {
    SolverParams { kind, stop: Stop::at(tol), ..Default::default() }
}

/// Solves for all of these sources with the third of the parameter sets, by the given algorithm.
fn solved(
    s: &Setup,
    kind: SolverKind,
    (precision, inner): (Precision, Option<Precision>),
    sources: &[&Field],
    even_odd: bool,
) -> (Vec<Field>, SolverReport) {
    let op = s.wilson_12(parameter_sets()[1], precision);
    let defaults = SolveParams::default();
    let params = SolveParams {
        solver: ask(kind, tolerance(precision)),
        sloppy: inner.map(|inner| (inner, Recon::R12)),
        even_odd: defaults.even_odd.filter(|_| even_odd),
        ..defaults
    };
    let solver = DiracSolver::new(op, params).unwrap();
    let b = s.spinors(precision, Subset::Full, sources);
    let mut x = b.like(precision).unwrap();
    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
    (s.columns(&x), report)
}

/// Solutions of one, three and twelve columns in every pair of precisions, on all sites and on one parity, equal
/// those of each column alone.
#[test]
fn blocks_solve_as_columns_do() {
    for s in setups() {
        let fields: Vec<Field> = (0..12).map(|i| spinor::random(s.lat, 300 + i)).collect();
        let dirac = s.dirac(&parameter_sets()[1]);
        for pair in PAIRS {
            for even_odd in [false, true] {
                for n in [1, 3, 12] {
                    let what = format!("{} {:?} {pair:?} {n}", s.device.name(), s.lat.extents);
                    let sources: Vec<&Field> = fields[..n].iter().collect();
                    let [block, each] = [SolverKind::BlockGcr, SolverKind::Gcr]
                        .map(|kind| solved(&s, kind, pair, &sources, even_odd));
                    let (block_x, report) = block;
                    assert!(report.converged && report.restarts == 0, "{what}: {report:?}");
                    // For an operator without low modes the columns gain little from each other.
                    let (own, others) = (report.iterations, each.1.iterations);
                    println!("{what}, even-odd {even_odd}: {own} iterations for {others}");
                    assert!(own <= others + 1 + others / 10, "{what}");
                    let slack = 60.0 * 2.0 * pair.0.epsilon();
                    for i in 0..n {
                        let found =
                            residual(&dirac, &SolveParams::default(), &block_x[i], sources[i]);
                        let told = report.residual[i];
                        assert!(told <= tolerance(pair.0), "{what} {i}: {told:e}");
                        assert!((found - told).abs() <= slack, "{what} {i}: {found:e} {told:e}");
                        let off = spinor::relative_distance(&block_x[i], &each.0[i]);
                        assert!(off < 30.0 * tolerance(pair.0), "{what} {i}: {off:e}");
                    }
                }
            }
        }
    }
}

/// Near the critical hopping parameter, where a few low modes take most of the iterations, columns share these and
/// need fewer iterations.
#[test]
fn blocks_of_many_columns_need_fewer_iterations() {
    let path = "tests/data/quenched-b6.0-8x8x8x8.nersc";
    for device in setups().iter().step_by(EXTENTS.len()).map(|s| &s.device) {
        let options = LoadOptions::default();
        let (f64, r18) = (Precision::F64, Recon::R18);
        let gauge = load_gauge(device, &ranks(), path.as_ref(), f64, r18, &options).unwrap().gauge;
        let p = DiracParams { csw: 1.769, csw_t: 1.769, ..Default::default() };
        let op = Arc::new(Wilson::new(Arc::new(gauge), p.with_kappa(0.1343)).unwrap());
        let shape = op.shape();
        let iterations = |kind, inner, n| {
            let (mut x, mut b) = (shape.field(n).unwrap(), shape.field(n).unwrap());
            b.set_noise(Noise::Normal, 3, 0).unwrap();
            let solver = SolverParams { nkrylov: 16, ..ask(kind, 1e-8) };
            let sloppy = Some((inner, Recon::R12));
            let params = SolveParams { solver, sloppy, ..Default::default() };
            let solver = DiracSolver::new(op.clone(), params).unwrap();
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
            assert!(report.converged && report.fallback.is_none(), "{kind:?} {n}: {report:?}");
            report.iterations
        };
        let each = iterations(SolverKind::Gcr, Precision::F32, 3);
        for inner in [Precision::F32, Precision::F16] {
            let block = [1, 3, 12].map(|n| iterations(SolverKind::BlockGcr, inner, n));
            println!("{} {inner:?}: {block:?} for {each}", device.name());
            assert!(block[0] < each && block[1] < block[0] && block[2] < block[1], "{block:?}");
            assert!(3 * block[2] < each, "{block:?} {each}");
        }
    }
}

/// Sources that are zero, equal, multiples or sums of others, or nearly equal to another are solved as by GCR, in all
/// precisions.
#[test]
fn columns_that_depend_on_each_other_are_left_out() {
    for s in setups() {
        let [a, c, d] = [1, 2, 3].map(|i| spinor::random(s.lat, 330 + i));
        let add = |x: f64, u: &Field, v: &Field| spinor::axpy(C::new(0.0, x), u, v);
        let zero = spinor::zero(s.lat);
        let all = [
            a.clone(),
            a.clone(),
            zero.clone(),
            spinor::scale(C::new(0.0, 3e-9), &a),
            c.clone(),
            add(0.7, &a, &c),
            add(1e-7, &d, &a),
            add(1e-3, &d, &c),
            a.clone(),
        ];
        let sources: Vec<&Field> = all.iter().collect();
        for pair in PAIRS {
            let what = format!("{} {:?} {pair:?}", s.device.name(), s.lat.extents);
            let (x, report) = solved(&s, SolverKind::BlockGcr, pair, &sources, true);
            let (y, each) = solved(&s, SolverKind::Gcr, pair, &sources, true);
            assert!(report.converged && report.restarts == 0, "{what}: {report:?}");
            println!("{what}: {} iterations for {}", report.iterations, each.iterations);
            assert!(report.iterations <= each.iterations + 1, "{what}: {report:?} {each:?}");
            let dirac = s.dirac(&parameter_sets()[1]);
            for i in 0..all.len() {
                if i == 2 {
                    assert_eq!((spinor::norm2(&x[i]), report.residual[i]), (0.0, 0.0), "{what}");
                    continue;
                }
                let found = residual(&dirac, &SolveParams::default(), &x[i], sources[i]);
                assert!(found <= 1.1 * tolerance(pair.0), "{what} {i}: {found:e}");
                let off = spinor::relative_distance(&x[i], &y[i]);
                assert!(off < 30.0 * tolerance(pair.0), "{what} {i}: {off:e}");
            }
        }
        // Equal columns span one direction in each iteration, as one column alone does.
        let double = (Precision::F64, None);
        let (_, one) = solved(&s, SolverKind::BlockGcr, double, &[&a], true);
        let (_, many) = solved(&s, SolverKind::BlockGcr, double, &[&a; 5], true);
        assert!(many.iterations.abs_diff(one.iterations) <= 1, "{one:?} {many:?}");
        // Zero right-hand sides leave nothing to do.
        let (x, none) = solved(&s, SolverKind::BlockGcr, double, &[&zero; 3], true);
        assert!(none.converged && none.iterations == 0, "{none:?}");
        assert!(x.iter().all(|x| spinor::norm2(x) == 0.0));
    }
}

/// Each column of a block is solved to its own tolerance and then left unchanged; when few columns are left, fields
/// shrink to these.
#[test]
fn each_column_of_a_block_has_its_own_tolerance() {
    for s in setups() {
        let precise = s.wilson_12(parameter_sets()[1], Precision::F64);
        let fields: Vec<Field> = (0..12).map(|i| spinor::random(s.lat, 360 + i)).collect();
        let b = s.spinors(Precision::F64, Subset::Full, &fields.iter().collect::<Vec<_>>());
        let lengths: Vec<f64> = blas::norm2(&b).unwrap().iter().map(|v| v.sqrt()).collect();
        for low in [None, Some(Precision::F32), Some(Precision::F16)] {
            for nkrylov in [1, 2, 4, 10] {
                let sloppy =
                    low.map(|p| -> Arc<dyn LinOp> { Arc::new(precise.to(p, Recon::R12).unwrap()) });
                // The residual of column i may be 10^(i mod 4) or, of one, 1e-3 times 1e-8.
                let goal = |i: usize| if i == 5 { 1e-11 } else { 1e-8 * 10f64.powi(i as i32 % 4) };
                let scale = (0..12).map(|i| lengths[i] * goal(i) / 1e-10).collect();
                let system = System { sloppy, scale: Some(scale), ..System::new(precise.clone()) };
                let ask = SolverParams { nkrylov, ..ask(SolverKind::BlockGcr, 1e-10) };
                let mut x = b.like(Precision::F64).unwrap();
                let what = format!("{} {:?} {low:?} {nkrylov}", s.device.name(), s.lat.extents);
                let report = solve(&system, &ask, &mut x, &b, &mut no_monitor).unwrap();
                assert!(report.converged, "{what}: {report:?}");
                let dirac = s.dirac(&parameter_sets()[1]);
                for (i, (x, b)) in s.columns(&x).iter().zip(&fields).enumerate() {
                    let found = residual(&dirac, &SolveParams::default(), x, b);
                    assert!(found <= 1.001 * goal(i), "{what} {i}: {found:e}");
                    // Those with an easy goal stop; a jump of the residual at an update aside.
                    let stops = low.is_some() || found > 1e-4 * goal(i);
                    assert!(stops, "{what} {i}: {found:e} for {:e}", goal(i));
                }
            }
        }
    }
}

/// Block GCR handles an initial guess, a solve that ends early, and a tolerance that cannot be reached as other
/// algorithms do.
#[test]
fn blocks_begin_and_end_as_others() {
    for s in setups() {
        let op = s.wilson_12(parameter_sets()[2], Precision::F64);
        let fields: Vec<Field> = (0..3).map(|i| spinor::random(s.lat, 390 + i)).collect();
        let b = s.spinors(Precision::F64, Subset::Full, &fields.iter().collect::<Vec<_>>());
        let (mut x, cold) = plain(&op, &ask(SolverKind::BlockGcr, 1e-8), &b).unwrap();
        let warm = SolverParams { initial_guess: true, ..ask(SolverKind::BlockGcr, 1e-9) };
        let system = System::new(op.clone());
        let report = solve(&system, &warm, &mut x, &b, &mut no_monitor).unwrap();
        assert!(report.converged && report.iterations < cold.iterations / 2, "{report:?} {cold:?}");
        let short = SolverParams { stop: Stop { iterations: 4, ..warm.stop }, ..warm.clone() };
        let short = SolverParams { initial_guess: false, history: true, ..short };
        let (x, report) = plain(&op, &short, &b).unwrap();
        assert!(!report.converged && report.iterations == 4 && report.history.len() == 4);
        let dirac = s.dirac(op.params());
        for ((x, b), told) in s.columns(&x).iter().zip(&fields).zip(&report.residual) {
            let found = residual(&dirac, &SolveParams::default(), x, b);
            assert!((found - told).abs() < 1e-13, "{found:e} {report:?}");
        }
        let most = report.residual.iter().fold(0.0f64, |m, r| m.max(*r));
        assert!((report.history[3] / most - 1.0).abs() < 1e-10, "{report:?}");
        let (_, report) = plain(&op, &ask(SolverKind::BlockGcr, 1e-18), &b).unwrap();
        assert!(report.standstill && report.residual.iter().all(|r| *r < 1e-14), "{report:?}");
    }
}

/// Solves in 16 bits alone are refused, because there are no products of vectors with each other in this precision.
#[test]
fn blocks_of_16_bits_alone_are_refused() {
    let s = &setups()[0];
    let op = Arc::new(
        s.wilson_12(parameter_sets()[0], Precision::F64).to(Precision::F16, Recon::R12).unwrap(),
    );
    let shape = op.shape();
    let (mut x, b): (SpinorField, SpinorField) = (shape.field(2).unwrap(), shape.field(2).unwrap());
    let ask = ask(SolverKind::BlockGcr, 1e-3);
    let e = solve(&System::new(op), &ask, &mut x, &b, &mut no_monitor).unwrap_err();
    assert_eq!(e.status, Status::Unsupported);
    assert!(e.message().contains("double or single"), "{e}");
}
