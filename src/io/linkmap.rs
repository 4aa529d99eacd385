//! What openQCD and DDalphaAMG files share: four 32-bit extents, the average of Re tr U_p
//! (3 for unit links) as a double, then every link once as 3×3 row-major complex doubles, all
//! little endian, without magic number or checksum. They differ in the order of extents and
//! links, which a [`LinkMap`] tells.

use super::stream::{decode, encode, Input, Output};
use super::MATRIX;
use super::{ddalphaamg, openqcd, ByteOrder, Codec, FileFormat, FileInfo, GaugeFile, Job, HEAD};
use crate::bail;
use crate::error::Result;

pub const CODEC: Codec = Codec {
    formats: &[FileFormat::OpenQcd, FileFormat::DdAlphaAmg],
    bits: &[64],
    orders: &[ByteOrder::Little],
    claims,
    read,
    write,
};

const MAPS: [&LinkMap; 2] = [&openqcd::MAP, &ddalphaamg::MAP];

/// Bytes of one link.
const LINK: usize = 8 * MATRIX;

/// Order of the links of one format. A link in memory is `4 * lex + μ`.
pub struct LinkMap {
    pub format: FileFormat,
    /// Axes of the four extents in the header.
    pub header: [usize; 4],
    /// Links that the file keeps together.
    pub per_item: usize,
    /// Can the format hold this lattice?
    pub holds: fn(&[usize; 4]) -> bool,
    /// Places in memory of the links of item n, in their order in the file.
    pub item: fn(&[usize; 4], usize) -> [usize; 8],
    /// Number in the file of the link in direction μ from a site: the inverse of `item`.
    pub place: fn(&[usize; 4], &[usize; 4], usize) -> usize,
}

/// Lexicographic number of a site, x fastest.
pub fn lex(n: &[usize; 4], x: &[usize; 4]) -> usize {
    x[0] + n[0] * (x[1] + n[1] * (x[2] + n[2] * x[3]))
}

/// Inverse of [`lex`].
pub fn site(n: &[usize; 4], mut lex: usize) -> [usize; 4] {
    n.map(|extent| {
        let x = lex % extent;
        lex /= extent;
        x
    })
}

/// The site one step forward.
pub fn forward(n: &[usize; 4], x: &[usize; 4], mu: usize) -> [usize; 4] {
    let mut y = *x;
    y[mu] = (y[mu] + 1) % n[mu];
    y
}

fn header(head: &[u8]) -> ([u64; 4], f64) {
    let extent = |i: usize| u32::from_le_bytes([0, 1, 2, 3].map(|b| head[4 * i + b])) as u64;
    let mut plaquette = [0.0];
    decode(&head[16..24], 64, ByteOrder::Little, &mut plaquette);
    (std::array::from_fn(extent), plaquette[0])
}

/// Without a magic number: four extents of sane size and a possible plaquette.
fn claims(head: &[u8]) -> bool {
    head.len() >= HEAD && {
        let (extents, plaquette) = header(head);
        extents.iter().all(|n| (1..=0xffff).contains(n)) && plaquette.abs() < 3.001
    }
}

/// The two formats have equal headers and lengths. The extents rule one out or, failing that,
/// the plaquette does: in the wrong order links do not close to loops. A header whose plaquette
/// belongs to neither leaves the choice to chance, and the comparison with the links fails.
fn read(input: &mut Input, expect: Option<[usize; 4]>) -> Result<GaugeFile> {
    let (found, plaquette) = header(&input.bytes(HEAD)?);
    let mut candidates = Vec::new();
    let mut refusal = None;
    for map in MAPS {
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
        return Err(refusal.expect("DDalphaAMG files hold every lattice"));
    };
    let count = 4 * extents.iter().product::<usize>();
    input.need_exactly((count * LINK) as u64, "links")?;
    let mut links = input.allocate(extents)?;
    load(input, map, &extents, &mut links)?;
    if let Some(&(other, extents2)) = candidates.get(1) {
        let as_first = |x: &[usize; 4], mu| matrix(&links, 4 * lex(&extents, x) + mu);
        let as_other = |x: &[usize; 4], mu| {
            let place = (other.place)(&extents2, x, mu);
            matrix(&links, (map.item)(&extents, place / map.per_item)[place % map.per_item])
        };
        if other_fits_better(plaquette / 3.0, (&extents, as_first), (&extents2, as_other)) {
            input.seek(HEAD as u64)?;
            load(input, other, &extents2, &mut links)?;
            (map, extents) = (other, extents2);
        }
    }
    let mut info = FileInfo::new(map.format, 64, ByteOrder::Little);
    info.plaquette = Some(plaquette / 3.0);
    Ok(GaugeFile { extents, links, info })
}

fn load(input: &mut Input, map: &LinkMap, n: &[usize; 4], links: &mut [f64]) -> Result<()> {
    let bytes = LINK * map.per_item;
    input.stream(links.len() / (MATRIX * map.per_item), bytes, |first, raw| {
        for (i, raw) in raw.chunks_exact(bytes).enumerate() {
            let slots = (map.item)(n, first + i);
            for (raw, slot) in raw.chunks_exact(LINK).zip(slots) {
                decode(raw, 64, ByteOrder::Little, &mut links[MATRIX * slot..][..MATRIX]);
            }
        }
    })
}

fn write(output: &mut Output, job: &Job) -> Result<()> {
    let map = MAPS.into_iter().find(|map| map.format == job.format).expect("a format of CODEC");
    if !(map.holds)(&job.extents) {
        bail!(BadExtents, "{:?} files hold even extents only, not {:?}", map.format, job.extents);
    }
    let plaquette = 3.0 * job.required("plaquette", job.options.plaquette)?;
    for axis in map.header {
        output.put(&(job.extents[axis] as i32).to_le_bytes())?;
    }
    output.put(&plaquette.to_le_bytes())?;
    let bytes = LINK * map.per_item;
    output.stream(job.links.len() / (MATRIX * map.per_item), bytes, |first, raw| {
        for (i, raw) in raw.chunks_exact_mut(bytes).enumerate() {
            let slots = (map.item)(&job.extents, first + i);
            for (raw, slot) in raw.chunks_exact_mut(LINK).zip(slots) {
                encode(matrix(job.links, slot), 64, ByteOrder::Little, raw);
            }
        }
    })
}

fn matrix(links: &[f64], slot: usize) -> &[f64] {
    &links[MATRIX * slot..][..MATRIX]
}

/// Is the header's plaquette nearer to the mean of the second reading than of the first? A
/// sample of sites decides where it can; the whole lattice does on small or disordered ones.
fn other_fits_better<'a>(
    plaquette: f64,
    first: (&[usize; 4], impl Fn(&[usize; 4], usize) -> &'a [f64]),
    other: (&[usize; 4], impl Fn(&[usize; 4], usize) -> &'a [f64]),
) -> bool {
    const SAMPLE: usize = 4096;
    let volume = first.0.iter().product::<usize>();
    let mut sites = SAMPLE.min(volume);
    loop {
        let miss_first = (mean_plaquette(first.0, sites, &first.1) - plaquette).abs();
        let miss_other = (mean_plaquette(other.0, sites, &other.1) - plaquette).abs();
        if sites == volume || (miss_first - miss_other).abs() > 0.1 {
            return miss_other < miss_first;
        }
        sites = volume;
    }
}

/// Mean of Re tr U_p / 3 over the plaquettes of `sites` sites spread over the lattice.
fn mean_plaquette<'a>(
    n: &[usize; 4],
    sites: usize,
    link: &impl Fn(&[usize; 4], usize) -> &'a [f64],
) -> f64 {
    let volume = n.iter().product::<usize>();
    let mut sum = 0.0;
    for k in 0..sites {
        let x = site(n, (k as u128 * volume as u128 / sites as u128) as usize);
        for nu in 1..4 {
            for mu in 0..nu {
                let one = product(link(&x, mu), link(&forward(n, &x, mu), nu));
                let two = product(link(&x, nu), link(&forward(n, &x, nu), mu));
                sum += one.iter().zip(&two).map(|(a, b)| a * b).sum::<f64>();
            }
        }
    }
    sum / (18.0 * sites as f64)
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
    fn place_inverts_item() {
        let n = [4, 6, 2, 8];
        for map in MAPS {
            for place in 0..4 * n.iter().product::<usize>() {
                let slot = (map.item)(&n, place / map.per_item)[place % map.per_item];
                assert_eq!((map.place)(&n, &site(&n, slot / 4), slot % 4), place);
            }
        }
    }
}
