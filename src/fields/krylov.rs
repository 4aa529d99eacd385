//! Krylov spaces without a sum in every step (kernels/krylov.h): products of all pairs of vectors in one
//! reduction, least squares on the device, and combinations of all vectors in one pass. On one rank the
//! host waits for nothing before it asks for norms.

use std::sync::Arc;

use super::{CoarseField, Geometry, Precision, RhsOrder, VectorField};
use crate::backend::args::{KrylovArgs, KRYLOV_IMAGES, KRYLOV_MOST, KRYLOV_POWERS, KRYLOV_TILE};
use crate::backend::{Buffer, Device, Ptr, Started, Work};
use crate::bail;
use crate::error::Result;

/// A vector as rows of complex numbers, one for every right-hand side. It does not keep its memory.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    at: Ptr,
    precision: Precision,
    nrhs: usize,
    step: usize,
    apart: usize,
    interleaved: bool,
    numbers: usize,
    /// Elements of a right-hand side, and lanes.
    n: usize,
    lanes: usize,
}

impl Row {
    fn form(&self) -> (Precision, usize, usize, usize, usize) {
        (self.precision, self.nrhs, self.step, self.apart, self.n)
    }
}

impl CoarseField {
    pub(crate) fn row(&self) -> Row {
        let (sites, nrhs) = (self.range().1, self.nrhs());
        let numbers = if self.device().is_cpu() { self.components() } else { 1 };
        Row {
            at: self.ptr(),
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
    /// `Unsupported`: 16-bit storage, or right-hand sides fastest in memory.
    pub(crate) fn row(&self) -> Result<Row> {
        let fits = self.precision() != Precision::F16 && self.order() == RhsOrder::Slowest;
        if !fits {
            bail!(
                Unsupported,
                "a vector of {:?} in {:?} is no row",
                self.subset(),
                self.precision()
            );
        }
        let plane = self.geometry().plane_sites() * self.components().reals();
        let numbers = plane * self.parities() / 2;
        let lanes = self.geometry().lanes();
        Ok(Row {
            at: self.view().data,
            precision: self.precision(),
            nrhs: self.nrhs(),
            step: 1,
            apart: numbers,
            interleaved: false,
            numbers: 1,
            n: numbers / lanes,
            lanes,
        })
    }
}

/// What vectors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// v_0 = r and v_k+1 = v_k - M v_k: the solution is a combination of v_0, v_1, ..
    Powers,
    /// r and then images of the directions.
    Images,
}

/// The least squares of a Krylov space of some right-hand sides.
#[derive(Debug)]
pub struct LeastSquares {
    geometry: Arc<Geometry>,
    nrhs: usize,
    gram: Buffer,
    coef: Buffer,
}

/// |r|^2 before and after, perhaps still under way.
pub struct Norms {
    device: Device,
    started: Started,
}

impl Norms {
    /// Waits: |r|^2 of every right-hand side before and after, and how many directions were of use.
    pub fn get(self) -> Result<Vec<[f64; 3]>> {
        let sums = self.device.finish(self.started)?;
        Ok(sums.chunks(3).map(|s| [s[0], s[1], s[2]]).collect())
    }
}

impl LeastSquares {
    /// Device memory for so many right-hand sides.
    pub fn bytes(nrhs: usize) -> usize {
        let most = KRYLOV_MOST as usize;
        nrhs * (most * most * 16 + 2 * most * (16 + 8))
    }

    pub fn new(geometry: &Arc<Geometry>, device: &Device, nrhs: usize) -> Result<Self> {
        let most = KRYLOV_MOST as usize;
        let gram = device.alloc(nrhs * most * most * 16)?;
        let coef = device.alloc(nrhs * 2 * most * (16 + 8))?;
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

    /// Finds the combination with the smallest residual; of the vectors those from `first` on are new
    /// since the last call.
    pub fn solve(&self, rows: &[Row], first: usize, space: Space) -> Result<Norms> {
        let tile = KRYLOV_TILE as usize;
        let tiles: usize = (first / tile..rows.len().div_ceil(tile)).map(|column| column + 1).sum();
        let mut args = self.args(rows)?;
        (args.first, args.tiles) = (first as i32, tiles as i32);
        args.kind = match space {
            Space::Powers => KRYLOV_POWERS,
            Space::Images => KRYLOV_IMAGES,
        };
        let device = self.gram.device();
        let row = rows[0];
        let work = Work { n: row.n, batches: tiles * self.nrhs, lanes: row.lanes };
        let params = [row.precision.token()];
        let kernel = kernel!("krylov_gram");
        let small = Work { n: 1, batches: self.nrhs, lanes: device.max_lanes() };
        let least_squares = |sums: Ptr| {
            let args = KrylovArgs { sums, ..args };
            device.start(kernel!("krylov_solve"), &[], &args, small)
        };
        let started = match self.geometry.start(device, kernel, &params, &args, work)? {
            Some(sums) => least_squares(sums.totals())?,
            None => {
                let sums = self.geometry.reduce(device, kernel, &params, &args, work)?;
                let mut known = device.alloc(8 * sums.len())?;
                known.upload(bytemuck::cast_slice(&sums))?;
                least_squares(known.ptr())?
            }
        };
        Ok(Norms { device: device.clone(), started })
    }

    /// With the coefficients of the last solve: `residual`, which may be one of `rows`, all of them.
    pub fn residual(&self, rows: &[Row], residual: Row) -> Result<()> {
        let args = KrylovArgs { z: residual.at, with_z: 1, ..self.args(rows)? };
        self.combine(rows, args)
    }

    /// `solution` = the combination of `rows`, or that added to it.
    pub fn solution(&self, rows: &[Row], solution: Row, keep: bool) -> Result<()> {
        let args = KrylovArgs { y: solution.at, with_y: 1, keep: keep as i32, ..self.args(rows)? };
        self.combine(rows, args)
    }

    /// Both, of POWERS, in one pass.
    pub fn both(&self, rows: &[Row], solution: Row, keep: bool, residual: Row) -> Result<()> {
        let args = KrylovArgs {
            y: solution.at,
            z: residual.at,
            with_y: 1,
            with_z: 1,
            keep: keep as i32,
            ..self.args(rows)?
        };
        self.combine(rows, args)
    }

    fn combine(&self, rows: &[Row], args: KrylovArgs) -> Result<()> {
        let (row, device) = (rows[0], self.gram.device());
        let work = match (row.interleaved, device.is_cpu()) {
            // A GPU's thread has one number of one right-hand side.
            (true, false) => Work { n: row.n * row.nrhs, batches: 1, lanes: row.lanes },
            (true, true) => Work { n: row.n, batches: 1, lanes: row.lanes },
            (false, _) => Work { n: row.n, batches: row.nrhs, lanes: row.lanes },
        };
        device.launch(kernel!("krylov_combine"), &[row.precision.token()], &args, work)
    }
}
