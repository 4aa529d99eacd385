//! Vectors of multigrid levels: two chiralities of components on the sites of a [`CoarseGrid`], in memory
//! `[site][component][right-hand side]`, so that right-hand sides share a matrix and a line of memory.

mod dense;
mod gather;
mod grid;
mod vector;

pub(crate) use dense::{DenseMatrix, Overlaps, Whole};
pub use gather::Gather;
pub use grid::CoarseGrid;
pub(crate) use grid::Coarsening;
pub use vector::CoarseField;
pub(crate) use vector::{spinor_work, Part};
