//! Tests of inverses of the overlap operator, its low modes and index.

use crate::{common, reference};
use std::sync::Arc;

use common::{devices, distance, largest, over_ranks, ranks, Lex};
use plaq::backend::Device;
use plaq::compose::multigrid::{LevelParams, Multigrid, MultigridParams};
use plaq::compose::{
    Method, ModeParams, Modes, Overlap, OverlapAlgorithm, OverlapModes, OverlapPreconditioner,
    OverlapSolveParams, OverlapSolver, Sign, SignParams,
};
use plaq::error::Status;
use plaq::fields::{blas, GaugeField, Noise, Precision, Recon, SpinorField};
use plaq::linop::LinOp;
use plaq::operators::DiracParams;
use plaq::ops::config::{load_gauge, LoadOptions};
use plaq::ops::eigenvectors::{load_modes, load_overlap_modes, save_modes};
use plaq::ops::link_smearing::{smear_links, Smearing};
use plaq::ops::overlap::overlap_propagators;
use plaq::ops::source::Source;
use plaq::solvers::{no_monitor, EigenMethod, SolverReport, StoppedBy};
use reference::numbers::gauge_numbers;
use reference::{matrix, spinor, su3, Gauge, Lattice, C};

const S: f64 = 0.4;

fn operator(device: &Device, extents: [usize; 4], u: &Gauge, mass: f64) -> Arc<Overlap> {
    with_modes(device, extents, u, mass, 16)
}

fn with_modes(
    device: &Device,
    extents: [usize; 4],
    u: &Gauge,
    mass: f64,
    count: usize,
) -> Arc<Overlap> {
    let geometry = common::geometry(extents, device);
    let mut links = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    links.load_lex(&gauge_numbers(u)).unwrap();
    let kernel = Overlap::kernel(Arc::new(links), S, DiracParams::default()).unwrap();
    let modes = ModeParams { count: Some(count), ..Default::default() };
    let sign = SignParams { delta: 1e-8, ..Default::default() };
    Arc::new(Overlap::build(kernel, mass, &modes, sign, &mut no_monitor).unwrap())
}

fn smooth(extents: [usize; 4], seed: u64) -> Gauge {
    su3::smooth_gauge(Lattice::new(extents), 0.4, seed).iter().map(su3::reunitarise).collect()
}

fn residual(op: &Overlap, x: &SpinorField, b: &SpinorField) -> f64 {
    let n = b.nrhs();
    let mut r = b.like(b.precision()).unwrap();
    op.apply(&mut r, x).unwrap();
    blas::axpby(&blas::uniform(n, 1.0), b, &blas::uniform(n, -1.0), &mut r).unwrap();
    let pairs = blas::norm2(&r).unwrap().into_iter().zip(blas::norm2(b).unwrap());
    largest(pairs.map(|(r, b)| (r / b).sqrt()))
}

fn chiral() -> OverlapSolveParams {
    OverlapSolveParams { algorithm: OverlapAlgorithm::ChiralCg, ..Default::default() }
}

fn noise(op: &Overlap, n: usize) -> SpinorField {
    let mut b = op.shape().field(n).unwrap();
    b.set_noise(Noise::Normal, 5, 0).unwrap();
    b
}

#[test]
fn every_algorithm_solves_in_every_precision() {
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let op = operator(&device, extents, &smooth(extents, 3), 0.4);
        let b = noise(&op, 2);
        use OverlapAlgorithm::*;
        for algorithm in [ChiralCg, Sumr, Gcr] {
            let mut plain = 0;
            for (sloppy, relax) in [
                (None, false),
                (None, true),
                (Some((Precision::F32, Recon::R12)), true),
                (Some((Precision::F16, Recon::R12)), true),
            ] {
                let params = OverlapSolveParams {
                    algorithm,
                    tol: 1e-6,
                    sloppy,
                    relax,
                    nkrylov: 40,
                    ..Default::default()
                };
                let solver = OverlapSolver::new(op.clone(), None, params).unwrap();
                let mut x = op.shape().field(2).unwrap();
                let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
                let what = format!("{algorithm:?} {sloppy:?} {relax}: {report:?}");
                assert!(report.converged, "{what}");
                let found = residual(&op, &x, &b);
                assert!(
                    found <= 1.01e-6
                        && (found - report.residual.iter().fold(0.0f64, |m, &r| m.max(r))).abs()
                            < 1e-12,
                    "{found:e} {what}"
                );
                if plain == 0 {
                    plain = report.iterations;
                }
                let max = if sloppy.is_some_and(|s| s.0 == Precision::F16) { 5 } else { 3 };
                assert!(report.iterations <= max * plain + 10, "{plain} {what}");
            }
        }
    }
}

/// A source of one chirality needs only that chirality's sector: half the iterations, half the work.
#[test]
fn a_chiral_source_costs_half() {
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let lat = Lattice::new(extents);
        let op = operator(&device, extents, &smooth(extents, 3), 0.4);
        let mut b = op.shape().field(1).unwrap();
        b.load_lex(&reference::numbers::field_numbers(&spinor::point(lat, 3, 1, 2))).unwrap();
        let params = OverlapSolveParams { tol: 1e-6, relax: false, ..chiral() };
        let solver = OverlapSolver::new(op.clone(), None, params).unwrap();
        let mut x = op.shape().field(1).unwrap();
        let point = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
        assert!(point.converged && residual(&op, &x, &b) < 1.01e-6, "{point:?}");
        let full = solver.solve(&mut x, &noise(&op, 1), &mut no_monitor).unwrap();
        assert!(10 * point.iterations < 7 * full.iterations, "{point:?} {full:?}");
    }
}

#[test]
fn several_masses_are_what_each_is_alone() {
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let op = operator(&device, extents, &smooth(extents, 3), 0.1);
        let b = noise(&op, 1);
        let params = OverlapSolveParams { tol: 1e-6, ..chiral() };
        let solver = OverlapSolver::new(op.clone(), None, params.clone()).unwrap();
        let masses = [0.1, 0.25, 0.7];
        let mut xs: Vec<SpinorField> =
            masses.iter().map(|_| op.shape().field(1).unwrap()).collect();
        let report = solver.solve_masses(&masses, &mut xs, &b, &mut no_monitor).unwrap();
        assert!(report.converged, "{report:?}");
        for (&m, x) in masses.iter().zip(&xs) {
            let alone = Arc::new(op.with_mass(m).unwrap());
            assert!(residual(&alone, x, &b) < 1.01e-6);
            let solver = OverlapSolver::new(alone, None, params.clone()).unwrap();
            let mut y = op.shape().field(1).unwrap();
            solver.solve(&mut y, &b, &mut no_monitor).unwrap();
            let d = distance(&x.save_lex().unwrap(), &y.save_lex().unwrap());
            assert!(d < 1e-4, "{m}: {d:e}");
        }
    }
}

/// Solves for several masses use low modes in their common Krylov space; algorithms without such a space solve for
/// one mass after the other.
#[test]
fn several_masses_take_low_modes_and_any_algorithm() {
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let op = operator(&device, extents, &smooth(extents, 6), 0.03);
        let masses = [0.03, 0.2];
        let modes = Arc::new(OverlapModes::find(&op, 4, 1e-8, &mut no_monitor).unwrap());
        let run = |modes: Option<&Arc<OverlapModes>>, algorithm, b: &SpinorField| {
            let params =
                OverlapSolveParams { tol: 1e-6, algorithm, nkrylov: 60, ..Default::default() };
            let solver = OverlapSolver::new(op.clone(), modes.cloned(), params).unwrap();
            let mut xs = [0, 1].map(|_| op.shape().field(b.nrhs()).unwrap());
            let report = solver.solve_masses(&masses, &mut xs, b, &mut no_monitor).unwrap();
            assert!(report.converged, "{algorithm:?} {report:?}");
            for (&m, x) in masses.iter().zip(&xs) {
                let found = residual(&op.with_mass(m).unwrap(), x, b);
                let said = report.residual.iter().fold(0.0f64, |m, &r| m.max(r));
                assert!(found <= 1.01 * said && said <= 1e-6, "{m} {found:e} {report:?}");
            }
            report.iterations
        };
        let b = noise(&op, 2);
        use OverlapAlgorithm::*;
        let (plain, deflated) = (run(None, ChiralCg, &b), run(Some(&modes), ChiralCg, &b));
        assert!(deflated < plain, "{deflated} {plain}");
        run(Some(&modes), Sumr, &b);
        run(None, Gcr, &b);
        // What belongs to the modes alone takes no iteration.
        let mut low = op.shape().field(1).unwrap();
        low.copy_rhs(0, &modes.vectors()[1], 0, 1).unwrap();
        let iterations = run(Some(&modes), ChiralCg, &low);
        assert!(iterations <= 4, "{iterations}");
    }
}

/// The integrated axial Ward identity m sum_t C_pi(t) = tr S(0, 0) holds on every configuration and for every mass,
/// since D (1 - D / (2 rho))^-1 anticommutes with gamma5.
#[test]
fn the_integrated_ward_identity_holds() {
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let op = operator(&device, extents, &smooth(extents, 3), 0.1);
        let params = OverlapSolveParams { tol: 1e-6, ..chiral() };
        let solver = OverlapSolver::new(op.clone(), None, params).unwrap();
        let masses = [0.1, 0.4];
        let source = Source::point([1, 0, 1, 2]);
        let mut columns = op.shape().field(12).unwrap();
        source.set(&mut columns).unwrap();
        let (quarks, report) =
            overlap_propagators(&solver, &masses, source, true, &mut no_monitor).unwrap();
        assert!(report.converged);
        for (m, quark) in masses.iter().zip(&quarks) {
            let pion: f64 = blas::norm2(quark).unwrap().iter().sum();
            let trace: C = blas::dot(&columns, quark).unwrap().iter().sum();
            assert!((m * pion - trace.re).abs() < 2e-5 * trace.re, "{m}: {} {trace}", m * pion);
            assert!(trace.im.abs() < 2e-5 * trace.re, "{m}: {trace}");
        }
    }
}

#[test]
fn low_modes_save_iterations() {
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let op = operator(&device, extents, &smooth(extents, 6), 0.03);
        let b = noise(&op, 1);
        let run = |modes: Option<Arc<OverlapModes>>, params: OverlapSolveParams| {
            let solver = OverlapSolver::new(op.clone(), modes, params).unwrap();
            let mut x = op.shape().field(1).unwrap();
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
            assert!(report.converged && residual(&op, &x, &b) < 1.01e-6, "{report:?}");
            report.iterations
        };
        let cg = OverlapSolveParams { tol: 1e-6, ..chiral() };
        let modes = Arc::new(OverlapModes::find(&op, 4, 1e-8, &mut no_monitor).unwrap());
        let (plain, deflated) = (run(None, cg.clone()), run(Some(modes), cg.clone()));
        assert!(deflated < plain, "{deflated} {plain}");
    }
}

/// Bound on the outer iterations for a free field, where D_N(m) (D_W + w)^-1 is normal with a known spectrum. If the
/// spectrum lies in a disc of radius r around c, |residual| <= (r / |c|)^n after n steps of GCR.
fn free_bound(extents: [usize; 4], rho: f64, mass: f64, wilson: f64, tol: f64) -> usize {
    let mut spectrum = vec![];
    let lat = Lattice::new(extents);
    for lex in 0..lat.volume() {
        let x = lat.coords(lex);
        let p: Vec<f64> = (0..4)
            .map(|mu| {
                let shift = if mu == 3 { 0.5 } else { 0.0 };
                std::f64::consts::TAU * (x[mu] as f64 + shift) / extents[mu] as f64
            })
            .collect();
        let re: f64 = p.iter().map(|p| 1.0 - p.cos()).sum();
        let im = p.iter().map(|p| p.sin().powi(2)).sum::<f64>().sqrt();
        let (w, k) = (C::new(re, im), C::new(re - rho, im));
        spectrum.push((rho + 0.5 * mass + (rho - 0.5 * mass) * k / k.norm()) / (w + wilson));
    }
    let radius = |c: f64| spectrum.iter().map(|v| (v - c).norm()).fold(0.0, f64::max) / c;
    let best = (1..400).map(|k| radius(0.01 * k as f64)).fold(f64::INFINITY, f64::min);
    assert!(best < 1.0, "{best}");
    (tol.ln() / best.ln()).ceil() as usize
}

fn gcr(op: &Arc<Overlap>, preconditioner: OverlapPreconditioner) -> OverlapSolver {
    let params = OverlapSolveParams {
        algorithm: OverlapAlgorithm::Gcr,
        tol: 1e-6,
        nkrylov: 100,
        preconditioner,
        ..Default::default()
    };
    OverlapSolver::new(op.clone(), None, params).unwrap()
}

fn solved(solver: &OverlapSolver, b: &SpinorField) -> (SpinorField, usize) {
    let mut x = b.like(b.precision()).unwrap();
    let report = solver.solve(&mut x, b, &mut no_monitor).unwrap();
    let found = residual(solver.op(), &x, b);
    assert!(report.converged && found < 1.01e-6, "{found:e} {report:?}");
    (x, report.iterations)
}

/// The Wilson preconditioner halves the iterations on smooth fields, where D_W is nearly normal: the spectrum of D_N
/// D_W^-1 lies in a disc that hardly depends on the mass, that of D_N(m) touches a circle through m.
#[test]
fn the_wilson_preconditioner_halves_the_iterations() {
    for device in devices() {
        let extents = over_ranks([4, 4, 4, 8]);
        let (mass, wilson, tol) = (0.03, 0.05, 1e-3);
        let preconditioner =
            OverlapPreconditioner::Wilson { mass: wilson, tol, max_iterations: 300 };
        // Its modes are so degenerate that none are projected.
        let unit = su3::unit_gauge(Lattice::new(extents));
        let free = with_modes(&device, extents, &unit, mass, 0);
        let b = noise(&free, 1);
        let bound = free_bound(extents, 1.0 + S, mass, wilson, 1e-6);
        let (_, with) = solved(&gcr(&free, preconditioner), &b);
        // The preconditioner's own error and the restart at the full accuracy take some.
        assert!(with <= bound + bound / 10 + 2, "{with} {bound}");
        let u: Gauge =
            su3::smooth_gauge(Lattice::new(extents), 0.2, 6).iter().map(su3::reunitarise).collect();
        let op = operator(&device, extents, &u, mass);
        let (_, without) = solved(&gcr(&op, OverlapPreconditioner::None), &b);
        let (_, with) = solved(&gcr(&op, preconditioner), &b);
        println!("free field {bound} at most; smooth field {with} with, {without} without");
        assert!(3 * with < without && 4 * with <= 5 * bound, "{with} {without} {bound}");
    }
}

/// Solves with the Wilson mass that the library finds take hardly more iterations than with the best of a scan, on a
/// smooth field and on a quenched one, and its end of the spectrum is that of the free field for such a field.
#[test]
fn the_wilson_mass_is_near_the_best_one() {
    for device in devices() {
        let extents = over_ranks([4, 4, 4, 8]);
        let unit = su3::unit_gauge(Lattice::new(extents));
        let free = with_modes(&device, extents, &unit, 0.1, 0);
        let antiperiodic = 1.0 - (std::f64::consts::PI / extents[3] as f64).cos();
        let edge = free.wilson_edge().unwrap();
        assert!((edge - antiperiodic).abs() < 0.02, "{edge} {antiperiodic}");
        let nearly: Gauge =
            su3::smooth_gauge(Lattice::new(extents), 0.3, 6).iter().map(su3::reunitarise).collect();
        let smooth = operator(&device, extents, &nearly, 0.05);
        let mut all = vec![("smooth", smooth)];
        if common::ranks().size() == 1 {
            let path = std::path::Path::new("tests/data/quenched-b6.0-4x4x4x8.ildg");
            let form = (Precision::F64, Recon::R18);
            let options = LoadOptions::default();
            let loaded =
                load_gauge(&device, &common::ranks(), path, form.0, form.1, &options).unwrap();
            let links = Arc::new(loaded.gauge);
            let kernel = Overlap::kernel(links, S, DiracParams::default()).unwrap();
            let modes = ModeParams { count: Some(16), ..Default::default() };
            let sign = SignParams { delta: 1e-8, ..Default::default() };
            let op = Overlap::build(kernel, 0.05, &modes, sign, &mut no_monitor).unwrap();
            all.push(("quenched", Arc::new(op)));
        }
        for (what, op) in all {
            let b = noise(&op, 1);
            let count = |mass: f64| {
                let wilson = OverlapPreconditioner::Wilson { mass, tol: 1e-2, max_iterations: 400 };
                solved(&gcr(&op, wilson), &b).1
            };
            let edge = op.wilson_edge().unwrap();
            let found = count(op.wilson_mass().unwrap());
            let shares = [0.5, 1.0, 4.0, 8.0, 16.0];
            let scan: Vec<usize> = shares.iter().map(|s| count(s * 0.05 - edge)).collect();
            println!("{what}: edge {edge:.3}, {found} iterations; {shares:?} m: {scan:?}");
            let best = *scan.iter().min().unwrap().min(&found);
            assert!(5 * found <= 6 * best + 5, "{what}: {found} {scan:?}");
        }
    }
}

/// The automatic algorithm for light quarks is GCR with the Wilson operator's inverse, for heavy quarks CG or SUMR
/// depending on the chiralities of the source, and for several masses their common Krylov space; projecting out modes
/// acts like a larger mass.
#[test]
fn the_algorithm_is_chosen_by_mass_source_and_modes() {
    for device in devices() {
        let extents = over_ranks([4, 4, 4, 4]);
        let u = smooth(extents, 6);
        let light = operator(&device, extents, &u, 0.03);
        let heavy = Arc::new(light.with_mass(0.8).unwrap());
        let b = noise(&light, 1);
        let mut half = light.shape().field(1).unwrap();
        light.square(1).project(&mut half, &b).unwrap();
        let params = OverlapSolveParams { tol: 1e-6, ..Default::default() };
        let run = |op: &Arc<Overlap>, modes: Option<Arc<OverlapModes>>, b: &SpinorField| {
            let solver = OverlapSolver::new(op.clone(), modes, params.clone()).unwrap();
            assert_eq!(solver.algorithm(), OverlapAlgorithm::Auto);
            let (_, iterations) = solved(&solver, b);
            (solver.algorithm(), iterations)
        };
        let (taken, iterations) = run(&light, None, &b);
        let (_, without) = solved(&gcr(&light, OverlapPreconditioner::None), &b);
        assert_eq!(taken, OverlapAlgorithm::Gcr);
        assert!(iterations < without, "{iterations} {without}");
        assert_eq!(run(&heavy, None, &b).0, OverlapAlgorithm::Sumr);
        assert_eq!(run(&heavy, None, &half).0, OverlapAlgorithm::ChiralCg);
        // Several masses.
        let solver = OverlapSolver::new(light.clone(), None, params.clone()).unwrap();
        let several = |masses: &[f64]| {
            let fields = masses.iter().map(|_| light.shape().field(1).unwrap());
            let mut xs: Vec<SpinorField> = fields.collect();
            let report = solver.solve_masses(masses, &mut xs, &half, &mut no_monitor).unwrap();
            assert!(report.converged, "{report:?}");
            for (&m, x) in masses.iter().zip(&xs) {
                assert!(residual(&light.with_mass(m).unwrap(), x, &half) < 1.01e-6);
            }
            solver.algorithm()
        };
        assert_eq!(several(&[0.03, 0.05]), OverlapAlgorithm::Gcr);
        assert_eq!(several(&[0.3, 0.4, 0.8]), OverlapAlgorithm::ChiralCg);
        // The rule itself.
        let wins = |masses: &[f64]| light.preconditioner_wins(None, masses);
        assert!(wins(&[0.02]) && wins(&[0.2]) && !wins(&[0.8]));
        assert!(wins(&[0.02; 10]) && !wins(&[0.02; 40]));
        let modes = OverlapModes::find(&light, 8, 1e-6, &mut no_monitor).unwrap();
        let next = modes.values().iter().map(|v| v[7]).fold(f64::INFINITY, f64::min);
        // The preconditioner does not win if the lowest mode that is not projected is above rho / 4.5.
        assert!(next.sqrt() > 0.32, "{next}: this field has too many low modes for the test");
        assert!(!light.preconditioner_wins(Some(&modes), &[0.02]), "{next}");
    }
}

/// Multigrid as Wilson preconditioner gives the same solution as BiCGStab in no more outer iterations.
#[test]
fn multigrid_is_the_wilson_preconditioner() {
    for device in devices() {
        let extents = over_ranks([4, 4, 4, 4]);
        let op = operator(&device, extents, &smooth(extents, 6), 0.03);
        let b = noise(&op, 2);
        let (x, without) = solved(&gcr(&op, OverlapPreconditioner::None), &b);
        let preconditioner =
            OverlapPreconditioner::Wilson { mass: -0.1, tol: 1e-2, max_iterations: 100 };
        let (_, krylov) = solved(&gcr(&op, preconditioner), &b);
        let levels = vec![LevelParams { block: [2; 4], vectors: 8, pre: 0, post: 4 }];
        let params =
            MultigridParams { setup_iterations: 20, ..MultigridParams::with_levels(levels) };
        let multigrid = Arc::new(Multigrid::new(&*op.wilson(-0.1).unwrap(), &params).unwrap());
        let solver = gcr(&op, preconditioner).with_multigrid(multigrid.clone()).unwrap();
        let (y, with) = solved(&solver, &b);
        println!("{without} without, {krylov} with BiCGStab, {with} with multigrid");
        // The residuals of both solutions give |x - y| <= |D^-1| (|r_x| + |r_y|), and |D^-1| is at most 1 / m.
        let d = distance(&x.save_lex().unwrap(), &y.save_lex().unwrap());
        let norm = blas::norm2(&b).unwrap().iter().fold(0.0f64, |m, v| m.max(v.sqrt()));
        assert!(d < 2.1e-6 * norm / 0.03, "{d:e}");
        assert!(with <= krylov + 2 && 4 * with < 3 * without, "{with} {krylov} {without}");
        // The solve went through multigrid: its coarse level has iterated, in every precision.
        assert!(multigrid.report().levels[1].iterations > 0);
        for sloppy in [(Precision::F32, Recon::R12), (Precision::F16, Recon::R12)] {
            let params = OverlapSolveParams { sloppy: Some(sloppy), ..solver.params().clone() };
            let solver = OverlapSolver::new(op.clone(), None, params).unwrap();
            let (_, inner) = solved(&solver.with_multigrid(multigrid.clone()).unwrap(), &b);
            assert!(inner <= 2 * with + 5, "{sloppy:?} {inner} {with}");
        }
        let plain = gcr(&op, OverlapPreconditioner::None).with_multigrid(multigrid);
        assert_eq!(plain.err().unwrap().status, Status::Unsupported);
    }
}

/// Applications of the operator take at most the memory that they declare, and not much less.
#[test]
fn applications_take_the_memory_that_they_declare() {
    for device in devices() {
        let extents = over_ranks([4, 4, 2, 4]);
        let u = smooth(extents, 3);
        for (method, two_passes) in
            [(Method::Polynomial, false), (Method::Zolotarev, false), (Method::Zolotarev, true)]
        {
            let own = operator(&device, extents, &u, 0.1);
            let (kernel, modes) = (own.sign().kernel().clone(), own.sign().modes().clone());
            let params = SignParams { delta: 1e-5, method, two_passes, ..Default::default() };
            let op =
                Overlap::new(Arc::new(Sign::new(kernel, modes, params).unwrap()), 0.1).unwrap();
            drop(own);
            for precision in [Precision::F64, Precision::F32, Precision::F16] {
                for n in [1, 3] {
                    let check = |what: &str, declared: u64, apply: &dyn Fn() -> u64| {
                        let taken = apply();
                        assert!(
                            taken <= declared && 10 * declared <= 11 * taken + 10_000,
                            "{method:?} {two_passes} {precision:?} {n} {what}: {taken} of {declared}"
                        );
                    };
                    // Workspaces of their own for each.
                    let fresh = || op.to(precision, Recon::R12).unwrap();
                    let peak = |op: &dyn LinOp, dagger: bool| {
                        let mut x = op.shape().field(n).unwrap();
                        x.set_noise(Noise::Normal, 5, 0).unwrap();
                        let mut y = op.shape().field(n).unwrap();
                        let watch = device.watch_peak();
                        let before = device.used().0;
                        match dagger {
                            true => op.apply_dagger(&mut y, &x).unwrap(),
                            false => op.apply(&mut y, &x).unwrap(),
                        }
                        watch.bytes() - before
                    };
                    let d = fresh();
                    check("D", d.memory(n, false).unwrap(), &|| peak(&d, false));
                    let d = fresh();
                    check("D^dagger", d.memory(n, true).unwrap(), &|| peak(&d, true));
                    let square = fresh().square(1);
                    check("square", square.memory(n, false).unwrap(), &|| peak(&square, false));
                }
            }
        }
    }
}

fn links_of(device: &Device, extents: [usize; 4], u: &Gauge) -> Arc<GaugeField> {
    let geometry = common::geometry(extents, device);
    let mut links = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    links.load_lex(&gauge_numbers(u)).unwrap();
    Arc::new(links)
}

/// Modes are the same bit for bit after writing and reading, the operator made from them is the same, and solves can
/// start from modes of D.
#[test]
fn modes_in_a_file_are_those_that_were_saved() {
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let u = smooth(extents, 3);
        let folder = common::Folder::new("modes");
        let path = folder.0.join("modes.lime");
        let op = operator(&device, extents, &u, 0.1);
        let low = OverlapModes::find(&op, 3, 1e-8, &mut no_monitor).unwrap();
        let modes = op.sign().modes();
        save_modes(&path, modes, Some(&low)).unwrap();
        let kernel = Overlap::kernel(links_of(&device, extents, &u), S, DiracParams::default());
        let kernel = kernel.unwrap();
        let again = Arc::new(load_modes(&path, &kernel).unwrap());
        assert_eq!((again.count(), again.interval()), (modes.count(), modes.interval()));
        assert_eq!(again.high(), modes.high());
        for k in 0..again.count() {
            assert!((again.values()[k] - modes.values()[k]).abs() < 1e-12);
            assert!(again.residuals()[k] < 2.0 * modes.residuals()[k] + 1e-13);
        }
        let sign = Sign::new(kernel.clone(), again, SignParams::default()).unwrap();
        let other = Arc::new(Overlap::new(Arc::new(sign), 0.1).unwrap());
        let b = noise(&op, 1);
        let (mut x, mut y) = (op.shape().field(1).unwrap(), op.shape().field(1).unwrap());
        op.apply(&mut x, &b).unwrap();
        other.apply(&mut y, &b).unwrap();
        assert!(distance(&x.save_lex().unwrap(), &y.save_lex().unwrap()) < 1e-10);
        let back = load_overlap_modes(&path, &other).unwrap().unwrap();
        assert_eq!((back.values(), back.zeros()), (low.values(), low.zeros()));
        for (v, w) in back.vectors().iter().zip(low.vectors()) {
            assert_eq!(v.save_lex().unwrap(), w.save_lex().unwrap());
        }
        assert!(back.hold(3, 1e-8) && !back.hold(4, 1e-8) && !back.hold(3, 1e-16));
        // Vectors in single precision take half the room, and are good for a kernel in single.
        let single = Arc::new(op.sign().to(Precision::F32, Recon::R12).unwrap());
        let small = folder.0.join("single.lime");
        save_modes(&small, single.modes(), None).unwrap();
        let length = |p: &std::path::Path| std::fs::metadata(p).unwrap().len();
        assert!(length(&small) < length(&path) / 2);
        let coarse = load_modes(&small, single.kernel()).unwrap();
        assert!((coarse.values()[0] - modes.values()[0]).abs() < 1e-5);
        assert!(load_overlap_modes(&small, &other).unwrap().is_none());
        assert!(load_modes(&small, &kernel).is_ok());

        // Other links, another s, another lattice.
        let status = |r: Result<Modes, plaq::error::Error>| r.err().unwrap().status;
        let foreign = links_of(&device, extents, &smooth(extents, 4));
        let wrong = Overlap::kernel(foreign, S, DiracParams::default()).unwrap();
        assert_eq!(status(load_modes(&path, &wrong)), Status::FieldMismatch);
        let links = links_of(&device, extents, &u);
        let wrong = Overlap::kernel(links, S + 0.01, DiracParams::default()).unwrap();
        assert_eq!(status(load_modes(&path, &wrong)), Status::FieldMismatch);
        let larger = over_ranks([4, 4, 2, 4]);
        let links = links_of(&device, larger, &smooth(larger, 3));
        let wrong = Overlap::kernel(links, S, DiracParams::default()).unwrap();
        assert_eq!(status(load_modes(&path, &wrong)), Status::FileExtents);

        // A damaged file.
        let whole = std::fs::read(&path).unwrap();
        let find = |what: &[u8]| whole.windows(what.len()).position(|w| w == what).unwrap();
        let data = find(b"scidac-binary-data") + 4000;
        let table = find(b"kernel.next") + 14;
        let cases = [
            (data, 0, Status::FileChecksum),
            (table, 0, Status::FileChecksum),
            (data, 1, Status::FileTruncated),
        ];
        for (at, cut, expect) in cases {
            let broken = folder.0.join("broken.lime");
            common::on_rank_0(|| {
                let mut bytes = whole.clone();
                bytes[at] ^= 1;
                let end = if cut == 1 { bytes.len() / 2 } else { bytes.len() };
                std::fs::write(&broken, &bytes[..end]).unwrap();
            });
            assert_eq!(status(load_modes(&broken, &kernel)), expect);
        }
    }
}

/// A kernel with smearing equals the kernel on links that were smeared before, and has fewer small modes.
#[test]
fn a_kernel_takes_smeared_links() {
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let rough = links_of(&device, extents, &smooth(extents, 3));
        let degree = |links: Arc<GaugeField>| {
            let kernel = Overlap::kernel(links, S, DiracParams::default()).unwrap();
            let modes = ModeParams { count: Some(4), ..Default::default() };
            let sign = SignParams { delta: 1e-6, ..Default::default() };
            let op = Overlap::build(kernel, 0.0, &modes, sign, &mut no_monitor).unwrap();
            assert!(op.ginsparg_wilson(1).unwrap() < 4.0 * op.error_bound());
            op.sign().degree()
        };
        let plain = degree(rough.clone());
        for smearing in [
            Smearing::Stout { rho: 0.1, directions: 15 },
            Smearing::Ape { alpha: 0.5, directions: 15 },
            Smearing::Hyp { alpha: [0.75, 0.6, 0.3], directions: 15 },
        ] {
            let smeared = degree(Arc::new(smear_links(&rough, smearing, 2).unwrap()));
            assert!(smeared < plain, "{smearing:?}: {smeared} {plain}");
        }
    }
}

/// Links of constant fields in the planes xy and zt with `quanta` flux quanta each and colour charges 1, -1, 0: the
/// topological charge has modulus two for one quantum in each plane.
fn flux(extents: [usize; 4], quanta: [f64; 2]) -> Gauge {
    let lat = Lattice::new(extents);
    let unit = std::f64::consts::TAU;
    let mut u: Gauge = su3::unit_gauge(lat);
    for lex in 0..lat.volume() {
        let x = lat.coords(lex);
        for (plane, quantum) in quanta.iter().enumerate() {
            let (a, b) = (2 * plane, 2 * plane + 1);
            let f = unit * quantum / (extents[a] * extents[b]) as f64;
            let angles = [
                (b, f * x[a] as f64),
                (a, if x[a] + 1 == extents[a] { -f * (extents[a] * x[b]) as f64 } else { 0.0 }),
            ];
            for (mu, angle) in angles {
                let mut m = matrix::one::<3>();
                (m[0][0], m[1][1]) = (C::from_polar(1.0, angle), C::from_polar(1.0, -angle));
                u[lex * 4 + mu] = matrix::mul(&u[lex * 4 + mu], &m);
            }
        }
    }
    u
}

/// The index theorem holds for either sign of the charge and for charge zero; zero modes have one chirality.
#[test]
fn the_index_is_the_charge() {
    for device in devices() {
        let extents = over_ranks([4, 4, 4, 4]);
        let share: f64 = extents.iter().zip([4usize; 4]).map(|(&l, k)| (l / k) as f64).product();
        for quanta in [[1.0, 1.0], [1.0, -1.0], [1.0, 0.0]] {
            // On several ranks quanta grow with the lattice, so that plaquettes stay the same.
            let quanta = [quanta[0], quanta[1] * share];
            let u = flux(extents, quanta);
            let geometry = common::geometry(extents, &device);
            let mut links =
                GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            links.load_lex(&gauge_numbers(&u)).unwrap();
            let charge = plaq::ops::observables::field_strength(&links).unwrap().charge;
            let op = operator(&device, extents, &u, 0.0);
            let count = 2 * share as usize + 2;
            let modes = OverlapModes::find(&op, count, 1e-7, &mut no_monitor).unwrap();
            let expect = 2.0 * quanta[0] * quanta[1];
            assert!((charge - expect).abs() < 0.25 * expect.abs().max(0.1), "{charge} {expect}");
            assert_eq!(modes.index(), expect as i64, "{:?} {:?}", modes.values(), modes.zeros());
            assert!(modes.zeros().contains(&0), "{:?}", modes.values());
            // One mode would be a zero mode, as are others: more are sought.
            let few = OverlapModes::find(&op, 1, 1e-7, &mut no_monitor).unwrap();
            assert_eq!((few.index(), few.zeros()), (modes.index(), modes.zeros()));
            assert!(few.hold(1, 1e-7) && (0..2).all(|k| few.values()[k].len() > few.zeros()[k]));
            // What is not zero comes with both chiralities.
            let [z, w] = modes.zeros();
            let other = (modes.values()[0][z], modes.values()[1][w]);
            assert!((other.0 - other.1).abs() < 1e-6, "{:?}", modes.values());
        }
    }
}

/// Checks a solve whose time limit was over: all ranks stopped after the same iteration, and x agrees with the
/// report.
fn out_of_time(report: &SolverReport, op: &Overlap, x: &SpinorField, b: &SpinorField) {
    assert!(report.stopped && !report.converged, "{report:?}");
    assert_eq!(report.stopped_by, Some(StoppedBy::Seconds), "{report:?}");
    let (found, said) = (residual(op, x, b), largest(report.residual.iter().copied()));
    assert!(found <= said + 1e-12 && said > 1e-6, "{found:e} {report:?}");
    let mine = (report.iterations as u64).to_ne_bytes();
    let all = ranks().all_gather(&mine).unwrap();
    assert!(all.chunks(8).all(|theirs| theirs == mine), "{report:?}");
}

/// The time limit of one rank ends solves on all ranks; parts of a job, chiralities, masses and columns, share its
/// time.
#[test]
fn time_is_over_on_all_ranks_at_once() {
    let last = ranks().rank() + 1 == ranks().size();
    let max = if last { 0.0 } else { 1e6 };
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let op = operator(&device, extents, &smooth(extents, 3), 0.1);
        let b = noise(&op, 2);
        use OverlapAlgorithm::*;
        for algorithm in [ChiralCg, Sumr, Gcr] {
            let params = OverlapSolveParams { algorithm, tol: 1e-6, ..Default::default() };
            let hurried = OverlapSolveParams { max_seconds: max, ..params.clone() };
            let solver = OverlapSolver::new(op.clone(), None, hurried).unwrap();
            let mut x = op.shape().field(2).unwrap();
            let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
            assert!(report.iterations <= 4, "{algorithm:?} {report:?}");
            out_of_time(&report, &op, &x, &b);
            // Residuals are the largest over the masses; with SUMR and GCR one of them had no turn.
            let masses = [0.1, 0.4];
            let mut xs = [0, 1].map(|_| op.shape().field(2).unwrap());
            xs[1].set_noise(Noise::Normal, 9, 0).unwrap();
            let report = solver.solve_masses(&masses, &mut xs, &b, &mut no_monitor).unwrap();
            assert!(report.iterations <= 4, "{algorithm:?} {report:?}");
            for (m, x) in masses.iter().zip(&xs) {
                out_of_time(&report, &op.with_mass(*m).unwrap(), x, &b);
            }
            let source = Source::point([1, 0, 1, 2]);
            let (_, report) =
                overlap_propagators(&solver, &masses, source, false, &mut no_monitor).unwrap();
            assert!(report.stopped && report.residual.len() == 12, "{algorithm:?} {report:?}");
            assert!(report.iterations <= 8 && !report.converged, "{algorithm:?} {report:?}");
            // Each solve has its own time, and enough of it changes nothing.
            let mut run = |max_seconds| {
                let params = OverlapSolveParams { max_seconds, ..params.clone() };
                let solver = OverlapSolver::new(op.clone(), None, params).unwrap();
                let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
                assert_eq!(report.stopped_by, Some(StoppedBy::Residual), "{report:?}");
                assert!(report.converged && !report.stopped, "{report:?}");
                (report.iterations, report.residual)
            };
            let enough = run(1e6);
            assert!(ranks().size() > 1 || enough == run(f64::INFINITY));
        }
        // Without all modes there is no operator, and no index.
        let kernel = op.sign().kernel();
        for method in [EigenMethod::Lanczos, EigenMethod::Ritz] {
            let params = ModeParams { method, max_seconds: max, ..Default::default() };
            let error = Modes::find(kernel, None, &params, None, &mut no_monitor).err().unwrap();
            assert_eq!(error.status, Status::KernelSpectrum, "{error}");
            assert!(!last || error.to_string().contains("0 s were over"), "{error}");
        }
        let error = OverlapModes::find_within(max, &op, 2, 1e-6, &mut no_monitor).err().unwrap();
        assert_eq!(error.status, Status::KernelSpectrum, "{error}");
        let mut stop = |_: &plaq::solvers::Progress| std::ops::ControlFlow::Break(());
        let params = ModeParams::default();
        let error = Modes::find(kernel, None, &params, None, &mut stop).err().unwrap();
        assert_eq!(error.status, Status::KernelSpectrum);
        assert!(error.to_string().contains("callback"), "{error}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let device = &devices()[0];
    let extents = over_ranks([4, 2, 2, 4]);
    let op = operator(device, extents, &smooth(extents, 3), 0.4);
    let status = |params| OverlapSolver::new(op.clone(), None, params).err().unwrap().status;
    let good = chiral();
    assert_eq!(status(OverlapSolveParams { tol: 0.0, ..good.clone() }), Status::BadParameter);
    assert_eq!(status(OverlapSolveParams { tol: 1e-14, ..good.clone() }), Status::BadParameter);
    assert_eq!(status(OverlapSolveParams { nkrylov: 0, ..good.clone() }), Status::BadParameter);
    for max_seconds in [-1.0, f64::NAN] {
        let params = OverlapSolveParams { max_seconds, ..good.clone() };
        assert_eq!(status(params), Status::BadParameter);
    }
    let preconditioner = OverlapPreconditioner::Wilson { mass: 0.1, tol: 0.1, max_iterations: 10 };
    assert_eq!(status(OverlapSolveParams { preconditioner, ..good.clone() }), Status::Unsupported);
    let solver = OverlapSolver::new(op.clone(), None, good).unwrap();
    let b = noise(&op, 1);
    let mut short = op.shape().field(2).unwrap();
    let error = solver.solve(&mut short, &b, &mut no_monitor).unwrap_err();
    assert_eq!(error.status, Status::FieldMismatch);
    let mut x = op.shape().field(1).unwrap();
    let error = solver.solve_masses(&[], &mut [], &b, &mut no_monitor).unwrap_err();
    assert_eq!(error.status, Status::BadParameter);
    let mut stop = |_: &plaq::solvers::Progress| std::ops::ControlFlow::Break(());
    let report = solver.solve(&mut x, &b, &mut stop).unwrap();
    assert!(report.stopped && !report.converged);
}
