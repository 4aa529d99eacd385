//! Tests of chains with dynamical fermions: the same two flavours in several forms agree, and results are
//! reproducible bit for bit.

use plaq::compose::Schur;
use plaq::error::Status;
use plaq::fields::{GaugeField, Precision, Recon};
use plaq::operators::DiracParams;
use plaq::ops::hmc::checkpoint::{load_checkpoint, save_checkpoint};
use plaq::ops::hmc::fermion::{
    Inverter, OneFlavour, OneFlavourParams, TwoFlavours, TwoFlavoursParams,
};
use plaq::ops::hmc::gauge_action::{GaugeCoefficients, GaugeForce, GaugeMonomial};
use plaq::ops::hmc::input::hmc_from_toml;
use plaq::ops::hmc::integrator::{Level, Scheme};
use plaq::ops::hmc::{ChainPosition, Hmc, HmcParams, Monomial, Stream, TrajectoryReport};
use plaq::ops::observables::plaquette;
use plaq::ops::quenched::Quenched;

use super::common::{self, blocked, over_ranks, Folder, Lex};
use super::device;

const KAPPA: f64 = 0.14;
const BETA: f64 = 5.0;

fn start() -> GaugeField {
    let device = device();
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), &device);
    let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(9, 0.6).unwrap();
    u
}

fn gauge(u: &GaugeField) -> Box<dyn Monomial> {
    let c = GaugeCoefficients::wilson(BETA).unwrap();
    let force = GaugeForce::new(u.device(), u.geometry(), u.precision(), c).unwrap();
    Box::new(GaugeMonomial::new("gauge", force))
}

fn inverter() -> Inverter {
    Inverter {
        tolerance_force: 1e-9,
        tolerance_hamiltonian: 1e-11,
        guesses: 2,
        ..Default::default()
    }
}

fn wilson(kappa: f64) -> DiracParams {
    DiracParams::default().with_kappa(kappa)
}

fn two(
    name: &str,
    kappa: f64,
    heavier: Option<f64>,
    (parity, symmetric): (usize, bool),
) -> Box<dyn Monomial> {
    let params = TwoFlavoursParams {
        operator: wilson(kappa).into(),
        preconditioner: heavier.map(wilson).map(Into::into),
        schur: Schur { parity, symmetric },
        inverter: inverter(),
    };
    Box::new(TwoFlavours::new(name, params).unwrap())
}

fn one(name: &str) -> Box<dyn Monomial> {
    let params = OneFlavourParams {
        inverter: inverter(),
        interval: Some((3e-3, 4.0)),
        error_hamiltonian: 1e-9,
        ..OneFlavourParams::new(wilson(KAPPA))
    };
    Box::new(OneFlavour::new(name, params).unwrap())
}

fn level(scheme: Scheme, steps: usize, names: &[&str]) -> Level {
    Level { scheme, steps, monomials: names.iter().map(|n| n.to_string()).collect() }
}

/// Chains of two flavours, one for each form of their action.
fn chains(u: &GaugeField) -> Vec<(&'static str, Hmc)> {
    let make = |monomials: Vec<Box<dyn Monomial>>, levels| {
        let params = HmcParams {
            length: 1.0,
            levels,
            seed: 11,
            trajectory: 0,
            accept_until: 8,
            reversibility_every: 0,
            smd: None,
        };
        Hmc::new(u.device(), u.geometry(), Precision::F64, monomials, params).unwrap()
    };
    vec![
        (
            "leapfrog",
            make(
                vec![gauge(u), two("quarks", KAPPA, None, (0, true))],
                vec![level(Scheme::Leapfrog, 14, &["gauge", "quarks"])],
            ),
        ),
        (
            "Hasenbusch, nested",
            make(
                vec![
                    gauge(u),
                    two("heavy", 0.12, None, (1, false)),
                    two("light", KAPPA, Some(0.12), (1, false)),
                ],
                vec![
                    level(Scheme::Omelyan2, 3, &["light"]),
                    level(Scheme::Omelyan2, 2, &["heavy"]),
                    level(Scheme::Omelyan2, 1, &["gauge"]),
                ],
            ),
        ),
        (
            "two single flavours",
            make(
                vec![gauge(u), one("up"), one("down")],
                vec![
                    level(Scheme::Omelyan4, 1, &["up", "down"]),
                    level(Scheme::Omelyan2, 2, &["gauge"]),
                ],
            ),
        ),
    ]
}

/// An input with `mu_schur` makes the chain of operators that have these twisted masses on the sites of P alone.
#[test]
fn mu_schur_of_an_input_is_the_twisted_mass_on_the_sites_of_p() {
    let text = |mu: f64, of_preconditioner: f64| {
        format!(
            "length = 0.2\nseed = 6\n[[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"wilson\"\nbeta = {BETA}\n\
             [[monomial]]\nname = \"light\"\ntype = \"two_flavours\"\nasymmetric = true\nparity = 1\n\
             operator = {{ kappa = {KAPPA}, csw = 1.1, mu_schur = {mu} }}\n\
             preconditioner = {{ kappa = {KAPPA}, csw = 1.1, mu = 0.1, mu_schur = {of_preconditioner} }}\n\
             solver = {{ tolerance_force = 1e-9, tolerance_hamiltonian = 1e-11, guesses = 2 }}\n\
             [[level]]\nintegrator = \"omelyan2\"\nsteps = 4\nmonomials = [\"light\", \"gauge\"]\n"
        )
    };
    let by_text = |mu: f64, of_preconditioner: f64| {
        let mut u = start();
        let text = text(mu, of_preconditioner);
        let mut hmc = hmc_from_toml(u.device(), u.geometry(), u.precision(), &text).unwrap();
        hmc.run(&mut u).unwrap()
    };
    let quark = |mu: f64, rho: f64| DiracParams { csw: 1.1, csw_t: 1.1, mu, rho, ..wilson(KAPPA) };
    let params = TwoFlavoursParams {
        operator: quark(0.0, -0.1).into(),
        preconditioner: Some(quark(0.1, 0.4).into()),
        schur: Schur { parity: 1, symmetric: false },
        inverter: inverter(),
    };
    let mut u = start();
    let light = TwoFlavours::new("light", params).unwrap();
    let monomials: Vec<Box<dyn Monomial>> = vec![gauge(&u), Box::new(light)];
    let params = HmcParams {
        length: 0.2,
        levels: vec![level(Scheme::Omelyan2, 4, &["light", "gauge"])],
        seed: 6,
        trajectory: 0,
        accept_until: 0,
        reversibility_every: 0,
        smd: None,
    };
    let mut hmc = Hmc::new(u.device(), u.geometry(), u.precision(), monomials, params).unwrap();
    let expected = hmc.run(&mut u).unwrap();
    let found = by_text(-0.1, 0.4);
    let energies = |report: &TrajectoryReport| {
        let all = report.monomials.iter().flat_map(|m| [m.action_start, m.action_end, m.rms]);
        [report.delta_h, report.kinetic_end].into_iter().chain(all).collect::<Vec<f64>>()
    };
    assert_eq!(energies(&found), energies(&expected));
    assert!(expected.delta_h.abs() < 1.0, "{expected:?}");
    // Each of the two masses is in the forces.
    for other in [by_text(-0.2, 0.4), by_text(-0.1, 0.3)] {
        assert!((other.kinetic_end - found.kinetic_end).abs() > 1e-3, "{other:?} {found:?}");
    }
}

/// Plaquettes of all forms of two flavours agree. `PLAQ_TEST_TRAJECTORIES` sets the number of trajectories; more of
/// them make the comparison sharper.
#[test]
fn all_forms_of_two_flavours_agree() {
    let wanted = std::env::var("PLAQ_TEST_TRAJECTORIES").ok().and_then(|n| n.parse().ok());
    let count: usize = wanted.unwrap_or(24);
    let mut found = vec![];
    let first = start();
    for (what, mut hmc) in chains(&first) {
        let mut u = first.to(Precision::F64, Recon::R18).unwrap();
        let (mut plaquettes, mut weights, mut accepted) = (vec![], vec![], 0);
        for n in 0..count + 8 {
            let report = hmc.run(&mut u).unwrap();
            if n < 8 {
                continue;
            }
            plaquettes.push(report.plaquette);
            weights.push((-report.delta_h).exp());
            accepted += report.accepted as usize;
        }
        let ((p, ep), (w, ew)) = (blocked(&plaquettes, 8), blocked(&weights, 8));
        println!(
            "{what}: plaquette {p:.5} +- {ep:.5}, exp(-dH) {w:.4} +- {ew:.4}, accepted {accepted} of \
             {count}"
        );
        assert!((w - 1.0).abs() < 4.0 * ew + 1e-3, "{what}: <exp(-dH)> = {w} +- {ew}");
        assert!(accepted > count / 2, "{what}: accepted {accepted} of {count}");
        found.push((what, p, ep));
    }
    for pair in found.windows(2) {
        let ((a, p, ep), (b, q, eq)) = (pair[0], pair[1]);
        let error = (ep * ep + eq * eq).sqrt();
        assert!((p - q).abs() < 4.0 * error, "{a}: {p} +- {ep}, {b}: {q} +- {eq}");
        assert!(error < 0.02, "{error} says nothing");
    }
}

#[test]
fn a_chain_goes_on_with_the_same_bits() {
    let links = start();
    let first = |chain: usize| chains(&links).swap_remove(chain).1;
    for chain in [1, 2] {
        let mut u = links.to(Precision::F64, Recon::R18).unwrap();
        let mut hmc = first(chain);
        hmc.run(&mut u).unwrap();
        let mut v = u.to(Precision::F64, Recon::R18).unwrap();
        let next = hmc.run(&mut u).unwrap();
        // Another chain with the same place in the random numbers gives the same bits.
        let mut hmc = first(chain);
        hmc.set_place(11, 1);
        let again = hmc.run(&mut v).unwrap();
        assert_eq!(next.delta_h.to_bits(), again.delta_h.to_bits());
        assert_eq!(u.save_lex().unwrap(), v.save_lex().unwrap());
    }
}

/// Quarks at a small kappa only shift beta by about 96 kappa^4 = 6e-4 (hopping expansion), and the plaquette by a
/// tenth of this: two flavours have the plaquette of the heat bath without quarks. Seeds are fixed, so the result is
/// the same in every run.
#[test]
fn heavy_quarks_leave_the_pure_gauge_plaquette() {
    let mut u = start();
    let mut heat = Quenched::new(BETA, 5).unwrap();
    heat.run(&mut u, 50).unwrap();
    let bath: Vec<f64> = (0..1000)
        .map(|_| {
            heat.run(&mut u, 1).unwrap();
            plaquette(&u).unwrap().total
        })
        .collect();
    let monomials = vec![gauge(&u), two("heavy", 0.05, None, (0, true))];
    let params = HmcParams {
        length: 1.0,
        levels: vec![level(Scheme::Omelyan2, 5, &["gauge", "heavy"])],
        seed: 17,
        trajectory: 0,
        accept_until: 0,
        reversibility_every: 0,
        smd: None,
    };
    let mut hmc = Hmc::new(u.device(), u.geometry(), u.precision(), monomials, params).unwrap();
    let (mut found, mut accepted) = (vec![], 0);
    for k in 0..420 {
        let report = hmc.run(&mut u).unwrap();
        if k >= 20 {
            found.push(report.plaquette);
            accepted += u32::from(report.accepted);
        }
    }
    let ((a, ea), (b, eb)) = (blocked(&bath, 20), blocked(&found, 20));
    println!(
        "heat bath {a:.5} +- {ea:.5}, heavy quarks {b:.5} +- {eb:.5}, accepted {accepted} of 400"
    );
    let error = (ea * ea + eb * eb).sqrt();
    assert!((a - b).abs() < 4.0 * error, "{a} +- {ea}, {b} +- {eb}");
    assert!(error < 2e-3 && accepted > 300, "{error}, {accepted}");
}

/// Bits of a trajectory's report and of its links.
fn bits(report: &TrajectoryReport, u: &GaugeField) -> (u64, u64, Vec<f64>) {
    (report.delta_h.to_bits(), report.plaquette.to_bits(), u.save_lex().unwrap())
}

/// A chain without `interval` measures it once; its checkpoints hold it.
#[test]
fn a_measured_interval_goes_on_with_the_chain() {
    let make = |u: &GaugeField| {
        let all = OneFlavourParams::new(wilson(0.12));
        let strange = OneFlavour::new("\"s\", \u{e4}", all).unwrap();
        let names = ["gauge", "\"s\", \u{e4}"];
        let params = HmcParams {
            length: 0.5,
            levels: vec![level(Scheme::Omelyan2, 2, &names)],
            seed: 3,
            trajectory: 0,
            accept_until: 0,
            reversibility_every: 0,
            smd: None,
        };
        let all: Vec<Box<dyn Monomial>> = vec![gauge(u), Box::new(strange)];
        Hmc::new(u.device(), u.geometry(), u.precision(), all, params).unwrap()
    };
    let folder = Folder::new("hmc-interval");
    let file = folder.0.join("chain.lime");
    let mut u = start();
    let mut hmc = make(&u);
    assert!(hmc.place().measured.is_empty());
    hmc.run(&mut u).unwrap();
    save_checkpoint(&file, &u, &hmc).unwrap();
    let place = hmc.place();
    assert_eq!(place.measured.len(), 1);
    let next = hmc.run(&mut u).unwrap();
    let expected = bits(&next, &u);
    assert_eq!(place.measured, hmc.place().measured);

    let mut v = start();
    let mut other = make(&v);
    load_checkpoint(&file, &mut v, &mut other).unwrap();
    assert_eq!(other.place(), place);
    let again = other.run(&mut v).unwrap();
    assert_eq!(bits(&again, &v), expected);

    // If the interval is measured on the links of the checkpoint, the chain is another one.
    let mut v = start();
    let mut fresh = make(&v);
    load_checkpoint(&file, &mut v, &mut fresh).unwrap();
    fresh.resume(&ChainPosition { measured: Default::default(), ..place.clone() }).unwrap();
    let anew = fresh.run(&mut v).unwrap();
    assert_ne!(fresh.place().measured, place.measured);
    assert_ne!(anew.delta_h.to_bits(), next.delta_h.to_bits());
    let name = String::from("\"s\", \u{e4}");
    let none = ChainPosition { measured: [(name, (1.0, 0.5))].into(), ..place };
    let before = fresh.place();
    assert_eq!(fresh.resume(&none).unwrap_err().status, Status::BadParameter);
    assert_eq!(fresh.place(), before);
}

/// Roughness of the first links and beta of a chain that goes from rough links to smooth ones: the spectrum's lower
/// end falls.
const SMOOTHER: (f64, f64) = (0.9, 30.0);
/// Roughness of the first links and beta of a chain that goes from smooth links to rough ones: the upper end rises.
const ROUGHER: (f64, f64) = (0.3, 0.1);

/// A chain of quarks and a gauge action, and its first links.
fn changing(quark: Box<dyn Monomial>, (rough, beta): (f64, f64)) -> (Hmc, GaugeField) {
    let device = device();
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), &device);
    let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(9, rough).unwrap();
    let c = GaugeCoefficients::wilson(beta).unwrap();
    let force = GaugeForce::new(&device, &geometry, Precision::F64, c).unwrap();
    let params = HmcParams {
        length: 0.3,
        levels: vec![level(Scheme::Omelyan2, 4, &[quark.name(), "gauge"])],
        seed: 3,
        trajectory: 0,
        accept_until: 9,
        reversibility_every: 0,
        smd: None,
    };
    let all: Vec<Box<dyn Monomial>> = vec![quark, Box::new(GaugeMonomial::new("gauge", force))];
    (Hmc::new(&device, &geometry, Precision::F64, all, params).unwrap(), u)
}

/// A spectrum that is inside its interval at a trajectory's start and leaves it, at either end, ends the trajectory
/// with an error.
#[test]
fn a_spectrum_that_leaves_its_interval_ends_the_trajectory() {
    let quark = |interval, check_every| {
        let all = OneFlavourParams::new(wilson(0.12));
        let params = OneFlavourParams { interval: Some(interval), check_every, ..all };
        OneFlavour::new("strange", params).unwrap()
    };
    let wide = (1e-3, 20.0);
    let stream = Stream { seed: 3, trajectory: 0 };
    let spectrum = |u: &GaugeField| {
        let mut measure = quark(wide, 1);
        measure.refresh(u, stream).unwrap();
        measure.spectrum().unwrap()
    };
    for way in [SMOOTHER, ROUGHER] {
        let (mut hmc, mut u) = changing(Box::new(quark(wide, 1)), way);
        let ((low, high), before) = (spectrum(&u), u.save_lex().unwrap());
        hmc.run(&mut u).unwrap();
        let (low_after, high_after) = spectrum(&u);
        println!("spectrum {low:.4} to {high:.4}, at the end {low_after:.4} to {high_after:.4}");
        let narrow = match way {
            SMOOTHER => (0.97 * low, wide.1),
            _ => (wide.0, 1.01 * high),
        };
        assert!(low_after < 0.9 * narrow.0 || high_after > 1.02 * narrow.1, "it leaves nothing");
        let (mut hmc, mut u) = changing(Box::new(quark(narrow, 1)), way);
        let error = hmc.run(&mut u).unwrap_err();
        assert_eq!(error.status, Status::SpectralBounds, "{error}");
        assert_eq!((u.save_lex().unwrap(), hmc.trajectory()), (before, 0));
        // Without checks of the interval the trajectory ends without an error.
        let (mut hmc, mut u) = changing(Box::new(quark(narrow, 0)), way);
        assert!(hmc.run(&mut u).unwrap().accepted);
    }
}

/// A solve that fails in a trajectory leaves the links unchanged: solves may take as many iterations as they do at
/// the start, and later ones, on smoother links, need more.
#[test]
fn a_solve_that_fails_on_the_way_leaves_the_links() {
    let quarks = |max_iterations| {
        let inverter = Inverter {
            sloppy: Some((Precision::F64, Recon::R12)),
            tolerance_force: 1e-10,
            tolerance_hamiltonian: 1e-10,
            max_iterations,
            ..Default::default()
        };
        let schur = Schur { parity: 0, symmetric: true };
        let params = TwoFlavoursParams {
            operator: wilson(0.12).into(),
            preconditioner: None,
            schur,
            inverter,
        };
        Box::new(TwoFlavours::new("light", params).unwrap())
    };
    let (mut hmc, mut u) = changing(quarks(1000), SMOOTHER);
    let before = u.save_lex().unwrap();
    let mut first = quarks(1000);
    first.refresh(&u, Stream { seed: 3, trajectory: 0 }).unwrap();
    first.action(&u).unwrap();
    let needed = first.solves().iterations as usize;
    hmc.run(&mut u).unwrap();
    assert!(u.save_lex().unwrap() != before);
    let (mut hmc, mut u) = changing(quarks(needed), SMOOTHER);
    let error = hmc.run(&mut u).unwrap_err();
    assert_eq!(error.status, Status::NotConverged, "{error}");
    assert!(error.message().contains(&format!("after {needed} iterations")), "{error}");
    assert_eq!((u.save_lex().unwrap(), hmc.trajectory()), (before, 0));
}
