//! Lowest eigenvectors on every time slice separately, for an operator without hops in time: subspace iteration on
//! Chebyshev polynomials with Rayleigh-Ritz on each slice (Zhou, Saad, Tiago and Chelikowsky, J. Comput. Phys. 219,
//! 172). All slices are multiplied together; the small matrices of slices are diagonalised on the host in parallel.

use std::time::Instant;

use num_complex::Complex64;
use rayon::prelude::*;

use super::dense::{cholesky, eigen_hermitian, orthonormaliser};
use super::eigen_params::{error_bounds, EigenParams, EigenReport, Filter, MAX_RESTARTS};
use super::filter::{eigen_tol, End, Polynomial};
use super::lanczos::eigen;
use super::stop::{Stop, Watch};
use super::Monitor;
use crate::error::{within, Result};
use crate::fields::time_slices::{combine, dots, Combination};
use crate::fields::{blas, Noise, VectorField};
use crate::linop::{LinOp, Shape};
use crate::refuse;

/// Least ratio by which the polynomial amplifies the last wanted vector relative to unwanted ones.
const GAIN: f64 = 1e3;
/// Largest ratio by which the polynomial may amplify the last wanted vector relative to unwanted ones.
const LARGE_GAIN: f64 = 1e7;
/// Largest ratio by which the polynomial may amplify the first wanted vector relative to unwanted ones.
const MAX_GAIN: f64 = 1e9;
/// Largest degree of the polynomial.
const MAX_DEGREE: f64 = 400.0;
/// Largest residual, relative to the largest eigenvalue, at which a search that began in single precision continues
/// in double.
const SINGLE_RESIDUAL: f64 = 1e-5;
/// Number of vectors that are multiplied together.
const VECTOR_BLOCK: usize = 32;
/// Number of random vectors that search for missed eigenvectors.
const SEARCHING: usize = 4;
/// Number of times that the polynomial is applied to these random vectors.
const SEARCH_APPLICATIONS: usize = 3;
/// Number of unknowns up to which a slice is diagonalised completely. Larger slices are, too, if the vectors with which
/// the search would work are more than half of the unknowns.
const SMALL: usize = 96;

/// Number of vectors with which a search for `count` vectors works on a slice with this number of unknowns.
fn space_size(count: usize, unknowns: usize) -> usize {
    let m = count + (count / 2).max(8);
    match unknowns <= SMALL || 2 * m > unknowns {
        true => unknowns,
        false => m,
    }
}

/// Bytes of device memory of a search for `count` vectors of each time slice, and of the vectors found.
pub fn slice_modes_memory(shape: &Shape, count: usize) -> u64 {
    let times = shape.geometry.global_extents()[3];
    let m = space_size(count, shape.numbers() as usize / times);
    shape.bytes(2 * m + VECTOR_BLOCK.min(m) + 3 * SEARCHING)
}

/// The `count` lowest eigenvectors of each time slice; vector k of the result holds eigenvector k of every slice,
/// each normalised to 1. `rough`, if given, is the same operator in single precision, with which the search begins
/// before it continues in double. Values, residuals and bounds in the report are [t][k]; `beyond` has the next value
/// of each slice. Of `params` only `count`, `tol`, `max_restarts`, `verify`, `seed` and `max_seconds` are used.
///
/// # Errors
/// `BadParameter`; `Unsupported`: the operator is not hermitian, or its vectors are no colour vectors on the whole
/// lattice; `OutOfMemory`.
pub fn slice_modes(
    op: &dyn LinOp,
    mut rough: Option<&dyn LinOp>,
    params: &EigenParams,
    monitor: &mut Monitor,
) -> Result<(VectorField, EigenReport)> {
    let (start, shape) = (Instant::now(), op.shape());
    if !op.hermitian() || params.end != End::Smallest {
        refuse!(
            Unsupported,
            "eigen",
            expected("a hermitian operator and its smallest eigenvalues")
        );
    }
    let times = shape.geometry.global_extents()[3];
    let unknowns = shape.sites() / times * shape.components.slices * shape.components.reals() / 2;
    within("count", params.count, 1, unknowns)?;
    within("max_restarts", params.max_restarts, 1, MAX_RESTARTS)?;
    let tol = eigen_tol("tol", params.tol, shape.precision)?;
    let m = space_size(params.count, unknowns);
    let need = slice_modes_memory(&shape, params.count);
    shape.geometry.require(&shape.device, need, "eigenvectors of time slices")?;

    let top = EigenParams {
        end: End::Largest,
        count: 1,
        // A low accuracy suffices, as the upper end of the interval is set 5 % higher.
        tol: 2e-2,
        filter: Filter::Plain,
        verify: false,
        max_seconds: params.max_seconds,
        ..Default::default()
    };
    let (_, top) = eigen(op, None, &top, None, monitor)?;
    let largest = top.largest;
    let mut watch = Watch::new(
        Stop::within(params.max_seconds)?,
        &shape.device,
        shape.geometry.comm(),
        monitor,
    );
    let mut report = EigenReport {
        largest,
        count: params.count,
        applications: top.applications,
        ..EigenReport::default()
    };

    let _kept = shape.device.keep_memory();
    let begin = rough.unwrap_or(op);
    let vectors = || begin.shape().field(m);
    let mut space = Space { op: begin, times, largest, v: vectors()?, other: vectors()? };
    space.v.set_noise(Noise::Normal, params.seed, 0)?;
    // The lower end of the interval is unknown yet.
    let mut p =
        Polynomial { degree: 8, from: 0.25 * largest, to: 1.05 * largest, at: top.least.min(0.0) };
    let mut before = f64::INFINITY;
    for restart in 1..=watch.limit(params.max_restarts) {
        report.restarts = restart;
        if m < unknowns {
            report.applications += (m * p.degree) as u64;
            if !space.filter(&p, &mut watch)? && restart > 1 {
                report.stopped = true;
                break;
            }
        }
        // The vectors before a polynomial was applied are those of the last restart.
        let Some(values) = space.ritz(&mut watch, restart > 1 && m < unknowns)? else {
            report.stopped = true;
            break;
        };
        let r2 = space.residuals(&values, params.count, &mut watch)?;
        report.applications += (m + params.count) as u64;

        let wanted = values.chunks(m).flat_map(|slice| slice[..params.count].to_vec());
        report.values = wanted.collect();
        report.residuals = r2.iter().map(|r2| r2.max(0.0).sqrt()).collect();
        let next = |slice: &[f64]| slice.get(params.count).copied().unwrap_or(f64::INFINITY);
        report.beyond = values.chunks(m).map(next).collect();
        let worst = report.residuals.iter().fold(0.0f64, |w, &r| w.max(r)) / largest;
        report.converged = worst <= tol && rough.is_none();
        (report.degree, report.from, report.to) = (p.degree, p.from, p.to);
        report.stopped = watch.after(restart, &[worst]).is_some() && !report.converged;
        if report.stopped {
            break;
        }
        let over = |k: usize| (0..times).map(move |t| t * m + k);
        let largest_of = |k: usize| over(k).map(|i| values[i]).fold(f64::MIN, f64::max);
        let lowest = over(0).map(|i| values[i]).fold(f64::MAX, f64::min);
        // The search changes to double precision when single precision has reached its goal or no longer makes
        // progress.
        let goal = if rough.is_some() { tol.max(SINGLE_RESIDUAL) } else { tol };
        let refined = rough.is_some() && (worst <= goal || (restart > 3 && worst > 0.5 * before));
        before = worst;
        if refined {
            rough = None;
            space = space.refined(op)?;
        }
        let goal = if refined { tol } else { goal };
        let gain = (worst / goal * 10.0).clamp(GAIN, LARGE_GAIN);
        let bounds = (lowest, largest_of(params.count - 1), largest_of(m - 1).min(0.9 * largest));
        p = polynomial(bounds, 1.05 * largest, gain);
        if report.converged {
            report.verified = m == unknowns;
            if report.verified || !params.verify {
                break;
            }
            report.applications += (SEARCH_APPLICATIONS * SEARCHING * (p.degree + 1)) as u64;
            let seed = params.seed.wrapping_add(restart as u64);
            let known = (params.count, &report.values[..]);
            let complete = space.nothing_is_missing(&p, known, seed, &mut watch)?;
            report.verified = watch.met(complete == Some(true));
            if report.verified {
                break;
            }
            report.converged = false;
            if complete.is_none() {
                report.stopped = true;
                break;
            }
        }
    }
    report.least = report.values.iter().fold(f64::MAX, |a, &b| a.min(b));
    report.bounds = report
        .values
        .chunks(params.count)
        .zip(report.residuals.chunks(params.count))
        .flat_map(|(values, residuals)| error_bounds(values, residuals))
        .collect();
    report.ended_by(&watch);
    report.seconds = start.elapsed().as_secs_f64();
    let Space { v, other, .. } = space;
    drop(other);
    shape.device.free_kept()?;
    let mut wanted = shape.field(params.count)?;
    wanted.copy_rhs(0, &v, 0, params.count)?;
    Ok((wanted, report))
}

/// The vectors of the iteration, and memory for as many further vectors.
struct Space<'a> {
    op: &'a dyn LinOp,
    times: usize,
    largest: f64,
    v: VectorField,
    other: VectorField,
}

impl<'a> Space<'a> {
    /// These vectors, converted to the precision of `op`, with which the search continues.
    fn refined(self, op: &'a dyn LinOp) -> Result<Space<'a>> {
        let Space { times, largest, v: rough, other, .. } = self;
        // Vectors of the other precision have another size in bytes: the kept memory of these cannot be used again.
        let device = op.shape().device;
        drop(other);
        device.free_kept()?;
        let mut v = op.shape().field(rough.nrhs())?;
        blas::copy(&mut v, &rough)?;
        drop(rough);
        device.free_kept()?;
        let other = v.like(v.precision())?;
        Ok(Space { op, times, largest, v, other })
    }

    fn count(&self) -> usize {
        self.v.nrhs()
    }

    /// Divides `count` vectors into groups: number of the first vector, and count.
    fn portions(&self, count: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..count).step_by(VECTOR_BLOCK).map(move |first| (first, VECTOR_BLOCK.min(count - first)))
    }

    /// Computes v = p(A) v. If the watch ends the search before, returns false, and v stays as it was.
    fn filter(&mut self, p: &Polynomial, watch: &mut Watch) -> Result<bool> {
        for (first, n) in self.portions(self.count()) {
            let mut out = self.other.columns(first, n)?;
            if !p.apply(self.op, &mut out, &self.v.columns(first, n)?, watch)? {
                return Ok(false);
            }
        }
        std::mem::swap(&mut self.v, &mut self.other);
        Ok(true)
    }

    /// Computes v = v c, with a matrix c for each slice.
    fn rotate(&mut self, c: &[Complex64], watch: &mut Watch) -> Result<()> {
        let m = self.count();
        for (first, n) in self.portions(m) {
            let some: Vec<Complex64> =
                c.chunks(m).flat_map(|row| &row[first..first + n]).copied().collect();
            combine(&mut self.other.columns(first, n)?, &self.v, &some, Combination::Of)?;
            watch.continues(n)?;
        }
        std::mem::swap(&mut self.v, &mut self.other);
        Ok(())
    }

    /// Products of all vectors with each other on every slice, [t][i][j]. `None`: the watch has ended the search before,
    /// which only counts if `may_end`.
    fn products(&self, watch: &mut Watch, may_end: bool) -> Result<Option<Vec<Complex64>>> {
        let m = self.count();
        let mut all = vec![Complex64::ZERO; self.times * m * m];
        for (first, n) in self.portions(m) {
            put_columns(&mut all, (m, first, n), &dots(&self.v, &self.v.columns(first, n)?)?);
            if !watch.continues(n)? && may_end {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// Makes the vectors orthonormal and rotates them into Ritz vectors; returns the Ritz values, ascending for each
    /// slice. Vectors that depended linearly on others become zero and come last.
    ///
    /// If the watch ends the search meanwhile, vectors that are orthonormal already are not rotated, and the values are
    /// their Rayleigh quotients. `old_are_kept`: `filter` made these vectors of others, and `None` is returned with these
    /// others in their place if the search ends before they are overwritten.
    fn ritz(&mut self, watch: &mut Watch, old_are_kept: bool) -> Result<Option<Vec<f64>>> {
        let m = self.count();
        let mut rank = vec![m; self.times];
        // Orthogonalises twice, since nearly dependent vectors lose digits the first time.
        for pass in 0..2 {
            let Some(products) = self.products(watch, pass == 0 && old_are_kept)? else {
                std::mem::swap(&mut self.v, &mut self.other);
                return Ok(None);
            };
            let found = slices(&products, m, orthonormal)?;
            let mut t = vec![];
            for ((found, r), rank) in found.into_iter().zip(&mut rank) {
                t.extend(found);
                *rank = r;
            }
            self.rotate(&t, watch)?;
        }
        let mut h = vec![Complex64::ZERO; self.times * m * m];
        for (first, n) in self.portions(m) {
            let mut image = self.v.like_with(self.v.precision(), n)?;
            self.op.apply(&mut image, &self.v.columns(first, n)?)?;
            watch.continues(n)?;
            put_columns(&mut h, (m, first, n), &dots(&self.v, &image)?);
            watch.continues(n)?;
        }
        for (slice, &rank) in h.chunks_mut(m * m).zip(&rank) {
            (rank..m).for_each(|k| slice[k * m + k] = (2.0 * self.largest).into());
        }
        let (mut values, mut u) = (vec![], vec![]);
        for some in h.chunks(m * m * rayon::current_num_threads()) {
            // Without a sum over ranks, of which each may have another number of threads.
            if !watch.continues(0)? {
                let quotient = |k: usize| h[k / m * m * m + k % m * (m + 1)].re;
                return Ok(Some((0..self.times * m).map(quotient).collect()));
            }
            for (found, rotation) in slices(some, m, eigen_hermitian)? {
                values.extend(found);
                u.extend(rotation);
            }
        }
        self.rotate(&u, watch)?;
        Ok(Some(values))
    }

    /// The squared residuals |A v - lambda v|^2 of the first `count` vectors.
    fn residuals(&self, values: &[f64], count: usize, watch: &mut Watch) -> Result<Vec<f64>> {
        let m = self.count();
        let mut r2 = vec![0.0; self.times * count];
        for (first, n) in self.portions(count) {
            let (x, mut r) = (self.v.columns(first, n)?, self.v.like_with(self.v.precision(), n)?);
            self.op.apply(&mut r, &x)?;
            watch.continues(n)?;
            let minus: Vec<Complex64> = values
                .chunks(m)
                .flat_map(|v| v[first..first + n].iter().map(|&x| (-x).into()))
                .collect();
            combine(&mut r, &x, &minus, Combination::AddDiagonal)?;
            let products = dots(&r, &r)?;
            for t in 0..self.times {
                for k in 0..n {
                    r2[t * count + first + k] = products[(t * n + k) * n + k].re;
                }
            }
        }
        Ok(r2)
    }

    /// Whether random vectors orthogonal to the first `count` lead to no eigenvalue below those found. If they do,
    /// they replace the last vectors. `None`: the watch has ended the search before.
    fn nothing_is_missing(
        &mut self,
        p: &Polynomial,
        (count, values): (usize, &[f64]),
        seed: u64,
        watch: &mut Watch,
    ) -> Result<Option<bool>> {
        let (m, n) = (self.count(), SEARCHING.min(self.count() - count));
        let found = self.v.columns(0, count)?;
        let mut w = self.v.like_with(self.v.precision(), n)?;
        w.set_noise(Noise::Normal, seed, m as u32)?;
        let like = |w: &VectorField| w.like(w.precision());
        let (other, mut image) = (like(&w)?, like(&w)?);
        let mut search =
            Space { op: self.op, times: self.times, largest: self.largest, v: w, other };
        let mut least = vec![];
        for _ in 0..SEARCH_APPLICATIONS {
            if !p.apply(self.op, &mut image, &search.v, watch)? {
                return Ok(None);
            }
            std::mem::swap(&mut image, &mut search.v);
            for _ in 0..2 {
                let c: Vec<Complex64> = dots(&found, &search.v)?.iter().map(|z| -z).collect();
                combine(&mut search.v, &found, &c, Combination::Add)?;
            }
            least = search.ritz(watch, false)?.unwrap_or_default();
            if !watch.continues(0)? {
                return Ok(None);
            }
        }
        // Eigenvalues closer than this count as one degenerate level, which has no order.
        let near = 1e-6 * self.largest;
        let missing = least
            .chunks(n)
            .zip(values.chunks(count))
            .any(|(found, known)| found[0] < known[count - 1] - near);
        if missing {
            self.v.copy_rhs(m - n, &search.v, 0, n)?;
        }
        Ok(Some(!missing))
    }
}

/// Stores n columns of matrices of m columns, from column `first` on.
fn put_columns(all: &mut [Complex64], (m, first, n): (usize, usize, usize), some: &[Complex64]) {
    for (row, some) in all.chunks_mut(m).zip(some.chunks(n)) {
        row[first..first + n].copy_from_slice(some);
    }
}

/// Runs `work` for the m x m matrix of every slice, in parallel.
fn slices<T: Send>(
    all: &[Complex64],
    m: usize,
    work: impl Fn(&[Complex64], usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    all.par_chunks(m * m).map(|slice| work(slice, m)).collect()
}

/// The matrix T for which the columns of V T are orthonormal, given V^dagger V = g, and the number of these columns;
/// for vectors that depend on others the last columns of T are zero.
fn orthonormal(g: &[Complex64], m: usize) -> Result<(Vec<Complex64>, usize)> {
    if let Some(t) = cholesky(g, m) {
        return Ok((t, m));
    }
    let (found, _, r) = orthonormaliser(g, m)?;
    let at = |k: usize| if k % m < r { found[k / m * r + k % m] } else { Complex64::ZERO };
    Ok(((0..m * m).map(at).collect(), r))
}

/// A polynomial that is small above `cut` and `gain` times as large at `wanted`, but not too large at `lowest`. If
/// the iterated vectors end within the level of the last wanted one, the polynomial is large on that level, too.
fn polynomial((lowest, wanted, cut): (f64, f64, f64), to: f64, gain: f64) -> Polynomial {
    let same_level = cut - wanted < 1e-4 * (to - wanted);
    let cut = if same_level { wanted + 0.05 * (to - wanted) } else { cut };
    let rate = |x: f64| (1.0 + 2.0 * (cut - x).max(1e-12) / (to - cut)).acosh();
    let degree = (gain.ln() / rate(wanted)).min(MAX_GAIN.ln() / rate(lowest));
    let degree = degree.clamp(2.0, MAX_DEGREE).ceil() as usize;
    Polynomial { degree, from: cut, to, at: lowest.min(cut - 1e-3 * (to - cut)) }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::backend::Device;
    use crate::fields::{Components, GaugeField, Geometry, Precision, Recon};
    use crate::solvers::{no_monitor, Progress};
    use plaq::operators::Laplace;

    /// A search that changes from single to double precision takes no more than it announces, with the memory that is
    /// kept for later fields.
    #[test]
    fn a_change_of_precision_leaves_nothing_behind() {
        let device = Device::cpu(2).unwrap();
        let geometry = Geometry::new([8, 8, 8, 4], &device).unwrap();
        let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        links.set_near_unit(7, 0.3).unwrap();
        let short = links.to(Precision::F32, Recon::R18).unwrap();
        let [op, rough] = [links, short]
            .map(|links| Laplace::massive(links.into(), Components::COLOUR, 7, 0.0).unwrap());
        let (held, before) = (device.used().0, device.held());
        let mut most = 0;
        let mut monitor = |_: &Progress| {
            most = most.max(device.held() - before);
            ControlFlow::Continue(())
        };
        let params = EigenParams { count: 8, verify: false, ..EigenParams::default() };
        let announced = slice_modes_memory(&op.shape(), params.count);
        let (found, report) = slice_modes(&op, Some(&rough), &params, &mut monitor).unwrap();
        assert!(report.converged && most > announced / 2, "{most} {announced} {report:?}");
        assert!(most <= announced, "{most} bytes, announced {announced}");
        drop(found);
        assert_eq!((device.used().0, device.held()), (held, before));
    }

    /// An operator that takes some time for each vector.
    struct Slow(Laplace);

    impl LinOp for Slow {
        fn shape(&self) -> Shape {
            self.0.shape()
        }
        fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
            std::thread::sleep(std::time::Duration::from_millis(inp.nrhs() as u64));
            self.0.apply(out, inp)
        }
        fn hermitian(&self) -> bool {
            true
        }
        fn flops(&self) -> f64 {
            self.0.flops()
        }
        fn bytes(&self, nrhs: usize) -> f64 {
            self.0.bytes(nrhs)
        }
    }

    /// Wherever a search is ended, its vectors are orthonormal on every slice, and values and residuals are theirs.
    #[test]
    fn results_agree_wherever_a_search_is_ended() {
        let device = Device::cpu(2).unwrap();
        let geometry = Geometry::new([4, 4, 4, 4], &device).unwrap();
        let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        links.set_near_unit(7, 0.3).unwrap();
        let op = Laplace::massive(links.into(), Components::COLOUR, 7, 0.0).unwrap();
        let op = Slow(op);
        let (times, count) = (4, 6);
        let mut restarts = std::collections::BTreeSet::new();
        for k in 1..30 {
            let max_seconds = 0.03 * k as f64;
            let params = EigenParams { count, max_seconds, tol: 1e-14, ..EigenParams::default() };
            let (v, report) = slice_modes(&op, None, &params, &mut no_monitor).unwrap();
            assert!(report.stopped && !report.converged, "{report:?}");
            restarts.insert(report.restarts);
            let mut image = v.like(Precision::F64).unwrap();
            op.0.apply(&mut image, &v).unwrap();
            let (vv, vav, aa) =
                (dots(&v, &v).unwrap(), dots(&v, &image).unwrap(), dots(&image, &image).unwrap());
            for t in 0..times {
                for i in 0..count {
                    for j in 0..count {
                        let expected = if i == j { 1.0 } else { 0.0 };
                        let found = vv[(t * count + i) * count + j];
                        assert!((found - expected).norm() < 1e-10, "{max_seconds} {found}");
                    }
                    let at = (t * count + i) * count + i;
                    let (value, residual) =
                        (report.values[t * count + i], report.residuals[t * count + i]);
                    assert!((vav[at].re - value).abs() < 1e-10, "{max_seconds}: {value}");
                    let r2 = (aa[at].re - value * value).max(0.0);
                    assert!((r2 - residual * residual).abs() < 1e-8, "{max_seconds}: {residual}");
                }
            }
        }
        assert!(restarts.len() > 2, "{restarts:?}");
    }

    /// If the third lowest vector of every slice is left out, the search reports it as missing; if it is not, none is
    /// missing.
    #[test]
    fn a_missing_mode_is_found() {
        let device = Device::cpu(2).unwrap();
        let geometry = Geometry::new([4, 4, 4, 4], &device).unwrap();
        let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        links.set_near_unit(7, 0.3).unwrap();
        let op = Laplace::massive(links.into(), Components::COLOUR, 7, 0.0).unwrap();
        let (times, count) = (4, 6);
        let params = EigenParams { count, ..EigenParams::default() };
        let (found, report) = slice_modes(&op, None, &params, &mut no_monitor).unwrap();
        assert!(report.verified && report.values.len() == times * count);
        for missing in [false, true] {
            let kept: Vec<usize> = (0..count).filter(|&k| !(missing && k == 2)).collect();
            let mut v = found.like_with(Precision::F64, kept.len() + SEARCHING).unwrap();
            for (to, &from) in kept.iter().enumerate() {
                v.copy_rhs(to, &found, from, 1).unwrap();
            }
            let values: Vec<f64> = report
                .values
                .chunks(count)
                .flat_map(|slice| kept.iter().map(|&k| slice[k]).collect::<Vec<_>>())
                .collect();
            let top = values.iter().fold(0.0f64, |a, &b| a.max(b));
            let p = polynomial((0.0, top, 1.3 * top), 12.5, GAIN);
            let other = v.like(Precision::F64).unwrap();
            let mut space = Space { op: &op, times, largest: 12.0, v, other };
            let (stop, comm) = (Stop::new(), geometry.comm());
            let mut monitor = no_monitor;
            let mut watch = Watch::new(stop, &device, comm, &mut monitor);
            let known = (kept.len(), &values[..]);
            let whole = space.nothing_is_missing(&p, known, 1, &mut watch).unwrap();
            assert_eq!(whole, Some(!missing));
        }
    }
}
