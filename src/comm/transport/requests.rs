//! Requests of single ranks to end a call or a solve early: they travel with the next sum, after which all ranks know.

use super::Transport;
use crate::error::Result;

/// Weight of requests because of time in the sum of requests: more than there are ranks.
const LATE: f64 = (1u64 << 32) as f64;

impl Transport {
    /// Calls `body` with the number of this rank's requests to stop, which it adds as a further word of its sums; not
    /// for sums of a part, which would tell some ranks only.
    pub fn with_stop<T>(&self, body: impl FnOnce(f64) -> Result<(T, f64)>) -> Result<T> {
        let (result, all) = body(self.requests())?;
        self.told(all);
        Ok(result)
    }

    /// The word that holds this rank's requests.
    pub fn requests(&self) -> f64 {
        if self.is_part() {
            return 0.0;
        }
        let state = self.state();
        state.stop_asked as i32 as f64 + if state.late_asked { LATE } else { 0.0 }
    }

    /// Takes the sum of the words of all ranks.
    pub fn told(&self, all: f64) {
        if self.is_part() {
            return;
        }
        let mut state = self.state();
        state.stop_agreed |= all % LATE > 0.0;
        state.late_agreed |= all >= LATE;
    }

    /// Records this rank's request to stop; returns whether all ranks know of one.
    pub fn stop(&self, mine: bool) -> bool {
        let mut state = self.state();
        state.stop_asked |= mine;
        state.stop_agreed
    }

    /// Records whether the time of this rank's solve is over. Returns whether an earlier sum has told all ranks that
    /// the time of some rank is over.
    pub fn late(&self, mine: bool) -> bool {
        let mut state = self.state();
        state.late_asked |= mine;
        state.late_agreed
    }
    /// Replaces the state of the present limit of time, whether this rank asked to stop and whether all agreed on it, by
    /// that of another limit, which begins or continues; returns the replaced one.
    pub fn turn_clock(&self, (asked, agreed): (bool, bool)) -> (bool, bool) {
        let mut state = self.state();
        let before = (state.late_asked, state.late_agreed);
        (state.late_asked, state.late_agreed) = (asked, agreed);
        before
    }
}
