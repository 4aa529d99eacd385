//! The operator on the finest level, in the forms that a set-up and its cycles work with.

use std::sync::Arc;

use super::MultigridParams;
use crate::bail;
use crate::error::Result;
use crate::fields::{Precision, Recon};
use crate::operators::{
    Coarsenable, CoarsenablePair, FlavourTerm, QuarkAction, Storage, TensorHop,
};
use crate::refuse;

/// The operator of the finest level in the forms that a set-up needs.
pub(super) struct Finest<'a> {
    op: OneFlavour<'a>,
    pair: Option<&'a dyn CoarsenablePair>,
    /// The operator with which null vectors and coarse operators are made: that of the smoother, or one in single
    /// precision where the smoother works in 16 bits, from which null vectors would be worse.
    pub setup: Arc<dyn Coarsenable>,
    /// Precision and link storage of the smoother's operator.
    storage: Storage,
    short_powers: bool,
    many_columns: bool,
}

/// The operator of one flavour: that of the solves, or one made from an operator of two flavours.
enum OneFlavour<'a> {
    Borrowed(&'a dyn Coarsenable),
    Owned(Arc<dyn Coarsenable>),
}

impl OneFlavour<'_> {
    fn op(&self) -> &dyn Coarsenable {
        match self {
            OneFlavour::Borrowed(op) => *op,
            OneFlavour::Owned(op) => &**op,
        }
    }
}

impl<'a> Finest<'a> {
    pub fn new(op: &'a dyn QuarkAction, params: &MultigridParams) -> Result<Self> {
        let (op, pair) = match (op.coarsenable(), op.coarsenable_pair()) {
            (Some(op), _) => (OneFlavour::Borrowed(op), None),
            (_, Some(pair)) => (OneFlavour::Owned(pair.one_flavour()?), Some(pair)),
            _ => {
                check(op)?;
                bail!(Internal, "multigrid of an action without flavours");
            }
        };
        // Links that are stored as fewer than 18 numbers are unitary: the operator has two rows of each.
        let links = match op.op().links().recon() {
            Recon::R18 => Recon::R18,
            _ => Recon::R12,
        };
        let short_powers = params.short_powers();
        let storage = (params.smoother_precision(), links);
        let setup = match short_powers {
            true => op.op().copy_on_demand((Precision::F32, links))?,
            false => op.op().own_copy(storage)?,
        };
        let many_columns = params.many_columns();
        Ok(Finest { op, pair, setup, storage, short_powers, many_columns })
    }

    /// The operator of the smoother. Where the set-up works with another operator it is made at
    /// each call and not kept, so that while coarse operators are made it takes no memory beside
    /// the null vectors.
    pub fn smoother(&self) -> Result<Arc<dyn Coarsenable>> {
        match self.short_powers {
            true => self.op.op().own_copy(self.storage),
            false => Ok(self.setup.clone()),
        }
    }

    /// The smoother's operator on tensor cores, if a set-up works on enough null vectors at a time
    /// to be faster with it; else `None`.
    pub fn tensor(&self, smoother: &Arc<dyn Coarsenable>) -> Result<Option<Arc<TensorHop>>> {
        match self.many_columns && self.short_powers && TensorHop::fits(smoother.links()) {
            true => Ok(Some(Arc::new(smoother.tensor_hop()?))),
            false => Ok(None),
        }
    }

    /// For solves of a doublet the smoother's operator of two flavours, with its difference from
    /// the operator of one flavour; all other operators of the set-up have one flavour. `None` for
    /// solves of one flavour.
    pub fn pair(&self) -> Result<Option<(Arc<dyn QuarkAction>, FlavourTerm)>> {
        let made =
            |pair: &dyn CoarsenablePair| Ok((pair.own_copy(self.storage)?, pair.flavour_term()));
        self.pair.map(made).transpose()
    }
}

/// Refuses actions that multigrid cannot coarsen.
///
/// # Errors
/// `Unsupported`.
pub(super) fn check(op: &dyn QuarkAction) -> Result<()> {
    match op.coarsenable().is_some() || op.coarsenable_pair().is_some() {
        true => Ok(()),
        false => refuse!(
            Unsupported,
            "multigrid",
            expected("a Wilson-type operator"),
            found("{}", op.describe())
        ),
    }
}
