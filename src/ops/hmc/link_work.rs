//! How a launch of gauge forces counts links.

use crate::backend::{Device, Work};
use crate::fields::Geometry;

/// Work of kernels that take links (`each_link` in kernels/gauge_force.h), and how many links above each other in z a
/// thread takes: one on a CPU, up to eight on a GPU while its multiprocessors still have several groups in turn.
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
