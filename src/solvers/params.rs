//! Parameters of a solve: the algorithm, criteria and limits.

use super::stop::Stop;
use crate::error::{words, Result};
use crate::fields::Precision;
use crate::params::{choices, hash_members, Choice};
use crate::refuse;

/// The algorithms of solvers. `Cg` requires a hermitian positive operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SolverKind {
    /// Conjugate gradient (Hestenes and Stiefel 1952).
    Cg,
    /// CG on M M^dagger y = b, x = M^dagger y (Craig): the error decreases monotonically.
    Cgne,
    /// CG on M^dagger M x = M^dagger b: the residual decreases monotonically.
    Cgnr,
    /// Stabilised biconjugate gradient (van der Vorst 1992).
    BiCgStab,
    /// Generalised conjugate residual, restarted; its optional preconditioner may change between applications.
    Gcr,
    /// GCR in which all right-hand sides share one Krylov space: the step of each is a combination of the directions
    /// of all.
    BlockGcr,
    /// Minimal residual with relaxation.
    Mr,
    /// CG for all shifted operators A + sigma_k in one Krylov space (Jegerlehner, hep-lat/9612014); see
    /// [`multishift`](super::multishift()).
    MultiShift,
    /// Chosen while solving; only for solvers of quark actions.
    Auto,
}

words!(SolverKind {
    Cg => "PLAQ_SOLVER_CG",
    Cgne => "PLAQ_SOLVER_CGNE",
    Cgnr => "PLAQ_SOLVER_CGNR",
    BiCgStab => "PLAQ_SOLVER_BICGSTAB",
    Gcr => "PLAQ_SOLVER_GCR",
    BlockGcr => "PLAQ_SOLVER_BLOCK_GCR",
    Mr => "PLAQ_SOLVER_MR",
    MultiShift => "multishift",
    Auto => "PLAQ_SOLVER_AUTO",
});

choices! {
    /// Algorithms of solvers.
    names SolverKind: plaq_solver_kind {
        /// Conjugate gradient, for PLAQ_SOLUTION_MDAGM and PLAQ_SOLUTION_PDAGP or one of the normal equations.
        Cg = 0, PLAQ_SOLVER_CG, "cg";
        /// CG on M M^dagger y = b, x = M^dagger y.
        Cgne = 1, PLAQ_SOLVER_CGNE, "cgne";
        /// CG on M^dagger M x = M^dagger b.
        Cgnr = 2, PLAQ_SOLVER_CGNR, "cgnr";
        /// Stabilised biconjugate gradient.
        BiCgStab = 3, PLAQ_SOLVER_BICGSTAB, "bicgstab";
        /// Restarted GCR, with MR inside every iteration if asked for.
        Gcr = 4, PLAQ_SOLVER_GCR, "gcr";
        /// Minimal residual with relaxation.
        Mr = 5, PLAQ_SOLVER_MR, "mr";
        /// Chosen by the library: CG for hermitian operators, else BiCGStab (on a GPU with an iteration in 16 bits),
        /// and multigrid as soon as its set-up is expected to save time (docs/propagator.md).
        Auto = 6, PLAQ_SOLVER_AUTO, "auto";
        /// GCR in which the right-hand sides that are solved for together share one Krylov space: the step of each is
        /// a combination of the directions of all, of which `nkrylov` are kept for each. With many right-hand sides
        /// it takes fewer iterations than PLAQ_SOLVER_GCR, but each is more expensive. Sources may depend linearly on
        /// each other.
        BlockGcr = 7, PLAQ_SOLVER_BLOCK_GCR, "block-gcr";
    }
}

choices! {
    /// Sums over the ranks in an iteration of CG, CGNR, CGNE and BiCGStab.
    pub enum IterationSums: plaq_iteration_sums {
        /// One for every step that needs its result: 2 in CG and CGNE, 3 in CGNR and BiCGStab.
        Separate = 1, PLAQ_SUMS_SEPARATE, "separate";
        /// 1 in CG (Chronopoulos and Gear 1989), CGNR and CGNE, 2 in BiCGStab; vectors are read and written more
        /// often. Where GPUs add up among themselves, products that would share a sum have one each, started together.
        Fused = 2, PLAQ_SUMS_FUSED, "fused";
    }
}

impl SolverKind {
    /// Whether there is a choice of the sums over the ranks in an iteration of the algorithm.
    pub fn takes_sums(self) -> bool {
        use SolverKind::{BiCgStab, Cg, Cgne, Cgnr};
        matches!(self, Cg | Cgnr | Cgne | BiCgStab)
    }

    /// Whether the algorithm accepts a preconditioner that changes from one application to the next.
    pub fn takes_preconditioner(self) -> bool {
        matches!(self, SolverKind::Cg | SolverKind::BiCgStab | SolverKind::Mr) || self.is_gcr()
    }

    /// Whether the algorithm is a form of GCR, which keeps directions and accepts multigrid.
    pub fn is_gcr(self) -> bool {
        matches!(self, SolverKind::Gcr | SolverKind::BlockGcr)
    }

    pub fn name(self) -> &'static str {
        match self {
            SolverKind::MultiShift => "multishift",
            kind => kind.word(),
        }
    }
}

/// Largest number of directions that is accepted; more would not fit in any memory.
pub const MAX_DIRECTIONS: usize = 10_000;

/// Algorithm, stopping criteria and parameters of a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverParams {
    pub kind: SolverKind,
    pub stop: Stop,
    /// Factor by which the iteration's residual falls in mixed precision before it is recomputed in precise
    /// arithmetic. 0: a value that depends on the lower precision, [`SolverParams::delta_in`].
    pub delta: f64,
    /// Number of directions of each right-hand side that GCR keeps before a restart.
    pub nkrylov: usize,
    /// Relaxation factor of MR, 1 for none; other solvers ignore it.
    pub omega: f64,
    /// True: the solve starts from the x that is passed in; false: from zero.
    pub initial_guess: bool,
    /// True: the residual after every iteration is recorded.
    pub history: bool,
    /// For CG, CGNR, CGNE and BiCGStab: sums over the ranks in an iteration. None: fused where that is expected to take
    /// less time, never in 16 bits or with sums in the order of ranks.
    pub sums: Option<IterationSums>,
    /// For BiCGStab: whether right-hand sides that it cannot solve are solved separately, finally by CGNR; otherwise
    /// they are left unconverged.
    pub fall_back: bool,
    /// For BiCGStab: true if it is given up only after many iterations without progress, and CGNR is not tried
    /// before.
    pub patient: bool,
}

hash_members!(SolverParams {
    kind, stop, nkrylov, initial_guess, history, sums, fall_back, patient;
    delta, omega
});

impl Default for SolverParams {
    fn default() -> Self {
        SolverParams {
            kind: SolverKind::Cgnr,
            delta: 0.0,
            nkrylov: 10,
            omega: 1.0,
            initial_guess: false,
            history: false,
            sums: None,
            fall_back: true,
            patient: false,
            stop: Stop::default(),
        }
    }
}

impl SolverParams {
    /// `delta`, or if that is 0 the default for an iteration in this precision: in 16 bits less frequent updates lose
    /// more iterations than they save time (docs/lab/solves.md).
    pub fn delta_in(&self, sloppy: Precision) -> f64 {
        match (self.delta, sloppy) {
            (0.0, Precision::F16) => 0.1,
            (0.0, _) => 0.01,
            (delta, _) => delta,
        }
    }
    /// `delta`, but at most `max`; a `max` of 0 sets no bound.
    pub(crate) fn delta_up_to(&self, max: f64) -> f64 {
        match (self.delta == 0.0, max == 0.0) {
            (true, _) => max,
            (_, true) => self.delta,
            _ => self.delta.min(max),
        }
    }
    pub fn check(&self) -> Result<()> {
        self.stop.check()?;
        if !(0.0..1.0).contains(&self.delta) {
            refuse!(BadParameter, "delta", expected("0 to below 1"), found("{}", self.delta));
        }
        if !(1..=MAX_DIRECTIONS).contains(&self.nkrylov) {
            refuse!(
                BadParameter,
                "nkrylov",
                expected("1 to {MAX_DIRECTIONS} directions"),
                found("{}", self.nkrylov)
            );
        }
        if !(self.omega > 0.0 && self.omega < 2.0) {
            refuse!(
                BadParameter,
                "omega",
                expected("a number between 0 and 2"),
                found("{}", self.omega)
            );
        }
        Ok(())
    }
}
