//! Fields that shrink to the right-hand sides that are still iterated.

use super::{retain, MixedPrecision};
use crate::error::Result;
use crate::fields::VectorField;

impl MixedPrecision<'_, '_> {
    /// Called after `refresh`. Once most right-hand sides have stopped and the others are not close to their goal, all
    /// fields, including the `fields` of the algorithm, are reduced to those others. Returns the indices of the
    /// right-hand sides that remain; None: nothing was changed. In a solve with one precision x and b of these are
    /// copied to memory that is no longer needed.
    pub fn shrink(&mut self, fields: &mut [&mut VectorField]) -> Result<Option<Vec<usize>>> {
        let keep: Vec<usize> = (0..self.nrhs()).filter(|&i| self.active[i]).collect();
        let k = keep.len();
        let width = if self.nrhs() < self.last_residuals.len() { 2 * k } else { 3 * k };
        // A GPU compiles kernels for a new number of right-hand sides, which does not pay if they have nearly
        // converged.
        let far = keep.iter().any(|&i| self.goal[i] < self.delta * self.relative[i]);
        let possible = !self.done && far && width <= self.nrhs() && self.r.can_keep();
        if !possible || keep.is_empty() {
            return Ok(None);
        }
        self.note_heavy_quark()?;
        self.store()?;
        let (columns, r) = (self.nrhs(), &mut self.r);
        match (&mut self.upper, &mut self.left) {
            (Some(upper), _) => {
                r.keep(&keep)?;
                if let Some(correction) = &mut upper.correction {
                    correction.keep(&keep)?;
                }
                retain(&mut upper.heavy_quark, &keep);
            }
            (None, Some((x, b))) => {
                r.keep(&keep)?;
                x.keep(&keep)?;
                b.keep(&keep)?;
            }
            (None, None) => {
                r.move_to_front(&keep)?;
                let mut x = r.split_off(k)?;
                let mut b = x.split_off(k)?;
                if columns > 3 * k {
                    b.keep(&(0..k).collect::<Vec<_>>())?;
                }
                for (to, &from) in keep.iter().enumerate() {
                    x.copy_rhs(to, self.x, from, 1)?;
                    b.copy_rhs(to, self.b, from, 1)?;
                }
                self.left = Some((x, b));
            }
        }
        for field in fields {
            field.keep(&keep)?;
        }
        if let Some(inverse) = self.preconditioner {
            // Frees vectors that the preconditioner keeps for the larger number of right-hand sides; they cannot be
            // used for fewer.
            inverse.free_idle();
        }
        retain(&mut self.columns, &keep);
        for v in [
            &mut self.r2,
            &mut self.weight,
            &mut self.unit,
            &mut self.scale,
            &mut self.goal,
            &mut self.peak,
            &mut self.relative,
            &mut self.rate,
            &mut self.least,
            &mut self.distance,
            &mut self.drift,
            &mut self.best,
        ] {
            retain(v, &keep);
        }
        for v in [
            &mut self.active,
            &mut self.restarted,
            &mut self.zero,
            &mut self.claimed,
            &mut self.rounded,
            &mut self.to_update,
        ] {
            retain(v, &keep);
        }
        for v in [&mut self.best_at, &mut self.without_progress] {
            retain(v, &keep);
        }
        Ok(Some(keep))
    }
}
