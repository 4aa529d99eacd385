//! Callbacks for the progress of long work, by which hosts can end it.

use std::ffi::c_void;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::table::interface;
use crate::comm::Comm;
use crate::solvers::Progress;

interface! {
    "Progress of long work"
    callbacks {
        /// Called after every iteration of a solve, step of a set-up or restart of a search, with the largest
        /// relative residual of the recurrence and the seconds since the start. A result other than 0 ends the work,
        /// and the report says so. A single rank may have a callback or ask to stop: all ranks stop after the next
        /// iteration, and the callback is not called again.
        plaq_progress_callback(iteration: i64, residual: f64, seconds: f64, user: *mut c_void) -> i32;
    }
}

/// Turns the host's callback into a monitor that gives the same answer on all ranks.
pub(crate) fn watch(
    comm: &Arc<Comm>,
    callback: plaq_progress_callback,
    user: *mut c_void,
) -> impl FnMut(&Progress) -> ControlFlow<()> {
    let comm = comm.clone();
    let mut asked = false;
    move |p| {
        if let Some(callback) = callback.0.filter(|_| !asked) {
            let residual = p.residual.iter().fold(0.0f64, |m, &v| v.max(m));
            // SAFETY: the host's function with the host's own pointer, while its call runs.
            asked = unsafe { callback(p.iteration as i64, residual, p.seconds, user) } != 0;
        }
        match comm.stop(asked) {
            false => ControlFlow::Continue(()),
            true => ControlFlow::Break(()),
        }
    }
}
