//! Memory that belongs to the host program: borrowed arrays, in host or device memory.

use std::marker::PhantomData;
use std::ops::Range;

use super::Ptr;
use crate::bail;
use crate::error::Result;

#[derive(Clone, Copy, Debug)]
struct Array {
    address: u64,
    bytes: usize,
}

/// Where an array lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    Host,
    /// The device that the field lives on.
    Device,
}

/// One or several arrays of the host program, borrowed for 'a.
#[derive(Debug)]
pub struct External<'a> {
    arrays: Vec<Array>,
    location: Location,
    writable: bool,
    borrow: PhantomData<&'a mut [u8]>,
}

impl<'a> External<'a> {
    /// Arrays to read.
    pub fn read<T: bytemuck::NoUninit>(arrays: &[&'a [T]]) -> Self {
        let arrays = arrays
            .iter()
            .map(|a| Array { address: a.as_ptr() as u64, bytes: size_of_val(*a) })
            .collect();
        External { arrays, location: Location::Host, writable: false, borrow: PhantomData }
    }

    /// Arrays to read or write.
    pub fn write<T: bytemuck::Pod>(arrays: Vec<&'a mut [T]>) -> Self {
        let arrays = arrays
            .into_iter()
            .map(|a| Array { address: a.as_mut_ptr() as u64, bytes: size_of_val(a) })
            .collect();
        External { arrays, location: Location::Host, writable: true, borrow: PhantomData }
    }

    /// Arrays of `bytes` bytes each behind pointers of the host program.
    ///
    /// # Safety
    /// For 'a every pointer is valid at `location` for reads of `bytes` bytes, and for writes if
    /// the transfer goes out of a field; nobody else writes there meanwhile.
    pub unsafe fn from_raw(pointers: &[*mut u8], bytes: usize, location: Location) -> Self {
        let arrays = pointers.iter().map(|p| Array { address: *p as u64, bytes }).collect();
        External { arrays, location, writable: true, borrow: PhantomData }
    }

    /// The same arrays for reading.
    pub(crate) fn reader(&self) -> External<'_> {
        let (arrays, location) = (self.arrays.clone(), self.location);
        External { arrays, location, writable: false, borrow: PhantomData }
    }

    pub fn location(&self) -> Location {
        self.location
    }
    /// Number of arrays.
    pub fn count(&self) -> usize {
        self.arrays.len()
    }

    /// Refuses arrays that are missing, too short, misaligned or read-only.
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

    /// The address of an array as a kernel on the same memory sees it.
    pub(crate) fn ptr(&self, array: usize) -> Ptr {
        Ptr(self.arrays[array].address)
    }

    /// Part of an array in host memory.
    pub(crate) fn bytes(&self, array: usize, range: Range<usize>) -> &[u8] {
        let a = self.arrays[array];
        assert!(self.location == Location::Host && range.end <= a.bytes);
        // SAFETY: inside an array that the constructors took as readable for 'a.
        unsafe {
            std::slice::from_raw_parts((a.address as *const u8).add(range.start), range.len())
        }
    }
    pub(crate) fn bytes_mut(&mut self, array: usize, range: Range<usize>) -> &mut [u8] {
        let a = self.arrays[array];
        assert!(self.location == Location::Host && self.writable && range.end <= a.bytes);
        // SAFETY: as above, and exclusive: `writable` arrays were taken for writing.
        unsafe {
            std::slice::from_raw_parts_mut((a.address as *mut u8).add(range.start), range.len())
        }
    }
}
