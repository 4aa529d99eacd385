//! Coarse vectors as vector fields: rows of numbers, right-hand sides fastest, in the same memory.

use std::sync::Arc;

use crate::fields::{CoarseGrid, Components, Geometry, Precision, RhsOrder, Subset};
use crate::linop::Shape;

/// Shape, as operators know it, of coarse vectors with so many components on these rows.
pub(super) fn shape_of(
    grid: &CoarseGrid,
    rows: &Arc<Geometry>,
    precision: Precision,
    components: usize,
) -> Shape {
    Shape {
        device: grid.device().clone(),
        geometry: rows.clone(),
        precision,
        subset: Subset::Even,
        components: Components::of(2, components / 2),
        order: RhsOrder::Fastest,
    }
}
