//! The quark action that a `QudaInvertParam` describes, on the links and the clover term on the device.

use std::sync::Arc;

use num_complex::Complex64;

use super::enums::{Dslash, Flavours};
use super::operators::Vectors;
use super::records::UNSET;
use super::resident::{Links, OperatorKey, Resident};
use crate::error::Result;
use crate::fields::{CloverField, GaugeField, Precision, Recon};
use crate::operators::{ActionParams, DiracParams, Distance, DoubletParams, QuarkAction};
use crate::refuse;

/// Largest deviation from SU(3) of links that are stored as two rows.
fn two_rows(precision: Precision) -> f64 {
    if precision == Precision::F64 {
        1e-12
    } else {
        1e-6
    }
}

/// Returns a number, or an error if the host has not set it or it is not finite.
fn set(value: f64, name: &str) -> Result<f64> {
    if !value.is_finite() || value == UNSET {
        refuse!(BadParameter, "param.{name}", expected("a finite number"), found("{value:e}"));
    }
    Ok(value)
}

impl Vectors<'_> {
    /// Whether the operator is one of quarks, not a Laplacian.
    pub fn quarks(&self) -> bool {
        matches!(
            self.kind,
            Dslash::Wilson | Dslash::Clover | Dslash::Twisted | Dslash::TwistedClover
        )
    }

    /// The additional twisted mass where the site term itself is applied.
    pub fn rho(&self) -> f64 {
        match (self.kind, self.flavours) {
            (Dslash::TwistedClover, Flavours::One) => self.param.tm_rho,
            _ => 0.0,
        }
    }

    /// Distance preconditioning of solves.
    ///
    /// # Errors
    /// `Unsupported`: an operator that has none in QUDA either; `BadParameter`: numbers that are no weights.
    pub fn distance(&self) -> Result<Option<Distance>> {
        let (alpha, time) = (self.param.distance_pc_alpha0, self.param.distance_pc_t0);
        let Ok(t0) = usize::try_from(time) else { return Ok(None) };
        if alpha == 0.0 {
            return Ok(None);
        }
        if !matches!(self.kind, Dslash::Wilson | Dslash::Clover) {
            refuse!(
                Unsupported,
                "param.distance_pc_alpha0",
                expected("0 with anything but QUDA_WILSON_DSLASH and QUDA_CLOVER_WILSON_DSLASH"),
                found("{alpha}")
            );
        }
        let distance = Distance { alpha: alpha.abs(), t0 };
        let named = |ours: &str| match ours {
            "distance_alpha" => "param.distance_pc_alpha0".into(),
            "distance_t0" => "param.distance_pc_t0".into(),
            other => other.into(),
        };
        distance.check(&self.session.geometry).map_err(|e| e.renamed(named))?;
        Ok(Some(distance))
    }

    /// The parameters of the quark action on these links.
    pub fn quark_params(&self, links: &Links) -> Result<ActionParams> {
        self.params_with(links.scale(), links.sign, links.cf)
    }

    fn params_with(
        &self,
        hop: [f64; 4],
        sign: f64,
        [cf, cf_prime]: [f64; 2],
    ) -> Result<ActionParams> {
        let p = self.param;
        if !(p.kappa > 1e-300 && p.kappa.is_finite()) {
            refuse!(
                BadParameter,
                "param.kappa",
                expected("a number above 0"),
                found("{}", p.kappa)
            );
        }
        let twisted = matches!(self.kind, Dslash::Twisted | Dslash::TwistedClover);
        let mu = if twisted { set(p.mu, "mu")? } else { 0.0 };
        let rho = set(self.rho(), "tm_rho")?;
        let one = Complex64::ONE;
        let boundary = [one, one, one, Complex64::new(sign, 0.0)];
        let wilson = DiracParams { mu, rho, hop, boundary, cf, cf_prime, ..Default::default() };
        let wilson = wilson.with_kappa(p.kappa);
        Ok(match self.flavours {
            Flavours::One => wilson.into(),
            Flavours::Two => DoubletParams { wilson, epsilon: set(p.epsilon, "epsilon")? }.into(),
        })
    }

    /// The number s for which the determinant of a parity's sites is that of A^2 + s; None: it is that of A itself.
    pub fn square(&self) -> Result<Option<f64>> {
        Ok(self.params_with([1.0; 4], 1.0, [1.0; 2])?.square())
    }

    /// The operator with these parameters on the links and the clover term on the device, and the key by which it is
    /// found again.
    pub fn action(&self, resident: &mut Resident) -> Result<(OperatorKey, Arc<dyn QuarkAction>)> {
        let links = resident.links()?;
        let params = self.quark_params(&links)?;
        let clover = match self.kind {
            Dslash::Wilson | Dslash::Twisted => None,
            Dslash::Clover | Dslash::TwistedClover => Some(resident.clover(params.square())?),
            other => refuse!(Unsupported, "param.dslash_type", expected("QUDA_WILSON_DSLASH, QUDA_CLOVER_WILSON_DSLASH, QUDA_TWISTED_MASS_DSLASH or QUDA_TWISTED_CLOVER_DSLASH"), found("{other}")),
        };
        let number = clover.as_ref().map(|term| term.number);
        let key = format!("{} {number:?} {} {params:?}", links.field.version(), self.inside);
        if let Some((_, action)) = resident.operator.as_ref().filter(|(old, _)| *old == key) {
            return Ok((key, action.clone()));
        }
        resident.forget_operators();
        let links = self.links(resident, &links)?;
        let blocks = |field: &Arc<CloverField>| match field.precision() == self.inside {
            true => Ok(field.clone()),
            false => field.to(self.inside).map(Arc::new),
        };
        let action = match clover {
            None => params.create(links)?,
            Some(term) => {
                params.from_parts(links, blocks(&term.direct)?, blocks(&term.inverse)?)?
            }
        };
        resident.operator = Some((key.clone(), action.clone()));
        Ok((key, action))
    }

    /// The links in the precision of the operator: links of SU(3) are stored as two rows, others, such as links with
    /// phases, as whole matrices.
    pub fn links(&self, resident: &mut Resident, links: &Links) -> Result<Arc<GaugeField>> {
        if let Some(field) = resident.turned(links, self.inside)? {
            return Ok(field);
        }
        let off = resident.unitarity(&links.field)?;
        let recon = if off <= two_rows(self.inside) { Recon::R12 } else { Recon::R18 };
        let same = (links.field.precision(), links.field.recon()) == (self.inside, recon);
        match same {
            true => Ok(links.field.clone()),
            false => links.field.shared_copy(self.inside, recon),
        }
    }
}
