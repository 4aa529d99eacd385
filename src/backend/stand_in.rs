//! Stand-in devices, on which nothing runs: their memory is only counted, and calls of kernels are recorded instead of
//! executed. Rehearsals and dry runs use them to find the kernels and the memory that work needs.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::args::SumArgs;
use super::fourier::{FourierShape, Plan};
use super::numbers::Numbers;
use super::{
    Backend, Call, Device, DeviceComm, DeviceMessage, Downloads, Gpu, Piece, Place, Ptr, Reduction,
};
use crate::error::Result;

/// A device without memory, with those properties of a real device on which the choice of kernels depends.
struct StandIn {
    name: String,
    cpu: bool,
    lanes: usize,
    gpu: Option<Gpu>,
    /// The number of the dry run, different for every stand-in device of the process.
    number: u64,
    /// The address that the next allocation gets.
    next: AtomicU64,
    numbers: Arc<Mutex<Numbers>>,
    /// Host memory returned by `mapped`, by its address.
    mapped: Mutex<HashMap<u64, Layout>>,
}

impl Device {
    /// A device like this one without memory, for rehearsals: work whose objects are made on it allocates as much as
    /// it would on this one (`used`, `watch_peak`). Memory is only counted, reductions return numbers that fall until
    /// iterations end, and downloads give zeros. Code above this layer does not distinguish it.
    pub fn dry(&self) -> Device {
        self.stand_in()
    }

    /// A stand-in for this device, for rehearsals: kernels that are called on it are not launched, but can be compiled
    /// for this device.
    pub(crate) fn stand_in(&self) -> Device {
        let nested = self.is_stand_in();
        Self::watched(Box::new(StandIn::of(self)), None, None, Some(self.real().clone()), nested)
    }

    /// A stand-in for a present-day GPU that does not exist here, for dry runs (`recorded`), which count the memory
    /// that work takes.
    pub fn stand_in_gpu(&self) -> Device {
        let gpu = Gpu { multiprocessors: 132, cache: 50 << 20, both_parities: true };
        let (cpu, lanes, gpu) = (false, 1, Some(gpu));
        let stand_in =
            StandIn { name: "stand-in GPU".into(), cpu, lanes, gpu, ..StandIn::of(self) };
        Self::watched(Box::new(stand_in), None, None, Some(self.clone()), false)
    }

    /// The ranks among which fields of this device exchange messages: `ranks` itself or, for a stand-in device, the
    /// silent ranks of its dry run, which exchange nothing.
    pub(crate) fn ranks<R: Ranks>(&self, ranks: &Arc<R>) -> Arc<R> {
        match self.0.backend.dry_run() {
            None => ranks.clone(),
            Some(number) => ranks.silent(number),
        }
    }

    /// The device for which this one is a stand-in, or this one itself.
    pub(super) fn real(&self) -> &Device {
        self.0.real.as_ref().unwrap_or(self)
    }
    pub(super) fn is_stand_in(&self) -> bool {
        self.0.real.is_some()
    }
}

/// Ranks among which fields of a device exchange messages.
pub(crate) trait Ranks {
    /// The ranks of dry run number `number`, equal to these ranks but without messages.
    fn silent(self: &Arc<Self>, number: u64) -> Arc<Self>;
}

impl StandIn {
    fn of(device: &Device) -> StandIn {
        static MADE: AtomicU64 = AtomicU64::new(0);
        StandIn {
            number: MADE.fetch_add(1, Ordering::Relaxed),
            name: format!("stand-in of {}", device.name()),
            cpu: device.is_cpu(),
            lanes: device.max_lanes(),
            gpu: device.gpu(),
            next: AtomicU64::new(1 << 20),
            numbers: Arc::default(),
            mapped: Mutex::default(),
        }
    }
}

struct NoTransform;
impl Plan for NoTransform {
    fn run(&self, _from: Ptr, _to: Ptr, _inverse: bool) -> Result<()> {
        Ok(())
    }
}

/// Connection between stand-in devices, whose messages are not sent.
struct NoMessages;
impl DeviceComm for NoMessages {
    unsafe fn start(&self, _sends: &[DeviceMessage], _receives: &[DeviceMessage]) -> Result<()> {
        Ok(())
    }
    fn wait_for_messages(&self) -> Result<()> {
        Ok(())
    }
    unsafe fn sum(&self, _at: Ptr, _n: usize) -> Result<()> {
        Ok(())
    }
    fn waits(&self) -> Result<Option<u64>> {
        Ok(None)
    }
    fn abort(&self) {}
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
    unsafe fn download(&self, source: &mut Downloads) -> Result<()> {
        loop {
            let pieces = source()?;
            if pieces.is_empty() {
                return Ok(());
            }
            for (_, rows) in pieces {
                // SAFETY: the caller guarantees that the host's rows may be written.
                unsafe { rows.clear() };
            }
        }
    }
    unsafe fn copy(&self, _dst: Ptr, _src: Ptr, _bytes: u64) -> Result<()> {
        Ok(())
    }
    unsafe fn zero(&self, _dst: Ptr, _bytes: u64) -> Result<()> {
        Ok(())
    }
    unsafe fn launch(&self, _call: &Call) -> Result<()> {
        Ok(())
    }
    unsafe fn reduce(&self, call: &Call, sums: &mut [f64], _: Option<&SumArgs>) -> Result<f64> {
        let found = self.numbers.lock().unwrap_or_else(PoisonError::into_inner).sums(call);
        sums.copy_from_slice(&found);
        Ok(0.0)
    }
    fn dry_run(&self) -> Option<u64> {
        Some(self.number)
    }
    fn numbers(&self) -> Option<Arc<Mutex<Numbers>>> {
        Some(self.numbers.clone())
    }
    fn mapped(&self, bytes: usize) -> Result<(u64, Ptr)> {
        let layout = Layout::from_size_align(bytes.max(8), 8).expect("words");
        // SAFETY: not of size 0. Pages that nobody writes are none of the host's.
        let host = unsafe { alloc_zeroed(layout) } as u64;
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner).insert(host, layout);
        Ok((host, Ptr(host)))
    }
    unsafe fn unmap(&self, host: u64) {
        let layout = self.mapped.lock().unwrap_or_else(PoisonError::into_inner).remove(&host);
        if let Some(layout) = layout {
            // SAFETY: what `mapped` gave, once.
            unsafe { dealloc(host as *mut u8, layout) };
        }
    }
    unsafe fn share(&self, _ptr: Ptr) -> Result<Vec<u8>> {
        // On a CPU nobody asks.
        Ok(vec![0; 8])
    }
    unsafe fn attach(&self, _shared: &[u8]) -> Result<(Ptr, Ptr)> {
        let ptr = self.alloc(0, true)?;
        Ok((ptr, ptr))
    }
    fn identity(&self) -> Result<[u8; 16]> {
        Ok([0; 16])
    }
    fn rendezvous(&self) -> Result<Vec<u8>> {
        Ok(vec![])
    }
    fn connect(
        &self,
        _meeting: &[u8],
        _place: &Place,
        _check: &dyn Fn() -> Result<()>,
    ) -> Result<Box<dyn DeviceComm>> {
        Ok(Box::new(NoMessages))
    }
    unsafe fn start_across(&self, call: &Call, _: f64, _: &dyn DeviceComm) -> Result<Reduction> {
        // SAFETY: the caller guarantees for the call what `start` requires.
        unsafe { self.start(call, None) }
    }
    unsafe fn start_download(&self, _pieces: &[(u64, Ptr, usize)]) -> Result<()> {
        Ok(())
    }
    fn downloaded(&self, _pieces: usize) -> Result<bool> {
        Ok(true)
    }
    unsafe fn start_upload(&self, _piece: (Ptr, u64, usize)) -> Result<()> {
        Ok(())
    }
    fn after_uploads(&self) -> Result<()> {
        Ok(())
    }
    fn fourier(&self, _shape: FourierShape) -> Result<Box<dyn Plan>> {
        Ok(Box::new(NoTransform))
    }
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        work().map(|()| 0.0)
    }
}
