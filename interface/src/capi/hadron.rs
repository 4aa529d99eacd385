//! Sources, propagators and hadron correlators.

use std::ffi::c_void;
use std::sync::Arc;

use super::args::{Array, Handle, MaybeArray, One, Out, OutArray, Params, Raw, Report};
use super::contract::{place, place_of_sink};
use super::origin::{self, propagated};
use super::solve::{monitor, plaq_progress_callback, plaq_solve_report, plaq_solver, Solver};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::compose::SolveReport;
use crate::error::Result;
use crate::fields::{BoundaryKind, SpinorField};
use crate::io::Origin;
use crate::operators::Boundary;
use crate::ops::correlators::{correlators, effective_mass, outward_mass, EffectiveMass};
use crate::ops::gamma::Gamma;
use crate::ops::propagator::{propagator, propagator_of};
use crate::ops::source::{
    plaq_sequential_params, plaq_source_params, support, Dilute, Sequential, SequentialParams,
    Source, SourceParams, SourceSites,
};
use crate::params::{Choice as _, InC as _, ToC as _};
use crate::refuse;

interface! {
    "Sources, propagators and hadron correlators"
    choices {
        plaq_gamma = Gamma;
        plaq_mass_form = EffectiveMass;
        plaq_source = SourceSites;
        plaq_dilute = Dilute;
    }
    tables {
        plaq_source_params, plaq_source_params_init;
        plaq_sequential_params, plaq_sequential_params_init;
    }
    functions {
        /// Sets right-hand side k of a field on the full lattice, in any precision, to column first + k of a source,
        /// for all right-hand sides of the field. Errors: INVALID_ARGUMENT, FIELD_MISMATCH for more right-hand sides
        /// than plaq_source_columns.
        plaq_spinor_source(spinor: Handle<plaq_spinor>, source: Params<plaq_source_params>) = source_of;
        /// Gives the number of columns of a source from `first` on, at most `count`: without noise 12, for all spins
        /// and colours.
        plaq_source_columns(source: Params<plaq_source_params>, columns: Out<i64>) = columns_of;
        /// Sets `to` to delta(t, time) exp(i p (x - x0)) Gamma from, for every right-hand side, with the time counted
        /// from the source: this makes from a solution the source of a second solve (plaq_solver_propagator_from).
        /// Fields are in single or double precision. A field that does not know its source's time needs `position`,
        /// but for all time slices. Errors: INVALID_ARGUMENT, FIELD_MISMATCH, UNSUPPORTED.
        plaq_spinor_sequential(from: Handle<plaq_spinor>, to: Handle<plaq_spinor>, params: Params<plaq_sequential_params>) = sequential_of;
        /// Makes a field of as many right-hand sides as the source has columns, S(x, source), by a solver for
        /// PLAQ_SOLUTION_M, which solves for as many columns at a time as its parameter `columns` says. The report
        /// covers all solves: the largest number of iterations; sums of time, work, updates and restarts. The
        /// callback's iterations start from 0 with each solve, its seconds do not; once it has asked to stop, each
        /// remaining solve ends after one iteration. `residuals`: NULL, or room for a number for each column of the
        /// source.
        plaq_solver_propagator(solver: Handle<plaq_solver>, source: Params<plaq_source_params>, callback: Raw<plaq_progress_callback>, user: *mut c_void, propagator: Out<plaq_spinor>, report: Report<plaq_solve_report>, residuals: MaybeArray<f64>[("columns of the source")]) = propagator_of_source;
        /// Makes a propagator from sources in a field on the full lattice, in the operator's precision: smeared or
        /// sequential ones, or those of another code. If the field does not record the position of its source
        /// (plaq_spinor_origin), that is determined as in plaq_spinor_support. `residuals`: NULL, or room for a
        /// number for each right-hand side.
        plaq_solver_propagator_from(solver: Handle<plaq_solver>, sources: Handle<plaq_spinor>, callback: Raw<plaq_progress_callback>, user: *mut c_void, propagator: Out<plaq_spinor>, report: Report<plaq_solve_report>, residuals: MaybeArray<f64>[("right-hand sides of sources")]) = columns_solved;
        /// Contracts zero-momentum correlators of a propagator over t, the time from `source_time`, in `times` steps,
        /// the extent of the lattice. `boundary`: the fermions' boundary phase in time in units of pi (1:
        /// antiperiodic). Each array is NULL or has room: pion times, rho 3 times (x, then y, then z), nucleon 2
        /// times (re, im).
        plaq_spinor_correlators(propagator: Handle<plaq_spinor>, source_time: i32, boundary: f64, times: i64, pion: MaybeArray<f64>[times], rho: MaybeArray<f64>[3 times], nucleon: MaybeArray<f64>[2 times]) = correlators_of;
        /// Computes effective masses from a correlator of `times` numbers; NaN where the formula has no solution.
        plaq_correlator_effective_mass(correlator: Array<f64>[times], times: i64, form: One<EffectiveMass>, masses: OutArray<f64>[times]) = effective_mass_of;
        /// Computes effective masses between boundaries in time: ln of C over C one slice farther from the source,
        /// which is on slice `source_time`; NaN where one of the two slices is a boundary or there is no logarithm.
        /// `correlator`: a number for each of the `times` stored slices, from that of the source on, those before it
        /// at the end. Errors: INVALID_ARGUMENT, UNSUPPORTED for PLAQ_BOUNDARY_TIME_PERIODIC.
        plaq_correlator_outward_mass(correlator: Array<f64>[times], times: i64, source_time: i64, boundary_time: One<BoundaryKind>, masses: OutArray<f64>[times]) = outward_mass_of;
    }
}

/// Converts the host's parameters of a source.
pub(crate) fn source(params: &plaq_source_params) -> Result<Source> {
    SourceParams::from_c(params, "source")?.source("source")
}

fn source_of(spinor: &Arc<Spinor>, params: &plaq_source_params) -> Result<()> {
    let source = source(params)?;
    source.set(&mut *spinor.write("spinor")?)?;
    spinor.set_origin(Origin { position: source.position.map(Some), ..Default::default() });
    Ok(())
}

fn columns_of(params: &plaq_source_params, columns: &mut Out<i64>) -> Result<()> {
    columns.set(source(params)?.columns() as i64);
    Ok(())
}

fn sequential_of(
    from: &Arc<Spinor>,
    to: &Arc<Spinor>,
    params: &plaq_sequential_params,
) -> Result<()> {
    from.context().check_same(to.context(), "to")?;
    let SequentialParams { time, gamma, momentum, position, boundary_time } =
        SequentialParams::from_c(params, "params")?;
    let psi = from.read("from")?;
    let mut out = to.write("to")?;
    let boundary_time = boundary_time.map(|kind| kind.word());
    let given = Origin { position, boundary_time, ..Default::default() };
    let origin = given.or(from.origin());
    let ([x, y, z, _], slice) =
        place_of_sink(origin, (momentum, Boundary::PERIODIC), time.map(|time| time as i64), &psi)?;
    let (time, gamma) = (slice.map(|(slice, _)| slice), Gamma::new(gamma as i32)?);
    Sequential { time, gamma, momentum, origin: [x, y, z] }.set(&mut out, &psi)?;
    to.set_origin(from.origin());
    Ok(())
}

fn propagator_of_source(
    solver: &Arc<Solver>,
    params: &plaq_source_params,
    callback: plaq_progress_callback,
    user: *mut c_void,
    out: &mut Out<plaq_spinor>,
    report: &mut Report<plaq_solve_report>,
    residuals: &mut MaybeArray<f64>,
) -> Result<()> {
    let from = source(params)?;
    let mut monitor = monitor(solver.solver()?, callback, user);
    let done = propagator(solver.solver()?, from, solver.columns(), &mut monitor)?;
    let origin = propagated(from.position.map(Some), solver.origin()?);
    solved(solver, origin, done, out, report, residuals)
}

fn columns_solved(
    solver: &Arc<Solver>,
    sources: &Arc<Spinor>,
    callback: plaq_progress_callback,
    user: *mut c_void,
    out: &mut Out<plaq_spinor>,
    report: &mut Report<plaq_solve_report>,
    residuals: &mut MaybeArray<f64>,
) -> Result<()> {
    solver.context().check_same(sources.context(), "sources")?;
    let from = sources.read("sources")?;
    let mut origin = origin::solved(sources.origin(), solver.origin()?);
    sources.check_source("sources", origin)?;
    if origin.position == [None; 4] {
        origin.position = support(&from)?;
    }
    let mut monitor = monitor(solver.solver()?, callback, user);
    let done = propagator_of(solver.solver()?, &from, solver.columns(), &mut monitor)?;
    solved(solver, origin, done, out, report, residuals)
}

fn solved(
    solver: &Arc<Solver>,
    origin: Origin,
    (field, done): (SpinorField, SolveReport),
    out: &mut Out<plaq_spinor>,
    report: &mut Report<plaq_solve_report>,
    residuals: &mut MaybeArray<f64>,
) -> Result<()> {
    out.set(solver.context().adopt(Spinor::with_origin(solver.context(), field, origin))?);
    report.set(done.totals(solver.solver()?.params().solver.kind).to_c());
    residuals.set(done.solver.residual);
    solver.keep_history(done.solver.history);
    Ok(())
}

fn correlators_of(
    propagator: &Arc<Spinor>,
    source_time: i32,
    boundary: f64,
    times: i64,
    pion: &mut MaybeArray<f64>,
    rho: &mut MaybeArray<f64>,
    nucleon: &mut MaybeArray<f64>,
) -> Result<()> {
    let field = propagator.read("propagator")?;
    let extent = field.geometry().global_extents()[3];
    if times != extent as i64 {
        refuse!(InvalidArgument, "times", expected("the extent {extent}"), found("{times}"));
    }
    if !(0..times).contains(&source_time.into()) {
        refuse!(
            InvalidArgument,
            "source_time",
            expected("0 to {}", times - 1),
            found("{source_time}")
        );
    }
    if !boundary.is_finite() {
        refuse!(InvalidArgument, "boundary", expected("an angle"), found("{boundary}"));
    }
    // Of the field's record only the source's x, y, z and the phases in space are taken.
    let known = propagator.origin();
    let boundary = Boundary(Origin { boundary: None, ..known }.phases([0.0, 0.0, 0.0, boundary]));
    let [x, y, z, _] = known.position;
    let known = Origin { position: [x, y, z, Some(source_time as usize)], ..known };
    let nucleon_boundary = Boundary::of_hadron(&[boundary; 3], &[]);
    let origin = match nucleon.wanted() {
        true => place(known, &[], nucleon_boundary)?,
        false => known.position.map(Option::unwrap_or_default),
    };
    let all = correlators(&field, origin, boundary)?;
    pion.set(all.pion);
    rho.set(all.rho.concat());
    nucleon.set(all.nucleon.iter().flat_map(|z| [z.re, z.im]).collect());
    Ok(())
}

fn checked_times(times: i64) -> Result<usize> {
    if !(1..=1 << 16).contains(&times) {
        refuse!(InvalidArgument, "times", expected("1 to 65536"), found("{times}"));
    }
    Ok(times as usize)
}

fn effective_mass_of(
    correlator: &Array<f64>,
    times: i64,
    form: EffectiveMass,
    masses: &mut OutArray<f64>,
) -> Result<()> {
    masses.set(effective_mass(&correlator.get(checked_times(times)?)?, form));
    Ok(())
}

fn outward_mass_of(
    correlator: &Array<f64>,
    times: i64,
    source_time: i64,
    boundary_time: BoundaryKind,
    masses: &mut OutArray<f64>,
) -> Result<()> {
    let slices = checked_times(times)?;
    if !(0..times).contains(&source_time) {
        let last = times - 1;
        refuse!(InvalidArgument, "source_time", expected("0 to {last}"), found("{source_time}"));
    }
    if boundary_time == BoundaryKind::Periodic {
        refuse!(
            Unsupported,
            "boundary_time",
            expected("boundaries in time"),
            found("{boundary_time}")
        );
    }
    masses.set(outward_mass(&correlator.get(slices)?, source_time as usize, boundary_time));
    Ok(())
}
