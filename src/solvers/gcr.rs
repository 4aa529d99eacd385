//! Restarted GCR (Eisenstat, Elman, Schultz 1983) with a preconditioner that may vary. Directions
//! are not orthogonalised themselves, only their images; x is updated once per cycle through the
//! triangular system of the orthogonalisation.

use num_complex::Complex64;

use super::levels::{Levels, Next};
use crate::error::Result;
use crate::fields::{blas, VectorField};
use crate::linop::LinOp;

pub(super) fn run(levels: &mut Levels, preconditioner: Option<&dyn LinOp>) -> Result<()> {
    let mut n = levels.nrhs();
    // z: directions, q: images M z made orthogonal; fields appear as a cycle first needs them.
    let (mut z, mut q) = (vec![], vec![]);
    while levels.running() {
        let mut images: Vec<Vec<f64>> = vec![];
        let mut steps: Vec<Vec<Complex64>> = vec![];
        // overlaps[k][j]: what was subtracted of q_j from q_k.
        let mut overlaps: Vec<Vec<Vec<Complex64>>> = vec![];
        let mut next = Next::Continue;
        let mut broken = false;
        while next == Next::Continue && !broken && steps.len() < levels.params.nkrylov {
            let k = steps.len();
            if k == z.len() {
                z.push(levels.vector()?);
                q.push(levels.vector()?);
            }
            match preconditioner {
                Some(inverse) => {
                    inverse.apply(&mut z[k], &levels.r)?;
                    levels.report.flops += inverse.flops() * n as f64;
                    levels.report.bytes += inverse.bytes(n);
                }
                None => blas::copy(&mut z[k], &levels.r)?,
            }
            levels.apply(&mut q[k], &z[k])?;
            let (before, rest) = q.split_at_mut(k);
            let image = &mut rest[0];
            let mut subtracted = vec![];
            // <next factor, image> is found while the last overlap is subtracted.
            let (mut along, mut norm) = match before.first() {
                Some(first) => blas::dot_norm(first, image).map(|(d, _)| (d, vec![]))?,
                None => {
                    let (d, norm) = blas::dot_norm(image, &levels.r)?;
                    (d.iter().map(|z| z.conj()).collect(), norm)
                }
            };
            for j in 0..k {
                let c = levels.masked(|i| ratio(along[i], images[j][i]));
                let minus: Vec<Complex64> = c.iter().map(|c| -c).collect();
                let with = before.get(j + 1).unwrap_or(&levels.r);
                (along, norm) = blas::axpy_dot(&minus, &before[j], image, with)?;
                subtracted.push(c);
            }
            // along = <r, image> now.
            let a = levels.masked(|i| ratio(along[i].conj(), norm[i]));
            broken = (0..n).any(|i| levels.active[i] && !(norm[i] > 0.0 && a[i].is_finite()));
            if broken {
                break;
            }
            let minus: Vec<Complex64> = a.iter().map(|a| -a).collect();
            let r2 = blas::axpy_norm(&minus, image, &mut levels.r)?;
            levels.count(2 + 4 * k + 2 + 3 + 3, 144 + 240 * k + 96 + 48 + 96);
            images.push(norm);
            steps.push(a);
            overlaps.push(subtracted);
            next = levels.advance(&r2);
        }
        // chi_j + sum_{k > j} overlaps[k][j] chi_k = steps_j
        for j in (0..steps.len()).rev() {
            for k in j + 1..steps.len() {
                for i in 0..n {
                    let shift = overlaps[k][j][i] * steps[k][i];
                    steps[j][i] -= shift;
                }
            }
            blas::axpy(&steps[j], &z[j], levels.x())?;
        }
        if broken {
            levels.breakdown("the image of a direction vanishes or is not finite")?;
        } else if next == Next::Refresh {
            levels.refresh()?;
        }
        let mut fields: Vec<&mut VectorField> = z.iter_mut().chain(&mut q).collect();
        if next == Next::Refresh {
            if let Some(keep) = levels.shrink(&mut fields)? {
                n = keep.len();
            }
        }
    }
    Ok(())
}

/// a / b; 0 where a direction was frozen and its image vanishes.
fn ratio(a: Complex64, b: f64) -> Complex64 {
    if b == 0.0 {
        Complex64::ZERO
    } else {
        a / b
    }
}
