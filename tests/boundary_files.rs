//! Tests of files of links with boundaries in time whose headers do not name these, and of links that are zero where
//! links exist.

use crate::boundaries::{of, status, Setup, PHI, PHI_PRIME};
use crate::common::lex::links_from_lex;
use crate::common::{devices, distance, over_ranks, ranks, Folder, Lex};
use crate::reference::matrix::{zero, Matrix};
use crate::reference::numbers::gauge_numbers;
use crate::reference::{Gauge, C};
use plaq::error::Status;
use plaq::fields::{BoundaryTime, GaugeField, LinkOptions, Precision, Recon};
use plaq::io::{FileFormat, WriteOptions};
use plaq::ops::config::{fix_links, lattice_of, load_gauge, save_gauge, LoadOptions};
use plaq::ops::hmc::input::hmc_from_toml;
use plaq::ops::quenched::Quenched;

/// Smooth fixed links at the boundaries: the header of their file may exceed 3, and tells openQCD's order of
/// links from DDalphaAMG's only with the links of the slice after the last stored one.
#[test]
fn links_that_stand_still_are_read_again() {
    let folder = Folder::new("boundary_files");
    let device = devices().pop().unwrap();
    let zero = [0.0; 3];
    for boundary in [
        BoundaryTime::Sf { phi: PHI, phi_prime: PHI_PRIME },
        BoundaryTime::Sf { phi: zero, phi_prime: zero },
        BoundaryTime::OpenSf { phi_prime: [0.92, 0.76, -1.68] },
    ] {
        let s = Setup::new(&device, [4, 4, 4, 4], boundary);
        for width in [0.0, 0.02, 0.1, 0.3, 0.6] {
            for seed in 0..if width == 0.0 { 1 } else { 6 } {
                let mut made =
                    GaugeField::new(&device, &s.geometry, Precision::F64, Recon::R18).unwrap();
                made.set_near_unit(seed, width).unwrap();
                for format in [FileFormat::OpenQcd, FileFormat::DdAlphaAmg] {
                    let path = folder.0.join("links");
                    save_gauge(&path, &made, format, &WriteOptions::default()).unwrap();
                    let options =
                        LoadOptions { boundary_time: Some(boundary), ..Default::default() };
                    let form = (Precision::F64, Recon::R18);
                    let what = format!("{boundary} {format} width {width} seed {seed}");
                    let read = load_gauge(&device, &ranks(), &path, form.0, form.1, &options)
                        .unwrap_or_else(|e| panic!("{what}: {e}"));
                    // Both orders of unit links are the same.
                    assert!(read.info.format == format || width == 0.0, "{what}");
                    let off = distance(&read.gauge.save_lex().unwrap(), &made.save_lex().unwrap());
                    assert!(off < 1e-13, "{what}: {off:e}");
                    let found = lattice_of(&path, Some(boundary)).unwrap();
                    assert_eq!(found, (s.lat.extents, boundary), "{what}");
                }
            }
        }
        // Without their boundaries links of either format are refused with what they need.
        let path = folder.0.join("links");
        for format in [FileFormat::OpenQcd, FileFormat::DdAlphaAmg] {
            save_gauge(&path, &s.gauge, format, &WriteOptions::default()).unwrap();
            let form = (Precision::F64, Recon::R18);
            let (status, text) = status(load_gauge(
                &device,
                &ranks(),
                &path,
                form.0,
                form.1,
                &LoadOptions::default(),
            ));
            assert_eq!(status, Status::FilePlaquette, "{text}");
            assert!(text.contains("boundary_time sf") && text.contains("read as format"), "{text}");
        }
    }
}

/// Nothing projects links that are zero, or otherwise without a projection.
#[test]
fn links_without_a_projection_are_refused() {
    let folder = Folder::new("boundary_zero");
    for device in devices() {
        let periodic = Setup::new(&device, [4, 4, 4, 4], BoundaryTime::Periodic);
        let open = Setup::new(&device, [4, 4, 4, 4], BoundaryTime::Open);
        let at = 4 * periodic.lat.lex([1, 2, 3, 2]) + 1;
        let with = |links: &Gauge, change: fn(&mut Matrix<3>)| {
            let mut links = links.clone();
            change(&mut links[at]);
            links
        };
        let last = format!("{}], direction t", periodic.lat.extents[3] - 1);
        let row = with(&periodic.links, |u| u[1] = [C::ZERO; 3]);
        for (s, links, place) in [
            (&periodic, with(&periodic.links, |u| *u = zero()), "[1, 2, 3, 2], direction y"),
            (&periodic, row, "[1, 2, 3, 2], direction y"),
            (&open, with(&open.links, |u| *u = zero()), "[1, 2, 3, 2], direction y"),
            (&periodic, open.links.clone(), last.as_str()),
        ] {
            for form in [
                (Precision::F64, Recon::R18),
                (Precision::F32, Recon::R12),
                (Precision::F16, Recon::R8),
            ] {
                for tolerance in [Some(2.0), Some(20.0), None] {
                    let options = LinkOptions { tolerance, reproject: true };
                    let made =
                        links_from_lex(&device, &s.geometry, form, &gauge_numbers(&links), options);
                    let (status, text) = status(made);
                    assert_eq!(status, Status::NotUnitary, "{text}");
                    assert!(text.contains(place), "{text}");
                }
            }
            let path = folder.0.join("zero");
            let field = of(&device, &s.geometry, &links);
            save_gauge(&path, &field, FileFormat::Ildg, &WriteOptions::default()).unwrap();
            let options = LoadOptions { unitarity: Some(20.0), ..Default::default() };
            let form = (Precision::F64, Recon::R18);
            let (status, text) =
                status(load_gauge(&device, &ranks(), &path, form.0, form.1, &options));
            assert_eq!(status, Status::NotUnitary, "{text}");
        }
        // Links that have a projection are projected, however far away they are.
        let twice = gauge_numbers(&periodic.links).iter().map(|v| 2.0 * v).collect::<Vec<_>>();
        let options = LinkOptions { tolerance: Some(20.0), reproject: true };
        let form = (Precision::F64, Recon::R18);
        let made = links_from_lex(&device, &periodic.geometry, form, &twice, options).unwrap();
        assert!(distance(&made.save_lex().unwrap(), &gauge_numbers(&periodic.links)) < 1e-13);
    }
}

/// A link that is zero between open boundaries is named, not the links that do not exist.
#[test]
fn a_zero_link_of_an_open_file_is_named() {
    let folder = Folder::new("boundary_named");
    let device = devices().pop().unwrap();
    let s = Setup::new(&device, [4, 4, 4, 4], BoundaryTime::Open);
    let mut links = s.links.clone();
    links[4 * s.lat.lex([0, 3, 1, 1]) + 2] = zero();
    let field = of(&device, &s.geometry, &links);
    let path = folder.0.join("zero");
    for format in [FileFormat::OpenQcd, FileFormat::Nersc3x3] {
        save_gauge(&path, &field, format, &WriteOptions::default()).unwrap();
        for boundary_time in [None, Some(BoundaryTime::Open)] {
            let options = LoadOptions { boundary_time, ..Default::default() };
            let form = (Precision::F64, Recon::R18);
            let (status, text) =
                status(load_gauge(&device, &ranks(), &path, form.0, form.1, &options));
            assert_eq!(status, Status::NotUnitary, "{text}");
            assert!(text.contains("[0, 3, 1, 1], direction z"), "{text}");
        }
    }
}

/// Boundaries that the table `[run]` of an input states are those of the links, angles included.
#[test]
fn inputs_state_the_boundaries_of_the_links() {
    let device = devices().pop().unwrap();
    let boundary = BoundaryTime::Sf { phi: PHI, phi_prime: PHI_PRIME };
    let s = Setup::new(&device, [4, 4, 4, 4], boundary);
    let chain = |run: &str| {
        let text = format!(
            "[run]\n{run}\n[[monomial]]\nname = \"gluons\"\ntype = \"gauge\"\nbeta = 6.0\n[[level]]\n\
             integrator = \"leapfrog\"\nsteps = 1\nmonomials = [\"gluons\"]\n"
        );
        hmc_from_toml(&device, &s.geometry, Precision::F64, &text).map(|_| ())
    };
    chain("").unwrap();
    let stated = |kind: &str, prime: &str| {
        format!("boundary_time = \"{kind}\"\nphi = [-0.7, 0.15, 0.55]\nphi_prime = {prime}")
    };
    chain(&stated("sf", "[-2.1, 0.8, 1.3]")).unwrap();
    for wrong in [
        stated("sf", "[-2.1, 0.9, 1.2]"),
        "boundary_time = \"open\"".into(),
        "boundary_time = \"periodic\"".into(),
        "phi = [-0.7, 0.15, 0.55]".into(),
    ] {
        let (status, text) = status(chain(&wrong));
        assert_eq!(status, Status::BadParameter, "{text}");
        assert!(text.contains("run."), "{text}");
    }
}

/// A wrong plaquette in the header is named, whatever it is, and fixed links of a Schroedinger functional are not taken
/// for links of other boundaries.
#[test]
fn wrong_headers_and_wrong_kinds_are_refused() {
    if over_ranks([1; 4]) != [1; 4] {
        return println!("skipped: one rank changes the header");
    }
    let folder = Folder::new("boundary_wrong");
    let device = devices().pop().unwrap();
    let path = folder.0.join("links");
    let form = (Precision::F64, Recon::R18);
    let read = |boundary_time: Option<BoundaryTime>| {
        let options = LoadOptions { boundary_time, ..Default::default() };
        load_gauge(&device, &ranks(), &path, form.0, form.1, &options)
    };
    let sf = BoundaryTime::Sf { phi: PHI, phi_prime: PHI_PRIME };
    let open_sf = BoundaryTime::OpenSf { phi_prime: PHI_PRIME };
    for boundary in [BoundaryTime::Open, sf, open_sf] {
        let s = Setup::new(&device, [4, 4, 4, 4], boundary);
        let mut made = GaugeField::new(&device, &s.geometry, form.0, form.1).unwrap();
        made.set_near_unit(3, 0.4).unwrap();
        Quenched::new(6.0, 3).unwrap().run(&mut made, 30).unwrap();
        save_gauge(&path, &made, FileFormat::OpenQcd, &WriteOptions::default()).unwrap();
        read(Some(boundary)).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let plaquette = f64::from_le_bytes(bytes[16..24].try_into().unwrap());
        for factor in [0.1, 0.4, 0.9] {
            let mut wrong = bytes.clone();
            wrong[16..24].copy_from_slice(&(factor * plaquette).to_le_bytes());
            std::fs::write(&path, &wrong).unwrap();
            let (status, text) = status(read(Some(boundary)));
            assert_eq!(status, Status::FilePlaquette, "{boundary}, {factor}: {text}");
        }
        if boundary != sf {
            continue;
        }
        std::fs::write(&path, &bytes).unwrap();
        let refused = |boundary: Option<BoundaryTime>| {
            let (status, text) = status(read(boundary));
            assert_eq!(status, Status::BadParameter, "{text}");
            assert!(text.contains("sf with the angles phi"), "{text}");
        };
        refused(Some(open_sf));
        save_gauge(&path, &made, FileFormat::Milc, &WriteOptions::default()).unwrap();
        refused(None);
        refused(Some(BoundaryTime::Periodic));
        read(Some(sf)).unwrap();
    }
}

/// Fixed links of files in single precision, of files in double with links that are rounded to single, and of fields in
/// any precision are read and written as what the angles say, so that files can be read again.
#[test]
fn fixed_links_are_exact_whatever_the_precision() {
    let folder = Folder::new("boundary_rounded");
    let device = devices().pop().unwrap();
    let boundary = BoundaryTime::Sf { phi: PHI, phi_prime: PHI_PRIME };
    let s = Setup::new(&device, [4, 4, 4, 4], boundary);
    let path = folder.0.join("links");
    let whole = (Precision::F64, Recon::R18);
    let read = |options: &LoadOptions| {
        let options = LoadOptions { boundary_time: Some(boundary), ..*options };
        load_gauge(&device, &ranks(), &path, whole.0, whole.1, &options).map(|found| found.gauge)
    };
    let exact = gauge_numbers(&s.links);
    let fixed = |what: &str, gauge: GaugeField| {
        let found = gauge.save_lex().unwrap();
        for (k, (a, b)) in found.chunks(18).zip(exact.chunks(18)).enumerate() {
            let off = distance(a, b);
            if s.lat.coords(k / 4)[3] == 0 && k % 4 < 3 {
                assert!(off < 1e-15, "{what}, link {k}: {off:e}");
            }
        }
    };
    for precision in Precision::ALL {
        for recon in Recon::SU3 {
            let gauge = s.gauge.to(precision, recon).unwrap();
            for format in [FileFormat::OpenQcd, FileFormat::Nersc, FileFormat::Ildg] {
                let what = format!("{format} from {precision} {recon}");
                save_gauge(&path, &gauge, format, &WriteOptions::default()).unwrap();
                fixed(&what, read(&LoadOptions::default()).unwrap());
            }
            // Arrays may be loaded into any field.
            let options = LinkOptions::checked(Precision::F64);
            let mut made =
                links_from_lex(&device, &s.geometry, (precision, recon), &exact, options).unwrap();
            fix_links(&mut made, options.tolerance).unwrap();
        }
    }
    // The same numbers rounded to single precision, as a field without boundaries, which writes them as they are.
    let rounded: Vec<f64> = exact.iter().map(|v| f64::from(*v as f32)).collect();
    let periodic = Setup::new(&device, [4, 4, 4, 4], BoundaryTime::Periodic);
    let as_they_are = LinkOptions::checked(Precision::F32);
    let links = links_from_lex(&device, &periodic.geometry, whole, &rounded, as_they_are).unwrap();
    for bits in [32, 64] {
        let write = WriteOptions { precision_bits: Some(bits), ..Default::default() };
        save_gauge(&path, &links, FileFormat::Ildg, &write).unwrap();
        let header = Some(10.0);
        for (unitarity, reunitarise) in [(None, true), (Some(1e-5), true), (Some(1e-5), false)] {
            let options = LoadOptions { header, unitarity, reunitarise, ..Default::default() };
            let what = format!("{bits} bits, {unitarity:?}, {reunitarise}");
            let found = read(&options).unwrap();
            save_gauge(&path, &found, FileFormat::Ildg, &WriteOptions::default()).unwrap();
            fixed(&what, read(&LoadOptions::default()).unwrap());
            fixed(&what, found);
            save_gauge(&path, &links, FileFormat::Ildg, &write).unwrap();
        }
        // Links that are accepted however far they are from unitary ones must still be those of the angles.
        let other = BoundaryTime::Sf { phi: [-0.7, 0.15001, 0.54999], phi_prime: PHI_PRIME };
        let boundary_time = Some(other);
        let loose =
            LoadOptions { header, unitarity: Some(2.0), boundary_time, ..Default::default() };
        let (status, text) =
            status(load_gauge(&device, &ranks(), &path, whole.0, whole.1, &loose).map(|_| ()));
        assert!(status == Status::BadParameter && text.contains("to 1e-6"), "{text}");
    }
}

/// Files of formats that can name boundaries, whose header does not, are refused with what their links may need, and
/// what is no number in a header is named.
#[test]
fn headers_that_do_not_fit_are_named() {
    if over_ranks([1; 4]) != [1; 4] {
        return println!("skipped: one rank changes the header");
    }
    let folder = Folder::new("boundary_headers");
    let device = devices().pop().unwrap();
    let path = folder.0.join("links");
    let read = || {
        let form = (Precision::F64, Recon::R18);
        status(load_gauge(&device, &ranks(), &path, form.0, form.1, &LoadOptions::default()))
    };
    let sf = BoundaryTime::Sf { phi: PHI, phi_prime: PHI_PRIME };
    for boundary in [sf, BoundaryTime::OpenSf { phi_prime: PHI_PRIME }] {
        let s = Setup::new(&device, [4, 4, 4, 4], boundary);
        for format in [FileFormat::Nersc, FileFormat::Nersc3x3, FileFormat::Ildg] {
            let unnamed =
                WriteOptions { boundary_time: Some("PERIODIC".into()), ..Default::default() };
            save_gauge(&path, &s.gauge, format, &unnamed).unwrap();
            let (status, text) = read();
            assert_eq!(status, Status::FilePlaquette, "{format}: {text}");
            assert!(text.contains("boundary_time sf with phi"), "{format}: {text}");
        }
    }
    let s = Setup::new(&device, [4, 4, 4, 4], BoundaryTime::Periodic);
    for number in [f64::NAN, f64::INFINITY] {
        for format in [FileFormat::OpenQcd, FileFormat::DdAlphaAmg] {
            save_gauge(&path, &s.gauge, format, &WriteOptions::default()).unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[16..24].copy_from_slice(&number.to_le_bytes());
            std::fs::write(&path, bytes).unwrap();
            let (status, text) = read();
            assert_eq!(status, Status::FileFormat, "{text}");
            assert!(text.contains("plaquette in the header: expected a number"), "{text}");
        }
    }
}
