//! Spinors on one parity in half precision with right-hand sides side by side (kernels/half_columns.h), the layout in
//! which tensor cores multiply them by links.

use std::sync::Arc;

use crate::backend::args::{TensorConvertArgs, TensorFacesArgs};
use crate::backend::{kernels, Buffer, Device, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::halo::{self, Faces};
use crate::fields::{blas, Geometry, SpinorField};

/// Spinors in half precision, `[site][right-hand side][colour][spin]` of complex numbers of 2 x 16 bits, for the
/// smoother of multigrid. Copies of neighbours' sites behind faces between ranks follow; `exchange` updates them.
#[derive(Debug)]
pub(crate) struct HalfColumns {
    geometry: Arc<Geometry>,
    nrhs: usize,
    data: Buffer,
}

/// For each right-hand side of columns the power of two by which it was multiplied.
#[derive(Debug)]
pub(crate) struct Scales(Buffer);

impl Scales {
    pub fn new(device: &Device, nrhs: usize) -> Result<Self> {
        Ok(Scales(device.alloc(4 * nrhs)?))
    }
    pub fn memory(&self) -> &Buffer {
        &self.0
    }
}

impl HalfColumns {
    /// Columns that are all zero.
    pub fn new(device: &Device, geometry: &Arc<Geometry>, nrhs: usize) -> Result<Self> {
        let mask = geometry.halo_mask();
        let divided = (0..4).filter(|mu| mask >> mu & 1 == 1);
        let remote_sites: usize = divided.map(|mu| 2 * geometry.face_parity_sites(mu)).sum();
        let data = device.alloc(48 * (geometry.plane_sites() + remote_sites) * nrhs)?;
        Ok(HalfColumns { geometry: geometry.clone(), nrhs, data })
    }
    pub fn nrhs(&self) -> usize {
        self.nrhs
    }
    pub fn memory(&self) -> &Buffer {
        &self.data
    }

    /// Converts a field in 16 bits into these columns, multiplied by powers of two that bring norms to about 100; the
    /// factors are written to `scales`. The host does not wait for them on one rank, or if GPUs compute sums over
    /// ranks among themselves.
    pub fn take(&mut self, inp: &SpinorField, scales: &Scales) -> Result<()> {
        if inp.nrhs() != self.nrhs || inp.parities() != 1 || inp.geometry() != &self.geometry {
            bail!(Internal, "columns of a field of another lattice or number of right-hand sides");
        }
        let sums = blas::norm2_later(inp)?;
        let device = self.data.device();
        let mut known = None;
        let place = match sums.place() {
            Ok(place) => place,
            Err(sums) => {
                let buffer = known.insert(device.alloc(24 * self.nrhs)?);
                buffer.upload(bytemuck::cast_slice(sums))?;
                buffer.ptr()
            }
        };
        let args = TensorConvertArgs {
            inp: inp.view(),
            out: self.data.ptr(),
            sums: place,
            scales: scales.0.ptr(),
            nrhs: self.nrhs as i32,
            step_in: 1,
        };
        let work = match device.is_cpu() {
            true => self.geometry.work(self.nrhs),
            false => Work::rows(device, self.geometry.outer(), self.nrhs),
        };
        device.launch(kernels::TensorConvert::of(inp.precision())?, &args, work)
    }

    /// Number of the first site that belongs to other ranks.
    pub fn first_remote(&self) -> i32 {
        self.geometry.plane_sites() as i32
    }

    /// Sends the columns of this parity's sites at faces to the neighbouring ranks.
    pub fn exchange(&self, parity: usize) -> Result<()> {
        let (geometry, device) = (&self.geometry, self.data.device());
        let mask = geometry.halo_mask();
        if mask == 0 {
            return Ok(());
        }
        // At a face a spinor is projected to two spins of three colours, 24 bytes.
        let faces = Faces::new(mask, self.nrhs, |mu| 24 * geometry.face_parity_sites(mu));
        let halo = geometry.halo_exchange(device, &faces)?;
        let mut halo = halo::lock(&halo);
        halo.begin(geometry.comm(), self.nrhs)?;
        let divided = (0..4).filter(|mu| mask >> mu & 1 == 1);
        let sites = divided.map(|mu| geometry.face_parity_sites(mu)).max().unwrap_or(0);
        let (lanes, batches) = (geometry.lanes(), 2 * mask.count_ones() as usize);
        let work = Work { n: (3 * self.nrhs * sites).div_ceil(lanes), batches, lanes };
        let launch = |message, arrived: bool| {
            let args = TensorFacesArgs {
                geom: geometry.args(),
                columns: self.data.ptr(),
                message,
                parity: parity as i32,
                behind: self.first_remote(),
                nrhs: self.nrhs as i32,
                arrived: arrived as i32,
            };
            device.launch(kernels::TensorFaces(), &args, work)
        };
        launch(geometry.face_messages(|mu, upper| halo.sent(mu, upper)), false)?;
        halo.exchange(geometry.comm(), || Ok(()))?;
        launch(geometry.face_messages(|mu, upper| halo.received(mu, upper)), true)
    }

    /// All numbers of the columns, divided by the scale of their right-hand side, in the host's order of sites.
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
