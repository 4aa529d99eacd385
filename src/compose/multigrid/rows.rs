//! Coarse vectors viewed as vector fields: rows of complex numbers, right-hand sides fastest, in the same memory.

use std::sync::Arc;

use crate::fields::{CoarseGrid, Components, Geometry, Precision, RhsOrder, Subset};
use crate::linop::Shape;

/// Shape, for `LinOp`, of coarse vectors with this number of components on a geometry of rows.
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
