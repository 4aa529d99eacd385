//! Quark propagators: twelve columns, spin times colour of the source, solved at once.

use crate::backend::args::SourceArgs;
use crate::bail;
use crate::compose::{DiracSolver, Solution, SolveReport};
use crate::error::Result;
use crate::fields::{SpinorField, Subset};
use crate::linop::LinOp;
use crate::solvers::Monitor;

/// Columns of a propagator: right-hand side = 3 spin + colour of the source.
pub const COLUMNS: usize = 12;

/// Where a propagator starts. Coordinates x, y, z, t are global.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// One site.
    Point([usize; 4]),
    /// All sites of a time slice, unsmeared: hadrons of it need links in a fixed gauge (Coulomb),
    /// else only what is gauge invariant by itself survives the average over configurations.
    Wall(usize),
}

impl Source {
    /// The time slice of the source.
    pub fn time(self) -> usize {
        match self {
            Source::Point(x) => x[3],
            Source::Wall(t) => t,
        }
    }

    /// Sets the twelve columns of `b`: one where spin and colour are the column's, else zero.
    ///
    /// # Errors
    /// `FieldMismatch`: not twelve right-hand sides on the full lattice; `InvalidArgument`: the
    /// source lies outside the lattice.
    pub fn set(self, b: &mut SpinorField) -> Result<()> {
        if b.nrhs() != COLUMNS || b.subset() != Subset::Full {
            bail!(
                FieldMismatch,
                "source: expected {COLUMNS} right-hand sides on the full lattice, found {} on {:?}",
                b.nrhs(),
                b.subset()
            );
        }
        let extents = b.geometry().global_extents();
        let (position, wall) = match self {
            Source::Point(x) => (x, false),
            Source::Wall(t) => ([0, 0, 0, t], true),
        };
        if position.iter().zip(extents).any(|(&x, l)| x >= l) {
            bail!(InvalidArgument, "source: {position:?} is outside of the lattice {extents:?}");
        }
        let args = SourceArgs {
            geom: b.geometry().args(),
            out: b.view(),
            position: position.map(|x| x as i32),
            wall: wall as i32,
        };
        b.device().launch("source", &[b.precision().token()], &args, b.work())
    }
}

/// Solves M S = source for all columns at once: S(x, source), in the precision and normalisation
/// of the solver, which must be one for M on the full lattice (`Solution::Mat`).
///
/// # Errors
/// `OutOfMemory`: the two fields and the solve will not fit, nothing is allocated; else those of
/// [`Source::set`] and [`DiracSolver::solve`]. Not converged is not an error: see the report.
pub fn propagator(
    solver: &DiracSolver,
    source: Source,
    monitor: &mut Monitor,
) -> Result<(SpinorField, SolveReport)> {
    if solver.params().solution != Solution::Mat {
        let found = solver.params().solution;
        bail!(BadParameter, "solution: a propagator solves M x = b, found {found:?}");
    }
    let shape = solver.op().shape();
    let field = SpinorField::bytes(&shape.geometry, shape.precision, shape.subset, COLUMNS) as u64;
    shape.device.require(2 * field + solver.memory(COLUMNS), "this propagator")?;
    let mut b = shape.field(COLUMNS)?;
    source.set(&mut b)?;
    let mut x = shape.field(COLUMNS)?;
    let report = solver.solve(&mut x, &b, monitor)?;
    Ok((x, report))
}
