//! The trait of linear operators, through which solvers use them.
//!
//! An implementation states the shapes of the fields between which it maps, and applies the operator to a field. It can
//! then be given to solvers, and be a term or factor of sums and products of operators.
//!
//! ```
//! use std::sync::Arc;
//!
//! use plaq_core::backend::Device;
//! use plaq_core::error::Result;
//! use plaq_core::fields::{
//!     blas, Components, GaugeField, Geometry, Noise, Precision, Recon, RhsOrder, Subset, VectorField,
//! };
//! use plaq_core::linop::{LinOp, Product, Shape, Shifted};
//! use plaq_core::operators::Laplace;
//! use plaq_core::solvers::{Inverse, SolverKind, SolverParams, Stop, System};
//!
//! /// Every number times two.
//! struct Twice(Shape);
//!
//! impl LinOp for Twice {
//!     fn shape(&self) -> Shape {
//!         self.0.clone()
//!     }
//!     fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
//!         out.clear()?;
//!         blas::axpy(&blas::uniform(inp.nrhs(), 2.0), inp, out)
//!     }
//!     fn hermitian(&self) -> bool {
//!         true
//!     }
//!     fn flops(&self) -> f64 {
//!         2.0 * self.0.numbers()
//!     }
//!     fn bytes(&self, nrhs: usize) -> f64 {
//!         2.0 * self.0.bytes(nrhs) as f64
//!     }
//! }
//!
//! let device = Device::cpu(1)?;
//! let geometry = Geometry::new([4, 4, 4, 4], &device)?;
//! let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18)?;
//! links.set_near_unit(1, 0.3)?;
//! // The Laplacian of all four directions on colour vectors, plus 0.5, and its inverse by CG.
//! let laplace = Laplace::massive(Arc::new(links), Components::COLOUR, 15, 0.0)?;
//! let operator: Arc<dyn LinOp> = Arc::new(Shifted::new(Arc::new(laplace), 0.5));
//! let (kind, stop) = (SolverKind::Cg, Stop::at(1e-12));
//! let params = SolverParams { kind, stop, ..SolverParams::default() };
//! let inverse = Inverse::new(System::new(operator.clone()), params)?;
//! let twice: Arc<dyn LinOp> = Arc::new(Twice(operator.shape()));
//! let all = Product::new(vec![operator, twice, Arc::new(inverse)])?;
//!
//! // Three right-hand sides at once.
//! let (mut b, mut x) = (all.shape().field(3)?, all.shape().field(3)?);
//! b.set_noise(Noise::Normal, 7, 0)?;
//! all.apply(&mut x, &b)?;
//! blas::axpy(&blas::uniform(3, -2.0), &b, &mut x)?;
//! assert!(blas::norm2(&x)?.iter().zip(blas::norm2(&b)?).all(|(r, b)| *r < 1e-20 * b));
//! # Ok::<(), plaq_core::error::Error>(())
//! ```

mod algebra;
mod convert;
mod schur;

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use algebra::{Adjoint, Normal, Polynomial, Product, Shifted, Sum};
pub use convert::Convert;
pub use schur::{Schur, SchurComplement, System};
pub(crate) use schur::{SchurSource, SchurVectors};

use crate::backend::Device;
use crate::bail;
use crate::error::Result;
use crate::fields::blas::{self, Sums};
use crate::fields::{Components, Geometry, Precision, RhsOrder, Subset, VectorField};
use crate::refuse;

/// The shape of the fields that an operator takes or produces: device, lattice, precision, sites (all or one parity),
/// components, and order of right-hand sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub device: Device,
    pub geometry: Arc<Geometry>,
    pub precision: Precision,
    pub subset: Subset,
    pub components: Components,
    pub order: RhsOrder,
}

impl Shape {
    /// The shape of a field.
    pub fn of(field: &VectorField) -> Self {
        Shape {
            device: field.device().clone(),
            geometry: field.geometry().clone(),
            precision: field.precision(),
            subset: field.subset(),
            components: field.components(),
            order: field.order(),
        }
    }
    /// This shape for fields on another device.
    pub(crate) fn on(&self, device: &Device) -> Self {
        let geometry = self.geometry.on_device(device);
        Shape { device: device.clone(), geometry, ..self.clone() }
    }
    /// A zero field of this shape with `nrhs` right-hand sides.
    pub fn field(&self, nrhs: usize) -> Result<VectorField> {
        let content = (self.components, self.order);
        let geometry = &self.geometry;
        let (precision, subset) = (self.precision, self.subset);
        VectorField::with_components(&self.device, geometry, precision, subset, nrhs, content)
    }
    /// Bytes that a field of this shape with `nrhs` right-hand sides takes on this rank's device.
    pub fn bytes(&self, nrhs: usize) -> u64 {
        let (precision, subset) = (self.precision, self.subset);
        VectorField::bytes_of(&self.geometry, precision, subset, nrhs, self.components) as u64
    }
    /// Number of sites of a field of this shape, on all ranks together.
    pub fn sites(&self) -> usize {
        self.geometry.global_volume() * self.subset.parities() / 2
    }
    /// Number of complex numbers of one right-hand side, on all ranks together, without those on time slices where
    /// quarks vanish.
    pub fn numbers(&self) -> f64 {
        let slices = self.geometry.global_extents()[3];
        let sites = self.sites() / slices * (slices - self.components.zero_slices(&self.geometry));
        (sites * self.components.slices * self.components.reals() / 2) as f64
    }
    /// Returns an error if the field has another shape; `name` names the field in the message.
    pub fn check(&self, field: &VectorField, name: &str) -> Result<()> {
        if field.geometry() != &self.geometry || field.device() != &self.device {
            bail!(FieldMismatch, "{name} and the operator live on different lattices or devices");
        }
        if (field.components(), field.order()) != (self.components, self.order) {
            refuse!(
                FieldMismatch,
                "{name}",
                expected("{} numbers per site (spins x colours)", self.components),
                found("{}, or its right-hand sides are in another order", field.components())
            );
        }
        if field.subset() != self.subset || field.precision() != self.precision {
            refuse!(
                FieldMismatch,
                "{name}",
                expected("a field of {} sites in {}", self.subset, self.precision),
                found("{} sites in {}", field.subset(), field.precision())
            );
        }
        Ok(())
    }
}

/// A linear operator M that maps fields of one shape to fields of another, with any number of right-hand sides at once.
/// Solvers and preconditioners are operators, too.
pub trait LinOp: Send + Sync {
    /// Shape of the fields to which it is applied (its domain).
    fn shape(&self) -> Shape;
    /// Shape of the fields that it produces (its range).
    fn range(&self) -> Shape {
        self.shape()
    }
    /// Computes out = M in; out and in are different fields.
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()>;
    /// Computes out = M in. If the operator has an intermediate result v with <in, M in> = |v|^2, it may start the sum
    /// |v|^2 and return it; this is cheaper for the caller than the scalar product <in, out>.
    fn apply_for_curvature(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
    ) -> Result<Option<Sums>> {
        self.apply(out, inp)?;
        Ok(None)
    }
    /// Computes out = a M in + b in + c out, a step of a recurrence, with real a, b, c; if c = 0 `out` need not be
    /// set before. `image` is memory for M in, which an operator that needs it allocates at the first step.
    fn recur(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        [a, b, c]: [f64; 3],
        image: &mut Option<VectorField>,
    ) -> Result<()> {
        let numbers = |z: f64| blas::uniform(inp.nrhs(), z);
        if c == 0.0 {
            self.apply(out, inp)?;
            return blas::axpby(&numbers(b), inp, &numbers(a), out);
        }
        let image = match image {
            Some(image) => image,
            None => image.insert(out.like(out.precision())?),
        };
        self.apply(image, inp)?;
        blas::axpbypcz(&numbers(a), image, &numbers(b), inp, &numbers(c), out)
    }
    /// Computes out = M^dagger in.
    fn apply_dagger(&self, _out: &mut VectorField, _inp: &VectorField) -> Result<()> {
        bail!(Unsupported, "this operator has no adjoint");
    }
    /// Whether M = M^dagger.
    fn hermitian(&self) -> bool {
        false
    }
    /// Number of floating-point operations of one application to one right-hand side (physics.md, Counting).
    fn flops(&self) -> f64;
    /// Number of bytes that one application to `nrhs` right-hand sides has to read and write at least.
    fn bytes(&self, nrhs: usize) -> f64;
    /// Frees the temporary fields that the operator keeps for later applications.
    fn free_idle(&self) {}
    /// An operator of the same kind and shape on another device, with all numbers zero. Rehearsals use it to find out
    /// how much memory an application takes. The default implementation has no temporary fields and computes nothing.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let (domain, range) = (self.shape().on(device), self.range().on(device));
        Ok(Arc::new(Placeholder { domain, range, hermitian: self.hermitian() }))
    }
    /// Largest number of bytes of device memory that a first application of M (of M^dagger if `dagger`) to `nrhs`
    /// right-hand sides takes in addition to in and out. It is found by a rehearsal.
    ///
    /// # Errors
    /// The errors of an application that do not depend on the numbers in the fields.
    fn memory(&self, nrhs: usize, dagger: bool) -> Result<u64> {
        let (domain, range) = (self.shape(), self.range());
        let device = domain.device.stand_in();
        let (_, taken) = domain.geometry.footprint(
            (&domain.device, &device),
            None,
            || {
                let op = self.like_on_device(&device)?;
                Ok((op, domain.on(&device).field(nrhs)?, range.on(&device).field(nrhs)?))
            },
            |(op, mut x, mut y)| match dagger {
                false => op.apply(&mut y, &x),
                true => op.apply_dagger(&mut x, &y),
            },
        )?;
        Ok(taken)
    }
}

/// An operator for rehearsals that does nothing when applied.
struct Placeholder {
    domain: Shape,
    range: Shape,
    hermitian: bool,
}

impl LinOp for Placeholder {
    fn shape(&self) -> Shape {
        self.domain.clone()
    }
    fn range(&self) -> Shape {
        self.range.clone()
    }
    fn apply(&self, _: &mut VectorField, _: &VectorField) -> Result<()> {
        Ok(())
    }
    fn apply_dagger(&self, _: &mut VectorField, _: &VectorField) -> Result<()> {
        Ok(())
    }
    fn hermitian(&self) -> bool {
        self.hermitian
    }
    fn flops(&self) -> f64 {
        0.0
    }
    fn bytes(&self, _: usize) -> f64 {
        0.0
    }
}

/// Temporary fields that an operator keeps between applications.
#[derive(Default)]
pub struct Workspace(Mutex<Vec<VectorField>>);

/// A temporary field, which is returned to its workspace when dropped.
pub struct Temporary<'a> {
    workspace: &'a Workspace,
    /// The field; `None` only while this is being dropped.
    field: Option<VectorField>,
}

impl Workspace {
    fn pool(&self) -> MutexGuard<'_, Vec<VectorField>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends a temporary field of this shape, whose contents are unspecified.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn field(&self, shape: &Shape, nrhs: usize) -> Result<Temporary<'_>> {
        let kept = {
            let mut pool = self.pool();
            // Fields with another number of right-hand sides are freed, as they would take memory without being used.
            pool.retain(|f| f.nrhs() == nrhs);
            pool.iter().position(|f| Shape::of(f) == *shape).map(|i| pool.swap_remove(i))
        };
        let field = match kept {
            Some(field) => field,
            None => shape.field(nrhs)?,
        };
        Ok(Temporary { workspace: self, field: Some(field) })
    }

    /// Frees the temporaries that are not in use.
    pub fn clear(&self) {
        self.pool().clear();
    }
}

impl Deref for Temporary<'_> {
    type Target = VectorField;
    fn deref(&self) -> &VectorField {
        self.field.as_ref().expect("there until it is dropped")
    }
}
impl DerefMut for Temporary<'_> {
    fn deref_mut(&mut self) -> &mut VectorField {
        self.field.as_mut().expect("there until it is dropped")
    }
}
impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        self.workspace.pool().extend(self.field.take());
    }
}

/// A guard that frees the temporary fields of operators when it is dropped, also after an error.
pub(crate) struct FreesIdle<'a>(pub Vec<&'a dyn LinOp>);

impl Drop for FreesIdle<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|op| op.free_idle());
    }
}
