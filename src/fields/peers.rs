//! GPUs of one host that reach each other's memory: what is written there for others, and where they take
//! sums among themselves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::devices::Devices;
use super::peer_memory::{all, PeerMemory, SHARED_PAGE};
use super::routes::Route;
use crate::backend::args::{SumArgs, MAX_PEERS};
use crate::backend::{Awaited, Buffer, Device, Mapped, Ptr};
use crate::bail;
use crate::comm::{Comm, Listener};
use crate::error::{Error, Result, Status};

/// Bytes of a number with its tag on a board (kernels/sums.h).
pub(super) const NUMBER_BYTES: usize = 16;
/// Memory that kernels of one device share with other ranks to wait for them.
#[derive(Debug)]
pub(super) struct Peers {
    /// Zero as long as every message came; then the code of what did not, see `check`.
    pub failed: Mapped,
    pub board: Option<Mutex<SumBoard>>,
    /// Whether kernels may reach memory of other ranks; false on a device whose kernels are not run, where it is known of
    /// the real one that they do not.
    pub reach: bool,
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
        let (reach, ranks) = (true, comm.listener());
        Ok(Arc::new(Peers { failed, board, reach, devices, ranks }))
    }

    /// Flags and a board like these on a device whose kernels are not run; nobody is asked.
    pub fn like_on(known: Option<&Peers>, device: &Device, comm: &Comm) -> Result<Arc<Peers>> {
        let failed = device.mapped(1)?;
        let own = known.and_then(|peers| peers.board.as_ref());
        let board = own.map(|board| SumBoard::like_on(&lock(board), device)).transpose()?;
        let board = board.map(Mutex::new);
        let reach = known.is_none() || board.is_some() || comm.hosts() > 1;
        Ok(Arc::new(Peers { failed, board, reach, devices: None, ranks: comm.listener() }))
    }

    /// Tells the device, before the launch of a kernel that waits for other ranks, which ranks to check during a wait.
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
        let reach = PeerMemory::own(self.args.rank as usize, own.ptr());
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
