//! Files of propagators.

use std::ffi::c_char;
use std::path::Path;
use std::sync::Arc;

use super::args::{optional_text, Handle, OptionalHandle, Out, Params};
use super::context::{plaq_context, Context};
use super::file::{bits_of, wrong_checksum_row};
use super::file_name::FileName;
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::error::Result;
use crate::fields::Precision;
use crate::io::PropagatorKind;
use crate::ops::propagator_file::{load_propagator, save_propagator, LoadOptions, SaveOptions};
use crate::params::{Host, InC as _};
use crate::refuse;

crate::params::parameters! {
    /// Contents of the file of a propagator.
    pub struct SpinorWriteParams: plaq_spinor_write_params {
        /// Kind of the file; 0: with sources PLAQ_PROPAGATOR_SCALAR_SOURCE if they have that form, else
        /// PLAQ_PROPAGATOR_PAIRS; without sources PLAQ_PROPAGATOR_MATRIX.
        kind: Option<PropagatorKind> = None;
        /// Precision of the numbers, PLAQ_PRECISION_DOUBLE or PLAQ_PRECISION_SINGLE; 0: double for fields in
        /// double, else single.
        precision: Option<Precision> = None;
        /// A text for human readers, stored in every record: NULL or NUL-terminated UTF-8.
        info: Host<*const c_char> = Host(std::ptr::null());
    }
}

crate::params::parameters! {
    /// Parameters of reading a propagator.
    pub composed struct SpinorReadParams: plaq_spinor_read_params {
        /// Extents that the whole lattice of the file must have; all 0: any.
        extents: [i32; 4] = [0; 4];
        /// Precision of the field; 0: that of the file.
        precision: Option<Precision> = None;
        with wrong_checksum_row;
    }
}

interface! {
    "Propagators in files"
    choices {
        plaq_propagator_kind = PropagatorKind;
    }
    tables {
        plaq_spinor_write_params, plaq_spinor_write_params_init;
        plaq_spinor_read_params, plaq_spinor_read_params_init;
    }
    functions {
        /// Writes a propagator, every rank its part; the file appears complete or not at all. `sources`: the sources
        /// for which it was solved, as many columns, or the zero handle. The records contain what plaq_spinor_origin
        /// knows of the propagator; unknown coordinates of the source are determined from `sources`. Errors:
        /// FILE_WRITE, INVALID_ARGUMENT, FIELD_MISMATCH.
        plaq_spinor_write(propagator: Handle<plaq_spinor>, sources: OptionalHandle<plaq_spinor>, file: FileName, params: Params<plaq_spinor_write_params>) = write_file;
        /// Makes a field from a file of any of these kinds, written on any number of ranks: twelve columns 3 spin +
        /// colour if the file says which they are, else in its order. Checksums are compared. plaq_spinor_origin then
        /// gives the source and operator as described in the records (also those of Chroma) or determined from
        /// sources in the file. Errors: BAD_PARAMETER, FILE_OPEN, FILE_FORMAT, FILE_EXTENTS, FILE_TRUNCATED,
        /// FILE_CHECKSUM, NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY.
        plaq_spinor_read(context: Handle<plaq_context>, file: FileName, params: Params<plaq_spinor_read_params>, propagator: Out<plaq_spinor>) = read_file;
    }
}

fn write_file(
    propagator: &Arc<Spinor>,
    sources: Option<&Arc<Spinor>>,
    path: &Path,
    p: &plaq_spinor_write_params,
) -> Result<()> {
    if let Some(sources) = sources {
        propagator.context().check_same(sources.context(), "sources")?;
    }
    let p = SpinorWriteParams::from_c(p, "params")?;
    let (kind, precision_bits) = (p.kind, bits_of(p.precision)?);
    let info = optional_text(p.info.0, "params.info")?.unwrap_or_default();
    let origin = propagator.origin();
    let options = SaveOptions { kind, precision_bits, info, origin, date: None };
    let field = propagator.read("propagator")?;
    let from = sources.map(|sources| sources.read("sources")).transpose()?;
    save_propagator(path, &field, from.as_deref(), &options)
}

fn read_file(
    context: &Arc<Context>,
    path: &Path,
    p: &plaq_spinor_read_params,
    propagator: &mut Out<plaq_spinor>,
) -> Result<()> {
    let p = SpinorReadParams::from_c(p, "params")?;
    if p.extents.iter().any(|&l| l < 0) {
        refuse!(BadExtents, "params.extents", expected("sizes or zeros"), found("{:?}", p.extents));
    }
    let extents = (p.extents != [0; 4]).then(|| p.extents.map(|l| l as usize));
    let options = LoadOptions { precision: p.precision, extents, wrong_checksum: p.wrong_checksum };
    let (device, comm) = (context.device(), context.comm());
    let (field, origin) = load_propagator(device, comm, path, &options)?;
    propagator.set(context.adopt(Spinor::with_origin(context, field, origin))?);
    Ok(())
}
