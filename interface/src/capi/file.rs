//! Files of gauge configurations.

use std::ffi::c_char;
use std::path::Path;
use std::sync::Arc;

use super::args::{number_of, optional_text, Handle, One, Out, Params, Report, TextOut};
use super::context::{plaq_context, Context};
use super::field::plaq_precision;
use super::file_name::FileName;
use super::gauge::{plaq_gauge, Gauge};
use super::table::interface;
use crate::error::Result;
use crate::fields::{BoundaryKind, BoundaryParams, Precision, Recon};
use crate::io::{ByteOrder, FileFormat, FileInfo, GaugeReader, Warning, WriteOptions};
use crate::ops::config::{load_gauge, save_gauge, LoadOptions};
use crate::params::{Host, InC as _, Number};
use crate::refuse;
use plaq_core::{boundary_angle_rows, boundary_rows};

/// A text in the header of a file, by the function that returns it.
#[derive(Clone, Copy)]
pub struct FileText(fn(&FileInfo) -> &Option<String>);

crate::params::row_set! {
    wrong_checksum_row {
        /// 1: a file is read even if a checksum in it is wrong; where the call reports `warnings`, they say so. For
        /// files that were changed after they were written and are known to be good.
        wrong_checksum: bool = false;
    }
}

crate::params::parameters! {
    /// Parameters of reading a configuration; format and size are found in the file.
    pub composed struct GaugeReadParams: plaq_gauge_read_params {
        /// Extents that the whole lattice of the file must have; all 0: any.
        extents: [i32; 4] = [0; 4];
        /// Precision of the links on the device.
        precision: Precision = Precision::F64;
        /// Storage of the links on the device.
        storage: Recon = Recon::R18;
        /// Largest accepted violation of unitarity; 0: 1e-10 for files in double, 1e-5 for files in single
        /// precision, and, with a warning, for files in double whose links mostly have larger violations.
        unitarity: f64 = 0.0, from(0.0, f64::INFINITY);
        /// Largest accepted difference of plaquette and link trace between the file's header and its links; 0:
        /// half a unit of the header's last decimal plus 1e-9 (links in double) or 1e-6 (single).
        header: f64 = 0.0, from(0.0, f64::INFINITY);
        /// 1: links are put back into SU(3) after the check; 0: they are not changed.
        project: bool = true;
        with wrong_checksum_row;
        with boundary_rows;
        with boundary_angle_rows;
    }
}

crate::params::parameters! {
    /// Format and header of a file that is written. Texts are NULL or NUL-terminated UTF-8.
    pub struct GaugeWriteParams: plaq_gauge_write_params {
        /// Format of the file.
        format: FileFormat = FileFormat::Ildg;
        /// Byte order of the numbers; 0: the usual one of the format. Only some formats have a choice.
        byte_order: Option<ByteOrder> = None;
        /// Precision of the numbers, PLAQ_PRECISION_DOUBLE or PLAQ_PRECISION_SINGLE; 0: double if the format has
        /// it.
        precision: Option<Precision> = None;
        /// Number of the configuration in its ensemble; negative: not stated.
        sequence_number: i64 = -1;
        /// Identifier of the ensemble; NULL: not stated.
        ensemble_id: Host<*const c_char> = Host(std::ptr::null());
        /// Label of the ensemble; NULL: not stated.
        ensemble_label: Host<*const c_char> = Host(std::ptr::null());
        /// Creator of the file; NULL: not stated.
        creator: Host<*const c_char> = Host(std::ptr::null());
        /// Date of creation; NULL: now, in UTC.
        date: Host<*const c_char> = Host(std::ptr::null());
        /// Logical file name of ILDG; NULL: none.
        lfn: Host<*const c_char> = Host(std::ptr::null());
    }
}

interface! {
    "Gauge configurations in files"
    choices {
        plaq_file_warning = Warning;
        plaq_byte_order = ByteOrder;
        plaq_file_format = FileFormat;
    }
    constants {
        /// Texts in headers of NERSC and ILDG files; plaq_gauge_write_params has members for them.
        plaq_file_text: FileText {
            /// Identifier of the ensemble.
            PLAQ_FILE_TEXT_ENSEMBLE_ID = 1 => FileText(|info| &info.ensemble_id),
            /// Label of the ensemble.
            PLAQ_FILE_TEXT_ENSEMBLE_LABEL = 2 => FileText(|info| &info.ensemble_label),
            /// Creator of the file.
            PLAQ_FILE_TEXT_CREATOR = 3 => FileText(|info| &info.creator),
            /// Date of the file's creation.
            PLAQ_FILE_TEXT_DATE = 4 => FileText(|info| &info.date),
            /// Logical file name, in ILDG files.
            PLAQ_FILE_TEXT_LFN = 5 => FileText(|info| &info.lfn),
            /// The whole record scidac-record-xml, in ILDG files.
            PLAQ_FILE_TEXT_RECORD = 6 => FileText(|info| &info.user_record),
        }
    }
    tables {
        plaq_gauge_read_params, plaq_gauge_read_params_init;
        plaq_gauge_write_params, plaq_gauge_write_params_init;
    }
    reports {
        /// Contents of a file's header.
        plaq_file_report, plaq_file_report_init {
            /// Extents of the whole lattice.
            extents: [i32; 4],
            /// Format of the file.
            format: plaq_file_format,
            /// Precision of the numbers in the file.
            precision: plaq_precision,
            /// Byte order of the numbers in the file.
            byte_order: plaq_byte_order,
            /// A sum of PLAQ_FILE_WARNING_...: faults of the file in spite of which it was read.
            warnings: i32,
            /// Number of the configuration; -1: not stated.
            sequence_number: i64,
            /// Plaquette according to the header, 1 for unit links; NaN: not stated.
            plaquette: f64,
            /// Link trace according to the header, 1 for unit links; NaN: not stated.
            link_trace: f64,
        }
    }
    functions {
        /// Makes a gauge field from a file in any known format. Checksums, unitarity and the header's plaquette are
        /// checked; if a check fails no field is made. Errors: BAD_PARAMETER, FILE_OPEN, FILE_FORMAT, FILE_EXTENTS,
        /// FILE_TRUNCATED, FILE_CHECKSUM, FILE_PLAQUETTE, NOT_UNITARY, NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY.
        plaq_gauge_read(context: Handle<plaq_context>, file: FileName, params: Params<plaq_gauge_read_params>, gauge: Out<plaq_gauge>, report: Report<plaq_file_report>) = read_file;
        /// Writes the links to a file, which appears complete or not at all. Errors: FILE_WRITE, UNSUPPORTED.
        plaq_gauge_write(gauge: Handle<plaq_gauge>, file: FileName, params: Params<plaq_gauge_write_params>) = write_file;
        /// Reads a text from the header of a configuration's file, without the links; only the calling rank reads.
        /// `found`: 0 if the file has no such text, and `value` is then empty. Errors: INVALID_ARGUMENT (also if
        /// `capacity` is too small), FILE_OPEN, FILE_FORMAT, FILE_TRUNCATED.
        plaq_gauge_read_text(file: FileName, text: One<FileText>, value: TextOut, capacity: i64, found: Out<i32>) = file_text;
    }
}

fn read_file(
    context: &Arc<Context>,
    path: &Path,
    params: &plaq_gauge_read_params,
    gauge: &mut Out<plaq_gauge>,
    report: &mut Report<plaq_file_report>,
) -> Result<()> {
    let p = GaugeReadParams::from_c(params, "params")?;
    if p.extents.iter().any(|&l| l < 0) {
        refuse!(BadExtents, "params.extents", expected("sizes or zeros"), found("{:?}", p.extents));
    }
    let GaugeReadParams { boundary_time, phi, phi_prime, .. } = p;
    let boundary = BoundaryParams { boundary_time, phi, phi_prime };
    let asked = |value: f64| (value != 0.0).then_some(value);
    let options = LoadOptions {
        boundary_time: boundary.boundary("params.")?,
        expect: (p.extents != [0; 4]).then(|| p.extents.map(|l| l as usize)),
        unitarity: asked(p.unitarity),
        reunitarise: p.project,
        header: asked(p.header),
        wrong_checksum: p.wrong_checksum,
    };
    let (device, comm) = (context.device(), context.comm());
    let loaded = load_gauge(device, comm, path, p.precision, p.storage, &options)?;
    let info = &loaded.info;
    report.set(plaq_file_report {
        extents: loaded.gauge.geometry().global_extents().map(|l| l as i32),
        format: number_of(info.format),
        precision: Number::new(info.precision_bits as i32 / 8),
        byte_order: number_of(info.byte_order),
        warnings: info.warnings.iter().map(|warning| number_of(warning).0).sum(),
        sequence_number: info.sequence_number.map_or(-1, |n| n as i64),
        plaquette: info.plaquette.unwrap_or(f64::NAN),
        link_trace: info.link_trace.unwrap_or(f64::NAN),
        ..Default::default()
    });
    gauge.set(context.adopt(Gauge::new(context, loaded.gauge))?);
    Ok(())
}

fn file_text(
    path: &Path,
    FileText(of): FileText,
    value: &mut TextOut,
    capacity: i64,
    found: &mut Out<i32>,
) -> Result<()> {
    let file = GaugeReader::open(path, None)?;
    let text = of(file.info());
    found.set(text.is_some() as i32);
    value.set(text.as_deref().unwrap_or(""), capacity)
}

/// Number of bits of the floating-point numbers in a file; `None`: that of the file's format.
pub(super) fn bits_of(precision: Option<Precision>) -> Result<Option<u32>> {
    match precision {
        Some(half @ Precision::F16) => refuse!(
            InvalidArgument,
            "params.precision",
            expected("PLAQ_PRECISION_DOUBLE (8) or PLAQ_PRECISION_SINGLE (4) or 0"),
            found("{}", number_of(half))
        ),
        precision => Ok(precision.map(|p| 8 * p.bytes() as u32)),
    }
}

fn write_file(gauge: &Arc<Gauge>, path: &Path, p: &plaq_gauge_write_params) -> Result<()> {
    let p = GaugeWriteParams::from_c(p, "params")?;
    let options = WriteOptions {
        precision_bits: bits_of(p.precision)?,
        byte_order: p.byte_order,
        ensemble_id: optional_text(p.ensemble_id.0, "params.ensemble_id")?,
        ensemble_label: optional_text(p.ensemble_label.0, "params.ensemble_label")?,
        sequence_number: u64::try_from(p.sequence_number).ok(),
        creator: optional_text(p.creator.0, "params.creator")?,
        date: optional_text(p.date.0, "params.date")?,
        lfn: optional_text(p.lfn.0, "params.lfn")?,
        ..Default::default()
    };
    save_gauge(path, &*gauge.read("gauge")?, p.format, &options)
}
