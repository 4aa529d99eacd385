//! Sums of spin matrices over time slices, with plane waves.

use num_complex::Complex64;

use crate::backend::args::{MatricesArgs, SliceWaveArgs, WaveArgs};
use crate::backend::{kernels, Buffer, Work};
use crate::error::Result;
use crate::fields::time_slices::over_slices;
use crate::fields::{blas, Geometry, Precision, SpinorField};

/// A plane wave, apart from its momentum.
#[derive(Clone, Copy)]
pub(super) struct Wave {
    /// Coordinates at which the wave's phase is 1.
    pub position: [usize; 4],
    /// Displacement of the path along which the field was transported; the wave takes the boundary phases for each
    /// boundary that the path crosses.
    pub displacement: [i32; 4],
    pub boundary: [f64; 4],
    /// Shift of the momenta by the boundary phases of the field in space, in units of pi / L_mu.
    pub shift: [f64; 4],
    /// The only time slice on which the wave is not zero; None: all.
    pub time: Option<usize>,
}

impl Wave {
    pub fn from(position: [usize; 4]) -> Self {
        Wave { position, displacement: [0; 4], boundary: [0.0; 4], shift: [0.0; 4], time: None }
    }
    pub fn args(&self) -> WaveArgs {
        WaveArgs {
            position: self.position.map(|x| x as i32),
            displacement: self.displacement,
            boundary: self.boundary,
            shift: self.shift,
            time: self.time.map_or(-1, |t| t as i32),
            reserved: 0,
        }
    }
}

/// Sums of spin matrices, by wave and by time of the whole lattice.
pub type Slices = Vec<Vec<[Complex64; 16]>>;

/// Memory for the spin matrices that a launch computes, and for the waves.
pub(super) struct Waves {
    matrices: Buffer,
    table: Buffer,
    count: usize,
    plane: usize,
}

/// Largest number of waves in one reduction, so that its batches, two for each wave and time slice, do not exceed
/// what a launch can have.
const MAX_WAVES: usize = 4096;

impl Waves {
    /// Makes memory for fields like this one, and the waves exp(i p x) with p_i = 2 pi n_i / L_i.
    pub fn new(like: &SpinorField, momenta: &[[i32; 3]]) -> Result<Waves> {
        let geometry = like.geometry();
        let n = geometry.outer() / geometry.args().t as usize;
        // A GPU lays sites out in tiles of 32.
        let plane = n.next_multiple_of(32) * geometry.lanes() * 32 * like.precision().bytes();
        let numbers: Vec<i32> = momenta.iter().flat_map(|&[x, y, z]| [x, y, z, 0]).collect();
        let mut table = like.device().alloc(size_of_val(&numbers[..]))?;
        table.upload(bytemuck::cast_slice(&numbers))?;
        let slices = geometry.args().t.min(8) as usize;
        let matrices = like.device().alloc(2 * slices * plane)?;
        Ok(Waves { matrices, table, count: momenta.len(), plane })
    }

    /// Sums over space of exp(i p x) m(x) for all momenta p; `launch(matrices, slice, work)` computes the matrices m.
    pub fn sum(
        &self,
        like: &SpinorField,
        wave: Wave,
        mut launch: impl FnMut(MatricesArgs, i32, Work) -> Result<()>,
    ) -> Result<Slices> {
        let kernel = kernels::SliceWaves::of(like.precision())?;
        let matrices = MatricesArgs { data: self.matrices.ptr(), bytes: self.plane as i64 };
        let times = like.geometry().global_extents()[3];
        let mut out = Slices::new();
        for first in (0..self.count).step_by(MAX_WAVES) {
            let waves = MAX_WAVES.min(self.count - first);
            let all = over_slices(like, (waves, 32), |slice, work| {
                launch(matrices, slice, Work { batches: work.batches / waves, ..work })?;
                let args = SliceWaveArgs {
                    geom: like.geometry().args(),
                    matrices,
                    wave: wave.args(),
                    table: self.table.ptr().offset(16 * first as u64),
                    waves: waves as i32,
                    slice,
                };
                like.device().reduce(kernel, &args, work)
            })?;
            let of = |p: usize, t: usize| {
                let z = &all[(t * waves + p) * 32..][..32];
                std::array::from_fn(|k| Complex64::new(z[2 * k], z[2 * k + 1]))
            };
            out.extend((0..waves).map(|p| (0..times).map(|t| of(p, t)).collect()));
        }
        Ok(out)
    }
}

/// Copies of fields in one precision that contractions support, where the fields have another: the highest precision
/// among them, single instead of half.
pub(super) struct SamePrecision(Vec<Option<SpinorField>>);

impl SamePrecision {
    pub fn new(fields: &[&SpinorField]) -> Result<SamePrecision> {
        let double = fields.iter().any(|f| f.precision() == Precision::F64);
        let wanted = if double { Precision::F64 } else { Precision::F32 };
        let copy = |field: &&SpinorField| {
            if field.precision() == wanted {
                return Ok(None);
            }
            let mut copy = field.like(wanted)?;
            blas::copy(&mut copy, field)?;
            Ok(Some(copy))
        };
        Ok(SamePrecision(fields.iter().map(copy).collect::<Result<_>>()?))
    }
    pub fn of<'a>(&'a self, fields: &[&'a SpinorField], k: usize) -> &'a SpinorField {
        self.0[k].as_ref().unwrap_or(fields[k])
    }
}

/// Orders values by the time from the source instead of the time on the lattice; values at times before the source's,
/// which are reached across the end of the lattice, are multiplied by `phase`.
pub(super) fn from_source<T: Clone>(
    by_time: &[T],
    start: usize,
    across: impl Fn(&T) -> T,
) -> Vec<T> {
    let times = by_time.len();
    let at = |t: usize| match start + t >= times {
        true => across(&by_time[start + t - times]),
        false => by_time[start + t].clone(),
    };
    (0..times).map(at).collect()
}

/// Whether this position is a site of the lattice.
pub(super) fn inside(geometry: &Geometry, position: [usize; 4]) -> bool {
    position.iter().zip(geometry.global_extents()).all(|(&x, l)| x < l)
}
