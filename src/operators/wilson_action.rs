//! Wilson, clover and twisted-mass operators as quark actions that multigrid can coarsen.

use std::any::Any;
use std::sync::Arc;

use super::{
    ActionVersion, Coarsenable, DiracParams, EvenOdd, HopCall, HopSum, QuarkAction, SchurAction,
    Site, SiteTerm, Storage, TensorHop, Wilson, WilsonType,
};
use crate::backend::args::{self, AggregateHopArgs, HopArgs};
use crate::backend::{kernels, Device, Ptr};
use crate::bail;
use crate::error::Result;
use crate::fields::{
    halo, spinor_work, CloverField, CoarseField, GaugeField, Precision, SpinorField, Subset,
};
use crate::linop::Schur;
use crate::params::Key;
use crate::refuse;

impl QuarkAction for Wilson {
    fn links(&self) -> &Arc<GaugeField> {
        self.gauge()
    }
    fn version(&self) -> ActionVersion {
        Wilson::version(self)
    }
    fn describe(&self) -> String {
        Wilson::describe(self)
    }
    fn key(&self) -> Key {
        Wilson::key(self)
    }
    fn mass_scale(&self) -> f64 {
        2.0 * self.kappa()
    }
    fn mass(&self) -> f64 {
        self.params().mass
    }
    fn schur(self: Arc<Self>, form: Schur) -> Result<Arc<dyn SchurAction>> {
        if form.parity > 1 {
            refuse!(BadParameter, "parity", expected("0 or 1"), found("{}", form.parity));
        }
        Ok(Arc::new(EvenOdd::new(self, form.parity, form.symmetric)))
    }
    fn shared_copy(&self, storage: Storage) -> Result<Arc<dyn QuarkAction>> {
        Ok(self.shared(storage)?)
    }
    fn copy_bytes(&self, storage: Storage, form: Option<Schur>) -> u64 {
        self.bytes_as(storage.0, storage.1, form)
    }
    fn make_clover(&self) -> Result<()> {
        self.clover().map(|_| ())
    }
    fn like_on(&self, device: &Device) -> Result<Arc<dyn QuarkAction>> {
        Ok(Arc::new(Wilson::like_on(self, device)?))
    }
    fn update(&self, links: &GaugeField) -> Result<()> {
        Wilson::update(self, links)
    }
    fn hop_to(
        &self,
        out: &mut SpinorField,
        inp: &SpinorField,
        parity: usize,
        dagger: bool,
    ) -> Result<()> {
        let call = HopCall { parity, dagger, coef: 1.0, site_hop: SiteTerm::One, y: None };
        self.hop(out, inp, &call)
    }
    fn apply_site(
        &self,
        out: &mut SpinorField,
        inp: &SpinorField,
        parity: usize,
        term: SiteTerm,
        dagger: bool,
        coef: f64,
    ) -> Result<()> {
        Wilson::apply_site(self, out, inp, parity, term, dagger, coef)
    }
    fn site_blocks(&self, inverse: bool) -> Result<Option<Arc<CloverField>>> {
        match inverse {
            true if self.square.is_some() => Ok(None),
            true => self.clover_inverse(Subset::Full),
            false => self.clover(),
        }
    }
    fn coarsenable(&self) -> Option<&dyn Coarsenable> {
        Some(self)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl WilsonType for Wilson {
    fn wilson(&self) -> &Wilson {
        self
    }
    fn hop_add(
        &self,
        out: &mut SpinorField,
        inp: &SpinorField,
        call: &HopCall,
        sum: &HopSum,
    ) -> Result<()> {
        let hop = self.hop_args(out, inp, call, sum, Subset::of_parity(call.parity))?;
        self.launch_hop(hop.args, inp)
    }
    fn is_one(&self, term: SiteTerm) -> bool {
        Wilson::is_one(self, term)
    }
}

impl Wilson {
    /// Computes one parity of the hopping term with its site terms; `inp` must hold the other parity, `out` and y
    /// this one.
    pub fn hop(&self, out: &mut SpinorField, inp: &SpinorField, call: &HopCall) -> Result<()> {
        self.hop_add(out, inp, call, &HopSum::default())
    }

    /// Computes `hop_add` for both parities, whatever parity the call names; all fields hold the full lattice. On a
    /// GPU that can write to the memory of its neighbours a single launch does both, so that data needed by both are
    /// read once.
    pub fn hop_both(
        &self,
        out: &mut SpinorField,
        inp: &SpinorField,
        call: &HopCall,
        sum: &HopSum,
    ) -> Result<()> {
        let others = call.y.iter().map(|y| y.0).chain(sum.z.map(|z| z.0));
        let full = others.chain([&*out, inp]).all(|f| f.subset() == Subset::Full);
        let asked = self.gauge().device().gpu().is_some_and(|gpu| gpu.both_parities);
        let one_launch = asked && full && self.writes_both(inp.nrhs())?;
        if !one_launch {
            return (0..2)
                .try_for_each(|parity| self.hop_add(out, inp, &HopCall { parity, ..*call }, sum));
        }
        // Views of even sites, the first planes of every field.
        let hop = self.hop_args(out, inp, &HopCall { parity: 0, ..*call }, sum, Subset::Full)?;
        let args = HopArgs { parity: args::PARITY_BOTH, inp: inp.parity_view(0), ..hop.args };
        self.launch_hop(args, inp)
    }

    /// Whether kernels can write the messages of both parities, for `nrhs` right-hand sides, to the memory of all
    /// neighbours.
    fn writes_both(&self, nrhs: usize) -> Result<bool> {
        let (device, geometry) = (self.gauge().device(), self.gauge().geometry());
        if geometry.halo_mask() == 0 {
            return Ok(true);
        }
        // A rank that exchanges with itself has no peers to ask.
        if geometry.comm().size() == 1 || !geometry.reaches_all(device)? {
            return Ok(false);
        }
        let faces = geometry.spinor_faces(self.gauge().precision(), 2 * nrhs);
        let halo = geometry.halo_exchange(device, &faces)?;
        let direct = halo::lock(&halo).is_direct();
        Ok(direct)
    }

    /// This operator in another storage, on a copy of the links that is not shared.
    pub fn owned_in(self, (precision, recon): Storage) -> Result<Wilson> {
        let made = self.to(precision, recon)?;
        let shared = Arc::ptr_eq(made.gauge(), self.gauge());
        Ok(if shared { made.with_own_links()? } else { made })
    }

    /// The kernel for forward hops; None: there is none for these links and for vectors in this precision.
    fn forward_kernel(&self, precision: Precision) -> Option<kernels::AggregateHop> {
        let links = self.gauge();
        let fits = (links.precision() == Precision::F64) == (precision == Precision::F64);
        kernels::AggregateHop::of(links.precision(), links.recon()).ok().filter(|_| fits)
    }
}

impl Coarsenable for Wilson {
    fn own_copy(&self, (precision, recon): Storage) -> Result<Arc<dyn Coarsenable>> {
        Ok(Arc::new(self.to(precision, recon)?))
    }

    fn copy_on_demand(&self, (precision, recon): Storage) -> Result<Arc<dyn Coarsenable>> {
        Ok(Arc::new(Wilson::copy_on_demand(self, precision, recon)?))
    }

    fn within_blocks(&self, block: [usize; 4]) -> Result<Arc<dyn Coarsenable>> {
        Ok(Arc::new(self.with_links(self.gauge().cut(block)?)))
    }

    fn tensor_hop(&self) -> Result<TensorHop> {
        let terms = |parity| {
            let (coef, site_hop) = (self.kappa(), SiteTerm::Inverse);
            let call = HopCall { parity, dagger: false, coef, site_hop, y: None };
            self.terms(&call, Subset::of_parity(parity))
        };
        let hops = [terms(0)?, terms(1)?];
        let args = hops.each_ref().map(|hop| hop.args);
        TensorHop::new(self.gauge(), args, !self.is_one(SiteTerm::Inverse))
    }

    fn hops(&self, mu: usize, w: &mut SpinorField, v: &SpinorField) -> Result<()> {
        let mut hop = [0.0; 4];
        hop[mu] = self.params().hop[mu];
        let params = DiracParams {
            hop,
            mass: 1.0 + hop[mu].abs(),
            boundary: self.params().boundary,
            ..Default::default()
        };
        let one = Wilson::from_parts(self.gauge().clone(), None, None, params)?;
        (0..2).try_for_each(|parity| {
            let coef = -self.kappa();
            let call = HopCall { parity, dagger: false, coef, site_hop: SiteTerm::One, y: None };
            one.hop(w, v, &call)
        })
    }

    fn has_hop_forward(&self, precision: Precision) -> bool {
        self.forward_kernel(precision).is_some()
    }

    fn hop_forward(
        &self,
        mu: usize,
        piece: &mut CoarseField,
        faces: Ptr,
        v: &SpinorField,
    ) -> Result<()> {
        let Some(kernel) = self.forward_kernel(piece.precision()) else {
            bail!(Internal, "hops forward of links that have no kernel for them");
        };
        let hop = self.hop_terms(v)?;
        let args = AggregateHopArgs { hop, data: piece.ptr(), faces, mu: mu as i32 };
        piece.device().launch(kernel, &args, spinor_work(v))
    }

    fn site_term(&self, term: SiteTerm) -> Result<Site> {
        Wilson::site_term(self, term)
    }
}
