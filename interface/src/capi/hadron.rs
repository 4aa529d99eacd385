//! Sources, propagators and hadron correlators.

use std::ffi::c_void;
use std::sync::Arc;

use super::args::{
    choose, number_of, Array, Handle, MaybeArray, One, Out, OutArray, Params, Raw, Report,
};
use super::solve::{monitor, plaq_progress_callback, plaq_solve_report, plaq_solver, to_c, Solver};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::bail;
use crate::compose::SolveReport;
use crate::error::Result;
use crate::fields::{Noise, SpinorField};
use crate::io::Origin;
use crate::operators::phase;
use crate::ops::correlators::{correlators, effective_mass, EffectiveMass};
use crate::ops::gamma::Gamma;
use crate::ops::propagator::{propagator, propagator_of};
use crate::ops::source::{support, Sequential, Source, SourceSites};
use crate::refuse;

#[derive(Clone, Copy)]
pub enum Dilute {
    Spin,
    Colour,
    Parity,
    Time,
}

/// What the numbers of a source are, if they are not all 1.
#[derive(Clone, Copy, PartialEq)]
pub struct SourceNoise(Option<Noise>);

impl SourceNoise {
    pub(crate) fn kind(self) -> Option<Noise> {
        self.0
    }
}

interface! {
    "Sources, propagators and hadron correlators"
    choices {
        plaq_gamma = Gamma;
        plaq_mass_form = EffectiveMass;
        plaq_source = SourceSites;
    }
    constants {
        /// Numbers of a source, independent, with average |c|^2 = 1.
        plaq_source_noise: SourceNoise {
            /// All are 1.
            PLAQ_SOURCE_NOISE_NONE = 0 => SourceNoise(None),
            /// 1 or -1.
            PLAQ_SOURCE_NOISE_Z2 = 1 => SourceNoise(Some(Noise::Z2)),
            /// 1, i, -1 or -i.
            PLAQ_SOURCE_NOISE_Z4 = 2 => SourceNoise(Some(Noise::Z4)),
            /// Complex normal.
            PLAQ_SOURCE_NOISE_NORMAL = 3 => SourceNoise(Some(Noise::Normal)),
        }
        /// Indices that columns of noise are diluted in: bits.
        plaq_dilute: Dilute {
            /// A vector of noise for each spin.
            PLAQ_DILUTE_SPIN = 1 => Dilute::Spin,
            /// A vector of noise for each colour.
            PLAQ_DILUTE_COLOUR = 2 => Dilute::Colour,
            /// A vector of noise for even and one for odd sites.
            PLAQ_DILUTE_PARITY = 4 => Dilute::Parity,
            /// Time slices t = k mod time_parts; for PLAQ_SOURCE_VOLUME.
            PLAQ_DILUTE_TIME = 8 => Dilute::Time,
        }
    }
    params {
        /// Where a propagator starts: columns exp(i p (x - position)) eta(x), eta being 1 or noise.
        /// Without noise a column has one spin and colour, number 3 spin + colour. Noise diluted in spin
        /// (colour) has one spin (colour) in a column, and columns of a vector share their numbers. Columns
        /// count with colour fastest, then spin, parity (even, odd), part of the time slices and the noise
        /// vector. Smearing: plaq_spinor_smear of the columns.
        plaq_source_params, plaq_source_params_init {
            /// Sites of the source.
            kind: plaq_source = number_of(SourceSites::Point),
            /// Numbers at these sites.
            noise: plaq_source_noise = PLAQ_SOURCE_NOISE_NONE,
            /// Coordinates x, y, z, t. Of a wall t is its place, x, y, z where the momentum's phase is 1.
            position: [i32; 4] = [0; 4],
            /// p_mu = 2 pi momentum(mu) / L_mu.
            momentum: [i32; 4] = [0; 4],
            /// Noise vectors, 1 to 2^20; number k is that of plaq_spinor_noise with first = k.
            vectors: i32 = 1,
            /// PLAQ_DILUTE_ bits of noise.
            dilute: i32 = 0,
            /// The only spin that is not zero, 0 to 3; -1: all.
            spin: i32 = -1,
            /// The only colour that is not zero, 0 to 2; -1: all.
            colour: i32 = -1,
            /// The column that comes first.
            first: i32 = 0,
            /// Number of columns from there on, at most; 0: all that there are.
            count: i32 = 0,
            /// Parts of the time slices with PLAQ_DILUTE_TIME, else 0. The lattice's T: each has one slice; a
            /// divisor of it: every time_parts-th.
            time_parts: i32 = 0,
            /// Seed of the noise, which is the same on any number of ranks.
            seed: i64 = 0,
        }
        /// Sequential sources: delta(t, time) exp(i p (x - origin)) Gamma psi(x).
        plaq_sequential_params, plaq_sequential_params_init {
            /// The sink's time slice; -1: all.
            time: i32 = -1,
            /// plaq_gamma, 0 to 15.
            gamma: i32 = 15,
            /// p_i = 2 pi momentum(i) / L_i.
            momentum: [i32; 3] = [0; 3],
            /// Where the phase is 1.
            origin: [i32; 3] = [0; 3],
        }
    }
    functions {
        /// Sets right-hand side k of a field on the full lattice, in any precision, to column first + k of a
        /// source, as many as the field has. Errors: INVALID_ARGUMENT, FIELD_MISMATCH for more than
        /// plaq_source_columns.
        plaq_spinor_source(spinor: Handle<plaq_spinor>, source: Params<plaq_source_params>) = source_of;
        /// How many columns a source has, from `first` on, at most `count`: 12 without noise for all spins and colours.
        plaq_source_columns(source: Params<plaq_source_params>, columns: Out<i64>) = columns_of;
        /// to = delta(t, time) exp(i p (x - origin)) Gamma from, for every right-hand side: from a solution
        /// the source of a second solve (plaq_solver_propagator_from). Fields in single or double precision.
        /// Errors: INVALID_ARGUMENT, FIELD_MISMATCH, UNSUPPORTED.
        plaq_spinor_sequential(from: Handle<plaq_spinor>, to: Handle<plaq_spinor>, params: Params<plaq_sequential_params>) = sequential_of;
        /// A new field of as many right-hand sides as the source has columns, S(x, source), from a solver
        /// for PLAQ_SOLUTION_M, `columns` of its parameters at a time. The report is that of all these
        /// solves: the iterations of the slowest; time, work, updates and restarts added up. The
        /// callback's iterations begin anew with each solve, its seconds do not; once it has asked to
        /// stop, every solve that is left ends after one iteration. `residuals`: NULL or room for
        /// as many as the source has columns.
        plaq_solver_propagator(solver: Handle<plaq_solver>, source: Params<plaq_source_params>, callback: Raw<plaq_progress_callback>, user: *mut c_void, propagator: Out<plaq_spinor>, report: Report<plaq_solve_report>, residuals: MaybeArray<f64>[("columns of the source")]) = propagator_of_source;
        /// The same for the sources that a field of the operator's precision holds, on the full lattice:
        /// smeared, sequential, of another code. Where the field does not know the position of its source
        /// (plaq_spinor_origin), it is looked for as plaq_spinor_support does. `residuals`: NULL or room for as many as it has right-hand
        /// sides.
        plaq_solver_propagator_from(solver: Handle<plaq_solver>, sources: Handle<plaq_spinor>, callback: Raw<plaq_progress_callback>, user: *mut c_void, propagator: Out<plaq_spinor>, report: Report<plaq_solve_report>, residuals: MaybeArray<f64>[("right-hand sides of sources")]) = columns_solved;
        /// Zero-momentum correlators of a propagator over t, the time from `source_time`, in
        /// `times` steps, the extent of the lattice. boundary: the fermions' phase in time in units
        /// of pi, 1: antiperiodic. Each array is NULL or has room: pion times, rho 3 times (x, then
        /// y, then z), nucleon 2 times (re, im).
        plaq_spinor_correlators(propagator: Handle<plaq_spinor>, source_time: i32, boundary: f64, times: i64, pion: MaybeArray<f64>[times], rho: MaybeArray<f64>[3 times], nucleon: MaybeArray<f64>[2 times]) = correlators_of;
        /// Effective masses of a correlator of `times` numbers; NaN where there is none.
        plaq_correlator_effective_mass(correlator: Array<f64>[times], times: i64, form: One<EffectiveMass>, masses: OutArray<f64>[times]) = effective_mass_of;
    }
}

/// Coordinates that are not negative.
pub(crate) fn coordinates<const N: usize>(x: [i32; N], argument: &str) -> Result<[usize; N]> {
    if x.iter().any(|&x| x < 0) {
        refuse!(InvalidArgument, "{argument}", expected("0 or more"), found("{x:?}"));
    }
    Ok(x.map(|x| x as usize))
}

pub(crate) fn source(params: &plaq_source_params) -> Result<Source> {
    let one_of = |value: i32, count: i32, name: &str| match value {
        -1 => Ok(None),
        v if (0..count).contains(&v) => Ok(Some(v as usize)),
        v => {
            refuse!(InvalidArgument, "source.{name}", expected("-1 to {}", count - 1), found("{v}"))
        }
    };
    let at_least = |value: i32, least: i32, name: &str| {
        if value < least {
            refuse!(
                InvalidArgument,
                "source.{name}",
                expected("{least} or more"),
                found("{value}")
            );
        }
        Ok(value as usize)
    };
    if !(0..16).contains(&params.dilute) {
        let found = params.dilute;
        refuse!(
            InvalidArgument,
            "source.dilute",
            expected("a sum of PLAQ_DILUTE_ bits"),
            found("{found}")
        );
    }
    let dilute = [PLAQ_DILUTE_SPIN, PLAQ_DILUTE_COLOUR, PLAQ_DILUTE_PARITY];
    let in_time = params.dilute & PLAQ_DILUTE_TIME.0 != 0;
    if in_time != (params.time_parts > 0) || !(0..=1 << 20).contains(&params.time_parts) {
        refuse!(
            InvalidArgument,
            "source.time_parts",
            expected("a divisor of the lattice's T with PLAQ_DILUTE_TIME, 0 without"),
            found("{}", params.time_parts)
        );
    }
    let place = choose(params.kind, "source.kind")?;
    if in_time && place != SourceSites::Volume {
        bail!(InvalidArgument, "source.dilute: PLAQ_DILUTE_TIME is for PLAQ_SOURCE_VOLUME");
    }
    Ok(Source {
        place,
        position: coordinates(params.position, "source.position")?,
        momentum: params.momentum,
        noise: choose::<SourceNoise>(params.noise, "source.noise")?.kind(),
        seed: params.seed as u64,
        vectors: at_least(params.vectors, 1, "vectors")?,
        dilute: dilute.map(|bit| params.dilute & bit.0 != 0),
        spin: one_of(params.spin, 4, "spin")?,
        colour: one_of(params.colour, 3, "colour")?,
        first: at_least(params.first, 0, "first")?,
        time_parts: params.time_parts.max(1) as usize,
        count: Some(at_least(params.count, 0, "count")?).filter(|&n| n > 0),
    })
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
    let time = match params.time {
        -1 => None,
        t => Some(coordinates([t], "params.time")?[0]),
    };
    let sequential = Sequential {
        time,
        gamma: Gamma::new(params.gamma)?,
        momentum: params.momentum,
        origin: coordinates(params.origin, "params.origin")?,
    };
    let psi = from.read("from")?;
    let mut out = to.write("to")?;
    sequential.set(&mut out, &psi)?;
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
    let mut monitor = monitor(solver.solver(), callback, user);
    let done = propagator(solver.solver(), from, solver.columns(), &mut monitor)?;
    let origin = Origin { position: from.position.map(Some), ..solver.origin() };
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
    let mut origin = Origin { position: sources.origin().position, ..solver.origin() };
    if origin.position == [None; 4] {
        origin.position = support(&from)?;
    }
    let mut monitor = monitor(solver.solver(), callback, user);
    let done = propagator_of(solver.solver(), &from, solver.columns(), &mut monitor)?;
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
    let all = correlators(&field, source_time as usize, phase(boundary))?;
    pion.set(all.pion);
    rho.set(all.rho.concat());
    nucleon.set(all.nucleon.iter().flat_map(|z| [z.re, z.im]).collect());
    Ok(())
}

fn effective_mass_of(
    correlator: &Array<f64>,
    times: i64,
    form: EffectiveMass,
    masses: &mut OutArray<f64>,
) -> Result<()> {
    if !(1..=1 << 16).contains(&times) {
        refuse!(InvalidArgument, "times", expected("1 to 65536"), found("{times}"));
    }
    masses.set(effective_mass(&correlator.get(times as usize)?, form));
    Ok(())
}
