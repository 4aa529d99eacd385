//! SU(3) and SU(2) link fields.

use std::sync::{Arc, Mutex, Weak};

use super::{Geometry, Precision, Recon, Version};
use crate::backend::args::{self, ConvertArgs, EvolveArgs};
use crate::backend::{kernels, Buffer, Device, FieldView, Ptr, Work};
use crate::bail;
use crate::comm::coordinates;
use crate::error::{words, Result};
use crate::params::choices;
use crate::refuse;

/// Gauge group of a link field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    Su3,
    Su2,
}

impl Group {
    pub fn colours(self) -> usize {
        match self {
            Group::Su3 => 3,
            Group::Su2 => 2,
        }
    }
}

words!(Recon {
    R18 => "PLAQ_STORAGE_SU3_18",
    R12 => "PLAQ_STORAGE_SU3_12",
    R8 => "PLAQ_STORAGE_SU3_8",
    R8Angles => "PLAQ_STORAGE_SU3_8_ANGLES",
    Su2 => "PLAQ_STORAGE_SU2",
});

choices! {
    /// Storage of a link, named by the count of real numbers; it also determines the gauge group.
    names Recon: plaq_storage {
        /// SU(3), whole matrices (18 numbers).
        R18 = 18, PLAQ_STORAGE_SU3_18, "su3_18";
        /// SU(3), two rows (12 numbers).
        R12 = 12, PLAQ_STORAGE_SU3_12, "su3_12";
        /// SU(3), eight numbers: two unit vectors by stereographic projection.
        R8 = 8, PLAQ_STORAGE_SU3_8, "su3_8";
        /// SU(3), eight angles; slower than the other eight numbers.
        R8Angles = 9, PLAQ_STORAGE_SU3_8_ANGLES, "su3_8_angles";
        /// SU(2), four numbers of a0 + i a.sigma.
        Su2 = 4, PLAQ_STORAGE_SU2, "su2";
    }
}

impl Recon {
    /// The storages of SU(3).
    pub const SU3: [Recon; 4] = [Recon::R18, Recon::R12, Recon::R8, Recon::R8Angles];

    pub fn reals(self) -> usize {
        match self {
            Recon::R18 => 18,
            Recon::R12 => 12,
            Recon::R8 | Recon::R8Angles => 8,
            Recon::Su2 => 4,
        }
    }
    pub fn group(self) -> Group {
        if self == Recon::Su2 {
            Group::Su2
        } else {
            Group::Su3
        }
    }
    /// The storage of this group that contains every matrix entry.
    pub fn whole(self) -> Recon {
        match self.group() {
            Group::Su3 => Recon::R18,
            Group::Su2 => Recon::Su2,
        }
    }
    /// The constant by which kernels identify this storage, where it is an argument.
    pub(crate) fn code(self) -> i32 {
        match self {
            Recon::R18 => args::R18,
            Recon::R12 => args::R12,
            Recon::R8 => args::R8,
            Recon::R8Angles => args::R8A,
            Recon::Su2 => args::SU2,
        }
    }
}

/// Links U_mu(x) from x to x+mu, without boundary phases, which belong to the operators. In directions that are divided
/// over ranks the field also has copies of the links one site beyond the faces (borders), which functions that write
/// links update.
///
/// A field has a version, which changes with its links. Objects computed from links (clover terms, copies in other
/// storage, operators, smeared links, multigrid) store the version of these links and are recomputed only if the links
/// have another version.
#[derive(Debug)]
pub struct GaugeField {
    geometry: Arc<Geometry>,
    precision: Precision,
    recon: Recon,
    /// Number of matrices per site: 4 for links, 1 in a `Transformation`, any number in a `MatrixField`.
    matrices: usize,
    data: Buffer,
    version: Version,
    /// For links made by smearing or a gradient flow: the version of the configuration from which they were made. 0:
    /// these links are a configuration themselves.
    made_from: Version,
    /// Copies in other precisions or storages that are still in use.
    copies: Mutex<Vec<Weak<GaugeField>>>,
    /// Five numbers that identify the links (see `mark`), and the version of the links from which they were computed.
    mark: Mutex<Option<(u64, [f64; 5])>>,
}

impl GaugeField {
    pub fn bytes(geometry: &Geometry, precision: Precision, recon: Recon) -> usize {
        Self::bytes_of(geometry, precision, recon, 4)
    }

    pub(super) fn bytes_of(
        g: &Geometry,
        precision: Precision,
        recon: Recon,
        matrices: usize,
    ) -> usize {
        2 * g.link_plane_sites() * matrices * recon.reals() * precision.bytes()
    }

    /// Makes a field whose links are all zero.
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        recon: Recon,
    ) -> Result<Self> {
        Self::with_matrices(device, geometry, (precision, recon), 4)
    }

    pub(super) fn with_matrices(
        device: &Device,
        geometry: &Arc<Geometry>,
        (precision, recon): (Precision, Recon),
        matrices: usize,
    ) -> Result<Self> {
        let data = device.alloc(Self::bytes_of(geometry, precision, recon, matrices))?;
        Ok(GaugeField {
            geometry: geometry.on_device(device),
            precision,
            recon,
            matrices,
            data,
            version: Version::new(),
            made_from: Version::of(0),
            copies: Mutex::default(),
            mark: Mutex::default(),
        })
    }

    /// The version of the links: fields with the same version hold the same links, up to the
    /// rounding of their storage. Every change of the links gives another version.
    pub fn version(&self) -> u64 {
        self.version.get()
    }
    /// The version of the configuration from which these links were made by smearing or a gradient flow; if they were
    /// not, their own version.
    pub fn configuration(&self) -> u64 {
        match self.made_from.get() {
            0 => self.version(),
            number => number,
        }
    }
    /// Records that these links were made from others by smearing or a flow.
    pub fn belongs_to(&self, other: &GaugeField) {
        self.made_from.set(other.configuration());
    }
    /// Gives the links a new version; called after they were changed.
    pub(super) fn changed(&self) {
        self.version.change();
        self.made_from.set(0);
    }
    /// Records that these links are equal to those of `other`.
    fn has_links_of(&self, other: &GaugeField) {
        self.version.set(other.version());
        self.made_from.set(other.made_from.get());
    }

    /// Five numbers that identify the present links. `compute`, which returns them, is called only if the links have
    /// changed since its last call. All ranks call this.
    ///
    /// # Errors
    /// Errors of `compute`.
    pub fn mark(&self, compute: impl FnOnce() -> Result<[f64; 5]>) -> Result<[f64; 5]> {
        let kept = || self.mark.lock().unwrap_or_else(|e| e.into_inner());
        let (version, known) = (self.version(), *kept());
        if let Some((_, numbers)) = known.filter(|(of, _)| *of == version) {
            return Ok(numbers);
        }
        let numbers = compute()?;
        *kept() = Some((version, numbers));
        Ok(numbers)
    }

    /// A copy in another precision or storage, updated to the present links. All callers share the same copy, which
    /// exists as long as one of them uses it.
    ///
    /// # Errors
    /// Errors of [`GaugeField::to`].
    pub fn shared_copy(&self, precision: Precision, recon: Recon) -> Result<Arc<GaugeField>> {
        let mut copies = self.copies.lock().unwrap_or_else(|e| e.into_inner());
        copies.retain(|copy| copy.strong_count() > 0);
        let fits = |copy: &Arc<GaugeField>| (copy.precision, copy.recon) == (precision, recon);
        if let Some(copy) = copies.iter().filter_map(Weak::upgrade).find(fits) {
            copy.update_from(self)?;
            return Ok(copy);
        }
        let copy = Arc::new(self.to(precision, recon)?);
        copies.push(Arc::downgrade(&copy));
        Ok(copy)
    }

    /// Copies the links of `other`, unless this field has the same version.
    pub(crate) fn update_from(&self, other: &GaugeField) -> Result<()> {
        match self.version() == other.version() {
            true => Ok(()),
            false => self.fill_from(other),
        }
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
    pub fn group(&self) -> Group {
        self.recon.group()
    }
    pub fn matrices(&self) -> usize {
        self.matrices
    }

    /// A field of the same shape on another device, with links that are zero.
    pub fn like_on(&self, device: &Device) -> Result<Self> {
        let form = (self.precision, self.recon);
        let made = Self::with_matrices(device, &self.geometry, form, self.matrices)?;
        made.has_links_of(self);
        Ok(made)
    }

    /// A copy in another precision or storage of the same group.
    pub fn to(&self, precision: Precision, recon: Recon) -> Result<Self> {
        let form = (precision, recon);
        let copy = Self::with_matrices(self.device(), &self.geometry, form, self.matrices)?;
        copy.fill_from(self)?;
        Ok(copy)
    }

    /// Calls `f` with these links in a storage with every matrix entry (`R18`, or SU(2)) and in at least single
    /// precision; if this field has another storage or precision, `f` gets a copy.
    pub(crate) fn with_whole<T>(&self, f: impl FnOnce(&GaugeField) -> Result<T>) -> Result<T> {
        let (precision, recon) = (self.precision.max(Precision::F32), self.recon.whole());
        if (precision, recon) == (self.precision, self.recon) {
            f(self)
        } else {
            f(&self.to(precision, recon)?)
        }
    }

    /// Calls `f` with a field in a storage with every matrix entry, which `f` must overwrite completely, and copies the
    /// result to this field.
    pub(crate) fn fill_whole(
        &mut self,
        f: impl FnOnce(&mut GaugeField) -> Result<()>,
    ) -> Result<()> {
        let (precision, recon) = (self.precision.max(Precision::F32), self.recon.whole());
        if (precision, recon) == (self.precision, self.recon) {
            f(self)?;
            return self.bind();
        }
        let form = (precision, recon);
        let mut copy = Self::with_matrices(self.device(), &self.geometry, form, self.matrices)?;
        f(&mut copy)?;
        copy.bind()?;
        self.copy_from(&copy)
    }

    /// Sets links that do not exist to zero and fixed links to their values, and updates the borders; called after
    /// links were written without regard to boundaries in time. Links are stored whole, in double or single
    /// precision.
    ///
    /// # Errors
    /// `Unsupported`: links of SU(2) with boundaries in time.
    pub(crate) fn bind(&mut self) -> Result<()> {
        let boundary = self.geometry.boundary();
        if !boundary.is_periodic() && self.matrices == 4 {
            if self.group() == Group::Su2 {
                self.geometry.periodic_in_time("links of SU(2)")?;
            }
            let args = EvolveArgs {
                geom: self.geometry.args(),
                bounds: boundary.args_below(self.geometry.global_extents()),
                gauge: self.view(),
                ..Default::default()
            };
            let kernel = kernels::BoundLinks::of(self.precision)?;
            self.device().launch(kernel, &args, self.geometry.work(2))?;
        }
        self.exchange(None)
    }

    /// Overwrites the links with those of `other`, whatever its precision and storage.
    pub fn copy_from(&mut self, other: &GaugeField) -> Result<()> {
        self.fill_from(other)
    }

    pub(super) fn clear(&mut self) -> Result<()> {
        self.changed();
        self.data.zero()
    }
    /// A copy of the links on another geometry of the same lattice, with a different order of sites, on a CPU.
    pub(super) fn in_order_of(&self, geometry: &Arc<Geometry>) -> Result<Self> {
        let form = (self.precision, self.recon);
        let mut made = Self::with_matrices(self.device(), geometry, form, self.matrices)?;
        let [mut from, mut to] = [vec![0u8; self.data.bytes()], vec![0u8; made.data.bytes()]];
        self.data.download(&mut from)?;
        let (numbers, bytes) = (self.matrices * self.recon.reals(), self.precision.bytes());
        let extents = geometry.extents();
        for i in 0..geometry.volume() {
            let x = coordinates(extents, i);
            let parity = x.iter().sum::<usize>() % 2;
            let start = |g: &Geometry, all: usize| {
                let (o, lane) = g.place(x);
                parity * (all / 2) + (o * numbers * g.lanes() + lane) * bytes
            };
            let (a, b) = (start(&self.geometry, from.len()), start(geometry, to.len()));
            for k in 0..numbers {
                let at = |start: usize, g: &Geometry| start + k * g.lanes() * bytes;
                let (a, b) = (at(a, &self.geometry), at(b, geometry));
                to[b..b + bytes].copy_from_slice(&from[a..a + bytes]);
            }
        }
        made.data.upload(&to)?;
        made.version.set(self.version());
        Ok(made)
    }
    /// A copy of the links on the geometry that [`Geometry::unturned`] returns, where all lanes number their sites from
    /// the first one on.
    pub(crate) fn unturned(&self) -> Result<Self> {
        self.in_order_of(&self.geometry.unturned(self.device()))
    }
    /// A copy of the links in the order of sites of `like`.
    pub(crate) fn ordered_like(&self, like: &GaugeField) -> Result<Self> {
        self.in_order_of(&like.geometry)
    }
    /// Copies the memory of a field with the same lattice, precision and storage.
    pub(crate) fn copy_raw(&mut self, other: &GaugeField) -> Result<()> {
        self.data.copy_from(&other.data)?;
        self.has_links_of(other);
        Ok(())
    }

    pub(crate) fn fill_from(&self, other: &GaugeField) -> Result<()> {
        if self.geometry != other.geometry || self.device() != other.device() {
            bail!(FieldMismatch, "copy: the gauge fields live on different lattices or devices");
        }
        let (to, from) = (self.geometry.boundary(), other.geometry.boundary());
        if to != from {
            refuse!(
                FieldMismatch,
                "copy",
                expected("links with {}", to.stated()),
                found("{}", from.stated())
            );
        }
        if self.group() != other.group() {
            let (to, from) = (self.recon, other.recon);
            bail!(
                FieldMismatch,
                "copy: links stored as {from} cannot be stored as {to}, another group"
            );
        }
        let args = ConvertArgs {
            from: other.view(),
            to: self.view(),
            storage_from: other.recon.code(),
            storage_to: self.recon.code(),
            links: self.matrices as i32,
        };
        // The links in the borders are converted, too.
        let work = Work { n: self.geometry.link_outer(), ..self.geometry.work(2) };
        self.device().launch(
            kernels::ConvertGauge(other.precision, self.precision),
            &args,
            work,
        )?;
        self.has_links_of(other);
        Ok(())
    }

    /// The field as an argument of kernels: two planes, even and odd sites.
    pub(crate) fn view(&self) -> FieldView {
        FieldView {
            data: self.data.ptr(),
            norm: Ptr::NULL,
            plane_bytes: (self.data.bytes() / 2) as i64,
            norm_bytes: 0,
            volume: self.geometry.link_outer() as i32,
        }
    }
}
