//! Vector fields: spins x colours complex numbers per site, for any number of right-hand sides.

use std::sync::Arc;

use super::{Geometry, Precision};
use crate::backend::args::CoarseColumnsArgs;
use crate::backend::{kernels, Buffer, Device, FieldView, HostArray, Ptr, Work};
use crate::bail;
use crate::error::{words, Result};
use crate::params::choices;
use crate::refuse;

/// The sites on which a field has numbers: all sites, or those of one parity.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subset {
    Full,
    Even,
    Odd,
}

words!(Subset {
    Full => "all",
    Even => "even",
    Odd => "odd",
});

choices! {
    /// Sites of a field; parity is (x + y + z + t) mod 2.
    names Subset: plaq_subset {
        /// Sites of both parities.
        Full = 0, PLAQ_SUBSET_FULL, "full";
        /// Sites of parity 0.
        Even = 1, PLAQ_SUBSET_EVEN, "even";
        /// Sites of parity 1.
        Odd = 2, PLAQ_SUBSET_ODD, "odd";
    }
}

impl Subset {
    pub fn parities(self) -> usize {
        if self == Subset::Full {
            2
        } else {
            1
        }
    }
    /// The parities that a field on this subset holds.
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

/// The components of a vector field on a site: slices x spins x colours complex numbers, colour fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Components {
    /// Number of slices: flavours, or sites in a fifth dimension. In memory each slice of a right-hand side has its own
    /// planes.
    pub slices: usize,
    pub spins: usize,
    pub colours: usize,
}

/// Writes the components as in messages: "4 x 3" for spins x colours, or "2 slices x 4 x 3".
impl std::fmt::Display for Components {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        if self.slices != 1 {
            write!(f, "{} slices x ", self.slices)?;
        }
        write!(f, "{} x {}", self.spins, self.colours)
    }
}

impl Components {
    /// Components of Wilson spinors, in the DeGrand-Rossi basis.
    pub const SPINOR: Components = Components::of(4, 3);
    /// Components of colour vectors.
    pub const COLOUR: Components = Components::of(1, 3);
    /// Components of Wilson spinors of two flavours.
    pub const DOUBLET: Components = Components { slices: 2, spins: 4, colours: 3 };
    /// Components of one slice of `spins` x `colours` numbers.
    pub const fn of(spins: usize, colours: usize) -> Self {
        Components { slices: 1, spins, colours }
    }
    /// Number of time slices of the whole lattice on which vectors with these components are zero because quarks vanish
    /// at boundaries in time.
    pub fn zero_slices(self, geometry: &Geometry) -> usize {
        let (boundary, slices) = (geometry.boundary(), geometry.global_extents()[3]);
        match self.spins == Components::SPINOR.spins {
            true => (0..slices).filter(|&t| boundary.vanishes(t, slices)).count(),
            false => 0,
        }
    }
    /// Number of reals per site of one slice: 2 x spins x colours.
    pub const fn reals(self) -> usize {
        2 * self.spins * self.colours
    }
}

/// Whether right-hand sides are the slowest or the fastest index of a vector field in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum RhsOrder {
    /// Right-hand sides follow each other in memory, each with all of its sites.
    #[default]
    Slowest,
    /// The numbers of all right-hand sides for a component of a site are next to each other; only for geometries
    /// without lanes, in floating-point storage.
    Fastest,
}

/// Complex vectors on the sites of a lattice with any number of right-hand sides. With the right-hand side slowest
/// memory is ordered by right-hand side, slice, parity, and then the device's order of sites (kernels/field.h); with
/// the right-hand side fastest by parity, site, component, right-hand side.
#[derive(Debug)]
pub struct VectorField {
    geometry: Arc<Geometry>,
    precision: Precision,
    subset: Subset,
    nrhs: usize,
    components: Components,
    order: RhsOrder,
    data: Buffer,
    norm: Option<Buffer>,
}

/// A copy of a vector field in the host's memory, in the order and precision of the device.
#[derive(Default)]
pub struct HostCopy {
    data: HostArray,
    norm: Option<HostArray>,
}

/// A vector field of Wilson spinors: 4 spins x 3 colours per site.
pub type SpinorField = VectorField;

impl VectorField {
    /// Bytes of a field of Wilson spinors.
    pub fn bytes(geometry: &Geometry, precision: Precision, subset: Subset, nrhs: usize) -> usize {
        Self::bytes_of(geometry, precision, subset, nrhs, Components::SPINOR)
    }

    /// Bytes of a field with these components.
    pub fn bytes_of(
        geometry: &Geometry,
        precision: Precision,
        subset: Subset,
        nrhs: usize,
        components: Components,
    ) -> usize {
        let sites = geometry.plane_sites() * subset.parities() * components.slices * nrhs;
        sites * (components.reals() * precision.bytes() + if precision.has_norm() { 4 } else { 0 })
    }

    /// Makes a zero field of Wilson spinors.
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        subset: Subset,
        nrhs: usize,
    ) -> Result<Self> {
        let spinors = (Components::SPINOR, RhsOrder::Slowest);
        Self::with_components(device, geometry, precision, subset, nrhs, spinors)
    }

    /// Makes a zero field with these components and this order of right-hand sides.
    ///
    /// # Errors
    /// `InvalidArgument`: no right-hand side, no component; `Unsupported`: right-hand sides fastest in
    /// 16 bit or over lanes.
    pub fn with_components(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        subset: Subset,
        nrhs: usize,
        (components, order): (Components, RhsOrder),
    ) -> Result<Self> {
        if nrhs == 0 {
            bail!(InvalidArgument, "nrhs is 0: a vector field has at least one right-hand side");
        }
        if components.slices * components.reals() == 0 {
            bail!(InvalidArgument, "components: a site holds at least one number");
        }
        let fixed = precision == Precision::F16;
        if order == RhsOrder::Fastest && (fixed || geometry.lanes() > 1 || components.slices > 1) {
            bail!(
                Unsupported,
                "right-hand sides are fastest in single and double precision, without lanes and of one slice \
                 only"
            );
        }
        let sites = geometry.plane_sites() * subset.parities() * components.slices * nrhs;
        let data = device.alloc(sites * components.reals() * precision.bytes())?;
        let norm = if precision.has_norm() { Some(device.alloc(sites * 4)?) } else { None };
        let geometry = geometry.on_device(device);
        Ok(VectorField { geometry, precision, subset, nrhs, components, order, data, norm })
    }

    /// Makes a field on a geometry from `Geometry::of_rows` that uses the memory of a multigrid level's vector, in the
    /// order `[site][component][right-hand side]`.
    pub(crate) fn on_rows(
        geometry: &Arc<Geometry>,
        precision: Precision,
        components: Components,
        nrhs: usize,
        data: Buffer,
    ) -> Self {
        VectorField {
            geometry: geometry.clone(),
            precision,
            subset: Subset::Even,
            nrhs,
            components,
            order: RhsOrder::Fastest,
            data,
            norm: None,
        }
    }
    pub(crate) fn memory(&self) -> &Buffer {
        &self.data
    }

    /// A zero field of the same geometry, subset, components and number of right-hand sides in another precision.
    pub fn like(&self, precision: Precision) -> Result<Self> {
        self.like_with(precision, self.nrhs)
    }

    /// A zero field of the same shape on another device; for rehearsals.
    pub(crate) fn like_on(&self, device: &Device) -> Result<Self> {
        let (geometry, content) = (&self.geometry, (self.components, self.order));
        Self::with_components(device, geometry, self.precision, self.subset, self.nrhs, content)
    }

    /// A zero field of the same shape in another precision and with another number of right-hand sides.
    pub fn like_with(&self, precision: Precision, nrhs: usize) -> Result<Self> {
        let content = (self.components, self.order);
        let geometry = &self.geometry;
        Self::with_components(self.device(), geometry, precision, self.subset, nrhs, content)
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
    pub fn components(&self) -> Components {
        self.components
    }
    pub fn order(&self) -> RhsOrder {
        self.order
    }
    pub fn parities(&self) -> usize {
        self.subset.parities()
    }
    /// Number of planes of a right-hand side where right-hand sides are slowest: slices x parities.
    pub(crate) fn rhs_planes(&self) -> usize {
        self.components.slices * self.parities()
    }
    /// A field with one slice that uses the same memory; its right-hand sides are the slices of all right-hand sides.
    /// The caller must make sure that nothing else writes to the memory while it is in use.
    pub(crate) fn by_slice(&self) -> VectorField {
        let components = Components { slices: 1, ..self.components };
        VectorField {
            geometry: self.geometry.clone(),
            precision: self.precision,
            subset: self.subset,
            nrhs: self.nrhs * self.components.slices,
            components,
            order: self.order,
            data: self.data.part(0, self.data.bytes()),
            norm: self.norm.as_ref().map(|norm| norm.part(0, norm.bytes())),
        }
    }
    /// Bytes of device memory of the field.
    pub fn held(&self) -> usize {
        self.data.bytes() + self.norm.as_ref().map_or(0, Buffer::bytes)
    }
    /// Number of planes of the field: right-hand sides (where they are slowest) x slices x parities.
    pub fn planes(&self) -> usize {
        match self.order {
            RhsOrder::Slowest => self.nrhs * self.rhs_planes(),
            RhsOrder::Fastest => self.parities(),
        }
    }
    pub(crate) fn work(&self) -> Work {
        self.geometry.work(self.planes())
    }

    /// Sets every number to zero.
    pub fn clear(&mut self) -> Result<()> {
        self.data.zero()?;
        self.norm.as_mut().map_or(Ok(()), Buffer::zero)
    }

    /// Copies `count` right-hand sides of `src`, from number `from` on, to those of this field from number `to` on.
    ///
    /// # Errors
    /// `FieldMismatch`: fields on different lattices, devices or subsets or of different precisions, or too few
    /// right-hand sides.
    pub fn copy_rhs(
        &mut self,
        to: usize,
        src: &VectorField,
        from: usize,
        count: usize,
    ) -> Result<()> {
        let place = |f: &VectorField| {
            let form = (f.precision, f.subset, f.components);
            (f.geometry.clone(), f.device().clone(), form)
        };
        if place(self) != place(src) {
            bail!(
                FieldMismatch,
                "copy: the fields differ in lattice, device, precision, subset or components"
            );
        }
        if self.order != src.order {
            bail!(FieldMismatch, "copy: the right-hand sides of the fields are in different order");
        }
        if to + count > self.nrhs || from + count > src.nrhs {
            bail!(
                FieldMismatch,
                "copy: {count} right-hand sides from {from} of {} to {to} of {}",
                src.nrhs,
                self.nrhs
            );
        }
        let planes = self.geometry.plane_sites() * self.rhs_planes();
        if self.order == RhsOrder::Fastest {
            let components = self.components.reals() / 2;
            let args = CoarseColumnsArgs {
                x: src.data.ptr(),
                y: self.data.ptr(),
                components: components as i32,
                columns_x: src.nrhs as i32,
                columns_y: self.nrhs as i32,
                count: count as i32,
                first_x: from as i32,
                first_y: to as i32,
                ..Default::default()
            };
            let work = Work::rows(self.device(), planes, components * count);
            return self.device().launch(
                kernels::CoarseColumns::of(src.precision, self.precision)?,
                &args,
                work,
            );
        }
        let one = planes * self.components.reals() * self.precision.bytes();
        self.data.copy_range(to * one, &src.data, from * one, count * one)?;
        match (&mut self.norm, &src.norm) {
            (Some(to_all), Some(from_all)) => {
                to_all.copy_range(to * planes * 4, from_all, from * planes * 4, count * planes * 4)
            }
            _ => Ok(()),
        }
    }

    /// Whether single right-hand sides can be moved within the field's memory: they must be slowest there.
    pub fn can_keep(&self) -> bool {
        self.order == RhsOrder::Slowest
    }

    /// Keeps only the right-hand sides with the numbers `columns`, in ascending order; they are moved to the beginning
    /// of the field's memory.
    pub fn keep(&mut self, columns: &[usize]) -> Result<()> {
        self.move_to_front(columns)?;
        self.nrhs = columns.len();
        Ok(())
    }

    /// Moves the right-hand sides with the numbers `columns`, in ascending order, to the beginning; the contents of all
    /// others are unspecified afterwards.
    pub fn move_to_front(&mut self, columns: &[usize]) -> Result<()> {
        if !self.can_keep() || columns.is_empty() {
            bail!(Unsupported, "keep: single right-hand sides of a field that has them fastest");
        }
        let ascend = columns.windows(2).all(|w| w[0] < w[1]);
        if !ascend || columns[columns.len() - 1] >= self.nrhs {
            bail!(InvalidArgument, "keep: {columns:?} of {} right-hand sides", self.nrhs);
        }
        let planes = self.geometry.plane_sites() * self.rhs_planes();
        let one = planes * self.components.reals() * self.precision.bytes();
        for (to, &from) in columns.iter().enumerate().filter(|(to, from)| to != *from) {
            self.data.move_within(to * one, from * one, one)?;
            if let Some(norm) = &mut self.norm {
                norm.move_within(to * planes * 4, from * planes * 4, planes * 4)?;
            }
        }
        Ok(())
    }

    /// Splits the field in two without copying: it keeps the right-hand sides before number `at`; those from `at` on
    /// are returned as another field.
    pub fn split_off(&mut self, at: usize) -> Result<VectorField> {
        if !self.can_keep() || at == 0 || at >= self.nrhs {
            bail!(InvalidArgument, "split: {at} of {} right-hand sides", self.nrhs);
        }
        let planes = self.geometry.plane_sites() * self.rhs_planes();
        let one = planes * self.components.reals() * self.precision.bytes();
        let data = self.data.split_off(at * one);
        let norm = self.norm.as_mut().map(|norm| norm.split_off(at * planes * 4));
        let nrhs = std::mem::replace(&mut self.nrhs, at) - at;
        let (precision, subset) = (self.precision, self.subset);
        let (components, order, geometry) = (self.components, self.order, self.geometry.clone());
        Ok(VectorField { geometry, precision, subset, nrhs, components, order, data, norm })
    }

    /// A field of `count` right-hand sides from number `first` on that uses the same memory. The caller must make sure
    /// that nothing else writes to the memory while it is in use.
    pub(crate) fn columns(&self, first: usize, count: usize) -> Result<VectorField> {
        let whole = first == 0 && count == self.nrhs;
        if count == 0 || first + count > self.nrhs || !(whole || self.can_keep()) {
            bail!(InvalidArgument, "columns: {count} from {first} of {}", self.nrhs);
        }
        let planes = self.geometry.plane_sites() * self.rhs_planes();
        let one = planes * self.components.reals() * self.precision.bytes();
        let part = |buffer: &Buffer, each: usize| match whole {
            true => buffer.part(0, buffer.bytes()),
            false => buffer.part(first * each, count * each),
        };
        Ok(VectorField {
            geometry: self.geometry.clone(),
            precision: self.precision,
            subset: self.subset,
            nrhs: count,
            components: self.components,
            order: self.order,
            data: part(&self.data, one),
            norm: self.norm.as_ref().map(|norm| part(norm, planes * 4)),
        })
    }

    /// Another field that uses the same memory. The caller must make sure that nothing else writes to the memory while
    /// it is in use.
    pub(crate) fn alias(&self) -> Result<VectorField> {
        self.columns(0, self.nrhs)
    }

    /// For a field of one parity: a field on the sites of `parity` that uses the same memory.
    pub(crate) fn of_parity(&self, parity: usize) -> Result<VectorField> {
        if self.subset == Subset::Full {
            bail!(Internal, "parity {parity} of a field of {} sites", self.subset);
        }
        Ok(VectorField { subset: Subset::of_parity(parity), ..self.alias()? })
    }

    /// Number of right-hand sides to work on at a time so that temporary fields take little memory: a quarter of them,
    /// or all if they cannot be separated in memory.
    pub(crate) fn part(&self) -> usize {
        match self.can_keep() {
            true => self.nrhs.div_ceil(4),
            false => self.nrhs,
        }
    }

    /// Groups (first, count) of right-hand sides of the size that `part` returns. Those that do not fill a group are
    /// groups of one, since a GPU compiles kernels for every count.
    pub(crate) fn parts(&self) -> Vec<(usize, usize)> {
        parts_of(&(0..self.nrhs).collect::<Vec<_>>(), self.part())
    }

    /// For a field on all sites: its memory as two fields on the sites of `parity`, in the first and second half.
    pub(crate) fn halves(&self, parity: usize) -> Result<[VectorField; 2]> {
        if self.subset != Subset::Full {
            bail!(Internal, "halves of a field of {} sites", self.subset);
        }
        let (view, planes) = (self.view(), self.planes() / 2);
        let half = |buffer: &Buffer, k: usize, plane: i64| {
            buffer.part(k * planes * plane as usize, planes * plane as usize)
        };
        Ok([0, 1].map(|k| VectorField {
            geometry: self.geometry.clone(),
            subset: Subset::of_parity(parity),
            data: half(&self.data, k, view.plane_bytes),
            norm: self.norm.as_ref().map(|norm| half(norm, k, view.norm_bytes)),
            ..*self
        }))
    }

    /// Moves the sites of `parity` into the first half of the field's memory; the contents of the second half are
    /// unspecified afterwards.
    pub(crate) fn gather(&mut self, parity: usize) -> Result<()> {
        (0..self.planes() / 2).try_for_each(|k| self.move_plane(k, 2 * k + parity))
    }

    /// The reverse of `gather`: moves the sites of `parity` from the first half of the memory to their places in a
    /// field on all sites; the contents of the other sites are unspecified afterwards.
    pub(crate) fn spread(&mut self, parity: usize) -> Result<()> {
        (0..self.planes() / 2).rev().try_for_each(|k| self.move_plane(2 * k + parity, k))
    }

    fn move_plane(&mut self, to: usize, from: usize) -> Result<()> {
        let FieldView { plane_bytes, norm_bytes, .. } = self.view();
        let (one, units) = (plane_bytes as usize, norm_bytes as usize);
        if to == from {
            return Ok(());
        }
        self.data.move_within(to * one, from * one, one)?;
        match &mut self.norm {
            Some(norm) => norm.move_within(to * units, from * units, units),
            None => Ok(()),
        }
    }

    /// A copy of the numbers in the host's memory.
    ///
    /// # Errors
    /// `OutOfMemory`: the host has none.
    pub fn to_host(&self) -> Result<HostCopy> {
        let mut copy = HostCopy::default();
        self.copy_to_host(&mut copy)?;
        Ok(copy)
    }

    /// Copies the numbers to `copy`, whose memory is used again if it has the right size.
    pub(crate) fn copy_to_host(&self, copy: &mut HostCopy) -> Result<()> {
        let taken = |buffer: &Buffer, to: &mut HostArray| {
            to.fit(buffer.device(), buffer.bytes(), "vectors on the host")?;
            to.take(0, buffer, 0, buffer.bytes())
        };
        taken(&self.data, &mut copy.data)?;
        match &self.norm {
            Some(norm) => taken(norm, copy.norm.get_or_insert_default()),
            None => Ok(()),
        }
    }

    /// Sets the numbers from a copy that [`Self::to_host`] made of a field of the same shape.
    pub fn copy_from_host(&mut self, copy: &HostCopy) -> Result<()> {
        copy.data.give(&mut self.data)?;
        match (&mut self.norm, &copy.norm) {
            (Some(norm), Some(copy)) => copy.give(norm),
            _ => Ok(()),
        }
    }

    /// Returns an error if `other` has another lattice, device, subset, components or number of right-hand sides.
    pub fn check_like(&self, other: &VectorField, what: &str) -> Result<()> {
        if self.geometry != other.geometry || self.device() != other.device() {
            bail!(FieldMismatch, "{what}: the fields live on different lattices or devices");
        }
        if self.subset != other.subset || self.nrhs != other.nrhs {
            refuse!(
                FieldMismatch,
                "{what}",
                expected("{} sites and {} right-hand sides", self.subset, self.nrhs),
                found("{} and {}", other.subset, other.nrhs)
            );
        }
        if (self.components, self.order) != (other.components, other.order) {
            refuse!(
                FieldMismatch,
                "{what}",
                expected("{} numbers per site (spins x colours)", self.components),
                found("{}, or their right-hand sides are in another order", other.components)
            );
        }
        Ok(())
    }

    /// The field as an argument of kernels: all planes in the order of memory.
    pub(crate) fn view(&self) -> FieldView {
        let sites = self.geometry.plane_sites() as i64;
        let inside = if self.order == RhsOrder::Fastest { self.nrhs } else { 1 };
        FieldView {
            data: self.data.ptr(),
            norm: self.norm.as_ref().map_or(Ptr::NULL, Buffer::ptr),
            plane_bytes: sites * (inside * self.components.reals() * self.precision.bytes()) as i64,
            norm_bytes: if self.precision.has_norm() { sites * 4 } else { 0 },
            volume: self.geometry.outer() as i32,
        }
    }

    /// The planes of one slice as an argument of kernels for fields of one slice.
    ///
    /// # Errors
    /// `FieldMismatch`: a field on both parities with several slices and several right-hand sides, as the planes of a
    /// slice are then not at equal distances.
    pub(crate) fn slice_view(&self, slice: usize) -> Result<FieldView> {
        let (slices, parities) = (self.components.slices, self.parities());
        if slices > 1 && parities > 1 && self.nrhs > 1 {
            bail!(FieldMismatch, "one slice of {} right-hand sides on both parities", self.nrhs);
        }
        let mut v = self.view();
        let before = (slice * parities) as u64;
        v.data = v.data.offset(before * v.plane_bytes as u64);
        v.norm = v.norm.offset(before * v.norm_bytes as u64);
        if parities == 1 {
            v.plane_bytes *= slices as i64;
            v.norm_bytes *= slices as i64;
        }
        Ok(v)
    }

    /// The field as an argument of kernels, from the first plane of `parity` on; slices are `parities()` planes apart,
    /// right-hand sides `rhs_planes()`.
    pub(crate) fn parity_view(&self, parity: usize) -> FieldView {
        let mut v = self.view();
        if self.subset == Subset::Full && parity == 1 {
            v.data = v.data.offset(v.plane_bytes as u64);
            v.norm = v.norm.offset(v.norm_bytes as u64);
        }
        v
    }
}

/// Divides ascending column numbers into runs of `max` consecutive numbers and, where there are fewer, single columns;
/// returns for each its position in `columns` and its length.
pub(crate) fn parts_of(columns: &[usize], max: usize) -> Vec<(usize, usize)> {
    let (mut parts, mut first) = (vec![], 0);
    while first < columns.len() {
        let whole = columns.get(first + max - 1) == Some(&(columns[first] + max - 1));
        parts.push((first, if whole { max } else { 1 }));
        first += parts[parts.len() - 1].1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::tests::common::devices;
    use crate::fields::Noise;

    /// `gather` moves the sites of a parity to the first half of a field's memory for all right-hand sides, and
    /// `spread` moves them back.
    #[test]
    fn a_parity_moves_to_the_first_half_and_back() {
        let bytes = |x: &VectorField| {
            let HostCopy { data, norm } = x.to_host().unwrap();
            let units = norm.map(|norm| norm.bytes().to_vec());
            (data.bytes().to_vec(), units.unwrap_or_default())
        };
        for device in devices() {
            let geometry = Geometry::new([4, 2, 4, 8], &device).unwrap();
            for (components, precision, nrhs) in [
                (Components::SPINOR, Precision::F64, 1),
                (Components::SPINOR, Precision::F64, 3),
                (Components::SPINOR, Precision::F16, 4),
                (Components::DOUBLET, Precision::F32, 2),
            ] {
                for parity in 0..2 {
                    let content = (components, RhsOrder::Slowest);
                    let whole = Subset::Full;
                    let mut x = VectorField::with_components(
                        &device, &geometry, precision, whole, nrhs, content,
                    )
                    .unwrap();
                    x.set_noise(Noise::Normal, 5, 0).unwrap();
                    let (before, planes) = (bytes(&x), nrhs * components.slices);
                    let plane = |all: &[u8], of: usize, k: usize| {
                        let one = all.len() / of;
                        all[k * one..(k + 1) * one].to_vec()
                    };
                    x.gather(parity).unwrap();
                    let [first, second] = x.halves(parity).unwrap();
                    assert_eq!(first.subset(), Subset::of_parity(parity));
                    assert_eq!(first.held() + second.held(), x.held());
                    let half = bytes(&first);
                    for k in 0..planes {
                        let from = 2 * k + parity;
                        assert!(plane(&half.0, planes, k) == plane(&before.0, 2 * planes, from));
                        assert!(plane(&half.1, planes, k) == plane(&before.1, 2 * planes, from));
                    }
                    x.halves(parity).unwrap()[1].clear().unwrap();
                    x.spread(parity).unwrap();
                    let after = bytes(&x);
                    for k in (0..planes).map(|k| 2 * k + parity) {
                        let of = 2 * planes;
                        assert!(plane(&after.0, of, k) == plane(&before.0, of, k));
                        assert!(plane(&after.1, of, k) == plane(&before.1, of, k));
                    }
                }
            }
        }
    }

    #[test]
    fn parts_lie_beside_each_other() {
        assert_eq!(parts_of(&[0, 1, 2, 3, 4, 5, 6], 3), [(0, 3), (3, 3), (6, 1)]);
        assert_eq!(parts_of(&[1, 2, 4, 5, 6, 9], 2), [(0, 2), (2, 2), (4, 1), (5, 1)]);
        assert_eq!(parts_of(&[3], 1), [(0, 1)]);
    }
}
