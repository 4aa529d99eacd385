//! Multigrid: hierarchies of levels that precondition solvers.

use std::path::Path;
use std::sync::Arc;

use super::args::{
    choose, choose_or, number_of, Choice, Handle, Local, Out, Params, Raw, Report, Text,
};
use super::context::Context;
use super::dirac::{plaq_dirac, Dirac};
use super::field::{
    plaq_precision, PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_HALF, PLAQ_PRECISION_QUARTER,
    PLAQ_PRECISION_SINGLE,
};
use super::handles;
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::bail;
use crate::compose::multigrid::{
    Coarsest, Cycle, LevelParams, Multigrid as Hierarchy, MultigridParams, SetupSolver, Smoother,
    Update,
};
use crate::error::Result;
use crate::fields::Geometry;
use crate::operators::LinkPrecision;
use crate::ops::null_space::{load_multigrid, save_multigrid};

/// What a `plaq_multigrid` stands for.
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

/// As fields, or shorter.
impl Choice for LinkPrecision {
    const TABLE: &'static [(i32, &'static str, Self)] = &[
        (PLAQ_PRECISION_DOUBLE, "PLAQ_PRECISION_DOUBLE", LinkPrecision::Double),
        (PLAQ_PRECISION_SINGLE, "PLAQ_PRECISION_SINGLE", LinkPrecision::Single),
        (PLAQ_PRECISION_HALF, "PLAQ_PRECISION_HALF", LinkPrecision::Half),
        (PLAQ_PRECISION_QUARTER, "PLAQ_PRECISION_QUARTER", LinkPrecision::Quarter),
    ];
}

/// `plaq_refresh` without its count.
#[derive(Clone, Copy, PartialEq)]
pub enum Refresh {
    None,
    Keep,
    Refine,
    Anew,
}

interface! {
    "Multigrid"
    handles {
        /// Null vectors and coarse operators of a Dirac operator: a preconditioner that solvers share.
        plaq_multigrid: Multigrid = 14,
    }
    constants {
        /// How a level solves with the next coarser one.
        plaq_cycle: Cycle {
            /// One correction.
            PLAQ_CYCLE_V = 0 => Cycle::V,
            /// Two, by GCR.
            PLAQ_CYCLE_W = 1 => Cycle::W,
            /// GCR to a tolerance.
            PLAQ_CYCLE_K = 2 => Cycle::K,
        }
        /// What smooths a level.
        plaq_smoother: Smoother {
            /// Minimal residual, relaxed by `omega` on the finest level.
            PLAQ_SMOOTHER_MR = 0 => Smoother::Mr,
            /// GCR with sums in every step.
            PLAQ_SMOOTHER_GCR = 1 => Smoother::Gcr,
            /// The same minimum with one sum in up to twelve steps.
            PLAQ_SMOOTHER_CA_GCR = 2 => Smoother::CaGcr,
            /// x += omega r, without sums.
            PLAQ_SMOOTHER_RICHARDSON = 3 => Smoother::Richardson,
            /// Corrections of all domains at once, each by steps of minimal residual with sums of its own.
            PLAQ_SMOOTHER_SCHWARZ_ADDITIVE = 4 => Smoother::SchwarzAdditive,
            /// The same of domains of one colour of a chequerboard, then of the other one.
            PLAQ_SMOOTHER_SCHWARZ_MULTIPLICATIVE = 5 => Smoother::SchwarzMultiplicative,
        }
        /// What solves the coarsest level.
        plaq_coarsest: Coarsest {
            PLAQ_COARSEST_GCR = 0 => Coarsest::Gcr,
            /// GCR with one sum in up to twelve steps.
            PLAQ_COARSEST_CA_GCR = 1 => Coarsest::CaGcr,
            PLAQ_COARSEST_BICGSTAB = 2 => Coarsest::BiCgStab,
            /// The inverse of the level's whole operator: to 1024 unknowns, 2 x vectors of every site that is
            /// solved for.
            PLAQ_COARSEST_DIRECT = 3 => Coarsest::Direct,
        }
        /// What makes null vectors of random ones.
        plaq_setup_solver: SetupSolver {
            PLAQ_SETUP_BICGSTAB = 0 => SetupSolver::BiCgStab,
            /// CG on the normal equations.
            PLAQ_SETUP_CG = 1 => SetupSolver::Cg,
            /// GCR with ten directions.
            PLAQ_SETUP_GCR = 2 => SetupSolver::Gcr,
        }
        /// What an update does with the null vectors.
        plaq_refresh: Refresh {
            /// Keeps them: only coarse operators are built.
            PLAQ_REFRESH_KEEP = 0 => Refresh::Keep,
            /// Applies the cycle to them.
            PLAQ_REFRESH_REFINE = 1 => Refresh::Refine,
            /// Starts from random ones.
            PLAQ_REFRESH_ANEW = 2 => Refresh::Anew,
            /// There was none since the set-up: of reports only.
            PLAQ_REFRESH_NONE = 3 => Refresh::None,
        }
    }
    params {
        /// How to build a hierarchy. The defaults need no tuning.
        plaq_multigrid_params, plaq_multigrid_params_init {
            /// Levels with the finest and the coarsest, 2 to 5; 0: as the lattice suggests.
            levels: i32 = 0,
            /// Of the second level.
            cycle: plaq_cycle = PLAQ_CYCLE_K,
            /// Null vectors of a chirality on each level but the coarsest; 0: 24.
            vectors: [i32; 4] = [0; 4],
            /// Extents of aggregates x, y, z, t from the finest level to the second, from there to the
            /// third, and on (`block_4`, from the fourth to the fifth, is below); 0: as the lattice suggests.
            /// The first divide the part of a rank, the others the whole level, or with `gather` -1 a rank's
            /// part of it.
            block: [i32; 4] = [0; 4],
            block_2: [i32; 4] = [0; 4],
            block_3: [i32; 4] = [0; 4],
            /// Steps of the smoother before and after a correction, to 10000.
            pre: i32 = 0,
            post: i32 = 10,
            /// Of the finest level.
            smoother: plaq_smoother = PLAQ_SMOOTHER_CA_GCR,
            /// Of the finest level's smoother, and of null vectors and coarse operators: double or single,
            /// the smoother half too. 0: single, and the smoother half on GPUs with CA_GCR.
            smoother_precision: plaq_precision = 0,
            coarse_precision: plaq_precision = 0,
            /// Most iterations of GCR on coarse levels but the coarsest, and on the coarsest, to 100000.
            iterations: i32 = 8,
            coarsest_iterations: i32 = 64,
            /// Iterations of `setup_solver` that make null vectors of random ones, to 100000, and times that the
            /// cycle is then applied to them, to 10000.
            setup_iterations: i32 = 20,
            refinements: i32 = 3,
            /// Coarse levels are gathered on fewer ranks where aggregates do not divide a rank's part, or it
            /// would have fewer sites than this in a direction, to 65536; 0: as plaq finds best (2); -1: all
            /// levels stay on all ranks.
            gather: i32 = 0,
            /// MR and Richardson: relaxation.
            omega: f64 = 0.85,
            /// Relative residual at which GCR stops on coarse levels, and on the coarsest.
            tol: f64 = 0.25,
            coarsest_tol: f64 = 0.25,
            /// Of the random vectors.
            seed: i64 = 1,
            /// Of levels between the finest and the coarsest.
            coarse_smoother: plaq_smoother = PLAQ_SMOOTHER_CA_GCR,
            coarsest: plaq_coarsest = PLAQ_COARSEST_CA_GCR,
            /// Low modes of the coarsest level, found at a set-up, that are solved for exactly before the others:
            /// to 256; 0 with PLAQ_COARSEST_DIRECT; -1: as the lattice suggests, 96 on large ones, none on small ones.
            coarsest_modes: i32 = -1,
            /// A plaq_cycle for levels from the third on but the coarsest; -1: as `cycle`.
            deep_cycle: i32 = -1,
            /// Schwarz on the finest level: extents of domains, which divide the part of a rank; 0: up to 4.
            /// Domains of coarse levels have up to 2 sites in a direction.
            domain: [i32; 4] = [0; 4],
            /// Steps of minimal residual in a domain, to 10000.
            domain_steps: i32 = 4,
            /// Of the links of coarse operators in single precision: single, half or quarter, the last two with a
            /// scale for each matrix; 0: quarter on GPUs, else half. Those in double are in double.
            link_precision: plaq_precision = 0,
            /// Steps after a correction on levels between the finest and the coarsest; 0: as `post`.
            coarse_post: i32 = 0,
            /// Null vectors that are iterated at a time at a set-up, to 256; 0: 8.
            setup_columns: i32 = 0,
            /// What makes null vectors of random ones.
            setup_solver: plaq_setup_solver = PLAQ_SETUP_BICGSTAB,
            block_4: [i32; 4] = [0; 4],
            /// Must be 0.
            reserved: i32 = 0,
        }
    }
    reports {
        /// A hierarchy.
        plaq_multigrid_report, plaq_multigrid_report_init {
            levels: i32,
            /// What the last update did in the end; PLAQ_REFRESH_NONE: there was none since the set-up.
            refresh: plaq_refresh,
            /// Of the last set-up or update.
            setup_seconds: f64,
            /// Factor by which an iteration of GCR with the cycle reduces the residual of a random
            /// vector, measured at the last set-up or update.
            reduction: f64,
            /// That null vectors and coarse operators hold on this rank.
            bytes: i64,
        }
        /// A level of a hierarchy.
        plaq_multigrid_level, plaq_multigrid_level_init {
            /// Of the whole lattice of the level.
            extents: [i32; 4],
            /// Of the aggregates that become sites of the next level; 1 on the coarsest.
            block: [i32; 4],
            /// Null vectors of a chirality; 0 on the coarsest.
            vectors: i32,
            /// Ranks that have a part of the level.
            ranks: i32,
            /// Of null vectors and the level's coarse operator on this rank.
            bytes: i64,
            /// Of all solves since the last set-up or update, each cycle with all of its right-hand sides counted
            /// once: on the finest level steps of the smoother; on levels between steps of the smoother and
            /// iterations of the GCR that a W or K cycle has there; on the coarsest iterations of its solver, a
            /// direct solution being one. 0 on a rank without a part of the level.
            iterations: i64,
            /// That cycles of these solves took in the level and those below it: the finest level's are all of
            /// the preconditioner. On a GPU the time that the host took to launch them and to wait for sums, which
            /// is less than the device's; on a rank without a part of the level that of waiting for it.
            seconds: f64,
            /// That the set-up or update took for the level: its null vectors, transfer and the coarse operator
            /// below it, in all passes; on the coarsest level what its solver finds out before. As the host saw them.
            setup_seconds: f64,
            /// Factor by which an iteration reduces the residual of the level's solve: on the finest as the
            /// report's; on levels between with W or K cycles the mean in solves since the last set-up or update
            /// of the iterations that norms are known of; 0 where none are.
            reduction: f64,
        }
    }
    functions {
        /// Finds null vectors of an operator and builds the levels. Errors: BAD_PARAMETER, BAD_EXTENTS,
        /// UNSUPPORTED (precisions or solvers that do not go together), OUT_OF_MEMORY (nothing was allocated),
        /// NOT_FINITE (links, or null vectors), SOLVER_BREAKDOWN (a solve that makes null vectors met what is
        /// not finite).
        plaq_multigrid_create(dirac: Handle<plaq_dirac>, params: Params<plaq_multigrid_params>, multigrid: Out<plaq_multigrid>) = create;
        /// The same with the right-hand sides of a full field as null vectors of the finest level, such as
        /// plaq_multigrid_vectors gave.
        plaq_multigrid_create_from(dirac: Handle<plaq_dirac>, params: Params<plaq_multigrid_params>, vectors: Handle<plaq_spinor>, multigrid: Out<plaq_multigrid>) = create_from;
        /// Destroys a hierarchy; solvers that it was given keep it. The zero handle is accepted.
        plaq_multigrid_destroy(multigrid: Raw<plaq_multigrid>) = destroy;
        /// Device memory in bytes that a set-up takes at most.
        plaq_multigrid_memory(dirac: Local<plaq_dirac>, params: Params<plaq_multigrid_params>, bytes: Out<i64>) = memory;
        /// Takes the operator's links as they are now. What came of it is measured: where the cycle has
        /// become bad, the next stronger means follow, and the report says which. `passes`: of
        /// PLAQ_REFRESH_REFINE, 1 to 10000. Without an update after a change of the links (plaq_dirac_update)
        /// solves with that operator are refused: STALE_MULTIGRID. After an error the hierarchy is as before, and
        /// solves go on with it. Errors: those of plaq_multigrid_create, FIELD_MISMATCH (another lattice),
        /// OUT_OF_MEMORY (old and new together, before anything is taken), NOT_CONVERGED (the cycle is bad from
        /// new random vectors too).
        plaq_multigrid_update(multigrid: Handle<plaq_multigrid>, dirac: Handle<plaq_dirac>, refresh: i32, passes: i32) = update;
        /// Device memory in bytes that such an update takes at most, whatever means it needs in the end, beside
        /// the hierarchy: that stays until the new one is there.
        plaq_multigrid_update_memory(multigrid: Local<plaq_multigrid>, dirac: Local<plaq_dirac>, refresh: i32, passes: i32, bytes: Out<i64>) = update_memory;
        plaq_multigrid_describe(multigrid: Local<plaq_multigrid>, report: Report<plaq_multigrid_report>) = describe;
        /// Level 0 is the finest.
        plaq_multigrid_describe_level(multigrid: Local<plaq_multigrid>, level: i32, report: Report<plaq_multigrid_level>) = describe_level;
        /// The null vectors of the finest level, normalised but not orthonormal on aggregates, as right-hand
        /// sides of a new full field: all levels can be built from them again.
        plaq_multigrid_vectors(multigrid: Handle<plaq_multigrid>, precision: plaq_precision, vectors: Out<plaq_spinor>) = vectors_of;
        /// Writes these vectors to a file: SciDAC records in LIME with checksums. It appears complete or not
        /// at all. All ranks call it. Errors: FILE_WRITE, OUT_OF_MEMORY.
        plaq_multigrid_save(multigrid: Handle<plaq_multigrid>, file: Text) = save;
        /// plaq_multigrid_create_from with the vectors of such a file. Errors: FIELD_MISMATCH (another
        /// number of vectors than the parameters name), FILE_EXTENTS (another lattice), FILE_FORMAT (other
        /// vectors, or no such file), FILE_CHECKSUM, FILE_TRUNCATED, FILE_OPEN, those of
        /// plaq_multigrid_create.
        plaq_multigrid_load(dirac: Handle<plaq_dirac>, params: Params<plaq_multigrid_params>, file: Text, multigrid: Out<plaq_multigrid>) = load;
    }
}

fn count(value: i32, name: &str, least: i32) -> Result<usize> {
    if value < least {
        bail!(BadParameter, "params.{name}: expected {least} or more, found {value}");
    }
    Ok(value as usize)
}

/// Steps of a level's smoother before and after the correction.
fn smoothing(p: &plaq_multigrid_params, level: usize) -> Result<(usize, usize)> {
    let post = match p.coarse_post {
        steps if level > 0 && steps != 0 => count(steps, "coarse_post", 1)?,
        _ => count(p.post, "post", 0)?,
    };
    Ok((count(p.pre, "pre", 0)?, post))
}

pub(crate) fn translated(
    geometry: &Geometry,
    p: &plaq_multigrid_params,
) -> Result<MultigridParams> {
    use crate::fields::Precision::F32;
    if p.levels != 0 && !(2..=5).contains(&p.levels) {
        bail!(BadParameter, "params.levels: expected 0 or 2 to 5, found {}", p.levels);
    }
    if p.reserved != 0 {
        bail!(InvalidArgument, "params.reserved: expected 0, found {}", p.reserved);
    }
    let mut params = MultigridParams::for_lattice(geometry);
    params.gather = match p.gather {
        -1 => None,
        0 => params.gather,
        n if (1..=65536).contains(&n) => Some(n as usize),
        n => bail!(BadParameter, "params.gather: expected -1 to 65536, found {n}"),
    };
    let steps = match p.levels {
        0 => params.levels.len(),
        levels => levels as usize - 1,
    };
    let (mut extents, mut global) = (geometry.extents(), geometry.global_extents());
    let suggested = params.levels.clone();
    params.levels.clear();
    let blocks = [p.block, p.block_2, p.block_3, p.block_4];
    for (l, block) in blocks.into_iter().take(steps).enumerate() {
        let own = MultigridParams::suggested_block(extents, if l == 0 { 4 } else { 2 });
        let name = ["block", "block_2", "block_3", "block_4"][l];
        let mut chosen = suggested.get(l).map_or(own, |s| if l == 0 { s.block } else { own });
        for mu in 0..4 {
            if block[mu] != 0 {
                chosen[mu] = count(block[mu], name, 1)?;
            }
            if !extents[mu].is_multiple_of(chosen[mu]) {
                bail!(
                    BadExtents,
                    "params.{name}[{mu}]: {} does not divide the {} sites of {}",
                    chosen[mu],
                    extents[mu],
                    if extents == global { "the level" } else { "a rank" }
                );
            }
        }
        for mu in 0..4 {
            (extents[mu], global[mu]) = (extents[mu] / chosen[mu], global[mu] / chosen[mu]);
        }
        if params.gather.is_some() {
            extents = global;
        }
        let vectors = match p.vectors[l] {
            0 => 24,
            n => count(n, "vectors", 1)?,
        };
        let (pre, post) = smoothing(p, l)?;
        params.levels.push(LevelParams { block: chosen, vectors, pre, post });
    }
    params.cycle = choose(p.cycle, "params.cycle")?;
    params.smoother = choose(p.smoother, "params.smoother")?;
    params.coarse_smoother = choose(p.coarse_smoother, "params.coarse_smoother")?;
    params.coarsest = choose(p.coarsest, "params.coarsest")?;
    params.coarsest_modes = match p.coarsest_modes {
        -1 => params.suggested_modes(geometry),
        modes => count(modes, "coarsest_modes", 0)?,
    };
    params.deep_cycle = match p.deep_cycle {
        -1 => None,
        cycle => Some(choose(cycle, "params.deep_cycle")?),
    };
    for (to, &from) in params.domain.iter_mut().zip(&p.domain) {
        *to = count(from, "domain", 0)?;
    }
    params.domain_steps = count(p.domain_steps, "domain_steps", 1)?;
    params.smoother_precision = match p.smoother_precision {
        0 => None,
        precision => Some(choose(precision, "params.smoother_precision")?),
    };
    params.precision = choose_or(p.coarse_precision, "params.coarse_precision", F32)?;
    params.link_precision = match p.link_precision {
        0 => None,
        links => Some(choose(links, "params.link_precision")?),
    };
    params.iterations = count(p.iterations, "iterations", 1)?;
    params.coarsest_iterations = count(p.coarsest_iterations, "coarsest_iterations", 1)?;
    params.setup_iterations = count(p.setup_iterations, "setup_iterations", 1)?;
    params.refinements = count(p.refinements, "refinements", 0)?;
    params.setup_solver = choose(p.setup_solver, "params.setup_solver")?;
    params.setup_columns = match p.setup_columns {
        0 => params.setup_columns,
        columns => count(columns, "setup_columns", 1)?,
    };
    (params.omega, params.tol, params.coarsest_tol) = (p.omega, p.tol, p.coarsest_tol);
    params.seed = p.seed as u64;
    params.check()?;
    Ok(params)
}

fn translated_for(dirac: &Dirac, p: &plaq_multigrid_params) -> Result<MultigridParams> {
    translated(dirac.op().links().geometry(), p)
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
    multigrid: &mut Out<plaq_multigrid>,
) -> Result<()> {
    let made = Hierarchy::new(&**dirac.op(), &translated_for(dirac, params)?)?;
    adopt(dirac, made, multigrid)
}

fn create_from(
    dirac: &Arc<Dirac>,
    params: &plaq_multigrid_params,
    vectors: &Arc<Spinor>,
    multigrid: &mut Out<plaq_multigrid>,
) -> Result<()> {
    dirac.context().check_same(vectors.context(), "vectors")?;
    let vectors = vectors.read("vectors")?;
    let made = Hierarchy::with_vectors(&**dirac.op(), &translated_for(dirac, params)?, &vectors)?;
    adopt(dirac, made, multigrid)
}

fn destroy(multigrid: plaq_multigrid) -> Result<()> {
    handles::remove(multigrid, "multigrid")
}

fn memory(dirac: &Arc<Dirac>, params: &plaq_multigrid_params, bytes: &mut Out<i64>) -> Result<()> {
    bytes.set(Hierarchy::memory(&**dirac.op(), &translated_for(dirac, params)?)? as i64);
    Ok(())
}

/// What an update is asked for.
pub(crate) fn refreshed(refresh: i32, passes: i32) -> Result<Update> {
    match choose(refresh, "refresh")? {
        Refresh::None => bail!(InvalidArgument, "refresh: PLAQ_REFRESH_NONE is no update"),
        Refresh::Keep => Ok(Update::Keep),
        Refresh::Refine if passes < 1 => {
            bail!(InvalidArgument, "passes: expected 1 or more, found {passes}")
        }
        Refresh::Refine => Ok(Update::Refine(passes as usize)),
        Refresh::Anew => Ok(Update::Anew),
    }
}

fn update(multigrid: &Arc<Multigrid>, dirac: &Arc<Dirac>, refresh: i32, passes: i32) -> Result<()> {
    multigrid.context.check_same(dirac.context(), "dirac")?;
    let how = refreshed(refresh, passes)?;
    let report = multigrid.multigrid.update(&**dirac.op(), how)?;
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
    refresh: i32,
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
    let r = multigrid.multigrid.report();
    let refresh = match r.update {
        Some(Update::Keep) => Refresh::Keep,
        Some(Update::Refine(_)) => Refresh::Refine,
        Some(Update::Anew) => Refresh::Anew,
        None => Refresh::None,
    };
    report.set(plaq_multigrid_report {
        levels: r.levels.len() as i32,
        refresh: number_of(refresh),
        setup_seconds: r.setup_seconds,
        reduction: r.reduction,
        bytes: r.levels.iter().map(|l| l.bytes as i64).sum(),
        ..Default::default()
    });
    Ok(())
}

fn describe_level(
    multigrid: &Arc<Multigrid>,
    level: i32,
    report: &mut Report<plaq_multigrid_level>,
) -> Result<()> {
    let r = multigrid.multigrid.report();
    let Some(l) = usize::try_from(level).ok().and_then(|l| r.levels.get(l)) else {
        bail!(InvalidArgument, "level: expected 0 to {}, found {level}", r.levels.len() - 1);
    };
    report.set(plaq_multigrid_level {
        extents: l.extents.map(|x| x as i32),
        block: l.block.map(|x| x as i32),
        vectors: l.vectors as i32,
        ranks: l.ranks as i32,
        bytes: l.bytes as i64,
        iterations: l.iterations as i64,
        seconds: l.seconds,
        setup_seconds: l.setup_seconds,
        reduction: l.reduction,
        ..Default::default()
    });
    Ok(())
}

fn vectors_of(
    multigrid: &Arc<Multigrid>,
    precision: i32,
    vectors: &mut Out<plaq_spinor>,
) -> Result<()> {
    let field = multigrid.multigrid.vectors(choose(precision, "precision")?)?;
    let context = multigrid.context();
    vectors.set(context.adopt(Spinor::new(context, field))?);
    Ok(())
}

fn save(multigrid: &Arc<Multigrid>, file: &str) -> Result<()> {
    save_multigrid(Path::new(file), &multigrid.multigrid)
}

fn load(
    dirac: &Arc<Dirac>,
    params: &plaq_multigrid_params,
    file: &str,
    multigrid: &mut Out<plaq_multigrid>,
) -> Result<()> {
    let made = load_multigrid(Path::new(file), &**dirac.op(), &translated_for(dirac, params)?)?;
    adopt(dirac, made, multigrid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    /// `coarse_post` is for levels from the second on; 0 leaves them `post`.
    #[test]
    fn coarse_levels_smooth_by_themselves() {
        let p = plaq_multigrid_params { pre: 1, post: 10, coarse_post: 7, ..Default::default() };
        let steps = |p: &plaq_multigrid_params| [0, 1, 2].map(|level| smoothing(p, level).unwrap());
        assert_eq!(steps(&p), [(1, 10), (1, 7), (1, 7)]);
        let same = plaq_multigrid_params { coarse_post: 0, ..p };
        assert_eq!(steps(&same), [(1, 10); 3]);
        let none = plaq_multigrid_params { coarse_post: -1, ..p };
        assert_eq!(smoothing(&none, 0).unwrap(), (1, 10));
        let e = smoothing(&none, 1).unwrap_err();
        assert!(e.status == Status::BadParameter && e.message.contains("coarse_post"), "{e}");
    }
}
