//! Random links from the Haar measure that depend only on the link's position and the seed, so that codes for gauge
//! fixing can be compared on any lattice without a file.

use super::rng::mix;
use super::su3::reunitarise;
use super::{Gauge, Lattice, C};

/// The random number k of a link, uniform in (0, 1).
fn uniform(seed: u64, link: u64, k: u64) -> f64 {
    let key = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let at = (16 * link + k + 1).wrapping_mul(0xd134_2543_de82_ef95);
    ((mix(key.wrapping_add(at)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// Random SU(3) links: two rows of complex normal numbers, orthonormalised, and the third row that follows from them.
/// Links are counted with the direction fastest (t, x, y, z), then z, y, x, t.
pub fn hot_start(lat: Lattice, seed: u64) -> Gauge {
    let [nx, ny, nz, _] = lat.extents;
    let mut links = Vec::with_capacity(4 * lat.volume());
    for lex in 0..lat.volume() {
        let [x, y, z, t] = lat.coords(lex);
        let site = ((t * nx + x) * ny + y) * nz + z;
        for mu in 0..4 {
            let link = (4 * site + (mu + 1) % 4) as u64;
            let normal = |k: u64| {
                let radius = (-2.0 * uniform(seed, link, 2 * k).ln()).sqrt();
                C::from_polar(radius, std::f64::consts::TAU * uniform(seed, link, 2 * k + 1))
            };
            let row = |from: u64| [0, 1, 2].map(|k| normal(from + k));
            let (a, b) = (row(0), row(3));
            let c = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| (a[i] * b[j] - a[j] * b[i]).conj());
            links.push(reunitarise(&[a, b, c]));
        }
    }
    links
}
