//! Quark loops as sums of parts, each with its own variance and cost. With approximate inverses L_l of levels of low
//! modes and L_0 = M^-1, Tr O M^-1 is the sum over levels of Tr O (L_l - L_l+1), estimated by noise, and of Tr O L of
//! the last level, by noise or exactly from all of its coordinate vectors (Frommer, Khalil, Ramirez-Hidalgo, SIAM J.
//! Sci. Comput. 44 (2022) A2536). Work is spent on the part where it lowers the error most, ends at a given error or
//! cost, and can be continued later.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use num_complex::Complex64;

use super::hopping::Hopping;
use super::lines::{check_lengths, Factor};
use super::loops::{check_quarks, loops, LoopKind, LoopNoise, LoopOperators, Loops, OneEnd};
use super::low_space::{LowSolve, LowSpace, LowVectors, Product};
use crate::compose::DiracSolver;
use crate::error::{host_array, Result};
use crate::fields::{GaugeField, SpinorField};
use crate::ops::links_mark::check_configuration;
use crate::params::{choices, parameters, reports, Parameters as _};
use crate::refuse;
use crate::solvers::{Monitor, Progress};

choices! {
    /// Methods for the traces of low modes.
    pub enum Traces: plaq_loops_traces {
        /// Noise on each level; for the last level the exact trace if that costs less for the goals, judged after
        /// four noise vectors.
        Auto = 0, PLAQ_LOOPS_TRACES_AUTO, "auto";
        /// The exact trace of the last level, from its coordinate vectors; noise on the levels between.
        Last = 1, PLAQ_LOOPS_TRACES_LAST, "last";
        /// Noise estimates the traces on each level.
        Noise = 2, PLAQ_LOOPS_TRACES_NOISE, "noise";
        /// Exact traces of all coarse levels, from their coordinate vectors.
        Every = 3, PLAQ_LOOPS_TRACES_EVERY, "every";
    }
}

parameters! {
    /// Parameters that divide loops into parts.
    pub struct LoopSumsParams: plaq_loop_sums_params {
        /// Estimator of the traces of low modes, by noise or exactly.
        traces: Traces = Traces::Auto;
        /// Number of terms of the hopping expansion, (A^-1 H)^k A^-1 with M = A - H, whose trace is taken exactly; 0:
        /// none.
        hopping: usize = 0, within(0, 16);
    }
}

parameters! {
    /// Goals at which a call that adds to loops ends: the first one that is reached. At least one of `error`,
    /// `seconds` and `vectors` must be set.
    pub struct LoopGoals: plaq_loop_goals {
        /// Error to reach: of the loop of the first line, Gamma number `gamma` and the first momentum on a time
        /// slice, as root mean square over time slices, of real and imaginary part together; 0: no goal.
        error: f64 = 0.0;
        /// Seconds after which the call ends; 0: no limit.
        seconds: f64 = 0.0;
        /// Number, 0 to 15, of the Gamma whose error counts.
        gamma: usize = 0, within(0, 15);
        /// Largest number of noise vectors of each part, those of earlier calls included; 0: no limit.
        vectors: usize = 0, within(0, 1 << 20);
    }
}

impl LoopGoals {
    /// # Errors
    /// `InvalidArgument`, `BadParameter`: a goal out of range, or no goal that ends the work.
    pub fn check(&self, argument: &str) -> Result<()> {
        self.check_rows(argument)?;
        for (name, value) in [("error", self.error), ("seconds", self.seconds)] {
            if !(0.0..f64::INFINITY).contains(&value) {
                refuse!(
                    InvalidArgument,
                    "{argument}.{name}",
                    expected("0 or a number above"),
                    found("{value}")
                );
            }
        }
        if self.error == 0.0 && self.seconds == 0.0 && self.vectors == 0 {
            refuse!(
                InvalidArgument,
                "{argument}",
                expected("an error, seconds or a number of vectors at which the work ends"),
                found("none")
            );
        }
        Ok(())
    }
}

/// Number of noise vectors that each part gets before work is divided by errors.
const PILOT: usize = 4;
/// Number of columns on coarse levels that are solved for together.
const COLUMN_BLOCK: usize = 12;

choices! {
    /// Kinds of the terms of which loops are the sum.
    pub enum TermKind: plaq_loops_term {
        /// The difference of a level and the next one, or the last level itself, by noise on this level.
        Noise = 0, PLAQ_LOOPS_TERM_NOISE, "noise";
        /// The difference of a level and the next one, or the last level itself, exactly: from all coordinate vectors.
        Exact = 1, PLAQ_LOOPS_TERM_EXACT, "exact";
        /// The first terms of the hopping expansion, exactly.
        Hopping = 2, PLAQ_LOOPS_TERM_HOPPING, "hopping";
    }
}

reports! {
    /// Description of one part of loops.
    pub struct PartReport: plaq_loops_part_report {
        /// The kind of term that the part estimates.
        term: TermKind;
        /// The level whose noise or coordinate vectors are used.
        level: usize;
        /// Number of noise vectors, or of columns of an exact trace, that have been summed.
        done: u64;
        /// Number of columns of an exact trace; 0 for noise.
        total: u64;
        /// Number of columns solved for on the level.
        solves: u64;
        /// Number of solves that did not converge.
        failed: u64;
        /// Seconds spent on this part.
        seconds: f64;
        /// Error of this part as defined in plaq_loop_goals, with Gamma number 0 where there are no goals; 0 of what is
        /// exact, infinite before there are two noise vectors or all columns of an exact part.
        error: f64;
    }
    /// Description of loops summed so far.
    pub struct LoopsReport: plaq_loops_report {
        /// Number of parts into which the loops are divided.
        parts: usize;
        /// 1: the call reached the error that was asked for or, if none was, the number of vectors.
        reached: bool;
        /// 1: the callback ended the call.
        stopped: bool;
        /// The error as defined in plaq_loop_goals; of plaq_loops_describe, which has no goals, that of Gamma number 0.
        /// Infinite before all parts have an estimate.
        error: f64;
        /// Seconds that the call took.
        seconds: f64;
        /// Number of solves in all parts that did not converge.
        failed: u64;
    }
}

/// The term of the telescoped sum that a part estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The difference of this level and the next one, or the last level itself, by noise on this level.
    Noise(usize),
    /// The quantity that noise on this level estimates, computed exactly from all coordinate vectors of the level.
    Exact(usize),
    /// The first terms of the hopping expansion, exactly.
    Hopping,
}

/// A part of loops, with its sums so far: over estimates from noise vectors, or over the columns of an exact trace.
#[derive(Clone, Debug)]
pub struct Part {
    pub term: Term,
    /// Number of noise vectors, or of columns of an exact trace, that have been summed.
    pub done: usize,
    /// Number of columns of an exact trace; 0 for noise.
    pub total: usize,
    /// Number of columns solved for on the part's own level.
    pub solves: u64,
    pub seconds: f64,
    /// Number of solves, of up to twelve columns each, that did not converge.
    pub failed: u64,
    pub(super) sum: Vec<Complex64>,
    /// Sums of the squares of real parts and of imaginary parts.
    pub(super) squares: Vec<Complex64>,
}

impl Part {
    pub(super) fn new(term: Term, total: usize, numbers: usize) -> Result<Part> {
        let zeros = || host_array(numbers, Complex64::ZERO, "sums of loops");
        let (sum, squares) = (zeros()?, zeros()?);
        Ok(Part { term, done: 0, total, solves: 0, seconds: 0.0, failed: 0, sum, squares })
    }
    fn complete(&self) -> bool {
        self.total > 0 && self.done >= self.total
    }
    fn noisy(&self) -> bool {
        self.total == 0
    }
    fn add(&mut self, found: &Loops) {
        let all = found.lines.iter().chain(&found.current);
        for ((sum, square), z) in self.sum.iter_mut().zip(&mut self.squares).zip(all) {
            *sum += z;
            *square += Complex64::new(z.re * z.re, z.im * z.im);
        }
    }
    fn mean(&self, k: usize) -> Complex64 {
        match self.noisy() {
            true => self.sum[k] / self.done.max(1) as f64,
            false => self.sum[k],
        }
    }
    /// Whether there is an estimate with an error: two noise vectors, or all columns of an exact trace.
    fn has_error(&self) -> bool {
        if self.noisy() {
            self.done >= 2
        } else {
            self.complete()
        }
    }
    /// Variances of real and imaginary part of number `k` of one noise vector's estimate, 0 of an exact trace; infinite
    /// where there is no estimate with an error.
    fn variance(&self, k: usize) -> Complex64 {
        if !self.has_error() {
            return Complex64::new(f64::INFINITY, f64::INFINITY);
        }
        if !self.noisy() {
            return Complex64::ZERO;
        }
        let (n, mean) = (self.done as f64, self.mean(k));
        let of = |square: f64, mean: f64| (square / n - mean * mean).max(0.0) * n / (n - 1.0);
        Complex64::new(of(self.squares[k].re, mean.re), of(self.squares[k].im, mean.im))
    }
}

/// Means with their variances. For a part: variances (real part: of real parts) of a single noise vector, with the
/// number of vectors. For the sum of all parts: squared errors, with the number 1.
pub struct LoopResult {
    pub mean: Vec<Complex64>,
    pub variance: Vec<Complex64>,
    pub count: usize,
}

/// Parameters of loops: noise, operators, momenta, and the way in which solutions are contracted.
#[derive(Clone)]
pub struct LoopSettings {
    pub noise: LoopNoise,
    pub how: OneEnd,
    pub factor: Complex64,
    pub lines: Vec<Vec<Factor>>,
    pub momenta: Vec<[i32; 3]>,
    pub boundary: [f64; 4],
    pub params: LoopSumsParams,
}

impl LoopSettings {
    /// Prepares the first terms of the hopping expansion.
    fn hopping<'a>(&self, solver: &'a DiracSolver) -> Hopping<'a> {
        Hopping::new(solver, self.params.hopping, &self.lines, self.noise)
    }
}

/// The quarks and links of loops, the same in every call.
#[derive(Clone, Copy)]
pub struct LoopQuarks<'a> {
    pub solver: &'a DiracSolver,
    /// Number of columns that are solved for together; 0: twelve.
    pub at_once: usize,
    /// Solver of the second quark, for loops of the difference of two quarks.
    pub other: Option<&'a DiracSolver>,
    pub links: &'a Arc<GaugeField>,
    pub space: Option<&'a LowSpace>,
    /// Space of low modes of the second quark, made from the same vectors.
    pub other_space: Option<&'a LowSpace>,
}

/// Loops whose parts are summed up step by step.
pub struct LoopSums {
    pub(super) of: LoopSettings,
    pub(super) parts: Vec<Part>,
    times: usize,
    /// Count of numbers in lines, and of numbers in currents.
    numbers: [usize; 2],
}

impl LoopSums {
    /// Makes loops without any noise vector yet.
    ///
    /// # Errors
    /// `Unsupported`: low modes or the hopping expansion together with a contraction other than `OneEnd::None`;
    /// `FieldMismatch`: a space of another operator; `InvalidArgument`: nothing to sum.
    pub fn new(of: LoopSettings, quarks: &LoopQuarks) -> Result<LoopSums> {
        // (A^-1 H)^n before S - S' is no product of two inverses, as A differs for two quarks.
        if of.how != OneEnd::None && of.params.hopping > 0 {
            refuse!(
                Unsupported,
                "params.kind",
                expected("PLAQ_LOOPS_PLAIN with the hopping expansion, whose terms differ for two quarks"),
                found("{}", of.how)
            );
        }
        check_quarks(of.how, quarks.solver, quarks.other, of.factor)?;
        if of.how == OneEnd::Other && quarks.space.is_some() != quarks.other_space.is_some() {
            refuse!(
                InvalidArgument,
                "space",
                expected("low modes of both quarks of a difference, or of none")
            );
        }
        if of.momenta.is_empty() || of.lines.is_empty() {
            refuse!(
                InvalidArgument,
                "lines",
                expected("one line and one momentum at least"),
                found("{} and {}", of.lines.len(), of.momenta.len())
            );
        }
        let extents = quarks.links.geometry().global_extents();
        check_lengths(&of.lines, extents)?;
        of.noise.check(extents)?;
        check_configuration(quarks.solver.op().links(), "solver", quarks.links, "gauge")?;
        if let Some(space) = quarks.space {
            space.check(quarks.solver)?;
        }
        if let (Some(space), Some(other)) = (quarks.other_space, quarks.other) {
            space.check(other)?;
        }
        let times = quarks.solver.op().shape().geometry.global_extents()[3];
        let numbers = [16 * of.lines.len(), 4].map(|k| k * of.momenta.len() * times);
        let all = numbers[0] + numbers[1];
        let mut parts = vec![Part::new(Term::Noise(0), 0, all)?];
        if let Some(space) = quarks.space {
            let last = space.levels();
            for level in 1..=last {
                let exact = match of.params.traces {
                    Traces::Every => true,
                    Traces::Last => level == last,
                    Traces::Auto => level == last && space.has_inverse(),
                    Traces::Noise => false,
                };
                let part = match exact {
                    true => Part::new(Term::Exact(level), space.unknowns(level), all)?,
                    false => Part::new(Term::Noise(level), 0, all)?,
                };
                parts.push(part);
            }
        }
        if of.params.hopping > 0 {
            parts.push(Part::new(Term::Hopping, of.hopping(quarks.solver).columns(), all)?);
        }
        Ok(LoopSums { of, parts, times, numbers })
    }

    /// Description of the sums, with the error for this Gamma; numbers about a single call are 0.
    pub fn report(&self, gamma: usize) -> LoopsReport {
        LoopsReport {
            parts: self.parts.len(),
            reached: false,
            stopped: false,
            error: self.error(gamma),
            seconds: 0.0,
            failed: self.parts.iter().map(|part| part.failed).sum(),
        }
    }

    /// Descriptions of all parts, with errors for this Gamma.
    pub fn part_reports(&self, gamma: usize) -> Vec<PartReport> {
        let one = |part: &Part| {
            let (term, level) = match part.term {
                Term::Noise(level) => (TermKind::Noise, level),
                Term::Exact(level) => (TermKind::Exact, level),
                Term::Hopping => (TermKind::Hopping, 0),
            };
            PartReport {
                term,
                level,
                done: part.done as u64,
                total: part.total as u64,
                solves: part.solves,
                failed: part.failed,
                seconds: part.seconds,
                error: (self.watched(part, gamma) / part.done.max(1) as f64).sqrt(),
            }
        };
        self.parts.iter().map(one).collect()
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
    /// Shape of a result: count of numbers [line][Gamma][momentum][t], and of [mu][momentum][t] of the conserved
    /// current.
    pub fn numbers(&self) -> [usize; 2] {
        self.numbers
    }

    /// The result of part number `part`; `None`: of the sum of all parts.
    ///
    /// # Errors
    /// `InvalidArgument`: no such part.
    pub fn result(&self, part: Option<usize>) -> Result<LoopResult> {
        let all = 0..self.numbers[0] + self.numbers[1];
        let Some(part) = part else {
            let over = |k: usize| {
                let each = self.parts.iter().map(|p| p.variance(k) / p.done.max(1) as f64);
                each.sum::<Complex64>()
            };
            let mean = |k: usize| self.parts.iter().map(|p| p.mean(k)).sum();
            let (mean, variance) = (all.clone().map(mean).collect(), all.map(over).collect());
            return Ok(LoopResult { mean, variance, count: 1 });
        };
        let Some(p) = self.parts.get(part) else {
            refuse!(
                InvalidArgument,
                "part",
                expected("0 to {}, or -1 for the sum", self.parts.len() - 1),
                found("{part}")
            );
        };
        let mean = all.clone().map(|k| p.mean(k)).collect();
        Ok(LoopResult { mean, variance: all.map(|k| p.variance(k)).collect(), count: p.done })
    }

    /// The variance of one noise vector's loop, of the first line and momentum with this Gamma, averaged over time
    /// slices.
    fn watched(&self, part: &Part, gamma: usize) -> f64 {
        let first = gamma * self.of.momenta.len() * self.times;
        let variance = |t: usize| part.variance(first + t);
        (0..self.times).map(|t| variance(t).re + variance(t).im).sum::<f64>() / self.times as f64
    }

    /// Whether all columns of the exact parts are in the sums; until then means are those of a part of the trace.
    pub fn whole(&self) -> bool {
        self.parts.iter().all(|part| part.noisy() || part.complete())
    }

    /// The error as defined in [`LoopGoals`]; infinite until all parts have two noise vectors or are exact.
    pub fn error(&self, gamma: usize) -> f64 {
        let of = |part: &Part| self.watched(part, gamma) / part.done.max(1) as f64;
        self.parts.iter().map(of).sum::<f64>().sqrt()
    }

    /// Adds to the parts until a goal is reached or the monitor ends the work. Completed vectors and columns are
    /// kept, and a later call continues after them. `between` is called after each step with the sums, and the
    /// seconds on which all ranks agree.
    ///
    /// # Errors
    /// Errors of [`loops`] and [`LowSpace::solve`].
    pub fn add(
        &mut self,
        quarks: &LoopQuarks,
        goals: &LoopGoals,
        monitor: &mut Monitor,
        between: &mut dyn FnMut(&LoopSums, f64) -> Result<()>,
    ) -> Result<LoopsReport> {
        let start = Instant::now();
        let comm = quarks.links.geometry().comm().clone();
        let (mut stopped, mut seconds) = (false, 0.0f64);
        let reached = loop {
            let mut elapsed = [start.elapsed().as_secs_f64()];
            comm.max(&mut elapsed)?;
            seconds = elapsed[0].max(seconds);
            let error = self.error(goals.gamma);
            let reached = goals.error > 0.0 && error <= goals.error;
            if reached || (goals.seconds > 0.0 && seconds >= goals.seconds) {
                break reached;
            }
            let Some(next) = self.next(quarks, goals, seconds)? else { break goals.error == 0.0 };
            let residual = [if error.is_finite() { error } else { 1.0 }];
            let now = Progress { iteration: self.steps(), residual: &residual, seconds };
            let mut notify =
                |p: &Progress| monitor(&Progress { seconds: seconds + p.seconds, ..*p });
            if notify(&Progress { seconds: 0.0, ..now }).is_break() {
                stopped = true;
                break false;
            }
            let (before, began) = (self.parts[next].done, Instant::now());
            self.step(next, quarks, goals, &mut notify)?;
            let mut took = [began.elapsed().as_secs_f64()];
            comm.max(&mut took)?;
            self.parts[next].seconds += took[0];
            between(self, seconds + took[0])?;
            if self.parts[next].done == before {
                stopped = true;
                break false;
            }
        };
        Ok(LoopsReport { stopped, reached, seconds, ..self.report(goals.gamma) })
    }

    fn steps(&self) -> usize {
        self.parts.iter().map(|p| p.done).sum()
    }

    /// The part to which work is added next; `None` if all parts have reached the limit of vectors.
    fn next(
        &mut self,
        quarks: &LoopQuarks,
        goals: &LoopGoals,
        seconds: f64,
    ) -> Result<Option<usize>> {
        let limit = if goals.vectors > 0 { goals.vectors } else { usize::MAX };
        let pilot = PILOT.min(limit);
        let unknown = |p: &Part| p.noisy() && p.done < pilot;
        if let Some(next) = self.parts.iter().position(unknown) {
            return Ok(Some(next));
        }
        self.choose_last(quarks, goals, seconds)?;
        if let Some(next) = self.parts.iter().position(|p| !p.noisy() && !p.complete()) {
            return Ok(Some(next));
        }
        let gain = |p: &Part| {
            let (n, cost) = (p.done as f64, p.seconds / p.done as f64);
            self.watched(p, goals.gamma) / (n * (n + 1.0) * cost.max(1e-12))
        };
        let open = |p: &Part| p.noisy() && p.done < limit;
        let all = self.parts.iter().enumerate().filter(|(_, p)| open(p));
        let gains = all.map(|(k, p)| (k, gain(p)));
        Ok(gains.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k))
    }

    /// Replaces noise on the last level by all of its coordinate vectors if these cost less for the goals.
    fn choose_last(&mut self, quarks: &LoopQuarks, goals: &LoopGoals, seconds: f64) -> Result<()> {
        let Some(space) = quarks.space else { return Ok(()) };
        let level = space.levels();
        let place = self.parts.iter().position(|p| p.term == Term::Noise(level));
        let (Some(place), Traces::Auto) = (place, self.of.params.traces) else { return Ok(()) };
        let columns = space.unknowns(level);
        if self.parts[place].done > PILOT {
            return Ok(());
        }
        let cost = |p: &Part| p.seconds / p.done.max(1) as f64;
        let root = |p: &Part| (self.watched(p, goals.gamma) * cost(p)).sqrt();
        let noisy = self.parts.iter().enumerate().filter(|(_, p)| p.noisy());
        let roots: Vec<(bool, f64)> = noisy.map(|(k, p)| (k == place, root(p))).collect();
        let with: f64 = roots.iter().map(|(_, r)| r).sum();
        let without: f64 = roots.iter().filter(|(last, _)| !last).map(|(_, r)| r).sum();
        let all = columns as f64 * cost(&self.parts[place]);
        // The least cost of an error e is [sum over the parts of sqrt(variance cost)]^2 / e^2, with numbers of vectors
        // in proportion to sqrt(variance / cost).
        let exact = if goals.error > 0.0 {
            without * without + all * goals.error * goals.error < with * with
        } else if goals.seconds > 0.0 {
            let left = (goals.seconds - seconds).max(0.0);
            left > all && without * without / (left - all) < with * with / left
        } else {
            columns <= goals.vectors
        };
        // All ranks decide alike, as they know the same sums and times.
        if exact {
            let old = &self.parts[place];
            let (elapsed, solves) = (old.seconds, old.solves);
            let mut made =
                Part::new(Term::Exact(level), columns, self.numbers[0] + self.numbers[1])?;
            (made.seconds, made.solves) = (elapsed, solves);
            self.parts[place] = made;
        }
        Ok(())
    }

    /// Adds a group of columns to a part.
    fn step(
        &mut self,
        part: usize,
        quarks: &LoopQuarks,
        goals: &LoopGoals,
        monitor: &mut Monitor,
    ) -> Result<()> {
        let of = self.of.clone();
        let operators = LoopOperators {
            lines: &of.lines,
            momenta: &of.momenta,
            links: quarks.links,
            own: quarks.solver.op().links(),
            boundary: of.boundary,
        };
        let hopping = match of.params.hopping {
            0 => None,
            _ => Some(of.hopping(quarks.solver)),
        };
        let part = &mut self.parts[part];
        let limit = if goals.vectors > 0 { goals.vectors } else { usize::MAX };
        // The first vectors show the cost and the variance of a vector.
        let vectors = |together: usize| {
            let batch = if part.done == 0 { PILOT } else { together };
            batch.min(limit.saturating_sub(part.done)).max(1)
        };
        match (part.term, quarks.space) {
            (Term::Hopping, _) => {
                let Some(hopping) = hopping else { return Ok(()) };
                let count = COLUMN_BLOCK.min(part.total - part.done);
                let found = hopping.exact(part.done, count, &operators)?;
                part.add(&scaled(found, of.factor));
                part.done += count;
            }
            (Term::Noise(0), space) => {
                let failed = std::cell::Cell::new(0);
                let low = |b: &SpinorField, other: bool| {
                    let space = if other { quarks.other_space } else { space };
                    let Some(space) = space else { return b.like(b.precision()) };
                    let (low, how) = space.inverse(1, b)?;
                    failed.set(failed.get() + u64::from(!how.converged));
                    Ok(low)
                };
                let change = |x: &mut SpinorField| match &hopping {
                    Some(hopping) => hopping.remainder(x),
                    None => Ok(()),
                };
                let vectors = vectors(of.noise.vectors_together(quarks.at_once));
                let noise = LoopNoise { first: of.noise.first + part.done, vectors, ..of.noise };
                let kind = LoopKind {
                    how: of.how,
                    other: quarks.other,
                    factor: of.factor,
                    low: space.is_some().then_some(&low),
                    change: Some(&change),
                };
                let mut found = vec![];
                let by = (quarks.solver, quarks.at_once);
                let report =
                    loops(by, noise, kind, operators, monitor, &mut |_, one| found.push(one))?;
                if !found.is_empty() {
                    found.iter().for_each(|found| part.add(found));
                    part.done += found.len();
                    part.solves += (found.len() * noise.columns()) as u64;
                    part.failed += failed.get() + u64::from(!report.solver.converged);
                }
            }
            (Term::Noise(level), Some(space)) => {
                let count = vectors(COLUMN_BLOCK);
                let first = of.noise.first + part.done;
                let kind = (of.noise.noise, of.noise.seed);
                let vectors = space.noise(kind, level, first, count)?;
                let left_and_right =
                    Solved::new(quarks, space, (of.how, level), &vectors, hopping.as_ref())?;
                for k in 0..count {
                    part.add(&scaled(left_and_right.contracted(&operators, k..k + 1)?, of.factor));
                }
                part.done += count;
                part.solves += count as u64;
                part.failed += left_and_right.failed;
            }
            (Term::Exact(level), Some(space)) => {
                let count = COLUMN_BLOCK.min(part.total - part.done);
                let vectors = space.units(level, part.done, count)?;
                let left_and_right =
                    Solved::new(quarks, space, (of.how, level), &vectors, hopping.as_ref())?;
                part.add(&scaled(left_and_right.contracted(&operators, 0..count)?, of.factor));
                part.done += count;
                part.solves += count as u64;
                part.failed += left_and_right.failed;
            }
            (_, None) => {}
        }
        Ok(())
    }
}

/// The pairs of spinors whose contractions are the loops of a level. The first product counts positively, all further
/// ones are subtracted.
enum SpinorPairs {
    Plain(SpinorField, SpinorField),
    Products(Vec<Product>),
}

/// Pairs of spinors to be contracted, and the number of solves that did not converge.
struct Solved {
    pairs: SpinorPairs,
    failed: u64,
}

impl Solved {
    /// Solves for the columns: applies what the hopping expansion leaves of M^-1 or, for differences of quarks,
    /// products of inverses.
    fn new(
        quarks: &LoopQuarks,
        space: &LowSpace,
        (how, level): (OneEnd, usize),
        vectors: &LowVectors,
        hopping: Option<&Hopping>,
    ) -> Result<Solved> {
        if how != OneEnd::None {
            let (products, failed) = space.products(quarks.other_space, level, vectors)?;
            return Ok(Solved { pairs: SpinorPairs::Products(products), failed });
        }
        let (left, mut right, how) = space.left_and_right(level, vectors)?;
        if let Some(hopping) = hopping {
            hopping.remainder(&mut right)?;
        }
        let failed = how.iter().filter(|how: &&LowSolve| !how.converged).count() as u64;
        Ok(Solved { pairs: SpinorPairs::Plain(left, right), failed })
    }

    /// The loops contracted from these columns.
    fn contracted(&self, operators: &LoopOperators, columns: Range<usize>) -> Result<Loops> {
        let of = |left: &SpinorField, right: &SpinorField| {
            let part = |field: &SpinorField| field.columns(columns.start, columns.len());
            operators.contracted(&part(left)?, &part(right)?)
        };
        match &self.pairs {
            SpinorPairs::Plain(left, right) => of(left, right),
            SpinorPairs::Products(products) => {
                let mut all = products.iter().map(|one| of(one.left(), &one.right));
                let mut found = all.next().expect("the product of the level itself")?;
                for less in all {
                    found.add(&less?, Complex64::from(-1.0));
                }
                Ok(found)
            }
        }
    }
}

fn scaled(mut found: Loops, factor: Complex64) -> Loops {
    found.lines.iter_mut().chain(&mut found.current).for_each(|z| *z *= factor);
    found
}
