//! Parameters of a quark as users give them: one table for the struct of the C interface, keys of TOML files,
//! options, keywords in Python and docs/parameters.md.

use super::Normalisation;
use crate::bail;
use crate::error::Result;
use crate::fields::{CloverForm, Precision, Recon};
use crate::operators::{Boundary, CloverLinks, DiracParams};
use crate::params::parameters;

parameters! {
    /// A quark of Wilson type: D = m + sum_mu h_mu (1 - ...) Wilson's term, + csw (i/4) sum sigma F, + i mu gamma5.
    pub struct QuarkParams: plaq_dirac_params {
        /// Normalisation of the operator; mass: D as above, kappa: 2 kappa D, which is 1 - kappa H without clover
        /// term. Solutions, shifts, eigenvalues and propagators are those of the normalised operator.
        normalisation: Normalisation = Normalisation::Mass;
        /// Hopping parameter 1 / (2 m + 2 sum_mu hop[mu]); 0: the quark is given by `mass`. One of the two must be
        /// set.
        kappa: Option<f64> = None, above(0.0, 2.0), absent("mass");
        /// Bare mass m; ignored where kappa is not 0. Default: not set (NaN).
        mass: Option<f64> = None, absent("kappa");
        /// Sheikholeslami-Wohlert coefficient; 0: no clover term.
        csw: f64 = 0.0;
        /// Sheikholeslami-Wohlert coefficient in the planes with t; NaN: the same as csw.
        csw_t: Option<f64> = None, absent("csw");
        /// Coefficient cF of the boundary counterterm, for links with boundaries in time: cF - 1 is added to the mass
        /// on the slice next to the lower boundary, where quarks vanish.
        cf: f64 = 1.0;
        /// The same coefficient at the upper boundary; NaN: the same as cf.
        cf_prime: Option<f64> = None, absent("cf");
        /// Twisted mass mu.
        mu: f64 = 0.0;
        /// Coefficient of the hop in each direction, e.g. (nu/xi, nu/xi, nu/xi, 1).
        hop: [f64; 4] = [1.0; 4];
        /// Boundary phases in units of pi: psi(x + L_mu) = exp(i pi boundary[mu]) psi(x); 1: antiperiodic. Outside of C
        /// also a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
        boundary: Boundary = Boundary::ANTIPERIODIC, old("phase");
        /// Precision of the operator's links and spinors; 0: that of the gauge field.
        precision: Option<Precision> = None, absent("links");
        /// Storage of the links of the hop; 0: two rows. The clover term is computed from the gauge field as it is
        /// stored.
        storage: Option<Recon> = None;
        /// Form of the clover term: traditional, or exponential: 4 + m + csw (i/4) sum sigma F becomes (4 + m)
        /// exp(csw / (4 + m) (i/4) sum sigma F), where 4 + m stands for 1 / (2 kappa).
        clover: CloverForm = CloverForm::Traditional;
        /// Links that the clover term is made of: those of the hop, or the thin ones under a chain's smearing.
        clover_links: CloverLinks = CloverLinks::Hop;
    }
}

impl QuarkParams {
    /// The operator's parameters. In messages `prefix` is put before the names of members.
    ///
    /// # Errors
    /// `BadParameter`: neither kappa nor mass.
    pub fn physics(&self, prefix: &str) -> Result<DiracParams> {
        let physics = DiracParams {
            mass: self.mass.unwrap_or(0.0),
            csw_s: self.csw,
            csw_t: self.csw_t.unwrap_or(self.csw),
            cf: self.cf,
            cf_prime: self.cf_prime.unwrap_or(self.cf),
            clover: self.clover,
            clover_links: self.clover_links,
            mu: self.mu,
            rho: 0.0,
            hop: self.hop,
            boundary: self.boundary.phases(),
        };
        match (self.kappa, self.mass) {
            (Some(kappa), _) => Ok(physics.with_kappa(kappa)),
            (None, Some(_)) => Ok(physics),
            (None, None) => {
                bail!(BadParameter, "{prefix}kappa, {prefix}mass: one of them must be set")
            }
        }
    }
}
