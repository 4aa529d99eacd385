//! Pseudofermions (physics.md, HMC): determinants of Wilson, clover and twisted-mass operators in the
//! action, even-odd preconditioned.

mod guess;
mod rational;
mod two_flavours;

use std::sync::Arc;

pub use guess::Guesses;
pub use rational::{OneFlavour, OneFlavourParams};
pub use two_flavours::{TwoFlavours, TwoFlavoursParams};

use super::KickReport;
use crate::bail;
use crate::compose::{DiracSolver, Equations, EvenOdd, Schur, Solution, SolveParams};
use crate::error::Result;
use crate::fields::{GaugeField, Momenta, Precision, Recon, SpinorField};
use crate::operators::{DiracParams, Wilson};
use crate::solvers::{unwatched, SolverKind, SolverParams, SolverReport};

/// How a monomial solves P^dagger P x = b.
#[derive(Clone, Debug, PartialEq)]
pub struct Inverter {
    /// Largest |b - P^dagger P x| / |b| in forces.
    pub tolerance_force: f64,
    /// The same in the Hamiltonian and the heat bath.
    pub tolerance_hamiltonian: f64,
    pub max_iterations: usize,
    /// Precision and link storage of the iteration; None: double.
    pub sloppy: Option<(Precision, Recon)>,
    /// Solutions of the forces before that a guess is made of; 0: solves start from zero.
    pub guesses: usize,
}

impl Default for Inverter {
    fn default() -> Self {
        Inverter {
            tolerance_force: 1e-8,
            tolerance_hamiltonian: 1e-11,
            max_iterations: 20_000,
            sloppy: None,
            guesses: 0,
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
                bail!(BadParameter, "{name}: expected a number between 0 and 1, found {tol}");
            }
        }
        if self.max_iterations == 0 {
            bail!(BadParameter, "max_iterations is 0");
        }
        Ok(())
    }

    fn solver(&self, op: &Arc<Wilson>, schur: Schur, tol: f64, guess: bool) -> Result<DiracSolver> {
        let solver = SolverParams {
            kind: SolverKind::Cg,
            tol,
            max_iterations: self.max_iterations,
            initial_guess: guess,
            ..Default::default()
        };
        let params = SolveParams {
            solver,
            solution: Solution::MatPcDagMatPc,
            equations: Equations::Direct,
            even_odd: Some(schur),
            sloppy: self.sloppy,
            ..Default::default()
        };
        DiracSolver::new(op.clone(), params)
    }

    /// P^dagger P x = b; iterations.
    fn solve(
        &self,
        op: &EvenOdd,
        tol: f64,
        guess: bool,
        x: &mut SpinorField,
        b: &SpinorField,
    ) -> Result<u64> {
        let solver = self.solver(op.op(), schur_of(op), tol, guess)?;
        let report = solver.solve(x, b, &mut unwatched)?.solver;
        converged(&report, tol)?;
        Ok(report.iterations as u64)
    }
}

fn schur_of(op: &EvenOdd) -> Schur {
    Schur { parity: op.parity(), symmetric: op.symmetric() }
}

/// A solve that did not reach its tolerance ends the trajectory.
fn converged(report: &SolverReport, tol: f64) -> Result<()> {
    if report.converged {
        return Ok(());
    }
    let worst = report.residual.iter().fold(0.0f64, |m, &v| m.max(v));
    bail!(
        NotConverged,
        "pseudofermion solve: residual {worst:.2e} after {} iterations, asked for {tol:.2e}",
        report.iterations
    );
}

/// Links of a monomial: a copy that its operators share, two rows in double.
fn copy_of(gauge: &GaugeField) -> Result<Arc<GaugeField>> {
    Ok(Arc::new(gauge.to(Precision::F64, Recon::R12)?))
}

fn schur_operator(links: &Arc<GaugeField>, params: DiracParams, schur: Schur) -> Result<EvenOdd> {
    let op = Arc::new(Wilson::new(links.clone(), params)?);
    Ok(EvenOdd::new(op, schur.parity, schur.symmetric))
}

/// The seed of a monomial's noise: its name keeps it apart from those of others.
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

/// Refuses what is no Schur complement, or is in use with parameters that are none.
fn check_operator(name: &str, params: &DiracParams, schur: Schur) -> Result<()> {
    params.check()?;
    if schur.parity > 1 {
        bail!(BadParameter, "{name}: parity is 0 or 1, found {}", schur.parity);
    }
    Ok(())
}

/// Adds the force that `build` collects in zero momenta, and says how large it was.
fn kick_with(
    scratch: &mut Option<Momenta>,
    gauge: &GaugeField,
    momenta: &mut Momenta,
    step: f64,
    build: impl FnOnce(&mut Momenta) -> Result<u64>,
) -> Result<KickReport> {
    let force = match scratch {
        Some(f) => {
            f.clear()?;
            f
        }
        None => scratch.insert(Momenta::new(gauge.device(), gauge.geometry(), Precision::F64)?),
    };
    let iterations = build(force)?;
    let (sum, most) = force.norm2()?;
    if !sum.is_finite() {
        bail!(NotFinite, "a fermion force is not finite");
    }
    // The builder subtracts the force with step 1.
    momenta.add(1.0, step, force)?;
    let links = 4.0 * gauge.geometry().global_volume() as f64;
    Ok(KickReport { rms: (sum / links).sqrt(), max: most.sqrt(), iterations })
}
