//! NCCL, a library that is opened at run time, for messages between GPUs of several processes.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use libloading::os::unix::{Library, RTLD_NOW};

use super::driver::Handle;
use super::nvrtc::{places, Nvrtc};
use crate::backend::Parcel;
use crate::bail;
use crate::error::Result;

/// The library's ncclUniqueId.
#[derive(Clone, Copy)]
#[repr(C)]
struct UniqueId([u8; 128]);

type Version = unsafe extern "C" fn(*mut c_int) -> c_int;
type GetUniqueId = unsafe extern "C" fn(*mut UniqueId) -> c_int;
type Init = unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int) -> c_int;
type Group = unsafe extern "C" fn() -> c_int;
type Send = unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Handle, Handle) -> c_int;
type Receive = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Handle, Handle) -> c_int;
type AsyncError = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
type End = unsafe extern "C" fn(Handle) -> c_int;
type ErrorString = unsafe extern "C" fn(c_int) -> *const c_char;

// nccl.h: ncclInt8; ncclInProgress, of communicators that do not block.
const INT8: c_int = 0;
const IN_PROGRESS: c_int = 7;
const MULTICAST: &str = "NCCL_NVLS_ENABLE";
/// The oldest supported version, as 10000 major + 100 minor + patch: the first one with the code for calls in
/// progress.
const OLDEST: c_int = 21400;

/// The functions of the library.
pub struct Nccl {
    unique_id: GetUniqueId,
    init: Init,
    group_start: Group,
    group_end: Group,
    send: Send,
    receive: Receive,
    async_error: AsyncError,
    abort: End,
    destroy: End,
    error_string: ErrorString,
    pub version: c_int,
    pub path: PathBuf,
    _library: Library,
}

impl Nccl {
    /// The library, opened once per process: `PLAQ_NCCL_LIBRARY` (a full path), else one that the loader finds, the
    /// one in the wheel beside NVRTC's, or one in the usual places of a CUDA toolkit.
    pub fn get() -> Result<&'static Nccl> {
        static NCCL: OnceLock<Result<Nccl>> = OnceLock::new();
        NCCL.get_or_init(Nccl::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Nccl> {
        // Multicast of NVLink stays off unless the user wants it: machines whose GPUs are divided often forbid it.
        if std::env::var_os(MULTICAST).is_none() {
            std::env::set_var(MULTICAST, "0");
        }
        let nccl = match std::env::var_os("PLAQ_NCCL_LIBRARY").filter(|p| !p.is_empty()) {
            Some(path) => Self::load(Path::new(&path)).or_else(
                |e| bail!(NcclMissing, "PLAQ_NCCL_LIBRARY={}: {e}", path.to_string_lossy()),
            )?,
            None => match Self::usual().iter().find_map(|path| Self::load(path).ok()) {
                Some(nccl) => nccl,
                None => bail!(NcclMissing, sentence("cannot open libnccl.so.2"), hint("install NCCL (package libnccl2, or pip nvidia-nccl-cu13) and set PLAQ_NCCL_LIBRARY to its full path")),
            },
        };
        if nccl.version < OLDEST {
            bail!(
                NcclMissing,
                "expected NCCL {OLDEST} or later, found {} in {}",
                nccl.version,
                nccl.path.display()
            );
        }
        log::info!("NCCL {} of {}", nccl.version, nccl.path.display());
        Ok(nccl)
    }

    /// Paths at which the library may be, in order of preference.
    fn usual() -> Vec<PathBuf> {
        const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];
        // Wheels of one environment lie below one folder.
        let nvrtc = Nvrtc::get().map(|nvrtc| PathBuf::from(&nvrtc.path)).unwrap_or_default();
        let wheels = nvrtc.ancestors().skip(1).map(|folder| folder.join("nccl/lib"));
        let wheels = wheels.flat_map(|folder| NAMES.map(|name| folder.join(name)));
        let wheels = wheels.filter(|path| path.is_absolute() && path.exists());
        places(&NAMES).into_iter().chain(wheels).collect()
    }

    fn load(path: &Path) -> std::result::Result<Nccl, libloading::Error> {
        // SAFETY: symbols have the signatures of nccl.h, which are the same in all versions 2.
        unsafe {
            let library = Library::open(Some(path), RTLD_NOW)?;
            let mut version = 0;
            (library.get::<Version>(b"ncclGetVersion")?)(&mut version);
            Ok(Nccl {
                unique_id: *library.get::<GetUniqueId>(b"ncclGetUniqueId")?,
                init: *library.get::<Init>(b"ncclCommInitRank")?,
                group_start: *library.get::<Group>(b"ncclGroupStart")?,
                group_end: *library.get::<Group>(b"ncclGroupEnd")?,
                send: *library.get::<Send>(b"ncclSend")?,
                receive: *library.get::<Receive>(b"ncclRecv")?,
                async_error: *library.get::<AsyncError>(b"ncclCommGetAsyncError")?,
                abort: *library.get::<End>(b"ncclCommAbort")?,
                destroy: *library.get::<End>(b"ncclCommDestroy")?,
                error_string: *library.get::<ErrorString>(b"ncclGetErrorString")?,
                version,
                path: path.to_path_buf(),
                _library: library,
            })
        }
    }

    /// Bytes by which ranks find each other: one rank makes them and passes them to all.
    pub fn meeting(&self) -> Result<Vec<u8>> {
        let mut id = UniqueId([0; 128]);
        // SAFETY: a place for the answer.
        self.check(unsafe { (self.unique_id)(&mut id) }, "an address for ranks to meet at")?;
        Ok(id.0.to_vec())
    }

    fn check(&self, code: c_int, what: &str) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: a static text of the library for any code.
        let text = unsafe { CStr::from_ptr((self.error_string)(code)) }.to_string_lossy();
        bail!(
            CommFailed,
            sentence("{what}: NCCL says {text} ({code})"),
            hint("NCCL_DEBUG=WARN says more")
        )
    }
}

/// A communicator of NCCL with one GPU for each rank.
pub struct Ring {
    nccl: &'static Nccl,
    /// The communicator; None after it was aborted.
    comm: Mutex<Option<Raw>>,
    /// Longest time for a call that NCCL completes in the background.
    limit: Duration,
}

struct Raw(Handle);
// SAFETY: a communicator belongs to no thread; a mutex guards it.
unsafe impl std::marker::Send for Raw {}

impl Ring {
    /// Joins the other ranks with the bytes that one of them made. This waits for all of them without limit; the
    /// device's context must be current.
    pub fn join(meeting: &[u8], rank: usize, ranks: usize, limit: Duration) -> Result<Ring> {
        let nccl = Nccl::get()?;
        let Ok(id) = meeting.try_into() else {
            bail!(Internal, "a meeting of {} bytes", meeting.len());
        };
        let mut comm: Handle = std::ptr::null_mut();
        // SAFETY: a place for the communicator and an id of this library.
        let code = unsafe { (nccl.init)(&mut comm, ranks as c_int, UniqueId(id), rank as c_int) };
        let ring = Ring { nccl, comm: Mutex::new(Some(Raw(comm))), limit };
        match ring.settled(comm, code, "joining the other ranks") {
            Ok(()) => Ok(ring),
            Err(e) => {
                ring.abort();
                Err(e)
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<Raw>> {
        self.comm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of a call. If NCCL completes it in the background (`NCCL_COMM_BLOCKING=0`), this waits for its end.
    fn settled(&self, comm: Handle, mut code: c_int, what: &str) -> Result<()> {
        let start = Instant::now();
        while code == IN_PROGRESS {
            if start.elapsed() > self.limit {
                bail!(CommFailed, "{what}: no end within {} s", self.limit.as_secs_f64());
            }
            // SAFETY: a living communicator and a place for the answer.
            self.nccl.check(unsafe { (self.nccl.async_error)(comm, &mut code) }, what)?;
            std::thread::yield_now();
        }
        self.nccl.check(code, what)
    }

    /// Puts messages on the stream.
    ///
    /// # Safety
    /// The addresses have the bytes that their parcels name until the stream has passed this.
    pub unsafe fn exchange(
        &self,
        stream: Handle,
        sends: &[Parcel],
        receives: &[Parcel],
    ) -> Result<()> {
        let held = self.held();
        let Some(Raw(comm)) = *held else { bail!(CommFailed, "messages of NCCL were given up") };
        let (nccl, what) = (self.nccl, "messages to other ranks");
        nccl.check((nccl.group_start)(), what)?;
        let send = |p: &Parcel| {
            let code =
                (nccl.send)(p.at.0 as *const _, p.bytes, INT8, p.rank as c_int, comm, stream);
            self.nccl.check(code, what)
        };
        let receive = |p: &Parcel| {
            let code =
                (nccl.receive)(p.at.0 as *mut _, p.bytes, INT8, p.rank as c_int, comm, stream);
            self.nccl.check(code, what)
        };
        let queued = sends.iter().try_for_each(send);
        let queued = queued.and_then(|()| receives.iter().try_for_each(receive));
        let ended = self.settled(comm, (nccl.group_end)(), what);
        queued.and(ended)
    }

    /// An error if something on a stream has failed.
    pub fn check(&self) -> Result<()> {
        let held = self.held();
        let Some(Raw(comm)) = *held else { return Ok(()) };
        let mut code = 0;
        // SAFETY: a living communicator and a place for the answer.
        self.nccl.check(unsafe { (self.nccl.async_error)(comm, &mut code) }, "messages")?;
        let failed = if code == IN_PROGRESS { 0 } else { code };
        self.nccl.check(failed, "messages to other ranks")
    }

    /// Ends all messages on streams; none can follow. If a call that connects ranks does not end, its communicator is
    /// not freed, but it has put nothing on a stream.
    pub fn abort(&self) {
        if let Some(Raw(comm)) = self.comm.try_lock().ok().and_then(|mut held| held.take()) {
            // SAFETY: a living communicator, which nobody uses after this.
            unsafe { (self.nccl.abort)(comm) };
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if let Some(Raw(comm)) = self.held().take() {
            // SAFETY: as above.
            unsafe { (self.nccl.destroy)(comm) };
        }
    }
}
