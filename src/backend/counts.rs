//! What tests of costs ask a device for.

/// What a device has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Kernels launched, and times that the host waited for the sums of one.
    pub launches: u64,
    pub waits: u64,
    /// Kernels compiled, or read from a cache; on a CPU there are none.
    pub kernels: u64,
    /// Bytes copied between arrays of the host and memory of fields; without messages of ranks.
    pub host_bytes: u64,
    /// Pieces of memory that the back end was asked for.
    pub allocations: u64,
}
