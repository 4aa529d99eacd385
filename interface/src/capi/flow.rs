//! Gradient flow of links and quark fields.

use std::ffi::c_void;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use super::args::{Handle, MaybeArray, OptionalHandle, Out, Params, Raw, Report};
use super::gauge::{plaq_gauge, Gauge};
use super::observe::plaq_sweep_callback;
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::bail;
use crate::error::Result;
use crate::fields::GaugeField;
pub use crate::ops::flow::plaq_flow_params;
use crate::ops::flow::{plaq_flow_point, plaq_flow_report, Flow, FlowKind, FlowParams, FlowPoint};
pub use crate::ops::quark_flow::plaq_spinor_flow_params;
use crate::ops::quark_flow::{adjoint_flow, flow, plaq_spinor_flow_report, QuarkFlowParams};
use crate::params::{InC, ToC as _};
use crate::refuse;

interface! {
    "Gradient flow"
    choices {
        plaq_flow_kind = FlowKind;
    }
    callbacks {
        /// Called at every measurement with the flow time t / a^2, t^2 E from clover leaves, and the topological
        /// charge. A result other than 0, on any rank, ends the flow.
        plaq_flow_callback(time: f64, t2e: f64, charge: f64, user: *mut c_void) -> i32;
    }
    tables {
        plaq_flow_params, plaq_flow_params_init;
        plaq_spinor_flow_params, plaq_spinor_flow_params_init;
    }
    reported {
        plaq_spinor_flow_report, plaq_spinor_flow_report_init;
        plaq_flow_point;
        plaq_flow_report, plaq_flow_report_init;
    }
    functions {
        /// Flows SU(3) links, stored as 18 numbers in double or single precision. `count`: number of measurements
        /// made, of which the first `capacity` are written to `points`, which may be NULL. Errors: BAD_PARAMETER,
        /// UNSUPPORTED, NOT_FINITE, OUT_OF_MEMORY.
        plaq_gauge_flow(gauge: Handle<plaq_gauge>, params: Params<plaq_flow_params>, callback: Raw<plaq_flow_callback>, user: *mut c_void, report: Report<plaq_flow_report>, points: MaybeArray<plaq_flow_point>[capacity], capacity: i64, count: Out<i64>) = run;
        /// Flows every column of a field, spinors or colour vectors on both parities in double or single precision: d
        /// chi / dt = D^2 chi, where D^2 chi(x) = sum_mu [V_mu(x) chi(x + mu) + V_mu(x - mu)^dagger chi(x - mu) - 2
        /// chi(x)] with the links V of the flow of `gauge` (SU(3)) at the same time (Luescher, JHEP 04 (2013) 123).
        /// Boundary phases are those that the field records (plaq_spinor_origin), else those of `params`. With
        /// boundaries of the links in time chi is 0 at all flow times on the slices where quarks vanish. `flowed`:
        /// field to which the flowed links are written, which may be `gauge` itself; zero handle: they are not kept.
        /// Links flow in the precision of the field. The callback is called after every step with the numbers of
        /// steps done and of all steps, and may end the flow. Errors: BAD_PARAMETER, UNSUPPORTED, FIELD_MISMATCH,
        /// NOT_FINITE, OUT_OF_MEMORY.
        plaq_spinor_flow(spinor: Handle<plaq_spinor>, gauge: Handle<plaq_gauge>, flowed: OptionalHandle<plaq_gauge>, params: Params<plaq_spinor_flow_params>, callback: Raw<plaq_sweep_callback>, user: *mut c_void, report: Report<plaq_spinor_flow_report>) = flow_quarks;
        /// Applies the adjoint K^dagger of plaq_spinor_flow K with the same `gauge`, links at time 0, and `params`:
        /// it takes a field at the flow time of `params` to time 0, and <phi, K chi> = <K^dagger phi, chi> holds to
        /// rounding. The links of the steps are computed again between `checkpoints` states that are kept. The
        /// callback is called after every step, also of the links, with the number of steps of the field that are
        /// done. If it ends the work, the field is the adjoint of the flow that begins at the time in the report.
        /// Errors: those of plaq_spinor_flow.
        plaq_spinor_flow_adjoint(spinor: Handle<plaq_spinor>, gauge: Handle<plaq_gauge>, params: Params<plaq_spinor_flow_params>, callback: Raw<plaq_sweep_callback>, user: *mut c_void, report: Report<plaq_spinor_flow_report>) = flow_quarks_back;
    }
}

#[allow(clippy::too_many_arguments)]
fn run(
    gauge: &Arc<Gauge>,
    params: &plaq_flow_params,
    callback: plaq_flow_callback,
    user: *mut c_void,
    report: &mut Report<plaq_flow_report>,
    points: &mut MaybeArray<plaq_flow_point>,
    capacity: i64,
    count: &mut Out<i64>,
) -> Result<()> {
    let start = Instant::now();
    if capacity < 0 {
        refuse!(InvalidArgument, "capacity", expected("0 or more"), found("{capacity}"));
    }
    let params = FlowParams::from_c(params, "params")?;
    let mut watch = |p: &FlowPoint| {
        let Some(callback) = callback.0 else { return ControlFlow::Continue(()) };
        // SAFETY: the host's function with the host's own pointer, while its call runs.
        let asked = unsafe { callback(p.time, p.time * p.time * p.clover(), p.charge, user) };
        if asked == 0 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let mut done = None;
    // The flow runs on a copy, so that the field is unchanged where links leave the range of numbers.
    gauge.replace("gauge", |old| {
        let mut links = old.to(old.precision(), old.recon())?;
        done = Some(Flow::new(&links, params.kind)?.run(&mut links, &params, &mut watch)?);
        links.belongs_to(old);
        Ok(links)
    })?;
    let Some(done) = done else { bail!(Internal, "flow: no result") };
    report.set(done.totals(start.elapsed().as_secs_f64()).to_c());
    count.set(done.points.len() as i64);
    let list = done.points.iter().take(capacity as usize).map(FlowPoint::to_c);
    points.set(list.collect());
    Ok(())
}

/// Parameters of a flow of this field, with the boundary phases that the field records, if it records any.
fn quark_params(spinor: &Spinor, params: &plaq_spinor_flow_params) -> Result<QuarkFlowParams> {
    let mut params = QuarkFlowParams::from_c(params, "params")?;
    params.boundary.0 = spinor.origin().phases(params.boundary.0);
    Ok(params)
}

/// Wraps the host's callback, which is not called again after it has asked to stop.
fn watch_steps(
    callback: plaq_sweep_callback,
    user: *mut c_void,
    params: &QuarkFlowParams,
    start: Instant,
) -> impl FnMut(usize) -> ControlFlow<()> {
    let all = params.steps() as i64;
    move |done| {
        let Some(callback) = callback.0 else { return ControlFlow::Continue(()) };
        // SAFETY: the host's function with the host's own pointer, while its call runs.
        match unsafe { callback(done as i64, all, start.elapsed().as_secs_f64(), user) } {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}

fn flow_quarks(
    spinor: &Arc<Spinor>,
    gauge: &Arc<Gauge>,
    flowed: Option<&Arc<Gauge>>,
    params: &plaq_spinor_flow_params,
    callback: plaq_sweep_callback,
    user: *mut c_void,
    report: &mut Report<plaq_spinor_flow_report>,
) -> Result<()> {
    let start = Instant::now();
    spinor.context().check_same(gauge.context(), "gauge")?;
    let params = quark_params(spinor, params)?;
    let links = gauge.read("gauge")?;
    spinor.check_links("spinor", &links, "gauge")?;
    if let Some(flowed) = flowed {
        spinor.context().check_same(flowed.context(), "flowed")?;
        let to = flowed.read("flowed")?;
        let place = |of: &GaugeField| (of.geometry().global_extents(), of.geometry().boundary());
        let (from, onto) = (place(&links), place(&to));
        let fits = (to.geometry(), to.group()) == (links.geometry(), links.group());
        if !fits || from.1 != onto.1 {
            refuse!(
                FieldMismatch,
                "flowed",
                expected("SU(3) links of the lattice of gauge, {:?}, {}", from.0, from.1.stated()),
                found("{} on {:?}, {}", to.recon(), onto.0, onto.1.stated())
            );
        }
    }
    let mut psi = spinor.write_any("spinor")?;
    let mut watch = watch_steps(callback, user, &params, start);
    let (made, done) = flow(&mut psi, &links, &params, &mut watch)?;
    if let Some(flowed) = flowed {
        flowed.replace("flowed", |old| made.to(old.precision(), old.recon()))?;
    }
    report.set(done.to_c());
    Ok(())
}

fn flow_quarks_back(
    spinor: &Arc<Spinor>,
    gauge: &Arc<Gauge>,
    params: &plaq_spinor_flow_params,
    callback: plaq_sweep_callback,
    user: *mut c_void,
    report: &mut Report<plaq_spinor_flow_report>,
) -> Result<()> {
    let start = Instant::now();
    spinor.context().check_same(gauge.context(), "gauge")?;
    let params = quark_params(spinor, params)?;
    let links = gauge.read("gauge")?;
    spinor.check_links("spinor", &links, "gauge")?;
    let mut psi = spinor.write_any("spinor")?;
    let mut watch = watch_steps(callback, user, &params, start);
    report.set(adjoint_flow(&mut psi, &links, &params, &mut watch)?.to_c());
    Ok(())
}
