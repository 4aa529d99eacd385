//! The cycle, V, W or K (Notay, Vassilevski, Numer. Linear Algebra Appl. 15 (2008) 473; on the lattice: Clark et al.,
//! arXiv:1612.07873): smoothing and corrections by coarser levels, as a preconditioner of the even-odd system of the
//! finest level. If the equations on odd sites are solved exactly, the residual on the whole lattice vanishes there and
//! is given by that of the Schur complement on even sites. Therefore levels restrict the even sites only.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::coarsest_modes::CoarsestModes;
use super::params::{smoothing_columns, Steps, STEPS};
use super::pool::{Pool, Squares};
use super::schwarz::Schwarz;
use super::{CoarseSystem, Coarsest, Cycle, MultigridParams, Transfer};
use crate::error::Result;
use crate::fields::blas;
use crate::fields::{CoarseField, Gather, Precision, SpinorField, Subset};
use crate::linop::{Schur, Shape, Workspace};
use crate::operators::HalfColumns;
use crate::operators::{
    copy_parity, CoarseOperator, FlavourTerm, QuarkAction, SchurAction, SiteTerm, TensorHop,
};

/// The operators of all levels, and restriction and prolongation between them.
pub(super) struct Hierarchy {
    pub params: MultigridParams,
    /// The operator of the finest level's smoother.
    pub finest: Arc<dyn QuarkAction>,
    /// The symmetric Schur complement of `finest` on even sites.
    pub fine: Arc<dyn SchurAction>,
    /// Transfers from each level to the next.
    pub transfers: Vec<Transfer>,
    /// For each level that is on fewer ranks than the level above, the transfer of vectors between these two groups of
    /// ranks. On a rank without a part of the level the list ends there.
    pub gathers: Vec<Option<Gather>>,
    /// Operators of the levels from 1 on.
    pub coarse: Vec<Arc<CoarseOperator>>,
    pub pools: Vec<Pool>,
    /// For levels that are on fewer ranks than the level above, work vectors distributed over the ranks of the level
    /// above.
    pub pools_above: Vec<Option<Pool>>,
    pub workspace: Workspace,
    /// Temporary vectors that a solve uses outside of the cycle, with all right-hand sides.
    solve_workspace: Workspace,
    /// Temporary directions of the finest level's smoother.
    pub directions: Mutex<Vec<SpinorField>>,
    /// The operator that the smoother applies to columns of many right-hand sides, on tensor cores.
    pub tensor: Option<Arc<TensorHop>>,
    pub columns: Mutex<Vec<HalfColumns>>,
    /// Number of right-hand sides of the last cycle.
    last: AtomicUsize,
    pub squares: Vec<Squares>,
    /// Domains of smoothers by Schwarz's method.
    pub schwarz: Schwarz,
    /// The operator of the coarsest level as a `LinOp`, if one of the general solvers (BiCGStab)
    /// solves that level.
    pub coarsest: Option<Arc<CoarseSystem>>,
    /// Low modes and inverse of the coarsest level from the set-up.
    pub coarsest_modes: CoarsestModes,
    /// Iterations on each level since the counters were reset.
    pub iterations: Vec<AtomicU64>,
    pub nanoseconds: Vec<AtomicU64>,
    /// Factors by which iterations of GCR on each level reduced residuals.
    pub reductions: Vec<MeanReduction>,
    /// Seconds that the set-up took on each level.
    pub setup_seconds: Vec<f64>,
}

/// The mean factor by which an iteration reduces the residual, over those iterations whose norms
/// were computed.
#[derive(Default)]
pub(super) struct MeanReduction(Mutex<(f64, u64)>);

impl MeanReduction {
    fn lock(&self) -> MutexGuard<'_, (f64, u64)> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Adds one iteration to the mean, given |r|^2 before and after it.
    pub fn add(&self, before: f64, after: f64) {
        let log = 0.5 * (after / before).ln();
        if log.is_finite() {
            let mut sum = self.lock();
            *sum = (sum.0 + log, sum.1 + 1);
        }
    }
    /// The mean factor; 0 before the first iteration was added.
    pub fn mean(&self) -> f64 {
        match *self.lock() {
            (_, 0) => 0.0,
            (sum, n) => (sum / n as f64).exp(),
        }
    }
}

/// Adds to a counter of the report.
pub(super) fn count(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

impl Hierarchy {
    pub fn new(
        params: MultigridParams,
        finest: Arc<dyn QuarkAction>,
        tensor: Option<Arc<TensorHop>>,
        transfers: Vec<Transfer>,
        gathers: Vec<Option<Gather>>,
        coarse: Vec<Arc<CoarseOperator>>,
    ) -> Result<Self> {
        let (precision, flavours) = (params.coarse_precision, finest.shape().components.slices);
        let mut pools = vec![Pool::new(transfers[0].fine(), precision, 12 * flavours)];
        pools.extend(coarse.iter().map(|op| Pool::new(op.grid(), op.precision(), op.rows())));
        let entry = |(gather, transfer): (&Option<Gather>, &Transfer)| {
            let rows = flavours * transfer.rows();
            gather.as_ref().map(|g| Pool::new(g.outer(), precision, rows))
        };
        let pools_above = gathers.iter().zip(&transfers).map(entry).collect();
        let counters = || (0..=params.steps().len()).map(|_| AtomicU64::new(0)).collect();
        let (iterations, nanoseconds) = (counters(), counters());
        let reductions = (0..=params.steps().len()).map(|_| MeanReduction::default()).collect();
        let schwarz = Schwarz::new(&params, &*finest, &coarse)?;
        let fine = finest.clone().schur(Schur::EVEN_SYMMETRIC)?;
        let mut squares = vec![Squares::new(transfers[0].fine())];
        squares.extend(coarse.iter().map(|op| Squares::new(op.grid())));
        let solved = params.coarsest == Coarsest::BiCgStab && coarse.len() == params.steps().len();
        let coarsest = coarse.last().filter(|_| solved);
        let coarsest = coarsest.map(|op| CoarseSystem::new(op.clone(), false));
        let made = Hierarchy {
            params,
            finest,
            fine,
            transfers,
            gathers,
            coarse,
            pools,
            pools_above,
            workspace: Workspace::default(),
            solve_workspace: Workspace::default(),
            directions: Mutex::default(),
            tensor,
            columns: Mutex::default(),
            last: AtomicUsize::new(0),
            squares,
            schwarz,
            coarsest,
            coarsest_modes: CoarsestModes::default(),
            iterations,
            nanoseconds,
            reductions,
            setup_seconds: vec![],
        };
        Ok(made)
    }

    /// Turns a hierarchy for one flavour into one for a doublet: both flavours share null vectors and coarse links,
    /// each has its own twisted mass, and the mass splitting couples them.
    pub fn in_flavours(self, finest: &Arc<dyn QuarkAction>, term: FlavourTerm) -> Result<Self> {
        let FlavourTerm { own, twist, split } = term;
        let on_level = |(op, factor): (&Arc<CoarseOperator>, &f64)| {
            let twists = [twist, -twist].map(|twist| factor * (twist - own));
            op.in_flavours(twists, split).map(Arc::new)
        };
        let factors = &self.params.twist_factors;
        let coarse = self.coarse.iter().zip(factors).map(on_level).collect::<Result<_>>()?;
        Self::new(self.params, finest.clone(), None, self.transfers, self.gathers, coarse)
    }

    /// Number of flavours of the vectors that solves are for.
    pub fn flavours(&self) -> usize {
        self.finest.shape().components.slices
    }

    /// Resets the counters of iterations and times, so that reports count solves only and not the
    /// set-up.
    pub fn forget_counts(&self) {
        let counters = self.iterations.iter().chain(&self.nanoseconds);
        counters.for_each(|c| c.store(0, Ordering::Relaxed));
        self.reductions.iter().for_each(|f| *f.lock() = (0.0, 0));
    }

    /// Frees the temporary vectors that are not in use.
    pub fn free_idle(&self) {
        self.pools.iter().chain(self.pools_above.iter().flatten()).for_each(|pool| pool.clear());
        self.squares.iter().for_each(|squares| squares.clear());
        self.coarse.iter().for_each(|op| op.free_idle());
        self.finest.free_idle();
        self.fine.free_idle();
        self.workspace.clear();
        self.solve_workspace.clear();
        self.directions.lock().unwrap_or_else(|e| e.into_inner()).clear();
        self.columns.lock().unwrap_or_else(|e| e.into_inner()).clear();
        self.tensor.iter().for_each(|tensor| tensor.free_idle());
    }

    /// The number of right-hand sides, at most `n`, that the finest level smooths together.
    fn smoothing_columns(&self, n: usize) -> usize {
        smoothing_columns(n, self.tensor.is_some())
    }

    pub fn op(&self, level: usize) -> &CoarseOperator {
        &self.coarse[level - 1]
    }

    fn timed<T>(&self, level: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let out = work();
        let spent = start.elapsed().as_nanos() as u64;
        count(&self.nanoseconds[level], spent);
        out
    }

    /// out = K in on even sites of the finest level, in any precision.
    pub fn precondition(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        // For another number of right-hand sides, temporary vectors of all levels are freed at once: otherwise those of
        // coarser levels would remain beside new ones until the cycle reaches them.
        if self.last.swap(inp.nrhs(), Ordering::Relaxed) != inp.nrhs() {
            self.free_idle();
        }
        self.timed(0, || self.fine_cycle(out, inp))
    }

    /// Computes out = K in for any Schur complement, or for its adjoint. For other parities and forms than those of the
    /// cycle the right-hand side is extended by zeros to all sites, and out is a part of the solution on all sites.
    pub fn precondition_system(
        &self,
        form: Schur,
        out: &mut SpinorField,
        inp: &SpinorField,
        dagger: bool,
    ) -> Result<()> {
        if form == Schur::EVEN_SYMMETRIC {
            return match dagger {
                false => self.precondition(out, inp),
                true => self.precondition_dagger(out, inp),
            };
        }
        let (op, n, parity) = (&self.finest, inp.nrhs(), form.parity);
        let (whole, even) = (op.shape(), self.fine.shape());
        let part = op.subset_shape(Subset::of_parity(parity));
        let site = |out: &mut SpinorField, inp: &SpinorField| {
            op.apply_site(out, inp, parity, SiteTerm::Direct, false, 1.0)
        };
        let r = &mut *self.solve_workspace.field(&part, n)?;
        let t = &mut *self.solve_workspace.field(&part, n)?;
        blas::copy(r, inp)?;
        {
            let b = &mut *self.solve_workspace.field(&whole, n)?;
            b.clear()?;
            match (dagger, form.symmetric) {
                (true, _) => op.gamma5(t, r).and_then(|()| copy_parity(b, t, parity))?,
                (false, true) => site(b, r)?,
                (false, false) => copy_parity(b, r, parity)?,
            }
            let e = &mut *self.solve_workspace.field(&even, n)?;
            let x = &mut *self.solve_workspace.field(&even, n)?;
            self.fine.prepare(e, b, false)?;
            self.precondition(x, e)?;
            let full = &mut *self.solve_workspace.field(&whole, n)?;
            self.fine.reconstruct(full, x, b, false)?;
            copy_parity(r, full, parity)?;
        }
        if dagger {
            match form.symmetric {
                true => site(t, r)?,
                false => blas::copy(t, r)?,
            }
            op.gamma5(r, t)?;
        }
        blas::copy(out, r)
    }

    /// Computes out = K in for the adjoint system: S^dagger = gamma5 A S A^-1 gamma5 for one flavour without twist,
    /// nearly so with a small one. For a doublet gamma5 tau1 takes the place of gamma5.
    pub fn precondition_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let (op, shape) = (&self.finest, self.fine.shape());
        let s = &mut *self.solve_workspace.field(&shape, inp.nrhs())?;
        let t = &mut *self.solve_workspace.field(&shape, inp.nrhs())?;
        blas::copy(s, inp)?;
        op.gamma5(t, s)?;
        op.apply_site(s, t, 0, SiteTerm::Inverse, false, 1.0)?;
        self.precondition(t, s)?;
        op.apply_site(s, t, 0, SiteTerm::Direct, false, 1.0)?;
        op.gamma5(t, s)?;
        blas::copy(out, t)
    }

    /// Shape of the vectors to which the smoother adds its corrections: in single precision where
    /// the smoother's Krylov vectors have 16 bits.
    fn smoothed(&self) -> Shape {
        let shape = self.fine.shape();
        match self.params.short_powers() {
            true => Shape { precision: Precision::F32, ..shape },
            false => shape,
        }
    }

    /// Computes out = work(inp) for vectors of the smoother, which are converted to the precision of its operator.
    fn with_operator(
        &self,
        out: &mut SpinorField,
        inp: &SpinorField,
        work: impl FnOnce(&mut SpinorField, &SpinorField) -> Result<()>,
    ) -> Result<()> {
        let shape = self.fine.shape();
        if inp.precision() == shape.precision {
            return work(out, inp);
        }
        let t = &mut *self.workspace.field(&shape, inp.nrhs())?;
        blas::copy(t, inp)?;
        let image = &mut *self.workspace.field(&shape, inp.nrhs())?;
        work(image, t)?;
        blas::copy(out, image)
    }

    /// r = b - S x for vectors of the smoother. If r has the precision of the operator, one hop
    /// computes and subtracts in a single pass; otherwise it has the precision of b and x.
    fn residual(&self, r: &mut SpinorField, b: &SpinorField, x: &SpinorField) -> Result<()> {
        let (shape, n) = (self.fine.shape(), x.nrhs());
        if r.precision() != shape.precision {
            self.with_operator(r, x, |r, x| self.fine.apply(r, x))?;
            return blas::axpby(&blas::uniform(n, 1.0), b, &blas::uniform(n, -1.0), r);
        }
        blas::copy(r, b)?;
        if x.precision() == shape.precision {
            return self.fine.subtract(r, x);
        }
        let t = &mut *self.workspace.field(&shape, n)?;
        blas::copy(t, x)?;
        self.fine.subtract(r, t)
    }

    /// Applies the cycle from the finest level on, without counting its time in the report.
    pub fn fine_cycle(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let (shape, n, level) = (self.smoothed(), inp.nrhs(), &self.params.steps()[0]);
        let op = &self.finest;
        let mut fine = self.pools[0].take(Subset::Even, n)?;
        let parts = || {
            let step = self.smoothing_columns(n);
            (0..n).step_by(step).map(move |first| (first, step.min(n - first)))
        };
        for (first, count) in parts() {
            let b = inp.columns(first, count)?;
            // The finest level solves the symmetric Schur complement; multiplied by A its residual is the one of M,
            // which is restricted.
            let one = op.coarsenable().filter(|_| b.precision() == fine.precision());
            if let Some(one) = one.filter(|_| level.pre == 0) {
                let site = one.site_term(SiteTerm::Direct)?;
                let term = (site.kind, site.clover.as_deref(), [site.twist, site.scale]);
                fine.copy_from_spinors_times(first, &b, term)?;
                continue;
            }
            if level.pre == 0 {
                let own = self.fine.shape();
                {
                    let r = &mut *self.workspace.field(&own, count)?;
                    blas::copy(r, &b)?;
                    let x = &mut *self.workspace.field(&own, count)?;
                    op.apply_site(x, r, 0, SiteTerm::Direct, false, 1.0)?;
                    fine.copy_from_spinors(first, x, None)?;
                }
                continue;
            }
            {
                let r = &mut *self.workspace.field(&shape, count)?;
                blas::copy(r, &b)?;
                let x = &mut *self.workspace.field(&shape, count)?;
                x.clear()?;
                self.relax(x, r, level.pre, true)?;
                blas::copy(&mut out.columns(first, count)?, x)?;
                self.with_operator(x, r, |x, r| {
                    op.apply_site(x, r, 0, SiteTerm::Direct, false, 1.0)
                })?;
                fine.copy_from_spinors(first, x, None)?;
            }
        }
        {
            let mut solution = self.entry(1).take(Subset::Full, n)?;
            {
                let mut source = self.entry(1).take(Subset::Full, n)?;
                self.transfers[0].restrict(&mut source, &fine)?;
                self.timed(1, || self.solve_where_it_lives(1, &mut solution, &source))?;
            }
            self.transfers[0].prolong(&mut fine, &solution)?;
        }
        // Copies all columns together, since the field is contiguous in memory.
        let direct = level.pre == 0 && out.precision() == shape.precision;
        if direct {
            fine.copy_to_spinors(0, out, 0)?;
        }
        for (first, count) in parts() {
            let (b, mut to) = (inp.columns(first, count)?, out.columns(first, count)?);
            let smooth = |x: &mut SpinorField| {
                if level.post == 0 {
                    return Ok(());
                }
                // Krylov vectors in 16 bits start from a residual in 16 bits, unless more than one block of steps has
                // to update it.
                let own = self.fine.shape();
                let of_r = if level.post <= STEPS { &own } else { &shape };
                let r = &mut *self.workspace.field(of_r, count)?;
                self.residual(r, &b, x)?;
                self.relax(x, r, level.post, false)
            };
            if direct {
                smooth(&mut to)?;
                continue;
            }
            {
                let x = &mut *self.workspace.field(&shape, count)?;
                fine.copy_to_spinors(first, x, 0)?;
                if level.pre > 0 {
                    blas::axpy(&blas::uniform(count, 1.0), &to, x)?;
                }
                smooth(x)?;
                blas::copy(&mut to, x)?;
            }
        }
        Ok(())
    }

    /// Work vectors of a coarse level, distributed over the ranks of the level above.
    fn entry(&self, level: usize) -> &Pool {
        self.pools_above[level - 1].as_ref().unwrap_or_else(|| &self.pools[level])
    }

    /// Solves on a coarse level for vectors on the ranks of the level above: the ranks of a gathered level receive
    /// the source and return the solution, for which the others wait.
    fn solve_where_it_lives(
        &self,
        level: usize,
        x: &mut CoarseField,
        b: &CoarseField,
    ) -> Result<()> {
        let Some(gather) = &self.gathers[level - 1] else { return self.solve(level, x, b) };
        if gather.inner().is_none() {
            gather.gather(None, b)?;
            return gather.scatter(x, None);
        }
        let (pool, n) = (&self.pools[level], b.nrhs());
        let mut source = pool.take(Subset::Full, n)?;
        gather.gather(Some(&mut source), b)?;
        let mut solution = pool.take(Subset::Full, n)?;
        self.solve(level, &mut solution, &source)?;
        gather.scatter(x, Some(&solution))
    }

    /// Solves M x = b on a coarse level to the low accuracy of a cycle.
    pub fn solve(&self, level: usize, x: &mut CoarseField, b: &CoarseField) -> Result<()> {
        let (op, pool, n) = (self.op(level), &self.pools[level], b.nrhs());
        let mut scaled = pool.take(Subset::Full, n)?;
        let mut r = pool.take(op.subset(), n)?;
        op.prepare(&mut r, &mut scaled, b)?;
        let mut solution = pool.take(op.subset(), n)?;
        let p = &self.params;
        if level == p.steps().len() {
            self.solve_coarsest(&mut solution, &mut r)?;
        } else {
            let steps = match p.cycle_of(level) {
                Cycle::V => None,
                Cycle::W => Some((Some(1e-3), 2)),
                Cycle::K => Some((Some(p.tol), p.iterations)),
            };
            match steps {
                None => {
                    let mut remaining = pool.take(op.subset(), n)?;
                    self.coarse_cycle(level, &mut solution, &mut remaining, &r, false)?
                }
                Some(steps) => self.gcr(level, &mut solution, &mut r, Steps::to(steps), true)?,
            }
        }
        op.reconstruct(x, &solution, &scaled)
    }

    /// Applies the cycle of a coarse level: z = K r on the sites on which this level is solved (even ones where it is
    /// even-odd preconditioned) and, if `remaining` is given, remaining = r - S z (K cycle: Notay, Vassilevski, Numer.
    /// Linear Algebra Appl. 15 (2008) 473).
    pub(super) fn coarse_cycle(
        &self,
        level: usize,
        z: &mut CoarseField,
        remaining: &mut CoarseField,
        r: &CoarseField,
        residual: bool,
    ) -> Result<()> {
        let (op, n, params) = (self.op(level), r.nrhs(), &self.params.steps()[level]);
        let (pool, transfer) = (&self.pools[level], &self.transfers[level]);
        let (one, minus) = (blas::uniform(n, 1.0), blas::uniform(n, -1.0));
        let mut t = pool.take(op.subset(), n)?;
        if params.pre > 0 {
            remaining.copy(r)?;
            self.smooth(level, z, remaining, params.pre, false, true)?;
        }
        // The system of this level is D^-1 times that of M; D times its residual is restricted.
        let from: &CoarseField = if params.pre > 0 { remaining } else { r };
        op.diagonal(&mut t, from)?;
        {
            let below = self.entry(level + 1);
            let mut source = below.take(Subset::Full, n)?;
            let mut solution = below.take(Subset::Full, n)?;
            transfer.restrict(&mut source, &t)?;
            self.timed(level + 1, || self.solve_where_it_lives(level + 1, &mut solution, &source))?;
            match params.pre {
                0 => transfer.prolong(z, &solution)?,
                _ => {
                    transfer.prolong(&mut t, &solution)?;
                    z.axpy(&one, &t)?;
                }
            }
        }
        drop(t);
        if params.post > 0 || residual {
            {
                let mut odd = pool.take(Subset::Odd, n)?;
                op.schur(remaining, z, &mut odd)?;
            }
            remaining.axpby(&one, r, &minus)?;
        }
        if params.post > 0 {
            self.smooth(level, z, remaining, params.post, true, residual)?;
        }
        Ok(())
    }

    /// Bytes that null vectors and operators take on this rank, for each coarse level.
    pub fn held(&self) -> Vec<u64> {
        let mut held: Vec<u64> = self.transfers.iter().map(Transfer::held).collect();
        held.resize(self.params.steps().len() + 1, 0);
        for (bytes, op) in held[1..].iter_mut().zip(&self.coarse) {
            *bytes += op.held() as u64;
        }
        held
    }
}
