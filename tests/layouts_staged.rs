//! Tests of loads and saves through pieces of device memory, with the CPU posing as a device that cannot address the
//! host's arrays: the same bits as in place.

use crate::{common, reference};
use common::remote::remote;
use common::Lex;
use plaq::backend::{Device, External, Location};
use plaq::fields::{
    CloverField, GammaBasis, GaugeField, Geometry, Group, Layout, LinkOptions, Precision, Recon,
    SpinorField, Subset,
};
use reference::rng::Rng;

fn devices() -> [Device; 2] {
    [Device::cpu(2).expect("the CPU is always there"), remote()]
}

fn random(n: usize) -> Vec<f64> {
    let mut rng = Rng::new(6);
    (0..n).map(|_| 2.0 * rng.uniform() - 1.0).collect()
}

fn writer(arrays: &mut [Vec<f64>]) -> External<'_> {
    External::write(arrays.iter_mut().map(|a| &mut a[..]).collect())
}
fn reader(arrays: &[Vec<f64>]) -> External<'_> {
    External::read(&arrays.iter().map(|a| &a[..]).collect::<Vec<_>>())
}
fn arrays(layout: &Layout, extents: [usize; 4], subset: Subset) -> Vec<Vec<f64>> {
    let bytes = layout.bytes(extents, Group::Su3, subset).expect("consistent");
    bytes.iter().map(|b| vec![7.5; b / 8]).collect()
}

fn links(extents: [usize; 4], layouts: &[Layout]) {
    let values = random(72 * extents.iter().product::<usize>());
    for layout in layouts {
        let [here, there] = devices().map(|device| {
            let geometry = Geometry::new(extents, &device).expect("even extents");
            let new =
                || GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).expect("fits");
            let mut field = new();
            field.load_lex(&values).expect("loads");
            let mut memory = arrays(layout, extents, Subset::Full);
            field.save(layout, &mut writer(&mut memory)).expect("saves");
            let mut back = new();
            back.load(layout, &reader(&memory), LinkOptions::UNCHECKED).expect("loads");
            assert!(back.save_lex().expect("saves") == values, "{}", layout.name);
            let options = LinkOptions::checked(Precision::F64);
            let error = back.load(layout, &reader(&memory), options).expect_err("random links");
            (memory, error.message())
        });
        assert!(here == there, "{}: {} {}", layout.name, here.1, there.1);
    }
}

#[test]
fn links_of_every_layout() {
    let extents = [4, 8, 4, 8];
    links(extents, &Layout::all_links(Precision::F64, extents));
}

/// Links of a lattice so large that its arrays are transferred in many pieces are right.
#[test]
fn links_of_a_large_lattice() {
    let extents = [16, 16, 16, 16];
    let p = Precision::F64;
    let site = Layout::milc_site(p, 800, 112).expect("fits");
    let padded = Layout::tifr_padded(p, 1.0);
    links(extents, &[Layout::lexicographic(p), Layout::qdp(p), Layout::qdpjit(p), padded, site]);
}

#[test]
fn spinors_and_clover() {
    let extents = [4, 8, 4, 8];
    let volume: usize = extents.iter().product();
    let values = random(144 * volume);
    let basis = GammaBasis::Ukqcd;
    let mut layouts: Vec<_> =
        Layout::all_spinors(Precision::F64, basis).into_iter().map(|layout| (layout, 1)).collect();
    layouts.push((Layout::dirac_doublet(Precision::F64, basis), 2));
    for subset in [Subset::Full, Subset::Odd] {
        for (layout, flavours) in &layouts {
            let [here, there] = devices().map(|device| {
                let geometry = Geometry::new(extents, &device).expect("even extents");
                let new = || {
                    SpinorField::new(&device, &geometry, Precision::F64, subset, 3 * flavours)
                        .expect("fits")
                };
                let mut field = new();
                field.load_lex(&values[..72 * flavours * volume]).expect("loads");
                let mut memory = vec![arrays(layout, extents, subset)[0].clone(); 3];
                field.save(layout, &mut writer(&mut memory)).expect("saves");
                let mut back = new();
                back.load(layout, &reader(&memory), true).expect("loads");
                (memory, back.save_lex().expect("saves"))
            });
            assert!(here == there, "{} {subset:?}", layout.name);
        }
    }
    for layout in Layout::all_clover(Precision::F64) {
        let packed = Layout::packed_clover(Precision::F64);
        let [here, there] = devices().map(|device| {
            let geometry = Geometry::new(extents, &device).expect("even extents");
            let mut field = CloverField::new(&device, &geometry, Precision::F64, 1).expect("fits");
            field.load(&packed, &External::read(&[&values[..72 * volume]]), true).expect("loads");
            let mut memory = arrays(&layout, extents, Subset::Full);
            field.save(&layout, &mut writer(&mut memory)).expect("saves");
            memory
        });
        assert!(here == there, "{}", layout.name);
    }
}

/// Arrays in the memory of the device are used in place.
#[test]
fn device_arrays() {
    let extents = [4, 4, 4, 8];
    let [_, device] = devices();
    let geometry = Geometry::new(extents, &device).expect("even extents");
    let mut values = random(72 * geometry.volume());
    let mut field = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).expect("fits");
    let layout = Layout::lexicographic(Precision::F64);
    // SAFETY: the remote device shares the memory of the host, and `values` outlives the call.
    let memory = unsafe {
        let at = values.as_mut_ptr().cast();
        External::from_raw(&[at], 8 * values.len(), Location::Device)
    };
    field.load(&layout, &memory, LinkOptions::UNCHECKED).expect("loads");
    assert!(field.save_lex().expect("saves") == values);
}
