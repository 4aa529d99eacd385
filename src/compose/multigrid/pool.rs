//! Temporary coarse vectors that are kept between cycles.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};

use super::least_squares::LeastSquares;
use crate::error::Result;
use crate::fields::{CoarseField, CoarseGrid, Precision, Subset};

/// Temporary vectors of one level that are kept for later use.
#[derive(Debug)]
pub(super) struct Pool {
    grid: Arc<CoarseGrid>,
    precision: Precision,
    components: usize,
    idle: Mutex<Vec<CoarseField>>,
}

impl Pool {
    pub fn new(grid: &Arc<CoarseGrid>, precision: Precision, components: usize) -> Self {
        Pool { grid: grid.clone(), precision, components, idle: Mutex::default() }
    }

    /// Takes a vector from the pool; its contents are unspecified.
    pub fn take(&self, subset: Subset, nrhs: usize) -> Result<PooledVector<'_>> {
        let kept = {
            let mut idle = self.idle.lock().unwrap_or_else(|e| e.into_inner());
            // Keeps only fields with this number of right-hand sides: others would only take memory.
            idle.retain(|f| f.nrhs() == nrhs);
            idle.iter().position(|f| f.subset() == subset).map(|i| idle.swap_remove(i))
        };
        let field = match kept {
            Some(field) => field,
            None => CoarseField::new(&self.grid, self.precision, subset, self.components, nrhs)?,
        };
        Ok(PooledVector { field: Some(field), pool: self })
    }

    /// Frees the vectors that are not in use.
    pub fn clear(&self) {
        self.idle.lock().unwrap_or_else(|e| e.into_inner()).clear();
    }
}

/// A vector that goes back to its pool when dropped.
pub(super) struct PooledVector<'a> {
    field: Option<CoarseField>,
    pool: &'a Pool,
}

impl Deref for PooledVector<'_> {
    type Target = CoarseField;
    fn deref(&self) -> &CoarseField {
        self.field.as_ref().expect("there until it is dropped")
    }
}
impl DerefMut for PooledVector<'_> {
    fn deref_mut(&mut self) -> &mut CoarseField {
        self.field.as_mut().expect("there until it is dropped")
    }
}
impl Drop for PooledVector<'_> {
    fn drop(&mut self) {
        if let Some(field) = self.field.take() {
            self.pool.idle.lock().unwrap_or_else(|e| e.into_inner()).push(field);
        }
    }
}

/// Memory for least-squares problems of Krylov spaces, kept for the last number of right-hand
/// sides.
#[derive(Debug)]
pub(super) struct Squares {
    grid: Arc<CoarseGrid>,
    idle: Mutex<Vec<LeastSquares>>,
}

impl Squares {
    pub fn new(grid: &Arc<CoarseGrid>) -> Self {
        Squares { grid: grid.clone(), idle: Mutex::default() }
    }

    pub fn take(&self, nrhs: usize) -> Result<PooledLeastSquares<'_>> {
        let kept = {
            let mut idle = self.idle.lock().unwrap_or_else(|e| e.into_inner());
            idle.iter().position(|s| s.nrhs() == nrhs).map(|i| idle.swap_remove(i))
        };
        let made = match kept {
            Some(made) => made,
            None => LeastSquares::new(self.grid.fine(), self.grid.device(), nrhs)?,
        };
        Ok(PooledLeastSquares { made: Some(made), from: self })
    }

    /// Frees the memory that is not in use.
    pub fn clear(&self) {
        self.idle.lock().unwrap_or_else(|e| e.into_inner()).clear();
    }
}

/// Memory for least squares that is returned when this is dropped.
pub(super) struct PooledLeastSquares<'a> {
    made: Option<LeastSquares>,
    from: &'a Squares,
}

impl Deref for PooledLeastSquares<'_> {
    type Target = LeastSquares;
    fn deref(&self) -> &LeastSquares {
        self.made.as_ref().expect("there until it is dropped")
    }
}
impl Drop for PooledLeastSquares<'_> {
    fn drop(&mut self) {
        if let Some(made) = self.made.take() {
            self.from.idle.lock().unwrap_or_else(|e| e.into_inner()).push(made);
        }
    }
}
