use std::sync::Arc;

use num_complex::Complex64;

use super::{CoarseGrid, Part};
use crate::backend::args::*;
use crate::backend::{kernels, Buffer, Device, Ptr, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::{
    blas, CloverField, Components, Geometry, Precision, SpinorField, Subset, VectorField,
};
use crate::refuse;

/// A vector of a multigrid level with any number of right-hand sides. With two flavours each flavour has half of the
/// components: component c of flavour f is number 2 c + f. The memory is then also that of a vector of one flavour with
/// twice as many right-hand sides, first those of flavour 0, then those of flavour 1.
#[derive(Debug)]
pub struct CoarseField {
    grid: Arc<CoarseGrid>,
    precision: Precision,
    subset: Subset,
    components: usize,
    nrhs: usize,
    data: Buffer,
}

impl CoarseField {
    /// Bytes of a field of this shape.
    pub fn bytes(
        grid: &CoarseGrid,
        precision: Precision,
        subset: Subset,
        components: usize,
        nrhs: usize,
    ) -> usize {
        range(grid, subset).1 * components * nrhs * 2 * precision.bytes()
    }

    /// Makes a zero field with `components` complex numbers per site, those of the upper chirality first.
    ///
    /// # Errors
    /// `InvalidArgument`: no components or right-hand sides; `Unsupported`: 16-bit storage;
    /// `OutOfMemory`.
    pub fn new(
        grid: &Arc<CoarseGrid>,
        precision: Precision,
        subset: Subset,
        components: usize,
        nrhs: usize,
    ) -> Result<Self> {
        if components == 0 || !components.is_multiple_of(2) || nrhs == 0 {
            bail!(
                InvalidArgument,
                "a coarse field with {components} components and {nrhs} right-hand sides: expected \
                 an even number and at least one"
            );
        }
        if precision == Precision::F16 {
            bail!(Unsupported, "coarse fields are stored in single or double precision");
        }
        let bytes = Self::bytes(grid, precision, subset, components, nrhs);
        let data = grid.device().alloc(bytes.max(16))?;
        Ok(CoarseField { grid: grid.clone(), precision, subset, components, nrhs, data })
    }

    /// A zero field on the same grid and subset with the same number of components, and `nrhs` right-hand sides.
    pub fn like(&self, nrhs: usize) -> Result<Self> {
        Self::new(&self.grid, self.precision, self.subset, self.components, nrhs)
    }

    /// A vector field that uses the same memory, for vector operations and solvers; right-hand sides are fastest.
    pub(crate) fn as_rows(&self) -> VectorField {
        let components = Components::of(2, self.components / 2);
        let bytes =
            Self::bytes(&self.grid, self.precision, self.subset, self.components, self.nrhs);
        let data = self.data.part(0, bytes);
        VectorField::on_rows(
            &self.grid.rows(self.subset),
            self.precision,
            components,
            self.nrhs,
            data,
        )
    }
    /// The reverse of [`Self::as_rows`]: a vector of the multigrid level `grid` that uses the memory of `rows`.
    pub(crate) fn of_rows(grid: &Arc<CoarseGrid>, subset: Subset, rows: &VectorField) -> Self {
        CoarseField {
            grid: grid.clone(),
            precision: rows.precision(),
            subset,
            components: rows.components().reals() / 2,
            nrhs: rows.nrhs(),
            data: rows.memory().part(0, rows.memory().bytes()),
        }
    }

    pub fn grid(&self) -> &Arc<CoarseGrid> {
        &self.grid
    }
    pub fn device(&self) -> &Device {
        self.data.device()
    }
    pub fn precision(&self) -> Precision {
        self.precision
    }
    pub fn subset(&self) -> Subset {
        self.subset
    }
    pub fn components(&self) -> usize {
        self.components
    }
    pub fn nrhs(&self) -> usize {
        self.nrhs
    }
    /// The position of the field's first site among the sites of the grid, and the number of the field's sites.
    pub fn range(&self) -> (usize, usize) {
        range(&self.grid, self.subset)
    }
    pub(crate) fn ptr(&self) -> Ptr {
        self.data.ptr()
    }

    pub(super) fn memory(&self) -> &Buffer {
        &self.data
    }
    pub(super) fn memory_mut(&mut self) -> &mut Buffer {
        &mut self.data
    }
    pub(crate) fn site_bytes(&self) -> usize {
        self.per_site() * 2 * self.precision.bytes()
    }

    pub fn clear(&mut self) -> Result<()> {
        self.data.zero()
    }

    fn numbers(&self) -> usize {
        self.range().1 * self.components * self.nrhs * 2
    }

    /// Copies all numbers to the host: `[site][component][right-hand side][re, im]`, sites in the order of the grid.
    pub fn save(&self) -> Result<Vec<f64>> {
        let n = self.numbers();
        if self.precision == Precision::F64 {
            let mut out = vec![0.0; n];
            self.data.download(bytemuck::cast_slice_mut(&mut out)).map(|()| out)
        } else {
            let mut out = vec![0f32; n];
            self.data.download(bytemuck::cast_slice_mut(&mut out))?;
            Ok(out.into_iter().map(f64::from).collect())
        }
    }

    /// Sets all numbers from an array in the order of `save`.
    ///
    /// # Errors
    /// `InvalidArgument`: another number of values.
    pub fn load(&mut self, values: &[f64]) -> Result<()> {
        if values.len() != self.numbers() {
            refuse!(
                InvalidArgument,
                "values",
                expected("{} numbers", self.numbers()),
                found("{}", values.len())
            );
        }
        if self.precision == Precision::F64 {
            self.data.upload(bytemuck::cast_slice(values))
        } else {
            let narrow: Vec<f32> = values.iter().map(|&v| v as f32).collect();
            self.data.upload(bytemuck::cast_slice(&narrow))
        }
    }

    /// Sets all numbers to value(site, component, right-hand side), where the site is its lexicographic index in the
    /// whole lattice of the level, so that the vector is the same on any number of ranks.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn fill(&mut self, value: impl Fn(usize, usize, usize) -> Complex64) -> Result<()> {
        let mut values = Vec::with_capacity(self.numbers());
        for site in self.places() {
            for component in 0..self.components {
                for column in 0..self.nrhs {
                    let z = value(site, component, column);
                    values.extend([z.re, z.im]);
                }
            }
        }
        self.load(&values)
    }

    /// For each site of the field its index in the lexicographic order of the whole lattice.
    pub fn places(&self) -> Vec<usize> {
        let (grid, (first, count)) = (&self.grid, self.range());
        let (local, global) = (grid.extents(), grid.global_extents());
        let coords = grid.comm().coords();
        let place = |lex: &i32| {
            let mut remainder = *lex as usize;
            let x: [usize; 4] = std::array::from_fn(|mu| {
                let x = remainder % local[mu] + coords[mu] * local[mu];
                remainder /= local[mu];
                x
            });
            (0..4).rev().fold(0, |site, mu| site * global[mu] + x[mu])
        };
        grid.order()[first..first + count].iter().map(place).collect()
    }

    /// Returns an error if `other` differs in grid, precision, subset, components or number of right-hand sides.
    pub fn check_like(&self, other: &CoarseField, what: &str) -> Result<()> {
        let shape = |f: &CoarseField| (f.precision, f.subset, f.components, f.nrhs);
        if self.grid != other.grid || shape(self) != shape(other) {
            refuse!(
                FieldMismatch,
                "{what}",
                expected(
                    "(precision, sites, components, right-hand sides) {:?} on {:?}",
                    shape(self),
                    self.grid.extents()
                ),
                found("{:?} on {:?}", shape(other), other.grid.extents())
            );
        }
        Ok(())
    }

    /// The work of kernels that handle one site at a time on a CPU, and on a GPU one of `each` elements of a site.
    fn work(&self, sites: usize, each: usize) -> Work {
        Work::rows(self.device(), sites, each)
    }
    fn per_site(&self) -> usize {
        self.components * self.nrhs
    }

    /// Computes self = a x + b self, with one coefficient per right-hand side; if all of b are 0, self is not read.
    pub fn axpby(&mut self, a: &[Complex64], x: &CoarseField, b: &[Complex64]) -> Result<()> {
        self.check_like(x, "axpby")?;
        if b.iter().all(|b| *b == Complex64::ZERO) {
            self.copy(x)?;
            return self.scale(a);
        }
        blas::axpby(a, &x.as_rows(), b, &mut self.as_rows())
    }

    /// Computes self += a x.
    pub fn axpy(&mut self, a: &[Complex64], x: &CoarseField) -> Result<()> {
        self.axpby(a, x, &blas::uniform(x.nrhs, 1.0))
    }

    /// Computes self *= b, for finite numbers.
    pub fn scale(&mut self, b: &[Complex64]) -> Result<()> {
        let none = blas::uniform(self.nrhs, 0.0);
        blas::axpby(&none, &self.as_rows(), b, &mut self.as_rows())
    }

    /// Computes self = x.
    pub fn copy(&mut self, x: &CoarseField) -> Result<()> {
        self.check_like(x, "copy")?;
        self.data.copy_from(&x.data)
    }

    /// Computes <x, y> and |x|^2 of every right-hand side, in double precision.
    pub fn dot_norm(&self, y: &CoarseField) -> Result<(Vec<Complex64>, Vec<f64>)> {
        self.check_like(y, "dot")?;
        blas::dot_norm(&self.as_rows(), &y.as_rows())
    }

    /// Computes |x|^2 of every right-hand side.
    pub fn norm2(&self) -> Result<Vec<f64>> {
        Ok(self.dot_norm(self)?.1)
    }

    /// Copies columns (right-hand sides) `first..first + count` of `x` to the columns from `to` on. `chirality` 0: all
    /// components; 1 or 2: those of the upper or lower chirality, and the others are set to 0. Precisions may differ.
    pub fn copy_from_columns(
        &mut self,
        to: usize,
        x: &CoarseField,
        first: usize,
        count: usize,
        chirality: usize,
    ) -> Result<()> {
        let place = |f: &CoarseField| (f.subset, f.components);
        if self.grid != x.grid
            || place(self) != place(x)
            || first + count > x.nrhs
            || to + count > self.nrhs
        {
            bail!(
                FieldMismatch,
                "columns: {count} from {first} of {} on {:?} to {to} of {} on {:?}",
                x.nrhs,
                place(x),
                self.nrhs,
                place(self)
            );
        }
        let args = CoarseColumnsArgs {
            x: x.ptr(),
            y: self.ptr(),
            components: self.components as i32,
            columns_x: x.nrhs as i32,
            columns_y: self.nrhs as i32,
            count: count as i32,
            first_x: first as i32,
            first_y: to as i32,
            chirality: chirality as i32,
        };
        let work = self.work(self.range().1, self.components * count);
        self.device().launch(kernels::CoarseColumns::of(x.precision, self.precision)?, &args, work)
    }

    /// Copies all right-hand sides of spinors to the columns from `to` on; with `project` they are multiplied by (1 -
    /// sign gamma_mu)/2. Spinors of two flavours on both parities must have one right-hand side.
    pub(crate) fn copy_from_spinors(
        &mut self,
        to: usize,
        x: &SpinorField,
        project: Option<(usize, f64)>,
    ) -> Result<()> {
        let (project, sign) = project.map_or((0, 0.0), |(mu, sign)| (mu as i32 + 1, sign));
        let kernel = kernels::AggregateFromSpinors::of(x.precision(), self.precision)?;
        (0..x.components().slices).try_for_each(|flavour| {
            let args = AggregateFieldArgs { project, sign, ..self.spinor_args(to, x, flavour)? };
            self.device().launch(kernel, &args, spinor_work(x))
        })
    }

    /// Copies spinors, multiplied by a site term, to columns; the site term is given by a SITE_* code, the clover
    /// field that it reads, its twist and scale.
    ///
    /// # Errors
    /// `FieldMismatch`: spinors of another precision or of several flavours besides.
    pub(crate) fn copy_from_spinors_times(
        &mut self,
        to: usize,
        x: &SpinorField,
        (site, clover, [twist, twist_scale]): (i32, Option<&CloverField>, [f64; 2]),
    ) -> Result<()> {
        if x.precision() != self.precision || x.components() != Components::SPINOR {
            bail!(
                FieldMismatch,
                "{} numbers in {} to columns in {}",
                x.components(),
                x.precision(),
                self.precision
            );
        }
        let args = AggregateSiteArgs {
            to: self.spinor_args(to, x, 0)?,
            clover: clover.map_or_else(|| x.view(), CloverField::view),
            site,
            twist,
            twist_scale,
        };
        let blocks = clover.map_or(x.precision(), CloverField::precision);
        let kernel = kernels::AggregateFromSpinorsTimes::of(x.precision(), blocks)?;
        self.device().launch(kernel, &args, spinor_work(x))
    }

    /// Copies the columns from `from` on to all right-hand sides of the spinors `x`.
    pub(crate) fn copy_to_spinors(
        &self,
        from: usize,
        x: &mut SpinorField,
        chirality: usize,
    ) -> Result<()> {
        let kernel = kernels::AggregateToSpinors::of(x.precision(), self.precision)?;
        (0..x.components().slices).try_for_each(|flavour| {
            let own = self.spinor_args(from, x, flavour)?;
            let args = AggregateFieldArgs { chirality: chirality as i32, ..own };
            self.device().launch(kernel, &args, spinor_work(x))
        })
    }

    /// Arguments of a kernel for one flavour of spinors and the columns that belong to it.
    fn spinor_args(
        &self,
        column: usize,
        x: &SpinorField,
        flavour: usize,
    ) -> Result<AggregateFieldArgs> {
        let flavours = x.components().slices;
        let fits = self.components == 12 * flavours
            && self.grid.extents() == x.geometry().extents()
            && self.grid.fine() == x.geometry()
            && self.device() == x.device()
            && self.subset == x.subset()
            && column + x.nrhs() <= self.nrhs;
        if !fits {
            bail!(
                FieldMismatch,
                "spinors: {} right-hand sides of {:?} on {:?} do not fit columns from {column} of {} \
                 of {:?} on {:?}",
                x.nrhs(),
                x.subset(),
                x.geometry().extents(),
                self.nrhs,
                self.subset,
                self.grid.extents()
            );
        }
        Ok(AggregateFieldArgs {
            geom: x.geometry().args(),
            field: x.slice_view(flavour)?,
            data: self.ptr(),
            columns: (self.nrhs * flavours) as i32,
            count: x.nrhs() as i32,
            parities: x.parities() as i32,
            parity: (x.subset() == Subset::Odd) as i32,
            first: (flavour * self.nrhs + column) as i32,
            whole: (self.subset == Subset::Full) as i32,
            ..Default::default()
        })
    }

    /// Replaces the numbers of `count` sites, from site number `first` on, by those in a buffer.
    pub(crate) fn replace_sites(
        &mut self,
        first: usize,
        count: usize,
        from: &Buffer,
    ) -> Result<()> {
        let each = self.site_bytes();
        self.data.copy_range(first * each, from, 0, count * each)
    }

    /// Copies a vector on even sites to the even sites of this one.
    pub(crate) fn place_even(&mut self, even: &CoarseField) -> Result<()> {
        self.data.copy_range(0, &even.data, 0, even.numbers() * self.precision.bytes())
    }

    /// Copies the even sites of a vector on all sites to this one.
    pub(crate) fn copy_from_even(&mut self, all: &CoarseField) -> Result<()> {
        let bytes = self.numbers() * self.precision.bytes();
        self.data.copy_range(0, &all.data, 0, bytes)
    }

    /// All sites of this field as a [`Part`].
    pub(crate) fn own(&self) -> Part {
        self.part(self.subset)
    }
    /// The sites of a subset as a [`Part`] of this vector.
    pub(crate) fn part(&self, subset: Subset) -> Part {
        let (first, count) = range(&self.grid, subset);
        let skip = (first - self.range().0) * self.per_site() * 2 * self.precision.bytes();
        let ptr = self.data.ptr().offset(skip as u64);
        Part { ptr, first, count, components: self.components, nrhs: self.nrhs }
    }
}

impl CoarseGrid {
    /// The sites of a subset as a geometry of rows, for vector operations.
    pub(crate) fn rows(&self, subset: Subset) -> Arc<Geometry> {
        let (_, sites) = range(self, subset);
        let parts = if subset == Subset::Full || !self.has_parity() { 1 } else { 2 };
        let global = self.global_volume() / parts;
        Geometry::of_rows(sites, global, self.global_extents(), self.comm())
    }
}

/// The work over the sites of one flavour of spinors; on a GPU right-hand sides are elements of a site.
pub(crate) fn spinor_work(x: &SpinorField) -> Work {
    let work = x.geometry().work(x.nrhs() * x.parities());
    match x.device().is_cpu() {
        true => work,
        false => Work { n: work.n * x.nrhs(), batches: x.parities(), ..work },
    }
}

fn range(grid: &CoarseGrid, subset: Subset) -> (usize, usize) {
    match subset {
        Subset::Full => (0, grid.volume()),
        Subset::Even => (0, grid.even()),
        Subset::Odd => (grid.even(), grid.volume() - grid.even()),
    }
}
