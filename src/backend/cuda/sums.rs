//! Memory for reductions: partial sums and block counters on the device; totals on the device, for kernels, and in
//! page-locked memory, where the host waits for the tag of the launch beside each number.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Instant;

use super::driver::{
    cu, DevicePtr, Driver, Handle, EVENT_NO_TIMING, HOST_PORTABLE_MAPPED, NOT_READY,
};
use super::waits::{Awaitable, WatchedRanks, PATIENCE, POLLS_PER_CHECK};
use crate::backend::args::SumArgs;
use crate::backend::{EnqueuedSums, Ptr};
use crate::bail;
use crate::error::Result;

/// Memory for the totals of one launch.
struct Slot {
    host: *mut c_void,
    host_ptr: DevicePtr,
    totals: (DevicePtr, usize),
    /// Number of values for which the slot has memory.
    len: usize,
    /// Event recorded after the copy of totals to the host.
    copied: Handle,
    busy: Arc<AtomicBool>,
}

pub struct Sums {
    driver: &'static Driver,
    partial: (DevicePtr, usize),
    counters: (DevicePtr, usize),
    slots: Vec<Slot>,
    /// Number of the launch; never 0.
    tag: u32,
}
// SAFETY: the memory belongs to no thread; a mutex guards the whole.
unsafe impl Send for Sums {}

impl Sums {
    pub fn new(driver: &'static Driver) -> Sums {
        Sums { driver, partial: (0, 0), counters: (0, 0), slots: Vec::new(), tag: 0 }
    }

    /// Frees all memory; the context must be current.
    pub fn clear(&mut self) {
        let d = self.driver;
        release(d, &mut self.partial);
        release(d, &mut self.counters);
        for mut slot in self.slots.drain(..) {
            release(d, &mut slot.totals);
            if !slot.host.is_null() {
                let _ = cu!(d, host_free(slot.host), "");
            }
            if !slot.copied.is_null() {
                let _ = cu!(d, event_destroy(slot.copied), "");
            }
        }
    }

    /// The number of an unused slot for `numbers` numbers.
    fn slot(&mut self, numbers: usize) -> Result<usize> {
        let free = |slot: &Slot| !slot.busy.load(Ordering::Acquire);
        if let Some(found) = self.slots.iter().position(|s| free(s) && s.len >= numbers) {
            return Ok(found);
        }
        let mut slot = Slot {
            host: std::ptr::null_mut(),
            host_ptr: 0,
            totals: (0, 0),
            len: 0,
            copied: std::ptr::null_mut(),
            busy: Arc::default(),
        };
        let made = slot.make(self.driver, numbers.next_power_of_two().max(256));
        // The slot is kept also where an allocation failed, so that what it has is freed with the other slots.
        self.slots.push(slot);
        made.map(|()| self.slots.len() - 1)
    }

    /// Arguments for one launch, with memory for `batches` x `blocks` partial sums of `width` doubles, and the place
    /// of its totals. Kernels leave counters at zero, so that they are cleared only when they are allocated. `mark`
    /// comes from [`WatchedRanks`].
    pub fn reserve(
        &mut self,
        blocks: usize,
        batches: usize,
        width: usize,
        stream: Handle,
        over: Option<&SumArgs>,
        mark: u64,
    ) -> Result<(SumArgs, EnqueuedSums)> {
        let d = self.driver;
        grow(d, &mut self.partial, batches * blocks * width * 8, stream)?;
        if grow(d, &mut self.counters, batches * 4, stream)? {
            let (at, bytes) = self.counters;
            cu!(d, memset(at, 0, bytes, stream), "clearing the counters of a reduction")?;
        }
        let number = self.slot(batches * (width + 1))?;
        let slot = &self.slots[number];
        slot.busy.store(true, Ordering::Relaxed);
        self.tag = self.tag.wrapping_add(1).max(1);
        let args = SumArgs {
            partial: Ptr(self.partial.0),
            counters: Ptr(self.counters.0),
            out: Ptr(slot.host_ptr),
            tag: self.tag as i64,
            totals: Ptr(slot.totals.0),
            ..over.copied().unwrap_or_default()
        };
        let (totals, busy, copied) = (args.totals, slot.busy.clone(), false);
        let tag = self.tag;
        Ok((args, EnqueuedSums { slot: number, tag, totals, batches, width, copied, mark, busy }))
    }

    /// Copies the flag to the device memory after the totals, in the order of the stream; returns the number of totals
    /// plus 1.
    pub fn add_flag(&self, posted: &EnqueuedSums, flag: f64, stream: Handle) -> Result<usize> {
        let (d, n) = (self.driver, posted.batches * posted.width);
        let slot = &self.slots[posted.slot];
        // It is behind the copies of totals, since a copy that nobody waited for may still arrive there. An upload of
        // an earlier flag that is still to come takes this one, which is a request to stop if the earlier one was.
        // SAFETY: within the allocation.
        let from = unsafe {
            let from = slot.copies().add(slot.len);
            from.write_volatile(flag);
            from
        };
        let to = posted.totals.offset(8 * n as u64).0;
        cu!(d, copy_to_device(to, from.cast_const().cast(), 8, stream), "uploading a flag")?;
        Ok(n + 1)
    }

    /// Copies the totals and the sum of the flags to the host, in the order of the stream; `wait` then returns these.
    pub fn copy(&mut self, posted: &mut EnqueuedSums, stream: Handle) -> Result<()> {
        let (d, slot) = (self.driver, &mut self.slots[posted.slot]);
        if slot.copied.is_null() {
            cu!(d, event_create(&mut slot.copied, EVENT_NO_TIMING), "creating an event")?;
        }
        let bytes = 8 * (posted.batches * posted.width + 1);
        let to = slot.copies().cast();
        cu!(d, copy_to_host(to, posted.totals.0, bytes, stream), "downloading sums")?;
        cu!(d, event_record(slot.copied, stream), "recording a download")?;
        posted.copied = true;
        Ok(())
    }

    /// Waits for the sums of each batch and returns them with the sum of the flags. An error of the device, or the
    /// failure of a rank for which kernels wait, ends the wait.
    pub fn wait(
        &self,
        posted: &EnqueuedSums,
        sums: &mut [f64],
        stream: Handle,
        waits: &WatchedRanks,
    ) -> Result<f64> {
        let width = posted.width;
        if posted.copied {
            let slot = &self.slots[posted.slot];
            waits.wait_for(self.driver, Awaitable::Event(slot.copied), "sums over all ranks")?;
            // SAFETY: copied here, within the allocation.
            let number = |i: usize| unsafe { slot.copies().add(i).read() };
            sums.iter_mut().enumerate().for_each(|(i, sum)| *sum = number(i));
            waits.done(posted.mark);
            return Ok(number(posted.batches * width));
        }
        let (mut flag, mut round, mut ended, start) = (0.0, 0u64, false, Instant::now());
        for i in 0..sums.len() / width * (width + 1) {
            let number = loop {
                if let Some(number) = self.read(posted, i) {
                    break number;
                }
                if ended {
                    bail!(Internal, "a reduction ended without its result");
                }
                std::hint::spin_loop();
                round += 1;
                if !round.is_multiple_of(POLLS_PER_CHECK) {
                    continue;
                }
                // SAFETY: the handle is that of a live stream.
                match unsafe { (self.driver.stream_query)(stream) } {
                    0 => ended = true,
                    NOT_READY => {}
                    code => return Err(self.driver.error(code, "waiting for a reduction")),
                }
                if let Err(e) = if ended { Ok(()) } else { waits.check_ranks() } {
                    cu!(self.driver, stream_synchronize(stream), "giving up a reduction")?;
                    return Err(e);
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
        waits.done(posted.mark);
        Ok(flag)
    }

    /// Result number i of the launch; None if the kernel has not written it to host memory yet (kernels/sums.h).
    fn read(&self, posted: &EnqueuedSums, i: usize) -> Option<f64> {
        let (slot, tag) = (&self.slots[posted.slot], posted.tag as u64);
        assert!(i < slot.len);
        // SAFETY: within the allocation; volatile because the device writes it.
        let word = |k: usize| unsafe { slot.host.cast::<u64>().add(2 * i + k).read_volatile() };
        let (low, high) = (word(0), word(1));
        let here = low >> 32 == tag && high >> 32 == tag;
        here.then(|| f64::from_bits(high << 32 | low & 0xffff_ffff))
    }
}

impl Slot {
    /// Address of the memory for copies of totals, after that for totals which kernels write themselves.
    fn copies(&self) -> *mut f64 {
        // SAFETY: `make` allocates both.
        unsafe { self.host.cast::<f64>().add(2 * self.len) }
    }

    fn make(&mut self, d: &'static Driver, len: usize) -> Result<()> {
        let bytes = len * 24 + 8;
        cu!(
            d,
            host_alloc(&mut self.host, bytes, HOST_PORTABLE_MAPPED),
            "allocating page-locked memory for sums"
        )?;
        // SAFETY: the allocation just made has this size.
        unsafe { self.host.cast::<u8>().write_bytes(0, bytes) };
        cu!(d, host_device_ptr(&mut self.host_ptr, self.host, 0), "mapping host memory")?;
        let bytes = len * 8;
        cu!(d, mem_alloc(&mut self.totals.0, bytes), "allocating {bytes} bytes for sums")?;
        (self.totals.1, self.len) = (bytes, len);
        Ok(())
    }
}

/// Replaces a device allocation by a larger one if necessary; returns whether it did.
fn grow(d: &Driver, held: &mut (DevicePtr, usize), bytes: usize, stream: Handle) -> Result<bool> {
    if held.1 >= bytes {
        return Ok(false);
    }
    if held.1 > 0 {
        cu!(d, stream_synchronize(stream), "waiting for reductions")?;
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
