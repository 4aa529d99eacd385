//! Quarks at the boundaries of the Schroedinger functional.

use std::ffi::c_void;
use std::sync::Arc;

use super::args::{Handle, MaybeArray, One, Out, Raw, Report};
use super::origin::propagated;
use super::progress::plaq_progress_callback;
use super::solve::{monitor, plaq_solve_report, plaq_solver, Solver};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::error::Result;
use crate::ops::schroedinger::{boundary_correlators, boundary_propagator, BoundaryEnd};
use crate::params::ToC as _;
use crate::refuse;

interface! {
    "Schroedinger functional"
    choices {
        plaq_boundary_end = BoundaryEnd;
    }
    functions {
        /// Makes the boundary-to-bulk propagator of a boundary with fixed links: H(x) = cF sum_y D^-1(x, y) U(y - t,
        /// t)^dagger P with y on slice 1 for the lower boundary, P = (1 + gamma_t) / 2, or H(x) = cF' sum_y D^-1(x,
        /// y) U(y, t) P with y on slice T - 1 for the upper one, P = (1 - gamma_t) / 2. It has twelve right-hand
        /// sides, 3 spin + colour of the boundary field, of which six are solved for. D is mass-normalised, whatever
        /// the solver's normalisation; boundary fields have momentum zero, which with spatial boundary phases is
        /// exp(i theta x / L). The solver must be one for PLAQ_SOLUTION_M. Errors: UNSUPPORTED (other boundaries or
        /// operators), those of plaq_solver_propagator.
        plaq_solver_boundary_propagator(solver: Handle<plaq_solver>, end: One<BoundaryEnd>, callback: Raw<plaq_progress_callback>, user: *mut c_void, propagator: Out<plaq_spinor>, report: Report<plaq_solve_report>) = propagator_of;
        /// Computes the correlators of boundary fields for slices x0 from 0 to `times` - 1, averaged over space, with
        /// the H of plaq_solver_boundary_propagator: f_A = -1/2 tr H^dagger gamma_t H and f_P = 1/2 tr H^dagger H of
        /// the lower end, g_A = 1/2 tr H^dagger gamma_t H and g_P of the upper one, and `f1` = 1/2 tr K^dagger K, K =
        /// cF' sum_x P U(x, t)^dagger H(x) / L^3 on the last slice. Each array may be NULL. For
        /// PLAQ_BOUNDARY_TIME_OPEN_SF correlators of the lower boundary are NaN. `times`: the extent of t. The report
        /// is that of all solves. Errors: those of plaq_solver_boundary_propagator.
        plaq_solver_boundary_correlators(solver: Handle<plaq_solver>, callback: Raw<plaq_progress_callback>, user: *mut c_void, times: i64, f_a: MaybeArray<f64>[times], f_p: MaybeArray<f64>[times], g_a: MaybeArray<f64>[times], g_p: MaybeArray<f64>[times], f1: MaybeArray<f64>[1], report: Report<plaq_solve_report>) = correlators_of;
    }
}

/// Number of columns that are solved for together, and spatial boundary phases.
fn settings(solver: &Solver) -> (usize, [f64; 3]) {
    let [x, y, z, _] = solver.phases();
    (solver.columns(), [x, y, z])
}

fn propagator_of(
    solver: &Arc<Solver>,
    end: BoundaryEnd,
    callback: plaq_progress_callback,
    user: *mut c_void,
    out: &mut Out<plaq_spinor>,
    report: &mut Report<plaq_solve_report>,
) -> Result<()> {
    let mut notify = monitor(solver.solver()?, callback, user);
    let (field, done) = boundary_propagator(solver.solver()?, end, settings(solver), &mut notify)?;
    // The source is on slice 0, a boundary, from which times are counted.
    let position = [None, None, None, Some(0)];
    let origin = propagated(position, solver.origin()?);
    out.set(solver.context().adopt(Spinor::with_origin(solver.context(), field, origin))?);
    report.set(done.totals(solver.solver()?.params().solver.kind).to_c());
    solver.keep_history(done.solver.history);
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn correlators_of(
    solver: &Arc<Solver>,
    callback: plaq_progress_callback,
    user: *mut c_void,
    times: i64,
    f_a: &mut MaybeArray<f64>,
    f_p: &mut MaybeArray<f64>,
    g_a: &mut MaybeArray<f64>,
    g_p: &mut MaybeArray<f64>,
    f1: &mut MaybeArray<f64>,
    report: &mut Report<plaq_solve_report>,
) -> Result<()> {
    let extent = solver.solver()?.op().shape().geometry.global_extents()[3];
    if times != extent as i64 {
        refuse!(InvalidArgument, "times", expected("the extent {extent}"), found("{times}"));
    }
    let mut notify = monitor(solver.solver()?, callback, user);
    let (found, done) = boundary_correlators(solver.solver()?, settings(solver), &mut notify)?;
    f_a.set(found.f_a);
    f_p.set(found.f_p);
    g_a.set(found.g_a);
    g_p.set(found.g_p);
    f1.set(vec![found.f_1]);
    report.set(done.totals(solver.solver()?.params().solver.kind).to_c());
    solver.keep_history(done.solver.history);
    Ok(())
}
