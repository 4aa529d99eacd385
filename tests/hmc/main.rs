//! Tests of hybrid Monte Carlo: momenta, link updates, gauge forces, integrators, trajectories.

mod chains;
mod forces;
mod inputs;
mod integrators;
mod loops;
mod momenta;
mod smd;

use crate::{common, reference};
use std::sync::Arc;

use common::Lex;
use plaq::backend::Device;
use plaq::fields::{GaugeField, Geometry, Momenta, Precision, Recon};
use plaq::ops::hmc::gauge_action::LinkAction;
use reference::numbers::gauge_numbers;
use reference::rng::Rng;
use reference::{Gauge, Lattice};

fn links(device: &Device, g: &Arc<Geometry>, u: &Gauge, precision: Precision) -> GaugeField {
    let mut field = GaugeField::new(device, g, precision, Recon::R18).unwrap();
    field.load_lex(&gauge_numbers(u)).unwrap();
    field
}

/// Normally distributed coefficients of momenta for all links of the lattice.
fn coefficients(lat: Lattice, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..32 * lat.volume()).map(|_| rng.gaussian().re).collect()
}

fn momenta(device: &Device, g: &Arc<Geometry>, p: &[f64], precision: Precision) -> Momenta {
    let mut field = Momenta::new(device, g, precision).unwrap();
    field.load_lex(p).unwrap();
    field
}

/// Checks that the derivative of the action along momenta of all links at once, by the library's own link update, is
/// the scalar product of force and momenta.
fn check_along(
    what: &str,
    force: &mut impl LinkAction,
    u: &Gauge,
    f: &Momenta,
    v: &[f64],
    epsilon: f64,
) {
    let (device, geometry) = (f.device(), f.geometry());
    let field_v = momenta(device, geometry, v, Precision::F64);
    let at = |step: f64| {
        let mut moved = links(device, geometry, u, Precision::F64);
        moved.evolve(&field_v, step).unwrap();
        force.action(&moved).unwrap()
    };
    let d = common::derivative(at, epsilon);
    let f = f.save_lex().unwrap();
    let slope: f64 = f.iter().zip(v).map(|(a, b)| a * b).sum();
    let size = f.iter().zip(v).map(|(a, b)| (a * b).powi(2)).sum::<f64>().sqrt();
    assert!((slope - d).abs() < 1e-8 * size.max(slope.abs()), "{what}: {slope}, {d}");
}
