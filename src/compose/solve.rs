//! Solves with the Wilson-type operators as users ask for them: which equation, even-odd or on the
//! full lattice, in which precisions, in which normalisation.

use std::sync::Arc;
use std::time::Instant;

use super::multigrid::Multigrid;
use super::EvenOdd;
use crate::backend::Device;
use crate::bail;
use crate::error::{Error, Result};
use crate::fields::{blas, CloverField, GaugeField, Precision, Recon, SpinorField, Subset};
use crate::linop::{Adjoint, LinOp, Normal, Shape};
use crate::operators::Wilson;
use crate::solvers::{
    self, MinimalResidual, Monitor, Preconditioner, SolverKind, SolverParams, SolverReport, System,
};

/// The equation; M is the full operator, P the even-odd preconditioned one on its parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Solution {
    /// M x = b
    Mat,
    /// M^dagger x = b
    MatDag,
    /// M^dagger M x = b
    MatDagMat,
    /// P x = b
    MatPc,
    /// P^dagger x = b
    MatPcDag,
    /// P^dagger P x = b
    MatPcDagMatPc,
}

impl Solution {
    const NAMES: [(&'static str, Solution); 6] = [
        ("mat", Solution::Mat),
        ("matdag", Solution::MatDag),
        ("matdag_mat", Solution::MatDagMat),
        ("matpc", Solution::MatPc),
        ("matpcdag", Solution::MatPcDag),
        ("matpcdag_matpc", Solution::MatPcDagMatPc),
    ];
    pub fn preconditioned(self) -> bool {
        matches!(self, Solution::MatPc | Solution::MatPcDag | Solution::MatPcDagMatPc)
    }
}

impl std::str::FromStr for Solution {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        match Self::NAMES.iter().find(|(n, _)| *n == name) {
            Some((_, solution)) => Ok(*solution),
            None => bail!(
                InvalidArgument,
                "solution: expected one of {}, found {name}",
                Self::NAMES.map(|(n, _)| n).join(", ")
            ),
        }
    }
}

/// What the Krylov space is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Equations {
    /// M itself. Plain CG then needs M^dagger M on the left; CGNE and CGNR bring their own
    /// normal equations.
    Direct,
    /// M^dagger M x = M^dagger b
    NormalResidual,
    /// M M^dagger y = b, x = M^dagger y
    NormalError,
}

/// Which Schur complement: the parity that is solved on, symmetric or asymmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schur {
    pub parity: usize,
    pub symmetric: bool,
}

/// Kappa: M = 1 - kappa H. Mass: D = M / (2 kappa). The symmetric P is the same in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Normalisation {
    Kappa,
    Mass,
}

/// What a solve with a Dirac operator is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveParams {
    pub solver: SolverParams,
    pub solution: Solution,
    pub equations: Equations,
    /// None: on the full lattice.
    pub even_odd: Option<Schur>,
    /// Precision and link storage of the iteration; None: those of the operator.
    pub sloppy: Option<(Precision, Recon)>,
    /// GCR: steps of MR inside every iteration; 0: none.
    pub precondition_steps: usize,
    pub normalisation: Normalisation,
}

impl Default for SolveParams {
    fn default() -> Self {
        SolveParams {
            solver: SolverParams::default(),
            solution: Solution::Mat,
            equations: Equations::Direct,
            even_odd: Some(Schur { parity: 0, symmetric: true }),
            sloppy: None,
            precondition_steps: 0,
            normalisation: Normalisation::Kappa,
        }
    }
}

/// What a solve with a Dirac operator did.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveReport {
    /// Residuals are those of the equation asked for, on all its sites, recomputed from x in the
    /// precision of the operator with sums in double.
    pub solver: SolverReport,
    /// Most bytes that fields of this process held on the device during the solve.
    pub memory_peak: u64,
}

/// A Dirac operator prepared for solves.
pub struct DiracSolver {
    op: Arc<Wilson>,
    sloppy: Option<Arc<Wilson>>,
    params: SolveParams,
    multigrid: Option<Arc<Multigrid>>,
}

/// Times that a preconditioned solve is taken further when the full residual lags behind.
const EXTENSIONS: usize = 3;

impl DiracSolver {
    /// Builds the sloppy operator where one is asked for.
    ///
    /// # Errors
    /// `BadParameter`, `Unsupported`: parameters out of range or not combined; `OutOfMemory`: the
    /// sloppy operator will not fit; nothing is allocated then.
    pub fn new(op: Arc<Wilson>, params: SolveParams) -> Result<Self> {
        params.solver.check()?;
        if params.solution.preconditioned() && params.even_odd.is_none() {
            bail!(BadParameter, "{:?} needs even_odd: it names that operator", params.solution);
        }
        if params.even_odd.is_some_and(|s| s.parity > 1) {
            bail!(BadParameter, "even_odd: parity is 0 or 1");
        }
        let (kind, equations) = (params.solver.kind, params.equations);
        let hermitian = matches!(params.solution, Solution::MatDagMat | Solution::MatPcDagMatPc);
        if kind == SolverKind::Cg && equations == Equations::Direct && !hermitian {
            bail!(
                Unsupported,
                "cg cannot solve {:?} directly: ask for one of the normal equations",
                params.solution
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
                "equations: {} has normal equations of its own, expected Direct or these, found \
                 {equations:?}",
                kind.name()
            );
        }
        if kind == SolverKind::MultiShift {
            bail!(Unsupported, "multishift has its own call");
        }
        if params.precondition_steps > 0 && kind != SolverKind::Gcr {
            bail!(Unsupported, "{} takes no preconditioner, gcr does", kind.name());
        }
        let own = (op.gauge().precision(), op.gauge().recon());
        let sloppy = match params.sloppy {
            Some(other) if other != own => {
                if other.0 > own.0 {
                    bail!(
                        BadParameter,
                        "sloppy {:?} is finer than the operator's {:?}",
                        other,
                        own
                    );
                }
                op.shape().device.require(operator_bytes(&op, other), "the sloppy operator")?;
                Some(Arc::new(op.to(other.0, other.1)?))
            }
            _ => None,
        };
        Ok(DiracSolver { op, sloppy, params, multigrid: None })
    }

    /// Preconditions every iteration with multigrid, of which solvers may share one.
    ///
    /// # Errors
    /// `Unsupported`: not GCR on the even system, symmetric, directly; `FieldMismatch`: set up for another
    /// lattice or device.
    pub fn with_multigrid(mut self, multigrid: Option<Arc<Multigrid>>) -> Result<Self> {
        if let Some(multigrid) = &multigrid {
            multigrid.check(&self.op)?;
            let p = &self.params;
            let fits = p.solver.kind == SolverKind::Gcr
                && p.equations == Equations::Direct
                && p.even_odd == Some(Schur { parity: 0, symmetric: true })
                && p.precondition_steps == 0;
            if !fits {
                bail!(
                    Unsupported,
                    "multigrid preconditions gcr on the symmetric even system directly, without steps of \
                     another preconditioner: found {} on {:?} of {:?} with {} steps",
                    p.solver.kind.name(),
                    p.even_odd,
                    p.equations,
                    p.precondition_steps
                );
            }
        }
        self.multigrid = multigrid;
        Ok(self)
    }

    pub fn op(&self) -> &Arc<Wilson> {
        &self.op
    }
    pub fn params(&self) -> &SolveParams {
        &self.params
    }

    /// Sites of x and b.
    pub fn subset(&self) -> Subset {
        match self.params.even_odd {
            Some(s) if self.params.solution.preconditioned() => Subset::of_parity(s.parity),
            _ => Subset::Full,
        }
    }

    /// Device memory that `solve` allocates for `nrhs` right-hand sides, besides x and b.
    pub fn memory(&self, nrhs: usize) -> u64 {
        let subset = match self.params.even_odd {
            Some(s) => Subset::of_parity(s.parity),
            None => Subset::Full,
        };
        let bytes = |precision, subset| {
            SpinorField::bytes(self.op.gauge().geometry(), precision, subset, nrhs) as u64
        };
        let precise = self.op.gauge().precision();
        let sloppy = self.sloppy.as_ref().map(|s| s.gauge().precision());
        let solution = self.params.solution;
        let (mut high, mut low) = solvers::temporaries(&self.params.solver, sloppy.is_some());
        let cg =
            matches!(self.params.solver.kind, SolverKind::Cg | SolverKind::Cgne | SolverKind::Cgnr);
        let normal = if cg {
            solution == Solution::MatPcDagMatPc
                || (solution == Solution::MatDagMat && self.params.even_odd.is_none())
        } else {
            self.params.equations != Equations::Direct
        };
        let forward = matches!(solution, Solution::Mat | Solution::MatPc);
        let full = self.params.even_odd.is_some() && !solution.preconditioned();
        // Temporaries inside the operators: of EvenOdd, one of the other parity, and where it is
        // symmetric one of its own parity for P^dagger and for sources; of Normal, one.
        let inside = |own_parity: bool| {
            normal as usize
                + match self.params.even_odd {
                    Some(s) => 1 + (s.symmetric && own_parity) as usize,
                    None => 0,
                }
        };
        let iterated = inside(cg || normal || !forward);
        if sloppy.is_some() {
            high += inside(full || normal || !forward);
            low += iterated;
        } else {
            high += iterated.max(inside(full));
        }
        // The right-hand side of the normal equations.
        high += (!cg && normal) as usize;
        if self.params.precondition_steps > 0 {
            low += 2;
        }
        // The two fields of the preconditioned system.
        high += 2 * full as usize;
        let mut sum = high as u64 * bytes(precise, subset)
            + low as u64 * bytes(sloppy.unwrap_or(precise), subset);
        if self.two_steps() {
            sum += bytes(precise, self.subset());
        }
        let geometry = self.op.gauge().geometry();
        let mut precisions = vec![precise];
        precisions.extend(sloppy.filter(|p| *p != precise));
        sum + precisions
            .iter()
            .map(|p| geometry.new_halo_bytes(self.op.gauge().device(), *p, nrhs))
            .sum::<u64>()
    }

    /// M^dagger M by one solve after the other.
    fn two_steps(&self) -> bool {
        let cg =
            matches!(self.params.solver.kind, SolverKind::Cg | SolverKind::Cgne | SolverKind::Cgnr);
        match self.params.solution {
            Solution::MatDagMat => self.params.even_odd.is_some() || !cg,
            Solution::MatPcDagMatPc => !cg,
            _ => false,
        }
    }

    /// Solves the equation; x and b hold `subset()` in the precision of the operator.
    ///
    /// # Errors
    /// As of [`solvers::solve`]; `OutOfMemory`: the vectors will not fit, nothing is allocated.
    pub fn solve(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        let start = Instant::now();
        let shape = self.op.subset_shape(self.subset());
        for (field, name) in [(&*x, "x"), (b, "b")] {
            check(&shape, field, name)?;
        }
        b.check_like(x, "solve")?;
        let device: &Device = &shape.device;
        device.require(self.memory(b.nrhs()), "this solve")?;
        device.reset_peak();
        // Everything below is in kappa normalisation.
        let rescale = self.rescale();
        if self.params.solver.initial_guess && rescale != 1.0 {
            scale(x, 1.0 / rescale, b)?;
        }
        let mut solver = self.solve_kappa(x, b, monitor)?;
        if rescale != 1.0 {
            scale(x, rescale, b)?;
        }
        device.synchronize()?;
        solver.seconds = start.elapsed().as_secs_f64();
        Ok(SolveReport { solver, memory_peak: device.used().1 })
    }

    /// x in the normalisation asked for = this times x in kappa normalisation.
    pub(super) fn rescale(&self) -> f64 {
        let symmetric = self.params.even_odd.is_some_and(|s| s.symmetric);
        let c = match self.params.normalisation {
            Normalisation::Kappa => 1.0,
            Normalisation::Mass => 2.0 * self.op.kappa(),
        };
        match self.params.solution {
            Solution::Mat | Solution::MatDag => c,
            Solution::MatDagMat => c * c,
            _ if symmetric => 1.0,
            Solution::MatPc | Solution::MatPcDag => c,
            Solution::MatPcDagMatPc => c * c,
        }
    }

    fn solve_kappa(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let params = &self.params.solver;
        let preconditioned = self.params.solution.preconditioned();
        if self.two_steps() {
            let attempt = |x: &mut SpinorField, params: &SolverParams, monitor: &mut Monitor| {
                let mut y = x.like(x.precision())?;
                if params.initial_guess {
                    self.operate(&mut y, x, false)?;
                }
                let first = self.solve_one(true, &mut y, b, params, monitor)?;
                Ok(first.followed_by(self.solve_one(false, x, &y, params, monitor)?))
            };
            let image = |out: &mut SpinorField, x: &SpinorField| {
                let mut y = x.like(x.precision())?;
                self.operate(&mut y, x, false)?;
                self.operate(out, &y, true)
            };
            return to_tolerance(params, x, b, monitor, attempt, image);
        }
        match self.params.solution {
            Solution::Mat | Solution::MatPc => self.solve_one(false, x, b, params, monitor),
            Solution::MatDag | Solution::MatPcDag => self.solve_one(true, x, b, params, monitor),
            Solution::MatDagMat | Solution::MatPcDagMatPc => {
                let cg = SolverParams { kind: SolverKind::Cg, ..params.clone() };
                let schur = self.params.even_odd.filter(|_| preconditioned);
                let (precise, sloppy) = self.spaces(schur);
                let precise = Normal::mdag_m(precise.op());
                let sloppy = sloppy.as_ref().map(|s| Normal::mdag_m(s.op()));
                let sloppy = sloppy.as_ref().map(|s| s as &dyn LinOp);
                let system = System { sloppy, ..System::new(&precise) };
                solvers::solve(&system, &cg, x, b, monitor)
            }
        }
    }

    /// The operator of a Krylov space and its sloppy twin.
    pub(super) fn spaces(&self, schur: Option<Schur>) -> (Space, Option<Space>) {
        (Space::new(&self.op, schur), self.sloppy.as_ref().map(|op| Space::new(op, schur)))
    }

    /// out = M in or M^dagger in with the operator of the equation.
    fn operate(&self, out: &mut SpinorField, inp: &SpinorField, dagger: bool) -> Result<()> {
        let schur = self.params.even_odd.filter(|_| self.params.solution.preconditioned());
        let space = Space::new(&self.op, schur);
        if dagger {
            space.op().apply_dagger(out, inp)
        } else {
            space.op().apply(out, inp)
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
        let attempt = |x: &mut SpinorField, params: &SolverParams, monitor: &mut Monitor| match self
            .params
            .even_odd
        {
            Some(s) if !self.params.solution.preconditioned() => {
                self.through_schur(s, dagger, x, b, params, monitor)
            }
            schur => {
                let (precise, sloppy) = self.spaces(schur);
                let sloppy = sloppy.as_ref().map(Space::op);
                self.krylov(precise.op(), sloppy, dagger, x, b, None, params, monitor)
            }
        };
        let image = |out: &mut SpinorField, x: &SpinorField| self.operate(out, x, dagger);
        to_tolerance(params, x, b, monitor, attempt, image)
    }

    /// The full solution through that of the Schur complement.
    fn through_schur(
        &self,
        schur: Schur,
        dagger: bool,
        x: &mut SpinorField,
        b: &SpinorField,
        params: &SolverParams,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let pc = EvenOdd::new(self.op.clone(), schur.parity, schur.symmetric);
        let norms = blas::norm2(b)?;
        if let Some(i) = norms.iter().position(|v| !v.is_finite()) {
            bail!(NotFinite, "b: right-hand side {i} holds NaN or infinity, or its norm overflows");
        }
        let norms: Vec<f64> = norms.iter().map(|v| v.sqrt()).collect();
        let mut half_x = pc.shape().field(b.nrhs())?;
        let mut half_b = pc.shape().field(b.nrhs())?;
        pc.prepare(&mut half_b, b, dagger)?;
        if params.initial_guess {
            pc.restrict(&mut half_x, x, dagger)?;
        }
        let sloppy = self.sloppy.as_ref().map(|op| Space::new(op, Some(schur)));
        let low = sloppy.as_ref().map(Space::op);
        let (half, scale) = (&mut half_x, Some(&*norms));
        let report = self.krylov(&pc, low, dagger, half, &half_b, scale, params, monitor)?;
        drop((half_b, sloppy));
        pc.reconstruct(x, &half_x, b, dagger)?;
        Ok(report)
    }

    /// The Krylov solve itself, with the equations and the algorithm asked for.
    #[allow(clippy::too_many_arguments)]
    fn krylov(
        &self,
        precise: &dyn LinOp,
        sloppy: Option<&dyn LinOp>,
        dagger: bool,
        x: &mut SpinorField,
        b: &SpinorField,
        scale: Option<&[f64]>,
        params: &SolverParams,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        let (precise_dag, sloppy_dag) = (Adjoint(precise), sloppy.map(Adjoint));
        let (precise, sloppy) = if dagger {
            (&precise_dag as &dyn LinOp, sloppy_dag.as_ref().map(|s| s as &dyn LinOp))
        } else {
            (precise, sloppy)
        };
        let mut params = params.clone();
        params.kind = match (params.kind, self.params.equations) {
            (SolverKind::Cg, Equations::NormalError) => SolverKind::Cgne,
            (SolverKind::Cg, _) => SolverKind::Cgnr,
            (kind, _) => kind,
        };
        let cg = matches!(params.kind, SolverKind::Cgne | SolverKind::Cgnr);
        let normal = (!cg).then_some(self.params.equations);
        let (normal_precise, normal_sloppy) = match normal {
            Some(Equations::NormalResidual) => {
                (Some(Normal::mdag_m(precise)), sloppy.map(Normal::mdag_m))
            }
            Some(Equations::NormalError) => {
                (Some(Normal::m_mdag(precise)), sloppy.map(Normal::m_mdag))
            }
            _ => (None, None),
        };
        let system = System {
            precise: normal_precise.as_ref().map_or(precise, |n| n as &dyn LinOp),
            sloppy: normal_sloppy.as_ref().map(|n| n as &dyn LinOp).or(sloppy),
            preconditioner: None,
            scale,
        };
        let inner = match self.params.precondition_steps {
            0 => None,
            steps => Some(MinimalResidual::new(
                system.sloppy.unwrap_or(system.precise),
                steps,
                params.omega,
            )?),
        };
        let adjoint = self.multigrid.as_ref().map(|m| AdjointPreconditioner(&**m));
        let preconditioner = match (&inner, &self.multigrid, &adjoint) {
            (Some(inner), ..) => Some(inner as &dyn Preconditioner),
            (None, _, Some(adjoint)) if dagger => Some(adjoint as &dyn Preconditioner),
            (None, Some(multigrid), _) => Some(&**multigrid as &dyn Preconditioner),
            _ => None,
        };
        let system = System { preconditioner, ..system };
        match normal {
            Some(Equations::NormalResidual) => {
                let mut source = b.like(b.precision())?;
                precise.apply_dagger(&mut source, b)?;
                // Its residual is compared with its own source.
                let system = System { scale: None, ..system };
                solvers::solve(&system, &params, x, &source, monitor)
            }
            Some(Equations::NormalError) => {
                // No guess for y is known from one for x: start from the residual.
                let guess = params.initial_guess;
                params.initial_guess = false;
                let mut y = b.like(b.precision())?;
                if !guess {
                    let report = solvers::solve(&system, &params, &mut y, b, monitor)?;
                    precise.apply_dagger(x, &y)?;
                    return Ok(report);
                }
                let (one, n) = (blas::uniform(b.nrhs(), 1.0), b.nrhs());
                let mut r = b.like(b.precision())?;
                precise.apply(&mut r, x)?;
                blas::axpby(&one, b, &blas::uniform(n, -1.0), &mut r)?;
                let norms: Vec<f64> = blas::norm2(b)?.iter().map(|v| v.sqrt()).collect();
                let system = System { scale: Some(scale.unwrap_or(&norms)), ..system };
                let report = solvers::solve(&system, &params, &mut y, &r, monitor)?;
                precise.apply_dagger(&mut r, &y)?;
                blas::axpy(&one, &r, x)?;
                Ok(report)
            }
            _ => solvers::solve(&system, &params, x, b, monitor),
        }
    }
}

/// A preconditioner as one of the adjoint system.
struct AdjointPreconditioner<'a>(&'a dyn Preconditioner);

impl Preconditioner for AdjointPreconditioner<'_> {
    fn precondition(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.0.precondition_dagger(out, inp)
    }
    fn flops(&self) -> f64 {
        self.0.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.0.bytes(nrhs)
    }
}

/// What a Krylov space is built with: M or its Schur complement.
pub(super) enum Space {
    Full(Arc<Wilson>),
    Half(EvenOdd),
}

impl Space {
    fn new(op: &Arc<Wilson>, schur: Option<Schur>) -> Self {
        match schur {
            None => Space::Full(op.clone()),
            Some(s) => Space::Half(EvenOdd::new(op.clone(), s.parity, s.symmetric)),
        }
    }
    pub(super) fn op(&self) -> &dyn LinOp {
        match self {
            Space::Full(op) => &**op,
            Space::Half(op) => op,
        }
    }
}

/// Runs `attempt`, which may solve another system than the one asked for, until the system whose
/// `image` of x should be b meets the criteria; the report is about the latter.
fn to_tolerance(
    asked: &SolverParams,
    x: &mut SpinorField,
    b: &SpinorField,
    monitor: &mut Monitor,
    attempt: impl Fn(&mut SpinorField, &SolverParams, &mut Monitor) -> Result<SolverReport>,
    image: impl Fn(&mut SpinorField, &SpinorField) -> Result<()>,
) -> Result<SolverReport> {
    let mut params = asked.clone();
    let mut total: Option<SolverReport> = None;
    for _ in 0..=EXTENSIONS {
        let part = attempt(x, &params, monitor)?;
        let claimed = part.converged;
        let mut report = match total.take() {
            Some(before) => before.followed_by(part),
            None => part,
        };
        let mut r = x.like(x.precision())?;
        image(&mut r, x)?;
        residual_of(&mut report, r, x, b)?;
        // How far the worst right-hand side is from a criterion; 1: it is met.
        let lag = |values: &[f64], tol: f64| {
            let worst = values.iter().fold(0.0f64, |m, &v| m.max(v));
            if tol > 0.0 && worst > tol {
                worst / tol
            } else {
                1.0
            }
        };
        let l2 = lag(&report.residual, asked.tol);
        let hq = lag(&report.residual_hq, asked.tol_hq);
        report.converged = l2 == 1.0 && hq == 1.0;
        params.max_iterations = asked.max_iterations.saturating_sub(report.iterations);
        let extend = claimed && !report.converged && params.max_iterations > 0;
        total = Some(report);
        if !extend {
            break;
        }
        let tighter = |lag: f64| if lag > 1.0 { 0.8 / lag } else { 1.0 };
        params.tol *= tighter(l2);
        params.tol_hq *= tighter(hq);
        params.initial_guess = true;
    }
    Ok(total.expect("the loop runs at least once"))
}

/// Bytes of an operator with the parameters of `op` in another storage.
fn operator_bytes(op: &Wilson, (precision, recon): (Precision, Recon)) -> u64 {
    let geometry = op.gauge().geometry();
    let mut bytes = GaugeField::bytes(geometry, precision, recon);
    for blocks in [op.clover(), op.clover_inverse()].into_iter().flatten() {
        bytes += CloverField::bytes(geometry, precision, blocks.sets());
    }
    bytes as u64
}

fn check(shape: &Shape, field: &SpinorField, name: &str) -> Result<()> {
    if *field.geometry() != shape.geometry || *field.device() != shape.device {
        bail!(FieldMismatch, "{name} and the operator live on different lattices or devices");
    }
    if field.subset() != shape.subset || field.precision() != shape.precision {
        bail!(
            FieldMismatch,
            "{name}: expected a {:?} field in {:?}, found {:?} in {:?}",
            shape.subset,
            shape.precision,
            field.subset(),
            field.precision()
        );
    }
    Ok(())
}

/// x = c x; `any` is a finite field like x, read with coefficient 0.
fn scale(x: &mut SpinorField, c: f64, any: &SpinorField) -> Result<()> {
    let n = x.nrhs();
    blas::axpby(&blas::uniform(n, 0.0), any, &blas::uniform(n, c), x)
}

/// Puts the residuals of M x = b into the report; `image` = M x.
fn residual_of(
    report: &mut SolverReport,
    mut image: SpinorField,
    x: &SpinorField,
    b: &SpinorField,
) -> Result<()> {
    let n = b.nrhs();
    blas::axpby(&blas::uniform(n, 1.0), b, &blas::uniform(n, -1.0), &mut image)?;
    let (r2, b2) = (blas::norm2(&image)?, blas::norm2(b)?);
    let relative = |(r, b): (&f64, &f64)| if *b > 0.0 { (r / b).sqrt() } else { r.sqrt() };
    report.residual = r2.iter().zip(&b2).map(relative).collect();
    if let Some(i) = report.residual.iter().position(|v| !v.is_finite()) {
        bail!(SolverBreakdown, "the residual of right-hand side {i} is not finite");
    }
    report.residual_hq = blas::heavy_quark_residual(x, &image)?;
    for (hq, b2) in report.residual_hq.iter_mut().zip(&b2) {
        if *b2 == 0.0 {
            *hq = 0.0;
        }
    }
    Ok(())
}
