//! A record of which kernels had been requested by rehearsals before their first launch: `PLAQ_FIRST_LAUNCHES=FILE`
//! appends a table to a file when a device closes, `PLAQ_FIRST_LAUNCHES=-` prints it to standard error. Rehearsals
//! then run on CPUs, too.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::time::Instant;

use super::args::Specs;
use super::{families, profile, Call, RequestedKernel};

const VARIABLE: &str = "PLAQ_FIRST_LAUNCHES";

type Key = (String, Specs);

#[derive(Default)]
struct LaunchRecord {
    /// Kernels that rehearsals have requested, with the time of the first request in seconds since the device was
    /// opened.
    requested: HashMap<Key, f64>,
    launched: HashSet<Key>,
    /// Kernels in the order of their first launch: symbol, time of the first request by a rehearsal (None: there was
    /// none) and time of the launch, in seconds.
    order: Vec<(String, Option<f64>, f64)>,
}

pub struct FirstLaunches {
    target: String,
    start: Instant,
    seen: Mutex<LaunchRecord>,
}

impl FirstLaunches {
    pub fn from_env() -> Option<FirstLaunches> {
        let target = profile::target(VARIABLE)?;
        Some(FirstLaunches { target, start: Instant::now(), seen: Mutex::default() })
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, LaunchRecord> {
        self.seen.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn record_request(&self, asked: &RequestedKernel) {
        let key = (families::symbol(asked.kernel, &asked.params), asked.specs.clone());
        let now = self.start.elapsed().as_secs_f64();
        self.seen().requested.entry(key).or_insert(now);
    }

    pub fn launched(&self, call: &Call) {
        let (key, mut seen) = ((call.symbol(), call.specs().clone()), self.seen());
        if seen.launched.insert(key.clone()) {
            let ahead = seen.requested.get(&key).copied();
            seen.order.push((key.0, ahead, self.start.elapsed().as_secs_f64()));
        }
    }

    pub fn write(&self, device: &str) {
        let seen = self.seen();
        let late = seen.order.iter().filter(|one| one.1.is_none()).count();
        let vain = seen.requested.keys().filter(|key| !seen.launched.contains(key));
        let mut vain: Vec<_> = vain.map(|key| &key.0).collect();
        vain.sort();
        let all = seen.order.len();
        let mut text = format!("# {device}: {all} kernels, {late} late, {} in vain\n", vain.len());
        for (symbol, ahead, launched) in &seen.order {
            match ahead {
                Some(asked) => text += &format!("ahead {symbol} {asked:.3} {launched:.3}\n"),
                None => text += &format!("late {symbol} {launched:.3}\n"),
            }
        }
        vain.iter().for_each(|symbol| text += &format!("vain {symbol}\n"));
        profile::append(VARIABLE, &self.target, &text);
    }
}
