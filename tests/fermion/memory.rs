//! Tests of the device memory of trajectories: it is announced before the first trajectory, and allocated once.

use plaq::backend::Counts;
use plaq::compose::multigrid::{LevelParams, MultigridParams, Refresh};
use plaq::compose::Schur;
use plaq::error::Status;
use plaq::fields::{GaugeField, Precision, Recon, SpinorField, Subset};
use plaq::operators::DiracParams;
use plaq::ops::hmc::fermion::{
    Inverter, MultigridSolves, OneFlavour, OneFlavourParams, TwoFlavours, TwoFlavoursParams,
};
use plaq::ops::hmc::gauge_action::{GaugeCoefficients, GaugeForce, GaugeMonomial};
use plaq::ops::hmc::integrator::{Level, Scheme};
use plaq::ops::hmc::stout::Stout;
use plaq::ops::hmc::{Hmc, HmcParams, Monomial};

use super::common::{self, over_ranks, Lex};
use super::device;

#[derive(Clone, Copy, Debug)]
enum Action {
    Gauge,
    Wilson,
    RatioOfClover { symmetric: bool, sloppy: bool },
    Smeared,
    One,
    Multigrid { update: Refresh },
}

fn monomials(u: &GaugeField, action: Action) -> Vec<Box<dyn Monomial>> {
    let c = GaugeCoefficients::wilson(5.4).unwrap();
    let force = GaugeForce::new(u.device(), u.geometry(), u.precision(), c).unwrap();
    let mut all: Vec<Box<dyn Monomial>> = vec![Box::new(GaugeMonomial::new("gauge", force))];
    let plain = DiracParams::default();
    let clover = DiracParams { csw: 1.0, csw_t: 1.0, ..plain };
    let two = |operator, preconditioner, symmetric, inverter| {
        let schur = Schur { parity: 0, symmetric };
        let params = TwoFlavoursParams { operator, preconditioner, schur, inverter };
        TwoFlavours::new("quarks", params).unwrap()
    };
    let inverter = Inverter { guesses: 2, ..Default::default() };
    match action {
        Action::Gauge => {}
        Action::Wilson => {
            all.push(Box::new(two(plain.with_kappa(0.13).into(), None, true, inverter)));
        }
        Action::RatioOfClover { symmetric, sloppy } => {
            let sloppy = sloppy.then_some((Precision::F32, Recon::R12));
            let inverter = Inverter { sloppy, ..inverter };
            let (light, heavy) = (clover.with_kappa(0.12), clover.with_kappa(0.11));
            all.push(Box::new(two(light.into(), Some(heavy.into()), symmetric, inverter)));
        }
        Action::Smeared => {
            let quarks = two(plain.with_kappa(0.12).into(), None, true, inverter);
            all.push(Box::new(quarks.with_smearing(Stout::new(0.1, 2).unwrap())));
        }
        Action::Multigrid { update } => {
            let level = LevelParams { block: [2; 4], vectors: 6, pre: 0, post: 4 };
            let levels = MultigridParams::with_levels(vec![level]);
            let solves = MultigridSolves { levels, update, ..Default::default() };
            let inverter = Inverter { multigrid: Some(solves), ..inverter };
            all.push(Box::new(two(clover.with_kappa(0.13).into(), None, true, inverter)));
        }
        Action::One => {
            let params = OneFlavourParams {
                interval: Some((0.02, 4.0)),
                check_every: 0,
                ..OneFlavourParams::new(plain.with_kappa(0.12))
            };
            all.push(Box::new(OneFlavour::new("quarks", params).unwrap()));
        }
    }
    all
}

/// A chain takes no more memory than it announces and not much less, is refused if that does not fit, and allocates
/// nothing after its first trajectory.
#[test]
fn trajectories_take_what_they_announce_and_take_it_once() {
    let mut anew = 0;
    for action in [
        Action::Gauge,
        Action::Wilson,
        Action::RatioOfClover { symmetric: true, sloppy: false },
        Action::RatioOfClover { symmetric: false, sloppy: true },
        Action::Smeared,
        Action::One,
        Action::Multigrid { update: Refresh::Anew },
        Action::Multigrid { update: Refresh::Keep },
    ] {
        let device = device();
        let geometry = common::geometry(over_ranks([4, 4, 4, 4]), &device);
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_near_unit(9, 0.5).unwrap();
        let list = monomials(&u, action);
        let monomials = list.iter().map(|m| m.name().to_string()).collect();
        let params = HmcParams {
            length: 0.2,
            levels: vec![Level { scheme: Scheme::Omelyan2, steps: 2, monomials }],
            seed: 5,
            trajectory: 1,
            accept_until: 0,
            reversibility_every: 0,
            smd: None,
        };
        let mut hmc = Hmc::new(&device, &geometry, Precision::F64, list, params).unwrap();
        let announced = hmc.memory(&u).unwrap();
        let held = device.used().0;
        if announced > 0 {
            device.limit_memory(held + announced - 1);
            let before = u.save_lex().unwrap();
            let error = hmc.run(&mut u).unwrap_err();
            assert_eq!(error.status, Status::OutOfMemory, "{action:?}");
            assert_eq!((before, held), (u.save_lex().unwrap(), device.used().0), "{action:?}");
        }
        device.limit_memory(held + announced);
        device.reset_peak();
        hmc.run(&mut u).unwrap();
        let peak = device.used().1;
        let taken = peak - held;
        println!("{action:?}: {announced} bytes announced, {taken} taken, {held} held");
        // The announcement of a solve includes blocks that another solve keeps already, and that of an update of
        // multigrid a set-up from new vectors, which is not needed if vectors are kept: it is that of the action
        // before.
        match action {
            Action::Multigrid { update: Refresh::Keep } => {
                assert_eq!(announced, anew, "{action:?}")
            }
            _ => assert!(announced as f64 <= 1.1 * taken as f64, "{action:?}: {announced} {taken}"),
        }
        anew = announced;
        let (steady, before) = (device.used().0, device.counts());
        let trajectories = if matches!(action, Action::Gauge | Action::Wilson) { 100 } else { 3 };
        for _ in 0..trajectories {
            hmc.run(&mut u).unwrap();
        }
        let now = device.counts();
        assert_eq!(now.kernels, before.kernels, "{action:?}: kernels after the first trajectory");
        assert!(now.launches > before.launches);
        let bytes = |counts: &Counts| counts.host_bytes.iter().sum::<u64>();
        let copied = bytes(&now) - bytes(&before);
        if let Action::Multigrid { update } = action {
            // Set-ups (one a trajectory where updates keep the vectors) copy tables of coarse lattices to the device
            // and, between ranks, gathered levels, but no fields.
            let field = SpinorField::bytes(&geometry, Precision::F32, Subset::Full, 1) as u64;
            let alone = geometry.comm().size() == 1 && update == Refresh::Keep;
            assert!(!alone || copied < trajectories * field, "{copied} bytes copied");
            continue;
        }
        assert_eq!(copied, 0, "{action:?}: copies after the first trajectory");
        assert_eq!(device.used(), (steady, peak), "{action:?}");
        assert_eq!(now.allocations, before.allocations, "{action:?}: memory after the first");
        // When the chain is dropped none of its memory is kept.
        drop(hmc);
        let kept = device.counts().allocations;
        drop(device.alloc(64).unwrap());
        drop(device.alloc(64).unwrap());
        assert_eq!(device.counts().allocations, kept + 2);
    }
}
