//! The link for the weights W of distance preconditioning.

use super::equation::SolveReport;
use super::inverter::{Inverter, SolveRequest};
use super::scaled::Scaled;
use crate::error::Result;
use crate::fields::VectorField;
use crate::linop::Shape;
use crate::operators::DistanceWeights;
use crate::solvers::Monitor;

/// A link for distance preconditioning: those after it solve W^-1 M W y = W^-1 b, and x = W y (de Divitiis,
/// Petronzio, Tantalo, arXiv:1006.4028, Eq. 9). `next` computes the norm of the weighted source.
pub struct Weighted {
    pub next: Scaled,
    pub weights: DistanceWeights,
}

impl Inverter for Weighted {
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let mut weighted = b.like(b.precision())?;
        self.weights.prepare(&mut weighted, b)?;
        if request.guess {
            self.weights.restrict(x)?;
        }
        let report = self.next.solve(x, &weighted, request, watch)?;
        self.weights.reconstruct(x)?;
        Ok(report)
    }

    fn shape(&self) -> Shape {
        self.next.shape()
    }
    fn next(&self) -> Option<&dyn Inverter> {
        Some(&*self.next.0)
    }
    fn name(&self, _: usize) -> String {
        let distance = self.weights.distance();
        format!("distance weights(alpha {}, t0 {})", distance.alpha, distance.t0)
    }
}
