//! Links of a chain that solves: each does its own part and knows only the next one.

use super::equation::SolveReport;
use crate::error::Result;
use crate::fields::VectorField;
use crate::linop::{SchurSource, Shape};
use crate::solvers::{Monitor, Stop};

/// A request to a link: criteria and settings of a solve, besides x and b.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    pub stop: Stop,
    /// The solve starts from the x that is there; else from zero.
    pub guess: bool,
    /// |b| of every right-hand side of the equation whose residuals count, as [`super::scaled::Scaled`] has taken it;
    /// empty above that link.
    pub norms: &'a [f64],
    /// How b comes from the source of a larger system; residuals then may take the memory of b.
    pub origin: Option<&'a SchurSource<'a>>,
    /// Number of right-hand sides that the same call will ask for afterwards.
    pub later: usize,
    /// BiCGStab is not given up early, as somebody else watches it.
    pub patient: bool,
}

impl Ask<'_> {
    pub fn new(stop: Stop, guess: bool) -> Self {
        Ask { stop, guess, norms: &[], origin: None, later: 0, patient: false }
    }
}

/// A link: it solves for x, by the links after it.
pub trait Inverter: Send + Sync {
    /// Solves for x with the source b. Residuals of the report are those of this link's equation.
    ///
    /// # Errors
    /// Errors of [`crate::solvers::solve`].
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        ask: &Ask,
        watch: &mut Monitor,
    ) -> Result<SolveReport>;

    /// The common shape of the fields x and b.
    fn shape(&self) -> Shape;

    /// The next link of the chain; `None` for the last one.
    fn next(&self) -> Option<&dyn Inverter> {
        None
    }

    /// The link itself in a few words, for solves of `nrhs` right-hand sides; 0: however many.
    fn name(&self, nrhs: usize) -> String;

    /// The link and those after it in one line.
    fn describe(&self, nrhs: usize) -> String {
        let name = self.name(nrhs);
        self.next().map_or_else(|| name.clone(), |next| format!("{name} > {}", next.describe(nrhs)))
    }

    /// Before a solve: brings what the links are made of up to date with links of the lattice that have changed, and
    /// refuses what does not belong to them.
    ///
    /// # Errors
    /// `StaleMultigrid`, `FieldMismatch`.
    fn prepare(&self) -> Result<()> {
        self.next().map_or(Ok(()), |next| next.prepare())
    }
}
