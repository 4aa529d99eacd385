//! Operations on vectors separately for every time slice: sums over a slice, products, linear combinations, and
//! factors that depend on time.

use num_complex::Complex64;

use super::{BoundaryTime, Components, Geometry, Precision, RhsOrder, Subset, VectorField};
use crate::backend::args::TimeSliceArgs;
use crate::backend::products::{Form, Matrices, Products};
use crate::backend::{kernels, Buffer, Device, Work};
use crate::bail;
use crate::error::Result;
use crate::refuse;

/// Largest number of time slices in one launch, so that its sums take little memory.
const SLICES: usize = 8;

/// Sums `numbers` values for each time slice of the whole lattice and returns them in the order of global t.
/// `launch(first slice, work)` returns sums for each slice, parity and `inner` batch: first those at the times of the
/// lower lanes, then, if lanes divide t, those at the times of the upper lanes.
pub(crate) fn over_slices(
    field: &VectorField,
    counts: (usize, usize),
    launch: impl FnMut(i32, Work) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    let mut all = over_own_slices(field, counts, launch)?;
    field.geometry().comm().sum(&mut all)?;
    Ok(all)
}

/// Sums of [`over_slices`] over the sites of this rank alone; 0 for slices of which it has none.
fn over_own_slices(
    field: &VectorField,
    (inner, numbers): (usize, usize),
    mut launch: impl FnMut(i32, Work) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    let geometry = field.geometry();
    let (times, first) = (geometry.global_extents()[3], geometry.origin()[3]);
    let piece = geometry.args().t as usize;
    let halves = geometry.extents()[3] / piece;
    let n = geometry.outer() / piece;
    let mut all = vec![0.0; inner * numbers * times];
    // A launch on a GPU has at most 65535 batches.
    let max = (65535 / (2 * inner)).clamp(1, SLICES);
    for begin in (0..piece).step_by(max) {
        let count = max.min(piece - begin);
        let work = Work { n, batches: 2 * count * inner, lanes: geometry.lanes() };
        let sums = launch(begin as i32, work)?;
        for (i, value) in sums.iter().enumerate() {
            let (k, batch) = (i % (2 * numbers), i / (2 * numbers));
            let (half, k) = (k / numbers, k % numbers);
            let (b, slice) = (batch % inner, begin + batch / (2 * inner));
            if half < halves {
                let t = first + slice + half * piece;
                all[(t * inner + b) * numbers + k] += value;
            }
        }
    }
    Ok(all)
}

/// Returns an error unless the field consists of colour vectors on the whole lattice with right-hand sides slowest.
fn check(f: &VectorField) -> Result<()> {
    let wanted = (Components::COLOUR, RhsOrder::Slowest, Subset::Full);
    if (f.components(), f.order(), f.subset()) != wanted || f.precision() == Precision::F16 {
        refuse!(
            Unsupported,
            "time slices",
            expected("colour vectors of the whole lattice in single or double precision"),
            found("{} on {} sites in {}", f.components(), f.subset(), f.precision())
        );
    }
    Ok(())
}

fn arguments(v: &VectorField, w: &VectorField) -> Result<TimeSliceArgs> {
    check(v)?;
    check(w)?;
    if v.geometry() != w.geometry() || v.precision() != w.precision() || v.device() != w.device() {
        bail!(FieldMismatch, "time slices: the fields differ in lattice, device or precision");
    }
    Ok(TimeSliceArgs {
        geom: v.geometry().args(),
        v: v.view(),
        w: w.view(),
        rows: v.nrhs() as i32,
        columns: w.nrhs() as i32,
        ..Default::default()
    })
}

/// True if the colour vectors of a field are columns of matrices on every time slice and parity, and their device has a
/// library for products of such matrices.
pub(crate) fn is_matrix(v: &VectorField) -> bool {
    // On a GPU numbers of 32 sites stand together (kernels/field.h).
    let sites = slice_numbers(v) / 3;
    let whole = v.geometry().lanes() == 1 && sites.is_multiple_of(32);
    v.precision() == Precision::F64 && !v.device().is_cpu() && whole && v.device().multiplies()
}

/// Number of complex numbers of a colour vector on one parity of a time slice of this rank.
fn slice_numbers(v: &VectorField) -> usize {
    let [x, y, z, _] = v.geometry().extents();
    3 * (x / 2 * y * z)
}

/// Columns of a field of colour vectors on one parity, a matrix for each time slice.
fn columns_of(v: &VectorField, parity: usize, form: Form) -> Matrices {
    let view = v.view();
    let plane = view.plane_bytes as usize;
    let ptr = view.data.offset((parity * plane) as u64);
    Matrices { ptr, column: 2 * plane / size_of::<Complex64>(), step: slice_numbers(v), form }
}

/// Scalar products of [`own_dots`] by a library for products of matrices; `None` if nothing has been computed.
fn dots_of_matrices(v: &VectorField, w: &VectorField) -> Result<Option<Vec<Complex64>>> {
    if !is_matrix(v) || !is_matrix(w) {
        return Ok(None);
    }
    let (rows, columns, geometry) = (v.nrhs(), w.nrhs(), v.geometry());
    let (first, times) = (geometry.origin()[3], geometry.extents()[3]);
    let each = rows * columns;
    let sums = v.device().alloc(times * each * size_of::<Complex64>())?;
    // Column by column these are the products <w_j, v_i> with j fastest.
    let c = Matrices { ptr: sums.ptr(), column: columns, step: each, form: Form::Plain };
    let products = [0, 1].map(|parity| Products {
        a: columns_of(w, parity, Form::Adjoint),
        b: columns_of(v, parity, Form::Plain),
        c,
        rows: columns,
        columns: rows,
        inner: slice_numbers(v),
        batch: times,
        add: parity == 1,
    });
    if !v.device().multiply(&products)? {
        return Ok(None);
    }
    let mut all = vec![Complex64::ZERO; geometry.global_extents()[3] * each];
    let own = &mut all[first * each..(first + times) * each];
    sums.download(bytemuck::cast_slice_mut(own))?;
    own.iter_mut().for_each(|z| *z = z.conj());
    Ok(Some(all))
}

/// Computes <v_i, w_j> on every time slice of the whole lattice: [t][i][j].
pub(crate) fn dots(v: &VectorField, w: &VectorField) -> Result<Vec<Complex64>> {
    let mut all = own_dots(v, w)?;
    v.geometry().comm().sum(bytemuck::cast_slice_mut(&mut all))?;
    Ok(all)
}

/// Scalar products of [`dots`] over the sites of this rank alone; the caller sums them over the ranks. One rank may use
/// a library for products of matrices, another one kernels.
pub(crate) fn own_dots(v: &VectorField, w: &VectorField) -> Result<Vec<Complex64>> {
    let args = arguments(v, w)?;
    if let Some(all) = dots_of_matrices(v, w)? {
        return Ok(all);
    }
    let (rows, columns) = (v.nrhs(), w.nrhs());
    let across = columns.div_ceil(4);
    let tiles = across * rows.div_ceil(4);
    let kernel = kernels::TimeSliceDots::of(v.precision())?;
    let sums = over_own_slices(v, (tiles, 32), |slice, work| {
        v.device().reduce(kernel, &TimeSliceArgs { slice, ..args }, work)
    })?;
    let times = v.geometry().global_extents()[3];
    let at = |k: usize| {
        let (t, i, j) = (k / (rows * columns), k / columns % rows, k % columns);
        let tile = i / 4 * across + j / 4;
        let z = &sums[(t * tiles + tile) * 32 + 2 * (4 * (i % 4) + j % 4)..];
        Complex64::new(z[0], z[1])
    };
    Ok((0..times * rows * columns).map(at).collect())
}

/// The kind of linear combination to make on each time slice.
pub(crate) enum Combination {
    /// w_j = sum_i v_i c_ij; coefficients [t][i][j] as in [`dots`].
    Of,
    /// w_j += sum_i v_i c_ij.
    Add,
    /// w_j += c_j v_j; coefficients [t][j].
    AddDiagonal,
}

/// Makes linear combinations, with separate coefficients for each time slice of the whole lattice.
pub(crate) fn combine(
    w: &mut VectorField,
    v: &VectorField,
    c: &[Complex64],
    how: Combination,
) -> Result<()> {
    let diagonal = matches!(how, Combination::AddDiagonal);
    update(w, v, c, (!matches!(how, Combination::Of), diagonal))
}

/// Makes the combinations of [`combine`], whose vectors v_i may be those of w with `diagonal`.
fn update(
    w: &VectorField,
    v: &VectorField,
    c: &[Complex64],
    (add, diagonal): (bool, bool),
) -> Result<()> {
    let args = arguments(v, w)?;
    let each = w.nrhs() * if diagonal { 1 } else { v.nrhs() };
    let geometry = w.geometry();
    let (first, times) = (geometry.origin()[3], geometry.extents()[3]);
    if c.len() != each * geometry.global_extents()[3] || (diagonal && v.nrhs() < w.nrhs()) {
        bail!(InvalidArgument, "time slices: {} coefficients for {} vectors", c.len(), w.nrhs());
    }
    let own = &c[each * first..each * (first + times)];
    let mut coef = w.device().alloc(size_of_val(own))?;
    coef.upload(bytemuck::cast_slice(own))?;
    if !diagonal && is_matrix(v) && is_matrix(w) {
        let (ptr, form) = (coef.ptr(), Form::Transposed);
        let b = Matrices { ptr, column: w.nrhs(), step: each, form };
        let products = [0, 1].map(|parity| Products {
            a: columns_of(v, parity, Form::Plain),
            b,
            c: columns_of(w, parity, Form::Plain),
            rows: slice_numbers(v),
            columns: w.nrhs(),
            inner: v.nrhs(),
            batch: times,
            add,
        });
        if w.device().multiply(&products)? {
            return Ok(());
        }
    }
    let (add, diagonal) = (add as i32, diagonal as i32);
    let args = TimeSliceArgs { coef: coef.ptr(), add, diagonal, ..args };
    let work = geometry.work(2 * w.nrhs().div_ceil(4));
    w.device().launch(kernels::TimeSliceUpdate::of(w.precision())?, &args, work)
}

/// A real factor for each time slice of this rank, kept on a device.
pub(crate) struct TimeFactors(Buffer);

impl TimeFactors {
    /// Copies `factors`, one for each time of the whole lattice, to the device.
    pub fn new(device: &Device, geometry: &Geometry, factors: &[f64]) -> Result<Self> {
        let (first, times) = (geometry.origin()[3], geometry.extents()[3]);
        let own = &factors[first..first + times];
        let mut buffer = device.alloc(size_of_val(own))?;
        buffer.upload(bytemuck::cast_slice(own))?;
        Ok(TimeFactors(buffer))
    }

    /// Computes out = factor(t) in, for spinors of any subset, precision and number of slices.
    pub fn multiply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        inp.check_like(out, "time slices")?;
        if inp.precision() != out.precision() {
            bail!(FieldMismatch, "time slices: the fields differ in precision");
        }
        self.launch(out, inp)
    }

    /// Computes field = factor(t) field.
    pub fn scale(&self, field: &mut VectorField) -> Result<()> {
        self.launch(field, field)
    }

    fn launch(&self, out: &VectorField, inp: &VectorField) -> Result<()> {
        check_spinors(inp.components(), inp.order())?;
        let args = TimeSliceArgs {
            geom: inp.geometry().args(),
            v: inp.view(),
            w: out.view(),
            coef: self.0.ptr(),
            ..Default::default()
        };
        inp.device().launch(kernels::TimeSliceScale(inp.precision()), &args, inp.work())
    }
}

/// Sets spinors or colour vectors to zero on slices where quarks vanish because of boundaries in time.
pub fn vanish(field: &mut VectorField, boundary: BoundaryTime) -> Result<()> {
    if boundary.is_periodic() {
        return Ok(());
    }
    let geometry = field.geometry().clone();
    let factors = boundary.factors(geometry.global_extents()[3]);
    if field.components() == Components::COLOUR {
        let columns = field.nrhs();
        let each = |f: f64| std::iter::repeat_n(Complex64::from(f), columns);
        let factors: Vec<_> = factors.into_iter().flat_map(each).collect();
        return update(field, field, &factors, (false, true));
    }
    TimeFactors::new(field.device(), &geometry, &factors)?.scale(field)
}

/// A copy of spinors that is zero on slices where quarks vanish.
pub fn vanishing(field: &VectorField, boundary: BoundaryTime) -> Result<VectorField> {
    let mut copy = field.like(field.precision())?;
    let geometry = field.geometry().clone();
    let factors = boundary.factors(geometry.global_extents()[3]);
    TimeFactors::new(field.device(), &geometry, &factors)?.multiply(&mut copy, field)?;
    Ok(copy)
}

/// Returns an error for vectors other than spinors with right-hand sides slowest, to which [`TimeFactors`] do not
/// apply.
pub(crate) fn check_spinors(components: Components, order: RhsOrder) -> Result<()> {
    if (Components { slices: 1, ..components }, order) != (Components::SPINOR, RhsOrder::Slowest) {
        refuse!(
            Unsupported,
            "factors of time slices",
            expected("spinors, one right-hand side after the other"),
            found("{components}")
        );
    }
    Ok(())
}
