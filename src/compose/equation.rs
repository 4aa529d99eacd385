//! What a solve with a quark action is asked for, and what it did: which equation, even-odd or on
//! the full lattice, from which Krylov space, in which precisions and normalisation.

use crate::bail;
use crate::error::{words, Error, Result};
use crate::fields::{Precision, Recon};
use crate::linop::Schur;
use crate::solvers::{SolverParams, SolverReport};

/// The equation; M is the full operator, P the even-odd preconditioned one on its parity.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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

words!(Solution {
    Mat => "PLAQ_SOLUTION_M",
    MatDag => "PLAQ_SOLUTION_MDAG",
    MatDagMat => "PLAQ_SOLUTION_MDAGM",
    MatPc => "PLAQ_SOLUTION_P",
    MatPcDag => "PLAQ_SOLUTION_PDAG",
    MatPcDagMatPc => "PLAQ_SOLUTION_PDAGP",
});

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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Equations {
    /// M itself. Plain CG then needs M^dagger M on the left; CGNE and CGNR bring their own
    /// normal equations.
    Direct,
    /// M^dagger M x = M^dagger b
    NormalResidual,
    /// M M^dagger y = b, x = M^dagger y
    NormalError,
}

words!(Equations {
    Direct => "PLAQ_EQUATIONS_DIRECT",
    NormalResidual => "PLAQ_EQUATIONS_NORMAL_RESIDUAL",
    NormalError => "PLAQ_EQUATIONS_NORMAL_ERROR",
});

/// Kappa: M = 1 - kappa H. Mass: D = M / (2 kappa). The symmetric P is the same in both.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Normalisation {
    Kappa,
    Mass,
}

words!(Normalisation {
    Kappa => "PLAQ_NORMALISATION_KAPPA",
    Mass => "PLAQ_NORMALISATION_MASS",
});

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
    /// Multi-shift solves iterate in `sloppy`, too; else in the operator's precision and storage.
    pub sloppy_shifts: bool,
    /// BiCGStab, GCR, MR: steps of minimal residual before every application of the operator; 0: none.
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
            sloppy_shifts: true,
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
    /// Precision and link storage of the iteration.
    pub iterated: (Precision, Recon),
}
