//! Two degenerate flavours: det(M^dagger M), or a ratio det(M^dagger M) / det(W^dagger W) of them
//! (Hasenbusch, hep-lat/0107019), with M and W Wilson, clover or twisted-mass operators.
//!
//! With the Schur complements P of M and Q of W, det M = det P det A_M, where A_M is the part of M that P leaves out,
//! and S = |(P^dagger)^-1 Q^dagger phi|^2 - ln |det A_M|^2 + ln |det A_W|^2; without W, Q = A_W = 1. In a chain of such
//! ratios the W of each monomial is the M of the next one. With a last monomial without W, their product is
//! det(M^dagger M) of the first, whichever operators stand between.

use super::{
    check_multigrid, check_operator, noise_seed, Guesses, Inverter, KickReport, Operators,
};
use crate::backend::Device;
use crate::bail;
use crate::compose::multigrid::MultigridReport;
use crate::compose::Schur;
use crate::error::Result;
use crate::fields::{blas, BoundaryTime, GaugeField, Momenta, Noise, SpinorField};
use crate::operators::{ActionParams, ForceWorkspace, HalfTerms};
use crate::ops::hmc::stout::Stout;
use crate::ops::hmc::{Monomial, Solves, Stream};
use crate::params::{Choice as _, Key};
use crate::refuse;

/// Parameters of two flavours, or of a ratio of two such determinants.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct TwoFlavoursParams {
    /// Parameters of the operator M.
    pub operator: ActionParams,
    /// Parameters of the operator W in det(M^dagger M) / det(W^dagger W) (Hasenbusch, Phys. Lett. B 519 (2001) 177);
    /// None: the determinant of M alone.
    pub preconditioner: Option<ActionParams>,
    /// Form and parity of the Schur complement.
    pub schur: Schur,
    pub inverter: Inverter,
}

/// The monomial of two degenerate flavours, or of a ratio of such determinants.
pub struct TwoFlavours {
    name: String,
    params: TwoFlavoursParams,
    /// Parameters of M and, for a ratio, of W.
    operators: Vec<ActionParams>,
    smearing: Option<Stout>,
    kept: Operators,
    phi: Option<SpinorField>,
    guesses: Guesses,
    force: ForceWorkspace,
    scratch: Option<Momenta>,
    solves: Solves,
}

impl TwoFlavours {
    /// # Errors
    /// `BadParameter`: a kappa, tolerance or parity out of range; `Unsupported`: multigrid with another P
    /// than the symmetric one on even sites.
    pub fn new(name: &str, params: TwoFlavoursParams) -> Result<Self> {
        check_operator(name, &params.operator, params.schur)?;
        if let Some(w) = &params.preconditioner {
            check_operator(name, w, params.schur)?;
            let (m, w) = (params.operator.clover_links(), w.clover_links());
            if m != w {
                refuse!(
                    BadParameter,
                    "{name}: clover_links of the preconditioner",
                    expected("those of the operator, {}", m.word()),
                    found("{}", w.word())
                );
            }
        }
        params.inverter.check()?;
        check_multigrid(name, &params.inverter, params.schur)?;
        let guesses = Guesses::new(params.inverter.guesses);
        let operators = [params.operator].into_iter().chain(params.preconditioner).collect();
        Ok(TwoFlavours {
            name: name.to_string(),
            params,
            operators,
            smearing: None,
            kept: Operators::default(),
            phi: None,
            guesses,
            force: ForceWorkspace::default(),
            scratch: None,
            solves: Solves::default(),
        })
    }

    /// The same monomial with operators on stout-smeared links.
    pub fn with_smearing(self, stout: Stout) -> Self {
        TwoFlavours { smearing: Some(stout), kept: Operators::default(), ..self }
    }

    /// Report on the last set-up or update of multigrid; None if there has been none.
    pub fn multigrid(&self) -> Option<MultigridReport> {
        self.kept.list.first()?.multigrid.as_ref()?.report()
    }

    fn no_fields<T>(&self) -> Result<T> {
        bail!(InvalidArgument, "{}: no pseudofermions, refresh comes first", self.name);
    }
}

/// Computes Q^dagger phi, or without W a copy of phi.
fn source(ops: &Operators, phi: &SpinorField) -> Result<SpinorField> {
    let mut b = phi.like(phi.precision())?;
    match ops.list.get(1) {
        Some(w) => w.schur.apply_dagger(&mut b, phi)?,
        None => blas::copy(&mut b, phi)?,
    }
    Ok(b)
}

impl Monomial for TwoFlavours {
    fn name(&self) -> &str {
        &self.name
    }

    fn check_time_boundary(&self, boundary: BoundaryTime) -> Result<()> {
        super::check_time_boundary(&self.name, self.operators.iter(), boundary)
    }

    /// Heat bath: phi = (Q^dagger)^-1 P^dagger eta with normal eta.
    fn refresh(&mut self, gauge: &GaugeField, stream: Stream) -> Result<()> {
        let TwoFlavoursParams { schur, inverter, .. } = &self.params;
        let ops = self.kept.on(gauge, &self.operators, *schur, (inverter, self.smearing))?;
        let shape = ops.list[0].schur.shape();
        let mut eta = shape.field(1)?;
        let mut phi = match self.phi.take() {
            Some(phi) if shape.check(&phi, "phi").is_ok() => phi,
            _ => shape.field(1)?,
        };
        eta.set_noise(Noise::Normal, noise_seed(stream.seed, &self.name), stream.trajectory)?;
        ops.list[0].schur.apply_dagger(&mut phi, &eta)?;
        if let Some(w) = ops.list.get(1) {
            // (Q^dagger)^-1 = Q (Q^dagger Q)^-1
            self.solves += w.solve_hamiltonian(&mut eta, &phi)?;
            w.schur.apply(&mut phi, &eta)?;
        }
        self.phi = Some(phi);
        self.guesses.clear();
        Ok(())
    }

    fn action(&mut self, gauge: &GaugeField) -> Result<f64> {
        let Some(phi) = &self.phi else { return self.no_fields() };
        let TwoFlavoursParams { schur, inverter, .. } = &self.params;
        let ops = self.kept.on(gauge, &self.operators, *schur, (inverter, self.smearing))?;
        let b = source(ops, phi)?;
        let (mut x, mut y) = (b.like(b.precision())?, b.like(b.precision())?);
        self.solves += ops.list[0].solve_hamiltonian(&mut x, &b)?;
        ops.list[0].schur.apply(&mut y, &x)?;
        // With P^dagger P x = b, S is <x, b> = 2 <x, b> - |P x|^2; in the second form the error of x enters only
        // squared.
        let mut s = 2.0 * blas::dot(&x, &b)?[0].re - blas::norm2(&y)?[0];
        s -= ops.list[0].schur.log_det()?;
        if let Some(w) = ops.list.get(1) {
            s += w.schur.log_det()?;
        }
        Ok(s)
    }

    fn kick(&mut self, gauge: &GaugeField, momenta: &mut Momenta, step: f64) -> Result<KickReport> {
        let Some(phi) = &self.phi else { return self.no_fields() };
        let TwoFlavoursParams { schur, inverter, .. } = &self.params;
        let ops = self.kept.on(gauge, &self.operators, *schur, (inverter, self.smearing))?;
        let b = source(ops, phi)?;
        let (light, mut x) = (&ops.list[0].schur, b.like(b.precision())?);
        self.guesses.guess(&**light, &mut x, &b)?;
        let done = ops.list[0].solve_force(&mut x, &b)?;
        self.guesses.keep(&x)?;
        ops.kick((&mut self.scratch, &mut self.force), momenta, step, |force, f| {
            // dS = 2 Re <-Y, dP X> + 2 Re <phi, dQ X>, Y = P X
            let mut y = b;
            light.apply(&mut y, &x)?;
            light.add_force(force, f, 1.0, HalfTerms { x: &x, y: &y, px: &y, coef: &[-1.0] })?;
            light.add_determinant_force(force, -1.0)?;
            if let Some(w) = ops.list.get(1) {
                w.schur.apply(&mut y, &x)?;
                let terms = HalfTerms { x: &x, y: phi, px: &y, coef: &[1.0] };
                w.schur.add_force(force, f, 1.0, terms)?;
                w.schur.add_determinant_force(force, 1.0)?;
            }
            Ok(done)
        })
    }

    fn pseudofermions(&mut self) -> Option<&mut Option<SpinorField>> {
        Some(&mut self.phi)
    }

    fn drawn(&self) -> Option<&SpinorField> {
        self.phi.as_ref()
    }

    fn restart(&mut self) {
        self.guesses.clear();
        self.kept.list.iter().for_each(|op| op.restart());
    }

    fn solves(&mut self) -> Solves {
        std::mem::take(&mut self.solves)
    }

    fn key(&self) -> Key {
        Key::of(("two flavours", &self.params, self.smearing))
    }

    fn like_on(&self, _: &Device) -> Result<Option<Box<dyn Monomial>>> {
        let like = TwoFlavours::new(&self.name, self.params.clone())?;
        Ok(Some(Box::new(TwoFlavours { smearing: self.smearing, ..like })))
    }
}
