//! Configurations from files onto devices and back.

use crate::common;
use std::path::Path;

use common::{
    configuration, devices, distance, on_rank_0, over_ranks, ranks, tolerance, Folder, Lex,
};
use plaq::backend::Device;
use plaq::error::Status;
use plaq::fields::{GaugeField, Precision, Recon};
use plaq::io::{read_gauge, write_gauge, ByteOrder, FileFormat, Warning, WriteOptions};
use plaq::ops::config::{load_gauge, save_gauge, LoadOptions};
use plaq::ops::observables::{plaquette, unitarity};

const FORMATS: [FileFormat; 6] = [
    FileFormat::Nersc,
    FileFormat::Nersc3x3,
    FileFormat::Ildg,
    FileFormat::Milc,
    FileFormat::OpenQcd,
    FileFormat::DdAlphaAmg,
];

fn field(device: &Device, extents: [usize; 4]) -> GaugeField {
    let geometry = common::geometry(extents, device);
    let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(7, 0.4).unwrap();
    u
}

/// Configurations of tests/data have the plaquettes that tests/data/README.md states.
#[test]
fn carried_configurations_are_what_they_say() {
    let known = [
        ("quenched-b6.0-4x4x4x8.ildg", [4, 4, 4, 8], 0.59043870),
        ("quenched-b6.0-8x8x8x8.nersc", [8; 4], 0.59427406),
    ];
    for device in devices() {
        for (name, extents, total) in known {
            let path = Path::new("tests/data").join(name);
            let options = LoadOptions { expect: Some(extents), ..Default::default() };
            let u =
                load_gauge(&device, &ranks(), &path, Precision::F64, Recon::R18, &options).unwrap();
            // The file has eight decimals, and links rounded to single precision.
            assert!((u.plaquette.total - total).abs() < 1e-8, "{name}: {:?}", u.plaquette);
            assert_eq!(u.info.sequence_number, Some(300));
        }
    }
}

/// Configurations of other codes have the spatial plaquette, temporal plaquette and link trace that these codes
/// print, Re tr with 3 for unit links.
#[test]
fn configurations_of_other_codes_have_their_plaquettes() {
    type Known = (&'static str, [usize; 4], [f64; 2], Option<f64>, f64);
    let (a, b) = ([1.7946751560761729, 1.7744257976067317], Some(0.64675873741896339));
    let known: [Known; 4] = [
        ("milc.lat.sample.l4444", [4; 4], a, b, 1e-12),
        ("milc.lat.sample.l4444.ildg", [4; 4], a, b, 1e-12),
        (
            "milc.lat.sample.l4448",
            [4, 4, 4, 8],
            [1.7237482807974562, 1.6905860654166089],
            None,
            1e-12,
        ),
        (
            "milc.lat.sample.l4448.ll",
            [4, 4, 4, 8],
            [1.6788352909656483, 1.6451928367175011],
            Some(0.62131679539094975),
            1e-12,
        ),
    ];
    for device in devices() {
        for (name, extents, [space, time], trace, tol) in known {
            let Some(path) = configuration(name) else { continue };
            let as_stored =
                LoadOptions { expect: Some(extents), reunitarise: false, ..Default::default() };
            let options = |p| (p, Recon::R18, &as_stored);
            let (precision, recon, o) = options(Precision::F64);
            let loaded = load_gauge(&device, &ranks(), &path, precision, recon, o).unwrap();
            let p = loaded.plaquette;
            assert!((3.0 * p.spatial - space).abs() < tol, "{name}: {p:?}");
            assert!((3.0 * p.temporal - time).abs() < tol, "{name}: {p:?}");
            if let Some(trace) = trace {
                assert!((p.link_trace - trace).abs() < tol, "{name}: {p:?}");
            }
            assert_eq!(plaquette(&loaded.gauge).unwrap(), p);
            // Loaded in single precision and put back into SU(3), links keep the file's own rounding only.
            let again = load_gauge(
                &device,
                &ranks(),
                &path,
                Precision::F64,
                Recon::R12,
                &LoadOptions::default(),
            );
            let again = again.unwrap();
            assert!(unitarity(&again.gauge).unwrap().worst() < 1e-14);
            assert!((again.plaquette.total - p.total).abs() < 1e-7);
            if name.starts_with("milc.lat.sample.l4444") {
                // The plaquettes of MILC's own reunitarisation in double.
                assert!((3.0 * again.plaquette.spatial - 1.79467514697).abs() < 1e-9, "{again:?}");
                assert!((3.0 * again.plaquette.temporal - 1.77442577644).abs() < 1e-9, "{again:?}");
            }
        }
        for (name, mean) in [
            ("ddalphaamg.4x4x4x4b6.0000id3n1", 1.7866958691092),
            ("ddalphaamg.8x8x8x8b6.0000id3n1", 1.7772950976130),
        ] {
            let Some(path) = configuration(name) else { continue };
            for precision in Precision::ALL {
                for recon in Recon::SU3 {
                    let u = load_gauge(
                        &device,
                        &ranks(),
                        &path,
                        precision,
                        recon,
                        &LoadOptions::default(),
                    )
                    .unwrap();
                    // 13 decimals of the value are known; the rest is rounding of the sums.
                    assert!((3.0 * u.plaquette.total - mean).abs() < 1e-12, "{name} {u:?}");
                    let stored = plaquette(&u.gauge).unwrap().total;
                    let tol = 12.0 * std::f64::consts::PI * tolerance(precision, 4.0);
                    let what = format!("{name} {precision:?} {recon:?}");
                    assert!((3.0 * stored - mean).abs() < tol, "{what}: {}", 3.0 * stored);
                }
            }
        }
    }
}

/// Configurations are the same after writing and reading in every format: several ranks write the same bytes as one
/// rank, and read the same links.
#[test]
fn every_format_there_and_back() {
    let folder = Folder::new("formats");
    let device = devices().pop().unwrap();
    let extents = over_ranks([4, 8, 4, 6]);
    let u = field(&device, extents);
    let links = u.save_lex().unwrap();
    let averages = plaquette(&u).unwrap();
    for format in FORMATS {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let options = WriteOptions {
                date: Some("Sun Dec  4 20:49:06 2005 UTC".into()),
                plaquette: Some(averages.total),
                link_trace: Some(averages.link_trace),
                byte_order: Some(order),
                ..Default::default()
            };
            let what = format!("{format:?} {order:?}");
            let [ours, alone] =
                ["ours", "alone"].map(|name| folder.0.join(format!("{what} {name}")));
            match save_gauge(&ours, &u, format, &options) {
                Err(e) if e.status == Status::Unsupported => continue,
                saved => saved.unwrap(),
            }
            on_rank_0(|| {
                write_gauge(&alone, format, &options, extents, &links).unwrap();
                assert!(std::fs::read(&ours).unwrap() == std::fs::read(&alone).unwrap(), "{what}");
                assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 2, "{what}");
            });
            let (precision, recon) = (Precision::F64, Recon::R18);
            let as_stored = LoadOptions { reunitarise: false, ..Default::default() };
            let loaded =
                load_gauge(&device, &ranks(), &ours, precision, recon, &as_stored).unwrap();
            assert!(loaded.gauge.save_lex().unwrap() == read_gauge(&ours, None).unwrap().links);
            let loaded =
                load_gauge(&device, &ranks(), &ours, precision, recon, &LoadOptions::default());
            let loaded = loaded.unwrap();
            let stored =
                if loaded.info.precision_bits == 64 { Precision::F64 } else { Precision::F32 };
            let read = loaded.gauge.save_lex().unwrap();
            let off = distance(&read, &links);
            if stored == Precision::F64 {
                // Links are exact, except that files with two rows lose the third, and a second generation of the file
                // is the same.
                let two_rows = format == FileFormat::Nersc;
                assert!(two_rows || read == links, "{what}: {off:e}");
                let next = folder.0.join("next");
                save_gauge(&next, &loaded.gauge, format, &options).unwrap();
                let form = (precision, recon);
                let again =
                    load_gauge(&device, &ranks(), &next, form.0, form.1, &LoadOptions::default());
                assert!(again.unwrap().gauge.save_lex().unwrap() == read, "{what}");
                on_rank_0(|| std::fs::remove_file(&next).unwrap());
            }
            // Reunitarising adds the rounding of a row of three numbers.
            assert!(off < 4.0 * tolerance(stored, 3.0), "{what}: {off}");
            assert_eq!(loaded.info.format, format);
            on_rank_0(|| [&ours, &alone].iter().for_each(|p| std::fs::remove_file(p).unwrap()));
        }
    }
}

/// Links in single precision come to rest: what a field in single precision reads from a file of it is what the file
/// has, also in later generations. Links that are off by more than rounding are projected.
#[test]
fn links_in_single_precision_come_to_rest() {
    let folder = Folder::new("single");
    let device = devices().pop().unwrap();
    let path = folder.0.join("links");
    let read = |reunitarise| {
        let options = LoadOptions { reunitarise, header: Some(1e-4), ..Default::default() };
        let (precision, recon) = (Precision::F32, Recon::R18);
        load_gauge(&device, &ranks(), &path, precision, recon, &options).unwrap().gauge
    };
    for format in [FileFormat::Nersc, FileFormat::Ildg, FileFormat::Milc] {
        let options = WriteOptions { precision_bits: Some(32), ..Default::default() };
        let mut u = field(&device, over_ranks([4, 8, 4, 6]));
        save_gauge(&path, &u, format, &options).unwrap();
        let first = read(true);
        assert!(first.save_lex().unwrap() == read(false).save_lex().unwrap(), "{format:?}");
        for generation in 0..3 {
            on_rank_0(|| std::fs::remove_file(&path).unwrap());
            save_gauge(&path, &first, format, &options).unwrap();
            let next = read(true).save_lex().unwrap();
            assert!(first.save_lex().unwrap() == next, "{format:?} {generation}");
        }
        on_rank_0(|| std::fs::remove_file(&path).unwrap());
        let off: Vec<f64> = u.save_lex().unwrap().iter().map(|x| x * (1.0 + 2e-6)).collect();
        u.load_lex(&off).unwrap();
        save_gauge(&path, &u, format, &options).unwrap();
        let [kept, projected] = [read(false), read(true)].map(|u| unitarity(&u).unwrap());
        let [kept, projected] = [kept, projected].map(|u| u.unitary.max(u.det));
        let scaled = format != FileFormat::Nersc;
        assert!(!scaled || kept > 2e-6, "{format:?} {kept:e}");
        assert!(projected < 5e-7, "{format:?} {projected:e}");
        on_rank_0(|| std::fs::remove_file(&path).unwrap());
    }
}

/// A truncated file, a flipped bit in the part of one rank, and a folder that cannot be written give the same status
/// on every rank, and leave no partly written file.
#[test]
fn damaged_files_fail_alike_on_all_ranks() {
    let folder = Folder::new("damage");
    let device = devices().pop().unwrap();
    let path = folder.0.join("lattice");
    let u = field(&device, over_ranks([4, 4, 4, 4]));
    let default = LoadOptions::default();
    for format in [FileFormat::Nersc, FileFormat::Ildg, FileFormat::Milc] {
        let read = || {
            load_gauge(&device, &ranks(), &path, Precision::F64, Recon::R18, &default).map(|_| ())
        };
        let status = || {
            let mine = read().unwrap_err().status;
            let all = ranks().all_gather(&(mine as i32).to_ne_bytes()).unwrap();
            assert!(all.chunks(4).all(|other| other == (mine as i32).to_ne_bytes()));
            mine
        };
        save_gauge(&path, &u, format, &WriteOptions::default()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        ranks().agree(Ok(())).unwrap();
        // A bit of the last links: 500 bytes before the end, also in formats with records behind the data.
        let mut flipped = bytes.clone();
        flipped[bytes.len() - 500] ^= 1;
        on_rank_0(|| std::fs::write(&path, &flipped).unwrap());
        assert_eq!(status(), Status::FileChecksum, "{format:?}");
        on_rank_0(|| std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap());
        assert_eq!(status(), Status::FileTruncated, "{format:?}");
    }
    let nowhere = folder.0.join("absent").join("lattice");
    let e = save_gauge(&nowhere, &u, FileFormat::Ildg, &WriteOptions::default()).unwrap_err();
    assert_eq!(e.status, Status::FileWrite, "{e}");
    // A date that is longer than the format has room for.
    let before = std::fs::read(&path).unwrap();
    let long = WriteOptions { date: Some("x".repeat(64)), ..Default::default() };
    let e = save_gauge(&path, &u, FileFormat::Milc, &long).unwrap_err();
    assert_eq!(e.status, Status::InvalidArgument, "{e}");
    assert!(std::fs::read(&path).unwrap() == before);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn what_does_not_fit_its_header_is_refused() {
    let folder = Folder::new("refused");
    let device = devices().pop().unwrap();
    let path = folder.0.join("lattice");
    let u = field(&device, [4; 4]);
    let load = |options: &LoadOptions| {
        load_gauge(&device, &ranks(), &path, Precision::F32, Recon::R12, options)
            .map(|l| l.plaquette.total)
    };
    let status = |options: &LoadOptions| load(options).unwrap_err().status;
    let default = LoadOptions::default();
    let found = plaquette(&u).unwrap();
    for (bits, slip) in [(64, 1e-8), (32, 1e-5)] {
        let good = WriteOptions { precision_bits: Some(bits), ..Default::default() };
        save_gauge(&path, &u, FileFormat::Nersc, &good).unwrap();
        assert!(load(&default).is_ok());
        let wrong = WriteOptions { plaquette: Some(found.total + slip), ..good.clone() };
        save_gauge(&path, &u, FileFormat::Nersc, &wrong).unwrap();
        assert_eq!(status(&default), Status::FilePlaquette);
        assert!(load(&LoadOptions { header: Some(1e-4), ..default }).is_ok());
        let wrong = WriteOptions { link_trace: Some(found.link_trace - slip), ..good.clone() };
        save_gauge(&path, &u, FileFormat::Nersc, &wrong).unwrap();
        let e = load(&default).unwrap_err();
        assert_eq!(e.status, Status::FilePlaquette);
        assert!(e.message().contains("link trace") && e.message().contains("lattice"), "{e}");
    }
    let other = LoadOptions { expect: Some([4, 4, 4, 8]), ..default };
    assert_eq!(status(&other), Status::FileExtents);

    // Numbers that are not links, in a format whose header says nothing about links.
    let mut links = u.save_lex().unwrap();
    let write = |links: &[f64], extents| {
        let options = WriteOptions::default();
        on_rank_0(|| write_gauge(&path, FileFormat::Ildg, &options, extents, links).unwrap())
    };
    links[100] += 1e-8;
    write(&links, [4; 4]);
    let e = load(&default).unwrap_err();
    assert_eq!(e.status, Status::NotUnitary);
    assert!(e.message().contains("lattice"), "{e}");
    assert!(load(&LoadOptions { unitarity: Some(1e-6), ..default }).is_ok());
    links[100] = f64::NAN;
    write(&links, [4; 4]);
    assert_eq!(status(&default), Status::NotFinite);
    write(&u.save_lex().unwrap()[..72 * 3 * 64], [4, 4, 4, 3]);
    assert_eq!(status(&default), Status::BadExtents);
    assert_eq!(read_gauge(&path, None).unwrap().extents, [4, 4, 4, 3]);

    let e = load_gauge(&device, &ranks(), &path, Precision::F64, Recon::Su2, &default).unwrap_err();
    assert_eq!(e.status, Status::Unsupported);
    let geometry = common::geometry([4; 4], &device);
    let mut two = GaugeField::new(&device, &geometry, Precision::F64, Recon::Su2).unwrap();
    two.set_unit().unwrap();
    let e = save_gauge(&path, &two, FileFormat::Ildg, &WriteOptions::default()).unwrap_err();
    assert_eq!(e.status, Status::Unsupported);
}

/// Links of single precision stored as doubles, as in converted files, are read and projected onto SU(3), with a
/// warning. A file is damaged if only a few links are off.
#[test]
fn links_of_single_precision_in_a_file_of_doubles() {
    let folder = Folder::new("coarse");
    let device = devices().pop().unwrap();
    let path = folder.0.join("lattice");
    let extents = over_ranks([4, 4, 4, 6]);
    let exact = field(&device, extents).save_lex().unwrap();
    let links: Vec<f64> = exact.iter().map(|v| f64::from(*v as f32)).collect();
    let write = |links: &[f64], format| {
        let averages = plaquette(&field(&device, extents)).unwrap();
        let options = WriteOptions {
            plaquette: Some(averages.total),
            link_trace: Some(averages.link_trace),
            ..Default::default()
        };
        on_rank_0(|| write_gauge(&path, format, &options, extents, links).unwrap());
    };
    let load = |options: &LoadOptions| {
        load_gauge(&device, &ranks(), &path, Precision::F64, Recon::R18, options)
    };
    for format in [FileFormat::Ildg, FileFormat::Nersc3x3, FileFormat::OpenQcd] {
        write(&links, format);
        let loaded = load(&LoadOptions::default()).unwrap();
        assert_eq!(loaded.info.precision_bits, 64, "{format}");
        assert!(loaded.info.warnings.contains(Warning::SinglePrecision), "{format}");
        assert!(unitarity(&loaded.gauge).unwrap().worst() < 1e-14, "{format}");
        assert!(distance(&loaded.gauge.save_lex().unwrap(), &exact) < 1e-6, "{format}");
        let as_stored = LoadOptions { reunitarise: false, ..Default::default() };
        assert!(load(&as_stored).unwrap().gauge.save_lex().unwrap() == links, "{format}");
        let strict = LoadOptions { unitarity: Some(1e-10), ..Default::default() };
        assert_eq!(load(&strict).unwrap_err().status, Status::NotUnitary, "{format}");
        // Links that are coarser than single precision, and links in double of which one is wrong.
        let coarse: Vec<f64> = links.iter().map(|v| v * (1.0 + 1e-4)).collect();
        write(&coarse, format);
        assert_eq!(load(&LoadOptions::default()).unwrap_err().status, Status::NotUnitary);
        let mut damaged = exact.clone();
        damaged[100] += 1e-7;
        write(&damaged, format);
        assert_eq!(load(&LoadOptions::default()).unwrap_err().status, Status::NotUnitary);
        write(&exact, format);
        let whole = load(&LoadOptions::default()).unwrap();
        assert!(!whole.info.warnings.contains(Warning::SinglePrecision), "{format}");
    }
}
