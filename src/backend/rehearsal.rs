//! Rehearsals: work runs through once, but nothing is launched, copied or cleared, and sums are made up.
//! A GPU then compiles all kernels that the work asks for side by side, beginning with the first one while
//! the rehearsal goes on, instead of one when the one before has run.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use super::args::Specs;
use super::families::{self, Kernel};
use super::numbers::Numbers;
use super::{Call, Device, Work};
use crate::bail;
use crate::error::Result;

/// A kernel that was asked for.
#[derive(Clone)]
pub struct Asked {
    pub kernel: &'static Kernel,
    pub params: Vec<&'static str>,
    pub specs: Specs,
    pub work: Work,
}

/// Kernels that work asks for.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// Symbols; one comes again for other constants.
    pub names: Vec<String>,
    /// How many of them a launch or a rehearsal would compile.
    pub to_compile: usize,
}

impl Kernels {
    /// Seconds until they are compiled, roughly: one takes 0.4 s of a core, of which nothing shares 0.035 s, and the
    /// first launch waits for its own (docs/lab/first-calls.md).
    pub fn seconds(&self) -> f64 {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        match self.to_compile {
            0 => 0.0,
            n => 1.5 + n as f64 * (0.4 / cores as f64).max(0.035),
        }
    }
}

/// Different calls of this thread.
struct Record {
    asked: Vec<Asked>,
    seen: HashSet<u64>,
    /// They are carried out all the same.
    live: bool,
    wanted: Wanted,
    numbers: Arc<Mutex<Numbers>>,
}

/// Who wants to know of calls.
enum Wanted {
    Nobody,
    /// Who recorded them, at the end.
    Caller,
    /// The device that compiles their kernels, of each when it is asked for, and whether it is a guess.
    Device(Device, bool),
}

thread_local! {
    static RECORD: RefCell<Option<Record>> = const { RefCell::new(None) };
}

#[cfg(test)]
thread_local! {
    static ON_CPUS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Is this thread in a rehearsal?
pub(super) fn active() -> bool {
    RECORD.with_borrow(|record| record.as_ref().is_some_and(|r| !r.live))
}

/// Is the work of this thread done, and not only run through without numbers?
pub fn runs() -> bool {
    !active()
}
/// A test of numbers that holds as a rule, and does where there are none.
pub fn as_a_rule(holds: bool) -> bool {
    holds || active()
}
/// A test of numbers that fails as a rule, and does where there are none.
pub fn exceptionally(holds: bool) -> bool {
    holds && !active()
}
/// What is found with numbers, or `instead` where there are none: as a rule the most that it may be.
pub fn found_or<T>(instead: T, found: impl FnOnce() -> T) -> T {
    if active() {
        instead
    } else {
        found()
    }
}
/// Steps of a loop: `steps`, without numbers at most as many as launch different kernels.
pub fn steps(steps: usize, different: usize) -> usize {
    if active() {
        steps.min(different)
    } else {
        steps
    }
}

/// What a rehearsal of this thread answers reductions with.
pub(super) fn numbers() -> Option<Arc<Mutex<Numbers>>> {
    RECORD.with_borrow(|record| record.as_ref().filter(|r| !r.live).map(|r| r.numbers.clone()))
}

/// Takes the call down where calls are recorded; true in a rehearsal.
pub(super) fn noted(call: &Call) -> bool {
    RECORD.with_borrow_mut(|record| {
        let Some(record) = record else { return false };
        if matches!(record.wanted, Wanted::Nobody) {
            return !record.live;
        }
        let mut key = DefaultHasher::new();
        // Names by their addresses; one that is at two of them is taken down twice, which changes nothing.
        let at = |name: &'static str| (name.as_ptr() as usize, name.len());
        (at(call.kernel.name), call.work.n, call.work.batches).hash(&mut key);
        call.params.iter().for_each(|name| at(name).hash(&mut key));
        call.specs().iter().for_each(|(name, value)| (at(name), value).hash(&mut key));
        if record.seen.insert(key.finish()) {
            let asked = Asked {
                kernel: call.kernel,
                params: call.params.to_vec(),
                specs: call.specs().clone(),
                work: call.work,
            };
            if let Wanted::Device(device, likely) = &record.wanted {
                device.will_launch(&asked, *likely);
            }
            record.asked.push(asked);
        }
        !record.live
    })
}

/// Ends a rehearsal, also one that panics: what was recorded around it goes on.
struct Stage(Option<Record>);
impl Drop for Stage {
    fn drop(&mut self) {
        RECORD.set(self.0.take());
    }
}

fn recorded(live: bool, wanted: Wanted, work: impl FnOnce()) -> Vec<Asked> {
    let (asked, seen, numbers) = (vec![], HashSet::new(), Arc::default());
    let record = Record { asked, seen, live, wanted, numbers };
    let _stage = Stage(RECORD.replace(Some(record)));
    work();
    RECORD.with_borrow_mut(Option::take).map_or_else(Vec::new, |record| record.asked)
}

impl Device {
    /// What `work` launches in this thread (`live`), or would launch: then it is a dry run, which changes no field.
    pub fn recorded(live: bool, work: impl FnOnce()) -> Vec<Asked> {
        recorded(live, Wanted::Caller, work)
    }

    /// Begins to compile the kernels of `work`, once for each `name` of work on this device. The work has
    /// no effect on any field, and must not speak to other ranks. Its errors say nothing, as sums are made
    /// up; those of the compiler come when a kernel is launched. `PLAQ_REHEARSE=off` leaves it out, and
    /// CPUs have their kernels.
    pub(crate) fn rehearse(&self, name: impl FnOnce() -> String, work: impl FnOnce()) {
        self.ask_for(false, name, work);
    }

    /// The same for work that makes all of its fields, on the device that it is given: one like this one
    /// without memory. `likely`: nobody has asked for the work yet.
    pub(crate) fn foresee<T>(
        &self,
        likely: bool,
        name: impl FnOnce() -> String,
        work: impl FnOnce(&Device) -> Result<T>,
    ) {
        self.ask_for(likely, name, || _ = work(&self.stand_in()));
    }

    fn ask_for(&self, likely: bool, name: impl FnOnce() -> String, work: impl FnOnce()) {
        // What is part of another rehearsal goes on in it.
        if !self.compiles(name) || active() {
            return;
        }
        recorded(false, Wanted::Device(self.clone(), likely), || {
            // What made-up sums lead to must not end the work itself.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        });
    }

    /// Rehearses work on a stand-in of this device for what it says of itself, whether there are kernels to compile or
    /// not; in another rehearsal as a part of it. With a `name` its kernels are compiled as by `rehearse`.
    ///
    /// # Errors
    /// Errors of the work, so far as they do not come from made-up sums; `Internal` where it panics.
    pub(crate) fn try_out<T>(
        &self,
        name: Option<impl FnOnce() -> String>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if active() {
            return work();
        }
        let wanted = match name.is_some_and(|name| self.compiles(name)) {
            true => Wanted::Device(self.clone(), false),
            false => Wanted::Nobody,
        };
        let mut done = None;
        recorded(false, wanted, || {
            done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).ok();
        });
        match done {
            Some(done) => done,
            None => bail!(Internal, "a rehearsal on {} panics", self.name()),
        }
    }

    /// The kernels of `work`, which makes all of its fields on this device, a stand-in, after what is `there` already was
    /// made on it. Nothing is run or compiled.
    ///
    /// # Errors
    /// Errors of both, so far as they do not come from made-up sums; `Internal` where one panics.
    pub(crate) fn kernels_of<A, T>(
        &self,
        there: impl FnOnce() -> Result<A>,
        work: impl FnOnce(A) -> Result<T>,
    ) -> Result<Kernels> {
        let (real, mut asked) = (self.real(), Vec::new());
        real.try_out(None::<fn() -> String>, || {
            let there = there()?;
            let mut done = None;
            asked = recorded(false, Wanted::Caller, || done = Some(work(there)));
            done.unwrap_or_else(|| bail!(Internal, "a rehearsal on {} panics", self.name()))
        })?;
        let mut seen = HashSet::new();
        asked.retain(|a| seen.insert((families::symbol(a.kernel, &a.params), a.specs.clone())));
        let to_compile = asked.iter().filter(|a| !real.0.backend.is_compiled(a)).count();
        let names = asked.iter().map(|a| families::symbol(a.kernel, &a.params)).collect();
        Ok(Kernels { names, to_compile })
    }

    /// Are there kernels to compile for work of this name?
    fn compiles(&self, name: impl FnOnce() -> String) -> bool {
        let off = || std::env::var("PLAQ_REHEARSE").is_ok_and(|v| v == "off");
        !self.has_its_kernels() && !off() && self.is_new(name())
    }

    fn will_launch(&self, asked: &Asked, likely: bool) {
        if let Some(first) = &self.0.first {
            first.asked(asked);
        }
        self.0.backend.prepare(asked, likely);
    }

    fn has_its_kernels(&self) -> bool {
        #[cfg(test)]
        if ON_CPUS.get() {
            return false;
        }
        self.is_cpu() && self.0.first.is_none()
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
