//! The choice of the memory, of device or host, for the vectors of an eigensolver.

use super::eigen_params::{EigenParams, VectorMemory};
use crate::error::Result;
use crate::linop::LinOp;

/// The numbers of vectors that a search keeps on the device and on the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SearchMemory {
    /// Largest number of locked vectors and vectors of the basis together.
    pub max_vectors: usize,
    /// Number of vectors on the device, out of the `max_vectors` vectors and those of the next block.
    pub on_device: usize,
    /// True if the vectors that were found pass through host memory when they are returned, so that the device never
    /// holds them twice.
    pub by_host: bool,
    /// Number of all vectors, on the device and on the host.
    all: usize,
}

/// A function that runs a search with an operator, perhaps a cheaper copy of it, and this choice of memory.
pub(super) type Search<'a> = &'a dyn Fn(&dyn LinOp, Option<&dyn LinOp>, SearchMemory) -> Result<()>;

impl SearchMemory {
    fn of(
        params: &EigenParams,
        op: &dyn LinOp,
        max_vectors: usize,
        on_device: Option<usize>,
    ) -> SearchMemory {
        let whole = params.is_whole(op.shape().numbers() as usize);
        let all = max_vectors + if whole { 0 } else { 3 * params.block.max(1) };
        SearchMemory {
            max_vectors,
            on_device: on_device.map_or(all, |n| n.min(all)),
            by_host: true,
            all,
        }
    }

    /// The choice with all vectors on the device: with the requested number of vectors and memory for a copy of the
    /// results or, with `least`, with as few vectors as possible and without the copy.
    pub fn with(op: &dyn LinOp, params: &EigenParams, least: bool) -> SearchMemory {
        let dimension = op.shape().numbers() as usize;
        let max_vectors = match params.is_whole(dimension) {
            true => dimension,
            false if least => params.min_vectors_in(dimension),
            false => params.max_vectors_in(dimension),
        };
        SearchMemory { by_host: least, ..SearchMemory::of(params, op, max_vectors, None) }
    }

    pub fn on_host(&self) -> usize {
        self.all - self.on_device
    }

    /// Bytes of device memory of a search with this choice, from a rehearsal.
    ///
    /// # Errors
    /// Errors of the search that do not depend on the numbers in links and vectors.
    pub fn memory(self, op: &dyn LinOp, cheap: Option<&dyn LinOp>, search: Search) -> Result<u64> {
        let real = op.shape();
        let device = real.device.stand_in();
        let (_, found) = real.geometry.footprint(
            (&real.device, &device),
            None,
            || {
                let cheap = cheap.map(|op| op.like_on_device(&device)).transpose()?;
                Ok((op.like_on_device(&device)?, cheap))
            },
            |(op, cheap)| search(&*op, cheap.as_deref(), self),
        )?;
        Ok(found)
    }

    /// The choice that `params` asks for or, if automatic, that memory allows; the same on all ranks.
    ///
    /// # Errors
    /// `OutOfMemory`: a rank has too little.
    pub fn choose(
        op: &dyn LinOp,
        cheap: Option<&dyn LinOp>,
        params: &EigenParams,
        search: Search,
    ) -> Result<SearchMemory> {
        let shape = op.shape();
        let comm = shape.geometry.comm();
        let mine = comm.agree(Self::fitting(op, cheap, params, search))?;
        let mut fewest = [
            -(mine.max_vectors as f64),
            -(mine.on_device as f64),
            f64::from(u8::from(mine.by_host)),
        ];
        comm.max(&mut fewest)?;
        let ([max_vectors, on_device], by_host) =
            ([0, 1].map(|k| -fewest[k] as usize), fewest[2] > 0.0);
        let chosen =
            SearchMemory { by_host, ..SearchMemory::of(params, op, max_vectors, Some(on_device)) };
        let all = SearchMemory::with(op, params, false);
        if (chosen.max_vectors, chosen.on_device) != (all.max_vectors, all.on_device) {
            log::info!(
                "{} eigenvectors: room for {max_vectors} vectors in place of {}, {} of them on {}, {} on the host",
                params.count,
                all.max_vectors,
                chosen.on_device,
                shape.device.name(),
                chosen.on_host()
            );
        }
        Ok(chosen)
    }

    /// The memory of the search that fits on this rank: number of vectors, and how many of them are on the device.
    fn fitting(
        op: &dyn LinOp,
        cheap: Option<&dyn LinOp>,
        params: &EigenParams,
        search: Search,
    ) -> Result<SearchMemory> {
        let device = op.shape().device;
        let (vector, free) = (op.shape().bytes(1), device.memory()?.0);
        let (all, least) =
            (SearchMemory::with(op, params, false), SearchMemory::with(op, params, true));
        let of = |max_vectors, on_device| SearchMemory::of(params, op, max_vectors, on_device);
        if params.vectors != VectorMemory::Host {
            if all.memory(op, cheap, search)? <= free {
                return Ok(all);
            }
            let all = of(all.max_vectors, None);
            let need = all.memory(op, cheap, search)?;
            if need <= free {
                return Ok(all);
            }
            // A part of the free memory is left for other fields.
            let fewer = (need - (free - free / 32)).div_ceil(vector) as usize;
            if least.max_vectors + fewer <= all.max_vectors {
                return Ok(of(all.max_vectors - fewer, None));
            }
            let need = least.memory(op, cheap, search)?;
            if need <= free {
                return Ok(least);
            }
            if params.vectors == VectorMemory::Device {
                device.require(need, "the vectors of this eigensolver")?;
            }
        }
        let max_vectors =
            if params.vectors == VectorMemory::Host { all.max_vectors } else { least.max_vectors };
        let need = of(max_vectors, Some(1)).memory(op, cheap, search)?;
        device.require(need, "this eigensolver with its vectors on the host")?;
        let on_device = match params.vectors {
            VectorMemory::Host => 1,
            // Vectors stay on the device after the search, and operators that are applied to them need memory.
            _ => 1 + (free.saturating_sub(free / 4 + need) / vector) as usize,
        };
        Ok(of(max_vectors, Some(on_device)))
    }
}
