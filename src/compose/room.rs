//! What solves need before they run, from rehearsals of them, and what fits.

use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError};

use super::equation::SolveParams;
use super::multigrid::Multigrid;
use super::solve::{lends, DiracSolver, Work};
use crate::backend::{runs, Device};
use crate::error::Result;
use crate::fields::{Footprint, Needs, SpinorField};
use crate::operators::SchurAction;
use crate::solvers::{unwatched, Shift};

impl DiracSolver {
    /// Device memory that `solve` needs for `nrhs` right-hand sides besides x and b: that of a rehearsal of a first
    /// solve, whose operators have no temporaries yet. Where there is more, inverse clover blocks come to it. A solve with
    /// multigrid counts BiCGStab, which goes on where it stands still.
    ///
    /// # Errors
    /// `InvalidArgument`: a number of right-hand sides that there is not.
    pub fn memory(&self, nrhs: usize) -> Result<u64> {
        self.memory_of(Work::Solve, nrhs)
    }

    /// The same of other work.
    pub(super) fn memory_of(&self, work: Work, nrhs: usize) -> Result<u64> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match known.entry((work, nrhs)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(self.footprint(work, nrhs)?),
        };
        Ok(found.bytes(&self.op().shape().device))
    }

    fn footprint(&self, work: Work, nrhs: usize) -> Result<Footprint> {
        let (_, taken) = self.in_rehearsal(|device, multigrid| {
            let solutions = match work {
                Work::MultiShift(shifts) => shifts,
                _ => 1,
            };
            let there = || {
                let (solver, x, b) = self.like_on(device, multigrid, nrhs)?;
                let mut xs = vec![x];
                for _ in 1..solutions {
                    xs.push(b.like(b.precision())?);
                }
                Ok((solver, xs, b))
            };
            let geometry = self.op().links().geometry();
            geometry.footprint(device, None::<fn() -> String>, there, |(mut solver, mut xs, b)| {
                solver.measured = true;
                // Made-up sums may end these early.
                match work {
                    Work::Solve => solver.run_through(&mut xs[0], &b),
                    Work::Shifted => _ = solver.shifted(0.0, &mut xs[0], &b, &mut unwatched),
                    Work::MultiShift(n) => {
                        let tol = self.params().solver.stop.residual;
                        let shift = |k| Shift { sigma: k as f64, tol, heavy_quark: 0.0 };
                        let shifts: Vec<Shift> = (0..n).map(shift).collect();
                        _ = solver.multishift(&shifts, &mut xs, &b, &mut unwatched);
                    }
                }
                Ok(())
            })
        })?;
        Ok(taken)
    }

    /// What a solve for `nrhs` right-hand sides needs, by a rehearsal of it. Kernels are those of a solve by the hierarchy
    /// that an automatic solver has, if there is one; a hierarchy that it may set up on the way is not in it.
    ///
    /// # Errors
    /// Errors of [`DiracSolver::memory`].
    pub fn needs(&self, nrhs: usize) -> Result<Needs> {
        if let Some(by_gcr) = self.by_gcr() {
            return Ok(Needs { memory: self.memory(nrhs)?, ..by_gcr.needs(nrhs)? });
        }
        let needs = self.in_rehearsal(|device, multigrid| {
            let there = || self.like_on(device, multigrid, nrhs);
            self.op().links().geometry().needs(device, there, |(solver, mut x, b)| {
                solver.run_through(&mut x, &b);
                Ok(())
            })
        })?;
        // Kernels of BiCGStab that goes on for multigrid are not in it, its memory is.
        Ok(Needs { memory: self.memory(nrhs)?, ..needs })
    }

    /// Does `work` with a device of rehearsals and the hierarchy there that stands for this solver's.
    fn in_rehearsal<T>(&self, work: impl FnOnce(&Device, Option<&Arc<Multigrid>>) -> T) -> T {
        match self.lock().multigrid.clone() {
            None => work(&self.op().shape().device.stand_in(), None),
            Some(multigrid) => multigrid.with_stand_in(|like| work(&like.device(), Some(like))),
        }
    }

    /// A solver like this one on another device, its links zero, with fields for x and b.
    fn like_on(
        &self,
        device: &Device,
        multigrid: Option<&Arc<Multigrid>>,
        nrhs: usize,
    ) -> Result<(DiracSolver, SpinorField, SpinorField)> {
        let params = SolveParams { automatic: None, ..self.params().clone() };
        let solver = DiracSolver::new(self.op().like_on(device)?, params)?;
        let mut solver = solver.with_multigrid(multigrid.cloned())?;
        solver.set_deflation(self.deflation.as_ref().map(|d| d.like_on(device)).transpose()?);
        let shape = solver.op().subset_shape(solver.subset());
        Ok((solver, shape.field(nrhs)?, shape.field(nrhs)?))
    }

    /// The solver by the hierarchy that an automatic one has.
    pub(super) fn by_gcr(&self) -> Option<Arc<DiracSolver>> {
        Some(self.automatic()?.multigrid.as_ref()?.1.clone())
    }

    /// The memory of a solve by the hierarchy that an automatic solver has; without one, [`DiracSolver::memory`].
    ///
    /// # Errors
    /// Errors of [`DiracSolver::memory`].
    pub fn memory_with_multigrid(&self, nrhs: usize) -> Result<u64> {
        self.by_gcr().map_or_else(|| self.memory(nrhs), |solver| solver.memory(nrhs))
    }

    /// Refuses work that needs more memory than there is. The memory of solves counts all vectors of multigrid's cycles:
    /// those that earlier ones have left are freed where they are missing.
    pub(crate) fn require(&self, bytes: u64, what: &str) -> Result<()> {
        let device = &self.op().shape().device;
        device.require(bytes, what).or_else(|_| {
            if let Some(multigrid) = self.multigrid() {
                multigrid.free_idle();
            }
            device.require(bytes, what)
        })
    }

    /// Refuses a solve that needs more memory than there is on a rank. In a rehearsal of larger work that memory counts.
    pub(super) fn make_room(&self, bytes: impl FnOnce() -> Result<u64>) -> Result<()> {
        let fits = || bytes().and_then(|bytes| self.require(bytes, "this solve"));
        match runs() {
            true => self.op().links().geometry().comm().agree(fits()),
            false if self.op().shape().device.is_stand_in() && !self.measured => fits(),
            false => Ok(()),
        }
    }

    /// The inverse clover blocks of all precise residuals of a solve for `nrhs` right-hand sides, for as long as the result
    /// lives, where the solver keeps none and there is room for them besides the solve on all ranks. All of them call this.
    pub(super) fn blocks_in_room(&self, nrhs: usize) -> Result<Option<Arc<dyn SchurAction>>> {
        let lent = runs() && lends(self.params(), self.op().storage().0);
        let Some(form) = self.params().even_odd.filter(|_| lent) else { return Ok(None) };
        let complement = self.op().clone().schur(form)?;
        let bytes = |()| Ok(self.memory(nrhs)? + complement.missing_blocks());
        if self.first_to_fit(&[()], bytes)?.is_none() {
            return Ok(None);
        }
        self.op().links().geometry().comm().agree(complement.keep_blocks())?;
        Ok(Some(complement))
    }

    /// The first of these ways to solve that fits on all ranks, by the bytes that `need` counts of it and of what a solve
    /// for so many right-hand sides takes: with a hierarchy if there is one, else without. All ranks call this and get the
    /// same.
    ///
    /// # Errors
    /// `CommFailed`: ranks do not agree.
    pub(crate) fn fitting<T: Copy>(
        &self,
        ways: &[T],
        need: impl Fn(T, &dyn Fn(usize) -> Result<u64>) -> Result<u64>,
    ) -> Result<Option<T>> {
        for solve in [DiracSolver::memory_with_multigrid, DiracSolver::memory] {
            let found = self.first_to_fit(ways, |way| need(way, &|nrhs| solve(self, nrhs)))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The first of these ways to solve whose bytes there are on all ranks.
    fn first_to_fit<T: Copy>(
        &self,
        ways: &[T],
        bytes: impl Fn(T) -> Result<u64>,
    ) -> Result<Option<T>> {
        let comm = self.op().links().geometry().comm().clone();
        for &way in ways {
            let bytes = comm.agree(bytes(way))?;
            let mut short = [f64::from(self.require(bytes, "this solve").is_err())];
            comm.max(&mut short)?;
            if short[0] == 0.0 {
                return Ok(Some(way));
            }
        }
        Ok(None)
    }

    /// The number of right-hand sides, of `nrhs` whose x and b are there, that an automatic solver's hierarchy solves for
    /// at a time. All ranks call this and get the same number.
    ///
    /// # Errors
    /// `OutOfMemory`: not even one fits.
    pub(super) fn part_by_multigrid(&self, nrhs: usize) -> Result<usize> {
        let memory = |n| self.memory_with_multigrid(n);
        match self.first_to_fit(&parts(nrhs), memory)? {
            Some(n) => Ok(n),
            None => {
                let missing =
                    memory(1).and_then(|bytes| self.require(bytes, "a solve with multigrid"));
                self.op().links().geometry().comm().agree(missing).map(|()| 1)
            }
        }
    }

    /// The number of right-hand sides, of `nrhs`, that fit at a time with their x and b: all, or else even parts, as few
    /// as possible. All ranks call this and get the same number.
    ///
    /// # Errors
    /// Errors of [`DiracSolver::fitting`].
    pub fn part_of(&self, nrhs: usize) -> Result<usize> {
        let shape = self.op().subset_shape(self.subset());
        let found = self.fitting(&parts(nrhs), |n, solve| Ok(2 * shape.bytes(n) + solve(n)?))?;
        Ok(found.unwrap_or(1))
    }
}

/// Sizes of even parts of so many right-hand sides, the largest first.
fn parts(nrhs: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = (1..=nrhs).map(|parts| nrhs.div_ceil(parts)).collect();
    sizes.dedup();
    sizes
}
