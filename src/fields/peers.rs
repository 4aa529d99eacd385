//! GPUs of one host that reach each other's memory: what is written there for others, and where they take
//! sums among themselves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::routes::{Devices, Route};
use crate::backend::args::{SumArgs, MAX_PEERS};
use crate::backend::{Attached, Awaited, Buffer, Device, Mapped, Ptr};
use crate::bail;
use crate::comm::{Comm, Listener};
use crate::error::{Error, Result, Status};

/// Size of the pages in which a driver shares memory between processes: an allocation of whole pages shares nothing
/// else.
pub(super) const SHARED_PAGE: usize = 2 << 20;
/// Bytes of a number with its tag on a board (kernels/sums.h).
pub(super) const NUMBER_BYTES: usize = 16;
/// Largest number of ranks whose memory a rank opens at a time: its neighbours, or those of a board.
const MAX_REACHED: usize = 8;
/// Room for what a device says of memory that it shares.
const HANDLE_BYTES: usize = 127;

/// Size in bytes of an allocation that other processes are to reach.
pub(super) fn shared_bytes(bytes: usize) -> usize {
    bytes.next_multiple_of(SHARED_PAGE)
}

/// Whether every rank says yes.
pub(super) fn all(comm: &Comm, yes: bool) -> Result<bool> {
    Ok(comm.all_gather(&[yes as u8])?.iter().all(|&vote| vote == 1))
}

/// One allocation on each rank, at the addresses where this rank's kernels reach it.
#[derive(Debug)]
pub(super) struct PeerMemory {
    own: (usize, Ptr),
    others: Vec<(usize, Attached)>,
}

impl PeerMemory {
    /// Allocates zeroed memory and opens that of `ranks`, which are on this rank's host. Of two ranks that name each
    /// other both reach the other's memory or neither does. None if no rank reaches any. All ranks call this.
    pub fn new(
        device: &Device,
        comm: &Comm,
        ranks: &[usize],
        bytes: usize,
    ) -> Result<Option<(Buffer, PeerMemory)>> {
        let mut wanted: Vec<usize> = ranks.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        assert!(wanted.len() <= MAX_REACHED);
        if all(comm, wanted.is_empty())? || !all(comm, Route::asked()? == Route::Fastest)? {
            return Ok(None);
        }
        // Cleared before anybody writes into it, which may be as soon as the handles are out.
        let buffer = device.alloc_shared(shared_bytes(bytes));
        let cleared = buffer.and_then(|buffer| device.synchronize().map(|()| buffer));
        let buffer = comm.agree(cleared)?;
        let own = (comm.rank(), buffer.ptr());
        let mut reach = PeerMemory { own, others: Vec::new() };
        if comm.size() > 1 {
            reach.open(device, comm, &buffer, &wanted)?;
        }
        let some = wanted.iter().any(|&rank| reach.of(rank).is_some());
        Ok((!all(comm, !some)?).then_some((buffer, reach)))
    }

    /// Opens the memory of other ranks, as far as both of a pair reach that of the other.
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
        let mut reached = [u32::MAX; MAX_REACHED];
        for (place, (rank, _)) in reached.iter_mut().zip(&self.others) {
            *place = *rank as u32;
        }
        let votes = comm.all_gather(bytemuck::cast_slice(&reached))?;
        let own = (comm.rank() as u32).to_ne_bytes();
        let mutual = |rank: usize| {
            let theirs = &votes[rank * size_of_val(&reached)..][..size_of_val(&reached)];
            theirs.chunks_exact(4).any(|word| word == own)
        };
        self.others.retain(|(rank, _)| mutual(*rank));
        Ok(())
    }

    /// Stands for the memory of all ranks by that of this one, for kernels that are not run.
    pub fn own(comm: &Comm, ptr: Ptr) -> PeerMemory {
        PeerMemory { own: (comm.rank(), ptr), others: Vec::new() }
    }

    /// Closes the memory of the other ranks for good.
    pub fn close(&mut self) {
        self.others.clear();
    }

    /// The address where the memory of a rank begins, if this rank reaches it.
    pub fn of(&self, rank: usize) -> Option<Ptr> {
        let other = self.others.iter().find(|(r, _)| *r == rank);
        let own = (self.own.0 == rank).then_some(self.own.1);
        own.or(other.map(|(_, memory)| memory.ptr()))
    }
}

/// Memory that kernels of one device share with other ranks to wait for them.
#[derive(Debug)]
pub(super) struct Peers {
    /// Zero as long as every message came; then the code of what did not, see `check`.
    pub failed: Mapped,
    pub board: Option<Mutex<SumBoard>>,
    /// The devices of all ranks where these send each other messages by themselves.
    pub devices: Option<Devices>,
    ranks: Listener,
}

/// Value of `failed`: kernels shall not wait for messages any more.
const GIVEN_UP: u32 = 255;

/// The memory into which ranks write their sums for this one (kernels/sums.h).
#[derive(Debug)]
pub(super) struct SumBoard {
    _own: Buffer,
    pub args: SumArgs,
    reach: PeerMemory,
    /// Number of the last reduction on the board.
    pub number: u32,
}

impl Peers {
    /// Makes the flags and boards of a device. All ranks call this.
    pub fn new(device: &Device, comm: &Comm) -> Result<Arc<Peers>> {
        let failed = comm.agree(device.mapped(1))?;
        comm.agree(Route::asked())?;
        let board = SumBoard::new(device, comm, &failed)?.map(Mutex::new);
        let devices = if board.is_some() { None } else { Devices::connect(device, comm)? };
        Ok(Arc::new(Peers { failed, board, devices, ranks: comm.listener() }))
    }

    /// Flags and a board like these on a device whose kernels are not run; nobody is asked.
    pub fn like_on(known: Option<&Peers>, device: &Device, comm: &Comm) -> Result<Arc<Peers>> {
        let failed = device.mapped(1)?;
        let own = known.and_then(|peers| peers.board.as_ref());
        let board = own.map(|board| SumBoard::like_on(&lock(board), device)).transpose()?;
        let board = board.map(Mutex::new);
        Ok(Arc::new(Peers { failed, board, devices: None, ranks: comm.listener() }))
    }

    /// Tells the device, before the launch of a kernel that waits, what to end the wait by.
    pub fn awaited_on(self: &Arc<Peers>, device: &Device) {
        let peers: Weak<Peers> = Arc::downgrade(self);
        device.awaits(&(peers as Weak<dyn Awaited>));
    }

    /// Closes the boards of others that this rank opened; returns whether others use what belongs to this rank.
    pub fn release(&self) -> bool {
        if let Some(board) = &self.board {
            lock(board).reach.close();
        }
        self.board.is_some() || self.devices.is_some()
    }

    /// Ends kernels that still wait for other ranks, for good.
    pub fn give_up(&self) {
        self.failed.set(0, GIVEN_UP);
        self.devices.iter().for_each(Devices::abort);
    }

    /// Refuses results that rest on a message which did not come, and gives up on the ranks that it waited for.
    pub fn check(&self, comm: &Comm) -> Result<()> {
        let (rank, what) = match self.failed.get(0) as usize {
            0 => return Ok(()),
            code @ 1..=8 => {
                let (mu, upper) = ((code - 1) / 2, code % 2 == 0);
                (comm.neighbour(mu, upper), format!("its {} face", ["x", "y", "z", "t"][mu]))
            }
            code if code < GIVEN_UP as usize => (code - 16, "its sums".into()),
            _ => bail!(CommFailed, "messages were given up"),
        };
        let seconds = comm.timeout().as_secs_f64();
        let message = format!("rank {rank} did not send {what} within {seconds} s");
        Err(comm.fail(&Error::new(Status::CommFailed, message)))
    }
}

impl Awaited for Peers {
    fn ask(&self) -> Result<()> {
        // Kernels that have been told do not wait.
        if self.failed.get(0) != 0 {
            self.devices.iter().for_each(Devices::abort);
            return Ok(());
        }
        // What a call that failed has left waits in vain; the call has said so.
        if self.ranks.new_failures() {
            self.give_up();
            return Ok(());
        }
        let well = self.devices.as_ref().map_or(Ok(()), Devices::check);
        let well = well.map_err(|e| self.ranks.fail(&e));
        self.ranks.watch().and(well).inspect_err(|_| self.give_up())
    }
}

impl SumBoard {
    fn like_on(&self, device: &Device) -> Result<SumBoard> {
        let own = device.alloc_shared(0)?;
        let reach = PeerMemory { own: (self.args.rank as usize, own.ptr()), others: Vec::new() };
        Ok(SumBoard { _own: own, args: self.args, reach, number: 0 })
    }

    fn new(device: &Device, comm: &Comm, failed: &Mapped) -> Result<Option<SumBoard>> {
        let ranks = comm.size();
        if ranks == 1 || ranks > MAX_PEERS as usize || comm.hosts() > 1 {
            return Ok(None);
        }
        let everybody: Vec<usize> = (0..ranks).collect();
        let Some((own, reach)) = PeerMemory::new(device, comm, &everybody, SHARED_PAGE)? else {
            return Ok(None);
        };
        if !all(comm, everybody.iter().all(|&rank| reach.of(rank).is_some()))? {
            // Nobody has it open when it is freed.
            drop(reach);
            all(comm, true)?;
            return Ok(None);
        }
        let mut args = SumArgs {
            ranks: ranks as i32,
            rank: comm.rank() as i32,
            room: (own.bytes() / (2 * ranks * NUMBER_BYTES)) as i64,
            nanoseconds: comm.timeout().as_nanos() as i64,
            failed: failed.ptr(),
            ..Default::default()
        };
        (0..ranks).for_each(|rank| args.board[rank] = reach.of(rank).unwrap_or(Ptr::NULL));
        Ok(Some(SumBoard { _own: own, args, reach, number: 0 }))
    }
}

/// Locks a mutex, also after another thread panicked with it.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
