//! The links of the chain that a solve goes through. Each does its own part and knows only the next one.

use super::equation::SolveReport;
use crate::error::Result;
use crate::fields::VectorField;
use crate::linop::{SchurSource, Shape};
use crate::solvers::{Monitor, Stop};

/// Requests to a link besides x and b: stopping criteria and settings of this solve.
#[derive(Clone, Copy)]
pub struct SolveRequest<'a> {
    pub stop: Stop,
    /// True if the solve starts from the given x, false if from zero.
    pub guess: bool,
    /// |b| of every right-hand side of the equation whose residuals are reported, as computed by the link
    /// [`super::scaled::Scaled`]; empty for links before it.
    pub norms: &'a [f64],
    /// The source of the larger system from which b was made; then the residual of that system may be computed in the
    /// memory of b.
    pub origin: Option<&'a SchurSource<'a>>,
    /// Number of right-hand sides that the same call will solve for after these.
    pub later: usize,
    /// True if BiCGStab is to continue where it makes little progress, since the caller decides when to end it.
    pub patient: bool,
}

impl SolveRequest<'_> {
    pub fn new(stop: Stop, guess: bool) -> Self {
        SolveRequest { stop, guess, norms: &[], origin: None, later: 0, patient: false }
    }
}

/// A link of a chain: it solves for x with the help of the links after it.
pub trait Inverter: Send + Sync {
    /// Solves for x with the source b. Residuals of the report are those of this link's equation.
    ///
    /// # Errors
    /// Errors of [`crate::solvers::solve`].
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport>;

    /// The common shape of the fields x and b.
    fn shape(&self) -> Shape;

    /// The next link of the chain; `None` for the last one.
    fn next(&self) -> Option<&dyn Inverter> {
        None
    }

    /// The name of the link in a few words, as logs show it, for solves of `nrhs` right-hand sides; 0: of any number.
    fn name(&self, nrhs: usize) -> String;

    /// The names of this link and of those after it in one line.
    fn describe(&self, nrhs: usize) -> String {
        let name = self.name(nrhs);
        self.next().map_or_else(|| name.clone(), |next| format!("{name} > {}", next.describe(nrhs)))
    }

    /// Called before a solve: updates operators and hierarchies to links of the lattice that have changed, and
    /// refuses those that do not belong to them.
    ///
    /// # Errors
    /// `StaleMultigrid`, `FieldMismatch`.
    fn prepare(&self) -> Result<()> {
        self.next().map_or(Ok(()), |next| next.prepare())
    }
}
