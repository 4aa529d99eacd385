//! The twisted-mass doublet of two flavours with different masses (Frezzotti and Rossi, hep-lat/0311008; Chiarappa et
//! al., hep-lat/0606011), kappa-normalised: M = A + i 2 kappa mu gamma5 tau3 - 2 kappa epsilon tau1 - kappa H, with A
//! and H of Wilson's operator, the same for both flavours. The flavours are stored as the two slices of a vector.
//! gamma5 tau1 M is hermitian, and (A + i m gamma5 tau3 + e tau1) (A - i m gamma5 tau3 - e tau1) = A^2 + m^2 - e^2 for
//! all real numbers m and e.

use std::any::Any;
use std::sync::Arc;

use super::site::{gamma5, SiteTerm};
use super::{
    ActionVersion, Coarsenable, CoarsenablePair, DiracParams, EvenOdd, FlavourTerm, HopCall,
    HopSum, QuarkAction, SchurAction, Storage, Wilson, WilsonType,
};
use crate::backend::args::{self, DoubletSiteArgs};
use crate::backend::{kernels, Device};
use crate::error::Result;
use crate::fields::{CloverField, Components, GaugeField, Subset, VectorField};
use crate::linop::{LinOp, Schur, Shape, Workspace};
use crate::params::{hash_members, Key};
use crate::refuse;

/// Parameters of a twisted-mass doublet of two different masses (Frezzotti, Rossi, hep-lat/0311008).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubletParams {
    /// Mass, clover term, twisted mass mu, hops and boundary phases, which both flavours share.
    pub wilson: DiracParams,
    /// Mass splitting epsilon: the operator has the term - epsilon tau1.
    pub epsilon: f64,
}

hash_members!(DoubletParams { wilson; epsilon });

impl DoubletParams {
    /// Refuses parameters that are out of range or contradict each other.
    pub fn check(&self) -> Result<()> {
        self.check_numbers()?;
        // Without a clover term A = 1, and A^2 + m^2 - e^2 is a number, which must be positive.
        if !self.wilson.has_clover() && 1.0 + self.square() <= 0.0 {
            refuse!(
                BadParameter,
                "epsilon",
                expected("(2 kappa)^2 (epsilon^2 - mu^2) below 1"),
                found("{} with epsilon {} and mu {}", -self.square(), self.epsilon, self.wilson.mu)
            );
        }
        Ok(())
    }
    fn check_numbers(&self) -> Result<()> {
        self.wilson.check()?;
        if !self.epsilon.is_finite() {
            refuse!(
                BadParameter,
                "epsilon",
                expected("a finite number"),
                found("{}", self.epsilon)
            );
        }
        Ok(())
    }
    /// Twisted mass of the lighter quark, |mu| - |epsilon|. For an eigenvector of gamma5 D, D being the operator of
    /// one flavour without twisted mass, with eigenvalue l and <gamma5> = 0, the eigenvalues of |D|^2 of the doublet
    /// are l^2 + (|mu| + |epsilon|)^2 and l^2 + (|mu| - |epsilon|)^2.
    fn lighter(&self) -> f64 {
        self.wilson.mu.abs() - self.epsilon.abs()
    }
    /// The number m^2 - e^2 with m = 2 kappa mu and e = 2 kappa epsilon, kappa-normalised.
    pub(super) fn square(&self) -> f64 {
        let c = 2.0 * self.wilson.kappa();
        (c * self.wilson.mu).powi(2) - (c * self.epsilon).powi(2)
    }
}

/// The operator of a twisted-mass doublet of two different masses.
pub struct Doublet {
    wilson: Arc<Wilson>,
    params: DoubletParams,
    workspace: Workspace,
}

impl Doublet {
    /// Makes the doublet, with a clover term made from the links if the parameters ask for one.
    ///
    /// # Errors
    /// Errors of [`DoubletParams::check`] and [`Wilson::new`].
    pub fn new(links: Arc<GaugeField>, params: DoubletParams) -> Result<Self> {
        Self::on_thin(links, None, params)
    }

    /// Makes the doublet with hops on smeared links; its clover term is made from the thin links, from which these
    /// were smeared, if the parameters say so. Errors as in [`Wilson::on_thin`].
    pub(super) fn on_thin(
        links: Arc<GaugeField>,
        thin: Option<Arc<GaugeField>>,
        params: DoubletParams,
    ) -> Result<Self> {
        params.check()?;
        let wilson = Wilson::with_square(links, thin, params.wilson, Some(params.square()))?;
        Ok(Self::on(Arc::new(wilson), params))
    }

    /// Makes the doublet with a given clover term A, the same for each flavour, kappa-normalised, and its inverse,
    /// which must be that of A^2 + m^2 - e^2.
    ///
    /// # Errors
    /// Errors of [`DoubletParams::check`]; `FieldMismatch`: another lattice, device or precision than the links'.
    pub fn from_parts(
        links: Arc<GaugeField>,
        direct: Arc<CloverField>,
        inverse: Arc<CloverField>,
        params: DoubletParams,
    ) -> Result<Self> {
        params.check_numbers()?;
        let (parts, square) = ((Some(direct), Some(inverse)), Some(params.square()));
        let wilson = Wilson::with_parts(links, parts.0, parts.1, params.wilson, square)?;
        Ok(Self::on(Arc::new(wilson), params))
    }

    fn on(wilson: Arc<Wilson>, params: DoubletParams) -> Self {
        Doublet { wilson, params, workspace: Workspace::default() }
    }

    /// This operator in another storage, on a copy of the links that is not shared.
    pub fn owned_in(self, storage: Storage) -> Result<Doublet> {
        let params = self.params;
        let wilson = match Arc::try_unwrap(self.wilson) {
            Ok(own) => own,
            Err(shared) => shared.to(storage.0, storage.1)?,
        };
        Ok(Self::on(Arc::new(wilson.owned_in(storage)?), params))
    }

    /// Computes out = coef S in + y on one parity for a site term S; `out` and `in` may be the same field.
    fn site(
        &self,
        out: &VectorField,
        inp: &VectorField,
        parity: usize,
        (term, dagger, coef): (SiteTerm, bool, f64),
        y: Option<(&VectorField, f64)>,
    ) -> Result<()> {
        let shape = self.subset_shape(Subset::of_parity(parity));
        for (field, name) in [(out, "out"), (inp, "in")].into_iter().chain(y.map(|y| (y.0, "y"))) {
            let whole = Shape { subset: Subset::Full, ..shape.clone() };
            if field.subset() == Subset::Full { &whole } else { &shape }.check(field, name)?;
            if field.nrhs() != inp.nrhs() {
                let (found, n) = (field.nrhs(), inp.nrhs());
                refuse!(
                    FieldMismatch,
                    "{name}",
                    expected("{n} right-hand sides"),
                    found("{found}")
                );
            }
        }
        let scale = 2.0 * self.wilson.kappa();
        let sign = if dagger { -1.0 } else { 1.0 };
        let (m, e) = (sign * scale * self.params.wilson.mu, -scale * self.params.epsilon);
        let subset = Subset::of_parity(parity);
        let blocks = match term {
            SiteTerm::One => None,
            SiteTerm::Direct => self.wilson.direct(subset)?,
            SiteTerm::Inverse => self.wilson.clover_inverse(subset)?,
        };
        let (site, clover, [twist, split, scale]) = match (term, &blocks) {
            (SiteTerm::One, _) => (args::SITE_ONE, None, [0.0, 0.0, 1.0]),
            (SiteTerm::Direct, None) => (args::SITE_TWIST, None, [m, e, 1.0]),
            (SiteTerm::Inverse, None) => {
                (args::SITE_TWIST, None, [-m, -e, 1.0 / (1.0 + self.params.square())])
            }
            (SiteTerm::Direct, a) => (args::SITE_CLOVER_TWIST, a.as_ref(), [m, e, 1.0]),
            (SiteTerm::Inverse, b) => (args::SITE_CLOVER_TWIST_INVERSE, b.as_ref(), [m, e, 1.0]),
        };
        let args = DoubletSiteArgs {
            geom: inp.geometry().args(),
            out: out.parity_view(parity),
            inp: inp.parity_view(parity),
            y: y.map_or(self.wilson.empty_view(), |y| y.0.parity_view(parity)),
            clover: clover.map_or(self.wilson.empty_view(), |c| c.view()),
            site,
            parity: parity as i32,
            with_y: y.is_some() as i32,
            step_out: out.parities() as i32,
            step_in: inp.parities() as i32,
            step_y: y.map_or(1, |y| y.0.parities() as i32),
            coef,
            coef_y: y.map_or(0.0, |y| y.1),
            twist,
            split,
            scale,
        };
        let (kernel, work) =
            (kernels::DoubletSite(inp.precision()), inp.geometry().work(inp.nrhs()));
        inp.device().launch(kernel, &args, work)
    }

    fn apply_full(&self, out: &mut VectorField, inp: &VectorField, dagger: bool) -> Result<()> {
        for parity in 0..2 {
            let call = HopCall {
                parity,
                dagger,
                coef: -self.wilson.kappa(),
                site_hop: SiteTerm::One,
                y: Some((inp, 1.0, SiteTerm::Direct)),
            };
            self.hop_add(out, inp, &call, &HopSum::default())?;
        }
        Ok(())
    }
}

impl WilsonType for Doublet {
    fn wilson(&self) -> &Wilson {
        &self.wilson
    }

    fn hop_add(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        call: &HopCall,
        sum: &HopSum,
    ) -> Result<()> {
        let HopCall { parity, dagger, site_hop, y, .. } = *call;
        let one = SiteTerm::One;
        if sum.own != 0.0 && (sum.z.is_some() || site_hop != one) {
            // The hop and the term z are computed first; own times the former contents of out is added afterwards.
            let shape = self.subset_shape(Subset::of_parity(parity));
            let t = &mut *self.workspace.field(&shape, inp.nrhs())?;
            self.hop_add(t, inp, call, &HopSum { z: sum.z, own: 0.0 })?;
            return self.site(out, t, parity, (one, dagger, 1.0), Some((out, sum.own)));
        }
        // Terms that the hop's site term also multiplies are computed first, and the hop is added to them.
        let z = sum.z.map(|(z, c)| (z, c, one));
        let (before, after) = match y {
            _ if site_hop == one => ([y, z], [None, None]),
            Some((y, c, term)) if term == site_hop => ([Some((y, c, one)), None], [z, None]),
            y => ([None, None], [y, z]),
        };
        let mut own = sum.own;
        for (v, c, term) in before.into_iter().flatten() {
            let add = (own != 0.0).then_some((&*out, own));
            self.site(out, v, parity, (term, dagger, c), add)?;
            own = 1.0;
        }
        let slices = HopCall { site_hop: one, y: None, ..*call };
        let add = HopSum { z: None, own };
        self.wilson.hop_add(&mut out.by_slice(), &inp.by_slice(), &slices, &add)?;
        let mut after = after.into_iter().flatten().map(|(v, c, _)| (v, c));
        if site_hop != one {
            self.site(out, out, parity, (site_hop, dagger, 1.0), after.next())?;
        }
        after.try_for_each(|(v, c)| self.site(out, v, parity, (one, dagger, c), Some((out, 1.0))))
    }

    fn is_one(&self, term: SiteTerm) -> bool {
        term == SiteTerm::One
    }
}

impl LinOp for Doublet {
    fn shape(&self) -> Shape {
        self.subset_shape(Subset::Full)
    }
    fn free_idle(&self) {
        self.workspace.clear();
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.apply_full(out, inp, false)
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.apply_full(out, inp, true)
    }
    fn flops(&self) -> f64 {
        2.0 * self.wilson.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.wilson.bytes(2 * nrhs)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(self.like_on(device)?)
    }
}

impl QuarkAction for Doublet {
    fn links(&self) -> &Arc<GaugeField> {
        self.wilson.gauge()
    }
    fn version(&self) -> ActionVersion {
        self.wilson.version()
    }
    fn describe(&self) -> String {
        format!("doublet {}", self.wilson.describe())
    }
    fn key(&self) -> Key {
        Key::of(("doublet", self.wilson.key()))
    }
    fn subset_shape(&self, subset: Subset) -> Shape {
        Shape { components: Components::DOUBLET, ..self.wilson.subset_shape(subset) }
    }
    fn mass_scale(&self) -> f64 {
        2.0 * self.wilson.kappa()
    }
    fn mass(&self) -> f64 {
        self.params.wilson.mass
    }
    fn schur(self: Arc<Self>, form: Schur) -> Result<Arc<dyn SchurAction>> {
        if form.parity > 1 {
            refuse!(BadParameter, "parity", expected("0 or 1"), found("{}", form.parity));
        }
        Ok(Arc::new(EvenOdd::new(self, form.parity, form.symmetric)))
    }
    fn shared_copy(&self, storage: Storage) -> Result<Arc<dyn QuarkAction>> {
        Ok(Arc::new(Self::on(self.wilson.shared(storage)?, self.params)))
    }
    fn copy_bytes(&self, storage: Storage, form: Option<Schur>) -> u64 {
        self.wilson.bytes_as(storage.0, storage.1, form)
    }
    fn make_clover(&self) -> Result<()> {
        self.wilson.make_clover()
    }
    fn like_on(&self, device: &Device) -> Result<Arc<dyn QuarkAction>> {
        Ok(Arc::new(Self::on(Arc::new(self.wilson.like_on(device)?), self.params)))
    }
    fn update(&self, links: &GaugeField) -> Result<()> {
        self.wilson.update(links)
    }
    fn hop_to(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        parity: usize,
        dagger: bool,
    ) -> Result<()> {
        let call = HopCall { parity, dagger, coef: 1.0, site_hop: SiteTerm::One, y: None };
        self.hop_add(out, inp, &call, &HopSum::default())
    }
    fn apply_site(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        parity: usize,
        term: SiteTerm,
        dagger: bool,
        coef: f64,
    ) -> Result<()> {
        self.site(out, inp, parity, (term, dagger, coef), None)
    }
    fn site_blocks(&self, inverse: bool) -> Result<Option<Arc<CloverField>>> {
        if inverse {
            Ok(None)
        } else {
            self.wilson.clover()
        }
    }
    fn gamma5(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        inp.check_like(out, "gamma5 tau1")?;
        let (out, inp) = (out.by_slice(), inp.by_slice());
        (0..inp.nrhs()).try_for_each(|i| gamma5(&mut out.columns(i ^ 1, 1)?, &inp.columns(i, 1)?))
    }
    fn coarsenable_pair(&self) -> Option<&dyn CoarsenablePair> {
        Some(self)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl CoarsenablePair for Doublet {
    /// The Wilson operator with the twisted mass of the lighter quark; the null vectors have to contain its low
    /// modes.
    fn one_flavour(&self) -> Result<Arc<dyn Coarsenable>> {
        let params = DiracParams { mu: self.params.lighter(), ..*self.wilson.params() };
        let (links, direct) = (self.wilson.gauge().clone(), self.wilson.clover()?);
        Ok(Arc::new(Wilson::with_clover(links, direct, params)?))
    }
    fn flavour_term(&self) -> FlavourTerm {
        let scale = 2.0 * self.wilson.kappa();
        FlavourTerm {
            own: scale * self.params.lighter(),
            twist: scale * self.params.wilson.mu,
            split: -scale * self.params.epsilon,
        }
    }
    fn own_copy(&self, (precision, recon): Storage) -> Result<Arc<dyn QuarkAction>> {
        Ok(Arc::new(Self::on(Arc::new(self.wilson.to(precision, recon)?), self.params)))
    }
}
