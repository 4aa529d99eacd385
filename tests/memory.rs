//! Tests of the device memory of solves and gauge fixings: the announced memory is enough and not much more than
//! needed, and what does not fit is refused before anything is allocated.

use crate::common;
use std::ops::ControlFlow;
use std::sync::Arc;

use common::lex::Lex;
use common::{devices, over_ranks, ranks};
use num_complex::Complex64;
use plaq::backend::Device;
use plaq::compose::{
    DiracSolver, Equations, Method as SignMethod, Modes, OverlapAlgorithm, OverlapModes, Schur,
    Solution, SolveParams,
};
use plaq::error::Status;
use plaq::fields::{
    blas, CloverField, Components, GaugeField, Geometry, Noise, Precision, Recon, RhsOrder,
    SpinorField, Subset, VectorField,
};
use plaq::linop::{LinOp, Normal};
use plaq::operators::{DiracParams, Distance, InverseOwner, QuarkAction, Wilson};
use plaq::ops::gaugefix::{fix_gauge, Condition, GaugeFixParams, Method, Stop, Working};
use plaq::ops::overlap_settings::{OverlapSettings, OverlapShared, OverlapSolving};
use plaq::ops::propagator::propagator;
use plaq::ops::source::Source;
use plaq::solvers::{
    eigen_memory, eigen_set, no_monitor, EigenMethod, EigenParams, Progress, Shift, SolverKind,
    SolverParams, VectorMemory,
};
use Precision::{F32, F64};

const NRHS: usize = 2;

/// An operator on links near the unit matrix, with which every solver converges quickly.
fn operator(device: &Device, extents: [usize; 4]) -> Arc<Wilson> {
    operator_on(&Geometry::new(extents, device).unwrap(), device)
}

fn operator_on(geometry: &Arc<Geometry>, device: &Device) -> Arc<Wilson> {
    let mut gauge = GaugeField::new(device, geometry, F64, Recon::R18).unwrap();
    gauge.set_near_unit(5, 0.1).unwrap();
    let params = DiracParams { csw: 1.0, csw_t: 1.0, ..Default::default() }.with_kappa(0.11);
    Arc::new(Wilson::new(Arc::new(gauge), params).unwrap())
}

/// Bytes of links and clover blocks of all sites: A, or the blocks that a Schur complement needs in place of A.
fn operator_bytes(op: &Wilson, precision: Precision, recon: Recon) -> usize {
    let geometry = op.gauge().geometry();
    GaugeField::bytes(geometry, precision, recon) + CloverField::bytes(geometry, precision, 1)
}

/// Bytes of inverse blocks that a system needs besides A: of both parities, of one, or none.
fn inverse_bytes(op: &Wilson, even_odd: Option<Schur>) -> usize {
    let parities = even_odd.map_or(0, |form| 1 + usize::from(form.symmetric));
    parities * CloverField::bytes(op.gauge().geometry(), F64, 1) / 2
}

fn params(kind: SolverKind) -> SolveParams {
    let solver = SolverParams {
        kind,
        nkrylov: 4,
        stop: plaq::solvers::Stop::at(1e-9),
        ..Default::default()
    };
    let equations = match kind {
        SolverKind::Cg => Equations::NormalResidual,
        _ => Equations::Direct,
    };
    SolveParams { solver, equations, sloppy: Some((F32, Recon::R12)), ..Default::default() }
}

/// Parameters of every algorithm, in one precision and in two, for the full system and even-odd.
fn all() -> Vec<SolveParams> {
    let mut all = Vec::new();
    for kind in [SolverKind::Cg, SolverKind::BiCgStab, SolverKind::Gcr, SolverKind::BlockGcr] {
        for sloppy in [None, Some((F32, Recon::R12))] {
            for even_odd in [None, Some(true), Some(false)] {
                let even_odd = even_odd.map(|symmetric| Schur { parity: 0, symmetric });
                let base = SolveParams { sloppy, even_odd, ..params(kind) };
                all.push(base.clone());
                if even_odd.is_some() {
                    all.push(SolveParams { solution: Solution::MatPc, ..base.clone() });
                }
                if kind != SolverKind::Cg {
                    let distance = Some(Distance { alpha: 0.2, t0: 0 });
                    all.push(SolveParams { distance, ..base.clone() });
                }
                all.push(SolveParams { solution: Solution::MatDagMat, ..base });
            }
        }
    }
    all
}

fn noise(op: &Wilson, subset: Subset) -> SpinorField {
    let gauge = op.gauge();
    let mut b = SpinorField::new(gauge.device(), gauge.geometry(), F64, subset, NRHS).unwrap();
    b.set_noise(Noise::Normal, 3, 0).unwrap();
    b
}

/// Checks operators, source, solution and announced memory: with less than announced the solve is refused, it takes
/// no more, and the announcement is at most two per cent above what it takes.
#[test]
fn a_solve_takes_what_it_announces() {
    for device in devices() {
        let op = operator(&device, [4, 4, 4, 8]);
        for params in all() {
            let what = format!("{} {params:?}", device.name());
            let solver = DiracSolver::new(op.clone(), params.clone()).unwrap();
            let b = noise(&op, solver.subset());
            let mut x = b.like(F64).unwrap();
            let geometry = op.gauge().geometry();
            let vectors = 2 * SpinorField::bytes(geometry, F64, solver.subset(), NRHS);
            let sloppy = params.sloppy.map_or(0, |(p, recon)| operator_bytes(&op, p, recon));
            // Weights of time slices and their inverses.
            let weights = params.distance.map_or(0, |_| 2 * 8 * geometry.extents()[3]);
            // GCR with a lower precision inside holds no inverse blocks of its own: they are lent to it.
            let lent = params.solver.kind.is_gcr() && params.sloppy.is_some();
            let inverse = inverse_bytes(&op, params.even_odd.filter(|_| !lent));
            let own = operator_bytes(&op, F64, Recon::R18) + inverse;
            let held = own + sloppy + vectors + weights;
            assert_eq!(device.used().0, held as u64, "{what}");

            let needed = held as u64 + solver.memory(NRHS).unwrap();
            let one = solver.memory(1).unwrap();
            device.limit_memory(held as u64 + one - 1);
            device.reset_peak();
            let error = solver.solve(&mut x, &b, &mut no_monitor).unwrap_err();
            assert_eq!(error.status, Status::OutOfMemory, "{what}");
            for number in [one, one - 1] {
                assert!(error.message().contains(&number.to_string()), "{what}: {error}");
            }
            assert_eq!(device.used(), (held as u64, held as u64), "{what}: allocated");
            assert_eq!(blas::norm2(&x).unwrap(), [0.0; NRHS], "{what}: x was changed");

            // Where all right-hand sides do not fit at once, they are solved for one after the other.
            device.limit_memory(needed - 1);
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
            assert!(report.solver.converged && report.columns == 1, "{what}: {report:?}");
            assert_eq!(device.used().0, held as u64, "{what}: something was left");

            device.limit_memory(needed);
            device.reset_peak();
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
            assert!(report.solver.converged && report.columns == NRHS, "{what}: {report:?}");
            assert_eq!(report.memory_peak, device.used().1, "{what}");
            // GCR takes its directions as a cycle first needs them.
            let taken = report.memory_peak as f64;
            if !params.solver.kind.is_gcr() || params.sloppy.is_none() {
                assert!(needed as f64 <= 1.02 * taken, "{what}: {needed} announced, {taken} taken");
            }
            device.limit_memory(u64::MAX);
        }
    }
}

/// An operator with 16 bits inside keeps no inverse blocks for its residuals: if memory is short they are computed
/// for one parity at a time, otherwise for each solve, and the solution equals the one with kept blocks, bit for bit.
#[test]
fn a_solve_with_16_bits_inside_keeps_no_precise_inverse() {
    for device in devices() {
        let op = operator(&device, [4, 4, 4, 8]);
        for symmetric in [true, false] {
            let form = Schur { parity: 0, symmetric };
            let even_odd = Some(form);
            let sloppy = Some((Precision::F16, Recon::R12));
            let params = SolveParams { sloppy, even_odd, ..params(SolverKind::BiCgStab) };
            let solver = DiracSolver::new(op.clone(), params).unwrap();
            let b = noise(&op, solver.subset());
            let mut x = b.like(F64).unwrap();
            let held = device.used().0 as usize;
            let vectors = 2 * SpinorField::bytes(b.geometry(), F64, Subset::Full, NRHS);
            let copy = operator_bytes(&op, Precision::F16, Recon::R12);
            assert_eq!(held, operator_bytes(&op, F64, Recon::R18) + copy + vectors, "{form}");
            let half = inverse_bytes(&op, Some(Schur { parity: 0, symmetric: false }));
            let needed = solver.memory(NRHS).unwrap();
            let mut solved = |room: u64| {
                x.clear().unwrap();
                let before = device.used().0;
                device.limit_memory(room);
                device.reset_peak();
                assert!(solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver.converged);
                device.limit_memory(u64::MAX);
                assert_eq!(device.used().0, before, "{form}");
                (device.used().1 - before, x.save_lex().unwrap())
            };
            let limit = held as u64 + needed;
            let (short, made_anew) = solved(limit);
            assert!(short <= needed && needed as f64 <= 1.1 * short as f64, "{short} {needed}");
            let all = inverse_bytes(&op, even_odd);
            let (long, made_once) = solved(limit + all as u64);
            // One parity is there in either.
            assert_eq!(long, short + (all - half) as u64, "{form}");
            assert_eq!(made_anew, made_once, "{form}");

            let kept = op.clone().schur(form).unwrap();
            kept.set_inverse_owner(InverseOwner::Complement).unwrap();
            assert_eq!(device.used().0 as usize, held + all, "{form}");
            assert_eq!(made_anew, solved(u64::MAX).1, "{form}");
        }
    }
}

/// A column of a solve with 16 bits inside takes the seven vectors of the iteration. The memory of one of them (of
/// two for a single column) holds a quarter of the residual in double while it is computed. Solution and source of
/// the system lie in the memory of the solution, where on the other parity a residual has what is between its hops.
#[test]
fn a_column_takes_short_vectors_and_a_quarter_of_a_precise_one() {
    for device in devices() {
        let op = operator(&device, [4, 4, 4, 8]);
        for symmetric in [true, false] {
            let even_odd = Some(Schur { parity: 0, symmetric });
            let sloppy = Some((Precision::F16, Recon::R12));
            let params = SolveParams { sloppy, even_odd, ..params(SolverKind::BiCgStab) };
            let solver = DiracSolver::new(op.clone(), params).unwrap();
            let of = |n| solver.memory(n).unwrap();
            let geometry = op.gauge().geometry();
            let half = |precision| SpinorField::bytes(geometry, precision, Subset::Even, 1) as u64;
            let blocks = inverse_bytes(&op, Some(Schur { parity: 0, symmetric: false })) as u64;
            for n in [4, 8, 12] {
                let expected =
                    n as u64 * 6 * half(Precision::F16) + n as u64 / 4 * half(F64) + blocks;
                assert_eq!(of(n), expected, "{symmetric} {n}");
            }
            assert_eq!(of(1), 5 * half(Precision::F16) + half(F64) + blocks, "{symmetric}");
        }
    }
}

/// Memory that is short on the last rank alone makes all ranks refuse with that rank's message and change nothing;
/// afterwards all of them can solve.
#[test]
fn short_memory_of_one_rank_refuses_on_all() {
    let last = ranks().rank() + 1 == ranks().size();
    for device in devices() {
        let op = operator_on(&common::geometry(over_ranks([4, 4, 4, 8]), &device), &device);
        for (solution, kind) in
            [(Solution::Mat, SolverKind::Cgnr), (Solution::MatPcDagMatPc, SolverKind::Cg)]
        {
            let params = SolveParams { solution, ..params(kind) };
            let solver = DiracSolver::new(op.clone(), params).unwrap();
            let b = noise(&op, solver.subset());
            let mut xs = [b.like(F64).unwrap(), b.like(F64).unwrap()];
            let source = Source::point([0; 4]);
            let shifts = [0.0, 0.1].map(|sigma| Shift { sigma, tol: 1e-8, heavy_quark: 0.0 });
            // Exchanges are made by a first solve.
            solver.solve(&mut xs[0], &b, &mut no_monitor).unwrap();
            xs[0].clear().unwrap();
            let held = device.used().0;
            device.limit_memory(if last { held + solver.memory(1).unwrap() - 1 } else { u64::MAX });
            let error = match solution {
                Solution::Mat => solver.solve(&mut xs[0], &b, &mut no_monitor).unwrap_err(),
                _ => solver.multishift(&shifts, &mut xs, &b, &mut no_monitor).unwrap_err(),
            };
            assert_eq!(error.status, Status::OutOfMemory, "{error}");
            assert!(error.message().contains("this solve needs"), "{error}");
            assert_eq!(device.used().0, held);
            assert_eq!(blas::norm2(&xs[0]).unwrap(), [0.0; NRHS]);
            if solution == Solution::Mat {
                device.limit_memory(if last { held + 1 } else { u64::MAX });
                let error =
                    propagator(&solver, source, 3, &mut no_monitor).map(|_| ()).unwrap_err();
                assert!(error.message().contains("this propagator needs"), "{error}");
            }
            device.limit_memory(u64::MAX);
            assert!(solver.solve(&mut xs[0], &b, &mut no_monitor).unwrap().solver.converged);
        }
    }
}

/// A search for eigenvectors takes what it announces, with its vectors on the device or on the host.
#[test]
fn a_search_for_eigenvectors_takes_what_it_announces() {
    for device in devices() {
        let op = operator(&device, if device.is_cpu() { [4, 4, 4, 8] } else { [16; 4] });
        let op = Normal::mdag_m(op as Arc<dyn LinOp>);
        let params = EigenParams { count: 8, tol: 1e-4, ..Default::default() };
        let held = device.used().0;
        let announced = eigen_memory(&op, &params).unwrap();
        for vectors in [VectorMemory::Device, VectorMemory::Host] {
            let params = EigenParams { vectors, ..params.clone() };
            device.limit_memory(held + announced);
            device.reset_peak();
            let (_, report) = eigen_set(&op, None, &params, None, &mut no_monitor).unwrap();
            device.limit_memory(u64::MAX);
            let taken = device.used().1 - held;
            let waiting = (report.max_vectors + 3 - report.on_device) as u64;
            assert_eq!(waiting > 0, vectors == VectorMemory::Host);
            let (taken, expect) = (taken as f64, announced as f64);
            // Those on the host come to the device by portions.
            let fits = taken <= expect && (expect <= 1.1 * taken) == (waiting == 0);
            assert!(fits, "{}: {vectors}: {expect} {taken} {report:?}", device.name());
        }
    }
}

#[test]
fn several_shifts_take_what_they_announce() {
    for device in devices() {
        let op = operator(&device, [4, 4, 4, 8]);
        let solution = Solution::MatPcDagMatPc;
        let solver =
            DiracSolver::new(op, SolveParams { solution, ..params(SolverKind::Cg) }).unwrap();
        let b = noise(solver.op().as_any().downcast_ref().unwrap(), solver.subset());
        let shifts = [0.0, 0.1, 0.4].map(|sigma| Shift { sigma, tol: 1e-8, heavy_quark: 0.0 });
        let mut xs: Vec<SpinorField> = shifts.iter().map(|_| b.like(F64).unwrap()).collect();
        let held = device.used().0;
        let direction = SpinorField::bytes(b.geometry(), F32, solver.subset(), NRHS) * shifts.len();
        let needed = held + solver.memory(NRHS).unwrap() + direction as u64;
        // Where not one right-hand side fits.
        device.limit_memory(held + 1);
        device.reset_peak();
        let error = solver.multishift(&shifts, &mut xs, &b, &mut no_monitor).unwrap_err();
        assert_eq!(error.status, Status::OutOfMemory);
        assert_eq!(device.used(), (held, held));
        // Where not all of them do.
        device.limit_memory(needed - 1);
        let (report, _) = solver.multishift(&shifts, &mut xs, &b, &mut no_monitor).unwrap();
        assert!(report.solver.converged && report.columns < NRHS, "{report:?}");
        assert!(report.memory_peak < needed, "{needed}: {report:?}");
        device.limit_memory(needed);
        let (report, _) = solver.multishift(&shifts, &mut xs, &b, &mut no_monitor).unwrap();
        assert!(report.solver.converged && report.columns == NRHS, "{report:?}");
        assert!(needed as f64 <= 1.1 * report.memory_peak as f64, "{needed}: {report:?}");
    }
}

/// Rehearsals of the overlap operator ask for what making it and solving with it take.
#[test]
fn overlap_operators_and_their_solves_take_what_is_planned() {
    let near = |what: &str, more: f64, planned: u64, taken: u64| {
        let share = planned as f64 / taken as f64;
        let fits = (0.98..=1.02 + more).contains(&share);
        println!("{what}: {planned} planned, {taken} taken");
        assert!(fits, "{what}: {planned} planned, {taken} taken");
    };
    for device in devices() {
        let geometry = Geometry::new([4, 4, 4, 8], &device).unwrap();
        let mut links = GaugeField::new(&device, &geometry, F64, Recon::R18).unwrap();
        links.set_near_unit(7, 0.4).unwrap();
        let links = Arc::new(links);
        for (sign, method, two_passes) in [
            (SignMethod::Polynomial, EigenMethod::Lanczos, false),
            (SignMethod::Zolotarev, EigenMethod::Ritz, false),
            (SignMethod::Zolotarev, EigenMethod::Lanczos, true),
        ] {
            let settings = OverlapSettings {
                mass: 0.3,
                delta: 1e-4,
                modes: Some(4),
                modes_tol: 1e-8,
                smearing_steps: 1,
                smearing_alpha: [0.1, 0.6, 0.3],
                sign,
                method,
                two_passes,
                ..Default::default()
            };
            let planned = settings.needs(&links, None).unwrap();
            let what = format!("{}: {sign} {method}", device.name());
            let (before, watch) = (device.used().0, device.watch_peak());
            let (kernel, target) = settings.kernel(links.clone()).unwrap();
            let modes = settings.modes();
            let made = watch.bytes() - before;
            let modes = Modes::find(&kernel, None, &modes, None, &mut no_monitor).unwrap();
            println!("{what}: {made} for the kernel, {} with the search", watch.bytes() - before);
            let op = Arc::new(settings.operator(kernel, modes, target).unwrap());
            near(&what, 0.0, planned.memory, watch.bytes() - before);
            near(&what, 0.0, planned.kept, device.used().0 - before);
            assert!(planned.kernels.names.iter().any(|name| name.starts_with("evolve")), "{what}");
            // More modes take more.
            let more = OverlapSettings { modes: Some(20), ..settings.clone() };
            assert!(more.needs(&links, None).unwrap().kept > planned.kept, "{what}");

            if sign != SignMethod::Polynomial {
                continue;
            }
            let low = OverlapModes::find(&op, 2, 1e-3, &mut no_monitor).unwrap();
            let low = Arc::new(low);
            let shape = op.shape();
            let (mut x, mut b) = (shape.field(2).unwrap(), shape.field(2).unwrap());
            b.set_noise(Noise::Normal, 4, 0).unwrap();
            for (algorithm, wilson_iterations, multigrid) in [
                (OverlapAlgorithm::ChiralCg, 0, None),
                (OverlapAlgorithm::Sumr, 0, None),
                (OverlapAlgorithm::Gcr, 0, None),
                (OverlapAlgorithm::Gcr, 100, Some(false)),
                (OverlapAlgorithm::Gcr, 100, Some(true)),
            ] {
                let how = OverlapSolving {
                    solver: algorithm,
                    tol: 1e-3,
                    sloppy_precision: Some(F32),
                    wilson_iterations,
                    multigrid,
                    nkrylov: 4,
                    ..Default::default()
                };
                let what = format!("{what} {algorithm} {wilson_iterations} {multigrid:?}");
                // An operator that was not applied yet has no vectors of its own.
                let op = Arc::new(op.to(F64, Recon::R12).unwrap());
                let mut kept = OverlapShared::default();
                let solve = |kept: &mut OverlapShared, x: &mut SpinorField| {
                    let solver = how.solver(&op, Some(low.clone()), &[0.3], 2, kept).unwrap();
                    assert!(solver.solve(x, &b, &mut no_monitor).unwrap().converged);
                };
                let planned = how.needs(&op, Some(&low), 2, &kept).unwrap();
                let (before, watch) = (device.used().0, device.watch_peak());
                solve(&mut kept, &mut x);
                // A set-up may end before it has taken all that it can.
                let more = if multigrid == Some(true) { 0.25 } else { 0.0 };
                near(&what, more, planned.memory, watch.bytes() - before);
                assert_eq!(kept.multigrid.is_some(), multigrid == Some(true));
                // A hierarchy that is there is not made again.
                let again = how.needs(&op, Some(&low), 2, &kept).unwrap();
                assert_eq!(again.memory < planned.memory, multigrid == Some(true), "{what}");
            }
        }
    }
}

/// An overlap operator is planned for the memory that is free: if it is short, for the number of vectors that the
/// search for modes then has, and if it does not suffice for any search, for the full number.
#[test]
fn overlap_operators_are_planned_for_the_memory_that_there_is() {
    for device in devices() {
        let geometry = Geometry::new([4, 4, 4, 8], &device).unwrap();
        let mut links = GaugeField::new(&device, &geometry, F64, Recon::R18).unwrap();
        links.set_near_unit(7, 0.4).unwrap();
        let links = Arc::new(links);
        let settings = OverlapSettings {
            delta: 1e-4,
            modes: Some(40),
            modes_tol: 1e-8,
            sign: SignMethod::Polynomial,
            ..Default::default()
        };
        let all = settings.needs(&links, None).unwrap().memory;
        let before = device.used().0;
        device.limit_memory(before + all / 2);
        let planned = settings.needs(&links, None).unwrap();
        assert!(planned.memory <= all / 2, "{} of {all}", planned.memory);
        let watch = device.watch_peak();
        let (kernel, target) = settings.kernel(links.clone()).unwrap();
        let modes = Modes::find(&kernel, None, &settings.modes(), None, &mut no_monitor).unwrap();
        let op = settings.operator(kernel, modes, target).unwrap();
        let taken = watch.bytes() - before;
        assert!(taken > all / 4 && taken <= planned.memory, "{taken} of {}", planned.memory);
        drop(op);
        device.limit_memory(before + all / 50);
        assert_eq!(settings.needs(&links, None).unwrap().memory, all);
        device.limit_memory(u64::MAX);
    }
}

/// Sweeps and descents in every precision, one copy and more; links as they are given back.
#[test]
fn a_gauge_fixing_takes_what_it_announces() {
    for device in devices() {
        let geometry = Geometry::new([4, 4, 4, 8], &device).unwrap();
        let methods = [
            Method::Overrelaxation,
            Method::FourierDescent { alpha: 0.08 },
            Method::FourierCg { alpha: 0.08 },
        ];
        for (precision, recon) in [(F64, Recon::R18), (F64, Recon::R12), (F32, Recon::R8)] {
            let mut u = GaugeField::new(&device, &geometry, precision, recon).unwrap();
            u.set_near_unit(5, 0.1).unwrap();
            let held = device.used().0;
            for (working, method, copies) in [Working::Single, Working::Mixed, Working::Double]
                .into_iter()
                .flat_map(|w| methods.map(|m| [1, 3].map(|copies| (w, m, copies))))
                .flatten()
            {
                // A tolerance that single precision reaches, or one for which double precision is needed.
                let theta = if working == Working::Single { 1e-11 } else { 1e-20 };
                let params = GaugeFixParams {
                    precision: working,
                    method,
                    copies,
                    stop: Stop { theta, theta_max: 0.0, change: 0.0 },
                    ..GaugeFixParams::new(Condition::Landau)
                };
                let what = format!("{} {precision:?} {recon:?} {params:?}", device.name());
                let needed = params.memory(&u).unwrap();
                device.limit_memory(held + needed - 1);
                device.reset_peak();
                let error = fix_gauge(&u, &params, &mut |_| false).unwrap_err();
                assert_eq!(error.status, Status::OutOfMemory, "{what}");
                assert!(error.message().contains(&needed.to_string()), "{what}: {error}");
                assert_eq!(device.used(), (held, held), "{what}: allocated");
                device.limit_memory(held + needed);
                let fixed = fix_gauge(&u, &params, &mut |_| false).unwrap();
                assert!(fixed.report.best.total.converged, "{what}");
                drop(fixed);
                assert_eq!(device.used().0, held, "{what}");
                let taken = device.used().1 - held;
                println!("{what}: {needed} announced, {taken} taken");
                // cuFFT's work area is not counted.
                if device.is_cpu() {
                    assert_eq!(needed, taken, "{what}");
                } else if method == Method::Overrelaxation {
                    assert!(needed as f64 <= 1.1 * taken as f64, "{what}: {needed}, {taken}");
                }
                device.limit_memory(u64::MAX);
            }
        }
    }
}

/// Operators, sloppy operators and propagators as well.
#[test]
fn what_does_not_fit_is_refused_before_it_is_allocated() {
    for device in devices() {
        let op = operator(&device, [4, 4, 4, 8]);
        let (gauge, dirac) = (op.gauge().clone(), *op.params());
        drop(op);
        let refused = |what: &str, bytes: usize, attempt: &dyn Fn() -> Option<Status>| {
            let held = device.used().0;
            device.reset_peak();
            device.limit_memory(held + bytes as u64 - 1);
            assert_eq!(attempt(), Some(Status::OutOfMemory), "{what}");
            assert_eq!(device.used(), (held, held), "{what}: allocated");
            device.limit_memory(held + bytes as u64);
            assert_eq!(attempt(), None, "{what} with enough");
            device.limit_memory(u64::MAX);
        };
        let blocks = CloverField::bytes(gauge.geometry(), F64, 1);
        refused("operator", blocks, &|| Some(Wilson::new(gauge.clone(), dirac).err()?.status));
        let op = Arc::new(Wilson::new(gauge.clone(), dirac).unwrap());
        let both = operator_bytes(&op, F32, Recon::R12)
            + inverse_bytes(&op, params(SolverKind::BiCgStab).even_odd);
        refused("sloppy operator", both, &|| {
            Some(DiracSolver::new(op.clone(), params(SolverKind::BiCgStab)).err()?.status)
        });
        let solver = DiracSolver::new(op, params(SolverKind::BiCgStab)).unwrap();
        let columns = |n| SpinorField::bytes(gauge.geometry(), F64, Subset::Full, n) as u64;
        for at_once in [12, 5] {
            let solve = columns(at_once) + solver.memory(at_once).unwrap();
            // Solved columns wait on the host where they must, but for those of a CPU, whose memory is the host's.
            let least = match device.is_cpu() {
                true => columns(12) + solve,
                false => columns(12).max(columns(at_once) + solve),
            };
            refused("propagator", least as usize, &|| {
                let source = Source::point([0; 4]);
                Some(propagator(&solver, source, at_once, &mut no_monitor).err()?.status)
            });
        }
    }
}

/// On a GPU the driver's own account agrees: with kernels, scratch memory and whatever else, a solve takes at most a
/// tenth more than operators and vectors. What other tests take meanwhile is counted, too, so that one solve of some
/// has to agree.
#[test]
fn the_driver_counts_the_same() {
    for device in devices().into_iter().filter(|d| !d.is_cpu()) {
        let agrees = || {
            device.synchronize().unwrap();
            let free = device.memory().unwrap().0;
            let op = operator(&device, [24, 24, 24, 32]);
            let solver = DiracSolver::new(op.clone(), params(SolverKind::BiCgStab)).unwrap();
            let b = noise(&op, solver.subset());
            let mut x = b.like(F64).unwrap();
            let needed = device.used().0 + solver.memory(NRHS).unwrap();
            let mut least = free;
            let mut watch = |_: &Progress| {
                least = least.min(device.memory().unwrap().0);
                ControlFlow::Continue(())
            };
            assert!(solver.solve(&mut x, &b, &mut watch).unwrap().solver.converged);
            assert!(blas::dot(&x, &b).unwrap().iter().all(|z| *z != Complex64::ZERO));
            let taken = free - least;
            println!("{}: {} MiB taken of {} announced", device.name(), taken >> 20, needed >> 20);
            taken as f64 <= 1.1 * needed as f64
        };
        assert!((0..8).any(|_| agrees()), "{}", device.name());
    }
}

/// Vectors with right-hand sides fastest, of more than 2^31 complex numbers where a GPU has the memory for two
/// of them, else of a few: every right-hand side is what it is alone.
#[test]
fn numbers_that_32_bits_do_not_count() {
    for device in devices() {
        let large = !device.is_cpu() && device.memory().unwrap().0 > 45_000_000_000;
        let (extents, columns) = if large { ([32; 4], 180) } else { ([4, 2, 4, 6], 36) };
        let geometry = Geometry::with_lanes(extents, 1).unwrap();
        let content = (Components::SPINOR, RhsOrder::Fastest);
        let new = |seed| {
            let mut x = VectorField::with_components(
                &device,
                &geometry,
                F32,
                Subset::Full,
                columns,
                content,
            )
            .unwrap();
            x.set_noise(Noise::Normal, seed, 0).unwrap();
            x
        };
        let (x, mut y) = (new(3), new(4));
        println!("{}: {} complex numbers", device.name(), geometry.volume() * 12 * columns);
        let mut alone = SpinorField::new(&device, &geometry, F32, Subset::Full, 12).unwrap();
        let mut norms = vec![];
        for first in (0..columns).step_by(12) {
            alone.set_noise(Noise::Normal, 3, first as u32).unwrap();
            norms.extend(blas::norm2(&alone).unwrap());
        }
        let found = blas::norm2(&x).unwrap();
        let near = |a: f64, b: f64, scale: f64| (a - b).abs() < 1e-6 * scale;
        assert!(found.iter().zip(&norms).all(|(f, n)| near(*f, *n, *n)), "{found:?} {norms:?}");
        let (before, _) = blas::dot_norm(&x, &y).unwrap();
        blas::axpby(&blas::uniform(columns, 3.0), &x, &blas::uniform(columns, 2.0), &mut y)
            .unwrap();
        let (after, _) = blas::dot_norm(&x, &y).unwrap();
        for k in 0..columns {
            let expected = 3.0 * norms[k] + 2.0 * before[k];
            assert!(near(after[k].re, expected.re, norms[k]), "{k}: {} {expected}", after[k]);
            assert!(near(after[k].im, expected.im, norms[k]), "{k}: {} {expected}", after[k]);
        }
        y.copy_rhs(1, &x, columns - 3, 2).unwrap();
        let moved = blas::norm2(&y).unwrap();
        assert!(near(moved[1], norms[columns - 3], norms[1]), "{moved:?}");
        assert!(near(moved[2], norms[columns - 2], norms[2]), "{moved:?}");
    }
}
