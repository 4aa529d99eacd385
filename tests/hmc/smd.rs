//! Tests of stochastic molecular dynamics: rotations, rejections, checkpoints, weights.

use plaq::error::Status;
use plaq::fields::{CloverForm, GaugeField, Momenta, Precision, Recon};
use plaq::operators::DiracParams;
use plaq::ops::config::{load_gauge, LoadOptions};
use plaq::ops::hmc::checkpoint::{load_checkpoint, save_checkpoint};
use plaq::ops::hmc::fermion::{
    Inverter, OneFlavour, OneFlavourParams, TwoFlavours, TwoFlavoursParams,
};
use plaq::ops::hmc::gauge_action::{GaugeCoefficients, GaugeForce, GaugeMonomial};
use plaq::ops::hmc::input::hmc_from_toml;
use plaq::ops::hmc::integrator::{Level, Scheme};
use plaq::ops::hmc::smd::{Rejection, Smd};
use plaq::ops::hmc::{Hmc, HmcParams, Monomial, TrajectoryReport};
use plaq::ops::observables::plaquette;
use plaq::ops::quenched::Quenched;

use super::chains::Failing;
use super::common::{self, blocked, devices, over_ranks, Folder, Lex};

const SEED: u64 = 77;

fn start(device: &plaq::backend::Device) -> GaugeField {
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), device);
    let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(9, 0.5).unwrap();
    u
}

fn gauge(u: &GaugeField, beta: f64) -> Box<dyn Monomial> {
    let c = GaugeCoefficients::wilson(beta).unwrap();
    let force = GaugeForce::new(u.device(), u.geometry(), u.precision(), c).unwrap();
    Box::new(GaugeMonomial::new("gauge", force))
}

fn quarks() -> Vec<Box<dyn Monomial>> {
    let wilson = DiracParams::default().with_kappa(0.11);
    let clover = DiracParams { csw: 1.3, csw_t: 1.3, clover: CloverForm::Exponential, ..wilson };
    let inverter = Inverter { tolerance_force: 1e-9, ..Inverter::default() };
    let light = TwoFlavoursParams {
        operator: clover.into(),
        preconditioner: None,
        schur: plaq::compose::Schur { parity: 0, symmetric: false },
        inverter: inverter.clone(),
    };
    let strange = OneFlavourParams {
        inverter,
        fields: 2,
        interval: Some((3e-3, 4.0)),
        error_hamiltonian: 1e-9,
        ..OneFlavourParams::new(wilson)
    };
    vec![
        Box::new(TwoFlavours::new("light", light).unwrap()),
        Box::new(OneFlavour::new("strange", strange).unwrap()),
    ]
}

fn params(smd: Option<Smd>, length: f64, steps: usize) -> HmcParams {
    let level = Level { scheme: Scheme::Omelyan2, steps, monomials: vec!["gauge".into()] };
    HmcParams {
        length,
        levels: vec![level],
        seed: SEED,
        trajectory: 0,
        accept_until: 0,
        reversibility_every: 0,
        smd,
    }
}

fn chain(u: &GaugeField, more: Vec<Box<dyn Monomial>>, mut params: HmcParams, beta: f64) -> Hmc {
    params.levels[0].monomials.extend(more.iter().map(|m| m.name().to_string()));
    let monomials = std::iter::once(gauge(u, beta)).chain(more).collect();
    Hmc::new(u.device(), u.geometry(), Precision::F64, monomials, params).unwrap()
}

fn smd(friction: f64, rejection: Rejection) -> Option<Smd> {
    Some(Smd { friction, rejection })
}

/// The report without its times.
fn timeless(mut r: TrajectoryReport) -> TrajectoryReport {
    r.seconds = 0.0;
    for m in &mut r.monomials {
        (m.seconds, m.solve_seconds) = (0.0, 0.0);
    }
    r
}

/// Computes c1 a + c2 b of two arrays.
fn sum(c1: f64, a: &[f64], c2: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| c1 * a + c2 * b).collect()
}

/// Largest difference of two arrays.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// Field number `number` of the momenta's heat bath.
fn drawn(u: &GaugeField, number: u32) -> Vec<f64> {
    let mut p = Momenta::new(u.device(), u.geometry(), Precision::F64).unwrap();
    p.set_gaussian(SEED, number).unwrap();
    p.save_lex().unwrap()
}

/// A cycle with a friction that keeps nothing of the old fields is a trajectory of hybrid Monte Carlo.
#[test]
fn infinite_friction_is_hybrid_monte_carlo() {
    let device = devices().pop().unwrap();
    let (mut u, mut v) = (start(&device), start(&device));
    let mut hmc = chain(&u, quarks(), params(None, 0.3, 2), 5.6);
    let all = smd(1e6, Rejection::Before);
    let mut cycles = chain(&v, quarks(), params(all, 0.3, 2), 5.6);
    for _ in 0..3 {
        let expected = timeless(hmc.run(&mut u).unwrap());
        assert_eq!(timeless(cycles.run(&mut v).unwrap()), expected);
    }
    assert_eq!(u.save_lex().unwrap(), v.save_lex().unwrap());
}

/// Measuring reversibility, which starts from the same rotated momenta, changes no cycle.
#[test]
fn the_way_back_is_measured_from_rotated_momenta() {
    let device = devices().pop().unwrap();
    let (mut u, mut v) = (start(&device), start(&device));
    let plain = params(smd(1.0, Rejection::Before), 0.2, 1);
    let mut hmc = chain(&u, quarks(), plain.clone(), 5.6);
    let measuring = HmcParams { reversibility_every: 1, ..plain };
    let mut cycles = chain(&v, quarks(), measuring, 5.6);
    for _ in 0..3 {
        let expected = hmc.run(&mut u).unwrap();
        let found = cycles.run(&mut v).unwrap();
        assert_eq!(found.delta_h, expected.delta_h);
        let back = [found.reversibility_links, found.reversibility_hamiltonian];
        let [links, hamiltonian] = back.map(|off| off.expect("a measurement"));
        assert!(links < 1e-8 && hamiltonian < 1e-6, "{back:?}");
    }
    assert_eq!(u.save_lex().unwrap(), v.save_lex().unwrap());
}

/// Momenta after cycles too short for forces are c1 p + c2 v, and pseudofermions keep the heat bath's distribution.
#[test]
fn momenta_are_rotated() {
    let device = devices().pop().unwrap();
    let mut u = start(&device);
    let length = 1e-10;
    let mut hmc = chain(&u, vec![], params(smd(0.3 / length, Rejection::Before), length, 1), 5.6);
    let (c1, c2) = ((-0.3f64).exp(), (1.0 - (-0.6f64).exp()).sqrt());
    let mut expected = drawn(&u, 0);
    for cycle in 0..3 {
        let report = hmc.run(&mut u).unwrap();
        assert!(report.accepted && report.delta_h.abs() < 1e-5, "{report:?}");
        if cycle > 0 {
            expected = sum(c1, &expected, c2, &drawn(&u, cycle));
        }
        let found = apart(&hmc.momenta().save_lex().unwrap(), &expected);
        assert!(found < 1e-7, "cycle {cycle}: {found:e}");
    }
    let one = Smd { friction: 0.3, rejection: Rejection::Before }.factors(1.0);
    assert!(apart(&one, &[c1, c2]) < 1e-15);
}

#[test]
fn rejected_cycles_reverse_the_momenta() {
    let device = devices().pop().unwrap();
    for rejection in [Rejection::Before, Rejection::After] {
        let mut u = start(&device);
        let links = u.save_lex().unwrap();
        // With a single coarse step Delta H is large.
        let mut hmc = chain(&u, vec![], params(smd(0.2, rejection), 2.0, 1), 6.0);
        let (c1, c2) = ((-0.4f64).exp(), (1.0 - (-0.8f64).exp()).sqrt());
        let first = sum(-1.0, &drawn(&u, 0), 0.0, &links);
        let second = match rejection {
            Rejection::Before => sum(-1.0, &first, 0.0, &first),
            Rejection::After => sum(-c1, &first, -c2, &drawn(&u, 1)),
        };
        for (cycle, expected) in [first, second].iter().enumerate() {
            let report = hmc.run(&mut u).unwrap();
            assert!(!report.accepted && report.delta_h > 100.0, "{report:?}");
            let found = apart(&hmc.momenta().save_lex().unwrap(), expected);
            assert!(found < 1e-14, "{rejection:?}, cycle {cycle}: {found:e}");
            assert_eq!(u.save_lex().unwrap(), links);
        }
    }
}

#[test]
fn a_checkpoint_of_cycles_goes_on_bit_for_bit() {
    let device = devices().pop().unwrap();
    let folder = Folder::new("smd-checkpoint");
    let (file, again) = (folder.0.join("chain.lime"), folder.0.join("again.lime"));
    let friction = smd(1.0, Rejection::Before);
    let mut u = start(&device);
    let mut hmc = chain(&u, quarks(), params(friction, 0.2, 1), 5.6);
    for _ in 0..2 {
        hmc.run(&mut u).unwrap();
    }
    save_checkpoint(&file, &u, &hmc).unwrap();
    let run = |hmc: &mut Hmc, u: &mut GaugeField| -> Vec<TrajectoryReport> {
        (0..2).map(|_| timeless(hmc.run(u).unwrap())).collect()
    };
    let expected = run(&mut hmc, &mut u);
    let last = (u.save_lex().unwrap(), hmc.momenta().save_lex().unwrap());
    let fresh = || {
        let v = start(&device);
        let hmc = chain(&v, quarks(), params(friction, 0.2, 1), 5.6);
        (v, hmc)
    };
    let (mut v, mut other) = fresh();
    load_checkpoint(&file, &mut v, &mut other).unwrap();
    // A state that was read and not used yet is written unchanged.
    save_checkpoint(&again, &v, &other).unwrap();
    assert_eq!(run(&mut other, &mut v), expected);
    assert_eq!((v.save_lex().unwrap(), other.momenta().save_lex().unwrap()), last);
    let (mut w, mut third) = fresh();
    load_checkpoint(&again, &mut w, &mut third).unwrap();
    assert_eq!(run(&mut third, &mut w), expected);
    assert_eq!(w.save_lex().unwrap(), last.0);
    // A program that knows no chains reads the links of the checkpoint.
    let comm = u.geometry().comm();
    let how = LoadOptions::default();
    assert!(load_gauge(&device, comm, &file, Precision::F64, Recon::R18, &how).is_ok());
    // A chain with a monomial whose pseudofermions are not in the checkpoint does not go on, and keeps its links.
    let (mut x, _) = fresh();
    let mut renamed = chain(&x, vec![], params(friction, 0.2, 1), 5.6);
    load_checkpoint(&file, &mut x, &mut renamed).unwrap();
    assert!(renamed.run(&mut x).is_ok());
    save_checkpoint(&again, &x, &renamed).unwrap();
    let (mut y, mut lacking) = fresh();
    load_checkpoint(&again, &mut y, &mut lacking).unwrap();
    let before = y.save_lex().unwrap();
    let e = lacking.run(&mut y).unwrap_err();
    assert!(e.status == Status::FileFormat && e.to_string().contains("light"), "{e}");
    assert_eq!(y.save_lex().unwrap(), before);
}

/// A failed cycle leaves links, momenta and pseudofermions unchanged: the next cycle gives the result that it gives
/// without the failed one.
#[test]
fn a_failed_cycle_leaves_the_state() {
    let device = devices().pop().unwrap();
    let folder = Folder::new("smd-failure");
    let [one, two] = ["one.lime", "two.lime"].map(|name| folder.0.join(name));
    let mut u = start(&device);
    // The failing monomial's force is computed at the start, in the middle and at the end of three cycles, and fails
    // after that.
    let failing = Failing { kicks: 8, error: Some(Status::SolverBreakdown) };
    let mut more = quarks();
    more.push(Box::new(failing));
    let mut hmc = chain(&u, more, params(smd(1.0, Rejection::Before), 0.2, 1), 5.6);
    for _ in 0..2 {
        hmc.run(&mut u).unwrap();
    }
    save_checkpoint(&one, &u, &hmc).unwrap();
    hmc.run(&mut u).unwrap_err();
    save_checkpoint(&two, &u, &hmc).unwrap();
    if device.is_cpu() {
        let (one, two) = (std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
        let size = one.len();
        let differ = (0..size).filter(|&i| one[i] != two[i]).count();
        // Dates may differ.
        assert!(size == two.len() && differ < 20, "{differ} bytes of {size} differ");
    }
}

/// The plaquette of cycles at 4^4 and beta 5.7 is that of heat bath and overrelaxation, and <exp(-Delta H)> = 1.
/// Seeds are fixed: the result is the same in every run.
#[test]
fn cycles_keep_the_distribution() {
    let device = devices().pop().unwrap();
    let mut u = start(&device);
    let mut heat = Quenched::new(5.7, 5).unwrap();
    heat.run(&mut u, 50).unwrap();
    let bath: Vec<f64> = (0..600)
        .map(|_| {
            heat.run(&mut u, 1).unwrap();
            plaquette(&u).unwrap().total
        })
        .collect();
    let mut hmc = chain(&u, vec![], params(smd(0.5, Rejection::Before), 0.25, 2), 5.7);
    let (mut found, mut weights, mut accepted) = (vec![], vec![], 0);
    let n = 2000;
    for _ in 0..n {
        let report = hmc.run(&mut u).unwrap();
        found.push(report.plaquette);
        weights.push((-report.delta_h).exp());
        accepted += usize::from(report.accepted);
    }
    let ((a, ea), (b, eb)) = (blocked(&bath, 20), blocked(&found, 20));
    let ((w, ew), rate) = (blocked(&weights, 20), accepted as f64 / n as f64);
    println!(
        "heat bath {a:.5} +- {ea:.5}, SMD {b:.5} +- {eb:.5}, exp(-dH) {w:.5} +- {ew:.5}, {rate}"
    );
    assert!((a - b).abs() < 4.0 * (ea * ea + eb * eb).sqrt(), "{a} +- {ea}, {b} +- {eb}");
    assert!((w - 1.0).abs() < 4.0 * ew && ew < 0.05, "<exp(-Delta H)> = {w} +- {ew}");
    assert!(rate > 0.8 && rate < 1.0, "the step says nothing: {rate}");
}

#[test]
fn inputs_name_the_algorithm() {
    let device = devices().pop().unwrap();
    let u = start(&device);
    let make = |keys: &str| {
        let text = format!(
            "length = 0.5\n{keys}\n[[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"wilson\"\nbeta = 5.7\n\
             [[level]]\nintegrator = \"omelyan2\"\nsteps = 2\nmonomials = [\"gauge\"]\n"
        );
        hmc_from_toml(u.device(), u.geometry(), Precision::F64, &text)
    };
    assert_eq!(make("algorithm = \"hmc\"").unwrap().params().smd, None);
    let full = "algorithm = \"smd\"\nfriction = 0.7\nrejection = \"after\"";
    assert_eq!(make(full).unwrap().params().smd, smd(0.7, Rejection::After));
    assert_eq!(make("algorithm = \"smd\"").unwrap().params().smd, smd(0.3, Rejection::Before));
    for (keys, words) in [
        ("algorithm = \"langevin\"", ["line 2", "hmc, smd"]),
        ("algorithm = \"smd\"\nfriction = -1.0", ["line 3", "friction"]),
        ("friction = 0.3", ["line 2", "algorithm smd"]),
    ] {
        let e = make(keys).map(|_| ()).unwrap_err().to_string();
        assert!(words.iter().all(|word| e.contains(word)), "{e}");
    }
}
