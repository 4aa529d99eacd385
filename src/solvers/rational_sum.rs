//! Sums of poles of a hermitian operator applied to a vector, x = sum_k w_k (A + sigma_k)^-1 b, from one Krylov
//! space: in one pass with a direction for every pole (Jegerlehner, hep-lat/9612014), or in two passes, of which the
//! first finds the coefficients and the second makes the same vectors again and adds them (Neuberger, Int. J. Mod.
//! Phys. C 10, 1051), so that poles take no memory.

use num_complex::Complex64;

use super::shifts::{self, Step};
use super::stop::DIFFERENT;
use super::InRange;
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, VectorField};
use crate::linop::LinOp;
use crate::refuse;

/// Limits and tolerances of a sum of poles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RationalParams {
    /// Largest |b - (A + sigma_k) x_k| / |b| for every pole.
    pub tol: f64,
    pub max_iterations: usize,
    pub two_passes: bool,
}

/// The result of a sum of poles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RationalReport {
    pub converged: bool,
    pub iterations: usize,
    /// Number of multiplications of a vector by A.
    pub applications: usize,
}

/// The Krylov space of A + sigma for the smallest shift sigma, built step by step.
struct Space<'a> {
    op: &'a dyn LinOp,
    sigma: f64,
    r: VectorField,
    p: VectorField,
    q: VectorField,
    r2: Vec<f64>,
    active: Vec<bool>,
}

impl<'a> Space<'a> {
    fn new(op: &'a dyn LinOp, sigma: f64, b: &VectorField) -> Result<Self> {
        let r2 = blas::norm2(b)?;
        let (mut r, mut p, q) =
            (b.like(b.precision())?, b.like(b.precision())?, b.like(b.precision())?);
        blas::copy(&mut r, b)?;
        blas::copy(&mut p, b)?;
        let active = r2.iter().map(|&v| v > 0.0).collect();
        Ok(Space { op, sigma, r, p, q, r2, active })
    }
    fn masked(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..self.active.len()).map(|i| if self.active[i] { value(i) } else { 0.0 }).collect()
    }
    /// Computes the next residual; returns alpha and beta.
    fn step(&mut self) -> Result<(Vec<f64>, Vec<f64>)> {
        self.op.apply(&mut self.q, &self.p)?;
        blas::axpy(&blas::uniform(self.active.len(), self.sigma), &self.p, &mut self.q)?;
        let curvature = blas::dot(&self.p, &self.q)?;
        let bad = |i: usize| !(curvature[i].re > 0.0 && curvature[i].re.is_finite());
        if let Some(i) = (0..self.active.len()).find(|&i| self.active[i] && bad(i)) {
            refuse!(
                SolverBreakdown,
                format!("rational: <p, A p> is {} for right-hand side {i}", curvature[i].re),
                expected("a positive operator")
            );
        }
        let alpha = self.masked(|i| self.r2[i] / curvature[i].re);
        let minus: Vec<f64> = alpha.iter().map(|a| -a).collect();
        let new = blas::axpy_norm(&blas::complex(&minus), &self.q, &mut self.r)?;
        let beta = self.masked(|i| new[i] / self.r2[i]);
        for i in 0..new.len() {
            if self.active[i] {
                self.r2[i] = new[i];
            }
        }
        Ok((alpha, beta))
    }
    /// Computes the next search direction p = r + beta p.
    fn next_direction(&mut self, beta: &[f64]) -> Result<()> {
        let one = blas::uniform(beta.len(), 1.0);
        blas::axpby(&one, &self.r, &blas::complex(beta), &mut self.p)
    }
}

/// Computes out = sum_k weights_k (A + shifts_k)^-1 b for hermitian A for which A + sigma is positive with the
/// smallest shift. A sum that has not converged is not an error; the report says so.
///
/// # Errors
/// `BadParameter`: no shift, or not as many weights; `Unsupported`: A is not hermitian; `FieldMismatch`,
/// `NotFinite`, `SolverBreakdown`.
pub fn rational_sum(
    op: &dyn LinOp,
    shifts: &[f64],
    weights: &[f64],
    params: &RationalParams,
    out: &mut VectorField,
    b: &VectorField,
) -> Result<RationalReport> {
    if shifts.is_empty() || shifts.len() != weights.len() {
        bail!(BadParameter, "rational: {} shifts with {} weights", shifts.len(), weights.len());
    }
    if !op.hermitian() {
        refuse!(Unsupported, "rational", expected("a hermitian operator"));
    }
    op.shape().check(b, "b")?;
    b.check_like(out, "rational")?;
    let least = shifts.iter().copied().fold(f64::INFINITY, f64::min);
    let xs = &mut [out];
    let mut units = InRange::new(xs, b, false)?;
    let mut fields = units.fields();
    let (out, b) = (&mut *fields.xs[0], fields.b);
    let done = Space::new(op, least, b).and_then(|space| {
        out.clear()?;
        match params.two_passes {
            true => two_passes(space, shifts, weights, params, out, b),
            false => one_pass(space, shifts, weights, params, out),
        }
    });
    units.end(done)
}

fn one_pass(
    mut space: Space,
    sigmas: &[f64],
    weights: &[f64],
    params: &RationalParams,
    out: &mut VectorField,
) -> Result<RationalReport> {
    let n = space.active.len();
    let norm: Vec<f64> = space.r2.iter().map(|v| v.sqrt()).collect();
    let mut report = RationalReport::default();
    struct Track {
        sigma: f64,
        weight: f64,
        zeta: Vec<f64>,
        before: Vec<f64>,
        active: Vec<bool>,
        p: Option<VectorField>,
    }
    let mut tracks = vec![];
    for (&sigma, &weight) in sigmas.iter().zip(weights) {
        let mut p = space.p.like(space.p.precision())?;
        blas::copy(&mut p, &space.p)?;
        tracks.push(Track {
            sigma: sigma - space.sigma,
            weight,
            zeta: vec![1.0; n],
            before: vec![1.0; n],
            active: space.active.clone(),
            p: Some(p),
        });
    }
    let (mut alpha_before, mut beta_before) = (vec![1.0; n], vec![0.0; n]);
    let falling = space.op.shape().device.falling(params.tol, DIFFERENT);
    let limit = falling.limit(params.max_iterations);
    while space.active.contains(&true) && report.iterations < limit {
        let (alpha, beta) = space.step()?;
        report.iterations += 1;
        falling.after(report.iterations);
        report.applications += n;
        let mut still = vec![false; n];
        let mut steps = vec![];
        for t in tracks.iter_mut().filter(|t| t.p.is_some()) {
            let mut step = Step::none(n);
            for i in 0..n {
                if !space.active[i] || !t.active[i] {
                    continue;
                }
                let (z, before) = (t.zeta[i], t.before[i]);
                let next = z * before * alpha_before[i]
                    / (alpha[i] * beta_before[i] * (before - z)
                        + before * alpha_before[i] * (1.0 + t.sigma * alpha[i]));
                step.a[i] = t.weight * alpha[i] * next / z;
                step.c[i] = beta[i] * (next / z).powi(2);
                step.d[i] = next;
                (t.zeta[i], t.before[i]) = (next, z);
                t.active[i] = next.abs() * space.r2[i].sqrt() > params.tol * norm[i];
                still[i] |= t.active[i];
            }
            steps.push(step);
        }
        let mut ps: Vec<&mut VectorField> =
            tracks.iter_mut().filter_map(|t| t.p.as_mut()).collect();
        shifts::sum(out, &mut ps, &steps, &space.r)?;
        for t in tracks.iter_mut().filter(|t| !t.active.contains(&true)) {
            t.p = None;
        }
        space.next_direction(&beta)?;
        space.active = still;
        (alpha_before, beta_before) = (alpha, beta);
    }
    report.converged = !space.active.contains(&true);
    Ok(report)
}

fn two_passes(
    mut space: Space,
    shifts: &[f64],
    weights: &[f64],
    params: &RationalParams,
    out: &mut VectorField,
    b: &VectorField,
) -> Result<RationalReport> {
    let n = space.active.len();
    let norm: Vec<f64> = space.r2.iter().map(|v| v.sqrt()).collect();
    let (op, sigma) = (space.op, space.sigma);
    let mut report = RationalReport::default();
    let (mut alphas, mut betas, mut lives) = (vec![], vec![], vec![]);
    let falling = op.shape().device.falling(params.tol, DIFFERENT);
    let limit = falling.limit(params.max_iterations);
    while space.active.contains(&true) && report.iterations < limit {
        lives.push(space.active.clone());
        let (alpha, beta) = space.step()?;
        report.iterations += 1;
        falling.after(report.iterations);
        report.applications += n;
        for i in 0..n {
            space.active[i] &= space.r2[i].sqrt() > params.tol * norm[i];
        }
        space.next_direction(&beta)?;
        alphas.push(alpha);
        betas.push(beta);
    }
    report.converged = !space.active.contains(&true);
    drop(space);
    let steps = |i: usize| lives.iter().take_while(|l| l[i]).count();
    let coefficients: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let pick = |all: &[Vec<f64>]| all[..steps(i)].iter().map(|a| a[i]).collect();
            let (alpha, beta): (Vec<f64>, Vec<f64>) = (pick(&alphas), pick(&betas));
            let mut total = vec![0.0; alpha.len()];
            for (&s, &w) in shifts.iter().zip(weights) {
                let y = krylov_solution(&alpha, &beta, s - sigma);
                total.iter_mut().zip(y).for_each(|(t, y)| *t += w * y);
            }
            total
        })
        .collect();
    let mut space = Space::new(op, sigma, b)?;
    for k in 0..report.iterations {
        // The residuals are orthogonal: their unit vectors are a basis.
        let at = |i: usize| match coefficients[i].get(k) {
            Some(c) if space.r2[i] > 0.0 => Complex64::from(c * norm[i] / space.r2[i].sqrt()),
            _ => Complex64::ZERO,
        };
        let c: Vec<Complex64> = (0..n).map(at).collect();
        blas::axpy(&c, &space.r, out)?;
        if k + 1 < report.iterations {
            space.active.copy_from_slice(&lives[k]);
            let (_, beta) = space.step()?;
            space.next_direction(&beta)?;
            report.applications += n;
        }
    }
    Ok(report)
}

/// Solves (T + sigma) y = e_1 in the basis of unit residuals r_k, where CG's numbers give T_kk = 1 / alpha_k +
/// beta_{k-1} / alpha_{k-1} and T_{k,k+1} = -sqrt(beta_k) / alpha_k.
fn krylov_solution(alpha: &[f64], beta: &[f64], sigma: f64) -> Vec<f64> {
    let n = alpha.len();
    let diagonal = |k: usize| {
        let before = if k > 0 { beta[k - 1] / alpha[k - 1] } else { 0.0 };
        1.0 / alpha[k] + before + sigma
    };
    let off = |k: usize| -beta[k].sqrt() / alpha[k];
    // Elimination from the first row on, and back.
    let (mut d, mut y) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..n {
        let source = if k == 0 { 1.0 } else { 0.0 };
        let (lower, above, right) =
            if k == 0 { (0.0, 1.0, 0.0) } else { (off(k - 1), d[k - 1], y[k - 1]) };
        let factor = lower / above;
        d[k] = diagonal(k) - factor * lower;
        y[k] = source - factor * right;
    }
    for k in (0..n).rev() {
        let next = if k + 1 < n { off(k) * y[k + 1] } else { 0.0 };
        y[k] = (y[k] - next) / d[k];
    }
    y
}
