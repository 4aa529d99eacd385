//! Tests of coarse levels gathered on fewer ranks.

use super::*;

/// Process grids with fewer ranks: one rank, the full grid without one of its divided directions, and the full grid.
fn fewer() -> Vec<[usize; 4]> {
    let all = ranks().grid();
    let alone = (0..4).map(|mu| std::array::from_fn(|nu| if mu == nu { all[mu] } else { 1 }));
    let mut grids: Vec<[usize; 4]> = alone.chain([[1; 4], all]).collect();
    grids.dedup();
    grids
}

/// Vectors with a different number on every site and component go to fewer ranks, from there to still fewer, and
/// back, on lattices with and without parity.
#[test]
fn vectors_are_gathered_and_scattered() {
    for device in devices() {
        for (part, block) in [([6, 2, 4, 2], [2, 2, 2, 1]), ([6, 2, 6, 4], [2, 1, 2, 4])] {
            for grid in fewer() {
                let geometry = common::geometry(over_ranks(part), &device);
                let finest = CoarseGrid::finest(&geometry, &device).unwrap();
                let outer = finest.coarsened(block).unwrap();
                let gather = Gather::new(&outer, grid).unwrap();
                let held = gather.inner().is_some();
                let of = |mu: usize| ranks().grid()[mu] / grid[mu];
                assert_eq!(held, (0..4).all(|mu| ranks().coords()[mu].is_multiple_of(of(mu))));
                for (precision, nrhs) in [(Precision::F32, 1), (Precision::F64, 3)] {
                    let new = |grid: &Arc<CoarseGrid>| {
                        CoarseField::new(grid, precision, Subset::Full, 4, nrhs).unwrap()
                    };
                    let mut there = new(&outer);
                    let all: Vec<C> = (0..outer.global_volume() * 4 * nrhs)
                        .map(|i| C::new(i as f64, -(i as f64)))
                        .collect();
                    scatter(&mut there, &all);
                    let mut inner = gather.inner().map(new);
                    gather.gather(inner.as_mut(), &there).unwrap();
                    if let Some(inner) = &inner {
                        let own = inner.grid().clone();
                        let (local, whole) =
                            (Lattice::new(own.extents()), Lattice::new(own.global_extents()));
                        let found = inner.save().unwrap();
                        for lex in 0..local.volume() {
                            let x = local.coords(lex);
                            let at: [usize; 4] = std::array::from_fn(|mu| {
                                x[mu] + own.comm().coords()[mu] * own.extents()[mu]
                            });
                            for i in 0..4 * nrhs {
                                let expect = (whole.lex(at) * 4 * nrhs + i) as f64;
                                let k = (own.site(lex) * 4 * nrhs + i) * 2;
                                assert_eq!((found[k], found[k + 1]), (expect, -expect));
                            }
                        }
                        // Once more, on one rank.
                        let again = Gather::new(&own, [1; 4]).unwrap();
                        let mut last = again.inner().map(new);
                        again.gather(last.as_mut(), inner).unwrap();
                        let mut back = inner.like(nrhs).unwrap();
                        again.scatter(&mut back, last.as_ref()).unwrap();
                        assert_eq!(back.save().unwrap(), found);
                    }
                    let mut back = there.like(nrhs).unwrap();
                    gather.scatter(&mut back, inner.as_ref()).unwrap();
                    assert_eq!(back.save().unwrap(), there.save().unwrap());
                    // Refused on every rank alike.
                    let mut even =
                        CoarseField::new(&outer, precision, Subset::Even, 4, nrhs).unwrap();
                    let found = gather.scatter(&mut even, inner.as_ref()).unwrap_err();
                    assert_eq!(found.status, Status::FieldMismatch);
                }
            }
        }
        let geometry = common::geometry(over_ranks([2; 4]), &device);
        let grid = CoarseGrid::finest(&geometry, &device).unwrap();
        let found = Gather::new(&grid, ranks().grid().map(|n| n + 1)).unwrap_err();
        assert_eq!(found.status, Status::ProcessGrid, "{found}");
    }
}

/// An operator on links near the unit matrix that do not depend on the ranks.
fn near_unit(device: &Device, comm: &Arc<Comm>, roughness: f64) -> Arc<Wilson> {
    let geometry = Geometry::decomposed([8, 4, 4, 8], device, comm).unwrap();
    let mut gauge = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    gauge.set_near_unit(7, roughness).unwrap();
    let params = DiracParams { mass: -0.3, csw: 1.0, csw_t: 1.0, ..Default::default() };
    Arc::new(Wilson::new(Arc::new(gauge), params).unwrap())
}

/// Solutions for random sources that do not depend on the ranks, on the whole lattice, with numbers of iterations.
fn solutions(op: &Arc<Wilson>, multigrid: &Arc<Multigrid>, nrhs: usize) -> (Vec<f64>, usize) {
    let solver = SolverParams {
        kind: SolverKind::Gcr,
        nkrylov: 4,
        stop: Stop::at(1e-10),
        ..Default::default()
    };
    let params = SolveParams { solver, ..Default::default() };
    let solver = DiracSolver::new(op.clone(), params).unwrap();
    let solver = solver.with_multigrid(Some(multigrid.clone())).unwrap();
    let mut x = op.subset_shape(Subset::Full).field(nrhs).unwrap();
    let mut b = op.subset_shape(Subset::Full).field(nrhs).unwrap();
    b.set_noise(Noise::Normal, 5, 0).unwrap();
    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
    assert!(report.solver.converged);
    (x.save_lex().unwrap(), report.solver.iterations)
}

/// Levels on fewer ranks give the reports, iterations and solutions that they give on one rank, for one and several
/// right-hand sides, and after an update.
#[test]
fn gathered_levels_are_those_of_one_rank() {
    let level = |block, vectors| LevelParams { block, vectors, pre: 0, post: 4 };
    let (alone, many) = (Comm::single(), ranks());
    let device = devices().pop().unwrap();
    let cases = [
        // Gathered levels: the second one, since the next aggregates do not divide it; two, one after the other; none.
        (vec![level([4, 2, 2, 4], 8), level([2, 1, 2, 2], 6)], Some(1)),
        (vec![level([2, 2, 2, 4], 6), level([2, 1, 2, 2], 7)], Some(2)),
        (vec![level([2, 2, 2, 2], 6)], Some(0)),
    ];
    for (levels, gather) in cases {
        let params = MultigridParams {
            gather,
            coarse_precision: Precision::F64,
            smoother_precision: Some(Precision::F64),
            refinements: 1,
            ..MultigridParams::with_levels(levels)
        };
        let [one, all] = [&alone, &many].map(|comm| {
            let op = near_unit(&device, comm, 0.45);
            let need = Multigrid::memory(&*op, &params).unwrap();
            device.reset_peak();
            let before = device.used().0;
            let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
            let taken = device.used().1 - before;
            // On a GPU messages of the 16 faces of a level take whole pages.
            let paged = comm.size() > 1 && !device.is_cpu();
            let pages = if paged { (16 << 21) * params.steps().len() as u64 } else { 0 };
            assert!(taken <= need + pages, "took {taken} bytes, announced {need}");
            (op, multigrid)
        });
        let [expect, found] = [&one, &all].map(|(_, multigrid)| multigrid.report());
        let lives: Vec<usize> = found.levels.iter().map(|l| l.ranks).collect();
        let what = format!("{} {:?} {gather:?} on {lives:?}", device.name(), params.steps());
        println!("{what}: reduction {:.6} {:.6}", found.reduction, expect.reduction);
        assert!((found.reduction / expect.reduction - 1.0).abs() < 1e-6, "{what}");
        for (l, m) in expect.levels.iter().zip(&found.levels) {
            assert_eq!(
                (l.extents, l.block, l.vectors, l.ranks),
                (m.extents, m.block, m.vectors, 1)
            );
        }
        assert_eq!(lives[0], many.size(), "{what}");
        let expect = if gather == Some(0) { many.size() } else { 1 };
        assert_eq!(lives.last(), Some(&expect), "{what}");
        if many.grid() == [2, 1, 1, 2] && params.steps()[0].block == [2, 2, 2, 4] {
            assert_eq!(lives, [4, 2, 1], "in two steps");
        }
        let mut operators = [one.0.clone(), all.0.clone()];
        for (updated, nrhs) in [(false, 1), (true, 3)] {
            if updated {
                operators = [&alone, &many].map(|comm| near_unit(&device, comm, 0.46));
                let same = [(&one.1, 0), (&all.1, 1)]
                    .map(|(m, i)| m.update(&*operators[i], Update::Refine(1)).unwrap().update);
                assert_eq!(same[0], same[1], "{what}");
            }
            let (expect, iterations) = solutions(&operators[0], &one.1, nrhs);
            let (found, here) = solutions(&operators[1], &all.1, nrhs);
            assert_eq!(here, iterations, "{what}, {nrhs}");
            let apart = distance(&found, &expect);
            println!("{nrhs} right-hand sides: {here} iterations, {apart:.1e} apart");
            assert!(apart < 1e-9, "{what}, {nrhs}: {apart:e}");
        }
        // What was done since the update, where the level is.
        let [expect, found] = [&one, &all].map(|(_, multigrid)| multigrid.report());
        for (l, m) in expect.levels.iter().zip(&found.levels) {
            let here = if m.bytes > 0 { l.iterations } else { 0 };
            assert_eq!(m.iterations, here, "{what}");
        }
    }
}

/// The ranks on which levels live by default: the solutions of levels that stay on all ranks.
#[test]
fn levels_choose_their_ranks() {
    let level = |block, vectors| LevelParams { block, vectors, pre: 0, post: 4 };
    for device in devices() {
        let op = near_unit(&device, &ranks(), 0.45);
        let levels = vec![level([2, 2, 2, 2], 8), level([2, 1, 1, 2], 8)];
        let made = |gather| {
            let params = MultigridParams {
                gather,
                coarse_precision: Precision::F64,
                smoother_precision: Some(Precision::F64),
                ..MultigridParams::with_levels(levels.clone())
            };
            Arc::new(Multigrid::new(&*op, &params).unwrap())
        };
        let [everywhere, chosen] = [Some(0), None].map(made);
        let lives: Vec<usize> = chosen.report().levels.iter().map(|l| l.ranks).collect();
        assert!(lives.is_sorted_by(|a, b| a >= b) && lives[0] == ranks().size(), "{lives:?}");
        // The choice is said, and asked for by its number it is the same.
        let gather = chosen.params().gather;
        assert!(gather.is_some_and(|n| n > 0), "{gather:?}");
        let again = made(gather).report();
        let again: Vec<usize> = again.levels.iter().map(|l| l.ranks).collect();
        assert_eq!(again, lives);
        let [(expect, iterations), (found, here)] =
            [&everywhere, &chosen].map(|multigrid| solutions(&op, multigrid, 2));
        println!("{} on {lives:?}: {here} iterations, {iterations} on all ranks", device.name());
        assert_eq!(here, iterations);
        assert!(distance(&found, &expect) < 1e-9);
    }
}

/// Impossible gatherings, and failures on ranks that hold a level alone, give a status on all ranks.
#[test]
fn gathered_levels_that_cannot_be() {
    let level = |block, vectors| LevelParams { block, vectors, pre: 0, post: 2 };
    for device in devices() {
        let op = near_unit(&device, &ranks(), 0.45);
        let refused = |levels: Vec<LevelParams>, gather, status: Status, words: &str| {
            let params =
                MultigridParams { refinements: 0, gather, ..MultigridParams::with_levels(levels) };
            let found = Multigrid::new(&*op, &params).map(|_| ()).unwrap_err();
            assert_eq!(found.status, status, "{found}");
            assert!(found.message().contains(words), "{found}");
        };
        let first = level([4, 2, 2, 4], 4);
        let words = "do not divide [2, 2, 2, 2], gathered or not";
        refused(vec![first, level([1, 1, 1, 3], 4)], Some(2), Status::BadExtents, words);
        let words = "9 null vectors: an aggregate of [1, 1, 1, 2] sites";
        refused(vec![first, level([1, 1, 1, 2], 9)], Some(2), Status::BadParameter, words);
        if ranks().grid()[3] == 2 {
            let words = "do not divide the";
            refused(vec![first, level([1, 1, 1, 2], 4)], Some(0), Status::BadExtents, words);
        }
        // Memory that only rank 0 lacks, at several places of an update: the same end on all ranks, at once, and
        // the hierarchy is as before.
        let params = MultigridParams::with_levels(vec![level([2; 4], 6), level([1, 1, 1, 2], 6)]);
        let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
        let before = multigrid.report();
        let mut failed = 0;
        for part in [1, 2, 4, 8, 16, 32] {
            if ranks().rank() == 0 {
                device.limit_memory(
                    device.used().0 + Multigrid::memory(&*op, &params).unwrap() * part / 40,
                );
            }
            let done = ranks().guard(|| multigrid.update(&*op, Update::Keep));
            device.limit_memory(u64::MAX);
            let status = done.as_ref().map_or_else(|e| e.status as i32, |_| 0);
            let all = ranks().all_gather(&status.to_ne_bytes()).unwrap();
            assert!(all.chunks(4).all(|s| s == status.to_ne_bytes()), "{part}: {all:?} {done:?}");
            if let Err(e) = done {
                failed += 1;
                assert_eq!(e.status, Status::OutOfMemory, "{e}");
                assert_eq!(multigrid.report().reduction, before.reduction, "{part}");
            }
        }
        assert!(failed >= 2, "{failed} of 6 updates failed");
        assert!(multigrid.update(&*op, Update::Keep).unwrap().reduction < 0.8);
    }
}
