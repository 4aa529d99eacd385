//! Low modes' parts of meson correlators, averaged over all sources (DeGrand, Schaefer, Comput. Phys. Commun. 159
//! (2004) 185; Giusti et al., JHEP 04 (2004) 013): the exact correlator C\[L, L\] of an approximate inverse L of a
//! level.

use std::ops::Range;

use num_complex::Complex64;

use super::insertions::{insertions, Lines};
use super::low_space::LowSpace;
use super::sequential::{through_operator, SliceWave};
use super::spin::Spin;
use crate::error::{host_array, Result};
use crate::fields::{SpinorField, VectorSet};
use crate::operators::Boundary;
use crate::ops::gamma::{Gamma, SpinMatrix};
use crate::refuse;
use crate::solvers::{Monitor, Progress};

/// Meson correlators of low modes, and whether all of them were computed.
pub struct LowMesons {
    /// Correlators [momentum][pair][t], with t counted from the source.
    pub correlators: Vec<Complex64>,
    /// True if the monitor ended the work; `correlators` is then empty.
    pub stopped: bool,
    /// Number of solves on the level that did not converge.
    pub failed: usize,
}

/// The mean over all sites x0 of the lattice of C_AB(t) = -sum_x exp(-i p (x - x0)) tr\[Gamma_A L(x, x0) gamma_t
/// Gamma_B^dagger gamma_t gamma5 L(x, x0)^dagger gamma5\], x at the time t after that of x0, for pairs (A, B). With W
/// = P D_c^-1 e for coordinate vectors e of the level, and the matrix M of R Gamma R^dagger between these on the
/// source's time slice, it is a contraction of W M with W; each coordinate vector takes one solve.
///
/// # Errors
/// Errors of [`LowSpace::solve`] and [`insertions`]; `InvalidArgument`: no pairs or momenta.
pub fn low_mesons(
    space: &LowSpace,
    level: usize,
    pairs: &[(Gamma, Gamma)],
    momenta: &[[i32; 3]],
    monitor: &mut Monitor,
) -> Result<LowMesons> {
    if pairs.is_empty() || momenta.is_empty() {
        refuse!(
            InvalidArgument,
            "pairs",
            expected("a pair of Gammas and a momentum"),
            found("none")
        );
    }
    let geometry = space.op().links().geometry().clone();
    let extents = geometry.global_extents();
    let (times, volume) = (extents[3], extents.iter().product::<usize>());
    let coarse = space.extents(level);
    let sites: usize = coarse.iter().product();
    let rows = space.unknowns(level) / sites;
    let mut found = host_array(
        momenta.len() * pairs.len() * times,
        Complex64::ZERO,
        "correlators of low modes",
    )?;
    let mut sources: Vec<Gamma> = pairs.iter().map(|(_, source)| *source).collect();
    sources.sort_by_key(|gamma| gamma.number());
    sources.dedup();
    let mut failed = 0;
    for site in 0..sites {
        let residual = [1.0 - site as f64 / sites as f64];
        let now = Progress { iteration: site, residual: &residual, seconds: 0.0 };
        if monitor(&now).is_break() {
            return Ok(LowMesons { correlators: vec![], stopped: true, failed });
        }
        let units = space.units(level, site * rows, rows)?;
        // Applies gamma5 R^dagger to the unit vectors.
        let left = space.left(level, &units)?;
        let (x, how) = space.solve(level, &units)?;
        failed += usize::from(!how.converged);
        let w = space.prolong(level, &x)?;
        let slice = times / coarse[3];
        let at = site / (coarse[0] * coarse[1] * coarse[2]);
        for (gamma, momentum) in
            sources.iter().flat_map(|gamma| momenta.iter().map(move |momentum| (*gamma, *momentum)))
        {
            for time in at * slice..(at + 1) * slice {
                let z = by_source(space, level, (&left, &w), site * rows..(site + 1) * rows, {
                    let wave =
                        SliceWave { time: Some(time), momentum, origin: [0; 4], shift: [0.0; 4] };
                    (gamma, wave)
                })?;
                let lines = Lines {
                    back: &w,
                    forward: &z,
                    links: None,
                    boundary: [Boundary::PERIODIC; 2],
                    origin: [0, 0, 0, time],
                };
                let all = insertions(lines, &[vec![]], &[momentum.map(|n| -n)])?;
                let p = momenta.iter().position(|q| *q == momentum).unwrap_or_default();
                for (k, (sink, _)) in pairs.iter().enumerate().filter(|(_, (_, b))| *b == gamma) {
                    let from = &all[sink.number() * times..][..times];
                    let to = &mut found[(p * pairs.len() + k) * times..][..times];
                    to.iter_mut().zip(from).for_each(|(c, z)| *c -= z / volume as f64);
                }
            }
        }
    }
    Ok(LowMesons { correlators: found, stopped: false, failed })
}

/// Computes W M with M = R exp(i p x) gamma_t Gamma^dagger gamma_t gamma5 R^dagger on a time slice. For a set of
/// coordinate vectors e, `left` is gamma5 R^dagger e and `w` is W = P D_c^-1 e.
fn by_source(
    space: &LowSpace,
    level: usize,
    (left, w): (&SpinorField, &SpinorField),
    rows: Range<usize>,
    (gamma, wave): (Gamma, SliceWave),
) -> Result<SpinorField> {
    let t = Spin::from(SpinMatrix::axis(3));
    let spin = t.times(Spin::from(gamma.matrix()).dagger()).times(t);
    let n = left.nrhs();
    let shape = space.op().shape();
    let m = {
        let mut turned = shape.field(n)?;
        through_operator(&mut turned, left, spin, wave, (None, &[], [0.0; 4]))?;
        space.entries(&space.restrict_to(level, &turned)?, rows)?
    };
    let mut z = shape.field(n)?;
    VectorSet::of(w)?.combine(0..n, &m, 0.0, &mut z, 0..n)?;
    Ok(z)
}
