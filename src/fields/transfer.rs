//! Copies between fields and arrays of host programs. A kernel reads or writes the array in place if it can access
//! it; arrays in host memory are copied to a GPU in pieces.

use num_complex::Complex64;

use super::layout::{Content, Index, Strides};
use super::{
    CloverField, Components, GaugeField, Geometry, Group, Layout, Precision, Recon, RhsOrder,
    SpinorField, Subset,
};
use crate::backend::args::{LayoutArgs, ReportArgs};
use crate::backend::families::Sites;
use crate::backend::{kernels, Buffer, Device, External, Location, Piece, Ptr, Work};
use crate::bail;
use crate::comm::coordinates;
use crate::error::{host_array, significant, Result};
use std::ops::Range;
use std::sync::Arc;

/// Smallest and largest size in bytes of the pieces in which arrays are copied to or from a GPU; between these limits
/// a piece is 1/32 of the array. Even the smallest keeps all copying threads busy.
const SLAB: (usize, usize) = (16 << 20, 64 << 20);

/// Checks and changes of links when they are loaded. The field gets U = V / (scale x phase), where V are the numbers of
/// the array, and scale and phase the factors that its layout states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkOptions {
    /// Largest accepted modulus of an entry of U U^dagger - 1 and of det U - 1; NaN and infinity are refused too.
    /// None: nothing is checked.
    pub tolerance: Option<f64>,
    /// True: links are projected onto the group after the check: Gram-Schmidt of the first two rows, third row by
    /// cross product (SU(2): division by the length). Links closer to it than 1e-13 are not changed; those that have
    /// no projection, as links that are zero, are refused.
    pub reproject: bool,
}

impl LinkOptions {
    pub const UNCHECKED: LinkOptions = LinkOptions { tolerance: None, reproject: false };

    /// Options with a tolerance suited to rounding in long products of matrices: 1e-10 in double, 1e-5 in single
    /// precision. For arrays in double whose numbers come from a file in single, pass single.
    pub fn checked(precision: Precision) -> Self {
        let tolerance = if precision == Precision::F64 { 1e-10 } else { 1e-5 };
        LinkOptions { tolerance: Some(tolerance), reproject: false }
    }
}

/// Treatment of the numbers that are read: they are checked to be finite, stored, or both.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    Check,
    Store,
    CheckAndStore,
}

impl GaugeField {
    /// Replaces the links by those of an array. The array is read twice, first to check it, so that the field is
    /// unchanged if a check fails.
    pub fn load(&mut self, layout: &Layout, memory: &External, options: LinkOptions) -> Result<()> {
        let transfer = self.transfer(layout, false)?;
        if options.tolerance.is_some() {
            let checked = transfer.clone().load_links(memory, options, true);
            self.geometry().comm().agree(checked)?;
        }
        self.changed();
        transfer.load_links(memory, LinkOptions { tolerance: None, ..options }, false)?;
        self.loaded(layout)
    }

    fn loaded(&self, layout: &Layout) -> Result<()> {
        if layout.has(Index::Backward) {
            self.return_links()?;
        }
        self.exchange(None)
    }

    /// Makes a new field from an array, which is checked while it is read.
    ///
    /// # Errors
    /// `NotFinite`, `NotUnitary`: a link that is not accepted, or that has no projection; those of [`Self::new`].
    pub fn from_external(
        device: &Device,
        geometry: &Arc<Geometry>,
        (precision, recon): (Precision, Recon),
        layout: &Layout,
        memory: &External,
        options: LinkOptions,
    ) -> Result<Self> {
        let field = Self::new(device, geometry, precision, recon)?;
        let loaded = field.transfer(layout, false)?.load_links(memory, options, false);
        field.geometry().comm().agree(loaded)?;
        field.loaded(layout)?;
        // A matrix whose determinant is 0 has a violation of 1 or more.
        if options.reproject && options.tolerance.is_none_or(|tolerance| tolerance >= 1.0) {
            let whole = (Precision::F64, recon.whole());
            match (precision, recon) == whole {
                true => geometry.comm().agree(field.check_projected())?,
                false => {
                    Self::from_external(device, geometry, whole, layout, memory, options)?;
                }
            }
        }
        Ok(field)
    }

    /// Refuses projected links that are not finite since they have no projection.
    fn check_projected(&self) -> Result<()> {
        let geometry = self.geometry();
        let reals = 2 * self.group().colours().pow(2);
        let mut host = host_array(4 * reals * geometry.volume(), 0.0, "the host's copy of links")?;
        let layout = Layout::lexicographic(Precision::F64);
        self.save(&layout, &mut External::write(vec![&mut host[..]]))?;
        let broken = |link: &[f64]| link.iter().any(|v| !v.is_finite());
        if let Some(k) = host.chunks_exact(reals).position(broken) {
            let (x, origin) = (coordinates(geometry.extents(), k / 4), geometry.origin());
            let x: [usize; 4] = std::array::from_fn(|mu| x[mu] + origin[mu]);
            bail!(
                NotUnitary,
                "link at {x:?}, direction {}: it cannot be projected, as its first two rows are zero or parallel; where \
                 all temporal links of the last slice are zero, boundary_time is open",
                ["x", "y", "z", "t"][k % 4]
            );
        }
        Ok(())
    }

    /// Writes the links into an array; memory between the links is not changed.
    pub fn save(&self, layout: &Layout, memory: &mut External) -> Result<()> {
        self.transfer(layout, true)?.run(memory, None)
    }

    /// A copy of these SU(3) links, stored whole in `precision` (single or double), multiplied by the factors that
    /// arrays of the layout contain.
    pub fn with_host_factors(&self, layout: &Layout, precision: Precision) -> Result<GaugeField> {
        let copy = self.to(precision, Recon::R18)?;
        let args = copy.transfer(layout, true)?.args;
        let (device, work) = (copy.device(), copy.geometry().work(2));
        device.launch(kernels::LinkFactors::of(copy.precision())?, &args, work)?;
        copy.exchange(None)?;
        Ok(copy)
    }

    fn transfer(&self, layout: &Layout, out: bool) -> Result<Transfer<kernels::LayoutGauge>> {
        let shape = (self.group(), Subset::Full);
        let kernel = kernels::LayoutGauge(self.precision());
        let geometry = self.geometry();
        let mut t = Transfer::new(self.device(), geometry, layout, Content::Links, shape, kernel)?;
        t.args.field = self.view();
        t.args.storage = self.recon().code();
        t.args.star = layout.has(Index::Backward) as i32;
        for mu in 0..4 {
            let (scale, phase) = (layout.scale[mu], layout.boundary[mu]);
            if !(scale.is_finite() && scale != 0.0) || (phase.norm() - 1.0).abs() > 1e-12 {
                bail!(BadLayout, "layout {}: a scale is 0 or a phase is no phase", layout.name);
            }
            if self.group() == Group::Su2 && phase.im != 0.0 {
                bail!(BadLayout, "layout {}: SU(2) links carry only signs", layout.name);
            }
            let phase = if out { phase } else { phase.conj() };
            t.args.scale[mu] = if out { scale } else { 1.0 / scale };
            (t.args.phase_re[mu], t.args.phase_im[mu]) = (phase.re, phase.im);
            let odd = (layout.staggered[mu] & 15) as i32;
            t.args.phases |= ((phase != Complex64::ONE) as i32) << mu | odd << (4 + 4 * mu);
        }
        t.args.out = out as i32;
        Ok(t)
    }
}

impl SpinorField {
    /// Replaces the field by the numbers of one array, or of one array for each right-hand side and slice (the slices
    /// of a right-hand side follow each other); in layouts with flavours an array holds all slices of a right-hand
    /// side. With `finite`, NaN and infinity are an error, which leaves the field unchanged. For a field on one parity
    /// only sites of that parity are read.
    pub fn load(&mut self, layout: &Layout, memory: &External, finite: bool) -> Result<()> {
        if self.components().slices > 1 {
            return self.by_slice().load(layout, memory, finite);
        }
        if finite {
            self.take(layout, memory, Reading::Check)?;
        }
        self.take(layout, memory, Reading::Store)
    }

    /// Replaces the field as `load` does, but reads the arrays only once: NaN and infinity are an error, after which
    /// the field's contents are unspecified.
    pub fn load_once(&mut self, layout: &Layout, memory: &External) -> Result<()> {
        match self.components().slices > 1 {
            true => self.by_slice().take(layout, memory, Reading::CheckAndStore),
            false => self.take(layout, memory, Reading::CheckAndStore),
        }
    }

    fn take(&mut self, layout: &Layout, memory: &External, reading: Reading) -> Result<()> {
        (0..self.nrhs()).try_for_each(|rhs| {
            let transfer = self.transfer(layout, false, memory, rhs)?;
            transfer.load_numbers(memory, reading, &format!("spinor {rhs}"))
        })
    }

    /// Writes the field into an array, or into one array for each right-hand side and slice.
    pub fn save(&self, layout: &Layout, memory: &mut External) -> Result<()> {
        if self.components().slices > 1 {
            return self.by_slice().save(layout, memory);
        }
        for rhs in 0..self.nrhs() {
            self.transfer(layout, true, memory, rhs)?.run(memory, None)?;
        }
        Ok(())
    }

    fn transfer(
        &self,
        layout: &Layout,
        out: bool,
        memory: &External,
        rhs: usize,
    ) -> Result<Transfer<kernels::LayoutSpinor>> {
        let (components, order) = (self.components(), self.order());
        if order == RhsOrder::Fastest || components != Components::of(layout.spins, 3) {
            bail!(
                BadLayout,
                "layout {}: it holds {} spins x 3 colours, the field {} x {}",
                layout.name,
                layout.spins,
                components.spins,
                components.colours
            );
        }
        let flavours = layout.flavours();
        if !self.nrhs().is_multiple_of(flavours) {
            bail!(BadLayout, "layout {}: it holds {flavours} flavours, the field one", layout.name);
        }
        let shape = (Group::Su3, self.subset());
        let kernel = kernels::LayoutSpinor(self.precision());
        let geometry = self.geometry();
        let mut t =
            Transfer::new(self.device(), geometry, layout, Content::Spinors, shape, kernel)?;
        let planes = (rhs * self.parities()) as u64;
        let mut view = self.view();
        view.data = view.data.offset(planes * view.plane_bytes as u64);
        view.norm = view.norm.offset(planes * view.norm_bytes as u64);
        t.args.field = view;
        t.args.field_parities = self.parities() as i32;
        t.args.field_parity = (self.subset() == Subset::Odd) as i32;
        t.args.rotation = layout.basis.to_degrand_rossi();
        t.args.reals = components.reals() as i32;
        t.args.rotate = (layout.basis != super::GammaBasis::DeGrandRossi) as i32;
        t.args.out = out as i32;
        // One array per right-hand side, or all of them in one.
        let (vector, vectors, reals) = (rhs / flavours, self.nrhs() / flavours, t.shape.reals[0]);
        t.offset = rhs % flavours * t.shape.stride_flavour;
        if memory.count() == 1 {
            t.offset += vector * t.shape.span;
            t.shape.reals = vec![(vectors - 1) * t.shape.span + reals];
        } else {
            t.array = vector;
            t.shape.reals = vec![reals; vectors];
        }
        Ok(t)
    }
}

impl CloverField {
    /// Replaces the clover blocks by those of an array. With `finite`, NaN and infinity are an error, which leaves the
    /// field unchanged.
    pub fn load(&mut self, layout: &Layout, memory: &External, finite: bool) -> Result<()> {
        if finite {
            self.transfer(layout, false)?.load_numbers(memory, Reading::Check, "clover block")?;
        }
        self.transfer(layout, false)?.load_numbers(memory, Reading::Store, "clover block")
    }

    /// Replaces the clover blocks as `load` does, but reads the array only once: NaN and infinity are an error, after
    /// which the field's contents are unspecified.
    pub fn load_once(&mut self, layout: &Layout, memory: &External) -> Result<()> {
        self.transfer(layout, false)?.load_numbers(memory, Reading::CheckAndStore, "clover block")
    }

    /// Writes the clover blocks into an array.
    pub fn save(&self, layout: &Layout, memory: &mut External) -> Result<()> {
        self.transfer(layout, true)?.run(memory, None)
    }

    fn transfer(&self, layout: &Layout, out: bool) -> Result<Transfer<kernels::LayoutClover>> {
        let shape = (Group::Su3, Subset::Full);
        let kernel = kernels::LayoutClover(self.precision());
        let geometry = self.geometry();
        let mut t = Transfer::new(self.device(), geometry, layout, Content::Clover, shape, kernel)?;
        if self.sets() != 1 {
            bail!(BadLayout, "a twisted inverse of {} sets of blocks has no layout", self.sets());
        }
        t.args.field = self.view();
        t.args.out = out as i32;
        Ok(t)
    }
}

/// Components of a site that are close to each other in the array and are transferred together.
struct Run {
    array: usize,
    first: usize,
    last: usize,
    components: Vec<usize>,
}

impl Run {
    /// Number of reals from the first to the last component of the run.
    fn reals(&self) -> usize {
        self.last - self.first + 1
    }
}

#[derive(Clone)]
struct Transfer<K> {
    device: Device,
    geometry: Arc<Geometry>,
    shape: Strides,
    kernel: K,
    real: usize,
    directions: usize,
    args: LayoutArgs,
    /// The array of the right-hand side.
    array: usize,
    offset: usize,
}

impl<K: Sites<Args = LayoutArgs>> Transfer<K> {
    fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        layout: &Layout,
        content: Content,
        (group, subset): (Group, Subset),
        kernel: K,
    ) -> Result<Self> {
        if layout.content != content {
            bail!(BadLayout, "layout {} holds {}, not {content}", layout.name, layout.content);
        }
        let shape = Strides::new(layout, geometry.extents(), group, subset)?;
        let pack = |values: [usize; 4], bits: usize| {
            values.iter().rev().fold(0, |all, v| all << bits | v) as i32
        };
        let args = LayoutArgs {
            geom: geometry.args(),
            bounds: geometry.bounds(),
            axes: pack(layout.axes, 2),
            halo: pack(layout.halo, 4),
            split: shape.split as i32,
            sliced: shape.sliced as i32,
            single: (layout.precision == Precision::F32) as i32,
            stride_site: shape.stride_site as i64,
            back: shape.back as i64,
            field_parities: 2,
            ..Default::default()
        };
        Ok(Transfer {
            device: device.clone(),
            geometry: geometry.clone(),
            shape,
            kernel,
            real: layout.precision.bytes(),
            directions: if content == Content::Links { 4 } else { 1 },
            args,
            array: 0,
            offset: 0,
        })
    }

    fn load_links(mut self, memory: &External, options: LinkOptions, dry: bool) -> Result<()> {
        self.args.dry = dry as i32;
        self.args.reproject = options.reproject as i32;
        let Some(tolerance) = options.tolerance else {
            return self.run(&mut memory.reader(), None);
        };
        let report = self.report(memory, tolerance)?;
        let stars = 1 + self.args.star as usize;
        let place = |entry: usize| {
            let (site, mu, back) = (entry / (4 * stars), entry / stars % 4, entry % stars);
            let mut x = self.coordinates(site);
            if back == 1 {
                let l = self.geometry.extents()[mu];
                x[mu] = (x[mu] + l - 1) % l;
            }
            (x, mu)
        };
        let name = |entry: usize| {
            let (x, mu) = place(entry);
            format!("link at {x:?}, direction {}", ["x", "y", "z", "t"][mu])
        };
        if let Some(entry) = report.iter().position(|v| *v < 0.0) {
            bail!(NotFinite, "{} is not finite", name(entry));
        }
        let bad = report.iter().filter(|v| **v as f64 > tolerance).count();
        let worst = report.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        if let Some((entry, violation)) = worst {
            let last = self.geometry.global_extents()[3] - 1;
            let ends = matches!(place(entry), (x, 3) if x[3] == last);
            let open = self.geometry.boundary().lacks_links();
            // Links from single precision deviate by less than this; for larger deviations the advice would be wrong.
            let advice = match *violation < 1e-5 {
                true => "; links of single precision: set tolerance to 1e-5 (of files: unitarity), and project to 1",
                false if ends && open => "; with boundary_time open temporal links of the last slice are zero",
                false if ends && *violation == 1.0 => {
                    "; where all temporal links of the last slice are zero, boundary_time is open"
                }
                false => "",
            };
            bail!(
                NotUnitary,
                "{}: violation {} exceeds {}, {bad} links do{advice}",
                name(entry),
                significant(*violation as f64, 2),
                significant(tolerance, 6)
            );
        }
        Ok(())
    }

    fn load_numbers(mut self, memory: &External, reading: Reading, what: &str) -> Result<()> {
        if reading == Reading::Store {
            return self.run(&mut memory.reader(), None);
        }
        self.args.dry = (reading == Reading::Check) as i32;
        let report = self.report(memory, f64::INFINITY)?;
        if let Some(site) = report.iter().position(|v| *v < 0.0) {
            bail!(NotFinite, "{what} at {:?} is not finite", self.coordinates(site));
        }
        Ok(())
    }

    fn coordinates(&self, site: usize) -> [usize; 4] {
        let (parity, slice, _) = self.shape.blocks[site / self.shape.sites];
        let x = self.shape.coordinates(site % self.shape.sites, parity, slice);
        std::array::from_fn(|mu| x[mu] + self.args.geom.origin[mu] as usize)
    }

    /// Runs a transfer that checks each link or site. If a result is negative (not finite) or exceeds the tolerance,
    /// returns the results of all links or sites, else an empty list.
    fn report(&self, memory: &External, tolerance: f64) -> Result<Vec<f32>> {
        let per_site = self.directions * (1 + self.args.star as usize);
        let count = self.shape.blocks.len() * self.shape.sites * per_site;
        let buffer = self.device.alloc(4 * count)?;
        self.run(&mut memory.reader(), Some(&buffer))?;
        let lanes = self.geometry.lanes();
        let args = ReportArgs { report: buffer.ptr(), count: count as i64, tolerance };
        let work = Work { n: count.div_ceil(lanes), batches: 1, lanes };
        if self.device.reduce(kernels::LayoutReport(), &args, work)?.iter().all(|&n| n == 0.0) {
            return Ok(Vec::new());
        }
        let mut report = host_array(count, 0f32, "a number for each link or site")?;
        buffer.download(bytemuck::cast_slice_mut(&mut report))?;
        Ok(report)
    }

    fn run(&self, memory: &mut External, report: Option<&Buffer>) -> Result<()> {
        let bytes: Vec<usize> = self.shape.reals.iter().map(|r| r * self.real).collect();
        memory.check(&bytes, self.real, self.args.out == 1)?;
        let visible = match memory.location() {
            Location::Host => self.device.is_cpu(),
            Location::Device if self.device.is_cpu() => {
                bail!(BadLayout, "device arrays cannot reach a field on the CPU")
            }
            Location::Device => true,
        };
        if !self.device.is_cpu() {
            self.device.check_reach(memory, &bytes)?;
        }
        let mut args = self.args;
        args.report = report.map_or(Ptr::NULL, Buffer::ptr);
        if visible {
            self.device.after_host(memory)?;
            self.run_in_place(memory, args)?;
            if memory.location() == Location::Host {
                self.device.count_host(args.out as usize, self.in_place_bytes());
            }
            // The host program may use its array when this function has returned, so that the kernel must have ended.
            return self.device.synchronize();
        }
        self.run_staged(memory, args)
    }

    /// Number of bytes of the array that `run_in_place` reads or writes.
    fn in_place_bytes(&self) -> usize {
        let stars = if self.shape.back > 0 { 2 } else { 1 };
        self.shape.blocks.len() * self.shape.sites * self.shape.components.len() * stars * self.real
    }

    /// The number of a component that is in the array with the address base[j] (kernels/layout.h).
    fn representative(&self, j: usize) -> usize {
        match (self.directions, self.shape.components.len()) {
            (4, n) => j * n / 4,
            (_, 72) => 6 * (1 - j.min(1)),
            _ => 0,
        }
    }

    fn launch(&self, args: &LayoutArgs) -> Result<()> {
        let lanes = self.geometry.lanes();
        let n = (args.count as usize).div_ceil(lanes);
        self.device.launch(self.kernel, args, Work { n, batches: self.directions, lanes })
    }

    fn run_in_place(&self, memory: &External, mut args: LayoutArgs) -> Result<()> {
        for (b, &(parity, slice, first)) in self.shape.blocks.iter().enumerate() {
            args.base = std::array::from_fn(|j| {
                memory.ptr(self.array + self.shape.components[self.representative(j)].0)
            });
            for (to, (_, at)) in args.component.iter_mut().zip(&self.shape.components) {
                *to = (self.offset + first + at) as i64;
            }
            (args.parity, args.slice) = (parity as i32, slice as i32);
            (args.first, args.count) = (0, self.shape.sites as i64);
            args.report_first = (b * self.shape.sites) as i64;
            self.launch(&args)?;
        }
        Ok(())
    }

    fn runs(&self) -> Vec<Run> {
        let mut sorted: Vec<usize> = (0..self.shape.components.len()).collect();
        sorted.sort_unstable_by_key(|&k| self.shape.components[k]);
        let mut runs: Vec<Run> = Vec::new();
        for k in sorted {
            let (array, at) = self.shape.components[k];
            match runs.last_mut() {
                Some(run) if run.array == array && at < run.first + self.shape.stride_site => {
                    run.last = at + self.shape.back;
                    run.components.push(k);
                }
                _ => runs.push(Run {
                    array,
                    first: at,
                    last: at + self.shape.back,
                    components: vec![k],
                }),
            }
        }
        runs
    }

    /// Transfers an array of host memory in pieces: each is copied to a buffer on the device, or back from it if the
    /// array is written, and a kernel copies between buffer and field. There are two buffers: while one is copied, the
    /// kernel uses the other.
    fn run_staged(&self, memory: &External, mut args: LayoutArgs) -> Result<()> {
        let (shape, real) = (&self.shape, self.real);
        let runs = self.runs();
        let out = args.out == 1;
        // If rows are shorter than the stride of a site, they are copied without the gaps between them. The kernel has
        // a single stride, so that all rows must have the same length.
        let row = runs[0].reals();
        let rows = row < shape.stride_site && runs.iter().all(|r| r.reals() == row);
        let stride = if rows { row } else { shape.stride_site };
        args.stride_site = stride as i64;
        // Bytes of the array that the kernel does not write must keep their values: data between the components, and
        // sites that the field does not have.
        let stars = if shape.back > 0 { 2 } else { 1 };
        let keep = shape.gaps
            || (args.field_parities == 1 && !shape.split)
            || runs.iter().any(|r| r.components.len() * stars != stride);
        let per_site = runs.len() * stride * real;
        let all = per_site * shape.sites * shape.blocks.len();
        let slab = ((all / 32).clamp(SLAB.0, SLAB.1) / per_site).clamp(1, shape.sites);
        let slabs: Vec<Range<usize>> =
            (0..shape.sites).step_by(slab).map(|i| i..(i + slab).min(shape.sites)).collect();
        // Position in the array, in sites, of the first site of a piece, and the distance from there to its last site.
        let span = |sites: &Range<usize>| {
            let first = shape.memory_index(sites.start);
            (first, shape.memory_index(sites.end - 1) - first)
        };
        // Number of reals that a run of components takes in a piece.
        let length = |run: &Run, steps: usize| steps * stride + run.reals();
        let size = |sites| runs.iter().map(|r| length(r, span(sites).1)).sum::<usize>() * real;
        let size = slabs.iter().map(size).max().unwrap_or(0);
        let buffers = [self.device.alloc(size)?, self.device.alloc(size)?];

        let pieces = |base: Ptr, block: usize, sites: &Range<usize>| -> Vec<Piece> {
            let (index, steps) = span(sites);
            let mut at = base;
            let piece = |run: &Run| {
                let first = self.offset + shape.blocks[block].2 + run.first;
                let begin = (first + index * shape.stride_site) * real;
                let bytes = length(run, steps) * real;
                let rows = match rows {
                    true => (row * real, shape.stride_site * real, steps + 1),
                    false => (bytes, bytes, 1),
                };
                let place = at;
                at = at.offset(bytes as u64);
                (place, memory.rows(self.array + run.array, begin, rows, out))
            };
            runs.iter().map(piece).collect()
        };
        let mut launch = |base: Ptr, block: usize, sites: &Range<usize>| {
            let (index, steps) = span(sites);
            let mut at = 0;
            for run in &runs {
                for &k in &run.components {
                    let inside = shape.components[k].1 - run.first;
                    args.component[k] = (at + inside) as i64 - (index * stride) as i64;
                }
                at += length(run, steps);
            }
            args.base = [base; 4];
            (args.parity, args.slice) =
                (shape.blocks[block].0 as i32, shape.blocks[block].1 as i32);
            (args.first, args.count) = (sites.start as i64, sites.len() as i64);
            args.report_first = (block * shape.sites + sites.start) as i64;
            self.launch(&args)
        };

        let blocks = 0..shape.blocks.len();
        let work = blocks.flat_map(|block| slabs.iter().map(move |sites| (block, sites)));
        let bases = buffers.iter().map(Buffer::ptr).cycle();
        let mut work = bases.zip(work);
        if out && !keep {
            return self.device.download(&mut || {
                let Some((base, (block, sites))) = work.next() else { return Ok(Vec::new()) };
                launch(base, block, sites)?;
                Ok(pieces(base, block, sites))
            });
        }
        for (base, (block, sites)) in work {
            let mut pieces = pieces(base, block, sites);
            self.device.upload(&pieces)?;
            launch(base, block, sites)?;
            if out {
                self.device.download(&mut || Ok(std::mem::take(&mut pieces)))?;
            }
        }
        Ok(())
    }
}
