//! Monitors of running solves: the numbers that a solve reports, and the functions that receive them.

use std::ops::ControlFlow;
use std::ops::Range;
use std::time::Instant;

/// The state of a running solve, for its monitor.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    pub iteration: usize,
    /// Relative residuals of the recurrence, one per right-hand side.
    pub residual: &'a [f64],
    /// Seconds since the start of the solve.
    pub seconds: f64,
}

/// A monitor: a function called after every iteration; `Break` ends the solve, which then returns normally. With
/// several ranks all of them must give the same answer (`Comm::stop`).
pub type Monitor<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// A monitor that never ends the solve.
pub fn no_monitor(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A monitor for solves of parts of the right-hand sides of a larger solve, which shows the residuals of all
/// right-hand sides. After it has ended one solve, each following one ends after one iteration.
pub(crate) struct PartsMonitor<'a, 'm> {
    pub monitor: &'a mut Monitor<'m>,
    /// Relative residuals of all right-hand sides.
    pub shown: Vec<f64>,
    pub start: Instant,
    stopped: bool,
}

impl<'a, 'm> PartsMonitor<'a, 'm> {
    pub fn new(monitor: &'a mut Monitor<'m>, shown: Vec<f64>, start: Instant) -> Self {
        PartsMonitor { monitor, shown, start, stopped: false }
    }
    /// The monitor for these right-hand sides, in whose solve iterations are counted from this number on.
    pub fn of<'s>(
        &'s mut self,
        columns: Range<usize>,
        before: usize,
    ) -> impl FnMut(&Progress) -> ControlFlow<()> + use<'s, 'a, 'm> {
        move |p| {
            self.shown[columns.clone()].copy_from_slice(p.residual);
            let (iteration, seconds) = (before + p.iteration, self.start.elapsed().as_secs_f64());
            let progress = Progress { iteration, residual: &self.shown, seconds };
            self.stopped = self.stopped || (self.monitor)(&progress).is_break();
            match self.stopped {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
    }
}
