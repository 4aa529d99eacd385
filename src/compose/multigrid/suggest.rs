//! Default values for levels, aggregates and the number of low modes of the coarsest level, chosen
//! for a lattice.

use super::gathering;
use super::params::{Coarsest, MultigridParams, Smoother, MAX_COARSENINGS};
use crate::backend::Device;
use crate::fields::{Geometry, Precision};

impl MultigridParams {
    /// The default parameters for a lattice.
    pub fn for_lattice(geometry: &Geometry) -> Self {
        Self::default().on_lattice(geometry)
    }

    /// These parameters with all automatic values chosen for the lattice and the device. On a GPU
    /// memory traffic limits the smoother, on a CPU arithmetic does.
    pub(super) fn on(&self, geometry: &Geometry, device: &Device) -> Self {
        let short = !device.is_cpu()
            && self.smoother == Smoother::CaGcr
            && self.coarse_precision == Precision::F32;
        let own = if short { Precision::F16 } else { Precision::F32 };
        let smoother_precision = self.smoother_precision.or(Some(own));
        let mut params = MultigridParams { smoother_precision, ..self.on_lattice(geometry) };
        params.gather = Some(gathering::chosen(&params, geometry, device));
        params
    }

    /// These parameters with levels, aggregates and low modes filled in where none were chosen.
    /// Aggregates of the finest level have about 4^4 sites and divide a rank's part, those of
    /// others about 2^4 sites and divide the level. There are up to three levels, fewer if the
    /// coarsest would have only a few sites in all, more if blocks were chosen for them.
    pub(super) fn on_lattice(&self, geometry: &Geometry) -> Self {
        let mut params = self.clone();
        let (mut extents, mut global) = (geometry.extents(), geometry.global_extents());
        let chosen =
            self.level.iter().rposition(|level| level.block != [0; 4]).map_or(0, |l| l + 1);
        let steps = self.levels.map(|levels| levels.saturating_sub(1).min(MAX_COARSENINGS));
        let mut l = 0;
        while l < steps.unwrap_or(chosen.max(2)) {
            let suggested = suggested_block(extents, if l == 0 { 4 } else { 2 });
            let mut block = self.level[l].block;
            block.iter_mut().zip(suggested).filter(|(b, _)| **b == 0).for_each(|(b, own)| *b = own);
            let size = block.iter().fold(1usize, |size, b| size.saturating_mul(*b));
            let volume: usize = global.iter().product();
            let enough = size > 1 && (l == 0 || volume / size >= 16);
            if steps.is_none() && l >= chosen && !enough {
                break;
            }
            params.level[l].block = block;
            (0..4).for_each(|mu| global[mu] /= block[mu]);
            (0..4).for_each(|mu| extents[mu] /= block[mu]);
            if self.gathers() {
                // If levels are gathered, aggregates have to divide the whole level only, not a rank's part of it.
                extents = global;
            }
            l += 1;
        }
        params.levels = Some(l + 1);
        params.coarsest_modes =
            Some(self.coarsest_modes.unwrap_or_else(|| params.suggested_modes(geometry)));
        params
    }

    /// Number of low modes that are worth their search on the coarsest level of a lattice; none where it is small.
    fn suggested_modes(&self, geometry: &Geometry) -> usize {
        let modes = gathering::coarsest_unknowns(geometry, self) as usize / 128;
        match self.coarsest {
            Coarsest::Direct => 0,
            _ if modes < 16 => 0,
            _ => modes.min(96),
        }
    }
}

/// The largest aggregate, of at most `max` sites in a direction, that divides these extents.
fn suggested_block(extents: [usize; 4], max: usize) -> [usize; 4] {
    extents.map(|l| (1..=max).rev().find(|b| l.is_multiple_of(*b)).unwrap_or(1))
}
