//! Operators of multigrid's coarse levels (Clark et al., arXiv:1612.07873, section 3.4): M = D (1 + Y), where D is a
//! matrix on each site, for its 2 N components, and Y = D^-1 times the hops from the eight neighbours. Where sites
//! have a parity, solves use the Schur complement S = 1 - Y_eo Y_oe on even sites, else 1 + Y on all sites.
//!
//! The flavours of a doublet share null vectors, and twisted masses are the same on coarse levels as on the finest
//! one, since P^dagger P = 1 and P preserves chirality. With the operator M_1 = D_1 (1 + Y_1) of one flavour, M = M_1
//! (x) 1 + T, where T is i mu_f gamma5 on flavour f (`twist[f]`: its twisted mass mu_f) plus the mass splitting
//! `split` times tau1, which exchanges the flavours. Only the links of one flavour are stored: D is D_1 (x) 1 + T,
//! and Y is (1 + D_1^-1 T)^-1 (Y_1 (x) 1).

use std::sync::{Arc, Mutex};

use super::domains::Domains;
use crate::backend::args::{
    CoarseApplyArgs, CoarseColumnsArgs, CoarseMatrixArgs, CoarsePairArgs, CoarseShortenArgs,
};
use crate::backend::families::Single;
use crate::backend::{kernels, Buffer, Device, Ptr, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::{CoarseField, CoarseGrid, Part, Precision, Subset};
use crate::params::choices;
use crate::refuse;

/// Bit of the diagonal term in masks of directions.
const DIAGONAL: i32 = 1 << 8;

/// Precision of the links of a coarse operator: that of the operator, or integers of 16 bits (on a GPU half
/// precision) or 8 bits with a scale for each matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LinkPrecision {
    Double,
    Single,
    Half,
    Quarter,
}

choices! {
    /// Storage precision; the value is the number of bytes of a real. Arithmetic is in double precision for fields in
    /// double, else in single; sums are in double.
    impl LinkPrecision: plaq_precision {
        /// 64-bit floating point.
        Double = 8, PLAQ_PRECISION_DOUBLE, "double";
        /// 32-bit floating point.
        Single = 4, PLAQ_PRECISION_SINGLE, "single";
        /// 16-bit fixed point; spinors have one norm per site.
        Half = 2, PLAQ_PRECISION_HALF, "half";
        /// 8-bit fixed point, only for the links of multigrid's coarse operators (`link_precision` of
        /// plaq_multigrid_params).
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
    /// Whether there is a scale for each matrix of links.
    pub fn scaled(self) -> bool {
        matches!(self, LinkPrecision::Half | LinkPrecision::Quarter)
    }
}

/// An operator on a coarse level, M = D (1 + Y) (Clark et al., arXiv:1612.07873, Eq. 3, with the diagonal D taken
/// out).
#[derive(Debug)]
pub struct CoarseOperator {
    grid: Arc<CoarseGrid>,
    precision: Precision,
    /// Number of components of a site, of all flavours together.
    rows: usize,
    /// The matrices Y, for one flavour: [site][direction][column][row].
    links: Arc<Buffer>,
    link_precision: LinkPrecision,
    /// A scale for each matrix of Y, [site][direction], if links are integers.
    scales: Option<Arc<Buffer>>,
    /// The matrices D of the diagonal term: [site][column][row].
    diagonal: Arc<Buffer>,
    /// The inverse of D, for one flavour.
    inverse: Arc<Buffer>,
    pair: Option<Pair>,
}

/// Additional data of an operator of two flavours.
#[derive(Debug)]
struct Pair {
    /// The matrices (1 + D_1^-1 T)^-1, [site][column][row], which couple the flavours.
    mixing: Buffer,
    /// Temporary vectors for hops before flavours are coupled, each with its number of right-hand sides.
    idle: Mutex<Vec<(usize, Buffer)>>,
}

impl CoarseOperator {
    /// Makes the operator with these matrices of hops, [site][direction][column][row], and this diagonal term.
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
        let mut hops = hops;
        let inverse = invert(grid, precision, rows, &diagonal)?;
        // The hops are multiplied by D^-1 in place, for an eighth of the sites at a time.
        let matrix = rows * rows * 2 * precision.bytes();
        let some = grid.volume().div_ceil(8).max(1);
        let products = device.alloc(some * 8 * matrix)?;
        for first in (0..grid.volume()).step_by(some) {
            let count = some.min(grid.volume() - first);
            let args = CoarseMatrixArgs {
                left: inverse.ptr().offset((first * matrix) as u64),
                inp: hops.ptr().offset((first * 8 * matrix) as u64),
                out: products.ptr(),
                rows: rows as i32,
                each: 8,
            };
            let work = Work::rows(device, 8 * count, rows * rows);
            device.launch(kernels::CoarseMultiply::of(precision)?, &args, work)?;
            hops.copy_range(first * 8 * matrix, &products, 0, count * 8 * matrix)?;
        }
        Ok(CoarseOperator {
            grid: grid.clone(),
            precision,
            rows,
            links: Arc::new(hops),
            link_precision: LinkPrecision::of(precision),
            scales: None,
            diagonal: Arc::new(diagonal),
            inverse: Arc::new(inverse),
            pair: None,
        })
    }

    /// An operator of two flavours: this one on each flavour, plus i twist[f] gamma5 on flavour f, plus split tau1.
    /// Links are shared with this operator.
    ///
    /// # Errors
    /// `OutOfMemory`; `BadParameter`: a matrix of a site has no inverse.
    pub fn in_flavours(&self, twist: [f64; 2], split: f64) -> Result<Self> {
        if self.pair.is_some() {
            bail!(Internal, "flavours of a coarse operator of two flavours");
        }
        let (device, precision, rows) = (self.device(), self.precision, 2 * self.rows);
        let numbers = rows * rows * self.grid.volume();
        let matrices = |inp: &Buffer, product: bool| -> Result<Buffer> {
            let out = device.alloc((2 * numbers * precision.bytes()).max(16))?;
            let args = CoarsePairArgs {
                inp: inp.ptr(),
                out: out.ptr(),
                rows: self.rows as i32,
                product: product as i32,
                twist,
                split,
            };
            let work = Work::rows(device, self.grid.volume(), rows * rows);
            device.launch(kernels::CoarsePair::of(precision)?, &args, work)?;
            Ok(out)
        };
        let mixing = invert(&self.grid, precision, rows, &matrices(&self.inverse, true)?)?;
        Ok(CoarseOperator {
            grid: self.grid.clone(),
            precision,
            rows,
            links: self.links.clone(),
            link_precision: self.link_precision,
            scales: self.scales.clone(),
            diagonal: Arc::new(matrices(&self.diagonal, false)?),
            inverse: self.inverse.clone(),
            pair: Some(Pair { mixing, idle: Mutex::default() }),
        })
    }

    /// A copy of this operator whose links, if they are in single precision, are converted to 16 or 8 bits; the
    /// diagonal matrices are not changed.
    ///
    /// # Errors
    /// Errors of [`CoarseOperator::duplicate`]; `OutOfMemory`.
    pub fn with_short_links(&self, to: LinkPrecision) -> Result<Self> {
        let mut short = self.duplicate()?;
        if self.link_precision != LinkPrecision::Single || !to.scaled() {
            return Ok(short);
        }
        let (device, matrices) = (self.device(), 8 * self.grid.volume());
        let numbers = matrices * self.rows * self.rows * 2;
        let links = device.alloc((to.bytes() * numbers).max(16))?;
        let scales = device.alloc((4 * matrices).max(16))?;
        let args = CoarseShortenArgs {
            inp: self.links.ptr(),
            out: links.ptr(),
            scales: scales.ptr(),
            rows: self.rows as i32,
        };
        // On a GPU the 32 threads of a warp work on one matrix.
        let work = Work::rows(device, matrices, 32);
        match to {
            LinkPrecision::Quarter => {
                device.launch(kernels::CoarseShortenByte(Single::F32), &args, work)?
            }
            _ => device.launch(kernels::CoarseShorten(Single::F32), &args, work)?,
        }
        (short.links, short.link_precision) = (Arc::new(links), to);
        short.scales = Some(Arc::new(scales));
        Ok(short)
    }

    /// A second operator that shares the memory of this one; neither may change it.
    ///
    /// # Errors
    /// `Internal`: the operator has two flavours.
    pub fn duplicate(&self) -> Result<Self> {
        if self.pair.is_some() {
            bail!(Internal, "a second coarse operator of two flavours");
        }
        Ok(CoarseOperator {
            grid: self.grid.clone(),
            precision: self.precision,
            rows: self.rows,
            links: self.links.clone(),
            link_precision: self.link_precision,
            scales: self.scales.clone(),
            diagonal: self.diagonal.clone(),
            inverse: self.inverse.clone(),
            pair: None,
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
    /// Number of components of a site.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// The sites on which the system is solved: even ones, or all if there are no parities.
    pub fn subset(&self) -> Subset {
        if self.grid.has_parity() {
            Subset::Even
        } else {
            Subset::Full
        }
    }
    /// A zero vector on the sites of `subset` with `nrhs` right-hand sides.
    pub fn field(&self, subset: Subset, nrhs: usize) -> Result<CoarseField> {
        CoarseField::new(&self.grid, self.precision, subset, self.rows, nrhs)
    }

    /// Computes out = coef (terms of `directions`) in + c z with `plus` = (c, z), on the sites of `out`; None: without
    /// the second term. The matrices `diagonal` are used if `directions` has the bit `DIAGONAL`; with `inside` hops
    /// between domains are left out.
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
        // Matrices of the diagonal term always have the precision of the operator.
        let links = match directions & DIAGONAL {
            0 => self.link_precision,
            _ => LinkPrecision::of(self.precision),
        };
        let args = CoarseApplyArgs {
            links: self.links.ptr(),
            scales: self.scales.as_ref().map_or(Ptr::NULL, |scales| scales.ptr()),
            diagonal: diagonal.ptr(),
            inp: inp.ptr,
            out: out.ptr,
            y: plus.map_or(Ptr::NULL, |(_, y)| y.ptr),
            neighbours: inside.unwrap_or(self.grid.neighbours()).ptr(),
            rows: inp.components as i32,
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
            // A warp computes 8 rows of a site, or 16 with links in 8 bits, for one right-hand side or, in each thread,
            // four; on tensor cores it computes 16 rows for 8 or 16 right-hand sides.
            let (rows, columns) = match inp.nrhs {
                1 if links == LinkPrecision::Quarter => (16, 1),
                1 => (8, 1),
                _ if !links.scaled() => (8, 4),
                2..=8 => (16, 8),
                _ => (16, 16),
            };
            let warps = inp.nrhs.div_ceil(columns) * inp.components.div_ceil(rows);
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

    /// Refuses vectors of another lattice, precision or number of components.
    fn check(&self, fields: &[&CoarseField]) -> Result<()> {
        for f in fields {
            let found = (f.precision(), f.components(), f.nrhs());
            let expected = (self.precision, self.rows, fields[0].nrhs());
            if *f.grid() != self.grid || found != expected {
                refuse!(
                    FieldMismatch,
                    "coarse operator",
                    expected(
                        "(precision, components, right-hand sides) {expected:?} on {:?}",
                        self.grid.extents()
                    ),
                    found("{found:?} on {:?}", f.grid().extents())
                );
            }
        }
        Ok(())
    }

    /// Computes out = coef (Y in the directions of the mask `directions`) in + c z with `plus` = (c, z).
    fn hops(
        &self,
        out: Part,
        inp: Part,
        directions: i32,
        coef: f64,
        plus: Option<(f64, Part)>,
        inside: Option<&Domains>,
    ) -> Result<()> {
        let Some(pair) = &self.pair else {
            return self.product(out, inp, &self.diagonal, directions, coef, plus, inside);
        };
        self.mixed(pair, out, coef, plus, |t| {
            let (to, from) = (t.by_flavour(2), inp.by_flavour(2));
            self.product(to, from, &self.inverse, directions, 1.0, None, inside)
        })
    }

    /// Computes out = coef (1 + D_1^-1 T)^-1 t + c z with `plus` = (c, z), for the vector t that `work` fills.
    fn mixed(
        &self,
        pair: &Pair,
        out: Part,
        coef: f64,
        plus: Option<(f64, Part)>,
        work: impl FnOnce(Part) -> Result<()>,
    ) -> Result<()> {
        let bytes = (out.count * out.components * out.nrhs * 2 * self.precision.bytes()).max(16);
        let kept = {
            let mut idle = pair.idle.lock().unwrap_or_else(|e| e.into_inner());
            idle.retain(|(nrhs, _)| *nrhs == out.nrhs);
            idle.iter().position(|(_, b)| b.bytes() == bytes).map(|i| idle.swap_remove(i).1)
        };
        let buffer = kept.map_or_else(|| self.device().alloc(bytes), Ok)?;
        let t = Part { ptr: buffer.ptr(), ..out };
        work(t)?;
        self.product(out, t, &pair.mixing, DIAGONAL, coef, plus, None)?;
        pair.idle.lock().unwrap_or_else(|e| e.into_inner()).push((out.nrhs, buffer));
        Ok(())
    }

    /// Frees the temporary vectors that are not in use.
    pub(crate) fn free_idle(&self) {
        if let Some(pair) = &self.pair {
            pair.idle.lock().unwrap_or_else(|e| e.into_inner()).clear();
        }
    }

    /// Computes out = S in, or (1 + Y) in without parities, if `plus` is (1, in); without `plus` out = in - S in, or -Y
    /// in. `odd` is a temporary vector on odd sites; with `inside` hops between domains are left out.
    fn steps(
        &self,
        [out, inp, odd]: [Part; 3],
        plus: Option<(f64, Part)>,
        inside: Option<&Domains>,
    ) -> Result<()> {
        let (sign, all) = (if plus.is_some() { 1.0 } else { -1.0 }, self.grid.directions());
        if !self.grid.has_parity() {
            return self.hops(out, inp, all, sign, plus, inside);
        }
        self.hops(odd, inp, all, 1.0, None, inside)?;
        self.hops(out, odd, all, -sign, plus, inside)
    }

    /// Computes out = D^-1 times the hop of `in` along one direction, number 2 mu + 1 for forward and 2 mu for
    /// backward.
    pub fn one_hop(
        &self,
        out: &mut CoarseField,
        inp: &CoarseField,
        direction: usize,
    ) -> Result<()> {
        self.check(&[inp, out])?;
        self.hops(out.own(), inp.own(), 1 << direction, 1.0, None, None)
    }
    /// Computes out = D in, where D is the diagonal term, a matrix on each site.
    pub fn diagonal(&self, out: &mut CoarseField, inp: &CoarseField) -> Result<()> {
        self.check(&[inp, out])?;
        self.product(out.own(), inp.own(), &self.diagonal, DIAGONAL, 1.0, None, None)
    }
    /// Computes out = D^-1 in, where D is the diagonal term, a matrix on each site.
    pub fn inverse_diagonal(&self, out: &mut CoarseField, inp: &CoarseField) -> Result<()> {
        self.check(&[inp, out])?;
        let (out, inp) = (out.own(), inp.own());
        let Some(pair) = &self.pair else {
            return self.product(out, inp, &self.inverse, DIAGONAL, 1.0, None, None);
        };
        self.mixed(pair, out, 1.0, None, |t| {
            let (to, from) = (t.by_flavour(2), inp.by_flavour(2));
            self.product(to, from, &self.inverse, DIAGONAL, 1.0, None, None)
        })
    }

    /// Computes out = M in on all sites, where M = D (1 + Y) is this operator.
    pub fn apply(&self, out: &mut CoarseField, inp: &CoarseField) -> Result<()> {
        self.check(&[inp, out])?;
        let sum = inp.like(inp.nrhs())?;
        let plus = Some((1.0, inp.own()));
        self.hops(sum.own(), inp.own(), self.grid.directions(), 1.0, plus, None)?;
        self.diagonal(out, &sum)
    }

    /// Computes out = S in or, if there are no parities, (1 + Y) in, on the sites of the solved system; `odd` is a
    /// temporary vector on odd sites.
    pub fn schur(
        &self,
        out: &mut CoarseField,
        inp: &CoarseField,
        odd: &mut CoarseField,
    ) -> Result<()> {
        self.check(&[inp, out, odd])?;
        self.steps([out.own(), inp.own(), odd.own()], Some((1.0, inp.own())), None)
    }

    /// Computes what [`CoarseOperator::schur`] computes, without hops between domains.
    pub(crate) fn schur_inside(
        &self,
        domains: &Domains,
        out: &mut CoarseField,
        inp: &CoarseField,
        odd: &mut CoarseField,
    ) -> Result<()> {
        self.check(&[inp, out, odd])?;
        self.steps([out.own(), inp.own(), odd.own()], Some((1.0, inp.own())), Some(domains))
    }

    /// Computes out = in - S in for S = 1 - Y_eo Y_oe on even sites or, if there are no parities, out = -Y in.
    pub fn one_minus_schur(
        &self,
        out: &mut CoarseField,
        inp: &CoarseField,
        odd: &mut CoarseField,
    ) -> Result<()> {
        self.check(&[inp, out, odd])?;
        self.steps([out.own(), inp.own(), odd.own()], None, None)
    }

    /// Computes the source `out` of the solved system from b of M x = b; `scaled` becomes D^-1 b on all sites.
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
        self.hops(out.own(), odd, self.grid.directions(), -1.0, Some((1.0, even)), None)
    }

    /// Computes x on all sites from the solution of the solved system, with `scaled` as set by `prepare`.
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
        let (to, all) = (x.part(Subset::Odd), self.grid.directions());
        self.hops(to, solution.own(), all, -1.0, plus, None)
    }

    /// Number of floating-point operations of Y on the sites of all ranks, for one right-hand side.
    pub fn flops(&self) -> f64 {
        let directions = self.grid.directions().count_ones() as f64;
        // Links multiply each flavour by itself, so that a product has half the terms; mixing matrices couple both
        // flavours.
        let products = if self.pair.is_some() { directions / 2.0 + 1.0 } else { directions };
        8.0 * products * (self.rows * self.rows * self.grid.global_volume()) as f64
    }
    /// Bytes of memory of the operator on this rank.
    pub fn held(&self) -> usize {
        let scales = self.scales.as_ref().map_or(0, |scales| scales.bytes());
        let (links, diagonal) = (self.links.bytes(), self.diagonal.bytes());
        let mixing = self.pair.as_ref().map_or(0, |pair| pair.mixing.bytes());
        links + scales + diagonal + self.inverse.bytes() + mixing
    }
}

/// Inverts the matrices of all sites in double precision.
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
        // On a GPU the 32 threads of a warp work on one matrix.
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
