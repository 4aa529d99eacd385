//! Spinors on one parity in half precision, right-hand sides beside each other (kernels/half_columns.h): what tensor
//! cores multiply with links.

use std::sync::Arc;

use super::krylov::Row;
use super::{blas, Geometry, SpinorField};
use crate::backend::args::TensorTakeArgs;
use crate::backend::{kernels, Buffer, Device, Work};
use crate::bail;
use crate::error::Result;

/// `[site][right-hand side][colour][spin]` of complex numbers of 2 x 16 bits.
#[derive(Debug)]
pub(crate) struct HalfColumns {
    geometry: Arc<Geometry>,
    nrhs: usize,
    data: Buffer,
}

/// What columns are times, one number for each right-hand side.
#[derive(Debug)]
pub(crate) struct Scales(Buffer);

impl Scales {
    pub fn new(device: &Device, nrhs: usize) -> Result<Self> {
        Ok(Scales(device.alloc(4 * nrhs)?))
    }
}

impl HalfColumns {
    /// Zeros.
    pub fn new(device: &Device, geometry: &Arc<Geometry>, nrhs: usize) -> Result<Self> {
        let data = device.alloc(48 * geometry.plane_sites() * nrhs)?;
        Ok(HalfColumns { geometry: geometry.clone(), nrhs, data })
    }
    pub fn nrhs(&self) -> usize {
        self.nrhs
    }
    pub fn memory(&self) -> &Buffer {
        &self.data
    }

    /// Takes the columns of a field in 16 bits, times powers of two that bring its norms to the size of 100, which
    /// are left in `scales`. On a lattice of one rank; nobody waits.
    pub fn take(&mut self, inp: &SpinorField, scales: &Scales) -> Result<()> {
        if inp.nrhs() != self.nrhs || inp.parities() != 1 || inp.geometry() != &self.geometry {
            bail!(Internal, "columns of a field of another lattice or number of right-hand sides");
        }
        let sums = blas::norm2_later(inp)?;
        let Ok(place) = sums.place() else {
            bail!(Internal, "columns of a field whose norms are sums over ranks");
        };
        let args = TensorTakeArgs {
            inp: inp.view(),
            out: self.data.ptr(),
            sums: place,
            scales: scales.0.ptr(),
            nrhs: self.nrhs as i32,
            step_in: 1,
        };
        let device = self.data.device();
        let work = match device.is_cpu() {
            true => self.geometry.work(self.nrhs),
            false => Work::rows(device, self.geometry.outer(), self.nrhs),
        };
        device.launch(kernels::TensorTake::of(inp.precision())?, &args, work)
    }

    /// The columns as a vector of a Krylov space of such columns, the first of which has the units of the field that
    /// it was made of.
    pub fn row(&self, first: &SpinorField, scales: &Scales) -> Result<Row> {
        Ok(first.row()?.columns(self.data.ptr(), scales.0.ptr()))
    }

    /// The numbers of a right-hand side, divided by a scale, site by site of the host's memory.
    #[cfg(test)]
    pub fn numbers(&self, scales: &Scales) -> Result<Vec<[f32; 24]>> {
        let mut bytes = vec![0u8; self.data.bytes()];
        self.data.download(&mut bytes)?;
        let mut scale = vec![0u8; 4 * self.nrhs];
        scales.0.download(&mut scale)?;
        let scale: &[f32] = bytemuck::cast_slice(&scale);
        let halves: &[u16] = bytemuck::cast_slice(&bytes);
        let sites = self.geometry.plane_sites();
        let mut all = vec![[0f32; 24]; sites * self.nrhs];
        for (rhs, site) in (0..self.nrhs).flat_map(|r| (0..sites).map(move |s| (r, s))) {
            for (colour, spin, part) in (0..24).map(|i| (i / 8, i / 2 % 4, i % 2)) {
                let at = ((site * self.nrhs + rhs) * 3 + colour) * 8 + 2 * spin + part;
                all[rhs * sites + site][2 * (3 * spin + colour) + part] =
                    half(halves[at]) / scale[rhs];
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
fn half(bits: u16) -> f32 {
    let (sign, exponent, rest) =
        (if bits >> 15 == 1 { -1.0 } else { 1.0 }, (bits >> 10 & 31) as i32, (bits & 1023) as f32);
    sign * match exponent {
        0 => rest * 2f32.powi(-24),
        31 => f32::NAN,
        e => (1.0 + rest / 1024.0) * 2f32.powi(e - 15),
    }
}
