//! `make bench`: kernels against the copy bandwidth of the same device in the same run.
//! A table on standard output, and one JSON line per row (`--json FILE`).
//!
//! Options: --device cpu|cuda  --threads N  --lattice XxYxZxT (repeatable)  --only WORD
//!          --json FILE  --seconds S (per row)

use std::io::Write as _;
use std::sync::Arc;

use plaq::backend::Device;
use plaq::compose::EvenOdd;
use plaq::error::Result;
use plaq::fields::{blas, GaugeField, Geometry, Precision, Recon, SpinorField, Subset};
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, HopCall, SiteTerm, Wilson};

struct Options {
    device: Device,
    lattices: Vec<[usize; 4]>,
    only: String,
    json: Option<std::fs::File>,
    seconds: f64,
}

/// One measurement: what it moves and computes, and how long it takes.
struct Row {
    kernel: String,
    precision: Precision,
    recon: Option<Recon>,
    nrhs: usize,
    seconds: f64,
    flops: f64,
    bytes: f64,
}

fn main() {
    if let Err(e) = run() {
        eprintln!("bench: {e}");
        std::process::exit(1);
    }
}

fn options() -> Result<Options> {
    let (mut device, mut threads, mut lattices) = (String::from("auto"), 0, vec![]);
    let (mut only, mut json, mut seconds) = (String::new(), None, 0.3);
    let mut args = std::env::args().skip(1).filter(|a| a != "--bench");
    while let Some(a) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| panic!("{a} needs a value"));
        match a.as_str() {
            "--device" => device = value(),
            "--threads" => threads = value().parse().expect("--threads N"),
            "--lattice" => {
                let v: Vec<usize> =
                    value().split('x').map(|n| n.parse().expect("XxYxZxT")).collect();
                lattices.push(v.try_into().expect("four extents"));
            }
            "--only" => only = value(),
            "--json" => json = Some(std::fs::File::create(value()).expect("--json FILE")),
            "--seconds" => seconds = value().parse().expect("--seconds S"),
            other => panic!("unknown option {other}"),
        }
    }
    let device = match device.as_str() {
        "cpu" => Device::cpu(threads)?,
        "cuda" => Device::cuda(0)?,
        _ => Device::auto()?,
    };
    if lattices.is_empty() {
        let cpu: &[[usize; 4]] = &[[16, 16, 16, 32]];
        let gpu: &[[usize; 4]] = &[[32, 32, 32, 64], [48, 48, 48, 64]];
        lattices.extend(if device.is_cpu() { cpu } else { gpu });
    }
    Ok(Options { device, lattices, only, json, seconds })
}

fn run() -> Result<()> {
    let mut o = options()?;
    println!("plaq bench on {}", o.device.name());
    for lattice in o.lattices.clone() {
        let bytes = if o.device.is_cpu() { 1 << 28 } else { 1 << 31 };
        let copy = o.device.copy_bandwidth(bytes, 10)?;
        println!("\n{lattice:?}: copy {:.1} GB/s (read + written)", copy / 1e9);
        println!(
            "{:34} {:5} {:4} {:>4} {:>10} {:>9} {:>9} {:>8}",
            "kernel", "prec", "link", "nrhs", "us", "GFLOPS", "GB/s", "of copy"
        );
        let geometry = Geometry::new(lattice, &o.device)?;
        for precision in Precision::ALL {
            rows(&mut o, &geometry, lattice, precision, copy)?;
        }
    }
    Ok(())
}

/// Numbers of the size of link entries, the same block over and over.
fn numbers(n: usize) -> Vec<f64> {
    let mut state = 1u64;
    let block: Vec<f64> = (0..72 * 4096)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) as f64 / (1u64 << 31) as f64 - 0.5) * 1.1
        })
        .collect();
    let mut all = Vec::with_capacity(n);
    while all.len() < n {
        all.extend_from_slice(&block[..block.len().min(n - all.len())]);
    }
    all
}

fn rows(
    o: &mut Options,
    geometry: &Arc<Geometry>,
    lattice: [usize; 4],
    precision: Precision,
    copy: f64,
) -> Result<()> {
    let device = o.device.clone();
    let volume = geometry.volume();
    let mut source = GaugeField::new(&device, geometry, Precision::F32.max(precision), Recon::R18)?;
    source.load_lex(&numbers(72 * volume))?;
    let wilson = DiracParams { mass: 0.1, ..Default::default() };
    for recon in [Recon::R18, Recon::R12, Recon::R8] {
        let links = Arc::new(source.to(precision, recon)?);
        let op = Wilson::new(links.clone(), wilson)?;
        for nrhs in [1, 12] {
            if nrhs > 1 && (recon != Recon::R12 || precision == Precision::F64) {
                continue;
            }
            let inp = field(&device, geometry, precision, nrhs)?;
            let mut out = SpinorField::new(&device, geometry, precision, Subset::Even, nrhs)?;
            let call =
                HopCall { parity: 0, dagger: false, coef: 1.0, site_hop: SiteTerm::One, y: None };
            let (flops, bytes) =
                (nrhs as f64 * op.hop_flops(false, false), op.hop_bytes(false, false, nrhs));
            report(o, lattice, copy, "hop", precision, Some(recon), nrhs, flops, bytes, || {
                op.hop(&mut out, &inp, &call)
            })?;
        }
    }
    // Clover-preconditioned hop: A^-1 D, and the whole even-odd operator.
    let diagonal = DiracParams { csw_s: 1e-3, csw_t: 1e-3, ..wilson };
    let base =
        Wilson::new(Arc::new(source.to(Precision::F32.max(precision), Recon::R12)?), diagonal)?;
    let op = Arc::new(base.to(precision, Recon::R12)?);
    drop(base);
    for nrhs in [1, 12] {
        if nrhs > 1 && precision == Precision::F64 {
            continue;
        }
        let inp = field(&device, geometry, precision, nrhs)?;
        let mut out = SpinorField::new(&device, geometry, precision, Subset::Even, nrhs)?;
        let call =
            HopCall { parity: 0, dagger: false, coef: 1.0, site_hop: SiteTerm::Inverse, y: None };
        let (flops, bytes) =
            (nrhs as f64 * op.hop_flops(true, false), op.hop_bytes(true, false, nrhs));
        report(
            o,
            lattice,
            copy,
            "clover_hop",
            precision,
            Some(Recon::R12),
            nrhs,
            flops,
            bytes,
            || op.hop(&mut out, &inp, &call),
        )?;
    }
    let eo = EvenOdd::new(op.clone(), 1, true);
    let inp = field(&device, geometry, precision, 1)?;
    let mut out = inp.like(precision)?;
    report(
        o,
        lattice,
        copy,
        "even_odd_clover",
        precision,
        Some(Recon::R12),
        1,
        eo.flops(),
        eo.bytes(1),
        || eo.apply(&mut out, &inp),
    )?;
    // The passes of CG.
    let (mut x, mut p, mut r) = (inp.like(precision)?, inp.like(precision)?, inp.like(precision)?);
    let vector = SpinorField::bytes(geometry, precision, Subset::Odd, 1) as f64;
    let reals = (24 * volume / 2) as f64;
    let a = blas::uniform(1, 1e-3);
    report(
        o,
        lattice,
        copy,
        "blas axpy_norm",
        precision,
        None,
        1,
        6.0 * reals,
        3.0 * vector,
        || blas::axpy_norm(&a, &inp, &mut r).map(|_| ()),
    )?;
    report(
        o,
        lattice,
        copy,
        "blas cg_update",
        precision,
        None,
        1,
        6.0 * reals,
        5.0 * vector,
        || blas::cg_update(&mut x, &a, &mut p, &a, &r, &a),
    )?;
    report(o, lattice, copy, "blas dot", precision, None, 1, 4.0 * reals, 2.0 * vector, || {
        blas::dot(&p, &r).map(|_| ())
    })
}

fn field(
    device: &Device,
    geometry: &Arc<Geometry>,
    precision: Precision,
    nrhs: usize,
) -> Result<SpinorField> {
    let mut one = SpinorField::new(device, geometry, precision, Subset::Odd, nrhs)?;
    let host = numbers(24 * geometry.volume() * nrhs);
    one.load_lex(&host)?;
    Ok(one)
}

#[allow(clippy::too_many_arguments)]
fn report(
    o: &mut Options,
    lattice: [usize; 4],
    copy: f64,
    kernel: &str,
    precision: Precision,
    recon: Option<Recon>,
    nrhs: usize,
    flops: f64,
    bytes: f64,
    mut work: impl FnMut() -> Result<()>,
) -> Result<()> {
    let link = recon.map_or("-", Recon::token);
    let name = format!("{kernel} {} {link} x{nrhs}", precision.token());
    if !name.contains(&o.only) {
        return Ok(());
    }
    // The first calls compile and tune; then as many as fill the time, in five batches.
    work()?;
    let once = o.device.time(&mut work)?;
    let calls = ((o.seconds / 5.0 / once) as usize).clamp(1, 2000);
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let t = o.device.time(|| (0..calls).try_for_each(|_| work()))?;
        best = best.min(t / calls as f64);
    }
    let row = Row { kernel: kernel.into(), precision, recon, nrhs, seconds: best, flops, bytes };
    println!(
        "{:34} {:5} {:4} {:4} {:10.2} {:9.0} {:9.0} {:8.3}",
        row.kernel,
        precision.token(),
        link,
        nrhs,
        best * 1e6,
        flops / best / 1e9,
        bytes / best / 1e9,
        bytes / best / copy
    );
    if let Some(file) = &mut o.json {
        let line = serde_json::json!({
            "kernel": row.kernel, "lattice": lattice, "precision": row.precision.token(), "recon": row.recon.map(|r| r.reals()),
            "nrhs": row.nrhs, "seconds": row.seconds, "gflops": row.flops / best / 1e9, "gbytes_per_s": row.bytes / best / 1e9,
            "fraction_of_copy": row.bytes / best / copy, "device": o.device.name(),
        });
        let _ = writeln!(file, "{line}");
    }
    Ok(())
}
