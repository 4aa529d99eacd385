//! Memory for the forces of preconditioned actions (schur_force.rs).

use crate::fields::{MatrixField, SpinorField};

/// The terms sum_k 2 coef_k Re <y_k, P x_k> of an action, with the Schur complement P and fields on its parity.
#[derive(Clone, Copy)]
pub struct HalfTerms<'a> {
    pub x: &'a SpinorField,
    pub y: &'a SpinorField,
    /// The product P x, which is needed for forces of the symmetric P.
    pub px: &'a SpinorField,
    pub coef: &'a [f64],
}

/// Fields for the forces of several such terms and of determinants of site terms, which are kept from one force to
/// the next. A force is computed by `begin`, then [`SchurAction::add_force`](super::SchurAction::add_force) and
/// [`SchurAction::add_determinant_force`](super::SchurAction::add_determinant_force) in any order and number, then
/// [`SchurAction::finish_force`](super::SchurAction::finish_force).
#[derive(Default)]
pub struct ForceWorkspace {
    pub(super) full: Option<[SpinorField; 2]>,
    pub(super) half: Option<SpinorField>,
    pub(super) insertion: Option<MatrixField>,
    /// True if the insertion field holds terms of the present force.
    pub(super) inserted: bool,
}

impl ForceWorkspace {
    /// Starts a force: discards insertions that were not finished.
    pub fn begin(&mut self) {
        self.inserted = false;
    }
}
