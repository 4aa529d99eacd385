//! The link that converts the normalisation of the equation.

use std::sync::Arc;

use super::equation::SolveReport;
use super::inverter::{Inverter, SolveRequest};
use crate::error::Result;
use crate::fields::{blas, VectorField};
use crate::linop::Shape;
use crate::solvers::Monitor;

/// A link for mass normalisation: the links after it solve in kappa normalisation, and their solution is divided by
/// `factor`.
pub struct Normalised {
    pub next: Arc<dyn Inverter>,
    pub factor: f64,
}

/// Multiplies x by c; `any` is a finite field of the same shape, which is read and multiplied by 0.
pub fn scale(x: &mut VectorField, c: f64, any: &VectorField) -> Result<()> {
    let n = x.nrhs();
    blas::axpby(&blas::uniform(n, 0.0), any, &blas::uniform(n, c), x)
}

impl Inverter for Normalised {
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        if request.guess {
            scale(x, 1.0 / self.factor, b)?;
        }
        let report = self.next.solve(x, b, request, watch)?;
        scale(x, self.factor, b)?;
        Ok(report)
    }

    fn shape(&self) -> Shape {
        self.next.shape()
    }
    fn next(&self) -> Option<&dyn Inverter> {
        Some(&*self.next)
    }
    fn name(&self, _: usize) -> String {
        "kappa".into()
    }
}
