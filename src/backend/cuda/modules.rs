//! The kernels that are loaded on one device. A kernel is compiled or read from the cache at its first call and is then
//! found by its symbol and constants. If the launch shape may vary, other shapes are tried once it has taken much time.

use std::collections::HashMap;
use std::ffi::CString;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};
use std::time::Instant;

use super::cache::Cache;
use super::compiling;
use super::driver::{cu, Driver, Handle, FUNCTION_LOCAL_BYTES, FUNCTION_REGISTERS};
use super::job_queue::JobQueue;
use super::nvrtc::{Compiled, Nvrtc};
use super::shapes::candidates;
use super::source::{LaunchShape, Source};
use super::trials::{Purpose, Trial};
use super::tuner::Tuner;
use crate::backend::args::Specs;
use crate::backend::{Call, RequestedKernel};
use crate::error::Result;

/// A kernel that can be launched.
pub struct Loaded {
    module: Handle,
    pub function: Handle,
    pub shape: LaunchShape,
}
// SAFETY: module and function handles may be used from every thread of the process.
unsafe impl Send for Loaded {}
// SAFETY: module and function handles may be used from every thread of the process.
unsafe impl Sync for Loaded {}

/// A loaded kernel with its first launch shape and, if the shape may vary, with the other shapes that are tried.
pub struct LoadedKernel {
    first: Loaded,
    trial: Option<Mutex<Trial>>,
    compiled: OnceLock<Vec<(LaunchShape, Compiled)>>,
    others: OnceLock<Vec<Loaded>>,
    best: AtomicUsize,
}

impl LoadedKernel {
    /// The kernel in shape number `which`: 0 is the first one.
    pub fn shape(&self, which: usize) -> &Loaded {
        match (which, self.others.get()) {
            (1.., Some(others)) => &others[which - 1],
            _ => &self.first,
        }
    }
    pub fn best(&self) -> &Loaded {
        self.shape(self.best.load(Ordering::Acquire))
    }
}

/// Identifies a loaded kernel; tuned kernels also by their amount of work.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    symbol: String,
    specs: Specs,
    work: (usize, usize),
}

impl Key {
    fn new(call: &Call) -> Key {
        let tuned = call.kernel.tuned;
        let work = if tuned { (call.work.n, call.work.batches) } else { (0, 0) };
        Key { symbol: call.symbol(), specs: call.specs().clone(), work }
    }
}

impl Hash for Key {
    // The symbol determines the names of the constants except for those left out, so that hashing values is enough.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.symbol.hash(state);
        self.work.hash(state);
        self.specs.iter().for_each(|(_, value)| value.hash(state));
    }
}

pub struct Modules {
    driver: &'static Driver,
    nvrtc: &'static Nvrtc,
    device: String,
    arch: i32,
    cache: Cache,
    tuner: Tuner,
    loaded: RwLock<HashMap<Key, Arc<LoadedKernel>>>,
    /// Kernels that are compiled ahead of their launch.
    requested: JobQueue<blake3::Hash, Result<Ready>>,
    /// Locked by the thread that loads or times kernels.
    loading: Mutex<()>,
    /// A queue in which other shapes are compiled, one kernel after another.
    other_shapes: JobQueue<blake3::Hash, ()>,
}

impl Modules {
    pub fn new(driver: &'static Driver, device: String, arch: i32) -> Result<Modules> {
        let cache = Cache::from_env();
        Ok(Modules {
            driver,
            nvrtc: Nvrtc::get()?,
            device,
            arch,
            tuner: Tuner::from_env(&cache),
            cache,
            loaded: RwLock::default(),
            requested: JobQueue::new(compiling::threads()),
            loading: Mutex::default(),
            other_shapes: JobQueue::new(1),
        })
    }

    /// The kernel for a call.
    pub fn get(&self, call: &Call, settle: impl Fn() -> Result<()>) -> Result<Arc<LoadedKernel>> {
        let key = Key::new(call);
        if let Some(hit) = self.find(&key) {
            return Ok(hit);
        }
        // Several threads may compile at the same time; a kernel that several need is compiled by one of them (Cache).
        let (shape, compiled) = self.compile(call)?;
        let _turn = self.loading.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(hit) = self.find(&key) {
            return Ok(hit);
        }
        // The driver may wait for kernels before it loads another one.
        settle()?;
        let first = self.load(&key.symbol, shape, &compiled)?;
        let kept = Arc::new(LoadedKernel {
            first,
            trial: self.trial(call),
            compiled: OnceLock::new(),
            others: OnceLock::new(),
            best: AtomicUsize::new(0),
        });
        self.loaded.write().unwrap_or_else(|e| e.into_inner()).insert(key, kept.clone());
        Ok(kept)
    }

    /// The trial of a kernel whose shape may vary, as long as its best shape is not known.
    fn trial(&self, call: &Call) -> Option<Mutex<Trial>> {
        let patience = self.tuner.patience(call.kernel)?;
        let all = candidates(call.kernel, call.params);
        if all.len() == 1 || self.tuner.find(&self.tune_key(call), &all).is_some() {
            return None;
        }
        Some(Mutex::new(Trial::new(patience)))
    }

    /// The shape with which this launch is to be timed; None: it is not timed.
    pub fn turn(
        &self,
        call: &Call,
        kept: &Arc<LoadedKernel>,
        settle: impl Fn() -> Result<()>,
    ) -> Result<Option<usize>> {
        let Some(trial) = &kept.trial else { return Ok(None) };
        let mut trial = lock(trial);
        if trial.waits() {
            let (Some(compiled), Ok(_turn)) = (kept.compiled.get(), self.loading.try_lock()) else {
                return Ok(None);
            };
            settle()?;
            let symbol = call.symbol();
            let load =
                |(shape, compiled): &(LaunchShape, Compiled)| self.load(&symbol, *shape, compiled);
            let others = compiled.iter().map(load).collect::<Result<Vec<_>>>()?;
            trial.begin(1 + others.len());
            let _ = kept.others.set(others);
        }
        Ok(match trial.next((call.work.n, call.work.batches)) {
            Purpose::Work => None,
            Purpose::Time(which) => Some(which),
            Purpose::Compile => {
                self.compile_behind(call, kept);
                None
            }
        })
    }

    /// Records the time of a launch with one of the shapes.
    pub fn timed(&self, call: &Call, kept: &LoadedKernel, which: usize, seconds: f64) {
        let Some(trial) = &kept.trial else { return };
        let amount = (call.work.n, call.work.batches);
        let Some((best, least)) = lock(trial).timed(amount, which, seconds) else { return };
        kept.best.store(best, Ordering::Release);
        let shape = kept.best().shape;
        log::debug!("{}: {shape:?} is the fastest, {:.2} us", call.symbol(), least * 1e6);
        self.tuner.store(self.tune_key(call), shape, least);
    }

    /// Calls `work`, which uses the timers, while no other thread uses them.
    pub fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let _turn = lock(&self.loading);
        work()
    }

    fn compile_behind(&self, call: &Call, kept: &Arc<LoadedKernel>) {
        let others = candidates(call.kernel, call.params).into_iter();
        let sources: Vec<(LaunchShape, Source)> = others
            .filter(|shape| *shape != kept.first.shape)
            .map(|shape| (shape, Source::new(call.kernel, call.params, call.specs(), shape)))
            .collect();
        let (nvrtc, arch, cache) = (self.nvrtc, self.arch, self.cache.clone());
        let Some((_, first)) = sources.first() else { return };
        let key = first.hash(arch, nvrtc.version);
        // A weak pointer: if the device is gone, the other shapes are not needed.
        let kept = Arc::downgrade(kept);
        self.other_shapes.submit(key, false, move || {
            let mut all = Vec::new();
            for (shape, source) in sources {
                if kept.strong_count() == 0 || compiling::check_running().is_err() {
                    return;
                }
                let key = source.hash(arch, nvrtc.version);
                match cache.get_or_compile(&key, || nvrtc.compile(&source, arch)) {
                    Ok((compiled, _)) => all.push((shape, compiled)),
                    Err(e) => log::debug!("a shape that was to be tried: {e}"),
                }
            }
            if let Some(kept) = kept.upgrade() {
                _ = kept.compiled.set(all);
            }
        });
    }

    /// Number of kernels loaded so far.
    pub fn count(&self) -> u64 {
        self.loaded.read().unwrap_or_else(|e| e.into_inner()).len() as u64
    }

    fn find(&self, key: &Key) -> Option<Arc<LoadedKernel>> {
        self.loaded.read().unwrap_or_else(|e| e.into_inner()).get(key).cloned()
    }

    /// The shape with which a kernel starts: the fastest known one, or its default.
    fn shape(&self, call: &Call) -> LaunchShape {
        let all = candidates(call.kernel, call.params);
        let known = || self.tuner.find(&self.tune_key(call), &all);
        let known = if self.tuner.is_off() || all.len() == 1 { None } else { known() };
        known.unwrap_or(all[0])
    }

    /// A key that names the device, the kernel with its constants and, for a tuned one, sources and amount of work.
    fn tune_key(&self, call: &Call) -> String {
        let any = LaunchShape { block: 0, min_blocks: 0 };
        let source = Source::new(call.kernel, call.params, call.specs(), any);
        if !call.kernel.tuned {
            let hash = source.text_hash().to_hex();
            return format!("{} {} {}", self.device, source.symbol, &hash[..16]);
        }
        let hash = source.hash(self.arch, self.nvrtc.version).to_hex();
        let (n, batches) = (call.work.n, call.work.batches);
        format!("{} {} {n}x{batches} {}", self.device, source.symbol, &hash[..16])
    }

    /// Compiles the kernel of a call in the shape with which it starts.
    fn compile(&self, call: &Call) -> Result<(LaunchShape, Compiled)> {
        let start = Instant::now();
        let shape = self.shape(call);
        let source = Source::new(call.kernel, call.params, call.specs(), shape);
        let key = source.hash(self.arch, self.nvrtc.version);
        let ready = self.requested.take(&key);
        let (compiled, seconds) =
            ready.unwrap_or_else(|| one(self.nvrtc, &self.cache, self.arch, &key, &source))?;
        if let Some(seconds) = seconds {
            log::info!(
                "compiled {} for {} (sm_{}) in {seconds:.2} s, waited {:.2} s",
                call.symbol(),
                self.device,
                self.arch,
                start.elapsed().as_secs_f64()
            );
        }
        Ok((shape, compiled))
    }

    /// The source of a kernel that is not loaded yet; None if it is.
    fn to_load(&self, asked: &RequestedKernel) -> Option<(Source, blake3::Hash)> {
        let call = Call::known(asked.kernel, &asked.params, asked.specs.clone(), asked.work);
        if self.find(&Key::new(&call)).is_some() {
            return None;
        }
        let source = Source::new(call.kernel, call.params, call.specs(), self.shape(&call));
        let key = source.hash(self.arch, self.nvrtc.version);
        Some((source, key))
    }

    /// Whether a kernel was loaded, or is in the cache.
    pub fn is_compiled(&self, asked: &RequestedKernel) -> bool {
        self.to_load(asked).is_none_or(|(_, key)| self.cache.has(&key))
    }

    /// Starts to compile a kernel that will be called; `likely`: it will perhaps be called.
    pub fn prepare(&self, asked: &RequestedKernel, likely: bool) {
        let Some((source, key)) = self.to_load(asked) else { return };
        let (nvrtc, cache, arch) = (self.nvrtc, self.cache.clone(), self.arch);
        self.requested.submit(key, likely, move || one(nvrtc, &cache, arch, &key, &source));
    }

    fn load(&self, symbol: &str, shape: LaunchShape, compiled: &Compiled) -> Result<Loaded> {
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        let image = compiled.cubin.as_ptr().cast();
        cu!(self.driver, module_load(&mut module, image), "loading kernel {symbol}")?;
        let loaded = Loaded { module, function, shape };
        let name = CString::new(symbol).expect("symbols are identifiers");
        let found = cu!(
            self.driver,
            module_function(&mut function, module, name.as_ptr()),
            "finding kernel {symbol} in its module"
        );
        if let Err(e) = found {
            self.unload(&loaded);
            return Err(e);
        }
        let attribute = |which| {
            let mut value = 0;
            let _ = cu!(self.driver, function_attribute(&mut value, which, function), "");
            value
        };
        log::debug!(
            "{symbol}: block {}, {} blocks, {} registers, {} local bytes",
            shape.block,
            shape.min_blocks,
            attribute(FUNCTION_REGISTERS),
            attribute(FUNCTION_LOCAL_BYTES)
        );
        Ok(Loaded { function, ..loaded })
    }

    fn unload(&self, loaded: &Loaded) {
        let _ = cu!(self.driver, module_unload(loaded.module), "unloading a kernel");
    }

    /// Unloads everything; the context must be current.
    pub fn clear(&mut self) {
        let loaded = std::mem::take(self.loaded.get_mut().unwrap_or_else(|e| e.into_inner()));
        for kept in loaded.values() {
            self.unload(&kept.first);
            kept.others.get().into_iter().flatten().for_each(|l| self.unload(l));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// A compiled kernel, with the seconds of its compilation unless it was in the cache.
type Ready = (Compiled, Option<f64>);

fn one(
    nvrtc: &Nvrtc,
    cache: &Cache,
    arch: i32,
    key: &blake3::Hash,
    source: &Source,
) -> Result<Ready> {
    let mut seconds = None;
    compiling::check_running()?;
    let (compiled, _) = cache.get_or_compile(key, || {
        let start = Instant::now();
        nvrtc.compile(source, arch).inspect(|_| seconds = Some(start.elapsed().as_secs_f64()))
    })?;
    Ok((compiled, seconds))
}

/// Runs `work` for every job on as many threads as there are cores; results are in the order of the jobs.
pub fn in_parallel<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let threads = compiling::threads().min(jobs.len());
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let run = || {
        compiling::on_any_core();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(i) else { return };
            let result = work(job);
            *results[i].lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
        }
    };
    std::thread::scope(|scope| {
        compiling::without_signals(|| (0..threads).for_each(|_| _ = scope.spawn(run)));
    });
    let done = results.into_iter().map(|r| r.into_inner().unwrap_or_else(|e| e.into_inner()));
    done.map(|r| r.expect("every job was taken")).collect()
}
