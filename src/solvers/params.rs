//! Parameters of a solve: the algorithm, criteria and limits.

use super::stop::Stop;
use crate::error::{words, Result};
use crate::fields::Precision;
use crate::params::{choices, Choice};
use crate::refuse;

/// The algorithms. `Cg` is for hermitian positive operators, the others for any.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SolverKind {
    /// Conjugate gradient (Hestenes and Stiefel 1952).
    Cg,
    /// CG on M M^dagger y = b, x = M^dagger y (Craig): the error falls monotonically.
    Cgne,
    /// CG on M^dagger M x = M^dagger b: the residual falls monotonically.
    Cgnr,
    /// Stabilised biconjugate gradient (van der Vorst 1992).
    BiCgStab,
    /// Generalised conjugate residual, restarted, with an optional (variable) preconditioner.
    Gcr,
    /// GCR in which all right-hand sides share one space: each takes its step along the directions of all.
    BlockGcr,
    /// Minimal residual with relaxation.
    Mr,
    /// CG for all A + sigma_k at once (Jegerlehner, hep-lat/9612014); see [`multishift`](super::multishift()).
    MultiShift,
    /// Chosen during the solve, by solvers of quark actions.
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
    /// Algorithms.
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
        /// Chosen by the library: CG for hermitian operators, else BiCGStab, with 16 bits inside on a GPU, and
        /// multigrid as soon as its set-up pays (docs/propagator.md).
        Auto = 6, PLAQ_SOLVER_AUTO, "auto";
        /// GCR in which the right-hand sides that are solved for at a time share one space: each takes its step along
        /// the directions of all, of which `nkrylov` are kept for each. With many right-hand sides that takes fewer
        /// iterations than PLAQ_SOLVER_GCR, each of which costs more. Sources may depend on each other.
        BlockGcr = 7, PLAQ_SOLVER_BLOCK_GCR, "block-gcr";
    }
}

impl SolverKind {
    /// Whether the algorithm takes an approximate inverse that may change from one application to the next.
    pub fn takes_preconditioner(self) -> bool {
        matches!(self, SolverKind::Cg | SolverKind::BiCgStab | SolverKind::Mr) || self.is_gcr()
    }

    /// Whether the algorithm keeps directions and takes multigrid.
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

/// Largest number of directions that may be asked for; more do not fit in any memory.
pub const MAX_DIRECTIONS: usize = 10_000;

/// Algorithm, stopping criteria and parameters of a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverParams {
    pub kind: SolverKind,
    pub stop: Stop,
    /// Factor for mixed precision: the residual is recomputed in precise arithmetic whenever that of the iteration
    /// has fallen by it. 0: a value that depends on the lower precision, [`SolverParams::delta_in`].
    pub delta: f64,
    /// Number of directions of each right-hand side that GCR keeps before a restart.
    pub nkrylov: usize,
    /// Relaxation factor of MR; 1 is no relaxation. Other solvers do not use it.
    pub omega: f64,
    /// True: start from the x that is passed in; else from zero.
    pub initial_guess: bool,
    /// True: record the residual of every iteration.
    pub history: bool,
    /// For BiCGStab: whether right-hand sides that it cannot solve are solved by themselves, in the end by CGNR; else
    /// they stay as they are.
    pub fall_back: bool,
    /// For BiCGStab: whether it is given up late only, without a trial of CGNR before.
    pub patient: bool,
}

impl Default for SolverParams {
    fn default() -> Self {
        SolverParams {
            kind: SolverKind::Cgnr,
            delta: 0.0,
            nkrylov: 10,
            omega: 1.0,
            initial_guess: false,
            history: false,
            fall_back: true,
            patient: false,
            stop: Stop::default(),
        }
    }
}

impl SolverParams {
    /// `delta`, or if that is 0 the value for an iteration in this precision: with 16 bits rarer updates lose more
    /// iterations than they save (docs/lab/solves.md).
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
