//! Tests of stout smearing and of forces through it.

use std::sync::Arc;

use plaq::compose::Schur;
use plaq::error::Status;
use plaq::fields::{GaugeField, Momenta, Precision, Recon, Subset};
use plaq::operators::{CloverLinks, DiracParams, ForceTerms, Wilson};
use plaq::ops::hmc::fermion::{Inverter, TwoFlavours, TwoFlavoursParams};
use plaq::ops::hmc::input::hmc_from_toml;
use plaq::ops::hmc::integrator::{Level, Scheme};
use plaq::ops::hmc::stout::{Smeared, Stout};
use plaq::ops::hmc::{Hmc, HmcParams, Monomial, Stream};
use plaq::ops::link_smearing::{smear_links, Smearing};

use super::common::{distance, extents_on, Lex};
use super::force::{compare, fields, reference_value, value_on_thin, COEF, DETERMINANT};
use super::reference::matrix::{add, dag, mul, one, product, scale, sub, trace, zero, Matrix};
use super::reference::{su3, Gauge, Lattice, C};
use super::{clover, device, exponential, gauge_numbers, setup_on, Setup};

const RHO: [[f64; 4]; 4] = [
    [0.0, 0.11, 0.09, 0.05],
    [0.1, 0.0, 0.12, 0.06],
    [0.08, 0.1, 0.0, 0.0],
    [0.03, 0.07, 0.04, 0.0],
];

/// Stout smearing by Eqs. (1) to (3) of hep-lat/0311018.
fn smeared(lat: Lattice, u: &Gauge) -> Gauge {
    let mut out = u.clone();
    for x in 0..lat.volume() {
        for mu in 0..4 {
            let mut c: Matrix<3> = zero();
            for nu in (0..4).filter(|&nu| nu != mu) {
                let (x_mu, x_nu, down) =
                    (lat.forward(x, mu), lat.forward(x, nu), lat.backward(x, nu));
                let up = product(&[&u[4 * x + nu], &u[4 * x_nu + mu], &dag(&u[4 * x_mu + nu])]);
                let corner = lat.forward(down, mu);
                let low =
                    product(&[&dag(&u[4 * down + nu]), &u[4 * down + mu], &u[4 * corner + nu]]);
                c = add(&c, &scale(C::new(RHO[mu][nu], 0.0), &add(&up, &low)));
            }
            let omega = mul(&c, &dag(&u[4 * x + mu]));
            let q = scale(C::new(0.0, 0.5), &sub(&dag(&omega), &omega));
            let q = sub(&q, &scale(trace(&q) / 3.0, &one()));
            out[4 * x + mu] = mul(&su3::exp_i(&q), &u[4 * x + mu]);
        }
    }
    out
}

fn setups() -> Vec<Setup> {
    let device = device();
    extents_on(&device).into_iter().map(|e| setup_on(&device, e)).collect()
}

#[test]
fn links_are_those_of_the_reference() {
    let stout = Stout::anisotropic(RHO, 2).unwrap();
    for s in setups() {
        let expect = gauge_numbers(&smeared(s.lat, &smeared(s.lat, &s.links)));
        for (precision, bound) in [(Precision::F64, 1e-13), (Precision::F32, 1e-5)] {
            let links = s.gauge(&s.links, precision, Recon::R18);
            let found = stout.smear(&links).unwrap().save_lex().unwrap();
            let error = distance(&found, &expect);
            assert!(error < bound, "{precision:?} {:?}: {error:.1e}", s.lat.extents);
        }
    }
}

#[test]
fn the_measurement_smears_alike() {
    let s = setup_on(&device(), [4, 4, 4, 4]);
    let links = s.gauge(&s.links, Precision::F64, Recon::R18);
    let found = Stout::new(0.1, 3).unwrap().smear(&links).unwrap().save_lex().unwrap();
    let other = smear_links(&links, Smearing::Stout { rho: 0.1, directions: 15 }, 3).unwrap();
    assert!(distance(&found, &other.save_lex().unwrap()) < 1e-13);
}

#[test]
fn forces_are_derivatives_with_respect_to_the_thin_links() {
    let stout = Stout::anisotropic(RHO, 2).unwrap();
    let params = clover(0.3);
    for s in setups() {
        let thin = s.gauge(&s.links, Precision::F64, Recon::R18);
        let all = Smeared::new(stout, &thin).unwrap();
        let links = all.smeared().to(Precision::F64, Recon::R18).unwrap();
        let op = Wilson::new(links.into(), params).unwrap();
        let [x, y] = [1, 11].map(|n| s.spinors(Precision::F64, Subset::Full, &fields(&s, n)));
        let terms = ForceTerms { x: &x, y: &y, coef: &COEF };
        let mut force = Momenta::new(&s.device, &s.geometry, Precision::F64).unwrap();
        let mut insertion = op.insertion().unwrap();
        op.hop_force(&mut force, -1.0, terms).unwrap();
        op.insert(&mut insertion, Some(terms), DETERMINANT, false).unwrap();
        op.clover_force(&mut force, -1.0, &insertion).unwrap();
        all.pull_back(&mut force).unwrap();
        compare(&s, &force, 1e-8, "stout", |links| {
            reference_value(&s, params, &smeared(s.lat, &smeared(s.lat, links)))
        });
    }
}

/// Forces with smeared links in the hop and thin links in the clover term are derivatives of the action.
#[test]
fn forces_with_a_clover_term_of_thin_links_are_derivatives() {
    let stout = Stout::anisotropic(RHO, 1).unwrap();
    for s in setups() {
        for params in [clover(0.3), exponential(0.3)] {
            let params = DiracParams { clover_links: CloverLinks::Thin, ..params };
            let thin = s.gauge(&s.links, Precision::F64, Recon::R18);
            let all = Smeared::new(stout, &thin).unwrap();
            let links = Arc::new(all.smeared().to(Precision::F64, Recon::R18).unwrap());
            let refused = Wilson::new(links.clone(), params).map(|_| ()).unwrap_err();
            assert_eq!(refused.status, Status::Unsupported, "{refused}");
            let op = Wilson::on_thin(links, thin, params).unwrap();
            let [x, y] = [1, 11].map(|n| s.spinors(Precision::F64, Subset::Full, &fields(&s, n)));
            let terms = ForceTerms { x: &x, y: &y, coef: &COEF };
            let mut force = Momenta::new(&s.device, &s.geometry, Precision::F64).unwrap();
            let mut insertion = op.insertion().unwrap();
            op.hop_force(&mut force, -1.0, terms).unwrap();
            all.pull_back(&mut force).unwrap();
            op.insert(&mut insertion, Some(terms), DETERMINANT, false).unwrap();
            op.clover_force(&mut force, -1.0, &insertion).unwrap();
            compare(&s, &force, 1e-8, "thin clover", |links| {
                value_on_thin(&s, params, &smeared(s.lat, links), links)
            });
        }
    }
}

/// The action of a monomial with a clover term of thin links depends on them and differs from that with smeared links
/// in the clover term; an input file can choose.
#[test]
fn thin_links_of_a_chain_are_followed() {
    let s = setup_on(&device(), [4, 4, 4, 4]);
    let run = |keys: &str| {
        let text = format!(
            "length = 0.3\nseed = 5\naccept_until = 9\n[[monomial]]\nname = \"q\"\ntype = \"two_flavours\"\n\
             operator = {{ kappa = 0.12, csw = 1.2{keys} }}\nsmearing = {{ rho = 0.1, levels = 2 }}\n[[level]]\n\
             integrator = \"omelyan2\"\nsteps = 6\nmonomials = [\"q\"]\n"
        );
        let mut u =
            s.gauge(&s.links, Precision::F64, Recon::R18).to(Precision::F64, Recon::R18).unwrap();
        let mut hmc = hmc_from_toml(&s.device, &s.geometry, Precision::F64, &text).unwrap();
        hmc.run(&mut u).unwrap()
    };
    let (hop, thin) = (run(""), run(", clover_links = \"thin\""));
    assert!((hop.monomials[0].action_start / thin.monomials[0].action_start - 1.0).abs() > 1e-6);
    // Energy is conserved if force and action use the same links.
    assert!(thin.delta_h.abs() < 2.0 * hop.delta_h.abs() + 1e-3, "{thin:?}");
    let plain = "length = 0.3\n[[monomial]]\nname = \"q\"\ntype = \"two_flavours\"\noperator = { kappa = 0.12, csw = 1.2, \
                 clover_links = \"thin\" }\n[[level]]\nintegrator = \"omelyan2\"\nsteps = 6\nmonomials = [\"q\"]\n";
    let e = hmc_from_toml(&s.device, &s.geometry, Precision::F64, plain).map(|_| ()).unwrap_err();
    assert!(e.status == Status::BadParameter && e.to_string().contains("clover_links"), "{e}");
}

#[test]
fn what_cannot_be_smeared_is_a_status() {
    assert_eq!(Stout::new(0.3, 1).unwrap_err().status, Status::BadParameter);
    assert_eq!(Stout::new(f64::NAN, 1).unwrap_err().status, Status::BadParameter);
    assert_eq!(Stout::new(0.1, 0).unwrap_err().status, Status::BadParameter);
    let s = setup_on(&device(), [4, 4, 4, 4]);
    let two_rows = s.gauge(&s.links, Precision::F64, Recon::R12);
    let smear = Stout::new(0.1, 1).unwrap().smear(&two_rows);
    assert_eq!(smear.unwrap_err().status, Status::Unsupported);
}

/// A monomial on smeared links from an input file equals one made by calls, bit for bit, and its action equals that
/// of a monomial without smearing on links that were smeared before.
#[test]
fn an_input_smears_as_calls_do() {
    let text = "length = 0.3\nseed = 5\naccept_until = 9\n[[monomial]]\nname = \"q\"\ntype = \"two_flavours\"\n\
                operator = { kappa = 0.12, csw = 1.2 }\nsmearing = { rho = 0.1, levels = 2 }\n[[level]]\n\
                integrator = \"leapfrog\"\nsteps = 3\nmonomials = [\"q\"]\n";
    let s = setup_on(&device(), [4, 4, 4, 4]);
    let links = || {
        let links = s.gauge(&s.links, Precision::F64, Recon::R18);
        links.to(Precision::F64, Recon::R18).unwrap()
    };
    let stout = Stout::new(0.1, 2).unwrap();
    let quarks = || {
        let operator = DiracParams { csw: 1.2, csw_t: 1.2, ..Default::default() }.with_kappa(0.12);
        let params = TwoFlavoursParams {
            operator: operator.into(),
            preconditioner: None,
            schur: Schur { parity: 0, symmetric: true },
            inverter: Inverter::default(),
        };
        TwoFlavours::new("q", params).unwrap()
    };
    let level = Level { scheme: Scheme::Leapfrog, steps: 3, monomials: vec![String::from("q")] };
    let params = HmcParams {
        length: 0.3,
        levels: vec![level],
        seed: 5,
        trajectory: 0,
        accept_until: 9,
        reversibility_every: 0,
        smd: None,
    };
    let monomials: Vec<Box<dyn Monomial>> = vec![Box::new(quarks().with_smearing(stout))];
    let by_hand = Hmc::new(&s.device, &s.geometry, Precision::F64, monomials, params).unwrap();
    let from_text = hmc_from_toml(&s.device, &s.geometry, Precision::F64, text).unwrap();
    let [(a, u), (b, v)] = [by_hand, from_text].map(|mut hmc| {
        let mut u = links();
        (hmc.run(&mut u).unwrap(), u)
    });
    assert_eq!((a.delta_h, u.distance(&v).unwrap()), (b.delta_h, 0.0));
    let stream = Stream { seed: 5, trajectory: 0 };
    let action = |mut quarks: TwoFlavours, links: GaugeField| {
        quarks.refresh(&links, stream).unwrap();
        quarks.action(&links).unwrap()
    };
    let smeared = action(quarks().with_smearing(stout), links());
    let before = action(quarks(), stout.smear(&links()).unwrap());
    let thin = action(quarks(), links());
    assert!((smeared / before - 1.0).abs() < 1e-12, "{smeared}, {before}");
    assert!((smeared - a.monomials[0].action_start).abs() < 1e-9 * smeared.abs());
    assert!((smeared / thin - 1.0).abs() > 1e-4, "{smeared}, {thin}");
}
