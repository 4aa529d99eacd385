//! Remembers the fastest launch shape of each tuned kernel, in memory and in a JSON file beside the kernel cache. The
//! file is optional: if it cannot be read or written, kernels are timed again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::cache::{write_atomically, Cache};
use super::source::LaunchShape;
use crate::backend::families::Kernel;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    block: u32,
    min_blocks: u32,
    microseconds: f64,
}

type Table = BTreeMap<String, Entry>;

pub struct Tuner {
    patience: Patience,
    file: Option<PathBuf>,
    table: Mutex<Table>,
}

/// The kernels for which other launch shapes are tried, and the seconds of their run time after which this begins.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Patience {
    Never,
    /// Only kernels that the table marks as tuned, each after `TUNED` seconds in this process.
    Tuned,
    /// Every kernel, each after this number of seconds in this process.
    All(f64),
}

/// Seconds after which other shapes of tuned kernels are tried: compiling them takes a core some seconds, and they
/// save up to a tenth of the time.
const TUNED: f64 = 1.0;

impl Tuner {
    /// Reads `PLAQ_TUNE`: with `off` default shapes are used, a number is the patience in seconds for all kernels.
    pub fn from_env(cache: &Cache) -> Tuner {
        let patience = match std::env::var("PLAQ_TUNE") {
            Ok(v) if v == "off" => Patience::Never,
            Ok(v) => v.parse().map_or(Patience::Tuned, Patience::All),
            Err(_) => Patience::Tuned,
        };
        Self::new(patience, cache.folder().map(|f| f.join("tune.json")))
    }

    fn new(patience: Patience, file: Option<PathBuf>) -> Tuner {
        let table = file.as_ref().map_or_else(Table::new, load);
        Tuner { patience, file, table: Mutex::new(table) }
    }

    /// Seconds that a kernel takes in this process before other shapes are tried; None: it keeps its first shape.
    pub fn patience(&self, kernel: &Kernel) -> Option<f64> {
        match self.patience {
            Patience::All(seconds) => Some(seconds),
            Patience::Tuned if kernel.tuned => Some(TUNED),
            _ => None,
        }
    }

    /// Whether shapes that were found earlier are ignored.
    pub fn is_off(&self) -> bool {
        self.patience == Patience::Never
    }

    /// The stored shape, if it is one of `allowed`.
    pub fn find(&self, key: &str, allowed: &[LaunchShape]) -> Option<LaunchShape> {
        let table = self.table.lock().unwrap_or_else(|e| e.into_inner());
        let entry = table.get(key)?;
        let shape = LaunchShape { block: entry.block, min_blocks: entry.min_blocks };
        allowed.contains(&shape).then_some(shape)
    }

    pub fn store(&self, key: String, shape: LaunchShape, seconds: f64) {
        let mut table = self.table.lock().unwrap_or_else(|e| e.into_inner());
        let (block, min_blocks) = (shape.block, shape.min_blocks);
        table.insert(key, Entry { block, min_blocks, microseconds: seconds * 1e6 });
        let Some(file) = &self.file else { return };
        // Other processes may have added entries to the file since it was read.
        for (key, entry) in load(file) {
            table.entry(key).or_insert(entry);
        }
        let text = serde_json::to_vec_pretty(&*table).expect("a map of numbers is JSON");
        if let Err(e) = write_atomically(file, &text) {
            log::warn!("tuner: cannot write {}: {e}", file.display());
        }
    }
}

fn load(file: &PathBuf) -> Table {
    std::fs::read(file)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_survive_the_process_and_damage_is_ignored() {
        let folder = std::env::temp_dir().join(format!("plaq-tune-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("tune.json");
        let (a, b) =
            (LaunchShape { block: 64, min_blocks: 8 }, LaunchShape { block: 128, min_blocks: 4 });
        let (one, two) = (
            Tuner::new(Patience::Never, Some(file.clone())),
            Tuner::new(Patience::Never, Some(file.clone())),
        );
        one.store("x".into(), a, 1e-4);
        two.store("y".into(), b, 2e-4);
        let again = Tuner::new(Patience::Never, Some(file.clone()));
        assert_eq!(again.find("x", &[a, b]), Some(a));
        assert_eq!(again.find("y", &[a, b]), Some(b));
        assert_eq!(again.find("y", &[a]), None, "a shape that is no longer offered");
        std::fs::write(&file, "{ not json").unwrap();
        assert_eq!(Tuner::new(Patience::Never, Some(file)).find("x", &[a, b]), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
