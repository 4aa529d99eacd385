//! Solves with several shifts of M^dagger M in one Krylov space (Jegerlehner, hep-lat/9612014), for rational
//! approximations.

use std::borrow::BorrowMut;
use std::sync::Arc;
use std::time::Instant;

use super::bounded::{boundary_of, Bounded};
use super::equation::{iterated_operator, Chosen, Equations, Solution, SolveParams, SolveReport};
use super::inverter::{Inverter, SolveRequest};
use super::krylov::Krylov;
use super::memory::{PreparedSolve, Size, SolveMemory};
use super::normalised::{scale, Normalised};
use super::plan::{multigrid_delta, Ingredients};
use super::scaled::Scaled;
use super::schur::Complement;
use super::{DiracSolver, Prepared};
use crate::backend::Device;
use crate::bail;
use crate::compose::multigrid::Multigrid;
use crate::error::{Result, Status};
use crate::fields::{vanishing, Precision, SpinorField};
use crate::linop::{Adjoint, LinOp, Normal, Product, Shifted};
use crate::operators::{InverseOwner, QuarkAction};
use crate::refuse;
use crate::solvers::{
    self, no_monitor, InRange, Monitor, PartsMonitor, Shift, ShiftReport, SolverKind, SolverParams,
    SolverReport, Stop, System,
};

/// Solves with several shifts at once, and their memory.
pub struct Shifts {
    system: ShiftSystem,
    memory: SolveMemory,
}

/// The operator to which shifts are added: that of the equation if it is hermitian, else its square M^dagger M.
struct ShiftSystem {
    of: Ingredients,
    system: System,
}

impl ShiftSystem {
    fn new(of: Ingredients) -> Result<Self> {
        let (own, even_odd) = (of.op.storage().0, of.params.even_odd);
        let form = match of.params.solution {
            Solution::MatDagMat | Solution::MatMatDag => None,
            Solution::MatPcDagMatPc | Solution::MatPcMatPcDag => even_odd,
            Solution::Mat if of.op.hermitian() => None,
            Solution::MatPc if of.op.hermitian() => even_odd,
            other => {
                refuse!(Unsupported, "multishift", expected("M^dagger M x = b"), found("{other}"))
            }
        };
        let squared = |op: &Arc<dyn QuarkAction>, owner| -> Result<Arc<dyn LinOp>> {
            Ok(of.squared(match form {
                Some(form) => Complement::new(op.clone(), form, owner)?.schur,
                None => op.clone(),
            }))
        };
        let own_inverse = InverseOwner::Complement;
        let sloppy = of.low.as_ref().map(|low| squared(low, own_inverse)).transpose()?;
        let precise = squared(&of.op, of.params.inverse_owner(own))?;
        let system = System { sloppy, ..System::new(precise) };
        Ok(ShiftSystem { of, system })
    }

    /// Solves for all shifts in the normalisation of the equation, whose operator is c times the one in kappa
    /// normalisation.
    fn solve(
        &self,
        stop: Stop,
        shifts: &[Shift],
        xs: &mut [impl BorrowMut<SpinorField>],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<(SolverReport, Vec<ShiftReport>)> {
        let c = self.of.factor();
        let boundary = boundary_of(&*self.of.op);
        let inside = boundary.map(|boundary| vanishing(b, boundary)).transpose()?;
        let b = inside.as_ref().unwrap_or(b);
        let scaled: Vec<Shift> =
            shifts.iter().map(|s| Shift { sigma: c * s.sigma, ..*s }).collect();
        let params = &SolverParams { stop, ..self.of.params.solver.clone() };
        let solved = solvers::multishift(&self.system, params, &scaled, true, xs, b, monitor);
        let System { precise, sloppy, .. } = &self.system;
        [precise].into_iter().chain(sloppy).for_each(|op| op.free_idle());
        let found = solved?;
        if c != 1.0 {
            xs.iter_mut().try_for_each(|x| scale(x.borrow_mut(), c, b))?;
        }
        Ok(found)
    }
}

impl ShiftSystem {
    /// Solves for `at_once` right-hand sides at a time. If an argument is refused no x changes; after a breakdown
    /// every x is 0.
    fn in_parts(
        &self,
        at_once: usize,
        shifts: &[Shift],
        xs: &mut [impl BorrowMut<SpinorField>],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<(SolverReport, Vec<ShiftReport>)> {
        let (start, n, stop) = (Instant::now(), b.nrhs(), self.of.params.solver.stop);
        log::info!("{n} right-hand sides: {at_once} at a time fit in {}", b.device().name());
        InRange::new(&mut [] as &mut [SpinorField], b, false)?;
        let mut watched = PartsMonitor::new(monitor, vec![1.0; n], start);
        let mut total: Option<(SolverReport, Vec<ShiftReport>)> = None;
        for first in (0..n).step_by(at_once) {
            let count = at_once.min(n - first);
            let mut parts = vec![];
            for x in xs.iter_mut() {
                parts.push(x.borrow_mut().columns(first, count)?);
            }
            let mut notify = watched.of(first..first + count, 0);
            let part_b = b.columns(first, count)?;
            let part = self.solve(stop.since(start), shifts, &mut parts, &part_b, &mut notify);
            total = Some(match (total, part) {
                (_, Err(e)) if e.status == Status::SolverBreakdown => {
                    xs.iter_mut().try_for_each(|x| x.borrow_mut().clear())?;
                    return Err(e);
                }
                (None, part) => part?,
                (Some((solver, reports)), part) => {
                    let (others, more) = part?;
                    let both = reports.into_iter().zip(more).map(|(a, b)| a.join(b)).collect();
                    (solver.join(others), both)
                }
            });
        }
        match total {
            Some(all) => Ok(all),
            None => bail!(Internal, "a solve without right-hand sides"),
        }
    }
}

impl Shifts {
    /// Makes multi-shift solves. Their common Krylov space cannot be more precise than its vectors, so that it is in
    /// lower precision only if the settings ask for it.
    fn new(of: &Ingredients) -> Result<Self> {
        let params = SolveParams { automatic: None, ..of.params.clone() };
        let mut of = Ingredients { params, multigrid: None, deflation: None, ..of.clone() };
        if !of.params.sloppy_shifts {
            (of.params.sloppy, of.low) = (None, None);
        }
        let asked = of.clone();
        let make = move |device: &Device, _: Option<&Arc<Multigrid>>, size: Size| {
            let there = asked.on(device, None)?;
            let (shape, tol) = (there.shape(), there.params.solver.stop.residual);
            let (system, b) = (ShiftSystem::new(there)?, shape.field(size.nrhs)?);
            let mut xs = vec![];
            for _ in 0..size.solutions {
                xs.push(b.like(b.precision())?);
            }
            let shift = |k| Shift { sigma: k as f64, tol, heavy_quark: 0.0 };
            let shifts: Vec<Shift> = (0..size.solutions).map(shift).collect();
            let run = move || {
                // The sums of a rehearsal are made up and may end the solve with an error, which is ignored.
                let stop = Stop { seconds: f64::INFINITY, ..system.of.params.solver.stop };
                let _ = system.solve(stop, &shifts, &mut xs, &b, &mut no_monitor);
            };
            Ok(Box::new(run) as PreparedSolve)
        };
        let memory = SolveMemory::new(of.op.clone(), None, 1, Box::new(make));
        Ok(Shifts { system: ShiftSystem::new(of)?, memory })
    }
}

/// The chain that solves (A + sigma) x = b for A = P^dagger P by GCR with multigrid: on an eigenvector of A with
/// eigenvalue a, the product with the preconditioner is 1 + sigma / a.
fn shifted_chain(of: &Ingredients, sigma: f64) -> Result<Arc<dyn Inverter>> {
    let (Some(multigrid), Some(form)) = (of.multigrid.clone(), of.params.even_odd) else {
        bail!(Internal, "shifted: no multigrid");
    };
    let c = of.factor();
    let shifted = |op: &Arc<dyn QuarkAction>| -> Result<Arc<dyn LinOp>> {
        let normal = Normal::mdag_m(iterated_operator(op, Some(form))?);
        Ok(Arc::new(Shifted::new(Arc::new(normal), c * sigma)))
    };
    let (precise, sloppy) = (shifted(&of.op)?, of.low.as_ref().map(shifted).transpose()?);
    let inverse = multigrid.inverse(form, sloppy.as_ref().unwrap_or(&precise).shape());
    let both = Product::new(vec![inverse.clone(), Arc::new(Adjoint(inverse))])?;
    let op = precise.clone();
    let system = System { sloppy, preconditioner: Some(Arc::new(both)), ..System::new(precise) };
    let mut params = SolverParams { kind: SolverKind::Gcr, ..of.params.solver.clone() };
    if of.low.as_ref().is_some_and(|op| op.storage().0 != Precision::F16) {
        params.delta = params.delta_up_to(multigrid_delta(params.stop.residual));
    }
    let krylov = Krylov {
        op,
        normal: Equations::Direct,
        system,
        params,
        copy: of.copy(),
        iterated: of.iterated(),
        multigrid: Some(multigrid),
        action: of.op.clone(),
    };
    let next: Arc<dyn Inverter> = Arc::new(krylov);
    let chain = Scaled(match c == 1.0 {
        true => next,
        false => Arc::new(Normalised { next, factor: c }),
    });
    Ok(Bounded::before(Arc::new(chain), &*of.op))
}

/// Device memory of solves for one shift by multigrid.
fn shifted_memory(of: &Ingredients) -> SolveMemory {
    let params = SolveParams { automatic: None, ..of.params.clone() };
    let asked = Ingredients { params, deflation: None, ..of.clone() };
    let make = move |device: &Device, multigrid: Option<&Arc<Multigrid>>, size: Size| {
        let there = asked.on(device, multigrid)?;
        let chain = super::plan::plan(&there)?;
        let shape = there.shape();
        let (mut x, b) = (shape.field(size.nrhs)?, shape.field(size.nrhs)?);
        let run = move || {
            let request =
                SolveRequest::new(there.params.solver.stop, there.params.solver.initial_guess);
            // The sums of a rehearsal are made up and may end the solve with an error, which is ignored.
            let _ = shifted_chain(&there, 0.0)
                .and_then(|chain| chain.solve(&mut x, &b, &request, &mut no_monitor));
            drop(chain);
        };
        Ok(Box::new(run) as PreparedSolve)
    };
    SolveMemory::new(of.op.clone(), of.multigrid.clone(), 1, Box::new(make))
}

impl DiracSolver {
    /// Solves (A + sigma) x = b, A = P^dagger P in the normalisation asked for, by GCR with multigrid, from zero or,
    /// if `initial_guess`, from x. The preconditioner is A^-1 as a cycle for P^dagger and one for P make it: on
    /// an eigenvector of A with eigenvalue a the product is 1 + sigma / a, so that iterations grow only where
    /// sigma is well above the least a, and there CG for many shifts is cheap. x and b: `subset()` in the
    /// precision of the operator.
    ///
    /// # Errors
    /// Errors of [`solvers::solve`]; `BadParameter`: sigma is negative; `Unsupported`: the solver is for another
    /// equation or has no multigrid; `StaleMultigrid`: the links have changed since the hierarchy was made;
    /// `OutOfMemory`: the vectors will not fit, nothing is allocated.
    pub fn shifted(
        &self,
        sigma: f64,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        let Prepared { of, plan, shifted, .. } = self.prepared();
        plan.parts.prepare()?;
        let known = (of.params.solution, &of.multigrid, of.params.even_odd);
        let (Solution::MatPcDagMatPc, Some(_), Some(_)) = known else {
            refuse!(
                Unsupported,
                "shifted",
                expected("a solver of P^dagger P x = b with multigrid"),
                found("{}", of.params.solution)
            );
        };
        if !(sigma >= 0.0 && sigma.is_finite()) {
            refuse!(BadParameter, "shifted", expected("sigma >= 0"), found("{sigma}"));
        }
        let device = of.op.shape().device;
        let memory = shifted.get_or_init(|| shifted_memory(&of));
        memory.make(|| memory.bytes(b.nrhs()))?;
        let peak = device.watch_peak();
        let solver = &of.params.solver;
        let request = SolveRequest::new(solver.stop, solver.initial_guess);
        let report = shifted_chain(&of, sigma)?.solve(x, b, &request, monitor)?;
        device.synchronize()?;
        Ok(SolveReport { memory_peak: peak.bytes(), ..report })
    }

    /// Solves (A + sigma_k) x_k = b for all shifts to the solver's tolerance: for each of the `least` smallest ones by
    /// [`DiracSolver::shifted`], for the others together by [`DiracSolver::multishift`], whose iterations are then
    /// those of the smallest shift that is left. Returns the report of each solve; one that did not converge is the
    /// last.
    ///
    /// # Errors
    /// Errors of [`DiracSolver::shifted`] and [`DiracSolver::multishift`].
    pub fn least_shifted(
        &self,
        least: usize,
        shifts: &[f64],
        xs: &mut [SpinorField],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<Vec<SolverReport>> {
        let mut ascending: Vec<(f64, &mut SpinorField)> =
            shifts.iter().copied().zip(xs.iter_mut()).collect();
        ascending.sort_by(|a, b| a.0.total_cmp(&b.0));
        let others = ascending.split_off(least.min(shifts.len()));
        let mut reports: Vec<SolverReport> = vec![];
        for (sigma, x) in ascending {
            reports.push(self.shifted(sigma, x, b, monitor)?.solver);
            if !reports.iter().all(|report| report.converged) {
                return Ok(reports);
            }
        }
        let tol = self.params().solver.stop.residual;
        let (others, mut xs): (Vec<f64>, Vec<&mut SpinorField>) = others.into_iter().unzip();
        let others: Vec<Shift> =
            others.into_iter().map(|sigma| Shift { sigma, tol, heavy_quark: 0.0 }).collect();
        if !others.is_empty() {
            reports.push(self.multishift(&others, &mut xs, b, monitor)?.0.solver);
        }
        Ok(reports)
    }

    /// Solves (A + sigma_k) x_k = b for all shifts from one Krylov space, A = M^dagger M, M M^dagger, P^dagger P or P
    /// P^dagger, or a hermitian M or P itself, in the normalisation asked for, then every shift to its tolerance. The
    /// solver's `kind`, `tol` and `initial_guess` are not used. In mixed precision the common Krylov space reaches only
    /// the accuracy of the lower precision, and then each shift is refined by itself; `sloppy_shifts` asks for this.
    ///
    /// # Errors
    /// Errors of [`solvers::multishift`]; `Unsupported`: the solver is for another equation;
    /// `OutOfMemory`: not one right-hand side fits, nothing is allocated; `SolverBreakdown`: every x is
    /// zero afterwards.
    pub fn multishift(
        &self,
        shifts: &[Shift],
        xs: &mut [impl BorrowMut<SpinorField>],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<(SolveReport, Vec<ShiftReport>)> {
        if self.params().distance.is_some() {
            refuse!(Unsupported, "multishift", expected("a solver with distance_alpha 0"));
        }
        let of = self.prepared().of;
        let prepared = match self.shifts.get() {
            Some(prepared) => prepared,
            None => {
                let made = Arc::new(Shifts::new(&of)?);
                self.shifts.get_or_init(|| made)
            }
        };
        let Shifts { system, memory } = &**prepared;
        let device = of.op.shape().device;
        of.shape().check(b, "b")?;
        let at_once = memory.at_once_of(shifts.len(), b.nrhs())?;
        let peak = device.watch_peak();
        if let Some(low) = &system.of.low {
            of.op.shared_copy(low.storage())?;
        }
        let (solver, reports) = match at_once == b.nrhs() {
            true => system.solve(of.params.solver.stop, shifts, xs, b, monitor)?,
            false => system.in_parts(at_once, shifts, xs, b, monitor)?,
        };
        device.synchronize()?;
        let (iterated, memory_peak) = (system.of.iterated(), peak.bytes());
        Ok((
            SolveReport { solver, memory_peak, iterated, chosen: Chosen::Asked, columns: at_once },
            reports,
        ))
    }
}
