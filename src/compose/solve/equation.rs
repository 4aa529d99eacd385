//! The settings of a solve with a quark action, and its report: the equation, even-odd preconditioned or on the full
//! lattice, the Krylov space, precisions and normalisation.

use std::sync::Arc;

use crate::bail;
use crate::error::Result;
use crate::fields::{Precision, Recon};
use crate::linop::{LinOp, Schur, System};
use crate::operators::{Distance, InverseOwner, Normalisation, QuarkAction};
use crate::params::{choices, parameters, reports, row_set};
use crate::refuse;
use crate::solvers::{
    largest, IterationSums, SolverKind, SolverParams, SolverReport, Stop, StoppedBy,
};

choices! {
    /// The equation that is solved; M is the operator, P the even-odd preconditioned operator on one parity.
    pub enum Solution: plaq_solution {
        /// The equation M x = b.
        Mat = 0, PLAQ_SOLUTION_M, "m";
        /// The equation M^dagger x = b.
        MatDag = 1, PLAQ_SOLUTION_MDAG, "mdag";
        /// The equation M^dagger M x = b.
        MatDagMat = 2, PLAQ_SOLUTION_MDAGM, "mdagm";
        /// The equation P x = b.
        MatPc = 3, PLAQ_SOLUTION_P, "p";
        /// The equation P^dagger x = b.
        MatPcDag = 4, PLAQ_SOLUTION_PDAG, "pdag";
        /// The equation P^dagger P x = b.
        MatPcDagMatPc = 5, PLAQ_SOLUTION_PDAGP, "pdagp";
        /// The equation M M^dagger x = b, solved by a solve with M and one with M^dagger.
        MatMatDag = 6, PLAQ_SOLUTION_MMDAG, "mmdag";
        /// The equation P P^dagger x = b, solved by a solve with P and one with P^dagger.
        MatPcMatPcDag = 7, PLAQ_SOLUTION_PPDAG, "ppdag";
    }
    /// The equations for which the Krylov space is built.
    pub enum Equations: plaq_equations {
        /// The equation M x = b itself. Plain CG then solves M^dagger M x = M^dagger b; CGNE and CGNR form their own
        /// normal equations.
        Direct = 0, PLAQ_EQUATIONS_DIRECT, "direct";
        /// The normal equations M^dagger M x = M^dagger b.
        NormalResidual = 1, PLAQ_EQUATIONS_NORMAL_RESIDUAL, "normal-residual";
        /// The normal equations M M^dagger y = b, with x = M^dagger y.
        NormalError = 2, PLAQ_EQUATIONS_NORMAL_ERROR, "normal-error";
    }
    /// The algorithm that PLAQ_SOLVER_AUTO chose.
    pub enum Chosen: plaq_chosen {
        /// No choice: the caller gave the solver.
        Asked = 0, PLAQ_CHOSEN_NONE, "";
        /// A Krylov solver without multigrid, as a set-up would have cost more than it saves.
        Krylov = 1, PLAQ_CHOSEN_KRYLOV, "krylov";
        /// GCR with multigrid.
        Multigrid = 2, PLAQ_CHOSEN_MULTIGRID, "multigrid";
        /// A Krylov solver, as multigrid is not available for this operator, equation or lattice, or its memory or
        /// set-up failed; the log says which.
        OnlyKrylov = 3, PLAQ_CHOSEN_ONLY_KRYLOV, "only-krylov";
    }
}

impl Solution {
    pub fn preconditioned(self) -> bool {
        matches!(
            self,
            Solution::MatPc
                | Solution::MatPcDag
                | Solution::MatPcDagMatPc
                | Solution::MatPcMatPcDag
        )
    }
    /// Whether the equation contains the operator twice, once as its adjoint.
    pub fn normal(self) -> bool {
        matches!(self, Solution::MatDagMat | Solution::MatPcDagMatPc) || self.adjoint_first()
    }
    /// Whether the equation is that of M M^dagger or P P^dagger, in which the adjoint is applied first.
    pub fn adjoint_first(self) -> bool {
        matches!(self, Solution::MatMatDag | Solution::MatPcMatPcDag)
    }
}

row_set! {
    sloppy_storage_row {
        /// Storage of the links in the iteration; automatic (0): that of the operator.
        sloppy_storage: Option<Recon> = None;
    }
}
row_set! {
    max_iterations_row($default) {
        /// Largest number of iterations of a solve.
        max_iterations: usize = $default, within(1, i32::MAX as i64);
    }
}
row_set! {
    nkrylov_row($default) {
        /// Number of directions that GCR keeps before a restart, block GCR for each right-hand side.
        nkrylov: usize = $default, within(1, crate::solvers::MAX_DIRECTIONS as i64);
    }
}

parameters! {
    /// Parameters of a solver. By default the solver is chosen while it solves, on the even-odd preconditioned
    /// system.
    pub composed struct SolverSettings: plaq_solver_params {
        /// Solver of the iteration.
        solver: SolverKind = SolverKind::Auto, old("algorithm");
        /// Equation that is solved.
        solution: Solution = Solution::Mat;
        /// Equations for which the Krylov space is built, for BiCGStab, GCR, block GCR and MR, which can solve any of
        /// them. CG needs normal equations; CGNE and CGNR form their own.
        equations: Equations = Equations::Direct;
        /// Even-odd preconditioned system, or full lattice, on which the equation is solved.
        system: System = System::EvenSymmetric;
        /// Precision of the iteration; every solver recomputes residuals in the operator's, to which the tolerance
        /// applies. Automatic (0): single where the operator is in double, 16 bits for BiCGStab of
        /// PLAQ_SOLVER_AUTO on a GPU, else the operator's;
        /// plaq_solver_multishift then takes the operator's precision and storage, since shifts share a Krylov space
        /// that goes no deeper than its precision. The report says which.
        sloppy_precision: Option<Precision> = None;
        with sloppy_storage_row;
        with max_iterations_row(10_000);
        with nkrylov_row(10);
        /// Number of steps of minimal residual before every application of the operator, as preconditioner of
        /// BiCGStab, GCR, block GCR and MR; 0: none.
        precondition_steps: usize = 0, within(0, i32::MAX as i64);
        /// True if the solve starts from the x that is passed in, false if from zero.
        initial_guess: bool = false;
        /// Largest |b - M x| / |b|; 0: not required. Where several criteria are set, all must be met.
        tol: f64 = 1e-10;
        /// Largest heavy-quark residual; 0: not required.
        tol_hq: f64 = 0.0;
        /// Factor by which the residual falls in the iteration before it is recomputed in the operator's precision.
        /// Automatic (0): 0.1 for iterations in 16 bits, else 0.01.
        delta: f64 = 0.0, below(0.0, 1.0);
        /// Relaxation parameter omega of MR; 1: no relaxation.
        omega: f64 = 1.0, between(0.0, 2.0);
        /// Number of columns of a propagator that are solved for together. Fewer take less memory, and on a GPU more
        /// time. Automatic (0): the first of 12, 6, 4, 3, 2 and 1 that fits in the device's memory; the report says
        /// which.
        columns: usize = 0, within(0, COLUMNS as i64);
        /// PLAQ_SOLVER_AUTO: number of right-hand sides that will be solved for with these links, by which the solver
        /// decides whether a set-up of multigrid is worth its time. Automatic (0): as many as have been solved for
        /// already.
        expected_columns: usize = 0, within(0, i32::MAX as i64);
        /// Time slice of the source, for distance_alpha.
        distance_t0: usize = 0, within(0, i32::MAX as i64);
        /// Largest number of seconds of a call; 0: no limit. The time is checked after every iteration; all ranks
        /// stop after the same one.
        max_seconds: f64 = 0.0;
        /// Exponent alpha per time slice of distance preconditioning (de Divitiis, Petronzio, Tantalo,
        /// arXiv:1006.4028, Eq. 9). With W = cosh(alpha (T/2 - d)) at the distance d in time from distance_t0 the
        /// solver iterates W^-1 M W y = W^-1 b, x = W y, and reports residuals of y. A heavy quark's propagator is
        /// then as precise in time slices far from the source, to which |b - M x| is insensitive, as near it. The
        /// best alpha is near the quark's energy, half the mass of its pion. M^dagger has the same weights, and
        /// M^dagger M is solved as two systems. Not available with multigrid or several shifts; at most 160 / T. 0:
        /// no preconditioning.
        distance_alpha: f64 = 0.0, from(0.0, f64::INFINITY);
        /// Largest |b - M x| at any site, divided by the largest |b| at any site, the criterion of OpenLat (Francis,
        /// Fritzsch, Luscher, Rago, arXiv:1911.04533, Section 4); 0: not required. It is required besides the other
        /// criteria, and replaces `tol` if that is 0. Not for eigenvectors.
        tol_site: f64 = 0.0;
        /// Sums over the ranks in an iteration of CG, CGNR, CGNE or BiCGStab. Automatic (0): fused where that is
        /// expected to take less time (docs/mpi.md), but not in 16 bits, where iterations may become more, nor with
        /// `reproducible` = 1, where fused sums have the same bits in every run, too, if asked for. With GCR, block GCR
        /// and MR there is no choice. The space that several shifts share takes separate sums.
        sums: Option<IterationSums> = None;
        /// True: right-hand sides that BiCGStab cannot solve are solved separately, finally by CGNR (the report's
        /// `solver`); false: they are left as they are, not converged.
        fall_back: bool = true;
    }
}

/// Number of columns of a propagator; column 3 spin + colour has its source at this spin and colour.
pub const COLUMNS: usize = 12;

/// Converts a limit of time from parameters, where 0 means no limit, to seconds, infinite without limit.
pub fn seconds_of(max_seconds: f64) -> f64 {
    match max_seconds {
        0.0 => f64::INFINITY,
        seconds => seconds,
    }
}

impl SolverSettings {
    /// The parameters of a solve with the operator `op` in this normalisation.
    ///
    /// # Errors
    /// `Unsupported`: a storage of another group.
    pub fn params(
        &self,
        op: &Arc<dyn QuarkAction>,
        normalisation: Normalisation,
    ) -> Result<SolveParams> {
        let links = op.links();
        let automatic = self.solver == SolverKind::Auto;
        let algorithm = match self.solver {
            SolverKind::Auto if self.equations != Equations::Direct => SolverKind::Cg,
            SolverKind::Auto if iterated_operator(op, self.system.schur())?.hermitian() => {
                SolverKind::Cg
            }
            SolverKind::Auto if self.solution.normal() => SolverKind::Cgnr,
            SolverKind::Auto => SolverKind::BiCgStab,
            kind => kind,
        };
        let own = match automatic && algorithm == SolverKind::BiCgStab && !links.device().is_cpu() {
            true => Precision::F16,
            false => Precision::F32,
        };
        let precision = self.sloppy_precision.unwrap_or(links.precision().min(own));
        let storage = self.sloppy_storage.unwrap_or(links.recon());
        if storage.group() != links.group() {
            refuse!(Unsupported, "params.sloppy_storage", expected("a storage of SU(3) links"));
        }
        Ok(SolveParams {
            solver: SolverParams {
                kind: algorithm,
                delta: self.delta,
                nkrylov: self.nkrylov,
                omega: self.omega,
                initial_guess: self.initial_guess,
                history: true,
                sums: self.sums,
                fall_back: self.fall_back,
                patient: false,
                stop: Stop {
                    residual: match self.tol == 0.0 && self.tol_hq == 0.0 {
                        true => self.tol_site,
                        false => self.tol,
                    },
                    heavy_quark: self.tol_hq,
                    site: self.tol_site,
                    iterations: self.max_iterations,
                    seconds: seconds_of(self.max_seconds),
                },
            },
            solution: self.solution,
            equations: self.equations,
            even_odd: self.system.schur(),
            sloppy: Some((precision, storage)),
            sloppy_shifts: self.sloppy_precision.is_some() || links.precision() != Precision::F64,
            precondition_steps: self.precondition_steps,
            normalisation,
            automatic: automatic.then_some(self.expected_columns),
            distance: (self.distance_alpha != 0.0)
                .then_some(Distance { alpha: self.distance_alpha, t0: self.distance_t0 }),
        })
    }
}

/// The operator for which a Krylov space is built: M or its Schur complement.
pub(super) fn iterated_operator(
    op: &Arc<dyn QuarkAction>,
    schur: Option<Schur>,
) -> Result<Arc<dyn LinOp>> {
    match schur {
        None => Ok(op.clone()),
        Some(form) => Ok(op.clone().schur(form)?),
    }
}

/// Parameters of a solve with a Dirac operator.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct SolveParams {
    pub solver: SolverParams,
    pub solution: Solution,
    pub equations: Equations,
    /// Form and parity of the Schur complement; None: the system on the full lattice.
    pub even_odd: Option<Schur>,
    /// Precision and link storage of the iteration; None: those of the operator.
    pub sloppy: Option<(Precision, Recon)>,
    /// True if multi-shift solves, too, iterate in the precision and storage `sloppy`; else in the operator's.
    pub sloppy_shifts: bool,
    /// Number of steps of minimal residual before every application of the operator, for BiCGStab, GCR, block GCR and
    /// MR; 0: none.
    pub precondition_steps: usize,
    pub normalisation: Normalisation,
    /// `Some(n)`: the algorithm is chosen while solving, with n right-hand sides still to come, 0 if their number is
    /// not known. `None`: the algorithm is that of `solver`.
    pub automatic: Option<usize>,
    /// Distance preconditioning, not together with multigrid; residuals are those of the weighted equation.
    pub distance: Option<Distance>,
}

impl Default for SolveParams {
    fn default() -> Self {
        SolveParams {
            solver: SolverParams::default(),
            solution: Solution::Mat,
            equations: Equations::Direct,
            even_odd: Some(Schur { parity: 0, symmetric: true }),
            sloppy: None,
            sloppy_shifts: true,
            precondition_steps: 0,
            normalisation: Normalisation::Kappa,
            automatic: None,
            distance: None,
        }
    }
}

impl SolveParams {
    /// Decides who owns the inverse of the clover term with which residuals are recomputed, for an action in
    /// precision `own`. It is made for each application, to save memory, if the iteration has 16 bits or residuals
    /// are recomputed seldom, as in GCR.
    pub(super) fn inverse_owner(&self, own: Precision) -> InverseOwner {
        let few = |inner| inner == Precision::F16 || self.solver.kind.is_gcr();
        match self.sloppy.is_some_and(|(inner, _)| inner < own && few(inner)) {
            true => InverseOwner::Application,
            false => InverseOwner::Complement,
        }
    }

    /// Refuses parameters out of range and combinations that are not supported.
    pub(super) fn check(&self, op: &Arc<dyn QuarkAction>) -> Result<()> {
        self.solver.check()?;
        if self.solution.preconditioned() && self.even_odd.is_none() {
            bail!(
                BadParameter,
                "system: {} needs an even-odd preconditioned one, found PLAQ_SYSTEM_FULL",
                self.solution
            );
        }
        if let Some(form) = self.even_odd {
            op.clone().schur(form)?;
        }
        let (kind, equations) = (self.solver.kind, self.equations);
        let hermitian = self.solution.normal() || iterated_operator(op, self.even_odd)?.hermitian();
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
        if let Some(sums) = self.solver.sums.filter(|_| !kind.takes_sums()) {
            refuse!(
                Unsupported,
                "sums",
                expected(
                    "0 (automatic) with {kind}, as only {}, {}, {} and {} have a choice",
                    SolverKind::Cg,
                    SolverKind::Cgnr,
                    SolverKind::Cgne,
                    SolverKind::BiCgStab
                ),
                found("{sums}")
            );
        }
        // Steps of minimal residual are no hermitian operator, which CG would need.
        if self.precondition_steps > 0 && (kind == SolverKind::Cg || !kind.takes_preconditioner()) {
            bail!(
                Unsupported,
                "{kind} takes no steps of minimal residual: {}, {}, {} and {} do",
                SolverKind::BiCgStab,
                SolverKind::Gcr,
                SolverKind::BlockGcr,
                SolverKind::Mr
            );
        }
        Ok(())
    }
}

reports! {
    /// Report of a solve. Residuals are recomputed from x in the operator's precision.
    pub struct SolveTotals: plaq_solve_report {
        /// 1: every right-hand side meets all criteria.
        converged: bool;
        /// 1: the callback or `max_seconds` ended the solve; x holds what was reached.
        stopped: bool;
        /// Number of right-hand sides, or of columns of a propagator, that were solved for together.
        columns: usize;
        /// Number of iterations of the slowest right-hand side.
        iterations: u64;
        /// Largest |b - M x| / |b| over the right-hand sides.
        residual: f64;
        /// Largest heavy-quark residual over the right-hand sides.
        residual_hq: f64;
        /// Seconds that the solve took.
        seconds: f64;
        /// Number of floating-point operations of operators and vectors.
        flops: f64;
        /// Number of bytes that operators and vectors had to read and write.
        bytes: f64;
        /// Largest number of bytes of device memory that was in use during the solve.
        memory_peak: u64;
        /// Number of times that residuals were recomputed in the operator's precision.
        reliable_updates: u64;
        /// Number of breakdowns after which search directions were started again.
        restarts: u64;
        /// The algorithm that finished the solve; another one than asked for if that made no progress.
        solver: SolverKind;
        /// 1: given up because recomputed residuals no longer fell. If 0 and not converged, `stopped_by` tells
        /// what ended the solve.
        standstill: bool;
        /// Precision of the iteration.
        sloppy_precision: Precision;
        /// Storage of the links in the iteration.
        sloppy_storage: Recon;
        /// Criterion that ended the solve.
        stopped_by: StoppedBy;
        /// The algorithm that PLAQ_SOLVER_AUTO chose, and why.
        chosen: Chosen;
        /// Largest |b - M x| at any site, divided by the largest |b| at any site; 0 if tol_site is 0.
        residual_site: f64;
    }
}

impl SolveTotals {
    /// Totals to which no solve has been added yet, for the algorithm `solver`.
    pub fn nothing(solver: SolverKind) -> Self {
        SolveTotals {
            converged: true,
            stopped: false,
            columns: 0,
            iterations: 0,
            residual: 0.0,
            residual_hq: 0.0,
            seconds: 0.0,
            flops: 0.0,
            bytes: 0.0,
            memory_peak: 0,
            reliable_updates: 0,
            restarts: 0,
            solver,
            standstill: false,
            sloppy_precision: Precision::F64,
            sloppy_storage: Recon::R18,
            stopped_by: StoppedBy::Residual,
            chosen: Chosen::Asked,
            residual_site: 0.0,
        }
    }

    /// Totals of the solves in `self` and of a later one: the largest residuals and numbers of iterations, and sums of
    /// time and work.
    pub fn and(self, next: SolveTotals) -> Self {
        SolveTotals {
            converged: self.converged && next.converged,
            stopped: self.stopped || next.stopped,
            iterations: self.iterations.max(next.iterations),
            residual: self.residual.max(next.residual),
            residual_hq: self.residual_hq.max(next.residual_hq),
            seconds: self.seconds + next.seconds,
            flops: self.flops + next.flops,
            bytes: self.bytes + next.bytes,
            memory_peak: self.memory_peak.max(next.memory_peak),
            reliable_updates: self.reliable_updates + next.reliable_updates,
            restarts: self.restarts + next.restarts,
            standstill: self.standstill || next.standstill,
            stopped_by: self.stopped_by.max(next.stopped_by),
            residual_site: self.residual_site.max(next.residual_site),
            ..next
        }
    }
}

/// Report of a solve with a Dirac operator.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveReport {
    /// The solver's report; its residuals are those of the requested equation on all of its sites, recomputed from x
    /// in the precision of the operator with sums in double.
    pub solver: SolverReport,
    /// Largest number of bytes that fields of this process held on the device during the solve.
    pub memory_peak: u64,
    /// Precision and link storage of the iteration.
    pub iterated: (Precision, Recon),
    /// The algorithm that an automatic solver chose.
    pub chosen: Chosen,
    /// Number of right-hand sides that were solved for together.
    pub columns: usize,
}

impl SolveReport {
    /// The report over all right-hand sides, of a solve for which the algorithm `asked` was asked for.
    pub fn totals(&self, asked: SolverKind) -> SolveTotals {
        let s = &self.solver;
        SolveTotals {
            converged: s.converged,
            stopped: s.stopped,
            columns: self.columns,
            iterations: s.iterations as u64,
            residual: largest(&s.residual),
            residual_hq: largest(&s.residual_hq),
            seconds: s.seconds,
            flops: s.flops,
            bytes: s.bytes,
            memory_peak: self.memory_peak,
            reliable_updates: s.reliable_updates as u64,
            restarts: s.restarts as u64,
            solver: s.fallback.unwrap_or(asked),
            standstill: s.standstill,
            sloppy_precision: self.iterated.0,
            sloppy_storage: self.iterated.1,
            stopped_by: match s.stopped_by {
                Some(by) if by.is_goal() == s.converged => by,
                _ if s.converged => StoppedBy::Residual,
                _ if s.standstill => StoppedBy::Standstill,
                _ => StoppedBy::Iterations,
            },
            chosen: self.chosen,
            residual_site: largest(&s.residual_site),
        }
    }

    /// Joins the reports of a solve in two parts, of which `self` is the first, see [`SolverReport::followed_by`].
    pub fn followed_by(self, second: SolveReport) -> Self {
        SolveReport {
            memory_peak: self.memory_peak.max(second.memory_peak),
            solver: self.solver.followed_by(second.solver),
            ..second
        }
    }

    /// Joins the reports of two solves of the same equation for different right-hand sides, those of `self` and of
    /// `others`.
    pub fn join(self, others: SolveReport) -> Self {
        SolveReport {
            memory_peak: self.memory_peak.max(others.memory_peak),
            columns: self.columns,
            solver: self.solver.join(others.solver),
            ..others
        }
    }
}
