//! Tests of sources, sequential sources, contractions and propagators in files against the reference.

mod contractions;
mod files;
mod milc;
mod sources;

use crate::{common, reference};
use plaq::backend::Device;
use plaq::fields::{Precision, SpinorField, Subset};
use reference::correlators::Propagator;
use reference::numbers::field_numbers;
use reference::{spinor, Lattice};

fn field(device: &Device, extents: [usize; 4], precision: Precision, nrhs: usize) -> SpinorField {
    let geometry = common::geometry(extents, device);
    SpinorField::new(device, &geometry, precision, Subset::Full, nrhs).unwrap()
}

/// Lattices to test: fewer on many ranks, since every rank computes the whole reference.
fn lattices() -> Vec<[usize; 4]> {
    let all = common::lattices();
    if common::ranks().size() == 1 {
        all.to_vec()
    } else {
        vec![all[3], all[5]]
    }
}

fn random_columns(lat: Lattice, count: u64, seed: u64) -> Propagator {
    (0..count).map(|i| spinor::random(lat, seed + i)).collect()
}

fn numbers(columns: &Propagator) -> Vec<f64> {
    columns.iter().flat_map(field_numbers).collect()
}
