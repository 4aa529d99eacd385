//! Distillation: modes of the Laplacian of time slices, and quark propagators and operators in their space.

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use num_complex::Complex64;

use super::args::{
    choose, Array, Handle, Local, MaybeArray, One, OptionalHandle, Out, OutArray, Params, Raw,
    Report, Text, TextOut,
};
use super::context::Context;
use super::contract::triples;
use super::gauge::{plaq_gauge, Gauge};
use super::handles;
use super::path::{lists_of, steps_of};
use super::progress::watch;
use super::solve::{plaq_progress_callback, plaq_solve_report, plaq_solver, Solver};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::bail;
use crate::error::{Error, Result};
use crate::fields::{GammaBasis, GaugeField};
use crate::ops::distillation::elementals::{
    baryon_count, baryon_elementals, meson_elementals, Step,
};
use crate::ops::distillation::file::{about_quarks, json, write, ElementalsOf, PerambulatorFile};
use crate::ops::distillation::if_exists::IfExists;
use crate::ops::distillation::meson::{correlator, Side};
pub use crate::ops::distillation::modes::plaq_modes_params;
use crate::ops::distillation::modes::{plaq_modes_report, Modes, ModesSettings};
pub use crate::ops::distillation::noise::plaq_modes_noise_params;
use crate::ops::distillation::noise::{Dilution, NoiseInModes};
use crate::ops::distillation::perambulator::{generalised, perambulators, Insertion, Projected};
use crate::ops::gamma::Gamma;
use crate::params::{InC, Number, ToC as _};
use crate::refuse;
use crate::solvers::SolverKind;

/// The object behind the handle `plaq_modes`.
pub struct ModesObject {
    context: Arc<Context>,
    modes: Modes,
}

impl ModesObject {
    fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

interface! {
    "Distillation"
    handles {
        /// Modes of -D^2 on every time slice, where D^2 is the covariant second difference in x, y and z: mode k
        /// holds eigenvector k of every slice, each normalised to 1. The component of colour 0 at the site 0, 0, 0 of
        /// a slice is real and positive; if it is almost zero that of colour 1, or 2; if all three are, the phase is
        /// unspecified.
        plaq_modes: ModesObject = 23,
    }
    choices {
        plaq_modes_dilution = Dilution;
        plaq_modes_step = Step;
        plaq_if_exists = IfExists;
    }
    tables {
        plaq_modes_params, plaq_modes_params_init;
        plaq_modes_noise_params, plaq_modes_noise_params_init;
    }
    reported {
        plaq_modes_report, plaq_modes_report_init;
    }
    functions {
        /// Finds modes on the links of `gauge` (SU(3)), smeared as `params` say, or on links `smeared` that the
        /// caller made from them; zero handle: none. The callback is called after every restart, and some ten
        /// times a second between, with the largest residual known. A search that has not converged is not an error. Errors: BAD_PARAMETER (more modes than a slice
        /// has), UNSUPPORTED, FIELD_MISMATCH, OUT_OF_MEMORY.
        plaq_modes_create(gauge: Handle<plaq_gauge>, smeared: OptionalHandle<plaq_gauge>, params: Params<plaq_modes_params>, callback: Raw<plaq_progress_callback>, user: *mut c_void, modes: Out<plaq_modes>, report: Report<plaq_modes_report>) = create;
        /// Gives the memory in bytes that plaq_modes_create takes on a rank with these parameters: device memory at
        /// the peak of the search, besides the links of `gauge`; that of the modes afterwards; the host's memory for
        /// modes that are not on the device; and the number of time slices that are searched together. Errors:
        /// BAD_PARAMETER, OUT_OF_MEMORY: it will not fit.
        plaq_modes_memory(gauge: Handle<plaq_gauge>, params: Params<plaq_modes_params>, search: Out<i64>, device: Out<i64>, host: Out<i64>, slices: Out<i64>) = memory_of;
        /// Writes modes to a file: SciDAC records in LIME with checksums, with eigenvalues, smearing and the averages
        /// that identify the links; or, if the name ends with .h5 or .hdf5, the same by libhdf5, with modes as
        /// datasets "modes/0", "modes/1", ... [t][z][y][x][colour]. The file appears complete or not at all. Errors:
        /// FILE_WRITE: also if the file exists and is not to be overwritten; UNSUPPORTED: no libhdf5, or
        /// PLAQ_IF_EXISTS_APPEND.
        plaq_modes_write(modes: Handle<plaq_modes>, file: Text, if_exists: One<IfExists>) = save;
        /// Reads modes of the links of `gauge` from a file of plaq_modes_write; `smeared` as in plaq_modes_create,
        /// without it the links are smeared as the file says. Errors: FIELD_MISMATCH: they belong to other links;
        /// FILE_*.
        plaq_modes_read(gauge: Handle<plaq_gauge>, smeared: OptionalHandle<plaq_gauge>, file: Text, modes: Out<plaq_modes>, report: Report<plaq_modes_report>) = load;
        /// Destroys modes. The zero handle is accepted.
        plaq_modes_destroy(modes: Raw<plaq_modes>) = destroy;
        /// Describes modes and their links; seconds, restarts and applications of the search are 0 if the modes
        /// were read from a file.
        plaq_modes_describe(modes: Local<plaq_modes>, report: Report<plaq_modes_report>) = describe;
        /// Gives eigenvalues, ascending on each slice, [t][mode], and residuals |D^2 v + lambda v|; `count`: modes
        /// times slices of the whole lattice. `next`: for each slice the eigenvalue after the last one, as far as it
        /// is known, infinite if there is none; it tells whether a degenerate level is complete. `residuals` and
        /// `next` may be NULL.
        plaq_modes_values(modes: Handle<plaq_modes>, values: OutArray<f64>[count], residuals: MaybeArray<f64>[count], count: i64, next: MaybeArray<f64>[times], times: i64) = values_of;
        /// Makes a field of colour vectors with `count` modes, from number `first` on.
        plaq_modes_vectors(modes: Handle<plaq_modes>, first: i64, count: i64, vectors: Out<plaq_spinor>) = vectors_of;
        /// Computes perambulators tau(t', t) = V(t')^dagger M^-1 V(t) for source times `times`, M in the
        /// normalisation of the solver, which may be one of plaq_solver_create_overlap, too: complex numbers [time][t'][spin'][spin][mode'][mode], with t' all times of
        /// the whole lattice and spins in the DeGrand-Rossi basis; `count`: their number. Propagators are not stored.
        /// `finished`: number of source times that are complete: all, unless the callback or the solver's
        /// `max_seconds` end the work; numbers of the others are 0. Errors: FIELD_MISMATCH (modes of other links),
        /// INVALID_ARGUMENT, UNSUPPORTED, those of plaq_solver_solve.
        plaq_modes_perambulators(modes: Handle<plaq_modes>, solver: Handle<plaq_solver>, times: Array<i32>[ntimes], ntimes: i64, callback: Raw<plaq_progress_callback>, user: *mut c_void, perambulators: OutArray<f64>[2 count], count: i64, finished: Out<i64>, report: Report<plaq_solve_report>) = perambulators_of;
        /// Gives the attributes that identify perambulators of these modes and this solver in files, or without a
        /// solver the modes, as a JSON object.
        plaq_modes_about(modes: Handle<plaq_modes>, solver: OptionalHandle<plaq_solver>, about: TextOut, capacity: i64) = about_of;
        /// Solves for the perambulators of those source times `times` that a group of an HDF5 file lacks, and adds
        /// each as soon as it is complete: datasets "GROUP/t0", "GROUP/t4", ... of complex numbers
        /// [t'][spin'][spin][mode'][mode] with the attributes of plaq_modes_about, `tol` and `source_time`, spins in
        /// the basis `spin_basis`; the file is made if it does not exist. A solve that has not converged is not
        /// written and ends the work. `finished`: number of source times in the file afterwards. libhdf5 is opened at run time (PLAQ_HDF5, its full path).
        /// Errors: FIELD_MISMATCH: those of the file are of other modes, links or quarks, or were solved to a larger
        /// tolerance; UNSUPPORTED: no libhdf5; FILE_*, those of plaq_modes_perambulators.
        plaq_modes_write_perambulators(modes: Handle<plaq_modes>, solver: Handle<plaq_solver>, times: Array<i32>[ntimes], ntimes: i64, file: Text, group: Text, spin_basis: One<GammaBasis>, callback: Raw<plaq_progress_callback>, user: *mut c_void, finished: Out<i64>, report: Report<plaq_solve_report>) = write_perambulators;
        /// Computes generalised perambulators V(t1)^dagger M^-1 O(t) M^-1 V(t0), O(t) = sum_x exp(i q x) Gamma [shift
        /// along a path], for source time t0, sink times t1 and all times t: complex numbers [sink
        /// time][insertion][t][spin'][spin][mode'][mode]; `count`: their number. The columns of the source are solved
        /// for once. `gammas`, `momenta` (n_x, n_y, n_z, q_i = 2 pi n_i / L_i) and `lengths` of paths: one for each
        /// insertion; `steps`: spatial steps of all paths one after the other, as in plaq_spinor_shift. M must be
        /// gamma5-hermitian. `finished`: 1, or 0 if the work was ended early. Errors: those of
        /// plaq_modes_perambulators.
        plaq_modes_generalised_perambulators(modes: Handle<plaq_modes>, solver: Handle<plaq_solver>, source_time: i32, sink_times: Array<i32>[nsinks], nsinks: i64, gammas: Array<i32>[insertions], momenta: Array<i32>[3 insertions], lengths: Array<i32>[insertions], insertions: i64, steps: Array<i32>[nsteps], nsteps: i64, callback: Raw<plaq_progress_callback>, user: *mut c_void, perambulators: OutArray<f64>[2 count], count: i64, finished: Out<i64>, report: Report<plaq_solve_report>) = generalised_of;
        /// Gives the number of columns of noise in the space of modes.
        plaq_modes_noise_columns(modes: Handle<plaq_modes>, params: Params<plaq_modes_noise_params>, columns: Out<i64>) = noise_columns;
        /// Gives noise in the space of modes as complex numbers [column][t][spin][mode]; `count`: their number.
        plaq_modes_noise(modes: Handle<plaq_modes>, params: Params<plaq_modes_noise_params>, numbers: OutArray<f64>[2 count], count: i64) = noise_of;
        /// Solves for noise sources b and projects on the modes, V(t')^dagger M^-1 b: complex numbers
        /// [column][t'][spin'][mode']; `count`: their number. `finished`: 1, or 0 if the work was ended early.
        /// Errors: those of plaq_modes_perambulators.
        plaq_modes_solve_noise(modes: Handle<plaq_modes>, solver: Handle<plaq_solver>, params: Params<plaq_modes_noise_params>, callback: Raw<plaq_progress_callback>, user: *mut c_void, numbers: OutArray<f64>[2 count], count: i64, finished: Out<i64>, report: Report<plaq_solve_report>) = solve_noise;
        /// Computes meson elementals Phi_ab(p) = sum_x exp(-i p x) u_a(x)^dagger [O v_b](x), where O is made of the
        /// links of the Laplacian of v. u are the modes `left`, for example those of the antiquark's moving frame;
        /// zero handle: the same as v. The result is complex numbers [momentum][operator][t][a][b]; `count`: their
        /// number. Operator i has `lengths[i]` steps (plaq_modes_step), of which the last acts first; `steps` holds
        /// those of all operators one after the other.
        plaq_modes_meson_elementals(modes: Handle<plaq_modes>, left: OptionalHandle<plaq_modes>, lengths: Array<i32>[operators], operators: i64, steps: Array<i32>[nsteps], nsteps: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, elementals: OutArray<f64>[2 count], count: i64) = meson_elementals_of;
        /// Computes baryon elementals B_abc(p) = sum_x exp(-i p x) eps_ijk [O_1 v_a]^i [O_2 v_b]^j [O_3 v_c]^k:
        /// complex numbers [momentum][t][a][b][c]; if no operator has steps only those with a < b < c, c fastest, as
        /// the others differ by signs. `count`: their number. `lengths` and `steps` of the three operators as in
        /// plaq_modes_meson_elementals.
        plaq_modes_baryon_elementals(modes: Handle<plaq_modes>, lengths: Array<i32>[3], steps: Array<i32>[nsteps], nsteps: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, elementals: OutArray<f64>[2 count], count: i64) = baryon_elementals_of;
        /// Writes eigenvalues, residuals and elementals to an HDF5 file: `values` and `residuals` [t][mode], `mesons`
        /// [momentum][operator][t][a][b] as in plaq_modes_meson_elementals, and `baryons` as in
        /// plaq_modes_baryon_elementals, [momentum][t][a < b < c] or with steps [momentum][t][a][b][c], with attributes
        /// that identify the modes: the datasets of `plaq distillation`. The argument `baryons` is the number of
        /// operators on the quarks of baryons, whose steps `baryon_lengths` and `baryon_steps` hold: 3, or 0 for no
        /// baryons; fewer than three modes make none. Errors: INVALID_ARGUMENT; FILE_WRITE: also if the file exists
        /// and that is to be refused; UNSUPPORTED: no libhdf5.
        plaq_modes_write_elementals(modes: Handle<plaq_modes>, left: OptionalHandle<plaq_modes>, lengths: Array<i32>[operators], operators: i64, steps: Array<i32>[nsteps], nsteps: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, baryon_lengths: Array<i32>[baryons], baryons: i64, baryon_steps: Array<i32>[nbaryon_steps], nbaryon_steps: i64, file: Text, if_exists: One<IfExists>) = write_elementals;
        /// Contracts connected two-point functions of mesons: for each pair of Gammas at sink and source a complex
        /// number for every time from the source. Input are perambulators of one source time,
        /// [t'][spin'][spin][mode'][mode] (that of the antiquark last), and elementals [t][a][b] at the sink and
        /// [a][b] at the source: C(t) = -tr[(Gamma_A x Phi_A(t')) tau(t', t0) (gamma_t Gamma_B^dagger gamma_t x
        /// Phi_B(t0)^dagger) gamma5 tau'(t', t0)^dagger gamma5], t' = t0 + t.
        plaq_modes_mesons(quark: Array<f64>[32 modes modes times], antiquark: Array<f64>[32 modes modes times], modes: i64, times: i64, source_time: i64, sink: Array<f64>[2 modes modes times], source: Array<f64>[2 modes modes], gammas: Array<i32>[2 pairs], pairs: i64, correlators: OutArray<f64>[2 times pairs]) = mesons_of;
    }
}

fn create(
    gauge: &Arc<Gauge>,
    smeared: Option<&Arc<Gauge>>,
    params: &plaq_modes_params,
    callback: plaq_progress_callback,
    user: *mut c_void,
    out: &mut Out<plaq_modes>,
    report: &mut Report<plaq_modes_report>,
) -> Result<()> {
    let context = gauge.context();
    let settings = ModesSettings::from_c(params, "params")?;
    let own = own_links(gauge, smeared)?;
    let links = gauge.read("gauge")?;
    let mut monitor = watch(context.comm(), callback, user);
    let modes = Modes::new(&links, own.as_deref(), &settings, &mut monitor)?;
    log::info!(
        "modes: {} on each of {} time slices, {} restarts, {:.3} s",
        modes.count(),
        modes.times(),
        modes.search().restarts,
        modes.search().seconds
    );
    report.set(modes.report().to_c());
    out.set(context.adopt(ModesObject { context: context.clone(), modes })?);
    Ok(())
}

fn memory_of(
    gauge: &Arc<Gauge>,
    params: &plaq_modes_params,
    search: &mut Out<i64>,
    device: &mut Out<i64>,
    host: &mut Out<i64>,
    slices: &mut Out<i64>,
) -> Result<()> {
    let settings = ModesSettings::from_c(params, "params")?;
    let found = Modes::memory(&*gauge.read("gauge")?, &settings)?;
    search.set(found.search as i64);
    device.set(found.device as i64);
    host.set(found.host as i64);
    slices.set(found.slices as i64);
    Ok(())
}

fn own_links(gauge: &Arc<Gauge>, smeared: Option<&Arc<Gauge>>) -> Result<Option<Arc<GaugeField>>> {
    let Some(smeared) = smeared else { return Ok(None) };
    gauge.context().check_same(smeared.context(), "smeared")?;
    smeared.read("smeared").map(Some)
}

fn save(modes: &Arc<ModesObject>, file: &str, if_exists: IfExists) -> Result<()> {
    modes.modes.save(Path::new(file), if_exists)
}

fn load(
    gauge: &Arc<Gauge>,
    smeared: Option<&Arc<Gauge>>,
    file: &str,
    out: &mut Out<plaq_modes>,
    report: &mut Report<plaq_modes_report>,
) -> Result<()> {
    let context = gauge.context();
    let own = own_links(gauge, smeared)?;
    let modes = Modes::load(Path::new(file), &*gauge.read("gauge")?, own.as_deref())?;
    report.set(modes.report().to_c());
    out.set(context.adopt(ModesObject { context: context.clone(), modes })?);
    Ok(())
}

fn destroy(modes: plaq_modes) -> Result<()> {
    handles::remove(modes, "modes")
}

fn describe(modes: &Arc<ModesObject>, report: &mut Report<plaq_modes_report>) -> Result<()> {
    report.set(modes.modes.report().to_c());
    Ok(())
}

/// Refuses an array whose size `count` is not `expected`.
fn sized(count: i64, expected: usize) -> Result<()> {
    if count != expected as i64 {
        refuse!(InvalidArgument, "count", expected("{expected}"), found("{count}"));
    }
    Ok(())
}

/// Checks a count that C passes: from `least` to 100000.
fn number(n: i64, argument: &str, least: i64) -> Result<usize> {
    if !(least..=100_000).contains(&n) {
        refuse!(InvalidArgument, "{argument}", expected("{least} to 100000"), found("{n}"));
    }
    Ok(n as usize)
}

fn reals(all: &[Complex64]) -> Vec<f64> {
    bytemuck::cast_slice(all).to_vec()
}

fn values_of(
    modes: &Arc<ModesObject>,
    values: &mut OutArray<f64>,
    residuals: &mut MaybeArray<f64>,
    count: i64,
    next: &mut MaybeArray<f64>,
    times: i64,
) -> Result<()> {
    let modes = &modes.modes;
    sized(count, modes.values().len())?;
    if times != modes.times() as i64 {
        refuse!(InvalidArgument, "times", expected("{}", modes.times()), found("{times}"));
    }
    values.set(modes.values().to_vec());
    residuals.set(modes.residuals().to_vec());
    next.set(modes.beyond().to_vec());
    Ok(())
}

fn vectors_of(
    modes: &Arc<ModesObject>,
    first: i64,
    count: i64,
    vectors: &mut Out<plaq_spinor>,
) -> Result<()> {
    let all = modes.modes.count() as i64;
    if first < 0 || count < 1 || first.checked_add(count).is_none_or(|end| end > all) {
        refuse!(
            InvalidArgument,
            "first, count",
            expected("a part of {all} modes"),
            found("{count} from {first} on")
        );
    }
    let some = modes.modes.vectors().get(first as usize, count as usize)?;
    vectors.set(modes.context.adopt(Spinor::new(&modes.context, some))?);
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn perambulators_of(
    modes: &Arc<ModesObject>,
    solver: &Arc<Solver>,
    times: &Array<i32>,
    ntimes: i64,
    callback: plaq_progress_callback,
    user: *mut c_void,
    numbers: &mut OutArray<f64>,
    count: i64,
    finished: &mut Out<i64>,
    report: &mut Report<plaq_solve_report>,
) -> Result<()> {
    modes.context.check_same(solver.context(), "solver")?;
    let from = times_of((times, "times"), (ntimes, "ntimes"), modes.modes.times())?;
    let modes = &modes.modes;
    let each = 16 * modes.count() * modes.count() * modes.times();
    sized(count, from.len() * each)?;
    let mut all = vec![0.0; 2 * from.len() * each];
    let mut done = 0;
    let mut keep = |index: usize, tau: Vec<Complex64>| {
        all[2 * index * each..2 * (index + 1) * each].copy_from_slice(bytemuck::cast_slice(&tau));
        done += 1;
        Ok(())
    };
    let mut told = watch(solver.context().comm(), callback, user);
    let (columns, at_once) = (4 * modes.count() * from.len(), solver.columns());
    let solved = solver.with_inverse(columns, |inverse| {
        let solved = perambulators(inverse, modes, &from, at_once, &mut told, &mut keep)?;
        Ok(solved.report.totals(inverse.kind()))
    })?;
    finished.set(done);
    numbers.set(all);
    report.set(solved.to_c());
    Ok(())
}

fn about_of(
    modes: &Arc<ModesObject>,
    solver: Option<&Arc<Solver>>,
    about: &mut TextOut,
    capacity: i64,
) -> Result<()> {
    let known_by = match solver {
        None => modes.modes.about(),
        Some(solver) => {
            modes.context.check_same(solver.context(), "solver")?;
            let basis = GammaBasis::DeGrandRossi;
            solver.with_inverse(1, |inverse| about_quarks(&modes.modes, inverse, basis))?
        }
    };
    about.set(&json(&known_by), capacity)
}

#[allow(clippy::too_many_arguments)]
fn write_perambulators(
    modes: &Arc<ModesObject>,
    solver: &Arc<Solver>,
    times: &Array<i32>,
    ntimes: i64,
    file: &str,
    group: &str,
    basis: GammaBasis,
    callback: plaq_progress_callback,
    user: *mut c_void,
    finished: &mut Out<i64>,
    report: &mut Report<plaq_solve_report>,
) -> Result<()> {
    modes.context.check_same(solver.context(), "solver")?;
    let from = times_of((times, "times"), (ntimes, "ntimes"), modes.modes.times())?;
    let (mut told, modes) = (watch(solver.context().comm(), callback, user), &modes.modes);
    let (columns, at_once) = (4 * modes.count() * from.len(), solver.columns());
    let (have, done) = solver.with_inverse(columns, |inverse| {
        let to = PerambulatorFile::new((Path::new(file), group), modes, inverse, basis)?;
        let (have, done) = to.complete(&from, at_once, &mut told)?;
        Ok((have, done.map(|done| done.report.totals(inverse.kind()))))
    })?;
    finished.set(have as i64);
    report.set(done.map_or_else(Default::default, |done| done.to_c()));
    Ok(())
}

/// Reads numbers of time slices from C and refuses those outside of a lattice of this extent in time.
fn times_of(
    (times, name): (&Array<i32>, &str),
    (count, counts): (i64, &str),
    extent: usize,
) -> Result<Vec<usize>> {
    let all = times.get(number(count, counts, 1)?)?;
    if let Some(k) = (1..all.len()).find(|&k| all[..k].contains(&all[k])) {
        refuse!(InvalidArgument, "{name}", expected("each time once"), found("{} twice", all[k]));
    }
    all.into_iter().map(|t| time_slice(t, name, extent)).collect()
}

/// Checks the number of a time slice from C: from 0 to `extent` - 1.
fn time_slice(t: impl Into<i64>, name: &str, extent: usize) -> Result<usize> {
    let t = t.into();
    match usize::try_from(t) {
        Ok(t) if t < extent => Ok(t),
        _ => refuse!(InvalidArgument, "{name}", expected("0 to {}", extent - 1), found("{t}")),
    }
}

/// The operators whose numbers of steps are the first `count` of `lengths`, with their steps one after the other.
fn operators_of(
    (lengths, count): (&Array<i32>, usize),
    (steps, nsteps): (&Array<i32>, i64),
) -> Result<Vec<Vec<Step>>> {
    let one = |numbers: Vec<i32>| -> Result<Vec<Step>> {
        numbers.into_iter().map(|n| choose(Number::new(n), steps.name)).collect()
    };
    lists_of((lengths, count), (steps, nsteps), None)?.into_iter().map(one).collect()
}

/// The operators on the three quarks of baryons, given as in [`operators_of`].
fn quarks_of(lengths: &Array<i32>, steps: (&Array<i32>, i64)) -> Result<[Vec<Step>; 3]> {
    let Ok(operators) = operators_of((lengths, 3), steps)?.try_into() else {
        bail!(Internal, "baryons: expected three operators");
    };
    Ok(operators)
}

#[allow(clippy::too_many_arguments)]
fn generalised_of(
    modes: &Arc<ModesObject>,
    solver: &Arc<Solver>,
    source_time: i32,
    sink_times: &Array<i32>,
    nsinks: i64,
    gammas: &Array<i32>,
    momenta: &Array<i32>,
    lengths: &Array<i32>,
    ninsertions: i64,
    steps: &Array<i32>,
    nsteps: i64,
    callback: plaq_progress_callback,
    user: *mut c_void,
    numbers: &mut OutArray<f64>,
    count: i64,
    finished: &mut Out<i64>,
    report: &mut Report<plaq_solve_report>,
) -> Result<()> {
    modes.context.check_same(solver.context(), "solver")?;
    let n = number(ninsertions, "insertions", 1)?;
    let gammas: Result<Vec<Gamma>> = gammas.get(n)?.into_iter().map(Gamma::new).collect();
    let momenta = triples(momenta, ninsertions)?;
    let mut insertions = vec![];
    for ((gamma, momentum), path) in
        gammas?.into_iter().zip(momenta).zip(lists_of((lengths, n), (steps, nsteps), None)?)
    {
        insertions.push(Insertion { gamma, momentum, path: steps_of(&path)? });
    }
    let modes = &modes.modes;
    let sinks = times_of((sink_times, "sink_times"), (nsinks, "nsinks"), modes.times())?;
    sized(count, sinks.len() * n * 16 * modes.count() * modes.count() * modes.times())?;
    let times = (time_slice(source_time, "source_time", modes.times())?, &sinks[..]);
    let mut told = watch(solver.context().comm(), callback, user);
    let (columns, at_once) = (4 * modes.count() * (1 + sinks.len()), solver.columns());
    let (found, kind) = solver.with_inverse(columns, |inverse| {
        let found = generalised(inverse, modes, times, &insertions, at_once, &mut told)?;
        Ok((found, inverse.kind()))
    })?;
    set(found, kind, numbers, finished, report);
    Ok(())
}

fn set(
    (all, done): (Vec<Complex64>, Projected),
    kind: SolverKind,
    numbers: &mut OutArray<f64>,
    finished: &mut Out<i64>,
    report: &mut Report<plaq_solve_report>,
) {
    finished.set(done.whole as i64);
    numbers.set(reals(&all));
    report.set(done.report.totals(kind).to_c());
}

fn noise(params: &plaq_modes_noise_params) -> Result<NoiseInModes> {
    NoiseInModes::from_c(params, "params")
}

fn noise_columns(
    modes: &Arc<ModesObject>,
    params: &plaq_modes_noise_params,
    columns: &mut Out<i64>,
) -> Result<()> {
    columns.set(noise(params)?.columns(&modes.modes)? as i64);
    Ok(())
}

fn noise_of(
    modes: &Arc<ModesObject>,
    params: &plaq_modes_noise_params,
    numbers: &mut OutArray<f64>,
    count: i64,
) -> Result<()> {
    let (source, modes) = (noise(params)?, &modes.modes);
    sized(count, source.columns(modes)? * 4 * modes.times() * modes.count())?;
    numbers.set(reals(&source.coefficients(modes)?));
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn solve_noise(
    modes: &Arc<ModesObject>,
    solver: &Arc<Solver>,
    params: &plaq_modes_noise_params,
    callback: plaq_progress_callback,
    user: *mut c_void,
    numbers: &mut OutArray<f64>,
    count: i64,
    finished: &mut Out<i64>,
    report: &mut Report<plaq_solve_report>,
) -> Result<()> {
    modes.context.check_same(solver.context(), "solver")?;
    let (source, modes) = (noise(params)?, &modes.modes);
    let columns = source.columns(modes)?;
    sized(count, columns * 4 * modes.times() * modes.count())?;
    let mut told = watch(solver.context().comm(), callback, user);
    let (found, kind) = solver.with_inverse(columns, |inverse| {
        let found = source.solved(inverse, modes, solver.columns(), &mut told)?;
        Ok((found, inverse.kind()))
    })?;
    set(found, kind, numbers, finished, report);
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn meson_elementals_of(
    modes: &Arc<ModesObject>,
    left: Option<&Arc<ModesObject>>,
    lengths: &Array<i32>,
    noperators: i64,
    steps: &Array<i32>,
    nsteps: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    numbers: &mut OutArray<f64>,
    count: i64,
) -> Result<()> {
    if let Some(left) = left {
        modes.context.check_same(&left.context, "left")?;
    }
    let modes = &modes.modes;
    let left = left.map_or(modes, |left| &left.modes);
    let n = number(noperators, "operators", 1)?;
    let operators = operators_of((lengths, n), (steps, nsteps))?;
    let momenta = triples(momenta, nmomenta)?;
    sized(count, momenta.len() * n * modes.times() * left.count() * modes.count())?;
    numbers.set(reals(&meson_elementals(left, modes, &operators, &momenta)?));
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn baryon_elementals_of(
    modes: &Arc<ModesObject>,
    lengths: &Array<i32>,
    steps: &Array<i32>,
    nsteps: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    numbers: &mut OutArray<f64>,
    count: i64,
) -> Result<()> {
    let modes = &modes.modes;
    let operators = quarks_of(lengths, (steps, nsteps))?;
    let momenta = triples(momenta, nmomenta)?;
    sized(count, momenta.len() * modes.times() * baryon_count(modes.count(), &operators))?;
    numbers.set(reals(&baryon_elementals(modes, &operators, &momenta)?));
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn write_elementals(
    modes: &Arc<ModesObject>,
    left: Option<&Arc<ModesObject>>,
    lengths: &Array<i32>,
    noperators: i64,
    steps: &Array<i32>,
    nsteps: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    baryon_lengths: &Array<i32>,
    baryons: i64,
    baryon_steps: &Array<i32>,
    nbaryon_steps: i64,
    file: &str,
    if_exists: IfExists,
) -> Result<()> {
    if let Some(left) = left {
        modes.context.check_same(&left.context, "left")?;
    }
    let modes = &modes.modes;
    let n = number(noperators, "operators", 1)?;
    let asked = ElementalsOf {
        operators: operators_of((lengths, n), (steps, nsteps))?,
        momenta: triples(momenta, nmomenta)?,
        baryons: match baryons {
            0 => None,
            3 => Some(quarks_of(baryon_lengths, (baryon_steps, nbaryon_steps))?),
            _ => refuse!(
                InvalidArgument,
                "baryons",
                expected("3, one operator for each quark, or 0 for no baryons"),
                found("{baryons}")
            ),
        },
    };
    let data = asked.datasets(left.map_or(modes, |left| &left.modes), modes)?;
    write(Path::new(file), modes, &data, vec![], if_exists)
}

#[allow(clippy::too_many_arguments)]
fn mesons_of(
    quark: &Array<f64>,
    antiquark: &Array<f64>,
    modes: i64,
    times: i64,
    source_time: i64,
    sink: &Array<f64>,
    source: &Array<f64>,
    gammas: &Array<i32>,
    pairs: i64,
    correlators: &mut OutArray<f64>,
) -> Result<()> {
    let (n, extent) = (number(modes, "modes", 1)?, number(times, "times", 1)?);
    let from = time_slice(source_time, "source_time", extent)?;
    let complex = |all: Vec<f64>| -> Vec<Complex64> {
        all.chunks_exact(2).map(|z| Complex64::new(z[0], z[1])).collect()
    };
    let (quark, antiquark) =
        (complex(quark.get(32 * n * n * extent)?), complex(antiquark.get(32 * n * n * extent)?));
    let (phi, phi_source) =
        (complex(sink.get(2 * n * n * extent)?), complex(source.get(2 * n * n)?));
    let gammas = gammas.get(2 * number(pairs, "pairs", 1)?)?;
    let mut all = vec![];
    for pair in gammas.chunks_exact(2) {
        let side =
            |gamma: i32, elemental| Ok::<_, Error>(Side { gamma: Gamma::new(gamma)?, elemental });
        let (sink, source) = (side(pair[0], &phi[..])?, side(pair[1], &phi_source[..])?);
        all.extend(reals(&correlator(&quark, &antiquark, (extent, n, from), sink, source)?));
    }
    correlators.set(all);
    Ok(())
}
