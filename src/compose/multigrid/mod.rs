//! Adaptive multigrid for Wilson-type operators (Clark et al., arXiv:1612.07873): null vectors found by
//! inverse iteration, coarse operators made of them, and a cycle of smoothing and coarse corrections that
//! preconditions GCR on the even-odd system.

mod coarsest;
mod cycle;
mod galerkin;
mod gathering;
mod krylov;
mod low;
mod memory;
mod params;
mod pool;
mod schwarz;
mod setup;
mod smooth;
mod suggest;
mod system;
mod transfer;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Instant;

use cycle::Hierarchy;
pub use galerkin::FineOperator;
use params::MOST_REFINEMENTS;
pub use params::{Coarsest, Cycle, LevelParams, MultigridParams, Smoother};
use setup::Finest;
pub use system::{CoarseSystem, Prolongator};
pub use transfer::Transfer;

use crate::backend::Device;
use crate::bail;
use crate::error::{within, Result, Status};
use crate::fields::{blas, CoarseField, Noise, Precision, Recon, SpinorField, Subset};
use crate::linop::{LinOp, Shape, Uses};
use crate::operators::Wilson;
use crate::solvers::{self, SolverKind, SolverParams, System};

/// What an update of the links does with the null vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// Keeps them and builds coarse operators only.
    Keep,
    /// Applies the cycle to them so many times.
    Refine(usize),
    /// Starts from random vectors.
    Anew,
}

/// As logs name it.
impl std::fmt::Display for Update {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Update::Keep => f.write_str("PLAQ_REFRESH_KEEP"),
            Update::Refine(passes) => write!(f, "PLAQ_REFRESH_REFINE, {passes} passes"),
            Update::Anew => f.write_str("PLAQ_REFRESH_ANEW"),
        }
    }
}

/// What the set-up of a level did, and solves since.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelReport {
    /// Extents of the whole lattice of the level.
    pub extents: [usize; 4],
    /// Null vectors of a chirality, 0 on the coarsest.
    pub vectors: usize,
    pub block: [usize; 4],
    /// Ranks that have a part of the level.
    pub ranks: usize,
    /// That null vectors and the level's operator hold on this rank, without the finest operator.
    pub bytes: u64,
    /// Of the smoother on the finest level, of GCR on the others, since the last set-up or update; with several
    /// right-hand sides those of the slowest. 0 on a rank without a part of the level.
    pub iterations: u64,
    /// In the level and those below it; on a GPU what the host saw, which runs ahead. On a rank without a part
    /// of the level waiting for it, of those below it 0.
    pub seconds: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultigridReport {
    pub levels: Vec<LevelReport>,
    /// Of the last set-up or update.
    pub setup_seconds: f64,
    /// Factor by which GCR with the cycle reduces the residual of a random vector in an iteration, at
    /// the last set-up or update.
    pub reduction: f64,
    /// What the last update did in the end: it takes the next stronger means where the cycle is bad.
    pub update: Option<Update>,
}

/// A hierarchy of levels that preconditions solves with an operator.
pub struct Multigrid {
    hierarchy: RwLock<Arc<Hierarchy>>,
    state: Mutex<State>,
}

#[derive(Clone, Debug)]
struct State {
    report: MultigridReport,
    /// Reduction after the last set-up from random vectors.
    fresh: f64,
}

/// A refresh is bad where the cycle takes so many times the iterations of the last fresh set-up, or
/// reduces the residual by less than `POOR` an iteration.
const SLOWER: f64 = 1.3;
const POOR: f64 = 0.7;

impl Multigrid {
    /// Finds null vectors and builds all levels.
    ///
    /// # Errors
    /// `BadParameter`, `BadExtents`: parameters out of range, or aggregates that do not divide; `OutOfMemory`:
    /// the hierarchy will not fit, nothing is allocated; `NotFinite`: links or vectors that are not.
    pub fn new(op: &Arc<Wilson>, params: &MultigridParams) -> Result<Self> {
        Self::build(op, params, None)
    }

    /// The same with null vectors of the host's: full fields of any precision, each of their right-hand
    /// sides a vector, at least as many as the first level has.
    pub fn with_vectors(
        op: &Arc<Wilson>,
        params: &MultigridParams,
        vectors: &SpinorField,
    ) -> Result<Self> {
        Self::build(op, params, Some(vectors))
    }

    fn build(
        op: &Arc<Wilson>,
        params: &MultigridParams,
        vectors: Option<&SpinorField>,
    ) -> Result<Self> {
        params.check()?;
        let params = &params.on(&op.shape().device);
        gathering::places(params, op.gauge().geometry())?;
        schwarz::Schwarz::check(params, op)?;
        low::check(params, op)?;
        // Ranks have parts of different size.
        let room = op.shape().device.require(Self::memory(op, params), "the multigrid hierarchy");
        op.gauge().geometry().comm().agree(room)?;
        let start = Instant::now();
        let name = || format!("multigrid {} {params:?}", op.describe());
        op.gauge().geometry().rehearse(&op.shape().device, name, || {
            let _ = Self::set_up(op, params, vectors);
        });
        let (hierarchy, reduction) = Self::set_up(op, params, vectors)?;
        let report = MultigridReport {
            setup_seconds: start.elapsed().as_secs_f64(),
            reduction,
            ..Default::default()
        };
        let state = Mutex::new(State { report, fresh: reduction });
        hierarchy.forget_counts();
        Ok(Multigrid { hierarchy: RwLock::new(hierarchy), state })
    }

    /// A hierarchy and what its cycle reduces a residual by.
    fn set_up(
        op: &Arc<Wilson>,
        params: &MultigridParams,
        vectors: Option<&SpinorField>,
    ) -> Result<(Arc<Hierarchy>, f64)> {
        let low = Finest::new(op, params)?;
        let hierarchy = Arc::new(match vectors {
            Some(vectors) => setup::from_vectors(&low, params, vectors)?,
            None => setup::anew(&low, params)?,
        });
        drop(low);
        let reduction = reduction(&hierarchy)?;
        Ok((hierarchy, reduction))
    }

    /// Device memory that set-up takes at most, temporaries included, besides the operator.
    pub fn memory(op: &Wilson, params: &MultigridParams) -> u64 {
        memory::setup(op, &params.on(&op.shape().device))
    }

    pub fn params(&self) -> MultigridParams {
        self.read().params.clone()
    }

    fn read(&self) -> Arc<Hierarchy> {
        self.hierarchy.read().unwrap_or_else(|e| e.into_inner()).clone()
    }
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The operator that solves are for has new links. Measures what came of it, and where the cycle has
    /// become bad refines the vectors, or in the end starts anew; the report says what was done.
    ///
    /// # Errors
    /// As `new`; the hierarchy is then as before.
    pub fn update(&self, op: &Arc<Wilson>, how: Update) -> Result<MultigridReport> {
        let start = Instant::now();
        if let Update::Refine(passes) = how {
            within("passes", passes, 1, MOST_REFINEMENTS)?;
        }
        let (params, fresh) = (self.params(), self.state().fresh);
        let low = Finest::new(op, &params)?;
        let steps: &[Update] = match how {
            Update::Keep => &[Update::Keep, Update::Refine(1), Update::Anew],
            Update::Refine(n) => &[Update::Refine(n), Update::Anew],
            Update::Anew => &[Update::Anew],
        };
        let ranks = op.gauge().geometry().comm().size();
        let mut made: Option<(Arc<Hierarchy>, f64)> = None;
        let mut done = how;
        for &step in steps {
            let next = {
                let held = self.read();
                let old = made.as_ref().map_or(&held, |(h, _)| h);
                match step {
                    Update::Keep => setup::refined(&low, &params, old, 0),
                    Update::Refine(n) => setup::refined(&low, &params, old, n),
                    Update::Anew => setup::anew(&low, &params),
                }
            };
            let next = match (next, step) {
                (Ok(next), _) => Arc::new(next),
                (Err(e), Update::Anew) => return Err(e),
                // Others may wait for this rank: the guarded call around this ends that.
                (Err(e), _) if ranks > 1 && !gathering::found_together(&e) => return Err(e),
                (Err(_), _) => continue,
            };
            let found = reduction(&next)?;
            made = Some((next, found));
            done = step;
            let good = found <= POOR && found.ln() * SLOWER <= fresh.ln();
            if good {
                break;
            }
        }
        let Some((hierarchy, found)) = made else {
            bail!(Internal, "an update of multigrid without a result");
        };
        {
            let mut state = self.state();
            if done == Update::Anew {
                state.fresh = found;
            }
            state.report.reduction = found;
            state.report.update = Some(done);
            state.report.setup_seconds = start.elapsed().as_secs_f64();
        }
        hierarchy.forget_counts();
        *self.hierarchy.write().unwrap_or_else(|e| e.into_inner()) = hierarchy;
        Ok(self.report())
    }

    /// What the last set-up or update did, and solves since.
    pub fn report(&self) -> MultigridReport {
        let h = self.read();
        let held = h.held();
        let geometry = h.fine.op().gauge().geometry();
        let places = gathering::places(&h.params, geometry).unwrap_or_default();
        let level = |(l, place): (usize, &gathering::Place)| {
            let step = h.params.levels.get(l);
            LevelReport {
                extents: place.global,
                ranks: place.ranks(),
                vectors: step.map_or(0, |s| s.vectors),
                block: step.map_or([1; 4], |s| s.block),
                bytes: held[l],
                iterations: h.iterations[l].load(Ordering::Relaxed),
                seconds: h.nanoseconds[l].load(Ordering::Relaxed) as f64 * 1e-9,
            }
        };
        let levels = places.iter().enumerate().map(level).collect();
        MultigridReport { levels, ..self.state().report.clone() }
    }

    /// The null vectors of the finest level as many right-hand sides, normalised but not yet orthonormal on
    /// aggregates: all levels can be built from them again.
    pub fn vectors(&self, precision: Precision) -> Result<SpinorField> {
        let h = self.read();
        let v = h.transfers[0].originals()?;
        let grid = v.grid();
        let mut out =
            SpinorField::new(grid.device(), grid.fine(), precision, Subset::Full, v.nrhs())?;
        v.give_spinors(0, &mut out, 0)?;
        Ok(out)
    }

    /// Refuses an operator on another lattice or device.
    pub fn check(&self, op: &Wilson) -> Result<()> {
        let h = self.read();
        let (own, other) = (h.fine.op().gauge(), op.gauge());
        if own.geometry() != other.geometry() || own.device() != other.device() {
            bail!(
                FieldMismatch,
                "multigrid was set up for another lattice or device than the operator's"
            );
        }
        Ok(())
    }

    /// The cycle as an approximate inverse of the symmetric even-odd system of the operator, for solvers.
    pub fn inverse(self: &Arc<Self>, shape: Shape) -> Arc<dyn LinOp> {
        Arc::new(Inverse { multigrid: self.clone(), shape })
    }

    pub fn device(&self) -> Device {
        self.read().fine.shape().device
    }
}

/// The cycle as an operator on even sites, in the precision of the iteration that it serves.
struct Inverse {
    multigrid: Arc<Multigrid>,
    shape: Shape,
}

impl LinOp for Inverse {
    fn shape(&self) -> Shape {
        self.shape.clone()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.multigrid.read().precondition(out, inp)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.multigrid.read().precondition_dagger(out, inp)
    }
    fn flops(&self) -> f64 {
        let h = self.multigrid.read();
        let level = &h.params.levels[0];
        (level.pre + level.post + 1) as f64 * h.fine.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let h = self.multigrid.read();
        let level = &h.params.levels[0];
        (level.pre + level.post + 1) as f64 * h.fine.bytes(nrhs)
    }
    fn memory(&self, nrhs: usize, uses: Uses) -> u64 {
        self.multigrid.read().memory(nrhs, uses)
    }
}

/// The cycle of a hierarchy that is not in use yet.
struct Bare(Arc<Hierarchy>);

impl LinOp for Bare {
    fn shape(&self) -> Shape {
        self.0.fine.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.0.precondition(out, inp)
    }
    fn flops(&self) -> f64 {
        0.0
    }
    fn bytes(&self, _: usize) -> f64 {
        0.0
    }
}

/// Links of the smoother: two rows where they are unitary.
fn smoother_links(op: &Wilson) -> Recon {
    match op.gauge().recon() {
        Recon::R18 => Recon::R18,
        _ => Recon::R12,
    }
}

/// Mean factor by which GCR with the cycle reduces the residual of a random vector in an iteration.
fn reduction(h: &Arc<Hierarchy>) -> Result<f64> {
    const ITERATIONS: usize = 4;
    let shape = h.fine.shape();
    let mut b = shape.field(1)?;
    b.set_noise(Noise::Normal, h.params.seed, 1000)?;
    let mut x = shape.field(1)?;
    let params = SolverParams {
        kind: SolverKind::Gcr,
        tol: 1e-30,
        max_iterations: ITERATIONS,
        ..Default::default()
    };
    let system =
        System { preconditioner: Some(Arc::new(Bare(h.clone()))), ..System::new(h.fine.clone()) };
    let found = solvers::solve(&system, &params, &mut x, &b, &mut solvers::unwatched);
    let report = match found {
        Ok(report) => report,
        // NaN is the worst that a cycle can do.
        Err(e) if e.status == Status::SolverBreakdown => return Ok(1.0),
        Err(e) => return Err(e),
    };
    let found = report.residual[0].powf(1.0 / report.iterations.max(1) as f64);
    Ok(if found.is_finite() { found.clamp(1e-6, 1.0) } else { 1.0 })
}

/// Norms of vectors to one.
fn normalise(v: &mut CoarseField) -> Result<()> {
    let norms = v.norm2()?;
    if let Some(i) = norms.iter().position(|n| !(n.is_finite() && *n > 0.0)) {
        bail!(NotFinite, "null vector {i} is zero or not finite: |v|^2 is {}", norms[i]);
    }
    let scale: Vec<f64> = norms.iter().map(|n| 1.0 / n.sqrt()).collect();
    v.scale(&blas::complex(&scale))
}
