//! The ranks on which each level of multigrid is stored: coarse levels may be gathered on fewer
//! ranks.

use super::MultigridParams;
use crate::bail;
use crate::error::{Error, Result, Status};
use crate::fields::Geometry;

/// The ranks on which a level is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelRanks {
    /// Extents of the whole level.
    pub global: [usize; 4],
    /// Number of ranks in each direction, before and after the level is gathered.
    pub outer: [usize; 4],
    pub grid: [usize; 4],
    /// Whether this rank has a part of the level before it is gathered.
    pub outer_part: bool,
    /// Whether this rank has a part of the level after it is gathered.
    pub part: bool,
}

impl LevelRanks {
    pub fn ranks(&self) -> usize {
        self.grid.iter().product()
    }
    pub fn gathered(&self) -> bool {
        self.outer != self.grid
    }
}

/// The ranks of all levels, from the finest on. A coarse level is gathered on fewer ranks, by the
/// smallest divisor of its process grid in each direction for which a rank's part of it is
/// divisible by the aggregates of the step to the next level and has at least as many sites as
/// [`MultigridParams`]`::gather` asks for; where there is none, on one rank in this direction.
///
/// # Errors
/// `BadExtents`: aggregates that do not divide the finest level's part of a rank, or a whole coarse level.
pub(super) fn places(params: &MultigridParams, geometry: &Geometry) -> Result<Vec<LevelRanks>> {
    let comm = geometry.comm();
    let (mut global, mut grid) = (geometry.global_extents(), comm.grid());
    let finest = LevelRanks { global, outer: grid, grid, outer_part: true, part: true };
    let mut all = vec![finest];
    for (l, level) in params.steps().iter().enumerate() {
        let part: [usize; 4] = std::array::from_fn(|mu| global[mu] / grid[mu]);
        let divides = |mu: usize| level.block[mu] > 0 && part[mu].is_multiple_of(level.block[mu]);
        if !(0..4).all(divides) {
            bail!(
                BadExtents,
                "level {l}: aggregates of {:?} sites do not divide the {part:?} sites of a rank",
                level.block
            );
        }
        (0..4).for_each(|mu| global[mu] /= level.block[mu]);
        let outer = grid;
        let outer_part = all[l].part;
        if let Some(least) = params.gather {
            let next = params.steps().get(l + 1).map_or([1; 4], |next| next.block);
            for mu in 0..4 {
                let fits = |ranks: &usize| {
                    let part = global[mu] / ranks;
                    outer[mu].is_multiple_of(*ranks)
                        && (*ranks == 1 || part >= least)
                        && next[mu] > 0
                        && part.is_multiple_of(next[mu])
                };
                let Some(ranks) = (1..=outer[mu]).rev().find(fits) else {
                    bail!(
                        BadExtents,
                        "level {}: aggregates of {next:?} sites do not divide {global:?}, gathered or not",
                        l + 1
                    );
                };
                grid[mu] = ranks;
            }
        }
        let coords = comm.coords();
        let part = (0..4).all(|mu| coords[mu].is_multiple_of(comm.grid()[mu] / grid[mu]));
        all.push(LevelRanks { global, outer, grid, outer_part, part });
    }
    Ok(all)
}

/// Whether every rank that works on the level meets this error itself: errors found by sums over
/// these ranks, in vectors and matrices. Errors of memory and messages happen on single ranks, of
/// which the others have to be told.
pub(super) fn found_together(error: &Error) -> bool {
    use Status::{BadExtents, BadParameter, NotFinite, Unsupported};
    matches!(error.status, BadExtents | BadParameter | NotFinite | Unsupported)
}

/// Makes the process grids of all levels. All ranks call this.
pub(super) fn divide(geometry: &Geometry, places: &[LevelRanks]) -> Result<()> {
    let mut comm = geometry.comm().clone();
    for place in places.iter().filter(|place| place.gathered()) {
        match comm.coarser(place.grid)? {
            Some(part) => comm = part,
            None => break,
        }
    }
    Ok(())
}

/// Number of unknowns of the coarsest level's system on all ranks, for one flavour.
pub(super) fn coarsest_unknowns(geometry: &Geometry, params: &MultigridParams) -> u64 {
    let places = places(params, geometry).unwrap_or_default();
    let (Some(place), Some(level)) = (places.last(), params.steps().last()) else { return 0 };
    let sites: usize = place.global.iter().product();
    let parity = place.global.iter().all(|l| *l == 1 || l.is_multiple_of(2));
    let solved = if parity { sites.div_ceil(2) } else { sites };
    (solved * 2 * level.vectors) as u64
}
