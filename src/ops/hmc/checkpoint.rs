//! Checkpoints, from which a chain continues bit for bit: links in double precision, the place in the sequence of
//! random numbers, the intervals that monomials have measured and, for stochastic molecular dynamics, momenta and
//! pseudofermions. A checkpoint is an ILDG file, which other programs read as a configuration.

use std::collections::BTreeMap;
use std::path::Path;

use super::{ChainPosition, Hmc, Measured, Stream};
use crate::bail;
use crate::error::Result;
use crate::fields::{GaugeField, Precision, Recon};
use crate::io::{FileFormat, WriteOptions};
use crate::ops::config::{load_fields, load_gauge, save_gauge_and_fields, LoadOptions};

const LABEL: &str = "plaq checkpoint, seed ";
/// Text of the label between the seed and the intervals, if there are any. Intervals are JSON with numbers as text,
/// so that reading does not round them.
const INTERVALS: &str = ", intervals ";

fn label(place: &ChainPosition) -> String {
    let text = format!("{LABEL}{}", place.next.seed);
    if place.measured.is_empty() {
        return text;
    }
    let ends = place.measured.iter().map(|(name, (low, high))| {
        (name.clone(), serde_json::json!([format!("{low:e}"), format!("{high:e}")]))
    });
    format!("{text}{INTERVALS}{}", serde_json::Value::Object(ends.collect()))
}

/// Reads seed and intervals from the label of a checkpoint; None if the text is not such a label.
fn parse(label: &str) -> Option<(u64, Measured)> {
    let rest = label.strip_prefix(LABEL)?;
    let Some((seed, intervals)) = rest.split_once(INTERVALS) else {
        return Some((rest.parse().ok()?, Measured::new()));
    };
    let list: BTreeMap<String, [String; 2]> = serde_json::from_str(intervals).ok()?;
    let ends = |(name, [low, high]): (String, [String; 2])| {
        Some((name, (low.parse().ok()?, high.parse().ok()?)))
    };
    Some((seed.parse().ok()?, list.into_iter().map(ends).collect::<Option<_>>()?))
}

/// Writes the links and the state of the chain. The file appears complete or not at all; every rank calls this.
pub fn save_checkpoint(path: &Path, gauge: &GaugeField, chain: &Hmc) -> Result<()> {
    save_checkpoint_of(path, gauge, chain, None)
}

/// Writes a checkpoint with a description, for human readers, of the ensemble that the chain samples; it is stored as
/// the ensemble of the file.
pub fn save_checkpoint_of(
    path: &Path,
    gauge: &GaugeField,
    chain: &Hmc,
    action: Option<&str>,
) -> Result<()> {
    let place = chain.place();
    let options = WriteOptions {
        precision_bits: Some(64),
        ensemble_label: Some(label(&place)),
        ensemble_id: action.map(String::from),
        sequence_number: Some(u64::from(place.next.trajectory)),
        ..Default::default()
    };
    let (fields, numbers): (Vec<_>, Vec<_>) = chain.state()?.into_iter().unzip();
    let options = WriteOptions { fields, ..options };
    save_gauge_and_fields(path, gauge, FileFormat::Ildg, &options, &numbers)
}

/// Replaces the links by those of a checkpoint and sets the chain to the state in it. Links are the saved ones bit
/// for bit if the field has the precision of the file.
///
/// # Errors
/// `FileFormat`: a configuration that is no checkpoint; those of `load_gauge` and [`Hmc::resume`]. Links and
/// chain are then as they were.
pub fn load_checkpoint(path: &Path, gauge: &mut GaugeField, chain: &mut Hmc) -> Result<()> {
    let geometry = gauge.geometry().clone();
    let options = LoadOptions {
        expect: Some(geometry.global_extents()),
        reunitarise: false,
        boundary_time: Some(geometry.boundary()),
        unitarity: (gauge.precision() != Precision::F64).then_some(1e-4),
        ..Default::default()
    };
    let loaded =
        load_gauge(gauge.device(), geometry.comm(), path, gauge.precision(), Recon::R18, &options)?;
    let info = &loaded.info;
    let text = info.ensemble_label.as_deref().unwrap_or_default();
    // Older labels end with the boundaries in time, which the file's header names now.
    let text = text.split_once(", links with ").map_or(text, |(text, _)| text);
    let found = parse(text);
    let number = info.sequence_number.and_then(|n| u32::try_from(n).ok());
    let (Some((seed, measured)), Some(trajectory)) = (found, number) else {
        bail!(FileFormat, "{}: a configuration, but not a checkpoint of a chain", path.display());
    };
    let fields = load_fields(path, &geometry)?;
    let before = chain.place();
    chain.resume(&ChainPosition { next: Stream { seed, trajectory }, measured })?;
    let done = gauge.copy_from(&loaded.gauge);
    match &done {
        Ok(()) => chain.set_state(fields),
        Err(_) => chain.resume(&before)?,
    }
    done
}
