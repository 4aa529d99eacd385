//! The order of links in files that consist of whole links, one after the other.

use super::data::LinkIndex;
use super::FileFormat;

/// The order of the links in files of one format.
pub struct LinkMap {
    pub format: FileFormat,
    /// The axes to which the four extents in the header belong.
    pub header: [usize; 4],
    /// Whether the format can hold a lattice with these extents.
    pub holds: fn(&[usize; 4]) -> bool,
    pub place: LinkIndex,
}

/// The site one step forward.
pub fn forward(n: &[usize; 4], x: &[usize; 4], mu: usize) -> [usize; 4] {
    let mut y = *x;
    y[mu] = (y[mu] + 1) % n[mu];
    y
}
