//! Waits for other ranks: each has a deadline, and ends if a failure of another rank is reported.

use std::time::{Duration, Instant};

use super::{Side, Transport};
use crate::error::Result;

/// Time for which a rank that failed waits for the others to fail or finish by themselves, before it reports its
/// failure to them.
const REPORT_DELAY: Duration = Duration::from_millis(20);

/// Duration of a wait so far.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    start: Instant,
    rounds: u64,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { start: Instant::now(), rounds: 0 }
    }
}

impl Patience {
    /// Starts the time-out anew.
    pub fn restart(&mut self) {
        self.start = Instant::now();
    }

    /// Lets other ranks that share this core run, before the requests are tested again.
    pub fn pause(&self) {
        pause(self.rounds, self.start);
    }
}

impl Transport {
    /// Tests once whether all MPI requests are complete; `what` returns a name of those that are not, for error
    /// messages.
    pub fn look(
        &self,
        side: Side,
        requests: &mut [i64],
        patience: &mut Patience,
        what: &dyn Fn(&[i64]) -> String,
    ) -> Result<bool> {
        if self.test(requests)? {
            return Ok(true);
        }
        patience.rounds += 1;
        if patience.rounds.is_multiple_of(16) {
            self.listen()?;
            self.usable(side)?;
            let waited = patience.start.elapsed();
            if side == Side::Control && waited >= REPORT_DELAY {
                let unreported = self.state().unreported.take();
                unreported.iter().for_each(|failure| self.tell(failure));
            }
            if waited >= self.timeout {
                let seconds = self.timeout.as_secs_f64();
                return Err(
                    self.connection_lost(format!("no answer for {seconds} s: {}", what(requests)))
                );
            }
        }
        Ok(false)
    }

    /// Polls until the requests are complete.
    pub fn wait(
        &self,
        side: Side,
        requests: &mut [i64],
        what: &dyn Fn(&[i64]) -> String,
    ) -> Result<()> {
        let mut patience = Patience::default();
        while !self.look(side, requests, &mut patience, what)? {
            patience.pause();
        }
        Ok(())
    }
}

/// Lets other ranks that may share this core run while this one polls.
pub(super) fn pause(round: u64, since: Instant) {
    match round {
        0..32 => std::hint::spin_loop(),
        _ if since.elapsed() < Duration::from_secs(5) => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(200)),
    }
}
