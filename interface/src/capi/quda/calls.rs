//! Calls without a status, as QUDA's are: an error is passed to a handler, and after that the program ends unless the
//! host has chosen otherwise.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use super::session;
use crate::bail;
use crate::capi::args::{number_of, One, Out, Raw};
use crate::capi::boundary::{self, LastError, Together};
use crate::capi::library::log_at;
use crate::capi::table::interface;
use crate::comm::Comm;
use crate::error::{Error, Parts, Result, Status};

#[derive(Clone, Copy, PartialEq)]
pub enum ErrorMode {
    End,
    Return,
}

interface! {
    "QUDA's interface: what becomes of errors"
    constants {
        /// Action of a function of the headers in quda/ after an error, when the handler has been called.
        plaq_quda_error_mode: ErrorMode {
            /// Ends the program with exit code 1 (the default).
            PLAQ_QUDA_ERRORS_END = 0 => ErrorMode::End,
            /// Returns. No array, number or count of the host has been written, and the result is NULL, 1 from
            /// functions that return an int, or NaN from those that return a double.
            PLAQ_QUDA_ERRORS_RETURN = 1 => ErrorMode::Return,
        }
    }
    callbacks {
        /// Receives the name of the function that failed, its status, and the message in lines: argument, expected,
        /// found, and what to do. On several ranks all receive the message of the rank that failed.
        plaq_quda_error_callback(function: *const c_char, status: i32, message: *const c_char, user: *mut c_void) -> ();
    }
    functions {
        /// Sets the mode for all threads, from now on.
        plaq_quda_set_error_mode(mode: One<ErrorMode>) = set_mode;
        /// Replaces the handler that prints to stderr; NULL: restores it.
        plaq_quda_set_error_handler(callback: Raw<plaq_quda_error_callback>, user: *mut c_void) = set_handler;
        /// Gives the status of this thread's last call of a function of the headers in quda/; plaq_last_error has
        /// the message of one that failed.
        plaq_quda_last_status(status: Out<i32>) = last_status;
    }
}

static MODE: AtomicI32 = AtomicI32::new(PLAQ_QUDA_ERRORS_END.0);
static HANDLER: RwLock<(plaq_quda_error_callback, usize)> =
    RwLock::new((plaq_quda_error_callback(None), 0));

thread_local! {
    static LAST_STATUS: Cell<i32> = const { Cell::new(0) };
}

fn set_mode(mode: ErrorMode) -> Result<()> {
    MODE.store(number_of(mode).0, Ordering::SeqCst);
    Ok(())
}

fn set_handler(callback: plaq_quda_error_callback, user: *mut c_void) -> Result<()> {
    *HANDLER.write().unwrap_or_else(|e| e.into_inner()) = (callback, user as usize);
    Ok(())
}

fn last_status(status: &mut Out<i32>) -> Result<()> {
    status.set(LAST_STATUS.get());
    Ok(())
}

/// The value that a function returns after an error.
pub trait ErrorValue {
    const ON_ERROR: Self;
}
impl ErrorValue for () {
    const ON_ERROR: () = ();
}
impl ErrorValue for c_int {
    const ON_ERROR: c_int = 1;
}
impl ErrorValue for f64 {
    const ON_ERROR: f64 = f64::NAN;
}
impl ErrorValue for *mut c_void {
    const ON_ERROR: Self = std::ptr::null_mut();
}

/// Runs a call that every rank makes independently. The body returns the result, and a function that writes output on
/// success.
pub fn alone<T: ErrorValue, W: FnOnce()>(
    function: &'static str,
    body: impl FnOnce() -> Result<(T, W)>,
) -> T {
    run(function, None, body)
}

/// Runs a call that all ranks of the default context make; it fails on all if it fails on one.
pub fn together<T: ErrorValue, W: FnOnce()>(
    function: &'static str,
    body: impl FnOnce() -> Result<(T, W)>,
) -> T {
    run(function, session::ranks(), body)
}

/// The result, after the error, of a function that plaq does not offer.
pub fn refuse<T: ErrorValue>(function: &'static str, why: &str) -> T {
    alone::<T, fn()>(function, || {
        bail!(
            Unsupported,
            sentence("{function} is not offered: {why}"),
            hint("docs/quda.md lists what is")
        )
    })
}

fn run<T: ErrorValue, W: FnOnce()>(
    function: &'static str,
    ranks: Option<Arc<Comm>>,
    body: impl FnOnce() -> Result<(T, W)>,
) -> T {
    let rank = ranks.as_ref().map_or(0, |comm| comm.rank());
    let mut value = T::ON_ERROR;
    // A level of the log that the call's parameters set ends with the call.
    let level = log_at(None);
    let mut body = Some(body);
    let together = Together::begin(function, &[ranks]);
    let status = boundary::call(function, &mut || {
        let Some(body) = body.take() else { return Ok(()) };
        let (result, write) = Comm::guard_call(together.comm(), function, None, body)?;
        write();
        value = result;
        Ok(())
    });
    log_at(level);
    LAST_STATUS.set(status);
    if status != Status::Success as i32 {
        failed(function, rank);
    }
    value
}

fn failed(function: &str, rank: usize) {
    let Some(LastError { error, .. }) = boundary::last() else { return };
    let (status, block) = (error.status as i32, block(function, &error));
    let (handler, user) = *HANDLER.read().unwrap_or_else(|e| e.into_inner());
    let ends = MODE.load(Ordering::SeqCst) == PLAQ_QUDA_ERRORS_END.0;
    match handler.0 {
        Some(handler) => {
            let (name, text) = (boundary::c_string(function.into()), boundary::c_string(block));
            // SAFETY: the host has passed this function, together with the pointer.
            unsafe { handler(name.as_ptr(), status, text.as_ptr(), user as *mut c_void) };
        }
        // All ranks have the same error, which rank 0 prints, unless they have lost each other.
        None if rank == 0 || status == Status::CommFailed as i32 => print(&block),
        // This rank waits a second: if it ended first, MPI might end the rank that prints.
        None if ends => std::thread::sleep(Duration::from_secs(1)),
        None => {}
    }
    if ends {
        end();
    }
}

#[allow(clippy::print_stderr)]
fn print(block: &str) {
    eprintln!("{block}");
}

#[allow(clippy::exit)]
fn end() -> ! {
    std::process::exit(1)
}

/// The error as several lines.
fn block(function: &str, error: &Error) -> String {
    let status = error.status as i32;
    let row = Status::TABLE.iter().find(|row| row.0 == error.status);
    let (name, help) = row.map_or(("INTERNAL", ""), |row| (row.1, row.2));
    let Parts { place, argument, expected, found, sentence, hint, .. } = &**error;
    let advice = if hint.is_empty() { advice(status) } else { hint };
    let line = |what: &str, text: &str| match text {
        "" => String::new(),
        _ => format!("  {what:<12}{text}\n"),
    };
    let parts = line("where", place)
        + &line("argument", argument)
        + &line("expected", expected)
        + &line("found", found)
        + &line("what", sentence);
    format!(
        "plaq: error in {function}\n{parts}  status      PLAQ_{name} ({status}): {help}\n  what to do  {advice}"
    )
}

/// Advice about a status, for errors without a hint.
fn advice(status: i32) -> &'static str {
    let advice = [
        (Status::NullPointer, "pass the address of the host's array or number"),
        (Status::NotFinite, "see where the host computes this array"),
        (Status::NotUnitary, "put the links on SU(3) before this call"),
        (Status::BadExtents, "choose lattice and ranks such that every rank has even extents"),
        (Status::ProcessGrid, "choose lattice and ranks such that every rank has even extents"),
        (Status::OutOfMemory, "use more GPUs or a smaller lattice, or free memory of the device"),
        (Status::MpiMissing, "run make mpi in plaq's tree, or set PLAQ_MPI_LIBRARY: docs/mpi.md"),
        (Status::SolverBreakdown, "see whether kappa, links and clover term belong together"),
        (Status::Internal, "report it with the program and its input"),
    ];
    let row = advice.iter().find(|row| row.0 as i32 == status);
    row.map_or("correct the call; docs/quda.md and docs/milc.md describe it", |row| row.1)
}
