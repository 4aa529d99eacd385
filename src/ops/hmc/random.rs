//! The random number by which a trajectory is accepted or rejected: Philox 4x32-10 as in kernels/philox.h, with a
//! counter that no site has.

use crate::backend::args::RANDOM_ACCEPT;

/// A random number uniform in (0, 1), the same on every rank.
pub(super) fn uniform(seed: u64, trajectory: u32) -> f64 {
    let w = philox([0, (RANDOM_ACCEPT as u32) << 16, trajectory, 0], seed);
    ((u64::from(w[0]) << 20 | u64::from(w[1]) >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// The four words of Philox 4x32-10 (Salmon et al., SC 2011) for a counter.
pub(in crate::ops) fn philox(counter: [u32; 4], seed: u64) -> [u32; 4] {
    rand_philox::philox4x32_10(counter, [seed as u32, (seed >> 32) as u32])
}
