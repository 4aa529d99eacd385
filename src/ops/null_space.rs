//! Files of multigrid's null vectors, from which a hierarchy can be built again.

use std::path::Path;

use super::eigenvectors::{save_vectors, VectorFile};
use crate::compose::multigrid::{Multigrid, MultigridParams};
use crate::error::Result;
use crate::fields::{Components, SpinorField, Subset};
use crate::operators::QuarkAction;
use crate::refuse;
use crate::solvers::Monitor;

/// The kind, as stored in a file, of null vectors.
const KIND: &str = "multigrid";

/// Writes the null vectors of the finest level, in the precision in which the hierarchy holds them; all levels can be
/// built from them again. All ranks call it. The file appears complete or not at all.
///
/// # Errors
/// Errors of [`save_vectors`]; `OutOfMemory`.
pub fn save_multigrid(path: &Path, multigrid: &Multigrid) -> Result<()> {
    let vectors = multigrid.vectors(multigrid.params().coarse_precision)?;
    save_vectors(path, KIND, vec![], &[&vectors])
}

/// Makes a hierarchy from the null vectors of a file for the links of this operator, on any decomposition into ranks
/// and with any aggregates. Vectors made for other links are accepted; how well they work is the report's
/// `reduction`.
///
/// # Errors
/// `FieldMismatch`: not as many vectors as the parameters name for the finest level; `OutOfMemory`, before
/// vectors are read; those of [`VectorFile`] and of [`Multigrid::watched`].
pub fn load_multigrid(
    path: &Path,
    op: &dyn QuarkAction,
    params: &MultigridParams,
    monitor: &mut Monitor,
) -> Result<Multigrid> {
    Multigrid::check_params(op, params)?;
    let (device, geometry) = (op.links().device(), op.links().geometry());
    let mut file = VectorFile::open(device, geometry, path, KIND, Components::SPINOR)?;
    let (n, found) = (params.level[0].vectors, file.header().count);
    if found != n {
        refuse!(
            FieldMismatch,
            format!("{}", path.display()),
            expected("the {n} null vectors of the parameters"),
            found("{found}")
        );
    }
    let read = SpinorField::bytes(geometry, params.coarse_precision, Subset::Full, n) as u64;
    let need = Multigrid::memory(op, params)?.saturating_add(read);
    device.require(need, "the multigrid hierarchy and the vectors of its file")?;
    let vectors = file.read(0..n, params.coarse_precision)?;
    Multigrid::watched(op, params, Some(&vectors), monitor)
}
