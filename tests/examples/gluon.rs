//! Tests of `gluon` against sums over all sites, momentum by momentum.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::path::Path;

use plaq::backend::Device;
use plaq::fields::{Precision, Recon};
use plaq::io::{FileFormat, WriteOptions};
use plaq::ops::config::{load_gauge, save_gauge, LoadOptions};
use plaq::ops::gaugefix::{fix_gauge, Condition, GaugeFixParams};
use serde_json::Value;

use super::common::{devices, ranks, Folder, Lex};
use super::programs::{self, job_on, Program};
use super::reference::gaugefix as slow;
use super::reference::matrix::{mul, trace, Matrix};
use super::reference::numbers::gauge_from;
use super::reference::{Gauge, Lattice, C};

pub fn programs() -> &'static [Program] {
    programs::all("gluon")
}

fn read(device: &Device, path: &Path) -> (plaq::fields::GaugeField, Gauge) {
    let (precision, recon) = (Precision::F64, Recon::R18);
    let options = LoadOptions::default();
    let loaded = load_gauge(device, &ranks(), path, precision, recon, &options).unwrap();
    let links = gauge_from(&loaded.gauge.save_lex().unwrap());
    (loaded.gauge, links)
}

/// The matrices lambda of Gell-Mann; T = lambda / 2.
fn gell_mann() -> [Matrix<3>; 8] {
    let (i, root) = (C::I, C::new(1.0 / 3f64.sqrt(), 0.0));
    let one = C::ONE;
    let entries: [&[(usize, usize, C)]; 8] = [
        &[(0, 1, one), (1, 0, one)],
        &[(0, 1, -i), (1, 0, i)],
        &[(0, 0, one), (1, 1, -one)],
        &[(0, 2, one), (2, 0, one)],
        &[(0, 2, -i), (2, 0, i)],
        &[(1, 2, one), (2, 1, one)],
        &[(1, 2, -i), (2, 1, i)],
        &[(0, 0, root), (1, 1, root), (2, 2, -root * 2.0)],
    ];
    entries.map(|list| {
        let mut m = [[C::ZERO; 3]; 3];
        list.iter().for_each(|&(i, j, z)| m[i][j] = z);
        m
    })
}

/// The components A^a_mu at the links' midpoints: U = exp(i A^a T^a) to first order, so that A^a = tr(lambda^a (U -
/// U^dag)) / 2i.
fn components(links: &Gauge) -> Vec<[f64; 8]> {
    let lambda = gell_mann();
    links.iter().map(|u| lambda.map(|m| trace(&mul(&m, u)).im)).collect()
}

/// The Fourier transform A^a_mu(p), with the phases of the links' midpoints.
fn transformed(lat: Lattice, a: &[[f64; 8]], k: [usize; 4]) -> [[C; 8]; 4] {
    let q: [f64; 4] = std::array::from_fn(|mu| TAU * k[mu] as f64 / lat.extents[mu] as f64);
    let mut out = [[C::ZERO; 8]; 4];
    for x in 0..lat.volume() {
        let at = lat.coords(x);
        let angle: f64 = (0..4).map(|mu| q[mu] * at[mu] as f64).sum();
        for mu in 0..4 {
            let phase = C::from_polar(1.0, -angle - q[mu] / 2.0);
            for (sum, a) in out[mu].iter_mut().zip(&a[4 * x + mu]) {
                *sum += phase * a;
            }
        }
    }
    out
}

fn momentum(lat: Lattice, k: [usize; 4]) -> [f64; 4] {
    std::array::from_fn(|mu| 2.0 * (PI * k[mu] as f64 / lat.extents[mu] as f64).sin())
}

/// Absolute values of k, with axes of equal extents in ascending order: the same for equivalent momenta.
fn class(lat: Lattice, k: [usize; 4]) -> [usize; 4] {
    let mut axes: Vec<(usize, usize)> =
        (0..4).map(|mu| (lat.extents[mu], k[mu].min(lat.extents[mu] - k[mu]))).collect();
    axes.sort();
    std::array::from_fn(|n| axes[n].1)
}

/// Distance |q| sin(angle) of the momentum from the diagonal, in units of 2 pi / L_space; `k` has absolute values.
fn off_diagonal(lat: Lattice, k: [usize; 4]) -> f64 {
    let space = *lat.extents[..3].iter().min().unwrap() as f64;
    let q: [f64; 4] = std::array::from_fn(|mu| k[mu] as f64 * space / lat.extents[mu] as f64);
    let norm = q.iter().map(|q| q * q).sum::<f64>().sqrt();
    if norm == 0.0 {
        return 0.0;
    }
    let cosine = (q.iter().sum::<f64>() / 2.0 / norm).min(1.0);
    norm * cosine.acos().sin()
}

/// Checks a program's list of momenta inside a cut, and every number of it.
fn compare(lat: Lattice, links: &Gauge, json: &Value, cut: f64) {
    let a = components(links);
    let mut classes: BTreeMap<[usize; 4], (f64, f64, usize)> = BTreeMap::new();
    for x in 0..lat.volume() {
        let k = lat.coords(x);
        let absolute = std::array::from_fn(|mu| k[mu].min(lat.extents[mu] - k[mu]));
        if off_diagonal(lat, absolute) > cut + 1e-6 {
            continue;
        }
        let square: f64 = transformed(lat, &a, k).iter().flatten().map(|z| z.norm_sqr()).sum();
        let p2 = momentum(lat, k).iter().map(|p| p * p).sum();
        let entry = classes.entry(class(lat, k)).or_insert((p2, 0.0, 0));
        entry.1 += square;
        entry.2 += 1;
    }
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.len(), classes.len());
    let mut before = -1.0;
    for point in points {
        let k = std::array::from_fn(|mu| point["k"][mu].as_u64().unwrap() as usize);
        let (p2, square, momenta) = classes.remove(&class(lat, k)).expect("once each");
        let components = if k == [0; 4] { 32.0 } else { 24.0 };
        let d = square / momenta as f64 / (components * lat.volume() as f64);
        let number = |name: &str| point[name].as_f64().unwrap();
        assert_eq!(point["momenta"], momenta, "{k:?}");
        assert!((number("p2") - p2).abs() < 1e-12, "{k:?}");
        // Rounding of sums of V terms of order one.
        let rounding = 1e-15 * lat.volume() as f64 * d;
        assert!((number("D") - d).abs() < rounding, "{k:?}: {d} {point}");
        assert!((number("p2D") - p2 * d).abs() < rounding * 16.0, "{k:?}: {d} {point}");
        assert!(p2 >= before - 1e-12);
        before = p2;
    }
}

#[test]
fn all_momenta_agree_with_sums_over_sites() {
    let device = &devices()[0];
    for (name, cuts) in [
        ("quenched-b6.0-4x4x4x8.ildg", &["1000", "1"][..]),
        ("quenched-b6.0-8x8x8x8.nersc", &["1", "0"]),
    ] {
        let path = Path::new("tests/data").join(name);
        let (field, rough) = read(device, &path);
        let lat = Lattice::new(field.geometry().extents());
        let folder = Folder::new(&format!("gluon-{name}"));
        let fixed_path = folder.0.join("fixed");
        let params = GaugeFixParams::new(Condition::Landau);
        let fixed = fix_gauge(&field, &params, &mut |_| false).unwrap().gauge;
        save_gauge(&fixed_path, &fixed, FileFormat::Ildg, &WriteOptions::default()).unwrap();
        let (_, links) = read(device, &fixed_path);
        let all: Vec<usize> = (0..lat.volume()).collect();
        let of = |links: &Gauge| slow::quality(lat, links, slow::Condition::Landau, &all);
        let (before, after) = (of(&rough), of(&links));
        for program in programs() {
            for cut in cuts {
                let json = job_on(program, &fixed_path, &["--cut", cut]);
                compare(lat, &links, &json, cut.parse().unwrap());
                let number = |name: &str| json[name].as_f64().unwrap();
                assert!((number("functional") - after.functional).abs() < 1e-12);
                // Parseval's theorem: sum_p tr |p A|^2 = V sum_x tr Delta Delta^dag = N V^2 theta.
                assert!((number("theta") / after.theta - 1.0).abs() < 1e-6, "{json}");
                assert!(number("transversality") < 1e-11, "{json}");
            }
            let json = job_on(program, &path, &["--fix", "as-is"]);
            assert!((json["theta"].as_f64().unwrap() / before.theta - 1.0).abs() < 1e-6);
            assert!(json["transversality"].as_f64().unwrap() > 1e-2, "{json}");
            let json = job_on(program, &path, &["--fix", "yes", "--tol", "1e-14"]);
            assert!(json["theta"].as_f64().unwrap() < 1.001e-14, "{json}");
        }
        // The longitudinal part at one momentum is at most that of all momenta together.
        let a = components(&links);
        for k in [[0, 0, 0, 1], [1, 1, 1, 1], [1, 0, 2, 3], [2, 2, 2, 2], [3, 1, 0, 4]] {
            let (p, a) = (momentum(lat, k), transformed(lat, &a, k));
            let longitudinal: f64 =
                (0..8).map(|c| (0..4).map(|mu| a[mu][c] * p[mu]).sum::<C>().norm_sqr()).sum();
            let volume = lat.volume() as f64;
            assert!(longitudinal / 2.0 <= 3.0 * volume * volume * after.theta, "{k:?}");
        }
    }
}
