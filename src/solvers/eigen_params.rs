//! Parameters of a search for eigenvectors, and its report.

use super::filter::{eigen_tol, End};
use super::stop::{StoppedBy, Watch};
use crate::error::{within, Result};
use crate::fields::Precision;
use crate::linop::{LinOp, System};
use crate::params::{choices, parameters};
use crate::refuse;

/// Largest number of restarts that may be asked for: a call with more might not end.
pub(super) const MAX_RESTARTS: usize = 1_000_000;

/// The polynomial p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// No polynomial: p(A) = A or -A.
    Plain,
    /// A polynomial whose degree and interval are found as the spectrum becomes known.
    Auto,
    /// Chebyshev's polynomial of this degree, small on the interval between the two numbers, which should hold the
    /// eigenvalues that are not wanted. The interval is extended to the other end of the spectrum; if wanted
    /// eigenvalues turn out to lie in it, the polynomial is replaced as with `Auto`.
    Chebyshev { degree: usize, from: f64, to: f64 },
}

choices! {
    /// Methods of finding eigenvectors.
    pub enum EigenMethod: plaq_eigen_method {
        /// Block Lanczos with thick restarts and Chebyshev polynomials.
        Lanczos = 0, PLAQ_EIGEN_LANCZOS, "lanczos";
        /// Minimising the Ritz functional with locally optimal conjugate gradients.
        Ritz = 1, PLAQ_EIGEN_RITZ, "ritz";
    }
}

choices! {
    /// Memory in which the vectors of an eigensolver, and the null vectors that a set-up of multigrid makes, are
    /// kept.
    pub enum VectorMemory: plaq_vector_memory {
        /// On the device; where its memory is short an eigensolver keeps fewer vectors in the search than `max_vectors` of 0 means, and
        /// where that is not enough, or for a set-up of multigrid, the host has those that do not fit.
        Auto = 0, PLAQ_VECTORS_AUTO, "auto";
        /// On the device, by an eigensolver with fewer vectors where memory is short.
        Device = 1, PLAQ_VECTORS_DEVICE, "device";
        /// On the host, but for one of an eigensolver, every step of which brings them all to the device eight times; a
        /// set-up of multigrid brings each of them there once for each refinement.
        Host = 2, PLAQ_VECTORS_HOST, "host";
    }
}

parameters! {
    /// Parameters of a search for eigenvectors of A, which is M where it is hermitian, a Laplacian, and else
    /// M^dagger M.
    pub struct EigenSettings: plaq_eigen_params {
        /// How eigenvectors are found.
        method: EigenMethod = EigenMethod::Lanczos;
        /// End of the spectrum that they are of.
        end: End = End::Smallest;
        /// What stands for M: the operator, or a Schur complement.
        system: System = System::Full;
        /// Eigenvectors wanted, to the number of unknowns. A small operator, of which much is wanted, is
        /// diagonalised as a whole.
        count: usize = 8, within(1, i32::MAX as i64);
        /// Vectors kept at most, `count` + 2 `block` at least; 0: about twice as many as wanted.
        max_vectors: usize = 0, within(0, i32::MAX as i64), old("room");
        /// Vectors multiplied at a time.
        block: usize = 1, within(1, i32::MAX as i64);
        /// Times that the basis is built up anew, or cycles of the Ritz functional.
        max_restarts: usize = 200, within(1, MAX_RESTARTS as i64);
        /// A search, with random vectors orthogonal to those found, looks for what was missed, until it finds nothing;
        /// else `converged` says nothing about missing eigenvalues. With it a `tol` above 1e-3 counts as 1e-3.
        verify: bool = true;
        /// Largest |A v - lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
        /// 0: 1e-10, in single precision 1e-6.
        tol: f64 = 0.0;
        /// Degree of the Chebyshev polynomial; 0: found from the spectrum; 1: no polynomial.
        degree: usize = 0, within(0, 100_000);
        /// The `count` smallest of every time slice are found by themselves, of an operator without hops in t, e.g. the
        /// Laplacian of colour vectors in x, y and z: vector k holds number k of every slice, of unit length there, and
        /// values are [t][k]. Of the other parameters `tol`, `max_restarts`, `verify`, `seed` and `max_seconds` count.
        time_slices: bool = false;
        /// Lower end of the polynomial's interval, which should hold what is not wanted, in the operator's
        /// normalisation; it is replaced where wanted eigenvalues turn out to lie in it.
        from: f64 = 0.0;
        /// Upper end of the interval.
        to: f64 = 0.0;
        /// Seed of random start vectors.
        seed: u64 = 1;
        /// Most seconds that a search may take; 0: as many as it needs. They are asked for after every block, by
        /// the Ritz functional after every step of the minimisation; all ranks stop after the same one.
        max_seconds: f64 = 0.0;
        /// Where vectors are kept while they are sought by Lanczos, and afterwards.
        vectors: VectorMemory = VectorMemory::Auto;
        /// Vectors that are kept at least, before some of them are kept on the host; 0: a quarter more than are
        /// wanted, 16 or 4 `block` at least.
        min_vectors: usize = 0, within(0, i32::MAX as i64), old("least_room");
    }
}

impl EigenSettings {
    /// The parameters of Lanczos with these limits; the normalisation of the settings is `scale` times the
    /// operator's.
    pub fn lanczos(&self, scale: f64, max_seconds: f64) -> EigenParams {
        let filter = match self.degree {
            0 => Filter::Auto,
            1 => Filter::Plain,
            degree => Filter::Chebyshev { degree, from: self.from / scale, to: self.to / scale },
        };
        let EigenSettings { end, count, max_vectors, block, tol, max_restarts, verify, .. } = *self;
        let EigenSettings { seed, vectors, min_vectors, .. } = *self;
        EigenParams {
            end,
            count,
            max_vectors,
            block,
            tol,
            max_restarts,
            filter,
            verify,
            seed,
            max_seconds,
            vectors,
            min_vectors,
        }
    }
}

/// Parameters of a search for eigenvectors.
#[derive(Clone, Debug, PartialEq)]
pub struct EigenParams {
    pub end: End,
    /// Number of eigenvectors wanted.
    pub count: usize,
    /// Largest number of vectors kept, at least `count` + 2 `block`; 0: about twice as many as wanted. All vectors of
    /// the space are kept where `count` is more than half of them, or there are at most 2048 and `max_vectors` is half
    /// of them.
    pub max_vectors: usize,
    /// Number of vectors multiplied at a time. Eigenvalues of higher multiplicity are found sooner with as many.
    pub block: usize,
    /// Largest |A v - lambda v| over the largest |lambda| of the spectrum; 0: 1e-10 in double, 1e-6 in single
    /// precision.
    pub tol: f64,
    /// Largest number of times that the basis is built anew.
    pub max_restarts: usize,
    pub filter: Filter,
    /// Whether to search, once all are found, for another copy of an eigenvalue or one that was missed, with random
    /// vectors orthogonal to those found, until such a search finds nothing.
    pub verify: bool,
    /// Seed of random start vectors.
    pub seed: u64,
    /// Largest number of seconds of a search, checked after every block; infinite: no limit. With many ranks all of
    /// them stop after the same block.
    pub max_seconds: f64,
    /// The memory, of device or host, in which vectors are kept.
    pub vectors: VectorMemory,
    /// Smallest number of vectors that there must be memory for before some are kept on the host, at least `count` +
    /// 2 `block`; 0: a quarter more than are wanted, 16 or 4 `block` at least.
    pub min_vectors: usize,
}

/// Largest number of unknowns of an operator that is diagonalised as a whole if `max_vectors` is half of it.
const MAX_WHOLE: usize = 2048;

/// Largest degree of a polynomial that may be asked for: a call with more might not end.
const MAX_DEGREE_ASKED: usize = 100_000;

impl EigenParams {
    /// Refuses searches that cannot succeed.
    pub(super) fn check(&self, op: &dyn LinOp) -> Result<()> {
        let shape = op.shape();
        if !op.hermitian() {
            refuse!(Unsupported, "eigen", expected("a hermitian operator"));
        }
        if shape.precision == Precision::F16 {
            refuse!(Unsupported, "eigen", expected("vectors in double or single precision"));
        }
        let dimension = shape.numbers() as usize;
        within("block", self.block.max(1), 1, (dimension - 1) / 2)?;
        within("count", self.count, 1, dimension)?;
        eigen_tol("tol", self.tol, shape.precision)?;
        within("max_restarts", self.max_restarts, 1, MAX_RESTARTS)?;
        if let Filter::Chebyshev { degree, from, to } = self.filter {
            if degree < 2 || from >= to || !from.is_finite() || !to.is_finite() {
                refuse!(
                    BadParameter,
                    "degree, from, to",
                    expected("a degree from 2 and an interval"),
                    found("{degree} and {from} to {to}")
                );
            }
            within("degree", degree, 2, MAX_DEGREE_ASKED)?;
        }
        Ok(())
    }

    /// Number of vectors kept in a space of this dimension.
    pub(super) fn max_vectors_in(&self, dimension: usize) -> usize {
        let (count, b) = (self.count, self.block.max(1));
        let wanted =
            if self.max_vectors > 0 { self.max_vectors } else { 2 * count + 16.max(4 * b) };
        wanted.max(count + 2 * b).min(dimension - b)
    }

    /// Smallest number of vectors to keep where memory is short: with fewer beside those wanted a search takes many
    /// restarts.
    pub(super) fn min_vectors_in(&self, dimension: usize) -> usize {
        let (all, count, b) = (self.max_vectors_in(dimension), self.count, self.block.max(1));
        match (self.max_vectors, self.min_vectors) {
            (0, 0) => all.min(count + (count / 4).max(16).max(4 * b)),
            (0, least) => all.min(least.max(count + 2 * b)),
            _ => all,
        }
    }

    /// Whether the whole operator is diagonalised.
    pub(super) fn is_whole(&self, dimension: usize) -> bool {
        let half = dimension / 2;
        self.count > half || (dimension <= MAX_WHOLE && self.max_vectors_in(dimension) >= half)
    }
}

impl Default for EigenParams {
    fn default() -> Self {
        EigenSettings::default().lanczos(1.0, f64::INFINITY)
    }
}

/// The result of a search for eigenvectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EigenReport {
    /// True if every vector meets the tolerance, and the set has been verified where that was asked for.
    pub converged: bool,
    /// True if no eigenvalue is missing: a random vector orthogonal to those found led to none further out, or the
    /// whole operator was diagonalised.
    pub verified: bool,
    /// True if the monitor asked to stop or the time was over; what was known by then is returned.
    pub stopped: bool,
    /// What ended the search; limits come first, and restarts count as iterations.
    pub stopped_by: Option<StoppedBy>,
    /// Eigenvalues, from the wanted end of the spectrum inwards.
    pub values: Vec<f64>,
    /// The norms |A v - lambda v| for unit vectors, recomputed.
    pub residuals: Vec<f64>,
    /// Largest possible distance to an eigenvalue of A: the residual, or residual^2 / gap where the distance to the
    /// other values found is larger.
    pub bounds: Vec<f64>,
    /// The value after the last one wanted, of each time slice; infinite where there is none.
    pub beyond: Vec<f64>,
    /// Estimates of the ends of the spectrum, from outside.
    pub least: f64,
    pub largest: f64,
    pub restarts: usize,
    /// Number of multiplications of a vector by A.
    pub applications: usize,
    /// Degree and interval of the last polynomial; 1: none.
    pub degree: usize,
    pub interval: [f64; 2],
    /// Number of vectors that the search had memory for.
    pub max_vectors: usize,
    /// Number of these that the device held; the others waited on the host.
    pub on_device: usize,
    pub seconds: f64,
}

impl EigenReport {
    pub(super) fn ended_by(&mut self, watch: &Watch) {
        self.stopped_by = Some(match (watch.ended(0), self.converged) {
            (Some(limit), _) => limit,
            (None, true) => StoppedBy::Residual,
            (None, false) => StoppedBy::Iterations,
        });
    }
}

/// Largest distance of each value from an eigenvalue (Parlett, The Symmetric Eigenvalue Problem, sections 4.5 and
/// 11.7): its residual r, or r^2 over the distance to the other values and their residuals.
pub(super) fn error_bounds(values: &[f64], residuals: &[f64]) -> Vec<f64> {
    let n = values.len();
    (0..n)
        .map(|i| {
            let apart = |j: usize| (values[i] - values[j]).abs() - residuals[j];
            let gap = (0..n).filter(|&j| j != i).map(apart).fold(f64::INFINITY, f64::min);
            if gap > residuals[i] && gap.is_finite() {
                residuals[i] * residuals[i] / gap
            } else {
                residuals[i]
            }
        })
        .collect()
}
