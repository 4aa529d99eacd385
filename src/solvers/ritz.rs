//! Eigenvectors at one end of the spectrum of a hermitian operator A by minimising the Ritz functional mu(z) = <z, A
//! z> / <z, z> (Kalkreuter and Simma, hep-lat/9507023; Walk, section 2.8) with locally optimal conjugate gradients
//! for all vectors together: each step finds the minimum in the span of the vectors x, their gradients g = A x - mu x
//! and the directions p of the previous step, by diagonalising A in their span (Knyazev, SIAM J. Sci. Comput. 23,
//! 517; the basis of the span is orthonormal as in Hetmaniuk and Lehoucq, J. Comput. Phys. 218, 324).

use std::ops::Range;

use num_complex::Complex64;

use super::block::{orthonormalise, portions, share_of_random};
use super::dense::{eigen_hermitian, eigen_hermitian_while, orthonormaliser};
use super::eigen_params::{error_bounds, EigenSettings, MAX_RESTARTS};
use super::stop::{Stop, Watch};
use super::{eigen, EigenParams, EigenReport, End, Monitor};
use crate::bail;
use crate::error::{within, Result};
use crate::fields::{basis, blas, Noise, Precision, VectorField};
use crate::linop::LinOp;
use crate::refuse;

/// Parameters of a search for eigenvectors by minimisation of the Ritz functional.
#[derive(Clone, Debug, PartialEq)]
pub struct RitzParams {
    pub end: End,
    /// Number of eigenvectors wanted.
    pub count: usize,
    /// Largest gradient |A z - mu z| of a unit vector z at which it has converged.
    pub tol: f64,
    /// Largest number of cycles of at most 50 steps, after each of which products with A are recomputed.
    pub max_cycles: usize,
    /// Whether the results are verified by a search from a random vector orthogonal to them for one that was missed.
    pub verify: bool,
    /// Seed of the random vectors with which the search starts.
    pub seed: u64,
    /// Largest number of seconds of a search, checked after every step of the minimisation; infinite: no limit. All
    /// ranks stop after the same step.
    pub max_seconds: f64,
}

impl EigenSettings {
    /// The parameters of the minimisation, with an absolute tolerance.
    pub fn ritz(&self, tol: f64, max_seconds: f64) -> RitzParams {
        let EigenSettings { end, count, max_restarts: max_cycles, verify, seed, .. } = *self;
        RitzParams { end, count, tol, max_cycles, verify, seed, max_seconds }
    }
}

impl Default for RitzParams {
    fn default() -> Self {
        RitzParams {
            end: End::Smallest,
            count: 1,
            tol: 1e-8,
            max_cycles: 100,
            verify: true,
            seed: 1,
            max_seconds: f64::INFINITY,
        }
    }
}

/// Number of steps of a cycle.
const CYCLE: usize = 50;

/// Finds eigenvectors by minimising the Ritz functional (Kalkreuter, Simma, hep-lat/9507023; Knyazev, SIAM J. Sci.
/// Comput. 23, 517). `guess` holds vectors with which the search starts; random ones are added if they are too few.
/// Values are those of A, ordered from the end of the spectrum inwards; residuals are gradients, and an eigenvalue
/// lies within this distance of each value. If the vectors of a step are a large part of the space, A is diagonalised
/// completely, as by [`eigen`].
///
/// # Errors
/// `BadParameter`; `Unsupported`: A is not hermitian, or has 16-bit vectors; `FieldMismatch`;
/// `SolverBreakdown`.
pub fn ritz(
    op: &dyn LinOp,
    params: &RitzParams,
    guess: Option<&VectorField>,
    monitor: &mut Monitor,
) -> Result<(VectorField, EigenReport)> {
    let shape = op.shape();
    let (n, dimension) = (params.count, shape.numbers() as usize);
    if !op.hermitian() || shape.precision == Precision::F16 {
        refuse!(
            Unsupported,
            "ritz",
            expected("a hermitian operator in double or single precision")
        );
    }
    if n == 0 || n > dimension || params.tol <= 0.0 || params.tol.is_nan() {
        bail!(BadParameter, "ritz: {n} vectors to a gradient of {}", params.tol);
    }
    within("max_cycles", params.max_cycles, 1, MAX_RESTARTS)?;
    if 8 * (n + guards(n)) > dimension {
        let whole = EigenParams {
            end: params.end,
            count: n,
            max_vectors: dimension,
            verify: params.verify,
            seed: params.seed,
            max_seconds: params.max_seconds,
            ..Default::default()
        };
        let (v, mut report) = eigen(op, None, &whole, guess, monitor)?;
        let complete = report.verified || !params.verify;
        report.converged = complete && report.residuals.iter().all(|&r| r <= params.tol);
        return Ok((v, report));
    }
    if let Some(guess) = guess {
        shape.check(guess, "guess")?;
    }
    let (stop, comm) = (Stop::within(params.max_seconds)?, shape.geometry.comm());
    let mut watch = Watch::with(stop, stop.fall(), 3, &shape.device, comm, monitor);
    let _kept = shape.device.keep_memory();
    let mut search = Search { op, params, applications: 0, cycles: 0, random: 0, stopped: false };
    let mut start = shape.field(n + guards(n))?;
    search.noise(&mut start, 0)?;
    if let Some(guess) = guess {
        start.copy_rhs(0, guess, 0, guess.nrhs().min(n))?;
    }
    let mut report = EigenReport::default();
    let (mut v, mut values, mut gradients);
    loop {
        let space = search.minimise(None, &start, n, None, &mut watch)?;
        (v, values, gradients) = (space.first(n)?, space.values, space.gradients);
        values.truncate(n);
        gradients.truncate(n);
        gradients.iter_mut().for_each(|g| *g = watch.reached(*g, params.tol));
        report.converged = gradients.iter().all(|&g| g <= params.tol);
        if !report.converged || !params.verify || search.stopped {
            break;
        }
        // The start is a random vector alone: known eigenvectors say nothing about missing ones.
        let mut other = shape.field(1)?;
        search.noise(&mut other, 0)?;
        let edge = values[n - 1];
        let next = search.minimise(Some(&v), &other, 1, Some(edge), &mut watch)?;
        report.verified = watch.met(
            search.is_beyond(&next, edge)
                || (next.gradients[0] <= params.tol && next.values[0] >= edge - params.tol),
        );
        report.converged = report.verified;
        if report.verified || search.stopped || next.gradients[0] > params.tol {
            break;
        }
        start.copy_rhs(0, &next.first(1)?, 0, 1)?;
        start.copy_rhs(1, &v, 0, n.min(start.nrhs() - 1))?;
    }
    let sign = search.sign();
    report.values = values.iter().map(|l| sign * l).collect();
    report.bounds = error_bounds(&report.values, &gradients);
    report.residuals = gradients;
    let ends = report.values.iter();
    report.least = ends.clone().fold(f64::INFINITY, |m, &x| m.min(x));
    report.largest = ends.fold(f64::NEG_INFINITY, |m, &x| m.max(x));
    (report.applications, report.restarts) = (search.applications as u64, search.cycles);
    report.count = report.values.len();
    (report.degree, report.stopped) = (1, search.stopped);
    report.seconds = watch.seconds();
    report.ended_by(&watch);
    Ok((v, report))
}

/// Number of vectors that are minimised besides n wanted ones. Without them the last wanted ones would converge slowly,
/// at a rate that the gap to the next eigenvalue sets.
fn guards(n: usize) -> usize {
    n / 4
}

struct Search<'a> {
    op: &'a dyn LinOp,
    params: &'a RitzParams,
    applications: usize,
    cycles: usize,
    random: u32,
    stopped: bool,
}

/// The orthonormal vectors of a step: x, directions p and gradients, preceded by the fixed vectors to which these are
/// orthogonal.
struct Space {
    vectors: VectorField,
    /// Products of A with the vectors, without the first `fixed`.
    images: VectorField,
    /// The gradients A x - mu x of all x.
    gradient: VectorField,
    fixed: usize,
    /// Number of vectors x.
    x: usize,
    /// Number of search directions p.
    p: usize,
    /// Ritz values of all x, ordered from the end of the spectrum inwards; those of -A if the largest eigenvalues are
    /// wanted.
    values: Vec<f64>,
    gradients: Vec<f64>,
}

impl Space {
    /// The first n of the vectors x.
    fn first(&self, n: usize) -> Result<VectorField> {
        let mut v = self.vectors.like_with(self.vectors.precision(), n)?;
        v.copy_rhs(0, &self.vectors, self.fixed, n)?;
        Ok(v)
    }
}

impl Search<'_> {
    /// -1 if the largest eigenvalues are wanted, since mu is then minimised for -A; else 1.
    fn sign(&self) -> f64 {
        if self.params.end == End::Smallest {
            1.0
        } else {
            -1.0
        }
    }

    /// The matrix of A, or of -A if the largest eigenvalues are wanted.
    fn signed(&self, mut h: Vec<Complex64>) -> Vec<Complex64> {
        h.iter_mut().for_each(|z| *z *= self.sign());
        h
    }

    /// Whether no eigenvalue lies below the edge. As in a search by [`eigen`], a component along such an eigenvector
    /// in the start vector would be visible in the gradient.
    fn is_beyond(&self, space: &Space, edge: f64) -> bool {
        let share = share_of_random(self.op.shape().numbers() as usize);
        space.values[0] > edge && space.gradients[0] <= share * (space.values[0] - edge)
    }

    /// Replaces the vectors from number `from` on by random ones.
    fn noise(&mut self, v: &mut VectorField, from: usize) -> Result<()> {
        let mut x = v.like_with(v.precision(), v.nrhs() - from)?;
        x.set_noise(Noise::Normal, self.params.seed, self.random)?;
        self.random += x.nrhs() as u32;
        v.copy_rhs(from, &x, 0, x.nrhs())
    }

    /// Multiplies the vectors `which` by A, where vector 0 is the first one after the fixed ones.
    fn multiply(
        &mut self,
        space: &mut Space,
        which: Range<usize>,
        watch: &mut Watch,
    ) -> Result<()> {
        let shape = self.op.shape();
        for (first, n) in portions(which, 1) {
            // If the search is about to end, only the products of A with x are still needed.
            if self.stopped && first >= space.x {
                break;
            }
            let (mut x, mut y) = (shape.field(n)?, shape.field(n)?);
            x.copy_rhs(0, &space.vectors, space.fixed + first, n)?;
            self.op.apply(&mut y, &x)?;
            self.stopped |= !watch.continues(n)?;
            space.images.copy_rhs(first, &y, 0, n)?;
            self.applications += n;
        }
        Ok(())
    }

    /// Minimises for vectors orthogonal to `fixed`, starting with the given ones, until the first `wanted` have
    /// converged or, if there is an `edge`, the first one certainly lies beyond it.
    fn minimise(
        &mut self,
        fixed: Option<&VectorField>,
        start: &VectorField,
        wanted: usize,
        edge: Option<f64>,
        watch: &mut Watch,
    ) -> Result<Space> {
        let shape = self.op.shape();
        let (f, m) = (fixed.map_or(0, VectorField::nrhs), start.nrhs());
        let mut space = Space {
            vectors: shape.field(f + 3 * m)?,
            images: shape.field(3 * m)?,
            gradient: shape.field(m)?,
            fixed: f,
            x: m,
            p: 0,
            values: vec![],
            gradients: vec![f64::INFINITY; m],
        };
        if let Some(fixed) = fixed {
            space.vectors.copy_rhs(0, fixed, 0, f)?;
        }
        space.vectors.copy_rhs(f, start, 0, m)?;
        while self.cycles < watch.limit(self.params.max_cycles) && !self.stopped {
            self.renew(&mut space, watch)?;
            for step in 0..watch.limit(CYCLE) {
                let ended = |s: &Space| {
                    edge.is_some_and(|e| self.is_beyond(s, e))
                        || s.gradients[..wanted].iter().all(|&g| g <= self.params.tol)
                };
                if self.stopped || ended(&space) {
                    if step == 0 {
                        return Ok(space);
                    }
                    // Ends the cycle; the next one begins with products computed anew.
                    break;
                }
                self.step(&mut space, watch)?;
                self.stopped |= watch.after(self.cycles, &space.gradients[..wanted]).is_some();
                if self.stopped {
                    break;
                }
            }
            self.cycles += 1;
            self.stopped |= watch.after(self.cycles, &space.gradients[..wanted]).is_some();
        }
        // Search directions are not needed after the last step.
        space.p = 0;
        self.renew(&mut space, watch)?;
        Ok(space)
    }

    /// Makes the vectors x and p orthonormal again, recomputes their products with A, and diagonalises A in the span
    /// of x.
    fn renew(&mut self, space: &mut Space, watch: &mut Watch) -> Result<()> {
        let (f, m) = (space.fixed, space.x);
        if orthonormalise(&mut space.vectors, f, f..f + m)? < m {
            bail!(SolverBreakdown, "ritz: the vectors depend on one another");
        }
        let p = f + m..f + m + space.p;
        space.p = orthonormalise(&mut space.vectors, p.start, p)?;
        self.multiply(space, 0..m + space.p, watch)?;
        let h = self.signed(basis::dots(&space.vectors, f..f + m, &space.images, 0..m)?);
        let (values, u) = eigen_hermitian(&h, m)?;
        basis::rotate(&mut space.vectors, f..f + m, &u)?;
        basis::rotate(&mut space.images, 0..m, &u)?;
        space.values = values;
        self.gradients(space)
    }

    /// Computes the gradients of all x, and their norms.
    fn gradients(&self, space: &mut Space) -> Result<()> {
        let x = space.first(space.x)?;
        space.gradient.copy_rhs(0, &space.images, 0, space.x)?;
        let minus: Vec<f64> = space.values.iter().map(|l| -self.sign() * l).collect();
        let norms = blas::axpy_norm(&blas::complex(&minus), &x, &mut space.gradient)?;
        space.gradients = norms.iter().map(|n| n.sqrt()).collect();
        if space.gradients.iter().any(|g| !g.is_finite()) {
            bail!(SolverBreakdown, "ritz: the operator produces NaN or infinity");
        }
        Ok(())
    }

    /// Calls the monitor during a step, in which the vectors x are not changed yet; returns true if the search ends.
    fn call_monitor(&mut self, space: &Space, watch: &mut Watch) -> bool {
        self.stopped |= watch.after(self.cycles, &space.gradients[..1]).is_some();
        self.stopped
    }

    /// Finds the minimum in the span of x, p and the gradients of those x that have not converged. With many vectors
    /// this takes seconds, during which a limit or the monitor may end the search; then x are unchanged.
    fn step(&mut self, space: &mut Space, watch: &mut Watch) -> Result<()> {
        let (f, m, p) = (space.fixed, space.x, space.p);
        let active: Vec<usize> =
            (0..m).filter(|&k| space.gradients[k] > 0.5 * self.params.tol).collect();
        let first = f + m + p;
        for (to, &k) in active.iter().enumerate() {
            space.vectors.copy_rhs(first + to, &space.gradient, k, 1)?;
        }
        let added = orthonormalise(&mut space.vectors, first, first..first + active.len())?;
        let all = m + p + added;
        if self.call_monitor(space, watch) {
            return Ok(());
        }
        self.multiply(space, m + p..all, watch)?;
        if self.call_monitor(space, watch) {
            return Ok(());
        }
        let h = self.signed(basis::dots(&space.vectors, f..f + all, &space.images, 0..all)?);
        if self.call_monitor(space, watch) {
            return Ok(());
        }
        let mut continues = || watch.after(self.cycles, &space.gradients[..1]).is_none();
        let Some((values, u)) = eigen_hermitian_while(&h, all, &mut continues)? else {
            self.stopped = true;
            return Ok(());
        };
        // Columns of c are the coefficients of the new x; columns of d those of the components of the new x that are
        // not along the old x, later made orthonormal to c.
        let mut c = vec![Complex64::ZERO; all * m];
        let mut d = vec![Complex64::ZERO; all * active.len()];
        for i in 0..all {
            c[i * m..(i + 1) * m].copy_from_slice(&u[i * all..i * all + m]);
            for (j, &k) in active.iter().enumerate().filter(|_| i >= m) {
                d[i * active.len() + j] = u[i * all + k];
            }
        }
        let d = directions(&c, m, d, active.len())?;
        let p = d.len() / all;
        let both: Vec<Complex64> = (0..all)
            .flat_map(|i| c[i * m..(i + 1) * m].iter().chain(&d[i * p..(i + 1) * p]).copied())
            .collect();
        basis::rotate(&mut space.vectors, f..f + all, &both)?;
        basis::rotate(&mut space.images, 0..all, &both)?;
        (space.p, space.values) = (p, values[..m].to_vec());
        self.gradients(space)
    }
}

/// Makes the columns d orthonormal to the m orthonormal columns c and among themselves; returns the independent ones.
fn directions(
    c: &[Complex64],
    m: usize,
    mut d: Vec<Complex64>,
    k: usize,
) -> Result<Vec<Complex64>> {
    let rows = c.len() / m;
    let product = |a: &[Complex64], n: usize, b: &[Complex64], k: usize| -> Vec<Complex64> {
        let at = |i: usize, j: usize| (0..rows).map(|r| a[r * n + i].conj() * b[r * k + j]).sum();
        (0..n * k).map(|e| at(e / k, e % k)).collect()
    };
    let mut rank = k;
    for _ in 0..2 {
        let along = product(c, m, &d, rank);
        for r in 0..rows {
            for j in 0..rank {
                let sum: Complex64 = (0..m).map(|i| c[r * m + i] * along[i * rank + j]).sum();
                d[r * rank + j] -= sum;
            }
        }
        let (t, _, next) = orthonormaliser(&product(&d, rank, &d, rank), rank)?;
        let turned = |r: usize, j: usize| {
            (0..rank).map(|i| d[r * rank + i] * t[i * next + j]).sum::<Complex64>()
        };
        d = (0..rows)
            .flat_map(|r| (0..next).map(move |j| (r, j)))
            .map(|(r, j)| turned(r, j))
            .collect();
        rank = next;
    }
    Ok(d)
}
