//! Makes a quenched SU(3) configuration with the Wilson action and writes it to a file:
//!
//!   quenched X Y Z T BETA SEED UPDATES OUTPUT [nersc|ildg] [double|single] [auto|plain]
//!
//! An update is one heat bath sweep and four overrelaxation sweeps; the start is hot. Prints the
//! plaquette along the way and the time of an update. The file holds single precision. The device
//! is the first GPU, or the CPU; `plain` is the CPU without vectors, which gives the same bits on
//! every x86-64 machine (rounding differs elsewhere, and a Markov chain soon shows it).

extern crate plaq_core as plaq;

use std::path::Path;

use plaq::backend::Device;
use plaq::error::{Error, Result, Status};
use plaq::fields::{GaugeField, Geometry, Precision, Recon};
use plaq::io::{FileFormat, WriteOptions};
use plaq::ops::config::save_gauge;
use plaq::ops::observables::{field_strength, plaquette, polyakov_loop};
use plaq::ops::quenched::Quenched;

fn number<T: std::str::FromStr>(args: &[String], i: usize, name: &str) -> Result<T> {
    args.get(i).and_then(|a| a.parse().ok()).ok_or_else(|| {
        Error::new(Status::InvalidArgument, format!("argument {}: expected {name}", i + 1))
    })
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut extents = [0; 4];
    for (mu, l) in extents.iter_mut().enumerate() {
        *l = number(&args, mu, "an even extent")?;
    }
    let beta = number(&args, 4, "beta")?;
    let seed = number(&args, 5, "a seed")?;
    let updates: usize = number(&args, 6, "a number of updates")?;
    let path: String = number(&args, 7, "the file to write")?;
    let format = match args.get(8).map(String::as_str) {
        Some("ildg") => FileFormat::Ildg,
        _ => FileFormat::Nersc,
    };
    let precision = Precision::parse(args.get(9).map_or("double", String::as_str))?;

    let plain = args.get(10).is_some_and(|a| a == "plain");
    let device =
        if plain { Device::cpu(1)? } else { Device::cuda(0).or_else(|_| Device::cpu(0))? };
    let geometry = Geometry::with_lanes(extents, if plain { 1 } else { device.max_lanes() })?;
    let mut gauge = GaugeField::new(&device, &geometry, precision, Recon::R18)?;
    println!("{extents:?}, beta {beta}, {precision:?} on {}", device.name());
    gauge.set_random(seed)?;
    let mut chain = Quenched::new(beta, seed)?;
    let mut seconds = 0.0;
    for i in 1..=updates {
        seconds += device.time(|| chain.run(&mut gauge, 1))?;
        if i % updates.div_ceil(10) == 0 || i == updates {
            println!("{i:6}  plaquette {:.8}", plaquette(&gauge)?.total);
        }
    }
    println!("seconds per update: {:.3e}", seconds / updates as f64);
    println!("Polyakov loop {:.5}, {:?}", polyakov_loop(&gauge, 3)?, field_strength(&gauge)?);

    let options = WriteOptions {
        precision_bits: Some(32),
        ensemble_id: Some(format!("plaq quenched Wilson beta {beta}")),
        ensemble_label: Some(format!("seed {seed}")),
        sequence_number: Some(updates as u64),
        creator: Some("plaq".into()),
        ..Default::default()
    };
    save_gauge(Path::new(&path), &gauge, format, &options)
}
