//! The cycle: smoothing and corrections by coarser levels, as a preconditioner of the even-odd system
//! of the finest level. The residual of a Schur complement is that of all sites once those of the other
//! parity are solved for: levels restrict what they have, the even sites.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use num_complex::Complex64;

use super::pool::{Lent, Pool};
use super::{Cycle, MultigridParams, Smoother, Transfer};
use crate::compose::EvenOdd;
use crate::error::Result;
use crate::fields::blas::{self, Times};
use crate::fields::{CoarseField, SpinorField, Subset};
use crate::linop::{LinOp, Uses, Workspace};
use crate::operators::{gamma5, CoarseOperator, SiteTerm, Wilson};

/// Directions that GCR on a coarse level keeps.
const KRYLOV: usize = 16;

/// Operators of all levels and the way between them.
pub(super) struct Hierarchy {
    pub params: MultigridParams,
    pub fine: Arc<EvenOdd>,
    /// From each level to the next.
    pub transfers: Vec<Transfer>,
    /// Operators of the levels from 1 on.
    pub coarse: Vec<Arc<CoarseOperator>>,
    pub pools: Vec<Pool>,
    pub workspace: Workspace,
    /// Directions and images of the finest level's GCR.
    directions: Mutex<Vec<(SpinorField, SpinorField)>>,
    /// Iterations and nanoseconds on each level.
    pub iterations: Vec<AtomicU64>,
    pub nanoseconds: Vec<AtomicU64>,
}

impl Hierarchy {
    pub fn new(
        params: MultigridParams,
        op: Arc<Wilson>,
        transfers: Vec<Transfer>,
        coarse: Vec<Arc<CoarseOperator>>,
    ) -> Self {
        let mut pools = vec![Pool::new(transfers[0].fine(), params.precision, 12)];
        pools.extend(coarse.iter().map(|op| Pool::new(op.grid(), op.precision(), op.rows())));
        let counters = || (0..=coarse.len()).map(|_| AtomicU64::new(0)).collect();
        let (iterations, nanoseconds) = (counters(), counters());
        let fine = Arc::new(EvenOdd::new(op, 0, true));
        let workspace = Workspace::default();
        Hierarchy {
            params,
            fine,
            transfers,
            coarse,
            pools,
            workspace,
            directions: Mutex::default(),
            iterations,
            nanoseconds,
        }
    }

    /// What the set-up took does not count as solves.
    pub fn forget_counts(&self) {
        let counters = self.iterations.iter().chain(&self.nanoseconds);
        counters.for_each(|c| c.store(0, Ordering::Relaxed));
    }

    fn op(&self, level: usize) -> &CoarseOperator {
        &self.coarse[level - 1]
    }

    fn timed<T>(&self, level: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let out = work();
        let spent = start.elapsed().as_nanos() as u64;
        self.nanoseconds[level].fetch_add(spent, Ordering::Relaxed);
        out
    }

    /// out = K in on even sites of the finest level, in any precision.
    pub fn precondition(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.timed(0, || self.fine_cycle(out, inp))
    }

    /// The same for the adjoint system: S^dagger = gamma5 A S A^-1 gamma5 without a twist, and nearly so
    /// with a small one.
    pub fn precondition_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let (op, shape) = (self.fine.op(), self.fine.shape());
        self.workspace.with(&shape, inp.nrhs(), |s| {
            self.workspace.with(&shape, inp.nrhs(), |t| {
                blas::copy(s, inp)?;
                gamma5(t, s)?;
                op.apply_site(s, t, 0, SiteTerm::Inverse, false, 1.0)?;
                self.precondition(t, s)?;
                op.apply_site(s, t, 0, SiteTerm::Direct, false, 1.0)?;
                gamma5(t, s)?;
                blas::copy(out, t)
            })
        })
    }

    fn fine_cycle(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let (shape, n, level) = (self.fine.shape(), inp.nrhs(), &self.params.levels[0]);
        let one = blas::uniform(n, 1.0);
        self.workspace.with(&shape, n, |x| {
            self.workspace.with(&shape, n, |r| {
                self.workspace.with(&shape, n, |t| {
                    blas::copy(r, inp)?;
                    if level.pre > 0 {
                        x.clear()?;
                        self.relax(x, r, t, level.pre, true)?;
                    }
                    self.fine_correction(t, r)?;
                    match level.pre {
                        0 => blas::copy(x, t)?,
                        _ => blas::axpy(&one, t, x)?,
                    }
                    if level.post > 0 {
                        self.workspace.with(&shape, n, |q| {
                            self.fine.apply(q, t)?;
                            blas::axpy(&blas::uniform(n, -1.0), q, r)?;
                            self.relax(x, r, q, level.post, false)
                        })?;
                    }
                    blas::copy(out, x)
                })
            })
        })
    }

    /// Steps of the smoother: x gains what is found, r is its residual where that is wanted. The host
    /// waits for nothing.
    fn relax(
        &self,
        x: &mut SpinorField,
        r: &mut SpinorField,
        q: &mut SpinorField,
        steps: usize,
        residual: bool,
    ) -> Result<()> {
        self.iterations[0].fetch_add(steps as u64, Ordering::Relaxed);
        if self.params.smoother == Smoother::Gcr && steps > 1 {
            return self.relax_gcr(x, r, steps, residual);
        }
        let n = r.nrhs();
        let omega = if steps > 1 { self.params.omega } else { 1.0 };
        for step in 0..steps {
            self.fine.apply(q, r)?;
            let sums = blas::dot_norm_later(q, r)?;
            let times = Times::DotOverNorm(&sums);
            blas::axpy_times(&blas::uniform(n, omega), times, r, x)?;
            if residual || step + 1 < steps {
                blas::axpy_times(&blas::uniform(n, -omega), times, q, r)?;
            }
        }
        Ok(())
    }

    fn relax_gcr(
        &self,
        x: &mut SpinorField,
        r: &mut SpinorField,
        steps: usize,
        residual: bool,
    ) -> Result<()> {
        let (shape, n) = (self.fine.shape(), r.nrhs());
        let (one, minus) = (blas::uniform(n, 1.0), blas::uniform(n, -1.0));
        let mut kept: Vec<(SpinorField, SpinorField)> = {
            let mut kept = self.directions.lock().unwrap_or_else(|e| e.into_inner());
            let fits = kept.first().is_none_or(|(z, _)| z.nrhs() == n);
            if fits {
                std::mem::take(&mut *kept)
            } else {
                vec![]
            }
        };
        while kept.len() < steps {
            kept.push((shape.field(n)?, shape.field(n)?));
        }
        for k in 0..steps {
            let (before, now) = kept.split_at_mut(k);
            let (z, q) = &mut now[0];
            blas::copy(z, r)?;
            self.fine.apply(q, z)?;
            for (z_before, q_before) in before.iter() {
                let sums = blas::dot_norm_later(q_before, q)?;
                let times = Times::DotOverNorm(&sums);
                blas::axpy_times(&minus, times, z_before, z)?;
                blas::axpy_times(&minus, times, q_before, q)?;
            }
            let sums = blas::dot_norm_later(q, r)?;
            let times = Times::DotOverNorm(&sums);
            blas::axpy_times(&one, times, z, x)?;
            if residual || k + 1 < steps {
                blas::axpy_times(&minus, times, q, r)?;
            }
        }
        *self.directions.lock().unwrap_or_else(|e| e.into_inner()) = kept;
        Ok(())
    }

    /// e = P (coarse solution of R A r) on even sites.
    fn fine_correction(&self, e: &mut SpinorField, r: &SpinorField) -> Result<()> {
        let n = r.nrhs();
        let mut fine = self.pools[0].lend(Subset::Even, n)?;
        // The Schur complement is symmetric: times A it is that of M.
        self.fine.op().apply_site(e, r, 0, SiteTerm::Direct, false, 1.0)?;
        fine.take_spinors(0, e, None)?;
        let mut solution = self.pools[1].lend(Subset::Full, n)?;
        {
            let mut source = self.pools[1].lend(Subset::Full, n)?;
            self.transfers[0].restrict(&mut source, &fine)?;
            self.timed(1, || self.solve(1, &mut solution, &source))?;
        }
        self.transfers[0].prolong(&mut fine, &solution)?;
        fine.give_spinors(0, e, 0)
    }

    /// M x = b on a coarse level, roughly.
    pub fn solve(&self, level: usize, x: &mut CoarseField, b: &CoarseField) -> Result<()> {
        let (op, pool, n) = (self.op(level), &self.pools[level], b.nrhs());
        let mut scaled = pool.lend(Subset::Full, n)?;
        let mut r = pool.lend(op.subset(), n)?;
        op.prepare(&mut r, &mut scaled, b)?;
        let mut solution = pool.lend(op.subset(), n)?;
        let p = &self.params;
        if level == self.coarse.len() {
            self.gcr(level, &mut solution, &mut r, p.coarsest_tol, p.coarsest_iterations, false)?;
        } else {
            match p.cycle {
                Cycle::V => self.coarse_cycle(level, &mut solution, &r)?,
                Cycle::W => self.gcr(level, &mut solution, &mut r, 1e-3, 2, true)?,
                Cycle::K => self.gcr(level, &mut solution, &mut r, p.tol, p.iterations, true)?,
            }
        }
        op.reconstruct(x, &solution, &scaled)
    }

    /// z = K r on the sites of a coarse level's solves.
    fn coarse_cycle(&self, level: usize, z: &mut CoarseField, r: &CoarseField) -> Result<()> {
        let (op, n, params) = (self.op(level), r.nrhs(), &self.params.levels[level]);
        let (pool, transfer) = (&self.pools[level], &self.transfers[level]);
        let one = blas::uniform(n, 1.0);
        let mut rest = pool.lend(op.subset(), n)?;
        rest.copy(r)?;
        let mut t = pool.lend(op.subset(), n)?;
        if params.pre > 0 {
            self.gcr(level, z, &mut rest, 0.0, params.pre, false)?;
        }
        // From D^-1 times the system to the system.
        op.diagonal(&mut t, &rest)?;
        {
            let below = &self.pools[level + 1];
            let mut source = below.lend(Subset::Full, n)?;
            let mut solution = below.lend(Subset::Full, n)?;
            transfer.restrict(&mut source, &t)?;
            self.timed(level + 1, || self.solve(level + 1, &mut solution, &source))?;
            transfer.prolong(&mut t, &solution)?;
        }
        match params.pre {
            0 => z.copy(&t)?,
            _ => z.axpy(&one, &t)?,
        }
        if params.post > 0 {
            let mut q = pool.lend(op.subset(), n)?;
            let mut odd = pool.lend(Subset::Odd, n)?;
            op.schur(&mut q, &t, &mut odd)?;
            drop(odd);
            rest.axpy(&blas::uniform(n, -1.0), &q)?;
            drop(q);
            self.gcr(level, &mut t, &mut rest, 0.0, params.post, false)?;
            z.axpy(&one, &t)?;
        }
        Ok(())
    }

    /// GCR on a level's system from zero: x, and in r the residual. A right-hand side stands still once its
    /// residual has fallen to `tol`.
    fn gcr(
        &self,
        level: usize,
        x: &mut CoarseField,
        r: &mut CoarseField,
        tol: f64,
        most: usize,
        preconditioned: bool,
    ) -> Result<()> {
        let (op, pool, n) = (self.op(level), &self.pools[level], r.nrhs());
        x.clear()?;
        let mut now = r.norm2()?;
        let goal: Vec<f64> = now.iter().map(|v| tol * tol * v).collect();
        let mut active: Vec<bool> = now.iter().map(|v| *v > 0.0 && v.is_finite()).collect();
        let mut done = 0;
        while done < most && active.contains(&true) {
            let (mut z, mut q): (Vec<Lent>, Vec<Lent>) = (vec![], vec![]);
            let mut norms: Vec<Vec<f64>> = vec![];
            let mut steps: Vec<Vec<Complex64>> = vec![];
            // overlaps[k][j]: what was subtracted of q_j from q_k.
            let mut overlaps: Vec<Vec<Vec<Complex64>>> = vec![];
            while steps.len() < KRYLOV && done < most && active.contains(&true) {
                let k = steps.len();
                let mut direction = pool.lend(op.subset(), n)?;
                let mut image = pool.lend(op.subset(), n)?;
                match preconditioned {
                    true => self.coarse_cycle(level, &mut direction, r)?,
                    false => direction.copy(r)?,
                }
                {
                    let mut odd = pool.lend(Subset::Odd, n)?;
                    op.schur(&mut image, &direction, &mut odd)?;
                }
                let mut subtracted = vec![];
                for j in 0..k {
                    let before: &CoarseField = &q[j];
                    let along = before.dot_norm(&image)?.0;
                    let c: Vec<Complex64> = (0..n).map(|i| ratio(along[i], norms[j][i])).collect();
                    let minus: Vec<Complex64> = c.iter().map(|c| -c).collect();
                    image.axpy(&minus, before)?;
                    subtracted.push(c);
                }
                let (along, norm) = image.dot_norm(r)?;
                let a: Vec<Complex64> = (0..n)
                    .map(|i| if active[i] { ratio(along[i], norm[i]) } else { Complex64::ZERO })
                    .collect();
                let minus: Vec<Complex64> = a.iter().map(|a| -a).collect();
                r.axpy(&minus, &image)?;
                for i in 0..n {
                    now[i] -= a[i].norm_sqr() * norm[i];
                    active[i] &= now[i] > goal[i] && a[i] != Complex64::ZERO;
                }
                z.push(direction);
                q.push(image);
                norms.push(norm);
                steps.push(a);
                overlaps.push(subtracted);
                done += 1;
            }
            // chi_j + sum_{k > j} overlaps[k][j] chi_k = steps_j
            for j in (0..steps.len()).rev() {
                for k in j + 1..steps.len() {
                    for i in 0..n {
                        let shift = overlaps[k][j][i] * steps[k][i];
                        steps[j][i] -= shift;
                    }
                }
                x.axpy(&steps[j], &z[j])?;
            }
        }
        self.iterations[level].fetch_add(done as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Bytes of the vectors of a cycle on `nrhs` right-hand sides.
    pub fn memory(&self, nrhs: usize, uses: Uses) -> u64 {
        let fine = self.fine.shape().bytes(nrhs);
        let mut sum = (4 + 2 * uses.dagger as u64) * fine + self.fine.memory(nrhs, Uses::FORWARD);
        let level = &self.params.levels[0];
        if self.params.smoother == Smoother::Gcr {
            sum += 2 * level.pre.max(level.post) as u64 * fine;
        }
        let grid = self.transfers[0].fine();
        let bytes = |grid: &_, precision, subset, components| {
            CoarseField::bytes(grid, precision, subset, components, nrhs) as u64
        };
        sum += bytes(grid, self.params.precision, Subset::Even, 12);
        for (l, op) in self.coarse.iter().enumerate() {
            let vector = |subset| bytes(op.grid(), op.precision(), subset, op.rows());
            let last = l + 1 == self.coarse.len();
            let directions = match (last, self.params.cycle) {
                (true, _) => self.params.coarsest_iterations.min(KRYLOV),
                (false, Cycle::V) => self.params.levels[l + 1].post,
                (false, Cycle::W) => 2 + self.params.levels[l + 1].post,
                (false, Cycle::K) => {
                    self.params.iterations.min(KRYLOV) + self.params.levels[l + 1].post.min(KRYLOV)
                }
            };
            let halves = 2 * directions as u64 + if last { 2 } else { 5 };
            sum += 3 * vector(Subset::Full) + halves * vector(op.subset()) + vector(Subset::Odd);
        }
        sum
    }

    /// Bytes that null vectors and operators of coarse levels hold, level by level.
    pub fn held(&self) -> Vec<u64> {
        let vectors = self.transfers.iter().map(|t| {
            let v = t.vectors();
            CoarseField::bytes(v.grid(), v.precision(), v.subset(), v.components(), v.nrhs()) as u64
        });
        let mut held: Vec<u64> = vectors.collect();
        held.push(0);
        for (bytes, op) in held[1..].iter_mut().zip(&self.coarse) {
            *bytes += op.held() as u64;
        }
        held
    }
}

/// a / b; 0 where that is not finite.
fn ratio(a: Complex64, b: f64) -> Complex64 {
    let c = a / b;
    if c.is_finite() {
        c
    } else {
        Complex64::ZERO
    }
}
