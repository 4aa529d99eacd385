//! What a lattice suggests: levels, and low modes of the coarsest one.

use super::gathering;
use super::params::{Coarsest, LevelParams, MultigridParams};
use crate::fields::Geometry;

impl MultigridParams {
    /// Levels for a lattice: aggregates of about 4^4 sites that divide a rank's part, then of 2^4 that divide
    /// the level, as long as they leave more than a few sites in all; 24 null vectors.
    pub fn for_lattice(geometry: &Geometry) -> Self {
        let mut extents = geometry.extents();
        let mut global = geometry.global_extents();
        let mut levels = vec![];
        let level = |block| LevelParams { block, vectors: 24, pre: 0, post: 10 };
        while levels.len() < 2 {
            let most = if levels.is_empty() { 4 } else { 2 };
            let block = Self::suggested_block(extents, most);
            let volume: usize = global.iter().product();
            let size: usize = block.iter().product();
            let enough = levels.is_empty() || volume / size >= 16;
            if size == 1 || !enough {
                break;
            }
            (0..4).for_each(|mu| global[mu] /= block[mu]);
            // Levels that a rank's part is too small for are gathered.
            extents = global;
            levels.push(level(block));
        }
        let mut params = Self::with_levels(levels);
        params.coarsest_modes = params.suggested_modes(geometry);
        params
    }

    /// Low modes that are worth their search on the coarsest level of a lattice: none where it is small.
    pub(crate) fn suggested_modes(&self, geometry: &Geometry) -> usize {
        let modes = gathering::coarsest_unknowns(geometry, self) as usize / 128;
        match self.coarsest {
            Coarsest::Direct => 0,
            _ if modes < 16 => 0,
            _ => modes.min(96),
        }
    }

    /// The largest aggregate that divides these extents, of `most` sites in a direction.
    pub(crate) fn suggested_block(extents: [usize; 4], most: usize) -> [usize; 4] {
        extents.map(|l| (1..=most).rev().find(|b| l.is_multiple_of(*b)).unwrap_or(1))
    }
}
