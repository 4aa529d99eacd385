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

/// Precision and link storage that an operator computes in.
pub type Storage = (Precision, Recon);

/// Identifies an operator with its links: copies of an operator in other storage have the same number, and the
/// version of the links changes whenever they do.
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
    /// Name of the operator together with everything that its kernels depend on.
    fn describe(&self) -> String;
    /// Shape of the vectors that M acts on, restricted to the sites of a subset.
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

    /// The Schur complement of M on one parity, in this form.
    ///
    /// # Errors
    /// `BadParameter`: the parity is not 0 or 1; `Unsupported`: the action has no such Schur complement.
    fn schur(self: Arc<Self>, form: Schur) -> Result<Arc<dyn SchurAction>>;
    /// A copy in other precision and link storage, shared by all who ask for it and brought up to date with the links
    /// of this operator.
    ///
    /// # Errors
    /// `Unsupported`: there is no such storage; `OutOfMemory`.
    fn shared_copy(&self, storage: Storage) -> Result<Arc<dyn QuarkAction>>;
    /// Bytes of a copy in this storage, with what M or the Schur complement `form` needs of it.
    fn copy_bytes(&self, storage: Storage, form: Option<Schur>) -> u64;
    /// Makes the clover term of a copy, of which it is made when it is asked for.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn make_clover(&self) -> Result<()> {
        Ok(())
    }
    /// An operator like this one on another device, all of its numbers zero: for rehearsals.
    fn like_on(&self, device: &Device) -> Result<Arc<dyn QuarkAction>>;
    /// Replaces the links by `links` in the operator's own memory and makes again what is derived from them. Nothing
    /// happens where the links have the version that they had before.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice, device or group; `Unsupported`: the operator holds something that
    /// links do not determine; `SingularClover`: the operator is unusable until the next update.
    fn update(&self, links: &GaugeField) -> Result<()>;

    /// out = H in, the sum of M's hops from the other parity to `parity`, without a coefficient.
    fn hop_to(
        &self,
        _out: &mut VectorField,
        _inp: &VectorField,
        _parity: usize,
        _dagger: bool,
    ) -> Result<()> {
        bail!(Unsupported, "dirac: this operator has no hopping term by itself")
    }
    /// out = coef S in on one parity, where S is a site term.
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
    /// The clover blocks A, or those of A^-1 with `inverse` where it does not depend on a twist.
    ///
    /// # Errors
    /// `SingularClover`, `OutOfMemory`.
    fn site_blocks(&self, _inverse: bool) -> Result<Option<Arc<CloverField>>> {
        Ok(None)
    }
    /// Whether M has no hop in time.
    fn within_time_slices(&self) -> bool {
        false
    }
    /// out = G in, where G is gamma5, or gamma5 tau1 for a doublet: M^dagger = G M G (with one flavour, if there is
    /// no twisted mass).
    fn gamma5(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        gamma5(out, inp)
    }
    /// This operator as multigrid coarsens it; `None` if it cannot.
    fn coarsenable(&self) -> Option<&dyn Coarsenable> {
        None
    }
    /// This operator of two flavours as multigrid coarsens it; `None` if it cannot.
    fn coarsenable_pair(&self) -> Option<&dyn CoarsenablePair> {
        None
    }
    /// The operator as its own type, for functions that one action alone has.
    fn as_any(&self) -> &dyn Any;
}

/// The owner of the inverse of the clover term of a Schur complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InverseOwner {
    /// The complement owns it: the inverse is made now and lives as long as the complement.
    Complement,
    /// Each application owns it and makes it for one parity at a time, unless another owner has it already. This is for
    /// residuals of solves that iterate in another precision.
    Application,
}

/// The Schur complement S of a quark action, with what smoothers and hybrid Monte Carlo need of it.
pub trait SchurAction: SchurComplement {
    /// Parity and form of the complement.
    fn form(&self) -> Schur;
    /// The operator on the whole lattice.
    fn action(&self) -> Arc<dyn QuarkAction>;

    /// Says who owns the inverse of the clover term that the complement needs. Before it is said, the complement owns what its
    /// first application makes.
    ///
    /// # Errors
    /// `SingularClover`, `OutOfMemory`.
    fn set_inverse_owner(&self, _owner: InverseOwner) -> Result<()> {
        Ok(())
    }
    /// Bytes of the inverse of the clover term that nobody owns yet.
    fn inverse_bytes(&self) -> u64 {
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

    /// ln |det A|^2 of those sites that det S leaves out: det M = det S times det A of these.
    fn log_det(&self) -> Result<f64> {
        Ok(0.0)
    }
    /// momenta -= step times the force of these terms, except for the clover term's part, which waits for
    /// `finish_force`.
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
    /// Adds the force of coef times [`SchurAction::log_det`]; it waits for `finish_force`.
    fn add_determinant_force(&self, _work: &mut ForceWorkspace, _coef: f64) -> Result<()> {
        Ok(())
    }
    /// momenta -= step times the force that waits, of all operators on the same links.
    fn finish_force(
        &self,
        _work: &ForceWorkspace,
        _momenta: &mut Momenta,
        _step: f64,
    ) -> Result<()> {
        Ok(())
    }
}

/// A quark action that multigrid coarsens (Clark et al., arXiv:1612.07873, section 3.4): M = A + hops between nearest
/// neighbours, on spinors, gamma5-hermitian except for a twist.
pub trait Coarsenable: QuarkAction {
    /// A copy in other precision and link storage that belongs to the caller alone.
    fn own_copy(&self, storage: Storage) -> Result<Arc<dyn Coarsenable>>;
    /// A copy that is valid while the links of this operator stay as they are; its inverse site terms live as long as
    /// a Schur complement keeps them.
    fn copy_on_demand(&self, storage: Storage) -> Result<Arc<dyn Coarsenable>>;
    /// This operator without the hops between blocks of sites, as Schwarz's method needs it.
    fn within_blocks(&self, block: [usize; 4]) -> Result<Arc<dyn Coarsenable>>;
    /// 1 - S on columns of right-hand sides in half precision for an operator in 16 bits, where [`TensorHop::fits`];
    /// GPUs with tensor cores use them.
    fn tensor_hop(&self) -> Result<TensorHop>;
    /// w = the hops of M in direction mu, forward and backward, applied to v.
    fn hops(&self, mu: usize, w: &mut VectorField, v: &VectorField) -> Result<()>;
    /// Whether there is a kernel for `hop_forward` on vectors in this precision.
    fn has_hop_forward(&self, precision: Precision) -> bool;
    /// piece = the hops of M from x + mu, on those sites whose bit mu is set in `faces`.
    fn hop_forward(
        &self,
        mu: usize,
        piece: &mut CoarseField,
        faces: Ptr,
        v: &VectorField,
    ) -> Result<()>;
    /// A site term as kernels take it.
    fn site_term(&self, term: SiteTerm) -> Result<Site>;
}

/// How an operator M of two flavours differs from its operator M_1 of one flavour, kappa-normalised: M = (M_1 - i own
/// gamma5) (x) 1 + i twist gamma5 tau3 + split tau1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlavourTerm {
    /// Twisted mass that M_1 has of its own.
    pub own: f64,
    pub twist: f64,
    pub split: f64,
}

/// A quark action of two flavours that multigrid coarsens with the null vectors of one: P (x) 1 commutes with gamma5 and
/// with flavour (Alexandrou et al., arXiv:1801.06823).
pub trait CoarsenablePair: QuarkAction {
    /// The operator M_1 of one flavour whose null vectors serve both.
    fn one_flavour(&self) -> Result<Arc<dyn Coarsenable>>;
    /// The difference between M and the operator M_1 of one flavour.
    fn flavour_term(&self) -> FlavourTerm;
    /// A copy of M in other precision and link storage that belongs to the caller alone.
    fn own_copy(&self, storage: Storage) -> Result<Arc<dyn QuarkAction>>;
}

/// The operator itself if it has this storage, else its shared copy.
pub fn in_storage(op: Arc<dyn QuarkAction>, storage: Storage) -> Result<Arc<dyn QuarkAction>> {
    match op.storage() == storage {
        true => Ok(op),
        false => op.shared_copy(storage),
    }
}

/// The copies of an operator in other storage that are in use.
pub(crate) struct SharedCopies<A>(Mutex<Vec<Weak<A>>>);

impl<A> Default for SharedCopies<A> {
    fn default() -> Self {
        SharedCopies(Mutex::default())
    }
}

impl<A: QuarkAction> SharedCopies<A> {
    /// The copy in this storage after `follow` has brought it up to date, or a new one by `make`.
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
