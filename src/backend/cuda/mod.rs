//! The CUDA back end: kernels are compiled at run time for the device and the lattice, there is one stream per
//! device, and reductions have a fixed order of summation.

mod cache;
mod compiling;
mod copy_stream;
mod cublas;
mod cufft;
mod driver;
mod host;
mod image;
mod job_queue;
mod memory;
mod messages;
mod modules;
mod nccl;
mod nvrtc;
mod shapes;
mod share;
mod source;
mod staging;
mod sums;
mod trials;
mod tuner;
mod waits;

use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::{Mutex, MutexGuard, Weak};

pub use cache::Cache;
pub use compiling::share_machine;
pub use modules::in_parallel;
pub use nccl::{in_background, Nccl, Ring};
pub use nvrtc::{Compiled, Nvrtc, Usage};
pub use shapes::{candidates, default_shape};
pub use source::{LaunchShape, Source};

use copy_stream::CopyStream;
use driver::{cu, Current, Driver, Handle, LaunchAttribute, LaunchConfig, STREAM_SERIALIZATION};
use memory::Memory;
use modules::{Loaded, LoadedKernel, Modules};
use shapes::sum_blocks;
use staging::Staging;
use sums::Sums;
use waits::{Awaitable, WatchedRanks};

use super::args::SumArgs;
use super::fourier::{FourierShape, Plan};
use super::products::Products;
use super::{
    Awaited, Backend, Call, DeviceComm, Downloads, EnqueuedSums, Gpu, Piece, Place, Ptr, Reduction,
    RequestedKernel, Work,
};
use crate::bail;
use crate::error::Result;

/// Largest number of batches in a launch: CUDA's limit on gridDim.y.
const MAX_BATCHES: usize = 65535;

pub struct Cuda {
    driver: &'static Driver,
    device: c_int,
    ordinal: usize,
    context: Handle,
    stream: Handle,
    name: String,
    multiprocessors: usize,
    /// Size of the second-level cache in bytes.
    cache: u64,
    /// Whether a kernel may start while the previous one still runs.
    overlaps: bool,
    both_parities: bool,
    modules: Option<Modules>,
    /// The device memory; None before the stream is made.
    memory: Option<Memory>,
    staging: Mutex<Option<Staging>>,
    copy_stream: Mutex<Option<CopyStream>>,
    sums: Mutex<Sums>,
    multiplier: cublas::Multiplier,
    waits: WatchedRanks,
    /// Events around a timed launch; the outer two belong to `time`.
    events: [Handle; 4],
}
// SAFETY: the driver API is thread safe; what this code changes is behind locks.
unsafe impl Send for Cuda {}
// SAFETY: the driver API is thread safe; what this code changes is behind locks.
unsafe impl Sync for Cuda {}

/// Number of CUDA devices of this machine; an error says what is missing.
pub fn device_count() -> Result<usize> {
    let mut count = 0;
    let driver = Driver::get()?;
    cu!(driver, device_count(&mut count), "counting CUDA devices")?;
    Ok(count.max(0) as usize)
}

impl Cuda {
    /// Opens the device with this number among the visible ones. Its primary context is shared with the host program,
    /// so that device pointers are valid in both.
    pub fn new(ordinal: usize) -> Result<Cuda> {
        let driver = Driver::get()?;
        let count = device_count()?;
        if ordinal >= count {
            bail!(
                NoDevice,
                sentence("device {ordinal}: {count} CUDA devices are visible"),
                hint("check nvidia-smi and CUDA_VISIBLE_DEVICES")
            );
        }
        Nvrtc::get()?;
        let mut device = 0;
        cu!(driver, device_get(&mut device, ordinal as c_int), "opening CUDA device {ordinal}")?;
        let mut text = [0 as c_char; 128];
        cu!(driver, device_name(text.as_mut_ptr(), 127, device), "asking for a device's name")?;
        // SAFETY: the driver ends the name with a zero byte within the 127 it may write.
        let name = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned();
        let attribute = |which| {
            let mut value = 0;
            cu!(driver, device_attribute(&mut value, which, device), "asking what {name} has")
                .map(|()| value)
        };
        let arch = 10 * attribute(driver::ATTRIBUTE_MAJOR)? + attribute(driver::ATTRIBUTE_MINOR)?;
        let multiprocessors = attribute(driver::ATTRIBUTE_MULTIPROCESSORS)?.max(1) as usize;
        let cache = attribute(driver::ATTRIBUTE_CACHE)?.max(0) as u64;
        let pools = attribute(driver::ATTRIBUTE_MEMORY_POOLS)? != 0;
        // GPUs before architecture 9.0 lack the instructions for this (plaq_dialect.h). With `PLAQ_OVERLAP=off` kernels
        // always run one after the other.
        let overlaps = arch >= 90 && std::env::var("PLAQ_OVERLAP").map_or(true, |v| v != "off");
        // With `PLAQ_PARITIES=apart` there is a launch for each parity.
        let both_parities = std::env::var("PLAQ_PARITIES").map_or(true, |v| v != "apart");
        let modules = Modules::new(driver, name.clone(), arch)?;
        let none = std::ptr::null_mut();
        let mut context = none;
        cu!(driver, primary_retain(&mut context, device), "starting {name}")?;
        // From here on, drop releases what has been made.
        let mut cuda = Cuda {
            driver,
            device,
            ordinal,
            context,
            stream: none,
            name,
            multiprocessors,
            cache,
            overlaps,
            both_parities,
            modules: Some(modules),
            memory: None,
            staging: Mutex::new(None),
            copy_stream: Mutex::new(None),
            sums: Mutex::new(Sums::new(driver)),
            multiplier: cublas::Multiplier::default(),
            waits: WatchedRanks::default(),
            events: [none; 4],
        };
        let _current = cuda.enter()?;
        // Not a non-blocking stream: it stays ordered with the host program's default stream.
        cu!(driver, stream_create(&mut cuda.stream, 0), "creating a stream")?;
        for event in &mut cuda.events {
            cu!(driver, event_create(event, 0), "creating an event")?;
        }
        cuda.memory = Some(Memory::new(driver, device, cuda.stream, pools)?);
        Ok(cuda)
    }

    fn enter(&self) -> Result<Current> {
        Current::enter(self.driver, self.context)
    }

    fn modules(&self) -> &Modules {
        self.modules.as_ref().expect("present until drop")
    }

    fn device_memory(&self) -> &Memory {
        self.memory.as_ref().expect("present until drop")
    }

    fn staging<'a>(&self, held: &'a mut MutexGuard<Option<Staging>>) -> Result<&'a mut Staging> {
        if held.is_none() {
            self.settle()?;
            **held = Some(Staging::new(self.driver, self.context, self.stream)?);
        }
        Ok(held.as_mut().expect("just made"))
    }

    /// Calls `work` with the streams for copies that run concurrently with kernels; they are made at the first call.
    fn copy_stream<T>(&self, work: impl FnOnce(&mut CopyStream) -> Result<T>) -> Result<T> {
        let _current = self.enter()?;
        let mut held = self.copy_stream.lock().unwrap_or_else(|e| e.into_inner());
        if held.is_none() {
            *held = Some(CopyStream::new(self.driver, self.stream)?);
        }
        work(held.as_mut().expect("just made"))
    }

    /// Waits until the driver reports `wanted` (a stream or an event) as complete; if a rank for which kernels wait has
    /// failed, the wait ends with an error.
    fn wait_for(&self, wanted: Awaitable) -> Result<()> {
        self.waits.wait_for(self.driver, wanted, &self.name)
    }

    /// Waits until no kernel waits for other ranks. This is needed before driver calls that may themselves wait for
    /// kernels, as such a call could not be ended if a rank has failed.
    fn settle(&self) -> Result<()> {
        if !self.waits.any() {
            return Ok(());
        }
        self.synchronize()
    }

    fn elapsed(&self, start: Handle, stop: Handle) -> Result<f64> {
        let mut milliseconds = 0f32;
        self.wait_for(Awaitable::Event(stop))?;
        cu!(self.driver, event_elapsed(&mut milliseconds, start, stop), "reading a timer")?;
        Ok(milliseconds as f64 * 1e-3)
    }

    fn enqueue(
        &self,
        call: &Call,
        kernel: &Loaded,
        grid_x: usize,
        sums: Option<&SumArgs>,
    ) -> Result<()> {
        // Kernels that count elements in 32 bits read the lower half of this number.
        let mut n = call.work.n as u64;
        let together = call.kernel.threads_per_site(call.work.batches).is_some();
        let batches = if together { 1 } else { call.work.batches };
        let grid = match sums {
            None => [grid_x as u32, batches as u32, 1],
            // In a reduction batches are the first dimension of the grid of blocks (kernels/sums.h).
            Some(_) => [batches as u32, grid_x as u32, 1],
        };
        let sums = sums.map_or(std::ptr::null(), |sums| sums as *const SumArgs);
        let mut pointers: [*mut c_void; 3] =
            [call.args.cast_mut().cast(), (&mut n as *mut u64).cast(), sums.cast_mut().cast()];
        // With this attribute blocks may start while the last blocks of the previous kernel still run (plaq_dialect.h).
        let early = LaunchAttribute { id: STREAM_SERIALIZATION, value: 1, rest: [0; 15] };
        let config = LaunchConfig {
            grid,
            block: [kernel.shape.block, 1, 1],
            shared_bytes: 0,
            stream: self.stream,
            attributes: &early,
            count: (self.overlaps && call.kernel.overlapping) as u32,
        };
        cu!(
            self.driver,
            launch_kernel(&config, kernel.function, pointers.as_mut_ptr(), std::ptr::null_mut(),),
            "launching {} on {}",
            call.symbol(),
            self.name
        )
    }

    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn enqueue_sums(&self, call: &Call, over: Option<&SumArgs>) -> Result<EnqueuedSums> {
        let ((width, _), kernel) = (call.numbers(), self.kernel(call)?);
        let Work { n, batches, .. } = call.work;
        let kernel = kernel.best();
        let blocks = sum_blocks(call.kernel, kernel.shape, self.multiprocessors, n, batches);
        // The lock keeps launches in the order of their tags.
        let mut sums = self.sums();
        let (args, posted) =
            sums.reserve(blocks, batches, width, self.stream, over, self.waits.mark())?;
        self.enqueue(call, kernel, blocks, Some(&args))?;
        Ok(posted)
    }

    /// Provides sums that are 0, for reductions over all ranks in which this rank has no elements.
    fn enqueue_zeros(&self, call: &Call) -> Result<EnqueuedSums> {
        let ((width, _), batches) = (call.numbers(), call.work.batches);
        let mark = self.waits.mark();
        let (args, posted) = self.sums().reserve(1, batches, width, self.stream, None, mark)?;
        let bytes = 8 * batches * width;
        cu!(self.driver, memset(args.totals.0, 0, bytes, self.stream), "clearing sums")?;
        Ok(posted)
    }

    fn enqueue_sites(&self, call: &Call, kernel: &Loaded) -> Result<()> {
        let threads = call.work.n * call.kernel.threads_per_site(call.work.batches).unwrap_or(1);
        self.enqueue(call, kernel, threads.div_ceil(kernel.shape.block as usize), None)
    }

    /// The loaded kernel for a call; at its first call the kernel is compiled.
    fn kernel(&self, call: &Call) -> Result<std::sync::Arc<LoadedKernel>> {
        let batches = call.work.batches;
        if batches > MAX_BATCHES {
            bail!(
                Unsupported,
                "{}: {batches} batches, a CUDA launch takes at most {MAX_BATCHES}",
                call.symbol()
            );
        }
        self.modules().get(call, || self.settle())
    }

    /// Launches a kernel, waits for it and returns its time in seconds; only one kernel is timed at a time.
    fn launch_timed(&self, call: &Call, kernel: &Loaded) -> Result<f64> {
        let [start, stop, ..] = self.events;
        cu!(self.driver, event_record(start, self.stream), "starting a timer")?;
        self.enqueue_sites(call, kernel)?;
        cu!(self.driver, event_record(stop, self.stream), "stopping a timer")?;
        self.elapsed(start, stop)
    }
}

impl Backend for Cuda {
    fn name(&self) -> String {
        format!("{} (cuda {})", self.name, self.ordinal)
    }
    fn is_cpu(&self) -> bool {
        false
    }
    fn max_lanes(&self) -> usize {
        1
    }
    fn gpu(&self) -> Option<Gpu> {
        let (multiprocessors, cache) = (self.multiprocessors, self.cache);
        Some(Gpu { multiprocessors, cache, both_parities: self.both_parities })
    }
    fn memory(&self) -> Result<(u64, u64)> {
        let _current = self.enter()?;
        let (mut free, mut total) = (0, 0);
        cu!(self.driver, mem_info(&mut free, &mut total), "asking {} for its memory", self.name)?;
        Ok((free as u64 + self.device_memory().kept()?, total as u64))
    }
    fn free_kept(&self) -> Result<()> {
        let _current = self.enter()?;
        self.synchronize()?;
        self.device_memory().trim()
    }
    fn alloc(&self, bytes: u64, shared: bool) -> Result<Ptr> {
        let _current = self.enter()?;
        let size = bytes.max(1) as usize;
        let ptr =
            self.device_memory().alloc(size, shared, || self.settle(), || self.synchronize())?;
        let cleared = cu!(self.driver, memset(ptr, 0, size, self.stream), "clearing memory");
        if cleared.is_err() {
            // SAFETY: the memory has just been allocated with this size.
            unsafe { self.free(Ptr(ptr), bytes, shared) };
        }
        cleared.map(|()| Ptr(ptr))
    }
    unsafe fn free(&self, ptr: Ptr, _bytes: u64, shared: bool) {
        if let Ok(_current) = self.enter() {
            if shared {
                let _ = self.settle();
            }
            self.device_memory().free(ptr.0, shared);
        }
    }
    unsafe fn upload(&self, pieces: &[Piece]) -> Result<()> {
        let _current = self.enter()?;
        let mut held = self.staging.lock().unwrap_or_else(|e| e.into_inner());
        self.staging(&mut held)?.upload(pieces, &self.waits)
    }
    unsafe fn download(&self, source: &mut Downloads) -> Result<()> {
        let _current = self.enter()?;
        let mut held = self.staging.lock().unwrap_or_else(|e| e.into_inner());
        self.staging(&mut held)?.download(source, &self.waits)
    }
    unsafe fn copy(&self, dst: Ptr, src: Ptr, bytes: u64) -> Result<()> {
        let _current = self.enter()?;
        let bytes = bytes as usize;
        cu!(self.driver, copy_on_device(dst.0, src.0, bytes, self.stream), "copying {bytes} bytes")
    }
    unsafe fn zero(&self, dst: Ptr, bytes: u64) -> Result<()> {
        let _current = self.enter()?;
        cu!(self.driver, memset(dst.0, 0, bytes as usize, self.stream), "clearing {bytes} bytes")
    }

    unsafe fn share(&self, ptr: Ptr) -> Result<Vec<u8>> {
        let _current = self.enter()?;
        share::share(self, ptr)
    }
    unsafe fn attach(&self, shared: &[u8]) -> Result<(Ptr, Ptr)> {
        let _current = self.enter()?;
        share::attach(self, shared)
    }
    unsafe fn detach(&self, base: Ptr) {
        if let Ok(_current) = self.enter() {
            let _ = self.settle();
            share::detach(self, base);
        }
    }
    fn mapped(&self, bytes: usize) -> Result<(u64, Ptr)> {
        let _current = self.enter()?;
        share::mapped(self.driver, bytes)
    }
    unsafe fn unmap(&self, host: u64) {
        if let Ok(_current) = self.enter() {
            let _ = self.settle();
            share::unmap(self.driver, host);
        }
    }

    fn identity(&self) -> Result<[u8; 16]> {
        Nccl::get()?;
        let mut uuid = [0; 16];
        cu!(self.driver, device_uuid(&mut uuid, self.device), "asking what {} is", self.name)?;
        Ok(uuid)
    }
    fn rendezvous(&self) -> Result<Vec<u8>> {
        let _current = self.enter()?;
        Nccl::get()?.rendezvous()
    }
    fn connect(
        &self,
        rendezvous: &[u8],
        place: &Place,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Box<dyn DeviceComm>> {
        let _current = self.enter()?;
        Ok(Box::new(messages::Messages::connect(self, rendezvous, place, check)?))
    }

    fn access_error(&self, at: Ptr, bytes: u64) -> Result<Option<String>> {
        let _current = self.enter()?;
        Cuda::access_error(self, at, bytes)
    }
    fn is_device_address(&self, address: u64) -> Result<bool> {
        let _current = self.enter()?;
        Cuda::is_device_address(self, address)
    }
    unsafe fn after_stream(&self, stream: u64) -> Result<()> {
        let _current = self.enter()?;
        Cuda::after_stream(self, stream)
    }

    fn inside(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let _current = self.enter()?;
        work()
    }
    unsafe fn start_download(&self, pieces: &[(u64, Ptr, usize)]) -> Result<()> {
        self.copy_stream(|copy_stream| copy_stream.start_download(pieces))
    }
    fn downloaded(&self, pieces: usize) -> Result<bool> {
        let done = self.copy_stream(|copy_stream| copy_stream.downloaded(pieces))?;
        if !done {
            self.waits.polled()?;
        }
        Ok(done)
    }
    unsafe fn start_upload(&self, piece: (Ptr, u64, usize)) -> Result<()> {
        self.copy_stream(|copy_stream| copy_stream.start_upload(piece))
    }
    fn after_uploads(&self) -> Result<()> {
        self.copy_stream(|copy_stream| copy_stream.after_uploads())
    }

    unsafe fn launch(&self, call: &Call) -> Result<()> {
        let _current = self.enter()?;
        let kernel = self.kernel(call)?;
        match self.modules().turn(call, &kernel, || self.settle())? {
            Some(which) => {
                let seconds =
                    self.modules().alone(|| self.launch_timed(call, kernel.shape(which)))?;
                self.modules().timed(call, &kernel, which, seconds);
                Ok(())
            }
            None => self.enqueue_sites(call, kernel.best()),
        }
    }

    unsafe fn reduce(&self, call: &Call, sums: &mut [f64], over: Option<&SumArgs>) -> Result<f64> {
        let _current = self.enter()?;
        let posted = self.enqueue_sums(call, over)?;
        self.sums().wait(&posted, sums, self.stream, &self.waits)
    }

    unsafe fn start(&self, call: &Call, over: Option<&SumArgs>) -> Result<Reduction> {
        let _current = self.enter()?;
        self.enqueue_sums(call, over).map(Reduction::EnqueuedSums)
    }
    unsafe fn start_across(
        &self,
        call: &Call,
        flag: f64,
        ranks: &dyn DeviceComm,
    ) -> Result<Reduction> {
        let _current = self.enter()?;
        let mut posted = match call.work.n {
            0 => self.enqueue_zeros(call)?,
            _ => self.enqueue_sums(call, None)?,
        };
        let n = self.sums().add_flag(&posted, flag, self.stream)?;
        ranks.sum(posted.totals, n)?;
        self.sums().copy(&mut posted, self.stream)?;
        Ok(Reduction::EnqueuedSums(posted))
    }

    fn prepare(&self, asked: &RequestedKernel, likely: bool) {
        self.modules().prepare(asked, likely);
    }
    fn is_compiled(&self, asked: &RequestedKernel) -> bool {
        self.modules().is_compiled(asked)
    }
    fn kernels(&self) -> u64 {
        self.modules().count()
    }

    fn finish(&self, posted: &EnqueuedSums) -> Result<(Vec<f64>, f64)> {
        let _current = self.enter()?;
        let mut sums = vec![0.0; posted.batches * posted.width];
        let flag = self.sums().wait(posted, &mut sums, self.stream, &self.waits)?;
        Ok((sums, flag))
    }

    fn fourier(&self, shape: FourierShape) -> Result<Box<dyn Plan>> {
        let _current = self.enter()?;
        Ok(Box::new(cufft::Plans::new(self, shape)?))
    }

    fn multiplies(&self) -> bool {
        cublas::Cublas::get().is_some()
    }
    unsafe fn multiply(&self, all: &[Products]) -> Result<bool> {
        let Some(cublas) = cublas::Cublas::get() else { return Ok(false) };
        let _current = self.enter()?;
        self.settle()?;
        self.multiplier.launch(cublas, self.stream, all)
    }

    fn synchronize(&self) -> Result<()> {
        let _current = self.enter()?;
        let mark = self.waits.mark();
        self.wait_for(Awaitable::Stream(self.stream))?;
        self.waits.done(mark);
        Ok(())
    }
    fn awaits(&self, ranks: &Weak<dyn Awaited>) {
        self.waits.add(ranks);
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let _current = self.enter()?;
        let [.., start, stop] = self.events;
        cu!(self.driver, event_record(start, self.stream), "starting a timer")?;
        work()?;
        cu!(self.driver, event_record(stop, self.stream), "stopping a timer")?;
        self.elapsed(start, stop)
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        if let Ok(_current) = self.enter() {
            let d = self.driver;
            let _ = cu!(d, stream_synchronize(self.stream), "");
            *self.staging.get_mut().unwrap_or_else(|e| e.into_inner()) = None;
            *self.copy_stream.get_mut().unwrap_or_else(|e| e.into_inner()) = None;
            self.sums.get_mut().unwrap_or_else(|e| e.into_inner()).clear();
            self.multiplier.end();
            self.memory = None;
            if let Some(mut modules) = self.modules.take() {
                modules.clear();
            }
            for event in self.events.into_iter().filter(|e| !e.is_null()) {
                let _ = cu!(d, event_destroy(event), "");
            }
            if !self.stream.is_null() {
                let _ = cu!(d, stream_destroy(self.stream), "");
            }
        }
        let _ = cu!(self.driver, primary_release(self.device), "");
    }
}
