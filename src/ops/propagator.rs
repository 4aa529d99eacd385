//! Quark propagators: twelve columns, spin times colour of the source.

use std::ops::ControlFlow;
use std::sync::Arc;

use num_complex::Complex64;

use super::contract::{baryon, mesons, Baryon, Projection, Sink};
use super::source::Source;
pub use super::source::COLUMNS;
use crate::bail;
use crate::compose::{DiracSolver, Solution, SolveParams, SolveReport};
use crate::error::Result;
use crate::fields::{Components, SpinorField};
use crate::operators::QuarkAction;
use crate::solvers::{Monitor, Progress, Stop};

/// Device memory of a propagator of so many columns that is solved `at_once` at a time: its fields
/// and the solve. Fewer at a time take less.
pub fn memory(solver: &DiracSolver, columns: usize, at_once: usize) -> u64 {
    fields(solver, columns, at_once) + solver.memory(at_once.min(columns))
}

/// Bytes of all columns and of those that are solved at a time.
fn fields(solver: &DiracSolver, columns: usize, at_once: usize) -> u64 {
    let shape = solver.op().shape();
    let field = |n| SpinorField::bytes(&shape.geometry, shape.precision, shape.subset, n) as u64;
    field(columns) + field(at_once.min(columns))
}

/// Columns that are solved at a time where nobody says how many, the same on all ranks.
fn fitting(solver: &DiracSolver, columns: usize) -> Result<usize> {
    let shape = solver.op().shape();
    let divisors = || (1..=COLUMNS).rev().filter(|n| COLUMNS.is_multiple_of(*n));
    let fits = |solve: u64, n: usize| {
        let need = fields(solver, columns, n) + solve;
        shape.device.require(need, "this propagator").is_ok()
    };
    // With a hierarchy if there is one, else without.
    let here = divisors()
        .find(|n| fits(solver.memory_with_multigrid(*n), *n))
        .or_else(|| divisors().find(|n| fits(solver.memory(*n), *n)))
        .unwrap_or(1);
    let mut fewest = [-(here as f64)];
    shape.geometry.comm().most(&mut fewest)?;
    let n = -fewest[0] as usize;
    if n < COLUMNS.min(columns) {
        log::info!(
            "a propagator of {columns} columns: {n} at a time fit in {}",
            shape.device.name()
        );
    }
    Ok(n)
}

/// Solves M S = source for all columns of the source, `at_once` at a time (1 to 12; 0: as fit): S(x, source), in
/// the precision and normalisation of the solver, which must be one for M on the full lattice
/// (`Solution::Mat`). The report is that of all solves: the iterations of the slowest, sums of times,
/// work, updates and restarts, one history after the other. The monitor's iterations begin anew with
/// each solve, its seconds do not; once it has asked to stop or `max_seconds` of all solves together are
/// over, every solve that is left ends after one iteration.
///
/// # Errors
/// `BadParameter`: `at_once` is out of range, more than 4096 columns; `OutOfMemory`: [`memory`] will not
/// fit, nothing is allocated; else those of [`Source::set`] and [`DiracSolver::solve`]. Not converged is
/// not an error: see the report.
pub fn propagator(
    solver: &DiracSolver,
    source: Source,
    at_once: usize,
    monitor: &mut Monitor,
) -> Result<(SpinorField, SolveReport)> {
    let columns = source.columns();
    let at_once = check(solver, columns, at_once)?;
    let shape = solver.op().shape();
    shape.device.require(memory(solver, columns, at_once), "this propagator")?;
    let mut all = shape.field(columns)?;
    source.set(&mut all)?;
    solve_columns(solver, all, at_once, monitor)
}

/// The same for sources that a field holds, whatever they are: smeared, sequential, of another code.
///
/// # Errors
/// As of [`propagator`]; `FieldMismatch`: not the lattice and precision of the solver's operator.
pub fn propagator_of(
    solver: &DiracSolver,
    sources: &SpinorField,
    at_once: usize,
    monitor: &mut Monitor,
) -> Result<(SpinorField, SolveReport)> {
    let columns = sources.nrhs();
    let at_once = check(solver, columns, at_once)?;
    let shape = solver.op().shape();
    shape.check(sources, "sources")?;
    shape.device.require(memory(solver, columns, at_once), "this propagator")?;
    let mut all = shape.field(columns)?;
    all.copy_rhs(0, sources, 0, columns)?;
    solve_columns(solver, all, at_once, monitor)
}

/// Is it an action of quarks, whose propagators have a column for each spin and colour?
pub(crate) fn propagates(op: &dyn QuarkAction) -> bool {
    op.shape().components == Components::SPINOR
}

/// Begins to compile what a propagator with these parameters launches, the making of its solver included, and
/// the correlators that most programs go on to.
pub(crate) fn foresee(op: &dyn QuarkAction, params: &SolveParams, at_once: usize) {
    if !propagates(op) {
        return;
    }
    let links = op.links();
    let name = || format!("propagator {} {params:?} {at_once}", op.describe());
    links.geometry().foresee(links.device(), true, name, |device| {
        run_through(op.like_on(device)?, params, at_once)
    });
}

/// Runs through a propagator in a rehearsal.
pub(crate) fn run_through(
    op: Arc<dyn QuarkAction>,
    params: &SolveParams,
    at_once: usize,
) -> Result<()> {
    let solver = DiracSolver::new(op, params.clone())?;
    let shape = solver.op().shape();
    let mut all = shape.field(COLUMNS)?;
    let at_once = check(&solver, COLUMNS, if at_once == 0 { COLUMNS } else { at_once })?;
    // What takes longest to compile comes first.
    let sink = Sink::at_rest(0);
    mesons(&all, &all, sink)?;
    let forward = (1, Projection::Trace, -Complex64::ONE);
    baryon(Baryon::Nucleon, &all, None, sink, forward)?;
    Source::point([0; 4]).set(&mut all)?;
    let (b, mut x) = (all.columns(0, at_once)?, shape.field(at_once)?);
    solver.run_through(&mut x, &b);
    if at_once < COLUMNS {
        all.copy_rhs(0, &x, 0, at_once)?;
    }
    Ok(())
}

/// Refuses what is no propagator; columns at a time.
fn check(solver: &DiracSolver, columns: usize, at_once: usize) -> Result<usize> {
    if solver.params().solution != Solution::Mat {
        let found = solver.params().solution;
        bail!(
            BadParameter,
            "solution: a propagator solves M x = b, PLAQ_SOLUTION_M, found {found}"
        );
    }
    if at_once > COLUMNS {
        bail!(BadParameter, "columns at a time: expected 0 to {COLUMNS}, found {at_once}");
    }
    if !(1..=4096).contains(&columns) {
        bail!(BadParameter, "source: expected 1 to 4096 columns from `first` on, found {columns}");
    }
    match at_once {
        0 => fitting(solver, columns),
        asked => Ok(asked),
    }
}

/// Sources first; solutions take their places.
fn solve_columns(
    solver: &DiracSolver,
    mut all: SpinorField,
    at_once: usize,
    monitor: &mut Monitor,
) -> Result<(SpinorField, SolveReport)> {
    let (shape, columns) = (solver.op().shape(), all.nrhs());
    if at_once >= columns {
        let mut x = shape.field(columns)?;
        let report = solver.solve(&mut x, &all, monitor)?;
        return Ok((x, report));
    }
    let (mut total, mut spent, mut stopped) = (None::<SolveReport>, 0.0, false);
    for first in (0..columns).step_by(at_once) {
        let count = at_once.min(columns - first);
        let (b, mut x) = (all.columns(first, count)?, shape.field(count)?);
        let mut told = |p: &Progress| {
            let stop =
                stopped || monitor(&Progress { seconds: spent + p.seconds, ..*p }).is_break();
            stopped = stop;
            match stop {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let stop = solver.params().solver.stop;
        let left = Stop { seconds: (stop.seconds - spent).max(0.0), ..stop };
        let report = solver.solve_until(left, &mut x, &b, &mut told)?;
        all.copy_rhs(first, &x, 0, count)?;
        spent += report.solver.seconds;
        total = Some(match total {
            Some(before) => SolveReport {
                memory_peak: before.memory_peak.max(report.memory_peak),
                columns: before.columns,
                solver: before.solver.beside(report.solver),
                ..report
            },
            None => report,
        });
    }
    let Some(report) = total else { bail!(Internal, "propagator: no columns") };
    Ok((all, report))
}
