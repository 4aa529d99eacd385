//! Rehearsals: work runs once on a device without memory (`stand_in.rs`), which records the calls of kernels. For a
//! GPU all kernels of the work are then compiled in parallel, beginning with the first one while the rehearsal is
//! still running, instead of each at its first launch.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{MutexGuard, PoisonError};

use super::args::Specs;
use super::families::{self, Kernel};
use super::{Call, Device, Work};
use crate::bail;
use crate::error::Result;
use crate::params::Key;

/// A kernel that was requested, with its constants.
#[derive(Clone)]
pub struct RequestedKernel {
    pub kernel: &'static Kernel,
    pub params: Vec<&'static str>,
    pub specs: Specs,
    pub work: Work,
}

/// Kernels that a piece of work launches.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// Symbols of the kernels; a symbol occurs once for every set of constants.
    pub names: Vec<String>,
    /// Number of these kernels that are not compiled yet.
    pub to_compile: usize,
}

impl Kernels {
    /// Rough estimate of the seconds until they are compiled: each takes 0.4 s of a core, of which 0.035 s cannot run
    /// in parallel, and the first launch waits for its own kernel (docs/lab/first-calls.md).
    pub fn seconds(&self) -> f64 {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        match self.to_compile {
            0 => 0.0,
            n => 1.5 + n as f64 * (0.4 / cores as f64).max(0.035),
        }
    }
}

/// Calls of kernels that a device has recorded; equal calls are recorded once.
#[derive(Default)]
pub(super) struct Record {
    asked: Vec<RequestedKernel>,
    seen: HashSet<u64>,
    /// If each recorded kernel is to be compiled: the device for which, and whether the work is only likely to follow.
    compiles: Option<(Device, bool)>,
}

#[cfg(test)]
thread_local! {
    static ON_CPUS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// A guard that ends a recording when it is dropped, also after a panic; the previous recording then continues.
struct RecordingGuard<'a>(&'a Device, Option<Record>);
impl Drop for RecordingGuard<'_> {
    fn drop(&mut self) {
        *self.0.record() = self.1.take();
    }
}

impl Device {
    fn record(&self) -> MutexGuard<'_, Option<Record>> {
        self.0.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a call if calls of this device are being recorded.
    pub(super) fn note(&self, call: &Call) {
        let mut record = self.record();
        let Some(record) = &mut *record else { return };
        let mut key = DefaultHasher::new();
        // Names are compared by their addresses, which is fast; a name at two addresses is recorded twice, which does
        // no harm.
        let at = |name: &'static str| (name.as_ptr() as usize, name.len());
        (at(call.kernel.name), call.work.n, call.work.batches).hash(&mut key);
        call.params.iter().for_each(|name| at(name).hash(&mut key));
        call.specs().iter().for_each(|(name, value)| (at(name), value).hash(&mut key));
        if record.seen.insert(key.finish()) {
            let asked = RequestedKernel {
                kernel: call.kernel,
                params: call.params.to_vec(),
                specs: call.specs().clone(),
                work: call.work,
            };
            if let Some((device, likely)) = &record.compiles {
                device.will_launch(&asked, *likely);
            }
            record.asked.push(asked);
        }
    }

    fn recording<T>(&self, record: Record, work: impl FnOnce() -> T) -> (T, Vec<RequestedKernel>) {
        let _before = RecordingGuard(self, self.record().replace(record));
        let done = work();
        let asked = self.record().take().map_or_else(Vec::new, |record| record.asked);
        (done, asked)
    }

    /// The kernel calls that `work` makes on this device; on a stand-in device those that it would make.
    pub fn recorded(&self, work: impl FnOnce()) -> Vec<RequestedKernel> {
        self.recording(Record::default(), work).1
    }

    /// Starts to compile the kernels of `work`, once for each `key` of work on this device: of all settings on which
    /// its kernels depend. The work makes all of
    /// its fields on the device that it is given, one without memory: `dry`, a stand-in for this one on which the
    /// objects that the work needs have been made before, or a new one. Its errors are ignored, since sums are made
    /// up; those of the compiler are reported when a kernel is launched. `likely`: the work is only expected.
    /// Nothing is done with `PLAQ_REHEARSE=off`, and on CPUs, whose kernels are compiled already.
    pub(crate) fn precompile<T>(
        &self,
        dry: Option<&Device>,
        likely: bool,
        key: Key,
        work: impl FnOnce(&Device) -> Result<T>,
    ) {
        if self.compiles(key) {
            let dry = dry.cloned().unwrap_or_else(|| self.stand_in());
            self.compile_of(&dry, likely, || _ = work(&dry));
        }
    }

    /// Compiles, for this device, the kernels that `work` calls on the stand-in device `dry`.
    fn compile_of(&self, dry: &Device, likely: bool, work: impl FnOnce()) {
        let record = Record { compiles: Some((self.clone(), likely)), ..Record::default() };
        dry.recording(record, || {
            // Panics because of made-up sums must not end the work itself.
            let _ = catch_unwind(AssertUnwindSafe(work));
        });
    }

    /// Rehearses work on this device, which is one without memory, and returns its result, whether there are kernels
    /// to compile or not. With a `key` its kernels are compiled as by `precompile`, unless it is a part of another
    /// rehearsal.
    ///
    /// # Errors
    /// Errors of the work, so far as they do not come from made-up sums; `Internal` where it panics.
    pub(crate) fn try_out<T>(
        &self,
        key: Option<Key>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let part = self.0.nested || self.record().is_some();
        let mut done = None;
        let run = || done = catch_unwind(AssertUnwindSafe(work)).ok();
        match key.filter(|_| !part).is_some_and(|key| self.real().compiles(key)) {
            true => self.real().compile_of(self, false, run),
            false => run(),
        }
        match done {
            Some(done) => done,
            None => bail!(Internal, "a rehearsal on {} panics", self.name()),
        }
    }

    /// The kernels of `work`, which makes all of its fields on this device, one without memory, on which `there` has
    /// made objects before. Nothing is run or compiled.
    ///
    /// # Errors
    /// Errors of both, so far as they do not come from made-up sums; `Internal` where one panics.
    pub(crate) fn kernels_of<A, T>(
        &self,
        there: impl FnOnce() -> Result<A>,
        work: impl FnOnce(A) -> Result<T>,
    ) -> Result<Kernels> {
        let mut asked = self.try_out(None, || {
            let there = there()?;
            let (done, asked) = self.recording(Record::default(), || work(there));
            done.map(|_| asked)
        })?;
        let mut seen = HashSet::new();
        asked.retain(|a| seen.insert((families::symbol(a.kernel, &a.params), a.specs.clone())));
        let compiled = |a: &&RequestedKernel| self.real().0.backend.is_compiled(a);
        let to_compile = asked.iter().filter(|a| !compiled(a)).count();
        let names = asked.iter().map(|a| families::symbol(a.kernel, &a.params)).collect();
        Ok(Kernels { names, to_compile })
    }

    /// Whether kernels of work with this key must still be compiled: not on CPUs, not with `PLAQ_REHEARSE=off`, and
    /// once for every key.
    fn compiles(&self, key: Key) -> bool {
        let off = || std::env::var("PLAQ_REHEARSE").is_ok_and(|v| v == "off");
        !self.has_its_kernels() && !off() && self.is_new(key)
    }

    fn will_launch(&self, asked: &RequestedKernel, likely: bool) {
        if let Some(first) = &self.0.first {
            first.record_request(asked);
        }
        self.0.backend.prepare(asked, likely);
    }

    fn has_its_kernels(&self) -> bool {
        if self.is_stand_in() {
            return true;
        }
        #[cfg(test)]
        if ON_CPUS.get() {
            return false;
        }
        self.is_cpu() && self.0.first.is_none()
    }

    /// Runs work such that rehearsals are made on a CPU, too, for tests.
    #[cfg(test)]
    pub(crate) fn rehearsed_anyway<T>(work: impl FnOnce() -> T) -> T {
        ON_CPUS.set(true);
        let done = work();
        ON_CPUS.set(false);
        done
    }

    fn is_new(&self, key: Key) -> bool {
        let mut rehearsed = self.0.rehearsed.lock().unwrap_or_else(|e| e.into_inner());
        rehearsed.insert(key)
    }
}
