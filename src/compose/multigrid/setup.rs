//! Set-up of multigrid: null vectors from random ones, and their refinement by the cycle that was
//! made of them (Frommer et al., arXiv:1303.1377).

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use super::cycle::Hierarchy;
use super::finest::Finest;
use super::galerkin::AfterPart;
use super::gathering::{found_together, places, LevelRanks};
use super::params::{Coarsest, SETUP_KRYLOV};
use super::short_links::shortened;
use super::{normalise, FineOperator, MultigridParams, Transfer};
use crate::backend::HostArray;
use crate::bail;
use crate::error::Result;
use crate::fields::{
    blas, CoarseField, CoarseGrid, Gather, Geometry, HostCopy, Noise, Precision, SpinorField,
    Subset,
};
use crate::linop::{Schur, Shape};
use crate::operators::{CoarseOperator, Coarsenable, InverseOwner, QuarkAction, SiteTerm};
use crate::refuse;
use crate::solvers::{self, Monitor, Progress, SolverParams, Stop, StoppedBy, System};

/// A set-up in progress: the seconds that it has taken so far on each level, and the host's monitor, which is called
/// after each step that all ranks take.
pub(super) struct Setup<'a, 'm> {
    seconds: Vec<f64>,
    monitor: &'a mut Monitor<'m>,
    start: Instant,
    /// Number of steps that the monitor has heard of: iterations of solves for null vectors, cycles, parts of the first
    /// coarse operator, and passes.
    steps: usize,
}

impl<'a, 'm> Setup<'a, 'm> {
    pub fn new(params: &MultigridParams, monitor: &'a mut Monitor<'m>) -> Self {
        let seconds = vec![0.0; params.steps().len() + 1];
        Setup { seconds, monitor, start: Instant::now(), steps: 0 }
    }

    /// Runs a part of the work and counts its time as that of a level.
    fn on<T>(&mut self, level: usize, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let done = work(self);
        self.seconds[level] += start.elapsed().as_secs_f64();
        done
    }

    /// Calls the monitor after a step, with the relative residuals of the step's solve, or 1 for steps without a solve.
    /// Returns `Break` if the monitor asks to end the set-up.
    fn call_monitor(&mut self, residual: &[f64]) -> ControlFlow<()> {
        self.steps += 1;
        let seconds = self.start.elapsed().as_secs_f64();
        (self.monitor)(&Progress { iteration: self.steps, residual, seconds })
    }

    /// Calls the monitor after a step without a solve; an error if it asks to end the set-up.
    pub fn step(&mut self) -> Result<()> {
        match self.call_monitor(&[1.0]) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => stopped(),
        }
    }
}

/// The error of a set-up that the host's callback ended.
fn stopped<T>() -> Result<T> {
    bail!(NotConverged, "multigrid: the callback ended the set-up")
}

/// Refuses links, or a clover term made of them, that are not finite. A hop from odd to even sites
/// uses every link.
pub(super) fn check_links(op: &dyn QuarkAction) -> Result<()> {
    let field = |subset| op.subset_shape(subset).field(1);
    let (mut from, mut to) = (field(Subset::Full)?, field(Subset::Full)?);
    from.set_noise(Noise::Normal, 1, 0)?;
    op.apply(&mut to, &from)?;
    let norm = blas::norm2(&to)?[0];
    if !norm.is_finite() {
        bail!(
            NotFinite,
            "links: the gauge field of the operator, or its clover term, holds NaN or infinity: |M v|^2 is \
             {norm}"
        );
    }
    Ok(())
}

/// Makes a hierarchy with null vectors from random ones.
pub(super) fn anew(op: &Finest, params: &MultigridParams, setup: &mut Setup) -> Result<Hierarchy> {
    let mut new_vectors = StoredVectors::default();
    let vectors = setup.on(0, |setup| random_vectors(&op.setup, params, setup))?;
    let passes = params.refinements;
    let mut hierarchy = levels(op, params, vectors, passes == 0, setup, &mut new_vectors)?;
    for pass in 1..=passes {
        let v = setup
            .on(0, |setup| improved(Arc::new(hierarchy), &op.setup, setup, &mut new_vectors))?;
        hierarchy = levels(op, params, v, pass == passes, setup, &mut new_vectors)?;
    }
    Ok(hierarchy)
}

/// Builds a hierarchy from the vectors of another one after `passes` cycles (Frommer et al., arXiv:1303.1377).
pub(super) fn refined(
    op: &Finest,
    params: &MultigridParams,
    mut old: Arc<Hierarchy>,
    passes: usize,
    setup: &mut Setup,
) -> Result<Hierarchy> {
    let mut new_vectors = StoredVectors::default();
    if passes > 0 && old.flavours() > 1 {
        // Null vectors are of one flavour, and so are the cycles that they go through.
        let v = setup.on(0, |_| originals(old))?;
        old = Arc::new(levels(op, params, v, false, setup, &mut new_vectors)?);
    }
    for pass in 1..=passes.max(1) {
        let v = match pass <= passes {
            // The cycle has the new operator on the finest level and, in the first pass, the old coarse levels.
            true => setup.on(0, |setup| improved(old, &op.setup, setup, &mut new_vectors))?,
            false => setup.on(0, |_| originals(old))?,
        };
        let made = levels(op, params, v, pass >= passes, setup, &mut new_vectors)?;
        if pass >= passes {
            return Ok(made);
        }
        old = Arc::new(made);
    }
    bail!(Internal, "no refinement")
}

/// Builds a hierarchy from vectors that the caller gives.
pub(super) fn from_vectors(
    op: &Finest,
    params: &MultigridParams,
    vectors: &SpinorField,
    setup: &mut Setup,
) -> Result<Hierarchy> {
    let n = params.steps()[0].vectors;
    if vectors.subset() != Subset::Full || vectors.nrhs() < n {
        refuse!(
            FieldMismatch,
            "vectors",
            expected("at least {n} on the full lattice"),
            found("{} on {:?}", vectors.nrhs(), vectors.subset())
        );
    }
    let links = op.setup.links();
    let grid = CoarseGrid::finest(links.geometry(), links.device())?;
    let mut all =
        CoarseField::new(&grid, params.coarse_precision, Subset::Full, 12, vectors.nrhs())?;
    all.copy_from_spinors(0, vectors, None)?;
    let mut v = all.like(n)?;
    v.copy_from_columns(0, &all, 0, n, 0)?;
    drop(all);
    levels(op, params, v, true, setup, &mut StoredVectors::default())
}

/// Builds all levels from the null vectors of the finest one. `last`: no further refinement
/// follows, so that the levels are for two flavours if the operator has them, and low modes of the
/// coarsest level are searched for.
fn levels(
    op: &Finest,
    params: &MultigridParams,
    vectors: CoarseField,
    last: bool,
    setup: &mut Setup,
    new_vectors: &mut StoredVectors,
) -> Result<Hierarchy> {
    let geometry = op.setup.links().geometry();
    let places = places(params, geometry)?;
    // Ranks without a part of a level wait for the result of the others.
    let gathered = places.iter().any(LevelRanks::gathered);
    let (transfers, gathers, coarse) = agree_if_gathered(
        geometry,
        gathered,
        build(&op.setup, params, &places, vectors, setup, new_vectors),
    )?;
    setup.step()?;
    let made = op.smoother().and_then(|smoother| {
        let tensor = op.tensor(&smoother)?;
        let mut made =
            Hierarchy::new(params.clone(), smoother, tensor, transfers, gathers, coarse)?;
        if let Some((smoother, term)) = if last { op.pair()? } else { None } {
            made = setup.on(1, |_| made.in_flavours(&smoother, term))?;
        }
        if last || made.params.coarsest == Coarsest::Direct {
            made.coarsest_modes = setup.on(params.steps().len(), |_| made.find_coarsest_modes())?;
        }
        made.setup_seconds = setup.seconds.clone();
        Ok(made)
    });
    agree_if_gathered(geometry, gathered, made)
}

/// If levels are gathered, makes all ranks fail when `made` is an error on one of them; errors that
/// all ranks meet themselves are returned without communication.
fn agree_if_gathered<T>(geometry: &Geometry, gathered: bool, made: Result<T>) -> Result<T> {
    match made {
        Err(e) if gathered && !found_together(&e) => Err(e),
        made if gathered => geometry.comm().agree(made),
        made => made,
    }
}

type Levels = (Vec<Transfer>, Vec<Option<Gather>>, Vec<Arc<CoarseOperator>>);

/// Builds the levels of which this rank has a part, with the transfer to the first level of which
/// it has none.
fn build(
    op: &Arc<dyn Coarsenable>,
    params: &MultigridParams,
    places: &[LevelRanks],
    mut vectors: CoarseField,
    setup: &mut Setup,
    new_vectors: &mut StoredVectors,
) -> Result<Levels> {
    let twist = op.site_term(SiteTerm::Direct)?.twist;
    let links = params.links(op.links().device());
    let mut fine = FineOperator::Dirac(op.clone());
    let (mut transfers, mut gathers, mut coarse) = (vec![], vec![], vec![]);
    for (l, level) in params.steps().iter().enumerate() {
        let (transfer, gather, below) = setup.on(l, |setup| {
            normalise(&mut vectors)?;
            let mut transfer = Transfer::new(vectors, level.block)?;
            let place = &places[l + 1];
            let gather = match place.gathered() {
                true => Some(Gather::new(transfer.coarse(), place.grid)?),
                false => None,
            };
            let (form, twist) = (params.coarse_precision, params.added_twist(l) * twist);
            // The monitor is called for the finest level only, as some ranks may have no part of coarser levels.
            let mut after = || if l == 0 { setup.step() } else { Ok(()) };
            let parts: (usize, AfterPart) = (params.setup_columns, &mut after);
            let below = fine.coarsened_on(&transfer, form, twist, gather.as_ref(), parts)?;
            let host = (l == 0 && params.vectors_wait()).then_some(&mut new_vectors.short);
            transfer.shorten(links[0], host)?;
            Ok((transfer, gather, below))
        })?;
        let next = match (&below, params.steps().get(l + 1)) {
            (Some(below), Some(next)) => {
                let vectors = |_: &mut Setup| {
                    coarse_vectors(&transfer, gather.as_ref(), below, next.vectors, params)
                };
                setup.on(l + 1, vectors).map(Some)?
            }
            (None, Some(_)) => {
                gathered_tests(&transfer, gather.as_ref(), None)?;
                None
            }
            _ => None,
        };
        transfers.push(transfer);
        gathers.push(gather);
        let Some(below) = below.map(Arc::new) else { break };
        coarse.push(below.clone());
        let Some(next) = next else { break };
        (vectors, fine) = (next, FineOperator::Coarse(below));
    }
    drop(fine);
    for (l, (transfer, gather)) in transfers.iter().zip(&gathers).enumerate() {
        let tests = gathered_tests(transfer, gather.as_ref(), coarse.get(l).map(Arc::as_ref))?;
        if let Some(op) = coarse.get_mut(l) {
            let tests = tests.as_ref().unwrap_or(transfer.tests());
            *op = Arc::new(shortened(op, tests, &links)?);
        }
    }
    Ok((transfers, gathers, coarse))
}

/// Moves the restricted null vectors to the ranks that hold the coarse level, if these are fewer; `op` is the coarse
/// operator on them.
fn gathered_tests(
    transfer: &Transfer,
    gather: Option<&Gather>,
    op: Option<&CoarseOperator>,
) -> Result<Option<CoarseField>> {
    let Some(gather) = gather else { return Ok(None) };
    let tests = transfer.tests();
    let mut moved = op.map(|op| op.field(Subset::Full, tests.nrhs())).transpose()?;
    gather.gather(moved.as_mut(), tests)?;
    Ok(moved)
}

/// Null vectors of a coarse level: the restricted ones of the finer level and, if the level has
/// more than these, further ones from random vectors.
fn coarse_vectors(
    transfer: &Transfer,
    gather: Option<&Gather>,
    op: &CoarseOperator,
    count: usize,
    params: &MultigridParams,
) -> Result<CoarseField> {
    let moved = gathered_tests(transfer, gather, Some(op))?;
    let restricted = moved.as_ref().unwrap_or(transfer.tests());
    let mut out = op.field(Subset::Full, count)?;
    let own = count.min(restricted.nrhs());
    out.copy_from_columns(0, restricted, 0, own, 0)?;
    if count > own {
        let mut more = op.field(Subset::Full, count - own)?;
        random_coarse(&mut more, params.seed)?;
        relax_coarse(op, &mut more, params.setup_iterations)?;
        out.copy_from_columns(own, &more, 0, count - own, 0)?;
    }
    Ok(out)
}

/// Fills a vector with random numbers that depend on the seed and on the site's place in the whole
/// lattice, not on the ranks.
pub(super) fn random_coarse(v: &mut CoarseField, seed: u64) -> Result<()> {
    let per_site = v.components() * v.nrhs() * 2;
    let places = v.places();
    let mut values = Vec::with_capacity(places.len() * per_site);
    for site in places {
        for k in 0..per_site {
            let mut z = (seed ^ 0x9e37_79b9_7f4a_7c15)
                .wrapping_mul(0xd134_2543_de82_ef95)
                .wrapping_add((site * per_site + k) as u64);
            for _ in 0..2 {
                z = (z ^ (z >> 31)).wrapping_mul(0x9fb2_1c65_1e98_df25);
                z ^= z >> 29;
            }
            values.push((z >> 11) as f64 / (1u64 << 52) as f64 - 1.0);
        }
    }
    v.load(&values)
}

/// Takes steps of minimal residual for M v = 0 from the given v: components along low modes remain.
fn relax_coarse(op: &CoarseOperator, v: &mut CoarseField, steps: usize) -> Result<()> {
    let n = v.nrhs();
    let (mut r, mut q) = (v.like(n)?, v.like(n)?);
    for _ in 0..steps {
        op.apply(&mut r, v)?;
        op.apply(&mut q, &r)?;
        let (along, norm) = q.dot_norm(&r)?;
        let step: Vec<_> = along
            .iter()
            .zip(norm)
            .map(|(a, n)| if n > 0.0 { -a / n } else { num_complex::Complex64::ZERO })
            .collect();
        v.axpy(&step, &r)?;
    }
    Ok(())
}

/// Null vectors from random ones by some iterations of the set-up's solver, which reduce all
/// components but those along low modes.
fn random_vectors(
    op: &Arc<dyn Coarsenable>,
    params: &MultigridParams,
    setup: &mut Setup,
) -> Result<CoarseField> {
    let n = params.steps()[0].vectors;
    let (geometry, device) = (op.links().geometry(), op.links().device());
    let grid = CoarseGrid::finest(geometry, device)?;
    let system = op.clone().schur(Schur::EVEN_SYMMETRIC)?;
    system.set_inverse_owner(InverseOwner::Complement)?;
    let mut out = CoarseField::new(&grid, params.coarse_precision, Subset::Full, 12, n)?;
    for first in (0..n).step_by(params.setup_columns) {
        let count = params.setup_columns.min(n - first);
        let mut b = system.shape().field(count)?;
        b.set_noise(Noise::Normal, params.seed, first as u32)?;
        let mut x = system.shape().field(count)?;
        let solver = SolverParams {
            kind: params.setup_solver.kind(),
            nkrylov: SETUP_KRYLOV,
            stop: Stop { iterations: params.setup_iterations, ..Stop::at(1e-5) },
            ..Default::default()
        };
        let whole = System::new(system.clone());
        let mut call_monitor = |p: &Progress| setup.call_monitor(p.residual);
        let report = solvers::solve(&whole, &solver, &mut x, &b, &mut call_monitor)?;
        if report.stopped_by == Some(StoppedBy::Callback) {
            return stopped();
        }
        // On the other parity the right-hand side is zero.
        let zero = op.subset_shape(Subset::Full).field(count)?;
        let mut full = op.subset_shape(Subset::Full).field(count)?;
        system.reconstruct(&mut full, &x, &zero, false)?;
        out.copy_from_spinors(first, &full, None)?;
    }
    Ok(out)
}

/// Host memory for null vectors, kept between refinements.
#[derive(Default)]
struct StoredVectors {
    columns: Vec<HostCopy>,
    /// The null vectors of the finest level in 16 bits.
    short: HostArray,
}

/// The null vectors that a refinement makes, until the hierarchy that makes them is freed: in 16 bits where hierarchies
/// keep null vectors so, else in the precision of the set-up.
enum NewVectors<'a> {
    OnDevice(SpinorField),
    OnHost(Precision, &'a mut [HostCopy]),
}

impl<'a> NewVectors<'a> {
    fn new(
        h: &Hierarchy,
        op: &Arc<dyn Coarsenable>,
        new_vectors: &'a mut StoredVectors,
    ) -> Result<Self> {
        let (shape, count) = (op.subset_shape(Subset::Full), h.transfers[0].count());
        let short = h.params.links(&shape.device)[0].scaled();
        let precision = if short { Precision::F16 } else { shape.precision };
        if !h.params.vectors_wait() {
            return Ok(NewVectors::OnDevice(Shape { precision, ..shape }.field(count)?));
        }
        new_vectors.columns.resize_with(count, HostCopy::default);
        Ok(NewVectors::OnHost(precision, &mut new_vectors.columns))
    }

    fn precision(&self) -> Precision {
        match self {
            NewVectors::OnDevice(v) => v.precision(),
            NewVectors::OnHost(precision, _) => *precision,
        }
    }

    /// Stores null vectors as the vectors from number `first` on.
    fn put(&mut self, first: usize, vectors: &SpinorField) -> Result<()> {
        match self {
            NewVectors::OnDevice(v) => blas::copy(&mut v.columns(first, vectors.nrhs())?, vectors),
            NewVectors::OnHost(precision, columns) => {
                let mut one = vectors.like_with(*precision, 1)?;
                (0..vectors.nrhs()).try_for_each(|k| {
                    blas::copy(&mut one, &vectors.columns(k, 1)?)?;
                    one.copy_to_host(&mut columns[first + k])
                })
            }
        }
    }

    /// The new null vectors on the device, as vectors of the finest level of the next hierarchy.
    fn on_device(
        self,
        op: &Arc<dyn Coarsenable>,
        grid: &Arc<CoarseGrid>,
        precision: Precision,
    ) -> Result<CoarseField> {
        let made = |count| CoarseField::new(grid, precision, Subset::Full, 12, count);
        match self {
            NewVectors::OnDevice(vectors) => {
                let mut v = made(vectors.nrhs())?;
                v.copy_from_spinors(0, &vectors, None)?;
                Ok(v)
            }
            NewVectors::OnHost(kept, columns) => {
                let mut v = made(columns.len())?;
                let shape = Shape { precision: kept, ..op.subset_shape(Subset::Full) };
                let mut one = shape.field(1)?;
                for (k, copy) in columns.iter().enumerate() {
                    one.copy_from_host(copy)?;
                    v.copy_from_spinors(k, &one, None)?;
                }
                Ok(v)
            }
        }
    }
}

/// The null vectors after a cycle, v = K v, which is a step of inverse iteration. The hierarchy's
/// memory is freed before they are copied back, unless solves still use it.
fn improved(
    mut hierarchy: Arc<Hierarchy>,
    op: &Arc<dyn Coarsenable>,
    setup: &mut Setup,
    new_vectors: &mut StoredVectors,
) -> Result<CoarseField> {
    let (grid, precision) = {
        let old = &hierarchy.transfers[0];
        (old.fine().clone(), old.precision())
    };
    let system = op.clone().schur(Schur::EVEN_SYMMETRIC)?;
    system.set_inverse_owner(InverseOwner::Complement)?;
    let mut v = NewVectors::new(&hierarchy, op, new_vectors)?;
    let whole = op.subset_shape(Subset::Full);
    let original = |h: &Hierarchy, first: usize, count: usize| -> Result<SpinorField> {
        let mut full = whole.field(count)?;
        h.transfers[0].originals(first, count)?.copy_to_spinors(0, &mut full, 0)?;
        Ok(full)
    };
    let (count, together) = (hierarchy.transfers[0].count(), hierarchy.params.setup_columns);
    let groups = || (0..count).step_by(together).map(|first| (first, together.min(count - first)));
    // Where cycles work with vectors in 8 bits, those in 16 bits make room for others once the new vectors' memory holds
    // what they are made from.
    let mut in_place = false;
    if let (NewVectors::OnDevice(_), Some(h)) = (&v, Arc::get_mut(&mut hierarchy)) {
        if h.transfers[0].has_bytes() {
            groups().try_for_each(|(first, n)| v.put(first, &original(h, first, n)?))?;
            h.transfers[0].keep_bytes();
            in_place = true;
        }
    }
    let h = &*hierarchy;
    for (first, n) in groups() {
        let full = match (&v, in_place) {
            (NewVectors::OnDevice(v), true) => {
                let mut full = whole.field(n)?;
                blas::copy(&mut full, &v.columns(first, n)?)?;
                full
            }
            _ => {
                // The same numbers wherever the new vectors are.
                let mut full = original(h, first, n)?;
                let mut short = full.like(v.precision())?;
                blas::copy(&mut short, &full)?;
                blas::copy(&mut full, &short)?;
                full
            }
        };
        let mut b = system.shape().field(n)?;
        system.prepare(&mut b, &full, false)?;
        let mut x = system.shape().field(n)?;
        h.fine_cycle(&mut x, &b)?;
        setup.step()?;
        drop(b);
        let mut out = whole.field(n)?;
        system.reconstruct(&mut out, &x, &full, false)?;
        v.put(first, &out)?;
    }
    h.free_idle();
    drop((system, hierarchy));
    v.on_device(op, &grid, precision)
}

/// The null vectors of a hierarchy, unchanged. The hierarchy's memory is freed, unless solves still
/// use it.
fn originals(hierarchy: Arc<Hierarchy>) -> Result<CoarseField> {
    let old = &hierarchy.transfers[0];
    old.originals(0, old.count())
}
