//! Stout smearing and the way of forces through it.

use plaq::error::Status;
use plaq::fields::{Momenta, Precision, Recon, Subset};
use plaq::operators::{ForceTerms, Wilson};
use plaq::ops::hmc::stout::{Smeared, Stout};
use plaq::ops::link_smearing::{smear_links, Smearing};

use super::common::{distance, extents_on};
use super::force::{compare, fields, reference_value, COEF, DETERMINANT};
use super::reference::matrix::{add, dag, mul, one, product, scale, sub, trace, zero, Matrix};
use super::reference::{su3, Gauge, Lattice, C};
use super::{clover, device, gauge_numbers, Setup};

const RHO: [[f64; 4]; 4] = [
    [0.0, 0.11, 0.09, 0.05],
    [0.1, 0.0, 0.12, 0.06],
    [0.08, 0.1, 0.0, 0.0],
    [0.03, 0.07, 0.04, 0.0],
];

/// Eqs. (1) to (3) of hep-lat/0311018.
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
    extents_on(&device).into_iter().map(|e| Setup::new(&device, e)).collect()
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
    let s = Setup::new(&device(), [4, 4, 4, 4]);
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

#[test]
fn what_cannot_be_smeared_is_a_status() {
    assert_eq!(Stout::new(0.3, 1).unwrap_err().status, Status::BadParameter);
    assert_eq!(Stout::new(f64::NAN, 1).unwrap_err().status, Status::BadParameter);
    assert_eq!(Stout::new(0.1, 0).unwrap_err().status, Status::BadParameter);
    let s = Setup::new(&device(), [4, 4, 4, 4]);
    let two_rows = s.gauge(&s.links, Precision::F64, Recon::R12);
    let smear = Stout::new(0.1, 1).unwrap().smear(&two_rows);
    assert_eq!(smear.unwrap_err().status, Status::Unsupported);
}
