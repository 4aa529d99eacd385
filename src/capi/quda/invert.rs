//! `quda.h`: solves for sources of the host.

#![allow(non_snake_case)]

use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::arrays::{InOut, List};
use super::chrono;
use super::enums::*;
use super::operators::{scale, sources, Vectors};
use super::params_invert::QudaInvertParam;
use super::resident::Resident;
use super::session;
use crate::bail;
use crate::capi::args::choose;
use crate::capi::table::interface;
use crate::compose::{DiracSolver, Equations, Schur, Solution, SolveParams};
use crate::error::{significant, Result};
use crate::fields::{blas, Precision, Recon, VectorField};
use crate::solvers::{Progress, Shift, SolverKind, SolverParams, SolverReport, Stop};

interface! {
    "Solves"
    calls {
        /// Solves the equation of solution_type for one source, from the system that solve_type and matpc_type name,
        /// in cuda_prec with iterations in cuda_prec_sloppy. Vectors of a preconditioned solution hold one parity.
        invertQuda(h_x: *mut c_void, h_b: *mut c_void, param: InOut<QudaInvertParam>) = together invert;
        /// The same for num_src sources at once.
        invertMultiSrcQuda(_hp_x: List, _hp_b: List, param: InOut<QudaInvertParam>) = together invert_many;
        /// Solves (M^dagger M + offset[i]) x_i = b, or that of P, for num_offset shifts from one Krylov space, each to
        /// its tol_offset.
        invertMultiShiftQuda(_hp_x: List, _hp_b: *mut c_void, param: InOut<QudaInvertParam>) = together invert_shifts;
        /// Forgets the former solutions of a channel, 0 to 11.
        flushChronoQuda(index: c_int) = alone flush;
    }
}

fn flush(index: c_int) -> Result<()> {
    let channel = chrono::channel(index, "index")?;
    if let Some(session) = session::current() {
        session.resident().chronology.flush(channel);
    }
    Ok(())
}

/// Bits of a QudaResidualType.
const L2_RELATIVE: i32 = 1;
const L2_ABSOLUTE: i32 = 2;
const HEAVY_QUARK: i32 = 4;
const L2: i32 = L2_RELATIVE | L2_ABSOLUTE;

pub(crate) fn invert(
    h_x: *mut c_void,
    h_b: *mut c_void,
    param: &mut QudaInvertParam,
) -> Result<()> {
    solve(&[h_x], &[h_b], param)
}

fn invert_many(x: &List, b: &List, param: &mut QudaInvertParam) -> Result<()> {
    let n = sources(param)?;
    solve(&x.get(n, "_hp_x")?, &b.get(n, "_hp_b")?, param)
}

/// The equation with what QUDA_DAG_YES makes of it.
fn equation(vectors: &Vectors) -> Result<Solution> {
    Ok(match (vectors.wanted()?, vectors.dagger()?) {
        (Wanted::Mat, false) => Solution::Mat,
        (Wanted::Mat, true) => Solution::MatDag,
        (Wanted::MatPc, false) | (Wanted::MatPcDag, true) => Solution::MatPc,
        (Wanted::MatPc, true) | (Wanted::MatPcDag, false) => Solution::MatPcDag,
        (Wanted::MatDagMat, false) => Solution::MatDagMat,
        (Wanted::MatPcDagMatPc, false) => Solution::MatPcDagMatPc,
        (Wanted::MatDagMat, true) => Solution::MatMatDag,
        (Wanted::MatPcDagMatPc, true) => Solution::MatPcMatPcDag,
    })
}

/// The precision of the iteration; one that the host has not set is that of the solution.
fn sloppy(number: QudaPrecision, inside: Precision) -> Precision {
    match number.0 {
        1 | 2 => Precision::F16,
        4 => Precision::F32.min(inside),
        _ => inside,
    }
}

/// What is asked for, but for the system that the equation is solved from.
fn solver_params(vectors: &Vectors, shifted: bool) -> Result<SolveParams> {
    let p = vectors.param;
    let solution = equation(vectors)?;
    let Inverter(kind) = choose(p.inv_type, "param.inv_type")?;
    let solve: Solve = choose(p.solve_type, "param.solve_type")?;
    let even_odd = match solve.even_odd || solution.preconditioned() {
        true => Some(vectors.schur()?),
        false => None,
    };
    let normal = solution.normal();
    // CGNE and CGNR have normal equations of their own; M^dagger M needs none.
    let own = matches!(kind, SolverKind::Cgne | SolverKind::Cgnr);
    let equations = solve.normal.filter(|_| !normal && !own).unwrap_or(Equations::Direct);
    let residuals = p.residual_type.0;
    if !(1..8).contains(&residuals) || residuals & L2 == L2 {
        bail!(
            InvalidArgument,
            "param.residual_type: expected QUDA_L2_RELATIVE_RESIDUAL (1) or QUDA_L2_ABSOLUTE_RESIDUAL (2), \
             QUDA_HEAVY_QUARK_RESIDUAL (4), or the sum of this and one of those, found {residuals}"
        );
    }
    let whole = solve.even_odd && !solution.preconditioned();
    if vectors.rho() != 0.0 && whole {
        bail!(
            Unsupported,
            "param.tm_rho: expected 0 where a solution on the whole lattice comes from one parity, found {}; \
             QUDA_NORMOP_SOLVE or QUDA_DIRECT_SOLVE take it",
            vectors.rho()
        );
    }
    if p.maxiter < 1 {
        bail!(InvalidArgument, "param.maxiter: expected 1 or more, found {}", p.maxiter);
    }
    let goal = |bit: i32, tol: f64| if residuals & bit != 0 { tol } else { 0.0 };
    let (tol, tol_hq) = (goal(L2, p.tol), goal(HEAVY_QUARK, p.tol_hq));
    let met = |t: f64| t > 1e-300 && t < 1.0;
    if !shifted && !met(tol) && !met(tol_hq) {
        bail!(InvalidArgument, "param.tol: expected a number above 0, below 1, found {}", p.tol);
    }
    let distance = vectors.distance()?;
    let alone = matches!(solution, Solution::Mat | Solution::MatPc) && !shifted;
    if distance.is_some() && !(alone && p.inv_type_precondition.0 != MULTIGRID) {
        bail!(
            Unsupported,
            "param.distance_pc_alpha0: expected 0 with QUDA_DAG_YES, solutions of M^dagger M, several shifts or \
             multigrid, found {}",
            p.distance_pc_alpha0
        );
    }
    let (whole, form) = (vectors.inside, sloppy(p.cuda_prec_sloppy, vectors.inside));
    let residual = if shifted { 1e-10 } else { tol };
    let stop = Stop { heavy_quark: tol_hq, iterations: p.maxiter as usize, ..Stop::at(residual) };
    let Guess(initial_guess) = choose(p.use_init_guess, "param.use_init_guess")?;
    let default = SolverParams::default();
    let solver = SolverParams {
        kind,
        stop,
        initial_guess: initial_guess && !shifted,
        delta: if (1e-15..1.0).contains(&p.reliable_delta) {
            p.reliable_delta
        } else {
            default.delta
        },
        nkrylov: usize::try_from(p.gcrNkrylov).ok().filter(|n| *n > 0).unwrap_or(default.nkrylov),
        omega: if kind == SolverKind::Mr { p.omega } else { default.omega },
        ..default
    };
    Ok(SolveParams {
        solver,
        solution,
        equations,
        even_odd,
        sloppy: Some((form.min(whole), Recon::R12)),
        distance,
        ..Default::default()
    })
}

/// The solver of these parameters: the last one, or a new one.
fn solver(
    vectors: &Vectors,
    resident: &mut Resident,
    mut params: SolveParams,
) -> Result<Arc<DiracSolver>> {
    let p = vectors.param;
    let (key, action) = vectors.action(resident)?;
    let preconditioned = p.inv_type_precondition.0 == MULTIGRID && !p.preconditioner.is_null();
    let multigrid = match preconditioned {
        true => Some(resident.multigrid(p.preconditioner, "param.preconditioner")?),
        false => None,
    };
    if multigrid.is_some() && !params.solution.preconditioned() {
        // The whole solution comes from either parity's system: multigrid is for this one.
        params.even_odd = Some(Schur::EVEN_SYMMETRIC);
    }
    let recon = action.storage().1;
    params.sloppy = params.sloppy.map(|(precision, _)| (precision, recon));
    if multigrid.is_some() {
        params.sloppy = params.sloppy.map(|(p, r)| (p.max(Precision::F32), r));
    }
    let number = multigrid.as_ref().map_or(0, |m| m.0);
    if let Some((old, old_params, old_number, solver)) = &resident.solver {
        if *old == key && *old_params == params && *old_number == number {
            return Ok(solver.clone());
        }
    }
    resident.solver = None;
    let multigrid = multigrid.map(|m| m.1);
    let made = DiracSolver::new(action, params.clone())?.with_multigrid(multigrid)?;
    let made = Arc::new(made);
    resident.solver = Some((key, params, number, made.clone()));
    Ok(made)
}

/// Number of QUDA_MG_INVERTER.
const MULTIGRID: i32 = 12;

/// Monitor of solves that puts a line about every iteration into the log.
pub(crate) fn told(progress: &Progress) -> ControlFlow<()> {
    let worst = || progress.residual.iter().fold(0.0f64, |a, b| a.max(*b));
    log::debug!("iteration {}: residual {}", progress.iteration, significant(worst(), 4));
    ControlFlow::Continue(())
}

/// What a solve says of itself.
fn report(p: &mut QudaInvertParam, r: &SolverReport) {
    // Hosts take fewer than maxiter for convergence.
    p.iter = match r.converged {
        true => r.iterations as i32,
        false => p.maxiter.max(r.iterations as i32),
    };
    p.secs = r.seconds.max(1e-9);
    p.gflops = (r.flops / 1e9).max(1e-9);
    for (to, from) in p.true_res.iter_mut().zip(&r.residual) {
        *to = *from;
    }
    for (to, from) in p.true_res_hq.iter_mut().zip(&r.residual_hq) {
        *to = *from;
    }
    let worst = r.residual.iter().fold(0.0f64, |a, b| a.max(*b));
    log::info!(
        "solve: {} iterations, residual {}, {:.3} s{}",
        r.iterations,
        significant(worst, 4),
        r.seconds,
        if r.converged { "" } else { ", not converged" }
    );
}

fn solve(at_x: &[*mut c_void], at_b: &[*mut c_void], param: &mut QudaInvertParam) -> Result<()> {
    let asked = *param;
    let vectors = Vectors::new(&asked, "param")?;
    let mut params = solver_params(&vectors, false)?;
    let (solution, stop) = (params.solution, params.solver.stop);
    let chrono = chrono::Wanted::new(&asked, at_b.len())?;
    let former = chrono.as_ref().filter(|c| c.used);
    let guess = params.solver.initial_guess && former.is_none();
    params.solver.initial_guess |= former.is_some();
    let solver = solver(&vectors, &mut vectors.session.resident(), params)?;
    let subset = solver.subset();
    // x of the factor's operator is so many times x of the kappa-normalised one.
    let factor = inverse_factor(&vectors, solution)?;
    let at_once = if at_b.len() > 1 { solver.fitting(at_b.len())? } else { 1 };
    let (mut action, mut total) = (num_complex::Complex64::ZERO, None::<SolverReport>);
    for (at_x, at_b) in at_x.chunks(at_once).zip(at_b.chunks(at_once)) {
        let b = vectors.load(at_b, subset, "h_b")?;
        let mut x = match guess {
            true => vectors.load(at_x, subset, "h_x")?,
            false => vectors.field(subset, at_b.len())?,
        };
        if guess {
            scale(&mut x, 1.0 / factor, &b)?;
        }
        if let Some(wanted) = former {
            vectors.session.resident().chronology.guess(wanted, &solver, &mut x, &b)?;
        }
        let stop = match asked.residual_type.0 & L2_ABSOLUTE {
            0 => stop,
            _ => Stop { residual: relative(stop.residual, &b)?, ..stop },
        };
        let done = solver.solve_until(stop, &mut x, &b, &mut told)?.solver;
        if let Some(wanted) = chrono.as_ref().filter(|c| c.kept) {
            vectors.session.resident().chronology.keep(wanted, &x)?;
        }
        scale(&mut x, factor, &b)?;
        vectors.save(&x, at_x, "h_x")?;
        if asked.compute_action != 0 {
            action += blas::dot(&b, &x)?.into_iter().sum::<num_complex::Complex64>();
        }
        total = Some(match total {
            Some(before) => before.beside(done),
            None => done,
        });
    }
    if asked.compute_action != 0 {
        param.action = [action.re, action.im];
    }
    if let Some(total) = total {
        report(param, &total);
    }
    Ok(())
}

/// The largest |b - M x| / |b| of all right-hand sides with |b - M x| of `absolute` at most.
fn relative(absolute: f64, b: &VectorField) -> Result<f64> {
    let norm = blas::norm2(b)?.into_iter().fold(0.0, f64::max).sqrt();
    // Zero would meet a larger one.
    Ok(if absolute < 0.5 * norm { absolute / norm } else { 0.5 })
}

/// 1 / factor of the equation's operator.
fn inverse_factor(vectors: &Vectors, solution: Solution) -> Result<f64> {
    let c = 1.0 / vectors.factor(solution.preconditioned())?;
    Ok(if solution.normal() { c * c } else { c })
}

fn invert_shifts(x: &List, h_b: *mut c_void, param: &mut QudaInvertParam) -> Result<()> {
    let asked = *param;
    let vectors = Vectors::new(&asked, "param")?;
    let most = asked.offset.len();
    let count = match usize::try_from(asked.num_offset) {
        Ok(n) if (1..=most).contains(&n) => n,
        _ => bail!(
            InvalidArgument,
            "param.num_offset: expected 1 to {most}, found {}",
            asked.num_offset
        ),
    };
    let mut params = solver_params(&vectors, true)?;
    let solution = params.solution;
    if !solution.normal() {
        bail!(
            InvalidArgument,
            "param.solution_type: expected QUDA_MATDAG_MAT_SOLUTION or QUDA_MATPCDAG_MATPC_SOLUTION, found {solution}"
        );
    }
    // Of a normal solution any kind of solver will do: the shifts have their own.
    params.solver.kind = SolverKind::Cgnr;
    let factor = inverse_factor(&vectors, solution)?;
    let shifts: Vec<Shift> = (0..count)
        .map(|i| Shift { sigma: asked.offset[i] * factor, tol: asked.tol_offset[i] })
        .collect();
    let solver = solver(&vectors, &mut vectors.session.resident(), params)?;
    let at_x = x.get(count, "_hp_x")?;
    let b = vectors.load(&[h_b], solver.subset(), "_hp_b")?;
    let fields = (0..count).map(|_| vectors.field(solver.subset(), 1));
    let mut fields = fields.collect::<Result<Vec<VectorField>>>()?;
    let (done, each) = solver.multishift(&shifts, &mut fields, &b, &mut told)?;
    let mut action = [0.0; 2];
    for (i, field) in fields.iter_mut().enumerate() {
        scale(field, factor, &b)?;
        vectors.save(field, &at_x[i..=i], "_hp_x")?;
        if asked.compute_action != 0 {
            let z = blas::dot(&b, field)?[0] * asked.residue[i];
            action = [action[0] + z.re, action[1] + z.im];
        }
    }
    for (i, shift) in each.iter().enumerate() {
        let worst = shift.residual.iter().fold(0.0f64, |a, b| a.max(*b));
        param.true_res_offset[i] = worst;
        param.iter_res_offset[i] = worst;
    }
    param.action = action;
    let most = each.iter().map(|shift| shift.iterations + shift.refinement).max();
    report(param, &SolverReport { iterations: most.unwrap_or(0), ..done.solver });
    Ok(())
}
