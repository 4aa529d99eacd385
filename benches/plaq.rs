//! `make bench`: kernels against the copy bandwidth of the same device in the same run.
//! A table on standard output, and one JSON line per row (`--json FILE`).
//!
//! Options: --device cpu|cuda  --threads N  --lattice XxYxZxT (repeatable)  --only WORD[,WORD]
//!          --json FILE  --seconds S (per row)
//!          --grid X,Y,Z,T under mpirun: ranks in each direction; lattices are whole ones, figures
//!          those of all ranks together, each with a GPU (or its threads) of its own
//!          --halo X,Y,Z,T (0 or 1): directions that have halos also with one rank, which then
//!          sends to itself: a piece of a divided lattice without the other pieces
//!          --sums WORD[,WORD] (auto, separate, fused): sums over the ranks in iterations, and
//!          --gather N[,N] (auto, 0, 1, ...): ranks of coarse levels of multigrid, each as the
//!          parameter of this name; rows of solves then come once for each value, by turns

extern crate plaq_core as plaq;

use std::io::Write as _;
use std::sync::Arc;

use plaq::backend::Device;
use plaq::comm::{self, host, Comm, Communicator, RankMap};
use plaq::compose::{DiracSolver, Equations, SolveParams};
use plaq::error::Result;
use plaq::fields::{
    blas, BoundaryTime, GaugeField, Geometry, Group, Noise, Precision, Recon, SpinorField, Subset,
};
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, EvenOdd, HopCall, SiteTerm, Wilson};
use plaq::ops::device::check_same_layout;
use plaq::ops::gaugefix::{self, Condition, GaugeFixParams, Method, Schedule, Working};
use plaq::params::Choice;
use plaq::solvers::{no_monitor, IterationSums, SolverKind, SolverParams, SolverReport, Stop};

#[path = "plaq/distillation.rs"]
mod distillation;
#[path = "plaq/dynamics.rs"]
mod dynamics;
#[path = "plaq/multigrid.rs"]
mod multigrid;
#[path = "plaq/overlap.rs"]
mod overlap;

struct Options {
    device: Device,
    comm: Arc<Comm>,
    lattices: Vec<[usize; 4]>,
    only: String,
    json: Option<std::fs::File>,
    seconds: f64,
    sums: Vec<Option<IterationSums>>,
    gather: Vec<Option<usize>>,
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
    let (mut grid, mut looped) = (None, [false; 4]);
    let (mut sums, mut gather) = (vec![None], vec![None]);
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
            "--grid" => grid = Some(four(&value())),
            "--halo" => looped = four(&value()).map(|n| n != 0),
            "--only" => only = value(),
            "--json" => json = Some(std::fs::File::create(value()).expect("--json FILE")),
            "--sums" => {
                sums = values(&value(), |word| IterationSums::from_word(word, "--sums").ok())
            }
            "--gather" => gather = values(&value(), |word| word.parse().ok()),
            "--seconds" => seconds = value().parse().expect("--seconds S"),
            other => panic!("unknown option {other}"),
        }
    }
    let comm = match grid {
        None => Comm::looped(looped),
        Some(grid) => {
            host::init(1)?;
            let options = comm::Options { looped, ..Default::default() };
            Comm::mpi(Communicator::World, grid, &RankMap::Default, &options)?
        }
    };
    let device = match device.as_str() {
        "cpu" => Device::cpu(threads)?,
        "cuda" => Device::cuda(comm.node_rank() % Device::cuda_count()?.max(1))?,
        _ => Device::auto()?,
    };
    check_same_layout(&comm, &device)?;
    if lattices.is_empty() {
        let cpu: &[[usize; 4]] = &[[16, 16, 16, 32]];
        let gpu: &[[usize; 4]] = &[[32, 32, 32, 64], [48, 48, 48, 64]];
        lattices.extend(if device.is_cpu() { cpu } else { gpu });
    }
    Ok(Options { device, comm, lattices, only, json, seconds, sums, gather })
}

/// Values with commas between; `auto` is none.
fn values<T>(list: &str, read: impl Fn(&str) -> Option<T>) -> Vec<Option<T>> {
    let one = |word| match word {
        "auto" => None,
        word => Some(read(word).unwrap_or_else(|| panic!("no value of this option: {word}"))),
    };
    list.split(',').map(one).collect()
}

fn four(list: &str) -> [i32; 4] {
    let v: Vec<i32> = list.split(',').map(|n| n.parse().expect("X,Y,Z,T")).collect();
    v.try_into().expect("four numbers")
}

fn run() -> Result<()> {
    let mut o = options()?;
    let first = o.comm.rank() == 0;
    let ranks = o.comm.size();
    if first {
        println!("plaq bench on {}, {ranks} rank(s) {:?}", o.device.name(), o.comm.grid());
    }
    let mut known = 0.0;
    for lattice in o.lattices.clone() {
        let bytes = if o.device.is_cpu() { 1 << 28 } else { 1 << 31 };
        let copy = o.device.copy_bandwidth(bytes, 10)?;
        let mut sum = [copy];
        o.comm.sum(&mut sum)?;
        let copy = sum[0];
        known = copy;
        if first {
            println!("\n{lattice:?}: copy {:.1} GB/s (read + written)", copy / 1e9);
            println!(
                "{:34} {:5} {:4} {:>4} {:>10} {:>9} {:>9} {:>8}",
                "kernel", "prec", "link", "nrhs", "us", "GFLOPS", "GB/s", "of copy"
            );
        }
        let geometry = Geometry::decomposed(lattice, &o.device, &o.comm)?;
        for precision in Precision::ALL {
            rows(&mut o, &geometry, precision, copy)?;
            gauge_fixing(&mut o, &geometry, precision, copy)?;
            dynamics::rows(&mut o, &geometry, precision, copy)?;
        }
        solve(&mut o, &geometry, copy)?;
        multigrid::rows(&mut o, &geometry, copy)?;
        overlap::rows(&mut o, &geometry, copy)?;
        distillation::rows(&mut o, &geometry, copy)?;
    }
    multigrid::coarse_rows(&mut o, known)?;
    if ranks > 1 {
        drop(o);
        host::finalize()?;
    }
    Ok(())
}

/// The data that all rows of one lattice and precision share.
struct Bench<'a> {
    o: &'a mut Options,
    geometry: &'a Arc<Geometry>,
    precision: Precision,
    copy: f64,
}

impl Bench<'_> {
    fn wanted(&self, kernel: &str, link: &str, nrhs: usize) -> bool {
        // With spaces at both ends the word " hop f32 R12 x1 " selects a single row.
        let name = format!(" {kernel} {} {link} x{nrhs} ", self.precision.token());
        self.o.only.split(',').any(|word| name.contains(word))
    }

    fn links(&self, recon: Recon) -> Result<Arc<GaugeField>> {
        let p = Precision::F32.max(self.precision);
        let mut u = GaugeField::new(&self.o.device, self.geometry, p, Recon::R18)?;
        u.set_random(1)?;
        Ok(Arc::new(u.to(self.precision, recon)?))
    }

    fn field(&self, subset: Subset, nrhs: usize) -> Result<SpinorField> {
        let mut f = SpinorField::new(&self.o.device, self.geometry, self.precision, subset, nrhs)?;
        f.set_noise(Noise::Normal, 2, 0)?;
        Ok(f)
    }
}

fn rows(o: &mut Options, geometry: &Arc<Geometry>, precision: Precision, copy: f64) -> Result<()> {
    let wilson = DiracParams { mass: 0.1, ..Default::default() };
    let open = geometry.bounded(BoundaryTime::Open)?;
    // The hop from one parity to the other on half of the sites, alone, on links with open boundaries in time, and
    // followed by A^-1.
    for (kernel, site_hop, csw, geometry) in [
        ("hop", SiteTerm::One, 0.0, geometry),
        ("open_hop", SiteTerm::One, 0.0, &open),
        ("clover_hop", SiteTerm::Inverse, 1e-3, geometry),
    ] {
        let mut b = Bench { o: &mut *o, geometry, precision, copy };
        for recon in [Recon::R18, Recon::R12, Recon::R8] {
            for nrhs in [1, 12] {
                let plain =
                    recon == Recon::R12 || (kernel.ends_with("hop") && csw == 0.0 && nrhs == 1);
                if !plain || !b.wanted(kernel, recon.token(), nrhs) {
                    continue;
                }
                let params = DiracParams { csw, csw_t: csw, ..wilson };
                let op = if csw == 0.0 {
                    Wilson::new(b.links(recon)?, params)?
                } else {
                    clover_operator(&b, params)?
                };
                let (inp, mut out) = (b.field(Subset::Odd, nrhs)?, b.field(Subset::Even, nrhs)?);
                let call = HopCall { parity: 0, dagger: false, coef: 1.0, site_hop, y: None };
                let clover = csw != 0.0;
                let (flops, bytes) =
                    (nrhs as f64 * op.hop_flops(clover, false), op.hop_bytes(clover, false, nrhs));
                report(&mut b, kernel, Some(recon), nrhs, flops, bytes, || {
                    op.hop(&mut out, &inp, &call)
                })?;
            }
        }
    }
    let mut b = Bench { o, geometry, precision, copy };
    if b.wanted("even_odd_clover", "R12", 1) {
        let op = Arc::new(clover_operator(&b, DiracParams { csw: 1e-3, csw_t: 1e-3, ..wilson })?);
        let eo = EvenOdd::new(op, 1, true);
        let (inp, mut out) = (b.field(Subset::Odd, 1)?, b.field(Subset::Odd, 1)?);
        report(&mut b, "even_odd_clover", Some(Recon::R12), 1, eo.flops(), eo.bytes(1), || {
            eo.apply(&mut out, &inp)
        })?;
    }
    // The vector operations of an iteration of CG.
    let ranks = geometry.comm().size();
    let vector = (ranks * SpinorField::bytes(geometry, precision, Subset::Odd, 1)) as f64;
    let reals = (24 * geometry.global_volume() / 2) as f64;
    let a = blas::uniform(1, 1e-3);
    if b.wanted("blas", "-", 1) {
        let odd = Subset::Odd;
        let (mut x, mut p) = (b.field(odd, 1)?, b.field(odd, 1)?);
        let (mut r, s) = (b.field(odd, 1)?, b.field(odd, 1)?);
        report(&mut b, "blas axpy_norm", None, 1, 6.0 * reals, 3.0 * vector, || {
            blas::axpy_norm(&a, &s, &mut r).map(|_| ())
        })?;
        report(&mut b, "blas cg_update", None, 1, 6.0 * reals, 5.0 * vector, || {
            blas::cg_update(&mut x, &a, &mut p, &a, &r, &a)
        })?;
        report(&mut b, "blas dot", None, 1, 4.0 * reals, 2.0 * vector, || {
            blas::dot(&p, &r).map(|_| ())
        })?;
    }
    Ok(())
}

/// One sweep of gauge fixing, or one step of a Fourier-accelerated descent: the difference of jobs
/// with more and with fewer of them. 2274 flop per site is the count of Schroeck and Vogt, Comput.
/// Phys. Commun. 184 (2013) 1907, Appendix A, for overrelaxation in Landau gauge; it is taken for
/// every row, so that GFLOPS are a measure of time.
/// "checked" is overrelaxation with a look at the violation after every tenth sweep.
fn gauge_fixing(
    o: &mut Options,
    geometry: &Arc<Geometry>,
    precision: Precision,
    copy: f64,
) -> Result<()> {
    let mut b = Bench { o, geometry, precision, copy };
    let working = match precision {
        Precision::F64 => Working::Double,
        Precision::F32 => Working::Single,
        Precision::F16 => return Ok(()),
    };
    // The number of directions whose links are read for both ends of each link. In the last direction of the functional
    // only the last link of each line is read, since the others are unit matrices. Coulomb gauge leaves out one
    // direction.
    for (gauge, condition, directions, last) in [
        ("landau", Condition::Landau, 3.0, 3),
        ("coulomb", Condition::Coulomb { time: 3 }, 2.0, 2),
        ("mag", Condition::MaximallyAbelian { residual: false }, 3.0, 3),
    ] {
        let links = 2.0 * (directions + 1.0 / geometry.global_extents()[last] as f64);
        let storage = gaugefix::sweep_storage(&b.o.device, Group::Su3);
        for step in
            ["overrelax", "mixed", "checked", "heat", "micro", "fourier-descent", "fourier-cg"]
        {
            // Jobs of mixed precision run in single until the violation is 1e-11, which random links do not reach here.
            if step == "mixed" && working != Working::Single {
                continue;
            }
            // Numbers per site that an iteration moves. A gradient reads links, g of the site, and g of the other
            // parity once; a sweep also writes g.
            let read = storage.reals() as f64 * links + 24.0;
            // A gradient is written (8 numbers), in conjugate gradients times one before; a trial
            // reads the direction. Two transforms, the factor and the direction each read and
            // write 8 numbers, the last with the gradient and, conjugate, the one before; a step
            // reads 8 and changes g.
            let reals = match step {
                "fourier-descent" => (read + 8.0) + 32.0 + 16.0 + 24.0 + 32.0,
                "fourier-cg" => (read + 16.0) + (read + 8.0) + 32.0 + 16.0 + 32.0 + 64.0,
                _ => read + 12.0,
            };
            let fourier = step.starts_with("fourier");
            if fourier && (gauge == "mag" || geometry.comm().size() > 1) {
                continue;
            }
            let name = format!("gaugefix {gauge} {step}");
            if !b.wanted(&name, storage.token(), 1) {
                continue;
            }
            let u = b.links(Recon::R18)?;
            let job = |sweeps: usize| {
                let mut p = GaugeFixParams {
                    precision: working,
                    method: Method::Overrelaxation,
                    ..GaugeFixParams::new(condition)
                };
                let schedule = Schedule { hot: 0.5, cold: 0.5, steps: 1, ..Schedule::default() };
                // Annealing alone, after which nothing is left to do; or sweeps that do not end before the last one.
                (p.check_every, p.stop.theta) = (i32::MAX as usize, f64::MAX);
                match step {
                    "heat" => {
                        let schedule = Schedule { steps: sweeps, microcanonical: 0, ..schedule };
                        p.method = Method::Annealing(schedule);
                    }
                    "micro" => {
                        let schedule = Schedule { microcanonical: sweeps, ..schedule };
                        p.method = Method::Annealing(schedule);
                    }
                    _ => (p.max_iterations, p.stop.theta) = (sweeps, f64::MIN_POSITIVE),
                }
                match step {
                    "mixed" => p.precision = Working::Mixed,
                    "checked" => p.check_every = 10,
                    "fourier-descent" => p.method = Method::FourierDescent { alpha: 0.08 },
                    "fourier-cg" => p.method = Method::FourierCg { alpha: 0.08 },
                    _ => (),
                }
                let done = gaugefix::fix_gauge(&u, &p, &mut |_| false)?;
                slowest(geometry.comm(), done.report.seconds)
            };
            // The first job compiles kernels; then as many sweeps are run as fill the time.
            let mut few = job(1)?;
            let once = (job(9)? - few).max(1e-6) / 8.0;
            let sweeps = ((b.o.seconds / once) as usize).clamp(8, 2000);
            let mut many = f64::INFINITY;
            for _ in 0..3 {
                few = few.min(job(1)?);
                many = many.min(job(1 + sweeps)?);
            }
            let sites = geometry.global_volume() as f64;
            let (flops, bytes) = (2274.0 * sites, reals * precision.bytes() as f64 * sites);
            row(&mut b, &name, Some(storage), 1, (many - few) / sweeps as f64, flops, bytes)?;
        }
    }
    Ok(())
}

/// Solves in double with a lower precision inside, on links near the unit matrix; the name has the sums over the ranks
/// where they are asked for, and the number of iterations.
fn solve(o: &mut Options, geometry: &Arc<Geometry>, copy: f64) -> Result<()> {
    let mut b = Bench { o, geometry, precision: Precision::F64, copy };
    let mut op = None;
    for (kind, inside, name) in [
        (SolverKind::BiCgStab, Precision::F16, "bicgstab half"),
        (SolverKind::BiCgStab, Precision::F32, "single bicgstab"),
        (SolverKind::Cgnr, Precision::F32, "single cgnr"),
    ] {
        for nrhs in [1, 12] {
            let extra = nrhs > 1 && inside == Precision::F16;
            if extra || !b.wanted(&format!("solve {name}"), "R12", nrhs) {
                continue;
            }
            if op.is_none() {
                let mut u = GaugeField::new(&b.o.device, geometry, Precision::F64, Recon::R18)?;
                u.set_near_unit(1, 0.3)?;
                let dirac = DiracParams { mass: -0.12, csw: 1.0, csw_t: 1.0, ..Default::default() };
                let wilson = Wilson::new(Arc::new(u), dirac)?.to(Precision::F64, Recon::R12)?;
                op = Some(Arc::new(wilson));
            }
            let mut solvers = vec![];
            for sums in b.o.sums.clone() {
                let stop = Stop::at(1e-10);
                let params = SolveParams {
                    solver: SolverParams { kind, stop, sums, ..Default::default() },
                    equations: Equations::Direct,
                    sloppy: Some((inside, Recon::R12)),
                    ..Default::default()
                };
                let word = sums.map_or(String::new(), |sums| format!(" {}", sums.word()));
                let name = format!("solve {}{word}", name.trim_end_matches(" half"));
                solvers.push((name, DiracSolver::new(op.clone().expect("made above"), params)?));
            }
            solves(&mut b, &solvers, nrhs)?;
        }
    }
    Ok(())
}

/// Solves with each of the solvers by turns for random sources, three times; a row has the best of them, and the number
/// of iterations in its name.
fn solves(b: &mut Bench, solvers: &[(String, DiracSolver)], nrhs: usize) -> Result<()> {
    let source = b.field(Subset::Full, nrhs)?;
    let mut x = b.field(Subset::Full, nrhs)?;
    let mut best: Vec<Option<SolverReport>> = vec![None; solvers.len()];
    for _ in 0..3 {
        for ((_, solver), best) in solvers.iter().zip(&mut best) {
            let mut found = solver.solve(&mut x, &source, &mut no_monitor)?.solver;
            found.seconds = slowest(&b.o.comm, found.seconds)?;
            if best.as_ref().is_none_or(|best| found.seconds < best.seconds) {
                *best = Some(found);
            }
        }
    }
    for ((name, _), found) in solvers.iter().zip(best) {
        let found = found.expect("three solves");
        let name = format!("{name} {}", found.iterations);
        row(b, &name, Some(Recon::R12), nrhs, found.seconds, found.flops, found.bytes)?;
    }
    Ok(())
}

/// A clover operator close to 1 on random links.
fn clover_operator(b: &Bench, params: DiracParams) -> Result<Wilson> {
    let p = Precision::F32.max(b.precision);
    let mut u = GaugeField::new(&b.o.device, b.geometry, p, Recon::R18)?;
    u.set_random(1)?;
    Wilson::new(Arc::new(u), params)?.to(b.precision, Recon::R12)
}

fn report(
    b: &mut Bench,
    kernel: &str,
    recon: Option<Recon>,
    nrhs: usize,
    flops: f64,
    bytes: f64,
    work: impl FnMut() -> Result<()>,
) -> Result<()> {
    let best = measure(b, work)?;
    row(b, kernel, recon, nrhs, best, flops, bytes)
}

/// Seconds of a call on the slowest rank, the best of several batches.
fn measure(b: &Bench, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    // The first calls compile and tune kernels; then as many calls as fill the time are made, in five batches.
    work()?;
    let once = slowest(&b.o.comm, b.o.device.time(&mut work)?)?;
    let calls = ((b.o.seconds / 5.0 / once) as usize).clamp(1, 2000);
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let t = b.o.device.time(|| (0..calls).try_for_each(|_| work()))?;
        best = best.min(slowest(&b.o.comm, t)? / calls as f64);
    }
    Ok(best)
}

/// The time of the slowest rank.
fn slowest(comm: &Comm, seconds: f64) -> Result<f64> {
    let all = comm.all_gather(&seconds.to_ne_bytes())?;
    let times = all.chunks_exact(8).map(|b| f64::from_ne_bytes(b.try_into().expect("8 bytes")));
    Ok(times.fold(0.0, f64::max))
}

fn row(
    b: &mut Bench,
    kernel: &str,
    recon: Option<Recon>,
    nrhs: usize,
    best: f64,
    flops: f64,
    bytes: f64,
) -> Result<()> {
    if b.o.comm.rank() != 0 {
        return Ok(());
    }
    let link = recon.map_or("-", Recon::token);
    let fraction = bytes / best / b.copy;
    let (gflops, digits) = (flops / best / 1e9, if flops / best < 1e10 { 1 } else { 0 });
    println!(
        "{kernel:34} {:5} {link:4} {nrhs:4} {:10.2} {gflops:9.digits$} {:9.0} {fraction:8.3}",
        b.precision.token(),
        best * 1e6,
        bytes / best / 1e9,
    );
    if let Some(file) = &mut b.o.json {
        let line = serde_json::json!({
            "kernel": kernel, "lattice": b.geometry.global_extents(), "grid": b.o.comm.grid(), "precision": b.precision.token(),
            "recon": recon.map(|r| r.reals()), "nrhs": nrhs, "seconds": best,
            "gflops": gflops, "gbytes_per_s": bytes / best / 1e9,
            "fraction_of_copy": fraction, "device": b.o.device.name(),
        });
        let _ = writeln!(file, "{line}");
    }
    Ok(())
}
