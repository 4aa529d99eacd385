//! Gauge transformations: one matrix of the group per site.

use std::sync::Arc;

use num_complex::Complex64;

use super::{GaugeField, Geometry, Group, Precision, Recon};
use crate::backend::args::{self, FaceExchangeArgs, GaugeFixArgs, TransformProductArgs};
use crate::backend::families::{Double, FullLinks};
use crate::backend::kernels;
use crate::backend::{Device, FieldView};
use crate::bail;
use crate::error::{host_array, Result};

/// A gauge transformation g(x): `U_mu(x) -> g(x) U_mu(x) g(x+mu)^dagger`, `psi(x) -> g(x) psi(x)`. SU(3) matrices are
/// stored as two rows, SU(2) matrices as four reals.
#[derive(Debug)]
pub struct Transformation(GaugeField);

impl Transformation {
    /// A transformation with the unit matrix on every site.
    pub fn unit(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        group: Group,
    ) -> Result<Self> {
        let mut g = Self::zero(device, geometry, (precision, storage(group)))?;
        g.0.fill_random(args::RANDOM_GAUGE, 0, 0, 0.0)?;
        Ok(g)
    }

    /// A transformation with independent random matrices from the Haar measure. The pair (`seed`, `number`) determines
    /// it on every device and process grid.
    pub fn random(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        group: Group,
        (seed, number): (u64, u32),
    ) -> Result<Self> {
        let mut g = Self::zero(device, geometry, (precision, storage(group)))?;
        g.0.fill_random(args::RANDOM_GAUGE, seed, number, -1.0)?;
        Ok(g)
    }

    fn zero(device: &Device, geometry: &Arc<Geometry>, form: (Precision, Recon)) -> Result<Self> {
        if form.0 == Precision::F16 {
            bail!(
                Unsupported,
                "a gauge transformation is kept in double or single precision, found half"
            );
        }
        Ok(Transformation(GaugeField::with_matrices(device, geometry, form, 1)?))
    }

    /// A transformation on the same lattice and in the same storage with unit matrices.
    pub(crate) fn unit_like(&self) -> Result<Self> {
        Self::unit(self.device(), self.geometry(), self.precision(), self.group())
    }
    pub(crate) fn random_like(&self, seed: u64, number: u32) -> Result<Self> {
        let stream = (seed, number);
        Self::random(self.device(), self.geometry(), self.precision(), self.group(), stream)
    }

    pub fn device(&self) -> &Device {
        self.0.device()
    }
    pub fn geometry(&self) -> &Arc<Geometry> {
        self.0.geometry()
    }
    pub fn precision(&self) -> Precision {
        self.0.precision()
    }
    pub fn group(&self) -> Group {
        self.0.group()
    }

    pub fn to(&self, precision: Precision) -> Result<Self> {
        Ok(Transformation(self.0.to(precision, self.0.recon())?))
    }

    /// The transformed links `g(x) U_mu(x) g(x+mu)^dagger`, computed in double precision, in the storage of `gauge`.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice, device or group; `OutOfMemory`.
    pub fn apply(&self, gauge: &GaugeField) -> Result<GaugeField> {
        if self.geometry() != gauge.geometry() || self.device() != gauge.device() {
            bail!(FieldMismatch, "gauge transformation: links on another lattice or device");
        }
        if self.group() != gauge.group() {
            bail!(FieldMismatch, "gauge transformation: links of another group");
        }
        // Between open boundaries links that do not exist stay zero; fixed links are not transformed.
        if !gauge.geometry().boundary().lacks_links() {
            gauge.geometry().periodic_in_time("gauge transformation")?;
        }
        let whole = (Precision::F64, gauge.recon().whole());
        let mut links = gauge.to(whole.0, whole.1)?;
        self.apply_in_place(&mut links)?;
        if (gauge.precision(), gauge.recon()) == whole {
            return Ok(links);
        }
        links.to(gauge.precision(), gauge.recon())
    }

    /// Transforms links in double precision, stored whole, in place.
    pub(crate) fn apply_in_place(&self, links: &mut GaugeField) -> Result<()> {
        let g = self.to(Precision::F64)?;
        let args = GaugeFixArgs {
            geom: links.geometry().args(),
            gauge: links.view(),
            g: g.view(),
            out: links.view(),
            ..Default::default()
        };
        let work = links.geometry().work(2);
        links.device().launch(kernels::GaugeTransform(Double::F64, g.whole()), &args, work)?;
        links.bind()
    }

    /// The product `self(x) h(x)` in double precision, that is first h and then this transformation; with `inverse`
    /// `self(x) h(x)^dagger`.
    pub(crate) fn after(self, h: &Transformation, inverse: bool) -> Result<Self> {
        let g = if self.precision() == Precision::F64 { self } else { self.to(Precision::F64)? };
        let args = TransformProductArgs {
            geom: g.geometry().args(),
            g: g.view(),
            h: h.view(),
            adjoint: inverse as i32,
        };
        let kernel = kernels::TransformProduct(Double::F64, g.whole());
        g.device().launch(kernel, &args, g.geometry().work(2))?;
        g.exchange()?;
        Ok(g)
    }

    /// A copy of the matrices in the order of sites of `like` ([`GaugeField::ordered_like`]).
    pub(crate) fn ordered_like(&self, like: &GaugeField) -> Result<Self> {
        Ok(Transformation(self.0.ordered_like(like)?))
    }

    /// The storage with every matrix entry of this gauge group, as a parameter of kernels.
    pub(crate) fn whole(&self) -> FullLinks {
        match self.group() {
            Group::Su3 => FullLinks::R18,
            Group::Su2 => FullLinks::Su2,
        }
    }

    /// Copies the matrices of this rank's sites to an array: x fastest among sites, then row, column.
    pub fn to_array(&self) -> Result<Vec<Complex64>> {
        let (geometry, colours) = (self.geometry(), self.group().colours());
        let count = geometry.volume() * colours * colours;
        let mut array = host_array(count, Complex64::ZERO, "the host's copy of g")?;
        let buffer = self.device().alloc(16 * array.len())?;
        let g = self.to(Precision::F64)?;
        let args = GaugeFixArgs {
            geom: geometry.args(),
            g: g.view(),
            array: buffer.ptr(),
            ..Default::default()
        };
        let kernel = kernels::TransformArray(Double::F64, g.whole());
        g.device().launch(kernel, &args, geometry.work(2))?;
        buffer.download(bytemuck::cast_slice_mut(&mut array))?;
        Ok(array)
    }

    /// Copies the matrices of `from` on those slices across direction `time` for which `slices`, by global coordinate,
    /// is true; both transformations are in double precision.
    pub(crate) fn copy_from_slices(
        &mut self,
        from: &Transformation,
        time: usize,
        slices: &[bool],
    ) -> Result<()> {
        let geometry = self.geometry().clone();
        let first = geometry.origin()[time];
        let here: Vec<i32> =
            slices[first..first + geometry.extents()[time]].iter().map(|&s| s as i32).collect();
        let mut active = self.device().alloc(4 * here.len())?;
        active.upload(bytemuck::cast_slice(&here))?;
        let mut args = GaugeFixArgs {
            geom: geometry.args(),
            g: from.view(),
            out: self.view(),
            time: time as i32,
            active: active.ptr(),
            ..Default::default()
        };
        let work = geometry.slice_work(time);
        for parity in 0..2 {
            args.parity = parity;
            let kernel = kernels::TransformSelect(Double::F64, self.whole());
            self.device().launch(kernel, &args, work)?;
        }
        self.exchange()
    }

    /// Updates the borders; every rank calls it.
    pub(crate) fn exchange(&self) -> Result<()> {
        self.0.exchange(None)
    }
    /// Updates the borders beyond faces for the matrices of one parity (`GaugeField::exchange_faces`).
    pub(crate) fn exchange_faces(
        &self,
        parity: i32,
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.0.exchange_faces(parity, meanwhile)
    }
    /// The messages for a kernel that exchanges them with other ranks itself (`GaugeField::next_faces`).
    pub(crate) fn next_faces(
        &self,
        parity: i32,
        last: &mut Option<u32>,
    ) -> Result<Option<FaceExchangeArgs>> {
        self.0.next_faces(parity, last)
    }
    pub(crate) fn view(&self) -> FieldView {
        self.0.view()
    }
}

fn storage(group: Group) -> Recon {
    match group {
        Group::Su3 => Recon::R12,
        Group::Su2 => Recon::Su2,
    }
}
