//! openQCD configurations, as its `export_cnfg` writes them.
//!
//! | bytes | content (little endian) |
//! | --- | --- |
//! | 0..16 | four int32: T, X, Y, Z |
//! | 16..24 | f64: average of Re tr U_p over all plaquettes, 3 for unit links |
//! | 24.. | for each odd site (t+x+y+z odd) in lexicographic order with z fastest, then y, x, t: eight links +t, −t, +x, −x, +y, −y, +z, −z |
//!
//! The link −μ is U_μ(x−μ̂), not daggered. A link is a 3×3 row-major complex double matrix. All extents are even. There
//! is no checksum: only the plaquette shows whether the links are those that were written.

use super::link_order::{forward, LinkMap};
use super::FileFormat;

/// The directions in the order of the file.
const DIRECTIONS: [usize; 4] = [3, 0, 1, 2];

pub const MAP: LinkMap = LinkMap {
    format: FileFormat::OpenQcd,
    header: DIRECTIONS,
    holds: |n| n.iter().all(|n| n % 2 == 0),
    place,
};

fn place(n: &[usize; 4], x: &[usize; 4], mu: usize) -> usize {
    let backward = x.iter().sum::<usize>() % 2 == 0;
    let owner = if backward { forward(n, x, mu) } else { *x };
    let item = (owner[2] + n[2] * (owner[1] + n[1] * (owner[0] + n[0] * owner[3]))) / 2;
    8 * item + 2 * ((mu + 1) % 4) + backward as usize
}
