//! Counters of launches, waits, copies and allocations of a device, by which tests check costs.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Device, Piece};

/// Counts of a device's work since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of kernels launched.
    pub launches: u64,
    /// Number of times that the host waited for the sums of a kernel.
    pub waits: u64,
    /// Number of kernels compiled or read from a cache; 0 on a CPU.
    pub kernels: u64,
    /// Bytes copied from arrays of the host to fields, and from fields to arrays of the host; messages between ranks
    /// are not included.
    pub host_bytes: [u64; 2],
    /// Number of times that the back end was asked for memory.
    pub allocations: u64,
}

impl Device {
    /// The counts so far.
    pub fn counts(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            launches: read(&self.0.launches),
            waits: read(&self.0.waits),
            kernels: self.0.backend.kernels(),
            host_bytes: std::array::from_fn(|direction| read(&self.0.host_bytes[direction])),
            allocations: self.store().allocations,
        }
    }
    /// Adds bytes copied from arrays of the host (`direction` 0) or to them (1).
    pub(crate) fn count_host(&self, direction: usize, bytes: usize) {
        self.0.host_bytes[direction].fetch_add(bytes as u64, Ordering::Relaxed);
    }
    pub(super) fn count_pieces(&self, direction: usize, pieces: &[Piece]) {
        self.count_host(direction, pieces.iter().map(|(_, rows)| rows.bytes()).sum());
    }
}
