//! The ends of the spectrum of P^dagger P: what a rational approximation has to cover.

use num_complex::Complex64;

use super::DiracSolver;
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, Noise, SpinorField};
use crate::linop::LinOp;
use crate::solvers::unwatched;

/// An estimate of an eigenvalue of P^dagger P and how far an eigenvalue is from it at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub value: f64,
    pub distance: f64,
}

/// The largest eigenvalue of op^dagger op by `steps` steps of Lanczos from a random vector.
///
/// # Errors
/// `BadParameter`: no steps; `SolverBreakdown`: the operator gives what is not finite.
pub fn largest(op: &dyn LinOp, steps: usize, seed: u64) -> Result<Bound> {
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
        let rest = blas::axpy_norm(&[Complex64::new(-a, 0.0)], &v, &mut w)?[0].sqrt();
        if !(a.is_finite() && rest.is_finite()) {
            bail!(SolverBreakdown, "spectrum: the operator gives NaN or infinity");
        }
        diagonal.push(a);
        beside.push(rest);
        if rest <= 1e-12 * a.abs() {
            break;
        }
        std::mem::swap(&mut before, &mut v);
        std::mem::swap(&mut v, &mut w);
        scale(&mut v, &t, 1.0 / rest)?;
    }
    let value = top_of_tridiagonal(&diagonal, &beside);
    // |A x - value x| of the Ritz vector is the last off-diagonal times its last component.
    let last = last_component(&diagonal, &beside, value);
    Ok(Bound { value, distance: beside[beside.len() - 1] * last })
}

/// The smallest eigenvalue of P^dagger P by inverse iteration with `solver` (of
/// `Solution::MatPcDagMatPc` or `MatDagMat`): at most `most` solves, until an eigenvalue is as near as
/// a tenth of the estimate. The vector in `start` is what it begins with, and is left better.
///
/// # Errors
/// As of [`DiracSolver::solve`].
pub fn smallest(
    solver: &DiracSolver,
    op: &dyn LinOp,
    start: &mut SpinorField,
    most: usize,
) -> Result<Bound> {
    let shape = op.shape();
    let (mut x, mut t) = (shape.field(1)?, shape.field(1)?);
    let mut image = shape.field(1)?;
    let mut found = Bound { value: f64::INFINITY, distance: f64::INFINITY };
    let n = blas::norm2(start)?[0];
    scale(start, &t, 1.0 / n.sqrt())?;
    for _ in 0..most.max(1) {
        solver.solve(&mut x, start, &mut unwatched)?;
        let n = blas::norm2(&x)?[0];
        scale(&mut x, &t, 1.0 / n.sqrt())?;
        blas::copy(start, &x)?;
        op.apply(&mut t, start)?;
        op.apply_dagger(&mut image, &t)?;
        let value = blas::dot(start, &image)?[0].re;
        let minus = [Complex64::new(-value, 0.0)];
        let distance = blas::axpy_norm(&minus, start, &mut image)?[0].sqrt();
        if !value.is_finite() {
            bail!(SolverBreakdown, "spectrum: the operator gives NaN or infinity");
        }
        found = Bound { value, distance };
        if distance < 0.1 * value {
            break;
        }
    }
    Ok(found)
}

/// x = c x; `any` is a finite field like x.
fn scale(x: &mut SpinorField, any: &SpinorField, c: f64) -> Result<()> {
    blas::axpby(&[Complex64::ZERO], any, &[Complex64::new(c, 0.0)], x)
}

/// The largest eigenvalue of a symmetric tridiagonal matrix by bisection.
fn top_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let n = diagonal.len();
    let side = |i: usize| if i + 1 < n { beside[i].abs() } else { 0.0 };
    let reach = |i: usize| side(i) + if i > 0 { side(i - 1) } else { 0.0 };
    let mut low = diagonal.iter().fold(f64::NEG_INFINITY, |m, &d| m.max(d));
    let mut high = (0..n).fold(low, |m, i| m.max(diagonal[i] + reach(i)));
    // All pivots of T - x are negative if and only if x is above every eigenvalue.
    let above = |x: f64| {
        let mut pivot = diagonal[0] - x;
        for i in 1..n {
            if pivot >= 0.0 {
                return false;
            }
            pivot = diagonal[i] - x - beside[i - 1] * beside[i - 1] / pivot;
        }
        pivot < 0.0
    };
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if above(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// The last component of the unit eigenvector.
fn last_component(diagonal: &[f64], beside: &[f64], value: f64) -> f64 {
    let n = diagonal.len();
    // From the end: x_(i-1) = ((value - d_i) x_i - b_i x_(i+1)) / b_(i-1), stable as it grows.
    let (mut next, mut here, mut sum) = (0.0, 1.0, 1.0);
    for i in (1..n).rev() {
        let outer = if i + 1 < n { beside[i] * next } else { 0.0 };
        let previous = ((value - diagonal[i]) * here - outer) / beside[i - 1];
        (next, here) = (here, previous);
        sum += here * here;
    }
    (1.0 / sum).sqrt()
}
