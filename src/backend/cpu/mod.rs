//! The CPU back end. Kernels are compiled ahead of time for several instruction sets, of which one is chosen at
//! start; a launch is divided into ranges of sites for a pool of threads.

mod fourier;
mod memory;
mod threads;

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use super::args::SumArgs;
use super::fourier::{FourierShape, Plan};
use super::host_memory::pages::{HUGE_PAGE, PAGE};
use super::{Backend, Call, Downloads, Piece, Ptr};
use crate::bail;
use crate::error::{host_array, Result};
pub(crate) use threads::while_working;
use threads::Threads;

type CpuKernel = unsafe extern "C" fn(*const c_void, i64, i64, i32, i32, *mut f64);

mod table {
    use super::CpuKernel;
    include!(concat!(env!("OUT_DIR"), "/cpu_table.rs"));
}

/// Name of the instruction set for which every kernel is compiled, for any number of lanes; the first in the table.
const GENERIC: &str = "generic";
/// Number of outer sites in a partial sum; it is fixed, so that sums do not depend on the number of threads.
const SUM_CHUNK: usize = 128;
const MAX_LANES: usize = 16;

pub struct Cpu {
    threads: Arc<Threads>,
    /// Number, in the table, of the instruction set that is used for 16 lanes.
    set: usize,
    /// Numbers, in the table, of the instruction sets that are used for 1, 2, 4, 8 and 16 lanes.
    by_lanes: [usize; 5],
}

/// Names and numbers of lanes of the compiled instruction sets that this processor supports, the plainest first.
fn usable_sets() -> impl Iterator<Item = (&'static str, usize)> {
    table::SETS.iter().copied().filter(|&(name, _)| match name {
        #[cfg(target_arch = "x86_64")]
        "avx2" | "lanes2" | "lanes4" | "lanes8" => {
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
        }
        #[cfg(target_arch = "x86_64")]
        "avx512" => {
            is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
        }
        _ => true,
    })
}

/// Names of the compiled instruction sets for 16 lanes that this processor supports, the plainest first.
pub fn instruction_sets() -> Vec<&'static str> {
    usable_sets().filter(|&(_, lanes)| lanes == MAX_LANES).map(|(name, _)| name).collect()
}

/// The largest number of lanes, up to `limit`, for which this library has kernels that this processor runs.
pub fn lanes_up_to(limit: usize) -> usize {
    usable_sets().map(|(_, lanes)| lanes).filter(|&lanes| lanes <= limit).max().unwrap_or(1)
}

fn set_named(name: &str) -> usize {
    table::SETS.iter().position(|&(n, _)| n == name).expect("a set of the table")
}

impl Cpu {
    pub fn new(threads: usize) -> Result<Self> {
        let sets = instruction_sets();
        let name = match std::env::var("PLAQ_CPU_ISA") {
            Ok(asked) => match sets.iter().find(|s| **s == asked) {
                Some(s) => s,
                None if asked == GENERIC => GENERIC,
                None => bail!(
                    Unsupported,
                    "PLAQ_CPU_ISA={asked}: this library on this processor has {sets:?}"
                ),
            },
            // The processor may support none of the sets for which the library was built.
            Err(_) => sets.last().copied().unwrap_or(GENERIC),
        };
        let threads = match Threads::start(threads) {
            Ok(threads) => Arc::new(threads),
            Err(e) => bail!(InvalidArgument, "cannot start {threads} threads: {e}"),
        };
        let set = set_named(name);
        let mut by_lanes = [set_named(GENERIC); 5];
        for (other, lanes) in usable_sets().filter(|&(_, lanes)| lanes > 1) {
            by_lanes[lanes.ilog2() as usize] =
                if lanes == MAX_LANES { set } else { set_named(other) };
        }
        memory::opened();
        Ok(Cpu { threads, set, by_lanes })
    }

    /// An error if the device's threads do not exist in this process, as after a fork.
    fn check_threads(&self) -> Result<()> {
        if !self.threads.exist() {
            bail!(DeviceLost, sentence("{}: this process was forked from the one that made the context, whose threads are not here", self.name()), hint("make a context in the child, or one of a single thread before fork()"));
        }
        Ok(())
    }

    /// The compiled function for a call, from the set for the lattice's lanes.
    fn function(&self, call: &Call) -> Result<CpuKernel> {
        static INDEX: OnceLock<HashMap<&'static str, &'static [CpuKernel]>> = OnceLock::new();
        let index = INDEX.get_or_init(|| table::TABLE.iter().copied().collect());
        let functions = index[call.symbol().as_str()];
        match self.by_lanes.get(call.work.lanes.ilog2() as usize) {
            Some(&set) if call.work.lanes.is_power_of_two() => Ok(functions[set]),
            _ => bail!(Unsupported, "{} lanes on {}", call.work.lanes, self.name()),
        }
    }
}

impl Backend for Cpu {
    fn name(&self) -> String {
        format!(
            "cpu {}, {} thread{}",
            table::SETS[self.set].0,
            self.threads.count(),
            if self.threads.count() == 1 { "" } else { "s" }
        )
    }
    fn is_cpu(&self) -> bool {
        true
    }
    fn threads(&self) -> Option<usize> {
        Some(self.threads.count())
    }
    fn max_lanes(&self) -> usize {
        table::SETS[self.set].1
    }
    fn memory(&self) -> Result<(u64, u64)> {
        // SAFETY: sysconf has no preconditions.
        let (pages, free, size) = unsafe {
            (
                libc::sysconf(libc::_SC_PHYS_PAGES),
                libc::sysconf(libc::_SC_AVPHYS_PAGES),
                libc::sysconf(libc::_SC_PAGESIZE),
            )
        };
        let left = memory::left().unwrap_or(free as u64 * size as u64);
        Ok((left, pages as u64 * size as u64))
    }
    fn alloc(&self, bytes: u64, _shared: bool) -> Result<Ptr> {
        let first = memory::take(bytes as usize);
        if first.is_null() {
            bail!(OutOfMemory, "the host refused {} MiB", bytes >> 20);
        }
        // A page is placed in the memory near the core that first writes to it; therefore every thread writes to a
        // share.
        let (ptr, size) = (first as usize, (bytes as usize).max(1));
        let share = size.div_ceil(4 * self.threads.count()).next_multiple_of(HUGE_PAGE);
        let touch = |part: usize| {
            for at in (part * share..size.min((part + 1) * share)).step_by(PAGE) {
                // SAFETY: a byte of the allocation, in a part of it that only this call touches.
                unsafe { ((ptr + at) as *mut u8).write_volatile(0) };
            }
        };
        match size.div_ceil(share) {
            parts if self.threads.exist() => self.threads.run(parts, &touch),
            parts => (0..parts).for_each(touch),
        }
        Ok(Ptr(ptr as u64))
    }
    unsafe fn free(&self, ptr: Ptr, bytes: u64, _shared: bool) {
        // SAFETY: `ptr` came from `alloc` with the same size (Buffer keeps both).
        unsafe { memory::give(ptr.0 as *mut u8, bytes as usize) }
    }
    unsafe fn upload(&self, pieces: &[Piece]) -> Result<()> {
        for (dst, src) in pieces {
            // SAFETY: the pieces lie inside buffers; distinct allocations do not overlap.
            unsafe { src.gather(0..src.bytes(), dst.0 as *mut u8) };
        }
        Ok(())
    }
    unsafe fn download(&self, source: &mut Downloads) -> Result<()> {
        loop {
            let pieces = source()?;
            for (src, dst) in &pieces {
                // SAFETY: the caller guarantees that both ranges of memory have these bytes.
                unsafe { dst.scatter(0..dst.bytes(), src.0 as *const u8) };
            }
            if pieces.is_empty() {
                return Ok(());
            }
        }
    }
    unsafe fn copy(&self, dst: Ptr, src: Ptr, bytes: u64) -> Result<()> {
        // SAFETY: both come from buffers of at least `bytes`; a copy onto itself is allowed.
        unsafe { std::ptr::copy(src.0 as *const u8, dst.0 as *mut u8, bytes as usize) };
        Ok(())
    }
    unsafe fn zero(&self, dst: Ptr, bytes: u64) -> Result<()> {
        // SAFETY: a buffer of at least `bytes`.
        unsafe { std::ptr::write_bytes(dst.0 as *mut u8, 0, bytes as usize) };
        Ok(())
    }

    unsafe fn launch(&self, call: &Call) -> Result<()> {
        #[cfg(debug_assertions)]
        super::trace::note(call);
        self.check_threads()?;
        let function = self.function(call)?;
        let (args, batches) = (call.args as usize, call.work.batches as i32);
        let lanes = call.work.lanes as i32;
        self.threads.ranges(call.work.n, |sites| {
            // SAFETY: the struct outlives this call, its layout is checked by static_assert, and
            // the fields' sizes are what `n` and `batches` say (private interface of this crate).
            unsafe {
                function(
                    args as *const c_void,
                    sites.start as i64,
                    sites.end as i64,
                    batches,
                    lanes,
                    std::ptr::null_mut(),
                )
            }
        });
        Ok(())
    }

    unsafe fn reduce(&self, call: &Call, sums: &mut [f64], _over: Option<&SumArgs>) -> Result<f64> {
        let (numbers, maxima) = call.numbers();
        self.check_threads()?;
        let function = self.function(call)?;
        let (args, batches) = (call.args as usize, call.work.batches as i32);
        let lanes = call.work.lanes as i32;
        let width = sums.len();
        let n = call.work.n;
        let chunks = n.div_ceil(SUM_CHUNK);
        let mut partial = host_array(width * chunks, 0.0, "partial sums")?;
        let out = partial.as_mut_ptr() as usize;
        self.threads.ranges(chunks, |range| {
            for c in range {
                let (begin, end) = (c * SUM_CHUNK, ((c + 1) * SUM_CHUNK).min(n));
                // SAFETY: the call was checked, and each chunk has its own batches x N doubles of `partial`.
                unsafe {
                    function(
                        args as *const c_void,
                        begin as i64,
                        end as i64,
                        batches,
                        lanes,
                        (out as *mut f64).add(c * width),
                    )
                }
            }
        });
        for part in partial.chunks(width) {
            for (k, (s, p)) in sums.iter_mut().zip(part).enumerate() {
                *s = if k % numbers < numbers - maxima { *s + p } else { s.max(*p) };
            }
        }
        Ok(0.0)
    }

    fn fourier(&self, shape: FourierShape) -> Result<Box<dyn Plan>> {
        self.check_threads()?;
        Ok(fourier::plan(&self.threads, shape))
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}
