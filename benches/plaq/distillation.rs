//! Distillation on links near the unit matrix: modes of every time slice with 10 steps of stout smearing to 1e-8,
//! verified, in double and in single refined (`mixed`), and perambulators of one source time by multigrid to 1e-10:
//! the number in the name is the time of all, sources, projection and, where there is libhdf5, the file included,
//! over that of the solves. 64 and 200 modes a slice; on a CPU, where lattices up to 8^4 are taken, 8.

use std::sync::Arc;
use std::time::Instant;

use plaq::compose::multigrid::{Multigrid, MultigridParams};
use plaq::compose::{DiracSolver, Equations, SolveParams};
use plaq::error::Result;
use plaq::fields::{GammaBasis, GaugeField, Geometry, Precision, Recon};
use plaq::io::hdf5;
use plaq::operators::{DiracParams, Wilson};
use plaq::ops::distillation::file::{PerambulatorFile, GROUP};
use plaq::ops::distillation::modes::{Modes, ModesSettings};
use plaq::ops::distillation::perambulator::perambulators;
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop};

use super::{row, slowest, Bench, Options};

const LINK: Option<Recon> = Some(Recon::R12);

pub fn rows(o: &mut Options, geometry: &Arc<Geometry>, copy: f64) -> Result<()> {
    let cpu = o.device.is_cpu();
    if cpu && geometry.global_volume() > 8 * 8 * 8 * 8 {
        return Ok(());
    }
    let mut b = Bench { o, geometry, precision: Precision::F64, copy };
    let counts: &[usize] = if cpu { &[8] } else { &[64, 200] };
    let name = |what: &str, n: usize| format!("distillation {what} {n}");
    let wanted = |b: &Bench, n: usize| {
        ["modes", "mixed", "perambulators"].map(|what| b.wanted(&name(what, n), "R12", 1))
    };
    if !counts.iter().any(|&n| wanted(&b, n).contains(&true)) {
        return Ok(());
    }
    let mut u = GaugeField::new(&b.o.device, geometry, Precision::F64, Recon::R18)?;
    u.set_near_unit(1, 0.3)?;
    let u = Arc::new(u.to(Precision::F64, Recon::R12)?);
    let settings = |count: usize, mixed: bool| ModesSettings {
        count,
        mixed,
        steps: 10,
        rho: 0.12,
        tol: 1e-8,
        ..Default::default()
    };
    // A first search compiles the kernels.
    for mixed in [false, true] {
        Modes::new(&u, None, &settings(4, mixed), &mut no_monitor)?;
    }
    for &n in counts {
        let [double, mixed, quarks] = wanted(&b, n);
        let mut found = None;
        for (what, is_mixed, wanted) in [("modes", false, double), ("mixed", true, mixed)] {
            if wanted || (quarks && !is_mixed) {
                drop(found.take());
                let start = Instant::now();
                let modes = Modes::new(&u, None, &settings(n, is_mixed), &mut no_monitor)?;
                let time = slowest(geometry.comm(), start.elapsed().as_secs_f64())?;
                let report = modes.search();
                let cut = if report.converged && report.verified { "" } else { " cut short" };
                row(&mut b, &format!("{}{cut}", name(what, n)), LINK, 1, time, 0.0, 0.0)?;
                found = Some(modes);
            }
        }
        if let Some(modes) = found.filter(|_| quarks) {
            source_time(&mut b, &u, &modes)?;
        }
    }
    Ok(())
}

fn source_time(b: &mut Bench, u: &Arc<GaugeField>, modes: &Modes) -> Result<()> {
    let dirac = DiracParams { mass: -0.12, csw: 1.0, csw_t: 1.0, ..Default::default() };
    let op = Arc::new(Wilson::new(u.clone(), dirac)?);
    let multigrid = Arc::new(Multigrid::new(&*op, &MultigridParams::for_lattice(b.geometry))?);
    let params = SolveParams {
        solver: SolverParams {
            kind: SolverKind::Gcr,
            nkrylov: 4,
            stop: Stop::at(1e-10),
            ..Default::default()
        },
        equations: Equations::Direct,
        ..Default::default()
    };
    let solver = DiracSolver::new(op, params)?.with_multigrid(Some(multigrid))?;
    let path = std::env::temp_dir().join(format!("plaq-bench-{}.h5", std::process::id()));
    let file = PerambulatorFile::new((&path, GROUP), modes, &solver, GammaBasis::DeGrandRossi)?;
    let written = b.o.comm.agree(hdf5::check()).is_ok();
    // The first of the two times compiles the kernels.
    let mut last = (0.0, 1.0);
    for time in 0..2 {
        let start = Instant::now();
        let mut keep = |_: usize, _| Ok(());
        let done = match written {
            true => file.complete(&[time], 0, &mut no_monitor)?.1,
            false => Some(perambulators(&solver, modes, &[time], 0, &mut no_monitor, &mut keep)?),
        };
        let solves = done.map_or(0.0, |done| done.report.solver.seconds);
        last = (slowest(&b.o.comm, start.elapsed().as_secs_f64())?, solves);
    }
    let _ = std::fs::remove_file(&path);
    let name = format!("distillation perambulators {} {:.3}", modes.count(), last.0 / last.1);
    row(b, &name, LINK, 4 * modes.count(), last.0, 0.0, 0.0)
}
