//! Tests of files that are cut, altered, have absurd numbers, or belong to another lattice.

use super::lattice::*;
use super::{options, precisions, FORMATS};
use crate::common::largest;
use plaq::error::Status;
use plaq::io::{read_gauge, write_gauge, FileFormat, Warning};
use std::fs;
use std::path::Path;

fn refusal(path: &Path, expect: Option<[usize; 4]>) -> Status {
    match read_gauge(path, expect) {
        Ok(file) => panic!("{} was read as {:?}", path.display(), file.info),
        Err(error) => {
            assert!(error.message().contains(path.to_str().unwrap()), "{error}");
            error.status
        }
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    largest(a.iter().zip(b).map(|(a, b)| (a - b).abs()))
}

#[test]
fn any_cut_is_seen() {
    let folder = Folder::new("cut");
    let (whole, cut) = (folder.file("whole"), folder.file("cut"));
    let n = [2, 4, 2, 6];
    let links = Random(2).links(n, 1.0);
    for format in FORMATS {
        write_gauge(&whole, format, &options(n, &links), n, &links).unwrap();
        let bytes = fs::read(&whole).unwrap();
        // Cuts at every byte of the header, its records and the end, and at places in between.
        let near = |at: usize| at < 2600 || at + 700 > bytes.len() || at.is_multiple_of(577);
        // The zeros that fill up the last LIME record are not data, and may be missing.
        let padding = match format {
            FileFormat::Ildg => bytes.iter().rev().take_while(|byte| **byte == 0).count() - 1,
            _ => 0,
        };
        for length in (0..bytes.len() - padding).filter(|&at| near(at)) {
            fs::write(&cut, &bytes[..length]).unwrap();
            assert_eq!(refusal(&cut, None), Status::FileTruncated, "{format:?} cut to {length}");
        }
        fs::write(&cut, [&bytes[..], &[0]].concat()).unwrap();
        match format {
            FileFormat::Ildg => assert!(read_gauge(&cut, None).unwrap().links == links),
            _ => assert_eq!(refusal(&cut, None), Status::FileFormat, "{format:?} and a byte more"),
        }
    }
}

#[test]
fn flipped_bits_are_seen() {
    let folder = Folder::new("flip");
    let path = folder.file("flipped");
    let n = [2, 2, 4, 2];
    let links = Random(3).links(n, 1.0);
    for format in [FileFormat::Nersc, FileFormat::Nersc3x3, FileFormat::Ildg, FileFormat::Milc] {
        for &bits in precisions(format) {
            let mut options = options(n, &links);
            options.precision_bits = Some(bits);
            write_gauge(&path, format, &options, n, &links).unwrap();
            let bytes = fs::read(&path).unwrap();
            let tail = if format == FileFormat::Ildg { 144 + 136 } else { 0 };
            let per_link = if format == FileFormat::Nersc { 12 } else { 18 };
            let data = 4 * 32 * per_link * bits as usize / 8;
            let start = bytes.len() - tail - data;
            for at in (start..start + data).step_by(41).chain([start, start + data - 1]) {
                let mut bad = bytes.clone();
                bad[at] ^= 1 << (at % 8);
                fs::write(&path, &bad).unwrap();
                assert_eq!(refusal(&path, None), Status::FileChecksum, "{format:?} byte {at}");
            }
            // Two sites are exchanged: a plain sum would not notice, but rotating checksums do.
            if matches!(format, FileFormat::Ildg | FileFormat::Milc) {
                let mut bad = bytes.clone();
                let site = data / 32;
                bad[start..start + 2 * site].rotate_left(site);
                fs::write(&path, &bad).unwrap();
                assert_eq!(refusal(&path, None), Status::FileChecksum, "{format:?} sites");
            }
            // Damage in the header never gives another lattice or links that count as good.
            for at in 0..start {
                let mut bad = bytes.clone();
                bad[at] ^= 1 << (at % 8);
                fs::write(&path, &bad).unwrap();
                if let Ok(file) = read_gauge(&path, None) {
                    assert_eq!(file.extents, n);
                    let bound = if bits == 32 { 1e-6 } else { 1e-14 };
                    assert!(distance(&file.links, &links) < bound, "{format:?} byte {at}");
                }
            }
        }
    }
}

#[test]
fn wrong_lattice_is_refused() {
    let folder = Folder::new("extents");
    let path = folder.file("lattice");
    let n = [2, 4, 6, 8];
    let links = Random(4).links(n, 1.0);
    for format in FORMATS {
        write_gauge(&path, format, &options(n, &links), n, &links).unwrap();
        for wrong in [[2, 4, 6, 4], [4, 2, 6, 8], [4, 4, 4, 4]] {
            assert_eq!(refusal(&path, Some(wrong)), Status::FileExtents, "{format:?} {wrong:?}");
        }
    }
}

#[test]
fn garbage_and_absurd_headers() {
    let folder = Folder::new("garbage");
    let path = folder.file("garbage");
    let refused = |bytes: &[u8], status: Status| {
        fs::write(&path, bytes).unwrap();
        assert_eq!(refusal(&path, None), status, "{:?}", String::from_utf8_lossy(bytes));
    };
    assert_eq!(refusal(&folder.file("absent"), None), Status::FileOpen);
    assert_eq!(refusal(&folder.0, None), Status::FileOpen);
    let (n, nameless) = ([2; 4], Path::new(""));
    let links = Random(1).links(n, 1.0);
    let read = read_gauge(nameless, None).map(|_| ());
    let written = FORMATS.map(|f| write_gauge(nameless, f, &options(n, &links), n, &links));
    for (done, status) in
        written.map(|w| (w, Status::FileWrite)).into_iter().chain([(read, Status::FileOpen)])
    {
        let error = done.map(|_| ()).unwrap_err();
        assert_eq!((error.status, &*error.message()), (status, "a file's name is empty"));
    }
    refused(b"", Status::FileTruncated);
    refused(&[0; 4096], Status::FileFormat);
    refused(&[0xff; 4096], Status::FileFormat);
    refused(b"Dear diary, today I measured the plaquette.", Status::FileFormat);

    // NERSC headers without an end, and with absurd, zero, negative or missing values.
    let nersc = |key: &str, value: &str| {
        let mut header = String::from("BEGIN_HEADER\n");
        for (k, v) in [
            ("DATATYPE", "4D_SU3_GAUGE"),
            ("DIMENSION_1", "4"),
            ("DIMENSION_2", "4"),
            ("DIMENSION_3", "4"),
            ("DIMENSION_4", "4"),
            ("CHECKSUM", "0"),
            ("PLAQUETTE", "0.5"),
            ("FLOATING_POINT", "IEEE32BIG"),
        ] {
            match (k == key, value) {
                (true, "") => {}
                (true, value) => header += &format!("{k} = {value}\n"),
                _ => header += &format!("{k} = {v}\n"),
            }
        }
        (header + "END_HEADER\n").into_bytes()
    };
    refused(&nersc("", ""), Status::FileTruncated);
    for (key, value) in [
        ("DATATYPE", "4D_SU4_GAUGE"),
        ("DATATYPE", ""),
        ("DIMENSION_1", "0"),
        ("DIMENSION_2", "-4"),
        ("DIMENSION_3", "4294967300"),
        ("DIMENSION_4", ""),
        ("CHECKSUM", "xyz"),
        ("PLAQUETTE", "nan"),
        ("FLOATING_POINT", "IEEE16"),
    ] {
        refused(&nersc(key, value), Status::FileFormat);
    }
    refused(&nersc("DIMENSION_4", "2000000000"), Status::FileTruncated);
    refused(&[b"BEGIN_HEADER\n" as &[u8], &[b'x'; 100_000]].concat(), Status::FileFormat);

    // MILC headers with extents that are huge, negative or overflow in their product, and with a list of sites.
    let milc = |extents: [i32; 4], list: i32| {
        let mut header = vec![0; 96];
        for (at, v) in [20103, extents[0], extents[1], extents[2], extents[3]].iter().enumerate() {
            header[4 * at..4 * at + 4].copy_from_slice(&v.to_le_bytes());
        }
        header[84..88].copy_from_slice(&list.to_le_bytes());
        header
    };
    refused(&milc([i32::MAX; 4], 0), Status::FileFormat);
    refused(&milc([1 << 16; 4], 0), Status::FileFormat);
    refused(&milc([4, -4, 4, 4], 0), Status::FileFormat);
    refused(&milc([4, 0, 4, 4], 0), Status::FileFormat);
    refused(&milc([4, 4, 4, 4], 1), Status::FileFormat);
    refused(&milc([1 << 12; 4], 0), Status::FileTruncated);

    // openQCD headers, where no magic number guards the extents.
    let openqcd = |extents: [i32; 4], plaquette: f64| {
        let mut header: Vec<u8> = extents.iter().flat_map(|n| n.to_le_bytes()).collect();
        header.extend(plaquette.to_le_bytes());
        header
    };
    refused(&openqcd([4; 4], 1.5), Status::FileTruncated);
    refused(&openqcd([0xffff; 4], 1.5), Status::FileFormat);
    refused(&openqcd([4, 4, 4, 0], 1.5), Status::FileFormat);
    refused(&openqcd([4; 4], f64::NAN), Status::FileFormat);
    refused(&openqcd([4; 4], 7.0), Status::FileFormat);
}

/// One LIME record with both message bits set.
fn record(kind: &str, data: &[u8], length: u64) -> Vec<u8> {
    let mut bytes = vec![0x45, 0x67, 0x89, 0xab, 0, 1, 0xc0, 0];
    bytes.extend(length.to_be_bytes());
    bytes.extend(kind.as_bytes());
    bytes.resize(144, 0);
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

#[test]
fn lime_records() {
    let folder = Folder::new("lime");
    let path = folder.file("records");
    let n = [2, 2, 2, 2];
    let links = Random(7).links(n, 1.0);
    let data: Vec<u8> = links.iter().flat_map(|v| v.to_be_bytes()).collect();
    let text = |kind: &str, text: &str| record(kind, text.as_bytes(), text.len() as u64);
    let format = |field: &str, precision: u32, lt: &str| {
        let xml = format!(
            "<ildgFormat><version>1.0</version><field>{field}</field>\
             <precision>{precision}</precision><lx>2</lx><ly>2</ly><lz>2</lz><lt>{lt}</lt>\
             </ildgFormat>"
        );
        text("ildg-format", &xml)
    };
    let binary = record("ildg-binary-data", &data, data.len() as u64);
    let read = |records: &[&[u8]]| {
        fs::write(&path, records.concat()).unwrap();
        read_gauge(&path, None)
    };
    let status = |records: &[&[u8]]| read(records).unwrap_err().status;

    // ILDG records without SciDAC records, with strange records around, and with the format after the data.
    let other = text("something-else", "not XML at all <");
    let good = format("su3gauge", 64, "2");
    assert_eq!(read(&[&other, &good, &other, &binary, &other]).unwrap().links, links);
    assert_eq!(read(&[&binary, &good]).unwrap().links, links);
    // SciDAC records without ILDG records.
    let file = text("scidac-private-file-xml", "<scidacFile><dims>2 2 2 2 </dims></scidacFile>");
    let private = |count: u32| {
        let xml = format!(
            "<scidacRecord><precision>D</precision><colors>3</colors>\
             <datacount>{count}</datacount></scidacRecord>"
        );
        text("scidac-private-record-xml", &xml)
    };
    let scidac = record("scidac-binary-data", &data, data.len() as u64);
    assert_eq!(read(&[&file, &private(4), &scidac]).unwrap().links, links);
    let xml = "<scidacChecksum><suma>1</suma><sumb>2</sumb></scidacChecksum>";
    let checksum = text("scidac-checksum", xml);
    assert_eq!(status(&[&checksum, &good, &binary]), Status::FileChecksum);
    assert_eq!(status(&[&good, &binary, &checksum]), Status::FileChecksum);

    let e = read(&[&file, &private(1), &scidac]).unwrap_err();
    assert!(e.message().contains("no configuration: expected <colors> 3"), "{e}");
    assert_eq!(e.status, Status::FileFormat);
    assert_eq!(status(&[&format("su2gauge", 64, "2"), &binary]), Status::FileFormat);
    assert_eq!(status(&[&format("su3gauge", 32, "2"), &binary]), Status::FileFormat);
    assert_eq!(status(&[&format("su3gauge", 16, "2"), &binary]), Status::FileFormat);
    assert_eq!(status(&[&format("su3gauge", 64, "4"), &binary]), Status::FileFormat);
    assert_eq!(status(&[&format("su3gauge", 64, "-2"), &binary]), Status::FileFormat);
    assert_eq!(status(&[&format("su3gauge", 64, "4294967296"), &binary]), Status::FileFormat);
    assert_eq!(status(&[&good]), Status::FileFormat);
    assert_eq!(status(&[&binary]), Status::FileFormat);
    assert_eq!(status(&[&text("ildg-format", "<ildgFormat>"), &binary]), Status::FileFormat);
    assert_eq!(status(&[&good, &[1; 200], &binary]), Status::FileFormat);
    // A file whose format record is not XML is read, with a warning, when QIO's own records state the lattice.
    let malformed = text("ildg-format", "<ildgFormat><lx>2</ly>");
    let odd = read(&[&file, &private(4), &malformed, &binary]).unwrap();
    assert!(odd.links == links && odd.info.warnings.contains(Warning::Format));
    let plain = read(&[&file, &private(4), &good, &binary]).unwrap();
    assert!(!plain.info.warnings.contains(Warning::Format));
    assert_eq!(status(&[&file, &malformed, &binary]), Status::FileFormat);
    let parts = "<scidacFile><dims>2 2 2 2</dims><volfmt>1</volfmt></scidacFile>";
    let parts = text("scidac-private-file-xml", parts);
    assert_eq!(status(&[&parts, &good, &binary]), Status::FileFormat);
    let elsewhere =
        text("scidac-private-file-xml", "<scidacFile><dims>2 2 4 1</dims></scidacFile>");
    assert_eq!(status(&[&elsewhere, &good, &binary]), Status::FileFormat);
    // Records whose lengths go beyond the file, or beyond any file.
    for length in [data.len() as u64 + 8, u64::MAX / 2, u64::MAX] {
        let long = record("ildg-binary-data", &data, length);
        assert_eq!(status(&[&good, &long]), Status::FileTruncated);
    }
    // Nesting that would exhaust the stack of a careless parser, read in a thread with a small stack; and XML entities.
    let nested = || {
        for levels in [100, 1000, 100_000] {
            let deep = text("ildg-format", &"<a>".repeat(levels));
            assert_eq!(status(&[&deep, &binary]), Status::FileFormat);
        }
    };
    std::thread::scope(|scope| {
        let small = std::thread::Builder::new().stack_size(256 << 10);
        small.spawn_scoped(scope, nested).unwrap().join().unwrap();
    });
    let entities = "<!DOCTYPE x [<!ENTITY a 'b'>]><ildgFormat>&a;</ildgFormat>";
    assert_eq!(status(&[&text("ildg-format", entities), &binary]), Status::FileFormat);
}
