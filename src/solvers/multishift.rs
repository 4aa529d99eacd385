//! Multi-shift CG: (A + sigma_k) x_k = b for all shifts from one Krylov space. The residual of a shifted system is
//! zeta_k times that of the smallest shift (Jegerlehner, hep-lat/9612014).

use std::borrow::BorrowMut;
use std::sync::Arc;
use std::time::Instant;

use super::shifts::{self, Step};
use super::stop::{StoppedBy, Watch, DIFFERENT};
use super::{
    solve, Fields, InRange, Monitor, SolverKind, SolverParams, SolverReport, Stop, System,
};
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, VectorField};
use crate::linop::{LinOp, Shifted};
use crate::refuse;

/// One system A + sigma of a multi-shift solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The shift sigma that is added to the operator; at least 0.
    pub sigma: f64,
    /// Largest |b - (A + sigma) x| / |b| at which the system counts as solved.
    pub tol: f64,
    /// Largest heavy-quark residual, which only the refinement can reach; 0: not required.
    pub heavy_quark: f64,
}

/// The result for one shift.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShiftReport {
    /// Number of iterations after which the shift was dropped from the common Krylov space.
    pub iterations: usize,
    /// Number of iterations of the CG that refined it afterwards.
    pub refinement: usize,
    /// True if it meets its tolerance for every right-hand side.
    pub converged: bool,
    /// |b - (A + sigma) x| / |b| recomputed in precise arithmetic, per right-hand side.
    pub residual: Vec<f64>,
    /// Heavy-quark residual of the shift's solution, per right-hand side.
    pub residual_hq: Vec<f64>,
}

impl ShiftReport {
    /// Joins the reports of two solves, `self` for the first right-hand sides and `others` for those that follow.
    pub fn join(mut self, others: ShiftReport) -> ShiftReport {
        self.residual.extend(others.residual);
        self.residual_hq.extend(others.residual_hq);
        ShiftReport {
            iterations: self.iterations.max(others.iterations),
            refinement: self.refinement.max(others.refinement),
            converged: self.converged && others.converged,
            ..self
        }
    }
}

/// Largest number of times that a shift is refined again because the residual of a single site is too large.
const SITE_STEPS: usize = 3;

/// The recurrence of one shift for every right-hand side (Jegerlehner, hep-lat/9612014).
struct Track {
    zeta: Vec<f64>,
    zeta_before: Vec<f64>,
    active: Vec<bool>,
    /// The search direction; freed when the shift has converged.
    p: Option<VectorField>,
    iterations: usize,
}

/// Solves (A + sigma_k) x_k = b from zero. A must be hermitian, and A + sigma positive for the smallest shift. In
/// mixed precision the common Krylov space is in the lower precision and reaches only that accuracy. Then the
/// residual of every shift is recomputed in the precision of the solution and, if `refine`, reduced to its tolerance
/// by a separate CG. The report's residuals are the largest over the shifts; the goals of `params.stop` are not used,
/// except for the goal of the largest site, which the refinement must reach. A refused call leaves every x as it is;
/// after a breakdown every x is 0.
///
/// # Errors
/// Errors of [`solve`]; `BadParameter`: no shift, a negative one, or a tolerance outside 0 to 1.
pub fn multishift(
    system: &System,
    params: &SolverParams,
    shifts: &[Shift],
    refine: bool,
    xs: &mut [impl BorrowMut<VectorField>],
    b: &VectorField,
    monitor: &mut Monitor,
) -> Result<(SolverReport, Vec<ShiftReport>)> {
    check(system, params, shifts, xs, b)?;
    let mut units = InRange::new(xs, b, false)?;
    let done = run(system, params, shifts, refine, units.fields(), monitor);
    units.end(done)
}

fn run(
    system: &System,
    params: &SolverParams,
    shifts: &[Shift],
    refine: bool,
    fields: Fields,
    monitor: &mut Monitor,
) -> Result<(SolverReport, Vec<ShiftReport>)> {
    let start = Instant::now();
    let Fields { mut xs, b, norms, .. } = fields;
    let mut total = SolverReport { converged: true, ..Default::default() };
    xs.iter_mut().try_for_each(|x| x.clear())?;
    let common = iterate(system, params, shifts, &mut xs, b, norms, monitor)?;
    total.iterations = common.iterations;
    total.stopped = common.ended.is_some_and(|by| by > StoppedBy::Iterations);
    total.stopped_by = common.ended.filter(|_| total.stopped);
    (total.flops, total.bytes, total.history) = (common.flops, common.bytes, common.history);
    let mut reports = vec![];
    for ((shift, x), &iterations) in shifts.iter().zip(xs).zip(&common.per_shift) {
        let shifted = |op: &Arc<dyn LinOp>| -> Arc<dyn LinOp> {
            Arc::new(Shifted::new(op.clone(), shift.sigma))
        };
        let left = if refine && !total.stopped { params.stop.iterations } else { 0 };
        let stop = Stop {
            residual: shift.tol,
            heavy_quark: shift.heavy_quark,
            iterations: left.saturating_sub(iterations),
            ..params.stop.since(start)
        };
        let params =
            SolverParams { kind: SolverKind::Cg, stop, initial_guess: true, ..params.clone() };
        let sloppy = system.sloppy.as_ref().filter(|_| left > 0).map(shifted);
        let system = System { sloppy, ..System::new(shifted(&system.precise)) };
        let mut r = solve(&system, &params, x, b, monitor)?;
        let mut residual_site = vec![];
        if stop.site > 0.0 {
            residual_site = site_residuals(&system, x, b)?;
            for _ in 0..SITE_STEPS {
                let lag = residual_site.iter().fold(0.0f64, |m, &v| m.max(v)) / stop.site;
                let iterations = params.stop.iterations.saturating_sub(r.iterations);
                if lag <= 1.0 || !r.converged || iterations == 0 {
                    break;
                }
                let reached = r.residual.iter().fold(0.0f64, |m, &v| m.max(v));
                let residual = params.stop.residual.min(reached) * 0.8 / lag;
                let stop = Stop { residual, iterations, ..params.stop };
                let sharper = SolverParams { stop, ..params.clone() };
                r = r.followed_by(solve(&system, &sharper, x, b, monitor)?);
                residual_site = site_residuals(&system, x, b)?;
            }
            r.converged &= residual_site.iter().all(|&v| v <= stop.site);
            raise(&mut total.residual_site, &residual_site);
        }
        total.stopped |= r.stopped;
        total.stopped_by = total.stopped_by.max(r.stopped_by);
        total.standstill |= r.standstill;
        total.converged &= r.converged;
        total.iterations += r.iterations;
        total.reliable_updates += r.reliable_updates;
        total.restarts += r.restarts;
        total.history.extend(r.history);
        total.flops += r.flops;
        total.bytes += r.bytes;
        raise(&mut total.residual, &r.residual);
        raise(&mut total.residual_hq, &r.residual_hq);
        reports.push(ShiftReport {
            iterations,
            refinement: r.iterations,
            converged: r.converged,
            residual: r.residual,
            residual_hq: r.residual_hq,
        });
    }
    if total.converged {
        total.stopped_by = Some(StoppedBy::Residual);
    }
    total.seconds = start.elapsed().as_secs_f64();
    Ok((total, reports))
}

/// Largest |b - A x| at any site, divided by the largest |b| at any site, for every right-hand side.
fn site_residuals(system: &System, x: &VectorField, b: &VectorField) -> Result<Vec<f64>> {
    let n = b.nrhs();
    let mut r = b.like(b.precision())?;
    system.precise.apply(&mut r, x)?;
    blas::axpby(&blas::uniform(n, 1.0), b, &blas::uniform(n, -1.0), &mut r)?;
    let (largest_r, largest_b) = (blas::largest_site(&r)?, blas::largest_site(b)?);
    Ok(largest_r.iter().zip(&largest_b).map(|(r, b)| if *b > 0.0 { r / b } else { *r }).collect())
}

fn raise(max: &mut Vec<f64>, values: &[f64]) {
    max.resize(values.len(), 0.0);
    max.iter_mut().zip(values).for_each(|(m, v)| *m = m.max(*v));
}

fn check(
    system: &System,
    params: &SolverParams,
    shifts: &[Shift],
    xs: &[impl BorrowMut<VectorField>],
    b: &VectorField,
) -> Result<()> {
    if shifts.is_empty() || xs.len() != shifts.len() {
        bail!(BadParameter, "{} shifts with {} solutions", shifts.len(), xs.len());
    }
    for (k, s) in shifts.iter().enumerate() {
        if !(s.sigma >= 0.0 && s.sigma.is_finite() && s.tol > 0.0 && s.tol < 1.0) {
            refuse!(
                BadParameter,
                "shift {k}",
                expected("sigma >= 0 and 0 < tol < 1"),
                found("{} and {}", s.sigma, s.tol)
            );
        }
        if !(0.0..1.0).contains(&s.heavy_quark) {
            refuse!(
                BadParameter,
                "shift {k}",
                expected("0 <= heavy_quark < 1"),
                found("{}", s.heavy_quark)
            );
        }
    }
    // The goals of the solve are the tolerances of the shifts.
    let stop = Stop { residual: shifts[0].tol, heavy_quark: 0.0, ..params.stop };
    SolverParams { stop, ..params.clone() }.check()?;
    if !system.precise.hermitian() {
        bail!(Unsupported, "multishift needs a hermitian operator: use the normal operator");
    }
    system.precise.range().check(b, "b")?;
    for x in xs {
        let x = x.borrow();
        system.precise.shape().check(x, "x")?;
        b.check_like(x, "multishift")?;
    }
    Ok(())
}

struct Common {
    iterations: usize,
    per_shift: Vec<usize>,
    /// The limit that ended the iteration; None: none did.
    ended: Option<StoppedBy>,
    flops: f64,
    bytes: f64,
    history: Vec<f64>,
}

/// Iterates the common Krylov space of all shifts.
fn iterate(
    system: &System,
    params: &SolverParams,
    asked: &[Shift],
    xs: &mut [&mut VectorField],
    b: &VectorField,
    norm: &[f64],
    monitor: &mut Monitor,
) -> Result<Common> {
    let n = b.nrhs();
    let stop = Stop { residual: 0.0, heavy_quark: 0.0, ..params.stop };
    let least = (0..asked.len())
        .min_by(|&i, &j| asked[i].sigma.total_cmp(&asked[j].sigma))
        .expect("there is a shift");
    let base = system.sloppy.as_ref().unwrap_or(&system.precise);
    let op = Shifted::new(base.clone(), asked[least].sigma);
    let shape = op.shape();
    let two_level = system.sloppy.is_some();
    // The recurrence in lower precision says nothing about residuals below its rounding error.
    let floor = if two_level { shape.precision.epsilon() } else { 0.0 };
    let (device, comm) = (b.device(), b.geometry().comm());
    let goal_factor = asked[least].tol.max(floor);
    let mut watch = Watch::with(stop, goal_factor, DIFFERENT, device, comm, monitor);
    let nonzero: Vec<bool> = norm.iter().map(|&v| v > 0.0).collect();
    let weight: Vec<f64> = norm.iter().map(|&v| if v > 0.0 { 1.0 / v } else { 1.0 }).collect();
    // The iteration solves for the source b / |b|.
    let mut r = shape.field(n)?;
    blas::axpby(&blas::complex(&weight), b, &blas::uniform(n, 0.0), &mut r)?;
    let mut q = shape.field(n)?;
    let mut tracks = vec![];
    for _ in asked {
        let mut p = shape.field(n)?;
        blas::copy(&mut p, &r)?;
        tracks.push(Track {
            zeta: vec![1.0; n],
            zeta_before: vec![1.0; n],
            active: nonzero.clone(),
            p: Some(p),
            iterations: 0,
        });
    }
    let mut common = Common {
        iterations: 0,
        per_shift: vec![],
        ended: None,
        flops: 0.0,
        bytes: 0.0,
        history: vec![],
    };
    let vector = shape.bytes(n) as f64;
    // Operations are counted for spinors, which have 12 complex numbers per site.
    let sites = shape.numbers() / 12.0 * n as f64;
    let mut r2 = blas::norm2(&r)?;
    let (mut alpha_before, mut beta_before) = (vec![1.0; n], vec![0.0; n]);
    let mut live = nonzero.clone();
    while live.contains(&true) && watch.ended(common.iterations).is_none() {
        let p = tracks[least].p.as_ref().expect("the least shift stays to the end");
        op.apply(&mut q, p)?;
        let curvature = blas::dot(p, &q)?;
        if let Some(i) =
            (0..n).find(|&i| live[i] && (curvature[i].re <= 0.0 || !curvature[i].re.is_finite()))
        {
            bail!(
                SolverBreakdown,
                "multishift: <p, A p> is {} for right-hand side {i} at iteration {}",
                curvature[i].re,
                common.iterations
            );
        }
        let alpha: Vec<f64> =
            (0..n).map(|i| if live[i] { r2[i] / curvature[i].re } else { 0.0 }).collect();
        let minus: Vec<f64> = alpha.iter().map(|a| -a).collect();
        let new = blas::axpy_norm(&blas::complex(&minus), &q, &mut r)?;
        let beta: Vec<f64> = (0..n).map(|i| if live[i] { new[i] / r2[i] } else { 0.0 }).collect();
        common.iterations += 1;
        common.flops += op.flops() * n as f64 + (96 + 48 + 96) as f64 * sites;
        common.bytes += op.bytes(n) + 5.0 * vector;
        let mut residual = vec![0.0f64; n];
        let mut still = vec![false; n];
        let mut steps = vec![];
        for (k, track) in tracks.iter_mut().enumerate().filter(|(_, t)| t.p.is_some()) {
            let Track { zeta, zeta_before, active, iterations, .. } = track;
            let sigma = asked[k].sigma - asked[least].sigma;
            let mut step = Step::none(n);
            for i in 0..n {
                if !live[i] || !(active[i] || k == least) {
                    continue;
                }
                let (z, zb) = (zeta[i], zeta_before[i]);
                let next = z * zb * alpha_before[i]
                    / (alpha[i] * beta_before[i] * (zb - z)
                        + zb * alpha_before[i] * (1.0 + sigma * alpha[i]));
                // x is in units of b, p in units of b / |b|.
                if active[i] {
                    step.a[i] = alpha[i] * next / z / weight[i];
                }
                step.c[i] = beta[i] * (next / z).powi(2);
                step.d[i] = next;
                (zeta[i], zeta_before[i]) = (next, z);
                let relative = next.abs() * new[i].sqrt();
                if active[i] {
                    residual[i] = residual[i].max(relative);
                    *iterations = common.iterations;
                    active[i] = relative > asked[k].tol.max(floor);
                }
                still[i] |= active[i];
            }
            common.flops += 288.0 * sites;
            common.bytes += 4.0 * vector;
            steps.push(step);
        }
        common.bytes += vector;
        let pairs = tracks.iter_mut().zip(xs.iter_mut());
        let (mut ps, mut solutions): (Vec<&mut VectorField>, Vec<&mut VectorField>) =
            pairs.filter_map(|(t, x)| Some((t.p.as_mut()?, &mut **x))).unzip();
        shifts::update(&mut solutions, &mut ps, &steps, &r)?;
        for (k, track) in tracks.iter_mut().enumerate() {
            if k != least && !track.active.contains(&true) {
                track.p = None;
            }
        }
        live = still;
        (r2, alpha_before, beta_before) = (new, alpha, beta);
        if params.history {
            common.history.push(residual.iter().fold(0.0, |m, &v| v.max(m)));
        }
        watch.after(common.iterations, &residual);
    }
    common.ended = watch.ended(common.iterations);
    common.per_shift = tracks.iter().map(|t| t.iterations).collect();
    Ok(common)
}
