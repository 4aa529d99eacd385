//! Clover fields: per site and chirality one hermitian 6x6 block.

use std::sync::Arc;

use super::{Geometry, Precision};
use crate::backend::args::ConvertArgs;
use crate::backend::{Buffer, Device, FieldView, Ptr};
use crate::error::Result;

/// Real numbers per site: 2 chiralities x (6 diagonal + 15 complex below the diagonal, column by
/// column), row = 3 spin + colour: the packed order of QUDA and MILC.
pub const CLOVER_REALS: usize = 72;

/// `sets` = 1: the blocks A or A^-1; 2: the twisted inverse (kernels/wilson.h).
#[derive(Debug)]
pub struct CloverField {
    geometry: Arc<Geometry>,
    precision: Precision,
    sets: usize,
    data: Buffer,
    norm: Option<Buffer>,
}

impl CloverField {
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        sets: usize,
    ) -> Result<Self> {
        let sites = geometry.volume() * sets;
        let data = device.alloc(sites * CLOVER_REALS * precision.bytes())?;
        let norm = if precision.has_norm() { Some(device.alloc(sites * 4)?) } else { None };
        Ok(CloverField { geometry: geometry.clone(), precision, sets, data, norm })
    }
    pub fn device(&self) -> &Device {
        self.data.device()
    }
    pub fn geometry(&self) -> &Arc<Geometry> {
        &self.geometry
    }
    /// Sets of blocks: 1, or 2 for the twisted inverse.
    pub fn sets(&self) -> usize {
        self.sets
    }
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// A copy in another precision.
    pub fn to(&self, precision: Precision) -> Result<Self> {
        let copy = Self::new(self.device(), &self.geometry, precision, self.sets)?;
        let args =
            ConvertArgs { from: self.view(), to: copy.view(), storage_from: 0, storage_to: 0 };
        let params = [self.precision.token(), precision.token()];
        let work = self.geometry.work(2 * self.sets);
        self.device().launch("convert_clover", &params, &args, work)?;
        Ok(copy)
    }

    /// Planes: even, odd of the first set, then of the second.
    pub(crate) fn view(&self) -> FieldView {
        let sites = (self.geometry.volume() / 2) as i64;
        FieldView {
            data: self.data.ptr(),
            norm: self.norm.as_ref().map_or(Ptr::NULL, Buffer::ptr),
            plane_bytes: sites * (CLOVER_REALS * self.precision.bytes()) as i64,
            norm_bytes: if self.precision.has_norm() { sites * 4 } else { 0 },
            volume: self.geometry.outer() as i32,
        }
    }
}
