//! Sources of propagators: points, walls and volumes with momentum and noise; sequential sources.

use std::sync::Arc;

use crate::backend::args::{self, SourceArgs, SpinPhaseArgs};
use crate::backend::{kernels, External};
use crate::bail;
pub use crate::compose::COLUMNS;
use crate::error::{host_array, words, Result};
use crate::fields::{
    BoundaryKind, Components, GammaBasis, Geometry, Layout, Noise, Precision, RhsOrder,
    SpinorField, Subset,
};
use crate::params::{choices, parameters, row_set, Choice as _, Parameters as _, Set};
use crate::refuse;

use super::gamma::Gamma;

/// The sites on which a source is not zero. Coordinates x, y, z, t are those of the whole lattice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SourceSites {
    /// A single site.
    Point,
    /// All sites of a time slice, without smearing. Hadrons from such a source require links in a fixed gauge
    /// (Coulomb) or noise; otherwise only gauge-invariant contributions survive the average.
    Wall,
    /// All sites of the lattice.
    Volume,
}

words!(SourceSites {
    Point => "PLAQ_SOURCE_POINT",
    Wall => "PLAQ_SOURCE_WALL",
    Volume => "PLAQ_SOURCE_VOLUME",
});

choices! {
    /// The sites on which a source is not zero.
    names SourceSites: plaq_source {
        /// A single site.
        Point = 0, PLAQ_SOURCE_POINT, "point";
        /// All sites of a time slice; with momentum 0 and without noise the links must be in a fixed gauge.
        Wall = 1, PLAQ_SOURCE_WALL, "wall";
        /// All sites of the lattice.
        Volume = 2, PLAQ_SOURCE_VOLUME, "volume";
    }
}

choices! {
    /// Indices in which noise is diluted, as bits.
    pub enum Dilute: plaq_dilute {
        /// A separate noise vector for each spin.
        Spin = 1, PLAQ_DILUTE_SPIN, "spin";
        /// A separate noise vector for each colour.
        Colour = 2, PLAQ_DILUTE_COLOUR, "colour";
        /// Separate noise vectors for even and odd sites.
        Parity = 4, PLAQ_DILUTE_PARITY, "parity";
        /// A separate noise vector for the time slices t = k mod time_parts, for each k; for PLAQ_SOURCE_VOLUME.
        Time = 8, PLAQ_DILUTE_TIME, "time";
    }
}

row_set! {
    column_rows {
        /// Number of the first column; those before it are left out.
        first: usize = 0, within(0, i32::MAX as i64);
        /// Largest number of columns, beginning with column `first`; 0: all columns of the source from `first` on.
        count: Option<usize> = None, within(1, i32::MAX as i64), absent("all");
    }
}

row_set! {
    noise_seed_row {
        /// Seed of the noise; the noise is the same on any number of ranks.
        seed: u64 = 0;
    }
}

parameters! {
    /// Source of a propagator, with columns exp(i p (x - position)) eta(x) where eta is 1 or noise. Without noise a
    /// column has one spin and colour, number 3 spin + colour. Noise diluted in spin (colour) has one spin (colour)
    /// in a column, and columns of a vector share their numbers. Columns are numbered with colour fastest, then spin,
    /// parity (even, odd), part of the time slices and noise vector. plaq_spinor_smear smears the columns.
    pub composed struct SourceParams: plaq_source_params {
        /// Sites on which the source is not zero.
        kind: SourceSites = SourceSites::Point;
        /// Noise at these sites; 0: all numbers are 1.
        noise: Option<Noise> = None, absent("none");
        /// Coordinates x, y, z, t of a point. For a wall t is its time slice, and at x, y, z the momentum's phase is
        /// 1.
        position: [usize; 4] = [0; 4], within(0, i32::MAX as i64);
        /// Integer momentum n: p_mu = 2 pi n_mu / L_mu.
        momentum: [i32; 4] = [0; 4];
        /// Number of noise vectors; vector k is that of plaq_spinor_noise with first = k.
        vectors: usize = 1, within(1, 1 << 20);
        /// Indices in which noise is diluted, any of PLAQ_DILUTE_SPIN, PLAQ_DILUTE_COLOUR, PLAQ_DILUTE_PARITY and
        /// PLAQ_DILUTE_TIME together.
        dilute: Set<Dilute> = Set::NONE;
        /// The only spin whose component is not zero; -1: all spins.
        spin: Option<usize> = None, within(0, 3), absent("all");
        /// The only colour whose component is not zero; -1: all colours.
        colour: Option<usize> = None, within(0, 2), absent("all");
        with column_rows;
        /// Number of parts of the time slices with PLAQ_DILUTE_TIME, else 0. If it is the lattice's T each part is
        /// one slice; for a divisor of T a part is every time_parts-th slice.
        time_parts: usize = 0, within(0, 1 << 20);
        with noise_seed_row;
    }
}

impl SourceParams {
    /// Makes the source; in messages names of members follow `argument`.
    ///
    /// # Errors
    /// `InvalidArgument`: parts of the time slices without dilution in time, or such a dilution of other sites than
    /// all.
    pub fn source(&self, argument: &str) -> Result<Source> {
        self.check_rows(argument)?;
        let in_time = self.dilute.contains(Dilute::Time);
        if in_time != (self.time_parts > 0) {
            refuse!(
                InvalidArgument,
                "{argument}.time_parts",
                expected("a divisor of the lattice's T with PLAQ_DILUTE_TIME, 0 without"),
                found("{}", self.time_parts)
            );
        }
        if in_time && self.kind != SourceSites::Volume {
            bail!(InvalidArgument, "{argument}.dilute: PLAQ_DILUTE_TIME is for PLAQ_SOURCE_VOLUME");
        }
        let dilute = [Dilute::Spin, Dilute::Colour, Dilute::Parity];
        Ok(Source {
            place: self.kind,
            position: self.position,
            momentum: self.momentum,
            noise: self.noise,
            seed: self.seed,
            vectors: self.vectors,
            dilute: dilute.map(|index| self.dilute.contains(index)),
            time_parts: self.time_parts.max(1),
            spin: self.spin,
            colour: self.colour,
            first: self.first,
            count: self.count,
        })
    }
}

parameters! {
    /// Parameters of sequential sources delta(t, time) exp(i p (x - x0)) Gamma psi(x).
    pub struct SequentialParams: plaq_sequential_params {
        /// Time of the sink, counted from the source, 0 to T - 1; -1: all time slices.
        time: Option<usize> = None, within(0, i32::MAX as i64), absent("all");
        /// Number of Gamma as plaq_gamma counts it.
        gamma: usize = 15, within(0, 15);
        /// Integer momentum n: p_i = 2 pi n_i / L_i.
        momentum: [i32; 3] = [0; 3];
        /// Position x0 of the source: `time` is counted from its t, and the momentum's phase is 1 at its x, y, z. -1:
        /// the position that the field records (plaq_spinor_origin).
        position: [Option<usize>; 4] = [None; 4], within(0, i32::MAX as i64), absent("unknown");
        /// Boundaries in time of the field's links, beyond which there is no sink; 0: those that the field records.
        boundary_time: Option<BoundaryKind> = None;
    }
}

/// A source whose columns are exp(i p (x - position)) eta(x) on its sites, with p_mu = 2 pi momentum_mu / L_mu and
/// eta = 1 or noise.
///
/// Without noise a column has one spin and colour, number 3 spin + colour. Noise vectors have
/// independent components, those of `SpinorField::set_noise` for the same seed and number, with
/// <eta_i^* eta_j> = delta_ij. Diluted in spin (colour) a column has one spin (colour), and columns of a vector
/// share the numbers of spin (colour) 0, as the one-end trick wants it (Foster and Michael, Phys. Rev.
/// D 59, 074503). Diluted in time (Foley et al., Comput. Phys. Commun. 172, 145) column k of `time_parts`
/// has the time slices t = k mod time_parts. Columns are numbered with colour fastest, then spin, parity
/// (even, odd), part of the time slices and the vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    pub place: SourceSites,
    /// Position of the source. For a wall only t matters; x, y, z is the point at which the momentum's phase is 1.
    pub position: [usize; 4],
    pub momentum: [i32; 4],
    pub noise: Option<Noise>,
    pub seed: u64,
    /// Number of noise vectors.
    pub vectors: usize,
    /// Whether noise is diluted in spin, in colour and in parity.
    pub dilute: [bool; 3],
    /// Number of parts into which noise is diluted in time, a divisor of the lattice's T; T: each part has one time
    /// slice, 1: not diluted.
    pub time_parts: usize,
    /// The only spin whose component is not zero; None: all spins.
    pub spin: Option<usize>,
    /// The only colour whose component is not zero; None: all colours.
    pub colour: Option<usize>,
    /// Number of the column that comes first.
    pub first: usize,
    /// Largest number of columns, from `first` on; None: all.
    pub count: Option<usize>,
}

impl Source {
    fn of(place: SourceSites, position: [usize; 4]) -> Self {
        Source {
            place,
            position,
            momentum: [0; 4],
            noise: None,
            seed: 0,
            vectors: 1,
            dilute: [false; 3],
            time_parts: 1,
            spin: None,
            colour: None,
            first: 0,
            count: None,
        }
    }

    /// A source of twelve columns, one for each spin and colour, on one site.
    pub fn point(position: [usize; 4]) -> Self {
        Self::of(SourceSites::Point, position)
    }

    /// A source of twelve columns, one for each spin and colour, on all sites of a time slice.
    pub fn wall(time: usize) -> Self {
        Self::of(SourceSites::Wall, [0, 0, 0, time])
    }

    /// A source of twelve columns, one for each spin and colour, on all sites.
    pub fn volume() -> Self {
        Self::of(SourceSites::Volume, [0; 4])
    }

    /// The time slice of the source; 0 for a volume.
    pub fn time(&self) -> usize {
        self.position[3]
    }

    fn diluted(&self) -> [bool; 3] {
        if self.noise.is_some() {
            self.dilute
        } else {
            [true, true, false]
        }
    }

    /// Number of columns from `first` on, at most `count`.
    pub fn columns(&self) -> usize {
        let [spin, colour, parity] = self.diluted();
        let one = |diluted: bool, fixed: Option<usize>, n| {
            if diluted && fixed.is_none() {
                n
            } else {
                1
            }
        };
        let vectors = if self.noise.is_some() { self.vectors * self.time_parts } else { 1 };
        let all = vectors * one(parity, None, 2) * one(spin, self.spin, 4);
        let left = (all * one(colour, self.colour, 3)).saturating_sub(self.first);
        left.min(self.count.unwrap_or(left))
    }

    /// Refuses a source that has no columns on a lattice of these extents.
    fn check(&self, extents: [usize; 4]) -> Result<()> {
        let position = self.position;
        if position.iter().zip(extents).any(|(&x, l)| x >= l) {
            bail!(InvalidArgument, "position: {position:?} is outside of the lattice {extents:?}");
        }
        check_momentum(self.momentum)?;
        if let Some(spin) = self.spin.filter(|s| *s > 3) {
            refuse!(InvalidArgument, "source: spin", expected("0 to 3"), found("{spin}"));
        }
        if let Some(colour) = self.colour.filter(|c| *c > 2) {
            refuse!(InvalidArgument, "source: colour", expected("0 to 2"), found("{colour}"));
        }
        if self.noise.is_none() && (self.dilute != [false; 3] || self.vectors != 1) {
            bail!(InvalidArgument, "source: dilution and several vectors are for noise");
        }
        if !(1..=1 << 20).contains(&self.vectors) {
            refuse!(
                InvalidArgument,
                "source: noise vectors",
                expected("1 to 2^20"),
                found("{}", self.vectors)
            );
        }
        let parts = self.time_parts;
        if parts == 0 || !extents[3].is_multiple_of(parts) {
            refuse!(
                InvalidArgument,
                "source: parts of a dilution in time",
                expected("a divisor of the lattice's T, {}", extents[3]),
                found("{parts}")
            );
        }
        if parts > 1 && (self.noise.is_none() || self.place != SourceSites::Volume) {
            bail!(InvalidArgument, "source: dilution in time is for noise on the whole volume");
        }
        if self.columns() == 0 {
            bail!(InvalidArgument, "source: the first column, {}, is behind the last", self.first);
        }
        Ok(())
    }

    /// Sets right-hand side k of `b` to column `first` + k.
    ///
    /// # Errors
    /// `FieldMismatch`: not spinors on the full lattice, or more right-hand sides than columns;
    /// `InvalidArgument`: the source lies outside the lattice, or its members contradict each other.
    pub fn set(&self, b: &mut SpinorField) -> Result<()> {
        check_spinors(b, "source")?;
        self.check(b.geometry().global_extents())?;
        if b.nrhs() > self.columns() {
            refuse!(
                FieldMismatch,
                "source",
                expected("at most {} right-hand sides, its columns", self.columns()),
                found("{}", b.nrhs())
            );
        }
        let [spin, colour, parity] = self.diluted();
        let dilute = spin as i32 * args::DILUTE_SPIN
            + colour as i32 * args::DILUTE_COLOUR
            + parity as i32 * args::DILUTE_PARITY
            + (self.time_parts > 1) as i32 * args::DILUTE_TIME;
        let args = SourceArgs {
            geom: b.geometry().args(),
            out: b.view(),
            position: self.position.map(|x| x as i32),
            places: match self.place {
                SourceSites::Point => 15,
                SourceSites::Wall => 8,
                SourceSites::Volume => 0,
            },
            moving: (self.momentum != [0; 4]) as i32,
            momentum: self.momentum,
            noise: self.noise.map_or(-1, Noise::purpose),
            dilute,
            time_parts: self.time_parts as i32,
            spin: self.spin.map_or(-1, |s| s as i32),
            colour: self.colour.map_or(-1, |c| c as i32),
            first: self.first as i32,
            seed: self.seed,
        };
        b.device().launch(kernels::Source(b.precision()), &args, b.work())
    }
}

/// Makes the source of a second solve from the solution of a first one (Martinelli, Sachrajda, Nucl. Phys. B 316
/// (1989) 355).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sequential {
    /// Time slice of the lattice with the sink; None: all time slices.
    pub time: Option<usize>,
    pub gamma: Gamma,
    /// Integer momentum: p_i = 2 pi momentum_i / L_i.
    pub momentum: [i32; 3],
    /// Coordinates x, y, z at which the momentum's phase is 1.
    pub origin: [usize; 3],
}

impl Sequential {
    /// This sequential source, whose time is counted from the source, for the source at `position`.
    ///
    /// # Errors
    /// Errors of [`slice_after`].
    pub fn from_source(self, position: [usize; 4], geometry: &Geometry) -> Result<Sequential> {
        let ([x, y, z, start], times) = (position, geometry.global_extents()[3]);
        let slice = |time| slice_after(geometry.boundary().kind(), start, time as i64, times);
        let time = self.time.map(slice).transpose()?.map(|(slice, _)| slice);
        Ok(Sequential { time, origin: [x, y, z], ..self })
    }

    /// Computes out(x) = delta(t, time) exp(i p (x - origin)) Gamma psi(x) for every right-hand side.
    ///
    /// # Errors
    /// `FieldMismatch`: other lattices, precisions or numbers of right-hand sides; `Unsupported`: half
    /// precision; `InvalidArgument`: a time or an origin outside of the lattice.
    pub fn set(&self, out: &mut SpinorField, psi: &SpinorField) -> Result<()> {
        check_spinors(psi, "from")?;
        psi.check_like(out, "to")?;
        if psi.precision() != out.precision() {
            refuse!(
                FieldMismatch,
                "to",
                expected("the precision of the other field"),
                found("another one")
            );
        }
        if psi.precision() == Precision::F16 {
            refuse!(
                Unsupported,
                "from",
                expected("a field in single or double precision"),
                found("half")
            );
        }
        let extents = psi.geometry().global_extents();
        let [x, y, z] = self.origin;
        let position = [x, y, z, self.time.unwrap_or(0)];
        if position.iter().zip(extents).any(|(&x, l)| x >= l) {
            bail!(
                InvalidArgument,
                "origin, time: {position:?} is outside of the lattice {extents:?}"
            );
        }
        let [px, py, pz] = self.momentum;
        check_momentum([px, py, pz, 0])?;
        let (column, phase) = self.gamma.matrix().to_kernel();
        let args = SpinPhaseArgs {
            geom: psi.geometry().args(),
            out: out.view(),
            inp: psi.view(),
            position: position.map(|x| x as i32),
            places: if self.time.is_some() { 8 } else { 0 },
            momentum: [px, py, pz, 0],
            column,
            phase,
        };
        psi.device().launch(kernels::SpinPhase::of(psi.precision())?, &args, psi.work())
    }
}

/// The slice of the lattice at `time` after slice `start`, that of the source, and whether it lies beyond the lattice's
/// end. `times`: the lattice's extent in time.
///
/// # Errors
/// `InvalidArgument`: a time that is not 0 to T - 1, or with boundaries in time one at or behind the upper boundary.
pub fn slice_after(
    boundary: BoundaryKind,
    start: usize,
    time: i64,
    times: usize,
) -> Result<(usize, bool)> {
    if start >= times {
        refuse!(
            InvalidArgument,
            "position",
            expected("t from 0 to {}", times - 1),
            found("{start}")
        );
    }
    let (last, why) = match boundary {
        BoundaryKind::Periodic => (times - 1, String::new()),
        _ => {
            let quarks = (start..times).rev().find(|&t| !boundary.vanishes(t, times));
            let word = boundary.word();
            let why = format!(
                " from the source at t = {start}, with boundary_time {word} at the lattice's end"
            );
            (quarks.map_or(0, |quarks| quarks - start), why)
        }
    };
    match usize::try_from(time) {
        Ok(time) if time <= last => Ok(((start + time) % times, start + time >= times)),
        _ => refuse!(InvalidArgument, "time", expected("0 to {last}{why}"), found("{time}")),
    }
}

/// Refuses fields that are not spinors on both parities.
pub(crate) fn check_spinors(field: &SpinorField, what: &str) -> Result<()> {
    let spinors = (field.components(), field.order()) == (Components::SPINOR, RhsOrder::Slowest);
    if !spinors || field.subset() != Subset::Full {
        refuse!(
            FieldMismatch,
            "{what}",
            expected("spinors on the full lattice"),
            found(
                "{} x {} components on {} sites",
                field.components().spins,
                field.components().colours,
                field.subset()
            )
        );
    }
    Ok(())
}

/// The coordinates, for each direction, at which fields are not zero.
pub(crate) struct Support {
    geometry: Arc<Geometry>,
    /// Number of sites that are not zero, for every coordinate x, then every y, z and t of the whole lattice.
    counts: Vec<f64>,
}

impl Support {
    pub(crate) fn new(geometry: &Arc<Geometry>) -> Support {
        let counts = vec![0.0; geometry.global_extents().iter().sum()];
        Support { geometry: geometry.clone(), counts }
    }

    /// Adds a field's numbers on this rank, x fastest, the same count for each site. Returns false if no coordinate
    /// remains that all non-zero sites share, so that further fields need not be added. All ranks call this.
    pub(crate) fn add(&mut self, numbers: &[f64]) -> Result<bool> {
        let (local, whole) = (self.geometry.extents(), self.geometry.global_extents());
        let (origin, mut mine) = (self.geometry.origin(), vec![0.0; self.counts.len()]);
        let of_site = numbers.len() / local.iter().product::<usize>();
        for (site, values) in numbers.chunks_exact(of_site).enumerate() {
            if values.iter().all(|x| *x == 0.0) {
                continue;
            }
            let (mut remainder, mut first) = (site, 0);
            for mu in 0..4 {
                mine[first + origin[mu] + remainder % local[mu]] += 1.0;
                remainder /= local[mu];
                first += whole[mu];
            }
        }
        self.geometry.comm().sum(&mut mine)?;
        self.counts.iter_mut().zip(mine).for_each(|(all, n)| *all += n);
        Ok(self.position() != [None; 4] || self.counts.iter().all(|n| *n == 0.0))
    }

    /// For each direction the coordinate x, y, z, t that all non-zero sites share; `None` if there are several, or no
    /// non-zero site.
    pub(crate) fn position(&self) -> [Option<usize>; 4] {
        let mut first = 0;
        self.geometry.global_extents().map(|l| {
            let counts = &self.counts[first..first + l];
            first += l;
            let mut found = (0..l).filter(|&x| counts[x] > 0.0);
            found.next().filter(|_| found.next().is_none())
        })
    }
}

/// For each direction the coordinate x, y, z, t that all non-zero sites of all columns share, e.g. the site of a
/// point source, or the time of a smeared source or a wall; `None` if there are several. Columns are copied to the
/// host one after the other.
///
/// # Errors
/// `FieldMismatch`: not spinors on the full lattice; `OutOfMemory`.
pub fn support(field: &SpinorField) -> Result<[Option<usize>; 4]> {
    check_spinors(field, "sources")?;
    let comm = field.geometry().comm();
    let mut found = Support::new(field.geometry());
    for k in 0..field.nrhs() {
        if !found.add(&comm.agree(column_on_host(field, k))?)? {
            break;
        }
    }
    Ok(found.position())
}

/// One right-hand side on this rank's sites, x fastest, in the DeGrand-Rossi basis: 24 reals for each site.
pub(crate) fn column_on_host(field: &SpinorField, k: usize) -> Result<Vec<f64>> {
    let mut one = field.like_with(field.precision(), 1)?;
    one.copy_rhs(0, field, k, 1)?;
    let components = field.components();
    let numbers = 2 * components.spins * components.colours * field.geometry().volume();
    let mut host = host_array(numbers, 0.0, "a column on the host")?;
    let layout = Layout::lexicographic_spinor(Precision::F64, GammaBasis::DeGrandRossi);
    one.save(&layout, &mut External::write(vec![&mut host[..]]))?;
    Ok(host)
}

/// Refuses momenta too large for exact phases.
pub(crate) fn check_momentum(momentum: [i32; 4]) -> Result<()> {
    if momentum.iter().any(|n| n.unsigned_abs() > 1 << 16) {
        refuse!(
            InvalidArgument,
            "momentum",
            expected("numbers up to 65536"),
            found("{momentum:?}")
        );
    }
    Ok(())
}

/// Refuses fields that are not propagators from which hadrons can be contracted.
pub(crate) fn check_propagator(field: &SpinorField, what: &str) -> Result<()> {
    check_spinors(field, what)?;
    if field.nrhs() != COLUMNS {
        refuse!(
            FieldMismatch,
            "{what}",
            expected("{COLUMNS} right-hand sides on the full lattice"),
            found("{}", field.nrhs())
        );
    }
    Ok(())
}
