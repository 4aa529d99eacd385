//! Reweighting factors of quark determinants.

use std::ffi::c_void;
use std::sync::Arc;

use super::args::{Array, Handle, MaybeArray, OutArray, Params, Raw, Report};
use super::progress::plaq_progress_callback;
use super::solve::{monitor, plaq_solver, Solver};
use super::table::interface;
use crate::error::Result;
pub use crate::ops::reweighting::plaq_reweighting_params;
use crate::ops::reweighting::{plaq_reweighting_report, reweighting};
use crate::ops::reweighting::{ReweightingKind, ReweightingParams};
use crate::params::{InC as _, ToC as _};
use crate::refuse;

interface! {
    "Reweighting factors"
    choices {
        plaq_reweighting_kind = ReweightingKind;
    }
    tables {
        plaq_reweighting_params, plaq_reweighting_params_init;
    }
    reported {
        plaq_reweighting_report, plaq_reweighting_report_init;
    }
    functions {
        /// Estimates reweighting factors by normal noise: for each twisted mass mu_k, 0 < mu_1 < mu_2 < ..., the
        /// factor from mu_k-1 to mu_k (mu_0 = 0), so that their product is the factor of the last mass; for a
        /// rational function, without mu (`nmu` = 0), one factor. `minus_ln`: -ln of the estimate, [factor][vector];
        /// a factor is the average of exp(-minus_ln) over vectors. `norms`: square norms of the noise vectors in the
        /// same order, or NULL. `numbers`: number of factors times params.vectors. Solves have the settings of
        /// `solver`; those with twisted masses use its algorithm, those for poles CG. The callback is that of solves;
        /// if it ends one the call fails with NOT_CONVERGED. Errors: INVALID_ARGUMENT, BAD_PARAMETER, UNSUPPORTED,
        /// NOT_CONVERGED, SPECTRAL_BOUNDS (eigenvalues outside of the rational function's interval), those of
        /// plaq_solver_solve.
        plaq_solver_reweighting(solver: Handle<plaq_solver>, params: Params<plaq_reweighting_params>, mu: Array<f64>[nmu], nmu: i64, callback: Raw<plaq_progress_callback>, user: *mut c_void, minus_ln: OutArray<f64>[numbers], norms: MaybeArray<f64>[numbers], numbers: i64, report: Report<plaq_reweighting_report>) = factors_of;
    }
}

#[allow(clippy::too_many_arguments)]
fn factors_of(
    solver: &Arc<Solver>,
    params: &plaq_reweighting_params,
    mu: &Array<f64>,
    nmu: i64,
    callback: plaq_progress_callback,
    user: *mut c_void,
    minus_ln: &mut OutArray<f64>,
    norms: &mut MaybeArray<f64>,
    numbers: i64,
    report: &mut Report<plaq_reweighting_report>,
) -> Result<()> {
    let params = ReweightingParams::from_c(params, "params")?;
    if !(0..=256).contains(&nmu) {
        refuse!(InvalidArgument, "nmu", expected("0 to 256"), found("{nmu}"));
    }
    let mu = mu.get(nmu as usize)?;
    let factors = if params.kind == ReweightingKind::Rational { 1 } else { mu.len() };
    let expected = (factors * params.vectors) as i64;
    if numbers != expected {
        refuse!(
            InvalidArgument,
            "numbers",
            expected("factors times params.vectors, {expected}"),
            found("{numbers}")
        );
    }
    let mut notify = monitor(solver.solver()?, callback, user);
    let found = reweighting(solver.solver()?, &params, &mu, &mut notify)?;
    minus_ln.set(found.factors.iter().flat_map(|one| one.minus_ln.clone()).collect());
    norms.set(found.factors.iter().flat_map(|one| one.norm2.clone()).collect());
    report.set(found.report().to_c());
    Ok(())
}
