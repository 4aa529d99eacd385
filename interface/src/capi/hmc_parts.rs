//! Actions and integrators of chains, added part by part, for hosts that do not write an input in TOML.

use std::sync::{Arc, Mutex, MutexGuard};

use super::args::{Array, Handle, One, Out, Params, Raw, Text};
use super::context::Context;
use super::dirac::quark;
use super::gauge::{plaq_gauge, Gauge};
use super::handles;
use super::hmc::{plaq_hmc, Chain};
use super::momentum::plaq_gauge_action_params;
use super::multigrid::plaq_multigrid_params;
use super::path::paths_of;
use super::table::interface;
use crate::backend::Device;
use crate::bail;
use crate::compose::multigrid::MultigridParams;
use crate::error::Result;
use crate::fields::{Geometry, Precision};
use crate::operators::plaq_dirac_params;
use crate::ops::hmc::gauge_action::GaugeMonomial;
use crate::ops::hmc::gauge_params::GaugeActionParams;
use crate::ops::hmc::integrator::{Level, Scheme};
use crate::ops::hmc::loop_action::{LoopAction, LoopForce};
pub use crate::ops::hmc::quarks::{plaq_hmc_params, plaq_quarks_params};
use crate::ops::hmc::quarks::{ChainSettings, Quarks};
use crate::ops::hmc::smd::{Algorithm, Rejection};
use crate::ops::hmc::{Hmc, HmcParams, Monomial};
use crate::params::InC;
use crate::refuse;

/// The object behind the handle `plaq_hmc_parts`.
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
    /// Adds a monomial to the level that was added last.
    fn add(&self, monomial: Box<dyn Monomial>) -> Result<()> {
        let mut added = self.added();
        let name = monomial.name().to_string();
        if added.monomials.iter().any(|other| other.name() == name) {
            refuse!(
                BadParameter,
                "name",
                expected("one that no other monomial has"),
                found("{name}")
            );
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
        /// Terms of an action and levels of its integrator, from which a chain is made.
        plaq_hmc_parts: Parts = 22,
    }
    choices {
        plaq_integrator = Scheme;
        plaq_hmc_algorithm = Algorithm;
        plaq_smd_rejection = Rejection;
    }
    tables {
        plaq_hmc_params, plaq_hmc_params_init;
        plaq_quarks_params, plaq_quarks_params_init;
    }
    functions {
        /// Starts a description of a chain for links on the lattice and in the precision of `gauge`, stored as 18
        /// numbers. Levels are added from the outermost in, each before its monomials. Errors: BAD_PARAMETER.
        plaq_hmc_parts_create(gauge: Handle<plaq_gauge>, params: Params<plaq_hmc_params>, parts: Out<plaq_hmc_parts>) = create;
        /// Destroys the parts of a chain. The zero handle is accepted.
        plaq_hmc_parts_destroy(parts: Raw<plaq_hmc_parts>) = destroy;
        /// Adds a level with this number of steps of a plaq_integrator.
        plaq_hmc_parts_add_level(parts: Handle<plaq_hmc_parts>, integrator: One<Scheme>, steps: i64) = add_level;
        /// Adds a gauge action to the last level. The names of monomials must be unique. Errors: BAD_PARAMETER,
        /// OUT_OF_MEMORY.
        plaq_hmc_parts_add_gauge(parts: Handle<plaq_hmc_parts>, name: Text, params: Params<plaq_gauge_action_params>) = add_gauge;
        /// Adds an action of closed paths, which are given like those of plaq_gauge_path_action. Errors: BAD_PARAMETER,
        /// OUT_OF_MEMORY.
        plaq_hmc_parts_add_paths(parts: Handle<plaq_hmc_parts>, name: Text, steps: Array<i32>[("sum of lengths")], lengths: Array<i32>[count], coefficients: Array<f64>[count], count: i64) = add_paths;
        /// Adds quarks. Of `dirac` and `preconditioner` (NULL, or neither kappa nor mass: no ratio) normalisation,
        /// precision and storage do not count; `multigrid` where `params` ask for it. Errors:
        /// BAD_PARAMETER, UNSUPPORTED.
        plaq_hmc_parts_add_quarks(parts: Handle<plaq_hmc_parts>, name: Text, params: Params<plaq_quarks_params>, dirac: Params<plaq_dirac_params>, preconditioner: Params<plaq_dirac_params>, multigrid: Params<plaq_multigrid_params>) = add_quarks;
        /// Makes the chain from its parts, bit for bit the same as from an equivalent input; the parts are empty
        /// afterwards. Errors: those of plaq_hmc_create.
        plaq_hmc_create_from(parts: Handle<plaq_hmc_parts>, hmc: Out<plaq_hmc>) = create_from;
    }
}

fn create(gauge: &Arc<Gauge>, p: &plaq_hmc_params, parts: &mut Out<plaq_hmc_parts>) -> Result<()> {
    let params = ChainSettings::from_c(p, "params")?.params(vec![]);
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
    // An invalid number of steps becomes 0, which is refused when the chain is created.
    let steps = usize::try_from(steps).unwrap_or(0);
    parts.added().params()?.levels.push(Level { scheme, steps, monomials: vec![] });
    Ok(())
}

fn add_gauge(parts: &Arc<Parts>, name: &str, p: &plaq_gauge_action_params) -> Result<()> {
    let action = GaugeActionParams::from_c(p, "params")?;
    parts.add(action.monomial(name, &parts.device, &parts.geometry, parts.precision)?)
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
    let (_, operator) = quark(dirac)?;
    let ratio = preconditioner.kappa != 0.0 || !preconditioner.mass.is_nan();
    let preconditioner = ratio.then(|| quark(preconditioner)).transpose()?;
    let quarks = Quarks::from_c(p, "params")?;
    let levels = quarks.multigrid.then(|| MultigridParams::from_c(multigrid, "multigrid"));
    let solves = levels.transpose()?.and_then(|levels| quarks.solves(levels));
    let preconditioner = preconditioner.map(|(_, physics)| physics.into());
    parts.add(quarks.monomial(name, quarks.operator(operator), preconditioner, solves)?)
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
