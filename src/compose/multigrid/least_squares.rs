//! Krylov spaces of several vectors with one global sum (kernels/krylov.h): one reduction gives the
//! products of all pairs of vectors, the device solves the least-squares problem, and one pass
//! forms the combination of all vectors. On one rank the host waits for no result before it asks
//! for norms.

use std::sync::Arc;

use crate::backend::args::{
    KrylovArgs, KrylovShortArgs, KRYLOV_IMAGES, KRYLOV_MAX_VECTORS, KRYLOV_POWERS, KRYLOV_SAMPLED,
    KRYLOV_TILE,
};
use crate::backend::families::Sums;
use crate::backend::{kernels, Buffer, Device, Ptr, Reduction, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::{CoarseField, Geometry, Precision, RhsOrder, SpinorField, VectorField};
use crate::operators::{HalfColumns, Scales};

/// Squared length of the rounding error of a vector in 16 bits, relative to that of the vector: this much remains of a
/// vector that depends linearly on those before it. Rounding is 2^-15 of a site's largest number, which is about three
/// times the typical number.
const SHORT_NOISE: f64 = 1e-9;
/// Squared relative length of the rounding error, like `SHORT_NOISE`, of vectors in half precision (11 bits) after two
/// hops.
const HALF_NOISE: f64 = 1e-7;
/// Count of 16-bit numbers of a site that are read together (kernels/krylov_short.h).
const SHORT: usize = 8;

/// On ranks with at least `SAMPLED_FROM` sites one site in `SAMPLED` is enough for the least squares: 32 768 sites give
/// ten unknowns to half a percent.
const SAMPLED: usize = KRYLOV_SAMPLED as usize;
const SAMPLED_FROM: usize = 1 << 18;

/// A vector as kernels of least squares take it: rows of complex numbers, one row for every
/// right-hand side, in memory that it does not own. A vector in 16 bits has one scale for each
/// site: `n` and `apart` then count sites, and `numbers` is the number of reals of a site.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    at: Ptr,
    units: Ptr,
    /// Scales of the right-hand sides, for columns in half precision; null for other vectors.
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
    /// This vector of 16 bits replaced by its columns in half precision (kernels/half_columns.h) at address `at`; the
    /// scales of the 16-bit vector are kept, as they show at which sites it is large.
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
    /// A view of these columns as a vector of a Krylov space. Its scales are those of `first`, the field from which the
    /// columns were made.
    pub(crate) fn row(&self, first: &SpinorField, scales: &Scales) -> Result<Row> {
        Ok(first.row()?.columns(self.memory().ptr(), scales.memory().ptr()))
    }
}

/// The way in which the vectors of a Krylov space were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// v_0 = r and v_k+1 = v_k - M v_k; the solution is a combination of v_0, v_1, ...
    Powers,
    /// v_0 = r, followed by the images v_k = M d_k of the directions d_k; the solution is a
    /// combination of the d_k.
    Images,
}

/// Small least-squares problems on the device, one for each right-hand side: they find the
/// combination of given vectors that makes the residual smallest.
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
    started: Reduction,
}

impl Norms {
    /// Waits for the results: for every right-hand side |r|^2 before and after, and the number of
    /// directions that were linearly independent.
    pub fn get(self) -> Result<Vec<[f64; 3]>> {
        let (sums, _) = self.device.finish(&self.started)?;
        Ok(sums.chunks(3).map(|s| [s[0], s[1], s[2]]).collect())
    }
}

impl LeastSquares {
    pub fn new(geometry: &Arc<Geometry>, device: &Device, nrhs: usize) -> Result<Self> {
        let max = KRYLOV_MAX_VECTORS as usize;
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
        if rows.len() > KRYLOV_MAX_VECTORS as usize || first.nrhs != self.nrhs || !same {
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

    /// Finds for every right-hand side the combination with the smallest residual. Products of the
    /// vectors before number `first` are known from the last call and not computed again.
    pub fn solve(&self, rows: &[Row], first: usize, space: Space) -> Result<Norms> {
        self.solve_on(rows, first, space, false)
    }

    /// Does what [`LeastSquares::solve`] does for a smoother, which does not need the norms: on
    /// large lattices of GPUs products of vectors in 16 bits are summed over a part of the sites
    /// only.
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
        // A power of the operator differs by rounding from the image that it stands for. A direction in which less
        // than this remains adds more noise than it removes from the residual.
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
        // On a GPU the 32 threads of a warp solve the problem of one right-hand side.
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

    /// Writes the residual that is left by the combination of the last solve to `residual`, which
    /// may be one of `rows`; it is a combination of `rows` itself.
    pub fn residual(&self, rows: &[Row], residual: Row) -> Result<()> {
        self.combine(rows, None, Some(residual))
    }

    /// Writes the combination of `rows` found by the last solve to `solution`; with `keep` adds it to `solution`.
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
            // On a GPU a thread takes one number of one right-hand side.
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

    /// The products summed over a part of the sites, scaled to the whole lattice, agree with the
    /// full sums, and the part includes a site that holds most of the first vector.
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
        // Vectors that vanish except at one site, which takes every place in its group of sites.
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
