//! Conjugate gradient with one sum over the ranks in an iteration (Chronopoulos and Gear, J. Comput. Appl. Math. 25
//! (1989) 153): the operator is applied to the gradient, so that the vectors of all scalar products exist at the same
//! time. The image of the direction follows by the recurrence of the direction itself, and its curvature c = <p, M p>
//! by c = <s, M s> - beta^2 c, where c on the right is that of the previous direction, as the gradient s is conjugate
//! to the latter.
//!
//! Rounding of these recurrences adds up. Image and curvature are computed anew where the residual is recomputed, which
//! its drift asks for in two precisions. In one precision they are where the difference leaves little of <s, M s>, as
//! for a direction along low modes: one sum and one operator more.

use num_complex::Complex64;

use super::{conjugate, restart, Form, Path};
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, VectorField};
use crate::solvers::mixed_precision::{retain, MixedPrecision, Next};

/// Least part of <s, M s> that the curvature of the next direction may be to be found by the difference.
const MIN_FRACTION: f64 = 1e-3;

/// Vectors of the iteration besides x and r.
struct Vectors {
    /// The search direction p.
    p: VectorField,
    /// The image M p of the search direction.
    q: VectorField,
    /// The gradient of the normal equations; of M x = b it is r itself.
    s: Option<VectorField>,
    /// The image of the gradient; M M^dagger y = b needs none.
    w: Option<VectorField>,
}

/// Sums after an iteration.
struct StepSums {
    /// The numerator of alpha of the next iteration.
    rho: Vec<f64>,
    /// The curvature of the gradient.
    curvature: Vec<f64>,
    r2: Vec<f64>,
}

impl Vectors {
    fn new(mixed: &MixedPrecision, form: Form) -> Result<Vectors> {
        let where_needed = |needed: bool| needed.then(|| mixed.vector()).transpose();
        let (p, q) = (mixed.vector()?, mixed.vector()?);
        let s = where_needed(form != Form::Hermitian)?;
        Ok(Vectors { p, q, s, w: where_needed(form != Form::NormalError)? })
    }

    /// Computes the image of the direction, and its curvature.
    fn measure(&mut self, mixed: &mut MixedPrecision, form: Form) -> Result<Vec<f64>> {
        let Vectors { p, q, .. } = self;
        mixed.operator().apply(q, p)?;
        match form {
            Form::Hermitian => Ok(blas::dot(p, q)?.iter().map(|z| z.re).collect()),
            Form::NormalResidual => blas::norm2(q),
            Form::NormalError => blas::norm2(p),
        }
    }

    /// Computes the gradient of the residual, its image and all sums.
    fn gradient(&mut self, mixed: &mut MixedPrecision) -> Result<StepSums> {
        if let Some(s) = &mut self.s {
            mixed.operator().apply_dagger(s, &mixed.r)?;
        }
        if let Some(w) = &mut self.w {
            mixed.operator().apply(w, self.s.as_ref().unwrap_or(&mixed.r))?;
        }
        let r = &mixed.r;
        let pairs = match (&self.s, &self.w) {
            (None, Some(w)) => vec![(r, w)],
            (Some(s), Some(w)) => vec![(s, s), (w, w), (r, r)],
            (Some(s), None) => vec![(s, s), (r, r)],
            (None, None) => bail!(Internal, "a gradient without an image"),
        };
        let mut found = blas::dots_norms(&pairs)?.into_iter();
        let mut next = || found.next().unwrap_or_default();
        Ok(match pairs.len() {
            1 => {
                let (dots, r2) = next();
                let curvature = dots.iter().map(|z| z.re).collect();
                StepSums { rho: r2.clone(), curvature, r2 }
            }
            2 => {
                let ((_, curvature), (_, r2)) = (next(), next());
                StepSums { rho: r2.clone(), curvature, r2 }
            }
            _ => {
                let ((_, rho), (_, curvature), (_, r2)) = (next(), next(), next());
                StepSums { rho, curvature, r2 }
            }
        })
    }
}

pub(super) fn run(mixed: &mut MixedPrecision, form: Form) -> Result<()> {
    let mut vectors = Vectors::new(mixed, form)?;
    let mut rho = restart(mixed, form, &mut vectors.p, &mut vectors.q)?.get()?.1;
    let mut path = Path::from(&vectors.p)?;
    let mut curvature = vectors.measure(mixed, form)?;
    while mixed.running() {
        let (curved, alpha) = path.step(mixed, rho.clone(), &curvature);
        if !curved {
            mixed.breakdown("a direction has no positive curvature")?;
            rho = restart(mixed, form, &mut vectors.p, &mut vectors.q)?.get()?.1;
            path = Path::from(&vectors.p)?;
            curvature = vectors.measure(mixed, form)?;
            continue;
        }
        let minus: Vec<Complex64> = alpha.iter().map(|a| -a).collect();
        blas::axpy(&minus, &vectors.q, &mut mixed.r)?;
        let found = vectors.gradient(mixed)?;
        match form {
            Form::Hermitian => mixed.count(13, 96 + 96 + 48 + 192 + 96),
            Form::NormalResidual => mixed.count(14, 96 + 144 + 192 + 96),
            Form::NormalError => mixed.count(10, 96 + 96 + 192),
        }
        if mixed.advance(&found.r2) == Next::Continue {
            let beta = mixed.masked(|i| Complex64::new(found.rho[i] / rho[i], 0.0));
            let one = mixed.masked(|_| Complex64::ONE);
            for (i, c) in curvature.iter_mut().enumerate() {
                *c = found.curvature[i] - beta[i].re * beta[i].re * *c;
            }
            rho = found.rho;
            let Vectors { p, q, s, w } = &mut vectors;
            let (x, r) = mixed.split();
            blas::cg_update(x, &alpha, p, &beta, s.as_ref().unwrap_or(r), &one)?;
            match w {
                Some(w) => blas::axpby(&one, w, &beta, q)?,
                None => mixed.operator().apply(q, p)?,
            }
            let clear = |i: usize| curvature[i] > MIN_FRACTION * found.curvature[i];
            if !mixed.refines() && (0..curvature.len()).any(|i| mixed.active[i] && !clear(i)) {
                // M M^dagger y = b has the image of the direction itself, and its curvature |p|^2.
                curvature = match form {
                    Form::NormalError => blas::norm2(&vectors.p)?,
                    _ => vectors.measure(mixed, form)?,
                };
            }
            continue;
        }
        blas::axpy(&alpha, &vectors.p, mixed.x())?;
        mixed.refresh()?;
        if !mixed.running() {
            break;
        }
        let Vectors { p, q, s, w } = &mut vectors;
        let mut fields = vec![&mut *p, q];
        fields.extend(s.iter_mut().chain(w));
        if let Some(keep) = mixed.shrink(&mut fields)? {
            retain(&mut rho, &keep);
        }
        rho = conjugate(mixed, form, p, q, &rho)?.get()?.1;
        path = Path::from(p)?;
        curvature = vectors.measure(mixed, form)?;
    }
    Ok(())
}
