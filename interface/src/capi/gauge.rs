//! Gauge fields.

use std::sync::Arc;

use super::args::{number_of, Data, DataOut, Handle, Local, Out, Params, Raw, Report};
use super::context::{plaq_context, Context};
use super::field::{geometry, plaq_precision, to_c_extents};
use super::handles::{self, Shared};
use super::layout::{plaq_layout_params, LayoutParams};
use super::table::interface;
use crate::error::Result;
use crate::fields::{
    BoundaryKind, BoundaryParams, GaugeField, Geometry, Group, Precision, Recon, Subset,
};
use crate::ops::config::fix_links;
pub use crate::ops::link_smearing::plaq_gauge_smear_params;
use crate::ops::link_smearing::{LinkSmearing, SmearingKind};
use crate::params::InC;
use crate::refuse;
use plaq_core::boundary_angle_rows;

/// The object behind the handle `plaq_gauge`. Operators share its links. A call that changes shared links changes a
/// copy, so that operators keep the links with which they were made.
#[derive(Debug)]
pub struct Gauge {
    context: Arc<Context>,
    field: Shared<Arc<GaugeField>>,
}

impl Gauge {
    pub(crate) fn new(context: &Arc<Context>, field: GaugeField) -> Self {
        Gauge { context: context.clone(), field: Shared::new(Arc::new(field)) }
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The links that the object has now; an error names it `argument`.
    pub(crate) fn read(&self, argument: &str) -> Result<Arc<GaugeField>> {
        Ok(self.field.read(argument)?.clone())
    }

    /// Replaces the links by new ones of the same shape; if `make` fails they are not changed.
    pub(crate) fn replace(
        &self,
        argument: &str,
        make: impl FnOnce(&GaugeField) -> Result<GaugeField>,
    ) -> Result<()> {
        let mut field = self.field.write(argument)?;
        *field = Arc::new(make(&field)?);
        Ok(())
    }
}

impl Gauge {
    /// Calls `work` to change the links in place, or a copy of them if an operator shares them.
    pub(crate) fn change(
        &self,
        argument: &str,
        work: impl FnOnce(&mut GaugeField) -> Result<()>,
    ) -> Result<()> {
        let mut field = self.field.write(argument)?;
        if let Some(links) = Arc::get_mut(&mut field) {
            return work(links);
        }
        let mut copy = field.to(field.precision(), field.recon())?;
        work(&mut copy)?;
        *field = Arc::new(copy);
        Ok(())
    }
}

crate::params::row_set! {
    extents_rows {
        /// Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be set, or taken from
        /// `gauge`.
        extents: [i32; 4] = [0; 4];
    }
}
crate::params::row_set! {
    extents_of_rows {
        /// A gauge field that has the extents, if `extents` are zeros; otherwise both must be equal. Default:
        /// none.
        gauge: Host<plaq_gauge> = Host(plaq_gauge::NONE);
    }
}

crate::params::parameters! {
    /// Shape of a gauge field.
    pub composed struct GaugeParams: plaq_gauge_params {
        /// Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be
        /// set.
        extents: [i32; 4] = [0; 4];
        /// Precision of the links.
        precision: Precision = Precision::F64;
        /// Storage of the links, which also determines the gauge group.
        storage: Recon = Recon::R18;
        /// Boundaries in time of the links; 0: periodic.
        boundary_time: Option<BoundaryKind> = None;
        with boundary_angle_rows;
    }
}

interface! {
    "Gauge fields"
    handles {
        /// Links U_mu(x) from x to x + mu, mu = x, y, z, t. They are periodic: boundary phases belong to operators.
        /// Operators keep the links with which they were made.
        plaq_gauge: Gauge = 2,
    }
    choices {
        plaq_storage = Recon;
        plaq_smearing = SmearingKind;
        plaq_boundary_time = BoundaryKind;
    }
    tables {
        plaq_gauge_smear_params, plaq_gauge_smear_params_init;
        plaq_gauge_params, plaq_gauge_params_init;
    }
    reports {
        /// Description of a gauge field.
        plaq_gauge_report, plaq_gauge_report_init {
            /// Sites of this rank in x, y, z, t.
            extents: [i32; 4],
            /// Precision of the links.
            precision: plaq_precision,
            /// Storage of the links.
            storage: plaq_storage,
            /// Bytes of device memory of the links.
            bytes: i64,
            /// Boundaries in time of the links.
            boundary_time: plaq_boundary_time,
            /// Angles of the fixed spatial links on slice 0; NaN if these are not fixed.
            phi: [f64; 3],
            /// Angles of the fixed spatial links on slice N_t; NaN if these are not fixed.
            phi_prime: [f64; 3],
        }
    }
    functions {
        /// Makes a gauge field with unspecified links. Errors: BAD_EXTENTS, OUT_OF_MEMORY, INVALID_ARGUMENT.
        plaq_gauge_create(context: Handle<plaq_context>, params: Params<plaq_gauge_params>, gauge: Out<plaq_gauge>) = create;
        /// Destroys a gauge field; operators made with it remain valid. The zero handle is accepted.
        plaq_gauge_destroy(gauge: Raw<plaq_gauge>) = destroy;
        /// Describes the shape and size of a gauge field.
        plaq_gauge_describe(gauge: Local<plaq_gauge>, report: Report<plaq_gauge_report>) = describe;
        /// Smears the links of an SU(3) field; a projection to SU(3) is the unitary factor of the polar decomposition
        /// with determinant 1. After an error the links are unchanged. Errors: BAD_PARAMETER, UNSUPPORTED,
        /// OUT_OF_MEMORY.
        plaq_gauge_smear(gauge: Handle<plaq_gauge>, params: Params<plaq_gauge_smear_params>) = smear;
        /// Copies the links of `from` into `to`; precision and storage may differ. Errors: FIELD_MISMATCH for another
        /// lattice or group, or other boundaries in time.
        plaq_gauge_copy(from: Handle<plaq_gauge>, to: Handle<plaq_gauge>) = copy;
        /// Declares that the links of `gauge` were smeared from those of `from`, or have flowed from them, elsewhere,
        /// e.g. in another program, so that quarks on `from` may be smeared with them; it holds until the links of
        /// `gauge` change. Links that this library has smeared need no declaration. Errors: FIELD_MISMATCH for another
        /// lattice or group.
        plaq_gauge_belongs_to(gauge: Handle<plaq_gauge>, from: Handle<plaq_gauge>) = belongs_to;
        /// Loads links from the host's array; after an error the old ones are kept. Errors: NOT_UNITARY, NOT_FINITE
        /// (naming the link), BAD_LAYOUT.
        plaq_gauge_load(gauge: Handle<plaq_gauge>, layout: Params<plaq_layout_params>, data: Data) = load;
        /// Saves the links into the host's array.
        plaq_gauge_save(gauge: Handle<plaq_gauge>, layout: Params<plaq_layout_params>, data: DataOut) = save;
    }
}

fn belongs_to(gauge: &Arc<Gauge>, from: &Arc<Gauge>) -> Result<()> {
    gauge.context.check_same(&from.context, "from")?;
    let (links, from) = (gauge.read("gauge")?, from.read("from")?);
    if links.geometry() != from.geometry() || links.group() != from.group() {
        refuse!(FieldMismatch, "from", expected("links on the lattice and of the group of gauge"));
    }
    links.belongs_to(&from);
    Ok(())
}

/// The lattice for parameters with members `extents` and `gauge`.
pub(crate) fn geometry_of(
    extents: [i32; 4],
    gauge: plaq_gauge,
    context: &Context,
) -> Result<Arc<Geometry>> {
    if gauge == plaq_gauge::NONE {
        return geometry(extents, context);
    }
    let gauge = handles::get(gauge, "params.gauge")?;
    context.check_same(gauge.context(), "params.gauge")?;
    let found = gauge.read("params.gauge")?.geometry().clone();
    let own = to_c_extents(&found);
    if extents != [0; 4] && extents != own {
        refuse!(
            BadExtents,
            "params.extents",
            expected("those of params.gauge, {own:?}"),
            found("{extents:?}")
        );
    }
    Ok(found)
}

fn create(
    context: &Arc<Context>,
    params: &plaq_gauge_params,
    gauge: &mut Out<plaq_gauge>,
) -> Result<()> {
    let GaugeParams { extents, precision, storage, boundary_time, phi, phi_prime } =
        GaugeParams::from_c(params, "params")?;
    let boundary = BoundaryParams { boundary_time, phi, phi_prime };
    let boundary = boundary.boundary("params.")?.unwrap_or_default();
    if storage.group() != Group::Su3 && !boundary.is_periodic() {
        refuse!(
            Unsupported,
            "params.boundary_time",
            expected("periodic for links of SU(2)"),
            found("{}", boundary.kind())
        );
    }
    let geometry = geometry(extents, context)?.bounded(boundary)?;
    let bytes = GaugeField::bytes(&geometry, precision, storage);
    context.device().require(bytes as u64, "a gauge field")?;
    let field = GaugeField::new(context.device(), &geometry, precision, storage)?;
    gauge.set(context.adopt(Gauge::new(context, field))?);
    Ok(())
}

fn smear(gauge: &Arc<Gauge>, p: &plaq_gauge_smear_params) -> Result<()> {
    let p = LinkSmearing::from_c(p, "params")?;
    gauge.replace("gauge", |old| p.apply(old))
}

fn destroy(gauge: plaq_gauge) -> Result<()> {
    handles::remove(gauge, "gauge")
}

fn describe(gauge: &Arc<Gauge>, report: &mut Report<plaq_gauge_report>) -> Result<()> {
    let field = gauge.read("gauge")?;
    let (geometry, precision, storage) = (field.geometry(), field.precision(), field.recon());
    report.set(plaq_gauge_report {
        extents: to_c_extents(geometry),
        precision: number_of(precision),
        storage: number_of(storage),
        bytes: GaugeField::bytes(geometry, precision, storage) as i64,
        boundary_time: number_of(geometry.boundary().kind()),
        phi: geometry.boundary().phi().unwrap_or([f64::NAN; 3]),
        phi_prime: geometry.boundary().phi_prime().unwrap_or([f64::NAN; 3]),
        ..Default::default()
    });
    Ok(())
}

fn copy(from: &Arc<Gauge>, to: &Arc<Gauge>) -> Result<()> {
    from.context.check_same(&to.context, "to")?;
    let source = from.read("from")?;
    to.replace("to", |old| {
        let form = (old.precision(), old.recon());
        let mut new = GaugeField::new(old.device(), old.geometry(), form.0, form.1)?;
        new.copy_from(&source)?;
        Ok(new)
    })
}

fn load(gauge: &Arc<Gauge>, layout: &plaq_layout_params, data: &Data) -> Result<()> {
    let layout = LayoutParams::of(layout)?;
    gauge.replace("gauge", |old| {
        let extents = old.geometry().extents();
        let description = layout.links(extents)?;
        let shape = (extents, old.group(), Subset::Full);
        let memory = layout.external(data, &description, shape, 1)?;
        let options = layout.link_options()?;
        let mut links = GaugeField::from_external(
            old.device(),
            old.geometry(),
            (old.precision(), old.recon()),
            &description,
            &memory,
            options,
        )?;
        fix_links(&mut links, options.tolerance)?;
        Ok(links)
    })
}

fn save(gauge: &Arc<Gauge>, layout: &plaq_layout_params, data: &DataOut) -> Result<()> {
    let layout = LayoutParams::of(layout)?;
    let links = gauge.read("gauge")?;
    let extents = links.geometry().extents();
    let description = layout.links(extents)?;
    let shape = (extents, links.group(), Subset::Full);
    links.save(&description, &mut layout.external(data, &description, shape, 1)?)
}
