//! Makes the end of the process wait for the compiler.
//!
//! NVRTC registers destructors of its objects, which `exit` would run, in whichever thread calls it, while other
//! threads compile. Its copies register none (`image.rs`); `exit` still waits, since files of the cache may be half
//! written.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::Once;
use std::time::Duration;

use crate::bail;
use crate::error::Result;

/// Number of compilations that run, and of cache files that are being written.
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
        // A child has none of the threads that compile, and would wait for ever for locks of the loader that one of
        // them holds.
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

/// Begins work for whose end the end of the process has to wait.
///
/// # Errors
/// `CompileFailed`: the process is ending.
pub fn begin() -> Result<Running> {
    prepare();
    RUNNING.fetch_add(1, SeqCst);
    let running = Running(());
    goes_on().map(|()| running)
}

/// # Errors
/// `CompileFailed`: the process is ending.
pub fn goes_on() -> Result<()> {
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

/// Number of processes of this machine that compile at a time, 1 unless told otherwise.
static PROCESSES: AtomicUsize = AtomicUsize::new(1);

/// Sets how many processes share the machine. Compiling threads then run on this process's share of all cores that
/// the machine has for it: launchers of MPI bind a process to one core, where all threads would wait for each other.
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

/// Lets this thread, which compiles, run on every core that the machine has for the process.
pub fn on_any_core() {
    if PROCESSES.load(SeqCst) > 1 {
        let all = [0xffu8; 1024];
        // SAFETY: a mask and its size; cores that there are not do not count.
        unsafe { libc::sched_setaffinity(0, all.len(), all.as_ptr().cast()) };
    }
}

/// Calls `start` to start threads with signals blocked: a handler that calls `exit` in a compiling thread would wait
/// for itself, so that signals go to the host's threads. Signals for faults of the thread itself are not blocked.
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
