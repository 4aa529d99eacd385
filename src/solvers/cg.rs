//! Conjugate gradient on a hermitian positive operator and on the normal equations both ways, in
//! one loop. The normal equations are never formed: the residual of the iteration is that of
//! M x = b itself, and three fields are enough.

use num_complex::Complex64;

use super::levels::{retain, Levels, Next};
use crate::error::Result;
use crate::fields::blas::{self, Times};
use crate::fields::VectorField;

/// Which system the conjugate directions belong to; r = b - M x in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// M x = b: gradient s = r, alpha = |r|^2 / <p, M p>.
    Hermitian,
    /// M^dagger M x = M^dagger b: s = M^dagger r, alpha = |s|^2 / |M p|^2.
    NormalResidual,
    /// M M^dagger y = b, x = M^dagger y: s = M^dagger r, alpha = |r|^2 / |p|^2.
    NormalError,
}

pub(super) fn run(levels: &mut Levels, form: Form) -> Result<()> {
    if !levels.running() {
        return Ok(());
    }
    let mut n = levels.nrhs();
    let mut p = levels.vector()?;
    // M p, then the gradient of the normal equations.
    let mut q = levels.vector()?;
    let r2 = levels.r2.clone();
    let mut rho = gradient(levels, form, &mut q, &r2)?;
    let s = if form == Form::Hermitian { &levels.r } else { &q };
    blas::copy(&mut p, s)?;
    let mut p2 = blas::norm2(&p)?;
    while levels.running() {
        levels.apply(&mut q, &p)?;
        // The device takes its step without the host; one that is not finite is left out there.
        let sums = match form {
            Form::Hermitian => blas::dot_norm_later(&p, &q)?,
            Form::NormalResidual => blas::norm2_later(&q)?,
            Form::NormalError => blas::norm2_later(&p)?,
        };
        let times = match form {
            Form::Hermitian => Times::OverReal(&sums),
            _ => Times::OverNorm(&sums),
        };
        let minus = levels.masked(|i| Complex64::new(-rho[i], 0.0));
        let r2 = blas::axpy_norm_times(&minus, times, &q, &mut levels.r)?;
        let curvature: Vec<f64> = match (form, sums.get()?) {
            (Form::Hermitian, (pq, _)) => pq.iter().map(|z| z.re).collect(),
            (_, (_, norm2)) => norm2,
        };
        let broken = |i: usize| !(curvature[i] > 0.0 && (rho[i] / curvature[i]).is_finite());
        if (0..n).any(|i| levels.active[i] && broken(i)) {
            levels.breakdown("a direction has no positive curvature")?;
            rho = restart(levels, form, &mut p, &mut q)?;
            p2 = blas::norm2(&p)?;
            continue;
        }
        let alpha = levels.masked(|i| Complex64::new(rho[i] / curvature[i], 0.0));
        match form {
            Form::Hermitian => levels.count(10, 96 + 48 + 96 + 192),
            Form::NormalResidual => levels.count(10, 48 + 96 + 48 + 48 + 192),
            Form::NormalError => levels.count(9, 48 + 96 + 48 + 192),
        }
        let step: Vec<f64> = alpha.iter().zip(&p2).map(|(a, p2)| a.re * p2.sqrt()).collect();
        levels.walk(&step, &rho);
        if levels.advance(&r2) == Next::Continue {
            let new = gradient(levels, form, &mut q, &r2)?;
            let beta = levels.masked(|i| Complex64::new(new[i] / rho[i], 0.0));
            let one = levels.masked(|_| Complex64::ONE);
            let (x, r) = levels.split();
            let s = if form == Form::Hermitian { &*r } else { &q };
            blas::cg_update(x, &alpha, &mut p, &beta, s, &one)?;
            // The gradient is orthogonal to the directions before it.
            (0..n).for_each(|i| p2[i] = new[i] + beta[i].norm_sqr() * p2[i]);
            rho = new;
            continue;
        }
        blas::axpy(&alpha, &p, levels.x())?;
        levels.refresh()?;
        if !levels.running() {
            break;
        }
        if let Some(keep) = levels.shrink(&mut [&mut p, &mut q])? {
            n = keep.len();
            retain(&mut rho, &keep);
        }
        rho = conjugate(levels, form, &mut p, &mut q, &rho)?;
        p2 = blas::norm2(&p)?;
    }
    Ok(())
}

/// The gradient, in q unless it is r; returns the number that alpha and beta are made of.
fn gradient(levels: &mut Levels, form: Form, q: &mut VectorField, r2: &[f64]) -> Result<Vec<f64>> {
    if form == Form::Hermitian {
        return Ok(r2.to_vec());
    }
    levels.apply_dagger_to_r(q)?;
    if form == Form::NormalResidual {
        blas::norm2(q)
    } else {
        Ok(r2.to_vec())
    }
}

/// p = gradient of the recomputed residual.
fn restart(
    levels: &mut Levels,
    form: Form,
    p: &mut VectorField,
    q: &mut VectorField,
) -> Result<Vec<f64>> {
    let r2 = levels.r2.clone();
    let rho = gradient(levels, form, q, &r2)?;
    blas::copy(p, if form == Form::Hermitian { &levels.r } else { q })?;
    Ok(rho)
}

/// The next direction after the residual was recomputed: the jump in r would spoil conjugacy, so
/// that it is restored explicitly.
fn conjugate(
    levels: &mut Levels,
    form: Form,
    p: &mut VectorField,
    q: &mut VectorField,
    old: &[f64],
) -> Result<Vec<f64>> {
    let r2 = levels.r2.clone();
    let rho = gradient(levels, form, q, &r2)?;
    let s = if form == Form::Hermitian { &levels.r } else { &*q };
    let (ps, pp) = blas::dot_norm(p, s)?;
    let keep = |i: usize| levels.active[i] && !levels.fresh[i];
    let mut beta = vec![Complex64::ZERO; levels.nrhs()];
    let mut gamma = levels.masked(|_| Complex64::ONE);
    for i in (0..levels.nrhs()).filter(|&i| keep(i)) {
        let (b, g) = match form {
            // Directions of NE are orthogonal.
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
    Ok(rho)
}
