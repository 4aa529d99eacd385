//! Lattices of multigrid levels, with any extents from 1 on. Kernels find the neighbours of a site from tables, and so
//! do not depend on extents, order of sites or halos.

use std::sync::{Arc, Mutex};

use crate::backend::{Buffer, Device};
use crate::bail;
use crate::comm::{coordinates, Comm};
use crate::error::Result;
use crate::fields::Geometry;

/// This rank's part of the lattice of a multigrid level. If the lattice has parities, even sites come first.
///
/// In a direction with only one site on the whole lattice there is no hop, as it would lead to the site itself; it is
/// part of the diagonal. The lattice has parities if the extents in all other directions are even.
#[derive(Debug)]
pub struct CoarseGrid {
    /// The finest lattice, whose ranks and messages the level uses.
    fine: Arc<Geometry>,
    device: Device,
    extents: [usize; 4],
    global: [usize; 4],
    has_parity: bool,
    even: usize,
    /// For each lexicographic index the number of the site.
    index: Vec<i32>,
    lexicographic: Vec<i32>,
    neighbours: Buffer,
    /// Numbers of the sites on the lower and on the upper face of each direction.
    faces: [[Option<Buffer>; 2]; 4],
    /// The coarser lattice that was made last, with its tables and the extents of its aggregates; kept because a
    /// multigrid set-up makes its levels several times.
    coarsened: Mutex<Option<([usize; 4], Arc<Coarsening>)>>,
}

impl CoarseGrid {
    /// The lattice of the finest multigrid level, which has the sites of `fine`.
    pub fn finest(fine: &Arc<Geometry>, device: &Device) -> Result<Arc<Self>> {
        Self::build(fine, device, fine.extents(), fine.global_extents())
    }

    /// The next coarser lattice, which has a site for each aggregate of `block` sites.
    ///
    /// # Errors
    /// `BadExtents`: the aggregate does not divide this rank's part.
    pub fn coarsened(&self, block: [usize; 4]) -> Result<Arc<Self>> {
        Ok(self.coarsening(block)?.coarse.clone())
    }

    /// The next coarser lattice together with the tables of its aggregates.
    ///
    /// # Errors
    /// Errors of `coarsened`.
    pub(crate) fn coarsening(&self, block: [usize; 4]) -> Result<Arc<Coarsening>> {
        let mut known = self.coarsened.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((_, found)) = known.as_ref().filter(|(of, _)| *of == block) {
            return Ok(found.clone());
        }
        let coarse = self.build_coarsened(block)?;
        let aggregates = self.aggregates(&coarse)?;
        let made = Arc::new(Coarsening { coarse, aggregates });
        *known = Some((block, made.clone()));
        Ok(made)
    }

    fn build_coarsened(&self, block: [usize; 4]) -> Result<Arc<Self>> {
        for mu in 0..4 {
            if block[mu] == 0 || !self.extents[mu].is_multiple_of(block[mu]) {
                bail!(
                    BadExtents,
                    "aggregates of {block:?} sites do not divide the {:?} sites of a rank",
                    self.extents
                );
            }
        }
        let shrink = |extents: [usize; 4]| std::array::from_fn(|mu| extents[mu] / block[mu]);
        Self::build(&self.fine, &self.device, shrink(self.extents), shrink(self.global))
    }

    /// The lattice of this grid divided among the ranks of `part`, of which this rank is one.
    pub(super) fn on(&self, part: &Arc<Comm>) -> Result<Arc<Self>> {
        let fine = self.fine.on(part, &self.device)?;
        let extents = std::array::from_fn(|mu| self.global[mu] / part.grid()[mu]);
        let volume = extents.iter().map(|&l| l as u128).product::<u128>();
        if volume > i32::MAX as u128 {
            bail!(BadExtents, "{extents:?} sites of a level gathered on one rank: too many");
        }
        Self::build(&fine, &self.device, extents, self.global)
    }

    /// Lexicographic indices of the sites of the rank at `coords` in the process grid, in the order of its vectors.
    pub(super) fn order_at(&self, coords: [usize; 4]) -> Vec<i32> {
        order(self.extents, self.global, coords)
    }

    fn build(
        fine: &Arc<Geometry>,
        device: &Device,
        extents: [usize; 4],
        global: [usize; 4],
    ) -> Result<Arc<Self>> {
        let volume: usize = extents.iter().product();
        let hops = |mu: usize| global[mu] > 1;
        let has_parity = parity_of(global);
        let coords = fine.comm().coords();
        let parity = |x: [usize; 4]| parity(extents, global, coords, x);
        let lexicographic = order(extents, global, coords);
        let is_even = |&i: &i32| parity(coordinates(extents, i as usize)) == 0;
        let even = match has_parity {
            true => lexicographic.partition_point(is_even),
            false => volume,
        };
        let mut index = vec![0; volume];
        for (k, &i) in lexicographic.iter().enumerate() {
            index[i as usize] = k as i32;
        }
        let mut faces: [[Option<Buffer>; 2]; 4] = Default::default();
        let split: [bool; 4] = std::array::from_fn(|mu| fine.comm().split(mu));
        let table = || {
            let mut table = vec![0i32; 8 * volume];
            for (i, x) in all_coordinates(extents).enumerate() {
                let row = &mut table[8 * index[i] as usize..][..8];
                let mut step = 1;
                for mu in 0..4 {
                    let (length, own) = (extents[mu], step);
                    step *= length;
                    for forward in [false, true].into_iter().filter(|_| hops(mu)) {
                        let leaves = x[mu] == if forward { length - 1 } else { 0 };
                        let to = match (forward, leaves) {
                            (false, false) => i - own,
                            (false, true) => i + (length - 1) * own,
                            (true, false) => i + own,
                            (true, true) => i - (length - 1) * own,
                        };
                        row[2 * mu + forward as usize] = match leaves && split[mu] {
                            true => -1 - on_face(extents, coordinates(extents, to), mu) as i32,
                            false => index[to],
                        };
                    }
                }
            }
            table
        };
        let neighbours = device.filled(8 * volume, table)?;
        for mu in (0..4).filter(|&mu| hops(mu) && split[mu]) {
            for upper in [false, true] {
                let mut sites = vec![0i32; volume / extents[mu]];
                let at = if upper { extents[mu] - 1 } else { 0 };
                for (i, x) in all_coordinates(extents).enumerate().filter(|(_, x)| x[mu] == at) {
                    sites[on_face(extents, x, mu)] = index[i];
                }
                faces[mu][upper as usize] = Some(device.filled(sites.len(), || sites)?);
            }
        }
        let (fine, device) = (fine.on_device(device), device.clone());
        Ok(Arc::new(CoarseGrid {
            fine,
            device,
            extents,
            global,
            has_parity,
            even,
            index,
            lexicographic,
            neighbours,
            faces,
            coarsened: Mutex::default(),
        }))
    }

    pub fn fine(&self) -> &Arc<Geometry> {
        &self.fine
    }
    pub fn device(&self) -> &Device {
        &self.device
    }
    pub fn comm(&self) -> &Arc<Comm> {
        self.fine.comm()
    }
    /// Extents of this rank's part.
    pub fn extents(&self) -> [usize; 4] {
        self.extents
    }
    pub fn global_extents(&self) -> [usize; 4] {
        self.global
    }
    /// Number of sites of this rank.
    pub fn volume(&self) -> usize {
        self.index.len()
    }
    pub fn global_volume(&self) -> usize {
        self.global.iter().product()
    }
    /// Whether sites can be divided into even and odd ones such that every hop leads from one parity to the other.
    pub fn has_parity(&self) -> bool {
        self.has_parity
    }
    /// Number of even sites of this rank; of all sites if there are no parities.
    pub fn even(&self) -> usize {
        self.even
    }
    /// Whether a hop in direction mu leads to another site.
    pub fn hops(&self, mu: usize) -> bool {
        self.global[mu] > 1
    }
    /// Bit mask of the hops: bits 2 mu and 2 mu + 1 are set if there are hops in direction mu.
    pub(crate) fn directions(&self) -> i32 {
        (0..4).filter(|&mu| self.hops(mu)).map(|mu| 3 << (2 * mu)).sum()
    }
    /// The number of the site with this lexicographic index in this rank's part.
    pub fn site(&self, lexicographic: usize) -> usize {
        self.index[lexicographic] as usize
    }
    /// Lexicographic index of each site.
    pub fn order(&self) -> &[i32] {
        &self.lexicographic
    }
    pub(crate) fn neighbours(&self) -> &Buffer {
        &self.neighbours
    }
    pub(crate) fn face(&self, mu: usize, upper: bool) -> Option<&Buffer> {
        self.faces[mu][upper as usize].as_ref()
    }

    /// Makes the tables for aggregates that become the sites of `coarse`.
    fn aggregates(&self, coarse: &CoarseGrid) -> Result<Aggregates> {
        let block: [usize; 4] = std::array::from_fn(|mu| self.extents[mu] / coarse.extents[mu]);
        let size = block.iter().product::<usize>();
        // For each coordinate in direction mu: its contribution to the number of the site's aggregate, and the bits of
        // the faces of the aggregate on which a site with this coordinate is.
        let of_axis = |mu: usize| {
            let step = coarse.extents[..mu].iter().product::<usize>();
            let one = move |x: usize| {
                let ends = [x.is_multiple_of(block[mu]), (x + 1).is_multiple_of(block[mu])];
                let [lower, upper] = ends.map(|end| (end && coarse.hops(mu)) as i32);
                (x / block[mu] * step, lower << (2 * mu) | upper << (2 * mu + 1))
            };
            (0..self.extents[mu]).map(one).collect::<Vec<_>>()
        };
        let axes: [Vec<(usize, i32)>; 4] = std::array::from_fn(of_axis);
        // For every site the number of its aggregate and the bits of the aggregate's faces on which it is.
        let places = || {
            self.order().iter().map(|&i| {
                let x = coordinates(self.extents, i as usize);
                let at: [(usize, i32); 4] = std::array::from_fn(|mu| axes[mu][x[mu]]);
                let parent = coarse.site(at.iter().map(|a| a.0).sum());
                (parent, at.iter().fold(0, |bits, a| bits | a.1))
            })
        };
        let members = || {
            let mut members = vec![0i32; self.volume()];
            let mut found = vec![0; coarse.volume()];
            for (k, (parent, _)) in places().enumerate() {
                members[parent * size + found[parent]] = k as i32;
                found[parent] += 1;
            }
            members
        };
        let (device, n) = (&self.device, self.volume());
        Ok(Aggregates {
            size,
            sites: device.filled(n, members)?,
            parents: device.filled(n, || places().map(|(parent, _)| parent as i32).collect())?,
            faces: device.filled(n, || places().map(|(_, faces)| faces).collect())?,
        })
    }
}

impl PartialEq for CoarseGrid {
    fn eq(&self, other: &Self) -> bool {
        (self.extents, self.global, &self.device) == (other.extents, other.global, &other.device)
            && self.fine == other.fine
    }
}

/// A coarser lattice, and the aggregates of fine sites that become its sites.
#[derive(Debug)]
pub(crate) struct Coarsening {
    pub coarse: Arc<CoarseGrid>,
    pub aggregates: Aggregates,
}

/// Tables of aggregates: which fine sites belong to each coarse site.
#[derive(Debug)]
pub(crate) struct Aggregates {
    pub size: usize,
    /// Sites of each aggregate, in ascending order.
    pub sites: Buffer,
    pub parents: Buffer,
    /// For each fine site the bits of the directions in which a step leaves its aggregate.
    pub faces: Buffer,
}

/// Whether the sites of a lattice with these extents can be divided into even and odd ones.
fn parity_of(global: [usize; 4]) -> bool {
    global.iter().all(|&l| l == 1 || l.is_multiple_of(2))
}

/// Parity of a site of the rank at `coords`; only directions with hops count.
fn parity(extents: [usize; 4], global: [usize; 4], coords: [usize; 4], x: [usize; 4]) -> usize {
    let place = |mu: usize| coords[mu] * extents[mu] + x[mu];
    (0..4).filter(|&mu| global[mu] > 1).map(place).sum::<usize>() % 2
}

/// Lexicographic indices of the sites of the rank at `coords`, even ones first.
fn order(extents: [usize; 4], global: [usize; 4], coords: [usize; 4]) -> Vec<i32> {
    if !parity_of(global) {
        return (0..extents.iter().product::<usize>() as i32).collect();
    }
    let is_even = |x| parity(extents, global, coords, x) == 0;
    let place = |even| {
        let sites = all_coordinates(extents).enumerate().filter(move |(_, x)| is_even(*x) == even);
        sites.map(|(i, _)| i as i32)
    };
    place(true).chain(place(false)).collect()
}

/// The coordinates of all sites in lexicographic order.
fn all_coordinates(extents: [usize; 4]) -> impl Iterator<Item = [usize; 4]> {
    let [lx, ly, lz, lt] = extents;
    let rows =
        (0..lt).flat_map(move |t| (0..lz).flat_map(move |z| (0..ly).map(move |y| (y, z, t))));
    rows.flat_map(move |(y, z, t)| (0..lx).map(move |x| [x, y, z, t]))
}

pub(super) fn lex(extents: [usize; 4], x: [usize; 4]) -> usize {
    (0..4).rev().fold(0, |i, mu| i * extents[mu] + x[mu])
}

/// Position of the site with coordinates x among the sites of a face in direction mu.
fn on_face(extents: [usize; 4], x: [usize; 4], mu: usize) -> usize {
    (0..4).rev().filter(|&nu| nu != mu).fold(0, |i, nu| i * extents[nu] + x[nu])
}
