//! The operator on the finest level, in the forms that a set-up and its cycles work with.

use std::sync::Arc;

use super::MultigridParams;
use crate::bail;
use crate::error::Result;
use crate::fields::{Precision, Recon};
use crate::operators::{Coarsenable, FlavourTerm, QuarkAction, TensorHop};

/// The operator on the finest level.
pub(super) struct Finest {
    /// The operator of the smoother.
    pub smoother: Arc<dyn Coarsenable>,
    /// What null vectors and coarse operators are made with: the same, or in single precision where the
    /// smoother's powers are kept in 16 bits. Null vectors from 16 bits would be worse.
    pub setup: Arc<dyn Coarsenable>,
    /// The smoother's for many right-hand sides, where the set-up iterates as many.
    pub tensor: Option<Arc<TensorHop>>,
    /// The operator of the smoother of solves with two flavours, and what it has besides; the others are then those of
    /// one flavour.
    pub pair: Option<(Arc<dyn QuarkAction>, FlavourTerm)>,
}

impl Finest {
    pub fn new(op: &dyn QuarkAction, params: &MultigridParams) -> Result<Self> {
        if let Some(op) = op.coarsenable() {
            return Self::of_one(op, params);
        }
        let Some(both) = op.coarsenable_pair() else {
            check(op)?;
            bail!(Internal, "multigrid of an action without flavours");
        };
        let one = Self::of_one(&*both.one_flavour()?, params)?;
        let smoother = both.own_copy(one.smoother.storage())?;
        Ok(Finest { pair: Some((smoother, both.flavour_term())), ..one })
    }

    /// The operator of one flavour.
    fn of_one(op: &dyn Coarsenable, params: &MultigridParams) -> Result<Self> {
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
        let tensor = match params.many_columns()
            && params.short_powers()
            && TensorHop::fits(smoother.links())
        {
            true => Some(Arc::new(smoother.tensor_hop()?)),
            false => None,
        };
        Ok(Finest { smoother, setup, tensor, pair: None })
    }
}

/// Refuses actions that multigrid does not coarsen.
///
/// # Errors
/// `Unsupported`.
pub(super) fn check(op: &dyn QuarkAction) -> Result<()> {
    match op.coarsenable().is_some() || op.coarsenable_pair().is_some() {
        true => Ok(()),
        false => bail!(
            Unsupported,
            "multigrid: expected a Wilson-type operator, found {}",
            op.describe()
        ),
    }
}
