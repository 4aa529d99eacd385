//! Several shifts of M^dagger M at once, for rational approximations.

use std::borrow::BorrowMut;

use super::{DiracSolver, Solution, SolveReport};
use crate::bail;
use crate::error::{Result, Status};
use crate::fields::{blas, SpinorField};
use crate::solvers::{self, Monitor, Shift, ShiftReport};

impl DiracSolver {
    /// Solves (A + sigma_k) x_k = b for all shifts from one Krylov space, A = M^dagger M or
    /// P^dagger P in the normalisation asked for, then every shift to its tolerance. The solver's
    /// `kind`, `tol` and `initial_guess` are not used. In mixed precision the common Krylov space goes no
    /// deeper than the lower one, and each shift is refined by itself: `sloppy_shifts` asks for it.
    ///
    /// # Errors
    /// As of [`solvers::multishift`]; `Unsupported`: the solver is for another equation;
    /// `OutOfMemory`: the vectors will not fit, nothing is allocated; `SolverBreakdown`: every x is
    /// zero afterwards.
    pub fn multishift(
        &self,
        shifts: &[Shift],
        xs: &mut [impl BorrowMut<SpinorField>],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<(SolveReport, Vec<ShiftReport>)> {
        if self.params().sloppy.is_some() && !self.params().sloppy_shifts {
            return self.precise().multishift(shifts, xs, b, monitor);
        }
        let schur = match self.params().solution {
            Solution::MatDagMat => None,
            Solution::MatPcDagMatPc => self.params().even_odd,
            other => bail!(Unsupported, "multishift: expected M^dagger M x = b, found {other:?}"),
        };
        let device = self.op().gauge().device().clone();
        let system = self.normal_system(schur);
        // Besides what one solve takes: a direction for every shift.
        let shape = system.sloppy.as_ref().unwrap_or(&system.precise).shape();
        let directions = shifts.len() as u64 * shape.bytes(b.nrhs());
        device.require(self.memory(b.nrhs()) + directions, "this solve")?;
        let peak = device.watch_peak();
        self.follow()?;
        // A = c^-1 A in kappa normalisation.
        let c = self.rescale();
        let scaled: Vec<Shift> =
            shifts.iter().map(|s| Shift { sigma: c * s.sigma, tol: s.tol }).collect();
        let solved =
            solvers::multishift(&system, &self.params().solver, &scaled, true, xs, b, monitor);
        let (solver, reports) = match solved {
            Err(e) if e.status == Status::SolverBreakdown => {
                xs.iter_mut().try_for_each(|x| x.borrow_mut().clear())?;
                return Err(e);
            }
            solved => solved?,
        };
        if c != 1.0 {
            for x in xs.iter_mut() {
                let x = x.borrow_mut();
                let n = x.nrhs();
                blas::axpby(&blas::uniform(n, 0.0), b, &blas::uniform(n, c), x)?;
            }
        }
        device.synchronize()?;
        let iterated = self.iterated();
        Ok((SolveReport { solver, memory_peak: peak.bytes(), iterated }, reports))
    }
}
