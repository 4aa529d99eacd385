//! Tests of quark loops in parts: the sum of all parts is the trace, on any number of ranks and with any spaces of
//! low modes.

use std::sync::Arc;

use plaq::backend::Device;
use plaq::compose::multigrid::{LevelParams, Multigrid, MultigridParams};
use plaq::compose::{DiracSolver, SolveParams};
use plaq::error::Status;
use plaq::fields::{Noise, Precision, Recon};
use plaq::operators::DiracParams;
use plaq::ops::contract::{mesons, Sink};
use plaq::ops::gamma::Gamma;
use plaq::ops::source::Source;
use plaq::ops::structure::lines::Factor;
use plaq::ops::structure::loop_sums::{
    LoopGoals, LoopQuarks, LoopSettings, LoopSums, LoopSumsParams, Term, Traces,
};
use plaq::ops::structure::loops::{loops, LoopKind, LoopNoise, LoopOperators, OneEnd};
use plaq::ops::structure::low_mesons::low_mesons;
use plaq::ops::structure::low_space::{LowSpace, LowVectors};
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop};

use crate::common::{devices, over_ranks};
use crate::reference::C;
use crate::setup::Setup;

/// Links of a small lattice, a solver, and a hierarchy of two coarse levels.
fn quark(device: &Device, precision: Precision) -> (Setup, DiracSolver, Multigrid) {
    let setup = Setup::new(device, over_ranks([2, 2, 2, 4]), 0.4);
    let params = DiracParams { mass: 0.2, csw: 1.1, csw_t: 1.1, ..Default::default() };
    let op = Arc::new(setup.wilson_in(params, precision, Recon::R18));
    let tol = if precision == Precision::F64 { 1e-12 } else { 1e-5 };
    let solver =
        SolverParams { kind: SolverKind::BiCgStab, stop: Stop::at(tol), ..Default::default() };
    let solver =
        DiracSolver::new(op.clone(), SolveParams { solver, ..Default::default() }).unwrap();
    let level = |block, vectors| LevelParams { block, vectors, ..Default::default() };
    let levels = vec![level([2, 1, 2, 2], 5), level([1, 2, 1, 1], 4)];
    let params = MultigridParams { gather: Some(0), ..MultigridParams::with_levels(levels) };
    let multigrid = Multigrid::new(&*op, &params).unwrap();
    (setup, solver, multigrid)
}

fn noise(volume: usize) -> LoopNoise {
    LoopNoise {
        noise: Noise::Z4,
        seed: 3,
        first: 0,
        vectors: 1,
        dilute: [true, true, false],
        time_parts: 1,
        probes: volume,
    }
}

fn of(noise: LoopNoise, traces: Traces, hopping: usize) -> LoopSettings {
    LoopSettings {
        noise,
        how: OneEnd::None,
        factor: C::ONE,
        lines: vec![vec![], vec![Factor::Step(3)], vec![Factor::Derivative(2)]],
        momenta: vec![[0; 3], [1, 0, -1]],
        boundary: [0.0, 0.0, 0.0, 1.0],
        params: LoopSumsParams { traces, hopping },
    }
}

#[test]
fn all_parts_add_up_to_the_trace() {
    for device in devices() {
        for (precision, tol, near) in [(Precision::F64, 1e-12, 1e-9), (Precision::F32, 1e-5, 1e-3)]
        {
            let (setup, solver, multigrid) = quark(&device, precision);
            let space = LowSpace::of_multigrid(&solver, &multigrid, 0, tol).unwrap();
            assert_eq!(space.levels(), 2);
            let volume = setup.geometry.global_extents().iter().product();
            let quarks = LoopQuarks {
                solver: &solver,
                at_once: 0,
                other: None,
                links: &setup.gauge,
                space: Some(&space),
                other_space: None,
            };
            let made = of(noise(volume), Traces::Every, 2);
            let operators = LoopOperators {
                lines: &made.lines,
                momenta: &made.momenta,
                links: &setup.gauge,
                own: solver.op().links(),
                boundary: made.boundary,
            };
            let (how, factor) = (OneEnd::None, C::ONE);
            let plain = LoopKind { how, other: None, factor, low: None, change: None };
            let mut exact = None;
            let watch = &mut no_monitor;
            let by = (&solver, 0);
            loops(by, noise(volume), plain, operators, watch, &mut |_, found| exact = Some(found))
                .unwrap();
            let exact = exact.unwrap();
            let mut sums = LoopSums::new(made, &quarks).unwrap();
            let goals = LoopGoals { vectors: 1, ..Default::default() };
            let added = sums.add(&quarks, &goals, &mut no_monitor, &mut |_, _| Ok(())).unwrap();
            assert!(added.reached && !added.stopped);
            let terms: Vec<Term> = sums.parts().iter().map(|p| p.term).collect();
            assert_eq!(terms, [Term::Noise(0), Term::Exact(1), Term::Exact(2), Term::Hopping]);
            let found = sums.result(None).unwrap().mean;
            let wanted: Vec<C> = exact.lines.iter().chain(&exact.current).copied().collect();
            let top = wanted.iter().map(|z| z.norm()).fold(0.0, f64::max);
            for (a, b) in found.iter().zip(&wanted) {
                assert!((a - b).norm() < near * top, "{precision:?}: {a} {b} of {top}");
            }
        }
    }
}

/// Noise vectors of a level depend only on its whole lattice, not on the ranks, and P is an isometry.
#[test]
fn vectors_of_levels_are_the_same_on_any_ranks() {
    for device in devices() {
        let (_, solver, multigrid) = quark(&device, Precision::F64);
        let space = LowSpace::of_multigrid(&solver, &multigrid, 0, 1e-10).unwrap();
        for level in 1..=2 {
            let n = space.unknowns(level);
            let norms = |vectors: &LowVectors| {
                let fine = space.prolong(level, vectors).unwrap();
                plaq::fields::blas::norm2(&fine).unwrap()
            };
            let of_noise = norms(&space.noise((Noise::Z4, 5), level, 2, 3).unwrap());
            assert!(of_noise.iter().all(|x| (x / n as f64 - 1.0).abs() < 1e-12), "{of_noise:?}");
            let units = space.units(level, n - 2, 3).unwrap();
            let of_units = norms(&units);
            assert!(of_units[..2].iter().all(|x| (x - 1.0).abs() < 1e-12) && of_units[2] == 0.0);
            // Random numbers depend on the place in the whole lattice: their sum is the same on any number of ranks.
            let LowVectors::Coarse(field) = space.noise((Noise::Z2, 5), level, 0, 1).unwrap()
            else {
                panic!("a hierarchy has coarse vectors");
            };
            let numbers = field.save().unwrap();
            let places = field.places();
            let rows = field.components();
            let mut whole = vec![0.0; n];
            for (k, z) in numbers.chunks(2).enumerate() {
                whole[places[k / rows] * rows + k % rows] += z[0];
            }
            crate::common::ranks().sum(&mut whole).unwrap();
            assert!(whole.iter().all(|x| x.abs() == 1.0));
            assert!(whole.iter().sum::<f64>().abs() < 5.0 * (n as f64).sqrt());
        }
        let error = LowSpace::of_multigrid(&solver, &multigrid, 3, 1e-10).err().unwrap();
        assert_eq!(error.status, Status::InvalidArgument);
    }
}

/// The mean over all sources of mesons from low modes equals the mean of those from each site.
#[test]
fn low_mesons_are_the_mean_over_sources() {
    for device in devices() {
        let (setup, solver, multigrid) = quark(&device, Precision::F64);
        let space = LowSpace::of_multigrid(&solver, &multigrid, 0, 1e-12).unwrap();
        let extents = setup.geometry.global_extents();
        let volume: usize = extents.iter().product();
        let gamma = |n| Gamma::new(n).unwrap();
        let pairs = [(gamma(15), gamma(15)), (gamma(7), gamma(15)), (gamma(1), gamma(1))];
        let momenta = [[0; 3], [1, 0, 1]];
        for level in 1..=2 {
            let found = low_mesons(&space, level, &pairs, &momenta, &mut no_monitor).unwrap();
            assert!(!found.stopped && found.failed == 0);
            let mut wanted = vec![C::ZERO; found.correlators.len()];
            let mut b = space.op().shape().field(12).unwrap();
            for site in 0..volume {
                let mut rest = site;
                let origin: [usize; 4] = extents.map(|l| {
                    let x = rest % l;
                    rest /= l;
                    x
                });
                Source::point(origin).set(&mut b).unwrap();
                let (s, how) = space.inverse(level, &b).unwrap();
                assert!(how.converged);
                let mut all = vec![];
                for momentum in momenta {
                    let lines = mesons(&s, &s, Sink::new(origin, momentum)).unwrap();
                    pairs.iter().for_each(|(a, b)| all.extend(lines.correlator(*a, *b)));
                }
                wanted.iter_mut().zip(all).for_each(|(sum, z)| *sum += z / volume as f64);
            }
            let top = wanted.iter().map(|z| z.norm()).fold(0.0, f64::max);
            for (a, b) in found.correlators.iter().zip(&wanted) {
                assert!((a - b).norm() < 1e-9 * top, "level {level}: {a} {b} of {top}");
            }
        }
    }
}
