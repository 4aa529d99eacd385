//! The plan of a solve: a chain of links, objects that each do one step of the solve and pass its vectors to the next
//! link, made once from the solver's action and settings.
//!
//! ```text
//! parts > scaled > kappa > distance weights > to the tolerance > Schur > fallback(deflated > GCR, deflated > BiCGStab)
//! ```
//! Links with nothing to do are left out.

use std::sync::Arc;

use super::automatic::Automatic;
use super::bounded::Bounded;
use super::deflation::{Deflated, Deflation, SingularSpaces};
use super::equation::{Equations, Solution, SolveParams};
use super::fallback::Fallback;
use super::inverter::{Inverter, SolveRequest};
use super::krylov::{Copy, Krylov};
use super::memory::{PreparedSolve, Size, SolveMemory};
use super::normalised::Normalised;
use super::parts::Parts;
use super::scaled::Scaled;
use super::schur::{Complement, Schur};
use super::tolerance::ToTolerance;
use super::two_steps::TwoSteps;
use super::weighted::Weighted;
use crate::backend::Device;
use crate::bail;
use crate::compose::multigrid::Multigrid;
use crate::error::Result;
use crate::fields::{Components, Precision, Subset};
use crate::linop::{Adjoint, LinOp, Normal, Product, Shape};
use crate::operators::{DistanceWeights, InverseOwner, Normalisation, QuarkAction, Storage};
use crate::params::Key;
use crate::refuse;
use crate::solvers::{
    no_monitor, MinimalResidual, Patience, SolverKind, SolverParams, Stop, System,
};

/// Number of directions that GCR keeps with multigrid by default: more take memory and save hardly an iteration.
pub const MULTIGRID_DIRECTIONS: usize = 4;

/// Patience with multigrid, whose iterations are expensive: usually each divides the residual by three.
const MULTIGRID_PATIENCE: Patience = Patience { iterations: 20, factor: 0.5 };

/// Factor by which the residual falls between its computations in double precision, with multigrid. Iterations and
/// such computations are both expensive: the reduction to `residual` is divided into as few equal steps as single
/// precision allows.
pub fn multigrid_delta(residual: f64) -> f64 {
    const LARGEST: f64 = 4e-4;
    let parts = (residual.clamp(1e-16, LARGEST).ln() / LARGEST.ln()).ceil();
    residual.clamp(1e-16, LARGEST).powf(1.0 / parts)
}

/// Ingredients of a chain: the action in the precision of the equation and in that of the iteration, weights of
/// distance preconditioning, and the settings.
#[derive(Clone)]
pub struct Ingredients {
    pub op: Arc<dyn QuarkAction>,
    /// The operator of the iteration; `None`: the precise one.
    pub low: Option<Arc<dyn QuarkAction>>,
    pub weights: Option<DistanceWeights>,
    pub params: SolveParams,
    pub multigrid: Option<Arc<Multigrid>>,
    pub deflation: Option<Deflation>,
}

impl Ingredients {
    /// Checks the settings and makes the operator of the iteration if it differs from `op`.
    ///
    /// # Errors
    /// `BadParameter`, `Unsupported`; `OutOfMemory`: the operator of the iteration will not fit; nothing is allocated
    /// then.
    pub fn new(op: Arc<dyn QuarkAction>, params: SolveParams) -> Result<Self> {
        let weights = params.distance.map(|d| DistanceWeights::new(&*op, d)).transpose()?;
        let (own, form, device) = (op.storage(), params.even_odd, op.shape().device);
        let complement = form.map(|form| op.clone().schur(form)).transpose()?;
        let missing = match (complement, params.inverse_owner(own.0)) {
            (Some(precise), InverseOwner::Complement) => precise.inverse_bytes(),
            _ => 0,
        };
        let low = match params.sloppy {
            Some(other) if other != own => {
                if other.0 > own.0 {
                    refuse!(
                        BadParameter,
                        "sloppy_precision",
                        expected("at most the operator's, {}", own.0),
                        found("{}", other.0)
                    );
                }
                let bytes = op.copy_bytes(other, form) + missing;
                device.require(bytes, "the sloppy operator")?;
                Some(op.shared_copy(other)?)
            }
            _ => None,
        };
        device.require(missing, "the inverse of the clover term")?;
        Ok(Ingredients { op, low, weights, params, multigrid: None, deflation: None })
    }

    /// These settings with a hierarchy as preconditioner, or with `None` without any. An iteration in double
    /// precision is then done in single precision, like multigrid itself and the directions of GCR.
    ///
    /// # Errors
    /// `Unsupported`: the solver is not GCR for the Schur complement itself; `FieldMismatch`: the hierarchy was set up
    /// for another lattice or device.
    pub fn with_multigrid(self, multigrid: Option<Arc<Multigrid>>) -> Result<Self> {
        let Ingredients { op, low, params, .. } = &self;
        if let Some(multigrid) = &multigrid {
            if self.weights.is_some() {
                refuse!(Unsupported, "multigrid", expected("a solver with distance_alpha 0"));
            }
            multigrid.check(&**op)?;
            let fits = params.solver.kind.is_gcr()
                && params.equations == Equations::Direct
                && params.even_odd.is_some()
                && params.precondition_steps == 0;
            if !fits {
                refuse!(
                    Unsupported,
                    "multigrid",
                    expected(
                        "a solver with {} or {}, a system on one parity, {} and 0 precondition_steps",
                        SolverKind::Gcr,
                        SolverKind::BlockGcr,
                        Equations::Direct
                    ),
                    found(
                        "{}, {}, {} and {}",
                        params.solver.kind,
                        params.even_odd.map_or("PLAQ_SYSTEM_FULL".into(), |s| s.to_string()),
                        params.equations,
                        params.precondition_steps
                    )
                );
            }
        }
        let (precision, recon) = op.storage();
        let asked = params.sloppy.filter(|other| *other != op.storage());
        let low = match (&multigrid, asked) {
            (_, Some(_)) => low.clone(),
            (Some(_), None) if precision == Precision::F64 => match low {
                Some(single) => Some(single.clone()),
                None => {
                    let single = (Precision::F32, recon);
                    let bytes = op.copy_bytes(single, params.even_odd);
                    op.shape().device.require(bytes, "the operator in single precision")?;
                    Some(op.shared_copy(single)?)
                }
            },
            _ => None,
        };
        Ok(Ingredients { low, multigrid, ..self })
    }

    /// These settings on another device, with another hierarchy in place of the solve's own; all fields are zero.
    pub fn on(&self, device: &Device, multigrid: Option<&Arc<Multigrid>>) -> Result<Self> {
        let there = Ingredients::new(self.op.like_on(device)?, self.params.clone())?;
        let deflation = self.deflation.as_ref().map(|d| d.like_on(device)).transpose()?;
        Ok(Ingredients { deflation, ..there.with_multigrid(multigrid.cloned())? })
    }

    /// Sites of x and b.
    pub fn subset(&self) -> Subset {
        match self.params.even_odd {
            Some(s) if self.params.solution.preconditioned() => Subset::of_parity(s.parity),
            _ => Subset::Full,
        }
    }
    pub fn shape(&self) -> Shape {
        self.op.subset_shape(self.subset())
    }

    /// Precision and link storage of the iteration.
    pub fn iterated(&self) -> Storage {
        self.low.as_ref().unwrap_or(&self.op).storage()
    }

    /// The number c with x = c times the solution in kappa normalisation, for the normalisation of the settings.
    pub fn factor(&self) -> f64 {
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

    /// The given operator in the form that the equation has: weighted by distance preconditioning, and for `dagger`
    /// the adjoint.
    fn solved(&self, op: &Arc<dyn QuarkAction>, dagger: bool) -> Arc<dyn QuarkAction> {
        match &self.weights {
            Some(weights) => Arc::new(weights.weighted(op.clone(), dagger)),
            None => op.clone(),
        }
    }

    /// Whether M^dagger M or M M^dagger is solved by one solve with each factor: with weights around each factor the
    /// product is not hermitian.
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

    /// The operator of the equation made from that of the iteration: squared if the equation is one of M^dagger M or
    /// M M^dagger.
    pub fn squared(&self, op: Arc<dyn LinOp>) -> Arc<dyn LinOp> {
        match self.params.solution {
            s if !s.normal() => op,
            s if s.adjoint_first() => Arc::new(Normal::m_mdag(op)),
            _ => Arc::new(Normal::mdag_m(op)),
        }
    }

    /// The copy in which the iteration runs; `None`: the operator itself.
    pub fn copy(&self) -> Option<Copy> {
        let of = self.op.clone();
        self.low.as_ref().map(|low| Copy { of, storage: low.storage() })
    }
}

/// Precision and storage of an iteration for which the settings ask for `asked`. Half precision becomes single where
/// a CPU has no vectorised kernels for it (`vectorised` in the table of kernels), so that half would take several
/// times as long: for links stored whole, as those of U(3), and for vectors other than spinors of one flavour.
pub fn inside(op: &dyn QuarkAction, asked: Storage) -> Storage {
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

/// Makes the chain: of a solver that chooses its algorithm while it solves, or of one with a given algorithm.
pub fn plan(all: &Ingredients) -> Result<Planned> {
    let parts = parts(all)?;
    let automatic = match all.params.automatic {
        None => None,
        Some(expected) => {
            let asked = all.clone();
            let by_multigrid = move |multigrid| parts_by_gcr(&asked, multigrid);
            Some(Arc::new(Automatic::new(
                all.op.clone(),
                all.params.clone(),
                expected,
                parts.clone(),
                Box::new(by_multigrid),
            )))
        }
    };
    let first = match &automatic {
        Some(automatic) => automatic.clone() as Arc<dyn Inverter>,
        None => parts.clone(),
    };
    Ok(Planned { first, parts, automatic })
}

/// A chain, with those of its links that other code needs.
#[derive(Clone)]
pub struct Planned {
    pub first: Arc<dyn Inverter>,
    /// The link that divides right-hand sides into parts; in an automatic solver that of its Krylov solver.
    pub parts: Arc<Parts>,
    pub automatic: Option<Arc<Automatic>>,
}

/// Makes the chain for the algorithm of the settings.
fn parts(all: &Ingredients) -> Result<Arc<Parts>> {
    let memory = Arc::new(memory(all));
    let next = after_parts(all, &memory, 0)?;
    let multigrid = all.multigrid.as_ref().map(|m| m.params());
    let modes = all.deflation.as_ref().map(|d| d.modes.count());
    let key = Key::of(("solve", all.op.key(), &all.params, multigrid, modes));
    Ok(Arc::new(Parts { next, memory, key }))
}

/// Makes a chain for GCR preconditioned by the given hierarchy, for an automatic solver.
fn parts_by_gcr(all: &Ingredients, multigrid: Arc<Multigrid>) -> Result<Arc<Parts>> {
    let params = all.params.clone();
    let own = all.op.storage();
    let single = (own.0.min(Precision::F32), params.sloppy.map_or(own.1, |s| s.1));
    let kind = SolverKind::Gcr;
    let solver = SolverParams { kind, nkrylov: MULTIGRID_DIRECTIONS, ..params.solver.clone() };
    let params = SolveParams { solver, sloppy: Some(single), automatic: None, ..params };
    parts(&Ingredients::new(all.op.clone(), params)?.with_multigrid(Some(multigrid))?)
}

/// The memory of a solve, with a function that makes all links after the one for parts on another device.
fn memory(all: &Ingredients) -> SolveMemory {
    let count = algorithms(all);
    let params = SolveParams { automatic: None, ..all.params.clone() };
    let (op, multigrid) = (all.op.clone(), all.multigrid.clone());
    let asked = Ingredients { params, ..all.clone() };
    let make = move |device: &Device, multigrid: Option<&Arc<Multigrid>>, size: Size| {
        let there = asked.on(device, multigrid)?;
        let chain = after_parts(&there, &Arc::new(memory(&there)), size.algorithm)?;
        let (shape, params) = (there.shape(), &there.params.solver);
        let (mut x, b) = (shape.field(size.nrhs)?, shape.field(size.nrhs)?);
        let stop = Stop { seconds: f64::INFINITY, ..params.stop };
        let guess = params.initial_guess;
        let run = move || {
            // The sums of a rehearsal are made up and may end the solve with an error, which is ignored.
            let _ = chain.solve(&mut x, &b, &SolveRequest::new(stop, guess), &mut no_monitor);
        };
        Ok(Box::new(run) as PreparedSolve)
    };
    SolveMemory::new(op, multigrid, count, Box::new(make))
}

/// Makes all links of the chain after the one that solves in parts. `algorithm` is the number of the algorithm with
/// which the chain starts: 0 for the one of the settings, larger numbers for those that solve if it fails.
fn after_parts(
    all: &Ingredients,
    memory: &Arc<SolveMemory>,
    algorithm: usize,
) -> Result<Arc<dyn Inverter>> {
    let mut chain = Links::new(all, memory, algorithm)?.equation()?;
    if let Some(weights) = &all.weights {
        chain = Arc::new(Weighted { next: Scaled(chain), weights: weights.clone() });
    }
    let factor = all.factor();
    if factor != 1.0 {
        chain = Arc::new(Normalised { next: chain, factor });
    }
    Ok(Bounded::before(Arc::new(Scaled(chain)), &*all.op))
}

/// Number of algorithms that take over from each other when one makes no progress.
fn algorithms(all: &Ingredients) -> usize {
    1 + usize::from(all.multigrid.is_some())
}

/// Data shared by the links of a chain, for an equation in kappa normalisation.
struct Links<'a> {
    all: &'a Ingredients,
    memory: &'a Arc<SolveMemory>,
    algorithm: usize,
    /// The Schur complements for the equation and for its adjoint; with weights they are different operators.
    complements: Option<[Arc<Complement>; 2]>,
}

impl<'a> Links<'a> {
    fn new(all: &'a Ingredients, memory: &'a Arc<SolveMemory>, algorithm: usize) -> Result<Self> {
        let owner = all.params.inverse_owner(all.op.storage().0);
        let complement =
            |dagger, form| Complement::new(all.solved(&all.op, dagger), form, owner).map(Arc::new);
        let complements = match all.params.even_odd {
            None => None,
            Some(form) => {
                let one = complement(false, form)?;
                let other = match all.weights {
                    Some(_) => complement(true, form)?,
                    None => one.clone(),
                };
                Some([one, other])
            }
        };
        Ok(Links { all, memory, algorithm, complements })
    }

    /// Makes the chain for the equation of the settings.
    fn equation(&self) -> Result<Arc<dyn Inverter>> {
        let solution = self.all.params.solution;
        let chain = if self.all.two_steps() {
            self.two_steps(solution.adjoint_first())?
        } else if solution.normal() {
            self.normal()?
        } else {
            self.one(matches!(solution, Solution::MatDag | Solution::MatPcDag))?
        };
        let complement = self.complements.as_ref().filter(|_| solution.preconditioned());
        Ok(match complement {
            None => chain,
            Some([complement, _]) => self.schur(chain, complement, false, false),
        })
    }

    fn schur(
        &self,
        next: Arc<dyn Inverter>,
        complement: &Arc<Complement>,
        whole: bool,
        dagger: bool,
    ) -> Arc<dyn Inverter> {
        let (complement, memory) = (complement.clone(), self.memory.clone());
        Arc::new(Schur { next, complement, whole, dagger, memory })
    }

    fn complement(&self, dagger: bool) -> Option<&Arc<Complement>> {
        self.complements.as_ref().map(|both| &both[usize::from(dagger)])
    }

    /// The operator for which the Krylov space is built: on the whole lattice, or its Schur complement; for `dagger`
    /// that of the adjoint equation.
    fn iterated(&self, dagger: bool) -> Arc<dyn LinOp> {
        match self.complement(dagger) {
            Some(complement) => complement.schur.clone(),
            None => self.all.solved(&self.all.op, dagger),
        }
    }

    /// The operator of the equation; for `dagger` that of the adjoint equation.
    fn operator(&self, dagger: bool) -> Arc<dyn LinOp> {
        let op = match self.all.params.solution.preconditioned() {
            true => self.iterated(dagger),
            false => self.all.solved(&self.all.op, dagger),
        };
        adjoint_if(op, dagger)
    }

    /// The operator of the iteration in lower precision, `None` if there is none; it owns its inverse clover term.
    fn low(&self, dagger: bool) -> Result<Option<Arc<dyn LinOp>>> {
        let Some(low) = &self.all.low else { return Ok(None) };
        let op = self.all.solved(low, dagger);
        Ok(Some(match self.all.params.even_odd {
            Some(form) => Complement::new(op, form, InverseOwner::Complement)?.schur,
            None => {
                op.make_clover()?;
                op
            }
        }))
    }

    fn to_tolerance(&self, next: Arc<dyn Inverter>, op: Arc<dyn LinOp>) -> Arc<dyn Inverter> {
        Arc::new(ToTolerance { next, op, goals: self.all.params.solver.stop })
    }

    /// Makes the chain for M^dagger M x = b, or for M M^dagger x = b if `adjoint`, by one solve with M and one with
    /// M^dagger.
    fn two_steps(&self, adjoint: bool) -> Result<Arc<dyn Inverter>> {
        let (first, second) = (self.operator(!adjoint), self.operator(adjoint));
        let steps = TwoSteps {
            first: self.one(!adjoint)?,
            second: Scaled(self.one(adjoint)?),
            op: second.clone(),
        };
        Ok(self.to_tolerance(Arc::new(steps), Arc::new(Product::new(vec![first, second])?)))
    }

    /// Makes the chain for M x = b, or for M^dagger x = b if `dagger`.
    fn one(&self, dagger: bool) -> Result<Arc<dyn Inverter>> {
        let mut all = vec![self.iteration(dagger, self.all.multigrid.as_ref())?];
        if self.all.multigrid.is_some() {
            all.push(self.iteration(dagger, None)?);
        }
        let mut rest = all.drain(self.algorithm..);
        let mut chain = match (rest.next(), rest.next(), &self.all.multigrid) {
            (Some(first), Some(second), Some(multigrid)) => {
                Arc::new(Fallback { first, second, multigrid: multigrid.clone() }) as _
            }
            (Some(only), ..) => only,
            _ => bail!(Internal, "a solve without an algorithm"),
        };
        if let Some(complement) = self.complement(dagger) {
            if !self.all.params.solution.preconditioned() {
                chain = self.schur(chain, complement, true, dagger);
            }
        }
        Ok(self.to_tolerance(chain, self.operator(dagger)))
    }

    fn deflated(
        &self,
        next: Arc<dyn Inverter>,
        op: Arc<dyn LinOp>,
        spaces: SingularSpaces,
    ) -> Arc<dyn Inverter> {
        let Some(deflation) = self.all.deflation.clone() else { return next };
        let (action, form) = (self.all.op.clone(), self.all.params.even_odd);
        Arc::new(Deflated { next, deflation, op, spaces, action, form })
    }

    /// Makes the chain for M^dagger M x = b, or M M^dagger x = b, by CG.
    fn normal(&self) -> Result<Arc<dyn Inverter>> {
        let op = self.all.squared(self.iterated(false));
        let low = self.low(false)?.map(|low| self.all.squared(low));
        let krylov = Krylov {
            op: op.clone(),
            normal: Equations::Direct,
            system: System { sloppy: low, ..System::new(op.clone()) },
            params: SolverParams { kind: SolverKind::Cg, ..self.all.params.solver.clone() },
            copy: self.all.copy(),
            iterated: self.all.iterated(),
            multigrid: None,
            action: self.all.op.clone(),
        };
        let spaces = SingularSpaces::of_both(self.all.params.solution.adjoint_first());
        let chain = self.deflated(Arc::new(krylov), op.clone(), spaces);
        Ok(match self.all.params.solver.stop.site > 0.0 {
            true => self.to_tolerance(chain, op),
            false => chain,
        })
    }

    /// Makes the iteration with the equations and the algorithm asked for, preconditioned by multigrid; if the
    /// settings have multigrid but this iteration cannot use it, the algorithm is BiCGStab.
    fn iteration(
        &self,
        dagger: bool,
        multigrid: Option<&Arc<Multigrid>>,
    ) -> Result<Arc<dyn Inverter>> {
        let asked = &self.all.params;
        let base = self.iterated(dagger);
        let hermitian = base.hermitian();
        let (op, low) =
            (adjoint_if(base, dagger), self.low(dagger)?.map(|low| adjoint_if(low, dagger)));
        let kind = match (asked.solver.kind, asked.equations) {
            (SolverKind::Cg, Equations::Direct) if hermitian => SolverKind::Cg,
            (SolverKind::Cg, Equations::NormalError) => SolverKind::Cgne,
            (SolverKind::Cg, _) => SolverKind::Cgnr,
            (_, _) if self.all.multigrid.is_some() && multigrid.is_none() => SolverKind::BiCgStab,
            (kind, _) => kind,
        };
        let cg = matches!(kind, SolverKind::Cgne | SolverKind::Cgnr);
        let normal = if cg { Equations::Direct } else { asked.equations };
        let squared = |op: Arc<dyn LinOp>| -> Arc<dyn LinOp> {
            match normal {
                Equations::Direct => op,
                Equations::NormalResidual => Arc::new(Normal::mdag_m(op)),
                Equations::NormalError => Arc::new(Normal::m_mdag(op)),
            }
        };
        let mut system = System { sloppy: low.map(squared), ..System::new(squared(op.clone())) };
        let inner = system.sloppy.as_ref().unwrap_or(&system.precise).clone();
        let mut params = SolverParams { kind, ..asked.solver.clone() };
        if asked.precondition_steps > 0 {
            let (steps, omega) = (asked.precondition_steps, asked.solver.omega);
            system.preconditioner = Some(Arc::new(MinimalResidual::new(inner, steps, omega)));
        } else if let (Some(multigrid), Some(form)) = (multigrid, asked.even_odd) {
            if self.all.low.as_ref().is_some_and(|op| op.storage().0 != Precision::F16) {
                params.delta = params.delta_up_to(multigrid_delta(asked.solver.stop.residual));
            }
            system.preconditioner =
                Some(adjoint_if(multigrid.inverse(form, inner.shape()), dagger));
            system.patience = MULTIGRID_PATIENCE;
        }
        let krylov = Krylov {
            op: op.clone(),
            normal,
            system,
            params,
            copy: self.all.copy(),
            iterated: self.all.iterated(),
            multigrid: multigrid.cloned(),
            action: self.all.op.clone(),
        };
        Ok(self.deflated(Arc::new(krylov), op, SingularSpaces::of_one(dagger)))
    }
}

fn adjoint_if(op: Arc<dyn LinOp>, dagger: bool) -> Arc<dyn LinOp> {
    match dagger {
        true => Arc::new(Adjoint(op)),
        false => op,
    }
}
