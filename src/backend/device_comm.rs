//! Messages and sums between the devices of several processes that do not pass through host memory (NCCL).

use std::sync::atomic::{AtomicU64, Ordering};

use super::families::Sums;
use super::{Buffer, Device, Ptr, Reduction, Work};
use crate::error::Result;

/// A message to the device of another rank, or from it: rank, address and number of bytes.
#[derive(Clone, Copy, Debug)]
pub struct DeviceMessage {
    pub rank: usize,
    pub at: Ptr,
    pub bytes: usize,
}

/// The devices of all ranks of a communicator, one for each rank.
///
/// # Safety of `start` and `sum`
/// The addresses are of the bytes that the parcels state, or of `n` doubles, until the messages or sums are
/// complete.
#[allow(clippy::missing_safety_doc)]
pub trait DeviceComm: Send + Sync {
    /// Starts sending and receiving messages, when all kernels launched so far have ended and concurrently with later
    /// ones. Messages between two ranks arrive in the order in which they are sent.
    unsafe fn start(&self, sends: &[DeviceMessage], receives: &[DeviceMessage]) -> Result<()>;
    /// Makes kernels launched later wait for the messages that were started.
    fn wait_for_messages(&self) -> Result<()>;
    /// Replaces `n` doubles, at most [`LARGEST_SUM`], by their sums over all ranks, after kernels launched so far and
    /// before kernels launched later; every rank gets the same bits. All ranks make calls of `sum` and `start` in the
    /// same order.
    unsafe fn sum(&self, at: Ptr, n: usize) -> Result<()>;
    /// The number (from 1) of the first call of `start` whose messages are not complete; None: all are complete.
    ///
    /// # Errors
    /// `CommFailed`: sending or receiving failed.
    fn waits(&self) -> Result<Option<u64>>;
    /// Aborts messages that are under way; all later calls return errors.
    fn abort(&self);
}

/// Largest number of doubles that devices of several ranks add up in one call.
pub const LARGEST_SUM: usize = 4096;
/// After this number of calls of `start` the host waits for the device. Otherwise messages to a rank that has failed
/// could fill NCCL's queue, so that a call of NCCL would never return.
const STARTS: u64 = 256;

/// A rank and its neighbours, for `Device::connect`.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub rank: usize,
    pub ranks: usize,
    /// The ranks with which this one exchanges messages.
    pub neighbours: &'a [usize],
}

impl Device {
    /// See [`Backend::identity`](super::Backend::identity).
    pub(crate) fn identity(&self) -> Result<[u8; 16]> {
        self.0.backend.identity()
    }
    /// See [`Backend::rendezvous`](super::Backend::meeting).
    pub(crate) fn rendezvous(&self) -> Result<Vec<u8>> {
        self.0.backend.rendezvous()
    }
    /// See [`Backend::connect`](super::Backend::connect).
    pub(crate) fn connect(
        &self,
        rendezvous: &[u8],
        place: &Place,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Connected> {
        let comm = self.0.backend.connect(rendezvous, place, check)?;
        Ok(Connected { comm, device: self.clone(), starts: AtomicU64::new(0) })
    }
    /// Starts a reduction whose sums over all ranks their devices find by themselves; `flag` is added up beside them.
    pub(crate) fn start_across<K: Sums>(
        &self,
        kernel: K,
        args: &K::Args,
        work: Work,
        flag: f64,
        ranks: &Connected,
    ) -> Result<Reduction> {
        let params = kernel.params();
        let call = self.call::<K>(&params, args, work)?;
        self.launches(&call);
        ranks.count()?;
        // SAFETY: the call was made by `Device::call`, which has checked its fields.
        self.profiled(&call, || unsafe { self.0.backend.start_across(&call, flag, &*ranks.comm) })
    }
}

/// The connected devices of all ranks, and this rank's own device, which exists longer.
pub(crate) struct Connected {
    comm: Box<dyn DeviceComm>,
    device: Device,
    starts: AtomicU64,
}

/// A part of a buffer that is sent to a rank or received from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub rank: usize,
    pub at: u64,
    pub bytes: usize,
}

impl Piece {
    fn of(&self, buffer: &Buffer) -> DeviceMessage {
        assert!(self.at as usize + self.bytes <= buffer.bytes());
        DeviceMessage { rank: self.rank, at: buffer.ptr().offset(self.at), bytes: self.bytes }
    }
}

impl Connected {
    /// Counts the start of an exchange, and waits for the device after every `STARTS` of them.
    fn count(&self) -> Result<()> {
        match (self.starts.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(STARTS) {
            true => self.device.synchronize(),
            false => Ok(()),
        }
    }
    /// Sends pieces of one buffer and receives pieces of another; see [`DeviceComm::start`]. Both buffers must exist
    /// until the messages have completed.
    pub fn start(
        &self,
        (from, sends): (&Buffer, &[Piece]),
        (to, receives): (&Buffer, &[Piece]),
    ) -> Result<()> {
        let sends: Vec<DeviceMessage> = sends.iter().map(|piece| piece.of(from)).collect();
        let receives: Vec<DeviceMessage> = receives.iter().map(|piece| piece.of(to)).collect();
        self.count()?;
        // SAFETY: all pieces are inside of their buffers, as `Piece::of` asserts.
        unsafe { self.comm.start(&sends, &receives) }
    }
    pub fn wait_for_messages(&self) -> Result<()> {
        self.comm.wait_for_messages()
    }
    pub fn waits(&self) -> Result<Option<u64>> {
        self.comm.waits()
    }
    pub fn abort(&self) {
        self.comm.abort();
    }
}

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connected")
    }
}
