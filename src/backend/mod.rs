//! Devices: memory, kernel launches, reductions. Code above this layer is safe: a kernel of the table in
//! `families_table.rs` is named by its Rust type and gets its own argument struct, so that a wrong name, struct or
//! value of a template parameter does not compile.

pub mod args;
mod buffer;
mod call;
mod counts;
pub mod cpu;
pub mod cuda;
mod device_comm;
pub mod external;
pub mod families;
mod first;
pub mod fourier;
mod host_memory;
mod kept;
mod numbers;
pub(crate) mod products;
mod profile;
mod rehearsal;
mod shared;
mod stand_in;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(debug_assertions)]
pub mod trace;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub use args::{FieldView, Geom, KernelArgs, Ptr, Specs};
use args::{Seen, SumArgs, Views};
use buffer::Allocation;
pub use buffer::Buffer;
pub use call::{constants, specs_of, Call, Work, WIDE};
pub use counts::Counts;
pub use cpu::lanes_up_to;
pub(crate) use device_comm::{Connected, Piece as MessagePiece};
pub use device_comm::{DeviceComm, DeviceMessage, Place, LARGEST_SUM};
pub use external::{External, Location, Rows};
pub use families::{kernels, Precision, Recon};
use families::{Instance, Sites, Sums};
use first::FirstLaunches;
pub use host_memory::{host_memory_left, HostArray};
use kept::Store;
pub use kept::{KeptMemory, PeakWatch};
pub(crate) use numbers::Falling;
pub use numbers::Numbers;
use products::Products;
use profile::Profile;
use rehearsal::Record;
pub use rehearsal::{Kernels, RequestedKernel};
pub use shared::{Attached, Awaited, EnqueuedSums, Mapped, Reduction};
pub(crate) use stand_in::Ranks;

use crate::bail;
use crate::error::{Result, Status};
use crate::params::Key;
use crate::refuse;

/// An address in device memory, with the rows in host memory that are copied to it or from it.
pub type Piece<'a> = (Ptr, Rows<'a>);
/// A function that launches the kernels that write the next pieces of a download, and returns these pieces; an empty
/// list ends the download.
pub type Downloads<'a> = dyn FnMut() -> Result<Vec<Piece<'a>>> + Send + 'a;

/// Properties of a GPU that determine how much of a lattice is worked on at a time.
#[derive(Clone, Copy, Debug)]
pub struct Gpu {
    pub multiprocessors: usize,
    /// Size of the second-level cache in bytes.
    pub cache: u64,
    /// True if kernels that can handle both parities in one launch are used in this way.
    pub both_parities: bool,
}

/// Operations that a device must provide. Addresses are those of its own memory.
///
/// # Safety of the functions that take addresses
/// Every address was returned by this back end, and as many bytes as the call names are still allocated there. The
/// fields in the arguments of a kernel call contain all sites of its `work`.
#[allow(clippy::missing_safety_doc)]
pub trait Backend: Send + Sync {
    /// A line that describes the device in reports, e.g. `cpu avx512, 2 threads` or `NVIDIA H200`.
    fn name(&self) -> String;
    fn is_cpu(&self) -> bool;
    /// Number of threads of a CPU; `None` on GPUs.
    fn threads(&self) -> Option<usize> {
        None
    }
    /// Largest number of lanes (virtual nodes) of a site: 16 on a CPU, 1 on a GPU.
    fn max_lanes(&self) -> usize;
    /// Properties of a GPU; `None` on CPUs.
    fn gpu(&self) -> Option<Gpu> {
        None
    }
    /// Bytes of memory of the device: free, and in total.
    fn memory(&self) -> Result<(u64, u64)>;
    /// Returns memory to the system that the back end keeps for later allocations.
    fn free_kept(&self) -> Result<()> {
        Ok(())
    }
    /// Allocates `bytes` bytes of zeroed memory, aligned to 256 bytes; `shared`: MPI or other processes will access it.
    fn alloc(&self, bytes: u64, shared: bool) -> Result<Ptr>;
    unsafe fn free(&self, ptr: Ptr, bytes: u64, shared: bool);
    /// Copies pieces from the host to the device; returns as soon as the host's rows have been read and may be changed.
    unsafe fn upload(&self, pieces: &[Piece]) -> Result<()>;
    /// Copies to the host the pieces that `source` returns, call by call until there are none; returns when all have
    /// arrived. Kernels that call n of `source` launches run after the pieces of call n - 2 have been copied, so that
    /// two device buffers can be used in turn. `source` only launches kernels and copies nothing itself.
    unsafe fn download(&self, source: &mut Downloads) -> Result<()>;
    unsafe fn copy(&self, dst: Ptr, src: Ptr, bytes: u64) -> Result<()>;
    unsafe fn zero(&self, dst: Ptr, bytes: u64) -> Result<()>;
    /// Bytes that another process on this machine passes to `attach` in order to open this memory.
    unsafe fn share(&self, _ptr: Ptr) -> Result<Vec<u8>> {
        bail!(Unsupported, "{} does not share its memory", self.name());
    }
    /// Opens memory that another process has shared; returns its address in this process, and the value to pass to
    /// `detach`.
    unsafe fn attach(&self, _shared: &[u8]) -> Result<(Ptr, Ptr)> {
        bail!(Unsupported, "{} does not share its memory", self.name());
    }
    unsafe fn detach(&self, _base: Ptr) {}
    /// Allocates zeroed host memory to which kernels can write; returns its address for the host and that for kernels.
    fn mapped(&self, _bytes: usize) -> Result<(u64, Ptr)> {
        bail!(Unsupported, "{} has no memory of its own", self.name());
    }
    unsafe fn unmap(&self, _host: u64) {}
    /// A number of 16 bytes that identifies this device among all devices, if it can be connected by NCCL to those of
    /// other processes.
    ///
    /// # Errors
    /// `Unsupported`, `NcclMissing`.
    fn identity(&self) -> Result<[u8; 16]> {
        bail!(Unsupported, "{} sends no messages by itself", self.name());
    }
    /// Bytes by which the devices of several processes find each other in `connect`. One process calls this and passes
    /// the bytes to all.
    fn rendezvous(&self) -> Result<Vec<u8>> {
        bail!(Unsupported, "{} sends no messages by itself", self.name());
    }
    /// Connects the devices of all ranks; every rank calls this with its own place. While a rank waits for others it
    /// calls `check`, whose error ends the wait.
    fn connect(
        &self,
        _meeting: &[u8],
        _place: &Place,
        _check: &dyn Fn() -> Result<()>,
    ) -> Result<Box<dyn DeviceComm>> {
        bail!(Unsupported, "{} sends no messages by itself", self.name());
    }
    /// The reason why kernels cannot access the `bytes` bytes of the host program from this address on; None if they
    /// can.
    fn access_error(&self, _at: Ptr, _bytes: u64) -> Result<Option<String>> {
        Ok(None)
    }
    /// Whether this address of the host program is in device memory, which the host's code cannot read.
    fn is_device_address(&self, _address: u64) -> Result<bool> {
        Ok(false)
    }
    /// Makes later kernels wait for all work that the host program has put on this CUDA stream so far.
    unsafe fn after_stream(&self, _stream: u64) -> Result<()> {
        Ok(())
    }
    /// Calls `work` with this device's CUDA context current in the thread, as other libraries (MPI) require.
    fn inside(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        work()
    }
    /// Starts copies into page-locked host memory, each given as (host address, device address, bytes). They begin when
    /// all kernels launched so far have ended, run one after the other, and concurrently with kernels launched later.
    unsafe fn start_download(&self, _pieces: &[(u64, Ptr, usize)]) -> Result<()> {
        bail!(Unsupported, "{} has no memory of its own", self.name());
    }
    /// Whether the kernels launched before `start_download` have ended and its first `pieces` copies are complete. If
    /// not, this also checks from time to time whether ranks for which kernels wait have failed.
    ///
    /// # Errors
    /// `CommFailed`: a rank for which kernels wait has failed.
    fn downloaded(&self, _pieces: usize) -> Result<bool> {
        bail!(Unsupported, "{} has no memory of its own", self.name());
    }
    /// Starts a copy from page-locked host memory, given as (device address, host address, bytes). It begins when all
    /// kernels launched before `start_download` have ended.
    unsafe fn start_upload(&self, _piece: (Ptr, u64, usize)) -> Result<()> {
        bail!(Unsupported, "{} has no memory of its own", self.name());
    }
    /// Makes kernels launched later wait for the copies of `start_upload`.
    fn after_uploads(&self) -> Result<()> {
        bail!(Unsupported, "{} has no memory of its own", self.name());
    }
    unsafe fn launch(&self, call: &Call) -> Result<()>;
    /// Runs a reduction, waits for its batches x N sums and writes them to `sums`; returns the sum of the ranks' flags.
    /// If the GPUs of several ranks add up their sums, `over` has the members of `SumArgs` that describe this; the
    /// device fills in the others. On a CPU `over` is None.
    unsafe fn reduce(&self, call: &Call, sums: &mut [f64], over: Option<&SumArgs>) -> Result<f64>;
    /// Announces that the next kernel waits for these ranks. Until it has ended, the host checks whether they have
    /// failed while it waits for the device.
    fn awaits(&self, _ranks: &Weak<dyn Awaited>) {}
    /// Starts a reduction as `reduce` does, without waiting for its results, which `finish` returns.
    unsafe fn start(&self, call: &Call, over: Option<&SumArgs>) -> Result<Reduction> {
        let mut sums = zeros(call);
        // SAFETY: the caller guarantees for `call` what `reduce` requires.
        let flag = unsafe { self.reduce(call, &mut sums, over)? };
        Ok(Reduction::Done(sums, flag))
    }
    /// Starts a reduction whose sums, and the number `flag`, are added up over all ranks by their devices (NCCL). With
    /// the flag there are at most [`LARGEST_SUM`] numbers. On a rank the reduction may have no elements.
    unsafe fn start_across(
        &self,
        _call: &Call,
        _flag: f64,
        _ranks: &dyn DeviceComm,
    ) -> Result<Reduction> {
        bail!(Unsupported, "{} sends no messages by itself", self.name());
    }
    /// Waits for a reduction that was started; returns its sums, and the sum of the ranks' flags.
    fn finish(&self, _posted: &EnqueuedSums) -> Result<(Vec<f64>, f64)> {
        bail!(Internal, "{} posts no sums", self.name());
    }
    /// Fourier transforms for arrays of this shape; see [`fourier::Fourier`].
    fn fourier(&self, _shape: fourier::FourierShape) -> Result<Box<dyn fourier::Plan>> {
        bail!(Unsupported, "{} has no Fourier transforms", self.name());
    }
    /// A library for products of matrices, if there is one.
    fn multiplies(&self) -> bool {
        false
    }
    unsafe fn multiply(&self, _all: &[Products]) -> Result<bool> {
        Ok(false)
    }
    /// Starts to compile a kernel that will be called; `likely`: it will perhaps be called, and is compiled after all
    /// others.
    fn prepare(&self, _asked: &RequestedKernel, _likely: bool) {}
    /// For a stand-in device, which runs no kernels: the number of its dry run. `None` on any other device.
    fn dry_run(&self) -> Option<u64> {
        None
    }
    /// For a stand-in device, which runs no kernels: the made-up results of its reductions. `None` on any other device.
    fn numbers(&self) -> Option<Arc<Mutex<Numbers>>> {
        None
    }
    /// Whether a kernel is compiled already, in memory or in the cache on disk.
    fn is_compiled(&self, _asked: &RequestedKernel) -> bool {
        true
    }
    /// Number of kernels that were compiled or read from a cache so far.
    fn kernels(&self) -> u64 {
        0
    }
    fn synchronize(&self) -> Result<()>;
    /// Seconds that `work` takes on the device, including launches.
    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        self.synchronize()?;
        let start = std::time::Instant::now();
        work()?;
        self.synchronize()?;
        Ok(start.elapsed().as_secs_f64())
    }
}

struct DeviceState {
    backend: Box<dyn Backend>,
    used: AtomicU64,
    peak: AtomicU64,
    limit: AtomicU64,
    watches: Mutex<Vec<Weak<AtomicU64>>>,
    /// Sizes in bytes of all allocations, by address.
    allocated: Mutex<BTreeMap<u64, u64>>,
    store: Mutex<Store>,
    /// Keys of work that has been rehearsed; the compilation of its kernels has been started.
    rehearsed: Mutex<HashSet<Key>>,
    /// Number of kernels launched.
    launches: AtomicU64,
    /// Number of times that the host waited for the sums of a reduction.
    waits: AtomicU64,
    /// Bytes copied from arrays of the host, and to them.
    host_bytes: [AtomicU64; 2],
    /// The CUDA stream of the host program, for transfers that name none; 0: the legacy default stream.
    host_stream: AtomicU64,
    profile: Option<Profile>,
    first: Option<FirstLaunches>,
    /// For a stand-in of rehearsals: the real device for which it stands in.
    real: Option<Device>,
    /// Whether this stand-in was made from another stand-in.
    nested: bool,
    /// The kernel calls recorded so far; None: calls are not being recorded.
    record: Mutex<Option<Record>>,
}

impl Drop for DeviceState {
    fn drop(&mut self) {
        if let Some(profile) = &self.profile {
            profile.write(&self.backend.name());
        }
        if let Some(first) = &self.first {
            first.write(&self.backend.name());
        }
    }
}

/// A device on which fields are allocated. Clones refer to the same device; two devices are equal if they are clones of
/// each other.
#[derive(Clone)]
pub struct Device(Arc<DeviceState>);

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({})", self.name())
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Device {
    pub fn from_backend(backend: Box<dyn Backend>) -> Self {
        Self::watched(backend, Profile::from_env(), FirstLaunches::from_env(), None, false)
    }

    fn watched(
        backend: Box<dyn Backend>,
        profile: Option<Profile>,
        first: Option<FirstLaunches>,
        real: Option<Device>,
        nested: bool,
    ) -> Self {
        let (used, peak, limit) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let watches = Mutex::default();
        Device(Arc::new(DeviceState {
            backend,
            used,
            peak,
            limit,
            watches,
            allocated: Mutex::default(),
            store: Mutex::default(),
            rehearsed: Mutex::default(),
            launches: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            host_bytes: Default::default(),
            host_stream: AtomicU64::new(0),
            profile,
            first,
            real,
            nested,
            record: Mutex::default(),
        }))
    }

    /// Opens the CPU with `threads` threads; 0: as many as this process may use.
    pub fn cpu(threads: usize) -> Result<Self> {
        Ok(Self::from_backend(Box::new(cpu::Cpu::new(threads)?)))
    }

    /// Number of CUDA devices that this process sees.
    pub fn cuda_count() -> Result<usize> {
        cuda::device_count()
    }

    /// Opens the CUDA device with this number among the visible ones.
    pub fn cuda(ordinal: usize) -> Result<Self> {
        Ok(Self::from_backend(Box::new(cuda::Cuda::new(ordinal)?)))
    }

    /// Opens the first CUDA device, or the CPU with all threads if CUDA is missing or incomplete.
    pub fn auto() -> Result<Self> {
        match Self::cuda(0) {
            Err(e) if e.status.is_missing_device() => {
                log::info!("using the CPU: {e}");
                Self::cpu(0)
            }
            device => device,
        }
    }

    pub fn name(&self) -> String {
        self.0.backend.name()
    }
    /// Whether this is a stand-in device without memory, whose addresses cannot be accessed.
    fn is_empty(&self) -> bool {
        self.is_stand_in()
    }
    pub fn is_cpu(&self) -> bool {
        self.0.backend.is_cpu()
    }
    /// Number of threads of a CPU; `None` on GPUs.
    pub fn threads(&self) -> Option<usize> {
        self.0.backend.threads()
    }
    pub fn max_lanes(&self) -> usize {
        self.0.backend.max_lanes()
    }
    pub(crate) fn gpu(&self) -> Option<Gpu> {
        self.0.backend.gpu()
    }
    /// Bytes of memory of the device, free and in total, at most the limit set by `limit_memory`.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let (free, total) = self.0.backend.memory()?;
        let free = free + self.store().bytes;
        let limit = self.0.limit.load(Ordering::Relaxed);
        Ok((free.min(limit.saturating_sub(self.used().0)), total.min(limit)))
    }
    /// Limits the number of bytes that fields may take, for programs that share the device with others.
    pub fn limit_memory(&self, bytes: u64) {
        self.0.limit.store(bytes, Ordering::Relaxed);
    }
    /// Bytes that fields take at present, and the largest number of bytes since the last `reset_peak`.
    pub fn used(&self) -> (u64, u64) {
        (self.0.used.load(Ordering::Relaxed), self.0.peak.load(Ordering::Relaxed))
    }
    pub fn reset_peak(&self) {
        self.0.peak.store(self.used().0, Ordering::Relaxed);
    }
    /// Starts recording the largest number of bytes that fields take from now on, independently of `reset_peak`.
    pub fn watch_peak(&self) -> PeakWatch {
        let max = Arc::new(AtomicU64::new(self.used().0));
        self.watches().push(Arc::downgrade(&max));
        PeakWatch(max)
    }
    /// Keeps memory that fields free, so that work which repeatedly makes the same fields allocates nothing. It is
    /// returned to the system if memory runs out; work that makes large fields of other sizes afterwards calls
    /// `free_kept` before, as a CPU's host does not refuse memory that it does not have.
    pub fn keep_memory(&self) -> KeptMemory {
        self.store().keepers += 1;
        KeptMemory(self.clone())
    }
    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn empty(&self, store: &mut Store) {
        store.bytes = 0;
        for (bytes, all) in store.left.drain() {
            for ptr in all {
                // SAFETY: `alloc` returned this memory, and its only owner has given it up.
                unsafe { self.0.backend.free(ptr, bytes as u64, false) };
            }
        }
    }
    /// Bytes of fields and of memory that is kept for later ones.
    #[cfg(test)]
    pub(crate) fn held(&self) -> u64 {
        self.used().0 + self.store().bytes
    }
    /// Returns memory that is kept for later allocations to the system.
    pub fn free_kept(&self) -> Result<()> {
        self.empty(&mut self.store());
        self.0.backend.free_kept()
    }
    /// Allocates zeroed memory, from the kept memory if a piece of exactly this size is there.
    fn take(&self, bytes: usize, shared: bool) -> Result<Ptr> {
        let mut store = self.store();
        let kept = store.left.get_mut(&bytes).filter(|_| !shared).and_then(Vec::pop);
        if let Some(ptr) = kept {
            store.bytes -= bytes as u64;
            drop(store);
            // SAFETY: the memory is allocated and has this size.
            unsafe { self.0.backend.zero(ptr, bytes as u64)? };
            return Ok(ptr);
        }
        store.allocations += 1;
        let more = store.bytes > 0;
        // The lock is released first: the back end may wait for kernels and then free fields, which takes this lock.
        drop(store);
        match self.0.backend.alloc(bytes as u64, shared) {
            Err(e) if e.status == Status::OutOfMemory && more => {
                self.empty(&mut self.store());
                self.0.backend.alloc(bytes as u64, shared)
            }
            done => done,
        }
    }
    fn watches(&self) -> MutexGuard<'_, Vec<Weak<AtomicU64>>> {
        self.0.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn allocated(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.0.allocated.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub fn synchronize(&self) -> Result<()> {
        self.0.backend.synchronize()
    }
    /// Announces that the kernel launched next waits for these ranks. Until it has ended, waits of the host for the
    /// device return an error if one of these ranks fails.
    pub(crate) fn awaits(&self, ranks: &Weak<dyn Awaited>) {
        self.0.backend.awaits(ranks);
    }
    pub fn time(&self, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
        self.0.backend.time(&mut work)
    }

    /// Raises the recorded peak of memory to `used` bytes, which fields take or will take.
    fn raise_peak(&self, used: u64) {
        self.0.peak.fetch_max(used, Ordering::Relaxed);
        self.watches().retain(|watch| {
            let watch = watch.upgrade();
            watch.inspect(|max| _ = max.fetch_max(used, Ordering::Relaxed)).is_some()
        });
    }

    /// Returns an error if `bytes` bytes are not free; called before an allocation, `what` names what needs them. In a
    /// rehearsal they count as taken, so that they are part of the memory that the rehearsal finds.
    pub fn require(&self, bytes: u64, what: &str) -> Result<()> {
        if self.is_stand_in() {
            self.raise_peak(self.used().0.saturating_add(bytes));
        }
        let (free, total) = self.memory()?;
        if bytes > free {
            bail!(
                OutOfMemory,
                "{what} needs {bytes} bytes on {}: {free} of {total} bytes are available",
                self.name()
            );
        }
        Ok(())
    }

    /// Whether `bytes()` bytes are free, for a field without which the work is also possible. In a rehearsal the answer
    /// is no, as a rehearsal finds the least memory that the work needs; `bytes` is then not called.
    pub fn has_memory_for(&self, bytes: impl FnOnce() -> Result<u64>, what: &str) -> Result<bool> {
        Ok(!self.is_stand_in() && self.require(bytes()?, what).is_ok())
    }

    /// Measures the bandwidth of a plain copy of `bytes` bytes, in bytes read plus written per second; the best of
    /// `tries` measurements. The bandwidths of other kernels are compared with it.
    pub fn copy_bandwidth(&self, bytes: usize, tries: usize) -> Result<f64> {
        let (from, to) = (self.alloc(bytes)?, self.alloc(bytes)?);
        let args = args::StreamArgs { src: from.ptr(), dst: to.ptr() };
        let work = Work { n: bytes / 16, batches: 1, lanes: self.max_lanes() };
        let mut best = f64::INFINITY;
        for _ in 0..=tries {
            best = best.min(self.time(|| self.launch(kernels::StreamCopy(), &args, work))?);
        }
        Ok(2.0 * (bytes / 16 * 16) as f64 / best)
    }

    /// Allocates zeroed device memory.
    pub fn alloc(&self, bytes: usize) -> Result<Buffer> {
        self.alloc_as(bytes, false)
    }

    /// Allocates zeroed device memory that MPI or other processes will access.
    pub fn alloc_shared(&self, bytes: usize) -> Result<Buffer> {
        self.alloc_as(bytes, true)
    }

    fn alloc_as(&self, bytes: usize, shared: bool) -> Result<Buffer> {
        let (limit, used) = (self.0.limit.load(Ordering::Relaxed), self.used().0);
        if bytes as u64 > limit.saturating_sub(used) {
            bail!(
                OutOfMemory,
                "{bytes} bytes more than the {used} in use on {} exceed its limit of {limit} bytes",
                self.name()
            );
        }
        let ptr = self.take(bytes, shared)?;
        let used = self.0.used.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        self.raise_peak(used);
        self.allocated().insert(ptr.0, bytes as u64);
        let whole = Arc::new(Allocation { device: self.clone(), ptr, bytes, shared });
        Ok(Buffer { whole, ptr, bytes })
    }

    /// Sets the CUDA stream on which the host program works with its device arrays; transfers that name no stream wait
    /// for it. 0: the legacy default stream, with which this device is synchronised anyway. Ignored on CPUs.
    ///
    /// # Safety
    /// `stream` is a CUstream of the device's primary context, and exists as long as transfers are made.
    pub unsafe fn set_host_stream(&self, stream: u64) {
        self.0.host_stream.store(stream, Ordering::Relaxed);
    }

    /// Makes later kernels wait for the work of the host program on its array.
    pub(crate) fn after_host(&self, memory: &External) -> Result<()> {
        let stream = match memory.stream() {
            0 => self.0.host_stream.load(Ordering::Relaxed),
            stream => stream,
        };
        match stream {
            0 => Ok(()),
            // SAFETY: the caller that set the stream has promised that it exists.
            stream => unsafe { self.0.backend.after_stream(stream) },
        }
    }

    /// Returns an error if arrays of the host program are not in the stated memory (host or device), or have fewer than
    /// `bytes[i]` bytes.
    pub fn check_reach(&self, memory: &External, bytes: &[usize]) -> Result<()> {
        for (i, &bytes) in bytes.iter().enumerate() {
            let at = memory.ptr(i);
            match memory.location() {
                Location::Device => {
                    if let Some(found) = self.0.backend.access_error(at, bytes as u64)? {
                        refuse!(
                            BadLayout,
                            "data: array {i}",
                            expected("{bytes} bytes in memory of {}", self.name()),
                            found("{found}")
                        );
                    }
                }
                Location::Host if self.0.backend.is_device_address(at.0)? => refuse!(
                    BadLayout,
                    "data: array {i}",
                    expected("host memory"),
                    found("memory of a device"),
                    hint("where there is a layout its location says which")
                ),
                Location::Host => {}
            }
        }
        Ok(())
    }

    /// Copies pieces of the host's memory to the device, see [`Backend::upload`].
    pub(crate) fn upload(&self, pieces: &[Piece]) -> Result<()> {
        self.count_pieces(0, pieces);
        // SAFETY: only `Buffer` and transfers of fields make pieces, inside of their buffers.
        unsafe { self.0.backend.upload(pieces) }
    }
    /// Copies pieces of the device's memory to the host, see [`Backend::download`].
    pub(crate) fn download(&self, source: &mut Downloads) -> Result<()> {
        let mut counted = || source().inspect(|pieces| self.count_pieces(1, pieces));
        // SAFETY: only `Buffer` and transfers of fields make pieces, inside of their buffers.
        unsafe { self.0.backend.download(&mut counted) }
    }
    /// The call of a kernel with these arguments, after checking its fields: each must be in allocated memory of this
    /// device that holds at least one plane, with at least as many sites as a parity of the call's lattice.
    fn call<'a, K: Instance>(
        &self,
        params: &'a K::Params,
        args: &'a K::Args,
        work: Work,
    ) -> Result<Call<'a>> {
        self.check_call(K::KERNEL, work.n, &|see| args.views(see))?;
        Ok(Call::new::<K>(params.as_ref(), args, work))
    }

    /// Returns an error if a field in the arguments of a call for `n` elements is not in allocated memory or too small;
    /// `views` passes the lattice and the fields in the arguments to the function that it is given.
    fn check_call(&self, kernel: &families::Kernel, n: usize, views: Views) -> Result<()> {
        if n > i32::MAX as usize && !kernel.elements {
            bail!(Unsupported, "{}: {} sites, at most {} fit", kernel.name, n, i32::MAX);
        }
        let allocated = self.allocated();
        // Bytes of the allocation that contains an address; None if there is none.
        let holds = |at: Ptr| {
            let (&first, &bytes) = allocated.range(..=at.0).next_back()?;
            (at.0 < first + bytes.max(1)).then_some(bytes)
        };
        let (mut sites, mut wrong) = (0, None);
        views(&mut |seen| match seen {
            Seen::Geom(g) => sites = [g.x, g.y, g.z, g.t].iter().map(|&n| n as i64).product(),
            Seen::Field(field) => {
                for (at, plane) in [(field.data, field.plane_bytes), (field.norm, field.norm_bytes)]
                {
                    if at != Ptr::NULL && holds(at).is_none_or(|bytes| (bytes as i64) < plane.abs())
                    {
                        wrong = Some(format!("a plane of {plane} bytes is not in memory in use"));
                    }
                }
                if field.data != Ptr::NULL && (field.volume as i64) < sites / 2 {
                    let found = field.volume;
                    wrong = Some(format!("expected {} sites or more, found {found}", sites / 2));
                }
            }
        });
        if let Some(wrong) = wrong {
            bail!(Internal, "{}: a field of its arguments: {wrong}", kernel.name);
        }
        Ok(())
    }

    /// Runs a kernel of the table over the sites and batches of `work`.
    pub(crate) fn launch<K: Sites>(&self, kernel: K, args: &K::Args, work: Work) -> Result<()> {
        if work.n == 0 || work.batches == 0 {
            return Ok(());
        }
        let params = kernel.params();
        let call = self.call::<K>(&params, args, work)?;
        self.launches(&call);
        // SAFETY: fields fill in the arguments, with their own memory.
        let launch = || unsafe { self.0.backend.launch(&call) };
        match &self.0.profile {
            Some(profile) => profile.timed(&*self.0.backend, &call, launch),
            None => launch(),
        }
    }

    /// Runs a reduction and waits for it; returns `work.batches` x N sums. The same call always gives the same bits.
    pub(crate) fn reduce<K: Sums>(
        &self,
        kernel: K,
        args: &K::Args,
        work: Work,
    ) -> Result<Vec<f64>> {
        Ok(self.reduce_over(kernel, args, work, None)?.0)
    }

    /// Runs a reduction whose sums the GPUs of the ranks in `over` add up (None: of this rank alone); returns its sums,
    /// and the sum of the ranks' flags.
    pub(crate) fn reduce_over<K: Sums>(
        &self,
        kernel: K,
        args: &K::Args,
        work: Work,
        over: Option<&SumArgs>,
    ) -> Result<(Vec<f64>, f64)> {
        let params = kernel.params();
        self.reduce_call(&self.call::<K>(&params, args, work)?, over)
    }

    fn reduce_call(&self, call: &Call, over: Option<&SumArgs>) -> Result<(Vec<f64>, f64)> {
        let (mut out, mut flag) = (zeros(call), 0.0);
        self.launches(call);
        self.0.waits.fetch_add(1, Ordering::Relaxed);
        if call.work.n > 0 && call.work.batches > 0 {
            // SAFETY: `call` was made by `Device::call`, which has checked its fields.
            flag =
                self.profiled(call, || unsafe { self.0.backend.reduce(call, &mut out, over) })?;
        }
        Ok((out, flag))
    }

    /// Starts a reduction without waiting for it; there must be at least one site and batch.
    pub(crate) fn start<K: Sums>(
        &self,
        kernel: K,
        args: &K::Args,
        work: Work,
    ) -> Result<Reduction> {
        self.start_over(kernel, args, work, None)
    }

    /// Starts a reduction as `reduce_over` does, without waiting for its results.
    pub(crate) fn start_over<K: Sums>(
        &self,
        kernel: K,
        args: &K::Args,
        work: Work,
        over: Option<&SumArgs>,
    ) -> Result<Reduction> {
        let params = kernel.params();
        let call = self.call::<K>(&params, args, work)?;
        self.launches(&call);
        // SAFETY: `call` was made by `Device::call`, which has checked its fields.
        self.profiled(&call, || unsafe { self.0.backend.start(&call, over) })
    }

    /// For a stand-in device: the made-up results of its reductions. `None` on other devices.
    fn numbers(&self) -> Option<Arc<Mutex<Numbers>>> {
        self.0.backend.numbers()
    }

    fn launches(&self, call: &Call) {
        self.note(call);
        self.0.launches.fetch_add(1, Ordering::Relaxed);
        if let Some(first) = &self.0.first {
            first.launched(call);
        }
    }

    /// Runs `work`, which makes this kernel call, and records its time if `PLAQ_PROFILE` is set.
    fn profiled<T>(&self, call: &Call, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        match &self.0.profile {
            Some(profile) => profile.timed(&*self.0.backend, call, work),
            None => work(),
        }
    }

    /// Waits for a reduction that was started; returns its sums, and the sum of the ranks' flags.
    pub(crate) fn finish(&self, started: &Reduction) -> Result<(Vec<f64>, f64)> {
        self.0.waits.fetch_add(1, Ordering::Relaxed);
        match started {
            Reduction::Done(sums, flag) => Ok((sums.clone(), *flag)),
            Reduction::EnqueuedSums(posted) => self.0.backend.finish(posted),
        }
    }
    /// Copies bytes within the device's memory.
    ///
    /// # Safety
    /// See [`Backend::copy`].
    unsafe fn copy(&self, to: Ptr, from: Ptr, bytes: usize) -> Result<()> {
        // SAFETY: the caller guarantees what `Backend::copy` requires.
        unsafe { self.0.backend.copy(to, from, bytes as u64) }
    }
}

/// A zero for every number that a reduction returns: numbers per batch x batches.
fn zeros(call: &Call) -> Vec<f64> {
    vec![0.0; call.numbers().0 * call.work.batches]
}
