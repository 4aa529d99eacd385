//! Configurations in the format of DDalphaAMG's samples.
//!
//! | bytes | content (little endian) |
//! | --- | --- |
//! | 0..16 | four int32: T, Z, Y, X |
//! | 16..24 | f64: average of Re tr U_p over all plaquettes, 3 for unit links |
//! | 24.. | for each site, x fastest, then y, z, t: the links in directions t, z, y, x |
//!
//! A link is a 3×3 row-major complex double matrix. There is no checksum; header and length
//! equal those of an openQCD file of the same lattice, and its plaquette
//! tells which of the two a file is.

use super::data::lex;
use super::link_order::LinkMap;
use super::FileFormat;

pub const MAP: LinkMap = LinkMap {
    format: FileFormat::DdAlphaAmg,
    header: [3, 2, 1, 0],
    holds: |_| true,
    place: |n, x, mu| 4 * lex(n, x) + 3 - mu,
};
