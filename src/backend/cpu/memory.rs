//! Memory of fields on a CPU, which is counted for what is announced.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::host_memory::pages::{allocate, free};
use crate::backend::host_memory::{address_space, left_for_fields};

/// Bytes of all pieces.
static TAKEN: AtomicU64 = AtomicU64::new(0);
/// Bytes of the address space besides these pieces when a device was last opened.
static OTHERS: AtomicU64 = AtomicU64::new(0);

/// Takes note that a device has been opened.
pub(super) fn opened() {
    let others = address_space().unwrap_or(0).saturating_sub(TAKEN.load(Ordering::Relaxed));
    OTHERS.store(others, Ordering::Relaxed);
}

/// Number of bytes that can still be allocated for fields; `None`: not known.
pub(super) fn left() -> Option<u64> {
    left_for_fields(TAKEN.load(Ordering::Relaxed), OTHERS.load(Ordering::Relaxed))
}

/// Allocates `bytes` bytes of zeroed memory; returns null if the host has not enough.
pub(super) fn take(bytes: usize) -> *mut u8 {
    let first = allocate(bytes);
    if !first.is_null() {
        TAKEN.fetch_add(bytes as u64, Ordering::Relaxed);
    }
    first
}

/// Returns memory to the host.
///
/// # Safety
/// `first` came from [`take`] with the same size.
pub(super) unsafe fn give(first: *mut u8, bytes: usize) {
    TAKEN.fetch_sub(bytes as u64, Ordering::Relaxed);
    // SAFETY: the caller guarantees what this function requires.
    unsafe { free(first, bytes) }
}
