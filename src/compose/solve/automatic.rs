//! A solver that chooses its algorithm while it solves: it begins with BiCGStab, and sets multigrid up as soon as
//! that is expected to be cheaper.
//!
//! Costs are counted in iterations of BiCGStab of one right-hand side, which all ranks count alike. The costs of a
//! set-up and of a solve with multigrid are measured numbers (docs/lab/automatic.md); the number of iterations that
//! BiCGStab needs is estimated from the fall of its residual. If the columns of a propagator take much of the
//! device's memory, a solve for one column decides before memory for the others is taken: a set-up beside them would
//! be slower and leave memory for fewer columns at a time.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::equation::{Chosen, Equations, SolveParams, SolveReport};
use super::inverter::{Inverter, SolveRequest};
use super::parts::{in_parts, Parts};
use crate::comm::Comm;
use crate::compose::multigrid::{Multigrid, MultigridParams, Update};
use crate::error::{Error, Result};
use crate::fields::{Components, Precision, SpinorField};
use crate::linop::Shape;
use crate::operators::QuarkAction;
use crate::solvers::{Monitor, Progress, SolverKind, Stop, StoppedBy};

/// Number of iterations of BiCGStab before its cost is first estimated and compared with that of multigrid.
const FIRST_ESTIMATE: usize = 16;
const TEST_FRACTION: f64 = 0.05;
/// Factor by which an early estimate of the number of iterations may be too small.
const ESTIMATE_ERROR: f64 = 3.0;
/// Fraction of the free memory: if x and b of all right-hand sides take more, one right-hand side is solved for first
/// to decide between BiCGStab and multigrid.
const MEMORY_FRACTION: f64 = 0.125;
/// Number of residuals over which an estimate averages, as those of BiCGStab fluctuate.
const WINDOW: usize = 8;
/// Heavy-quark residual required if the propagator falls below the tolerance inside the lattice.
const HEAVY_QUARK: f64 = 1e-6;

/// Costs of multigrid on a device, in iterations of BiCGStab for one right-hand side.
struct Costs {
    /// Cost of a set-up.
    setup: f64,
    /// Cost of a solve for one right-hand side.
    solve: f64,
    /// Least time in seconds that a set-up takes, on lattices too small to fill the device.
    seconds: f64,
}

const CPU: Costs = Costs { setup: 4300.0, solve: 265.0, seconds: 0.0 };
const GPU: Costs = Costs { setup: 2100.0, solve: 90.0, seconds: 0.5 };

/// Records the residual of BiCGStab after each iteration and estimates the number of iterations to convergence.
struct Convergence {
    /// Logarithms of the residuals of the last iterations.
    last: [f64; WINDOW],
    /// Times in seconds at which the last iterations ended.
    times: [f64; WINDOW],
    /// Seconds per iteration: the smallest mean over `WINDOW` iterations, since first launches wait for the compiler.
    seconds_per_iteration: f64,
    goal: f64,
}

impl Convergence {
    /// Estimates the number of iterations of the whole solve; `None`: there were too few iterations so far.
    fn expected(&mut self, p: &Progress) -> Option<f64> {
        let worst = p.residual.iter().fold(0.0f64, |m, r| m.max(*r));
        let at = p.iteration % WINDOW;
        if p.iteration > WINDOW {
            self.seconds_per_iteration =
                self.seconds_per_iteration.min((p.seconds - self.times[at]) / WINDOW as f64);
        }
        (self.last[at], self.times[at]) = (worst.ln(), p.seconds);
        let mean = self.last.iter().sum::<f64>() / WINDOW as f64;
        let known = p.iteration >= FIRST_ESTIMATE && mean < 0.0;
        known.then(|| p.iteration as f64 * (self.goal / mean).max(1.0))
    }
}

/// A monitor of BiCGStab that compares the cost of the remaining iterations with that of multigrid, for all
/// right-hand sides that are still to be solved for.
struct CostMonitor<'a> {
    convergence: Convergence,
    costs: &'static Costs,
    /// Number of right-hand sides of this solve.
    n: f64,
    /// Number of right-hand sides of later solves.
    later: f64,
    /// Number of iterations, times right-hand sides, before which BiCGStab is not ended.
    from: f64,
    /// Number of iterations, times right-hand sides, at which the monitor gives up; infinite: never.
    to: f64,
    comm: &'a Comm,
    /// The iteration at which multigrid was found to be cheaper, with the estimate of all iterations that BiCGStab
    /// would need.
    cheaper: Option<(usize, f64)>,
    failed: Option<Error>,
}

impl CostMonitor<'_> {
    /// Called after an iteration. Returns `Break` to end BiCGStab: multigrid is cheaper, or it is certain that it
    /// will not be.
    fn on_iteration(&mut self, p: &Progress) -> ControlFlow<()> {
        let Some(all) = self.convergence.expected(p) else { return ControlFlow::Continue(()) };
        let done = p.iteration as f64 * self.n;
        let left = all * (self.n + self.later) - done;
        let multigrid = self.costs.setup + self.costs.solve * (self.n + self.later);
        let cheap = p.iteration >= 2 * FIRST_ESTIMATE && ESTIMATE_ERROR * left < multigrid;
        if done >= self.to || (self.to.is_finite() && cheap) {
            return ControlFlow::Break(());
        }
        if done < self.from || left < multigrid {
            return ControlFlow::Continue(());
        }
        let mut seconds = [left * self.convergence.seconds_per_iteration / self.n];
        if let Err(e) = self.comm.max(&mut seconds) {
            self.failed = Some(e);
            return ControlFlow::Break(());
        }
        if seconds[0] < self.costs.seconds {
            return ControlFlow::Continue(());
        }
        self.cheaper = Some((p.iteration, all));
        ControlFlow::Break(())
    }

    /// The iteration at which multigrid was found to be cheaper, with the number of iterations that BiCGStab would
    /// need; `None`: multigrid is not cheaper.
    fn ended(self) -> Result<Option<(usize, f64)>> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.cheaper),
        }
    }
}

/// A function that makes the chain of solver links for multigrid with the given hierarchy.
type ByMultigrid = dyn Fn(Arc<Multigrid>) -> Result<Arc<Parts>> + Send + Sync;

/// The link of a solver that chooses its algorithm: BiCGStab first, GCR with multigrid after that was set up.
pub struct Automatic {
    op: Arc<dyn QuarkAction>,
    params: SolveParams,
    /// Number of right-hand sides that the caller announced; 0: none.
    expected: usize,
    krylov: Arc<Parts>,
    by_multigrid: Box<ByMultigrid>,
    state: Mutex<State>,
}

/// State of an automatic solver: its hierarchy, if it has one, and the numbers that decide about a set-up.
#[derive(Default)]
struct State {
    /// The hierarchy and the chain that uses it, once they are set up.
    multigrid: Option<(Arc<Multigrid>, Arc<Parts>)>,
    /// True if the hierarchy was set up by this solver, which then updates it when links change; false if the host
    /// gave it.
    own: bool,
    /// Number of right-hand sides solved for so far.
    solved: usize,
    /// True if multigrid cannot be set up for this operator.
    unavailable: bool,
}

impl Automatic {
    pub fn new(
        op: Arc<dyn QuarkAction>,
        params: SolveParams,
        expected: usize,
        krylov: Arc<Parts>,
        by_multigrid: Box<ByMultigrid>,
    ) -> Self {
        Automatic { op, params, expected, krylov, by_multigrid, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses the hierarchy that the host gives from now on; `None`: none.
    ///
    /// # Errors
    /// Errors of solvers with multigrid.
    pub fn set_multigrid(&self, multigrid: Option<Arc<Multigrid>>) -> Result<()> {
        self.take(multigrid, false)
    }

    fn take(&self, multigrid: Option<Arc<Multigrid>>, own: bool) -> Result<()> {
        let with_chain =
            |m: Arc<Multigrid>| -> Result<_> { Ok((m.clone(), (self.by_multigrid)(m)?)) };
        let multigrid = multigrid.map(with_chain).transpose()?;
        let mut state = self.state();
        (state.multigrid, state.own) = (multigrid, own);
        Ok(())
    }

    /// The multigrid hierarchy that solves use now; None: there is none.
    pub fn multigrid(&self) -> Option<Arc<Multigrid>> {
        self.state().multigrid.as_ref().map(|m| m.0.clone())
    }
    /// The chain that uses the current hierarchy.
    pub fn with_multigrid(&self) -> Option<Arc<Parts>> {
        self.state().multigrid.as_ref().map(|m| m.1.clone())
    }

    fn give_multigrid_up(&self, e: &Error) {
        log::info!("automatic solver: goes on with BiCGStab, as multigrid fails: {e}");
        let mut state = self.state();
        (state.multigrid, state.unavailable) = (None, true);
    }

    /// The chain that uses the current hierarchy, if the hierarchy belongs to the present links and a solve for
    /// `nrhs` right-hand sides fits in memory.
    fn usable(&self, nrhs: usize) -> Option<Arc<Parts>> {
        let (multigrid, chain) = self.state().multigrid.clone()?;
        if self.state().own && multigrid.check_links(&*self.op).is_err() {
            if let Err(e) = multigrid.update(&*self.op, Update::Keep) {
                self.give_multigrid_up(&e);
                return None;
            }
        }
        match chain.at_once(nrhs) {
            Ok(_) => Some(chain),
            Err(e) => {
                log::info!("automatic solver: BiCGStab, as multigrid does not fit: {e}");
                None
            }
        }
    }

    fn run_multigrid(
        &self,
        chain: &Parts,
        request: &SolveRequest,
        (x, b): (&mut SpinorField, &SpinorField),
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let mut report = chain.solve(x, b, request, watch)?;
        report.chosen = Chosen::Multigrid;
        report.solver.fallback.get_or_insert(SolverKind::Gcr);
        Ok(report)
    }

    /// Whether multigrid may be set up: there is no hierarchy yet, no set-up has failed, and the operator supports
    /// it.
    fn possible(&self) -> bool {
        let open = {
            let state = self.state();
            !state.unavailable && state.multigrid.is_none()
        };
        open && fits(&self.op, &self.params)
    }

    /// Number of right-hand sides expected after the next `n`: the rest of the announced number or, if none was
    /// announced, as many as have been solved for.
    fn later(&self, n: usize) -> usize {
        let solved = self.state().solved;
        match self.expected {
            0 => solved,
            expected => expected.saturating_sub(solved + n),
        }
    }

    fn cost_monitor(&self, stop: &Stop, n: usize, later: usize, to: f64) -> CostMonitor<'_> {
        let costs = if self.op.shape().device.is_cpu() { &CPU } else { &GPU };
        let from = match to.is_finite() {
            true => 0.0,
            false => TEST_FRACTION * (costs.setup + costs.solve * n as f64),
        };
        CostMonitor {
            convergence: Convergence {
                last: [0.0; WINDOW],
                times: [0.0; WINDOW],
                seconds_per_iteration: f64::INFINITY,
                goal: stop.residual.max(1e-15).ln(),
            },
            costs,
            n: n as f64,
            later: later as f64,
            from,
            to,
            comm: self.op.links().geometry().comm(),
            cheaper: None,
            failed: None,
        }
    }

    /// Sets multigrid up before memory for `columns` right-hand sides is taken, if these need much of the device's
    /// memory and a solve for one of them, `first`, shows that multigrid is cheaper. Returns the seconds that this
    /// took. All ranks call it.
    ///
    /// # Errors
    /// Errors of `first` and of solves.
    pub fn test_one(
        &self,
        columns: usize,
        first: &dyn Fn() -> Result<SpinorField>,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<f64> {
        let (start, shape) = (Instant::now(), self.shape());
        let comm = self.op.links().geometry().comm();
        let free = shape.device.memory()?.0 as f64;
        let mut much = [2.0 * shape.bytes(columns) as f64 / free.max(1.0)];
        comm.max(&mut much)?;
        if columns < 2 || much[0] < MEMORY_FRACTION || !self.possible() {
            return Ok(0.0);
        }
        let stop = Stop { heavy_quark: self.heavy_quark(request.stop), ..request.stop };
        let later = columns - 1 + self.later(columns);
        let costs = if shape.device.is_cpu() { &CPU } else { &GPU };
        let limit = TEST_FRACTION * (costs.setup + costs.solve * columns as f64);
        let mut costs_seen = self.cost_monitor(&stop, 1, later, limit);
        let mut asked = false;
        {
            let b = first()?;
            let mut x = b.like(b.precision())?;
            let mut on_iteration = |p: &Progress| {
                asked = watch(p).is_break();
                match asked {
                    true => ControlFlow::Break(()),
                    false => costs_seen.on_iteration(p),
                }
            };
            self.krylov.solve(
                &mut x,
                &b,
                &SolveRequest { stop, guess: false, ..*request },
                &mut on_iteration,
            )?;
        }
        let Some((at, all)) = costs_seen.ended()?.filter(|_| !asked) else {
            return Ok(start.elapsed().as_secs_f64());
        };
        log::info!(
            "automatic solver: BiCGStab needs about {all:.0} iterations for each of {columns} columns, as {at} for one of \
             them show: multigrid is set up before memory for them is taken"
        );
        if let Err(e) = self.set_up(watch, (at, &[1.0])) {
            self.give_multigrid_up(&e);
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// Sets up a hierarchy, on all ranks or on none. Meanwhile the monitor gets the iteration and the residuals of the
    /// interrupted solve; if it asks to stop, the set-up ends without a hierarchy.
    fn set_up(&self, watch: &mut Monitor, (iteration, residual): (usize, &[f64])) -> Result<()> {
        let mut asked = false;
        let mut on_iteration = |p: &Progress| {
            let answer = watch(&Progress { iteration, residual, seconds: p.seconds });
            asked |= answer.is_break();
            answer
        };
        let made =
            Multigrid::watched(&*self.op, &MultigridParams::default(), None, &mut on_iteration);
        if asked {
            return Ok(());
        }
        let made = made.and_then(|m| self.take(Some(Arc::new(m)), true));
        self.op.links().geometry().comm().agree(made)
    }

    /// Sets multigrid up and continues the solve with it, or with BiCGStab if the set-up fails; `before`: iterations
    /// and residuals so far.
    fn continue_solve(
        &self,
        request: &SolveRequest,
        (x, b): (&mut SpinorField, &SpinorField),
        before: (usize, &[f64]),
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let chain = self.set_up(watch, before).and_then(|()| match self.with_multigrid() {
            Some(chain) => chain.at_once(b.nrhs()).map(|_| Some(chain)),
            // The host asked to stop, or another thread has removed the hierarchy.
            None => Ok(None),
        });
        match chain {
            Ok(Some(chain)) => self.run_multigrid(&chain, request, (x, b), watch),
            Ok(None) => self.krylov.solve(x, b, request, watch),
            Err(e) => {
                self.give_multigrid_up(&e);
                let next = self.krylov.solve(x, b, request, watch)?;
                Ok(SolveReport { chosen: Chosen::OnlyKrylov, ..next })
            }
        }
    }
}

impl Inverter for Automatic {
    fn solve(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let start = Instant::now();
        let stop = Stop { heavy_quark: self.heavy_quark(request.stop), ..request.stop };
        let (n, request) = (b.nrhs(), SolveRequest { stop, ..*request });
        if let Some(chain) = self.usable(n) {
            return self.run_multigrid(&chain, &request, (x, b), watch);
        }
        let at_once = self.krylov.at_once(n)?;
        if at_once < n {
            // A set-up of multigrid may follow the first of these parts.
            let part =
                |x: &mut SpinorField,
                 b: &SpinorField,
                 request: &SolveRequest,
                 watch: &mut Monitor| { self.solve(x, b, request, watch) };
            return in_parts((x, b), at_once, &request, watch, part);
        }
        let possible = self.possible();
        let later = self.later(n).max(request.later);
        let mut costs_seen = self.cost_monitor(&stop, n, later, f64::INFINITY);
        // If most of multigrid's cost is in its solves and not in its set-up, it may be cheaper than CGNR. BiCGStab
        // is then patient, so that a switch to CGNR does not hide this.
        let many =
            costs_seen.costs.solve * (costs_seen.n + costs_seen.later) > costs_seen.costs.setup;
        let request = SolveRequest { patient: possible && many, ..request };
        let mut on_iteration = |p: &Progress| match watch(p).is_break() {
            true => ControlFlow::Break(()),
            false if possible => costs_seen.on_iteration(p),
            false => ControlFlow::Continue(()),
        };
        let mut report = self.krylov.solve(x, b, &request, &mut on_iteration)?;
        let cheaper = costs_seen.ended()?;
        report.chosen = if possible { Chosen::Krylov } else { Chosen::OnlyKrylov };
        let Some((at, all)) = cheaper else {
            self.state().solved += n;
            return Ok(report);
        };
        log::info!(
            "automatic solver: BiCGStab needs about {all:.0} iterations, {at} are done: multigrid is set up"
        );
        (report.solver.stopped, report.solver.stopped_by) = (false, None);
        let iterations = stop.iterations.saturating_sub(at).max(1);
        let left =
            SolveRequest { stop: Stop { iterations, ..stop.since(start) }, guess: true, ..request };
        let next = self.continue_solve(&left, (x, b), (at, &report.solver.residual), watch)?;
        self.state().solved += n;
        let mut all = report.followed_by(next);
        // Whether the goals are met is decided by the residuals of all right-hand sides, not of the last part only.
        let solver = &mut all.solver;
        solver.converged =
            stop.met(&solver.residual, &solver.residual_hq) && stop.site_met(&solver.residual_site);
        if solver.converged {
            solver.stopped_by = Some(stop.last_goal(&solver.residual, &solver.residual_hq));
        }
        solver.standstill = solver.stopped_by == Some(StoppedBy::Standstill);
        solver.seconds = start.elapsed().as_secs_f64();
        Ok(all)
    }

    fn shape(&self) -> Shape {
        self.krylov.shape()
    }
    fn name(&self, nrhs: usize) -> String {
        let now = self.with_multigrid().unwrap_or_else(|| self.krylov.clone());
        format!("automatic({})", now.describe(nrhs))
    }
}

/// Whether multigrid can precondition these solves.
fn fits(op: &Arc<dyn QuarkAction>, params: &SolveParams) -> bool {
    params.equations == Equations::Direct
        && params.distance.is_none()
        && params.even_odd.is_some()
        && params.precondition_steps == 0
        && !params.solution.normal()
        && Multigrid::check_params(&**op, &MultigridParams::default()).is_ok()
}

impl Automatic {
    /// The heavy-quark residual to require besides the tolerance; 0: none. The propagator of a free quark of mass m
    /// falls as (1 + m)^-t; if it falls below the tolerance before the middle of the lattice, |r| / |b| is not
    /// sensitive to sites far from the source.
    fn heavy_quark(&self, stop: Stop) -> f64 {
        let op = &self.op;
        let half = op.links().geometry().global_extents()[3] / 2;
        let heavy = half as f64 * (1.0 + op.mass().max(0.0)).ln() > -stop.residual.max(1e-300).ln();
        let double = op.storage().0 == Precision::F64;
        let quarks = op.shape().components == Components::SPINOR
            && !op.within_time_slices()
            && !self.params.solution.normal()
            && self.params.distance.is_none();
        match heavy && double && quarks && stop.heavy_quark == 0.0 {
            true => HEAVY_QUARK,
            false => stop.heavy_quark,
        }
    }
}
