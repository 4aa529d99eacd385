//! Momenta of links, gauge forces, and updates of links.

use std::sync::{Arc, RwLockReadGuard, RwLockWriteGuard};

use super::args::{Array, Data, DataOut, Handle, Memory, One, Out, OutArray, Params, Raw, Report};
use super::context::Context;
use super::gauge::{plaq_gauge, Gauge};
use super::handles::{self, Shared};
use super::table::interface;
use crate::backend::Location;
use crate::error::Result;
use crate::fields::{Momenta, MomentaForm, Precision, SiteOrder};
use crate::ops::hmc::gauge_action::LinkAction;
pub use crate::ops::hmc::gauge_params::plaq_gauge_action_params;
use crate::ops::hmc::gauge_params::{GaugeActionKind, GaugeActionParams};
use crate::ops::hmc::KickReport;
use crate::params::InC as _;
use crate::refuse;

/// The object behind the handle `plaq_momentum`.
pub struct Momentum {
    context: Arc<Context>,
    field: Shared<Momenta>,
}

impl Momentum {
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    pub(crate) fn read(&self, argument: &str) -> Result<RwLockReadGuard<'_, Momenta>> {
        self.field.read(argument)
    }
    pub(crate) fn write(&self, argument: &str) -> Result<RwLockWriteGuard<'_, Momenta>> {
        self.field.write(argument)
    }
}

interface! {
    "Momenta, gauge forces, link updates"
    handles {
        /// Momenta p = sum_a p_a T_a of SU(3) links, tr T_a T_b = delta_ab / 2, U' = i p U; the kinetic term is 1/2
        /// sum p_a^2. Matrices of other codes are multiples of i p: MILC's and QUDA's anti-hermitian matrices are
        /// sqrt(2) i p, and their unit of time is sqrt(2) of this one; openQCD's are i p.
        plaq_momentum: Momentum = 12,
    }
    choices {
        plaq_site_order = SiteOrder;
        plaq_momentum_form = MomentaForm;
        plaq_gauge_action_kind = GaugeActionKind;
    }
    tables {
        plaq_gauge_action_params, plaq_gauge_action_params_init;
    }
    reports {
        /// Report of an update of momenta by a force.
        plaq_force_report, plaq_force_report_init {
            /// Root mean square of |F| over links, |F|^2 = sum_a F_a^2, where F_a is dS/d omega_a for U -> exp(i
            /// omega_a T_a) U, without the step size.
            rms: f64,
            /// Largest |F| on a link.
            max: f64,
            /// Number of solver iterations.
            iterations: i64,
        }
    }
    functions {
        /// Makes momenta that are zero, for links on the lattice and in the precision (double or single) of `gauge`.
        plaq_momentum_create(gauge: Handle<plaq_gauge>, momentum: Out<plaq_momentum>) = create;
        /// Destroys momenta. The zero handle is accepted.
        plaq_momentum_destroy(momentum: Raw<plaq_momentum>) = destroy;
        /// Draws normally distributed p_a of variance 1: field number `number` in the sequence of `seed`, the same on
        /// every device and decomposition.
        plaq_momentum_gaussian(momentum: Handle<plaq_momentum>, seed: i64, number: i32) = gaussian;
        /// Gives the kinetic energy, the sum of 1/2 p_a^2 over all links of all ranks.
        plaq_momentum_kinetic(momentum: Handle<plaq_momentum>, kinetic: Out<f64>) = kinetic_of;
        /// Sets `momentum` to scale momentum + factor other.
        plaq_momentum_add(momentum: Handle<plaq_momentum>, scale: f64, other: Handle<plaq_momentum>, factor: f64) = add;
        /// Loads momenta from the host's array of this rank's sites, which contains `factor` times p. After an error
        /// the momenta are unchanged. Errors: NOT_FINITE, INVALID_ARGUMENT.
        plaq_momentum_load(momentum: Handle<plaq_momentum>, form: One<MomentaForm>, order: One<SiteOrder>, factor: f64, data: Array<f64>[("reals of the form") 4 ("sites of the rank")]) = load;
        /// Saves `factor` times the momenta into the host's array.
        plaq_momentum_save(momentum: Handle<plaq_momentum>, form: One<MomentaForm>, order: One<SiteOrder>, factor: f64, data: OutArray<f64>[("reals of the form") 4 ("sites of the rank")]) = save;
        /// Loads momenta, as plaq_momentum_load does, from an array of the host in `precision`, double or single.
        /// Errors: BAD_LAYOUT for memory of a device.
        plaq_momentum_load_in(momentum: Handle<plaq_momentum>, form: One<MomentaForm>, order: One<SiteOrder>, precision: One<Precision>, factor: f64, data: Data) = load_in;
        /// Saves momenta, as plaq_momentum_save does, into an array of the host in `precision`, double or single.
        /// Errors: those of plaq_momentum_save.
        plaq_momentum_save_in(momentum: Handle<plaq_momentum>, form: One<MomentaForm>, order: One<SiteOrder>, precision: One<Precision>, factor: f64, data: DataOut) = save_in;
        /// Measures the gauge action over all ranks.
        plaq_gauge_action(gauge: Handle<plaq_gauge>, params: Params<plaq_gauge_action_params>, action: Out<f64>) = action_gauge;
        /// Sets `momentum` to momentum - step F, F being the force of a gauge action. Links are stored as 18
        /// numbers, in the momenta's precision. Errors: UNSUPPORTED, FIELD_MISMATCH, BAD_PARAMETER.
        plaq_gauge_force(gauge: Handle<plaq_gauge>, params: Params<plaq_gauge_action_params>, momentum: Handle<plaq_momentum>, step: f64, report: Report<plaq_force_report>) = force_gauge;
        /// Sets U to exp(i step p) U, the exponential being exact to rounding for |step p| up to 8.
        plaq_gauge_evolve(gauge: Handle<plaq_gauge>, momentum: Handle<plaq_momentum>, step: f64) = evolve;
        /// Puts all links back into SU(3); `correction`: the largest change of a matrix entry.
        plaq_gauge_reunitarise(gauge: Handle<plaq_gauge>, correction: Out<f64>) = reunitarise;
    }
}

fn create(gauge: &Arc<Gauge>, momentum: &mut Out<plaq_momentum>) -> Result<()> {
    let links = gauge.read("gauge")?;
    let context = gauge.context();
    let bytes = Momenta::bytes(links.geometry(), links.precision());
    context.device().require(bytes as u64, "momenta")?;
    let field = Momenta::new(links.device(), links.geometry(), links.precision())?;
    let object = Momentum { context: context.clone(), field: Shared::new(field) };
    momentum.set(context.adopt(object)?);
    Ok(())
}

fn destroy(momentum: plaq_momentum) -> Result<()> {
    handles::remove(momentum, "momentum")
}

fn gaussian(momentum: &Arc<Momentum>, seed: i64, number: i32) -> Result<()> {
    momentum.write("momentum")?.set_gaussian(seed as u64, number as u32)
}

fn kinetic_of(momentum: &Arc<Momentum>, kinetic: &mut Out<f64>) -> Result<()> {
    kinetic.set(momentum.read("momentum")?.kinetic()?);
    Ok(())
}

fn add(momentum: &Arc<Momentum>, scale: f64, other: &Arc<Momentum>, factor: f64) -> Result<()> {
    momentum.context.check_same(&other.context, "other")?;
    for (name, number) in [("scale", scale), ("factor", factor)] {
        if !number.is_finite() {
            refuse!(InvalidArgument, "{name}", expected("a finite number"), found("{number}"));
        }
    }
    if Arc::ptr_eq(momentum, other) {
        return momentum.write("momentum")?.scale(scale + factor);
    }
    let other = other.read("other")?;
    momentum.write("momentum")?.add(scale, factor, &other)
}

fn load(
    momentum: &Arc<Momentum>,
    form: MomentaForm,
    order: SiteOrder,
    factor: f64,
    data: &Array<f64>,
) -> Result<()> {
    let mut momenta = momentum.write("momentum")?;
    let count = momenta.geometry().volume() * 4 * form.reals();
    momenta.load(&data.own(count), form, order, factor)
}

fn save(
    momentum: &Arc<Momentum>,
    form: MomentaForm,
    order: SiteOrder,
    factor: f64,
    data: &mut OutArray<f64>,
) -> Result<()> {
    let momenta = momentum.read("momentum")?;
    let mut array = vec![0.0; momenta.geometry().volume() * 4 * form.reals()];
    momenta.save(&mut array, form, order, factor)?;
    data.set(array);
    Ok(())
}

fn array_precision(precision: Precision) -> Result<Precision> {
    match precision {
        Precision::F16 => {
            refuse!(InvalidArgument, "precision", expected("double or single"), found("half"))
        }
        found => Ok(found),
    }
}

fn load_in(
    momentum: &Arc<Momentum>,
    form: MomentaForm,
    order: SiteOrder,
    precision: Precision,
    factor: f64,
    data: &Data,
) -> Result<()> {
    let precision = array_precision(precision)?;
    let mut momenta = momentum.write("momentum")?;
    let count = momenta.geometry().volume() * 4 * form.reals();
    on_host(&momenta, data, precision, count)?;
    momenta.load(&data.numbers(precision, count), form, order, factor)
}

fn save_in(
    momentum: &Arc<Momentum>,
    form: MomentaForm,
    order: SiteOrder,
    precision: Precision,
    factor: f64,
    data: &DataOut,
) -> Result<()> {
    let precision = array_precision(precision)?;
    let momenta = momentum.read("momentum")?;
    let mut array = vec![0.0; momenta.geometry().volume() * 4 * form.reals()];
    on_host(&momenta, data, precision, array.len())?;
    momenta.save(&mut array, form, order, factor)?;
    data.write(precision, &array);
    Ok(())
}

/// Refuses arrays on a device.
fn on_host(
    momenta: &Momenta,
    data: &impl Memory,
    precision: Precision,
    count: usize,
) -> Result<()> {
    if momenta.device().is_cpu() {
        return Ok(());
    }
    let bytes = [count * precision.bytes()];
    momenta.device().check_reach(&data.block(&bytes, Location::Host), &bytes)
}

fn force_of(gauge: &Gauge, params: &plaq_gauge_action_params) -> Result<Box<dyn LinkAction>> {
    let action = GaugeActionParams::from_c(params, "params")?;
    let links = gauge.read("gauge")?;
    action.link_action(links.device(), links.geometry(), links.precision())
}

fn action_gauge(
    gauge: &Arc<Gauge>,
    params: &plaq_gauge_action_params,
    action: &mut Out<f64>,
) -> Result<()> {
    let mut force = force_of(gauge, params)?;
    action.set(force.action(&*gauge.read("gauge")?)?);
    Ok(())
}

fn force_gauge(
    gauge: &Arc<Gauge>,
    params: &plaq_gauge_action_params,
    momentum: &Arc<Momentum>,
    step: f64,
    report: &mut Report<plaq_force_report>,
) -> Result<()> {
    gauge.context().check_same(&momentum.context, "momentum")?;
    if !step.is_finite() {
        refuse!(InvalidArgument, "step", expected("a finite number"), found("{step}"));
    }
    let mut force = force_of(gauge, params)?;
    let mut momenta = momentum.write("momentum")?;
    let done = force.kick(&*gauge.read("gauge")?, &mut momenta, 1.0, step)?;
    report.set(done.into());
    Ok(())
}

impl From<KickReport> for plaq_force_report {
    fn from(k: KickReport) -> Self {
        let iterations = k.solves.iterations as i64;
        plaq_force_report { rms: k.rms, max: k.max, iterations, ..Default::default() }
    }
}

fn evolve(gauge: &Arc<Gauge>, momentum: &Arc<Momentum>, step: f64) -> Result<()> {
    gauge.context().check_same(&momentum.context, "momentum")?;
    if !step.is_finite() {
        refuse!(InvalidArgument, "step", expected("a finite number"), found("{step}"));
    }
    let momenta = momentum.read("momentum")?;
    gauge.change("gauge", |links| links.evolve(&momenta, step))
}

fn reunitarise(gauge: &Arc<Gauge>, correction: &mut Out<f64>) -> Result<()> {
    let mut max = 0.0;
    // This works on a copy, so that the field stays as it is if links are not finite.
    gauge.replace("gauge", |old| {
        let mut links = old.to(old.precision(), old.recon())?;
        max = links.reunitarise()?;
        Ok(links)
    })?;
    correction.set(max);
    Ok(())
}
