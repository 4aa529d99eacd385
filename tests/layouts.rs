//! Tests of arrays of host programs: every named layout is loaded and saved, with index formulas written out for the
//! common ones, gamma bases against the reference, and refused arrays.

use crate::{common, reference};
use common::Lex;
use plaq::backend::{Device, External, Location};
use plaq::error::Status;
use plaq::fields::{
    CloverField, GammaBasis, GaugeField, Group, Layout, LinkOptions, Precision, Recon, SpinorField,
    Subset,
};
use reference::gamma::{self, mul_spin};
use reference::rng::Rng;
use reference::{largest, su3, Lattice, C};

/// One lattice that splits over SIMD lanes in every direction, one that splits in two, and one in none.
const LATTICES: [[usize; 4]; 3] = [[4, 8, 4, 8], [4, 6, 2, 8], [6, 6, 2, 10]];
const EXTERNAL: [Precision; 2] = [Precision::F64, Precision::F32];

/// Bytes of an array that holds these numbers in a precision, as words.
fn bytes(values: &[f64], precision: Precision) -> Vec<u64> {
    // Words of 64 bits keep the bytes aligned.
    let real = precision.bytes();
    let mut words = vec![0u64; (values.len() * real).div_ceil(8)];
    let raw: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    for (i, v) in values.iter().enumerate() {
        match precision {
            Precision::F64 => raw[8 * i..8 * i + 8].copy_from_slice(&v.to_ne_bytes()),
            _ => raw[4 * i..4 * i + 4].copy_from_slice(&(*v as f32).to_ne_bytes()),
        }
    }
    words
}

fn numbers(words: &[u64], precision: Precision) -> Vec<f64> {
    match precision {
        Precision::F64 => bytemuck::cast_slice(words).to_vec(),
        _ => bytemuck::cast_slice::<u64, f32>(words).iter().map(|v| *v as f64).collect(),
    }
}

fn random(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..n).map(|_| 2.0 * rng.uniform() - 1.0).collect()
}

/// Arrays for a layout, filled with `value`.
fn arrays(layout: &Layout, extents: [usize; 4], subset: Subset, value: f64) -> Vec<Vec<u64>> {
    let sizes = layout.bytes(extents, Group::Su3, subset).expect("consistent layout");
    let fill = |b: usize| bytes(&vec![value; b / layout.precision.bytes()], layout.precision);
    sizes.into_iter().map(fill).collect()
}

fn writer(arrays: &mut [Vec<u64>]) -> External<'_> {
    External::write(arrays.iter_mut().map(|a| &mut a[..]).collect())
}
fn reader(arrays: &[Vec<u64>]) -> External<'_> {
    External::read(&arrays.iter().map(|a| &a[..]).collect::<Vec<_>>())
}

fn haar(extents: [usize; 4]) -> Vec<f64> {
    let gauge = su3::haar_gauge::<3>(Lattice::new(extents), 11);
    gauge.iter().flatten().flatten().flat_map(|z| [z.re, z.im]).collect()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    largest(a.iter().zip(b).map(|(a, b)| (a - b).abs()))
}

fn links_there_and_back(device: &Device) {
    for extents in LATTICES {
        let geometry = common::geometry(extents, device);
        let links = haar(extents);
        for internal in Precision::ALL {
            let mut field = GaugeField::new(device, &geometry, internal, Recon::R18).expect("fits");
            field.load_lex(&links).expect("loads");
            let stored = field.save_lex().expect("saves");
            for external in EXTERNAL {
                for mut layout in Layout::all_links(external, extents) {
                    let mut memory = arrays(&layout, extents, Subset::Full, 7.5);
                    field.save(&layout, &mut writer(&mut memory)).expect("saves");
                    let mut back =
                        GaugeField::new(device, &geometry, internal, Recon::R18).expect("fits");
                    let tolerance = Some(1e-3);
                    let options = LinkOptions { tolerance, reproject: false };
                    back.load(&layout, &reader(&memory), options).expect("loads");
                    // Numbers return bit for bit, unless the array is narrower than the field.
                    let bound = if external < internal { Precision::F32.epsilon() } else { 0.0 };
                    let error = largest_difference(&back.save_lex().expect("saves"), &stored);
                    assert!(error <= bound, "{} {internal:?} {external:?}: {error:e}", layout.name);

                    // Factors of a layout multiply links that are saved and divide those that are loaded.
                    layout.scale = [2.0, 1.0, 0.5, 3.0];
                    layout.boundary = [C::ONE, C::I, C::ONE, -C::ONE];
                    field.save(&layout, &mut writer(&mut memory)).expect("saves");
                    back.load(&layout, &reader(&memory), options).expect("loads");
                    let error = largest_difference(&back.save_lex().expect("saves"), &stored);
                    let bound = bound + 2.0 * internal.epsilon();
                    assert!(error <= bound, "{} with factors: {error:e}", layout.name);
                }
            }
        }
    }
}

fn spinors_there_and_back(device: &Device) {
    for extents in LATTICES {
        let geometry = common::geometry(extents, device);
        let volume = geometry.volume();
        for nrhs in [1, 3] {
            let values = random(24 * volume * nrhs, 5);
            for subset in [Subset::Full, Subset::Even, Subset::Odd] {
                for internal in Precision::ALL {
                    let new = || {
                        SpinorField::new(device, &geometry, internal, subset, nrhs).expect("fits")
                    };
                    let mut field = new();
                    field.load_lex(&values).expect("loads");
                    let stored = field.save_lex().expect("saves");
                    for external in EXTERNAL {
                        for layout in Layout::all_spinors(external, GammaBasis::DeGrandRossi) {
                            let one = arrays(&layout, extents, subset, 0.0);
                            let mut memory = vec![one[0].clone(); nrhs];
                            field.save(&layout, &mut writer(&mut memory)).expect("saves");
                            let mut back = new();
                            back.load(&layout, &reader(&memory), true).expect("loads");
                            let eps = Precision::F32.epsilon();
                            // A site in fixed point is scaled once more by its largest number.
                            let bound = match (external < internal, internal) {
                                (_, Precision::F16) => 2.5 * internal.epsilon(),
                                (true, _) => eps,
                                _ => 0.0,
                            };
                            let found = back.save_lex().expect("saves");
                            let error = largest_difference(&found, &stored);
                            let name = layout.name;
                            assert!(error <= bound, "{name} {internal:?} {external:?}: {error:e}");
                        }
                    }
                }
            }
        }
    }
}

fn right_hand_sides_in_one_array_follow_each_other(device: &Device) {
    let extents = LATTICES[0];
    let geometry = common::geometry(extents, device);
    let values = random(24 * geometry.volume() * 2, 5);
    let mut field =
        SpinorField::new(device, &geometry, Precision::F64, Subset::Full, 2).expect("fits");
    field.load_lex(&values).expect("loads");
    let layout = Layout::dirac(Precision::F64, GammaBasis::DeGrandRossi);
    let mut apart = vec![vec![0f64; 24 * geometry.volume()]; 2];
    let mut writer = External::write(apart.iter_mut().map(|a| &mut a[..]).collect());
    field.save(&layout, &mut writer).expect("saves");
    let mut together = vec![0f64; 48 * geometry.volume()];
    field.save(&layout, &mut External::write(vec![&mut together[..]])).expect("saves");
    assert!(together == apart.concat());
}

fn clover_there_and_back(device: &Device) {
    for extents in LATTICES {
        let geometry = common::geometry(extents, device);
        let values = random(72 * geometry.volume(), 3);
        for internal in Precision::ALL {
            for external in EXTERNAL {
                let mut field = CloverField::new(device, &geometry, internal, 1).expect("fits");
                let packed = Layout::packed_clover(external);
                let memory = vec![bytes(&values, external)];
                field.load(&packed, &reader(&memory), true).expect("loads");
                let other = Layout::qdpjit_clover(external);
                let mut moved = arrays(&other, extents, Subset::Full, 0.0);
                field.save(&other, &mut writer(&mut moved)).expect("saves");
                let mut again = CloverField::new(device, &geometry, internal, 1).expect("fits");
                again.load(&other, &reader(&moved), true).expect("loads");
                let mut back = vec![bytes(&vec![0.0; values.len()], external)];
                again.save(&packed, &mut writer(&mut back)).expect("saves");
                let found = numbers(&back[0], external);
                let bound = match internal {
                    Precision::F16 => 3.0 * internal.epsilon(),
                    _ => internal.epsilon().max(external.epsilon()),
                };
                let error = largest_difference(&found[..values.len()], &values);
                assert!(error <= bound, "{internal:?} {external:?}: {error:e}");
            }
        }
    }
}

/// The index of a number in an array follows the formula written out for each layout; `cb` counts sites of one
/// parity.
fn index_formulas(device: &Device) {
    let extents = LATTICES[0];
    let [lx, ly, lz, lt] = extents;
    let geometry = common::geometry(extents, device);
    let lat = Lattice::new(extents);
    let v = lat.volume();
    let links = haar(extents);
    let mut field = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).expect("fits");
    field.load_lex(&links).expect("loads");
    type Formula = Box<dyn Fn([usize; 4], usize, usize, usize, usize) -> (usize, usize)>;
    let p = Precision::F64;
    // Each formula gives (array, index) for coordinates, direction, row, column and re/im.
    let cb = move |x: [usize; 4]| (x[0] + lx * (x[1] + ly * (x[2] + lz * x[3]))) / 2;
    let par = |x: [usize; 4]| x.iter().sum::<usize>() % 2;
    let eo = move |x| par(x) * v / 2 + cb(x);
    let time_first = |mu: usize| (mu + 1) % 4;
    let z_fastest = move |x: [usize; 4]| x[2] + lz * (x[1] + ly * (x[0] + lx * x[3]));
    let space = move |x: [usize; 4]| (x[2] + lz * (x[1] + ly * x[0])) / 2;
    let space_parity = |x: [usize; 4]| (x[0] + x[1] + x[2]) % 2;
    let inner = |mu: usize, i: usize, j: usize, c: usize| 18 * mu + 6 * i + 2 * j + c;
    let v3 = lx * ly * lz;
    let formulas: Vec<(Layout, Formula)> = vec![
        (Layout::qdp(p), Box::new(move |x, mu, i, j, c| (mu, 18 * eo(x) + 6 * i + 2 * j + c))),
        (
            Layout::qdpjit(p),
            Box::new(move |x, mu, i, j, c| {
                (mu, ((3 * (3 * c + i) + j) * 2 + par(x)) * v / 2 + cb(x))
            }),
        ),
        (Layout::milc(p), Box::new(move |x, mu, i, j, c| (0, 72 * eo(x) + inner(mu, i, j, c)))),
        (
            Layout::milc_site(p, 2016, 112).expect("fits"),
            Box::new(move |x, mu, i, j, c| (0, 252 * eo(x) + 14 + inner(mu, i, j, c))),
        ),
        (Layout::cps(p, 1.0), Box::new(move |x, mu, i, j, c| (0, 72 * eo(x) + inner(mu, j, i, c)))),
        (
            Layout::bqcd(p, extents),
            Box::new(move |x, mu, i, j, c| {
                let room = (lx / 2 + 2) * (ly + 2) * (lz + 2) * (lt + 2);
                (0, 18 * ((2 * mu + par(x)) * room + cb(x)) + 6 * j + 2 * i + c)
            }),
        ),
        (
            Layout::tifr_padded(p, 1.0),
            Box::new(move |x, mu, i, j, c| {
                let site = (x[0] + lx * (x[1] + ly * (x[2] + 2 + (lz + 4) * x[3]))) / 2;
                let half = lx * ly * (lz + 4) * lt / 2;
                (0, 18 * ((2 * mu + par(x)) * half + site) + 6 * j + 2 * i + c)
            }),
        ),
        (
            Layout::lexicographic(p),
            Box::new(move |x, mu, i, j, c| (0, 72 * lat.lex(x) + inner(mu, i, j, c))),
        ),
        (
            Layout::openqcd(p),
            Box::new(move |mut x, mu, i, j, c| {
                let back = 1 - par(x);
                if back == 1 {
                    x[mu] = (x[mu] + 1) % extents[mu];
                }
                let link = 8 * (z_fastest(x) / 2) + 2 * time_first(mu) + back;
                (0, 18 * link + 6 * i + 2 * j + c)
            }),
        ),
        (
            Layout::standard_pattern(p),
            Box::new(move |x, mu, i, j, c| (0, 72 * z_fastest(x) + inner(time_first(mu), i, j, c))),
        ),
        (
            Layout::gpu_pattern(p),
            Box::new(move |x, mu, i, j, c| {
                let site = par(x) * v / 2 + z_fastest(x) / 2;
                (0, inner(time_first(mu), i, j, c) * v + site)
            }),
        ),
        (
            Layout::timeslice_pattern(p),
            Box::new(move |x, mu, i, j, c| {
                let site = space_parity(x) * v3 / 2 + space(x);
                (0, (72 * x[3] + inner(time_first(mu), i, j, c)) * v3 + site)
            }),
        ),
        (
            Layout::parity_pattern(p),
            Box::new(move |x, mu, i, j, c| {
                let component = 72 * par(x) + inner(time_first(mu), i, j, c);
                (0, component * v / 2 + z_fastest(x) / 2)
            }),
        ),
        (
            Layout::timeslice_parity_pattern(p),
            Box::new(move |x, mu, i, j, c| {
                let component = 72 * (2 * x[3] + space_parity(x)) + inner(time_first(mu), i, j, c);
                (0, component * v3 / 2 + space(x))
            }),
        ),
    ];
    for (layout, formula) in formulas {
        let mut memory = arrays(&layout, extents, Subset::Full, 7.5);
        field.save(&layout, &mut writer(&mut memory)).expect("saves");
        let found: Vec<Vec<f64>> = memory.iter().map(|m| numbers(m, p)).collect();
        let mut written = 0;
        for lex in 0..v {
            for k in 0..72 {
                let (mu, i, j, c) = (k / 18, k / 6 % 3, k / 2 % 3, k % 2);
                let (array, index) = formula(lat.coords(lex), mu, i, j, c);
                let name = layout.name;
                assert_eq!(found[array][index], links[72 * lex + k], "{name} {lex} {k}");
                written += 1;
            }
        }
        // Memory between the links is not written.
        let kept: usize = found.iter().flatten().filter(|x| **x == 7.5).count();
        assert_eq!(kept + written, found.iter().map(Vec::len).sum::<usize>(), "{}", layout.name);
    }
}

/// Signs and factors that depend on a link's coordinates are applied to an array, which gives the links back, and to
/// a field.
fn factors_by_coordinates(device: &Device) {
    for extents in LATTICES {
        let geometry = common::geometry(extents, device);
        let (lat, links) = (Lattice::new(extents), haar(extents));
        let plain = Layout::lexicographic(Precision::F64);
        let mut layout = plain.clone().with_milc_phases();
        layout.scale = [0.5, 0.5, 0.5, 1.0];
        let factor = |lex: usize, mu: usize| {
            let x = lat.coords(lex);
            let odd = match mu {
                0 => x[3],
                1 => x[3] + x[0],
                2 => x[3] + x[0] + x[1],
                _ => (x[3] == extents[3] - 1) as usize,
            };
            let sign = if odd % 2 == 1 { -1.0 } else { 1.0 };
            if mu < 3 {
                0.5 * sign
            } else {
                sign
            }
        };
        let carried: Vec<f64> =
            links.iter().enumerate().map(|(i, v)| v * factor(i / 72, i / 18 % 4)).collect();
        for precision in [Precision::F64, Precision::F32] {
            let form = (precision, Recon::R18);
            let bound = if precision == Precision::F64 { 0.0 } else { 1e-7 };
            let checked = LinkOptions::checked(Precision::F64);
            let memory = External::read(&[&carried[..]]);
            let field =
                GaugeField::from_external(device, &geometry, form, &layout, &memory, checked)
                    .expect("without the factors they are unitary");
            assert!(largest_difference(&field.save_lex().expect("saves"), &links) <= bound);
            let times = field.with_host_factors(&layout, precision).expect("fits");
            assert!(largest_difference(&times.save_lex().expect("saves"), &carried) <= bound);
            let mut out = vec![0.0; links.len()];
            field.save(&layout, &mut External::write(vec![&mut out[..]])).expect("saves");
            assert!(largest_difference(&out, &carried) <= bound);
        }
    }
}

/// Links in double precision that are unitary to rounding are loaded exactly, without projection.
fn exact_links_stay(device: &Device) {
    let extents = LATTICES[1];
    let geometry = common::geometry(extents, device);
    let mut rng = Rng::new(9);
    let layout = Layout::lexicographic(Precision::F64);
    let options = LinkOptions { reproject: true, ..LinkOptions::checked(Precision::F64) };
    for (size, exact) in [(1e-15, true), (1e-11, false)] {
        let links: Vec<f64> =
            haar(extents).iter().map(|x| x + size * (rng.uniform() - 0.5)).collect();
        let load = |links: &[f64]| {
            let form = (Precision::F64, Recon::R18);
            let memory = External::read(&[links]);
            let read =
                GaugeField::from_external(device, &geometry, form, &layout, &memory, options);
            read.expect("near the group").save_lex().expect("saves")
        };
        let read = load(&links);
        assert_eq!(read == links, exact, "{size:e}");
        assert!(load(&read) == read);
    }
}

fn spinor_index_formulas(device: &Device) {
    let extents = LATTICES[0];
    let geometry = common::geometry(extents, device);
    let lat = Lattice::new(extents);
    let v = lat.volume();
    let values = random(24 * v, 5);
    let p = Precision::F64;
    type Formula = Box<dyn Fn(usize, usize, usize, usize) -> usize>;
    let basis = GammaBasis::DeGrandRossi;
    let formulas: Vec<(Layout, Formula)> = vec![
        (
            Layout::dirac(p, basis),
            Box::new(move |lex, s, c, r| {
                24 * (lat.parity(lex) * v / 2 + lat.cb(lex)) + 6 * s + 2 * c + r
            }),
        ),
        (
            Layout::qdp_spinor(p, basis),
            Box::new(move |lex, s, c, r| {
                24 * (lat.parity(lex) * v / 2 + lat.cb(lex)) + 8 * c + 2 * s + r
            }),
        ),
        (
            Layout::cps_spinor(p, basis),
            Box::new(move |lex, s, c, r| {
                24 * ((1 - lat.parity(lex)) * v / 2 + lat.cb(lex)) + 6 * s + 2 * c + r
            }),
        ),
        (
            Layout::qdpjit_spinor(p, basis),
            Box::new(move |lex, s, c, r| {
                ((4 * (3 * r + c) + s) * 2 + lat.parity(lex)) * v / 2 + lat.cb(lex)
            }),
        ),
    ];
    for (layout, formula) in formulas {
        for (subset, parity) in
            [(Subset::Full, None), (Subset::Even, Some(0)), (Subset::Odd, Some(1))]
        {
            let mut field = SpinorField::new(device, &geometry, p, subset, 1).expect("fits");
            field.load_lex(&values).expect("loads");
            let mut memory = arrays(&layout, extents, subset, 7.5);
            field.save(&layout, &mut writer(&mut memory)).expect("saves");
            let found = numbers(&memory[0], p);
            for lex in (0..v).filter(|l| parity.is_none_or(|p| lat.parity(*l) == p)) {
                for k in 0..24 {
                    let mut index = formula(lex, k / 6, k / 2 % 3, k % 2);
                    // A field of one parity is saved to an array of its own.
                    if parity.is_some() && !layout.whole {
                        index %= 12 * v;
                    }
                    assert_eq!(found[index], values[24 * lex + k], "{} {lex} {k}", layout.name);
                }
            }
        }
    }
}

fn gamma_bases_agree_with_the_reference(device: &Device) {
    let extents = LATTICES[0];
    let geometry = common::geometry(extents, device);
    let v = geometry.volume();
    let values = random(24 * v, 9);
    for (basis, named) in GammaBasis::ALL.into_iter().zip(gamma::Basis::ALL) {
        let mut field =
            SpinorField::new(device, &geometry, Precision::F64, Subset::Full, 1).expect("fits");
        let layout = Layout::lexicographic_spinor(Precision::F64, basis);
        field.load(&layout, &External::read(&[&values[..]]), true).expect("loads");
        let found = field.save_lex().expect("saves");
        let rotation = gamma::rotation(named, gamma::Basis::DeGrandRossi);
        for lex in 0..v {
            let at = |s: usize, c: usize| 24 * lex + 6 * s + 2 * c;
            let psi = std::array::from_fn(|s| {
                std::array::from_fn(|c| C::new(values[at(s, c)], values[at(s, c) + 1]))
            });
            let expected = mul_spin(&rotation, &psi);
            for (s, colours) in expected.iter().enumerate() {
                for (c, z) in colours.iter().enumerate() {
                    let f = C::new(found[at(s, c)], found[at(s, c) + 1]);
                    assert!((f - z).norm() < 1e-15 * 4.0, "{basis:?} {lex} {s} {c}: {f} {z}");
                }
            }
        }
        let mut back = vec![0f64; 24 * v];
        field.save(&layout, &mut External::write(vec![&mut back[..]])).expect("saves");
        assert!(largest_difference(&back, &values) < 1e-15 * 4.0, "{basis:?}");
    }
}

fn a_bad_link_is_named_and_the_field_stays(device: &Device) {
    for extents in LATTICES {
        let geometry = common::geometry(extents, device);
        let lat = Lattice::new(extents);
        let links = haar(extents);
        let mut field =
            GaugeField::new(device, &geometry, Precision::F64, Recon::R12).expect("fits");
        field.load_lex(&links).expect("loads");
        let before = field.save_lex().expect("saves");
        for layout in Layout::all_links(Precision::F64, extents) {
            for (x, mu, value, status) in [
                ([1, 2, 0, 3], 1, 3.0, Status::NotUnitary),
                ([3, 5, 1, 7], 3, f64::NAN, Status::NotFinite),
                ([0, 0, 0, 0], 0, f64::INFINITY, Status::NotFinite),
                // A number whose square overflows.
                ([2, 0, 1, 4], 2, 1e200, Status::NotUnitary),
            ] {
                let mut bad = links.clone();
                bad[72 * lat.lex(x) + 18 * mu + 4] = value;
                let mut source =
                    GaugeField::new(device, &geometry, Precision::F64, Recon::R18).expect("fits");
                source.load_lex(&bad).expect("unchecked");
                let mut memory = arrays(&layout, extents, Subset::Full, 0.0);
                source.save(&layout, &mut writer(&mut memory)).expect("saves");
                let options = LinkOptions::checked(Precision::F64);
                let error = field.load(&layout, &reader(&memory), options).expect_err("refused");
                assert_eq!(error.status, status, "{}", layout.name);
                let expected = format!("link at {x:?}, direction {}", ["x", "y", "z", "t"][mu]);
                assert!(
                    error.message().contains(&expected),
                    "{}: {}",
                    layout.name,
                    error.message()
                );
                assert!(field.save_lex().expect("saves") == before, "{}", layout.name);
                let form = (Precision::F64, Recon::R12);
                let memory = reader(&memory);
                let new =
                    GaugeField::from_external(device, &geometry, form, &layout, &memory, options);
                assert_eq!(new.expect_err("refused").status, status);
            }
        }
    }
}

fn bad_numbers_in_spinors_and_clover_are_refused(device: &Device) {
    let extents = LATTICES[0];
    let geometry = common::geometry(extents, device);
    let v = geometry.volume();
    let mut values = random(72 * v, 1);
    let mut clover = CloverField::new(device, &geometry, Precision::F64, 1).expect("fits");
    let packed = Layout::packed_clover(Precision::F64);
    clover.load(&packed, &External::read(&[&values[..]]), true).expect("finite");
    values[72 * (v / 2) + 5] = f64::NAN;
    let error = clover.load(&packed, &External::read(&[&values[..]]), true).expect_err("NaN");
    assert_eq!(error.status, Status::NotFinite);
    assert!(error.message().contains("[1, 0, 0, 0]"), "{}", error.message());

    let mut spinor =
        SpinorField::new(device, &geometry, Precision::F32, Subset::Full, 2).expect("fits");
    let mut values = random(48 * v, 1);
    spinor.load_lex(&values).expect("loads");
    let before = spinor.save_lex().expect("saves");
    values[24 * v + 24 * 5] = f64::INFINITY;
    let layout = Layout::lexicographic_spinor(Precision::F64, GammaBasis::DeGrandRossi);
    let error = spinor.load(&layout, &External::read(&[&values[..]]), true).expect_err("infinite");
    assert_eq!(error.status, Status::NotFinite);
    assert!(error.message().contains("spinor 1 at [1, 1, 0, 0]"), "{}", error.message());
    assert!(spinor.save_lex().expect("saves") == before);
}

fn reprojection_restores_the_group(device: &Device) {
    let extents = LATTICES[1];
    let geometry = common::geometry(extents, device);
    let mut rng = Rng::new(3);
    let links = haar(extents);
    let noisy: Vec<f64> = links.iter().map(|x| x + 1e-6 * (rng.uniform() - 0.5)).collect();
    let layout = Layout::lexicographic(Precision::F64);
    let form = (Precision::F64, Recon::R18);
    let memory = External::read(&[&noisy[..]]);
    let load = |o| GaugeField::from_external(device, &geometry, form, &layout, &memory, o);
    assert!(load(LinkOptions::checked(Precision::F64)).is_err());
    let options = LinkOptions { reproject: true, ..LinkOptions::checked(Precision::F32) };
    let found = load(options).expect("close to the group").save_lex().expect("saves");
    assert!(largest_difference(&found, &links) < 1e-5);
    for (a, b) in found.chunks(18).zip(noisy.chunks(18)) {
        let matrix = |v: &[f64]| {
            std::array::from_fn(|i| {
                std::array::from_fn(|j| C::new(v[6 * i + 2 * j], v[6 * i + 2 * j + 1]))
            })
        };
        let (a, b): (reference::matrix::Matrix<3>, reference::matrix::Matrix<3>) =
            (matrix(a), matrix(b));
        assert!(su3::unitarity_violation(&a) < 1e-14);
        // The result is that of Gram-Schmidt for two rows, with the third row completed from them.
        let g = su3::reunitarise(&b);
        assert!(reference::matrix::distance(&a, &g) < 1e-14);
    }
}

fn su2_links(device: &Device) {
    let extents = LATTICES[0];
    let geometry = common::geometry(extents, device);
    let gauge = su3::haar_gauge::<2>(Lattice::new(extents), 4);
    // The second row (-conj u12, conj u11) follows from the first bit by bit.
    let rows = gauge.iter().map(|u| [u[0][0], u[0][1], -u[0][1].conj(), u[0][0].conj()]);
    let links: Vec<f64> = rows.flatten().flat_map(|z| [z.re, z.im]).collect();
    for internal in Precision::ALL {
        let mut field = GaugeField::new(device, &geometry, internal, Recon::Su2).expect("fits");
        assert_eq!(field.group(), Group::Su2);
        let layout = Layout::lexicographic(Precision::F64);
        let options = LinkOptions::checked(Precision::F64);
        field.load(&layout, &External::read(&[&links[..]]), options).expect("loads");
        let back = field.save_lex().expect("saves");
        let bound = match internal {
            Precision::F64 => 0.0,
            // In single precision numbers are rounded three times on the way.
            _ => internal.epsilon() + 3.0 * Precision::F32.epsilon(),
        };
        let error = largest_difference(&back, &links);
        assert!(error <= bound, "{internal:?}: {error:e}");
        let wide = field.to(Precision::F64, Recon::Su2).expect("same group");
        // Fixed point is decoded in single precision for the field, in double for the copy.
        let bound = if internal == Precision::F16 { 3.0 * Precision::F32.epsilon() } else { 0.0 };
        assert!(largest_difference(&wide.save_lex().expect("saves"), &back) <= bound);

        let mut bad = links.clone();
        bad[32 * 5 + 8 * 2 + 4] += 1e-3;
        let error =
            field.load(&layout, &External::read(&[&bad[..]]), options).expect_err("refused");
        assert_eq!(error.status, Status::NotUnitary);
        assert!(error.message().contains("[1, 1, 0, 0], direction z"), "{}", error.message());
        for layout in Layout::all_links(Precision::F64, extents) {
            let sizes = layout.bytes(extents, Group::Su2, Subset::Full).expect("consistent");
            let mut memory: Vec<Vec<f64>> = sizes.iter().map(|b| vec![0.0; b / 8]).collect();
            let mut writer = External::write(memory.iter_mut().map(|a| &mut a[..]).collect());
            field.save(&layout, &mut writer).expect("saves");
            let mut again = GaugeField::new(device, &geometry, internal, Recon::Su2).expect("fits");
            let memory: Vec<&[f64]> = memory.iter().map(|a| &a[..]).collect();
            again.load(&layout, &External::read(&memory), LinkOptions::UNCHECKED).expect("loads");
            assert!(again.save_lex().expect("saves") == back, "{}", layout.name);
        }
    }
}

fn arrays_that_do_not_fit_are_refused(device: &Device) {
    let extents = LATTICES[0];
    let geometry = common::geometry(extents, device);
    let mut field = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).expect("fits");
    let links = haar(extents);
    let options = LinkOptions::UNCHECKED;
    let lex = Layout::lexicographic(Precision::F64);
    let short = External::read(&[&links[1..]]);
    assert_eq!(field.load(&lex, &short, options).expect_err("short").status, Status::BadLayout);
    let qdp = Layout::qdp(Precision::F64);
    let one = External::read(&[&links[..]]);
    assert_eq!(field.load(&qdp, &one, options).expect_err("one array").status, Status::BadLayout);
    let spinor = Layout::dirac(Precision::F64, GammaBasis::Chiral);
    assert_eq!(field.load(&spinor, &one, options).expect_err("spinor").status, Status::BadLayout);
    // SAFETY: the library refuses these arrays before it reads them.
    let (null, device_array) = unsafe {
        let at = links.as_ptr() as *mut u8;
        let null = External::from_raw(&[std::ptr::null_mut()], 8 * links.len(), Location::Host);
        (null, External::from_raw(&[at], 8 * links.len(), Location::Device))
    };
    assert_eq!(field.load(&lex, &null, options).expect_err("NULL").status, Status::NullPointer);
    if device.is_cpu() {
        let error = field.load(&lex, &device_array, options).expect_err("device");
        assert_eq!(error.status, Status::BadLayout);
    }
    let mut read_only = External::read(&[&links[..]]);
    assert_eq!(field.save(&lex, &mut read_only).expect_err("read-only").status, Status::BadLayout);
    let mut odd = Layout::lexicographic(Precision::F64);
    odd.axes = [0, 0, 1, 2];
    assert_eq!(field.load(&odd, &one, options).expect_err("axes").status, Status::BadLayout);
    odd = Layout::lexicographic(Precision::F16);
    assert_eq!(field.load(&odd, &one, options).expect_err("half").status, Status::BadLayout);
    assert!(Layout::milc_site(Precision::F64, 500, 0).is_err());
}

common::on_every_device! {
    links_there_and_back
    spinors_there_and_back
    right_hand_sides_in_one_array_follow_each_other
    clover_there_and_back
    index_formulas
    factors_by_coordinates
    exact_links_stay
    spinor_index_formulas
    gamma_bases_agree_with_the_reference
    a_bad_link_is_named_and_the_field_stays
    bad_numbers_in_spinors_and_clover_are_refused
    reprojection_restores_the_group
    su2_links
    arrays_that_do_not_fit_are_refused
}
