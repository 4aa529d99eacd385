//! Parameters of the overlap operator and its solves, and the solver that they choose.

use std::sync::Arc;

use super::link_smearing::{Smearing, SmearingKind};
use crate::bail;
use crate::compose::multigrid::{Multigrid, MultigridParams};
use crate::compose::{
    seconds_of, Method, ModeParams, Overlap, OverlapAlgorithm, OverlapModes, OverlapPreconditioner,
    OverlapSolveParams, OverlapSolver, SignParams,
};
use crate::error::{Result, Status};
use crate::fields::{Group, Precision, Recon};
use crate::operators::{Boundary, DiracParams};
use crate::params::parameters;
use crate::refuse;
use crate::solvers::{EigenMethod, VectorMemory};

const MAX_MODES: i64 = 10_000;
/// Iterations of the Wilson operator's inverse where the library chooses it.
const MAX_WILSON: usize = 100;

parameters! {
    /// D_N(m) = (1 - m / (2 rho)) rho (1 + gamma5 sign(Q)) + m with rho = 1 + s.
    pub struct OverlapSettings: plaq_overlap_params {
        /// Shift s of the kernel gamma5 (D_W - (1 + s)).
        s: f64 = 0.4, between(-1.0, 1.0);
        /// Quark mass m, 0 to below 2 rho.
        mass: f64 = 0.0;
        /// Largest error of the sign function on the spectrum that is not projected. Less than 3e-7 in single
        /// precision and 1e-3 in 16 bit is taken as that; the report has the delta in use.
        delta: f64 = 1e-8, below(1e-14, 1.0);
        /// Approximation of the sign function. In 16 bit it is always the polynomial, as the report says.
        sign: Method = Method::Polynomial;
        /// Low modes of the kernel to project, at least; automatic (-1): found from the spectrum.
        modes: Option<usize> = None, within(0, MAX_MODES);
        /// Largest number of modes that are found from the spectrum.
        most_modes: usize = 48, within(1, MAX_MODES);
        /// How modes of the kernel are found.
        method: EigenMethod = EigenMethod::Lanczos, old("finder");
        /// Residual of the modes of Q^2 over its largest eigenvalue, from 1e-16; 0: 1e-13. Modes are found in
        /// double precision, whatever that of the operator.
        modes_tol: f64 = 0.0;
        /// Highest degree of a polynomial.
        max_degree: usize = 5000, within(1, 20_000);
        /// Zolotarev's function runs the Krylov space twice and takes no memory for poles.
        two_passes: bool = false;
        /// Least modulus of eigenvalues of Q that are not projected; 0, with `high`: as found.
        low: f64 = 0.0;
        /// Largest modulus of eigenvalues of Q; 0, with `low`: as found.
        high: f64 = 0.0;
        /// Sheikholeslami-Wohlert coefficient of the kernel.
        csw: f64 = 0.0;
        /// Boundary phases in units of pi, or a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
        boundary: Boundary = Boundary::ANTIPERIODIC;
        /// Precision of the operator and, single at least, of the modes that it keeps; automatic (0): that of the gauge
        /// field.
        precision: Option<Precision> = None;
        /// Storage of its links; automatic (0): two rows.
        storage: Option<Recon> = None;
        /// Seed of random start vectors.
        seed: u64 = 1;
        /// Steps of smearing of the links that the kernel takes; the links of `gauge` stay as they are.
        smearing_steps: usize = 0, within(0, 100_000);
        /// Kind of that smearing.
        smearing: SmearingKind = SmearingKind::Stout;
        /// Parameters of the kind, as of plaq_gauge_smear; the first must be set where there are steps.
        smearing_alpha: [f64; 3] = [f64::NAN, 0.6, 0.3];
        /// Most seconds that a search for modes may take, here and in each plaq_overlap_index; 0: as many
        /// as it needs. Then it fails with KERNEL_SPECTRUM, on all ranks.
        max_seconds: f64 = 0.0;
        /// Modes at the upper end of the kernel's spectrum that plaq_overlap_high_values reports.
        high_modes: usize = 1, within(1, MAX_MODES);
        /// Restarts of a search for low modes of the kernel, or of Ritz' diagonalisations.
        max_restarts: usize = 300, within(1, 1_000_000);
        /// Where Lanczos keeps vectors of the kernel, and where its modes are kept.
        vectors: VectorMemory = VectorMemory::Auto;
        /// Vectors of the kernel that Lanczos multiplies at a time.
        block: usize = 1, within(1, 10_000);
    }
}

impl OverlapSettings {
    /// The kernel's physics, but for its mass.
    pub fn physics(&self) -> DiracParams {
        let boundary = self.boundary.phases();
        DiracParams { csw: self.csw, csw_t: self.csw, boundary, ..Default::default() }
    }

    /// Smearing of the kernel's links.
    pub fn smearing(&self) -> Smearing {
        self.smearing.with(self.smearing_alpha, 15)
    }

    /// How the sign function is approximated: refused before modes are sought.
    pub fn sign(&self) -> Result<SignParams> {
        let sign = SignParams {
            delta: self.delta,
            method: self.sign,
            max_degree: self.max_degree,
            interval: (self.low != 0.0 || self.high != 0.0).then_some([self.low, self.high]),
            two_passes: self.two_passes,
            ..Default::default()
        };
        sign.check()?;
        Ok(sign)
    }

    /// The search for modes of the kernel.
    pub fn modes(&self) -> ModeParams {
        ModeParams {
            count: self.modes,
            max_count: self.most_modes,
            high: self.high_modes,
            max_restarts: self.max_restarts,
            tol: self.modes_tol,
            method: self.method,
            seed: self.seed,
            vectors: self.vectors,
            block: self.block,
            max_seconds: seconds_of(self.max_seconds),
        }
    }
}

parameters! {
    /// Parameters of solves of D x = b.
    pub struct OverlapSolving: plaq_overlap_solve_params {
        /// Algorithm.
        solver: OverlapAlgorithm = OverlapAlgorithm::Auto, old("algorithm");
        /// Largest number of iterations.
        max_iterations: usize = 2000, within(1, i32::MAX as i64);
        /// Largest |b - D x| / |b|, not far below the operator's error bound.
        tol: f64 = 1e-7;
        /// Precision of the iteration; automatic (0): that of the operator.
        sloppy_precision: Option<Precision> = None;
        /// Storage of the iteration's links; automatic (0): that of the operator.
        sloppy_storage: Option<Recon> = None;
        /// The sign function is coarser while the residual is large.
        relax: bool = true;
        /// Low modes that plaq_overlap_index found are taken out of the start.
        deflate: bool = true;
        /// Directions that GCR keeps.
        nkrylov: usize = 20, within(1, i32::MAX as i64);
        /// Iterations of the Wilson operator's inverse as preconditioner of GCR; 0: none, or 100 where the library
        /// chooses GCR.
        wilson_iterations: usize = 0, within(0, i32::MAX as i64);
        /// Mass of that Wilson operator, which must be above the critical one; automatic (NaN): found once for the links,
        /// the low edge of its spectrum at twice the (least) quark mass.
        wilson_mass: Option<f64> = None;
        /// Tolerance of that inverse.
        wilson_tol: f64 = 0.1;
        /// plaq_overlap_propagators takes the contact term out.
        subtract: bool = true;
        /// The Wilson operator's inverse is by multigrid, of plaq_overlap_set_multigrid or else one with the defaults, which the operator
        /// keeps for other solves with the same wilson_mass; 0: by BiCGStab; automatic (-1): by what is expected to
        /// take less time, from the mass, the tolerance, the number of right-hand sides and masses, and whether there
        /// is a multigrid already.
        multigrid: Option<bool> = None;
        /// Most seconds that a call may take; 0: as many as it needs. They are asked for after every iteration; all ranks
        /// stop after the same one. What a call prepares, a multigrid or the mass of the Wilson operator, is not
        /// counted.
        max_seconds: f64 = 0.0;
    }
}

/// Data that solves of an operator share: the low edge of the Wilson operator's spectrum, and a multigrid with the mass
/// of its operator; the mass is None for the host's multigrid.
#[derive(Clone, Default)]
pub struct OverlapKept {
    pub edge: Option<f64>,
    pub multigrid: Option<(Option<f64>, Arc<Multigrid>)>,
}

impl OverlapKept {
    fn edge(&mut self, op: &Overlap) -> Result<f64> {
        let edge = match self.edge {
            Some(edge) => edge,
            None => op.wilson_edge()?,
        };
        self.edge = Some(edge);
        Ok(edge)
    }
}

impl OverlapSolving {
    /// A solver for these quark masses and `nrhs` right-hand sides of each, by what was asked for or is expected to take the
    /// least time; `modes` are taken out of the start.
    ///
    /// # Errors
    /// `BadParameter`; `Unsupported`: a storage of SU(2) links, multigrid without the Wilson preconditioner;
    /// `OutOfMemory`.
    pub fn solver(
        &self,
        op: &Arc<Overlap>,
        modes: Option<Arc<OverlapModes>>,
        masses: &[f64],
        nrhs: usize,
        kept: &mut OverlapKept,
    ) -> Result<OverlapSolver> {
        let links = op.sign().kernel().op().gauge();
        let sloppy = (
            self.sloppy_precision.unwrap_or(links.precision()),
            self.sloppy_storage.unwrap_or(links.recon()),
        );
        if sloppy.1.group() != Group::Su3 {
            refuse!(Unsupported, "params.sloppy_storage", expected("a storage of SU(3) links"));
        }
        let (mut algorithm, mut iterations) = (self.solver, self.wilson_iterations);
        let mut multigrid = self.multigrid;
        if algorithm == OverlapAlgorithm::Auto {
            if op.preconditioner_wins(modes.as_deref(), masses) {
                algorithm = OverlapAlgorithm::Gcr;
                iterations = if iterations == 0 { MAX_WILSON } else { iterations };
            } else {
                (iterations, multigrid) = (0, Some(false));
            }
        }
        if multigrid == Some(true) && iterations == 0 {
            bail!(
                Unsupported,
                "params.multigrid: it belongs to the Wilson preconditioner, wilson_iterations is 0"
            );
        }
        let mass = match (iterations, self.wilson_mass) {
            (0, _) => f64::NAN,
            (_, Some(mass)) => mass,
            _ => {
                let least = masses.iter().fold(f64::INFINITY, |m, &v| m.min(v));
                op.with_mass(least)?.wilson_mass_of(kept.edge(op)?)
            }
        };
        let preconditioner = match iterations {
            0 => OverlapPreconditioner::None,
            max_iterations => {
                OverlapPreconditioner::Wilson { mass, tol: self.wilson_tol, max_iterations }
            }
        };
        let params = OverlapSolveParams {
            algorithm,
            tol: self.tol,
            max_iterations: self.max_iterations,
            sloppy: Some(sloppy),
            relax: self.relax,
            nkrylov: self.nkrylov,
            preconditioner,
            max_seconds: seconds_of(self.max_seconds),
        };
        let solver = OverlapSolver::new(op.clone(), modes, params)?;
        if iterations == 0 || multigrid == Some(false) {
            return Ok(solver);
        }
        let known = kept.multigrid.clone().filter(|(of, _)| of.is_none_or(|m| m == mass));
        if multigrid.is_none() {
            let (distance, solves) = (mass + kept.edge(op)?, nrhs * masses.len());
            if !op.multigrid_wins(distance, self.tol, solves, known.is_some()) {
                return Ok(solver);
            }
        }
        let hierarchy = match known {
            Some((_, hierarchy)) => hierarchy,
            None => {
                let wilson = op.wilson(mass)?;
                let defaults = MultigridParams::for_lattice(wilson.links().geometry());
                let made = match Multigrid::new(&*wilson, &defaults) {
                    // Chosen, not asked for: there is another way.
                    Err(e) if multigrid.is_none() && e.status == Status::OutOfMemory => {
                        return Ok(solver)
                    }
                    made => Arc::new(made?),
                };
                kept.multigrid = Some((Some(mass), made.clone()));
                made
            }
        };
        solver.with_multigrid(hierarchy)
    }
}
