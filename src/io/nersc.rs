//! NERSC archive configurations.
//!
//! A text header of lines `KEY = value` between the lines `BEGIN_HEADER` and `END_HEADER`, which end with a line
//! feed, with a carriage return before it or without, then for each site, x fastest, the links μ = x, y, z, t,
//! row-major complex: rows 0 and 1 if `DATATYPE` is `4D_SU3_GAUGE` (the third is conj(row0 × row1)), all rows if
//! `4D_SU3_GAUGE_3x3`.
//!
//! | key | meaning |
//! | --- | --- |
//! | `DIMENSION_1`..`4` | X, Y, Z, T |
//! | `FLOATING_POINT` | `IEEE32` or `IEEE64` with `BIG` or `LITTLE`; without either word programs disagree, and the first link tells |
//! | `CHECKSUM` | hexadecimal sum mod 2³² of the 32-bit words of the links; read without it, too |
//! | `PLAQUETTE`, `LINK_TRACE` | averages of Re tr U_p / 3 and Re tr U / 3 |
//! | `ENSEMBLE_ID`, `ENSEMBLE_LABEL`, `SEQUENCE_NUMBER`, `CREATOR`, `CREATION_DATE` | text |

use super::data::{Data, Sum};
use super::stream::{decode, Input};
use super::text::{decimal, hexadecimal, resolution};
use super::{ByteOrder, Codec, FileFormat, FileInfo, Frame, Header, Job, Known, MATRIX};
use crate::error::{Result, Status};

pub const CODEC: Codec = Codec {
    formats: &[FileFormat::Nersc, FileFormat::Nersc3x3],
    bits: &[64, 32],
    orders: &[ByteOrder::Big, ByteOrder::Little],
    claims: |head| head.starts_with(b"BEGIN_HEADER"),
    open,
    frame,
};

/// Largest length of a header in bytes.
const LONGEST_HEADER: usize = 1 << 16;
const END: &[u8] = b"END_HEADER";
/// Largest number of blanks and empty lines between header and links.
const LONGEST_BLANKS: u64 = 4096;

/// The lines of a header.
struct Lines(String);

impl Lines {
    fn read(input: &mut Input) -> Result<Self> {
        let text = input.peek(LONGEST_HEADER)?;
        let mut at = 0;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            // END_HEADER must be a line of its own, as values may contain the word.
            if line.ends_with(b"\n") && line.trim_ascii() == END {
                input.seek((at + line.len()) as u64)?;
                return Ok(Lines(String::from_utf8_lossy(&text[..at]).into_owned()));
            }
            at += line.len();
        }
        let (status, why) = match text.len() {
            LONGEST_HEADER => (Status::FileFormat, "no END_HEADER in the first 64 KiB"),
            _ => (Status::FileTruncated, "it ends inside its header"),
        };
        Err(input.error(status, why))
    }

    fn get(&self, key: &str) -> Option<&str> {
        let pairs = self.0.lines().filter_map(|line| line.split_once('='));
        let value = pairs.map(|(k, v)| (k.trim(), v.trim())).find(|(k, _)| *k == key)?.1;
        Some(value).filter(|value| !value.is_empty())
    }

    /// The value of a required key; an error if it is missing or `parse` rejects it.
    fn parse<T>(&self, input: &Input, key: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        match self.get(key) {
            Some(value) => parse(value).ok_or_else(|| {
                input.error(Status::FileFormat, format!("{key} = {value} is not understood"))
            }),
            None => Err(input.error(Status::FileFormat, format!("the header has no {key}"))),
        }
    }

    fn average(&self, input: &Input, key: &str) -> Result<Option<(f64, f64)>> {
        if self.get(key).is_none() {
            return Ok(None);
        }
        let value =
            |v: &str| v.parse().ok().filter(|x: &f64| x.is_finite()).map(|x| (x, resolution(v)));
        self.parse(input, key, value).map(Some)
    }
}

fn open(input: &mut Input, expect: Option<[usize; 4]>, _: Known) -> Result<Header> {
    let header = Lines::read(input)?;
    let format = header.parse(input, "DATATYPE", |v| match v {
        "4D_SU3_GAUGE" => Some(FileFormat::Nersc),
        "4D_SU3_GAUGE_3x3" | "4D_SU3_GAUGE_3X3" => Some(FileFormat::Nersc3x3),
        _ => None,
    })?;
    let mut found = [0; 4];
    for (n, key) in found.iter_mut().zip(1..) {
        *n = header.parse(input, &format!("DIMENSION_{key}"), |v| v.parse().ok())?;
    }
    let extents = input.extents(found, expect)?;
    let stored = match header.get("CHECKSUM") {
        Some(_) => Some([header.parse(input, "CHECKSUM", hexadecimal)?, 0]),
        None => None,
    };
    let (bits, order) = match header.get("FLOATING_POINT") {
        None => (32, Some(ByteOrder::Big)),
        Some(_) => header.parse(input, "FLOATING_POINT", |v| match v {
            "IEEE32BIG" => Some((32, Some(ByteOrder::Big))),
            "IEEE32LITTLE" => Some((32, Some(ByteOrder::Little))),
            "IEEE32" => Some((32, None)),
            "IEEE64BIG" => Some((64, Some(ByteOrder::Big))),
            "IEEE64LITTLE" => Some((64, Some(ByteOrder::Little))),
            "IEEE64" => Some((64, None)),
            _ => None,
        })?,
    };
    let plaquette = header.average(input, "PLAQUETTE")?;
    let link_trace = header.average(input, "LINK_TRACE")?;
    // The length does not depend on the byte order, which is determined later.
    let data = data(format, bits, ByteOrder::Big);
    let length = data.length(extents);
    skip_blanks(input, length)?;
    input.need_exactly(length, "links")?;
    let offset = input.position();
    let order = match order {
        Some(order) => order,
        None => guess_order(&input.peek(6 * bits as usize / 8)?, bits),
    };

    let mut info = FileInfo::new(format, bits, order);
    info.plaquette = plaquette.map(|p| p.0);
    info.link_trace = link_trace.map(|l| l.0);
    info.header_resolution = plaquette.iter().chain(&link_trace).fold(0.0, |r, v| v.1.max(r));
    let text = |key| header.get(key).map(String::from);
    info.ensemble_id = text("ENSEMBLE_ID");
    info.ensemble_label = text("ENSEMBLE_LABEL");
    info.sequence_number = header.get("SEQUENCE_NUMBER").and_then(|v| v.parse().ok());
    info.creator = text("CREATOR");
    info.date = text("CREATION_DATE");
    info.boundary_time = text("BOUNDARY_4");

    let data = Data { offset, order, ..data };
    Ok(Header { extents, info, data, stored })
}

/// Moves to the last `length` bytes if there are only blanks before them.
fn skip_blanks(input: &mut Input, length: u64) -> Result<()> {
    let extra = input.remaining().saturating_sub(length);
    if (1..=LONGEST_BLANKS).contains(&extra) {
        let between = input.peek(extra as usize)?;
        if between.iter().all(u8::is_ascii_whitespace) {
            input.seek(input.position() + extra)?;
        }
    }
    Ok(())
}

fn data(format: FileFormat, bits: u32, order: ByteOrder) -> Data {
    let numbers = if format == FileFormat::Nersc3x3 { MATRIX } else { 12 };
    Data::gauge(bits, order, numbers, Sum::Nersc)
}

/// Makes the header; the checksum has a fixed width, so that the header's length does not depend on it.
fn frame(job: &Job, [checksum, _]: [u32; 2]) -> Result<Frame> {
    let options = &job.options;
    let plaquette = job.required("plaquette", options.plaquette)?;
    let link_trace = job.required("link_trace", options.link_trace)?;
    let datatype = match job.format {
        FileFormat::Nersc3x3 => "4D_SU3_GAUGE_3x3",
        _ => "4D_SU3_GAUGE",
    };
    let [x, y, z, t] = job.extents;
    let order = if job.order == ByteOrder::Big { "BIG" } else { "LITTLE" };
    let date = job.date();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let header = format!(
        "BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = {datatype}\nSTORAGE_FORMAT = 1.0\n\
             DIMENSION_1 = {x}\nDIMENSION_2 = {y}\nDIMENSION_3 = {z}\nDIMENSION_4 = {t}\n\
             LINK_TRACE = {}\nPLAQUETTE = {}\n\
             BOUNDARY_1 = PERIODIC\nBOUNDARY_2 = PERIODIC\n\
             BOUNDARY_3 = PERIODIC\nBOUNDARY_4 = {}\n\
             CHECKSUM = {checksum:08x}\nENSEMBLE_ID = {}\nENSEMBLE_LABEL = {}\n\
             SEQUENCE_NUMBER = {}\nCREATOR = {}\nCREATOR_HARDWARE = {}\nCREATION_DATE = {date}\n\
             ARCHIVE_DATE = {date}\nFLOATING_POINT = IEEE{}{order}\nEND_HEADER\n",
        decimal(link_trace),
        decimal(plaquette),
        options.boundary_time.as_deref().map_or("PERIODIC".into(), str::to_uppercase),
        text(&options.ensemble_id),
        text(&options.ensemble_label),
        options.sequence_number.unwrap_or(0),
        text(&options.creator),
        std::env::consts::ARCH,
        job.bits,
    );
    Ok(Frame::new(header.into_bytes(), data(job.format, job.bits, job.order), Vec::new()))
}

/// The byte order in which the first row of the first link has length 1; big if neither.
fn guess_order(first_row: &[u8], bits: u32) -> ByteOrder {
    let mut row = [0.0; 6];
    decode(first_row, bits, ByteOrder::Little, &mut row);
    match row.iter().map(|v| v * v).sum::<f64>() {
        norm if (norm - 1.0).abs() < 0.1 => ByteOrder::Little,
        _ => ByteOrder::Big,
    }
}
