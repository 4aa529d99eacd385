//! Parameters of solves with the overlap operator.

use crate::fields::{Precision, Recon};
use crate::params::choices;

choices! {
    /// Solvers of D x = b.
    pub enum OverlapAlgorithm: plaq_overlap_solver {
        /// x = D^dagger (D^dagger D)^-1 b by CG, on each chirality of which b has a component.
        ChiralCg = 0, PLAQ_OVERLAP_SOLVER_CG, "cg";
        /// Shifted unitary minimal residual.
        Sumr = 1, PLAQ_OVERLAP_SOLVER_SUMR, "sumr";
        /// Flexible GCR, which takes a preconditioner.
        Gcr = 2, PLAQ_OVERLAP_SOLVER_GCR, "gcr";
        /// Chosen by expected time: GCR preconditioned by the Wilson operator's inverse, or without it, if that takes
        /// longer, CG for b of one chirality and SUMR for others.
        Auto = 3, PLAQ_OVERLAP_SOLVER_AUTO, "auto";
    }
}

choices! {
    /// Preconditioners of a solve with the overlap operator.
    pub enum Preconditioned: plaq_overlap_preconditioner {
        /// No preconditioner.
        No = 0, PLAQ_OVERLAP_PRECONDITIONER_NONE, "none";
        /// The Wilson operator's inverse by BiCGStab.
        Wilson = 1, PLAQ_OVERLAP_PRECONDITIONER_WILSON, "wilson";
        /// The Wilson operator's inverse by multigrid.
        Multigrid = 2, PLAQ_OVERLAP_PRECONDITIONER_MULTIGRID, "multigrid";
    }
}

/// An approximate inverse for GCR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OverlapPreconditioner {
    None,
    /// The inverse of the Wilson operator of this mass to a low accuracy (Brannick et al., arXiv
    /// 1410.7170), by BiCGStab or, see `OverlapSolver::with_multigrid`, by GCR with multigrid: the mass
    /// must be above the critical one.
    Wilson {
        mass: f64,
        tol: f64,
        max_iterations: usize,
    },
}

impl OverlapPreconditioner {
    /// The Wilson operator's inverse as a preconditioner, with an accuracy that suits most cases.
    pub fn wilson(mass: f64) -> Self {
        OverlapPreconditioner::Wilson { mass, tol: 0.1, max_iterations: 100 }
    }
}

/// Parameters of a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlapSolveParams {
    pub algorithm: OverlapAlgorithm,
    /// Largest |b - D x| / |b|; smaller values than the sign function's delta allows are refused.
    pub tol: f64,
    pub max_iterations: usize,
    /// Precision and link storage of the iteration; None: those of the operator.
    pub sloppy: Option<(Precision, Recon)>,
    /// True if the sign function is computed less accurately while the residual is large.
    pub relax: bool,
    /// Number of directions that GCR keeps; other solvers do not use it.
    pub nkrylov: usize,
    /// Preconditioner of GCR. Where `Auto` takes GCR and this is None: the Wilson operator's inverse with the mass that
    /// `Overlap::wilson_mass` finds.
    pub preconditioner: OverlapPreconditioner,
    /// Largest number of seconds of a solve, checked after every iteration; infinite: no limit. All ranks stop after
    /// the same iteration.
    pub max_seconds: f64,
}

impl Default for OverlapSolveParams {
    fn default() -> Self {
        OverlapSolveParams {
            algorithm: OverlapAlgorithm::Auto,
            tol: 1e-7,
            max_iterations: 2000,
            sloppy: None,
            relax: true,
            nkrylov: 20,
            preconditioner: OverlapPreconditioner::None,
            max_seconds: f64::INFINITY,
        }
    }
}
