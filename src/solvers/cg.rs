//! Conjugate gradient on a hermitian positive operator and on both forms of the normal equations, in one loop. The
//! normal equations are never formed: the residual of the iteration is that of M x = b itself, and three fields are
//! enough.
//!
//! The device runs an iteration without waiting for the host: alpha and beta are computed from sums on the device.
//! The host receives the sums of an iteration while the device runs the next one, and waits only for iterations that
//! may meet the criteria or end at an update of x. A residual is therefore recomputed one iteration later than the
//! iteration that asks for it.

mod one_sum;

use std::rc::Rc;

use num_complex::Complex64;

use super::fewer_sums;
use super::mixed_precision::{retain, MixedPrecision, Next};
use crate::error::Result;
use crate::fields::blas::{self, Sums, Times};
use crate::fields::VectorField;
use crate::linop::LinOp;

/// The equation from which conjugate directions are made; r = b - M x in all forms (Hestenes, Stiefel 1952; Saad,
/// Iterative Methods for Sparse Linear Systems, Algorithms 6.18, 8.4 and 8.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// M x = b: gradient s = r, alpha = |r|^2 / <p, M p>.
    Hermitian,
    /// M^dagger M x = M^dagger b: s = M^dagger r, alpha = |s|^2 / |M p|^2.
    NormalResidual,
    /// M M^dagger y = b, x = M^dagger y: s = M^dagger r, alpha = |r|^2 / |p|^2.
    NormalError,
}

/// The sum that gives the curvature <p, M p>.
enum Curvature {
    Dot(Sums),
    Norm(Sums),
}

impl Curvature {
    /// The factor `above` / <p, M p>, on the device.
    fn under<'a>(&'a self, above: &'a Sums) -> Times<'a> {
        match self {
            Curvature::Dot(sums) => Times::NormOverReal(above, sums),
            Curvature::Norm(sums) => Times::NormOverNorm(above, sums),
        }
    }
    fn get(&self) -> Result<Vec<f64>> {
        Ok(match self {
            Curvature::Dot(sums) => sums.get()?.0.iter().map(|z| z.re).collect(),
            Curvature::Norm(sums) => sums.get()?.1,
        })
    }
}

/// The sums of an iteration: the numerator of alpha at its start, <p, M p>, and |r|^2 at its end.
struct Step {
    rho: Rc<Sums>,
    curvature: Curvature,
    r2: Rc<Sums>,
}

/// The result of an iteration, known when the host has received its sums.
#[derive(PartialEq)]
enum Outcome {
    /// The next action of the iteration.
    Next(Next),
    /// The direction has no positive curvature.
    Breakdown,
}

/// Squared norms |p|^2 of the present search directions, one for each right-hand side, and the last numerators of
/// alpha, from which beta follows.
struct Path {
    p2: Vec<f64>,
    rho: Option<Vec<f64>>,
}

impl Path {
    fn from(p: &VectorField) -> Result<Path> {
        Ok(Path { p2: blas::norm2(p)?, rho: None })
    }

    /// Waits for the sums of an iteration, and returns its outcome and alpha; an iteration without positive curvature
    /// is not counted.
    fn take(
        &mut self,
        mixed: &mut MixedPrecision,
        step: &Step,
    ) -> Result<(Outcome, Vec<Complex64>)> {
        let (curved, alpha) = self.step(mixed, step.rho.get()?.1, &step.curvature.get()?);
        let outcome = match curved {
            true => Outcome::Next(mixed.advance(&step.r2.get()?.1)),
            false => Outcome::Breakdown,
        };
        Ok((outcome, alpha))
    }

    /// The step of an iteration: alpha, and whether every direction has a positive curvature.
    fn step(
        &mut self,
        mixed: &mut MixedPrecision,
        rho: Vec<f64>,
        curvature: &[f64],
    ) -> (bool, Vec<Complex64>) {
        // The gradient is orthogonal to the directions before it.
        if let Some(before) = &self.rho {
            for i in 0..rho.len() {
                let beta = if mixed.active[i] { rho[i] / before[i] } else { 0.0 };
                self.p2[i] = rho[i] + beta * beta * self.p2[i];
            }
        }
        let broken = |i: usize| !(curvature[i] > 0.0 && (rho[i] / curvature[i]).is_finite());
        let alpha = mixed.masked(|i| Complex64::new(rho[i] / curvature[i], 0.0));
        if (0..rho.len()).any(|i| mixed.active[i] && broken(i)) {
            return (false, alpha);
        }
        let lengths: Vec<f64> =
            alpha.iter().zip(&self.p2).map(|(a, p2)| a.re * p2.sqrt()).collect();
        mixed.count_path(&lengths, &rho);
        self.rho = Some(rho);
        (true, alpha)
    }
}

/// CG on a hermitian positive operator with a preconditioner K that may change from step to step (Notay, SIAM J. Sci.
/// Comput. 22, 1444): each direction K r is made conjugate to the previous one explicitly, by a scalar product.
pub(super) fn flexible(mixed: &mut MixedPrecision, inverse: &dyn LinOp) -> Result<()> {
    if !mixed.running() {
        return Ok(());
    }
    let (mut p, mut q, mut z) = (mixed.vector()?, mixed.vector()?, mixed.vector()?);
    // The sum <p, M p> of the previous direction; infinite if there is none.
    let none = Complex64::new(f64::INFINITY, 0.0);
    let mut curvature = vec![none; mixed.nrhs()];
    while mixed.running() {
        mixed.counted(inverse).apply(&mut z, &mixed.r)?;
        let along = blas::dot(&q, &z)?;
        let beta = mixed.masked(|i| match mixed.restarted[i] || curvature[i] == none {
            true => Complex64::ZERO,
            false => -along[i] / curvature[i],
        });
        mixed.restarted.fill(false);
        blas::axpby(&mixed.masked(|_| Complex64::ONE), &z, &beta, &mut p)?;
        mixed.operator().apply(&mut q, &p)?;
        curvature = blas::dot(&p, &q)?;
        let slope = blas::dot(&p, &mixed.r)?;
        let alpha = mixed.masked(|i| slope[i] / curvature[i].re);
        let bad = |i: usize| !(curvature[i].re > 0.0 && alpha[i].is_finite());
        if (0..mixed.nrhs()).any(|i| mixed.active[i] && bad(i)) {
            mixed.breakdown("a direction has no positive curvature")?;
            continue;
        }
        let minus: Vec<Complex64> = alpha.iter().map(|a| -a).collect();
        let r2 = blas::axpy_norm(&minus, &q, &mut mixed.r)?;
        blas::axpy(&alpha, &p, mixed.x())?;
        mixed.count(14, 4 * 96 + 3 * 96);
        if mixed.advance(&r2) == Next::Refresh {
            mixed.refresh()?;
            if let Some(keep) = mixed.shrink(&mut [&mut p, &mut q, &mut z])? {
                retain(&mut curvature, &keep);
            }
        }
    }
    Ok(())
}

pub(super) fn run(mixed: &mut MixedPrecision, form: Form) -> Result<()> {
    if !mixed.running() {
        return Ok(());
    }
    let one_sum_pays = match form {
        Form::Hermitian => fewer_sums::are_fused(mixed, 1, 1, 3),
        Form::NormalResidual => fewer_sums::are_fused(mixed, 2, 2, 4),
        Form::NormalError => fewer_sums::are_fused(mixed, 1, 1, 1),
    };
    if one_sum_pays? {
        return one_sum::run(mixed, form);
    }
    let mut p = mixed.vector()?;
    // Memory for M p and later for the gradient of the normal equations.
    let mut q = mixed.vector()?;
    let mut rho = restart(mixed, form, &mut p, &mut q)?;
    let mut path = Path::from(&p)?;
    // The previous iteration, whose sums have not reached the host yet.
    let mut before: Option<Step> = None;
    while mixed.running() {
        let curvature = match form {
            Form::Hermitian => match mixed.operator().apply_for_curvature(&mut q, &p)? {
                Some(norm) => Curvature::Norm(norm),
                None => Curvature::Dot(blas::dot_norm_later(&p, &q)?),
            },
            _ => {
                mixed.operator().apply(&mut q, &p)?;
                let of = if form == Form::NormalResidual { &q } else { &p };
                Curvature::Norm(blas::norm2_later(of)?)
            }
        };
        // The device leaves out terms with coefficients that are not finite.
        let minus = mixed.masked(|_| -Complex64::ONE);
        let r2 = blas::axpy_norm_times(&minus, curvature.under(&rho), &q, &mut mixed.r)?;
        let step = Step { rho: rho.clone(), curvature, r2: Rc::new(r2) };
        match form {
            Form::Hermitian => mixed.count(10, 96 + 48 + 96 + 192),
            Form::NormalResidual => mixed.count(10, 48 + 96 + 48 + 48 + 192),
            Form::NormalError => mixed.count(9, 48 + 96 + 48 + 192),
        }
        let mut outcome = Outcome::Next(Next::Continue);
        if let Some(step) = before.take() {
            outcome = path.take(mixed, &step)?.0;
        }
        // This step has changed the residual, but not yet x.
        let late = outcome != Outcome::Next(Next::Continue);
        // Right-hand sides that meet the criteria with this iteration take its step.
        let taken = mixed.masked(|_| Complex64::ONE);
        let mut alpha = None;
        let useful = outcome == Outcome::Next(Next::Refresh) && !mixed.ended();
        if useful && mixed.active.contains(&true) || !late && needs_sums(mixed, &step) {
            let (own, step) = path.take(mixed, &step)?;
            alpha = Some(step);
            outcome = match own {
                Outcome::Next(_) if late => outcome,
                own => own,
            };
        }
        if outcome == Outcome::Breakdown {
            mixed.breakdown("a direction has no positive curvature")?;
            rho = restart(mixed, form, &mut p, &mut q)?;
            path = Path::from(&p)?;
            continue;
        }
        if outcome == Outcome::Next(Next::Continue) {
            let new = gradient(mixed, form, &mut q, &step.r2)?;
            let one = mixed.masked(|_| Complex64::ONE);
            let times = (step.curvature.under(&step.rho), Times::NormOverNorm(&new, &step.rho));
            let (x, r) = mixed.split();
            let s = if form == Form::Hermitian { &*r } else { &q };
            blas::cg_update_times(x, (&taken, times.0), &mut p, (&one, times.1), s, &one)?;
            rho = new;
            before = alpha.is_none().then_some(step);
            continue;
        }
        let complete = alpha.is_some();
        if let Some(alpha) = alpha {
            blas::axpy(&alpha, &p, mixed.x())?;
        }
        mixed.refresh()?;
        if !mixed.running() {
            break;
        }
        if !complete && form == Form::NormalError {
            // Later directions would be orthogonal to those already used, so the iteration starts anew.
            mixed.restarted = mixed.active.clone();
        }
        let mut old = step.rho.get()?.1;
        if let Some(keep) = mixed.shrink(&mut [&mut p, &mut q])? {
            retain(&mut old, &keep);
        }
        rho = conjugate(mixed, form, &mut p, &mut q, &old)?;
        path = Path::from(&p)?;
    }
    Ok(())
}

/// Whether the sums of this iteration have to reach the host before it continues.
fn needs_sums(mixed: &MixedPrecision, step: &Step) -> bool {
    step.r2.known() || mixed.near()
}

/// Computes the gradient, in the field q unless it equals r; returns the sum that is the numerator of alpha and beta.
fn gradient(
    mixed: &mut MixedPrecision,
    form: Form,
    q: &mut VectorField,
    r2: &Rc<Sums>,
) -> Result<Rc<Sums>> {
    if form == Form::Hermitian {
        return Ok(r2.clone());
    }
    mixed.operator().apply_dagger(q, &mixed.r)?;
    if form == Form::NormalResidual {
        Ok(Rc::new(blas::norm2_later(q)?))
    } else {
        Ok(r2.clone())
    }
}

/// Sets the direction p to the gradient of the recomputed residual.
fn restart(
    mixed: &mut MixedPrecision,
    form: Form,
    p: &mut VectorField,
    q: &mut VectorField,
) -> Result<Rc<Sums>> {
    let r2 = Rc::new(Sums::of_norms(&mixed.r2));
    let rho = gradient(mixed, form, q, &r2)?;
    blas::copy(p, if form == Form::Hermitian { &mixed.r } else { q })?;
    Ok(rho)
}

/// Makes the next direction after the residual was recomputed. The change of r would destroy conjugacy, which is
/// therefore restored explicitly.
fn conjugate(
    mixed: &mut MixedPrecision,
    form: Form,
    p: &mut VectorField,
    q: &mut VectorField,
    old: &[f64],
) -> Result<Rc<Sums>> {
    let r2 = Rc::new(Sums::of_norms(&mixed.r2));
    let new = gradient(mixed, form, q, &r2)?;
    let rho = new.get()?.1;
    let s = if form == Form::Hermitian { &mixed.r } else { &*q };
    let (ps, pp) = blas::dot_norm(p, s)?;
    let keep = |i: usize| mixed.active[i] && !mixed.restarted[i];
    let mut beta = vec![Complex64::ZERO; mixed.nrhs()];
    let mut gamma = mixed.masked(|_| Complex64::ONE);
    for i in (0..mixed.nrhs()).filter(|&i| keep(i)) {
        let (b, g) = match form {
            // For the normal error equations search directions are orthogonal to each other.
            Form::NormalError => (-ps[i] / pp[i], Complex64::ONE),
            // The gradient is orthogonal to the direction before it: p = s + beta (p - (<s,p>/|s|^2) s).
            _ => {
                let b = rho[i] / old[i];
                (Complex64::new(b, 0.0), Complex64::ONE - b * ps[i].conj() / rho[i])
            }
        };
        if b.is_finite() && g.is_finite() {
            (beta[i], gamma[i]) = (b, g);
        }
    }
    blas::axpby(&gamma, s, &beta, p)?;
    Ok(new)
}
