//! BiCGStab. A right-hand side whose recurrence breaks down starts again from its residual; if
//! that does not help either, it is left to another algorithm.

use num_complex::Complex64;

use super::levels::{retain, Levels, Next};
use super::noise;
use crate::error::Result;
use crate::fields::blas::{self, Times};
use crate::fields::VectorField;
use crate::linop::LinOp;

/// Iterations without a new minimum of the residual before a restart.
const PATIENCE: usize = 300;
/// Restarts without progress before giving up, and times that so many iterations did not halve the residual: CGNR
/// is cheaper then.
const RESTARTS: usize = 3;

/// Vectors that it takes for itself, the residual among them.
pub(super) fn vectors(preconditioned: bool) -> u64 {
    if preconditioned {
        7
    } else {
        5
    }
}

/// A preconditioner K from the right (van der Vorst 1992): the operator of the recurrence is M K, and
/// x takes its steps along K p and K r, so that K may change from one application to the next.
struct Right<'a> {
    inverse: &'a dyn LinOp,
    p: VectorField,
    r: VectorField,
}

pub(super) fn run(levels: &mut Levels, preconditioner: Option<&dyn LinOp>) -> Result<()> {
    if !levels.running() {
        return Ok(());
    }
    let mut right = match preconditioner {
        Some(inverse) => Some(Right { inverse, p: levels.vector()?, r: levels.vector()? }),
        None => None,
    };
    let mut n = levels.nrhs();
    let noise = noise(levels.precision());
    let mut shadow = levels.vector()?;
    let mut p = levels.vector()?;
    let mut v = levels.vector()?;
    let mut t = levels.vector()?;
    let complex = |r2: &[f64]| blas::complex(r2);
    blas::copy(&mut shadow, &levels.r)?;
    blas::copy(&mut p, &levels.r)?;
    let mut rho = complex(&levels.r2);
    let mut shadow2 = levels.r2.clone();
    // Least |r|^2 that each right-hand side has seen, when, and restarts since then.
    let mut least = levels.r2.clone();
    let mut least_at = vec![0; n];
    let mut in_vain = vec![0; n];
    // |r|^2 that each has to halve the root of, since when, and how often that took too long.
    let mut mark = levels.r2.clone();
    let mut mark_at = vec![0; n];
    let mut slow = vec![0; n];
    while levels.running() {
        match &mut right {
            Some(right) => {
                levels.precondition(right.inverse, &mut right.p, Some(&p))?;
                levels.apply(&mut v, &right.p)?;
            }
            None => levels.apply(&mut v, &p)?,
        }
        // The device goes on to the end of the step without the host. What is not finite is left out
        // there: nothing of a broken step reaches r or x.
        let sv = blas::dot_norm_later(&shadow, &v)?;
        let minus = levels.masked(|i| -rho[i]);
        blas::axpy_times(&minus, Times::OverDot(&sv), &v, &mut levels.r)?;
        match &mut right {
            Some(right) => {
                levels.precondition(right.inverse, &mut right.r, None)?;
                levels.apply(&mut t, &right.r)?;
            }
            None => levels.apply_to_r(&mut t)?,
        }
        let tr = blas::dot_norm_later(&t, &levels.r)?;
        let (some, one) = (levels.masked(|i| rho[i]), levels.masked(|_| Complex64::ONE));
        let (alpha, omega) =
            ((&some[..], Times::OverDot(&sv)), (&one[..], Times::DotOverNorm(&tr)));
        let back = levels.masked(|_| -Complex64::ONE);
        let (x, r) = levels.split();
        let (mut new, mut r2) = match &right {
            Some(right) => {
                blas::axpy_times(alpha.0, alpha.1, &right.p, x)?;
                blas::axpy_times(omega.0, omega.1, &right.r, x)?;
                blas::axpy_times(&back, omega.1, &t, r)?;
                blas::dot_norm(r, &shadow)
                    .map(|(d, n)| (d.iter().map(|z| z.conj()).collect(), n))?
            }
            None => blas::bicgstab_update(x, alpha, &p, omega, r, &t, &shadow)?,
        };
        let (sv, (tr, tt)) = (sv.get()?.0, tr.get()?);
        levels.count(2 + 3 + 2 + 7 + 4, 96 * 2 + 144 + 3 * 96 + 144 + 192);
        let alpha = levels.masked(|i| rho[i] / sv[i]);
        let broken: Vec<usize> = (0..n).filter(|&i| !alpha[i].is_finite()).collect();
        if !broken.is_empty() {
            if broken.iter().all(|&i| sv[i].is_finite()) {
                // <shadow, M p> vanishes: the direction is useless, the operator is sound.
                levels.report.restarts += 1;
                broken.iter().for_each(|&i| in_vain[i] += 1);
                levels.refresh()?;
            } else {
                levels.breakdown("<shadow, M p> is not finite")?;
            }
            give_up(levels, &in_vain);
            (rho, shadow2) = (complex(&levels.r2), levels.r2.clone());
            blas::copy(&mut shadow, &levels.r)?;
            blas::copy(&mut p, &levels.r)?;
            continue;
        }
        // t = 0 where r = 0: converged in the first half of the step.
        let omega = levels.masked(|i| if tt[i] == 0.0 { Complex64::ZERO } else { tr[i] / tt[i] });
        if omega.iter().any(|w| !w.is_finite()) {
            levels.breakdown("|M r| is not finite")?;
            (rho, shadow2) = (complex(&levels.r2), levels.r2.clone());
            blas::copy(&mut shadow, &levels.r)?;
            blas::copy(&mut p, &levels.r)?;
            continue;
        }
        let now = levels.report.iterations;
        let mut restart = vec![false; n];
        for i in 0..n {
            if r2[i] < 0.81 * least[i] {
                (least[i], least_at[i], in_vain[i]) = (r2[i], now, 0);
            }
            if r2[i] < 0.25 * mark[i] {
                (mark[i], mark_at[i]) = (r2[i], now);
            } else if now - mark_at[i] >= PATIENCE && levels.active[i] {
                (mark_at[i], slow[i]) = (now, slow[i] + 1);
            }
            let weak = new[i].norm_sqr() <= noise * noise * shadow2[i] * r2[i];
            let stands = now - least_at[i] >= PATIENCE;
            if levels.active[i] && (weak || stands || omega[i] == Complex64::ZERO) {
                restart[i] = true;
                least_at[i] = now;
            }
        }
        let mut refreshed = false;
        if levels.advance(&r2) == Next::Refresh {
            refreshed = true;
            levels.refresh()?;
            if !levels.running() {
                break;
            }
            r2.clone_from(&levels.r2);
            new = blas::dot(&shadow, &levels.r)?;
            restart.iter_mut().zip(&levels.fresh).for_each(|(r, f)| *r |= f);
        }
        for i in 0..n {
            restart[i] &= levels.active[i];
            if restart[i] {
                levels.report.restarts += 1;
                in_vain[i] += 1;
            }
        }
        for i in (0..n).filter(|&i| levels.params.fall_back && now >= PATIENCE && levels.active[i])
        {
            if slow[i] > RESTARTS || levels.late(i) {
                in_vain[i] = RESTARTS + 1;
            }
        }
        if (0..n).any(|i| levels.active[i] && in_vain[i] > RESTARTS) {
            // x is brought up to date for whoever goes on.
            levels.refresh()?;
            give_up(levels, &in_vain);
            if !levels.running() {
                break;
            }
            r2.clone_from(&levels.r2);
            new = blas::dot(&shadow, &levels.r)?;
            refreshed = true;
        }
        let mut beta = levels.masked(|i| new[i] / rho[i] * (alpha[i] / omega[i]));
        for i in 0..n {
            if restart[i] || !beta[i].is_finite() {
                beta[i] = Complex64::ZERO;
                restart[i] = levels.active[i];
            }
        }
        let back: Vec<Complex64> = beta.iter().zip(&omega).map(|(b, w)| -b * w).collect();
        blas::axpbypcz(&one, &levels.r, &back, &v, &beta, &mut p)?;
        if restart.contains(&true) {
            let take = levels.each(|_, i| restart[i] as i32 as f64);
            let keep = levels.each(|_, i| !restart[i] as i32 as f64);
            blas::axpby(&take, &levels.r, &keep, &mut shadow)?;
            for i in (0..n).filter(|&i| restart[i]) {
                new[i] = Complex64::new(r2[i], 0.0);
                shadow2[i] = r2[i];
            }
        }
        rho = new;
        if refreshed {
            let mut fields = vec![&mut shadow, &mut p, &mut v, &mut t];
            fields.extend(right.iter_mut().flat_map(|k| [&mut k.p, &mut k.r]));
            if let Some(keep) = levels.shrink(&mut fields)? {
                n = keep.len();
                retain(&mut rho, &keep);
                retain(&mut shadow2, &keep);
                retain(&mut least, &keep);
                retain(&mut least_at, &keep);
                retain(&mut in_vain, &keep);
                retain(&mut mark, &keep);
                retain(&mut mark_at, &keep);
                retain(&mut slow, &keep);
            }
        }
    }
    Ok(())
}

/// Leaves right-hand sides whose restarts did not help.
fn give_up(levels: &mut Levels, in_vain: &[usize]) {
    for i in 0..levels.nrhs() {
        if levels.running() && levels.active[i] && in_vain[i] > RESTARTS {
            levels.set_aside(i);
        }
    }
}
