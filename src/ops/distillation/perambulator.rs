//! Perambulators: quark propagators between the modes of two time slices.

use std::ops::ControlFlow;

use num_complex::Complex64;

use super::inverse::Inverse;
use super::modes::Modes;
use super::vectors::{self, place, portions, spinors, take};
use crate::bail;
use crate::compose::SolveReport;
use crate::error::Result;
use crate::fields::time_slices::{combine, dots, Combination};
use crate::fields::{blas, Components, GaugeField, Recon, SpinorField, VectorField, VectorSet};
use crate::linop::{LinOp as _, Shape};
use crate::operators::CovariantShift;
use crate::ops::gamma::{Gamma, SpinMatrix};
use crate::ops::links_mark::check_links;
use crate::ops::propagator::{check_time, solve_parts, Solves};
use crate::ops::source::{Sequential, COLUMNS};
use crate::refuse;
use crate::solvers::Monitor;

/// Scalar products v_i^dagger psi_j(t) for every spin of psi: [t][i][4 j + spin].
///
/// # Errors
/// `FieldMismatch`: not colour vectors and spinors on one lattice in one precision.
pub fn sink_products(v: &VectorField, psi: &SpinorField) -> Result<Vec<Complex64>> {
    dots(v, &take(psi)?)
}

/// Report on solves whose sources are modes.
pub struct Projected {
    pub report: SolveReport,
    /// True if all was computed; false if the monitor or the time limit ended the work.
    pub whole: bool,
}

/// Refuses a solver and modes that do not belong together.
pub(super) fn check_solver(
    solver: &dyn Inverse,
    modes: &Modes,
    columns: usize,
    at_once: usize,
) -> Result<()> {
    solver.check(columns, at_once)?;
    let (shape, links) = (solver.shape(), modes.links());
    if &shape.geometry != links.geometry() || &shape.device != links.device() {
        refuse!(
            FieldMismatch,
            "solver",
            expected("an operator on the lattice and device of the modes, {}", on(links)),
            found("{}", on(solver.links()))
        );
    }
    check_links(modes.mark(), "modes", solver.links(), "solver")
}

fn on(links: &GaugeField) -> String {
    let [x, y, z, t] = links.geometry().global_extents();
    let boundary = links.geometry().boundary();
    format!("{x} x {y} x {z} x {t} with {boundary} on {}", links.device().name())
}

/// Number of columns that are solved for together: `asked`, or if that is 0 as many as fit in memory with their
/// projections; the same on all ranks.
fn at_a_time(solver: &dyn Inverse, modes: &Modes, columns: usize, asked: usize) -> Result<usize> {
    let shape = solver.shape();
    if asked > 0 {
        return Ok(asked.min(columns));
    }
    let mut ways: Vec<usize> = (1..=COLUMNS).rev().filter(|n| COLUMNS.is_multiple_of(*n)).collect();
    ways.iter_mut().for_each(|n| *n = columns.min(*n));
    ways.dedup();
    let precision = modes.vectors().precision();
    let other = Shape { precision, ..shape.clone() };
    // Modes kept on the host are copied to the device for products with solutions, when solves are over.
    let waiting = modes.vectors().on_device() < modes.count();
    let colour = Shape { components: Components::COLOUR, ..other.clone() };
    let brought = if waiting { colour.bytes(vectors::VECTOR_BLOCK.min(modes.count())) } else { 0 };
    let need = |n: usize, solve: u64| solve.max(brought) + 2 * shape.bytes(n) + 2 * other.bytes(n);
    solver.fitting(&ways, &need)
}

/// Solves for columns in groups. `source(first, count)` makes sources in the modes' precision; `done` gets the
/// solutions of each group in that precision.
fn solve_modes(
    solver: &dyn Inverse,
    modes: &Modes,
    (columns, asked): (usize, usize),
    source: &dyn Fn(usize, usize) -> Result<SpinorField>,
    monitor: &mut Monitor,
    done: &mut dyn FnMut(usize, &SpinorField) -> Result<()>,
) -> Result<Projected> {
    check_solver(solver, modes, columns, asked)?;
    let shape = solver.shape();
    let precision = modes.vectors().precision();
    let at_once = at_a_time(solver, modes, columns, asked)?;
    let of_solver = |first: usize, count: usize| {
        let b = source(first, count)?;
        if b.precision() == shape.precision {
            return Ok(b);
        }
        let mut converted = shape.field(count)?;
        blas::copy(&mut converted, &b)?;
        Ok(converted)
    };
    let solutions = |_: usize, count: usize| shape.field(count);
    let mut solved = 0;
    let mut take = |first: usize, x: SpinorField, report: &SolveReport| {
        if report.solver.stopped {
            return Ok(ControlFlow::Break(()));
        }
        solved = first + x.nrhs();
        if x.precision() == precision {
            done(first, &x)?;
        } else {
            let mut converted = x.like(precision)?;
            blas::copy(&mut converted, &x)?;
            drop(x);
            done(first, &converted)?;
        }
        Ok(ControlFlow::Continue(()))
    };
    let by = Solves {
        seconds: solver.seconds(),
        solve: Box::new(|seconds, x, b, monitor| solver.solve(seconds, x, b, monitor)),
    };
    let report = solve_parts(&by, at_once, columns, (&of_solver, &solutions), monitor, &mut take)?;
    Ok(Projected { report, whole: solved == columns })
}

/// Sources of the modes of one time slice: column 4 k + s is mode k with spin s.
fn exact(modes: &Modes, time: usize, first: usize, count: usize) -> Result<SpinorField> {
    let lowest = first / 4;
    let some = modes.some(lowest, (first + count).div_ceil(4) - lowest)?;
    let mut from = vec![-1; 4 * count];
    for (column, number) in (first..first + count).enumerate() {
        from[4 * column + number % 4] = (number / 4 - lowest) as i32;
    }
    let b = spinors(&some, count)?;
    place(&b, &some, &from, Some(time))?;
    Ok(b)
}

/// Computes perambulators tau(t', t) = V(t')^dagger M^-1 V(t) for the given source times t, with M in the
/// normalisation of the solver. `each` is called with the source time's place in the list and the numbers
/// [t'][spin'][spin][mode'][mode], spins in the DeGrand-Rossi basis. Propagators are not stored. The report is that
/// of all solves; if the monitor or the time limit ends the work, `each` has been called for the source times that
/// are complete.
///
/// # Errors
/// `FieldMismatch`: modes of other links; `InvalidArgument`: a time outside of the lattice; errors of solves; what
/// `each` gives.
pub fn perambulators(
    solver: &dyn Inverse,
    modes: &Modes,
    times: &[usize],
    at_once: usize,
    monitor: &mut Monitor,
    each: &mut dyn FnMut(usize, Vec<Complex64>) -> Result<()>,
) -> Result<Projected> {
    if times.is_empty() {
        refuse!(InvalidArgument, "times", expected("at least one source time"), found("none"));
    }
    let geometry = modes.links().geometry();
    times.iter().try_for_each(|&t| check_time(geometry, t, "times"))?;
    let (n, mut total) = (modes.count(), None::<SolveReport>);
    let mut whole = true;
    for (index, &time) in times.iter().enumerate() {
        let mut tau = vec![Complex64::ZERO; 16 * n * n * modes.times()];
        let source = |first: usize, count: usize| exact(modes, time, first, count);
        let mut project = |first: usize, x: &SpinorField| {
            let found = modes.products(&take(x)?)?;
            for (k, products) in found.chunks(4 * x.nrhs()).enumerate() {
                let (t, a) = (k / n, k % n);
                for (number, of_spins) in (first..).zip(products.chunks(4)) {
                    let (b, s) = (number / 4, number % 4);
                    for (sink, z) in of_spins.iter().enumerate() {
                        tau[(((t * 4 + sink) * 4 + s) * n + a) * n + b] = *z;
                    }
                }
            }
            Ok(())
        };
        let done = solve_modes(solver, modes, (4 * n, at_once), &source, monitor, &mut project)?;
        total = Some(match total {
            Some(before) => before.join(done.report),
            None => done.report,
        });
        if !done.whole {
            whole = false;
            break;
        }
        each(index, tau)?;
    }
    match total {
        Some(report) => Ok(Projected { report, whole }),
        None => bail!(Internal, "perambulators: no source time"),
    }
}

/// Solves for sources that are combinations of modes and projects the solutions on the modes: `coefficients(first,
/// count)` returns [t][mode][column][spin] for a group of columns; the result is [column][t'][spin'][mode'] for all
/// columns.
pub(super) fn projected(
    solver: &dyn Inverse,
    modes: &Modes,
    (columns, at_once): (usize, usize),
    coefficients: &dyn Fn(usize, usize) -> Vec<Complex64>,
    monitor: &mut Monitor,
) -> Result<(Vec<Complex64>, Projected)> {
    let (n, times) = (modes.count(), modes.times());
    let mut all = vec![Complex64::ZERO; columns * times * 4 * n];
    let source = |first: usize, count: usize| {
        let w = combined(modes, &coefficients(first, count), 4 * count)?;
        let b = spinors(&w, count)?;
        place(&b, &w, &(0..4 * count as i32).collect::<Vec<_>>(), None)?;
        Ok(b)
    };
    let mut project = |first: usize, x: &SpinorField| {
        let (found, width) = (modes.products(&take(x)?)?, 4 * x.nrhs());
        for (at, z) in found.into_iter().enumerate() {
            let (t, a, column) = (at / (n * width), at / width % n, at % width);
            all[(((first + column / 4) * times + t) * 4 + column % 4) * n + a] = z;
        }
        Ok(())
    };
    let done = solve_modes(solver, modes, (columns, at_once), &source, monitor, &mut project)?;
    Ok((all, done))
}

/// Combinations sum_k v_k c_kj of modes for `columns` values of j, with coefficients [t][k][j].
fn combined(modes: &Modes, c: &[Complex64], columns: usize) -> Result<VectorField> {
    let n = modes.count();
    let mut w = vectors::colour_vectors(modes.vectors().first(), columns)?;
    for (first, count) in portions(n) {
        let part: Vec<Complex64> = c
            .chunks(n * columns)
            .flat_map(|slice| slice[first * columns..(first + count) * columns].iter().copied())
            .collect();
        combine(&mut w, &modes.some(first, count)?, &part, Combination::Add)?;
    }
    Ok(w)
}

/// An operator inserted between source and sink: sum_x exp(i q x) qbar(x) Gamma [shift along the path] q(x), q_i = 2
/// pi n_i / L_i, with the links of the quark's operator; an empty path is no shift. Steps are spatial ones of
/// [`CovariantShift`].
#[derive(Clone, Debug, PartialEq)]
pub struct Insertion {
    pub gamma: Gamma,
    pub path: Vec<u8>,
    pub momentum: [i32; 3],
}

impl Insertion {
    /// Gamma, momentum and path in words, by which files know the insertion.
    pub(super) fn words(&self) -> String {
        let [x, y, z] = self.momentum;
        let step = |&step: &u8| match step {
            0..4 => format!(" +{}", ["x", "y", "z", "t"][usize::from(step)]),
            _ => format!(" -{}", ["x", "y", "z", "t"][usize::from(7 - step.min(7))]),
        };
        let path: String = self.path.iter().map(step).collect();
        format!("{} {x},{y},{z}{path}", self.gamma.name())
    }
}

/// Generalised perambulators V(t1)^dagger M^-1 O(t) M^-1 V(t0) for source time t0, every sink time t1, every
/// insertion O and all times t of it: [sink time][insertion][t][spin'][spin][mode'][mode]. Propagators from the sinks
/// follow from those of sources there by gamma5-hermiticity, with twisted mass mu from those of the flavour with -mu;
/// they are kept in memory, and the propagator of the source is computed once.
///
/// # Errors
/// `Unsupported`: M is not gamma5-hermitian, with the other sign of mu; errors of [`perambulators`].
pub fn generalised(
    solver: &dyn Inverse,
    modes: &Modes,
    (source_time, sink_times): (usize, &[usize]),
    insertions: &[Insertion],
    at_once: usize,
    monitor: &mut Monitor,
) -> Result<(Vec<Complex64>, Projected)> {
    let geometry = modes.links().geometry();
    check_time(geometry, source_time, "source_time")?;
    sink_times.iter().try_for_each(|&t| check_time(geometry, t, "sink_times"))?;
    if sink_times.is_empty() {
        refuse!(InvalidArgument, "sink_times", expected("at least one"), found("none"));
    }
    if let Some(step) =
        insertions.iter().flat_map(|o| &o.path).find(|&&step| step == 3 || step == 4)
    {
        refuse!(
            Unsupported,
            "insertions",
            expected("steps in space"),
            found("{step}, a step in time")
        );
    }
    let n = modes.count();
    check_solver(solver, modes, 4 * n, at_once)?;
    let other = solver.of_sinks()?;
    let of_sinks: &dyn Inverse = match &other {
        Some(other) => &**other,
        None => solver,
    };
    let columns = 4 * n * sink_times.len();
    let mut kept = VectorSet::fitting(&spinors(modes.vectors().first(), 1)?, columns)?;
    let times = modes.times();
    let each = insertions.len() * times * 16 * n * n;
    let mut all = vec![Complex64::ZERO; sink_times.len() * each];
    let mut before: Option<SolveReport> = None;
    for (k, &time) in sink_times.iter().enumerate() {
        let source = |first: usize, count: usize| exact(modes, time, first, count);
        let mut keep = |first: usize, x: &SpinorField| kept.put(4 * n * k + first, x, 0, x.nrhs());
        let done = solve_modes(of_sinks, modes, (4 * n, at_once), &source, monitor, &mut keep)?;
        let report = match before.take() {
            Some(before) => before.join(done.report),
            None => done.report,
        };
        if !done.whole {
            return Ok((all, Projected { report, whole: false }));
        }
        before = Some(report);
    }
    let precision = modes.vectors().precision();
    let links = solver.links().shared_copy(precision, Recon::R12)?;
    let source = |first: usize, count: usize| exact(modes, source_time, first, count);
    let mut contract = |first: usize, x: &SpinorField| {
        for (index, insertion) in insertions.iter().enumerate() {
            let shifted = match insertion.path.is_empty() {
                true => None,
                false => {
                    let mut y = x.like(precision)?;
                    let path = insertion.path.clone();
                    CovariantShift::new(links.clone(), x.components(), path)?.apply(&mut y, x)?;
                    Some(y)
                }
            };
            let mut y = x.like(precision)?;
            let (gamma, momentum) = (insertion.gamma, insertion.momentum);
            Sequential { time: None, gamma, momentum, origin: [0; 3] }
                .set(&mut y, shifted.as_ref().unwrap_or(x))?;
            let w = take(&y)?;
            for (sink, count) in portions(columns) {
                let products = spin_products(&take(&kept.view(sink..sink + count)?)?, &w)?;
                for (at, z) in products.into_iter().enumerate() {
                    // Index of a product: [t][sink column 4 a + s'][sink's spin r][source column]; gamma5 multiplies
                    // the sink's propagator on both sides, for spins s' and r.
                    let width = 4 * count * x.nrhs();
                    let (t, i, j) = (at / width, at / x.nrhs() % (4 * count), at % x.nrhs());
                    let (column, spin) = ((sink + i / 4) % (4 * n), i % 4);
                    let index = (sink + i / 4) / (4 * n) * insertions.len() + index;
                    let (a, s_sink) = (column / 4, column % 4);
                    let (b, s) = ((first + j) / 4, (first + j) % 4);
                    let at = (((index * times + t) * 4 + s_sink) * 4 + s) * n + a;
                    all[at * n + b] += five(s_sink) * five(spin) * z;
                }
            }
        }
        Ok(())
    };
    let done = solve_modes(solver, modes, (4 * n, at_once), &source, monitor, &mut contract)?;
    let report = match before {
        Some(before) => before.join(done.report),
        None => done.report,
    };
    Ok((all, Projected { report, whole: done.whole }))
}

/// Diagonal element of gamma5, which is diagonal in the DeGrand-Rossi basis.
fn five(spin: usize) -> f64 {
    SpinMatrix::gamma5().entry(spin).re
}

/// Scalar products v_i^dagger w_j spin by spin, for colour vectors 4 i + r and 4 j + r: [t][i][r][j].
fn spin_products(v: &VectorField, w: &VectorField) -> Result<Vec<Complex64>> {
    let (rows, columns) = (v.nrhs(), w.nrhs());
    let all = dots(v, w)?;
    let picked = all.chunks(rows * columns).flat_map(|slice| {
        (0..rows)
            .flat_map(move |i| (0..columns / 4).map(move |j| slice[i * columns + 4 * j + i % 4]))
    });
    Ok(picked.collect())
}
