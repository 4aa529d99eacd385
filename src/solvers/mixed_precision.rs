//! The part that all Krylov iterations share: the two precisions of a solve with reliable updates, the stopping rule,
//! the monitor and the report.
//!
//! The iteration runs on a residual and a correction in sloppy precision, scaled by 1/|b|. From time to time the
//! correction is added to x, and the residual b - M x is recomputed in the precision of the solution (`precise
//! arithmetic` in this module) (Clark et al., arXiv:0911.3191). Without a sloppy operator there is one level, and the
//! residual is recomputed only before convergence is declared, or when it no longer falls.
//!
//! Between two such updates the sloppy residual drifts away from the true one, in proportion to the distance that x
//! has moved. Conjugate directions tolerate the correction of the residual only if it is small compared to the
//! gradient (van der Vorst and Ye, SIAM J. Sci. Comput. 22, 835), so that CG updates before it grows. The drift per
//! unit of distance is measured at every update.
//!
//! Precise arithmetic is done for a quarter of the right-hand sides at a time, so that its temporary fields are small
//! compared to the vectors of the iteration and, where the algorithm allows it, only for right-hand sides whose
//! update is due. These fields exist only during an update.
//!
//! Every right-hand side stops by itself: when it meets the criteria, or when its residual no longer falls. Once two
//! thirds of them have stopped, the fields shrink to the others.

mod shrink;

use num_complex::Complex64;

use super::stop::{StoppedBy, Watch, DIFFERENT};
use super::{Monitor, Patience, SolverKind, SolverParams, SolverReport, Source, System};
use crate::bail;
use crate::error::Result;
use crate::fields::blas;
use crate::fields::{parts_of, Precision, VectorField};
use crate::linop::{LinOp, SchurSource};

/// A solve gives up on a right-hand side after this many updates since its recomputed residual last fell, if the
/// iteration's residual had fallen before each of them.
const STANDSTILL: usize = 10;
/// A solve gives up on a right-hand side if its recomputed residual has not fallen for this multiple of
/// `patience.iterations` and for half of all iterations.
const PATIENCE: usize = 5;
/// Largest drift of the residual relative to the length of the gradient; with smaller values the updates cost more
/// than the iterations that they save.
const DRIFT: f64 = 0.03;
/// Smallest number of iterations between updates because of drift.
const INTERVAL: usize = 10;
/// A recomputed residual is considered rounding if it is at most this multiple of the precision, and at least
/// `LOST_RATIO` times the residual of the iteration.
const ROUNDING: f64 = 1e5;
/// Ratio of a recomputed residual to that of the iteration above which the iteration has lost the true residual.
const LOST_RATIO: f64 = 3.0;
/// Range of the factor by which the goal of the iteration is lowered after the iteration has reached it, if the
/// criteria are not met and the recomputed residual is only rounding.
const LOWER: [f64; 2] = [1e-4, 0.1];
/// The unit of a residual is changed only by factors below 2 to this power.
const LARGEST_UNIT: f64 = 500.0;
/// Number of breakdowns in a row, without an iteration between them, at which a solve gives up.
const BREAKDOWNS: usize = 3;

/// The algorithm's next action after an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Continue,
    /// Update x and call `refresh`.
    Refresh,
}

/// State that only a solve in two precisions needs.
struct HighPrecision {
    /// Sum of the iteration's steps since x was last updated; None while the residuals of all right-hand sides are
    /// recomputed together.
    correction: Option<VectorField>,
    /// Number of right-hand sides whose residuals are recomputed together in precise arithmetic.
    part: usize,
    /// Heavy-quark residual of every right-hand side at the last update of x.
    heavy_quark: Vec<f64>,
}

pub(super) struct MixedPrecision<'a, 'm> {
    pub params: &'a SolverParams,
    precise: &'a dyn LinOp,
    sloppy: &'a dyn LinOp,
    preconditioner: Option<&'a dyn LinOp>,
    watch: Watch<'a, 'm>,
    b: &'a VectorField,
    /// The source of the larger system from which b was made. If it is given, residuals may overwrite b.
    origin: Option<&'a SchurSource<'a>>,
    x: &'a mut VectorField,
    /// Numbers, in the caller's x and b, of the right-hand sides that are still iterated. In a solve with one precision
    /// `left` holds x and b of these once other right-hand sides have been dropped.
    columns: Vec<usize>,
    left: Option<(VectorField, VectorField)>,
    /// Right-hand sides whose residual no longer fell: their numbers, and the iteration at which this was found.
    stagnated: Vec<(usize, usize)>,
    /// Latest relative residual of every right-hand side, as the monitor gets it.
    last_residuals: Vec<f64>,
    /// State of a solve in two precisions; None: the solve has one precision.
    upper: Option<HighPrecision>,
    /// The residual of the iteration.
    pub r: VectorField,
    /// |r|^2 of every right-hand side when the residual was last recomputed.
    pub r2: Vec<f64>,
    /// Whether each right-hand side is still iterated.
    pub active: Vec<bool>,
    /// Whether each active right-hand side must start with a new search direction, as after `refresh`.
    pub restarted: Vec<bool>,
    zero: Vec<bool>,
    /// Factor w of each right-hand side in the iteration's residual r = w (b - M x); the relative residual is sqrt(r2)
    /// / unit.
    weight: Vec<f64>,
    unit: Vec<f64>,
    scale: Vec<f64>,
    /// Factor by which the iteration's residual falls before it is recomputed.
    delta: f64,
    /// Relative residual at which each right-hand side is expected to meet the criteria.
    goal: Vec<f64>,
    /// Largest relative residual of every right-hand side since the last recomputation.
    peak: Vec<f64>,
    /// Latest relative residual of each right-hand side, from the recurrence or, right after an update, recomputed.
    relative: Vec<f64>,
    /// Ratio of the latest relative residual to the previous one; 0 if unknown.
    rate: Vec<f64>,
    /// Smallest residual of every right-hand side in the iteration so far.
    least: Vec<f64>,
    /// The iteration in which a residual last fell below its smallest value so far.
    improved_at: usize,
    /// Number of iterations without progress, and factor of progress, after which a solve is given up.
    patience: Patience,
    /// Distance that x of every right-hand side has moved since the residual was last recomputed.
    distance: Vec<f64>,
    /// Drift of the iteration's residual away from the true one, per unit of the distance `distance`.
    drift: Vec<f64>,
    /// True if the iteration's residual has drifted too far from the true one.
    drifted: bool,
    refreshed_at: usize,
    /// Whether x and the residual of each right-hand side are to be updated after this iteration.
    to_update: Vec<bool>,
    /// Whether the iteration's residual of each right-hand side has fallen since it was last recomputed.
    claimed: Vec<bool>,
    /// Whether the recomputed residual of a right-hand side is only rounding of precise arithmetic. Then it is not
    /// recomputed again, which would introduce that rounding again while the iteration still reduces the residual of
    /// sites far from the source.
    rounded: Vec<bool>,
    /// Smallest ratio of residuals to the criteria that each right-hand side has reached.
    best: Vec<f64>,
    /// The iteration at which each right-hand side reached its `best` ratio.
    best_at: Vec<usize>,
    /// Number of updates since `best_at` before which the iteration's residual had fallen.
    without_progress: Vec<usize>,
    breakdowns: usize,
    last_breakdown: usize,
    done: bool,
    pub report: SolverReport,
}

impl<'a, 'm> MixedPrecision<'a, 'm> {
    pub fn new(
        system: &'a System,
        params: &'a SolverParams,
        x: &'a mut VectorField,
        Source { b, norms: norm, origin }: Source<'a>,
        monitor: &'a mut Monitor<'m>,
    ) -> Result<Self> {
        let precise = &*system.precise;
        // The number of iterations after which no new kernels are launched: in GCR when all directions exist, in block
        // GCR when all exist between two updates.
        let different = match params.kind {
            SolverKind::Gcr => DIFFERENT.max(params.nkrylov + 1),
            SolverKind::BlockGcr => DIFFERENT + params.nkrylov,
            _ => DIFFERENT,
        };
        let comm = b.geometry().comm();
        let watch =
            Watch::with(params.stop, params.stop.fall(), different, b.device(), comm, monitor);
        let n = b.nrhs();
        let zero: Vec<bool> = norm.iter().map(|&v| v == 0.0).collect();
        let one_if_zero = |v: f64| if v == 0.0 { 1.0 } else { v };
        let scale = system.scale.as_deref().unwrap_or(norm);
        let scale: Vec<f64> = scale.iter().map(|&v| one_if_zero(v)).collect();
        let sloppy = system.sloppy.as_deref().unwrap_or(precise);
        let lower = sloppy.shape();
        let upper = match &system.sloppy {
            Some(_) => {
                // Frees the temporaries with which b was made.
                precise.free_idle();
                let correction = Some(lower.field(n)?);
                Some(HighPrecision { correction, part: x.part(), heavy_quark: vec![1.0; n] })
            }
            None => None,
        };
        let weight: Vec<f64> = match upper {
            Some(_) => scale.iter().map(|v| 1.0 / v).collect(),
            None => vec![1.0; n],
        };
        let unit = weight.iter().zip(&scale).map(|(w, s)| w * s).collect();
        let mut mixed = MixedPrecision {
            params,
            precise,
            sloppy,
            preconditioner: system.preconditioner.as_deref(),
            watch,
            b,
            origin,
            x,
            columns: (0..n).collect(),
            left: None,
            stagnated: vec![],
            last_residuals: vec![0.0; n],
            upper,
            r: lower.field(n)?,
            r2: vec![0.0; n],
            active: zero.iter().map(|z| !z).collect(),
            restarted: vec![true; n],
            zero,
            weight,
            unit,
            scale,
            delta: params.delta_in(lower.precision),
            goal: vec![0.0; n],
            peak: vec![0.0; n],
            relative: vec![0.0; n],
            rate: vec![0.0; n],
            least: vec![f64::INFINITY; n],
            improved_at: 0,
            patience: system.patience,
            distance: vec![0.0; n],
            drift: vec![lower.precision.epsilon(); n],
            drifted: false,
            refreshed_at: 0,
            to_update: vec![false; n],
            claimed: vec![false; n],
            rounded: vec![false; n],
            best: vec![f64::INFINITY; n],
            best_at: vec![0; n],
            without_progress: vec![0; n],
            breakdowns: 0,
            last_breakdown: 0,
            done: false,
            report: SolverReport {
                residual: vec![0.0; n],
                residual_hq: vec![0.0; n],
                ..Default::default()
            },
        };
        if !params.initial_guess {
            mixed.x.clear()?;
        } else if mixed.zero.contains(&true) {
            let keep = mixed.each(|l, i| if l.zero[i] { 0.0 } else { 1.0 });
            blas::axpby(&blas::uniform(n, 0.0), b, &keep, mixed.x)?;
        }
        let all: Vec<usize> = (0..n).collect();
        mixed.recompute(&all, params.initial_guess)?;
        mixed.decide(&all)?;
        Ok(mixed)
    }

    /// Number of right-hand sides that are still iterated.
    pub fn nrhs(&self) -> usize {
        self.columns.len()
    }
    /// Precision of the iteration.
    pub fn precision(&self) -> Precision {
        self.r.precision()
    }
    /// A zero field in the precision of the iteration.
    pub fn vector(&self) -> Result<VectorField> {
        self.vectors(1)
    }
    /// A zero field with `count` vectors for every right-hand side, in the precision of the iteration.
    pub fn vectors(&self, count: usize) -> Result<VectorField> {
        self.sloppy.shape().field(count * self.nrhs())
    }
    /// The vector to which the iteration adds its steps, and its residual.
    pub fn split(&mut self) -> (&mut VectorField, &mut VectorField) {
        let x = match (&mut self.upper, &mut self.left) {
            (Some(upper), _) => upper.correction.as_mut().expect("between residuals"),
            (None, Some((x, _))) => x,
            (None, None) => &mut *self.x,
        };
        (x, &mut self.r)
    }
    pub fn x(&mut self) -> &mut VectorField {
        self.split().0
    }
    /// Real coefficients for all right-hand sides, `value` of each, as complex numbers.
    pub fn each(&self, value: impl Fn(&Self, usize) -> f64) -> Vec<Complex64> {
        (0..self.nrhs()).map(|i| Complex64::new(value(self, i), 0.0)).collect()
    }
    /// A coefficient for every right-hand side: `value` for active ones, 0 for others.
    pub fn masked(&self, value: impl Fn(usize) -> Complex64) -> Vec<Complex64> {
        let pick = |i| if self.active[i] { value(i) } else { Complex64::ZERO };
        (0..self.nrhs()).map(pick).collect()
    }

    /// The operator of the iteration; counts one application of it.
    pub fn operator(&mut self) -> &'a dyn LinOp {
        self.counted(self.sloppy)
    }
    /// Counts one application of `op`, another operator than that of the iteration, and returns it.
    pub fn counted<'o>(&mut self, op: &'o dyn LinOp) -> &'o dyn LinOp {
        self.report.flops += op.flops() * self.nrhs() as f64;
        self.report.bytes += op.bytes(self.nrhs());
        op
    }
    /// Adds to the report: `vectors` vectors read or written in the lower precision for each right-hand side, and
    /// `flops_per_site` floating-point operations per site and right-hand side, as for spinors.
    pub fn count(&mut self, vectors: usize, flops_per_site: usize) {
        let sites = self.sloppy.shape().sites() * self.nrhs();
        // `flops_per_site` holds for spinors, which have 12 complex numbers per site.
        let components = self.r.components();
        let share = (components.slices * components.reals()) as f64 / 24.0;
        let bytes = self.sloppy.shape().bytes(self.nrhs());
        self.report.flops += share * (flops_per_site * sites) as f64;
        self.report.bytes += (vectors as u64 * bytes) as f64;
    }

    /// Whether residuals are recomputed in a higher precision than that of the iteration.
    pub fn refines(&self) -> bool {
        self.upper.is_some()
    }
    /// Whether any right-hand side is still iterated.
    pub fn running(&self) -> bool {
        !self.done
    }
    /// Right-hand sides that were given up because their residual no longer fell although iterations were left: the
    /// number of each, and the iteration at which this was found.
    pub fn stagnated(&self) -> &[(usize, usize)] {
        &self.stagnated
    }
    /// Whether right-hand side i is behind: after half of the allowed iterations, the fraction of the needed reduction
    /// of its residual, in decades, that it has achieved is smaller than the fraction of the iterations used.
    pub fn behind_schedule(&self, i: usize) -> bool {
        let share = self.report.iterations as f64 / self.params.stop.iterations as f64;
        share >= 0.5 && self.relative[i] > self.goal[i].powf(share)
    }
    /// Ends the iteration of right-hand side i because it makes no progress.
    pub fn set_aside(&mut self, i: usize) {
        self.active[i] = false;
        self.stagnated.push((self.columns[i], self.report.iterations));
        self.done |= !self.active.contains(&true);
    }

    /// Copies the solutions of the right-hand sides that are still iterated to the caller's x.
    fn store(&mut self) -> Result<()> {
        if let Some((x, _)) = &self.left {
            for (from, &to) in self.columns.iter().enumerate() {
                self.x.copy_rhs(to, x, from, 1)?;
            }
        }
        Ok(())
    }

    /// Called before `advance` with the length of the step of x and |gradient|^2 at its start, for each right-hand
    /// side.
    pub fn count_path(&mut self, step: &[f64], gradient2: &[f64]) {
        for i in (0..self.nrhs()).filter(|&i| self.upper.is_some() && self.active[i]) {
            self.distance[i] += step[i];
            let far = self.drift[i] * self.distance[i] > DRIFT * gradient2[i].sqrt();
            self.drifted |= far && !self.rounded[i];
        }
    }

    /// Whether the iteration in progress, whose sums are not yet known, may be the last one or be followed by an
    /// update. Algorithms ask this that would otherwise continue without waiting for the sums.
    pub fn near(&self) -> bool {
        let last = self.report.iterations + 1 >= self.params.stop.iterations;
        last || (0..self.nrhs()).filter(|&i| self.active[i]).any(|i| {
            let updated = self.upper.is_some() && !self.rounded[i];
            let update = if updated { self.delta * self.peak[i] } else { 0.0 };
            // Assumes that each of two iterations reduces the residual by the factor of the last one.
            self.relative[i] * self.rate[i].min(1.0).powi(2) <= self.goal[i].max(update)
        })
    }
    /// Whether a limit has been reached, or the monitor has asked to stop.
    pub fn ended(&self) -> bool {
        self.watch.ended(self.report.iterations).is_some()
    }

    /// Called after an iteration with |r|^2 of the recurrence; returns what to do next.
    pub fn advance(&mut self, r2: &[f64]) -> Next {
        self.report.iterations += 1;
        let now = self.report.iterations;
        let mut all = self.drifted && now >= self.refreshed_at + INTERVAL;
        let mut some = false;
        for i in 0..self.nrhs() {
            if !self.active[i] {
                continue;
            }
            let relative = r2[i].sqrt() / self.unit[i];
            self.rate[i] = relative / self.relative[i];
            self.relative[i] = relative;
            self.peak[i] = self.peak[i].max(relative);
            if relative < self.patience.factor * self.least[i] {
                (self.least[i], self.improved_at) = (relative, now);
            }
            self.last_residuals[self.columns[i]] = relative;
            if relative <= self.goal[i] {
                (self.active[i], self.claimed[i], self.to_update[i]) = (false, true, true);
            } else if !relative.is_finite() {
                all = true;
            } else if self.upper.is_some()
                && !self.rounded[i]
                && relative < self.delta * self.peak[i]
            {
                (some, self.claimed[i], self.to_update[i]) = (true, true, true);
            }
        }
        all |= now - self.improved_at.max(self.refreshed_at) >= self.patience.iterations;
        if self.params.history {
            self.report.history.push(self.last_residuals.iter().fold(0.0, |m, &v| v.max(m)));
        }
        all |= self.watch.after(now, &self.last_residuals).is_some();
        if all {
            self.to_update.fill(true);
        }
        if some || all || !self.active.contains(&true) {
            Next::Refresh
        } else {
            Next::Continue
        }
    }

    /// Updates x, recomputes the residual in precise arithmetic and checks the criteria.
    pub fn refresh(&mut self) -> Result<()> {
        let all: Vec<usize> = (0..self.nrhs()).collect();
        self.update(&all)
    }

    /// Updates x and recomputes the residual for the right-hand sides whose update is due; returns their indices. With
    /// one precision, and for fields whose right-hand sides are fastest in memory, these are all right-hand sides.
    pub fn refresh_due(&mut self) -> Result<Vec<usize>> {
        // Fields whose right-hand sides are fastest in memory cannot be updated for some right-hand sides only.
        let all = self.upper.is_none() || !self.x.can_keep();
        let which: Vec<usize> = (0..self.nrhs()).filter(|&i| all || self.to_update[i]).collect();
        self.update(&which)?;
        Ok(which)
    }

    fn update(&mut self, which: &[usize]) -> Result<()> {
        let parts = self.parts(which);
        for &(first, count) in &parts {
            let Some(HighPrecision { correction: Some(correction), .. }) = &self.upper else {
                break;
            };
            let back: Vec<f64> =
                self.weight.iter().skip(first).map(|w| 1.0 / w).take(count).collect();
            let mut x = self.x.columns(self.columns[first], count)?;
            let mut correction = correction.columns(first, count)?;
            blas::axpy(&blas::complex(&back), &correction, &mut x)?;
            correction.clear()?;
        }
        let at_once = parts.len() == 1 && which.len() == self.nrhs();
        if let Some(upper) = self.upper.as_mut().filter(|_| at_once) {
            upper.correction = None;
        }
        let reported = self.relative.clone();
        self.recompute(which, true)?;
        if let Some(upper) = self.upper.as_mut().filter(|upper| upper.correction.is_none()) {
            upper.correction = Some(self.r.like(self.r.precision())?);
        }
        let jumped: Vec<usize> = which
            .iter()
            .copied()
            .filter(|&i| self.relative[i] > LOST_RATIO * reported[i])
            .collect();
        if self.watch.stop.heavy_quark().is_some() {
            let max = ROUNDING * self.precise.shape().precision.epsilon();
            jumped.iter().for_each(|&i| self.rounded[i] |= self.relative[i] <= max);
        }
        (self.refreshed_at, self.drifted) = (self.report.iterations, false);
        self.report.reliable_updates += 1;
        self.decide(which)?;
        // The recomputed residual is much larger than that of the recurrence, to which earlier directions belong; a
        // direction conjugate to those would have to be longer by the difference.
        for i in jumped {
            self.restarted[i] |= self.active[i];
        }
        Ok(())
    }

    /// Called after a division by zero: recomputes the residual and restarts every direction. The step that the
    /// iteration was about to make must not have been added to x.
    pub fn breakdown(&mut self, what: &str) -> Result<()> {
        let at = self.report.iterations;
        self.breakdowns = if at == self.last_breakdown { self.breakdowns + 1 } else { 1 };
        self.last_breakdown = at;
        if self.breakdowns >= BREAKDOWNS {
            bail!(
                SolverBreakdown,
                "{}: {what} at iteration {at}, also after restarts: relative residuals {:?}",
                self.params.kind.name(),
                self.relative
            );
        }
        self.report.restarts += 1;
        self.refresh()?;
        self.restarted = self.active.clone();
        Ok(())
    }

    /// Divides the right-hand sides `which` into groups that are consecutive in x and b and small enough for precise
    /// arithmetic: index of the first right-hand side of each group, and their count.
    fn parts(&self, which: &[usize]) -> Vec<(usize, usize)> {
        let max = self.upper.as_ref().map_or(self.nrhs(), |upper| upper.part);
        let columns: Vec<usize> = which.iter().map(|&i| self.columns[i]).collect();
        parts_of(&columns, max).into_iter().map(|(k, count)| (which[k], count)).collect()
    }

    /// Computes r = weight (b - M x) for the right-hand sides `which`; in a solve with one precision these must be all.
    /// `with_x` is false if x is zero.
    fn recompute(&mut self, which: &[usize], with_x: bool) -> Result<()> {
        let mut norms = vec![];
        match self.upper.is_some() {
            true => {
                // Temporaries of the operator are freed to make room for precise fields.
                self.sloppy.free_idle();
                let parts = self.parts(which);
                let max = parts.iter().map(|part| part.1).max().filter(|_| with_x);
                let scratch = max.map(|n| self.x.like_with(self.x.precision(), n)).transpose()?;
                for (first, count) in parts {
                    norms.extend(self.recompute_part(first, count, scratch.as_ref())?);
                }
                self.precise.free_idle();
            }
            false => {
                self.count_precise(self.nrhs(), with_x);
                let n = self.nrhs();
                let (x, b) = self.left.as_ref().map_or((&*self.x, self.b), |(x, b)| (x, b));
                match with_x {
                    true => {
                        self.precise.apply(&mut self.r, x)?;
                        let minus = blas::uniform(n, -1.0);
                        blas::axpby(&blas::uniform(n, 1.0), b, &minus, &mut self.r)?;
                    }
                    false => blas::copy(&mut self.r, b)?,
                }
                norms = blas::norm2(&self.r)?;
            }
        }
        for (&i, norm) in which.iter().zip(norms) {
            if !norm.is_finite() {
                bail!(
                    SolverBreakdown,
                    "{}: the residual of right-hand side {} is not finite after {} iterations",
                    self.params.kind.name(),
                    self.columns[i],
                    self.report.iterations
                );
            }
            self.r2[i] = norm * self.weight[i] * self.weight[i];
            (self.relative[i], self.rate[i]) = (norm.sqrt() / self.scale[i], 0.0);
            self.peak[i] = self.relative[i];
        }
        Ok(())
    }

    fn count_precise(&mut self, nrhs: usize, with_x: bool) {
        if with_x {
            self.report.flops += self.precise.flops() * nrhs as f64;
            self.report.bytes += self.precise.bytes(nrhs);
        }
    }

    /// Recomputes the residuals of a group of right-hand sides in a solve in two precisions; `scratch` is memory for
    /// the residual in precise arithmetic if x is not zero. Returns |b - M x|^2.
    fn recompute_part(
        &mut self,
        first: usize,
        count: usize,
        scratch: Option<&VectorField>,
    ) -> Result<Vec<f64>> {
        self.count_precise(count, scratch.is_some());
        let Some(upper) = &mut self.upper else { return Ok(vec![]) };
        let (column, which) = (self.columns[first], first..first + count);
        let b = self.b.columns(column, count)?;
        let r = scratch.map(|scratch| scratch.columns(0, count)).transpose()?;
        let source = match r {
            Some(mut r) => {
                let x = self.x.columns(column, count)?;
                match self.origin {
                    Some(origin) => origin.residual(&mut r, &x, column)?,
                    None => {
                        self.precise.apply(&mut r, &x)?;
                        let minus = blas::uniform(count, -1.0);
                        blas::axpby(&blas::uniform(count, 1.0), &b, &minus, &mut r)?;
                    }
                }
                let found = blas::heavy_quark_residual(&x, &r)?;
                upper.heavy_quark[which.clone()].copy_from_slice(&found);
                r
            }
            None => b,
        };
        let norms = blas::norm2(&source)?;
        let weight = blas::complex(&self.weight[which.clone()]);
        let mut low = self.r.columns(first, count)?;
        if self.distance[which.clone()].iter().any(|&distance| distance > 0.0) {
            blas::axpby(&weight, &source, &blas::uniform(count, -1.0), &mut low)?;
            for (i, jump) in which.clone().zip(blas::norm2(&low)?) {
                let drift = jump.sqrt() / self.distance[i];
                if drift.is_finite() {
                    self.drift[i] = drift;
                }
                self.distance[i] = 0.0;
            }
        }
        for (i, norm) in which.clone().zip(&norms) {
            self.choose_unit(i, norm.sqrt());
        }
        let weight = blas::complex(&self.weight[which]);
        // The field is cleared, since a NaN in it would survive multiplication by a coefficient of zero.
        low.clear()?;
        blas::axpby(&weight, &source, &blas::uniform(count, 0.0), &mut low)?;
        Ok(norms)
    }

    /// Called with the norm of b - M x when the search directions of right-hand side i start again. Chooses a power of
    /// two as the unit of its residual r, so that r has norm of order one. Otherwise, for a solution that falls by many
    /// decades, small numbers far from the source would be rounded to zero when the residual has become as small as
    /// they are.
    fn choose_unit(&mut self, i: usize, norm: f64) {
        let power = -(norm * self.weight[i]).log2().floor();
        if !self.active[i] && power > 0.0 && power < LARGEST_UNIT {
            let factor = power.exp2();
            self.weight[i] *= factor;
            self.unit[i] *= factor;
        }
    }

    /// |r|^2 / |b|^2 from the iteration's `r2`, which contains the square of the unit.
    pub fn relative2(&self, i: usize, r2: f64) -> f64 {
        r2 / (self.unit[i] * self.unit[i])
    }

    /// The heavy-quark residual of x, valid right after `recompute`.
    fn heavy_quark(&self) -> Result<Vec<f64>> {
        let mut hq = match &self.upper {
            Some(upper) => upper.heavy_quark.clone(),
            None => {
                let x = self.left.as_ref().map_or(&*self.x, |(x, _)| x);
                blas::heavy_quark_residual(x, &self.r)?
            }
        };
        for (v, &zero) in hq.iter_mut().zip(&self.zero) {
            // The solution for a zero source is zero and has no error on any site.
            if zero {
                *v = 0.0;
            }
        }
        Ok(hq)
    }
    fn note_heavy_quark(&mut self) -> Result<()> {
        for (i, hq) in self.heavy_quark()?.into_iter().enumerate() {
            self.report.residual_hq[self.columns[i]] = hq;
        }
        Ok(())
    }

    /// Decides from recomputed residuals which of the right-hand sides `which` continue, and to which relative
    /// residual.
    fn decide(&mut self, which: &[usize]) -> Result<()> {
        let hq = match self.watch.stop.heavy_quark() {
            Some(_) => self.heavy_quark()?,
            None => vec![0.0; self.nrhs()],
        };
        let now = self.report.iterations;
        let mut still = vec![];
        self.restarted.fill(false);
        for &i in which {
            let relative = self.relative[i];
            self.to_update[i] = false;
            let claimed = std::mem::take(&mut self.claimed[i]);
            (self.report.residual[self.columns[i]], self.last_residuals[self.columns[i]]) =
                (relative, relative);
            if self.stagnated.iter().any(|(column, _)| *column == self.columns[i]) {
                continue;
            }
            let was_active = self.active[i];
            let factor = self.watch.stop.lag(relative, hq[i]);
            self.active[i] = factor < 1.0 && !self.zero[i];
            self.restarted[i] = self.active[i] && (!was_active || now == 0);
            if !self.active[i] {
                continue;
            }
            // The right-hand side does not meet the criteria: its goal is the relative residual at which it would meet
            // them, and is lower by a margin if the iteration had seemed to converge, to allow for the next drift.
            let margin = if was_active { 1.0 } else { 0.8 };
            let before = self.goal[i];
            self.goal[i] = margin * factor * relative;
            if self.rounded[i] && !was_active {
                // The recomputed residual is only rounding: the goal is also lowered with respect to the previous goal.
                self.goal[i] = self.goal[i].min(factor.clamp(LOWER[0], LOWER[1]) * before);
            }
            if 1.0 / factor < self.patience.factor * self.best[i] {
                (self.best[i], self.best_at[i]) = (1.0 / factor, now);
                self.without_progress[i] = 0;
            } else if claimed {
                self.without_progress[i] += 1;
            }
            let in_vain =
                now - self.best_at[i] >= (PATIENCE * self.patience.iterations).max(now / 2);
            if in_vain || self.without_progress[i] >= STANDSTILL {
                still.push(i);
            }
        }
        self.report.converged = !self.active.contains(&true) && self.stagnated.is_empty();
        self.done = self.report.converged || self.watch.ended(now).is_some();
        if !self.done {
            still.into_iter().for_each(|i| self.set_aside(i));
            self.done = !self.active.contains(&true);
        }
        Ok(())
    }

    /// Makes the report; the caller's x then holds the result.
    pub fn finish(mut self) -> Result<SolverReport> {
        self.note_heavy_quark()?;
        self.store()?;
        self.precise.shape().device.synchronize()?;
        let (SolverReport { residual, residual_hq, .. }, stop) = (&self.report, &self.watch.stop);
        let ended = self.watch.ended(self.report.iterations);
        let by = match self.report.converged {
            true => stop.last_goal(residual, residual_hq),
            false => ended.unwrap_or(StoppedBy::Standstill),
        };
        self.report.stopped_by = Some(by);
        self.report.standstill = by == StoppedBy::Standstill;
        self.report.stopped = ended.is_some_and(|by| by > StoppedBy::Iterations);
        self.report.seconds = self.watch.seconds();
        Ok(self.report)
    }
}

/// Keeps the entries with these indices, which are ascending.
pub(super) fn retain<T: Clone>(values: &mut Vec<T>, keep: &[usize]) {
    *values = keep.iter().map(|&i| values[i].clone()).collect();
}
