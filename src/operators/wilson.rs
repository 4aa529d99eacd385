//! Wilson's operator, with the clover term of Sheikholeslami and Wohlert (Nucl. Phys. B 259 (1985) 572) and a twisted
//! mass (Frezzotti, Grassi, Sint, Weisz, hep-lat/0101001), kappa-normalised: M = A - kappa H,  H = sum_mu h_mu [(1 -
//! gamma_mu) U psi(x+mu) + (1 + gamma_mu) U^dagger psi(x-mu)], A = 1 + 2 kappa (csw (i/4) sum sigma F + i mu gamma5);
//! D = M / (2 kappa) (physics.md). With an exponentiated clover term (Francis, Fritzsch, Luscher, Rago, Comput. Phys.
//! Commun. 255 (2020) 107355) 1 + 2 kappa csw (i/4) sum sigma F is the exponential of its second term instead; 2
//! kappa is 1 / (4 + m).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::action::{ActionVersion, SharedCopies, Storage};
use super::boundary::seam_phases;
use super::clover_term::CloverTerm;
use super::quark::{CloverLinks, DiracParams};
use super::site::{site_launch, Site, SiteTerm};
use crate::backend::args::{self, HopArgs};
use crate::backend::{kernels, Device, FieldView, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::{
    halo, CloverField, CloverForm, Components, GaugeField, Precision, Recon, RhsOrder, SpinorField,
    Subset,
};
use crate::linop::{LinOp, Schur, Shape};
use crate::params::Key;
use crate::refuse;

/// The hop H to the sites of one parity: out = S_hop (coef H in) + coef_y S_y y, where `y` is (y, coef_y, S_y); None:
/// no second term. Each of the site terms S_hop and S_y is 1, or both are the same term.
#[derive(Clone, Copy)]
pub struct HopCall<'a> {
    pub parity: usize,
    pub dagger: bool,
    /// Coefficient of the hops H; kappa is not included in H.
    pub coef: f64,
    pub site_hop: SiteTerm,
    pub y: Option<(&'a SpinorField, f64, SiteTerm)>,
}

/// Terms that are added to a hop in the same pass: out = hop + coef z + own out, where `z` is (z, coef) and out on the
/// right is the field before the launch.
#[derive(Clone, Copy, Default)]
pub struct HopSum<'a> {
    pub z: Option<(&'a SpinorField, f64)>,
    /// Coefficient of the old out; if it is 0 the old out is not read.
    pub own: f64,
}

/// Arguments of the hop kernel, with the clover blocks to which they point, which must exist until the launch.
pub(super) struct Hop {
    pub args: HopArgs,
    blocks: Option<Arc<CloverField>>,
}

/// The Wilson operator M = A - kappa H on the full lattice, with clover term and twisted mass (Clark et al.,
/// arXiv:1612.07873, Eq. 2 without the twist), and its parts between the parities.
pub struct Wilson {
    gauge: Arc<GaugeField>,
    /// The kappa-normalised site term A and its inverse; None without a clover term.
    clover: Option<Arc<CloverTerm>>,
    params: DiracParams,
    /// The number s in A (A^2 + s)^-1 and (A^2 + s)^-1, of which a twisted inverse is made; None: the inverse is A^-1.
    pub(super) square: Option<f64>,
    /// The thin links from which the clover term is made, if it is not made from those of the hop.
    thin: Option<Arc<GaugeField>>,
    /// True if the clover term was built from the links, false if the caller gave it.
    own_clover: bool,
    /// Number of the operator, which its copies share.
    number: u64,
    copies: SharedCopies<Wilson>,
}

/// Counts the operators made so far, to give each its own number.
static MADE: AtomicU64 = AtomicU64::new(0);

impl Wilson {
    /// Makes the operator, with a clover term made from the links if the parameters ask for one.
    pub fn new(gauge: Arc<GaugeField>, params: DiracParams) -> Result<Self> {
        let square = CloverField::square(2.0 * params.kappa() * params.mu);
        Self::with_square(gauge, None, params, square)
    }

    /// Makes the operator with hops on smeared links and a clover term made from the thin links, from which these
    /// were smeared (Cundy et al., Phys. Rev. D 79 (2009) 094507), as `clover_links` of the parameters says. An
    /// update of the operator reads the thin links again.
    ///
    /// # Errors
    /// Errors of [`Wilson::new`]; `FieldMismatch`: links on different lattices or devices, or in different precisions.
    pub fn on_thin(
        gauge: Arc<GaugeField>,
        thin: Arc<GaugeField>,
        params: DiracParams,
    ) -> Result<Self> {
        let square = CloverField::square(2.0 * params.kappa() * params.mu);
        Self::with_square(gauge, Some(thin), params, square)
    }

    /// Makes the operator as [`Wilson::on_thin`] does, with `square` as the number s of the inverse, kappa-normalised,
    /// in place of the square of its own twisted mass.
    pub(super) fn with_square(
        gauge: Arc<GaugeField>,
        thin: Option<Arc<GaugeField>>,
        params: DiracParams,
        square: Option<f64>,
    ) -> Result<Self> {
        params.check()?;
        let boundary = gauge.geometry().boundary();
        params.check_on(boundary)?;
        if !params.has_clover() {
            return Ok(Wilson { square, ..Self::with_clover(gauge, None, params)? });
        }
        let thin = match (params.clover_links, thin) {
            (CloverLinks::Hop, _) => None,
            (CloverLinks::Thin, None) => refuse!(
                Unsupported,
                "clover_links",
                expected("hop, as this operator has no other links"),
                found("thin")
            ),
            (CloverLinks::Thin, Some(thin)) => {
                let same = thin.geometry() == gauge.geometry()
                    && thin.geometry().boundary() == boundary
                    && thin.device() == gauge.device();
                if !same || thin.precision() != gauge.precision() {
                    bail!(
                        FieldMismatch,
                        "clover_links: thin links and those of the hop differ in lattice, boundaries, device or \
                         precision"
                    );
                }
                Some(thin)
            }
        };
        let links = thin.as_ref().unwrap_or(&gauge);
        let (geometry, precision) = (gauge.geometry(), gauge.precision());
        let mut bytes = CloverField::bytes(geometry, precision, 1);
        if !CloverField::reads(links.recon()) {
            bytes += GaugeField::bytes(geometry, precision, Recon::R12);
        }
        gauge.device().require(bytes as u64, "the clover term")?;
        let direct = Arc::new(CloverField::build(links, params.clover_coefficients())?);
        let term = CloverTerm::new(direct, None, square, links.version());
        let made = Self::with_parts(gauge, None, None, params, square)?;
        Ok(Wilson { own_clover: true, clover: Some(Arc::new(term)), thin, ..made })
    }

    /// Replaces the links in the operator's own memory, and computes the clover term and the existing parts of its
    /// inverse from them, in place. Nothing is compiled, and nothing is allocated if `gauge` has the operator's
    /// precision and is stored as 18 or 12 numbers. The field that the operator was made with is overwritten unless
    /// it was converted ([`Wilson::to`]). Nothing happens if these links, in this version, were set before.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice, device or group; `Unsupported`: the caller gave the clover
    /// term.
    pub fn update(&self, gauge: &GaugeField) -> Result<()> {
        if self.clover.is_some() && !self.own_clover {
            bail!(Unsupported, "update: the clover term was given, it cannot be made of new links");
        }
        self.gauge.update_from(gauge)?;
        let Some(clover) = &self.clover else { return Ok(()) };
        let readable =
            |g: &GaugeField| g.precision() == clover.precision() && CloverField::reads(g.recon());
        let coefficients = self.params.clover_coefficients();
        if let Some(thin) = &self.thin {
            return clover.rebuild(thin, coefficients, thin.version());
        }
        // The given links may be more precise than the operator's own copy, which is used only if the given ones cannot
        // be read.
        let links = if readable(gauge) || !readable(&self.gauge) { gauge } else { &self.gauge };
        clover.rebuild(links, coefficients, self.gauge.version())
    }

    /// Copies links, clover term and inverse, as far as they have changed, from the same operator in another storage.
    fn follow(&self, other: &Wilson) -> Result<()> {
        self.gauge.update_from(&other.gauge)?;
        match (&self.clover, &other.clover) {
            (Some(own), Some(other)) => own.follow(other),
            _ => Ok(()),
        }
    }

    /// Identifies the operator and the present version of its links.
    pub fn version(&self) -> ActionVersion {
        ActionVersion { operator: self.number, links: self.gauge.version() }
    }

    /// A copy in another storage that all callers share, updated to the links of this operator.
    pub(super) fn shared(&self, (precision, recon): Storage) -> Result<Arc<Wilson>> {
        self.copies.get(
            (precision, recon),
            |copy| copy.follow(self),
            || {
                let gauge = self.gauge.shared_copy(precision, recon)?;
                let on_demand = |clover: &Arc<CloverTerm>| Ok(clover.copy_on_demand(precision));
                self.on_links(gauge, on_demand)
            },
        )
    }

    /// Makes the operator with a given clover term A (kappa-normalised: 1 + 2 kappa ...). If A is singular, whatever
    /// needs its inverse is refused, in particular even-odd preconditioning; M itself can be applied.
    pub fn with_clover(
        gauge: Arc<GaugeField>,
        direct: Option<Arc<CloverField>>,
        params: DiracParams,
    ) -> Result<Self> {
        Self::from_parts(gauge, direct, None, params)
    }

    /// Makes the operator with given A and A^-1, or twisted inverse; if the inverse is not given, it is computed when
    /// it is first needed.
    pub fn from_parts(
        gauge: Arc<GaugeField>,
        direct: Option<Arc<CloverField>>,
        inverse: Option<Arc<CloverField>>,
        params: DiracParams,
    ) -> Result<Self> {
        let square = CloverField::square(2.0 * params.kappa() * params.mu);
        Self::with_parts(gauge, direct, inverse, params, square)
    }

    /// Makes the operator with a given A and its inverse, which is a twisted one with s = `square`, or A^-1 if that is
    /// None.
    pub(super) fn with_parts(
        gauge: Arc<GaugeField>,
        direct: Option<Arc<CloverField>>,
        inverse: Option<Arc<CloverField>>,
        params: DiracParams,
        square: Option<f64>,
    ) -> Result<Self> {
        params.check()?;
        for c in direct.iter().chain(&inverse) {
            if c.device() != gauge.device()
                || c.geometry() != gauge.geometry()
                || c.precision() != gauge.precision()
            {
                bail!(
                    FieldMismatch,
                    "the clover term and the links differ in lattice, device or precision"
                );
            }
        }
        let links = gauge.version();
        let clover = direct.map(|a| Arc::new(CloverTerm::new(a, inverse, square, links)));
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let copies = SharedCopies::default();
        let own_clover = false;
        Ok(Wilson { gauge, clover, params, square, thin: None, own_clover, number, copies })
    }

    /// The operator with the same links and clover term and with other twisted masses; it is valid until these links or
    /// the clover term change.
    ///
    /// # Errors
    /// Errors of [`Wilson::new`].
    pub fn with_twists(&self, mu: f64, rho: f64) -> Result<Wilson> {
        Self::from_parts(
            self.gauge.clone(),
            self.clover()?,
            None,
            DiracParams { mu, rho, ..self.params },
        )
    }

    /// The operator with the clover term of this one on other links.
    pub(super) fn with_links(&self, gauge: Arc<GaugeField>) -> Wilson {
        let (clover, copies) = (self.clover.clone(), SharedCopies::default());
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let thin = self.thin.clone();
        Wilson { gauge, clover, thin, own_clover: false, number, copies, ..*self }
    }

    /// The operator on a copy of its links that is not shared.
    pub fn with_own_links(self) -> Result<Self> {
        let gauge = self.gauge.to(self.gauge.precision(), self.gauge.recon())?;
        Ok(Wilson { gauge: Arc::new(gauge), ..self })
    }

    /// An operator with the same parameters on another device, with links and clover blocks that are zero; for
    /// rehearsals.
    pub(crate) fn like_on(&self, device: &Device) -> Result<Self> {
        let clover = match &self.clover {
            Some(clover) => Some(Arc::new(clover.like_on(device)?)),
            None => None,
        };
        let gauge = Arc::new(self.gauge.like_on(device)?);
        let thin = match &self.thin {
            Some(thin) => Some(Arc::new(thin.like_on(device)?)),
            None => None,
        };
        Ok(Wilson { gauge, clover, thin, copies: SharedCopies::default(), ..*self })
    }

    /// Bytes of the links, and of those clover blocks that M or the Schur complement `form` uses, in another
    /// precision and storage.
    pub fn bytes_as(&self, precision: Precision, recon: Recon, form: Option<Schur>) -> u64 {
        let geometry = self.gauge.geometry();
        let mut bytes = GaugeField::bytes(geometry, precision, recon) as u64;
        if let Some(clover) = &self.clover {
            // M uses blocks of A on both parities, the asymmetric complement those of A on one parity and of the
            // inverse on the other, the symmetric complement those of the inverse on both.
            let halves = match form {
                None => 2,
                Some(form) if form.symmetric => 2 * clover.sets(),
                Some(_) => 1 + clover.sets(),
            };
            bytes += (halves * CloverField::bytes(geometry, precision, 1) / 2) as u64;
        }
        bytes
    }

    /// A copy of the operator in another precision and link storage.
    pub fn to(&self, precision: Precision, recon: Recon) -> Result<Self> {
        let same = (self.gauge.precision(), self.gauge.recon()) == (precision, recon);
        let links = match same {
            true => self.gauge.clone(),
            false => Arc::new(self.gauge.to(precision, recon)?),
        };
        self.on_links(links, |clover| clover.whole_copy(precision))
    }

    /// A copy in another storage that can be used as long as this operator's links do not change: its clover term is
    /// copied when it is first needed, and its inverse exists only while a Schur complement uses it.
    pub fn copy_on_demand(&self, precision: Precision, recon: Recon) -> Result<Self> {
        let links = Arc::new(self.gauge.to(precision, recon)?);
        self.on_links(links, |clover| Ok(clover.copy_on_demand(precision)))
    }

    /// The operator on a copy of its links; `copy` converts the clover term if their precision differs.
    fn on_links(
        &self,
        gauge: Arc<GaugeField>,
        copy: impl Fn(&Arc<CloverTerm>) -> Result<CloverTerm>,
    ) -> Result<Self> {
        let clover = match &self.clover {
            Some(clover) if clover.precision() != gauge.precision() => {
                Some(Arc::new(copy(clover)?))
            }
            other => other.clone(),
        };
        let (thin, copies) = (self.thin.clone(), SharedCopies::default());
        Ok(Wilson { gauge, clover, thin, copies, ..*self })
    }

    pub fn params(&self) -> &DiracParams {
        &self.params
    }
    /// Lattice, storage and terms in words.
    pub(crate) fn describe(&self) -> String {
        let (links, own) = (&self.gauge, &self.params);
        format!(
            "{:?} {:?} clover {:?} twist {:?} {:?}",
            links.geometry().extents(),
            (links.precision(), links.recon(), links.geometry().boundary().kind()),
            (own.has_clover(), own.clover),
            (own.mu != 0.0, own.rho != 0.0),
            own.boundary,
        )
    }
    /// Key of the properties on which the choice of this operator's kernels depends.
    pub(crate) fn key(&self) -> Key {
        let (links, own) = (&self.gauge, &self.params);
        let form = (links.precision(), links.recon(), links.geometry().boundary().kind());
        let terms = (own.has_clover(), own.clover, own.mu != 0.0, own.rho != 0.0);
        let phases = own.boundary.map(|z| (z.re.to_bits(), z.im.to_bits()));
        Key::of(("Wilson", links.geometry().extents(), form, terms, phases))
    }
    pub fn gauge(&self) -> &Arc<GaugeField> {
        &self.gauge
    }
    /// Whether the clover term is made from other links than those of the hop.
    pub fn has_thin_links(&self) -> bool {
        self.thin.is_some()
    }
    /// The links from which the clover term is made.
    pub(super) fn clover_links(&self) -> &Arc<GaugeField> {
        self.thin.as_ref().unwrap_or(&self.gauge)
    }
    pub(super) fn has_clover(&self) -> bool {
        self.clover.is_some()
    }
    /// Whether det A does not depend on the links, as for an exponentiated clover term without twisted mass, whose
    /// exponent has no trace.
    pub(super) fn has_constant_determinant(&self) -> bool {
        self.own_clover && self.params.clover == CloverForm::Exponential && self.square.is_none()
    }
    /// The blocks of A; None without a clover term.
    ///
    /// # Errors
    /// `OutOfMemory`: the operator copies its clover term from another operator now, and there is no memory for it.
    pub fn clover(&self) -> Result<Option<Arc<CloverField>>> {
        self.direct(Subset::Full)
    }
    pub(super) fn direct(&self, subset: Subset) -> Result<Option<Arc<CloverField>>> {
        self.clover.as_ref().map(|a| a.direct(subset)).transpose()
    }
    /// The blocks of A^-1, or of the twisted inverse, on the sites of `subset`, computed now if they do not exist; None
    /// without a clover term.
    ///
    /// # Errors
    /// `SingularClover`, with the site; `OutOfMemory`.
    pub fn clover_inverse(&self, subset: Subset) -> Result<Option<Arc<CloverField>>> {
        self.clover.as_ref().map(|a| a.inverse(subset)).transpose()
    }
    /// Bytes of the inverse blocks on these parities that do not exist yet.
    pub(super) fn missing_inverse(&self, parities: impl IntoIterator<Item = usize>) -> u64 {
        self.clover.as_ref().map_or(0, |a| a.missing(parities))
    }
    /// An error if the inverse of the clover term is used and a block has none.
    ///
    /// # Errors
    /// `SingularClover`, with the site.
    pub fn check_invertible(&self) -> Result<()> {
        self.clover.as_ref().map_or(Ok(()), |a| a.check_invertible())
    }
    pub fn kappa(&self) -> f64 {
        self.params.kappa()
    }
    /// The shape of fields with this subset.
    pub fn subset_shape(&self, subset: Subset) -> Shape {
        Shape {
            device: self.gauge.device().clone(),
            geometry: self.gauge.geometry().clone(),
            precision: self.gauge.precision(),
            subset,
            components: Components::SPINOR,
            order: RhsOrder::Slowest,
        }
    }

    /// Whether the site term is the unit matrix.
    pub(crate) fn is_one(&self, term: SiteTerm) -> bool {
        self.kind(term) == args::SITE_ONE
    }

    /// The code SITE_* of a term (kernels/wilson.h).
    fn kind(&self, term: SiteTerm) -> i32 {
        let direct = term == SiteTerm::Direct;
        let rho = if direct { self.params.rho } else { 0.0 };
        let twisted = self.params.mu + rho != 0.0;
        match (term, &self.clover) {
            (SiteTerm::One, _) => args::SITE_ONE,
            (_, None) if twisted => args::SITE_TWIST,
            (_, None) => args::SITE_ONE,
            (SiteTerm::Direct, _) if twisted => args::SITE_CLOVER_TWIST,
            (SiteTerm::Inverse, _) if twisted => args::SITE_CLOVER_TWIST_INVERSE,
            _ => args::SITE_CLOVER,
        }
    }

    /// A site term on these sites in the form that kernels take.
    fn site(&self, term: SiteTerm, dagger: bool, subset: Subset) -> Result<Site> {
        let sign = if dagger { -1.0 } else { 1.0 };
        let rho = if term == SiteTerm::Direct { self.params.rho } else { 0.0 };
        let (kind, mu) = (self.kind(term), self.params.mu + rho);
        let mut site =
            Site { kind, clover: None, twist: sign * 2.0 * self.kappa() * mu, scale: 1.0 };
        match (term, &self.clover) {
            (SiteTerm::One, _) => site.twist = 0.0,
            (_, None) if kind == args::SITE_ONE => site.twist = 0.0,
            (SiteTerm::Direct, None) => {}
            (SiteTerm::Inverse, None) => {
                site.scale = 1.0 / (1.0 + site.twist * site.twist);
                site.twist = -site.twist;
            }
            (SiteTerm::Direct, Some(a)) => site.clover = Some(a.direct(subset)?),
            (SiteTerm::Inverse, Some(a)) => site.clover = Some(a.inverse(subset)?),
        }
        Ok(site)
    }

    pub(super) fn empty_view(&self) -> FieldView {
        FieldView { volume: self.gauge.geometry().outer() as i32, ..Default::default() }
    }

    /// The operator's part of a launch's arguments: links, phases, coefficients of hops and site term.
    pub(super) fn terms(&self, call: &HopCall, blocks: Subset) -> Result<Hop> {
        let geometry = self.gauge.geometry();
        let boundary = &self.params.boundary;
        let (phase_mask, phases) = seam_phases(geometry, boundary);
        let complex = boundary.iter().enumerate().map(|(mu, z)| i32::from(z.im != 0.0) << mu);
        let complex_phase = complex.sum();
        let site = self.site(call.site_hop, call.dagger, blocks)?;
        let args = HopArgs {
            geom: geometry.args(),
            bounds: geometry.bounds(),
            gauge: self.gauge.view(),
            clover: site.clover.as_ref().map_or(self.empty_view(), |c| c.view()),
            region: args::REGION_ALL,
            parity: call.parity as i32,
            sharers: geometry.comm().node().len() as i32,
            dagger: call.dagger as i32,
            site_hop: site.kind,
            phase_mask,
            complex_phase,
            coef: self.params.hop.map(|h| h * call.coef),
            phase_re: phases.map(|z| z.re),
            phase_im: phases.map(|z| z.im),
            twist: site.twist,
            twist_scale: site.scale,
            ..Default::default()
        };
        Ok(Hop { args, blocks: site.clover })
    }

    /// Checks the fields and makes the arguments of a launch on one parity, with the clover blocks to which they point.
    pub(super) fn hop_args(
        &self,
        out: &SpinorField,
        inp: &SpinorField,
        call: &HopCall,
        sum: &HopSum,
        blocks: Subset,
    ) -> Result<Hop> {
        let p = call.parity;
        self.check_field(out, Subset::of_parity(p))?;
        self.check_field(inp, Subset::of_parity(1 - p))?;
        if out.nrhs() != inp.nrhs() {
            bail!(FieldMismatch, "hop: {} right-hand sides out, {} in", out.nrhs(), inp.nrhs());
        }
        let Hop { args: terms, blocks: of_hop } = self.terms(call, blocks)?;
        // Site terms that share their blocks pass them only once.
        let of_y = match &call.y {
            Some((_, _, term)) if *term != call.site_hop => {
                Some(self.site(*term, call.dagger, blocks)?)
            }
            _ => None,
        };
        let site_y = match (&call.y, &of_y) {
            (None, _) => args::SITE_ONE,
            (_, Some(y)) => y.kind,
            (_, None) => terms.site_hop,
        };
        assert!(
            of_y.is_none() || site_y == args::SITE_ONE || terms.site_hop == args::SITE_ONE,
            "two site terms in one hop"
        );
        let (twist, twist_scale) = match &of_y {
            Some(y) if site_y != args::SITE_ONE => (y.twist, y.scale),
            _ => (terms.twist, terms.twist_scale),
        };
        let blocks = of_y.and_then(|y| y.clover).or(of_hop);
        let (y, coef_y) = match call.y {
            Some((y, c, _)) => {
                self.check_field(y, Subset::of_parity(p))?;
                (y.parity_view(p), c)
            }
            None => (self.empty_view(), 0.0),
        };
        let (z, coef_z) = match sum.z {
            Some((z, c)) => {
                self.check_field(z, Subset::of_parity(p))?;
                (z.parity_view(p), c)
            }
            None => (self.empty_view(), 0.0),
        };
        let others = call.y.iter().map(|y| y.0).chain(sum.z.map(|z| z.0));
        if let Some(f) = others.into_iter().find(|f| f.nrhs() != inp.nrhs()) {
            bail!(FieldMismatch, "hop: {} right-hand sides added, {} in", f.nrhs(), inp.nrhs());
        }
        let args = HopArgs {
            out: out.parity_view(p),
            inp: inp.parity_view(1 - p),
            y,
            z,
            clover: blocks.as_ref().map_or(terms.clover, |c| c.view()),
            with_y: call.y.is_some() as i32,
            with_z: sum.z.is_some() as i32,
            with_own: (sum.own != 0.0) as i32,
            site_y,
            nrhs: out.nrhs() as i32,
            step_out: out.parities() as i32,
            step_in: inp.parities() as i32,
            step_y: call.y.map_or(1, |(y, _, _)| y.parities() as i32),
            step_z: sum.z.map_or(1, |(z, _)| z.parities() as i32),
            coef_y,
            coef_z,
            coef_own: sum.own,
            twist,
            twist_scale,
            ..terms
        };
        Ok(Hop { args, blocks })
    }

    /// The arguments for the terms of -kappa H on both parities, for a vector on the full lattice.
    pub(crate) fn hop_terms(&self, inp: &SpinorField) -> Result<HopArgs> {
        self.check_field(inp, Subset::Full)?;
        let call = HopCall {
            parity: 0,
            dagger: false,
            coef: -self.kappa(),
            site_hop: SiteTerm::One,
            y: None,
        };
        let hop = self.hop_args(inp, inp, &call, &HopSum::default(), Subset::Full)?;
        Ok(HopArgs { inp: inp.view(), ..hop.args })
    }

    /// Launches a hop on one parity or both; `inp` is the field for which the arguments were made.
    pub(super) fn launch_hop(&self, mut args: HopArgs, inp: &SpinorField) -> Result<()> {
        let hop = kernels::Hop::of(self.gauge.precision(), self.gauge.recon())?;
        let (device, geometry) = (self.gauge.device(), self.gauge.geometry());
        let comm = geometry.comm();
        let work = geometry.work(inp.nrhs());
        let parities = if args.parity == args::PARITY_BOTH { 2 } else { 1 };
        // Allows for incomplete thread blocks at the end of the inner and of the outer region.
        let n = parities * (geometry.outer() + 1024);
        let launch = |args: &HopArgs, work| device.launch(hop, args, work);
        if geometry.halo_mask() == 0 {
            let work = if parities == 2 { Work { n, ..work } } else { work };
            return launch(&args, work);
        }
        // Faces are exchanged while the inner sites are computed.
        let (precision, nrhs) = (inp.precision(), parities * inp.nrhs());
        let faces = geometry.spinor_faces(precision, nrhs);
        let halo = geometry.halo_exchange(device, &faces)?;
        let mut halo = halo::lock(&halo);
        halo.begin(comm, nrhs)?;
        args.sent = geometry.spinor_halo(precision, nrhs, |mu, upper| halo.sent(mu, upper));
        args.received = geometry.spinor_halo(precision, nrhs, |mu, up| halo.received(mu, up));
        if let Some(signals) = halo.signals(comm)? {
            [args.sent_flags, args.received_flags] = signals;
            let n = args::PACK_THREADS as usize + n;
            return launch(&args, Work { n, ..work });
        }
        let split = (0..4).filter(|&mu| comm.split(mu));
        let n = split.map(|mu| 2 * geometry.face_rows(mu)).sum();
        // Only arguments that packing uses are set: others would make a GPU compile another variant.
        let pack = HopArgs {
            geom: args.geom,
            inp: args.inp,
            sent: args.sent,
            parity: args.parity,
            dagger: args.dagger,
            nrhs: args.nrhs,
            step_in: args.step_in,
            ..Default::default()
        };
        device.launch(kernels::HopPack(self.gauge.precision()), &pack, Work { n, ..work })?;
        let part = |region, n| launch(&HopArgs { region, ..args }, Work { n, ..work });
        let inner = geometry.inner();
        halo.exchange(comm, || part(args::REGION_INNER, inner))?;
        part(args::REGION_OUTER, geometry.outer() - inner)
    }

    /// A site term on all sites in the form that kernels take.
    pub(crate) fn site_term(&self, term: SiteTerm) -> Result<Site> {
        self.site(term, false, Subset::Full)
    }

    /// Computes out = coef S in on one parity, where S is a site term; each field holds that parity or the full
    /// lattice.
    pub fn apply_site(
        &self,
        out: &mut SpinorField,
        inp: &SpinorField,
        parity: usize,
        term: SiteTerm,
        dagger: bool,
        coef: f64,
    ) -> Result<()> {
        self.check_field(out, Subset::of_parity(parity))?;
        self.check_field(inp, Subset::of_parity(parity))?;
        let site = self.site(term, dagger, Subset::of_parity(parity))?;
        let clover = site.clover.as_ref().map(|c| c.view());
        site_launch(out, inp, parity, site.kind, clover, [coef, site.twist, site.scale])
    }

    /// Refuses a field that does not fit the links, or holds neither `subset` nor the full lattice.
    fn check_field(&self, f: &SpinorField, subset: Subset) -> Result<()> {
        if f.geometry() != self.gauge.geometry() || f.device() != self.gauge.device() {
            bail!(FieldMismatch, "spinor field and links live on different lattices or devices");
        }
        if f.precision() != self.gauge.precision() {
            refuse!(
                FieldMismatch,
                "precision",
                expected("that of the links, {}", self.gauge.precision()),
                found("{}", f.precision())
            );
        }
        if f.components() != Components::SPINOR || f.order() != RhsOrder::Slowest {
            bail!(FieldMismatch, "expected Wilson spinors (4 x 3), found {}", f.components());
        }
        if f.subset() != subset && f.subset() != Subset::Full {
            bail!(FieldMismatch, "expected a field with {subset} sites, found {}", f.subset());
        }
        Ok(())
    }

    /// Number of floating-point operations of the hop to one parity of the global lattice, for one right-hand side
    /// (physics.md, Counting); `clover`: with a site term, `y`: with a term y added.
    pub fn hop_flops(&self, clover: bool, y: bool) -> f64 {
        let sites = (self.gauge.geometry().global_volume() / 2) as f64;
        sites
            * (1320.0
                + if clover && self.clover.is_some() { 552.0 } else { 0.0 }
                + if y { 48.0 } else { 0.0 })
    }

    /// Number of bytes that the hop to one parity of the global lattice has to move for `nrhs` right-hand sides: for
    /// each site 8 links and with `clover` its blocks, for each right-hand side a spinor read, one written and with `y`
    /// another one read.
    pub fn hop_bytes(&self, clover: bool, y: bool, nrhs: usize) -> f64 {
        let sites = (self.gauge.geometry().global_volume() / 2) as f64;
        let p = self.gauge.precision();
        let norm = if p.has_norm() { 4 } else { 0 };
        let spinor = 24 * p.bytes() + norm;
        let links = 8 * self.gauge.recon().reals() * p.bytes();
        let blocks = if clover && self.clover.is_some() { 72 * p.bytes() + norm } else { 0 };
        sites * ((links + blocks) as f64 + (nrhs * spinor * if y { 3 } else { 2 }) as f64)
    }
}

impl LinOp for Wilson {
    fn shape(&self) -> Shape {
        self.subset_shape(Subset::Full)
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.apply_full(out, inp, false)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.apply_full(out, inp, true)
    }
    fn flops(&self) -> f64 {
        2.0 * self.hop_flops(true, true)
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        2.0 * self.hop_bytes(true, true, nrhs)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(Arc::new(self.like_on(device)?))
    }
}

impl Wilson {
    fn apply_full(&self, out: &mut SpinorField, inp: &SpinorField, dagger: bool) -> Result<()> {
        self.check_field(inp, Subset::Full)?;
        for parity in 0..2 {
            let call = HopCall {
                parity,
                dagger,
                coef: -self.kappa(),
                site_hop: SiteTerm::One,
                y: Some((inp, 1.0, SiteTerm::Direct)),
            };
            self.hop(out, inp, &call)?;
        }
        Ok(())
    }
}
