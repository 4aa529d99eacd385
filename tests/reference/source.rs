//! Reference noise of sources, number by number.

use super::philox::philox4x32_10;
use super::{Lattice, C};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    One,
    Z2,
    Z4,
    Normal,
}

/// Component (3 spin + colour) of noise vector `vector` on site x.
pub fn noise(kind: Noise, seed: u64, vector: u32, lat: Lattice, lex: usize, component: u32) -> C {
    assert!(lat.volume() < 1 << 32);
    let words = |purpose: u32, block: u32| {
        philox4x32_10(
            [lex as u32, purpose << 16, vector, block],
            [seed as u32, (seed >> 32) as u32],
        )
    };
    let signs = |purpose: u32| words(purpose, component / 4)[(component % 4) as usize];
    match kind {
        Noise::One => C::ONE,
        Noise::Z2 => C::new(if signs(9) >> 31 == 0 { 1.0 } else { -1.0 }, 0.0),
        Noise::Z4 => [C::ONE, C::I, -C::ONE, -C::I][(signs(2) >> 30) as usize],
        Noise::Normal => {
            // Two normal numbers (Box and Muller) from two uniform ones of 52 bits.
            let (high, low) = (words(1, component / 2 * 2), words(1, component / 2 * 2 + 1));
            let uniform = |k: usize| {
                let bits = u64::from(high[k]) << 20 | u64::from(low[k]) >> 12;
                (bits as f64 + 0.5) / (1u64 << 52) as f64
            };
            let k = 2 * (component % 2) as usize;
            let radius = (-uniform(k).ln()).sqrt();
            C::from_polar(radius, std::f64::consts::TAU * uniform(k + 1))
        }
    }
}
