//! A seeded generator for test fields: SplitMix64 (Steele, Lea, Flood 2014), a hash of a counter.

use super::C;

/// The output function of SplitMix64: a hash of 64 bits.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub struct Rng {
    state: u64,
}

impl Rng {
    #[inline]
    pub fn new(seed: u64) -> Self {
        Rng { state: seed }
    }

    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// The next random number, uniform in [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The next complex normal number, whose real and imaginary parts have unit variance (Box-Muller).
    #[inline]
    pub fn gaussian(&mut self) -> C {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        C::from_polar(radius, std::f64::consts::TAU * self.uniform())
    }
}
