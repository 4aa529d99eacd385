//! Inverses of the overlap operator: CG on one chirality after the other, SUMR, flexible GCR; with low
//! modes of D_N taken out of the start, coarse sign functions while the residual is large, lower precision
//! inside, and several masses at once.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use num_complex::Complex64;

use super::multigrid::Multigrid;
use super::{DiracSolver, Overlap, OverlapSquare, Schur, Sign, Solution, SolveParams};
use crate::bail;
use crate::error::Result;
use crate::fields::{basis, blas, Precision, Recon, SpinorField};
use crate::linop::{LinOp, Shape, Uses};
use crate::operators::{chiral_sum, one_and_gamma5};
use crate::solvers::{
    self, eigen, multishift, sumr, EigenParams, Filter, Monitor, Progress, Shift, SolverKind,
    SolverParams, SolverReport, System,
};

/// The algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverlapAlgorithm {
    /// x = D^dagger (D^dagger D)^-1 b by CG, on either chirality that b has.
    ChiralCg,
    /// Shifted unitary minimal residual.
    Sumr,
    /// Flexible GCR, which takes a preconditioner.
    Gcr,
}

/// An approximate inverse for GCR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OverlapPreconditioner {
    None,
    /// The inverse of the Wilson operator of this mass to a low accuracy (Brannick et al., arXiv
    /// 1410.7170), by BiCGStab or, see [`OverlapSolver::with_multigrid`], by GCR with multigrid: the mass
    /// must be above the critical one.
    Wilson {
        mass: f64,
        tol: f64,
        max_iterations: usize,
    },
}

/// What a solve is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlapSolveParams {
    pub algorithm: OverlapAlgorithm,
    /// Largest |b - D x| / |b|, not below what the sign function's delta allows.
    pub tol: f64,
    pub max_iterations: usize,
    /// Precision and link storage of the iteration; None: those of the operator.
    pub sloppy: Option<(Precision, Recon)>,
    /// Coarser sign functions while the residual is large.
    pub relax: bool,
    /// GCR: directions kept.
    pub nkrylov: usize,
    pub preconditioner: OverlapPreconditioner,
}

impl Default for OverlapSolveParams {
    fn default() -> Self {
        OverlapSolveParams {
            algorithm: OverlapAlgorithm::ChiralCg,
            tol: 1e-7,
            max_iterations: 2000,
            sloppy: None,
            relax: true,
            nkrylov: 20,
            preconditioner: OverlapPreconditioner::None,
        }
    }
}

/// Low modes of D^dagger D on both chiralities, of the massless operator.
pub struct OverlapModes {
    /// Of chirality 1, then -1.
    vectors: [SpinorField; 2],
    values: [Vec<f64>; 2],
    residuals: [Vec<f64>; 2],
    zeros: [usize; 2],
    rho: f64,
}

/// Numbers that belong to low modes, of chirality 1, then -1: with the vectors, all that
/// [`OverlapModes::restore`] needs.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlapModesRecord {
    pub values: [Vec<f64>; 2],
    pub residuals: [Vec<f64>; 2],
    pub zeros: [usize; 2],
    /// 1 + s.
    pub rho: f64,
}

/// A mode is a zero mode if its eigenvalue is within this many times the error that the sign function
/// and the eigensolver allow.
const ZERO: f64 = 10.0;
/// Share of the tolerance that an application may be wrong by when the residual is one.
const SHARE: f64 = 0.1;
/// Solves in a row that bring the residual of the equation itself to the tolerance.
const EXTENSIONS: usize = 6;

impl OverlapModes {
    /// `count` modes of either chirality to a residual of `tol` times 4 rho^2.
    ///
    /// # Errors
    /// As of [`eigen`]; `KernelSpectrum`: they do not converge.
    pub fn find(op: &Overlap, count: usize, tol: f64, monitor: &mut Monitor) -> Result<Self> {
        let massless = op.with_mass(0.0)?;
        let (rho, delta) = (op.rho(), op.sign().error_bound());
        // An application is many hops: a large Krylov space takes fewer of them than polynomials.
        let room = 4 * count + 40;
        let params = EigenParams { count, tol, room, filter: Filter::Plain, ..Default::default() };
        let mut find = |chirality| -> Result<_> {
            let (v, report) = eigen(&massless.square(chirality), None, &params, None, monitor)?;
            if !report.converged && !report.stopped {
                bail!(
                    KernelSpectrum,
                    "{count} low modes of the overlap operator did not converge in {} restarts: allow \
                     a larger tolerance or ask for fewer",
                    report.restarts
                );
            }
            Ok((v, report))
        };
        let (upper, lower) = (find(1)?, find(-1)?);
        let zeros = [&upper.1, &lower.1].map(|r| {
            let error = |b: &f64| 2.0 * rho * rho * delta + b;
            r.values.iter().zip(&r.bounds).filter(|(v, b)| v.abs() <= ZERO * error(b)).count()
        });
        Ok(OverlapModes {
            vectors: [upper.0, lower.0],
            values: [upper.1.values, lower.1.values],
            residuals: [upper.1.residuals, lower.1.residuals],
            zeros,
            rho,
        })
    }

    /// What belongs to the vectors, to be kept with them.
    pub fn record(&self) -> OverlapModesRecord {
        OverlapModesRecord {
            values: self.values.clone(),
            residuals: self.residuals.clone(),
            zeros: self.zeros,
            rho: self.rho,
        }
    }

    /// Modes that were found before, of the operator's precision or another; residuals are those with
    /// this operator.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice, number of vectors or rho, or modes of another operator: their
    /// residuals with this one are larger than the record, the sign function's error and the vectors'
    /// precision allow.
    pub fn restore(
        op: &Overlap,
        vectors: [&SpinorField; 2],
        record: &OverlapModesRecord,
    ) -> Result<Self> {
        let (massless, shape, rho) = (op.with_mass(0.0)?, op.shape(), op.rho());
        let most = 4.0 * rho * rho;
        if record.rho != rho {
            bail!(FieldMismatch, "modes: expected those of 1 + s = {rho}, found {}", record.rho);
        }
        let mut own = vec![];
        let mut residuals: [Vec<f64>; 2] = Default::default();
        for (side, (v, chirality)) in vectors.iter().zip([1, -1]).enumerate() {
            let (values, before) = (&record.values[side], &record.residuals[side]);
            let n = v.nrhs();
            let fits = [values.len(), before.len()] == [n; 2] && record.zeros[side] <= n;
            if v.geometry() != &shape.geometry || v.device() != &shape.device || !fits {
                bail!(
                    FieldMismatch,
                    "modes of chirality {chirality}: {n} vectors with {} values, or another lattice",
                    values.len()
                );
            }
            let (mut x, mut r) = (shape.field(n)?, shape.field(n)?);
            blas::copy(&mut x, v)?;
            massless.square(chirality).apply(&mut r, &x)?;
            let minus: Vec<f64> = values.iter().map(|l| -l).collect();
            let r2 = blas::axpy_norm(&blas::complex(&minus), &x, &mut r)?;
            residuals[side] = r2.iter().map(|r| r.sqrt()).collect();
            let norms = blas::norm2(&x)?;
            let epsilon = v.precision().min(shape.precision).epsilon();
            let error = op.sign().error_bound() + 100.0 * epsilon;
            for k in 0..n {
                let allowed = 10.0 * before[k] + most * error;
                let unit = (norms[k] - 1.0).abs() <= 1e3 * epsilon;
                if !(unit && residuals[side][k] <= allowed) {
                    bail!(
                        FieldMismatch,
                        "modes of chirality {chirality}: with this operator mode {k} has the residual \
                         {:.2e}, when it was found {:.2e}: it belongs to another one",
                        residuals[side][k],
                        before[k]
                    );
                }
            }
            own.push(x);
        }
        let (Some(lower), Some(upper)) = (own.pop(), own.pop()) else {
            bail!(Internal, "modes of two chiralities");
        };
        Ok(OverlapModes {
            vectors: [upper, lower],
            values: record.values.clone(),
            residuals,
            zeros: record.zeros,
            rho,
        })
    }

    /// Are there `count` modes of either chirality to residuals of `tol` times 4 rho^2?
    pub fn hold(&self, count: usize, tol: f64) -> bool {
        let most = 4.0 * self.rho * self.rho * tol;
        let good = |r: &Vec<f64>| r.len() >= count && r[..count].iter().all(|r| *r <= most);
        self.residuals.iter().all(good)
    }

    /// Eigenvalues |lambda|^2 of D^dagger D on chirality 1 and -1, ascending.
    pub fn values(&self) -> &[Vec<f64>; 2] {
        &self.values
    }
    pub fn residuals(&self) -> &[Vec<f64>; 2] {
        &self.residuals
    }
    pub fn vectors(&self) -> &[SpinorField; 2] {
        &self.vectors
    }
    /// Zero modes of chirality 1 and -1 among them.
    pub fn zeros(&self) -> [usize; 2] {
        self.zeros
    }
    /// n_- - n_+: with gamma5 = gamma_x gamma_y gamma_z gamma_t the topological charge of a smooth field
    /// as the gauge observables count it.
    pub fn index(&self) -> i64 {
        self.zeros[1] as i64 - self.zeros[0] as i64
    }

    /// out = sum_k v_k <v_k, b> / (eigenvalue of D^dagger D of this mass).
    fn low_inverse(&self, mass: f64, out: &mut SpinorField, b: &SpinorField) -> Result<()> {
        let n = b.nrhs();
        let (scale, shift) = OverlapSquare::shift_of(self.rho, mass);
        out.clear()?;
        for (v, values) in self.vectors.iter().zip(&self.values) {
            let k = v.nrhs();
            let mut c = basis::dots(v, 0..k, b, 0..n)?;
            for (row, value) in c.chunks_mut(n).zip(values) {
                let inverse = 1.0 / (scale * (value.max(0.0) + shift));
                row.iter_mut().for_each(|z| *z *= if inverse.is_finite() { inverse } else { 0.0 });
            }
            basis::combine(v, 0..k, &c, 1.0, out, 0..n)?;
        }
        Ok(())
    }
}

/// gamma5 sign(Q).
struct Unitary(Arc<Sign>);

impl LinOp for Unitary {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.0.apply(out, inp)?;
        chiral_sum(out, Some(one_and_gamma5(0.0, 1.0)), &[])
    }
    fn flops(&self) -> f64 {
        self.0.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.0.bytes(nrhs)
    }
    fn memory(&self, nrhs: usize, uses: Uses) -> u64 {
        self.0.memory(nrhs, uses)
    }
}

/// D_W^-1 to a low accuracy, perhaps of vectors in another precision.
struct WilsonInverse {
    solver: DiracSolver,
    shape: Shape,
}

impl LinOp for WilsonInverse {
    fn shape(&self) -> Shape {
        self.shape.clone()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let own = self.solver.op().gauge().precision();
        if own == inp.precision() {
            self.solver.solve(out, inp, &mut solvers::unwatched)?;
            return Ok(());
        }
        let (mut x, mut b) = (inp.like(own)?, inp.like(own)?);
        blas::copy(&mut b, inp)?;
        self.solver.solve(&mut x, &b, &mut solvers::unwatched)?;
        blas::copy(out, &x)
    }
    fn flops(&self) -> f64 {
        0.0
    }
    fn bytes(&self, _: usize) -> f64 {
        0.0
    }
    fn memory(&self, nrhs: usize, _: Uses) -> u64 {
        let own = self.solver.op().gauge().precision();
        let converted = Shape { precision: own, ..self.shape.clone() };
        let vectors = if own == self.shape.precision { 0 } else { 2 * converted.bytes(nrhs) };
        self.solver.memory(nrhs) + vectors
    }
}

/// An overlap operator prepared for solves.
pub struct OverlapSolver {
    op: Arc<Overlap>,
    sloppy: Option<Arc<Overlap>>,
    preconditioner: Option<Arc<dyn LinOp>>,
    modes: Option<Arc<OverlapModes>>,
    params: OverlapSolveParams,
}

impl OverlapSolver {
    /// `modes`, of the same operator, are taken out of the start of every solve.
    ///
    /// # Errors
    /// `BadParameter`; `Unsupported`: a preconditioner without GCR; `OutOfMemory`.
    pub fn new(
        op: Arc<Overlap>,
        modes: Option<Arc<OverlapModes>>,
        params: OverlapSolveParams,
    ) -> Result<Self> {
        if !(params.tol > 0.0 && params.tol < 1.0) {
            bail!(BadParameter, "tol: expected a number between 0 and 1, found {}", params.tol);
        }
        if params.nkrylov == 0 {
            bail!(BadParameter, "nkrylov is 0: GCR keeps at least one direction");
        }
        let reach = op.error_bound();
        if params.tol < 0.1 * reach {
            bail!(
                BadParameter,
                "tol: {:.1e} is far below the error {reach:.1e} of the operator: make it with a smaller \
                 delta",
                params.tol
            );
        }
        if let Some(modes) = &modes {
            if modes.rho != op.rho() || modes.vectors[0].precision() != op.shape().precision {
                bail!(FieldMismatch, "modes: expected those of an operator like this one");
            }
        }
        let links = op.sign().kernel().op().gauge().clone();
        let own = (links.precision(), links.recon());
        let inner = params.sloppy.unwrap_or(own);
        if inner.0 > own.0 {
            bail!(BadParameter, "sloppy {:?} is finer than the operator's {:?}", inner.0, own.0);
        }
        let sloppy = match inner != own || params.relax {
            true => Some(Arc::new(op.to(inner.0, inner.1)?)),
            false => None,
        };
        let wilson = params.preconditioner != OverlapPreconditioner::None;
        if wilson && params.algorithm != OverlapAlgorithm::Gcr {
            bail!(Unsupported, "{:?} takes no preconditioner, GCR does", params.algorithm);
        }
        let mut solver = OverlapSolver { op, sloppy, preconditioner: None, modes, params };
        solver.preconditioner = solver.wilson_inverse(None)?;
        Ok(solver)
    }

    /// Solves with the preconditioner's Wilson operator by GCR with this multigrid, which was set up for
    /// [`Overlap::wilson`] of about the preconditioner's mass; solvers may share it.
    ///
    /// # Errors
    /// `Unsupported`: there is no Wilson preconditioner; `FieldMismatch`: another lattice or device.
    pub fn with_multigrid(mut self, multigrid: Arc<Multigrid>) -> Result<Self> {
        if self.params.preconditioner == OverlapPreconditioner::None {
            bail!(Unsupported, "multigrid belongs to the Wilson preconditioner, there is none");
        }
        self.preconditioner = self.wilson_inverse(Some(multigrid))?;
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
        // The solver runs in floating storage; its vectors are converted.
        let precision = kernel.gauge().precision().max(Precision::F32);
        let wilson = Arc::new(self.op.wilson(mass)?.to(precision, kernel.gauge().recon())?);
        let kind = match multigrid {
            Some(_) => SolverKind::Gcr,
            None => SolverKind::BiCgStab,
        };
        let solver = SolverParams { kind, tol, max_iterations, ..Default::default() };
        let params = SolveParams {
            solver,
            solution: Solution::Mat,
            even_odd: Some(Schur { parity: 0, symmetric: true }),
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

    /// Sets the accuracy of the inner sign function by the residual.
    fn relaxed<'a, 'm>(
        &'a self,
        goal: f64,
        monitor: &'a mut Monitor<'m>,
    ) -> impl FnMut(&Progress) -> ControlFlow<()> + use<'a, 'm> {
        move |p: &Progress| {
            if let Some(sloppy) = self.sloppy.as_ref().filter(|_| self.params.relax) {
                let residual = p.residual.iter().fold(0.0f64, |m, &r| m.max(r));
                let finest = sloppy.sign().delta();
                sloppy.sign().set_accuracy((SHARE * goal / residual).clamp(finest, 1e-2));
            }
            monitor(p)
        }
    }

    fn begin(&self, goal: f64) {
        if let Some(sloppy) = self.sloppy.as_ref().filter(|_| self.params.relax) {
            let finest = sloppy.sign().delta();
            sloppy.sign().set_accuracy((SHARE * goal).clamp(finest, 1e-2));
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
        let start = Instant::now();
        let shape = self.op.shape();
        shape.check(x, "x")?;
        shape.check(b, "b")?;
        b.check_like(x, "solve")?;
        let n = b.nrhs();
        let norm: Vec<f64> = blas::norm2(b)?.iter().map(|v| v.sqrt()).collect();
        if let Some(i) = norm.iter().position(|v| !v.is_finite()) {
            bail!(NotFinite, "b: right-hand side {i} holds NaN or infinity");
        }
        x.clear()?;
        let (mut r, mut dx) = (shape.field(n)?, shape.field(n)?);
        blas::copy(&mut r, b)?;
        if let Some(modes) = &self.modes {
            let mut low = shape.field(n)?;
            modes.low_inverse(self.op.mass(), &mut low, b)?;
            self.op.apply_dagger(x, &low)?;
            self.residual(&mut r, x, b)?;
        }
        let mut total: Option<SolverReport> = None;
        for _ in 0..EXTENSIONS {
            let left = total.as_ref().map_or(0, |t: &SolverReport| t.iterations);
            let left = self.params.max_iterations.saturating_sub(left);
            let size: Vec<f64> = blas::norm2(&r)?.iter().map(|v| v.sqrt()).collect();
            let relative = |i: usize| if norm[i] > 0.0 { size[i] / norm[i] } else { 0.0 };
            let residual: Vec<f64> = (0..n).map(relative).collect();
            let converged = residual.iter().all(|&v| v <= self.params.tol);
            let stopped = total.as_ref().is_some_and(|t| t.stopped);
            let stuck = match &total {
                // A whole solve that did not halve the residual will not the next time.
                Some(t) => {
                    let most = |v: &[f64]| v.iter().fold(0.0f64, |m, &x| m.max(x));
                    most(&residual) > 0.5 * most(&t.residual) && t.iterations > 0
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
            // What is left of the tolerance for this residual.
            let worst = report.residual.iter().fold(0.0f64, |m, &v| m.max(v));
            let goal = (0.5 * self.params.tol / worst).min(0.5);
            let mut inner = self.relaxed(goal, monitor);
            self.begin(goal);
            let part = match self.params.algorithm {
                OverlapAlgorithm::ChiralCg => self.chiral(&mut dx, &r, goal, left, &mut inner)?,
                OverlapAlgorithm::Sumr => self.unitary(&mut dx, &r, goal, left, &mut inner)?,
                OverlapAlgorithm::Gcr => self.flexible(&mut dx, &r, goal, left, &mut inner)?,
            };
            blas::axpy(&blas::uniform(n, 1.0), &dx, x)?;
            let residual = report.residual.clone();
            *report = std::mem::take(report).followed_by(part);
            report.residual = residual;
            self.residual(&mut r, x, b)?;
        }
        let mut report = total.unwrap_or_default();
        report.standstill =
            !report.converged && !report.stopped && report.iterations < self.params.max_iterations;
        report.residual_hq = blas::heavy_quark_residual(x, &r)?;
        report.seconds = start.elapsed().as_secs_f64();
        Ok(report)
    }

    /// r = b - D x.
    fn residual(&self, r: &mut SpinorField, x: &SpinorField, b: &SpinorField) -> Result<()> {
        self.op.apply(r, x)?;
        let n = b.nrhs();
        blas::axpby(&blas::uniform(n, 1.0), b, &blas::uniform(n, -1.0), r)
    }

    fn solver_params(&self, kind: SolverKind, tol: f64, left: usize) -> SolverParams {
        SolverParams {
            kind,
            tol,
            max_iterations: left,
            nkrylov: self.params.nkrylov,
            ..Default::default()
        }
    }

    /// D^dagger D of the precise operator and the inner one.
    fn squares(&self, chirality: i32) -> System {
        let sloppy = self.sloppy.as_ref().map(|s| Arc::new(s.square(chirality)) as Arc<dyn LinOp>);
        System { sloppy, ..System::new(Arc::new(self.op.square(chirality))) }
    }

    fn chiral(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        tol: f64,
        left: usize,
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
            let params = self.solver_params(SolverKind::Cg, 0.7 * tol, left);
            let part = solvers::solve(&system, &params, &mut z, &half, monitor)?;
            blas::axpy(&blas::uniform(n, 1.0), &z, &mut sum)?;
            total = Some(match total {
                Some(before) => before.followed_by(part),
                None => part,
            });
        }
        self.op.apply_dagger(x, &sum)?;
        Ok(total.unwrap_or_else(|| SolverReport { converged: true, ..Default::default() }))
    }

    fn unitary(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        tol: f64,
        left: usize,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let op = self.sloppy.as_ref().unwrap_or(&self.op);
        let (rho, mass) = (op.rho(), op.mass());
        let pair = [rho + 0.5 * mass, rho - 0.5 * mass];
        let norms: Vec<f64> = blas::norm2(b)?.iter().map(|v| v.sqrt()).collect();
        // No deeper than the inner precision goes.
        let reach = tol.max(10.0 * op.shape().precision.epsilon()).max(2.0 * op.sign().delta());
        let unitary = Unitary(op.sign().clone());
        let shape = unitary.shape();
        let (mut low_b, mut low_x) = (shape.field(b.nrhs())?, shape.field(b.nrhs())?);
        let inverse: Vec<f64> =
            norms.iter().map(|v| if *v > 0.0 { 1.0 / v } else { 0.0 }).collect();
        let zero = blas::uniform(b.nrhs(), 0.0);
        blas::axpby(&blas::complex(&inverse), b, &zero, &mut low_b)?;
        let goal = vec![reach; b.nrhs()];
        let report = sumr(&unitary, pair, &goal, left, &mut low_x, &low_b, monitor)?;
        let back: Vec<Complex64> = blas::complex(&norms);
        blas::axpby(&back, &low_x, &zero, x)?;
        Ok(report)
    }

    fn flexible(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        tol: f64,
        left: usize,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let sloppy = self.sloppy.clone().map(|s| s as Arc<dyn LinOp>);
        let preconditioner = self.preconditioner.clone();
        let system = System { sloppy, preconditioner, ..System::new(self.op.clone()) };
        let params = self.solver_params(SolverKind::Gcr, tol, left);
        solvers::solve(&system, &params, x, b, monitor)
    }

    /// Solves D(m_k) x_k = b for several masses from one Krylov space on either chirality that b has:
    /// D^dagger D(m) = (1 - m^2 / (4 rho^2)) (D^dagger D(0) + sigma), sigma = m^2 / (1 - m^2 / (4 rho^2)).
    /// The residuals of the report are the largest over the masses of D(m) x = b, recomputed.
    ///
    /// # Errors
    /// As of [`OverlapSolver::solve`]; `BadParameter`: no mass, or one out of range.
    pub fn solve_masses(
        &self,
        masses: &[f64],
        xs: &mut [SpinorField],
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let start = Instant::now();
        if masses.is_empty() || xs.len() != masses.len() {
            bail!(BadParameter, "masses: {} with {} solutions", masses.len(), xs.len());
        }
        let ops: Result<Vec<Overlap>> = masses.iter().map(|&m| self.op.with_mass(m)).collect();
        let ops = ops?;
        let (shape, n, rho) = (self.op.shape(), b.nrhs(), self.op.rho());
        shape.check(b, "b")?;
        for x in xs.iter_mut() {
            shape.check(x, "x")?;
            b.check_like(x, "solve_masses")?;
            x.clear()?;
        }
        let massless = OverlapSolver {
            op: Arc::new(self.op.with_mass(0.0)?),
            sloppy: match &self.sloppy {
                Some(s) => Some(Arc::new(s.with_mass(0.0)?)),
                None => None,
            },
            preconditioner: None,
            modes: None,
            params: self.params.clone(),
        };
        let shifts: Vec<Shift> = masses
            .iter()
            .map(|&m| Shift {
                sigma: OverlapSquare::shift_of(rho, m).1,
                tol: 0.5 * self.params.tol,
            })
            .collect();
        let mut total: Option<SolverReport> = None;
        let mut half = shape.field(n)?;
        massless.begin(self.params.tol);
        for chirality in [1, -1] {
            self.op.square(chirality).project(&mut half, b)?;
            if blas::norm2(&half)?.iter().all(|&v| v == 0.0) {
                continue;
            }
            let fields: Result<Vec<SpinorField>> = masses.iter().map(|_| shape.field(n)).collect();
            let mut zs = fields?;
            let params =
                self.solver_params(SolverKind::Cg, self.params.tol, self.params.max_iterations);
            let system = massless.squares(chirality);
            let mut inner = massless.relaxed(self.params.tol, monitor);
            let (part, _) =
                multishift(&system, &params, &shifts, true, &mut zs, &half, &mut inner)?;
            for ((x, z), &m) in xs.iter_mut().zip(&zs).zip(masses) {
                let scale = 1.0 / OverlapSquare::shift_of(rho, m).0;
                blas::axpy(&blas::uniform(n, scale), z, x)?;
            }
            total = Some(match total {
                Some(before) => before.followed_by(part),
                None => part,
            });
        }
        let mut report =
            total.unwrap_or_else(|| SolverReport { converged: true, ..Default::default() });
        let norm2 = blas::norm2(b)?;
        report.residual = vec![0.0; n];
        for (x, op) in xs.iter_mut().zip(&ops) {
            blas::copy(&mut half, x)?;
            op.apply_dagger(x, &half)?;
            op.apply(&mut half, x)?;
            blas::axpby(&blas::uniform(n, 1.0), b, &blas::uniform(n, -1.0), &mut half)?;
            for ((r, m), b2) in blas::norm2(&half)?.iter().zip(&mut report.residual).zip(&norm2) {
                *m = m.max(if *b2 > 0.0 { (r / b2).sqrt() } else { 0.0 });
            }
        }
        report.converged = report.residual.iter().all(|&r| r <= self.params.tol);
        report.seconds = start.elapsed().as_secs_f64();
        Ok(report)
    }
}
