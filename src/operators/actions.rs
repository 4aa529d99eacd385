//! Parameters of all quark actions, and the operators made from them.

use std::sync::Arc;

use super::action::{QuarkAction, Storage};
use super::{CloverLinks, DiracParams, Doublet, DoubletParams, LaplaceParams, Wilson};
use crate::bail;
use crate::error::Result;
use crate::fields::{BoundaryTime, CloverField, GaugeField};

/// Parameters of a quark action, with a variant for each action.
#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub enum ActionParams {
    /// Wilson, clover and twisted mass.
    Wilson(DiracParams),
    /// Two twisted flavours whose masses differ, with or without clover term.
    Doublet(DoubletParams),
    /// The gauge-covariant Laplacian with a mass term.
    Laplace(LaplaceParams),
}

impl From<DiracParams> for ActionParams {
    fn from(params: DiracParams) -> Self {
        ActionParams::Wilson(params)
    }
}

impl From<DoubletParams> for ActionParams {
    fn from(params: DoubletParams) -> Self {
        ActionParams::Doublet(params)
    }
}

impl From<LaplaceParams> for ActionParams {
    fn from(params: LaplaceParams) -> Self {
        ActionParams::Laplace(params)
    }
}

impl ActionParams {
    /// Refuses parameters that are out of range or contradict each other.
    pub fn check(&self) -> Result<()> {
        match self {
            ActionParams::Wilson(params) => params.check(),
            ActionParams::Doublet(params) => params.check(),
            ActionParams::Laplace(params) => params.check(),
        }
    }
    /// Refuses parameters that are not supported on links with these boundaries in time.
    ///
    /// # Errors
    /// Errors of [`DiracParams::check_on`].
    pub fn check_on(&self, boundary: BoundaryTime) -> Result<()> {
        match self {
            ActionParams::Wilson(params) => params.check_on(boundary),
            ActionParams::Doublet(params) => params.wilson.check_on(boundary),
            ActionParams::Laplace(_) => Ok(()),
        }
    }
    /// Makes the action on these links, in their precision.
    ///
    /// # Errors
    /// Errors of the action's `new`.
    pub fn create(&self, links: Arc<GaugeField>) -> Result<Arc<dyn QuarkAction>> {
        match self {
            ActionParams::Wilson(params) => Ok(Arc::new(Wilson::new(links, *params)?)),
            ActionParams::Doublet(params) => Ok(Arc::new(Doublet::new(links, *params)?)),
            ActionParams::Laplace(params) => Ok(Arc::new(params.on(links)?)),
        }
    }
    /// The links from which the action's clover term is made, if it has one.
    pub fn clover_links(&self) -> CloverLinks {
        match self {
            ActionParams::Wilson(params) => params.clover_links,
            ActionParams::Doublet(params) => params.wilson.clover_links,
            ActionParams::Laplace(_) => CloverLinks::Hop,
        }
    }
    /// Makes the action on smeared links; its clover term is made from the thin links, if
    /// [`ActionParams::clover_links`] says so.
    ///
    /// # Errors
    /// Errors of [`ActionParams::create`] and [`Wilson::on_thin`].
    pub fn create_on(
        &self,
        links: Arc<GaugeField>,
        thin: Arc<GaugeField>,
    ) -> Result<Arc<dyn QuarkAction>> {
        match self {
            ActionParams::Wilson(params) => Ok(Arc::new(Wilson::on_thin(links, thin, *params)?)),
            ActionParams::Doublet(params) => {
                Ok(Arc::new(Doublet::on_thin(links, Some(thin), *params)?))
            }
            ActionParams::Laplace(_) => self.create(links),
        }
    }
    /// Makes the action with a given clover term A, kappa-normalised, and its inverse, which must be that for
    /// [`ActionParams::square`], on links in their precision.
    ///
    /// # Errors
    /// Errors of [`ActionParams::create`]; `Unsupported`: the action takes none.
    pub fn from_parts(
        &self,
        links: Arc<GaugeField>,
        direct: Arc<CloverField>,
        inverse: Arc<CloverField>,
    ) -> Result<Arc<dyn QuarkAction>> {
        match self {
            ActionParams::Wilson(params) => {
                Ok(Arc::new(Wilson::from_parts(links, Some(direct), Some(inverse), *params)?))
            }
            ActionParams::Doublet(params) => {
                Ok(Arc::new(Doublet::from_parts(links, direct, inverse, *params)?))
            }
            ActionParams::Laplace(_) => bail!(Unsupported, "the Laplacian has no clover term"),
        }
    }
    /// Makes the action on its own copy of the links in this storage, so that later changes of `links` have no effect
    /// on it.
    ///
    /// # Errors
    /// Errors of [`ActionParams::create`] and [`QuarkAction::shared_copy`].
    pub fn create_in(
        &self,
        links: &Arc<GaugeField>,
        storage: Storage,
    ) -> Result<Arc<dyn QuarkAction>> {
        match self {
            ActionParams::Wilson(params) => {
                Ok(Arc::new(Wilson::new(links.clone(), *params)?.owned_in(storage)?))
            }
            ActionParams::Doublet(params) => {
                Ok(Arc::new(Doublet::new(links.clone(), *params)?.owned_in(storage)?))
            }
            ActionParams::Laplace(params) => {
                Ok(Arc::new(params.on(Arc::new(links.to(storage.0, storage.1)?))?))
            }
        }
    }
    /// The number s in the factor (A^2 + s)^-1 of the inverse site term, where A is the site term without twisted
    /// mass, kappa-normalised; None if the inverse is A^-1.
    pub fn square(&self) -> Option<f64> {
        match self {
            ActionParams::Wilson(params) => CloverField::square(2.0 * params.kappa() * params.mu),
            ActionParams::Doublet(params) => Some(params.square()),
            ActionParams::Laplace(_) => None,
        }
    }
}
