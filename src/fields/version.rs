//! Versions of links: objects that are computed from links store the version of these links, and are recomputed when
//! the links have another version.

use std::sync::atomic::{AtomicU64, Ordering};

/// The version of links, a number that changes with every change of them; or the version of the links from which an
/// object was computed.
#[derive(Debug)]
pub struct Version(AtomicU64);

/// A number that has not been a version yet.
fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    1 + LAST.fetch_add(1, Ordering::Relaxed)
}

impl Version {
    /// A new version, different from all others.
    pub fn new() -> Self {
        Version(AtomicU64::new(next_number()))
    }
    /// The version with this number.
    pub fn of(number: u64) -> Self {
        Version(AtomicU64::new(number))
    }
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
    /// Changes to a new version, after the links were changed.
    pub fn change(&self) {
        self.0.store(next_number(), Ordering::Release);
    }
    /// Records that the links, or the object computed from them, now have version `number`.
    pub fn set(&self, number: u64) {
        self.0.store(number, Ordering::Release);
    }
}

impl Default for Version {
    fn default() -> Self {
        Version::new()
    }
}
