//! Quark actions: the interface of a lattice Dirac operator towards solvers, multigrid, forces, HMC, propagators and
//! C.

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
use crate::params::Key;

/// Precision and link storage in which an operator computes.
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
    /// The links from which M is made.
    fn links(&self) -> &Arc<GaugeField>;
    /// Identifies the operator and the present version of its links.
    fn version(&self) -> ActionVersion;
    /// The operator's kind, lattice, storage and terms in words, for messages and files.
    fn describe(&self) -> String;
    /// Key of the properties on which the choice of kernels depends: which terms the operator has, but not the values
    /// of masses and coefficients.
    fn key(&self) -> Key;
    /// Shape of the vectors to which M is applied, restricted to the sites of a subset.
    fn subset_shape(&self, subset: Subset) -> Shape {
        Shape { subset, ..self.shape() }
    }
    /// Precision and link storage of the operator.
    fn storage(&self) -> Storage {
        (self.links().precision(), self.links().recon())
    }
    /// The number c in M = c D, where D is in mass normalisation, D = m + ...: 2 kappa for Wilson-type operators.
    fn mass_scale(&self) -> f64 {
        1.0
    }
    /// The bare mass m in D.
    fn mass(&self) -> f64;

    /// The Schur complement of M with this form and parity.
    ///
    /// # Errors
    /// `BadParameter`: the parity is not 0 or 1; `Unsupported`: the action has no such Schur complement.
    fn schur(self: Arc<Self>, form: Schur) -> Result<Arc<dyn SchurAction>>;
    /// A copy in another precision and link storage, updated to the present links of this operator. All callers share
    /// the same copy.
    ///
    /// # Errors
    /// `Unsupported`: there is no such storage; `OutOfMemory`.
    fn shared_copy(&self, storage: Storage) -> Result<Arc<dyn QuarkAction>>;
    /// Bytes of a copy in this storage, with the parts that are needed for M, or for the Schur complement `form`.
    fn copy_bytes(&self, storage: Storage, form: Option<Schur>) -> u64;
    /// Makes the clover term of a copy now; otherwise a copy makes it when it is first used.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn make_clover(&self) -> Result<()> {
        Ok(())
    }
    /// An operator with the same parameters on another device, with all numbers zero; for rehearsals.
    fn like_on(&self, device: &Device) -> Result<Arc<dyn QuarkAction>>;
    /// Replaces the links by `links`, in the operator's own memory, and makes everything again that is derived from
    /// them. Nothing happens if these links, in this version, were set before.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice, device or group; `Unsupported`: the operator holds something that
    /// links do not determine; `SingularClover`: the operator is unusable until the next update.
    fn update(&self, links: &GaugeField) -> Result<()>;

    /// Computes out = H in, the sum of M's hops from the other parity to `parity`, without a coefficient.
    fn hop_to(
        &self,
        _out: &mut VectorField,
        _inp: &VectorField,
        _parity: usize,
        _dagger: bool,
    ) -> Result<()> {
        bail!(Unsupported, "dirac: this operator has no hopping term by itself")
    }
    /// Computes out = coef S in on one parity, where S is a site term: 1, A or A^-1.
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
    /// The clover blocks A or, with `inverse`, those of A^-1 if the inverse does not depend on a twisted mass;
    /// `None`: there is no such field.
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
    /// Computes out = G in, where G is gamma5, or gamma5 tau1 for a doublet: M^dagger = G M G (for one flavour, if
    /// there is no twisted mass).
    fn gamma5(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        gamma5(out, inp)
    }
    /// This operator as one of a single flavour that multigrid can coarsen; `None` if it is not.
    fn coarsenable(&self) -> Option<&dyn Coarsenable> {
        None
    }
    /// This operator as one of two flavours that multigrid can coarsen; `None` if it is not.
    fn coarsenable_pair(&self) -> Option<&dyn CoarsenablePair> {
        None
    }
    /// The operator for a downcast to its own type, for functions that only one action has.
    fn as_any(&self) -> &dyn Any;
}

/// The owner of the inverse of a Schur complement's clover term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InverseOwner {
    /// The complement owns the inverse: it is made at once and kept as long as the complement.
    Complement,
    /// Each application makes the inverse for one parity at a time and drops it, unless another owner has it already.
    /// Suited to residuals of solves that iterate in another precision.
    Application,
}

/// The Schur complement S of a quark action, with the operations that smoothers and hybrid Monte Carlo need.
pub trait SchurAction: SchurComplement {
    /// Parity and form of the complement.
    fn form(&self) -> Schur;
    /// The operator on the whole lattice.
    fn action(&self) -> Arc<dyn QuarkAction>;

    /// Sets who owns the inverse of the clover term. If it was never set, the complement keeps the inverse that its
    /// first application makes.
    ///
    /// # Errors
    /// `SingularClover`, `OutOfMemory`.
    fn set_inverse_owner(&self, _owner: InverseOwner) -> Result<()> {
        Ok(())
    }
    /// Bytes of the inverse of the clover term, as far as it does not exist yet.
    fn inverse_bytes(&self) -> u64 {
        0
    }

    /// Computes out = in - S in, where S is this complement.
    fn one_minus_schur(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let n = inp.nrhs();
        self.apply(out, inp)?;
        blas::axpby(&blas::uniform(n, 1.0), inp, &blas::uniform(n, -1.0), out)
    }
    /// Computes r -= S x, where S is this complement.
    fn subtract(&self, r: &mut VectorField, x: &VectorField) -> Result<()> {
        let mut t = self.shape().field(x.nrhs())?;
        self.apply(&mut t, x)?;
        blas::axpy(&blas::uniform(x.nrhs(), -1.0), &t, r)
    }

    /// ln |det A|^2 of the sites that det S does not include: det M = det S times det A of these sites.
    fn log_det(&self) -> Result<f64> {
        Ok(0.0)
    }
    /// Computes momenta -= step times the force of these terms. The clover term's part is collected in the workspace
    /// and added by `finish_force`.
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
    /// Collects the force of coef times [`SchurAction::log_det`] in the workspace; `finish_force` adds it.
    fn add_determinant_force(&self, _work: &mut ForceWorkspace, _coef: f64) -> Result<()> {
        Ok(())
    }
    /// Computes momenta -= step times the force that is collected in the workspace, of all operators on the same
    /// links.
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
/// neighbours, where A is a site term. It acts on spinors and is gamma5-hermitian up to the sign of a twisted mass.
pub trait Coarsenable: QuarkAction {
    /// A copy in another precision and link storage that is not shared.
    fn own_copy(&self, storage: Storage) -> Result<Arc<dyn Coarsenable>>;
    /// A copy that can be used as long as the links of this operator do not change. Its inverse site terms exist only
    /// while a Schur complement uses them.
    fn copy_on_demand(&self, storage: Storage) -> Result<Arc<dyn Coarsenable>>;
    /// This operator without hops between blocks of sites, for Schwarz's procedure.
    fn within_blocks(&self, block: [usize; 4]) -> Result<Arc<dyn Coarsenable>>;
    /// The operator 1 - S on columns of right-hand sides in half precision, made from an operator in 16 bits, for
    /// GPUs with tensor cores; only where [`TensorHop::fits`].
    fn tensor_hop(&self) -> Result<TensorHop>;
    /// Computes w = the hops of M in direction mu, forward and backward, applied to v.
    fn hops(&self, mu: usize, w: &mut VectorField, v: &VectorField) -> Result<()>;
    /// Whether there is a kernel for `hop_forward` on vectors in this precision.
    fn has_hop_forward(&self, precision: Precision) -> bool;
    /// Computes the hops of M from x + mu on those sites whose bit mu is set in `faces`.
    fn hop_forward(
        &self,
        mu: usize,
        piece: &mut CoarseField,
        faces: Ptr,
        v: &VectorField,
    ) -> Result<()>;
    /// A site term in the form that kernels take.
    fn site_term(&self, term: SiteTerm) -> Result<Site>;
}

/// The difference of an operator M of two flavours from its operator M_1 of one flavour, kappa-normalised: M = (M_1 -
/// i own gamma5) (x) 1 + i twist gamma5 tau3 + split tau1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlavourTerm {
    /// Twisted mass that M_1 contains already.
    pub own: f64,
    pub twist: f64,
    pub split: f64,
}

/// A quark action of two flavours that multigrid coarsens with the null vectors of one flavour: the prolongator P of
/// one flavour, as P (x) 1, commutes with gamma5 and with rotations of flavour (Alexandrou et al., arXiv:1801.06823).
pub trait CoarsenablePair: QuarkAction {
    /// The operator M_1 of one flavour, whose null vectors are used for both flavours.
    fn one_flavour(&self) -> Result<Arc<dyn Coarsenable>>;
    /// The difference between M and the operator M_1 of one flavour.
    fn flavour_term(&self) -> FlavourTerm;
    /// A copy of M in another precision and link storage that is not shared.
    fn own_copy(&self, storage: Storage) -> Result<Arc<dyn QuarkAction>>;
}

/// The operator itself if it has this storage, else its shared copy.
pub fn in_storage(op: Arc<dyn QuarkAction>, storage: Storage) -> Result<Arc<dyn QuarkAction>> {
    match op.storage() == storage {
        true => Ok(op),
        false => op.shared_copy(storage),
    }
}

/// The copies of an operator in other storages that are still in use.
pub(crate) struct SharedCopies<A>(Mutex<Vec<Weak<A>>>);

impl<A> Default for SharedCopies<A> {
    fn default() -> Self {
        SharedCopies(Mutex::default())
    }
}

impl<A: QuarkAction> SharedCopies<A> {
    /// The copy in this storage, updated by `follow`, or a new one made by `make`.
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
