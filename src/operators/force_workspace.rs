//! What forces of preconditioned actions work on (schur_force.rs).

use crate::fields::{MatrixField, SpinorField};

/// Terms sum_k 2 coef_k Re <y_k, P x_k> on the parity of P.
#[derive(Clone, Copy)]
pub struct HalfTerms<'a> {
    pub x: &'a SpinorField,
    pub y: &'a SpinorField,
    /// P x, which the symmetric P needs.
    pub px: &'a SpinorField,
    pub coef: &'a [f64],
}

/// Fields of the force of several such terms and of determinants of site terms, kept from one force to the
/// next: `begin`, then [`SchurAction::add_force`](super::SchurAction::add_force) and
/// [`SchurAction::add_determinant_force`](super::SchurAction::add_determinant_force) in any order and number,
/// then [`SchurAction::finish_force`](super::SchurAction::finish_force).
#[derive(Default)]
pub struct ForceWorkspace {
    pub(super) full: Option<[SpinorField; 2]>,
    pub(super) half: Option<SpinorField>,
    pub(super) insertion: Option<MatrixField>,
    /// Does the insertion hold something of this force?
    pub(super) inserted: bool,
}

impl ForceWorkspace {
    /// Forgets what waits to be finished.
    pub fn begin(&mut self) {
        self.inserted = false;
    }
}
