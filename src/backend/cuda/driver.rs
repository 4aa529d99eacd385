//! The CUDA driver library, which is opened at run time: a table of its functions, and its error codes as statuses. A
//! machine without CUDA gets `DriverMissing`; loading libplaq never fails.

use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::sync::OnceLock;

use libloading::Library;

use crate::bail;
use crate::error::{Error, Result, Status};

/// A handle of the driver: CUcontext, CUstream, CUevent, CUmodule and CUfunction are opaque pointers.
pub type Handle = *mut c_void;
pub type DevicePtr = u64;
/// A handle by which another process opens device memory: the driver's CUipcMemHandle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct IpcHandle(pub [u8; 64]);

/// An option of a launch: the driver's CUlaunchAttribute.
#[repr(C)]
pub struct LaunchAttribute {
    /// The CUlaunchAttributeID, padded to eight bytes.
    pub id: u64,
    /// First number in the attribute's union of 64 bytes.
    pub value: c_int,
    pub rest: [c_int; 15],
}
/// The shape and the options of a launch: the driver's CUlaunchConfig.
#[repr(C)]
pub struct LaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub stream: Handle,
    pub attributes: *const LaunchAttribute,
    pub count: c_uint,
}

/// Declares functions of the driver. All of them are looked up when the library is opened, so that an old driver is
/// refused by naming a function that it lacks. Codes remain integers, since newer drivers return unknown ones.
macro_rules! driver_functions {
    ($($name:ident = $symbol:literal ($($arg:ty),*);)*) => {
        #[allow(non_snake_case)]
        pub struct Driver {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> c_int,)*
            _library: Library,
        }
        impl Driver {
            fn resolve(library: Library) -> std::result::Result<Self, &'static str> {
                Ok(Driver {
                    $($name: {
                        // SAFETY: the signatures below are those of cuda.h for these symbols.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($arg),*) -> c_int>($symbol.as_bytes())
                        };
                        match found { Ok(f) => *f, Err(_) => return Err($symbol) }
                    },)*
                    _library: library,
                })
            }
        }
    };
}

driver_functions! {
    init = "cuInit" (c_uint);
    driver_version = "cuDriverGetVersion" (*mut c_int);
    error_name = "cuGetErrorName" (c_int, *mut *const c_char);
    error_string = "cuGetErrorString" (c_int, *mut *const c_char);
    device_count = "cuDeviceGetCount" (*mut c_int);
    device_get = "cuDeviceGet" (*mut c_int, c_int);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, c_int);
    device_uuid = "cuDeviceGetUuid_v2" (*mut [u8; 16], c_int);
    device_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    primary_retain = "cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    primary_release = "cuDevicePrimaryCtxRelease_v2" (c_int);
    ctx_current = "cuCtxGetCurrent" (*mut Handle);
    ctx_push = "cuCtxPushCurrent_v2" (Handle);
    ctx_pop = "cuCtxPopCurrent_v2" (*mut Handle);
    mem_info = "cuMemGetInfo_v2" (*mut usize, *mut usize);
    mem_alloc = "cuMemAlloc_v2" (*mut DevicePtr, usize);
    mem_free = "cuMemFree_v2" (DevicePtr);
    pool_create = "cuMemPoolCreate" (*mut Handle, *const c_void);
    pool_destroy = "cuMemPoolDestroy" (Handle);
    pool_set = "cuMemPoolSetAttribute" (Handle, c_int, *mut c_void);
    pool_get = "cuMemPoolGetAttribute" (Handle, c_int, *mut c_void);
    pool_trim = "cuMemPoolTrimTo" (Handle, usize);
    pool_alloc = "cuMemAllocFromPoolAsync" (*mut DevicePtr, usize, Handle, Handle);
    pool_free = "cuMemFreeAsync" (DevicePtr, Handle);
    host_alloc = "cuMemHostAlloc" (*mut *mut c_void, usize, c_uint);
    host_free = "cuMemFreeHost" (*mut c_void);
    pointer_attributes = "cuPointerGetAttributes" (c_uint, *mut c_int, *mut *mut c_void, DevicePtr);
    retain_allocation = "cuMemRetainAllocationHandle" (*mut u64, *mut c_void);
    release_allocation = "cuMemRelease" (u64);
    address_range = "cuMemGetAddressRange_v2" (*mut DevicePtr, *mut usize, DevicePtr);
    ipc_handle = "cuIpcGetMemHandle" (*mut IpcHandle, DevicePtr);
    ipc_open = "cuIpcOpenMemHandle_v2" (*mut DevicePtr, IpcHandle, c_uint);
    ipc_close = "cuIpcCloseMemHandle" (DevicePtr);
    host_device_ptr = "cuMemHostGetDevicePointer_v2" (*mut DevicePtr, *mut c_void, c_uint);
    copy_to_device = "cuMemcpyHtoDAsync_v2" (DevicePtr, *const c_void, usize, Handle);
    copy_to_host = "cuMemcpyDtoHAsync_v2" (*mut c_void, DevicePtr, usize, Handle);
    copy_on_device = "cuMemcpyDtoDAsync_v2" (DevicePtr, DevicePtr, usize, Handle);
    memset = "cuMemsetD8Async" (DevicePtr, u8, usize, Handle);
    stream_create = "cuStreamCreate" (*mut Handle, c_uint);
    stream_create_urgent = "cuStreamCreateWithPriority" (*mut Handle, c_uint, c_int);
    stream_destroy = "cuStreamDestroy_v2" (Handle);
    stream_synchronize = "cuStreamSynchronize" (Handle);
    stream_query = "cuStreamQuery" (Handle);
    stream_wait = "cuStreamWaitEvent" (Handle, Handle, c_uint);
    event_create = "cuEventCreate" (*mut Handle, c_uint);
    event_destroy = "cuEventDestroy_v2" (Handle);
    event_record = "cuEventRecord" (Handle, Handle);
    event_synchronize = "cuEventSynchronize" (Handle);
    event_query = "cuEventQuery" (Handle);
    event_elapsed = "cuEventElapsedTime" (*mut f32, Handle, Handle);
    module_load = "cuModuleLoadData" (*mut Handle, *const c_void);
    module_unload = "cuModuleUnload" (Handle);
    module_function = "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    function_attribute = "cuFuncGetAttribute" (*mut c_int, c_int, Handle);
    launch_kernel = "cuLaunchKernelEx" (*const LaunchConfig, Handle, *mut *mut c_void,
        *mut *mut c_void);
}

/// Calls a driver function; a failure becomes an error that says what was attempted.
macro_rules! cu {
    ($driver:expr, $function:ident($($arg:expr),* $(,)?), $($what:tt)*) => {{
        let driver: &$crate::backend::cuda::driver::Driver = $driver;
        // SAFETY: the arguments are live and of the kinds that the function's table row states.
        let code = unsafe { (driver.$function)($($arg),*) };
        if code == 0 { Ok(()) } else { Err(driver.error(code, &format!($($what)*))) }
    }};
}
pub(super) use cu;

// cuda.h: CUdevice_attribute and CUfunction_attribute.
pub const ATTRIBUTE_MULTIPROCESSORS: c_int = 16;
/// Number of CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE.
pub const ATTRIBUTE_CACHE: c_int = 38;
pub const ATTRIBUTE_MAJOR: c_int = 75;
pub const ATTRIBUTE_MINOR: c_int = 76;
pub const ATTRIBUTE_MEMORY_POOLS: c_int = 115;
pub const FUNCTION_LOCAL_BYTES: c_int = 3;
pub const FUNCTION_REGISTERS: c_int = 4;
/// Flags CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP.
pub const HOST_PORTABLE_MAPPED: c_uint = 3;
/// Flag CU_STREAM_NON_BLOCKING.
pub const STREAM_NON_BLOCKING: c_uint = 1;
/// A stream priority above all that exist; the driver uses its highest instead.
pub const HIGHEST_PRIORITY: c_int = c_int::MIN;
/// Flag CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.
pub const IPC_LAZY_PEER_ACCESS: c_uint = 1;
/// Flag CU_EVENT_DISABLE_TIMING.
pub const EVENT_NO_TIMING: c_uint = 2;

/// Number of CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION.
pub const STREAM_SERIALIZATION: u64 = 6;

/// Code CUDA_ERROR_NOT_READY.
pub const NOT_READY: c_int = 600;

/// The oldest supported version of CUDA: the first one whose drivers load CUBINs of the versions of NVRTC that plaq
/// uses.
const MIN_VERSION: c_int = 12000;

impl Driver {
    /// The library, opened and initialised once per process.
    pub fn get() -> Result<&'static Driver> {
        static DRIVER: OnceLock<Result<Driver>> = OnceLock::new();
        DRIVER.get_or_init(Driver::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Driver> {
        let names = ["libcuda.so.1", "libcuda.so"];
        // SAFETY: loading the system's CUDA driver runs its initialisers, as any CUDA program does.
        let Some(library) = names.iter().find_map(|n| unsafe { Library::new(n) }.ok()) else {
            bail!(
                DriverMissing,
                "cannot open libcuda.so.1: install the NVIDIA driver (or put its folder on LD_LIBRARY_PATH), or use the CPU"
            );
        };
        let driver = match Driver::resolve(library) {
            Ok(driver) => driver,
            Err(symbol) => {
                bail!(
                    DriverTooOld,
                    "the CUDA driver has no {symbol}: install one for CUDA 12.0 or later"
                )
            }
        };
        let mut version = 0;
        cu!(&driver, driver_version(&mut version), "asking for the driver's version")?;
        if version < MIN_VERSION {
            bail!(
                DriverTooOld,
                "expected a driver for CUDA 12.0 or later, found one for {}.{}: update the NVIDIA driver",
                version / 1000,
                version % 1000 / 10
            );
        }
        cu!(&driver, init(0), "initialising the CUDA driver")?;
        Ok(driver)
    }

    /// Turns an error code of the driver into an error.
    pub fn error(&self, code: c_int, what: &str) -> Error {
        let text = |f: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int| {
            let mut s = std::ptr::null();
            // SAFETY: on success `s` points to a static string of the driver.
            unsafe {
                if f(code, &mut s) == 0 && !s.is_null() {
                    CStr::from_ptr(s).to_string_lossy().into_owned()
                } else {
                    String::from("unknown")
                }
            }
        };
        let (name, reason) = (text(self.error_name), text(self.error_string));
        let (status, advice) = classify(code);
        Error::new(status, format!("{what}: {reason} ({name}, {code}){advice}"))
    }
}

/// The status for a CUresult, and advice to the user.
fn classify(code: c_int) -> (Status, &'static str) {
    match code {
        2 => (Status::OutOfMemory, "; use a smaller problem, a lower precision or more devices"),
        34 => (
            Status::DriverMissing,
            "; this is the stub library of the CUDA toolkit: take its folder off LD_LIBRARY_PATH",
        ),
        36 | 222 | 803 | 804 => (Status::DriverTooOld, "; update the NVIDIA driver"),
        // The CUBIN was made for another device, or by a compiler that is newer than the driver.
        200 | 209 | 218 => (
            Status::CompileFailed,
            "; NVRTC must not be newer than the driver: set PLAQ_NVRTC to another libnvrtc",
        ),
        701 => (Status::CompileFailed, "; the kernel needs more registers than its block may have"),
        46 | 100 | 101 | 102 | 802 => {
            (Status::NoDevice, "; check nvidia-smi and CUDA_VISIBLE_DEVICES")
        }
        // Invalid value, handle or name: a defect of plaq, the context is still good.
        1 | 400 | 500 => (Status::Internal, ""),
        _ => (Status::DeviceLost, "; the device's context is lost: restart the process"),
    }
}

/// A guard that makes a context current, and restores the host's own one when it is dropped.
pub struct Current {
    driver: &'static Driver,
    pushed: bool,
}

impl Current {
    pub fn enter(driver: &'static Driver, context: Handle) -> Result<Current> {
        let mut now: Handle = std::ptr::null_mut();
        cu!(driver, ctx_current(&mut now), "asking for the current context")?;
        let pushed = now != context;
        if pushed {
            cu!(driver, ctx_push(context), "making the device's context current")?;
        }
        Ok(Current { driver, pushed })
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if self.pushed {
            let mut old: Handle = std::ptr::null_mut();
            let _ = cu!(self.driver, ctx_pop(&mut old), "leaving the device's context");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_map_to_statuses() {
        assert_eq!(classify(2).0, Status::OutOfMemory);
        assert_eq!(classify(100).0, Status::NoDevice);
        assert_eq!(classify(222).0, Status::DriverTooOld);
        assert_eq!(classify(209).0, Status::CompileFailed);
        for code in [214, 700, 716, 719, 999, 123456] {
            assert_eq!(classify(code).0, Status::DeviceLost, "{code}");
        }
    }
}
