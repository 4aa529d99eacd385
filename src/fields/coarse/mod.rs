//! Vectors of multigrid levels: two chiralities of components on the sites of a [`CoarseGrid`], in memory
//! `[site][component][right-hand side]`, so that right-hand sides share a matrix and a line of memory.

mod dense;
mod faces;
mod gather;
mod grid;
mod vector;

pub(crate) use dense::{AllRanks, DenseMatrix, Overlaps};
pub(crate) use faces::Part;
pub use gather::Gather;
pub use grid::CoarseGrid;
pub(crate) use grid::Coarsening;
pub(crate) use vector::spinor_work;
pub use vector::CoarseField;
