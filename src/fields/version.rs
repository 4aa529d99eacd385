//! Versions of links: what is derived from links remembers the version that it was made from.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number for the state of some links, or of the links that something was made from.
#[derive(Debug)]
pub struct Version(AtomicU64);

/// A number that no state of links has had.
fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    1 + LAST.fetch_add(1, Ordering::Relaxed)
}

impl Version {
    /// A version that belongs to nothing else.
    pub fn new() -> Self {
        Version(AtomicU64::new(next_number()))
    }
    /// A version with a known number.
    pub fn of(number: u64) -> Self {
        Version(AtomicU64::new(number))
    }
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
    /// Gives another number, after the links were changed.
    pub fn change(&self) {
        self.0.store(next_number(), Ordering::Release);
    }
    /// Records that the links, or what was made of them, now belong to version `number`.
    pub fn set(&self, number: u64) {
        self.0.store(number, Ordering::Release);
    }
}

impl Default for Version {
    fn default() -> Self {
        Version::new()
    }
}
