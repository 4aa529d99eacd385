//! The boundary between C and Rust: panics do not cross it, and every failure becomes a status and a message for
//! `plaq_last_error`.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{c_char, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Instant;

use super::digest::Digest;
use super::handles::NewHandles;
use crate::comm::Comm;
use crate::error::{Error, Result, Status};

thread_local! {
    static LAST_ERROR: RefCell<Option<LastError>> = const { RefCell::new(None) };
    /// Texts of the last error of a thread, at addresses that never change: the message with the names of C, and that
    /// with words for values. They are allocated on the heap, since a library that is loaded at run time has very
    /// little thread-local memory.
    static TEXTS: [RefCell<Box<[u8; TEXT]>>; 2] =
        [RefCell::new(Box::new([0; TEXT])), RefCell::new(Box::new([0; TEXT]))];
    static IN_LOG: Cell<bool> = const { Cell::new(false) };
    /// Number of C functions of plaq that this thread is executing.
    static ENTERED: Cell<usize> = const { Cell::new(0) };
    /// The function that this thread executes together with other ranks, and these ranks.
    static TOGETHER: RefCell<Option<(&'static str, Arc<Comm>)>> = const { RefCell::new(None) };
}

/// Size in bytes of the buffer for a text of an error, with its NUL.
const TEXT: usize = 8192;

/// The function and the error of this thread's last failed call.
#[derive(Clone)]
pub(crate) struct LastError {
    pub function: &'static str,
    pub error: Error,
}

/// Runs the body of a C function once and turns its errors and panics into a status; compiled once for all functions.
pub(crate) fn call(function: &'static str, body: &mut dyn FnMut() -> Result<()>) -> i32 {
    if IN_LOG.get() {
        // This error is not logged, since the log callback itself makes the call.
        let message = "called by the log callback, which must not call plaq";
        set_last_error(function, Error::new(Status::Busy, message));
        return Status::Busy as i32;
    }
    let _quiet = QuietPanics::new();
    let start = Instant::now();
    let making = NewHandles::begin();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        injected_panic(function);
        body()
    }));
    match &outcome {
        Ok(Ok(())) => making.keep(),
        // Panics while objects are dropped must not unwind either.
        _ => drop(catch_unwind(AssertUnwindSafe(|| drop(making)))),
    }
    let error = match outcome {
        Ok(Ok(())) => {
            log::trace!("{function}: done in {:.3} ms", start.elapsed().as_secs_f64() * 1e3);
            return Status::Success as i32;
        }
        Ok(Err(error)) => error,
        Err(panic) => Error::new(Status::Internal, panic_message(panic)),
    };
    let status = error.status as i32;
    let message = format!("{function}: {}", error.message());
    if status < 0 {
        log::error!("{message}");
    } else {
        log::warn!("{message}");
    }
    set_last_error(function, error);
    status
}

fn set_last_error(function: &'static str, error: Error) {
    LAST_ERROR.set(Some(LastError { function, error }));
}

/// Writes a text to the thread's buffer number `place` and returns its address.
fn keep(text: String, place: usize) -> *const c_char {
    let mut end = text.len().min(TEXT - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    TEXTS.with(|texts| {
        let mut kept = texts[place].borrow_mut();
        kept[..end].copy_from_slice(&text.as_bytes()[..end]);
        kept[..end].iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b' ');
        kept[end] = 0;
        kept.as_ptr().cast()
    })
}

/// Runs the host's log callback; calls of plaq that it makes in this thread are refused.
pub(crate) fn logging(callback: impl FnOnce()) {
    let outer = IN_LOG.replace(true);
    callback();
    IN_LOG.set(outer);
}

/// A guard: while it exists, this thread is in a call that it makes together with the ranks of one of its arguments.
pub(crate) struct Together {
    comm: Option<Arc<Comm>>,
    before: Option<(&'static str, Arc<Comm>)>,
}

impl Together {
    pub fn begin(function: &'static str, ranks: &[Option<Arc<Comm>>]) -> Self {
        let comm = ranks.iter().flatten().next().cloned();
        let now = comm.as_ref().map(|comm| (function, comm.clone()));
        let before = match now {
            Some(now) => TOGETHER.replace(Some(now)),
            None => TOGETHER.with_borrow(Option::clone),
        };
        Together { comm, before }
    }
    /// The ranks of the call, for [`Comm::guard_call`], which makes it fail on all ranks if it fails on one.
    pub fn comm(&self) -> Option<&Comm> {
        self.comm.as_deref()
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        TOGETHER.set(self.before.take());
    }
}

/// Refuses the argument on all ranks of the call if its digests differ between ranks.
pub(crate) fn compare(argument: &str, digest: Digest) -> Result<()> {
    let together = TOGETHER.with_borrow(Option::clone);
    let Some((function, comm)) = together else { return Ok(()) };
    comm.compare(&format!("{argument} of {function}"), digest.finish().unwrap_or_default())
}

/// Runs a C function that returns a string; NULL after a panic.
pub(crate) fn text(body: impl FnOnce() -> *const c_char) -> *const c_char {
    let _quiet = QuietPanics::new();
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(std::ptr::null())
}

/// The message of this thread's last failed call, at an address that never changes.
pub(crate) fn last_error() -> *const c_char {
    last_error_text(0, &Error::message)
}

/// The message of this thread's last failed call with words for values and parameters, at an address that never
/// changes.
pub(crate) fn last_error_in_words() -> *const c_char {
    last_error_text(1, &|error| error.in_words(&super::word))
}

fn last_error_text(place: usize, text: &dyn Fn(&Error) -> String) -> *const c_char {
    let text = last().map(|last| format!("{}: {}", last.function, text(&last.error)));
    keep(text.unwrap_or_default(), place)
}

/// Returns the function and the error of the last call that failed on this thread.
pub(crate) fn last() -> Option<LastError> {
    LAST_ERROR.with_borrow(Clone::clone)
}

pub(crate) fn c_string(text: String) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// A guard: while it exists, panics of this thread and of plaq's own threads print nothing to stderr, since they
/// become the status of the call. Panics of other threads are printed as usual.
struct QuietPanics;

/// Prefix of the names of threads that plaq starts.
const OWN_THREADS: &str = "plaq-";

static PANICKED_AT: Mutex<String> = Mutex::new(String::new());

impl QuietPanics {
    fn new() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let others = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                let entered = ENTERED.try_with(Cell::get).unwrap_or(0) > 0;
                let own = |name: &str| name.starts_with(OWN_THREADS);
                if !entered && !std::thread::current().name().is_some_and(own) {
                    return others(info);
                }
                let place = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
                *PANICKED_AT.lock().unwrap_or_else(PoisonError::into_inner) =
                    place.unwrap_or_default();
            }));
        });
        ENTERED.set(ENTERED.get() + 1);
        QuietPanics
    }
}

impl Drop for QuietPanics {
    fn drop(&mut self) {
        ENTERED.set(ENTERED.get() - 1);
    }
}

fn panic_message(panic: Box<dyn Any + Send>) -> String {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text.as_str(),
        _ => "a panic without a message",
    };
    let place = PANICKED_AT.lock().unwrap_or_else(PoisonError::into_inner);
    format!("a defect inside plaq at {place}: {text}; please report it")
}

/// Panics in the function that tests/abi names in the environment; not in release builds.
fn injected_panic(function: &str) {
    #[cfg(debug_assertions)]
    if std::env::var_os("PLAQ_TEST_PANIC").is_some_and(|name| name == function) {
        panic!("injected into {function}");
    }
    #[cfg(not(debug_assertions))]
    let _ = function;
}
