//! Rehearsals: work runs through once, but nothing is launched, copied or cleared, and sums are made up.
//! A GPU then compiles all kernels that the work asks for side by side, beginning with the first one while
//! the rehearsal goes on, instead of one when the one before has run.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::args::{BasisArgs, Specs, BASIS_COLUMNS, BASIS_ROWS};
use super::families::{self, Instance, Kernel};
use super::{kernels, zeros, Call, Device, Work};
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
    /// Factors by which numbers have fallen in the loops that are under way, the innermost last: of most batches, and of
    /// the first one.
    loops: Vec<[f64; 2]>,
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

/// The sums of a reduction that is not run: no failures; scalar products of orthonormal vectors; else squares of numbers
/// that were 1 where the loops under way began.
pub(super) fn sums(call: &Call) -> Vec<f64> {
    let mut sums = zeros(call);
    if call.kernel.failures {
        return sums;
    }
    if call.kernel.name == <kernels::BasisDots as Instance>::KERNEL.name {
        // SAFETY: the arguments of a call are those of its kernel.
        orthonormal(unsafe { &*call.args.cast::<BasisArgs>() }, &mut sums);
        return sums;
    }
    let fallen = RECORD.with_borrow(|record| {
        let loops = record.as_ref().map_or(&[][..], |record| &record.loops);
        loops.iter().fold([1.0; 2], |all, one| [all[0] * one[0], all[1] * one[1]])
    });
    let width = call.numbers().0;
    for (batch, sums) in sums.chunks_mut(width).enumerate() {
        let first = batch == 0 && call.work.batches > 1;
        sums.fill(fallen[usize::from(first)].powi(2).max(f64::MIN_POSITIVE));
    }
    sums
}

/// Products of tiles of vectors (`fields/basis.rs`): as many vectors as there are others are the same, else all of them are
/// orthogonal to the others.
fn orthonormal(args: &BasisArgs, sums: &mut [f64]) {
    let (high, wide) = (BASIS_ROWS as usize, BASIS_COLUMNS as usize);
    let (rows, columns) = (args.rows as usize, args.columns as usize);
    let across = columns.div_ceil(wide);
    for (tile, sums) in sums.chunks_mut(2 * high * wide).enumerate() {
        let (row, column) = (tile / across * high, tile % across * wide);
        for (k, product) in sums.chunks_mut(2).enumerate() {
            let same = rows == columns && row + k / wide == column + k % wide;
            product.copy_from_slice(&[f64::from(same), 0.0]);
        }
    }
}

/// A loop whose numbers fall until it ends. Devices that have numbers take no notice of it.
pub(crate) struct Falling {
    /// Loops around this one; none on a device with numbers.
    around: Option<usize>,
    /// Factor by which a number falls until it has met its goal, at least.
    goal: f64,
    /// Iterations after which the loop has launched all that it launches.
    different: usize,
}

impl Falling {
    /// So many iterations are over.
    pub fn after(&self, iterations: usize) {
        let Some(at) = self.around else { return };
        // In two precisions residuals are computed anew on the way. One right-hand side ends before the others, and of many
        // shifts those that are easier.
        let (way, end) = (self.goal.sqrt(), 0.1 * self.goal);
        let fallen = match self.different.saturating_sub(iterations + 1) {
            _ if iterations == 0 => [1.0; 2],
            0 => [end; 2],
            1 => [1.0001 * self.goal, end],
            2 => [way, end],
            _ => [way; 2],
        };
        RECORD.with_borrow_mut(|record| {
            if let Some(one) = record.as_mut().and_then(|record| record.loops.get_mut(at)) {
                *one = fallen;
            }
        });
    }

    /// The most iterations that the loop has on this device, of so many that are allowed.
    pub fn limit(&self, iterations: usize) -> usize {
        match self.around {
            Some(_) => iterations.min(self.different + 1),
            None => iterations,
        }
    }
}

impl Drop for Falling {
    fn drop(&mut self) {
        let Some(at) = self.around else { return };
        RECORD.with_borrow_mut(|record| {
            if let Some(record) = record {
                record.loops.truncate(at);
            }
        });
    }
}

/// Ends a rehearsal, also one that panics: what was recorded around it goes on.
struct Stage(Option<Record>);
impl Drop for Stage {
    fn drop(&mut self) {
        RECORD.set(self.0.take());
    }
}

fn recorded(live: bool, wanted: Wanted, work: impl FnOnce()) -> Vec<Asked> {
    let (asked, seen, loops) = (vec![], HashSet::new(), vec![]);
    let record = Record { asked, seen, live, wanted, loops };
    let _stage = Stage(RECORD.replace(Some(record)));
    work();
    RECORD.with_borrow_mut(Option::take).map_or_else(Vec::new, |record| record.asked)
}

impl Device {
    /// A loop begins that ends when numbers have fallen by the factor `goal`, and that has launched all that it launches
    /// after `different` iterations. A device without numbers lets them fall, and keeps no loop going that does not end.
    pub(crate) fn falling(&self, goal: f64, different: usize) -> Falling {
        let around = RECORD.with_borrow_mut(|record| {
            let record = record.as_mut().filter(|record| !record.live)?;
            record.loops.push([1.0; 2]);
            Some(record.loops.len() - 1)
        });
        Falling { around, goal, different }
    }

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
