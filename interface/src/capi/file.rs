//! Files of gauge configurations.

use std::ffi::c_char;
use std::path::Path;
use std::sync::Arc;

use super::args::{
    choose, choose_any, number_of, optional_text, Handle, One, Out, Params, Report, TextOut,
};
use super::context::{plaq_context, Context};
use super::field::plaq_precision;
use super::file_name::FileName;
use super::gauge::{plaq_boundary_time, plaq_gauge, plaq_storage, Gauge};
use super::table::interface;
use crate::error::Result;
use crate::fields::{BoundaryParams, Precision, Recon};
use crate::io::{ByteOrder, FileFormat, FileInfo, GaugeReader, Warning, WriteOptions};
use crate::ops::config::{load_gauge, save_gauge, LoadOptions};
use crate::params::Number;
use crate::refuse;

/// A text in the header of a file, by the function that returns it.
#[derive(Clone, Copy)]
pub struct FileText(fn(&FileInfo) -> &Option<String>);

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
    params {
        /// Parameters of reading a configuration; format and size are found in the file.
        plaq_gauge_read_params, plaq_gauge_read_params_init {
            /// Extents that the whole lattice of the file must have; all 0: any.
            extents: [i32; 4] = [0; 4],
            /// Precision of the links on the device.
            precision: plaq_precision = Precision::F64.into(),
            /// Storage of the links on the device.
            storage: plaq_storage = number_of(Recon::R18),
            /// Largest accepted violation of unitarity; 0: 1e-10 for files in double, 1e-5 for files in single
            /// precision, and, with a warning, for files in double whose links mostly have larger violations.
            unitarity: f64 = 0.0,
            /// Largest accepted difference of plaquette and link trace between the file's header and its links; 0:
            /// half a unit of the header's last decimal plus 1e-9 (links in double) or 1e-6 (single).
            header: f64 = 0.0,
            /// 1: links are put back into SU(3) after the check; 0: they are not changed.
            project: i32 = 1,
            /// 1: links are read even if the file's checksum is wrong; the report's `warnings` say so. For files that
            /// were changed after they were written and are known to be good.
            wrong_checksum: i32 = 0,
            /// Boundaries in time of the links; 0: open for files of openQCD in which all temporal links of the last
            /// slice are exactly zero, else periodic.
            boundary_time: plaq_boundary_time = Number::new(0),
            /// Angles phi of the fixed spatial links exp(i diag(phi) / L_k) on slice 0, for PLAQ_BOUNDARY_TIME_SF:
            /// three numbers with sum 0. Default: not set (NaN).
            phi: [f64; 3] = [f64::NAN; 3],
            /// The same angles on slice N_t, for PLAQ_BOUNDARY_TIME_SF and PLAQ_BOUNDARY_TIME_OPEN_SF. Default: not
            /// set (NaN).
            phi_prime: [f64; 3] = [f64::NAN; 3],
        }
        /// Format and header of a file that is written. Texts are NULL or NUL-terminated UTF-8.
        plaq_gauge_write_params, plaq_gauge_write_params_init {
            /// Format of the file.
            format: plaq_file_format = number_of(FileFormat::Ildg),
            /// Byte order of the numbers; 0: the usual one of the format. Only some formats have a choice.
            byte_order: plaq_byte_order = Number::new(0),
            /// Precision of the numbers, PLAQ_PRECISION_DOUBLE or PLAQ_PRECISION_SINGLE; 0: double if the format has
            /// it.
            precision: plaq_precision = Number::new(0),
            /// Number of the configuration in its ensemble; negative: not stated.
            sequence_number: i64 = -1,
            /// Identifier of the ensemble; NULL: not stated.
            ensemble_id: *const c_char = std::ptr::null(),
            /// Label of the ensemble; NULL: not stated.
            ensemble_label: *const c_char = std::ptr::null(),
            /// Creator of the file; NULL: not stated.
            creator: *const c_char = std::ptr::null(),
            /// Date of the file's creation; NULL: the present time in UTC.
            date: *const c_char = std::ptr::null(),
            /// Logical file name for ILDG; NULL: none.
            lfn: *const c_char = std::ptr::null(),
        }
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
        /// checked; if a check fails no field is made. Errors: FILE_OPEN, FILE_FORMAT, FILE_EXTENTS, FILE_TRUNCATED,
        /// FILE_CHECKSUM, FILE_PLAQUETTE, NOT_UNITARY, NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY.
        plaq_gauge_read(context: Handle<plaq_context>, path: FileName, params: Params<plaq_gauge_read_params>, gauge: Out<plaq_gauge>, report: Report<plaq_file_report>) = read_file;
        /// Writes the links to a file, which appears complete or not at all. Errors: FILE_WRITE, UNSUPPORTED.
        plaq_gauge_write(gauge: Handle<plaq_gauge>, path: FileName, params: Params<plaq_gauge_write_params>) = write_file;
        /// Reads a text from the header of a configuration's file, without the links; only the calling rank reads.
        /// `found`: 0 if the file has no such text, and `value` is then empty. Errors: INVALID_ARGUMENT (also if
        /// `capacity` is too small), FILE_OPEN, FILE_FORMAT, FILE_TRUNCATED.
        plaq_gauge_read_text(path: FileName, text: One<FileText>, value: TextOut, capacity: i64, found: Out<i32>) = file_text;
    }
}

fn positive(value: f64, name: &str) -> Result<Option<f64>> {
    match value {
        0.0 => Ok(None),
        v if v > 0.0 => Ok(Some(v)),
        v => refuse!(
            InvalidArgument,
            "params.{name}",
            expected("0 or a positive number"),
            found("{v}")
        ),
    }
}

fn read_file(
    context: &Arc<Context>,
    path: &Path,
    params: &plaq_gauge_read_params,
    gauge: &mut Out<plaq_gauge>,
    report: &mut Report<plaq_file_report>,
) -> Result<()> {
    for (value, name) in [(params.project, "project"), (params.wrong_checksum, "wrong_checksum")] {
        if !(0..=1).contains(&value) {
            refuse!(InvalidArgument, "params.{name}", expected("0 or 1"), found("{value}"));
        }
    }
    if params.extents.iter().any(|&l| l < 0) {
        refuse!(
            BadExtents,
            "params.extents",
            expected("sizes or zeros"),
            found("{:?}", params.extents)
        );
    }
    let boundary = BoundaryParams {
        boundary_time: choose_any(params.boundary_time, "params.boundary_time")?,
        phi: params.phi,
        phi_prime: params.phi_prime,
    };
    let options = LoadOptions {
        boundary_time: boundary.boundary("params.")?,
        expect: (params.extents != [0; 4]).then(|| params.extents.map(|l| l as usize)),
        unitarity: positive(params.unitarity, "unitarity")?,
        reunitarise: params.project == 1,
        header: positive(params.header, "header")?,
        wrong_checksum: params.wrong_checksum == 1,
    };
    let precision = choose(params.precision, "params.precision")?;
    let storage = choose(params.storage, "params.storage")?;
    let loaded = load_gauge(context.device(), context.comm(), path, precision, storage, &options)?;
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
pub(super) fn bits_of(precision: plaq_precision) -> Result<Option<u32>> {
    match choose_any(precision, "params.precision")? {
        Some(Precision::F16) => refuse!(
            InvalidArgument,
            "params.precision",
            expected("PLAQ_PRECISION_DOUBLE (8) or PLAQ_PRECISION_SINGLE (4) or 0"),
            found("{precision}")
        ),
        precision => Ok(precision.map(|p| 8 * p.bytes() as u32)),
    }
}

fn write_file(gauge: &Arc<Gauge>, path: &Path, p: &plaq_gauge_write_params) -> Result<()> {
    let bits = bits_of(p.precision)?;
    let byte_order = choose_any(p.byte_order, "params.byte_order")?;
    let options = WriteOptions {
        precision_bits: bits,
        byte_order,
        ensemble_id: optional_text(p.ensemble_id, "params.ensemble_id")?,
        ensemble_label: optional_text(p.ensemble_label, "params.ensemble_label")?,
        sequence_number: u64::try_from(p.sequence_number).ok(),
        creator: optional_text(p.creator, "params.creator")?,
        date: optional_text(p.date, "params.date")?,
        lfn: optional_text(p.lfn, "params.lfn")?,
        ..Default::default()
    };
    let format = choose(p.format, "params.format")?;
    save_gauge(path, &*gauge.read("gauge")?, format, &options)
}
