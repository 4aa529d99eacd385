//! MILC configurations, version 5, in coordinate order.
//!
//! | bytes | content |
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

use super::data::{Data, Sum};
use super::stream::{words, Input};
use super::{ByteOrder, Codec, FileFormat, FileInfo, Frame, Header, Job, MATRIX};
use crate::bail;
use crate::error::{Result, Status};

pub const CODEC: Codec = Codec {
    formats: &[FileFormat::Milc],
    bits: &[32],
    orders: &[ByteOrder::Little, ByteOrder::Big],
    claims: |head| byte_order(head).is_some(),
    open,
    frame,
};

const MAGIC: u32 = 20103;
const HEADER: usize = 96;
const STAMP: std::ops::Range<usize> = 20..84;

fn byte_order(head: &[u8]) -> Option<ByteOrder> {
    let magic = head.first_chunk::<4>()?;
    match (u32::from_le_bytes(*magic), u32::from_be_bytes(*magic)) {
        (MAGIC, _) => Some(ByteOrder::Little),
        (_, MAGIC) => Some(ByteOrder::Big),
        _ => None,
    }
}

fn open(input: &mut Input, expect: Option<[usize; 4]>, _: Option<FileFormat>) -> Result<Header> {
    let header = input.bytes(HEADER)?;
    let order = byte_order(&header).expect("claimed");
    let mut fields = [0; HEADER / 4];
    words(&header, order, &mut fields);
    let extents = input.extents([1, 2, 3, 4].map(|i| fields[i] as u64), expect)?;
    if fields[21] != 0 {
        let message = "sites in the order of a node dump, only coordinate order is read";
        return Err(input.error(Status::FileFormat, message));
    }
    let data = data(order);
    input.need_exactly(data.length(extents), "links")?;
    let mut info = FileInfo::new(FileFormat::Milc, 32, order);
    let stamp = String::from_utf8_lossy(&header[STAMP]);
    info.date = stamp.split('\0').next().filter(|s| !s.is_empty()).map(String::from);
    Ok(Header { extents, info, data, stored: Some([fields[22], fields[23]]) })
}

fn data(order: ByteOrder) -> Data {
    Data { offset: HEADER as u64, ..Data::gauge(32, order, MATRIX, Sum::Milc) }
}

fn frame(job: &Job, sums: [u32; 2]) -> Result<Frame> {
    let date = job.date();
    if date.len() >= STAMP.len() {
        bail!(
            InvalidArgument,
            "date: expected at most 63 bytes for MILC's time stamp, found {}",
            date.len()
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
