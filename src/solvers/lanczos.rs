//! Eigenvectors at one end of the spectrum of a hermitian operator A: block Lanczos with thick restarts
//! (Wu and Simon, SIAM J. Matrix Anal. Appl. 22, 602) on a Chebyshev polynomial p of A (Zhou and Saad).
//! New vectors are orthogonal to all that are kept. Values, residuals and bounds are those of A itself.
//!
//! A Krylov space contains one vector of each eigenspace (with blocks: as many as the block has), and p preserves the
//! order of eigenvalues only outside of its interval. Therefore vectors are locked only if their eigenvalues lie
//! outside of it, and a set is complete when a run that begins with a random vector orthogonal to the whole set finds
//! nothing further out than the last eigenvalue. If most of the space is wanted, or the whole space is small, A is
//! diagonalised in a basis of it.

mod interval;

use std::ops::Range;

use num_complex::Complex64;

use super::block::{orthonormal_to, portions, share_of_random};
use super::dense::{eigen_hermitian, eigen_hermitian_while, identity, orthonormaliser, QUICK};
use super::eigen_memory::SearchMemory;
use super::eigen_params::{error_bounds, EigenParams, EigenReport, Filter, VectorMemory};
use super::filter::{eigen_tol, End, Polynomial};
use super::stop::{Stop, Watch};
use super::{no_monitor, Monitor};
use crate::bail;
use crate::error::Result;
use crate::fields::{basis, blas, Noise, VectorField, VectorSet};
use crate::linop::LinOp;

/// Number of steps of the run that finds the ends of the spectrum.
const PROBE: usize = 24;
/// Largest number of times that a new interval is chosen.
const ADAPTATIONS: usize = 12;
/// Number of basis vectors at which a run first tests whether its basis is large enough before it is full; it tests
/// again whenever there are half as many more.
const FIRST_TEST: usize = 16;
/// A Ritz vector of a run with a random start is taken to be the outermost eigenvector if its residual is at most this,
/// relative to the largest eigenvalue.
const OUTERMOST_RESIDUAL: f64 = 1e-6;
/// Largest tolerance of searches that verify their results. With a larger one, vectors further out would be found again
/// and again beside the inaccurate ones.
const VERIFIED_TOL: f64 = 1e-3;
/// Number of vectors that are made orthonormal at a time when A is diagonalised in a basis of the whole space.
const FILLED: usize = 32;

struct Process<'a, 'm> {
    op: &'a dyn LinOp,
    /// The operator from which p(A) is computed; it may be A in lower precision.
    cheap: &'a dyn LinOp,
    params: &'a EigenParams,
    tol: f64,
    watch: Watch<'a, 'm>,
    p: Polynomial,
    /// The locked vectors, then the basis, then the next block.
    v: VectorSet,
    /// True if the vectors that were found pass through host memory when they are returned.
    by_host: bool,
    locked: usize,
    /// Number of basis vectors, the locked ones not counted.
    have: usize,
    /// Matrix H = V^dagger p(A) V of the basis vectors V, in the first rows and columns of a matrix of `rows` rows.
    h: Vec<Complex64>,
    rows: usize,
    /// The block x block matrix C in p(A) V = V H + (next block) C, where C multiplies the last columns.
    coupling: Vec<Complex64>,
    block: usize,
    random: u32,
    /// True if this run started from random vectors, which have a component along every eigenvector that is not locked.
    random_start: bool,
    /// True if vectors have been locked in this run.
    found: bool,
    /// The residuals that the monitor was last given, relative to the largest |lambda|.
    last_residuals: Vec<f64>,
    report: EigenReport,
}

/// Finds eigenvectors; `cheap`, if given, is A in another precision, from which the polynomial is computed. `guess`
/// holds approximate eigenvectors, e.g. saved ones: those that have converged are not searched for again. The results
/// are orthonormal and in the precision of A, double or single; a search that has not converged is not an error. The
/// monitor is called after every restart and every block with the residuals known so far, relative to the largest
/// |lambda|.
///
/// # Errors
/// `BadParameter`; `Unsupported`: A is not hermitian, or has 16-bit vectors; `FieldMismatch`;
/// `NotFinite`; `OutOfMemory`: the vectors do not fit on the device of a rank, nothing is allocated.
pub fn eigen(
    op: &dyn LinOp,
    cheap: Option<&dyn LinOp>,
    params: &EigenParams,
    guess: Option<&VectorField>,
    monitor: &mut Monitor,
) -> Result<(VectorField, EigenReport)> {
    let only = match params.vectors {
        VectorMemory::Auto => EigenParams { vectors: VectorMemory::Device, ..params.clone() },
        _ => params.clone(),
    };
    let guess = guess.map(VectorSet::of).transpose()?;
    let (vectors, report) = eigen_set(op, cheap, &only, guess.as_ref(), monitor)?;
    Ok((vectors.into_field()?, report))
}

/// Finds eigenvectors as [`eigen`] does, even if they do not fit on the device: they are kept and returned in the
/// memory that `vectors` of the parameters asks for. The choice is the same on all ranks, and the report and the log
/// tell it.
///
/// # Errors
/// Errors of [`eigen`].
pub fn eigen_set(
    op: &dyn LinOp,
    cheap: Option<&dyn LinOp>,
    params: &EigenParams,
    guess: Option<&VectorSet>,
    monitor: &mut Monitor,
) -> Result<(VectorSet, EigenReport)> {
    params.check(op)?;
    let memory = SearchMemory::choose(op, cheap, params, &rehearsed(params))?;
    search(op, cheap, params, memory, guess, monitor)
}

/// Bytes of device memory of a search that keeps all of its vectors on the device, and uses as many vectors as if
/// memory were not short; found by a rehearsal.
///
/// # Errors
/// Errors of the search that do not depend on the numbers in links and vectors.
pub fn eigen_memory(op: &dyn LinOp, params: &EigenParams) -> Result<u64> {
    params.check(op)?;
    SearchMemory::with(op, params, false).memory(op, None, &rehearsed(params))
}

/// Returns a function that runs the search in a rehearsal, to find the memory that it takes.
fn rehearsed(
    params: &EigenParams,
) -> impl Fn(&dyn LinOp, Option<&dyn LinOp>, SearchMemory) -> Result<()> + '_ {
    |op, cheap, memory| search(op, cheap, params, memory, None, &mut no_monitor).map(|_| ())
}

/// Runs the search with this choice of memory for the vectors.
fn search(
    op: &dyn LinOp,
    cheap: Option<&dyn LinOp>,
    params: &EigenParams,
    memory: SearchMemory,
    guess: Option<&VectorSet>,
    monitor: &mut Monitor,
) -> Result<(VectorSet, EigenReport)> {
    let shape = op.shape();
    let stop = Stop::within(params.max_seconds)?;
    // The first two restarts may change the polynomial; later ones launch the same kernels.
    let comm = shape.geometry.comm();
    let watch = Watch::with(stop, stop.fall(), 2, &shape.device, comm, monitor);
    let _kept = shape.device.keep_memory();
    let mut process = Process::new(op, cheap, params, memory, watch)?;
    if params.is_whole(shape.numbers() as usize) {
        return process.diagonalise_completely();
    }
    if let Some(guess) = guess {
        process.start_from(guess)?;
    }
    process.run()
}

impl<'a, 'm> Process<'a, 'm> {
    fn new(
        op: &'a dyn LinOp,
        cheap: Option<&'a dyn LinOp>,
        params: &'a EigenParams,
        memory: SearchMemory,
        watch: Watch<'a, 'm>,
    ) -> Result<Self> {
        let (shape, block, rows) = (op.shape(), params.block.max(1), memory.max_vectors);
        let whole = params.is_whole(shape.numbers() as usize);
        let coarsest = if params.verify { VERIFIED_TOL } else { 1.0 };
        let v = VectorSet::new(shape.field(memory.on_device)?, memory.on_host());
        let report =
            EigenReport { max_vectors: rows, on_device: memory.on_device, ..Default::default() };
        Ok(Process {
            op,
            cheap: cheap.unwrap_or(op),
            params,
            tol: eigen_tol("tol", params.tol, shape.precision)?.min(coarsest),
            by_host: memory.by_host,
            watch,
            p: Polynomial::plain(params.end),
            v,
            locked: 0,
            have: 0,
            h: vec![Complex64::ZERO; if whole { 0 } else { rows * rows }],
            rows,
            coupling: vec![Complex64::ZERO; block * block],
            block,
            random: 0,
            random_start: false,
            found: false,
            last_residuals: vec![1.0],
            report,
        })
    }

    /// Number of vectors in use: the locked ones and those of the basis, not those of the next block.
    fn end(&self) -> usize {
        self.locked + self.have
    }

    /// Replaces the vectors `which` by random ones, orthonormal among themselves and to all vectors before them.
    fn randomise(&mut self, which: Range<usize>) -> Result<()> {
        if which.is_empty() {
            return Ok(());
        }
        let mut x = self.op.shape().field(which.len())?;
        x.set_noise(Noise::Normal, self.params.seed, self.random)?;
        self.random += which.len() as u32;
        if orthonormal_to(&self.v, which.start, &mut x)? < which.len() {
            bail!(SolverBreakdown, "eigen: the space has no vectors left");
        }
        self.v.put(which.start, &x, 0, which.len())
    }

    /// Begins from saved vectors: those that have converged are locked, and the sum of the others becomes the first
    /// vector of the basis.
    fn start_from(&mut self, guess: &VectorSet) -> Result<()> {
        self.op.shape().check(guess.first(), "guess")?;
        let n = guess.count().min(self.rows - self.block);
        for (first, m) in portions(0..n, self.block) {
            self.v.put(first, &guess.get(first, m)?, 0, m)?;
        }
        let mut rank = n;
        for _ in 0..2 {
            let g = self.v.gram(0..rank)?;
            if g.iter().any(|z| !z.is_finite()) {
                bail!(NotFinite, "guess: a vector holds NaN or infinity");
            }
            let (t, _, r) = orthonormaliser(&g, rank)?;
            self.v.rotate(0..rank, &t)?;
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
            self.v.rotate(good..rank, &one)?;
        }
        self.locked = good;
        self.begin(good < rank)
    }

    /// Begins a basis after the locked vectors. `with_first`: the vector that follows them, normalised, is its first
    /// one; the others, or all, are random.
    fn begin(&mut self, with_first: bool) -> Result<()> {
        self.have = 0;
        (self.random_start, self.found) = (!with_first, false);
        self.h.fill(Complex64::ZERO);
        let at = self.locked;
        if with_first {
            let norm = self.v.gram(at..at + 1)?[0].re.sqrt();
            self.v.rotate(at..at + 1, &[Complex64::new(1.0 / norm, 0.0)])?;
        }
        let filled = at + with_first as usize;
        self.randomise(filled..at + self.block)
    }

    /// Computes p(A) x. `None`: a limit or the monitor ended the search before the product was complete.
    fn product(&mut self, p: Polynomial, x: &VectorField) -> Result<Option<VectorField>> {
        let mut y = x.like(x.precision())?;
        let lower = self.cheap.shape().precision;
        let done = if lower == x.precision() {
            p.apply(self.cheap, &mut y, x, &mut self.watch)?
        } else {
            let (mut from, mut to) = (x.like(lower)?, x.like(lower)?);
            blas::copy(&mut from, x)?;
            let done = p.apply(self.cheap, &mut to, &from, &mut self.watch)?;
            blas::copy(&mut y, &to)?;
            done
        };
        self.report.applications += (x.nrhs() * p.degree) as u64;
        Ok(done.then_some(y))
    }

    /// Extends the relation p(A) V = V H + (next block) C by one block. Returns false if a limit or the monitor ended
    /// the search before this was done; the first block of a basis is then made with A instead of p(A), so that there
    /// is at least one.
    fn step(&mut self) -> Result<bool> {
        let b = self.block;
        let end = self.end();
        let x = self.v.get(end, b)?;
        let y = match self.product(self.p, &x)? {
            None if self.have == 0 => self.product(Polynomial::plain(self.params.end), &x)?,
            found => found,
        };
        let Some(mut y) = y else { return Ok(false) };
        let all = end + b;
        let mut total = vec![Complex64::ZERO; all * b];
        for _ in 0..2 {
            let c = self.v.dots(0..all, &y, 0..b)?;
            let minus: Vec<Complex64> = c.iter().map(|z| -z).collect();
            self.v.combine(0..all, &minus, 1.0, &mut y, 0..b)?;
            total.iter_mut().zip(&c).for_each(|(t, c)| *t += c);
        }
        if total.iter().any(|z| !z.is_finite()) {
            bail!(SolverBreakdown, "eigen: the operator produces NaN or infinity");
        }
        // Components along locked vectors are removed from y and do not enter H.
        for i in 0..self.have + b {
            for j in 0..b {
                let z = total[(self.locked + i) * b + j];
                let column = self.have + j;
                if i < self.have {
                    self.h[i * self.rows + column] = z;
                    self.h[column * self.rows + i] = z.conj();
                } else {
                    // The diagonal block of V^dagger p(A) V is hermitian up to rounding; its hermitian part enters H.
                    let other = total[(self.locked + self.have + j) * b + i - self.have];
                    self.h[i * self.rows + column] = 0.5 * (z + other.conj());
                }
            }
        }
        self.have += b;
        self.close(y)?;
        Ok(true)
    }

    /// Makes the next block of the basis from y, the part of p(A) V that is orthogonal to all vectors so far. Random
    /// vectors replace columns that depend linearly on others.
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
            // Columns that lost most of their length have lost their orthogonality to the basis by rounding.
            let c = self.v.dots(0..end, &y, 0..rank)?;
            let minus: Vec<Complex64> = c.iter().map(|z| -z).collect();
            self.v.combine(0..end, &minus, 1.0, &mut y, 0..rank)?;
        }
        let g = basis::dots(&y, 0..rank, &y, 0..rank)?;
        let (t, _, next) = orthonormaliser(&g, rank)?;
        if next > 0 {
            basis::rotate(&mut y, 0..rank, &t)?;
        }
        // This last rotation is close to the unit matrix up to the order and phases of eigenvectors.
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
        self.v.put(end, &y, 0, next)?;
        if next < b {
            self.randomise(end + next..end + b)?;
        }
        self.coupling = turned;
        Ok(())
    }

    /// Eigenvalues and eigenvectors of the hermitian n x n matrix `h`. None: the matrix is large, and a limit or the
    /// monitor ended the search during the computation.
    fn dense(&mut self, h: &[Complex64], n: usize) -> Result<Option<(Vec<f64>, Vec<Complex64>)>> {
        if n <= QUICK {
            return eigen_hermitian(h, n).map(Some);
        }
        let (watch, restarts, last_residuals) =
            (&mut self.watch, self.report.restarts, &self.last_residuals);
        let found =
            eigen_hermitian_while(h, n, &mut || watch.after(restarts, last_residuals).is_none())?;
        self.report.stopped |= found.is_none();
        Ok(found)
    }

    /// Ritz values of p(A) in decreasing order, their vectors as columns of an n x n matrix, and their residuals. If
    /// the remaining time is too short for the whole matrix, only the first vectors of the basis are used, and `have`
    /// is reduced to their number.
    fn project(&mut self) -> Result<(Vec<f64>, Vec<Complex64>, Vec<f64>)> {
        loop {
            let n = self.have;
            let h: Vec<Complex64> = (0..n * n).map(|k| self.h[k / n * self.rows + k % n]).collect();
            if let Some((values, u)) = self.dense(&h, n)? {
                return Ok(self.sorted(values, &u));
            }
            self.have = QUICK.min(self.have);
        }
    }

    /// The result of `project`, made from eigenvalues `values` of H in increasing order and its eigenvectors `u`.
    fn sorted(&self, values: Vec<f64>, u: &[Complex64]) -> (Vec<f64>, Vec<Complex64>, Vec<f64>) {
        let (n, b) = (self.have, self.block);
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
        (values.into_iter().rev().collect(), s, residuals)
    }

    /// Restarts the basis with the first `keep` Ritz vectors, whose values and coefficients `project` returned,
    /// followed by the next block.
    fn restart(&mut self, values: &[f64], s: &[Complex64], keep: usize) -> Result<()> {
        let n = self.have;
        let mut c = vec![Complex64::ZERO; n * keep];
        for i in 0..n {
            c[i * keep..(i + 1) * keep].copy_from_slice(&s[i * n..i * n + keep]);
        }
        let (at, end) = (self.locked, self.end());
        self.v.rotate(at..end, &c)?;
        let next = self.v.get(end, self.block)?;
        self.v.put(at + keep, &next, 0, self.block)?;
        self.h.fill(Complex64::ZERO);
        for k in 0..keep {
            self.h[k * self.rows + k] = values[k].into();
        }
        self.have = keep;
        Ok(())
    }

    /// Rayleigh quotients of A for the vectors `which`, and the norms of their residuals. The vectors are not changed.
    fn ritz(&mut self, which: Range<usize>) -> Result<(Vec<f64>, Vec<f64>)> {
        let shape = self.op.shape();
        let (mut values, mut residuals) = (vec![], vec![]);
        for (first, n) in portions(which, self.block) {
            let (x, mut y) = (self.v.get(first, n)?, shape.field(n)?);
            self.op.apply(&mut y, &x)?;
            self.watch.continues(n)?;
            self.report.applications += n as u64;
            let (xy, x2) = blas::dot_norm(&x, &y)?;
            let quotient: Vec<f64> = xy.iter().zip(&x2).map(|(z, n)| z.re / n).collect();
            let minus: Vec<f64> = quotient.iter().map(|l| -l).collect();
            let r2 = blas::axpy_norm(&blas::complex(&minus), &x, &mut y)?;
            residuals.extend(r2.iter().zip(&x2).map(|(r, n)| (r / n).sqrt()));
            values.extend(quotient);
        }
        Ok((values, residuals))
    }

    /// Indices of `values`, ordered from the wanted end of the spectrum inwards.
    fn sorted_inwards(&self, values: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| match self.params.end {
            End::Smallest => values[i].total_cmp(&values[j]),
            End::Largest => values[j].total_cmp(&values[i]),
        });
        order
    }

    /// Largest modulus of an eigenvalue of A, as far as the spectrum is known.
    fn scale(&self) -> f64 {
        self.report.least.abs().max(self.report.largest.abs())
    }

    /// Estimates both ends of the spectrum of A by a short Lanczos run without a polynomial, which overwrites the
    /// vectors from number `at` on.
    fn probe_at(&mut self, at: usize) -> Result<()> {
        let p = std::mem::replace(&mut self.p, Polynomial::plain(End::Largest));
        let keep = std::mem::replace(&mut self.locked, at);
        let steps = PROBE.min(self.rows.saturating_sub(at)).max(self.block);
        self.begin(false)?;
        while self.have + self.block <= steps && self.end() + self.block <= self.rows {
            if !self.step()? || self.watch.out_of_time() {
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

    /// Diagonalises A completely, in a random basis of the whole space.
    fn diagonalise_completely(mut self) -> Result<(VectorSet, EigenReport)> {
        let n = self.rows;
        for first in (0..n).step_by(FILLED) {
            self.randomise(first..n.min(first + FILLED))?;
        }
        self.locked = n;
        self.report.verified = true;
        self.finish()
    }

    fn run(mut self) -> Result<(VectorSet, EigenReport)> {
        if self.scale() == 0.0 {
            self.probe_at(0)?;
            self.begin(false)?;
        }
        let (b, count) = (self.block, self.params.count);
        let adaptations = self.op.shape().device.falling(1.0, 0).limit(ADAPTATIONS);
        let mut adapting = if self.params.filter == Filter::Auto { adaptations } else { 0 };
        self.p = self.first_polynomial();
        // Known eigenvalues as `inward` gives them, in ascending order: from the wanted end of the spectrum inwards.
        let mut known: Vec<f64> =
            self.ritz(0..self.locked)?.0.into_iter().map(|v| self.inward(v)).collect();
        known.sort_by(f64::total_cmp);
        if self.locked >= count {
            // All wanted vectors were among those passed in.
            if !self.params.verify {
                return self.finish();
            }
            adapting = 0;
            self.p = self.filter(self.beyond(self.inward(known[count - 1])));
        }
        while self.report.restarts < self.watch.limit(self.params.max_restarts) {
            let edge = known.get(count - 1).copied();
            if let Some(value) = edge.map(|e| self.inward(e)).filter(|e| !self.p.is_outside(*e)) {
                self.p = self.filter(self.beyond(value));
                self.begin_again()?;
            }
            let (mut late, mut decided) = (false, false);
            let mut next_test = (2 * self.have).max(FIRST_TEST);
            while self.end() + b <= self.rows && !late && !decided {
                late = !self.step()? || self.watch.out_of_time() || self.call_monitor();
                if self.have >= next_test {
                    decided = self.is_decided(edge)?;
                    late |= self.report.stopped;
                    next_test = self.have + self.have / 2;
                }
            }
            self.report.restarts += 1;
            let (values, s, errors) = self.project()?;
            late |= self.report.stopped;
            let wanted = match edge {
                None => count.saturating_sub(self.locked).max(1),
                Some(_) => values.iter().filter(|&&p| p > self.bar(edge)).count().max(1),
            };
            if late {
                // Ends the search with the wanted vectors that have been found so far.
                self.report.stopped = true;
                self.restart(&values, &s, wanted.min(self.have))?;
                break;
            }
            if adapting > 0 && self.locked < count && !decided {
                if let Some(p) = self.adapt(&values, wanted) {
                    // The iteration starts anew from the sum of the wanted Ritz vectors, with the new polynomial.
                    adapting -= 1;
                    let n = self.have;
                    let known = (0..wanted.min(n)).filter(|&k| values[k] > 0.0).count().max(1);
                    let c: Vec<Complex64> =
                        (0..n).map(|i| s[i * n..i * n + known].iter().sum()).collect();
                    let (at, end) = (self.locked, self.end());
                    self.v.rotate(at..end, &c)?;
                    self.p = p;
                    self.begin(true)?;
                    // The residuals of the new basis are not known yet: the monitor is given 1.
                    if self.report_residuals(&[self.scale()])? {
                        break;
                    }
                    continue;
                }
                adapting = 0;
            }
            let spare = self.have - wanted.min(self.have);
            let max = self.have.saturating_sub(b).max(1);
            let keep = (wanted + (spare / 3).max(b)).min(max);
            self.restart(&values, &s, keep)?;
            let (found, residuals) = self.ritz(self.locked..self.locked + wanted.min(keep))?;
            if let Some(p) = self.extended(&found, &residuals) {
                self.p = p;
                self.begin(false)?;
                if self.report_residuals(&residuals)? {
                    break;
                }
                continue;
            }
            // Locks vectors that have converged and whose eigenvalues are further out than the last known one.
            let limit = self.tol * self.scale();
            let within = edge.map_or(f64::INFINITY, |edge| edge - limit);
            let good =
                |v: f64, r: f64| r <= limit && self.p.is_outside(v) && self.inward(v) < within;
            let done = found.iter().zip(&residuals).take_while(|(v, r)| good(**v, **r)).count();
            self.lock(done);
            self.found |= done > 0;
            known.extend(found[..done].iter().map(|v| self.inward(*v)));
            known.sort_by(f64::total_cmp);
            if edge.is_none() && self.locked >= count {
                // The first run has found all wanted vectors. Further runs verify them.
                if !self.params.verify {
                    break;
                }
                self.begin_again()?;
            } else {
                // Checks that no wanted eigenvalue lies further out than the first Ritz value that was not locked. If
                // the interval of p is too wide, more of the spectrum than needed lies outside of it, which does no
                // harm.
                let edge = known.get(count - 1).copied();
                let below = match edge {
                    Some(_) => {
                        values.len() <= done || self.is_below(values[done], errors[done], edge)
                    }
                    None => values.get(done).is_none_or(|&p| p < self.bar(None)),
                };
                let converged = edge.is_some_and(|edge| {
                    let next = found.iter().zip(&residuals).nth(done);
                    let strict = limit.min(OUTERMOST_RESIDUAL * self.scale());
                    next.is_some_and(|(v, r)| *r <= strict && self.inward(*v) >= edge - limit)
                });
                if below || converged {
                    let nothing = self.random_start && !self.found;
                    if nothing && edge.is_some() {
                        self.report.verified = true;
                        break;
                    }
                    if nothing {
                        self.p = self.filter(self.beyond(self.p.cut()));
                    }
                    self.begin_again()?;
                }
            }
            if self.report_residuals(&residuals)? {
                break;
            }
        }
        self.finish()
    }

    /// Whether no eigenvalue lies beyond the edge, judged from the outermost Ritz value of p(A) and its error. If an
    /// eigenvalue lies beyond the edge and the Ritz vector has a component c along its eigenvector, the error is at
    /// least |c| times the distance from the value to the edge. In a random start c is about 1 / sqrt(dimension) and
    /// grows from then on; the probability that |c| began below `share` is about share^2 times the dimension.
    fn is_below(&self, value: f64, error: f64, edge: Option<f64>) -> bool {
        let distance = self.bar(edge) - value;
        let share = share_of_random(self.op.shape().numbers() as usize);
        // Rounding errors of p(A) are proportional to the largest |lambda| without a polynomial, else to the degree, as
        // the values of p are at most about 1.
        let size = if self.p.degree == 1 { self.scale() } else { self.p.degree as f64 };
        let noise = self.cheap.shape().precision.epsilon() * size;
        distance > noise && error <= share * distance
    }

    /// Whether the basis is large enough: the wanted vectors have converged, or no eigenvalue lies beyond the edge, or,
    /// without an edge, outside of the interval of p.
    fn is_decided(&mut self, edge: Option<f64>) -> Result<bool> {
        let (values, _, errors) = self.project()?;
        let wanted = match edge {
            None => self.params.count.saturating_sub(self.locked).max(1),
            Some(_) => 1,
        };
        let nothing = match edge {
            Some(_) => self.is_below(values[0], errors[0], edge),
            // If no eigenvalue seems to lie outside of the interval, another polynomial is better than a larger basis.
            None => values[0] < self.p.edge(),
        };
        // The residual for A is at most that for p(A) divided by p times the length of the spectrum, as p is small
        // inside of the interval.
        let good = |k: usize| match self.p.degree {
            1 => errors[k] <= 0.5 * self.tol * self.scale(),
            _ => values[k] > self.p.edge() && errors[k] <= 0.5 * self.tol * values[k],
        };
        let converged = self.have >= wanted + self.block && (0..wanted).all(good);
        Ok(nothing || converged)
    }

    /// Begins a run with random vectors. If little memory is left for its basis, locked vectors beyond the wanted
    /// number are dropped first.
    fn begin_again(&mut self) -> Result<()> {
        let count = self.params.count;
        let enough = (self.rows.saturating_sub(count) / 2).max(2 * self.block);
        if self.locked > count && self.rows - self.locked < enough {
            self.diagonalise(self.locked)?;
            self.locked = count;
        }
        self.begin(false)
    }

    /// Adds the first `done` vectors of the basis, in which H is diagonal, to the locked vectors.
    fn lock(&mut self, done: usize) {
        if done == 0 {
            return;
        }
        let left = self.have - done;
        for i in 0..left {
            for j in 0..left {
                self.h[i * self.rows + j] = self.h[(i + done) * self.rows + j + done];
            }
        }
        self.locked += done;
        self.have = left;
    }

    /// Passes residuals to the monitor, divided by the largest |lambda|; returns true if the search has to stop.
    fn report_residuals(&mut self, residuals: &[f64]) -> Result<bool> {
        self.last_residuals = residuals.iter().map(|r| r / self.scale()).collect();
        self.report.stopped |=
            self.watch.after(self.report.restarts, &self.last_residuals).is_some();
        Ok(self.report.stopped)
    }

    /// Calls the monitor after a block with the residuals that it was last given; returns true if the search has to
    /// stop.
    fn call_monitor(&mut self) -> bool {
        self.watch.after(self.report.restarts, &self.last_residuals).is_some()
    }

    /// Rotates the first n vectors into Ritz vectors of A, ordered from the wanted end of the spectrum inwards; returns
    /// their Ritz values. If there is not enough time for this, the vectors are not changed, and the values are their
    /// Rayleigh quotients.
    fn diagonalise(&mut self, n: usize) -> Result<Vec<f64>> {
        let shape = self.op.shape();
        let mut h = vec![Complex64::ZERO; n * n];
        for (first, m) in portions(0..n, self.block) {
            let (x, mut y) = (self.v.get(first, m)?, shape.field(m)?);
            self.op.apply(&mut y, &x)?;
            self.watch.continues(m)?;
            self.report.applications += m as u64;
            let c = self.v.dots(0..n, &y, 0..m)?;
            for i in 0..n {
                h[i * n + first..i * n + first + m].copy_from_slice(&c[i * m..(i + 1) * m]);
            }
        }
        let Some((values, u)) = self.dense(&h, n)? else {
            return Ok((0..n).map(|k| h[k * n + k].re).collect());
        };
        let order = self.sorted_inwards(&values);
        let mut c = vec![Complex64::ZERO; n * n];
        for i in 0..n {
            for (to, &from) in order.iter().enumerate() {
                c[i * n + to] = u[i * n + from];
            }
        }
        self.v.rotate(0..n, &c)?;
        Ok(order.into_iter().map(|k| values[k]).collect())
    }

    /// Diagonalises A once more in the span of the vectors found; returns them, ordered from the wanted end inwards,
    /// with the report. After a search that was stopped the vectors are only put in order, which takes less time: their
    /// values are Rayleigh quotients.
    fn finish(mut self) -> Result<(VectorSet, EigenReport)> {
        let count = self.params.count;
        // Ritz vectors of p(A) come first among the vectors that are not locked, wanted ones before others.
        let n = self.locked.max(count.min(self.end()).max(1)).min(self.v.count());
        let m = count.min(n);
        let stopped = self.report.stopped && self.scale() > 0.0;
        let all = if stopped { vec![] } else { self.diagonalise(n)? };
        if self.scale() == 0.0 {
            // The spectrum has not been probed, since the vectors span the whole space: `all` holds every eigenvalue.
            self.report.least = all.iter().copied().fold(f64::INFINITY, f64::min);
            self.report.largest = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        }
        let (mut values, mut residuals) = self.ritz(0..if stopped { n } else { m })?;
        if stopped {
            let order = self.sorted_inwards(&values);
            self.v.arrange(&order)?;
            values = order[..m].iter().map(|&k| values[k]).collect();
            residuals = order[..m].iter().map(|&k| residuals[k]).collect();
        }
        let limit = (self.tol * self.scale()).max(1e-300);
        residuals.iter_mut().for_each(|r| *r = self.watch.reached(*r, limit));
        self.report.verified = self.params.verify && self.watch.met(self.report.verified);
        self.report.converged = m == count
            && residuals.iter().all(|&r| r <= limit)
            && (self.report.verified || !self.params.verify);
        self.report.bounds = error_bounds(&values, &residuals);
        (self.report.values, self.report.residuals) = (values, residuals);
        self.report.count = m;
        (self.report.degree, self.report.from, self.report.to) =
            (self.p.degree, self.p.from, self.p.to);
        self.report.seconds = self.watch.seconds();
        self.report.ended_by(&self.watch);
        Ok((self.v.cut(m, self.by_host)?, self.report))
    }
}
