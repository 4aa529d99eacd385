//! Multigrid with its defaults on links near the unit matrix: set-up from random vectors, update that keeps
//! them, a cycle with its share of every level, solves in double. GFLOPS and GB/s are those of the finest
//! level's part of a cycle and of solves.

use std::sync::Arc;

use plaq::compose::multigrid::{Multigrid, MultigridParams, Update};
use plaq::compose::{DiracSolver, Equations, SolveParams};
use plaq::error::Result;
use plaq::fields::{GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset};
use plaq::linop::Shape;
use plaq::operators::{DiracParams, Wilson};
use plaq::solvers::{unwatched, SolverKind, SolverParams};

use super::{report, row, slowest, Bench, Options};

pub fn rows(o: &mut Options, geometry: &Arc<Geometry>, copy: f64) -> Result<()> {
    let mut b = Bench { o, geometry, precision: Precision::F64, copy };
    let link = Some(Recon::R12);
    let wanted = ["setup", "update", "cycle", "solve"]
        .map(|part| [1, 12].map(|n| b.wanted(&format!("multigrid {part}"), "R12", n)));
    let [[setup, _], [update, _], cycle, solve] = wanted;
    if !(setup || update || cycle.contains(&true) || solve.contains(&true)) {
        return Ok(());
    }
    let mut u = GaugeField::new(&b.o.device, geometry, Precision::F64, Recon::R18)?;
    u.set_near_unit(1, 0.3)?;
    let dirac = DiracParams { mass: -0.12, csw_s: 1.0, csw_t: 1.0, ..Default::default() };
    let op = Arc::new(Wilson::new(Arc::new(u), dirac)?.to(Precision::F64, Recon::R12)?);
    let params = MultigridParams::for_lattice(geometry);
    let mut multigrid = Multigrid::new(&op, &params)?;
    if setup {
        // The first one compiled and tuned.
        drop(multigrid);
        multigrid = Multigrid::new(&op, &params)?;
        let time = slowest(geometry.comm(), multigrid.report().setup_seconds)?;
        row(&mut b, "multigrid setup", link, 1, time, 0.0, 0.0)?;
    }
    if update {
        multigrid.update(&op, Update::Keep)?;
        let report = multigrid.update(&op, Update::Keep)?;
        let time = slowest(geometry.comm(), report.setup_seconds)?;
        row(&mut b, "multigrid update", link, 1, time, 0.0, 0.0)?;
    }
    let multigrid = Arc::new(multigrid);
    for (k, nrhs) in [1, 12].into_iter().enumerate() {
        if cycle[k] {
            cycles(&mut b, &multigrid, nrhs)?;
        }
        if solve[k] {
            solves(&mut b, &op, &multigrid, nrhs)?;
        }
    }
    Ok(())
}

/// In a level and those below it, of all cycles.
fn seconds(multigrid: &Multigrid) -> Vec<f64> {
    multigrid.report().levels.iter().map(|l| l.seconds).collect()
}

/// A cycle, the best of its batches, and what each level takes for itself in the mean of them all, by the
/// host's clock, which on a GPU runs ahead.
fn cycles(b: &mut Bench, multigrid: &Arc<Multigrid>, nrhs: usize) -> Result<()> {
    let link = Some(Recon::R12);
    let mut inp = SpinorField::new(&b.o.device, b.geometry, Precision::F32, Subset::Even, nrhs)?;
    inp.set_noise(Noise::Normal, 2, 0)?;
    let mut out = inp.like(Precision::F32)?;
    let inverse = multigrid.inverse(Shape::of(&inp));
    let (flops, bytes) = (nrhs as f64 * inverse.flops(), inverse.bytes(nrhs));
    let (mut calls, mut before) = (0, None);
    report(b, "multigrid cycle", link, nrhs, flops, bytes, || {
        inverse.apply(&mut out, &inp)?;
        // The first call compiles and tunes.
        match before {
            None => before = Some(seconds(multigrid)),
            Some(_) => calls += 1,
        }
        Ok(())
    })?;
    let (before, after) = (before.unwrap_or_default(), seconds(multigrid));
    for l in 0..before.len() {
        let spent = |l: usize| match (before.get(l), after.get(l)) {
            (Some(b), Some(a)) => (a - b) / calls as f64,
            _ => 0.0,
        };
        let own = slowest(&b.o.comm, spent(l) - spent(l + 1))?;
        row(b, &format!("multigrid cycle, level {l}"), link, nrhs, own, 0.0, 0.0)?;
    }
    Ok(())
}

fn solves(b: &mut Bench, op: &Arc<Wilson>, multigrid: &Arc<Multigrid>, nrhs: usize) -> Result<()> {
    let params = SolveParams {
        solver: SolverParams {
            kind: SolverKind::Gcr,
            nkrylov: 4,
            tol: 1e-10,
            ..Default::default()
        },
        equations: Equations::Direct,
        ..Default::default()
    };
    let solver = DiracSolver::new(op.clone(), params)?.with_multigrid(Some(multigrid.clone()))?;
    let source = b.field(Subset::Full, nrhs)?;
    let mut x = b.field(Subset::Full, nrhs)?;
    let mut best = solver.solve(&mut x, &source, &mut unwatched)?.solver;
    for _ in 0..2 {
        let found = solver.solve(&mut x, &source, &mut unwatched)?.solver;
        if found.seconds < best.seconds {
            best = found;
        }
    }
    let name = format!("multigrid solve {}", best.iterations);
    let seconds = slowest(&b.o.comm, best.seconds)?;
    row(b, &name, Some(Recon::R12), nrhs, seconds, best.flops, best.bytes)
}
