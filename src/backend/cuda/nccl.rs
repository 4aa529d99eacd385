//! NCCL, for messages and sums between GPUs of several processes; the library is opened at run time.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{channel, RecvTimeoutError, SendError};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use libloading::os::unix::{Library, RTLD_NOW};

use super::compiling::without_signals;
use super::driver::Handle;
use super::nvrtc::{places, Nvrtc};
use crate::backend::{DeviceMessage, Ptr};
use crate::bail;
use crate::error::{Result, Status};
use crate::library;

/// The bytes by which ranks find each other to form a communicator: NCCL's ncclUniqueId.
#[derive(Clone, Copy)]
#[repr(C)]
struct UniqueId([u8; 128]);

type Version = unsafe extern "C" fn(*mut c_int) -> c_int;
type GetUniqueId = unsafe extern "C" fn(*mut UniqueId) -> c_int;
type Init = unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int) -> c_int;
type Group = unsafe extern "C" fn() -> c_int;
type Send = unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Handle, Handle) -> c_int;
type Receive = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Handle, Handle) -> c_int;
type AllReduce =
    unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, Handle, Handle) -> c_int;
type AsyncError = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
type End = unsafe extern "C" fn(Handle) -> c_int;
type ErrorString = unsafe extern "C" fn(c_int) -> *const c_char;

// nccl.h: ncclInt8, ncclFloat64, ncclSum; ncclInProgress, of communicators that do not block.
const INT8: c_int = 0;
const FLOAT64: c_int = 8;
const SUM: c_int = 0;
const IN_PROGRESS: c_int = 7;
/// Interval at which this rank checks, while it waits for other ranks, whether they have failed.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);
/// The oldest supported version, as 10000 major + 100 minor + patch: the first one with the code for calls in
/// progress.
const MIN_VERSION: c_int = 21400;

/// The functions of the library.
pub struct Nccl {
    unique_id: GetUniqueId,
    init: Init,
    group_start: Group,
    group_end: Group,
    send: Send,
    receive: Receive,
    all_reduce: AllReduce,
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
        let (name, missing) = ("PLAQ_NCCL_LIBRARY", Status::NcclMissing);
        let Some(nccl) = library::open(name, missing, Self::paths, Self::load)? else {
            bail!(NcclMissing, sentence("cannot open libnccl.so.2"), hint("install NCCL (package libnccl2, or pip nvidia-nccl-cu13) and set PLAQ_NCCL_LIBRARY to its full path"))
        };
        if nccl.version < MIN_VERSION {
            bail!(
                NcclMissing,
                "expected NCCL {MIN_VERSION} or later, found {} in {}",
                nccl.version,
                nccl.path.display()
            );
        }
        log::info!("NCCL {} of {}", nccl.version, nccl.path.display());
        Ok(nccl)
    }

    /// Paths at which the library may be, in order of preference.
    fn paths() -> Vec<PathBuf> {
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
                all_reduce: *library.get::<AllReduce>(b"ncclAllReduce")?,
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

    /// Bytes by which ranks find each other; one rank calls this and passes them to all.
    pub fn rendezvous(&self) -> Result<Vec<u8>> {
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
            hint(
                "NCCL_DEBUG=WARN says more; NCCL_NVLS_ENABLE=0 where NVLink multicast is forbidden"
            )
        )
    }
}

/// A communicator of NCCL with one GPU for each rank.
pub struct Ring {
    nccl: &'static Nccl,
    /// The communicator; None after it was aborted.
    comm: Mutex<Option<Raw>>,
    /// Time limit for a call that NCCL completes in the background.
    limit: Duration,
    /// After `abort`: the thread that ends the communicator.
    ending: Mutex<Option<JoinHandle<()>>>,
}

struct Raw(Handle);
// SAFETY: a communicator belongs to no thread; a mutex guards it.
unsafe impl std::marker::Send for Raw {}

impl Ring {
    /// Forms a communicator with the other ranks; `rendezvous` are the bytes that one of them made. This waits for all
    /// ranks without limit. The device's context must be current.
    pub fn join(rendezvous: &[u8], rank: usize, ranks: usize, limit: Duration) -> Result<Ring> {
        let nccl = Nccl::get()?;
        let Ok(id) = rendezvous.try_into() else {
            bail!(Internal, "a meeting of {} bytes", rendezvous.len());
        };
        let mut comm: Handle = std::ptr::null_mut();
        // SAFETY: a place for the communicator and an id of this library.
        let code = unsafe { (nccl.init)(&mut comm, ranks as c_int, UniqueId(id), rank as c_int) };
        let ring =
            Ring { nccl, comm: Mutex::new(Some(Raw(comm))), limit, ending: Mutex::default() };
        match ring.completed(comm, code, "joining the other ranks") {
            Ok(()) => Ok(ring),
            Err(e) => {
                ring.abort(|| ());
                Err(e)
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<Raw>> {
        self.comm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of a call. If NCCL completes it in the background (`NCCL_COMM_BLOCKING=0`), this waits for its end.
    fn completed(&self, comm: Handle, mut code: c_int, what: &str) -> Result<()> {
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

    /// Puts messages to and from other ranks on a stream.
    ///
    /// # Safety
    /// The addresses have the bytes that their parcels name until the stream has passed this.
    pub unsafe fn exchange(
        &self,
        stream: Handle,
        sends: &[DeviceMessage],
        receives: &[DeviceMessage],
    ) -> Result<()> {
        let held = self.held();
        let Some(Raw(comm)) = *held else { bail!(CommFailed, "messages of NCCL were given up") };
        let (nccl, what) = (self.nccl, "messages to other ranks");
        nccl.check((nccl.group_start)(), what)?;
        let send = |p: &DeviceMessage| {
            let code =
                (nccl.send)(p.at.0 as *const _, p.bytes, INT8, p.rank as c_int, comm, stream);
            self.nccl.check(code, what)
        };
        let receive = |p: &DeviceMessage| {
            let code =
                (nccl.receive)(p.at.0 as *mut _, p.bytes, INT8, p.rank as c_int, comm, stream);
            self.nccl.check(code, what)
        };
        let queued = sends.iter().try_for_each(send);
        let queued = queued.and_then(|()| receives.iter().try_for_each(receive));
        let ended = self.completed(comm, (nccl.group_end)(), what);
        queued.and(ended)
    }

    /// Puts on a stream the sums of `n` doubles over all ranks, which replace these doubles.
    ///
    /// # Safety
    /// The address has these numbers until the stream has passed this.
    pub unsafe fn sum(&self, stream: Handle, at: Ptr, n: usize) -> Result<()> {
        let held = self.held();
        let Some(Raw(comm)) = *held else { bail!(CommFailed, "sums of NCCL were given up") };
        let (from, to) = (at.0 as *const c_void, at.0 as *mut c_void);
        let code = (self.nccl.all_reduce)(from, to, n, FLOAT64, SUM, comm, stream);
        self.completed(comm, code, "sums over all ranks")
    }

    /// Returns an error if messages or sums on a stream have failed.
    pub fn check(&self) -> Result<()> {
        let held = self.held();
        let Some(Raw(comm)) = *held else { return Ok(()) };
        let mut code = 0;
        // SAFETY: a living communicator and a place for the answer.
        self.nccl.check(unsafe { (self.nccl.async_error)(comm, &mut code) }, "messages")?;
        let failed = if code == IN_PROGRESS { 0 } else { code };
        self.nccl.check(failed, "messages to other ranks")
    }

    /// Aborts all messages and sums on streams and destroys the communicator. This is done in a thread, which holds the
    /// result of `enter` (the device's context) meanwhile, and is not waited for. While another call holds the
    /// communicator, as one that connects ranks may, nothing is done; that call has put nothing on a stream yet.
    pub fn abort<G>(&self, enter: impl FnOnce() -> G + std::marker::Send + 'static) {
        let Some(comm) = self.comm.try_lock().ok().and_then(|mut held| held.take()) else { return };
        let nccl = self.nccl;
        // ncclCommAbort tells NCCL's kernels to end and waits for them, and hence also for what is before them on the
        // stream: possibly kernels of another communicator, which is aborted only after this one.
        let end = move || {
            let _inside = enter();
            let Raw(comm) = { comm };
            // SAFETY: the communicator exists, and nothing uses it after this call.
            unsafe { (nccl.abort)(comm) };
        };
        let named = Builder::new().name("plaq-nccl".into());
        // If no thread can be started, the communicator is not aborted: kernels that wait end with the process.
        let thread = without_signals(|| named.spawn(end)).ok();
        *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = thread;
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if let Some(Raw(comm)) = self.held().take() {
            // SAFETY: a communicator that this value owns and nobody else uses.
            unsafe { (self.nccl.destroy)(comm) };
        }
        let ending = self.ending.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // The thread ends as soon as NCCL's kernels have ended.
        ending.map(JoinHandle::join);
    }
}

/// Runs `work`, which may wait for other ranks without limit, in a thread, and calls `check` repeatedly until it is
/// done. An error of `check` ends only the wait; if the work succeeds later, its result is passed to `late`.
pub fn in_background<T: std::marker::Send + 'static>(
    check: &dyn Fn() -> Result<()>,
    work: impl FnOnce() -> Result<T> + std::marker::Send + 'static,
    late: impl FnOnce(T) + std::marker::Send + 'static,
) -> Result<T> {
    let (sender, receiver) = channel();
    let run = move || {
        // The receiver has given up waiting: the result is handed to `late`.
        if let Err(SendError(Ok(made))) = sender.send(work()) {
            late(made);
        }
    };
    let named = Builder::new().name("plaq-nccl".into());
    if let Err(e) = without_signals(|| named.spawn(run)) {
        bail!(CommFailed, "cannot start a thread: {e}");
    }
    loop {
        match receiver.recv_timeout(CHECK_INTERVAL) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) => check()?,
            Err(RecvTimeoutError::Disconnected) => {
                bail!(Internal, "the thread that joins other ranks has ended")
            }
        }
    }
}
