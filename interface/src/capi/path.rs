//! Actions and forces of arbitrary closed loops of links.

use std::sync::Arc;

use super::args::{Array, Handle, Out, OutArray, Report};
use super::gauge::{plaq_gauge, Gauge};
use super::momentum::{plaq_force_report, plaq_momentum, Momentum};
use super::table::interface;
use crate::error::Result;
use crate::ops::hmc::gauge_action::LinkAction;
use crate::ops::hmc::loop_action::{LoopAction, LoopForce};
use crate::ops::paths::{self, Paths, LONGEST, MAX_PATHS};
use crate::refuse;

interface! {
    "Closed paths of links"
    functions {
        /// For each of `count` closed paths (at most 4096) gives the trace of the ordered product of links along it,
        /// summed over all starting points x on all ranks; `traces` gets real and imaginary parts. `steps` holds the
        /// paths one after the other, with `lengths` of 1 to 64 steps: 0 to 3 forward in x, y, z, t, 7 - mu back in
        /// direction mu. A path may wind around the lattice. Between open boundaries in time paths count whose links
        /// all exist; where links are fixed at a boundary, paths with steps in time are UNSUPPORTED. The arguments
        /// are the same on all ranks. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
        plaq_gauge_path_traces(gauge: Handle<plaq_gauge>, steps: Array<i32>[("sum of lengths")], lengths: Array<i32>[count], count: i64, traces: OutArray<f64>[2 count]) = traces_of;
        /// Measures S = sum over x and paths of coefficient (1 - Re tr L(x) / 3), where L(x) is the product of links
        /// along the path from x; paths as in plaq_gauge_path_traces. Links are stored as 18 numbers in double or
        /// single precision. Errors: those of plaq_gauge_path_traces, UNSUPPORTED.
        plaq_gauge_path_action(gauge: Handle<plaq_gauge>, steps: Array<i32>[("sum of lengths")], lengths: Array<i32>[count], coefficients: Array<f64>[count], count: i64, action: Out<f64>) = action_of;
        /// Sets `momentum` to momentum - step F, where F_a = dS/d omega_a for U -> exp(i omega_a T_a) U. Errors:
        /// those of plaq_gauge_path_action, FIELD_MISMATCH.
        plaq_gauge_path_force(gauge: Handle<plaq_gauge>, steps: Array<i32>[("sum of lengths")], lengths: Array<i32>[count], coefficients: Array<f64>[count], count: i64, momentum: Handle<plaq_momentum>, step: f64, report: Report<plaq_force_report>) = force;
        /// Gives all images of a closed path of `length` steps under rotations and reflections of the lattice; paths
        /// that differ only in start or sense are given once (6 plaquettes, 12 rectangles of two by one). `images`
        /// gets them one after the other, at most `capacity` of them. Errors: BAD_PARAMETER; INVALID_ARGUMENT:
        /// `capacity` is too small.
        plaq_path_images(steps: Array<i32>[length], length: i64, images: OutArray<i32>[capacity length], capacity: i64, count: Out<i64>) = images_of;
    }
}

/// Checks the steps of a path from the host: numbers from 0 to 7.
pub(crate) fn steps_of(numbers: &[i32]) -> Result<Vec<u8>> {
    let step = |&n: &i32| match u8::try_from(n) {
        Ok(step) if step < 8 => Ok(step),
        _ => refuse!(BadParameter, "steps", expected("0 to 7"), found("{n}")),
    };
    numbers.iter().map(step).collect()
}

pub(crate) fn paths_of(steps: &Array<i32>, lengths: &Array<i32>, count: i64) -> Result<Paths> {
    if !(1..=MAX_PATHS as i64).contains(&count) {
        refuse!(BadParameter, "count", expected("1 to {MAX_PATHS} paths"), found("{count}"));
    }
    let lengths = lengths.get(count as usize)?;
    if let Some(bad) = lengths.iter().find(|n| !(1..=LONGEST as i32).contains(n)) {
        refuse!(BadParameter, "lengths", expected("1 to {LONGEST}"), found("{bad}"));
    }
    let all = steps.get(lengths.iter().map(|&n| n as usize).sum())?;
    Paths::new(cut(&all, &lengths).into_iter().map(steps_of).collect::<Result<_>>()?)
}

/// Cuts `all`, in which lists stand one after the other, into the lists of these lengths.
fn cut<'a>(mut all: &'a [i32], lengths: &[i32]) -> Vec<&'a [i32]> {
    let mut piece = |n: &i32| {
        let (first, rest) = all.split_at(*n as usize);
        all = rest;
        first
    };
    lengths.iter().map(&mut piece).collect()
}

/// Largest number of steps of all lists of a call together.
const MAX_STEPS: i64 = 100_000;

/// Reads `count` lists of steps that stand one after the other, of at most `longest` steps each, if that is limited.
pub(crate) fn lists_of(
    (lengths, count): (&Array<i32>, usize),
    (steps, nsteps): (&Array<i32>, i64),
    longest: Option<usize>,
) -> Result<Vec<Vec<i32>>> {
    if !(0..=MAX_STEPS).contains(&nsteps) {
        let argument = format!("n{}", steps.name);
        refuse!(InvalidArgument, argument, expected("0 to {MAX_STEPS}"), found("{nsteps}"));
    }
    let argument = lengths.name;
    let lengths = lengths.get(count)?;
    let sum: i64 = lengths.iter().map(|&n| i64::from(n)).sum();
    let fits = |n: &i32| usize::try_from(*n).is_ok_and(|n| longest.is_none_or(|max| n <= max));
    if !lengths.iter().all(fits) || sum != nsteps {
        let range = longest.map_or("0 or more".to_string(), |most| format!("0 to {most}"));
        refuse!(
            InvalidArgument,
            argument,
            expected("{range} each, {nsteps} together"),
            found("{lengths:?}")
        );
    }
    let all = if sum == 0 { vec![] } else { steps.get(sum as usize)? };
    Ok(cut(&all, &lengths).into_iter().map(<[i32]>::to_vec).collect())
}

fn traces_of(
    gauge: &Arc<Gauge>,
    steps: &Array<i32>,
    lengths: &Array<i32>,
    count: i64,
    traces: &mut OutArray<f64>,
) -> Result<()> {
    let paths = paths_of(steps, lengths, count)?;
    let found = paths::traces(&*gauge.read("gauge")?, &paths)?;
    traces.set(found.iter().flat_map(|t| [t.re, t.im]).collect());
    Ok(())
}

fn force_of(gauge: &Gauge, paths: Paths, coefficients: &Array<f64>) -> Result<LoopForce> {
    let numbers = coefficients.get(paths.len())?;
    let action = LoopAction::new(paths, numbers)?;
    let links = gauge.read("gauge")?;
    LoopForce::new(links.device(), links.geometry(), links.precision(), action)
}

fn action_of(
    gauge: &Arc<Gauge>,
    steps: &Array<i32>,
    lengths: &Array<i32>,
    coefficients: &Array<f64>,
    count: i64,
    action: &mut Out<f64>,
) -> Result<()> {
    let mut force = force_of(gauge, paths_of(steps, lengths, count)?, coefficients)?;
    action.set(force.action(&*gauge.read("gauge")?)?);
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn force(
    gauge: &Arc<Gauge>,
    steps: &Array<i32>,
    lengths: &Array<i32>,
    coefficients: &Array<f64>,
    count: i64,
    momentum: &Arc<Momentum>,
    step: f64,
    report: &mut Report<plaq_force_report>,
) -> Result<()> {
    gauge.context().check_same(momentum.context(), "momentum")?;
    if !step.is_finite() {
        refuse!(InvalidArgument, "step", expected("a finite number"), found("{step}"));
    }
    let mut force = force_of(gauge, paths_of(steps, lengths, count)?, coefficients)?;
    let mut momenta = momentum.write("momentum")?;
    let done = force.kick(&*gauge.read("gauge")?, &mut momenta, 1.0, step)?;
    report.set(done.into());
    Ok(())
}

fn images_of(
    steps: &Array<i32>,
    length: i64,
    images: &mut OutArray<i32>,
    capacity: i64,
    count: &mut Out<i64>,
) -> Result<()> {
    if !(1..=LONGEST as i64).contains(&length) {
        refuse!(BadParameter, "length", expected("1 to {LONGEST} steps"), found("{length}"));
    }
    let found = paths::images(&steps_of(&steps.get(length as usize)?)?);
    if capacity < found.len() as i64 {
        refuse!(
            InvalidArgument,
            "capacity",
            expected("at least {}", found.len()),
            found("{capacity}")
        );
    }
    count.set(found.len() as i64);
    images.set(found.iter().flatten().map(|&s| i32::from(s)).collect());
    Ok(())
}
