//! The operator 1 - S of even-odd preconditioning on columns in half precision, by tensor cores on GPUs that have
//! them (kernels/tensor_hop.h); for smoothers of many right-hand sides.

use std::sync::{Arc, Mutex};

use super::HalfColumns;
use crate::backend::args::{HopArgs, TensorHopArgs, TensorTablesArgs};
use crate::backend::{kernels, Buffer, Device, Ptr, Work};
use crate::error::Result;
use crate::fields::{GaugeField, Geometry, Precision};

/// Numbers (re, im) of the links of a site in the table: eight 3x3 matrices, forward and backward in four directions.
const LINKS: usize = 72;
/// Numbers (re, im) of the site term of a site in the table: a 6x6 matrix for each chirality.
const BLOCKS: usize = 72;
/// Bytes of the first-level cache that the neighbours of a tile's rows may take: three slices of the tile and the
/// rows around it.
const TILE_BYTES: usize = 200 << 10;
/// Number of threads of a block (Blocks::Links), and smallest number of slices that a block goes through.
const BLOCK: usize = 512;
const SLICES: usize = 4;

/// The operator T = 1 - S = kappa^2 A_e^-1 H_eo A_o^-1 H_oe on even sites, for columns in half precision. Results
/// have relative errors of about 2^-11.
#[derive(Debug)]
pub struct TensorHop {
    geometry: Arc<Geometry>,
    /// Tables of links, for even and for odd sites.
    links: [Buffer; 2],
    blocks: Option<[Buffer; 2]>,
    odd: Mutex<Option<HalfColumns>>,
}

/// The order in which a launch goes through the sites of the lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tiles {
    y: usize,
    z: usize,
    slices: usize,
    blocks: usize,
}

impl TensorHop {
    /// Largest number of right-hand sides in a launch: more than two groups of eight do not fit in the registers of a
    /// thread.
    pub(crate) const MAX_COLUMNS: usize = 16;

    /// Whether T can replace an operator on these links: on a GPU, in 16 bits, and if the vectors (including sites
    /// behind faces between ranks) have fewer loads of 16 bytes than 32 bits can count.
    pub fn fits(links: &GaugeField) -> bool {
        !links.device().is_cpu()
            && links.precision() == Precision::F16
            && 2 * links.geometry().outer() * 3 * Self::MAX_COLUMNS <= u32::MAX as usize
    }

    /// Makes the tables for an operator in 16 bits whose links are stored as whole rows, from the arguments of its
    /// hops to even and to odd sites; `blocks`: its site term is not 1.
    pub(super) fn new(gauge: &GaugeField, terms: [HopArgs; 2], blocks: bool) -> Result<Self> {
        let (device, geometry) = (gauge.device(), gauge.geometry());
        let table = |numbers: usize| device.alloc(4 * numbers * geometry.plane_sites());
        let links = [table(LINKS)?, table(LINKS)?];
        let blocks = if blocks { Some([table(BLOCKS)?, table(BLOCKS)?]) } else { None };
        let kernel = kernels::TensorTables::of(gauge.precision(), gauge.recon())?;
        for (parity, hop) in terms.into_iter().enumerate() {
            let args = TensorTablesArgs {
                hop,
                links: links[parity].ptr(),
                blocks: blocks.as_ref().map_or(Ptr::NULL, |b| b[parity].ptr()),
            };
            device.launch(kernel, &args, geometry.work(1))?;
        }
        Ok(TensorHop { geometry: geometry.clone(), links, blocks, odd: Mutex::default() })
    }

    pub(crate) fn device(&self) -> &Device {
        self.links[0].device()
    }

    /// A zero vector on even sites.
    pub(crate) fn field(&self, nrhs: usize) -> Result<HalfColumns> {
        HalfColumns::new(self.device(), &self.geometry, nrhs)
    }

    /// Frees the temporary vector of odd sites.
    pub(crate) fn free_idle(&self) {
        *self.odd.lock().unwrap_or_else(|e| e.into_inner()) = None;
    }

    /// Computes out = T in, where T = 1 - S is this operator.
    pub(crate) fn apply(&self, out: &mut HalfColumns, inp: &HalfColumns) -> Result<()> {
        let mut odd = self.odd.lock().unwrap_or_else(|e| e.into_inner());
        if odd.as_ref().is_none_or(|odd| odd.nrhs() != inp.nrhs()) {
            *odd = None;
        }
        let odd = match &mut *odd {
            Some(odd) => odd,
            none => none.insert(self.field(inp.nrhs())?),
        };
        self.hop(odd, inp, 1)?;
        self.hop(out, odd, 0)
    }

    fn hop(&self, out: &mut HalfColumns, inp: &HalfColumns, parity: usize) -> Result<()> {
        let (device, nrhs) = (self.device(), inp.nrhs());
        inp.exchange(1 - parity)?;
        let extents = self.geometry.extents();
        let multiprocessors = device.gpu().map_or(1, |gpu| gpu.multiprocessors);
        let tiles = Tiles::new(extents, nrhs, multiprocessors);
        let args = TensorHopArgs {
            geom: self.geometry.args(),
            inp: inp.memory().ptr(),
            out: out.memory().ptr(),
            links: self.links[parity].ptr(),
            blocks: self.blocks.as_ref().map_or(Ptr::NULL, |b| b[parity].ptr()),
            parity: parity as i32,
            behind: inp.first_remote(),
            nrhs: nrhs as i32,
            site_term: self.blocks.is_some() as i32,
            tile_y: tiles.y as i32,
            tile_z: tiles.z as i32,
            slices: tiles.slices as i32,
        };
        let work = match device.is_cpu() {
            true => self.geometry.work(nrhs),
            false => Work { n: tiles.blocks * BLOCK, batches: 1, lanes: 1 },
        };
        device.launch(kernels::TensorHop(), &args, work)
    }
}

impl Tiles {
    fn new([x, y, z, t]: [usize; 4], nrhs: usize, multiprocessors: usize) -> Self {
        let row = x / 2 * nrhs * 48;
        let fits = |a: usize, b: usize| {
            y.is_multiple_of(a)
                && z.is_multiple_of(b)
                && (3 * a * b + 2 * (a + b)) * row <= TILE_BYTES
        };
        let shapes = [(4, 4), (4, 2), (2, 2), (2, 1)];
        let (tile_y, tile_z) = shapes.into_iter().find(|&(a, b)| fits(a, b)).unwrap_or((1, 1));
        let tiles = (y / tile_y) * (z / tile_z);
        // Blocks that go through more slices read fewer of them twice; but the last wave of blocks should be full.
        let full = |slices: &usize| {
            let blocks = tiles * t.div_ceil(*slices);
            blocks as f64 / (blocks.div_ceil(multiprocessors) * multiprocessors) as f64
        };
        let parts = (0..).map(|k| t.div_ceil(1 << k)).take_while(|s| *s >= SLICES.min(t));
        let all: Vec<usize> = parts.take(16).collect();
        let best = all.iter().map(full).fold(0.0, f64::max);
        let slices = all.iter().copied().find(|s| full(s) >= 0.95 * best).unwrap_or(t);
        Tiles { y: tile_y, z: tile_z, slices, blocks: tiles * t.div_ceil(slices) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::tests::one_device;
    use crate::fields::{Noise, Recon, SpinorField, Subset};
    use crate::operators::Scales;
    use crate::operators::{Coarsenable, DiracParams, EvenOdd, SchurAction, Wilson};

    #[test]
    fn tiles_cover_the_lattice() {
        for (extents, nrhs) in [([32, 32, 32, 64], 12), ([4, 6, 2, 3], 5), ([48, 48, 48, 96], 16)] {
            let tiles = Tiles::new(extents, nrhs, 132);
            assert_eq!(
                tiles.blocks,
                extents[1] / tiles.y * (extents[2] / tiles.z) * extents[3].div_ceil(tiles.slices)
            );
        }
        let large = Tiles::new([32, 32, 32, 64], 12, 132);
        assert_eq!((large.y, large.z), (2, 2));
    }

    /// T on columns agrees with the operator up to the eleven bits of half precision, for one and two groups of
    /// right-hand sides, with and without site terms, with phases, and with messages across all faces, some and none.
    #[test]
    fn columns_are_what_the_operator_gives() {
        for looped in [[false; 4], [true; 4], [false, true, false, true]] {
            columns_where_faces_are_looped(looped);
        }
    }

    fn columns_where_faces_are_looped(looped: [bool; 4]) {
        let device = one_device();
        let ranks = crate::comm::Comm::looped(looped);
        let geometry = Geometry::decomposed([8, 4, 6, 4], &device, &ranks).unwrap();
        let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
        links.set_near_unit(3, 0.6).unwrap();
        let links = Arc::new(links);
        for (csw, mu, boundary) in
            [(0.0, 0.0, 1.0), (1.2, 0.0, -1.0), (0.0, 0.2, -1.0), (1.1, 0.3, -1.0)]
        {
            let mut params = DiracParams { csw, csw_t: csw, mu, ..Default::default() };
            params.boundary[1] = num_complex::Complex64::from_polar(1.0, 0.7);
            params.boundary[3] = boundary.into();
            let wide = Arc::new(Wilson::new(links.clone(), params.with_kappa(0.13)).unwrap());
            let short = wide.to(Precision::F16, Recon::R12).unwrap();
            let op = short.tensor_hop().unwrap();
            let some: &[usize] = if looped == [false; 4] { &[1, 5, 8, 12, 16] } else { &[5, 12] };
            for &nrhs in some {
                let field =
                    |p| SpinorField::new(&device, &geometry, p, Subset::Even, nrhs).unwrap();
                let mut x = field(Precision::F64);
                x.set_noise(Noise::Normal, 5, 0).unwrap();
                let mut rounded = field(Precision::F16);
                crate::fields::blas::copy(&mut rounded, &x).unwrap();
                let scales = Scales::new(&device, nrhs).unwrap();
                let (mut a, mut b) = (op.field(nrhs).unwrap(), op.field(nrhs).unwrap());
                a.take(&rounded, &scales).unwrap();
                op.apply(&mut b, &a).unwrap();
                let mut y = field(Precision::F64);
                EvenOdd::new(wide.clone(), 0, true).one_minus_schur(&mut y, &x).unwrap();
                crate::fields::blas::copy(&mut rounded, &y).unwrap();
                let own = Scales::new(&device, nrhs).unwrap();
                a.take(&rounded, &own).unwrap();
                let (expected, found) = (a.numbers(&own).unwrap(), b.numbers(&scales).unwrap());
                let (mut error, mut norm) = (0.0, 0.0);
                for (e, f) in expected.iter().flatten().zip(found.iter().flatten()) {
                    error += (*e as f64 - *f as f64).powi(2);
                    norm += (*e as f64).powi(2);
                }
                let error = (error / norm).sqrt();
                // Vectors are rounded three times, projections and links once each hop; each rounding is a random error
                // of 2^-12.
                assert!(
                    error < 8e-4 && error > 1e-6,
                    "{looped:?} csw {csw} mu {mu} x {nrhs}: {error:e}"
                );
            }
        }
    }

    /// Measures times of T on a large lattice: `PLAQ_TEST_DEVICE=cuda unit tensor::tests::speed --ignored
    /// --nocapture`.
    #[test]
    #[ignore]
    fn speed() {
        let device = one_device();
        let extents = if device.is_cpu() { [8, 8, 8, 16] } else { [32, 32, 32, 64] };
        let geometry = Geometry::new(extents, &device).unwrap();
        let mut links = GaugeField::new(&device, &geometry, Precision::F32, Recon::R12).unwrap();
        links.set_near_unit(3, 0.6).unwrap();
        let params = DiracParams { csw: 1.2, csw_t: 1.2, ..Default::default() };
        let wide = Wilson::new(Arc::new(links), params.with_kappa(0.13)).unwrap();
        let op = wide.to(Precision::F16, Recon::R12).unwrap().tensor_hop().unwrap();
        for nrhs in [12, 8, 16] {
            let (a, mut b) = (op.field(nrhs).unwrap(), op.field(nrhs).unwrap());
            let mut best = f64::MAX;
            for _ in 0..6 {
                let seconds = device.time(|| (0..4).try_for_each(|_| op.apply(&mut b, &a)));
                best = best.min(seconds.unwrap() / 8.0);
            }
            println!("{nrhs} right-hand sides: {:.1} us a hop", 1e6 * best);
            assert!(best > 0.0 && best < 1.0, "{best}");
        }
    }
}
