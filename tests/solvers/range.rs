//! Tests of sources with norms far from 1, which are solved as others are, and of refused solves, which leave the
//! solutions unchanged.

use plaq::compose::{DiracSolver, Equations, Normalisation, Solution, SolveParams};
use plaq::error::Status;
use plaq::fields::{Precision, Recon, SpinorField, Subset};
use plaq::linop::Normal;
use plaq::solvers::{
    multishift, no_monitor, rational_sum, RationalParams, Shift, SolverKind, SolverParams, System,
};
use std::sync::Arc;

use super::common::Lex;
use super::reference::{spinor, Field, C};
use super::{parameter_sets, params, setups, Setup, KINDS};

/// Exponents of two of the factors of three sources: squares of the second source underflow to zero, those of the
/// third overflow.
const POWERS: [i32; 3] = [0, -700, 700];

/// The same source times powers of two, and a zero source.
fn sources(s: &Setup, subset: Subset) -> SpinorField {
    let mut source = spinor::random(s.lat, 5);
    if subset == Subset::Even {
        source = spinor::on_parity(s.lat, 0, &source);
    }
    let times = |p: i32| spinor::scale(C::new(2f64.powi(p), 0.0), &source);
    let [a, b, c] = POWERS.map(times);
    s.spinors(Precision::F64, subset, &[&a, &b, &c, &spinor::zero(s.lat)])
}

/// Checks that every solution is the first one times its power of two, to the last bit.
fn follow_their_sources(s: &Setup, x: &SpinorField, what: &str) {
    let columns: Vec<Field> = s.columns(x);
    assert!(spinor::norm2(&columns[0]) > 0.0, "{what}");
    assert!(columns[3].iter().flatten().flatten().all(|z| *z == C::ZERO), "{what}");
    for (column, p) in columns.iter().zip(POWERS) {
        let back = spinor::scale(C::new(2f64.powi(-p), 0.0), column);
        assert!(back == columns[0], "{what}: 2^{p}");
    }
}

#[test]
fn the_length_of_a_source_does_not_matter() {
    for s in setups() {
        let op = s.wilson_12(parameter_sets()[1], Precision::F64);
        for kind in KINDS {
            for sloppy in [None, Some(Precision::F32), Some(Precision::F16)] {
                for (solution, equations) in [
                    (Solution::Mat, Equations::NormalError),
                    (Solution::Mat, Equations::NormalResidual),
                    (Solution::MatDagMat, Equations::NormalResidual),
                    (Solution::MatPc, Equations::NormalResidual),
                ] {
                    let base = params(kind, Precision::F64, sloppy);
                    let equations = if kind == SolverKind::Cg { equations } else { base.equations };
                    for guess in [false, true] {
                        let mut ask = SolveParams { solution, equations, ..base.clone() };
                        ask.solver.initial_guess = guess;
                        ask.normalisation = Normalisation::Mass;
                        let what = format!("{ask:?}");
                        let solver = DiracSolver::new(op.clone(), ask).unwrap();
                        let b = sources(&s, solver.subset());
                        let mut x = sources(&s, solver.subset());
                        let r = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
                        assert!(r.converged, "{what} {r:?}");
                        assert!(r.residual[0] > 0.0 && r.residual[..3] == [r.residual[0]; 3]);
                        follow_their_sources(&s, &x, &what);
                    }
                }
            }
        }
    }
}

#[test]
fn nor_does_it_for_shifts_and_sums_of_poles() {
    for s in setups() {
        let fine = s.wilson_12(parameter_sets()[1], Precision::F64);
        let op = Arc::new(Normal::mdag_m(fine.clone()));
        let low = Arc::new(Normal::mdag_m(Arc::new(fine.to(Precision::F32, Recon::R12).unwrap())));
        let b = sources(&s, Subset::Full);
        let shifts = [0.1, 0.4].map(|sigma| Shift { sigma, tol: 1e-9, heavy_quark: 0.0 });
        for system in [System::new(op.clone()), System::with_sloppy(op.clone(), low)] {
            let mut xs = [(); 2].map(|_| b.like(Precision::F64).unwrap());
            let ask = SolverParams::default();
            let (r, _) =
                multishift(&system, &ask, &shifts, true, &mut xs, &b, &mut no_monitor).unwrap();
            assert!(r.converged, "{r:?}");
            xs.iter().for_each(|x| follow_their_sources(&s, x, "multishift"));
        }
        for two_passes in [false, true] {
            let ask = RationalParams { tol: 1e-9, max_iterations: 1000, two_passes };
            let mut x = b.like(Precision::F64).unwrap();
            let r = rational_sum(&*op, &[0.1, 0.4], &[0.3, 0.7], &ask, &mut x, &b).unwrap();
            assert!(r.converged, "{r:?}");
            follow_their_sources(&s, &x, "rational");
        }
    }
}

/// A source or a guess that is not finite is refused, and every bit of x stays as it was.
#[test]
fn refused_solves_change_nothing() {
    let s = &setups()[0];
    let good = spinor::random(s.lat, 1);
    for bad in [f64::NAN, f64::INFINITY] {
        let mut broken = good.clone();
        broken[3][1][2] = C::new(bad, 0.0);
        for normalisation in [Normalisation::Kappa, Normalisation::Mass] {
            for solution in [Solution::Mat, Solution::MatDagMat, Solution::MatPcDagMatPc] {
                let mut ask = params(SolverKind::Cg, Precision::F64, Some(Precision::F32));
                (ask.solution, ask.normalisation) = (solution, normalisation);
                ask.solver.initial_guess = true;
                let op = s.wilson_12(parameter_sets()[0], Precision::F64);
                let solver = DiracSolver::new(op, ask).unwrap();
                let cut = |f: &Field| match solver.subset() {
                    Subset::Full => f.clone(),
                    _ => spinor::on_parity(s.lat, 0, f),
                };
                let load = |f: &Field| s.spinors(Precision::F64, solver.subset(), &[&cut(f)]);
                // The broken number goes to the first site of the system's subset, since site 3 is odd.
                let mut broken = cut(&broken);
                broken[0][1][2] = C::new(bad, 0.0);
                for (x, b) in [(&good, &broken), (&broken, &good)] {
                    let (mut x, b) = (load(x), load(b));
                    let before = x.save_lex().unwrap();
                    let same = |x: &SpinorField| {
                        let now = x.save_lex().unwrap();
                        now.iter().zip(&before).all(|(a, b)| a.to_bits() == b.to_bits())
                    };
                    let error = solver.solve(&mut x, &b, &mut no_monitor).unwrap_err();
                    assert_eq!(error.status, Status::NotFinite, "{error}");
                    assert!(same(&x), "{solution} {normalisation:?}: {error}");
                    let finite = b.save_lex().unwrap().iter().all(|v| v.is_finite());
                    if solution == Solution::Mat || finite {
                        continue;
                    }
                    let shifts = [Shift { sigma: 0.2, tol: 1e-9, heavy_quark: 0.0 }];
                    let mut xs = [x];
                    let error =
                        solver.multishift(&shifts, &mut xs, &b, &mut no_monitor).unwrap_err();
                    assert_eq!(error.status, Status::NotFinite, "{error}");
                    assert!(same(&xs[0]), "multishift: {error}");
                }
            }
        }
    }
}
