//! Where a chain can go on bit for bit: its links in double precision, and its place in the random
//! streams. A checkpoint is an ILDG file, which other programs read as a configuration.

use std::path::Path;

use super::Stream;
use crate::bail;
use crate::error::Result;
use crate::fields::{GaugeField, Precision, Recon};
use crate::io::{FileFormat, WriteOptions};
use crate::ops::config::{load_gauge, save_gauge, LoadOptions};

const LABEL: &str = "plaq checkpoint, seed ";

/// Writes the links and the place of the next trajectory; the file appears complete or not at all.
/// Every rank calls it.
pub fn save_checkpoint(path: &Path, gauge: &GaugeField, next: Stream) -> Result<()> {
    let options = WriteOptions {
        precision_bits: Some(64),
        ensemble_label: Some(format!("{LABEL}{}", next.seed)),
        sequence_number: Some(u64::from(next.trajectory)),
        ..Default::default()
    };
    save_gauge(path, gauge, FileFormat::Ildg, &options)
}

/// Replaces the links by those of a checkpoint and returns the place of the next trajectory. Links are
/// those that were saved, bit for bit, where the field is in the precision of that one.
///
/// # Errors
/// `FileFormat`: a configuration that is no checkpoint; those of `load_gauge`. The links are then as
/// they were.
pub fn load_checkpoint(path: &Path, gauge: &mut GaugeField) -> Result<Stream> {
    let geometry = gauge.geometry().clone();
    let options = LoadOptions {
        expect: Some(geometry.global_extents()),
        reunitarise: false,
        unitarity: (gauge.precision() != Precision::F64).then_some(1e-4),
        ..Default::default()
    };
    let loaded =
        load_gauge(gauge.device(), geometry.comm(), path, gauge.precision(), Recon::R18, &options)?;
    let info = &loaded.info;
    let seed = info.ensemble_label.as_deref().and_then(|l| l.strip_prefix(LABEL)?.parse().ok());
    let number = info.sequence_number.and_then(|n| u32::try_from(n).ok());
    let (Some(seed), Some(trajectory)) = (seed, number) else {
        bail!(FileFormat, "{}: a configuration, but not a checkpoint of a chain", path.display());
    };
    gauge.copy_from(&loaded.gauge)?;
    Ok(Stream { seed, trajectory })
}
