use crate::backend::Device;
use crate::bail;
use crate::error::Result;
use crate::fields::Precision;
use crate::operators::{LinkPrecision, TensorHop};
use crate::params::{choices, parameters, Parameters};
use crate::refuse;
use crate::solvers::{SolverKind, VectorMemory};

/// Number of directions that GCR on a coarse level keeps.
pub(super) const KRYLOV: usize = 16;
/// Number of steps of a smoother or solver between two global sums, without a preconditioner. A basis of more steps
/// would be nearly dependent in single precision. The first blocks have `FIRST_STEPS` steps where a tolerance may be
/// met early.
pub(super) const STEPS: usize = 12;
pub(super) const FIRST_STEPS: usize = 6;
/// Largest number of right-hand sides that are smoothed together on the finest level. More would
/// not be faster, and their directions take memory; four complex numbers of single precision fill a
/// sector of 32 bytes.
const SMOOTHED: usize = 4;
/// Number of right-hand sides from which the finest level is smoothed on tensor cores (kernels/tensor_hop.h). With
/// fewer they would be slower, as they read links of 18 numbers and blocks of the clover term.
pub(super) const COLUMNS_FROM: usize = 4;
/// The numbers of null vectors that a set-up iterates together, tried in this order until memory
/// suffices.
const SETUP_COLUMNS: [usize; 4] = [8, 4, 2, 1];
/// Number of directions that GCR keeps where it makes null vectors.
pub(super) const SETUP_KRYLOV: usize = 10;

/// The number of right-hand sides, at most `n`, that the finest level smooths together; `columns` says whether it does
/// so on tensor cores.
pub(super) fn smoothing_columns(n: usize, columns: bool) -> usize {
    n.div_ceil(n.div_ceil(if columns { TensorHop::MAX_COLUMNS } else { SMOOTHED }))
}

/// Largest number of low modes of the coarsest level.
pub const MAX_MODES: usize = 256;
/// Largest number of unknowns of a level that is solved directly; the host finds its inverse in some seconds.
pub(super) const MAX_DIRECT_UNKNOWNS: u64 = 1024;
/// Number of unit vectors to which the coarsest operator is applied at a time, to find its matrix.
pub(super) const UNITS: usize = 16;

const MAX_VECTORS: i64 = 256;
/// Largest number of steps of a smoother, of iterations of a solve or of the set-up, and of refinements: a call with
/// more might not end.
const MAX_STEPS: i64 = 10_000;
const MAX_ITERATIONS: i64 = 100_000;
pub(super) const MAX_REFINEMENTS: i64 = 10_000;

choices! {
    /// Cycles of multigrid: the ways in which a level solves with the next coarser one.
    pub enum Cycle: plaq_cycle {
        /// V cycle: one correction by the next coarser level.
        V = 0, PLAQ_CYCLE_V, "v";
        /// W cycle: two corrections by the next coarser level, combined by GCR.
        W = 1, PLAQ_CYCLE_W, "w";
        /// K cycle: GCR to a tolerance, preconditioned by the cycle of the level below.
        K = 2, PLAQ_CYCLE_K, "k";
    }
    /// Smoothers of a level of multigrid.
    pub enum Smoother: plaq_smoother {
        /// Minimal residual, on the finest level with relaxation `omega`.
        Mr = 0, PLAQ_SMOOTHER_MR, "mr";
        /// Generalised conjugate residual (GCR), with sums in every step.
        Gcr = 1, PLAQ_SMOOTHER_GCR, "gcr";
        /// The minimum of GCR over the same Krylov space, with one sum in up to twelve steps.
        CaGcr = 2, PLAQ_SMOOTHER_CA_GCR, "ca-gcr";
        /// x += omega r, without sums.
        Richardson = 3, PLAQ_SMOOTHER_RICHARDSON, "richardson";
        /// Additive Schwarz: corrections of all domains at once, each by steps of minimal residual with sums of
        /// its own; the residual is then minimised along their sum, so that it never grows.
        SchwarzAdditive = 4, PLAQ_SMOOTHER_SCHWARZ_ADDITIVE, "schwarz";
        /// Multiplicative Schwarz: the domains of one colour of a chequerboard, then those of the other one.
        SchwarzMultiplicative = 5, PLAQ_SMOOTHER_SCHWARZ_MULTIPLICATIVE, "red-black";
    }
    /// Solvers of the coarsest level of multigrid.
    pub enum Coarsest: plaq_coarsest {
        /// GCR, restarted after 16 directions.
        Gcr = 0, PLAQ_COARSEST_GCR, "gcr";
        /// Generalised conjugate residual with one global sum in up to twelve steps.
        CaGcr = 1, PLAQ_COARSEST_CA_GCR, "ca-gcr";
        /// Stabilised biconjugate gradient.
        BiCgStab = 2, PLAQ_COARSEST_BICGSTAB, "bicgstab";
        /// The inverse of the level's whole operator, a dense matrix of which every rank holds the
        /// rows of its sites. At most 1024 unknowns, which are 2 x `vectors` for every site that is
        /// solved for.
        Direct = 3, PLAQ_COARSEST_DIRECT, "direct";
    }
    /// Solvers that make null vectors of random ones.
    pub enum SetupSolver: plaq_setup_solver {
        /// Stabilised biconjugate gradient.
        BiCgStab = 0, PLAQ_SETUP_BICGSTAB, "bicgstab";
        /// CG on the normal equations.
        Cg = 1, PLAQ_SETUP_CG, "cg";
        /// Generalised conjugate residual with ten directions.
        Gcr = 2, PLAQ_SETUP_GCR, "gcr";
    }
}

impl Smoother {
    pub(super) fn has_domains(self) -> bool {
        matches!(self, Smoother::SchwarzAdditive | Smoother::SchwarzMultiplicative)
    }
}

impl SetupSolver {
    pub(super) fn kind(self) -> SolverKind {
        match self {
            SetupSolver::BiCgStab => SolverKind::BiCgStab,
            SetupSolver::Cg => SolverKind::Cgnr,
            SetupSolver::Gcr => SolverKind::Gcr,
        }
    }
}

/// Largest number of steps from a level to the next coarser one.
pub(super) const MAX_COARSENINGS: usize = 4;

parameters! {
    /// A level of multigrid and its step to the next coarser one.
    pub part LevelParams: plaq_multigrid_level_params {
        /// Extents x, y, z, t of aggregates in sites of this level; 0: chosen for the lattice.
        /// Aggregates of the finest level divide a rank's part of it; those of coarse levels divide
        /// the whole level, or a rank's part where levels are not gathered (`gather` = 0).
        block: [usize; 4] = [0; 4], within(0, i32::MAX as i64), each();
        /// Number of null vectors of each chirality.
        vectors: usize = 24, within(1, MAX_VECTORS);
        /// Number of smoothing steps before the correction by the next level.
        pre: usize = 0, within(0, MAX_STEPS);
        /// Number of smoothing steps after the correction.
        post: usize = 10, within(0, MAX_STEPS);
    }
}

parameters! {
    /// Parameters of a hierarchy of multigrid. The defaults need no tuning.
    pub struct MultigridParams: plaq_multigrid_params {
        /// Number of levels, the finest and the coarsest included; automatic (0): chosen for the
        /// lattice, but at least as many as have a `block`.
        levels: Option<usize> = None, within(2, 1 + MAX_COARSENINGS as i64);
        /// Cycle of the second level.
        cycle: Cycle = Cycle::K;
        /// Levels from the finest on, without the coarsest.
        level: [LevelParams; MAX_COARSENINGS] = std::array::from_fn(|_| LevelParams::default());
        /// Smoother of the finest level.
        smoother: Smoother = Smoother::CaGcr;
        /// Precision of the finest level's smoother, half with MR, CA-GCR and Richardson only; automatic (0): half on
        /// GPUs with CA-GCR where the coarse levels are in single precision, else single.
        smoother_precision: Option<Precision> = None;
        /// Precision of coarse operators and null vectors: double or single.
        coarse_precision: Precision = Precision::F32;
        /// Largest number of iterations of GCR on the levels between the finest and the coarsest.
        iterations: usize = 8, within(1, MAX_ITERATIONS);
        /// Largest number of iterations on the coarsest level.
        coarsest_iterations: usize = 64, within(1, MAX_ITERATIONS);
        /// Number of solver iterations at a set-up that turn a random vector into a null vector.
        setup_iterations: usize = 20, within(1, MAX_ITERATIONS);
        /// Number of times that the cycle is applied to the null vectors and the hierarchy is built
        /// again from them.
        refinements: usize = 3, within(0, MAX_REFINEMENTS);
        /// Least number of sites of a rank in each direction of a coarse level. A level that would
        /// have fewer, or that aggregates do not divide on a rank, is gathered on fewer ranks; 0:
        /// all levels stay on all ranks; automatic (-1): the number with which cycles are expected
        /// to be fastest (docs/multigrid.md).
        gather: Option<usize> = None, within(0, 65536);
        /// Relaxation parameter omega of the smoothers MR and Richardson.
        omega: f64 = 0.85, between(0.0, 2.0);
        /// Relative residual at which GCR stops on the levels between the finest and the coarsest.
        tol: f64 = 0.25, between(0.0, 1.0);
        /// Relative residual at which the coarsest level's solver stops.
        coarsest_tol: f64 = 0.25, between(0.0, 1.0);
        /// Seed of the random vectors from which null vectors are made.
        seed: u64 = 1;
        /// Smoother of the levels between the finest and the coarsest.
        coarse_smoother: Smoother = Smoother::CaGcr;
        /// Solver of the coarsest level.
        coarsest: Coarsest = Coarsest::CaGcr;
        /// Number of low modes of the coarsest level that a set-up finds and that are solved for
        /// exactly; 0 where the level is solved directly; automatic (-1): 96 on large lattices,
        /// none on small ones.
        coarsest_modes: Option<usize> = None, within(0, MAX_MODES as i64);
        /// Cycle of levels from the third on; -1: the same as `cycle`.
        deep_cycle: Option<Cycle> = None, absent("same");
        /// Extents x, y, z, t of the finest level's Schwarz domains, which divide a rank's part of
        /// the lattice; 0: the largest divisor up to 4. Domains of coarse levels have up to 2 sites
        /// in a direction.
        domain: [usize; 4] = [0; 4], within(0, i32::MAX as i64);
        /// Number of steps of minimal residual in a Schwarz domain.
        domain_steps: usize = 4, within(1, MAX_STEPS);
        /// Precision of the links of coarse operators: that of the operator or, if that is single,
        /// half or quarter with a scale for each matrix. Automatic (0): for operators in single
        /// precision half, on GPUs quarter if rounding does not change the eigenvalues of low
        /// modes; else that of the operator.
        link_precision: Option<LinkPrecision> = None;
        /// Number of null vectors that are iterated together at a set-up and in refinements.
        /// Automatic (0): 8 where the device's memory allows it, else 4, 2 or 1.
        setup_columns: usize = 0, within(0, MAX_VECTORS);
        /// Solver that makes null vectors from random ones.
        setup_solver: SetupSolver = SetupSolver::BiCgStab;
        /// Memory for the new null vectors that a refinement makes while the old ones are in use,
        /// and for those that are being shortened to 16 bits; automatic: the device, or the host
        /// where the device has too little memory for one vector at a time.
        setup_vectors: VectorMemory = VectorMemory::Auto;
        /// Factors of the twisted mass on the coarse levels, from the second level on: a larger mass makes the coarsest
        /// level easier to solve (Alexandrou et al., arXiv:1610.02370).
        twist_factors: [f64; MAX_COARSENINGS] = [1.0; MAX_COARSENINGS], within(0, 1_000_000);
    }
}

impl Copy for LevelParams {}

/// The number of steps of a smoother or solver, and what the caller wants it to leave in x and r.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// Relative |r| at which a right-hand side stops, its residual then set to zero; None: all
    /// steps are taken, and the host waits for no norms.
    pub goal: Option<f64>,
    pub max: usize,
    /// |r|^2 of every right-hand side to which the goal is relative; empty: |r|^2 at the start.
    pub start: Vec<f64>,
    /// True if the steps are added to x, false if x is overwritten.
    pub keep: bool,
    /// True if r must hold the residual after the last step.
    pub residual: bool,
    /// Number of steps between two sums.
    pub at_once: usize,
    /// True if r is orthogonal to the images of the low modes, and directions must be, too; `keep` is then set.
    pub deflated: bool,
}

impl Steps {
    pub fn to((goal, max): (Option<f64>, usize)) -> Self {
        Steps {
            goal,
            max,
            start: vec![],
            keep: false,
            residual: false,
            at_once: STEPS,
            deflated: false,
        }
    }
    pub fn smoothing(max: usize, keep: bool, residual: bool) -> Self {
        Steps { keep, residual, ..Self::to((None, max)) }
    }
}

impl MultigridParams {
    /// Default parameters with these levels, at most four, the coarsest not counted.
    pub fn with_levels(levels: Vec<LevelParams>) -> Self {
        let mut params = MultigridParams { levels: Some(levels.len() + 1), ..Default::default() };
        params.level.iter_mut().zip(levels).for_each(|(to, level)| *to = level);
        params
    }

    /// The levels that have a next coarser one, with their parameters.
    pub fn steps(&self) -> &[LevelParams] {
        &self.level[..self.levels.unwrap_or(1).saturating_sub(1).min(MAX_COARSENINGS)]
    }

    /// Twisted mass that the coarse operator made from level `l` (0: the finest) has in addition to
    /// that of level `l`, in units of the finest level's twisted mass.
    pub(super) fn added_twist(&self, l: usize) -> f64 {
        self.twist_factors[l] - if l == 0 { 1.0 } else { self.twist_factors[l - 1] }
    }

    /// Precisions allowed for the links of coarse operators, in order of preference: the first one
    /// is taken with which low modes keep their eigenvalues. Null vectors always take the first. On
    /// a GPU fewer bytes make coarse levels with few right-hand sides faster.
    pub(super) fn links(&self, device: &Device) -> Vec<LinkPrecision> {
        match (self.link_precision, self.coarse_precision) {
            (Some(asked), _) => vec![asked],
            (None, Precision::F32) if device.is_cpu() => vec![LinkPrecision::Half],
            (None, Precision::F32) => vec![LinkPrecision::Quarter, LinkPrecision::Half],
            (None, own) => vec![LinkPrecision::of(own)],
        }
    }

    pub(super) fn smoother_precision(&self) -> Precision {
        self.smoother_precision.unwrap_or(Precision::F32)
    }

    /// Whether levels may be gathered on fewer ranks.
    pub fn gathers(&self) -> bool {
        self.gather != Some(0)
    }

    /// Copies of these parameters with other `setup_columns` and `setup_vectors`: a set-up tries
    /// one after the other until memory suffices.
    pub(super) fn attempts(&self) -> impl Iterator<Item = Self> + '_ {
        let columns = match self.setup_columns {
            0 => SETUP_COLUMNS.to_vec(),
            n => vec![n],
        };
        let fewest = columns[columns.len() - 1];
        let tried: Vec<_> = match self.setup_vectors {
            VectorMemory::Auto => {
                let on_device = columns.into_iter().map(|n| (n, VectorMemory::Device));
                on_device.chain([(fewest, VectorMemory::Host)]).collect()
            }
            asked => columns.into_iter().map(|n| (n, asked)).collect(),
        };
        tried.into_iter().map(|(setup_columns, setup_vectors)| MultigridParams {
            setup_columns,
            setup_vectors,
            ..self.clone()
        })
    }

    /// Whether a refinement keeps its new null vectors in host memory.
    pub(super) fn vectors_wait(&self) -> bool {
        self.setup_vectors == VectorMemory::Host
    }

    /// Whether null vectors are iterated in groups large enough for tensor cores to be faster.
    pub(super) fn many_columns(&self) -> bool {
        self.setup_columns >= COLUMNS_FROM
    }

    /// Whether the finest level's Krylov vectors are kept in 16 bits; the solutions to which they
    /// are added are in single precision.
    pub(super) fn short_powers(&self) -> bool {
        self.smoother == Smoother::CaGcr && self.smoother_precision() == Precision::F16
    }

    /// The cycle of a coarse level, 1 for the second level.
    pub fn cycle_of(&self, level: usize) -> Cycle {
        self.deep_cycle.filter(|_| level > 1).unwrap_or(self.cycle)
    }

    pub fn check(&self) -> Result<()> {
        self.check_rows("")?;
        for (i, level) in self.steps().iter().enumerate() {
            if level.pre + level.post == 0 {
                refuse!(
                    BadParameter,
                    "level[{i}]: pre, post",
                    expected("a step before or after"),
                    found("none")
                );
            }
        }
        let plain = matches!(self.smoother, Smoother::Mr | Smoother::CaGcr | Smoother::Richardson);
        if self.smoother_precision() == Precision::F16 && !plain {
            bail!(
                Unsupported,
                "smoother: {} works in single or double precision, smoother_precision is half",
                self.smoother
            );
        }
        if let (Coarsest::Direct, Some(modes @ 1..)) = (self.coarsest, self.coarsest_modes) {
            refuse!(
                BadParameter,
                "coarsest_modes",
                expected("0 where the coarsest level is solved directly"),
                found("{modes}")
            );
        }
        if self.coarse_precision == Precision::F16 {
            bail!(Unsupported, "coarse levels are stored in single or double precision");
        }
        if let Some(links) = self.link_precision {
            let short = links.scaled() && self.coarse_precision == Precision::F32;
            if links != LinkPrecision::of(self.coarse_precision) && !short {
                refuse!(
                    Unsupported,
                    "link_precision",
                    expected(
                        "that of coarse operators, {}, or half or quarter where it is single",
                        self.coarse_precision
                    ),
                    found("{}", links)
                );
            }
        }
        Ok(())
    }
}
