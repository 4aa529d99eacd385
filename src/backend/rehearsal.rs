//! Rehearsals: work runs through once, but nothing is launched, copied or cleared, and sums are made up.
//! A GPU then compiles all kernels that the work asked for at the same time, instead of one when the
//! one before has run.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::args::Specs;
use super::families::Kernel;
use super::{zeros, Call, Device, Work};
use crate::error::Result;

/// A kernel that was asked for.
pub struct Asked {
    pub kernel: &'static Kernel,
    pub params: Vec<String>,
    pub specs: Specs,
    pub work: Work,
}

/// Different calls of this thread, taken down; `live`: they are carried out all the same.
#[derive(Default)]
struct Record {
    asked: Vec<Asked>,
    seen: HashSet<u64>,
    live: bool,
}

thread_local! {
    static RECORD: RefCell<Option<Record>> = const { RefCell::new(None) };
}

#[cfg(test)]
thread_local! {
    static ON_CPUS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Is this thread in a rehearsal?
pub fn active() -> bool {
    RECORD.with_borrow(|record| record.as_ref().is_some_and(|r| !r.live))
}

/// Takes the call down where calls are recorded; true in a rehearsal.
pub(super) fn noted(call: &Call) -> bool {
    RECORD.with_borrow_mut(|record| {
        let Some(record) = record else { return false };
        let mut key = DefaultHasher::new();
        let work = (call.work.n, call.work.batches);
        (call.kernel.name, call.params, &call.specs, work).hash(&mut key);
        if record.seen.insert(key.finish()) {
            record.asked.push(Asked {
                kernel: call.kernel,
                params: call.params.iter().map(|p| p.to_string()).collect(),
                specs: call.specs.clone(),
                work: call.work,
            });
        }
        !record.live
    })
}

/// The sums of a reduction that is not run: 1 each, and no failures.
pub(super) fn sums(call: &Call) -> Result<Vec<f64>> {
    let mut sums = zeros(call)?;
    sums.fill(if call.kernel.failures { 0.0 } else { 1.0 });
    Ok(sums)
}

/// Ends a rehearsal, also one that panics.
struct Stage;
impl Drop for Stage {
    fn drop(&mut self) {
        RECORD.take();
    }
}

impl Device {
    /// What `work` launches, or in a rehearsal would launch, in this thread.
    pub(crate) fn recorded(live: bool, work: impl FnOnce()) -> Vec<Asked> {
        let _stage = Stage;
        RECORD.set(Some(Record { live, ..Record::default() }));
        work();
        RECORD.with_borrow_mut(Option::take).map_or_else(Vec::new, |record| record.asked)
    }

    /// Compiles the kernels of `work`, once for each `name` of work on this device. The work has no
    /// effect on any field, and must not speak to other ranks. Its errors say nothing, as sums are made
    /// up; those of the compiler come when a kernel is launched. `PLAQ_REHEARSE=off` leaves it out, and
    /// CPUs have their kernels.
    pub(crate) fn rehearse(&self, name: impl FnOnce() -> String, work: impl FnOnce()) {
        let off = || std::env::var("PLAQ_REHEARSE").is_ok_and(|v| v == "off");
        // What is part of another rehearsal goes on in it.
        if self.has_its_kernels() || off() || !self.is_new(name()) || active() {
            return;
        }
        // What made-up sums lead to must not end the work itself.
        let asked = Self::recorded(false, || {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        });
        if let Err(e) = self.0.backend.prepare(&asked) {
            log::debug!("kernels compiled ahead: {e}");
        }
    }

    fn has_its_kernels(&self) -> bool {
        #[cfg(test)]
        if ON_CPUS.get() {
            return false;
        }
        self.is_cpu()
    }

    /// Does work that is rehearsed on a CPU, too.
    #[cfg(test)]
    pub(crate) fn rehearsed_anyway<T>(work: impl FnOnce() -> T) -> T {
        ON_CPUS.set(true);
        let done = work();
        ON_CPUS.set(false);
        done
    }

    fn is_new(&self, name: String) -> bool {
        let mut rehearsed = self.0.rehearsed.lock().unwrap_or_else(|e| e.into_inner());
        rehearsed.insert(name)
    }
}
