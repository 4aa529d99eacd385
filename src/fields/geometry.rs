//! The geometry of this rank's part of the lattice: its extents, the order of even and odd sites, on a CPU the division
//! into SIMD lanes, and its place in the process grid.

use std::sync::{Arc, Once};

use super::BoundaryTime;
use crate::backend::args::Bounds;
use crate::backend::{lanes_up_to, Device, Geom, Ranks, Work};
use crate::bail;
use crate::comm::Comm;
use crate::error::Result;
use crate::refuse;

/// This rank's part of a lattice: extents (x, y, z, t), their division into the lanes of a device, and halos in the
/// directions that are divided over ranks.
///
/// The lexicographic index of a site is `x + X (y + Y (z + Z t))` in a box of extents X, Y, Z, T; its parity is
/// `(x+y+z+t) & 1`. Each lane holds a box (piece) of this rank's part; the sites of a parity are numbered by half their
/// lexicographic index in the piece.
#[derive(Debug)]
pub struct Geometry {
    /// Extents of this rank's part.
    extents: [usize; 4],
    global: [usize; 4],
    lanes: usize,
    /// For each direction the bit of the lane number that distinguishes the two pieces of the part; 0 for a direction
    /// that is not divided into lanes.
    lane_bits: [usize; 4],
    comm: Arc<Comm>,
    /// For geometries made by [`Self::of_rows`]: the extents of the multigrid level to which the sites belong.
    rows: Option<[usize; 4]>,
    /// The kind of boundary that links on this lattice have in time. Vectors have no such boundary: vectors on
    /// geometries that differ only in this may be combined.
    boundary: BoundaryTime,
}

/// Geometries are equal if they have the same lattice, ranks and order of sites, whatever the boundaries of links.
impl PartialEq for Geometry {
    fn eq(&self, other: &Self) -> bool {
        let kind = |g: &Geometry| (g.global, g.lane_bits, g.rows);
        let same = kind(self) == kind(other);
        same && (Arc::ptr_eq(&self.comm, &other.comm)
            || (self.halo_mask() == 0 && other.halo_mask() == 0))
    }
}

impl Ranks for Comm {
    fn silent(self: &Arc<Self>, number: u64) -> Arc<Self> {
        Comm::silent(self, number)
    }
}

impl Geometry {
    /// The geometry of a whole lattice on one rank. Every extent must be even (checkerboarding on a periodic lattice)
    /// and at least 2.
    pub fn new(extents: [usize; 4], device: &Device) -> Result<Arc<Self>> {
        Self::with_lanes(extents, device.max_lanes())
    }

    /// The geometry of a whole lattice on one rank with at most `max_lanes` lanes (1: none, as on a GPU). The number of
    /// lanes is smaller if extents are not divisible by four, and always one for which kernels are compiled.
    pub fn with_lanes(extents: [usize; 4], max_lanes: usize) -> Result<Arc<Self>> {
        Self::build(extents, max_lanes, Comm::single())
    }

    /// This rank's part of the lattice with extents `global`.
    ///
    /// # Errors
    /// `BadExtents`, `ProcessGrid`: the lattice cannot be divided; the same on every rank.
    pub fn decomposed(global: [usize; 4], device: &Device, comm: &Arc<Comm>) -> Result<Arc<Self>> {
        Self::build(global, device.max_lanes(), device.ranks(comm))
    }

    fn build(global: [usize; 4], max_lanes: usize, comm: Arc<Comm>) -> Result<Arc<Self>> {
        for (mu, &l) in global.iter().enumerate() {
            if l < 2 || l % 2 != 0 || l > 1 << 16 {
                bail!(
                    BadExtents,
                    "extent {} is {l}: every extent must be even, from 2 to 65536",
                    ["x", "y", "z", "t"][mu]
                );
            }
        }
        let extents = comm.local_extents(global)?;
        // Links are stored on one more site beyond every face.
        if extents.iter().map(|&l| l as u128 + 2).product::<u128>() > i32::MAX as u128 {
            bail!(BadExtents, "{extents:?} has more than 2^31 sites: divide it over more ranks");
        }
        let (lanes, lane_bits) = lanes_of(extents, max_lanes, !comm.divided());
        let max = lanes_up_to(max_lanes);
        if 2 * lanes < max && extents.iter().any(|l| !l.is_multiple_of(4)) {
            static WARNED: Once = Once::new();
            WARNED.call_once(|| {
                log::info!(
                    "lattice: a rank's part of {extents:?} runs with {lanes} of {max} numbers at a time, up to {} times \
                     slower a site: on a CPU parts of a lattice are fast if four divides their extents",
                    max / lanes
                );
            });
        }
        let boundary = BoundaryTime::Periodic;
        Ok(Arc::new(Geometry { extents, global, lanes, lane_bits, comm, rows: None, boundary }))
    }

    /// The lattice of this geometry divided among the ranks `part`, for levels of multigrid. The limit on the number of
    /// sites of a rank does not apply, as no fields are made on it.
    pub(crate) fn on(&self, part: &Arc<Comm>, device: &Device) -> Result<Arc<Self>> {
        let extents = part.local_extents(self.global)?;
        let (lanes, lane_bits) = lanes_of(extents, device.max_lanes(), !part.divided());
        let comm = device.ranks(part);
        let (global, boundary) = (self.global, self.boundary);
        Ok(Arc::new(Geometry { extents, global, lanes, lane_bits, comm, rows: None, boundary }))
    }

    /// A geometry for vectors of a multigrid level with right-hand sides fastest: `sites` sites on this rank and
    /// `global` sites on all ranks, treated as one parity without lanes and without neighbours; `level` are the extents
    /// of the multigrid level.
    pub(crate) fn of_rows(
        sites: usize,
        global: usize,
        level: [usize; 4],
        comm: &Arc<Comm>,
    ) -> Arc<Self> {
        Arc::new(Geometry {
            extents: [2 * sites, 1, 1, 1],
            global: [2 * global, 1, 1, 1],
            lanes: 1,
            lane_bits: [0; 4],
            comm: comm.clone(),
            rows: Some(level),
            boundary: BoundaryTime::Periodic,
        })
    }

    /// This geometry with the ranks among which the fields of `device` exchange messages ([`Device::ranks`]); in a dry
    /// run these are silent ranks.
    pub(crate) fn on_device(self: &Arc<Self>, device: &Device) -> Arc<Self> {
        let comm = device.ranks(&self.comm);
        if Arc::ptr_eq(&comm, &self.comm) {
            return self.clone();
        }
        let Geometry { extents, global, lanes, lane_bits, rows, boundary, .. } = *self.as_ref();
        Arc::new(Geometry { extents, global, lanes, lane_bits, comm, rows, boundary })
    }

    /// This geometry for links with the boundary in time `boundary`.
    ///
    /// # Errors
    /// `BadExtents`: fewer than four slices, so that no slice is inside.
    pub fn bounded(&self, boundary: BoundaryTime) -> Result<Arc<Self>> {
        if !boundary.is_periodic() && self.global[3] < 4 {
            refuse!(
                BadExtents,
                "extent t",
                expected("at least 4 time slices with {boundary}"),
                found("{}", self.global[3])
            );
        }
        let Geometry { extents, global, lanes, lane_bits, rows, .. } = *self;
        let comm = self.comm.clone();
        Ok(Arc::new(Geometry { extents, global, lanes, lane_bits, comm, rows, boundary }))
    }
    /// The kind of boundary that links on this lattice have in time.
    pub fn boundary(&self) -> BoundaryTime {
        self.boundary
    }
    /// Returns an error unless links are periodic in time, for operations that support nothing else.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn periodic_in_time(&self, what: &str) -> Result<()> {
        if !self.boundary.is_periodic() {
            refuse!(
                Unsupported,
                "{what}",
                expected("links that are periodic in time"),
                found("{}", self.boundary)
            );
        }
        Ok(())
    }
    /// The boundary of links in time as an argument of kernels.
    pub(crate) fn bounds(&self) -> Bounds {
        self.boundary.args(self.global)
    }

    /// Extents of this rank's part.
    pub fn extents(&self) -> [usize; 4] {
        self.extents
    }
    /// Extents of the whole lattice.
    pub fn global_extents(&self) -> [usize; 4] {
        self.global
    }
    /// Coordinates (x, y, z, t) of this rank's first site in the whole lattice.
    pub fn origin(&self) -> [usize; 4] {
        std::array::from_fn(|mu| self.comm.coords()[mu] * self.extents[mu])
    }
    /// Number of sites of this rank.
    pub fn volume(&self) -> usize {
        self.extents.iter().product()
    }
    /// Number of sites of the whole lattice.
    pub fn global_volume(&self) -> usize {
        self.global.iter().product()
    }
    pub fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }
    /// Fails on all ranks if `bytes` bytes are not free on the device of some rank; called before an allocation, on all
    /// ranks. `what` names in the message what needs the memory.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn require(&self, device: &Device, bytes: u64, what: &str) -> Result<()> {
        self.comm.agree(device.require(bytes, what))
    }
    pub fn lanes(&self) -> usize {
        self.lanes
    }
    /// Number of outer sites of one parity on this rank: sites / 2 / lanes. An outer site is one site of every lane.
    pub fn outer(&self) -> usize {
        self.volume() / 2 / self.lanes
    }
    /// Number of outer sites of one parity on this rank (sites / 2 / lanes), including those in the borders of link
    /// fields, one site beyond each face between ranks.
    pub(crate) fn link_outer(&self) -> usize {
        let sides = |mu: usize| self.piece(mu) + if self.comm.split(mu) { 2 } else { 0 };
        (0..4).map(sides).product::<usize>() / 2
    }
    /// Number of sites in the memory of a plane (a parity of a right-hand side), including padding.
    pub(crate) fn plane_sites(&self) -> usize {
        self.padded(self.outer() * self.lanes)
    }
    pub(crate) fn link_plane_sites(&self) -> usize {
        self.padded(self.link_outer() * self.lanes)
    }
    /// `sites` rounded up to a multiple of 32 without lanes (the tile of a GPU, kernels/field.h), else of 4 x lanes,
    /// since vector operations work on eight numbers at a time (kernels/blas.h).
    pub(super) fn padded(&self, sites: usize) -> usize {
        match (self.lanes, self.rows) {
            (_, Some(_)) => sites,
            (1, None) => sites.next_multiple_of(32),
            (lanes, None) => sites.next_multiple_of(4 * lanes),
        }
    }
    /// Extent in direction mu of the box of sites that one lane holds.
    pub(super) fn piece(&self, mu: usize) -> usize {
        self.extents[mu] / if self.lane_bits[mu] != 0 { 2 } else { 1 }
    }
    /// The outer site and the lane of the site with coordinates `x` in this rank's part.
    pub(crate) fn place(&self, mut x: [usize; 4]) -> (usize, usize) {
        let mut lane = 0;
        for mu in 0..4 {
            if x[mu] >= self.piece(mu) {
                lane |= self.lane_bits[mu];
                x[mu] -= self.piece(mu);
            }
        }
        if let Some(mu) = self.turning() {
            let turns = |nu: &usize| lane & self.lane_bits[*nu] != 0 && self.piece(*nu) % 2 == 1;
            if (0..4).filter(turns).count() % 2 == 1 {
                x[mu] = (x[mu] + self.extents[mu] / 2) % self.extents[mu];
            }
        }
        let o = (1..4).rev().fold(0, |o, mu| (o + x[mu]) * self.piece(mu - 1));
        ((o + x[0]) / 2, lane)
    }
    /// The direction, if any, in which some lanes number their sites from the middle of the extent on, so that sites
    /// with the same number have different coordinates in different lanes ([`lanes_of`]).
    pub(crate) fn turning(&self) -> Option<usize> {
        let odd = |mu: usize| self.lane_bits[mu] != 0 && self.piece(mu) % 2 == 1;
        let whole = |mu: &usize| self.lane_bits[*mu] == 0 && self.extents[*mu] % 4 == 2;
        (0..4).any(odd).then(|| (0..4).find(whole)).flatten()
    }
    /// The same lattice divided into lanes only in directions whose extents are divisible by four, so that in every
    /// direction all lanes number their sites from their first one on.
    pub(crate) fn unturned(&self, device: &Device) -> Arc<Self> {
        let (lanes, lane_bits) = lanes_of(self.extents, device.max_lanes(), false);
        let Geometry { extents, global, rows, boundary, .. } = *self;
        let comm = self.comm.clone();
        Arc::new(Geometry { extents, global, lanes, lane_bits, comm, rows, boundary })
    }
    pub fn work(&self, batches: usize) -> Work {
        Work { n: self.outer(), batches, lanes: self.lanes }
    }
    /// The work over the sites of one parity, with the slices of constant coordinate in direction `mu` as batches; `mu`
    /// is not [`Self::turning`]. Batch c is slice c of this rank; if `mu` is divided into lanes, the upper lanes hold
    /// slice c + the number of batches.
    pub(crate) fn slice_work(&self, mu: usize) -> Work {
        Work { n: self.face_outer(mu), batches: self.piece(mu), lanes: self.lanes }
    }
    /// Bit mu is set if fields have halos in direction mu: if it is divided over ranks, or treated so in tests.
    pub fn halo_mask(&self) -> i32 {
        (0..4).map(|mu| (self.comm.split(mu) as i32) << mu).sum()
    }
    /// Number of outer sites of one parity on a face in direction mu.
    pub(super) fn face_outer(&self, mu: usize) -> usize {
        self.outer() / self.piece(mu)
    }
    /// Number of rows (one number for each lane) that a message holds for one parity of a face in direction mu. If mu
    /// is divided into lanes, two outer sites share a row, as only half of their lanes are at the face
    /// (kernels/wilson.h).
    pub(crate) fn face_rows(&self, mu: usize) -> usize {
        let shared = if self.lane_bits[mu] != 0 { 2 } else { 1 };
        self.face_outer(mu).div_ceil(shared)
    }
    /// Number of outer sites of one parity whose neighbours are all on this rank.
    pub(crate) fn inner(&self) -> usize {
        let shrink = |mu: usize| self.piece(mu) - if self.comm.split(mu) { 2 } else { 0 };
        (0..4).map(shrink).product::<usize>() / 2
    }

    pub(crate) fn args(&self) -> Geom {
        let piece = |mu: usize| self.piece(mu) as i32;
        let bit = |mu: usize| self.lane_bits[mu] as i32;
        Geom {
            x: piece(0),
            y: piece(1),
            z: piece(2),
            t: piece(3),
            lane_x: bit(0),
            lane_y: bit(1),
            lane_z: bit(2),
            lane_t: bit(3),
            halos: self.halo_mask(),
            origin: self.origin().map(|x| x as i32),
            global: self.global.map(|l| l as i32),
        }
    }
}

/// A text that states the possible numbers of lanes of a device, which determine the layout of fields; it must be the
/// same on neighbouring ranks.
pub fn layout_on(device: &Device) -> String {
    if !device.is_cpu() {
        return "the layout of GPUs".into();
    }
    let mut lanes = [16, 8, 4, 2, 1].map(|n| lanes_up_to(device.max_lanes().min(n))).to_vec();
    lanes.dedup();
    format!("{lanes:?} lanes")
}

/// The number of lanes, and the lane bit of each direction. An outer site must have the same parity in all lanes.
/// Extents divisible by four are split into two pieces of even extent. If `turns`, further extents larger than two,
/// which are twice an odd number, are split into two pieces of odd extent, except for the first direction with such an
/// extent: in that one, whose extent stays whole, sites in the other piece are shifted by half of the extent, which is
/// odd, so that the parity remains the same (kernels/geometry.h). Messages between ranks do not support this shift.
fn lanes_of(extents: [usize; 4], max_lanes: usize, turns: bool) -> (usize, [usize; 4]) {
    let whole = (0..4).find(|&mu| !extents[mu].is_multiple_of(4));
    let odd = |mu: usize| turns && whole != Some(mu) && extents[mu] > 2;
    let splits = |mu: usize| extents[mu].is_multiple_of(4) || odd(mu);
    let lanes = lanes_up_to(max_lanes.min(1 << (0..4).filter(|&mu| splits(mu)).count()));
    let mut bits = [0; 4];
    let mut left = lanes;
    // Directions are split from t to x, so that hops cross from lane to lane as rarely as possible.
    for mu in (0..4).rev().filter(|&mu| splits(mu)) {
        left /= 2;
        bits[mu] = left;
    }
    (lanes, bits)
}
