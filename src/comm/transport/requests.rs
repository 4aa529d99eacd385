//! Requests of single ranks to end a guarded call, or a solve with a time limit, early. They are summed along with the
//! next sum over ranks, after which all ranks know of them.

use super::Transport;
use crate::error::Result;

/// Value of a request because of a time limit in the sum of requests: larger than any number of ranks.
const LATE: f64 = (1u64 << 32) as f64;

impl Transport {
    /// Calls `body` with a number that encodes this rank's requests to stop. `body` sums it over all ranks along with
    /// its own sums and returns its result and that sum. In sums of a part of the ranks the number is not used, since
    /// only these ranks would learn of a request.
    pub fn with_stop<T>(&self, body: impl FnOnce(f64) -> Result<(T, f64)>) -> Result<T> {
        let (result, all) = body(self.requests())?;
        self.note_requests(all);
        Ok(result)
    }

    /// The number that encodes this rank's requests to stop, to be summed over all ranks.
    pub fn requests(&self) -> f64 {
        if self.is_part() {
            return 0.0;
        }
        let state = self.state();
        state.stop_asked as i32 as f64 + if state.late_asked { LATE } else { 0.0 }
    }

    /// Called with the sum of these numbers over all ranks: records whether some rank has a request.
    pub fn note_requests(&self, all: f64) {
        if self.is_part() {
            return;
        }
        let mut state = self.state();
        state.stop_agreed |= all % LATE > 0.0;
        state.late_agreed |= all >= LATE;
    }

    /// Records this rank's request to stop, if any; returns whether all ranks know of a request by a sum.
    pub fn stop(&self, mine: bool) -> bool {
        let mut state = self.state();
        state.stop_asked |= mine;
        state.stop_agreed
    }

    /// Records whether the time limit of a solve has passed by this rank's clock. Returns whether all ranks know by an
    /// earlier sum that the limit has passed on some rank.
    pub fn out_of_time(&self, mine: bool) -> bool {
        let mut state = self.state();
        state.late_asked |= mine;
        state.late_agreed
    }
    /// Sets the state of the time limit: whether this rank has asked to stop, and whether all ranks know of a request.
    /// Returns the state before, so that the limit of an enclosing solve can be restored.
    pub fn turn_clock(&self, (asked, agreed): (bool, bool)) -> (bool, bool) {
        let mut state = self.state();
        let before = (state.late_asked, state.late_agreed);
        (state.late_asked, state.late_agreed) = (asked, agreed);
        before
    }
}
