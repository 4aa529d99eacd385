//! Chronological guesses (Brower, Ivanenko, Levi and Orginos, hep-lat/9509012): of the solutions along a
//! trajectory the combination with the least |A^(1/2) (x - guess)|.

use num_complex::Complex64;

use crate::backend::found_or;
use crate::error::Result;
use crate::fields::{blas, SpinorField};
use crate::linop::LinOp;
use crate::solvers::dense::solve_positive;

/// The solutions of earlier solves, the latest last.
#[derive(Default)]
pub struct Guesses {
    max: usize,
    kept: Vec<SpinorField>,
}

impl Guesses {
    /// Room for at most `max` solutions.
    pub fn new(max: usize) -> Self {
        Guesses { max, kept: vec![] }
    }
    pub fn clear(&mut self) {
        self.kept.clear();
    }

    pub fn keep(&mut self, x: &SpinorField) -> Result<()> {
        if self.max == 0 {
            return Ok(());
        }
        // A rehearsal, which is for memory, too, has as many as there will be.
        for _ in 0..found_or(self.max, || 1) {
            let full = self.kept.len() == self.max;
            let mut place = if full { self.kept.remove(0) } else { x.like(x.precision())? };
            blas::copy(&mut place, x)?;
            self.kept.push(place);
        }
        Ok(())
    }

    /// Forgets the latest solution.
    pub fn drop_last(&mut self) {
        self.kept.pop();
    }

    /// Sets x to the guess for op^dagger op x = b, for one right-hand side; returns false, and leaves x, where no
    /// solutions are kept.
    pub fn guess(&self, op: &dyn LinOp, x: &mut SpinorField, b: &SpinorField) -> Result<bool> {
        let n = self.kept.len();
        if n == 0 {
            return Ok(false);
        }
        // <op v_i, op v_j> c_j = <v_i, b>
        let mut images = vec![];
        for v in &self.kept {
            let mut image = v.like(v.precision())?;
            op.apply(&mut image, v)?;
            images.push(image);
        }
        let (mut gram, mut along) = (vec![Complex64::ZERO; n * n], vec![]);
        for i in 0..n {
            for j in 0..=i {
                let z = blas::dot(&images[i], &images[j])?[0];
                (gram[i * n + j], gram[j * n + i]) = (z, z.conj());
            }
            along.push(blas::dot(&self.kept[i], b)?[0]);
        }
        let c = solve_positive(&gram, &along)?;
        x.clear()?;
        for (v, c) in self.kept.iter().zip(c) {
            blas::axpy(&[c], v, x)?;
        }
        Ok(true)
    }
}
