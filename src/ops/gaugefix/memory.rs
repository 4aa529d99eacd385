//! Device memory of a gauge fixing.

use super::descent::Descent;
use super::sweeper::sweep_storage;
use super::{functional, GaugeFixParams, Method, Working};
use crate::fields::{GaugeField, Precision, Transformation};

impl GaugeFixParams {
    /// Bytes that `fix_gauge` holds on this rank's device at the most, besides the links given: of
    /// sweeps or, after them, of applying what they found. On GPUs cuFFT's work area is among them,
    /// taken to be as large as what is transformed. Borders under way to other ranks are not.
    pub fn memory(&self, gauge: &GaugeField) -> u64 {
        let (geometry, group) = (gauge.geometry(), gauge.group());
        let links = |precision, recon| GaugeField::bytes(geometry, precision, recon);
        let g = |precision| Transformation::bytes(geometry, precision, group);
        let conjugate = match self.method {
            Method::FourierDescent { .. } => Some(false),
            Method::FourierCg { .. } | Method::Automatic { .. } => Some(true),
            _ => None,
        };
        let without = functional(self.condition).without;
        let descent =
            |precision| conjugate.map_or(0, |c| Descent::bytes(gauge, without, precision, c));
        let slices = 8 * geometry.extents().into_iter().max().unwrap_or(0) + 4;
        let sweeper = |precision| {
            links(precision, sweep_storage(gauge.device(), group)) + g(precision) + slices
        };
        let (single, double) = (Precision::F32, Precision::F64);
        let (first, sweepers, descents) = match self.precision {
            Working::Single => (single, sweeper(single), descent(single)),
            Working::Mixed => (single, sweeper(single), descent(single) + descent(double)),
            Working::Double => (double, 0, descent(double)),
        };
        // A new start while the old one is there, made from whole matrices and brought to axial gauge in
        // double; what is returned of a copy, and of several the best so far.
        let recon = gauge.recon().whole();
        let back = g(double);
        let entering = if first == double { 0 } else { back };
        let start = g(first) + entering.max(links(first, recon) / 4);
        let copies = match self.copies {
            1 => start.max(descents + back),
            _ => back + descents + start.max(back),
        };
        // The way to axial gauge, and the links there from which those of the sweepers are made.
        let (whole, stored) = ((double, recon), (gauge.precision(), gauge.recon()));
        let swept = back + sweepers + sweeper(double) + copies.max(links(whole.0, whole.1));
        let out = if stored == whole { 0 } else { links(stored.0, stored.1) };
        swept.max(2 * back + links(whole.0, whole.1) + out) as u64
    }
}
