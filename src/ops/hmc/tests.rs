//! Tests of the kernels that a rehearsal of a first trajectory asks for; the rehearsal does not change the chain.

use super::fermion::{
    Inverter, MultigridSolves, OneFlavour, OneFlavourParams, TwoFlavours, TwoFlavoursParams,
};
use super::gauge_action::{GaugeCoefficients, GaugeForce, GaugeMonomial, TREE_LEVEL_SYMANZIK};
use super::integrator::{Level, Scheme};
use super::stout::Stout;
use super::{Hmc, HmcParams, Monomial};
use crate::backend::tests::common::Lex;
use crate::backend::Device;
use crate::compose::multigrid::{LevelParams, MultigridParams};
use crate::compose::tests::compare;
use crate::compose::Schur;
use crate::error::Status;
use crate::fields::{GaugeField, Geometry, Precision, Recon};
use crate::operators::DiracParams;

fn links() -> GaugeField {
    let device = Device::cpu(2).unwrap();
    let geometry = Geometry::new([4, 4, 4, 8], &device).unwrap();
    let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
    links.set_near_unit(7, 0.3).unwrap();
    links
}

fn gauge(links: &GaugeField, c1: f64) -> Box<dyn Monomial> {
    let coefficients = GaugeCoefficients::improved(5.6, c1).unwrap();
    let (device, geometry) = (links.device(), links.geometry());
    let force = GaugeForce::new(device, geometry, Precision::F64, coefficients).unwrap();
    Box::new(GaugeMonomial::new("gauge", force))
}

fn dirac(kappa: f64, csw: f64) -> DiracParams {
    DiracParams { csw, csw_t: csw, ..DiracParams::default() }.with_kappa(kappa)
}

fn two(name: &str, m: DiracParams, w: Option<DiracParams>, guesses: usize) -> TwoFlavours {
    let params = TwoFlavoursParams {
        operator: m.into(),
        preconditioner: w.map(Into::into),
        schur: Schur { parity: 0, symmetric: true },
        inverter: Inverter { guesses, ..Inverter::default() },
    };
    TwoFlavours::new(name, params).unwrap()
}

fn chain(links: &GaugeField, monomials: Vec<Box<dyn Monomial>>, scheme: Scheme) -> Hmc {
    let names = monomials.iter().map(|m| m.name().to_string()).collect();
    let params = HmcParams {
        length: 0.1,
        levels: vec![Level { scheme, steps: 2, monomials: names }],
        seed: 3,
        trajectory: 0,
        accept_until: 10,
        reversibility_every: 1,
        smd: None,
    };
    let (device, geometry) = (links.device(), links.geometry());
    Hmc::new(device, geometry, Precision::F64, monomials, params).unwrap()
}

/// One of two equal chains is rehearsed: its first trajectory launches the kernels for which the rehearsal asked,
/// except `max`, and ends with the same links as the other chain.
fn first_trajectory(max: usize, make: impl Fn(&GaugeField) -> Hmc) {
    let run = |rehearsed: bool| {
        let mut links = links();
        let mut hmc = make(&links);
        let before = links.save_lex().unwrap();
        let asked = match rehearsed {
            true => {
                let dry = links.device().dry();
                dry.recorded(|| _ = hmc.run_through(&dry, &links, true).unwrap())
            }
            false => vec![],
        };
        assert_eq!(links.save_lex().unwrap(), before, "a rehearsal changes links");
        let mut report = None;
        let device = links.device().clone();
        let launched = device.recorded(|| report = Some(hmc.run(&mut links).unwrap()));
        if rehearsed {
            compare("trajectory", &asked, &launched, max);
        }
        let mut report = report.unwrap();
        report.seconds = 0.0;
        report.monomials.iter_mut().for_each(|m| (m.seconds, m.solve_seconds) = (0.0, 0.0));
        (report, links.save_lex().unwrap())
    };
    let (with, without) = (run(true), run(false));
    assert_eq!(with.0, without.0);
    assert!(with.1 == without.1, "a rehearsal changes the trajectory");
}

#[test]
fn a_rehearsed_quenched_trajectory_asks_for_its_kernels() {
    for (c1, scheme) in [(0.0, Scheme::ForceGradient), (TREE_LEVEL_SYMANZIK, Scheme::Omelyan2)] {
        first_trajectory(0, |links| chain(links, vec![gauge(links, c1)], scheme));
    }
}

#[test]
fn a_rehearsed_trajectory_of_two_flavours_asks_for_its_kernels() {
    for (csw, guesses) in [(0.0, 0), (1.3, 2)] {
        first_trajectory(0, |links| {
            let quarks = two("light", dirac(0.12, csw), None, guesses);
            chain(links, vec![gauge(links, 0.0), Box::new(quarks)], Scheme::Omelyan2)
        });
    }
}

#[test]
fn a_rehearsed_trajectory_of_ratios_asks_for_its_kernels() {
    first_trajectory(0, |links| {
        let (light, heavy) = (dirac(0.12, 1.1), dirac(0.1, 1.1));
        let stout = Stout::new(0.1, 2).unwrap();
        let ratio = two("ratio", light, Some(heavy), 0).with_smearing(stout);
        let rest = two("heavy", heavy, None, 0).with_smearing(stout);
        let all: Vec<Box<dyn Monomial>> = vec![gauge(links, 0.0), Box::new(ratio), Box::new(rest)];
        chain(links, all, Scheme::Omelyan2)
    });
}

#[test]
fn a_rehearsed_trajectory_of_one_flavour_asks_for_its_kernels() {
    // Before the spectrum is measured, the number of poles in forces is unknown.
    for (interval, max) in [(None, 16), (Some((0.05, 3.0)), 0)] {
        first_trajectory(max, |links| {
            let params = OneFlavourParams {
                interval,
                error_hamiltonian: 1e-9,
                ..OneFlavourParams::new(dirac(0.11, 1.0))
            };
            let quark = OneFlavour::new("strange", params).unwrap();
            chain(links, vec![gauge(links, 0.0), Box::new(quark)], Scheme::Omelyan2)
        });
    }
}

/// No operator is made unless there is memory for all of them.
#[test]
fn a_chain_that_is_refused_keeps_nothing() {
    let mut links = links();
    let device = links.device().clone();
    let quarks = two("light", dirac(0.12, 1.3), None, 2);
    let mut hmc = chain(&links, vec![gauge(&links, 0.0), Box::new(quarks)], Scheme::Omelyan2);
    let announced = hmc.memory(&links).unwrap();
    let held = device.used().0;
    for (limit, refused) in [(held + announced - 1, true), (u64::MAX, false)] {
        device.limit_memory(limit);
        let done = Device::rehearsed_anyway(|| hmc.run(&mut links));
        assert_eq!(done.err().map(|e| e.status), refused.then_some(Status::OutOfMemory));
        assert_eq!(device.used().0 == held, refused, "{held}, {}", device.used().0);
    }
}

/// A chain with multigrid continues in the same way whether it was rehearsed or not.
#[test]
fn a_rehearsed_chain_with_multigrid_is_the_same() {
    let run = |rehearsed: bool| {
        let mut links = links();
        let level = LevelParams { block: [2; 4], vectors: 6, pre: 0, post: 4 };
        let levels = MultigridParams::with_levels(vec![level]);
        let inverter = Inverter {
            multigrid: Some(MultigridSolves { levels, ..Default::default() }),
            ..Inverter::default()
        };
        let params = TwoFlavoursParams {
            operator: dirac(0.12, 1.1).into(),
            preconditioner: None,
            schur: Schur { parity: 0, symmetric: true },
            inverter,
        };
        let quarks = Box::new(TwoFlavours::new("light", params).unwrap());
        let mut hmc = chain(&links, vec![gauge(&links, 0.0), quarks], Scheme::Omelyan2);
        let report = match rehearsed {
            true => Device::rehearsed_anyway(|| hmc.run(&mut links)),
            false => hmc.run(&mut links),
        };
        (report.unwrap().delta_h, links.save_lex().unwrap())
    };
    assert!(run(true) == run(false));
}

/// A rehearsal that sets up multigrid leaves nothing behind: afterwards the chain has no multigrid.
#[test]
fn a_rehearsal_leaves_nothing() {
    let links = links();
    let inverter = Inverter {
        multigrid: Some(MultigridSolves { persistent: true, ..Default::default() }),
        ..Inverter::default()
    };
    let params = TwoFlavoursParams {
        operator: dirac(0.12, 1.1).into(),
        preconditioner: None,
        schur: Schur { parity: 0, symmetric: true },
        inverter,
    };
    let quarks = TwoFlavours::new("light", params).unwrap();
    let hmc = chain(&links, vec![Box::new(quarks)], Scheme::Omelyan2);
    let (device, held) = (links.device().clone(), links.device().used().0);
    let dry = device.dry();
    let asked = dry.recorded(|| _ = hmc.run_through(&dry, &links, true).unwrap());
    let names: Vec<_> = asked.iter().map(|a| a.kernel.name).collect();
    assert!(names.contains(&"coarse_apply"), "{names:?}");
    assert_eq!(device.used().0, held);
    assert_eq!(hmc.momenta().kinetic().unwrap(), 0.0);
}
