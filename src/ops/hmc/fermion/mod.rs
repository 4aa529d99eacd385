//! Pseudofermions (Weingarten, Petcher, Phys. Lett. B 99 (1981) 333): monomials of HMC for determinants of even-odd
//! preconditioned quark actions.

mod guess;
mod multigrid;
mod rational;
mod two_flavours;

use std::sync::Arc;
use std::time::Instant;

pub use guess::Guesses;
pub(super) use multigrid::multigrid_solves_rows;
pub use multigrid::MultigridSolves;
pub use rational::{OneFlavour, OneFlavourParams};
pub use two_flavours::{TwoFlavours, TwoFlavoursParams};

use self::multigrid::Follower;
use super::stout::{Smeared, Stout};
use super::{KickReport, Solves};
use crate::backend::Device;
use crate::bail;
use crate::compose::{DiracSolver, Equations, Schur, Solution, SolveParams};
use crate::error::{significant, Result};
use crate::fields::{BoundaryTime, GaugeField, Momenta, Precision, Recon, SpinorField};
use crate::operators::{
    ActionParams, CloverLinks, ForceWorkspace, InverseOwner, QuarkAction, SchurAction, Storage,
};
use crate::params::hash_members;
use crate::refuse;
use crate::solvers::{no_monitor, IterationSums, SolverKind, SolverParams, SolverReport, Stop};

/// Precision and storage in which monomials keep their links.
const DOUBLE: Storage = (Precision::F64, Recon::R12);

/// Parameters of a monomial's solves of P^dagger P x = b.
#[derive(Clone, Debug, PartialEq)]
pub struct Inverter {
    /// Largest |b - P^dagger P x| / |b| in forces. The error of a solve differs when a trajectory is run backwards,
    /// so that links return to about half of this number (docs/fermions.md).
    pub tolerance_force: f64,
    /// Largest |b - P^dagger P x| / |b| in the Hamiltonian and the heat bath.
    pub tolerance_hamiltonian: f64,
    pub max_iterations: usize,
    /// Precision and link storage of the iteration inside of double-precision solves. None: for CG of two flavours
    /// half on a GPU and single on a CPU, else double.
    pub sloppy: Option<(Precision, Recon)>,
    /// Number of earlier solutions of forces from which a guess is made; 0: solves start from zero.
    pub guesses: usize,
    /// Multigrid for the symmetric P on even sites: solves of two flavours are done for M by GCR with multigrid,
    /// those of one flavour with it for the smallest shifts. None: CG.
    pub multigrid: Option<MultigridSolves>,
    /// Largest |b - P^dagger P x| at any site, divided by the largest |b| at any site, in multiples of the
    /// tolerances; 0: not required.
    pub site: f64,
    /// Sums over the ranks in an iteration of CG in forces; None: chosen by the solver. Not with multigrid.
    pub sums_force: Option<IterationSums>,
    /// Sums over the ranks in an iteration of CG in the Hamiltonian and the heat bath; None: chosen by the solver.
    pub sums_hamiltonian: Option<IterationSums>,
}

hash_members!(Inverter {
    max_iterations, sloppy, guesses, multigrid, sums_force, sums_hamiltonian;
    tolerance_force, tolerance_hamiltonian, site
});

impl Default for Inverter {
    fn default() -> Self {
        Inverter {
            tolerance_force: 1e-11,
            tolerance_hamiltonian: 1e-11,
            max_iterations: 20_000,
            sloppy: None,
            guesses: 0,
            multigrid: None,
            site: 0.0,
            sums_force: None,
            sums_hamiltonian: None,
        }
    }
}

impl Inverter {
    pub(crate) fn check(&self) -> Result<()> {
        let all = [
            ("tolerance_force", self.tolerance_force),
            ("tolerance_hamiltonian", self.tolerance_hamiltonian),
        ];
        for (name, tol) in all {
            if !(tol > 0.0 && tol < 1.0) {
                refuse!(
                    BadParameter,
                    "{name}",
                    expected("a number between 0 and 1"),
                    found("{tol}")
                );
            }
        }
        if !(self.site >= 0.0 && self.site.is_finite()) {
            refuse!(BadParameter, "tol_site", expected("0 or more"), found("{}", self.site));
        }
        if self.max_iterations == 0 {
            bail!(BadParameter, "max_iterations is 0");
        }
        if let Some(multigrid) = &self.multigrid {
            let asked =
                [("sums_force", self.sums_force), ("sums_hamiltonian", self.sums_hamiltonian)];
            for (name, sums) in asked {
                if let Some(sums) = sums {
                    let expected = "0 (automatic) with multigrid";
                    refuse!(Unsupported, "{name}", expected("{expected}"), found("{sums}"));
                }
            }
            if multigrid.nkrylov == 0 {
                bail!(BadParameter, "multigrid: nkrylov is 0: GCR keeps at least one direction");
            }
            multigrid.levels.check()?;
        }
        Ok(())
    }

    fn inner(&self, device: &Device) -> (Precision, Recon) {
        let fastest = if device.is_cpu() { Precision::F32 } else { Precision::F16 };
        let automatic = if self.multigrid.is_some() { Precision::F64 } else { fastest };
        self.sloppy.unwrap_or((automatic, Recon::R12))
    }

    fn solver(
        &self,
        op: Arc<dyn QuarkAction>,
        schur: Schur,
        (tol, sums): (f64, Option<IterationSums>),
        guess: bool,
    ) -> Result<DiracSolver> {
        let plain = SolverParams::default();
        let (kind, nkrylov) = match &self.multigrid {
            Some(multigrid) => (SolverKind::Gcr, multigrid.nkrylov),
            None => (SolverKind::Cg, plain.nkrylov),
        };
        // CG itself updates x and recomputes the residual before its drift matters. Recomputing it more often than that
        // would cost as much as three iterations in half precision each time.
        let inner = self.inner(op.links().device());
        let delta = match inner.0 {
            Precision::F16 => 0.01,
            _ => 1e-3,
        };
        let solver = SolverParams {
            kind,
            nkrylov,
            delta,
            initial_guess: guess,
            sums,
            stop: Stop {
                residual: tol,
                site: self.site * tol,
                iterations: self.max_iterations,
                ..plain.stop
            },
            ..plain
        };
        let params = SolveParams {
            solver,
            solution: Solution::MatPcDagMatPc,
            equations: Equations::Direct,
            even_odd: Some(schur),
            sloppy: Some(inner).filter(|s| *s != DOUBLE),
            ..Default::default()
        };
        DiracSolver::new(op, params)
    }
}

/// The Schur complement P of an operator, with its solvers; when links change it is updated in place.
struct Operator {
    schur: Arc<dyn SchurAction>,
    /// Solver of P^dagger P x = b to the tolerance of forces, with the given x as initial guess.
    force: DiracSolver,
    /// Solver of P^dagger P x = b to the tolerance of the Hamiltonian, from zero.
    hamiltonian: DiracSolver,
    multigrid: Option<Follower>,
    inverter: Inverter,
}

impl Operator {
    fn new(
        links: &Arc<GaugeField>,
        thin: Option<&Arc<GaugeField>>,
        params: &ActionParams,
        schur: Schur,
        inverter: &Inverter,
    ) -> Result<Self> {
        let op = match thin {
            Some(thin) => params.create_on(links.clone(), thin.clone())?,
            None => params.create(links.clone())?,
        };
        // Forces and energies apply the complement as often as solves do, so that it owns the inverse of the clover
        // term.
        let complement = op.clone().schur(schur)?;
        complement.set_inverse_owner(InverseOwner::Complement)?;
        let solver = |aim, guess| inverter.solver(op.clone(), schur, aim, guess);
        let (force, hamiltonian) = (
            solver((inverter.tolerance_force, inverter.sums_force), true)?,
            solver((inverter.tolerance_hamiltonian, inverter.sums_hamiltonian), false)?,
        );
        let multigrid = inverter.multigrid.clone().map(Follower::new);
        Ok(Operator {
            schur: complement,
            force,
            hamiltonian,
            multigrid,
            inverter: inverter.clone(),
        })
    }
    /// Solves to the tolerance of forces, with the given x as initial guess.
    fn solve_force(&self, x: &mut SpinorField, b: &SpinorField) -> Result<Solves> {
        self.follow()?;
        self.solve(&self.force, x, b)
    }
    /// Solves to the tolerance of the Hamiltonian and the heat bath, from zero.
    fn solve_hamiltonian(&self, x: &mut SpinorField, b: &SpinorField) -> Result<Solves> {
        self.follow()?;
        self.solve(&self.hamiltonian, x, b)
    }
    /// Solves for one right-hand side. If CG makes no progress, the solve starts again in the next higher precision,
    /// with operators made for it.
    fn solve(&self, solver: &DiracSolver, x: &mut SpinorField, b: &SpinorField) -> Result<Solves> {
        let since = Instant::now();
        let SolverParams { stop: Stop { residual: tol, .. }, sums, .. } = solver.params().solver;
        let mut report = solver.solve(x, b, &mut no_monitor)?.solver;
        let mut iterations = report.iterations;
        let mut precision = self.inverter.inner(x.device()).0;
        while report.standstill && precision != DOUBLE.0 && self.multigrid.is_none() {
            let narrow = precision;
            precision = if narrow == Precision::F16 { Precision::F32 } else { DOUBLE.0 };
            log::warn!("CG is fixed in {narrow}: it begins anew in {precision}");
            let inverter =
                Inverter { sloppy: Some((precision, Recon::R12)), ..self.inverter.clone() };
            x.clear()?;
            let wider = inverter.solver(self.action(), self.schur.form(), (tol, sums), false)?;
            report = wider.solve(x, b, &mut no_monitor)?.solver;
            iterations += report.iterations;
        }
        converged(&report, tol)?;
        Ok(Solves::since(since, iterations))
    }
    fn follow(&self) -> Result<()> {
        match &self.multigrid {
            Some(multigrid) => multigrid.follow(&*self.action(), [&self.force, &self.hamiltonian]),
            None => Ok(()),
        }
    }
    /// Removes what was kept from earlier trajectories.
    fn restart(&self) {
        if let Some(multigrid) = &self.multigrid {
            multigrid.restart([&self.force, &self.hamiltonian]);
        }
    }
    fn action(&self) -> Arc<dyn QuarkAction> {
        self.schur.action()
    }
}

/// An error, which ends the trajectory, if a solve did not reach its tolerance.
fn converged(report: &SolverReport, tol: f64) -> Result<()> {
    if report.converged {
        return Ok(());
    }
    let worst = report.residual.iter().fold(0.0f64, |m, &v| m.max(v));
    bail!(
        NotConverged,
        "pseudofermion solve: residual {} after {} iterations, asked for {}",
        significant(worst, 3),
        report.iterations,
        significant(tol, 3)
    );
}

/// The operators of a monomial. Their links are a copy of the chain's, possibly smeared, in double precision with two
/// rows, which all monomials on the same links share; operators are made once and updated in place.
#[derive(Default)]
struct Operators {
    smeared: Option<Smeared>,
    links: Option<Arc<GaugeField>>,
    /// The links before smearing, if clover terms are made of them; None: they are made of the smeared links.
    thin: Option<Arc<GaugeField>>,
    list: Vec<Operator>,
}

impl Operators {
    /// Updates the operators with these parameters to the given links, or makes them.
    fn on(
        &mut self,
        gauge: &GaugeField,
        params: &[ActionParams],
        schur: Schur,
        (inverter, stout): (&Inverter, Option<Stout>),
    ) -> Result<&Self> {
        let kept = self.links.as_ref().is_some_and(|l| {
            l.geometry() == gauge.geometry()
                && l.device() == gauge.device()
                && self.list.len() == params.len()
        });
        if !kept {
            *self = Operators::default();
        }
        if let Some(stout) = stout {
            let form = (Precision::F64, Recon::R18);
            let fine = match (gauge.precision(), gauge.recon()) == form {
                true => None,
                false => Some(gauge.to(form.0, form.1)?),
            };
            let gauge = fine.as_ref().unwrap_or(gauge);
            match &mut self.smeared {
                Some(s) => s.update(gauge)?,
                None => self.smeared = Some(Smeared::new(stout, gauge)?),
            }
            let thin = params.iter().any(|p| p.clover_links() == CloverLinks::Thin);
            match &self.thin {
                Some(thin) => thin.update_from(gauge)?,
                None if thin => self.thin = Some(gauge.shared_copy(DOUBLE.0, DOUBLE.1)?),
                None => {}
            }
        }
        let gauge = self.smeared.as_ref().map_or(gauge, Smeared::smeared);
        match &self.links {
            Some(links) => {
                // Operators are updated from this copy, the first time as well.
                links.update_from(gauge)?;
                self.list.iter().try_for_each(|op| op.action().update(links))?;
            }
            None => {
                let links = gauge.shared_copy(DOUBLE.0, DOUBLE.1)?;
                // Preconditioners have heavier quarks: CG suffices for them, unless multigrid was requested.
                let all = inverter.multigrid.as_ref().is_some_and(|m| m.preconditioner);
                let plain = Inverter { multigrid: None, ..inverter.clone() };
                for (n, p) in params.iter().enumerate() {
                    let own = if n == 0 || all { inverter } else { &plain };
                    self.list.push(Operator::new(&links, self.thin.as_ref(), p, schur, own)?);
                }
                self.links = Some(links);
            }
        }
        Ok(self)
    }

    /// Moves the momenta by `step` times the fermion force, and returns the size of the force. `build` adds to a
    /// force that starts at zero, for the links of the operators, and puts the part for the links of the clover term
    /// into the workspace, from where it is added here.
    fn kick(
        &self,
        (scratch, work): (&mut Option<Momenta>, &mut ForceWorkspace),
        momenta: &mut Momenta,
        step: f64,
        build: impl FnOnce(&mut ForceWorkspace, &mut Momenta) -> Result<Solves>,
    ) -> Result<KickReport> {
        let (device, geometry) = (momenta.device().clone(), momenta.geometry().clone());
        let force = match scratch {
            Some(f) => {
                f.clear()?;
                f
            }
            None => scratch.insert(Momenta::new(&device, &geometry, Precision::F64)?),
        };
        work.begin();
        let solves = build(work, force)?;
        let schur = &self.list[0].schur;
        if self.thin.is_none() {
            schur.finish_force(work, force, 1.0)?;
        }
        if let Some(smeared) = &self.smeared {
            smeared.pull_back(force)?;
        }
        if self.thin.is_some() {
            schur.finish_force(work, force, 1.0)?;
        }
        let (sum, max) = force.norm2()?;
        if !sum.is_finite() {
            bail!(NotFinite, "a fermion force is not finite");
        }
        // `build` has subtracted the force with step 1, so that it is added here.
        momenta.add(1.0, step, force)?;
        Ok(KickReport { solves, ..KickReport::of(&geometry, (sum, max)) })
    }
}

/// The seed for the noise of a monomial; monomials of different names have different seeds.
fn noise_seed(seed: u64, name: &str) -> u64 {
    // FNV-1a of the name, then the finaliser of splitmix64.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mut z = seed ^ hash;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Refuses multigrid on a Schur complement that it does not support.
fn check_multigrid(name: &str, inverter: &Inverter, schur: Schur) -> Result<()> {
    let even = Schur::EVEN_SYMMETRIC;
    if inverter.multigrid.is_some() && schur != even {
        bail!(Unsupported, "{name}: multigrid solves with {even}, found {schur}");
    }
    Ok(())
}

/// Refuses an operator without Schur complement, and parameters that are not allowed.
fn check_operator(name: &str, params: &ActionParams, schur: Schur) -> Result<()> {
    params.check()?;
    if schur.parity > 1 {
        bail!(BadParameter, "{name}: parity is 0 or 1, found {}", schur.parity);
    }
    Ok(())
}

/// Refuses operators that are not supported on links with these boundaries in time.
fn check_time_boundary<'a>(
    name: &str,
    mut operators: impl Iterator<Item = &'a ActionParams>,
    boundary: BoundaryTime,
) -> Result<()> {
    operators.try_for_each(|params| params.check_on(boundary)).map_err(|e| e.at(name))
}
