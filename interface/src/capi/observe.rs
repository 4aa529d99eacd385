//! Gauge observables, initial configurations and quenched updates.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use super::args::{Handle, One, Out, OutArray, Params, Raw, Report};
use super::gauge::{plaq_gauge, Gauge};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::error::Result;
use crate::fields::Noise;
use crate::io::Origin;
use crate::ops::observables::{self, plaq_plaquette, plaq_topology, plaq_unitarity};
pub use crate::ops::quenched::plaq_heatbath_params;
use crate::ops::quenched::{plaq_heatbath_report, HeatBath, HeatBathReport};
use crate::ops::time_slices::time_slices;
use crate::params::{InC as _, ToC as _};
use crate::refuse;

interface! {
    "Gauge observables, random fields, quenched updates"
    choices {
        plaq_noise = Noise;
    }
    callbacks {
        /// Called after every sweep with the number of sweeps done, their total number, and the seconds since the
        /// start. A result other than 0 ends the update, and the report says so. A single rank may have a callback or
        /// ask to stop: all ranks stop after the same sweep.
        plaq_sweep_callback(done: i64, all: i64, seconds: f64, user: *mut c_void) -> i32;
    }
    tables {
        plaq_heatbath_params, plaq_heatbath_params_init;
    }
    reported {
        plaq_plaquette;
        plaq_unitarity;
        plaq_topology;
        plaq_heatbath_report, plaq_heatbath_report_init;
    }
    structs {
        /// A complex number.
        plaq_complex {
            /// Real part.
            re: f64,
            /// Imaginary part.
            im: f64,
        }
    }
    functions {
        /// Measures the average plaquettes.
        plaq_gauge_plaquette(gauge: Handle<plaq_gauge>, plaquette: Out<plaq_plaquette>) = plaquette_of;
        /// Measures the Polyakov loop: tr prod U_mu / N along the lines in `direction` (3: time), averaged over the
        /// lattice.
        plaq_gauge_polyakov_loop(gauge: Handle<plaq_gauge>, direction: i32, polyakov: Out<plaq_complex>) = polyakov_loop;
        /// Measures topological charge and action density from the traceless field strength F.
        plaq_gauge_topology(gauge: Handle<plaq_gauge>, topology: Out<plaq_topology>) = topology_of;
        /// Measures the same from an F that keeps the trace of the clover leaves, as QUDA's charge does; on rough
        /// links charge and density differ by some per cent.
        plaq_gauge_topology_with_trace(gauge: Handle<plaq_gauge>, topology: Out<plaq_topology>) = topology_with_trace;
        /// Measures the topological charge density on each of this rank's `sites` sites, in lexicographic order with
        /// x fastest; its sum over all ranks is the charge. F is traceless, or with `trace` 1 keeps its trace.
        plaq_gauge_charge_density(gauge: Handle<plaq_gauge>, trace: i32, density: OutArray<f64>[sites], sites: i64) = charge_density;
        /// Measures energy and charge of every time slice of the whole lattice, summed over space: `plaquette`, E = 2
        /// sum of Re tr (1 - P), where plaquettes between two slices count half for each, and spatial ones of
        /// boundary slices half; `clover`, E = 1/2 sum of tr F F from clover leaves; and the topological charge. All
        /// ranks get all slices.
        plaq_gauge_time_slices(gauge: Handle<plaq_gauge>, plaquette: OutArray<f64>[slices], clover: OutArray<f64>[slices], charge: OutArray<f64>[slices], slices: i64) = time_slices_of;
        /// Measures the largest deviation of the links from the group.
        plaq_gauge_unitarity(gauge: Handle<plaq_gauge>, unitarity: Out<plaq_unitarity>) = unitarity_of;
        /// Sets all links to the unit matrix.
        plaq_gauge_unit(gauge: Handle<plaq_gauge>) = unit;
        /// Sets the links to independent random matrices of the Haar measure, the same on every device and
        /// decomposition.
        plaq_gauge_hot(gauge: Handle<plaq_gauge>, seed: i64) = hot;
        /// Sets the links to exp(i width sum_a p_a T_a) with normally distributed p_a; 0 <= width <= 1.
        plaq_gauge_warm(gauge: Handle<plaq_gauge>, seed: i64, width: f64) = warm;
        /// Updates the links by heat bath and overrelaxation; SU(3) stored as 18 numbers, or SU(2), in double or
        /// single precision.
        plaq_gauge_heatbath(gauge: Handle<plaq_gauge>, params: Params<plaq_heatbath_params>, callback: Raw<plaq_sweep_callback>, user: *mut c_void, report: Report<plaq_heatbath_report>) = heatbath;
        /// Sets right-hand side number b to noise vector number `first` + b of the sequence of `seed`.
        plaq_spinor_noise(spinor: Handle<plaq_spinor>, noise: One<Noise>, seed: i64, first: i32) = noise_of;
    }
}

fn plaquette_of(gauge: &Arc<Gauge>, plaquette: &mut Out<plaq_plaquette>) -> Result<()> {
    plaquette.set(observables::plaquette(&*gauge.read("gauge")?)?.to_c());
    Ok(())
}

fn polyakov_loop(
    gauge: &Arc<Gauge>,
    direction: i32,
    polyakov: &mut Out<plaq_complex>,
) -> Result<()> {
    if !(0..=3).contains(&direction) {
        refuse!(InvalidArgument, "direction", expected("0 to 3"), found("{direction}"));
    }
    let z = observables::polyakov_loop(&*gauge.read("gauge")?, direction as usize)?;
    polyakov.set(plaq_complex { re: z.re, im: z.im });
    Ok(())
}

fn topology_of(gauge: &Arc<Gauge>, topology: &mut Out<plaq_topology>) -> Result<()> {
    topology.set(observables::field_strength(&*gauge.read("gauge")?)?.to_c());
    Ok(())
}

fn topology_with_trace(gauge: &Arc<Gauge>, topology: &mut Out<plaq_topology>) -> Result<()> {
    topology.set(observables::field_strength_with_trace(&*gauge.read("gauge")?)?.to_c());
    Ok(())
}

fn charge_density(
    gauge: &Arc<Gauge>,
    trace: i32,
    density: &mut OutArray<f64>,
    sites: i64,
) -> Result<()> {
    if !(0..=1).contains(&trace) {
        refuse!(InvalidArgument, "trace", expected("0 or 1"), found("{trace}"));
    }
    let links = gauge.read("gauge")?;
    let volume = links.geometry().volume();
    if sites != volume as i64 {
        refuse!(
            InvalidArgument,
            "sites",
            expected("{volume}, the sites of this rank"),
            found("{sites}")
        );
    }
    density.set(observables::charge_density(&links, trace == 1)?);
    Ok(())
}

fn time_slices_of(
    gauge: &Arc<Gauge>,
    plaquette: &mut OutArray<f64>,
    clover: &mut OutArray<f64>,
    charge: &mut OutArray<f64>,
    slices: i64,
) -> Result<()> {
    let links = gauge.read("gauge")?;
    let times = links.geometry().global_extents()[3];
    if slices != times as i64 {
        refuse!(
            InvalidArgument,
            "slices",
            expected("{times}, those of the whole lattice"),
            found("{slices}")
        );
    }
    let found = time_slices(&links)?;
    plaquette.set(found.plaquette);
    clover.set(found.clover);
    charge.set(found.charge);
    Ok(())
}

fn unitarity_of(gauge: &Arc<Gauge>, unitarity: &mut Out<plaq_unitarity>) -> Result<()> {
    unitarity.set(observables::unitarity(&*gauge.read("gauge")?)?.to_c());
    Ok(())
}

fn unit(gauge: &Arc<Gauge>) -> Result<()> {
    gauge.change("gauge", |links| links.set_unit())
}

fn hot(gauge: &Arc<Gauge>, seed: i64) -> Result<()> {
    gauge.change("gauge", |links| links.set_random(seed as u64))
}

fn warm(gauge: &Arc<Gauge>, seed: i64, width: f64) -> Result<()> {
    gauge.change("gauge", |links| links.set_near_unit(seed as u64, width))
}

fn heatbath(
    gauge: &Arc<Gauge>,
    params: &plaq_heatbath_params,
    callback: plaq_sweep_callback,
    user: *mut c_void,
    report: &mut Report<plaq_heatbath_report>,
) -> Result<()> {
    let asked = HeatBath::from_c(params, "params")?;
    let (mut quenched, sweeps) = (asked.quenched("params")?, asked.sweeps);
    let start = Instant::now();
    let mut stopped = false;
    gauge.change("gauge", |links| {
        // Sweeps compute no sums over ranks with which a request to stop could be sent, so that it is sent separately.
        let comm = links.geometry().comm().clone();
        let any = |mine: bool| -> Result<bool> {
            let mut asked = [mine as i32 as f64];
            comm.sum(&mut asked)?;
            Ok(asked[0] > 0.0)
        };
        let watched = any(callback.0.is_some())?;
        for done in 1..=i64::from(sweeps) {
            quenched.run(links, 1)?;
            if let Some(callback) = callback.0 {
                let seconds = start.elapsed().as_secs_f64();
                // SAFETY: the host's function with the host's own pointer, while its call runs.
                stopped = unsafe { callback(done, i64::from(sweeps), seconds, user) } != 0;
            }
            stopped = watched && any(stopped)?;
            if stopped {
                break;
            }
        }
        links.device().synchronize()
    })?;
    let seconds = start.elapsed().as_secs_f64();
    report.set(HeatBathReport { next_sweep: quenched.sweep, stopped, seconds }.to_c());
    Ok(())
}

fn noise_of(spinor: &Arc<Spinor>, noise: Noise, seed: i64, first: i32) -> Result<()> {
    if first < 0 {
        refuse!(InvalidArgument, "first", expected("0 or more"), found("{first}"));
    }
    spinor.write("spinor")?.set_noise(noise, seed as u64, first as u32)?;
    spinor.set_origin(Origin::default());
    Ok(())
}
