//! Which kernels were asked for before their first launch: `PLAQ_FIRST_LAUNCHES=FILE` adds a table to a
//! file when a device closes, `PLAQ_FIRST_LAUNCHES=-` prints it on the standard error output. Rehearsals
//! then run on CPUs, too.

use std::collections::HashSet;
use std::sync::Mutex;

use super::args::Specs;
use super::{families, profile, Asked, Call};

const VARIABLE: &str = "PLAQ_FIRST_LAUNCHES";

type Key = (String, Specs);

#[derive(Default)]
struct Seen {
    ahead: HashSet<Key>,
    launched: HashSet<Key>,
    /// By first launch: symbols, and whether rehearsals had them before.
    order: Vec<(String, bool)>,
}

pub struct FirstLaunches {
    target: String,
    seen: Mutex<Seen>,
}

impl FirstLaunches {
    pub fn from_env() -> Option<FirstLaunches> {
        let target = profile::target(VARIABLE)?;
        Some(FirstLaunches { target, seen: Mutex::default() })
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn asked(&self, asked: &Asked) {
        let key = (families::symbol(asked.kernel, &asked.params), asked.specs.clone());
        self.seen().ahead.insert(key);
    }

    pub fn launched(&self, call: &Call) {
        let (key, mut seen) = ((call.symbol(), call.specs.clone()), self.seen());
        if seen.launched.insert(key.clone()) {
            let ahead = seen.ahead.contains(&key);
            seen.order.push((key.0, ahead));
        }
    }

    pub fn write(&self, device: &str) {
        let seen = self.seen();
        let late = seen.order.iter().filter(|(_, ahead)| !ahead).count();
        let vain = seen.ahead.difference(&seen.launched).count();
        let all = seen.order.len();
        let mut text = format!("# {device}: {all} kernels, {late} late, {vain} in vain\n");
        for (symbol, ahead) in &seen.order {
            text += &format!("{} {symbol}\n", if *ahead { "ahead" } else { "late" });
        }
        let mut vain: Vec<_> = seen.ahead.difference(&seen.launched).map(|key| &key.0).collect();
        vain.sort();
        vain.iter().for_each(|symbol| text += &format!("vain {symbol}\n"));
        profile::append(VARIABLE, &self.target, &text);
    }
}
