//! Quark actions: what solvers, multigrid, forces, HMC, propagators and the C interface know of a lattice
//! Dirac operator.

use std::any::Any;
use std::sync::{Arc, Mutex, Weak};

use super::force_workspace::{ForceWorkspace, HalfTerms};
use super::site::{gamma5, Site, SiteTerm};
use super::tensor::TensorHop;
use crate::backend::{Device, Ptr};
use crate::bail;
use crate::error::Result;
use crate::fields::{
    blas, CloverField, CoarseField, GaugeField, Momenta, Precision, Recon, Subset, VectorField,
};
use crate::linop::{LinOp, Schur, SchurComplement, Shape};

/// Precision and link storage of an operator.
pub type Storage = (Precision, Recon);

/// The operator and its links: copies of an operator in other storage are the same operator, and the
/// number of the links changes whenever they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionVersion {
    pub operator: u64,
    pub links: u64,
}

/// A quark action: the operator M on vectors over the whole lattice, with its even-odd preconditioning,
/// its copies in other storage, its links, and its normalisation.
pub trait QuarkAction: LinOp {
    /// The links that M is made of.
    fn links(&self) -> &Arc<GaugeField>;
    /// The operator and the version of its links.
    fn version(&self) -> ActionVersion;
    /// Name of the operator and of whatever its kernels depend on.
    fn describe(&self) -> String;
    /// The vectors that M acts on, on the sites of a subset.
    fn subset_shape(&self, subset: Subset) -> Shape {
        Shape { subset, ..self.shape() }
    }
    /// Precision and link storage.
    fn storage(&self) -> Storage {
        (self.links().precision(), self.links().recon())
    }
    /// c in M = c D, where D is normalised as m + ... : 2 kappa for Wilson-type operators.
    fn mass_scale(&self) -> f64 {
        1.0
    }
    /// The bare mass m.
    fn mass(&self) -> f64;

    /// Even-odd preconditioning.
    ///
    /// # Errors
    /// `BadParameter`: the parity is not 0 or 1; `Unsupported`: the action has no such Schur complement.
    fn schur(self: Arc<Self>, form: Schur) -> Result<Arc<dyn SchurAction>>;
    /// The copy in other precision and link storage that all who ask for it share, brought up to date
    /// with the links of this operator.
    ///
    /// # Errors
    /// `Unsupported`: there is no such storage; `OutOfMemory`.
    fn shared_copy(&self, storage: Storage) -> Result<Arc<dyn QuarkAction>>;
    /// Bytes of such a copy with what M, or this Schur complement, takes of it.
    fn copy_bytes(&self, storage: Storage, form: Option<Schur>) -> u64;
    /// Makes what M takes of a copy that is made as it is asked for.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn keep_blocks(&self) -> Result<()> {
        Ok(())
    }
    /// An operator like this one on another device, all of its numbers zero: for rehearsals.
    fn like_on(&self, device: &Device) -> Result<Arc<dyn QuarkAction>>;
    /// Puts other links into the memory of the operator's own, and makes what is derived from them again,
    /// in the memory that it has. Nothing is done where the links are the same version as before.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice, device or group; `Unsupported`: the operator holds something that
    /// links do not determine; `SingularClover`: the operator is unusable until the next update.
    fn update(&self, links: &GaugeField) -> Result<()>;

    /// out = the hops of M's hopping term H from the other parity to `parity`, without coefficient.
    fn hop_to(
        &self,
        _out: &mut VectorField,
        _inp: &VectorField,
        _parity: usize,
        _dagger: bool,
    ) -> Result<()> {
        bail!(Unsupported, "dirac: this operator has no hopping term by itself")
    }
    /// out = coef S in on one parity for a site term S.
    fn apply_site(
        &self,
        _out: &mut VectorField,
        _inp: &VectorField,
        _parity: usize,
        _term: SiteTerm,
        _dagger: bool,
        _coef: f64,
    ) -> Result<()> {
        bail!(Unsupported, "dirac: this operator has no site term by itself")
    }
    /// Clover blocks A, or A^-1 where it does not depend on a twist.
    ///
    /// # Errors
    /// `SingularClover`, `OutOfMemory`.
    fn site_blocks(&self, _inverse: bool) -> Result<Option<Arc<CloverField>>> {
        Ok(None)
    }
    /// Is there no hop in time?
    fn within_time_slices(&self) -> bool {
        false
    }
    /// out = G in, gamma5 or of a doublet gamma5 tau1: M^dagger = G M G, of one flavour without a twisted mass.
    fn gamma5(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        gamma5(out, inp)
    }
    /// The operator as multigrid sees it.
    fn coarsenable(&self) -> Option<&dyn Coarsenable> {
        None
    }
    /// The same of an operator of two flavours.
    fn coarsenable_pair(&self) -> Option<&dyn CoarsenablePair> {
        None
    }
    /// The operator as its own type, for what one action alone has.
    fn as_any(&self) -> &dyn Any;
}

/// The Schur complement of a quark action, with what smoothers and HMC need of it.
pub trait SchurAction: SchurComplement {
    /// Parity and form.
    fn form(&self) -> Schur;
    /// The operator on the whole lattice.
    fn action(&self) -> Arc<dyn QuarkAction>;

    /// Makes what the complement takes of its operator, and keeps it as long as it lives.
    ///
    /// # Errors
    /// `SingularClover`, `OutOfMemory`.
    fn keep_blocks(&self) -> Result<()> {
        Ok(())
    }
    /// What the complement takes is made for each application, one parity at a time: for the residuals of solves that
    /// iterate in another precision.
    fn lend_blocks(&self) {}
    /// Bytes of what `keep_blocks` would make.
    fn missing_blocks(&self) -> u64 {
        0
    }

    /// out = in - S in.
    fn one_minus_schur(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let n = inp.nrhs();
        self.apply(out, inp)?;
        blas::axpby(&blas::uniform(n, 1.0), inp, &blas::uniform(n, -1.0), out)
    }
    /// r -= S x.
    fn subtract(&self, r: &mut VectorField, x: &VectorField) -> Result<()> {
        let mut t = self.shape().field(x.nrhs())?;
        self.apply(&mut t, x)?;
        blas::axpy(&blas::uniform(x.nrhs(), -1.0), &t, r)
    }

    /// ln |det A|^2 of the sites that det S leaves: det M = det S times det A of these.
    fn log_det(&self) -> Result<f64> {
        Ok(0.0)
    }
    /// momenta -= step times the force of these terms, but for the part that waits for `finish_force`.
    ///
    /// # Errors
    /// `FieldMismatch`; `Unsupported`: links in another storage than 18 or 12 numbers.
    fn add_force(
        &self,
        _work: &mut ForceWorkspace,
        _momenta: &mut Momenta,
        _step: f64,
        _terms: HalfTerms,
    ) -> Result<()> {
        bail!(Unsupported, "force: {} has none", self.action().describe())
    }
    /// Adds the force of coef [`SchurAction::log_det`], which waits for `finish_force`.
    fn add_determinant_force(&self, _work: &mut ForceWorkspace, _coef: f64) -> Result<()> {
        Ok(())
    }
    /// momenta -= step times the force of what waited, of all operators on the same links.
    fn finish_force(
        &self,
        _work: &ForceWorkspace,
        _momenta: &mut Momenta,
        _step: f64,
    ) -> Result<()> {
        Ok(())
    }
}

/// A quark action that multigrid coarsens (Clark et al., arXiv:1612.07873): M = A + hops between nearest
/// neighbours, on spinors, gamma5-hermitian but for a twist.
pub trait Coarsenable: QuarkAction {
    /// A copy of its own in other precision and link storage.
    fn own_copy(&self, storage: Storage) -> Result<Arc<dyn Coarsenable>>;
    /// A copy while the links of this operator stay as they are, whose inverse site terms live as long as a Schur complement
    /// keeps them.
    fn copy_on_demand(&self, storage: Storage) -> Result<Arc<dyn Coarsenable>>;
    /// The same operator without hops between blocks of sites.
    fn within_blocks(&self, block: [usize; 4]) -> Result<Arc<dyn Coarsenable>>;
    /// The hop of columns of right-hand sides of an operator in 16 bits, which tensor cores do where
    /// [`TensorHop::fits`] and other devices as well.
    fn tensor_hop(&self) -> Result<TensorHop>;
    /// w = the hops of M in direction mu, forward and backward, of v.
    fn hops(&self, mu: usize, w: &mut VectorField, v: &VectorField) -> Result<()>;
    /// Is there a kernel of `hop_forward` for vectors in this precision?
    fn has_hop_forward(&self, precision: Precision) -> bool;
    /// piece = the hops of M from x + mu, of the sites whose bit mu is set in `faces`.
    fn hop_forward(
        &self,
        mu: usize,
        piece: &mut CoarseField,
        faces: Ptr,
        v: &VectorField,
    ) -> Result<()>;
    /// A site term as kernels have it.
    fn site_term(&self, term: SiteTerm) -> Result<Site>;
}

/// What an operator M of two flavours has besides that of one, M_1, kappa-normalised:
/// M = (M_1 - i own gamma5) (x) 1 + i twist gamma5 tau3 + split tau1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlavourTerm {
    /// Twisted mass of M_1.
    pub own: f64,
    pub twist: f64,
    pub split: f64,
}

/// A quark action of two flavours that multigrid coarsens with the null vectors of one: P (x) 1 commutes with gamma5 and
/// with flavour (Alexandrou et al., arXiv:1801.06823).
pub trait CoarsenablePair: QuarkAction {
    /// The operator M_1 of one flavour whose null vectors both have.
    fn one_flavour(&self) -> Result<Arc<dyn Coarsenable>>;
    /// What M has besides.
    fn flavour_term(&self) -> FlavourTerm;
    /// A copy of M of its own in other precision and link storage.
    fn own_copy(&self, storage: Storage) -> Result<Arc<dyn QuarkAction>>;
}

/// The operator itself where it has this storage, else its shared copy.
pub fn in_storage(op: Arc<dyn QuarkAction>, storage: Storage) -> Result<Arc<dyn QuarkAction>> {
    match op.storage() == storage {
        true => Ok(op),
        false => op.shared_copy(storage),
    }
}

/// Copies of an operator in other storage that somebody uses.
pub(crate) struct SharedCopies<A>(Mutex<Vec<Weak<A>>>);

impl<A> Default for SharedCopies<A> {
    fn default() -> Self {
        SharedCopies(Mutex::default())
    }
}

impl<A: QuarkAction> SharedCopies<A> {
    /// The copy in this storage, after `follow`, or what `make` makes.
    pub fn get(
        &self,
        storage: Storage,
        follow: impl FnOnce(&A) -> Result<()>,
        make: impl FnOnce() -> Result<A>,
    ) -> Result<Arc<A>> {
        let mut copies = self.0.lock().unwrap_or_else(|e| e.into_inner());
        copies.retain(|copy| copy.strong_count() > 0);
        if let Some(copy) =
            copies.iter().filter_map(Weak::upgrade).find(|copy| copy.storage() == storage)
        {
            follow(&copy)?;
            return Ok(copy);
        }
        let copy = Arc::new(make()?);
        copies.push(Arc::downgrade(&copy));
        Ok(copy)
    }
}
