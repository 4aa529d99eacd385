//! The link for even-odd preconditioning.

use std::sync::Arc;

use super::equation::SolveReport;
use super::inverter::{Inverter, SolveRequest};
use super::memory::SolveMemory;
use crate::error::Result;
use crate::fields::VectorField;
use crate::linop::{FreesIdle, Schur as Form, SchurVectors, Shape};
use crate::operators::{InverseOwner, QuarkAction, SchurAction};
use crate::solvers::Monitor;

/// A Schur complement in a solve, with the owner of the inverse of its clover term. If the inverse would be made for
/// each application, the solve makes it once and keeps it until it ends, if memory allows it.
pub struct Complement {
    pub schur: Arc<dyn SchurAction>,
    owner: InverseOwner,
}

impl Complement {
    /// Makes the Schur complement of an action.
    ///
    /// # Errors
    /// `OutOfMemory`, `SingularClover`.
    pub fn new(op: Arc<dyn QuarkAction>, form: Form, owner: InverseOwner) -> Result<Self> {
        let schur = op.schur(form)?;
        schur.set_inverse_owner(owner)?;
        Ok(Complement { schur, owner })
    }

    /// A second complement that keeps the inverse of the clover term during a solve of `nrhs` right-hand sides;
    /// `None`: memory does not allow it, or this one has it already. All ranks call this.
    fn for_solve(&self, memory: &SolveMemory, nrhs: usize) -> Result<Option<Arc<dyn SchurAction>>> {
        let all = || Ok(memory.bytes(nrhs)? + self.schur.inverse_bytes());
        if self.owner == InverseOwner::Complement || !memory.has(all)? {
            return Ok(None);
        }
        let held = self.schur.action().schur(self.schur.form())?;
        let made = held.set_inverse_owner(InverseOwner::Complement);
        self.schur.full_shape().geometry.comm().agree(made)?;
        Ok(Some(held))
    }
}

/// A link for even-odd preconditioning: the links after it solve the Schur complement's system on one parity, using
/// the memory of x for its source. If the equation is one of the complement itself, x and b have one parity already.
pub struct Schur {
    pub next: Arc<dyn Inverter>,
    pub complement: Arc<Complement>,
    /// True if x and b are fields of the whole lattice, false if of one parity.
    pub whole: bool,
    /// True if the equation is that of M^dagger.
    pub dagger: bool,
    pub memory: Arc<SolveMemory>,
}

impl Inverter for Schur {
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let _blocks = self.complement.for_solve(&self.memory, b.nrhs())?;
        let schur = &*self.complement.schur;
        let _idle = FreesIdle(vec![schur]);
        if !self.whole {
            return self.next.solve(x, b, request, watch);
        }
        let mut halves = SchurVectors::prepare(schur, x, b, (self.dagger, request.guess))?;
        let SchurVectors { x, source, .. } = &mut halves;
        let request = SolveRequest { origin: Some(source), ..*request };
        let report = self.next.solve(x, source.vector(), &request, watch)?;
        halves.reconstruct()?;
        Ok(report)
    }

    fn shape(&self) -> Shape {
        match self.whole {
            true => self.complement.schur.full_shape(),
            false => self.complement.schur.shape(),
        }
    }
    fn next(&self) -> Option<&dyn Inverter> {
        Some(&*self.next)
    }
    fn name(&self, _: usize) -> String {
        let Form { parity, symmetric } = self.complement.schur.form();
        let sites = if parity == 0 { "even" } else { "odd" };
        let form = if symmetric { "" } else { " asymmetric" };
        let what = if self.whole { "Schur" } else { "P" };
        format!("{what} {sites}{form}")
    }
}
