//! The last link of the chain: the Krylov solver.

use std::sync::Arc;

use super::equation::{Chosen, Equations, SolveReport};
use super::inverter::{Inverter, SolveRequest};
use crate::compose::multigrid::Multigrid;
use crate::error::Result;
use crate::fields::{blas, VectorField};
use crate::linop::{FreesIdle, LinOp, Shape};
use crate::operators::{QuarkAction, Storage};
use crate::params::Choice;
use crate::solvers::{self, Monitor, SolverKind, SolverParams, Source, System};

/// The copy of an operator, in another precision or storage, in which a solve iterates; it is updated when the links
/// change.
pub struct Copy {
    pub of: Arc<dyn QuarkAction>,
    pub storage: Storage,
}

/// A Krylov solver for an operator, or for one of its normal equations.
pub struct Krylov {
    /// The operator of the equation.
    pub op: Arc<dyn LinOp>,
    /// The normal equations that the solver forms; `Direct`: none.
    pub normal: Equations,
    /// The system of the iteration: that of the normal equations if they are formed.
    pub system: System,
    /// Algorithm and its parameters; stopping criteria come with each solve.
    pub params: SolverParams,
    /// The copy of the operator in which the iteration runs; `None`: the action itself.
    pub copy: Option<Copy>,
    /// Precision and storage of the iteration.
    pub iterated: Storage,
    /// The hierarchy whose cycle preconditions the iteration, if any.
    pub multigrid: Option<Arc<Multigrid>>,
    /// The action whose links the hierarchy must have.
    pub action: Arc<dyn QuarkAction>,
}

/// Name of an algorithm as written in papers.
fn label(kind: SolverKind) -> &'static str {
    match kind {
        SolverKind::Cg => "CG",
        SolverKind::Cgne => "CGNE",
        SolverKind::Cgnr => "CGNR",
        SolverKind::BiCgStab => "BiCGStab",
        SolverKind::Gcr => "GCR",
        SolverKind::BlockGcr => "block GCR",
        SolverKind::Mr => "MR",
        kind => kind.name(),
    }
}

impl Inverter for Krylov {
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        // After the solve operators free their temporary vectors; a hierarchy keeps them for the next solve.
        let System { precise, sloppy, preconditioner, .. } = &self.system;
        let own = preconditioner.iter().filter(|_| self.multigrid.is_none());
        let ops = [precise, &self.op].into_iter().chain(sloppy).chain(own);
        let _idle = FreesIdle(ops.map(|op| &**op).collect());
        let (stop, guess, n) = (request.stop, request.guess, b.nrhs());
        let (initial_guess, patient) = (guess, request.patient);
        let params = SolverParams { stop, initial_guess, patient, ..self.params.clone() };
        let solver = match self.normal {
            Equations::Direct => {
                let source = Source { b, norms: request.norms, origin: request.origin };
                solvers::solve_in_range(&self.system, &params, x, source, watch)?
            }
            Equations::NormalResidual => {
                // The residual of the normal equations is relative to the norm of their own source.
                let mut source = b.like(b.precision())?;
                self.op.apply_dagger(&mut source, b)?;
                solvers::solve(&self.system, &params, x, &source, watch)?
            }
            Equations::NormalError => {
                // A guess for x gives none for y: the equation for the residual is solved from zero.
                let params = SolverParams { initial_guess: false, ..params };
                let mut y = b.like(b.precision())?;
                if !guess {
                    let source = Source { b, norms: request.norms, origin: None };
                    let report =
                        solvers::solve_in_range(&self.system, &params, &mut y, source, watch)?;
                    self.op.apply_dagger(x, &y)?;
                    report
                } else {
                    let one = blas::uniform(n, 1.0);
                    let mut r = b.like(b.precision())?;
                    self.op.apply(&mut r, x)?;
                    blas::axpby(&one, b, &blas::uniform(n, -1.0), &mut r)?;
                    let system =
                        System { scale: Some(request.norms.to_vec()), ..self.system.clone() };
                    let report = solvers::solve(&system, &params, &mut y, &r, watch)?;
                    self.op.apply_dagger(&mut r, &y)?;
                    blas::axpy(&one, &r, x)?;
                    report
                }
            }
        };
        let (iterated, columns) = (self.iterated, n);
        Ok(SolveReport { solver, memory_peak: 0, iterated, chosen: Chosen::Asked, columns })
    }

    fn shape(&self) -> Shape {
        self.op.shape()
    }
    fn name(&self, _: usize) -> String {
        let normal = match self.normal {
            Equations::Direct => "",
            Equations::NormalResidual => " of M†M",
            Equations::NormalError => " of MM†",
        };
        let inner = match self.system.sloppy.is_some() {
            true => format!(" in {}", self.iterated.0.word()),
            false => String::new(),
        };
        let by = match (&self.multigrid, &self.system.preconditioner) {
            (Some(multigrid), _) => {
                format!("(multigrid {} levels)", multigrid.report().levels.len())
            }
            (None, Some(_)) => "(steps of MR)".into(),
            (None, None) => String::new(),
        };
        format!("{}{normal}{inner}{by}", label(self.params.kind))
    }
    fn prepare(&self) -> Result<()> {
        if let Some(multigrid) = &self.multigrid {
            multigrid.check_links(&*self.action)?;
        }
        match &self.copy {
            Some(copy) => copy.of.shared_copy(copy.storage).map(|_| ()),
            None => Ok(()),
        }
    }
}
