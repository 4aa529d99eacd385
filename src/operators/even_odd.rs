//! Even-odd preconditioning of M = A - kappa H (DeGrand, Rossi, Comput. Phys. Commun. 60 (1990) 211; with a clover
//! term: Jansen, Liu, hep-lat/9603008): with p the parity on which the system is solved and q the other one,
//! symmetric  1 - kappa^2 A_p^-1 H_pq A_q^-1 H_qp,   asymmetric  A_p - kappa^2 H_pq A_q^-1 H_qp.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::{
    copy_parity, ForceWorkspace, HalfTerms, HopCall, HopSum, InverseOwner, QuarkAction,
    SchurAction, SiteTerm, Wilson,
};
use crate::backend::Device;
use crate::error::Result;
use crate::fields::{CloverField, Momenta, Subset, VectorField};
use crate::linop::{LinOp, Schur, SchurComplement, Shape, Temporary, Workspace};

/// A quark action M = A - kappa H, with the hops H of a Wilson operator, the same for every slice (flavour) of a
/// vector, and a site term A.
pub trait WilsonType: QuarkAction {
    /// The Wilson operator of one slice, whose links, hops and clover term M uses.
    fn wilson(&self) -> &Wilson;
    /// Computes one parity of the hopping term with site terms, and adds further terms in the same pass; `inp` must
    /// hold the other parity, `out` and the added fields this one.
    fn hop_add(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        call: &HopCall,
        sum: &HopSum,
    ) -> Result<()>;
    /// Whether this site term is the unit matrix.
    fn is_one(&self, term: SiteTerm) -> bool;
}

/// The Schur complement of a Wilson-type operator M on one parity (DeGrand, Rossi, Comput. Phys. Commun. 60 (1990)
/// 211).
pub struct EvenOdd {
    op: Arc<dyn WilsonType>,
    parity: usize,
    symmetric: bool,
    workspace: Workspace,
    /// The inverse of the clover term on even and on odd sites, if the complement owns it.
    inverse: [OnceLock<Arc<CloverField>>; 2],
    /// True if each application owns the inverse of the clover term, false if the complement does.
    by_application: AtomicBool,
}

impl EvenOdd {
    pub fn new(op: Arc<dyn WilsonType>, parity: usize, symmetric: bool) -> Self {
        EvenOdd {
            op,
            parity,
            symmetric,
            workspace: Workspace::default(),
            inverse: Default::default(),
            by_application: AtomicBool::new(false),
        }
    }
    pub(super) fn op(&self) -> &dyn WilsonType {
        &*self.op
    }
    pub(super) fn kappa(&self) -> f64 {
        self.op.wilson().kappa()
    }
    pub fn parity(&self) -> usize {
        self.parity
    }
    pub fn symmetric(&self) -> bool {
        self.symmetric
    }

    /// The inverse of the clover term on a parity, made for one application; None: the complement owns it.
    fn blocks(&self, parity: usize) -> Result<Option<Arc<CloverField>>> {
        if self.inverse[parity].get().is_some() {
            return Ok(None);
        }
        let blocks = self.op.wilson().clover_inverse(Subset::of_parity(parity))?;
        if let Some(blocks) = &blocks {
            if !self.by_application.load(Ordering::Relaxed) {
                self.inverse[parity].get_or_init(|| blocks.clone());
            }
        }
        Ok(blocks)
    }
    /// The parities on which the complement uses the inverse clover blocks.
    fn inverted(&self) -> impl Iterator<Item = usize> {
        let (parity, symmetric) = (self.parity, self.symmetric);
        (0..2).filter(move |&p| symmetric || p != parity)
    }

    fn other_shape(&self) -> Shape {
        self.op.subset_shape(Subset::of_parity(1 - self.parity))
    }

    /// The first hop of the complement, A_q^-1 H_qp, or with `dagger` of its adjoint, and a temporary field for its
    /// result.
    fn first_hop(&self, nrhs: usize, dagger: bool) -> Result<(HopCall<'static>, Temporary<'_>)> {
        let (parity, site_hop) = (1 - self.parity, SiteTerm::Inverse);
        let call = HopCall { parity, dagger, coef: 1.0, site_hop, y: None };
        Ok((call, self.workspace.field(&self.other_shape(), nrhs)?))
    }

    /// Computes out = own out + y + in - S in for the symmetric complement S.
    fn add_one_minus_schur(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        y: Option<(&VectorField, f64, SiteTerm)>,
        own: f64,
    ) -> Result<()> {
        let (parity, coef, site_hop) = (self.parity, self.kappa().powi(2), SiteTerm::Inverse);
        let (first, mut t) = self.first_hop(inp.nrhs(), false)?;
        self.hop(&mut t, inp, &first, &HopSum::default())?;
        let call = HopCall { parity, dagger: false, coef, site_hop, y };
        self.hop(out, &t, &call, &HopSum { z: None, own })
    }

    /// Calls [`WilsonType::hop_add`] with the clover blocks of an inverse site term.
    pub(super) fn hop(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        call: &HopCall,
        sum: &HopSum,
    ) -> Result<()> {
        let _blocks = match call.site_hop {
            SiteTerm::Inverse => self.blocks(call.parity)?,
            _ => None,
        };
        self.op.hop_add(out, inp, call, sum)
    }

    /// Computes the solution on the parity q that the complement leaves out, x_q = A_q^-1 (b_q + kappa H_qp x_p).
    fn solve_other(
        &self,
        out: &mut VectorField,
        x: &VectorField,
        b: &VectorField,
        dagger: bool,
    ) -> Result<()> {
        let site_hop = SiteTerm::Inverse;
        let (y, coef) = (Some((b, 1.0, site_hop)), self.kappa());
        let call = HopCall { parity: 1 - self.parity, dagger, coef, site_hop, y };
        self.hop(out, x, &call, &HopSum::default())
    }

    /// Computes out = A^-1 in, or with the adjoint of A^-1, on one parity; out may be in.
    pub(super) fn apply_inverse(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        parity: usize,
        dagger: bool,
    ) -> Result<()> {
        let _blocks = self.blocks(parity)?;
        self.op.apply_site(out, inp, parity, SiteTerm::Inverse, dagger, 1.0)
    }
}

impl SchurAction for EvenOdd {
    fn form(&self) -> Schur {
        Schur { parity: self.parity, symmetric: self.symmetric }
    }
    fn action(&self) -> Arc<dyn QuarkAction> {
        self.op.clone()
    }
    fn set_inverse_owner(&self, owner: InverseOwner) -> Result<()> {
        self.by_application.store(owner == InverseOwner::Application, Ordering::Relaxed);
        if owner == InverseOwner::Application {
            return Ok(());
        }
        if !self.symmetric {
            self.op.wilson().direct(Subset::of_parity(self.parity))?;
        }
        self.inverted().try_for_each(|parity| self.blocks(parity).map(|_| ()))
    }
    fn inverse_bytes(&self) -> u64 {
        self.op.wilson().missing_inverse(self.inverted())
    }
    fn one_minus_schur(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.add_one_minus_schur(out, inp, None, 0.0)
    }
    fn subtract(&self, r: &mut VectorField, x: &VectorField) -> Result<()> {
        self.add_one_minus_schur(r, x, Some((x, -1.0, SiteTerm::One)), 1.0)
    }
    fn log_det(&self) -> Result<f64> {
        self.site_log_det()
    }
    fn add_force(
        &self,
        work: &mut ForceWorkspace,
        momenta: &mut Momenta,
        step: f64,
        terms: HalfTerms,
    ) -> Result<()> {
        self.force_terms(work, momenta, step, terms)
    }
    fn add_determinant_force(&self, work: &mut ForceWorkspace, coef: f64) -> Result<()> {
        self.determinant_terms(work, coef)
    }
    fn finish_force(&self, work: &ForceWorkspace, momenta: &mut Momenta, step: f64) -> Result<()> {
        self.finish(work, momenta, step)
    }
}

impl SchurComplement for EvenOdd {
    fn full_shape(&self) -> Shape {
        self.op.shape()
    }

    /// Computes the source S (b_p + kappa H_pq A_q^-1 b_q) with S = A_p^-1 if symmetric, else 1. For M^dagger x = b
    /// the complement is the adjoint of the asymmetric one: every factor is replaced by its adjoint, and S = 1.
    fn prepare(&self, out: &mut VectorField, b: &VectorField, dagger: bool) -> Result<()> {
        let (p, q) = (self.parity, 1 - self.parity);
        let site_hop = match self.symmetric && !dagger {
            true => SiteTerm::Inverse,
            false => SiteTerm::One,
        };
        let y = Some((b, 1.0, site_hop));
        let t = &mut *self.workspace.field(&self.other_shape(), b.nrhs())?;
        self.apply_inverse(t, b, q, dagger)?;
        let call = HopCall { parity: p, dagger, coef: self.kappa(), site_hop, y };
        self.hop(out, t, &call, &HopSum::default())
    }

    /// Computes x_q = A_q^-1 (b_q + kappa H_qp x_p). For M^dagger x = b with the symmetric complement, the solution
    /// of its system is A_p^dagger x_p.
    fn reconstruct(
        &self,
        full: &mut VectorField,
        x: &VectorField,
        b: &VectorField,
        dagger: bool,
    ) -> Result<()> {
        if self.symmetric && dagger {
            self.apply_inverse(full, x, self.parity, true)?;
        } else {
            copy_parity(full, x, self.parity)?;
        }
        let own = full.alias()?;
        self.solve_other(full, &own, b, dagger)
    }

    /// Computes the residual of M x = b on p times S, S (b_p + kappa H_pq x_q) - S A_p x_p, where x_q is that of
    /// `reconstruct`, for which the residual on q is 0. x_q is stored in the memory of the source.
    fn residual(
        &self,
        r: &mut VectorField,
        x: &VectorField,
        source: &mut VectorField,
        b: &VectorField,
        dagger: bool,
    ) -> Result<()> {
        let (p, one) = (self.parity, SiteTerm::One);
        let mut other = source.of_parity(1 - p)?;
        let (site_hop, y, z) = match (self.symmetric, dagger) {
            (true, false) => (SiteTerm::Inverse, (b, 1.0, SiteTerm::Inverse), (x, -1.0)),
            (true, true) => (one, (b, 1.0, one), (x, -1.0)),
            (false, _) => (one, (x, -1.0, SiteTerm::Direct), (b, 1.0)),
        };
        if self.symmetric && dagger {
            self.apply_inverse(r, x, p, true)?;
            self.solve_other(&mut other, r, b, dagger)?;
        } else {
            self.solve_other(&mut other, x, b, dagger)?;
        }
        let call = HopCall { parity: p, dagger, coef: self.kappa(), site_hop, y: Some(y) };
        self.hop(r, &other, &call, &HopSum { z: Some(z), own: 0.0 })
    }

    fn restrict(&self, out: &mut VectorField, full: &VectorField, dagger: bool) -> Result<()> {
        if self.symmetric && dagger {
            self.op.apply_site(out, full, self.parity, SiteTerm::Direct, true, 1.0)
        } else {
            copy_parity(out, full, self.parity)
        }
    }
}

impl LinOp for EvenOdd {
    fn shape(&self) -> Shape {
        self.op.subset_shape(Subset::of_parity(self.parity))
    }
    fn free_idle(&self) {
        self.workspace.clear();
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let (site_hop, site) = match self.symmetric {
            true => (SiteTerm::Inverse, SiteTerm::One),
            false => (SiteTerm::One, SiteTerm::Direct),
        };
        let (parity, coef, y) = (self.parity, -self.kappa().powi(2), Some((inp, 1.0, site)));
        let (first, mut t) = self.first_hop(inp.nrhs(), false)?;
        self.hop(&mut t, inp, &first, &HopSum::default())?;
        let call = HopCall { parity, dagger: false, coef, site_hop, y };
        self.hop(out, &t, &call, &HopSum::default())
    }
    /// Applies the adjoint: A_p^dagger - kappa^2 H^dagger A_q^-dagger H^dagger; for the symmetric complement 1 -
    /// kappa^2 H^dagger A_q^-dagger H^dagger A_p^-dagger.
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let inverse = match self.symmetric && !self.op.is_one(SiteTerm::Inverse) {
            true => {
                let mut s = self.workspace.field(&self.shape(), inp.nrhs())?;
                self.apply_inverse(&mut s, inp, self.parity, true)?;
                Some(s)
            }
            false => None,
        };
        let site = if self.symmetric { SiteTerm::One } else { SiteTerm::Direct };
        let (parity, coef, y) = (self.parity, -self.kappa().powi(2), Some((inp, 1.0, site)));
        let (first, mut t) = self.first_hop(inp.nrhs(), true)?;
        self.hop(&mut t, inverse.as_deref().unwrap_or(inp), &first, &HopSum::default())?;
        let call = HopCall { parity, dagger: true, coef, site_hop: SiteTerm::One, y };
        self.hop(out, &t, &call, &HopSum::default())
    }
    fn flops(&self) -> f64 {
        let (wilson, slices) = (self.op.wilson(), self.shape().components.slices);
        slices as f64 * (wilson.hop_flops(true, false) + wilson.hop_flops(true, true))
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let (wilson, n) = (self.op.wilson(), nrhs * self.shape().components.slices);
        wilson.hop_bytes(true, false, n) + wilson.hop_bytes(true, true, n)
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        let like = self.action().like_on(device)?.schur(self.form())?;
        like.set_inverse_owner(match self.by_application.load(Ordering::Relaxed) {
            true => InverseOwner::Application,
            false => InverseOwner::Complement,
        })?;
        Ok(like)
    }
}
