//! SU(3) link fields.

use std::sync::Arc;

use super::{Geometry, Precision};
use crate::backend::{Buffer, Device, FieldView, Ptr};
use crate::error::Result;

/// Real numbers stored per SU(3) link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recon {
    /// All nine complex entries.
    R18,
    /// The first two rows.
    R12,
}

impl Recon {
    pub fn reals(self) -> usize {
        match self {
            Recon::R18 => 18,
            Recon::R12 => 12,
        }
    }
    /// Name in kernel symbols.
    pub fn token(self) -> &'static str {
        match self {
            Recon::R18 => "18",
            Recon::R12 => "12",
        }
    }
}

/// Links U_mu(x) from x to x+mu, periodic: boundary phases belong to the operators.
#[derive(Debug)]
pub struct GaugeField {
    geometry: Arc<Geometry>,
    precision: Precision,
    recon: Recon,
    data: Buffer,
}

impl GaugeField {
    pub fn bytes(geometry: &Geometry, precision: Precision, recon: Recon) -> usize {
        geometry.volume() * 4 * recon.reals() * precision.bytes()
    }

    /// All links zero: to be filled.
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        recon: Recon,
    ) -> Result<Self> {
        let data = device.alloc(Self::bytes(geometry, precision, recon))?;
        Ok(GaugeField { geometry: geometry.clone(), precision, recon, data })
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
    pub fn recon(&self) -> Recon {
        self.recon
    }

    /// Two planes, even and odd sites.
    pub(crate) fn view(&self) -> FieldView {
        FieldView {
            data: self.data.ptr(),
            norm: Ptr::NULL,
            plane_bytes: (self.data.bytes() / 2) as i64,
            norm_bytes: 0,
            volume: self.geometry.outer() as i32,
        }
    }
}
