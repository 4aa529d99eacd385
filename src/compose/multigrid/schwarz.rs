//! Schwarz's alternating procedure (Luescher, hep-lat/0310048). The lattice is divided into
//! domains, and the system of a domain is that of the operator without hops between domains. In an
//! even-odd preconditioned system it is the Schur complement of that operator. A correction on all
//! sites of a domain solves its odd sites exactly, so that afterwards the residual on odd sites is
//! non-zero only at faces of the domain; the Schur complement of the whole lattice accounts for
//! these.

use std::sync::{Arc, Mutex};

use super::{MultigridParams, Smoother};
use crate::bail;
use crate::error::Result;
use crate::fields::Precision;
use crate::linop::Schur;
use crate::operators::domains::{domain_extents, DomainSums, Domains};
use crate::operators::{CoarseOperator, Coarsenable, QuarkAction, SchurAction};

/// Default extent of a domain in every direction, on the finest level.
const FINE: usize = 4;
/// Default extent of a domain in every direction, on coarse levels.
const COARSE: usize = 2;

/// The domains of a level, and memory for steps in them.
pub(super) struct Decomposition {
    pub domains: Domains,
    idle: Mutex<Option<DomainSums>>,
}

impl Decomposition {
    fn new(domains: Domains) -> Self {
        Decomposition { domains, idle: Mutex::default() }
    }
    /// Runs `work` with memory for the sums of `nrhs` right-hand sides.
    pub fn with_sums<T>(
        &self,
        precision: Precision,
        nrhs: usize,
        work: impl FnOnce(&DomainSums) -> Result<T>,
    ) -> Result<T> {
        let kept = self.idle.lock().unwrap_or_else(|e| e.into_inner()).take();
        let sums = match kept.filter(|s| s.nrhs() == nrhs) {
            Some(sums) => sums,
            None => self.domains.sums(precision, nrhs)?,
        };
        let out = work(&sums);
        *self.idle.lock().unwrap_or_else(|e| e.into_inner()) = Some(sums);
        out
    }
}

/// The domains of all levels that have them.
pub(super) struct Schwarz {
    /// The domains of the finest level, and its operator without hops between them.
    pub fine: Option<(Decomposition, Arc<dyn SchurAction>)>,
    /// The domains of levels from the second to the last but one.
    pub coarse: Vec<Decomposition>,
}

/// The operator as one of a single flavour; an error for doublets.
fn one_flavour(op: &dyn QuarkAction) -> Result<&dyn Coarsenable> {
    match op.coarsenable() {
        Some(op) => Ok(op),
        None => bail!(
            Unsupported,
            "smoother: Schwarz's method on the finest level is of operators of one flavour, found {}",
            op.describe()
        ),
    }
}

/// The groups of domains that are corrected one after the other: `None` all domains, `Some(colour)`
/// those of a colour of the chequerboard.
pub(super) fn colours(smoother: Smoother) -> &'static [Option<usize>] {
    match smoother {
        Smoother::SchwarzMultiplicative => &[Some(0), Some(1)],
        _ => &[None],
    }
}

impl Schwarz {
    pub fn new(
        params: &MultigridParams,
        op: &dyn QuarkAction,
        coarse: &[Arc<CoarseOperator>],
    ) -> Result<Self> {
        let fine = match params.smoother.has_domains() {
            false => None,
            true => {
                let (geometry, device) = (op.links().geometry(), op.links().device());
                let block = domain_extents(params.domain, FINE, geometry.extents())?;
                let domains = Domains::of_spinors(geometry, device, block, 0)?;
                let inside = one_flavour(op)?.within_blocks(block)?;
                Some((Decomposition::new(domains), inside.schur(Schur::EVEN_SYMMETRIC)?))
            }
        };
        let mut made = Schwarz { fine, coarse: vec![] };
        if params.coarse_smoother.has_domains() {
            for op in coarse.iter().take(params.steps().len() - 1) {
                let grid = op.grid();
                let block = domain_extents([0; 4], COARSE, grid.extents())?;
                made.coarse.push(Decomposition::new(Domains::of_grid(grid, block)?));
            }
        }
        Ok(made)
    }

    /// Refuses domains that do not divide the part of a rank, and those of doublets.
    pub fn check(params: &MultigridParams, op: &dyn QuarkAction) -> Result<()> {
        if params.smoother.has_domains() {
            one_flavour(op)?;
            domain_extents(params.domain, FINE, op.links().geometry().extents())?;
        }
        Ok(())
    }
}
