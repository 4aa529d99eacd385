//! Fields of spinors and of colour vectors.

use std::sync::{Arc, Mutex, PoisonError, RwLockReadGuard, RwLockWriteGuard};

use super::args::{
    number_of, Array, Data, DataOut, Handle, Local, Memory, Out, OutArray, Params, Raw, Report,
};
use super::context::{plaq_context, Context};
use super::field::{plaq_precision, plaq_subset, to_c_extents};
use super::gauge::{extents_of_rows, extents_rows, geometry_of, plaq_gauge, Gauge};
use super::handles::{self, Shared};
use super::layout::{plaq_layout_params, LayoutParams};
use super::path::steps_of;
use super::table::interface;
use crate::backend::External;
use crate::error::Result;
use crate::fields::{
    blas, vanishing, Components, GammaBasis, GaugeField, Group, Layout, Precision, Recon, RhsOrder,
    SpinorField, Subset,
};
use crate::io::{Origin, SEQUENTIAL_SOURCE};
use crate::linop::LinOp;
use crate::operators::{Boundary, CovariantShift};
use crate::ops::links_mark::{check_links, check_same, check_same_links};
use crate::ops::paths::LONGEST;
pub use crate::ops::smearing::plaq_spinor_smear_params;
use crate::ops::smearing::QuarkSmearing;
use crate::ops::structure::lines::displacement;
use crate::ops::structure::sequential::times_boundary;
use crate::params::{Host, InC as _};
use crate::refuse;
use num_complex::Complex64;

/// The object behind the handle `plaq_spinor`.
#[derive(Debug)]
pub struct Spinor {
    context: Arc<Context>,
    field: Shared<SpinorField>,
    /// Source position, boundary phases, masses and links of the solves that made the columns, as far as known.
    origin: Mutex<Origin>,
}

impl Spinor {
    pub(crate) fn new(context: &Arc<Context>, field: SpinorField) -> Self {
        Spinor::with_origin(context, field, Origin::default())
    }
    pub(crate) fn with_origin(context: &Arc<Context>, field: SpinorField, origin: Origin) -> Self {
        Spinor { context: context.clone(), field: Shared::new(field), origin: Mutex::new(origin) }
    }
    pub(crate) fn origin(&self) -> Origin {
        *self.origin.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(crate) fn set_origin(&self, origin: Origin) {
        *self.origin.lock().unwrap_or_else(PoisonError::into_inner) = origin;
    }
    /// Refuses links of another configuration than that of the propagator's operator, if that is known.
    pub(crate) fn check_links(&self, name: &str, links: &GaugeField, argument: &str) -> Result<()> {
        match self.origin().links {
            Some(mark) => check_links(&mark, name, links, argument),
            None => Ok(()),
        }
    }
    /// Refuses links other than those of the propagator's operator, if these are known; links smeared from them are
    /// refused, too.
    pub(crate) fn check_own_links(
        &self,
        name: &str,
        links: &GaugeField,
        argument: &str,
    ) -> Result<()> {
        match self.origin().links {
            Some(mark) => check_same(&mark, name, links, argument),
            None => Ok(()),
        }
    }
    /// Refuses to take this field as a source for the operator with the origin `of` if it belongs to another
    /// configuration.
    pub(crate) fn check_source(&self, name: &str, of: Origin) -> Result<()> {
        let known = self.origin();
        // A sequential source through a sink is projected to the sink's momentum for a quark with certain phases.
        let phases = known.boundary_space.zip(of.boundary_space);
        let phases = phases.filter(|_| known.kind == Some(SEQUENTIAL_SOURCE));
        let in_space = |[x, y, z]: [f64; 3]| Boundary([x, y, z, 0.0]);
        if let Some((source, own)) =
            phases.filter(|(a, b)| !in_space(*a).same_in_space(in_space(*b)))
        {
            refuse!(
                InvalidArgument,
                "{name}",
                expected("a source for quarks with the boundary phases {own:?} in space"),
                found("one for {source:?}")
            );
        }
        // Propagators and sources made of them have a position. Pseudofermions, noise and images of operators do not:
        // they may go on to other links, as in molecular dynamics.
        let placed = known.position.iter().any(Option::is_some);
        match of.links.zip(known.links.filter(|_| placed)) {
            Some((own, found)) => check_same_links((&own, "solver"), (&found, name)),
            None => Ok(()),
        }
    }
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    /// The field for work on spinors; colour vectors are refused.
    pub(crate) fn read(&self, argument: &str) -> Result<RwLockReadGuard<'_, SpinorField>> {
        let field = self.field.read(argument)?;
        only_spinors(&field, argument)?;
        Ok(field)
    }
    pub(crate) fn write(&self, argument: &str) -> Result<RwLockWriteGuard<'_, SpinorField>> {
        let field = self.field.write(argument)?;
        only_spinors(&field, argument)?;
        Ok(field)
    }
    /// Locks the field for reading; it may hold spinors or colour vectors.
    pub(crate) fn read_any(&self, argument: &str) -> Result<RwLockReadGuard<'_, SpinorField>> {
        self.field.read(argument)
    }
    pub(crate) fn write_any(&self, argument: &str) -> Result<RwLockWriteGuard<'_, SpinorField>> {
        self.field.write(argument)
    }
}

fn only_spinors(field: &SpinorField, argument: &str) -> Result<()> {
    match field.components() {
        Components::SPINOR => Ok(()),
        found => refuse!(FieldMismatch, "{argument}", expected("spinors, 4 x 3"), found("{found}")),
    }
}

crate::params::parameters! {
    /// Shape of a spinor field.
    pub composed struct SpinorParams: plaq_spinor_params {
        with extents_rows;
        /// Precision of the spinors.
        precision: Precision = Precision::F64;
        /// Sites that the field has.
        subset: Subset = Subset::Full;
        /// Number of right-hand sides.
        nrhs: usize = 1, within(1, 4096);
        /// Number of spins of a site: 4 for spinors, 1 for colour vectors.
        spins: i32 = 4;
        with extents_of_rows;
        /// Number of slices of a right-hand side: 1, or 2 for a doublet of flavours, one for each flavour. In
        /// arrays of the host slices are slower than sites and faster than right-hand sides.
        slices: i64 = 1;
    }
}

interface! {
    "Spinor fields"
    handles {
        /// Wilson spinors, 4 spins x 3 colours per site, of one or two flavours, or colour vectors, 3 colours per
        /// site, for one or more right-hand sides.
        plaq_spinor: Spinor = 3,
    }
    tables {
        plaq_spinor_smear_params, plaq_spinor_smear_params_init;
        plaq_spinor_params, plaq_spinor_params_init;
    }
    reports {
        /// Description of a spinor field.
        plaq_spinor_report, plaq_spinor_report_init {
            /// Sites of this rank in x, y, z, t.
            extents: [i32; 4],
            /// Precision of the spinors.
            precision: plaq_precision,
            /// Sites of the field: all, or those of one parity.
            subset: plaq_subset,
            /// Number of right-hand sides.
            nrhs: i32,
            /// Number of spins of a site: 4 for spinors, 1 for colour vectors.
            spins: i32,
            /// Bytes of device memory of the field.
            bytes: i64,
            /// Number of slices of a right-hand side: 2 for a doublet of flavours, else 1.
            slices: i64,
        }
    }
    functions {
        /// Makes a spinor field with all numbers zero. Errors: BAD_PARAMETER, BAD_EXTENTS, OUT_OF_MEMORY, INVALID_ARGUMENT.
        plaq_spinor_create(context: Handle<plaq_context>, params: Params<plaq_spinor_params>, spinor: Out<plaq_spinor>) = create;
        /// Destroys a spinor field. The zero handle is accepted.
        plaq_spinor_destroy(spinor: Raw<plaq_spinor>) = destroy;
        /// Describes the shape and size of a spinor field.
        plaq_spinor_describe(spinor: Local<plaq_spinor>, report: Report<plaq_spinor_report>) = describe;
        /// Loads spinors from the host's array; for a field of one parity only sites of that are read. After an error
        /// the field is unchanged. Errors: NOT_FINITE, BAD_LAYOUT.
        plaq_spinor_load(spinor: Handle<plaq_spinor>, layout: Params<plaq_layout_params>, data: Data) = load;
        /// Saves the spinors into the host's array; sites that are not in the field are not written.
        plaq_spinor_save(spinor: Handle<plaq_spinor>, layout: Params<plaq_layout_params>, data: DataOut) = save;
        /// Sets all numbers of a field to zero.
        plaq_spinor_zero(spinor: Handle<plaq_spinor>) = zero;
        /// Copies `from` to `to`; precisions may differ.
        plaq_spinor_copy(from: Handle<plaq_spinor>, to: Handle<plaq_spinor>) = copy;
        /// Computes y = a x + b y, with one complex (re, im) a and b per right-hand side: `count` = nrhs.
        plaq_spinor_axpby(a: Array<f64>[2 count], x: Handle<plaq_spinor>, b: Array<f64>[2 count], y: Handle<plaq_spinor>, count: i64) = axpby;
        /// Smears every right-hand side of a field on both parities, in any precision, with the links of `gauge`
        /// (SU(3)). After an error the field is unchanged. Errors: BAD_PARAMETER, UNSUPPORTED, FIELD_MISMATCH,
        /// OUT_OF_MEMORY.
        plaq_spinor_smear(spinor: Handle<plaq_spinor>, gauge: Handle<plaq_gauge>, params: Params<plaq_spinor_smear_params>) = smear;
        /// Computes the covariant shift y of x along a path of `length` steps, 0 to 3 forward in x, y, z, t and 7 -
        /// mu back in direction mu: y(n) is x at the end of the path that starts at n, parallel transported to n by
        /// the links of `gauge` (SU(3)); one step forward is U_mu(n) x(n + mu). A spinor that records boundary phases
        /// (plaq_spinor_origin) takes them along across the lattice's end, other fields are periodic. Fields are on
        /// both parities; y and x are different fields. With boundaries of the links in time y(n) is zero where the path
        /// leaves the slices that are stored, and spinors x count as zero where quarks vanish. Errors: BAD_PARAMETER,
        /// FIELD_MISMATCH, OUT_OF_MEMORY.
        plaq_spinor_shift(y: Handle<plaq_spinor>, gauge: Handle<plaq_gauge>, steps: Array<i32>, length: i64, x: Handle<plaq_spinor>) = shift;
        /// Computes |x|^2, summed over sites, spin and colour, for each right-hand side: `count` = nrhs.
        plaq_spinor_norm2(x: Handle<plaq_spinor>, norms: OutArray<f64>[count], count: i64) = norm2;
        /// Computes conj(x) y, summed over sites, spin and colour, as (re, im) for each right-hand side: `count` =
        /// nrhs.
        plaq_spinor_dot(x: Handle<plaq_spinor>, y: Handle<plaq_spinor>, products: OutArray<f64>[2 count], count: i64) = dot;
    }
}

fn create(
    context: &Arc<Context>,
    params: &plaq_spinor_params,
    spinor: &mut Out<plaq_spinor>,
) -> Result<()> {
    let p = SpinorParams::from_c(params, "params")?;
    let components = match (p.slices, components_of(p.spins)?) {
        (1, components) => components,
        (2, Components::SPINOR) => Components::DOUBLET,
        (slices, _) => refuse!(
            InvalidArgument,
            "params.slices",
            expected("1, or 2 with 4 spins"),
            found("{slices} with {} spins", p.spins)
        ),
    };
    let device = context.device();
    let geometry = geometry_of(p.extents, p.gauge.0, context)?;
    let (precision, subset, nrhs) = (p.precision, p.subset, p.nrhs);
    let bytes = SpinorField::bytes_of(&geometry, precision, subset, nrhs, components);
    device.require(bytes as u64, "a spinor field")?;
    let content = (components, RhsOrder::Slowest);
    let field = SpinorField::with_components(device, &geometry, precision, subset, nrhs, content)?;
    spinor.set(context.adopt(Spinor::new(context, field))?);
    Ok(())
}

fn shift(
    y: &Arc<Spinor>,
    gauge: &Arc<Gauge>,
    steps: &Array<i32>,
    length: i64,
    x: &Arc<Spinor>,
) -> Result<()> {
    y.context.check_same(gauge.context(), "gauge")?;
    y.context.check_same(x.context(), "x")?;
    if !(1..=LONGEST as i64).contains(&length) {
        refuse!(BadParameter, "length", expected("1 to {LONGEST}"), found("{length}"));
    }
    let path = steps_of(&steps.get(length as usize)?)?;
    let links = gauge.read("gauge")?;
    x.check_links("x", &links, "gauge")?;
    let (known, x) = (x.origin(), x.read_any("x")?);
    let (target, mut y) = (y, y.write_any("y")?);
    target.set_origin(known);
    let recon = if links.recon() == Recon::R18 { Recon::R18 } else { Recon::R12 };
    let links = match (links.precision(), links.recon()) == (x.precision(), recon) {
        true => links.clone(),
        false => links.shared_copy(x.precision(), recon)?,
    };
    let boundary = links.geometry().boundary();
    let quarks = x.components() == Components::SPINOR && !boundary.is_periodic();
    let inside = quarks.then(|| vanishing(&x, boundary)).transpose()?;
    let moved = displacement(&path);
    CovariantShift::new(links, x.components(), path)?
        .apply(&mut y, inside.as_ref().unwrap_or(&x))?;
    // The columns of a propagator take the phases of their operator along.
    match known.boundary.zip(known.boundary_space).filter(|_| x.components() == Components::SPINOR)
    {
        Some((t, [x, y_angle, z])) => times_boundary(&mut y, moved, [x, y_angle, z, t]),
        None => Ok(()),
    }
}

/// The components of a site, by the number of spins: 4 for spinors, 1 for colour vectors.
pub(crate) fn components_of(spins: i32) -> Result<Components> {
    match spins {
        4 => Ok(Components::SPINOR),
        1 => Ok(Components::COLOUR),
        _ => refuse!(InvalidArgument, "params.spins", expected("4 or 1"), found("{spins}")),
    }
}

fn smear(
    spinor: &Arc<Spinor>,
    gauge: &Arc<Gauge>,
    params: &plaq_spinor_smear_params,
) -> Result<()> {
    spinor.context.check_same(gauge.context(), "gauge")?;
    let smearing = QuarkSmearing::from_c(params, "params")?;
    let links = gauge.read("gauge")?;
    spinor.check_links("spinor", &links, "gauge")?;
    let mut psi = spinor.write_any("spinor")?;
    smearing.apply(&mut psi, &links)
}

fn destroy(spinor: plaq_spinor) -> Result<()> {
    handles::remove(spinor, "spinor")
}

fn describe(spinor: &Arc<Spinor>, report: &mut Report<plaq_spinor_report>) -> Result<()> {
    let f = spinor.read_any("spinor")?;
    report.set(plaq_spinor_report {
        extents: to_c_extents(f.geometry()),
        precision: number_of(f.precision()),
        subset: number_of(f.subset()),
        nrhs: f.nrhs() as i32,
        spins: f.components().spins as i32,
        bytes: f.held() as i64,
        slices: f.components().slices as i64,
        ..Default::default()
    });
    Ok(())
}

fn external<'a>(
    field: &SpinorField,
    layout: &LayoutParams,
    data: &'a impl Memory,
) -> Result<(Layout, External<'a>)> {
    let Components { slices, spins, .. } = field.components();
    let mut description = Layout { spins, ..layout.spinors()? };
    if spins == 1 {
        description.basis = GammaBasis::DeGrandRossi;
    }
    let shape = (field.geometry().extents(), Group::Su3, field.subset());
    let memory = layout.external(data, &description, shape, slices * field.nrhs())?;
    Ok((description, memory))
}

fn load(spinor: &Arc<Spinor>, layout: &plaq_layout_params, data: &Data) -> Result<()> {
    let layout = LayoutParams::of(layout)?;
    let mut field = spinor.write_any("spinor")?;
    let (description, memory) = external(&field, &layout, data)?;
    field.load(&description, &memory, layout.checked())?;
    spinor.set_origin(Origin::default());
    Ok(())
}

fn save(spinor: &Arc<Spinor>, layout: &plaq_layout_params, data: &DataOut) -> Result<()> {
    let layout = LayoutParams::of(layout)?;
    let field = spinor.read_any("spinor")?;
    let (description, mut memory) = external(&field, &layout, data)?;
    field.save(&description, &mut memory)
}

fn zero(spinor: &Arc<Spinor>) -> Result<()> {
    spinor.write_any("spinor")?.clear()?;
    spinor.set_origin(Origin::default());
    Ok(())
}

fn copy(from: &Arc<Spinor>, to: &Arc<Spinor>) -> Result<()> {
    from.context.check_same(&to.context, "to")?;
    let source = from.read_any("from")?;
    let mut target = to.write_any("to")?;
    blas::copy(&mut target, &source)?;
    to.set_origin(from.origin());
    Ok(())
}

/// Checks that an argument `count` is the number of right-hand sides.
fn check_count(count: i64, field: &SpinorField) -> Result<usize> {
    if count != field.nrhs() as i64 {
        refuse!(
            InvalidArgument,
            "count",
            expected("{} right-hand sides", field.nrhs()),
            found("{count}")
        );
    }
    Ok(field.nrhs())
}

fn axpby(
    a: &Array<f64>,
    x: &Arc<Spinor>,
    b: &Array<f64>,
    y: &Arc<Spinor>,
    count: i64,
) -> Result<()> {
    x.context.check_same(&y.context, "y")?;
    let source = x.read_any("x")?;
    let mut target = y.write_any("y")?;
    let n = check_count(count, &source)?;
    let pairs = |c: &Array<f64>| -> Result<Vec<Complex64>> {
        Ok(c.get(2 * n)?.chunks(2).map(|z| Complex64::new(z[0], z[1])).collect())
    };
    blas::axpby(&pairs(a)?, &source, &pairs(b)?, &mut target)?;
    y.set_origin(y.origin().shared(x.origin()));
    Ok(())
}

fn norm2(x: &Arc<Spinor>, norms: &mut OutArray<f64>, count: i64) -> Result<()> {
    let field = x.read_any("x")?;
    check_count(count, &field)?;
    norms.set(blas::norm2(&field)?);
    Ok(())
}

fn dot(x: &Arc<Spinor>, y: &Arc<Spinor>, products: &mut OutArray<f64>, count: i64) -> Result<()> {
    x.context.check_same(&y.context, "y")?;
    let (x, y) = (x.read_any("x")?, y.read_any("y")?);
    check_count(count, &x)?;
    products.set(blas::dot(&x, &y)?.iter().flat_map(|z| [z.re, z.im]).collect());
    Ok(())
}
