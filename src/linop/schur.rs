//! Even-odd preconditioning of any operator by its Schur complement.

use super::{LinOp, Shape};
use crate::error::Result;
use crate::fields::{blas, VectorField};
use crate::params::choices;

/// The form of a Schur complement of M = A + H, where p is the parity that is solved on and q the other: symmetric,
/// 1 - A_p^-1 H_pq A_q^-1 H_qp, or asymmetric, A_p - H_pq A_q^-1 H_qp (DeGrand, Rossi, Comput. Phys. Commun. 60 (1990)
/// 211; symmetric with a clover term: Jansen, Liu, hep-lat/9603008).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schur {
    pub parity: usize,
    pub symmetric: bool,
}

impl Schur {
    pub const EVEN_SYMMETRIC: Schur = Schur { parity: 0, symmetric: true };
}

impl std::fmt::Display for Schur {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        System::from(*self).fmt(f)
    }
}

choices! {
    /// The system that is solved: on the whole lattice, or by a Schur complement on one parity p, with q the other
    /// parity. The symmetric complement 1 - kappa^2 A_p^-1 H_pq A_q^-1 H_qp is the same in all normalisations; the
    /// asymmetric one is A_p - kappa^2 H_pq A_q^-1 H_qp.
    pub enum System: plaq_system {
        /// The whole lattice.
        Full = 0, PLAQ_SYSTEM_FULL, "full";
        /// The symmetric complement on even sites.
        EvenSymmetric = 1, PLAQ_SYSTEM_EVEN_SYMMETRIC, "even-symmetric";
        /// The symmetric complement on odd sites.
        OddSymmetric = 2, PLAQ_SYSTEM_ODD_SYMMETRIC, "odd-symmetric";
        /// The asymmetric complement on even sites.
        EvenAsymmetric = 3, PLAQ_SYSTEM_EVEN_ASYMMETRIC, "even-asymmetric";
        /// The asymmetric complement on odd sites.
        OddAsymmetric = 4, PLAQ_SYSTEM_ODD_ASYMMETRIC, "odd-asymmetric";
    }
}

impl System {
    /// The Schur complement of this system; `None` for the whole lattice.
    pub fn schur(self) -> Option<Schur> {
        let symmetric = matches!(self, System::EvenSymmetric | System::OddSymmetric);
        let parity = usize::from(matches!(self, System::OddSymmetric | System::OddAsymmetric));
        (self != System::Full).then_some(Schur { parity, symmetric })
    }
}

impl From<Schur> for System {
    fn from(schur: Schur) -> System {
        match (schur.parity, schur.symmetric) {
            (0, true) => System::EvenSymmetric,
            (_, true) => System::OddSymmetric,
            (0, false) => System::EvenAsymmetric,
            (_, false) => System::OddAsymmetric,
        }
    }
}

/// The Schur complement S of an operator M on the sites of one parity, for even-odd preconditioning (DeGrand, Rossi,
/// Comput. Phys. Commun. 60 (1990) 211). As an operator it applies S; the methods convert sources and solutions between
/// M and S.
pub trait SchurComplement: LinOp {
    /// Shape of the fields on which M acts.
    fn full_shape(&self) -> Shape;
    /// Computes the source of the preconditioned system from the source b of M x = b, or of M^dagger x = b if
    /// `dagger`.
    fn prepare(&self, out: &mut VectorField, b: &VectorField, dagger: bool) -> Result<()>;
    /// Computes the solution `full` of M full = b (of M^dagger full = b if `dagger`) on the whole lattice from the
    /// solution x of the preconditioned system; x may share the memory of `full` if the fields of M have both parities.
    fn reconstruct(
        &self,
        full: &mut VectorField,
        x: &VectorField,
        b: &VectorField,
        dagger: bool,
    ) -> Result<()>;
    /// Computes the residual r = b' - S x (b' - S^dagger x if `dagger`) of the preconditioned system, where b' is the
    /// result of `prepare` for b. `source` holds b' and may be overwritten; it must then be prepared again before the
    /// next residual.
    fn residual(
        &self,
        r: &mut VectorField,
        x: &VectorField,
        source: &mut VectorField,
        _b: &VectorField,
        dagger: bool,
    ) -> Result<()> {
        match dagger {
            true => self.apply_dagger(r, x)?,
            false => self.apply(r, x)?,
        }
        let n = x.nrhs();
        blas::axpby(&blas::uniform(n, 1.0), source, &blas::uniform(n, -1.0), r)
    }
    /// The reverse of `reconstruct`: computes the unknowns of the preconditioned system from a field `full` on the
    /// whole lattice; `out` may share the memory of `full`.
    fn restrict(&self, out: &mut VectorField, full: &VectorField, dagger: bool) -> Result<()>;
}

/// The source of the preconditioned system of M x = b (of M^dagger x = b if `dagger`), together with b and the Schur
/// complement, from which it can be made again.
pub(crate) struct SchurSource<'a> {
    schur: &'a dyn SchurComplement,
    dagger: bool,
    b: VectorField,
    source: VectorField,
}

impl SchurSource<'_> {
    /// The source vector of the Schur complement; `residual` may overwrite it, and it has to be made again after that.
    pub fn vector(&self) -> &VectorField {
        &self.source
    }
    /// Makes the source from b, a few right-hand sides at a time, so that temporary fields are small.
    pub fn make(&self) -> Result<()> {
        for (first, count) in self.b.parts() {
            let mut out = self.source.columns(first, count)?;
            self.schur.prepare(&mut out, &self.b.columns(first, count)?, self.dagger)?;
        }
        self.schur.free_idle();
        Ok(())
    }
    /// Computes r = source - S x, where x has the right-hand sides of the source from number `first` on.
    pub fn residual(&self, r: &mut VectorField, x: &VectorField, first: usize) -> Result<()> {
        let SchurSource { b, mut source, .. } = self.columns(first, x.nrhs())?;
        self.schur.residual(r, x, &mut source, &b, self.dagger)
    }
    /// The source of `count` right-hand sides from number `first` on, in the same memory.
    pub fn columns(&self, first: usize, count: usize) -> Result<Self> {
        let (b, source) = (self.b.columns(first, count)?, self.source.columns(first, count)?);
        Ok(SchurSource { b, source, ..*self })
    }
}

/// Solution and source of the preconditioned system during a solve of M x = b or M^dagger x = b, stored in the memory
/// of x.
pub(crate) struct SchurVectors<'a> {
    full: &'a mut VectorField,
    parity: usize,
    pub x: VectorField,
    pub source: SchurSource<'a>,
}

impl<'a> SchurVectors<'a> {
    /// Makes the preconditioned system in the memory of x; `guess`: x holds an initial guess.
    pub fn prepare(
        schur: &'a dyn SchurComplement,
        x: &'a mut VectorField,
        b: &VectorField,
        (dagger, guess): (bool, bool),
    ) -> Result<Self> {
        let parity = schur.shape().subset.list().start;
        if guess {
            schur.restrict(&mut x.alias()?, x, dagger)?;
            x.gather(parity)?;
        }
        let [half_x, source] = x.halves(parity)?;
        let source = SchurSource { schur, dagger, b: b.alias()?, source };
        source.make()?;
        Ok(SchurVectors { full: x, parity, x: half_x, source })
    }

    /// Computes the solution x on the whole lattice from that of the preconditioned system.
    pub fn reconstruct(self) -> Result<()> {
        self.full.spread(self.parity)?;
        let (own, SchurSource { schur, dagger, b, .. }) = (self.full.alias()?, self.source);
        schur.reconstruct(self.full, &own, &b, dagger)
    }
}
