//! Files of propagators.

use std::ffi::c_char;
use std::path::Path;
use std::sync::Arc;

use super::args::{choose_any, optional_text, Handle, Maybe, Out, Params};
use super::context::{plaq_context, Context};
use super::field::plaq_precision;
use super::file::bits_of;
use super::file_name::FileName;
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::error::Result;
use crate::io::PropagatorKind;
use crate::ops::propagator_file::{load_propagator, save_propagator, LoadOptions, SaveOptions};
use crate::params::Number;
use crate::refuse;

interface! {
    "Propagators in files"
    choices {
        plaq_propagator_kind = PropagatorKind;
    }
    params {
        /// Kind and contents of a propagator's file.
        plaq_spinor_write_params, plaq_spinor_write_params_init {
            /// Kind of the file; 0: with sources PLAQ_PROPAGATOR_SCALAR_SOURCE if they have that form, else
            /// PLAQ_PROPAGATOR_PAIRS; without sources PLAQ_PROPAGATOR_MATRIX.
            kind: plaq_propagator_kind = Number::new(0),
            /// Precision of the numbers, PLAQ_PRECISION_DOUBLE or PLAQ_PRECISION_SINGLE; 0: double for fields in
            /// double, else single.
            precision: plaq_precision = Number::new(0),
            /// A text for human readers, stored in every record: NULL or NUL-terminated UTF-8.
            info: *const c_char = std::ptr::null(),
        }
        /// Parameters of reading a propagator.
        plaq_spinor_read_params, plaq_spinor_read_params_init {
            /// Extents that the whole lattice of the file must have; all 0: any.
            extents: [i32; 4] = [0; 4],
            /// Precision of the field; 0: that of the file.
            precision: plaq_precision = Number::new(0),
            /// 1: columns are read even if a checksum of the file is wrong. For files that were changed after they
            /// were written and are known to be good.
            wrong_checksum: i32 = 0,
        }
    }
    functions {
        /// Writes a propagator, every rank its part; the file appears complete or not at all. `sources`: the sources
        /// for which it was solved, as many columns, or the zero handle. The records contain what plaq_spinor_origin
        /// knows of the propagator; unknown coordinates of the source are determined from `sources`. Errors:
        /// FILE_WRITE, INVALID_ARGUMENT, FIELD_MISMATCH.
        plaq_spinor_write(propagator: Handle<plaq_spinor>, sources: Maybe<plaq_spinor>, path: FileName, params: Params<plaq_spinor_write_params>) = write_file;
        /// Makes a field from a file of any of these kinds, written on any number of ranks: twelve columns 3 spin +
        /// colour if the file says which they are, else in its order. Checksums are compared. plaq_spinor_origin then
        /// gives the source and operator as described in the records (also those of Chroma) or determined from
        /// sources in the file. Errors: FILE_OPEN, FILE_FORMAT, FILE_EXTENTS, FILE_TRUNCATED, FILE_CHECKSUM,
        /// NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY.
        plaq_spinor_read(context: Handle<plaq_context>, path: FileName, params: Params<plaq_spinor_read_params>, propagator: Out<plaq_spinor>) = read_file;
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
    let kind = choose_any(p.kind, "params.kind")?;
    let precision_bits = bits_of(p.precision)?;
    let info = optional_text(p.info, "params.info")?.unwrap_or_default();
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
    if !(0..=1).contains(&p.wrong_checksum) {
        let found = p.wrong_checksum;
        refuse!(InvalidArgument, "params.wrong_checksum", expected("0 or 1"), found("{found}"));
    }
    if p.extents.iter().any(|&l| l < 0) {
        refuse!(BadExtents, "params.extents", expected("sizes or zeros"), found("{:?}", p.extents));
    }
    let precision = choose_any(p.precision, "params.precision")?;
    let extents = (p.extents != [0; 4]).then(|| p.extents.map(|l| l as usize));
    let options = LoadOptions { precision, extents, wrong_checksum: p.wrong_checksum == 1 };
    let (device, comm) = (context.device(), context.comm());
    let (field, origin) = load_propagator(device, comm, path, &options)?;
    propagator.set(context.adopt(Spinor::with_origin(context, field, origin))?);
    Ok(())
}
