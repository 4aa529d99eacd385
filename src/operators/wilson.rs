//! Wilson's operator, with the clover term of Sheikholeslami and Wohlert (Nucl. Phys. B 259 (1985) 572) and a twisted
//! mass (Frezzotti, Grassi, Sint, Weisz, hep-lat/0101001), kappa-normalised:
//! M = A - kappa H,  H = sum_mu h_mu [(1 - gamma_mu) U psi(x+mu) + (1 + gamma_mu) U^dagger psi(x-mu)],
//! A = 1 + 2 kappa (csw (i/4) sum sigma F + i mu gamma5);  D = M / (2 kappa) (physics.md).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

use num_complex::Complex64;

use super::action::{ActionVersion, SharedCopies, Storage};
use super::dirac_params::DiracParams;
use super::site::{site_launch, SiteTerm};
use crate::backend::args::{self, HopArgs};
use crate::backend::{kernels, Device, FieldView, Work};
use crate::bail;
use crate::error::{Result, Status};
use crate::fields::{
    halo, CloverField, Components, GaugeField, Precision, Recon, RhsOrder, SpinorField, Subset,
    Version,
};
use crate::linop::{LinOp, Shape};

/// One parity's hop: out = coef_y S_y y + S_hop (coef H in).
#[derive(Clone, Copy)]
pub struct HopCall<'a> {
    pub parity: usize,
    pub dagger: bool,
    /// Multiplies H (not kappa).
    pub coef: f64,
    pub site_hop: SiteTerm,
    pub y: Option<(&'a SpinorField, f64, SiteTerm)>,
}

/// What a hop adds besides: out = hop + coef z + own times what is in out.
#[derive(Clone, Copy, Default)]
pub struct HopSum<'a> {
    pub z: Option<(&'a SpinorField, f64)>,
    /// 0: out is not read.
    pub own: f64,
}

/// M = A - kappa H on the full lattice, and its parity pieces for even-odd preconditioning.
pub struct Wilson {
    gauge: Arc<GaugeField>,
    /// Kappa-normalised A and its inverse; absent without clover term.
    direct: Option<Arc<CloverField>>,
    inverse: Option<Arc<CloverField>>,
    /// Has A no inverse on some site? Then only M itself can be applied.
    singular: AtomicBool,
    params: DiracParams,
    /// s of the inverse A H and H = (A^2 + s)^-1; None: the inverse is A^-1.
    pub(super) square: Option<f64>,
    /// Was the clover term made of the links, not given by the caller?
    own_clover: bool,
    /// Number of the operator, which its copies share.
    number: u64,
    /// The version of the links that the clover term belongs to.
    built: Version,
    copies: SharedCopies<Wilson>,
}

/// Was there no inverse of a clover term?
fn is_singular(inverted: Result<()>) -> Result<bool> {
    match inverted {
        Err(e) if e.status == Status::SingularClover => Ok(true),
        done => done.map(|()| false),
    }
}

/// Operators made so far.
static MADE: AtomicU64 = AtomicU64::new(0);

impl Wilson {
    /// Builds the clover term from the links where the parameters ask for one.
    pub fn new(gauge: Arc<GaugeField>, params: DiracParams) -> Result<Self> {
        Self::with_square(gauge, params, CloverField::square(2.0 * params.kappa() * params.mu))
    }

    /// The same with the inverse of A^2 + `square`, kappa-normalised, in place of that of the twist.
    pub(super) fn with_square(
        gauge: Arc<GaugeField>,
        params: DiracParams,
        square: Option<f64>,
    ) -> Result<Self> {
        params.check()?;
        if !params.has_clover() {
            return Ok(Wilson { square, ..Self::with_clover(gauge, None, params)? });
        }
        let (geometry, precision) = (gauge.geometry(), gauge.precision());
        let sets = 2 + square.is_some() as usize;
        let mut bytes = CloverField::bytes(geometry, precision, sets);
        if !CloverField::reads(gauge.recon()) {
            bytes += GaugeField::bytes(geometry, precision, Recon::R12);
        }
        gauge.device().require(bytes as u64, "the clover term and its inverse")?;
        let c = 2.0 * params.kappa();
        let direct = CloverField::build(&gauge, c * params.csw_s, c * params.csw_t)?;
        let made = Self::inverted(gauge, Some(Arc::new(direct)), params, square)?;
        Ok(Wilson { own_clover: true, ..made })
    }

    /// Puts other links into the memory of the operator's own, and the clover term and its inverse
    /// made of them into that of the old ones: nothing is compiled, and nothing is allocated where
    /// `gauge` has the operator's precision and is stored as 18 or 12 numbers. The field that the
    /// operator was made with is overwritten where it has not been converted ([`Wilson::to`]).
    /// Nothing is done where `gauge` holds the links that the operator has.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice, device or group; `Unsupported`: the caller gave the clover
    /// term.
    pub fn update(&self, gauge: &GaugeField) -> Result<()> {
        if self.direct.is_some() && !self.own_clover {
            bail!(Unsupported, "update: the clover term was given, it cannot be made of new links");
        }
        self.gauge.update_from(gauge)?;
        let (Some(direct), Some(inverse)) = (&self.direct, &self.inverse) else { return Ok(()) };
        let now = self.gauge.version();
        if self.built.get() == now {
            return Ok(());
        }
        let c = 2.0 * self.kappa();
        let readable =
            |g: &GaugeField| g.precision() == direct.precision() && CloverField::reads(g.recon());
        // The links as they were given are the better ones.
        let links = if readable(gauge) || !readable(&self.gauge) { gauge } else { &self.gauge };
        direct.rebuild(links, c * self.params.csw_s, c * self.params.csw_t)?;
        let inverted = if direct.precision() == Precision::F16 {
            let fine = CloverField::build(links, c * self.params.csw_s, c * self.params.csw_t)?;
            fine.inverse(self.square).and_then(|fine| inverse.fill_from(&fine))
        } else {
            direct.invert_into(inverse, self.square)
        };
        self.singular.store(is_singular(inverted)?, Ordering::Release);
        self.built.set(now);
        Ok(())
    }

    /// Refuses what takes the inverse of a clover term that has none.
    ///
    /// # Errors
    /// `SingularClover`, with the site.
    pub fn check_invertible(&self) -> Result<()> {
        if self.singular.load(Ordering::Acquire) {
            if let Some(a) = self.direct.as_ref().filter(|a| a.precision() != Precision::F16) {
                a.log_det(self.square)?;
            }
            bail!(SingularClover, "the clover term cannot be inverted");
        }
        Ok(())
    }

    /// Takes over links, clover term and inverse of the same operator in other storage, into the
    /// memory that it has, as far as they have changed.
    fn follow(&self, other: &Wilson) -> Result<()> {
        let convert =
            |to: &Option<Arc<CloverField>>, from: &Option<Arc<CloverField>>| match (to, from) {
                (Some(to), Some(from)) if !Arc::ptr_eq(to, from) => to.fill_from(from),
                _ => Ok(()),
            };
        self.gauge.update_from(&other.gauge)?;
        if self.built.get() != other.built.get() {
            convert(&self.direct, &other.direct)?;
            convert(&self.inverse, &other.inverse)?;
            self.singular.store(other.singular.load(Ordering::Acquire), Ordering::Release);
            self.built.set(other.built.get());
        }
        Ok(())
    }

    /// The operator and the version of its links.
    pub fn version(&self) -> ActionVersion {
        ActionVersion { operator: self.number, links: self.gauge.version() }
    }

    /// The copy in other storage that all who ask for it share, brought up to date with this operator.
    pub(super) fn shared(&self, (precision, recon): Storage) -> Result<Arc<Wilson>> {
        self.copies.get(
            (precision, recon),
            |copy| copy.follow(self),
            || self.on_links(self.gauge.shared_copy(precision, recon)?, precision),
        )
    }

    /// The operator with a clover term A that the caller has (kappa-normalised: 1 + 2 kappa ...). Where it has no
    /// inverse, what takes that, even-odd preconditioning above all, is refused; M itself is not.
    pub fn with_clover(
        gauge: Arc<GaugeField>,
        direct: Option<Arc<CloverField>>,
        params: DiracParams,
    ) -> Result<Self> {
        let square = CloverField::square(2.0 * params.kappa() * params.mu);
        Self::inverted(gauge, direct, params, square)
    }

    /// The operator with the inverse of A^2 + `square`.
    fn inverted(
        gauge: Arc<GaugeField>,
        direct: Option<Arc<CloverField>>,
        params: DiracParams,
        square: Option<f64>,
    ) -> Result<Self> {
        let mut singular = false;
        let inverse = match &direct {
            Some(a) => {
                let sets = 1 + square.is_some() as usize;
                let out = CloverField::new(a.device(), a.geometry(), a.precision(), sets)?;
                singular = is_singular(a.invert_into(&out, square))?;
                Some(Arc::new(out))
            }
            None => None,
        };
        let made = Self::from_parts(gauge, direct, inverse, params)?;
        Ok(Wilson { singular: AtomicBool::new(singular), square, ..made })
    }

    /// The operator with A and A^-1, or its twisted inverse, both given.
    pub fn from_parts(
        gauge: Arc<GaugeField>,
        direct: Option<Arc<CloverField>>,
        inverse: Option<Arc<CloverField>>,
        params: DiracParams,
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
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let (built, copies) = (Version::of(gauge.version()), SharedCopies::default());
        let singular = AtomicBool::new(false);
        Ok(Wilson {
            gauge,
            direct,
            inverse,
            singular,
            params,
            square: CloverField::square(2.0 * params.kappa() * params.mu),
            own_clover: false,
            number,
            built,
            copies,
        })
    }

    /// The same operator with a copy of its links.
    pub fn with_own_links(self) -> Result<Self> {
        let gauge = self.gauge.to(self.gauge.precision(), self.gauge.recon())?;
        Ok(Wilson { gauge: Arc::new(gauge), ..self })
    }

    /// An operator like this one on another device, links and clover blocks zero: for rehearsals.
    pub(crate) fn like_on(&self, device: &Device) -> Result<Self> {
        let blocks = |c: &Arc<CloverField>| {
            CloverField::new(device, c.geometry(), c.precision(), c.sets()).map(Arc::new)
        };
        Ok(Wilson {
            gauge: Arc::new(self.gauge.like_on(device)?),
            direct: self.direct.as_ref().map(blocks).transpose()?,
            inverse: self.inverse.as_ref().map(blocks).transpose()?,
            singular: AtomicBool::new(false),
            built: Version::of(self.built.get()),
            copies: SharedCopies::default(),
            ..*self
        })
    }

    /// Bytes of links and clover blocks in another precision and link storage.
    pub fn bytes_as(&self, precision: Precision, recon: Recon) -> u64 {
        let geometry = self.gauge.geometry();
        let mut bytes = GaugeField::bytes(geometry, precision, recon);
        for blocks in [self.clover(), self.clover_inverse()].into_iter().flatten() {
            bytes += CloverField::bytes(geometry, precision, blocks.sets());
        }
        bytes as u64
    }

    /// The same operator in another precision and link storage.
    pub fn to(&self, precision: Precision, recon: Recon) -> Result<Self> {
        let same = (self.gauge.precision(), self.gauge.recon()) == (precision, recon);
        let links = match same {
            true => self.gauge.clone(),
            false => Arc::new(self.gauge.to(precision, recon)?),
        };
        self.on_links(links, precision)
    }

    /// The same operator on a copy of its links in this precision.
    fn on_links(&self, gauge: Arc<GaugeField>, precision: Precision) -> Result<Self> {
        let convert = |c: &Option<Arc<CloverField>>| -> Result<Option<Arc<CloverField>>> {
            match c {
                Some(c) if c.precision() != precision => Ok(Some(Arc::new(c.to(precision)?))),
                other => Ok(other.clone()),
            }
        };
        Ok(Wilson {
            gauge,
            direct: convert(&self.direct)?,
            inverse: convert(&self.inverse)?,
            singular: AtomicBool::new(self.singular.load(Ordering::Acquire)),
            built: Version::of(self.built.get()),
            copies: SharedCopies::default(),
            ..*self
        })
    }

    pub fn params(&self) -> &DiracParams {
        &self.params
    }
    /// What its kernels depend on: names of rehearsals are made of it.
    pub(crate) fn describe(&self) -> String {
        let (links, own) = (&self.gauge, &self.params);
        format!(
            "{:?} {:?} clover {} twist {:?} {:?}",
            links.geometry().extents(),
            (links.precision(), links.recon()),
            own.has_clover(),
            (own.mu != 0.0, own.rho != 0.0),
            own.boundary,
        )
    }
    pub fn gauge(&self) -> &Arc<GaugeField> {
        &self.gauge
    }
    pub fn clover(&self) -> Option<&Arc<CloverField>> {
        self.direct.as_ref()
    }
    pub fn clover_inverse(&self) -> Option<&Arc<CloverField>> {
        self.inverse.as_ref()
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

    /// Does the term leave fields as they are?
    pub(crate) fn is_one(&self, term: SiteTerm) -> bool {
        self.site(term, false).0 == args::SITE_ONE
    }

    /// SITE_* of kernels/wilson.h, the clover field it reads, its twist and scale.
    fn site(&self, term: SiteTerm, dagger: bool) -> (i32, Option<&Arc<CloverField>>, f64, f64) {
        let sign = if dagger { -1.0 } else { 1.0 };
        let rho = if term == SiteTerm::Direct { self.params.rho } else { 0.0 };
        let mu = self.params.mu + rho;
        let (twist, twisted) = (sign * 2.0 * self.kappa() * mu, mu != 0.0);
        match (term, &self.direct) {
            (SiteTerm::One, _) => (args::SITE_ONE, None, 0.0, 1.0),
            (SiteTerm::Direct, None) if twisted => (args::SITE_TWIST, None, twist, 1.0),
            (SiteTerm::Inverse, None) if twisted => {
                (args::SITE_TWIST, None, -twist, 1.0 / (1.0 + twist * twist))
            }
            (_, None) => (args::SITE_ONE, None, 0.0, 1.0),
            (SiteTerm::Direct, a) => (
                if twisted { args::SITE_CLOVER_TWIST } else { args::SITE_CLOVER },
                a.as_ref(),
                twist,
                1.0,
            ),
            (SiteTerm::Inverse, _) => (
                if twisted { args::SITE_CLOVER_TWIST_INVERSE } else { args::SITE_CLOVER },
                self.inverse.as_ref(),
                twist,
                1.0,
            ),
        }
    }

    pub(super) fn empty_view(&self) -> FieldView {
        FieldView { volume: self.gauge.geometry().outer() as i32, ..Default::default() }
    }

    /// One parity of the hopping term with its site terms; `inp` must hold the other parity,
    /// `out` and y this one. At most one of the two site terms may differ from One.
    pub fn hop(&self, out: &mut SpinorField, inp: &SpinorField, call: &HopCall) -> Result<()> {
        self.launch_hop(self.hop_args(out, inp, call, &HopSum::default())?, inp)
    }

    /// The same with further terms in the same pass.
    pub fn hop_add(
        &self,
        out: &mut SpinorField,
        inp: &SpinorField,
        call: &HopCall,
        sum: &HopSum,
    ) -> Result<()> {
        self.launch_hop(self.hop_args(out, inp, call, sum)?, inp)
    }

    /// Both parities of `hop_add`, whatever the call's: out and all others hold the full lattice. On a GPU that
    /// reaches the memory of its neighbours one launch does both, and what both need is read from memory once.
    pub fn hop_both(
        &self,
        out: &mut SpinorField,
        inp: &SpinorField,
        call: &HopCall,
        sum: &HopSum,
    ) -> Result<()> {
        let others = call.y.iter().map(|y| y.0).chain(sum.z.map(|z| z.0));
        let full = others.chain([&*out, inp]).all(|f| f.subset() == Subset::Full);
        let asked = self.gauge.device().gpu().is_some_and(|gpu| gpu.both_parities);
        let one_launch = asked && full && self.writes_both(inp.nrhs())?;
        if !one_launch {
            return (0..2)
                .try_for_each(|parity| self.hop_add(out, inp, &HopCall { parity, ..*call }, sum));
        }
        // Views of even sites, the first planes of every field.
        let args = self.hop_args(out, inp, &HopCall { parity: 0, ..*call }, sum)?;
        let args = HopArgs { parity: args::PARITY_BOTH, inp: inp.parity_view(0), ..args };
        self.launch_hop(args, inp)
    }

    /// Do kernels write messages of both parities, of so many right-hand sides, to all neighbours?
    fn writes_both(&self, nrhs: usize) -> Result<bool> {
        let (device, geometry) = (self.gauge.device(), self.gauge.geometry());
        if geometry.halo_mask() == 0 {
            return Ok(true);
        }
        // A rank that exchanges with itself has no peers to ask.
        if geometry.comm().size() == 1 || !geometry.reaches_all(device)? {
            return Ok(false);
        }
        let faces = geometry.spinor_faces(self.gauge.precision(), 2 * nrhs);
        let halo = geometry.halo_exchange(device, &faces)?;
        let direct = halo::lock(&halo).is_direct();
        Ok(direct)
    }

    /// Arguments of a launch that are the operator's: links, phases, the hop's coefficients and its site term.
    pub(crate) fn terms(&self, call: &HopCall) -> HopArgs {
        let geometry = self.gauge.geometry();
        let comm = geometry.comm();
        let one = Complex64::new(1.0, 0.0);
        let mut phases = [one; 8];
        let mut phase_mask = 0;
        let mut complex_phase = 0;
        for (mu, z) in self.params.boundary.iter().enumerate() {
            let (first, last) = (comm.coords()[mu] == 0, comm.coords()[mu] + 1 == comm.grid()[mu]);
            (phases[mu], phases[mu + 4]) =
                (if last { *z } else { one }, if first { z.conj() } else { one });
            phase_mask |= ((*z != one) as i32) << mu;
            complex_phase |= ((z.im != 0.0) as i32) << mu;
        }
        let (site_hop, clover, twist, twist_scale) = self.site(call.site_hop, call.dagger);
        HopArgs {
            geom: geometry.args(),
            gauge: self.gauge.view(),
            clover: clover.map_or(self.empty_view(), |c| c.view()),
            region: args::REGION_ALL,
            parity: call.parity as i32,
            sharers: comm.node().len() as i32,
            dagger: call.dagger as i32,
            site_hop,
            phase_mask,
            complex_phase,
            coef: self.params.hop.map(|h| h * call.coef),
            phase_re: phases.map(|z| z.re),
            phase_im: phases.map(|z| z.im),
            twist,
            twist_scale,
            ..Default::default()
        }
    }

    /// Arguments of one parity's launch, checked.
    fn hop_args(
        &self,
        out: &SpinorField,
        inp: &SpinorField,
        call: &HopCall,
        sum: &HopSum,
    ) -> Result<HopArgs> {
        let p = call.parity;
        self.check_field(out, Subset::of_parity(p))?;
        self.check_field(inp, Subset::of_parity(1 - p))?;
        if out.nrhs() != inp.nrhs() {
            bail!(FieldMismatch, "hop: {} right-hand sides out, {} in", out.nrhs(), inp.nrhs());
        }
        if [Some(call.site_hop), call.y.as_ref().map(|y| y.2)].contains(&Some(SiteTerm::Inverse)) {
            self.check_invertible()?;
        }
        let terms = self.terms(call);
        let (site_y, clover_y, twist_y, scale_y) = match &call.y {
            Some((_, _, term)) => self.site(*term, call.dagger),
            None => (args::SITE_ONE, None, 0.0, 1.0),
        };
        assert!(
            site_y == args::SITE_ONE || terms.site_hop == args::SITE_ONE,
            "two site terms in one hop"
        );
        let (twist, twist_scale) = match site_y {
            args::SITE_ONE => (terms.twist, terms.twist_scale),
            _ => (twist_y, scale_y),
        };
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
        Ok(HopArgs {
            out: out.parity_view(p),
            inp: inp.parity_view(1 - p),
            y,
            z,
            clover: clover_y.map_or(terms.clover, |c| c.view()),
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
        })
    }

    /// Arguments of the terms of -kappa H on both parities, of a vector on the full lattice.
    pub(crate) fn hop_terms(&self, inp: &SpinorField) -> Result<HopArgs> {
        self.check_field(inp, Subset::Full)?;
        let call = HopCall {
            parity: 0,
            dagger: false,
            coef: -self.kappa(),
            site_hop: SiteTerm::One,
            y: None,
        };
        let args = self.hop_args(inp, inp, &call, &HopSum::default())?;
        Ok(HopArgs { inp: inp.view(), ..args })
    }

    /// One parity or both; `inp` is that of the arguments.
    fn launch_hop(&self, mut args: HopArgs, inp: &SpinorField) -> Result<()> {
        let hop = kernels::Hop::of(self.gauge.precision(), self.gauge.recon())?;
        let (device, geometry) = (self.gauge.device(), self.gauge.geometry());
        let comm = geometry.comm();
        let work = geometry.work(inp.nrhs());
        let parities = if args.parity == args::PARITY_BOTH { 2 } else { 1 };
        // Room for the last blocks of either region.
        let n = parities * (geometry.outer() + 1024);
        let launch = |args: &HopArgs, work| device.launch(hop, args, work);
        if geometry.halo_mask() == 0 {
            let work = if parities == 2 { Work { n, ..work } } else { work };
            return launch(&args, work);
        }
        // Faces travel while the inner sites are done.
        let (precision, nrhs) = (inp.precision(), parities * inp.nrhs());
        let faces = geometry.spinor_faces(precision, nrhs);
        let halo = geometry.halo_exchange(device, &faces)?;
        let mut halo = halo::lock(&halo);
        halo.begin(comm)?;
        args.sent = geometry.spinor_halo(precision, nrhs, |mu, upper| halo.sent(mu, upper));
        args.received = geometry.spinor_halo(precision, nrhs, |mu, up| halo.received(mu, up));
        if let Some(signals) = halo.signals(comm)? {
            [args.departures, args.arrivals] = signals;
            let n = args::PACK_THREADS as usize + n;
            return launch(&args, Work { n, ..work });
        }
        let split = (0..4).filter(|&mu| comm.split(mu));
        let n = split.map(|mu| 2 * geometry.face_rows(mu)).sum();
        // What packing does not depend on would compile it anew on a GPU.
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

    /// A term as kernels have it: SITE_*, the clover field that it reads, its twist and scale.
    pub(crate) fn site_term(&self, term: SiteTerm) -> (i32, Option<&CloverField>, f64, f64) {
        let (kind, clover, twist, scale) = self.site(term, false);
        (kind, clover.map(|c| &**c), twist, scale)
    }

    /// out = coef S in on one parity, each field holding that parity or the full lattice.
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
        if term == SiteTerm::Inverse {
            self.check_invertible()?;
        }
        let (site, clover, twist, twist_scale) = self.site(term, dagger);
        site_launch(out, inp, parity, site, clover.map(|c| c.view()), [coef, twist, twist_scale])
    }

    /// Every field that enters must fit the links, and hold `subset` or the full lattice.
    fn check_field(&self, f: &SpinorField, subset: Subset) -> Result<()> {
        if f.geometry() != self.gauge.geometry() || f.device() != self.gauge.device() {
            bail!(FieldMismatch, "spinor field and links live on different lattices or devices");
        }
        if f.precision() != self.gauge.precision() {
            bail!(
                FieldMismatch,
                "precision: expected that of the links, {}, found {}",
                self.gauge.precision(),
                f.precision()
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

    /// Flops of one parity's hop with its site terms, per right-hand side (physics.md, Counting).
    pub fn hop_flops(&self, clover: bool, y: bool) -> f64 {
        let sites = (self.gauge.geometry().global_volume() / 2) as f64;
        sites
            * (1320.0
                + if clover && self.direct.is_some() { 552.0 } else { 0.0 }
                + if y { 48.0 } else { 0.0 })
    }

    /// Compulsory bytes of one parity's hop: 8 links, one spinor in, one out, per output site.
    pub fn hop_bytes(&self, clover: bool, y: bool, nrhs: usize) -> f64 {
        let sites = (self.gauge.geometry().global_volume() / 2) as f64;
        let p = self.gauge.precision();
        let norm = if p.has_norm() { 4 } else { 0 };
        let spinor = 24 * p.bytes() + norm;
        let links = 8 * self.gauge.recon().reals() * p.bytes();
        let blocks = if clover && self.direct.is_some() { 72 * p.bytes() + norm } else { 0 };
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
