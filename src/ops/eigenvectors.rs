//! Files of vectors, for instance eigenvectors: SciDAC records in LIME with checksums, and tables of numbers such as
//! eigenvalues.

use std::path::Path;
use std::sync::Arc;

use super::config::{part, shares};
use crate::backend::{Device, External};
use crate::bail;
use crate::compose::{HighMode, Modes, ModesRecord, Overlap, OverlapModes, OverlapModesRecord};
use crate::error::{host_array, Result};
use crate::fields::{
    Components, GammaBasis, Geometry, Layout, Precision, RhsOrder, Subset, VectorField, VectorSet,
};
use crate::io::{VectorHeader, VectorReader, VectorWriter};
use crate::operators::HermitianWilson;
use crate::refuse;

/// The kind, as stored in a file, of modes of the overlap operator and its kernel.
const OVERLAP: &str = "overlap";

fn layout(spins: usize) -> Layout {
    match spins {
        1 => Layout::lexicographic_colour(Precision::F64),
        _ => Layout::lexicographic_spinor(Precision::F64, GammaBasis::DeGrandRossi),
    }
}

/// Writes the right-hand sides of these fields one after the other, every rank its part, with tables of numbers; all
/// ranks call it. Vectors in double precision are written in 64 bits, others in 32. The file appears complete or not
/// at all.
///
/// # Errors
/// `FieldMismatch`: not full fields of spinors or of colour vectors on one lattice; those of [`VectorWriter::create`].
pub fn save_vectors(
    path: &Path,
    kind: &str,
    tables: Vec<(String, Vec<f64>)>,
    fields: &[&VectorField],
) -> Result<()> {
    let sets: Result<Vec<VectorSet>> = fields.iter().map(|f| VectorSet::of(f)).collect();
    save_sets(path, kind, tables, &sets?.iter().collect::<Vec<_>>())
}

/// Writes vectors as [`save_vectors`] does; they may be partly in the host's memory.
///
/// # Errors
/// Errors of [`save_vectors`].
pub fn save_sets(
    path: &Path,
    kind: &str,
    tables: Vec<(String, Vec<f64>)>,
    sets: &[&VectorSet],
) -> Result<()> {
    let Some(first) = sets.first().map(|set| set.first()) else {
        refuse!(InvalidArgument, "vectors", expected("at least one field"));
    };
    let geometry = first.geometry();
    for f in sets.iter().map(|set| set.first()) {
        let alike = f.geometry() == geometry && f.components() == first.components();
        let known = [Components::SPINOR, Components::COLOUR].contains(&f.components());
        if !alike || !known || f.subset() != Subset::Full {
            refuse!(
                FieldMismatch,
                "vectors",
                expected("spinors or colour vectors on the full lattice, one for all")
            );
        }
    }
    let comm = geometry.comm();
    let double = sets.iter().any(|set| set.precision() == Precision::F64);
    let header = VectorHeader {
        kind: kind.to_string(),
        extents: geometry.global_extents(),
        bits: if double { 64 } else { 32 },
        spins: first.components().spins,
        count: sets.iter().map(|set| set.count()).sum(),
        tables,
    };
    let root = comm.rank() == 0;
    let create = || VectorWriter::create(path, &header).map(Some);
    let created = comm.agree(if root { create() } else { Ok(None) })?;
    let mut name = [0; 64];
    if let Some(writer) = &created {
        let bytes = writer.temporary().into_bytes();
        name[..bytes.len()].copy_from_slice(&bytes);
    }
    let names = comm.all_gather(&name)?;
    let joined = match created {
        Some(writer) => Ok(writer),
        None => {
            let name = String::from_utf8_lossy(&names[..64]);
            VectorWriter::join(path, name.trim_end_matches('\0'), &header)
        }
    };
    let mut writer = comm.agree(joined)?;
    let values = host_array(header.reals() * geometry.volume(), 0.0, "a vector on the host");
    let mut values = comm.agree(values)?;
    let (part, mut sums) = (part(geometry), vec![]);
    for set in sets {
        for k in 0..set.count() {
            let one = set.get(k, 1)?;
            one.save(&layout(header.spins), &mut External::write(vec![&mut values[..]]))?;
            let share = comm.agree(writer.write(sums.len(), &part, &values))?;
            sums.push(shares(comm, share)?);
        }
    }
    comm.agree(writer.sync())?;
    comm.agree(if root { writer.finish(&sums) } else { Ok(()) })
}

/// A file of vectors of one kind, open on all ranks of a lattice.
pub struct VectorFile {
    reader: VectorReader,
    device: Device,
    geometry: Arc<Geometry>,
}

impl VectorFile {
    /// # Errors
    /// `FileFormat`: vectors of another kind or with other components; those of [`VectorReader::open`].
    pub fn open(
        device: &Device,
        geometry: &Arc<Geometry>,
        path: &Path,
        kind: &str,
        components: Components,
    ) -> Result<Self> {
        let comm = geometry.comm();
        let reader = comm.agree(VectorReader::open(path, Some(geometry.global_extents())))?;
        reader.warnings().log(path);
        let found = &reader.header().kind;
        if found != kind {
            refuse!(
                FileFormat,
                format!("{}", path.display()),
                expected("vectors of kind {kind}"),
                found("{found}")
            );
        }
        let found = Components::of(reader.header().spins, 3);
        if found != components {
            refuse!(
                FileFormat,
                format!("{}", path.display()),
                expected("{components} complex numbers a site"),
                found("{found}")
            );
        }
        Ok(VectorFile { reader, device: device.clone(), geometry: geometry.clone() })
    }

    pub fn header(&self) -> &VectorHeader {
        self.reader.header()
    }

    /// The numbers of a table in the file.
    ///
    /// # Errors
    /// `FileFormat`: the file has no such table.
    pub fn table(&self, name: &str) -> Result<Vec<f64>> {
        match self.header().table(name) {
            Some(values) => Ok(values.to_vec()),
            None => bail!(FileFormat, "vectors: the file has no table {name}"),
        }
    }

    /// Reads vectors into the right-hand sides of a field, in this precision or in that of the file if it is lower.
    /// Every rank reads its part.
    ///
    /// # Errors
    /// `FileChecksum`, `FileTruncated`, `FileOpen`, `NotFinite`, `OutOfMemory`.
    pub fn read(
        &mut self,
        which: std::ops::Range<usize>,
        precision: Precision,
    ) -> Result<VectorField> {
        let comm = self.geometry.comm().clone();
        let stored = if self.header().bits == 64 { Precision::F64 } else { Precision::F32 };
        let precision = precision.min(stored).max(Precision::F32);
        let spins = self.header().spins;
        let content = (Components::of(spins, 3), RhsOrder::Slowest);
        let (device, geometry) = (&self.device, &self.geometry);
        let field =
            |n| VectorField::with_components(device, geometry, precision, Subset::Full, n, content);
        let (mut all, mut one) = (field(which.len())?, field(1)?);
        let part = part(&self.geometry);
        for (k, index) in which.enumerate() {
            let (values, share) = comm.agree(self.reader.read(index, &part))?;
            self.reader.verify(index, &shares(&comm, share)?)?;
            one.load(&layout(spins), &External::read(&[&values[..]]), false)?;
            all.copy_rhs(k, &one, 0, 1)?;
        }
        Ok(all)
    }

    /// Reads vectors into a set, which is on the device as far as memory allows.
    ///
    /// # Errors
    /// Errors of [`VectorFile::read`].
    pub fn read_set(
        &mut self,
        which: std::ops::Range<usize>,
        precision: Precision,
    ) -> Result<VectorSet> {
        let (start, count) = (which.start, which.len());
        let mut one = self.read(start..start + 1, precision)?;
        let mut set = VectorSet::fitting(&one, count)?;
        for k in 0..count {
            if k > 0 {
                one = self.read(start + k..start + k + 1, precision)?;
            }
            set.put(k, &one, 0, 1)?;
        }
        Ok(set)
    }
}

/// Writes modes of the kernel and, if `low` is given, modes of D_N.
///
/// # Errors
/// Errors of [`save_vectors`].
pub fn save_modes(path: &Path, modes: &Modes, low: Option<&OverlapModes>) -> Result<()> {
    let r = modes.record();
    let mut tables = vec![
        ("kernel.values", r.values),
        ("kernel.residuals", r.residuals),
        ("kernel.squares", r.squares),
        ("kernel.square_residuals", r.square_residuals),
        ("kernel.next", vec![r.next]),
        ("kernel.high", r.high.iter().flat_map(|h| [h.value, h.residual, h.gap]).collect()),
    ];
    let low_vectors = low.map_or(Ok(vec![]), |low| {
        low.vectors().iter().map(VectorSet::of).collect::<Result<Vec<_>>>()
    })?;
    let mut sets = vec![modes.vectors()];
    sets.extend(&low_vectors);
    if let Some(low) = low {
        let OverlapModesRecord { values: [plus, minus], residuals, zeros, rho } = low.record();
        let [plus_residuals, minus_residuals] = residuals;
        tables.extend([
            ("overlap.plus", plus),
            ("overlap.minus", minus),
            ("overlap.plus_residuals", plus_residuals),
            ("overlap.minus_residuals", minus_residuals),
            ("overlap.zeros", zeros.map(|n| n as f64).to_vec()),
            ("overlap.rho", vec![rho]),
        ]);
    }
    let tables = tables.into_iter().map(|(name, v)| (name.to_string(), v)).collect();
    save_sets(path, OVERLAP, tables, &sets)
}

/// Reads modes of the kernel from a file and checks them against this kernel.
///
/// # Errors
/// `FieldMismatch`: modes of another kernel; those of [`VectorFile`].
pub fn load_modes(path: &Path, kernel: &Arc<HermitianWilson>) -> Result<Modes> {
    let links = kernel.op().gauge();
    let mut file =
        VectorFile::open(links.device(), links.geometry(), path, OVERLAP, Components::SPINOR)?;
    let one = |name: &str, n: usize| -> Result<Vec<f64>> {
        let values = file.table(name)?;
        if values.len() != n {
            refuse!(
                FileFormat,
                "vectors: {name}",
                expected("{n} numbers"),
                found("{}", values.len())
            );
        }
        Ok(values)
    };
    let (next, high) = (one("kernel.next", 1)?, file.table("kernel.high")?);
    if high.is_empty() || high.len() % 3 != 0 {
        refuse!(
            FileFormat,
            "vectors: kernel.high",
            expected("three numbers a mode"),
            found("{}", high.len())
        );
    }
    let record = ModesRecord {
        values: file.table("kernel.values")?,
        residuals: file.table("kernel.residuals")?,
        squares: file.table("kernel.squares")?,
        square_residuals: file.table("kernel.square_residuals")?,
        next: next[0],
        high: high.chunks(3).map(|h| HighMode { value: h[0], residual: h[1], gap: h[2] }).collect(),
    };
    let count = record.squares.len();
    if count == 0 || count > file.header().count {
        bail!(FileFormat, "vectors: {count} modes of {} vectors", file.header().count);
    }
    let vectors = file.read_set(0..count, links.precision())?;
    Modes::restore(kernel, vectors, &record)
}

/// Reads low modes of D_N from a file and checks them against this operator; `None`: the file has none.
///
/// # Errors
/// Errors of [`load_modes`].
pub fn load_overlap_modes(path: &Path, op: &Overlap) -> Result<Option<OverlapModes>> {
    let links = op.sign().kernel().op().gauge().clone();
    let mut file =
        VectorFile::open(links.device(), links.geometry(), path, OVERLAP, Components::SPINOR)?;
    if file.header().table("overlap.plus").is_none() {
        return Ok(None);
    }
    let record = OverlapModesRecord {
        values: [file.table("overlap.plus")?, file.table("overlap.minus")?],
        residuals: [file.table("overlap.plus_residuals")?, file.table("overlap.minus_residuals")?],
        zeros: match file.table("overlap.zeros")?[..] {
            [plus, minus] => [plus as usize, minus as usize],
            _ => refuse!(FileFormat, "vectors: overlap.zeros", expected("two numbers")),
        },
        rho: file.table("overlap.rho")?.first().copied().unwrap_or(0.0),
    };
    let start = file.table("kernel.squares")?.len();
    let [plus, minus] = [0, 1].map(|side| record.values[side].len());
    if plus == 0 || minus == 0 || start + plus + minus > file.header().count {
        bail!(FileFormat, "vectors: {plus} and {minus} modes of {} vectors", file.header().count);
    }
    let precision = links.precision();
    let upper = file.read(start..start + plus, precision)?;
    let lower = file.read(start + plus..start + plus + minus, precision)?;
    OverlapModes::restore(op, [&upper, &lower], &record).map(Some)
}
