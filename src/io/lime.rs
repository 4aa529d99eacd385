//! The LIME container: records of a 144-byte header, data, and zeros up to a multiple of 8.
//!
//! | bytes of the header (big endian) | content |
//! | --- | --- |
//! | 0..4 | magic number 0x456789ab |
//! | 4..6 | version, 1 |
//! | 6..8 | bit 15: first record of a message, bit 14: last one |
//! | 8..16 | length of the data |
//! | 16..144 | type, ASCII, padded with zeros |

use super::stream::Input;
use crate::error::{Result, Status};

pub const MAGIC: [u8; 4] = [0x45, 0x67, 0x89, 0xab];
const HEADER: usize = 144;
const BEGIN: u16 = 1 << 15;
const END: u16 = 1 << 14;

/// Place of a record in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    First,
    Inside,
    Last,
}

pub struct Record {
    pub kind: String,
    /// Where the data begin in the file.
    pub offset: u64,
    pub length: u64,
    /// Does a message end here?
    pub last: bool,
}

/// The header at the present position; `None` at the end of the file. The position is then at
/// the record's data; [`skip`] goes on to the next header.
pub fn next(input: &mut Input) -> Result<Option<Record>> {
    if input.remaining() == 0 {
        return Ok(None);
    }
    let at = input.position();
    let header = input.bytes(HEADER)?;
    if header[..4] != MAGIC || header[4..6] != [0, 1] {
        let message = format!("no LIME record header of version 1 at byte {at}");
        return Err(input.error(Status::FileFormat, message));
    }
    let length = header[8..16].iter().fold(0, |n, b| n << 8 | *b as u64);
    let kind = String::from_utf8_lossy(&header[16..]);
    let kind = kind.split('\0').next().unwrap_or_default().to_owned();
    input.need(length, &format!("record {kind}"))?;
    input.need(length.next_multiple_of(8), &format!("padding of record {kind}"))?;
    let last = u16::from_be_bytes([header[6], header[7]]) & END != 0;
    Ok(Some(Record { kind, offset: input.position(), length, last }))
}

pub fn skip(input: &mut Input, record: &Record) -> Result<()> {
    input.seek(record.offset + record.length.next_multiple_of(8))
}

/// Appends a header; `length` bytes of data and [`pad`] must follow.
pub fn put_header(out: &mut Vec<u8>, place: Place, kind: &str, length: u64) {
    let flags = match place {
        Place::First => BEGIN,
        Place::Inside => 0,
        Place::Last => END,
    };
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(&MAGIC);
    header[5] = 1;
    header[6..8].copy_from_slice(&flags.to_be_bytes());
    header[8..16].copy_from_slice(&length.to_be_bytes());
    header[16..16 + kind.len()].copy_from_slice(kind.as_bytes());
    out.extend(header);
}

pub fn pad(out: &mut Vec<u8>, length: u64) {
    out.extend(&[0; 8][..(length.next_multiple_of(8) - length) as usize]);
}

/// Appends a record of text, closed by a zero byte as C programs expect it.
pub fn put_text(out: &mut Vec<u8>, place: Place, kind: &str, text: &str) {
    let length = text.len() as u64 + 1;
    put_header(out, place, kind, length);
    out.extend(text.as_bytes());
    out.push(0);
    pad(out, length);
}
