//! Hybrid Monte Carlo: momenta, link updates, gauge forces, integrators, trajectories.

mod chains;
mod forces;
mod inputs;
mod integrators;
mod loops;
mod momenta;

use crate::{common, reference};
use std::sync::Arc;

use common::Lex;
use plaq::backend::Device;
use plaq::fields::{GaugeField, Geometry, Momenta, Precision, Recon};
use reference::numbers::gauge_numbers;
use reference::rng::Rng;
use reference::{Gauge, Lattice};

fn links(device: &Device, g: &Arc<Geometry>, u: &Gauge, precision: Precision) -> GaugeField {
    let mut field = GaugeField::new(device, g, precision, Recon::R18).unwrap();
    field.load_lex(&gauge_numbers(u)).unwrap();
    field
}

/// Normal coefficients of all links of the lattice.
fn coefficients(lat: Lattice, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..32 * lat.volume()).map(|_| rng.gaussian().re).collect()
}

fn momenta(device: &Device, g: &Arc<Geometry>, p: &[f64], precision: Precision) -> Momenta {
    let mut field = Momenta::new(device, g, precision).unwrap();
    field.load_lex(p).unwrap();
    field
}
