//! The link for multigrid with BiCGStab in reserve.

use std::sync::Arc;
use std::time::Instant;

use super::equation::SolveReport;
use super::inverter::{Inverter, SolveRequest};
use crate::compose::multigrid::Multigrid;
use crate::error::{significant, Result};
use crate::fields::VectorField;
use crate::linop::Shape;
use crate::solvers::{Monitor, SolverKind, SolverReport, Stop};

/// A link that solves by multigrid; if multigrid stops making progress, BiCGStab continues from the solution reached
/// so far, in the memory of the vectors that multigrid's cycles keep.
pub struct Fallback {
    pub first: Arc<dyn Inverter>,
    pub second: Arc<dyn Inverter>,
    pub multigrid: Arc<Multigrid>,
}

impl Inverter for Fallback {
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let start = Instant::now();
        let report = self.first.solve(x, b, request, watch)?;
        if !report.solver.standstill {
            return Ok(report);
        }
        self.multigrid.free_idle();
        log::warn!(
            "multigrid makes no progress from the residual {} on: BiCGStab goes on. More bits for the links of \
             coarse operators (link_precision) or another number of null vectors may help",
            significant(report.solver.residual.iter().fold(0.0f64, |m, &r| m.max(r)), 3)
        );
        if let Some(origin) = request.origin {
            // The memory of b was used for residuals, so b is computed again.
            origin.make()?;
        }
        let left = request.stop.iterations.saturating_sub(report.solver.iterations).max(1);
        let stop = Stop { iterations: left, ..request.stop.since(start) };
        let next =
            self.second.solve(x, b, &SolveRequest { stop, guess: true, ..*request }, watch)?;
        let last = next.solver.clone();
        let all = report.followed_by(next);
        let solver = SolverReport {
            converged: last.converged,
            stopped_by: last.stopped_by,
            standstill: last.standstill,
            fallback: last.fallback.or(Some(SolverKind::BiCgStab)),
            ..all.solver
        };
        Ok(SolveReport { solver, ..all })
    }

    fn shape(&self) -> Shape {
        self.first.shape()
    }
    fn name(&self, nrhs: usize) -> String {
        format!("fallback({}, {})", self.first.describe(nrhs), self.second.describe(nrhs))
    }
    fn prepare(&self) -> Result<()> {
        self.first.prepare()?;
        self.second.prepare()
    }
}
