//! Multigrid in HMC, updated as the links change along a trajectory (as Luescher, JHEP 12 (2007) 011, updates a
//! deflation subspace).

use std::sync::{Arc, Mutex, MutexGuard};

use crate::compose::multigrid::{Multigrid, MultigridParams, MultigridReport, Refresh, Update};
use crate::compose::{nkrylov_row, DiracSolver};
use crate::error::Result;
use crate::operators::QuarkAction;
use crate::params::{parameters, row_set};

row_set! {
    multigrid_solves_rows {
        /// True: null vectors are kept from one trajectory to the next. A chain then continues from a checkpoint
        /// within the tolerance of solves, not bit for bit.
        persistent: bool = false;
        with nkrylov_row(20);
        /// Number of the least shifts of one flavour that multigrid solves. The others take CG together, whose
        /// iterations are then those of the least shift that is left.
        shifts: usize = 3, within(0, i32::MAX as i64);
    }
}

parameters! {
    /// Parameters of solves of P^dagger P x = b by GCR with multigrid for P^dagger, then for P; for one flavour of
    /// (P^dagger P + s) x = b with the smallest shifts s, see [`DiracSolver::shifted`].
    pub composed table MultigridSolves {
        /// Parameters of the hierarchy. Its null vectors are found at the start of every trajectory.
        levels: MultigridParams = MultigridParams::default();
        /// Treatment of the null vectors when links have changed. The reduction by the cycle is measured after it; if
        /// that is bad, the next stronger treatment follows ([`Multigrid::update`]).
        update: Refresh = Refresh::Keep;
        with multigrid_solves_rows;
        /// True: the operator W of a ratio, too, has a hierarchy, for its solve in the heat bath; false: that solve
        /// is done by CG.
        preconditioner: bool = false;
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

    /// Updates the hierarchy to the operator's present links, or sets it up, and gives it to these solvers.
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

    /// Starts a trajectory: null vectors of the one before are dropped unless they are to be kept.
    pub fn restart(&self, solvers: [&DiracSolver; 2]) {
        if self.policy.persistent {
            return;
        }
        for solver in solvers {
            // Removing multigrid cannot fail, since it needs no memory.
            let _ = solver.set_multigrid(None);
        }
        self.state().multigrid = None;
    }

    pub fn report(&self) -> Option<MultigridReport> {
        self.state().multigrid.as_ref().map(|m| m.report())
    }
}
