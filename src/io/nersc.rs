//! NERSC archive configurations.
//!
//! A text header of lines `KEY = value` between `BEGIN_HEADER` and `END_HEADER`, then for each
//! site, x fastest, the links μ = x, y, z, t, row-major complex: rows 0 and 1 if `DATATYPE` is
//! `4D_SU3_GAUGE` (the third is conj(row0 × row1)), all rows if `4D_SU3_GAUGE_3x3`.
//!
//! | key | meaning |
//! | --- | --- |
//! | `DIMENSION_1`..`4` | X, Y, Z, T |
//! | `FLOATING_POINT` | `IEEE32` or `IEEE64` with `BIG` or `LITTLE`; without either word programs disagree, and the first link tells |
//! | `CHECKSUM` | hexadecimal sum mod 2³² of the 32-bit words of the links |
//! | `PLAQUETTE`, `LINK_TRACE` | averages of Re tr U_p / 3 and Re tr U / 3 |
//! | `ENSEMBLE_ID`, `ENSEMBLE_LABEL`, `SEQUENCE_NUMBER`, `CREATOR`, `CREATION_DATE` | text |

use super::stream::{decode, encode, Input, Output};
use super::text::{decimal, resolution};
use super::{ByteOrder, Codec, FileFormat, FileInfo, GaugeFile, Job, MATRIX, SITE};
use crate::error::{Result, Status};

pub const CODEC: Codec = Codec {
    formats: &[FileFormat::Nersc, FileFormat::Nersc3x3],
    bits: &[64, 32],
    orders: &[ByteOrder::Big, ByteOrder::Little],
    claims: |head| head.starts_with(b"BEGIN_HEADER"),
    read,
    write,
};

/// No header is longer.
const LONGEST_HEADER: usize = 1 << 16;
const END: &[u8] = b"END_HEADER\n";

/// The lines of a header.
struct Header(String);

impl Header {
    fn read(input: &mut Input) -> Result<Self> {
        let text = input.peek(LONGEST_HEADER)?;
        let Some(at) = text.windows(END.len()).position(|window| window == END) else {
            let (status, why) = match text.len() {
                LONGEST_HEADER => (Status::FileFormat, "no END_HEADER in the first 64 KiB"),
                _ => (Status::FileTruncated, "the file ends inside its header"),
            };
            return Err(input.error(status, why));
        };
        input.seek((at + END.len()) as u64)?;
        Ok(Header(String::from_utf8_lossy(&text[..at]).into_owned()))
    }

    fn get(&self, key: &str) -> Option<&str> {
        let pairs = self.0.lines().filter_map(|line| line.split_once('='));
        let value = pairs.map(|(k, v)| (k.trim(), v.trim())).find(|(k, _)| *k == key)?.1;
        Some(value).filter(|value| !value.is_empty())
    }

    /// A value that must be there and make sense.
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

fn read(input: &mut Input, expect: Option<[usize; 4]>) -> Result<GaugeFile> {
    let header = Header::read(input)?;
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
    let stored = header
        .parse(input, "CHECKSUM", |v| u32::from_str_radix(v.trim_start_matches("0x"), 16).ok())?;
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
    let volume = extents.iter().product::<usize>();
    let site_bytes = 4 * row_numbers(format) * bits as usize / 8;
    input.need_exactly((volume * site_bytes) as u64, "links")?;
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

    let mut links = input.allocate(extents)?;
    let mut checksum = 0u32;
    let mut scratch = Vec::new();
    input.stream(volume, site_bytes, |first, raw| {
        checksum = checksum.wrapping_add(sum_words(raw, order));
        let sites = &mut links[SITE * first..][..SITE * (raw.len() / site_bytes)];
        if format == FileFormat::Nersc3x3 {
            return decode(raw, bits, order, sites);
        }
        scratch.resize(raw.len() / (bits as usize / 8), 0.0);
        decode(raw, bits, order, &mut scratch);
        for (link, rows) in sites.chunks_exact_mut(MATRIX).zip(scratch.chunks_exact(12)) {
            link[..12].copy_from_slice(rows);
            link[12..].copy_from_slice(&third_row(rows.try_into().expect("12 numbers")));
        }
    })?;
    if checksum != stored {
        let message = format!("checksum {checksum:x} of the links, {stored:x} in the header");
        return Err(input.error(Status::FileChecksum, message));
    }
    Ok(GaugeFile { extents, links, info })
}

fn write(output: &mut Output, job: &Job) -> Result<()> {
    let options = job.options;
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
    let header = |checksum: u32| {
        format!(
            "BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = {datatype}\nSTORAGE_FORMAT = 1.0\n\
             DIMENSION_1 = {x}\nDIMENSION_2 = {y}\nDIMENSION_3 = {z}\nDIMENSION_4 = {t}\n\
             LINK_TRACE = {}\nPLAQUETTE = {}\n\
             BOUNDARY_1 = PERIODIC\nBOUNDARY_2 = PERIODIC\n\
             BOUNDARY_3 = PERIODIC\nBOUNDARY_4 = PERIODIC\n\
             CHECKSUM = {checksum:08x}\nENSEMBLE_ID = {}\nENSEMBLE_LABEL = {}\n\
             SEQUENCE_NUMBER = {}\nCREATOR = {}\nCREATOR_HARDWARE = {}\nCREATION_DATE = {date}\n\
             ARCHIVE_DATE = {date}\nFLOATING_POINT = IEEE{}{order}\nEND_HEADER\n",
            decimal(link_trace),
            decimal(plaquette),
            text(&options.ensemble_id),
            text(&options.ensemble_label),
            options.sequence_number.unwrap_or(0),
            text(&options.creator),
            std::env::consts::ARCH,
            job.bits,
        )
    };
    // The checksum has a fixed width, so the header can be written again when it is known.
    output.put(header(0).as_bytes())?;
    let numbers = row_numbers(job.format);
    let mut checksum = 0u32;
    let mut scratch = Vec::new();
    output.stream(job.links.len() / SITE, 4 * numbers * job.bits as usize / 8, |first, raw| {
        let count = raw.len() / (numbers * job.bits as usize / 8);
        let links = &job.links[SITE * first..][..MATRIX * count];
        scratch.clear();
        scratch.extend(links.chunks_exact(MATRIX).flat_map(|link| &link[..numbers]));
        encode(&scratch, job.bits, job.order, raw);
        checksum = checksum.wrapping_add(sum_words(raw, job.order));
    })?;
    output.put_first(header(checksum).as_bytes())
}

/// Real numbers that the file holds of a link.
fn row_numbers(format: FileFormat) -> usize {
    match format {
        FileFormat::Nersc3x3 => 18,
        _ => 12,
    }
}

fn sum_words(raw: &[u8], order: ByteOrder) -> u32 {
    let sum = |word: fn([u8; 4]) -> u32| {
        let words = raw.chunks_exact(4).map(|b| word([b[0], b[1], b[2], b[3]]));
        words.fold(0, u32::wrapping_add)
    };
    match order {
        ByteOrder::Little => sum(u32::from_le_bytes),
        ByteOrder::Big => sum(u32::from_be_bytes),
    }
}

/// Third row of an SU(3) matrix: conj(row0 × row1).
fn third_row(rows: &[f64; 12]) -> [f64; 6] {
    let mut third = [0.0; 6];
    for column in 0..3 {
        let (j, k) = (2 * ((column + 1) % 3), 2 * ((column + 2) % 3));
        let (a, b) = ([rows[j], rows[j + 1]], [rows[k], rows[k + 1]]);
        let (c, d) = ([rows[6 + j], rows[7 + j]], [rows[6 + k], rows[7 + k]]);
        third[2 * column] = a[0] * d[0] - a[1] * d[1] - (b[0] * c[0] - b[1] * c[1]);
        third[2 * column + 1] = b[0] * c[1] + b[1] * c[0] - (a[0] * d[1] + a[1] * d[0]);
    }
    third
}

/// The byte order in which the first row of the first link has unit length; big if neither.
fn guess_order(first_row: &[u8], bits: u32) -> ByteOrder {
    let mut row = [0.0; 6];
    decode(first_row, bits, ByteOrder::Little, &mut row);
    match row.iter().map(|v| v * v).sum::<f64>() {
        norm if (norm - 1.0).abs() < 0.1 => ByteOrder::Little,
        _ => ByteOrder::Big,
    }
}
