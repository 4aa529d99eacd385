//! Tests of solvers that take fewer sums over the ranks in an iteration: they reach the residuals that they reach with
//! one sum after the other.

use std::sync::Arc;

use plaq::compose::{Solution, SolveParams};
use plaq::fields::{Precision, Recon, Subset};
use plaq::linop::{LinOp, Normal};
use plaq::operators::DiracParams;
use plaq::solvers::{solve, unwatched, SolverKind, SolverParams, SolverReport, Stop, System};

use super::reference::{spinor, Field};
use super::{parameter_sets, ranks, residual, setups, Setup};

const KINDS: [SolverKind; 4] =
    [SolverKind::Cg, SolverKind::Cgnr, SolverKind::Cgne, SolverKind::BiCgStab];

/// A solve of M x = b, or M^dagger M x = b by CG, with columns that converge at different times: one is zero, one has a
/// good first guess, and norms differ. Returns the report and the residuals of the reference.
fn solved(
    s: &Setup,
    params: &DiracParams,
    sloppy: Option<Precision>,
    ask: &SolverParams,
) -> (SolverReport, Vec<f64>) {
    let precise = s.wilson_12(*params, Precision::F64);
    let of = |op: Arc<dyn LinOp>| -> Arc<dyn LinOp> {
        match ask.kind {
            SolverKind::Cg => Arc::new(Normal::mdag_m(op)),
            _ => op,
        }
    };
    let low = sloppy.map(|p| of(Arc::new(precise.to(p, Recon::R12).unwrap())));
    let system = System { sloppy: low, ..System::new(of(precise)) };
    let point = spinor::point(s.lat, 0, 1, 2);
    let small = spinor::scale(1e-7.into(), &spinor::random(s.lat, 61));
    let (first, zero) = (spinor::random(s.lat, 60), spinor::zero(s.lat));
    let guessed = spinor::random(s.lat, 62);
    let fields = [&first, &zero, &guessed, &small, &point];
    let b = s.spinors(Precision::F64, Subset::Full, &fields);
    let mut x = b.like(Precision::F64).unwrap();
    let rough = SolverParams { stop: Stop::at(1e-6), fused_sums: None, ..ask.clone() };
    solve(&system, &rough, &mut x, &b, &mut unwatched).unwrap();
    let mut numbers = s.columns(&x);
    (0..numbers.len()).filter(|i| *i != 2).for_each(|i| numbers[i] = spinor::zero(s.lat));
    let mut x = s.spinors(Precision::F64, Subset::Full, &numbers);
    let ask = SolverParams { initial_guess: true, ..ask.clone() };
    let report = solve(&system, &ask, &mut x, &b, &mut unwatched).unwrap();
    let solution = if ask.kind == SolverKind::Cg { Solution::MatDagMat } else { Solution::Mat };
    let equation = SolveParams { solution, ..Default::default() };
    let dirac = s.dirac(params);
    let found = |(x, b): (&Field, &&Field)| match std::ptr::eq(*b, &zero) {
        true => spinor::norm2(x),
        false => residual(&dirac, &equation, x, b),
    };
    let found = s.columns(&x).iter().zip(&fields).map(found).collect();
    (report, found)
}

/// Several ranks, each of which computes the whole reference, test the smaller lattice.
fn small_setups() -> Vec<Setup> {
    setups().into_iter().skip((ranks().size() > 1).into()).collect()
}

/// Near a singular operator, in one precision and two: as many iterations within 5 %, and the same tolerance.
#[test]
fn fused_sums_take_as_many_iterations() {
    for s in small_setups() {
        for params in [DiracParams { mass: -0.55, ..parameter_sets()[0] }, parameter_sets()[3]] {
            for kind in KINDS {
                for sloppy in [None, Some(Precision::F32)] {
                    let ask = |fused| SolverParams {
                        kind,
                        stop: Stop::at(1e-11),
                        fused_sums: Some(fused),
                        ..Default::default()
                    };
                    let [apart, fused] =
                        [false, true].map(|fused| solved(&s, &params, sloppy, &ask(fused)));
                    let what = format!("{:?} {kind:?} {sloppy:?} {}", s.lat.extents, params.mass);
                    let [few, many] = [&fused, &apart].map(|found| found.0.iterations);
                    println!("{what}: {few} iterations for {many}, {:?}", fused.1);
                    for (report, found) in [&apart, &fused] {
                        assert!(
                            report.converged && report.fallback.is_none(),
                            "{what}: {report:?}"
                        );
                        assert!(found.iter().all(|r| *r <= 1.01e-11), "{what}: {found:?}");
                    }
                    assert!(few as f64 <= 1.05 * many as f64 + 1.0, "{what}: {few} for {many}");
                }
            }
        }
    }
}

/// Asked for more than double precision can give, solves stand still at the same residual.
#[test]
fn fused_sums_reach_the_last_digits() {
    for s in small_setups() {
        let params = DiracParams { mass: -0.55, ..parameter_sets()[0] };
        for kind in KINDS {
            for sloppy in [None, Some(Precision::F32)] {
                let ask = |fused| SolverParams {
                    kind,
                    stop: Stop { iterations: 500, ..Stop::at(1e-18) },
                    fused_sums: Some(fused),
                    fall_back: false,
                    ..Default::default()
                };
                let [apart, fused] =
                    [false, true].map(|fused| solved(&s, &params, sloppy, &ask(fused)).1);
                println!("{:?} {kind:?} {sloppy:?}: {fused:?} for {apart:?}", s.lat.extents);
                for (fused, apart) in fused.iter().zip(&apart) {
                    assert!(
                        *fused <= 3.0 * apart + 1e-16,
                        "{kind:?} {sloppy:?}: {fused:e} {apart:e}"
                    );
                }
            }
        }
    }
}
