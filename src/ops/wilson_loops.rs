//! Planar Wilson loops.

use super::paths::{traces, Paths};
use crate::error::Result;
use crate::fields::GaugeField;
use crate::refuse;

/// The path around a rectangle of `r` links in direction `i` and `t` in time, with steps mu forward and 7 - mu back.
fn rectangle(i: u8, r: usize, t: usize) -> Vec<u8> {
    let sides = [(i, r), (3, t), (7 - i, r), (4, t)];
    sides.iter().flat_map(|&(step, n)| std::iter::repeat_n(step, n)).collect()
}

/// The loops W(R, T) for R = 1 .. `sizes[0]` and T = 1 .. `sizes[1]`: the average over all sites and the three planes
/// with time of Re tr of the product of links around an R x T rectangle, over 3; 1 for unit links (K. G. Wilson,
/// Phys. Rev. D 10 (1974) 2445). The results for R are at index R - 1.
///
/// # Errors
/// `BadParameter`: a rectangle of more than 64 links, or more than 4096 of them; those of [`traces`].
pub fn wilson_loops(gauge: &GaugeField, sizes: [usize; 2]) -> Result<Vec<Vec<f64>>> {
    let [most_r, most_t] = sizes;
    if most_r == 0 || most_t == 0 || most_r + most_t > 32 {
        refuse!(
            BadParameter,
            "Wilson loops",
            expected("sizes from 1 on with a sum of at most 32"),
            found("{sizes:?}")
        );
    }
    let all = (1..=most_r).flat_map(|r| (1..=most_t).map(move |t| (r, t)));
    let paths = all.flat_map(|(r, t)| (0..3).map(move |i| rectangle(i, r, t)));
    let found = traces(gauge, &Paths::new(paths.collect())?)?;
    let norm = 9.0 * gauge.geometry().global_volume() as f64;
    let loops: Vec<f64> = found
        .chunks_exact(3)
        .map(|planes| planes.iter().map(|z| z.re).sum::<f64>() / norm)
        .collect();
    Ok(loops.chunks_exact(most_t).map(<[f64]>::to_vec).collect())
}
