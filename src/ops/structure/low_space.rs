//! Low modes of a quark as spaces with approximate inverses L = P D_c^-1 R of M, D_c = R M P: the coarse levels of
//! multigrid, or vectors such as eigenvectors. Traces and correlators are sums over levels of differences of these,
//! which is an identity for any P and R (Frommer, Khalil, Ramirez-Hidalgo, SIAM J. Sci. Comput. 44 (2022) A2536).

use std::ops::Range;
use std::sync::Arc;

use num_complex::Complex64;

use crate::compose::multigrid::{CoarseSpaces, Multigrid};
use crate::compose::{DiracSolver, Normalisation};
use crate::error::{host_array, Result};
use crate::fields::{blas, CoarseField, Noise, Precision, SpinorField, Subset, VectorSet};
use crate::operators::{ActionVersion, QuarkAction};
use crate::ops::links_mark::check_configuration;
use crate::ops::propagator::propagates;
use crate::refuse;
use crate::solvers::dense;

/// Largest number of low modes.
const MAX_LOW_MODES: usize = 8192;
/// Number of modes to which M is applied together.
const MODE_BLOCK: usize = 8;

/// Spaces of low modes of a quark, in the normalisation of its solver.
pub struct LowSpace {
    op: Arc<dyn QuarkAction>,
    /// The number 1 / c, where the solver's M is c times the operator's own.
    factor: f64,
    kind: Kind,
    tol: f64,
}

enum Kind {
    Coarse(CoarseSpaces),
    Vectors(Vectors),
}

/// A space of vectors V, P = V and R = V^dagger gamma5, for which D_c is a matrix; for eigenvectors of gamma5 D it is
/// diagonal with their eigenvalues.
struct Vectors {
    vectors: Arc<VectorSet>,
    /// The matrix (V^dagger gamma5 M V)^-1, row by row.
    inverse: Vec<Complex64>,
    version: ActionVersion,
}

/// Vectors of one level of a [`LowSpace`].
pub enum LowVectors {
    Coarse(CoarseField),
    /// Coefficients [vector of the space][column], and the number of columns.
    Numbers(Vec<Complex64>, usize),
}

impl LowVectors {
    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            LowVectors::Coarse(field) => field.nrhs(),
            LowVectors::Numbers(_, n) => *n,
        }
    }
}

/// A product of inverses as a pair of spinors: the right side, and the left side as in [`LowSpace::left`], if that is
/// different.
pub struct Product {
    left: Option<SpinorField>,
    pub right: SpinorField,
}

impl Product {
    pub fn left(&self) -> &SpinorField {
        self.left.as_ref().unwrap_or(&self.right)
    }
}

/// Report on solves on a level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LowSolve {
    pub iterations: usize,
    /// Largest relative residual of the solves.
    pub residual: f64,
    pub converged: bool,
}

impl LowSpace {
    fn of(solver: &DiracSolver, tol: f64) -> Result<(Arc<dyn QuarkAction>, f64)> {
        let op = solver.op();
        if !propagates(&**op) || op.storage().0 == Precision::F16 {
            refuse!(
                Unsupported,
                "solver",
                expected("an operator on spinors in single or double precision"),
                found("{}", op.describe())
            );
        }
        if !(tol > 0.0 && tol < 1.0) {
            refuse!(
                InvalidArgument,
                "tol",
                expected("a number above 0 and below 1"),
                found("{tol}")
            );
        }
        Ok((op.clone(), factor(solver)))
    }

    /// The spaces of the first `levels` coarse levels of a hierarchy; 0: of all levels that are distributed over all
    /// ranks. Systems of coarse levels are solved to the relative residual `tol`, which must be well below the noise.
    ///
    /// # Errors
    /// `InvalidArgument`: `tol` out of range; `Unsupported`: an operator without spinors, or in half precision;
    /// `FieldMismatch`: the hierarchy of another configuration; errors of [`CoarseSpaces::new`].
    pub fn of_multigrid(
        solver: &DiracSolver,
        multigrid: &Multigrid,
        levels: usize,
        tol: f64,
    ) -> Result<LowSpace> {
        let (op, factor) = LowSpace::of(solver, tol)?;
        multigrid.check(&*op)?;
        multigrid.check_links(&*op)?;
        check_configuration(op.links(), "solver", &multigrid.links(), "multigrid")?;
        let kind = Kind::Coarse(CoarseSpaces::new(multigrid, &*op, levels)?);
        Ok(LowSpace { op, factor, kind, tol })
    }

    /// Largest number of bytes of device memory that making spaces of a hierarchy, and then applying L to twelve
    /// columns, takes.
    ///
    /// # Errors
    /// Errors of [`LowSpace::of_multigrid`].
    pub fn memory(solver: &DiracSolver, multigrid: &Multigrid, levels: usize) -> Result<u64> {
        let (op, _) = LowSpace::of(solver, 0.5)?;
        CoarseSpaces::memory(multigrid, &*op, levels)
    }

    /// The space of orthonormal vectors on the full lattice, such as eigenvectors of D^dagger D.
    ///
    /// # Errors
    /// `FieldMismatch`: vectors of another lattice or precision than the operator; `InvalidArgument`: too many vectors,
    /// or V^dagger gamma5 M V has no inverse.
    pub fn of_vectors(solver: &DiracSolver, vectors: Arc<VectorSet>) -> Result<LowSpace> {
        let (op, factor) = LowSpace::of(solver, 0.5)?;
        let k = vectors.count();
        if vectors.first().subset() != Subset::Full {
            refuse!(
                FieldMismatch,
                "vectors",
                expected("vectors on the full lattice"),
                found("{:?}", vectors.first().subset())
            );
        }
        let one = vectors.first().columns(0, 1)?;
        op.shape().check(&one, "vectors")?;
        if k > MAX_LOW_MODES {
            refuse!(InvalidArgument, "vectors", expected("at most {MAX_LOW_MODES}"), found("{k}"));
        }
        let mut matrix = host_array(k * k, Complex64::ZERO, "the operator in a space")?;
        for first in (0..k).step_by(MODE_BLOCK) {
            let n = MODE_BLOCK.min(k - first);
            let v = vectors.get(first, n)?;
            let (mut image, mut times_gamma5) = (op.shape().field(n)?, op.shape().field(n)?);
            op.apply(&mut image, &v)?;
            op.gamma5(&mut times_gamma5, &image)?;
            for (row, dots) in vectors.dots(0..k, &times_gamma5, 0..n)?.chunks(n).enumerate() {
                matrix[row * k + first..row * k + first + n].copy_from_slice(dots);
            }
        }
        let Some(inverse) = dense::inverse(&matrix, k) else {
            refuse!(
                InvalidArgument,
                "vectors",
                expected("independent vectors, in whose space the operator has an inverse")
            );
        };
        let version = op.version();
        let kind = Kind::Vectors(Vectors { vectors, inverse, version });
        Ok(LowSpace { op, factor, kind, tol: 0.5 })
    }

    /// A space with the same P and R for the operator of another solver.
    ///
    /// # Errors
    /// Errors of [`CoarseSpaces::of_other`] and [`LowSpace::of_vectors`].
    pub fn of_other(&self, solver: &DiracSolver) -> Result<LowSpace> {
        match &self.kind {
            Kind::Coarse(spaces) => {
                let (op, factor) = LowSpace::of(solver, self.tol)?;
                let kind = Kind::Coarse(spaces.of_other(&*op)?);
                Ok(LowSpace { op, factor, kind, tol: self.tol })
            }
            Kind::Vectors(v) => LowSpace::of_vectors(solver, v.vectors.clone()),
        }
    }

    /// Refuses a solver of another operator, other links or another normalisation than those of the spaces.
    ///
    /// # Errors
    /// `FieldMismatch`.
    pub fn check(&self, solver: &DiracSolver) -> Result<()> {
        let same = match &self.kind {
            Kind::Coarse(spaces) => spaces.check(&**solver.op()).is_ok(),
            Kind::Vectors(v) => v.version == solver.op().version(),
        };
        if !same || factor(solver) != self.factor {
            refuse!(
                FieldMismatch,
                "space",
                expected(
                    "one that was made for this operator, with its present links and normalisation"
                )
            );
        }
        Ok(())
    }

    pub fn op(&self) -> &Arc<dyn QuarkAction> {
        &self.op
    }
    pub fn tol(&self) -> f64 {
        self.tol
    }
    /// Number of levels; level 0 is the lattice itself.
    pub fn levels(&self) -> usize {
        match &self.kind {
            Kind::Coarse(spaces) => spaces.count(),
            Kind::Vectors(_) => 1,
        }
    }
    /// Whether the inverse of the last level is a known matrix, so that its trace takes no solves.
    pub fn has_inverse(&self) -> bool {
        matches!(self.kind, Kind::Vectors(_))
    }
    /// Dimension of a level's space, over all ranks.
    pub fn unknowns(&self, level: usize) -> usize {
        match &self.kind {
            Kind::Coarse(spaces) => spaces.unknowns(level),
            Kind::Vectors(v) => v.vectors.count(),
        }
    }
    /// Extents of a coarse level; for vectors 1 in each direction.
    pub fn extents(&self, level: usize) -> [usize; 4] {
        match &self.kind {
            Kind::Coarse(spaces) => spaces.extents(level),
            Kind::Vectors(_) => [1; 4],
        }
    }

    /// Coordinate vectors `first` to `first + count` of a level.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn units(&self, level: usize, first: usize, count: usize) -> Result<LowVectors> {
        let one = |place: usize, column: usize| match place == first + column {
            true => Complex64::ONE,
            false => Complex64::ZERO,
        };
        self.filled(level, count, one)
    }

    /// Noise vectors `first` and following of a level, with entries 1 or -1 for [`Noise::Z2`], else 1, i, -1 or -i;
    /// the same on any number of ranks.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn noise(
        &self,
        (kind, seed): (Noise, u64),
        level: usize,
        first: usize,
        count: usize,
    ) -> Result<LowVectors> {
        let bits = |place: usize, column: usize| {
            let stream = mixed(mixed(seed, level as u64), (first + column) as u64);
            mixed(stream, place as u64) >> 62
        };
        let turn =
            |n: u64| [Complex64::ONE, Complex64::I, -Complex64::ONE, -Complex64::I][n as usize];
        let value = |place, column| match (kind, bits(place, column)) {
            (Noise::Z2, n) => turn(2 * (n & 1)),
            (_, n) => turn(n),
        };
        self.filled(level, count, value)
    }

    fn filled(
        &self,
        level: usize,
        count: usize,
        value: impl Fn(usize, usize) -> Complex64,
    ) -> Result<LowVectors> {
        match &self.kind {
            Kind::Coarse(spaces) => {
                let mut field = spaces.field(level, count)?;
                let rows = spaces.rows(level);
                field.fill(|site, component, column| value(site * rows + component, column))?;
                Ok(LowVectors::Coarse(field))
            }
            Kind::Vectors(v) => {
                let numbers = (0..v.vectors.count()).flat_map(|k| (0..count).map(move |c| (k, c)));
                Ok(LowVectors::Numbers(numbers.map(|(k, c)| value(k, c)).collect(), count))
            }
        }
    }

    /// Projects spinors onto the first level: the coefficients on its lattice, or those of the vectors, a column for
    /// each right-hand side.
    ///
    /// # Errors
    /// `FieldMismatch`, `OutOfMemory`.
    pub fn restrict(&self, b: &SpinorField) -> Result<LowVectors> {
        match &self.kind {
            Kind::Coarse(spaces) => Ok(LowVectors::Coarse(spaces.restrict_spinors(b)?)),
            Kind::Vectors(v) => {
                let mut times_gamma5 = self.op.shape().field(b.nrhs())?;
                self.op.gamma5(&mut times_gamma5, b)?;
                let dots = v.vectors.dots(0..v.vectors.count(), &times_gamma5, 0..b.nrhs())?;
                Ok(LowVectors::Numbers(dots, b.nrhs()))
            }
        }
    }

    /// Restricts a level's vectors to the next level by R.
    fn restrict_on(&self, level: usize, vectors: &LowVectors) -> Result<LowVectors> {
        match (&self.kind, vectors) {
            (Kind::Coarse(spaces), LowVectors::Coarse(field)) => {
                Ok(LowVectors::Coarse(spaces.restrict(level, field)?))
            }
            _ => Err(mixed_up()),
        }
    }

    /// Restricts spinors to this level, by R of all levels up to it.
    ///
    /// # Errors
    /// Errors of [`LowSpace::restrict`].
    pub fn restrict_to(&self, level: usize, b: &SpinorField) -> Result<LowVectors> {
        let mut vectors = self.restrict(b)?;
        for above in 1..level {
            vectors = self.restrict_on(above, &vectors)?;
        }
        Ok(vectors)
    }

    /// Entries `which` of vectors, gathered from all ranks: [entry][column], numbered as in [`LowSpace::units`].
    ///
    /// # Errors
    /// `CommFailed`.
    pub fn entries(&self, vectors: &LowVectors, which: Range<usize>) -> Result<Vec<Complex64>> {
        match vectors {
            LowVectors::Numbers(numbers, n) => Ok(numbers[which.start * n..which.end * n].to_vec()),
            LowVectors::Coarse(field) => {
                let (rows, n) = (field.components(), field.nrhs());
                let numbers = field.save()?;
                let mut found = vec![0.0; 2 * which.len() * n];
                for (k, site) in field.places().into_iter().enumerate() {
                    for row in (0..rows).filter(|row| which.contains(&(site * rows + row))) {
                        let to = site * rows + row - which.start;
                        found[2 * to * n..2 * (to + 1) * n]
                            .copy_from_slice(&numbers[2 * (k * rows + row) * n..][..2 * n]);
                    }
                }
                field.grid().comm().sum(&mut found)?;
                Ok(found.chunks_exact(2).map(|z| Complex64::new(z[0], z[1])).collect())
            }
        }
    }

    /// Prolongs vectors of a level to spinors: the product of P of this level and of all finer ones.
    ///
    /// # Errors
    /// `FieldMismatch`, `OutOfMemory`.
    pub fn prolong(&self, level: usize, vectors: &LowVectors) -> Result<SpinorField> {
        match (&self.kind, vectors) {
            (Kind::Coarse(spaces), LowVectors::Coarse(field)) => {
                spaces.prolong_to_spinors(level, field)
            }
            (Kind::Vectors(v), LowVectors::Numbers(numbers, n)) => {
                let mut out = self.op.shape().field(*n)?;
                v.vectors.combine(0..v.vectors.count(), numbers, 0.0, &mut out, 0..*n)?;
                Ok(out)
            }
            _ => Err(mixed_up()),
        }
    }

    /// Computes gamma5 R^dagger v, with R^dagger of this level and all finer ones: the spinors X for the left side
    /// X^dagger gamma5 of an operator.
    ///
    /// # Errors
    /// `FieldMismatch`, `OutOfMemory`.
    pub fn left(&self, level: usize, vectors: &LowVectors) -> Result<SpinorField> {
        let lifted = self.prolong(level, vectors)?;
        match &self.kind {
            Kind::Vectors(_) => Ok(lifted),
            Kind::Coarse(_) => {
                let mut times_gamma5 = self.op.shape().field(lifted.nrhs())?;
                self.op.gamma5(&mut times_gamma5, &lifted)?;
                Ok(times_gamma5)
            }
        }
    }

    /// Transforms a level's vectors that stand between D_c^-1 and D'_c^-1 of two masses, so that for the resulting v
    /// and x = P D'_c^-1 v the left side with L' = P D'_c^-1 R is x^dagger gamma5. On a level of aggregates this is
    /// gamma5, on one of vectors R P.
    fn times_gamma5(&self, level: usize, vectors: &LowVectors) -> Result<LowVectors> {
        let lifted = self.prolong(level, vectors)?;
        if self.has_inverse() {
            return self.restrict(&lifted);
        }
        let mut times_gamma5 = self.op.shape().field(lifted.nrhs())?;
        self.op.gamma5(&mut times_gamma5, &lifted)?;
        self.restrict_to(level, &times_gamma5)
    }

    /// Computes D_c^-1 b on a level, in the normalisation of the solver.
    ///
    /// # Errors
    /// `FieldMismatch`, `OutOfMemory`, `SolverBreakdown`.
    pub fn solve(&self, level: usize, b: &LowVectors) -> Result<(LowVectors, LowSolve)> {
        match (&self.kind, b) {
            (Kind::Coarse(spaces), LowVectors::Coarse(b)) => {
                let (mut x, report) = spaces.solve(level, b, self.tol)?;
                x.scale(&blas::uniform(b.nrhs(), self.factor))?;
                let residual = report.residual.iter().fold(0.0, |m: f64, r| m.max(*r));
                let (iterations, converged) = (report.iterations, report.converged);
                Ok((LowVectors::Coarse(x), LowSolve { iterations, residual, converged }))
            }
            (Kind::Vectors(v), LowVectors::Numbers(b, n)) => {
                let k = v.vectors.count();
                let mut x = vec![Complex64::ZERO; k * n];
                for (row, x) in x.chunks_mut(*n).enumerate() {
                    for (entry, b) in v.inverse[row * k..(row + 1) * k].iter().zip(b.chunks(*n)) {
                        x.iter_mut().zip(b).for_each(|(x, b)| *x += self.factor * entry * b);
                    }
                }
                let how = LowSolve { converged: true, ..LowSolve::default() };
                Ok((LowVectors::Numbers(x, *n), how))
            }
            _ => Err(mixed_up()),
        }
    }

    /// The norms |R b|^2 on every level from 1 on, summed over columns.
    ///
    /// # Errors
    /// Errors of [`LowSpace::restrict`].
    pub fn norms(&self, b: &SpinorField) -> Result<Vec<f64>> {
        let mut vectors = self.restrict(b)?;
        let mut norms = vec![];
        for level in 1..=self.levels() {
            norms.push(match &vectors {
                LowVectors::Coarse(field) => field.norm2()?.iter().sum(),
                LowVectors::Numbers(numbers, _) => numbers.iter().map(|z| z.norm_sqr()).sum(),
            });
            if level < self.levels() {
                vectors = self.restrict_on(level, &vectors)?;
            }
        }
        Ok(norms)
    }

    /// Computes L b = P D_c^-1 R b of a level for spinors b; returns it with the report of the solve.
    ///
    /// # Errors
    /// Errors of [`LowSpace::solve`].
    pub fn inverse(&self, level: usize, b: &SpinorField) -> Result<(SpinorField, LowSolve)> {
        let (x, how) = self.solve(level, &self.restrict_to(level, b)?)?;
        Ok((self.prolong(level, &x)?, how))
    }

    /// Computes P D_c^-1 v for a level's vectors v and, if there is a next level, P D_c^-1 R v with that, as spinors;
    /// returns them with the reports of the solves.
    ///
    /// # Errors
    /// Errors of [`LowSpace::solve`].
    fn solutions(
        &self,
        level: usize,
        vectors: &LowVectors,
    ) -> Result<(SpinorField, Option<SpinorField>, [LowSolve; 2])> {
        let (x, how) = self.solve(level, vectors)?;
        let own = self.prolong(level, &x)?;
        drop(x);
        if level == self.levels() {
            return Ok((own, None, [how, LowSolve { converged: true, ..LowSolve::default() }]));
        }
        let (y, below) = self.solve(level + 1, &self.restrict_on(level, vectors)?)?;
        Ok((own, Some(self.prolong(level + 1, &y)?), [how, below]))
    }

    /// Both sides of the products of two inverses with a level's vectors between them: L L' with the space `other` of
    /// another mass, or L(mu) gamma5 L(-mu) without it. If there is a next level, the product on that level follows,
    /// which has to be subtracted. Returns also the number of solves that failed.
    ///
    /// # Errors
    /// Errors of [`LowSpace::solve`].
    pub fn products(
        &self,
        other: Option<&LowSpace>,
        level: usize,
        vectors: &LowVectors,
    ) -> Result<(Vec<Product>, u64)> {
        let (right, below, how) = self.solutions(level, vectors)?;
        let mut all = how.to_vec();
        let rights = [Some(right), below].into_iter().flatten();
        let mut lefts = [None, None];
        if let Some(other) = other {
            let (left, below, how) = other.solutions(level, &self.times_gamma5(level, vectors)?)?;
            lefts = [Some(left), below];
            all.extend(how);
        }
        let products = rights.zip(lefts).map(|(right, left)| Product { left, right }).collect();
        Ok((products, all.iter().filter(|how| !how.converged).count() as u64))
    }

    /// The two sides of the trace of this level's D_c^-1, minus P D_c^-1 R of the next one if there is one, between
    /// vectors of the level: the left side as in [`LowSpace::left`], the right side a spinor; with the reports of the
    /// solves on both levels.
    ///
    /// # Errors
    /// Errors of [`LowSpace::solve`].
    pub fn left_and_right(
        &self,
        level: usize,
        vectors: &LowVectors,
    ) -> Result<(SpinorField, SpinorField, [LowSolve; 2])> {
        let left = self.left(level, vectors)?;
        let (mut right, below, how) = self.solutions(level, vectors)?;
        if let Some(y) = below {
            blas::axpy(&blas::uniform(y.nrhs(), -1.0), &y, &mut right)?;
        }
        Ok((left, right, how))
    }
}

/// Factor by which the solution of the solver's equation differs from that of the operator's own.
fn factor(solver: &DiracSolver) -> f64 {
    match solver.params().normalisation {
        Normalisation::Kappa => 1.0,
        Normalisation::Mass => solver.op().mass_scale(),
    }
}

fn mixed_up() -> crate::error::Error {
    crate::error::Error::new(crate::error::Status::Internal, "vectors of another kind of space")
}

/// A hash of two numbers (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
fn mixed(a: u64, b: u64) -> u64 {
    let mut z =
        a.wrapping_add(b.wrapping_mul(2).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
