//! Shifted unitary minimal residual (Jagels and Reichel, Numer. Linear Algebra Appl. 1, 555; for the
//! overlap operator Arnold et al., hep-lat/0311025): (a + b U) x = c with a unitary U, minimal residuals
//! from short recurrences.

use num_complex::Complex64;

use super::stop::{Stop, StoppedBy, Watch};
use super::{Fields, InRange, Monitor, SolverReport};
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, VectorField};
use crate::linop::LinOp;

/// Numbers of one right-hand side that pass from one iteration to the next.
#[derive(Clone)]
struct Track {
    delta: f64,
    phi: Complex64,
    phi_hat: Complex64,
    tau_hat: Complex64,
    c: Complex64,
    s: f64,
    lambda: Complex64,
    r: Complex64,
    live: bool,
}

/// Solves (a + b U) x = source from zero for a unitary U and a, b not 0 (Jagels, Reichel, Numer. Linear Algebra Appl.
/// 1, 555), until the residual of the recurrence is at most `goal` for each right-hand side, or a limit of `stop` is
/// reached, whose goals do not count. The report's residuals are those of the recurrence over |source|.
///
/// # Errors
/// `BadParameter`; `FieldMismatch`; `NotFinite`; `SolverBreakdown`: U produces NaN or infinity.
#[allow(clippy::too_many_arguments)]
pub fn sumr(
    unitary: &dyn LinOp,
    [a, b]: [f64; 2],
    goal: &[f64],
    stop: Stop,
    x: &mut VectorField,
    source: &VectorField,
    monitor: &mut Monitor,
) -> Result<SolverReport> {
    let shape = unitary.shape();
    shape.check(source, "source")?;
    source.check_like(x, "sumr")?;
    let n = source.nrhs();
    if goal.len() != n || !(a.is_finite() && b.is_finite()) || b == 0.0 {
        bail!(
            BadParameter,
            "sumr: {} goals for {n} right-hand sides, a = {a}, b = {b}",
            goal.len()
        );
    }
    let xs = &mut [x];
    let mut units = InRange::new(xs, source, false)?;
    let fields = units.fields();
    let goal: Vec<f64> = goal.iter().zip(fields.factors).map(|(g, f)| g * f).collect();
    let done = run(unitary, [a, b], &goal, stop, fields, monitor);
    units.end(done)
}

fn run(
    unitary: &dyn LinOp,
    [a, b]: [f64; 2],
    goal: &[f64],
    stop: Stop,
    fields: Fields,
    monitor: &mut Monitor,
) -> Result<SolverReport> {
    let Fields { mut xs, b: source, norms: norm, .. } = fields;
    let (x, n, shape) = (&mut *xs[0], source.nrhs(), unitary.shape());
    let mut watch = Watch::new(stop, source.device(), source.geometry().comm(), monitor);
    let inverse: Vec<f64> = norm.iter().map(|v| if *v > 0.0 { 1.0 / v } else { 0.0 }).collect();
    let zero = blas::uniform(n, 0.0);
    let mut v = shape.field(n)?;
    blas::axpby(&blas::complex(&inverse), source, &zero, &mut v)?;
    // The vectors of Jagels and Reichel's recurrence: v~, U v, p, and w - v of the step before.
    let (mut vt, mut u) = (shape.field(n)?, shape.field(n)?);
    let (mut p, mut y) = (shape.field(n)?, shape.field(n)?);
    blas::copy(&mut vt, &v)?;
    x.clear()?;
    let mut tracks: Vec<Track> = (0..n)
        .map(|i| Track {
            delta: norm[i],
            phi: Complex64::ZERO,
            phi_hat: inverse[i].into(),
            tau_hat: (norm[i] / b).into(),
            c: Complex64::ONE,
            s: 0.0,
            lambda: Complex64::ZERO,
            r: Complex64::ONE,
            live: norm[i] > goal[i],
        })
        .collect();
    let mut report = SolverReport::default();
    let mut residual = vec![1.0; n];
    while tracks.iter().any(|t| t.live) && watch.ended(report.iterations).is_none() {
        unitary.apply(&mut u, &v)?;
        let along = blas::dot(&vt, &u)?;
        if along.iter().any(|z| !z.is_finite()) {
            bail!(SolverBreakdown, "sumr: the operator produces NaN or infinity");
        }
        let none = vec![Complex64::ZERO; n];
        let mut lambda = none.clone();
        let (mut on_p, mut on_y, mut on_v) = (none.clone(), none.clone(), none.clone());
        let (mut eta, mut of_u, mut of_vt) = (none.clone(), none.clone(), none.clone());
        let (mut keep_vt, mut add_v) = (none.clone(), none);
        for (i, t) in tracks.iter_mut().enumerate().filter(|(_, t)| t.live) {
            let gamma = -along[i];
            let sigma = ((1.0 - gamma.norm()) * (1.0 + gamma.norm())).max(0.0).sqrt();
            let alpha = -gamma * t.delta;
            let shift = a / b;
            let before = alpha * t.phi + t.s * shift;
            let now = alpha * t.phi_hat + t.c.conj() * shift;
            let length = (now.norm_sqr() + sigma * sigma).sqrt();
            let (c, s) = (now.conj() / length, -sigma / length);
            let r = -c * now + s * sigma;
            let tau = -c * t.tau_hat;
            let kappa = before / t.r;
            // p' = p - lambda y; w - v = alpha p + ... in terms of p'.
            lambda[i] = -t.lambda;
            (on_p[i], on_y[i], on_v[i]) = (alpha, alpha * t.lambda - kappa, -Complex64::ONE);
            eta[i] = -tau / r;
            t.tau_hat *= s;
            residual[i] = t.tau_hat.norm() * b.abs() * inverse[i];
            t.live = residual[i] * norm[i] > goal[i] && sigma > 1e-15;
            if t.live {
                t.delta *= sigma;
                t.phi = -c * t.phi_hat + s * gamma.conj() / t.delta;
                t.phi_hat = s * t.phi_hat + c.conj() * gamma.conj() / t.delta;
                t.lambda = t.phi / r;
                (of_u[i], of_vt[i]) = ((1.0 / sigma).into(), gamma / sigma);
                (keep_vt[i], add_v[i]) = (sigma.into(), gamma.conj());
            }
            (t.c, t.s, t.r) = (c, s, r);
        }
        blas::axpy(&lambda, &y, &mut p)?;
        blas::axpbypcz(&on_p, &p, &on_v, &v, &on_y, &mut y)?;
        blas::axpy(&eta, &y, x)?;
        blas::axpbypcz(&of_u, &u, &of_vt, &vt, &zero, &mut v)?;
        blas::axpby(&add_v, &v, &keep_vt, &mut vt)?;
        report.iterations += 1;
        report.flops += n as f64 * (unitary.flops() + 60.0 * shape.numbers());
        report.bytes += unitary.bytes(n) + 16.0 * shape.bytes(n) as f64;
        watch.after(report.iterations, &residual);
    }
    report.converged = tracks.iter().all(|t| !t.live);
    report.residual = (0..n).map(|i| if norm[i] > 0.0 { residual[i] } else { 0.0 }).collect();
    let ended = watch.ended(report.iterations);
    report.stopped = ended.is_some_and(|by| by > StoppedBy::Iterations);
    report.stopped_by = match report.converged {
        true => Some(StoppedBy::Residual),
        false => ended,
    };
    report.seconds = watch.seconds();
    Ok(report)
}
