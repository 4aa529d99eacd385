//! Products of the colour vectors in quark fields, summed over time slices with plane waves.

use num_complex::Complex64;

use super::vectors::{take, wave};
use crate::error::Result;
use crate::fields::time_slices::dots;
use crate::fields::{Components, VectorField};

/// The colour vectors of a field. A field of colour vectors is returned as it is; of spinors, spin s of column k
/// becomes vector 4 k + s.
///
/// # Errors
/// `FieldMismatch`: other components; `OutOfMemory`.
pub fn split(field: VectorField) -> Result<VectorField> {
    match field.components() == Components::COLOUR {
        true => Ok(field),
        false => take(&field),
    }
}

/// x_i^dagger y_j exp(i p r) of colour vectors, p_i = 2 pi n_i / L_i, summed over the sites r of every time slice:
/// times slowest, then i, then j.
///
/// # Errors
/// `FieldMismatch`: no colour vectors on one lattice in one precision; `OutOfMemory`.
pub fn wave_products(x: &VectorField, y: &VectorField, n: [i32; 3]) -> Result<Vec<Complex64>> {
    match n {
        [0, 0, 0] => dots(x, y),
        n => dots(x, &wave(y, n)?),
    }
}
