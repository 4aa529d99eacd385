//! The link for the product of an operator and its adjoint, by one solve with each.

use std::sync::Arc;
use std::time::Instant;

use super::equation::SolveReport;
use super::inverter::{Inverter, SolveRequest};
use super::scaled::Scaled;
use crate::error::Result;
use crate::fields::VectorField;
use crate::linop::{LinOp, Shape};
use crate::solvers::Monitor;

/// A link that solves B A x = b by B y = b and A x = y, where A and B are M and its adjoint.
pub struct TwoSteps {
    /// The first solve, B y = b.
    pub first: Arc<dyn Inverter>,
    /// The second solve, A x = y, which computes the norm of its source y itself.
    pub second: Scaled,
    /// The operator A, which makes the initial guess A x for y.
    pub op: Arc<dyn LinOp>,
}

impl Inverter for TwoSteps {
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let start = Instant::now();
        let mut y = x.like(x.precision())?;
        if request.guess {
            self.op.apply(&mut y, x)?;
            self.op.free_idle();
        }
        let first = self.first.solve(&mut y, b, request, watch)?;
        let request = SolveRequest { stop: request.stop.since(start), ..*request };
        Ok(first.followed_by(self.second.solve(x, &y, &request, watch)?))
    }

    fn shape(&self) -> Shape {
        self.second.shape()
    }
    fn name(&self, nrhs: usize) -> String {
        let (first, second) = (self.first.describe(nrhs), self.second.0.describe(nrhs));
        match first == second {
            true => format!("twice({first})"),
            false => format!("one after the other({first}, {second})"),
        }
    }
    fn prepare(&self) -> Result<()> {
        self.first.prepare()?;
        self.second.prepare()
    }
}
