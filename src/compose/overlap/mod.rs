//! The overlap operator (Neuberger, hep-lat/9707022), with rho = 1 + s and the hermitian kernel Q of mass -rho:
//! D_N(0) = rho (1 + gamma5 sign Q), D_N(m) = (1 - m / (2 rho)) D_N(0) + m (physics.md, Overlap).

pub mod approximation;
pub(super) mod choice;
mod low_modes;
mod mass;
mod modes;
mod sign;
mod solve;
mod solve_params;
mod systems;

use std::sync::Arc;

pub use low_modes::{OverlapModes, OverlapModesRecord};
pub use modes::{HighMode, ModeParams, Modes, ModesRecord};
pub use sign::{Method, Sign, SignParams};
pub use solve::OverlapSolver;
pub use solve_params::{
    OverlapAlgorithm, OverlapPreconditioner, OverlapSolveParams, Preconditioned,
};

use crate::backend::Device;
use crate::error::Result;
use crate::fields::{blas, GaugeField, Noise, Precision, Recon, SpinorField};
use crate::linop::{LinOp, Shape, Workspace};
use crate::operators::{
    chiral_sum, one_and_gamma5, ActionParams, DiracParams, HermitianWilson, QuarkAction,
};
use crate::params::Key;
use crate::refuse;
use crate::solvers::Monitor;

/// The overlap operator D_N(m) (Neuberger, hep-lat/9707022): D = rho (1 + gamma5 sign Q) for mass 0, with Q the
/// hermitian Wilson operator of mass -rho.
pub struct Overlap {
    sign: Arc<Sign>,
    rho: f64,
    mass: f64,
}

impl Overlap {
    /// The kernel Q for links that may be smeared. Of `params` mass and twisted mass are ignored; clover
    /// coefficients, hops and boundary phases are used.
    ///
    /// # Errors
    /// `BadParameter`: |s| is not below 1; those of [`ActionParams::create`].
    pub fn kernel(
        links: Arc<GaugeField>,
        s: f64,
        params: DiracParams,
    ) -> Result<Arc<HermitianWilson>> {
        if s.is_nan() || s.abs() >= 1.0 {
            refuse!(
                BadParameter,
                "s",
                expected("a number between -1 and 1"),
                found("{s}: the operator has no light quark else")
            );
        }
        let params = DiracParams { mass: -(1.0 + s), mu: 0.0, ..params };
        Ok(Arc::new(HermitianWilson::on(links, params)?))
    }

    /// Finds the modes of a kernel and makes the operator.
    ///
    /// # Errors
    /// Errors of [`Modes::find`], [`Sign::new`] and [`Overlap::new`].
    pub fn build(
        kernel: Arc<HermitianWilson>,
        mass: f64,
        modes: &ModeParams,
        sign: SignParams,
        monitor: &mut Monitor,
    ) -> Result<Self> {
        let modes = Modes::find(&kernel, None, modes, None, monitor)?;
        Self::new(Arc::new(Sign::new(kernel, Arc::new(modes), sign)?), mass)
    }

    /// # Errors
    /// `BadParameter`: the mass is not from 0 to below 2 rho, or the kernel's is not from -2 to 0.
    pub fn new(sign: Arc<Sign>, mass: f64) -> Result<Self> {
        let rho = -sign.kernel().op().params().mass;
        if !(rho > 0.0 && rho < 2.0) {
            refuse!(
                BadParameter,
                "kernel",
                expected("a mass -(1 + s) between -2 and 0"),
                found("{}", -rho)
            );
        }
        if !(mass >= 0.0 && mass < 2.0 * rho) {
            refuse!(
                BadParameter,
                "mass",
                expected("0 or more and less than {}", 2.0 * rho),
                found("{mass}")
            );
        }
        Ok(Overlap { sign, rho, mass })
    }

    /// This operator with another mass.
    pub fn with_mass(&self, mass: f64) -> Result<Self> {
        Self::new(self.sign.clone(), mass)
    }
    /// A copy of the operator in another precision and link storage.
    pub fn to(&self, precision: Precision, recon: Recon) -> Result<Self> {
        Self::new(Arc::new(self.sign.to(precision, recon)?), self.mass)
    }

    /// The Wilson operator of the given mass on the kernel's links, with its clover term and boundary phases, in
    /// single precision or double: it preconditions solves, and their multigrid is set up for it.
    ///
    /// # Errors
    /// The errors of [`ActionParams::create`].
    pub fn wilson(&self, mass: f64) -> Result<Arc<dyn QuarkAction>> {
        let kernel = self.sign.kernel().op();
        let params = DiracParams { mass, ..*kernel.params() };
        let links = kernel.gauge();
        let links = match links.precision() {
            Precision::F16 => Arc::new(links.to(Precision::F32, links.recon())?),
            _ => links.clone(),
        };
        ActionParams::from(params).create(links)
    }

    /// An operator of the same shape on another device, with links and modes that are zero; for rehearsals.
    pub(crate) fn like_on(&self, device: &Device) -> Result<Self> {
        Self::new(Arc::new(self.sign.like_on(device)?), self.mass)
    }

    pub fn sign(&self) -> &Arc<Sign> {
        &self.sign
    }
    /// rho = 1 + s, where -rho is the mass of the Wilson operator in Q.
    pub fn rho(&self) -> f64 {
        self.rho
    }
    pub fn mass(&self) -> f64 {
        self.mass
    }
    /// Bound on |D~ - D| for the operator D~ that is applied at the accuracy in use, to first order and without
    /// rounding: (1 + s - m / 2) (2 (kappa_+ + kappa_-) + delta) (Walk, section 2.8).
    pub fn error_bound(&self) -> f64 {
        (self.rho - 0.5 * self.mass) * self.sign.error_bound()
    }
    /// Key of the properties on which the choice of the operator's kernels depends.
    pub(super) fn key(&self) -> Key {
        let sign = &self.sign;
        Key::of(("overlap", sign.kernel().key(), sign.method(), sign.modes().count() > 0))
    }
    /// Coefficients a and b of D = a + b gamma5 sign Q.
    fn coefficients(&self) -> (f64, f64) {
        (self.rho + 0.5 * self.mass, self.rho - 0.5 * self.mass)
    }

    /// Violation of the Ginsparg-Wilson relation by the massless operator: |(gamma5 D + D gamma5 - D gamma5 D / rho)
    /// x| / |x| for a random x.
    ///
    /// # Errors
    /// Errors of an application.
    pub fn ginsparg_wilson(&self, seed: u64) -> Result<f64> {
        let shape = self.shape();
        let massless = self.with_mass(0.0)?;
        let mut x = shape.field(1)?;
        x.set_noise(Noise::Normal, seed, 0)?;
        let (mut dx, mut g, mut dg) = (shape.field(1)?, shape.field(1)?, shape.field(1)?);
        massless.apply(&mut dx, &x)?;
        // D gamma5 (x - D x / rho) + gamma5 D x
        let gamma5 = |c: f64| one_and_gamma5(0.0, c);
        chiral_sum(&mut g, None, &[(&x, gamma5(1.0)), (&dx, gamma5(-1.0 / self.rho))])?;
        massless.apply(&mut dg, &g)?;
        chiral_sum(&mut dg, Some([1.0, 1.0]), &[(&dx, gamma5(1.0))])?;
        Ok((blas::norm2(&dg)?[0] / blas::norm2(&x)?[0]).sqrt())
    }

    /// D^dagger D on one chirality, 1 or -1, at half the cost of D^dagger and D.
    pub fn square(&self, chirality: i32) -> OverlapSquare {
        OverlapSquare {
            sign: self.sign.clone(),
            rho: self.rho,
            mass: self.mass,
            upper: chirality > 0,
            workspace: Workspace::default(),
        }
    }
}

impl LinOp for Overlap {
    fn shape(&self) -> Shape {
        self.sign.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let (a, b) = self.coefficients();
        self.sign.apply(out, inp)?;
        chiral_sum(out, Some(one_and_gamma5(0.0, b)), &[(inp, [a, a])])
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        // gamma5 D gamma5 = a + b sign(Q) gamma5
        let (a, b) = self.coefficients();
        let mut t = inp.like(inp.precision())?;
        chiral_sum(&mut t, None, &[(inp, one_and_gamma5(0.0, 1.0))])?;
        self.sign.apply(out, &t)?;
        chiral_sum(out, Some([b, b]), &[(inp, [a, a])])
    }
    fn flops(&self) -> f64 {
        self.sign.flops() + 72.0 * self.shape().sites() as f64
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let s = self.shape();
        let vector = SpinorField::bytes(&s.geometry, s.precision, s.subset, nrhs) as f64;
        self.sign.bytes(nrhs) + 3.0 * vector
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(Arc::new(self.like_on(device)?))
    }
}

/// D^dagger D = 2 rho^2 + m^2 / 2 +- (2 rho^2 - m^2 / 2) P sign(Q) P on spinors of one chirality, P being the
/// projector to it. Spinors of the other chirality are multiplied by 4 rho^2, the largest eigenvalue, so that the
/// whole operator is hermitian and positive and its low modes have this chirality.
pub struct OverlapSquare {
    sign: Arc<Sign>,
    rho: f64,
    mass: f64,
    upper: bool,
    workspace: Workspace,
}

impl OverlapSquare {
    fn here(&self, a: f64, other: f64) -> [f64; 2] {
        if self.upper {
            [a, other]
        } else {
            [other, a]
        }
    }
    /// The factor c = 1 - m^2 / (4 rho^2) and the shift sigma in D^dagger D(m) = c (D^dagger D(0) + sigma).
    pub fn shift_of(rho: f64, mass: f64) -> (f64, f64) {
        let scale = 1.0 - mass * mass / (4.0 * rho * rho);
        (scale, mass * mass / scale)
    }
    /// Projects on the chirality of this operator: out is in on that chirality and 0 on the other.
    pub fn project(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        chiral_sum(out, None, &[(inp, self.here(1.0, 0.0))])
    }
    /// Computes out = D^dagger D P in, with the projector P to this chirality; out is 0 on the other one.
    ///
    /// # Errors
    /// Errors of an application of the sign function.
    pub fn apply_projected(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.act(out, inp, 0.0)
    }
    /// Applies D^dagger D; the other chirality is multiplied by `other`.
    fn act(&self, out: &mut SpinorField, inp: &SpinorField, other: f64) -> Result<()> {
        let (r2, m2) = (self.rho * self.rho, self.mass * self.mass);
        let b = (2.0 * r2 - 0.5 * m2) * if self.upper { 1.0 } else { -1.0 };
        {
            let t = &mut *self.workspace.field(&self.shape(), inp.nrhs())?;
            self.project(t, inp)?;
            self.sign.apply(out, t)?;
        }
        let terms = [(inp, self.here(2.0 * r2 + 0.5 * m2, other))];
        chiral_sum(out, Some(self.here(b, 0.0)), &terms)
    }
}

impl LinOp for OverlapSquare {
    fn shape(&self) -> Shape {
        self.sign.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.act(out, inp, 4.0 * self.rho * self.rho)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        self.sign.flops() + 72.0 * self.shape().sites() as f64
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let s = self.shape();
        let vector = SpinorField::bytes(&s.geometry, s.precision, s.subset, nrhs) as f64;
        self.sign.bytes(nrhs) + 5.0 * vector
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let (sign, workspace) = (Arc::new(self.sign.like_on(device)?), Workspace::default());
        Ok(Arc::new(OverlapSquare { sign, workspace, ..*self }))
    }
}
