//! The host waits for the device. A kernel may itself wait for another rank, which may have failed
//! meanwhile; so the ranks are asked as long as the device is at work.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::backend::Awaited;
use crate::error::Result;

/// Looks at what is waited for between two questions to ranks.
pub const ROUNDS: u64 = 256;
/// A wait this long lets other threads have the core.
pub const PATIENCE: Duration = Duration::from_millis(1);

/// Who is asked.
#[derive(Default)]
pub struct Waits(Mutex<Vec<Weak<dyn Awaited>>>);

impl Waits {
    pub fn add(&self, awaited: Weak<dyn Awaited>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        all.push(awaited);
    }

    fn all(&self) -> Vec<Arc<dyn Awaited>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).collect()
    }

    /// May a kernel wait for other ranks?
    pub fn any(&self) -> bool {
        !self.all().is_empty()
    }

    /// An error: a rank failed, and no kernel waits for it any more.
    pub fn ask(&self) -> Result<()> {
        self.all().iter().try_for_each(|one| one.ask())
    }

    /// Returns when `done` says so. `block` waits for the same in the driver: where no kernel waits for
    /// other ranks, and to the end of kernels that were given up.
    pub fn wait(
        &self,
        done: impl Fn() -> Result<bool>,
        block: impl Fn() -> Result<()>,
    ) -> Result<()> {
        if !self.any() {
            return block();
        }
        let start = Instant::now();
        for round in 1u64.. {
            if done()? {
                break;
            }
            if round.is_multiple_of(ROUNDS) {
                if let Err(e) = self.ask() {
                    block()?;
                    return Err(e);
                }
                if start.elapsed() > PATIENCE {
                    std::thread::yield_now();
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;
    use crate::error::{Error, Status};

    /// Ranks of which one fails when it is asked for the last time.
    struct Ranks {
        left: AtomicU32,
        given_up: AtomicBool,
    }

    impl Awaited for Ranks {
        fn ask(&self) -> Result<()> {
            if self.left.fetch_sub(1, Ordering::Relaxed) > 1 {
                return Ok(());
            }
            self.given_up.store(true, Ordering::Relaxed);
            Err(Error::new(Status::CommFailed, "rank 1 failed"))
        }
    }

    #[test]
    fn a_rank_that_failed_ends_a_wait() {
        let ranks = Arc::new(Ranks { left: AtomicU32::new(3), given_up: AtomicBool::new(false) });
        let waits = Waits::default();
        let blocked = Cell::new(0);
        // The kernel never ends by itself.
        let done = || Ok(ranks.given_up.load(Ordering::Relaxed));
        let block = || {
            blocked.set(blocked.get() + 1);
            Ok(())
        };
        waits.add(Arc::downgrade(&ranks) as Weak<dyn Awaited>);
        assert!(waits.any());
        let e = waits.wait(done, block).unwrap_err();
        assert_eq!((e.status, blocked.get()), (Status::CommFailed, 1));
        // What has ended is not asked for.
        waits.wait(done, block).unwrap();
        assert_eq!(blocked.get(), 1);
        drop(ranks);
        assert!(!waits.any());
        waits.wait(|| panic!("no rank to ask"), block).unwrap();
        assert_eq!(blocked.get(), 2);
    }
}
