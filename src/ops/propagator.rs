//! Quark propagators, with twelve columns: one for each spin and colour of the source.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::contract::{baryon, mesons, Baryon, Closing, Sink};
pub use super::source::COLUMNS;
use super::source::{Source, SourceSites};
use crate::bail;
use crate::compose::{DiracSolver, Solution, SolveParams, SolveReport};
use crate::error::Result;
use crate::fields::{Components, Geometry, SpinorField};
use crate::operators::{Boundary, QuarkAction};
use crate::params::Key;
use crate::refuse;
use crate::solvers::{Monitor, Progress, Stop};

/// Bytes of device memory of a propagator of `columns` columns that stays on the device, solved for `at_once` columns
/// at a time: its fields, and the solve. With fewer at a time it is less.
///
/// # Errors
/// Errors of [`DiracSolver::memory`].
pub fn memory(solver: &DiracSolver, columns: usize, at_once: usize) -> Result<u64> {
    let n = at_once.min(columns);
    Ok(Columns { at_once: n, on_host: false }.memory(solver, columns, solver.memory(n)?))
}

/// Bytes of device memory of a propagator of `columns` columns, solved for `at_once` columns at a time, if the solved
/// columns are kept on the host until all are solved.
///
/// # Errors
/// Errors of [`DiracSolver::memory`].
pub fn memory_on_host(solver: &DiracSolver, columns: usize, at_once: usize) -> Result<u64> {
    let n = at_once.min(columns);
    Ok(Columns { at_once: n, on_host: true }.memory(solver, columns, solver.memory(n)?))
}

/// The number of columns of a propagator that are solved for together, and the memory in which solved columns are
/// kept.
#[derive(Clone, Copy)]
struct Columns {
    /// Number of columns that are solved at a time.
    at_once: usize,
    /// True if solved columns wait in the memory of the host, so that a solve has the device for itself.
    on_host: bool,
}

impl Columns {
    /// Bytes of device memory in addition to the solver's own; `solve`: bytes of a solve.
    fn memory(self, solver: &DiracSolver, columns: usize, solve: u64) -> u64 {
        let shape = solver.op().shape();
        let field = |n| shape.bytes(n);
        match self.on_host {
            false => field(columns) + field(self.at_once) + solve,
            true => field(columns).max(2 * field(self.at_once) + solve),
        }
    }

    /// Chooses the number of columns that are solved for together: `requested`, or if that is 0 as many as fit, with
    /// solved columns on the device if possible; the same on all ranks.
    fn choose(solver: &DiracSolver, columns: usize, requested: usize) -> Result<Columns> {
        let shape = solver.op().shape();
        let mut numbers: Vec<usize> = match requested {
            0 => (1..=COLUMNS).rev().filter(|n| COLUMNS.is_multiple_of(*n)).collect(),
            requested => vec![requested],
        };
        numbers.iter_mut().for_each(|n| *n = columns.min(*n));
        numbers.dedup();
        let all = |on_host| numbers.iter().map(move |&at_once| Columns { at_once, on_host });
        let mut ways: Vec<Columns> = all(false).collect();
        // The host's memory is that of a CPU: columns that wait there make no room.
        if !shape.device.is_cpu() {
            ways.extend(all(true));
        }
        let need = |way: Columns, solve: &dyn Fn(usize) -> Result<u64>| {
            Ok(way.memory(solver, columns, solve(way.at_once)?))
        };
        let Some(chosen) = solver.fitting(&ways, need)? else {
            let least = ways[ways.len() - 1];
            let bytes = shape.geometry.comm().agree(need(least, &|n| solver.memory(n)))?;
            shape.geometry.require(&shape.device, bytes, "this propagator")?;
            return Ok(least);
        };
        let n = chosen.at_once;
        if chosen.on_host || (requested == 0 && n < COLUMNS.min(columns)) {
            log::info!(
                "a propagator of {columns} columns: {n} at a time fit in {}{}",
                shape.device.name(),
                if chosen.on_host { ", the others wait on the host" } else { "" }
            );
        }
        Ok(chosen)
    }
}

/// Solves M S = source for all columns of the source, `at_once` at a time (1 to 12; 0: as fit): S(x, source), in the
/// precision and normalisation of the solver, which must be one for M on the full lattice (`Solution::Mat`). The
/// report covers all solves: the largest number of iterations, sums of times, work, updates and restarts, and
/// histories one after the other. The monitor's iterations start from 0 with each solve, its seconds do not; once it
/// has asked to stop or all solves together have taken `max_seconds`, each remaining solve ends after one iteration.
/// If the columns do not fit in the memory of a GPU beside a solve, those that are solved are kept on the host.
///
/// # Errors
/// `BadParameter`: `at_once` is out of range, more than 4096 columns; `OutOfMemory`: [`memory`] on a CPU, on a GPU
/// [`memory_on_host`], will not fit, nothing is allocated; else those of [`Source::set`] and [`DiracSolver::solve`]. Not converged is
/// not an error: see the report.
pub fn propagator(
    solver: &DiracSolver,
    source: Source,
    at_once: usize,
    monitor: &mut Monitor,
) -> Result<(SpinorField, SolveReport)> {
    check(solver, source.columns(), at_once)?;
    check_place(solver, &source)?;
    let some = |first: usize, count: usize| {
        let mut b = solver.op().shape().field(count)?;
        Source { first: source.first + first, count: Some(count), ..source }.set(&mut b)?;
        Ok(b)
    };
    solve_columns(solver, at_once, source.columns(), &some, monitor)
}

/// Refuses a source on a time slice where quark fields are zero because of boundaries in time.
fn check_place(solver: &DiracSolver, source: &Source) -> Result<()> {
    match source.place {
        SourceSites::Volume => Ok(()),
        _ => check_time(solver.op().links().geometry(), source.position[3], "position[3]"),
    }
}

/// Refuses a time slice outside of the lattice, or one where quark fields are zero because of boundaries in time.
/// `name` names the time in the message.
///
/// # Errors
/// `InvalidArgument`.
pub fn check_time(geometry: &Geometry, time: usize, name: &str) -> Result<()> {
    let (boundary, slices) = (geometry.boundary(), geometry.global_extents()[3]);
    if time >= slices {
        refuse!(InvalidArgument, "{name}", expected("0 to {}", slices - 1), found("{time}"));
    }
    if boundary.vanishes(time, slices) {
        refuse!(
            InvalidArgument,
            "{name}",
            expected("a time slice where quarks do not vanish, as links have {boundary}"),
            found("{time}")
        );
    }
    Ok(())
}

/// Solves for given sources of any kind (smeared, sequential, of another code) as [`propagator`] does.
///
/// # Errors
/// Errors of [`propagator`]; `FieldMismatch`: not the lattice and precision of the solver's operator.
pub fn propagator_of(
    solver: &DiracSolver,
    sources: &SpinorField,
    at_once: usize,
    monitor: &mut Monitor,
) -> Result<(SpinorField, SolveReport)> {
    check(solver, sources.nrhs(), at_once)?;
    solver.op().shape().check(sources, "sources")?;
    let some = |first: usize, count: usize| sources.columns(first, count);
    solve_columns(solver, at_once, sources.nrhs(), &some, monitor)
}

/// Whether this is an action of quarks, whose propagators have a column for each spin and colour.
pub fn propagates(op: &dyn QuarkAction) -> bool {
    op.shape().components == Components::SPINOR
}

/// Starts to compile the kernels that a propagator with these parameters launches, including those for making its
/// solver and for the usual correlators.
pub fn precompile(op: &dyn QuarkAction, params: &SolveParams, at_once: usize) {
    if !propagates(op) {
        return;
    }
    let links = op.links();
    let key = Key::of(("propagator", op.key(), params, at_once));
    links.geometry().precompile(links.device(), None, true, key, |device| {
        run_through(op.like_on(device)?, params, at_once)
    });
}

/// Runs all steps of a propagator, in a rehearsal.
pub fn run_through(op: Arc<dyn QuarkAction>, params: &SolveParams, at_once: usize) -> Result<()> {
    let solver = DiracSolver::new(op, params.clone())?;
    let shape = solver.op().shape();
    let mut all = shape.field(COLUMNS)?;
    check(&solver, COLUMNS, at_once)?;
    let at_once = if at_once == 0 { COLUMNS } else { at_once };
    // Kernels that take longest to compile are requested first.
    mesons(&all, &all, Sink::at_rest(0))?;
    let closed = Closing::plain(Boundary::ANTIPERIODIC);
    baryon(Baryon::Nucleon, &all, None, ([0; 4], [0; 3]), closed)?;
    Source::point([0; 4]).set(&mut all)?;
    let (b, mut x) = (all.columns(0, at_once)?, shape.field(at_once)?);
    solver.run_through(&mut x, &b);
    Ok(())
}

/// Refuses a solver or a number of columns of which no propagator can be made.
pub(super) fn check(solver: &DiracSolver, columns: usize, at_once: usize) -> Result<()> {
    if solver.params().solution != Solution::Mat {
        let found = solver.params().solution;
        bail!(
            BadParameter,
            "solution: a propagator solves M x = b, PLAQ_SOLUTION_M, found {found}"
        );
    }
    if at_once > COLUMNS {
        refuse!(BadParameter, "columns at a time", expected("0 to {COLUMNS}"), found("{at_once}"));
    }
    if !(1..=4096).contains(&columns) {
        refuse!(
            BadParameter,
            "source",
            expected("1 to 4096 columns from `first` on"),
            found("{columns}")
        );
    }
    Ok(())
}

/// Solves for all columns; `source(first, count)` makes their sources.
fn solve_columns(
    solver: &DiracSolver,
    requested: usize,
    columns: usize,
    source: Field,
    monitor: &mut Monitor,
) -> Result<(SpinorField, SolveReport)> {
    let shape = solver.op().shape();
    let mut stopped = false;
    let mut ahead = |p: &Progress| {
        stopped = monitor(p).is_break();
        match stopped {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    // A solve that does not fit into memory is refused before anything is allocated.
    let mut chosen = Columns::choose(solver, columns, requested)?;
    let seconds = solver.test_one(columns, &|| source(0, 1), &mut ahead)?;
    if seconds > 0.0 {
        chosen = Columns::choose(solver, columns, requested)?;
    }
    let Columns { at_once, on_host } = chosen;
    let on_device = if on_host { None } else { Some(shape.field(columns)?) };
    let mut waiting = vec![];
    let solutions = |first: usize, count: usize| match &on_device {
        Some(all) => all.columns(first, count),
        None => shape.field(count),
    };
    let mut done = |first: usize, x: SpinorField, _: &SolveReport| {
        if on_host {
            waiting.push((first, x.to_host()?));
        }
        Ok(ControlFlow::Continue(()))
    };
    let mut notify = |p: &Progress| match stopped {
        true => ControlFlow::Break(()),
        false => monitor(&Progress { seconds: seconds + p.seconds, ..*p }),
    };
    let by = Solves::of(solver);
    let mut report =
        solve_parts(&by, at_once, columns, (source, &solutions), &mut notify, &mut done)?;
    report.solver.seconds += seconds;
    let all = match on_device {
        Some(all) => all,
        None => {
            // Vectors that cycles of multigrid keep are freed to make room.
            solver.require(shape.bytes(columns), "this propagator")?;
            shape.field(columns)?
        }
    };
    for (first, part) in waiting {
        all.columns(first, at_once.min(columns - first))?.copy_from_host(&part)?;
    }
    Ok((all, report))
}

/// A function that returns a field for a group of columns: number of the first one, and their count.
type Field<'a> = &'a dyn Fn(usize, usize) -> Result<SpinorField>;
/// A function that takes the solutions of a group of columns: number of the first one, the field, and the report of
/// the solve.
type TakeSolutions<'a> =
    dyn FnMut(usize, SpinorField, &SolveReport) -> Result<ControlFlow<()>> + 'a;

/// A function that solves for a group of columns in at most a number of seconds.
type Solve<'a> =
    dyn Fn(f64, &mut SpinorField, &SpinorField, &mut Monitor) -> Result<SolveReport> + 'a;

/// Solves of groups of columns: the seconds that all of them may take together, and how one is done.
pub(super) struct Solves<'a> {
    pub seconds: f64,
    pub solve: Box<Solve<'a>>,
}

impl<'a> Solves<'a> {
    /// Makes the description of solves with the solver of a quark action.
    pub fn of(solver: &'a DiracSolver) -> Self {
        let stop = solver.params().solver.stop;
        let solve: Box<Solve> = Box::new(move |seconds, x, b, monitor| {
            solver.solve_until(Stop { seconds, ..stop }, x, b, monitor)
        });
        Solves { seconds: stop.seconds, solve }
    }
}

/// Solves for the columns of `source`, `at_once` at a time, in fields made by `solutions`, which are passed to `done`; its
/// result may end the work. The report is that of all solves.
pub(super) fn solve_parts(
    by: &Solves,
    at_once: usize,
    columns: usize,
    (source, solutions): (Field, Field),
    monitor: &mut Monitor,
    done: &mut TakeSolutions,
) -> Result<SolveReport> {
    let mut total = None::<SolveReport>;
    let (mut elapsed, mut stopped) = (0.0, false);
    for first in (0..columns).step_by(at_once) {
        let count = at_once.min(columns - first);
        let b = source(first, count)?;
        let mut x = solutions(first, count)?;
        let mut notify = |p: &Progress| {
            let stop =
                stopped || monitor(&Progress { seconds: elapsed + p.seconds, ..*p }).is_break();
            stopped = stop;
            match stop {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let report = (by.solve)((by.seconds - elapsed).max(0.0), &mut x, &b, &mut notify)?;
        drop(b);
        let end = done(first, x, &report)?.is_break();
        elapsed += report.solver.seconds;
        total = Some(match total {
            Some(before) => before.join(report),
            None => report,
        });
        if end {
            break;
        }
    }
    match total {
        Some(report) => Ok(report),
        None => bail!(Internal, "propagator: no columns"),
    }
}
