//! Listeners, by which threads that wait find out whether another rank has failed.

use std::sync::Weak;

use super::transport::{Side, Transport};
use crate::error::{Error, Result, Status};

/// Shows a thread that waits, e.g. for a GPU, whether another rank has failed, as long as the Comm exists.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(super) transport: Weak<Transport>,
    /// The value of [`super::Comm::failures`] when this listener was made.
    pub(super) failures: u64,
}

impl Listener {
    /// Returns an error if another rank has failed; in a thread that must not call MPI always `Ok`.
    pub fn watch(&self) -> Result<()> {
        match self.transport.upgrade().map(|t| t.ready(Side::Data)) {
            Some(Err(e)) if e.status != Status::MpiThread => Err(e),
            _ => Ok(()),
        }
    }

    /// Makes all ranks fail with this error, as [`super::Comm::fail`] does; returns the error for this rank to return.
    pub fn fail(&self, error: &Error) -> Error {
        match self.transport.upgrade() {
            Some(transport) => transport.fail(error),
            None => error.clone(),
        }
    }

    /// Whether a failure has ended a guarded call since this listener was made.
    pub fn new_failures(&self) -> bool {
        self.transport.upgrade().is_some_and(|t| t.failures() != self.failures)
    }
}
