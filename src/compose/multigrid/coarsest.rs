//! Solves on the coarsest level: by a Krylov method, before which the level's low modes are solved
//! for exactly, or by the inverse of its whole operator.

use std::sync::Arc;

use super::coarsest_modes::{orthonormaliser, CoarsestModes, Deflated, Direct, Modes};
use super::cycle::{count, Hierarchy};
use super::params::{Coarsest, Steps};
use super::setup::random_coarse;
use crate::bail;
use crate::error::{Result, Status};
use crate::fields::{blas, AllRanks, CoarseField, Subset};
use crate::linop::LinOp;
use crate::solvers::{no_monitor, SolverKind, SolverParams, Stop, System};

/// Number of inverse iterations that find low modes.
const PASSES: usize = 3;
/// Relative residual to which each inverse iteration solves.
const PASS_TOL: f64 = 0.05;
/// Largest number of solver iterations in one inverse iteration.
const PASS_ITERATIONS: usize = 300;
impl Hierarchy {
    /// Computes what the solver of the coarsest level uses: low modes of its operator, and the inverse if the level is
    /// solved directly.
    pub fn find_coarsest_modes(&self) -> Result<CoarsestModes> {
        if self.coarse.len() < self.params.steps().len() {
            // This rank has no part of the coarsest level.
            return Ok(CoarsestModes::default());
        }
        let modes = match self.params.coarsest_modes {
            None | Some(0) => None,
            Some(count) => Some(Arc::new(self.find_modes(count)?)),
        };
        let direct = match self.params.coarsest {
            Coarsest::Direct => Some(Direct::new(self.op(self.coarse.len()))?),
            _ => None,
        };
        Ok(CoarsestModes { modes, direct })
    }

    /// Finds low modes by inverse iteration on random vectors, all as right-hand sides, and then by singular values
    /// of S in the space that they span.
    fn find_modes(&self, k: usize) -> Result<Modes> {
        let level = self.coarse.len();
        let op = self.op(level);
        let mut v = op.field(op.subset(), k)?;
        random_coarse(&mut v, self.params.seed)?;
        let mut b = v.like(k)?;
        for pass in 1..=PASSES {
            std::mem::swap(&mut v, &mut b);
            let steps = Steps::to((Some(PASS_TOL), PASS_ITERATIONS));
            self.minimise(level, &mut v, &mut b, steps)?;
            self.pools[level].clear();
            // The last pass is done twice, since the first time leaves an error of rounding times the condition
            // number.
            for _ in 0..if pass < PASSES { 1 } else { 2 } {
                b.combine(&v, &orthonormaliser(&v)?, 1.0, false)?;
                std::mem::swap(&mut v, &mut b);
            }
        }
        let mut u = v.like(k)?;
        {
            let mut odd = op.field(Subset::Odd, k)?;
            op.schur(&mut u, &v, &mut odd)?;
        }
        let by = orthonormaliser(&u)?;
        b.combine(&v, &by, 1.0, false)?;
        v.combine(&u, &by, 1.0, false)?;
        Ok(Modes { v: b, u: v })
    }

    /// Solves S x = r on the coarsest level from x = 0, by the solver of the parameters.
    pub fn solve_coarsest(&self, x: &mut CoarseField, r: &mut CoarseField) -> Result<()> {
        let (level, p) = (self.coarse.len(), &self.params);
        if let Some(direct) = &self.coarsest_modes.direct {
            count(&self.iterations[level], 1);
            let whole = AllRanks::of(r, direct.first, direct.inverse.columns())?;
            return direct.inverse.apply(x, whole);
        }
        let mut steps = Steps::to((Some(p.coarsest_tol), p.coarsest_iterations));
        if let Some(modes) = &self.coarsest_modes.modes {
            steps.start = r.norm2()?;
            (steps.keep, steps.deflated) = (true, true);
            modes.apply(x, r)?;
        }
        match p.coarsest {
            Coarsest::Gcr => self.gcr(level, x, r, steps, false),
            Coarsest::BiCgStab => self.bicgstab(x, r, &steps.start),
            Coarsest::CaGcr | Coarsest::Direct => self.minimise(level, x, r, steps),
        }
    }

    /// Solves by BiCGStab, the implementation that all operators share. If low modes were taken out
    /// of r before, `start` holds |r|^2 from before that, to which the goal is relative, and the
    /// solution is added to x; otherwise `start` is empty. After a breakdown x is unchanged, and
    /// the levels above measure the residual that is left.
    fn bicgstab(&self, x: &mut CoarseField, r: &CoarseField, start: &[f64]) -> Result<()> {
        let (level, p) = (self.coarse.len(), &self.params);
        let Some(system) = &self.coarsest else {
            bail!(Internal, "a coarsest level without its system");
        };
        let modes = self.coarsest_modes.modes.as_ref().filter(|_| !start.is_empty());
        let precise: Arc<dyn LinOp> = match modes {
            Some(modes) => Arc::new(Deflated { system: system.clone(), modes: modes.clone() }),
            None => system.clone(),
        };
        let scale = modes.map(|_| start.iter().map(|v| v.sqrt()).collect());
        let how = System { scale, ..System::new(precise) };
        let ask = SolverParams {
            kind: SolverKind::BiCgStab,
            fall_back: false,
            stop: Stop { iterations: p.coarsest_iterations, ..Stop::at(p.coarsest_tol) },
            ..Default::default()
        };
        let solve = |x: &mut CoarseField| match system.solve(&how, &ask, x, r, &mut no_monitor) {
            Ok(report) => {
                count(&self.iterations[level], report.iterations as u64);
                Ok(())
            }
            Err(e) if matches!(e.status, Status::NotFinite | Status::SolverBreakdown) => x.clear(),
            Err(e) => Err(e),
        };
        let Some(modes) = modes else { return solve(x) };
        let (pool, n) = (&self.pools[level], r.nrhs());
        let mut part = pool.take(self.op(level).subset(), n)?;
        solve(&mut part)?;
        x.axpy(&blas::uniform(n, 1.0), &part)?;
        let mut image = pool.take(self.op(level).subset(), n)?;
        system.image(&mut image, &part)?;
        modes.complete(x, &modes.project(&mut image)?, 1.0)
    }
}
