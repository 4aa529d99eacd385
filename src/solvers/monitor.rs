//! What a running solve tells, and to whom.

use std::ops::ControlFlow;

/// What a running solve tells its monitor.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    pub iteration: usize,
    /// Relative residuals of the recurrence, one per right-hand side.
    pub residual: &'a [f64],
    /// Since the start of the solve.
    pub seconds: f64,
}

/// Called after every iteration; `Break` ends the solve cleanly. With many ranks all of them must
/// answer alike (`Comm::stop`).
pub type Monitor<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// A monitor that lets the solve run.
pub fn unwatched(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
