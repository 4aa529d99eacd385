//! Two degenerate flavours: det(M^dagger M), or a ratio det(M^dagger M) / det(W^dagger W) of them
//! (Hasenbusch, hep-lat/0107019), with M and W Wilson, clover or twisted-mass operators.
//!
//! With the Schur complements P of M and Q of W, det M = det P times det A of what P leaves out, and
//!   S = |(P^dagger)^-1 Q^dagger phi|^2 - ln |det A_M|^2 + ln |det A_W|^2,
//! Q = A_W = 1 without W. A chain of such ratios, each with the W that the next one has for M, ends
//! with a monomial without W; the whole is det(M^dagger M) of the first whatever stands between.

use super::{
    check_operator, copy_of, kick_with, noise_seed, schur_operator, Guesses, Inverter, KickReport,
};
use crate::compose::{schur_log_det, EvenOdd, HalfTerms, Schur, SchurForce};
use crate::error::Result;
use crate::fields::{blas, GaugeField, Momenta, Noise, SpinorField};
use crate::linop::LinOp;
use crate::operators::DiracParams;
use crate::ops::hmc::{Monomial, Stream};

/// What two flavours are.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoFlavoursParams {
    /// M.
    pub operator: DiracParams,
    /// W; none: the determinant itself, not a ratio.
    pub preconditioner: Option<DiracParams>,
    /// The parity that P is on, and its form.
    pub schur: Schur,
    pub inverter: Inverter,
}

/// The monomial.
pub struct TwoFlavours {
    name: String,
    params: TwoFlavoursParams,
    phi: Option<SpinorField>,
    guesses: Guesses,
    force: SchurForce,
    scratch: Option<Momenta>,
    iterations: u64,
}

/// The operators of some links.
struct Operators {
    light: EvenOdd,
    heavy: Option<EvenOdd>,
}

impl TwoFlavours {
    /// # Errors
    /// `BadParameter`: a kappa, tolerance or parity out of range.
    pub fn new(name: &str, params: TwoFlavoursParams) -> Result<Self> {
        check_operator(name, &params.operator, params.schur)?;
        if let Some(w) = &params.preconditioner {
            check_operator(name, w, params.schur)?;
        }
        params.inverter.check()?;
        let guesses = Guesses::new(params.inverter.guesses);
        Ok(TwoFlavours {
            name: name.to_string(),
            params,
            phi: None,
            guesses,
            force: SchurForce::default(),
            scratch: None,
            iterations: 0,
        })
    }

    pub fn params(&self) -> &TwoFlavoursParams {
        &self.params
    }

    fn operators(&self, gauge: &GaugeField) -> Result<Operators> {
        let links = copy_of(gauge)?;
        let make = |p: DiracParams| schur_operator(&links, p, self.params.schur);
        Ok(Operators {
            light: make(self.params.operator)?,
            heavy: self.params.preconditioner.map(make).transpose()?,
        })
    }

    /// Q^dagger phi, or a copy of phi.
    fn source(&self, ops: &Operators) -> Result<SpinorField> {
        let Some(phi) = &self.phi else {
            crate::bail!(InvalidArgument, "{}: no pseudofermions, refresh comes first", self.name);
        };
        let mut b = ops.light.shape().field(1)?;
        match &ops.heavy {
            Some(w) => w.apply_dagger(&mut b, phi)?,
            None => blas::copy(&mut b, phi)?,
        }
        Ok(b)
    }
}

impl Monomial for TwoFlavours {
    fn name(&self) -> &str {
        &self.name
    }

    /// phi = (Q^dagger)^-1 P^dagger eta, eta normal.
    fn refresh(&mut self, gauge: &GaugeField, stream: Stream) -> Result<()> {
        let ops = self.operators(gauge)?;
        let shape = ops.light.shape();
        let (mut eta, mut phi) = (shape.field(1)?, shape.field(1)?);
        eta.set_noise(Noise::Normal, noise_seed(stream.seed, &self.name), stream.trajectory)?;
        ops.light.apply_dagger(&mut phi, &eta)?;
        if let Some(w) = &ops.heavy {
            // (Q^dagger)^-1 = Q (Q^dagger Q)^-1
            let inverter = &self.params.inverter;
            let tol = inverter.tolerance_hamiltonian;
            eta.clear()?;
            self.iterations += inverter.solve(w, tol, false, &mut eta, &phi)?;
            w.apply(&mut phi, &eta)?;
        }
        self.phi = Some(phi);
        self.guesses.clear();
        Ok(())
    }

    fn action(&mut self, gauge: &GaugeField) -> Result<f64> {
        let ops = self.operators(gauge)?;
        let b = self.source(&ops)?;
        let (mut x, mut y) = (b.like(b.precision())?, b.like(b.precision())?);
        let inverter = &self.params.inverter;
        let tol = inverter.tolerance_hamiltonian;
        self.iterations += inverter.solve(&ops.light, tol, false, &mut x, &b)?;
        ops.light.apply(&mut y, &x)?;
        // 2 <x, b> - |P x|^2: the error of x enters squared.
        let mut s = 2.0 * blas::dot(&x, &b)?[0].re - blas::norm2(&y)?[0];
        s -= schur_log_det(&ops.light)?;
        if let Some(w) = &ops.heavy {
            s += schur_log_det(w)?;
        }
        Ok(s)
    }

    fn kick(&mut self, gauge: &GaugeField, momenta: &mut Momenta, step: f64) -> Result<KickReport> {
        let ops = self.operators(gauge)?;
        let b = self.source(&ops)?;
        let mut x = b.like(b.precision())?;
        let guess = self.guesses.guess(&ops.light, &mut x, &b)?;
        let inverter = &self.params.inverter;
        let done = inverter.solve(&ops.light, inverter.tolerance_force, guess, &mut x, &b)?;
        self.guesses.keep(&x)?;
        let TwoFlavours { force, scratch, phi, .. } = self;
        kick_with(scratch, gauge, momenta, step, |f| {
            // dS = 2 Re <-Y, dP X> + 2 Re <phi, dQ X>, Y = P X
            let mut y = b;
            force.begin();
            ops.light.apply(&mut y, &x)?;
            let first = HalfTerms { x: &x, y: &y, px: &y, coef: &[-1.0] };
            force.add(&ops.light, f, 1.0, first)?;
            force.determinant(&ops.light, -1.0)?;
            if let (Some(w), Some(phi)) = (&ops.heavy, phi) {
                w.apply(&mut y, &x)?;
                force.add(w, f, 1.0, HalfTerms { x: &x, y: phi, px: &y, coef: &[1.0] })?;
                force.determinant(w, 1.0)?;
            }
            force.finish(ops.light.op(), f, 1.0)?;
            Ok(done)
        })
    }

    fn restart(&mut self) {
        self.guesses.clear();
    }

    fn iterations(&mut self) -> u64 {
        std::mem::take(&mut self.iterations)
    }
}
