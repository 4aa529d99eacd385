//! The library built from `mpi/plaq_mpi.c`, which is loaded when a host program passes an MPI communicator: its table
//! of functions, and the rules about threads that follow from the thread level with which MPI was initialised.

use std::ffi::{c_char, c_int, c_void, CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use crate::bail;
use crate::error::Result;
use crate::refuse;

const VERSION: i32 = 2;
const FILE: &str = "libplaq_mpi.so";

/// Function that starts to send: arguments communicator, address, bytes, rank, tag, and address of the request.
pub(super) type Send = unsafe extern "C" fn(i64, *const c_void, i32, i32, i32, *mut i64) -> i32;
pub(super) type Receive = unsafe extern "C" fn(i64, *mut c_void, i32, i32, i32, *mut i64) -> i32;

/// The table of functions that plaq_mpi.c exports; its members are those of the struct there, in the same order.
#[repr(C)]
pub(super) struct Table {
    version: i32,
    size: i32,
    state: unsafe extern "C" fn() -> i32,
    threads: unsafe extern "C" fn(*mut i32, *mut i32) -> i32,
    init: unsafe extern "C" fn(i32) -> i32,
    finalize: unsafe extern "C" fn() -> i32,
    world: unsafe extern "C" fn() -> i64,
    from_c: unsafe extern "C" fn(*const c_void) -> i64,
    from_fortran: unsafe extern "C" fn(i32) -> i64,
    is_null: unsafe extern "C" fn(i64) -> i32,
    pub(super) rank_and_size: unsafe extern "C" fn(i64, *mut i32, *mut i32) -> i32,
    pub(super) duplicate: unsafe extern "C" fn(i64, *mut i64, *mut i64) -> i32,
    pub(super) errors_return: unsafe extern "C" fn(i64) -> i32,
    pub(super) release: unsafe extern "C" fn(i64) -> i32,
    pub(super) send: Send,
    pub(super) receive: Receive,
    pub(super) test: unsafe extern "C" fn(i32, *mut i64, *mut i32) -> i32,
    pub(super) cancel: unsafe extern "C" fn(*mut i64) -> i32,
    pub(super) take: unsafe extern "C" fn(i64, i32, *mut c_void, i32, *mut i32) -> i32,
    pub(super) sum: unsafe extern "C" fn(i64, *const f64, *mut f64, i32, *mut i64) -> i32,
    pub(super) maximum: unsafe extern "C" fn(i64, *const i64, *mut i64, i32, *mut i64) -> i32,
    pub(super) gather: unsafe extern "C" fn(i64, *const c_void, *mut c_void, i32, *mut i64) -> i32,
    pub(super) broadcast: unsafe extern "C" fn(i64, *mut c_void, i32, i32, *mut i64) -> i32,
    node_name: unsafe extern "C" fn(*mut c_char, i32) -> i32,
    version_text: unsafe extern "C" fn(*mut c_char, i32) -> i32,
    error_text: unsafe extern "C" fn(i32, *mut c_char, i32) -> i32,
    takes_gpu_memory: unsafe extern "C" fn() -> i32,
    is_inter: unsafe extern "C" fn(i64, *mut i32) -> i32,
    pub(super) split: unsafe extern "C" fn(i64, i32, i32, *mut i64) -> i32,
    pub(super) send_often: Send,
    pub(super) receive_often: Receive,
    pub(super) start_all: unsafe extern "C" fn(i32, *mut i64) -> i32,
    pub(super) forget: unsafe extern "C" fn(i64) -> i32,
}

/// The loaded library; it stays loaded until the process ends.
pub(super) struct Mpi {
    pub(super) table: &'static Table,
    path: PathBuf,
}

/// The form in which the host program passes its MPI communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Communicator {
    C(CommAddress),
    /// The integer handle that the communicator has in Fortran.
    Fortran(i32),
    /// `MPI_COMM_WORLD`.
    World,
}

/// The address of an `MPI_Comm` of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommAddress(*const c_void);

impl CommAddress {
    /// # Safety
    /// NULL, or the address of an `MPI_Comm`, as long as the value is used.
    pub unsafe fn new(address: *const c_void) -> Self {
        CommAddress(address)
    }
}

impl Mpi {
    /// # Errors
    /// `MpiMissing`: the library was not found, or is of another version of plaq.
    pub fn load() -> Result<&'static Mpi> {
        static LOADED: OnceLock<Mpi> = OnceLock::new();
        static LOADING: Mutex<()> = Mutex::new(());
        let _one = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mpi) = LOADED.get() {
            return Ok(mpi);
        }
        let mpi = open()?;
        log::info!("MPI through {}: {}", mpi.path.display(), mpi.version());
        Ok(LOADED.get_or_init(|| mpi))
    }

    /// The 64-bit handle by which functions of plaq_mpi.c refer to the host's communicator.
    ///
    /// # Errors
    /// `MpiState`: MPI does not run, or the communicator is null.
    pub fn handle(&self, communicator: Communicator) -> Result<i64> {
        self.check_running()?;
        // SAFETY: MPI runs; a C host passes the address of an MPI_Comm.
        let handle = unsafe {
            match communicator {
                Communicator::C(at) if at.0.is_null() => {
                    refuse!(NullPointer, "communicator", expected("the address of an MPI_Comm"))
                }
                Communicator::C(at) => (self.table.from_c)(at.0),
                Communicator::Fortran(number) => (self.table.from_fortran)(number),
                Communicator::World => (self.table.world)(),
            }
        };
        // SAFETY: MPI runs.
        if unsafe { (self.table.is_null)(handle) } != 0 {
            refuse!(
                MpiState,
                "communicator",
                expected("one that this rank is part of"),
                found("MPI_COMM_NULL")
            );
        }
        let mut inter = 0;
        // SAFETY: MPI runs.
        if unsafe { (self.table.is_inter)(handle, &mut inter) } != 0 || inter != 0 {
            refuse!(
                MpiState,
                "communicator",
                expected("a living intra-communicator"),
                found(
                    "{}",
                    if inter != 0 { "an inter-communicator" } else { "none that MPI knows" }
                )
            );
        }
        Ok(handle)
    }

    pub fn check_running(&self) -> Result<()> {
        // SAFETY: may be called at any time.
        match unsafe { (self.table.state)() } {
            1 => Ok(()),
            0 => bail!(
                MpiState,
                "MPI is not initialised, or by another MPI than the {} that {} was built with",
                self.version(),
                self.path.display()
            ),
            _ => bail!(MpiState, "MPI is finalised already"),
        }
    }

    pub fn running(&self) -> bool {
        self.check_running().is_ok()
    }

    /// Converts the error code that a function of the table returned into a result.
    pub fn check(&self, code: i32, what: &str) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the function gets a buffer and its size.
        let text = text(|to, capacity| unsafe { (self.table.error_text)(code, to, capacity) });
        bail!(CommFailed, "{what}: MPI says {text}");
    }

    /// Name of this rank's node: the same for ranks that share memory, and for no others.
    pub fn node(&self) -> String {
        // SAFETY: the function gets a buffer and its size.
        let name = text(|to, capacity| unsafe { (self.table.node_name)(to, capacity) });
        // Two containers may have the same host name; the boot id differs between any two machines.
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        format!("{name} {}", boot.trim())
    }

    pub fn takes_gpu_memory(&self) -> bool {
        // SAFETY: MPI runs.
        unsafe { (self.table.takes_gpu_memory)() != 0 }
    }

    /// Name and version of the MPI library.
    fn version(&self) -> String {
        // SAFETY: a buffer and its size; may be called at any time.
        let text = text(|to, capacity| unsafe { (self.table.version_text)(to, capacity) });
        text.lines().next().unwrap_or_default().trim_end_matches(',').to_string()
    }
}

/// The cores on which this process may run, as a bit mask.
pub(super) fn cores() -> Vec<u8> {
    #[allow(unused_mut)]
    let mut mask = vec![0u8; 1024];
    #[cfg(target_os = "linux")]
    // SAFETY: a buffer and its size; a failure leaves it empty.
    unsafe {
        libc::sched_getaffinity(0, mask.len(), mask.as_mut_ptr().cast())
    };
    mask
}

fn text(fill: impl Fn(*mut c_char, i32) -> i32) -> String {
    let mut buffer = [0u8; 512];
    if fill(buffer.as_mut_ptr().cast(), buffer.len() as i32) != 0 {
        return "nothing more".into();
    }
    let text = CStr::from_bytes_until_nul(&buffer).map(CStr::to_string_lossy);
    text.unwrap_or_default().into_owned()
}

fn open() -> Result<Mpi> {
    let mut tried = Vec::new();
    for path in places() {
        // Plug-ins of Open MPI find its symbols only if they are loaded globally.
        // SAFETY: loading runs the library's and MPI's initialisers only.
        match unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_GLOBAL) } {
            Ok(library) => return bind(library, path),
            Err(e) => tried.push(format!("{e}")),
        }
    }
    bail!(MpiMissing, sentence("{FILE} was not found: build it with this machine's MPI (make mpi) and set PLAQ_MPI_LIBRARY to its path, or put it beside libplaq"), hint("tried: {}", tried.join("; ")))
}

fn bind(library: Library, path: PathBuf) -> Result<Mpi> {
    // SAFETY: the type of plaq_mpi in plaq_mpi.c; version and size come before the rest is used.
    let (table, found): (&'static Table, i32) = unsafe {
        let Ok(entry) = library.get::<unsafe extern "C" fn() -> *const Table>(b"plaq_mpi\0") else {
            refuse!(
                MpiMissing,
                format!("{}", path.display()),
                expected("plaq's library for MPI"),
                found("another")
            );
        };
        let table = entry();
        (&*table, (*table).version)
    };
    if found != VERSION || (table.size as usize) < size_of::<Table>() {
        refuse!(
            MpiMissing,
            format!("{}", path.display()),
            expected("version {VERSION}"),
            found("{found}: build it again (make mpi)")
        );
    }
    std::mem::forget(library);
    Ok(Mpi { table, path })
}

/// Paths at which the library may be, in order of preference.
fn places() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os("PLAQ_MPI_LIBRARY") {
        return vec![path.into()];
    }
    let mut places = Vec::new();
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: an address in this library and a place for the answer, whose text stays.
    let own = unsafe {
        let found: c_int = libc::dladdr(places_address(), &mut info);
        (found != 0 && !info.dli_fname.is_null()).then(|| CStr::from_ptr(info.dli_fname))
    };
    if let Some(own) = own {
        let own = PathBuf::from(OsStr::from_bytes(own.to_bytes()));
        places.push(own.with_file_name(FILE));
        // The path that the loader reports may be a symbolic link in another folder.
        if let Ok(real) = own.canonicalize() {
            places.push(real.with_file_name(FILE));
        }
        places.dedup();
    }
    places.push(FILE.into());
    places
}

fn places_address() -> *const c_void {
    places as fn() -> Vec<PathBuf> as *const c_void
}

/// The threads that may call MPI.
#[derive(Clone, Copy, Debug)]
pub(super) enum Threads {
    /// The main thread alone (MPI's levels single and funneled).
    Only(ThreadId),
    /// Any thread, one at a time (MPI's level serialized).
    OneAtATime,
    Any,
}

/// Lock that, with MPI_THREAD_SERIALIZED, serialises the MPI calls of all of plaq's communicators. The host program must
/// not call MPI at the same time.
static CALLS: Mutex<()> = Mutex::new(());

impl Threads {
    pub fn found(mpi: &Mpi) -> Result<Threads> {
        let (mut level, mut is_main) = (0, 0);
        // SAFETY: MPI runs.
        mpi.check(unsafe { (mpi.table.threads)(&mut level, &mut is_main) }, "thread level")?;
        Ok(match level {
            3 => Threads::Any,
            2 => Threads::OneAtATime,
            _ if is_main != 0 => Threads::Only(std::thread::current().id()),
            _ => refuse!(
                MpiThread,
                format!("MPI has thread level {}", level_name(level)),
                expected("a call from the thread that initialised MPI")
            ),
        })
    }

    /// The lock to be held during a call of MPI; None if the thread level needs none.
    pub fn enter(&self) -> Result<Option<MutexGuard<'static, ()>>> {
        match self {
            Threads::Any => Ok(None),
            Threads::OneAtATime => Ok(Some(CALLS.lock().unwrap_or_else(PoisonError::into_inner))),
            Threads::Only(thread) if *thread == std::thread::current().id() => Ok(None),
            Threads::Only(_) => bail!(
                MpiThread,
                "MPI allows calls from the thread that initialised it only: initialise it with \
                 MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE to call plaq from other threads"
            ),
        }
    }
}

fn level_name(level: i32) -> &'static str {
    ["MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED"][level.clamp(0, 1) as usize]
}

/// Starts and ends MPI for hosts that have no MPI of their own. plaq never calls these.
pub mod host {
    use super::*;

    /// Starts MPI with a thread level: 0 single, 1 funneled, 2 serialized, 3 multiple.
    pub fn init(level: i32) -> Result<()> {
        let mpi = Mpi::load()?;
        // SAFETY: may be called at any time.
        if unsafe { (mpi.table.state)() } != 0 {
            bail!(MpiState, "MPI was initialised already");
        }
        // SAFETY: the first call.
        mpi.check(unsafe { (mpi.table.init)(level) }, "MPI_Init_thread")
    }

    pub fn finalize() -> Result<()> {
        let mpi = Mpi::load()?;
        mpi.check_running()?;
        // SAFETY: MPI runs.
        mpi.check(unsafe { (mpi.table.finalize)() }, "MPI_Finalize")
    }
}
