//! Dirac operators of Wilson type.

use std::sync::Arc;

use super::args::{number_of, Handle, Local, One, OptionalHandle, Out, Params, Raw, Report};
use super::clover::{plaq_clover, Clover};
use super::context::{plaq_context, Context};
use super::field::plaq_precision;
use super::gauge::{plaq_gauge, plaq_storage, Gauge};
use super::handles;
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::compose::{Normalisation, SolveParams};
use crate::error::Result;
use crate::fields::{
    blas, vanishing, CloverField, CloverForm, Components, GaugeField, Group, Precision, Recon,
    SpinorField,
};
use crate::io::Origin;
use crate::linop::{LinOp, Schur, Shape, System, Workspace};
use crate::operators::{
    plaq_dirac_params, ActionParams, CloverLinks, DiracParams, DoubletParams, InverseOwner,
    QuarkAction, QuarkParams, SchurAction, Storage, Wilson,
};
use crate::ops::links_mark::links_mark;
use crate::ops::propagator::{propagates, run_through, COLUMNS};
use crate::params::{Choice, InC as _, Key};
use crate::refuse;

/// The object behind the handle `plaq_dirac`.
pub struct Dirac {
    context: Arc<Context>,
    op: Arc<dyn QuarkAction>,
    /// Schur complements in the order of `plaq_system`, as far as the action has them.
    schur: [Option<Arc<dyn SchurAction>>; 4],
    normalisation: Normalisation,
    /// Phases of the fields in x, y, z and t in units of pi.
    boundary: [f64; 4],
    mu: f64,
    csw: Option<[f64; 2]>,
    clover: Option<CloverForm>,
    workspace: Workspace,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    Plain,
    Dagger,
    DaggerTimes,
    TimesDagger,
}

interface! {
    "Dirac operators: Wilson, clover, twisted mass"
    handles {
        /// An operator with its own hold on links and clover term: changing the gauge field
        /// afterwards does not change it.
        plaq_dirac: Dirac = 4,
    }
    choices {
        plaq_clover_form = CloverForm;
        plaq_clover_links = CloverLinks;
        plaq_normalisation = Normalisation;
        plaq_system = System;
    }
    constants {
        /// An operator M, its adjoint, or a product of the two.
        plaq_form: Form {
            /// The operator M itself.
            PLAQ_FORM_M = 0 => Form::Plain,
            /// The adjoint M^dagger.
            PLAQ_FORM_MDAG = 1 => Form::Dagger,
            /// The product M^dagger M, hermitian and positive.
            PLAQ_FORM_MDAGM = 2 => Form::DaggerTimes,
            /// The product M M^dagger, hermitian and positive.
            PLAQ_FORM_MMDAG = 3 => Form::TimesDagger,
        }
    }
    tables {
        plaq_dirac_params, plaq_dirac_params_init;
    }
    reports {
        /// Description of an operator.
        plaq_dirac_report, plaq_dirac_report_init {
            /// Hopping parameter.
            kappa: f64,
            /// Bare mass.
            mass: f64,
            /// Floating-point operations of one application to one right-hand side.
            flops: f64,
            /// Compulsory bytes of one application to one right-hand side.
            bytes: f64,
            /// Precision of the operator.
            precision: plaq_precision,
            /// Storage of the operator's links.
            storage: plaq_storage,
        }
    }
    functions {
        /// Makes an operator on the links of `gauge` (SU(3), in single or double precision if
        /// there is a clover term). Where the clover term has no inverse on a site, what takes that is
        /// SINGULAR_CLOVER: even-odd systems and solves by them, forces. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
        plaq_dirac_create(context: Handle<plaq_context>, gauge: Handle<plaq_gauge>, params: Params<plaq_dirac_params>, dirac: Out<plaq_dirac>) = create;
        /// Makes an operator whose hops have the links of `gauge`, smeared ones, and whose clover term is made of
        /// `thin`, the links that they are smeared from, on the same lattice and in the same precision; clover_links is
        /// then PLAQ_CLOVER_LINKS_THIN, whatever `params` say. Errors: those of plaq_dirac_create; FIELD_MISMATCH.
        plaq_dirac_create_thin(context: Handle<plaq_context>, gauge: Handle<plaq_gauge>, thin: Handle<plaq_gauge>, params: Params<plaq_dirac_params>, dirac: Out<plaq_dirac>) = create_thin;
        /// Makes an operator with a clover term A of the host in place of the one made of the links, in the
        /// precision of the gauge field; csw is not used. `inverse` is A^-1, for mu other than 0 or the zero handle
        /// it is computed.
        plaq_dirac_create_with_clover(context: Handle<plaq_context>, gauge: Handle<plaq_gauge>, params: Params<plaq_dirac_params>, clover: Handle<plaq_clover>, inverse: OptionalHandle<plaq_clover>, dirac: Out<plaq_dirac>) = create_with_clover;
        /// Makes the operator of two twisted flavours whose masses differ, M + i mu gamma5 tau3 - epsilon tau1 with the
        /// M of `params` without its mu. Vectors have 2 slices. Errors: those of plaq_dirac_create.
        plaq_dirac_create_doublet(context: Handle<plaq_context>, gauge: Handle<plaq_gauge>, params: Params<plaq_dirac_params>, epsilon: f64, dirac: Out<plaq_dirac>) = create_doublet;
        /// Puts the links of `gauge` into the operator, its clover term and its solvers, in the memory
        /// that they have: nothing is allocated, compiled or tuned again where `gauge` is in the
        /// operator's precision and stored as 18 or 12 numbers. `gauge` has the lattice of the
        /// operator. Errors: FIELD_MISMATCH; UNSUPPORTED for a clover term of the host or of thin links.
        plaq_dirac_update(dirac: Handle<plaq_dirac>, gauge: Handle<plaq_gauge>) = update;
        /// Destroys an operator. The zero handle is accepted.
        plaq_dirac_destroy(dirac: Raw<plaq_dirac>) = destroy;
        /// Describes parameters and cost of an operator.
        plaq_dirac_describe(dirac: Local<plaq_dirac>, report: Report<plaq_dirac_report>) = describe;
        /// Gives a new handle to the clover term A of an operator that has one. Errors: UNSUPPORTED if it has none;
        /// SINGULAR_CLOVER.
        plaq_dirac_clover(dirac: Handle<plaq_dirac>, clover: Out<plaq_clover>) = get_clover;
        /// Gives a new handle to A^-1 of an operator that has a clover term A and no twist. Errors: UNSUPPORTED if
        /// it has none; SINGULAR_CLOVER.
        plaq_dirac_clover_inverse(dirac: Handle<plaq_dirac>, inverse: Out<plaq_clover>) = get_inverse;
        /// Sets y to M x, or another plaq_form of it, for a plaq_system. Fields have the operator's precision and
        /// the system's subset; y and x are different fields.
        plaq_dirac_apply(dirac: Handle<plaq_dirac>, system: One<System>, form: One<Form>, y: Handle<plaq_spinor>, x: Handle<plaq_spinor>) = apply;
        /// Sets y to H_pq x, the hopping term from parity 1 - p to p = `parity`; dagger: 0 or 1. Fields hold their
        /// parity or the whole lattice; of `y` only parity p is written.
        plaq_dirac_hop(dirac: Handle<plaq_dirac>, parity: i32, dagger: i32, y: Handle<plaq_spinor>, x: Handle<plaq_spinor>) = hop;
    }
}

impl Dirac {
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    pub(crate) fn op(&self) -> &Arc<dyn QuarkAction> {
        &self.op
    }
    pub(crate) fn normalisation(&self) -> Normalisation {
        self.normalisation
    }
    /// Boundary phases of quarks in x, y, z, t in units of pi; 0 in t on links with boundaries in time, where quarks
    /// vanish.
    pub(crate) fn phases(&self) -> [f64; 4] {
        let [x, y, z, t] = self.boundary;
        let periodic = self.op.links().geometry().boundary().is_periodic();
        [x, y, z, if periodic { t } else { 0.0 }]
    }
    /// Boundary phases, normalisation, boundaries in time, masses and clover term of solutions with this operator; the
    /// source's position and the links stay unknown.
    pub(crate) fn origin(&self) -> Origin {
        let [x, y, z, t] = self.phases();
        Origin {
            boundary: Some(t),
            boundary_space: Some([x, y, z]),
            normalisation: Some(self.normalisation.word()),
            boundary_time: Some(self.op.links().geometry().boundary().kind().word()),
            mass: Some(self.op.mass()),
            mu: Some(self.mu),
            csw: self.csw,
            clover: self.clover.map(|form| form.word()),
            ..Default::default()
        }
    }

    /// The operator of a system: M, or one of its Schur complements.
    pub(crate) fn system(&self, system: System) -> Result<Arc<dyn LinOp>> {
        let Some(form) = system.schur() else { return Ok(self.op.clone()) };
        match &self.schur[form.parity + if form.symmetric { 0 } else { 2 }] {
            Some(schur) => {
                // The complement makes the inverse of the clover term now, so that it counts as memory in use.
                schur.set_inverse_owner(InverseOwner::Complement)?;
                Ok(schur.clone())
            }
            None => Ok(self.op.clone().schur(form)?),
        }
    }

    /// The spinors that an operator of two flavours on links with boundaries in time takes in the place of x: zero where
    /// quarks vanish. Hops of one flavour take them as zero there.
    fn inside(&self, x: &SpinorField) -> Result<Option<SpinorField>> {
        let boundary = self.op.links().geometry().boundary();
        let content = x.components();
        let doublet = content.spins == Components::SPINOR.spins && content.slices > 1;
        (doublet && !boundary.is_periodic()).then(|| vanishing(x, boundary)).transpose()
    }

    /// Ratio of the system's operator in this object's normalisation to the kappa-normalised one.
    pub(crate) fn scale(&self, system: System) -> f64 {
        match (self.normalisation, system.schur()) {
            (Normalisation::Kappa, _) | (_, Some(Schur { symmetric: true, .. })) => 1.0,
            (Normalisation::Mass, _) => 1.0 / self.op.mass_scale(),
        }
    }
}

/// A quark as the host passes it, and the parameters of its operator.
pub(crate) fn quark(p: &plaq_dirac_params) -> Result<(QuarkParams, DiracParams)> {
    let quark = QuarkParams::from_c(p, "params")?;
    let physics = quark.physics("params.")?;
    Ok((quark, physics))
}

fn create(
    context: &Arc<Context>,
    gauge: &Arc<Gauge>,
    params: &plaq_dirac_params,
    dirac: &mut Out<plaq_dirac>,
) -> Result<()> {
    context.check_same(gauge.context(), "gauge")?;
    let (quark, physics) = quark(params)?;
    let op = |links, storage| ActionParams::from(physics).create_in(&links, storage);
    dirac.set(context.adopt(build(context, gauge, &OperatorSettings::of(&quark), op)?)?);
    Ok(())
}

fn create_thin(
    context: &Arc<Context>,
    gauge: &Arc<Gauge>,
    thin: &Arc<Gauge>,
    params: &plaq_dirac_params,
    dirac: &mut Out<plaq_dirac>,
) -> Result<()> {
    context.check_same(thin.context(), "thin")?;
    let (quark, wilson) = quark(params)?;
    let physics = DiracParams { clover_links: CloverLinks::Thin, ..wilson };
    let under = thin.read("thin")?;
    if under.group() != Group::Su3 {
        refuse!(Unsupported, "thin", expected("SU(3) links"), found("SU(2)"));
    }
    // A copy, as each operator has to own the links of which it is made.
    let own = Arc::new(under.to(under.precision(), Recon::R12)?);
    let op = |links: Arc<GaugeField>, storage| {
        // A rehearsal has links of its own device.
        let thin = match links.device() == own.device() {
            true => own.clone(),
            false => Arc::new(own.like_on(links.device())?),
        };
        Ok(Arc::new(Wilson::on_thin(links, thin, physics)?.owned_in(storage)?)
            as Arc<dyn QuarkAction>)
    };
    let plain = OperatorSettings::of(&quark);
    let wanted = OperatorSettings { key: Key::of(("thin", plain.key)), ..plain };
    dirac.set(context.adopt(build(context, gauge, &wanted, op)?)?);
    Ok(())
}

fn create_doublet(
    context: &Arc<Context>,
    gauge: &Arc<Gauge>,
    params: &plaq_dirac_params,
    epsilon: f64,
    dirac: &mut Out<plaq_dirac>,
) -> Result<()> {
    let (quark, wilson) = quark(params)?;
    let action = DoubletParams { wilson, epsilon };
    action.check()?;
    let op = |links, storage| ActionParams::from(action).create_in(&links, storage);
    let plain = OperatorSettings::of(&quark);
    let wanted =
        OperatorSettings { key: Key::of(("doublet", plain.key, epsilon.to_bits())), ..plain };
    dirac.set(context.adopt(build(context, gauge, &wanted, op)?)?);
    Ok(())
}

fn create_with_clover(
    context: &Arc<Context>,
    gauge: &Arc<Gauge>,
    params: &plaq_dirac_params,
    clover: &Arc<Clover>,
    inverse: Option<&Arc<Clover>>,
    dirac: &mut Out<plaq_dirac>,
) -> Result<()> {
    context.check_same(clover.context(), "clover")?;
    let blocks = clover.read("clover")?;
    let (quark, physics) = quark(params)?;
    let op = |links, storage| {
        let Some(inverse) = inverse.filter(|_| physics.mu == 0.0) else {
            let op = Wilson::with_clover(links, Some(blocks.clone()), physics)?;
            return Ok(Arc::new(op.owned_in(storage)?) as Arc<dyn QuarkAction>);
        };
        context.check_same(inverse.context(), "inverse")?;
        let inverse = inverse.read("inverse")?;
        let op = Wilson::from_parts(links, Some(blocks.clone()), Some(inverse), physics)?;
        Ok(Arc::new(op.owned_in(storage)?))
    };
    // The host's clover term takes the place of that of the coefficients.
    let wanted = OperatorSettings { csw: None, clover: None, ..OperatorSettings::of(&quark) };
    dirac.set(context.adopt(build(context, gauge, &wanted, op)?)?);
    Ok(())
}

/// Settings with which an operator is made, whichever action it is.
pub(crate) struct OperatorSettings {
    /// Precision and link storage; none: those of the gauge field, and two rows.
    pub precision: Option<Precision>,
    pub storage: Option<Recon>,
    pub normalisation: Normalisation,
    /// Phases of the fields in x, y, z and t in units of pi.
    pub boundary: [f64; 4],
    /// Twisted mass.
    pub mu: f64,
    /// Clover coefficients in planes of space and in those with t, and form of the clover term; None: not known.
    pub csw: Option<[f64; 2]>,
    pub clover: Option<CloverForm>,
    /// Key that identifies all parameters of the operator.
    pub key: Key,
}

impl OperatorSettings {
    fn of(quark: &QuarkParams) -> Self {
        OperatorSettings {
            precision: quark.precision,
            storage: quark.storage,
            normalisation: quark.normalisation,
            boundary: quark.boundary.0,
            mu: quark.mu,
            csw: Some([quark.csw, quark.csw_t.unwrap_or(quark.csw)]),
            clover: Some(quark.clover),
            key: Key::of(("quark", quark)),
        }
    }
}

/// The operator that `op` makes on the links, in the precision and storage asked for.
pub(crate) fn build(
    context: &Arc<Context>,
    gauge: &Arc<Gauge>,
    wanted: &OperatorSettings,
    op: impl Fn(Arc<GaugeField>, Storage) -> Result<Arc<dyn QuarkAction>>,
) -> Result<Dirac> {
    context.check_same(gauge.context(), "gauge")?;
    let links = gauge.read("gauge")?;
    if links.group() != Group::Su3 {
        refuse!(Unsupported, "gauge", expected("SU(3) links"), found("SU(2)"));
    }
    let precision = wanted.precision.unwrap_or(links.precision());
    let storage = wanted.storage.unwrap_or(Recon::R12);
    if storage.group() != Group::Su3 {
        refuse!(
            Unsupported,
            "params.storage",
            expected("a storage of SU(3) links"),
            found("SU(2)")
        );
    }
    // The operator has links of its own, so that an update leaves those of `gauge` alone.
    let on = |links| op(links, (precision, storage));
    precompile(&links, wanted, on);
    let op = on(links)?;
    let systems = [(0, true), (1, true), (0, false), (1, false)];
    let schur =
        systems.map(|(parity, symmetric)| op.clone().schur(Schur { parity, symmetric }).ok());
    let workspace = Workspace::default();
    let OperatorSettings { normalisation, boundary, mu, csw, clover, .. } = *wanted;
    let context = context.clone();
    Ok(Dirac { context, op, schur, normalisation, boundary, mu, csw, clover, workspace })
}

/// Starts to compile the kernels that making the operator launches, and then those of the solves that most likely
/// follow.
fn precompile(
    links: &GaugeField,
    wanted: &OperatorSettings,
    on: impl Fn(Arc<GaugeField>) -> Result<Arc<dyn QuarkAction>>,
) {
    let (geometry, device) = (links.geometry(), links.device());
    let form = (links.precision(), links.recon(), geometry.boundary().kind());
    let key = Key::of(("operator", geometry.extents(), form, wanted.key));
    let mut made = None;
    geometry.precompile(device, None, false, key, |device| {
        let op = on(Arc::new(links.like_on(device)?))?;
        links_mark(op.links())?;
        made = Some(op);
        Ok(())
    });
    let Some(op) = made.filter(|op: &Arc<dyn QuarkAction>| propagates(&**op)) else { return };
    let normalisation = wanted.normalisation;
    let (precision, recon) = op.storage();
    let sloppy = (precision.min(Precision::F32), recon);
    let params = SolveParams { sloppy: Some(sloppy), normalisation, ..Default::default() };
    let key = Key::of(("likely propagator", op.key(), normalisation));
    let dry = op.shape().device;
    geometry
        .precompile(device, Some(&dry), true, key, |_| run_through(op.clone(), &params, COLUMNS));
}

fn update(dirac: &Arc<Dirac>, gauge: &Arc<Gauge>) -> Result<()> {
    dirac.context.check_same(gauge.context(), "gauge")?;
    if dirac.op.as_any().downcast_ref::<Wilson>().is_some_and(Wilson::has_thin_links) {
        refuse!(
            Unsupported,
            "dirac",
            expected("an operator with one kind of links"),
            found("a clover term of thin links: make another one")
        );
    }
    dirac.op.update(&*gauge.read("gauge")?)
}

fn destroy(dirac: plaq_dirac) -> Result<()> {
    handles::remove(dirac, "dirac")
}

fn describe(dirac: &Arc<Dirac>, report: &mut Report<plaq_dirac_report>) -> Result<()> {
    let op = &dirac.op;
    report.set(plaq_dirac_report {
        kappa: 0.5 * op.mass_scale(),
        mass: op.mass(),
        flops: op.flops(),
        bytes: op.bytes(1),
        precision: number_of(op.storage().0),
        storage: number_of(op.storage().1),
        ..Default::default()
    });
    Ok(())
}

fn get_clover(dirac: &Arc<Dirac>, clover: &mut Out<plaq_clover>) -> Result<()> {
    new_handle(dirac, dirac.op.site_blocks(false)?, clover)
}

fn get_inverse(dirac: &Arc<Dirac>, inverse: &mut Out<plaq_clover>) -> Result<()> {
    if let Some(wilson) = dirac.op.as_any().downcast_ref::<Wilson>() {
        wilson.check_invertible()?;
    }
    new_handle(dirac, dirac.op.site_blocks(true)?, inverse)
}

fn new_handle(
    dirac: &Arc<Dirac>,
    blocks: Option<Arc<CloverField>>,
    to: &mut Out<plaq_clover>,
) -> Result<()> {
    match blocks {
        Some(blocks) => to.set(dirac.context.adopt(Clover::new(&dirac.context, blocks))?),
        None => {
            refuse!(Unsupported, "dirac", expected("an operator with such blocks"), found("none"))
        }
    }
    Ok(())
}

fn apply(
    dirac: &Arc<Dirac>,
    system: System,
    form: Form,
    y: &Arc<Spinor>,
    x: &Arc<Spinor>,
) -> Result<()> {
    dirac.context.check_same(y.context(), "y")?;
    dirac.context.check_same(x.context(), "x")?;
    let (x, result) = (x.read_any("x")?, y);
    let mut y = y.write_any("y")?;
    let op = dirac.system(system)?;
    let shape = op.shape();
    for (field, name) in [(&*x, "x"), (&*y, "y")] {
        check_shape(field, &shape, name)?;
    }
    x.check_like(&y, "y")?;
    let inside = dirac.inside(&x)?;
    let x = inside.as_ref().unwrap_or(&x);
    let n = x.nrhs();
    let mut scale = dirac.scale(system);
    match form {
        Form::Plain => op.apply(&mut y, x)?,
        Form::Dagger => op.apply_dagger(&mut y, x)?,
        Form::DaggerTimes => {
            let t = &mut *dirac.workspace.field(&shape, n)?;
            op.apply(t, x)?;
            op.apply_dagger(&mut y, t)?;
        }
        Form::TimesDagger => {
            let t = &mut *dirac.workspace.field(&shape, n)?;
            op.apply_dagger(t, x)?;
            op.apply(&mut y, t)?;
        }
    }
    if matches!(form, Form::DaggerTimes | Form::TimesDagger) {
        scale *= scale;
    }
    if scale != 1.0 {
        blas::axpby(&blas::uniform(n, 0.0), x, &blas::uniform(n, scale), &mut y)?;
    }
    result.set_origin(Origin::default());
    Ok(())
}

fn check_shape(field: &SpinorField, shape: &Shape, name: &str) -> Result<()> {
    if field.geometry() != &shape.geometry {
        refuse!(
            FieldMismatch,
            "{name}",
            expected("the operator's lattice {:?}", shape.geometry.extents()),
            found("{:?}", field.geometry().extents())
        );
    }
    if field.components() != shape.components {
        refuse!(
            FieldMismatch,
            "{name}",
            expected("{} spins x colours per site", shape.components),
            found("{}", field.components())
        );
    }
    if field.precision() != shape.precision || field.subset() != shape.subset {
        refuse!(
            FieldMismatch,
            "{name}",
            expected("{} sites in {} precision", shape.subset, shape.precision),
            found("{} in {}", field.subset(), field.precision())
        );
    }
    Ok(())
}

fn hop(
    dirac: &Arc<Dirac>,
    parity: i32,
    dagger: i32,
    y: &Arc<Spinor>,
    x: &Arc<Spinor>,
) -> Result<()> {
    dirac.context.check_same(y.context(), "y")?;
    dirac.context.check_same(x.context(), "x")?;
    for (value, name) in [(parity, "parity"), (dagger, "dagger")] {
        if !(0..=1).contains(&value) {
            refuse!(InvalidArgument, "{name}", expected("0 or 1"), found("{value}"));
        }
    }
    let x = x.read_any("x")?;
    dirac.op.hop_to(&mut *y.write_any("y")?, &x, parity as usize, dagger == 1)?;
    y.set_origin(Origin::default());
    Ok(())
}
