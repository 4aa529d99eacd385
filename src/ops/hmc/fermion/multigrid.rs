//! Multigrid that follows the links along a trajectory.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::compose::multigrid::{Multigrid, MultigridParams, MultigridReport, Refresh, Update};
use crate::compose::DiracSolver;
use crate::error::Result;
use crate::operators::QuarkAction;
use crate::params::parameters;

parameters! {
    /// P^dagger P x = b by GCR with multigrid for P^dagger, then for P; of one flavour (P^dagger P + s) x = b with the
    /// least shifts s, see [`DiracSolver::shifted`].
    pub table MultigridSolves {
        /// The hierarchy. Null vectors are found at the start of every trajectory.
        levels: MultigridParams = MultigridParams::default();
        /// What is done with null vectors once links have changed. It is measured what came of it: where the cycle has
        /// become bad, the next stronger means follow ([`Multigrid::update`]).
        update: Refresh = Refresh::Keep;
        /// Null vectors outlive a trajectory. A chain then goes on from a checkpoint within the solver's tolerances, not
        /// bit for bit.
        persistent: bool = false;
        /// Directions that GCR keeps.
        nkrylov: usize = 20, within(1, i32::MAX as i64);
        /// The W of a ratio, too, has a hierarchy of its own for its solve in the heat bath; else it keeps CG.
        preconditioner: bool = false;
        /// Number of the least shifts of one flavour that multigrid solves. The others take CG together, whose iterations
        /// are then those of the least shift that is left.
        shifts: usize = 3, within(0, i32::MAX as i64);
    }
}

/// The multigrid hierarchy of an operator whose links change in place.
pub(super) struct Follower {
    policy: MultigridSolves,
    state: Mutex<CurrentHierarchy>,
}

#[derive(Default)]
struct CurrentHierarchy {
    multigrid: Option<Arc<Multigrid>>,
    /// Version of the links that the hierarchy was last updated to.
    links: u64,
}

impl Follower {
    pub fn new(policy: MultigridSolves) -> Self {
        Follower { policy, state: Mutex::default() }
    }
    fn state(&self) -> MutexGuard<'_, CurrentHierarchy> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Updates the hierarchy to the operator's links, for these solvers.
    pub fn follow(&self, op: &dyn QuarkAction, solvers: [&DiracSolver; 2]) -> Result<()> {
        let mut state = self.state();
        let now = op.version().links;
        match &state.multigrid {
            Some(_) if state.links == now => return Ok(()),
            Some(multigrid) => _ = multigrid.update(op, Update::of(self.policy.update, 1)?)?,
            None => {
                let made = Arc::new(Multigrid::new(op, &self.policy.levels)?);
                for solver in solvers {
                    solver.set_multigrid(Some(made.clone()))?;
                }
                state.multigrid = Some(made);
            }
        }
        state.links = now;
        Ok(())
    }

    /// Begins a trajectory: null vectors of the one before are dropped unless they are to stay.
    pub fn restart(&self, solvers: [&DiracSolver; 2]) {
        if self.policy.persistent {
            return;
        }
        for solver in solvers {
            // Without multigrid there is nothing that could not fit.
            let _ = solver.set_multigrid(None);
        }
        self.state().multigrid = None;
    }

    pub fn report(&self) -> Option<MultigridReport> {
        self.state().multigrid.as_ref().map(|m| m.report())
    }
}
