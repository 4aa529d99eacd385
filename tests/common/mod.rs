//! Helpers that tests of the library share: devices to run on, lattices, tolerances.
#![allow(dead_code)]

pub mod lex;
pub mod milc;
pub mod ranks;
pub mod remote;

use std::path::PathBuf;
use std::sync::Arc;

#[allow(unused_imports)]
pub use lex::Lex;
use plaq::backend::Device;
use plaq::fields::{Geometry, Precision, Recon};
pub use plaq_reference::largest;
pub use ranks::ranks;

/// Number of the GPU of this rank: ranks have the GPUs in turn.
fn gpu() -> usize {
    ranks().rank() % plaq::backend::cuda::device_count().unwrap_or(1).max(1)
}

/// The CPU, with two threads on one rank and one on each of several (tests/threads.rs compares numbers of threads), and
/// the first CUDA device where there is one.
/// `PLAQ_TEST_DEVICE=cpu` leaves CUDA out, `=cuda` the CPU (and a missing CUDA device fails).
pub fn devices() -> Vec<Device> {
    let wanted = std::env::var("PLAQ_TEST_DEVICE").unwrap_or_default();
    assert!(
        matches!(wanted.as_str(), "" | "cpu" | "cuda"),
        "PLAQ_TEST_DEVICE: expected cpu or cuda, found {wanted}"
    );
    let mut all = Vec::new();
    if wanted != "cuda" {
        all.push(Device::cpu(if ranks().size() == 1 { 2 } else { 1 }).expect("a CPU"));
    }
    match Device::cuda(gpu()) {
        Ok(_) if wanted == "cpu" => {}
        Ok(device) => all.push(device),
        Err(e) if wanted == "cuda" || !e.status.is_missing_device() => panic!("{e}"),
        Err(_) => {}
    }
    all
}

/// This rank's part of a lattice.
pub fn geometry(extents: [usize; 4], device: &Device) -> Arc<Geometry> {
    Geometry::decomposed(extents, device, &ranks()).expect("a lattice that can be divided")
}

/// A lattice of which every rank has a part with these extents.
pub fn over_ranks(part: [usize; 4]) -> [usize; 4] {
    std::array::from_fn(|mu| part[mu] * ranks().grid()[mu])
}

/// Numbers of the reference that every rank needs: `items` pieces of `each` numbers, each piece computed by one rank.
/// All ranks call this.
pub fn shared(items: usize, each: usize, one: impl Fn(usize) -> Vec<f64>) -> Vec<f64> {
    let mut all = vec![0.0; items * each];
    for i in (ranks().rank()..items).step_by(ranks().size()) {
        all[i * each..][..each].copy_from_slice(&one(i));
    }
    // The other ranks add zeros.
    ranks().sum(&mut all).expect("ranks");
    all
}

/// A folder that all ranks share, removed at the end of its test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let id = ranks().all_gather(&std::process::id().to_ne_bytes()).expect("ranks");
        let first = u32::from_ne_bytes([id[0], id[1], id[2], id[3]]);
        let path = std::env::temp_dir().join(format!("plaq-{name}-{first}"));
        std::fs::create_dir_all(&path).expect("a folder for files");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Removes the folder when no rank reads it any more; after a failure there is no waiting for other ranks.
        if !std::thread::panicking() && ranks().agree(Ok(())).is_ok() && ranks().rank() == 0 {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Runs `body` on rank 0 before the other ranks go on.
pub fn on_rank_0(body: impl FnOnce()) {
    if ranks().rank() == 0 {
        body();
    }
    ranks().agree(Ok(())).expect("ranks");
}

/// Lattices that tests of fields run on.
pub fn lattices() -> [[usize; 4]; 6] {
    EXTENTS.map(over_ranks)
}

/// Extents of these parts: two lattices with 16 lanes, then lattices with 8 lanes whose pieces have odd extents in
/// one direction or several. Parts of divided lattices have fewer lanes.
pub const EXTENTS: [[usize; 4]; 6] =
    [[4, 4, 4, 4], [8, 4, 4, 12], [4, 6, 4, 8], [2, 6, 4, 4], [2, 6, 4, 2], [2, 6, 6, 2]];

/// Extents of the parts to test on a device. A GPU gets fewer, since it compiles kernels for every lattice, term and
/// storage, and has no lanes.
pub fn extents_on(device: &Device) -> Vec<[usize; 4]> {
    if device.is_cpu() {
        EXTENTS.to_vec()
    } else {
        vec![[8, 4, 4, 12], [2, 6, 4, 2]]
    }
}

/// Tolerance for numbers of order one: the rounding error of one stored number times `terms`, the number of terms
/// whose errors may add up.
pub fn tolerance(p: Precision, terms: f64) -> f64 {
    let compute = if p == Precision::F64 { f64::EPSILON } else { f32::EPSILON as f64 };
    p.epsilon() * 4.0 + compute * terms
}

/// Largest difference of two arrays, divided by the largest magnitude.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let top = largest(b.iter().map(|x| x.abs())).max(f64::MIN_POSITIVE);
    largest(a.iter().zip(b).map(|(x, y)| (x - y).abs())) / top
}

/// Derivative of f at 0 by finite differences of fourth order.
pub fn derivative(mut f: impl FnMut(f64) -> f64, epsilon: f64) -> f64 {
    let mut d = |e: f64| f(e) - f(-e);
    (8.0 * d(epsilon) - d(2.0 * epsilon)) / (12.0 * epsilon)
}

/// Average and error of values, from averages of `blocks` blocks.
pub fn blocked(values: &[f64], blocks: usize) -> (f64, f64) {
    let (n, count) = (values.len() / blocks, blocks as f64);
    let averages: Vec<f64> =
        values.chunks_exact(n).map(|b| b.iter().sum::<f64>() / n as f64).collect();
    let mean = averages.iter().sum::<f64>() / count;
    let variance = averages.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Defines a test on every device for each of these functions.
#[allow(unused_macros)]
macro_rules! on_every_device {
    ($($name:ident)*) => {
        mod every_device {
            $(#[test]
            fn $name() {
                for device in super::common::devices() {
                    super::$name(&device);
                }
            })*
        }
    };
}
#[allow(unused_imports)]
pub(crate) use on_every_device;

/// Error of a reconstructed link in units of the rounding error of a stored number (kernels/recon.h: a turn of a unit
/// vector by twice the error of v, 4 roundings for v0; pi for angles).
pub fn storage_factor(recon: Recon) -> f64 {
    match recon {
        Recon::R8 => 8.0,
        Recon::R8Angles => std::f64::consts::PI,
        _ => 1.0,
    }
}

/// Numbers of kernels in the file that `PLAQ_FIRST_LAUNCHES` names: all launched kernels, kernels launched before
/// they were asked for, and kernels asked for but never launched.
pub fn first_launches(file: &std::path::Path) -> [usize; 3] {
    let text = std::fs::read_to_string(file).unwrap();
    let head = text.lines().next().unwrap_or_default();
    let counts = head.rsplit_once(": ").unwrap_or_default().1.split(", ");
    let number = |words: &str| words.split(' ').next().and_then(|n| n.parse().ok());
    let counts: Option<Vec<usize>> = counts.map(number).collect();
    counts.and_then(|c| c.try_into().ok()).unwrap_or_else(|| panic!("{text}"))
}

/// Path of a configuration of another code, or `None` with a printed message if its folder is absent.
pub fn configuration(name: &str) -> Option<PathBuf> {
    let beside = concat!(env!("SOURCE_TREE"), "/../shared/configs").into();
    let path = PathBuf::from(std::env::var("PLAQ_CONFIGS").unwrap_or(beside)).join(name);
    if !path.exists() {
        println!("skipped: no {} (set PLAQ_CONFIGS)", path.display());
        return None;
    }
    Some(path)
}
