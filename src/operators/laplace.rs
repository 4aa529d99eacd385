//! The gauge-covariant Laplacian on vector fields with three colours, colour vectors and spinors, in any
//! of the four directions: a quark action with the mass term m^2 in place of a Dirac operator, and the
//! step of Gaussian smearing.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::action::{ActionVersion, QuarkAction, SchurAction, SharedCopies, Storage};
use super::covariant::{Hops, Term};
use crate::backend::Device;
use crate::bail;
use crate::error::Result;
use crate::fields::{Components, GaugeField, Subset, VectorField};
use crate::linop::{LinOp, Schur, SchurComplement, Shape, Workspace};
use crate::params::{hash_members, Key};
use crate::refuse;

/// The operator a + b sum_mu [U_mu(x) delta_{x+mu,y} + U_mu(x-mu)^dagger delta_{x-mu,y}] over some directions. With a
/// = 2 d + m^2 and b = -1 it is the Laplacian -D^2 + m^2 in d directions; with b = alpha and divided by a + 2 d b it
/// is a step of Gaussian (Wuppertal) smearing (Guesken, Nucl. Phys. B (Proc. Suppl.) 17, 361). Fields are periodic.
pub struct Laplace {
    hops: Hops,
    directions: i32,
    diagonal: f64,
    neighbours: f64,
    number: u64,
    copies: SharedCopies<Laplace>,
}

/// Parameters of the Laplacian -D^2 + m^2 as a quark action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplaceParams {
    /// Components of a site: those of a colour vector or of a spinor.
    pub components: Components,
    /// Bits mu of the Laplacian's directions: 7 for the three spatial ones, 15 for all four.
    pub directions: i32,
    /// The mass term m^2, in units of the lattice spacing.
    pub mass2: f64,
}

hash_members!(LaplaceParams { components, directions; mass2 });

impl LaplaceParams {
    /// Refuses parameters that are out of range.
    pub fn check(&self) -> Result<()> {
        if !(1..16).contains(&self.directions) {
            refuse!(
                BadParameter,
                "directions",
                expected("a mask from 1 to 15"),
                found("{}", self.directions)
            );
        }
        if !self.mass2.is_finite() {
            refuse!(BadParameter, "mass", expected("a finite number"), found("{}", self.mass2));
        }
        Ok(())
    }
    /// Makes the Laplacian with these parameters on these links.
    ///
    /// # Errors
    /// Errors of [`LaplaceParams::check`] and [`Laplace::new`].
    pub fn on(&self, links: Arc<GaugeField>) -> Result<Laplace> {
        self.check()?;
        Laplace::massive(links, self.components, self.directions, self.mass2)
    }
}

/// Counts the Laplacians made so far, to give each its own number.
static MADE: AtomicU64 = AtomicU64::new(0);

impl Laplace {
    /// Makes the operator on colour vectors or spinors (`components`) in the precision of the links, in the
    /// directions whose bit mu is set.
    ///
    /// # Errors
    /// `Unsupported`: other components, SU(2), or links stored as 8 numbers;
    /// `InvalidArgument`: no direction, numbers that are not finite.
    pub fn new(
        gauge: Arc<GaugeField>,
        components: Components,
        directions: i32,
        diagonal: f64,
        neighbours: f64,
    ) -> Result<Self> {
        if directions & 8 != 0 {
            gauge.geometry().periodic_in_time("Laplacian with hops in time")?;
        }
        let finite = diagonal.is_finite() && neighbours.is_finite();
        if !((1..16).contains(&directions) && finite) {
            refuse!(
                InvalidArgument,
                "laplacian",
                expected("directions 1 to 15 and finite coefficients"),
                found("{directions}, {diagonal}, {neighbours}")
            );
        }
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let (hops, copies) = (Hops::new(gauge, components)?, SharedCopies::default());
        Ok(Laplace { hops, directions, diagonal, neighbours, number, copies })
    }

    /// Makes the operator -D^2 + m^2 in the directions of the mask.
    pub fn massive(
        gauge: Arc<GaugeField>,
        components: Components,
        directions: i32,
        mass2: f64,
    ) -> Result<Self> {
        let d = f64::from(directions.count_ones());
        Self::new(gauge, components, directions, 2.0 * d + mass2, -1.0)
    }

    /// The bits of all hops in the sum over neighbours, forward and backward in each direction.
    fn both(&self) -> i32 {
        (0..4).filter(|mu| self.directions >> mu & 1 == 1).map(|mu| 3 << (2 * mu)).sum()
    }

    /// Computes out = coef_y y + coef H in on one parity, where H is the sum over the neighbours.
    fn hop(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        parity: usize,
        coef: f64,
        y: Option<(&VectorField, f64)>,
    ) -> Result<()> {
        self.hops.apply(out, inp, &Term { parity, hops: self.both(), coef, y, coef_out: 0.0 })
    }

    /// Computes out = c in on one parity.
    fn scaled(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        parity: usize,
        c: f64,
    ) -> Result<()> {
        self.hops.apply(out, inp, &Term { parity, y: Some((inp, c)), ..Term::default() })
    }

    /// An operator with the parameters of this one on other links.
    fn on_links(&self, gauge: Arc<GaugeField>) -> Result<Self> {
        let made = Self::new(
            gauge,
            self.hops.components(),
            self.directions,
            self.diagonal,
            self.neighbours,
        )?;
        Ok(Laplace { number: self.number, ..made })
    }
}

impl LinOp for Laplace {
    fn shape(&self) -> Shape {
        self.hops.shape(Subset::Full)
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.shape().check(inp, "in")?;
        inp.check_like(out, "laplacian")?;
        self.shape().check(out, "out")?;
        (0..2).try_for_each(|p| self.hop(out, inp, p, self.neighbours, Some((inp, self.diagonal))))
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn recur(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        [a, b, c]: [f64; 3],
        _image: &mut Option<VectorField>,
    ) -> Result<()> {
        self.shape().check(inp, "in")?;
        inp.check_like(out, "laplacian")?;
        let (coef, y) = (a * self.neighbours, Some((inp, a * self.diagonal + b)));
        (0..2).try_for_each(|parity| {
            self.hops.apply(out, inp, &Term { parity, hops: self.both(), coef, y, coef_out: c })
        })
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        self.hops.flops(2 * self.directions.count_ones()) * self.shape().sites() as f64
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.hops.bytes(2 * self.directions.count_ones(), nrhs) * self.shape().sites() as f64
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(self.like_on(device)?)
    }
}

impl QuarkAction for Laplace {
    fn links(&self) -> &Arc<GaugeField> {
        self.hops.gauge()
    }
    fn version(&self) -> ActionVersion {
        ActionVersion { operator: self.number, links: self.links().version() }
    }
    fn describe(&self) -> String {
        let (links, shape) = (self.links(), self.shape());
        format!(
            "Laplacian {:?} {:?} {} directions {}",
            shape.geometry.extents(),
            (links.precision(), links.recon()),
            shape.components,
            self.directions
        )
    }
    fn key(&self) -> Key {
        let (links, shape) = (self.links(), self.shape());
        let geometry = &shape.geometry;
        let form = (links.precision(), links.recon(), geometry.boundary().kind(), shape.components);
        Key::of(("Laplacian", geometry.extents(), form, self.directions))
    }
    fn mass(&self) -> f64 {
        let d = f64::from(self.directions.count_ones());
        (self.diagonal + 2.0 * d * self.neighbours).max(0.0).sqrt()
    }
    fn schur(self: Arc<Self>, form: Schur) -> Result<Arc<dyn SchurAction>> {
        if form.parity > 1 {
            refuse!(BadParameter, "parity", expected("0 or 1"), found("{}", form.parity));
        }
        if self.diagonal == 0.0 {
            bail!(Unsupported, "laplacian: no Schur complement without a diagonal term");
        }
        Ok(Arc::new(LaplaceSchur { op: self, form, workspace: Workspace::default() }))
    }
    fn shared_copy(&self, (precision, recon): Storage) -> Result<Arc<dyn QuarkAction>> {
        let copy = self.copies.get(
            (precision, recon),
            |copy| copy.links().update_from(self.links()),
            || self.on_links(self.links().shared_copy(precision, recon)?),
        )?;
        Ok(copy)
    }
    fn copy_bytes(&self, (precision, recon): Storage, _form: Option<Schur>) -> u64 {
        GaugeField::bytes(self.links().geometry(), precision, recon) as u64
    }
    fn like_on(&self, device: &Device) -> Result<Arc<dyn QuarkAction>> {
        Ok(Arc::new(self.on_links(Arc::new(self.links().like_on(device)?))?))
    }
    fn update(&self, links: &GaugeField) -> Result<()> {
        self.links().update_from(links)
    }
    fn hop_to(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        parity: usize,
        _dagger: bool,
    ) -> Result<()> {
        for (field, name, parity) in [(&*out, "out", parity), (inp, "in", 1 - parity)] {
            let subset = match field.subset() {
                Subset::Full => Subset::Full,
                _ => Subset::of_parity(parity),
            };
            self.subset_shape(subset).check(field, name)?;
        }
        if out.nrhs() != inp.nrhs() {
            refuse!(
                FieldMismatch,
                "out",
                expected("{} right-hand sides, as in has", inp.nrhs()),
                found("{}", out.nrhs())
            );
        }
        self.hop(out, inp, parity, 1.0, None)
    }
    fn within_time_slices(&self) -> bool {
        self.directions & 8 == 0
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The Schur complement of M = a + b H on parity p, q being the other one: symmetric 1 - (b/a)^2 H_pq H_qp, or
/// asymmetric a - (b^2/a) H_pq H_qp. Both are hermitian.
struct LaplaceSchur {
    op: Arc<Laplace>,
    form: Schur,
    workspace: Workspace,
}

impl LaplaceSchur {
    fn other_shape(&self) -> Shape {
        self.op.subset_shape(Subset::of_parity(1 - self.form.parity))
    }
    /// The ratio b / a of the coefficients of M = a + b H.
    fn ratio(&self) -> f64 {
        self.op.neighbours / self.op.diagonal
    }
    /// The factor between this complement and the symmetric one: 1, or a for the asymmetric complement.
    fn scale(&self) -> f64 {
        if self.form.symmetric {
            1.0
        } else {
            self.op.diagonal
        }
    }
}

impl LinOp for LaplaceSchur {
    fn shape(&self) -> Shape {
        self.op.subset_shape(Subset::of_parity(self.form.parity))
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let (p, c) = (self.form.parity, self.scale());
        let t = &mut *self.workspace.field(&self.other_shape(), inp.nrhs())?;
        self.op.hop(t, inp, 1 - p, 1.0, None)?;
        self.op.hop(out, t, p, -c * self.ratio().powi(2), Some((inp, c)))
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        self.op.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.op.bytes(nrhs)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(self.action().like_on(device)?.schur(self.form())?)
    }
}

impl SchurComplement for LaplaceSchur {
    fn full_shape(&self) -> Shape {
        self.op.shape()
    }
    /// Computes the source b_p - (b/a) H_pq b_q of the asymmetric complement, whose residual is that of M; for the
    /// symmetric complement the same source gives the solution a x_p.
    fn prepare(&self, out: &mut VectorField, b: &VectorField, _dagger: bool) -> Result<()> {
        self.op.hop(out, b, self.form.parity, -self.ratio(), Some((b, 1.0)))
    }
    /// Computes the other parity of the solution, x_q = b_q / a - (b/a) H_qp x_p.
    fn reconstruct(
        &self,
        full: &mut VectorField,
        x: &VectorField,
        b: &VectorField,
        _dagger: bool,
    ) -> Result<()> {
        let (p, a) = (self.form.parity, self.op.diagonal);
        let c = if self.form.symmetric { 1.0 / a } else { 1.0 };
        self.op.hop(full, x, 1 - p, -c * self.ratio(), Some((b, 1.0 / a)))?;
        self.op.scaled(full, x, p, c)
    }
    fn restrict(&self, out: &mut VectorField, full: &VectorField, _dagger: bool) -> Result<()> {
        let c = if self.form.symmetric { self.op.diagonal } else { 1.0 };
        self.op.scaled(out, full, self.form.parity, c)
    }
}

impl SchurAction for LaplaceSchur {
    fn form(&self) -> Schur {
        self.form
    }
    fn action(&self) -> Arc<dyn QuarkAction> {
        self.op.clone()
    }
}
