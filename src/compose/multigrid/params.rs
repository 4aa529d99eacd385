use crate::backend::Device;
use crate::bail;
use crate::error::{within, words, Result};
use crate::fields::Precision;
use crate::operators::{LinkPrecision, TensorHop};
use crate::solvers::SolverKind;

/// Directions that GCR on a coarse level keeps.
pub(super) const KRYLOV: usize = 16;
/// Steps between two sums where nothing preconditions: more make a basis that single precision does
/// not hold. The first are fewer where a tolerance may be met early.
pub(super) const STEPS: usize = 12;
pub(super) const FIRST_STEPS: usize = 6;
/// Right-hand sides that are smoothed at a time on the finest level: more would not be faster, but their
/// directions take memory. Four complex numbers are a sector of 32 bytes where right-hand sides follow each other.
const SMOOTHED: usize = 4;
/// Right-hand sides from which on tensor cores smooth (kernels/tensor_hop.h): their links, in 18 numbers, and blocks
/// are larger, and of fewer would be read for too few.
pub(super) const COLUMNS_FROM: usize = 4;
/// Directions that GCR keeps where it makes null vectors.
pub(super) const SETUP_KRYLOV: usize = 10;

/// Right-hand sides of `n` that the finest level smooths at a time, in columns for tensor cores or without them.
pub(super) fn together(n: usize, columns: bool) -> usize {
    n.div_ceil(n.div_ceil(if columns { TensorHop::MOST } else { SMOOTHED }))
}

/// Low modes of the coarsest level, and unknowns of one that is solved directly: the inverse is found on the
/// host, in some seconds.
const MOST_MODES: usize = 256;
pub(super) const DIRECT_MOST: u64 = 1024;
/// Unit vectors that its operator is applied to at a time.
pub(super) const UNITS: usize = 16;

const MOST_VECTORS: usize = 256;
/// Most steps of a smoother, iterations of a solve or of the set-up, and refinements: where so many do
/// not help, more do not, and a call would not end.
const MOST_STEPS: usize = 10_000;
const MOST_ITERATIONS: usize = 100_000;
pub(super) const MOST_REFINEMENTS: usize = 10_000;

/// How a level solves with the next coarser one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cycle {
    /// One correction.
    V,
    /// Two corrections, by GCR.
    W,
    /// GCR to a tolerance, preconditioned by the cycle of the level below.
    K,
}

words!(Cycle {
    V => "PLAQ_CYCLE_V",
    W => "PLAQ_CYCLE_W",
    K => "PLAQ_CYCLE_K",
});

/// What smooths a level.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Smoother {
    /// Minimal residual, on the finest level with relaxation.
    Mr,
    /// Generalised conjugate residual, with sums in every step.
    Gcr,
    /// The same minimum over the same space with one sum in up to `STEPS` steps (kernels/krylov.h).
    CaGcr,
    /// x += omega r: without a sum.
    Richardson,
    /// Schwarz: corrections of all domains at once, each by minimal residual with sums of its own; the
    /// residual is then made least along their sum, so that it never grows.
    SchwarzAdditive,
    /// The same of domains of one colour of a chequerboard, then of the other one.
    SchwarzMultiplicative,
}

words!(Smoother {
    Mr => "PLAQ_SMOOTHER_MR",
    Gcr => "PLAQ_SMOOTHER_GCR",
    CaGcr => "PLAQ_SMOOTHER_CA_GCR",
    Richardson => "PLAQ_SMOOTHER_RICHARDSON",
    SchwarzAdditive => "PLAQ_SMOOTHER_SCHWARZ_ADDITIVE",
    SchwarzMultiplicative => "PLAQ_SMOOTHER_SCHWARZ_MULTIPLICATIVE",
});

impl Smoother {
    pub(super) fn has_domains(self) -> bool {
        matches!(self, Smoother::SchwarzAdditive | Smoother::SchwarzMultiplicative)
    }
}

/// What solves the coarsest level.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coarsest {
    /// As [`Smoother::Gcr`], restarted after `KRYLOV` directions.
    Gcr,
    /// As [`Smoother::CaGcr`].
    CaGcr,
    /// Stabilised biconjugate gradient.
    BiCgStab,
    /// The inverse of the whole operator of the level, a dense matrix that every rank has its rows of.
    Direct,
}

words!(Coarsest {
    Gcr => "PLAQ_COARSEST_GCR",
    CaGcr => "PLAQ_COARSEST_CA_GCR",
    BiCgStab => "PLAQ_COARSEST_BICGSTAB",
    Direct => "PLAQ_COARSEST_DIRECT",
});

/// What makes null vectors of random ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetupSolver {
    BiCgStab,
    /// On the normal equations.
    Cg,
    /// With `SETUP_KRYLOV` directions.
    Gcr,
}

words!(SetupSolver {
    BiCgStab => "PLAQ_SETUP_BICGSTAB",
    Cg => "PLAQ_SETUP_CG",
    Gcr => "PLAQ_SETUP_GCR",
});

impl SetupSolver {
    pub(super) fn kind(self) -> SolverKind {
        match self {
            SetupSolver::BiCgStab => SolverKind::BiCgStab,
            SetupSolver::Cg => SolverKind::Cgnr,
            SetupSolver::Gcr => SolverKind::Gcr,
        }
    }
}

/// Names of choices in inputs.
macro_rules! named {
    ($type:ty, $what:literal, $($name:literal => $value:expr),+) => {
        impl std::str::FromStr for $type {
            type Err = crate::error::Error;
            fn from_str(name: &str) -> Result<Self> {
                match name {
                    $($name => Ok($value),)+
                    _ => bail!(
                        InvalidArgument,
                        concat!("multigrid: ", $what, ": expected one of {}, found {}"),
                        [$($name),+].join(", "),
                        name
                    ),
                }
            }
        }
    };
}

named!(Cycle, "cycle", "v" => Cycle::V, "w" => Cycle::W, "k" => Cycle::K);
named!(
    Smoother, "smoother",
    "mr" => Smoother::Mr,
    "gcr" => Smoother::Gcr,
    "ca-gcr" => Smoother::CaGcr,
    "richardson" => Smoother::Richardson,
    "schwarz" => Smoother::SchwarzAdditive,
    "red-black" => Smoother::SchwarzMultiplicative
);
named!(
    Coarsest, "coarsest",
    "gcr" => Coarsest::Gcr,
    "ca-gcr" => Coarsest::CaGcr,
    "bicgstab" => Coarsest::BiCgStab,
    "direct" => Coarsest::Direct
);

named!(
    SetupSolver, "setup_solver",
    "bicgstab" => SetupSolver::BiCgStab,
    "cg" => SetupSolver::Cg,
    "gcr" => SetupSolver::Gcr
);

named!(
    LinkPrecision, "link_precision",
    "double" => LinkPrecision::Double,
    "single" => LinkPrecision::Single,
    "half" => LinkPrecision::Half,
    "quarter" => LinkPrecision::Quarter
);

/// A level and its step to the next coarser one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelParams {
    /// Sites of an aggregate; they divide the part of a rank.
    pub block: [usize; 4],
    /// Null vectors of a chirality.
    pub vectors: usize,
    /// Steps of the smoother before and after the correction.
    pub pre: usize,
    pub post: usize,
}

/// What a hierarchy is made from; the defaults need no tuning.
#[derive(Clone, Debug, PartialEq)]
pub struct MultigridParams {
    /// All levels but the coarsest, from the finest on.
    pub levels: Vec<LevelParams>,
    /// Of the second level.
    pub cycle: Cycle,
    /// Of levels from the third on but the coarsest, where it is another one.
    pub deep_cycle: Option<Cycle>,
    /// Of the finest level, and of the others but the coarsest.
    pub smoother: Smoother,
    pub coarse_smoother: Smoother,
    /// Relaxation of MR and Richardson.
    pub omega: f64,
    /// Sites of a domain of Schwarz on the finest level, which divide the part of a rank; 0: up to 4. Those of
    /// coarse levels have up to 2 sites in a direction.
    pub domain: [usize; 4],
    /// Steps of minimal residual in a domain.
    pub domain_steps: usize,
    /// What solves the coarsest level, and low modes of it that are solved for exactly before.
    pub coarsest: Coarsest,
    pub coarsest_modes: usize,
    /// Of the finest level's smoother; `None`: half on GPUs with `CaGcr` where the rest is single, else single.
    pub smoother_precision: Option<Precision>,
    /// Of coarse operators and null vectors.
    pub precision: Precision,
    /// Of the links of coarse operators: `precision` or, where that is single, half or quarter; `None`: quarter
    /// on GPUs, else half, where it can be.
    pub link_precision: Option<LinkPrecision>,
    /// Relative residual and iterations of solves on coarse levels that are not the coarsest, and on that.
    pub tol: f64,
    pub iterations: usize,
    pub coarsest_tol: f64,
    pub coarsest_iterations: usize,
    /// Iterations from random starts that make the first null vectors, and of which solver.
    pub setup_iterations: usize,
    pub setup_solver: SetupSolver,
    /// Null vectors that are iterated at a time, here and in refinements.
    pub setup_columns: usize,
    /// Times that the cycle is applied to all null vectors, and the hierarchy built anew.
    pub refinements: usize,
    /// Of the random starts.
    pub seed: u64,
    /// Coarse levels are gathered on fewer ranks where aggregates do not divide a rank's part, or it would
    /// have fewer sites than this in a direction; `None`: all levels stay on all ranks.
    pub gather: Option<usize>,
}

/// How far, and what is wanted in the end.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// |r| over |r| at the start at which a right-hand side stops, r is then zero; without one the host waits for
    /// nothing.
    pub goal: Option<f64>,
    pub most: usize,
    /// |r|^2 that the goal is of, where it is not that of r.
    pub start: Vec<f64>,
    /// x is added to, not written.
    pub keep: bool,
    /// r is to be the residual in the end.
    pub residual: bool,
    /// Steps between two sums.
    pub at_once: usize,
    /// r has no part in the low modes' images, and directions get none: then `keep` is set.
    pub deflated: bool,
}

impl Steps {
    pub fn to((goal, most): (Option<f64>, usize)) -> Self {
        Steps {
            goal,
            most,
            start: vec![],
            keep: false,
            residual: false,
            at_once: STEPS,
            deflated: false,
        }
    }
    pub fn smoothing(most: usize, keep: bool, residual: bool) -> Self {
        Steps { keep, residual, ..Self::to((None, most)) }
    }
}

impl MultigridParams {
    /// Defaults with these levels.
    pub fn with_levels(levels: Vec<LevelParams>) -> Self {
        MultigridParams {
            levels,
            cycle: Cycle::K,
            deep_cycle: None,
            smoother: Smoother::CaGcr,
            coarse_smoother: Smoother::CaGcr,
            omega: 0.85,
            domain: [0; 4],
            domain_steps: 4,
            coarsest: Coarsest::CaGcr,
            coarsest_modes: 0,
            smoother_precision: None,
            precision: Precision::F32,
            link_precision: None,
            tol: 0.25,
            iterations: 8,
            coarsest_tol: 0.25,
            coarsest_iterations: 64,
            setup_iterations: 20,
            setup_solver: SetupSolver::BiCgStab,
            setup_columns: 8,
            refinements: 3,
            seed: 1,
            gather: Some(2),
        }
    }

    /// How coarse operators keep their links.
    pub(super) fn links(&self) -> LinkPrecision {
        let own = match self.precision {
            Precision::F32 => LinkPrecision::Half,
            other => LinkPrecision::of(other),
        };
        self.link_precision.unwrap_or(own)
    }

    pub(super) fn smoother_precision(&self) -> Precision {
        self.smoother_precision.unwrap_or(Precision::F32)
    }

    /// With what they leave to the device: memory limits the smoother on a GPU, arithmetic on a CPU.
    pub(super) fn on(&self, device: &Device) -> Self {
        let short = !device.is_cpu()
            && self.smoother == Smoother::CaGcr
            && self.precision == Precision::F32;
        let own = if short { Precision::F16 } else { Precision::F32 };
        let smoother_precision = self.smoother_precision.or(Some(own));
        // Half of the traffic of a coarse level with few right-hand sides.
        let quarter = !device.is_cpu() && self.precision == Precision::F32;
        let link_precision = self.link_precision.or(quarter.then_some(LinkPrecision::Quarter));
        MultigridParams { smoother_precision, link_precision, ..self.clone() }
    }

    /// Are the finest level's Krylov spaces kept in 16 bits? What is added to them is in single precision.
    pub(super) fn short_powers(&self) -> bool {
        self.smoother == Smoother::CaGcr && self.smoother_precision() == Precision::F16
    }

    /// How a level from the second on is solved.
    pub fn cycle_of(&self, level: usize) -> Cycle {
        self.deep_cycle.filter(|_| level > 1).unwrap_or(self.cycle)
    }

    pub fn check(&self) -> Result<()> {
        if self.levels.is_empty() || self.levels.len() > 7 {
            bail!(
                BadParameter,
                "levels: expected 2 to 8 with the coarsest, found {}",
                self.levels.len() + 1
            );
        }
        for (i, level) in self.levels.iter().enumerate() {
            if level.vectors == 0 || level.vectors > MOST_VECTORS {
                bail!(
                    BadParameter,
                    "vectors[{i}]: expected 1 to {MOST_VECTORS}, found {}",
                    level.vectors
                );
            }
            within(&format!("level {i}: pre"), level.pre, 0, MOST_STEPS)?;
            within(&format!("level {i}: post"), level.post, 0, MOST_STEPS)?;
            if level.pre + level.post == 0 {
                bail!(
                    BadParameter,
                    "level {i}: pre, post: expected a step before or after, found none"
                );
            }
        }
        if !(self.omega > 0.0 && self.omega < 2.0) {
            bail!(BadParameter, "omega: expected a number between 0 and 2, found {}", self.omega);
        }
        let plain = matches!(self.smoother, Smoother::Mr | Smoother::CaGcr | Smoother::Richardson);
        if self.smoother_precision() == Precision::F16 && !plain {
            bail!(
                Unsupported,
                "smoother: {} works in single or double precision, smoother_precision is half",
                self.smoother
            );
        }
        within("domain_steps", self.domain_steps, 1, MOST_STEPS)?;
        within("coarsest_modes", self.coarsest_modes, 0, MOST_MODES)?;
        if self.coarsest == Coarsest::Direct && self.coarsest_modes > 0 {
            bail!(
                BadParameter,
                "coarsest_modes: expected 0 where the coarsest level is solved directly, found {}",
                self.coarsest_modes
            );
        }
        if self.precision == Precision::F16 {
            bail!(Unsupported, "coarse levels are stored in single or double precision");
        }
        if let Some(links) = self.link_precision {
            let short = links.scaled() && self.precision == Precision::F32;
            if links != LinkPrecision::of(self.precision) && !short {
                bail!(
                    Unsupported,
                    "link_precision: expected that of coarse operators, {}, or half or quarter where it is single, \
                     found {}",
                    self.precision,
                    links
                );
            }
        }
        for (name, tol) in [("tol", self.tol), ("coarsest_tol", self.coarsest_tol)] {
            if !(tol > 0.0 && tol < 1.0) {
                bail!(BadParameter, "{name}: expected a number between 0 and 1, found {tol}");
            }
        }
        within("iterations", self.iterations, 1, MOST_ITERATIONS)?;
        within("coarsest_iterations", self.coarsest_iterations, 1, MOST_ITERATIONS)?;
        within("setup_iterations", self.setup_iterations, 1, MOST_ITERATIONS)?;
        within("setup_columns", self.setup_columns, 1, MOST_VECTORS)?;
        within("refinements", self.refinements, 0, MOST_REFINEMENTS)
    }
}
