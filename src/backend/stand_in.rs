//! A device on which nothing runs: its memory is addresses, its kernels are taken down.

use std::sync::atomic::{AtomicU64, Ordering};

use super::args::SumArgs;
use super::fourier::{FourierShape, Plan};
use super::{Backend, Call, Device, Downloads, Gpu, Piece, Ptr};
use crate::bail;
use crate::error::Result;

/// What a device says of itself that decides which kernels work takes.
struct StandIn {
    name: String,
    cpu: bool,
    lanes: usize,
    gpu: Option<Gpu>,
    /// The next address.
    next: AtomicU64,
}

impl Device {
    /// A device for rehearsals: what works on it asks for the kernels of this one.
    pub(crate) fn stand_in(&self) -> Device {
        Self::watched(Box::new(StandIn::of(self)), None, None, Some(self.real().clone()))
    }

    /// A GPU of today that is not there: for dry runs (`recorded`), which count what work takes of its memory.
    pub fn stand_in_gpu(&self) -> Device {
        let gpu = Gpu { multiprocessors: 132, cache: 50 << 20, both_parities: true };
        let (cpu, lanes, gpu) = (false, 1, Some(gpu));
        let stand_in =
            StandIn { name: "stand-in GPU".into(), cpu, lanes, gpu, ..StandIn::of(self) };
        Self::watched(Box::new(stand_in), None, None, Some(self.clone()))
    }

    /// The device that this one stands in for, or itself.
    pub(crate) fn real(&self) -> &Device {
        self.0.real.as_ref().unwrap_or(self)
    }
    pub(crate) fn is_stand_in(&self) -> bool {
        self.0.real.is_some()
    }
}

impl StandIn {
    fn of(device: &Device) -> StandIn {
        StandIn {
            name: format!("stand-in of {}", device.name()),
            cpu: device.is_cpu(),
            lanes: device.max_lanes(),
            gpu: device.gpu(),
            next: AtomicU64::new(1 << 20),
        }
    }
}

struct NoTransform;
impl Plan for NoTransform {
    fn run(&self, _from: Ptr, _to: Ptr, _inverse: bool) -> Result<()> {
        Ok(())
    }
}

impl Backend for StandIn {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn is_cpu(&self) -> bool {
        self.cpu
    }
    fn max_lanes(&self) -> usize {
        self.lanes
    }
    fn gpu(&self) -> Option<Gpu> {
        self.gpu
    }
    fn memory(&self) -> Result<(u64, u64)> {
        Ok((1 << 60, 1 << 60))
    }
    fn alloc(&self, bytes: u64, _shared: bool) -> Result<Ptr> {
        Ok(Ptr(self.next.fetch_add(bytes.next_multiple_of(256) + 256, Ordering::Relaxed)))
    }
    unsafe fn free(&self, _ptr: Ptr, _bytes: u64, _shared: bool) {}
    unsafe fn upload(&self, _pieces: &[Piece]) -> Result<()> {
        Ok(())
    }
    unsafe fn download(&self, _source: &mut Downloads) -> Result<()> {
        Ok(())
    }
    unsafe fn copy(&self, _dst: Ptr, _src: Ptr, _bytes: u64) -> Result<()> {
        Ok(())
    }
    unsafe fn zero(&self, _dst: Ptr, _bytes: u64) -> Result<()> {
        Ok(())
    }
    unsafe fn launch(&self, call: &Call) -> Result<()> {
        bail!(Internal, "{}: launched on a {}", call.kernel.name, self.name)
    }
    unsafe fn reduce(&self, call: &Call, _: &mut [f64], _: Option<&SumArgs>) -> Result<f64> {
        bail!(Internal, "{}: launched on a {}", call.kernel.name, self.name)
    }
    fn fourier(&self, _shape: FourierShape) -> Result<Box<dyn Plan>> {
        Ok(Box::new(NoTransform))
    }
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}
