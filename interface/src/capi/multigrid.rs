//! Multigrid: hierarchies of levels that precondition solvers.

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use super::args::{Handle, Local, One, Out, Params, Raw, Report};
use super::context::Context;
use super::dirac::{plaq_dirac, Dirac};
use super::file_name::FileName;
use super::handles;
use super::progress::{plaq_progress_callback, watch};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
pub use crate::compose::multigrid::plaq_multigrid_params;
use crate::compose::multigrid::{
    plaq_multigrid_level_params, plaq_multigrid_level_report, plaq_multigrid_report, Coarsest,
    Cycle, Multigrid as Hierarchy, MultigridParams, Refresh, SetupSolver, Smoother, Update,
};
use crate::error::Result;
use crate::fields::Precision;
use crate::ops::null_space::{load_multigrid, save_multigrid};
use crate::params::{InC, ToC as _};
use crate::refuse;
use crate::solvers::VectorMemory;

/// The object behind the handle `plaq_multigrid`.
pub struct Multigrid {
    context: Arc<Context>,
    multigrid: Arc<Hierarchy>,
}

impl Multigrid {
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    pub(crate) fn multigrid(&self) -> &Arc<Hierarchy> {
        &self.multigrid
    }
}

interface! {
    "Multigrid"
    handles {
        /// A multigrid hierarchy of null vectors and coarse operators of a Dirac operator, with which solvers, also
        /// several of them, precondition.
        plaq_multigrid: Multigrid = 14,
    }
    choices {
        plaq_cycle = Cycle;
        plaq_smoother = Smoother;
        plaq_coarsest = Coarsest;
        plaq_setup_solver = SetupSolver;
        plaq_refresh = Refresh;
        plaq_vector_memory = VectorMemory;
    }
    tables {
        plaq_multigrid_level_params;
        plaq_multigrid_params, plaq_multigrid_params_init;
    }
    reported {
        plaq_multigrid_report, plaq_multigrid_report_init;
        plaq_multigrid_level_report, plaq_multigrid_level_report_init;
    }
    functions {
        /// Finds null vectors of an operator and builds the levels. Errors: BAD_PARAMETER, BAD_EXTENTS, UNSUPPORTED
        /// (precisions or solvers that do not go together), OUT_OF_MEMORY (nothing was allocated), NOT_FINITE (links,
        /// or null vectors), SOLVER_BREAKDOWN (a solve that makes null vectors met what is not finite), NOT_CONVERGED
        /// (the callback ended it). The callback is called after every iteration of solves for null vectors with the
        /// largest residual, and after every other step of the set-up with 1.
        plaq_multigrid_create(dirac: Handle<plaq_dirac>, params: Params<plaq_multigrid_params>, callback: Raw<plaq_progress_callback>, user: *mut c_void, multigrid: Out<plaq_multigrid>) = create;
        /// Builds the levels from null vectors of the finest level, the right-hand sides of a full field, as given by
        /// plaq_multigrid_vectors.
        plaq_multigrid_create_from(dirac: Handle<plaq_dirac>, params: Params<plaq_multigrid_params>, vectors: Handle<plaq_spinor>, callback: Raw<plaq_progress_callback>, user: *mut c_void, multigrid: Out<plaq_multigrid>) = create_from;
        /// Destroys a hierarchy; solvers that use it keep it. The zero handle is accepted.
        plaq_multigrid_destroy(multigrid: Raw<plaq_multigrid>) = destroy;
        /// Gives the largest number of bytes of device memory that a set-up takes.
        plaq_multigrid_memory(dirac: Local<plaq_dirac>, params: Params<plaq_multigrid_params>, bytes: Out<i64>) = memory;
        /// Updates a hierarchy to the operator's present links. Its reduction of residuals is measured afterwards; if
        /// it is bad, the next stronger treatment follows, and the report says which. `passes`: for
        /// PLAQ_REFRESH_REFINE the number of refinements, 1 to 10000. Without an update after a change of the links
        /// (plaq_dirac_update) solves with that operator are refused: STALE_MULTIGRID. After an error the hierarchy
        /// is unchanged, and solves continue with it. Errors: those of plaq_multigrid_create, FIELD_MISMATCH (another
        /// lattice), OUT_OF_MEMORY (old and new together, before anything is taken), NOT_CONVERGED (the cycle is bad
        /// from new random vectors too, or the callback ended the update).
        plaq_multigrid_update(multigrid: Handle<plaq_multigrid>, dirac: Handle<plaq_dirac>, refresh: One<Refresh>, passes: i32, callback: Raw<plaq_progress_callback>, user: *mut c_void) = update;
        /// Gives the largest number of bytes of device memory that such an update takes, including stronger
        /// treatments that may follow, besides the present hierarchy, which is kept until the new one is complete.
        plaq_multigrid_update_memory(multigrid: Local<plaq_multigrid>, dirac: Local<plaq_dirac>, refresh: One<Refresh>, passes: i32, bytes: Out<i64>) = update_memory;
        /// Describes a hierarchy.
        plaq_multigrid_describe(multigrid: Local<plaq_multigrid>, report: Report<plaq_multigrid_report>) = describe;
        /// Describes a level of a hierarchy; level 0 is the finest.
        plaq_multigrid_describe_level(multigrid: Local<plaq_multigrid>, level: i32, report: Report<plaq_multigrid_level_report>) = describe_level;
        /// Makes a full field with the null vectors of the finest level as right-hand sides, normalised but not
        /// orthonormal on aggregates; all levels can be built from them again.
        plaq_multigrid_vectors(multigrid: Handle<plaq_multigrid>, precision: One<Precision>, vectors: Out<plaq_spinor>) = vectors_of;
        /// Writes the null vectors of the finest level to a file: SciDAC records in LIME with checksums. The file
        /// appears complete or not at all. All ranks call it. Errors: FILE_WRITE, OUT_OF_MEMORY.
        plaq_multigrid_write(multigrid: Handle<plaq_multigrid>, file: FileName) = save;
        /// Builds the levels from the vectors in a file of plaq_multigrid_write, as plaq_multigrid_create_from does.
        /// Errors: FIELD_MISMATCH (another number of vectors than the parameters name), FILE_EXTENTS (another
        /// lattice), FILE_FORMAT (other vectors, or no such file), FILE_CHECKSUM, FILE_TRUNCATED, FILE_OPEN, those of
        /// plaq_multigrid_create.
        plaq_multigrid_read(dirac: Handle<plaq_dirac>, params: Params<plaq_multigrid_params>, file: FileName, callback: Raw<plaq_progress_callback>, user: *mut c_void, multigrid: Out<plaq_multigrid>) = load;
    }
}

fn read(params: &plaq_multigrid_params) -> Result<MultigridParams> {
    MultigridParams::from_c(params, "params")
}

fn adopt(dirac: &Dirac, made: Hierarchy, multigrid: &mut Out<plaq_multigrid>) -> Result<()> {
    let report = made.report();
    log::info!(
        "multigrid: {} levels in {:.3} s, {:.3} an iteration",
        report.levels.len(),
        report.setup_seconds,
        report.reduction
    );
    let object = Multigrid { context: dirac.context().clone(), multigrid: Arc::new(made) };
    multigrid.set(dirac.context().adopt(object)?);
    Ok(())
}

fn create(
    dirac: &Arc<Dirac>,
    params: &plaq_multigrid_params,
    callback: plaq_progress_callback,
    user: *mut c_void,
    multigrid: &mut Out<plaq_multigrid>,
) -> Result<()> {
    let mut monitor = watch(dirac.context().comm(), callback, user);
    let made = Hierarchy::watched(&**dirac.op(), &read(params)?, None, &mut monitor)?;
    adopt(dirac, made, multigrid)
}

fn create_from(
    dirac: &Arc<Dirac>,
    params: &plaq_multigrid_params,
    vectors: &Arc<Spinor>,
    callback: plaq_progress_callback,
    user: *mut c_void,
    multigrid: &mut Out<plaq_multigrid>,
) -> Result<()> {
    dirac.context().check_same(vectors.context(), "vectors")?;
    let vectors = vectors.read("vectors")?;
    let mut monitor = watch(dirac.context().comm(), callback, user);
    let made = Hierarchy::watched(&**dirac.op(), &read(params)?, Some(&vectors), &mut monitor)?;
    adopt(dirac, made, multigrid)
}

fn destroy(multigrid: plaq_multigrid) -> Result<()> {
    handles::remove(multigrid, "multigrid")
}

fn memory(dirac: &Arc<Dirac>, params: &plaq_multigrid_params, bytes: &mut Out<i64>) -> Result<()> {
    bytes.set(Hierarchy::memory(&**dirac.op(), &read(params)?)? as i64);
    Ok(())
}

/// The update that the arguments `refresh` and `passes` of a call mean; a refinement has at least one pass.
fn refreshed(refresh: Refresh, passes: i32) -> Result<Update> {
    if refresh == Refresh::Refine && passes < 1 {
        refuse!(InvalidArgument, "passes", expected("1 or more"), found("{passes}"));
    }
    Update::of(refresh, passes.max(1) as usize)
}

fn update(
    multigrid: &Arc<Multigrid>,
    dirac: &Arc<Dirac>,
    refresh: Refresh,
    passes: i32,
    callback: plaq_progress_callback,
    user: *mut c_void,
) -> Result<()> {
    multigrid.context.check_same(dirac.context(), "dirac")?;
    let how = refreshed(refresh, passes)?;
    let mut monitor = watch(dirac.context().comm(), callback, user);
    let report = multigrid.multigrid.update_watched(&**dirac.op(), how, &mut monitor)?;
    log::info!(
        "multigrid: {how} asked for, {} done in {:.3} s, {:.3} an iteration",
        report.update.unwrap_or(how),
        report.setup_seconds,
        report.reduction
    );
    Ok(())
}

fn update_memory(
    multigrid: &Arc<Multigrid>,
    dirac: &Arc<Dirac>,
    refresh: Refresh,
    passes: i32,
    bytes: &mut Out<i64>,
) -> Result<()> {
    multigrid.context.check_same(dirac.context(), "dirac")?;
    let how = refreshed(refresh, passes)?;
    multigrid.multigrid.check(&**dirac.op())?;
    bytes.set(multigrid.multigrid.update_memory(&**dirac.op(), how)? as i64);
    Ok(())
}

fn describe(multigrid: &Arc<Multigrid>, report: &mut Report<plaq_multigrid_report>) -> Result<()> {
    report.set(multigrid.multigrid.report().whole().to_c());
    Ok(())
}

fn describe_level(
    multigrid: &Arc<Multigrid>,
    level: i32,
    report: &mut Report<plaq_multigrid_level_report>,
) -> Result<()> {
    let r = multigrid.multigrid.report();
    let Some(l) = usize::try_from(level).ok().and_then(|l| r.levels.get(l)) else {
        refuse!(
            InvalidArgument,
            "level",
            expected("0 to {}", r.levels.len() - 1),
            found("{level}")
        );
    };
    report.set(l.to_c());
    Ok(())
}

fn vectors_of(
    multigrid: &Arc<Multigrid>,
    precision: Precision,
    vectors: &mut Out<plaq_spinor>,
) -> Result<()> {
    let field = multigrid.multigrid.vectors(precision)?;
    let context = multigrid.context();
    vectors.set(context.adopt(Spinor::new(context, field))?);
    Ok(())
}

fn save(multigrid: &Arc<Multigrid>, file: &Path) -> Result<()> {
    save_multigrid(file, &multigrid.multigrid)
}

fn load(
    dirac: &Arc<Dirac>,
    params: &plaq_multigrid_params,
    file: &Path,
    callback: plaq_progress_callback,
    user: *mut c_void,
    multigrid: &mut Out<plaq_multigrid>,
) -> Result<()> {
    let mut monitor = watch(dirac.context().comm(), callback, user);
    let made = load_multigrid(file, &**dirac.op(), &read(params)?, &mut monitor)?;
    adopt(dirac, made, multigrid)
}
