//! Device memory that other processes of this machine access, and host memory to which kernels write.

use std::ffi::c_void;

use super::driver::{cu, Driver, IpcHandle, HOST_PORTABLE_MAPPED};
use super::Cuda;
use crate::backend::{host_memory_left, Ptr};
use crate::bail;
use crate::error::Result;
use crate::refuse;

/// Number of bytes that `share` returns: a handle of an allocation (64 bytes) and the position in it (8).
const SHARED: usize = 72;

pub fn share(cuda: &Cuda, ptr: Ptr) -> Result<Vec<u8>> {
    let d = cuda.driver;
    let (mut handle, mut base, mut size) = (IpcHandle([0; 64]), 0, 0);
    cu!(d, address_range(&mut base, &mut size, ptr.0), "asking where an allocation begins")?;
    cu!(d, ipc_handle(&mut handle, base), "sharing memory with other processes")?;
    Ok([&handle.0[..], &(ptr.0 - base).to_ne_bytes()].concat())
}

/// Opens memory that another process has shared; returns its address in this process, and the value to pass to
/// `detach`.
pub fn attach(cuda: &Cuda, shared: &[u8]) -> Result<(Ptr, Ptr)> {
    let Ok(shared) = <[u8; SHARED]>::try_from(shared) else {
        bail!(Internal, "a handle of shared memory has {} bytes", shared.len());
    };
    let (handle, offset) = shared.split_at(64);
    let handle = IpcHandle(handle.try_into().expect("64 bytes"));
    let mut base = 0;
    cu!(
        cuda.driver,
        ipc_open(&mut base, handle, super::driver::IPC_LAZY_PEER_ACCESS),
        "opening the memory of another process"
    )?;
    let offset = u64::from_ne_bytes(offset.try_into().expect("8 bytes"));
    Ok((Ptr(base + offset), Ptr(base)))
}

pub fn detach(cuda: &Cuda, base: Ptr) {
    let _ = cu!(cuda.driver, ipc_close(base.0), "");
}

/// Allocates zeroed page-locked host memory; returns its address for the host and that for kernels. If the host has not
/// enough free memory this is an error, since the driver would take pages until the operating system kills the process.
pub fn mapped(d: &Driver, bytes: usize) -> Result<(u64, Ptr)> {
    if let Some(left) = host_memory_left().filter(|left| bytes as u64 > *left) {
        refuse!(
            OutOfMemory,
            "page-locked memory",
            expected("at most {left} bytes"),
            found("{bytes}")
        );
    }
    let (mut host, mut ptr): (*mut c_void, u64) = (std::ptr::null_mut(), 0);
    cu!(d, host_alloc(&mut host, bytes, HOST_PORTABLE_MAPPED), "allocating page-locked memory")?;
    // SAFETY: the allocation just made has this size.
    unsafe { host.cast::<u8>().write_bytes(0, bytes) };
    let found = cu!(d, host_device_ptr(&mut ptr, host, 0), "mapping host memory");
    if let Err(e) = found {
        unmap(d, host as u64);
        return Err(e);
    }
    Ok((host as u64, Ptr(ptr)))
}

pub fn unmap(d: &Driver, host: u64) {
    let _ = cu!(d, host_free(host as *mut c_void), "");
}
