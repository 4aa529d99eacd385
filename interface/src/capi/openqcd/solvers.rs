//! Solvers and eigensolvers that sections of openQxD's input file describe.

use std::ffi::{c_int, c_void};

use xxhash_rust::xxh3::xxh3_64;

use super::fields::{self, operator};
use super::order::SPINOR;
use super::state::{self, Eigensolver, Host, Levels, OpenQcdState, Solver};
use crate::capi::args::{DataOut, Out};
use crate::capi::quda::enums::*;
use crate::capi::quda::params_invert::QudaInvertParam;
use crate::capi::quda::params_parts::{QudaEigParam, QudaMultigridParam};
use crate::capi::quda::records::{Record, Role};
use crate::capi::quda::{eigen, invert, multigrid, session, setup};
use crate::error::Result;
use crate::fields::Precision;
use crate::refuse;

/// Numbers of solvers and of eigensolvers, counted from 0, are below this one.
const MAX_SOLVERS: c_int = 32;

fn number(id: c_int, lowest: c_int, name: &str) -> Result<()> {
    if !(lowest..MAX_SOLVERS).contains(&id) {
        let operator = if lowest < 0 { "-1 (the Dirac operator) or " } else { "" };
        refuse!(
            InvalidArgument,
            "{name}",
            expected("{operator}0 to {}", MAX_SOLVERS - 1),
            found("{id}")
        );
    }
    Ok(())
}

impl Solver {
    fn new(host: &Host, id: c_int) -> Result<Solver> {
        let mut param = Box::new(operator());
        if id < 0 {
            return Ok(Solver { param, mu: 0.0, multigrid: None });
        }
        let (title, input) = (format!("Solver {id}"), &host.input);
        let kind = input.value(&title, "solver")?.join(" ");
        if kind != "QUDA" {
            refuse!(BadParameter, "[{title}] solver", expected("QUDA"), found("{kind}"));
        }
        input.fill(&title, None, &mut *param)?;
        let orders = [
            (
                "dirac_order",
                param.dirac_order == QUDA_OPENQCD_DIRAC_ORDER,
                "QUDA_OPENQCD_DIRAC_ORDER",
            ),
            (
                "gamma_basis",
                param.gamma_basis == QUDA_OPENQCD_GAMMA_BASIS,
                "QUDA_OPENQCD_GAMMA_BASIS",
            ),
            ("cpu_prec", param.cpu_prec == QUDA_DOUBLE_PRECISION, "QUDA_DOUBLE_PRECISION"),
        ];
        for (key, right, expected) in orders {
            if !right {
                let found = input.value(&title, key)?.join(" ");
                refuse!(
                    BadParameter,
                    "[{title}] {key}",
                    expected("{expected}, which openQxD's arrays are"),
                    found("{found}")
                );
            }
        }
        let multigrid = match param.inv_type_precondition == QUDA_MG_INVERTER {
            true => Some(Levels::new(host, &title)?),
            false => None,
        };
        Ok(Solver { param, mu: 0.0, multigrid })
    }
}

impl Levels {
    fn new(host: &Host, solver: &str) -> Result<Levels> {
        let title = format!("{solver} Multigrid");
        let mut param = Box::new(QudaMultigridParam::NEW);
        host.input.value(&title, "n_level")?;
        host.input.fill(&title, None, &mut *param)?;
        let max = param.n_vec.len();
        match usize::try_from(param.n_level) {
            Ok(levels) if (2..=max).contains(&levels) => {
                for level in 0..levels {
                    let title = format!("{title} Level {level}");
                    host.input.fill(&title, Some(level), &mut *param)?;
                }
            }
            _ => refuse!(
                BadParameter,
                "[{title}] n_level",
                expected("2 to {max}"),
                found("{}", param.n_level)
            ),
        }
        Ok(Levels { param, made: None })
    }
}

/// Frees the multigrid that a solver has on the device.
fn destroy_multigrid(solver: &mut Solver) -> Result<()> {
    match solver.multigrid.as_mut().and_then(|levels| levels.made.take()) {
        Some((made, ..)) => multigrid::destroy(made),
        None => Ok(()),
    }
}

/// Takes the solver of this number out of the state for the time that it is in use.
fn take(host: &Host, id: c_int) -> Result<Solver> {
    match state::with(|state| Ok(state.solvers.remove(&id)))? {
        Some(solver) => Ok(solver),
        None => Solver::new(host, id),
    }
}

fn give(id: c_int, solver: Solver) -> Result<()> {
    state::with(|state| {
        state.solvers.insert(id, solver);
        Ok(())
    })
}

/// Calls `work` with the solver, whose links, clover term and multigrid were updated to openQxD's present fields.
fn updated<T>(
    host: &Host,
    id: c_int,
    mu: Option<f64>,
    work: impl FnOnce(&mut QudaInvertParam) -> Result<T>,
) -> Result<T> {
    let mut solver = take(host, id)?;
    solver.mu = mu.unwrap_or(solver.mu);
    let done = solver.update(host).and_then(|()| work(&mut solver.param));
    give(id, solver)?;
    done
}

impl Solver {
    fn update(&mut self, host: &Host) -> Result<()> {
        let mu = self.mu;
        let now = fields::update(host)?;
        let clover = fields::has_clover(&now);
        let param = &mut *self.param;
        fields::set_operator(param, now.kappa, clover, mu);
        (param.clover_csw, param.clover_coeff) = (now.su3csw, now.kappa * now.su3csw);
        let Some(levels) = &mut self.multigrid else { return Ok(()) };
        if now.links.revisions == (0, 0) {
            return Ok(());
        }
        let mut inner = fields::in_order(param);
        levels.param.invert_param = &mut inner;
        if let Some((instance, made, old)) = levels.made {
            if made.links != now.links {
                levels.made = None;
                multigrid::destroy(instance)?;
            } else if (made, old) != (now, mu) {
                multigrid::update(instance, &mut levels.param)?;
                levels.made = Some((instance, now, mu));
            }
        }
        if levels.made.is_none() {
            levels.made = Some((multigrid::create(&mut levels.param)?, now, mu));
        }
        levels.param.invert_param = param;
        param.preconditioner = levels.made.map_or(std::ptr::null_mut(), |made| made.0);
        Ok(())
    }
}

pub fn handle(id: c_int) -> Result<*mut c_void> {
    number(id, -1, "id")?;
    let host = state::host()?;
    updated(&host, id, None, |param| Ok((param as *mut QudaInvertParam).cast()))
}

pub fn hash(id: c_int) -> Result<c_int> {
    number(id, -1, "id")?;
    state::with(|state| {
        let Some(solver) = state.solvers.get(&id) else { return Ok(0) };
        // Left out of the hash are addresses, which differ from run to run, and mu, which differs from solve to solve.
        let settings = solver.param.lines().into_iter().skip(1).zip(QudaInvertParam::ROLES);
        let settings = settings.filter(|(_, (name, role, _))| {
            *role == Role::Used && !matches!(*name, "preconditioner" | "mu" | "dslash_type")
        });
        let text: Vec<String> = settings.map(|(line, _)| line).collect();
        // The hash is never 0, which says that there is none.
        Ok(xxh3_64(text.join("\n").as_bytes()) as c_int | 1)
    })
}

pub fn print_setup(id: c_int) -> Result<()> {
    number(id, -1, "id")?;
    let text = state::with(|state| {
        let Some(solver) = state.solvers.get(&id) else {
            return Ok("Solver is not initialized yet".into());
        };
        let mut all = vec![format!("Solver {id}")];
        all.extend(solver.param.lines());
        if let Some(levels) = &solver.multigrid {
            all.push(format!("Solver {id} Multigrid"));
            all.extend(levels.param.lines());
        }
        Ok(all.join("\n"))
    })?;
    say(text)
}

/// Prints a text on rank 0.
fn say(text: String) -> Result<()> {
    state::host()?;
    if session::get()?.context.comm().rank() == 0 {
        setup::put(text);
    }
    Ok(())
}

pub fn destroy(id: c_int) -> Result<()> {
    number(id, -1, "id")?;
    state::host()?;
    match state::with(|state| Ok(state.solvers.remove(&id)))? {
        Some(mut solver) => destroy_multigrid(&mut solver),
        None => Ok(()),
    }
}

pub fn solve(
    id: c_int,
    mu: f64,
    source: *mut c_void,
    solution: *mut c_void,
    status: &mut Out<c_int>,
) -> Result<f64> {
    number(id, 0, "id")?;
    let host = state::host()?;
    // This also brings openQxD's own clover term up to date.
    host.clover()?;
    let mut b = fields::spinor_in(&host, source, "h_source")?;
    updated(&host, id, Some(mu), |param| {
        let mut x = match param.use_init_guess == QUDA_USE_INIT_GUESS_YES {
            true => fields::spinor_in(&host, solution, "h_solution")?,
            false => vec![0.0; b.len()],
        };
        let mut asked = fields::in_order(param);
        invert::invert(x.as_mut_ptr().cast(), b.as_mut_ptr().cast(), &mut asked)?;
        fields::spinor_out(&host, &x, solution, "h_solution")?;
        let residual = asked.true_res[0];
        (param.true_res, param.true_res_hq) = (asked.true_res, asked.true_res_hq);
        (param.iter, param.secs, param.gflops) = (asked.iter, asked.secs, asked.gflops);
        status.set(if residual <= param.tol { param.iter } else { -1 });
        Ok(residual)
    })
}

fn new_eigensolver(host: &Host, id: c_int) -> Result<Eigensolver> {
    let mut param = Box::new(QudaEigParam::NEW);
    host.input.fill(&format!("Eigensolver {id}"), None, &mut *param)?;
    Ok(Eigensolver { param })
}

/// Calls `work` with an eigensolver for the solver's operator.
fn with_eigensolver<T>(
    (id, solver_id): (c_int, c_int),
    work: impl FnOnce(&Host, &mut QudaEigParam) -> Result<T>,
) -> Result<T> {
    number(id, 0, "id")?;
    number(solver_id, -1, "solver_id")?;
    let host = state::host()?;
    let former = state::with(|state: &mut OpenQcdState| Ok(state.eigensolvers.remove(&id)))?;
    let mut solver = match former {
        Some(solver) => solver,
        None => new_eigensolver(&host, id)?,
    };
    let done = updated(&host, solver_id, None, |param| {
        solver.param.invert_param = param;
        work(&host, &mut solver.param)
    });
    state::with(|state| {
        state.eigensolvers.insert(id, solver);
        Ok(())
    })?;
    done
}

pub fn eigen_handle(id: c_int, solver_id: c_int) -> Result<*mut c_void> {
    with_eigensolver((id, solver_id), |_, param| Ok((param as *mut QudaEigParam).cast()))
}

pub fn eigen_print(id: c_int, solver_id: c_int) -> Result<()> {
    number(id, 0, "id")?;
    number(solver_id, -1, "solver_id")?;
    let text = state::with(|state| {
        let Some(solver) = state.eigensolvers.get(&id) else {
            return Ok("Eigensolver is not initialized yet".into());
        };
        let mut all = vec![format!("Eigensolver {id}")];
        all.extend(solver.param.lines());
        Ok(all.join("\n"))
    })?;
    say(text)?;
    print_setup(solver_id)
}

pub fn eigensolve(
    id: c_int,
    solver_id: c_int,
    h_evecs: *mut *mut c_void,
    h_evals: *mut c_void,
) -> Result<()> {
    with_eigensolver((id, solver_id), |host, eig| {
        // SAFETY: that of the solver, which is in use.
        let mut quark = fields::in_order(unsafe { &*eig.invert_param });
        let mut asked = QudaEigParam { invert_param: &mut quark, ..*eig };
        let count = usize::try_from(eig.n_conv).unwrap_or(0);
        let mut values = vec![0.0f64; 2 * count];
        let mut vectors = vec![vec![0.0f64; host.order.volume() * SPINOR]; count];
        let mut list: Vec<*mut c_void> =
            vectors.iter_mut().map(|v| v.as_mut_ptr().cast()).collect();
        eigen::eigensolve(list.as_mut_ptr(), values.as_mut_ptr().cast(), &mut asked)?;
        for (i, vector) in vectors.iter().enumerate().filter(|_| !h_evecs.is_null()) {
            // SAFETY: the host's list of n_conv addresses.
            let at = unsafe { h_evecs.add(i).read_unaligned() };
            fields::spinor_out(host, vector, at, "h_evecs")?;
        }
        DataOut::at(h_evals, "h_evals")?.write(Precision::F64, &values);
        Ok(())
    })
}

pub fn eigen_destroy(id: c_int) -> Result<()> {
    number(id, 0, "id")?;
    state::with(|state| {
        state.eigensolvers.remove(&id);
        Ok(())
    })
}
