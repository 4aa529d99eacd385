//! Operators made of operators: adjoints, products, sums, shifts, polynomials.

use std::sync::Arc;

use num_complex::Complex64;

use super::{LinOp, Shape, Workspace};
use crate::backend::Device;
use crate::bail;
use crate::error::Result;
use crate::fields::blas::{self, Sums};
use crate::fields::VectorField;
use crate::refuse;

/// The operator M^dagger M (for CGNR) or M M^dagger (for CGNE).
pub struct Normal {
    op: Arc<dyn LinOp>,
    dagger_first: bool,
    workspace: Workspace,
}

impl Normal {
    /// The operator M^dagger M.
    pub fn mdag_m(op: Arc<dyn LinOp>) -> Self {
        Normal { op, dagger_first: false, workspace: Workspace::default() }
    }
    /// The operator M M^dagger.
    pub fn m_mdag(op: Arc<dyn LinOp>) -> Self {
        Normal { op, dagger_first: true, workspace: Workspace::default() }
    }
    /// Computes out = M^dagger M in, or out = M M^dagger in; returns the result of `visit` for the intermediate vector
    /// M in or M^dagger in.
    fn both<T>(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        visit: impl FnOnce(&VectorField) -> Result<T>,
    ) -> Result<T> {
        let tmp = &mut *self.workspace.field(&self.between(), inp.nrhs())?;
        if self.dagger_first {
            self.op.apply_dagger(tmp, inp)?;
            let asked = visit(tmp)?;
            self.op.apply(out, tmp)?;
            Ok(asked)
        } else {
            self.op.apply(tmp, inp)?;
            let asked = visit(tmp)?;
            self.op.apply_dagger(out, tmp)?;
            Ok(asked)
        }
    }
    fn between(&self) -> Shape {
        if self.dagger_first {
            self.op.shape()
        } else {
            self.op.range()
        }
    }
}

impl LinOp for Normal {
    fn shape(&self) -> Shape {
        if self.dagger_first {
            self.op.range()
        } else {
            self.op.shape()
        }
    }
    fn free_idle(&self) {
        self.workspace.clear();
        self.op.free_idle();
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.both(out, inp, |_| Ok(()))
    }
    /// Computes out = M^dagger M in, and starts the sum <in, M^dagger M in> = |M in|^2.
    fn apply_for_curvature(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
    ) -> Result<Option<Sums>> {
        self.both(out, inp, |tmp| blas::norm2_later(tmp).map(Some))
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
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
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let (op, workspace) = (self.op.like_on_device(device)?, Workspace::default());
        Ok(Arc::new(Normal { op, workspace, ..*self }))
    }
}

/// The operator M^dagger.
pub struct Adjoint(pub Arc<dyn LinOp>);

impl LinOp for Adjoint {
    fn shape(&self) -> Shape {
        self.0.range()
    }
    fn free_idle(&self) {
        self.0.free_idle();
    }
    fn range(&self) -> Shape {
        self.0.shape()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.0.apply_dagger(out, inp)
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
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
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(Arc::new(Adjoint(self.0.like_on_device(device)?)))
    }
}

/// The operator M + sigma with a complex number sigma.
pub struct Shifted {
    op: Arc<dyn LinOp>,
    sigma: Complex64,
}

impl Shifted {
    /// The operator M + sigma; M must map fields of one shape to fields of the same shape.
    pub fn new(op: Arc<dyn LinOp>, sigma: impl Into<Complex64>) -> Self {
        Shifted { op, sigma: sigma.into() }
    }
    fn add(&self, sigma: Complex64, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        if sigma == Complex64::ZERO {
            return Ok(());
        }
        blas::axpy(&vec![sigma; inp.nrhs()], inp, out)
    }
}

impl LinOp for Shifted {
    fn shape(&self) -> Shape {
        self.op.shape()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.op.apply(out, inp)?;
        self.add(self.sigma, out, inp)
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.op.apply_dagger(out, inp)?;
        self.add(self.sigma.conj(), out, inp)
    }
    fn hermitian(&self) -> bool {
        self.op.hermitian() && self.sigma.im == 0.0
    }
    fn flops(&self) -> f64 {
        self.op.flops() + 4.0 * self.shape().numbers()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.op.bytes(nrhs) + 3.0 * self.shape().bytes(nrhs) as f64
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(Arc::new(Shifted::new(self.op.like_on_device(device)?, self.sigma)))
    }
}

/// The product A B C ... of operators; the last factor acts first.
pub struct Product {
    factors: Vec<Arc<dyn LinOp>>,
    workspace: Workspace,
}

impl Product {
    /// # Errors
    /// `InvalidArgument`: no factor; `FieldMismatch`: the range of a factor is not the domain of the factor to its
    /// left.
    pub fn new(factors: Vec<Arc<dyn LinOp>>) -> Result<Self> {
        if factors.is_empty() {
            bail!(InvalidArgument, "a product of operators has at least one factor");
        }
        if let Some(i) = factors.windows(2).position(|two| two[0].shape() != two[1].range()) {
            bail!(FieldMismatch, "factor {i} does not act on what factor {} makes", i + 1);
        }
        Ok(Product { factors, workspace: Workspace::default() })
    }
    fn chain(
        &self,
        factors: &[Arc<dyn LinOp>],
        dagger: bool,
        out: &mut VectorField,
        inp: &VectorField,
    ) -> Result<()> {
        let (first, rest) = match (dagger, factors) {
            (false, [rest @ .., first]) | (true, [first, rest @ ..]) => (first, rest),
            _ => unreachable!("there is a factor"),
        };
        let step = |out: &mut VectorField| match dagger {
            false => first.apply(out, inp),
            true => first.apply_dagger(out, inp),
        };
        if rest.is_empty() {
            return step(out);
        }
        let shape = if dagger { first.shape() } else { first.range() };
        let t = &mut *self.workspace.field(&shape, inp.nrhs())?;
        step(t)?;
        self.chain(rest, dagger, out, t)
    }
}

impl LinOp for Product {
    fn free_idle(&self) {
        self.workspace.clear();
        self.factors.iter().for_each(|factor| factor.free_idle());
    }
    fn shape(&self) -> Shape {
        self.factors[self.factors.len() - 1].shape()
    }
    fn range(&self) -> Shape {
        self.factors[0].range()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.chain(&self.factors, false, out, inp)
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.chain(&self.factors, true, out, inp)
    }
    fn flops(&self) -> f64 {
        self.factors.iter().map(|f| f.flops()).sum()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.factors.iter().map(|f| f.bytes(nrhs)).sum()
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let factors: Result<_> = self.factors.iter().map(|f| f.like_on_device(device)).collect();
        Ok(Arc::new(Product::new(factors?)?))
    }
}

/// The sum of operators sum_k c_k M_k.
pub struct Sum {
    terms: Vec<(Complex64, Arc<dyn LinOp>)>,
    workspace: Workspace,
}

impl Sum {
    /// # Errors
    /// `InvalidArgument`: no term; `FieldMismatch`: the terms differ in domain or range.
    pub fn new(terms: Vec<(Complex64, Arc<dyn LinOp>)>) -> Result<Self> {
        let Some((_, first)) = terms.first() else {
            bail!(InvalidArgument, "a sum of operators has at least one term");
        };
        let form = (first.shape(), first.range());
        if let Some(i) = terms.iter().position(|(_, t)| (t.shape(), t.range()) != form) {
            bail!(FieldMismatch, "term {i} does not act between the same fields as term 0");
        }
        Ok(Sum { terms, workspace: Workspace::default() })
    }
    fn add(&self, out: &mut VectorField, inp: &VectorField, dagger: bool) -> Result<()> {
        out.clear()?;
        let shape = if dagger { self.shape() } else { self.range() };
        let t = &mut *self.workspace.field(&shape, inp.nrhs())?;
        for (c, op) in &self.terms {
            match dagger {
                false => op.apply(t, inp)?,
                true => op.apply_dagger(t, inp)?,
            }
            let c = if dagger { c.conj() } else { *c };
            blas::axpy(&vec![c; inp.nrhs()], t, out)?;
        }
        Ok(())
    }
}

impl LinOp for Sum {
    fn shape(&self) -> Shape {
        self.terms[0].1.shape()
    }
    fn range(&self) -> Shape {
        self.terms[0].1.range()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.add(out, inp, false)
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.add(out, inp, true)
    }
    fn hermitian(&self) -> bool {
        self.terms.iter().all(|(c, op)| c.im == 0.0 && op.hermitian())
    }
    fn flops(&self) -> f64 {
        self.terms.iter().map(|(_, op)| op.flops() + 4.0 * self.range().numbers()).sum()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let vector = self.range().bytes(nrhs) as f64;
        self.terms.iter().map(|(_, op)| op.bytes(nrhs) + 3.0 * vector).sum()
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let terms = self.terms.iter().map(|(c, op)| Ok((*c, op.like_on_device(device)?)));
        Ok(Arc::new(Sum::new(terms.collect::<Result<_>>()?)?))
    }
}

/// The operator sum_k c_k T_k((2 M - (a + b)) / (b - a)), a Chebyshev series of a hermitian operator M whose spectrum
/// lies in [a, b], evaluated by Clenshaw's recurrence.
pub struct Polynomial {
    op: Arc<dyn LinOp>,
    interval: [f64; 2],
    coefficients: Vec<f64>,
    workspace: Workspace,
}

impl Polynomial {
    /// # Errors
    /// `InvalidArgument`: no coefficient, or an empty interval; `Unsupported`: M is not hermitian.
    pub fn new(op: Arc<dyn LinOp>, interval: [f64; 2], coefficients: Vec<f64>) -> Result<Self> {
        if coefficients.is_empty() || coefficients.iter().any(|c| !c.is_finite()) {
            bail!(InvalidArgument, "a polynomial has at least one coefficient, all of them finite");
        }
        let [a, b] = interval;
        if !(a < b && a.is_finite() && b.is_finite()) {
            refuse!(InvalidArgument, "interval", expected("a < b"), found("{a} and {b}"));
        }
        if !op.hermitian() {
            bail!(Unsupported, "a polynomial is taken of a hermitian operator");
        }
        Ok(Polynomial { op, interval, coefficients, workspace: Workspace::default() })
    }
}

impl LinOp for Polynomial {
    fn shape(&self) -> Shape {
        self.op.shape()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let (n, shape) = (inp.nrhs(), self.shape());
        let [a, b] = self.interval;
        let (scale, shift) = (2.0 / (b - a), -(a + b) / (b - a));
        let c = &self.coefficients;
        // With v = `inp` and Y = (2 M - (a + b)) / (b - a): b_k = c_k v + 2 Y b_{k+1} - b_{k+2} for k down to 1; the
        // result is c_0 v + Y b_1 - b_2.
        let next = &mut *self.workspace.field(&shape, n)?;
        let image = &mut *self.workspace.field(&shape, n)?;
        next.clear()?;
        out.clear()?;
        // Before step k, `out` is b_{k+1} and `next` is b_{k+2}.
        for k in (0..c.len()).rev() {
            let twice = if k == 0 { 1.0 } else { 2.0 };
            let value = |x: f64| blas::uniform(n, x);
            self.op.apply(image, out)?;
            blas::axpbypcz(
                &value(twice * scale),
                image,
                &value(twice * shift),
                out,
                &value(-1.0),
                next,
            )?;
            blas::axpy(&value(c[k]), inp, next)?;
            std::mem::swap(out, next);
        }
        Ok(())
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        self.coefficients.len() as f64 * (self.op.flops() + 12.0 * self.shape().numbers())
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let vector = self.shape().bytes(nrhs) as f64;
        self.coefficients.len() as f64 * (self.op.bytes(nrhs) + 7.0 * vector)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let op = self.op.like_on_device(device)?;
        Ok(Arc::new(Polynomial::new(op, self.interval, self.coefficients.clone())?))
    }
}
