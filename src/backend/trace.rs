//! Backtraces of launches, for the test that compares ARCHITECTURE.md with the calls in the code; not in releases.

use std::backtrace::Backtrace;
use std::cell::RefCell;

use super::Call;

/// The launches of one kernel that are recorded.
struct Trace {
    kernel: &'static str,
    /// Largest number of backtraces that are taken.
    limit: usize,
    found: Vec<Backtrace>,
}

thread_local! {
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

/// Backtraces of the first `limit` launches of a kernel on CPUs during `work`, taken where its function is called.
pub fn traced(kernel: &'static str, limit: usize, work: impl FnOnce()) -> Vec<Backtrace> {
    TRACE.set(Some(Trace { kernel, limit, found: vec![] }));
    work();
    TRACE.take().map_or_else(Vec::new, |trace| trace.found)
}

pub(super) fn note(call: &Call) {
    TRACE.with_borrow_mut(|trace| {
        let Some(trace) = trace else { return };
        if trace.kernel == call.kernel.name && trace.found.len() < trace.limit {
            trace.found.push(Backtrace::force_capture());
        }
    });
}
