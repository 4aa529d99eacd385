//! Times of kernels: `PLAQ_PROFILE=FILE` appends a table to a file when a device closes, `PLAQ_PROFILE=-` prints it
//! to standard error. The host waits for every launch, so that the whole work takes longer than otherwise.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Mutex;

use super::{Backend, Call};
use crate::error::Result;

/// Time and number of launches of one kernel for one amount of work.
#[derive(Clone, Copy, Default)]
struct Row {
    launches: u64,
    /// Seconds of all launches except the first one, which may compile.
    seconds: f64,
}

pub struct Profile {
    target: String,
    rows: Mutex<HashMap<(String, usize, usize), Row>>,
}

impl Profile {
    pub fn from_env() -> Option<Profile> {
        Some(Profile { target: target("PLAQ_PROFILE")?, rows: Mutex::default() })
    }

    /// Runs `work`, which makes a kernel call, and adds its time to the row of the kernel.
    pub fn timed<T>(
        &self,
        backend: &dyn Backend,
        call: &Call,
        mut work: impl FnMut() -> Result<T>,
    ) -> Result<T> {
        let mut done = None;
        let seconds = backend.time(&mut || work().map(|value| done = Some(value)))?;
        self.add(call, seconds);
        Ok(done.expect("set by work that succeeded"))
    }

    fn add(&self, call: &Call, seconds: f64) {
        let key = (call.symbol(), call.work.n, call.work.batches);
        let mut rows = self.rows.lock().unwrap_or_else(|e| e.into_inner());
        let row = rows.entry(key).or_default();
        row.launches += 1;
        if row.launches > 1 {
            row.seconds += seconds;
        }
    }

    /// Writes the table of kernels, those with the longest time first.
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
        append("PLAQ_PROFILE", &self.target, &text);
    }
}

/// The file named by an environment variable, if it is set.
pub fn target(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|t| !t.is_empty())
}

/// Appends a text to a file, or with `-` prints it to standard error.
pub fn append(variable: &str, target: &str, text: &str) {
    let written = match target {
        "-" => std::io::stderr().write_all(text.as_bytes()),
        file => std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .and_then(|mut file| file.write_all(text.as_bytes())),
    };
    if let Err(e) = written {
        log::warn!("{variable}: cannot write {target}: {e}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::args::StreamArgs;
    use super::super::{kernels, Work};
    use super::*;

    #[test]
    fn the_first_launch_counts_but_not_its_time() {
        let file = std::env::temp_dir().join(format!("plaq-profile-{}", std::process::id()));
        let target = file.to_string_lossy().into_owned();
        let profile = Profile { target, rows: Mutex::default() };
        let args = StreamArgs::default();
        for (n, seconds) in [(16, 9.0), (16, 0.5), (16, 1.5), (32, 9.0)] {
            let work = Work { n, batches: 3, lanes: 1 };
            let call = Call::new::<kernels::StreamCopy>(&[], &args, work);
            profile.add(&call, seconds);
        }
        profile.write("a device");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("# a device"), "{text}");
        assert_eq!(
            lines[1..],
            ["2.0000 3 1000000.0 stream_copy 16 3", "0.0000 1 0.0 stream_copy 32 3"]
        );
    }
}
