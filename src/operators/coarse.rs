//! Operators of multigrid's coarse levels (Clark et al., arXiv:1612.07873, section 3.4):
//! M = D (1 + Y), D a matrix per site and Y = D^-1 (hops to the eight neighbours), all of the 2 N
//! components of a site. Where sites have a parity, solves use the Schur complement
//! S = 1 - Y_eo Y_oe on the even ones, else 1 + Y.

use std::sync::Arc;

use crate::backend::args::{
    CoarseApplyArgs, CoarseColumnsArgs, CoarseMatrixArgs, CoarseShortenArgs,
};
use crate::backend::families::Single;
use crate::backend::{kernels, Buffer, Device, Ptr, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::domains::Domains;
use crate::fields::{CoarseField, CoarseGrid, Part, Precision, Subset};
use crate::params::choices;

/// Bit of the diagonal among directions.
const DIAGONAL: i32 = 1 << 8;

/// Precision of links of coarse operators: that of the operator, or integers of 16 (on a GPU numbers in half
/// precision) or 8 bits, each matrix with a scale of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LinkPrecision {
    Double,
    Single,
    Half,
    Quarter,
}

choices! {
    /// Storage precision; the number is the bytes of a real. Arithmetic is in double for double fields, in single
    /// otherwise; sums are in double.
    impl LinkPrecision: plaq_precision {
        Double = 8, PLAQ_PRECISION_DOUBLE, "double";
        Single = 4, PLAQ_PRECISION_SINGLE, "single";
        /// 16-bit fixed point, for spinors with one norm per site.
        Half = 2, PLAQ_PRECISION_HALF, "half";
        /// 8-bit fixed point: of multigrid's coarse links alone, `link_precision` of plaq_multigrid_params.
        Quarter = 1, PLAQ_PRECISION_QUARTER, "quarter";
    }
}

impl LinkPrecision {
    pub fn of(precision: Precision) -> Self {
        match precision {
            Precision::F64 => LinkPrecision::Double,
            Precision::F32 => LinkPrecision::Single,
            Precision::F16 => LinkPrecision::Half,
        }
    }
    pub fn bytes(self) -> usize {
        match self {
            LinkPrecision::Double => 8,
            LinkPrecision::Single => 4,
            LinkPrecision::Half => 2,
            LinkPrecision::Quarter => 1,
        }
    }
    /// Do matrices have scales?
    pub fn scaled(self) -> bool {
        matches!(self, LinkPrecision::Half | LinkPrecision::Quarter)
    }
}

/// An operator on a coarse level.
#[derive(Debug)]
pub struct CoarseOperator {
    grid: Arc<CoarseGrid>,
    precision: Precision,
    rows: usize,
    /// Y, [site][direction][column][row].
    links: Buffer,
    link_precision: LinkPrecision,
    /// Scales of matrices, where these have them, [site][direction].
    scales: Option<Buffer>,
    /// D and its inverse, [site][column][row].
    diagonal: Buffer,
    inverse: Buffer,
}

impl CoarseOperator {
    /// The operator of hops, [site][direction][column][row], and the diagonal.
    ///
    /// # Errors
    /// `BadParameter`: a diagonal matrix has no inverse, as with null vectors or links that are not finite.
    pub(crate) fn new(
        grid: &Arc<CoarseGrid>,
        precision: Precision,
        rows: usize,
        hops: Buffer,
        diagonal: Buffer,
    ) -> Result<Self> {
        let device = grid.device();
        let inverse = invert(grid, precision, rows, &diagonal)?;
        let mut op = CoarseOperator {
            grid: grid.clone(),
            precision,
            rows,
            links: hops,
            link_precision: LinkPrecision::of(precision),
            scales: None,
            diagonal,
            inverse,
        };
        // D^-1 times the hops, some sites at a time: the products take the place of their factors.
        let matrix = rows * rows * 2 * precision.bytes();
        let some = grid.volume().div_ceil(8).max(1);
        let products = device.alloc(some * 8 * matrix)?;
        for first in (0..grid.volume()).step_by(some) {
            let count = some.min(grid.volume() - first);
            let args = CoarseMatrixArgs {
                left: op.inverse.ptr().offset((first * matrix) as u64),
                inp: op.links.ptr().offset((first * 8 * matrix) as u64),
                out: products.ptr(),
                rows: rows as i32,
                each: 8,
            };
            let work = Work::rows(device, 8 * count, rows * rows);
            device.launch(kernels::CoarseMultiply::of(precision)?, &args, work)?;
            op.links.copy_range(first * 8 * matrix, &products, 0, count * 8 * matrix)?;
        }
        Ok(op)
    }

    /// Keeps links in single precision in 16 or 8 bits; diagonal matrices stay as they are.
    pub fn shorten_links(&mut self, to: LinkPrecision) -> Result<()> {
        if self.link_precision != LinkPrecision::Single || !to.scaled() {
            return Ok(());
        }
        let (device, matrices) = (self.device().clone(), 8 * self.grid.volume());
        let numbers = matrices * self.rows * self.rows * 2;
        let short = device.alloc((to.bytes() * numbers).max(16))?;
        let scales = device.alloc((4 * matrices).max(16))?;
        let args = CoarseShortenArgs {
            inp: self.links.ptr(),
            out: short.ptr(),
            scales: scales.ptr(),
            rows: self.rows as i32,
        };
        // On a GPU a warp shares a matrix.
        let work = Work::rows(&device, matrices, 32);
        match to {
            LinkPrecision::Quarter => {
                device.launch(kernels::CoarseShortenByte(Single::F32), &args, work)?
            }
            _ => device.launch(kernels::CoarseShorten(Single::F32), &args, work)?,
        }
        (self.links, self.link_precision, self.scales) = (short, to, Some(scales));
        Ok(())
    }

    /// Another one with the same numbers.
    pub fn duplicate(&self) -> Result<Self> {
        let copy = |from: &Buffer| -> Result<Buffer> {
            let mut to = self.device().alloc(from.bytes())?;
            to.copy_from(from)?;
            Ok(to)
        };
        Ok(CoarseOperator {
            grid: self.grid.clone(),
            precision: self.precision,
            rows: self.rows,
            links: copy(&self.links)?,
            link_precision: self.link_precision,
            scales: self.scales.as_ref().map(copy).transpose()?,
            diagonal: copy(&self.diagonal)?,
            inverse: copy(&self.inverse)?,
        })
    }

    pub fn grid(&self) -> &Arc<CoarseGrid> {
        &self.grid
    }
    pub fn device(&self) -> &Device {
        self.grid.device()
    }
    pub fn precision(&self) -> Precision {
        self.precision
    }
    /// Components of a site.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Sites that solves are on.
    pub fn subset(&self) -> Subset {
        if self.grid.has_parity() {
            Subset::Even
        } else {
            Subset::Full
        }
    }
    /// A zero vector.
    pub fn field(&self, subset: Subset, nrhs: usize) -> Result<CoarseField> {
        CoarseField::new(&self.grid, self.precision, subset, self.rows, nrhs)
    }

    /// out = coef (terms of `directions`) in + what is added, on the sites of `out`; `inside`: without hops
    /// between domains.
    #[allow(clippy::too_many_arguments)]
    fn product(
        &self,
        out: Part,
        inp: Part,
        diagonal: &Buffer,
        directions: i32,
        coef: f64,
        plus: Option<(f64, Part)>,
        inside: Option<&Domains>,
    ) -> Result<()> {
        let inside = inside.and_then(Domains::neighbours);
        // Diagonal matrices are as they were.
        let links = match directions & DIAGONAL {
            0 => self.link_precision,
            _ => LinkPrecision::of(self.precision),
        };
        let args = CoarseApplyArgs {
            links: self.links.ptr(),
            scales: self.scales.as_ref().map_or(Ptr::NULL, Buffer::ptr),
            diagonal: diagonal.ptr(),
            inp: inp.ptr,
            out: out.ptr,
            y: plus.map_or(Ptr::NULL, |(_, y)| y.ptr),
            neighbours: inside.unwrap_or(self.grid.neighbours()).ptr(),
            rows: self.rows as i32,
            nrhs: inp.nrhs as i32,
            with_y: plus.is_some() as i32,
            first: out.first as i32,
            count: out.count as i32,
            first_in: inp.first as i32,
            first_out: out.first as i32,
            first_y: plus.map_or(0, |(_, y)| y.first) as i32,
            directions,
            coef,
            coef_y: plus.map_or(0.0, |(c, _)| c),
            ..Default::default()
        };
        let device = self.device();
        let work = if device.is_cpu() {
            Work { n: out.count, batches: 1, lanes: device.max_lanes() }
        } else {
            // Warps of eight rows and parts of the sum, of 8 bits of sixteen, a thread with one or four right-hand
            // sides; by tensor cores of sixteen rows and eight or sixteen right-hand sides.
            let (rows, columns) = match inp.nrhs {
                1 if links == LinkPrecision::Quarter => (16, 1),
                1 => (8, 1),
                _ if !links.scaled() => (8, 4),
                2..=8 => (16, 8),
                _ => (16, 16),
            };
            let warps = inp.nrhs.div_ceil(columns) * self.rows.div_ceil(rows);
            Work { n: out.count * warps * 32, batches: 1, lanes: 1 }
        };
        let launch = |halo| {
            let args = CoarseApplyArgs { halo, ..args };
            match links {
                LinkPrecision::Quarter => {
                    device.launch(kernels::CoarseApplyByte(Single::F32), &args, work)
                }
                LinkPrecision::Half => {
                    device.launch(kernels::CoarseApplyShort(Single::F32), &args, work)
                }
                _ => device.launch(kernels::CoarseApply::of(self.precision)?, &args, work),
            }
        };
        if directions & !DIAGONAL == 0 || inside.is_some() {
            launch([Ptr::NULL; 8])
        } else {
            self.grid.with_halo(&inp, self.precision, launch)
        }
    }

    /// Refuses vectors that do not fit.
    fn check(&self, fields: &[&CoarseField]) -> Result<()> {
        for f in fields {
            let found = (f.precision(), f.components(), f.nrhs());
            let expected = (self.precision, self.rows, fields[0].nrhs());
            if *f.grid() != self.grid || found != expected {
                bail!(
                    FieldMismatch,
                    "coarse operator: expected (precision, components, right-hand sides) {expected:?} \
                     on {:?}, found {found:?} on {:?}",
                    self.grid.extents(),
                    f.grid().extents()
                );
            }
        }
        Ok(())
    }

    fn hop(&self, out: Part, inp: Part, coef: f64, plus: Option<(f64, Part)>) -> Result<()> {
        self.product(out, inp, &self.diagonal, self.grid.directions(), coef, plus, None)
    }

    /// One or, through the odd sites, two hops: with `plus` the operator of solves, without what of it is
    /// not the unit matrix, with the other sign.
    fn steps(&self, out: Part, inp: Part, odd: Part, plus: Option<(f64, Part)>) -> Result<()> {
        let sign = if plus.is_some() { 1.0 } else { -1.0 };
        if !self.grid.has_parity() {
            return self.hop(out, inp, sign, plus);
        }
        self.hop(odd, inp, 1.0, None)?;
        self.hop(out, odd, -sign, plus)
    }

    /// out = the hop in one direction, 2 mu + forward, of in, times D^-1.
    pub fn one_hop(
        &self,
        out: &mut CoarseField,
        inp: &CoarseField,
        direction: usize,
    ) -> Result<()> {
        self.check(&[inp, out])?;
        self.product(out.own(), inp.own(), &self.diagonal, 1 << direction, 1.0, None, None)
    }
    /// out = D in
    pub fn diagonal(&self, out: &mut CoarseField, inp: &CoarseField) -> Result<()> {
        self.check(&[inp, out])?;
        self.product(out.own(), inp.own(), &self.diagonal, DIAGONAL, 1.0, None, None)
    }
    /// out = D^-1 in
    pub fn inverse_diagonal(&self, out: &mut CoarseField, inp: &CoarseField) -> Result<()> {
        self.check(&[inp, out])?;
        self.product(out.own(), inp.own(), &self.inverse, DIAGONAL, 1.0, None, None)
    }

    /// out = M in on all sites.
    pub fn apply(&self, out: &mut CoarseField, inp: &CoarseField) -> Result<()> {
        self.check(&[inp, out])?;
        let sum = inp.like(inp.nrhs())?;
        self.hop(sum.own(), inp.own(), 1.0, Some((1.0, inp.own())))?;
        self.diagonal(out, &sum)
    }

    /// The operator of solves on its sites: out = S in or (1 + Y) in; `odd` is a vector of odd sites.
    pub fn schur(
        &self,
        out: &mut CoarseField,
        inp: &CoarseField,
        odd: &mut CoarseField,
    ) -> Result<()> {
        self.check(&[inp, out, odd])?;
        self.steps(out.own(), inp.own(), odd.own(), Some((1.0, inp.own())))
    }

    /// The same without hops between domains.
    pub(crate) fn schur_inside(
        &self,
        domains: &Domains,
        out: &mut CoarseField,
        inp: &CoarseField,
        odd: &mut CoarseField,
    ) -> Result<()> {
        self.check(&[inp, out, odd])?;
        let hops = |out: Part, inp: Part, coef, plus| {
            let directions = self.grid.directions();
            self.product(out, inp, &self.diagonal, directions, coef, plus, Some(domains))
        };
        let plus = Some((1.0, inp.own()));
        if !self.grid.has_parity() {
            return hops(out.own(), inp.own(), 1.0, plus);
        }
        hops(odd.own(), inp.own(), 1.0, None)?;
        hops(out.own(), odd.own(), -1.0, plus)
    }

    /// out = in - S in or -Y in: what of the operator of solves is not the unit matrix, with the other sign.
    pub fn rest(
        &self,
        out: &mut CoarseField,
        inp: &CoarseField,
        odd: &mut CoarseField,
    ) -> Result<()> {
        self.check(&[inp, out, odd])?;
        self.steps(out.own(), inp.own(), odd.own(), None)
    }

    /// The system of solves from that of M x = b: `out` is its source, `scaled` = D^-1 b on all sites.
    pub fn prepare(
        &self,
        out: &mut CoarseField,
        scaled: &mut CoarseField,
        b: &CoarseField,
    ) -> Result<()> {
        self.check(&[b, out, scaled])?;
        self.inverse_diagonal(scaled, b)?;
        if !self.grid.has_parity() {
            return out.copy(scaled);
        }
        let (even, odd) = (scaled.part(Subset::Even), scaled.part(Subset::Odd));
        self.hop(out.own(), odd, -1.0, Some((1.0, even)))
    }

    /// x on all sites from the solution on those of solves; `scaled` as `prepare` left it.
    pub fn reconstruct(
        &self,
        x: &mut CoarseField,
        solution: &CoarseField,
        scaled: &CoarseField,
    ) -> Result<()> {
        self.check(&[scaled, x, solution])?;
        if !self.grid.has_parity() {
            return x.copy(solution);
        }
        x.place_even(solution)?;
        let plus = Some((1.0, scaled.part(Subset::Odd)));
        self.hop(x.part(Subset::Odd), solution.own(), -1.0, plus)
    }

    /// Flops of Y on all sites of all ranks, per right-hand side.
    pub fn flops(&self) -> f64 {
        let directions = self.grid.directions().count_ones() as f64;
        8.0 * directions * (self.rows * self.rows * self.grid.global_volume()) as f64
    }
    /// Bytes that the operator holds.
    pub fn held(&self) -> usize {
        let scales = self.scales.as_ref().map_or(0, Buffer::bytes);
        let (links, diagonal) = (self.links.bytes(), self.diagonal.bytes());
        links + scales + diagonal + self.inverse.bytes()
    }
}

/// Inverses of matrices, found in double.
fn invert(grid: &CoarseGrid, precision: Precision, rows: usize, from: &Buffer) -> Result<Buffer> {
    let device = grid.device();
    let size = rows * rows * 2;
    let volume = grid.volume();
    let out = device.alloc(volume * size * precision.bytes())?;
    let some = volume.div_ceil(4).max(1);
    let (double, swaps) = (device.alloc(some * size * 8)?, device.alloc(some * rows * 4)?);
    let mut bad = 0.0;
    for first in (0..volume).step_by(some) {
        let count = some.min(volume - first);
        let copy = |x: Ptr, y: Ptr, from: Precision, to: Precision| {
            let args = CoarseColumnsArgs {
                x,
                y,
                components: 2,
                columns_x: (size / 4) as i32,
                columns_y: (size / 4) as i32,
                count: (size / 4) as i32,
                ..Default::default()
            };
            let work = Work::rows(device, count, size / 2);
            device.launch(kernels::CoarseColumns::of(from, to)?, &args, work)
        };
        let at = (first * size * precision.bytes()) as u64;
        copy(from.ptr().offset(at), double.ptr(), precision, Precision::F64)?;
        let args = CoarseMatrixArgs {
            inp: swaps.ptr(),
            out: double.ptr(),
            rows: rows as i32,
            ..Default::default()
        };
        // On a GPU a warp shares a matrix.
        let work = Work::rows(device, count, 32);
        bad += device.reduce(kernels::CoarseInvert(), &args, work)?[0];
        copy(double.ptr(), out.ptr().offset(at), Precision::F64, precision)?;
    }
    let mut bad = [bad];
    grid.comm().sum(&mut bad)?;
    if bad[0] != 0.0 {
        bail!(
            BadParameter,
            "{} of {} diagonal matrices of a coarse level have no inverse: are links and null vectors finite?",
            bad[0],
            grid.global_volume()
        );
    }
    Ok(out)
}
