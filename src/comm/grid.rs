//! The process grid and the placement of ranks in it, as the host program gives them.

use crate::error::Result;
use crate::refuse;

/// Placement of ranks in the process grid.
pub enum RankMap<'a> {
    /// Rank numbers increase with x fastest and t slowest.
    Default,
    /// The rank at each place of the grid, places in lexicographic order with x fastest.
    Table(&'a [i32]),
    /// A function that returns the rank at given coordinates.
    Function(&'a dyn Fn([i32; 4]) -> i32),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    pub extents: [usize; 4],
    /// The rank at each place of the grid, x fastest.
    pub ranks: Vec<usize>,
}

impl Grid {
    /// The grid of these extents; zeros in all directions put all ranks along t.
    pub fn new(extents: [i32; 4], map: &RankMap, size: usize) -> Result<Grid> {
        let extents = if extents == [0; 4] { [1, 1, 1, size as i32] } else { extents };
        let places = extents.iter().try_fold(1i64, |n, &e| n.checked_mul(e as i64));
        if extents.iter().any(|&e| e < 1) || places != Some(size as i64) {
            refuse!(
                ProcessGrid,
                "process grid",
                expected("four numbers from 1 with product {size} (the ranks of the communicator)"),
                found("{extents:?}")
            );
        }
        let rank = |place: usize| -> i64 {
            match map {
                RankMap::Default => place as i64,
                RankMap::Table(ranks) => ranks.get(place).map_or(-1, |&r| r as i64),
                RankMap::Function(f) => {
                    f(coordinates(extents.map(|e| e as usize), place).map(|c| c as i32)) as i64
                }
            }
        };
        let found: Vec<i64> = (0..size).map(rank).collect();
        let mut seen = vec![false; size];
        for (place, &r) in found.iter().enumerate() {
            let at = coordinates(extents.map(|e| e as usize), place);
            match usize::try_from(r).ok().filter(|r| *r < size) {
                None => {
                    refuse!(
                        ProcessGrid,
                        "rank map",
                        expected("0 to {}", size - 1),
                        found("{r} at {at:?}")
                    )
                }
                Some(r) if seen[r] => {
                    refuse!(
                        ProcessGrid,
                        "rank map",
                        expected("every rank once"),
                        found("{r} again at {at:?}")
                    )
                }
                Some(r) => seen[r] = true,
            }
        }
        Ok(Grid {
            extents: extents.map(|e| e as usize),
            ranks: found.iter().map(|&r| r as usize).collect(),
        })
    }

    /// Coordinates of a rank.
    pub fn coords(&self, rank: usize) -> [usize; 4] {
        coordinates(self.extents, self.ranks.iter().position(|r| *r == rank).unwrap_or(0))
    }

    pub fn rank(&self, at: [usize; 4]) -> usize {
        let e = self.extents;
        self.ranks[((at[3] * e[2] + at[2]) * e[1] + at[1]) * e[0] + at[0]]
    }

    /// The grid and the ranks in it as bytes; ranks compare them to check that all were given the same.
    pub fn bytes(&self) -> Vec<u8> {
        let all = self.extents.iter().chain(&self.ranks);
        all.flat_map(|n| (*n as u32).to_ne_bytes()).collect()
    }
}

/// Coordinates of a lexicographic index, x fastest.
pub(crate) fn coordinates(extents: [usize; 4], mut place: usize) -> [usize; 4] {
    extents.map(|e| {
        let c = place % e;
        place /= e;
        c
    })
}
