//! The computations of `plaq overlap`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::super::options::Options;
use super::super::quark::monitor;
use super::super::session::{Progress, Session};
use super::super::{files, Run};
use super::{Plan, Task};
use crate::backend::External;
use crate::compose::{
    Method, Modes, Overlap, OverlapAlgorithm, OverlapModes, Preconditioned, Sign, SignParams,
    SolveTotals,
};
use crate::error::{host_array, Result};
use crate::fields::{blas, GammaBasis, Layout, Precision, Recon};
use crate::io::FileFormat;
use crate::linop::LinOp;
use crate::operators::DiracParams;
use crate::ops::correlators::{correlators, effective_mass, EffectiveMass};
use crate::ops::eigenvectors::{load_modes, load_overlap_modes, save_modes};
use crate::ops::observables::Plaquette;
use crate::ops::overlap::{overlap_propagators, OverlapReport};
use crate::ops::overlap_settings::OverlapShared;
use crate::ops::propagator::COLUMNS;
use crate::ops::source::Source;

/// The correlators for one mass.
pub struct MassCorrelators {
    pub pion: Vec<f64>,
    pub rho_xyz: [Vec<f64>; 3],
    pub rho: Vec<f64>,
    pub nucleon: Vec<f64>,
    /// Effective masses of pion, rho and nucleon in lattice units, a number for each time from the source.
    pub masses: [Vec<f64>; 3],
    pub condensate: f64,
}

/// Report on the solves for propagators, and correlators of these.
pub struct Quarks {
    pub report: SolveTotals,
    /// Algorithm and preconditioner of the solves.
    pub by: (OverlapAlgorithm, Preconditioned),
    pub of: Vec<MassCorrelators>,
}

/// The results of a run.
pub struct Results {
    pub format: FileFormat,
    pub lattice: [usize; 4],
    pub plaquette: Plaquette,
    pub op: Arc<Overlap>,
    pub report: OverlapReport,
    pub violation: f64,
    pub locality: Option<Vec<f64>>,
    pub low: Option<Arc<OverlapModes>>,
    pub quarks: Option<Quarks>,
    /// Seconds of each step: load, modes, sign, ginsparg_wilson, locality, index, propagator.
    pub seconds: [f64; 7],
}

fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let begin = Instant::now();
    let done = work();
    *seconds = begin.elapsed().as_secs_f64();
    done
}

/// The largest |D eta|(x) at every taxi distance from a point source eta at the origin (P. Hernandez, K. Jansen, M.
/// Luescher, Nucl. Phys. B552 (1999) 363).
fn locality(op: &Overlap) -> Result<Vec<f64>> {
    let shape = op.shape();
    let (mut x, mut y) = (shape.field(1)?, shape.field(1)?);
    Source::point([0; 4]).set(&mut x)?;
    op.apply(&mut y, &x)?;
    let geometry = shape.geometry.clone();
    let mut image = host_array(24 * geometry.volume(), 0.0, "a column on the host")?;
    let layout = Layout::lexicographic_spinor(Precision::F64, GammaBasis::DeGrandRossi);
    y.save(&layout, &mut External::write(vec![&mut image[..]]))?;
    let (l, part, origin) = (geometry.global_extents(), geometry.extents(), geometry.origin());
    let mut largest = vec![0.0f64; l.iter().sum::<usize>() / 2 + 1];
    for (site, psi) in image.chunks_exact(24).enumerate() {
        let (mut remainder, mut r) = (site, 0);
        for mu in 0..4 {
            let x = origin[mu] + remainder % part[mu];
            r += x.min(l[mu] - x);
            remainder /= part[mu];
        }
        largest[r] = largest[r].max(psi.iter().map(|x| x * x).sum::<f64>().sqrt());
    }
    let all = geometry.comm().all_gather(bytemuck::cast_slice(&largest))?;
    for theirs in all.chunks_exact(8 * largest.len()) {
        for (mine, bytes) in largest.iter_mut().zip(theirs.chunks_exact(8)) {
            *mine = mine.max(bytemuck::pod_read_unaligned::<f64>(bytes));
        }
    }
    Ok(largest)
}

fn quarks(
    session: &Session,
    op: &Arc<Overlap>,
    plan: &Plan,
    low: Option<Arc<OverlapModes>>,
) -> Result<Quarks> {
    let kept = &mut OverlapShared::default();
    let solver = plan.solving.solver(op, low, &plan.masses, COLUMNS, kept)?;
    let mut progress = Progress::new();
    let (fields, report) = {
        let mut watch = monitor(&session.comm, &mut progress, "propagator: ", plan.solving.tol);
        overlap_propagators(&solver, &plan.masses, plan.source, true, &mut watch)?
    };
    progress.clear();
    let mut source = op.shape().field(COLUMNS)?;
    plan.source.set(&mut source)?;
    let mut of = vec![];
    for field in &fields {
        let c = correlators(field, plan.source.position, plan.boundary)?;
        let rho: Vec<f64> =
            (0..c.pion.len()).map(|t| c.rho.iter().map(|r| r[t]).sum::<f64>() / 3.0).collect();
        let nucleon: Vec<f64> = c.nucleon.iter().map(|z| z.re).collect();
        let masses = [
            effective_mass(&c.pion, EffectiveMass::Cosh),
            effective_mass(&rho, EffectiveMass::Cosh),
            effective_mass(&nucleon, EffectiveMass::Log),
        ];
        let condensate = blas::dot(&source, field)?.iter().map(|z| z.re).sum();
        of.push(MassCorrelators { pion: c.pion, rho_xyz: c.rho, rho, nucleon, masses, condensate });
    }
    let by = (solver.algorithm(), solver.preconditioned());
    Ok(Quarks { report: solver.totals(report), by, of })
}

pub fn all(session: &Session, options: &Options, plan: &Plan) -> Run<Results> {
    let mut seconds = [0.0; 7];
    let how = files::reading(options)?;
    let loaded = timed(&mut seconds[0], || files::read(session, &plan.file, &how))?;
    let lattice = loaded.gauge.geometry().global_extents();
    let links = match plan.smearing.steps {
        0 => loaded.gauge.to(Precision::F64, Recon::R12)?,
        _ => plan.smearing.apply(&loaded.gauge)?.to(Precision::F64, Recon::R12)?,
    };
    drop(loaded.gauge);
    let physics = DiracParams { boundary: plan.boundary.phases(), ..Default::default() };
    let sign = plan.settings.sign()?;
    let kernel = Overlap::kernel(Arc::new(links), plan.settings.s, physics)?;
    let mut progress = Progress::new();
    let modes = timed(&mut seconds[1], || match options.get("load-modes") {
        Some(file) => load_modes(Path::new(file), &kernel),
        None => {
            let tol = plan.settings.modes().tol;
            let tol = if tol > 0.0 { tol } else { 1e-13 };
            let mut watch = monitor(&session.comm, &mut progress, "modes of the kernel: ", tol);
            Modes::find(&kernel, None, &plan.settings.modes(), None, &mut watch)
        }
    })?;
    let op = timed(&mut seconds[2], || {
        let delta = sign.delta.max(Sign::least_delta(Precision::F64));
        let sign = Sign::new(kernel, Arc::new(modes), SignParams { delta, ..sign })?;
        Ok(Arc::new(Overlap::new(Arc::new(sign), plan.masses[0])?))
    })?;
    let known = match options.get("load-modes") {
        Some(file) => load_overlap_modes(Path::new(file), &op)?.map(Arc::new),
        None => None,
    };
    let violation = timed(&mut seconds[3], || op.ginsparg_wilson(1))?;
    let largest = match plan.locality {
        true => Some(timed(&mut seconds[4], || locality(&op))?),
        false => None,
    };
    // Zolotarev's function is linear only up to its error, as CG computes it, so that eigenvectors get no more
    // accurate.
    let zolotarev = op.sign().method() == Method::Zolotarev;
    let tol = if zolotarev { op.error_bound().max(1e-9) } else { 1e-9 };
    let low = match plan.low_sought() {
        false => None,
        true => Some(timed(&mut seconds[5], || {
            if let Some(known) = known.filter(|low| low.hold(plan.low, tol)) {
                return Ok(known);
            }
            let mut watch = monitor(&session.comm, &mut progress, "low modes of D: ", tol);
            let found = OverlapModes::find_within(f64::INFINITY, &op, plan.low, tol, &mut watch)?;
            Ok(Arc::new(found))
        })?),
    };
    if let Some(file) = options.get("save-modes") {
        save_modes(Path::new(file), op.sign().modes(), low.as_deref())?;
    }
    let quarks = match plan.task == Task::Propagator {
        true => Some(timed(&mut seconds[6], || quarks(session, &op, plan, low.clone()))?),
        false => None,
    };
    progress.clear();
    let by =
        quarks.as_ref().map_or((OverlapAlgorithm::Auto, Preconditioned::No), |quarks| quarks.by);
    let report = OverlapReport::new(&op, [seconds[1], seconds[2]], by, low.as_deref());
    let (format, plaquette) = (loaded.info.format, loaded.plaquette);
    let locality = largest;
    Ok(Results {
        format,
        lattice,
        plaquette,
        op,
        report,
        violation,
        locality,
        low,
        quarks,
        seconds,
    })
}
