//! Gathers a multigrid level on fewer ranks. The process grid is divided by a factor in each direction, and the first
//! rank of each block of ranks receives the sites of the whole block; the other ranks then hold no part. Sites are
//! sent in their order in memory, and the host of the receiving rank reorders them.

use std::sync::Arc;

use super::grid::lex;
use super::{CoarseField, CoarseGrid};
use crate::backend::Buffer;
use crate::bail;
use crate::comm::{coordinates, Comm};
use crate::error::{host_array, Result};
use crate::fields::Subset;

/// Copies vectors of a multigrid level from all its ranks to the fewer ranks on which the level is solved, and back.
#[derive(Debug)]
pub struct Gather {
    outer: Arc<CoarseGrid>,
    inner: Option<Arc<CoarseGrid>>,
    /// The rank to which this rank sends its sites.
    taker: usize,
    /// On a receiving rank: the ranks that send to it, each with the positions of its sites.
    givers: Vec<(usize, Vec<usize>)>,
}

impl Gather {
    /// Prepares transfers from the ranks of `outer` to the coarser process grid `grid`. All ranks of `outer` call
    /// this and the functions that transfer vectors.
    ///
    /// # Errors
    /// `ProcessGrid`: `grid` does not divide the process grid of `outer`; `BadExtents`: more than 2^31 sites
    /// on a rank; `OutOfMemory`, `CommFailed`.
    pub fn new(outer: &Arc<CoarseGrid>, grid: [usize; 4]) -> Result<Self> {
        let comm = outer.comm();
        let part = comm.coarser(grid)?;
        let factor: [usize; 4] = std::array::from_fn(|mu| comm.grid()[mu] / grid[mu]);
        let own = comm.coords();
        let first: [usize; 4] = std::array::from_fn(|mu| own[mu] / factor[mu] * factor[mu]);
        let (mut inner, mut givers) = (None, vec![]);
        if let Some(part) = &part {
            let grid = outer.on(part)?;
            for number in 0..factor.iter().product() {
                let offset = coordinates(factor, number);
                let coords = std::array::from_fn(|mu| first[mu] + offset[mu]);
                let sites = outer.order_at(coords).into_iter().map(|i| {
                    let x = coordinates(outer.extents(), i as usize);
                    let at = |mu: usize| offset[mu] * outer.extents()[mu] + x[mu];
                    grid.site(lex(grid.extents(), std::array::from_fn(at)))
                });
                givers.push((comm.rank_at(coords), sites.collect()));
            }
            inner = Some(grid);
        }
        Ok(Gather { outer: outer.clone(), inner, taker: comm.rank_at(first), givers })
    }

    /// The level as it is distributed over all ranks.
    pub fn outer(&self) -> &Arc<CoarseGrid> {
        &self.outer
    }
    /// The level as it is distributed over the receiving ranks; `None` on other ranks.
    pub fn inner(&self) -> Option<&Arc<CoarseGrid>> {
        self.inner.as_ref()
    }
    fn comm(&self) -> &Comm {
        self.outer.comm()
    }

    /// Copies every right-hand side of `outer` to `inner`, which is `None` on ranks that hold no part.
    ///
    /// # Errors
    /// `FieldMismatch`: the vectors have other shapes or are not on all sites, or `inner` is missing or must be `None`
    /// on this rank; `CommFailed`.
    pub fn gather(&self, inner: Option<&mut CoarseField>, outer: &CoarseField) -> Result<()> {
        self.check(inner.as_deref(), outer)?;
        let taken = self.take(outer.memory(), outer.site_bytes())?;
        match (inner, taken) {
            (Some(inner), Some(taken)) => inner.memory_mut().upload(&taken),
            _ => Ok(()),
        }
    }

    /// Copies every right-hand side of `inner` to `outer`: the reverse of `gather`.
    ///
    /// # Errors
    /// Errors of `gather`.
    pub fn scatter(&self, outer: &mut CoarseField, inner: Option<&CoarseField>) -> Result<()> {
        self.check(inner, outer)?;
        let each = outer.site_bytes();
        let mut sends = vec![];
        if let Some(inner) = inner {
            let mut all = host_array(self.sites() * each, 0u8, "a gathered level")?;
            inner.memory().download_at(0, &mut all)?;
            for (rank, sites) in &self.givers {
                let mut piece = Vec::with_capacity(sites.len() * each);
                sites.iter().for_each(|&i| piece.extend_from_slice(&all[i * each..][..each]));
                sends.push((*rank, piece));
            }
        }
        let bytes = self.outer.volume() * each;
        let taken = self.comm().deliver(sends, &[(self.taker, bytes)])?;
        outer.memory_mut().upload(&taken[0])
    }

    /// Gathers a buffer with `each` bytes for every site, in the order of sites on the receiving ranks; `outer` is
    /// freed before the result is allocated. `None` on ranks that receive nothing.
    pub(crate) fn take_buffer(&self, outer: Buffer, each: usize) -> Result<Option<Buffer>> {
        let Some(taken) = self.take(&outer, each)? else { return Ok(None) };
        drop(outer);
        let mut buffer = self.outer.device().alloc(taken.len().max(16))?;
        buffer.upload(&taken)?;
        Ok(Some(buffer))
    }

    fn take(&self, outer: &Buffer, each: usize) -> Result<Option<Vec<u8>>> {
        let mut own = host_array(self.outer.volume() * each, 0u8, "a gathered level")?;
        outer.download_at(0, &mut own)?;
        let takes: Vec<(usize, usize)> =
            self.givers.iter().map(|(rank, sites)| (*rank, sites.len() * each)).collect();
        let taken = self.comm().deliver(vec![(self.taker, own)], &takes)?;
        if self.inner.is_none() {
            return Ok(None);
        }
        let mut all = host_array(self.sites() * each, 0u8, "a gathered level")?;
        for ((_, sites), piece) in self.givers.iter().zip(&taken) {
            for (&i, site) in sites.iter().zip(piece.chunks_exact(each)) {
                all[i * each..][..each].copy_from_slice(site);
            }
        }
        Ok(Some(all))
    }

    /// Number of sites that this rank has after gathering; 0 if it receives nothing.
    fn sites(&self) -> usize {
        self.inner.as_ref().map_or(0, |grid| grid.volume())
    }

    fn check(&self, inner: Option<&CoarseField>, outer: &CoarseField) -> Result<()> {
        let shape = |f: &CoarseField| (f.precision(), f.components(), f.nrhs());
        let fits = *outer.grid() == self.outer
            && outer.subset() == Subset::Full
            && inner.map(CoarseField::grid) == self.inner.as_ref()
            && inner.is_none_or(|f| f.subset() == Subset::Full && shape(f) == shape(outer));
        if !fits {
            bail!(
                FieldMismatch,
                "gathering: (precision, components, right-hand sides) {:?} on {:?}, to {}",
                shape(outer),
                outer.grid().extents(),
                inner.map_or("nothing".into(), |f| format!(
                    "{:?} on {:?}",
                    shape(f),
                    f.grid().extents()
                ))
            );
        }
        Ok(())
    }
}
