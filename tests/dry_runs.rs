//! A GPU that is not there: what large lattices take of it is counted by dry runs. Tables of the docs hold these numbers.

use std::sync::Arc;

use plaq::backend::Device;
use plaq::compose::multigrid::{Multigrid, MultigridParams};
use plaq::compose::{DiracSolver, ModeParams, Modes, Overlap, SolveParams};
use plaq::fields::{GaugeField, Geometry, Precision, Recon};
use plaq::linop::Schur;
use plaq::operators::{ActionParams, DiracParams};
use plaq::solvers::{unwatched, SolverKind, SolverParams, VectorMemory};

/// The table of memory in docs/lab/memory.md: 48^3 x 96 on a GPU, clover, links of two rows.
#[test]
fn memory_is_what_docs_say() {
    let device = Device::cpu(1).unwrap().stand_in_gpu();
    let mut rows = vec![];
    Device::recorded(false, || {
        let geometry = Geometry::new([48, 48, 48, 96], &device).unwrap();
        let mut row = |what: &str, bytes: u64| {
            let (site, whole) = (bytes as f64 / geometry.volume() as f64, bytes as f64 * 1e-9);
            rows.push(format!("| {what} | {site:.0} | {whole:.1} |"));
        };
        let used = || device.used().0;
        let held = |before: u64| used() - before;
        let links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
        let dirac = DiracParams { csw_s: 1.0, csw_t: 1.0, ..DiracParams::default() };
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
            // Parts of four columns are one.
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
                complement.keep_blocks().unwrap();
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

/// The table of kernel modes in docs/lab/memory.md: 300 of them at 24^3 x 64 on GPUs with so many GB, a part of which is
/// enough: by rehearsals of the search and of what follows it.
#[test]
fn modes_of_the_kernel_take_what_docs_say() {
    let mut rows = vec![];
    for memory in [None, Some(141), Some(85), Some(48), Some(24)] {
        let device = Device::cpu(1).unwrap().stand_in_gpu();
        Device::recorded(false, || {
            let geometry = Geometry::new([24, 24, 24, 64], &device).unwrap();
            let links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
            let kernel = Overlap::kernel(Arc::new(links), 0.4, DiracParams::default()).unwrap();
            if let Some(gb) = memory {
                device.limit_memory(gb * 1_000_000_000);
            }
            let params = ModeParams { count: Some(300), ..Default::default() };
            let modes = Modes::find(&kernel, None, &params, None, &mut unwatched).unwrap();
            let (vectors, report) = (modes.vectors(), modes.report());
            let [held, max] = [device.used().0, device.used().1].map(|b| b as f64 * 1e-9);
            let memory = memory.map_or("no limit".into(), |gb| format!("{gb} GB"));
            let (room, here) = (report.room, report.on_device.min(report.room));
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
