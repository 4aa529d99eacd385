//! The operator on the finest level, in the forms that a set-up and its cycles work with.

use std::sync::Arc;

use super::{smoother_links, MultigridParams};
use crate::error::Result;
use crate::fields::Precision;
use crate::operators::{TensorHop, Wilson};

/// The operator on the finest level.
pub(super) struct Finest {
    /// That of the smoother.
    pub smoother: Arc<Wilson>,
    /// What null vectors and coarse operators are made with: the same, or in single precision where the
    /// smoother's powers are kept in 16 bits. Null vectors from 16 bits would be worse.
    pub setup: Arc<Wilson>,
    /// The smoother's for many right-hand sides.
    pub tensor: Option<Arc<TensorHop>>,
}

impl Finest {
    pub fn new(op: &Wilson, params: &MultigridParams) -> Result<Self> {
        let links = smoother_links(op);
        let smoother = Arc::new(op.to(params.smoother_precision(), links)?);
        let setup = match params.short_powers() {
            true => Arc::new(op.to(Precision::F32, links)?),
            false => smoother.clone(),
        };
        let tensor = match params.short_powers() && TensorHop::fits(&smoother) {
            true => Some(Arc::new(TensorHop::new(&smoother)?)),
            false => None,
        };
        Ok(Finest { smoother, setup, tensor })
    }
}
