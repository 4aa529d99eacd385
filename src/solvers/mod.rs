//! Krylov solvers for M x = b with any number of right-hand sides, in mixed precision. They know operators only
//! through `LinOp`; right-hand sides are iterated together, each with its own coefficients, and those that have
//! converged are not changed any more.

mod bicgstab;
mod block;
mod block_gcr;
mod cg;
pub mod dense;
mod eigen_memory;
mod eigen_params;
mod fewer_sums;
mod filter;
mod gcr;
mod inverse;
mod lanczos;
mod mixed_precision;
mod monitor;
mod mr;
mod multishift;
mod params;
mod range;
mod rational;
mod rational_sum;
mod report;
mod ritz;
pub mod shifts;
mod slice_modes;
pub mod stop;
mod sumr;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

pub use block::portions;
pub use eigen_params::{
    plaq_eigen_params, plaq_eigen_report, EigenMethod, EigenParams, EigenReport, EigenSettings,
    Filter, VectorMemory,
};
pub(crate) use eigen_params::{search_seed_row, SEARCH};
pub use filter::eigen_tol;
pub use filter::End;
pub use inverse::{Inverse, RationalFunction};
pub use lanczos::{eigen, eigen_memory, eigen_set};
pub(crate) use monitor::PartsMonitor;
pub use monitor::{no_monitor, Monitor, Progress};
pub use mr::MinimalResidual;
pub use multishift::{multishift, Shift, ShiftReport};
pub use params::{IterationSums, SolverKind, SolverParams, MAX_DIRECTIONS};
pub(crate) use range::{Fields, InRange};
pub use rational::Rational;
pub use rational_sum::{rational_sum, RationalParams, RationalReport};
pub use report::{largest, SolverReport};
pub use ritz::{ritz, RitzParams};
pub use slice_modes::{slice_modes, slice_modes_memory};
pub use stop::{Criterion, Stop, StoppedBy};
pub use sumr::sumr;

use crate::backend::Device;
use crate::bail;
use crate::error::{Error, Result, Status};
use crate::fields::{blas, Precision, VectorField};
use crate::linop::{LinOp, SchurSource};
use crate::refuse;
use mixed_precision::MixedPrecision;

/// A linear system: an operator, and cheaper operators that approximate it or its inverse.
#[derive(Clone)]
pub struct System {
    pub precise: Arc<dyn LinOp>,
    /// The operator `precise` in lower precision or other storage, for the iteration; None: the iteration uses
    /// `precise`.
    pub sloppy: Option<Arc<dyn LinOp>>,
    /// An approximate inverse for CG, BiCGStab, both forms of GCR and MR, in the precision of the iteration; it may
    /// change from one application to the next. For CG it must be positive.
    pub preconditioner: Option<Arc<dyn LinOp>>,
    /// Norms to which residuals are relative, one per right-hand side; None: |b|. A system that replaces another one
    /// has the |b| of the other one here.
    pub scale: Option<Vec<f64>>,
    pub patience: Patience,
}

/// Limits for giving up a solve. A residual that has not fallen by `factor` in `iterations` iterations is recomputed.
/// If it has still not fallen in five times as many, or in half of the allowed iterations if that is more, the solve
/// ends.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub iterations: usize,
    pub factor: f64,
}

impl Patience {
    /// Patience with solvers whose iterations cost little, such as CG.
    pub const LONG: Patience = Patience { iterations: 200, factor: 0.99 };
}

impl System {
    pub fn new(precise: Arc<dyn LinOp>) -> Self {
        System {
            precise,
            sloppy: None,
            preconditioner: None,
            scale: None,
            patience: Patience::LONG,
        }
    }
    pub fn with_sloppy(precise: Arc<dyn LinOp>, sloppy: Arc<dyn LinOp>) -> Self {
        System { sloppy: Some(sloppy), ..System::new(precise) }
    }

    /// This system on another device with all numbers zero; for rehearsals.
    pub(crate) fn like_on(&self, device: &Device) -> Result<Self> {
        let like = |op: &Arc<dyn LinOp>| op.like_on_device(device);
        Ok(System {
            precise: like(&self.precise)?,
            sloppy: self.sloppy.as_ref().map(like).transpose()?,
            preconditioner: self.preconditioner.as_ref().map(like).transpose()?,
            scale: self.scale.clone(),
            patience: self.patience,
        })
    }

    /// Largest number of bytes of device memory that a solve with these parameters takes for `nrhs` right-hand sides
    /// besides x and b, from a rehearsal of a first solve, which shares no temporary fields with earlier work.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn memory(&self, params: &SolverParams, nrhs: usize) -> Result<u64> {
        let shape = self.precise.shape();
        let device = shape.device.stand_in();
        let (_, taken) = shape.geometry.footprint(
            (&shape.device, &device),
            None,
            || {
                let (x, b) = (shape.on(&device), self.precise.range().on(&device));
                Ok((self.like_on(&device)?, x.field(nrhs)?, b.field(nrhs)?))
            },
            |(system, mut x, b)| {
                // The sums of a rehearsal are made up and may end the solve with an error, which is ignored.
                let _ = solve(&system, params, &mut x, &b, &mut no_monitor);
                Ok(())
            },
        )?;
        Ok(taken)
    }
}

/// Solves M x = b. A solve that has not converged is not an error: the report says so. Every right-hand side stops by
/// itself, and those that BiCGStab cannot solve are solved by CGNR.
///
/// # Errors
/// `BadParameter`; `FieldMismatch`: x, b and the operators do not fit together; `Unsupported`:
/// plain CG on an operator that is not hermitian, a preconditioner of an algorithm that takes none; `NotFinite`: b or
/// the initial guess holds NaN or infinity, x is untouched; `SolverBreakdown`: the operator produces NaN or
/// infinity, or is not positive in CG, x is 0.
pub fn solve(
    system: &System,
    params: &SolverParams,
    x: &mut VectorField,
    b: &VectorField,
    monitor: &mut Monitor,
) -> Result<SolverReport> {
    check(system, params, x, b)?;
    let xs = &mut [x];
    let mut units = InRange::new(xs, b, params.initial_guess)?;
    let mut fields = units.fields();
    let in_units = |s: &Vec<f64>| s.iter().zip(fields.factors).map(|(s, f)| s * f).collect();
    let system = &System { scale: system.scale.as_ref().map(in_units), ..system.clone() };
    let source = Source { b: fields.b, norms: fields.norms, origin: None };
    let done = solve_in_range(system, params, fields.xs[0], source, monitor);
    units.end(done)
}

/// A source b with known norms that are far from overflow and underflow.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub b: &'a VectorField,
    /// |b| of every right-hand side; if b is the source of a Schur complement, that of the whole operator's source.
    /// Residuals are relative to it unless the system has a scale; where it is 0 the solution is 0.
    pub norms: &'a [f64],
    /// The source of the whole operator from which b was made. Residuals in precise arithmetic are then computed
    /// through the other parity, which saves one vector, and the contents of b are unspecified afterwards.
    pub origin: Option<&'a SchurSource<'a>>,
}

/// Like [`solve`], for a source whose norms are known to be in range.
///
/// # Errors
/// Errors of [`solve`]; the solution is unspecified after them.
pub(crate) fn solve_in_range(
    system: &System,
    params: &SolverParams,
    x: &mut VectorField,
    source: Source,
    monitor: &mut Monitor,
) -> Result<SolverReport> {
    check(system, params, x, source.b)?;
    let start = Instant::now();
    let single = match params.kind == SolverKind::BlockGcr {
        true => block_gcr::in_single(system, params)?,
        false => None,
    };
    let (system, params) = single.as_ref().map_or((system, params), |(s, p)| (s, p));
    let inverse = system.preconditioner.as_deref();
    let mut mixed = MixedPrecision::new(system, params, x, source, monitor)?;
    match params.kind {
        SolverKind::Cg => match inverse {
            Some(inverse) => cg::flexible(&mut mixed, inverse)?,
            None => cg::run(&mut mixed, cg::Form::Hermitian)?,
        },
        SolverKind::Cgne => cg::run(&mut mixed, cg::Form::NormalError)?,
        SolverKind::Cgnr => cg::run(&mut mixed, cg::Form::NormalResidual)?,
        SolverKind::BiCgStab => bicgstab::run(&mut mixed, inverse)?,
        SolverKind::Gcr => gcr::run(&mut mixed, inverse)?,
        SolverKind::BlockGcr => block_gcr::run(&mut mixed, inverse)?,
        SolverKind::Mr => mr::run(&mut mixed, inverse)?,
        SolverKind::MultiShift | SolverKind::Auto => unreachable!("refused above"),
    }
    let stagnated = mixed.stagnated().to_vec();
    let mut report = mixed.finish()?;
    if params.kind == SolverKind::BiCgStab && params.fall_back && !stagnated.is_empty() {
        let asked = (system, params, start);
        fall_back(&stagnated, asked, (x, source), &mut report, monitor)?;
    }
    Ok(report)
}

/// Refuses equations, fields and parameters that do not fit together.
fn check(system: &System, params: &SolverParams, x: &VectorField, b: &VectorField) -> Result<()> {
    params.check()?;
    match params.kind {
        SolverKind::Cg if !system.precise.hermitian() => bail!(
            Unsupported,
            "{} needs a hermitian positive operator: use {} or {}, or the normal operator",
            params.kind,
            SolverKind::Cgnr,
            SolverKind::Cgne
        ),
        SolverKind::Auto => {
            bail!(Unsupported, "{} is of solves with quark actions", params.kind)
        }
        SolverKind::MultiShift => {
            bail!(Unsupported, "multishift solves for several shifts at once: it has its own call")
        }
        SolverKind::BlockGcr if !x.can_keep() || x.precision() == Precision::F16 => refuse!(
            Unsupported,
            "x",
            expected(
                "vectors in double or single precision, one after the other in memory, for {}",
                params.kind
            )
        ),
        kind if system.preconditioner.is_some() && !kind.takes_preconditioner() => {
            bail!(
                Unsupported,
                "{kind} takes no preconditioner: {}, {}, {}, {} and {} do",
                SolverKind::Cg,
                SolverKind::BiCgStab,
                SolverKind::Gcr,
                SolverKind::BlockGcr,
                SolverKind::Mr
            )
        }
        _ => {}
    }
    system.precise.range().check(b, "b")?;
    system.precise.shape().check(x, "x")?;
    b.check_like(x, "x")?;
    if let Some(scale) = system.scale.as_ref().filter(|s| s.len() != b.nrhs()) {
        refuse!(InvalidArgument, "scale", expected("{} norms", b.nrhs()), found("{}", scale.len()));
    }
    Ok(())
}

/// If BiCGStab was interrupted early, it is continued unless CGNR reaches this fraction of its residual in as many
/// iterations.
const CGNR_FRACTION: f64 = 0.3;

/// Solves by CGNR for right-hand sides whose residual no longer fell, each with its remaining iterations. If BiCGStab
/// was interrupted early it is continued, unless CGNR is better after as many iterations.
fn fall_back(
    stagnated: &[(usize, usize)],
    (system, params, start): (&System, &SolverParams, Instant),
    (x, source): (&mut VectorField, Source),
    report: &mut SolverReport,
    monitor: &mut Monitor,
) -> Result<()> {
    let Source { b, norms, origin } = source;
    let (n, stop) = (b.nrhs(), params.stop);
    if let Some((i, _)) = stagnated.iter().find(|(i, _)| !report.residual[*i].is_finite()) {
        bail!(SolverBreakdown, "the residual of right-hand side {i} is not finite");
    }
    if let Some(origin) = origin {
        origin.make()?;
    }
    // Solves neighbouring right-hand sides together. If right-hand sides are fastest in memory, all are solved
    // together, where those that have converged take no iteration.
    let mut runs: Vec<(usize, usize)> = vec![];
    for i in (0..n).filter(|i| stagnated.iter().any(|p| p.0 == *i)) {
        match runs.last_mut().filter(|(first, count)| first + *count == i) {
            Some(run) => run.1 += 1,
            None => runs.push((i, 1)),
        }
    }
    if !x.can_keep() {
        runs = vec![(0, n)];
    }
    let mut watched = PartsMonitor::new(monitor, report.residual.clone(), start);
    for (first, count) in runs {
        let columns = first..first + count;
        let used =
            stagnated.iter().filter(|p| columns.contains(&p.0)).map(|p| p.1).max().unwrap_or(0);
        let left = stop.iterations.saturating_sub(used);
        if left == 0 || report.stopped {
            report.stopped_by = report.stopped_by.max(Some(StoppedBy::Iterations));
            continue;
        }
        let scale = system.scale.as_ref().map(|s| s[columns.clone()].to_vec());
        let system = System { scale, ..system.clone() };
        let by = |kind: SolverKind, left: usize| {
            let stop = Stop { iterations: left, ..stop.since(start) };
            SolverParams { kind, initial_guess: true, stop, ..params.clone() }
        };
        let (mut x, b) = (x.columns(first, count)?, b.columns(first, count)?);
        // A solution that BiCGStab has made worse than zero is set to zero.
        let lost = |i: usize| stagnated.iter().any(|p| p.0 == i) && report.residual[i] >= 1.0;
        let keep: Vec<f64> = columns.clone().map(|i| if lost(i) { 0.0 } else { 1.0 }).collect();
        blas::axpby(&blas::uniform(count, 0.0), &b, &blas::complex(&keep), &mut x)?;
        let origin = origin.map(|origin| origin.columns(first, count)).transpose()?;
        let norms = &norms[columns.clone()];
        let source = Source { b: &b, norms, origin: origin.as_ref() };
        let (before, mut worse) = (report.residual[columns.clone()].to_vec(), false);
        let plain = System { preconditioner: None, ..system.clone() };
        let asked = by(SolverKind::Cgnr, left);
        let mut part = {
            let mut notify = watched.of(columns.clone(), report.iterations);
            let mut compared = |p: &Progress| {
                if notify(p).is_break() {
                    return ControlFlow::Break(());
                }
                let better = |(now, before): (&f64, &f64)| *now <= CGNR_FRACTION * before.min(1.0);
                worse = !params.patient
                    && used < left
                    && p.iteration == used
                    && !p.residual.iter().zip(&before).all(better);
                match worse {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            solve_in_range(&plain, &asked, &mut x, source, &mut compared)?
        };
        part.fallback = Some(SolverKind::Cgnr);
        if worse && left > part.iterations {
            (part.stopped, part.stopped_by, part.fallback) = (false, None, None);
            if let Some(origin) = &origin {
                origin.make()?;
            }
            let mut notify = watched.of(columns.clone(), report.iterations + part.iterations);
            let asked = by(SolverKind::BiCgStab, left - part.iterations);
            let asked = SolverParams { patient: true, ..asked };
            let more = solve_in_range(&system, &asked, &mut x, source, &mut notify)?;
            part = part.followed_by(more);
        }
        let (mut residual, mut residual_hq) =
            (std::mem::take(&mut report.residual), std::mem::take(&mut report.residual_hq));
        residual[columns.clone()].copy_from_slice(&part.residual);
        residual_hq[columns].copy_from_slice(&part.residual_hq);
        let iterations = report.iterations.max(used + part.iterations);
        *report = std::mem::take(report).followed_by(part);
        report.iterations = iterations;
        (report.residual, report.residual_hq) = (residual, residual_hq);
    }
    report.converged = stop.met(&report.residual, &report.residual_hq);
    if report.converged {
        report.stopped_by = Some(stop.last_goal(&report.residual, &report.residual_hq));
    }
    report.standstill = report.stopped_by == Some(StoppedBy::Standstill);
    Ok(())
}

/// Refuses norms that are not finite.
pub(crate) fn check_finite(norms: &[f64], name: &str) -> Result<()> {
    match norms.iter().position(|n| !n.is_finite()) {
        Some(i) => Err(Error::new(
            Status::NotFinite,
            format!("{name}: right-hand side {i} holds NaN or infinity, or its norm overflows"),
        )),
        None => Ok(()),
    }
}

/// Size of a sum of products, relative to the norms of its factors, below which it is only rounding error.
fn noise(precision: Precision) -> f64 {
    0.01 * precision.epsilon()
}
