//! Reads propagators from files onto devices, and writes them.

use std::path::Path;
use std::sync::Arc;

use super::config::{created_by_all, part, shares};
use super::propagator::COLUMNS;
use super::source::{check_spinors, column_on_host, support, Support};
use crate::backend::{Device, External};
use crate::comm::Comm;
use crate::error::{host_array, Error, Result, Status};
use crate::fields::{GammaBasis, Geometry, Layout, Precision, SpinorField, Subset};
use crate::io::{Origin, PropagatorKind, PropagatorOptions, PropagatorReader, PropagatorWriter};
use crate::refuse;

/// Number of reals of a spinor.
const SPINOR: usize = 24;

/// Settings for [`save_propagator`].
#[derive(Clone, Debug, Default)]
pub struct SaveOptions {
    /// Kind of the file. `None`: with sources, USQCD's file of one scalar source and twelve columns if the sources
    /// have that form, else pairs of source and solution; without sources, QDP++'s matrices.
    pub kind: Option<PropagatorKind>,
    /// Bits of a number, 32 or 64; `None`: 64 for fields in double precision, else 32.
    pub precision_bits: Option<u32>,
    /// Text for human readers, contained in every record.
    pub info: String,
    /// Information on the source and the operator. Source coordinates that it lacks are determined from the sources.
    pub origin: Origin,
    /// Date in the records; `None`: the present time in UTC.
    pub date: Option<String>,
}

fn layout() -> Layout {
    Layout::lexicographic_spinor(Precision::F64, GammaBasis::DeGrandRossi)
}

/// If every source is zero except at the spin and colour of its column, and all are equal there, that complex field;
/// else `None`.
fn scalar(sources: &SpinorField) -> Result<Option<Vec<f64>>> {
    let comm = sources.geometry().comm();
    let (mut first, mut other) = (Vec::new(), [0.0]);
    for k in 0..sources.nrhs() {
        let host = comm.agree(column_on_host(sources, k))?;
        let mine = |site: &[f64]| [site[2 * k], site[2 * k + 1]];
        if k == 0 {
            first = host.chunks_exact(SPINOR).flat_map(mine).collect();
        }
        for (site, wanted) in host.chunks_exact(SPINOR).zip(first.chunks_exact(2)) {
            let rest = site.iter().enumerate().any(|(i, &x)| i / 2 != k && x != 0.0);
            other[0] += f64::from(u8::from(rest || mine(site) != wanted));
        }
    }
    comm.sum(&mut other)?;
    Ok((other == [0.0]).then_some(first))
}

/// Index in QDP++'s order \[sink spin\]\[source spin\]\[sink colour\]\[source colour\] of a component of a column.
fn matrix_index(column: usize, component: usize) -> usize {
    let ((i, a), (j, b)) = ((component / 3, component % 3), (column / 3, column % 3));
    ((4 * i + j) * 3 + a) * 3 + b
}

/// Writes a propagator, every rank its part; all ranks call this. `sources`: the sources for which it was solved, as
/// many columns. The file appears complete or not at all.
///
/// # Errors
/// `FieldMismatch`: not spinors on the full lattice, or sources that do not fit; `InvalidArgument`: a kind
/// that the columns or the sources do not have, or no sources where it has some; else those of
/// [`PropagatorWriter`].
pub fn save_propagator(
    path: &Path,
    propagator: &SpinorField,
    sources: Option<&SpinorField>,
    options: &SaveOptions,
) -> Result<()> {
    check_spinors(propagator, "propagator")?;
    if let Some(sources) = sources {
        propagator.check_like(sources, "sources")?;
    }
    let (geometry, columns) = (propagator.geometry(), propagator.nrhs());
    let comm = geometry.comm();
    let wants_scalar = match (options.kind, sources) {
        (None | Some(PropagatorKind::ScalarSource), Some(_)) => columns == COLUMNS,
        _ => false,
    };
    let scalar = match sources {
        Some(sources) if wants_scalar => scalar(sources)?,
        _ => None,
    };
    let kind = match options.kind {
        Some(kind) => kind,
        None if scalar.is_some() => PropagatorKind::ScalarSource,
        None if sources.is_some() => PropagatorKind::Pairs,
        None => PropagatorKind::Matrix,
    };
    if kind == PropagatorKind::ScalarSource && scalar.is_none() {
        refuse!(
            InvalidArgument,
            "sources",
            expected("twelve columns of one complex field, each at its spin and colour")
        );
    }
    if kind == PropagatorKind::Pairs && sources.is_none() {
        refuse!(InvalidArgument, "sources", expected("a field for a file of pairs"), found("none"));
    }
    let double = propagator.precision() == Precision::F64;
    let bits = options.precision_bits.unwrap_or(if double { 64 } else { 32 });
    let (info, date, mut origin) = (options.info.clone(), options.date.clone(), options.origin);
    if let Some(sources) = sources.filter(|_| origin.position == [None; 4]) {
        origin.position = support(sources)?;
    }
    let options = PropagatorOptions { kind, bits, info, origin, date };
    let shape = (geometry.global_extents(), columns);
    let mut writer = created_by_all(
        comm,
        || PropagatorWriter::create(path, &options, shape),
        PropagatorWriter::temporary,
        |name| PropagatorWriter::join(path, name, &options, shape),
    )?;
    let place = part(geometry);
    let mut sums = Vec::new();
    let mut put = |numbers: Result<Vec<f64>>| {
        let k = sums.len();
        let written = numbers.and_then(|numbers| writer.write(k, &place, &numbers));
        sums.push(shares(comm, comm.agree(written)?)?);
        Ok::<(), Error>(())
    };
    match kind {
        PropagatorKind::Matrix => {
            let count = SPINOR * COLUMNS * geometry.volume();
            let mut all = comm.agree(host_array(count, 0.0, "a propagator on the host"))?;
            for k in 0..columns {
                let host = comm.agree(column_on_host(propagator, k))?;
                let sites = host.chunks_exact(SPINOR).zip(all.chunks_exact_mut(SPINOR * COLUMNS));
                for (from, to) in sites {
                    for (i, z) in from.chunks_exact(2).enumerate() {
                        to[2 * matrix_index(k, i)..][..2].copy_from_slice(z);
                    }
                }
            }
            put(Ok(all))?;
        }
        PropagatorKind::ScalarSource => {
            put(Ok(scalar.unwrap_or_default()))?;
            (0..columns).try_for_each(|k| put(column_on_host(propagator, k)))?;
        }
        PropagatorKind::Pairs => {
            for k in 0..columns {
                put(sources.map_or(Ok(Vec::new()), |sources| column_on_host(sources, k)))?;
                put(column_on_host(propagator, k))?;
            }
        }
    }
    comm.agree(writer.sync())?;
    comm.agree(if comm.rank() == 0 { writer.finish(&sums) } else { Ok(()) })
}

/// Settings for [`load_propagator`].
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    /// Precision of the field that is returned; `None`: that of the file.
    pub precision: Option<Precision>,
    /// Extents that the lattice of the file must have; `None`: any.
    pub extents: Option<[usize; 4]>,
    /// True: columns are read even if a checksum of the file is wrong, with a warning in the log.
    pub wrong_checksum: bool,
}

/// A new field from a propagator file of any kind: twelve columns 3 spin + colour where the file says which they are,
/// else columns in the order of the file. Every rank reads its part; checksums and finiteness are checked. It comes
/// with what the file states about source and operator; if the coordinates of the source are not stated, they are
/// determined from the file's sources, if it has any.
///
/// # Errors
/// Errors of [`PropagatorReader`]; `BadExtents`: the lattice cannot be divided; `NotFinite`;
/// `OutOfMemory`.
pub fn load_propagator(
    device: &Device,
    comm: &Arc<Comm>,
    path: &Path,
    options: &LoadOptions,
) -> Result<(SpinorField, Origin)> {
    let named = |e: Error| e.at(path.display());
    let mut file = comm.agree(PropagatorReader::open(path, options.extents))?;
    file.warnings().log(path);
    let geometry = Geometry::decomposed(file.extents(), device, comm).map_err(named)?;
    let of_file = if file.bits() == 64 { Precision::F64 } else { Precision::F32 };
    let precision = options.precision.unwrap_or(of_file);
    let columns = if file.is_matrix() { COLUMNS } else { file.fields() };
    let bytes = SpinorField::bytes(&geometry, precision, Subset::Full, columns);
    comm.agree(device.require(bytes as u64, "this propagator").map_err(named))?;
    let new = |n| SpinorField::new(device, &geometry, precision, Subset::Full, n);
    let (mut all, mut one) = comm.agree(new(columns).and_then(|all| Ok((all, new(1)?))))?;
    let place = part(&geometry);
    let mut set = |k: usize, host: &[f64]| {
        one.load(&layout(), &External::read(&[host]), true).map_err(named)?;
        all.copy_rhs(k, &one, 0, 1)
    };
    for k in 0..file.fields() {
        let (numbers, share) = comm.agree(file.read(k, &place))?;
        match file.verify(k, &shares(comm, share)?) {
            Err(e) if options.wrong_checksum && e.status == Status::FileChecksum => {
                log::warn!("{}", e.message());
            }
            found => found?,
        }
        if !file.is_matrix() {
            comm.agree(set(k, &numbers))?;
            continue;
        }
        for column in 0..COLUMNS {
            let site = |site: &[f64]| -> [f64; SPINOR] {
                std::array::from_fn(|i| site[2 * matrix_index(column, i / 2) + i % 2])
            };
            let host: Vec<f64> = numbers.chunks_exact(SPINOR * COLUMNS).flat_map(site).collect();
            comm.agree(set(column, &host))?;
        }
    }
    let mut origin = file.origin();
    if origin.position == [None; 4] && file.sources() > 0 {
        let mut found = Support::new(&geometry);
        for k in 0..file.sources() {
            let numbers = comm.agree(file.read_source(k, &place))?;
            if !found.add(&numbers)? {
                break;
            }
        }
        origin.position = found.position();
    }
    Ok((all, origin))
}
