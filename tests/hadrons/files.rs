//! Tests of propagators in files: bit for bit on any process grid, QIO's layout, damaged files.

use std::fs;

use plaq::comm::Comm;
use plaq::error::Status;
use plaq::fields::{blas, Geometry, Precision, SpinorField, Subset};
use plaq::io::{LinksMark, Origin, PropagatorKind};
use plaq::ops::propagator_file::{load_propagator, save_propagator, LoadOptions, SaveOptions};
use plaq::ops::source::Source;

use super::common::{self, devices, on_rank_0, ranks, Folder, Lex};
use super::reference::Lattice;
use super::{field, numbers, random_columns};

const EXTENTS: [usize; 4] = [4, 2, 6, 4];

fn random(device: &plaq::backend::Device, precision: Precision, nrhs: usize) -> SpinorField {
    let extents = common::over_ranks(EXTENTS);
    let mut f = field(device, extents, precision, nrhs);
    f.load_lex(&numbers(&random_columns(Lattice::new(extents), nrhs as u64, 77))).unwrap();
    f
}

fn sources(like: &SpinorField) -> SpinorField {
    let mut b = like.like(like.precision()).unwrap();
    Source { momentum: [1, 0, 2, 0], ..Source::wall(1) }.set(&mut b).unwrap();
    b
}

#[test]
fn what_is_written_is_read_bit_for_bit() {
    let folder = Folder::new("propagators");
    for device in devices() {
        for precision in [Precision::F64, Precision::F32] {
            let f = random(&device, precision, 12);
            let (scalar, other) = (sources(&f), random(&device, precision, 12));
            for (name, from, kind) in [
                ("scalar", Some(&scalar), None),
                ("pairs", Some(&other), None),
                ("pairs2", Some(&scalar), Some(PropagatorKind::Pairs)),
                ("matrix", None, None),
            ] {
                let path = folder.0.join(name);
                let info = "kappa 0.12 <a & b>".to_owned();
                let options = SaveOptions { kind, info, ..Default::default() };
                save_propagator(&path, &f, from, &options).unwrap();
                let (back, _) =
                    load_propagator(&device, &ranks(), &path, &LoadOptions::default()).unwrap();
                assert_eq!((back.nrhs(), back.precision()), (12, precision), "{name}");
                let whole = f.save_lex().unwrap();
                assert!(back.save_lex().unwrap() == whole, "{name}");
                // Files are read on one rank and on all.
                on_rank_0(|| {
                    let alone = Comm::single();
                    let (back, _) =
                        load_propagator(&device, &alone, &path, &LoadOptions::default()).unwrap();
                    assert!(back.save_lex().unwrap() == whole, "{name} on one rank");
                });
            }
        }
        // A file written on one rank and one written on all ranks are equal to the last byte.
        let f = random(&device, Precision::F64, 12);
        let (one, all) = (folder.0.join("one"), folder.0.join("all"));
        let date = Some("now".to_owned());
        let options = SaveOptions { date, ..Default::default() };
        let whole = f.save_lex().unwrap();
        on_rank_0(|| {
            let geometry =
                Geometry::decomposed(common::over_ranks(EXTENTS), &device, &Comm::single())
                    .unwrap();
            let mut alone =
                SpinorField::new(&device, &geometry, Precision::F64, Subset::Full, 12).unwrap();
            alone.load_lex(&whole).unwrap();
            save_propagator(&one, &alone, None, &options).unwrap();
        });
        save_propagator(&all, &f, None, &options).unwrap();
        let (back, _) = load_propagator(&device, &ranks(), &one, &LoadOptions::default()).unwrap();
        assert!(back.save_lex().unwrap() == whole);
        on_rank_0(|| assert!(fs::read(&one).unwrap() == fs::read(&all).unwrap()));
        // Pairs of any number of columns are saved.
        let f = random(&device, Precision::F64, 5);
        let path = folder.0.join("five");
        save_propagator(&path, &f, Some(&f), &SaveOptions::default()).unwrap();
        let (back, _) = load_propagator(&device, &ranks(), &path, &LoadOptions::default()).unwrap();
        assert!(back.save_lex().unwrap() == f.save_lex().unwrap());
        // A field in double is saved in single precision, and loaded in a precision that is asked for.
        let options = SaveOptions { precision_bits: Some(32), ..Default::default() };
        save_propagator(&path, &f, Some(&f), &options).unwrap();
        let expect = Some(common::over_ranks(EXTENTS));
        let wide = Some(Precision::F64);
        let (back, _) = load_propagator(
            &device,
            &ranks(),
            &path,
            &LoadOptions { precision: wide, extents: expect, ..Default::default() },
        )
        .unwrap();
        let rounded: Vec<f64> =
            f.save_lex().unwrap().iter().map(|x| f64::from(*x as f32)).collect();
        assert!(back.precision() == Precision::F64 && back.save_lex().unwrap() == rounded);
    }
}

/// Descriptions of source and operator are read back, from records of every kind and, if these lack them, from the
/// sources.
#[test]
fn origins_are_kept_and_found() {
    let folder = Folder::new("origins");
    let extents = common::over_ranks(EXTENTS);
    let place = [1, extents[1] - 1, 3, extents[3] - 1];
    for device in devices() {
        let f = random(&device, Precision::F32, 12);
        let mut point = f.like(f.precision()).unwrap();
        Source::point(place).set(&mut point).unwrap();
        let wall = sources(&f);
        let known = Origin {
            position: place.map(Some),
            boundary: Some(-0.375),
            boundary_space: Some([0.1, 0.0, -0.7]),
            normalisation: Some("kappa"),
            boundary_time: Some("open_sf"),
            mass: Some(-0.31),
            mu: Some(0.02),
            links: Some(LinksMark {
                numbers: [0.59, 0.6, -0.01],
                projection: Some([0.7, -1.3]),
                coarse: true,
                configuration: None,
            }),
            kind: Some("sequential_propagator"),
            crossed: Some(0.25),
            csw: Some([1.5, 1.25]),
            clover: Some("exponential"),
        };
        let in_time = Origin { position: [None, None, None, Some(1)], ..Default::default() };
        let there = Origin { position: place.map(Some), ..Default::default() };
        let half = Origin { position: [Some(3), None, Some(0), None], ..known };
        let path = folder.0.join("propagator");
        for (from, kind, origin, expected) in [
            (None, None, known, known),
            (None, None, half, half),
            (None, None, Origin::default(), Origin::default()),
            (Some(&wall), None, known, known),
            (Some(&wall), None, Origin::default(), in_time),
            (
                Some(&point),
                None,
                Origin { boundary: Some(1.0), ..Default::default() },
                Origin { boundary: Some(1.0), ..there },
            ),
            (Some(&point), Some(PropagatorKind::Pairs), Origin::default(), there),
            (Some(&f), None, Origin::default(), Origin::default()),
        ] {
            let options = SaveOptions { kind, origin, ..Default::default() };
            save_propagator(&path, &f, from, &options).unwrap();
            let (_, found) =
                load_propagator(&device, &ranks(), &path, &LoadOptions::default()).unwrap();
            assert_eq!(found, expected);
        }
        // The sources of a file that does not state an origin, as those of other codes, give it; the tag of its record
        // is changed here.
        let options = SaveOptions { origin: Origin::default(), ..Default::default() };
        save_propagator(&path, &f, Some(&point), &options).unwrap();
        on_rank_0(|| {
            let mut bytes = fs::read(&path).unwrap();
            let tag = b"plaqOrigin";
            while let Some(at) = bytes.windows(tag.len()).position(|w| w == tag) {
                bytes[at..at + tag.len()].copy_from_slice(b"unknownTag");
            }
            fs::write(&path, bytes).unwrap();
        });
        let (_, found) =
            load_propagator(&device, &ranks(), &path, &LoadOptions::default()).unwrap();
        assert_eq!(found, there);
    }
}

/// Records of Chroma give the position of the source and the fermions' boundary condition.
#[test]
fn records_of_chroma_say_where_the_source_is() {
    let folder = Folder::new("chroma");
    let device = devices().remove(0);
    let f = random(&device, Precision::F32, 12);
    let path = folder.0.join("propagator");
    // The record is replaced by one of the same length with Chroma's elements.
    let text = "<Propagator><FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>1 1 1 -1</boundary></FermionBC>\
                <PropSource><Source><t_srce>1 0 3 2</t_srce></Source></PropSource></Propagator>";
    let options = SaveOptions { info: "x".repeat(text.len()), ..Default::default() };
    save_propagator(&path, &f, None, &options).unwrap();
    on_rank_0(|| {
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.windows(9).position(|w| w == b"xxxxxxxxx").unwrap();
        bytes[at..at + text.len()].copy_from_slice(text.as_bytes());
        fs::write(&path, bytes).unwrap();
    });
    let (_, found) = load_propagator(&device, &ranks(), &path, &LoadOptions::default()).unwrap();
    let position = [1, 0, 3, 2].map(Some);
    let boundary_space = Some([0.0; 3]);
    let boundary = Some(1.0);
    assert_eq!(found, Origin { position, boundary, boundary_space, ..Default::default() });
}

/// The records of a LIME file: type, whether first and last of a message, data.
fn records(bytes: &[u8]) -> Vec<(String, bool, bool, Vec<u8>)> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let header = &bytes[at..at + 144];
        assert_eq!(header[..6], [0x45, 0x67, 0x89, 0xab, 0, 1]);
        let length = u64::from_be_bytes(header[8..16].try_into().unwrap()) as usize;
        let kind = String::from_utf8_lossy(&header[16..]).trim_end_matches('\0').to_owned();
        let data = bytes[at + 144..at + 144 + length].to_vec();
        all.push((kind, header[6] & 0x80 != 0, header[6] & 0x40 != 0, data));
        at += 144 + length.next_multiple_of(8);
    }
    all
}

/// CRC32 of IEEE 802.3, computed bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |mut crc, byte| {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
        crc
    })
}

/// Files agree with QIO's record by record: types, order, texts that its readers look for, positions of numbers, and
/// checksums.
#[test]
fn files_have_qio_s_layout() {
    let folder = Folder::new("propagator-layout");
    let device = devices().remove(0);
    let lat = Lattice::new(common::over_ranks(EXTENTS));
    let columns = random_columns(lat, 12, 77);
    let f = random(&device, Precision::F64, 12);
    let (scalar, matrix) = (folder.0.join("scalar"), folder.0.join("matrix"));
    save_propagator(&scalar, &f, Some(&sources(&f)), &SaveOptions::default()).unwrap();
    save_propagator(&matrix, &f, None, &SaveOptions::default()).unwrap();
    on_rank_0(|| {
        let all = records(&fs::read(&scalar).unwrap());
        let kinds: Vec<&str> = all.iter().map(|r| r.0.as_str()).collect();
        assert_eq!(kinds[..2], ["scidac-private-file-xml", "scidac-file-xml"]);
        let message = [
            "scidac-private-record-xml",
            "scidac-record-xml",
            "scidac-binary-data",
            "scidac-checksum",
        ];
        assert!(kinds.len() == 2 + 4 * 13 && kinds[2..].chunks(4).all(|m| m == message));
        for (i, r) in all.iter().enumerate() {
            let last = if i < 2 { i == 1 } else { i % 4 == 1 };
            assert_eq!((r.1, r.2), (i == 0 || (i >= 2 && i % 4 == 2), last), "{i} {}", r.0);
        }
        let text = |i: usize| String::from_utf8_lossy(&all[i].3).into_owned();
        let [x, y, z, t] = lat.extents;
        assert!(text(0).contains(&format!("<dims>{x} {y} {z} {t} </dims><volfmt>0</volfmt>")));
        assert!(text(1).contains("<type>USQCD_DiracFermion_ScalarSource_TwelveSink</type>"));
        assert!(text(2).contains("<datatype>QLA_D_Complex</datatype><precision>D</precision>"));
        assert!(text(2).contains("<colors>0</colors><spins>0</spins><typesize>16</typesize>"));
        assert!(text(3).contains("<usqcdSourceInfo><version>1.0</version>"));
        for k in 0..12 {
            let (private, user) = (text(6 + 4 * k), text(7 + 4 * k));
            assert!(private.contains("<datatype>USQCD_D3_DiracFermion</datatype>"));
            assert!(private.contains("<colors>3</colors><spins>4</spins><typesize>192</typesize>"));
            assert!(user.contains(&format!("<spin>{}</spin><color>{}</color>", k / 3, k % 3)));
            let data = &all[8 + 4 * k].3;
            let wanted: Vec<u8> = columns[k]
                .iter()
                .flatten()
                .flatten()
                .flat_map(|z| [z.re.to_be_bytes(), z.im.to_be_bytes()].concat())
                .collect();
            assert!(*data == wanted, "column {k}");
            let (mut a, mut b) = (0, 0);
            for (lex, site) in data.chunks(192).enumerate() {
                let crc = crc32(site);
                a ^= crc.rotate_left(lex as u32 % 29);
                b ^= crc.rotate_left(lex as u32 % 31);
            }
            let sums = text(9 + 4 * k);
            assert!(sums.contains(&format!("<suma>{a:08x}</suma><sumb>{b:08x}</sumb>")), "{sums}");
        }
        let all = records(&fs::read(&matrix).unwrap());
        assert_eq!(all.len(), 6);
        let data = &all[4].3;
        for (lex, site) in data.chunks(8 * 288).enumerate() {
            for (n, z) in site.chunks(16).enumerate() {
                // Order of a site's numbers: [sink spin][source spin][sink colour][source colour]
                let (i, j, a, b) = (n / 36, n / 9 % 4, n / 3 % 3, n % 3);
                let wanted = columns[3 * j + b][lex][i][a];
                assert_eq!(z[..8], wanted.re.to_be_bytes());
                assert_eq!(z[8..], wanted.im.to_be_bytes());
            }
        }
    });
}

/// The number at this place of tests/data/qio-pairs-4x2x2x2.scidac.
fn number_of_qio_s_file(site: u64, column: u64, sink: [u64; 2], part: u64) -> f64 {
    let mut h = (((site * 13 + column) * 5 + sink[0]) * 7 + sink[1]) * 3 + part;
    h = h.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    h ^= h >> 29;
    h = h.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h ^= h >> 32;
    let x = (h >> 12) as f64 / (1u64 << 52) as f64 - 0.5;
    f64::from(x as f32)
}

/// A file of QIO's own writer is read: its columns are in reversed order, each after a complex source of one time
/// slice.
#[test]
fn a_file_that_qio_wrote_is_read() {
    on_rank_0(|| {
        let path = std::path::Path::new("tests/data/qio-pairs-4x2x2x2.scidac");
        let device = devices().remove(0);
        let extents = Some([4, 2, 2, 2]);
        let (f, _) = load_propagator(
            &device,
            &Comm::single(),
            path,
            &LoadOptions { extents, ..Default::default() },
        )
        .unwrap();
        assert_eq!((f.nrhs(), f.precision()), (12, Precision::F32));
        let found = f.save_lex().unwrap();
        assert_eq!(found.len(), 12 * 32 * 24);
        for (n, x) in found.iter().enumerate() {
            let n = n as u64;
            let (column, site, sink) = (n / 768, n / 24 % 32, [n / 6 % 4, n / 2 % 3]);
            assert_eq!(*x, number_of_qio_s_file(site, column, sink, n % 2), "number {n}");
        }
    });
}

#[test]
fn damage_and_misuse_are_refused() {
    let folder = Folder::new("propagator-damage");
    let device = devices().remove(0);
    let f = random(&device, Precision::F32, 12);
    let path = folder.0.join("file");
    let load = |extents| {
        let options = LoadOptions { extents, ..Default::default() };
        load_propagator(&device, &ranks(), &path, &options)
    };
    let refused = |status: Status, word: &str| {
        let e = load(None).unwrap_err();
        assert!(e.status == status && e.message().contains(word), "{e}");
    };
    refused(Status::FileOpen, "file");
    save_propagator(&path, &f, None, &SaveOptions::default()).unwrap();
    let good = ranks().agree(fs::read(&path).map_err(|e| panic!("{e}"))).unwrap();
    let e = load(Some([2, 2, 2, 2])).unwrap_err();
    assert_eq!(e.status, Status::FileExtents);
    let write = |bytes: &[u8]| on_rank_0(|| fs::write(&path, bytes).unwrap());
    // One bit of a number of the last site is flipped.
    let mut bytes = good.clone();
    let at = good.len() - 1200;
    bytes[at] ^= 1;
    write(&bytes);
    refused(Status::FileChecksum, "the file is damaged: checksum");
    let known = LoadOptions { wrong_checksum: true, ..Default::default() };
    let (back, _) = load_propagator(&device, &ranks(), &path, &known).unwrap();
    let different = blas::norm2(&back).unwrap().into_iter().zip(blas::norm2(&f).unwrap());
    assert_eq!(different.filter(|(a, b)| a != b).count(), 1, "one column has the damage");
    write(&good[..good.len() - 400]);
    refused(Status::FileTruncated, "");
    write(b"no LIME file at all");
    refused(Status::FileFormat, "LIME");
    // Records whose sizes are not those of spinors.
    let text = b"<typesize>1152</typesize>";
    assert!(good.windows(text.len()).any(|w| w == text));
    let precision = b"<precision>F</precision>";
    let at = good.windows(precision.len()).position(|w| w == precision).unwrap();
    let mut bytes = good.clone();
    bytes[at + 11] = b'D';
    write(&bytes);
    refused(Status::FileFormat, "neither spinors");
    // Fields that a kind of file cannot hold; the failure leaves the old file in place.
    write(&good);
    let five = random(&device, Precision::F32, 5);
    let save = |f: &SpinorField, from: Option<&SpinorField>, kind, status| {
        let options = SaveOptions { kind, ..Default::default() };
        let e = save_propagator(&path, f, from, &options).unwrap_err();
        assert_eq!(e.status, status, "{e}");
    };
    let argument = Status::InvalidArgument;
    save(&five, None, None, argument);
    save(&f, None, Some(PropagatorKind::Pairs), argument);
    save(&f, Some(&f), Some(PropagatorKind::ScalarSource), argument);
    save(&f, Some(&five), None, Status::FieldMismatch);
    let options = SaveOptions { precision_bits: Some(16), ..Default::default() };
    assert_eq!(save_propagator(&path, &f, None, &options).unwrap_err().status, argument);
    assert!(load(None).unwrap().0.save_lex().unwrap() == f.save_lex().unwrap());
}
