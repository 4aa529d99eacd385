//! Where files of whole links, one after the other, keep each of them.

use super::data::LinkIndex;
use super::FileFormat;

/// Order of the links of one format.
pub struct LinkMap {
    pub format: FileFormat,
    /// Axes of the four extents in the header.
    pub header: [usize; 4],
    /// Can the format hold this lattice?
    pub holds: fn(&[usize; 4]) -> bool,
    pub place: LinkIndex,
}

/// The site one step forward.
pub fn forward(n: &[usize; 4], x: &[usize; 4], mu: usize) -> [usize; 4] {
    let mut y = *x;
    y[mu] = (y[mu] + 1) % n[mu];
    y
}
