//! Multigrid with its defaults on links near the unit matrix: set-up from random vectors, update that keeps them, a
//! cycle with its share of every level, solves in double, and solves of many columns by GCR and block GCR. GFLOPS and
//! GB/s are those of the finest level's part of a cycle and of solves.

use std::sync::Arc;

use plaq::compose::multigrid::{FineOperator, Multigrid, MultigridParams, Transfer, Update};
use plaq::compose::{DiracSolver, Equations, SolveParams};
use plaq::error::Result;
use plaq::fields::{
    CoarseField, CoarseGrid, GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset,
};
use plaq::linop::{Schur, Shape};
use plaq::operators::{CoarseOperator, DiracParams, LinkPrecision, Wilson};
use plaq::solvers::{SolverKind, SolverParams, Stop};

use super::{report, row, slowest, solves, Bench, Options};

pub fn rows(o: &mut Options, geometry: &Arc<Geometry>, copy: f64) -> Result<()> {
    let mut b = Bench { o, geometry, precision: Precision::F64, copy };
    let link = Some(Recon::R12);
    let wanted = ["setup", "update", "cycle", "solve"]
        .map(|part| [1, 12].map(|n| b.wanted(&format!("multigrid {part}"), "R12", n)));
    let [[setup, _], [update, _], cycle, solve] = wanted;
    let columns = [12, 48].map(|n| b.wanted("multigrid columns", "R12", n));
    let any = [cycle, solve, columns].concat().contains(&true);
    if !(setup || update || any) {
        return Ok(());
    }
    let mut u = GaugeField::new(&b.o.device, geometry, Precision::F64, Recon::R18)?;
    u.set_near_unit(1, 0.3)?;
    let dirac = DiracParams { mass: -0.12, csw: 1.0, csw_t: 1.0, ..Default::default() };
    let op = Arc::new(Wilson::new(Arc::new(u), dirac)?.to(Precision::F64, Recon::R12)?);
    let mut hierarchies = vec![];
    for gather in b.o.gather.clone() {
        let params = MultigridParams { gather, ..MultigridParams::for_lattice(geometry) };
        let word = gather.map_or(String::new(), |gather| format!(" gather {gather}"));
        let mut multigrid = Multigrid::new(&*op, &params)?;
        if setup {
            // The first set-up has compiled and tuned the kernels.
            drop(multigrid);
            multigrid = Multigrid::new(&*op, &params)?;
            let time = slowest(geometry.comm(), multigrid.report().setup_seconds)?;
            row(&mut b, &format!("multigrid setup{word}"), link, 1, time, 0.0, 0.0)?;
        }
        if update {
            multigrid.update(&*op, Update::Keep)?;
            let report = multigrid.update(&*op, Update::Keep)?;
            let time = slowest(geometry.comm(), report.setup_seconds)?;
            row(&mut b, &format!("multigrid update{word}"), link, 1, time, 0.0, 0.0)?;
        }
        hierarchies.push((word, Arc::new(multigrid)));
    }
    let solvers = |name: &str, kind, nkrylov| -> Result<Vec<(String, DiracSolver)>> {
        let solver = SolverParams { kind, nkrylov, stop: Stop::at(1e-10), ..Default::default() };
        let equations = Equations::Direct;
        let params = SolveParams { solver, equations, ..Default::default() };
        let with = |(word, multigrid): &(String, Arc<Multigrid>)| {
            let solver = DiracSolver::new(op.clone(), params.clone())?;
            Ok((format!("{name}{word}"), solver.with_multigrid(Some(multigrid.clone()))?))
        };
        hierarchies.iter().map(with).collect()
    };
    for (k, nrhs) in [1, 12].into_iter().enumerate() {
        for (word, multigrid) in hierarchies.iter().filter(|_| cycle[k]) {
            cycles(&mut b, multigrid, word, nrhs)?;
        }
        if solve[k] {
            solves(&mut b, &solvers("multigrid solve", SolverKind::Gcr, 4)?, nrhs)?;
        }
    }
    for (nrhs, _) in [12, 48].into_iter().zip(columns).filter(|(_, wanted)| *wanted) {
        for nkrylov in [4, 8] {
            for kind in [SolverKind::Gcr, SolverKind::BlockGcr] {
                let name = format!("multigrid columns {} {nkrylov}", kind.name());
                solves(&mut b, &solvers(&name, kind, nkrylov)?, nrhs)?;
            }
        }
    }
    Ok(())
}

/// The Schur complement of a coarse operator, links in 16 and in 8 bits, on levels that are large and as small as
/// they get: each hop reads the links of one parity, together they read all links and read or write five vectors of
/// half the sites.
pub fn coarse_rows(o: &mut Options, copy: f64) -> Result<()> {
    let (half, quarter) = (LinkPrecision::Half, LinkPrecision::Quarter);
    for (extent, links, name) in [
        (16, half, "coarse operator 16^4"),
        (16, quarter, "coarse operator 16^4 8 bits"),
        (2, half, "coarse operator 2^4"),
        (2, quarter, "coarse operator 2^4 8 bits"),
    ] {
        let geometry = Geometry::decomposed([2 * extent; 4], &o.device, &o.comm)?;
        let mut b = Bench { o: &mut *o, geometry: &geometry, precision: Precision::F32, copy };
        let wanted = [1, 12].map(|n| b.wanted(name, "-", n));
        if !wanted.contains(&true) {
            continue;
        }
        // A lattice of 16^4 sites with 24 null vectors takes 10 GB.
        let vectors = if extent > 2 && b.o.device.is_cpu() { 8 } else { 24 };
        let op = coarse_operator(&b, vectors, links)?;
        let sites = op.grid().volume();
        let matrices = 8 * (op.rows() * op.rows() * 2 * links.bytes() + 4) * sites;
        for (_, nrhs) in wanted.into_iter().zip([1, 12]).filter(|(wanted, _)| *wanted) {
            let mut x = op.field(Subset::Even, nrhs)?;
            x.clear()?;
            let (mut y, mut odd) = (x.like(nrhs)?, op.field(Subset::Odd, nrhs)?);
            let bytes = matrices + 5 * sites / 2 * op.rows() * 8 * nrhs;
            let flops = nrhs as f64 * op.flops();
            let ranks = b.o.comm.size() as f64;
            report(&mut b, name, None, nrhs, flops, bytes as f64 * ranks, || {
                op.schur(&mut y, &x, &mut odd)
            })?;
        }
    }
    Ok(())
}

/// A coarse operator on aggregates of 2^4 sites.
fn coarse_operator(b: &Bench, vectors: usize, links: LinkPrecision) -> Result<CoarseOperator> {
    let device = &b.o.device;
    let mut u = GaugeField::new(device, b.geometry, Precision::F32, Recon::R18)?;
    u.set_near_unit(1, 0.3)?;
    let params = DiracParams { mass: 0.1, ..Default::default() };
    let op = Arc::new(Wilson::new(Arc::new(u), params)?);
    let grid = CoarseGrid::finest(b.geometry, device)?;
    let mut v = CoarseField::new(&grid, Precision::F32, Subset::Full, 12, vectors)?;
    let mut one = v.like(1)?;
    let mut noise = vec![0.0; 2 * 12 * grid.volume()];
    let mut state = 1u64;
    for column in 0..vectors {
        for x in &mut noise {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *x = (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        }
        one.load(&noise)?;
        v.copy_from_columns(column, &one, 0, 1, 0)?;
    }
    drop(one);
    let transfer = Transfer::new(v, [2; 4])?;
    FineOperator::Dirac(op).coarsened(&transfer, Precision::F32)?.with_short_links(links)
}

/// For each level, the seconds spent in it and the levels below, summed over all cycles.
fn seconds(multigrid: &Multigrid) -> Vec<f64> {
    multigrid.report().levels.iter().map(|l| l.seconds).collect()
}

/// A cycle: the time of its best batch, and the mean time of each level by itself in all batches. The latter is by the
/// host's clock, which on a GPU runs ahead of the device. Names of rows contain `word`.
fn cycles(b: &mut Bench, multigrid: &Arc<Multigrid>, word: &str, nrhs: usize) -> Result<()> {
    let link = Some(Recon::R12);
    let mut inp = SpinorField::new(&b.o.device, b.geometry, Precision::F32, Subset::Even, nrhs)?;
    inp.set_noise(Noise::Normal, 2, 0)?;
    let mut out = inp.like(Precision::F32)?;
    let inverse = multigrid.inverse(Schur::EVEN_SYMMETRIC, Shape::of(&inp));
    let (flops, bytes) = (nrhs as f64 * inverse.flops(), inverse.bytes(nrhs));
    let (mut calls, mut before) = (0, None);
    report(b, &format!("multigrid cycle{word}"), link, nrhs, flops, bytes, || {
        inverse.apply(&mut out, &inp)?;
        // The first call compiles and tunes kernels, and is not counted.
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
        row(b, &format!("multigrid cycle{word}, level {l}"), link, nrhs, own, 0.0, 0.0)?;
    }
    Ok(())
}
