//! Waits of the host for the device. A kernel may itself wait for another rank, which may have failed; therefore the
//! host checks these ranks for failures as long as such a kernel may be running.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::driver::{cu, Driver, Handle, NOT_READY};
use crate::backend::Awaited;
use crate::error::Result;

/// Number of polls of the driver between two checks of whether other ranks have failed.
pub const POLLS_PER_CHECK: u64 = 256;
/// Time after which a polling wait yields the core to other threads.
pub const PATIENCE: Duration = Duration::from_millis(1);

/// The stream or event whose completion the host waits for.
#[derive(Clone, Copy)]
pub enum Awaitable {
    Stream(Handle),
    Event(Handle),
}

impl Awaitable {
    fn done(self, d: &Driver, name: &str) -> Result<bool> {
        // SAFETY: the handle is that of a live stream or event of this device.
        let code = unsafe {
            match self {
                Awaitable::Stream(stream) => (d.stream_query)(stream),
                Awaitable::Event(event) => (d.event_query)(event),
            }
        };
        match code {
            0 => Ok(true),
            NOT_READY => Ok(false),
            code => Err(d.error(code, &format!("waiting for {name}"))),
        }
    }

    /// Waits in a driver call that blocks this thread; `name` states in error messages what is waited for.
    pub fn block(self, d: &Driver, name: &str) -> Result<()> {
        match self {
            Awaitable::Stream(stream) => cu!(d, stream_synchronize(stream), "waiting for {name}"),
            Awaitable::Event(event) => cu!(d, event_synchronize(event), "waiting for {name}"),
        }
    }
}

/// The ranks that are checked for failures during a wait: those for which kernels wait that were launched and may not
/// have ended. Other ranks may fail without affecting other users of the device.
#[derive(Default)]
pub struct WatchedRanks {
    list: Mutex<List>,
    /// Number of polls by waits outside of this struct (`polled`).
    polls: AtomicU64,
}

#[derive(Default)]
struct List {
    /// Number of the last entry.
    last: u64,
    all: Vec<(u64, Weak<dyn Awaited>)>,
}

impl WatchedRanks {
    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the ranks for which the kernel to be launched next waits.
    pub fn add(&self, awaited: &Weak<dyn Awaited>) {
        let mut list = self.list();
        list.last += 1;
        let last = list.last;
        list.all.retain(|(_, one)| one.strong_count() > 0 && !one.ptr_eq(awaited));
        list.all.push((last, awaited.clone()));
    }

    /// A mark for `done`, which stands for all ranks added so far.
    pub fn mark(&self) -> u64 {
        self.list().last
    }

    /// Removes the ranks of kernels that were launched before a mark and have ended.
    pub fn done(&self, mark: u64) {
        self.list().all.retain(|(number, _)| *number > mark);
    }

    /// Whether a kernel may be waiting for other ranks.
    pub fn any(&self) -> bool {
        self.list().all.iter().any(|(_, one)| one.strong_count() > 0)
    }

    /// Checks all ranks for failures. An error means that one has failed and that no kernel waits for it any more. All
    /// entries of the list are checked, since kernels that wait for a part of the ranks must end, too.
    pub fn check_ranks(&self) -> Result<()> {
        let all: Vec<Arc<dyn Awaited>> =
            self.list().all.iter().filter_map(|(_, one)| one.upgrade()).collect();
        let mut found = Ok(());
        for one in all {
            let asked = one.check_ranks();
            found = found.and(asked);
        }
        found
    }

    /// Called by a wait that polls the device by itself, after each poll that found it busy; checks all ranks for
    /// failures once in `POLLS_PER_CHECK` calls.
    pub fn polled(&self) -> Result<()> {
        match self.polls.fetch_add(1, Ordering::Relaxed) % POLLS_PER_CHECK == POLLS_PER_CHECK - 1 {
            true => self.check_ranks(),
            false => Ok(()),
        }
    }

    /// Waits until the driver reports a stream or event as complete; `name` states in error messages what is waited
    /// for.
    pub fn wait_for(&self, d: &Driver, wanted: Awaitable, name: &str) -> Result<()> {
        self.wait(|| wanted.done(d, name), || wanted.block(d, name))
    }

    /// Waits until `done` returns true. `block` waits in the driver instead; it is used if no kernel waits for other
    /// ranks, and for the end of kernels that were given up.
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
            if round.is_multiple_of(POLLS_PER_CHECK) {
                if let Err(e) = self.check_ranks() {
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
    use std::sync::atomic::{AtomicBool, AtomicU32};

    use super::*;
    use crate::error::{Error, Status};

    /// Ranks of which one reports a failure when it is asked for the last time.
    struct Ranks {
        left: AtomicU32,
        given_up: AtomicBool,
    }

    impl Awaited for Ranks {
        fn check_ranks(&self) -> Result<()> {
            if self.left.fetch_sub(1, Ordering::Relaxed) > 1 {
                return Ok(());
            }
            self.given_up.store(true, Ordering::Relaxed);
            Err(Error::new(Status::CommFailed, "rank 1 failed"))
        }
    }

    fn failing(left: u32) -> Arc<Ranks> {
        Arc::new(Ranks { left: AtomicU32::new(left), given_up: AtomicBool::new(false) })
    }

    fn awaited(ranks: &Arc<Ranks>) -> Weak<dyn Awaited> {
        let ranks: Arc<dyn Awaited> = ranks.clone();
        Arc::downgrade(&ranks)
    }

    #[test]
    fn a_rank_that_failed_ends_a_wait() {
        let ranks = failing(3);
        let waits = WatchedRanks::default();
        let blocked = Cell::new(0);
        // The kernel never ends by itself.
        let done = || Ok(ranks.given_up.load(Ordering::Relaxed));
        let block = || {
            blocked.set(blocked.get() + 1);
            Ok(())
        };
        waits.add(&awaited(&ranks));
        assert!(waits.any());
        let e = waits.wait(done, block).unwrap_err();
        assert_eq!((e.status, blocked.get()), (Status::CommFailed, 1));
        // Kernels that have ended are not waited for.
        waits.wait(done, block).unwrap();
        assert_eq!(blocked.get(), 1);
        drop(ranks);
        assert!(!waits.any());
        waits.wait(|| panic!("no rank to ask"), block).unwrap();
        assert_eq!(blocked.get(), 2);
    }
    /// Kernels that wait for a part of the ranks are given up after the same failure, before the driver waits for
    /// their end.
    #[test]
    fn a_failure_is_told_to_all() {
        let (all, part) = (failing(1), failing(1));
        let waits = WatchedRanks::default();
        waits.add(&awaited(&all));
        waits.add(&awaited(&part));
        let given_up = || [&all, &part].map(|ranks| ranks.given_up.load(Ordering::Relaxed));
        let block = || {
            assert_eq!(given_up(), [true; 2]);
            Ok(())
        };
        assert_eq!(waits.wait(|| Ok(false), block).unwrap_err().status, Status::CommFailed);
    }

    /// A wait that polls by itself also gets the error of a failed rank; it checks ranks only once in `POLLS_PER_CHECK`
    /// polls.
    #[test]
    fn polls_ask() {
        let ranks = failing(2);
        let waits = WatchedRanks::default();
        waits.add(&awaited(&ranks));
        let failed = (1..4 * POLLS_PER_CHECK).find(|_| waits.polled().is_err());
        assert_eq!(failed, Some(2 * POLLS_PER_CHECK));
    }

    /// Ranks that were lost after their kernels had ended do not end other waits.
    #[test]
    fn only_ranks_of_kernels_at_work_are_asked() {
        let (lost, well) = (failing(1), failing(u32::MAX));
        let waits = WatchedRanks::default();
        waits.add(&awaited(&lost));
        let mark = waits.mark();
        waits.add(&awaited(&well));
        assert!(waits.any());
        waits.done(mark);
        waits.check_ranks().unwrap();
        assert_eq!(well.left.load(Ordering::Relaxed), u32::MAX - 1);
        // Launched again after the mark: one more time in the list, and not done.
        let mark = waits.mark();
        waits.add(&awaited(&well));
        waits.done(mark);
        assert!(waits.any());
        waits.done(waits.mark());
        assert!(!waits.any());
        waits.add(&awaited(&lost));
        waits.check_ranks().unwrap_err();
    }
}
