//! The library as a whole: version, statuses, messages, log.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void, CString};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, RwLock};

use super::args::{choose, Raw};
use super::boundary::{c_string, last_error, last_error_in_words, logging};
use super::table::interface;
use crate::bail;
use crate::error::{Result, Status};
use crate::params::Number;

/// What is logged.
#[derive(Clone, Copy, PartialEq)]
pub struct Level(log::LevelFilter);

interface! {
    "Library: version, messages, log"
    constants {
        /// Levels of the log; a callback is told everything up to the level that it asked for.
        plaq_log_level: Level {
            /// Nothing (the default).
            PLAQ_LOG_OFF = 0 => Level(log::LevelFilter::Off),
            /// Defects of plaq and lost devices.
            PLAQ_LOG_ERROR = 1 => Level(log::LevelFilter::Error),
            /// Refused calls.
            PLAQ_LOG_WARN = 2 => Level(log::LevelFilter::Warn),
            /// What takes long: compilation, tuning, solves.
            PLAQ_LOG_INFO = 3 => Level(log::LevelFilter::Info),
            /// Choices that the library makes on the way.
            PLAQ_LOG_DEBUG = 4 => Level(log::LevelFilter::Debug),
            /// Every call and its time.
            PLAQ_LOG_TRACE = 5 => Level(log::LevelFilter::Trace),
        }
    }
    callbacks {
        /// Gets one line of the log; may be called from any thread. Calls of plaq that it makes are
        /// refused with PLAQ_BUSY.
        plaq_log_callback(level: plaq_log_level, message: *const c_char, user: *mut c_void) -> ();
    }
    texts {
        /// Gives the version of the library, "major.minor.patch".
        plaq_version() = version;
        /// Gives the message of this thread's last failed call: function, argument, expected, found.
        /// The address stays the same for a thread, the text until it asks again; never NULL.
        plaq_last_error() = last_error;
        /// Gives it with the words of values and parameters that files and languages other than C use: `full`
        /// for PLAQ_SYSTEM_FULL, `tol` for params.tol.
        plaq_last_error_in_words() = last_error_in_words;
        /// Gives the name of a status, e.g. "PLAQ_NULL_POINTER"; "unknown status" for other numbers.
        plaq_status_name(status: i32) = status_name;
        /// Says what a status means, in a sentence.
        plaq_status_help(status: i32) = status_help;
    }
    functions {
        /// Sends the log up to `level` to the host; NULL or PLAQ_LOG_OFF makes plaq quiet again.
        /// One callback per process.
        plaq_log_set(callback: Raw<plaq_log_callback>, user: *mut c_void, level: plaq_log_level) = log_set;
    }
}

fn version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Names and help texts of all statuses, for C.
static STATUSES: LazyLock<Vec<(i32, CString, CString)>> = LazyLock::new(|| {
    let row = |&(status, name, help): &(Status, &str, &str)| {
        (status as i32, c_string(format!("PLAQ_{name}")), c_string(help.into()))
    };
    Status::TABLE.iter().map(row).collect()
});

fn status_name(status: i32) -> *const c_char {
    let row = STATUSES.iter().find(|row| row.0 == status);
    row.map_or(c"unknown status".as_ptr(), |row| row.1.as_ptr())
}

fn status_help(status: i32) -> *const c_char {
    let row = STATUSES.iter().find(|row| row.0 == status);
    row.map_or(c"this number is not a status of plaq".as_ptr(), |row| row.2.as_ptr())
}

/// Targets of the log: a function of the host, a file of the host, or both, each with a level of its own.
#[derive(Clone)]
struct Targets {
    callback: (plaq_log_callback, usize),
    level: log::LevelFilter,
    file: LogFile,
}

/// A C `FILE *`, NULL for stdout, and what its lines begin with; calls may have a level of their own.
#[derive(Clone)]
pub(crate) struct LogFile {
    pub file: usize,
    pub prefix: String,
    pub level: log::LevelFilter,
}

thread_local! {
    /// Level of this thread's lines in the file during a call that has one of its own.
    static OF_CALL: Cell<Option<log::LevelFilter>> = const { Cell::new(None) };
}

struct HostLog(RwLock<Targets>);

static HOST_LOG: HostLog = HostLog(RwLock::new(Targets {
    callback: (plaq_log_callback(None), 0),
    level: log::LevelFilter::Off,
    file: LogFile { file: 0, prefix: String::new(), level: log::LevelFilter::Off },
}));

/// Does this rank write lines of the log to a file.
static WRITES: AtomicBool = AtomicBool::new(false);

impl log::Log for HostLog {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }
    fn log(&self, record: &log::Record) {
        // Copied out: another thread may change them meanwhile.
        let targets = self.0.read().unwrap_or_else(|e| e.into_inner()).clone();
        if let ((plaq_log_callback(Some(callback)), user), true) =
            (targets.callback, record.level() <= targets.level)
        {
            let line = c_string(record.args().to_string());
            // SAFETY: the host's function and its own pointer, as plaq_log_set took them.
            logging(|| unsafe {
                callback(Number::new(record.level() as i32), line.as_ptr(), user as *mut c_void)
            });
        }
        let LogFile { file, prefix, level } = targets.file;
        let level = OF_CALL.get().unwrap_or(level);
        if record.level() <= level && WRITES.load(Ordering::Relaxed) {
            let line = c_string(format!("{prefix}{}", record.args()));
            // SAFETY: texts end with NUL; the file is open until the host names another one or none, or stdout.
            unsafe {
                match file {
                    0 => _ = libc::puts(line.as_ptr()),
                    file => {
                        libc::fputs(line.as_ptr(), file as *mut libc::FILE);
                        libc::fputc(c_int::from(b'\n'), file as *mut libc::FILE);
                    }
                }
                libc::fflush(file as *mut libc::FILE);
            }
        }
    }
    fn flush(&self) {}
}

/// Is the log of this process the one here, from now on.
fn ours() -> bool {
    let ours = (log::logger() as *const dyn log::Log).cast::<()>() == (&raw const HOST_LOG).cast();
    ours || log::set_logger(&HOST_LOG).is_ok()
}

/// Changes where the log goes.
fn direct(change: impl FnOnce(&mut Targets)) {
    let mut targets = HOST_LOG.0.write().unwrap_or_else(|e| e.into_inner());
    change(&mut targets);
    log::set_max_level(targets.level.max(targets.file.level));
}

/// Errors: UNSUPPORTED where a Rust program has a logger of its own.
fn log_set(callback: plaq_log_callback, user: *mut c_void, level: plaq_log_level) -> Result<()> {
    let level = match callback.0 {
        Some(_) => choose(level, "level")?.0,
        None => log::LevelFilter::Off,
    };
    if !ours() {
        bail!(Unsupported, "callback: this Rust program has a logger already, plaq logs to it");
    }
    direct(|targets| (targets.callback, targets.level) = ((callback, user as usize), level));
    Ok(())
}

/// Writes the log to a file of the host, while `log_here` says so. Where a Rust program has a logger of its own, this changes
/// nothing: the log stays there.
pub(crate) fn log_to(file: LogFile) {
    if ours() {
        direct(|targets| targets.file = file);
    }
}

/// The level of this thread's lines in the file, `None`: that of `log_to`. Returns what it was before.
pub(crate) fn log_at(level: Option<log::LevelFilter>) -> Option<log::LevelFilter> {
    if let Some(level) = level.filter(|level| *level > log::max_level() && ours()) {
        log::set_max_level(level);
    }
    OF_CALL.replace(level)
}

/// Is this the rank that writes the log to a file.
pub(crate) fn log_here(writes: bool) {
    WRITES.store(writes, Ordering::Relaxed);
}
