//! Operations on single sites of a spinor: site terms, gamma5, copies of a parity.

use std::sync::Arc;

use num_complex::Complex64;

use super::chiral_sum;
use crate::backend::args::{self, SiteOpArgs};
use crate::backend::{kernels, Device, FieldView};
use crate::bail;
use crate::error::Result;
use crate::fields::{CloverField, Components, RhsOrder, SpinorField, Subset};
use crate::linop::{LinOp, Shape};
use crate::refuse;

/// The phase exp(i pi angle), without rounding if angle is an integer.
pub fn phase(angle: f64) -> Complex64 {
    match angle.rem_euclid(2.0) {
        0.0 => Complex64::ONE,
        1.0 => -Complex64::ONE,
        a => Complex64::from_polar(1.0, std::f64::consts::PI * a),
    }
}

/// The site term by which a kernel multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteTerm {
    /// The unit matrix.
    One,
    /// The site term A.
    Direct,
    /// The inverse A^-1 of the site term.
    Inverse,
}

/// A site term in the form that kernels take: a SITE_* code, the clover field that it reads, its twist and scale.
pub struct Site {
    pub kind: i32,
    pub clover: Option<Arc<CloverField>>,
    pub twist: f64,
    pub scale: f64,
}

/// Computes out = coef S in on one parity, where S is the term with code SITE_* (kernels/wilson.h), these blocks and
/// this twist.
pub(super) fn site_launch(
    out: &mut SpinorField,
    inp: &SpinorField,
    parity: usize,
    site: i32,
    clover: Option<FieldView>,
    [coef, twist, twist_scale]: [f64; 3],
) -> Result<()> {
    if out.nrhs() != inp.nrhs() || out.precision() != inp.precision() {
        bail!(FieldMismatch, "site term: the fields differ in precision or right-hand sides");
    }
    if out.components() == inp.components() && inp.components().slices > 1 {
        let (mut out, inp) = (out.by_slice(), inp.by_slice());
        return site_launch(&mut out, &inp, parity, site, clover, [coef, twist, twist_scale]);
    }
    for field in [&*out, inp] {
        if (field.components(), field.order()) != (Components::SPINOR, RhsOrder::Slowest) {
            refuse!(
                FieldMismatch,
                "site term",
                expected("spinors, one right-hand side after the other")
            );
        }
    }
    let args = SiteOpArgs {
        geom: inp.geometry().args(),
        out: out.parity_view(parity),
        inp: inp.parity_view(parity),
        clover: clover
            .unwrap_or(FieldView { volume: inp.geometry().outer() as i32, ..Default::default() }),
        site,
        parity: parity as i32,
        step_out: out.parities() as i32,
        step_in: inp.parities() as i32,
        coef,
        twist,
        twist_scale,
    };
    inp.device().launch(kernels::SiteOp(inp.precision()), &args, inp.geometry().work(inp.nrhs()))
}

/// gamma5 as an operator on spinor fields of a shape.
pub struct Gamma5(pub Shape);

impl LinOp for Gamma5 {
    fn shape(&self) -> Shape {
        self.0.clone()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.0.check(inp, "in")?;
        gamma5(out, inp)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        0.0
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        2.0 * self.0.bytes(nrhs) as f64
    }
}

/// The hermitian operator gamma5 M of an operator M on spinors with gamma5 M gamma5 = M^dagger.
pub struct Gamma5Times(pub Arc<dyn LinOp>);

impl LinOp for Gamma5Times {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.0.apply(out, inp)?;
        chiral_sum(out, Some([1.0, -1.0]), &[])
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        self.0.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.0.bytes(nrhs) + 2.0 * self.shape().bytes(nrhs) as f64
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(Arc::new(Gamma5Times(self.0.like_on_device(device)?)))
    }
}

/// Computes out = gamma5 in.
pub fn gamma5(out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
    inp.check_like(out, "gamma5")?;
    for parity in inp.subset().list() {
        site_launch(out, inp, parity, args::SITE_GAMMA5, None, [1.0, 0.0, 1.0])?;
    }
    Ok(())
}

/// Copies one parity between fields that contain it; the other parity of `out` is not changed. Copying a field to
/// itself does nothing.
pub fn copy_parity(out: &mut SpinorField, inp: &SpinorField, parity: usize) -> Result<()> {
    for f in [&*out, inp] {
        if f.subset() != Subset::Full && f.subset() != Subset::of_parity(parity) {
            bail!(
                FieldMismatch,
                "copy_parity: a field of {} sites has none of parity {parity}",
                f.subset()
            );
        }
    }
    match out.parity_view(parity).data == inp.parity_view(parity).data {
        true => Ok(()),
        false => site_launch(out, inp, parity, args::SITE_ONE, None, [1.0, 0.0, 1.0]),
    }
}
