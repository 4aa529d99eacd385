//! The link that scales b, so that |b| and its square are far from overflow and underflow.

use std::sync::Arc;

use super::equation::SolveReport;
use super::inverter::{Inverter, SolveRequest};
use crate::error::Result;
use crate::fields::VectorField;
use crate::linop::Shape;
use crate::solvers::{InRange, Monitor};

/// A link that computes |b| once for all links after it, and scales right-hand sides with norms far from 1 by powers
/// of two.
pub struct Scaled(pub Arc<dyn Inverter>);

impl Inverter for Scaled {
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let xs = &mut [x];
        let mut units = InRange::new(xs, b, request.guess)?;
        let mut fields = units.fields();
        let request = SolveRequest { norms: fields.norms, ..*request };
        let solved = self.0.solve(fields.xs[0], fields.b, &request, watch);
        units.end(solved)
    }

    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn next(&self) -> Option<&dyn Inverter> {
        Some(&*self.0)
    }
    fn name(&self, _: usize) -> String {
        "scaled".into()
    }
}
