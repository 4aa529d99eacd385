//! Tests of forces and monomials of fermions (physics.md, HMC) against derivatives of the action, and of properties
//! of molecular dynamics with them.

mod chains;
mod force;
mod memory;
mod monomials;
mod multigrid;
mod rational;
mod spectrum;
mod stout;
mod table;

use crate::setup::{reference_params, Setup};
use crate::{common, reference};
use std::sync::Arc;

use common::{derivative, Lex};
use plaq::backend::Device;
use plaq::fields::{CloverForm, GaugeField, Momenta, MomentaForm, Precision, Recon, SiteOrder};
use plaq::operators::DiracParams;
use reference::matrix::{mul, scale, trace, Matrix};
use reference::numbers::gauge_numbers;
use reference::rng::Rng;
use reference::{su3, Gauge, Lattice, C};

/// The first GPU, or the CPU if there is none.
fn device() -> Device {
    common::devices().pop().expect("a device")
}

/// A setup with a lattice of which every rank has a part with these extents.
fn setup_on(device: &Device, part: [usize; 4]) -> Setup {
    Setup::new(device, common::over_ranks(part), 0.4)
}

impl Setup {
    fn gauge(&self, links: &Gauge, precision: Precision, recon: Recon) -> Arc<GaugeField> {
        let mut g = GaugeField::new(&self.device, &self.geometry, precision, recon).unwrap();
        g.load_lex(&gauge_numbers(links)).unwrap();
        Arc::new(g)
    }
    /// Global index of every site of this rank, in the order of its arrays.
    fn sites(&self) -> Vec<usize> {
        let (l, o) = (self.geometry.extents(), self.geometry.origin());
        let site = |i: usize| {
            let (x, y) = (i % l[0], i / l[0] % l[1]);
            let (z, t) = (i / (l[0] * l[1]) % l[2], i / (l[0] * l[1] * l[2]));
            self.lat.lex([x + o[0], y + o[1], z + o[2], t + o[3]])
        };
        (0..self.geometry.volume()).map(site).collect()
    }
    /// Computes the sum over the links of direction mu of 2 tr h F, with F the momenta of all ranks.
    fn along(&self, force: &Momenta, h: &[Matrix<3>], mu: usize) -> f64 {
        let sites = self.sites();
        let mut array = vec![0.0; sites.len() * 4 * 18];
        force.save(&mut array, MomentaForm::Matrices, SiteOrder::Lexicographic, 1.0).unwrap();
        let mut sum = [0.0];
        for (i, &lex) in sites.iter().enumerate() {
            let v = &array[(4 * i + mu) * 18..][..18];
            // The array holds i F.
            let f: Matrix<3> = std::array::from_fn(|r| {
                std::array::from_fn(|c| C::new(v[2 * (3 * r + c) + 1], -v[2 * (3 * r + c)]))
            });
            sum[0] += 2.0 * trace(&mul(&h[lex], &f)).re;
        }
        self.geometry.comm().sum(&mut sum).unwrap();
        sum[0]
    }
}

/// A random hermitian traceless matrix for every site.
fn directions(lat: Lattice, seed: u64) -> Vec<Matrix<3>> {
    let mut rng = Rng::new(seed);
    (0..lat.volume()).map(|_| su3::random_hermitian(&mut rng)).collect()
}

/// Links with exp(i epsilon h) U in direction mu.
fn moved(links: &Gauge, h: &[Matrix<3>], mu: usize, epsilon: f64) -> Gauge {
    let mut out = links.clone();
    for (lex, h) in h.iter().enumerate() {
        let turn = su3::exp_i(&scale(C::new(epsilon, 0.0), h));
        out[4 * lex + mu] = mul(&turn, &links[4 * lex + mu]);
    }
    out
}

/// Wilson parameters with a clover term and every parameter that forces depend on.
fn wilson() -> DiracParams {
    DiracParams { mass: 0.2, ..Default::default() }
}
fn clover(mu: f64) -> DiracParams {
    let one = C::ONE;
    DiracParams {
        mass: 0.3,
        csw: 1.1,
        csw_t: 0.9,
        cf: 1.0,
        cf_prime: 1.0,
        mu,
        rho: 0.0,
        hop: [0.7, 0.8, 0.9, 1.0],
        boundary: [one, C::from_polar(1.0, 0.4), one, -one],
        ..Default::default()
    }
}

/// Parameters of the exponentiated clover term with this twisted mass.
fn exponential(mu: f64) -> DiracParams {
    DiracParams { clover: CloverForm::Exponential, ..clover(mu) }
}
