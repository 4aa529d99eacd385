//! `quda.h`: multigrid of the default context.

#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_void, CStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::arrays::InOut;
use super::operators::Vectors;
use super::params_invert::QudaInvertParam;
use super::params_parts::QudaMultigridParam;
use super::records::Record;
use super::session;
use crate::capi::args::Array;
use crate::capi::table::interface;
use crate::compose::multigrid::{
    Cycle, LevelParams, Multigrid, MultigridParams, Update, MAX_MODES,
};
use crate::error::Result;
use crate::ops::null_space::{load_multigrid, save_multigrid};
use crate::refuse;
use crate::solvers::no_monitor;

interface! {
    "Multigrid"
    calls {
        /// Finds null vectors of invert_param's operator and builds the levels. n_level, geo_block_size, n_vec,
        /// nu_pre, nu_post, coarse_solver_tol, coarse_solver_maxiter and cycle_type are used; plaq chooses the
        /// solvers. Blocks that do not divide a level are halved until they do. Null vectors of the finest level are
        /// read from the file in vec_infile[0], if a name is there; with vec_store[0] 1 they are written to the file
        /// in vec_outfile[0], as by dumpMultigridQuda. Those of coarse levels are made from them. The result is for
        /// `preconditioner` of QudaInvertParam.
        newMultigridQuda(param: InOut<QudaMultigridParam>) -> *mut c_void = together create;
        /// Updates the multigrid to the operator's present links and parameters. If setup_maxiter_refresh is above 0
        /// on some level, null vectors are refined by the cycle; otherwise, and with thin_update_only 1, they are
        /// kept as long as the cycle works well with them.
        updateMultigridQuda(mg_instance: *mut c_void, param: InOut<QudaMultigridParam>) = together update;
        destroyMultigridQuda(mg_instance: *mut c_void) = alone destroy;
        /// Writes the null vectors of the finest level to a file in the format of plaq_multigrid_write. Its name is
        /// vec_outfile[0] followed by `_level_0_nvec_` and their number.
        dumpMultigridQuda(mg_instance: *mut c_void, param: InOut<QudaMultigridParam>) = together dump;
    }
}

/// Number of times that an update refines null vectors by the cycle.
const REFINEMENTS: usize = 1;

fn operator_of(param: &QudaMultigridParam) -> Result<QudaInvertParam> {
    param.check("param")?;
    Ok(Array::at(param.invert_param, "param.invert_param")?.own(1)[0])
}

fn positive(value: c_int, name: &str, level: usize) -> Result<usize> {
    match usize::try_from(value) {
        Ok(n) if n > 0 => Ok(n),
        _ => {
            refuse!(BadParameter, "param.{name}[{level}]", expected("1 or more"), found("{value}"))
        }
    }
}

/// The extent of a block in a direction as QUDA uses it: halved until it divides the level's extent.
fn dividing(block: usize, extent: usize) -> usize {
    let halves = std::iter::successors(Some(block), |b| Some(b / 2)).take_while(|b| *b > 1);
    halves.into_iter().find(|b| extent.is_multiple_of(*b)).unwrap_or(1)
}

/// The parameters of a hierarchy; `extents` are those of the finest level on this rank.
fn params(p: &QudaMultigridParam, mut extents: [usize; 4]) -> Result<MultigridParams> {
    let levels = match usize::try_from(p.n_level) {
        Ok(n) if (2..=p.n_vec.len()).contains(&n) => n,
        _ => refuse!(
            BadParameter,
            "param.n_level",
            expected("2 to {}", p.n_vec.len()),
            found("{}", p.n_level)
        ),
    };
    if let Some(i) = (0..levels - 1).find(|&i| p.transfer_type[i].0 != 0) {
        refuse!(
            Unsupported,
            "param.transfer_type[{i}]",
            expected("QUDA_TRANSFER_AGGREGATE (0), as the others are those of staggered quarks"),
            found("{}", p.transfer_type[i].0)
        );
    }
    let mut made = MultigridParams { levels: Some(levels), ..Default::default() };
    for i in 0..levels - 1 {
        let mut block = [0; 4];
        for (mu, extent) in block.iter_mut().enumerate() {
            let asked = positive(p.geo_block_size[i][mu], "geo_block_size", i)?;
            *extent = dividing(asked, extents[mu]);
            extents[mu] /= *extent;
        }
        let steps = |n: c_int| usize::try_from(n).unwrap_or(0);
        let (pre, post) = (steps(p.nu_pre[i]), steps(p.nu_post[i]));
        made.twist_factors[i] = p.mu_factor[i + 1];
        made.level[i] =
            LevelParams { block, vectors: positive(p.n_vec[i], "n_vec", i)?, pre, post };
    }
    // QUDA's cycles: V, F, W, and one that solves each level.
    made.cycle = match p.cycle_type[0].0 {
        0 => Cycle::V,
        2 => Cycle::W,
        _ => Cycle::K,
    };
    made.coarsest_modes = modes_of_coarsest(p, levels - 1)?;
    let tolerance = |level: usize, default: f64| match p.coarse_solver_tol[level] {
        tol if (1e-15..1.0).contains(&tol) => tol,
        _ => default,
    };
    made.coarsest_tol = tolerance(levels - 1, made.coarsest_tol);
    if levels > 2 {
        made.tol = tolerance(1, made.tol);
    }
    if let Ok(n @ 1..) = usize::try_from(p.coarse_solver_maxiter[levels - 1]) {
        made.coarsest_iterations = n;
    }
    Ok(made)
}

/// The file of null vectors of the finest level, whose name ends as QUDA's does; None: no name was given.
fn file(
    names: &[[c_char; 256]; 5],
    member: &str,
    levels: usize,
    vectors: usize,
) -> Result<Option<PathBuf>> {
    if let Some(i) = (1..levels).find(|&i| names[i][0] != 0 && names[0][0] == 0) {
        refuse!(Unsupported, "param.{member}[{i}]", expected("an empty name where that of level 0 is empty, as plaq makes null vectors of coarse levels of the finest one's"), found("another"));
    }
    let bytes: &[u8] = bytemuck::cast_slice(&names[0]);
    let Ok(name) = CStr::from_bytes_until_nul(bytes) else {
        refuse!(
            InvalidArgument,
            "param.{member}[0]",
            expected("a text that ends with NUL"),
            found("none")
        );
    };
    if name.is_empty() {
        return Ok(None);
    }
    let mut path = name.to_bytes().to_vec();
    path.extend(format!("_level_0_nvec_{vectors}").bytes());
    Ok(Some(PathBuf::from(OsString::from_vec(path))))
}

/// The number of low modes of the coarsest level, if the host asks for them.
fn modes_of_coarsest(p: &QudaMultigridParam, coarsest: usize) -> Result<Option<usize>> {
    if let Some(i) = (0..coarsest).find(|&i| p.use_eig_solver[i].0 == 1) {
        refuse!(Unsupported, "param.use_eig_solver[{i}]", expected("QUDA_BOOLEAN_FALSE but for the coarsest level, {coarsest}, as null vectors are found by iteration"), found("QUDA_BOOLEAN_TRUE"));
    }
    if p.use_eig_solver[coarsest].0 != 1 {
        return Ok(None);
    }
    let eigen =
        Array::at(p.eig_param[coarsest], "param.eig_param of the coarsest level")?.own(1)[0];
    let wanted = if eigen.n_ev_deflate > 0 { eigen.n_ev_deflate } else { eigen.n_conv };
    match usize::try_from(wanted) {
        Ok(n @ 1..) => Ok(Some(n.min(MAX_MODES))),
        _ => refuse!(
            BadParameter,
            "param.eig_param[{coarsest}].n_conv",
            expected("1 or more with use_eig_solver"),
            found("{wanted}")
        ),
    }
}

pub(crate) fn create(param: &mut QudaMultigridParam) -> Result<*mut c_void> {
    let operator = operator_of(param)?;
    let vectors = Vectors::new(&operator, "param.invert_param")?;
    let session = session::get()?;
    let params = params(param, session.geometry.extents())?;
    let named = |names, member: &str| {
        file(names, member, params.levels.unwrap_or(2), params.level[0].vectors)
    };
    let source = named(&param.vec_infile, "vec_infile")?;
    let target = named(&param.vec_outfile, "vec_outfile")?;
    let (_, action) = vectors.action(&mut session.resident())?;
    let made = match &source {
        Some(path) => load_multigrid(path, &*action, &params, &mut no_monitor)?,
        None => Multigrid::new(&*action, &params)?,
    };
    if let Some(path) = target.filter(|_| param.vec_store[0].0 == 1) {
        save_multigrid(&path, &made)?;
    }
    let report = made.report();
    log::info!(
        "multigrid: {} levels in {:.3} s, {:.3} an iteration; solvers and precisions of its levels are plaq's",
        report.levels.len(),
        report.setup_seconds,
        report.reduction
    );
    let given = session.resident().add_multigrid(made);
    Ok(given)
}

pub(crate) fn update(mg_instance: *mut c_void, param: &mut QudaMultigridParam) -> Result<()> {
    let operator = operator_of(param)?;
    let vectors = Vectors::new(&operator, "param.invert_param")?;
    let session = session::get()?;
    let (_, multigrid) = session.resident().multigrid(mg_instance, "mg_instance")?;
    let (_, action) = vectors.action(&mut session.resident())?;
    let refined = param.setup_maxiter_refresh.iter().any(|n| *n > 0);
    let how = match param.thin_update_only.0 == 0 && refined {
        true => Update::Refine(REFINEMENTS),
        false => Update::Keep,
    };
    multigrid.update(&*action, how)?;
    Ok(())
}

pub(crate) fn destroy(mg_instance: *mut c_void) -> Result<()> {
    match session::current() {
        Some(session) => session.resident().remove_multigrid(mg_instance),
        // Without a session its hierarchies have been freed already.
        None => Ok(()),
    }
}

fn dump(mg_instance: *mut c_void, param: &mut QudaMultigridParam) -> Result<()> {
    param.check("param")?;
    let (_, multigrid) = session::get()?.resident().multigrid(mg_instance, "mg_instance")?;
    let params = multigrid.params();
    let levels = multigrid.report().levels.len();
    let Some(path) = file(&param.vec_outfile, "vec_outfile", levels, params.level[0].vectors)?
    else {
        refuse!(
            InvalidArgument,
            "param.vec_outfile[0]",
            expected("the name of a file"),
            found("an empty one")
        );
    };
    save_multigrid(&path, &multigrid)
}
