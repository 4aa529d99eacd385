//! Gauge fixing.

use std::ffi::c_void;
use std::sync::Arc;

use super::args::{
    choose, Handle, Local, MaybeArray, MaybeOut, Out, OutArray, Params, Raw, Report,
};
use super::context::Context;
use super::gauge::{plaq_gauge, Gauge};
use super::handles;
use super::table::interface;
use crate::bail;
use crate::error::{host_list, Result};
use crate::fields::Transformation;
use crate::ops::gaugefix::{
    fix_gauge, Condition, Fixed, GaugeFixParams, GaugeFixReport, Method, Progress, Schedule, Stop,
    Working,
};

/// What a `plaq_gaugefix` stands for: the result of a gauge fixing.
pub struct GaugeFix {
    context: Arc<Context>,
    transformation: Transformation,
    report: GaugeFixReport,
}

impl GaugeFix {
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

/// `plaq_gaugefix_condition`.
#[derive(Clone, Copy, PartialEq)]
pub enum Gauges {
    Landau,
    Coulomb,
    MaximallyAbelian,
}

/// `plaq_gaugefix_method`.
#[derive(Clone, Copy, PartialEq)]
pub enum Methods {
    Overrelaxation,
    Stochastic,
    Annealing,
    Combined,
    FourierDescent,
    FourierCg,
}

interface! {
    "Gauge fixing"
    handles {
        /// A gauge transformation that fixes a gauge, and what is known of it.
        plaq_gaugefix: GaugeFix = 7,
    }
    constants {
        /// Gauges, for SU(3) and SU(2). F is the functional that is maximised, 1 on unit links,
        /// and theta its violation (Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907).
        plaq_gaugefix_condition: Gauges {
            /// F = sum Re tr U_mu / (4 N V), theta = sum tr Delta Delta^dagger / (N V).
            PLAQ_GAUGEFIX_LANDAU = 0 => Gauges::Landau,
            /// The same without the links along `time`, for every slice across it on its own.
            PLAQ_GAUGEFIX_COULOMB = 1 => Gauges::Coulomb,
            /// Maximally Abelian: F = sum |(U_mu)_ii|^2 / (4 N V).
            PLAQ_GAUGEFIX_MAXIMALLY_ABELIAN = 2 => Gauges::MaximallyAbelian,
        }
        /// Algorithms.
        plaq_gaugefix_method: Methods {
            /// Overrelaxation; relaxation with omega = 1.
            PLAQ_GAUGEFIX_OVERRELAXATION = 0 => Methods::Overrelaxation,
            /// Every SU(2) subgroup takes its best value, or its square with `probability`.
            PLAQ_GAUGEFIX_STOCHASTIC = 1 => Methods::Stochastic,
            /// Simulated annealing, then overrelaxation.
            PLAQ_GAUGEFIX_ANNEALING = 2 => Methods::Annealing,
            /// Simulated annealing, `stochastic_sweeps` of stochastic relaxation, overrelaxation.
            PLAQ_GAUGEFIX_COMBINED = 3 => Methods::Combined,
            /// Fourier-accelerated steepest descent with step `alpha` (Davies et al., Phys. Rev. D37
            /// (1988) 1581); Landau and Coulomb gauge, one rank.
            PLAQ_GAUGEFIX_FOURIER_DESCENT = 4 => Methods::FourierDescent,
            /// Fourier-accelerated conjugate gradients (Hudspith, Comput. Phys. Commun. 187 (2015)
            /// 115) with `alpha` as the first trial; Landau and Coulomb gauge, one rank.
            PLAQ_GAUGEFIX_FOURIER_CG = 5 => Methods::FourierCg,
        }
        /// Precision of the sweeps. Functional, violation and result are in double for all.
        plaq_gaugefix_precision: Working {
            PLAQ_GAUGEFIX_SINGLE = 0 => Working::Single,
            /// Single precision as far as it goes, then double.
            PLAQ_GAUGEFIX_MIXED = 1 => Working::Mixed,
            PLAQ_GAUGEFIX_DOUBLE = 2 => Working::Double,
        }
    }
    callbacks {
        /// Called at every check with the number of the copy, its sweeps so far, functional and
        /// violation in the precision of the sweeps, and the temperature while annealing (else 0).
        /// A result other than 0 on any rank ends the fixing at the next check.
        plaq_gaugefix_callback(copy: i64, sweeps: i64, functional: f64, theta: f64, temperature: f64, user: *mut c_void) -> i32;
    }
    params {
        /// How to fix a gauge.
        plaq_gaugefix_params, plaq_gaugefix_params_init {
            condition: plaq_gaugefix_condition = PLAQ_GAUGEFIX_LANDAU,
            /// Coulomb gauge: direction whose links are left out, 0 to 3 (x, y, z, t).
            time: i32 = 3,
            /// Maximally Abelian gauge: 1: then Landau gauge by diagonal transformations.
            residual: i32 = 0,
            method: plaq_gaugefix_method = PLAQ_GAUGEFIX_OVERRELAXATION,
            precision: plaq_gaugefix_precision = PLAQ_GAUGEFIX_MIXED,
            /// 1: annealing temperatures with equal ratios; 0: with equal differences.
            logarithmic: i32 = 0,
            /// Power of overrelaxation, 1 to below 2.
            omega: f64 = 1.7,
            /// Stochastic relaxation: 0 to below 1.
            probability: f64 = 0.5,
            stochastic_sweeps: i64 = 1000,
            /// First and last temperature, their number with a heat bath sweep each, and the
            /// microcanonical sweeps after each of these.
            hot: f64 = 1.4,
            cold: f64 = 0.1,
            temperatures: i64 = 1000,
            microcanonical: i64 = 3,
            /// Largest violation theta; 0: not asked for; negative: 1e-12, in single precision 1e-11,
            /// which is what that comes to. All criteria asked for must be met.
            stop_theta: f64 = -1.0,
            /// Largest violation of a site, of which theta is the average; 0: not asked for.
            stop_theta_max: f64 = 0.0,
            /// Largest rise of F in one iteration; 0: not asked for.
            stop_change: f64 = 0.0,
            /// Sweeps after which a copy, or a slice, is given up; annealing is not counted.
            max_iterations: i64 = 20000,
            /// Sweeps between two looks at the violation.
            check_every: i64 = 10,
            /// Gauge copies, of which the one with the largest F among those that converged is
            /// kept; in Coulomb gauge of every slice. The first starts from the field as it is.
            copies: i64 = 1,
            /// 1: the first copy starts from a random transformation, as the others do.
            random_start: i64 = 0,
            seed: i64 = 1,
            /// Fourier-accelerated methods: step along the gradient times p2max / p^2.
            alpha: f64 = 0.08,
        }
    }
    reports {
        /// What a gauge fixing did.
        plaq_gaugefix_report, plaq_gaugefix_report_init {
            /// Of the field as it is now; in Coulomb gauge averages over the slices.
            functional: f64,
            theta: f64,
            /// Of the worst site.
            theta_max: f64,
            /// Of the residual fixing, or 0.
            residual_functional: f64,
            residual_theta: f64,
            /// Sweeps, without annealing; in Coulomb gauge of the slowest slice.
            iterations: i64,
            residual_iterations: i64,
            seconds: f64,
            /// 1: all criteria were met, in every slice, and by the residual fixing.
            converged: i32,
            /// 1: the callback asked to stop.
            stopped: i32,
            /// Copies made, and the one that is kept.
            copies: i64,
            best_copy: i64,
            /// What was asked for, by default or not.
            stop_theta: f64,
        }
    }
    structs {
        /// One gauge copy, or one slice of it.
        plaq_gaugefix_state {
            functional: f64,
            theta: f64,
            theta_max: f64,
            /// Of a copy; 0 of a slice.
            seconds: f64,
            /// Sweeps, without annealing.
            iterations: i64,
            converged: i32,
            reserved: i32,
        }
    }
    functions {
        /// Fixes the gauge of the links, which are replaced by the fixed ones; whether they meet
        /// the criteria says the report. `result` has the transformation and the copies; NULL if
        /// they are not wanted.
        /// Errors: BAD_PARAMETER, NOT_FINITE, NOT_UNITARY (naming the link), OUT_OF_MEMORY,
        /// UNSUPPORTED (half precision; Fourier acceleration in maximally Abelian gauge),
        /// CUFFT_MISSING: the links stay as they were.
        plaq_gaugefix_run(gauge: Handle<plaq_gauge>, params: Params<plaq_gaugefix_params>, callback: Raw<plaq_gaugefix_callback>, user: *mut c_void, report: Report<plaq_gaugefix_report>, result: MaybeOut<plaq_gaugefix>) = run;
        /// Destroys a result. The zero handle is accepted.
        plaq_gaugefix_destroy(result: Raw<plaq_gaugefix>) = destroy;
        /// All copies in turn. `count`: how many there are; the first `capacity` of them are
        /// written; `copies` may be NULL.
        plaq_gaugefix_copies(result: Local<plaq_gaugefix>, copies: MaybeArray<plaq_gaugefix_state>[capacity], capacity: i64, count: Out<i64>) = copies_of;
        /// The slices of a copy in Coulomb gauge by their coordinate, of copy number `copy` or
        /// with -1 of the field that is kept; in other gauges there are none.
        plaq_gaugefix_slices(result: Local<plaq_gaugefix>, copy: i64, slices: MaybeArray<plaq_gaugefix_state>[capacity], capacity: i64, count: Out<i64>) = slices_of;
        /// The transformation g(x) of this rank's sites: N x N complex numbers per site, row major,
        /// sites with x fastest. U_mu(x) became g(x) U_mu(x) g(x+mu)^dagger; quarks become g psi.
        plaq_gaugefix_transformation(result: Local<plaq_gaugefix>, transformation: OutArray<f64>[2 ("N") ("N") ("sites of the rank")]) = transformation_of;
        /// Applies the transformation to the links of another field of the lattice.
        plaq_gaugefix_apply(result: Handle<plaq_gaugefix>, gauge: Handle<plaq_gauge>) = apply;
    }
}

fn count(value: i64, name: &str) -> Result<usize> {
    match usize::try_from(value) {
        Ok(count) => Ok(count),
        Err(_) => bail!(BadParameter, "params.{name}: expected 0 or more, found {value}"),
    }
}

fn flag(value: i64, name: &str) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => bail!(BadParameter, "params.{name}: expected 0 or 1, found {value}"),
    }
}

fn params_of(p: &plaq_gaugefix_params) -> Result<GaugeFixParams> {
    let condition = match choose(p.condition, "params.condition")? {
        Gauges::Landau => Condition::Landau,
        Gauges::Coulomb => Condition::Coulomb { time: count(p.time.into(), "time")? },
        Gauges::MaximallyAbelian => {
            Condition::MaximallyAbelian { residual: flag(p.residual.into(), "residual")? }
        }
    };
    let probability = p.probability;
    let schedule = Schedule {
        hot: p.hot,
        cold: p.cold,
        steps: count(p.temperatures, "temperatures")?,
        microcanonical: count(p.microcanonical, "microcanonical")?,
        logarithmic: flag(p.logarithmic.into(), "logarithmic")?,
    };
    let method = match choose(p.method, "params.method")? {
        Methods::Overrelaxation => Method::Overrelaxation,
        Methods::Stochastic => Method::StochasticRelaxation { probability },
        Methods::Annealing => Method::Annealing(schedule),
        Methods::Combined => {
            let sweeps = count(p.stochastic_sweeps, "stochastic_sweeps")?;
            Method::Combined { schedule, probability, sweeps }
        }
        Methods::FourierDescent => Method::FourierDescent { alpha: p.alpha },
        Methods::FourierCg => Method::FourierCg { alpha: p.alpha },
    };
    let precision = choose(p.precision, "params.precision")?;
    let theta = if p.stop_theta < 0.0 { Stop::of(precision).theta } else { p.stop_theta };
    Ok(GaugeFixParams {
        condition,
        method,
        omega: p.omega,
        stop: Stop { theta, theta_max: p.stop_theta_max, change: p.stop_change },
        max_iterations: count(p.max_iterations, "max_iterations")?,
        check_every: count(p.check_every, "check_every")?,
        links_tolerance: 0.0,
        precision,
        copies: count(p.copies, "copies")?,
        random_start: flag(p.random_start, "random_start")?,
        seed: p.seed as u64,
    })
}

fn run(
    gauge: &Arc<Gauge>,
    params: &plaq_gaugefix_params,
    callback: plaq_gaugefix_callback,
    user: *mut c_void,
    report: &mut Report<plaq_gaugefix_report>,
    result: &mut MaybeOut<plaq_gaugefix>,
) -> Result<()> {
    let params = params_of(params)?;
    let ask = |p: &Progress| {
        let Some(callback) = callback else { return false };
        let (copy, sweeps, temperature) =
            (p.copy as i64, p.sweeps as i64, p.temperature.unwrap_or(0.0));
        // SAFETY: the host's function with the host's own pointer, while its call runs.
        let asked = unsafe {
            callback(copy, sweeps, p.quality.functional, p.quality.theta, temperature, user)
        };
        asked != 0
    };
    let mut done = None;
    gauge.replace("gauge", |links| {
        let comm = links.geometry().comm();
        let fixed = fix_gauge(links, &params, &mut |p| comm.stop(ask(p)))?;
        done = Some((fixed.transformation, fixed.report));
        Ok(fixed.gauge)
    })?;
    let Some((transformation, done)) = done else { bail!(Internal, "gauge fixing: no result") };
    let (total, residual) = (done.best.total, done.best.residual);
    let rest = residual.unwrap_or_default();
    report.set(plaq_gaugefix_report {
        functional: total.quality.functional,
        theta: total.quality.theta,
        theta_max: total.quality.theta_max,
        residual_functional: rest.quality.functional,
        residual_theta: rest.quality.theta,
        iterations: total.iterations as i64,
        residual_iterations: rest.iterations as i64,
        seconds: done.seconds,
        converged: (total.converged && residual.is_none_or(|r| r.converged)) as i32,
        stopped: done.stopped as i32,
        copies: done.copies.len() as i64,
        best_copy: done.best_copy as i64,
        stop_theta: params.stop.theta,
        ..Default::default()
    });
    if result.wanted() {
        let context = gauge.context();
        let object = GaugeFix { context: context.clone(), transformation, report: done };
        result.set(context.adopt(object)?);
    }
    Ok(())
}

fn destroy(result: plaq_gaugefix) -> Result<()> {
    handles::remove(result, "result")
}

/// Writes the first `capacity` states, with their seconds, and counts all.
fn list(
    states: Vec<(Fixed, f64)>,
    to: &mut MaybeArray<plaq_gaugefix_state>,
    capacity: i64,
    count: &mut Out<i64>,
) -> Result<()> {
    if capacity < 0 {
        bail!(InvalidArgument, "capacity: expected 0 or more, found {capacity}");
    }
    count.set(states.len() as i64);
    let states =
        states.into_iter().take(capacity as usize).map(|(s, seconds)| plaq_gaugefix_state {
            functional: s.quality.functional,
            theta: s.quality.theta,
            theta_max: s.quality.theta_max,
            seconds,
            iterations: s.iterations as i64,
            converged: s.converged as i32,
            reserved: 0,
        });
    to.set(states.collect());
    Ok(())
}

fn copies_of(
    result: &Arc<GaugeFix>,
    copies: &mut MaybeArray<plaq_gaugefix_state>,
    capacity: i64,
    count: &mut Out<i64>,
) -> Result<()> {
    let states = result.report.copies.iter().map(|c| (c.total, c.seconds));
    list(states.collect(), copies, capacity, count)
}

fn slices_of(
    result: &Arc<GaugeFix>,
    copy: i64,
    slices: &mut MaybeArray<plaq_gaugefix_state>,
    capacity: i64,
    count: &mut Out<i64>,
) -> Result<()> {
    let all = &result.report.copies;
    let copy = match copy {
        -1 => &result.report.best,
        _ => match usize::try_from(copy).ok().and_then(|c| all.get(c)) {
            Some(copy) => copy,
            None => bail!(InvalidArgument, "copy: expected -1 to {}, found {copy}", all.len() - 1),
        },
    };
    list(copy.slices.iter().map(|s| (*s, 0.0)).collect(), slices, capacity, count)
}

fn transformation_of(result: &Arc<GaugeFix>, to: &mut OutArray<f64>) -> Result<()> {
    let matrices = result.transformation.to_array()?;
    let reals: &[f64] = bytemuck::cast_slice(&matrices);
    to.set(host_list(reals.iter().copied(), "the host's copy of g")?);
    Ok(())
}

fn apply(result: &Arc<GaugeFix>, gauge: &Arc<Gauge>) -> Result<()> {
    result.context.check_same(gauge.context(), "gauge")?;
    gauge.replace("gauge", |links| result.transformation.apply(links))
}
