//! Parameters of the quarks of an action, and of chains apart from their action.

use super::fermion::{
    multigrid_solves_rows, Inverter, MultigridSolves, OneFlavour, OneFlavourParams, TwoFlavours,
    TwoFlavoursParams,
};
use super::integrator::Level;
use super::smd::{Algorithm, Rejection, Smd};
use super::stout::Stout;
use super::{HmcParams, Monomial};
use crate::bail;
use crate::compose::multigrid::{MultigridParams, Refresh};
use crate::compose::{max_iterations_row, nkrylov_row, Schur, System};
use crate::error::Result;
use crate::fields::{Precision, Recon};
use crate::operators::{ActionParams, CloverLinks, DiracParams, DoubletParams};
use crate::ops::quenched::random_seed_row;
use crate::params::parameters;
use crate::refuse;
use crate::solvers::IterationSums;

const ANY: i64 = i32::MAX as i64;
const MAX_COUNT: i64 = u32::MAX as i64;

parameters! {
    /// Parameters of a chain apart from its action and integrator: keys of an input (docs/hmc.md).
    pub composed struct ChainSettings: plaq_hmc_params {
        /// Length of a trajectory in molecular-dynamics time.
        length: f64 = 1.0;
        with random_seed_row(0);
        /// Number of the next trajectory.
        trajectory: u32 = 0, within(0, MAX_COUNT);
        /// Trajectories with lower numbers are accepted whatever their Delta H. Up to this number a measured interval
        /// of one flavour's spectrum is adjusted to the links.
        accept_until: u32 = 0, within(0, MAX_COUNT);
        /// Number of trajectories between two measurements of reversibility, in which a trajectory is integrated
        /// forward and back; 0: never.
        reversibility_every: u32 = 0, within(0, MAX_COUNT);
        /// Algorithm: hmc draws new momenta and pseudofermions before molecular dynamics, smd rotates the present
        /// ones.
        algorithm: Algorithm = Algorithm::Hmc;
        /// Momenta, with reversed sign, that remain after a rejected cycle of smd.
        rejection: Rejection = Rejection::Before;
        /// Friction gamma of smd, in inverse time: a cycle of length t multiplies the present momenta and
        /// pseudofermions by exp(-gamma t).
        friction: f64 = 0.3, from(0.0, 1e6);
    }
}

impl ChainSettings {
    /// The parameters of a chain with these time scales.
    pub fn params(self, levels: Vec<Level>) -> HmcParams {
        let ChainSettings { length, seed, trajectory, accept_until, reversibility_every, .. } =
            self;
        let smd = match self.algorithm {
            Algorithm::Hmc => None,
            Algorithm::Smd => Some(Smd { friction: self.friction, rejection: self.rejection }),
        };
        HmcParams { length, levels, seed, trajectory, accept_until, reversibility_every, smd }
    }
}

parameters! {
    /// Parameters of the quarks of a monomial (docs/fermions.md).
    pub composed struct Quarks: plaq_quarks_params {
        /// Number of flavours; 2: det(M^dagger M), or its ratio to that of a preconditioner; 1: |det M|.
        flavours: usize = 2, within(1, 2);
        /// Form and parity of the Schur complement whose determinant is taken.
        system: System = System::EvenSymmetric;
        with max_iterations_row(Inverter::default().max_iterations);
        /// Precision of the iteration inside of double-precision solves; automatic (0): for CG of two flavours half
        /// on a GPU and single on a CPU, else double.
        sloppy_precision: Option<Precision> = None, old("sloppy");
        /// Number of earlier solutions from which the initial guess of force solves is made; 0: solves start from
        /// zero.
        guesses: usize = 0, within(0, ANY);
        /// Number of levels of stout smearing of the operators' links; 0: none.
        smearing_levels: usize = 0, within(0, 64);
        /// True: solves are by GCR with multigrid; false: by CG.
        multigrid: bool = false;
        /// True: solves of the preconditioner W are by multigrid, too.
        multigrid_preconditioner: bool = false;
        with multigrid_solves_rows;
        /// Treatment of multigrid's null vectors when links have changed: they are kept, refined, or found anew.
        refresh: Refresh = Refresh::Keep;
        /// Number n of pseudofermion fields of one flavour, each of which represents the n-th root of the
        /// determinant.
        fields: usize = 1, within(1, ANY);
        /// Number of trajectories between two measurements of the spectrum of one flavour; an eigenvalue outside of
        /// the interval ends the trajectory with an error; 0: only once, to find the interval.
        check_every: usize = 1, within(0, ANY);
        /// Largest relative residual of solves in forces; trajectories are reversible to about this accuracy.
        tolerance_force: f64 = Inverter::default().tolerance_force, between(0.0, 1.0);
        /// Largest relative residual of solves in the Hamiltonian and the heat bath.
        tolerance_hamiltonian: f64 = Inverter::default().tolerance_hamiltonian, between(0.0, 1.0);
        /// Weight rho of stout smearing.
        smearing_rho: f64 = 0.0;
        /// Relative error of one flavour's rational approximation in forces.
        error_force: f64 = 1e-7;
        /// Relative error of one flavour's rational approximation in the Hamiltonian and the heat bath.
        error_hamiltonian: f64 = 1e-12;
        /// Smallest and largest end of the interval for one flavour's spectrum; 0: the spectrum is measured, and the
        /// interval extended by the factors 2/3 below and 6/5 above.
        interval: [f64; 2] = [0.0; 2];
        /// Mass splitting epsilon of a twisted-mass doublet with weight det M; it has `flavours` = 2 and uses the
        /// parameters of one flavour. 0: two flavours of equal mass.
        epsilon: f64 = 0.0;
        /// Twisted masses mu of the operator M and of the preconditioner W that stand on the sites of the Schur
        /// complement P alone, in addition to those on all sites, of either sign: two flavours with mass-normalised
        /// asymmetric P have the weight det(P^dagger P + mu^2) (TM1_EO_SDET and TM2_EO of openQCD). 0: none; other
        /// numbers are refused with one flavour, a doublet, a symmetric P and multigrid.
        mu_schur: [f64; 2] = [0.0; 2];
        /// Largest |b - P^dagger P x| at any site, divided by the largest |b| at any site, in multiples of the
        /// solve's tolerance; required besides it (OpenLat: Francis, Fritzsch, Luscher, Rago, arXiv:1911.04533,
        /// Section 4). 0: not required.
        tol_site: f64 = 0.0, from(0.0, 1e6);
        /// Sums over the ranks in an iteration of CG in forces, as `sums` of plaq_solver_params; automatic (0) with
        /// multigrid.
        sums_force: Option<IterationSums> = None;
        /// Sums over the ranks in an iteration of CG in the Hamiltonian and the heat bath, as `sums` of
        /// plaq_solver_params; automatic (0) with multigrid.
        sums_hamiltonian: Option<IterationSums> = None;
    }
}

impl Quarks {
    /// Parameters of solves with multigrid, with a hierarchy of these levels; `None`: solves are by CG.
    pub fn solves(&self, levels: MultigridParams) -> Option<MultigridSolves> {
        self.multigrid.then_some(MultigridSolves {
            levels,
            update: self.refresh,
            persistent: self.persistent,
            nkrylov: self.nkrylov,
            preconditioner: self.multigrid_preconditioner,
            shifts: self.shifts,
        })
    }

    /// The operator of these quarks: with `epsilon` a doublet, else the given Wilson operator.
    pub fn operator(&self, wilson: DiracParams) -> ActionParams {
        match self.epsilon {
            0.0 => wilson.into(),
            epsilon => DoubletParams { wilson, epsilon }.into(),
        }
    }

    /// The operator and the preconditioner with the twisted masses `mu_schur`.
    ///
    /// # Errors
    /// `BadParameter`: numbers that are not finite, or others than 0 where there are no such masses.
    fn twisted(
        &self,
        (schur, multigrid): (Schur, bool),
        mut operator: ActionParams,
        mut preconditioner: Option<ActionParams>,
    ) -> Result<(ActionParams, Option<ActionParams>)> {
        let [mu, of_preconditioner] = self.mu_schur;
        if self.mu_schur == [0.0; 2] {
            return Ok((operator, preconditioner));
        }
        for (k, value) in self.mu_schur.into_iter().enumerate() {
            if !value.is_finite() {
                let argument = format!("mu_schur[{k}]");
                refuse!(BadParameter, argument, expected("a finite number"), found("{value}"));
            }
        }
        let same_mass = "two flavours of the same mass";
        let unfit = match &operator {
            _ if self.flavours == 1 => Some((same_mass, "one flavour".to_string())),
            ActionParams::Doublet(_) => Some((same_mass, "a doublet".to_string())),
            _ if multigrid => Some(("CG and an asymmetric Schur complement", "multigrid".into())),
            _ if schur.symmetric => Some(("an asymmetric Schur complement", schur.to_string())),
            _ => None,
        };
        if let Some((expected, found)) = unfit {
            let found = format!("{mu} and {of_preconditioner} with {found}");
            refuse!(BadParameter, "mu_schur", expected("0, or {expected}"), found("{found}"));
        }
        if of_preconditioner != 0.0 && preconditioner.is_none() {
            refuse!(
                BadParameter,
                "mu_schur[1]",
                expected("0 without a preconditioner"),
                found("{of_preconditioner}")
            );
        }
        for (params, mu) in
            std::iter::once(&mut operator).chain(&mut preconditioner).zip(self.mu_schur)
        {
            if let ActionParams::Wilson(wilson) = params {
                wilson.rho = mu;
            }
        }
        Ok((operator, preconditioner))
    }

    /// Makes the monomial of these quarks.
    ///
    /// # Errors
    /// `BadParameter`: also a doublet of one flavour or with a preconditioner; `InvalidArgument`: no Schur complement;
    /// `Unsupported`: a preconditioner of one flavour.
    pub fn monomial(
        &self,
        name: &str,
        operator: ActionParams,
        preconditioner: Option<ActionParams>,
        multigrid: Option<MultigridSolves>,
    ) -> Result<Box<dyn Monomial>> {
        let Some(schur) = self.system.schur() else {
            refuse!(
                InvalidArgument,
                "system",
                expected("a Schur complement"),
                found("the full operator")
            );
        };
        let inverter = Inverter {
            tolerance_force: self.tolerance_force,
            tolerance_hamiltonian: self.tolerance_hamiltonian,
            max_iterations: self.max_iterations,
            sloppy: self.sloppy_precision.map(|precision| (precision, Recon::R12)),
            guesses: self.guesses,
            multigrid,
            site: self.tol_site,
            sums_force: self.sums_force,
            sums_hamiltonian: self.sums_hamiltonian,
        };
        let smearing = match self.smearing_levels {
            0 => None,
            levels => Some(Stout::new(self.smearing_rho, levels)?),
        };
        let all = std::iter::once(&operator).chain(&preconditioner);
        if smearing.is_none() && all.map(|p| p.clover_links()).any(|l| l == CloverLinks::Thin) {
            refuse!(
                BadParameter,
                "clover_links",
                expected("hop, as these quarks have no smearing"),
                found("thin")
            );
        }
        let doublet = matches!(operator, ActionParams::Doublet(_));
        if doublet && (self.flavours == 1 || preconditioner.is_some()) {
            let found = self.epsilon;
            refuse!(
                BadParameter,
                "params.epsilon",
                expected("0, or 2 flavours without preconditioner"),
                found("{found}")
            );
        }
        let system = (schur, inverter.multigrid.is_some());
        let (operator, preconditioner) = self.twisted(system, operator, preconditioner)?;
        if self.flavours == 2 && !doublet {
            let params = TwoFlavoursParams { operator, preconditioner, schur, inverter };
            let plain = TwoFlavours::new(name, params)?;
            return Ok(match smearing {
                Some(stout) => Box::new(plain.with_smearing(stout)),
                None => Box::new(plain),
            });
        }
        if preconditioner.is_some() {
            bail!(Unsupported, "preconditioner: one flavour has none");
        }
        let [low, high] = self.interval;
        let params = OneFlavourParams {
            operator,
            schur,
            inverter,
            fields: self.fields,
            error_force: self.error_force,
            error_hamiltonian: self.error_hamiltonian,
            interval: (self.interval != [0.0; 2]).then_some((low, high)),
            check_every: self.check_every as u32,
        };
        let plain = OneFlavour::new(name, params)?;
        Ok(match smearing {
            Some(stout) => Box::new(plain.with_smearing(stout)),
            None => Box::new(plain),
        })
    }
}
