//! Rates of loading and saving links, measured on request: `PLAQ_MEASURE=X,Y,Z,T`.

mod common;

use std::time::Instant;

use plaq::backend::External;
use plaq::fields::{GaugeField, Geometry, Group, Layout, LinkOptions, Precision, Recon, Subset};

#[test]
fn rates() {
    let Ok(lattice) = std::env::var("PLAQ_MEASURE") else { return };
    let parsed: Vec<usize> = lattice.split(',').map(|l| l.parse().expect("a number")).collect();
    let extents: [usize; 4] = parsed.try_into().expect("X,Y,Z,T");
    let p = Precision::F64;
    let site = Layout::milc_site(p, 2016, 112).expect("fits");
    for device in common::devices() {
        let geometry = Geometry::new(extents, &device).expect("even extents");
        for layout in [Layout::qdp(p), Layout::milc(p), Layout::qdpjit(p), site.clone()] {
            let sizes = layout.bytes(extents, Group::Su3, Subset::Full).expect("consistent");
            let bytes: usize = sizes.iter().sum();
            let mut arrays: Vec<Vec<f64>> = sizes.iter().map(|b| vec![0.5; b / 8]).collect();
            device.reset_peak();
            let mut field = GaugeField::new(&device, &geometry, p, Recon::R18).expect("fits");
            let held = device.used().0;
            let mut line = format!("{} {}:", device.name(), layout.name);
            for options in
                [LinkOptions::UNCHECKED, LinkOptions { tolerance: Some(1e9), reproject: false }]
            {
                // The first pass compiles and touches the memory.
                let mut seconds = 0.0;
                for _ in 0..3 {
                    let slices: Vec<&[f64]> = arrays.iter().map(|a| &a[..]).collect();
                    let start = Instant::now();
                    field.load(&layout, &External::read(&slices), options).expect("loads");
                    device.synchronize().expect("runs");
                    seconds = start.elapsed().as_secs_f64();
                }
                let what = if options.tolerance.is_some() { "checked load" } else { "load" };
                line += &format!(" {what} {:.1} GB/s,", bytes as f64 / seconds / 1e9);
            }
            let mut seconds = 0.0;
            for _ in 0..3 {
                let slices = arrays.iter_mut().map(|a| &mut a[..]).collect();
                let start = Instant::now();
                field.save(&layout, &mut External::write(slices)).expect("saves");
                seconds = start.elapsed().as_secs_f64();
            }
            let extra = (device.used().1 - held) >> 20;
            println!(
                "{line} save {:.1} GB/s, {extra} MiB beside the field's {}",
                bytes as f64 / seconds / 1e9,
                held >> 20
            );
        }
        let size = 1 << 30;
        let host = vec![1u8; size];
        let mut buffer = device.alloc(size).expect("fits");
        let mut seconds = 0.0;
        for _ in 0..3 {
            let start = Instant::now();
            buffer.upload(&host).expect("uploads");
            device.synchronize().expect("runs");
            seconds = start.elapsed().as_secs_f64();
        }
        println!(
            "{}: plain upload of pageable memory {:.1} GB/s",
            device.name(),
            size as f64 / seconds / 1e9
        );
    }
}
