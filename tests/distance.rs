//! Tests of distance preconditioning: M' = W^-1 M W against the reference, and its purpose: propagators of heavy
//! quarks that are as precise in time slices far from the source as near it.

use crate::setup::{reference_params, Setup};
use crate::{common, reference};
use std::sync::Arc;

use common::{devices, distance, extents_on, largest, over_ranks, tolerance, Lex};
use plaq::compose::multigrid::{Multigrid, MultigridParams};
use plaq::compose::{Chosen, DiracSolver, Equations, Schur, Solution, SolveParams};
use plaq::error::Status;
use plaq::fields::{blas, Components, Precision, Recon, SpinorField, Subset};
use plaq::linop::LinOp;
use plaq::operators::{
    Boundary, DiracParams, Distance, DistanceWeighted, DistanceWeights, Doublet, DoubletParams,
    LaplaceParams, QuarkAction, Wilson,
};
use plaq::ops::correlators::correlators;
use plaq::ops::propagator::propagator;
use plaq::ops::source::Source;
use plaq::solvers::{no_monitor, Shift, SolverKind, SolverParams, Stop};
use reference::dirac::{Dirac, Params};
use reference::numbers::{field_from, field_numbers};
use reference::{spinor, su3, Field, Gauge, Lattice, C};

/// The weight cosh(alpha ((t - t0) mod T - T / 2)) of time slice t.
fn weight(lat: Lattice, d: Distance, t: usize) -> f64 {
    let times = lat.extents[3];
    let along = (t + times - d.t0) % times;
    (d.alpha * (along as f64 - times as f64 / 2.0)).cosh()
}

/// Computes M' psi from single hops. Hops in time of the kappa-normalised W^-1 M W have the factor w(t +- 1) / w(t),
/// those of W M W^-1, the `adjoint` one, w(t) / w(t +- 1); all other terms are those of M.
fn hop_by_hop(dirac: &Dirac, d: Distance, (adjoint, dagger): (bool, bool), psi: &Field) -> Field {
    let (lat, two_kappa) = (dirac.lat, 2.0 * dirac.params.kappa());
    let times = lat.extents[3];
    let time_only = Params { hop: [0.0, 0.0, 0.0, dirac.params.hop[3]], ..dirac.params };
    let space_only =
        Params { hop: [1.0, 1.0, 1.0, 0.0].map(|h| h * dirac.params.hop[0]), ..dirac.params };
    let apply =
        |params: &Params, f: &Field| reference::dirac::hop(lat, dirac.gauge, params, dagger, f);
    let mut out = dirac.diagonal(dagger, psi);
    let mut subtract = |c: f64, f: Field, at: Option<usize>| {
        for (x, (o, s)) in out.iter_mut().zip(&f).enumerate() {
            if at.is_none_or(|t| lat.coords(x)[3] == t) {
                for (o, s) in o.iter_mut().flatten().zip(s.iter().flatten()) {
                    *o -= 0.5 * c * s;
                }
            }
        }
    };
    subtract(1.0, apply(&space_only, psi), None);
    for from in 0..times {
        let only: Field = psi
            .iter()
            .enumerate()
            .map(|(x, s)| if lat.coords(x)[3] == from { *s } else { Default::default() })
            .collect();
        let hopped = apply(&time_only, &only);
        let mut to = vec![(from + 1) % times, (from + times - 1) % times];
        to.dedup();
        for t in to {
            let (w, w_from) = (weight(lat, d, t), weight(lat, d, from));
            let c = if dagger != adjoint { w / w_from } else { w_from / w };
            subtract(c, hopped.clone(), Some(t));
        }
    }
    spinor::scale(C::new(two_kappa, 0.0), &out)
}

fn clover() -> DiracParams {
    DiracParams { mass: 0.3, csw: 1.1, csw_t: 0.9, hop: [0.7, 0.7, 0.7, 1.0], ..Default::default() }
}

#[test]
fn the_weighted_operator_equals_the_reference() {
    for device in devices() {
        for extents in extents_on(&device).into_iter().map(over_ranks) {
            let s = Setup::new(&device, extents, 0.4);
            let d = Distance { alpha: 0.6, t0: extents[3] - 1 };
            let (a, b) = (spinor::random(s.lat, 1), spinor::random(s.lat, 2));
            for params in [DiracParams { mass: 0.2, ..Default::default() }, clover()] {
                let dirac = Dirac::new(s.lat, &s.links, reference_params(&params));
                let expect = |form: (bool, bool)| -> Vec<f64> {
                    let image = |f: &&Field| field_numbers(&hop_by_hop(&dirac, d, form, f));
                    [&a, &b].iter().flat_map(image).collect()
                };
                let plain: Arc<dyn QuarkAction> =
                    Arc::new(Wilson::new(s.gauge.clone(), params).unwrap());
                let weights = DistanceWeights::new(&*plain, d).unwrap();
                for (adjoint, precision) in
                    Precision::ALL.into_iter().flat_map(|p| [(false, p), (true, p)])
                {
                    let (expect, expect_dag) = (expect((adjoint, false)), expect((adjoint, true)));
                    let op = weights.weighted(plain.clone(), adjoint);
                    let op = op.shared_copy((precision, Recon::R12)).unwrap();
                    let inp = s.spinors(precision, Subset::Full, &[&a, &b]);
                    let mut out = inp.like(precision).unwrap();
                    // Weights grow by a factor of exp(alpha) per time slice, and with them the rounding errors of
                    // neighbours.
                    let bound = 2.0 * tolerance(precision, 60.0);
                    op.apply(&mut out, &inp).unwrap();
                    let off = distance(&out.save_lex().unwrap(), &expect);
                    assert!(off < bound, "{:?} {adjoint} {precision:?} {params:?}: {off:e}", s.lat);
                    op.apply_dagger(&mut out, &inp).unwrap();
                    let off = distance(&out.save_lex().unwrap(), &expect_dag);
                    let form = (adjoint, precision);
                    assert!(off < bound, "dagger {:?} {form:?} {params:?}: {off:e}", s.lat);
                }
            }
        }
    }
}

/// M' is gauge covariant: applied with transformed links it gives the transformed result; the weights do not depend
/// on the gauge.
#[test]
fn the_weighted_operator_is_gauge_covariant() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([4, 4, 4, 8]), 0.4);
        let g = su3::random_transformation(s.lat, 9);
        let turned: Gauge = su3::transform(s.lat, &s.links, &g);
        let other = Setup::of(&device, s.lat.extents, turned);
        let turn = |f: &Field| -> Field {
            f.iter().zip(&g).map(|(v, g)| reference::gamma::mul_colour(g, v)).collect()
        };
        let d = Distance { alpha: 1.0, t0: 3 };
        let apply = |s: &Setup, f: &Field| {
            let op = Arc::new(Wilson::new(s.gauge.clone(), clover()).unwrap());
            let inp = s.spinors(Precision::F64, Subset::Full, &[f]);
            let mut out = inp.like(Precision::F64).unwrap();
            DistanceWeighted::new(op, d).unwrap().apply(&mut out, &inp).unwrap();
            field_from(&out.save_lex().unwrap())
        };
        let f = spinor::random(s.lat, 4);
        let off = spinor::relative_distance(&apply(&other, &turn(&f)), &turn(&apply(&s, &f)));
        assert!(off < 1e-12, "{off:e}");
    }
}

fn solver(
    op: Arc<dyn QuarkAction>,
    tol: f64,
    distance: Option<Distance>,
    sloppy: Precision,
) -> DiracSolver {
    let stop = Stop { iterations: 2000, ..Stop::at(tol) };
    let solver = SolverParams { kind: SolverKind::BiCgStab, stop, ..Default::default() };
    let sloppy = Some((sloppy, Recon::R12));
    DiracSolver::new(op, SolveParams { solver, sloppy, distance, ..Default::default() }).unwrap()
}

/// The relative residual |b - C x| / |x| on every time slice by the reference, with C = M, M^dagger or M^dagger M in
/// its normalisation.
fn slice_residuals(dirac: &Dirac, solution: Solution, b: &Field, x: &Field) -> Vec<f64> {
    let two_kappa = C::new(2.0 * dirac.params.kappa(), 0.0);
    let mat = |f: &Field| spinor::scale(two_kappa, &dirac.apply(f));
    let dag = |f: &Field| spinor::scale(two_kappa, &dirac.apply_dag(f));
    let image = match solution {
        Solution::Mat => mat(x),
        Solution::MatDag => dag(x),
        _ => dag(&mat(x)),
    };
    let (mut left, mut norm) = (vec![0.0; dirac.lat.extents[3]], vec![0.0; dirac.lat.extents[3]]);
    for i in 0..dirac.lat.volume() {
        let t = dirac.lat.coords(i)[3];
        for ((z, b), x) in
            image[i].iter().flatten().zip(b[i].iter().flatten()).zip(x[i].iter().flatten())
        {
            left[t] += (b - z).norm_sqr();
            norm[t] += x.norm_sqr();
        }
    }
    left.iter().zip(&norm).map(|(l, n)| (l / n).sqrt()).collect()
}

const HEAVY: [usize; 4] = [4, 4, 4, 32];

/// A solve in mixed precision on rough links leaves a residual in every time slice that is small compared with the
/// solution there; without weights the solution far from the source is noise.
#[test]
fn every_time_slice_of_a_heavy_quark_meets_the_tolerance() {
    // On these links the quark's propagator falls by about exp(-1.5) per time slice.
    let (tol, d) = (1e-9, Distance { alpha: 1.5, t0: 5 });
    for device in devices() {
        let s = Setup::new(&device, HEAVY, 0.4);
        for params in
            [DiracParams::default(), DiracParams { csw: 1.0, csw_t: 1.0, ..Default::default() }]
        {
            let params = params.with_kappa(0.08);
            let dirac = Dirac::new(s.lat, &s.links, reference_params(&params));
            let source = s.lat.lex([1, 2, 3, d.t0]);
            let columns =
                [(0, 0), (3, 1)].map(|(spin, colour)| spinor::point(s.lat, source, spin, colour));
            let b = s.spinors(Precision::F64, Subset::Full, &[&columns[0], &columns[1]]);
            let op: Arc<dyn QuarkAction> = Arc::new(Wilson::new(s.gauge.clone(), params).unwrap());
            for solution in [Solution::Mat, Solution::MatDag, Solution::MatDagMat] {
                let worst = |distance: Option<Distance>, sloppy: Precision| -> f64 {
                    let base = solver(op.clone(), tol, distance, sloppy).params().clone();
                    let asked = SolveParams { solution, ..base };
                    let solver = DiracSolver::new(op.clone(), asked).unwrap();
                    let mut x = b.like(Precision::F64).unwrap();
                    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
                    assert!(report.solver.converged, "{params:?}: {report:?}");
                    let all = x.save_lex().unwrap();
                    let each = all.chunks(all.len() / 2).zip(&columns);
                    let of = |(x, b): (&[f64], &Field)| {
                        slice_residuals(&dirac, solution, b, &field_from(x))
                    };
                    largest(each.flat_map(of))
                };
                let plain = worst(None, Precision::F32);
                assert!(plain > 0.05, "{solution} {params:?}: without weights {plain:e}");
                for sloppy in [Precision::F64, Precision::F32, Precision::F16] {
                    let off = worst(Some(d), sloppy);
                    assert!(off < 100.0 * tol, "{solution} {params:?} {sloppy:?}: {off:e}");
                }
            }
        }
    }
}

/// The correlator of the pion from a wall source on unit links agrees with its formula at all times: the propagator
/// at rest is a geometric series of r = 2 kappa / (1 - 6 kappa).
#[test]
fn a_heavy_pion_is_that_of_the_free_field() {
    let (kappa, t0) = (0.07, 9);
    for device in devices() {
        let links = su3::unit_gauge(Lattice::new(HEAVY));
        let s = Setup::of(&device, HEAVY, links);
        let params = DiracParams::default().with_kappa(kappa);
        let op: Arc<dyn QuarkAction> = Arc::new(Wilson::new(s.gauge.clone(), params).unwrap());
        let times = HEAVY[3];
        let (a, r) = (1.0 - 6.0 * kappa, 2.0 * kappa / (1.0 - 6.0 * kappa));
        let mode = |t: usize| r.powi(t as i32) / (a * (1.0 + r.powi(times as i32)));
        // Both eigenvalues of gamma4 contribute, each with two spins and three colours.
        let exact = |t: usize| {
            64.0 * 6.0 * (mode(t).powi(2) + mode(if t == 0 { 0 } else { times - t }).powi(2))
        };
        let worst = |distance: Option<Distance>| {
            let solver = solver(op.clone(), 1e-9, distance, Precision::F32);
            let (field, report) =
                propagator(&solver, Source::wall(t0), 12, &mut no_monitor).unwrap();
            assert!(report.solver.converged, "{report:?}");
            let pion = correlators(&field, [0, 0, 0, t0], Boundary::ANTIPERIODIC).unwrap().pion;
            largest((0..times).map(|t| (pion[t] / exact(t) - 1.0).abs()))
        };
        let plain = worst(None);
        assert!(plain > 0.05, "without weights it is right to {plain:e}");
        let off = worst(Some(Distance { alpha: 1.2, t0 }));
        assert!(off < 1e-6, "{off:e}");
    }
}

/// The solution does not depend on the weights: for all systems, equations and algorithms, with an initial guess, and
/// for P x = b.
#[test]
fn weights_leave_the_solution_as_it_is() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([4, 4, 2, 8]), 0.4);
        let d = Distance { alpha: 0.3, t0: 2 };
        let doublet = DoubletParams { wilson: DiracParams { mu: 0.2, ..clover() }, epsilon: 0.1 };
        let ops: [Arc<dyn QuarkAction>; 2] = [
            Arc::new(Wilson::new(s.gauge.clone(), clover()).unwrap()),
            Arc::new(Doublet::new(s.gauge.clone(), doublet).unwrap()),
        ];
        for op in ops {
            let own = Schur { parity: 1, symmetric: false };
            for (even_odd, solution, kind, equations) in [
                (None, Solution::Mat, SolverKind::BiCgStab, Equations::Direct),
                (Some(Schur::EVEN_SYMMETRIC), Solution::Mat, SolverKind::Gcr, Equations::Direct),
                (Some(own), Solution::Mat, SolverKind::Cgnr, Equations::Direct),
                (Some(own), Solution::MatPc, SolverKind::Cg, Equations::NormalError),
                (None, Solution::MatDag, SolverKind::BiCgStab, Equations::Direct),
                (Some(Schur::EVEN_SYMMETRIC), Solution::MatDag, SolverKind::Gcr, Equations::Direct),
                (Some(own), Solution::MatPcDag, SolverKind::Cgnr, Equations::Direct),
                (None, Solution::MatDagMat, SolverKind::Cg, Equations::Direct),
                (Some(own), Solution::MatDagMat, SolverKind::BiCgStab, Equations::Direct),
                (Some(own), Solution::MatMatDag, SolverKind::Cg, Equations::NormalResidual),
                (Some(own), Solution::MatPcDagMatPc, SolverKind::Cg, Equations::Direct),
                (Some(own), Solution::MatPcMatPcDag, SolverKind::Gcr, Equations::Direct),
            ] {
                let solver = SolverParams { kind, stop: Stop::at(1e-11), ..Default::default() };
                let solver = SolverParams { initial_guess: !solution.preconditioned(), ..solver };
                let base =
                    SolveParams { solver, solution, even_odd, equations, ..Default::default() };
                let with = |distance| SolveParams { distance, ..base.clone() };
                let plain = DiracSolver::new(op.clone(), with(None)).unwrap();
                let weighted = DiracSolver::new(op.clone(), with(Some(d))).unwrap();
                let shape = op.subset_shape(plain.subset());
                let mut b = shape.field(2).unwrap();
                b.set_noise(plaq::fields::Noise::Normal, 3, 0).unwrap();
                let solve = |solver: &DiracSolver, guess: Option<&SpinorField>| {
                    let mut x = shape.field(2).unwrap();
                    if let Some(guess) = guess {
                        x.copy_rhs(0, guess, 0, 2).unwrap();
                    }
                    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
                    assert!(report.solver.converged, "{base:?}: {report:?}");
                    (x, report.solver.iterations)
                };
                let (expect, _) = solve(&plain, None);
                let (found, iterations) = solve(&weighted, None);
                let off = |x: &SpinorField| {
                    let mut r = shape.field(2).unwrap();
                    r.copy_rhs(0, x, 0, 2).unwrap();
                    blas::axpy(&blas::uniform(2, -1.0), &expect, &mut r).unwrap();
                    let ratio = blas::norm2(&r).unwrap()[1] / blas::norm2(&expect).unwrap()[1];
                    ratio.sqrt()
                };
                assert!(off(&found) < 1e-9 && iterations > 3, "{base:?}: {:e}", off(&found));
                if base.solver.initial_guess {
                    let (again, more) = solve(&weighted, Some(&found));
                    assert!(more <= 1 && off(&again) < 1e-9, "{base:?}: {more} iterations again");
                }
            }
        }
    }
}

#[test]
fn what_has_no_weights_is_refused() {
    let device = &devices()[0];
    let s = Setup::new(device, over_ranks([4, 4, 4, 4]), 0.4);
    let op: Arc<dyn QuarkAction> = Arc::new(Wilson::new(s.gauge.clone(), clover()).unwrap());
    let times = s.lat.extents[3];
    let refused = |op: &Arc<dyn QuarkAction>, params: SolveParams, status: Status, word: &str| {
        let error = DiracSolver::new(op.clone(), params).err().unwrap();
        assert!(error.status == status && error.message().contains(word), "{error}");
    };
    let good = Distance { alpha: 0.5, t0: 0 };
    let at = |alpha: f64, t0: usize| SolveParams {
        distance: Some(Distance { alpha, t0 }),
        ..Default::default()
    };
    refused(&op, at(-0.5, 0), Status::BadParameter, "distance_alpha");
    refused(&op, at(f64::NAN, 0), Status::BadParameter, "distance_alpha");
    refused(&op, at(161.0 / times as f64, 0), Status::BadParameter, "distance_alpha");
    refused(&op, at(0.5, times), Status::BadParameter, "distance_t0");
    let solver = SolverParams { kind: SolverKind::Cg, ..Default::default() };
    let normal = SolveParams { solver, solution: Solution::MatPcDagMatPc, ..at(0.5, 0) };
    let shifts = [Shift { sigma: 0.1, tol: 1e-6, heavy_quark: 0.0 }];
    let solver = DiracSolver::new(op.clone(), normal).unwrap();
    let b = solver.op().subset_shape(Subset::Even).field(1).unwrap();
    let error =
        solver.multishift(&shifts, &mut [b.like(Precision::F64).unwrap()], &b, &mut no_monitor);
    let error = error.unwrap_err();
    assert!(error.status == Status::Unsupported && error.message().contains("distance_alpha"));
    for (components, directions) in [(Components::COLOUR, 15), (Components::SPINOR, 7)] {
        let laplace = LaplaceParams { components, directions, mass2: 0.1 };
        let laplace: Arc<dyn QuarkAction> = Arc::new(laplace.on(s.gauge.clone()).unwrap());
        refused(&laplace, at(0.5, 0), Status::Unsupported, "");
    }
    // Multigrid is not used, neither on request nor chosen automatically.
    let solver = SolverParams { kind: SolverKind::Gcr, ..Default::default() };
    let params = SolveParams { solver, distance: Some(good), ..Default::default() };
    let multigrid = Arc::new(Multigrid::new(&*op, &MultigridParams::default()).unwrap());
    for automatic in [None, Some(100_000)] {
        let params = SolveParams { automatic, ..params.clone() };
        let solver = DiracSolver::new(op.clone(), params).unwrap();
        let error = solver.set_multigrid(Some(multigrid.clone())).unwrap_err();
        assert!(error.message().contains("distance_alpha"), "{error}");
        if automatic.is_some() {
            let b = s.spinors(Precision::F64, Subset::Full, &[&spinor::random(s.lat, 1)]);
            let mut x = b.like(Precision::F64).unwrap();
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
            assert_eq!(report.chosen, Chosen::OnlyKrylov);
        }
    }
}
