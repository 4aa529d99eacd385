//! The common part of openQCD's and DDalphaAMG's files: four 32-bit extents, the average of Re tr U_p (3 for unit
//! links) as a double, then every link once as 3×3 row-major complex doubles, all little endian, without magic number
//! or checksum. They differ in the order of extents and links, which a `LinkMap` describes. Of links with boundaries in
//! time the header has the sum over all plaquettes, those of the slice after the last stored one too, divided by 6 V.

use super::data::{site, Data, Sum};
use super::link_order::{forward, LinkMap};
use super::stream::{decode, Input};
use super::{ddalphaamg, openqcd, ByteOrder, Codec, FileFormat, FileInfo, Frame, Header, Job};
use super::{Known, HEAD, MATRIX, SITE};
use crate::bail;
use crate::error::{Result, Status};

pub const CODEC: Codec = Codec {
    formats: &[FileFormat::OpenQcd, FileFormat::DdAlphaAmg],
    bits: &[64],
    orders: &[ByteOrder::Little],
    claims,
    open,
    frame,
};

const MAPS: [&LinkMap; 2] = [&openqcd::MAP, &ddalphaamg::MAP];

/// Bytes of one link.
const LINK: usize = 8 * MATRIX;

fn header(head: &[u8]) -> ([u64; 4], f64) {
    let extent = |i: usize| u32::from_le_bytes([0, 1, 2, 3].map(|b| head[4 * i + b])) as u64;
    let mut plaquette = [0.0];
    decode(&head[16..24], 64, ByteOrder::Little, &mut plaquette);
    (std::array::from_fn(extent), plaquette[0])
}

/// Whether a file begins like one of these formats, which have no magic number: with four plausible extents and a
/// possible plaquette, or one that is no number, as of links that are not.
fn claims(head: &[u8]) -> bool {
    head.len() >= HEAD && {
        let (extents, plaquette) = header(head);
        // Both formats begin with the extent in time. A slice of plaquettes 1 after the last one adds 3 / (2 T).
        let most = 3.001 + 1.5 / extents[0] as f64;
        let possible = !plaquette.is_finite() || plaquette.abs() < most;
        extents.iter().all(|n| (1..=0xffff).contains(n)) && possible
    }
}

/// Opens a file of openQCD or DDalphaAMG, whose headers and lengths do not differ. The extents rule one format out
/// or, failing that, the plaquette does: in the wrong order links do not close to loops. If the header's plaquette
/// fits neither, it is the format in which the links have the larger plaquette; the comparison with the header fails
/// then.
fn open(input: &mut Input, expect: Option<[usize; 4]>, known: Known) -> Result<Header> {
    let (found, plaquette) = header(&input.bytes(HEAD)?);
    let mut candidates = Vec::new();
    let mut refusal = None;
    for map in MAPS.into_iter().filter(|map| known.format.is_none_or(|format| format == map.format))
    {
        let mut extents = [0; 4];
        for (axis, n) in map.header.into_iter().zip(found) {
            extents[axis] = n;
        }
        match input.extents(extents, expect) {
            Ok(extents) if (map.holds)(&extents) => candidates.push((map, extents)),
            Ok(_) => {}
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    let Some(&(mut map, mut extents)) = candidates.first() else {
        let unknown = || input.error(Status::FileFormat, "no openQCD or DDalphaAMG file");
        return Err(refusal.unwrap_or_else(unknown));
    };
    if !plaquette.is_finite() {
        let what = format!("plaquette in the header: expected a number, found {plaquette}");
        return Err(input.error(Status::FileFormat, what));
    }
    input.need_exactly(data(map).length(extents), "links")?;
    if let Some(&(other, extents2)) = candidates.get(1) {
        let mut links = Links { input, extents, phi_prime: known.phi_prime, all: Vec::new() };
        let mut mean = |second: bool, sites: usize| match second {
            false => links.mean_plaquette(map, &extents, sites),
            true => links.mean_plaquette(other, &extents2, sites),
        };
        if other_fits_better(extents.iter().product(), plaquette / 3.0, &mut mean)? {
            (map, extents) = (other, extents2);
        }
    }
    let mut info = FileInfo::new(map.format, 64, ByteOrder::Little);
    info.plaquette = Some(plaquette / 3.0);
    Ok(Header { extents, info, data: data(map), stored: None })
}

fn data(map: &LinkMap) -> Data {
    let (offset, order) = (HEAD as u64, ByteOrder::Little);
    let place = Some(map.place);
    Data { offset, place, ..Data::gauge(64, order, MATRIX, Sum::None) }
}

fn frame(job: &Job, _: [u32; 2]) -> Result<Frame> {
    let map = MAPS.into_iter().find(|map| map.format == job.format).expect("a format of CODEC");
    if !(map.holds)(&job.extents) {
        bail!(BadExtents, "files of {} hold even extents only, not {:?}", map.format, job.extents);
    }
    let plaquette = 3.0 * job.required("plaquette", job.options.plaquette)?;
    let mut header = Vec::with_capacity(HEAD);
    for axis in map.header {
        header.extend((job.extents[axis] as i32).to_le_bytes());
    }
    header.extend(plaquette.to_le_bytes());
    Ok(Frame::new(header, data(map), Vec::new()))
}

/// Whether the links fit the other format better; `mean` is the mean plaquette in the first or in the other one, over
/// so many sites, `expected` the header's. A sample of sites is used if it is decisive; on small or disordered lattices
/// all sites are.
fn other_fits_better(
    volume: usize,
    expected: f64,
    mut mean: impl FnMut(bool, usize) -> Result<f64>,
) -> Result<bool> {
    const SAMPLE: usize = 4096;
    /// Largest difference from the header's plaquette that may be due to the choice of the sample, and to rounding.
    const OF_SAMPLE: f64 = 0.1;
    const OF_ALL: f64 = 1e-6;
    let mut sites = SAMPLE.min(volume);
    loop {
        let means = [mean(false, sites)?, mean(true, sites)?];
        let [first, other] = means.map(|mean| (mean - expected).abs());
        let near = if sites == volume { OF_ALL } else { OF_SAMPLE };
        let (fits, decided) = (first.min(other) < near, (first - other).abs() > OF_SAMPLE);
        if sites == volume || (fits && decided) {
            return Ok(if fits { other < first } else { means[1] > means[0] });
        }
        sites = volume;
    }
}

/// Access to the links in a file by their number.
struct Links<'a> {
    input: &'a mut Input,
    extents: [usize; 4],
    /// Angles of the spatial links on the slice after the last stored one; None: they are those of slice 0.
    phi_prime: Option<[f64; 3]>,
    /// All links of the file; empty until so many were requested that all were read at once.
    all: Vec<f64>,
}

impl Links<'_> {
    fn get(&mut self, place: usize) -> Result<[f64; MATRIX]> {
        let mut link = [0.0; MATRIX];
        if self.all.is_empty() {
            self.input.seek((HEAD + LINK * place) as u64)?;
            decode(&self.input.bytes(LINK)?, 64, ByteOrder::Little, &mut link);
        } else {
            link.copy_from_slice(&self.all[MATRIX * place..][..MATRIX]);
        }
        Ok(link)
    }

    fn read_all(&mut self) -> Result<()> {
        let mut all = self.input.allocate(self.extents, SITE)?;
        self.input.seek(HEAD as u64)?;
        self.input.stream(all.len() / MATRIX, LINK, |first, raw| {
            decode(raw, 64, ByteOrder::Little, &mut all[MATRIX * first..][..raw.len() / 8]);
        })?;
        self.all = all;
        Ok(())
    }

    /// The mean of Re tr U_p / 3 over the plaquettes of `sites` sites distributed over the lattice, as in headers:
    /// fixed links on the slice after the last stored one are diagonal, and plaquettes of them are 1.
    fn mean_plaquette(&mut self, map: &LinkMap, n: &[usize; 4], sites: usize) -> Result<f64> {
        let volume = n.iter().product::<usize>();
        if sites == volume && self.all.is_empty() {
            self.read_all()?;
        }
        let mut sum = 0.0;
        for k in 0..sites {
            let x = site(n, (k as u128 * volume as u128 / sites as u128) as usize);
            for nu in 1..4 {
                for mu in 0..nu {
                    let mut two_links = |mu: usize, nu: usize| -> Result<_> {
                        let first = self.get((map.place)(n, &x, mu))?;
                        let second = match self.phi_prime.filter(|_| mu == 3 && x[3] + 1 == n[3]) {
                            Some(angles) => diagonal(angles, n[nu]),
                            None => self.get((map.place)(n, &forward(n, &x, mu), nu))?,
                        };
                        Ok(product(&first, &second))
                    };
                    let (one, two) = (two_links(mu, nu)?, two_links(nu, mu)?);
                    sum += one.iter().zip(&two).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
        let after = self.phi_prime.map_or(0.0, |_| 0.5 / n[3] as f64);
        Ok(sum / (18.0 * sites as f64) + after)
    }
}

/// The matrix exp(i diag(angles) / l).
fn diagonal(angles: [f64; 3], l: usize) -> [f64; MATRIX] {
    let mut link = [0.0; MATRIX];
    for (i, angle) in angles.into_iter().enumerate() {
        let (im, re) = (angle / l as f64).sin_cos();
        (link[8 * i], link[8 * i + 1]) = (re, im);
    }
    link
}

fn product(a: &[f64], b: &[f64]) -> [f64; MATRIX] {
    let mut c = [0.0; MATRIX];
    for row in 0..3 {
        for k in 0..3 {
            let (re, im) = (a[6 * row + 2 * k], a[6 * row + 2 * k + 1]);
            for column in 0..3 {
                let (bre, bim) = (b[6 * k + 2 * column], b[6 * k + 2 * column + 1]);
                c[6 * row + 2 * column] += re * bre - im * bim;
                c[6 * row + 2 * column + 1] += re * bim + im * bre;
            }
        }
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_has_a_place_of_its_own() {
        let n = [4, 6, 2, 8];
        for map in MAPS {
            let links = 4 * n.iter().product::<usize>();
            let mut places: Vec<_> =
                (0..links).map(|link| (map.place)(&n, &site(&n, link / 4), link % 4)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..links), "{:?}", map.format);
        }
    }
}
