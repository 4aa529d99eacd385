//! Spaces of low modes, and quark loops that are summed part by part.

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use num_complex::Complex64;

use super::args::{
    Array, Handle, Local, MaybeArray, OptionalHandle, Out, OutArray, Params, Raw, Report,
};
use super::context::Context;
use super::contract::{check_extent, gammas_of, pairs, triples};
use super::eigen::{plaq_eigen, Eigen};
use super::file_name::FileName;
use super::gauge::{plaq_gauge, Gauge};
use super::hadron::source;
use super::handles::{self, Shared};
use super::loops::plaq_loops_params;
use super::multigrid::{plaq_multigrid, Multigrid};
use super::origin::propagated;
use super::progress::watch;
use super::solve::{monitor, plaq_progress_callback, plaq_solver, Solver};
use super::spinor::{plaq_spinor, Spinor};
use super::structure::Operators;
use super::table::interface;
use crate::error::Result;
use crate::fields::{blas, GaugeField};
use crate::io::Origin;
use crate::ops::links_mark::check_configuration;
use crate::ops::source::plaq_source_params;
pub use crate::ops::structure::loop_sums::{plaq_loop_goals, plaq_loop_sums_params};
use crate::ops::structure::loop_sums::{
    plaq_loops_part_report, plaq_loops_report, LoopGoals, LoopQuarks, LoopSettings, LoopSums,
    LoopSumsParams, TermKind, Traces,
};
use crate::ops::structure::loops::{LoopsParams, OneEnd};
use crate::ops::structure::low_mesons::low_mesons;
use crate::ops::structure::low_space::{LowSolve, LowSpace};
use crate::params::{InC as _, ToC as _};
use crate::refuse;

/// The object behind the handle `plaq_space`.
pub struct Space {
    context: Arc<Context>,
    space: LowSpace,
    /// Properties of solutions by this solver (phases, normalisation, masses, links), for sources that do not record
    /// them.
    origin: Origin,
}

impl Space {
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    pub(crate) fn space(&self) -> &LowSpace {
        &self.space
    }
}

/// The object behind the handle `plaq_loops`.
pub struct Sums {
    context: Arc<Context>,
    solver: Arc<Solver>,
    other: Option<Arc<Solver>>,
    space: Option<Arc<Space>>,
    /// Space of low modes of the second quark, for loops of a difference.
    other_space: Option<LowSpace>,
    gauge: Arc<Gauge>,
    /// Version of the links that were used in lines the first time.
    links: u64,
    sums: Shared<LoopSums>,
}

impl Sums {
    fn context(&self) -> &Arc<Context> {
        &self.context
    }
    /// The quarks and links of the loops; links that have changed since the loops were made are refused.
    fn quarks<'a>(&'a self, links: &'a Arc<GaugeField>) -> Result<LoopQuarks<'a>> {
        if links.version() != self.links {
            refuse!(
                FieldMismatch,
                "gauge",
                expected("the links of plaq_loops_create"),
                found("links that have changed since")
            );
        }
        let (solver, at_once) = (self.solver.solver()?, self.solver.columns());
        check_configuration(solver.op().links(), "solver", links, "gauge")?;
        let space = self.space.as_ref().map(|s| s.space());
        if let Some(space) = space {
            space.check(solver)?;
        }
        let other = self.other.as_ref().map(|s| s.solver()).transpose()?;
        let other_space = self.other_space.as_ref();
        if let (Some(space), Some(other)) = (other_space, other) {
            space.check(other)?;
        }
        Ok(LoopQuarks { solver, at_once, other, links, space, other_space })
    }
}

interface! {
    "Low modes, and loops part by part"
    handles {
        /// Spaces of low modes of a solver's operator M, each with an approximate inverse L = P D_c^-1 R, D_c = R M
        /// P: levels of multigrid, or vectors. Level 0 is the lattice, larger numbers are coarser.
        plaq_space: Space = 26,
        /// Quark loops as sums of parts, each with its own variance and cost.
        plaq_loops: Sums = 27,
    }
    choices {
        plaq_loops_traces = Traces;
        plaq_loops_term = TermKind;
    }
    tables {
        plaq_loop_sums_params, plaq_loop_sums_params_init;
        plaq_loop_goals, plaq_loop_goals_init;
    }
    reported {
        plaq_loops_report, plaq_loops_report_init;
        plaq_loops_part_report, plaq_loops_part_report_init;
    }
    reports {
        /// Description of a level of spaces.
        plaq_space_report, plaq_space_report_init {
            /// Number of levels, the lattice not counted.
            levels: i32,
            /// Extents of the level over all ranks; for vectors 1.
            extents: [i32; 4],
            /// Dimension of the level's space over all ranks.
            unknowns: i64,
        }
    }
    functions {
        /// Makes spaces of the first `levels` coarse levels of a hierarchy, 0: of all coarse levels that are
        /// distributed over all ranks. Coarse operators are made again in the precision of the solver's operator and
        /// solved to the relative residual `tol`, which must be well below the noise. Errors: INVALID_ARGUMENT (too
        /// many levels, `tol`), UNSUPPORTED (two flavours, half precision), FIELD_MISMATCH (a hierarchy of another
        /// lattice or configuration), STALE_MULTIGRID, OUT_OF_MEMORY.
        plaq_space_create_multigrid(solver: Handle<plaq_solver>, multigrid: Handle<plaq_multigrid>, levels: i32, tol: f64, space: Out<plaq_space>) = of_multigrid;
        /// Gives the largest number of bytes of device memory that making these spaces takes, and afterwards applying
        /// L to twelve columns. Errors: those of plaq_space_create_multigrid.
        plaq_space_memory(solver: Local<plaq_solver>, multigrid: Local<plaq_multigrid>, levels: i32, bytes: Out<i64>) = memory;
        /// Makes the space of eigenvectors V of the whole operator, with R = V^dagger gamma5. Errors: FIELD_MISMATCH
        /// (vectors of another lattice, configuration, precision or of one parity), INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY.
        plaq_space_create_eigen(solver: Handle<plaq_solver>, eigen: Handle<plaq_eigen>, space: Out<plaq_space>) = of_eigen;
        /// Destroys spaces; loops made with them remain valid. The zero handle is accepted.
        plaq_space_destroy(space: Raw<plaq_space>) = destroy_space;
        /// Describes level number `level`, 1 or more.
        plaq_space_describe(space: Local<plaq_space>, level: i32, report: Report<plaq_space_report>) = describe_space;
        /// Computes x = L b with the approximate inverse of a level; x and b are different fields on the full
        /// lattice, as the solver takes them. Errors: FIELD_MISMATCH, INVALID_ARGUMENT, NOT_CONVERGED,
        /// SOLVER_BREAKDOWN.
        plaq_space_apply(space: Handle<plaq_space>, level: i32, x: Handle<plaq_spinor>, b: Handle<plaq_spinor>) = apply;
        /// Makes the propagator L(x, source) of a level, with L instead of M^-1, with a right-hand side for each
        /// column of the source. Errors: those of plaq_space_apply.
        plaq_space_propagator(space: Handle<plaq_space>, level: i32, source: Params<plaq_source_params>, propagator: Out<plaq_spinor>) = propagator_of;
        /// Contracts mesons as plaq_spinor_contract_mesons does, with L instead of propagators, averaged exactly over
        /// all sites of the lattice as sources. With propagators S from some sources, C[S, S] - C[L, L] of these
        /// sources plus this average is less noisy than C[S, S] (low-mode averaging). The callback is called after
        /// each site of the level with the fraction that is left, and may end the call: NOT_CONVERGED. M is
        /// gamma5-hermitian. Errors: INVALID_ARGUMENT, NOT_CONVERGED, those of plaq_space_apply.
        plaq_space_mesons(space: Handle<plaq_space>, level: i32, gammas: Array<i32>[2 pairs], pairs: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, times: i64, callback: Raw<plaq_progress_callback>, user: *mut c_void, correlators: OutArray<f64>[2 times pairs nmomenta]) = mesons_of;
        /// Makes loops as in plaq_solver_loops, with empty sums: Tr O M^-1 is Tr O (M^-1 - L_1) by noise, plus Tr O
        /// (L_1 - L_2) by noise of level 1, and so on, plus Tr O L of the last level; with
        /// `sums.hopping` = n every right side is multiplied by (A^-1 H)^n, M = A - H, and the terms of the hopping
        /// expansion before that are added exactly. This is an identity if solves are accurate: their residuals must
        /// be well below the noise. `vectors` of `params` is not used. Zero handle of `space`: no low modes. Errors:
        /// INVALID_ARGUMENT, UNSUPPORTED (hopping with other contractions than PLAQ_LOOPS_PLAIN), FIELD_MISMATCH. For
        /// PLAQ_LOOPS_ONE_END and PLAQ_LOOPS_DIFFERENCE low modes approximate the products of two inverses, with
        /// noise between them.
        plaq_loops_create(solver: Handle<plaq_solver>, other: OptionalHandle<plaq_solver>, space: OptionalHandle<plaq_space>, gauge: Handle<plaq_gauge>, params: Params<plaq_loops_params>, sums: Params<plaq_loop_sums_params>, lengths: Array<i32>[lines], lines: i64, steps: Array<i32>[nsteps], nsteps: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, loops: Out<plaq_loops>) = create;
        /// Destroys loops. The zero handle is accepted.
        plaq_loops_destroy(loops: Raw<plaq_loops>) = destroy;
        /// Adds to loops until a goal is reached, each time to the part whose error it lowers most for its cost,
        /// after four noise vectors for each part. The callback is that of solves; if it ends the call, completed
        /// vectors are kept, and a next call continues. Errors: those of plaq_solver_solve, FIELD_MISMATCH (links
        /// that have changed), INVALID_ARGUMENT (no goal).
        plaq_loops_add(loops: Handle<plaq_loops>, goals: Params<plaq_loop_goals>, callback: Raw<plaq_progress_callback>, user: *mut c_void, report: Report<plaq_loops_report>) = add;
        /// Describes loops; numbers about a single call are 0.
        plaq_loops_describe(loops: Local<plaq_loops>, report: Report<plaq_loops_report>) = describe;
        /// Describes part number `part` of loops.
        plaq_loops_describe_part(loops: Local<plaq_loops>, part: i32, report: Report<plaq_loops_part_report>) = describe_part;
        /// Copies the values of loops, complex numbers as (re, im): `means` [line][Gamma, all 16][momentum][t], and
        /// `variances` of a single noise vector, with the variance of real parts as real and that of imaginary parts
        /// as imaginary part. A variance is infinite with fewer than two noise vectors, and 0 for exact parts. Part
        /// -1 stands for the sum of all parts, with its squared errors as variances; it is refused before every part has
        /// some noise. `currents` and `current_variances` are the same for the conserved current, [mu][momentum][t]. All arrays except `means`
        /// may be NULL. `numbers` is the number of complex numbers in `means`, `ncurrents` that in `currents`.
        plaq_loops_values(loops: Local<plaq_loops>, part: i32, means: OutArray<f64>[2 numbers], variances: MaybeArray<f64>[2 numbers], numbers: i64, currents: MaybeArray<f64>[2 ncurrents], current_variances: MaybeArray<f64>[2 ncurrents], ncurrents: i64) = values_of;
        /// Writes sums, and a description of what they are sums of, to a file from which plaq_loops_read continues.
        /// The file appears complete or not at all. Errors: FILE_WRITE.
        plaq_loops_write(loops: Handle<plaq_loops>, file: FileName) = write;
        /// Replaces the sums by those of a file that plaq_loops_write wrote. Errors, after which nothing has changed:
        /// FIELD_MISMATCH (of other links, operators, spaces, noise, lines or momenta: the first difference is
        /// named), FILE_*.
        plaq_loops_read(loops: Handle<plaq_loops>, file: FileName) = read;
    }
}

/// Checks a number of coarse levels from C: 0 or more.
fn levels_of(levels: i32) -> Result<usize> {
    match usize::try_from(levels) {
        Ok(levels) => Ok(levels),
        Err(_) => refuse!(InvalidArgument, "levels", expected("0 or more"), found("{levels}")),
    }
}

fn memory(
    solver: &Arc<Solver>,
    multigrid: &Arc<Multigrid>,
    levels: i32,
    bytes: &mut Out<i64>,
) -> Result<()> {
    solver.context().check_same(multigrid.context(), "multigrid")?;
    let found = LowSpace::memory(solver.solver()?, multigrid.multigrid(), levels_of(levels)?)?;
    bytes.set(found as i64);
    Ok(())
}

fn of_multigrid(
    solver: &Arc<Solver>,
    multigrid: &Arc<Multigrid>,
    levels: i32,
    tol: f64,
    out: &mut Out<plaq_space>,
) -> Result<()> {
    let context = solver.context();
    context.check_same(multigrid.context(), "multigrid")?;
    let (hierarchy, levels) = (multigrid.multigrid(), levels_of(levels)?);
    let space = LowSpace::of_multigrid(solver.solver()?, hierarchy, levels, tol)?;
    out.set(context.adopt(Space { context: context.clone(), space, origin: solver.origin()? })?);
    Ok(())
}

fn of_eigen(solver: &Arc<Solver>, eigen: &Arc<Eigen>, out: &mut Out<plaq_space>) -> Result<()> {
    let context = solver.context();
    context.check_same(eigen.context(), "eigen")?;
    eigen.check_links(solver.solver()?.op().links())?;
    let space = LowSpace::of_vectors(solver.solver()?, eigen.vectors().clone())?;
    out.set(context.adopt(Space { context: context.clone(), space, origin: solver.origin()? })?);
    Ok(())
}

fn destroy_space(space: plaq_space) -> Result<()> {
    handles::remove(space, "space")
}

/// Checks the number of a level from C: from 1 to the number of levels of the space.
pub(crate) fn level_of(space: &LowSpace, level: i32) -> Result<usize> {
    let levels = space.levels();
    match usize::try_from(level).ok().filter(|level| (1..=levels).contains(level)) {
        Some(level) => Ok(level),
        None => refuse!(InvalidArgument, "level", expected("1 to {levels}"), found("{level}")),
    }
}

fn describe_space(
    space: &Arc<Space>,
    level: i32,
    report: &mut Report<plaq_space_report>,
) -> Result<()> {
    let space = &space.space;
    let level = level_of(space, level)?;
    report.set(plaq_space_report {
        levels: space.levels() as i32,
        extents: space.extents(level).map(|l| l as i32),
        unknowns: space.unknowns(level) as i64,
        ..Default::default()
    });
    Ok(())
}

/// Refuses a solve that did not converge.
fn converged(space: &LowSpace, level: usize, how: LowSolve) -> Result<()> {
    match how.converged {
        true => Ok(()),
        false => refuse!(
            NotConverged,
            "space",
            expected("the residual {:e} on level {level}", space.tol()),
            found("{:e} after {} iterations", how.residual, how.iterations)
        ),
    }
}

fn apply(space: &Arc<Space>, level: i32, x: &Arc<Spinor>, b: &Arc<Spinor>) -> Result<()> {
    space.context.check_same(x.context(), "x")?;
    space.context.check_same(b.context(), "b")?;
    let level = level_of(&space.space, level)?;
    let mut x = x.write_any("x")?;
    let b = b.read_any("b")?;
    let shape = space.space.op().shape();
    shape.check(&x, "x")?;
    shape.check(&b, "b")?;
    x.check_like(&b, "x")?;
    let (found, how) = space.space.inverse(level, &b)?;
    converged(&space.space, level, how)?;
    blas::copy(&mut x, &found)
}

fn propagator_of(
    space: &Arc<Space>,
    level: i32,
    params: &plaq_source_params,
    out: &mut Out<plaq_spinor>,
) -> Result<()> {
    let level = level_of(&space.space, level)?;
    let from = source(params)?;
    let shape = space.space.op().shape();
    let mut b = shape.field(from.columns())?;
    from.set(&mut b)?;
    let (found, how) = space.space.inverse(level, &b)?;
    converged(&space.space, level, how)?;
    let origin = propagated(from.position.map(Some), space.origin);
    out.set(space.context.adopt(Spinor::with_origin(&space.context, found, origin))?);
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn mesons_of(
    space: &Arc<Space>,
    level: i32,
    gammas: &Array<i32>,
    npairs: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    times: i64,
    callback: plaq_progress_callback,
    user: *mut c_void,
    correlators: &mut OutArray<f64>,
) -> Result<()> {
    let level = level_of(&space.space, level)?;
    let geometry = space.space.op().links().geometry();
    check_extent(geometry, times)?;
    let (listed, momenta) = (gammas_of(gammas, npairs)?, triples(momenta, nmomenta)?);
    let mut notify = watch(geometry.comm(), callback, user);
    let found = low_mesons(&space.space, level, &listed, &momenta, &mut notify)?;
    if found.stopped || found.failed > 0 {
        refuse!(
            NotConverged,
            "space",
            expected("solves to {:e} on all sites of level {level}", space.space.tol()),
            found(
                "{}",
                match found.stopped {
                    true => "a callback that ended the call".to_string(),
                    false => format!("{} that did not converge", found.failed),
                }
            )
        );
    }
    correlators.set(pairs(found.correlators).collect());
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn create(
    solver: &Arc<Solver>,
    other: Option<&Arc<Solver>>,
    space: Option<&Arc<Space>>,
    gauge: &Arc<Gauge>,
    params: &plaq_loops_params,
    sums: &plaq_loop_sums_params,
    lengths: &Array<i32>,
    nlines: i64,
    steps: &Array<i32>,
    nsteps: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    out: &mut Out<plaq_loops>,
) -> Result<()> {
    let context = solver.context();
    context.check_same(gauge.context(), "gauge")?;
    if let Some(other) = other {
        context.check_same(other.context(), "other")?;
    }
    if let Some(space) = space {
        context.check_same(space.context(), "space")?;
    }
    let params = LoopsParams::from_c(params, "params")?;
    let Operators { lines, momenta } =
        Operators::of((lengths, nlines), (steps, nsteps), (momenta, nmomenta))?;
    let of = LoopSettings {
        noise: params.noise("params")?,
        how: params.kind,
        factor: Complex64::new(params.factor[0], params.factor[1]),
        lines,
        momenta,
        boundary: solver.phases(),
        params: LoopSumsParams::from_c(sums, "sums")?,
    };
    let links = gauge.read("gauge")?;
    let space_of_other = match (of.how, space, other) {
        (OneEnd::Other, Some(space), Some(other)) => Some(space.space().of_other(other.solver()?)?),
        _ => None,
    };
    let quarks = LoopQuarks {
        solver: solver.solver()?,
        at_once: solver.columns(),
        other: other.map(|s| s.solver()).transpose()?,
        links: &links,
        space: space.map(|s| s.space()),
        other_space: space_of_other.as_ref(),
    };
    let made = LoopSums::new(of, &quarks)?;
    let object = Sums {
        context: context.clone(),
        solver: solver.clone(),
        other: other.cloned(),
        space: space.cloned(),
        other_space: space_of_other,
        gauge: gauge.clone(),
        links: links.version(),
        sums: Shared::new(made),
    };
    out.set(context.adopt(object)?);
    Ok(())
}

fn destroy(loops: plaq_loops) -> Result<()> {
    handles::remove(loops, "loops")
}

fn add(
    loops: &Arc<Sums>,
    goals: &plaq_loop_goals,
    callback: plaq_progress_callback,
    user: *mut c_void,
    report: &mut Report<plaq_loops_report>,
) -> Result<()> {
    let goals = LoopGoals::from_c(goals, "goals")?;
    goals.check("goals")?;
    let links = loops.gauge.read("gauge")?;
    let quarks = loops.quarks(&links)?;
    let mut sums = loops.sums.write("loops")?;
    let mut notify = monitor(quarks.solver, callback, user);
    let done = sums.add(&quarks, &goals, &mut notify, &mut |_, _| Ok(()))?;
    report.set(done.to_c());
    Ok(())
}

fn describe(loops: &Arc<Sums>, report: &mut Report<plaq_loops_report>) -> Result<()> {
    report.set(loops.sums.read("loops")?.report(0).to_c());
    Ok(())
}

fn describe_part(
    loops: &Arc<Sums>,
    part: i32,
    report: &mut Report<plaq_loops_part_report>,
) -> Result<()> {
    let parts = loops.sums.read("loops")?.part_reports(0);
    let Some(found) = usize::try_from(part).ok().and_then(|part| parts.get(part)) else {
        refuse!(InvalidArgument, "part", expected("0 to {}", parts.len() - 1), found("{part}"));
    };
    report.set(found.to_c());
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn values_of(
    loops: &Arc<Sums>,
    part: i32,
    means: &mut OutArray<f64>,
    variances: &mut MaybeArray<f64>,
    numbers: i64,
    currents: &mut MaybeArray<f64>,
    current_variances: &mut MaybeArray<f64>,
    ncurrents: i64,
) -> Result<()> {
    let sums = loops.sums.read("loops")?;
    let [own, own_currents] = sums.numbers();
    for (name, given, own) in [("numbers", numbers, own), ("ncurrents", ncurrents, own_currents)] {
        if given != own as i64 {
            refuse!(InvalidArgument, name, expected("{own}"), found("{given}"));
        }
    }
    let part = match part {
        -1 => None,
        // A negative number is not that of any part, and is refused like one that is too large.
        part => Some(usize::try_from(part).unwrap_or(usize::MAX)),
    };
    if let (None, Some(empty)) = (part, sums.parts().iter().position(|part| part.done == 0)) {
        refuse!(
            InvalidArgument,
            "loops",
            expected("noise or columns in every part, by plaq_loops_add, for their sum"),
            found("none in part {empty}")
        );
    }
    let found = sums.result(part)?;
    let split = |all: &[Complex64]| [all[..own].to_vec(), all[own..].to_vec()];
    let [mean, current] = split(&found.mean);
    let [variance, current_variance] = split(&found.variance);
    means.set(pairs(mean).collect());
    variances.set(pairs(variance).collect());
    currents.set(pairs(current).collect());
    current_variances.set(pairs(current_variance).collect());
    Ok(())
}

fn write(loops: &Arc<Sums>, file: &Path) -> Result<()> {
    let links = loops.gauge.read("gauge")?;
    let quarks = loops.quarks(&links)?;
    loops.sums.read("loops")?.write(file, &quarks)
}

fn read(loops: &Arc<Sums>, file: &Path) -> Result<()> {
    let links = loops.gauge.read("gauge")?;
    let quarks = loops.quarks(&links)?;
    loops.sums.write("loops")?.read(file, &quarks)
}
