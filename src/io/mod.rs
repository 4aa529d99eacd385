//! Gauge configuration files: NERSC archive, ILDG/SciDAC in LIME, MILC version 5, openQCD
//! and DDalphaAMG, read and written in safe Rust.
//!
//! In memory a configuration has one form, whatever the file: sites in lexicographic order
//! with x fastest, `lex = x + X(y + Y(z + Z t))`, then μ = x, y, z, t, then the 3×3 matrix in
//! row-major order with real before imaginary part: 72 `f64` per site.
//!
//! Reading finds the format from the content, compares every length with the file's before it
//! allocates, verifies the checksums that the format has, and returns all links or none.
//! Writing goes to a temporary name in the same folder, is flushed to disk and renamed; a
//! failure leaves the target as it was. The average plaquette and link trace of a header are returned as they are; they
//! are compared with the links where observables are computed.

mod appendix;
mod checksum;
mod data;
mod ddalphaamg;
pub mod hdf5;
mod hdf5_data;
mod ildg;
mod lime;
mod link_order;
mod linkmap;
mod milc;
mod nersc;
mod openqcd;
mod origin;
mod propagator;
mod stream;
mod tables;
mod text;
mod vectors;
mod warnings;

use crate::bail;
use crate::error::{words, Result, Status};
use crate::params::choices;
use appendix::Item;
pub use appendix::{FieldReader, FieldShape};
use data::Data;
pub use data::Part;
pub use origin::{
    LinksMark, Origin, BOUNDARIES_IN_TIME, CLOVER_FORMS, KINDS, NORMALISATIONS, SEQUENTIAL_SOURCE,
};
pub use propagator::{PropagatorKind, PropagatorOptions, PropagatorReader, PropagatorWriter};
use std::path::Path;
pub use stream::expect_new;
use stream::{Input, Output};
pub use tables::Tables;
pub use vectors::{VectorHeader, VectorReader, VectorWriter};
pub use warnings::{Warning, Warnings};

/// Number of real numbers of a complex 3×3 matrix.
pub(crate) const MATRIX: usize = 18;
/// Number of real numbers of the four 3×3 link matrices of a site.
pub(crate) const SITE: usize = 4 * MATRIX;

/// File formats of gauge configurations. [`read_gauge`] recognises them by their contents.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// NERSC archive `4D_SU3_GAUGE`: the first two rows of each link.
    Nersc,
    /// NERSC archive `4D_SU3_GAUGE_3x3`: whole links.
    Nersc3x3,
    /// ILDG configuration with SciDAC records in a LIME container; plain SciDAC gauge files are also read under this
    /// name.
    Ildg,
    /// MILC version 5 (magic number 20103), coordinate order, single precision; earlier versions (59354, and 53546 of
    /// 1996) are also read under this name.
    Milc,
    /// openQCD `export_cnfg`: the eight links of every odd site, double precision.
    OpenQcd,
    /// DDalphaAMG's sample format: double precision, μ = t, z, y, x.
    DdAlphaAmg,
}

words!(FileFormat {
    Nersc => "PLAQ_FILE_FORMAT_NERSC",
    Nersc3x3 => "PLAQ_FILE_FORMAT_NERSC_3X3",
    Ildg => "PLAQ_FILE_FORMAT_ILDG",
    Milc => "PLAQ_FILE_FORMAT_MILC",
    OpenQcd => "PLAQ_FILE_FORMAT_OPENQCD",
    DdAlphaAmg => "PLAQ_FILE_FORMAT_DDALPHAAMG",
});

choices! {
    /// File formats of gauge configurations.
    names FileFormat: plaq_file_format {
        /// NERSC archive with two rows of each link.
        Nersc = 1, PLAQ_FILE_FORMAT_NERSC, "nersc";
        /// NERSC archive with three rows of each link.
        Nersc3x3 = 2, PLAQ_FILE_FORMAT_NERSC_3X3, "nersc_3x3";
        /// ILDG with SciDAC records in LIME.
        Ildg = 3, PLAQ_FILE_FORMAT_ILDG, "ildg";
        /// MILC version 5, single precision; older versions are read, too.
        Milc = 4, PLAQ_FILE_FORMAT_MILC, "milc";
        /// openQCD, double precision.
        OpenQcd = 5, PLAQ_FILE_FORMAT_OPENQCD, "openqcd";
        /// DDalphaAMG, double precision.
        DdAlphaAmg = 6, PLAQ_FILE_FORMAT_DDALPHAAMG, "ddalphaamg";
    }
}

/// Byte order of the numbers in a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    Little,
    Big,
}

words!(ByteOrder {
    Little => "little",
    Big => "big",
});

choices! {
    /// Byte order of the numbers in a file.
    names ByteOrder: plaq_byte_order {
        /// Least significant byte first.
        Little = 1, PLAQ_BYTE_ORDER_LITTLE, "little";
        /// Most significant byte first.
        Big = 2, PLAQ_BYTE_ORDER_BIG, "big";
    }
}

/// Information in the header of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileInfo {
    pub format: FileFormat,
    /// Bits of a stored real number, 32 or 64.
    pub precision_bits: u32,
    pub byte_order: ByteOrder,
    /// Average plaquette according to the header, Re tr U_p / 3: 1 for unit links.
    pub plaquette: Option<f64>,
    /// Average link trace according to the header, Re tr U / 3: 1 for unit links.
    pub link_trace: Option<f64>,
    /// Half a unit of the last decimal that the header prints of `plaquette` or `link_trace`, whichever has fewer
    /// decimals; 0 if they are stored in binary or absent. A comparison with the links allows for this and for the
    /// rounding of `precision_bits`.
    pub header_resolution: f64,
    pub ensemble_id: Option<String>,
    pub ensemble_label: Option<String>,
    /// Number of the configuration in its ensemble, if the file has it.
    pub sequence_number: Option<u64>,
    pub creator: Option<String>,
    /// Creation date or time stamp, as spelled in the file.
    pub date: Option<String>,
    /// Boundaries of the links in time, of NERSC and ILDG files that name them: [`WriteOptions::boundary_time`].
    pub boundary_time: Option<String>,
    /// Logical file name of ILDG (`ildg-data-lfn`).
    pub lfn: Option<String>,
    /// The user record (SciDAC `scidac-record-xml`), unchanged.
    pub user_record: Option<String>,
    /// Faults of the file in spite of which its links can be read.
    pub warnings: Warnings,
}

impl FileFormat {
    pub const ALL: [FileFormat; 6] = [
        FileFormat::Nersc,
        FileFormat::Nersc3x3,
        FileFormat::Ildg,
        FileFormat::Milc,
        FileFormat::OpenQcd,
        FileFormat::DdAlphaAmg,
    ];
}

impl FileInfo {
    fn new(format: FileFormat, precision_bits: u32, byte_order: ByteOrder) -> Self {
        FileInfo {
            format,
            precision_bits,
            byte_order,
            plaquette: None,
            link_trace: None,
            header_resolution: 0.0,
            ensemble_id: None,
            ensemble_label: None,
            sequence_number: None,
            creator: None,
            date: None,
            boundary_time: None,
            lfn: None,
            user_record: None,
            warnings: Warnings::default(),
        }
    }
}

/// A gauge configuration read from a file.
#[derive(Clone, Debug)]
pub struct GaugeFile {
    /// Extents of the lattice, X, Y, Z, T.
    pub extents: [usize; 4],
    /// The links, 72 numbers per site in the order that the [module](self) page gives.
    pub links: Vec<f64>,
    pub info: FileInfo,
}

/// Information that [`write_gauge`] puts into a file besides the links. Texts must not contain control characters;
/// information for which a format has no place is left out.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Bits of a stored number, 32 or 64; `None`: 64 if the format allows it, else 32.
    pub precision_bits: Option<u32>,
    /// Byte order of the numbers; `None`: the usual one of the format (NERSC and ILDG big, the others little endian).
    pub byte_order: Option<ByteOrder>,
    /// Average of Re tr U_p / 3 for the header, which NERSC, openQCD and DDalphaAMG files must have.
    pub plaquette: Option<f64>,
    /// Average of Re tr U / 3 for the header, which NERSC files must have.
    pub link_trace: Option<f64>,
    /// Boundaries of the links in time for the header of NERSC and ILDG files, a line; `None`: periodic.
    pub boundary_time: Option<String>,
    pub ensemble_id: Option<String>,
    pub ensemble_label: Option<String>,
    pub sequence_number: Option<u64>,
    pub creator: Option<String>,
    /// Date for the header, at most 63 bytes in MILC files; `None`: the present time in UTC.
    pub date: Option<String>,
    /// Logical file name of ILDG; `None`: the file has no such record.
    pub lfn: Option<String>,
    /// Additional fields, which [`GaugeWriter::write_field`] writes; in ILDG files only.
    pub fields: Vec<FieldShape>,
}

impl WriteOptions {
    /// Number of bits of a stored number in a file of this format.
    pub fn bits(&self, format: FileFormat) -> u32 {
        let codec = CODECS.into_iter().find(|codec| codec.formats.contains(&format));
        self.precision_bits.unwrap_or(codec.expect("every format").bits[0])
    }
}

/// The contents of a file's header, and the layout of the links after it.
struct Header {
    extents: [usize; 4],
    info: FileInfo,
    data: Data,
    stored: Option<[u32; 2]>,
}

/// The bytes of a file before and after its links, and the layout of the links.
struct Frame {
    before: Vec<u8>,
    data: Data,
    after: Vec<u8>,
}

impl Frame {
    fn new(before: Vec<u8>, data: Data, after: Vec<u8>) -> Self {
        let offset = before.len() as u64;
        Frame { before, data: Data { offset, ..data }, after }
    }
}

/// The settings for writing a file, checked and with defaults filled in.
struct Job {
    format: FileFormat,
    bits: u32,
    order: ByteOrder,
    extents: [usize; 4],
    options: WriteOptions,
}

impl Job {
    fn date(&self) -> String {
        self.options.date.clone().unwrap_or_else(text::utc_now)
    }

    /// A number that the header of this format requires; an error without it.
    fn required(&self, name: &str, value: Option<f64>) -> Result<f64> {
        match value {
            Some(value) => Ok(value),
            None => bail!(
                InvalidArgument,
                "{name} is missing, a file of {} has it in its header",
                self.format
            ),
        }
    }
}

/// Properties that the caller knows of a file whose header does not state them: its format, and the angles of fixed
/// links.
#[derive(Clone, Copy, Default)]
struct Known {
    format: Option<FileFormat>,
    /// Angles of fixed links on the slice after the last stored one, see [`GaugeReader::open_bounded`].
    phi_prime: Option<[f64; 3]>,
}

/// A function that reads a header, given the expected lattice and what is known about the file.
type Open = fn(&mut Input, Option<[usize; 4]>, Known) -> Result<Header>;

/// Functions and properties of one file format.
struct Codec {
    formats: &'static [FileFormat],
    /// The numbers of bits that can be written; the first is the default.
    bits: &'static [u32],
    /// The byte orders that can be written; the first is the default.
    orders: &'static [ByteOrder],
    /// Whether a file that begins with these bytes looks like this format.
    claims: fn(head: &[u8]) -> bool,
    /// Reads the header of a file.
    open: Open,
    /// Makes the bytes before and after the links. Their numbers do not depend on `checksum`, which is that of the
    /// links.
    frame: fn(&Job, checksum: [u32; 2]) -> Result<Frame>,
}

/// The formats in the order in which they are tried: those with magic numbers first.
const CODECS: [&Codec; 4] = [&nersc::CODEC, &ildg::CODEC, &milc::CODEC, &linkmap::CODEC];

/// Number of bytes at the beginning of a file from which its format is recognised: the longest fixed header of a format
/// without a magic number.
const HEAD: usize = 24;

/// Reads a gauge configuration; the format is recognised by the contents.
///
/// `expect` is the lattice X, Y, Z, T that the file must have, if given.
///
/// # Errors
/// `FileOpen`: no such regular file or it cannot be read; `FileFormat`: unknown, inconsistent
/// or unsupported header; `FileExtents`: not the lattice `expect`; `FileTruncated`: shorter
/// than its header says; `FileChecksum`: the data are not those that were written;
/// `OutOfMemory`: the links do not fit.
pub fn read_gauge(path: &Path, expect: Option<[usize; 4]>) -> Result<GaugeFile> {
    let mut reader = GaugeReader::open(path, expect)?;
    let extents = reader.extents();
    let (links, share) = reader.read(&Part::whole(extents))?;
    reader.verify(&[share])?;
    Ok(GaugeFile { extents, links, info: reader.info().clone() })
}

/// A configuration in a file. Header and length have been checked; links are read in parts, by one process or by
/// many.
pub struct GaugeReader {
    input: Input,
    header: Header,
}

impl GaugeReader {
    /// # Errors
    /// Errors of [`read_gauge`] except `FileChecksum`.
    pub fn open(path: &Path, expect: Option<[usize; 4]>) -> Result<Self> {
        Self::open_bounded(path, expect, None)
    }

    /// Opens a file of links whose spatial ones on the slice after the last stored one, which headers of openQCD and
    /// DDalphaAMG count, are exp(i diag(phi_prime) / L_k).
    ///
    /// # Errors
    /// Errors of [`GaugeReader::open`].
    pub fn open_bounded(
        path: &Path,
        expect: Option<[usize; 4]>,
        phi_prime: Option<[f64; 3]>,
    ) -> Result<Self> {
        Self::with_known(path, expect, Known { format: None, phi_prime })
    }

    /// Opens a file whose format another process has recognised. Recognising it may require links from all over the
    /// file, since headers of openQCD and DDalphaAMG do not differ.
    ///
    /// # Errors
    /// Errors of [`GaugeReader::open`].
    pub fn open_as(path: &Path, expect: Option<[usize; 4]>, format: FileFormat) -> Result<Self> {
        Self::with_known(path, expect, Known { format: Some(format), phi_prime: None })
    }

    fn with_known(path: &Path, expect: Option<[usize; 4]>, known: Known) -> Result<Self> {
        let mut input = Input::open(path)?;
        let head = input.peek(HEAD)?;
        match CODECS.iter().find(|codec| (codec.claims)(&head)) {
            Some(codec) => {
                let mut header = (codec.open)(&mut input, expect, known)?;
                if header.stored.is_none() {
                    header.info.warnings.insert(Warning::NoChecksum);
                }
                Ok(GaugeReader { input, header })
            }
            None if head.len() < HEAD => {
                let message = format!("{} bytes are less than any known header", head.len());
                Err(input.error(Status::FileTruncated, message))
            }
            None => {
                let message = "not a NERSC, ILDG/SciDAC, MILC, openQCD or DDalphaAMG file";
                Err(input.error(Status::FileFormat, message))
            }
        }
    }

    /// Extents X, Y, Z, T of the whole lattice.
    pub fn extents(&self) -> [usize; 4] {
        self.header.extents
    }
    pub fn info(&self) -> &FileInfo {
        &self.header.info
    }

    /// Reads the links of a part; returns them with their contribution to the checksum, for [`GaugeReader::verify`].
    ///
    /// # Errors
    /// `BadExtents`: `part` is not a part of the file's lattice; `FileOpen`, `FileTruncated`, `OutOfMemory`.
    pub fn read(&mut self, part: &Part) -> Result<(Vec<f64>, [u32; 2])> {
        check_part(part, self.header.extents)?;
        self.header.data.read(&mut self.input, part)
    }

    /// Compares the checksum of the file with the contributions of parts that cover the lattice.
    ///
    /// # Errors
    /// `FileChecksum`.
    pub fn verify(&self, shares: &[[u32; 2]]) -> Result<()> {
        let found = self.header.data.sum.combine(shares);
        match self.header.stored {
            Some(stored) if stored != found => Err(self.input.error(
                Status::FileChecksum,
                format!("checksum {found:x?} of the links, {stored:x?} in the file"),
            )),
            _ => Ok(()),
        }
    }
}

fn check_part(part: &Part, lattice: [usize; 4]) -> Result<()> {
    if !part.is_of(lattice) {
        bail!(BadExtents, "{part:?} is no part of the lattice {lattice:?}");
    }
    Ok(())
}

/// Writes a file with any contents: it appears under its name complete and on disk, or not at all. Symbolic links are
/// followed; devices, pipes and folders are refused.
///
/// # Errors
/// `FileWrite`.
pub fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    let mut output = Output::create(path)?;
    output.put(content)?;
    output.commit()
}

/// An error if no file can be written under this name; leaves nothing behind.
///
/// # Errors
/// `FileWrite`.
pub fn try_output(path: &Path) -> Result<()> {
    Output::create(path).map(|_| ())
}

/// Writes `links` on the lattice `extents` (X, Y, Z, T) in `format`.
///
/// The file appears under its name complete and on disk, or not at all.
///
/// # Errors
/// `BadExtents`: `extents` and `links` do not fit, or the format cannot hold the lattice
/// (openQCD: even extents only); `InvalidArgument`: a text or number of `options` cannot stand
/// in the file; `Unsupported`: the format has no such precision or byte order; `FileWrite`:
/// the file system refused.
pub fn write_gauge(
    path: &Path,
    format: FileFormat,
    options: &WriteOptions,
    extents: [usize; 4],
    links: &[f64],
) -> Result<()> {
    check_links(extents, links)?;
    let mut writer = GaugeWriter::create(path, format, options, extents)?;
    let share = writer.write(&Part::whole(extents), links)?;
    writer.finish(&[share])
}

fn check_links(extents: [usize; 4], links: &[f64]) -> Result<()> {
    let volume = extents.iter().try_fold(1usize, |v, &n| v.checked_mul(n));
    let fits = extents.iter().all(|&n| (1..=i32::MAX as usize).contains(&n));
    if !fits || volume.and_then(|v| v.checked_mul(SITE)) != Some(links.len()) {
        bail!(
            BadExtents,
            "extents {extents:?} need 72 numbers per site, links has {}",
            links.len()
        );
    }
    Ok(())
}

/// A configuration that is being written in parts: one process creates and finishes the file, others may join. It
/// appears under its name when it is finished.
pub struct GaugeWriter {
    output: Output,
    job: Job,
    codec: &'static Codec,
    data: Data,
    fields: Vec<Item>,
}

impl GaugeWriter {
    /// Creates a file for the lattice `extents`, under a temporary name.
    ///
    /// # Errors
    /// Errors of [`write_gauge`].
    pub fn create(
        path: &Path,
        format: FileFormat,
        options: &WriteOptions,
        extents: [usize; 4],
    ) -> Result<Self> {
        Self::new(format, options, extents, || Output::create(path))
    }

    /// Opens the file that another process has created for the same path with the same parameters; `temporary` is the
    /// result of [`GaugeWriter::temporary`] there.
    ///
    /// # Errors
    /// Errors of [`write_gauge`].
    pub fn join(
        path: &Path,
        temporary: &str,
        format: FileFormat,
        options: &WriteOptions,
        extents: [usize; 4],
    ) -> Result<Self> {
        Self::new(format, options, extents, || Output::join(path, temporary))
    }

    fn new(
        format: FileFormat,
        options: &WriteOptions,
        extents: [usize; 4],
        output: impl FnOnce() -> Result<Output>,
    ) -> Result<Self> {
        text::check_options(options)?;
        let codec =
            CODECS.into_iter().find(|codec| codec.formats.contains(&format)).expect("every format");
        let bits = options.bits(format);
        let order = options.byte_order.unwrap_or(codec.orders[0]);
        fn any<T: ToString>(all: &[T]) -> String {
            all.iter().map(T::to_string).collect::<Vec<_>>().join(" or ")
        }
        if !codec.bits.contains(&bits) || !codec.orders.contains(&order) {
            bail!(
                Unsupported,
                "files of {format} have {} bits and {} endian numbers, asked for {bits} bits, {order} endian",
                any(codec.bits),
                any(codec.orders)
            );
        }
        let mut job = Job { format, bits, order, extents, options: options.clone() };
        // The present date is read once, so that every call of `frame` makes the same header.
        job.options.date = Some(job.date());
        let Frame { data, after, .. } = (codec.frame)(&job, [0; 2])?;
        let end = data.offset + data.length(extents) + after.len() as u64;
        let fields = appendix::plan(&options.fields, format, extents, end)?;
        Ok(GaugeWriter { output: output()?, job, codec, data, fields })
    }

    /// Name of the temporary file, in the folder of the target.
    pub fn temporary(&self) -> String {
        self.output.name()
    }

    /// Writes the links of a part to disk; returns its contribution to the checksum.
    ///
    /// # Errors
    /// `BadExtents`: `part` is not a part of the lattice, or `links` has not 72 numbers for each of its sites;
    /// `FileWrite`.
    pub fn write(&mut self, part: &Part, links: &[f64]) -> Result<[u32; 2]> {
        check_part(part, self.job.extents)?;
        check_links(part.extents, links)?;
        let share = self.data.write(&mut self.output, part, links)?;
        self.output.sync()?;
        Ok(share)
    }

    /// Writes a part of the additional field number k to disk; returns its contribution to the checksum.
    ///
    /// # Errors
    /// `BadExtents`: `part` is not a part of the lattice, or `numbers` does not have its length; `FileWrite`.
    pub fn write_field(&mut self, k: usize, part: &Part, numbers: &[f64]) -> Result<[u32; 2]> {
        let share = self.fields[k].write(&mut self.output, self.job.extents, part, numbers)?;
        self.output.sync()?;
        Ok(share)
    }

    /// Writes the records of field number k, whose parts are on disk; `shares` are their contributions to the
    /// checksum.
    ///
    /// # Errors
    /// `FileWrite`.
    pub fn finish_field(&mut self, k: usize, shares: &[[u32; 2]]) -> Result<()> {
        self.fields[k].finish(&mut self.output, self.job.extents, shares)
    }

    /// Completes the file, when all parts are on disk, and gives it its name.
    ///
    /// # Errors
    /// `FileWrite`.
    pub fn finish(mut self, shares: &[[u32; 2]]) -> Result<()> {
        let frame = (self.codec.frame)(&self.job, self.data.sum.combine(shares))?;
        self.output.seek(0)?;
        self.output.put(&frame.before)?;
        self.output.seek(self.data.offset + self.data.length(self.job.extents))?;
        self.output.put(&frame.after)?;
        self.output.commit()
    }
}
