//! Solves with quark actions as users ask for them: chains of links, objects that each do one step of a solve and know
//! only the next link.

mod automatic;
mod bounded;
mod deflation;
mod equation;
mod fallback;
mod inverter;
mod krylov;
mod memory;
mod multishift;
mod normalised;
mod parts;
mod plan;
mod scaled;
mod schur;
mod tolerance;
mod two_steps;
mod weighted;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use deflation::{Deflation, LowModes};
pub(crate) use equation::{max_iterations_row, nkrylov_row, sloppy_storage_row};
pub use equation::{
    plaq_solve_report, plaq_solver_params, seconds_of, Chosen, Equations, Solution, SolveParams,
    SolveReport, SolveTotals, SolverSettings, COLUMNS,
};
pub use plan::MULTIGRID_DIRECTIONS;

use inverter::SolveRequest;
use memory::{even_parts, SolveMemory};
use multishift::Shifts;
use parts::Parts;
use plan::{inside, plan, Ingredients, Planned};

use super::multigrid::Multigrid;

use crate::error::Result;
use crate::fields::{Needs, SpinorField, Subset};
use crate::operators::QuarkAction;
use crate::refuse;
use crate::solvers::{Monitor, Stop};

/// A quark action prepared for solves: the action, settings, and the plan that is made of them.
pub struct DiracSolver {
    op: Arc<dyn QuarkAction>,
    params: SolveParams,
    state: Mutex<Prepared>,
    /// Multi-shift solves, made when the first one is asked for.
    shifts: OnceLock<Arc<Shifts>>,
}

/// The chain of links with the settings that it was made from. Setting multigrid or deflation makes a new one.
#[derive(Clone)]
struct Prepared {
    of: Arc<Ingredients>,
    plan: Planned,
    /// Memory of solves for one shift by multigrid, computed when it is first asked for.
    shifted: Arc<OnceLock<SolveMemory>>,
}

impl Prepared {
    fn new(of: Ingredients) -> Result<Self> {
        let plan = plan(&of)?;
        Ok(Prepared { of: Arc::new(of), plan, shifted: Arc::default() })
    }
}

impl DiracSolver {
    /// Makes a solver, with a copy of the operator in lower precision if the parameters ask for one.
    ///
    /// # Errors
    /// `BadParameter`, `Unsupported`: parameters out of range or not combined; `OutOfMemory`: the operator in lower
    /// precision will not fit; nothing is allocated then.
    pub fn new(op: Arc<dyn QuarkAction>, params: SolveParams) -> Result<Self> {
        params.check(&op)?;
        let sloppy = params.sloppy.map(|asked| inside(&*op, asked));
        let params = SolveParams { sloppy, ..params };
        let prepared = Prepared::new(Ingredients::new(op.clone(), params.clone())?)?;
        Ok(DiracSolver { op, params, state: Mutex::new(prepared), shifts: OnceLock::new() })
    }

    fn prepared(&self) -> Prepared {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    fn set(&self, prepared: Prepared) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = prepared;
    }

    /// Makes every solve start from the part of its solution along the low modes; `None`: without deflation.
    ///
    /// # Errors
    /// `Unsupported`: the solver has distance preconditioning, or chooses its algorithm; `FieldMismatch`: the modes are
    /// those of another operator, or of another even-odd system of this one.
    pub fn with_deflation(self, deflation: Option<Deflation>) -> Result<Self> {
        if let Some(deflation) = &deflation {
            if self.params.distance.is_some() || self.params.automatic.is_some() {
                refuse!(
                    Unsupported,
                    "deflation",
                    expected("a solver with an algorithm and distance_alpha 0")
                );
            }
            deflation.modes.check(&*self.op, self.params.even_odd)?;
        }
        let of = (*self.prepared().of).clone();
        self.set(Prepared::new(Ingredients { deflation, ..of })?);
        Ok(self)
    }

    /// Preconditions every iteration with this multigrid, which several solvers may share.
    ///
    /// # Errors
    /// `Unsupported`: the solver is not GCR for the Schur complement itself; `FieldMismatch`: the multigrid was set up
    /// for another lattice or device.
    pub fn with_multigrid(self, multigrid: Option<Arc<Multigrid>>) -> Result<Self> {
        self.set_multigrid(multigrid)?;
        Ok(self)
    }

    /// Does what [`DiracSolver::with_multigrid`] does for a solver in use: solves that begin later use it.
    pub fn set_multigrid(&self, multigrid: Option<Arc<Multigrid>>) -> Result<()> {
        let Prepared { of, plan, .. } = self.prepared();
        match plan.automatic.filter(|_| self.params.distance.is_none()) {
            Some(automatic) => automatic.set_multigrid(multigrid),
            None if multigrid.is_none() && of.multigrid.is_none() => Ok(()),
            None => {
                let of = (*of).clone().with_multigrid(multigrid)?;
                self.set(Prepared::new(of)?);
                Ok(())
            }
        }
    }

    pub fn op(&self) -> &Arc<dyn QuarkAction> {
        &self.op
    }
    pub fn params(&self) -> &SolveParams {
        &self.params
    }
    /// The hierarchy that preconditions, or that an automatic solver has set up.
    pub fn multigrid(&self) -> Option<Arc<Multigrid>> {
        let Prepared { of, plan, .. } = self.prepared();
        match plan.automatic {
            Some(automatic) => automatic.multigrid(),
            None => of.multigrid.clone(),
        }
    }
    /// The sites of x and b: all, or those of one parity.
    pub fn subset(&self) -> Subset {
        self.prepared().of.subset()
    }

    /// The links of the chain as text in one line, for solves of `nrhs` right-hand sides; 0: of any number.
    pub fn describe(&self, nrhs: usize) -> String {
        self.prepared().plan.first.describe(nrhs)
    }

    /// Writes the chain of links to the log.
    pub fn log(&self) {
        log::info!("solver: {}", self.describe(0));
    }

    /// Solves the equation; x and b hold `subset()` in the precision of the operator.
    ///
    /// # Errors
    /// Errors of [`crate::solvers::solve`]; `OutOfMemory`: not one right-hand side fits, nothing is allocated;
    /// `StaleMultigrid`: the operator's links have changed since multigrid's last set-up or update. After
    /// `SolverBreakdown` x is zero, after a refusal as it was.
    pub fn solve(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        self.solve_until(self.params.solver.stop, x, b, monitor)
    }

    /// Solves the equation with other stopping criteria. With boundaries in time the source and the first guess count
    /// as zero on slices where quarks vanish.
    ///
    /// # Errors
    /// Errors of [`DiracSolver::solve`].
    pub fn solve_until(
        &self,
        stop: Stop,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        let request = SolveRequest::new(stop, self.params.solver.initial_guess);
        self.prepared().plan.first.solve(x, b, &request, monitor)
    }

    /// Called before memory for `columns` right-hand sides is taken: an automatic solver for which these are large
    /// solves for the `first` one and sets multigrid up, while there is memory, if that is cheaper. Returns the
    /// seconds that this took. All ranks call it.
    ///
    /// # Errors
    /// Errors of `first` and of [`DiracSolver::solve`].
    pub fn test_one(
        &self,
        columns: usize,
        first: &dyn Fn() -> Result<SpinorField>,
        monitor: &mut Monitor,
    ) -> Result<f64> {
        match self.prepared().plan.automatic {
            Some(automatic) => {
                let request = SolveRequest::new(self.params.solver.stop, false);
                automatic.test_one(columns, first, &request, monitor)
            }
            None => Ok(0.0),
        }
    }

    /// Runs, in a rehearsal, all kernels that a solve launches.
    pub fn run_through(&self, x: &mut SpinorField, b: &SpinorField) {
        let request = SolveRequest::new(self.params.solver.stop, self.params.solver.initial_guess);
        self.prepared().plan.parts.run_through(&request, x, b);
    }

    /// The chain that uses the hierarchy of an automatic solver if there is one, else the chain of the settings.
    fn parts_with_multigrid(&self) -> Arc<Parts> {
        let Planned { parts, automatic, .. } = self.prepared().plan;
        automatic.and_then(|automatic| automatic.with_multigrid()).unwrap_or(parts)
    }

    /// Bytes of device memory that `solve` needs for `nrhs` right-hand sides together, besides x and b; with less
    /// memory it solves for fewer at a time. For multigrid this includes BiCGStab, which takes over if multigrid
    /// makes no progress; a hierarchy that an automatic solver sets up is not included.
    ///
    /// # Errors
    /// `InvalidArgument`: `nrhs` is not a possible number of right-hand sides.
    pub fn memory(&self, nrhs: usize) -> Result<u64> {
        self.prepared().plan.parts.memory.bytes(nrhs)
    }

    /// Bytes of device memory of a solve by the hierarchy that an automatic solver has set up; without one, those of
    /// [`DiracSolver::memory`].
    ///
    /// # Errors
    /// Errors of [`DiracSolver::memory`].
    pub fn memory_with_multigrid(&self, nrhs: usize) -> Result<u64> {
        self.parts_with_multigrid().memory.bytes(nrhs)
    }

    /// Memory and kernels that a solve for `nrhs` right-hand sides needs, by a rehearsal of it. The kernels are those
    /// of a solve with the hierarchy that an automatic solver has at present; a hierarchy that it may set up during
    /// the solve is not included.
    ///
    /// # Errors
    /// Errors of [`DiracSolver::memory`].
    pub fn needs(&self, nrhs: usize) -> Result<Needs> {
        let needs = self.parts_with_multigrid().memory.needs(nrhs)?;
        Ok(Needs { memory: self.memory(nrhs)?, ..needs })
    }

    /// Refuses work that needs more memory than is free, after idle vectors of multigrid have been freed.
    pub(crate) fn require(&self, bytes: u64, what: &str) -> Result<()> {
        self.parts_with_multigrid().memory.require(bytes, what)
    }

    /// The first of these choices of how to work that fits in memory on all ranks. `need` computes the bytes of a
    /// choice, given a function for the bytes of a solve for a number of right-hand sides; these are counted with the
    /// hierarchy of an automatic solver first, then without it. All ranks call this and get the same answer.
    ///
    /// # Errors
    /// `CommFailed`: ranks do not agree.
    pub(crate) fn fitting<T: Copy>(
        &self,
        choices: &[T],
        need: impl Fn(T, &dyn Fn(usize) -> Result<u64>) -> Result<u64>,
    ) -> Result<Option<T>> {
        let chains = [self.parts_with_multigrid(), self.prepared().plan.parts];
        for chain in chains {
            let solve = |nrhs| chain.memory.bytes(nrhs);
            let found = chain.memory.first_to_fit(choices, |choice| need(choice, &solve))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The number of right-hand sides, of `nrhs`, that fit in memory with their x and b: all of them, or the size of
    /// the fewest even parts that fit. All ranks call this and get the same number.
    ///
    /// # Errors
    /// Errors of [`DiracSolver::memory`].
    pub fn part_of(&self, nrhs: usize) -> Result<usize> {
        let shape = self.prepared().of.shape();
        let found =
            self.fitting(&even_parts(nrhs), |n, solve| Ok(2 * shape.bytes(n) + solve(n)?))?;
        Ok(found.unwrap_or(1))
    }
}
