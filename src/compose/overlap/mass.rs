//! The mass of the Wilson operator that preconditions the overlap operator (Brannick et al., arXiv
//! 1410.7170, choose it so that the spectra fit).
//!
//! An eigenvalue x + i y of a normal D_W(0), small beside rho, belongs to m + i y of D_N(m), whatever x is: D_N(m)
//! (D_W + w)^-1 has the eigenvalue m / (w + x) at the low edge x of the Wilson spectrum and about one half where most
//! eigenvalues lie. The smallest disc around all eigenvalues, which bounds the iterations of GCR, then hardly changes
//! for w + x from 0.75 m to 2.5 m and is smallest at 2 m. This was found for the spectrum of the free field at all
//! momenta, and for spectra that shrink towards 4 as x grows, as on rougher links.

use super::Overlap;
use crate::bail;
use crate::compose::{DiracSolver, Schur, Solution, SolveParams};
use crate::error::Result;
use crate::fields::{blas, Noise, Precision, Recon};
use crate::operators::in_storage;
use crate::solvers::{no_monitor, SolverKind, SolverParams, Stop};

/// Low edge of the spectrum of the preconditioner's Wilson operator, in units of the quark mass, for which the
/// preconditioner is best.
const EDGE: f64 = 2.0;
/// Least value of the edge that is used; estimates below it are not reliable.
const LEAST: f64 = 0.005;
/// Largest value of the edge: in the limit of strong coupling the critical mass is -2 (kappa = 1/4).
const STRONGEST: f64 = 2.0;
/// Steps of inverse iteration: in each, the mass of the Wilson operator is lowered by this fraction of the edge as
/// estimated in the step before.
const SHARES: [f64; 7] = [0.0, 0.0, 0.0, 0.5, 0.75, 0.75, 0.75];

impl Overlap {
    /// The low edge of the spectrum of the massless Wilson operator on the kernel's links, which is minus the
    /// critical mass: the real part of <v, D_W v> / <v, v> for a vector v obtained from noise by a few steps of
    /// inverse iteration. They take about as much time as one application of the sign function.
    ///
    /// # Errors
    /// Errors of [`DiracSolver::solve`]; `SolverBreakdown`: no number comes out.
    pub fn wilson_edge(&self) -> Result<f64> {
        let massless = in_storage(self.wilson(0.0)?, (Precision::F32, Recon::R12))?;
        let shape = massless.shape();
        let (mut v, mut w) = (shape.field(1)?, shape.field(1)?);
        v.set_noise(Noise::Normal, 1, 0)?;
        let mut edge = 0.0;
        for share in SHARES {
            let op = in_storage(self.wilson(-share * edge)?, (Precision::F32, Recon::R12))?;
            let solver = SolverParams {
                kind: SolverKind::BiCgStab,
                stop: Stop { iterations: 200, ..Stop::at(1e-2) },
                ..Default::default()
            };
            let params = SolveParams {
                solver,
                solution: Solution::Mat,
                even_odd: Some(Schur::EVEN_SYMMETRIC),
                ..Default::default()
            };
            DiracSolver::new(op, params)?.solve(&mut w, &v, &mut no_monitor)?;
            let scale = 1.0 / blas::norm2(&w)?[0].sqrt();
            blas::axpby(&blas::uniform(1, scale), &w, &blas::uniform(1, 0.0), &mut v)?;
            massless.apply(&mut w, &v)?;
            // D = M / (2 kappa)
            edge = blas::dot(&v, &w)?[0].re / massless.mass_scale();
            edge = edge.min(STRONGEST);
            if !edge.is_finite() {
                bail!(SolverBreakdown, "inverse iteration with the Wilson operator gives {edge}");
            }
        }
        Ok(edge)
    }

    /// The mass w of the Wilson operator that is the best preconditioner of this operator: the low edge of its
    /// spectrum is then at twice the quark mass. The number of iterations hardly depends on it nearby.
    ///
    /// # Errors
    /// Errors of [`Overlap::wilson_edge`].
    pub fn wilson_mass(&self) -> Result<f64> {
        Ok(self.wilson_mass_of(self.wilson_edge()?))
    }

    /// The best mass w of the preconditioner's Wilson operator if the edge is known, see [`Overlap::wilson_mass`].
    pub fn wilson_mass_of(&self, edge: f64) -> f64 {
        (EDGE * self.mass()).max(LEAST) - edge
    }
}
