//! Distance preconditioning (de Divitiis, Petronzio, Tantalo, Phys. Lett. B 692 (2010) 157, arXiv:1006.4028): with
//! the weight of Eq. 9, w(t) = cosh(alpha (T/2 - d)) at the distance d = (t - t0) mod T from the source, the equation
//! M x = b becomes M' y = W^-1 b with M' = W^-1 M W and x = W y. The solution y falls with time by exp(-alpha) less
//! per slice than x, so that slices far from the source contribute to the norm of the residual. In the same way
//! M^dagger x = b becomes W^-1 M^dagger W y = W^-1 b, whose operator is the adjoint of W M W^-1.

use std::any::Any;
use std::sync::Arc;

use super::action::{ActionVersion, InverseOwner, QuarkAction, SchurAction, Storage};
use super::copy_parity;
use crate::backend::Device;
use crate::error::Result;
use crate::fields::time_slices::{check_spinors, TimeFactors};
use crate::fields::{GaugeField, Geometry, VectorField};
use crate::linop::{LinOp, Schur, SchurComplement, Shape, Workspace};
use crate::params::{hash_members, Key};
use crate::refuse;

/// The weight W(t) = cosh(alpha (T/2 - d)) of distance preconditioning (arXiv:1006.4028, Eq. 9).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Exponent alpha per time slice, above 0.
    pub alpha: f64,
    /// Time slice of the source.
    pub t0: usize,
}

hash_members!(Distance { t0; alpha });

impl Distance {
    /// Largest allowed alpha T / 2; weights and their inverses are then far from overflow in single precision.
    const MAX_EXPONENT: f64 = 80.0;

    /// Refuses parameters that are not possible on a lattice.
    ///
    /// # Errors
    /// `BadParameter`: alpha is not a number above 0, or above 160 / T; t0 is not a time slice.
    pub fn check(&self, geometry: &Geometry) -> Result<()> {
        let times = geometry.global_extents()[3];
        let max = 2.0 * Self::MAX_EXPONENT / times as f64;
        if !(self.alpha > 0.0 && self.alpha <= max) {
            refuse!(
                BadParameter,
                "distance_alpha",
                expected("a number above 0, at most 160 / T = {max}"),
                found("{}", self.alpha)
            );
        }
        if self.t0 >= times {
            refuse!(
                BadParameter,
                "distance_t0",
                expected("a time slice, 0 to {}", times - 1),
                found("{}", self.t0)
            );
        }
        Ok(())
    }

    /// The weights of all time slices, divided by the geometric mean of the largest and the smallest; a common factor
    /// does not change M'.
    fn weights(&self, times: usize) -> Vec<f64> {
        let half = 0.5 * times as f64;
        let middle = (self.alpha * half).cosh().sqrt();
        let distance = |t: usize| ((t + times - self.t0) % times) as f64;
        (0..times).map(|t| (self.alpha * (half - distance(t))).cosh() / middle).collect()
    }
}

/// The weights W and their inverses, on a device.
#[derive(Clone)]
pub struct DistanceWeights {
    distance: Distance,
    times: Arc<TimeFactors>,
    over: Arc<TimeFactors>,
}

impl DistanceWeights {
    /// Makes the weights for solves with this action on spinors.
    ///
    /// # Errors
    /// `BadParameter`: see [`Distance::check`]; `Unsupported`: the action is not one of spinors, or has no hop in time;
    /// `OutOfMemory`.
    pub fn new(op: &dyn QuarkAction, distance: Distance) -> Result<Self> {
        let Shape { device, geometry, components, order, .. } = op.shape();
        distance.check(&geometry)?;
        op.links().geometry().periodic_in_time("distance_alpha")?;
        check_spinors(components, order)?;
        if op.within_time_slices() {
            refuse!(
                Unsupported,
                "distance_alpha",
                expected("0 with an operator without hops in time")
            );
        }
        let weights = distance.weights(geometry.global_extents()[3]);
        let inverse: Vec<f64> = weights.iter().map(|w| 1.0 / w).collect();
        let factors = |w: &[f64]| TimeFactors::new(&device, &geometry, w).map(Arc::new);
        Ok(DistanceWeights { distance, times: factors(&weights)?, over: factors(&inverse)? })
    }

    /// The parameters from which the weights were made.
    pub fn distance(&self) -> Distance {
        self.distance
    }

    /// The weighted operator W^-1 M W, or with `adjoint` W M W^-1, whose adjoint is W^-1 M^dagger W.
    pub fn weighted(&self, op: Arc<dyn QuarkAction>, adjoint: bool) -> DistanceWeighted {
        DistanceWeighted { op, weights: self.clone(), adjoint }
    }

    /// Computes out = W^-1 b, the right-hand side of the weighted equation.
    pub fn prepare(&self, out: &mut VectorField, b: &VectorField) -> Result<()> {
        self.over.multiply(out, b)
    }
    /// Computes x = W x, which turns the solution of the weighted equation into that of M x = b.
    pub fn reconstruct(&self, x: &mut VectorField) -> Result<()> {
        self.times.scale(x)
    }
    /// Computes x = W^-1 x, the inverse of `reconstruct`.
    pub fn restrict(&self, x: &mut VectorField) -> Result<()> {
        self.over.scale(x)
    }
}

/// The weighted operator M' = W^-1 M W of a quark action M on spinors, or W M W^-1.
pub struct DistanceWeighted {
    op: Arc<dyn QuarkAction>,
    weights: DistanceWeights,
    adjoint: bool,
}

impl DistanceWeighted {
    /// Makes the operator W^-1 M W of the action M.
    ///
    /// # Errors
    /// Errors of [`DistanceWeights::new`].
    pub fn new(op: Arc<dyn QuarkAction>, distance: Distance) -> Result<Self> {
        Ok(DistanceWeights::new(&*op, distance)?.weighted(op, false))
    }

    /// The factors by which a vector is multiplied before and after M, or with `dagger` before and after M^dagger.
    fn factors(&self, dagger: bool) -> (&TimeFactors, &TimeFactors) {
        let DistanceWeights { times, over, .. } = &self.weights;
        match dagger == self.adjoint {
            true => (times, over),
            false => (over, times),
        }
    }

    /// Computes out = M' in, where `apply` multiplies by M; with `dagger` its adjoint, where `apply` multiplies by
    /// M^dagger. The temporary field comes from `workspace`: for whole lattices a temporary one is passed, so that the
    /// field is freed before solves on one parity.
    fn with(
        &self,
        workspace: &Workspace,
        dagger: bool,
        (out, inp): (&mut VectorField, &VectorField),
        apply: impl FnOnce(&mut VectorField, &VectorField) -> Result<()>,
    ) -> Result<()> {
        let (first, last) = self.factors(dagger);
        {
            let t = &mut *workspace.field(&Shape::of(inp), inp.nrhs())?;
            first.multiply(t, inp)?;
            apply(out, t)?;
        }
        last.scale(out)
    }
}

/// Number of floating-point operations of the multiplications by W and by W^-1, for one right-hand side.
fn extra_flops(shape: &Shape) -> f64 {
    4.0 * shape.numbers()
}

/// Number of bytes that the multiplications by W and by W^-1 move; each reads and writes a vector.
fn extra_bytes(shape: &Shape, nrhs: usize) -> f64 {
    4.0 * shape.bytes(nrhs) as f64
}

impl LinOp for DistanceWeighted {
    fn shape(&self) -> Shape {
        self.op.shape()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let apply = |out: &mut VectorField, inp: &VectorField| self.op.apply(out, inp);
        self.with(&Workspace::default(), false, (out, inp), apply)
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let apply = |out: &mut VectorField, inp: &VectorField| self.op.apply_dagger(out, inp);
        self.with(&Workspace::default(), true, (out, inp), apply)
    }
    fn flops(&self) -> f64 {
        self.op.flops() + extra_flops(&self.shape())
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.op.bytes(nrhs) + extra_bytes(&self.shape(), nrhs)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(self.like_on(device)?)
    }
}

impl QuarkAction for DistanceWeighted {
    fn links(&self) -> &Arc<GaugeField> {
        self.op.links()
    }
    fn version(&self) -> ActionVersion {
        self.op.version()
    }
    fn describe(&self) -> String {
        let adjoint = if self.adjoint { " of the adjoint" } else { "" };
        format!("{} with distance preconditioning{adjoint}", self.op.describe())
    }
    fn key(&self) -> Key {
        Key::of(("distance", self.adjoint, self.op.key()))
    }
    fn mass_scale(&self) -> f64 {
        self.op.mass_scale()
    }
    fn mass(&self) -> f64 {
        self.op.mass()
    }
    fn schur(self: Arc<Self>, form: Schur) -> Result<Arc<dyn SchurAction>> {
        let inner = self.op.clone().schur(form)?;
        Ok(Arc::new(WeightedSchur { inner, op: self, workspace: Workspace::default() }))
    }
    fn shared_copy(&self, storage: Storage) -> Result<Arc<dyn QuarkAction>> {
        let copy = self.op.shared_copy(storage)?;
        Ok(Arc::new(self.weights.weighted(copy, self.adjoint)))
    }
    fn copy_bytes(&self, storage: Storage, form: Option<Schur>) -> u64 {
        self.op.copy_bytes(storage, form)
    }
    fn make_clover(&self) -> Result<()> {
        self.op.make_clover()
    }
    fn like_on(&self, device: &Device) -> Result<Arc<dyn QuarkAction>> {
        let op = self.op.like_on(device)?;
        let weights = DistanceWeights::new(&*op, self.weights.distance)?;
        Ok(Arc::new(weights.weighted(op, self.adjoint)))
    }
    fn update(&self, links: &GaugeField) -> Result<()> {
        self.op.update(links)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The Schur complement of M': that of M between the two factors of M', since W is a number on every site.
struct WeightedSchur {
    inner: Arc<dyn SchurAction>,
    op: Arc<DistanceWeighted>,
    workspace: Workspace,
}

impl LinOp for WeightedSchur {
    fn shape(&self) -> Shape {
        self.inner.shape()
    }
    fn free_idle(&self) {
        self.workspace.clear();
        self.inner.free_idle();
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let apply = |out: &mut VectorField, inp: &VectorField| self.inner.apply(out, inp);
        self.op.with(&self.workspace, false, (out, inp), apply)
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let apply = |out: &mut VectorField, inp: &VectorField| self.inner.apply_dagger(out, inp);
        self.op.with(&self.workspace, true, (out, inp), apply)
    }
    fn flops(&self) -> f64 {
        self.inner.flops() + extra_flops(&self.shape())
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.inner.bytes(nrhs) + extra_bytes(&self.shape(), nrhs)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(self.action().like_on(device)?.schur(self.form())?)
    }
}

impl SchurComplement for WeightedSchur {
    fn full_shape(&self) -> Shape {
        self.inner.full_shape()
    }
    fn prepare(&self, out: &mut VectorField, b: &VectorField, dagger: bool) -> Result<()> {
        let prepare = |out: &mut VectorField, b: &VectorField| self.inner.prepare(out, b, dagger);
        self.op.with(&Workspace::default(), dagger, (out, b), prepare)
    }
    fn reconstruct(
        &self,
        full: &mut VectorField,
        x: &VectorField,
        b: &VectorField,
        dagger: bool,
    ) -> Result<()> {
        let (first, last) = self.op.factors(dagger);
        copy_parity(full, x, self.form().parity)?;
        first.scale(full)?;
        let mut t = self.full_shape().field(b.nrhs())?;
        first.multiply(&mut t, b)?;
        let own = full.alias()?;
        self.inner.reconstruct(full, &own, &t, dagger)?;
        last.scale(full)
    }
    /// Extracts the unknowns as for M, since W multiplies every site of a time slice by the same factor.
    fn restrict(&self, out: &mut VectorField, full: &VectorField, dagger: bool) -> Result<()> {
        self.inner.restrict(out, full, dagger)
    }
}

impl SchurAction for WeightedSchur {
    fn form(&self) -> Schur {
        self.inner.form()
    }
    fn action(&self) -> Arc<dyn QuarkAction> {
        self.op.clone()
    }
    fn set_inverse_owner(&self, owner: InverseOwner) -> Result<()> {
        self.inner.set_inverse_owner(owner)
    }
    fn inverse_bytes(&self) -> u64 {
        self.inner.inverse_bytes()
    }
    fn log_det(&self) -> Result<f64> {
        self.inner.log_det()
    }
}
