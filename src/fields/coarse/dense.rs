//! Products of dense matrices with vectors of the coarsest multigrid level (kernels/dense.h). The matrices are the
//! inverse of the level's operator, and low modes, stored as the right-hand sides of a vector.

use num_complex::Complex64;

use super::CoarseField;
use crate::backend::args::{DenseArgs, DENSE_COLUMNS, DENSE_PARTS, DENSE_ROWS};
use crate::backend::{kernels, Buffer, Device, Ptr, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::Precision;

/// This rank's rows of a dense matrix, with all columns, in the order [column][row].
#[derive(Debug)]
pub(crate) struct DenseMatrix {
    precision: Precision,
    rows: usize,
    columns: usize,
    data: Buffer,
}

fn upload(device: &Device, precision: Precision, numbers: &[Complex64]) -> Result<Buffer> {
    let reals: &[f64] = bytemuck::cast_slice(numbers);
    let mut data = device.alloc((reals.len() * precision.bytes()).max(16))?;
    if precision == Precision::F64 {
        data.upload(bytemuck::cast_slice(reals))?;
    } else {
        let narrow: Vec<f32> = reals.iter().map(|&v| v as f32).collect();
        data.upload(bytemuck::cast_slice(&narrow))?;
    }
    Ok(data)
}

impl DenseMatrix {
    /// Makes a matrix of `rows` rows on this rank, from the numbers of all its columns.
    pub fn new(
        device: &Device,
        precision: Precision,
        rows: usize,
        columns: usize,
        numbers: &[Complex64],
    ) -> Result<Self> {
        if numbers.len() != rows * columns {
            bail!(Internal, "a dense matrix of {} numbers", numbers.len());
        }
        Ok(DenseMatrix { precision, rows, columns, data: upload(device, precision, numbers)? })
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Computes this rank's part of out = A in, where `inp` holds the numbers of the vector on all ranks.
    pub fn apply(&self, out: &mut CoarseField, inp: AllRanks) -> Result<()> {
        let (device, nrhs) = (out.device().clone(), out.nrhs());
        let fits = out.range().1 * out.components() == self.rows
            && out.precision() == self.precision
            && inp.numbers() == self.columns * nrhs;
        if !fits {
            bail!(Internal, "a dense matrix of {} x {} numbers", self.rows, self.columns);
        }
        let args = DenseArgs {
            matrix: self.data.ptr(),
            x: inp.ptr(),
            y: out.ptr(),
            nrhs: nrhs as i32,
            rows: self.rows as i64,
            columns: self.columns as i32,
            ..Default::default()
        };
        let n = if device.is_cpu() {
            self.rows.div_ceil(DENSE_ROWS as usize)
        } else {
            self.rows.div_ceil(8) * nrhs * 32
        };
        let work = Work { n, batches: 1, lanes: device.max_lanes() };
        device.launch(kernels::DenseApply::of(self.precision)?, &args, work)
    }
}

/// The numbers of a vector on all ranks.
pub(crate) enum AllRanks<'a> {
    /// The field itself, as there is only one rank.
    Own(&'a CoarseField),
    Gathered(Buffer, usize),
}

impl<'a> AllRanks<'a> {
    /// Collects the numbers of all ranks, in the order of ranks. A right-hand side has `all` complex numbers in total,
    /// `first` of them on ranks before this one.
    pub fn of(field: &'a CoarseField, first: usize, all: usize) -> Result<Self> {
        let comm = field.grid().comm();
        if comm.size() == 1 {
            return Ok(AllRanks::Own(field));
        }
        let nrhs = field.nrhs();
        let mut numbers = vec![0.0; 2 * all * nrhs];
        let own = field.save()?;
        numbers[2 * first * nrhs..][..own.len()].copy_from_slice(&own);
        comm.sum(&mut numbers)?;
        let numbers: &[Complex64] = bytemuck::cast_slice(&numbers);
        Ok(AllRanks::Gathered(upload(field.device(), field.precision(), numbers)?, numbers.len()))
    }
    fn ptr(&self) -> Ptr {
        match self {
            AllRanks::Own(field) => field.ptr(),
            AllRanks::Gathered(buffer, _) => buffer.ptr(),
        }
    }
    fn numbers(&self) -> usize {
        match self {
            AllRanks::Own(field) => field.range().1 * field.components() * field.nrhs(),
            AllRanks::Gathered(_, n) => *n,
        }
    }
}

const TOGETHER: usize = DENSE_COLUMNS as usize;

/// Index at which kernels store the product of column i with right-hand side j.
fn place(i: usize, j: usize, nrhs: usize) -> usize {
    (i / TOGETHER * nrhs + j) * TOGETHER + i % TOGETHER
}

/// Scalar products of all pairs of right-hand sides of two vectors; the host may not know them yet.
pub(crate) enum Overlaps {
    Reduction(crate::backend::Reduction),
    Known(Buffer),
}

impl Overlaps {
    fn ptr(&self) -> Ptr {
        match self {
            Overlaps::Reduction(started) => started.totals(),
            Overlaps::Known(buffer) => buffer.ptr(),
        }
    }
    /// Coefficients c_ij from the host in the place of scalar products; j = 0 .. nrhs - 1 is fastest in `numbers`.
    pub fn of(device: &Device, nrhs: usize, numbers: &[Complex64]) -> Result<Self> {
        let columns = numbers.len() / nrhs;
        let mut placed = vec![Complex64::ZERO; columns.next_multiple_of(TOGETHER) * nrhs];
        for (k, &c) in numbers.iter().enumerate() {
            placed[place(k / nrhs, k % nrhs, nrhs)] = c;
        }
        Ok(Overlaps::Known(upload(device, Precision::F64, &placed)?))
    }
}

impl CoarseField {
    fn dense_args(&self, y: &CoarseField) -> Result<DenseArgs> {
        let place = |f: &CoarseField| (f.subset(), f.components(), f.precision());
        if self.grid() != y.grid() || place(self) != place(y) {
            bail!(Internal, "products of vectors of other shapes");
        }
        let numbers = if self.device().is_cpu() { self.components() } else { 1 };
        Ok(DenseArgs {
            x: self.ptr(),
            y: y.ptr(),
            nrhs: y.nrhs() as i32,
            columns: self.nrhs() as i32,
            numbers: numbers as i32,
            ..Default::default()
        })
    }

    /// Computes <x_i, y_j> for all pairs of right-hand sides. On one rank the host does not wait.
    pub(crate) fn overlaps(&self, y: &CoarseField) -> Result<Overlaps> {
        let (args, device, geometry) = (self.dense_args(y)?, self.device(), self.grid().fine());
        let work = self.overlap_work(y);
        let kernel = kernels::DenseProject::of(self.precision())?;
        match geometry.start(device, kernel, &args, work)? {
            Some(started) => Ok(Overlaps::Reduction(started)),
            None => {
                let sums = geometry.reduce(device, kernel, &args, work)?;
                let mut known = device.alloc(8 * sums.len())?;
                known.upload(bytemuck::cast_slice(&sums))?;
                Ok(Overlaps::Known(known))
            }
        }
    }

    /// Computes <x_i, y_j> for all pairs of right-hand sides, on the host.
    pub(crate) fn overlaps_now(&self, y: &CoarseField) -> Result<Vec<Complex64>> {
        let (args, device) = (self.dense_args(y)?, self.device());
        let (kernel, work) = (kernels::DenseProject::of(self.precision())?, self.overlap_work(y));
        let sums = self.grid().fine().reduce(device, kernel, &args, work)?;
        let (columns, nrhs) = (self.nrhs(), y.nrhs());
        let at = |k: usize| 2 * place(k / nrhs, k % nrhs, nrhs);
        let product = |k| Complex64::new(sums[at(k)], sums[at(k) + 1]);
        Ok((0..columns * nrhs).map(product).collect())
    }

    fn overlap_work(&self, y: &CoarseField) -> Work {
        let batches = self.nrhs().div_ceil(TOGETHER) * y.nrhs();
        Work { batches, ..Work::rows(self.device(), self.range().1, self.components()) }
    }

    /// Computes self_j = (self_j, or 0) + scale sum_i c_ij x_i.
    pub(crate) fn combine(
        &mut self,
        x: &CoarseField,
        c: &Overlaps,
        scale: f64,
        keep: bool,
    ) -> Result<()> {
        let numbers = self.range().1 * self.components() * self.nrhs();
        let (matrix, keep, rows) = (c.ptr(), keep as i32, numbers as i64);
        let args = DenseArgs { matrix, rows, scale, keep, ..x.dense_args(self)? };
        let mut work = Work::rows(self.device(), self.range().1, 1);
        if !self.device().is_cpu() {
            // The threads of a warp exchange partial sums, so that every warp must have all of its 32 threads.
            work.n = (numbers * DENSE_PARTS as usize).next_multiple_of(32);
        }
        self.device().launch(kernels::DenseCombine::of(self.precision())?, &args, work)
    }
}
