//! Tests of the choices of the multigrid cycle: domains against the host, every smoother and coarsest solver by its
//! solves.

use crate::{common, reference};
use std::sync::Arc;

use common::{devices, distance, over_ranks, ranks, Lex};
use plaq::backend::Device;
use plaq::comm::Comm;
use plaq::compose::multigrid::{
    Coarsest, Cycle, LevelParams, Multigrid, MultigridParams, MultigridReport, SetupSolver,
    Smoother,
};
use plaq::compose::{DiracSolver, Solution, SolveParams, SolveReport};
use plaq::error::Status;
use plaq::fields::{GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset};
use plaq::operators::domains::Domains;
use plaq::operators::{DiracParams, Wilson};
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop};
use reference::{Lattice, C};

fn near_unit(device: &Device, geometry: &Arc<Geometry>, width: f64) -> Arc<GaugeField> {
    let mut gauge = GaugeField::new(device, geometry, Precision::F64, Recon::R18).unwrap();
    gauge.set_near_unit(7, width).unwrap();
    Arc::new(gauge)
}

/// An operator near the critical mass on these links.
fn operator(device: &Device, geometry: &Arc<Geometry>) -> Arc<Wilson> {
    let params = DiracParams { mass: -0.4, csw: 1.0, csw_t: 1.0, ..Default::default() };
    Arc::new(Wilson::new(near_unit(device, geometry, 0.4), params).unwrap())
}

/// Domain of a site, and the domain's colour.
fn domain(lat: &Lattice, lex: usize, block: [usize; 4]) -> ([usize; 4], usize) {
    let x = lat.coords(lex);
    let d: [usize; 4] = std::array::from_fn(|mu| x[mu] / block[mu]);
    (d, d.iter().sum::<usize>() % 2)
}

/// Operators restricted to domains have zero links between domains and unchanged links inside; minimal-residual steps
/// use sums over one domain.
#[test]
fn domains_are_those_of_the_host() {
    let cases =
        [([4, 4, 8, 8], [4, 2, 4, 4]), ([8, 4, 4, 4], [4, 4, 1, 4]), ([6, 4, 2, 4], [3, 2, 2, 4])];
    for device in devices() {
        for (part, block) in cases {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let what = format!("{} {part:?} {block:?}", device.name());
            for (precision, recon) in [(Precision::F64, Recon::R18), (Precision::F32, Recon::R12)] {
                let gauge = near_unit(&device, &geometry, 0.4).to(precision, recon).unwrap();
                let cut = gauge.cut(block).unwrap();
                let (whole, found) = (gauge.save_lex().unwrap(), cut.save_lex().unwrap());
                for (link, (x, y)) in whole.chunks(18).zip(found.chunks(18)).enumerate() {
                    let (lex, mu) = (link / 4, link % 4);
                    let next = {
                        let mut x = lat.coords(lex);
                        x[mu] += 1;
                        x[mu] / block[mu]
                    };
                    let leaves = next != domain(&lat, lex, block).0[mu];
                    let off =
                        x.iter().zip(y).map(|(x, y)| (if leaves { 0.0 } else { *x } - y).abs());
                    assert!(off.fold(0.0, f64::max) < 1e-6, "{what}: link {mu} of site {lex}");
                }
            }
            for (precision, tolerance) in [(Precision::F64, 1e-13), (Precision::F32, 1e-5)] {
                for (n, colour) in [(1, None), (2, Some(0)), (2, Some(1))] {
                    let what = format!("{what} {precision:?} {n} {colour:?}");
                    step(&device, &geometry, block, precision, n, colour, tolerance, &what);
                }
            }
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn step(
    device: &Device,
    geometry: &Arc<Geometry>,
    block: [usize; 4],
    precision: Precision,
    n: usize,
    colour: Option<usize>,
    tolerance: f64,
    what: &str,
) {
    let field = |number| {
        let mut f = SpinorField::new(device, geometry, precision, Subset::Even, n).unwrap();
        f.set_noise(Noise::Normal, 3, number).unwrap();
        f
    };
    let (mut z, mut r, q) = (field(0), field(20), field(40));
    let numbers = |f: &SpinorField| -> Vec<C> {
        f.save_lex().unwrap().chunks(2).map(|v| C::new(v[0], v[1])).collect()
    };
    let [z0, r0, q0] = [&z, &r, &q].map(numbers);
    let domains = Domains::of_spinors(geometry, device, block, 0).unwrap();
    let sums = domains.sums(precision, n).unwrap();
    domains.step(&sums, [&mut z, &mut r], &q, colour, 0.9).unwrap();
    let lat = Lattice::new(geometry.global_extents());
    let (mut z1, mut r1) = (z0.clone(), r0.clone());
    let mut all: std::collections::HashMap<([usize; 4], usize), (C, f64)> = Default::default();
    let place = |i: usize| (i / 12 / lat.volume(), i / 12 % lat.volume());
    for i in 0..q0.len() {
        let (rhs, lex) = place(i);
        let sum = all.entry((domain(&lat, lex, block).0, rhs)).or_default();
        sum.0 += q0[i].conj() * r0[i];
        sum.1 += q0[i].norm_sqr();
    }
    for i in 0..q0.len() {
        let (rhs, lex) = place(i);
        let (d, own) = domain(&lat, lex, block);
        let (along, norm) = all[&(d, rhs)];
        if norm > 0.0 && colour.is_none_or(|c| c == own) {
            z1[i] += 0.9 * along / norm * r0[i];
            r1[i] -= 0.9 * along / norm * q0[i];
        }
    }
    let reals = |v: &[C]| -> Vec<f64> { v.iter().flat_map(|z| [z.re, z.im]).collect() };
    for (name, found, expected) in [("z", &z, &z1), ("r", &r, &r1)] {
        let off = distance(&found.save_lex().unwrap(), &reals(expected));
        assert!(off < tolerance, "{what}: {name} off by {off:e}");
    }
}

fn solve(op: &Arc<Wilson>, multigrid: Option<&Arc<Multigrid>>, nrhs: usize) -> (SolveReport, f64) {
    let kind = if multigrid.is_some() { SolverKind::Gcr } else { SolverKind::BiCgStab };
    let solver = SolverParams { kind, nkrylov: 4, stop: Stop::at(1e-10), ..Default::default() };
    let params = SolveParams { solver, solution: Solution::Mat, ..Default::default() };
    let solver =
        DiracSolver::new(op.clone(), params).unwrap().with_multigrid(multigrid.cloned()).unwrap();
    let gauge = op.gauge();
    let field = |precision| {
        SpinorField::new(gauge.device(), gauge.geometry(), precision, solver.subset(), nrhs)
            .unwrap()
    };
    let (mut x, mut b) = (field(Precision::F64), field(Precision::F64));
    b.set_noise(Noise::Normal, 5, 0).unwrap();
    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
    assert!(report.solver.converged, "{:?}", report.solver.residual);
    (report, plaq::fields::blas::norm2(&x).unwrap()[0])
}

const SMOOTHERS: [Smoother; 6] = [
    Smoother::Mr,
    Smoother::Gcr,
    Smoother::CaGcr,
    Smoother::Richardson,
    Smoother::SchwarzAdditive,
    Smoother::SchwarzMultiplicative,
];

fn level(block: [usize; 4], vectors: usize) -> LevelParams {
    LevelParams { block, vectors, pre: 1, post: 4 }
}

/// Every smoother works on the finest and the middle level near the critical mass, the first smoother with every
/// solver of the coarsest level.
#[test]
fn every_smoother_and_coarsest_solver() {
    let coarsest = [
        (Coarsest::CaGcr, 0),
        (Coarsest::Gcr, 0),
        (Coarsest::BiCgStab, 0),
        (Coarsest::Direct, 0),
        (Coarsest::CaGcr, 5),
        (Coarsest::BiCgStab, 3),
    ];
    for device in devices() {
        let geometry = common::geometry(over_ranks([8, 4, 4, 8]), &device);
        let op = operator(&device, &geometry);
        // Rounding alone changes the count of BiCGStab by a tenth, so that the slowest of eight columns is taken.
        let plain = solve(&op, None, 8).0.solver.iterations;
        let levels = vec![level([2, 2, 2, 2], 8), level([2, 2, 1, 2], 8)];
        let params = MultigridParams::with_levels(levels);
        let first = Multigrid::new(&*op, &params).unwrap();
        let vectors = first.vectors(Precision::F32).unwrap();
        println!("{}: BiCGStab {plain}", device.name());
        for (s, smoother) in SMOOTHERS.into_iter().enumerate() {
            let (mut found, mut exact) = (vec![], None);
            for (c, (coarsest, modes)) in coarsest.into_iter().enumerate() {
                // The other smoothers are tested with one coarsest solver each and, on a CPU, with the inverse; on GPUs
                // each choice has kernels to compile.
                let inverse = device.is_cpu() && coarsest == Coarsest::Direct;
                if c != s % coarsest_count() && s != 0 && !inverse {
                    continue;
                }
                let params = MultigridParams {
                    smoother,
                    coarse_smoother: smoother,
                    coarsest,
                    coarsest_modes: Some(modes),
                    ..params.clone()
                };
                let multigrid = Arc::new(Multigrid::with_vectors(&*op, &params, &vectors).unwrap());
                let iterations =
                    [1, 3].map(|n| solve(&op, Some(&multigrid), n).0.solver.iterations);
                assert!(
                    iterations.iter().all(|n| *n <= 45 && 3 * n < plain),
                    "{smoother:?} {coarsest:?} {modes}: {iterations:?} iterations, BiCGStab {plain}"
                );
                if coarsest == Coarsest::Direct {
                    exact = Some(iterations);
                }
                found.push(iterations);
            }
            println!("{}: {smoother:?}: {found:?} iterations", device.name());
            // All solvers of the coarsest level do as well as its inverse, where GPUs have that.
            let Some(exact) = exact else { continue };
            for (n, exact) in exact.into_iter().enumerate() {
                let max = found.iter().map(|f| f[n]).max().unwrap();
                assert!(max <= exact + 3, "{smoother:?}: {found:?}");
            }
        }
    }
}

/// Null vectors are found by every solver, few at a time and all at once, and all are equally good near the critical
/// mass. A set-up takes no more memory than it announces.
#[test]
fn null_vectors_by_every_solver() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([8, 4, 4, 8]), &device);
        let op = operator(&device, &geometry);
        let mut found = vec![];
        for (setup_solver, setup_columns) in [
            (SetupSolver::BiCgStab, 8),
            (SetupSolver::BiCgStab, 3),
            (SetupSolver::Cg, 8),
            (SetupSolver::Gcr, 8),
            (SetupSolver::Gcr, 3),
        ] {
            let params = MultigridParams {
                setup_solver,
                setup_columns,
                setup_iterations: 30,
                refinements: 1,
                ..MultigridParams::with_levels(vec![level([2; 4], 8)])
            };
            let need = Multigrid::memory(&*op, &params).unwrap();
            device.reset_peak();
            let before = device.used().0;
            let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
            let taken = device.used().1 - before;
            assert!(taken <= need, "{setup_solver:?}: took {taken}, announced {need}");
            found.push(solve(&op, Some(&multigrid), 1).0.solver.iterations);
        }
        println!("{}: {found:?} iterations", device.name());
        // The null vectors are the same, however many are computed at a time.
        assert!(found[0].abs_diff(found[1]) <= 1 && found[3].abs_diff(found[4]) <= 1, "{found:?}");
        let (least, max) = (found.iter().min().unwrap(), found.iter().max().unwrap());
        assert!(*max <= least + 5, "{found:?}");
    }
}

/// Powers of the operator in 16 bits take at most one iteration more near the critical mass, with few steps at once
/// and with many; so do 16 bits with one direction at a time.
#[test]
fn powers_in_sixteen_bits_smooth_as_well() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([8, 4, 4, 8]), &device);
        let op = operator(&device, &geometry);
        for (pre, post) in [(0, 4), (2, 3), (0, 10), (0, 14)] {
            let levels = vec![LevelParams { pre, post, ..level([2; 4], 8) }];
            let params = MultigridParams::with_levels(levels);
            let iterations = |smoother_precision| {
                let params = MultigridParams {
                    smoother_precision: Some(smoother_precision),
                    ..params.clone()
                };
                let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
                [1, 3].map(|n| solve(&op, Some(&multigrid), n).0.solver.iterations)
            };
            let (single, half) = (iterations(Precision::F32), iterations(Precision::F16));
            println!("{} {pre} + {post} steps: single {single:?}, half {half:?}", device.name());
            for (single, half) in single.into_iter().zip(half) {
                assert!(
                    half <= single + 1,
                    "{pre} + {post}: {half} iterations, {single} in single"
                );
            }
        }
    }
}

fn coarsest_count() -> usize {
    6
}

fn coarsest_iterations(report: &MultigridReport) -> u64 {
    report.levels.last().unwrap().iterations
}

/// Low modes save iterations on the coarsest level, and its inverse saves all but one; deeper levels may have cycles
/// of their own.
#[test]
fn coarsest_levels_and_deep_cycles() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([8, 4, 4, 8]), &device);
        let op = operator(&device, &geometry);
        let levels = vec![level([2; 4], 8)];
        let params = MultigridParams {
            coarsest_tol: 0.02,
            coarsest: Coarsest::Gcr,
            coarsest_iterations: 400,
            ..MultigridParams::with_levels(levels)
        };
        let first = Multigrid::new(&*op, &params).unwrap();
        let vectors = first.vectors(Precision::F32).unwrap();
        let with = |params: &MultigridParams| {
            let multigrid = Arc::new(Multigrid::with_vectors(&*op, params, &vectors).unwrap());
            let outer = solve(&op, Some(&multigrid), 1).0.solver.iterations;
            let coarsest = coarsest_iterations(&multigrid.report());
            println!(
                "{}: {:?} {}: {outer} outer, {coarsest} coarsest",
                device.name(),
                params.coarsest,
                params.coarsest_modes.unwrap_or(0)
            );
            (outer as f64, coarsest as f64)
        };
        let plain = with(&params);
        let deflated = with(&MultigridParams { coarsest_modes: Some(16), ..params.clone() });
        let direct = with(&MultigridParams { coarsest: Coarsest::Direct, ..params.clone() });
        assert!(deflated.0 <= plain.0 + 1.0 && direct.0 <= plain.0 + 1.0);
        assert!(deflated.1 / deflated.0 < 0.8 * plain.1 / plain.0, "{deflated:?} {plain:?}");
        assert!(direct.1 <= 2.0 * direct.0 + 2.0, "{direct:?}");
        // Four levels; the third is solved with one cycle or with several.
        let deep = vec![level([2; 4], 6), level([2, 1, 1, 2], 6), level([1, 2, 1, 1], 6)];
        let made = |deep_cycle| {
            let params = MultigridParams {
                deep_cycle,
                coarsest: Coarsest::Direct,
                tol: 1e-4,
                iterations: 4,
                refinements: 1,
                ..MultigridParams::with_levels(deep.clone())
            };
            let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
            let outer = solve(&op, Some(&multigrid), 1).0.solver.iterations as f64;
            let solves = coarsest_iterations(&multigrid.report()) as f64;
            println!("{}: {deep_cycle:?}: {outer} outer, {solves} coarsest solves", device.name());
            solves / outer
        };
        let (k, v) = (made(None), made(Some(Cycle::V)));
        assert!(1.5 * v < k, "solves of the coarsest level in an outer iteration: V {v}, K {k}");
    }
}

/// Every smoother and coarsest solver takes the memory that is announced.
#[test]
fn announced_memory_is_taken() {
    let cases = [
        (Smoother::Gcr, Coarsest::Gcr, 0, Precision::F32),
        (Smoother::Richardson, Coarsest::BiCgStab, 0, Precision::F32),
        (Smoother::SchwarzAdditive, Coarsest::Direct, 0, Precision::F32),
        (Smoother::SchwarzMultiplicative, Coarsest::CaGcr, 12, Precision::F32),
        (Smoother::CaGcr, Coarsest::CaGcr, 0, Precision::F16),
    ];
    for device in devices() {
        // Buffers for messages between GPUs are whole pages of 2 MiB, so that GPUs get a larger lattice.
        let extent = if device.is_cpu() { 8 } else { 16 };
        let geometry = common::geometry(over_ranks([extent; 4]), &device);
        let op = operator(&device, &geometry);
        for (smoother, coarsest, coarsest_modes, smoother_precision) in cases {
            let level = |block| LevelParams { block: [block; 4], vectors: 8, pre: 0, post: 4 };
            let params = MultigridParams {
                cycle: Cycle::V,
                smoother,
                smoother_precision: Some(smoother_precision),
                coarse_smoother: smoother,
                coarsest,
                coarsest_modes: Some(coarsest_modes),
                setup_iterations: 2,
                refinements: 1,
                // The coarsest level has few enough unknowns for a direct solution.
                ..MultigridParams::with_levels(vec![level(2), level(extent / 4)])
            };
            let need = Multigrid::memory(&*op, &params).unwrap();
            device.reset_peak();
            let before = device.used().0;
            let made = Multigrid::new(&*op, &params).unwrap();
            let taken = device.used().1 - before;
            drop(made);
            println!("{} {smoother:?} {coarsest:?}: took {taken}, announced {need}", device.name());
            assert!(taken <= need && need as f64 <= 1.05 * taken as f64, "{taken} {need}");
        }
    }
}

/// Impossible choices are refused with a message that names them.
#[test]
fn bad_choices_are_refused() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([4, 4, 8, 8]), &device);
        let op = operator(&device, &geometry);
        let base = MultigridParams::with_levels(vec![level([2; 4], 8)]);
        let refused = |params: MultigridParams, status: Status, name: &str| {
            let before = device.used().0;
            let e = Multigrid::new(&*op, &params).map(|_| ()).unwrap_err();
            assert_eq!(e.status, status, "{e}");
            assert!(e.message().contains(name), "{e}");
            assert_eq!(device.used().0, before);
        };
        let domain = [3, 0, 0, 0];
        let smoother = Smoother::SchwarzAdditive;
        refused(
            MultigridParams { smoother, domain, ..base.clone() },
            Status::BadExtents,
            "domain[0]",
        );
        let half = Some(Precision::F16);
        refused(
            MultigridParams { smoother, smoother_precision: half, ..base.clone() },
            Status::Unsupported,
            "smoother",
        );
        refused(
            MultigridParams { domain_steps: 0, ..base.clone() },
            Status::BadParameter,
            "domain_steps",
        );
        refused(
            MultigridParams { coarsest_modes: Some(257), ..base.clone() },
            Status::BadParameter,
            "coarsest_modes",
        );
        let direct = MultigridParams { coarsest: Coarsest::Direct, ..base.clone() };
        refused(
            MultigridParams { coarsest_modes: Some(1), ..direct },
            Status::BadParameter,
            "coarsest_modes",
        );
        let few = MultigridParams::with_levels(vec![level([4, 4, 4, 8], 2)]);
        refused(
            MultigridParams { coarsest_modes: Some(200), ..few },
            Status::BadParameter,
            "coarsest_modes",
        );
        let large = MultigridParams::with_levels(vec![level([1, 1, 2, 2], 20)]);
        refused(
            MultigridParams { coarsest: Coarsest::Direct, ..large },
            Status::BadParameter,
            "coarsest",
        );
    }
}

/// One rank and many, or one rank with halos to itself, take the same iterations to the same solution.
#[test]
fn ranks_take_the_same_iterations() {
    let ranks = ranks();
    for device in devices() {
        let extents = [8, 8, 4, 8];
        let divided = match ranks.size() {
            1 => Comm::looped([true, false, false, true]),
            _ => ranks.clone(),
        };
        let mut all = vec![];
        for comm in [Comm::single(), divided] {
            let geometry = Geometry::decomposed(extents, &device, &comm).unwrap();
            let op = operator(&device, &geometry);
            for (smoother, smoother_precision, coarsest, coarsest_modes) in [
                (Smoother::SchwarzMultiplicative, Precision::F32, Coarsest::Direct, 0),
                (Smoother::SchwarzAdditive, Precision::F32, Coarsest::CaGcr, 4),
                (Smoother::CaGcr, Precision::F16, Coarsest::BiCgStab, 4),
                (Smoother::Mr, Precision::F32, Coarsest::Gcr, 0),
                (Smoother::Richardson, Precision::F32, Coarsest::Gcr, 2),
            ] {
                let params = MultigridParams {
                    smoother,
                    smoother_precision: Some(smoother_precision),
                    coarse_smoother: smoother,
                    domain: [2, 4, 4, 2],
                    coarsest,
                    coarsest_modes: Some(coarsest_modes),
                    refinements: 1,
                    ..MultigridParams::with_levels(vec![level([2; 4], 6), level([1, 2, 2, 1], 6)])
                };
                let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
                let (report, norm) = solve(&op, Some(&multigrid), 1);
                all.push((report.solver.iterations, norm));
            }
        }
        println!("{}: {all:?}", device.name());
        let (alone, divided) = all.split_at(all.len() / 2);
        for (one, many) in alone.iter().zip(divided) {
            assert!(one.0.abs_diff(many.0) <= 1, "{all:?}");
            assert!((one.1 / many.1 - 1.0).abs() < 1e-8, "{all:?}");
        }
    }
}
