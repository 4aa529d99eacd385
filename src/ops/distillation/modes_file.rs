//! Modes in HDF5 files: a dataset for each mode, and tables of numbers.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use num_complex::Complex64;

use crate::backend::{Device, External};
use crate::bail;
use crate::error::{host_array, Result};
use crate::fields::{
    Components, Geometry, Layout, Precision, RhsOrder, Subset, VectorField, VectorSet,
};
use crate::io::hdf5::{self, Attribute, Attributes, Dataset, Numbers, Writer};
use crate::refuse;

/// Whether a file of this name is written in HDF5, by the end of its name.
pub(super) fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "h5" || end == "hdf5")
}

/// Whether this file exists and is an HDF5 file.
pub(super) fn is_there(path: &Path) -> bool {
    let mut begin = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && &begin == b"\x89HDF\r\n\x1a\n"
}

fn layout() -> Layout {
    Layout::lexicographic_colour(Precision::F64)
}

/// For each row of sites in x of a rank's part, the index of its first number in the rank's array and in that of the
/// whole lattice; a site has six numbers.
fn rows(geometry: &Geometry, rank: usize) -> impl Iterator<Item = (usize, usize)> {
    let (coords, [x, y, z, t]) = (geometry.comm().coords_of(rank), geometry.extents());
    let all = geometry.global_extents();
    (0..y * z * t).map(move |row| {
        let at = [0, row % y, row / y % z, row / (y * z)];
        let [gx, gy, gz, gt] = std::array::from_fn(|mu| coords[mu] * [x, y, z, t][mu] + at[mu]);
        (6 * x * row, 6 * (gx + all[0] * (gy + all[1] * (gz + all[2] * gt))))
    })
}

/// Writes vectors [t][z][y][x][colour] as datasets `modes/0`, `modes/1`, ... and tables of numbers as datasets of
/// their names. All ranks call it; the first rank writes.
///
/// # Errors
/// `Unsupported`: no libhdf5; `FileWrite`, `OutOfMemory`.
pub(super) fn save(
    path: &Path,
    tables: &[(&str, Vec<f64>)],
    about: &Attributes,
    vectors: &VectorSet,
) -> Result<()> {
    let geometry = vectors.first().geometry().clone();
    let (comm, [x, y, z, t]) = (geometry.comm(), geometry.global_extents());
    let root = comm.rank() == 0;
    let mut tables = tables.to_vec();
    tables.push(("lattice", [x, y, z, t].map(|n| n as f64).to_vec()));
    tables.push(("bits", vec![if vectors.precision() == Precision::F64 { 64.0 } else { 32.0 }]));
    let table = |(name, numbers): (&str, Vec<f64>)| Dataset {
        name: name.into(),
        extents: vec![numbers.len()],
        numbers: Numbers::Real(numbers),
        attributes: about.clone(),
    };
    let begin = || {
        let writer = Writer::create(path, about)?;
        writer.add(&tables.into_iter().map(table).collect::<Vec<_>>())?;
        Ok(Some(writer))
    };
    let writer = comm.agree(if root { begin() } else { Ok(None) })?;
    let mine = host_array(6 * geometry.volume(), 0.0f64, "a mode on the host");
    let mut mine = comm.agree(mine)?;
    for k in 0..vectors.count() {
        vectors.get(k, 1)?.save(&layout(), &mut External::write(vec![&mut mine[..]]))?;
        let theirs = comm.all_gather(bytemuck::cast_slice(&mine))?;
        let add = |writer: &Writer| {
            let mut whole = host_array(6 * geometry.global_volume(), 0.0f64, "a mode on the host")?;
            let width = 6 * geometry.extents()[0];
            for (rank, part) in theirs.chunks_exact(8 * mine.len()).enumerate() {
                for (from, to) in rows(&geometry, rank) {
                    let row = &part[8 * from..8 * (from + width)];
                    bytemuck::cast_slice_mut(&mut whole[to..to + width]).copy_from_slice(row);
                }
            }
            let numbers = whole.chunks_exact(2).map(|z| Complex64::new(z[0], z[1])).collect();
            let mut attributes = about.clone();
            attributes.push(("indices", Attribute::Text("t, z, y, x, colour".into())));
            writer.add(&[Dataset {
                name: format!("modes/{k}"),
                extents: vec![t, z, y, x, 3],
                numbers: Numbers::Complex(numbers),
                attributes,
            }])
        };
        comm.agree(writer.as_ref().map_or(Ok(()), add))?;
    }
    comm.agree(writer.map_or(Ok(()), Writer::finish))
}

/// A file that [`save`] wrote.
pub(super) struct Hdf5Modes {
    path: PathBuf,
    device: Device,
    geometry: Arc<Geometry>,
}

impl Hdf5Modes {
    /// # Errors
    /// `FileFormat`: modes of another lattice, or none; `Unsupported`: no libhdf5.
    pub fn open(device: &Device, geometry: &Arc<Geometry>, path: &Path) -> Result<Self> {
        let file =
            Hdf5Modes { path: path.into(), device: device.clone(), geometry: geometry.clone() };
        let found: Vec<usize> = file.table("lattice")?.iter().map(|&n| n as usize).collect();
        let expected = geometry.global_extents();
        if found != expected {
            refuse!(
                FileFormat,
                format!("{}", path.display()),
                expected("modes of the lattice {expected:?}"),
                found("{found:?}")
            );
        }
        Ok(file)
    }

    /// The table of numbers with this name.
    ///
    /// # Errors
    /// `FileFormat`: the file has no table of this name.
    pub fn table(&self, name: &str) -> Result<Vec<f64>> {
        let found = self.geometry.comm().agree(hdf5::read(&self.path, name, false))?;
        match found {
            Numbers::Real(numbers) => Ok(numbers),
            Numbers::Complex(_) => bail!(Internal, "{name}: complex numbers"),
        }
    }

    /// Reads `count` modes, in this precision or in that of the file if it is lower; they are on the device as far as
    /// its memory allows.
    ///
    /// # Errors
    /// `FileFormat`, `NotFinite`, `OutOfMemory`.
    pub fn read_set(&self, count: usize, precision: Precision) -> Result<VectorSet> {
        let (geometry, comm) = (&self.geometry, self.geometry.comm());
        let single = self.table("bits")?.first() == Some(&32.0);
        let precision = if single { precision.min(Precision::F32) } else { precision };
        let content = (Components::COLOUR, RhsOrder::Slowest);
        let subset = Subset::Full;
        let mut one =
            VectorField::with_components(&self.device, geometry, precision, subset, 1, content)?;
        let mut set = VectorSet::fitting(&one, count)?;
        let mut mine = comm.agree(host_array(6 * geometry.volume(), 0.0f64, "a mode"))?;
        let width = 6 * geometry.extents()[0];
        for k in 0..count {
            let whole = comm.agree(self.whole(k))?;
            let numbers: &[f64] = bytemuck::cast_slice(&whole);
            for (to, from) in rows(geometry, comm.rank()) {
                mine[to..to + width].copy_from_slice(&numbers[from..from + width]);
            }
            one.load(&layout(), &External::read(&[&mine[..]]), true)?;
            set.put(k, &one, 0, 1)?;
        }
        Ok(set)
    }

    fn whole(&self, k: usize) -> Result<Vec<Complex64>> {
        let name = format!("modes/{k}");
        match hdf5::read(&self.path, &name, true)? {
            Numbers::Complex(all) if all.len() == 3 * self.geometry.global_volume() => Ok(all),
            _ => bail!(FileFormat, "{}: {name}: it has another size", self.path.display()),
        }
    }
}
