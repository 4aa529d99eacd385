//! Wilson spinor fields: 4 spins x 3 colours per site, any number of right-hand sides.

use std::sync::Arc;

use super::{Geometry, Precision};
use crate::backend::{Buffer, Device, FieldView, Ptr, Work};
use crate::bail;
use crate::error::Result;

/// Which sites a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subset {
    Full,
    Even,
    Odd,
}

impl Subset {
    pub fn parities(self) -> usize {
        if self == Subset::Full {
            2
        } else {
            1
        }
    }
    /// The parities that a field with this subset holds.
    pub fn list(self) -> std::ops::Range<usize> {
        match self {
            Subset::Full => 0..2,
            Subset::Even => 0..1,
            Subset::Odd => 1..2,
        }
    }
    pub fn of_parity(parity: usize) -> Self {
        if parity == 0 {
            Subset::Even
        } else {
            Subset::Odd
        }
    }
}

/// Real numbers per site.
pub const SPINOR_REALS: usize = 24;

/// Spinors in the DeGrand-Rossi basis. Memory: right-hand side slowest, then parity, then the
/// site layout of the device (kernels/field.h).
#[derive(Debug)]
pub struct SpinorField {
    geometry: Arc<Geometry>,
    precision: Precision,
    subset: Subset,
    nrhs: usize,
    data: Buffer,
    norm: Option<Buffer>,
}

impl SpinorField {
    /// Bytes of a field of this shape.
    pub fn bytes(geometry: &Geometry, precision: Precision, subset: Subset, nrhs: usize) -> usize {
        let sites = geometry.plane_sites() * subset.parities() * nrhs;
        sites * (SPINOR_REALS * precision.bytes() + if precision.has_norm() { 4 } else { 0 })
    }

    /// A zero field.
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        subset: Subset,
        nrhs: usize,
    ) -> Result<Self> {
        if nrhs == 0 {
            bail!(InvalidArgument, "nrhs is 0: a spinor field has at least one right-hand side");
        }
        let sites = geometry.plane_sites() * subset.parities() * nrhs;
        let data = device.alloc(sites * SPINOR_REALS * precision.bytes())?;
        let norm = if precision.has_norm() { Some(device.alloc(sites * 4)?) } else { None };
        Ok(SpinorField { geometry: geometry.clone(), precision, subset, nrhs, data, norm })
    }

    /// A zero field of the same geometry, subset and count in another precision.
    pub fn like(&self, precision: Precision) -> Result<Self> {
        Self::new(self.device(), &self.geometry, precision, self.subset, self.nrhs)
    }

    pub fn device(&self) -> &Device {
        self.data.device()
    }
    pub fn geometry(&self) -> &Arc<Geometry> {
        &self.geometry
    }
    pub fn precision(&self) -> Precision {
        self.precision
    }
    pub fn subset(&self) -> Subset {
        self.subset
    }
    pub fn nrhs(&self) -> usize {
        self.nrhs
    }
    pub fn parities(&self) -> usize {
        self.subset.parities()
    }
    /// Planes of the field: right-hand sides x parities.
    pub fn planes(&self) -> usize {
        self.nrhs * self.parities()
    }
    pub(crate) fn work(&self) -> Work {
        self.geometry.work(self.planes())
    }

    /// Sets every number to zero.
    pub fn clear(&mut self) -> Result<()> {
        self.data.zero()?;
        self.norm.as_mut().map_or(Ok(()), Buffer::zero)
    }

    /// Copies `count` right-hand sides, number `from` on of `src`, to those from number `to` on.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice, device, precision or subset, or not as many.
    pub fn copy_rhs(
        &mut self,
        to: usize,
        src: &SpinorField,
        from: usize,
        count: usize,
    ) -> Result<()> {
        let place =
            |f: &SpinorField| (f.geometry.clone(), f.device().clone(), f.precision, f.subset);
        if place(self) != place(src) {
            bail!(FieldMismatch, "copy: the fields differ in lattice, device, precision or subset");
        }
        if to + count > self.nrhs || from + count > src.nrhs {
            bail!(
                FieldMismatch,
                "copy: {count} right-hand sides from {from} of {} to {to} of {}",
                src.nrhs,
                self.nrhs
            );
        }
        let copy = |to_all: &mut Buffer, from_all: &Buffer, nrhs: usize| {
            let one = to_all.bytes() / nrhs;
            to_all.copy_range(to * one, from_all, from * one, count * one)
        };
        copy(&mut self.data, &src.data, self.nrhs)?;
        match (&mut self.norm, &src.norm) {
            (Some(to_all), Some(from_all)) => copy(to_all, from_all, self.nrhs),
            _ => Ok(()),
        }
    }

    /// Refuses fields that cannot be combined with this one.
    pub fn check_like(&self, other: &SpinorField, what: &str) -> Result<()> {
        if self.geometry != other.geometry || self.device() != other.device() {
            bail!(FieldMismatch, "{what}: the fields live on different lattices or devices");
        }
        if self.subset != other.subset || self.nrhs != other.nrhs {
            bail!(
                FieldMismatch,
                "{what}: expected {:?} with {} right-hand sides, found {:?} with {}",
                self.subset,
                self.nrhs,
                other.subset,
                other.nrhs
            );
        }
        Ok(())
    }

    /// All planes, in memory order.
    pub(crate) fn view(&self) -> FieldView {
        let sites = self.geometry.plane_sites() as i64;
        FieldView {
            data: self.data.ptr(),
            norm: self.norm.as_ref().map_or(Ptr::NULL, Buffer::ptr),
            plane_bytes: sites * (SPINOR_REALS * self.precision.bytes()) as i64,
            norm_bytes: if self.precision.has_norm() { sites * 4 } else { 0 },
            volume: self.geometry.outer() as i32,
        }
    }

    /// The planes from the first of `parity` on; right-hand sides are `parities()` planes apart.
    pub(crate) fn parity_view(&self, parity: usize) -> FieldView {
        let mut v = self.view();
        if self.subset == Subset::Full && parity == 1 {
            v.data = v.data.offset(v.plane_bytes as u64);
            v.norm = v.norm.offset(v.norm_bytes as u64);
        }
        v
    }
}
