//! Memory of GPUs of other ranks on the same host, opened so that this rank's kernels can write to it.

use crate::backend::{Attached, Buffer, Device, Ptr};
use crate::comm::Comm;
use crate::error::Result;

/// Size in bytes of the pages in which drivers share memory between processes. Shared allocations consist of whole
/// pages, so that no other memory is shared along with them.
pub(super) const SHARED_PAGE: usize = 2 << 20;
/// Largest number of ranks whose memory a rank opens for one purpose: its neighbours, or ranks with which it adds up
/// sums.
const MAX_REACHED: usize = 8;
/// Size in bytes of a driver's handle of shared memory.
const HANDLE_BYTES: usize = 127;

/// Size in bytes of an allocation that other processes will open.
fn shared_bytes(bytes: usize) -> usize {
    bytes.next_multiple_of(SHARED_PAGE)
}

/// Whether `yes` is true on every rank.
pub(super) fn all(comm: &Comm, yes: bool) -> Result<bool> {
    Ok(comm.all_gather(&[yes as u8])?.iter().all(|&vote| vote == 1))
}

/// An allocation on each of several ranks, with the addresses by which this rank's kernels access them.
#[derive(Debug)]
pub(super) struct PeerMemory {
    own: (usize, Ptr),
    others: Vec<(usize, Attached)>,
}

impl PeerMemory {
    /// Allocates `bytes` bytes of zeroed memory on every rank and opens that of `ranks`, a list without repetitions of
    /// ranks on this rank's host, which must have this rank in their own lists. Of two ranks either both can access the
    /// other's memory or neither can. All ranks call this.
    pub fn new(
        device: &Device,
        comm: &Comm,
        ranks: &[usize],
        bytes: usize,
    ) -> Result<(Buffer, PeerMemory)> {
        assert!(ranks.len() <= MAX_REACHED);
        // The memory must be zeroed before other ranks write into it, which they may do as soon as they have the
        // handles.
        let buffer = device.alloc_shared(shared_bytes(bytes));
        let cleared = buffer.and_then(|buffer| device.synchronize().map(|()| buffer));
        let buffer = comm.agree(cleared)?;
        let mut reach = PeerMemory::own(comm.rank(), buffer.ptr());
        if comm.size() > 1 {
            reach.open(device, comm, &buffer, ranks)?;
        }
        Ok((buffer, reach))
    }

    /// Opens the memory of those ranks that can also open the memory of this rank.
    fn open(
        &mut self,
        device: &Device,
        comm: &Comm,
        buffer: &Buffer,
        wanted: &[usize],
    ) -> Result<()> {
        // The length of the handle, then the handle; length 0 if the device cannot share memory.
        let mut mine = [0u8; 1 + HANDLE_BYTES];
        match device.share(buffer) {
            Ok(shared) => {
                mine[0] = shared.len() as u8;
                mine[1..1 + shared.len()].copy_from_slice(&shared);
            }
            Err(e) => log::info!("messages go through the host: {e}"),
        }
        let handles = comm.all_gather(&mine)?;
        for &rank in wanted.iter().filter(|rank| **rank != comm.rank() && mine[0] > 0) {
            let theirs = &handles[rank * mine.len()..][..mine.len()];
            if theirs[0] == 0 {
                continue;
            }
            match device.attach(&theirs[1..1 + theirs[0] as usize]) {
                Ok(memory) => self.others.push((rank, memory)),
                Err(e) => log::info!("messages to rank {rank} go through the host: {e}"),
            }
        }
        let mut missed = [u32::MAX; MAX_REACHED];
        let without = wanted.iter().filter(|rank| self.of(**rank).is_none());
        for (place, rank) in missed.iter_mut().zip(without) {
            *place = *rank as u32;
        }
        let votes = comm.all_gather(bytemuck::cast_slice(&missed))?;
        let own = (comm.rank() as u32).to_ne_bytes();
        let misses_this = |rank: usize| {
            let theirs = &votes[rank * size_of_val(&missed)..][..size_of_val(&missed)];
            theirs.chunks_exact(4).any(|word| word == own)
        };
        self.others.retain(|(rank, _)| !misses_this(*rank));
        Ok(())
    }

    /// The memory of this rank only, at address `ptr`.
    pub fn own(rank: usize, ptr: Ptr) -> PeerMemory {
        PeerMemory { own: (rank, ptr), others: Vec::new() }
    }

    /// Closes the memory of the other ranks, which is not opened again.
    pub fn close(&mut self) {
        self.others.clear();
    }

    /// The address at which the memory of a rank begins; None if this rank cannot access it.
    pub fn of(&self, rank: usize) -> Option<Ptr> {
        let other = self.others.iter().find(|(r, _)| *r == rank);
        let own = (self.own.0 == rank).then_some(self.own.1);
        own.or(other.map(|(_, memory)| memory.ptr()))
    }
}
