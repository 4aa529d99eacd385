//! Gauge configurations between files and devices.

use std::path::Path;

use super::observables::{plaquette, Plaquette};
use crate::backend::{Device, External};
use crate::bail;
use crate::error::{Error, Result};
use crate::fields::{GaugeField, Geometry, Group, Layout, LinkOptions, Precision, Recon};
use crate::io::{read_gauge, write_gauge, FileFormat, FileInfo, WriteOptions};

/// What `load_gauge` checks and changes.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// The lattice X, Y, Z, T that the file must have.
    pub expect: Option<[usize; 4]>,
    /// Largest violation of unitarity accepted. None: 1e-10 for files in double, 1e-5 in single
    /// precision.
    pub unitarity: Option<f64>,
    /// Put links back into SU(3) after the check (Gram-Schmidt of two rows, third by cross product).
    pub reunitarise: bool,
    /// Largest difference accepted between plaquette and link trace of the header and of the
    /// links. None: half a unit of the header's last decimal plus 1e-9 (files in double) or 1e-6
    /// (single), the rounding that other codes leave in their sums.
    pub header: Option<f64>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions { expect: None, unitarity: None, reunitarise: true, header: None }
    }
}

/// A configuration on a device with what its file says and what its links give.
#[derive(Debug)]
pub struct Loaded {
    pub gauge: GaugeField,
    pub info: FileInfo,
    pub plaquette: Plaquette,
}

/// Reads a configuration in any format of [`crate::io`] onto a device, checked: checksums,
/// finiteness, unitarity, plaquette and link trace of the header. Links pass through a field in
/// double precision on the device.
///
/// # Errors
/// Those of [`read_gauge`]; `BadExtents`: the lattice cannot be divided; `NotFinite`,
/// `NotUnitary`: a link is broken; `FilePlaquette`: header and links differ; `Unsupported`: an
/// SU(2) storage was asked for; `OutOfMemory`. Nothing is returned half loaded.
pub fn load_gauge(
    device: &Device,
    path: &Path,
    precision: Precision,
    recon: Recon,
    options: &LoadOptions,
) -> Result<Loaded> {
    if recon.group() != Group::Su3 {
        bail!(Unsupported, "load: files hold SU(3) links, found storage {recon:?}");
    }
    let file = read_gauge(path, options.expect)?;
    let named = |e: Error| Error::new(e.status, format!("{}: {}", path.display(), e.message));
    let double = file.info.precision_bits == 64;
    let stored = if double { Precision::F64 } else { Precision::F32 };
    let tolerance = options.unitarity.or(LinkOptions::checked(stored).tolerance);
    let geometry = Geometry::new(file.extents, device).map_err(named)?;
    let exact = GaugeField::from_external(
        device,
        &geometry,
        (Precision::F64, Recon::R18),
        &Layout::lexicographic(Precision::F64),
        &External::read(&[&file.links]),
        LinkOptions { tolerance, reproject: options.reunitarise },
    )
    .map_err(named)?;
    let found = plaquette(&exact)?;
    let allowed =
        options.header.unwrap_or(file.info.header_resolution + if double { 1e-9 } else { 1e-6 });
    for (name, header, links) in [
        ("plaquette", file.info.plaquette, found.total),
        ("link trace", file.info.link_trace, found.link_trace),
    ] {
        // A header with NaN is refused as well.
        if header.is_some_and(|h| h.is_nan() || (h - links).abs() > allowed) {
            bail!(
                FilePlaquette,
                "{}: {name} in the header {}, of the links {links}, allowed difference {allowed:e}",
                path.display(),
                header.unwrap_or(f64::NAN)
            );
        }
    }
    let gauge = if (precision, recon) == (Precision::F64, Recon::R18) {
        exact
    } else {
        exact.to(precision, recon)?
    };
    Ok(Loaded { gauge, info: file.info, plaquette: found })
}

/// Writes an SU(3) field; plaquette and link trace of the header are computed where `options`
/// leaves them out. The file appears complete or not at all.
///
/// # Errors
/// `Unsupported`: SU(2) links; else those of [`write_gauge`].
pub fn save_gauge(
    path: &Path,
    gauge: &GaugeField,
    format: FileFormat,
    options: &WriteOptions,
) -> Result<()> {
    if gauge.group() != Group::Su3 {
        bail!(Unsupported, "save: files hold SU(3) links, found SU(2)");
    }
    let found = plaquette(gauge)?;
    let mut options = options.clone();
    options.plaquette.get_or_insert(found.total);
    options.link_trace.get_or_insert(found.link_trace);
    write_gauge(path, format, &options, gauge.geometry().extents(), &gauge.save_lex()?)
}
