//! The local lattice: checkerboarding, and on the CPU its division over SIMD lanes.

use std::sync::Arc;

use crate::backend::{Device, Geom, Work};
use crate::bail;
use crate::error::Result;

/// Extents (x, y, z, t) of the local lattice and their division over the lanes of a device.
///
/// Lexicographic index: `x + X (y + Y (z + Z t))`; parity `(x+y+z+t) & 1`; inside a parity sites
/// are numbered by half the lexicographic index of their lane's piece.
#[derive(Debug, PartialEq, Eq)]
pub struct Geometry {
    extents: [usize; 4],
    lanes: usize,
    /// Lane bit of each direction, 0 where it is not split.
    lane_bits: [usize; 4],
    /// Sites that one plane of a field has room for.
    plane_sites: usize,
}

impl Geometry {
    /// Every extent must be even (checkerboarding on a periodic lattice) and at least 2.
    pub fn new(extents: [usize; 4], device: &Device) -> Result<Arc<Self>> {
        Self::with_lanes(extents, device.max_lanes())
    }

    /// The same with at most `max_lanes` lanes: 1 gives the plain order on any device.
    pub fn with_lanes(extents: [usize; 4], max_lanes: usize) -> Result<Arc<Self>> {
        for (mu, &l) in extents.iter().enumerate() {
            if l < 2 || l % 2 != 0 || l > 1 << 16 {
                bail!(
                    BadExtents,
                    "extent {} is {l}: every extent must be even, from 2 to 65536",
                    ["x", "y", "z", "t"][mu]
                );
            }
        }
        if extents.iter().map(|&l| l as u128).product::<u128>() > i32::MAX as u128 {
            bail!(BadExtents, "{extents:?} has more than 2^31 sites: divide it over more ranks");
        }
        // A piece must keep even extents, or parity would differ between lanes.
        let splits = max_lanes >= 16 && extents.iter().all(|l| l % 4 == 0);
        let (lanes, lane_bits) = if splits { (16, [1, 2, 4, 8]) } else { (1, [0; 4]) };
        // Without lanes a plane may be made of tiles of 32 sites (kernels/field.h, GPU).
        let sites = extents.iter().product::<usize>() / 2;
        let plane_sites = if lanes == 1 { sites.next_multiple_of(32) } else { sites };
        Ok(Arc::new(Geometry { extents, lanes, lane_bits, plane_sites }))
    }

    pub fn extents(&self) -> [usize; 4] {
        self.extents
    }
    pub fn volume(&self) -> usize {
        self.extents.iter().product()
    }
    pub fn lanes(&self) -> usize {
        self.lanes
    }
    /// Outer sites of one parity: sites / 2 / lanes.
    pub fn outer(&self) -> usize {
        self.volume() / 2 / self.lanes
    }
    /// Sites that one plane (a parity of a right-hand side) has room for.
    pub(crate) fn plane_sites(&self) -> usize {
        self.plane_sites
    }
    pub fn work(&self, batches: usize) -> Work {
        Work { n: self.outer(), batches, lanes: self.lanes }
    }

    pub(crate) fn args(&self) -> Geom {
        let piece =
            |mu: usize| (self.extents[mu] / if self.lane_bits[mu] != 0 { 2 } else { 1 }) as i32;
        let bit = |mu: usize| self.lane_bits[mu] as i32;
        Geom {
            x: piece(0),
            y: piece(1),
            z: piece(2),
            t: piece(3),
            lane_x: bit(0),
            lane_y: bit(1),
            lane_z: bit(2),
            lane_t: bit(3),
            origin: [0; 4],
            global: self.extents.map(|l| l as i32),
        }
    }
}
