//! The smallest and the largest eigenvalue of P^dagger P, between which a rational approximation has to hold.

use num_complex::Complex64;

use super::DiracSolver;
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, Noise, SpinorField};
use crate::linop::LinOp;
use crate::solvers::dense::top_of_tridiagonal;
use crate::solvers::no_monitor;

/// An estimate of the smallest or the largest eigenvalue of P^dagger P, from inside of the spectrum, with a bound on
/// its distance to an eigenvalue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EigenvalueBound {
    pub value: f64,
    pub distance: f64,
}

/// Relative accuracy to which the smallest eigenvalue is needed.
const NEAR: f64 = 0.02;

/// The largest eigenvalue of op^dagger op by `steps` steps of Lanczos from a random vector.
///
/// # Errors
/// `BadParameter`: no steps; `SolverBreakdown`: the operator gives NaN or infinity.
pub fn largest(op: &dyn LinOp, steps: usize, seed: u64) -> Result<EigenvalueBound> {
    if steps == 0 {
        bail!(BadParameter, "spectrum: Lanczos with 0 steps");
    }
    let shape = op.shape();
    let (mut v, mut w, mut t) = (shape.field(1)?, shape.field(1)?, shape.field(1)?);
    let mut before = shape.field(1)?;
    v.set_noise(Noise::Normal, seed, 0)?;
    let n = blas::norm2(&v)?[0];
    scale(&mut v, &t, 1.0 / n.sqrt())?;
    let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (vec![], vec![]);
    for _ in 0..steps {
        op.apply(&mut t, &v)?;
        op.apply_dagger(&mut w, &t)?;
        if let Some(b) = beside.last() {
            blas::axpy(&[Complex64::new(-b, 0.0)], &before, &mut w)?;
        }
        let a = blas::dot(&v, &w)?[0].re;
        let norm = blas::axpy_norm(&[Complex64::new(-a, 0.0)], &v, &mut w)?[0].sqrt();
        if !(a.is_finite() && norm.is_finite()) {
            bail!(SolverBreakdown, "spectrum: the operator gives NaN or infinity");
        }
        diagonal.push(a);
        beside.push(norm);
        if norm <= 1e-12 * a.abs() {
            break;
        }
        std::mem::swap(&mut before, &mut v);
        std::mem::swap(&mut v, &mut w);
        scale(&mut v, &t, 1.0 / norm)?;
    }
    let (value, weights) = top_of_tridiagonal(&diagonal, &beside)?;
    // |A x - value x| of the Ritz vector is the last off-diagonal times its last component.
    let last = weights[diagonal.len() - 1].abs();
    Ok(EigenvalueBound { value, distance: beside[beside.len() - 1] * last })
}

/// Estimates the smallest eigenvalue of P^dagger P by at most `max` steps of Lanczos on its inverse, from a random
/// vector, until it is known to `NEAR`. Each step is a solve with `solver` (of `Solution::MatPcDagMatPc` or
/// `MatDagMat`). The value is the expectation of P^dagger P itself in the vector that was found, so that no error of a
/// solve brings it below the smallest eigenvalue. The distance comes from the residual for the inverse: the residual
/// for P^dagger P contains errors of the solves along eigenvectors of large eigenvalues, which may exceed a small
/// eigenvalue. Returns also the iterations of all solves.
///
/// # Errors
/// Errors of [`DiracSolver::solve`]; `SolverBreakdown`: NaN or infinity occurred.
pub fn smallest(
    solver: &DiracSolver,
    op: &dyn LinOp,
    max: usize,
    seed: u64,
) -> Result<(EigenvalueBound, usize)> {
    let shape = op.shape();
    let (mut x, mut t) = (shape.field(1)?, shape.field(1)?);
    let mut start = shape.field(1)?;
    start.set_noise(Noise::Normal, seed, 1)?;
    let n = blas::norm2(&start)?[0];
    scale(&mut start, &t, 1.0 / n.sqrt())?;
    let mut basis = vec![start];
    let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (vec![], vec![]);
    let mut iterations = 0;
    let (weights, share) = loop {
        let report = solver.solve(&mut x, &basis[basis.len() - 1], &mut no_monitor)?;
        iterations += report.solver.iterations;
        // Since solves are not exact, the vector is orthogonalised to all previous vectors, not only to two.
        let (mut a, mut norm) = (0.0, 0.0);
        for v in &basis {
            let c = blas::dot(v, &x)?[0];
            (a, norm) = (c.re, blas::axpy_norm(&[-c], v, &mut x)?[0].sqrt());
        }
        if !(a.is_finite() && norm.is_finite()) {
            bail!(SolverBreakdown, "spectrum: the operator gives NaN or infinity");
        }
        diagonal.push(a);
        beside.push(norm);
        let (top, weights) = top_of_tridiagonal(&diagonal, &beside)?;
        let away = norm * weights[weights.len() - 1].abs();
        if away < NEAR * top || basis.len() >= max || norm <= 1e-12 * a.abs() {
            break (weights, away / top);
        }
        let mut next = shape.field(1)?;
        blas::copy(&mut next, &x)?;
        scale(&mut next, &t, 1.0 / norm)?;
        basis.push(next);
    };
    blas::copy(&mut x, &basis[0])?;
    scale(&mut x, &t, weights[0])?;
    for (v, w) in basis.iter().zip(&weights).skip(1) {
        blas::axpy(&[Complex64::new(*w, 0.0)], v, &mut x)?;
    }
    let n = blas::norm2(&x)?[0];
    scale(&mut x, &t, 1.0 / n.sqrt())?;
    op.apply(&mut t, &x)?;
    let value = blas::norm2(&t)?[0];
    // The largest Ritz value of the inverse is 1 / value to the accuracy of the solves.
    let distance = value * share / (1.0 + share);
    if !(value.is_finite() && distance.is_finite()) {
        bail!(SolverBreakdown, "spectrum: the operator gives NaN or infinity");
    }
    Ok((EigenvalueBound { value, distance }, iterations))
}

/// Multiplies x by c; `any` is a finite field of the same shape.
fn scale(x: &mut SpinorField, any: &SpinorField, c: f64) -> Result<()> {
    blas::axpby(&[Complex64::ZERO], any, &[Complex64::new(c, 0.0)], x)
}
