//! Tests of the automatic solver, which chooses while it solves. Its solutions are checked with the reference's
//! operator.

use std::ops::ControlFlow;

use plaq::compose::{Chosen, Normalisation, SolverSettings};
use plaq::fields::{blas, Components};
use plaq::operators::{ActionParams, LaplaceParams, QuarkAction};
use plaq::ops::propagator::propagator;
use plaq::ops::source::Source;
use plaq::solvers::Progress;

use super::*;
use reference::numbers::field_numbers;

fn settings(expected_columns: usize) -> SolverSettings {
    SolverSettings { expected_columns, ..Default::default() }
}

fn automatic(op: &Arc<dyn QuarkAction>, settings: &SolverSettings) -> DiracSolver {
    let params = settings.params(op, Normalisation::Kappa).unwrap();
    DiracSolver::new(op.clone(), params).unwrap()
}

/// The relative residual |b - M x| / |b| by the reference, in kappa normalisation.
fn residual(setup: &Setup, op: &Wilson, x: &SpinorField, b: &SpinorField) -> f64 {
    let params = *op.params();
    let dirac = Dirac::new(setup.lat, &setup.links, reference_params(&params));
    let image = field_numbers(&dirac.apply_kappa(&field_from(&x.save_lex().unwrap())));
    let b = b.save_lex().unwrap();
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|z| z * z).sum::<f64>().sqrt();
    norm(&mut image.iter().zip(&b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
}

fn between_gpus(device: &Device, setup: &Setup) -> bool {
    !device.is_cpu() && setup.geometry.comm().size() > 1
}

const ROUGH: f64 = 0.2;
const MASS: f64 = -0.26;

/// Few right-hand sides are solved by BiCGStab. If many are expected, multigrid is set up, used in later solves, and
/// updated when links change.
#[test]
fn what_is_chosen() {
    for device in devices() {
        let mut setup = Setup::new(&device, [8, 4, 4, 16], ROUGH);
        let op = setup.wilson(DiracParams { mass: MASS, ..Default::default() });
        let field =
            || SpinorField::new(&device, &setup.geometry, Precision::F64, Subset::Full, 1).unwrap();
        let (mut x, mut b) = (field(), field());
        b.set_noise(Noise::Normal, 5, 0).unwrap();
        let action: Arc<dyn QuarkAction> = op.clone();
        let few = automatic(&action, &settings(1));
        let report = few.solve(&mut x, &b, &mut no_monitor).unwrap();
        assert!(report.solver.converged, "{report:?}");
        // Messages between GPUs make iterations on so small a lattice slow enough for a set-up to pay.
        if !between_gpus(&device, &setup) {
            assert!(report.chosen == Chosen::Krylov && few.multigrid().is_none(), "{report:?}");
        }
        assert!(residual(&setup, &op, &x, &b) < 1.01e-10);
        let many = automatic(&action, &settings(1_000_000));
        for solve in 0..3 {
            x.set_noise(Noise::Normal, 9, 0).unwrap();
            let report = many.solve(&mut x, &b, &mut no_monitor).unwrap();
            assert!(report.solver.converged && report.chosen == Chosen::Multigrid, "{report:?}");
            assert_eq!(report.solver.history.len() > 16, solve == 0);
            assert!(residual(&setup, &op, &x, &b) < 1.01e-10);
        }
        // New links: the hierarchy has to be updated.
        setup.links = su3::smooth_gauge(setup.lat, ROUGH, 8).iter().map(su3::reunitarise).collect();
        let mut gauge =
            GaugeField::new(&device, &setup.geometry, Precision::F64, Recon::R18).unwrap();
        gauge.load_lex(&gauge_numbers(&setup.links)).unwrap();
        op.update(&gauge).unwrap();
        let report = many.solve(&mut x, &b, &mut no_monitor).unwrap();
        assert!(report.solver.converged && report.chosen == Chosen::Multigrid, "{report:?}");
        assert!(residual(&setup, &op, &x, &b) < 1.01e-10);
    }
}

/// If columns take much of the memory, one of them is solved first to estimate the work; if they take little, all are
/// solved from the start.
#[test]
fn one_column_of_many_is_looked_at_first() {
    let device = Device::cpu(2).unwrap();
    let setup = Setup::new(&device, [8, 4, 4, 16], ROUGH);
    if setup.geometry.comm().size() > 1 {
        return;
    }
    let op: Arc<dyn QuarkAction> = setup.wilson(DiracParams { mass: MASS, ..Default::default() });
    let mut iterations = vec![];
    for (limit, first) in [(u64::MAX, 12), (device.used().0 + (64 << 20), 1)] {
        device.limit_memory(limit);
        let solver = automatic(&op, &settings(1_000_000));
        let mut told = vec![];
        let mut monitor = |p: &Progress| {
            told.push(p.residual.len());
            ControlFlow::Continue(())
        };
        let source = Source::point([1, 2, 3, 4]);
        let (_, report) = propagator(&solver, source, 0, &mut monitor).unwrap();
        assert!(report.solver.converged && report.chosen == Chosen::Multigrid, "{report:?}");
        assert_eq!(told[0], first);
        iterations.push(report.solver.iterations);
        if first == 1 {
            let looks = told.iter().take_while(|&&n| n == 1).count();
            assert!((16..600).contains(&looks), "{looks}");
        }
    }
    // Multigrid has solved for all of them.
    assert!(iterations[1] < 40, "{iterations:?}");
}

/// An operator that multigrid cannot coarsen is solved by BiCGStab alone.
#[test]
fn where_there_is_no_multigrid() {
    let device = &devices()[0];
    let setup = Setup::new(device, [4; 4], ROUGH);
    let params = LaplaceParams { components: Components::COLOUR, directions: 15, mass2: 0.1 };
    let op =
        ActionParams::from(params).create_in(&setup.gauge, (Precision::F64, Recon::R18)).unwrap();
    let (mut x, mut b) = (op.shape().field(1).unwrap(), op.shape().field(1).unwrap());
    b.set_noise(Noise::Normal, 5, 0).unwrap();
    let solver = automatic(&op, &settings(1_000_000));
    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
    assert!(report.solver.converged && report.chosen == Chosen::OnlyKrylov, "{report:?}");
}

/// A heavy quark's propagator is right at all times without special options: at kappa = 0.05 it falls by more than
/// ten decades, where |r| / |b| says nothing. The comparison is with the same solve to rounding.
#[test]
fn heavy_quarks_are_solved_for_everywhere() {
    for device in devices() {
        let setup = Setup::new(&device, [4, 4, 4, 32], 0.5);
        let op: Arc<dyn QuarkAction> =
            setup.wilson(DiracParams { mass: 6.0, ..Default::default() });
        let field =
            || SpinorField::new(&device, &setup.geometry, Precision::F64, Subset::Full, 1).unwrap();
        let (mut x, mut exact, mut b) = (field(), field(), field());
        let mut point = vec![0.0; 24 * setup.lat.volume()];
        point[0] = 1.0;
        b.load_lex(&point).unwrap();
        let asked = SolverSettings {
            solver: SolverKind::Cgne,
            sloppy_precision: Some(Precision::F64),
            tol: 1e-15,
            tol_hq: 1e-12,
            ..Default::default()
        };
        automatic(&op, &asked).solve(&mut exact, &b, &mut no_monitor).unwrap();
        let found = automatic(&op, &settings(0)).solve(&mut x, &b, &mut no_monitor).unwrap();
        assert!(found.solver.converged, "{found:?}");
        let slice = |f: &SpinorField| -> Vec<f64> {
            let numbers = f.save_lex().unwrap();
            numbers.chunks(24 * 64).map(|t| t.iter().map(|v| v * v).sum()).collect()
        };
        let worst = |x: &SpinorField| {
            let all = slice(x).into_iter().zip(slice(&exact));
            all.fold(0.0f64, |m, (found, exact)| m.max((found / exact - 1.0).abs()))
        };
        let off = worst(&x);
        assert!(off < 1e-4, "{off}");
        // For comparison, a solve that stops by |r| / |b| alone.
        let plain = SolverSettings { solver: SolverKind::BiCgStab, ..Default::default() };
        automatic(&op, &plain).solve(&mut x, &b, &mut no_monitor).unwrap();
        assert!(worst(&x) > 10.0 * off, "{} {off}", worst(&x));
    }
}

/// A propagator from an existing hierarchy solves as many columns at a time as memory allows; more columns are solved
/// in parts. If there is no memory for one column, BiCGStab solves.
#[test]
fn short_memory_solves_fewer_columns() {
    for device in devices() {
        let setup = Setup::new(&device, over_ranks([8, 4, 4, 16]), ROUGH);
        let op: Arc<dyn QuarkAction> =
            setup.wilson(DiracParams { mass: 0.1, ..Default::default() });
        let solver = automatic(&op, &settings(12));
        let level = LevelParams { block: [4, 4, 4, 4], vectors: 8, pre: 0, post: 4 };
        let params = MultigridParams::with_levels(vec![level]);
        let multigrid = Multigrid::new(&*op, &params).unwrap();
        solver.set_multigrid(Some(Arc::new(multigrid))).unwrap();
        let source = Source::point([1, 2, 3, 4]);
        let run_in = |at_once, limit: u64| {
            device.limit_memory(limit);
            let made = propagator(&solver, source, at_once, &mut no_monitor);
            device.limit_memory(u64::MAX);
            let report = made.unwrap().1;
            assert!(report.solver.converged, "{report:?}");
            (report.columns, report.chosen)
        };
        // A request that does not fit frees the memory of cycles of earlier solves, which would give room.
        let kept = || {
            device.limit_memory(0);
            let refused = propagator(&solver, source, 1, &mut no_monitor).map(|_| ());
            device.limit_memory(u64::MAX);
            assert_eq!(refused.unwrap_err().status, Status::OutOfMemory);
            device.used().0
        };
        let run = |at_once, room: u64| run_in(at_once, kept() + room);
        run(0, u64::MAX / 2);
        for columns in [6, 2, 1] {
            let besides = op.shape().bytes(12 + columns);
            let room = besides + solver.memory_with_multigrid(columns).unwrap();
            assert_eq!(run(0, room), (columns, Chosen::Multigrid));
        }
        // Where not all columns fit on a GPU beside a solve, those that are solved wait on the host.
        let field = |columns| op.shape().bytes(columns);
        let (without, with) =
            (solver.memory(12).unwrap(), solver.memory_with_multigrid(12).unwrap());
        assert!(without < with, "{without} {with}");
        let room = field(12).max(field(2) + solver.memory_with_multigrid(1).unwrap());
        assert!(room < field(13) + solver.memory(1).unwrap(), "{room}");
        if !device.is_cpu() {
            assert_eq!(run(0, room).1, Chosen::Multigrid);
        }
        assert_eq!(run(12, field(24) + with), (12, Chosen::Multigrid));
        let kept = kept();
        let parts = run(12, field(24) + without);
        assert!(parts.0 < 12 && parts.1 == Chosen::Multigrid, "{parts:?}");
        // What the first part's cycles leave is not missing in the second.
        let besides = field(if device.is_cpu() { 18 } else { 12 });
        let limit = kept + besides + solver.memory_with_multigrid(6).unwrap();
        assert_eq!(run_in(6, limit), (6, Chosen::Multigrid));
        let [mut x, mut b] = [op.shape(), op.shape()].map(|shape| shape.field(1).unwrap());
        b.set_noise(Noise::Normal, 5, 0).unwrap();
        device.limit_memory(0);
        let refused = solver.solve(&mut x, &b, &mut no_monitor).map(|_| ());
        assert_eq!(refused.unwrap_err().status, Status::OutOfMemory);
        device.limit_memory(device.used().0 + solver.memory(1).unwrap());
        let report = solver.solve(&mut x, &b, &mut no_monitor);
        device.limit_memory(u64::MAX);
        let report = report.unwrap();
        assert!(report.solver.converged && report.chosen == Chosen::OnlyKrylov, "{report:?}");
    }
}

/// Right-hand sides that do not fit together are solved in parts, by multigrid on request and by BiCGStab of an
/// automatic solver, and the report says so. A refused source leaves the solutions of all parts unchanged.
#[test]
fn short_memory_solves_in_parts() {
    for device in devices() {
        let setup = Setup::new(&device, over_ranks([8, 4, 4, 16]), ROUGH);
        let alone = setup.geometry.comm().size() == 1;
        let wilson = setup.wilson(DiracParams { mass: 0.1, ..Default::default() });
        let op: Arc<dyn QuarkAction> = wilson.clone();
        let level = LevelParams { block: [4, 4, 4, 4], vectors: 8, pre: 0, post: 4 };
        let params = MultigridParams::with_levels(vec![level]);
        let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
        let asked = SolverSettings { solver: SolverKind::Gcr, nkrylov: 4, ..settings(0) };
        let by_multigrid = automatic(&op, &asked).with_multigrid(Some(multigrid)).unwrap();
        let field = |n| op.shape().field(n).unwrap();
        let (mut x, mut b) = (field(12), field(12));
        b.set_noise(Noise::Normal, 5, 0).unwrap();
        for (solver, links) in [
            (by_multigrid, "fallback(GCR in single(multigrid 2 levels), BiCGStab in single)"),
            (automatic(&op, &settings(12)), "BiCGStab"),
        ] {
            // A first solve allocates the buffers for messages.
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
            assert!(report.solver.converged && report.columns == 12, "{report:?}");
            let (mut bad, mut one) = (field(12), field(1));
            blas::copy(&mut bad, &b).unwrap();
            // A solve without memory fails, and frees what cycles of multigrid have kept.
            device.limit_memory(0);
            assert!(solver.solve(&mut x, &b, &mut no_monitor).is_err());
            let limit = device.used().0 + solver.memory(5).unwrap();
            device.limit_memory(limit);
            let told = solver.describe(12);
            x.set_noise(Noise::Normal, 9, 0).unwrap();
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
            assert!(report.solver.converged && report.columns == 4, "{report:?}");
            assert!(report.memory_peak <= limit && report.solver.residual.len() == 12);
            let words = "4 columns at a time > scaled > to 1e-10 > Schur even > ";
            assert!(told.contains(words) && told.contains(links), "{told}");
            if alone {
                // The last source has a NaN and cannot be solved for.
                let mut nan = vec![0.0; 24 * setup.lat.volume()];
                nan[0] = f64::NAN;
                one.load_lex(&nan).unwrap();
                bad.copy_rhs(11, &one, 0, 1).unwrap();
                let before = blas::norm2(&x).unwrap();
                let refused = solver.solve(&mut x, &bad, &mut no_monitor).map(|_| ()).unwrap_err();
                assert_eq!(refused.status, Status::NotFinite, "{refused}");
                assert!(refused.message().contains("from 8 on"), "{refused}");
                assert_eq!(blas::norm2(&x).unwrap(), before);
            }
            device.limit_memory(u64::MAX);
            for k in [0, 5, 11].into_iter().filter(|_| alone) {
                let [x, b] = [&x, &b].map(|v| {
                    let mut one = field(1);
                    one.copy_rhs(0, v, k, 1).unwrap();
                    one
                });
                assert!(residual(&setup, &wilson, &x, &b) < 1.01e-10);
            }
        }
    }
}

/// A set-up whose number of columns is not given takes as many at a time as memory allows, and if there is too little
/// for one, keeps its vectors on the host.
#[test]
fn short_memory_makes_fewer_columns() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([8; 4]), 0.5);
        let op = s.wilson(DiracParams { mass: 0.1, csw: 1.0, csw_t: 1.0, ..Default::default() });
        let level = LevelParams { block: [4; 4], vectors: 8, pre: 0, post: 4 };
        let params = |setup_columns, setup_vectors| MultigridParams {
            setup_columns,
            setup_vectors,
            setup_iterations: 2,
            refinements: 1,
            ..MultigridParams::with_levels(vec![level])
        };
        let automatic = params(0, VectorMemory::Auto);
        let [here, host] = [VectorMemory::Device, VectorMemory::Host];
        let ways = [(8, here), (4, here), (2, here), (1, here), (1, host)];
        // Buffers that ranks have for messages already are not counted again.
        let needs = || ways.map(|(n, at)| Multigrid::memory(&*op, &params(n, at)).unwrap());
        let all = needs();
        assert!(all[4] < all[3] && all[3] < all[1] && all[1] < all[0], "{all:?}");
        for way in 0..ways.len() {
            let needs = needs();
            let room = needs[way];
            let (columns, at) = ways[needs.iter().position(|&need| need <= room).unwrap()];
            device.limit_memory(device.used().0 + room);
            let announced = Multigrid::memory(&*op, &automatic);
            let made = Multigrid::new(&*op, &automatic);
            device.limit_memory(u64::MAX);
            assert_eq!(announced.unwrap(), room);
            let made = made.unwrap().params();
            assert_eq!((made.setup_columns, made.setup_vectors), (columns, at));
        }
        let least = needs()[4];
        device.limit_memory(device.used().0 + least / 2);
        let announced = Multigrid::memory(&*op, &automatic);
        let refused = Multigrid::new(&*op, &automatic).map(|_| ());
        device.limit_memory(u64::MAX);
        assert_eq!(announced.unwrap(), least);
        assert_eq!(refused.unwrap_err().status, Status::OutOfMemory);
    }
}

/// Null vectors that are kept on the host are the same, in one precision and in two, even if more are refined than
/// are kept there, and after updates.
#[test]
fn null_vectors_wait_on_the_host() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([8; 4]), 0.5);
        let op = s.wilson(DiracParams { mass: 0.1, csw: 1.0, csw_t: 1.0, ..Default::default() });
        let level = LevelParams { block: [4; 4], vectors: 6, pre: 0, post: 4 };
        for (coarse_precision, links, setup_columns) in [
            (Precision::F32, LinkPrecision::Quarter, 4),
            (Precision::F32, LinkPrecision::Half, 1),
            (Precision::F64, LinkPrecision::Double, 4),
        ] {
            let made = |setup_vectors| {
                let params = MultigridParams {
                    setup_columns,
                    setup_vectors,
                    coarse_precision,
                    link_precision: Some(links),
                    setup_iterations: 4,
                    refinements: 2,
                    ..MultigridParams::with_levels(vec![level])
                };
                let multigrid = Multigrid::new(&*op, &params).unwrap();
                [Update::Keep, Update::Refine(1)].map(|how| {
                    multigrid.update(&*op, how).unwrap();
                    let v = multigrid.vectors(Precision::F64).unwrap();
                    (multigrid.report().reduction, v.save_lex().unwrap())
                })
            };
            let [here, host] = [VectorMemory::Device, VectorMemory::Host].map(made);
            assert!(here == host, "{}: {links:?}", device.name());
        }
    }
}

/// A hierarchy that does not converge, here of an operator beyond the critical mass, is abandoned for BiCGStab,
/// whoever asked for it and for any number of right-hand sides.
#[test]
fn multigrid_at_a_standstill_leaves_the_rest_to_bicgstab() {
    for device in devices() {
        let setup = Setup::new(&device, [8, 4, 4, 16], ROUGH);
        let of = |mass| setup.wilson(DiracParams { mass, ..Default::default() });
        let (op, other) = (of(MASS), of(-1.2));
        let level = LevelParams { block: [4; 4], vectors: 8, pre: 0, post: 4 };
        let params =
            MultigridParams { refinements: 0, ..MultigridParams::with_levels(vec![level]) };
        let multigrid = Arc::new(Multigrid::new(&*other, &params).unwrap());
        for (nrhs, sloppy) in [(1, None), (3, Some((Precision::F32, Recon::R12)))] {
            let solver = SolverParams {
                kind: SolverKind::Gcr,
                nkrylov: 4,
                stop: Stop::at(1e-10),
                ..Default::default()
            };
            let params = SolveParams { solver, sloppy, ..Default::default() };
            let solver = DiracSolver::new(op.clone(), params).unwrap();
            let solver = solver.with_multigrid(Some(multigrid.clone())).unwrap();
            let field = |n| {
                let geometry = &setup.geometry;
                SpinorField::new(&device, geometry, Precision::F64, Subset::Full, n).unwrap()
            };
            let (mut x, mut b) = (field(nrhs), field(nrhs));
            b.set_noise(Noise::Normal, 5, 0).unwrap();
            let memory = solver.memory(nrhs).unwrap();
            assert_eq!(solver.needs(nrhs).unwrap().memory, memory);
            let max = device.used().0 + memory;
            device.limit_memory(max);
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
            device.limit_memory(u64::MAX);
            assert!(report.memory_peak <= max, "{} of {max}", report.memory_peak);
            let report = report.solver;
            assert!(report.converged && !report.standstill, "{report:?}");
            // BiCGStab may leave the solve to CGNR in turn.
            let by = [SolverKind::BiCgStab, SolverKind::Cgnr].map(Some);
            assert!(by.contains(&report.fallback), "{report:?}");
            for k in 0..nrhs {
                let [x, b] = [&x, &b].map(|v| {
                    let mut one = field(1);
                    one.copy_rhs(0, v, k, 1).unwrap();
                    one
                });
                assert!(residual(&setup, &op, &x, &b) < 1.01e-10);
            }
        }
    }
}
