//! Restriction and prolongation between a level and the next coarser one: null vectors cut into
//! aggregates and chiralities and made orthonormal there (Clark et al., arXiv:1612.07873, section 3.4).

use std::sync::Arc;

use crate::backend::args::{
    AggregateArgs, CoarseShortenArgs, AGGREGATE_COLUMNS, AGGREGATE_ROWS, AGGREGATE_VECTORS,
};
use crate::backend::{kernels, Buffer, Device, HostArray, Ptr, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::{CoarseField, CoarseGrid, Coarsening, Precision, Subset};
use crate::operators::LinkPrecision;

/// Share of |v|^2 below which a vector orthogonalised to those before it is only rounding error, so
/// that it depends on them linearly.
const DEPENDENT: f64 = 1e-11;

/// Number of threads of a GPU kernel that suffices to hide the latency of memory.
const ENOUGH_THREADS: usize = 1 << 16;

/// Number of groups of columns of a field, one for a thread of a GPU: groups of AGGREGATE_COLUMNS if that divides the
/// number of columns, else of one column.
fn groups(columns: usize) -> usize {
    let together = AGGREGATE_COLUMNS as usize;
    if columns.is_multiple_of(together) {
        columns / together
    } else {
        columns
    }
}

/// Number of parts in which null vectors are multiplied in place.
const PIECES: usize = 32;
/// Least size in bytes of a part of the null vectors that is worked on at a time, for a CPU (what
/// its caches hold) and for a GPU (enough work to fill it).
const PIECE: [usize; 2] = [1 << 18, 1 << 26];

/// The prolongator P, whose columns are orthonormal on every aggregate, and the restrictor R = P^dagger (Clark et
/// al., arXiv:1612.07873, section 3.4).
#[derive(Debug)]
pub struct Transfer {
    fine: Arc<CoarseGrid>,
    coarse: Arc<CoarseGrid>,
    coarsening: Arc<Coarsening>,
    /// Precision of the vectors that are restricted and prolonged.
    precision: Precision,
    /// Number of components of a fine site.
    components: usize,
    /// Number of null vectors.
    n: usize,
    vectors: NullVectors,
    /// Restrictions of the vectors from which the null vectors were made: they are the null vectors
    /// of the next level, and prolonging them gives these vectors again.
    tests: CoarseField,
    /// The null vectors in 8 bits, on the sites on which the cycle uses them.
    bytes: Option<ByteVectors>,
}

/// Null vectors on all fine sites, in full precision or in 16 bits.
#[derive(Debug)]
enum NullVectors {
    /// Each null vector a right-hand side of a field in the precision of the fine vectors.
    Full(CoarseField),
    /// Null vectors in numbers of 16 bits.
    Half(Buffer),
    /// Only those in 8 bits are left.
    Dropped,
}

/// Null vectors in 8 bits with a scale for each component of a site.
#[derive(Debug)]
struct ByteVectors {
    numbers: Buffer,
    scales: Buffer,
}

/// Null vectors as a kernel reads them: address of the numbers, of the scales of 8 bits, and the number of bits.
type Stored = (Ptr, Ptr, LinkPrecision);

impl Transfer {
    /// Makes `vectors` orthonormal on every aggregate of `block` sites.
    ///
    /// # Errors
    /// `BadExtents`: the aggregate does not divide a rank's part; `BadParameter`: more vectors than an
    /// aggregate has components, or vectors that depend on each other on an aggregate or are not finite.
    pub fn new(vectors: CoarseField, block: [usize; 4]) -> Result<Self> {
        let fine = vectors.grid().clone();
        let coarsening = fine.coarsening(block)?;
        let coarse = coarsening.coarse.clone();
        let limit = block.iter().product::<usize>() * vectors.components() / 2;
        if vectors.nrhs() > limit {
            bail!(
                BadParameter,
                "{} null vectors: an aggregate of {block:?} sites has {limit} components of a chirality",
                vectors.nrhs()
            );
        }
        let (precision, components, n) =
            (vectors.precision(), vectors.components(), vectors.nrhs());
        let tests = CoarseField::new(&coarse, precision, Subset::Full, 2 * n, n)?;
        let vectors = NullVectors::Full(vectors);
        let mut transfer = Transfer {
            fine,
            coarse,
            coarsening,
            precision,
            components,
            n,
            vectors,
            tests,
            bytes: None,
        };
        // By Cholesky's decomposition of the Gram matrices, twice: after the first pass the vectors are orthonormal up
        // to rounding times the condition number of the matrices.
        for pass in 0..2 {
            transfer.orthonormalise(pass)?;
        }
        Ok(transfer)
    }

    /// The null vectors, orthonormal on aggregates, in the precision of fine vectors.
    ///
    /// # Errors
    /// `Internal`: after [`Transfer::shorten`].
    pub fn vectors(&self) -> Result<&CoarseField> {
        match &self.vectors {
            NullVectors::Full(v) => Ok(v),
            _ => bail!(Internal, "null vectors are not kept in the precision of fine vectors"),
        }
    }

    fn orthonormalise(&mut self, pass: usize) -> Result<()> {
        let n = self.n;
        // Gram matrices of each aggregate and chirality; the kernel replaces them by the inverses of their Cholesky
        // factors, and in the first pass writes the factors themselves to `factor`.
        let mut gram = CoarseField::new(&self.coarse, Precision::F64, Subset::Full, 2 * n, n)?;
        let mut factor = if pass == 0 { Some(gram.like(n)?) } else { None };
        self.restrict_onto(&mut gram, self.vectors()?, true)?;
        let double = self.precision == Precision::F64;
        let args = AggregateArgs {
            coarse: gram.ptr(),
            fine: factor.as_ref().map_or(Ptr::NULL, CoarseField::ptr),
            n: n as i32,
            tiny: if double { 1e-24 } else { DEPENDENT },
            ..Default::default()
        };
        let device = self.coarse.device();
        // On a GPU the 32 threads of a warp work on one matrix.
        let work = Work::rows(device, 2 * self.coarse.volume(), 32);
        let sums = device.reduce(kernels::AggregateCholesky(), &args, work)?;
        let mut bad = [sums[0]];
        self.coarse.comm().sum(&mut bad)?;
        if bad[0] != 0.0 {
            bail!(
                BadParameter,
                "null vectors are zero, not finite or depend on each other on an aggregate: {} times in \
                 pass {} of {n} vectors on {} aggregates",
                bad[0],
                pass + 1,
                self.coarse.global_volume()
            );
        }
        // The original vectors are the orthonormal ones times the Cholesky factors.
        if let Some(factor) = factor.take() {
            self.tests.copy_from_columns(0, &factor, 0, n, 0)?;
        }
        if !double {
            // Inverse factors in double precision would not make products in single precision more precise.
            let mut narrow = self.tests.like(n)?;
            narrow.copy_from_columns(0, &gram, 0, n, 0)?;
            gram = narrow;
        }
        self.multiply(&gram)
    }

    /// Multiplies the null vectors of each aggregate by a triangular matrix, in place, some sites at a time.
    fn multiply(&mut self, by: &CoarseField) -> Result<()> {
        let v = self.vectors()?;
        let (device, sites) = (v.device().clone(), self.fine.volume());
        let (precision, site_bytes) = (v.precision(), v.site_bytes());
        let least = PIECE[!device.is_cpu() as usize].div_ceil(site_bytes);
        let some = sites.div_ceil(PIECES).max(least).min(sites);
        let products = device.alloc((some * site_bytes).max(16))?;
        let all = AggregateArgs {
            coarse: by.ptr(),
            fine: products.ptr(),
            upper: 1,
            ..self.args(v, self.coarsening.aggregates.parents.ptr(), self.stored(v))
        };
        let NullVectors::Full(v) = &mut self.vectors else {
            bail!(Internal, "null vectors are kept in 16 bits");
        };
        for first in (0..sites).step_by(some) {
            let count = some.min(sites - first);
            let args = AggregateArgs {
                v: all.v.offset((first * site_bytes) as u64),
                sites: all.sites.offset((first * size_of::<i32>()) as u64),
                ..all
            };
            let bits = LinkPrecision::of(precision);
            launch_prolong(&device, (precision, by.precision()), &args, bits, count)?;
            v.replace_sites(first, count, &products)?;
        }
        Ok(())
    }

    pub fn fine(&self) -> &Arc<CoarseGrid> {
        &self.fine
    }
    pub fn coarse(&self) -> &Arc<CoarseGrid> {
        &self.coarse
    }
    pub fn precision(&self) -> Precision {
        self.precision
    }
    /// Number of complex numbers of a fine site.
    pub fn components(&self) -> usize {
        self.components
    }
    /// Number of null vectors.
    pub fn count(&self) -> usize {
        self.n
    }
    /// Number of components of a coarse site.
    pub fn rows(&self) -> usize {
        2 * self.n
    }
    /// Makes a field of fine vectors on the sites of `subset`.
    pub fn fine_field(&self, subset: Subset, nrhs: usize) -> Result<CoarseField> {
        CoarseField::new(&self.fine, self.precision, subset, self.components, nrhs)
    }
    /// Restrictions of the vectors from which the null vectors were made.
    pub(super) fn tests(&self) -> &CoarseField {
        &self.tests
    }
    /// Columns `first..first + count` of the vectors from which the null vectors were made.
    pub(super) fn originals(&self, first: usize, count: usize) -> Result<CoarseField> {
        let mut tests = self.tests.like(count)?;
        tests.copy_from_columns(0, &self.tests, first, count, 0)?;
        let mut v = self.fine_field(Subset::Full, count)?;
        self.prolong(&mut v, &tests)?;
        Ok(v)
    }

    /// Address of an array that has, for every fine site, the bits of the directions in which a step leaves the
    /// aggregate of the site.
    pub(super) fn faces(&self) -> Ptr {
        self.coarsening.aggregates.faces.ptr()
    }

    /// Number of fine sites of this rank that cycles work on: the even ones where there are parities.
    fn short_sites(&self) -> usize {
        let grid = self.fine();
        if grid.has_parity() {
            grid.even()
        } else {
            grid.volume()
        }
    }

    /// Whether cycles work with null vectors in 8 bits.
    pub(super) fn has_bytes(&self) -> bool {
        self.bytes.is_some()
    }

    /// Frees the null vectors but those in 8 bits, with which cycles go on; vectors on all sites of a lattice with parities
    /// can no longer be restricted or prolonged.
    pub(super) fn keep_bytes(&mut self) {
        if self.has_bytes() {
            self.vectors = NullVectors::Dropped;
        }
    }

    /// Bytes of memory that the null vectors take on this rank.
    pub(super) fn held(&self) -> u64 {
        let stored = match &self.vectors {
            NullVectors::Full(v) => v.site_bytes() * self.fine.volume(),
            NullVectors::Half(numbers) => numbers.bytes(),
            NullVectors::Dropped => 0,
        };
        let bytes = self.bytes.as_ref().map_or(0, |b| b.numbers.bytes() + b.scales.bytes());
        (stored + bytes) as u64
    }

    /// Converts null vectors from single precision to 16 bits and, if `to` is quarter, keeps a copy
    /// in 8 bits on the even sites too (on all sites where there are no parities), for vectors on
    /// these sites. The conversion goes through `host`, which is enlarged if necessary, so that the
    /// device never holds both storages.
    pub fn shorten(&mut self, to: LinkPrecision, host: Option<&mut HostArray>) -> Result<()> {
        let NullVectors::Full(v) = &self.vectors else { return Ok(()) };
        if !to.scaled() || self.precision != Precision::F32 {
            return Ok(());
        }
        let (device, volume) = (v.device().clone(), self.fine.volume());
        let (components, n) = (self.components, self.n);
        if to == LinkPrecision::Quarter {
            let sites = self.short_sites();
            let numbers = device.alloc((2 * sites * components * n).max(16))?;
            let scales = device.alloc((4 * sites * components).max(16))?;
            let args = CoarseShortenArgs {
                inp: v.ptr(),
                out: numbers.ptr(),
                scales: scales.ptr(),
                rows: n as i32,
            };
            let work = Work { n: sites * components, batches: 1, lanes: device.max_lanes() };
            device.launch(kernels::AggregateShortenByte::of(v.precision())?, &args, work)?;
            self.bytes = Some(ByteVectors { numbers, scales });
        }
        let (rows, kernel) = (components * n, kernels::AggregateShorten::of(v.precision())?);
        let shorten = |first: usize, count: usize, out: &Buffer| {
            let inp = v.ptr().offset((first * v.site_bytes()) as u64);
            let args =
                CoarseShortenArgs { inp, out: out.ptr(), rows: rows as i32, ..Default::default() };
            device.launch(kernel, &args, Work::rows(&device, count, rows))
        };
        let bytes = 4 * rows;
        let Some(copy) = host else {
            let numbers = device.alloc((bytes * volume).max(16))?;
            shorten(0, volume, &numbers)?;
            self.vectors = NullVectors::Half(numbers);
            return Ok(());
        };
        let least = PIECE[!device.is_cpu() as usize].div_ceil(bytes);
        let some = volume.div_ceil(PIECES).max(least).min(volume);
        copy.fit(&device, bytes * volume, "null vectors on the host")?;
        let piece = device.alloc((bytes * some).max(16))?;
        for first in (0..volume).step_by(some) {
            let count = some.min(volume - first);
            shorten(first, count, &piece)?;
            copy.take(bytes * first, &piece, 0, bytes * count)?;
        }
        // Vectors in single precision are freed to make room for those in 16 bits.
        self.vectors = NullVectors::Half(piece);
        let mut numbers = device.alloc((bytes * volume).max(16))?;
        copy.give(&mut numbers)?;
        self.vectors = NullVectors::Half(numbers);
        Ok(())
    }

    /// The storage of the null vectors that is used with a fine vector on these sites.
    fn stored(&self, fine: &CoarseField) -> Stored {
        match (&self.bytes, &self.vectors) {
            (Some(b), _) if fine.range().1 == self.short_sites() => {
                (b.numbers.ptr(), b.scales.ptr(), LinkPrecision::Quarter)
            }
            (_, NullVectors::Half(numbers)) => (numbers.ptr(), Ptr::NULL, LinkPrecision::Half),
            (_, NullVectors::Full(v)) => (v.ptr(), Ptr::NULL, LinkPrecision::of(self.precision)),
            // `check` refuses vectors on other sites.
            (_, NullVectors::Dropped) => (Ptr::NULL, Ptr::NULL, LinkPrecision::Quarter),
        }
    }

    /// Number of one-flavour columns in a fine vector: its right-hand sides times its flavours, since every flavour has
    /// the same null vectors.
    fn columns(&self, fine: &CoarseField) -> usize {
        fine.nrhs() * (fine.components() / self.components)
    }

    fn args(&self, fine: &CoarseField, sites: Ptr, (v, scales, _): Stored) -> AggregateArgs {
        AggregateArgs {
            v,
            scales,
            fine: fine.ptr(),
            sites,
            faces: self.faces(),
            m: (self.components / 2) as i32,
            n: self.n as i32,
            columns: self.columns(fine) as i32,
            block: self.coarsening.aggregates.size as i32,
            limit: fine.range().1 as i32,
            ..Default::default()
        }
    }

    fn check(&self, coarse: &CoarseField, fine: &CoarseField) -> Result<()> {
        if matches!(self.vectors, NullVectors::Dropped) && fine.range().1 != self.short_sites() {
            bail!(Internal, "transfer: the null vectors of odd sites were freed");
        }
        let flavours = fine.components() / self.components;
        let fits = *fine.grid() == self.fine
            && *coarse.grid() == self.coarse
            && fine.components() == flavours * self.components
            && fine.precision() == self.precision
            && fine.subset() != Subset::Odd
            && coarse.components() == flavours * self.rows()
            && coarse.subset() == Subset::Full
            && coarse.nrhs() == fine.nrhs();
        if !fits {
            bail!(
                FieldMismatch,
                "transfer: {} fine components in {:?} on {:?} and {} coarse ones, {} and {} right-hand sides",
                fine.components(),
                fine.precision(),
                fine.grid().extents(),
                coarse.components(),
                fine.nrhs(),
                coarse.nrhs()
            );
        }
        Ok(())
    }

    /// coarse = R fine, of one flavour or of several; a fine vector of even sites counts as zero on the others.
    pub fn restrict(&self, coarse: &mut CoarseField, fine: &CoarseField) -> Result<()> {
        self.restrict_onto(coarse, fine, false)
    }

    /// Computes coarse = R fine. With `upper` the columns of `coarse` form a square matrix for each site and chirality,
    /// of which only the elements on and above the diagonal are needed.
    fn restrict_onto(
        &self,
        coarse: &mut CoarseField,
        fine: &CoarseField,
        upper: bool,
    ) -> Result<()> {
        self.check(coarse, fine)?;
        let args = AggregateArgs {
            coarse: coarse.ptr(),
            upper: upper as i32,
            step_site: (self.rows() * self.columns(fine)) as i64,
            step_row: self.columns(fine) as i64,
            step_column: 1,
            ..self.args(fine, self.coarsening.aggregates.sites.ptr(), self.stored(fine))
        };
        self.launch_restrict(fine, coarse.precision(), &args)
    }

    fn launch_restrict(
        &self,
        fine: &CoarseField,
        to: Precision,
        args: &AggregateArgs,
    ) -> Result<()> {
        let (device, bits) = (self.coarse.device(), self.stored(fine).2);
        let (n, columns, gpu) = (self.n, self.columns(fine), !device.is_cpu());
        let each = match args.upper {
            0 => self.rows() * groups(columns),
            _ => columns * (groups(columns) + 1),
        };
        let (several, some) = (AGGREGATE_COLUMNS as usize, AGGREGATE_VECTORS as usize);
        // A thread that takes several null vectors loads fewer numbers, but there must be enough threads.
        let enough = self.coarse.volume() * each / some >= ENOUGH_THREADS;
        let vectors = match columns {
            _ if !gpu => 1,
            1 if bits == LinkPrecision::Quarter && n.is_multiple_of(2) => 2,
            _ if columns.is_multiple_of(several) && n.is_multiple_of(some) && enough => some,
            _ => 1,
        };
        let args = &AggregateArgs { vectors: vectors as i32, ..*args };
        let mut work = Work::rows(device, self.coarse.volume(), each / vectors);
        if device.is_cpu() {
            work.n *= 2; // either chirality
        }
        let from = fine.precision();
        match bits {
            LinkPrecision::Quarter => {
                device.launch(kernels::AggregateRestrictByte::of(from, to)?, args, work)
            }
            LinkPrecision::Half => {
                device.launch(kernels::AggregateRestrictShort::of(from, to)?, args, work)
            }
            _ => device.launch(kernels::AggregateRestrict::of(from, to)?, args, work),
        }
    }

    /// Computes columns of the matrices [site][column][row] at address `to`, which lie `step`
    /// numbers apart: R applied to the fine sites that have a neighbour in another aggregate in
    /// direction `face`, or to all sites.
    pub(super) fn restrict_columns(
        &self,
        to: Ptr,
        precision: Precision,
        step: usize,
        first: usize,
        fine: &CoarseField,
        face: Option<usize>,
    ) -> Result<()> {
        let rows = self.rows();
        let args = AggregateArgs {
            coarse: to.offset((first * rows * 2 * precision.bytes()) as u64),
            step_site: step as i64,
            step_row: 1,
            step_column: rows as i64,
            face: face.map_or(0, |d| 1 << d),
            ..self.args(fine, self.coarsening.aggregates.sites.ptr(), self.stored(fine))
        };
        self.launch_restrict(fine, precision, &args)
    }

    /// fine = P coarse on the sites that fine has: all or even ones.
    pub fn prolong(&self, fine: &mut CoarseField, coarse: &CoarseField) -> Result<()> {
        self.check(coarse, fine)?;
        let stored = self.stored(fine);
        let args = AggregateArgs {
            coarse: coarse.ptr(),
            ..self.args(fine, self.coarsening.aggregates.parents.ptr(), stored)
        };
        let precisions = (fine.precision(), coarse.precision());
        launch_prolong(self.coarse.device(), precisions, &args, stored.2, fine.range().1)
    }
}

/// Launches the kernel of fine = P coarse on this number of sites.
fn launch_prolong(
    device: &Device,
    (to, from): (Precision, Precision),
    args: &AggregateArgs,
    bits: LinkPrecision,
    sites: usize,
) -> Result<()> {
    // In double precision it is faster if a thread takes one column.
    let single = to == Precision::F32 && from == Precision::F32;
    let (together, some) = (AGGREGATE_COLUMNS as usize, AGGREGATE_ROWS as usize);
    let (components, columns) = (2 * args.m as usize, args.columns as usize);
    let tiled = columns.is_multiple_of(together) && (components / 2).is_multiple_of(some);
    let each = match single {
        true if tiled => components / some * (columns / together),
        true => components * groups(columns),
        false => components * columns,
    };
    let work = Work::rows(device, sites, each);
    match bits {
        LinkPrecision::Quarter => {
            device.launch(kernels::AggregateProlongByte::of(to, from)?, args, work)
        }
        LinkPrecision::Half => {
            device.launch(kernels::AggregateProlongShort::of(to, from)?, args, work)
        }
        _ => device.launch(kernels::AggregateProlong::of(to, from)?, args, work),
    }
}
