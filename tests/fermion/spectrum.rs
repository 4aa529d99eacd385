//! Tests of the ends of the spectrum of P^dagger P that monomials of rational functions measure, against those of
//! block Lanczos, and of intervals that follow from them.

use std::sync::Arc;

use plaq::compose::Schur;
use plaq::error::Status;
use plaq::fields::{GaugeField, Precision, Recon};
use plaq::linop::Normal;
use plaq::operators::{ActionParams, DiracParams, DoubletParams};
use plaq::ops::hmc::fermion::{OneFlavour, OneFlavourParams};
use plaq::ops::hmc::input::hmc_from_toml;
use plaq::ops::hmc::stout::Stout;
use plaq::ops::hmc::{Monomial, Stream};
use plaq::solvers::{eigen, no_monitor, EigenParams, End};

use super::common;
use super::device;

const STREAM: Stream = Stream { seed: 11, trajectory: 0 };
const SCHUR: Schur = Schur { parity: 0, symmetric: true };

/// Links of this roughness, between unit and random ones.
fn links(roughness: f64) -> GaugeField {
    let device = device();
    let geometry = common::geometry(common::over_ranks([4, 4, 4, 4]), &device);
    let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
    links.set_near_unit(5, roughness).unwrap();
    links
}

/// The smallest and the largest eigenvalue of P^dagger P, both converged.
fn ends(operator: ActionParams, links: &GaugeField) -> (f64, f64) {
    let links = Arc::new(links.to(Precision::F64, Recon::R18).unwrap());
    let normal = Normal::mdag_m(operator.create(links).unwrap().schur(SCHUR).unwrap());
    let [low, high] = [(End::Smallest, true), (End::Largest, false)].map(|(end, verify)| {
        let params = EigenParams { end, verify, count: 1, tol: 1e-7, ..Default::default() };
        let (_, report) = eigen(&normal, None, &params, None, &mut no_monitor).unwrap();
        assert!(report.converged, "{report:?}");
        report.values[0]
    });
    (low, high)
}

/// The measured interval covers the spectrum with the documented margin and not much more: for quarks from heavy ones
/// to ones lighter than used in practice on such a lattice, on thin and smeared links, and for a doublet.
#[test]
fn measured_ends_are_those_of_the_spectrum() {
    let clover = DiracParams { csw: 1.4, csw_t: 1.4, ..Default::default() };
    let stout = Stout::new(0.12, 1).unwrap();
    let pair = DiracParams { mu: 0.12, ..clover }.with_kappa(0.13);
    let cases: [(f64, ActionParams, Option<Stout>); 5] = [
        (1.0, DiracParams::default().with_kappa(0.22).into(), None),
        (0.7, DiracParams::default().with_kappa(0.13).into(), None),
        (0.7, clover.with_kappa(0.128).into(), Some(stout)),
        (0.7, DoubletParams { wilson: pair, epsilon: 0.13 }.into(), None),
        (0.7, DoubletParams { wilson: pair, epsilon: 0.13 }.into(), Some(stout)),
    ];
    for (roughness, operator, smearing) in cases {
        let thin = links(roughness);
        let mut quark = OneFlavour::new("q", OneFlavourParams::new(operator)).unwrap();
        let seen = match smearing {
            Some(stout) => {
                quark = quark.with_smearing(stout);
                stout.smear(&thin).unwrap()
            }
            None => thin.to(Precision::F64, Recon::R18).unwrap(),
        };
        let (low, high) = ends(operator, &seen);
        quark.refresh(&thin, STREAM).unwrap();
        let ((least, most), (from, to)) = (quark.spectrum().unwrap(), quark.interval().unwrap());
        println!(
            "{low:.6} to {high:.4}: found {least:.6} to {most:.4}, interval {from:.6} to {to:.4}"
        );
        assert!((0.9999 * low..1.05 * low).contains(&least), "{operator:?}: {least} of {low}");
        assert!((0.99 * high..1.0001 * high).contains(&most), "{operator:?}: {most} of {high}");
        assert!((0.95 * low..1.05 * low).contains(&(1.5 * from)), "{operator:?}: {from}, {low}");
        assert!((0.99 * high..1.01 * high).contains(&(to / 1.2)), "{operator:?}: {to}, {high}");
        // An interval that barely contains the ends of the spectrum is accepted.
        let given = OneFlavourParams {
            interval: Some((0.97 * least, 1.01 * most)),
            ..OneFlavourParams::new(operator)
        };
        let mut quark = OneFlavour::new("q", given.clone()).unwrap();
        if let Some(stout) = smearing {
            quark = quark.with_smearing(stout);
        }
        quark.refresh(&thin, STREAM).unwrap();
        quark.check(&thin, STREAM).unwrap();
        assert_eq!(quark.interval(), given.interval);
    }
}

/// The interval that a refusal's message suggests is accepted.
#[test]
fn a_refusal_names_an_interval_that_covers_the_spectrum() {
    let u = links(1.0);
    let operator = DiracParams::default().with_kappa(0.2);
    let refresh = |interval| {
        let params = OneFlavourParams { interval, ..OneFlavourParams::new(operator) };
        OneFlavour::new("q", params).unwrap().refresh(&u, STREAM)
    };
    for narrow in [(0.9, 20.0), (1e-4, 1.0)] {
        let error = refresh(Some(narrow)).unwrap_err();
        assert_eq!(error.status, Status::SpectralBounds, "{error}");
        let message = error.message();
        let (_, advice) = message.split_once("interval = [").unwrap();
        let (numbers, _) = advice.split_once(']').unwrap();
        let numbers: Vec<f64> = numbers.split(", ").map(|n| n.parse().unwrap()).collect();
        refresh(Some((numbers[0], numbers[1]))).unwrap();
    }
}

/// The measured interval follows the spectrum, which changes with every trajectory from random links, as long as all
/// trajectories are accepted; afterwards it stays.
#[test]
fn an_interval_follows_thermalisation_and_then_stays() {
    let text = "length = 0.5\nseed = 2\naccept_until = 3\n[[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"wilson\"\nbeta = 6.2\n\
                [[monomial]]\nname = \"q\"\ntype = \"one_flavour\"\noperator = { kappa = 0.13 }\n[[level]]\n\
                integrator = \"omelyan2\"\nsteps = 6\nmonomials = [\"gauge\", \"q\"]\n";
    let mut u = links(1.0);
    let mut hmc = hmc_from_toml(u.device(), u.geometry(), Precision::F64, text).unwrap();
    let mut intervals = vec![];
    for _ in 0..5 {
        hmc.run(&mut u).unwrap();
        intervals.push(hmc.place().measured["q"]);
    }
    println!("{intervals:?}");
    assert!(intervals[..4].windows(2).all(|w| w[0] != w[1]), "{intervals:?}");
    assert_eq!(intervals[3], intervals[4]);
}
