//! Quark loops by noise.

use std::ffi::c_void;
use std::sync::Arc;

use num_complex::Complex64;

use super::args::{Array, Handle, MaybeArray, OptionalHandle, Out, OutArray, Params, Raw, Report};
use super::contract::{check_extent, pairs};
use super::gauge::{plaq_gauge, Gauge};
use super::solve::{monitor, plaq_progress_callback, plaq_solve_report, plaq_solver, Solver};
use super::structure::Operators;
use super::table::interface;
use crate::error::{host_array, Result};
pub use crate::ops::structure::loops::plaq_loops_params;
use crate::ops::structure::loops::{loops, probe, LoopKind, LoopOperators, LoopsParams, OneEnd};
use crate::params::{InC as _, ToC as _};
use crate::refuse;

interface! {
    "Quark loops"
    choices {
        plaq_loops_kind = OneEnd;
    }
    tables {
        plaq_loops_params, plaq_loops_params_init;
    }
    functions {
        /// Estimates quark loops by noise: for each noise vector sum_x exp(-i p x) tr[Gamma line M^-1(end, x)], without
        /// the minus sign of the fermion loop, for each time t of the lattice, with x counted from the lattice's
        /// origin. Lines, momenta and `gauge` are those of plaq_spinor_contract_insertions; M and its boundary phase
        /// are those of `solver`, for PLAQ_SOLUTION_M; `other`: the solver of the other quark of PLAQ_LOOPS_DIFFERENCE.
        /// `estimates`: (re, im) of [vector][line][Gamma, all 16][momentum][t]; `currents`, or NULL: the loops of the
        /// conserved current of plaq_spinor_contract_current, [vector][mu][momentum][t]. Columns are contracted right
        /// after they are solved. The callback is that of solves; if it ends the work, `finished` vectors are complete
        /// and the others 0. Errors: INVALID_ARGUMENT, UNSUPPORTED, those of plaq_solver_solve.
        plaq_solver_loops(solver: Handle<plaq_solver>, other: OptionalHandle<plaq_solver>, gauge: Handle<plaq_gauge>, params: Params<plaq_loops_params>, lengths: Array<i32>[lines], lines: i64, steps: Array<i32>[nsteps], nsteps: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, vectors: i64, times: i64, callback: Raw<plaq_progress_callback>, user: *mut c_void, estimates: OutArray<f64>[32 vectors lines nmomenta times], currents: MaybeArray<f64>[8 vectors nmomenta times], finished: Out<i64>, report: Report<plaq_solve_report>) = loops_of;
        /// Gives wave number `number` of hierarchical probing on a lattice of these extents, which must be even, as
        /// n_mu of exp(2 pi i sum_mu n_mu x_mu / L_mu). Errors: INVALID_ARGUMENT.
        plaq_source_probe(extents: Array<i32>[4], number: i64, wave: OutArray<i32>[4]) = probe_of;
    }
}

#[allow(clippy::too_many_arguments)]
fn loops_of(
    solver: &Arc<Solver>,
    other: Option<&Arc<Solver>>,
    gauge: &Arc<Gauge>,
    params: &plaq_loops_params,
    lengths: &Array<i32>,
    nlines: i64,
    steps: &Array<i32>,
    nsteps: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    vectors: i64,
    times: i64,
    callback: plaq_progress_callback,
    user: *mut c_void,
    estimates: &mut OutArray<f64>,
    currents: &mut MaybeArray<f64>,
    finished: &mut Out<i64>,
    report: &mut Report<plaq_solve_report>,
) -> Result<()> {
    solver.context().check_same(gauge.context(), "gauge")?;
    if let Some(other) = other {
        solver.context().check_same(other.context(), "other")?;
    }
    let params = LoopsParams::from_c(params, "params")?;
    let noise = params.noise("params")?;
    if vectors != noise.vectors as i64 {
        refuse!(
            InvalidArgument,
            "vectors",
            expected("params.vectors, {}", noise.vectors),
            found("{vectors}")
        );
    }
    let geometry = solver.solver()?.op().shape().geometry;
    check_extent(&geometry, times)?;
    let Operators { lines, momenta } =
        Operators::of((lengths, nlines), (steps, nsteps), (momenta, nmomenta))?;
    let links = gauge.read("gauge")?;
    let operators = LoopOperators {
        lines: &lines,
        momenta: &momenta,
        links: &links,
        own: solver.solver()?.op().links(),
        boundary: solver.phases(),
    };
    let n = vectors as usize;
    let each = [16 * lines.len(), 4].map(|k| k * momenta.len() * times as usize);
    let zeros = |k: usize| host_array(n * k, Complex64::ZERO, "estimates of loops");
    let mut all = [zeros(each[0])?, zeros(each[1])?];
    let mut complete = 0;
    let mut notify = monitor(solver.solver()?, callback, user);
    let factor = Complex64::new(params.factor[0], params.factor[1]);
    let other = other.map(|s| s.solver()).transpose()?;
    let how = LoopKind { how: params.kind, other, factor, low: None, change: None };
    let by = (solver.solver()?, solver.columns());
    let done = loops(by, noise, how, operators, &mut notify, &mut |_, found| {
        let places = [0, 1].map(|k| complete * each[k]..(complete + 1) * each[k]);
        let [lines, current] = &mut all;
        lines[places[0].clone()].copy_from_slice(&found.lines);
        current[places[1].clone()].copy_from_slice(&found.current);
        complete += 1;
    })?;
    let [lines, current] = all;
    estimates.set(pairs(lines).collect());
    currents.set(pairs(current).collect());
    finished.set(complete as i64);
    report.set(done.totals(solver.solver()?.params().solver.kind).to_c());
    Ok(())
}

fn probe_of(extents: &Array<i32>, number: i64, wave: &mut OutArray<i32>) -> Result<()> {
    let found = extents.get(4)?;
    if found.iter().any(|l| *l < 2 || l % 2 != 0 || *l > 1 << 15) {
        refuse!(
            InvalidArgument,
            "extents",
            expected("even numbers up to 32768"),
            found("{found:?}")
        );
    }
    let Ok(number) = usize::try_from(number) else {
        refuse!(InvalidArgument, "number", expected("0 or more"), found("{number}"));
    };
    wave.set(probe([0, 1, 2, 3].map(|mu| found[mu] as usize), number)?.to_vec());
    Ok(())
}
