//! Krylov methods on coarse levels: GCR with one global sum for several steps or for each step,
//! alone or preconditioned by the cycle of the levels below.

use super::cycle::{count, Hierarchy, MeanReduction};
use super::least_squares::{Norms, Row, Space};
use super::params::{Steps, FIRST_STEPS, KRYLOV};
use super::pool::PooledVector;
use crate::error::Result;
use crate::fields::{blas, CoarseField, Subset};

impl Hierarchy {
    /// Runs GCR without a preconditioner, with one global sum for each `at_once` steps.
    pub fn minimise(
        &self,
        level: usize,
        x: &mut CoarseField,
        r: &mut CoarseField,
        steps: Steps,
    ) -> Result<()> {
        let Steps { goal, max, start, mut keep, residual, at_once, deflated } = steps;
        let modes = self.coarsest_modes.modes.as_ref().filter(|_| deflated);
        let (op, pool, n) = (self.op(level), &self.pools[level], r.nrhs());
        let squares = self.squares[level].take(n)?;
        let mut odd = pool.take(Subset::Odd, n)?;
        let mut kept: Vec<PooledVector> = vec![];
        let mut done = 0;
        let mut goals = goal.map(|goal| Goals::new(goal, start, n, None));
        let first = if goal.is_some() { FIRST_STEPS.min(max) } else { 0 };
        for (count, last) in blocks(first, at_once).chain(blocks(max - first, at_once)) {
            let last = last && done + count == max;
            let mut rows: Vec<Row> = vec![r.row()];
            for k in 0..count {
                if k == kept.len() {
                    kept.push(pool.take(op.subset(), n)?);
                }
                let (before, now) = kept.split_at_mut(k);
                let from: &CoarseField = match before.last() {
                    Some(last) => last,
                    None => r,
                };
                op.one_minus_schur(&mut now[0], from, &mut odd)?;
                if let Some(modes) = modes {
                    modes.project(&mut now[0])?;
                }
                rows.push(now[0].row());
            }
            let norms = squares.solve(&rows, 0, Space::Powers)?;
            match (modes, last && !residual) {
                (Some(modes), _) => {
                    let (part, mut t) = (pool.take(op.subset(), n)?, pool.take(op.subset(), n)?);
                    squares.both(&rows, part.row(), false, r.row())?;
                    // The vector `part` has no component along U, so that the component of S part along U is minus that
                    // of t = part - S part.
                    op.one_minus_schur(&mut t, &part, &mut odd)?;
                    x.axpy(&blas::uniform(n, 1.0), &part)?;
                    modes.complete(x, &modes.project(&mut t)?, -1.0)?;
                }
                (None, true) => squares.solution(&rows, x.row(), keep)?,
                (None, false) => squares.both(&rows, x.row(), keep, r.row())?,
            }
            (done, keep) = (done + count, true);
            let Some(goals) = goals.as_mut().filter(|_| !last) else { continue };
            if goals.all_met(norms)? {
                break;
            }
            goals.stop(r)?;
        }
        count(&self.iterations[level], done as u64);
        Ok(())
    }

    /// Runs GCR with a global sum in every step (Eisenstat, Elman, Schultz, SIAM J. Numer. Anal. 20
    /// (1983) 345). The host waits for these sums if the steps have a goal. With `below` it is
    /// preconditioned by the cycle of the levels below.
    pub fn gcr(
        &self,
        level: usize,
        x: &mut CoarseField,
        r: &mut CoarseField,
        steps: Steps,
        below: bool,
    ) -> Result<()> {
        let Steps { goal, max, start, keep, residual, deflated, .. } = steps;
        let modes = self.coarsest_modes.modes.as_ref().filter(|_| deflated);
        let (op, pool, n) = (self.op(level), &self.pools[level], r.nrhs());
        let squares = self.squares[level].take(n)?;
        let mut done = 0;
        let reduction = below.then_some(&self.reductions[level]);
        let mut goals = goal.map(|goal| Goals::new(goal, start, n, reduction));
        let mut good = false;
        for (count, _) in blocks(max, KRYLOV) {
            let source = {
                let mut source = pool.take(op.subset(), n)?;
                source.copy(r)?;
                source
            };
            let mut rows = vec![source.row()];
            let (mut z, mut q): (Vec<PooledVector>, Vec<PooledVector>) = (vec![], vec![]);
            for k in 0..count {
                let mut direction = pool.take(op.subset(), n)?;
                let mut image = pool.take(op.subset(), n)?;
                if below {
                    // The cycle returns the residual r - S z that its correction z leaves: the image S z is its
                    // difference from r.
                    self.coarse_cycle(level, &mut direction, &mut image, r, true)?;
                    image.axpby(&blas::uniform(n, 1.0), r, &blas::uniform(n, -1.0))?;
                } else {
                    direction.copy(r)?;
                    let mut odd = pool.take(Subset::Odd, n)?;
                    op.schur(&mut image, &direction, &mut odd)?;
                }
                if let Some(modes) = modes {
                    modes.complete(&mut direction, &modes.project(&mut image)?, 1.0)?;
                }
                rows.push(image.row());
                z.push(direction);
                q.push(image);
                let norms = squares.solve(&rows, if k == 0 { 0 } else { k + 1 }, Space::Images)?;
                done += 1;
                if done == max && !residual {
                    break;
                }
                squares.residual(&rows, r.row())?;
                let Some(goals) = goals.as_mut().filter(|_| done < max) else { continue };
                good = goals.all_met(norms)?;
                if good {
                    break;
                }
                goals.stop(r)?;
            }
            let directions: Vec<Row> = z.iter().map(|v| v.row()).collect();
            squares.solution(&directions, x.row(), keep || done > directions.len())?;
            if good {
                break;
            }
        }
        count(&self.iterations[level], done as u64);
        Ok(())
    }
}

/// Records which right-hand sides have met their goal. The residual of a right-hand side that has
/// is set to zero: coefficients of further steps are then zero, and its solution stays while the
/// others are solved.
struct Goals<'a> {
    goal: f64,
    /// |r|^2 to which the goal is relative, for every right-hand side; empty: the first norms that
    /// are computed.
    start: Vec<f64>,
    /// |r|^2 of every right-hand side, as last computed.
    last: Vec<f64>,
    met: Vec<bool>,
    /// Collects the factors by which iterations reduced residuals.
    reduction: Option<&'a MeanReduction>,
}

impl<'a> Goals<'a> {
    fn new(goal: f64, start: Vec<f64>, nrhs: usize, reduction: Option<&'a MeanReduction>) -> Self {
        Goals { goal, start, last: vec![], met: vec![false; nrhs], reduction }
    }

    /// Waits for norms and says whether all right-hand sides have met the goal.
    fn all_met(&mut self, norms: Norms) -> Result<bool> {
        let now = norms.get()?;
        if self.start.is_empty() {
            self.start = now.iter().map(|v| v[0]).collect();
        }
        for (i, norms) in now.iter().enumerate().filter(|(i, _)| !self.met[*i]) {
            if let Some(reduction) = self.reduction {
                reduction.add(*self.last.get(i).unwrap_or(&norms[0]), norms[1]);
            }
        }
        for ((met, now), start) in self.met.iter_mut().zip(&now).zip(&self.start) {
            *met |= fallen(now[1], *start, self.goal);
        }
        self.last = now.iter().map(|v| v[1]).collect();
        Ok(self.met.iter().all(|met| *met))
    }

    fn stop(&self, r: &mut CoarseField) -> Result<()> {
        if !self.met.contains(&true) {
            return Ok(());
        }
        let left: Vec<f64> = self.met.iter().map(|met| if *met { 0.0 } else { 1.0 }).collect();
        r.scale(&blas::complex(&left))
    }
}

/// Divides `all` steps into blocks of about equal size, at most `max`; returns for each block its number of steps and
/// whether it is the last one.
pub(super) fn blocks(all: usize, max: usize) -> impl Iterator<Item = (usize, bool)> {
    let count = all.div_ceil(max);
    (0..count).map(move |i| ((i + 1) * all / count - i * all / count, i + 1 == count))
}

/// Whether |r|^2 = `now` has reached tol^2 `start`, or is not finite, so that further steps are
/// useless.
fn fallen(now: f64, start: f64, tol: f64) -> bool {
    now <= tol * tol * start || !now.is_finite()
}
