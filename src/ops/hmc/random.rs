//! The random number that decides about a trajectory: Philox 4x32-10 as in kernels/philox.h, of no site.

use crate::backend::args::RANDOM_ACCEPT;

/// A random number uniform in (0, 1), the same on every rank.
pub(super) fn uniform(seed: u64, trajectory: u32) -> f64 {
    let w = philox([0, (RANDOM_ACCEPT as u32) << 16, trajectory, 0], seed);
    ((u64::from(w[0]) << 20 | u64::from(w[1]) >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// A block of words for a counter.
pub(in crate::ops) fn philox(mut c: [u32; 4], seed: u64) -> [u32; 4] {
    let (mut k0, mut k1) = (seed as u32, (seed >> 32) as u32);
    for _ in 0..10 {
        let p = u64::from(c[0]) * 0xd251_1f53;
        let q = u64::from(c[2]) * 0xcd9e_8d57;
        c = [(q >> 32) as u32 ^ c[1] ^ k0, q as u32, (p >> 32) as u32 ^ c[3] ^ k1, p as u32];
        k0 = k0.wrapping_add(0x9e37_79b9);
        k1 = k1.wrapping_add(0xbb67_ae85);
    }
    c
}
