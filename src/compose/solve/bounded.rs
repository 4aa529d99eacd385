//! Solves with boundaries in time, on whose slices quarks vanish.

use std::sync::Arc;

use super::equation::SolveReport;
use super::inverter::{Inverter, SolveRequest};
use crate::error::Result;
use crate::fields::{blas, vanish, vanishing, BoundaryTime, Components, VectorField};
use crate::linop::Shape;
use crate::operators::QuarkAction;
use crate::solvers::Monitor;

/// The boundaries in time of an action whose vectors vanish on boundary slices; `None` for other actions.
pub fn boundary_of(op: &dyn QuarkAction) -> Option<BoundaryTime> {
    let boundary = op.links().geometry().boundary();
    let quarks = op.shape().components.spins == Components::SPINOR.spins;
    (quarks && !boundary.is_periodic()).then_some(boundary)
}

/// A link that sets the source and the initial guess to zero on slices where quarks vanish; it copies the source for
/// this.
pub struct Bounded {
    next: Arc<dyn Inverter>,
    boundary: BoundaryTime,
}

impl Bounded {
    /// Puts this link before the chain `next` if quarks vanish on boundary slices, else returns `next`.
    pub fn before(next: Arc<dyn Inverter>, op: &dyn QuarkAction) -> Arc<dyn Inverter> {
        match boundary_of(op) {
            Some(boundary) => Arc::new(Bounded { next, boundary }),
            None => next,
        }
    }
}

impl Inverter for Bounded {
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        if request.guess {
            vanish(x, self.boundary)?;
        }
        let inside = vanishing(b, self.boundary)?;
        if blas::norm2(&inside)?.contains(&0.0) {
            log::warn!(
                "solver: a source is zero but on time slices where quarks vanish, and so is its solution: {}",
                self.boundary
            );
        }
        self.next.solve(x, &inside, request, watch)
    }

    fn shape(&self) -> Shape {
        self.next.shape()
    }
    fn next(&self) -> Option<&dyn Inverter> {
        Some(&*self.next)
    }
    fn name(&self, _: usize) -> String {
        "zero where quarks vanish".into()
    }
}
