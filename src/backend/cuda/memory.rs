//! Device memory. Fields are allocated in a memory pool of the device, which keeps freed memory: a solve allocates
//! and frees twenty fields, for which the driver alone takes milliseconds (docs/lab/many-gpus.md). Memory that other
//! processes access is not from the pool, since pools are not shared.

use std::ffi::{c_int, c_void};

use super::driver::{cu, DevicePtr, Driver, Handle};
use crate::error::{Result, Status};

/// Pool attribute CU_MEMPOOL_ATTR_RELEASE_THRESHOLD.
const RELEASE_THRESHOLD: c_int = 4;
const RESERVED: c_int = 5;
const USED: c_int = 7;

/// CUmemPoolProps for pinned memory on a device, not shared with other processes.
#[repr(C)]
struct Properties {
    kind: c_int,
    handles: c_int,
    location: c_int,
    device: c_int,
    rest: [u64; 9],
}
const PINNED: c_int = 1;
const ON_DEVICE: c_int = 1;

pub struct Memory {
    driver: &'static Driver,
    stream: Handle,
    /// The memory pool; null on devices without pools.
    pool: Handle,
}

impl Memory {
    /// Prepares the memory of a device; `pools`: the device has memory pools.
    pub fn new(
        driver: &'static Driver,
        device: c_int,
        stream: Handle,
        pools: bool,
    ) -> Result<Memory> {
        let mut memory = Memory { driver, stream, pool: std::ptr::null_mut() };
        if pools {
            let asked =
                Properties { kind: PINNED, handles: 0, location: ON_DEVICE, device, rest: [0; 9] };
            let asked = (&asked as *const Properties).cast::<c_void>();
            cu!(driver, pool_create(&mut memory.pool, asked), "making a memory pool")?;
            let mut all = u64::MAX;
            memory.attribute(driver.pool_set, RELEASE_THRESHOLD, &mut all)?;
        }
        Ok(memory)
    }

    fn attribute(
        &self,
        call: unsafe extern "C" fn(Handle, c_int, *mut c_void) -> c_int,
        which: c_int,
        value: &mut u64,
    ) -> Result<()> {
        // SAFETY: a live pool; these attributes are 64-bit numbers.
        match unsafe { call(self.pool, which, (value as *mut u64).cast()) } {
            0 => Ok(()),
            code => Err(self.driver.error(code, "asking a memory pool")),
        }
    }

    /// Allocates device memory. `shared`: other processes will access it; otherwise it must be used on the device's
    /// stream only. `settle` is called before driver calls during which no kernel may be waiting for other ranks,
    /// `drain` before those during which no kernel may be running.
    pub fn alloc(
        &self,
        bytes: usize,
        shared: bool,
        settle: impl Fn() -> Result<()>,
        drain: impl Fn() -> Result<()>,
    ) -> Result<DevicePtr> {
        if shared {
            // The driver may wait for kernels.
            settle()?;
        }
        match self.attempt(bytes, shared) {
            // The memory that the pool keeps for later fields may be enough, if it is returned first.
            Err(e) if e.status == Status::OutOfMemory && self.kept()? > 0 => {
                drain()?;
                self.trim()?;
                self.attempt(bytes, shared)
            }
            done => done,
        }
    }

    /// Returns to the system the memory of the pool that no field uses.
    pub fn trim(&self) -> Result<()> {
        if self.pool.is_null() {
            return Ok(());
        }
        cu!(self.driver, pool_trim(self.pool, 0), "emptying a memory pool")
    }

    fn attempt(&self, bytes: usize, shared: bool) -> Result<DevicePtr> {
        let (d, mut ptr, mebibytes) = (self.driver, 0, bytes.div_ceil(1 << 20));
        if shared || self.pool.is_null() {
            cu!(d, mem_alloc(&mut ptr, bytes), "allocating {mebibytes} MiB of device memory")?;
        } else {
            cu!(
                d,
                pool_alloc(&mut ptr, bytes, self.pool, self.stream),
                "allocating {mebibytes} MiB of device memory"
            )?;
        }
        Ok(ptr)
    }

    pub fn free(&self, ptr: DevicePtr, shared: bool) {
        // On a lost device there is nothing left to free.
        let _ = if shared || self.pool.is_null() {
            cu!(self.driver, mem_free(ptr), "")
        } else {
            cu!(self.driver, pool_free(ptr, self.stream), "")
        };
    }

    /// Bytes that the pool keeps for later fields.
    pub fn kept(&self) -> Result<u64> {
        if self.pool.is_null() {
            return Ok(0);
        }
        let (mut reserved, mut used) = (0, 0);
        self.attribute(self.driver.pool_get, RESERVED, &mut reserved)?;
        self.attribute(self.driver.pool_get, USED, &mut used)?;
        Ok(reserved.saturating_sub(used))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !self.pool.is_null() {
            let _ = cu!(self.driver, pool_destroy(self.pool), "");
        }
    }
}
