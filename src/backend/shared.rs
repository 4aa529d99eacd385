//! Memory that is shared between processes, or between a device and its host.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use super::{Buffer, Device, Ptr};
use crate::error::Result;

/// Device memory of another process, opened in this one as long as this value exists.
#[derive(Debug)]
pub struct Attached {
    device: Device,
    ptr: Ptr,
    base: Ptr,
}

impl Attached {
    pub fn ptr(&self) -> Ptr {
        self.ptr
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // SAFETY: what `attach` gave, once.
        unsafe { self.device.0.backend.detach(self.base) };
    }
}

/// Other ranks for which kernels of a device wait. While the host waits for the device, it checks whether they have
/// failed.
pub trait Awaited: Send + Sync {
    /// Called from time to time while the host waits for the device. An error means that a rank has failed; kernels no
    /// longer wait then.
    fn check_ranks(&self) -> Result<()>;
}

/// The sums of a reduction that was started: later kernels may read them on the device, and the host waits for them
/// when it needs them.
pub enum Reduction {
    /// The sums, and the sum of the ranks' flags, of a device such as a CPU that has finished when `start` returns.
    Done(Vec<f64>, f64),
    EnqueuedSums(EnqueuedSums),
}

/// A reduction that is enqueued on a GPU: the number of the memory slot for its sums, and how the sums are written to
/// it.
pub struct EnqueuedSums {
    pub slot: usize,
    pub tag: u32,
    pub totals: Ptr,
    pub batches: usize,
    pub width: usize,
    /// True if the sums are copied to the host after the reduction (sums by NCCL), false if the kernel writes them to
    /// host memory itself.
    pub copied: bool,
    /// A mark that stands for the kernels launched before this reduction.
    pub mark: u64,
    /// True while the slot is in use, so that no other launch takes it.
    pub busy: Arc<AtomicBool>,
}

impl Drop for EnqueuedSums {
    fn drop(&mut self) {
        self.busy.store(false, Ordering::Release);
    }
}

impl Reduction {
    /// Address of the N sums of each batch, for kernels.
    pub fn totals(&self) -> Ptr {
        match self {
            Reduction::Done(sums, _) => Ptr(sums.as_ptr() as u64),
            Reduction::EnqueuedSums(posted) => posted.totals,
        }
    }
}

/// Host memory to which kernels write.
#[derive(Debug)]
pub struct Mapped {
    device: Device,
    host: u64,
    ptr: Ptr,
    words: usize,
}

impl Mapped {
    pub fn ptr(&self) -> Ptr {
        self.ptr
    }
    /// The address of the memory on the host.
    pub fn host(&self) -> u64 {
        self.host
    }
    pub fn get(&self, word: usize) -> u32 {
        assert!(word < self.words);
        // SAFETY: within the allocation; volatile because a device writes it.
        unsafe { (self.host as *const u32).add(word).read_volatile() }
    }
    fn place(&self, at: u64, bytes: usize) -> u64 {
        assert!(at as usize + bytes <= 4 * self.words);
        self.host + at
    }
    pub fn set(&self, word: usize, value: u32) {
        assert!(word < self.words);
        // SAFETY: a word of this memory, which lives as long as this value.
        unsafe { (self.host as *mut u32).add(word).write_volatile(value) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the address is that which `mapped` returned, and it is given back once.
        unsafe { self.device.0.backend.unmap(self.host) };
    }
}

impl Device {
    /// Bytes that another process on this machine passes to `attach` in order to open this buffer. The buffer must
    /// exist as long as it is open there.
    pub(crate) fn share(&self, buffer: &Buffer) -> Result<Vec<u8>> {
        // SAFETY: the buffer belongs to this device.
        unsafe { self.0.backend.share(buffer.ptr()) }
    }
    pub(crate) fn attach(&self, shared: &[u8]) -> Result<Attached> {
        // SAFETY: what `share` gave on a rank of the same Comm.
        let (ptr, base) = unsafe { self.0.backend.attach(shared)? };
        Ok(Attached { device: self.clone(), ptr, base })
    }
    /// Starts copying pieces (offset, bytes) of the memory from `src` on to the same offsets in `dst`; see
    /// [`Backend::start_download`](super::Backend::start_download).
    pub(crate) fn start_download(
        &self,
        dst: &Mapped,
        src: Ptr,
        pieces: &[(u64, usize)],
    ) -> Result<()> {
        let copy = |&(at, bytes): &(u64, usize)| (dst.place(at, bytes), src.offset(at), bytes);
        let pieces: Vec<_> = pieces.iter().map(copy).collect();
        // SAFETY: exchanges copy inside of their buffers.
        unsafe { self.0.backend.start_download(&pieces) }
    }
    /// Marks the kernels launched so far; [`Device::downloaded`] with 0 pieces then tells whether they have ended.
    pub(crate) fn mark(&self) -> Result<()> {
        // SAFETY: no memory is copied.
        unsafe { self.0.backend.start_download(&[]) }
    }
    /// See [`Backend::downloaded`](super::Backend::downloaded).
    pub(crate) fn downloaded(&self, pieces: usize) -> Result<bool> {
        self.0.backend.downloaded(pieces)
    }
    /// See [`Backend::inside`](super::Backend::inside).
    pub(crate) fn inside(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.0.backend.inside(work)
    }
    /// Starts copying bytes from an offset of `src` to the device; see
    /// [`Backend::start_upload`](super::Backend::start_upload).
    pub(crate) fn start_upload(
        &self,
        (src, from): (&Mapped, u64),
        dst: Ptr,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: exchanges copy inside of their buffers.
        unsafe { self.0.backend.start_upload((dst, src.place(from, bytes), bytes)) }
    }
    /// See [`Backend::after_uploads`](super::Backend::after_uploads).
    pub(crate) fn after_uploads(&self) -> Result<()> {
        self.0.backend.after_uploads()
    }
    /// Allocates `words` zeroed words of 32 bits in host memory to which kernels can write.
    pub fn mapped(&self, words: usize) -> Result<Mapped> {
        let (host, ptr) = self.0.backend.mapped(4 * words)?;
        Ok(Mapped { device: self.clone(), host, ptr, words })
    }
}
