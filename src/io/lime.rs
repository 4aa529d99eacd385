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
use super::{Warning, Warnings};
use crate::error::{Result, Status};

pub const MAGIC: [u8; 4] = [0x45, 0x67, 0x89, 0xab];
const HEADER: usize = 144;
const BEGIN: u16 = 1 << 15;
const END: u16 = 1 << 14;

/// Position of a record in its message: first, last, both or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordPosition {
    First,
    Inside,
    Last,
}

pub struct Record {
    pub kind: String,
    /// Position in the file where the data begin.
    pub offset: u64,
    pub length: u64,
}

impl Record {
    /// The data as text, without zeros and blanks at both ends.
    pub fn text(&self, input: &mut Input) -> Result<String> {
        input.seek(self.offset)?;
        let text = input.bytes(self.length as usize)?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.trim_matches(|c: char| c == '\0' || c.is_whitespace()).into())
    }
}

/// Observations, from the flags of records and the end of a file, that tell whether the file is complete.
#[derive(Default)]
pub struct Ending {
    warnings: Warnings,
    /// True if the last record ends its message.
    closed: bool,
    /// True if some record ends its message.
    flagged: bool,
    /// Position of a record header that is cut off by the end of the file.
    cut: Option<u64>,
    /// Position of bytes at the end that are no record.
    trailing: Option<u64>,
}

/// Calls `visit` with every record of a file.
pub fn scan(
    input: &mut Input,
    mut visit: impl FnMut(&mut Input, Record) -> Result<()>,
) -> Result<Ending> {
    let mut ending = Ending { closed: true, ..Default::default() };
    while input.remaining() > 0 {
        let at = input.position();
        let header = input.peek(HEADER)?;
        let magic = header.len().min(MAGIC.len());
        if header[..magic] != MAGIC[..magic] {
            ending.trailing = Some(at);
            break;
        }
        if header.len() < HEADER {
            ending.cut = Some(at);
            break;
        }
        if header[4..6] != [0, 1] {
            let message = format!("no LIME record header of version 1 at byte {at}");
            return Err(input.error(Status::FileFormat, message));
        }
        let flags = u16::from_be_bytes([header[6], header[7]]);
        if !ending.closed && flags & BEGIN != 0 {
            ending.warnings.insert(Warning::MessageEnd);
        }
        ending.closed = flags & END != 0;
        ending.flagged |= ending.closed;
        let length = header[8..16].iter().fold(0, |n, b| n << 8 | *b as u64);
        let kind = String::from_utf8_lossy(&header[16..]);
        let kind = kind.split('\0').next().unwrap_or_default().to_owned();
        let offset = at + HEADER as u64;
        input.seek(offset)?;
        input.need(length, &format!("record {kind}"))?;
        visit(input, Record { kind, offset, length })?;
        input.seek(offset + length)?;
        let padding = length.wrapping_neg() % 8;
        if padding > input.remaining() {
            ending.warnings.insert(Warning::Padding);
            break;
        }
        input.seek(offset + length + padding)?;
    }
    Ok(ending)
}

impl Ending {
    /// The faults of a file whose records contain `data`; `complete`: all data are there, whatever the flags say.
    ///
    /// # Errors
    /// `FileTruncated`: something is missing; `FileFormat`: bytes that are no record where one should be.
    pub fn warnings(&self, input: &Input, data: bool, complete: bool) -> Result<Warnings> {
        let mut warnings = self.warnings;
        let truncated = |message: &str| Err(input.error(Status::FileTruncated, message));
        if let Some(at) = self.cut {
            return truncated(&format!(
                "it ends inside a LIME record header that begins at byte {at}"
            ));
        }
        if let Some(at) = self.trailing {
            if !data || !(self.closed || complete) {
                let message = format!("no LIME record header of version 1 at byte {at}");
                return Err(input.error(Status::FileFormat, message));
            }
            warnings.insert(Warning::Trailing);
        }
        if !self.closed {
            if !data || self.flagged && !complete {
                return truncated("it ends before the last LIME message does");
            }
            warnings.insert(Warning::MessageEnd);
        }
        Ok(warnings)
    }
}

/// Appends the header of a record, after which `length` bytes of data and [`pad`] bytes must be written.
pub fn put_header(out: &mut Vec<u8>, place: RecordPosition, kind: &str, length: u64) {
    let flags = match place {
        RecordPosition::First => BEGIN,
        RecordPosition::Inside => 0,
        RecordPosition::Last => END,
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

/// Appends a record of text, which ends with a zero byte as C programs expect.
pub fn put_text(out: &mut Vec<u8>, place: RecordPosition, kind: &str, text: &str) {
    let length = text.len() as u64 + 1;
    put_header(out, place, kind, length);
    out.extend(text.as_bytes());
    out.push(0);
    pad(out, length);
}
