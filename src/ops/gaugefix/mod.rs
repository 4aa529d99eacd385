//! Gauge fixing: Landau, Coulomb and maximally Abelian gauge for SU(3) and SU(2) by relaxation,
//! overrelaxation, stochastic relaxation and simulated annealing (Schroeck and Vogt, Comput. Phys.
//! Commun. 184 (2013) 1907), and by Fourier-accelerated descents. The links are only read: sweeps
//! change the transformation g(x), which moves fewer bytes than changing the links, and rounding
//! cannot grow in them.
//!
//! ```
//! use plaq_core::backend::Device;
//! use plaq_core::fields::{GaugeField, Geometry, Precision, Recon};
//! use plaq_core::ops::gaugefix::{fix_gauge, Condition, GaugeFixParams};
//!
//! let device = Device::cpu(1)?;
//! let geometry = Geometry::new([4, 4, 4, 8], &device)?;
//! let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18)?;
//! links.set_near_unit(1, 0.3)?;
//! let params = GaugeFixParams::new(Condition::Landau);
//! let fixed = fix_gauge(&links, &params, &mut |progress| progress.sweeps > 10_000)?;
//! let found = fixed.report.best.total;
//! assert!(found.converged && found.theta <= params.stop.theta);
//! # Ok::<(), plaq_core::error::Error>(())
//! ```

mod axial;
mod descent;
mod params;
mod quality;
mod report;
mod sweeper;
#[cfg(test)]
mod tests;
mod updater;

use std::time::Instant;

use axial::Axial;
pub use params::{
    plaq_gaugefix_params, Algorithm, Condition, GaugeFixParams, GaugeFixing, GaugeKind, Method,
    Schedule, Stop, Working,
};
pub use quality::Quality;
pub use report::{plaq_gaugefix_report, plaq_gaugefix_state};
pub use report::{CopyReport, Fixed, GaugeFixReport, GaugeFixTotals, Progress};
pub use sweeper::sweep_storage;
use sweeper::{Functional, Step, Sweeper};
use updater::{Update, Updater};

use super::observables::unitarity;
use crate::backend::args;
use crate::bail;
use crate::error::{significant, Result};
use crate::fields::{BoundaryTime, GaugeField, Precision, Transformation};
use crate::params::Key;
use crate::refuse;

/// Number of checks without a new lowest violation after which single precision has reached its limit.
const PATIENCE: usize = 20;
/// Number of iterations after which a fixing launches only kernels that it has launched before.
const DIFFERENT: usize = 4;
/// Violation above which single precision is not given up: near a saddle point theta increases for a while.
const STANDSTILL_THETA: f64 = 1e-9;

/// Callback of a gauge fixing, called at every check on all ranks; a true on any of them ends the fixing on all at
/// once (`Comm::stop`).
pub type Callback<'a> = dyn FnMut(&Progress) -> bool + 'a;

/// A gauge-fixed field: links in the storage of the given ones, and the transformation that produced them, in double
/// precision.
#[derive(Debug)]
pub struct GaugeFixed {
    pub gauge: GaugeField,
    pub transformation: Transformation,
    pub report: GaugeFixReport,
}

/// Fixes the gauge of a field and returns the result; the field itself is not changed. Results do not depend on the
/// number of threads or on the decomposition into ranks, except for rounding.
///
/// # Errors
/// `BadParameter`, `Unsupported`: a parameter; `NotFinite`, `NotUnitary`: a link is broken;
/// `OutOfMemory`: what is needed will not fit, nothing is allocated.
pub fn fix_gauge(
    gauge: &GaugeField,
    params: &GaugeFixParams,
    callback: &mut Callback,
) -> Result<GaugeFixed> {
    let start = Instant::now();
    params.check(gauge)?;
    check_boundary(gauge.geometry().boundary(), params.condition)?;
    if let (Condition::Coulomb { time }, Some(turning)) =
        (params.condition, gauge.geometry().turning())
    {
        if time == turning {
            let fixed = fix_gauge(&gauge.unturned()?, params, callback)?;
            return Ok(GaugeFixed {
                gauge: fixed.gauge.ordered_like(gauge)?,
                transformation: fixed.transformation.ordered_like(gauge)?,
                ..fixed
            });
        }
    }
    let params = &params.chosen(gauge);
    let fits = params.memory(gauge);
    let fits = fits.and_then(|bytes| gauge.device().require(bytes, "this gauge fixing"));
    gauge.geometry().comm().agree(fits)?;
    rehearse(gauge, params);
    check_links(gauge, params.links_tolerance)?;
    let mut run = Run::new(gauge, params, callback)?;
    let (mut copies, mut best): (Vec<CopyReport>, Option<Best>) = (vec![], None);
    for copy in 0..params.copies {
        let begun = Instant::now();
        let (g, mut report) = run.copy(copy)?;
        report.total.seconds = begun.elapsed().as_secs_f64();
        Best::take(&mut best, params.condition, copy, g, &report)?;
        copies.push(report);
        if run.state.stopped {
            break;
        }
    }
    let Some(best) = best else { bail!(Internal, "gauge fixing: no copy") };
    let report = GaugeFixReport {
        method: params.method.algorithm(),
        copies,
        best: best.report,
        best_copy: best.copy,
        seconds: start.elapsed().as_secs_f64(),
        stopped: run.state.stopped,
        stop_theta: params.stop.theta,
    };
    // Frees the fields of the sweeps before links are allocated.
    drop(run);
    Ok(GaugeFixed { gauge: best.g.apply(gauge)?, transformation: best.g, report })
}

/// Compiles the kernels of a first fixing in parallel. Not on several ranks, where kernels count the messages of other
/// ranks and wait for them.
fn rehearse(gauge: &GaugeField, params: &GaugeFixParams) {
    let geometry = gauge.geometry();
    if geometry.comm().size() > 1 {
        return;
    }
    let few = params.few();
    let place = (geometry.extents(), gauge.precision(), gauge.recon());
    let key = Key::of(("gauge fixing", place, GaugeFixParams { seed: 0, ..few }));
    geometry.precompile(gauge.device(), None, false, key, |device| {
        run_through(&gauge.like_on(device)?, params);
        Ok(())
    });
}

/// Runs, in a rehearsal, everything that a fixing launches. Errors are ignored: a rehearsal computes nothing, and its
/// sums are arbitrary.
pub fn run_through(gauge: &GaugeField, params: &GaugeFixParams) {
    let few = &params.chosen(gauge).few();
    let _ = unitarity(gauge);
    let fix = || {
        let mut nobody = |_: &Progress| false;
        let mut run = Run::new(gauge, few, &mut nobody)?;
        let mut best = None;
        for copy in 0..few.copies {
            let (g, report) = run.copy(copy)?;
            Best::take(&mut best, few.condition, copy, g, &report)?;
        }
        drop(run);
        best.map_or(Ok(()), |best: Best| best.g.apply(gauge).map(|_| ()))
    };
    let _: Result<()> = fix();
}

impl GaugeFixParams {
    /// Largest number of bytes of device memory that `fix_gauge` takes on this rank, besides the given links, found
    /// by a rehearsal. For cuFFT's work area the size of the transformed data is assumed.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn memory(&self, gauge: &GaugeField) -> Result<u64> {
        let device = gauge.device().stand_in();
        let (_, taken) = gauge.geometry().footprint(
            (gauge.device(), &device),
            None,
            || gauge.like_on(&device),
            |gauge| {
                run_through(&gauge, self);
                Ok(())
            },
        )?;
        Ok(taken)
    }
}

/// Refuses conditions that are not defined with these boundaries in time: between open ones Coulomb gauge fixes time
/// slices, each by itself.
fn check_boundary(boundary: BoundaryTime, condition: Condition) -> Result<()> {
    match (boundary, condition) {
        (BoundaryTime::Periodic, _) | (BoundaryTime::Open, Condition::Coulomb { time: 3 }) => {
            Ok(())
        }
        _ => refuse!(
            Unsupported,
            "gauge fixing",
            expected(
                "links that are periodic in time, or Coulomb gauge on links with open boundaries"
            ),
            found("{boundary}")
        ),
    }
}

/// Refuses links that are not finite, or that deviate from the group by more than `asked` (0: a default for the
/// precision).
fn check_links(gauge: &GaugeField, asked: f64) -> Result<()> {
    let tolerance = match gauge.precision() {
        _ if asked > 0.0 => asked,
        Precision::F64 => 1e-8,
        _ => 1e-4,
    };
    let found = unitarity(gauge)?;
    let (site, mu) = (found.site, found.direction);
    if !found.worst().is_finite() {
        bail!(NotFinite, "gauge fixing: link {mu} at {site:?} is not finite");
    }
    if found.worst() > tolerance {
        bail!(
            NotUnitary,
            "gauge fixing: link {mu} at {site:?} is off the group by {}, allowed {}",
            significant(found.worst(), 2),
            significant(tolerance, 6)
        );
    }
    Ok(())
}

/// The best copy so far, which the fixing returns; in Coulomb gauge the best copy of each slice.
struct Best {
    copy: usize,
    /// The result of the single best copy as a whole.
    total: Fixed,
    g: Transformation,
    report: CopyReport,
}

impl Best {
    fn take(
        best: &mut Option<Best>,
        condition: Condition,
        copy: usize,
        g: Transformation,
        report: &CopyReport,
    ) -> Result<()> {
        let time = match condition {
            Condition::Coulomb { time } => Some(time),
            _ => None,
        };
        let Some(old) = best else {
            let (total, report) = (report.total, report.clone());
            *best = Some(Best { copy, total, g, report });
            return Ok(());
        };
        let better = |new: &Fixed, old: &Fixed| {
            (new.converged, new.functional) > (old.converged, old.functional)
        };
        let all_better = better(&report.total, &old.total);
        if all_better {
            (old.copy, old.total) = (copy, report.total);
        }
        let Some(time) = time else {
            if all_better {
                (old.g, old.report) = (g, report.clone());
            }
            return Ok(());
        };
        let slices = report.slices.iter().zip(&mut old.report.slices);
        let taken: Vec<bool> = slices
            .map(|(new, old)| {
                let take = better(new, old);
                if take {
                    *old = *new;
                }
                take
            })
            .collect();
        old.report.total =
            Fixed { seconds: old.report.total.seconds, ..average(&old.report.slices) };
        old.g.copy_from_slices(&g, time, &taken)
    }
}

fn average(slices: &[Fixed]) -> Fixed {
    let qualities: Vec<Quality> = slices.iter().map(Fixed::quality).collect();
    let mut all = Fixed {
        iterations: slices.iter().map(|s| s.iterations).max().unwrap_or(0),
        converged: slices.iter().all(|s| s.converged),
        ..Fixed::default()
    };
    all.set_quality(mean(qualities.iter()));
    all
}

/// A copy that is being fixed: its place in the sequence of random numbers, the number of sweeps, and the callback.
struct CopyState<'a, 'b> {
    params: &'a GaugeFixParams,
    callback: &'a mut Callback<'b>,
    stopped: bool,
    copy: usize,
    seed: u64,
    sweeps: usize,
}

impl CopyState<'_, '_> {
    fn update(&mut self, updater: &mut Updater, update: Update) -> Result<()> {
        let number = self.number();
        updater.update(update, self.seed, number)
    }

    /// The number of the next sweep, by which its random numbers are chosen.
    fn number(&mut self) -> usize {
        self.sweeps += 1;
        self.sweeps - 1
    }

    /// Calls the callback with the state of the fixing and records whether it asks to stop.
    fn report_progress(&mut self, slices: &[Quality], temperature: Option<f64>) {
        let (copy, sweeps, quality) = (self.copy, self.sweeps, mean(slices.iter()));
        self.stopped |= (self.callback)(&Progress { copy, sweeps, quality, temperature });
    }

    fn anneal(&mut self, updater: &mut Updater, schedule: &Schedule) -> Result<()> {
        for step in 0..schedule.steps {
            let temperature = schedule.temperature(step);
            self.update(updater, Update::Sweep(Step::Heat { beta: 1.0 / temperature }))?;
            for _ in 0..schedule.microcanonical {
                self.update(updater, Update::Sweep(Step::Microcanonical))?;
            }
            if (step + 1) % self.params.check_every == 0 {
                let even = updater.poll()?;
                self.report_progress(&even, Some(temperature));
                if self.stopped {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Makes sweeps until every slice meets `stop` or is given up; in single precision a slice is also given up after
    /// `PATIENCE` checks without a new lowest violation. Rounding of links and sums in the updater may hide a
    /// violation, so that the updater `judge`, in double precision, decides and provides the final g.
    fn converge(
        &mut self,
        updater: &mut Updater,
        mut judge: Option<&mut Updater>,
        method: Method,
        stop: Stop,
        slices: &mut [Fixed],
    ) -> Result<()> {
        let params = self.params;
        // Slices that sweeps still change, and the functional of each at the last check.
        let mut active = vec![true; slices.len()];
        let mut before = vec![f64::NEG_INFINITY; slices.len()];
        let (mut lowest, mut stale, mut sweeps, mut steps) = (f64::INFINITY, 0, 0, 0);
        slices.iter_mut().for_each(|s| s.converged = false);
        // The quality on the sites of one parity, measured in the last half of a sweep. It usually shows already that a
        // slice has not converged, so that the whole lattice need not be measured. It is not used if the increase of
        // the functional has to be known exactly, nor for steps of a descent, which measure all sites.
        let mut seen = updater.poll()?;
        let falling = updater.sweeper.g.device().falling(stop.fall(), DIFFERENT);
        let exactly = stop.change > 0.0 || method.descends();
        loop {
            let late = sweeps > 0 && !exactly;
            let theta = mean(seen.iter()).theta;
            stale = if theta < lowest || theta > STANDSTILL_THETA { 0 } else { stale + 1 };
            lowest = lowest.min(theta);
            let all = |updater: &mut Updater| {
                let even = if late { updater.poll()? } else { seen.clone() };
                updater.quality(&even)
            };
            let rise = |c: usize| (seen[c].functional - before[c]).abs() / sweeps as f64;
            let exhausted = |c: usize| active[c] && slices[c].iterations >= params.max_iterations;
            let to_check =
                |c: usize| exhausted(c) || (active[c] && stop.may_be_met(&seen[c], rise(c), late));
            let mut now = match (0..slices.len()).any(to_check) {
                true => Some(all(updater)?),
                false => None,
            };
            let known = slices.iter().zip(now.as_ref().unwrap_or(&seen)).zip(&active);
            let known: Vec<Quality> =
                known.map(|((slice, now), &on)| if on { *now } else { slice.quality() }).collect();
            // Steps of a descent are checked one by one; the callback is called as often as for sweeps.
            if steps % params.check_every == 0 || !method.descends() {
                self.report_progress(&known, None);
            }
            let single = updater.sweeper.g.precision() == Precision::F32;
            let ends = self.stopped || (single && stale >= PATIENCE);
            if ends && now.is_none() {
                now = Some(all(updater)?);
            }
            if let Some(mut now) = now {
                let done = |c: usize| exhausted(c) || (active[c] && stop.met(&now[c], rise(c)));
                let asked = ends || (0..slices.len()).any(done);
                if let Some(judge) = judge.as_deref_mut().filter(|_| asked) {
                    judge.restart(updater.sweeper.g.to(judge.sweeper.g.precision())?)?;
                    let even = judge.poll()?;
                    now = judge.quality(&even)?;
                }
                for (c, slice) in slices.iter_mut().enumerate().filter(|(c, _)| active[*c]) {
                    slice.set_quality(now[c]);
                    slice.converged = stop.met(&now[c], rise(c));
                }
            }
            before = seen.iter().map(|q| q.functional).collect();
            let open = |s: &Fixed| !s.converged && s.iterations < params.max_iterations;
            let left: Vec<bool> = slices.iter().map(open).collect();
            if ends || !left.contains(&true) {
                if method.descends() && steps % params.check_every != 0 {
                    let last: Vec<Quality> = slices.iter().map(Fixed::quality).collect();
                    self.report_progress(&last, None);
                }
                return Ok(());
            }
            if left != active {
                updater.sweeper.activate(&left)?;
                active = left;
            }
            let left = slices.iter().zip(&active).filter(|(_, &on)| on);
            let left = left.map(|(s, _)| params.max_iterations - s.iterations).min().unwrap_or(0);
            sweeps = if method.descends() { 1 } else { params.check_every.min(left) };
            steps += sweeps;
            falling.after(steps);
            for n in 0..sweeps {
                let done = slices.iter().map(|s| s.iterations).max().unwrap_or(0);
                let step = match method {
                    Method::StochasticRelaxation { probability } => {
                        Step::Stochastic { probability }
                    }
                    Method::Combined { probability, sweeps, .. } if done < sweeps => {
                        Step::Stochastic { probability }
                    }
                    _ => Step::Overrelax { omega: params.omega },
                };
                let update = match method {
                    Method::FourierDescent { alpha } => Update::Descend { alpha, conjugate: false },
                    Method::FourierCg { alpha } => Update::Descend { alpha, conjugate: true },
                    _ => Update::Sweep(step),
                };
                if n + 1 == sweeps && !exactly {
                    seen = updater.sweeper.sweep_seen(step, self.seed, self.number())?;
                } else {
                    self.update(updater, update)?;
                }
                for (slice, _) in slices.iter_mut().zip(&active).filter(|(_, &on)| on) {
                    slice.iterations += 1;
                }
            }
            if exactly {
                seen = updater.poll()?;
            }
        }
    }
}

struct Run<'a, 'b> {
    state: CopyState<'a, 'b>,
    /// The axial gauge to which the links of both updaters were transformed.
    axial: Axial,
    /// The updater in single precision; `None` for sweeps in double.
    single: Option<Updater>,
    double: Updater,
}

impl<'a, 'b> Run<'a, 'b> {
    fn new(
        gauge: &GaugeField,
        params: &'a GaugeFixParams,
        callback: &'a mut Callback<'b>,
    ) -> Result<Self> {
        let functional = functional(params.condition);
        let (axial, links) = Axial::new(gauge, functional)?;
        let updater = |precision| -> Result<Updater> {
            let (device, geometry) = (gauge.device(), gauge.geometry());
            let g = Transformation::unit(device, geometry, precision, gauge.group())?;
            Ok(Updater::new(Sweeper::new(&links, axial.mask(), g, functional)?))
        };
        let single = match params.precision {
            Working::Double => None,
            Working::Single | Working::Mixed => Some(updater(Precision::F32)?),
        };
        let state = CopyState { params, callback, stopped: false, copy: 0, seed: 0, sweeps: 0 };
        let double = updater(Precision::F64)?;
        Ok(Run { state, axial, single, double })
    }

    /// Fixes copy number `copy`; returns the transformation in double precision.
    fn copy(&mut self, copy: usize) -> Result<(Transformation, CopyReport)> {
        let params = self.state.params;
        // Different copies have independent streams of random numbers.
        let seed = params.seed.wrapping_add((copy as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (self.state.copy, self.state.seed, self.state.sweeps) = (copy, seed, 0);
        let main = functional(params.condition);
        let first = self.single.as_mut().unwrap_or(&mut self.double);
        let start = if copy == 0 && !params.random_start {
            first.sweeper.g.unit_like()?
        } else {
            first.sweeper.g.random_like(params.seed, copy as u32)?
        };
        first.restart(self.axial.enter(start)?)?;
        first.set_functional(main)?;
        if let Method::Annealing(schedule) | Method::Combined { schedule, .. } = params.method {
            self.state.anneal(first, &schedule)?;
        }
        let slices = self.converge(main, params.method, params.precision)?;
        let mut report = CopyReport { total: average(&slices), ..Default::default() };
        if main.without.is_some() {
            report.slices = slices;
        }
        if params.condition == (Condition::MaximallyAbelian { residual: true }) {
            let phases = Functional { kind: args::GAUGE_PHASES, without: None };
            // In single precision the rounding of g would undo the maximally Abelian gauge that was reached before.
            let slices = self.converge(phases, Method::Overrelaxation, Working::Double)?;
            report.residual = Some(slices[0]);
        }
        Ok((self.axial.back(self.double.sweeper.g.to(Precision::F64)?)?, report))
    }

    /// Converges in single precision, where the parameters allow it, and then in double precision. Result and report
    /// are those in double.
    fn converge(
        &mut self,
        functional: Functional,
        method: Method,
        precision: Working,
    ) -> Result<Vec<Fixed>> {
        let (state, double) = (&mut self.state, &mut self.double);
        let stop = state.params.stop;
        double.set_functional(functional)?;
        let mut slices = vec![Fixed::default(); double.sweeper.slices()];
        if let Some(single) = self.single.as_mut().filter(|_| precision != Working::Double) {
            single.set_functional(functional)?;
            if precision == Working::Single {
                state.converge(single, Some(double), method, stop, &mut slices)?;
                return Ok(slices);
            }
            state.converge(single, None, method, stop.in_single(), &mut slices)?;
            double.restart(single.sweeper.g.to(Precision::F64)?)?;
        }
        state.converge(double, None, method, stop, &mut slices)?;
        Ok(slices)
    }
}

/// The violation theta of the gauge condition by the links as they are, Eq. (7), averaged over slices; 0 in the gauge.
///
/// # Errors
/// `Unsupported`: links in half precision; `OutOfMemory`.
pub fn violation(gauge: &GaugeField, condition: Condition) -> Result<f64> {
    GaugeFixParams::new(condition).check(gauge)?;
    let (device, geometry) = (gauge.device(), gauge.geometry());
    if let (Condition::Coulomb { time }, Some(turning)) = (condition, geometry.turning()) {
        if time == turning {
            return violation(&gauge.unturned()?, condition);
        }
    }
    let g = Transformation::unit(device, geometry, Precision::F64, gauge.group())?;
    let mut sweeper = Sweeper::new(gauge, 0, g, functional(condition))?;
    let even = sweeper.poll()?;
    Ok(mean(sweeper.quality(&even)?.iter()).theta)
}

fn functional(condition: Condition) -> Functional {
    match condition {
        Condition::Landau => Functional { kind: args::GAUGE_TRACE, without: None },
        Condition::Coulomb { time } => Functional { kind: args::GAUGE_TRACE, without: Some(time) },
        Condition::MaximallyAbelian { .. } => {
            Functional { kind: args::GAUGE_ABELIAN, without: None }
        }
    }
}

/// Averages over slices, and the largest of their theta_max.
fn mean<'a>(slices: impl ExactSizeIterator<Item = &'a Quality>) -> Quality {
    let n = slices.len() as f64;
    slices.fold(Quality::default(), |all, q| Quality {
        functional: all.functional + q.functional / n,
        theta: all.theta + q.theta / n,
        theta_max: all.theta_max.max(q.theta_max),
    })
}
