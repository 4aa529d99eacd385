//! Gaussian (Wuppertal) smearing of quark fields.

use std::sync::Arc;

use crate::backend::args::LinkTurnArgs;
use crate::backend::kernels;
use crate::error::Result;
use crate::fields::{GaugeField, Precision, Recon, VectorField};
use crate::linop::{LinOp, Shape};
use crate::operators::{phase, Laplace};
use crate::params::parameters;
use crate::refuse;

/// Bits of the directions x, y and z.
pub const SPACE: i32 = 7;

parameters! {
    /// Parameters of Gaussian (Wuppertal) smearing: psi <- [(1 + alpha H) / (1 + 2 d alpha)]^steps psi, where H is
    /// the sum over the neighbours in d directions, parallel transported by the links.
    pub struct QuarkSmearing: plaq_spinor_smear_params {
        /// Weight alpha of the neighbours, any number except -1 / (2 d). It must be set.
        alpha: f64 = f64::NAN;
        /// Number of smearing steps.
        steps: usize = 0, within(0, 100_000);
        /// Bits mu of the directions of neighbours; 7: x, y, z.
        directions: i32 = SPACE;
        /// Momentum smearing: the links are multiplied by exp(2 pi i momentum(j) / L_j) in direction j; any real
        /// numbers. For a quark of a hadron with sink phase exp(-i p x), p_j = 2 pi n_j / L_j, the best choice is
        /// momentum(j) = -zeta n_j with zeta about 1/2 for mesons; for an antiquark, given as a quark, +zeta n_j.
        /// Only for fields in single or double precision.
        momentum: [f64; 3] = [0.0; 3];
    }
}

impl QuarkSmearing {
    /// Smears every right-hand side with these links, as [`boosted`] does.
    ///
    /// # Errors
    /// Errors of [`boosted`].
    pub fn apply(&self, psi: &mut VectorField, gauge: &Arc<GaugeField>) -> Result<()> {
        boosted(psi, gauge, (self.alpha, self.steps, self.directions), self.momentum)
    }
}

/// psi <- [(1 + alpha H) / (1 + 2 d alpha)]^steps psi where H is the sum over the neighbours in the d directions of
/// `directions` (bit mu), parallel transported by the links (Guesken, Nucl. Phys. B (Proc. Suppl.) 17, 361; the
/// normalisation of QUDA). Any number of right-hand sides, spinors or colour vectors on both parities, any precision.
/// On failure the field is as before.
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
    let readable = matches!(gauge.recon(), Recon::R18 | Recon::R12);
    let links = if gauge.precision() == psi.precision() && readable {
        gauge.clone()
    } else {
        Arc::new(gauge.to(psi.precision(), Recon::R12)?)
    };
    smear(psi, links, alpha, steps, directions)
}

/// [`wuppertal`] with the links U_j(x) exp(2 pi i momentum_j / L_j), any real numbers, in x, y, z (Bali et al., Phys.
/// Rev. D 93, 094515): the largest Fourier component exp(-i k x) of a smeared point is at k_j = 2 pi momentum_j /
/// L_j. In single or double precision.
///
/// # Errors
/// Errors of [`wuppertal`]; `BadParameter`: a momentum that is not finite.
pub fn boosted(
    psi: &mut VectorField,
    gauge: &Arc<GaugeField>,
    (alpha, steps, directions): (f64, usize, i32),
    momentum: [f64; 3],
) -> Result<()> {
    if momentum == [0.0; 3] {
        return wuppertal(psi, gauge, alpha, steps, directions);
    }
    if psi.precision() == Precision::F16 {
        refuse!(Unsupported, "momentum", expected("fields in single or double"), found("half"));
    }
    let links = turned(gauge, psi.precision(), momentum)?;
    smear(psi, Arc::new(links), alpha, steps, directions)
}

/// The links multiplied by exp(2 pi i momentum_j / L_j) in x, y, z. They are in U(3), and stored in a form that does
/// not assume a determinant of 1.
///
/// # Errors
/// `BadParameter`: a momentum that is not finite; `OutOfMemory`.
pub fn turned(gauge: &GaugeField, precision: Precision, momentum: [f64; 3]) -> Result<GaugeField> {
    if momentum.iter().any(|n| !n.is_finite()) {
        refuse!(BadParameter, "momentum", expected("finite numbers"), found("{momentum:?}"));
    }
    let mut links = gauge.to(precision, Recon::R18)?;
    let extents = gauge.geometry().global_extents();
    let turns = |mu: usize| if mu < 3 { momentum[mu] / extents[mu] as f64 } else { 0.0 };
    let factors = [0, 1, 2, 3].map(|mu| phase(2.0 * turns(mu)));
    links.fill_whole(|links| {
        let args = LinkTurnArgs {
            geom: links.geometry().args(),
            gauge: links.view(),
            re: factors.map(|z| z.re),
            im: factors.map(|z| z.im),
        };
        let kernel = kernels::LinkTurn::of(links.precision())?;
        links.device().launch(kernel, &args, links.geometry().work(2))
    })?;
    Ok(links)
}

fn smear(
    psi: &mut VectorField,
    links: Arc<GaugeField>,
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
