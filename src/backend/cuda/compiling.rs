//! Makes the end of the process wait for running compilations.
//!
//! NVRTC registers destructors, which `exit` would run in the thread that calls it while other threads still compile.
//! plaq's copies of NVRTC register none (`image.rs`), but `exit` must still wait, as files of the cache may be only
//! partly written.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::Once;
use std::time::Duration;

use crate::bail;
use crate::error::Result;

/// Number of compilations that are running plus number of cache files that are being written.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);
/// True while the compiler is being opened, or while the process forks.
static OPENING: AtomicBool = AtomicBool::new(false);

/// Prepares the process for compilations, once.
fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        stay_loaded();
        extern "C" fn end() {
            ENDING.store(true, SeqCst);
            while RUNNING.load(SeqCst) > 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        // SAFETY: a function that may run at any time.
        _ = unsafe { libc::atexit(end) };
        // A child process has no compiling threads. If one of them held a lock of the loader during the fork, the child
        // would wait for it for ever.
        extern "C" fn in_child() {
            RUNNING.store(0, SeqCst);
            release();
        }
        // SAFETY: functions that may run at any time.
        unsafe { libc::pthread_atfork(Some(acquire), Some(release), Some(in_child)) };
    });
}

/// A guard: the end of the process waits until it is dropped.
pub struct Running(());

/// Begins a compilation or the writing of a cache file; the process does not end before the guard is dropped.
///
/// # Errors
/// `CompileFailed`: the process is ending.
pub fn begin() -> Result<Running> {
    prepare();
    RUNNING.fetch_add(1, SeqCst);
    let running = Running(());
    check_running().map(|()| running)
}

/// # Errors
/// `CompileFailed`: the process is ending.
pub fn check_running() -> Result<()> {
    if ENDING.load(SeqCst) {
        bail!(CompileFailed, "kernels are no longer compiled: the process is ending");
    }
    Ok(())
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, SeqCst);
    }
}

extern "C" fn acquire() {
    while OPENING.swap(true, SeqCst) {
        std::thread::sleep(Duration::from_millis(1));
    }
}
extern "C" fn release() {
    OPENING.store(false, SeqCst);
}

/// Calls `open`, which opens the compiler; the process cannot fork meanwhile.
pub fn opening<T>(open: impl FnOnce() -> T) -> T {
    acquire();
    let opened = open();
    release();
    opened
}

/// Keeps this library loaded, even if the host unloads it, since the compiling threads run its code.
fn stay_loaded() {
    // SAFETY: this library's file is loaded, and only marked.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(stay_loaded as *const libc::c_void, &mut found) != 0 {
            let how = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            _ = libc::dlopen(found.dli_fname, how);
        }
    }
}

/// Number of processes on this machine that may compile at the same time; 1 unless `share_machine` was called.
static PROCESSES: AtomicUsize = AtomicUsize::new(1);

/// Sets how many processes share the machine. This process then compiles with its share of the machine's cores, also if
/// an MPI launcher has bound it to a single core, where its threads would wait for each other.
pub fn share_machine(processes: usize) {
    PROCESSES.fetch_max(processes, SeqCst);
}

/// Number of threads that compile at a time.
pub fn threads() -> usize {
    let here = || std::thread::available_parallelism().map_or(1, |n| n.get());
    let processes = PROCESSES.load(SeqCst);
    if processes == 1 {
        return here();
    }
    let everywhere = move || {
        on_any_core();
        here()
    };
    let all = std::thread::spawn(everywhere).join().unwrap_or(1);
    here().max(all / processes)
}

/// Allows this compiling thread to run on every core of the machine, if several processes share the machine.
pub fn on_any_core() {
    if PROCESSES.load(SeqCst) > 1 {
        let all = [0xffu8; 1024];
        // SAFETY: a mask and its size; cores that there are not do not count.
        unsafe { libc::sched_setaffinity(0, all.len(), all.as_ptr().cast()) };
    }
}

/// Calls `start`, which starts threads, with signals blocked, so that signals are handled in threads of the host: a
/// handler that calls `exit` in a compiling thread would wait for that thread itself. Signals for faults of the thread
/// are not blocked.
pub fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    let own = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];
    // SAFETY: sets of this function, and the calling thread's mask, which is put back.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
        libc::sigfillset(&mut all);
        own.iter().for_each(|signal| _ = libc::sigdelset(&mut all, *signal));
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let started = start();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        started
    }
}
