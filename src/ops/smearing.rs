//! Gaussian smearing of quark fields: by steps with links, and by a kernel in Coulomb gauge.

use std::sync::Arc;

use crate::backend::args::LinkPhasesArgs;
use crate::backend::kernels;
use crate::error::{significant, Result};
use crate::fields::{blas, GaugeField, Precision, Recon, VectorField};
use crate::linop::{LinOp, Shape};
use crate::operators::{phase, Laplace};
use crate::ops::gaugefix::{violation, Condition};
use crate::params::{parameters, Parameters as _};
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
        /// Smearing by a kernel in place of steps, without alpha: psi(x) <- sum_r g(r) exp(2 pi i momentum r / L)
        /// psi(x + r), g(r) = exp(-r^2 / (2 width^2)) up to a factor, with the sum 1, r_j from -L_j / 2 to L_j / 2.
        /// No links connect x with x + r: the sum is not gauge covariant, and `gauge` must be in Coulomb gauge.
        width: f64 = 0.0, below(0.0, f64::INFINITY), unit("a");
    }
}

/// Largest violation theta of links in Coulomb gauge that smearing by a kernel accepts; it is of order 1 for links that
/// are not fixed.
const FIXED: f64 = 1e-4;

impl QuarkSmearing {
    /// Smears every right-hand side with these links, as [`boosted`] does, or by [`kernel`].
    ///
    /// # Errors
    /// Errors of [`boosted`] or [`kernel`]; `BadParameter`: steps together with a width; `InvalidArgument`: links that
    /// are not in Coulomb gauge with a width.
    pub fn apply(&self, psi: &mut VectorField, gauge: &Arc<GaugeField>) -> Result<()> {
        self.check_rows("")?;
        if self.width > 0.0 {
            if self.steps > 0 || !self.alpha.is_nan() {
                refuse!(
                    BadParameter,
                    "width",
                    expected("0 with alpha and steps, which are for smearing by steps"),
                    found("{}", self.width)
                );
            }
            let theta = violation(gauge, Condition::Coulomb { time: 3 })?;
            if theta.is_nan() || theta > FIXED {
                refuse!(
                    InvalidArgument,
                    "gauge",
                    expected(
                        "links in Coulomb gauge, theta below {FIXED:e}, for smearing with a width"
                    ),
                    found("{}", significant(theta, 3))
                );
            }
            if self.directions >> 3 & 1 == 1 {
                refuse!(
                    Unsupported,
                    "directions",
                    expected("some of x, y and z with a width, as Coulomb gauge leaves t free"),
                    found("t among them")
                );
            }
            return kernel(psi, self.width, self.directions, self.momentum);
        }
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
    let links = links_with_momentum(gauge, psi.precision(), momentum)?;
    smear(psi, Arc::new(links), alpha, steps, directions)
}

/// psi(x) <- sum_r g(r) exp(2 pi i momentum r / L) psi(x + r) over the sites in `directions`, with g(r) proportional to
/// exp(-r^2 / (2 width^2)), its sum 1, and r_j from -L_j / 2 to L_j / 2, where both ends of even extents are one site
/// and count half. This is the product with the kernel's Fourier transform, computed without one: in each direction the
/// sum over r and -r is a Chebyshev polynomial of the sum H over both neighbours, P_(r+1) = H P_r - P_(r-1). In single
/// or double precision.
///
/// # Errors
/// `BadParameter`: a momentum that is not finite, no direction; `Unsupported`, `FieldMismatch` as of [`Laplace::new`]
/// and its application.
pub fn kernel(
    psi: &mut VectorField,
    width: f64,
    directions: i32,
    momentum: [f64; 3],
) -> Result<()> {
    check_directions(directions)?;
    if psi.precision() == Precision::F16 {
        refuse!(Unsupported, "width", expected("fields in single or double"), found("half"));
    }
    let mut unit = GaugeField::new(psi.device(), psi.geometry(), psi.precision(), Recon::R12)?;
    unit.set_unit()?;
    let links = Arc::new(links_with_momentum(&unit, psi.precision(), momentum)?);
    let extents = psi.geometry().global_extents();
    let each = |c: f64| blas::uniform(psi.nrhs(), c);
    let mut found = Shape::of(psi).field(psi.nrhs())?;
    blas::copy(&mut found, psi)?;
    for mu in (0..4).filter(|mu| directions >> mu & 1 == 1) {
        let weights = weights(width, extents[mu]);
        let neighbours = Laplace::new(links.clone(), psi.components(), 1 << mu, 0.0, 1.0)?;
        neighbours.shape().check(psi, "psi")?;
        let (mut now, mut before) =
            (found.like(found.precision())?, found.like(found.precision())?);
        blas::copy(&mut before, &found)?;
        neighbours.apply(&mut now, &before)?;
        blas::axpby(&each(0.0), &now, &each(weights[0]), &mut found)?;
        for (r, weight) in weights.iter().enumerate().skip(1) {
            if r > 1 {
                // P_0 = 2 is the field itself, twice.
                let last = if r == 2 { -2.0 } else { -1.0 };
                neighbours.recur(&mut before, &now, [1.0, 0.0, last], &mut None)?;
                std::mem::swap(&mut before, &mut now);
            }
            blas::axpby(&each(*weight), &now, &each(1.0), &mut found)?;
        }
    }
    *psi = found;
    Ok(())
}

/// Weights of the sums P_r over distances r and -r on a circle of `extent` sites, up to the last one that counts in
/// double precision; the middle of an even circle, which is at r and -r, counts half.
fn weights(width: f64, extent: usize) -> Vec<f64> {
    let gauss = |r: usize| (-0.5 * (r as f64 / width).powi(2)).exp();
    let weight = |r: usize| if 2 * r == extent { 0.5 * gauss(r) } else { gauss(r) };
    let all: Vec<f64> = (0..=extent / 2).map(weight).take_while(|w| *w > 1e-20).collect();
    let sum = all[0] + 2.0 * all[1..].iter().sum::<f64>();
    all.into_iter().map(|w| w / sum).collect()
}

/// The links multiplied by exp(2 pi i momentum_j / L_j) in x, y, z. They are in U(3), and stored in a form that does
/// not assume a determinant of 1.
///
/// # Errors
/// `BadParameter`: a momentum that is not finite; `OutOfMemory`.
pub fn links_with_momentum(
    gauge: &GaugeField,
    precision: Precision,
    momentum: [f64; 3],
) -> Result<GaugeField> {
    if momentum.iter().any(|n| !n.is_finite()) {
        refuse!(BadParameter, "momentum", expected("finite numbers"), found("{momentum:?}"));
    }
    let mut links = gauge.to(precision, Recon::R18)?;
    let extents = gauge.geometry().global_extents();
    let turns = |mu: usize| if mu < 3 { momentum[mu] / extents[mu] as f64 } else { 0.0 };
    let factors = [0, 1, 2, 3].map(|mu| phase(2.0 * turns(mu)));
    links.fill_whole(|links| {
        let args = LinkPhasesArgs {
            geom: links.geometry().args(),
            gauge: links.view(),
            re: factors.map(|z| z.re),
            im: factors.map(|z| z.im),
        };
        let kernel = kernels::LinkPhases::of(links.precision())?;
        links.device().launch(kernel, &args, links.geometry().work(2))
    })?;
    Ok(links)
}

fn check_directions(directions: i32) -> Result<()> {
    if !(1..=15).contains(&directions) {
        refuse!(
            BadParameter,
            "directions",
            expected("a mask of bits 0 to 3, 1 to 15"),
            found("{directions}")
        );
    }
    Ok(())
}

fn smear(
    psi: &mut VectorField,
    links: Arc<GaugeField>,
    alpha: f64,
    steps: usize,
    directions: i32,
) -> Result<()> {
    check_directions(directions)?;
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
