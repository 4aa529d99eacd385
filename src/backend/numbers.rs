//! Results of reductions on a stand-in device, which computes nothing: made-up numbers that decrease, so that
//! iterations end.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use super::args::{BasisArgs, TimeSliceArgs, BASIS_COLUMNS, BASIS_ROWS};
use super::families::Instance;
use super::{kernels, zeros, Call, Device};

/// Number of calls in a loop that was not announced after which the results of a kernel decrease by a factor of ten
/// with each call.
const MANY: u32 = 1000;
/// Number of calls during which the results decrease, before the count of calls starts again.
const FALLING: u32 = 40;

/// The announced loops of a solve on a stand-in device, the innermost last; the made-up results of reductions depend on
/// how far these loops are.
#[derive(Debug)]
pub struct Numbers {
    loops: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// Factors by which results have decreased in this loop: for all batches but the first, and for the first batch.
    fallen: [f64; 2],
    /// Number of calls of each kernel in this loop, without those in inner loops.
    calls: HashMap<u64, u32>,
}

impl Level {
    fn new() -> Self {
        Level { fallen: [1.0; 2], calls: HashMap::new() }
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers { loops: vec![Level::new()] }
    }
}

impl Numbers {
    /// Made-up results of a reduction: 0 for counts of failures; scalar products of orthonormal vectors; otherwise
    /// squared norms that were 1 when the present loops began.
    pub fn sums(&mut self, call: &Call) -> Vec<f64> {
        let mut sums = zeros(call);
        if call.kernel.failures {
            return sums;
        }
        if call.kernel.name == <kernels::BasisDots as Instance>::KERNEL.name {
            // SAFETY: the arguments of a call are those of its kernel.
            orthonormal(unsafe { &*call.args.cast::<BasisArgs>() }, &mut sums);
            return sums;
        }
        if call.kernel.name == <kernels::TimeSliceDots as Instance>::KERNEL.name {
            // SAFETY: the arguments of a call are those of its kernel.
            let args = unsafe { &*call.args.cast::<TimeSliceArgs>() };
            orthonormal_slices(args, call.numbers().0, &mut sums);
            return sums;
        }
        let mut all = [1.0; 2];
        for level in &self.loops {
            all = [all[0] * level.fallen[0], all[1] * level.fallen[1]];
        }
        let decades = self.loops.last_mut().map_or(0, |level| level.decades(call));
        let width = call.numbers().0;
        for (batch, sums) in sums.chunks_mut(width).enumerate() {
            let first = batch == 0 && call.work.batches > 1;
            let number = all[usize::from(first)] * 10f64.powi(-decades);
            sums.fill(number.powi(2).max(f64::MIN_POSITIVE));
        }
        sums
    }
}

impl Level {
    /// Number of decades by which the numbers of a call have fallen because it is repeated so often.
    fn decades(&mut self, call: &Call) -> i32 {
        let mut key = DefaultHasher::new();
        (call.kernel.name, call.params, call.specs()).hash(&mut key);
        let calls = self.calls.entry(key.finish()).or_default();
        *calls = (*calls + 1) % (MANY + FALLING);
        calls.saturating_sub(MANY) as i32
    }
}

/// Made-up scalar products of all pairs of vectors v and w (`fields/basis.rs`): those of orthonormal vectors with
/// themselves if there are as many v as w, else 0.
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

/// The products of `orthonormal` for each time slice (`fields/time_slices.rs`): for each tile, parity and slice 4 x 4
/// products at the times of the lower lanes, followed by those of the upper lanes.
fn orthonormal_slices(args: &TimeSliceArgs, width: usize, sums: &mut [f64]) {
    let across = (args.columns as usize).div_ceil(4);
    let tiles = across * (args.rows as usize).div_ceil(4);
    for (batch, sums) in sums.chunks_mut(width).enumerate() {
        let (tile, parity) = (batch % tiles, batch / tiles % 2);
        for (k, product) in sums.chunks_mut(2).enumerate() {
            let (i, j) = (tile / across * 4 + k % 16 / 4, tile % across * 4 + k % 4);
            let same = args.rows == args.columns && i == j && parity == 0;
            product.copy_from_slice(&[f64::from(same), 0.0]);
        }
    }
}

/// A guard for a loop, during which made-up results decrease until the loop ends. It has no effect on devices that run
/// kernels.
pub(crate) struct Falling {
    /// The results that the stand-in device makes up, and the index of this loop among its loops; `None` on a device
    /// that runs kernels.
    of: Option<(Arc<Mutex<Numbers>>, usize)>,
    /// Factor by which numbers must decrease for the loop to reach its goal.
    goal: f64,
    /// Number of iterations after which the loop launches only kernels that it has launched before.
    different: usize,
}

impl Device {
    /// Announces a loop that ends when numbers have decreased by the factor `goal`, and that launches no further kinds
    /// of kernels after `different` iterations. On a stand-in device made-up results decrease accordingly, so that
    /// every loop ends.
    pub(crate) fn falling(&self, goal: f64, different: usize) -> Falling {
        let of = self.numbers().map(|numbers| {
            let at = lock(&numbers, |numbers| {
                numbers.loops.push(Level::new());
                numbers.loops.len() - 1
            });
            (numbers, at)
        });
        Falling { of, goal, different }
    }
}

impl Falling {
    /// Records that the loop has made `iterations` iterations.
    pub fn after(&self, iterations: usize) {
        let Some((numbers, at)) = &self.of else { return };
        // Solves in two precisions recompute residuals on the way. Results of the first right-hand side decrease before
        // those of the others, so that it also reaches the goal first: work on a part of the right-hand sides, or on
        // some of the shifts, launches kernels of its own, which then also occur.
        let (way, end) = (self.goal.sqrt(), 0.1 * self.goal);
        let fallen = match self.different.saturating_sub(iterations + 1) {
            _ if iterations == 0 => [1.0; 2],
            0 => [end; 2],
            1 => [1.0001 * self.goal, end],
            2 => [way, end],
            _ if iterations == 1 => [1.0, way],
            _ => [way; 2],
        };
        lock(numbers, |numbers| {
            if let Some(level) = numbers.loops.get_mut(*at) {
                level.fallen = fallen;
            }
        });
    }

    /// Whether the loop, which has ended, has reached its goal: `goals`, or true on a stand-in device.
    pub fn met(&self, goals: bool) -> bool {
        goals || self.of.is_some()
    }

    /// The value, after the loop has ended, of a number that should have decreased to `goal`: `number`, or `goal` on a
    /// stand-in device.
    pub fn reached(&self, number: f64, goal: f64) -> f64 {
        match self.of {
            Some(_) => number.min(goal),
            None => number,
        }
    }

    /// Largest number of iterations of the loop on this device: `iterations`, or fewer on a stand-in device, where
    /// further iterations would launch no other kernels.
    pub fn limit(&self, iterations: usize) -> usize {
        match self.of {
            Some(_) => iterations.min(self.different + 1),
            None => iterations,
        }
    }
}

impl Drop for Falling {
    fn drop(&mut self) {
        if let Some((numbers, at)) = &self.of {
            lock(numbers, |numbers| numbers.loops.truncate(*at));
        }
    }
}

fn lock<T>(numbers: &Mutex<Numbers>, work: impl FnOnce(&mut Numbers) -> T) -> T {
    work(&mut numbers.lock().unwrap_or_else(PoisonError::into_inner))
}
