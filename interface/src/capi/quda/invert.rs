//! `quda.h`: solves for sources of the host.

#![allow(non_snake_case)]

use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::arrays::{InOut, List};
use super::chrono;
use super::deflation;
use super::enums::*;
use super::operators::{scale, sources, Vectors};
use super::params_invert::QudaInvertParam;
use super::records::INVALID;
use super::resident::{Resident, SolverKey};
use super::session;
use crate::capi::args::choose;
use crate::capi::table::interface;
use crate::compose::{DiracSolver, Equations, Schur, Solution, SolveParams, MULTIGRID_DIRECTIONS};
use crate::error::{significant, Result};
use crate::fields::{blas, Precision, Recon, VectorField};
use crate::refuse;
use crate::solvers::{Progress, Shift, SolverKind, SolverParams, SolverReport, Stop};

interface! {
    "Solves"
    calls {
        /// Solves the equation given by solution_type for one source, through the system given by solve_type and
        /// matpc_type, in cuda_prec with iterations in cuda_prec_sloppy. Vectors of a preconditioned solution have
        /// one parity.
        invertQuda(h_x: *mut c_void, h_b: *mut c_void, param: InOut<QudaInvertParam>) = together invert;
        /// Solves as invertQuda does, for num_src sources together.
        invertMultiSrcQuda(_hp_x: List, _hp_b: List, param: InOut<QudaInvertParam>) = together invert_many;
        /// Solves (M^dagger M + offset[i]) x_i = b, or the same with P for M, for num_offset shifts in one Krylov
        /// space, each to its tol_offset.
        invertMultiShiftQuda(_hp_x: List, _hp_b: *mut c_void, param: InOut<QudaInvertParam>) = together invert_shifts;
        /// Removes the earlier solutions of a channel, 0 to 11.
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

/// Bit of QudaResidualType for the relative residual.
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

/// The equation given by solution_type, or its adjoint with QUDA_DAG_YES.
fn equation(vectors: &Vectors) -> Result<Solution> {
    Ok(match (vectors.wanted()?, vectors.dagger()?) {
        (Equation::Mat, false) => Solution::Mat,
        (Equation::Mat, true) => Solution::MatDag,
        (Equation::MatPc, false) | (Equation::MatPcDag, true) => Solution::MatPc,
        (Equation::MatPc, true) | (Equation::MatPcDag, false) => Solution::MatPcDag,
        (Equation::MatDagMat, false) => Solution::MatDagMat,
        (Equation::MatPcDagMatPc, false) => Solution::MatPcDagMatPc,
        (Equation::MatDagMat, true) => Solution::MatMatDag,
        (Equation::MatPcDagMatPc, true) => Solution::MatPcMatPcDag,
    })
}

/// The precision of the iteration; if the host has not set it, that of the solution.
fn sloppy(number: QudaPrecision, inside: Precision) -> Precision {
    match number.0 {
        1 | 2 => Precision::F16,
        4 => Precision::F32.min(inside),
        _ => inside,
    }
}

/// Solver, equation, precisions and stopping criteria of a solve, from the host's parameters.
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
        refuse!(InvalidArgument, "param.residual_type", expected("QUDA_L2_RELATIVE_RESIDUAL (1) or QUDA_L2_ABSOLUTE_RESIDUAL (2), QUDA_HEAVY_QUARK_RESIDUAL (4), or the sum of this and one of those"), found("{residuals}"));
    }
    let whole = solve.even_odd && !solution.preconditioned();
    if vectors.rho() != 0.0 && whole {
        refuse!(
            Unsupported,
            "param.tm_rho",
            expected("0 where a solution on the whole lattice comes from one parity"),
            found("{}", vectors.rho()),
            hint("QUDA_NORMOP_SOLVE or QUDA_DIRECT_SOLVE take it")
        );
    }
    if p.maxiter < 1 {
        refuse!(InvalidArgument, "param.maxiter", expected("1 or more"), found("{}", p.maxiter));
    }
    let goal = |bit: i32, tol: f64| if residuals & bit != 0 { tol } else { 0.0 };
    let (tol, tol_hq) = (goal(L2, p.tol), goal(HEAVY_QUARK, p.tol_hq));
    let met = |t: f64| t > 1e-300 && t < 1.0;
    if !shifted && !met(tol) && !met(tol_hq) {
        refuse!(
            InvalidArgument,
            "param.tol",
            expected("a number above 0, below 1"),
            found("{}", p.tol)
        );
    }
    let distance = vectors.distance()?;
    let other = shifted || p.inv_type_precondition.0 == MULTIGRID || !p.eig_param.is_null();
    if distance.is_some() && other {
        refuse!(
            Unsupported,
            "param.distance_pc_alpha0",
            expected("0 with several shifts, multigrid or eig_param"),
            found("{}", p.distance_pc_alpha0)
        );
    }
    if shifted && !p.eig_param.is_null() {
        refuse!(
            Unsupported,
            "param.eig_param",
            expected("NULL with several shifts"),
            found("an address")
        );
    }
    let precondition_steps = steps_inside(p, kind)?;
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
        omega: if kind == SolverKind::Mr || precondition_steps > 0 {
            p.omega
        } else {
            default.omega
        },
        ..default
    };
    Ok(SolveParams {
        solver,
        solution,
        equations,
        even_odd,
        sloppy: Some((form.min(whole), Recon::R12)),
        distance,
        precondition_steps,
        ..Default::default()
    })
}

/// Number of steps of minimal residual that precondition every iteration: QUDA_MR_INVERTER as inv_type_precondition
/// of GCR. The member has no effect with other solvers.
fn steps_inside(p: &QudaInvertParam, kind: SolverKind) -> Result<usize> {
    const MR: i32 = 3;
    match p.inv_type_precondition.0 {
        _ if kind != SolverKind::Gcr => Ok(0),
        MULTIGRID | INVALID => Ok(0),
        MR => match usize::try_from(p.maxiter_precondition) {
            Ok(steps @ 1..) => Ok(steps),
            _ => refuse!(
                InvalidArgument,
                "param.maxiter_precondition",
                expected("1 or more with QUDA_MR_INVERTER as inv_type_precondition"),
                found("{}", p.maxiter_precondition)
            ),
        },
        other => refuse!(
            Unsupported,
            "param.inv_type_precondition",
            expected(
                "QUDA_MG_INVERTER, QUDA_MR_INVERTER or QUDA_INVALID_INVERTER with a GCR inverter"
            ),
            found("{other}")
        ),
    }
}

/// The solver with these parameters, deflated if they ask for it: the last one if it has the same parameters, or a
/// new one.
fn solver(
    vectors: &Vectors,
    resident: &mut Resident,
    mut params: SolveParams,
    eigen: Option<&deflation::DeflationSpace>,
) -> Result<Arc<DiracSolver>> {
    let p = vectors.param;
    let (key, action) = vectors.action(resident)?;
    let preconditioned = p.inv_type_precondition.0 == MULTIGRID && !p.preconditioner.is_null();
    let multigrid = match preconditioned {
        true => Some(resident.multigrid(p.preconditioner, "param.preconditioner")?),
        false => None,
    };
    if multigrid.is_some() && !params.solution.preconditioned() {
        // Either parity's system gives the whole solution; multigrid is made for the symmetric system on even sites.
        params.even_odd = Some(Schur::EVEN_SYMMETRIC);
    }
    let recon = action.storage().1;
    params.sloppy = params.sloppy.map(|(precision, _)| (precision, recon));
    if multigrid.is_some() {
        params.sloppy = params.sloppy.map(|(p, r)| (p.max(Precision::F32), r));
        params.solver.nkrylov = params.solver.nkrylov.min(MULTIGRID_DIRECTIONS);
    }
    let modes = match eigen {
        Some(eigen) => Some(eigen.modes(vectors, resident, (&key, &action), params.even_odd)?),
        None => None,
    };
    let key = SolverKey {
        operator: key,
        params: params.clone(),
        multigrid: multigrid.as_ref().map_or(0, |m| m.0),
        deflation: modes.as_ref().map(|(number, d)| (*number, d.count, d.restart)),
    };
    if let Some((_, solver)) = resident.solver.as_ref().filter(|(old, _)| *old == key) {
        return Ok(solver.clone());
    }
    resident.solver = None;
    let made = DiracSolver::new(action, params)?;
    let made = made.with_multigrid(multigrid.map(|m| m.1))?;
    let made = Arc::new(made.with_deflation(modes.map(|m| m.1))?);
    resident.solver = Some((key, made.clone()));
    Ok(made)
}

/// The number of QUDA_MG_INVERTER.
const MULTIGRID: i32 = 12;

/// A monitor of solves that logs a line for every iteration.
pub(crate) fn notify(progress: &Progress) -> ControlFlow<()> {
    let worst = || progress.residual.iter().fold(0.0f64, |a, b| a.max(*b));
    log::debug!("iteration {}: residual {}", progress.iteration, significant(worst(), 4));
    ControlFlow::Continue(())
}

/// Writes the report of a solve into the host's struct.
fn report(p: &mut QudaInvertParam, r: &SolverReport) {
    // Hosts take a number of iterations below maxiter as a sign of convergence.
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
    let params = solver_params(&vectors, false)?;
    let eigen = deflation::DeflationSpace::of(&asked)?;
    let done = solve_with(&vectors, params, eigen.as_ref(), (at_x, at_b), param);
    if let Some(eigen) = eigen {
        eigen.finish(&mut vectors.session.resident(), done.is_ok());
    }
    done
}

fn solve_with(
    vectors: &Vectors,
    mut params: SolveParams,
    eigen: Option<&deflation::DeflationSpace>,
    (at_x, at_b): (&[*mut c_void], &[*mut c_void]),
    param: &mut QudaInvertParam,
) -> Result<()> {
    let (asked, at_all) = (vectors.param, at_b.len());
    let (solution, stop) = (params.solution, params.solver.stop);
    let chrono = chrono::ChannelUse::new(asked, at_b.len())?;
    let former = chrono.as_ref().filter(|c| c.used);
    let guess = params.solver.initial_guess && former.is_none();
    params.solver.initial_guess |= former.is_some();
    let solver = solver(vectors, &mut vectors.session.resident(), params, eigen)?;
    let subset = solver.subset();
    // The solution for the host's normalisation is this factor times the one for the kappa-normalised operator.
    let factor = inverse_factor(vectors, solution)?;
    let at_once = if at_b.len() > 1 { solver.part_of(at_b.len())? } else { 1 };
    // Parts wait on the host until all are solved: an error leaves every solution of the host as it was.
    let mut waiting = vec![];
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
        let done = solver.solve_until(stop, &mut x, &b, &mut notify)?.solver;
        if let Some(wanted) = chrono.as_ref().filter(|c| c.kept) {
            vectors.session.resident().chronology.keep(wanted, &x)?;
        }
        scale(&mut x, factor, &b)?;
        if at_once == at_all {
            vectors.save(&x, at_x, "h_x")?;
        } else {
            waiting.push((at_x, x.to_host()?));
        }
        if asked.compute_action != 0 {
            action += blas::dot(&b, &x)?.into_iter().sum::<num_complex::Complex64>();
        }
        total = Some(match total {
            Some(before) => before.join(done),
            None => done,
        });
    }
    for (at_x, part) in waiting {
        let mut x = vectors.field(subset, at_x.len())?;
        x.copy_from_host(&part)?;
        vectors.save(&x, at_x, "h_x")?;
    }
    if asked.compute_action != 0 {
        param.action = [action.re, action.im];
    }
    if let Some(total) = total {
        report(param, &total);
    }
    Ok(())
}

/// The relative residual with which |b - M x| of each right-hand side is at most `absolute`.
fn relative(absolute: f64, b: &VectorField) -> Result<f64> {
    let norm = blas::norm2(b)?.into_iter().fold(0.0, f64::max).sqrt();
    // A relative residual of 1 is met by x = 0, so that none above 0.5 is used.
    Ok(if absolute < 0.5 * norm { absolute / norm } else { 0.5 })
}

/// The inverse of the factor of the equation's operator.
fn inverse_factor(vectors: &Vectors, solution: Solution) -> Result<f64> {
    let c = 1.0 / vectors.factor(solution.preconditioned())?;
    Ok(if solution.normal() { c * c } else { c })
}

fn invert_shifts(x: &List, h_b: *mut c_void, param: &mut QudaInvertParam) -> Result<()> {
    let asked = *param;
    let vectors = Vectors::new(&asked, "param")?;
    let max = asked.offset.len();
    let count = match usize::try_from(asked.num_offset) {
        Ok(n) if (1..=max).contains(&n) => n,
        _ => refuse!(
            InvalidArgument,
            "param.num_offset",
            expected("1 to {max}"),
            found("{}", asked.num_offset)
        ),
    };
    let mut params = solver_params(&vectors, true)?;
    let solution = params.solution;
    if !solution.normal() {
        refuse!(
            InvalidArgument,
            "param.solution_type",
            expected("QUDA_MATDAG_MAT_SOLUTION or QUDA_MATPCDAG_MATPC_SOLUTION"),
            found("{solution}")
        );
    }
    // Systems with shifts have a solver of their own: this kind only has to be valid for a normal equation.
    params.solver.kind = SolverKind::Cgnr;
    let factor = inverse_factor(&vectors, solution)?;
    let heavy = asked.residual_type.0 & HEAVY_QUARK != 0;
    let shift = |i: usize| Shift {
        sigma: asked.offset[i] * factor,
        tol: asked.tol_offset[i],
        heavy_quark: if heavy { asked.tol_hq_offset[i] } else { 0.0 },
    };
    let shifts: Vec<Shift> = (0..count).map(shift).collect();
    let solver = solver(&vectors, &mut vectors.session.resident(), params, None)?;
    let at_x = x.get(count, "_hp_x")?;
    let b = vectors.load(&[h_b], solver.subset(), "_hp_b")?;
    let fields = (0..count).map(|_| vectors.field(solver.subset(), 1));
    let mut fields = fields.collect::<Result<Vec<VectorField>>>()?;
    let (done, each) = solver.multishift(&shifts, &mut fields, &b, &mut notify)?;
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
        param.true_res_hq_offset[i] = shift.residual_hq.iter().fold(0.0f64, |a, b| a.max(*b));
    }
    param.action = action;
    let max = each.iter().map(|shift| shift.iterations + shift.refinement).max();
    report(param, &SolverReport { iterations: max.unwrap_or(0), ..done.solver });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::resident::Links;
    use super::*;
    use crate::capi::quda::records::Record;
    use crate::error::Status;
    use crate::fields::GaugeField;
    use crate::params::Number;

    /// If memory is short, sources are solved for in parts with the same solutions; if a source is refused, no
    /// solution has changed.
    #[test]
    fn a_part_that_fails_leaves_all_solutions_as_they_were() {
        const N: usize = 4;
        session::set_device(-1).unwrap();
        let session = session::with_part([4, 4, 4, 8]).unwrap();
        let device = session.context.device().clone();
        let mut links =
            GaugeField::new(&device, &session.geometry, Precision::F64, Recon::R12).unwrap();
        links.set_near_unit(3, 0.2).unwrap();
        session.resident().set_links(Some(Links::plain(Arc::new(links))));
        let numbers = 24 * session.geometry.volume();
        let mut b: Vec<Vec<f64>> = (0..N)
            .map(|j| (0..numbers).map(|i| ((i * (j + 3)) % 17) as f64 - 8.0).collect())
            .collect();
        let mut x = vec![vec![7.0; numbers]; N];
        let new = || QudaInvertParam {
            dslash_type: Number::new(0),
            inv_type: Number::new(1),
            kappa: 0.1,
            tol: 1e-9,
            maxiter: 500,
            solution_type: Number::new(0),
            solve_type: Number::new(2),
            matpc_type: Number::new(0),
            dagger: Number::new(0),
            mass_normalization: Number::new(0),
            cpu_prec: Number::new(8),
            cuda_prec: Number::new(8),
            cuda_prec_sloppy: Number::new(4),
            dirac_order: Number::new(1),
            gamma_basis: Number::new(0),
            num_src: N as c_int,
            ..QudaInvertParam::NEW
        };
        let run = |x: &mut [Vec<f64>], b: &mut [Vec<f64>]| {
            let at = |fields: &mut [Vec<f64>]| -> Vec<*mut c_void> {
                fields.iter_mut().map(|f| f.as_mut_ptr().cast()).collect()
            };
            let (mut at_x, mut at_b) = (at(x), at(b));
            let x = List::at(at_x.as_mut_ptr().cast(), "x").unwrap();
            let b = List::at(at_b.as_mut_ptr().cast(), "b").unwrap();
            let mut param = new();
            invert_many(&x, &b, &mut param).map(|()| param.true_res)
        };
        let residuals = run(&mut x, &mut b).unwrap();
        assert!(residuals[..N].iter().all(|r| *r < 1e-9));
        let whole = x.clone();
        // The device has memory for two sources at a time.
        let (made, bytes) = {
            let resident = session.resident();
            let solver = &resident.solver.as_ref().unwrap().1;
            assert_eq!(solver.part_of(N).unwrap(), N);
            (solver.clone(), 2 * solver.op().shape().bytes(2) + solver.memory(2).unwrap())
        };
        device.limit_memory(device.used().0 + bytes);
        assert_eq!(made.part_of(N).unwrap(), 2);
        x.iter_mut().for_each(|x| x.fill(7.0));
        let residuals = run(&mut x, &mut b);
        b[N - 1][5] = f64::NAN;
        let mut untouched = vec![vec![7.0; numbers]; N];
        let refused = run(&mut untouched, &mut b);
        device.limit_memory(u64::MAX);
        assert!(residuals.unwrap()[..N].iter().all(|r| *r < 1e-9));
        for (x, whole) in x.iter().zip(&whole) {
            assert!(x.iter().zip(whole).all(|(a, b)| (a - b).abs() < 1e-6));
        }
        assert_eq!(refused.unwrap_err().status, Status::NotFinite);
        assert!(untouched.iter().flatten().all(|v| *v == 7.0));
        session::close();
    }
}
