//! Copies of memory that a kernel reads and changes, while the tuner runs it again and again.

use super::driver::{cu, DevicePtr};
use super::Cuda;
use crate::backend::{Backend, Ptr};
use crate::error::Result;

pub struct Backup<'a> {
    cuda: &'a Cuda,
    /// Where they belong, where they are, bytes.
    copies: Vec<(DevicePtr, DevicePtr, usize)>,
}

impl<'a> Backup<'a> {
    /// `None`: there is no room for them.
    pub fn of(cuda: &'a Cuda, all: &[(Ptr, usize)]) -> Option<Backup<'a>> {
        let mut backup = Backup { cuda, copies: Vec::new() };
        for &(at, bytes) in all {
            let memory = cuda.device_memory();
            let copy = memory.alloc(bytes, false, || cuda.settle(), || cuda.synchronize()).ok()?;
            backup.copies.push((at.0, copy, bytes));
            backup.copy(copy, at.0, bytes).ok()?;
        }
        Some(backup)
    }

    pub fn put_back(self) -> Result<()> {
        self.copies.iter().try_for_each(|&(at, copy, bytes)| self.copy(at, copy, bytes))
    }

    fn copy(&self, to: DevicePtr, from: DevicePtr, bytes: usize) -> Result<()> {
        let what = "copying what a kernel changes";
        cu!(self.cuda.driver, copy_on_device(to, from, bytes, self.cuda.stream), "{what}")
    }
}

impl Drop for Backup<'_> {
    fn drop(&mut self) {
        self.copies.iter().for_each(|&(_, copy, _)| self.cuda.device_memory().free(copy, false));
    }
}
