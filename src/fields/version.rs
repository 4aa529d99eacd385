//! Versions of links: what is derived from links remembers the version that it was made from.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::runs;

/// The version of some links, or of the links that something was made from.
#[derive(Debug)]
pub struct Version(AtomicU64);

/// A number that no version has had.
fn fresh() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    1 + LAST.fetch_add(1, Ordering::Relaxed)
}

impl Version {
    /// A version that nothing else has.
    pub fn new() -> Self {
        Version(AtomicU64::new(fresh()))
    }
    /// A version known before.
    pub fn of(number: u64) -> Self {
        Version(AtomicU64::new(number))
    }
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
    /// The links were changed.
    pub fn change(&self) {
        self.0.store(fresh(), Ordering::Release);
    }
    /// The links, or what is made from them, now belong to another version. In a rehearsal nothing was
    /// written, and the version is one that nothing else has.
    pub fn set(&self, number: u64) {
        self.0.store(if runs() { number } else { fresh() }, Ordering::Release);
    }
}

impl Default for Version {
    fn default() -> Self {
        Version::new()
    }
}
