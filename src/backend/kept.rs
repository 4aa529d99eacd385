//! Memory that freed fields leave to later ones, and the largest amount that fields have taken.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::{Device, Ptr};

/// The largest number of bytes that fields on a device have taken since this was made.
pub struct PeakWatch(pub(super) Arc<AtomicU64>);

impl PeakWatch {
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Device memory that fields have freed and that is kept for later fields: addresses by size in bytes, as long as there
/// are `keepers` of it.
#[derive(Default)]
pub(super) struct Store {
    pub(super) keepers: usize,
    pub(super) left: HashMap<usize, Vec<Ptr>>,
    pub(super) bytes: u64,
    /// Number of times that the back end was asked for memory.
    pub(super) allocations: u64,
}

/// A guard: while it exists, memory that fields of a device free is kept for fields of the same size.
pub struct KeptMemory(pub(super) Device);

impl Drop for KeptMemory {
    fn drop(&mut self) {
        let mut store = self.0.store();
        store.keepers -= 1;
        if store.keepers == 0 {
            self.0.empty(&mut store);
        }
    }
}
