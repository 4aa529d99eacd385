//! MILC configurations in coordinate order: version 5, and the versions before it, which are read only.
//!
//! | bytes of version 5 | content |
//! | --- | --- |
//! | 0..4 | magic number 20103, in the byte order of the whole file |
//! | 4..20 | four int32: X, Y, Z, T |
//! | 20..84 | time stamp, ASCII, padded with zeros |
//! | 84..88 | int32: 0 for coordinate order (else a list of sites follows: not read) |
//! | 88..96 | two uint32: sum29, sum31 |
//! | 96.. | for each site, x fastest: four links μ = x, y, z, t, each 3×3 row-major complex float32 |
//!
//! The sums rotate the i-th 32-bit word of the links, read in the file's byte order, left by
//! i mod 29 and i mod 31 bits and combine all words by exclusive or.
//!
//! Versions 1 to 4 have the magic number 59354, extents, two float32 (β, mass), then the links: 28
//! bytes before them. The version of 1996 has 53546, extents, the length of its header in bytes (int32 at
//! 20), the order (int32 at 24, as above), a description, and behind the header four unused bytes, then the
//! links. Neither has a checksum.

use super::data::{Data, Sum};
use super::stream::{words, Input};
use super::{ByteOrder, Codec, FileFormat, FileInfo, Frame, Header, Job, Known, MATRIX};
use crate::error::{Result, Status};
use crate::refuse;

pub const CODEC: Codec = Codec {
    formats: &[FileFormat::Milc],
    bits: &[32],
    orders: &[ByteOrder::Little, ByteOrder::Big],
    claims: |head| magic(head).is_some(),
    open,
    frame,
};

const MAGIC: u32 = 20103;
/// Magic number of versions 1 to 4.
const OLD_MAGIC: u32 = 59354;
const MAGIC_1996: u32 = 53546;
const HEADER: usize = 96;
const STAMP: std::ops::Range<usize> = 20..84;
/// Sizes in bytes that a header of 1996 may have.
const HEADER_1996: std::ops::RangeInclusive<u32> = 28..=4096;

/// The magic number at the beginning of a file, with its byte order.
fn magic(head: &[u8]) -> Option<(u32, ByteOrder)> {
    let magic = *head.first_chunk::<4>()?;
    let known = |magic| [MAGIC, OLD_MAGIC, MAGIC_1996].contains(&magic);
    match (u32::from_le_bytes(magic), u32::from_be_bytes(magic)) {
        (magic, _) if known(magic) => Some((magic, ByteOrder::Little)),
        (_, magic) if known(magic) => Some((magic, ByteOrder::Big)),
        _ => None,
    }
}

fn open(input: &mut Input, expect: Option<[usize; 4]>, _: Known) -> Result<Header> {
    let (magic, byte_order) = magic(&input.peek(4)?).expect("claimed");
    let header = input.bytes(if magic == MAGIC { HEADER } else { 28 })?;
    let mut fields = vec![0; header.len() / 4];
    words(&header, byte_order, &mut fields);
    let extents = input.extents([1, 2, 3, 4].map(|i| fields[i] as u64), expect)?;
    let mut info = FileInfo::new(FileFormat::Milc, 32, byte_order);
    let (site_order, stored) = match magic {
        MAGIC => {
            let stamp = String::from_utf8_lossy(&header[STAMP]);
            info.date = stamp.split('\0').next().filter(|s| !s.is_empty()).map(String::from);
            (fields[21], Some([fields[22], fields[23]]))
        }
        MAGIC_1996 => {
            if !HEADER_1996.contains(&fields[5]) {
                let message = format!("a header of {} bytes is none of MILC's of 1996", fields[5]);
                return Err(input.error(Status::FileFormat, message));
            }
            let before_links = fields[5] as u64 + 4;
            input.need(before_links - input.position(), "header")?;
            input.seek(before_links)?;
            (fields[6], None)
        }
        _ => (0, None),
    };
    if site_order != 0 {
        let message = "sites in the order of a node dump, only coordinate order is read";
        return Err(input.error(Status::FileFormat, message));
    }
    let data = Data { offset: input.position(), ..data(byte_order) };
    input.need_exactly(data.length(extents), "links")?;
    Ok(Header { extents, info, data, stored })
}

fn data(order: ByteOrder) -> Data {
    Data::gauge(32, order, MATRIX, Sum::Milc)
}

fn frame(job: &Job, sums: [u32; 2]) -> Result<Frame> {
    let date = job.date();
    if date.len() >= STAMP.len() {
        refuse!(
            InvalidArgument,
            "date",
            expected("at most 63 bytes for MILC's time stamp"),
            found("{}", date.len())
        );
    }
    let number = |value: u32| match job.order {
        ByteOrder::Little => value.to_le_bytes(),
        ByteOrder::Big => value.to_be_bytes(),
    };
    let mut header = vec![0; HEADER];
    header[..4].copy_from_slice(&number(MAGIC));
    for (i, n) in job.extents.iter().enumerate() {
        header[4 + 4 * i..][..4].copy_from_slice(&number(*n as u32));
    }
    header[STAMP][..date.len()].copy_from_slice(date.as_bytes());
    header[88..92].copy_from_slice(&number(sums[0]));
    header[92..96].copy_from_slice(&number(sums[1]));
    Ok(Frame::new(header, data(job.order), Vec::new()))
}
