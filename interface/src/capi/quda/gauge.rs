//! `quda.h`: forces, products and traces of links along paths given in tables.

#![allow(non_snake_case)]

use std::ffi::{c_int, c_void};

use super::host::Host;
use super::params::QudaGaugeParam;
use super::session;
use crate::capi::args::{Array, DataOut, PathList, PathTable};
use crate::capi::table::interface;
use crate::error::Result;
use crate::fields::{GaugeField, MatrixField, MatrixForm, Precision};
use crate::ops::paths::{traces, PathProducts, Paths, LONGEST, MAX_PATHS};
use crate::refuse;

interface! {
    "Links and paths"
    calls {
        /// Computes mom = mom - dt TA[U_d(x) sum_i loop_coeff[i] (product along path i of direction d from x + d)]
        /// for each link, where TA is the traceless antihermitian part. input_path_buf[d][i] holds the path_length[i]
        /// steps of a staple that leads back to x: 0 to 3 forward in x, y, z, t, 7 - mu back in direction mu. Momenta
        /// are anti-hermitian, 10 reals a link (sqrt(2) i p in plaq's convention), in one array, four on a site, or
        /// in four arrays (QUDA_QDP_GAUGE_ORDER), even sites first; or on the device. Up to 63 steps and 1024 paths.
        /// Returns 0.
        computeGaugeForceQuda(mom: *mut c_void, sitelink: *mut c_void, input_path_buf: PathTable, path_length: Array<c_int>, loop_coeff: Array<f64>, num_paths: c_int, max_length: c_int, dt: f64, qudaGaugeParam: Array<QudaGaugeParam>) -> c_int = together gauge_force;
        /// Computes out_d(x) = out_d(x) + dt U_d(x) sum_i loop_coeff[i] (product along path i from x + d), or without
        /// adding to out_d(x) if overwrite_gauge is 1; `out` has the layout of links. Paths need not be closed.
        computeGaugePathQuda(out: *mut c_void, sitelink: *mut c_void, input_path_buf: PathTable, path_length: Array<c_int>, loop_coeff: Array<f64>, num_paths: c_int, max_length: c_int, dt: f64, qudaGaugeParam: Array<QudaGaugeParam>) -> c_int = together gauge_path;
        /// Computes traces[i] = factor loop_coeff[i] sum over x of tr (product along the closed path i from x) for
        /// the links kept by loadGaugeQuda; `traces` has room for num_paths complex doubles. Up to 64 steps and 4096
        /// paths.
        computeGaugeLoopTraceQuda(traces: DataOut, input_path_buf: PathList, path_length: Array<c_int>, loop_coeff: Array<f64>, num_paths: c_int, max_length: c_int, factor: f64) = together loop_trace;
    }
}

pub(crate) fn step_of(step: i32) -> Result<u8> {
    match u8::try_from(step) {
        Ok(step) if step < 8 => Ok(step),
        _ => {
            refuse!(InvalidArgument, "input_path_buf: a step", expected("0 to 7"), found("{step}"))
        }
    }
}

/// Reads lengths and coefficients of `num_paths` paths.
pub(crate) fn list_of(
    lengths: &Array<c_int>,
    coefficients: &Array<f64>,
    (num_paths, max): (c_int, usize),
    (max_length, longest): (c_int, usize),
) -> Result<(Vec<usize>, Vec<f64>)> {
    if !(1..=max as c_int).contains(&num_paths) {
        refuse!(InvalidArgument, "num_paths", expected("1 to {max}"), found("{num_paths}"));
    }
    let n = num_paths as usize;
    // Hosts pass a max_length above the lengths of their paths.
    let longest = (max_length.max(0) as usize).min(longest);
    let mut all = vec![];
    for length in lengths.get(n)? {
        match usize::try_from(length) {
            Ok(length) if (1..=longest).contains(&length) => all.push(length),
            _ => refuse!(
                InvalidArgument,
                "path_length",
                expected("1 to {longest}"),
                found("{length}")
            ),
        }
    }
    let coefficients = coefficients.get(n)?;
    if let Some(bad) = coefficients.iter().find(|c| !c.is_finite()) {
        refuse!(InvalidArgument, "loop_coeff", expected("finite numbers"), found("{bad}"));
    }
    Ok((all, coefficients))
}

/// Reads a table of staples: paths, each preceded by the link that it belongs to, and their coefficients.
fn staples(
    table: &PathTable,
    lengths: &Array<c_int>,
    coefficients: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
) -> Result<(Paths, Vec<f64>)> {
    let (paths, length) = ((num_paths, MAX_PATHS / 4), (max_length, LONGEST - 1));
    let (lengths, coefficients) = list_of(lengths, coefficients, paths, length)?;
    let (mut all, mut numbers) = (vec![], vec![]);
    for d in 0..4u8 {
        let list = table.of(d as usize)?;
        for (i, (&length, &c)) in lengths.iter().zip(&coefficients).enumerate() {
            let mut path = vec![d];
            for step in list.get(i, length)? {
                path.push(step_of(step)?);
            }
            all.push(path);
            numbers.push(c);
        }
    }
    Ok((Paths::new(all)?, numbers))
}

/// Products of links along the paths, each times its coefficient, summed: four matrices at each site, one for each
/// direction of the first step.
pub(crate) fn gathered(
    links: &GaugeField,
    paths: &Paths,
    coefficients: &[f64],
) -> Result<MatrixField> {
    let (device, geometry, precision) = (links.device(), links.geometry(), links.precision());
    let walker = PathProducts::new(device, geometry, precision, paths.len())?;
    let mut sum = MatrixField::new(device, geometry, precision, MatrixForm::General, 4)?;
    walker.gather(links, paths, coefficients, &mut sum)?;
    Ok(sum)
}

pub(crate) fn finite(dt: f64, name: &str) -> Result<()> {
    if !dt.is_finite() {
        refuse!(InvalidArgument, "{name}", expected("a finite number"), found("{dt}"));
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn gauge_force(
    mom: *mut c_void,
    sitelink: *mut c_void,
    input_path_buf: &PathTable,
    path_length: &Array<c_int>,
    loop_coeff: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
    dt: f64,
    param: &Array<QudaGaugeParam>,
) -> Result<c_int> {
    finite(dt, "dt")?;
    let host = Host::new(param)?;
    let (paths, numbers) = staples(input_path_buf, path_length, loop_coeff, num_paths, max_length)?;
    paths.check_closed(host.session.geometry.global_extents())?;
    let p = host.param;
    if p.use_resident_mom != 0 && host.resident().momenta.is_none() {
        refuse!(
            InvalidArgument,
            "param.use_resident_mom",
            expected("momenta on the device"),
            found("none")
        );
    }
    if p.return_result_mom != 0 {
        host.momenta_at(mom)?;
    }
    let links = host.links(sitelink)?;
    let mut momenta = match p.overwrite_mom {
        0 => host.momenta(mom)?,
        _ => host.new_momenta()?,
    };
    // The host's matrices i sqrt(2) p decrease by dt times i times the traceless part of (W - W^dagger) / 2i.
    let sum = gathered(&links, &paths, &numbers)?;
    momenta.add_projection(1.0, -0.5 * dt * std::f64::consts::SQRT_2, &sum)?;
    host.store_momenta(momenta, mom)?;
    Ok(0)
}

#[allow(clippy::too_many_arguments)]
fn gauge_path(
    out: *mut c_void,
    sitelink: *mut c_void,
    input_path_buf: &PathTable,
    path_length: &Array<c_int>,
    loop_coeff: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
    dt: f64,
    param: &Array<QudaGaugeParam>,
) -> Result<c_int> {
    finite(dt, "dt")?;
    let host = Host::new(param)?;
    let (paths, numbers) = staples(input_path_buf, path_length, loop_coeff, num_paths, max_length)?;
    let links = host.links(sitelink)?;
    let numbers: Vec<f64> = numbers.iter().map(|c| dt * c).collect();
    let walker = PathProducts::new(links.device(), links.geometry(), host.inside, paths.len())?;
    let mut sum = match host.param.overwrite_gauge {
        0 => MatrixField::from_links(host.load(out, "out")?),
        _ => {
            let form = MatrixForm::General;
            MatrixField::new(links.device(), links.geometry(), host.inside, form, 4)?
        }
    };
    walker.gather(&links, &paths, &numbers, &mut sum)?;
    sum.into_links().save(&host.layout, &mut host.array(out, "out")?)?;
    Ok(0)
}

/// Reads closed paths and their coefficients.
pub(crate) fn closed(
    list: &PathList,
    lengths: &Array<c_int>,
    coefficients: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
) -> Result<(Paths, Vec<f64>)> {
    let (paths, length) = ((num_paths, MAX_PATHS), (max_length, LONGEST));
    let (lengths, coefficients) = list_of(lengths, coefficients, paths, length)?;
    let mut all = vec![];
    for (i, length) in lengths.into_iter().enumerate() {
        let steps = list.get(i, length)?;
        all.push(steps.into_iter().map(step_of).collect::<Result<Vec<u8>>>()?);
    }
    Ok((Paths::new(all)?, coefficients))
}

fn loop_trace(
    out: &DataOut,
    input_path_buf: &PathList,
    path_length: &Array<c_int>,
    loop_coeff: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
    factor: f64,
) -> Result<()> {
    finite(factor, "factor")?;
    let links = session::get()?.resident().links()?.field;
    let (paths, coefficients) =
        closed(input_path_buf, path_length, loop_coeff, num_paths, max_length)?;
    out.write(Precision::F64, &scaled_traces(&links, &paths, &coefficients, factor)?);
    Ok(())
}

/// Traces of closed paths, summed over the lattice and multiplied by factor and coefficient: (re, im) of each.
pub(crate) fn scaled_traces(
    links: &GaugeField,
    paths: &Paths,
    coefficients: &[f64],
    factor: f64,
) -> Result<Vec<f64>> {
    let sums = traces(links, paths)?;
    let scaled = sums.iter().zip(coefficients).map(|(t, c)| factor * c * t);
    Ok(scaled.flat_map(|t| [t.re, t.im]).collect())
}
