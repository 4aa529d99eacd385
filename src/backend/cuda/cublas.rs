//! Products of matrices on a GPU by cuBLAS, a library that is opened at run time.

use std::ffi::{c_int, c_longlong, c_void};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use libloading::os::unix::{Library, RTLD_NOW};

use super::driver::Handle;
use super::nvrtc::toolkit_paths;
use crate::backend::products::{Form, Products};
use crate::bail;
use crate::error::{Result, Status};
use crate::library;

/// A complex number of the host, aligned as `cuDoubleComplex` is: cuBLAS reads it in one load.
#[repr(C, align(16))]
struct Factor([f64; 2]);

type Create = unsafe extern "C" fn(*mut Handle) -> c_int;
type Destroy = unsafe extern "C" fn(Handle) -> c_int;
type SetStream = unsafe extern "C" fn(Handle, Handle) -> c_int;
type Gemm = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_longlong,
    c_longlong,
    c_longlong,
    *const Factor,
    *const c_void,
    c_longlong,
    c_longlong,
    *const c_void,
    c_longlong,
    c_longlong,
    *const Factor,
    *mut c_void,
    c_longlong,
    c_longlong,
    c_longlong,
) -> c_int;

/// The functions of cuBLAS that are called here.
pub struct Cublas {
    create: Create,
    destroy: Destroy,
    set_stream: SetStream,
    gemm: Gemm,
    _library: Library,
}

impl Cublas {
    /// The library, opened once per process: `PLAQ_CUBLAS` (a full path, or `off` for none), else the library beside
    /// NVRTC, one that the loader finds, or one in the usual places of a CUDA toolkit. `None` if there is none.
    pub fn get() -> Option<&'static Cublas> {
        static CUBLAS: OnceLock<Option<Cublas>> = OnceLock::new();
        CUBLAS.get_or_init(Cublas::open).as_ref()
    }

    fn open() -> Option<Cublas> {
        if std::env::var_os("PLAQ_CUBLAS").is_some_and(|value| value == "off") {
            return None;
        }
        let paths = || toolkit_paths(&["libcublas.so.13", "libcublas.so.12", "libcublas.so"]);
        let opened = library::open("PLAQ_CUBLAS", Status::Unsupported, paths, Self::load);
        opened.inspect_err(|e| log::warn!("{e}")).ok().flatten()
    }

    fn load(path: &Path) -> std::result::Result<Cublas, libloading::Error> {
        // SAFETY: symbols have the signatures of cublas_api.h, which are the same in CUDA 12 and 13.
        unsafe {
            let library = Library::open(Some(path), RTLD_NOW)?;
            Ok(Cublas {
                create: *library.get::<Create>(b"cublasCreate_v2")?,
                destroy: *library.get::<Destroy>(b"cublasDestroy_v2")?,
                set_stream: *library.get::<SetStream>(b"cublasSetStream_v2")?,
                gemm: *library.get::<Gemm>(b"cublasZgemmStridedBatched_64")?,
                _library: library,
            })
        }
    }
}

/// cuBLAS on the stream of a device, begun at the first product.
#[derive(Default)]
pub struct Multiplier(Mutex<Option<Handle>>);

impl Multiplier {
    /// Launches products; returns false if the library cannot begin, as where memory is short. The device's context is
    /// current, and no kernel waits for other ranks.
    pub fn launch(&self, cublas: &Cublas, stream: Handle, all: &[Products]) -> Result<bool> {
        let mut handle = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if handle.is_none() {
            let mut begun = std::ptr::null_mut();
            // SAFETY: the context of the device is current.
            unsafe {
                if (cublas.create)(&mut begun) != 0 {
                    return Ok(false);
                }
                if let Err(e) = check((cublas.set_stream)(begun, stream)) {
                    (cublas.destroy)(begun);
                    return Err(e);
                }
            }
            *handle = Some(begun);
        }
        let handle = handle.expect("just begun");
        let form = |form| match form {
            Form::Plain => 0,
            Form::Transposed => 1,
            Form::Adjoint => 2,
        };
        for p in all {
            let (one, before) = (Factor([1.0, 0.0]), Factor([f64::from(p.add as u8), 0.0]));
            // SAFETY: the caller's matrices; both factors are on the host, where cuBLAS expects them by default.
            let code = unsafe {
                (cublas.gemm)(
                    handle,
                    form(p.a.form),
                    form(p.b.form),
                    p.rows as c_longlong,
                    p.columns as c_longlong,
                    p.inner as c_longlong,
                    &one,
                    p.a.ptr.0 as *const c_void,
                    p.a.column as c_longlong,
                    p.a.step as c_longlong,
                    p.b.ptr.0 as *const c_void,
                    p.b.column as c_longlong,
                    p.b.step as c_longlong,
                    &before,
                    p.c.ptr.0 as *mut c_void,
                    p.c.column as c_longlong,
                    p.c.step as c_longlong,
                    p.batch as c_longlong,
                )
            };
            check(code)?;
        }
        Ok(true)
    }

    /// Ends the library's work for this device, whose context is current.
    pub fn end(&mut self) {
        let handle = self.0.get_mut().unwrap_or_else(|e| e.into_inner()).take();
        if let (Some(handle), Some(cublas)) = (handle, Cublas::get()) {
            // SAFETY: the handle was made by this library and is used no more.
            unsafe { (cublas.destroy)(handle) };
        }
    }
}

fn check(code: c_int) -> Result<()> {
    match code {
        0 => Ok(()),
        3 => bail!(OutOfMemory, "products of matrices: no memory for cuBLAS"),
        13 => bail!(DeviceLost, "products of matrices: the launch failed"),
        _ => bail!(Internal, "products of matrices: cuBLAS's code {code}"),
    }
}
