//! Eigenvectors at one end of the spectrum of a hermitian operator A: block Lanczos with thick restarts
//! (Wu and Simon, SIAM J. Matrix Anal. Appl. 22, 602) on a Chebyshev polynomial p of A (Zhou and Saad).
//! New vectors are orthogonal to all that are kept. Values, residuals and bounds are those of A itself.

use std::ops::Range;

use num_complex::Complex64;

use super::dense::{eigen_hermitian, identity, orthonormaliser};
use super::filter::{eigen_tol, End, Polynomial};
use super::stop::{Stop, StoppedBy, Watch};
use super::{limited, Monitor};
use crate::backend::rehearsing;
use crate::bail;
use crate::error::{within, Result};
use crate::fields::{basis, blas, Noise, Precision, VectorField};
use crate::linop::LinOp;

/// The polynomial p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// p(A) = A or -A.
    Plain,
    /// Degree and interval from the spectrum as it becomes known.
    Auto,
    /// Chebyshev's of this degree, small on the interval from the first to the second number: all
    /// eigenvalues that are not wanted lie there.
    Chebyshev { degree: usize, from: f64, to: f64 },
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct EigenParams {
    pub end: End,
    /// Eigenvectors wanted.
    pub count: usize,
    /// Vectors kept at most, `count` + 2 `block` at least; 0: about twice as many as wanted.
    pub room: usize,
    /// Vectors multiplied at a time. Eigenvalues of higher multiplicity are found sooner with as many.
    pub block: usize,
    /// Largest |A v - lambda v| over the largest |lambda| of the spectrum; 0: 1e-10 in double, 1e-6 in single
    /// precision.
    pub tol: f64,
    /// Times that the basis is built up anew.
    pub max_restarts: usize,
    pub filter: Filter,
    /// Look, once all are found, for another copy of an eigenvalue or one that was missed, with random
    /// vectors orthogonal to those found.
    pub verify: bool,
    /// Of random start vectors.
    pub seed: u64,
    /// Seconds that a search may take, asked after every block; infinite: as many as it needs. With many
    /// ranks all of them stop after the same block.
    pub max_seconds: f64,
}

impl Default for EigenParams {
    fn default() -> Self {
        EigenParams {
            end: End::Smallest,
            count: 8,
            room: 0,
            block: 1,
            tol: 0.0,
            max_restarts: 200,
            filter: Filter::Auto,
            verify: true,
            seed: 1,
            max_seconds: f64::INFINITY,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EigenReport {
    /// Every vector meets the tolerance.
    pub converged: bool,
    /// The monitor asked to stop or the time was over: what is known by then comes out.
    pub stopped: bool,
    /// What ended the search: limits first, of which restarts are iterations. Both with `converged` where
    /// a limit ended the verification.
    pub stopped_by: Option<StoppedBy>,
    /// From the end of the spectrum inwards.
    pub values: Vec<f64>,
    /// |A v - lambda v| of unit vectors, recomputed.
    pub residuals: Vec<f64>,
    /// How far an eigenvalue of A is at most: the residual, or residual^2 / gap where the distance to
    /// the other values found is larger.
    pub bounds: Vec<f64>,
    /// Estimates of the ends of the spectrum, from outside.
    pub least: f64,
    pub largest: f64,
    pub restarts: usize,
    /// Multiplications of a vector with A.
    pub applications: usize,
    /// Degree and interval of the last polynomial; 1: none.
    pub degree: usize,
    pub interval: [f64; 2],
    pub seconds: f64,
}

impl EigenReport {
    pub(super) fn ended_by(&mut self, watch: &Watch) {
        self.stopped_by = Some(match (watch.ended(0), self.converged) {
            (Some(limit), _) => limit,
            (None, true) => StoppedBy::Residual,
            (None, false) => StoppedBy::Iterations,
        });
    }
}

/// Of a polynomial that is asked for, and of restarts: a call with more would not end.
const MOST_DEGREE_ASKED: usize = 100_000;
pub(super) const MOST_RESTARTS: usize = 1_000_000;
/// Steps of the run that finds the ends of the spectrum.
const PROBE: usize = 24;
/// Times that the interval is chosen anew.
const ADAPTATIONS: usize = 12;

struct Process<'a, 'm> {
    op: &'a dyn LinOp,
    /// What p is made of; perhaps A in lower precision.
    cheap: &'a dyn LinOp,
    params: &'a EigenParams,
    tol: f64,
    watch: Watch<'a, 'm>,
    p: Polynomial,
    /// Locked vectors, then the basis, then the next block.
    v: VectorField,
    locked: usize,
    /// Vectors of the basis, without those locked.
    have: usize,
    /// Its products with p(A), `side` x `side`.
    h: Vec<Complex64>,
    side: usize,
    /// p(A) V = V H + (next block) times this in the last columns: block x block.
    coupling: Vec<Complex64>,
    block: usize,
    random: u32,
    report: EigenReport,
}

/// Finds the eigenvectors asked for; `cheap`, if given, is A in another precision, for the polynomial.
/// `guess` holds vectors near those wanted, e.g. saved ones: what of them has converged is not sought
/// again. Vectors come out in the precision of A, double or single, orthonormal; not converged is not
/// an error. The monitor hears of every restart: residuals, as far as they are known, over the largest
/// |lambda|.
///
/// # Errors
/// `BadParameter`; `Unsupported`: A is not hermitian, or has 16-bit vectors; `FieldMismatch`;
/// `NotFinite`; `OutOfMemory`: the basis will not fit, nothing is allocated.
pub fn eigen(
    op: &dyn LinOp,
    cheap: Option<&dyn LinOp>,
    params: &EigenParams,
    guess: Option<&VectorField>,
    monitor: &mut Monitor,
) -> Result<(VectorField, EigenReport)> {
    let shape = op.shape();
    let watch = Watch::new(Stop::within(params.max_seconds)?, shape.geometry.comm(), monitor);
    let mut process = Process::new(op, cheap, params, watch)?;
    if let Some(guess) = guess {
        process.adopt(guess)?;
    }
    process.run()
}

/// Bytes of the basis and the vectors beside it.
pub fn eigen_memory(op: &dyn LinOp, params: &EigenParams) -> u64 {
    let shape = op.shape();
    let vectors = room(params, shape.numbers() as usize) + 6 * params.block.max(1);
    shape.bytes(vectors)
}

fn room(params: &EigenParams, dimension: usize) -> usize {
    let (count, b) = (params.count, params.block.max(1));
    let wanted = if params.room > 0 { params.room } else { 2 * count + 16.max(4 * b) };
    wanted.max(count + 2 * b).min(dimension)
}

impl<'a, 'm> Process<'a, 'm> {
    fn new(
        op: &'a dyn LinOp,
        cheap: Option<&'a dyn LinOp>,
        params: &'a EigenParams,
        watch: Watch<'a, 'm>,
    ) -> Result<Self> {
        let shape = op.shape();
        if !op.hermitian() {
            bail!(Unsupported, "eigen: expected a hermitian operator");
        }
        if shape.precision == Precision::F16 {
            bail!(Unsupported, "eigen: expected vectors in double or single precision");
        }
        let dimension = shape.numbers() as usize;
        let block = params.block.max(1);
        within("block", block, 1, (dimension - 1) / 2)?;
        if params.count == 0 || params.count + 2 * block > dimension {
            bail!(
                BadParameter,
                "count: expected 1 to {} eigenvectors, found {}",
                dimension - 2 * block,
                params.count
            );
        }
        let tol = eigen_tol("tol", params.tol, shape.precision)?;
        within("max_restarts", params.max_restarts, 1, MOST_RESTARTS)?;
        if let Filter::Chebyshev { degree, from, to } = params.filter {
            if degree < 2 || from >= to || !from.is_finite() || !to.is_finite() {
                bail!(
                    BadParameter,
                    "degree, from, to: expected a degree from 2 and an interval, found {degree} and {from} to {to}"
                );
            }
            within("degree", degree, 2, MOST_DEGREE_ASKED)?;
        }
        shape.geometry.comm().agree(
            shape.device.require(eigen_memory(op, params), "the basis of this eigensolver"),
        )?;
        // Two blocks more while found ones are verified.
        let side = room(params, dimension);
        let v = shape.field(side + 3 * block)?;
        Ok(Process {
            op,
            cheap: cheap.unwrap_or(op),
            params,
            tol,
            watch,
            p: Polynomial::plain(params.end),
            v,
            locked: 0,
            have: 0,
            h: vec![Complex64::ZERO; side * side],
            side,
            coupling: vec![Complex64::ZERO; block * block],
            block,
            random: 0,
            report: EigenReport::default(),
        })
    }

    /// Vectors in use, without the next block.
    fn end(&self) -> usize {
        self.locked + self.have
    }

    /// Random vectors in place of `which`, orthonormal among themselves and to all before.
    fn randomise(&mut self, which: Range<usize>) -> Result<()> {
        if which.is_empty() {
            return Ok(());
        }
        let mut x = self.op.shape().field(which.len())?;
        x.set_noise(Noise::Normal, self.params.seed, self.random)?;
        self.random += which.len() as u32;
        self.v.copy_rhs(which.start, &x, 0, which.len())?;
        for _ in 0..2 {
            let before = 0..which.start;
            let c = basis::dots(&self.v, before.clone(), &self.v, which.clone())?;
            let minus: Vec<Complex64> = c.iter().map(|z| -z).collect();
            x.copy_rhs(0, &self.v, which.start, which.len())?;
            basis::combine(&self.v, before, &minus, 1.0, &mut x, 0..which.len())?;
            self.v.copy_rhs(which.start, &x, 0, which.len())?;
            let g = basis::dots(&self.v, which.clone(), &self.v, which.clone())?;
            let (t, _, rank) = orthonormaliser(&g, which.len())?;
            if rank < which.len() {
                bail!(SolverBreakdown, "eigen: the space has no vectors left");
            }
            basis::rotate(&mut self.v, which.clone(), &t)?;
        }
        Ok(())
    }

    /// Saved vectors: what has converged is locked, the sum of the others begins the basis.
    fn adopt(&mut self, guess: &VectorField) -> Result<()> {
        self.op.shape().check(guess, "guess")?;
        let n = guess.nrhs().min(self.side - self.block);
        self.v.copy_rhs(0, guess, 0, n)?;
        let mut rank = n;
        for _ in 0..2 {
            let g = basis::dots(&self.v, 0..rank, &self.v, 0..rank)?;
            if g.iter().any(|z| !z.is_finite()) {
                bail!(NotFinite, "guess: a vector holds NaN or infinity");
            }
            let (t, _, r) = orthonormaliser(&g, rank)?;
            basis::rotate(&mut self.v, 0..rank, &t)?;
            rank = r;
        }
        self.probe_at(rank)?;
        self.diagonalise(rank)?;
        let (_, residuals) = self.ritz(0..rank)?;
        let limit = self.tol * self.scale();
        let fine = |k: &usize| residuals[*k] <= limit;
        let good = (0..rank.min(self.params.count)).take_while(fine).count();
        if good < rank {
            let one = vec![Complex64::ONE; rank - good];
            basis::rotate(&mut self.v, good..rank, &one)?;
        }
        self.locked = good;
        self.begin(good < rank)
    }

    /// Begins a basis with the vector after the locked ones, or with random ones.
    fn begin(&mut self, with_first: bool) -> Result<()> {
        self.have = 0;
        let at = self.locked;
        if with_first {
            let norm = basis::dots(&self.v, at..at + 1, &self.v, at..at + 1)?[0].re.sqrt();
            let one = [Complex64::new(1.0 / norm, 0.0)];
            basis::rotate(&mut self.v, at..at + 1, &one)?;
        }
        let filled = at + with_first as usize;
        self.randomise(filled..at + self.block)
    }

    /// One block more of p(A) V = V H + ...
    fn step(&mut self) -> Result<()> {
        let b = self.block;
        let (end, shape) = (self.end(), self.op.shape());
        let mut x = shape.field(b)?;
        x.copy_rhs(0, &self.v, end, b)?;
        let mut y = shape.field(b)?;
        let lower = self.cheap.shape().precision;
        if lower == shape.precision {
            self.p.apply(self.cheap, &mut y, &x)?;
        } else {
            let (mut from, mut to) = (x.like(lower)?, x.like(lower)?);
            blas::copy(&mut from, &x)?;
            self.p.apply(self.cheap, &mut to, &from)?;
            blas::copy(&mut y, &to)?;
        }
        self.report.applications += b * self.p.degree;
        let all = end + b;
        let mut total = vec![Complex64::ZERO; all * b];
        for _ in 0..2 {
            let c = basis::dots(&self.v, 0..all, &y, 0..b)?;
            let minus: Vec<Complex64> = c.iter().map(|z| -z).collect();
            basis::combine(&self.v, 0..all, &minus, 1.0, &mut y, 0..b)?;
            total.iter_mut().zip(&c).for_each(|(t, c)| *t += c);
        }
        if total.iter().any(|z| !z.is_finite()) {
            bail!(SolverBreakdown, "eigen: the operator produces NaN or infinity");
        }
        // Of the locked vectors nothing enters H.
        for i in 0..self.have + b {
            for j in 0..b {
                let z = total[(self.locked + i) * b + j];
                let column = self.have + j;
                if i < self.have {
                    self.h[i * self.side + column] = z;
                    self.h[column * self.side + i] = z.conj();
                } else {
                    // Hermitian to rounding only.
                    let other = total[(self.locked + self.have + j) * b + i - self.have];
                    self.h[i * self.side + column] = 0.5 * (z + other.conj());
                }
            }
        }
        self.have += b;
        self.close(y)
    }

    /// Makes the next block of what is left of the last products.
    fn close(&mut self, mut y: VectorField) -> Result<()> {
        let (b, end) = (self.block, self.end());
        let mut r: Vec<Complex64> = identity(b);
        let mut rank = b;
        for _ in 0..2 {
            let g = basis::dots(&y, 0..rank, &y, 0..rank)?;
            let (t, factor, next) = orthonormaliser(&g, rank)?;
            // r (rank x b) becomes factor r (next x b).
            let mut product = vec![Complex64::ZERO; next * b];
            for i in 0..next {
                for j in 0..b {
                    product[i * b + j] =
                        (0..rank).map(|k| factor[i * rank + k] * r[k * b + j]).sum();
                }
            }
            if next > 0 {
                basis::rotate(&mut y, 0..rank, &t)?;
            }
            (r, rank) = (product, next);
            // What is short has lost its orthogonality to the basis.
            let c = basis::dots(&self.v, 0..end, &y, 0..rank)?;
            let minus: Vec<Complex64> = c.iter().map(|z| -z).collect();
            basis::combine(&self.v, 0..end, &minus, 1.0, &mut y, 0..rank)?;
        }
        let g = basis::dots(&y, 0..rank, &y, 0..rank)?;
        let (t, _, next) = orthonormaliser(&g, rank)?;
        if next > 0 {
            basis::rotate(&mut y, 0..rank, &t)?;
        }
        // The last turn is near the unit matrix but for the order and phases of eigenvectors.
        let mut turned = vec![Complex64::ZERO; b * b];
        if next == rank {
            let (_, factor, _) = orthonormaliser(&g, rank)?;
            for i in 0..rank {
                for j in 0..b {
                    turned[i * b + j] =
                        (0..rank).map(|k| factor[i * rank + k] * r[k * b + j]).sum();
                }
            }
        }
        self.v.copy_rhs(end, &y, 0, next)?;
        if next < b {
            self.randomise(end + next..end + b)?;
        }
        self.coupling = turned;
        Ok(())
    }

    /// Ritz values of p(A), the largest first, their vectors (columns) and residuals.
    fn project(&self) -> Result<(Vec<f64>, Vec<Complex64>, Vec<f64>)> {
        let (n, b) = (self.have, self.block);
        let h: Vec<Complex64> = (0..n * n).map(|k| self.h[k / n * self.side + k % n]).collect();
        let (values, u) = eigen_hermitian(&h, n)?;
        let mut s = vec![Complex64::ZERO; n * n];
        for i in 0..n {
            for k in 0..n {
                s[i * n + k] = u[i * n + n - 1 - k];
            }
        }
        let residual = |k: usize| {
            let row = |i: usize| -> Complex64 {
                (0..b).map(|j| self.coupling[i * b + j] * s[(n - b + j) * n + k]).sum()
            };
            (0..b).map(|i| row(i).norm_sqr()).sum::<f64>().sqrt()
        };
        let residuals = (0..n).map(residual).collect();
        Ok((values.into_iter().rev().collect(), s, residuals))
    }

    /// Keeps the first `keep` Ritz vectors of `project` and the next block.
    fn restart(&mut self, values: &[f64], s: &[Complex64], keep: usize) -> Result<()> {
        let n = self.have;
        let mut c = vec![Complex64::ZERO; n * keep];
        for i in 0..n {
            c[i * keep..(i + 1) * keep].copy_from_slice(&s[i * n..i * n + keep]);
        }
        let (at, end) = (self.locked, self.end());
        basis::rotate(&mut self.v, at..end, &c)?;
        let mut next = self.op.shape().field(self.block)?;
        next.copy_rhs(0, &self.v, end, self.block)?;
        self.v.copy_rhs(at + keep, &next, 0, self.block)?;
        self.h.fill(Complex64::ZERO);
        for k in 0..keep {
            self.h[k * self.side + k] = values[k].into();
        }
        self.have = keep;
        Ok(())
    }

    /// Rayleigh quotients and residuals of A for some vectors, which stay.
    fn ritz(&mut self, which: Range<usize>) -> Result<(Vec<f64>, Vec<f64>)> {
        let shape = self.op.shape();
        let (mut values, mut residuals) = (vec![], vec![]);
        for (first, n) in portions(which, self.block) {
            let (mut x, mut y) = (shape.field(n)?, shape.field(n)?);
            x.copy_rhs(0, &self.v, first, n)?;
            self.op.apply(&mut y, &x)?;
            self.report.applications += n;
            let (xy, x2) = blas::dot_norm(&x, &y)?;
            let quotient: Vec<f64> = xy.iter().zip(&x2).map(|(z, n)| z.re / n).collect();
            let minus: Vec<f64> = quotient.iter().map(|l| -l).collect();
            let r2 = blas::axpy_norm(&blas::complex(&minus), &x, &mut y)?;
            residuals.extend(r2.iter().zip(&x2).map(|(r, n)| (r / n).sqrt()));
            values.extend(quotient);
        }
        Ok((values, residuals))
    }

    /// The order of values from the wanted end inwards.
    fn inwards(&self, values: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| match self.params.end {
            End::Smallest => values[i].total_cmp(&values[j]),
            End::Largest => values[j].total_cmp(&values[i]),
        });
        order
    }

    /// Of the spectrum.
    fn scale(&self) -> f64 {
        self.report.least.abs().max(self.report.largest.abs())
    }

    /// The ends of the spectrum by a short run without polynomial, in the place of vectors from `at` on.
    fn probe_at(&mut self, at: usize) -> Result<()> {
        let p = std::mem::replace(&mut self.p, Polynomial::plain(End::Largest));
        let keep = std::mem::replace(&mut self.locked, at);
        let steps = PROBE.min(self.side.saturating_sub(at)).max(self.block);
        self.begin(false)?;
        while self.have + self.block <= steps && self.end() + self.block <= self.side {
            self.step()?;
            if self.watch.late() {
                break;
            }
        }
        let (values, _, residuals) = self.project()?;
        let last = values.len() - 1;
        let margin = 1e-3 * (values[0] - values[last]).abs();
        self.report.largest = values[0] + residuals[0] + margin;
        self.report.least = values[last] - residuals[last] - margin;
        (self.p, self.locked) = (p, keep);
        self.h.fill(Complex64::ZERO);
        Ok(())
    }

    fn run(mut self) -> Result<(VectorField, EigenReport)> {
        if self.scale() == 0.0 {
            self.probe_at(0)?;
            self.begin(false)?;
        }
        let mut adapting = 0;
        match self.params.filter {
            Filter::Plain => {}
            Filter::Chebyshev { degree, from, to } => {
                let at = match self.params.end {
                    End::Smallest => self.report.least.min(from - 1e-3 * (to - from)),
                    End::Largest => self.report.largest.max(to + 1e-3 * (to - from)),
                };
                self.p = Polynomial { degree, from, to, at };
            }
            Filter::Auto => {
                adapting = ADAPTATIONS;
                let (least, largest) = (self.report.least, self.report.largest);
                let share = 0.05 * (largest - least);
                let cut = match self.params.end {
                    End::Smallest => least.max(0.0) + share,
                    End::Largest => largest - share,
                };
                self.p = self.filter(cut);
            }
        }
        let (b, count) = (self.block, self.params.count);
        let mut known = self.ritz(0..self.locked)?.0;
        // All that is wanted was handed in?
        let mut verifying = self.locked >= count;
        if verifying && !self.params.verify {
            return self.finish();
        }
        while self.report.restarts < limited(self.params.max_restarts) {
            let side = self.side.min(self.v.nrhs() - b);
            let mut late = false;
            while self.end() + b <= side && !late {
                self.step()?;
                late = self.watch.late();
            }
            self.report.restarts += 1;
            let (values, s, _) = self.project()?;
            let wanted = count.saturating_sub(self.locked).max(1);
            if late {
                // What there is of the vectors wanted.
                self.report.stopped = true;
                self.restart(&values, &s, wanted.min(self.have))?;
                break;
            }
            if adapting > 0 && !verifying {
                if let Some(p) = self.adapt(&values, wanted) {
                    // The sum of the vectors wanted begins anew.
                    adapting -= 1;
                    let n = self.have;
                    let known = (0..wanted.min(n)).filter(|&k| values[k] > 0.0).count().max(1);
                    let c: Vec<Complex64> =
                        (0..n).map(|i| s[i * n..i * n + known].iter().sum()).collect();
                    let (at, end) = (self.locked, self.end());
                    basis::rotate(&mut self.v, at..end, &c)?;
                    self.p = p;
                    self.h.fill(Complex64::ZERO);
                    self.begin(true)?;
                    // Nothing is known of residuals yet.
                    if self.tell(&[self.scale()])? {
                        break;
                    }
                    continue;
                }
                adapting = 0;
            }
            let spare = self.have - wanted.min(self.have);
            let keep = (wanted + (spare / 3).max(b)).min(self.have.saturating_sub(b)).max(1);
            self.restart(&values, &s, keep)?;
            // Locks what has converged.
            let some = wanted.min(keep);
            let (found, residuals) = self.ritz(self.locked..self.locked + some)?;
            let limit = self.tol * self.scale();
            let done = residuals.iter().take_while(|&&r| r <= limit).count();
            if verifying {
                // Nothing more outside of what is known, as sharply as the first Ritz value is known.
                let edge = known.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(self.inward(v)));
                let first = self.inward(found[0]);
                let slack = (2.0 * residuals[0]).min(0.05 * self.scale());
                if done == 0 && first - slack < edge - limit {
                    if self.tell(&residuals)? {
                        break;
                    }
                    continue;
                }
                if done == 0 || first >= edge - limit {
                    self.locked += done;
                    self.have -= done;
                    break;
                }
            }
            self.lock(done);
            known.extend(&found[..done]);
            if self.locked >= count {
                if !self.params.verify || self.end() + 3 * b > self.v.nrhs() {
                    break;
                }
                verifying = true;
                self.begin(false)?;
            }
            if self.tell(&residuals)? {
                break;
            }
        }
        self.finish()
    }

    /// Larger further inwards.
    fn inward(&self, value: f64) -> f64 {
        match self.params.end {
            End::Smallest => value,
            End::Largest => -value,
        }
    }

    fn filter(&self, cut: f64) -> Polynomial {
        let (least, largest) = (self.report.least, self.report.largest);
        // Normal operators have nothing below 0, where a probe cannot see the end.
        let least = if least < 0.0 && -least < 0.02 * largest { 0.0 } else { least };
        Polynomial::for_cut(self.params.end, cut, least, largest)
    }

    /// A better polynomial, if there is one.
    fn adapt(&self, values: &[f64], wanted: usize) -> Option<Polynomial> {
        let outside: Vec<f64> = values.iter().filter_map(|&p| self.p.invert(p)).collect();
        let (least, largest) = (self.report.least, self.report.largest);
        let end = if self.params.end == End::Smallest { least.max(0.0) } else { largest };
        let old = if self.params.end == End::Smallest { self.p.from } else { self.p.to };
        let margin = (wanted / 4).max(2);
        let cut = match outside.get(wanted + margin) {
            Some(&v) => v,
            // Too few outside of the interval.
            None => end + 2.0 * (old - end),
        };
        let ratio = (cut - end) / (old - end);
        let most = 0.45 * (largest - least);
        if (0.5..1.01).contains(&ratio) || !cut.is_finite() || (cut - end).abs() > most {
            return None;
        }
        Some(self.filter(cut))
    }

    /// Takes the first vectors of the basis, which H knows as diagonal, out of it.
    fn lock(&mut self, done: usize) {
        if done == 0 {
            return;
        }
        let left = self.have - done;
        for i in 0..left {
            for j in 0..left {
                self.h[i * self.side + j] = self.h[(i + done) * self.side + j + done];
            }
        }
        self.locked += done;
        self.have = left;
    }

    /// Tells the monitor; true: stop.
    fn tell(&mut self, residuals: &[f64]) -> Result<bool> {
        let relative: Vec<f64> = residuals.iter().map(|r| r / self.scale()).collect();
        self.report.stopped |= self.watch.after(self.report.restarts, &relative).is_some();
        Ok(self.report.stopped)
    }

    /// The first n vectors become Ritz vectors of A itself, from the wanted end inwards.
    fn diagonalise(&mut self, n: usize) -> Result<()> {
        let shape = self.op.shape();
        let mut h = vec![Complex64::ZERO; n * n];
        for (first, m) in portions(0..n, self.block) {
            let (mut x, mut y) = (shape.field(m)?, shape.field(m)?);
            x.copy_rhs(0, &self.v, first, m)?;
            self.op.apply(&mut y, &x)?;
            self.report.applications += m;
            let c = basis::dots(&self.v, 0..n, &y, 0..m)?;
            for i in 0..n {
                h[i * n + first..i * n + first + m].copy_from_slice(&c[i * m..(i + 1) * m]);
            }
        }
        let (values, u) = eigen_hermitian(&h, n)?;
        let order = self.inwards(&values);
        let mut c = vec![Complex64::ZERO; n * n];
        for i in 0..n {
            for (to, &from) in order.iter().enumerate() {
                c[i * n + to] = u[i * n + from];
            }
        }
        basis::rotate(&mut self.v, 0..n, &c)
    }

    /// Rayleigh and Ritz once more with A itself; the vectors in their order.
    fn finish(mut self) -> Result<(VectorField, EigenReport)> {
        let count = self.params.count;
        let all = self.end().max(1).min(self.v.nrhs());
        let n = match self.locked >= count {
            true => self.locked,
            // As if all were found.
            false if rehearsing() => count.min(all),
            false => all,
        };
        let shape = self.op.shape();
        let m = count.min(n);
        self.diagonalise(n)?;
        let (values, residuals) = self.ritz(0..m)?;
        let mut vectors = shape.field(m)?;
        vectors.copy_rhs(0, &self.v, 0, m)?;
        let limit = self.tol * self.scale();
        self.report.converged = m == count && residuals.iter().all(|&r| r <= limit.max(1e-300));
        self.report.bounds = error_bounds(&values, &residuals);
        (self.report.values, self.report.residuals) = (values, residuals);
        (self.report.degree, self.report.interval) = (self.p.degree, [self.p.from, self.p.to]);
        self.report.seconds = self.watch.seconds();
        self.report.ended_by(&self.watch);
        Ok((vectors, self.report))
    }
}

/// Vectors in portions of four, or of a block where that is more, then one by one: of two numbers of
/// right-hand sides a GPU compiles kernels, not of as many as there are remainders.
pub(crate) fn portions(which: Range<usize>, block: usize) -> impl Iterator<Item = (usize, usize)> {
    let most = block.max(4);
    let whole = which.len() / most;
    let rest = which.start + whole * most..which.end;
    let whole = (0..whole).map(move |k| (which.start + k * most, most));
    whole.chain(rest.map(|k| (k, 1)))
}

/// How far an eigenvalue is at most from each value (Parlett, sections 4.5 and 11.7): its residual r, or
/// r^2 over the distance to the other values and their residuals.
pub(super) fn error_bounds(values: &[f64], residuals: &[f64]) -> Vec<f64> {
    let n = values.len();
    (0..n)
        .map(|i| {
            let apart = |j: usize| (values[i] - values[j]).abs() - residuals[j];
            let gap = (0..n).filter(|&j| j != i).map(apart).fold(f64::INFINITY, f64::min);
            if gap > residuals[i] && gap.is_finite() {
                residuals[i] * residuals[i] / gap
            } else {
                residuals[i]
            }
        })
        .collect()
}
