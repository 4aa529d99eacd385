//! Quark propagators: twelve columns, spin times colour of the source.

use std::ops::ControlFlow;

use crate::backend::args::SourceArgs;
use crate::bail;
use crate::compose::{DiracSolver, Solution, SolveReport};
use crate::error::Result;
use crate::fields::{SpinorField, Subset};
use crate::linop::LinOp;
use crate::solvers::{Monitor, Progress};

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
        b.device().launch(kernel!("source"), &[b.precision().token()], &args, b.work())
    }
}

/// Device memory of a propagator that is solved `at_once` columns at a time: its fields and the
/// solve. Fewer columns take less.
pub fn memory(solver: &DiracSolver, at_once: usize) -> u64 {
    let shape = solver.op().shape();
    let field = |n| SpinorField::bytes(&shape.geometry, shape.precision, shape.subset, n) as u64;
    let batches = if at_once < COLUMNS { 2 * field(at_once) } else { field(COLUMNS) };
    field(COLUMNS) + batches + solver.memory(at_once)
}

/// Solves M S = source, `at_once` columns at a time (1 to 12): S(x, source), in the precision and
/// normalisation of the solver, which must be one for M on the full lattice (`Solution::Mat`). The
/// report is that of all solves: the iterations of the slowest, sums of times, work, updates and
/// restarts, one history after the other. The monitor's iterations begin anew with each solve, its
/// seconds do not; once it has asked to stop, every solve that is left ends after one iteration.
///
/// # Errors
/// `BadParameter`: `at_once` is out of range; `OutOfMemory`: [`memory`] will not fit, nothing is
/// allocated; else those of [`Source::set`] and [`DiracSolver::solve`]. Not converged is not an
/// error: see the report.
pub fn propagator(
    solver: &DiracSolver,
    source: Source,
    at_once: usize,
    monitor: &mut Monitor,
) -> Result<(SpinorField, SolveReport)> {
    if solver.params().solution != Solution::Mat {
        let found = solver.params().solution;
        bail!(BadParameter, "solution: a propagator solves M x = b, found {found:?}");
    }
    if !(1..=COLUMNS).contains(&at_once) {
        bail!(BadParameter, "columns at a time: expected 1 to {COLUMNS}, found {at_once}");
    }
    let shape = solver.op().shape();
    shape.device.require(memory(solver, at_once), "this propagator")?;
    // Of the sources first; solutions take their places.
    let mut all = shape.field(COLUMNS)?;
    source.set(&mut all)?;
    if at_once == COLUMNS {
        let mut x = shape.field(COLUMNS)?;
        let report = solver.solve(&mut x, &all, monitor)?;
        return Ok((x, report));
    }
    let (mut total, mut spent, mut stopped) = (None::<SolveReport>, 0.0, false);
    for first in (0..COLUMNS).step_by(at_once) {
        let count = at_once.min(COLUMNS - first);
        let (mut b, mut x) = (shape.field(count)?, shape.field(count)?);
        b.copy_rhs(0, &all, first, count)?;
        let mut told = |p: &Progress| {
            let stop =
                stopped || monitor(&Progress { seconds: spent + p.seconds, ..*p }).is_break();
            stopped = stop;
            match stop {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let report = solver.solve(&mut x, &b, &mut told)?;
        all.copy_rhs(first, &x, 0, count)?;
        spent += report.solver.seconds;
        total = Some(match total {
            Some(before) => SolveReport {
                memory_peak: before.memory_peak.max(report.memory_peak),
                solver: before.solver.beside(report.solver),
            },
            None => report,
        });
    }
    let Some(report) = total else { bail!(Internal, "propagator: no columns") };
    Ok((all, report))
}
