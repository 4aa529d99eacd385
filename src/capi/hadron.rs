//! Sources, propagators and hadron correlators.

use std::ffi::c_void;
use std::sync::Arc;

use super::args::{choose, Array, Handle, MaybeArray, Out, OutArray, Params, Raw, Report};
use super::layout::phase;
use super::solve::{monitor, plaq_progress_callback, plaq_solve_report, plaq_solver, to_c, Solver};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::bail;
use crate::error::Result;
use crate::ops::correlators::{correlators, effective_mass, EffectiveMass};
use crate::ops::propagator::{propagator, Source};

#[derive(Clone, Copy)]
pub enum SourceKind {
    Point,
    Wall,
}

interface! {
    "Propagators and hadron correlators"
    constants {
        plaq_source: SourceKind {
            /// One site.
            PLAQ_SOURCE_POINT = 0 => SourceKind::Point,
            /// All sites of a time slice: for links in a fixed gauge.
            PLAQ_SOURCE_WALL = 1 => SourceKind::Wall,
        }
        /// How a correlator falls.
        plaq_mass_form: EffectiveMass {
            /// cosh(m (t - T/2)), mesons: arcosh[(C(t-1) + C(t+1)) / (2 C(t))].
            PLAQ_MASS_FORM_COSH = 0 => EffectiveMass::Cosh,
            /// exp(-m t): ln[C(t) / C(t+1)].
            PLAQ_MASS_FORM_LOG = 1 => EffectiveMass::Log,
        }
    }
    params {
        /// Where a propagator starts.
        plaq_source_params, plaq_source_params_init {
            kind: plaq_source = PLAQ_SOURCE_POINT,
            /// Must be 0.
            reserved: i32 = 0,
            /// Coordinates x, y, z, t; of a wall only t counts.
            position: [i32; 4] = [0; 4],
        }
    }
    functions {
        /// Sets the twelve columns (3 spin + colour) of a field with nrhs = 12 on the full lattice:
        /// one where spin and colour are the column's, else zero.
        plaq_spinor_source(spinor: Handle<plaq_spinor>, source: Params<plaq_source_params>) = source_of;
        /// A new field of twelve right-hand sides, S(x, source), from a solver for
        /// PLAQ_SOLUTION_M, `columns` of its parameters at a time. The report is that of all these
        /// solves: the iterations of the slowest; time, work, updates and restarts added up. The
        /// callback's iterations begin anew with each solve, its seconds do not; once it has asked to
        /// stop, every solve that is left ends after one iteration. `residuals`: NULL or room for 12.
        plaq_solver_propagator(solver: Handle<plaq_solver>, source: Params<plaq_source_params>, callback: Raw<plaq_progress_callback>, user: *mut c_void, propagator: Out<plaq_spinor>, report: Report<plaq_solve_report>, residuals: MaybeArray<f64>) = propagator_of;
        /// Zero-momentum correlators of a propagator over t, the time from `source_time`, in
        /// `times` steps, the extent of the lattice. boundary: the fermions' phase in time in units
        /// of pi, 1: antiperiodic. Each array is NULL or has room: pion times, rho 3 times (x, then
        /// y, then z), nucleon 2 times (re, im).
        plaq_spinor_correlators(propagator: Handle<plaq_spinor>, source_time: i32, boundary: f64, times: i64, pion: MaybeArray<f64>, rho: MaybeArray<f64>, nucleon: MaybeArray<f64>) = correlators_of;
        /// Effective masses of a correlator of `times` numbers; NaN where there is none.
        plaq_effective_mass(correlator: Array<f64>, times: i64, form: i32, masses: OutArray<f64>) = effective_mass_of;
    }
}

pub(crate) fn source(params: &plaq_source_params) -> Result<Source> {
    if params.reserved != 0 {
        bail!(InvalidArgument, "source.reserved: expected 0, found {}", params.reserved);
    }
    let kind = choose(params.kind, "source.kind")?;
    if params.position.iter().any(|&x| x < 0) {
        let found = params.position;
        bail!(InvalidArgument, "source.position: expected 0 or more, found {found:?}");
    }
    let position = params.position.map(|x| x as usize);
    Ok(match kind {
        SourceKind::Point => Source::Point(position),
        SourceKind::Wall => Source::Wall(position[3]),
    })
}

fn source_of(spinor: &Arc<Spinor>, params: &plaq_source_params) -> Result<()> {
    source(params)?.set(&mut *spinor.write("spinor")?)
}

fn propagator_of(
    solver: &Arc<Solver>,
    params: &plaq_source_params,
    callback: plaq_progress_callback,
    user: *mut c_void,
    out: &mut Out<plaq_spinor>,
    report: &mut Report<plaq_solve_report>,
    residuals: &mut MaybeArray<f64>,
) -> Result<()> {
    let from = source(params)?;
    let mut monitor = monitor(solver.solver(), callback, user);
    let (field, done) = propagator(solver.solver(), from, solver.columns(), &mut monitor)?;
    out.set(solver.context().adopt(Spinor::new(solver.context(), field))?);
    report.set(to_c(&done, solver.solver().params().solver.kind));
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
        bail!(InvalidArgument, "times: expected the extent {extent}, found {times}");
    }
    if source_time < 0 {
        bail!(InvalidArgument, "source_time: expected 0 or more, found {source_time}");
    }
    if !boundary.is_finite() {
        bail!(InvalidArgument, "boundary: expected an angle, found {boundary}");
    }
    let all = correlators(&field, source_time as usize, phase(boundary))?;
    pion.set(all.pion);
    rho.set(all.rho.concat());
    nucleon.set(all.nucleon.iter().flat_map(|z| [z.re, z.im]).collect());
    Ok(())
}

fn effective_mass_of(
    correlator: &Array<f64>,
    times: i64,
    form: i32,
    masses: &mut OutArray<f64>,
) -> Result<()> {
    if !(1..=1 << 16).contains(&times) {
        bail!(InvalidArgument, "times: expected 1 to 65536, found {times}");
    }
    let form = choose(form, "form")?;
    masses.set(effective_mass(&correlator.get(times as usize), form));
    Ok(())
}
