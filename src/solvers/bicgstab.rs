//! BiCGStab (van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631). A right-hand side whose recurrence breaks down
//! starts again from its residual; if it breaks down again, it is left to another algorithm.

use num_complex::Complex64;

use super::fewer_sums::{self, shortened};
use super::mixed_precision::{retain, MixedPrecision, Next};
use super::noise;
use crate::error::Result;
use crate::fields::blas::{self, Sums, Times};
use crate::fields::VectorField;
use crate::linop::LinOp;

/// Number of iterations without a new minimum of the residual before a restart.
const PATIENCE: usize = 300;
/// Number of restarts without progress, and of times that `PATIENCE` iterations did not halve the residual, before
/// giving up: CGNR is cheaper then.
const RESTARTS: usize = 3;
/// Number of iterations after which a right-hand side is doubtful if they have not halved its residual and this has
/// not yet fallen by a factor of 100: near and beyond the critical kappa the residual may stay there for more than a
/// thousand iterations, where CGNR needs some hundred in all. CGNR is then tried, and BiCGStab may continue after it.
const SLOW_ITERATIONS: usize = 30;
/// Number of iterations in place of `SLOW_ITERATIONS` in a patient solve (`SolverParams::patient`), in which CGNR is
/// not tried before.
const PATIENT_ITERATIONS: usize = 100;

/// A preconditioner K applied from the right (van der Vorst 1992): the recurrence is that of M K, and steps of x go
/// along K p and K r, so that K may change from one application to the next.
struct Right<'a> {
    inverse: &'a dyn LinOp,
    p: VectorField,
    r: VectorField,
}

pub(super) fn run(mixed: &mut MixedPrecision, preconditioner: Option<&dyn LinOp>) -> Result<()> {
    if !mixed.running() {
        return Ok(());
    }
    let mut right = match preconditioner {
        Some(inverse) => Some(Right { inverse, p: mixed.vector()?, r: mixed.vector()? }),
        None => None,
    };
    let mut n = mixed.nrhs();
    let noise = noise(mixed.precision());
    let mut shadow = mixed.vector()?;
    let mut p = mixed.vector()?;
    let mut v = mixed.vector()?;
    let mut t = mixed.vector()?;
    let complex = |r2: &[f64]| blas::complex(r2);
    blas::copy(&mut shadow, &mixed.r)?;
    blas::copy(&mut p, &mixed.r)?;
    let mut rho = complex(&mixed.r2);
    let mut shadow2 = mixed.r2.clone();
    // For each right-hand side: the least relative |r|^2, the iteration at which it was reached, the first relative
    // |r|^2, and the number of restarts since the least one.
    let mut least: Vec<f64> = (0..n).map(|i| mixed.relative2(i, mixed.r2[i])).collect();
    let mut least_at = vec![0; n];
    let mut first = least.clone();
    let mut in_vain = vec![0; n];
    // The relative |r|^2 from which |r| has to be halved next, the iteration at which this began, and how often it took
    // too long.
    let mut mark = least.clone();
    let mut mark_at = vec![0; n];
    let mut slow = vec![0; n];
    let patience = if mixed.params.patient { PATIENT_ITERATIONS } else { SLOW_ITERATIONS };
    let fused = fewer_sums::are_fused(mixed, 1, 3, 4)?;
    while mixed.running() {
        match &mut right {
            Some(right) => {
                mixed.counted(right.inverse).apply(&mut right.p, &p)?;
                mixed.operator().apply(&mut v, &right.p)?;
            }
            None => mixed.operator().apply(&mut v, &p)?,
        }
        // The device computes to the end of the step without the host. It leaves out terms with coefficients that are
        // not finite, so that r and x do not change in a step that breaks down.
        let sv = blas::dot_norm_later(&shadow, &v)?;
        let minus = mixed.masked(|i| -rho[i]);
        blas::axpy_times(&minus, Times::OverDot(&sv), &v, &mut mixed.r)?;
        match &mut right {
            Some(right) => {
                mixed.counted(right.inverse).apply(&mut right.r, &mixed.r)?;
                mixed.operator().apply(&mut t, &right.r)?;
            }
            None => mixed.operator().apply(&mut t, &mixed.r)?,
        }
        let (tr, with_shadow) = match fused {
            true => {
                let r = &mixed.r;
                let found = blas::dots_norms(&[(&t, r), (r, &shadow), (&t, &shadow)])?;
                (Sums::of(&found[0].0, &found[0].1), Some(found))
            }
            false => (blas::dot_norm_later(&t, &mixed.r)?, None),
        };
        let after = match with_shadow {
            Some(found) => after_step(mixed, &rho, &sv.get()?.0, &found),
            None => None,
        };
        let (some, one) = (mixed.masked(|i| rho[i]), mixed.masked(|_| Complex64::ONE));
        let (alpha, omega) =
            ((&some[..], Times::OverDot(&sv)), (&one[..], Times::DotOverNorm(&tr)));
        let back = mixed.masked(|_| -Complex64::ONE);
        let (x, r) = mixed.split();
        let (mut new, mut r2) = match (&right, after) {
            (Some(right), after) => {
                blas::axpy_times(alpha.0, alpha.1, &right.p, x)?;
                blas::axpy_times(omega.0, omega.1, &right.r, x)?;
                blas::axpy_times(&back, omega.1, &t, r)?;
                match after {
                    Some(after) => (after.rho, after.r2),
                    None => blas::dot_norm(r, &shadow)
                        .map(|(d, n)| (d.iter().map(|z| z.conj()).collect(), n))?,
                }
            }
            (None, Some(after)) => {
                blas::axpbypcz(&after.alpha, &p, &after.omega, r, &blas::uniform(n, 1.0), x)?;
                blas::axpy_times(&back, omega.1, &t, r)?;
                (after.rho, after.r2)
            }
            (None, None) => blas::bicgstab_update(x, alpha, &p, omega, r, &t, &shadow)?,
        };
        let (sv, (tr, tt)) = (sv.get()?.0, tr.get()?);
        mixed.count(2 + 3 + 2 + 7 + 4, 96 * 2 + 144 + 3 * 96 + 144 + 192);
        if fused {
            // Two products more, one of which the last update makes otherwise.
            mixed.count(4, 144);
        }
        let alpha = mixed.masked(|i| rho[i] / sv[i]);
        let broken: Vec<usize> = (0..n).filter(|&i| !alpha[i].is_finite()).collect();
        if !broken.is_empty() {
            if broken.iter().all(|&i| sv[i].is_finite()) {
                // <shadow, M p> is zero: the direction p cannot be used, but the operator is sound.
                mixed.report.restarts += 1;
                broken.iter().for_each(|&i| in_vain[i] += 1);
                mixed.refresh()?;
            } else {
                mixed.breakdown("<shadow, M p> is not finite")?;
            }
            give_up(mixed, &in_vain);
            (rho, shadow2) = (complex(&mixed.r2), mixed.r2.clone());
            blas::copy(&mut shadow, &mixed.r)?;
            blas::copy(&mut p, &mixed.r)?;
            continue;
        }
        // If r is zero after the first half of the step, t is zero, too, and the iteration has converged.
        let omega = mixed.masked(|i| if tt[i] == 0.0 { Complex64::ZERO } else { tr[i] / tt[i] });
        if omega.iter().any(|w| !w.is_finite()) {
            mixed.breakdown("|M r| is not finite")?;
            (rho, shadow2) = (complex(&mixed.r2), mixed.r2.clone());
            blas::copy(&mut shadow, &mixed.r)?;
            blas::copy(&mut p, &mixed.r)?;
            continue;
        }
        let now = mixed.report.iterations;
        let mut restart = vec![false; n];
        for i in 0..n {
            let size = mixed.relative2(i, r2[i]);
            if size < 0.81 * least[i] {
                (least[i], least_at[i], in_vain[i]) = (size, now, 0);
            }
            if size < 0.25 * mark[i] {
                (mark[i], mark_at[i]) = (size, now);
            } else if now - mark_at[i] >= PATIENCE && mixed.active[i] {
                (mark_at[i], slow[i]) = (now, slow[i] + 1);
            }
            let weak = new[i].norm_sqr() <= noise * noise * shadow2[i] * r2[i];
            let stands = now - least_at[i] >= PATIENCE;
            if mixed.active[i] && (weak || stands || omega[i] == Complex64::ZERO) {
                restart[i] = true;
                least_at[i] = now;
            }
        }
        let mut refreshed = false;
        if mixed.advance(&r2) == Next::Refresh {
            refreshed = true;
            let which = mixed.refresh_due()?;
            if !mixed.running() {
                break;
            }
            let found = blas::dot(&shadow, &mixed.r)?;
            which.into_iter().for_each(|i| (r2[i], new[i]) = (mixed.r2[i], found[i]));
            restart.iter_mut().zip(&mixed.restarted).for_each(|(r, f)| *r |= f);
        }
        for i in 0..n {
            restart[i] &= mixed.active[i];
            if restart[i] {
                mixed.report.restarts += 1;
                in_vain[i] += 1;
            }
        }
        for i in (0..n).filter(|&i| mixed.params.fall_back && mixed.active[i]) {
            let slow = now >= PATIENCE && (slow[i] > RESTARTS || mixed.behind_schedule(i));
            let stands = now - mark_at[i] >= patience && mark[i] > 1e-4 * first[i];
            if slow || stands {
                in_vain[i] = RESTARTS + 1;
            }
        }
        if (0..n).any(|i| mixed.active[i] && in_vain[i] > RESTARTS) {
            // x is updated for the solver that continues.
            mixed.refresh()?;
            give_up(mixed, &in_vain);
            if !mixed.running() {
                break;
            }
            r2.clone_from(&mixed.r2);
            new = blas::dot(&shadow, &mixed.r)?;
            refreshed = true;
        }
        let mut beta = mixed.masked(|i| new[i] / rho[i] * (alpha[i] / omega[i]));
        for i in 0..n {
            if restart[i] || !beta[i].is_finite() {
                beta[i] = Complex64::ZERO;
                restart[i] = mixed.active[i];
            }
        }
        let back: Vec<Complex64> = beta.iter().zip(&omega).map(|(b, w)| -b * w).collect();
        blas::axpbypcz(&one, &mixed.r, &back, &v, &beta, &mut p)?;
        if restart.contains(&true) {
            let take = mixed.each(|_, i| restart[i] as i32 as f64);
            let keep = mixed.each(|_, i| !restart[i] as i32 as f64);
            blas::axpby(&take, &mixed.r, &keep, &mut shadow)?;
            for i in (0..n).filter(|&i| restart[i]) {
                new[i] = Complex64::new(r2[i], 0.0);
                shadow2[i] = r2[i];
            }
        }
        rho = new;
        if refreshed {
            let mut fields = vec![&mut shadow, &mut p, &mut v, &mut t];
            fields.extend(right.iter_mut().flat_map(|k| [&mut k.p, &mut k.r]));
            if let Some(keep) = mixed.shrink(&mut fields)? {
                n = keep.len();
                retain(&mut rho, &keep);
                retain(&mut shadow2, &keep);
                retain(&mut least, &keep);
                retain(&mut least_at, &keep);
                retain(&mut first, &keep);
                retain(&mut in_vain, &keep);
                retain(&mut mark, &keep);
                retain(&mut mark_at, &keep);
                retain(&mut slow, &keep);
            }
        }
    }
    Ok(())
}

/// A step of BiCGStab whose scalar products are known before it is made.
struct PredictedStep {
    alpha: Vec<Complex64>,
    omega: Vec<Complex64>,
    /// The products <shadow, r>, and |r|^2 (`r2`), after the step, for every right-hand side.
    rho: Vec<Complex64>,
    r2: Vec<f64>,
}

/// The step after its first half, from <shadow, M p> and the sums <t, r> with |t|^2, <r, shadow> with |r|^2 and <t,
/// shadow>: r - omega t has <shadow, r> - omega <shadow, t>, and |r|^2 - |<t, r>|^2 / |t|^2 by the theorem of
/// Pythagoras (Krasnopolsky, J. Comput. Appl. Math. 233 (2010) 2920). None where a coefficient is not finite or too few
/// digits of |r|^2 are left.
fn after_step(
    mixed: &MixedPrecision,
    rho: &[Complex64],
    sv: &[Complex64],
    found: &[(Vec<Complex64>, Vec<f64>)],
) -> Option<PredictedStep> {
    let [(tr, tt), (rs, rr), (ts, _)] = found else { return None };
    let r2 = shortened(mixed, rr.clone(), |i| tr[i].norm_sqr() / tt[i])?;
    let alpha = mixed.masked(|i| rho[i] / sv[i]);
    let omega = mixed.masked(|i| tr[i] / tt[i]);
    let rho = mixed.masked(|i| rs[i].conj() - omega[i] * ts[i].conj());
    let finite = |all: &[Complex64]| all.iter().all(|z| z.is_finite());
    [&alpha, &omega, &rho].iter().all(|all| finite(all)).then_some(PredictedStep {
        alpha,
        omega,
        rho,
        r2,
    })
}

/// Gives up right-hand sides whose restarts did not help.
fn give_up(mixed: &mut MixedPrecision, in_vain: &[usize]) {
    for i in 0..mixed.nrhs() {
        if mixed.running() && mixed.active[i] && in_vain[i] > RESTARTS {
            mixed.set_aside(i);
        }
    }
}
