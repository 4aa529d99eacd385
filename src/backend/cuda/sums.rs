//! What reductions write to: partial sums and block counters on the device, and totals in page-locked
//! memory, where the host waits for the tag of the launch beside each number.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use super::driver::{cu, DevicePtr, Driver, Handle, HOST_PORTABLE_MAPPED, NOT_READY};
use crate::backend::args::SumArgs;
use crate::backend::{Over, Ptr};
use crate::bail;
use crate::error::Result;

/// Looks at the host's memory between two questions to the driver.
const ROUNDS: u64 = 256;
/// A wait this long lets other threads have the core.
const PATIENCE: Duration = Duration::from_millis(1);

pub struct Sums {
    driver: &'static Driver,
    partial: (DevicePtr, usize),
    counters: (DevicePtr, usize),
    host: *mut c_void,
    host_ptr: DevicePtr,
    host_len: usize,
    /// Of the launch; never 0.
    tag: u32,
}
// SAFETY: the memory belongs to no thread; a mutex guards the whole.
unsafe impl Send for Sums {}

impl Sums {
    pub fn new(driver: &'static Driver) -> Sums {
        let none = std::ptr::null_mut();
        let nothing = (0, 0);
        Sums {
            driver,
            partial: nothing,
            counters: nothing,
            host: none,
            host_ptr: 0,
            host_len: 0,
            tag: 0,
        }
    }

    /// Arguments of one launch, with room for `batches` x `blocks` partial sums of `width` doubles.
    /// Kernels leave the counters at zero, so they are cleared once, when they are allocated.
    pub fn reserve(
        &mut self,
        blocks: usize,
        batches: usize,
        width: usize,
        stream: Handle,
        over: Option<&Over>,
    ) -> Result<SumArgs> {
        let d = self.driver;
        grow(d, &mut self.partial, batches * blocks * width * 8)?;
        if grow(d, &mut self.counters, batches * 4)? {
            let (at, bytes) = self.counters;
            cu!(d, memset(at, 0, bytes, stream), "clearing the counters of a reduction")?;
        }
        let numbers = batches * (width + 1);
        if self.host_len < numbers {
            self.free_host();
            let len = numbers.next_power_of_two().max(64);
            let bytes = len * 16;
            cu!(
                d,
                host_alloc(&mut self.host, bytes, HOST_PORTABLE_MAPPED),
                "allocating page-locked memory for sums"
            )?;
            // SAFETY: the allocation just made has this size.
            unsafe { self.host.cast::<u8>().write_bytes(0, bytes) };
            self.host_len = len;
            cu!(d, host_device_ptr(&mut self.host_ptr, self.host, 0), "mapping host memory")?;
        }
        self.tag = self.tag.wrapping_add(1).max(1);
        Ok(SumArgs {
            partial: Ptr(self.partial.0),
            counters: Ptr(self.counters.0),
            out: Ptr(self.host_ptr),
            tag: self.tag as i64,
            ..over.map_or_else(SumArgs::default, |over| over.args)
        })
    }

    /// Waits for `width` sums of each batch; returns the sum of the flag. What the device reports
    /// and an error of `over` end the wait.
    pub fn wait(
        &self,
        sums: &mut [f64],
        width: usize,
        stream: Handle,
        over: Option<&Over>,
    ) -> Result<f64> {
        let (mut flag, mut round, mut ended, start) = (0.0, 0u64, false, Instant::now());
        for i in 0..sums.len() / width * (width + 1) {
            let number = loop {
                if let Some(number) = self.posted(i) {
                    break number;
                }
                if ended {
                    bail!(Internal, "a reduction ended without its result");
                }
                std::hint::spin_loop();
                round += 1;
                if !round.is_multiple_of(ROUNDS) {
                    continue;
                }
                // SAFETY: a live stream.
                match unsafe { (self.driver.stream_query)(stream) } {
                    0 => ended = true,
                    NOT_READY => {}
                    code => return Err(self.driver.error(code, "waiting for a reduction")),
                }
                if let Some(over) = over.filter(|_| !ended) {
                    if let Err(e) = (over.watch)() {
                        // Nobody shall wait for what does not come.
                        over.failed.set(0, Over::GIVEN_UP);
                        cu!(self.driver, stream_synchronize(stream), "giving up a reduction")?;
                        return Err(e);
                    }
                }
                if start.elapsed() > PATIENCE {
                    std::thread::yield_now();
                }
            };
            match i % (width + 1) {
                k if k < width => sums[i / (width + 1) * width + k] = number,
                _ => flag = number,
            }
        }
        Ok(flag)
    }

    /// Number i of the launch, if the kernel has written it (kernels/sums.h).
    fn posted(&self, i: usize) -> Option<f64> {
        assert!(i < self.host_len);
        // SAFETY: within the allocation; volatile because the device writes it.
        let word = |k: usize| unsafe { self.host.cast::<u64>().add(2 * i + k).read_volatile() };
        let (low, high) = (word(0), word(1));
        let here = low >> 32 == self.tag as u64 && high >> 32 == self.tag as u64;
        here.then(|| f64::from_bits(high << 32 | low & 0xffff_ffff))
    }

    fn free_host(&mut self) {
        if !self.host.is_null() {
            let _ = cu!(self.driver, host_free(self.host), "");
            self.host = std::ptr::null_mut();
            self.host_len = 0;
        }
    }
}

/// Replaces a device allocation by a larger one; says whether it did. Reductions wait for their
/// result, so no kernel uses the old one.
fn grow(d: &Driver, held: &mut (DevicePtr, usize), bytes: usize) -> Result<bool> {
    if held.1 >= bytes {
        return Ok(false);
    }
    release(d, held);
    let bytes = bytes.next_power_of_two().max(4096);
    cu!(d, mem_alloc(&mut held.0, bytes), "allocating {bytes} bytes for a reduction")?;
    held.1 = bytes;
    Ok(true)
}

fn release(d: &Driver, held: &mut (DevicePtr, usize)) {
    if held.1 > 0 {
        let _ = cu!(d, mem_free(held.0), "");
        *held = (0, 0);
    }
}

impl Drop for Sums {
    fn drop(&mut self) {
        release(self.driver, &mut self.partial);
        release(self.driver, &mut self.counters);
        self.free_host();
    }
}
