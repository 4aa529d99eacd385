//! Forces of even-odd preconditioned actions. With P the Schur complement of M (src/operators/even_odd.rs)
//! a change of the links changes Re <y, P x> by that of Re <Y, M X> for full fields X and Y that follow
//! from x and y: on the other parity q
//!   X_q = kappa A_q^-1 H_qp x,   Y_q = kappa (A_q^-1)^dagger (H^dagger)_qp Y_p,
//! and X_p = x, Y_p = y for the asymmetric P. For the symmetric one Y_p = (A_p^-1)^dagger y, and the
//! site term A_p takes x - P x for X_p.

use num_complex::Complex64;

use super::force_workspace::{ForceWorkspace, HalfTerms};
use super::{copy_parity, EvenOdd, ForceTerms, HopCall, HopSum, SiteTerm, Wilson};
use crate::error::Result;
use crate::fields::{blas, MatrixField, Momenta, SpinorField, Subset};
use crate::linop::LinOp;

impl EvenOdd {
    /// Computes momenta -= step times the force of these terms. The clover term's part is collected and added by
    /// `finish`.
    pub(super) fn force_terms(
        &self,
        work: &mut ForceWorkspace,
        momenta: &mut Momenta,
        step: f64,
        terms: HalfTerms,
    ) -> Result<()> {
        let n = terms.coef.len();
        let (op, shape, p) = (self.op(), self.shape(), self.parity());
        let fits = |f: &SpinorField| f.nrhs() == n && f.precision() == shape.precision;
        if !work.full.as_ref().is_some_and(|f| fits(&f[0])) {
            let full = op.subset_shape(Subset::Full);
            work.full = Some([full.field(n)?, full.field(n)?]);
        }
        let same = |f: &SpinorField| fits(f) && f.subset() == shape.subset;
        if self.symmetric() && !work.half.as_ref().is_some_and(same) {
            work.half = Some(shape.field(n)?);
        }
        let Some([x, y]) = &mut work.full else { return Ok(()) };
        self.extend(x, terms.x, false)?;
        match &mut work.half {
            Some(t) if self.symmetric() => {
                self.apply_inverse(t, terms.y, p, true)?;
                self.extend(y, t, true)?;
            }
            _ => self.extend(y, terms.y, true)?,
        }
        let coef = self.by_slice(terms.coef);
        let (fx, fy) = (x.by_slice(), y.by_slice());
        let wilson = op.wilson();
        wilson.hop_force(momenta, step, ForceTerms { x: &fx, y: &fy, coef: &coef })?;
        if !wilson.params().has_clover() {
            return Ok(());
        }
        if let Some(t) = work.half.as_mut().filter(|_| self.symmetric()) {
            blas::copy(t, terms.x)?;
            blas::axpy(&vec![Complex64::new(-1.0, 0.0); n], terms.px, t)?;
            copy_parity(x, t, p)?;
        }
        let insertion = kept(&mut work.insertion, wilson)?;
        let full = ForceTerms { x: &fx, y: &fy, coef: &coef };
        wilson.insert(insertion, Some(full), [0.0; 2], work.inserted)?;
        work.inserted = true;
        Ok(())
    }

    /// Collects the force of coef ln |det A|^2 on the sites that det P leaves out: those of the other parity, and for
    /// the symmetric P all sites. Does nothing without a clover term.
    pub(super) fn determinant_terms(&self, work: &mut ForceWorkspace, coef: f64) -> Result<()> {
        let op = self.op().wilson();
        if !op.params().has_clover() {
            return Ok(());
        }
        let insertion = kept(&mut work.insertion, op)?;
        let coef = coef * self.slices() as f64;
        let coefs = self.site_parities().map(|there| if there { coef } else { 0.0 });
        op.insert(insertion, None, coefs, work.inserted)?;
        work.inserted = true;
        Ok(())
    }

    /// Computes momenta -= step times the force of all insertions that were collected.
    pub(super) fn finish(
        &self,
        work: &ForceWorkspace,
        momenta: &mut Momenta,
        step: f64,
    ) -> Result<()> {
        match &work.insertion {
            Some(insertion) if work.inserted => {
                self.op().wilson().clover_force(momenta, step, insertion)
            }
            _ => Ok(()),
        }
    }

    /// ln |det A|^2 of the sites whose determinant is not part of det P.
    pub(super) fn site_log_det(&self) -> Result<f64> {
        let both = self.op().wilson().site_log_det()?;
        let there = both.iter().zip(self.site_parities()).filter(|(_, there)| *there);
        Ok(there.map(|(v, _)| v * self.slices() as f64).sum())
    }

    fn slices(&self) -> usize {
        self.shape().components.slices
    }

    /// The coefficients of right-hand sides, each repeated for the slices of its right-hand side.
    fn by_slice(&self, coef: &[f64]) -> Vec<f64> {
        coef.iter().flat_map(|&c| std::iter::repeat_n(c, self.slices())).collect()
    }

    /// Whether even sites, and whether odd sites, have a determinant that is not part of det P.
    fn site_parities(&self) -> [bool; 2] {
        [0, 1].map(|parity| self.symmetric() || parity != self.parity())
    }

    /// Extends x on one parity to the field X of the force on the full lattice, or with `dagger` Y_p to Y.
    fn extend(&self, full: &mut SpinorField, half: &SpinorField, dagger: bool) -> Result<()> {
        copy_parity(full, half, self.parity())?;
        let call = HopCall {
            parity: 1 - self.parity(),
            dagger,
            coef: self.kappa(),
            site_hop: SiteTerm::Inverse,
            y: None,
        };
        self.hop(full, half, &call, &HopSum::default())
    }
}

fn kept<'a>(place: &'a mut Option<MatrixField>, op: &Wilson) -> Result<&'a mut MatrixField> {
    let fits = |m: &MatrixField| m.precision() == op.gauge().precision();
    if !place.as_ref().is_some_and(fits) {
        *place = None;
    }
    match place {
        Some(m) => Ok(m),
        None => Ok(place.insert(op.insertion()?)),
    }
}
