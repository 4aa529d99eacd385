//! Actions and integrators of chains in parts, for hosts that write no input.

use std::sync::{Arc, Mutex, MutexGuard};

use super::args::{choose, choose_any, Array, Handle, One, Out, Params, Raw, Text};
use super::context::Context;
use super::dirac::{physics, plaq_dirac_params, plaq_system, System, PLAQ_SYSTEM_EVEN_SYMMETRIC};
use super::field::plaq_precision;
use super::gauge::{plaq_gauge, Gauge};
use super::handles;
use super::hmc::{plaq_hmc, Chain};
use super::momentum::plaq_gauge_action_params;
use super::multigrid::{plaq_multigrid_params, plaq_refresh};
use super::path::paths_of;
use super::table::interface;
use crate::backend::Device;
use crate::bail;
use crate::compose::multigrid::{MultigridParams, Refresh};
use crate::compose::Schur;
use crate::error::Result;
use crate::fields::{Geometry, Precision, Recon};
use crate::operators::{ActionParams, DoubletParams};
use crate::ops::hmc::fermion::{
    Inverter, MultigridSolves, OneFlavour, OneFlavourParams, TwoFlavours, TwoFlavoursParams,
};
use crate::ops::hmc::gauge_action::{GaugeCoefficients, GaugeForce, GaugeMonomial};
use crate::ops::hmc::integrator::{Level, Scheme};
use crate::ops::hmc::loop_action::{LoopAction, LoopForce};
use crate::ops::hmc::stout::Stout;
use crate::ops::hmc::{Hmc, HmcParams, Monomial};
use crate::params::InC;
use crate::params::Number;

/// What a `plaq_hmc_parts` stands for.
pub struct Parts {
    context: Arc<Context>,
    device: Device,
    geometry: Arc<Geometry>,
    precision: Precision,
    added: Mutex<Added>,
}

#[derive(Default)]
struct Added {
    params: Option<HmcParams>,
    monomials: Vec<Box<dyn Monomial>>,
}

impl Parts {
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    fn added(&self) -> MutexGuard<'_, Added> {
        self.added.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Puts a monomial on the level that was added last.
    fn add(&self, monomial: Box<dyn Monomial>) -> Result<()> {
        let mut added = self.added();
        let name = monomial.name().to_string();
        if added.monomials.iter().any(|other| other.name() == name) {
            bail!(BadParameter, "name: expected one that no other monomial has, found {name}");
        }
        added.level()?.monomials.push(name);
        added.monomials.push(monomial);
        Ok(())
    }
}

impl Added {
    fn params(&mut self) -> Result<&mut HmcParams> {
        match &mut self.params {
            Some(params) => Ok(params),
            None => bail!(InvalidArgument, "parts: a chain was made of them"),
        }
    }
    fn level(&mut self) -> Result<&mut Level> {
        match self.params()?.levels.last_mut() {
            Some(level) => Ok(level),
            None => bail!(InvalidArgument, "parts: a level comes before its monomials"),
        }
    }
}

interface! {
    "Actions of chains in parts"
    handles {
        /// Terms of an action and levels of its integrator, of which a chain is made.
        plaq_hmc_parts: Parts = 22,
    }
    constants {
        /// Schemes of integrators.
        plaq_integrator: Scheme {
            /// Second order, a force a step.
            PLAQ_INTEGRATOR_LEAPFROG = 0 => Scheme::Leapfrog,
            /// Omelyan's of second order, two forces.
            PLAQ_INTEGRATOR_OMELYAN2 = 1 => Scheme::Omelyan2,
            /// Omelyan's of fourth order, five forces.
            PLAQ_INTEGRATOR_OMELYAN4 = 2 => Scheme::Omelyan4,
            /// Fourth order, three forces and one at shifted links.
            PLAQ_INTEGRATOR_FORCE_GRADIENT = 3 => Scheme::ForceGradient,
        }
    }
    params {
        /// A chain but for its action and its integrator: keys of an input (docs/hmc.md).
        plaq_hmc_params, plaq_hmc_params_init {
            /// Of a trajectory.
            length: f64 = 1.0,
            seed: i64 = 0,
            /// Number of the next trajectory.
            trajectory: i64 = 0,
            /// Trajectories with lower numbers are accepted whatever their Delta H.
            accept_until: i64 = 0,
            /// Every so many trajectories the way there and back is measured; 0: never.
            reversibility_every: i64 = 0,
        }
        /// Quarks of an action (docs/fermions.md).
        plaq_quarks_params, plaq_quarks_params_init {
            /// 2: det(M^dagger M), or its ratio to that of a preconditioner; 1: |det M|.
            flavours: i32 = 2,
            /// The Schur complement.
            system: plaq_system = PLAQ_SYSTEM_EVEN_SYMMETRIC,
            max_iterations: i32 = 20000,
            /// Precision of the iteration inside double; 0: automatic.
            sloppy_precision: plaq_precision = Number::new(0),
            /// Solutions that guesses of force solves are made of.
            guesses: i32 = 0,
            /// Levels of stout smearing of the links that the operators see.
            smearing_levels: i32 = 0,
            /// 1: solves by GCR with multigrid.
            multigrid: i32 = 0,
            /// 1: also with the preconditioner.
            multigrid_preconditioner: i32 = 0,
            /// 1: null vectors outlive a trajectory.
            persistent: i32 = 0,
            /// Directions that GCR keeps.
            nkrylov: i32 = 20,
            /// What follows a change of links: KEEP, REFINE (once) or ANEW.
            refresh: plaq_refresh = Refresh::Keep.into(),
            /// Of one flavour: least shifts that multigrid solves.
            shifts: i32 = 3,
            /// Of one flavour: pseudofermion fields, and every how many trajectories the spectrum is measured.
            fields: i32 = 1,
            check_every: i32 = 1,
            tolerance_force: f64 = 1e-8,
            tolerance_hamiltonian: f64 = 1e-11,
            smearing_rho: f64 = 0.0,
            /// Of one flavour: errors of the rational approximations.
            error_force: f64 = 1e-7,
            error_hamiltonian: f64 = 1e-12,
            /// Of one flavour: ends of the spectrum's interval; 0: it is measured.
            interval: [f64; 2] = [0.0; 2],
            /// Splitting epsilon of a twisted doublet, whose weight is det M, with `flavours` = 2 and the parameters of
            /// one flavour; 0: two flavours of equal mass.
            epsilon: f64 = 0.0,
        }
    }
    functions {
        /// Parts of a chain for links on the lattice and in the precision of `gauge`, stored as 18 numbers.
        /// Each level is added before its monomials, the outermost first. Errors: BAD_PARAMETER.
        plaq_hmc_parts_create(gauge: Handle<plaq_gauge>, params: Params<plaq_hmc_params>, parts: Out<plaq_hmc_parts>) = create;
        /// Destroys parts. The zero handle is accepted.
        plaq_hmc_parts_destroy(parts: Raw<plaq_hmc_parts>) = destroy;
        /// Adds a level with so many steps of a plaq_integrator.
        plaq_hmc_add_level(parts: Handle<plaq_hmc_parts>, integrator: One<Scheme>, steps: i64) = add_level;
        /// Adds plaquettes and rectangles to the last level. Names of monomials are unique. Errors:
        /// BAD_PARAMETER, OUT_OF_MEMORY.
        plaq_hmc_add_gauge(parts: Handle<plaq_hmc_parts>, name: Text, params: Params<plaq_gauge_action_params>) = add_gauge;
        /// Adds closed paths as plaq_action_paths takes them. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
        plaq_hmc_add_paths(parts: Handle<plaq_hmc_parts>, name: Text, steps: Array<i32>[("sum of lengths")], lengths: Array<i32>[count], coefficients: Array<f64>[count], count: i64) = add_paths;
        /// Adds quarks. Of `dirac` and `preconditioner` (NULL, or neither kappa nor mass: no ratio) count
        /// kappa, mass, csw, csw_t, mu, hop and boundary; `multigrid` where `params` ask for it. Errors:
        /// BAD_PARAMETER, UNSUPPORTED.
        plaq_hmc_add_quarks(parts: Handle<plaq_hmc_parts>, name: Text, params: Params<plaq_quarks_params>, dirac: Params<plaq_dirac_params>, preconditioner: Params<plaq_dirac_params>, multigrid: Params<plaq_multigrid_params>) = add_quarks;
        /// The chain of what was added, the same bit for bit as that of an input that says so; the parts
        /// are then empty. Errors: as of plaq_hmc_create.
        plaq_hmc_create_from(parts: Handle<plaq_hmc_parts>, hmc: Out<plaq_hmc>) = create_from;
    }
}

fn create(gauge: &Arc<Gauge>, p: &plaq_hmc_params, parts: &mut Out<plaq_hmc_parts>) -> Result<()> {
    let small = |value: i64, name: &str| match u32::try_from(value) {
        Ok(value) => Ok(value),
        Err(_) => bail!(BadParameter, "params.{name}: expected 0 to 2^32 - 1, found {value}"),
    };
    let params = HmcParams {
        length: p.length,
        levels: vec![],
        seed: p.seed as u64,
        trajectory: small(p.trajectory, "trajectory")?,
        accept_until: small(p.accept_until, "accept_until")?,
        reversibility_every: small(p.reversibility_every, "reversibility_every")?,
    };
    let (context, links) = (gauge.context(), gauge.read("gauge")?);
    let made = Parts {
        context: context.clone(),
        device: links.device().clone(),
        geometry: links.geometry().clone(),
        precision: links.precision(),
        added: Mutex::new(Added { params: Some(params), monomials: vec![] }),
    };
    parts.set(context.adopt(made)?);
    Ok(())
}

fn destroy(parts: plaq_hmc_parts) -> Result<()> {
    handles::remove(parts, "parts")
}

fn add_level(parts: &Arc<Parts>, scheme: Scheme, steps: i64) -> Result<()> {
    // What is no number of steps is refused with the chain.
    let steps = usize::try_from(steps).unwrap_or(0);
    parts.added().params()?.levels.push(Level { scheme, steps, monomials: vec![] });
    Ok(())
}

fn add_gauge(parts: &Arc<Parts>, name: &str, p: &plaq_gauge_action_params) -> Result<()> {
    let c = GaugeCoefficients::anisotropic(p.beta, p.c0, p.c1)?;
    let force = GaugeForce::new(&parts.device, &parts.geometry, parts.precision, c)?;
    parts.add(Box::new(GaugeMonomial::new(name, force)))
}

fn add_paths(
    parts: &Arc<Parts>,
    name: &str,
    steps: &Array<i32>,
    lengths: &Array<i32>,
    coefficients: &Array<f64>,
    count: i64,
) -> Result<()> {
    let paths = paths_of(steps, lengths, count)?;
    let numbers = coefficients.get(paths.len())?;
    let action = LoopAction::new(paths, numbers)?;
    let force = LoopForce::new(&parts.device, &parts.geometry, parts.precision, action)?;
    parts.add(Box::new(GaugeMonomial::new(name, force)))
}

fn add_quarks(
    parts: &Arc<Parts>,
    name: &str,
    p: &plaq_quarks_params,
    dirac: &plaq_dirac_params,
    preconditioner: &plaq_dirac_params,
    multigrid: &plaq_multigrid_params,
) -> Result<()> {
    let operator = physics(dirac)?;
    let ratio = preconditioner.kappa != 0.0 || !preconditioner.mass.is_nan();
    let preconditioner = ratio.then(|| physics(preconditioner)).transpose()?;
    let System::Schur { parity, symmetric } = choose(p.system, "params.system")? else {
        bail!(
            InvalidArgument,
            "params.system: expected a Schur complement, found the full operator"
        );
    };
    let schur = Schur { parity, symmetric };
    let solves = || -> Result<_> {
        Ok(MultigridSolves {
            levels: MultigridParams::from_c(multigrid, "multigrid")?,
            update: choose(p.refresh, "params.refresh")?,
            persistent: flag(p.persistent, "persistent")?,
            nkrylov: number(p.nkrylov, "nkrylov")?,
            preconditioner: flag(p.multigrid_preconditioner, "multigrid_preconditioner")?,
            shifts: number(p.shifts, "shifts")?,
        })
    };
    let inverter = Inverter {
        tolerance_force: p.tolerance_force,
        tolerance_hamiltonian: p.tolerance_hamiltonian,
        max_iterations: number(p.max_iterations, "max_iterations")?,
        sloppy: choose_any(p.sloppy_precision, "params.sloppy_precision")?.map(|p| (p, Recon::R12)),
        guesses: number(p.guesses, "guesses")?,
        multigrid: flag(p.multigrid, "multigrid")?.then(solves).transpose()?,
    };
    let smearing = match number(p.smearing_levels, "smearing_levels")? {
        0 => None,
        levels => Some(Stout::new(p.smearing_rho, levels)?),
    };
    let rational = |operator: ActionParams, inverter| -> Result<Box<dyn Monomial>> {
        let plain = OneFlavour::new(name, one_flavour(p, operator, schur, inverter)?)?;
        Ok(match smearing {
            Some(stout) => Box::new(plain.with_smearing(stout)),
            None => Box::new(plain),
        })
    };
    let monomial: Box<dyn Monomial> = match (p.flavours, preconditioner) {
        (2, None) if p.epsilon != 0.0 => {
            rational(DoubletParams { wilson: operator, epsilon: p.epsilon }.into(), inverter)?
        }
        _ if p.epsilon != 0.0 => bail!(
            BadParameter,
            "params.epsilon: expected 0, or 2 flavours without preconditioner, found {}",
            p.epsilon
        ),
        (2, preconditioner) => {
            let params = TwoFlavoursParams {
                operator: operator.into(),
                preconditioner: preconditioner.map(Into::into),
                schur,
                inverter,
            };
            let plain = TwoFlavours::new(name, params)?;
            match smearing {
                Some(stout) => Box::new(plain.with_smearing(stout)),
                None => Box::new(plain),
            }
        }
        (1, None) => rational(operator.into(), inverter)?,
        (1, Some(_)) => bail!(Unsupported, "preconditioner: one flavour has none"),
        (n, _) => bail!(BadParameter, "params.flavours: expected 1 or 2, found {n}"),
    };
    parts.add(monomial)
}

fn one_flavour(
    p: &plaq_quarks_params,
    operator: ActionParams,
    schur: Schur,
    inverter: Inverter,
) -> Result<OneFlavourParams> {
    Ok(OneFlavourParams {
        operator,
        schur,
        inverter,
        fields: number(p.fields, "fields")?,
        error_force: p.error_force,
        error_hamiltonian: p.error_hamiltonian,
        interval: (p.interval != [0.0; 2]).then_some((p.interval[0], p.interval[1])),
        check_every: number(p.check_every, "check_every")? as u32,
    })
}

fn flag(value: i32, name: &str) -> Result<bool> {
    match value {
        0 | 1 => Ok(value == 1),
        _ => bail!(BadParameter, "params.{name}: expected 0 or 1, found {value}"),
    }
}

fn number(value: i32, name: &str) -> Result<usize> {
    match usize::try_from(value) {
        Ok(value) => Ok(value),
        Err(_) => bail!(BadParameter, "params.{name}: expected 0 or more, found {value}"),
    }
}

fn create_from(parts: &Arc<Parts>, hmc: &mut Out<plaq_hmc>) -> Result<()> {
    let Parts { device, geometry, precision, .. } = &**parts;
    let mut added = parts.added();
    let params = added.params()?.clone();
    let names: Vec<&str> = added.monomials.iter().map(|m| m.name()).collect();
    Hmc::check(&params, &names)?;
    device.require(Hmc::bytes(geometry, *precision, &params)? as u64, "a chain")?;
    let monomials = std::mem::take(&mut *added).monomials;
    let chain = Hmc::new(device, geometry, *precision, monomials, params)?;
    hmc.set(parts.context.adopt(Chain::new(parts.context.clone(), chain))?);
    Ok(())
}
