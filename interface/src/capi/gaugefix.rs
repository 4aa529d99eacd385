//! Gauge fixing.

use std::ffi::c_void;
use std::sync::Arc;

use super::args::{Handle, Local, MaybeArray, MaybeOut, Out, OutArray, Params, Raw, Report};
use super::context::Context;
use super::gauge::{plaq_gauge, Gauge};
use super::handles;
use super::table::interface;
use crate::bail;
use crate::error::{host_list, Result};
use crate::fields::Transformation;
pub use crate::ops::gaugefix::plaq_gaugefix_params;
use crate::ops::gaugefix::{
    fix_gauge, Algorithm, Fixed, GaugeFixReport, GaugeFixing, GaugeKind, Progress, Working,
};
use crate::ops::gaugefix::{plaq_gaugefix_report, plaq_gaugefix_state};
use crate::params::{InC, ToC};
use crate::refuse;

/// The object behind the handle `plaq_gaugefix`: the result of a gauge fixing.
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

interface! {
    "Gauge fixing"
    handles {
        /// A gauge transformation that fixes a gauge, with the results of all gauge copies.
        plaq_gaugefix: GaugeFix = 7,
    }
    choices {
        plaq_gaugefix_condition = GaugeKind;
        plaq_gaugefix_method = Algorithm;
        plaq_gaugefix_precision = Working;
    }
    callbacks {
        /// Called at every check with the number of the copy, its number of sweeps so far, functional and violation
        /// in the precision of the sweeps, and the temperature during annealing (else 0). A result other than 0, on
        /// any rank, ends the fixing at the next check.
        plaq_gaugefix_callback(copy: i64, sweeps: i64, functional: f64, theta: f64, temperature: f64, user: *mut c_void) -> i32;
    }
    tables {
        plaq_gaugefix_params, plaq_gaugefix_params_init;
    }
    reported {
        plaq_gaugefix_report, plaq_gaugefix_report_init;
        plaq_gaugefix_state;
    }
    functions {
        /// Fixes the gauge: the links are replaced by the fixed ones. The report says whether they meet the criteria.
        /// `result` gets the transformation and the copies; NULL if they are not wanted. Errors, after which the
        /// links are unchanged: BAD_PARAMETER, NOT_FINITE, NOT_UNITARY (naming the link), OUT_OF_MEMORY, UNSUPPORTED
        /// (half precision; Fourier acceleration in maximally Abelian gauge; links with boundaries in time, but for
        /// Coulomb gauge between open ones), CUFFT_MISSING.
        plaq_gauge_fix(gauge: Handle<plaq_gauge>, params: Params<plaq_gaugefix_params>, callback: Raw<plaq_gaugefix_callback>, user: *mut c_void, report: Report<plaq_gaugefix_report>, result: MaybeOut<plaq_gaugefix>) = run;
        /// Destroys the result of a gauge fixing. The zero handle is accepted.
        plaq_gaugefix_destroy(result: Raw<plaq_gaugefix>) = destroy;
        /// Gives the results of all gauge copies in order. `count`: their number, of which the first `capacity` are
        /// written to `copies`, which may be NULL.
        plaq_gaugefix_copies(result: Local<plaq_gaugefix>, copies: MaybeArray<plaq_gaugefix_state>[capacity], capacity: i64, count: Out<i64>) = copies_of;
        /// Gives the results for the slices in Coulomb gauge, ordered by their coordinate, of copy number `copy`, or
        /// with -1 of the field that is kept. In other gauges there are none.
        plaq_gaugefix_slices(result: Local<plaq_gaugefix>, copy: i64, slices: MaybeArray<plaq_gaugefix_state>[capacity], capacity: i64, count: Out<i64>) = slices_of;
        /// Gives the transformation g(x) of this rank's sites: N x N complex numbers per site, row major, sites
        /// with x fastest. U_mu(x) became g(x) U_mu(x) g(x+mu)^dagger; quarks become g psi.
        plaq_gaugefix_transformation(result: Local<plaq_gaugefix>, transformation: OutArray<f64>[2 ("N") ("N") ("sites of the rank")]) = transformation_of;
        /// Applies the transformation to the links of another field on the same lattice.
        plaq_gaugefix_apply(result: Handle<plaq_gaugefix>, gauge: Handle<plaq_gauge>) = apply;
    }
}

fn run(
    gauge: &Arc<Gauge>,
    params: &plaq_gaugefix_params,
    callback: plaq_gaugefix_callback,
    user: *mut c_void,
    report: &mut Report<plaq_gaugefix_report>,
    result: &mut MaybeOut<plaq_gaugefix>,
) -> Result<()> {
    let params = GaugeFixing::from_c(params, "params")?.params();
    let ask = |p: &Progress| {
        let Some(callback) = callback.0 else { return false };
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
    report.set(done.totals().to_c());
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

/// Writes the first `capacity` states, and returns the number of all states.
fn list(
    states: &[Fixed],
    to: &mut MaybeArray<plaq_gaugefix_state>,
    capacity: i64,
    count: &mut Out<i64>,
) -> Result<()> {
    if capacity < 0 {
        refuse!(InvalidArgument, "capacity", expected("0 or more"), found("{capacity}"));
    }
    count.set(states.len() as i64);
    to.set(states.iter().take(capacity as usize).map(ToC::to_c).collect());
    Ok(())
}

fn copies_of(
    result: &Arc<GaugeFix>,
    copies: &mut MaybeArray<plaq_gaugefix_state>,
    capacity: i64,
    count: &mut Out<i64>,
) -> Result<()> {
    let states: Vec<Fixed> = result.report.copies.iter().map(|copy| copy.total).collect();
    list(&states, copies, capacity, count)
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
            None => refuse!(
                InvalidArgument,
                "copy",
                expected("-1 to {}", all.len() - 1),
                found("{copy}")
            ),
        },
    };
    list(&copy.slices, slices, capacity, count)
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
