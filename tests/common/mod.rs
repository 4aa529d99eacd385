//! What every test of the library shares: devices to run on, lattices, tolerances.
#![allow(dead_code)]

use std::path::PathBuf;

use plaq::backend::Device;
use plaq::fields::{Precision, Recon};

/// The CPU with one and with two threads, and the first CUDA device where there is one.
/// `PLAQ_TEST_DEVICE=cpu` leaves CUDA out, `=cuda` the CPU (and a missing CUDA device fails).
pub fn devices() -> Vec<Device> {
    let wanted = std::env::var("PLAQ_TEST_DEVICE").unwrap_or_default();
    assert!(
        matches!(wanted.as_str(), "" | "cpu" | "cuda"),
        "PLAQ_TEST_DEVICE: expected cpu or cuda, found {wanted}"
    );
    let mut all = Vec::new();
    if wanted != "cuda" {
        all.extend([1, 2].map(|threads| Device::cpu(threads).expect("a CPU")));
    }
    match Device::cuda(0) {
        Ok(_) if wanted == "cpu" => {}
        Ok(device) => all.push(device),
        Err(e) if wanted == "cuda" || !e.status.is_missing_device() => panic!("{e}"),
        Err(_) => {}
    }
    all
}

/// Lattices: 16 lanes, and one lane.
pub const EXTENTS: [[usize; 4]; 3] = [[4, 4, 4, 4], [8, 4, 4, 12], [2, 6, 4, 2]];

/// Rounding of one stored number for fields of order one, times `terms` that may add up.
pub fn tolerance(p: Precision, terms: f64) -> f64 {
    let compute = if p == Precision::F64 { f64::EPSILON } else { f32::EPSILON as f64 };
    p.epsilon() * 4.0 + compute * terms
}

/// Largest difference over the largest magnitude.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let top = b.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |m, (x, y)| m.max((x - y).abs())) / top.max(f64::MIN_POSITIVE)
}

/// Error of a reconstructed link in units of the roundoff of what is stored (kernels/recon.h:
/// 1 + 1/|a1| + 1/|c1| + 1/sqrt n with all three near 1/sqrt 2; pi for angles).
pub fn storage_factor(recon: Recon) -> f64 {
    match recon {
        Recon::R8 => 1.0 + 3.0 * 2f64.sqrt(),
        Recon::R8Angles => std::f64::consts::PI,
        _ => 1.0,
    }
}

/// A configuration of another code, or `None` with a message where the folder is absent.
pub fn configuration(name: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/configs").into();
    let path = PathBuf::from(std::env::var("PLAQ_CONFIGS").unwrap_or(beside)).join(name);
    if !path.exists() {
        println!("skipped: no {} (set PLAQ_CONFIGS)", path.display());
        return None;
    }
    Some(path)
}
