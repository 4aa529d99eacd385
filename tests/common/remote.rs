//! A CPU that poses as a device whose memory host programs and other ranks cannot address, or can address as they do
//! a GPU's.

use std::collections::BTreeMap;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Weak};
use std::time::{Duration, Instant};

use plaq::backend::args::{SignalArgs, SumArgs};
use plaq::backend::cpu::Cpu;
use plaq::backend::cuda::{in_background, Nccl, Ring};
use plaq::backend::{
    Awaited, Backend, Call, Device, DeviceComm, DeviceMessage, Downloads, Piece, Place, Ptr,
    Reduction,
};
use plaq::error::{Error, Result, Status};

/// Number of reductions whose sums such devices of this process added up by themselves.
pub static SUMS: AtomicU64 = AtomicU64::new(0);

/// How other ranks reach such a device.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// Messages go through the host.
    Staged,
    /// Ranks write into each other's device memory, as GPUs of one host do (CUDA IPC).
    Shared,
    /// The device sends messages itself, through a library that stands in for NCCL (tests/comm/nccl.c).
    Connected,
}

/// A CPU that reports to be another kind of device.
struct Remote {
    cpu: Cpu,
    reach: Reach,
    /// It cannot open the memory of others, or connect to them.
    faulty: bool,
    /// Files and sizes of this device's shared memory, and sizes of mapped memory of other devices, by address.
    shared: Mutex<BTreeMap<u64, (i32, usize)>>,
    others: Mutex<BTreeMap<u64, usize>>,
    awaited: &'static WatchedRanks,
}

/// The ranks whose state is checked while the device waits for others.
#[derive(Default)]
struct WatchedRanks(Mutex<Vec<Weak<dyn Awaited>>>);

impl WatchedRanks {
    /// Waits until `done` returns true, or returns the error of a rank that failed.
    fn until(&self, done: impl Fn() -> bool) -> Result<()> {
        while !done() {
            let all: Vec<_> = self.0.lock().unwrap().iter().filter_map(Weak::upgrade).collect();
            all.iter().try_for_each(|ranks| ranks.check_ranks())?;
            std::thread::yield_now();
        }
        Ok(())
    }
}

/// Maps memory of an unnamed file, which the system frees when all processes that have it open have ended.
fn map(file: i32, bytes: usize) -> u64 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the file is open and has this size.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, file, 0) };
    assert_ne!(at, libc::MAP_FAILED);
    at as u64
}

impl Remote {
    /// Sets or awaits the flags of messages, as kernels of a GPU do.
    fn flags(&self, args: &SignalArgs, awaits: bool) -> Result<()> {
        let start = Instant::now();
        let number = args.number as u32;
        for (k, flag) in args.flag.iter().enumerate().filter(|(_, flag)| **flag != Ptr::NULL) {
            let flag = flag.0 as *mut u32;
            std::sync::atomic::fence(Ordering::SeqCst);
            if !awaits {
                // SAFETY: the flag lies behind the messages in memory of a rank that is mapped here.
                unsafe { flag.write_volatile(number) };
                continue;
            }
            let limit = Duration::from_nanos(args.nanoseconds as u64);
            self.awaited.until(|| {
                // SAFETY: the flag is as above; `failed` is the device's word for messages that did not arrive.
                unsafe {
                    let came = flag.read_volatile().wrapping_sub(number) as i32 >= 0;
                    let failed = args.failed.0 as *mut u32;
                    if !came && start.elapsed() > limit && failed.read_volatile() == 0 {
                        failed.write_volatile(k as u32 + 1);
                    }
                    came || failed.read_volatile() != 0
                }
            })?;
        }
        Ok(())
    }
}

impl Backend for Remote {
    fn name(&self) -> String {
        let how = match self.reach {
            Reach::Staged => "",
            Reach::Shared => " shared",
            Reach::Connected => " connected",
        };
        format!("remote{how} {}", self.cpu.name())
    }
    fn is_cpu(&self) -> bool {
        false
    }
    fn max_lanes(&self) -> usize {
        self.cpu.max_lanes()
    }
    fn memory(&self) -> Result<(u64, u64)> {
        self.cpu.memory()
    }
    fn alloc(&self, bytes: u64, shared: bool) -> Result<Ptr> {
        if !shared || self.reach != Reach::Shared {
            return self.cpu.alloc(bytes, shared);
        }
        let bytes = bytes.max(1) as usize;
        // SAFETY: the name is a C string, and the file was just made.
        let file = unsafe {
            let file = libc::memfd_create(c"plaq-test".as_ptr(), 0);
            assert!(file >= 0 && libc::ftruncate(file, bytes as i64) == 0);
            file
        };
        let at = map(file, bytes);
        self.shared.lock().unwrap().insert(at, (file, bytes));
        Ok(Ptr(at))
    }
    unsafe fn free(&self, ptr: Ptr, bytes: u64, shared: bool) {
        match self.shared.lock().unwrap().remove(&ptr.0) {
            None => self.cpu.free(ptr, bytes, shared),
            Some((file, bytes)) => {
                libc::munmap(ptr.0 as *mut _, bytes);
                libc::close(file);
            }
        }
    }
    unsafe fn upload(&self, pieces: &[Piece]) -> Result<()> {
        self.cpu.upload(pieces)
    }
    unsafe fn download(&self, source: &mut Downloads) -> Result<()> {
        self.cpu.download(source)
    }
    unsafe fn copy(&self, dst: Ptr, src: Ptr, bytes: u64) -> Result<()> {
        self.cpu.copy(dst, src, bytes)
    }
    unsafe fn zero(&self, dst: Ptr, bytes: u64) -> Result<()> {
        self.cpu.zero(dst, bytes)
    }
    unsafe fn share(&self, ptr: Ptr) -> Result<Vec<u8>> {
        let shared = self.shared.lock().unwrap();
        match shared.get(&ptr.0) {
            Some((file, bytes)) => {
                let path = format!("/proc/{}/fd/{file}", std::process::id());
                Ok([&bytes.to_ne_bytes()[..], path.as_bytes()].concat())
            }
            None => Err(Error::new(Status::Unsupported, "it does not share its memory")),
        }
    }
    unsafe fn attach(&self, shared: &[u8]) -> Result<(Ptr, Ptr)> {
        if self.faulty {
            return Err(Error::new(Status::Unsupported, "it opens no memory"));
        }
        let (bytes, path) = shared.split_at(8);
        let bytes = usize::from_ne_bytes(bytes.try_into().unwrap());
        let path = std::str::from_utf8(path).unwrap();
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(|e| Error::new(Status::Unsupported, format!("{path}: {e}")))?;
        let at = map(file.as_raw_fd(), bytes);
        self.others.lock().unwrap().insert(at, bytes);
        Ok((Ptr(at), Ptr(at)))
    }
    unsafe fn detach(&self, base: Ptr) {
        let bytes = self.others.lock().unwrap().remove(&base.0).unwrap();
        libc::munmap(base.0 as *mut _, bytes);
    }
    // Page-locked memory, for as long as the tests run.
    fn mapped(&self, bytes: usize) -> Result<(u64, Ptr)> {
        let host = self.cpu.alloc(bytes as u64, false)?.0;
        Ok((host, Ptr(host)))
    }
    fn identity(&self) -> Result<[u8; 16]> {
        if self.reach != Reach::Connected {
            return Err(Error::new(Status::Unsupported, "it sends no messages by itself"));
        }
        Nccl::get()?;
        Ok(u128::from(std::process::id()).to_ne_bytes())
    }
    fn rendezvous(&self) -> Result<Vec<u8>> {
        Nccl::get()?.rendezvous()
    }
    fn connect(
        &self,
        rendezvous: &[u8],
        place: &Place,
        goes_on: &dyn Fn() -> Result<()>,
    ) -> Result<Box<dyn DeviceComm>> {
        if self.faulty {
            return Err(Error::new(Status::CommFailed, "it does not connect"));
        }
        let (rendezvous, rank, ranks) = (rendezvous.to_vec(), place.rank, place.ranks);
        let join = move || Ring::join(&rendezvous, rank, ranks, Duration::from_secs(30));
        let ring = in_background(goes_on, join, |ring| ring.abort(|| ()))?;
        Ok(Box::new(Connected { ring, stream: Default::default(), awaited: self.awaited }))
    }
    fn awaits(&self, ranks: &Weak<dyn Awaited>) {
        let mut all = self.awaited.0.lock().unwrap();
        all.retain(|one| one.strong_count() > 0 && !one.ptr_eq(ranks));
        all.push(ranks.clone());
    }
    unsafe fn start_download(&self, pieces: &[(u64, Ptr, usize)]) -> Result<()> {
        let copy =
            |&(to, from, bytes): &(u64, Ptr, usize)| self.cpu.copy(Ptr(to), from, bytes as u64);
        pieces.iter().try_for_each(copy)
    }
    fn downloaded(&self, _pieces: usize) -> Result<bool> {
        Ok(true)
    }
    unsafe fn start_upload(&self, (to, from, bytes): (Ptr, u64, usize)) -> Result<()> {
        self.cpu.copy(to, Ptr(from), bytes as u64)
    }
    fn after_uploads(&self) -> Result<()> {
        Ok(())
    }
    unsafe fn launch(&self, call: &Call) -> Result<()> {
        match call.kernel.name {
            "signal" => self.flags(&*call.args.cast::<SignalArgs>(), false),
            "await" => self.flags(&*call.args.cast::<SignalArgs>(), true),
            _ => self.cpu.launch(call),
        }
    }
    unsafe fn reduce(&self, call: &Call, sums: &mut [f64], over: Option<&SumArgs>) -> Result<f64> {
        self.cpu.reduce(call, sums, over)
    }
    unsafe fn start_across(
        &self,
        call: &Call,
        flag: f64,
        ranks: &dyn DeviceComm,
    ) -> Result<Reduction> {
        SUMS.fetch_add(1, Ordering::Relaxed);
        let mut sums = vec![0.0; call.numbers().0 * call.work.batches];
        self.cpu.reduce(call, &mut sums, None)?;
        sums.push(flag);
        ranks.sum(Ptr(sums.as_ptr() as u64), sums.len())?;
        ranks.wait_for_messages()?;
        let flag = sums.pop().unwrap();
        Ok(Reduction::Done(sums, flag))
    }
    fn synchronize(&self) -> Result<()> {
        self.cpu.synchronize()
    }
}

/// Messages through the library that stands in for NCCL, on a stream that counts its groups of messages: groups put
/// on it, and groups done.
struct Connected {
    ring: Ring,
    stream: Box<[AtomicU64; 2]>,
    awaited: &'static WatchedRanks,
}

impl Connected {
    fn done(&self) -> bool {
        let [put, done] = [0, 1].map(|i| self.stream[i].load(Ordering::SeqCst));
        put == done
    }
}

impl DeviceComm for Connected {
    unsafe fn start(&self, sends: &[DeviceMessage], receives: &[DeviceMessage]) -> Result<()> {
        let stream = (&*self.stream as *const [AtomicU64; 2]).cast_mut().cast();
        self.ring.exchange(stream, sends, receives)
    }
    unsafe fn sum(&self, at: Ptr, n: usize) -> Result<()> {
        let stream = (&*self.stream as *const [AtomicU64; 2]).cast_mut().cast();
        self.ring.sum(stream, at, n)
    }
    fn wait_for_messages(&self) -> Result<()> {
        self.awaited.until(|| self.done())
    }
    fn waits(&self) -> Result<Option<u64>> {
        self.ring.check()?;
        let [put, done] = [0, 1].map(|i| self.stream[i].load(Ordering::SeqCst));
        Ok((put != done).then_some(done + 1))
    }
    fn abort(&self) {
        self.ring.abort(|| ());
    }
}

fn device(reach: Reach, faulty: bool) -> Device {
    Device::from_backend(Box::new(Remote {
        cpu: Cpu::new(2).expect("starts"),
        reach,
        faulty,
        shared: Mutex::default(),
        others: Mutex::default(),
        awaited: Box::leak(Box::default()),
    }))
}

/// A device that other ranks reach only through the host.
pub fn remote() -> Device {
    device(Reach::Staged, false)
}

/// Devices for all ways of messages that ranks can take here: through the host; on several hosts
/// (`PLAQ_RANKS_PER_HOST`) through memory within each host; and through the library that stands in for NCCL if
/// `PLAQ_TEST_NCCL` is its path.
pub fn remotes(ranks: &plaq::comm::Comm) -> Vec<Device> {
    let mut all = Vec::new();
    // On machines with GPUs the GPUs themselves are tested.
    let gpus = std::env::var("PLAQ_TEST_DEVICE").is_ok_and(|device| device == "cuda");
    if ranks.size() > 1 && !gpus {
        all.push(remote());
        // Within one host kernels of a GPU signal messages by themselves, which a CPU cannot do.
        if ranks.hosts() > 1 {
            all.push(device(Reach::Shared, false));
        }
        if let Some(path) = std::env::var_os("PLAQ_TEST_NCCL") {
            std::env::set_var("PLAQ_NCCL_LIBRARY", path);
            all.push(device(Reach::Connected, false));
        }
    }
    all
}

/// Devices whose memory other ranks of the same host open, but for that of `rank`, with which nobody shares.
pub fn shared_but_for(rank: usize, ranks: &plaq::comm::Comm) -> Device {
    device(Reach::Shared, ranks.rank() == rank)
}

/// Devices that could send messages themselves, except that of `rank`, which does not connect. None if there is no
/// library that stands in for NCCL.
pub fn connected_but_for(rank: usize, ranks: &plaq::comm::Comm) -> Option<Device> {
    let path = std::env::var_os("PLAQ_TEST_NCCL")?;
    std::env::set_var("PLAQ_NCCL_LIBRARY", path);
    Some(device(Reach::Connected, ranks.rank() == rank))
}
