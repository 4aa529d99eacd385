//! The CUDA run-time compiler, a library that is opened at run time: it compiles a source with its headers in memory
//! to a CUBIN for one architecture.

use std::ffi::{c_char, c_int, c_void, CStr, CString, OsStr};
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::OnceLock;

use libloading::os::unix::{Library, Symbol, RTLD_GLOBAL, RTLD_NOW};

use super::image;
use super::source::Source;
use crate::bail;
use crate::error::{Result, Status};
use crate::library;

type Program = *mut std::ffi::c_void;
type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type ErrorString = unsafe extern "C" fn(c_int) -> *const c_char;
type ArchCount = unsafe extern "C" fn(*mut c_int) -> c_int;
type Archs = unsafe extern "C" fn(*mut c_int) -> c_int;

/// Largest number of copies of the library.
const COPIES: usize = 4;
/// If every open copy runs at least this number of compilations, another copy is opened.
const BUSY: usize = 4;

/// The compiler. While one thread parses a source, others in the same copy of the library wait; therefore there are
/// several copies, each opened when the others are busy. The library that the loader finds is only used to find its
/// file; it compiles itself if the process cannot have files in memory.
pub struct Nvrtc {
    copies: [OnceLock<Option<Instance>>; COPIES],
    pub version: (i32, i32),
    /// GPU architectures for which the library can compile, as 10 major + minor.
    pub archs: Vec<i32>,
    pub path: String,
    /// The file from which copies are made.
    file: PathBuf,
    _builtins: Option<Library>,
}

/// One copy of the library in memory.
struct Instance {
    create: Symbol<Create>,
    destroy: Symbol<Destroy>,
    compile: Symbol<Compile>,
    cubin_size: Symbol<Size>,
    cubin: Symbol<Text>,
    log_size: Symbol<Size>,
    log: Symbol<Text>,
    error_string: Symbol<ErrorString>,
    /// Number of compilations that run in this copy.
    running: AtomicUsize,
    _library: ManuallyDrop<Library>,
}

/// A compiled kernel, with the resources that it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    pub cubin: Vec<u8>,
    pub usage: Usage,
}

/// Number of registers per thread, and bytes per thread of values that did not fit into them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub registers: u32,
    pub spill_stores: u32,
    pub spill_loads: u32,
    pub stack: u32,
}

impl Nvrtc {
    /// The library, opened once per process: `PLAQ_NVRTC` (a full path), else one that the loader finds, else one in
    /// the usual places of a CUDA toolkit.
    pub fn get() -> Result<&'static Nvrtc> {
        static NVRTC: OnceLock<Result<Nvrtc>> = OnceLock::new();
        NVRTC.get_or_init(Nvrtc::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Nvrtc> {
        let _running = super::compiling::begin()?;
        match library::open("PLAQ_NVRTC", Status::NvrtcMissing, candidates, Self::load)? {
            Some(nvrtc) => Ok(nvrtc),
            None => bail!(
                NvrtcMissing,
                "cannot open libnvrtc.so.13 or .12: install the CUDA toolkit's NVRTC (package cuda-nvrtc, or pip nvidia-cuda-nvrtc) and set PLAQ_NVRTC to the full path of libnvrtc"
            ),
        }
    }

    fn load(path: &Path) -> std::result::Result<Nvrtc, libloading::Error> {
        // Opened by its full path, NVRTC does not find its builtins unless they are loaded.
        let builtins = builtins_beside(path);
        // SAFETY: symbols have the signatures of nvrtc.h, which are the same in CUDA 12 and 13.
        unsafe {
            let found = super::compiling::opening(|| Library::open(Some(path), RTLD_NOW))?;
            let found = ManuallyDrop::new(found);
            let (mut version, mut count) = ((0, 0), 0);
            let get_version = found.get::<Version>(b"nvrtcVersion")?;
            get_version(&mut version.0, &mut version.1);
            found.get::<ArchCount>(b"nvrtcGetNumSupportedArchs")?(&mut count);
            let mut archs = vec![0; count.max(0) as usize];
            found.get::<Archs>(b"nvrtcGetSupportedArchs")?(archs.as_mut_ptr());
            let file = file_with(*get_version as *const c_void);
            let file = file.unwrap_or_else(|| path.to_path_buf());
            let nvrtc = Nvrtc {
                copies: Default::default(),
                version,
                archs,
                path: path.to_string_lossy().into_owned(),
                _builtins: builtins.or_else(|| builtins_beside(&file)),
                file,
            };
            let first = match Instance::of_file(&nvrtc.file) {
                Some(first) => first,
                None => {
                    log::warn!("NVRTC cannot be opened from memory: a process that ends while it compiles may crash");
                    Instance::new(ManuallyDrop::into_inner(found))?
                }
            };
            _ = nvrtc.copies[0].set(Some(first));
            Ok(nvrtc)
        }
    }

    /// The copy for another compilation: the first that is not busy, else the least busy one.
    fn instance(&self) -> &Instance {
        let mut best: Option<&Instance> = None;
        for copy in &self.copies {
            let Some(copy) = copy.get_or_init(|| Instance::of_file(&self.file)) else { break };
            let running = copy.running.load(SeqCst);
            if running < BUSY {
                return copy;
            }
            if best.is_none_or(|best| running < best.running.load(SeqCst)) {
                best = Some(copy);
            }
        }
        best.expect("the first copy is open")
    }

    /// Compiles a source for the architecture `arch` (10 major + minor).
    pub fn compile(&self, source: &Source, arch: i32) -> Result<Compiled> {
        if !self.archs.contains(&arch) {
            bail!(
                CompileFailed,
                sentence(
                    "NVRTC {}.{} ({}) does not know sm_{arch}: it has {:?}",
                    self.version.0,
                    self.version.1,
                    self.path,
                    self.archs
                ),
                hint("install a version that does and set PLAQ_NVRTC")
            );
        }
        let _running = super::compiling::begin()?;
        let copy = self.instance();
        copy.running.fetch_add(1, SeqCst);
        let compiled = copy.compile(source, arch);
        copy.running.fetch_sub(1, SeqCst);
        compiled
    }
}

impl Instance {
    fn new(library: Library) -> std::result::Result<Instance, libloading::Error> {
        // SAFETY: symbols have the signatures of nvrtc.h, which are the same in CUDA 12 and 13.
        unsafe {
            Ok(Instance {
                compile: library.get(b"nvrtcCompileProgram")?,
                create: library.get(b"nvrtcCreateProgram")?,
                destroy: library.get(b"nvrtcDestroyProgram")?,
                cubin_size: library.get(b"nvrtcGetCUBINSize")?,
                cubin: library.get(b"nvrtcGetCUBIN")?,
                log_size: library.get(b"nvrtcGetProgramLogSize")?,
                log: library.get(b"nvrtcGetProgramLog")?,
                error_string: library.get(b"nvrtcGetErrorString")?,
                running: AtomicUsize::new(0),
                // The library is never closed, as threads that compiled in it may still run its code when they end.
                _library: ManuallyDrop::new(library),
            })
        }
    }

    /// Opens a copy of the library from a copy of its file in memory; None if that is not possible.
    fn of_file(file: &Path) -> Option<Instance> {
        super::compiling::check_running().ok()?;
        let copy = super::compiling::opening(|| image::open(file, c"nvrtcCompileProgram"));
        copy.and_then(|copy| Instance::new(copy).map_err(std::io::Error::other))
            .inspect_err(|e| log::debug!("no copy of {}: {e}", file.display()))
            .ok()
    }

    fn compile(&self, source: &Source, arch: i32) -> Result<Compiled> {
        let c = |s: &str| CString::new(s).expect("sources hold no zero bytes");
        let text = c(&source.text);
        let name = c(&format!("{}.cu", source.symbol));
        let headers: Vec<(CString, CString)> =
            source.headers.texts.iter().map(|(n, t)| (c(n), c(t))).collect();
        let names: Vec<_> = headers.iter().map(|h| h.0.as_ptr()).collect();
        let texts: Vec<_> = headers.iter().map(|h| h.1.as_ptr()).collect();
        let options: Vec<CString> = super::source::options(arch).iter().map(|o| c(o)).collect();
        let options: Vec<_> = options.iter().map(|o| o.as_ptr()).collect();
        let mut program = std::ptr::null_mut();
        // SAFETY: all strings outlive the program, which is destroyed on every path below.
        unsafe {
            let (count, headers) = (names.len() as c_int, texts.as_ptr());
            let code = (self.create)(
                &mut program,
                text.as_ptr(),
                name.as_ptr(),
                count,
                headers,
                names.as_ptr(),
            );
            if code != 0 {
                bail!(CompileFailed, "{}: NVRTC {}", source.symbol, self.reason(code));
            }
            let code = (self.compile)(program, options.len() as c_int, options.as_ptr());
            let log = self.fetch(program, &self.log_size, &self.log);
            let log = String::from_utf8_lossy(&log).trim_end_matches('\0').to_string();
            let cubin = if code == 0 {
                self.fetch(program, &self.cubin_size, &self.cubin)
            } else {
                Vec::new()
            };
            (self.destroy)(&mut program);
            if code != 0 || cubin.is_empty() {
                bail!(
                    CompileFailed,
                    "kernel {} for sm_{arch}: NVRTC {}: {}\n{log}",
                    source.symbol,
                    self.reason(code),
                    source.defines
                );
            }
            Ok(Compiled { cubin, usage: Usage::parse(&log, &source.symbol) })
        }
    }

    /// A text or image of an existing `program`; empty if it has none.
    fn fetch(&self, program: Program, size: &Size, text: &Text) -> Vec<u8> {
        let mut bytes = 0;
        // SAFETY: `size` tells how much `text` writes.
        unsafe {
            if size(program, &mut bytes) != 0 {
                return Vec::new();
            }
            let mut out = vec![0u8; bytes];
            if text(program, out.as_mut_ptr().cast()) != 0 {
                out.clear();
            }
            out
        }
    }

    fn reason(&self, code: c_int) -> String {
        // SAFETY: NVRTC returns a static string for every code.
        unsafe { CStr::from_ptr((self.error_string)(code)) }.to_string_lossy().into_owned()
    }
}

impl Usage {
    /// Reads the assembler's report (`--ptxas-options=-v`) about one entry function.
    pub fn parse(log: &str, symbol: &str) -> Usage {
        let number = |line: &str, before: &str| -> u32 {
            line.split(before)
                .next()
                .and_then(|s| s.trim_end().rsplit([' ', ',']).next())
                .and_then(|s| s.parse().ok())
                .unwrap_or(0)
        };
        let mut usage = Usage::default();
        let mut here = false;
        for line in log.lines() {
            if line.contains("Compiling entry function") || line.contains("Function properties for")
            {
                here = line.contains(symbol);
            } else if here && line.contains("bytes stack frame") {
                usage.stack = number(line, "bytes stack frame");
                usage.spill_stores = number(line, "bytes spill stores");
                usage.spill_loads = number(line, "bytes spill loads");
            } else if here && line.contains("registers") {
                usage.registers = number(line, "registers");
            }
        }
        usage
    }
}

fn candidates() -> Vec<PathBuf> {
    places(&["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"])
}

/// Paths at which a library of the CUDA toolkit may be: names for the loader, then the usual places.
pub(super) fn places(names: &[&str]) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
    let homes = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os).map(PathBuf::from);
    for home in homes.chain([PathBuf::from("/usr/local/cuda")]) {
        all.extend(names.iter().map(|n| home.join("lib64").join(n)));
    }
    all
}

/// Paths at which a library of the CUDA toolkit may be: beside NVRTC, as the same toolkit is known to work with the
/// driver, then those of [`places`].
pub(super) fn toolkit_paths(names: &[&str]) -> Vec<PathBuf> {
    let nvrtc = Nvrtc::get().ok().map(|nvrtc| PathBuf::from(&nvrtc.path));
    let folder = nvrtc.as_deref().and_then(Path::parent).filter(|f| !f.as_os_str().is_empty());
    let beside = folder.into_iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    beside.chain(places(names)).collect()
}

/// The file of the library that contains an address.
fn file_with(inside: *const c_void) -> Option<PathBuf> {
    // SAFETY: the loader fills the description, whose name lives as long as the library.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(inside, &mut found) == 0 || found.dli_fname.is_null() {
            return None;
        }
        Some(PathBuf::from(OsStr::from_bytes(CStr::from_ptr(found.dli_fname).to_bytes())))
    }
}

/// The toolkit's data library that NVRTC loads when it compiles, in the folder of `path`.
fn builtins_beside(path: &Path) -> Option<Library> {
    let file = beside(path, "libnvrtc-builtins.so")?;
    // SAFETY: the library only holds data.
    unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) }.ok()
}

/// The first file in the folder of `path` whose name begins with `prefix`.
fn beside(path: &Path, prefix: &str) -> Option<PathBuf> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty())?;
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix)))
        .collect();
    found.sort();
    found.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::super::source::LaunchShape;
    use super::*;
    use crate::backend::families::KERNELS;

    /// Two copies of NVRTC are at different addresses, and compile to the same bytes at the same time. The host's
    /// signal handlers are not changed.
    #[test]
    fn a_further_copy_makes_the_same_code() {
        let nvrtc = match Nvrtc::get() {
            Ok(nvrtc) => nvrtc,
            Err(e) if std::env::var_os("PLAQ_REQUIRE_NVRTC").is_some() => panic!("{e}"),
            Err(e) => return println!("skipped: {e}"),
        };
        let copies = [nvrtc.instance(), &Instance::of_file(&nvrtc.file).expect("another copy")];
        assert_ne!(*copies[0].compile as usize, *copies[1].compile as usize);
        let kernel = &KERNELS[0];
        let params: Vec<_> = kernel.params.iter().map(|all| all[0]).collect();
        let any = Source::new(kernel, &params, &vec![], LaunchShape { block: 128, min_blocks: 1 });
        let text = "extern \"C\" __global__ void half(float *x) { x[threadIdx.x] *= 0.5f; }";
        let source = &Source { symbol: String::from("half"), text: String::from(text), ..any };
        let handlers = || {
            // SAFETY: without a new action the call only reads the present one.
            [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGSEGV].map(|number| unsafe {
                let mut now: libc::sigaction = std::mem::zeroed();
                libc::sigaction(number, std::ptr::null(), &mut now);
                now.sa_sigaction
            })
        };
        let before = handlers();
        let made = std::thread::scope(|s| {
            let made = copies.map(|copy| s.spawn(move || copy.compile(source, 90).unwrap()));
            while made.iter().any(|thread| !thread.is_finished()) {
                assert_eq!(handlers(), before);
            }
            made.map(|thread| thread.join().unwrap())
        });
        assert!(!made[0].cubin.is_empty() && made[0] == made[1]);
    }

    #[test]
    fn reads_the_assembler_report() {
        let log = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'hop_f32_12' for 'sm_90'\n\
            ptxas info    : Function properties for hop_f32_12\n\
            \u{20}   16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Used 128 registers, used 1 barriers, 16 bytes cumulative stack size\n";
        let want = Usage { registers: 128, spill_stores: 8, spill_loads: 12, stack: 16 };
        assert_eq!(Usage::parse(log, "hop_f32_12"), want);
        assert_eq!(Usage::parse(log, "blas_f32"), Usage::default());
    }
}
