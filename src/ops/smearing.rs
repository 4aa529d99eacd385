//! Gaussian (Wuppertal) smearing of quark fields.

use std::sync::Arc;

use crate::error::Result;
use crate::fields::{GaugeField, Recon, VectorField};
use crate::linop::{LinOp, Shape};
use crate::operators::Laplace;
use crate::params::parameters;
use crate::refuse;

/// Bits of the directions x, y, z.
pub const SPACE: i32 = 7;

parameters! {
    /// Gaussian (Wuppertal) smearing: psi <- [(1 + alpha H) / (1 + 2 d alpha)]^steps psi, H the sum
    /// over the neighbours in d directions, carried by the links.
    pub struct QuarkSmearing: plaq_spinor_smear_params {
        /// Weight of the neighbours, not -1 / (2 d). It must be set.
        alpha: f64 = f64::NAN;
        /// Steps of smearing.
        steps: usize = 0, within(0, 100_000);
        /// Directions of the neighbours, bit mu; 7: x, y, z.
        directions: i32 = SPACE;
    }
}

impl QuarkSmearing {
    /// Smears every right-hand side with these links, as [`wuppertal`] does.
    ///
    /// # Errors
    /// Errors of [`wuppertal`].
    pub fn apply(&self, psi: &mut VectorField, gauge: &Arc<GaugeField>) -> Result<()> {
        wuppertal(psi, gauge, self.alpha, self.steps, self.directions)
    }
}

/// psi <- [(1 + alpha H) / (1 + 2 d alpha)]^steps psi with H the sum over the neighbours in the d
/// directions of `directions` (bit mu) carried by the links (Guesken, Nucl. Phys. B (Proc. Suppl.)
/// 17, 361; the normalisation of QUDA). Any number of right-hand sides, spinors or colour vectors on
/// both parities, any precision. On failure the field is as before.
///
/// # Errors
/// `BadParameter`: alpha not finite or -1 / (2 d), no direction; `Unsupported`, `FieldMismatch` as of
/// [`Laplace::new`] and its application.
pub fn wuppertal(
    psi: &mut VectorField,
    gauge: &Arc<GaugeField>,
    alpha: f64,
    steps: usize,
    directions: i32,
) -> Result<()> {
    if !(1..=15).contains(&directions) {
        refuse!(
            BadParameter,
            "directions",
            expected("a mask of bits 0 to 3, 1 to 15"),
            found("{directions}")
        );
    }
    let readable = matches!(gauge.recon(), Recon::R18 | Recon::R12);
    let links = if gauge.precision() == psi.precision() && readable {
        gauge.clone()
    } else {
        Arc::new(gauge.to(psi.precision(), Recon::R12)?)
    };
    let d = f64::from((directions & 15).count_ones());
    let norm = 1.0 / (1.0 + 2.0 * d * alpha);
    if !(alpha.is_finite() && norm.is_finite()) {
        refuse!(
            BadParameter,
            "alpha",
            expected("a finite number other than -1 / (2 directions)"),
            found("{alpha}")
        );
    }
    let step = Laplace::new(links, psi.components(), directions, norm, alpha * norm)?;
    step.shape().check(psi, "psi")?;
    if steps == 0 {
        return Ok(());
    }
    let mut next = Shape::of(psi).field(psi.nrhs())?;
    let mut last = Shape::of(psi).field(psi.nrhs())?;
    step.apply(&mut next, psi)?;
    for _ in 1..steps {
        std::mem::swap(&mut next, &mut last);
        step.apply(&mut next, &last)?;
    }
    *psi = next;
    Ok(())
}
