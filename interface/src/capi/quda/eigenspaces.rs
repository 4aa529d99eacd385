//! Eigenvectors that stay on the device from one deflated solve to the next.

use std::sync::Arc;

use crate::compose::{LowModes, Schur};

/// Modes, with the operator and the system to which they belong.
#[derive(Clone)]
pub struct KeptModes {
    pub operator: String,
    pub form: Option<Schur>,
    pub modes: Arc<LowModes>,
}

/// The eigenspaces for which hosts hold numbers; None: freed because the links have changed.
#[derive(Default)]
pub struct Eigenspaces(Vec<(usize, Option<KeptModes>)>);

impl Eigenspaces {
    /// The eigenspace with this number; None if the number is unknown.
    pub fn of(&mut self, number: usize) -> Option<&mut Option<KeptModes>> {
        self.0.iter_mut().find(|space| space.0 == number).map(|space| &mut space.1)
    }
    pub fn add(&mut self, number: usize, kept: KeptModes) {
        self.0.push((number, Some(kept)));
    }
    pub fn remove(&mut self, number: usize) {
        self.0.retain(|space| space.0 != number);
    }
    /// Frees the modes; their numbers stay known.
    pub fn forget(&mut self) {
        self.0.iter_mut().for_each(|space| space.1 = None);
    }
}
