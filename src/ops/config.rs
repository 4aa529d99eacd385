//! Reads gauge configurations from files onto devices, and writes them.

use std::path::Path;
use std::sync::Arc;

use super::observables::{plaquette, projection, Plaquette};
use crate::backend::{Device, External};
use crate::bail;
use crate::comm::{coordinates, Comm};
use crate::error::{host_array, significant, Error, Result, Status};
use crate::fields::{
    BoundaryKind, BoundaryTime, GaugeField, Geometry, Group, Layout, LinkOptions, Precision, Recon,
};
use crate::io::{
    FieldReader, FieldShape, FileFormat, FileInfo, GaugeReader, GaugeWriter, Part, Warning,
    WriteOptions,
};
use crate::params::{Choice as _, Key};
use crate::refuse;

/// Settings of `load_gauge`: checks of the file, and changes made to its links.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// Extents X, Y, Z, T that the lattice of the file must have; None: any.
    pub expect: Option<[usize; 4]>,
    /// Largest accepted violation of unitarity. None: 1e-10 for files in double precision, 1e-5 for files in single. If
    /// most links of a file in double violate it by more than 1e-10, the file is treated as one in single, and
    /// `FileInfo::warnings` says so.
    pub unitarity: Option<f64>,
    /// True: links are put back into SU(3) after the check (Gram-Schmidt of two rows, third row by cross product).
    pub reunitarise: bool,
    /// Largest accepted difference of plaquette and link trace between the file's header and its links. None: half a
    /// unit of the header's last decimal plus the rounding that other codes have in their sums, 1e-9 for links in
    /// double and 1e-6 in single precision.
    pub header: Option<f64>,
    /// True: links are read even if the file's checksum is wrong; `FileInfo::warnings` says so.
    pub wrong_checksum: bool,
    /// Boundaries of the links in time. None: those that the header names, open for a file of openQCD whose last slice
    /// has temporal links that are all exactly zero, else periodic.
    pub boundary_time: Option<BoundaryTime>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions {
            expect: None,
            unitarity: None,
            reunitarise: true,
            header: None,
            wrong_checksum: false,
            boundary_time: None,
        }
    }
}

/// A configuration on a device, with the information of its file and the observables of its links.
#[derive(Debug)]
pub struct Loaded {
    pub gauge: GaugeField,
    pub info: FileInfo,
    pub plaquette: Plaquette,
}

/// The checksums of all ranks' parts, given that of this rank.
pub(super) fn shares(comm: &Comm, mine: [u32; 2]) -> Result<Vec<[u32; 2]>> {
    let all = comm.all_gather(bytemuck::bytes_of(&mine))?;
    Ok(all.chunks_exact(size_of::<[u32; 2]>()).map(bytemuck::pod_read_unaligned).collect())
}

/// Makes a writer on every rank: the first rank creates the file, the others join it by its temporary name.
pub(super) fn created_by_all<W>(
    comm: &Comm,
    create: impl FnOnce() -> Result<W>,
    temporary: impl FnOnce(&W) -> String,
    join: impl FnOnce(&str) -> Result<W>,
) -> Result<W> {
    let created = comm.agree(if comm.rank() == 0 { create().map(Some) } else { Ok(None) })?;
    let mut name = [0; 64];
    if let Some(writer) = &created {
        let bytes = temporary(writer).into_bytes();
        name[..bytes.len()].copy_from_slice(&bytes);
    }
    let names = comm.all_gather(&name)?;
    comm.agree(match created {
        Some(writer) => Ok(writer),
        None => join(String::from_utf8_lossy(&names[..64]).trim_end_matches('\0')),
    })
}

/// Opens the file on every rank; the first rank finds the format for all.
fn open(comm: &Comm, path: &Path, options: &LoadOptions) -> Result<GaugeReader> {
    let expect = options.expect;
    let phi_prime = options.boundary_time.and_then(|boundary| boundary.phi_prime());
    let first =
        (comm.rank() == 0).then(|| GaugeReader::open_bounded(path, expect, phi_prime)).transpose();
    let first = comm.agree(first)?;
    let found = first.as_ref().map(|file| file.info().format);
    let place = FileFormat::ALL.iter().position(|format| Some(*format) == found);
    let gathered = comm.all_gather(&[place.unwrap_or(0) as u8])?;
    let format = FileFormat::ALL[gathered[0] as usize];
    comm.agree(first.map_or_else(|| GaugeReader::open_as(path, expect, format), Ok))
}

pub(super) fn part(geometry: &Geometry) -> Part {
    let (lattice, origin) = (geometry.global_extents(), geometry.origin());
    Part { lattice, origin, extents: geometry.extents() }
}

/// Whether most links have first rows whose length deviates from 1 by more than double precision allows. A few such
/// rows are damage; if most are, the links were computed or stored in single precision.
fn mostly_coarse(comm: &Comm, links: &[f64]) -> Result<bool> {
    let coarse = |link: &&[f64]| (link[..6].iter().map(|v| v * v).sum::<f64>() - 1.0).abs() > 1e-10;
    let count = links.chunks_exact(18).filter(coarse).count();
    let mut counts = [count as f64, (links.len() / 18) as f64];
    comm.sum(&mut counts)?;
    Ok(2.0 * counts[0] > counts[1])
}

/// The average link trace as defined in headers, which also counts links that do not exist because of boundaries in
/// time.
fn header_trace(geometry: &Geometry, found: &Plaquette) -> f64 {
    let absent = match geometry.boundary().lacks_links() {
        true => 0.25 / geometry.global_extents()[3] as f64,
        false => 0.0,
    };
    (1.0 - absent) * found.link_trace
}

/// Links that are exactly zero on the whole lattice.
struct ZeroLinks {
    /// Number of temporal links of the last time slice that are zero.
    ends: usize,
    /// Number of all other links that are zero.
    others: usize,
    /// Site x, y, z, t and direction of the first of the other links that are zero.
    first: Option<([usize; 4], usize)>,
}

impl ZeroLinks {
    fn of(geometry: &Geometry, links: &[f64]) -> Result<Self> {
        let (extents, origin) = (geometry.extents(), geometry.origin());
        let global = geometry.global_extents();
        let mut counts = [0.0; 2];
        let mut first = f64::INFINITY;
        for (i, link) in links.chunks_exact(18).enumerate() {
            if link.iter().any(|v| *v != 0.0) {
                continue;
            }
            let local = coordinates(extents, i / 4);
            let x: [usize; 4] = std::array::from_fn(|mu| local[mu] + origin[mu]);
            let ends = i % 4 == 3 && x[3] + 1 == global[3];
            counts[!ends as usize] += 1.0;
            if !ends {
                let lex = x.iter().zip(global).rev().fold(0, |lex, (x, l)| lex * l + x);
                first = first.min((4 * lex + i % 4) as f64);
            }
        }
        geometry.comm().sum(&mut counts)?;
        let mut negated = [-first];
        geometry.comm().max(&mut negated)?;
        let place = |number: usize| (coordinates(global, number / 4), number % 4);
        let first = negated[0].is_finite().then(|| place(-negated[0] as usize));
        Ok(ZeroLinks { ends: counts[0] as usize, others: counts[1] as usize, first })
    }
}

/// The record of the header that names boundaries in time of the links; None: the links may have any.
fn named_by(info: &FileInfo) -> Option<&String> {
    // Headers of NERSC files may name there the sign of quarks, or words of other programs.
    info.boundary_time.as_ref().filter(|record| {
        let text = record.to_lowercase();
        let word = text.split(',').next().unwrap_or_default().trim();
        !text.ends_with("periodic") && BoundaryKind::from_word(word, "").is_ok()
    })
}

/// The boundaries in time that the caller states, which the header of the file must not contradict; if none are stated,
/// those that the header names.
fn stated_or_named(stated: Option<BoundaryTime>, info: &FileInfo) -> Result<Option<BoundaryTime>> {
    let Some(record) = named_by(info) else { return Ok(stated) };
    let Some(stated) = stated else { return BoundaryTime::of_record(record).map(Some) };
    // A header with a word alone, as other programs write it, says nothing about the angles of the boundary.
    match BoundaryTime::of_record(record) {
        Ok(named) if named != stated => refuse!(
            BadParameter,
            "boundary_time",
            expected("{}, which the file names", named.stated()),
            found("{}", stated.stated())
        ),
        _ => Ok(Some(stated)),
    }
}

/// The boundaries in time that the links of a file have, or that the caller or the header states if these fit the
/// links.
fn boundary_of(
    stated: Option<BoundaryTime>,
    info: &FileInfo,
    geometry: &Geometry,
    links: &[f64],
) -> Result<BoundaryTime> {
    let (stated, format) = (stated_or_named(stated, info)?, info.format);
    let zero = ZeroLinks::of(geometry, links)?;
    let ends = zero.ends;
    let all = geometry.global_volume() / geometry.global_extents()[3];
    // Links that are zero elsewhere are refused by the check of unitarity, but for those of lattices that look open.
    let open = ends == all;
    if let (true, Some((x, mu))) = (open, zero.first) {
        refuse!(
            NotUnitary,
            format!("link at {x:?}, direction {}", ["x", "y", "z", "t"][mu]),
            expected("a link of SU(3): with open boundaries temporal links of the last slice alone are zero"),
            found("zero, as {} links besides those of the last slice", zero.others)
        );
    }
    let found = match open {
        true => "temporal links of the last slice that are all zero".to_string(),
        false => format!("{ends} of {all} temporal links of the last slice zero"),
    };
    // Where the header has the plaquette, that of links read as periodic differs from it.
    let kind = stated.map_or(BoundaryKind::Periodic, |stated| stated.kind());
    let unknown = kind == BoundaryKind::Periodic && info.plaquette.is_none();
    if unknown || kind == BoundaryKind::OpenSf {
        refuse_fixed(geometry, links, kind)?;
    }
    match stated {
        None if open && format == FileFormat::OpenQcd => Ok(BoundaryTime::Open),
        None if open => Err(Error::refused(
            Status::NotUnitary,
            "boundary_time",
            "links that are not zero, or boundary_time open",
            found,
        )
        .hint("such links have open boundaries")),
        None => Ok(BoundaryTime::Periodic),
        Some(stated) if stated.lacks_links() == open => Ok(stated),
        Some(stated) => {
            let expected = match stated.lacks_links() {
                true => "temporal links of the last slice that are all zero, as boundary_time is",
                false => "links of the last slice that are not zero, as boundary_time is",
            };
            refuse!(
                BadParameter,
                "boundary_time",
                expected("{expected} {}", stated.kind()),
                found("{found}")
            );
        }
    }
}

/// Refuses links with the fixed spatial links exp(i diag(phi) / L_k) of a Schroedinger functional on slice 0 for another
/// kind of boundaries in time.
///
/// # Errors
/// `BadParameter`.
fn refuse_fixed(geometry: &Geometry, links: &[f64], kind: BoundaryKind) -> Result<()> {
    if !fixed_on_slice(geometry, links, 0)? || fixed_on_slice(geometry, links, 1)? {
        return Ok(());
    }
    refuse!(
        BadParameter,
        "boundary_time",
        expected("sf with the angles phi and phi_prime, as spatial links of slice 0 are fixed diagonal matrices"),
        found("{kind}")
    );
}

/// Whether the spatial links of slice t are a diagonal matrix for each direction, the same on all sites, which is not
/// the unit matrix for all directions.
fn fixed_on_slice(geometry: &Geometry, links: &[f64], t: usize) -> Result<bool> {
    const ROUNDING: f64 = 1e-6;
    let (local, origin) = (geometry.extents(), geometry.origin());
    let here = (origin[3]..origin[3] + local[3]).contains(&t);
    let area = local[..3].iter().product::<usize>();
    let slice = match here {
        true => &links[72 * area * (t - origin[3])..][..72 * area],
        false => &[],
    };
    // The links of the first site of the slice, from the rank that has it.
    let mut first = [0.0; 54];
    if here && origin[..3] == [0; 3] {
        first.copy_from_slice(&slice[..54]);
    }
    geometry.comm().sum(&mut first)?;
    let differs = |site: &[f64]| site.iter().zip(&first).any(|(a, b)| (a - b).abs() > ROUNDING);
    let entry = |i: usize| (i % 18) / 2;
    let diagonal = first.iter().enumerate().all(|(i, v)| entry(i) % 4 == 0 || *v == 0.0);
    let one = first.iter().enumerate().all(|(i, v)| {
        let unit = if entry(i) % 4 == 0 && i % 2 == 0 { 1.0 } else { 0.0 };
        (v - unit).abs() < ROUNDING
    });
    let mut others = [slice.chunks_exact(72).filter(|site| differs(&site[..54])).count() as f64];
    geometry.comm().sum(&mut others)?;
    Ok(diagonal && !one && others == [0.0])
}

/// Refuses links whose spatial links on slice 0 differ from the fixed values that their boundaries in time prescribe,
/// and sets those of links that are stored whole to these values, as the numbers from which they come are rounded.
/// `unitarity`: the largest violation of unitarity that was accepted of the links; None: any. Of fixed links those
/// numbers are expected to be rounded as much, but to single precision at most, or to that of the field.
///
/// # Errors
/// `BadParameter`.
pub fn fix_links(gauge: &mut GaugeField, unitarity: Option<f64>) -> Result<()> {
    const SINGLE: f64 = 1e-6;
    let Some(phi) = gauge.geometry().boundary().phi() else { return Ok(()) };
    let whole = gauge.recon() == Recon::R18 && gauge.precision() != Precision::F16;
    let own = match gauge.precision() {
        Precision::F64 => 1e-10,
        Precision::F32 => SINGLE,
        Precision::F16 => 1e-4,
    };
    // Numbers that are computed of eight others have larger errors.
    let own = match gauge.recon() {
        Recon::R18 | Recon::R12 => own,
        _ => 10.0 * own,
    };
    let tolerance = unitarity.map_or(SINGLE, |unitarity| unitarity.min(SINGLE)).max(own);
    let mut bound = gauge.to(Precision::F64, Recon::R18)?;
    bound.bind()?;
    let off = bound.distance(&gauge.to(Precision::F64, Recon::R18)?)?;
    if off.is_nan() || off > tolerance {
        refuse!(
            BadParameter,
            "phi",
            expected("spatial links of slice 0 that are exp(i diag{phi:?} / L_k) to {tolerance:e}"),
            found("links that differ from these by {}", significant(off, 2))
        );
    }
    match whole {
        true => gauge.bind(),
        false => Ok(()),
    }
}

/// Sets the fixed spatial links on slice 0 to the values that boundaries in time prescribe. `links`: this rank's
/// links, x fastest, in double precision.
fn fix_on_host(geometry: &Geometry, links: &mut [f64]) {
    if geometry.boundary().phi().is_none() || geometry.origin()[3] > 0 {
        return;
    }
    let edge = geometry.boundary().args_below(geometry.global_extents());
    let area: usize = geometry.extents()[..3].iter().product();
    for site in links[..72 * area].chunks_exact_mut(72) {
        for (k, link) in site[..54].chunks_exact_mut(18).enumerate() {
            link.fill(0.0);
            for a in 0..3 {
                (link[8 * a], link[8 * a + 1]) = (edge.edge_re[3 * k + a], edge.edge_im[3 * k + a]);
            }
        }
    }
}

/// Lattice X, Y, Z, T and boundaries in time of a configuration as [`load_gauge`] will find them if it accepts the
/// file, from its header and, in openQCD's format, the links of its last time slice. Links are not checked.
///
/// # Errors
/// Errors of [`GaugeReader::open_bounded`] and [`GaugeReader::read`]; `BadParameter`: the header names other
/// boundaries.
pub fn lattice_of(path: &Path, stated: Option<BoundaryTime>) -> Result<([usize; 4], BoundaryTime)> {
    let phi_prime = stated.and_then(|boundary| boundary.phi_prime());
    let mut file = GaugeReader::open_bounded(path, None, phi_prime)?;
    let lattice = file.extents();
    let named = |e: Error| e.at(path.display());
    if let Some(boundary) = stated_or_named(stated, file.info()).map_err(named)? {
        return Ok((lattice, boundary));
    }
    if file.info().format != FileFormat::OpenQcd {
        return Ok((lattice, BoundaryTime::Periodic));
    }
    let [x, y, z, t] = lattice;
    let last = Part { lattice, origin: [0, 0, 0, t - 1], extents: [x, y, z, 1] };
    let (links, _) = file.read(&last)?;
    let open = links.chunks_exact(72).all(|site| site[54..].iter().all(|v| *v == 0.0));
    Ok((lattice, if open { BoundaryTime::Open } else { BoundaryTime::Periodic }))
}

/// Largest violation of unitarity that rounding to single precision leaves.
const ROUNDING: f64 = 4.0 * f32::EPSILON as f64;

/// Reads a configuration in any format of [`crate::io`] onto the devices of all ranks, each its part. Checked are
/// checksums, finiteness, unitarity, and plaquette and link trace against the header. Links pass through a field in
/// double precision on the device. With `reunitarise`, links of a file in single precision that are unitary to rounding
/// are not projected if they are read into a field in single precision.
///
/// # Errors
/// Errors of [`crate::io::read_gauge`]; `BadExtents`: the lattice cannot be divided; `NotFinite`,
/// `NotUnitary`: a link is broken; `FilePlaquette`: header and links differ; `Unsupported`: an
/// SU(2) storage was asked for; `OutOfMemory`. Nothing is returned half loaded.
pub fn load_gauge(
    device: &Device,
    comm: &Arc<Comm>,
    path: &Path,
    precision: Precision,
    recon: Recon,
    options: &LoadOptions,
) -> Result<Loaded> {
    if recon.group() != Group::Su3 {
        bail!(Unsupported, "load: files hold SU(3) links, found storage {recon}");
    }
    let named = |e: Error| e.at(path.display());
    let mut file = open(comm, path, options)?;
    let geometry = Geometry::decomposed(file.extents(), device, comm).map_err(named)?;
    let (links, share) = comm.agree(file.read(&part(&geometry)))?;
    let mut info = file.info().clone();
    match file.verify(&shares(comm, share)?) {
        Err(e) if options.wrong_checksum && e.status == Status::FileChecksum => {
            info.warnings.insert(Warning::WrongChecksum);
        }
        verified => verified?,
    }
    let boundary = boundary_of(options.boundary_time, &info, &geometry, &links);
    let geometry = geometry.bounded(boundary.map_err(named)?).map_err(named)?;
    let form = (Precision::F64, Recon::R18);
    let layout = Layout::lexicographic(Precision::F64);
    let host = External::read(&[&links[..]]);
    let read = |device: &Device, options: LinkOptions| {
        GaugeField::from_external(device, &geometry, form, &layout, &host, options).map_err(named)
    };
    // A file in single precision that is read into a field in single keeps its links if they are unitary to rounding:
    // projected, they would be rounded anew each time they are read and written.
    let rounded = options.reunitarise
        && info.precision_bits == 32
        && (precision, recon) == (Precision::F32, Recon::R18);
    let as_they_are = |device: &Device, tolerance: Option<f64>| {
        let tolerance = Some(tolerance.map_or(ROUNDING, |t| t.min(ROUNDING)));
        read(device, LinkOptions { tolerance, reproject: false })
    };
    let projected = |device: &Device, tolerance: Option<f64>| {
        read(device, LinkOptions { tolerance, reproject: options.reunitarise })
    };
    let onto = |device: &Device, tolerance: Option<f64>| match rounded {
        true => match as_they_are(device, tolerance) {
            Err(e) if e.status == Status::NotUnitary => projected(device, tolerance),
            done => done,
        },
        false => projected(device, tolerance),
    };
    let convert = |exact: GaugeField| match (precision, recon) == form {
        true => Ok(exact),
        false => exact.to(precision, recon),
    };
    let (extents, boundary) = (geometry.extents(), geometry.boundary().kind());
    let key = (extents, boundary, precision, recon, options.reunitarise, rounded);
    let key = Key::of(("links", key));
    let [in_double, in_single] =
        [Precision::F64, Precision::F32].map(|p| LinkOptions::checked(p).tolerance);
    geometry.precompile(device, None, false, key, |device| {
        // Whether links are projected after they were read as they are depends on their numbers.
        if rounded {
            as_they_are(device, in_double)?;
        }
        let exact = projected(device, in_double)?;
        plaquette(&exact)?;
        // Propagators and files keep it to know the links by.
        projection(&exact)?;
        convert(exact)
    });
    let mut double = info.precision_bits == 64;
    let tolerance = options.unitarity.or(if double { in_double } else { in_single });
    let mut exact = match onto(device, tolerance) {
        Err(e) if double && options.unitarity.is_none() && e.status == Status::NotUnitary => {
            if !mostly_coarse(comm, &links)? {
                return Err(e);
            }
            double = false;
            info.warnings.insert(Warning::SinglePrecision);
            onto(device, in_single)?
        }
        loaded => loaded?,
    };
    info.warnings.log(path);
    let accepted = if double { options.unitarity.or(in_double) } else { in_single };
    fix_links(&mut exact, accepted).map_err(named)?;
    let found = plaquette(&exact)?;
    let allowed =
        options.header.unwrap_or(info.header_resolution + if double { 1e-9 } else { 1e-6 });
    for (name, header, links) in [
        ("plaquette", info.plaquette, found.unweighted),
        ("link trace", info.link_trace, header_trace(&geometry, &found)),
    ] {
        // A header with NaN is refused as well.
        if header.is_some_and(|h| h.is_nan() || (h - links).abs() > allowed) {
            let boundary = geometry.boundary();
            let unnamed = named_by(&info).is_none();
            let advice = match boundary {
                BoundaryTime::Periodic if unnamed => format!(
                    " with {boundary}; links with boundaries of the Schroedinger functional need boundary_time \
                     sf with phi and phi_prime, or open_sf with phi_prime"
                ),
                // The fixed links at slice 0 agree already with the stated phi.
                BoundaryTime::Sf { .. } | BoundaryTime::OpenSf { .. } if unnamed => format!(
                    " with {}; another phi_prime, or another boundary_time, gives another plaquette",
                    boundary.stated()
                ),
                _ => String::new(),
            };
            bail!(
                FilePlaquette,
                "{}: {name} in the header {}, of the links {links} read as format {}, allowed difference \
                 {allowed:e}{advice}",
                path.display(),
                header.unwrap_or(f64::NAN),
                info.format
            );
        }
    }
    Ok(Loaded { gauge: convert(exact)?, info, plaquette: found })
}

/// Projects links onto SU(3) in double precision, for files with more digits than the field has; the links must be
/// unitary in the precision of their field. `None`: the file has no more digits than the field, or the links are not
/// unitary and are written as they are.
fn as_exact_as_the_file(
    gauge: &GaugeField,
    format: FileFormat,
    options: &WriteOptions,
    layout: &Layout,
    links: &mut [f64],
) -> Result<Option<GaugeField>> {
    let tolerance = match (gauge.precision(), options.bits(format)) {
        (Precision::F16, _) => 1e-2,
        (Precision::F32, 64) => 1e-4,
        _ => return Ok(None),
    };
    let (device, geometry) = (gauge.device(), gauge.geometry());
    let form = (Precision::F64, Recon::R18);
    let tolerance = LinkOptions { tolerance: Some(tolerance), reproject: true };
    let host = External::read(&[&*links]);
    match GaugeField::from_external(device, geometry, form, layout, &host, tolerance) {
        Ok(exact) => {
            exact.save(layout, &mut External::write(vec![links]))?;
            Ok(Some(exact))
        }
        Err(e) if matches!(e.status, Status::NotUnitary | Status::NotFinite) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Writes an SU(3) field, every rank its part; all ranks call this. Plaquette and link trace of the header are
/// computed if `options` does not give them. Links of a field with fewer digits than the file are projected onto
/// SU(3) before. The file appears complete or not at all.
///
/// # Errors
/// `Unsupported`: SU(2) links; else those of [`crate::io::write_gauge`].
pub fn save_gauge(
    path: &Path,
    gauge: &GaugeField,
    format: FileFormat,
    options: &WriteOptions,
) -> Result<()> {
    save_gauge_and_fields(path, gauge, format, options, &[])
}

/// Writes an SU(3) field as [`save_gauge`] does, with further fields of real numbers in the same ILDG file. Of each
/// field `data` holds this rank's sites, x fastest, with as many reals per site as `options.fields` says.
///
/// # Errors
/// Errors of [`save_gauge`]; `BadExtents`: `data` is not of the length that this rank's sites require.
pub(super) fn save_gauge_and_fields(
    path: &Path,
    gauge: &GaugeField,
    format: FileFormat,
    options: &WriteOptions,
    fields: &[Vec<f64>],
) -> Result<()> {
    if gauge.group() != Group::Su3 {
        bail!(Unsupported, "save: files hold SU(3) links, found SU(2)");
    }
    let geometry = gauge.geometry();
    let (comm, extents) = (geometry.comm(), geometry.global_extents());
    let links = host_array(72 * geometry.volume(), 0.0, "the host's copy of the links");
    let mut links = comm.agree(links)?;
    let layout = Layout::lexicographic(Precision::F64);
    gauge.save(&layout, &mut External::write(vec![&mut links[..]]))?;
    // Fields with fewer digits than the file have them rounded.
    fix_on_host(geometry, &mut links);
    let exact = as_exact_as_the_file(gauge, format, options, &layout, &mut links)?;
    let mut options = options.clone();
    if options.plaquette.is_none() || options.link_trace.is_none() {
        let found = plaquette(exact.as_ref().unwrap_or(gauge))?;
        options.plaquette.get_or_insert(found.unweighted);
        options.link_trace.get_or_insert(header_trace(geometry, &found));
    }
    drop(exact);
    let (boundary, first) = (geometry.boundary(), comm.rank() == 0);
    if !boundary.is_periodic() {
        options.boundary_time.get_or_insert(boundary.record());
    }
    if first && format == FileFormat::Milc && boundary.kind() == BoundaryKind::OpenSf {
        // Links that are zero or fixed tell the other kinds.
        log::warn!(
            "{}: nothing in a file of MILC tells boundaries in time as these, it is read as periodic without boundary_time {}",
            path.display(),
            boundary.record()
        );
    }

    let mut writer = created_by_all(
        comm,
        || GaugeWriter::create(path, format, &options, extents),
        GaugeWriter::temporary,
        |name| GaugeWriter::join(path, name, format, &options, extents),
    )?;
    let share = comm.agree(writer.write(&part(geometry), &links))?;
    let of_links = shares(comm, share)?;
    for (k, numbers) in fields.iter().enumerate() {
        let share = comm.agree(writer.write_field(k, &part(geometry), numbers))?;
        let all = shares(comm, share)?;
        comm.agree(if first { writer.finish_field(k, &all) } else { Ok(()) })?;
    }
    comm.agree(if first { writer.finish(&of_links) } else { Ok(()) })
}

/// Reads the fields that [`save_gauge_and_fields`] wrote beside the links, every rank its part, and checks their
/// checksums; empty if the file has none.
///
/// # Errors
/// Errors of [`FieldReader`].
pub(super) fn load_fields(path: &Path, geometry: &Geometry) -> Result<Vec<(FieldShape, Vec<f64>)>> {
    let comm = geometry.comm();
    let mut file = comm.agree(FieldReader::open(path, geometry.global_extents()))?;
    let shapes: Vec<FieldShape> = file.shapes().cloned().collect();
    let mut all = vec![];
    for (k, shape) in shapes.into_iter().enumerate() {
        let (numbers, share) = comm.agree(file.read(k, &part(geometry)))?;
        file.verify(k, &shares(comm, share)?)?;
        all.push((shape, numbers));
    }
    Ok(all)
}
