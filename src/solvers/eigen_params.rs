//! Parameters of a search for eigenvectors, and its report.

use super::filter::{eigen_tol, End};
use super::stop::{StoppedBy, Watch};
use crate::error::{within, Result};
use crate::fields::Precision;
use crate::linop::{LinOp, System};
use crate::params::{choices, parameters, reports, row_set};
use crate::refuse;

/// Largest number of restarts that is accepted; with more a call might not end.
pub(super) const MAX_RESTARTS: usize = 1_000_000;

/// The polynomial p that the search applies to A.
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
    /// Algorithms that find eigenvectors.
    pub enum EigenMethod: plaq_eigen_method {
        /// Block Lanczos with thick restarts and Chebyshev polynomials.
        Lanczos = 0, PLAQ_EIGEN_LANCZOS, "lanczos";
        /// Minimisation of the Ritz functional by locally optimal conjugate gradients.
        Ritz = 1, PLAQ_EIGEN_RITZ, "ritz";
    }
}

choices! {
    /// Memory for the vectors of an eigensolver, and for the null vectors of a set-up of multigrid.
    pub enum VectorMemory: plaq_vector_memory {
        /// The device's memory if it suffices. Otherwise an eigensolver keeps fewer vectors than its default; if that
        /// does not suffice, and in a set-up of multigrid, the vectors that do not fit are kept on the host.
        Auto = 0, PLAQ_VECTORS_AUTO, "auto";
        /// The device's memory only; an eigensolver keeps fewer vectors if it is short.
        Device = 1, PLAQ_VECTORS_DEVICE, "device";
        /// The host's memory. In an eigensolver all but one vector are there, and each step copies all of them to the
        /// device eight times; in a set-up of multigrid each null vector is copied once for each refinement.
        Host = 2, PLAQ_VECTORS_HOST, "host";
    }
}

row_set! {
    search_seed_row {
        /// Seed of the random vectors with which searches start.
        seed: u64 = 1;
    }
}

parameters! {
    /// Parameters of a search for eigenvectors of A, where A = M if M is hermitian, as for a Laplacian, and A =
    /// M^dagger M otherwise.
    pub composed struct EigenSettings: plaq_eigen_params {
        /// Algorithm of the search.
        method: EigenMethod = EigenMethod::Lanczos;
        /// End of the spectrum at which eigenvectors are searched for.
        end: End = End::Smallest;
        /// The operator M: on the whole lattice, or a Schur complement.
        system: System = System::Full;
        /// Number of wanted eigenvectors, at most the number of unknowns. If they are a large part of the space of a
        /// small operator, it is diagonalised completely.
        count: usize = 8, within(1, i32::MAX as i64);
        /// Largest number of vectors that are kept, at least `count` + 2 `block`; 0: about twice `count`.
        max_vectors: usize = 0, within(0, i32::MAX as i64), old("room");
        /// Number of vectors that are multiplied by A together.
        block: usize = 1, within(1, i32::MAX as i64);
        /// Largest number of restarts of Lanczos, or of cycles of the Ritz functional.
        max_restarts: usize = 200, within(1, MAX_RESTARTS as i64);
        /// True: after the search others, from random vectors orthogonal to the results, look for eigenvectors that
        /// were missed, until they find none; false: `converged` does not tell whether eigenvalues are missing. With
        /// true a `tol` above 1e-3 is taken as 1e-3.
        verify: bool = true;
        /// Largest |A v - lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
        /// 0: 1e-10, in single precision 1e-6.
        tol: f64 = 0.0;
        /// Degree of the Chebyshev polynomial; 0: chosen by the spectrum; 1: no polynomial.
        degree: usize = 0, within(0, 100_000);
        /// True, for operators without hops in t, e.g. the Laplacian of colour vectors in x, y and z: the `count`
        /// smallest eigenvalues are found for each time slice separately. Vector k holds eigenvector k of every
        /// slice, each normalised to 1, and values are [t][k]. Only the parameters `tol`, `max_restarts`, `verify`,
        /// `seed` and `max_seconds` are used besides.
        time_slices: bool = false;
        /// Lower end of the interval on which the polynomial is small, which should contain the unwanted eigenvalues,
        /// in the operator's normalisation. The interval is replaced if wanted eigenvalues turn out to lie in it.
        from: f64 = 0.0;
        /// Upper end of the interval on which the polynomial is small.
        to: f64 = 0.0;
        with search_seed_row;
        /// Largest number of seconds for the search; 0: no limit. The time is checked after every block, for the Ritz
        /// functional after every step of the minimisation; all ranks stop after the same one.
        max_seconds: f64 = 0.0;
        /// Memory for the vectors of Lanczos, during the search and for its results.
        vectors: VectorMemory = VectorMemory::Auto;
        /// Least number of vectors that are kept on the device before some are moved to the host; 0: 1.25 times
        /// `count`, at least 16 or 4 `block`.
        min_vectors: usize = 0, within(0, i32::MAX as i64), old("least_room");
    }
}

impl EigenSettings {
    /// The parameters of Lanczos, with this time limit; the normalisation of the settings is `scale` times that of
    /// the operator.
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
    /// Largest number of restarts, in which the basis is built again.
    pub max_restarts: usize,
    pub filter: Filter,
    /// Whether searches with random vectors orthogonal to the results follow, until one of them finds no eigenvector
    /// that was missed.
    pub verify: bool,
    /// Seed of the random vectors with which the search starts.
    pub seed: u64,
    /// Largest number of seconds of a search, checked after every block; infinite: no limit. All ranks stop after the
    /// same block.
    pub max_seconds: f64,
    /// The memory, of device or host, in which vectors are kept.
    pub vectors: VectorMemory,
    /// Least number of vectors that are kept on the device before some are moved to the host, at least `count` + 2
    /// `block`; 0: 1.25 times `count`, at least 16 or 4 `block`.
    pub min_vectors: usize,
}

/// Largest number of unknowns of an operator that is diagonalised as a whole if `max_vectors` is half of it.
const MAX_WHOLE: usize = 2048;

/// Largest degree of a polynomial that is accepted; with more a call might not end.
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

    /// Least number of vectors that are kept if memory is short: with fewer a search would take many restarts.
    pub(super) fn min_vectors_in(&self, dimension: usize) -> usize {
        let (all, count, b) = (self.max_vectors_in(dimension), self.count, self.block.max(1));
        match (self.max_vectors, self.min_vectors) {
            (0, 0) => all.min(count + (count / 4).max(16).max(4 * b)),
            (0, least) => all.min(least.max(count + 2 * b)),
            _ => all,
        }
    }

    /// Whether the operator is diagonalised completely.
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

row_set! {
    reports SEARCH {
        /// 1: every vector meets the tolerance and, with `verify`, no eigenvalue was missed.
        converged: bool;
        /// 1: no eigenvalue was missed, as shown by a search from random vectors orthogonal to the results, or because
        /// the operator was diagonalised completely. 0: not asked for, or ended by a limit.
        verified: bool;
        /// 1: the callback or `max_seconds` ended the search; the results are those known by then.
        stopped: bool;
        /// The criterion that ended the search; PLAQ_STOPPED_BY_ITERATIONS: `max_restarts`.
        stopped_by: Option<crate::solvers::StoppedBy>;
        /// Number of restarts of the search.
        restarts: usize;
        /// Number of eigenvectors; of those of time slices the number on each slice.
        count: usize;
        /// Estimate of the largest eigenvalue, from above.
        largest: f64;
        /// Number of multiplications of a vector by the operator.
        applications: u64;
        /// Seconds that the search took.
        seconds: f64;
    }
}

reports! {
    /// Report of a search for eigenvectors.
    #[derive(Default)]
    pub composed struct EigenReport: plaq_eigen_report {
        with SEARCH;
        /// Degree of the last polynomial; 1: no polynomial was used.
        degree: usize;
        /// Largest number of vectors that the search kept; 0 if Lanczos was not used.
        max_vectors: usize;
        /// Number of vectors of the search on the device; the others were in the host's memory.
        on_device: usize;
        /// Lower end of the interval on which the last polynomial is small.
        from: f64;
        /// Upper end of the interval on which the last polynomial is small.
        to: f64;
        /// Estimate of the smallest eigenvalue, from below.
        least: f64;
    } besides {
        /// Eigenvalues, ordered from the wanted end of the spectrum inwards.
        values: Vec<f64>;
        /// Residual norms |A v - lambda v| for unit vectors v, recomputed at the end.
        residuals: Vec<f64>;
        /// Bounds on the distance of each value to an eigenvalue of A: the residual, or residual^2 / gap if this is
        /// smaller, the gap being the distance to the other values found.
        bounds: Vec<f64>;
        /// The next eigenvalue after the wanted ones, for each time slice; infinite if there is none.
        beyond: Vec<f64>;
    }
}

impl EigenReport {
    /// The report for the operator times `scale`, which is positive.
    pub fn scaled(mut self, scale: f64) -> Self {
        let lists = [&mut self.values, &mut self.residuals, &mut self.bounds, &mut self.beyond];
        let ends = [&mut self.largest, &mut self.least, &mut self.from, &mut self.to];
        lists.into_iter().flatten().chain(ends).for_each(|number| *number *= scale);
        self
    }

    pub(super) fn ended_by(&mut self, watch: &Watch) {
        self.stopped_by = Some(match (watch.ended(0), self.converged) {
            (Some(limit), _) => limit,
            (None, true) => StoppedBy::Residual,
            (None, false) => StoppedBy::Iterations,
        });
    }
}

/// Largest distance of each value from an eigenvalue (Parlett, The Symmetric Eigenvalue Problem, sections 4.5 and
/// 11.7): its residual r, or if that is smaller r^2 divided by the distance to the other values, less their
/// residuals.
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
