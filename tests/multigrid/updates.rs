//! Tests of hierarchies that follow links: their quality after updates, and refused updates.

use plaq::fields::Momenta;

use super::*;

fn near_unit(device: &Device, geometry: &Arc<Geometry>, seed: u64, roughness: f64) -> GaugeField {
    let mut gauge = GaugeField::new(device, geometry, Precision::F64, Recon::R18).unwrap();
    gauge.set_near_unit(seed, roughness).unwrap();
    gauge
}

fn operator(gauge: GaugeField, mass: f64) -> Arc<Wilson> {
    let params = DiracParams { mass, csw: 1.0, csw_t: 1.0, ..Default::default() };
    Arc::new(Wilson::new(Arc::new(gauge), params).unwrap())
}

fn iterations(op: &Arc<Wilson>, multigrid: &Arc<Multigrid>) -> usize {
    solve(op, Some(multigrid), 1, Solution::Mat).solver.iterations
}

fn small(post: usize, vectors: usize) -> MultigridParams {
    MultigridParams {
        refinements: 1,
        ..MultigridParams::with_levels(vec![LevelParams { block: [2; 4], vectors, pre: 0, post }])
    }
}

/// After each of fifty changes of links, as in trajectories of HMC, the updated cycle is as good as that of a fresh
/// set-up. A hierarchy without update is refused.
#[test]
fn fifty_steps_of_a_trajectory() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([4, 4, 4, 8]), &device);
        let mut gauge = near_unit(&device, &geometry, 3, 0.4);
        let links = || near_unit(&device, &geometry, 3, 0.4);
        let op = operator(links(), -0.3);
        let params = MultigridParams { refinements: 2, ..small(4, 10) };
        let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
        let solver = SolverParams {
            kind: SolverKind::Gcr,
            nkrylov: 4,
            stop: Stop::at(1e-10),
            ..Default::default()
        };
        let solver =
            DiracSolver::new(op.clone(), SolveParams { solver, ..Default::default() }).unwrap();
        let solver = solver.with_multigrid(Some(multigrid.clone())).unwrap();
        let field =
            || SpinorField::new(&device, &geometry, Precision::F64, Subset::Full, 1).unwrap();
        let (mut x, mut b) = (field(), field());
        b.set_noise(Noise::Normal, 5, 0).unwrap();
        let mut momenta = Momenta::new(&device, &geometry, Precision::F64).unwrap();
        let (mut best, mut seen) = (0, vec![]);
        for step in 0..50 {
            if step % 10 == 0 {
                momenta.set_gaussian(11, step).unwrap();
            }
            gauge.evolve(&momenta, 0.01).unwrap();
            op.update(&gauge).unwrap();
            if step % 10 == 3 {
                x.set_noise(Noise::Normal, 6, 0).unwrap();
                let before = x.save_lex().unwrap();
                let refused = solver.solve(&mut x, &b, &mut no_monitor).unwrap_err();
                assert_eq!(refused.status, Status::StaleMultigrid, "{refused}");
                assert_eq!(x.save_lex().unwrap(), before);
            }
            let report = multigrid.update(&*op, Update::Keep).unwrap();
            let found = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
            assert!(found.converged);
            if step % 10 == 0 || step == 49 {
                best = iterations(&op, &Arc::new(Multigrid::new(&*op, &params).unwrap()));
            }
            seen.push((found.iterations, best, report.update.unwrap()));
        }
        println!("{}: iterations, of a fresh set-up: {seen:?}", device.name());
        for (step, (found, best, _)) in seen.iter().enumerate() {
            assert!(*found as f64 <= 1.2 * *best as f64, "step {step}: {found}, fresh {best}");
        }
        assert!(gauge.distance(&links()).unwrap() > 0.1, "links have hardly changed");
    }
}

/// An update fails and keeps the hierarchy of the old links, which still solves, if the cycle is bad even with new
/// random vectors.
#[test]
fn what_no_means_mend_is_refused() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([4, 4, 4, 8]), &device);
        let good = operator(near_unit(&device, &geometry, 3, 0.4), -0.2);
        let multigrid = Arc::new(Multigrid::new(&*good, &small(2, 4)).unwrap());
        let (before, first) = (iterations(&good, &multigrid), multigrid.report());
        // Amid the spectrum: no cycle smooths there.
        let bad = operator(near_unit(&device, &geometry, 3, 0.4), -2.0);
        for how in [Update::Keep, Update::Refine(2), Update::Anew] {
            let e = multigrid.update(&*bad, how).unwrap_err();
            println!("{}: {e}", device.name());
            assert_eq!(e.status, Status::NotConverged, "{e}");
            assert!(e.message().contains("post") && e.message().contains("old links"), "{e}");
            let now = multigrid.report();
            assert_eq!((now.reduction, now.update), (first.reduction, first.update));
            assert_eq!(iterations(&good, &multigrid), before);
        }
        // The hierarchy's own operator has new links when an update fails: the host gets an error, and may go on with
        // the old hierarchy.
        let op = operator(near_unit(&device, &geometry, 3, 0.4), -0.2);
        let multigrid = Arc::new(Multigrid::new(&*op, &small(2, 4)).unwrap());
        op.update(&near_unit(&device, &geometry, 3, 0.41)).unwrap();
        device.limit_memory(device.used().0 + 1000);
        let e = multigrid.update(&*op, Update::Keep).unwrap_err();
        device.limit_memory(u64::MAX);
        assert_eq!(e.status, Status::OutOfMemory, "{e}");
        assert!(iterations(&op, &multigrid) <= 2 * before);
    }
}

/// An update announces the memory that it takes beside the old hierarchy, and refuses before it allocates anything.
#[test]
fn updates_announce_their_memory() {
    for device in devices() {
        // Messages between GPUs have whole pages of 2 MiB.
        let extent = if device.is_cpu() { 8 } else { 16 };
        let s = Setup::new(&device, over_ranks([extent; 4]), 0.5);
        let op = s.wilson(DiracParams { mass: 0.1, csw: 1.0, csw_t: 1.0, ..Default::default() });
        let level = |n| LevelParams { block: [2; 4], vectors: n, pre: 0, post: 4 };
        let params = MultigridParams {
            cycle: Cycle::V,
            setup_iterations: 2,
            // As on GPUs by default.
            smoother_precision: Some(Precision::F16),
            refinements: 0,
            ..MultigridParams::with_levels(vec![level(8), level(8)])
        };
        let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
        // What may end with new vectors announces their memory, more than a refinement takes, whose vectors are in 16
        // bits while the old hierarchy is there.
        let least = [(Update::Keep, 0.5), (Update::Refine(2), 0.93), (Update::Anew, 0.95)];
        for (how, part) in least {
            let need = multigrid.update_memory(&*op, how).unwrap();
            let before = device.used().0;
            device.limit_memory(before + need - 1);
            device.reset_peak();
            let e = multigrid.update(&*op, how).unwrap_err();
            assert_eq!(e.status, Status::OutOfMemory, "{e}");
            assert_eq!(device.used(), (before, before), "something was allocated");
            device.limit_memory(u64::MAX);
            assert_eq!(multigrid.update(&*op, how).unwrap().update, Some(how));
            let taken = device.used().1 - before;
            println!("{} {how:?}: took {taken} bytes, announced {need}", device.name());
            assert!(taken <= need && taken as f64 >= part * need as f64, "{taken} {need}");
        }
    }
}

/// Links with infinities or NaN are refused with a message that names them, at a set-up and at an update, and the old
/// hierarchy still solves.
#[test]
fn links_that_are_not_finite() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([4, 4, 4, 8]), &device);
        let good = operator(near_unit(&device, &geometry, 3, 0.4), -0.2);
        let multigrid = Arc::new(Multigrid::new(&*good, &small(4, 4)).unwrap());
        let before = iterations(&good, &multigrid);
        for value in [f64::NAN, f64::INFINITY] {
            let mut gauge = near_unit(&device, &geometry, 3, 0.4);
            let mut links = gauge.save_lex().unwrap();
            // One number, in the part of one rank.
            links[18 * 4 * 77 + 18 * 3 + 5] = value;
            gauge.load_lex(&links).unwrap();
            let params = DiracParams { mass: -0.2, ..Default::default() };
            let bad = Arc::new(Wilson::new(Arc::new(gauge), params).unwrap());
            let made = Multigrid::new(&*bad, &small(4, 4)).map(|_| ());
            let updated = multigrid.update(&*bad, Update::Keep).map(|_| ());
            for e in [made.unwrap_err(), updated.unwrap_err()] {
                assert_eq!(e.status, Status::NotFinite, "{e}");
                assert!(e.message().starts_with("links"), "{e}");
            }
            assert_eq!(iterations(&good, &multigrid), before);
        }
    }
}

/// After every small change of links, as in HMC, the updated cycle is as good as that of a fresh set-up.
#[test]
fn updates_keep_the_cycle_good() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([8, 4, 4, 8]), &device);
        let links = |step: u64| {
            let mut gauge =
                GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            gauge.set_near_unit(3 + step / 100, 0.4 + 0.002 * (step % 100) as f64).unwrap();
            let params = DiracParams { mass: -0.3, csw: 1.0, csw_t: 1.0, ..Default::default() };
            Arc::new(Wilson::new(Arc::new(gauge), params).unwrap())
        };
        let level = LevelParams { block: [4, 2, 2, 4], vectors: 12, pre: 0, post: 4 };
        let params = MultigridParams::with_levels(vec![level]);
        let multigrid = Arc::new(Multigrid::new(&*links(0), &params).unwrap());
        for step in 1..4 {
            let op = links(step);
            let report = multigrid.update(&*op, Update::Keep).unwrap();
            let found = solve(&op, Some(&multigrid), 1, Solution::Mat).solver.iterations;
            let fresh = Arc::new(Multigrid::new(&*op, &params).unwrap());
            let best = solve(&op, Some(&fresh), 1, Solution::Mat).solver.iterations;
            println!("step {step}: {:?}, {:.3}: {found} {best}", report.update, report.reduction);
            assert!(found as f64 <= 1.2 * best as f64 + 1.0, "{found} {best}");
        }
        // Other links altogether.
        let op = links(500);
        let report = multigrid.update(&*op, Update::Keep).unwrap();
        let found = solve(&op, Some(&multigrid), 1, Solution::Mat).solver.iterations;
        let fresh = Arc::new(Multigrid::new(&*op, &params).unwrap());
        let best = solve(&op, Some(&fresh), 1, Solution::Mat).solver.iterations;
        println!("other links: {:?}, {:.3}: {found} {best}", report.update, report.reduction);
        assert!(found as f64 <= 1.4 * best as f64 + 1.0, "{found} {best}");
    }
}
