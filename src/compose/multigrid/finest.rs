//! The operator on the finest level, in the forms that a set-up and its cycles work with.

use std::sync::Arc;

use super::params::COLUMNS_FROM;
use super::MultigridParams;
use crate::bail;
use crate::error::Result;
use crate::fields::{Precision, Recon};
use crate::operators::{Coarsenable, QuarkAction, TensorHop};

/// The operator on the finest level.
pub(super) struct Finest {
    /// The operator of the smoother.
    pub smoother: Arc<dyn Coarsenable>,
    /// What null vectors and coarse operators are made with: the same, or in single precision where the
    /// smoother's powers are kept in 16 bits. Null vectors from 16 bits would be worse.
    pub setup: Arc<dyn Coarsenable>,
    /// The smoother's for many right-hand sides, where the set-up iterates as many.
    pub tensor: Option<Arc<TensorHop>>,
}

impl Finest {
    pub fn new(op: &dyn Coarsenable, params: &MultigridParams) -> Result<Self> {
        // Two rows of the links where they are unitary.
        let links = match op.links().recon() {
            Recon::R18 => Recon::R18,
            _ => Recon::R12,
        };
        let smoother = op.own_copy((params.smoother_precision(), links))?;
        let setup = match params.short_powers() {
            true => op.own_copy((Precision::F32, links))?,
            false => smoother.clone(),
        };
        // Where memory is short for few columns there are never as many as tensor cores need.
        let many = params.setup_columns >= COLUMNS_FROM;
        let tensor = match many && params.short_powers() && TensorHop::fits(smoother.links()) {
            true => Some(Arc::new(smoother.tensor_hop()?)),
            false => None,
        };
        Ok(Finest { smoother, setup, tensor })
    }
}

/// The operator as multigrid sees it.
///
/// # Errors
/// `Unsupported`: multigrid does not coarsen such an action.
pub(super) fn coarsenable(op: &dyn QuarkAction) -> Result<&dyn Coarsenable> {
    match op.coarsenable() {
        Some(op) => Ok(op),
        None => bail!(
            Unsupported,
            "multigrid: expected a Wilson-type operator, found {}",
            op.describe()
        ),
    }
}
