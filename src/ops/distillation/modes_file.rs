//! Modes in HDF5 files: a dataset for each mode, and tables of numbers.

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

/// Whether this file exists and is read as HDF5, by its contents or its name.
pub(super) fn is_there(path: &Path) -> bool {
    hdf5::is_hdf5(path) || (is_named(path) && path.exists())
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

/// Numbers that are written with modes: their name, what the axes are, extents, and the numbers.
pub(super) type Table = (&'static str, &'static str, Vec<usize>, Vec<f64>);

/// Writes vectors [t][z][y][x][colour] as datasets `modes/0`, `modes/1`, ... and tables of numbers as datasets of
/// their names. All ranks call it; the first rank writes.
///
/// # Errors
/// `Unsupported`: no libhdf5; `FileWrite`, `OutOfMemory`.
pub(super) fn save(
    path: &Path,
    tables: &[Table],
    about: &Attributes,
    vectors: &VectorSet,
) -> Result<()> {
    let geometry = vectors.first().geometry().clone();
    let (comm, [x, y, z, t]) = (geometry.comm(), geometry.global_extents());
    let root = comm.rank() == 0;
    let table = |(name, indices, extents, numbers): (&str, &str, Vec<usize>, Numbers)| {
        let mut attributes = about.clone();
        attributes.push(("indices", Attribute::Text(indices.into())));
        Dataset { name: name.into(), extents, numbers, attributes }
    };
    let bits = if vectors.precision() == Precision::F64 { 64 } else { 32 };
    let lattice = [x, y, z, t].map(|n| n as i64).to_vec();
    let mut all = vec![
        table(("lattice", "x, y, z, t", vec![4], Numbers::Integer(lattice))),
        table(("bits", "", vec![1], Numbers::Integer(vec![bits]))),
    ];
    all.extend(tables.iter().map(|(name, indices, extents, numbers)| {
        table((name, indices, extents.clone(), Numbers::Real(numbers.clone())))
    }));
    let begin = || {
        let writer = Writer::create(path, about)?;
        writer.add(&all)?;
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
        let Some(lattice) = file.table("lattice")? else {
            bail!(FileFormat, "{}: expected modes, found no dataset lattice", path.display());
        };
        let found: Vec<usize> = lattice.iter().map(|&n| n as usize).collect();
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

    /// The table of numbers with this name; `None`: the file has none.
    ///
    /// # Errors
    /// Errors of [`hdf5::read`].
    pub fn table(&self, name: &str) -> Result<Option<Vec<f64>>> {
        let found = self.geometry.comm().agree(hdf5::read(&self.path, name, false))?;
        Ok(found.and_then(|found| match found {
            Numbers::Real(numbers) => Some(numbers),
            _ => None,
        }))
    }

    /// Reads `count` modes, in this precision or in that of the file if it is lower; they are on the device as far as
    /// its memory allows.
    ///
    /// # Errors
    /// `FileFormat`, `NotFinite`, `OutOfMemory`.
    pub fn read_set(&self, count: usize, precision: Precision) -> Result<VectorSet> {
        let (geometry, comm) = (&self.geometry, self.geometry.comm());
        let single = self.table("bits")?.and_then(|bits| bits.first().copied()) == Some(32.0);
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
            Some(Numbers::Complex(all)) if all.len() == 3 * self.geometry.global_volume() => {
                Ok(all)
            }
            Some(_) => bail!(FileFormat, "{}: {name}: it has another size", self.path.display()),
            None => bail!(FileFormat, "{}: the file has no dataset {name}", self.path.display()),
        }
    }
}
