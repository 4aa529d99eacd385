//! Tests of chains of trajectories: acceptance, restarts, failures.

use plaq::error::{Result, Status};
use plaq::fields::{GaugeField, Momenta, Precision, Recon};
use plaq::io::{FileFormat, WriteOptions};
use plaq::ops::config::save_gauge;
use plaq::ops::hmc::checkpoint::{load_checkpoint, save_checkpoint};
use plaq::ops::hmc::gauge_action::{GaugeCoefficients, GaugeForce, GaugeMonomial};
use plaq::ops::hmc::integrator::{Level, Scheme};
use plaq::ops::hmc::{Hmc, HmcParams, KickReport, Monomial, Stream};
use plaq::ops::observables::plaquette;
use plaq::ops::quenched::Quenched;

use super::common::{self, blocked, devices, over_ranks, Folder, Lex};

fn params(steps: usize) -> HmcParams {
    let level = Level { scheme: Scheme::Omelyan2, steps, monomials: vec![String::from("gauge")] };
    HmcParams {
        length: 1.0,
        levels: vec![level],
        seed: 2026,
        trajectory: 0,
        accept_until: 0,
        reversibility_every: 0,
        smd: None,
    }
}

fn gauge(field: &GaugeField, beta: f64) -> Box<dyn Monomial> {
    let c = GaugeCoefficients::wilson(beta).unwrap();
    let force = GaugeForce::new(field.device(), field.geometry(), field.precision(), c).unwrap();
    Box::new(GaugeMonomial::new("gauge", force))
}

fn chain(field: &GaugeField, beta: f64, params: HmcParams) -> Hmc {
    let (device, geometry) = (field.device(), field.geometry());
    Hmc::new(device, geometry, field.precision(), vec![gauge(field, beta)], params).unwrap()
}

fn start(device: &plaq::backend::Device, extents: [usize; 4]) -> GaugeField {
    let geometry = common::geometry(extents, device);
    let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(9, 0.5).unwrap();
    u
}

/// The plaquette of a chain at 4^4 and beta 5.7 is that of heat bath and overrelaxation, <exp(-Delta H)> = 1, and
/// acceptance follows Creutz's formula. Seeds are fixed: the result is the same in every run.
#[test]
fn the_plaquette_is_that_of_the_heat_bath() {
    let device = devices().pop().unwrap();
    let extents = over_ranks([4, 4, 4, 4]);
    let mut u = start(&device, extents);
    let mut heat = Quenched::new(5.7, 5).unwrap();
    heat.run(&mut u, 50).unwrap();
    let bath: Vec<f64> = (0..600)
        .map(|_| {
            heat.run(&mut u, 1).unwrap();
            plaquette(&u).unwrap().total
        })
        .collect();
    let mut hmc = chain(&u, 5.7, params(5));
    let (mut found, mut weights, mut accepted) = (vec![], vec![], 0.0);
    let n = 1000;
    for k in 0..n + 40 {
        let report = hmc.run(&mut u).unwrap();
        if k < 40 {
            continue;
        }
        found.push(report.plaquette);
        weights.push((-report.delta_h).exp());
        accepted += f64::from(report.accepted as u8) / f64::from(n);
    }
    let ((a, ea), (b, eb)) = (blocked(&bath, 20), blocked(&found, 20));
    println!("heat bath {a:.5} +- {ea:.5}, HMC {b:.5} +- {eb:.5}");
    let error = (ea * ea + eb * eb).sqrt();
    assert!((a - b).abs() < 4.0 * error, "heat bath {a} +- {ea}, HMC {b} +- {eb}");
    let (w, ew) = blocked(&weights, 20);
    let dh: f64 = weights.iter().map(|w| -w.ln()).sum::<f64>() / f64::from(n);
    let creutz = plaq_erfc(0.5 * dh.max(0.0).sqrt());
    println!("exp(-dH) {w:.4} +- {ew:.4}, <dH> {dh:.4}, accepted {accepted:.3}, {creutz:.3}");
    assert!((w - 1.0).abs() < 4.0 * ew, "<exp(-Delta H)> = {w} +- {ew}");
    assert!((accepted - creutz).abs() < 0.05, "accepted {accepted}, expected {creutz}");
    assert!(accepted > 0.5 && accepted < 0.999, "the step says nothing: {accepted}");
}

/// Complementary error function by Simpson's rule.
fn plaq_erfc(x: f64) -> f64 {
    let n = 1000;
    let h = x / f64::from(n);
    let f = |t: f64| (-t * t).exp();
    let sum: f64 = (0..n)
        .map(|i| {
            let t = f64::from(i) * h;
            h / 6.0 * (f(t) + 4.0 * f(t + h / 2.0) + f(t + h))
        })
        .sum();
    1.0 - 2.0 / std::f64::consts::PI.sqrt() * sum
}

#[test]
fn a_checkpoint_goes_on_bit_for_bit() {
    for device in devices() {
        let folder = Folder::new("hmc-checkpoint");
        let file = folder.0.join("chain.lime");
        let mut u = start(&device, over_ranks([4, 4, 4, 4]));
        let mut hmc = chain(&u, 5.6, params(4));
        for _ in 0..3 {
            hmc.run(&mut u).unwrap();
        }
        save_checkpoint(&file, &u, &hmc).unwrap();
        let mut reports = vec![];
        for _ in 0..3 {
            let mut r = hmc.run(&mut u).unwrap();
            r.seconds = 0.0;
            r.monomials[0].seconds = 0.0;
            reports.push(r);
        }
        let last = u.save_lex().unwrap();

        let mut other = start(&device, over_ranks([4, 4, 4, 4]));
        let mut hmc = chain(&other, 5.6, HmcParams { seed: 1, ..params(4) });
        load_checkpoint(&file, &mut other, &mut hmc).unwrap();
        assert_eq!(hmc.place().next, Stream { seed: 2026, trajectory: 3 });
        for expected in &reports {
            let mut r = hmc.run(&mut other).unwrap();
            r.seconds = 0.0;
            r.monomials[0].seconds = 0.0;
            assert_eq!(r, *expected);
        }
        assert_eq!(other.save_lex().unwrap(), last);
    }
}

/// Labels of checkpoints are read in the form from before measured intervals, and wrong labels are refused.
#[test]
fn labels_of_checkpoints() {
    let device = &devices()[0];
    let folder = Folder::new("hmc-labels");
    let file = folder.0.join("chain.lime");
    let mut u = start(device, over_ranks([4, 4, 4, 4]));
    let before = u.save_lex().unwrap();
    let mut hmc = chain(&u, 5.6, params(4));
    for (label, place) in [
        ("plaq checkpoint, seed 77", Some(77)),
        ("plaq checkpoint, seed 78, intervals {\"gauge\":[\"1e-3\",\"2e0\"]}", Some(78)),
        ("plaq checkpoint, seed 79, intervals {\"gauge\":[\"1e-3\"]}", None),
        ("plaq checkpoint, seed 80, intervals", None),
        ("plaq checkpoint, seed -1", None),
        ("beta 5.6", None),
    ] {
        let options = WriteOptions {
            ensemble_label: Some(label.to_string()),
            sequence_number: Some(4),
            ..Default::default()
        };
        save_gauge(&file, &u, FileFormat::Ildg, &options).unwrap();
        let now = hmc.place();
        let done = load_checkpoint(&file, &mut u, &mut hmc);
        match place {
            Some(seed) => {
                done.unwrap();
                assert_eq!(hmc.place().next, Stream { seed, trajectory: 4 }, "{label}");
            }
            None => {
                assert_eq!(done.unwrap_err().status, Status::FileFormat, "{label}");
                assert_eq!((hmc.place(), u.save_lex().unwrap()), (now, before.clone()), "{label}");
            }
        }
    }
}

/// A monomial whose force becomes wrong after a number of kicks.
pub struct Failing {
    pub kicks: usize,
    pub error: Option<Status>,
}

impl Monomial for Failing {
    fn name(&self) -> &str {
        "failing"
    }
    fn refresh(&mut self, _: &GaugeField, _: Stream) -> Result<()> {
        Ok(())
    }
    fn action(&mut self, _: &GaugeField) -> Result<f64> {
        Ok(0.0)
    }
    fn kick(&mut self, _: &GaugeField, p: &mut Momenta, _: f64) -> Result<KickReport> {
        self.kicks -= 1;
        if self.kicks > 0 {
            return Ok(KickReport::default());
        }
        match self.error {
            Some(status) => Err(plaq::error::Error::new(status, "no convergence")),
            None => {
                p.scale(f64::NAN)?;
                Ok(KickReport::default())
            }
        }
    }
}

#[test]
fn failures_leave_the_links() {
    let device = &devices()[0];
    for (error, status) in
        [(Some(Status::SolverBreakdown), Status::SolverBreakdown), (None, Status::NotFinite)]
    {
        let mut u = start(device, over_ranks([4, 4, 4, 4]));
        let before = u.save_lex().unwrap();
        let mut p = params(4);
        p.levels[0].monomials.push(String::from("failing"));
        let failing = Box::new(Failing { kicks: 3, error });
        let monomials = vec![gauge(&u, 5.6), failing];
        let mut hmc = Hmc::new(u.device(), u.geometry(), Precision::F64, monomials, p).unwrap();
        let e = hmc.run(&mut u).unwrap_err();
        assert_eq!(e.status, status, "{e}");
        assert_eq!(u.save_lex().unwrap(), before);
        assert_eq!(hmc.trajectory(), 0);
    }
}

#[test]
fn a_rejected_trajectory_leaves_the_links() {
    let device = &devices()[0];
    let mut u = start(device, over_ranks([4, 4, 4, 4]));
    let before = u.save_lex().unwrap();
    // With a single coarse step Delta H is large.
    let mut hmc = chain(&u, 6.0, HmcParams { length: 2.0, ..params(1) });
    let report = hmc.run(&mut u).unwrap();
    assert!(!report.accepted && report.delta_h > 100.0, "{report:?}");
    assert_eq!(u.save_lex().unwrap(), before);
    assert_eq!(hmc.trajectory(), 1);
    // While the chain thermalises a trajectory is accepted for any Delta H.
    let p = HmcParams { length: 2.0, accept_until: 1, ..params(1) };
    let report = chain(&u, 6.0, p).run(&mut u).unwrap();
    assert!(report.accepted);
    assert!(u.save_lex().unwrap() != before);
}

#[test]
fn wrong_lists_of_monomials_are_refused() {
    let device = &devices()[0];
    let u = start(device, over_ranks([4, 4, 4, 4]));
    let with = |names: &[&str], twice: bool| {
        let mut p = params(2);
        p.levels[0].monomials = names.iter().map(|s| s.to_string()).collect();
        let mut monomials = vec![gauge(&u, 5.6)];
        if twice {
            monomials.push(gauge(&u, 5.6));
        }
        Hmc::new(u.device(), u.geometry(), Precision::F64, monomials, p).map(|_| ())
    };
    assert!(with(&["gauge"], false).is_ok());
    for (names, twice) in
        [(&["gage"][..], false), (&[], false), (&["gauge", "gauge"], false), (&["gauge"], true)]
    {
        let e = with(names, twice).unwrap_err();
        assert_eq!(e.status, Status::BadParameter, "{names:?}");
    }
}
