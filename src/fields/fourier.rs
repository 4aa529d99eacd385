//! Fourier transforms of arrays on a lattice, which may be divided over ranks.

use std::ops::Range;
use std::sync::Arc;

use super::Geometry;
use crate::backend::args::TransposeArgs;
use crate::backend::families::Float;
use crate::backend::fourier::{Fourier, FourierShape};
use crate::backend::kernels;
use crate::backend::{Buffer, Device, Work};
use crate::comm::Comm;
use crate::error::{host_array, Result};

/// Shape of the arrays that are transformed: a complex number on each of this rank's sites, with the first direction in
/// `order` fastest; arrays follow each other in memory.
#[derive(Clone, Copy, Debug)]
pub struct Arrays {
    /// The direction of each axis.
    pub order: [usize; 4],
    /// Number of axes that are transformed: all 4, or 3, with a transform of its own for each value of the last axis.
    pub axes: usize,
    pub arrays: usize,
    /// True for single precision, false for double.
    pub single: bool,
}

impl Arrays {
    fn bytes(&self) -> usize {
        if self.single {
            8
        } else {
            16
        }
    }

    fn shape(&self, geometry: &Geometry) -> FourierShape {
        let extents = self.order.map(|mu| geometry.extents()[mu]);
        FourierShape { extents, axes: self.axes, arrays: self.arrays, single: self.single }
    }

    fn divided(&self, geometry: &Geometry) -> bool {
        self.order[..self.axes].iter().any(|&mu| geometry.comm().grid()[mu] > 1)
    }

    fn lines(&self, geometry: &Geometry) -> impl Iterator<Item = Lines> {
        let (shape, order, comm) = (self.shape(geometry), self.order, geometry.comm().clone());
        (0..self.axes).map(move |k| Lines::new(&shape, k, order[k], &comm))
    }

    /// Number of complex numbers that each of the two buffers for lines must hold.
    fn capacity(&self, geometry: &Geometry) -> usize {
        if self.divided(geometry) {
            self.lines(geometry).map(|l| l.capacity()).max().unwrap_or(0)
        } else {
            0
        }
    }
}

/// Fourier transforms of arrays of one shape: sum_x exp(-i p x) f(x), for the inverse sum_p exp(i p x) f(p), both
/// without a normalisation factor. Momenta are distributed over ranks as sites are.
///
/// On one rank the back end transforms all axes. If an axis is divided over ranks, each of the ranks along it collects
/// the pieces of some whole lines, transforms these, and sends the pieces back.
pub enum LatticeFourier {
    Whole(Fourier),
    Divided(Box<Divided>),
}

pub struct Divided {
    geometry: Arc<Geometry>,
    form: Arrays,
    axes: Vec<(Lines, Fourier)>,
    /// Buffers for whole lines, and for pieces that are sent and received.
    buffers: [Buffer; 2],
}

impl LatticeFourier {
    /// # Errors
    /// On a GPU `CufftMissing`; `OutOfMemory`.
    pub fn new(device: &Device, geometry: &Arc<Geometry>, form: Arrays) -> Result<Self> {
        if !form.divided(geometry) {
            return Ok(LatticeFourier::Whole(Fourier::new(device, form.shape(geometry))?));
        }
        let plan = |lines: Lines| {
            let extents = [lines.whole(), 1, 1, lines.mine().len()];
            let shape = FourierShape { extents, axes: 1, arrays: 1, single: form.single };
            Ok((lines, Fourier::new(device, shape)?))
        };
        let axes = form.lines(geometry).map(plan).collect::<Result<_>>()?;
        let array = || device.alloc(form.bytes() * form.capacity(geometry));
        let buffers = [array()?, array()?];
        Ok(LatticeFourier::Divided(Box::new(Divided {
            geometry: geometry.on_device(device),
            form,
            axes,
            buffers,
        })))
    }

    pub fn forward(&mut self, from: &Buffer, to: &mut Buffer) -> Result<()> {
        match self {
            LatticeFourier::Whole(fourier) => fourier.forward(from, to),
            LatticeFourier::Divided(divided) => {
                to.copy_from(from)?;
                divided.run(to, false)
            }
        }
    }

    /// Computes the inverse transform, in place.
    pub fn inverse(&mut self, array: &mut Buffer) -> Result<()> {
        match self {
            LatticeFourier::Whole(fourier) => fourier.inverse(array),
            LatticeFourier::Divided(divided) => divided.run(array, true),
        }
    }
}

/// All lines of the arrays along one axis. Each is divided into pieces, one on every rank along the axis.
#[derive(Clone, Debug)]
struct Lines {
    /// Distance in complex numbers between neighbours on a line.
    stride: usize,
    piece: usize,
    /// Number of complex numbers in all arrays of this rank.
    count: usize,
    /// The ranks along the axis, in the order of their coordinates.
    ranks: Vec<usize>,
    here: usize,
}

impl Lines {
    fn new(shape: &FourierShape, axis: usize, mu: usize, comm: &Comm) -> Lines {
        let mut at = comm.coords();
        let here = at[mu];
        let ranks = (0..comm.grid()[mu]).map(|k| {
            at[mu] = k;
            comm.rank_at(at)
        });
        Lines {
            stride: shape.extents[..axis].iter().product(),
            piece: shape.extents[axis],
            count: shape.numbers() / shape.extents[axis],
            ranks: ranks.collect(),
            here,
        }
    }

    /// Number of complex numbers in a whole line.
    fn whole(&self) -> usize {
        self.piece * self.ranks.len()
    }

    /// The range of lines that the rank at position `place` along the axis transforms.
    fn of(&self, place: usize) -> Range<usize> {
        let n = self.ranks.len();
        self.count * place / n..self.count * (place + 1) / n
    }

    fn mine(&self) -> Range<usize> {
        self.of(self.here)
    }

    /// Number of complex numbers in this rank's pieces of lines or in its whole lines, whichever is larger.
    fn capacity(&self) -> usize {
        (self.count * self.piece).max(self.mine().len() * self.whole())
    }
}

/// The reordering to[i0][i1][i2] = from[i0 s0 + i1 s1 + i2 s2] of complex numbers: extents of i0, i1, i2 and strides s.
struct Transpose {
    extents: [usize; 3],
    strides: [usize; 3],
}

impl Divided {
    fn run(&mut self, array: &mut Buffer, inverse: bool) -> Result<()> {
        for k in 0..self.axes.len() {
            let (lines, fourier) = &self.axes[k];
            let (lines, [a, b]) = (lines.clone(), &mut self.buffers);
            let (piece, stride, blocks) = (lines.piece, lines.stride, lines.count / lines.stride);
            let (g, m) = (lines.ranks.len(), lines.mine().len());
            let gather = Transpose {
                extents: [blocks, stride, piece],
                strides: [piece * stride, 1, stride],
            };
            let scatter =
                Transpose { extents: [blocks, piece, stride], strides: [piece * stride, 1, piece] };
            transpose(&self.form, array, a, &gather)?;
            if g > 1 {
                exchange(&self.form, &self.geometry, &lines, a, b, false)?;
                let join = Transpose { extents: [m, g, piece], strides: [piece, m * piece, 1] };
                transpose(&self.form, b, a, &join)?;
            }
            if inverse {
                fourier.inverse(a)?;
            } else {
                fourier.transform(a)?;
            }
            if g > 1 {
                let cut = Transpose { extents: [g, m, piece], strides: [piece, g * piece, 1] };
                transpose(&self.form, a, b, &cut)?;
                exchange(&self.form, &self.geometry, &lines, b, a, true)?;
            }
            transpose(&self.form, a, array, &scatter)?;
        }
        Ok(())
    }
}

fn transpose(form: &Arrays, from: &Buffer, to: &mut Buffer, t: &Transpose) -> Result<()> {
    let device = to.device().clone();
    let n: usize = t.extents.iter().product();
    assert!(n * form.bytes() <= from.bytes().min(to.bytes()));
    let four = |v: [usize; 3]| [v[0] as i32, v[1] as i32, v[2] as i32, 0];
    let args = TransposeArgs {
        from: from.ptr(),
        to: to.ptr(),
        extents: four(t.extents),
        strides: four(t.strides),
    };
    let precision = if form.single { Float::F32 } else { Float::F64 };
    let lanes = device.max_lanes();
    let work = Work { n: n.div_ceil(lanes), batches: 1, lanes };
    device.launch(kernels::TransposePairs(precision), &args, work)
}

/// Exchanges pieces among the ranks along an axis, so that each rank has the whole lines that it transforms; or the
/// reverse.
fn exchange(
    form: &Arrays,
    geometry: &Geometry,
    lines: &Lines,
    from: &Buffer,
    to: &mut Buffer,
    back: bool,
) -> Result<()> {
    let bytes = |count: usize| count * lines.piece * form.bytes();
    let all = (0..lines.ranks.len()).map(|k| (lines.ranks[k], bytes(lines.of(k).len())));
    let mine = lines.ranks.iter().map(|&rank| (rank, bytes(lines.mine().len())));
    let (all, mine): (Vec<_>, Vec<_>) = (all.collect(), mine.collect());
    let (sent, received) = if back { (mine, all) } else { (all, mine) };
    let (mut sends, mut at) = (Vec::new(), 0);
    for (rank, bytes) in sent {
        let mut piece = host_array(bytes, 0u8, "lines of a Fourier transform")?;
        from.download_at(at, &mut piece)?;
        sends.push((rank, piece));
        at += bytes;
    }
    at = 0;
    for piece in geometry.comm().deliver(sends, &received)? {
        to.upload_at(at, &piece)?;
        at += piece.len();
    }
    Ok(())
}
