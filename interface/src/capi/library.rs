//! Functions of the library as a whole: version, statuses, messages, log.

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

/// The level up to which messages are logged.
#[derive(Clone, Copy, PartialEq)]
pub struct Level(log::LevelFilter);

interface! {
    "Library: version, messages, log"
    constants {
        /// Levels of the log; a callback receives all messages up to the level that it asked for.
        plaq_log_level: Level {
            /// The log is off (the default).
            PLAQ_LOG_OFF = 0 => Level(log::LevelFilter::Off),
            /// Defects of plaq and lost devices.
            PLAQ_LOG_ERROR = 1 => Level(log::LevelFilter::Error),
            /// The lines of PLAQ_LOG_ERROR, and calls that were refused.
            PLAQ_LOG_WARN = 2 => Level(log::LevelFilter::Warn),
            /// The lines of PLAQ_LOG_WARN, and work that takes long: compilation, tuning, solves.
            PLAQ_LOG_INFO = 3 => Level(log::LevelFilter::Info),
            /// The lines of PLAQ_LOG_INFO, and choices that the library makes by itself.
            PLAQ_LOG_DEBUG = 4 => Level(log::LevelFilter::Debug),
            /// The lines of PLAQ_LOG_DEBUG, and every call with the time that it took.
            PLAQ_LOG_TRACE = 5 => Level(log::LevelFilter::Trace),
        }
    }
    callbacks {
        /// Receives one line of the log; it may be called from any thread. Calls of plaq that it makes are refused
        /// with PLAQ_BUSY.
        plaq_log_callback(level: plaq_log_level, message: *const c_char, user: *mut c_void) -> ();
    }
    texts {
        /// Gives the version of the library, "major.minor.patch".
        plaq_version() = version;
        /// Gives the message of this thread's last failed call: function, argument, what was expected and what was
        /// found. The address is always the same for a thread, the text changes when this is called again; never
        /// NULL.
        plaq_last_error() = last_error;
        /// Gives the same message with the words for values and parameters that files and languages other than C use:
        /// `full` for PLAQ_SYSTEM_FULL, `tol` for params.tol.
        plaq_last_error_in_words() = last_error_in_words;
        /// Gives the name of a status, e.g. "PLAQ_NULL_POINTER"; "unknown status" for other numbers.
        plaq_status_name(status: i32) = status_name;
        /// Explains the meaning of a status in a sentence.
        plaq_status_help(status: i32) = status_help;
    }
    functions {
        /// Sends the log up to `level` to a callback; with NULL or PLAQ_LOG_OFF nothing is logged any more. There is
        /// one callback per process.
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

/// Targets of the log: a callback of the host, a file of the host, or both, each with its own level.
#[derive(Clone)]
struct Targets {
    callback: (plaq_log_callback, usize),
    level: log::LevelFilter,
    file: LogFile,
}

/// A C `FILE *` (NULL: stdout) and the prefix of its lines; calls may change its level.
#[derive(Clone)]
pub(crate) struct LogFile {
    pub file: usize,
    pub prefix: String,
    pub level: log::LevelFilter,
}

thread_local! {
    /// For the duration of a call with its own level, the level of this thread's lines in the file.
    static OF_CALL: Cell<Option<log::LevelFilter>> = const { Cell::new(None) };
}

struct HostLog(RwLock<Targets>);

static HOST_LOG: HostLog = HostLog(RwLock::new(Targets {
    callback: (plaq_log_callback(None), 0),
    level: log::LevelFilter::Off,
    file: LogFile { file: 0, prefix: String::new(), level: log::LevelFilter::Off },
}));

/// Whether this rank writes lines of the log to a file.
static WRITES: AtomicBool = AtomicBool::new(false);

impl log::Log for HostLog {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }
    fn log(&self, record: &log::Record) {
        // The targets are copied, as another thread may change them meanwhile.
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

/// Whether the process uses plaq's logger; installs it unless there is another one.
fn ours() -> bool {
    let ours = (log::logger() as *const dyn log::Log).cast::<()>() == (&raw const HOST_LOG).cast();
    ours || log::set_logger(&HOST_LOG).is_ok()
}

/// Changes the targets of the log.
fn direct(change: impl FnOnce(&mut Targets)) {
    let mut targets = HOST_LOG.0.write().unwrap_or_else(|e| e.into_inner());
    change(&mut targets);
    log::set_max_level(targets.level.max(targets.file.level));
}

/// Sets the callback. Errors: UNSUPPORTED if a Rust program has installed its own logger.
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

/// Writes the log to a file of the host, as long as `log_here` allows it. No effect if a Rust program has installed
/// its own logger.
pub(crate) fn log_to(file: LogFile) {
    if ours() {
        direct(|targets| targets.file = file);
    }
}

/// Sets the level of this thread's lines in the file; `None`: that of `log_to`. Returns the previous one.
pub(crate) fn log_at(level: Option<log::LevelFilter>) -> Option<log::LevelFilter> {
    if let Some(level) = level.filter(|level| *level > log::max_level() && ours()) {
        log::set_max_level(level);
    }
    OF_CALL.replace(level)
}

/// Sets whether this rank writes the log to a file.
pub(crate) fn log_here(writes: bool) {
    WRITES.store(writes, Ordering::Relaxed);
}
