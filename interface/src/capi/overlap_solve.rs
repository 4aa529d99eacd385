//! Inverses of the overlap operator: solves and propagators.

use std::ffi::c_void;
use std::sync::Arc;

use super::args::{
    Array, Handle, Local, MaybeArray, OptionalHandle, Out, OutArray, Params, Raw, Report, TextOut,
};
use super::gauge::{plaq_gauge, Gauge};
use super::hadron::source;
use super::multigrid::{plaq_multigrid, Multigrid as Hierarchy};
use super::origin::{propagated, solved};
use super::overlap::{plaq_overlap, plaq_overlap_params, Overlap};
use super::progress::watch;
use super::solve::{
    plaq_plan_report, plaq_progress_callback, plaq_solve_report, plaq_solver, right_hand_sides,
    tell, Solver,
};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::compose::OverlapSolver;
use crate::error::Result;
use crate::ops::overlap::overlap_propagators;
pub use crate::ops::overlap_settings::plaq_overlap_solve_params;
use crate::ops::overlap_settings::{OverlapSettings, OverlapSolving};
use crate::ops::propagator::COLUMNS;
use crate::ops::source::plaq_source_params;
use crate::params::{InC, ToC as _};
use crate::refuse;

interface! {
    "Inverse of the overlap operator"
    tables {
        plaq_overlap_solve_params, plaq_overlap_solve_params_init;
    }
    functions {
        /// Sets the multigrid for solves with params.multigrid = 1. It must have been set up for a Wilson operator of
        /// about params.wilson_mass on the kernel's links. Zero handle: the operator sets up its own again.
        plaq_overlap_set_multigrid(overlap: Handle<plaq_overlap>, multigrid: OptionalHandle<plaq_multigrid>) = set_multigrid;
        /// Gives memory and kernels of plaq_overlap_solve for `nrhs` right-hand sides, including a multigrid that it
        /// would set up. Nothing is run, compiled or allocated. Choices that depend on the Wilson operator's spectrum
        /// are predicted from the quark mass until a solve has measured it. `names`: a line for each kernel; a name
        /// is repeated for other values of its constants. Errors: INVALID_ARGUMENT, and those of plaq_overlap_solve.
        plaq_overlap_plan(overlap: Local<plaq_overlap>, params: Params<plaq_overlap_solve_params>, nrhs: i32, report: Report<plaq_plan_report>, names: TextOut, capacity: i64) = plan;
        /// Gives memory and kernels needed to make an operator on links like those of `gauge`, including the search
        /// for the largest number of modes of its kernel that it may find, and then to solve for `nrhs` right-hand
        /// sides, including these and x; 0: without a solve.
        plaq_overlap_create_plan(gauge: Local<plaq_gauge>, params: Params<plaq_overlap_params>, solve: Params<plaq_overlap_solve_params>, nrhs: i32, report: Report<plaq_plan_report>, names: TextOut, capacity: i64) = create_plan;
        /// Solves D x = b for all right-hand sides. `residuals`: NULL, or room for |b - D x| / |b| of each right-hand
        /// side. Errors: BAD_PARAMETER, FIELD_MISMATCH, NOT_FINITE, OUT_OF_MEMORY, SOLVER_BREAKDOWN.
        plaq_overlap_solve(overlap: Handle<plaq_overlap>, params: Params<plaq_overlap_solve_params>, x: Handle<plaq_spinor>, b: Handle<plaq_spinor>, callback: Raw<plaq_progress_callback>, user: *mut c_void, report: Report<plaq_solve_report>, residuals: MaybeArray<f64>[("right-hand sides of b")]) = solve;
        /// Makes a propagator of twelve columns for each of `count` masses, (D(m)^-1 - 1 / (2 rho)) / (1 - m / (2
        /// rho)) source, or D(m)^-1 source if params.subtract is 0. CG solves for all masses in one Krylov space;
        /// SUMR and GCR, which the library may choose, solve for one mass after the other. `propagators`: room for
        /// `count` handles.
        plaq_overlap_propagators(overlap: Handle<plaq_overlap>, params: Params<plaq_overlap_solve_params>, masses: Array<f64>[count], count: i64, source: Params<plaq_source_params>, callback: Raw<plaq_progress_callback>, user: *mut c_void, propagators: OutArray<plaq_spinor>[count], report: Report<plaq_solve_report>) = propagators_of;
        /// Makes a solver for perambulators and noise of modes (plaq_modes_perambulators, plaq_modes_solve_noise and
        /// others) with the overlap operator, of the propagators of plaq_overlap_propagators: without the contact
        /// term unless params.subtract is 0. plaq_solver_memory and plaq_solver_plan take it; other functions of
        /// solvers refuse it. It keeps the operator alive. Errors: BAD_PARAMETER.
        plaq_solver_create_overlap(overlap: Handle<plaq_overlap>, params: Params<plaq_overlap_solve_params>, solver: Out<plaq_solver>) = solver_for_modes;
    }
}

fn set_multigrid(overlap: &Arc<Overlap>, multigrid: Option<&Arc<Hierarchy>>) -> Result<()> {
    if let Some(multigrid) = multigrid {
        overlap.context().check_same(multigrid.context(), "multigrid")?;
        multigrid.multigrid().check(&**overlap.op.sign().kernel().op())?;
    }
    overlap.kept().multigrid = multigrid.map(|m| (None, m.multigrid().clone()));
    Ok(())
}

fn read(params: &plaq_overlap_solve_params) -> Result<OverlapSolving> {
    OverlapSolving::from_c(params, "params")
}

fn plan(
    overlap: &Arc<Overlap>,
    params: &plaq_overlap_solve_params,
    nrhs: i32,
    report: &mut Report<plaq_plan_report>,
    names: &mut TextOut,
    capacity: i64,
) -> Result<()> {
    let (how, nrhs) = (read(params)?, right_hand_sides(nrhs)?);
    let kept = overlap.kept().clone();
    let needs = how.needs(&overlap.op, overlap.low().as_deref(), nrhs, &kept)?;
    tell(&needs, None, report, names, capacity)
}

#[allow(clippy::too_many_arguments)]
fn create_plan(
    gauge: &Arc<Gauge>,
    params: &plaq_overlap_params,
    solve: &plaq_overlap_solve_params,
    nrhs: i32,
    report: &mut Report<plaq_plan_report>,
    names: &mut TextOut,
    capacity: i64,
) -> Result<()> {
    let (settings, how) = (OverlapSettings::from_c(params, "params")?, read(solve)?);
    let solve = match nrhs {
        0 => None,
        _ => Some((&how, right_hand_sides(nrhs)?)),
    };
    tell(&settings.needs(&*gauge.read("gauge")?, solve)?, None, report, names, capacity)
}

fn solver_for_modes(
    overlap: &Arc<Overlap>,
    params: &plaq_overlap_solve_params,
    solver: &mut Out<plaq_solver>,
) -> Result<()> {
    solver.set(overlap.context().adopt(Solver::of_overlap(overlap, read(params)?))?);
    Ok(())
}

/// Makes a solver for these quark masses.
fn solver_of(
    overlap: &Overlap,
    how: &OverlapSolving,
    masses: &[f64],
    nrhs: usize,
) -> Result<OverlapSolver> {
    let modes = overlap.low().filter(|_| how.deflate);
    how.solver(&overlap.op, modes, masses, nrhs, &mut overlap.kept())
}

/// Remembers what solved, for the operator's report, and returns that of the solve.
fn report_of(
    overlap: &Overlap,
    solver: &OverlapSolver,
    report: crate::solvers::SolverReport,
) -> plaq_solve_report {
    overlap.set_solved((solver.algorithm(), solver.preconditioned()));
    solver.totals(report).to_c()
}

#[allow(clippy::too_many_arguments)]
fn solve(
    overlap: &Arc<Overlap>,
    params: &plaq_overlap_solve_params,
    x: &Arc<Spinor>,
    b: &Arc<Spinor>,
    callback: plaq_progress_callback,
    user: *mut c_void,
    report: &mut Report<plaq_solve_report>,
    residuals: &mut MaybeArray<f64>,
) -> Result<()> {
    overlap.context().check_same(x.context(), "x")?;
    overlap.context().check_same(b.context(), "b")?;
    overlap.context().device().reset_peak();
    let (origin, b) = (solved(b.origin(), overlap.origin()), b.read("b")?);
    let solver = solver_of(overlap, &read(params)?, &[overlap.op.mass()], b.nrhs())?;
    let (object, mut x) = (x, x.write("x")?);
    let mut monitor = watch(overlap.context().comm(), callback, user);
    let done = solver.solve(&mut x, &b, &mut monitor)?;
    object.set_origin(origin);
    residuals.set(done.residual.clone());
    report.set(report_of(overlap, &solver, done));
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn propagators_of(
    overlap: &Arc<Overlap>,
    params: &plaq_overlap_solve_params,
    masses: &Array<f64>,
    count: i64,
    from: &plaq_source_params,
    callback: plaq_progress_callback,
    user: *mut c_void,
    propagators: &mut OutArray<plaq_spinor>,
    report: &mut Report<plaq_solve_report>,
) -> Result<()> {
    if !(1..=100).contains(&count) {
        refuse!(InvalidArgument, "count", expected("1 to 100 masses"), found("{count}"));
    }
    overlap.context().device().reset_peak();
    let masses = masses.get(count as usize)?;
    let how = read(params)?;
    let solver = solver_of(overlap, &how, &masses, COLUMNS)?;
    let mut monitor = watch(overlap.context().comm(), callback, user);
    let from = source(from)?;
    let (fields, done) = overlap_propagators(&solver, &masses, from, how.subtract, &mut monitor)?;
    let context = overlap.context();
    let origin = propagated(from.position.map(Some), overlap.origin());
    let objects: Result<Vec<plaq_spinor>> = fields
        .into_iter()
        .map(|f| context.adopt(Spinor::with_origin(context, f, origin)))
        .collect();
    propagators.set(objects?);
    report.set(report_of(overlap, &solver, done));
    Ok(())
}
