//! Messages between ranks with the faces of spinors and other vectors.

use super::halo::Faces;
use super::{Geometry, Precision};
use crate::backend::args::HaloView;
use crate::backend::Ptr;

/// Number of reals of a projected spinor: two spins x three colours x (re, im).
const PROJECTED_REALS: usize = 12;

impl Geometry {
    fn face_plane(&self, precision: Precision, reals: usize, mu: usize) -> [usize; 2] {
        let sites = self.padded(self.face_rows(mu) * self.lanes());
        [sites * reals * precision.bytes(), if precision.has_norm() { sites * 4 } else { 0 }]
    }

    /// Sizes of the messages for the projected spinors of all faces.
    pub(crate) fn spinor_faces(&self, precision: Precision, nrhs: usize) -> Faces {
        self.vector_faces(self.halo_mask(), precision, PROJECTED_REALS, nrhs)
    }

    /// Sizes of the messages with `reals` numbers for every site and right-hand side on the faces in those directions
    /// whose bits are set in `mask`.
    pub(crate) fn vector_faces(
        &self,
        mask: i32,
        precision: Precision,
        reals: usize,
        nrhs: usize,
    ) -> Faces {
        let plane = |mu: usize| self.face_plane(precision, reals, mu);
        Faces::new(self.halo_mask() & mask, nrhs, |mu| plane(mu).iter().sum())
    }

    /// The messages of projected spinors as an argument of kernels; `at(mu, upper)` is the address of each. A message
    /// holds the numbers of all right-hand sides, then (in 16-bit storage) their units.
    pub(crate) fn spinor_halo(
        &self,
        precision: Precision,
        nrhs: usize,
        at: impl Fn(usize, bool) -> Ptr,
    ) -> HaloView {
        self.vector_halo(self.halo_mask(), precision, PROJECTED_REALS, nrhs, at)
    }

    /// The messages of [`Geometry::vector_faces`] as an argument of kernels.
    pub(crate) fn vector_halo(
        &self,
        mask: i32,
        precision: Precision,
        reals: usize,
        nrhs: usize,
        at: impl Fn(usize, bool) -> Ptr,
    ) -> HaloView {
        let mut view = HaloView::default();
        for mu in (0..4).filter(|mu| self.halo_mask() & mask & 1 << mu != 0) {
            let [data, norm] = self.face_plane(precision, reals, mu);
            (view.plane_bytes[mu], view.norm_bytes[mu]) = (data as i64, norm as i64);
            for upper in [false, true] {
                let k = 2 * mu + upper as usize;
                view.data[k] = at(mu, upper);
                view.norm[k] = view.data[k].offset((nrhs * data) as u64);
            }
        }
        view
    }
}
