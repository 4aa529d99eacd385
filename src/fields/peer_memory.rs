//! Memory of other ranks' GPUs on the same host, opened for writing.

use crate::backend::{Attached, Buffer, Device, Ptr};
use crate::comm::Comm;
use crate::error::Result;

/// Size of the pages in which a driver shares memory between processes; an allocation of whole pages shares nothing
/// else.
pub(super) const SHARED_PAGE: usize = 2 << 20;
/// Largest number of ranks whose memory a rank opens at a time: its neighbours, or those with whom it exchanges sums.
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

/// One allocation on each rank, with the addresses at which this rank's kernels reach them.
#[derive(Debug)]
pub(super) struct PeerMemory {
    own: (usize, Ptr),
    others: Vec<(usize, Attached)>,
}

impl PeerMemory {
    /// Allocates zeroed memory and opens that of `ranks`, each named once, which are on this rank's host and name this
    /// rank in turn. Of two ranks both reach the other's memory or neither does. All ranks call this.
    pub fn new(
        device: &Device,
        comm: &Comm,
        ranks: &[usize],
        bytes: usize,
    ) -> Result<(Buffer, PeerMemory)> {
        assert!(ranks.len() <= MAX_REACHED);
        // Cleared before anybody writes into it, which may be as soon as the handles are out.
        let buffer = device.alloc_shared(shared_bytes(bytes));
        let cleared = buffer.and_then(|buffer| device.synchronize().map(|()| buffer));
        let buffer = comm.agree(cleared)?;
        let mut reach = PeerMemory::own(comm.rank(), buffer.ptr());
        if comm.size() > 1 {
            reach.open(device, comm, &buffer, ranks)?;
        }
        Ok((buffer, reach))
    }

    /// Opens the memory of other ranks, where both ranks of a pair can reach that of the other.
    fn open(
        &mut self,
        device: &Device,
        comm: &Comm,
        buffer: &Buffer,
        wanted: &[usize],
    ) -> Result<()> {
        // The handle with its length; none where the device shares nothing.
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

    /// The memory of this rank alone.
    pub fn own(rank: usize, ptr: Ptr) -> PeerMemory {
        PeerMemory { own: (rank, ptr), others: Vec::new() }
    }

    /// Closes the memory of the other ranks for good.
    pub fn close(&mut self) {
        self.others.clear();
    }

    /// The address at which the memory of a rank begins, if this rank reaches it.
    pub fn of(&self, rank: usize) -> Option<Ptr> {
        let other = self.others.iter().find(|(r, _)| *r == rank);
        let own = (self.own.0 == rank).then_some(self.own.1);
        own.or(other.map(|(_, memory)| memory.ptr()))
    }
}
