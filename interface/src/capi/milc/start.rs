//! Initialisation, finalisation, and memory for the host's site array.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{LazyLock, Mutex, PoisonError};

use super::QudaInitArgs_t;
use crate::backend::{host_memory_left, Mapped};
use crate::capi::args::{choose, numbers};
use crate::capi::library::{log_to, LogFile};
use crate::capi::quda::enums::Verbosity;
use crate::capi::quda::session;
use crate::error::Result;
use crate::refuse;

pub fn set_communicator(comm: *mut c_void) -> Result<()> {
    session::set_communicator(comm);
    Ok(())
}

pub fn init(input: QudaInitArgs_t) -> Result<()> {
    let layout = input.layout;
    let four = |from: *const c_int, name: &str| match numbers(from, 4) {
        Some(n) => Ok([n[0], n[1], n[2], n[3]]),
        None => refuse!(NullPointer, "input.layout.{name}", expected("a pointer"), found("NULL")),
    };
    let Verbosity(level) = choose(input.verbosity, "input.verbosity")?;
    if session::current().is_none() {
        log_to(LogFile { file: 0, prefix: String::new(), level });
    }
    session::open(
        four(layout.latsize, "latsize")?,
        four(layout.machsize, "machsize")?,
        layout.device,
        None,
    )
}

pub fn finalize() -> Result<()> {
    session::close();
    Ok(())
}

/// Kind of the memory at an address from `allocate`; the device of page-locked memory is kept open.
enum AllocationKind {
    Locked(#[allow(dead_code)] Mapped),
    Plain(Layout),
}

static PINNED: LazyLock<Mutex<HashMap<usize, AllocationKind>>> = LazyLock::new(Mutex::default);

/// Allocates zeroed memory: page-locked if the default context is on a GPU, else ordinary.
pub fn allocate(bytes: usize) -> Result<*mut c_void> {
    // If the system grants more memory than it has, zeroing it would end the process.
    if let Some(left) = host_memory_left().filter(|left| bytes as u64 > *left) {
        refuse!(OutOfMemory, "bytes", expected("what memory holds, {left}"), found("{bytes}"));
    }
    let (address, kind) = match locked(bytes) {
        Some(memory) => (memory.host() as usize, AllocationKind::Locked(memory)),
        None => {
            let Ok(layout) = Layout::from_size_align(bytes.max(1), 4096) else {
                refuse!(OutOfMemory, "bytes", expected("what memory holds"), found("{bytes}"));
            };
            // SAFETY: at least one byte.
            let address = unsafe { alloc_zeroed(layout) };
            if address.is_null() {
                refuse!(OutOfMemory, "bytes", expected("what memory holds"), found("{bytes}"));
            }
            (address as usize, AllocationKind::Plain(layout))
        }
    };
    PINNED.lock().unwrap_or_else(PoisonError::into_inner).insert(address, kind);
    Ok(address as *mut c_void)
}

fn locked(bytes: usize) -> Option<Mapped> {
    let session = session::current()?;
    let device = session.context.device();
    if device.is_cpu() {
        return None;
    }
    match device.mapped(bytes.div_ceil(4).max(1)) {
        Ok(memory) => Some(memory),
        Err(e) => {
            log::warn!("ordinary instead of page-locked memory: {}", e.message());
            None
        }
    }
}

pub fn free(pointer: *mut c_void) -> Result<()> {
    if pointer.is_null() {
        return Ok(());
    }
    let found = PINNED.lock().unwrap_or_else(PoisonError::into_inner).remove(&(pointer as usize));
    match found {
        Some(AllocationKind::Locked(_)) => {}
        // SAFETY: allocated above with this layout, and out of the table now.
        Some(AllocationKind::Plain(layout)) => unsafe { dealloc(pointer.cast(), layout) },
        None => refuse!(
            InvalidArgument,
            "pointer",
            expected("what qudaAllocatePinned gave and nobody freed"),
            found("{pointer:?}")
        ),
    }
    Ok(())
}
