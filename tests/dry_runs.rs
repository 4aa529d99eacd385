//! Tests of dry runs, which count the memory that large lattices take on a GPU without having one. Tables of the docs
//! hold these numbers.

use std::sync::Arc;

use crate::common::devices;
use num_complex::Complex64;
use plaq::backend::Device;
use plaq::compose::multigrid::{Multigrid, MultigridParams};
use plaq::compose::{DiracSolver, ModeParams, Modes, Overlap, SolveParams};
use plaq::error::Result;
use plaq::fields::{
    blas, GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset, VectorSet,
};
use plaq::linop::Schur;
use plaq::operators::{ActionParams, DiracParams, InverseOwner};
use plaq::ops::distillation::modes::{Modes as TimeModes, ModesSettings};
use plaq::solvers::{eigen, no_monitor, EigenParams, SolverKind, SolverParams, VectorMemory};

/// The table of memory in docs/lab/memory.md: 48^3 x 96 on a GPU, clover, links of two rows.
#[test]
fn memory_is_what_docs_say() {
    let device = Device::cpu(1).unwrap().stand_in_gpu();
    let mut rows = vec![];
    device.recorded(|| {
        let geometry = Geometry::new([48, 48, 48, 96], &device).unwrap();
        let mut row = |what: &str, bytes: u64| {
            let (site, whole) = (bytes as f64 / geometry.volume() as f64, bytes as f64 * 1e-9);
            rows.push(format!("| {what} | {site:.0} | {whole:.1} |"));
        };
        let used = || device.used().0;
        let held = |before: u64| used() - before;
        let links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
        let dirac = DiracParams { csw: 1.0, csw_t: 1.0, ..DiracParams::default() };
        let op = ActionParams::from(dirac.with_kappa(0.11)).create(Arc::new(links)).unwrap();
        row("operator in double: links and clover term", used());
        let shape = op.shape();
        row("source or solution in double, a column", shape.bytes(1));
        let (half, single) = (Some(Precision::F16), Some(Precision::F32));
        let mut kept = None;
        for (inner, kind, what) in [
            (half, SolverKind::BiCgStab, "BiCGStab, 16 bits inside"),
            (single, SolverKind::BiCgStab, "BiCGStab, single inside"),
            (None, SolverKind::BiCgStab, "BiCGStab in double"),
            (half, SolverKind::Cgnr, "CGNR, 16 bits inside"),
        ] {
            let before = used();
            let solver = SolverParams { kind, ..SolverParams::default() };
            let sloppy = inner.map(|precision| (precision, Recon::R12));
            let params = SolveParams { solver, sloppy, ..SolveParams::default() };
            let solver = DiracSolver::new(op.clone(), params).unwrap();
            if kind == SolverKind::BiCgStab && inner.is_some() {
                row(&format!("{what}: copy of the operator"), held(before));
            }
            // The memory for eight columns less that for four is four times that of one column.
            let column = (solver.memory(8).unwrap() - solver.memory(4).unwrap()) / 4;
            let lent = solver.memory(4).unwrap() - 4 * column;
            if kept.is_none() {
                let made = "inverse clover blocks of one parity, made for residuals";
                row(&format!("{what}: {made}"), lent);
                row(&format!("{what}: links, clover and operators"), used() + lent);
            }
            row(&format!("{what}: a solve, each of four, eight or twelve columns"), column);
            row(&format!("{what}: a solve of one column"), solver.memory(1).unwrap() - lent);
            drop(solver);
            if kept.is_none() {
                let before = used();
                let complement = op.clone().schur(Schur::EVEN_SYMMETRIC).unwrap();
                complement.set_inverse_owner(InverseOwner::Complement).unwrap();
                row("the inverse clover blocks of both parities, in double", held(before));
                kept = Some(complement);
            }
        }
        let params = |setup_columns, setup_vectors| MultigridParams {
            setup_columns,
            setup_vectors,
            ..MultigridParams::for_lattice(&geometry)
        };
        let (here, host) = (VectorMemory::Device, VectorMemory::Host);
        let setup = |columns, at| Multigrid::memory(&*op, &params(columns, at)).unwrap();
        let multigrid = Arc::new(Multigrid::new(&*op, &params(1, here)).unwrap());
        let levels: u64 = multigrid.report().levels.iter().map(|l| l.bytes).sum();
        row("multigrid, 24 vectors: vectors and coarse operators", levels);
        row(
            "multigrid: set-up at its peak, one column at a time, vectors on the host",
            setup(1, host),
        );
        row("multigrid: set-up at its peak, one column at a time", setup(1, here));
        row("multigrid: set-up at its peak, eight columns at a time", setup(8, here));
        let solver = SolverParams { kind: SolverKind::Gcr, nkrylov: 10, ..Default::default() };
        let sloppy = Some((Precision::F32, Recon::R12));
        let params = SolveParams { solver, sloppy, ..SolveParams::default() };
        let solver = DiracSolver::new(op.clone(), params).unwrap();
        let solver = solver.with_multigrid(Some(multigrid)).unwrap();
        row("multigrid: a solve by GCR with 10 directions, one column", solver.memory(1).unwrap());
    });
    let docs = include_str!("../docs/lab/memory.md");
    let missing: Vec<_> = rows.iter().filter(|row| !docs.contains(*row)).collect();
    assert!(
        missing.is_empty() && rows.len() == 20,
        "docs/lab/memory.md lacks\n{}",
        rows.join("\n")
    );
}

/// The table of kernel modes in docs/lab/memory.md is right: 300 modes at 24^3 x 64 on GPUs of several memory sizes,
/// of which a part suffices, from rehearsals of the search and of the steps after it.
#[test]
fn modes_of_the_kernel_take_what_docs_say() {
    let mut rows = vec![];
    for memory in [None, Some(141), Some(85), Some(48), Some(24)] {
        let device = Device::cpu(1).unwrap().stand_in_gpu();
        device.recorded(|| {
            let geometry = Geometry::new([24, 24, 24, 64], &device).unwrap();
            let links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
            let kernel = Overlap::kernel(Arc::new(links), 0.4, DiracParams::default()).unwrap();
            if let Some(gb) = memory {
                device.limit_memory(gb * 1_000_000_000);
            }
            let params = ModeParams { count: Some(300), ..Default::default() };
            let modes = Modes::find(&kernel, None, &params, None, &mut no_monitor).unwrap();
            let (vectors, report) = (modes.vectors(), modes.report());
            let [held, max] = [device.used().0, device.used().1].map(|b| b as f64 * 1e-9);
            let memory = memory.map_or("no limit".into(), |gb| format!("{gb} GB"));
            let (room, here) = (report.max_vectors, report.on_device.min(report.max_vectors));
            let row = format!(
                "| {memory} | {room} | {here} | {max:.1} | {} | {held:.1} |",
                vectors.on_device()
            );
            rows.push(row);
        });
    }
    let docs = include_str!("../docs/lab/memory.md");
    let missing: Vec<_> = rows.iter().filter(|row| !docs.contains(*row)).collect();
    assert!(missing.is_empty() && rows.len() == 5, "docs/lab/memory.md lacks\n{}", rows.join("\n"));
}

/// The table of memory in docs/distillation.md is right by a count, which a rehearsal on fewer slices confirms.
#[test]
fn modes_of_time_slices_take_what_docs_say() {
    let device = Device::cpu(1).unwrap().stand_in_gpu();
    let settings = |count| ModesSettings { count, steps: 10, ..Default::default() };
    let links = |extents| {
        let geometry = Geometry::new(extents, &device).unwrap();
        GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap()
    };
    for count in [64, 200] {
        device.recorded(|| {
            let links = links([32, 32, 32, 2]);
            let wanted = ModesSettings { max_restarts: 1 + 64 / count, ..settings(count) };
            let known = TimeModes::memory(&links, &wanted).unwrap();
            let before = device.used().0;
            device.reset_peak();
            let modes = TimeModes::new(&links, None, &wanted, &mut no_monitor).unwrap();
            let [kept, peak] = [device.used().0, device.used().1].map(|bytes| bytes - before);
            let (most, copy) = (
                known.search as f64,
                GaugeField::bytes(links.geometry(), Precision::F64, Recon::R12) as u64,
            );
            assert!((0.95 * most..=most).contains(&(peak as f64)), "{count}: {peak} {known:?}");
            assert_eq!((kept, modes.count()), (known.device + copy, count));
        });
    }
    let mut rows = vec![];
    for (extents, name) in [([32, 32, 32, 64], "32³×64"), ([64, 64, 64, 128], "64³×128")] {
        for count in [64, 200] {
            device.recorded(|| {
                let links = links(extents);
                let gb = |bytes: u64| format!("{:.1} GB", bytes as f64 * 1e-9);
                device.limit_memory(u64::MAX);
                let all = TimeModes::memory(&links, &settings(count)).unwrap();
                device.limit_memory(141_000_000_000);
                let short = TimeModes::memory(&links, &settings(count)).unwrap();
                let tau = (16 * 16 * count * count * extents[3]) as u64;
                rows.push(format!(
                    "| {name}, {count} | {} | {} | {} | {} of {} | {} | {} |",
                    gb(all.device),
                    gb(all.search),
                    gb(tau),
                    short.slices,
                    extents[3],
                    gb(short.device),
                    gb(short.host)
                ));
            });
        }
    }
    let docs = include_str!("../docs/distillation.md");
    let missing: Vec<_> = rows.iter().filter(|row| !docs.contains(*row)).collect();
    assert!(missing.is_empty(), "docs/distillation.md lacks\n{}", rows.join("\n"));
}

/// An algorithm for the test: a solve by steepest descent that copies the operator to single precision and restarts
/// as its residual falls, a search for eigenvectors of the normal operator, and a solve whose initial guess they
/// give.
fn toy(device: &Device) -> Result<f64> {
    let geometry = Geometry::new([8, 4, 4, 8], device)?;
    let mut links = GaugeField::new(device, &geometry, Precision::F64, Recon::R12)?;
    links.set_near_unit(5, 0.1)?;
    let dirac = DiracParams { csw: 1.0, csw_t: 1.0, ..DiracParams::default() };
    let op = ActionParams::from(dirac.with_kappa(0.11)).create(Arc::new(links))?;
    let shape = op.shape();
    let (mut x, mut r) = (shape.field(2)?, shape.field(2)?);
    r.set_noise(Noise::Normal, 1, 0)?;
    let (b, mut low, mut kept) = (blas::norm2(&r)?, None, vec![]);
    loop {
        let left = blas::norm2(&r)?.iter().zip(&b).map(|(r, b)| r / b).fold(0.0, f64::max);
        if left < 1e-4 && low.is_none() {
            let mut copy = x.like(Precision::F32)?;
            blas::copy(&mut copy, &x)?;
            low = Some(copy);
        }
        if left < 1e-12 {
            break;
        }
        let mut image = shape.field(2)?;
        op.apply(&mut image, &r)?;
        let (along, norm) = blas::dot_norm(&image, &r)?;
        let step: Vec<Complex64> = along.iter().zip(&norm).map(|(a, n)| a / n).collect();
        blas::axpy(&step, &r, &mut x)?;
        let back: Vec<Complex64> = step.iter().map(|a| -a).collect();
        blas::axpy(&back, &image, &mut r)?;
        if kept.len() < 3 {
            kept.push(image);
        }
    }
    let normal = plaq::linop::Normal::mdag_m(op.clone());
    let params = EigenParams { count: 2, tol: 1e-6, ..Default::default() };
    let (mut v, _) = eigen(&normal, None, &params, None, &mut no_monitor)?;
    v.set_noise(Noise::Normal, 2, 0)?;
    drop((kept, r));
    let solver = SolverParams { kind: SolverKind::Cgnr, ..SolverParams::default() };
    let sloppy = Some((Precision::F32, Recon::R12));
    let params = SolveParams { solver, sloppy, ..SolveParams::default() };
    let solver = DiracSolver::new(op, params)?;
    solver.solve(&mut x, &v, &mut no_monitor)?;
    Ok(blas::norm2(&x)?[0])
}

/// An algorithm that was not written for dry runs takes the same memory on a device without memory as on one with
/// memory.
#[test]
fn a_toy_takes_what_is_announced() {
    for device in devices() {
        let taken = |device: &Device| {
            let (held, watch) = (device.used().0, device.watch_peak());
            toy(device).unwrap();
            watch.bytes() - held
        };
        let (announced, taken) = (taken(&device.dry()), taken(&device));
        let off = announced as f64 / taken as f64 - 1.0;
        println!("{}: announced {announced}, taken {taken}", device.name());
        assert!((0.0..0.02).contains(&off), "{}: {announced} for {taken}", device.name());
    }
}

/// A search that is short of memory keeps some of its vectors on the host. If it finds fewer vectors than planned,
/// these may fit on the device; rotating them takes no more memory than was announced.
#[test]
fn fewer_vectors_take_less() {
    let cpu = Device::cpu(1).unwrap();
    for device in [cpu.stand_in_gpu(), cpu.dry()] {
        let geometry = Geometry::new([4, 4, 4, 8], &device).unwrap();
        let turn = |count: usize, on_device: usize, turned: usize| {
            let full = |n| SpinorField::new(&device, &geometry, Precision::F64, Subset::Full, n);
            let watch = device.watch_peak();
            let here = on_device.min(count);
            let mut all = VectorSet::new(full(here).unwrap(), count - here);
            for k in here..count {
                all.put(k, &full(1).unwrap(), 0, 1).unwrap();
            }
            all.rotate(0..turned, &vec![Complex64::ONE; turned * turned]).unwrap();
            watch.bytes()
        };
        let planned = turn(48, 46, 47);
        for count in [2, 33, 40, 45, 46] {
            let taken = turn(count, 46, count);
            assert!(taken <= planned, "{}: {count}: {taken} of {planned}", device.name());
        }
    }
}
