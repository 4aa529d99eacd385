//! Fewer sums over the ranks in an iteration: where they pay, and norms that need none.

use super::mixed_precision::MixedPrecision;
use super::IterationSums;
use crate::error::Result;
use crate::fields::{Costs, Precision};

/// A square norm is computed as a difference only if at least this fraction is left of it: rounding of vectors stored
/// in 16 bits is small against that.
const SHORTENED: f64 = 1e-4;

/// Whether sums are fused: as the parameter `sums` says or, if it is automatic, where an iteration is expected to take less time with `saved` sums over the ranks fewer, but with more launches
/// and more vectors that are read or written; the same on all ranks. All ranks call this.
pub(super) fn are_fused(
    mixed: &MixedPrecision,
    saved: usize,
    launches: usize,
    passes: usize,
) -> Result<bool> {
    let (geometry, device) = (mixed.r.geometry(), mixed.r.device());
    match mixed.params.sums {
        Some(asked) => Ok(asked == IterationSums::Fused),
        // Places of the ranks decide below, and may differ in the next run.
        None if geometry.comm().reproducible() => Ok(false),
        // Recurrences that take the place of products lose digits: in 16 bits too many on systems near to singular.
        None if mixed.precision() == Precision::F16 => Ok(false),
        // Where ranks have not found out yet, fused sums are announced: they need more memory than the others.
        None if geometry.adds_by_hosts(device)? == Some(false) => Ok(false),
        None => {
            let costs = Costs::new(device, geometry.comm());
            let bytes = passes as f64 * mixed.r.held() as f64;
            let more = launches as f64 * costs.launch + costs.memory_seconds(bytes);
            Ok(saved as f64 * costs.sum() > more)
        }
    }
}

/// The square norms `whole` minus the parts `taken` from them by a projection. None: for a right-hand side that is
/// still iterated the difference has lost too many digits.
pub(super) fn shortened(
    mixed: &MixedPrecision,
    mut whole: Vec<f64>,
    taken: impl Fn(usize) -> f64,
) -> Option<Vec<f64>> {
    for i in (0..whole.len()).filter(|&i| mixed.active[i]) {
        let left = whole[i] - taken(i);
        if left.is_nan() || left < SHORTENED * whole[i] {
            return None;
        }
        whole[i] = left;
    }
    Some(whole)
}
