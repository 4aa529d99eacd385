//! Tests of every kind of source, number by number.

use plaq::error::Status;
use plaq::fields::{Noise, Precision, SpinorField};
use plaq::ops::gamma::Gamma;
use plaq::ops::source::{Sequential, Source, SourceSites};

use super::common::{self, devices, distance, tolerance, Lex};
use super::reference::contract::{gamma_of, wave};
use super::reference::gamma::mul_spin;
use super::reference::{source, spinor, Field, Lattice, C};
use super::{field, lattices, numbers, random_columns};

/// Column `column` of a source, computed from its documentation.
fn expected(lat: Lattice, s: &Source, column: usize) -> Field {
    let (kind, [spin, colour, parity]) = match s.noise {
        None => (source::Noise::One, [true, true, false]),
        Some(Noise::Z2) => (source::Noise::Z2, s.dilute),
        Some(Noise::Z4) => (source::Noise::Z4, s.dilute),
        Some(Noise::Normal) => (source::Noise::Normal, s.dilute),
    };
    // The parts over which the columns run, the slowest first.
    let mut all = Vec::new();
    for vector in 0..s.vectors {
        for part in 0..s.time_parts {
            for p in if parity { vec![Some(0), Some(1)] } else { vec![None] } {
                let spins = if spin && s.spin.is_none() { 0..4 } else { 0..1 };
                for a in spins {
                    let colours = if colour && s.colour.is_none() { 0..3 } else { 0..1 };
                    for c in colours {
                        let a = if spin && s.spin.is_none() { Some(a) } else { s.spin };
                        let c = if colour && s.colour.is_none() { Some(c) } else { s.colour };
                        all.push((vector as u32, part, p, a, c));
                    }
                }
            }
        }
    }
    assert_eq!(s.count.map_or(all.len() - s.first, |n| n.min(all.len() - s.first)), s.columns());
    let (vector, part, p, a, c) = all[s.first + column];
    let mut out = spinor::zero(lat);
    for (lex, site) in out.iter_mut().enumerate() {
        let x = lat.coords(lex);
        let here = match s.place {
            SourceSites::Point => x == s.position,
            SourceSites::Wall => x[3] == s.position[3],
            SourceSites::Volume => true,
        };
        if x[3] % s.time_parts != part {
            continue;
        }
        if !here || p.is_some_and(|p| x.iter().sum::<usize>() % 2 != p) {
            continue;
        }
        for (i, z) in site.iter_mut().flatten().enumerate() {
            if a.is_some_and(|a| a != i / 3) || c.is_some_and(|c| c != i % 3) {
                continue;
            }
            let number = 3 * if spin { 0 } else { i / 3 } + if colour { 0 } else { i % 3 };
            let eta = source::noise(kind, s.seed, vector, lat, lex, number as u32);
            *z = eta * wave(lat, lex, s.momentum, s.position);
        }
    }
    out
}

fn cases() -> Vec<Source> {
    let position = [1, 3, 0, 1];
    let momentum = [1, -2, 3, 0];
    let noise = |noise, dilute| Source {
        noise: Some(noise),
        dilute,
        seed: 0x1234_5678_9abc,
        vectors: 2,
        ..Source::volume()
    };
    let wall = Source { place: SourceSites::Wall, position, momentum, ..Source::volume() };
    vec![
        Source::point(position),
        Source { spin: Some(2), ..Source::point(position) },
        Source { colour: Some(1), first: 1, ..Source::wall(1) },
        wall,
        Source { momentum: [1, 0, -1, 2], position, ..Source::volume() },
        noise(Noise::Z4, [false; 3]),
        noise(Noise::Z2, [true, false, false]),
        noise(Noise::Normal, [true, true, true]),
        Source { first: 7, ..noise(Noise::Z2, [false, true, true]) },
        Source { spin: Some(3), colour: Some(2), ..noise(Noise::Z4, [true, false, true]) },
        Source { noise: Some(Noise::Z4), seed: u64::MAX, dilute: [true, true, false], ..wall },
        Source { time_parts: 2, count: Some(3), first: 1, ..noise(Noise::Normal, [false; 3]) },
        Source { time_parts: 2, momentum, ..noise(Noise::Z4, [true, false, true]) },
    ]
}

#[test]
fn sources_agree_with_the_reference() {
    for extents in lattices() {
        let lat = Lattice::new(extents);
        for s in cases() {
            let wanted: Vec<Field> = (0..s.columns()).map(|k| expected(lat, &s, k)).collect();
            let wanted = numbers(&wanted);
            for device in devices() {
                for precision in Precision::ALL {
                    let mut f = field(&device, extents, precision, s.columns());
                    s.set(&mut f).unwrap();
                    let off = distance(&f.save_lex().unwrap(), &wanted);
                    assert!(
                        off < tolerance(precision, 16.0),
                        "{extents:?} {precision:?} {s:?} {off:e}"
                    );
                }
            }
        }
    }
}

/// Columns of volume noise diluted in time are those of walls, one after another, and their sum is the undiluted
/// source.
#[test]
fn time_slices_of_noise_are_walls() {
    let columns = |s: Source, device: &_, extents: [usize; 4]| {
        let mut f = field(device, extents, Precision::F64, s.columns());
        s.set(&mut f).unwrap();
        f.save_lex().unwrap()
    };
    for extents in lattices() {
        for device in devices() {
            let noise = Some(Noise::Z4);
            let all = Source { noise, seed: 5, dilute: [true, true, false], ..Source::volume() };
            let [.., times] = extents;
            let diluted = Source { time_parts: times, ..all };
            assert_eq!(diluted.columns(), 12 * times);
            let undiluted = columns(all, &device, extents);
            let mut sum = vec![0.0; undiluted.len()];
            for t in 0..times {
                let slice = Source { first: 12 * t, count: Some(12), ..diluted };
                let found = columns(slice, &device, extents);
                let wall = Source { noise, seed: 5, dilute: all.dilute, ..Source::wall(t) };
                assert!(found == columns(wall, &device, extents), "{extents:?} {t}");
                sum.iter_mut().zip(found).for_each(|(s, v)| *s += v);
            }
            assert!(sum == undiluted && sum.iter().any(|v| *v != 0.0), "{extents:?}");
        }
    }
}

/// Undiluted noise equals the numbers of `set_noise`; Z2 and Z4 noise has modulus one exactly.
#[test]
fn noise_is_the_library_s() {
    for extents in lattices() {
        for device in devices() {
            for kind in [Noise::Normal, Noise::Z4, Noise::Z2] {
                let s = Source { noise: Some(kind), seed: 11, vectors: 5, ..Source::volume() };
                let mut f = field(&device, extents, Precision::F64, 3);
                Source { first: 2, ..s }.set(&mut f).unwrap();
                let found = f.save_lex().unwrap();
                f.set_noise(kind, 11, 2).unwrap();
                assert_eq!(found, f.save_lex().unwrap(), "{kind:?}");
                if kind != Noise::Normal {
                    assert!(found.chunks(2).all(|z| z[0].abs() + z[1].abs() == 1.0));
                    let mean = found.iter().sum::<f64>() / found.len() as f64;
                    assert!(mean.abs() < 6.0 / (found.len() as f64).sqrt(), "{kind:?} {mean}");
                }
            }
        }
    }
}

#[test]
fn sequential_sources_agree_with_the_reference() {
    for extents in lattices() {
        let lat = Lattice::new(extents);
        let columns = random_columns(lat, 2, 5);
        for number in 0..16 {
            let time = (number % 3 != 0).then_some(1);
            let s = Sequential {
                time,
                gamma: Gamma::new(number).unwrap(),
                momentum: [number, -1, 2],
                origin: [1, 0, 1],
            };
            let wanted: Vec<Field> = columns
                .iter()
                .map(|c| {
                    let site = |(lex, psi): (usize, &_)| {
                        let here = time.is_none_or(|t| lat.coords(lex)[3] == t);
                        let n = [number, -1, 2, 0];
                        let phase = wave(lat, lex, n, [1, 0, 1, 0]) * f64::from(u8::from(here));
                        let turned = mul_spin(&gamma_of(number as usize), psi);
                        turned.map(|colour: [C; 3]| colour.map(|z| phase * z))
                    };
                    c.iter().enumerate().map(site).collect()
                })
                .collect();
            let wanted = numbers(&wanted);
            for device in devices() {
                for precision in [Precision::F64, Precision::F32] {
                    let mut f = field(&device, extents, precision, 2);
                    f.load_lex(&numbers(&columns)).unwrap();
                    let mut out = f.like(precision).unwrap();
                    s.set(&mut out, &f).unwrap();
                    let off = distance(&out.save_lex().unwrap(), &wanted);
                    assert!(off < tolerance(precision, 16.0), "{extents:?} {precision:?} {off:e}");
                }
            }
        }
    }
}

#[test]
fn refusals_name_what_is_wrong() {
    let device = devices().remove(0);
    let extents = common::over_ranks([4, 4, 4, 4]);
    let mut f = field(&device, extents, Precision::F32, 12);
    let mut refused = |s: Source, status: Status, word: &str| {
        let e = s.set(&mut f).unwrap_err();
        assert!(e.status == status && e.message().contains(word), "{s:?}: {e}");
    };
    let (argument, mismatch) = (Status::InvalidArgument, Status::FieldMismatch);
    let outside = [0, 0, extents[2], 0];
    refused(Source::point(outside), argument, &format!("{outside:?}"));
    refused(Source::wall(extents[3]), argument, "outside");
    refused(Source { spin: Some(4), ..Source::wall(0) }, argument, "spin");
    refused(Source { colour: Some(3), ..Source::wall(0) }, argument, "colour");
    refused(Source { dilute: [true; 3], ..Source::wall(0) }, argument, "noise");
    refused(Source { vectors: 2, ..Source::wall(0) }, argument, "noise");
    refused(Source { momentum: [0, 0, 1 << 20, 0], ..Source::wall(0) }, argument, "momentum");
    refused(Source { time_parts: 2, ..Source::volume() }, argument, "noise");
    let noise = Some(Noise::Z2);
    refused(Source { time_parts: 2, noise, ..Source::wall(0) }, argument, "volume");
    refused(Source { time_parts: 7, noise, ..Source::volume() }, argument, "divisor");
    refused(Source { time_parts: 0, noise, ..Source::volume() }, argument, "divisor");
    refused(Source { first: 12, ..Source::wall(0) }, argument, "first");
    refused(Source { first: 1, ..Source::wall(0) }, mismatch, "11");
    refused(Source { spin: Some(1), ..Source::wall(0) }, mismatch, "at most 3");
    let s = Sequential { time: Some(0), gamma: Gamma::FIVE, momentum: [0; 3], origin: [0; 3] };
    let mut out = f.like(Precision::F32).unwrap();
    let mut refused = |s: Sequential, psi: &SpinorField, status: Status| {
        assert_eq!(s.set(&mut out, psi).unwrap_err().status, status);
    };
    refused(Sequential { time: Some(extents[3]), ..s }, &f, argument);
    refused(Sequential { origin: [0, extents[1], 0], ..s }, &f, argument);
    refused(s, &f.like(Precision::F64).unwrap(), mismatch);
    refused(s, &f.like_with(Precision::F32, 3).unwrap(), mismatch);
    let half = f.like(Precision::F16).unwrap();
    let mut to = half.like(Precision::F16).unwrap();
    assert_eq!(s.set(&mut to, &half).unwrap_err().status, Status::Unsupported);
    assert_eq!(Gamma::new(16).unwrap_err().status, argument);
}
