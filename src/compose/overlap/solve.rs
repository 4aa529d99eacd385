//! Inverses of the overlap operator: CG on one chirality after the other, SUMR, or flexible GCR. Low modes of D_N are
//! projected out at the start, sign functions are coarse while the residual is large, iterations run in lower
//! precision, and several masses are solved for at once.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use num_complex::Complex64;

use super::solve_params::{
    OverlapAlgorithm, OverlapPreconditioner, OverlapSolveParams, Preconditioned,
};
use super::systems::{Unitary, WilsonInverse};
use super::{Overlap, OverlapModes, OverlapSquare};
use crate::backend::Device;
use crate::bail;
use crate::compose::multigrid::Multigrid;
use crate::compose::{Chosen, DiracSolver, Schur, Solution, SolveParams, SolveReport, SolveTotals};
use crate::error::{significant, Result};
use crate::fields::{blas, Precision, SpinorField};
use crate::linop::{LinOp, Shape};
use crate::operators::in_storage;
use crate::params::Key;
use crate::refuse;
use crate::solvers::stop::{check_seconds, Limit};
use crate::solvers::{
    self, multishift, sumr, InRange, Monitor, Progress, Shift, SolverKind, SolverParams,
    SolverReport, Stop, StoppedBy, System,
};

/// Error that an application of the operator may have, as a fraction of the tolerance, when the relative residual is
/// one.
const ERROR_FRACTION: f64 = 0.1;
/// Largest number of consecutive solves, each for the residual that the last one left, until the equation itself is
/// solved to the tolerance.
const EXTENSIONS: usize = 6;

/// An overlap operator prepared for solves.
pub struct OverlapSolver {
    op: Arc<Overlap>,
    sloppy: Option<Arc<Overlap>>,
    preconditioner: Option<Arc<dyn LinOp>>,
    modes: Option<Arc<OverlapModes>>,
    params: OverlapSolveParams,
    by_multigrid: bool,
    /// The algorithm that the last solve used.
    last_algorithm: Mutex<OverlapAlgorithm>,
}

impl OverlapSolver {
    /// Makes a solver; `modes`, of the same operator, are projected out of the start of every solve.
    ///
    /// # Errors
    /// `BadParameter`; `Unsupported`: a preconditioner without GCR; `OutOfMemory`.
    pub fn new(
        op: Arc<Overlap>,
        modes: Option<Arc<OverlapModes>>,
        mut params: OverlapSolveParams,
    ) -> Result<Self> {
        if !(params.tol > 0.0 && params.tol < 1.0) {
            refuse!(
                BadParameter,
                "tol",
                expected("a number between 0 and 1"),
                found("{}", params.tol)
            );
        }
        if params.nkrylov == 0 {
            bail!(BadParameter, "nkrylov is 0: GCR keeps at least one direction");
        }
        check_seconds(params.max_seconds)?;
        let reach = op.error_bound();
        if params.tol < 0.1 * reach {
            bail!(
                BadParameter,
                "tol: {} is far below the error {} of the operator: make it with a smaller delta",
                significant(params.tol, 2),
                significant(reach, 2)
            );
        }
        if let Some(modes) = &modes {
            if modes.rho() != op.rho() || modes.vectors()[0].precision() != op.shape().precision {
                refuse!(FieldMismatch, "modes", expected("those of an operator like this one"));
            }
        }
        let links = op.sign().kernel().op().gauge().clone();
        let own = (links.precision(), links.recon());
        let inner = params.sloppy.unwrap_or(own);
        if inner.0 > own.0 {
            bail!(BadParameter, "sloppy: {} is finer than the operator's {}", inner.0, own.0);
        }
        let sloppy = match inner != own || params.relax {
            true => Some(Arc::new(op.to(inner.0, inner.1)?)),
            false => None,
        };
        match (params.algorithm, params.preconditioner) {
            (OverlapAlgorithm::Auto, OverlapPreconditioner::None)
                if op.preconditioner_wins(modes.as_deref(), &[op.mass()]) =>
            {
                params.preconditioner = OverlapPreconditioner::wilson(op.wilson_mass()?);
            }
            (
                OverlapAlgorithm::ChiralCg | OverlapAlgorithm::Sumr,
                OverlapPreconditioner::Wilson { .. },
            ) => {
                bail!(
                    Unsupported,
                    "{} takes no preconditioner, PLAQ_OVERLAP_SOLVER_GCR does",
                    params.algorithm
                )
            }
            _ => (),
        }
        let last_algorithm = Mutex::new(params.algorithm);
        let mut solver = OverlapSolver {
            op,
            sloppy,
            preconditioner: None,
            modes,
            params,
            by_multigrid: false,
            last_algorithm,
        };
        solver.preconditioner = solver.wilson_inverse(None)?;
        Ok(solver)
    }

    /// Makes GCR with this multigrid solve the preconditioner's Wilson operator. The multigrid must have been set up
    /// for [`Overlap::wilson`] with about the preconditioner's mass; solvers may share it.
    ///
    /// # Errors
    /// `Unsupported`: there is no Wilson preconditioner; `FieldMismatch`: another lattice or device.
    pub fn with_multigrid(mut self, multigrid: Arc<Multigrid>) -> Result<Self> {
        if self.params.preconditioner == OverlapPreconditioner::None {
            bail!(Unsupported, "multigrid belongs to the Wilson preconditioner, there is none");
        }
        self.preconditioner = self.wilson_inverse(Some(multigrid))?;
        self.by_multigrid = true;
        Ok(self)
    }

    fn wilson_inverse(&self, multigrid: Option<Arc<Multigrid>>) -> Result<Option<Arc<dyn LinOp>>> {
        let OverlapPreconditioner::Wilson { mass, tol, max_iterations } =
            self.params.preconditioner
        else {
            return Ok(None);
        };
        let inner = self.sloppy.as_ref().unwrap_or(&self.op);
        let kernel = inner.sign().kernel().op();
        // The Wilson solver needs vectors in floating point; vectors in 16 bits are converted.
        let precision = kernel.gauge().precision().max(Precision::F32);
        let wilson = in_storage(self.op.wilson(mass)?, (precision, kernel.gauge().recon()))?;
        let kind = match multigrid {
            Some(_) => SolverKind::Gcr,
            None => SolverKind::BiCgStab,
        };
        let stop = Stop { iterations: max_iterations, ..Stop::at(tol) };
        let solver = SolverParams { kind, stop, ..Default::default() };
        let params = SolveParams {
            solver,
            solution: Solution::Mat,
            even_odd: Some(Schur::EVEN_SYMMETRIC),
            ..Default::default()
        };
        let shape = Shape { precision: inner.shape().precision, ..self.op.shape() };
        let solver = DiracSolver::new(wilson, params)?.with_multigrid(multigrid)?;
        Ok(Some(Arc::new(WilsonInverse { solver, shape })))
    }

    pub fn op(&self) -> &Arc<Overlap> {
        &self.op
    }
    pub fn params(&self) -> &OverlapSolveParams {
        &self.params
    }
    /// The algorithm that the last solve used; before any solve, the one that was asked for.
    pub fn algorithm(&self) -> OverlapAlgorithm {
        *self.last_algorithm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The preconditioner of the algorithm that the last solve used.
    pub fn preconditioned(&self) -> Preconditioned {
        match (self.algorithm(), self.params.preconditioner) {
            (OverlapAlgorithm::Gcr, OverlapPreconditioner::Wilson { .. }) => {
                match self.by_multigrid {
                    true => Preconditioned::Multigrid,
                    false => Preconditioned::Wilson,
                }
            }
            _ => Preconditioned::No,
        }
    }

    /// The report of solves with this solver from that of the iteration.
    pub fn report(&self, solver: SolverReport) -> SolveReport {
        let links = self.op.sign().kernel().op().gauge();
        SolveReport {
            memory_peak: links.device().used().1,
            iterated: self.params.sloppy.unwrap_or((links.precision(), links.recon())),
            chosen: Chosen::Asked,
            columns: solver.residual.len(),
            solver,
        }
    }

    /// The totals of solves with this solver from the iteration's report.
    pub fn totals(&self, solver: SolverReport) -> SolveTotals {
        self.report(solver).totals(SolverKind::Cg)
    }

    /// The algorithm by which b is solved for at these masses.
    fn choose(&self, masses: &[f64], b: &SpinorField) -> Result<OverlapAlgorithm> {
        let algorithm = match self.params.algorithm {
            OverlapAlgorithm::Auto => {
                let wins = self.op.preconditioner_wins(self.modes.as_deref(), masses);
                if self.preconditioner.is_some() && wins {
                    OverlapAlgorithm::Gcr
                } else if masses.len() > 1 || self.one_chirality(b)? {
                    OverlapAlgorithm::ChiralCg
                } else {
                    OverlapAlgorithm::Sumr
                }
            }
            asked => asked,
        };
        *self.last_algorithm.lock().unwrap_or_else(PoisonError::into_inner) = algorithm;
        Ok(algorithm)
    }

    /// Whether all right-hand sides have the same chirality.
    fn one_chirality(&self, b: &SpinorField) -> Result<bool> {
        let mut half = b.like(b.precision())?;
        let mut empty = false;
        for chirality in [1, -1] {
            self.op.square(chirality).project(&mut half, b)?;
            empty |= blas::norm2(&half)?.iter().all(|&v| v == 0.0);
        }
        Ok(empty)
    }

    /// Wraps `monitor`: after every iteration the accuracy of the inner sign function is set according to the
    /// residual.
    fn relaxed<'a, 'm>(
        &'a self,
        goal: f64,
        monitor: &'a mut Monitor<'m>,
    ) -> impl FnMut(&Progress) -> ControlFlow<()> + use<'a, 'm> {
        move |p: &Progress| {
            if let Some(sloppy) = self.sloppy.as_ref().filter(|_| self.params.relax) {
                let residual = p.residual.iter().fold(0.0f64, |m, &r| m.max(r));
                let finest = sloppy.sign().delta();
                sloppy.sign().set_accuracy((ERROR_FRACTION * goal / residual).clamp(finest, 1e-2));
            }
            monitor(p)
        }
    }

    fn begin(&self, goal: f64) {
        if let Some(sloppy) = self.sloppy.as_ref().filter(|_| self.params.relax) {
            let finest = sloppy.sign().delta();
            sloppy.sign().set_accuracy((ERROR_FRACTION * goal).clamp(finest, 1e-2));
        }
    }

    /// Solves D x = b, from zero, for all right-hand sides. Residuals of the report are those of D x = b,
    /// recomputed; not converged is not an error.
    ///
    /// # Errors
    /// `FieldMismatch`, `NotFinite`, `SolverBreakdown`, `OutOfMemory`.
    pub fn solve(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        self.solve_within(self.params.max_seconds, x, b, monitor)
    }

    /// Solves like [`OverlapSolver::solve`] in at most `max_seconds` whatever the parameters say, for a job that
    /// solves again and again with the time that it has left.
    ///
    /// # Errors
    /// Errors of [`OverlapSolver::solve`].
    pub fn solve_within(
        &self,
        max_seconds: f64,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let limit = Limit::new(max_seconds)?;
        let shape = self.op.shape();
        shape.check(x, "x")?;
        shape.check(b, "b")?;
        b.check_like(x, "x")?;
        let xs = &mut [x];
        let mut units = InRange::new(xs, b, false)?;
        let mut fields = units.fields();
        let (x, b) = (&mut *fields.xs[0], fields.b);
        let solved = self.choose(&[self.op.mass()], b).and_then(|algorithm| {
            self.compile(algorithm, false, b, |like, b| {
                let mut x = b.like(b.precision())?;
                like.solve_by(algorithm, &limit, &mut x, b, &mut solvers::no_monitor)
            });
            self.solve_by(algorithm, &limit, x, b, monitor)
        });
        units.end(solved)
    }

    /// A solver like this one on another device, with vectors that are zero; for rehearsals.
    pub(crate) fn like_on(&self, device: &Device) -> Result<Self> {
        let like = |op: &Arc<Overlap>| op.like_on(device).map(Arc::new);
        Ok(OverlapSolver {
            op: like(&self.op)?,
            sloppy: self.sloppy.as_ref().map(like).transpose()?,
            preconditioner: match &self.preconditioner {
                Some(inverse) => Some(inverse.like_on_device(device)?),
                None => None,
            },
            modes: match &self.modes {
                Some(modes) => Some(Arc::new(modes.like_on(device)?)),
                None => None,
            },
            params: self.params.clone(),
            by_multigrid: self.by_multigrid,
            last_algorithm: Mutex::new(self.algorithm()),
        })
    }

    /// Compiles, in parallel, the kernels that `work` needs for a first solve with a solver like this one.
    fn compile<T>(
        &self,
        algorithm: OverlapAlgorithm,
        shifted: bool,
        b: &SpinorField,
        work: impl FnOnce(&Self, &SpinorField) -> Result<T>,
    ) {
        let shape = self.op.shape();
        let forms = (self.op.key(), self.sloppy.as_ref().map(|s| s.key()));
        let own = (algorithm, shifted, self.modes.is_some(), self.params.nkrylov);
        let preconditioner = (self.preconditioner.is_some(), self.by_multigrid);
        let key = Key::of(("overlap solve", forms, b.nrhs(), own, preconditioner));
        shape.geometry.precompile(&shape.device, None, false, key, |device| {
            work(&self.like_on(device)?, &b.like_on(device)?)
        });
    }

    /// Runs all algorithms that a solve may choose, in a rehearsal.
    pub(crate) fn run_through(&self, x: &mut SpinorField, b: &SpinorField) -> Result<()> {
        let limit = Limit::new(f64::INFINITY)?;
        let all = match (self.params.algorithm, self.choose(&[self.op.mass()], b)?) {
            (OverlapAlgorithm::Auto, OverlapAlgorithm::Gcr) => vec![OverlapAlgorithm::Gcr],
            (OverlapAlgorithm::Auto, _) => vec![OverlapAlgorithm::ChiralCg, OverlapAlgorithm::Sumr],
            (asked, _) => vec![asked],
        };
        for algorithm in all {
            self.solve_by(algorithm, &limit, x, b, &mut solvers::no_monitor)?;
        }
        Ok(())
    }

    /// Solves by the given algorithm.
    fn solve_by(
        &self,
        algorithm: OverlapAlgorithm,
        limit: &Limit,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let (shape, n) = (self.op.shape(), b.nrhs());
        let norm: Vec<f64> = blas::norm2(b)?.iter().map(|v| v.sqrt()).collect();
        x.clear()?;
        let (mut r, mut dx) = (shape.field(n)?, shape.field(n)?);
        blas::copy(&mut r, b)?;
        if let Some(modes) = &self.modes {
            let mut low = shape.field(n)?;
            modes.low_inverse(self.op.mass(), &mut low, b)?;
            self.op.apply_dagger(x, &low)?;
            self.residual(&mut r, x, b)?;
        }
        let mut report = self.advance(algorithm, limit, x, &mut r, &mut dx, b, &norm, monitor)?;
        report.residual_hq = blas::heavy_quark_residual(x, &r)?;
        report.seconds = limit.seconds();
        Ok(report)
    }

    /// Continues the solution x with residual r, by consecutive solves of D dx = r to the part of the tolerance that
    /// is left, until it is met.
    #[allow(clippy::too_many_arguments)]
    fn advance(
        &self,
        algorithm: OverlapAlgorithm,
        limit: &Limit,
        x: &mut SpinorField,
        r: &mut SpinorField,
        dx: &mut SpinorField,
        b: &SpinorField,
        norm: &[f64],
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let n = b.nrhs();
        let mut total: Option<SolverReport> = None;
        for _ in 0..EXTENSIONS {
            let used = total.as_ref().map_or(0, |t: &SolverReport| t.iterations);
            let left = self.params.max_iterations.saturating_sub(used);
            let size: Vec<f64> = blas::norm2(r)?.iter().map(|v| v.sqrt()).collect();
            let relative = |i: usize| if norm[i] > 0.0 { size[i] / norm[i] } else { 0.0 };
            let residual: Vec<f64> = (0..n).map(relative).collect();
            let converged = residual.iter().all(|&v| v <= self.params.tol);
            let stopped = total.as_ref().is_some_and(|t| t.stopped);
            let stuck = match &total {
                // If a complete solve did not halve the residual, another one will not either.
                Some(t) => {
                    let max = |v: &[f64]| v.iter().fold(0.0f64, |m, &x| m.max(x));
                    max(&residual) > 0.5 * max(&t.residual) && t.iterations > 0
                }
                None => false,
            };
            let report = total.get_or_insert_with(|| SolverReport {
                residual: vec![f64::INFINITY; n],
                ..Default::default()
            });
            (report.converged, report.residual) = (converged, residual);
            if converged || stopped || stuck || left == 0 {
                break;
            }
            // Tolerance of the inner solve, relative to the present residual.
            let worst = report.residual.iter().fold(0.0f64, |m, &v| m.max(v));
            let goal = (0.5 * self.params.tol / worst).min(0.5);
            let mut inner = self.relaxed(goal, monitor);
            self.begin(goal);
            let params = self.solver_params(goal, left, limit);
            let part = match algorithm {
                OverlapAlgorithm::ChiralCg => self.chiral(dx, r, params, limit, &mut inner)?,
                OverlapAlgorithm::Sumr => self.unitary(dx, r, params, &mut inner)?,
                OverlapAlgorithm::Gcr => self.flexible(dx, r, params, &mut inner)?,
                OverlapAlgorithm::Auto => bail!(Internal, "no algorithm was chosen"),
            };
            blas::axpy(&blas::uniform(n, 1.0), dx, x)?;
            let residual = report.residual.clone();
            *report = std::mem::take(report).followed_by(part);
            report.residual = residual;
            self.residual(r, x, b)?;
        }
        let mut report = total.unwrap_or_default();
        let at_limit = report.iterations >= self.params.max_iterations;
        report.standstill = !report.converged && !report.stopped && !at_limit;
        report.stopped_by = match (report.converged, report.stopped) {
            (true, _) => Some(StoppedBy::Residual),
            (_, true) => report.stopped_by,
            _ if at_limit => Some(StoppedBy::Iterations),
            _ => Some(StoppedBy::Standstill),
        };
        Ok(report)
    }

    /// Computes r = b - D x, where D is the overlap operator of the solver's mass.
    fn residual(&self, r: &mut SpinorField, x: &SpinorField, b: &SpinorField) -> Result<()> {
        self.op.apply(r, x)?;
        let n = b.nrhs();
        blas::axpby(&blas::uniform(n, 1.0), b, &blas::uniform(n, -1.0), r)
    }

    /// Parameters of a solve to relative residual `tol` in at most `left` iterations; the algorithm is CG unless the
    /// caller changes it.
    fn solver_params(&self, tol: f64, left: usize, limit: &Limit) -> SolverParams {
        let stop = Stop { iterations: left, seconds: limit.left(), ..Stop::at(tol) };
        SolverParams {
            kind: SolverKind::Cg,
            nkrylov: self.params.nkrylov,
            stop,
            ..Default::default()
        }
    }

    /// The system of D^dagger D on one chirality, with the operator for residuals and the one of the iteration.
    fn squares(&self, chirality: i32) -> System {
        let sloppy = self.sloppy.as_ref().map(|s| Arc::new(s.square(chirality)) as Arc<dyn LinOp>);
        System { sloppy, ..System::new(Arc::new(self.op.square(chirality))) }
    }

    fn chiral(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        params: SolverParams,
        limit: &Limit,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let (shape, n) = (self.op.shape(), b.nrhs());
        let norms: Vec<f64> = blas::norm2(b)?.iter().map(|v| v.sqrt()).collect();
        let (mut half, mut z) = (shape.field(n)?, shape.field(n)?);
        let mut sum = shape.field(n)?;
        let mut total: Option<SolverReport> = None;
        for chirality in [1, -1] {
            let square = self.op.square(chirality);
            square.project(&mut half, b)?;
            if blas::norm2(&half)?.iter().all(|&v| v == 0.0) {
                continue;
            }
            let system = System { scale: Some(norms.clone()), ..self.squares(chirality) };
            let (residual, seconds) = (0.7 * params.stop.residual, limit.left());
            let stop = Stop { residual, seconds, ..params.stop };
            let params = SolverParams { stop, ..params.clone() };
            let part = solvers::solve(&system, &params, &mut z, &half, monitor)?;
            let stopped = part.stopped;
            blas::axpy(&blas::uniform(n, 1.0), &z, &mut sum)?;
            total = Some(match total {
                Some(before) => before.followed_by(part),
                None => part,
            });
            if stopped {
                break;
            }
        }
        self.op.apply_dagger(x, &sum)?;
        Ok(total.unwrap_or_else(|| SolverReport { converged: true, ..Default::default() }))
    }

    fn unitary(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        params: SolverParams,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let op = self.sloppy.as_ref().unwrap_or(&self.op);
        let (rho, mass) = (op.rho(), op.mass());
        let pair = [rho + 0.5 * mass, rho - 0.5 * mass];
        let norms: Vec<f64> = blas::norm2(b)?.iter().map(|v| v.sqrt()).collect();
        // The residual that is asked for is not below the accuracy of the sign function and the rounding of the
        // operator.
        let floor = (10.0 * op.shape().precision.epsilon()).max(2.0 * op.sign().delta());
        let reach = params.stop.residual.max(floor);
        let unitary = Unitary(op.sign().clone());
        let shape = unitary.shape();
        let (mut low_b, mut low_x) = (shape.field(b.nrhs())?, shape.field(b.nrhs())?);
        let inverse: Vec<f64> =
            norms.iter().map(|v| if *v > 0.0 { 1.0 / v } else { 0.0 }).collect();
        let zero = blas::uniform(b.nrhs(), 0.0);
        blas::axpby(&blas::complex(&inverse), b, &zero, &mut low_b)?;
        let goal = vec![reach; b.nrhs()];
        let report = sumr(&unitary, pair, &goal, params.stop, &mut low_x, &low_b, monitor)?;
        let back: Vec<Complex64> = blas::complex(&norms);
        blas::axpby(&back, &low_x, &zero, x)?;
        Ok(report)
    }

    fn flexible(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        params: SolverParams,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let sloppy = self.sloppy.clone().map(|s| s as Arc<dyn LinOp>);
        let preconditioner = self.preconditioner.clone();
        let system = System { sloppy, preconditioner, ..System::new(self.op.clone()) };
        let params = SolverParams { kind: SolverKind::Gcr, ..params };
        solvers::solve(&system, &params, x, b, monitor)
    }

    /// A solver with the same settings for another mass; without `preconditioner` it has none.
    fn with_mass(&self, mass: f64, preconditioner: bool) -> Result<Self> {
        Ok(OverlapSolver {
            op: Arc::new(self.op.with_mass(mass)?),
            sloppy: match &self.sloppy {
                Some(s) => Some(Arc::new(s.with_mass(mass)?)),
                None => None,
            },
            preconditioner: self.preconditioner.clone().filter(|_| preconditioner),
            modes: self.modes.clone(),
            params: self.params.clone(),
            by_multigrid: self.by_multigrid,
            last_algorithm: Mutex::new(self.params.algorithm),
        })
    }

    /// Solves D(m_k) x_k = b for several masses. CG does so from one Krylov space on each chirality of b, with low
    /// modes projected out: D^dagger D(m) = (1 - m^2 / (4 rho^2)) (D^dagger D(0) + sigma), sigma = m^2 / (1 - m^2 /
    /// (4 rho^2)). The other algorithms solve for one mass after the other, with the preconditioner of the operator's
    /// mass. Residuals of the report are the largest over the masses of D(m) x = b, recomputed.
    ///
    /// # Errors
    /// Errors of [`OverlapSolver::solve`]; `BadParameter`: no mass, or one out of range.
    pub fn solve_masses(
        &self,
        masses: &[f64],
        xs: &mut [SpinorField],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        self.solve_masses_within(self.params.max_seconds, masses, xs, b, monitor)
    }

    /// Solves like [`OverlapSolver::solve_masses`] in at most `max_seconds` for all masses together. If the time is
    /// over before a mass had its turn, its solution is 0.
    ///
    /// # Errors
    /// Errors of [`OverlapSolver::solve_masses`].
    pub fn solve_masses_within(
        &self,
        max_seconds: f64,
        masses: &[f64],
        xs: &mut [SpinorField],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let limit = Limit::new(max_seconds)?;
        if masses.is_empty() || xs.len() != masses.len() {
            bail!(BadParameter, "masses: {} with {} solutions", masses.len(), xs.len());
        }
        let shape = self.op.shape();
        shape.check(b, "b")?;
        for x in xs.iter_mut() {
            shape.check(x, "x")?;
            b.check_like(x, "solve_masses")?;
        }
        let mut units = InRange::new(xs, b, false)?;
        let mut fields = units.fields();
        let solved = self.masses_in_range(&limit, masses, &mut fields.xs, fields.b, monitor);
        units.end(solved)
    }

    fn masses_in_range(
        &self,
        limit: &Limit,
        masses: &[f64],
        xs: &mut [&mut SpinorField],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let n = b.nrhs();
        let algorithm = self.choose(masses, b)?;
        let solver_of = |&m: &f64| -> Result<Self> {
            let mut solver = self.with_mass(m, true)?;
            solver.params.algorithm = algorithm;
            Ok(solver)
        };
        let solvers: Result<Vec<Self>> = masses.iter().map(solver_of).collect();
        let solvers = solvers?;
        let mut report = SolverReport { converged: true, ..Default::default() };
        let mut worst = vec![0.0f64; n];
        if algorithm == OverlapAlgorithm::ChiralCg {
            self.compile(algorithm, true, b, |like, b| {
                let fields: Result<Vec<SpinorField>> =
                    masses.iter().map(|_| b.like(b.precision())).collect();
                let mut fields = fields?;
                let mut xs: Vec<&mut SpinorField> = fields.iter_mut().collect();
                like.shifted(masses, limit, &mut xs, b, &mut solvers::no_monitor)
            });
            report = self.shifted(masses, limit, xs, b, monitor)?;
        }
        for (solver, x) in solvers.iter().zip(xs) {
            let part = match algorithm {
                OverlapAlgorithm::ChiralCg => {
                    solver.correct(x, b, report.stopped, limit, monitor)?
                }
                _ if report.stopped => {
                    x.clear()?;
                    solver.correct(x, b, true, limit, monitor)?
                }
                _ => solver.solve_within(limit.left(), x, b, monitor)?,
            };
            worst.iter_mut().zip(&part.residual).for_each(|(m, r)| *m = m.max(*r));
            report = report.followed_by(part);
        }
        report.residual = worst;
        report.converged = !report.stopped && report.residual.iter().all(|&r| r <= self.params.tol);
        report.stopped_by = match report.converged {
            true => Some(StoppedBy::Residual),
            false => report.stopped_by,
        };
        report.seconds = limit.seconds();
        Ok(report)
    }

    /// Computes the residual of D x = b and continues the solve if it is above the tolerance.
    fn correct(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        stopped: bool,
        limit: &Limit,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let shape = self.op.shape();
        let (mut r, mut dx) = (shape.field(b.nrhs())?, shape.field(b.nrhs())?);
        self.residual(&mut r, x, b)?;
        let norm: Vec<f64> = blas::norm2(b)?.iter().map(|v| v.sqrt()).collect();
        if !stopped {
            let algorithm = self.params.algorithm;
            return self.advance(algorithm, limit, x, &mut r, &mut dx, b, &norm, monitor);
        }
        let size = blas::norm2(&r)?.into_iter().zip(&norm);
        let residual = size.map(|(r, b)| if *b > 0.0 { r.sqrt() / b } else { 0.0 }).collect();
        Ok(SolverReport { residual, stopped, ..Default::default() })
    }

    /// Solves for all masses with one Krylov space for each chirality, with low modes projected out.
    fn shifted(
        &self,
        masses: &[f64],
        limit: &Limit,
        xs: &mut [&mut SpinorField],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let (shape, n, rho) = (self.op.shape(), b.nrhs(), self.op.rho());
        let massless = self.with_mass(0.0, false)?;
        let (mut remaining, mut half) = (shape.field(n)?, shape.field(n)?);
        blas::copy(&mut remaining, b)?;
        let size = blas::norm2(b)?;
        if let Some(modes) = &self.modes {
            modes.take_out(&mut remaining)?;
        }
        // Residuals are relative to the whole source b.
        let pairs = size.iter().zip(blas::norm2(&remaining)?).filter(|(_, r)| *r > 0.0);
        let share = pairs.map(|(b, r)| b / r).fold(f64::INFINITY, f64::min).max(1.0).sqrt();
        let tol = (0.5 * self.params.tol * share).min(0.5);
        let shift =
            |&m: &f64| Shift { sigma: OverlapSquare::shift_of(rho, m).1, tol, heavy_quark: 0.0 };
        let shifts: Vec<Shift> = masses.iter().map(shift).collect();
        let mut total: Option<SolverReport> = None;
        massless.begin(self.params.tol);
        xs.iter_mut().try_for_each(|x| x.clear())?;
        for chirality in [1, -1] {
            self.op.square(chirality).project(&mut half, &remaining)?;
            // A part of b of this chirality that is smaller than this is only rounding of the modes of the other
            // chirality.
            let least = (0.01 * self.params.tol).powi(2);
            if blas::norm2(&half)?.iter().zip(&size).all(|(h, b)| *h <= least * b) {
                continue;
            }
            let fields: Result<Vec<SpinorField>> = masses.iter().map(|_| shape.field(n)).collect();
            let mut zs = fields?;
            let params = self.solver_params(self.params.tol, self.params.max_iterations, limit);
            let system = massless.squares(chirality);
            let mut inner = massless.relaxed(self.params.tol, monitor);
            let (part, _) =
                multishift(&system, &params, &shifts, true, &mut zs, &half, &mut inner)?;
            for ((x, z), &m) in xs.iter_mut().zip(&zs).zip(masses) {
                let scale = 1.0 / OverlapSquare::shift_of(rho, m).0;
                blas::axpy(&blas::uniform(n, scale), z, x)?;
            }
            let stopped = part.stopped;
            total = Some(match total {
                Some(before) => before.followed_by(part),
                None => part,
            });
            if stopped {
                break;
            }
        }
        for (x, &m) in xs.iter_mut().zip(masses) {
            blas::copy(&mut half, x)?;
            if let Some(modes) = &self.modes {
                modes.low_inverse(m, &mut remaining, b)?;
                blas::axpy(&blas::uniform(n, 1.0), &remaining, &mut half)?;
            }
            self.op.with_mass(m)?.apply_dagger(x, &half)?;
        }
        Ok(total.unwrap_or_else(|| SolverReport { converged: true, ..Default::default() }))
    }
}
