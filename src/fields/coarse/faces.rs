//! Messages between neighbouring ranks with the faces of vectors of multigrid levels.

use super::CoarseGrid;
use crate::backend::args::*;
use crate::backend::{kernels, Buffer, Ptr, Work};
use crate::error::Result;
use crate::fields::{halo, Precision};

/// A range of a vector's sites, `count` sites from site number `first` of the grid on, with the vector's shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub ptr: Ptr,
    pub first: usize,
    pub count: usize,
    pub components: usize,
    pub nrhs: usize,
}

impl Part {
    /// The same sites with each flavour counted as right-hand sides of its own, those of the second flavour after those
    /// of the first; component c of flavour f is component `flavours` c + f of the vector.
    pub fn by_flavour(self, flavours: usize) -> Part {
        Part { components: self.components / flavours, nrhs: self.nrhs * flavours, ..self }
    }
}

impl CoarseGrid {
    /// Sends the faces of a vector to the neighbouring ranks, then calls `work` with the faces that were received.
    pub(crate) fn with_halo<T>(
        &self,
        part: &Part,
        precision: Precision,
        work: impl FnOnce([Ptr; 8]) -> Result<T>,
    ) -> Result<T> {
        let split = |mu: usize| self.face(mu, false).is_some();
        let mask: i32 = (0..4).filter(|&mu| split(mu)).map(|mu| 1 << mu).sum();
        if mask == 0 {
            return work([Ptr::NULL; 8]);
        }
        let sites = |mu: usize| self.volume() / self.extents()[mu];
        let per_site = part.components * part.nrhs;
        let column = |mu: usize| sites(mu) * part.components * 2 * precision.bytes();
        let faces = halo::Faces::new(mask, part.nrhs, column);
        let halo = self.fine().halo_exchange(self.device(), &faces)?;
        let mut halo = halo::lock(&halo);
        halo.begin(self.fine().comm(), part.nrhs)?;
        let mut args = CoarsePackArgs {
            inp: part.ptr,
            components: part.components as i32,
            nrhs: part.nrhs as i32,
            first: part.first as i32,
            count: part.count as i32,
            ..Default::default()
        };
        for k in (0..8).filter(|k| split(k / 2)) {
            let (mu, upper) = (k / 2, k % 2 == 1);
            args.out[k] = halo.sent(mu, upper);
            args.sites[k] = self.face(mu, upper).map_or(Ptr::NULL, Buffer::ptr);
            args.places[k] = sites(mu) as i32;
        }
        let max = args.places.iter().max().map_or(0, |&max| max as usize);
        let elements = Work { batches: 8, ..Work::rows(self.device(), max, per_site) };
        self.device().launch(kernels::CoarsePack::of(precision)?, &args, elements)?;
        halo.exchange(self.comm(), || Ok(()))?;
        let received = |k: usize| match split(k / 2) {
            true => halo.received(k / 2, k % 2 == 1),
            false => Ptr::NULL,
        };
        work(std::array::from_fn(received))
    }
}
