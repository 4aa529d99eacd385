//! Lowest eigenvectors of every time slice by itself, of an operator that has no hops in time: subspace iteration on
//! Chebyshev polynomials with Rayleigh-Ritz on each slice (Zhou, Saad, Tiago and Chelikowsky, J. Comput. Phys. 219,
//! 172). All slices are multiplied at once.

use std::time::Instant;

use num_complex::Complex64;

use super::dense::{eigen_hermitian, orthonormaliser};
use super::eigen_params::{error_bounds, EigenParams, EigenReport, Filter, MAX_RESTARTS};
use super::filter::{eigen_tol, End, Polynomial};
use super::lanczos::eigen;
use super::stop::{Stop, Watch};
use super::{limited, Monitor};
use crate::error::{within, Result};
use crate::fields::time_slices::{combine, dots, Combination};
use crate::fields::{Noise, VectorField};
use crate::linop::LinOp;
use crate::refuse;

/// Ratio by which the polynomial enlarges the last vector wanted against what is not wanted; also its largest value
/// for the first one.
const GAIN: f64 = 1e3;
const MAX_GAIN: f64 = 1e9;
const MAX_DEGREE: f64 = 400.0;

/// The `count` lowest eigenvectors of each time slice. Vector k of the result holds number k of every slice, of unit
/// length there. Values, residuals and bounds of the report run over times, slowest, then vectors. Of `params` count,
/// `tol`, `max_restarts`, `seed` and `max_seconds` matter.
///
/// # Errors
/// `BadParameter`; `Unsupported`: the operator is not hermitian, or its vectors are no colour vectors on the whole
/// lattice; `OutOfMemory`.
pub fn slice_modes(
    op: &dyn LinOp,
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
    let unknowns = shape.numbers() as usize / times;
    within("count", params.count, 1, unknowns)?;
    within("max_restarts", params.max_restarts, 1, MAX_RESTARTS)?;
    let tol = eigen_tol("tol", params.tol, shape.precision)?;
    let m = (params.count + (params.count / 2).max(8)).min(unknowns);
    let need = shape.bytes(5 * m);
    shape.geometry.require(&shape.device, need, "eigenvectors of time slices")?;

    let top = EigenParams {
        end: End::Largest,
        count: 1,
        tol: 1e-3,
        filter: Filter::Plain,
        verify: false,
        max_seconds: params.max_seconds,
        ..Default::default()
    };
    let (_, top) = eigen(op, None, &top, None, monitor)?;
    let largest = top.largest;
    let mut watch = Watch::new(Stop::within(params.max_seconds)?, shape.geometry.comm(), monitor);
    let mut report =
        EigenReport { largest, applications: top.applications, ..EigenReport::default() };

    let mut v = shape.field(m)?;
    v.set_noise(Noise::Normal, params.seed, 0)?;
    let mut image = v.like(v.precision())?;
    // Nothing is known of the lower end.
    let mut p =
        Polynomial { degree: 8, from: 0.25 * largest, to: 1.05 * largest, at: top.least.min(0.0) };
    for restart in 1..=limited(params.max_restarts) {
        report.restarts = restart;
        p.apply(op, &mut image, &v)?;
        std::mem::swap(&mut v, &mut image);
        // Twice: what is nearly dependent has lost its digits the first time.
        let mut rank = vec![m; times];
        for _ in 0..2 {
            let g = dots(&v, &v)?;
            let mut t = vec![];
            for (slice, rank) in g.chunks(m * m).zip(&mut rank) {
                let (found, _, r) = orthonormaliser(slice, m)?;
                let at =
                    |k: usize| if k % m < r { found[k / m * r + k % m] } else { Complex64::ZERO };
                t.extend((0..m * m).map(at));
                *rank = r;
            }
            combine(&mut image, &v, &t, Combination::Of)?;
            std::mem::swap(&mut v, &mut image);
        }
        op.apply(&mut image, &v)?;
        report.applications += m * (p.degree + 1);
        let mut h = dots(&v, &image)?;
        let (mut values, mut u) = (vec![], vec![]);
        for (slice, &rank) in h.chunks_mut(m * m).zip(&rank) {
            // Vectors that are missing come last.
            (rank..m).for_each(|k| slice[k * m + k] = (2.0 * largest).into());
            let (found, rotation) = eigen_hermitian(slice, m)?;
            values.extend(found);
            u.extend(rotation);
        }
        let mut next = v.like(v.precision())?;
        combine(&mut next, &v, &u, Combination::Of)?;
        combine(&mut v, &image, &u, Combination::Of)?;
        // A x in `v`, x in `next`: residuals.
        let minus: Vec<Complex64> = values.iter().map(|&x| (-x).into()).collect();
        combine(&mut v, &next, &minus, Combination::AddDiagonal)?;
        let r2 = dots(&v, &v)?;
        v = next;

        let pick = |all: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            (0..times)
                .flat_map(|t| (0..params.count).map(move |k| (t, k)))
                .map(|(t, k)| all(t, k))
                .collect()
        };
        report.values = pick(&|t, k| values[t * m + k]);
        report.residuals = pick(&|t, k| r2[t * m * m + k * (m + 1)].re.max(0.0).sqrt());
        let worst = report.residuals.iter().fold(0.0f64, |w, &r| w.max(r)) / largest;
        report.converged = worst <= tol;
        (report.degree, report.interval) = (p.degree, [p.from, p.to]);
        report.stopped = watch.after(restart, &[worst]).is_some() && !report.converged;
        if report.converged || report.stopped {
            break;
        }
        let over = |k: usize| (0..times).map(move |t| t * m + k);
        let cut = over(m - 1).map(|i| values[i]).fold(f64::MIN, f64::max).min(0.9 * largest);
        let wanted = over(params.count - 1).map(|i| values[i]).fold(f64::MIN, f64::max);
        let lowest = over(0).map(|i| values[i]).fold(f64::MAX, f64::min);
        p = polynomial(lowest, wanted, cut, 1.05 * largest);
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
    let mut wanted = shape.field(params.count)?;
    wanted.copy_rhs(0, &v, 0, params.count)?;
    Ok((wanted, report))
}

/// A polynomial that is small above `cut` and large up to `wanted`, but not too large at `lowest`. If the vectors of
/// the iteration end within the level of the last one wanted, it is large on that level, too.
fn polynomial(lowest: f64, wanted: f64, cut: f64, to: f64) -> Polynomial {
    let same_level = cut - wanted < 1e-4 * (to - wanted);
    let cut = if same_level { wanted + 0.05 * (to - wanted) } else { cut };
    let rate = |x: f64| (1.0 + 2.0 * (cut - x).max(1e-12) / (to - cut)).acosh();
    let degree = (GAIN.ln() / rate(wanted)).min(MAX_GAIN.ln() / rate(lowest));
    let degree = degree.clamp(2.0, MAX_DEGREE).ceil() as usize;
    Polynomial { degree, from: cut, to, at: lowest.min(cut - 1e-3 * (to - cut)) }
}
