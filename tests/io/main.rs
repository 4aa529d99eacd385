//! Tests of gauge configuration files: round trips, layouts against explicit formulas, damage, refused writes, and
//! files that other codes wrote.

mod configurations;
mod damage;
mod lattice;
mod variants;
mod vectors;
mod writing;

use lattice::*;
use plaq::error::Status;
use plaq::io::{
    read_gauge, write_gauge, ByteOrder, FileFormat, GaugeFile, GaugeReader, Part, WriteOptions,
};
use std::fs;

const FORMATS: [FileFormat; 6] = [
    FileFormat::Nersc,
    FileFormat::Nersc3x3,
    FileFormat::Ildg,
    FileFormat::Milc,
    FileFormat::OpenQcd,
    FileFormat::DdAlphaAmg,
];

fn precisions(format: FileFormat) -> &'static [u32] {
    match format {
        FileFormat::Nersc | FileFormat::Nersc3x3 | FileFormat::Ildg => &[32, 64],
        FileFormat::Milc => &[32],
        FileFormat::OpenQcd | FileFormat::DdAlphaAmg => &[64],
    }
}

fn orders(format: FileFormat) -> &'static [ByteOrder] {
    match format {
        FileFormat::Nersc | FileFormat::Nersc3x3 | FileFormat::Milc => {
            &[ByteOrder::Little, ByteOrder::Big]
        }
        FileFormat::Ildg => &[ByteOrder::Big],
        FileFormat::OpenQcd | FileFormat::DdAlphaAmg => &[ByteOrder::Little],
    }
}

fn options(n: [usize; 4], links: &[f64]) -> WriteOptions {
    WriteOptions {
        plaquette: Some(plaquette(n, links)),
        link_trace: Some(link_trace(n, links)),
        ensemble_id: Some("b6.0 <test> & more".into()),
        ensemble_label: Some("quenched".into()),
        sequence_number: Some(1234),
        creator: Some("tests/io.rs".into()),
        date: Some("Thu Feb 12 13:40:21 1998".into()),
        lfn: Some("lfn://plaq/test".into()),
        ..Default::default()
    }
}

#[test]
fn round_trips() {
    let folder = Folder::new("round");
    let path = folder.file("lattice");
    let mut random = Random(1);
    // Mixed extents; odd extents; and a lattice that takes several chunks of the stream.
    for (n, disorder) in [([4, 6, 2, 8], 9.0), ([3, 5, 1, 2], 9.0), ([10, 12, 8, 14], 0.3)] {
        let links = random.links(n, disorder);
        for format in FORMATS {
            for (&bits, &order) in
                precisions(format).iter().flat_map(|b| orders(format).iter().map(move |o| (b, o)))
            {
                let what = format!("{format:?} {bits} {order:?} {n:?}");
                let mut options = options(n, &links);
                options.precision_bits = Some(bits);
                options.byte_order = Some(order);
                let written = write_gauge(&path, format, &options, n, &links);
                if format == FileFormat::OpenQcd && n.iter().any(|n| n % 2 == 1) {
                    assert_eq!(written.unwrap_err().status, Status::BadExtents, "{what}");
                    continue;
                }
                written.expect(&what);
                let file = read_gauge(&path, Some(n)).expect(&what);
                assert_eq!(file.extents, n, "{what}");
                check_links(&file, &links, &what);
                check_info(&file, &options, format, &what);
                assert_eq!((file.info.precision_bits, file.info.byte_order), (bits, order));
            }
        }
    }
    assert_eq!(folder.names(), ["lattice"], "temporary files were left behind");
}

/// Checks links that were read: equal bit for bit if stored in double precision, equal after rounding if in single; a
/// third row is computed from entries with that error.
fn check_links(file: &GaugeFile, links: &[f64], what: &str) {
    let single = file.info.precision_bits == 32;
    for (i, (found, given)) in file.links.iter().zip(links).enumerate() {
        if file.info.format == FileFormat::Nersc && i % 18 >= 12 {
            let bound = if single { 8.0 * f32::EPSILON as f64 } else { 8.0 * f64::EPSILON };
            assert!((found - given).abs() < bound, "{what}: {found} {given}");
        } else {
            let stored = if single { *given as f32 as f64 } else { *given };
            assert_eq!(*found, stored, "{what}");
        }
    }
}

fn check_info(file: &GaugeFile, options: &WriteOptions, format: FileFormat, what: &str) {
    let info = &file.info;
    assert_eq!(info.format, format, "{what}");
    let close = |found: Option<f64>, given: Option<f64>| {
        (found.unwrap() - given.unwrap()).abs() <= info.header_resolution + f64::EPSILON
    };
    assert!(info.header_resolution < 1e-15);
    let text = matches!(format, FileFormat::Nersc | FileFormat::Nersc3x3 | FileFormat::Ildg);
    if format == FileFormat::Milc {
        assert_eq!((info.plaquette, info.link_trace), (None, None));
    } else {
        assert!(close(info.plaquette, options.plaquette), "{what}");
    }
    if text {
        assert!(close(info.link_trace, options.link_trace), "{what}");
        assert_eq!(info.ensemble_id, options.ensemble_id, "{what}");
        assert_eq!(info.ensemble_label, options.ensemble_label, "{what}");
        assert_eq!(info.sequence_number, options.sequence_number, "{what}");
        assert_eq!(info.creator, options.creator, "{what}");
    }
    if text || format == FileFormat::Milc {
        assert_eq!(info.date, options.date, "{what}");
    }
    assert_eq!(info.lfn.is_some(), format == FileFormat::Ildg);
}

#[test]
fn openqcd_and_ddalphaamg_are_told_apart() {
    let folder = Folder::new("apart");
    let path = folder.file("lattice");
    // Smooth links; disordered links, with a plaquette near 0, for which the whole lattice must decide; and lattices
    // larger than the sample of links.
    for (n, disorder) in
        [([4, 4, 4, 4], 0.1), ([2, 2, 2, 2], 9.0), ([6, 4, 8, 2], 9.0), ([8, 8, 8, 10], 9.0)]
    {
        let links = Random(5).links(n, disorder);
        for format in [FileFormat::OpenQcd, FileFormat::DdAlphaAmg] {
            write_gauge(&path, format, &options(n, &links), n, &links).unwrap();
            let file = read_gauge(&path, None).unwrap();
            assert_eq!((file.info.format, file.extents), (format, n), "{n:?}");
            assert_eq!(file.links, links);
            // A reader that is told the format takes it, and can read the links of a part in either order.
            for told in [FileFormat::OpenQcd, FileFormat::DdAlphaAmg] {
                let mut reader = GaugeReader::open_as(&path, None, told).unwrap();
                assert_eq!(reader.info().format, told);
                let lattice = reader.extents();
                let part = Part { extents: lattice.map(|l| l / 2), ..Part::whole(lattice) };
                let (found, _) = reader.read(&part).unwrap();
                let right = told == format;
                let site = &links[..72];
                assert_eq!(&found[..72] == site, right, "{n:?} {format:?} told {told:?}");
            }
        }
    }
}

/// Links of a file in openQCD's layout are in the order of this independent formula: header T, X, Y, Z and 3 P; odd
/// points with the last coordinate fastest; links +0, −0, … +3, −3 with direction 0 = time.
#[test]
fn openqcd_layout() {
    let folder = Folder::new("openqcd");
    let (ours, path) = (folder.file("ours"), folder.file("spelled"));
    let n = [4, 2, 6, 8];
    let links = Random(6).links(n, 0.5);
    let mut bytes = Vec::new();
    for extent in [8i32, 4, 2, 6] {
        bytes.extend(extent.to_le_bytes());
    }
    bytes.extend((3.0 * plaquette(n, &links)).to_le_bytes());
    for (t, x, y, z) in (0..8).flat_map(|t| {
        (0..4).flat_map(move |x| (0..2).flat_map(move |y| (0..6).map(move |z| (t, x, y, z))))
    }) {
        if (t + x + y + z) % 2 == 0 {
            continue;
        }
        let sites = [
            ([x, y, z, t], 3),
            ([x, y, z, (t + 7) % 8], 3),
            ([x, y, z, t], 0),
            ([(x + 3) % 4, y, z, t], 0),
            ([x, y, z, t], 1),
            ([x, (y + 1) % 2, z, t], 1),
            ([x, y, z, t], 2),
            ([x, y, (z + 5) % 6, t], 2),
        ];
        for (site, mu) in sites {
            for entry in link(n, &links, site, mu).into_iter().flatten() {
                bytes.extend(entry.re.to_le_bytes());
                bytes.extend(entry.im.to_le_bytes());
            }
        }
    }
    fs::write(&path, &bytes).unwrap();
    let file = read_gauge(&path, Some(n)).unwrap();
    assert_eq!(file.info.format, FileFormat::OpenQcd);
    assert_eq!(file.links, links);
    write_gauge(&ours, FileFormat::OpenQcd, &options(n, &links), n, &links).unwrap();
    assert!(fs::read(&ours).unwrap() == bytes);
}

/// Files with `IEEE32` or `IEEE64` without byte order are read in both byte orders, since programs write both.
#[test]
fn nersc_byte_order_left_open() {
    let folder = Folder::new("ieee");
    let path = folder.file("lattice");
    let n = [2, 2, 2, 4];
    let links = Random(11).links(n, 1.0);
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for bits in [32, 64] {
            let mut options = options(n, &links);
            (options.byte_order, options.precision_bits) = (Some(order), Some(bits));
            write_gauge(&path, FileFormat::Nersc, &options, n, &links).unwrap();
            let mut bytes = fs::read(&path).unwrap();
            let tag: &[u8] = if order == ByteOrder::Big { b"BIG\n" } else { b"LITTLE\n" };
            let at = bytes.windows(tag.len()).position(|w| w == tag).unwrap();
            bytes.drain(at..at + tag.len() - 1);
            fs::write(&path, bytes).unwrap();
            let file = read_gauge(&path, None).unwrap();
            assert_eq!((file.info.byte_order, file.info.precision_bits), (order, bits));
            check_links(&file, &links, "open byte order");
        }
    }
}

#[test]
fn header_digits_give_the_resolution() {
    let folder = Folder::new("digits");
    let path = folder.file("lattice");
    let n = [2, 2, 2, 2];
    let links = Random(12).links(n, 1.0);
    write_gauge(&path, FileFormat::Nersc, &options(n, &links), n, &links).unwrap();
    let bytes = fs::read(&path).unwrap();
    let end = bytes.windows(11).position(|w| w == b"END_HEADER\n").unwrap();
    let header: String = std::str::from_utf8(&bytes[..end])
        .unwrap()
        .lines()
        .map(|line| match line.split_once(" = ") {
            Some(("PLAQUETTE", _)) => "PLAQUETTE = 0.5937001\n".into(),
            Some(("LINK_TRACE", _)) => "LINK_TRACE = 1.25e-03\n".into(),
            _ => format!("{line}\n"),
        })
        .collect();
    fs::write(&path, [header.as_bytes(), &bytes[end..]].concat()).unwrap();
    let info = read_gauge(&path, None).unwrap().info;
    assert_eq!((info.plaquette, info.link_trace), (Some(0.5937001), Some(1.25e-3)));
    assert!((info.header_resolution / 5e-6 - 1.0).abs() < 1e-12);
}
