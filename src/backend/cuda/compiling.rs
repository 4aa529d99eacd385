//! The end of a process waits for the compiler.
//!
//! NVRTC registers destructors of its objects with `__cxa_atexit`, some when it is opened and some in its first
//! compilation. `exit` runs the last registered first, so that a handler which waits for compilations must be
//! registered after all of these, or they destroy what a compilation uses. Here it is registered again after each
//! compilation and, while one goes on, by each thread that has asked for one when its thread-local objects are
//! destroyed: in the thread that calls `exit` this comes before all handlers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::Once;
use std::time::Duration;

use crate::bail;
use crate::error::Result;

/// Compilations that go on, and files of the cache that are written.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);

/// Before the first compilation of the process.
fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        stay_loaded();
        // A child has none of the threads that compile.
        extern "C" fn in_child() {
            RUNNING.store(0, SeqCst);
        }
        // SAFETY: a function that may run at any time.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

/// What the end of the process waits for, until this is dropped.
pub struct Running(());

/// Begins what the end of the process must wait for.
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
        register();
        RUNNING.fetch_sub(1, SeqCst);
    }
}

/// Has the wait at the end of the process come before what is registered already.
fn register() {
    extern "C" fn end() {
        ENDING.store(true, SeqCst);
        while RUNNING.load(SeqCst) > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    // SAFETY: a function that may run at any time.
    _ = unsafe { libc::atexit(end) };
}

/// The calling thread asks for compilations; it may be the one that calls `exit`.
pub fn asked_here() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            if RUNNING.load(SeqCst) > 0 {
                register();
            }
        }
    }
    thread_local!(static LAST: Last = const { Last });
    prepare();
    _ = LAST.try_with(|_| {});
}

/// A host that unloads this library leaves its code to the threads that compile.
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

/// Starts threads that compile. Signals are for the host's threads: a handler that calls `exit` in one of these would
/// wait for itself. Those that tell of a thread's own faults are not blocked.
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
