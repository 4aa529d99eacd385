//! The division of links among threads in kernels of gauge forces.

use crate::backend::{Device, Work};
use crate::fields::Geometry;

/// The work of kernels over links (`each_link` in kernels/gauge_force.h), and the number of links, consecutive in z,
/// that a thread computes: one on a CPU, up to eight on a GPU as long as each multiprocessor has several groups to
/// run.
pub(super) fn link_work(geometry: &Geometry, device: &Device) -> (Work, i32) {
    let one = geometry.work(1);
    if device.is_cpu() {
        return (Work { n: 8 * one.n, ..one }, 1);
    }
    let [x, y, z, t] = geometry.extents();
    let groups = (x / 2 * y).div_ceil(16) * t;
    let column = [8, 4, 2].into_iter().find(|c| groups * z / c >= 8192).unwrap_or(1);
    (Work { n: 128 * groups * z.div_ceil(column), ..one }, column as i32)
}
