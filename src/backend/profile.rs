//! Where the time of kernels goes: `PLAQ_PROFILE=FILE` adds a table to a file when a device closes,
//! `PLAQ_PROFILE=-` prints it on the standard error output. Every launch is waited for, so that work
//! as a whole takes longer than without.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Mutex;

use super::Call;

/// Launches of one kernel over one amount of work.
#[derive(Clone, Copy, Default)]
struct Row {
    launches: u64,
    /// Without the first launch, which may compile.
    seconds: f64,
}

pub struct Profile {
    target: String,
    rows: Mutex<HashMap<(String, usize, usize), Row>>,
}

impl Profile {
    pub fn from_env() -> Option<Profile> {
        let target = std::env::var("PLAQ_PROFILE").ok().filter(|t| !t.is_empty())?;
        Some(Profile { target, rows: Mutex::default() })
    }

    pub fn add(&self, call: &Call, seconds: f64) {
        let key = (call.symbol(), call.work.n, call.work.batches);
        let mut rows = self.rows.lock().unwrap_or_else(|e| e.into_inner());
        let row = rows.entry(key).or_default();
        row.launches += 1;
        if row.launches > 1 {
            row.seconds += seconds;
        }
    }

    /// Writes the table, the longest first.
    pub fn write(&self, device: &str) {
        let rows = self.rows.lock().unwrap_or_else(|e| e.into_inner());
        let mut rows: Vec<_> = rows.iter().collect();
        rows.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds));
        let mut text =
            format!("# {device}: seconds, launches, microseconds each, kernel, sites, batches\n");
        for ((symbol, n, batches), row) in rows {
            let each = 1e6 * row.seconds / row.launches.saturating_sub(1).max(1) as f64;
            text +=
                &format!("{:.4} {} {each:.1} {symbol} {n} {batches}\n", row.seconds, row.launches);
        }
        let written = match self.target.as_str() {
            "-" => std::io::stderr().write_all(text.as_bytes()),
            file => std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(file)
                .and_then(|mut file| file.write_all(text.as_bytes())),
        };
        if let Err(e) = written {
            log::warn!("PLAQ_PROFILE: cannot write {}: {e}", self.target);
        }
    }
}
