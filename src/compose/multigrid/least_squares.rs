//! Krylov spaces without a sum in every step (kernels/krylov.h): products of all pairs of vectors in one
//! reduction, least squares on the device, and combinations of all vectors in one pass. On one rank the
//! host waits for nothing before it asks for norms.

use std::sync::Arc;

use crate::backend::args::{
    KrylovArgs, KrylovShortArgs, KRYLOV_IMAGES, KRYLOV_MOST, KRYLOV_POWERS, KRYLOV_SAMPLED,
    KRYLOV_TILE,
};
use crate::backend::families::Sums;
use crate::backend::{kernels, Buffer, Device, Ptr, Started, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::{CoarseField, Geometry, Precision, RhsOrder, SpinorField, VectorField};
use crate::operators::{HalfColumns, Scales};

/// Squared part of a direction that 16 bits leave where it depends on those before it: rounding to 2^-15 of a site's
/// largest number, which is about three times the others.
const SHORT_NOISE: f64 = 1e-9;
/// Squared part of a direction that half precision (eleven bits) leaves where it depends on those before it, after
/// two hops.
const HALF_NOISE: f64 = 1e-7;
/// Numbers of a site in 16 bits that are read at a time (kernels/krylov_short.h).
const SHORT: usize = 8;

/// Number of sites of a rank from which on one site in `KRYLOV_SAMPLED` is enough for the least squares: 32 768 sites
/// give ten unknowns to half a percent.
const SAMPLED: usize = KRYLOV_SAMPLED as usize;
const SAMPLED_FROM: usize = 1 << 18;

/// A vector that kernels take as rows of complex numbers, one row for every right-hand side; it does not own its
/// memory. A vector in 16 bits has one scale for each site: `n` and `apart` then count sites, and `numbers` is the
/// number of reals of a site.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    at: Ptr,
    units: Ptr,
    /// Factors of the right-hand sides of columns in half precision; null for other vectors.
    scales: Ptr,
    precision: Precision,
    nrhs: usize,
    step: usize,
    apart: usize,
    interleaved: bool,
    numbers: usize,
    /// Number of elements of a right-hand side, and of lanes.
    n: usize,
    lanes: usize,
}

impl Row {
    fn form(&self) -> (Precision, usize, usize, usize, usize, Ptr) {
        (self.precision, self.nrhs, self.step, self.apart, self.n, self.scales)
    }
    /// Columns in half precision (kernels/half_columns.h) in place of this vector in 16 bits, whose units tell where
    /// it is large.
    pub(crate) fn columns(self, at: Ptr, scales: Ptr) -> Row {
        Row { at, scales, ..self }
    }
}

impl CoarseField {
    pub(crate) fn row(&self) -> Row {
        let (sites, nrhs) = (self.range().1, self.nrhs());
        let numbers = if self.device().is_cpu() { self.components() } else { 1 };
        Row {
            at: self.ptr(),
            units: Ptr::NULL,
            scales: Ptr::NULL,
            precision: self.precision(),
            nrhs,
            step: nrhs,
            apart: 1,
            interleaved: true,
            numbers,
            n: sites * self.components() / numbers,
            lanes: self.device().max_lanes(),
        }
    }
}

impl VectorField {
    /// # Errors
    /// `Unsupported`: right-hand sides fastest in memory, or 16-bit storage of sites whose numbers are no
    /// multiple of 8.
    pub(crate) fn row(&self) -> Result<Row> {
        let (precision, reals) = (self.precision(), self.components().reals());
        let short = precision == Precision::F16;
        let sites = self.geometry().plane_sites() * self.rhs_planes();
        if self.order() != RhsOrder::Slowest || (short && !reals.is_multiple_of(SHORT)) {
            bail!(
                Unsupported,
                "a vector of {reals} numbers a site in {precision} precision is no row of a Krylov space"
            );
        }
        let (view, lanes) = (self.view(), self.geometry().lanes());
        let apart = if short { sites } else { sites * reals / 2 };
        Ok(Row {
            at: view.data,
            units: view.norm,
            scales: Ptr::NULL,
            precision,
            nrhs: self.nrhs(),
            step: 1,
            apart,
            interleaved: false,
            numbers: if short { reals } else { 1 },
            n: apart / lanes,
            lanes,
        })
    }
}

impl HalfColumns {
    /// The columns as a vector of a Krylov space whose first vector has the units of the field that they were made
    /// of.
    pub(crate) fn row(&self, first: &SpinorField, scales: &Scales) -> Result<Row> {
        Ok(first.row()?.columns(self.memory().ptr(), scales.memory().ptr()))
    }
}

/// The relation between the vectors of a Krylov space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// v_0 = r and v_k+1 = v_k - M v_k; the solution is a combination of v_0, v_1, ...
    Powers,
    /// v_0 = r, and then the images M d_k of the directions d_k.
    Images,
}

/// Small least-squares problems on the device, one for each right-hand side: which combination of given vectors
/// leaves the smallest residual.
#[derive(Debug)]
pub struct LeastSquares {
    geometry: Arc<Geometry>,
    nrhs: usize,
    gram: Buffer,
    coef: Buffer,
}

/// The norms |r|^2 before and after a least-squares step, which may still be on the device.
pub struct Norms {
    device: Device,
    started: Started,
}

impl Norms {
    /// Waits for |r|^2 of every right-hand side before and after, and for the number of directions that were of use.
    pub fn get(self) -> Result<Vec<[f64; 3]>> {
        let (sums, _) = self.device.finish(&self.started)?;
        Ok(sums.chunks(3).map(|s| [s[0], s[1], s[2]]).collect())
    }
}

impl LeastSquares {
    pub fn new(geometry: &Arc<Geometry>, device: &Device, nrhs: usize) -> Result<Self> {
        let max = KRYLOV_MOST as usize;
        let gram = device.alloc(nrhs * max * max * 16)?;
        let coef = device.alloc(nrhs * 2 * max * (16 + 8))?;
        Ok(LeastSquares { geometry: geometry.clone(), nrhs, gram, coef })
    }

    pub fn nrhs(&self) -> usize {
        self.nrhs
    }

    fn args(&self, rows: &[Row]) -> Result<KrylovArgs> {
        let first = rows[0];
        let same = rows.iter().all(|r| r.form() == first.form());
        if rows.len() > KRYLOV_MOST as usize || first.nrhs != self.nrhs || !same {
            bail!(Internal, "{} vectors of a Krylov space of other shapes", rows.len());
        }
        let mut args = KrylovArgs {
            step: first.step as i32,
            apart: first.apart as i64,
            interleaved: first.interleaved as i32,
            numbers: first.numbers as i32,
            count: rows.len() as i32,
            nrhs: self.nrhs as i32,
            gram: self.gram.ptr(),
            coef: self.coef.ptr(),
            ..Default::default()
        };
        for (to, row) in args.x.iter_mut().zip(rows) {
            *to = row.at;
        }
        Ok(args)
    }

    /// Finds the combination with the smallest residual; the vectors from `first` on are new since the last call.
    pub fn solve(&self, rows: &[Row], first: usize, space: Space) -> Result<Norms> {
        self.solve_on(rows, first, space, false)
    }

    /// Finds that combination for a smoother, which does not need the norms: on large lattices of GPUs vectors in 16
    /// bits are compared on a part of the sites.
    pub fn solve_roughly(&self, rows: &[Row], first: usize, space: Space) -> Result<()> {
        let row = rows[0];
        let fits = row.n >= SAMPLED_FROM && row.n.is_multiple_of(2 * SAMPLED);
        let sample = row.precision == Precision::F16 && !self.gram.device().is_cpu() && fits;
        self.solve_on(rows, first, space, sample).map(|_| ())
    }

    fn solve_on(&self, rows: &[Row], first: usize, space: Space, sample: bool) -> Result<Norms> {
        let tile = KRYLOV_TILE as usize;
        let tiles: usize = (first / tile..rows.len().div_ceil(tile)).map(|column| column + 1).sum();
        let mut args = self.args(rows)?;
        (args.first, args.tiles) = (first as i32, tiles as i32);
        args.kind = match space {
            Space::Powers => KRYLOV_POWERS,
            Space::Images => KRYLOV_IMAGES,
        };
        let row = rows[0];
        let work = Work { n: row.n, batches: tiles * self.nrhs, lanes: row.lanes };
        if row.precision != Precision::F16 {
            let args = KrylovArgs { noise: 1e-15, ..args };
            return self.squares(kernels::KrylovGram::of(row.precision)?, &args, work, args);
        }
        // A power differs by its rounding from the image that it stands for: a direction in which less is
        // left than that brings more noise than it takes from the residual.
        args.noise = if row.scales == Ptr::NULL { SHORT_NOISE } else { HALF_NOISE };
        let short = KrylovShortArgs {
            first: args.first,
            tiles: args.tiles,
            sample: sample as i32,
            ..self.short_args(rows)?
        };
        let work = Work { n: if sample { work.n / SAMPLED } else { work.n }, ..work };
        self.squares(kernels::KrylovGramShort::of(row.precision)?, &short, work, args)
    }

    /// Computes the products by kernel `K` into `sums` and solves the least squares of `solve`.
    fn squares<K: Sums>(
        &self,
        kernel: K,
        sums: &K::Args,
        work: Work,
        solve: KrylovArgs,
    ) -> Result<Norms> {
        let device = self.gram.device();
        // On a GPU a warp shares a right-hand side.
        let team = if device.is_cpu() { 1 } else { 32 };
        let small = Work { n: team, batches: self.nrhs, lanes: device.max_lanes() };
        let least_squares = |sums: Ptr| {
            let args = KrylovArgs { sums, ..solve };
            device.start(kernels::KrylovSolve(), &args, small)
        };
        let started = match self.geometry.start(device, kernel, sums, work)? {
            Some(sums) => least_squares(sums.totals())?,
            None => {
                let sums = self.geometry.reduce(device, kernel, sums, work)?;
                let mut known = device.alloc(8 * sums.len())?;
                known.upload(bytemuck::cast_slice(&sums))?;
                least_squares(known.ptr())?
            }
        };
        Ok(Norms { device: device.clone(), started })
    }

    /// residual = the residual that the combination of the last solve leaves, itself a combination of `rows`, of
    /// which it may be one.
    pub fn residual(&self, rows: &[Row], residual: Row) -> Result<()> {
        self.combine(rows, None, Some(residual))
    }

    /// solution = the combination of `rows` found by the last solve, or with `keep` that added to it.
    pub fn solution(&self, rows: &[Row], solution: Row, keep: bool) -> Result<()> {
        self.combine(rows, Some((solution, keep)), None)
    }

    /// Solution and residual of [`Space::Powers`] in one pass. With rows in 16 bits both are in single precision, the
    /// first row is `residual` rounded, and the combination is added to both.
    pub fn both(&self, rows: &[Row], solution: Row, keep: bool, residual: Row) -> Result<()> {
        self.combine(rows, Some((solution, keep)), Some(residual))
    }

    fn combine(
        &self,
        rows: &[Row],
        solution: Option<(Row, bool)>,
        residual: Option<Row>,
    ) -> Result<()> {
        let (row, device) = (rows[0], self.gram.device());
        if row.precision == Precision::F16 {
            return self.combine_short(rows, solution, residual);
        }
        let args = KrylovArgs {
            y: solution.map_or(Ptr::NULL, |(y, _)| y.at),
            z: residual.map_or(Ptr::NULL, |z| z.at),
            with_y: solution.is_some() as i32,
            with_z: residual.is_some() as i32,
            keep: solution.is_some_and(|(_, keep)| keep) as i32,
            ..self.args(rows)?
        };
        let work = match (row.interleaved, device.is_cpu()) {
            // A GPU's thread has one number of one right-hand side.
            (true, false) => Work { n: row.n * row.nrhs, batches: 1, lanes: row.lanes },
            (true, true) => Work { n: row.n, batches: 1, lanes: row.lanes },
            (false, _) => Work { n: row.n, batches: row.nrhs, lanes: row.lanes },
        };
        device.launch(kernels::KrylovCombine::of(row.precision)?, &args, work)
    }

    fn combine_short(
        &self,
        rows: &[Row],
        solution: Option<(Row, bool)>,
        residual: Option<Row>,
    ) -> Result<()> {
        let (row, device) = (rows[0], self.gram.device());
        let Some((y, true)) = solution else {
            bail!(Internal, "a combination of vectors in 16 bits is added to a solution");
        };
        let wide = [Some(y), residual].into_iter().flatten().all(|to| {
            let same =
                (to.nrhs, to.lanes, to.apart) == (row.nrhs, row.lanes, row.apart * row.numbers / 2);
            to.precision == Precision::F32 && same && !to.interleaved
        });
        if !wide {
            bail!(
                Internal,
                "vectors in 16 bits are added to others of their shape in single precision"
            );
        }
        let args = KrylovShortArgs {
            y: y.at,
            z: residual.map_or(Ptr::NULL, |z| z.at),
            with_z: residual.is_some() as i32,
            ..self.short_args(rows)?
        };
        let work = match row.scales != Ptr::NULL && !device.is_cpu() {
            true => Work::rows(device, row.n, row.nrhs),
            false => Work { n: row.n, batches: row.nrhs, lanes: row.lanes },
        };
        device.launch(kernels::KrylovCombineShort::of(row.precision)?, &args, work)
    }

    fn short_args(&self, rows: &[Row]) -> Result<KrylovShortArgs> {
        let same = self.args(rows)?;
        let row = rows[0];
        let bytes = row.apart * row.numbers;
        let columns = row.scales != Ptr::NULL;
        let mut args = KrylovShortArgs {
            apart: if columns { 48 } else { (2 * bytes) as i64 },
            columns: if columns { row.nrhs as i32 } else { 0 },
            scales: row.scales,
            norm_apart: (4 * row.apart) as i64,
            wide_apart: (4 * bytes) as i64,
            reals: row.numbers as i32,
            count: same.count,
            nrhs: same.nrhs,
            coef: same.coef,
            ..Default::default()
        };
        for ((to, units), row) in args.x.iter_mut().zip(&mut args.norm).zip(rows) {
            (*to, *units) = (row.at, row.units);
        }
        Ok(args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::tests::common::Lex;
    use crate::backend::tests::one_device;
    use crate::fields::{blas, Noise, SpinorField, Subset};

    /// Products on a part of the sites are those on all but for their number, and a site that holds most of
    /// the first vector is among them.
    #[test]
    fn a_sample_stands_for_all_sites() {
        let device = one_device();
        if device.is_cpu() {
            return println!("skipped: only GPUs compare a part of the sites");
        }
        let geometry = Geometry::new([8, 8, 8, 16], &device).unwrap();
        let field =
            |precision| SpinorField::new(&device, &geometry, precision, Subset::Full, 1).unwrap();
        let (mut wide, mut short) = (field(Precision::F64), vec![]);
        for k in 0..4 {
            wide.set_noise(Noise::Normal, 11 + k, 0).unwrap();
            let mut to = field(Precision::F16);
            blas::copy(&mut to, &wide).unwrap();
            short.push(to);
        }
        let squares = LeastSquares::new(&geometry, &device, 1).unwrap();
        let norms = |fields: &[SpinorField], sample| {
            let rows: Vec<Row> = fields.iter().map(|f| f.row().unwrap()).collect();
            squares.solve_on(&rows, 0, Space::Powers, sample).unwrap().get().unwrap()[0]
        };
        let [all, some] = [false, true].map(|sample| norms(&short, sample));
        assert!((SAMPLED as f64 * some[0] / all[0] - 1.0).abs() < 0.05, "{some:?} {all:?}");
        assert!((some[1] / some[0] - all[1] / all[0]).abs() < 0.02, "{some:?} {all:?}");
        assert!(some != all && some[2] == all[2], "{some:?} {all:?}");
        // A point, wherever it is in its group of sites.
        for site in 0..16 {
            let mut host = vec![0.0; 24 * geometry.volume()];
            host[24 * (8 * 37 + site) + 5] = 3.0;
            wide.load_lex(&host).unwrap();
            blas::copy(&mut short[0], &wide).unwrap();
            let [all, some] = [false, true].map(|sample| norms(&short, sample));
            assert!((some[0] - all[0]).abs() < 1e-6 * all[0], "{site}: {some:?} {all:?}");
        }
    }
}
