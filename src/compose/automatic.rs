//! The solver that is chosen while it solves: BiCGStab, and multigrid as soon as that is cheaper.
//!
//! Costs are counted in iterations of BiCGStab of one right-hand side, which all ranks count alike. What a set-up and a
//! solve with multigrid cost in these was measured (docs/lab/automatic.md); how many BiCGStab will need follows
//! from how far the residual has fallen.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use super::equation::{Chosen, Equations, SolveParams, SolveReport};
use super::multigrid::{Multigrid, MultigridParams, Update};
use super::solve::DiracSolver;
use crate::bail;
use crate::error::{Error, Result};
use crate::fields::{Components, Precision, SpinorField};
use crate::operators::QuarkAction;
use crate::solvers::{Monitor, OfParts, Progress, SolverKind, Stop, StoppedBy};

/// Iterations before the first estimate, and their cost in that of multigrid.
const FIRST_LOOK: usize = 16;
const LOOK: f64 = 0.05;
/// Residuals that an estimate averages over: those of BiCGStab jump.
const WINDOW: usize = 8;
/// Heavy-quark residual that is asked for where the propagator falls below the tolerance inside of the lattice.
const HEAVY_QUARK: f64 = 1e-6;

/// What multigrid costs on a device, in iterations of BiCGStab of one right-hand side.
struct Costs {
    setup: f64,
    solve: f64,
    /// Seconds that a set-up takes at least, on lattices that do not fill the device.
    seconds: f64,
}

const CPU: Costs = Costs { setup: 4300.0, solve: 265.0, seconds: 0.0 };
const GPU: Costs = Costs { setup: 2100.0, solve: 90.0, seconds: 0.5 };

/// The residual of BiCGStab that falls.
struct Fall {
    /// Logarithms of the last residuals.
    last: [f64; WINDOW],
    /// Seconds at the last iterations.
    times: [f64; WINDOW],
    /// Seconds of an iteration: of as many as are averaged over, the fastest. First launches wait for the compiler.
    pace: f64,
    goal: f64,
}

impl Fall {
    /// Iterations that a solve is going to need in all.
    fn expected(&mut self, p: &Progress) -> Option<f64> {
        let worst = p.residual.iter().fold(0.0f64, |m, r| m.max(*r));
        let at = p.iteration % WINDOW;
        if p.iteration > WINDOW {
            self.pace = self.pace.min((p.seconds - self.times[at]) / WINDOW as f64);
        }
        (self.last[at], self.times[at]) = (worst.ln(), p.seconds);
        let mean = self.last.iter().sum::<f64>() / WINDOW as f64;
        let known = p.iteration >= FIRST_LOOK && mean < 0.0;
        known.then(|| p.iteration as f64 * (self.goal / mean).max(1.0))
    }
}

impl DiracSolver {
    /// Solves the equation; x and b hold `subset()` in the precision of the operator.
    ///
    /// # Errors
    /// Errors of [`crate::solvers::solve`]; `OutOfMemory`: the vectors will not fit, nothing is allocated; `StaleMultigrid`:
    /// the operator's links have changed since multigrid's last set-up or update. After `SolverBreakdown` x is
    /// zero, after a refusal as it was.
    pub fn solve(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        self.solve_until(self.params().solver.stop, x, b, monitor)
    }

    /// The same with other criteria.
    pub fn solve_until(
        &self,
        stop: Stop,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        if self.automatic().is_some() {
            return self.solve_automatic(stop, x, b, monitor);
        }
        self.solve_plain(stop, self.params().solver.initial_guess, x, b, monitor)
    }

    fn solve_automatic(
        &self,
        stop: Stop,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        let start = Instant::now();
        let stop = Stop { heavy_quark: heavy_quark(self, stop), ..stop };
        if let Some(report) = self.by_multigrid(stop, x, b, monitor)? {
            return Ok(report);
        }
        let costs = if self.op().shape().device.is_cpu() { CPU } else { GPU };
        let (n, solved, possible) = {
            let (solved, impossible) =
                self.automatic().map_or((0, true), |a| (a.solved, a.impossible));
            let possible = !impossible && self.multigrid().is_none();
            (b.nrhs(), solved, possible && fits(self.op(), self.params()))
        };
        // As many are going to come as came, where the host does not say.
        let expected = self.params().automatic.unwrap_or(0);
        let later = if expected > 0 { expected.saturating_sub(solved + n) } else { solved } as f64;
        let comm = self.op().links().geometry().comm().clone();
        let mut fall = Fall {
            last: [0.0; WINDOW],
            times: [0.0; WINDOW],
            pace: f64::INFINITY,
            goal: stop.residual.max(1e-15).ln(),
        };
        let (mut dear, mut failed) = (None, None);
        let mut watch = |p: &Progress| {
            if monitor(p).is_break() {
                return ControlFlow::Break(());
            }
            let Some(all) = fall.expected(p).filter(|_| possible) else {
                return ControlFlow::Continue(());
            };
            let done = (p.iteration * n) as f64;
            let left = all * (n as f64 + later) - done;
            if done < LOOK * (costs.setup + costs.solve * n as f64) {
                return ControlFlow::Continue(());
            }
            if left < costs.setup + costs.solve * (n as f64 + later) {
                return ControlFlow::Continue(());
            }
            let mut seconds = [left * fall.pace / n as f64];
            if let Err(e) = comm.max(&mut seconds) {
                failed = Some(e);
                return ControlFlow::Break(());
            }
            if seconds[0] < costs.seconds {
                return ControlFlow::Continue(());
            }
            dear = Some((p.iteration, all));
            ControlFlow::Break(())
        };
        let mut report =
            self.solve_plain(stop, self.params().solver.initial_guess, x, b, &mut watch)?;
        if let Some(error) = failed {
            return Err(error);
        }
        report.chosen = Chosen::Krylov;
        if !possible {
            report.chosen = Chosen::OnlyKrylov;
        }
        let Some((at, all)) = dear else {
            self.count_solved(n);
            return Ok(report);
        };
        log::info!(
            "automatic solver: BiCGStab needs about {all:.0} iterations, {at} are done: multigrid is set up"
        );
        (report.solver.stopped, report.solver.stopped_by) = (false, None);
        let left =
            Stop { iterations: stop.iterations.saturating_sub(at).max(1), ..stop.since(start) };
        let made = Multigrid::new(&**self.op(), &MultigridParams::default());
        let made = made.and_then(|m| self.set_multigrid(Some(Arc::new(m))));
        let next = match comm.agree(made).and_then(|()| self.part_by_multigrid(n)) {
            Ok(at_once) => {
                if let Some(mut automatic) = self.automatic() {
                    automatic.own = true;
                }
                self.run_multigrid((left, true, at_once), x, b, monitor)?
            }
            Err(e) => {
                self.give_multigrid_up(&e);
                let next = self.solve_plain(left, true, x, b, monitor)?;
                SolveReport { chosen: Chosen::OnlyKrylov, ..next }
            }
        };
        self.count_solved(n);
        let memory_peak = report.memory_peak.max(next.memory_peak);
        let mut solver = report.solver.followed_by(next.solver);
        // The last part is about the whole.
        solver.converged = stop.met(&solver.residual, &solver.residual_hq);
        if solver.converged {
            solver.stopped_by = Some(stop.last_goal(&solver.residual, &solver.residual_hq));
        }
        solver.standstill = solver.stopped_by == Some(StoppedBy::Standstill);
        solver.seconds = start.elapsed().as_secs_f64();
        Ok(SolveReport { solver, memory_peak, ..next })
    }

    fn give_multigrid_up(&self, e: &Error) {
        log::info!("automatic solver: goes on with BiCGStab, as multigrid fails: {e}");
        if let Some(mut automatic) = self.automatic() {
            (automatic.multigrid, automatic.impossible) = (None, true);
        }
    }

    fn count_solved(&self, n: usize) {
        if let Some(mut automatic) = self.automatic() {
            automatic.solved += n;
        }
    }

    /// A solve with the hierarchy that is there, if there is one.
    fn by_multigrid(
        &self,
        stop: Stop,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<Option<SolveReport>> {
        let Some(multigrid) = self.multigrid() else { return Ok(None) };
        let own = self.automatic().is_some_and(|a| a.own);
        if own && multigrid.check_links(&**self.op()).is_err() {
            if let Err(e) = multigrid.update(&**self.op(), Update::Keep) {
                self.give_multigrid_up(&e);
                return Ok(None);
            }
        }
        let at_once = match self.part_by_multigrid(b.nrhs()) {
            Ok(at_once) => at_once,
            Err(e) => {
                log::info!("automatic solver: BiCGStab, as multigrid does not fit: {e}");
                return Ok(None);
            }
        };
        let guess = self.params().solver.initial_guess;
        self.run_multigrid((stop, guess, at_once), x, b, monitor).map(Some)
    }

    /// Solves by the hierarchy that is there, for as many right-hand sides at a time as fit.
    fn run_multigrid(
        &self,
        (stop, guess, at_once): (Stop, bool, usize),
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        let Some(solver) = self.by_gcr() else {
            // Another thread has taken it away.
            return self.solve_plain(stop, guess, x, b, monitor);
        };
        let (start, n) = (Instant::now(), b.nrhs());
        let mut watched = OfParts::new(monitor, vec![1.0; n], start);
        let mut total: Option<SolveReport> = None;
        for first in (0..n).step_by(at_once) {
            let count = at_once.min(n - first);
            let (mut x, b) = (x.columns(first, count)?, b.columns(first, count)?);
            let mut told = watched.of(first..first + count, 0);
            let part = solver.solve_plain(stop.since(start), guess, &mut x, &b, &mut told)?;
            total = Some(match total {
                Some(before) => before.beside(part),
                None => part,
            });
        }
        let Some(mut report) = total else { bail!(Internal, "no right-hand sides") };
        report.chosen = Chosen::Multigrid;
        report.solver.fallback.get_or_insert(SolverKind::Gcr);
        Ok(report)
    }
}

/// Can multigrid precondition these solves?
fn fits(op: &Arc<dyn QuarkAction>, params: &SolveParams) -> bool {
    params.equations == Equations::Direct
        && params.distance.is_none()
        && params.even_odd.is_some()
        && params.precondition_steps == 0
        && !params.solution.normal()
        && Multigrid::check_params(&**op, &MultigridParams::default()).is_ok()
}

/// The heavy-quark residual to ask for: a free quark of mass m falls as (1 + m)^-t, and where it falls below the
/// tolerance on the way to the middle of the lattice, |r| / |b| says nothing of what is far from the source.
fn heavy_quark(solver: &DiracSolver, stop: Stop) -> f64 {
    let op = solver.op();
    let half = op.links().geometry().global_extents()[3] / 2;
    let heavy = half as f64 * (1.0 + op.mass().max(0.0)).ln() > -stop.residual.max(1e-300).ln();
    let double = op.storage().0 == Precision::F64;
    let quarks = op.shape().components == Components::SPINOR
        && !op.within_time_slices()
        && !solver.params().solution.normal()
        && solver.params().distance.is_none();
    match heavy && double && quarks && stop.heavy_quark == 0.0 {
        true => HEAVY_QUARK,
        false => stop.heavy_quark,
    }
}
