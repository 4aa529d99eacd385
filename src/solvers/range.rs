//! Scaling of sources whose square norms overflow or underflow, or nearly do. A solve works in units that are powers
//! of two, so that no bit of any number changes.

use std::borrow::BorrowMut;

use super::check_finite;
use crate::bail;
use crate::error::{Result, Status};
use crate::fields::{blas, Precision, VectorField};

/// Fields and norms of a solve, in the units of the solve.
pub(crate) struct Fields<'a> {
    pub xs: Vec<&'a mut VectorField>,
    pub b: &'a VectorField,
    /// The norm |b| of every right-hand side.
    pub norms: &'a [f64],
    /// Ratio of b in these units to the caller's b, for every right-hand side; solutions have the same ratio.
    pub factors: &'a [f64],
}

/// A linear equation with source b and solutions `xs`, in units (powers of two) in which |b| and its square are far
/// from overflow and underflow.
pub(crate) struct InRange<'a, X> {
    xs: &'a mut [X],
    b: &'a VectorField,
    /// Copies of b and the solutions, multiplied by the powers of two; `None` if the caller's fields can be used as
    /// they are.
    other: Option<(VectorField, Vec<VectorField>)>,
    powers: Vec<i32>,
    norms: Vec<f64>,
    factors: Vec<f64>,
}

/// Exponents of two that delimit the range in which a precision is used.
struct Exponents {
    /// A source with |b| between 2^-norm and 2^norm is not scaled.
    norm: i32,
    /// Exponent of the factor by which sources are multiplied whose square norm came out as 0 or infinite.
    trial: i32,
    /// Largest exponent of two that a factor may have.
    max: i32,
}

impl Exponents {
    fn of(precision: Precision) -> Self {
        match precision {
            Precision::F64 => Exponents { norm: 150, trial: 600, max: 1000 },
            _ => Exponents { norm: 40, trial: 90, max: 120 },
        }
    }
}

impl<'a, X: BorrowMut<VectorField>> InRange<'a, X> {
    /// Finds the units; `guess`: the solve starts from the given `xs`. If an argument is refused, `xs` are not
    /// changed.
    ///
    /// # Errors
    /// `NotFinite`: b or a guess holds NaN or infinity, or a guess is more than 1e150 times as long as b;
    /// `OutOfMemory`: there is no room for fields in other units.
    pub fn new(xs: &'a mut [X], b: &'a VectorField, guess: bool) -> Result<Self> {
        let (powers, norm2) = powers(b)?;
        let norms = norm2.iter().map(|v| v.sqrt()).collect();
        let factors: Vec<f64> = powers.iter().map(|&p| 2f64.powi(p)).collect();
        let mut other = None;
        if powers.iter().all(|&p| p == 0) {
            if guess {
                xs.iter().try_for_each(|x| check_guess((*x).borrow()))?;
            }
        } else {
            // A refused call must leave the fields unchanged. Scaling back does not restore them if numbers have
            // become zero, so copies are kept.
            let fields = 1 + xs.len() as u64;
            let kind = (b.precision(), b.subset(), b.nrhs(), b.components());
            let bytes = VectorField::bytes_of(b.geometry(), kind.0, kind.1, kind.2, kind.3);
            b.geometry().require(b.device(), fields * bytes as u64, "this solve in other units")?;
            let source = scaled(b, &factors)?;
            let mut solutions = vec![];
            for x in xs.iter() {
                let x: &VectorField = x.borrow();
                solutions.push(if guess { scaled(x, &factors)? } else { x.like(x.precision())? });
            }
            if guess {
                solutions.iter().try_for_each(check_guess)?;
            }
            other = Some((source, solutions));
        }
        Ok(InRange { xs, b, other, powers, norms, factors })
    }

    /// The fields and norms with which the solve works.
    pub fn fields(&mut self) -> Fields<'_> {
        let (xs, b) = match &mut self.other {
            Some((b, solutions)) => (solutions.iter_mut().collect(), &*b),
            None => (self.xs.iter_mut().map(|x| x.borrow_mut()).collect(), self.b),
        };
        Fields { xs, b, norms: &self.norms, factors: &self.factors }
    }

    /// Converts solutions back to the caller's units. If they contain numbers that are not finite although the source
    /// was finite, that is a breakdown, and the solutions are set to 0.
    ///
    /// # Errors
    /// Errors of the solve, of which `NotFinite` becomes `SolverBreakdown`.
    pub fn end<T>(self, done: Result<T>) -> Result<T> {
        let broken = [Status::NotFinite, Status::SolverBreakdown];
        match (done, self.other) {
            (Err(e), _) if broken.contains(&e.status) => {
                self.xs.iter_mut().try_for_each(|x| x.borrow_mut().clear())?;
                Err(e.with_status(Status::SolverBreakdown))
            }
            (Ok(done), Some((_, solutions))) => {
                let back: Vec<f64> = self.powers.iter().map(|&p| 2f64.powi(-p)).collect();
                for (x, solution) in self.xs.iter_mut().zip(&solutions) {
                    let x = x.borrow_mut();
                    x.clear()?;
                    let none = blas::uniform(self.b.nrhs(), 0.0);
                    blas::axpby(&blas::complex(&back), solution, &none, x)?;
                }
                Ok(done)
            }
            (done, _) => done,
        }
    }
}

/// For every right-hand side the exponent of the power of two by which b is multiplied, and |b|^2 after this.
fn powers(b: &VectorField) -> Result<(Vec<i32>, Vec<f64>)> {
    let exponents = Exponents::of(b.precision());
    let mut norm2 = blas::norm2(b)?;
    let fits = |v: &f64| v.sqrt().log2().abs() < exponents.norm as f64;
    let mut powers = vec![0; norm2.len()];
    if norm2.iter().all(fits) {
        return Ok((powers, norm2));
    }
    if norm2.iter().any(|v| *v == 0.0 || *v == f64::INFINITY) {
        for (p, v) in powers.iter_mut().zip(&norm2) {
            *p = match *v {
                0.0 => exponents.trial,
                f64::INFINITY => -exponents.trial,
                _ => 0,
            };
        }
        let factors: Vec<f64> = powers.iter().map(|&p| 2f64.powi(p)).collect();
        norm2 = blas::norm2(&scaled(b, &factors)?)?;
    }
    check_finite(&norm2, "b")?;
    for (p, v) in powers.iter_mut().zip(&mut norm2) {
        let before = *p;
        if *v == 0.0 {
            *p = 0;
        } else if before != 0 || !fits(v) {
            *p = (before - v.sqrt().log2().round() as i32).clamp(-exponents.max, exponents.max);
            *v *= 2f64.powi(*p - before).powi(2);
        }
    }
    Ok((powers, norm2))
}

/// A copy of v with every right-hand side multiplied by its factor.
fn scaled(v: &VectorField, factors: &[f64]) -> Result<VectorField> {
    let mut copy = v.like(v.precision())?;
    blas::axpby(&blas::complex(factors), v, &blas::uniform(v.nrhs(), 0.0), &mut copy)?;
    Ok(copy)
}

fn check_guess(x: &VectorField) -> Result<()> {
    match blas::norm2(x)?.iter().position(|v| !v.is_finite()) {
        Some(i) => bail!(
            NotFinite,
            "initial guess x: right-hand side {i} holds NaN or infinity, or is far too long for its b"
        ),
        None => Ok(()),
    }
}
