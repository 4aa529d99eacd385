//! When a solve ends. Criteria combine: goals, all of which every right-hand side must meet, and
//! limits, of which the first one ends the solve for all.

use std::time::Instant;

use super::{Monitor, Progress};
use crate::backend::{Device, Falling};
use crate::bail;
use crate::comm::{Clock, Comm};
use crate::error::{words, Result};
use crate::params::{choices, hash_members};
use crate::refuse;

/// A goal for right-hand sides, or a limit of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// Goal: |b - M x| / |b| is at most this.
    Residual(f64),
    /// Goal: the heavy-quark residual (`blas::heavy_quark_residual`) is at most this.
    HeavyQuark(f64),
    /// Limit: the largest number of iterations.
    Iterations(usize),
    /// Limit: the largest number of seconds since the start, by the clock of the rank that reaches it first.
    Seconds(f64),
}

/// The criterion that ended a solve. Of a solve in two parts it is the greater of the two, in the order of the
/// variants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoppedBy {
    /// Every right-hand side met its goals, that for the residual last.
    Residual,
    /// Every right-hand side met its goals, that for the heavy-quark residual last.
    HeavyQuark,
    /// Recomputed residuals no longer fell.
    Standstill,
    Iterations,
    Seconds,
    /// The monitor asked to stop.
    Callback,
}

words!(StoppedBy {
    Residual => "PLAQ_STOPPED_BY_RESIDUAL",
    HeavyQuark => "PLAQ_STOPPED_BY_HEAVY_QUARK",
    Standstill => "PLAQ_STOPPED_BY_STANDSTILL",
    Iterations => "PLAQ_STOPPED_BY_ITERATIONS",
    Seconds => "PLAQ_STOPPED_BY_TIME",
    Callback => "PLAQ_STOPPED_BY_CALLBACK",
});

choices! {
    /// Causes of the end of a solve: the goals that all right-hand sides met, else the first limit. Of several
    /// solves in one call the greatest.
    names StoppedBy: plaq_stopped_by {
        /// The goals were met, `tol` last.
        Residual = 0, PLAQ_STOPPED_BY_RESIDUAL, "residual";
        /// The goals were met, `tol_hq` last.
        HeavyQuark = 1, PLAQ_STOPPED_BY_HEAVY_QUARK, "heavy_quark";
        /// Recomputed residuals no longer fell.
        Standstill = 2, PLAQ_STOPPED_BY_STANDSTILL, "standstill";
        /// The limit `max_iterations`.
        Iterations = 3, PLAQ_STOPPED_BY_ITERATIONS, "iterations";
        /// The limit `max_seconds`.
        Seconds = 4, PLAQ_STOPPED_BY_TIME, "time";
        /// The callback asked to stop.
        Callback = 5, PLAQ_STOPPED_BY_CALLBACK, "callback";
    }
}

impl StoppedBy {
    /// Whether this criterion is a goal that was met, not a limit that was reached.
    pub fn is_goal(self) -> bool {
        matches!(self, StoppedBy::Residual | StoppedBy::HeavyQuark)
    }
}

/// When a solve ends: goals, all of which every right-hand side must meet, and limits, of which the first one
/// counts; beside them the monitor may end it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Goal: largest |b - M x| / |b|; 0: not asked for.
    pub residual: f64,
    /// Goal: largest heavy-quark residual (`blas::heavy_quark_residual`); 0: not asked for.
    pub heavy_quark: f64,
    /// Goal of solves of Dirac operators: largest |b - M x| at a site, divided by the largest |b| at a site; 0: not
    /// asked for. It is tested once the other goals are met, which are then made sharper until this one is met, too.
    pub site: f64,
    /// Limit: largest number of iterations.
    pub iterations: usize,
    /// Limit: largest number of seconds; infinite: no limit. All ranks stop after the same iteration.
    pub seconds: f64,
}

hash_members!(Stop { iterations; residual, heavy_quark, site, seconds });

impl Default for Stop {
    fn default() -> Self {
        Stop {
            residual: 1e-10,
            heavy_quark: 0.0,
            site: 0.0,
            iterations: 10_000,
            seconds: f64::INFINITY,
        }
    }
}

impl Stop {
    /// Criteria that end a solve at this relative residual, or after ten thousand iterations.
    pub fn at(residual: f64) -> Self {
        Stop { residual, ..Stop::default() }
    }
    /// Criteria that never end a solve by themselves.
    pub fn new() -> Self {
        Stop {
            residual: 0.0,
            heavy_quark: 0.0,
            site: 0.0,
            iterations: usize::MAX,
            seconds: f64::INFINITY,
        }
    }
    /// A limit of time alone; infinite: none.
    ///
    /// # Errors
    /// `BadParameter`: less than 0 or NaN.
    pub fn within(seconds: f64) -> Result<Self> {
        check_seconds(seconds)?;
        Ok(Stop { seconds, ..Stop::new() })
    }
    /// Adds a criterion. Of goals of one kind the sharpest counts, of limits the smallest.
    pub fn and(mut self, criterion: Criterion) -> Self {
        let sharper = |old: f64, new: f64| if old > 0.0 { old.min(new) } else { new };
        match criterion {
            Criterion::Residual(tol) => self.residual = sharper(self.residual, tol),
            Criterion::HeavyQuark(tol) => self.heavy_quark = sharper(self.heavy_quark, tol),
            Criterion::Iterations(max) => self.iterations = self.iterations.min(max),
            Criterion::Seconds(max) => self.seconds = self.seconds.min(max),
        }
        self
    }
    /// Refuses values that are no goal or no limit, and a solve without a goal.
    pub fn check(&self) -> Result<()> {
        let all = [("tol", self.residual), ("tol_hq", self.heavy_quark), ("tol_site", self.site)];
        for (name, tol) in all {
            if !(0.0..1.0).contains(&tol) {
                refuse!(BadParameter, "{name}", expected("a number from 0 to 1"), found("{tol}"));
            }
        }
        if self.residual == 0.0 && self.heavy_quark == 0.0 {
            bail!(BadParameter, "tol and tol_hq are both 0: nothing says when to stop, as tol_site is looked at besides one of them");
        }
        check_seconds(self.seconds)
    }

    /// These criteria for a part of a solve that began at `start`; the limit of time is what is left of it.
    pub fn since(self, start: Instant) -> Stop {
        Stop { seconds: (self.seconds - start.elapsed().as_secs_f64()).max(0.0), ..self }
    }

    /// The smallest tolerance of a goal: the factor by which residuals fall until they meet every goal.
    pub(crate) fn fall(&self) -> f64 {
        let goals = [self.residual(), self.heavy_quark()].into_iter().flatten();
        goals.reduce(f64::min).unwrap_or(DEFAULT_FALL)
    }

    fn goal(tol: f64) -> Option<f64> {
        (tol > 0.0).then_some(tol)
    }
    pub fn residual(&self) -> Option<f64> {
        Self::goal(self.residual)
    }
    pub fn heavy_quark(&self) -> Option<f64> {
        Self::goal(self.heavy_quark)
    }
    pub fn seconds(&self) -> Option<f64> {
        (self.seconds < f64::INFINITY).then_some(self.seconds)
    }
    /// Whether `iterations` iterations reach the limit, if there is one.
    pub fn at_limit(&self, iterations: usize) -> bool {
        iterations >= self.iterations && self.iterations < usize::MAX
    }

    /// The factor by which a relative residual must still fall until its right-hand side meets every goal, from its
    /// residual and heavy-quark residual; 1: it meets them.
    pub fn lag(&self, residual: f64, heavy_quark: f64) -> f64 {
        let mut factor = 1.0f64;
        if let Some(tol) = self.residual().filter(|tol| residual > *tol) {
            factor = factor.min(tol / residual);
        }
        if let Some(tol) = self.heavy_quark().filter(|tol| heavy_quark > *tol) {
            // The heavy-quark residual does not exactly follow the residual of the iteration.
            factor = factor.min(0.7 * tol / heavy_quark);
        }
        factor
    }

    /// Whether the residuals of all right-hand sides meet every goal.
    pub fn met(&self, residual: &[f64], heavy_quark: &[f64]) -> bool {
        let all = |values: &[f64], tol: Option<f64>| {
            tol.is_none_or(|tol| values.iter().all(|&v| v <= tol))
        };
        all(residual, self.residual()) && all(heavy_quark, self.heavy_quark())
    }

    /// Whether the largest residuals at a site, `largest` of each right-hand side, meet their goal.
    pub fn site_met(&self, largest: &[f64]) -> bool {
        self.site == 0.0 || largest.iter().all(|&v| v <= self.site)
    }

    /// The goal that was met last: the one whose value is the larger fraction of its tolerance.
    pub fn last_goal(&self, residual: &[f64], heavy_quark: &[f64]) -> StoppedBy {
        let share = |values: &[f64], tol: Option<f64>| {
            tol.map(|tol| values.iter().fold(0.0f64, |m, v| m.max(v / tol)))
        };
        match (share(residual, self.residual()), share(heavy_quark, self.heavy_quark())) {
            (Some(l2), Some(hq)) if hq > l2 => StoppedBy::HeavyQuark,
            (None, Some(_)) => StoppedBy::HeavyQuark,
            _ => StoppedBy::Residual,
        }
    }
}

/// Refuses a limit of time that is not a number of seconds.
pub fn check_seconds(max_seconds: f64) -> Result<()> {
    if max_seconds.is_nan() || max_seconds < 0.0 {
        refuse!(BadParameter, "max_seconds", expected("0 or more"), found("{max_seconds}"));
    }
    Ok(())
}

/// A limit of time that the parts of a job share, by the clock of this rank.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    start: Instant,
    max_seconds: f64,
}

impl Limit {
    /// A limit whose time begins now; `max_seconds` may be infinite.
    pub fn new(max_seconds: f64) -> Result<Self> {
        check_seconds(max_seconds)?;
        Ok(Limit { start: Instant::now(), max_seconds })
    }
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
    /// Seconds that remain for the next part, 0 after the limit has passed; infinite if there is no limit.
    pub fn left(&self) -> f64 {
        (self.max_seconds - self.seconds()).max(0.0)
    }
}

/// Checks after every iteration the criteria, the monitor and the clock, with the same answer on all ranks.
pub(super) struct Watch<'a, 'm> {
    pub stop: Stop,
    monitor: &'a mut Monitor<'m>,
    comm: &'a Comm,
    start: Instant,
    /// The clock of a limit of time.
    clock: Option<Clock>,
    ended: Option<StoppedBy>,
    falling: Falling,
    /// The last iteration and the relative residuals of all right-hand sides in it, as the monitor got them.
    latest: (usize, Vec<f64>),
    schedule: CheckSchedule,
}

/// The schedule by which `Watch::continues` calls the monitor and reads the clock: with one rank after a time, with
/// several after a number of applications of the operator, which is the same on all ranks.
struct CheckSchedule {
    /// Number of applications of the operator to a vector since the last check.
    since: f64,
    /// Number of applications from one check to the next.
    every: f64,
    last: Instant,
}

/// Seconds between two checks within an iteration.
const CHECK_SECONDS: f64 = 0.1;

/// Iterations after which most loops launch nothing that they have not launched before.
pub(super) const DIFFERENT: usize = 7;
/// The factor by which residuals fall where no goal is given.
const DEFAULT_FALL: f64 = 1e-14;

impl Drop for Watch<'_, '_> {
    fn drop(&mut self) {
        if let Some(clock) = self.clock.take() {
            self.comm.end_clock(clock);
        }
    }
}

impl<'a, 'm> Watch<'a, 'm> {
    /// A watch on a solve, whose time begins now. With many ranks all of them make one.
    pub fn new(stop: Stop, device: &Device, comm: &'a Comm, monitor: &'a mut Monitor<'m>) -> Self {
        Self::with(stop, stop.fall(), DIFFERENT, device, comm, monitor)
    }

    /// A watch on a solve whose residuals have to fall by the factor `fall`, and whose iterations launch no new kernels
    /// after `different` ones.
    pub fn with(
        mut stop: Stop,
        fall: f64,
        different: usize,
        device: &Device,
        comm: &'a Comm,
        monitor: &'a mut Monitor<'m>,
    ) -> Self {
        let falling = device.falling(fall, different);
        if stop.iterations < usize::MAX {
            stop.iterations = falling.limit(stop.iterations);
        }
        let clock = stop.seconds().map(|_| comm.start_clock());
        let start = Instant::now();
        let schedule = CheckSchedule { since: 0.0, every: 1.0, last: start };
        let latest = (0, vec![1.0]);
        Watch { stop, monitor, comm, start, clock, ended: None, falling, latest, schedule }
    }

    /// Largest number of iterations, restarts or cycles that the loop runs on this device, at most `iterations`.
    pub fn limit(&self, iterations: usize) -> usize {
        self.falling.limit(iterations)
    }

    /// Whether the loop, which has ended, has met its goals: the value of `goals`, or true in a rehearsal, whose
    /// numbers are made up.
    pub fn met(&self, goals: bool) -> bool {
        self.falling.met(goals)
    }

    /// A number that was to fall to `goal` in the loop, which has ended.
    pub fn reached(&self, number: f64, goal: f64) -> f64 {
        self.falling.reached(number, goal)
    }

    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Called after an iteration: calls the monitor, and returns what ends the solve now, if anything does, whether or
    /// not the goals are met.
    pub fn after(&mut self, iteration: usize, residual: &[f64]) -> Option<StoppedBy> {
        self.falling.after(iteration);
        self.latest = (iteration, residual.to_vec());
        self.check(self.stop.at_limit(iteration))
    }

    /// Calls the monitor with the residuals of the last iteration, and compares the clock with the limit of time.
    /// Returns why the solve ends now, if it does. `at_limit`: the iterations have reached their limit.
    fn check(&mut self, at_limit: bool) -> Option<StoppedBy> {
        if self.ended.is_some() {
            return self.ended;
        }
        let (iteration, residual) = (self.latest.0, &self.latest.1[..]);
        let seconds = self.seconds();
        let interrupted = (self.monitor)(&Progress { iteration, residual, seconds }).is_break();
        let now = match (interrupted, self.over(seconds), at_limit) {
            (_, true, _) => Some(StoppedBy::Seconds),
            (true, ..) => Some(StoppedBy::Callback),
            (.., true) => Some(StoppedBy::Iterations),
            _ => None,
        };
        self.ended = now;
        now
    }

    /// Called within an iteration, after an operator was applied to `vectors` vectors: some ten times a second it calls
    /// the monitor with the residuals of the last iteration, and compares the clock with the limit of time. Returns
    /// false if the work is to end now, on all ranks after the same call.
    ///
    /// # Errors
    /// `CommFailed`.
    pub fn continues(&mut self, vectors: usize) -> Result<bool> {
        let (schedule, ranks) = (&mut self.schedule, self.comm.size());
        schedule.since += vectors as f64;
        let time_to_look = match ranks {
            1 => schedule.last.elapsed().as_secs_f64() >= CHECK_SECONDS,
            _ => schedule.since >= schedule.every,
        };
        if self.ended.is_none() && time_to_look {
            let mut seconds = [schedule.last.elapsed().as_secs_f64()];
            // With this sum ranks also learn what other ranks ask for.
            self.comm.sum(&mut seconds)?;
            let rate = schedule.since * ranks as f64 / seconds[0].max(1e-9);
            schedule.every = (CHECK_SECONDS * rate).min(2.0 * schedule.since).max(1.0);
            (schedule.since, schedule.last) = (0.0, Instant::now());
            self.check(false);
        }
        Ok(self.ended.is_none())
    }

    fn over(&self, seconds: f64) -> bool {
        self.stop.seconds().is_some_and(|max| self.comm.out_of_time(seconds >= max))
    }

    /// Whether the limit of time has passed, called within an iteration; the monitor is not called.
    pub fn out_of_time(&mut self) -> bool {
        let over = self.over(self.seconds());
        if over {
            self.ended = self.ended.max(Some(StoppedBy::Seconds));
        }
        over
    }

    /// The limit that has been reached, if any.
    pub fn ended(&self, iteration: usize) -> Option<StoppedBy> {
        let at_limit = self.stop.at_limit(iteration).then_some(StoppedBy::Iterations);
        self.ended.or(at_limit)
    }
}
