//! Chebyshev polynomials of an operator that are large at one end of its spectrum.

use super::stop::Watch;
use crate::error::Result;
use crate::fields::{blas, Precision, VectorField};
use crate::linop::LinOp;
use crate::params::choices;
use crate::refuse;

/// The tolerance of eigenvectors, relative to the largest eigenvalue; 0 stands for 1e-10 in double and 1e-6 in single
/// precision. A tolerance below rounding, which could not be reached, is raised to it.
pub fn eigen_tol(name: &str, tol: f64, precision: Precision) -> Result<f64> {
    let (least, usual) = if precision == Precision::F64 { (1e-16, 1e-10) } else { (1e-8, 1e-6) };
    if tol == 0.0 {
        return Ok(usual);
    }
    if !(least..1.0).contains(&tol) {
        refuse!(
            BadParameter,
            "{name}",
            expected(
                "0 or {least:e} to below 1 in {} precision",
                if precision == Precision::F64 { "double" } else { "single" }
            ),
            found("{tol:e}")
        );
    }
    Ok(tol)
}

choices! {
    /// The end of the spectrum at which eigenvalues are searched for.
    pub enum End: plaq_eigen_end {
        /// The smallest eigenvalues.
        Smallest = 0, PLAQ_EIGEN_SMALLEST, "smallest";
        /// The largest eigenvalues.
        Largest = 1, PLAQ_EIGEN_LARGEST, "largest";
    }
}

/// A polynomial p(A) that is positive and large at the wanted end of the spectrum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polynomial {
    pub degree: usize,
    /// Lower end of the interval on which the polynomial is small.
    pub from: f64,
    /// Upper end of the interval on which the polynomial is small.
    pub to: f64,
    /// The argument at which p is 1; for degree 1 p(A) = at A, where `at` is 1 or -1.
    pub at: f64,
}

/// Ratio of p at the wanted end of the spectrum to p at the beginning of the interval.
const GAIN: f64 = 300.0;
const MAX_DEGREE: usize = 2000;

impl Polynomial {
    pub fn plain(end: End) -> Self {
        let at = if end == End::Largest { 1.0 } else { -1.0 };
        Polynomial { degree: 1, from: 0.0, to: 0.0, at }
    }
    pub fn centre(&self) -> (f64, f64) {
        (0.5 * (self.from + self.to), 0.5 * (self.to - self.from))
    }
    /// Computes out = p(A) in. Returns false if the watch has ended the work before that is done; degree 1 always is.
    pub fn apply(
        &self,
        op: &dyn LinOp,
        out: &mut VectorField,
        inp: &VectorField,
        watch: &mut Watch,
    ) -> Result<bool> {
        let n = inp.nrhs();
        let scalar = |a: f64| blas::uniform(n, a);
        if self.degree == 1 {
            op.apply(out, inp)?;
            if self.at < 0.0 {
                blas::axpby(&scalar(0.0), inp, &scalar(-1.0), out)?;
            }
            watch.continues(n)?;
            return Ok(true);
        }
        let (c, e) = self.centre();
        // y_k = T_k((A - c) / e) x / T_k((at - c) / e), where c is the centre and e half the length of the interval.
        let first = e / (self.at - c);
        let mut sigma = first;
        let mut before = inp.like(inp.precision())?;
        let mut image = None;
        blas::copy(&mut before, inp)?;
        op.recur(out, inp, [first / e, -c * first / e, 0.0], &mut image)?;
        // Every step launches the same kernels as the one before.
        let steps = op.shape().device.falling(1.0, 2).limit(self.degree);
        for _ in 1..steps {
            if !watch.continues(n)? {
                return Ok(false);
            }
            let next = 1.0 / (2.0 / first - sigma);
            let coef = [2.0 * next / e, -2.0 * c * next / e, -sigma * next];
            op.recur(&mut before, out, coef, &mut image)?;
            std::mem::swap(out, &mut before);
            sigma = next;
        }
        watch.continues(n)?;
        Ok(true)
    }
    /// The end of the interval that faces the wanted end of the spectrum.
    pub fn cut(&self) -> f64 {
        if self.at < self.from {
            self.from
        } else {
            self.to
        }
    }
    /// Whether p keeps the order of eigenvalues at x, that is whether x lies on the wanted side of the interval.
    pub fn is_outside(&self, x: f64) -> bool {
        self.degree == 1 || (if self.at < self.from { x < self.from } else { x > self.to })
    }
    /// ln |T_n(y)| = ln cosh(n arcosh |y|) at y = (x - c) / e, where c is the centre and e half the length of the
    /// interval.
    fn log_at(&self, x: f64) -> f64 {
        let (c, e) = self.centre();
        let z = self.degree as f64 * ((x - c) / e).abs().max(1.0).acosh();
        z + (0.5 * (1.0 + (-2.0 * z).exp())).ln()
    }
    /// The value p(x) at a number outside of the interval.
    pub fn value(&self, x: f64) -> f64 {
        if self.degree == 1 {
            return x * self.at;
        }
        (self.log_at(x) - self.log_at(self.at)).exp()
    }
    /// The largest value of p on the interval; minus infinity without a polynomial.
    pub fn edge(&self) -> f64 {
        if self.degree == 1 {
            f64::NEG_INFINITY
        } else {
            self.value(self.cut())
        }
    }
    /// The eigenvalue of A at which p has this value; None if the value is one of those inside of the interval.
    pub fn invert(&self, p: f64) -> Option<f64> {
        if self.degree == 1 {
            return Some(p * self.at);
        }
        let (c, e) = self.centre();
        let n = self.degree as f64;
        // Large values of T_n are inverted by logarithms.
        let log_t = p.abs().ln() + self.log_at(self.at);
        if p <= 0.0 || log_t <= 0.0 {
            return None;
        }
        let y = if log_t > 30.0 { log_t + std::f64::consts::LN_2 } else { log_t.exp().acosh() };
        Some(c + (self.at - c).signum() * e * (y / n).cosh())
    }
    /// The polynomial that is small on the interval from `cut` to the unwanted end of the spectrum, with the degree
    /// for which it is `GAIN` times as large at the wanted end.
    pub fn for_cut(end: End, cut: f64, least: f64, largest: f64) -> Self {
        let (from, to, at) = match end {
            End::Smallest => (cut, largest, least),
            End::Largest => (least, cut, largest),
        };
        let (c, e) = (0.5 * (from + to), 0.5 * (to - from));
        let degree = (GAIN.acosh() / ((at - c) / e).abs().max(1.0).acosh().max(1e-9)).ceil();
        Polynomial { degree: (degree as usize).clamp(2, MAX_DEGREE), from, to, at }
    }
}
