//! Several shifts of M^dagger M at once (Jegerlehner, hep-lat/9612014), for rational approximations.

use std::borrow::BorrowMut;
use std::sync::Arc;

use super::solve::{multigrid_delta, normal_operator, Work};
use super::{Chosen, DiracSolver, Solution, SolveReport};
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, Precision, SpinorField};
use crate::linop::{Adjoint, LinOp, Product, Shifted};
use crate::operators::QuarkAction;
use crate::solvers::{
    self, InRange, Monitor, Shift, ShiftReport, SolverKind, SolverParams, System,
};

impl DiracSolver {
    /// Solves (A + sigma) x = b, A = P^dagger P in the normalisation asked for, by GCR with multigrid, from zero or,
    /// if `initial_guess`, from x. The preconditioner is A^-1 as a cycle for P^dagger and one for P make it: on
    /// an eigenvector of A with eigenvalue a the product is 1 + sigma / a, so that iterations grow only where
    /// sigma is well above the least a, and there CG for many shifts is cheap. x and b: `subset()` in the
    /// precision of the operator.
    ///
    /// # Errors
    /// Errors of [`solvers::solve`]; `BadParameter`: sigma is negative; `Unsupported`: the solver is for another
    /// equation or has no multigrid; `StaleMultigrid`: as of [`DiracSolver::solve`]; `OutOfMemory`: the vectors
    /// will not fit, nothing is allocated.
    pub fn shifted(
        &self,
        sigma: f64,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        let known = (self.params().solution, self.current_multigrid()?, self.params().even_odd);
        let (Solution::MatPcDagMatPc, Some(multigrid), Some(form)) = known else {
            bail!(
                Unsupported,
                "shifted: expected a solver of P^dagger P x = b with multigrid, found {}",
                self.params().solution
            );
        };
        if !(sigma >= 0.0 && sigma.is_finite()) {
            bail!(BadParameter, "shifted: expected sigma >= 0, found {sigma}");
        }
        let device = self.op().shape().device;
        self.make_room(|| self.memory_of(Work::Shifted, b.nrhs()))?;
        let peak = device.watch_peak();
        self.follow()?;
        let c = self.rescale();
        let shifted = |op: &Arc<dyn QuarkAction>| -> Result<Arc<dyn LinOp>> {
            Ok(Arc::new(Shifted::new(normal_operator(op, Some(form))?, c * sigma)))
        };
        let low = self.low();
        let (precise, sloppy) = (shifted(self.op())?, low.as_ref().map(shifted).transpose()?);
        let inverse = multigrid.inverse(form, sloppy.as_ref().unwrap_or(&precise).shape());
        let both = Product::new(vec![inverse.clone(), Arc::new(Adjoint(inverse))])?;
        let system =
            System { sloppy, preconditioner: Some(Arc::new(both)), ..System::new(precise) };
        let mut params = SolverParams { kind: SolverKind::Gcr, ..self.params().solver.clone() };
        if low.is_some_and(|op| op.storage().0 != Precision::F16) {
            params.delta = params.delta_up_to(multigrid_delta(params.stop.residual));
        }
        let n = b.nrhs();
        let scale = |x: &mut SpinorField, b: &SpinorField, by: f64| match by == 1.0 {
            true => Ok(()),
            false => blas::axpby(&blas::uniform(n, 0.0), b, &blas::uniform(n, by), x),
        };
        let (xs, guess) = (&mut [x], params.initial_guess);
        let mut units = InRange::new(xs, b, guess)?;
        let mut fields = units.fields();
        let (x, source) = (&mut *fields.xs[0], fields.b);
        let prepared = if guess { scale(x, source, 1.0 / c) } else { Ok(()) };
        let solved = prepared.and_then(|()| solvers::solve(&system, &params, x, source, monitor));
        let scaled = solved.and_then(|report| scale(x, source, c).map(|()| report));
        let solver = units.end(scaled)?;
        device.synchronize()?;
        let (memory_peak, iterated) = (peak.bytes(), self.iterated());
        Ok(SolveReport { solver, memory_peak, iterated, chosen: Chosen::Asked, columns: b.nrhs() })
    }

    /// Solves (A + sigma_k) x_k = b for all shifts from one Krylov space, A = M^dagger M, M M^dagger,
    /// P^dagger P or P P^dagger, or a hermitian M or P itself, in the normalisation asked for, then every shift to its
    /// tolerance. The solver's
    /// `kind`, `tol` and `initial_guess` are not used. In mixed precision the common Krylov space goes no
    /// deeper than the lower one, and each shift is refined by itself: `sloppy_shifts` asks for it.
    ///
    /// # Errors
    /// Errors of [`solvers::multishift`]; `Unsupported`: the solver is for another equation;
    /// `OutOfMemory`: the vectors will not fit, nothing is allocated; `SolverBreakdown`: every x is
    /// zero afterwards.
    pub fn multishift(
        &self,
        shifts: &[Shift],
        xs: &mut [impl BorrowMut<SpinorField>],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<(SolveReport, Vec<ShiftReport>)> {
        if self.params().distance.is_some() {
            bail!(Unsupported, "multishift: expected a solver with distance_alpha 0");
        }
        if self.params().sloppy.is_some() && !self.params().sloppy_shifts {
            return self.precise().multishift(shifts, xs, b, monitor);
        }
        let even_odd = self.params().even_odd;
        let system = match self.params().solution {
            Solution::MatDagMat | Solution::MatMatDag => self.normal_system(None)?,
            Solution::MatPcDagMatPc | Solution::MatPcMatPcDag => self.normal_system(even_odd)?,
            Solution::Mat if self.op().hermitian() => self.plain_system(None)?,
            Solution::MatPc if self.op().hermitian() => self.plain_system(even_odd)?,
            other => bail!(Unsupported, "multishift: expected M^dagger M x = b, found {other}"),
        };
        let device = self.op().shape().device;
        self.op().subset_shape(self.subset()).check(b, "b")?;
        self.make_room(|| self.memory_of(Work::MultiShift(shifts.len()), b.nrhs()))?;
        let peak = device.watch_peak();
        self.follow()?;
        // A = c^-1 A in kappa normalisation.
        let c = self.rescale();
        let scaled: Vec<Shift> =
            shifts.iter().map(|s| Shift { sigma: c * s.sigma, ..*s }).collect();
        let (solver, reports) =
            solvers::multishift(&system, &self.params().solver, &scaled, true, xs, b, monitor)?;
        if c != 1.0 {
            for x in xs.iter_mut() {
                let x = x.borrow_mut();
                let n = x.nrhs();
                blas::axpby(&blas::uniform(n, 0.0), b, &blas::uniform(n, c), x)?;
            }
        }
        device.synchronize()?;
        let iterated = self.iterated();
        let memory_peak = peak.bytes();
        Ok((
            SolveReport { solver, memory_peak, iterated, chosen: Chosen::Asked, columns: b.nrhs() },
            reports,
        ))
    }
}
