//! Operations on many vectors together: the right-hand sides of fields in double or single precision, slowest in
//! memory. Products of all pairs and linear combinations are computed in tiles of a few vectors, each of which is read
//! once for a tile (kernels/basis.h). Matrices are stored row by row; sums are in double precision, in a fixed order.

use std::ops::Range;

use num_complex::Complex64;

use super::{Precision, RhsOrder, VectorField};
use crate::backend::args::{BasisArgs, BASIS_COLUMNS, BASIS_OUT, BASIS_ROWS};
use crate::backend::{kernels, Buffer, Work};
use crate::bail;
use crate::error::Result;
use crate::refuse;

/// Largest number of tiles (pairs of blocks of vectors) whose scalar products are computed in one launch.
const TILES: usize = 1024;
/// Bytes of vectors on which a rotation works at a time, on a CPU and on a GPU: about the size of their caches.
const SCRATCH: [usize; 2] = [1 << 19, 1 << 24];
/// Largest number of new vectors that a rotation holds in addition to the old ones.
pub(super) const TURNED: usize = 32;

/// Computes the products G_ij = <v_i, w_j> of the vectors `of` of v with the vectors `with` of w, as `of.len()` rows.
///
/// # Errors
/// `FieldMismatch`: other lattices, subsets or precisions, or vectors that a field does not have;
/// `Unsupported`: 16-bit vectors, or right-hand sides fastest in memory.
pub fn dots(
    v: &VectorField,
    of: Range<usize>,
    w: &VectorField,
    with: Range<usize>,
) -> Result<Vec<Complex64>> {
    check(v, &of, w, &with)?;
    let (rows, columns) = (of.len(), with.len());
    let mut all = vec![Complex64::ZERO; rows * columns];
    if rows == 0 || columns == 0 {
        return Ok(all);
    }
    let (high, wide) = (BASIS_ROWS as usize, BASIS_COLUMNS as usize);
    let across = columns.div_ceil(wide);
    let at_a_time = (TILES / across).max(1) * high;
    for first in (0..rows).step_by(at_a_time) {
        let some = at_a_time.min(rows - first);
        let args = BasisArgs {
            first_v: (of.start + first) as i32,
            rows: some as i32,
            first_w: with.start as i32,
            columns: columns as i32,
            ..arguments(v, w)
        };
        let work = elements(v, some.div_ceil(high) * across);
        let sums =
            v.geometry().reduce(v.device(), kernels::BasisDots::of(v.precision())?, &args, work)?;
        for (tile, sums) in sums.chunks(2 * high * wide).enumerate() {
            let (row, column) = (tile / across * high, tile % across * wide);
            for (k, z) in sums.chunks(2).enumerate() {
                let (i, j) = (row + k / wide, column + k % wide);
                if i < some && j < columns {
                    all[(first + i) * columns + j] = Complex64::new(z[0], z[1]);
                }
            }
        }
    }
    Ok(all)
}

/// Computes w_j = alpha w_j + sum_i v_i c_ij for the vectors `from` of v and `to` of w; c has `from.len()` rows. With
/// alpha 0 the old w is not read.
///
/// # Errors
/// Errors of [`dots`]; `InvalidArgument`: c has another size.
pub fn combine(
    v: &VectorField,
    from: Range<usize>,
    c: &[Complex64],
    alpha: f64,
    w: &mut VectorField,
    to: Range<usize>,
) -> Result<()> {
    check(v, &from, w, &to)?;
    if c.len() != from.len() * to.len() {
        refuse!(
            InvalidArgument,
            "combine",
            expected("{} x {} coefficients", from.len(), to.len()),
            found("{}", c.len())
        );
    }
    if to.is_empty() || (from.is_empty() && alpha == 1.0) {
        return Ok(());
    }
    if from.is_empty() {
        // There is no vector to add: w is scaled by adding another field with coefficient 0.
        let (n, same) = (to.len(), w.like(w.precision())?);
        let zero = vec![Complex64::ZERO; n];
        return combine(&same, 0..1, &zero, alpha, w, to);
    }
    let coef = upload(v, c)?;
    let args = BasisArgs {
        first_v: from.start as i32,
        rows: from.len() as i32,
        first_w: to.start as i32,
        columns: to.len() as i32,
        alpha,
        coef: coef.ptr(),
        ..arguments(v, w)
    };
    let work = elements(v, to.len().div_ceil(BASIS_OUT as usize) * v.rhs_planes());
    v.device().launch(kernels::BasisUpdate::of(v.precision())?, &args, work)
}

/// Replaces the first vectors of `which`, as many as c has columns, by v_j = sum_i v_i c_ij over all vectors of
/// `which`; the other vectors are not changed.
///
/// # Errors
/// Errors of [`dots`]; `InvalidArgument`: c is not a matrix of `which.len()` rows and at most as many
/// columns; `OutOfMemory`.
pub fn rotate(v: &mut VectorField, which: Range<usize>, c: &[Complex64]) -> Result<()> {
    check(v, &which, v, &which)?;
    let rows = which.len();
    if rows == 0 || c.is_empty() {
        return Ok(());
    }
    let columns = c.len() / rows;
    if columns * rows != c.len() || columns > rows {
        bail!(InvalidArgument, "rotate: {rows} vectors and {} coefficients", c.len());
    }
    // The memory does not depend on the number of vectors after the rotation.
    let mut coef = v.device().alloc(rows * rows * size_of::<Complex64>())?;
    coef.upload_at(0, bytemuck::cast_slice(c))?;
    let planes = columns * v.rhs_planes();
    let (all, bytes) = (elements(v, 1), element_bytes(v));
    // On small lattices all sites would fit. The memory is limited to that of a rotation in which the host has some
    // vectors (`VectorSet`), so that a search that keeps fewer vectors never takes more.
    let turned = v.held() / v.nrhs() * TURNED.min(v.nrhs());
    let scratch = SCRATCH[!v.device().is_cpu() as usize].min(turned);
    let tile = (scratch / (planes * bytes)).clamp(1, all.n).max(all.n.min(64));
    let tiles = v.device().alloc(scratch.max(tile * planes * bytes))?;
    for first in (0..all.n).step_by(tile) {
        let n = tile.min(all.n - first);
        let mut args = arguments(v, v);
        let offset = (first * bytes) as u64;
        (args.v.data, args.w.data) = (args.v.data.offset(offset), tiles.ptr());
        args.w.plane_bytes = (tile * bytes) as i64;
        args = BasisArgs {
            first_v: which.start as i32,
            rows: rows as i32,
            columns: columns as i32,
            coef: coef.ptr(),
            ..args
        };
        let passes = columns.div_ceil(BASIS_OUT as usize) * v.rhs_planes();
        let work = Work { n, batches: passes, ..all };
        v.device().launch(kernels::BasisUpdate::of(v.precision())?, &args, work)?;
        let back = BasisArgs {
            v: args.w,
            w: args.v,
            first_v: 0,
            first_w: which.start as i32,
            rows: 0,
            ..args
        };
        v.device().launch(kernels::BasisUpdate::of(v.precision())?, &back, work)?;
    }
    Ok(())
}

fn upload(v: &VectorField, c: &[Complex64]) -> Result<Buffer> {
    let mut coef = v.device().alloc(size_of_val(c))?;
    coef.upload(bytemuck::cast_slice(c))?;
    Ok(coef)
}

fn arguments(v: &VectorField, w: &VectorField) -> BasisArgs {
    BasisArgs { v: v.view(), w: w.view(), parities: v.rhs_planes() as i32, ..Default::default() }
}

/// Bytes of an element of the kernels that this file calls: a load of 16 bytes on a GPU, a complex number of every lane
/// on a CPU.
fn element_bytes(v: &VectorField) -> usize {
    if v.device().is_cpu() {
        2 * v.geometry().lanes() * v.precision().bytes()
    } else {
        16
    }
}

fn elements(v: &VectorField, batches: usize) -> Work {
    let plane = v.geometry().plane_sites() * v.components().reals() * v.precision().bytes();
    Work { n: plane / element_bytes(v), batches, lanes: v.geometry().lanes() }
}

fn check(v: &VectorField, of: &Range<usize>, w: &VectorField, with: &Range<usize>) -> Result<()> {
    if v.geometry() != w.geometry() || v.device() != w.device() {
        bail!(FieldMismatch, "basis: the vectors live on different lattices or devices");
    }
    if v.subset() != w.subset() || v.precision() != w.precision() {
        refuse!(
            FieldMismatch,
            "basis",
            expected("vectors on {} sites in {}", v.subset(), v.precision()),
            found("{} sites in {}", w.subset(), w.precision())
        );
    }
    if v.components() != w.components() {
        refuse!(
            FieldMismatch,
            "basis",
            expected("{}", v.components()),
            found("{}", w.components())
        );
    }
    if v.order() == RhsOrder::Fastest || w.order() == RhsOrder::Fastest {
        refuse!(Unsupported, "basis", expected("vectors one after the other in memory"));
    }
    if v.precision() == Precision::F16 {
        refuse!(
            Unsupported,
            "basis",
            expected("vectors in double or single precision"),
            found("16 bits")
        );
    }
    for (field, range) in [(v, of), (w, with)] {
        if range.start > range.end || range.end > field.nrhs() {
            bail!(
                FieldMismatch,
                "basis: vectors {} to below {} of {}",
                range.start,
                range.end,
                field.nrhs()
            );
        }
    }
    Ok(())
}
