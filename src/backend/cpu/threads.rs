//! Threads on which the work of a kernel launch runs in parallel. The calling thread takes part. Worker threads that
//! have finished poll for more work before they sleep, since falling asleep and waking up takes tens of microseconds,
//! as long as a small launch.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

/// Time for which workers poll for new work before they sleep.
const POLL_TIME: Duration = Duration::from_micros(100);
/// Sleeping workers are woken if a launch still has work left after this time.
const WAKE_THRESHOLD: Duration = Duration::from_micros(20);
/// Number of pieces into which a launch is divided for each thread; other threads take pieces of a thread that is late.
const PIECES: usize = 4;

/// Bits of the gate's state. The bits below OPEN count the workers inside, OPEN is set while workers may enter, and the
/// bits from FORK on count the parallel work so far.
const OPEN: u64 = 1 << 16;
const FORK: u64 = OPEN << 1;

type Body<'a> = dyn Fn(usize) + Sync + 'a;

/// Interval at which a thread interrupts its part of a launch to call the function of `while_working`.
const CALLBACK_INTERVAL: Duration = Duration::from_micros(20);
const PIECES_WITH_CALLBACK: usize = 16;

thread_local! {
    static GOES_ON: Cell<Option<&'static dyn Fn()>> = const { Cell::new(None) };
}

/// Runs `work` and returns its result; between the pieces of the launches that it makes, this thread calls `go_on` from
/// time to time (e.g. to let MPI make progress).
pub(crate) fn while_working<T>(go_on: &dyn Fn(), work: impl FnOnce() -> T) -> T {
    struct Back(Option<&'static dyn Fn()>);
    impl Drop for Back {
        fn drop(&mut self) {
            GOES_ON.set(self.0);
        }
    }
    // SAFETY: only the lifetime changes; it is taken back before this returns.
    let go_on = unsafe { std::mem::transmute::<&dyn Fn(), &'static dyn Fn()>(go_on) };
    let _back = Back(GOES_ON.replace(Some(go_on)));
    work()
}

/// The function of `while_working` that this thread calls during a launch, and the time of its last call.
struct LaunchCallback {
    go_on: Option<&'static dyn Fn()>,
    last: Cell<Instant>,
}

impl LaunchCallback {
    fn new() -> Self {
        LaunchCallback { go_on: GOES_ON.get(), last: Cell::new(Instant::now()) }
    }
    /// Calls the function between two pieces of a launch, if `CALLBACK_INTERVAL` has passed since its last call.
    fn call_if_due(&self) {
        if let Some(go_on) = self.go_on.filter(|_| self.last.get().elapsed() >= CALLBACK_INTERVAL) {
            go_on();
            self.last.set(Instant::now());
        }
    }
}

/// A value that is alone in its cache lines, so that threads that use other values do not slow it down.
#[repr(align(128))]
struct CacheAligned<T>(T);

struct Shared {
    gate: CacheAligned<AtomicU64>,
    /// True while a caller runs parallel work.
    taken: AtomicBool,
    /// The parallel work, written by the caller while the gate is closed and no worker is inside.
    job: UnsafeCell<Option<Job>>,
    /// For each thread the number of the next piece of its share that no thread has taken yet.
    next: Box<[CacheAligned<AtomicUsize>]>,
    sleepers: Box<[Sleeper]>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    stop: AtomicBool,
}

#[derive(Clone, Copy)]
struct Job {
    body: *const Body<'static>,
    first: usize,
    end: usize,
}

#[derive(Default)]
struct Sleeper {
    asleep: AtomicBool,
    thread: OnceLock<Thread>,
}

// SAFETY: of what is not Sync, `job` is written by one caller while no worker is inside of the gate and
// read inside of it only, and the body that it points to is Sync.
unsafe impl Sync for Shared {}
// SAFETY: its members are only used as described for Sync, by any thread.
unsafe impl Send for Shared {}

impl Job {
    /// The first piece of a thread's share.
    fn share(&self, thread: usize, threads: usize) -> usize {
        self.first + thread * (self.end - self.first) / threads
    }
}

impl Shared {
    /// Runs pieces until none are left: first those of thread `me`, then those of others; `after` runs after each
    /// piece.
    fn work(&self, me: usize, job: Job, after: impl Fn()) {
        let threads = self.next.len();
        // SAFETY: the caller of `run` waits for all who are inside before the body goes out of scope.
        let body = unsafe { &*job.body };
        let all = || {
            for of in (me..threads).chain(0..me) {
                let end = job.share(of + 1, threads);
                loop {
                    let piece = self.next[of].0.fetch_add(1, Ordering::Relaxed);
                    if piece >= end {
                        break;
                    }
                    body(piece);
                    after();
                }
            }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(all)) {
            self.next.iter().for_each(|next| next.0.store(job.end, Ordering::Relaxed));
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
        }
    }

    /// Wakes at most two sleeping workers, which in turn wake others.
    fn wake(&self) {
        let asleep = |s: &&Sleeper| s.asleep.load(Ordering::SeqCst);
        for sleeper in self.sleepers.iter().filter(asleep).take(2) {
            if sleeper.asleep.swap(false, Ordering::SeqCst) {
                sleeper.thread.get().expect("set before it slept").unpark();
            }
        }
    }

    /// The state of the gate, if it is open for work other than number `last`.
    fn work_after(&self, last: u64) -> Option<u64> {
        let gate = self.gate.0.load(Ordering::SeqCst);
        (gate & OPEN != 0 && gate / FORK != last).then_some(gate)
    }

    /// The loop of a worker thread.
    fn run_worker(&self, me: usize) {
        let sleeper = &self.sleepers[me - 1];
        let _ = sleeper.thread.set(thread::current());
        let (mut last, mut slept, mut watch) = (0, false, Watch::new());
        while !self.stop.load(Ordering::Relaxed) {
            let Some(gate) = self.work_after(last) else {
                if watch.goes_on(POLL_TIME) {
                    continue;
                }
                // Either the thread that opens the gate sees that this worker is asleep, or this worker sees the open
                // gate.
                sleeper.asleep.store(true, Ordering::SeqCst);
                if self.work_after(last).is_none() {
                    thread::park();
                }
                sleeper.asleep.store(false, Ordering::SeqCst);
                (slept, watch) = (true, Watch::new());
                continue;
            };
            if self
                .gate
                .0
                .compare_exchange(gate, gate + 1, Ordering::SeqCst, Ordering::Relaxed)
                .is_err()
            {
                continue;
            }
            if slept {
                self.wake();
            }
            // SAFETY: inside of the gate nobody writes it.
            let job = unsafe { *self.job.get() }.expect("set before the gate was opened");
            self.work(me, job, || {});
            self.gate.0.fetch_sub(1, Ordering::SeqCst);
            (last, slept, watch) = (gate / FORK, false, Watch::new());
        }
    }
}

/// A wait for another thread by polling, which yields the core to other threads from time to time.
struct Watch {
    since: Instant,
    turns: u32,
}

impl Watch {
    fn new() -> Self {
        Watch { since: Instant::now(), turns: 0 }
    }
    /// Waits for a short time; returns false after `limit`.
    fn goes_on(&mut self, limit: Duration) -> bool {
        self.turns += 1;
        (0..4).for_each(|_| std::hint::spin_loop());
        if !self.turns.is_multiple_of(16) {
            return true;
        }
        thread::yield_now();
        self.since.elapsed() < limit
    }
}

/// The threads of a device: the caller of `run`, and worker threads.
pub struct Threads {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Value of [`forks`] when the threads were started.
    forks: usize,
}

static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Number of forks among the ancestors of this process after they had used plaq. A child has its parent's memory but
/// none of its threads.
fn forks() -> usize {
    static COUNTING: Once = Once::new();
    #[cfg(unix)]
    COUNTING.call_once(|| {
        extern "C" fn in_child() {
            FORKS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: a function that does nothing but count.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    FORKS.load(Ordering::Relaxed)
}

impl Threads {
    /// Starts threads, so that there are `count` including the caller; 0: as many as this process may use.
    pub fn start(count: usize) -> std::io::Result<Self> {
        let count = match count {
            0 => thread::available_parallelism().map_or(1, |n| n.get()),
            count => count,
        };
        let shared = Arc::new(Shared {
            gate: CacheAligned(AtomicU64::new(0)),
            taken: AtomicBool::new(false),
            job: UnsafeCell::new(None),
            next: (0..count).map(|_| CacheAligned(AtomicUsize::new(0))).collect(),
            sleepers: (1..count).map(|_| Sleeper::default()).collect(),
            panic: Mutex::new(None),
            stop: AtomicBool::new(false),
        });
        let mut threads = Threads { shared, workers: Vec::new(), forks: forks() };
        for me in 1..count {
            let shared = threads.shared.clone();
            let named = thread::Builder::new().name(format!("plaq-{me}"));
            threads.workers.push(named.spawn(move || shared.run_worker(me))?);
        }
        Ok(threads)
    }

    pub fn count(&self) -> usize {
        self.workers.len() + 1
    }

    /// Whether the worker threads exist in this process; in a child process after a fork they do not.
    pub fn exist(&self) -> bool {
        self.workers.is_empty() || self.forks == FORKS.load(Ordering::Relaxed)
    }

    /// Runs `body` in parallel on ranges that cover 0..n.
    pub fn ranges(&self, n: usize, body: impl Fn(std::ops::Range<usize>) + Sync) {
        let callback = GOES_ON.get().is_some();
        let each = if callback { PIECES_WITH_CALLBACK } else { PIECES };
        let pieces = (each * self.count()).min(n);
        match self.count() {
            1 if n > 0 && !callback => body(0..n),
            _ => self.run(pieces, &|p| body(p * n / pieces..(p + 1) * n / pieces)),
        }
    }

    /// Runs `body` once for each of 0..pieces. While another caller runs parallel work, this thread waits for it and
    /// then runs all pieces alone. A panic of `body` is passed on to the caller when all threads have stopped.
    pub fn run(&self, pieces: usize, body: &Body<'_>) {
        let callback = LaunchCallback::new();
        for first in 0..pieces {
            let alone = self.workers.is_empty() || pieces - first == 1;
            if !alone && !self.shared.taken.swap(true, Ordering::Acquire) {
                return self.fork(first, pieces, body);
            }
            body(first);
            callback.call_if_due();
        }
    }

    fn fork(&self, first: usize, end: usize, body: &Body<'_>) {
        let shared = &*self.shared;
        // SAFETY: only the lifetime changes; nobody is inside of the gate any more when this returns.
        let body: *const Body<'static> =
            unsafe { std::mem::transmute::<&Body<'_>, &Body<'static>>(body) };
        let job = Job { body, first, end };
        // SAFETY: `taken` is this caller's, the gate is closed and nobody inside.
        unsafe { *shared.job.get() = Some(job) };
        for (thread, next) in shared.next.iter().enumerate() {
            next.0.store(job.share(thread, self.count()), Ordering::Relaxed);
        }
        let number = shared.gate.0.load(Ordering::Relaxed) / FORK + 1;
        shared.gate.0.store(number * FORK + OPEN, Ordering::SeqCst);
        let (began, done, callback) = (Instant::now(), Cell::new(0), LaunchCallback::new());
        shared.work(0, job, || {
            done.set(done.get() + 1);
            let left = (end - first).saturating_sub(done.get());
            if began.elapsed() * left as u32 > WAKE_THRESHOLD * done.get() as u32 {
                shared.wake();
            }
            callback.call_if_due();
        });
        // All pieces have been taken, so that workers that have not entered yet need not do so.
        shared.gate.0.fetch_and(!OPEN, Ordering::SeqCst);
        let mut watch = Watch::new();
        while shared.gate.0.load(Ordering::SeqCst) & (OPEN - 1) != 0 {
            if !watch.goes_on(2 * POLL_TIME) {
                thread::sleep(POLL_TIME / 2);
            }
        }
        let panic = shared.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        shared.taken.store(false, Ordering::Release);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if !self.exist() {
            // After a fork the worker threads belong to the parent, so that this process must neither join nor detach
            // them.
            return self.workers.drain(..).for_each(std::mem::forget);
        }
        self.shared.stop.store(true, Ordering::SeqCst);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            // The worker catches all panics, so `join` does not fail.
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The function that is given to `while_working` is called in the launching thread during launches, not after them.
    #[test]
    fn something_else_goes_on_beside_launches() {
        for count in [1, 2] {
            let threads = Threads::start(count).unwrap();
            let (calls, me) = (Cell::new(0), thread::current().id());
            let go_on = || {
                assert_eq!(thread::current().id(), me);
                calls.set(calls.get() + 1);
            };
            let launch = || {
                threads.ranges(64, |range| {
                    let until = Instant::now() + Duration::from_micros(30) * range.len() as u32;
                    while Instant::now() < until {}
                });
            };
            while_working(&go_on, launch);
            let callback = calls.get();
            assert!(callback > 3, "{callback} calls with {count} threads");
            launch();
            assert_eq!(calls.get(), callback);
        }
    }

    /// Checks that every piece is run once.
    fn check(threads: &Threads, pieces: usize) {
        let counts: Vec<_> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
        threads.run(pieces, &|p| _ = counts[p].fetch_add(1, Ordering::Relaxed));
        assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1), "{pieces}");
    }

    #[test]
    fn every_piece_runs_once() {
        for count in [1, 2, 3, 16] {
            let threads = Threads::start(count).unwrap();
            assert_eq!(threads.count(), count);
            for round in 0..200 {
                check(&threads, [0, 1, 2, count - 1, 4 * count + 1, 1000][round % 6]);
            }
            let sites = AtomicUsize::new(0);
            for n in [0, 1, 5, 1001] {
                threads.ranges(n, |range| _ = sites.fetch_add(range.len(), Ordering::Relaxed));
            }
            assert_eq!(sites.into_inner(), 1007);
        }
    }

    #[test]
    fn callers_share_the_workers_and_may_nest() {
        let threads = Threads::start(3).unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|n| check(&threads, n % 40)));
            }
        });
        let inner = AtomicUsize::new(0);
        threads.run(9, &|_| threads.run(5, &|_| _ = inner.fetch_add(1, Ordering::Relaxed)));
        assert_eq!(inner.into_inner(), 45);
    }

    #[test]
    fn workers_that_sleep_are_woken_where_it_is_worth_it() {
        let threads = Threads::start(4).unwrap();
        let all_sleep = || threads.shared.sleepers.iter().all(|s| s.asleep.load(Ordering::SeqCst));
        while !all_sleep() {
            thread::sleep(POLL_TIME);
        }
        let seen = Mutex::new(HashSet::new());
        threads.run(40, &|_| {
            thread::sleep(Duration::from_millis(1));
            seen.lock().unwrap().insert(thread::current().id());
        });
        assert_eq!(seen.lock().unwrap().len(), 4);
        while !all_sleep() {
            thread::sleep(POLL_TIME);
        }
        check(&threads, 8);
    }

    #[test]
    fn a_panic_comes_out_and_the_threads_go_on() {
        let threads = Threads::start(2).unwrap();
        for bad in [0, 7, 63] {
            let run = || threads.run(64, &|p| assert_ne!(p, bad, "as asked"));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            check(&threads, 64);
        }
    }
}
