//! Solvers of equations with a Dirac operator.

use std::ffi::c_void;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use super::args::{
    Array, Handle, Local, MaybeArray, OptionalHandle, Out, Params, Raw, Report, TextOut,
};
use super::context::Context;
use super::dirac::{plaq_dirac, Dirac};
use super::handles;
use super::multigrid::{plaq_multigrid, Multigrid};
use super::origin::solved;
use super::overlap::Overlap;
pub use super::progress::plaq_progress_callback;
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
pub use crate::compose::{plaq_solve_report, plaq_solver_params};
use crate::compose::{Chosen, DiracSolver, Equations, Solution, SolverSettings};
use crate::error::{significant, Result};
use crate::fields::{Needs, SpinorField};
use crate::io::Origin;
use crate::ops::distillation::inverse::{Inverse, OverlapInverse};
use crate::ops::links_mark::links_mark;
use crate::ops::overlap_settings::OverlapSolving;
use crate::ops::propagator;
use crate::params::{InC, ToC as _};
use crate::refuse;
use crate::solvers::{largest, IterationSums, Progress, Shift, SolverKind, StoppedBy};

/// The solver behind a handle: that of a quark action, or the overlap operator with the settings of its solves.
enum By {
    Dirac(DiracSolver),
    Overlap(Arc<Overlap>, OverlapSolving),
}

/// The object behind the handle `plaq_solver`.
pub struct Solver {
    context: Arc<Context>,
    by: By,
    /// Number of columns of a propagator that are solved for together.
    columns: usize,
    /// Boundary phases of quarks in units of pi.
    phases: [f64; 4],
    /// The common origin of all solutions by this solver: boundary phases, normalisation and masses, without the
    /// source's position and the links.
    origin: Origin,
    /// Relative residuals after each iteration of the last solve.
    history: Mutex<Vec<f64>>,
}

impl Solver {
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    /// A solver that makes propagators of the overlap operator from modes.
    pub(super) fn of_overlap(overlap: &Arc<Overlap>, how: OverlapSolving) -> Solver {
        let [x, y, z, t] = overlap.phases();
        Solver {
            context: overlap.context().clone(),
            by: By::Overlap(overlap.clone(), how),
            columns: 0,
            origin: overlap.origin(),
            phases: [x, y, z, t],
            history: Mutex::default(),
        }
    }
    /// The solver of a quark action.
    ///
    /// # Errors
    /// `Unsupported`: it is one of the overlap operator.
    pub(crate) fn solver(&self) -> Result<&DiracSolver> {
        match &self.by {
            By::Dirac(solver) => Ok(solver),
            By::Overlap(..) => refuse!(
                Unsupported,
                "solver",
                expected("one of plaq_solver_create"),
                found("one of the overlap operator"),
                hint("plaq_overlap_solve and plaq_overlap_propagators solve with the overlap operator")
            ),
        }
    }
    /// Calls `work` with the inverse of the operator, for work on this number of columns.
    pub(crate) fn with_inverse<T>(
        &self,
        columns: usize,
        work: impl FnOnce(&dyn Inverse) -> Result<T>,
    ) -> Result<T> {
        match &self.by {
            By::Dirac(solver) => work(solver),
            By::Overlap(overlap, how) => {
                let (low, kept) = (overlap.low(), overlap.shared());
                let inverse = OverlapInverse::new(&overlap.op, how.clone(), low, kept, columns);
                let found = work(&inverse);
                if let Some(solved) = inverse.solved() {
                    overlap.set_solved(solved);
                }
                found
            }
        }
    }
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }
    /// The origin of solutions by this solver: boundary phases, normalisation, masses and links, without the source's
    /// position. All ranks call it.
    pub(crate) fn origin(&self) -> Result<Origin> {
        Ok(Origin { links: Some(links_mark(self.solver()?.op().links())?), ..self.origin })
    }
    pub(crate) fn phases(&self) -> [f64; 4] {
        self.phases
    }
    pub(crate) fn keep_history(&self, history: Vec<f64>) {
        *self.history.lock().unwrap_or_else(PoisonError::into_inner) = history;
    }
}

interface! {
    "Solvers"
    handles {
        /// A Dirac operator with a chain of solvers for one of its equations.
        plaq_solver: Solver = 6,
    }
    choices {
        plaq_stopped_by = StoppedBy;
        plaq_solver_kind = SolverKind;
        plaq_iteration_sums = IterationSums;
        plaq_solution = Solution;
        plaq_equations = Equations;
        plaq_chosen = Chosen;
    }
    tables {
        plaq_solver_params, plaq_solver_params_init;
    }
    reported {
        plaq_solve_report, plaq_solve_report_init;
    }
    reports {
        /// Memory and kernels that a solve needs, found before anything runs.
        plaq_plan_report, plaq_plan_report_init {
            /// Bytes of device memory, as given by plaq_solver_memory.
            memory: i64,
            /// Number of kernels: instantiations with their constants.
            kernels: i64,
            /// Number of kernels that a GPU's compiler has to make first, as they were not used before and are not in
            /// the cache; 0 on a CPU.
            to_compile: i64,
            /// Rough estimate of the seconds that compiling takes on this machine's cores.
            seconds: f64,
            /// Bytes of the memory that stay allocated afterwards: links and modes of a new overlap operator, and a
            /// multigrid that it keeps; 0 for other solves.
            kept: i64,
        }
    }
    functions {
        /// Makes a solver for an operator, in the operator's normalisation. Errors: BAD_PARAMETER, UNSUPPORTED (a
        /// combination that is not available), OUT_OF_MEMORY.
        plaq_solver_create(dirac: Handle<plaq_dirac>, params: Params<plaq_solver_params>, solver: Out<plaq_solver>) = create;
        /// Preconditions every iteration with a multigrid, which several solvers may share; zero handle: without any
        /// from now on. Errors: UNSUPPORTED (the solver is neither automatic nor GCR on one parity directly),
        /// FIELD_MISMATCH (set up for another lattice).
        plaq_solver_set_multigrid(solver: Handle<plaq_solver>, multigrid: OptionalHandle<plaq_multigrid>) = set_multigrid;
        /// Destroys a solver. The zero handle is accepted.
        plaq_solver_destroy(solver: Raw<plaq_solver>) = destroy;
        /// Gives the bytes of device memory that a solve for `nrhs` right-hand sides together needs, besides x and b.
        /// With less memory it solves for fewer at a time. With more, a solve with an iteration in 16 bits, or with
        /// GCR in single precision, also keeps the inverse of the clover term in double. A propagator needs in
        /// addition a field of 12 columns and one of `columns`; if these do not fit, solved columns are kept on the
        /// host until all are solved. PLAQ_SOLVER_AUTO sets multigrid up only if it fits in addition.
        plaq_solver_memory(solver: Local<plaq_solver>, nrhs: i32, bytes: Out<i64>) = memory;
        /// Gives the memory and kernels of a solve for `nrhs` right-hand sides with the solver's present multigrid.
        /// Nothing is run, compiled or allocated. `names`: a line with the links of the solver's chain, as "12
        /// columns at a time > scaled > to 1e-10 > Schur even > BiCGStab", then one for each kernel, less than 8 KiB
        /// for most solves; a name is repeated for other values of its constants. Errors: INVALID_ARGUMENT.
        plaq_solver_plan(solver: Local<plaq_solver>, nrhs: i32, report: Report<plaq_plan_report>, names: TextOut, capacity: i64) = plan;
        /// Solves for all right-hand sides of b, together or as many at a time as fit in the device's memory; the
        /// report says how many. x and b have the operator's precision and the subset of the equation. `residuals`:
        /// NULL, or room for |b - M x| / |b| of each right-hand side. Errors: FIELD_MISMATCH, NOT_FINITE,
        /// OUT_OF_MEMORY (not one right-hand side fits), SOLVER_BREAKDOWN.
        plaq_solver_solve(solver: Handle<plaq_solver>, x: Handle<plaq_spinor>, b: Handle<plaq_spinor>, callback: Raw<plaq_progress_callback>, user: *mut c_void, report: Report<plaq_solve_report>, residuals: MaybeArray<f64>[("right-hand sides of b")]) = solve;
        /// Gives the largest |r| / |b| over the right-hand sides after every iteration of the solver's last solve,
        /// propagator or multishift: as given by the recurrence for the system that is iterated; it may jump when
        /// residuals are recomputed. `count`: number of iterations, of which the first `capacity` are written;
        /// `history` may be NULL.
        plaq_solver_history(solver: Local<plaq_solver>, history: MaybeArray<f64>[capacity], capacity: i64, count: Out<i64>) = history_of;
        /// Solves (A + sigma[k]) x[k] = b for all `count` shifts together, with A = M^dagger M for
        /// PLAQ_SOLUTION_MDAGM and P^dagger P for PLAQ_SOLUTION_PDAGP, each to its tol[k]; sigma[k] >= 0. x: `count`
        /// different fields. `residuals`: NULL, or room for a number for each shift, the largest over the right-hand
        /// sides. solver, tol and initial_guess of the parameters are not used; automatic `sloppy_precision` and then
        /// `sloppy_storage`, too, are the operator's. max_seconds are those of the call.
        plaq_solver_multishift(solver: Handle<plaq_solver>, x: Array<plaq_spinor>[count], sigma: Array<f64>[count], tol: Array<f64>[count], count: i64, b: Handle<plaq_spinor>, callback: Raw<plaq_progress_callback>, user: *mut c_void, report: Report<plaq_solve_report>, residuals: MaybeArray<f64>[count]) = multishift;
    }
}

fn create(dirac: &Arc<Dirac>, p: &plaq_solver_params, solver: &mut Out<plaq_solver>) -> Result<()> {
    let settings = SolverSettings::from_c(p, "params")?;
    let params = settings.params(dirac.op(), dirac.normalisation())?;
    propagator::precompile(&**dirac.op(), &params, settings.columns);
    let made = DiracSolver::new(dirac.op().clone(), params)?;
    made.log();
    let object = Solver {
        context: dirac.context().clone(),
        by: By::Dirac(made),
        columns: settings.columns,
        origin: dirac.origin(),
        phases: dirac.phases(),
        history: Mutex::default(),
    };
    solver.set(dirac.context().adopt(object)?);
    Ok(())
}

fn set_multigrid(solver: &Arc<Solver>, multigrid: Option<&Arc<Multigrid>>) -> Result<()> {
    if let Some(multigrid) = multigrid {
        solver.context.check_same(multigrid.context(), "multigrid")?;
    }
    let own = solver.solver()?;
    own.set_multigrid(multigrid.map(|m| m.multigrid().clone()))?;
    own.log();
    Ok(())
}

fn destroy(solver: plaq_solver) -> Result<()> {
    handles::remove(solver, "solver")
}

fn memory(solver: &Arc<Solver>, nrhs: i32, bytes: &mut Out<i64>) -> Result<()> {
    let nrhs = right_hand_sides(nrhs)?;
    let memory = match &solver.by {
        By::Dirac(solver) => solver.memory(nrhs)?,
        By::Overlap(overlap, how) => overlap_needs(overlap, how, nrhs)?.memory,
    };
    bytes.set(i64::try_from(memory).unwrap_or(i64::MAX));
    Ok(())
}

fn overlap_needs(overlap: &Overlap, how: &OverlapSolving, nrhs: usize) -> Result<Needs> {
    let kept = overlap.kept().clone();
    how.needs(&overlap.op, overlap.low().as_deref(), nrhs, &kept)
}

pub(super) fn right_hand_sides(nrhs: i32) -> Result<usize> {
    if !(1..=4096).contains(&nrhs) {
        refuse!(InvalidArgument, "nrhs", expected("1 to 4096"), found("{nrhs}"));
    }
    Ok(nrhs as usize)
}

fn plan(
    solver: &Arc<Solver>,
    nrhs: i32,
    report: &mut Report<plaq_plan_report>,
    names: &mut TextOut,
    capacity: i64,
) -> Result<()> {
    let nrhs = right_hand_sides(nrhs)?;
    let (needs, chain) = match &solver.by {
        By::Dirac(solver) => (solver.needs(nrhs)?, Some(solver.describe(nrhs))),
        By::Overlap(overlap, how) => (overlap_needs(overlap, how, nrhs)?, None),
    };
    tell(&needs, chain.as_deref(), report, names, capacity)
}

/// Writes a plan to the report; the names are preceded by a line with the chain of links, if there is one.
pub(super) fn tell(
    needs: &Needs,
    chain: Option<&str>,
    report: &mut Report<plaq_plan_report>,
    names: &mut TextOut,
    capacity: i64,
) -> Result<()> {
    let bytes = |n| i64::try_from(n).unwrap_or(i64::MAX);
    let kernels = needs.kernels.names.iter().map(String::as_str);
    let lines: Vec<&str> = chain.into_iter().chain(kernels).collect();
    names.set(&lines.join("\n"), capacity)?;
    report.set(plaq_plan_report {
        memory: bytes(needs.memory),
        kernels: needs.kernels.names.len() as i64,
        to_compile: needs.kernels.to_compile as i64,
        seconds: needs.kernels.seconds(),
        kept: bytes(needs.kept),
        ..Default::default()
    });
    Ok(())
}

fn history_of(
    solver: &Arc<Solver>,
    history: &mut MaybeArray<f64>,
    capacity: i64,
    count: &mut Out<i64>,
) -> Result<()> {
    if capacity < 0 {
        refuse!(InvalidArgument, "capacity", expected("0 or more"), found("{capacity}"));
    }
    let all = solver.history.lock().unwrap_or_else(PoisonError::into_inner);
    let shown = all.len().min(capacity as usize);
    history.set(all[..shown].to_vec());
    count.set(all.len() as i64);
    Ok(())
}

/// Turns the host's callback into a monitor that gives the same answer on all ranks.
pub(crate) fn monitor(
    solver: &DiracSolver,
    callback: plaq_progress_callback,
    user: *mut c_void,
) -> impl FnMut(&Progress) -> ControlFlow<()> {
    let comm = solver.op().links().geometry().comm().clone();
    let mut asked = false;
    move |p| {
        if let Some(callback) = callback.0.filter(|_| !asked) {
            let residual = largest(p.residual);
            // SAFETY: the host's function with the host's own pointer, while its call runs.
            asked = unsafe { callback(p.iteration as i64, residual, p.seconds, user) } != 0;
        }
        match comm.stop(asked) {
            false => ControlFlow::Continue(()),
            true => ControlFlow::Break(()),
        }
    }
}

fn solve(
    solver: &Arc<Solver>,
    x: &Arc<Spinor>,
    b: &Arc<Spinor>,
    callback: plaq_progress_callback,
    user: *mut c_void,
    report: &mut Report<plaq_solve_report>,
    residuals: &mut MaybeArray<f64>,
) -> Result<()> {
    solver.context.check_same(x.context(), "x")?;
    solver.context.check_same(b.context(), "b")?;
    let own = solver.solver()?;
    let known = solved(b.origin(), solver.origin()?);
    b.check_source("b", known)?;
    let (b, object) = (b.read_any("b")?, x);
    let mut x = object.write_any("x")?;
    let mut monitor = monitor(own, callback, user);
    let stop = own.params().solver.stop;
    let done = own.solve_until(stop, &mut x, &b, &mut monitor)?;
    object.set_origin(known);
    log::info!(
        "solve: {} iterations, residual {}, {:.3} s",
        done.solver.iterations,
        significant(largest(&done.solver.residual), 4),
        done.solver.seconds
    );
    report.set(done.totals(own.params().solver.kind).to_c());
    residuals.set(done.solver.residual);
    solver.keep_history(done.solver.history);
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn multishift(
    solver: &Arc<Solver>,
    x: &Array<plaq_spinor>,
    sigma: &Array<f64>,
    tol: &Array<f64>,
    count: i64,
    b: &Arc<Spinor>,
    callback: plaq_progress_callback,
    user: *mut c_void,
    report: &mut Report<plaq_solve_report>,
    residuals: &mut MaybeArray<f64>,
) -> Result<()> {
    if !(1..=1000).contains(&count) {
        refuse!(InvalidArgument, "count", expected("1 to 1000"), found("{count}"));
    }
    let (count, own) = (count as usize, solver.solver()?);
    solver.context.check_same(b.context(), "b")?;
    let known = solved(b.origin(), solver.origin()?);
    b.check_source("b", known)?;
    let b = b.read_any("b")?;
    let mut objects = Vec::new();
    for (k, handle) in x.get(count)?.into_iter().enumerate() {
        let object = handles::get(handle, &format!("x[{k}]"))?;
        solver.context.check_same(object.context(), "x")?;
        objects.push(object);
    }
    let guards: Result<Vec<_>> =
        objects.iter().enumerate().map(|(k, o)| o.write_any(&format!("x[{k}]"))).collect();
    let mut guards = guards?;
    let shifts = sigma.get(count)?.into_iter().zip(tol.get(count)?);
    let shifts: Vec<Shift> =
        shifts.map(|(sigma, tol)| Shift { sigma, tol, heavy_quark: 0.0 }).collect();
    let mut fields: Vec<&mut SpinorField> = guards.iter_mut().map(|guard| &mut **guard).collect();
    let mut monitor = monitor(own, callback, user);
    let (done, each) = own.multishift(&shifts, &mut fields, &b, &mut monitor)?;
    objects.iter().for_each(|object| object.set_origin(known));
    report.set(done.totals(SolverKind::Cg).to_c());
    residuals.set(each.iter().map(|r| largest(&r.residual)).collect());
    solver.keep_history(done.solver.history);
    Ok(())
}
