//! Tests of calls with arrays in a GPU's memory: pointers that are no device memory are refused and the device stays
//! usable; work of the host's streams on an array is waited for. On the CPU all device arrays are refused.

use crate::common;
use std::ffi::c_void;
use std::time::Duration;

use common::{devices, geometry};
use libloading::Library;
use plaq::backend::{Device, External, Location};
use plaq::error::{Result, Status};
use plaq::fields::{blas, GammaBasis, Layout, Precision, SpinorField, Subset};

const EXTENTS: [usize; 4] = [4, 4, 4, 8];
const BYTES: usize = 24 * 8 * 4 * 4 * 4 * 8;

type Any = *mut c_void;

/// The CUDA driver as a host program uses it, in the primary context of the first device.
struct Host(Library);

macro_rules! call {
    ($host:expr, $name:literal ($($arg:expr => $type:ty),*)) => {{
        // SAFETY: the signatures are those of cuda.h.
        let f = unsafe { $host.0.get::<unsafe extern "C" fn($($type),*) -> i32>($name) };
        // SAFETY: the objects that the arguments point to exist.
        assert_eq!(unsafe { f.expect("in libcuda")($($arg),*) }, 0, "{:?}", $name);
    }};
}

impl Host {
    fn new() -> Host {
        // SAFETY: loading the CUDA driver runs its initialisers.
        let host = Host(unsafe { Library::new("libcuda.so.1") }.expect("a CUDA driver"));
        let mut context: Any = std::ptr::null_mut();
        call!(host, b"cuInit"(0 => u32));
        call!(host, b"cuDevicePrimaryCtxRetain"(&mut context => *mut Any, 0 => i32));
        call!(host, b"cuCtxPushCurrent_v2"(context => Any));
        host
    }
    fn alloc(&self, bytes: usize) -> u64 {
        let mut at = 0u64;
        call!(self, b"cuMemAlloc_v2"(&mut at => *mut u64, bytes => usize));
        at
    }
    fn free(&self, at: u64) {
        call!(self, b"cuMemFree_v2"(at => u64));
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let mut context: Any = std::ptr::null_mut();
        call!(self, b"cuCtxPopCurrent_v2"(&mut context => *mut Any));
        call!(self, b"cuDevicePrimaryCtxRelease_v2"(0 => i32));
    }
}

fn layout() -> Layout {
    Layout::lexicographic_spinor(Precision::F64, GammaBasis::DeGrandRossi)
}

fn field(device: &Device) -> SpinorField {
    let geometry = geometry(EXTENTS, device);
    SpinorField::new(device, &geometry, Precision::F64, Subset::Full, 1).expect("fits")
}

fn load(field: &mut SpinorField, at: u64, location: Location) -> Result<()> {
    // SAFETY: an address that is no array of this size must be refused, which is tested here.
    let memory = unsafe { External::from_raw(&[at as *mut u8], BYTES, location) };
    field.load(&layout(), &memory, false)
}

fn save(field: &SpinorField, at: u64) -> Result<()> {
    // SAFETY: a wrong address must be refused here too.
    let mut memory = unsafe { External::from_raw(&[at as *mut u8], BYTES, Location::Device) };
    field.save(&layout(), &mut memory)
}

fn gpus() -> Vec<Device> {
    let gpus: Vec<Device> = devices().into_iter().filter(|d| !d.is_cpu()).collect();
    if gpus.is_empty() || common::ranks().size() > 1 {
        println!("skipped: no GPU of its own");
        return Vec::new();
    }
    gpus
}

fn refused(result: Result<()>, words: &str) {
    let error = result.expect_err("refused");
    assert_eq!(error.status, Status::BadLayout, "{error}");
    assert!(error.message().contains("data") && error.message().contains(words), "{error}");
}

#[test]
fn a_cpu_takes_no_device_arrays() {
    for device in devices().into_iter().filter(Device::is_cpu) {
        let numbers = vec![0u8; BYTES];
        let error = load(&mut field(&device), numbers.as_ptr() as u64, Location::Device);
        assert_eq!(error.expect_err("refused").status, Status::BadLayout);
    }
}

/// Pointers that are no device memory are refused before a kernel uses them: an illegal address would make the device
/// unusable for the whole process.
#[test]
fn what_is_no_device_array_is_refused() {
    for device in gpus() {
        let host = Host::new();
        let mut x = field(&device);
        let numbers = vec![1.0f64; BYTES / 8];
        let (whole, short) = (host.alloc(BYTES), host.alloc(BYTES / 2));
        refused(load(&mut x, numbers.as_ptr() as u64, Location::Device), "does not know");
        refused(load(&mut x, 4096, Location::Device), "does not know");
        refused(load(&mut x, short, Location::Device), "bytes");
        refused(save(&x, short), "bytes");
        refused(save(&x, whole + 8), "bytes");
        refused(load(&mut x, whole, Location::Host), "host memory");
        // The device works as before.
        call!(host, b"cuMemsetD8_v2"(whole => u64, 0 => u8, BYTES => usize));
        load(&mut x, whole, Location::Device).expect("an array");
        assert_eq!(blas::norm2(&x).expect("runs"), [0.0]);
        save(&x, whole).expect("an array");
        host.free(short);
        host.free(whole);
    }
}

extern "C" fn sleep(_: Any) {
    std::thread::sleep(Duration::from_millis(500));
}

/// A call waits for a stream that fills its array half a second later and is not ordered with the default stream.
#[test]
fn streams_of_the_host_are_waited_for() {
    for device in gpus() {
        let host = Host::new();
        let mut stream: Any = std::ptr::null_mut();
        call!(host, b"cuStreamCreate"(&mut stream => *mut Any, 1 => u32));
        let numbers = vec![1.0f64; BYTES / 8];
        let (array, ones) = (host.alloc(BYTES), host.alloc(BYTES));
        let from = numbers.as_ptr().cast_mut().cast();
        call!(host, b"cuMemcpyHtoD_v2"(ones => u64, from => Any, BYTES => usize));
        let busy = || {
            call!(host, b"cuMemsetD8_v2"(array => u64, 0 => u8, BYTES => usize));
            call!(host, b"cuCtxSynchronize"());
            let none: Any = std::ptr::null_mut();
            call!(host, b"cuLaunchHostFunc"(stream => Any, sleep => extern "C" fn(Any), none => Any));
            call!(host, b"cuMemcpyDtoDAsync_v2"(
                array => u64, ones => u64, BYTES => usize, stream => Any));
        };
        let expected = [(BYTES / 8) as f64];
        let mut x = field(&device);
        // A first load compiles the kernels and touches the memory.
        load(&mut x, ones, Location::Device).expect("an array");
        busy();
        let pointers = [array as *mut u8];
        // SAFETY: the address is that of a device array of this size, and the stream exists.
        let memory = unsafe {
            External::from_raw(&pointers, BYTES, Location::Device).on_stream(stream as u64)
        };
        x.load(&layout(), &memory, false).expect("an array");
        assert_eq!(blas::norm2(&x).expect("runs"), expected, "the call's stream");
        busy();
        // SAFETY: the stream exists.
        unsafe { device.set_host_stream(stream as u64) };
        load(&mut x, array, Location::Device).expect("an array");
        assert_eq!(blas::norm2(&x).expect("runs"), expected, "the device's stream");
        // SAFETY: 0 is the default stream.
        unsafe { device.set_host_stream(0) };
        call!(host, b"cuStreamSynchronize"(stream => Any));
        call!(host, b"cuStreamDestroy_v2"(stream => Any));
        host.free(array);
        host.free(ones);
    }
}

/// Sums of more right-hand sides than fit in the buffers (2 MiB) through which GPUs exchange sums are right.
#[test]
fn sums_of_very_many_right_hand_sides() {
    let extents = common::over_ranks([2, 2, 2, 2]);
    for device in devices() {
        let geometry = geometry(extents, &device);
        let nrhs = 2500;
        let mut x =
            SpinorField::new(&device, &geometry, Precision::F32, Subset::Full, nrhs).expect("fits");
        let noise = plaq::fields::Noise::Z4;
        x.set_noise(noise, 3, 0).expect("runs");
        let mut r = x.like(Precision::F32).expect("fits");
        blas::copy(&mut r, &x).expect("runs");
        // r| = |x| on every site, so that the heavy-quark residual is 1.
        for hq in blas::heavy_quark_residual(&x, &r).expect("runs") {
            assert!((hq - 1.0).abs() < 1e-6, "{hq}");
        }
        let norms = blas::norm2(&x).expect("runs");
        let sites: usize = extents.iter().product();
        assert_eq!(norms.len(), nrhs);
        assert!(norms.iter().all(|n| (n / (12 * sites) as f64 - 1.0).abs() < 1e-5));
    }
}
