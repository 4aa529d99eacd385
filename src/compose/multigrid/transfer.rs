//! Restriction and prolongation between a level and the next coarser one: null vectors cut into
//! aggregates and chiralities and made orthonormal there (Clark et al., arXiv:1612.07873, section 3.4).

use std::sync::Arc;

use crate::backend::args::{
    AggregateArgs, CoarseShortenArgs, AGGREGATE_COLUMNS, AGGREGATE_ROWS, AGGREGATE_VECTORS,
};
use crate::backend::{kernels, Buffer, Ptr, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::{CoarseField, CoarseGrid, Coarsening, Precision, Subset};
use crate::operators::LinkPrecision;

/// |v|^2 of which nothing but rounding is left where those before it are taken out.
const DEPENDENT: f64 = 1e-11;

/// A GPU's threads that hide each other's waits.
const ENOUGH_THREADS: usize = 1 << 16;

/// Columns of a field that threads of a GPU have.
fn groups(columns: usize) -> usize {
    let together = AGGREGATE_COLUMNS as usize;
    if columns.is_multiple_of(together) {
        columns / together
    } else {
        columns
    }
}

/// Bytes of null vectors in few bits.
pub(super) fn short_vectors(to: LinkPrecision, sites: u64, components: u64, vectors: u64) -> u64 {
    let scale = if to == LinkPrecision::Quarter { 4 } else { 0 };
    sites * components * (2 * to.bytes() as u64 * vectors + scale)
}

/// P, whose columns are orthonormal, and R = P^dagger.
#[derive(Debug)]
pub struct Transfer {
    coarse: Arc<CoarseGrid>,
    coarsening: Arc<Coarsening>,
    /// Null vectors as the right-hand sides of a field on all fine sites.
    vectors: CoarseField,
    /// The vectors that they were made of, restricted: coarse null vectors, and prolonged themselves.
    tests: CoarseField,
    /// The null vectors in few bits on the sites that cycles work on.
    short: Option<Short>,
}

/// Null vectors in 16 bits, or in 8 with a scale for each component of a site.
#[derive(Debug)]
struct Short {
    numbers: Buffer,
    scales: Option<Buffer>,
}

impl Short {
    fn scales(&self) -> Ptr {
        self.scales.as_ref().map_or(Ptr::NULL, Buffer::ptr)
    }
}

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
        let room = block.iter().product::<usize>() * vectors.components() / 2;
        if vectors.nrhs() > room {
            bail!(
                BadParameter,
                "{} null vectors: an aggregate of {block:?} sites has {room} components of a chirality",
                vectors.nrhs()
            );
        }
        let n = vectors.nrhs();
        let tests = CoarseField::new(&coarse, vectors.precision(), Subset::Full, 2 * n, n)?;
        let mut transfer = Transfer { coarse, coarsening, vectors, tests, short: None };
        // By Cholesky's decomposition of the Gram matrices, twice: the first time leaves an error of
        // rounding times their condition.
        for pass in 0..2 {
            transfer.orthonormalise(pass)?;
        }
        Ok(transfer)
    }

    fn orthonormalise(&mut self, pass: usize) -> Result<()> {
        let n = self.vectors.nrhs();
        let mut gram = CoarseField::new(&self.coarse, Precision::F64, Subset::Full, 2 * n, n)?;
        // Hermitian matrices, then triangular ones.
        self.restrict_onto(&mut gram, &self.vectors, true)?;
        let double = self.vectors.precision() == Precision::F64;
        let args = AggregateArgs {
            coarse: gram.ptr(),
            n: n as i32,
            tiny: if double { 1e-24 } else { DEPENDENT },
            ..Default::default()
        };
        let device = self.coarse.device();
        let work = Work { n: 2 * self.coarse.volume(), batches: 1, lanes: device.max_lanes() };
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
        if !double {
            // Products in double would not be better than what they are stored in.
            let mut narrow = self.tests.like(n)?;
            narrow.take_columns(0, &gram, 0, n, 0)?;
            gram = narrow;
        }
        let mut new = self.vectors.like(n)?;
        self.spread(&mut new, &gram, None, true)?;
        drop(gram);
        let old = std::mem::replace(&mut self.vectors, new);
        if pass == 0 {
            let mut tests = self.tests.like(n)?;
            self.restrict(&mut tests, &old)?;
            self.tests = tests;
        }
        Ok(())
    }

    pub fn fine(&self) -> &Arc<CoarseGrid> {
        self.vectors.grid()
    }
    pub fn coarse(&self) -> &Arc<CoarseGrid> {
        &self.coarse
    }
    /// The null vectors, orthonormal on aggregates.
    pub fn vectors(&self) -> &CoarseField {
        &self.vectors
    }
    /// The vectors that they were made of, restricted.
    pub(super) fn tests(&self) -> &CoarseField {
        &self.tests
    }
    /// The vectors that they were made of.
    pub(super) fn originals(&self) -> Result<CoarseField> {
        let mut v = self.vectors.like(self.vectors.nrhs())?;
        self.spread(&mut v, &self.tests, None, false)?;
        Ok(v)
    }

    /// For every fine site the bits of the directions in which a step leaves the aggregate.
    pub(super) fn faces(&self) -> Ptr {
        self.coarsening.aggregates.faces.ptr()
    }

    /// Sites that cycles work on: even ones where there are both.
    fn short_sites(&self) -> usize {
        let grid = self.fine();
        if grid.has_parity() {
            grid.even()
        } else {
            grid.volume()
        }
    }

    /// Bytes of the null vectors in few bits.
    pub(super) fn short_bytes(&self) -> u64 {
        let Some(short) = &self.short else { return 0 };
        let to = if short.scales.is_some() { LinkPrecision::Quarter } else { LinkPrecision::Half };
        let (sites, v) = (self.short_sites() as u64, &self.vectors);
        short_vectors(to, sites, v.components() as u64, v.nrhs() as u64)
    }

    /// Has restriction and prolongation of vectors in single precision, on even sites where there are both
    /// parities, read null vectors in 16 or 8 bits; all others are as they were.
    pub fn shorten(&mut self, to: LinkPrecision) -> Result<()> {
        let (device, sites, v) = (self.vectors.device().clone(), self.short_sites(), &self.vectors);
        let (components, n) = (v.components(), v.nrhs());
        let numbers = device.alloc((2 * to.bytes() * sites * components * n).max(16))?;
        let args = CoarseShortenArgs { inp: v.ptr(), out: numbers.ptr(), ..Default::default() };
        let scales = match to {
            LinkPrecision::Quarter => {
                let scales = device.alloc((4 * sites * components).max(16))?;
                let args = CoarseShortenArgs { scales: scales.ptr(), rows: n as i32, ..args };
                let work = Work { n: sites * components, batches: 1, lanes: device.max_lanes() };
                device.launch(kernels::AggregateShortenByte::of(v.precision())?, &args, work)?;
                Some(scales)
            }
            _ => {
                let rows = components * n;
                let args = CoarseShortenArgs { rows: rows as i32, ..args };
                let kernel = kernels::AggregateShorten::of(v.precision())?;
                device.launch(kernel, &args, Work::rows(&device, sites, rows))?;
                None
            }
        };
        self.short = Some(Short { numbers, scales });
        Ok(())
    }

    fn short_for(&self, fine: &CoarseField) -> Option<&Short> {
        self.short.as_ref().filter(|_| fine.range().1 == self.short_sites())
    }
    /// Components of a coarse site.
    pub fn rows(&self) -> usize {
        2 * self.vectors.nrhs()
    }

    fn args(&self, fine: &CoarseField, sites: Ptr, short: Option<&Short>) -> AggregateArgs {
        AggregateArgs {
            v: short.map_or(self.vectors.ptr(), |short| short.numbers.ptr()),
            scales: short.map_or(Ptr::NULL, Short::scales),
            fine: fine.ptr(),
            sites,
            faces: self.faces(),
            m: (fine.components() / 2) as i32,
            n: self.vectors.nrhs() as i32,
            columns: fine.nrhs() as i32,
            block: self.coarsening.aggregates.size as i32,
            limit: fine.range().1 as i32,
            ..Default::default()
        }
    }

    fn check(&self, coarse: &CoarseField, fine: &CoarseField) -> Result<()> {
        let fits = *fine.grid() == *self.fine()
            && *coarse.grid() == self.coarse
            && fine.components() == self.vectors.components()
            && fine.precision() == self.vectors.precision()
            && fine.subset() != Subset::Odd
            && coarse.components() == self.rows()
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

    /// coarse = R fine; a fine vector of even sites counts as zero on the others.
    pub fn restrict(&self, coarse: &mut CoarseField, fine: &CoarseField) -> Result<()> {
        self.restrict_onto(coarse, fine, false)
    }

    /// The same; `upper`: of the columns of either chirality the part on and above the diagonal will do.
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
            step_site: (self.rows() * fine.nrhs()) as i64,
            step_row: fine.nrhs() as i64,
            step_column: 1,
            ..self.args(fine, self.coarsening.aggregates.sites.ptr(), self.short_for(fine))
        };
        self.launch_restrict(fine, coarse.precision(), &args, self.short_for(fine))
    }

    fn launch_restrict(
        &self,
        fine: &CoarseField,
        to: Precision,
        args: &AggregateArgs,
        short: Option<&Short>,
    ) -> Result<()> {
        let device = self.coarse.device();
        let (n, columns, gpu) = (self.vectors.nrhs(), fine.nrhs(), !device.is_cpu());
        let each = match args.upper {
            0 => self.rows() * groups(columns),
            _ => columns * (groups(columns) + 1),
        };
        let (several, some) = (AGGREGATE_COLUMNS as usize, AGGREGATE_VECTORS as usize);
        // More vectors of a thread take fewer loads, but there must be threads enough.
        let enough = self.coarse.volume() * each / some >= ENOUGH_THREADS;
        let bytes = short.is_some_and(|short| short.scales.is_some());
        let vectors = match columns {
            _ if !gpu => 1,
            1 if bytes && n.is_multiple_of(2) => 2,
            _ if columns.is_multiple_of(several) && n.is_multiple_of(some) && enough => some,
            _ => 1,
        };
        let args = &AggregateArgs { vectors: vectors as i32, ..*args };
        let mut work = Work::rows(device, self.coarse.volume(), each / vectors);
        if device.is_cpu() {
            work.n *= 2; // either chirality
        }
        let from = fine.precision();
        match short {
            Some(_) if bytes => {
                device.launch(kernels::AggregateRestrictByte::of(from, to)?, args, work)
            }
            Some(_) => device.launch(kernels::AggregateRestrictShort::of(from, to)?, args, work),
            None => device.launch(kernels::AggregateRestrict::of(from, to)?, args, work),
        }
    }

    /// Columns of matrices [site][column][row] at `to`, `step` numbers apart: R of fine sites that face
    /// another aggregate in direction `face`, or of all.
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
            ..self.args(fine, self.coarsening.aggregates.sites.ptr(), None)
        };
        self.launch_restrict(fine, precision, &args, None)
    }

    /// fine = P coarse, on the sites that it has: all or even ones.
    pub fn prolong(&self, fine: &mut CoarseField, coarse: &CoarseField) -> Result<()> {
        let short = self.short_for(fine);
        self.spread(fine, coarse, short, false)
    }

    fn spread(
        &self,
        fine: &mut CoarseField,
        coarse: &CoarseField,
        short: Option<&Short>,
        upper: bool,
    ) -> Result<()> {
        self.check(coarse, fine)?;
        let args = AggregateArgs {
            coarse: coarse.ptr(),
            upper: upper as i32,
            ..self.args(fine, self.coarsening.aggregates.parents.ptr(), short)
        };
        let device = self.coarse.device();
        // In double one column of a thread is faster.
        let single = fine.precision() == Precision::F32 && coarse.precision() == Precision::F32;
        let (together, some) = (AGGREGATE_COLUMNS as usize, AGGREGATE_ROWS as usize);
        let components = fine.components();
        let tiled = fine.nrhs().is_multiple_of(together) && (components / 2).is_multiple_of(some);
        let each = match single {
            true if tiled => components / some * (fine.nrhs() / together),
            true => components * groups(fine.nrhs()),
            false => components * fine.nrhs(),
        };
        let work = Work::rows(device, fine.range().1, each);
        let (to, from) = (fine.precision(), coarse.precision());
        match short {
            Some(Short { scales: Some(_), .. }) => {
                device.launch(kernels::AggregateProlongByte::of(to, from)?, &args, work)
            }
            Some(_) => device.launch(kernels::AggregateProlongShort::of(to, from)?, &args, work),
            None => device.launch(kernels::AggregateProlong::of(to, from)?, &args, work),
        }
    }
}
