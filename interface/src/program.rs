//! The program `plaq` as one function, so that its executable is a few lines that call this library.

use std::ffi::{c_char, c_int, CStr, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::{app, capi};

/// The handler of SIGINT and SIGTERM. The first signal asks the work to end; a signal more than a second later ends
/// the process. `timeout` and mpirun send the first one twice, which is why an earlier second one is ignored.
extern "C" fn interrupt(number: c_int) {
    static FIRST: AtomicI64 = AtomicI64::new(0);
    // SAFETY: these functions may be called in a handler of signals.
    unsafe {
        let now = libc::time(std::ptr::null_mut());
        let first = FIRST.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_err_and(|first| now - first > 1) {
            libc::signal(number, libc::SIG_DFL);
            libc::raise(number);
        }
    }
    app::INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Makes writing to a pipe that nobody reads fail, where otherwise it ends the process.
fn outlive_readers() {
    // SAFETY: a signal is ignored.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// NCCL's variable for multicast of NVLink.
const MULTICAST: &str = "NCCL_NVLS_ENABLE";

/// Opens those of standard input, output and error that are closed, so that no file opened by the program takes their
/// place. Returns whether standard output was open.
fn standard_streams() -> bool {
    let mut output = true;
    for stream in 0..3 {
        // SAFETY: descriptors and a text that ends with NUL.
        unsafe {
            if libc::fcntl(stream, libc::F_GETFD) == -1 {
                output &= stream != libc::STDOUT_FILENO;
                // The lowest descriptor that is free, which is this one.
                libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
            }
        }
    }
    output
}

/// Runs the program `plaq` with the arguments of `main` and returns its exit status. It handles SIGINT and SIGTERM,
/// prints, and starts MPI if mpirun has started the process.
///
/// # Safety
/// `argv` has `argc` texts that end with NUL.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn plaq_program_main(argc: c_int, argv: *const *const c_char) -> c_int {
    let text = |k: usize| -> OsString {
        // SAFETY: one of argc texts, as the caller promises.
        let text = unsafe { CStr::from_ptr(*argv.add(k)) };
        OsStr::from_bytes(text.to_bytes()).to_os_string()
    };
    let arguments: Vec<OsString> = (1..argc.max(1) as usize).map(text).collect();
    for number in [libc::SIGINT, libc::SIGTERM] {
        let handler: extern "C" fn(c_int) = interrupt;
        // SAFETY: the handler calls what a handler may call.
        unsafe { libc::signal(number, handler as libc::sighandler_t) };
    }
    // Multicast of NVLink stays off unless the user wants it: machines whose GPUs are divided often forbid it, and NCCL
    // has no other place for that. No other thread exists that could read the environment meanwhile.
    if std::env::var_os(MULTICAST).is_none() {
        std::env::set_var(MULTICAST, "0");
    }
    let _ = app::WORDS.set(capi::word);
    let _ = app::OUTLIVE_READERS.set(outlive_readers);
    let output = standard_streams();
    std::panic::catch_unwind(|| app::main(&arguments, output)).unwrap_or(1)
}
