//! The hermitian Wilson operator Q = gamma5 D and its square, where D is mass-normalised; with mass -(1 + s) it is
//! the kernel of the overlap operator (physics.md, Overlap; Neuberger, hep-lat/9707022).

use std::sync::Arc;

use super::{chiral_sum, DiracParams, HopCall, HopSum, SiteTerm, Wilson};
use crate::backend::Device;
use crate::bail;
use crate::error::Result;
use crate::fields::{GaugeField, SpinorField, Subset};
use crate::linop::{LinOp, Shape, Workspace};
use crate::params::Key;

/// The hermitian Wilson operator Q = gamma5 D, the kernel of the overlap operator (Neuberger, hep-lat/9707022).
pub struct HermitianWilson {
    op: Arc<Wilson>,
    workspace: Workspace,
}

impl HermitianWilson {
    /// # Errors
    /// `Unsupported`: with a twisted mass Q is not hermitian.
    pub fn new(op: Arc<Wilson>) -> Result<Self> {
        if op.params().mu != 0.0 {
            bail!(Unsupported, "gamma5 D is hermitian without twisted mass only");
        }
        op.gauge().geometry().periodic_in_time("kernel of the overlap operator")?;
        Ok(HermitianWilson { op, workspace: Workspace::default() })
    }
    /// Makes the operator with these parameters on these links.
    ///
    /// # Errors
    /// Errors of [`HermitianWilson::new`] and [`Wilson::new`].
    pub fn on(links: Arc<GaugeField>, params: DiracParams) -> Result<Self> {
        Self::new(Arc::new(Wilson::new(links, params)?))
    }
    pub fn op(&self) -> &Arc<Wilson> {
        &self.op
    }
    /// An operator with the same parameters on another device, with links that are zero; for rehearsals.
    pub(crate) fn like_on(&self, device: &Device) -> Result<Self> {
        Self::new(Arc::new(self.op.like_on(device)?))
    }

    /// Key of the properties on which the choice of its kernels depends.
    pub(crate) fn key(&self) -> Key {
        self.op.key()
    }

    /// The number 1 / (2 kappa), the ratio of the mass-normalised D to the kappa-normalised M.
    fn scale(&self) -> f64 {
        0.5 / self.op.kappa()
    }

    /// Computes out = c D in, or c D^dagger in with `dagger`.
    fn dirac(&self, out: &mut SpinorField, inp: &SpinorField, dagger: bool, c: f64) -> Result<()> {
        self.dirac_add(out, inp, dagger, c, &HopSum::default())
    }

    /// Computes out = c D in + coef z + own out, or with D^dagger in place of D, in one pass.
    pub fn dirac_add(
        &self,
        out: &mut SpinorField,
        inp: &SpinorField,
        dagger: bool,
        c: f64,
        sum: &HopSum,
    ) -> Result<()> {
        let c = c * self.scale();
        let call = HopCall {
            parity: 0,
            dagger,
            coef: -self.op.kappa() * c,
            site_hop: SiteTerm::One,
            y: Some((inp, c, SiteTerm::Direct)),
        };
        self.op.hop_both(out, inp, &call, sum)
    }

    /// Computes out = c Q^2 in, where Q = gamma5 D is this operator.
    pub fn square(&self, out: &mut SpinorField, inp: &SpinorField, c: f64) -> Result<()> {
        let t = &mut *self.workspace.field(&self.shape(), inp.nrhs())?;
        self.dirac(t, inp, false, 1.0)?;
        self.dirac(out, t, true, c)
    }

    /// Computes out = c Q in, where Q = gamma5 D is this operator.
    pub fn scaled(&self, out: &mut SpinorField, inp: &SpinorField, c: f64) -> Result<()> {
        self.dirac(out, inp, false, 1.0)?;
        chiral_sum(out, Some([c, -c]), &[])
    }
}

impl LinOp for HermitianWilson {
    fn shape(&self) -> Shape {
        self.op.subset_shape(Subset::Full)
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.scaled(out, inp, 1.0)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        self.op.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let s = self.shape();
        let vector = SpinorField::bytes(&s.geometry, s.precision, s.subset, nrhs) as f64;
        self.op.bytes(nrhs) + 2.0 * vector
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(Arc::new(self.like_on(device)?))
    }
}

/// The square Q^2 of the hermitian Wilson operator as an operator.
pub struct KernelSquare(pub Arc<HermitianWilson>);

impl LinOp for KernelSquare {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.0.square(out, inp, 1.0)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        2.0 * self.0.op.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        2.0 * self.0.op.bytes(nrhs)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(Arc::new(KernelSquare(Arc::new(self.0.like_on(device)?))))
    }
}
