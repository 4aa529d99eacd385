//! Fourier transforms on a GPU by cuFFT, a library that is opened at run time.

use std::ffi::{c_int, c_longlong};
use std::path::Path;
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_NOW};

use super::driver::{Current, Driver, Handle};
use super::nvrtc::toolkit_paths;
use super::Cuda;
use crate::backend::fourier::{FourierShape, Plan};
use crate::backend::Ptr;
use crate::bail;
use crate::error::{Result, Status};
use crate::library;

type Create = unsafe extern "C" fn(*mut c_int) -> c_int;
type Destroy = unsafe extern "C" fn(c_int) -> c_int;
type SetStream = unsafe extern "C" fn(c_int, Handle) -> c_int;
type Many = unsafe extern "C" fn(
    c_int,
    c_int,
    *mut c_longlong,
    *mut c_longlong,
    c_longlong,
    c_longlong,
    *mut c_longlong,
    c_longlong,
    c_longlong,
    c_int,
    c_longlong,
    *mut usize,
) -> c_int;
type Exec = unsafe extern "C" fn(c_int, u64, u64, c_int) -> c_int;

struct Cufft {
    create: Create,
    destroy: Destroy,
    set_stream: SetStream,
    many: Many,
    c2c: Exec,
    z2z: Exec,
    _library: Library,
}

// cufft.h: cufftType and directions.
const C2C: c_int = 0x29;
const Z2Z: c_int = 0x69;
const FORWARD: c_int = -1;
const INVERSE: c_int = 1;
/// Value that stands for no plan.
const NONE: c_int = -1;

impl Cufft {
    /// The library, opened once per process: `PLAQ_CUFFT` (a full path), else the library beside NVRTC, one that the
    /// loader finds, or one in the usual places of a CUDA toolkit.
    fn get() -> Result<&'static Cufft> {
        static CUFFT: OnceLock<Result<Cufft>> = OnceLock::new();
        CUFFT.get_or_init(Cufft::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Cufft> {
        let paths = || toolkit_paths(&["libcufft.so.12", "libcufft.so.11", "libcufft.so"]);
        match library::open("PLAQ_CUFFT", Status::CufftMissing, paths, Self::load)? {
            Some(cufft) => Ok(cufft),
            None => bail!(
                CufftMissing,
                "cannot open libcufft.so.12 or .11: install the CUDA toolkit's cuFFT (package libcufft, or pip nvidia-cufft) and set PLAQ_CUFFT to its full path, or use the method overrelaxation"
            ),
        }
    }

    fn load(path: &Path) -> std::result::Result<Cufft, libloading::Error> {
        // SAFETY: symbols have the signatures of cufft.h, which are the same in CUDA 12 and 13.
        unsafe {
            let library = Library::open(Some(path), RTLD_NOW)?;
            Ok(Cufft {
                create: *library.get::<Create>(b"cufftCreate")?,
                destroy: *library.get::<Destroy>(b"cufftDestroy")?,
                set_stream: *library.get::<SetStream>(b"cufftSetStream")?,
                many: *library.get::<Many>(b"cufftMakePlanMany64")?,
                c2c: *library.get::<Exec>(b"cufftExecC2C")?,
                z2z: *library.get::<Exec>(b"cufftExecZ2Z")?,
                _library: library,
            })
        }
    }
}

fn check(code: c_int, what: &str) -> Result<()> {
    match code {
        0 => Ok(()),
        2 => bail!(OutOfMemory, "{what}: no memory for cuFFT's work area"),
        6 => bail!(DeviceLost, "{what}: the launch failed"),
        _ => bail!(Internal, "{what}: cuFFT's code {code}"),
    }
}

/// A plan of cuFFT.
struct Raw {
    cufft: &'static Cufft,
    driver: &'static Driver,
    context: Handle,
    plan: c_int,
    single: bool,
}

impl Raw {
    /// Makes a plan for `batch` transforms of arrays of extents `lengths` (slowest first). Neighbours on the fastest
    /// axis are `stride` complex numbers apart, arrays `distance`.
    fn new(
        cuda: &Cuda,
        single: bool,
        mut lengths: Vec<c_longlong>,
        (stride, distance, batch): (usize, usize, usize),
    ) -> Result<Raw> {
        let (driver, context) = (cuda.driver, cuda.context);
        let mut raw = Raw { cufft: Cufft::get()?, driver, context, plan: NONE, single };
        let (cufft, what) = (raw.cufft, format!("Fourier transforms of {lengths:?}"));
        let kind = if single { C2C } else { Z2Z };
        let (rank, at) = (lengths.len() as c_int, lengths.as_mut_ptr());
        let (stride, distance) = (stride as c_longlong, distance as c_longlong);
        let mut work = 0;
        // SAFETY: the arrays of lengths are read only and outlive the calls.
        unsafe {
            check((cufft.create)(&mut raw.plan), &what)?;
            check((cufft.set_stream)(raw.plan, cuda.stream), &what)?;
            let code = (cufft.many)(
                raw.plan,
                rank,
                at,
                at,
                stride,
                distance,
                at,
                stride,
                distance,
                kind,
                batch as c_longlong,
                &mut work,
            );
            check(code, &what)?;
        }
        Ok(raw)
    }

    fn run(&self, from: Ptr, to: Ptr, inverse: bool) -> Result<()> {
        let exec = if self.single { self.cufft.c2c } else { self.cufft.z2z };
        // SAFETY: the arrays have the size of the plan's shape (Fourier::check).
        let code =
            unsafe { exec(self.plan, from.0, to.0, if inverse { INVERSE } else { FORWARD }) };
        check(code, "a Fourier transform")
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if self.plan == NONE {
            return;
        }
        if let Ok(_current) = Current::enter(self.driver, self.context) {
            // SAFETY: the plan was made by this library and is used no more.
            unsafe { (self.cufft.destroy)(self.plan) };
        }
    }
}

/// Plans for the first axis, or the first three, of all arrays together, and for the last axis array by array, since
/// cuFFT does not transform four axes.
pub struct Plans {
    blocks: Raw,
    last: Option<Raw>,
    /// Size of an array in bytes.
    array: u64,
    arrays: usize,
}
// SAFETY: the context lives as long as the device (Fourier keeps it); cuFFT's plans may be used from
// any thread, and all launches go to the device's one stream.
unsafe impl Send for Plans {}
// SAFETY: a plan may be used by any thread, and running it changes nothing in it.
unsafe impl Sync for Plans {}

impl Plans {
    pub fn new(cuda: &Cuda, shape: FourierShape) -> Result<Plans> {
        let l = shape.extents;
        let block = l[0] * l[1] * l[2];
        let axes = shape.axes.min(3);
        let reversed: Vec<c_longlong> = l[..axes].iter().rev().map(|&l| l as c_longlong).collect();
        let distance = l[..axes].iter().product();
        let batch = shape.numbers() / distance;
        let blocks = Raw::new(cuda, shape.single, reversed, (1, distance, batch))?;
        let last = match shape.axes {
            4 => Some(Raw::new(cuda, shape.single, vec![l[3] as c_longlong], (block, 1, block))?),
            _ => None,
        };
        let array = (block * l[3] * if shape.single { 8 } else { 16 }) as u64;
        Ok(Plans { blocks, last, array, arrays: shape.arrays })
    }
}

impl Plan for Plans {
    fn run(&self, from: Ptr, to: Ptr, inverse: bool) -> Result<()> {
        let _current = Current::enter(self.blocks.driver, self.blocks.context)?;
        self.blocks.run(from, to, inverse)?;
        if let Some(last) = &self.last {
            for k in 0..self.arrays as u64 {
                let at = to.offset(k * self.array);
                last.run(at, at, inverse)?;
            }
        }
        Ok(())
    }
}
