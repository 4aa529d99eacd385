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
//! failure leaves the target as it was. Average plaquette and link trace pass through: they
//! are compared with the links where observables are computed.

mod checksum;
mod ddalphaamg;
mod ildg;
mod lime;
mod linkmap;
mod milc;
mod nersc;
mod openqcd;
mod stream;
mod text;

use crate::bail;
use crate::error::Result;
use std::path::Path;
use stream::{Input, Output};

/// The real numbers of one 3×3 matrix.
pub(crate) const MATRIX: usize = 18;
/// The real numbers of one site: four matrices.
pub(crate) const SITE: usize = 4 * MATRIX;

/// File formats by name. [`read_gauge`] tells them apart by content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// NERSC archive `4D_SU3_GAUGE`: the first two rows of each link.
    Nersc,
    /// NERSC archive `4D_SU3_GAUGE_3x3`: whole links.
    Nersc3x3,
    /// ILDG configuration with SciDAC records in a LIME container; plain SciDAC gauge files
    /// are read as this too.
    Ildg,
    /// MILC version 5 (magic number 20103), coordinate order, single precision.
    Milc,
    /// openQCD `export_cnfg`: the eight links of every odd site, double precision.
    OpenQcd,
    /// DDalphaAMG's sample format: double precision, μ = t, z, y, x.
    DdAlphaAmg,
}

/// Byte order of the numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    Little,
    Big,
}

/// What a file says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct FileInfo {
    pub format: FileFormat,
    /// Bits of one stored real number, 32 or 64.
    pub precision_bits: u32,
    pub byte_order: ByteOrder,
    /// Average plaquette of the header, Re tr U_p / 3: 1 for unit links.
    pub plaquette: Option<f64>,
    /// Average link trace of the header, Re tr U / 3: 1 for unit links.
    pub link_trace: Option<f64>,
    /// Half a unit of the last decimal that the header prints of `plaquette` and `link_trace`,
    /// the coarser of the two; 0 where they are stored in binary or absent. A comparison with
    /// the links allows for this and for the rounding of `precision_bits`.
    pub header_resolution: f64,
    pub ensemble_id: Option<String>,
    pub ensemble_label: Option<String>,
    /// Number of the configuration in its ensemble.
    pub sequence_number: Option<u64>,
    pub creator: Option<String>,
    /// Creation date or time stamp as the file spells it.
    pub date: Option<String>,
    /// Logical file name of ILDG (`ildg-data-lfn`).
    pub lfn: Option<String>,
    /// The user record (SciDAC `scidac-record-xml`) verbatim.
    pub user_record: Option<String>,
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
            lfn: None,
            user_record: None,
        }
    }
}

/// A gauge configuration as it came from a file.
#[derive(Clone, Debug)]
pub struct GaugeFile {
    /// X, Y, Z, T.
    pub extents: [usize; 4],
    /// 72 numbers per site in the order of the [module](self) page.
    pub links: Vec<f64>,
    pub info: FileInfo,
}

/// What [`write_gauge`] puts into a file besides the links. Text must be free of control
/// characters; fields that a format has no place for are left out.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// 32 or 64; `None`: 64 where the format has it, else 32.
    pub precision_bits: Option<u32>,
    /// `None`: the format's own (NERSC and ILDG big, the others little endian).
    pub byte_order: Option<ByteOrder>,
    /// Average Re tr U_p / 3. NERSC, openQCD and DDalphaAMG files cannot be without it.
    pub plaquette: Option<f64>,
    /// Average Re tr U / 3. NERSC files cannot be without it.
    pub link_trace: Option<f64>,
    pub ensemble_id: Option<String>,
    pub ensemble_label: Option<String>,
    pub sequence_number: Option<u64>,
    pub creator: Option<String>,
    /// `None`: now, in UTC. At most 63 bytes in MILC files.
    pub date: Option<String>,
    /// Logical file name of ILDG; `None`: no such record.
    pub lfn: Option<String>,
}

/// The fixed choices of one write, after defaults and checks.
struct Job<'a> {
    format: FileFormat,
    bits: u32,
    order: ByteOrder,
    extents: [usize; 4],
    links: &'a [f64],
    options: &'a WriteOptions,
}

impl Job<'_> {
    fn date(&self) -> String {
        self.options.date.clone().unwrap_or_else(text::utc_now)
    }

    /// A number that the header of this format must hold.
    fn required(&self, name: &str, value: Option<f64>) -> Result<f64> {
        match value {
            Some(value) => Ok(value),
            None => bail!(
                InvalidArgument,
                "options.{name} is missing, a {:?} file has it in its header",
                self.format
            ),
        }
    }
}

/// One row of the table of formats.
struct Codec {
    formats: &'static [FileFormat],
    /// Precisions that can be written, the default first.
    bits: &'static [u32],
    /// Byte orders that can be written, the default first.
    orders: &'static [ByteOrder],
    /// Does a file that begins like this look like the format?
    claims: fn(head: &[u8]) -> bool,
    read: fn(&mut Input, expect: Option<[usize; 4]>) -> Result<GaugeFile>,
    write: fn(&mut Output, &Job) -> Result<()>,
}

/// In the order in which they are asked: magic numbers first.
const CODECS: [&Codec; 4] = [&nersc::CODEC, &ildg::CODEC, &milc::CODEC, &linkmap::CODEC];

/// Bytes that detection looks at: the longest fixed header among formats without a magic.
const HEAD: usize = 24;

/// Reads a gauge configuration; the format is found from the content.
///
/// `expect` is the lattice X, Y, Z, T that the file must have, if given.
///
/// # Errors
/// `FileOpen`: no such regular file or it cannot be read; `FileFormat`: unknown, inconsistent
/// or unsupported header; `FileExtents`: not the lattice `expect`; `FileTruncated`: shorter
/// than its header says; `FileChecksum`: the data are not those that were written;
/// `OutOfMemory`: the links do not fit.
pub fn read_gauge(path: &Path, expect: Option<[usize; 4]>) -> Result<GaugeFile> {
    let mut input = Input::open(path)?;
    let head = input.peek(HEAD)?;
    match CODECS.iter().find(|codec| (codec.claims)(&head)) {
        Some(codec) => (codec.read)(&mut input, expect),
        None if head.len() < HEAD => bail!(
            FileTruncated,
            "{}: {} bytes are less than any known header",
            path.display(),
            head.len()
        ),
        None => bail!(
            FileFormat,
            "{}: not a NERSC, ILDG/SciDAC, MILC v5, openQCD or DDalphaAMG file",
            path.display()
        ),
    }
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
    let volume = extents.iter().try_fold(1usize, |v, &n| v.checked_mul(n));
    let fits = extents.iter().all(|&n| (1..=i32::MAX as usize).contains(&n));
    if !fits || volume.and_then(|v| v.checked_mul(SITE)) != Some(links.len()) {
        bail!(
            BadExtents,
            "extents {extents:?} need 72 numbers per site, links has {}",
            links.len()
        );
    }
    text::check_options(options)?;
    let codec = CODECS.iter().find(|codec| codec.formats.contains(&format)).expect("every format");
    let bits = options.precision_bits.unwrap_or(codec.bits[0]);
    let order = options.byte_order.unwrap_or(codec.orders[0]);
    if !codec.bits.contains(&bits) || !codec.orders.contains(&order) {
        bail!(
            Unsupported,
            "{format:?} files have {:?} bits and {:?} endian numbers, asked for {bits} bits, {order:?}",
            codec.bits,
            codec.orders
        );
    }
    let mut output = Output::create(path)?;
    (codec.write)(&mut output, &Job { format, bits, order, extents, links, options })?;
    output.commit()
}
