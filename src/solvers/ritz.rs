//! The lowest eigenvectors of a hermitian operator A by minimising the Ritz functional
//! mu(z) = <z, A z> / <z, z> with conjugate gradients, each vector orthogonal to those before it, and
//! diagonalising A in their span in between (Kalkreuter and Simma, hep-lat/9507023; Walk, section 2.8).

use num_complex::Complex64;

use super::dense::{eigen_hermitian, orthonormaliser};
use super::lanczos::{error_bounds, MOST_RESTARTS};
use super::stop::{Stop, Watch};
use super::{EigenReport, End, Monitor};
use crate::bail;
use crate::error::{within, Result};
use crate::fields::{basis, blas, Noise, Precision, VectorField};
use crate::linop::LinOp;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct RitzParams {
    pub end: End,
    /// Eigenvectors wanted.
    pub count: usize,
    /// Largest gradient |A z - mu z| of a unit vector.
    pub tol: f64,
    /// Factor by which a gradient falls before the span is diagonalised again.
    pub fall: f64,
    /// Iterations of one vector between diagonalisations, and diagonalisations, at most.
    pub max_steps: usize,
    pub max_cycles: usize,
    /// Of random start vectors.
    pub seed: u64,
    /// Seconds that a search may take, asked after every step of the minimisation; infinite: as many as it
    /// needs. With many ranks all of them stop after the same step.
    pub max_seconds: f64,
}

impl Default for RitzParams {
    fn default() -> Self {
        RitzParams {
            end: End::Smallest,
            count: 1,
            tol: 1e-8,
            fall: 0.1,
            max_steps: 500,
            max_cycles: 100,
            seed: 1,
            max_seconds: f64::INFINITY,
        }
    }
}

/// Iterations after which A z is computed anew.
const RENEWAL: usize = 50;

/// Minimises for all vectors asked for; `guess` holds start vectors, as many as there are. Values are
/// those of A, from the end inwards, residuals gradients: an eigenvalue lies within each.
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
    let mut watch = Watch::new(Stop::within(params.max_seconds)?, shape.geometry.comm(), monitor);
    if !op.hermitian() || shape.precision == Precision::F16 {
        bail!(Unsupported, "ritz: expected a hermitian operator in double or single precision");
    }
    let n = params.count;
    if n == 0 || n > shape.numbers() as usize || params.tol <= 0.0 || params.tol.is_nan() {
        bail!(BadParameter, "ritz: {n} vectors to a gradient of {}", params.tol);
    }
    within("max_cycles", params.max_cycles, 1, MOST_RESTARTS)?;
    within("max_steps", params.max_steps, 1, MOST_RESTARTS)?;
    let mut v = shape.field(n)?;
    v.set_noise(Noise::Normal, params.seed, 0)?;
    if let Some(guess) = guess {
        op.shape().check(guess, "guess")?;
        v.copy_rhs(0, guess, 0, guess.nrhs().min(n))?;
    }
    orthonormalise(&mut v)?;
    let sign = if params.end == End::Smallest { 1.0 } else { -1.0 };
    let mut state = Minimiser { op, sign, applications: 0 };
    let mut report = EigenReport::default();
    let mut gradients = vec![f64::INFINITY; n];
    while report.restarts < params.max_cycles {
        for k in 0..n {
            if gradients[k] > params.tol && !watch.late() {
                state.minimise(&mut v, k, params, &mut watch)?;
            }
        }
        report.restarts += 1;
        orthonormalise(&mut v)?;
        let (values, residuals) = state.diagonalise(&mut v)?;
        (report.values, report.residuals) = (values, residuals);
        gradients.copy_from_slice(&report.residuals);
        report.converged = gradients.iter().all(|&g| g <= params.tol);
        report.stopped = watch.after(report.restarts, &gradients).is_some();
        if report.converged || report.stopped {
            break;
        }
    }
    report.bounds = error_bounds(&report.values, &report.residuals);
    let ends = report.values.iter();
    report.least = ends.clone().fold(f64::INFINITY, |m, &x| m.min(x));
    report.largest = ends.fold(f64::NEG_INFINITY, |m, &x| m.max(x));
    report.applications = state.applications;
    report.degree = 1;
    report.seconds = watch.seconds();
    report.ended_by(&watch);
    Ok((v, report))
}

fn orthonormalise(v: &mut VectorField) -> Result<()> {
    let n = v.nrhs();
    for _ in 0..2 {
        let g = basis::dots(v, 0..n, v, 0..n)?;
        let (t, _, rank) = orthonormaliser(&g, n)?;
        if rank < n {
            bail!(SolverBreakdown, "ritz: the vectors depend on one another");
        }
        basis::rotate(v, 0..n, &t)?;
    }
    Ok(())
}

struct Minimiser<'a> {
    op: &'a dyn LinOp,
    /// -1 where the largest values are sought: then mu is minimised for -A.
    sign: f64,
    applications: usize,
}

impl Minimiser<'_> {
    fn apply(&mut self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.applications += inp.nrhs();
        self.op.apply(out, inp)?;
        if self.sign < 0.0 {
            let n = inp.nrhs();
            blas::axpby(&blas::uniform(n, 0.0), inp, &blas::uniform(n, -1.0), out)?;
        }
        Ok(())
    }

    /// Takes out of x what lies along the first k vectors.
    fn project(&self, v: &VectorField, k: usize, x: &mut VectorField) -> Result<()> {
        let c: Vec<Complex64> = basis::dots(v, 0..k, x, 0..1)?.iter().map(|z| -z).collect();
        basis::combine(v, 0..k, &c, 1.0, x, 0..1)
    }

    /// Conjugate gradients for vector k in the space orthogonal to those before it.
    fn minimise(
        &mut self,
        v: &mut VectorField,
        k: usize,
        params: &RitzParams,
        watch: &mut Watch,
    ) -> Result<()> {
        let shape = self.op.shape();
        let one = |z: Complex64| [z];
        let real = |a: f64| [Complex64::new(a, 0.0)];
        let (mut x, mut ax) = (shape.field(1)?, shape.field(1)?);
        let (mut p, mut ap, mut g) = (shape.field(1)?, shape.field(1)?, shape.field(1)?);
        x.copy_rhs(0, v, k, 1)?;
        let mut first = 0.0;
        let mut g2 = 0.0;
        let mut mu = 0.0;
        for step in 0..params.max_steps {
            if step % RENEWAL == 0 {
                self.project(v, k, &mut x)?;
                let norm = blas::norm2(&x)?[0].sqrt();
                blas::axpby(&real(0.0), &ax, &real(1.0 / norm), &mut x)?;
                self.apply(&mut ax, &x)?;
                mu = blas::dot(&x, &ax)?[0].re;
                self.gradient(v, k, mu, &x, &ax, &mut g)?;
                g2 = blas::norm2(&g)?[0];
                blas::copy(&mut p, &g)?;
                if step == 0 {
                    first = g2;
                }
            }
            if g2.is_nan() || mu.is_nan() {
                bail!(SolverBreakdown, "ritz: the operator produces NaN or infinity");
            }
            if g2.sqrt() <= 0.5 * params.tol || g2.sqrt() <= params.fall * first.sqrt() {
                break;
            }
            self.apply(&mut ap, &p)?;
            let (pap, p2) = blas::dot_norm(&p, &ap)?;
            let length = p2[0].sqrt();
            let b = blas::dot(&x, &ap)?[0] / length;
            let c = pap[0].re / p2[0];
            // The lowest eigenvector of ((mu, b), (b*, c)) is (u, w).
            let lowest = 0.5 * (mu + c) - (0.25 * (mu - c).powi(2) + b.norm_sqr()).sqrt();
            let t = (lowest - mu) / b;
            if !t.is_finite() || b.norm() == 0.0 {
                break;
            }
            let u = 1.0 / (1.0 + t.norm_sqr()).sqrt();
            let w = t * (u / length);
            blas::axpby(&one(w), &p, &real(u), &mut x)?;
            blas::axpby(&one(w), &ap, &real(u), &mut ax)?;
            mu = lowest;
            self.gradient(v, k, mu, &x, &ax, &mut g)?;
            let next = blas::norm2(&g)?[0];
            let along = blas::dot(&x, &p)?[0];
            let beta = u * next / g2;
            // p = g + beta (p - x <x, p>)
            blas::axpbypcz(&real(1.0), &g, &one(-beta * along), &x, &real(beta), &mut p)?;
            g2 = next;
            if watch.late() {
                break;
            }
        }
        v.copy_rhs(k, &x, 0, 1)
    }

    /// g = A x - mu x without what lies along the first k vectors.
    fn gradient(
        &self,
        v: &VectorField,
        k: usize,
        mu: f64,
        x: &VectorField,
        ax: &VectorField,
        g: &mut VectorField,
    ) -> Result<()> {
        blas::copy(g, ax)?;
        blas::axpy(&blas::uniform(1, -mu), x, g)?;
        self.project(v, k, g)
    }

    /// Ritz vectors of the span, which become v, their values for A and gradients.
    fn diagonalise(&mut self, v: &mut VectorField) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = v.nrhs();
        let mut av = v.like(v.precision())?;
        self.apply(&mut av, v)?;
        let h = basis::dots(v, 0..n, &av, 0..n)?;
        let (values, u) = eigen_hermitian(&h, n)?;
        basis::rotate(v, 0..n, &u)?;
        basis::rotate(&mut av, 0..n, &u)?;
        let minus: Vec<f64> = values.iter().map(|l| -l).collect();
        let r2 = blas::axpy_norm(&blas::complex(&minus), v, &mut av)?;
        let values = values.iter().map(|l| self.sign * l).collect();
        Ok((values, r2.iter().map(|r| r.sqrt()).collect()))
    }
}
