//! Parameters of Wilson, clover and twisted-mass operators, whose members are rows of the table in quark.rs.

use super::{DiracParams, TermValue};
use crate::bail;
use crate::error::{significant, Result};
use crate::fields::{BoundaryTime, CloverCoefficients};
use crate::refuse;

impl DiracParams {
    /// The hopping parameter kappa = 1 / (2 m + 2 sum_mu h_mu), which is 1 / (2 m + 8) without anisotropy.
    pub fn kappa(&self) -> f64 {
        0.5 / (self.mass + self.hop.iter().sum::<f64>())
    }
    /// Largest kappa that interfaces accept.
    pub const LARGEST_KAPPA: f64 = 2.0;
    /// These parameters with the mass that belongs to kappa, given their hop coefficients.
    pub fn with_kappa(mut self, kappa: f64) -> Self {
        self.mass = 0.5 / kappa - self.hop.iter().sum::<f64>();
        self
    }
    /// Whether the site term needs blocks: with a clover term, or terms at boundaries in time.
    pub fn has_clover(&self) -> bool {
        self.csw != 0.0 || self.csw_t != 0.0 || self.boundary_terms() != [0.0; 2]
    }
    /// The numbers cF - 1 and cF' - 1 that are added to the mass at the lower and at the upper boundary in time.
    pub fn boundary_terms(&self) -> [f64; 2] {
        [self.cf - 1.0, self.cf_prime - 1.0]
    }
    /// Coefficients of the clover term in kappa normalisation.
    pub(crate) fn clover_coefficients(&self) -> CloverCoefficients {
        let c = 2.0 * self.kappa();
        let [lower, upper] = self.boundary_terms().map(|term| c * term);
        let (coef_s, coef_t) = (c * self.csw, c * self.csw_t);
        CloverCoefficients { coef_s, coef_t, form: self.clover, lower, upper }
    }
    /// Refuses parameters of which no operator can be made.
    pub fn check(&self) -> Result<()> {
        for (mu, z) in self.boundary.iter().enumerate() {
            if z.norm().is_nan() || (z.norm() - 1.0).abs() > 1e-12 {
                refuse!(
                    BadParameter,
                    "boundary[{mu}]",
                    expected("a phase of modulus one"),
                    found("{z}")
                );
            }
        }
        // The mass may have been computed from kappa and the hop coefficients.
        let others = [("rho", TermValue::Number(self.rho)), ("mass", TermValue::Number(self.mass))];
        for (name, term) in self.terms().into_iter().chain(others) {
            let numbers = match term {
                TermValue::Number(number) => vec![number],
                TermValue::Numbers(numbers) => numbers,
                TermValue::Word(_) => vec![],
            };
            if let Some(value) = numbers.into_iter().find(|number| !number.is_finite()) {
                refuse!(BadParameter, "{name}", expected("a finite number"), found("{value}"));
            }
        }
        if !self.kappa().is_finite() || self.kappa() <= 0.0 {
            bail!(
                BadParameter,
                "mass, hop: kappa must be positive and finite, found {} of mass {} and hops with the sum {}",
                self.kappa(),
                self.mass,
                self.hop.iter().sum::<f64>()
            );
        }
        Ok(())
    }

    /// Refuses parameters that are not supported on links with these boundaries in time.
    ///
    /// # Errors
    /// `BadParameter`: a phase in time where quarks vanish, or boundary terms where links are periodic.
    pub fn check_on(&self, boundary: BoundaryTime) -> Result<()> {
        let turn = self.boundary[3];
        if !boundary.is_periodic() && turn.im.abs() > 1e-12 {
            refuse!(
                BadParameter,
                "boundary[3]",
                expected("no phase in time but a sign, as links have {boundary}"),
                found("exp(i pi {})", significant(turn.arg() / std::f64::consts::PI, 15))
            );
        }
        if boundary.is_periodic() && self.boundary_terms() != [0.0; 2] {
            refuse!(
                BadParameter,
                "cf, cf_prime",
                expected("1 on links that are periodic in time"),
                found("{} and {}", self.cf, self.cf_prime)
            );
        }
        Ok(())
    }
}
