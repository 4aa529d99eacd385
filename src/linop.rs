//! Where operators and solvers meet: solvers know only this.

use std::sync::{Arc, Mutex};

use crate::backend::Device;
use crate::error::Result;
use crate::fields::{blas, Geometry, Precision, SpinorField, Subset};

/// What fields an operator acts on.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub device: Device,
    pub geometry: Arc<Geometry>,
    pub precision: Precision,
    pub subset: Subset,
}

impl Shape {
    /// A zero field of this shape.
    pub fn field(&self, nrhs: usize) -> Result<SpinorField> {
        SpinorField::new(&self.device, &self.geometry, self.precision, self.subset, nrhs)
    }
    /// Sites that a vector has on all ranks.
    pub fn sites(&self) -> usize {
        self.geometry.global_volume() / 2 * self.subset.parities()
    }
}

/// A linear operator on spinor fields of one shape, any number of right-hand sides at once.
pub trait LinOp {
    fn shape(&self) -> Shape;
    /// out = M in; out and in are different fields.
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()>;
    /// out = M^dagger in.
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()>;
    /// Is M = M^dagger?
    fn hermitian(&self) -> bool {
        false
    }
    /// Floating-point operations of one application to one right-hand side (physics.md counting).
    fn flops(&self) -> f64;
    /// Compulsory bytes of one application to `nrhs` right-hand sides.
    fn bytes(&self, nrhs: usize) -> f64;
}

/// Temporary fields that an operator keeps between applications.
#[derive(Default)]
pub struct Workspace(Mutex<Vec<SpinorField>>);

impl Workspace {
    /// Runs `work` with a field of this shape; contents are unspecified.
    pub fn with<T>(
        &self,
        shape: &Shape,
        nrhs: usize,
        work: impl FnOnce(&mut SpinorField) -> Result<T>,
    ) -> Result<T> {
        let fits = |f: &SpinorField| {
            f.precision() == shape.precision && f.subset() == shape.subset && f.nrhs() == nrhs
        };
        let kept = {
            let mut pool = self.0.lock().unwrap_or_else(|e| e.into_inner());
            // One count of right-hand sides at a time: the old ones would only hold memory.
            pool.retain(|f| f.nrhs() == nrhs);
            pool.iter().position(fits).map(|i| pool.swap_remove(i))
        };
        let mut field = match kept {
            Some(f) => f,
            None => shape.field(nrhs)?,
        };
        let out = work(&mut field);
        self.0.lock().unwrap_or_else(|e| e.into_inner()).push(field);
        out
    }
}

/// M^dagger M (CG on the normal equations, "NR") or M M^dagger ("NE").
pub struct Normal<'a> {
    op: &'a dyn LinOp,
    dagger_first: bool,
    workspace: Workspace,
}

impl<'a> Normal<'a> {
    /// M^dagger M.
    pub fn mdag_m(op: &'a dyn LinOp) -> Self {
        Normal { op, dagger_first: false, workspace: Workspace::default() }
    }
    /// M M^dagger.
    pub fn m_mdag(op: &'a dyn LinOp) -> Self {
        Normal { op, dagger_first: true, workspace: Workspace::default() }
    }
}

impl LinOp for Normal<'_> {
    fn shape(&self) -> Shape {
        self.op.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.workspace.with(&self.shape(), inp.nrhs(), |tmp| {
            if self.dagger_first {
                self.op.apply_dagger(tmp, inp)?;
                self.op.apply(out, tmp)
            } else {
                self.op.apply(tmp, inp)?;
                self.op.apply_dagger(out, tmp)
            }
        })
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        2.0 * self.op.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        2.0 * self.op.bytes(nrhs)
    }
}

/// M^dagger as an operator.
pub struct Adjoint<'a>(pub &'a dyn LinOp);

impl LinOp for Adjoint<'_> {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.0.apply_dagger(out, inp)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.0.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        self.0.hermitian()
    }
    fn flops(&self) -> f64 {
        self.0.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.0.bytes(nrhs)
    }
}

/// M + sigma.
pub struct Shifted<'a> {
    op: &'a dyn LinOp,
    sigma: f64,
}

impl<'a> Shifted<'a> {
    pub fn new(op: &'a dyn LinOp, sigma: f64) -> Self {
        Shifted { op, sigma }
    }
    fn add(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        if self.sigma == 0.0 {
            return Ok(());
        }
        blas::axpy(&blas::uniform(inp.nrhs(), self.sigma), inp, out)
    }
}

impl LinOp for Shifted<'_> {
    fn shape(&self) -> Shape {
        self.op.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.op.apply(out, inp)?;
        self.add(out, inp)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.op.apply_dagger(out, inp)?;
        self.add(out, inp)
    }
    fn hermitian(&self) -> bool {
        self.op.hermitian()
    }
    fn flops(&self) -> f64 {
        self.op.flops() + 48.0 * self.shape().sites() as f64
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let s = self.shape();
        let vector = SpinorField::bytes(&s.geometry, s.precision, s.subset, nrhs) as f64;
        self.op.bytes(nrhs) + 3.0 * vector
    }
}
