//! Low modes of the hermitian kernel Q for exact projection, with the quantities that bound the error of the projectors
//! (Walk, section 2.8; Giusti et al., hep-lat/0212012): residuals rho_k, distances d_k to the rest of the spectrum, and
//! kappa_+^2 and kappa_-^2, the sums of rho_k^2 / d_k^2 over positive and over negative eigenvalues lambda_k.

use std::ops::Range;
use std::sync::Arc;

use num_complex::Complex64;

use crate::backend::Device;
use crate::bail;
use crate::error::{significant, within, Result};
use crate::fields::{basis, blas, Noise, Precision, SpinorField, VectorSet};
use crate::linop::LinOp;
use crate::operators::{HermitianWilson, KernelSquare};
use crate::params::Key;
use crate::refuse;
use crate::solvers::dense::eigen_hermitian;
use crate::solvers::stop::Limit;
use crate::solvers::{
    eigen, eigen_set, eigen_tol, no_monitor, portions, ritz, EigenMethod, EigenParams, EigenReport,
    End, Filter, Monitor, RitzParams, StoppedBy, VectorMemory,
};

/// Parameters of the search for low modes.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeParams {
    /// Least number of modes to project; more are projected if a larger gap of the spectrum follows them. None: the
    /// number is chosen from the spectrum.
    pub count: Option<usize>,
    /// Largest number of modes if `count` is None.
    pub max_count: usize,
    /// Number of modes at the upper end of the spectrum whose values, residuals and gaps are measured; at least one.
    pub high: usize,
    /// Largest residual of an eigenvector of Q^2, relative to the largest eigenvalue of Q^2; 0: 1e-13 in double, 1e-6
    /// in single precision.
    pub tol: f64,
    pub method: EigenMethod,
    /// Number of vectors that Lanczos multiplies at a time.
    pub block: usize,
    pub max_restarts: usize,
    pub seed: u64,
    /// Memory, of the device or of the host, for the modes and for the vectors of Lanczos.
    pub vectors: VectorMemory,
    /// Largest number of seconds for the search; infinite: no limit.
    pub max_seconds: f64,
}

impl Default for ModeParams {
    fn default() -> Self {
        ModeParams {
            count: None,
            max_count: 48,
            high: 1,
            tol: 0.0,
            method: EigenMethod::Lanczos,
            block: 1,
            max_restarts: 300,
            seed: 1,
            vectors: VectorMemory::Auto,
            max_seconds: f64::INFINITY,
        }
    }
}

/// Low modes of Q and the ends of its spectrum.
pub struct Modes {
    /// The projected modes, ordered by the modulus of their eigenvalues, followed by modes that were found but are
    /// not projected; these may mix eigenvectors of eigenvalues of both signs.
    vectors: VectorSet,
    values: Vec<f64>,
    residuals: Vec<f64>,
    distances: Vec<f64>,
    kappa: [f64; 2],
    next: f64,
    /// Modulus of eigenvalues above which the sign function has to be approximated.
    from: f64,
    high: Vec<HighMode>,
    report: EigenReport,
}

/// A mode at the upper end of the spectrum of |Q|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HighMode {
    /// Modulus of the mode's eigenvalue of Q.
    pub value: f64,
    /// Bound on the distance of `value` to an eigenvalue of |Q|: |(Q^2 - value^2) w| / (2 value).
    pub residual: f64,
    /// Distance of `value` to the modulus of the largest eigenvalue for which no mode was asked.
    pub gap: f64,
}

/// Eigenvalues and residuals of modes; together with the vectors they are all that [`Modes::restore`] needs.
#[derive(Clone, Debug, PartialEq)]
pub struct ModesRecord {
    /// Eigenvalues lambda of Q of the projected modes.
    pub values: Vec<f64>,
    /// Residuals |(Q - lambda) w| of the projected modes.
    pub residuals: Vec<f64>,
    /// Eigenvalues of Q^2 of all vectors, as the search found them.
    pub squares: Vec<f64>,
    /// Residuals |Q^2 v - mu v| of the eigenvalues mu in `squares`.
    pub square_residuals: Vec<f64>,
    /// Least modulus of an eigenvalue that is not projected.
    pub next: f64,
    /// Modes with the largest eigenvalues, the largest first.
    pub high: Vec<HighMode>,
}

/// Where no number of modes is given, modes are projected until the modulus of the next eigenvalue exceeds this
/// fraction of the largest one.
const PROJECTED_FRACTION: f64 = 0.06;
/// Number of modes that is searched for first where none is given.
const FIRST: usize = 8;
/// Residual to which the largest modes of Q^2 are computed, relative to the largest eigenvalue.
const HIGH_TOL: f64 = 1e-4;
/// Largest number of modes that may be asked for.
const MAX_MODES: usize = 10_000;
/// Factor by which the estimate of the largest eigenvalue is enlarged, since Lanczos approaches it from below.
const MARGIN: f64 = 1.01;
/// Moduli that differ by less than this fraction belong to the same level.
const LEVEL: f64 = 0.01;
/// Lowest start of the interval of the approximation, as a fraction of the smallest modulus that is not projected; if
/// it would have to start lower, it starts at that modulus.
const LOWEST_FROM: f64 = 0.7;

impl Modes {
    /// Finds modes of the kernel. `cheap` is the kernel in another precision, for the polynomials of the eigensolver;
    /// `guess` holds vectors of an earlier search in any precision.
    ///
    /// # Errors
    /// `KernelSpectrum`: the modes do not converge within the limits of time and restarts, or the monitor ended the
    /// search; errors of [`eigen`].
    pub fn find(
        kernel: &Arc<HermitianWilson>,
        cheap: Option<&Arc<HermitianWilson>>,
        params: &ModeParams,
        guess: Option<&SpinorField>,
        monitor: &mut Monitor,
    ) -> Result<Self> {
        within("modes", params.count.unwrap_or(0), 0, MAX_MODES)?;
        within("most_modes", params.max_count, 1, MAX_MODES)?;
        within("high_modes", params.high, 1, MAX_MODES)?;
        let shape = kernel.shape();
        let converted = match guess.filter(|g| g.precision() != shape.precision) {
            Some(guess) => {
                let mut own = guess.like(shape.precision)?;
                blas::copy(&mut own, guess)?;
                Some(own)
            }
            None => None,
        };
        let guess = converted.as_ref().or(guess).map(VectorSet::of).transpose()?;
        let guess = guess.as_ref();
        if params.method == EigenMethod::Ritz && params.vectors == VectorMemory::Host {
            refuse!(
                Unsupported,
                "vectors",
                expected(
                    "{} or {} with {}, which keeps its vectors on the device",
                    VectorMemory::Auto,
                    VectorMemory::Device,
                    EigenMethod::Ritz
                )
            );
        }
        let forms = [Some(kernel), cheap].map(|k| k.map(|k| k.key()));
        let own = (params.method, params.block, params.count == Some(0), guess.is_some());
        let key = Key::of(("modes", forms, own));
        shape.geometry.precompile(&shape.device, None, false, key, |device| {
            let kernel = Arc::new(kernel.like_on(device)?);
            let cheap = cheap.map(|cheap| cheap.like_on(device).map(Arc::new)).transpose()?;
            let guess = guess.map(|guess| guess.like_on(device)).transpose()?;
            Self::search(&kernel, cheap.as_ref(), params, guess.as_ref(), &mut no_monitor)
        });
        Self::search(kernel, cheap, params, guess, monitor)
    }

    fn search(
        kernel: &Arc<HermitianWilson>,
        cheap: Option<&Arc<HermitianWilson>>,
        params: &ModeParams,
        guess: Option<&VectorSet>,
        monitor: &mut Monitor,
    ) -> Result<Self> {
        let square = KernelSquare(kernel.clone());
        let cheap = cheap.map(|k| KernelSquare(k.clone()));
        let cheap = cheap.as_ref().map(|k| k as &dyn LinOp);
        let dimension = square.shape().numbers() as usize;
        let double = square.shape().precision == Precision::F64;
        let tol = match params.tol {
            0.0 if double => 1e-13,
            0.0 => 1e-6,
            tol => tol,
        };
        let tol = eigen_tol("modes_tol", tol, square.shape().precision)?;
        let limit = Limit::new(params.max_seconds)?;
        let high = highest(&square, params, &limit, monitor)?;
        let top = MARGIN * high[0].value;
        let (first, last) = match params.count {
            Some(count) => (count.min(dimension / 4), None),
            None => {
                let last = params.max_count.min(dimension / 8);
                (FIRST.min(last), Some(last))
            }
        };
        let mut wanted = first;
        let mut kept: Option<VectorSet> = None;
        loop {
            let extra = (wanted / 4).clamp(2, 8);
            let find = |guess: Option<&VectorSet>, monitor: &mut Monitor| match params.method {
                EigenMethod::Lanczos => {
                    let params = EigenParams {
                        end: End::Smallest,
                        count: wanted + extra,
                        block: params.block,
                        tol,
                        max_restarts: params.max_restarts,
                        filter: Filter::Auto,
                        seed: params.seed,
                        max_seconds: limit.left(),
                        vectors: params.vectors,
                        ..Default::default()
                    };
                    eigen_set(&square, cheap, &params, guess, monitor)
                }
                EigenMethod::Ritz => {
                    let params = RitzParams {
                        end: End::Smallest,
                        count: wanted + extra,
                        tol: tol * top * top,
                        max_cycles: params.max_restarts,
                        seed: params.seed,
                        max_seconds: limit.left(),
                        ..Default::default()
                    };
                    let guess = guess.map(|g| g.get(0, g.count())).transpose()?;
                    let (v, report) = ritz(&square, &params, guess.as_ref(), monitor)?;
                    Ok((v.into(), report))
                }
            };
            let (vectors, report) = find(kept.as_ref().or(guess), monitor)?;
            not_ended(&report, "low modes of the kernel", params.max_seconds)?;
            if !report.converged {
                let worst = report.residuals.iter().fold(0.0f64, |m, &r| m.max(r));
                bail!(
                    KernelSpectrum,
                    "{} low modes of the kernel did not converge: residual {} of {} after \
                     {} restarts: allow more restarts, a larger tolerance or ask for fewer modes",
                    wanted + extra,
                    significant(worst, 3),
                    significant(tol * top * top, 3),
                    report.restarts
                );
            }
            let end = report.values.last().copied().unwrap_or(0.0).max(0.0).sqrt();
            let more = last.filter(|&last| wanted < last && end < PROJECTED_FRACTION * top);
            let Some(last) = more else {
                return Self::order(kernel, vectors, wanted, last, high, report);
            };
            kept = Some(vectors);
            wanted = (2 * wanted).min(last);
        }
    }

    /// Decides how many modes are projected, from `wanted` up to `last`, and diagonalises Q in their span, which is
    /// first made invariant under Q.
    fn order(
        kernel: &Arc<HermitianWilson>,
        vectors: VectorSet,
        wanted: usize,
        last: Option<usize>,
        high: Vec<HighMode>,
        mut report: EigenReport,
    ) -> Result<Self> {
        let found = vectors.count();
        let modulus = |k: usize| report.values[k].max(0.0).sqrt();
        // The number of projected modes is chosen at the largest relative gap, so that it does not separate nearly
        // equal moduli.
        let gap = |&k: &usize| {
            let below = if k == 0 { 0.0 } else { modulus(k - 1) };
            (modulus(k) - below) / modulus(k).max(f64::MIN_POSITIVE)
        };
        let end = last.map_or(found, |last| found.min(last + 1));
        let n = match wanted {
            0 => 0,
            // Takes the last one of equal gaps, so that a rehearsal, which knows no gaps, plans for as many modes as
            // possible.
            _ => (wanted..end).max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(found - 1),
        };
        let next = (report.values[n] - report.residuals[n]).max(0.0).sqrt();
        let mut vectors = separate(kernel, vectors, &mut report, n)?;
        let (values, residuals) = diagonalise(kernel, &mut vectors, n)?;
        let mut modes = Modes {
            next,
            from: next,
            distances: vec![],
            kappa: [0.0; 2],
            vectors,
            values,
            residuals,
            high,
            report,
        };
        modes.estimate();
        Ok(modes)
    }

    /// The numbers that belong to the vectors, to be stored with them.
    pub fn record(&self) -> ModesRecord {
        ModesRecord {
            values: self.values.clone(),
            residuals: self.residuals.clone(),
            squares: self.report.values.clone(),
            square_residuals: self.report.residuals.clone(),
            next: self.next,
            high: self.high.clone(),
        }
    }

    /// Restores modes that were found before, with the kernel's precision or another. Q is diagonalised again in the
    /// span of the projected modes: eigenvalues are those of this kernel, with residuals in double precision; for a
    /// kernel in lower precision they are taken from the record, which has no rounding. What is not projected is
    /// taken from the record.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice or number of vectors, or modes of another kernel: their residuals
    /// with this one are larger than the record and the vectors' precision allow.
    pub fn restore(
        kernel: &Arc<HermitianWilson>,
        vectors: VectorSet,
        record: &ModesRecord,
    ) -> Result<Self> {
        let shape = kernel.shape();
        let (n, found) = (record.values.len(), vectors.count());
        if vectors.first().geometry() != &shape.geometry || vectors.device() != &shape.device {
            bail!(FieldMismatch, "modes: they live on another lattice or device than the links");
        }
        let all = [record.squares.len(), record.square_residuals.len()];
        let Some(largest) = record.high.first().map(|high| high.value) else {
            bail!(FieldMismatch, "modes: the largest eigenvalue is missing");
        };
        if n > found || record.residuals.len() != n || all != [found; 2] {
            bail!(
                FieldMismatch,
                "modes: {n} values, {} residuals and {all:?} of Q^2 with {found} vectors",
                record.residuals.len()
            );
        }
        let epsilon = vectors.precision().min(shape.precision).epsilon();
        let mut own = match vectors.precision() == shape.precision {
            true => vectors,
            false => vectors.to(shape.precision)?,
        };
        let gram = own.gram(0..found)?;
        for (k, z) in gram.iter().enumerate() {
            let expect = if k / found == k % found { 1.0 } else { 0.0 };
            let off = (z - expect).norm();
            if off.is_nan() || off > 1e3 * epsilon {
                bail!(
                    FieldMismatch,
                    "modes: vectors {} and {} are not orthonormal: their product is {z}",
                    k / found,
                    k % found
                );
            }
        }
        let (values, residuals) = diagonalise(kernel, &mut own, n)?;
        let allowed = |r: f64| 10.0 * r + 100.0 * epsilon * largest;
        for k in 0..n {
            let max = allowed(record.residuals[k]);
            let moved = (values[k].abs() - record.values[k].abs()).abs();
            if !(residuals[k] <= max && moved <= max) {
                bail!(
                    FieldMismatch,
                    "modes: with these links mode {k} has the eigenvalue {} and the residual {}, \
                     when it was found {} and {}: it belongs to other links, another s, clover \
                     term, smearing or boundary",
                    significant(values[k], 7),
                    significant(residuals[k], 3),
                    significant(record.values[k], 7),
                    significant(record.residuals[k], 3)
                );
            }
        }
        let residuals = match shape.precision {
            Precision::F64 => residuals,
            _ => record.residuals.clone(),
        };
        let report = EigenReport {
            converged: true,
            count: record.squares.len(),
            values: record.squares.clone(),
            residuals: record.square_residuals.clone(),
            ..Default::default()
        };
        let mut modes = Modes {
            next: record.next,
            from: record.next,
            distances: vec![],
            kappa: [0.0; 2],
            vectors: own,
            values,
            residuals,
            high: record.high.clone(),
            report,
        };
        modes.estimate();
        Ok(modes)
    }

    fn estimate(&mut self) {
        // The last projected modes may share a level with modes that are not projected. The approximation begins below
        // this level, so that it does no harm to divide it.
        let mut from = self.next;
        for l in self.values.iter().rev().map(|l| l.abs()) {
            if from - l > LEVEL * from {
                break;
            }
            from = from.min((1.0 - 1e-6) * l);
        }
        self.from = if from > LOWEST_FROM * self.next { from } else { self.next };
        (self.distances, self.kappa) = self.errors(self.from);
    }

    /// Distances d_k of the projected modes to the rest of the spectrum, and errors kappa_+-, for an approximation of
    /// the sign function that holds for moduli above `from`. For a mode above `from` only eigenvalues of the other sign
    /// count, as mixing with modes of its own sign does not change the sign function; for a mode below `from` those
    /// that are not projected count as well.
    fn errors(&self, from: f64) -> (Vec<f64>, [f64; 2]) {
        let values = &self.values;
        let least = |positive: bool| {
            let of = values.iter().filter(|&&l| (l > 0.0) == positive);
            of.fold(self.next, |m, l| m.min(l.abs()))
        };
        let ends = [least(true), least(false)];
        let distance = |&l: &f64| {
            let other = l.abs() + ends[(l > 0.0) as usize];
            if l.abs() >= from {
                other
            } else {
                other.min(self.next - l.abs())
            }
        };
        let distances: Vec<f64> = values.iter().map(distance).collect();
        let kappa = [true, false].map(|positive| {
            let all = values.iter().zip(&self.residuals).zip(&distances);
            let own = all.filter(|((&l, _), _)| (l > 0.0) == positive);
            own.map(|((_, r), d)| (r / d).powi(2)).sum::<f64>().sqrt()
        });
        (distances, kappa)
    }

    /// These modes with vectors in another precision, at least single.
    pub fn to(&self, precision: Precision) -> Result<Self> {
        Ok(self.with_vectors(self.vectors.to(precision.max(Precision::F32))?))
    }
    /// Modes of the same shape on another device, with vectors that are zero; for rehearsals.
    pub(super) fn like_on(&self, device: &Device) -> Result<Self> {
        Ok(self.with_vectors(self.vectors.like_on(device)?))
    }
    fn with_vectors(&self, vectors: VectorSet) -> Self {
        Modes {
            vectors,
            values: self.values.clone(),
            residuals: self.residuals.clone(),
            distances: self.distances.clone(),
            high: self.high.clone(),
            report: self.report.clone(),
            ..*self
        }
    }

    /// Made-up results of a search, for a rehearsal: the largest number of modes that it may find, with eigenvalues
    /// of a spectrum for which the search ends.
    ///
    /// # Errors
    /// Errors of [`Modes::find`].
    pub(crate) fn expected(kernel: &Arc<HermitianWilson>, params: &ModeParams) -> Result<Self> {
        let params =
            ModeParams { count: params.count.or(Some(params.max_count)), ..params.clone() };
        let found = Self::find(kernel, None, &params, None, &mut no_monitor)?;
        let value = |k: usize| {
            if k.is_multiple_of(2) {
                0.5 * PROJECTED_FRACTION
            } else {
                -0.5 * PROJECTED_FRACTION
            }
        };
        let mut modes = Modes {
            next: PROJECTED_FRACTION,
            values: (0..found.count()).map(value).collect(),
            residuals: vec![0.0; found.count()],
            high: vec![HighMode { value: 1.0, residual: 0.0, gap: 0.0 }; found.high.len()],
            ..found
        };
        modes.estimate();
        Ok(modes)
    }

    /// All vectors that were found, orthonormal; the first `count` are projected.
    pub fn vectors(&self) -> &VectorSet {
        &self.vectors
    }
    /// Number of projected modes.
    pub fn count(&self) -> usize {
        self.values.len()
    }
    /// Eigenvalues of Q of the projected modes, ordered by modulus.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
    /// The residuals rho_k = |(Q - lambda_k) w_k| of the projected modes w_k with eigenvalues lambda_k.
    pub fn residuals(&self) -> &[f64] {
        &self.residuals
    }
    /// The distances d_k of the eigenvalues of projected modes to the rest of the spectrum of Q.
    pub fn distances(&self) -> &[f64] {
        &self.distances
    }
    /// The errors kappa_+ and kappa_- of the projectors on positive and on negative modes, as defined at the head of
    /// this file.
    pub fn kappa(&self) -> [f64; 2] {
        self.kappa
    }
    /// kappa_+ and kappa_- if the approximation of the sign function holds only above modulus `from`.
    pub(super) fn kappa_from(&self, from: f64) -> [f64; 2] {
        self.errors(from).1
    }
    /// The modulus of eigenvalues above which the sign function has to be approximated. It is below that of projected
    /// modes which are nearly degenerate with modes that are not projected.
    pub fn from(&self) -> f64 {
        self.from
    }
    /// The least and the largest modulus of the eigenvalues that are not projected.
    pub fn interval(&self) -> [f64; 2] {
        [self.next, MARGIN * self.largest().value]
    }
    /// Modes at the upper end of the spectrum, the largest modulus first.
    pub fn high(&self) -> &[HighMode] {
        &self.high
    }
    /// The mode of largest modulus.
    pub fn largest(&self) -> HighMode {
        self.high[0]
    }
    /// Report of the search.
    pub fn report(&self) -> &EigenReport {
        &self.report
    }
}

/// The image Q x of the kernel.
fn image(kernel: &Arc<HermitianWilson>, x: &SpinorField) -> Result<SpinorField> {
    let mut image = x.like(x.precision())?;
    kernel.apply(&mut image, x)?;
    Ok(image)
}

/// The matrix <v_i, Q v_j> / |q_j| of the vectors `which`, row by row, where |q_j| is the modulus that the caller gives
/// for vector j.
fn matrix(
    kernel: &Arc<HermitianWilson>,
    vectors: &VectorSet,
    which: Range<usize>,
    q: impl Fn(usize) -> f64,
) -> Result<Vec<Complex64>> {
    let n = which.len();
    let mut h = vec![Complex64::ZERO; n * n];
    for (first, m) in portions(0..n, 1) {
        let images = image(kernel, &vectors.get(which.start + first, m)?)?;
        let c = vectors.dots(which.clone(), &images, 0..m)?;
        for (k, z) in c.iter().enumerate() {
            let (i, j) = (k / m, first + k % m);
            h[i * n + j] = z / q(j);
        }
    }
    Ok(h)
}

/// Separates eigenvectors of Q that eigenvectors of Q^2 mix. Where lambda^2 belongs to both lambda and -lambda, or
/// nearly so, the vectors that were found are mixtures, and Q maps them to each other only if all vectors of a level
/// were found. With S v = Q v / |lambda|, the sign of Q, and eigenvectors c, of eigenvalue b, of the matrix of S in
/// their span, the vectors (1 + sign(b) S) sum_i c_i v_i are orthogonal eigenvectors of Q of length sqrt(2 + 2 |b|):
/// the first n vectors become these. The others are made orthogonal to them and keep the order of the report; those
/// of which nothing remains are dropped from vectors and report.
fn separate(
    kernel: &Arc<HermitianWilson>,
    mut vectors: VectorSet,
    report: &mut EigenReport,
    n: usize,
) -> Result<VectorSet> {
    // For eigenvalues near zero Q v consists mainly of the error of v; such vectors are not separated.
    let noise = |k: &usize| report.values[*k] <= 100.0 * report.residuals[*k];
    let first = (0..n).take_while(noise).count();
    let m = n - first;
    if m == 0 {
        return Ok(vectors);
    }
    let modulus: Vec<f64> = report.values[first..n].iter().map(|v| v.sqrt()).collect();
    let (b, u) = eigen_hermitian(&matrix(kernel, &vectors, first..n, |k| modulus[k])?, m)?;
    vectors.replace(first, portions(0..m, 1), |set, at, count| {
        let columns = |z: &dyn Fn(usize, usize) -> Complex64| -> Vec<Complex64> {
            (0..m * count).map(|e| z(e / count, at + e % count)).collect()
        };
        let of = |c: &[Complex64]| -> Result<SpinorField> {
            let mut sum = kernel.shape().field(count)?;
            set.combine(first..n, c, 0.0, &mut sum, 0..count)?;
            Ok(sum)
        };
        let mut x = of(&columns(&|i, k| u[i * m + k]))?;
        let y = of(&columns(&|i, k| u[i * m + k] * 1f64.copysign(b[k]) / modulus[i]))?;
        blas::axpy(&blas::uniform(count, 1.0), &image(kernel, &y)?, &mut x)?;
        Ok(x)
    })?;
    let mut at = 0;
    for k in 0..vectors.count() {
        let mut one = vectors.get(k, 1)?;
        let mut left = 1.0;
        for _ in 0..2 {
            let c: Vec<Complex64> = vectors.dots(0..at, &one, 0..1)?.iter().map(|z| -z).collect();
            vectors.combine(0..at, &c, 1.0, &mut one, 0..1)?;
            left = basis::dots(&one, 0..1, &one, 0..1)?[0].re.sqrt();
            basis::rotate(&mut one, 0..1, &[Complex64::from(1.0 / left.max(f64::MIN_POSITIVE))])?;
            if left < 1e-3 {
                break;
            }
        }
        if k >= n && left < 1e-3 {
            for all in [&mut report.values, &mut report.residuals, &mut report.bounds] {
                all.remove(at);
            }
            continue;
        }
        vectors.put(at, &one, 0, 1)?;
        at += 1;
    }
    vectors.cut(at, true)
}

/// Diagonalises Q in the span of the first n vectors; returns eigenvalues, ordered by modulus, and residuals.
fn diagonalise(
    kernel: &Arc<HermitianWilson>,
    vectors: &mut VectorSet,
    n: usize,
) -> Result<(Vec<f64>, Vec<f64>)> {
    if n == 0 {
        return Ok((vec![], vec![]));
    }
    let (all, u) = eigen_hermitian(&matrix(kernel, vectors, 0..n, |_| 1.0)?, n)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| all[i].abs().total_cmp(&all[j].abs()));
    let mut c = vec![Complex64::ZERO; n * n];
    for i in 0..n {
        for (to, &from) in order.iter().enumerate() {
            c[i * n + to] = u[i * n + from];
        }
    }
    vectors.rotate(0..n, &c)?;
    let values: Vec<f64> = order.iter().map(|&i| all[i]).collect();
    let mut residuals = vec![];
    for (first, m) in portions(0..n, 1) {
        let x = vectors.get(first, m)?;
        let minus: Vec<f64> = values[first..first + m].iter().map(|l| -l).collect();
        let r2 = blas::axpy_norm(&blas::complex(&minus), &x, &mut image(kernel, &x)?)?;
        residuals.extend(r2.iter().map(|r| r.sqrt()));
    }
    Ok((values, residuals))
}

/// Refuses a search that was cut short, as its modes are not complete.
pub(super) fn not_ended(report: &EigenReport, what: &str, max_seconds: f64) -> Result<()> {
    match report.stopped_by.filter(|_| report.stopped) {
        None => Ok(()),
        Some(StoppedBy::Seconds) => bail!(
            KernelSpectrum,
            "{what}: {max_seconds} s were over after {} restarts of the search: allow more seconds, or ask \
             for fewer modes or a larger tolerance",
            report.restarts
        ),
        _ => bail!(
            KernelSpectrum,
            "{what}: the callback ended the search after {} restarts",
            report.restarts
        ),
    }
}

/// Finds the largest eigenvalues of |Q|, at least one, by the method of `params`.
fn highest(
    square: &KernelSquare,
    params: &ModeParams,
    limit: &Limit,
    monitor: &mut Monitor,
) -> Result<Vec<HighMode>> {
    let high = params.high.min(square.shape().numbers() as usize / 8);
    let count = high + 1;
    let (end, seed, max_seconds) = (End::Largest, params.seed, limit.left());
    let (_, report) = match params.method {
        EigenMethod::Lanczos => {
            let params = EigenParams {
                end,
                count,
                max_vectors: 2 * count + 22,
                tol: HIGH_TOL,
                max_restarts: 30,
                filter: Filter::Plain,
                verify: false,
                seed,
                max_seconds,
                ..Default::default()
            };
            eigen(square, None, &params, None, monitor)?
        }
        EigenMethod::Ritz => {
            // For random x, |Q^2 x| / |x| is below the largest eigenvalue of Q^2 and of its order of magnitude.
            let (mut x, mut y) = (square.shape().field(1)?, square.shape().field(1)?);
            x.set_noise(Noise::Normal, seed, 0)?;
            square.apply(&mut y, &x)?;
            let size = (blas::norm2(&y)?[0] / blas::norm2(&x)?[0]).sqrt();
            if size == 0.0 {
                bail!(KernelSpectrum, "the kernel vanishes");
            }
            let tol = HIGH_TOL * size;
            let params =
                RitzParams { end, count, tol, max_cycles: 30, verify: false, seed, max_seconds };
            ritz(square, &params, None, monitor)?
        }
    };
    not_ended(&report, "high modes of the kernel", params.max_seconds)?;
    let root = |k: usize| report.values[k].max(0.0).sqrt();
    if root(0) == 0.0 {
        bail!(KernelSpectrum, "the kernel vanishes");
    }
    let mode = |k: usize| {
        let value = root(k);
        let residual = report.residuals[k] / (2.0 * value.max(f64::MIN_POSITIVE));
        HighMode { value, residual, gap: value - root(high) }
    };
    Ok((0..high).map(mode).collect())
}
