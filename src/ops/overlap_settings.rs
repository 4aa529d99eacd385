//! Parameters of the overlap operator and of its solves.

use std::sync::Arc;

use super::link_smearing::{Smearing, SmearingKind};
use crate::bail;
use crate::compose::multigrid::{Multigrid, MultigridParams};
use crate::compose::{max_iterations_row, nkrylov_row, sloppy_storage_row};
use crate::compose::{
    seconds_of, Method, ModeParams, Overlap, OverlapAlgorithm, OverlapModes, OverlapPreconditioner,
    OverlapSolveParams, OverlapSolver, SignParams,
};
use crate::error::{Result, Status};
use crate::fields::{Group, Precision, Recon};
use crate::operators::{Boundary, DiracParams};
use crate::params::parameters;
use crate::refuse;
use crate::solvers::{search_seed_row, EigenMethod, VectorMemory};

const MAX_MODES: i64 = 10_000;
/// Largest number of iterations for the Wilson operator's inverse, if the library chooses that preconditioner.
const MAX_WILSON: usize = 100;

parameters! {
    /// Parameters of the overlap operator D_N(m) = (1 - m / (2 rho)) rho (1 + gamma5 sign(Q)) + m with rho = 1 + s.
    pub composed struct OverlapSettings: plaq_overlap_params {
        /// Shift s of the kernel gamma5 (D_W - (1 + s)).
        s: f64 = 0.4, between(-1.0, 1.0);
        /// Quark mass m, from 0 to below 2 rho.
        mass: f64 = 0.0;
        /// Largest error of the sign function on the spectrum that is not projected. In single precision 3e-7 and in
        /// 16 bits 1e-3 are used if it is smaller; the report has the value in use.
        delta: f64 = 1e-8, below(1e-14, 1.0);
        /// Approximation of the sign function. In 16 bits it is always the polynomial; the report says which.
        sign: Method = Method::Polynomial;
        /// Number of low modes of the kernel that are projected at least; automatic (-1): chosen by the spectrum.
        modes: Option<usize> = None, within(0, MAX_MODES);
        /// Largest number of low modes if their number is chosen by the spectrum.
        most_modes: usize = 48, within(1, MAX_MODES);
        /// Algorithm that finds modes of the kernel.
        method: EigenMethod = EigenMethod::Lanczos, old("finder");
        /// Largest residual of the eigenvectors of Q^2, relative to its largest eigenvalue, from 1e-16; 0: 1e-13.
        /// Modes are found in double precision, whatever the operator's precision.
        modes_tol: f64 = 0.0;
        /// Highest degree of a polynomial that is allowed.
        max_degree: usize = 5000, within(1, 20_000);
        /// True: Zolotarev's function runs the Krylov space twice, and needs no memory for the solutions of its
        /// poles.
        two_passes: bool = false;
        /// Least modulus of the eigenvalues of Q that are not projected; 0: measured, then `high` must be 0 as well.
        low: f64 = 0.0;
        /// Largest modulus of the eigenvalues of Q; 0: measured, then `low` must be 0 as well.
        high: f64 = 0.0;
        /// Sheikholeslami-Wohlert coefficient of the kernel.
        csw: f64 = 0.0;
        /// Boundary phases in units of pi, or a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
        boundary: Boundary = Boundary::ANTIPERIODIC;
        /// Precision of the operator, and of the modes that it keeps (single at least); automatic (0): that of the
        /// gauge field.
        precision: Option<Precision> = None;
        /// Storage of the operator's links; automatic (0): two rows.
        storage: Option<Recon> = None;
        with search_seed_row;
        /// Number of smearing steps for the links of the kernel; the links of `gauge` are not changed.
        smearing_steps: usize = 0, within(0, 100_000);
        /// Kind of smearing for the links of the kernel.
        smearing: SmearingKind = SmearingKind::Stout;
        /// Parameters of the link smearing, as `alpha` of plaq_gauge_smear_params; the first must be set if there are
        /// steps.
        smearing_alpha: [f64; 3] = [f64::NAN, 0.6, 0.3];
        /// Largest number of seconds for a search for modes, when the operator is made and in each
        /// plaq_overlap_index; 0: no limit. After that the call fails with KERNEL_SPECTRUM, on all ranks.
        max_seconds: f64 = 0.0;
        /// Number of modes at the upper end of the kernel's spectrum, which plaq_overlap_high_values reports.
        high_modes: usize = 1, within(1, MAX_MODES);
        /// Largest number of restarts of a search for low modes of the kernel; for the Ritz functional, of
        /// diagonalisations.
        max_restarts: usize = 300, within(1, 1_000_000);
        /// Memory in which Lanczos keeps vectors of the kernel, and in which the kernel's modes are kept.
        vectors: VectorMemory = VectorMemory::Auto;
        /// Number of vectors that Lanczos multiplies by the kernel together.
        block: usize = 1, within(1, 10_000);
    }
}

impl OverlapSettings {
    /// The kernel's parameters, apart from its mass.
    pub fn physics(&self) -> DiracParams {
        let boundary = self.boundary.phases();
        DiracParams { csw: self.csw, csw_t: self.csw, boundary, ..Default::default() }
    }

    /// The smearing of the kernel's links.
    pub fn smearing(&self) -> Smearing {
        self.smearing.with(self.smearing_alpha, 15)
    }

    /// Parameters of the approximation of the sign function; wrong ones are refused before modes are searched for.
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

    /// Parameters of the search for modes of the kernel.
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
    pub composed struct OverlapSolving: plaq_overlap_solve_params {
        /// Algorithm of the solve.
        solver: OverlapAlgorithm = OverlapAlgorithm::Auto, old("algorithm");
        with max_iterations_row(2000);
        /// Largest |b - D x| / |b|; it cannot be much smaller than the operator's error bound.
        tol: f64 = 1e-7;
        /// Precision of the iteration; automatic (0): that of the operator.
        sloppy_precision: Option<Precision> = None;
        with sloppy_storage_row;
        /// True: the sign function is computed less accurately while the residual is large.
        relax: bool = true;
        /// True: low modes that plaq_overlap_index found are projected out at the start.
        deflate: bool = true;
        with nkrylov_row(20);
        /// Largest number of iterations for the Wilson operator's inverse as preconditioner of GCR; 0: no
        /// preconditioner, but 100 if the library chooses GCR.
        wilson_iterations: usize = 0, within(0, i32::MAX as i64);
        /// Mass of the preconditioner's Wilson operator, which must be above the critical mass; automatic (NaN):
        /// determined once for the links so that the low edge of its spectrum is at twice the (smallest) quark mass.
        wilson_mass: Option<f64> = None;
        /// Relative residual of the Wilson operator's inverse as preconditioner.
        wilson_tol: f64 = 0.1;
        /// True: plaq_overlap_propagators and perambulators subtract the contact term.
        subtract: bool = true;
        /// 1: the preconditioner's Wilson operator is inverted by multigrid: the one of plaq_overlap_set_multigrid,
        /// or else one with default parameters, which the operator keeps for other solves with the same wilson_mass.
        /// 0: by BiCGStab. Automatic (-1): by the one that is expected to take less time, from the mass, the
        /// tolerance, the number of right-hand sides and masses, and whether there is a multigrid already.
        multigrid: Option<bool> = None;
        /// Largest number of seconds of a call; 0: no limit. The time is checked after every iteration; all ranks
        /// stop after the same one. Preparations of a call (setting up multigrid, finding the mass of the Wilson
        /// operator) are not counted.
        max_seconds: f64 = 0.0;
    }
}

/// Data that all solves of an operator share: the low edge of the Wilson operator's spectrum, and a multigrid with
/// the mass of its Wilson operator; that mass is None if the host gave the multigrid.
#[derive(Clone, Default)]
pub struct OverlapShared {
    pub edge: Option<f64>,
    pub multigrid: Option<(Option<f64>, Arc<Multigrid>)>,
}

impl OverlapShared {
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
    /// The seconds that a call may take; infinite: no limit.
    pub fn seconds(&self) -> f64 {
        seconds_of(self.max_seconds)
    }

    /// Makes a solver for these quark masses and `nrhs` right-hand sides for each mass, with the algorithm that was
    /// asked for or is expected to be fastest; `modes` are projected out at the start.
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
        kept: &mut OverlapShared,
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
            max_seconds: self.seconds(),
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
                    // Multigrid was chosen automatically and does not fit: the solve goes on without it.
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
