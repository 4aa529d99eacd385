//! Buffers, which own device memory.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use super::{Device, Ptr, Rows};
use crate::error::Result;

/// A piece of allocated memory, which is freed when the last buffer in it is dropped.
pub(super) struct Allocation {
    pub device: Device,
    pub ptr: Ptr,
    pub bytes: usize,
    pub shared: bool,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // The address is removed from the list before it can be allocated again.
        self.device.allocated().remove(&self.ptr.0);
        let mut store = self.device.store();
        if store.keepers > 0 && !self.shared {
            store.bytes += self.bytes as u64;
            store.left.entry(self.bytes).or_default().push(self.ptr);
        } else {
            // The lock is released first: the back end may wait for kernels and then free fields, which takes this
            // lock.
            drop(store);
            // SAFETY: what `alloc` gave, once.
            unsafe { self.device.0.backend.free(self.ptr, self.bytes as u64, self.shared) };
        }
        self.device.0.used.fetch_sub(self.bytes as u64, Ordering::Relaxed);
    }
}

impl Device {
    /// Device memory with the `count` integers that `table` returns; on a stand-in device, which has no memory, `table`
    /// is not called.
    pub(crate) fn filled(&self, count: usize, table: impl FnOnce() -> Vec<i32>) -> Result<Buffer> {
        let mut buffer = self.alloc(4 * count.max(1))?;
        if !self.is_empty() {
            let table = table();
            assert_eq!(table.len(), count);
            buffer.upload(bytemuck::cast_slice(&table))?;
        }
        Ok(buffer)
    }
}

/// Memory of a device that is owned by the buffer.
pub struct Buffer {
    pub(super) whole: Arc<Allocation>,
    pub(super) ptr: Ptr,
    pub(super) bytes: usize,
}

impl Buffer {
    /// Divides the buffer in two: the bytes from `at` on are returned as a buffer of their own.
    pub fn split_off(&mut self, at: usize) -> Buffer {
        assert!(at <= self.bytes);
        let (whole, ptr) = (self.whole.clone(), self.ptr.offset(at as u64));
        let bytes = std::mem::replace(&mut self.bytes, at) - at;
        Buffer { whole, ptr, bytes }
    }
    /// A part of the buffer's bytes as another buffer on the same memory.
    pub(crate) fn part(&self, from: usize, bytes: usize) -> Buffer {
        assert!(from + bytes <= self.bytes);
        Buffer { whole: self.whole.clone(), ptr: self.ptr.offset(from as u64), bytes }
    }
    pub fn ptr(&self) -> Ptr {
        self.ptr
    }
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    pub fn device(&self) -> &Device {
        &self.whole.device
    }
    pub fn upload(&mut self, src: &[u8]) -> Result<()> {
        self.upload_at(0, src)
    }
    pub fn download(&self, dst: &mut [u8]) -> Result<()> {
        self.download_at(0, dst)
    }
    /// Copies `src` from the host into the buffer, from byte `offset` on.
    pub fn upload_at(&mut self, offset: usize, src: &[u8]) -> Result<()> {
        assert!(offset + src.len() <= self.bytes);
        let piece = (self.ptr.offset(offset as u64), Rows::read(src));
        self.device().upload(&[piece])
    }
    pub fn download_at(&self, offset: usize, dst: &mut [u8]) -> Result<()> {
        assert!(offset + dst.len() <= self.bytes);
        let mut only = vec![(self.ptr.offset(offset as u64), Rows::write(dst))];
        self.device().download(&mut || Ok(std::mem::take(&mut only)))
    }
    pub fn copy_from(&mut self, src: &Buffer) -> Result<()> {
        assert!(src.bytes == self.bytes && src.device() == self.device());
        // SAFETY: both buffers have this number of bytes.
        unsafe { self.device().copy(self.ptr, src.ptr, self.bytes) }
    }
    /// Copies `bytes` bytes from offset `from` in `src` to offset `to` in this buffer.
    pub fn copy_range(&mut self, to: usize, src: &Buffer, from: usize, bytes: usize) -> Result<()> {
        assert!(
            to + bytes <= self.bytes && from + bytes <= src.bytes && src.device() == self.device()
        );
        let (to, from) = (self.ptr.offset(to as u64), src.ptr.offset(from as u64));
        // SAFETY: the bytes are inside of both buffers, as asserted above.
        unsafe { self.device().copy(to, from, bytes) }
    }
    /// Copies bytes inside of this buffer; the ranges do not overlap.
    pub fn move_within(&mut self, to: usize, from: usize, bytes: usize) -> Result<()> {
        assert!(to.max(from) + bytes <= self.bytes && to.abs_diff(from) >= bytes);
        let (to, from) = (self.ptr.offset(to as u64), self.ptr.offset(from as u64));
        // SAFETY: the bytes are inside of this buffer, as asserted above.
        unsafe { self.device().copy(to, from, bytes) }
    }
    pub fn zero(&mut self) -> Result<()> {
        // SAFETY: these are all bytes of the buffer.
        unsafe { self.device().0.backend.zero(self.ptr, self.bytes as u64) }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes on {})", self.bytes, self.device().name())
    }
}
