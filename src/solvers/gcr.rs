//! Restarted GCR (Eisenstat, Elman, Schultz 1983) with a preconditioner that may vary. Directions are not
//! orthogonalised themselves, only their images; x is updated once per cycle, or when the residual is recomputed,
//! through the triangular system of the orthogonalisation.

use num_complex::Complex64;

use super::fewer_sums::shortened;
use super::mixed_precision::{retain, MixedPrecision, Next};
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, VectorField};
use crate::linop::LinOp;

/// Part of |image|^2 that is left after one pass of orthogonalisation, below which there is a second one.
const SHORTEST: f64 = 0.05;

/// The directions z_j and their orthogonal images q_j, as coefficients for every right-hand side.
#[derive(Default)]
struct Space {
    /// The norms |q_j|^2 of the images q_j = M p_j of all directions: [direction][right-hand side].
    images: Vec<Vec<f64>>,
    /// Coefficients of the images q_j that have been subtracted from r since x was last updated.
    steps: Vec<Vec<Complex64>>,
    /// Coefficients of the images that have been subtracted since the space began.
    totals: Vec<Vec<Complex64>>,
    /// Coefficients overlaps[k][j] of q_j that were subtracted to make q_k orthogonal.
    overlaps: Vec<Vec<Vec<Complex64>>>,
}

impl Space {
    fn len(&self) -> usize {
        self.steps.len()
    }

    /// Converts coefficients of the images q_j (`steps`) to coefficients chi_j of the directions z_j: chi_j +
    /// sum_{k > j} overlaps[k][j] chi_k = steps_j.
    fn solution(&self, steps: &[Vec<Complex64>]) -> Vec<Vec<Complex64>> {
        let mut chi = steps.to_vec();
        for j in (0..chi.len()).rev() {
            for k in j + 1..chi.len() {
                for i in 0..chi[j].len() {
                    let shift = self.overlaps[k][j][i] * chi[k][i];
                    chi[j][i] -= shift;
                }
            }
        }
        chi
    }

    /// Adds to x the steps since its last update.
    fn flush(&mut self, z: &[VectorField], x: &mut VectorField) -> Result<()> {
        let chi = self.solution(&self.steps);
        let used = |(chi, _): &(&Vec<_>, &VectorField)| chi.iter().any(|c| *c != Complex64::ZERO);
        let terms: Vec<_> = chi.iter().zip(z).filter(used).collect();
        add(&terms, x)?;
        self.steps.iter_mut().for_each(|s| s.fill(Complex64::ZERO));
        Ok(())
    }

    /// Combines all directions into a single one, which is kept (Baker, Jessup and Manteuffel, SIAM J. Matrix Anal.
    /// 26, 962): a restart that keeps the information on the last cycle.
    fn fold(&mut self, z: &mut [VectorField], q: &mut [VectorField]) -> Result<()> {
        let chi = self.solution(&self.totals);
        let part = |j: usize, i: usize| self.totals[j][i].norm_sqr() * self.images[j][i];
        let norm = |i: usize| (0..self.len()).map(|j| part(j, i)).sum();
        let images: Vec<f64> = (0..chi[0].len()).map(norm).collect();
        for (fields, coef) in [(z, &chi), (q, &self.totals)] {
            let (first, rest) = fields.split_at_mut(1);
            let terms: Vec<_> = coef[1..].iter().zip(&*rest).collect();
            let [(a, x), (b, y), others @ ..] = &terms[..] else {
                bail!(Internal, "a space of {} directions is folded", coef.len());
            };
            blas::axpbypcz(a, x, b, y, &coef[0], &mut first[0])?;
            add(others, &mut first[0])?;
        }
        let n = images.len();
        *self = Space::default();
        let direction =
            Direction { norm: images, step: vec![Complex64::ZERO; n], overlaps: vec![] };
        self.push(direction);
        Ok(())
    }

    /// Subtracts from a recomputed residual its components along the images; later images are orthogonal to these and
    /// could not remove them.
    fn project(&mut self, q: &[VectorField], mixed: &mut MixedPrecision) -> Result<()> {
        for j in 0..self.len() {
            let along = blas::dot(&q[j], &mixed.r)?;
            let step = mixed.masked(|i| ratio(along[i], self.images[j][i]));
            let minus: Vec<Complex64> = step.iter().map(|a| -a).collect();
            blas::axpy(&minus, &q[j], &mut mixed.r)?;
            for (i, a) in step.into_iter().enumerate() {
                self.steps[j][i] += a;
                self.totals[j][i] += a;
            }
        }
        Ok(())
    }

    /// Makes an image orthogonal to those `before`, with one global sum for each of them and one more (modified
    /// Gram-Schmidt), and adds the subtracted coefficients to `overlaps`.
    fn one_by_one(
        &self,
        before: &[VectorField],
        image: &mut VectorField,
        mixed: &MixedPrecision,
        overlaps: &mut Vec<Vec<Complex64>>,
    ) -> Result<Products> {
        overlaps.resize(before.len(), vec![Complex64::ZERO; mixed.nrhs()]);
        // <next factor, image> is found while the last overlap is subtracted.
        let (mut along, mut norm) = match before.first() {
            Some(first) => blas::dot_norm(first, image).map(|(d, _)| (d, vec![]))?,
            None => {
                let (d, norm) = blas::dot_norm(image, &mixed.r)?;
                (d.iter().map(|z| z.conj()).collect(), norm)
            }
        };
        for j in 0..before.len() {
            let c = mixed.masked(|i| ratio(along[i], self.images[j][i]));
            let minus: Vec<Complex64> = c.iter().map(|c| -c).collect();
            let with = before.get(j + 1).unwrap_or(&mixed.r);
            (along, norm) = blas::axpy_dot(&minus, &before[j], image, with)?;
            overlaps[j].iter_mut().zip(&c).for_each(|(all, c)| *all += c);
        }
        Ok(Products { along, norm, r2: None })
    }

    /// Makes an image orthogonal to those `before` with one sum over the ranks (classical Gram-Schmidt): <r, image>
    /// does not change, as r is orthogonal to the other images, and |image|^2 follows by the theorem of Pythagoras.
    /// |r|^2 is computed in the same sum. None: the image lost so much of its length that <r, image> and |image|^2 are
    /// inaccurate, and it has to be made orthogonal again.
    fn at_once(
        &self,
        before: &[VectorField],
        image: &mut VectorField,
        mixed: &MixedPrecision,
        overlaps: &mut Vec<Vec<Complex64>>,
    ) -> Result<Option<Products>> {
        let r = &mixed.r;
        let image_with: Vec<_> = before.iter().chain([r]).map(|other| (&*image, other)).collect();
        let mut sums = blas::dots_norms(&[&[(r, r)], &image_with[..]].concat())?;
        let (_, r2) = sums.remove(0);
        let (along, whole) = sums.pop().unwrap_or_default();
        let mut norm = whole.clone();
        for ((dot, _), images) in sums.iter().zip(&self.images) {
            let c = mixed.masked(|i| ratio(dot[i].conj(), images[i]));
            for (i, c) in c.iter().enumerate() {
                norm[i] -= c.norm_sqr() * images[i];
            }
            overlaps.push(c);
        }
        let minus: Vec<Vec<Complex64>> =
            overlaps.iter().map(|c| c.iter().map(|c| -c).collect()).collect();
        let terms: Vec<_> = minus.iter().zip(before).collect();
        add(&terms, image)?;
        let short = |i: usize| norm[i].is_nan() || norm[i] <= SHORTEST * whole[i];
        if (0..norm.len()).any(|i| mixed.active[i] && short(i)) {
            return Ok(None);
        }
        let along = along.iter().map(|z| z.conj()).collect();
        Ok(Some(Products { along, norm, r2: Some(r2) }))
    }

    fn push(&mut self, new: Direction) {
        self.images.push(new.norm);
        self.totals.push(new.step.clone());
        self.steps.push(new.step);
        self.overlaps.push(new.overlaps);
    }

    /// Keeps only the right-hand sides with these indices.
    fn keep(&mut self, keep: &[usize]) {
        self.images.iter_mut().for_each(|v| retain(v, keep));
        let overlaps = self.overlaps.iter_mut().flatten();
        let all = self.steps.iter_mut().chain(&mut self.totals).chain(overlaps);
        all.for_each(|v| retain(v, keep));
    }
}

/// Products of an image that was made orthogonal to others, for every right-hand side.
struct Products {
    /// Scalar products <r, image> with the residual r, one for every right-hand side.
    along: Vec<Complex64>,
    /// Square norms |image|^2, one for every right-hand side.
    norm: Vec<f64>,
    /// |r|^2 before the step along the image, if it was computed in the same sum.
    r2: Option<Vec<f64>>,
}

struct Direction {
    norm: Vec<f64>,
    step: Vec<Complex64>,
    overlaps: Vec<Vec<Complex64>>,
}

pub(super) fn run(mixed: &mut MixedPrecision, preconditioner: Option<&dyn LinOp>) -> Result<()> {
    let mut n = mixed.nrhs();
    let max = mixed.params.nkrylov;
    // With a good preconditioner directions are few and expensive: they outlive a recomputed residual.
    let lasting = preconditioner.is_some();
    // The memory for the largest number of directions is allocated from the beginning.
    let (mut z, mut q) = (vec![], vec![]);
    for _ in 0..if mixed.running() { max.min(mixed.params.stop.iterations) } else { 0 } {
        z.push(mixed.vector()?);
        q.push(mixed.vector()?);
    }
    let mut space = Space::default();
    while mixed.running() {
        let mut next = Next::Continue;
        let mut broken = false;
        while next == Next::Continue && !broken && space.len() < max {
            let k = space.len();
            match preconditioner {
                Some(inverse) => mixed.counted(inverse).apply(&mut z[k], &mixed.r)?,
                None => blas::copy(&mut z[k], &mixed.r)?,
            }
            mixed.operator().apply(&mut q[k], &z[k])?;
            let (before, rest) = q.split_at_mut(k);
            let image = &mut rest[0];
            let mut overlaps = vec![];
            let together = match lasting {
                true => space.at_once(before, image, mixed, &mut overlaps)?,
                false => None,
            };
            let Products { along, norm, r2 } = match together {
                Some(found) => found,
                None => space.one_by_one(before, image, mixed, &mut overlaps)?,
            };
            // along = <r, image> now.
            let step = mixed.masked(|i| ratio(along[i].conj(), norm[i]));
            broken = (0..n).any(|i| mixed.active[i] && !(norm[i] > 0.0 && step[i].is_finite()));
            if broken {
                break;
            }
            let minus: Vec<Complex64> = step.iter().map(|a| -a).collect();
            // |r|^2 after the step follows by the theorem of Pythagoras, too, where enough digits are left.
            let left = |r2: Vec<f64>| shortened(mixed, r2, |i| step[i].norm_sqr() * norm[i]);
            let r2 = match r2.and_then(left) {
                Some(r2) => blas::axpy(&minus, image, &mut mixed.r).map(|()| r2)?,
                None => blas::axpy_norm(&minus, image, &mut mixed.r)?,
            };
            mixed.count(2 + 4 * k + 2 + 3 + 3, 144 + 240 * k + 96 + 48 + 96);
            space.push(Direction { norm, step, overlaps });
            next = mixed.advance(&r2);
        }
        space.flush(&z, mixed.x())?;
        if broken {
            space = Space::default();
            mixed.breakdown("the image of a direction vanishes or is not finite")?;
        } else if next == Next::Refresh {
            mixed.refresh()?;
        }
        if !lasting || (space.len() == max && max < 3) {
            space = Space::default();
        } else if space.len() == max {
            space.fold(&mut z, &mut q)?;
        }
        if next == Next::Refresh {
            let mut fields: Vec<&mut VectorField> = z.iter_mut().chain(&mut q).collect();
            if let Some(keep) = mixed.shrink(&mut fields)? {
                space.keep(&keep);
                n = keep.len();
            }
        }
        // Residuals that were recomputed may have components along the images; the others are orthogonal to them.
        if mixed.running() && next == Next::Refresh {
            space.project(&q, mixed)?;
        }
    }
    Ok(())
}

/// Adds the sum of c_j x_j to y, two terms at a time.
fn add(terms: &[(&Vec<Complex64>, &VectorField)], y: &mut VectorField) -> Result<()> {
    let one = blas::uniform(y.nrhs(), 1.0);
    terms.chunks(2).try_for_each(|pair| match pair {
        [(a, x), (b, z)] => blas::axpbypcz(a, x, b, z, &one, y),
        _ => pair.iter().try_for_each(|(a, x)| blas::axpy(a, x, y)),
    })
}

/// The ratio a / b; 0 if b is 0, as for a right-hand side that is not iterated any more.
fn ratio(a: Complex64, b: f64) -> Complex64 {
    if b == 0.0 {
        Complex64::ZERO
    } else {
        a / b
    }
}
