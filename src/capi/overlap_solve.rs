//! Inverses of the overlap operator: solves and propagators.

use std::ffi::c_void;
use std::sync::{Arc, PoisonError};

use super::args::{
    choose, choose_or, Array, Handle, Maybe, MaybeArray, OutArray, Params, Raw, Report,
};
use super::eigen::{at_least, watch};
use super::field::plaq_precision;
use super::gauge::plaq_storage;
use super::hadron::{plaq_source_params, source};
use super::multigrid::{plaq_multigrid, Multigrid as Hierarchy};
use super::overlap::{plaq_overlap, plaq_overlap_algorithm, Overlap, PLAQ_OVERLAP_SOLVER_AUTO};
use super::solve::{plaq_progress_callback, plaq_solve_report, seconds_of, to_c};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::bail;
use crate::compose::multigrid::{Multigrid, MultigridParams};
use crate::compose::{
    OverlapAlgorithm, OverlapPreconditioner, OverlapSolveParams, OverlapSolver, SolveReport,
};
use crate::error::{Result, Status};
use crate::fields::Group;
use crate::ops::overlap::overlap_propagators;
use crate::ops::propagator::COLUMNS;
use crate::params::Number;
use crate::solvers::SolverKind;

/// Iterations of the Wilson operator's inverse where the library chooses it.
const MOST_WILSON: usize = 100;

interface! {
    "Inverse of the overlap operator"
    params {
        /// How D x = b is solved.
        plaq_overlap_solve_params, plaq_overlap_solve_params_init {
            algorithm: plaq_overlap_algorithm = PLAQ_OVERLAP_SOLVER_AUTO,
            max_iterations: i32 = 2000,
            /// Largest |b - D x| / |b|, not far below the operator's error bound.
            tol: f64 = 1e-7,
            /// Precision and storage of the iteration; 0: those of the operator.
            sloppy_precision: plaq_precision = Number::new(0),
            sloppy_storage: plaq_storage = Number::new(0),
            /// 1: coarser sign functions while the residual is large.
            relax: i32 = 1,
            /// 1: low modes that plaq_overlap_index found are taken out of the start.
            deflate: i32 = 1,
            /// GCR: directions kept.
            nkrylov: i32 = 20,
            /// GCR: iterations of the Wilson operator's inverse as preconditioner, 0: none, or 100 where
            /// the library chooses GCR; its mass, which must be above the critical one, NaN: found once
            /// for the links, the low edge of its spectrum at twice the (least) quark mass; and tolerance.
            wilson_iterations: i32 = 0,
            wilson_mass: f64 = f64::NAN,
            wilson_tol: f64 = 0.1,
            /// plaq_overlap_propagators: 1 takes the contact term out.
            subtract: i32 = 1,
            /// 1: that inverse is by multigrid, of plaq_overlap_set_multigrid or else one with the
            /// defaults, which the operator keeps for other solves with the same wilson_mass; 0: by BiCGStab;
            /// -1: by what is expected to take less time, from the mass, the tolerance, the number of
            /// right-hand sides and masses, and whether there is a multigrid already.
            multigrid: i32 = -1,
            /// Most seconds that a call may take; 0: as many as it needs. Asked after every iteration; all
            /// ranks stop after the same one. What a call prepares, a multigrid or the mass of the Wilson
            /// operator, is not counted.
            max_seconds: f64 = 0.0,
        }
    }
    functions {
        /// Solves with params.multigrid = 1 take this multigrid, set up for a Wilson operator of about
        /// params.wilson_mass on the kernel's links; the zero handle: one of their own again.
        plaq_overlap_set_multigrid(overlap: Handle<plaq_overlap>, multigrid: Maybe<plaq_multigrid>) = set_multigrid;
        /// Solves D x = b for all right-hand sides. `residuals`: NULL or room for |b - D x| / |b| of
        /// each. Errors: BAD_PARAMETER, FIELD_MISMATCH, NOT_FINITE, OUT_OF_MEMORY, SOLVER_BREAKDOWN.
        plaq_overlap_solve(overlap: Handle<plaq_overlap>, params: Params<plaq_overlap_solve_params>, x: Handle<plaq_spinor>, b: Handle<plaq_spinor>, callback: Raw<plaq_progress_callback>, user: *mut c_void, report: Report<plaq_solve_report>, residuals: MaybeArray<f64>[("right-hand sides of b")]) = solve;
        /// New fields of twelve columns, (D(m)^-1 - 1 / (2 rho)) / (1 - m / (2 rho)) source for each of
        /// `count` masses, or without the contact term taken out as params.subtract says. CG solves for several
        /// masses from one Krylov space, SUMR and GCR, which the library may choose, for one after the other.
        /// propagators: room for `count` handles.
        plaq_overlap_propagators(overlap: Handle<plaq_overlap>, params: Params<plaq_overlap_solve_params>, masses: Array<f64>[count], count: i64, source: Params<plaq_source_params>, callback: Raw<plaq_progress_callback>, user: *mut c_void, propagators: OutArray<plaq_spinor>[count], report: Report<plaq_solve_report>) = propagators_of;
    }
}

fn set_multigrid(overlap: &Arc<Overlap>, multigrid: Option<&Arc<Hierarchy>>) -> Result<()> {
    if let Some(multigrid) = multigrid {
        overlap.context().check_same(multigrid.context(), "multigrid")?;
        multigrid.multigrid().check(&**overlap.op.sign().kernel().op())?;
    }
    *overlap.multigrid() = multigrid.map(|m| (None, m.multigrid().clone()));
    Ok(())
}

/// A solver for these quark masses.
fn prepare(
    overlap: &Arc<Overlap>,
    p: &plaq_overlap_solve_params,
    masses: &[f64],
    nrhs: usize,
) -> Result<OverlapSolver> {
    let flags = [(p.relax, "relax"), (p.deflate, "deflate"), (p.subtract, "subtract")];
    for (value, name) in flags {
        if !(0..=1).contains(&value) {
            bail!(BadParameter, "params.{name}: expected 0 or 1, found {value}");
        }
    }
    if !(-1..=1).contains(&p.multigrid) {
        bail!(BadParameter, "params.multigrid: expected -1, 0 or 1, found {}", p.multigrid);
    }
    let links = overlap.op.sign().kernel().op().gauge();
    let sloppy = (
        choose_or(p.sloppy_precision, "params.sloppy_precision", links.precision())?,
        choose_or(p.sloppy_storage, "params.sloppy_storage", links.recon())?,
    );
    if sloppy.1.group() != Group::Su3 {
        bail!(Unsupported, "params.sloppy_storage: expected a storage of SU(3) links");
    }
    let modes = overlap.low().filter(|_| p.deflate == 1);
    let mut algorithm = choose(p.algorithm, "params.algorithm")?;
    let mut iterations = at_least(p.wilson_iterations, 0, "wilson_iterations")?;
    let mut multigrid = p.multigrid;
    if algorithm == OverlapAlgorithm::Auto {
        if overlap.op.preconditioner_wins(modes.as_deref(), masses) {
            algorithm = OverlapAlgorithm::Gcr;
            iterations = if iterations == 0 { MOST_WILSON } else { iterations };
        } else {
            (iterations, multigrid) = (0, 0);
        }
    }
    if multigrid == 1 && iterations == 0 {
        bail!(
            Unsupported,
            "params.multigrid: it belongs to the Wilson preconditioner, wilson_iterations is 0"
        );
    }
    let mass = match (iterations, p.wilson_mass.is_nan()) {
        (0, _) | (_, false) => p.wilson_mass,
        _ => {
            let least = masses.iter().fold(f64::INFINITY, |m, &v| m.min(v));
            overlap.op.with_mass(least)?.wilson_mass_of(overlap.edge()?)
        }
    };
    let preconditioner = match iterations {
        0 => OverlapPreconditioner::None,
        max_iterations => OverlapPreconditioner::Wilson { mass, tol: p.wilson_tol, max_iterations },
    };
    let params = OverlapSolveParams {
        algorithm,
        tol: p.tol,
        max_iterations: at_least(p.max_iterations, 1, "max_iterations")?,
        sloppy: Some(sloppy),
        relax: p.relax == 1,
        nkrylov: at_least(p.nkrylov, 1, "nkrylov")?,
        preconditioner,
        max_seconds: seconds_of(p.max_seconds),
    };
    let solver = OverlapSolver::new(overlap.op.clone(), modes, params)?;
    if iterations == 0 || multigrid == 0 {
        return Ok(solver);
    }
    let kept = overlap.multigrid().clone().filter(|(of, _)| of.is_none_or(|m| m == mass));
    if multigrid == -1 {
        let (distance, solves) = (mass + overlap.edge()?, nrhs * masses.len());
        if !overlap.op.multigrid_wins(distance, p.tol, solves, kept.is_some()) {
            return Ok(solver);
        }
    }
    let hierarchy = match kept {
        Some((_, hierarchy)) => hierarchy,
        None => {
            let wilson = overlap.op.wilson(mass)?;
            let defaults = MultigridParams::for_lattice(wilson.links().geometry());
            let made = match Multigrid::new(&*wilson, &defaults) {
                // Chosen, not asked for: there is another way.
                Err(e) if multigrid == -1 && e.status == Status::OutOfMemory => return Ok(solver),
                made => Arc::new(made?),
            };
            *overlap.multigrid() = Some((Some(mass), made.clone()));
            made
        }
    };
    solver.with_multigrid(hierarchy)
}

fn report_of(
    overlap: &Overlap,
    solver: &OverlapSolver,
    report: crate::solvers::SolverReport,
) -> plaq_solve_report {
    let preconditioned = solver.taken() == OverlapAlgorithm::Gcr
        && solver.params().preconditioner != OverlapPreconditioner::None;
    let preconditioner =
        i32::from(preconditioned) + i32::from(preconditioned && solver.by_multigrid());
    *overlap.solved.lock().unwrap_or_else(PoisonError::into_inner) =
        (solver.taken(), preconditioner);
    let memory_peak = overlap.context().device().used().1;
    let links = overlap.op.sign().kernel().op().gauge();
    let iterated = solver.params().sloppy.unwrap_or((links.precision(), links.recon()));
    to_c(&SolveReport { solver: report, memory_peak, iterated }, SolverKind::Cg)
}

#[allow(clippy::too_many_arguments)]
fn solve(
    overlap: &Arc<Overlap>,
    params: &plaq_overlap_solve_params,
    x: &Arc<Spinor>,
    b: &Arc<Spinor>,
    callback: plaq_progress_callback,
    user: *mut c_void,
    report: &mut Report<plaq_solve_report>,
    residuals: &mut MaybeArray<f64>,
) -> Result<()> {
    overlap.context().check_same(x.context(), "x")?;
    overlap.context().check_same(b.context(), "b")?;
    overlap.context().device().reset_peak();
    let b = b.read("b")?;
    let solver = prepare(overlap, params, &[overlap.op.mass()], b.nrhs())?;
    let mut x = x.write("x")?;
    let mut monitor = watch(overlap.context().comm(), callback, user);
    let done = solver.solve(&mut x, &b, &mut monitor)?;
    residuals.set(done.residual.clone());
    report.set(report_of(overlap, &solver, done));
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn propagators_of(
    overlap: &Arc<Overlap>,
    params: &plaq_overlap_solve_params,
    masses: &Array<f64>,
    count: i64,
    from: &plaq_source_params,
    callback: plaq_progress_callback,
    user: *mut c_void,
    propagators: &mut OutArray<plaq_spinor>,
    report: &mut Report<plaq_solve_report>,
) -> Result<()> {
    if !(1..=100).contains(&count) {
        bail!(InvalidArgument, "count: expected 1 to 100 masses, found {count}");
    }
    overlap.context().device().reset_peak();
    let masses = masses.get(count as usize)?;
    let solver = prepare(overlap, params, &masses, COLUMNS)?;
    let mut monitor = watch(overlap.context().comm(), callback, user);
    let subtract = params.subtract == 1;
    let (fields, done) =
        overlap_propagators(&solver, &masses, source(from)?, subtract, &mut monitor)?;
    let context = overlap.context();
    let objects: Result<Vec<plaq_spinor>> =
        fields.into_iter().map(|f| context.adopt(Spinor::new(context, f))).collect();
    propagators.set(objects?);
    report.set(report_of(overlap, &solver, done));
    Ok(())
}
