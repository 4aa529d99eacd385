//! Tests with configurations that MILC and DDalphaAMG wrote, against the numbers that these codes print.

use super::lattice::*;
use super::options;
use plaq::io::{read_gauge, write_gauge, ByteOrder, FileFormat, GaugeFile};
use std::fs;
use std::path::PathBuf;

/// Path of a configuration of another code, or `None` with a printed message if its folder is absent.
fn configuration(name: &str) -> Option<PathBuf> {
    let beside = concat!(env!("SOURCE_TREE"), "/../shared/configs").into();
    let path = PathBuf::from(std::env::var("PLAQ_CONFIGS").unwrap_or(beside)).join(name);
    if !path.exists() {
        println!("skipped: no {} (set PLAQ_CONFIGS)", path.display());
        return None;
    }
    Some(path)
}

/// Checksum of the links as a NERSC file of two rows in single precision.
fn nersc_checksum(file: &GaugeFile, folder: &Folder) -> String {
    let path = folder.file("as-nersc");
    let mut options = options(file.extents, &file.links);
    options.precision_bits = Some(32);
    write_gauge(&path, FileFormat::Nersc, &options, file.extents, &file.links).unwrap();
    let text = String::from_utf8_lossy(&fs::read(&path).unwrap()[..1000]).into_owned();
    let line = text.lines().find(|line| line.starts_with("CHECKSUM")).unwrap();
    line.rsplit(' ').next().unwrap().into()
}

/// Tolerance for averages of configurations in single precision, which agree with the other code to this rounding.
const SINGLE: f64 = 1e-7;

#[test]
fn milc_configurations() {
    let folder = Folder::new("milc");
    type Known = (&'static str, [usize; 4], ByteOrder, (f64, f64), Option<f64>, &'static str);
    let known: [Known; 3] = [
        (
            "milc.lat.sample.l4444",
            [4, 4, 4, 4],
            ByteOrder::Little,
            (1.794675156076173, 1.7744257976067317),
            Some(0.6467587374189634),
            "ffc4bb26",
        ),
        (
            "milc.lat.sample.l4448",
            [4, 4, 4, 8],
            ByteOrder::Big,
            (1.7237482807974562, 1.690586065416609),
            None,
            "b3be9b3b",
        ),
        (
            "milc.lat.sample.l4448.ll",
            [4, 4, 4, 8],
            ByteOrder::Little,
            (1.6788352909656483, 1.645192836717501),
            Some(0.6213167953909497),
            "d94a8716",
        ),
    ];
    for (name, n, order, (space, time), trace, checksum) in known {
        let Some(path) = configuration(name) else { continue };
        let file = read_gauge(&path, Some(n)).unwrap();
        assert_eq!((file.info.format, file.info.byte_order), (FileFormat::Milc, order));
        let found = plaquettes(n, &file.links);
        assert!((found.0 - space).abs() < SINGLE && (found.1 - time).abs() < SINGLE, "{found:?}");
        if let Some(trace) = trace {
            assert!((link_trace(n, &file.links) - trace).abs() < SINGLE);
        }
        assert_eq!(nersc_checksum(&file, &folder), checksum, "{name}");
        // Written again it is the same file, byte for byte.
        let again = folder.file("again");
        let mut options = options(n, &file.links);
        (options.date, options.byte_order) = (file.info.date.clone(), Some(order));
        write_gauge(&again, FileFormat::Milc, &options, n, &file.links).unwrap();
        assert!(fs::read(&again).unwrap() == fs::read(&path).unwrap(), "{name}");
    }
}

#[test]
fn ildg_configuration() {
    let folder = Folder::new("ildg");
    let n = [4, 4, 4, 4];
    let Some(path) = configuration("milc.lat.sample.l4444.ildg") else { return };
    let file = read_gauge(&path, Some(n)).unwrap();
    assert_eq!((file.info.format, file.info.precision_bits), (FileFormat::Ildg, 32));
    assert_eq!(file.info.lfn.as_deref(), Some("lfn://USQCD/MILC/test/lat.sample.l4444"));
    assert_eq!(file.info.date.as_deref(), Some("Sun Dec  4 20:49:06 2005 UTC"));
    assert!(file.info.user_record.as_ref().unwrap().contains("gauge.beta11 = 7.0"));
    if let Some(milc) = configuration("milc.lat.sample.l4444") {
        assert!(file.links == read_gauge(&milc, None).unwrap().links);
    }
    // Data and checksum record are what QIO wrote.
    let again = folder.file("again");
    let mut options = options(n, &file.links);
    options.precision_bits = Some(32);
    write_gauge(&again, FileFormat::Ildg, &options, n, &file.links).unwrap();
    let (theirs, ours) = (fs::read(&path).unwrap(), fs::read(&again).unwrap());
    let tail = 4 * 4 * 4 * 4 * 288 + 144 + 136;
    assert!(theirs[theirs.len() - tail..] == ours[ours.len() - tail..]);
}

#[test]
fn ddalphaamg_configurations() {
    let folder = Folder::new("ddalphaamg");
    for (extent, mean) in [(4, 1.7866958691092), (8, 1.7772950976130)] {
        let name = format!("ddalphaamg.{extent}x{extent}x{extent}x{extent}b6.0000id3n1");
        let Some(path) = configuration(&name) else { continue };
        let n = [extent; 4];
        let file = read_gauge(&path, Some(n)).unwrap();
        assert_eq!(file.info.format, FileFormat::DdAlphaAmg);
        let header = file.info.plaquette.unwrap();
        assert!((3.0 * header - mean).abs() < 1e-12);
        // A mean of 6·extent⁴ terms of order one, each rounded a hundred times or so.
        assert!((plaquette(n, &file.links) - header).abs() < 100.0 * f64::EPSILON);
        let again = folder.file("again");
        write_gauge(&again, FileFormat::DdAlphaAmg, &options(n, &file.links), n, &file.links)
            .unwrap();
        let (theirs, ours) = (fs::read(&path).unwrap(), fs::read(&again).unwrap());
        assert!(theirs[..16] == ours[..16] && theirs[24..] == ours[24..]);
    }
}
