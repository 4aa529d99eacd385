//! The data of a file: the position of each link, reading and writing runs of links, and checksums of parts of a
//! lattice.

use super::checksum::RotatingPair;
use super::stream::{decode, encode, words, Input, Output, CHUNK};
use super::{ByteOrder, MATRIX};
use crate::error::{host_array, host_list, Result};

/// A box of sites of a lattice that one process reads or writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Extents of the whole lattice.
    pub lattice: [usize; 4],
    /// Coordinates of the first site.
    pub origin: [usize; 4],
    pub extents: [usize; 4],
}

impl Part {
    pub fn whole(lattice: [usize; 4]) -> Part {
        Part { lattice, origin: [0; 4], extents: lattice }
    }

    pub fn volume(&self) -> usize {
        self.extents.iter().product()
    }

    /// Whether the part lies within its lattice, and its lattice has the extents `lattice`.
    pub(super) fn is_of(&self, lattice: [usize; 4]) -> bool {
        let ends = |mu: usize| self.origin[mu].checked_add(self.extents[mu]);
        self.lattice == lattice && (0..4).all(|mu| ends(mu).is_some_and(|end| end <= lattice[mu]))
    }

    /// Coordinates in the whole lattice of site number `local` of the part.
    fn site(&self, local: usize) -> [usize; 4] {
        let x = site(&self.extents, local);
        std::array::from_fn(|mu| x[mu] + self.origin[mu])
    }

    /// Runs of sites that are consecutive both in the whole lattice and in the part: number of the first site in
    /// each, and the length.
    pub(super) fn runs(&self) -> impl Iterator<Item = [usize; 3]> + '_ {
        let divided = (0..4).find(|&mu| self.extents[mu] < self.lattice[mu]).unwrap_or(3);
        let run: usize = self.extents[..=divided].iter().product();
        let first = (0..self.volume()).step_by(run.max(1));
        first.map(move |local| [lex(&self.lattice, &self.site(local)), local, run])
    }

    /// Positions in the file and in memory of all links of the part, in the order of the file.
    fn places(&self, place: LinkIndex) -> Result<Vec<[usize; 2]>> {
        let links = (0..4 * self.volume()).map(|link| {
            let x = self.site(link / 4);
            [place(&self.lattice, &x, link % 4), link]
        });
        let mut links = host_list(links, "order of the links")?;
        links.sort_unstable();
        Ok(links)
    }
}

/// Lexicographic index of a site, x fastest.
pub fn lex(n: &[usize; 4], x: &[usize; 4]) -> usize {
    x[0] + n[0] * (x[1] + n[1] * (x[2] + n[2] * x[3]))
}

/// Coordinates of the site with this lexicographic index, the inverse of [`lex`].
pub fn site(n: &[usize; 4], mut lex: usize) -> [usize; 4] {
    n.map(|extent| {
        let x = lex % extent;
        lex /= extent;
        x
    })
}

/// Function that gives the number in the file of the link in direction μ from a site: arguments are extents, site, μ.
pub type LinkIndex = fn(&[usize; 4], &[usize; 4], usize) -> usize;

/// The place and the form, in a file, of the links of a configuration or of the numbers of another field.
#[derive(Clone, Copy)]
pub struct Data {
    pub offset: u64,
    pub bits: u32,
    pub order: ByteOrder,
    /// Number of links of a site; 1 for another field.
    pub links: usize,
    /// Count of real numbers in memory for a link (18), or for a site of another field.
    pub memory: usize,
    /// Count of real numbers in the file for a link or site: as many as in memory, or 12 for the first two rows of a
    /// link.
    pub numbers: usize,
    /// Order of the links in the file; None: sites in lexicographic order, then μ.
    pub place: Option<LinkIndex>,
    pub sum: Sum,
}

/// The kind of checksum in a format.
#[derive(Clone, Copy, PartialEq)]
pub enum Sum {
    None,
    /// Sum of the file's 32-bit words modulo 2^32 (NERSC).
    Nersc,
    /// Two exclusive ors over the file's 32-bit words, each rotated by the number of the word in the file, modulo 29 in
    /// one and modulo 31 in the other (MILC).
    Milc,
    /// Two exclusive ors over the sites' CRC32, each rotated by the number of the site, modulo 29 in one and modulo 31
    /// in the other (SciDAC).
    SciDac,
}

impl Sum {
    /// The checksum of the file from those of parts that cover the lattice.
    pub fn combine(self, parts: &[[u32; 2]]) -> [u32; 2] {
        parts.iter().fold([0; 2], |[a, b], part| match self {
            Sum::Nersc => [a.wrapping_add(part[0]), 0],
            _ => [a ^ part[0], b ^ part[1]],
        })
    }
}

/// A checksum that is being computed.
struct RunningChecksum {
    data: Data,
    plain: u32,
    pair: RotatingPair,
    scratch: Vec<u32>,
}

impl RunningChecksum {
    fn new(data: &Data) -> Result<Self> {
        let words = if matches!(data.sum, Sum::Nersc | Sum::Milc) { CHUNK / 4 } else { 0 };
        let scratch = host_array(words, 0, "words of a piece of a file")?;
        Ok(RunningChecksum { data: *data, plain: 0, pair: RotatingPair::new(), scratch })
    }

    /// Adds the bytes of whole sites; the first has number `first` in the lattice.
    fn add(&mut self, first: usize, raw: &[u8]) {
        match self.data.sum {
            Sum::None => return,
            Sum::SciDac => {
                let crcs = raw.chunks_exact(self.data.site_bytes()).map(crc32fast::hash);
                self.scratch.clear();
                self.scratch.extend(crcs);
                return self.pair.add(first, &self.scratch);
            }
            _ => {}
        }
        self.scratch.resize(raw.len() / 4, 0);
        words(raw, self.data.order, &mut self.scratch);
        match self.data.sum {
            Sum::Milc => self.pair.add(first * self.data.site_bytes() / 4, &self.scratch),
            _ => self.plain = self.scratch.iter().fold(self.plain, |sum, w| sum.wrapping_add(*w)),
        }
    }

    fn value(&self) -> [u32; 2] {
        let (a, b) = self.pair.sums();
        if self.data.sum == Sum::Nersc {
            [self.plain, 0]
        } else {
            [a, b]
        }
    }
}

impl Data {
    /// Describes the links of a configuration with `numbers` stored reals for each link.
    pub fn gauge(bits: u32, order: ByteOrder, numbers: usize, sum: Sum) -> Data {
        Data { offset: 0, bits, order, links: 4, memory: MATRIX, numbers, place: None, sum }
    }
    /// Describes a field of SciDAC with `numbers` reals for a site.
    pub fn scidac(offset: u64, bits: u32, numbers: usize) -> Data {
        let order = ByteOrder::Big;
        let (memory, sum) = (numbers, Sum::SciDac);
        Data { offset, bits, order, links: 1, memory, numbers, place: None, sum }
    }
    /// Number of real numbers of a site in memory.
    fn width(&self) -> usize {
        self.links * self.memory
    }
    fn link_bytes(&self) -> usize {
        self.numbers * self.bits as usize / 8
    }
    fn site_bytes(&self) -> usize {
        self.links * self.link_bytes()
    }
    /// Bytes of the links of a lattice in the file.
    pub fn length(&self, extents: [usize; 4]) -> u64 {
        (extents.iter().product::<usize>() * self.site_bytes()) as u64
    }

    /// Reads the links of a part; returns them with their contribution to the checksum.
    pub fn read(&self, input: &mut Input, part: &Part) -> Result<(Vec<f64>, [u32; 2])> {
        let mut links = input.allocate(part.extents, self.width())?;
        let (mut sum, mut scratch) = (RunningChecksum::new(self)?, self.scratch()?);
        let Some(place) = self.place else {
            for [global, local, count] in part.runs() {
                let bytes = self.site_bytes();
                input.seek(self.offset + (global * bytes) as u64)?;
                input.stream(count, bytes, |first, raw| {
                    sum.add(global + first, raw);
                    let sites = raw.len() / bytes;
                    let links =
                        &mut links[self.width() * (local + first)..][..self.width() * sites];
                    self.decode(raw, &mut scratch, links);
                })?;
            }
            return Ok((links, sum.value()));
        };
        let bytes = self.link_bytes();
        for run in part.places(place)?.chunk_by(|a, b| b[0] == a[0] + 1) {
            input.seek(self.offset + (run[0][0] * bytes) as u64)?;
            input.stream(run.len(), bytes, |first, raw| {
                for (raw, [_, link]) in raw.chunks_exact(bytes).zip(&run[first..]) {
                    self.decode(raw, &mut scratch, &mut links[MATRIX * link..][..MATRIX]);
                }
            })?;
        }
        Ok((links, sum.value()))
    }

    /// Writes the links of a part; returns their contribution to the checksum.
    pub fn write(&self, output: &mut Output, part: &Part, links: &[f64]) -> Result<[u32; 2]> {
        let (mut sum, mut scratch) = (RunningChecksum::new(self)?, self.scratch()?);
        let Some(place) = self.place else {
            for [global, local, count] in part.runs() {
                let bytes = self.site_bytes();
                output.seek(self.offset + (global * bytes) as u64)?;
                output.stream(count, bytes, |first, raw| {
                    let sites = raw.len() / bytes;
                    let links = &links[self.width() * (local + first)..][..self.width() * sites];
                    self.encode(links, &mut scratch, raw);
                    sum.add(global + first, raw);
                })?;
            }
            return Ok(sum.value());
        };
        let bytes = self.link_bytes();
        for run in part.places(place)?.chunk_by(|a, b| b[0] == a[0] + 1) {
            output.seek(self.offset + (run[0][0] * bytes) as u64)?;
            output.stream(run.len(), bytes, |first, raw| {
                for (raw, [_, link]) in raw.chunks_exact_mut(bytes).zip(&run[first..]) {
                    self.encode(&links[MATRIX * link..][..MATRIX], &mut scratch, raw);
                }
            })?;
        }
        Ok(sum.value())
    }

    /// Memory for the stored numbers of a piece of the file, if links have more numbers in memory.
    fn scratch(&self) -> Result<Vec<f64>> {
        let count = if self.numbers == self.memory { 0 } else { CHUNK / (self.bits as usize / 8) };
        host_array(count, 0.0, "numbers of a piece of a file")
    }

    /// Converts bytes of the file to the numbers of links or sites as they are in memory; third rows are computed.
    fn decode(&self, raw: &[u8], scratch: &mut Vec<f64>, links: &mut [f64]) {
        if self.numbers == self.memory {
            return decode(raw, self.bits, self.order, links);
        }
        scratch.resize(raw.len() / (self.bits as usize / 8), 0.0);
        decode(raw, self.bits, self.order, scratch);
        for (link, rows) in links.chunks_exact_mut(MATRIX).zip(scratch.chunks_exact(12)) {
            link[..12].copy_from_slice(rows);
            link[12..].copy_from_slice(&third_row(rows.try_into().expect("12 numbers")));
        }
    }

    fn encode(&self, links: &[f64], scratch: &mut Vec<f64>, raw: &mut [u8]) {
        if self.numbers == self.memory {
            return encode(links, self.bits, self.order, raw);
        }
        scratch.clear();
        scratch.extend(links.chunks_exact(MATRIX).flat_map(|link| &link[..self.numbers]));
        encode(scratch, self.bits, self.order, raw);
    }
}

/// Third row of an SU(3) matrix: conj(row0 × row1).
fn third_row(rows: &[f64; 12]) -> [f64; 6] {
    let mut third = [0.0; 6];
    for column in 0..3 {
        let (j, k) = (2 * ((column + 1) % 3), 2 * ((column + 2) % 3));
        let (a, b) = ([rows[j], rows[j + 1]], [rows[k], rows[k + 1]]);
        let (c, d) = ([rows[6 + j], rows[7 + j]], [rows[6 + k], rows[7 + k]]);
        third[2 * column] = a[0] * d[0] - a[1] * d[1] - (b[0] * c[0] - b[1] * c[1]);
        third[2 * column + 1] = b[0] * c[1] + b[1] * c[0] - (a[0] * d[1] + a[1] * d[0]);
    }
    third
}
