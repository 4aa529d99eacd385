//! What all fields share: precision, subset, extents.

use super::context::Context;
use super::table::interface;
use crate::bail;
use crate::error::Result;
use crate::fields::{Geometry, Precision, Subset};
use std::sync::Arc;

interface! {
    "Fields: what they share"
    constants {
        /// Storage precision; the number is the bytes of a real. Arithmetic is in double for
        /// double fields, in single otherwise; sums are in double.
        plaq_precision: Precision {
            PLAQ_PRECISION_DOUBLE = 8 => Precision::F64,
            PLAQ_PRECISION_SINGLE = 4 => Precision::F32,
            /// 16-bit fixed point, for spinors with one norm per site.
            PLAQ_PRECISION_HALF = 2 => Precision::F16,
            /// 8-bit fixed point: of multigrid's coarse links alone, `link_precision` of plaq_multigrid_params.
            PLAQ_PRECISION_QUARTER = 1,
        }
        /// Which sites a field has: parity is (x + y + z + t) mod 2.
        plaq_subset: Subset {
            PLAQ_SUBSET_FULL = 0 => Subset::Full,
            PLAQ_SUBSET_EVEN = 1 => Subset::Even,
            PLAQ_SUBSET_ODD = 2 => Subset::Odd,
        }
    }
}

/// The lattice of which every rank has a part of `params.extents`.
pub(crate) fn geometry(extents: [i32; 4], context: &Context) -> Result<Arc<Geometry>> {
    if extents.iter().any(|&l| l < 0) {
        bail!(BadExtents, "params.extents: expected even numbers from 2, found {extents:?}");
    }
    let grid = context.comm().grid();
    let global = std::array::from_fn(|mu| extents[mu] as usize * grid[mu]);
    Geometry::decomposed(global, context.device(), context.comm())
}

pub(crate) fn to_c_extents(geometry: &Geometry) -> [i32; 4] {
    geometry.extents().map(|l| l as i32)
}
