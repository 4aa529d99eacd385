//! `malloc_quda.h`: allocation of memory.

use std::ffi::c_void;

use crate::capi::table::interface;

interface! {
    "Memory of a device"
    refused {
        pool_device_malloc(bytes: usize) -> *mut c_void = "hosts take memory of the device from their own framework";
        pool_device_free(pointer: *mut c_void) = "hosts take memory of the device from their own framework";
    }
}
