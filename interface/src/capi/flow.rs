//! Gradient flow.

use std::ffi::c_void;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use super::args::{Handle, MaybeArray, Out, Params, Raw, Report};
use super::gauge::{plaq_gauge, Gauge};
use super::table::interface;
use crate::bail;
use crate::error::Result;
pub use crate::ops::flow::plaq_flow_params;
use crate::ops::flow::{Flow, FlowKind, FlowParams, FlowPoint};
use crate::params::InC;
use crate::refuse;

interface! {
    "Gradient flow"
    choices {
        plaq_flow_kind = FlowKind;
    }
    callbacks {
        /// Called at every measurement with the flow time t / a^2, t^2 E from clover leaves, and the
        /// topological charge; a result other than 0 on any rank ends the flow.
        plaq_flow_callback(time: f64, t2e: f64, charge: f64, user: *mut c_void) -> i32;
    }
    tables {
        plaq_flow_params, plaq_flow_params_init;
    }
    reports {
        /// Report of a flow. Scales are in lattice units, negative where the flow ended before them.
        plaq_flow_report, plaq_flow_report_init {
            /// Flow time reached.
            time: f64,
            /// Scale t0 with t^2 E = 0.3, E from clover leaves.
            t0_clover: f64,
            /// Scale t0, E from plaquettes.
            t0_plaquette: f64,
            /// Scale w0 with t d/dt t^2 E = 0.3 at t = w0^2, E from clover leaves.
            w0_clover: f64,
            /// Scale w0, E from plaquettes.
            w0_plaquette: f64,
            /// Steps of the flow that count.
            steps: i64,
            /// Steps that were done again with a smaller step.
            repeated: i64,
            /// 1: the callback asked to stop.
            stopped: i32,
            /// Seconds that the flow took.
            seconds: f64,
        }
    }
    structs {
        /// Observables at a flow time.
        plaq_flow_point {
            /// Flow time t / a^2.
            time: f64,
            /// Average plaquette of the planes xy, xz and yz, 1 for unit links.
            plaquette_spatial: f64,
            /// Average plaquette of the planes xt, yt and zt.
            plaquette_temporal: f64,
            /// Action density from clover leaves of the planes xy, xz and yz, as of plaq_gauge_topology.
            energy_spatial: f64,
            /// Action density from clover leaves of the planes xt, yt and zt.
            energy_temporal: f64,
            /// Topological charge.
            charge: f64,
        }
    }
    functions {
        /// Flows SU(3) links, stored as 18 numbers in double or single precision. `count`: measurements
        /// made, of which the first `capacity` are written; `points` may be NULL. Errors: BAD_PARAMETER,
        /// UNSUPPORTED, NOT_FINITE, OUT_OF_MEMORY.
        plaq_gauge_flow(gauge: Handle<plaq_gauge>, params: Params<plaq_flow_params>, callback: Raw<plaq_flow_callback>, user: *mut c_void, report: Report<plaq_flow_report>, points: MaybeArray<plaq_flow_point>[capacity], capacity: i64, count: Out<i64>) = run;
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
    // On a copy: links that a step takes out of range leave the field as it is.
    gauge.replace("gauge", |old| {
        let mut links = old.to(old.precision(), old.recon())?;
        done = Some(Flow::new(&links, params.kind)?.run(&mut links, &params, &mut watch)?);
        Ok(links)
    })?;
    let Some(done) = done else { bail!(Internal, "flow: no result") };
    let or = |x: Option<f64>| x.unwrap_or(-1.0);
    report.set(plaq_flow_report {
        time: done.time,
        t0_clover: or(done.t0(FlowPoint::clover)),
        t0_plaquette: or(done.t0(FlowPoint::plaquette)),
        w0_clover: or(done.w0(FlowPoint::clover)),
        w0_plaquette: or(done.w0(FlowPoint::plaquette)),
        steps: done.steps as i64,
        repeated: done.repeated as i64,
        seconds: start.elapsed().as_secs_f64(),
        stopped: done.stopped as i32,
        ..Default::default()
    });
    count.set(done.points.len() as i64);
    let list = done.points.iter().take(capacity as usize).map(|p| plaq_flow_point {
        time: p.time,
        plaquette_spatial: p.plaquette_spatial,
        plaquette_temporal: p.plaquette_temporal,
        energy_spatial: p.energy_spatial,
        energy_temporal: p.energy_temporal,
        charge: p.charge,
    });
    points.set(list.collect());
    Ok(())
}
