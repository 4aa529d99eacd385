//! What tests of costs ask a device for.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Device, Piece};

/// What a device has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Kernels launched, and times that the host waited for the sums of one.
    pub launches: u64,
    pub waits: u64,
    /// Kernels compiled, or read from a cache; on a CPU there are none.
    pub kernels: u64,
    /// Bytes copied from arrays of the host to memory of fields, and back; without messages of ranks.
    pub host_bytes: [u64; 2],
    /// Pieces of memory that the back end was asked for.
    pub allocations: u64,
}

impl Device {
    /// What it has done so far.
    pub fn counts(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            launches: read(&self.0.launches),
            waits: read(&self.0.waits),
            kernels: self.0.backend.kernels(),
            host_bytes: std::array::from_fn(|way| read(&self.0.host_bytes[way])),
            allocations: self.store().allocations,
        }
    }
    /// Counts bytes that come from arrays of the host (`way` 0) or go there (1).
    pub(crate) fn count_host(&self, way: usize, bytes: usize) {
        self.0.host_bytes[way].fetch_add(bytes as u64, Ordering::Relaxed);
    }
    pub(super) fn count_pieces(&self, way: usize, pieces: &[Piece]) {
        self.count_host(way, pieces.iter().map(|(_, rows)| rows.bytes()).sum());
    }
}
