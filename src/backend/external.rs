//! Borrowed arrays of the host program, in host or device memory.

use std::marker::PhantomData;
use std::ops::Range;

use super::{Device, Ptr};
use crate::bail;
use crate::error::{words, Result};
use crate::params::choices;

#[derive(Clone, Copy, Debug)]
struct Array {
    address: u64,
    bytes: usize,
}

/// The kind of memory that an array of the host program is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Location {
    Host,
    /// Memory of the device on which the field lives.
    Device,
}

words!(Location {
    Host => "PLAQ_LOCATION_HOST",
    Device => "PLAQ_LOCATION_DEVICE",
});

choices! {
    /// Memory to which pointers of the host refer.
    names Location: plaq_location {
        /// Memory of the host.
        Host = 0, PLAQ_LOCATION_HOST, "host";
        /// Memory of the context's device.
        Device = 1, PLAQ_LOCATION_DEVICE, "device";
    }
}

/// One or several arrays of the host program, borrowed for 'a.
#[derive(Debug)]
pub struct External<'a> {
    arrays: Vec<Array>,
    location: Location,
    writable: bool,
    stream: u64,
    borrow: PhantomData<&'a mut [u8]>,
}

impl<'a> External<'a> {
    /// Sets the CUDA stream on which the host program works with these arrays: transfers wait for the work on it. 0:
    /// the stream given to [`super::Device::set_host_stream`].
    ///
    /// # Safety
    /// The stream exists until the transfer has ended.
    pub unsafe fn on_stream(self, stream: u64) -> Self {
        External { stream, ..self }
    }
    pub(crate) fn stream(&self) -> u64 {
        self.stream
    }

    /// Arrays of the host, borrowed for reading.
    pub fn read<T: bytemuck::NoUninit>(arrays: &[&'a [T]]) -> Self {
        let arrays = arrays
            .iter()
            .map(|a| Array { address: a.as_ptr() as u64, bytes: size_of_val(*a) })
            .collect();
        External {
            arrays,
            location: Location::Host,
            writable: false,
            stream: 0,
            borrow: PhantomData,
        }
    }

    /// Arrays of the host, borrowed for reading or writing.
    pub fn write<T: bytemuck::Pod>(arrays: Vec<&'a mut [T]>) -> Self {
        let arrays = arrays
            .into_iter()
            .map(|a| Array { address: a.as_mut_ptr() as u64, bytes: size_of_val(a) })
            .collect();
        External {
            arrays,
            location: Location::Host,
            writable: true,
            stream: 0,
            borrow: PhantomData,
        }
    }

    /// Arrays of `bytes` bytes each at addresses of the host program.
    ///
    /// # Safety
    /// During 'a every pointer is valid for reads of `bytes` bytes in the memory `location`, and for writes if a field
    /// is copied to it; no other code writes there during this time.
    pub unsafe fn from_raw(pointers: &[*mut u8], bytes: usize, location: Location) -> Self {
        let arrays = pointers.iter().map(|p| Array { address: *p as u64, bytes }).collect();
        External { arrays, location, writable: true, stream: 0, borrow: PhantomData }
    }

    /// These arrays for reading only.
    pub(crate) fn reader(&self) -> External<'_> {
        let (arrays, location) = (self.arrays.clone(), self.location);
        External { arrays, location, writable: false, stream: self.stream, borrow: PhantomData }
    }

    pub fn location(&self) -> Location {
        self.location
    }
    /// Number of arrays.
    pub fn count(&self) -> usize {
        self.arrays.len()
    }

    /// Returns an error unless there is an array of at least `bytes[i]` bytes for each i, aligned to reals of `real`
    /// bytes, and writable if `write`.
    pub(crate) fn check(&self, bytes: &[usize], real: usize, write: bool) -> Result<()> {
        if self.arrays.len() != bytes.len() {
            bail!(BadLayout, "expected {} arrays, found {}", bytes.len(), self.arrays.len());
        }
        for (i, (a, &bytes)) in self.arrays.iter().zip(bytes).enumerate() {
            if a.address == 0 {
                bail!(NullPointer, "array {i} is NULL");
            }
            if a.address % real as u64 != 0 {
                bail!(BadLayout, "array {i} is not aligned to its {real}-byte numbers");
            }
            if a.bytes < bytes {
                bail!(BadLayout, "array {i}: the layout takes {bytes} bytes, found {}", a.bytes);
            }
        }
        if write && !self.writable {
            bail!(BadLayout, "the arrays are read-only");
        }
        Ok(())
    }

    /// The address of an array for kernels that can access the same memory.
    pub(crate) fn ptr(&self, array: usize) -> Ptr {
        Ptr(self.arrays[array].address)
    }

    /// `count` rows of `row` bytes of an array in host memory, the first at byte `begin`, starting `stride` bytes
    /// apart; `write`: the rows will be written.
    pub(crate) fn rows(
        &self,
        array: usize,
        begin: usize,
        (row, stride, count): (usize, usize, usize),
        write: bool,
    ) -> Rows<'_> {
        let a = self.arrays[array];
        let end = begin + count.saturating_sub(1) * stride + row;
        assert!(self.location == Location::Host && end <= a.bytes && (!write || self.writable));
        let (address, borrow) = (a.address + begin as u64, PhantomData);
        Rows { address, row, stride, count, borrow }
    }
}

impl Device {
    /// Finds out from the driver whether an address of the host program is in host or device memory.
    pub fn location_of(&self, address: u64) -> Result<Location> {
        Ok(if self.0.backend.is_device_address(address)? {
            Location::Device
        } else {
            Location::Host
        })
    }

    /// Copies bytes from the device memory of the host program at `address` to `out`.
    pub fn read_at(&self, address: u64, out: &mut [u8]) -> Result<()> {
        let mut only = vec![(Ptr(address), Rows::write(out))];
        self.download(&mut || Ok(std::mem::take(&mut only)))
    }
    /// Copies the bytes `data` to the device memory of the host program at `address`.
    pub fn write_at(&self, address: u64, data: &[u8]) -> Result<()> {
        self.upload(&[(Ptr(address), Rows::read(data))])?;
        self.synchronize()
    }
}

/// Rows of bytes at equal distances in host memory; their copy on the device has no gaps.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    address: u64,
    row: usize,
    stride: usize,
    count: usize,
    borrow: PhantomData<&'a [u8]>,
}

impl<'a> Rows<'a> {
    /// All of `bytes` as a single row that is read.
    pub fn read(bytes: &'a [u8]) -> Self {
        let (row, address) = (bytes.len(), bytes.as_ptr() as u64);
        Rows { address, row, stride: row, count: 1, borrow: PhantomData }
    }
    /// All of `bytes` as a single row that is written.
    pub fn write(bytes: &'a mut [u8]) -> Self {
        let (row, address) = (bytes.len(), bytes.as_mut_ptr() as u64);
        Rows { address, row, stride: row, count: 1, borrow: PhantomData }
    }
    /// Total number of bytes, without the gaps between rows.
    pub fn bytes(&self) -> usize {
        self.row * self.count
    }

    /// Addresses and lengths of the pieces of memory that make up the bytes `range` of the rows; bytes are counted
    /// without the gaps between rows.
    fn parts(self, range: Range<usize>) -> impl Iterator<Item = (u64, usize)> {
        // Rows without gaps between them are treated as one row.
        let row = if self.row == self.stride { self.bytes() } else { self.row };
        let mut at = range.start;
        std::iter::from_fn(move || {
            let (i, offset) = (at / row.max(1), at % row.max(1));
            let n = (row - offset).min(range.end.saturating_sub(at));
            at += n;
            (n > 0).then_some((self.address + (i * self.stride + offset) as u64, n))
        })
    }

    /// Sets all bytes to zero.
    ///
    /// # Safety
    /// The rows were made for writing, and nobody else uses them meanwhile.
    pub(super) unsafe fn clear(self) {
        for (to, n) in self.parts(0..self.bytes()) {
            std::ptr::write_bytes(to as *mut u8, 0, n);
        }
    }

    /// Copies the bytes `range`, counted without gaps, to `dense`.
    ///
    /// # Safety
    /// `range` is inside of the rows; `dense` has as many bytes and does not overlap with the rows.
    pub(super) unsafe fn gather(self, range: Range<usize>, dense: *mut u8) {
        let mut to = dense;
        for (from, n) in self.parts(range) {
            std::ptr::copy_nonoverlapping(from as *const u8, to, n);
            to = to.add(n);
        }
    }

    /// Copies `dense` to the bytes `range`, counted without gaps: the inverse of `gather`.
    ///
    /// # Safety
    /// `range` is inside of the rows; `dense` has as many bytes; the rows were made for writing, and no other code uses
    /// them at the same time.
    pub(super) unsafe fn scatter(self, range: Range<usize>, dense: *const u8) {
        let mut from = dense;
        for (to, n) in self.parts(range) {
            if n <= SHORT {
                (to..to + n as u64).step_by(64).for_each(prefetch);
            }
            std::ptr::copy_nonoverlapping(from, to as *mut u8, n);
            from = from.add(n);
        }
    }
}

/// Rows of at most this number of bytes are prefetched before they are written, as the processor does not recognise a
/// pattern in short rows; for links in structs this raised the rate from 43 to 51 GB/s (docs/lab/transfers.md).
const SHORT: usize = 4096;

/// Starts loading a cache line into the cache.
fn prefetch(address: u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing; an invalid address is ignored.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T1};
        _mm_prefetch::<_MM_HINT_T1>(address as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_leave_what_lies_between_them() {
        let (row, stride, count) = (5, 7, 6);
        let source: Vec<u8> = (0..count as u8 * stride as u8).collect();
        let wanted: Vec<u8> = source.chunks(stride).flat_map(|c| c[..row].to_vec()).collect();
        for (begin, end) in [(0, 30), (3, 12), (10, 10), (29, 30), (4, 26)] {
            let external = External::read(&[&source[..]]);
            let mut dense = vec![99; end - begin];
            let rows = external.rows(0, 0, (row, stride, count), false);
            assert_eq!(rows.bytes(), 30);
            // SAFETY: the ranges lie inside, `dense` is as long as they are.
            unsafe { rows.gather(begin..end, dense.as_mut_ptr()) };
            assert_eq!(dense, wanted[begin..end]);
            let mut target = vec![99; source.len()];
            let external = External::write(vec![&mut target[..]]);
            let rows = external.rows(0, 0, (row, stride, count), true);
            // SAFETY: the ranges lie inside, `dense` is as long as they are.
            unsafe { rows.scatter(begin..end, dense.as_ptr()) };
            let place = |i: usize| i / row * stride + i % row;
            let expected: Vec<u8> = (0..source.len())
                .map(|j| if (begin..end).any(|i| place(i) == j) { source[j] } else { 99 })
                .collect();
            assert_eq!(target, expected);
        }
    }
}
