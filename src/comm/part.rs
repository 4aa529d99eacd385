//! A Comm of a part of the ranks, with its own process grid.

use std::sync::{Arc, Mutex, PoisonError};

use super::grid::{coordinates, Grid};
use super::{Comm, RankMap, Transport};
use crate::bail;
use crate::error::Result;
use crate::refuse;

type Found = ([usize; 4], Option<Arc<Comm>>);

/// The coarser process grids that were made from a Comm, each with the Comm of its ranks (None on other ranks).
#[derive(Debug, Default)]
pub(super) struct Coarser(Mutex<Vec<Found>>);

impl Comm {
    /// Divides the ranks by colour: the ranks of each colour become a Comm with the process grid `grid`, x fastest,
    /// ordered by key and then by rank. `None` on ranks without a colour. All ranks call this.
    ///
    /// Sums, messages and agreements of a part involve its ranks only. Guarded calls are made by all ranks together,
    /// and a failure of any rank also ends waits within a part. Therefore a part is used only inside of guarded calls,
    /// or for operations that do not fail.
    ///
    /// # Errors
    /// On all ranks: `ProcessGrid`: ranks of one colour gave different grids, or the number of places in the grid is
    /// not the number of these ranks. `CommFailed`, `MpiThread`.
    pub fn divide(
        &self,
        colour: Option<u32>,
        key: u32,
        grid: [usize; 4],
    ) -> Result<Option<Arc<Comm>>> {
        if self.size() > 1 && self.is_silent() {
            bail!(Unsupported, "ranks are divided together");
        }
        // A number above all colours stands for no colour.
        let mut mine = vec![colour.map_or(u64::MAX, u64::from), u64::from(key)];
        mine.extend(grid.map(|n| n as u64));
        let words = self.all_gather(bytemuck::cast_slice(&mine))?;
        let words: Vec<u64> = words
            .chunks_exact(8)
            .map(|w| u64::from_ne_bytes(w.try_into().expect("8 bytes")))
            .collect();
        let of = |rank: usize| &words[rank * mine.len()..][..mine.len()];
        // Every rank checks the grids of all colours, so that an error is returned on all ranks.
        let mut colours: Vec<u64> = (0..self.size()).map(|rank| of(rank)[0]).collect();
        colours.sort_unstable();
        colours.dedup();
        for &colour in colours.iter().filter(|c| **c != u64::MAX) {
            let ranks: Vec<usize> = (0..self.size()).filter(|&r| of(r)[0] == colour).collect();
            let grids = of(ranks[0])[2..].to_vec();
            let product = grids.iter().try_fold(1u64, |n, &e| n.checked_mul(e));
            if product != Some(ranks.len() as u64) {
                refuse!(
                    ProcessGrid,
                    "process grid of colour {colour}",
                    expected("four numbers with product {}", ranks.len()),
                    found("{grids:?}")
                );
            }
            if let Some(other) = ranks.iter().find(|&&r| of(r)[2..] != grids) {
                bail!(
                    ProcessGrid,
                    "ranks {} and {other} of colour {colour} gave different process grids",
                    ranks[0]
                );
            }
        }
        // MPI takes colours and keys as signed 32-bit integers: their positions in sorted order are passed.
        let number = |all: &[u64], one: u64| all.iter().position(|v| *v == one).unwrap_or(0) as i32;
        let mut keys: Vec<u64> = (0..self.size()).map(|rank| of(rank)[1]).collect();
        keys.sort_unstable();
        let own = of(self.rank())[0];
        let mut members: Vec<usize> = (0..self.size()).filter(|&r| of(r)[0] == own).collect();
        members.sort_by_key(|&r| (of(r)[1], r));
        let transport = match &self.transport {
            None => None,
            Some(transport) => {
                let colour = colour.map(|_| number(&colours, own));
                let part = transport.part(colour, number(&keys, u64::from(key)), &members)?;
                part.filter(|_| members.len() > 1)
            }
        };
        if colour.is_none() {
            return Ok(None);
        }
        let rank = members.iter().position(|&r| r == self.rank).unwrap_or(0);
        let grid = Grid::new(grid.map(|n| n as i32), &RankMap::Default, members.len())?;
        Ok(Some(Arc::new(self.part(rank, grid, &members, transport))))
    }

    /// The Comm with the smaller process grid `grid`, which divides the present one in each direction. It consists of
    /// the first rank of every block of ranks; on all other ranks the result is `None`. It is made once and kept. All
    /// ranks call this; in a dry run one rank calls it by itself and gets a Comm that exchanges nothing.
    ///
    /// # Errors
    /// `ProcessGrid`: `grid` does not divide the present process grid; errors of [`Comm::divide`].
    pub fn coarser(&self, grid: [usize; 4]) -> Result<Option<Arc<Comm>>> {
        let all = self.grid();
        if (0..4).any(|mu| grid[mu] == 0 || !all[mu].is_multiple_of(grid[mu])) {
            bail!(ProcessGrid, "process grid {grid:?} on fewer ranks: it does not divide {all:?}");
        }
        let found = |list: &[Found]| list.iter().find(|f| f.0 == grid).map(|f| f.1.clone());
        let lock = || self.coarser.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = found(&lock()) {
            return Ok(known);
        }
        let factor: [usize; 4] = std::array::from_fn(|mu| all[mu] / grid[mu]);
        let own = self.coords();
        let first = (0..4).all(|mu| own[mu].is_multiple_of(factor[mu]));
        let at: [usize; 4] = std::array::from_fn(|mu| own[mu] / factor[mu]);
        let place = (0..grid.iter().product::<usize>()).find(|&p| coordinates(grid, p) == at);
        let place = place.unwrap_or(0);
        let made = match &self.origin {
            None => self.divide(first.then_some(0), place as u32, grid)?,
            // In a dry run the coarser Comm of the communicating ranks is taken if it exists, else it is made without
            // them.
            Some(origin) => {
                let all = &origin.ranks.coarser.0;
                let known = found(&all.lock().unwrap_or_else(PoisonError::into_inner));
                let alone = || first.then(|| self.coarser_alone(place, grid)).transpose();
                let part = known.map_or_else(alone, Ok)?;
                part.map(|part| part.silent(origin.number))
            }
        };
        lock().push((grid, made.clone()));
        Ok(made)
    }

    /// The Comm with the coarser process grid `grid`, made by this rank alone for a dry run, without a connection to
    /// other ranks; `place` is the position of this rank in the grid, x fastest.
    fn coarser_alone(&self, place: usize, grid: [usize; 4]) -> Result<Arc<Comm>> {
        let all = self.grid();
        let ranks: usize = grid.iter().product();
        let member = |place: usize| {
            let at = coordinates(grid, place);
            self.rank_at(std::array::from_fn(|mu| at[mu] * (all[mu] / grid[mu])))
        };
        let members: Vec<usize> = (0..ranks).map(member).collect();
        let grid = Grid::new(grid.map(|n| n as i32), &RankMap::Default, ranks)?;
        Ok(Arc::new(self.part(place, grid, &members, None)))
    }

    /// A Comm of the ranks `members`, numbered in this order, with the process grid `grid`, in which this rank has the
    /// number `rank`.
    fn part(
        &self,
        rank: usize,
        grid: Grid,
        members: &[usize],
        transport: Option<Arc<Transport>>,
    ) -> Comm {
        // Directions in which a rank exchanges halos with itself remain such.
        let split = std::array::from_fn(|mu| {
            grid.extents[mu] > 1 || (self.grid.extents[mu] == 1 && self.split[mu])
        });
        Comm::new(rank, grid, split, self.places.of(members), self.reproducible, transport)
    }

    /// The coarser process grids in use that this rank belongs to.
    pub(crate) fn parts(&self) -> Vec<Arc<Comm>> {
        let known = self.coarser.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().filter_map(|(_, part)| part.clone()).collect()
    }
}
