//! The CPU posing as a device whose memory neither host programs nor other ranks see.

use plaq::backend::args::SumArgs;
use plaq::backend::cpu::Cpu;
use plaq::backend::{Backend, Call, Device, Downloads, Piece, Ptr};
use plaq::error::Result;

/// A CPU that denies being one.
struct Remote(Cpu);

impl Backend for Remote {
    fn name(&self) -> String {
        format!("remote {}", self.0.name())
    }
    fn is_cpu(&self) -> bool {
        false
    }
    fn max_lanes(&self) -> usize {
        self.0.max_lanes()
    }
    fn memory(&self) -> Result<(u64, u64)> {
        self.0.memory()
    }
    fn alloc(&self, bytes: u64, shared: bool) -> Result<Ptr> {
        self.0.alloc(bytes, shared)
    }
    unsafe fn free(&self, ptr: Ptr, bytes: u64, shared: bool) {
        self.0.free(ptr, bytes, shared)
    }
    unsafe fn upload(&self, pieces: &[Piece]) -> Result<()> {
        self.0.upload(pieces)
    }
    unsafe fn download(&self, source: &mut Downloads) -> Result<()> {
        self.0.download(source)
    }
    unsafe fn copy(&self, dst: Ptr, src: Ptr, bytes: u64) -> Result<()> {
        self.0.copy(dst, src, bytes)
    }
    unsafe fn zero(&self, dst: Ptr, bytes: u64) -> Result<()> {
        self.0.zero(dst, bytes)
    }
    // Page-locked memory, for as long as the tests run.
    fn mapped(&self, bytes: usize) -> Result<(u64, Ptr)> {
        let host = self.0.alloc(bytes as u64, false)?.0;
        Ok((host, Ptr(host)))
    }
    unsafe fn start_download(&self, pieces: &[(u64, Ptr, usize)]) -> Result<()> {
        let copy =
            |&(to, from, bytes): &(u64, Ptr, usize)| self.0.copy(Ptr(to), from, bytes as u64);
        pieces.iter().try_for_each(copy)
    }
    fn wait_for_download(&self) -> Result<()> {
        Ok(())
    }
    unsafe fn start_upload(&self, pieces: &[(Ptr, u64, usize)]) -> Result<()> {
        let copy =
            |&(to, from, bytes): &(Ptr, u64, usize)| self.0.copy(to, Ptr(from), bytes as u64);
        pieces.iter().try_for_each(copy)
    }
    unsafe fn launch(&self, call: &Call) -> Result<()> {
        self.0.launch(call)
    }
    unsafe fn reduce(&self, call: &Call, sums: &mut [f64], over: Option<&SumArgs>) -> Result<f64> {
        self.0.reduce(call, sums, over)
    }
    fn synchronize(&self) -> Result<()> {
        self.0.synchronize()
    }
}

pub fn remote() -> Device {
    Device::from_backend(Box::new(Remote(Cpu::new(2).expect("starts"))))
}
