//! What reductions write to: partial sums and block counters on the device, results in
//! page-locked memory that the kernel writes and the host reads.

use std::ffi::c_void;

use super::driver::{cu, DevicePtr, Driver, Handle, HOST_PORTABLE_MAPPED};
use crate::error::Result;

pub struct Sums {
    driver: &'static Driver,
    partial: (DevicePtr, usize),
    counters: (DevicePtr, usize),
    host: *mut c_void,
    host_ptr: DevicePtr,
    host_len: usize,
}
// SAFETY: the memory belongs to no thread; a mutex guards the whole.
unsafe impl Send for Sums {}

/// Addresses for one launch.
pub struct Targets {
    pub partial: DevicePtr,
    pub counters: DevicePtr,
    pub out: DevicePtr,
}

impl Sums {
    pub fn new(driver: &'static Driver) -> Sums {
        let none = std::ptr::null_mut();
        Sums { driver, partial: (0, 0), counters: (0, 0), host: none, host_ptr: 0, host_len: 0 }
    }

    /// Room for `batches` x `blocks` partial sums of `sums` doubles. Kernels leave the counters
    /// at zero, so they are cleared once, when they are allocated.
    pub fn reserve(
        &mut self,
        blocks: usize,
        batches: usize,
        sums: usize,
        stream: Handle,
    ) -> Result<Targets> {
        let d = self.driver;
        grow(d, &mut self.partial, batches * blocks * sums * 8)?;
        if grow(d, &mut self.counters, batches * 4)? {
            let (at, bytes) = self.counters;
            cu!(d, memset(at, 0, bytes, stream), "clearing the counters of a reduction")?;
        }
        if self.host_len < batches * sums {
            self.free_host();
            let len = (batches * sums).next_power_of_two().max(64);
            cu!(
                d,
                host_alloc(&mut self.host, len * 8, HOST_PORTABLE_MAPPED),
                "allocating page-locked memory for sums"
            )?;
            cu!(d, host_device_ptr(&mut self.host_ptr, self.host, 0), "mapping host memory")?;
            self.host_len = len;
        }
        Ok(Targets { partial: self.partial.0, counters: self.counters.0, out: self.host_ptr })
    }

    /// Call after the stream has been waited for.
    pub fn read(&self, sums: &mut [f64]) {
        assert!(sums.len() <= self.host_len);
        for (i, s) in sums.iter_mut().enumerate() {
            // SAFETY: within the allocation; volatile because the device wrote it.
            *s = unsafe { self.host.cast::<f64>().add(i).read_volatile() };
        }
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
