//! Parameters of Wilson, clover and twisted-mass operators.

use num_complex::Complex64;

use crate::bail;
use crate::error::{significant, Result};
use crate::fields::{BoundaryTime, CloverCoefficients, CloverForm};
use crate::params::choices;
use crate::refuse;

choices! {
    /// Links that a clover term is made of.
    pub enum CloverLinks: plaq_clover_links {
        /// The links of the hop.
        Hop = 0, PLAQ_CLOVER_LINKS_HOP, "hop";
        /// The thin links that those of the hop are smeared from (QCDSF: Cundy et al., Phys. Rev. D 79 (2009) 094507);
        /// in chains whose quarks have smearing.
        Thin = 1, PLAQ_CLOVER_LINKS_THIN, "thin";
    }
}

/// Physical parameters of a Wilson-type operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiracParams {
    /// Bare mass m of D = (m + sum_mu h_mu) - H/2 + ...
    pub mass: f64,
    /// Coefficient of the clover term (Sheikholeslami, Wohlert, Nucl. Phys. B 259 (1985) 572) in spatial planes and
    /// in planes with t; 0: no term.
    pub csw_s: f64,
    pub csw_t: f64,
    /// Coefficients of the boundary counterterms at the lower and the upper boundary in time: cF - 1 is added to the mass
    /// on the slice next to that where quarks vanish (Luescher, Sint, Weisz, Nucl. Phys. B 478 (1996) 365).
    pub cf: f64,
    pub cf_prime: f64,
    /// Form of the clover term.
    pub clover: CloverForm,
    /// Links that the clover term is made of.
    pub clover_links: CloverLinks,
    /// Twisted mass mu: the operator has + i mu gamma5 (Frezzotti et al., hep-lat/0101001).
    pub mu: f64,
    /// Additional twisted mass where the site term A itself is applied, not its inverse; in an asymmetric Schur
    /// complement A_p - kappa^2 H A_q^-1 H that is its own parity p.
    pub rho: f64,
    /// Coefficient of the hop in each direction, e.g. (nu/xi, nu/xi, nu/xi, 1).
    pub hop: [f64; 4],
    /// Phases of the boundary, of modulus one: psi(x + L mu) = boundary[mu] psi(x); -1 is antiperiodic.
    pub boundary: [Complex64; 4],
}

impl Default for DiracParams {
    /// The massless isotropic Wilson operator, periodic in space and antiperiodic in time.
    fn default() -> Self {
        let one = Complex64::new(1.0, 0.0);
        DiracParams {
            mass: 0.0,
            csw_s: 0.0,
            csw_t: 0.0,
            cf: 1.0,
            cf_prime: 1.0,
            clover: CloverForm::Traditional,
            clover_links: CloverLinks::Hop,
            mu: 0.0,
            rho: 0.0,
            hop: [1.0; 4],
            boundary: [one, one, one, -one],
        }
    }
}

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
        self.csw_s != 0.0 || self.csw_t != 0.0 || self.boundary_terms() != [0.0; 2]
    }
    /// cF - 1 and cF' - 1.
    pub fn boundary_terms(&self) -> [f64; 2] {
        [self.cf - 1.0, self.cf_prime - 1.0]
    }
    /// The clover term, kappa-normalised.
    pub(crate) fn clover_coefficients(&self) -> CloverCoefficients {
        let c = 2.0 * self.kappa();
        let [lower, upper] = self.boundary_terms().map(|term| c * term);
        let (coef_s, coef_t) = (c * self.csw_s, c * self.csw_t);
        CloverCoefficients { coef_s, coef_t, form: self.clover, lower, upper }
    }
    /// Refuses parameters of which no operator can be made.
    pub fn check(&self) -> Result<()> {
        // The mass may be that of kappa and the hops.
        let hop = self.hop.map(|h| ("hop", h));
        let others = [
            ("csw", self.csw_s),
            ("csw_t", self.csw_t),
            ("cf", self.cf),
            ("cf_prime", self.cf_prime),
            ("mu", self.mu),
            ("rho", self.rho),
            ("mass", self.mass),
        ];
        for (name, value) in hop.into_iter().chain(others) {
            if !value.is_finite() {
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
        Ok(())
    }

    /// Refuses parameters that quarks have not on links with these boundaries in time.
    ///
    /// # Errors
    /// `BadParameter`: a phase in time where quarks vanish, or boundary terms where links are periodic.
    pub fn check_on(&self, boundary: BoundaryTime) -> Result<()> {
        let turn = self.boundary[3];
        if !boundary.is_periodic() && turn.im.abs() > 1e-12 {
            refuse!(
                BadParameter,
                "boundary[3]",
                expected("no phase in time, as links have {boundary}"),
                found("exp(i pi {})", significant(turn.arg() / std::f64::consts::PI, 6))
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
