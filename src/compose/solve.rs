//! Solves with quark actions as users ask for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use super::deflation::{Deflation, Sides};
use super::equation::{
    iterated_operator, Chosen, Equations, Normalisation, Solution, SolveParams, SolveReport,
};
use super::krylov_solve::KrylovSolve;
use super::multigrid::Multigrid;
use super::tolerance::to_tolerance;
use crate::backend::Device;
use crate::bail;
use crate::error::{significant, Result};
use crate::fields::{blas, Components, Footprint, Precision, SpinorField, Subset};
use crate::linop::{Adjoint, LinOp, Normal, Schur, SchurComplement};
use crate::operators::{DistanceWeights, QuarkAction, SchurAction, Storage};
use crate::solvers::{
    self, unwatched, InRange, MinimalResidual, Monitor, Patience, SolverKind, SolverParams,
    SolverReport, Stop, System,
};

/// A quark action prepared for solves.
pub struct DiracSolver {
    op: Arc<dyn QuarkAction>,
    /// The weights of distance preconditioning.
    weights: Option<DistanceWeights>,
    sloppy: Option<Arc<dyn QuarkAction>>,
    /// Schur complements that keep what they take of the operators as long as the solver lives, or have it lent.
    _complements: Vec<Arc<dyn SchurAction>>,
    pub(super) deflation: Option<Deflation>,
    params: SolveParams,
    multigrid: Mutex<Preconditioner>,
    automatic: Option<Mutex<Automatic>>,
    /// The same solver without its sloppy operator, once it was asked for.
    precise: OnceLock<Box<DiracSolver>>,
    /// Memory of work for so many right-hand sides, as far as it was asked for.
    pub(super) known: Mutex<HashMap<(Work, usize), Footprint>>,
    /// The solver is that of a rehearsal for its memory: multigrid counts as standing still in every solve, so that
    /// BiCGStab, which goes on then, counts, too.
    pub(super) measured: bool,
}

/// Work of a solver whose memory is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Work {
    Solve,
    /// The solve with a shift by multigrid.
    Shifted,
    /// Solves with so many shifts at once.
    MultiShift(usize),
}

/// What an automatic solver knows of its operator.
#[derive(Default)]
pub(super) struct Automatic {
    /// The hierarchy and GCR with it, once it was set up.
    pub multigrid: Option<(Arc<Multigrid>, Arc<DiracSolver>)>,
    /// It was set up here, and follows links that change; one of the host's does not.
    pub own: bool,
    /// Right-hand sides solved for.
    pub solved: usize,
    /// Multigrid cannot be set up.
    pub impossible: bool,
}

/// Multigrid, and where it preconditions an iteration that would be in double, the operator in single
/// precision: many directions are kept.
#[derive(Clone, Default)]
pub(super) struct Preconditioner {
    pub(super) multigrid: Option<Arc<Multigrid>>,
    single: Option<Arc<dyn QuarkAction>>,
    complement: Option<Arc<dyn SchurAction>>,
}

/// Directions that GCR keeps with multigrid unless it is told otherwise: more take memory and save hardly an iteration.
pub const MULTIGRID_DIRECTIONS: usize = 4;

/// Patience with multigrid, whose iterations are dear: as a rule one of them divides the residual by three.
const MULTIGRID_PATIENCE: Patience = Patience { iterations: 20, factor: 0.5 };

/// Factor between recomputed residuals with multigrid. Every iteration is dear, and so is a residual in double: that
/// of the iteration falls to `residual` in as few equal parts as single precision allows before it is recomputed.
pub(super) fn multigrid_delta(residual: f64) -> f64 {
    const LARGEST: f64 = 4e-4;
    let parts = (residual.clamp(1e-16, LARGEST).ln() / LARGEST.ln()).ceil();
    residual.clamp(1e-16, LARGEST).powf(1.0 / parts)
}

impl DiracSolver {
    /// Builds the sloppy operator where one is asked for.
    ///
    /// # Errors
    /// `BadParameter`, `Unsupported`: parameters out of range or not combined; `OutOfMemory`: the
    /// sloppy operator will not fit; nothing is allocated then.
    pub fn new(op: Arc<dyn QuarkAction>, params: SolveParams) -> Result<Self> {
        params.solver.check()?;
        if params.solution.preconditioned() && params.even_odd.is_none() {
            bail!(
                BadParameter,
                "system: {} needs an even-odd preconditioned one, found PLAQ_SYSTEM_FULL",
                params.solution
            );
        }
        if let Some(form) = params.even_odd {
            op.clone().schur(form)?;
        }
        let (kind, equations) = (params.solver.kind, params.equations);
        let hermitian =
            params.solution.normal() || iterated_operator(&op, params.even_odd)?.hermitian();
        if kind == SolverKind::Cg && equations == Equations::Direct && !hermitian {
            bail!(
                Unsupported,
                "equations: {kind} needs a hermitian positive operator: ask for one of the normal \
                 equations, or for {} or {}",
                SolverKind::Cgnr,
                SolverKind::Cgne
            );
        }
        let other = match kind {
            SolverKind::Cgne => Some(Equations::NormalResidual),
            SolverKind::Cgnr => Some(Equations::NormalError),
            _ => None,
        };
        if other == Some(equations) {
            bail!(
                BadParameter,
                "equations: {kind} has normal equations of its own, expected PLAQ_EQUATIONS_DIRECT or \
                 these, found {equations}"
            );
        }
        if kind == SolverKind::MultiShift {
            bail!(Unsupported, "multishift has its own call");
        }
        // Those steps are no hermitian operator, which CG would need.
        if params.precondition_steps > 0 && (kind == SolverKind::Cg || !kind.takes_preconditioner())
        {
            bail!(
                Unsupported,
                "{kind} takes no steps of minimal residual: {}, {} and {} do",
                SolverKind::BiCgStab,
                SolverKind::Gcr,
                SolverKind::Mr
            );
        }
        let weights = params.distance.map(|d| DistanceWeights::new(&*op, d)).transpose()?;
        let own = op.storage();
        let params = SolveParams { sloppy: params.sloppy.map(|asked| inside(&*op, asked)), ..params };
        let form = params.even_odd;
        let mut complements = vec![];
        if let Some(form) = form {
            complements.push(op.clone().schur(form)?);
        }
        let lent = lends(&params, own.0);
        let missing = match complements.first() {
            Some(precise) if !lent => precise.missing_blocks(),
            _ => 0,
        };
        let sloppy = match params.sloppy {
            Some(other) if other != own => {
                if other.0 > own.0 {
                    bail!(
                        BadParameter,
                        "sloppy_precision: expected at most the operator's, {}, found {}",
                        own.0,
                        other.0
                    );
                }
                let bytes = op.copy_bytes(other, form) + missing;
                op.shape().device.require(bytes, "the sloppy operator")?;
                Some(op.shared_copy(other)?)
            }
            _ => None,
        };
        op.shape().device.require(missing, "the inverse of the clover term")?;
        if let (Some(form), Some(sloppy)) = (form, &sloppy) {
            complements.push(sloppy.clone().schur(form)?);
        }
        if let (None, Some(sloppy)) = (form, &sloppy) {
            sloppy.keep_blocks()?;
        }
        for (i, complement) in complements.iter().enumerate() {
            match i == 0 && lent {
                true => complement.lend_blocks(),
                false => complement.keep_blocks()?,
            }
        }
        let automatic = params.automatic.map(|_| Mutex::default());
        Ok(DiracSolver {
            op,
            weights,
            sloppy,
            _complements: complements,
            deflation: None,
            params,
            multigrid: Mutex::default(),
            automatic,
            precise: OnceLock::new(),
            known: Mutex::default(),
            measured: false,
        })
    }

    /// The operator, or a copy of it, as the equation is solved with it: of the adjoint one for `dagger`.
    fn solved(&self, op: &Arc<dyn QuarkAction>, dagger: bool) -> Arc<dyn QuarkAction> {
        match &self.weights {
            Some(weights) => Arc::new(weights.around(op.clone(), dagger)),
            None => op.clone(),
        }
    }

    /// Every solve begins with what low modes give of its solution.
    ///
    /// # Errors
    /// `Unsupported`: the solver has distance preconditioning, or chooses its algorithm; `FieldMismatch`: the modes are
    /// those of another operator, or of another system of it.
    pub fn with_deflation(mut self, deflation: Option<Deflation>) -> Result<Self> {
        if let Some(deflation) = &deflation {
            if self.weights.is_some() || self.automatic.is_some() {
                bail!(
                    Unsupported,
                    "deflation: expected a solver with an algorithm and distance_alpha 0"
                );
            }
            deflation.modes.check(&*self.op, self.params.even_odd)?;
        }
        self.set_deflation(deflation);
        Ok(self)
    }

    /// The same without checks.
    pub(super) fn set_deflation(&mut self, deflation: Option<Deflation>) {
        self.deflation = deflation;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Preconditions every iteration with multigrid, of which solvers may share one.
    ///
    /// # Errors
    /// `Unsupported`: not GCR on a Schur complement directly; `FieldMismatch`: set up for another
    /// lattice or device.
    pub fn with_multigrid(self, multigrid: Option<Arc<Multigrid>>) -> Result<Self> {
        self.set_multigrid(multigrid)?;
        Ok(self)
    }

    /// The same of a solver in use: solves that begin later have it.
    pub fn set_multigrid(&self, multigrid: Option<Arc<Multigrid>>) -> Result<()> {
        if let Some(mut automatic) = self.automatic().filter(|_| self.weights.is_none()) {
            let with_gcr = |m: Arc<Multigrid>| -> Result<_> {
                let solver = self.with_gcr()?.with_multigrid(Some(m.clone()))?;
                Ok((m, Arc::new(solver)))
            };
            (automatic.multigrid, automatic.own) = (multigrid.map(with_gcr).transpose()?, false);
            return Ok(());
        }
        if let Some(multigrid) = &multigrid {
            if self.weights.is_some() {
                bail!(Unsupported, "multigrid: expected a solver with distance_alpha 0");
            }
            multigrid.check(&*self.op)?;
            let p = &self.params;
            let fits = p.solver.kind == SolverKind::Gcr
                && p.equations == Equations::Direct
                && p.even_odd.is_some()
                && p.precondition_steps == 0;
            if !fits {
                bail!(
                    Unsupported,
                    "multigrid: expected a solver with {}, a system on one parity, {} and 0 \
                     precondition_steps, found {}, {}, {} and {}",
                    SolverKind::Gcr,
                    Equations::Direct,
                    p.solver.kind,
                    p.even_odd.map_or("PLAQ_SYSTEM_FULL".into(), |s| s.to_string()),
                    p.equations,
                    p.precondition_steps
                );
            }
        }
        let (precision, recon) = self.op.storage();
        let Preconditioner { mut single, mut complement, .. } = self.lock().clone();
        if multigrid.is_none() || self.sloppy.is_some() || precision != Precision::F64 {
            (single, complement) = (None, None);
        } else if single.is_none() {
            let other = (Precision::F32, recon);
            let device = self.op.shape().device;
            let form = self.params.even_odd;
            device.require(self.op.copy_bytes(other, form), "the operator in single precision")?;
            let copy = self.op.shared_copy(other)?;
            complement = form.map(|form| copy.clone().schur(form)).transpose()?;
            complement.iter().try_for_each(|c| c.keep_blocks())?;
            single = Some(copy);
        }
        *self.lock() = Preconditioner { multigrid, single, complement };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(())
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, Preconditioner> {
        self.multigrid.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Multigrid, where it preconditions.
    ///
    /// # Errors
    /// `StaleMultigrid`: the operator's links have changed since multigrid's last set-up or update.
    pub(super) fn current_multigrid(&self) -> Result<Option<Arc<Multigrid>>> {
        let multigrid = self.lock().multigrid.clone();
        multigrid.iter().try_for_each(|m| m.check_links(&*self.op))?;
        Ok(multigrid)
    }
    /// The operator of the iteration where that is not the precise one.
    pub(super) fn low(&self) -> Option<Arc<dyn QuarkAction>> {
        self.sloppy.clone().or_else(|| self.lock().single.clone())
    }

    /// Precision and link storage of the iteration.
    pub(super) fn iterated(&self) -> Storage {
        self.low().as_ref().unwrap_or(&self.op).storage()
    }
    /// The same solver without its sloppy operator.
    pub(super) fn precise(&self) -> &DiracSolver {
        self.precise.get_or_init(|| {
            let complement = self.params.even_odd.and_then(|form| self.op.clone().schur(form).ok());
            // Solves say what is wrong.
            let _ = complement.as_ref().map(|c| c.keep_blocks());
            Box::new(DiracSolver {
                op: self.op.clone(),
                weights: self.weights.clone(),
                sloppy: None,
                _complements: complement.into_iter().collect(),
                deflation: None,
                params: SolveParams { sloppy: None, ..self.params.clone() },
                multigrid: Mutex::default(),
                automatic: None,
                precise: OnceLock::new(),
                known: Mutex::default(),
                measured: false,
            })
        })
    }

    pub fn op(&self) -> &Arc<dyn QuarkAction> {
        &self.op
    }
    pub fn params(&self) -> &SolveParams {
        &self.params
    }
    pub(super) fn automatic(&self) -> Option<MutexGuard<'_, Automatic>> {
        self.automatic.as_ref().map(|a| a.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// The hierarchy that preconditions, or that an automatic solver has set up.
    pub fn multigrid(&self) -> Option<Arc<Multigrid>> {
        match self.automatic() {
            Some(automatic) => automatic.multigrid.as_ref().map(|m| m.0.clone()),
            None => self.lock().multigrid.clone(),
        }
    }
    /// The same solver by GCR, for multigrid.
    fn with_gcr(&self) -> Result<DiracSolver> {
        let params = self.params.clone();
        let own = self.op.storage();
        let single = (own.0.min(Precision::F32), params.sloppy.map_or(own.1, |s| s.1));
        let solver = SolverParams {
            kind: SolverKind::Gcr,
            nkrylov: MULTIGRID_DIRECTIONS,
            ..params.solver.clone()
        };
        let params = SolveParams { solver, sloppy: Some(single), automatic: None, ..params };
        DiracSolver::new(self.op.clone(), params)
    }

    /// Brings the sloppy operator up to date with changed links.
    pub(super) fn follow(&self) -> Result<()> {
        match self.low() {
            Some(low) => self.op.shared_copy(low.storage()).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Sites of x and b.
    pub fn subset(&self) -> Subset {
        match self.params.even_odd {
            Some(s) if self.params.solution.preconditioned() => Subset::of_parity(s.parity),
            _ => Subset::Full,
        }
    }

    /// M^dagger M or M M^dagger by one solve after the other. With weights around each of them the product is not
    /// hermitian.
    fn two_steps(&self) -> bool {
        let kind = self.params.solver.kind;
        let cg = matches!(kind, SolverKind::Cg | SolverKind::Cgne | SolverKind::Cgnr)
            && self.weights.is_none();
        match self.params.solution {
            Solution::MatDagMat | Solution::MatMatDag => self.params.even_odd.is_some() || !cg,
            Solution::MatPcDagMatPc | Solution::MatPcMatPcDag => !cg,
            _ => false,
        }
    }

    /// The Schur complement that the equation is about; None: the full operator.
    fn equation_schur(&self) -> Option<Schur> {
        self.params.even_odd.filter(|_| self.params.solution.preconditioned())
    }

    /// Solves with the algorithm of `params`, from x where `guess`.
    pub(super) fn solve_plain(
        &self,
        stop: Stop,
        guess: bool,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        let start = Instant::now();
        stop.check()?;
        let shape = self.op.subset_shape(self.subset());
        for (field, name) in [(&*x, "x"), (b, "b")] {
            shape.check(field, name)?;
        }
        b.check_like(x, "x")?;
        self.current_multigrid()?;
        if let Some(deflation) = &self.deflation {
            deflation.modes.check(&*self.op, self.params.even_odd)?;
        }
        let device: &Device = &shape.device;
        self.make_room(|| self.memory(b.nrhs()))?;
        let peak = device.watch_peak();
        self.follow()?;
        self.rehearse(x, b);
        let _blocks = self.blocks_in_room(b.nrhs())?;
        // Everything below is in kappa normalisation.
        let rescale = self.rescale();
        let stop = stop.since(start);
        let params = SolverParams { stop, initial_guess: guess, ..self.params.solver.clone() };
        let xs = &mut [x];
        let mut units = InRange::new(xs, b, guess)?;
        let mut fields = units.fields();
        let (x, source) = (&mut *fields.xs[0], fields.b);
        let prepared = if guess { scale(x, 1.0 / rescale, source) } else { Ok(()) };
        let solved = prepared.and_then(|()| self.solve_kappa(x, source, &params, monitor));
        let scaled = solved.and_then(|report| scale(x, rescale, source).map(|()| report));
        let mut solver = units.end(scaled)?;
        device.synchronize()?;
        solver.seconds = start.elapsed().as_secs_f64();
        let (memory_peak, iterated) = (peak.bytes(), self.iterated());
        Ok(SolveReport { solver, memory_peak, iterated, chosen: Chosen::Asked, columns: b.nrhs() })
    }

    /// x in the normalisation asked for = this times x in kappa normalisation.
    pub(super) fn rescale(&self) -> f64 {
        let symmetric = self.params.even_odd.is_some_and(|s| s.symmetric);
        let c = match self.params.normalisation {
            Normalisation::Kappa => 1.0,
            Normalisation::Mass => self.op.mass_scale(),
        };
        match self.params.solution {
            Solution::Mat | Solution::MatDag => c,
            Solution::MatDagMat | Solution::MatMatDag => c * c,
            _ if symmetric => 1.0,
            Solution::MatPc | Solution::MatPcDag => c,
            Solution::MatPcDagMatPc | Solution::MatPcMatPcDag => c * c,
        }
    }

    /// Has the kernels of a first solve compiled all at once.
    fn rehearse(&self, x: &mut SpinorField, b: &SpinorField) {
        let name = || {
            format!(
                "solve {} {} {:?} multigrid {:?} low modes {:?}",
                self.op.describe(),
                b.nrhs(),
                self.params,
                self.lock().multigrid.as_ref().map(|m| m.params()),
                self.deflation.as_ref().map(|d| d.modes.count()),
            )
        };
        self.op.links().geometry().rehearse(b.device(), name, || self.run_through(x, b));
    }

    /// All that a solve launches, in a rehearsal.
    pub fn run_through(&self, x: &mut SpinorField, b: &SpinorField) {
        let stop = Stop { seconds: f64::INFINITY, ..self.params.solver.stop };
        let params = SolverParams { stop, ..self.params.solver.clone() };
        let rescale = self.rescale();
        // Made-up sums may end it early.
        let _ = self.solve_kappa(x, b, &params, &mut unwatched);
        let _ = scale(x, rescale, b);
    }

    /// The solve in kappa normalisation, with the weights of distance preconditioning where there are some.
    fn solve_kappa(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        params: &SolverParams,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let mut weighted = None;
        if let Some(weights) = &self.weights {
            weights.prepare(weighted.insert(b.like(b.precision())?), b)?;
            if params.initial_guess {
                weights.restrict(x)?;
            }
        }
        let b = weighted.as_ref().unwrap_or(b);
        let report = if self.two_steps() {
            // Which of the two factors stands beside x.
            let adjoint = self.params.solution.adjoint_first();
            let attempt = |x: &mut SpinorField, params: &SolverParams, monitor: &mut Monitor| {
                let start = Instant::now();
                let mut y = x.like(x.precision())?;
                if params.initial_guess {
                    self.operate(&mut y, x, adjoint)?;
                }
                let first = self.solve_one(!adjoint, &mut y, b, params, monitor)?;
                let left = SolverParams { stop: params.stop.since(start), ..params.clone() };
                Ok(first.followed_by(self.solve_one(adjoint, x, &y, &left, monitor)?))
            };
            let image = |out: &mut SpinorField, x: &SpinorField| {
                let mut y = x.like(x.precision())?;
                self.operate(&mut y, x, adjoint)?;
                self.operate(out, &y, !adjoint)
            };
            to_tolerance(params, x, b, monitor, attempt, image)?
        } else if self.params.solution.normal() {
            let cg = SolverParams { kind: SolverKind::Cg, ..params.clone() };
            let system = self.normal_system(self.equation_schur())?;
            let mut solve = |x: &mut SpinorField, params: &SolverParams| {
                solvers::solve(&system, params, x, b, &mut *monitor)
            };
            match &self.deflation {
                None => solve(x, &cg)?,
                Some(deflation) => {
                    let sides = Sides::of_both(self.params.solution.adjoint_first());
                    deflation.solve((&*system.precise, sides, None), x, b, &cg, solve)?
                }
            }
        } else {
            let dagger = matches!(self.params.solution, Solution::MatDag | Solution::MatPcDag);
            self.solve_one(dagger, x, b, params, monitor)?
        };
        if let Some(weights) = &self.weights {
            weights.reconstruct(x)?;
        }
        Ok(report)
    }

    /// M^dagger M or P^dagger P, or as the equation has it M M^dagger or P P^dagger, and its sloppy twin.
    pub(super) fn normal_system(&self, schur: Option<Schur>) -> Result<System> {
        let normal = |op: Arc<dyn LinOp>| -> Arc<dyn LinOp> {
            match self.params.solution.adjoint_first() {
                false => Arc::new(Normal::mdag_m(op)),
                true => Arc::new(Normal::m_mdag(op)),
            }
        };
        let sloppy = self.sloppy.as_ref().map(|op| iterated_operator(op, schur)).transpose()?;
        Ok(System {
            sloppy: sloppy.map(normal),
            ..System::new(normal(self.solved_on(schur, false)?))
        })
    }

    /// M, or P, and its sloppy twin.
    pub(super) fn plain_system(&self, schur: Option<Schur>) -> Result<System> {
        let plain = |op: &Arc<dyn QuarkAction>| iterated_operator(op, schur);
        let sloppy = self.sloppy.as_ref().map(plain).transpose()?;
        Ok(System { sloppy, ..System::new(self.solved_on(schur, false)?) })
    }

    /// out = M in or M^dagger in with the operator of the equation.
    fn operate(&self, out: &mut SpinorField, inp: &SpinorField, dagger: bool) -> Result<()> {
        let op = self.solved_on(self.equation_schur(), dagger)?;
        if dagger {
            op.apply_dagger(out, inp)
        } else {
            op.apply(out, inp)
        }
    }

    /// M x = b or M^dagger x = b for the operator of the equation.
    fn solve_one(
        &self,
        dagger: bool,
        x: &mut SpinorField,
        b: &SpinorField,
        params: &SolverParams,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let attempt = |x: &mut SpinorField, params: &SolverParams, monitor: &mut Monitor| {
            let start = Instant::now();
            let report = self.krylov_solve(dagger)?.run(x, b, params, monitor)?;
            let multigrid = self.lock().multigrid.clone();
            let goes_on = report.standstill || self.measured;
            let Some(multigrid) = multigrid.filter(|_| goes_on) else {
                return Ok(report);
            };
            // Vectors of cycles that are over lend their memory.
            multigrid.free_idle();
            if report.standstill {
                log::warn!(
                    "multigrid makes no progress from the residual {} on: BiCGStab goes on. More bits for the links of \
                     coarse operators (link_precision) or another number of null vectors may help",
                    significant(report.residual.iter().fold(0.0f64, |m, &r| m.max(r)), 3)
                );
            }
            let left = params.stop.iterations.saturating_sub(report.iterations).max(1);
            let stop = Stop { iterations: left, ..params.stop.since(start) };
            let params = SolverParams { stop, initial_guess: true, ..params.clone() };
            let next =
                self.krylov_solve(dagger)?.without_multigrid().run(x, b, &params, monitor)?;
            let fallback = next.fallback.or(Some(SolverKind::BiCgStab));
            let (converged, stopped_by) = (next.converged, next.stopped_by);
            let standstill = next.standstill;
            Ok(SolverReport {
                converged,
                stopped_by,
                standstill,
                fallback,
                ..report.followed_by(next)
            })
        };
        let image = |out: &mut SpinorField, x: &SpinorField| self.operate(out, x, dagger);
        to_tolerance(params, x, b, monitor, attempt, image)
    }

    /// M or a Schur complement of the operator that the equation is solved with.
    fn solved_on(&self, schur: Option<Schur>, dagger: bool) -> Result<Arc<dyn LinOp>> {
        match schur {
            Some(form) => Ok(self.complement(form, dagger)?),
            None => Ok(self.solved(&self.op, dagger)),
        }
    }

    /// A Schur complement of the operator that the equation is solved with.
    fn complement(&self, form: Schur, dagger: bool) -> Result<Arc<dyn SchurAction>> {
        let made = self.solved(&self.op, dagger).schur(form)?;
        if lends(&self.params, self.op.storage().0) {
            made.lend_blocks();
        }
        Ok(made)
    }

    /// One Krylov solve, with the equations and the algorithm asked for.
    fn krylov_solve(&self, dagger: bool) -> Result<KrylovSolve> {
        let full = self.params.even_odd.is_some() && !self.params.solution.preconditioned();
        let mut around = None;
        let base: Arc<dyn LinOp> = match self.params.even_odd {
            Some(s) if full => {
                let pc = self.complement(s, dagger)?;
                around = Some(pc.clone() as Arc<dyn SchurComplement>);
                pc
            }
            schur => self.solved_on(schur, dagger)?,
        };
        let low = self.low();
        let iterated = |op| iterated_operator(&self.solved(op, dagger), self.params.even_odd);
        let sloppy = low.as_ref().map(iterated).transpose()?;
        let turned = |op: Arc<dyn LinOp>| -> Arc<dyn LinOp> {
            if dagger {
                Arc::new(Adjoint(op))
            } else {
                op
            }
        };
        let hermitian = base.hermitian();
        let (op, sloppy) = (turned(base), sloppy.map(turned));
        let kind = match (self.params.solver.kind, self.params.equations) {
            (SolverKind::Cg, Equations::Direct) if hermitian => SolverKind::Cg,
            (SolverKind::Cg, Equations::NormalError) => SolverKind::Cgne,
            (SolverKind::Cg, _) => SolverKind::Cgnr,
            (kind, _) => kind,
        };
        let cg = matches!(kind, SolverKind::Cgne | SolverKind::Cgnr);
        let normal = if cg { Equations::Direct } else { self.params.equations };
        let squared = |op: Arc<dyn LinOp>| -> Arc<dyn LinOp> {
            match normal {
                Equations::Direct => op,
                Equations::NormalResidual => Arc::new(Normal::mdag_m(op)),
                Equations::NormalError => Arc::new(Normal::m_mdag(op)),
            }
        };
        let mut system = System { sloppy: sloppy.map(squared), ..System::new(squared(op.clone())) };
        if self.params.precondition_steps > 0 {
            let inner = system.sloppy.as_ref().unwrap_or(&system.precise).clone();
            let (steps, omega) = (self.params.precondition_steps, self.params.solver.omega);
            system.preconditioner = Some(Arc::new(MinimalResidual::new(inner, steps, omega)));
        }
        let mut delta = 0.0;
        let multigrid = self.lock().multigrid.clone();
        if let (Some(multigrid), Some(form)) = (multigrid, self.params.even_odd) {
            if self.low().is_some_and(|op| op.storage().0 != Precision::F16) {
                delta = multigrid_delta(self.params.solver.stop.residual);
            }
            let shape = system.sloppy.as_ref().unwrap_or(&system.precise).shape();
            system.preconditioner = Some(turned(multigrid.inverse(form, shape)));
            system.patience = MULTIGRID_PATIENCE;
        }
        let deflation = self.deflation.clone();
        Ok(KrylovSolve { around, op, normal, system, kind, delta, dagger, deflation })
    }
}

/// Precision and storage of an iteration for which these are asked: single in place of half where a CPU's kernels work on
/// one number at a time (`vectorised` of the kernels' table) and half takes several times as long: with links stored
/// whole, as those of U(3), and on vectors other than spinors of one flavour.
fn inside(op: &dyn QuarkAction, asked: Storage) -> Storage {
    let shape = op.shape();
    let whole = asked.1 == asked.1.whole();
    let slow = whole || shape.components != Components::SPINOR;
    let wide = op.storage().0 > Precision::F16;
    if !(shape.device.is_cpu() && asked.0 == Precision::F16 && wide && slow) {
        return asked;
    }
    let what = match whole {
        true => "links stored whole, as those of U(3) are,".into(),
        false => format!("vectors of {}", shape.components),
    };
    log::info!("solver: iterates in single precision, as half is slower with {what} on a CPU");
    (Precision::F32, asked.1)
}

/// Does a solver keep no clover blocks for its precise residuals? Where memory counts, with 16 bits inside, and where
/// residuals are few, as those of GCR with multigrid. A solve makes them once ([`DiracSolver::blocks_in_room`]), or,
/// where memory is short, each residual makes its own.
pub(super) fn lends(params: &SolveParams, own: Precision) -> bool {
    let few = |inner| inner == Precision::F16 || params.solver.kind == SolverKind::Gcr;
    params.sloppy.is_some_and(|(inner, _)| inner < own && few(inner))
}

/// M^dagger M, or P^dagger P.
pub(super) fn normal_operator(
    op: &Arc<dyn QuarkAction>,
    schur: Option<Schur>,
) -> Result<Arc<dyn LinOp>> {
    Ok(Arc::new(Normal::mdag_m(iterated_operator(op, schur)?)))
}

/// x = c x; `any` is a finite field like x, read with coefficient 0.
fn scale(x: &mut SpinorField, c: f64, any: &SpinorField) -> Result<()> {
    if c == 1.0 {
        return Ok(());
    }
    let n = x.nrhs();
    blas::axpby(&blas::uniform(n, 0.0), any, &blas::uniform(n, c), x)
}
