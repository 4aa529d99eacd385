//! Krylov methods on coarse levels: GCR with one sum in many steps or with one in each, by itself or with the
//! cycle of the levels below, and BiCGStab.

use num_complex::Complex64;

use super::cycle::{count, Hierarchy};
use super::params::{Steps, FIRST_STEPS, KRYLOV};
use super::pool::Lent;
use crate::error::Result;
use crate::fields::krylov::{Row, Space};
use crate::fields::{blas, CoarseField, Subset};

impl Hierarchy {
    /// Steps of GCR without a preconditioner, with a sum in each `at_once` of them.
    pub fn minimise(
        &self,
        level: usize,
        x: &mut CoarseField,
        r: &mut CoarseField,
        steps: Steps,
    ) -> Result<()> {
        let Steps { goal, most, mut start, mut keep, residual, at_once, deflated } = steps;
        let modes = self.low.modes.as_ref().filter(|_| deflated);
        let (op, pool, n) = (self.op(level), &self.pools[level], r.nrhs());
        let squares = self.squares[level].lend(n)?;
        let mut odd = pool.lend(Subset::Odd, n)?;
        let mut kept: Vec<Lent> = vec![];
        let mut done = 0;
        let first = if goal.is_some() { FIRST_STEPS.min(most) } else { 0 };
        for (count, last) in blocks(first, at_once).chain(blocks(most - first, at_once)) {
            let last = last && done + count == most;
            let mut rows: Vec<Row> = vec![r.row()];
            for k in 0..count {
                if k == kept.len() {
                    kept.push(pool.lend(op.subset(), n)?);
                }
                let (before, now) = kept.split_at_mut(k);
                let from: &CoarseField = match before.last() {
                    Some(last) => last,
                    None => r,
                };
                op.rest(&mut now[0], from, &mut odd)?;
                if let Some(modes) = modes {
                    modes.project(&mut now[0])?;
                }
                rows.push(now[0].row());
            }
            let norms = squares.solve(&rows, 0, Space::Powers)?;
            match (modes, last && !residual) {
                (Some(modes), _) => {
                    let (part, mut t) = (pool.lend(op.subset(), n)?, pool.lend(op.subset(), n)?);
                    squares.both(&rows, part.row(), false, r.row())?;
                    // part has no part in U: of S part that is what `rest` has, with the other sign.
                    op.rest(&mut t, &part, &mut odd)?;
                    x.axpy(&blas::uniform(n, 1.0), &part)?;
                    modes.complete(x, &modes.project(&mut t)?, -1.0)?;
                }
                (None, true) => squares.solution(&rows, x.row(), keep)?,
                (None, false) => squares.both(&rows, x.row(), keep, r.row())?,
            }
            (done, keep) = (done + count, true);
            let Some(goal) = goal.filter(|_| !last) else { continue };
            let now = norms.get()?;
            if start.is_empty() {
                start = now.iter().map(|v| v[0]).collect();
            }
            if now.iter().zip(&start).all(|(v, start)| fallen(v[1], *start, goal)) {
                break;
            }
        }
        count(&self.iterations[level], done as u64);
        Ok(())
    }

    /// GCR with a sum in every step, which the host waits for where there is a goal; `below`: preconditioned
    /// with the cycle of the levels below.
    pub fn gcr(
        &self,
        level: usize,
        x: &mut CoarseField,
        r: &mut CoarseField,
        steps: Steps,
        below: bool,
    ) -> Result<()> {
        let Steps { goal, most, mut start, keep, residual, deflated, .. } = steps;
        let modes = self.low.modes.as_ref().filter(|_| deflated);
        let (op, pool, n) = (self.op(level), &self.pools[level], r.nrhs());
        let squares = self.squares[level].lend(n)?;
        let mut done = 0;
        let mut good = false;
        for (count, _) in blocks(most, KRYLOV) {
            let source = {
                let mut source = pool.lend(op.subset(), n)?;
                source.copy(r)?;
                source
            };
            let mut rows = vec![source.row()];
            let (mut z, mut q): (Vec<Lent>, Vec<Lent>) = (vec![], vec![]);
            for k in 0..count {
                let mut direction = pool.lend(op.subset(), n)?;
                let mut image = pool.lend(op.subset(), n)?;
                match below {
                    true => self.coarse_cycle(level, &mut direction, r)?,
                    false => direction.copy(r)?,
                }
                {
                    let mut odd = pool.lend(Subset::Odd, n)?;
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
                if done == most && !residual {
                    break;
                }
                squares.residual(&rows, r.row())?;
                let Some(goal) = goal.filter(|_| done < most) else { continue };
                let now = norms.get()?;
                if start.is_empty() {
                    start = now.iter().map(|v| v[0]).collect();
                }
                good = now.iter().zip(&start).all(|(v, start)| fallen(v[1], *start, goal));
                if good {
                    break;
                }
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

    /// BiCGStab: the host waits three times in an iteration. A right-hand side whose coefficients are not finite
    /// stays as it is.
    pub fn bicgstab(
        &self,
        level: usize,
        x: &mut CoarseField,
        r: &mut CoarseField,
        steps: Steps,
    ) -> Result<()> {
        let (op, pool, n) = (self.op(level), &self.pools[level], r.nrhs());
        let mut odd = pool.lend(Subset::Odd, n)?;
        let lend = || pool.lend(op.subset(), n);
        let (mut shadow, mut p, mut v, mut t) = (lend()?, lend()?, lend()?, lend()?);
        let mut part = lend()?;
        part.clear()?;
        let modes = self.low.modes.as_ref().filter(|_| steps.deflated);
        shadow.copy(r)?;
        p.copy(r)?;
        let norm = r.norm2()?;
        let start = if steps.start.is_empty() { norm.clone() } else { steps.start };
        let goal = steps.goal.unwrap_or(0.0);
        let over = |start: &f64, norm: &f64| fallen(*norm, *start, goal) || *norm == 0.0;
        let mut finished: Vec<bool> = start.iter().zip(&norm).map(|(s, n)| over(s, n)).collect();
        let mut rho = blas::complex(&norm);
        let mut done = 0;
        while done < steps.most && finished.iter().any(|f| !f) {
            op.schur(&mut v, &p, &mut odd)?;
            if let Some(modes) = modes {
                modes.project(&mut v)?;
            }
            let (along, _) = shadow.dot_norm(&v)?;
            let alpha = quotients(&rho, &along, &mut finished);
            r.axpy(&negative(&alpha), &v)?;
            op.schur(&mut t, r, &mut odd)?;
            if let Some(modes) = modes {
                modes.project(&mut t)?;
            }
            let (along, norm) = t.dot_norm(r)?;
            let omega = quotients(&along, &blas::complex(&norm), &mut finished);
            part.axpy(&alpha, &p)?;
            part.axpy(&omega, r)?;
            r.axpy(&negative(&omega), &t)?;
            let (next, norm) = r.dot_norm(&shadow)?;
            let next: Vec<Complex64> = next.iter().map(|z| z.conj()).collect();
            for j in 0..n {
                finished[j] |= over(&start[j], &norm[j]);
            }
            let beta: Vec<Complex64> =
                (0..n).map(|j| next[j] / rho[j] * alpha[j] / omega[j]).collect();
            let beta = quotients(&beta, &vec![Complex64::ONE; n], &mut finished);
            // p = r + beta (p - omega v)
            p.axpy(&negative(&omega), &v)?;
            p.axpby(&vec![Complex64::ONE; n], r, &beta)?;
            rho = next;
            done += 1;
        }
        let one = blas::uniform(n, 1.0);
        x.axpby(&one, &part, &blas::uniform(n, if steps.keep { 1.0 } else { 0.0 }))?;
        if let Some(modes) = modes {
            op.schur(&mut v, &part, &mut odd)?;
            modes.complete(x, &modes.project(&mut v)?, 1.0)?;
        }
        count(&self.iterations[level], done as u64);
        Ok(())
    }
}

fn negative(a: &[Complex64]) -> Vec<Complex64> {
    a.iter().map(|z| -z).collect()
}

/// a / b of those that go on; they end where that is not finite.
fn quotients(a: &[Complex64], b: &[Complex64], finished: &mut [bool]) -> Vec<Complex64> {
    let one = |((a, b), finished): ((&Complex64, &Complex64), &mut bool)| {
        let z = a / b;
        *finished |= !z.is_finite();
        if *finished {
            Complex64::ZERO
        } else {
            z
        }
    };
    a.iter().zip(b).zip(finished.iter_mut()).map(one).collect()
}

/// `all` steps in blocks of about the same size, `most` at most; is it the last one?
pub(super) fn blocks(all: usize, most: usize) -> impl Iterator<Item = (usize, bool)> {
    let count = all.div_ceil(most);
    (0..count).map(move |i| ((i + 1) * all / count - i * all / count, i + 1 == count))
}

/// Is |r|^2 small enough; what is not finite will not improve.
fn fallen(now: f64, start: f64, tol: f64) -> bool {
    now <= tol * tol * start || !now.is_finite()
}
