//! Properties that all fields have: precision, subset, extents.

use super::context::Context;
use super::table::interface;
use crate::error::Result;
use crate::fields::{Geometry, Precision, Subset};
use crate::operators::LinkPrecision;
use crate::refuse;
use std::sync::Arc;

interface! {
    "Fields: what they share"
    choices {
        plaq_subset = Subset;
        plaq_precision = Precision, in LinkPrecision;
    }
}

/// The lattice of which every rank holds a part with these extents.
pub(crate) fn geometry(extents: [i32; 4], context: &Context) -> Result<Arc<Geometry>> {
    if extents.iter().any(|&l| l < 0) {
        refuse!(
            BadExtents,
            "params.extents",
            expected("even numbers from 2"),
            found("{extents:?}")
        );
    }
    let grid = context.comm().grid();
    let global = std::array::from_fn(|mu| extents[mu] as usize * grid[mu]);
    Geometry::decomposed(global, context.device(), context.comm())
}

pub(crate) fn to_c_extents(geometry: &Geometry) -> [i32; 4] {
    geometry.extents().map(|l| l as i32)
}
