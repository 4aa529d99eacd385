//! Chronological guesses (Brower, Ivanenko, Levi and Orginos, hep-lat/9509012): the combination of earlier solutions
//! on a trajectory with the smallest |A^(1/2) (x - guess)|.

use num_complex::Complex64;

use crate::error::Result;
use crate::fields::{blas, SpinorField};
use crate::linop::LinOp;
use crate::solvers::dense::solve_positive;

/// Earlier solutions, the latest one last.
#[derive(Default)]
pub struct Guesses {
    max: usize,
    kept: Vec<SpinorField>,
    /// Fields for later solutions. All of them are allocated with the first one, so that later solves need no more
    /// memory.
    free: Vec<SpinorField>,
}

impl Guesses {
    /// Makes a store for at most `max` solutions.
    pub fn new(max: usize) -> Self {
        Guesses { max, ..Guesses::default() }
    }
    pub fn clear(&mut self) {
        self.kept.clear();
        self.free.clear();
    }

    pub fn keep(&mut self, x: &SpinorField) -> Result<()> {
        if self.max == 0 {
            return Ok(());
        }
        while self.kept.len() + self.free.len() < self.max {
            self.free.push(x.like(x.precision())?);
        }
        let mut place = self.free.pop().unwrap_or_else(|| self.kept.remove(0));
        blas::copy(&mut place, x)?;
        self.kept.push(place);
        Ok(())
    }

    /// Removes the latest solution.
    pub fn drop_last(&mut self) {
        self.free.extend(self.kept.pop());
    }

    /// Sets x to the guess for op^dagger op x = b, for one right-hand side. Returns false, with x unchanged, if there
    /// are no solutions yet.
    pub fn guess(&self, op: &dyn LinOp, x: &mut SpinorField, b: &SpinorField) -> Result<bool> {
        let n = self.kept.len();
        if n == 0 {
            return Ok(false);
        }
        // <op v_i, op v_j> c_j = <v_i, b>
        let mut images = vec![];
        for _ in 0..self.max {
            images.push(x.like(x.precision())?);
        }
        for (image, v) in images.iter_mut().zip(&self.kept) {
            op.apply(image, v)?;
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
