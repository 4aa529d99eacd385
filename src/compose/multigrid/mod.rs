//! Adaptive multigrid for Wilson-type operators (Clark et al., arXiv:1612.07873): null vectors found by
//! inverse iteration, coarse operators made of them, and a cycle of smoothing and coarse corrections that
//! preconditions GCR on the even-odd system. A doublet of flavours has the null vectors and coarse links of one flavour
//! (Alexandrou et al., arXiv:1801.06823).

mod coarsest;
mod coarsest_modes;
mod cycle;
mod finest;
mod galerkin;
mod gathering;
mod krylov;
pub(crate) mod least_squares;
mod level_costs;
mod memory;
mod params;
mod pool;
mod prolongator;
mod rows;
mod schwarz;
mod setup;
mod short_links;
mod smooth;
mod spaces;
mod suggest;
mod system;
mod transfer;

use std::collections::hash_map::{Entry, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

use crate::params::{choices, reports};
use cycle::Hierarchy;
use finest::Finest;
pub use galerkin::FineOperator;
use memory::Rehearsed;
use params::MAX_REFINEMENTS;
pub use params::{
    plaq_multigrid_level_params, plaq_multigrid_params, Coarsest, Cycle, LevelParams,
    MultigridParams, SetupSolver, Smoother, MAX_MODES,
};
pub use prolongator::Prolongator;
use setup::Setup;
pub use short_links::shortened;
pub use spaces::CoarseSpaces;
pub use system::CoarseSystem;
pub use transfer::Transfer;

use crate::backend::Device;
use crate::bail;
use crate::error::{within, Error, Result, Status};
use crate::fields::{blas, CoarseField, GaugeField, Noise, Precision, SpinorField, Subset};
use crate::linop::{LinOp, Schur, Shape};
use crate::operators::{ActionVersion, QuarkAction};
use crate::solvers::{self, Monitor, SolverKind, SolverParams, Stop, System};

/// Treatment of the null vectors when the links are updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// Keeps the null vectors and builds coarse operators only.
    Keep,
    /// Applies the cycle to the null vectors this number of times.
    Refine(usize),
    /// Finds new null vectors from random vectors.
    Anew,
}

choices! {
    /// Treatments of the null vectors in an update of multigrid.
    pub enum Refresh: plaq_refresh {
        /// Null vectors are kept, and only coarse operators are built.
        Keep = 0, PLAQ_REFRESH_KEEP, "keep";
        /// The cycle is applied to the null vectors.
        Refine = 1, PLAQ_REFRESH_REFINE, "refine";
        /// New null vectors are found from random vectors.
        Anew = 2, PLAQ_REFRESH_ANEW, "anew";
        /// No update since the set-up; occurs in reports only.
        None = 3, PLAQ_REFRESH_NONE, "";
    }
}

impl Update {
    /// The update that `refresh` names; refining applies the cycle `passes` times.
    pub fn of(refresh: Refresh, passes: usize) -> Result<Self> {
        match refresh {
            Refresh::Keep => Ok(Update::Keep),
            Refresh::Refine => Ok(Update::Refine(passes)),
            Refresh::Anew => Ok(Update::Anew),
            Refresh::None => bail!(InvalidArgument, "refresh: PLAQ_REFRESH_NONE is no update"),
        }
    }
}

/// Prints the name that logs use.
impl std::fmt::Display for Update {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Update::Keep => f.write_str("PLAQ_REFRESH_KEEP"),
            Update::Refine(passes) => write!(f, "PLAQ_REFRESH_REFINE, {passes} passes"),
            Update::Anew => f.write_str("PLAQ_REFRESH_ANEW"),
        }
    }
}

reports! {
    /// Description of a hierarchy.
    pub struct HierarchyReport: plaq_multigrid_report {
        /// Number of levels.
        levels: usize;
        /// The update that was carried out last, which may be stronger than the requested one; PLAQ_REFRESH_NONE:
        /// none since the set-up.
        refresh: Refresh;
        /// Seconds of the last set-up or update.
        setup_seconds: f64;
        /// Factor by which an iteration of GCR with the cycle reduced the residual of a random vector after the
        /// last set-up or update.
        reduction: f64;
        /// Bytes that null vectors and coarse operators take on this rank.
        bytes: u64;
    }
    /// Description of a level of a hierarchy.
    #[derive(Default)]
    pub struct LevelReport: plaq_multigrid_level_report {
        /// Extents of the level over all ranks.
        extents: [usize; 4];
        /// Extents of the aggregates that become sites of the next level; 1 on the coarsest.
        block: [usize; 4];
        /// Number of null vectors of each chirality; 0 on the coarsest level.
        vectors: usize;
        /// Number of ranks that hold a part of the level.
        ranks: usize;
        /// Bytes that null vectors and the level's coarse operator take on this rank.
        bytes: u64;
        /// Number of iterations of all solves since the last set-up or update; a cycle for several right-hand
        /// sides counts once. On the finest level these are steps of the smoother; on levels between steps of the
        /// smoother and iterations of GCR in W or K cycles; on the coarsest iterations of its solver, where a
        /// direct solution is one. 0 on a rank without a part of the level.
        iterations: u64;
        /// Seconds that the cycles of these solves spent in the level and those below it; for the finest level
        /// this is the whole preconditioner. On a GPU it is the time of the host for launches and for waiting for
        /// sums, which is less than the device's; on a rank without a part of the level it is the time of
        /// waiting.
        seconds: f64;
        /// Seconds of the last set-up or update on this level, measured on the host: its null vectors, the
        /// transfer and the coarse operator below it, in all passes; on the coarsest level the low modes or the
        /// inverse for its solver.
        setup_seconds: f64;
        /// Factor by which an iteration reduced the residual on this level: on the finest level as in the report;
        /// on levels between with W or K cycles the mean over those iterations in solves since the last set-up or
        /// update whose norms were computed; 0 if there were none.
        reduction: f64;
    }
}

/// Report on the last set-up or update, and on the levels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultigridReport {
    pub levels: Vec<LevelReport>,
    /// Seconds of the last set-up or update.
    pub setup_seconds: f64,
    /// Factor by which GCR with the cycle reduces the residual of a random vector in an iteration, at
    /// the last set-up or update.
    pub reduction: f64,
    /// The last update that was carried out; it is stronger than the requested one if the cycle was bad after that one.
    /// None: no update since the set-up.
    pub update: Option<Update>,
}

impl MultigridReport {
    /// The hierarchy as a whole.
    pub fn whole(&self) -> HierarchyReport {
        HierarchyReport {
            levels: self.levels.len(),
            refresh: match self.update {
                Some(Update::Keep) => Refresh::Keep,
                Some(Update::Refine(_)) => Refresh::Refine,
                Some(Update::Anew) => Refresh::Anew,
                None => Refresh::None,
            },
            setup_seconds: self.setup_seconds,
            reduction: self.reduction,
            bytes: self.levels.iter().map(|level| level.bytes).sum(),
        }
    }
}

/// A hierarchy of levels that preconditions solves with an operator.
pub struct Multigrid {
    hierarchy: RwLock<Arc<Hierarchy>>,
    state: Mutex<SetupRecord>,
    rehearsed: Arc<Rehearsed>,
    /// Bytes of device memory of an update, by its number of refinements and the number of bytes of message buffers.
    updates: Mutex<HashMap<(usize, u64), u64>>,
}

#[derive(Clone, Debug)]
struct SetupRecord {
    report: MultigridReport,
    /// Factor by which an iteration reduced the residual after the last set-up from random vectors.
    after_setup: f64,
    first: f64,
    /// Version of the links that the last set-up or update was for.
    links: ActionVersion,
}

/// The hierarchy after an update that keeps or refines null vectors is bad if its cycle takes `MAX_ITERATION_RATIO`
/// times the iterations that it took after the last set-up from random vectors, or if an iteration reduces the residual
/// to more than `MAX_REDUCTION` of its value.
const MAX_ITERATION_RATIO: f64 = 1.3;
const MAX_REDUCTION: f64 = 0.7;
/// The hierarchy after an update from random vectors is bad if an iteration reduces the residual to more than
/// `MAX_REDUCTION` of its value and the cycle takes more than `MAX_ITERATION_RATIO` times the iterations of the first
/// set-up, or if an iteration reduces the residual to more than `STALLED` of its value.
const STALLED: f64 = 0.98;

impl Multigrid {
    /// Finds null vectors and builds all levels.
    ///
    /// # Errors
    /// `BadParameter`, `BadExtents`: parameters out of range, or aggregates that do not divide the lattice;
    /// `Unsupported`: precisions that cannot be combined; `OutOfMemory`: the hierarchy will not fit, nothing is
    /// allocated; `NotFinite`: links or null vectors contain NaN or infinity; `SolverBreakdown`: NaN or infinity
    /// occurred in a solve that makes null vectors.
    pub fn new(op: &dyn QuarkAction, params: &MultigridParams) -> Result<Self> {
        Self::watched(op, params, None, &mut solvers::no_monitor)
    }

    /// Builds all levels from null vectors that the caller gives, as the right-hand sides of a field on the full
    /// lattice, in any precision, at least as many as the first level has.
    pub fn with_vectors(
        op: &dyn QuarkAction,
        params: &MultigridParams,
        vectors: &SpinorField,
    ) -> Result<Self> {
        Self::watched(op, params, Some(vectors), &mut solvers::no_monitor)
    }

    /// Makes a hierarchy as `new` does, or with vectors as `with_vectors`. The monitor is called after every iteration
    /// of solves for null vectors, every cycle for them, every part of the first coarse operator, and every pass; it
    /// may end the set-up.
    ///
    /// # Errors
    /// `NotConverged`: the monitor ended it.
    pub fn watched(
        op: &dyn QuarkAction,
        params: &MultigridParams,
        vectors: Option<&SpinorField>,
        monitor: &mut Monitor,
    ) -> Result<Self> {
        Self::check_params(op, params)?;
        let (start, links) = (Instant::now(), op.version());
        let (geometry, device) = (op.links().geometry(), &op.shape().device);
        let params = &params.on(geometry, device);
        // Creates the objects that need all ranks, before each rank rehearses by itself.
        let places = gathering::places(params, geometry)?;
        gathering::divide(geometry, &places)?;
        for (l, place) in places.iter().enumerate().filter(|(_, place)| place.gathered()) {
            let (global, ranks) = (place.global, place.ranks());
            geometry.comm().log(&format_args!(
                "multigrid: level {l}, {global:?} sites, on {ranks} of the ranks"
            ));
        }
        geometry.reaches_all(device)?;
        // Ranks hold parts of different sizes: all refuse if the memory of one is too small.
        let checked = |rehearsed: Result<Rehearsed>| {
            geometry.comm().agree(rehearsed.and_then(|rehearsed| {
                device.require(rehearsed.setup, "the multigrid hierarchy")?;
                Ok(rehearsed)
            }))
        };
        let (params, rehearsed) = Self::rehearse(op, params, vectors, true, checked)?;
        let (hierarchy, reduction) = Self::set_up(op, &params, vectors, monitor)?;
        let report = MultigridReport {
            setup_seconds: start.elapsed().as_secs_f64(),
            reduction,
            ..Default::default()
        };
        let (after_setup, first) = (reduction, reduction);
        let state = Mutex::new(SetupRecord { report, after_setup, first, links });
        hierarchy.forget_counts();
        Ok(Multigrid {
            hierarchy: RwLock::new(hierarchy),
            state,
            rehearsed: Arc::new(rehearsed),
            updates: Mutex::default(),
        })
    }

    /// Rehearses a set-up with as many columns at a time as there is memory for; returns the parameters with this
    /// number of columns, and the memory that the rehearsal found.
    fn rehearse(
        op: &dyn QuarkAction,
        params: &MultigridParams,
        vectors: Option<&SpinorField>,
        compiled: bool,
        checked: impl Fn(Result<Rehearsed>) -> Result<Rehearsed>,
    ) -> Result<(MultigridParams, Rehearsed)> {
        let mut short = None;
        for params in params.attempts() {
            match checked(Rehearsed::new(op, &params, vectors, compiled)) {
                Ok(rehearsed) => return Ok((params, rehearsed)),
                Err(e) if e.status == Status::OutOfMemory => short = Some(e),
                Err(e) => return Err(e),
            }
        }
        short.map_or_else(|| bail!(Internal, "multigrid: nothing was rehearsed"), Err)
    }

    /// Refuses parameters that cannot work on the operator's lattice and device, before any work.
    ///
    /// # Errors
    /// `BadParameter`, `BadExtents`, `Unsupported`: as `new`.
    pub fn check_params(op: &dyn QuarkAction, params: &MultigridParams) -> Result<()> {
        finest::check(op)?;
        params.check()?;
        let params = &params.on(op.links().geometry(), &op.shape().device);
        params.check()?;
        gathering::places(params, op.links().geometry())?;
        schwarz::Schwarz::check(params, op)?;
        coarsest_modes::check(params, op)
    }

    /// Builds a hierarchy and measures by what factor its cycle reduces a residual.
    fn set_up(
        op: &dyn QuarkAction,
        params: &MultigridParams,
        vectors: Option<&SpinorField>,
        monitor: &mut Monitor,
    ) -> Result<(Arc<Hierarchy>, f64)> {
        setup::check_links(op)?;
        let low = Finest::new(op, params)?;
        let mut setup = Setup::new(params, monitor);
        let hierarchy = Arc::new(match vectors {
            Some(vectors) => setup::from_vectors(&low, params, vectors, &mut setup)?,
            None => setup::anew(&low, params, &mut setup)?,
        });
        drop(low);
        let reduction = reduction(&hierarchy)?;
        setup.step()?;
        Ok((hierarchy, reduction))
    }

    /// Largest number of bytes of device memory that a set-up takes, temporaries included, the operator not included,
    /// with as many columns at a time as there is memory for, at least one.
    ///
    /// # Errors
    /// Errors of `new` that do not depend on links.
    pub fn memory(op: &dyn QuarkAction, params: &MultigridParams) -> Result<u64> {
        Self::check_params(op, params)?;
        let device = &op.shape().device;
        let params = &params.on(op.links().geometry(), device);
        let fewest = std::cell::Cell::new(0);
        let checked = |rehearsed: Result<Rehearsed>| {
            let rehearsed = rehearsed?;
            fewest.set(rehearsed.setup);
            device.require(fewest.get(), "the multigrid hierarchy")?;
            Ok(rehearsed)
        };
        match Self::rehearse(op, params, None, false, checked) {
            Err(e) if e.status != Status::OutOfMemory => Err(e),
            _ => Ok(fewest.get()),
        }
    }

    pub fn params(&self) -> MultigridParams {
        self.read().params.clone()
    }

    /// Frees the vectors that cycles keep for later ones.
    pub(crate) fn free_idle(&self) {
        self.read().free_idle();
    }

    fn read(&self) -> Arc<Hierarchy> {
        self.hierarchy.read().unwrap_or_else(|e| e.into_inner()).clone()
    }
    fn state(&self) -> std::sync::MutexGuard<'_, SetupRecord> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Updates the hierarchy to new links of the operator that solves are for. Measures the result and, where the
    /// cycle has become bad, refines the vectors or starts anew; the report says what was done.
    ///
    /// # Errors
    /// Errors of `new`; `FieldMismatch`: another lattice or device; `NotConverged`: from new random vectors, too, the
    /// cycle is bad. The hierarchy is then as before, and solves with `op` go on with it.
    pub fn update(&self, op: &dyn QuarkAction, how: Update) -> Result<MultigridReport> {
        self.update_watched(op, how, &mut solvers::no_monitor)
    }

    /// Updates as [`Multigrid::update`] does; the monitor is called as in [`Multigrid::watched`].
    ///
    /// # Errors
    /// Errors of `update`; `NotConverged`: the monitor ended it, and the hierarchy is as before.
    pub fn update_watched(
        &self,
        op: &dyn QuarkAction,
        how: Update,
        monitor: &mut Monitor,
    ) -> Result<MultigridReport> {
        if let Update::Refine(passes) = how {
            within("passes", passes, 1, MAX_REFINEMENTS as usize)?;
        }
        self.check(op)?;
        let made = self.renewed(op, how, monitor);
        // The caller receives an error of this update now; later calls are refused only if links change again.
        self.state().links = op.version();
        made?;
        Ok(self.report())
    }

    fn renewed(&self, op: &dyn QuarkAction, how: Update, monitor: &mut Monitor) -> Result<()> {
        let start = Instant::now();
        let (params, after_setup, first) = {
            let state = self.state();
            (self.params(), state.after_setup, state.first)
        };
        let comm = op.links().geometry().comm();
        let checked = self.update_memory(op, how).and_then(|need| {
            op.shape().device.require(need, "an update of multigrid, beside the old one")
        });
        comm.agree(checked)?;
        setup::check_links(op)?;
        let low = Finest::new(op, &params)?;
        let steps: &[Update] = match how {
            Update::Keep => &[Update::Keep, Update::Refine(1), Update::Anew],
            Update::Refine(n) => &[Update::Refine(n), Update::Anew],
            Update::Anew => &[Update::Anew],
        };
        let mut setup = Setup::new(&params, monitor);
        let mut made: Option<Arc<Hierarchy>> = None;
        for &step in steps {
            let next = match (made.take(), step) {
                (last, Update::Anew) => {
                    // The last hierarchy is freed to make room for the next one.
                    drop(last);
                    setup::anew(&low, &params, &mut setup)?
                }
                (last, step) => {
                    let passes = if let Update::Refine(n) = step { n } else { 0 };
                    let old = last.unwrap_or_else(|| self.read());
                    match setup::refined(&low, &params, old, passes, &mut setup) {
                        Ok(next) => next,
                        Err(e) if new_vectors_may_help(&e) => continue,
                        Err(e) => return Err(e),
                    }
                }
            };
            let next = Arc::new(next);
            let found = reduction(&next)?;
            setup.step()?;
            let good = match step {
                Update::Anew => {
                    found <= first.powf(1.0 / MAX_ITERATION_RATIO).clamp(MAX_REDUCTION, STALLED)
                }
                _ => found <= MAX_REDUCTION && found.ln() * MAX_ITERATION_RATIO <= after_setup.ln(),
            };
            if !good && step == Update::Anew {
                bail!(
                    NotConverged,
                    "multigrid from new random vectors reduces a residual by {found:.3} an iteration on these \
                     links, {first:.3} on those of its first set-up: expected {MAX_REDUCTION} or less, or as good as \
                     then; the hierarchy of the old links stays. More null vectors, steps of the smoother (post), \
                     refinements or setup_iterations, smaller aggregates or a larger mass may help"
                );
            }
            if good {
                let mut state = self.state();
                if step == Update::Anew {
                    state.after_setup = found;
                }
                state.report.reduction = found;
                state.report.update = Some(step);
                state.report.setup_seconds = start.elapsed().as_secs_f64();
                next.forget_counts();
                *self.hierarchy.write().unwrap_or_else(|e| e.into_inner()) = next;
                return Ok(());
            }
            made = Some(next);
        }
        bail!(Internal, "an update of multigrid without a result")
    }

    /// Largest number of bytes of device memory that an update takes, including that of the stronger treatments than
    /// `how` that may follow; the hierarchy that it replaces and the operator are not included.
    ///
    /// # Errors
    /// Errors of [`Multigrid::memory`].
    pub fn update_memory(&self, op: &dyn QuarkAction, how: Update) -> Result<u64> {
        let mut params = self.params();
        if how != Update::Anew {
            params.refinements = params.refinements.max(1);
        }
        let messages = op.links().geometry().halo_bytes(&op.shape().device);
        let mut known = self.updates.lock().unwrap_or_else(PoisonError::into_inner);
        match known.entry((params.refinements, messages)) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(place) => {
                Ok(*place.insert(Rehearsed::new(op, &params, None, false)?.setup))
            }
        }
    }

    /// Refuses an operator whose links have changed since the last set-up or update for this operator. Links of other
    /// operators, for instance of another mass, are not checked.
    pub fn check_links(&self, op: &dyn QuarkAction) -> Result<()> {
        let (known, now) = (self.state().links, op.version());
        if known.operator == now.operator && known.links != now.links {
            bail!(
                StaleMultigrid,
                "the operator's links have changed since multigrid was set up or updated for them: update it, \
                 or solve without it"
            );
        }
        Ok(())
    }

    /// Report on the last set-up or update, and on the solves since then.
    pub fn report(&self) -> MultigridReport {
        let h = self.read();
        let (held, reduction) = (h.held(), self.state().report.reduction);
        let geometry = h.finest.links().geometry();
        let places = gathering::places(&h.params, geometry).unwrap_or_default();
        let level = |(l, place): (usize, &gathering::LevelRanks)| {
            let step = h.params.steps().get(l);
            LevelReport {
                extents: place.global,
                ranks: place.ranks(),
                vectors: step.map_or(0, |s| s.vectors),
                block: step.map_or([1; 4], |s| s.block),
                bytes: held[l],
                iterations: h.iterations[l].load(Ordering::Relaxed),
                seconds: h.nanoseconds[l].load(Ordering::Relaxed) as f64 * 1e-9,
                setup_seconds: h.setup_seconds[l],
                reduction: if l == 0 { reduction } else { h.reductions[l].mean() },
            }
        };
        let levels = places.iter().enumerate().map(level).collect();
        MultigridReport { levels, ..self.state().report.clone() }
    }

    /// The null vectors of the finest level as the right-hand sides of one field, normalised but not yet orthonormal on
    /// aggregates. [`Multigrid::with_vectors`] can build all levels from them again.
    pub fn vectors(&self, precision: Precision) -> Result<SpinorField> {
        let h = self.read();
        let from = &h.transfers[0];
        let (device, geometry) = (from.fine().device(), from.fine().fine());
        let out = SpinorField::new(device, geometry, precision, Subset::Full, from.count())?;
        for first in 0..from.count() {
            let v = from.originals(first, 1)?;
            v.copy_to_spinors(0, &mut out.columns(first, 1)?, 0)?;
        }
        Ok(out)
    }

    /// The links of the finest level, in its storage.
    pub fn links(&self) -> Arc<GaugeField> {
        self.read().finest.links().clone()
    }

    /// Refuses an operator on another lattice or device, or on vectors of other flavours.
    pub fn check(&self, op: &dyn QuarkAction) -> Result<()> {
        let h = self.read();
        let (own, other) = (h.finest.links(), op.links());
        if own.geometry() != other.geometry() || own.device() != other.device() {
            bail!(
                FieldMismatch,
                "multigrid was set up for another lattice or device than the operator's"
            );
        }
        let (own, other) = (h.finest.shape().components, op.shape().components);
        if own != other {
            bail!(
                FieldMismatch,
                "multigrid was set up for vectors of {own} numbers a site, the operator's have {other}"
            );
        }
        Ok(())
    }

    /// The cycle as an approximate inverse of a Schur complement of the operator, for solvers.
    pub fn inverse(self: &Arc<Self>, form: Schur, shape: Shape) -> Arc<dyn LinOp> {
        Arc::new(Inverse { multigrid: self.clone(), form, shape })
    }

    pub fn device(&self) -> Device {
        self.read().fine.shape().device
    }
}

/// The cycle as an operator on the sites of a Schur complement, in the precision of the iteration that it
/// preconditions.
struct Inverse {
    multigrid: Arc<Multigrid>,
    form: Schur,
    shape: Shape,
}

impl LinOp for Inverse {
    fn shape(&self) -> Shape {
        self.shape.clone()
    }
    fn free_idle(&self) {
        self.multigrid.free_idle();
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.multigrid.read().precondition_system(self.form, out, inp, false)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.multigrid.read().precondition_system(self.form, out, inp, true)
    }
    fn flops(&self) -> f64 {
        let h = self.multigrid.read();
        let level = &h.params.steps()[0];
        (level.pre + level.post + 1) as f64 * h.fine.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let h = self.multigrid.read();
        let level = &h.params.steps()[0];
        (level.pre + level.post + 1) as f64 * h.fine.bytes(nrhs)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(self.multigrid.like_on(device)?.inverse(self.form, self.shape.on(device)))
    }
}

/// The cycle of a hierarchy that is still being set up, as an operator.
struct CyclePreconditioner(Arc<Hierarchy>);

impl LinOp for CyclePreconditioner {
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

/// Whether a set-up with other null vectors may succeed after one that failed with this error; false for errors of
/// memory and of ranks. All ranks get the errors for which this is true alike.
fn new_vectors_may_help(error: &Error) -> bool {
    gathering::found_together(error)
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
        stop: Stop { iterations: ITERATIONS, ..Stop::at(1e-30) },
        ..Default::default()
    };
    let system = System {
        preconditioner: Some(Arc::new(CyclePreconditioner(h.clone()))),
        ..System::new(h.fine.clone())
    };
    let found = solvers::solve(&system, &params, &mut x, &b, &mut solvers::no_monitor);
    let report = match found {
        Ok(report) => report,
        // A cycle that gives NaN counts as one that does not reduce the residual.
        Err(e) if e.status == Status::SolverBreakdown => return Ok(1.0),
        Err(e) => return Err(e),
    };
    let found = report.residual[0].powf(1.0 / report.iterations.max(1) as f64);
    Ok(if found.is_finite() { found.clamp(1e-6, 1.0) } else { 1.0 })
}

/// Scales vectors to norm one.
fn normalise(v: &mut CoarseField) -> Result<()> {
    let norms = v.norm2()?;
    if let Some(i) = norms.iter().position(|n| !(n.is_finite() && *n > 0.0)) {
        bail!(NotFinite, "null vector {i} is zero or not finite: |v|^2 is {}", norms[i]);
    }
    let scale: Vec<f64> = norms.iter().map(|n| 1.0 / n.sqrt()).collect();
    v.scale(&blas::complex(&scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After an error that other null vectors may cure an update tries the next stronger treatment;
    /// after an error of memory or of a rank it ends.
    #[test]
    fn means_answer_bad_vectors_only() {
        let help = |status| new_vectors_may_help(&Error::new(status, ""));
        assert!(help(Status::BadParameter) && help(Status::NotFinite));
        for status in
            [Status::OutOfMemory, Status::DeviceLost, Status::CommFailed, Status::Internal]
        {
            assert!(!help(status), "{status:?}");
        }
    }
}
