//! Products of complex matrices in device memory.

use super::{Device, Ptr};
use crate::error::Result;

/// A batch of matrices of complex doubles in device memory, each column by column.
#[derive(Clone, Copy, Debug)]
pub struct Matrices {
    pub ptr: Ptr,
    /// Numbers from the begin of a column to that of the next one.
    pub column: usize,
    /// Numbers from a matrix of the batch to the next one.
    pub step: usize,
    pub form: Form,
}

/// The form in which a matrix is a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Plain,
    Transposed,
    Adjoint,
}

/// Products c = a b, or with `add` c = c + a b, for every matrix of a batch; c is plain.
#[derive(Clone, Copy, Debug)]
pub struct Products {
    pub a: Matrices,
    pub b: Matrices,
    pub c: Matrices,
    pub rows: usize,
    pub columns: usize,
    /// Number of products of two numbers that each number of c is the sum of.
    pub inner: usize,
    pub batch: usize,
    pub add: bool,
}

impl Device {
    /// True if this device has a library for products of matrices: cuBLAS on a GPU.
    pub(crate) fn multiplies(&self) -> bool {
        self.real().0.backend.multiplies()
    }

    /// Computes products of matrices one batch after the other, where the device has a library for it. Returns false if
    /// nothing has been computed.
    pub(crate) fn multiply(&self, all: &[Products]) -> Result<bool> {
        // SAFETY: callers describe matrices that are inside of their buffers.
        unsafe { self.0.backend.multiply(all) }
    }
}
