//! Forces of even-odd preconditioned actions. With P the Schur complement of M (src/operators/even_odd.rs)
//! a change of the links changes Re <y, P x> by that of Re <Y, M X> for full fields X and Y that follow
//! from x and y: on the other parity q
//!   X_q = kappa A_q^-1 H_qp x,   Y_q = kappa (A_q^-1)^dagger (H^dagger)_qp Y_p,
//! and X_p = x, Y_p = y for the asymmetric P. For the symmetric one Y_p = (A_p^-1)^dagger y, and the
//! site term A_p takes x - P x for X_p.

use num_complex::Complex64;

use crate::error::Result;
use crate::fields::{blas, MatrixField, Momenta, SpinorField, Subset};
use crate::linop::LinOp;
use crate::operators::{copy_parity, EvenOdd, ForceTerms, HopCall, SiteTerm, Wilson};

/// Terms sum_k 2 coef_k Re <y_k, P x_k> on the parity of P.
#[derive(Clone, Copy)]
pub struct HalfTerms<'a> {
    pub x: &'a SpinorField,
    pub y: &'a SpinorField,
    /// P x, which the symmetric P needs.
    pub px: &'a SpinorField,
    pub coef: &'a [f64],
}

/// The force of several such terms and of determinants of site terms: `add`, `determinant` in any order
/// and number, then `finish`. Keeps its fields from one force to the next.
#[derive(Default)]
pub struct SchurForce {
    full: Option<[SpinorField; 2]>,
    half: Option<SpinorField>,
    insertion: Option<MatrixField>,
    /// Does the insertion hold something of this force?
    inserted: bool,
}

impl SchurForce {
    /// Device memory that forces of `n` terms at a time take, which is then kept.
    pub fn memory(op: &EvenOdd, n: usize) -> u64 {
        let full = op.op().subset_shape(Subset::Full).bytes(n);
        let half = if op.symmetric() { op.shape().bytes(n) } else { 0 };
        let clover = op.op().params().has_clover();
        2 * full + half + if clover { op.op().insertion_bytes() as u64 } else { 0 }
    }

    /// Forgets what was inserted.
    pub fn begin(&mut self) {
        self.inserted = false;
    }

    /// momenta -= step times the force of these terms but for the clover term's part, which waits for
    /// `finish`.
    ///
    /// # Errors
    /// As of [`Wilson::hop_force`].
    pub fn add(
        &mut self,
        op: &EvenOdd,
        momenta: &mut Momenta,
        step: f64,
        terms: HalfTerms,
    ) -> Result<()> {
        let n = terms.coef.len();
        let (shape, p) = (op.shape(), op.parity());
        let fits = |f: &SpinorField| f.nrhs() == n && f.precision() == shape.precision;
        if !self.full.as_ref().is_some_and(|f| fits(&f[0])) {
            let full = op.op().subset_shape(Subset::Full);
            self.full = Some([full.field(n)?, full.field(n)?]);
        }
        let same = |f: &SpinorField| fits(f) && f.subset() == shape.subset;
        if op.symmetric() && !self.half.as_ref().is_some_and(same) {
            self.half = Some(shape.field(n)?);
        }
        let Some([x, y]) = &mut self.full else { return Ok(()) };
        extend(op, x, terms.x, false)?;
        match &mut self.half {
            Some(t) if op.symmetric() => {
                op.op().apply_site(t, terms.y, p, SiteTerm::Inverse, true, 1.0)?;
                extend(op, y, t, true)?;
            }
            _ => extend(op, y, terms.y, true)?,
        }
        op.op().hop_force(momenta, step, ForceTerms { x, y, coef: terms.coef })?;
        if !op.op().params().has_clover() {
            return Ok(());
        }
        if let Some(t) = self.half.as_mut().filter(|_| op.symmetric()) {
            blas::copy(t, terms.x)?;
            blas::axpy(&vec![Complex64::new(-1.0, 0.0); n], terms.px, t)?;
            copy_parity(x, t, p)?;
        }
        let insertion = kept(&mut self.insertion, op.op())?;
        let full = ForceTerms { x, y, coef: terms.coef };
        op.op().insert(insertion, Some(full), [0.0; 2], self.inserted)?;
        self.inserted = true;
        Ok(())
    }

    /// Inserts the force of coef ln |det A|^2 of the sites that P leaves to it: of the other parity, and
    /// where P is symmetric of both. Nothing without a clover term.
    pub fn determinant(&mut self, op: &EvenOdd, coef: f64) -> Result<()> {
        if !op.op().params().has_clover() {
            return Ok(());
        }
        let insertion = kept(&mut self.insertion, op.op())?;
        let coefs = site_parities(op).map(|there| if there { coef } else { 0.0 });
        op.op().insert(insertion, None, coefs, self.inserted)?;
        self.inserted = true;
        Ok(())
    }

    /// momenta -= step times the force of what was inserted; `op` is any operator of these links.
    pub fn finish(&mut self, op: &Wilson, momenta: &mut Momenta, step: f64) -> Result<()> {
        match &self.insertion {
            Some(insertion) if self.inserted => op.clover_force(momenta, step, insertion),
            _ => Ok(()),
        }
    }
}

/// ln |det A|^2 of the sites that det P leaves: det M = det P times det A of these.
pub fn schur_log_det(op: &EvenOdd) -> Result<f64> {
    if !op.op().params().has_clover() && op.op().params().mu == 0.0 {
        return Ok(0.0);
    }
    let both = op.op().site_log_det()?;
    Ok(both.iter().zip(site_parities(op)).filter(|(_, there)| *there).map(|(v, _)| v).sum())
}

/// Whether the even and the odd sites have a determinant beside that of P.
fn site_parities(op: &EvenOdd) -> [bool; 2] {
    [0, 1].map(|parity| op.symmetric() || parity != op.parity())
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

/// X of x, or with `dagger` Y of Y_p.
fn extend(op: &EvenOdd, full: &mut SpinorField, half: &SpinorField, dagger: bool) -> Result<()> {
    copy_parity(full, half, op.parity())?;
    let call = HopCall {
        parity: 1 - op.parity(),
        dagger,
        coef: op.op().kappa(),
        site_hop: SiteTerm::Inverse,
        y: None,
    };
    op.op().hop(full, half, &call)
}
