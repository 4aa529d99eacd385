//! The connection of the devices of all ranks by NCCL, through which they exchange messages and sums without passing
//! through host memory.

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::routes::Route;
use crate::backend::families::Sums;
use crate::backend::{Buffer, Connected, Device, MessagePiece, Place, Reduction, Work};
use crate::bail;
use crate::comm::Comm;
use crate::error::Result;
use crate::refuse;

/// Bytes by which the devices find each other, as many as an ncclUniqueId has.
const RENDEZVOUS_BYTES: usize = 128;

/// The ranks with which this rank shares a face, each of them once.
fn neighbours(comm: &Comm) -> Vec<usize> {
    let split = (0..4).filter(|&mu| comm.split(mu));
    let mut all: Vec<usize> =
        split.flat_map(|mu| [false, true].map(|upper| comm.neighbour(mu, upper))).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The connected devices of all ranks.
#[derive(Debug)]
pub(super) struct Devices {
    comm: Connected,
    timeout: Duration,
    /// The number of the messages that have not arrived yet, and the time since which they are waited for.
    since: Mutex<Option<(u64, Instant)>>,
}

impl Devices {
    /// Connects the devices of all ranks, if kernels cannot write directly across some faces (not all are `reached`) or
    /// if `route` requests NCCL, and if every rank has its own device. All ranks call this.
    ///
    /// # Errors
    /// `CommFailed`; on all ranks, if `PLAQ_HALO` requests NCCL and it cannot be used: `NcclMissing`, `Unsupported`.
    pub fn connect(
        device: &Device,
        comm: &Comm,
        route: Route,
        reached: bool,
    ) -> Result<Option<Devices>> {
        let asked = route == Route::Nccl;
        if comm.size() == 1 || !(asked || route == Route::Fastest && !reached) {
            return Ok(None);
        }
        match Self::try_connect(device, comm, asked) {
            Err(e) if !asked && comm.watch().is_ok() => {
                log::info!("messages do not go through NCCL: {e}");
                Ok(None)
            }
            made => made.map(Some),
        }
    }

    /// Connects the devices of all ranks, or returns on all ranks the same error; `asked`: `PLAQ_HALO` requests NCCL.
    pub fn try_connect(device: &Device, comm: &Comm, asked: bool) -> Result<Devices> {
        let identity = comm.agree(device.identity())?;
        if let Some((one, other)) = comm.ranks_with_equal(&identity)? {
            refuse!(
                Unsupported,
                if asked { "PLAQ_HALO=nccl" } else { "NCCL" },
                expected("a GPU of its own for every rank"),
                found("one for ranks {one} and {other}")
            );
        }
        let rendezvous = match comm.rank() {
            0 => device.rendezvous(),
            _ => Ok(Vec::new()),
        };
        let mut rendezvous = comm.agree(rendezvous)?;
        // Every rank passes equally many bytes, of which those of rank 0 are used.
        rendezvous.resize(RENDEZVOUS_BYTES, 0);
        let all_rendezvous = comm.all_gather(&rendezvous)?;
        let connected = Self::meet(device, comm, &all_rendezvous[..RENDEZVOUS_BYTES])?;
        Ok(Devices { comm: connected, timeout: comm.timeout(), since: Mutex::default() })
    }

    /// Connects this rank's device to those of the others. If this fails on a rank, the waits of all others end at
    /// once, and all ranks return its error.
    fn meet(device: &Device, comm: &Comm, rendezvous: &[u8]) -> Result<Connected> {
        let outcomes = RefCell::new(comm.outcomes()?);
        let followed = Cell::new(false);
        // The limit is half of the time-out, after which the others must know how this ended.
        let (start, limit) = (Instant::now(), comm.timeout() / 2);
        let check = || {
            if let Some(rank) = outcomes.borrow_mut().failed()? {
                followed.set(true);
                bail!(CommFailed, "rank {rank} was not connected by NCCL");
            }
            if start.elapsed() > limit {
                let seconds = limit.as_secs_f64();
                bail!(CommFailed, "no answer for {seconds} s: connecting GPUs by NCCL");
            }
            Ok(())
        };
        let neighbours = neighbours(comm);
        let place = Place { rank: comm.rank(), ranks: comm.size(), neighbours: &neighbours };
        let made = device.connect(rendezvous, &place, &check);
        let all_made = outcomes.into_inner().report(made.is_ok())?;
        match made {
            Ok(connected) if all_made => return Ok(connected),
            Ok(connected) => {
                connected.abort();
                comm.agree(Ok(()))?;
            }
            // All ranks return the error of the rank that failed first.
            Err(_) if followed.get() => comm.agree(Ok(()))?,
            Err(e) => comm.agree(Err(e))?,
        }
        bail!(Internal, "no rank says why it was not connected by NCCL")
    }

    /// Starts to send messages from one buffer and to receive others into another buffer, when the kernels launched so
    /// far have ended.
    pub fn start(
        &self,
        sends: (&Buffer, &[MessagePiece]),
        receives: (&Buffer, &[MessagePiece]),
    ) -> Result<()> {
        self.comm.start(sends, receives)
    }

    /// Starts a reduction whose sums, and the number `flag`, the devices of all ranks add up.
    pub fn start_sums<K: Sums>(
        &self,
        device: &Device,
        kernel: K,
        args: &K::Args,
        work: Work,
        flag: f64,
    ) -> Result<Reduction> {
        device.start_across(kernel, args, work, flag, &self.comm)
    }

    /// Makes kernels launched later wait for the messages.
    pub fn wait_for_messages(&self) -> Result<()> {
        self.comm.wait_for_messages()
    }

    /// Returns an error if messages failed, or have not arrived within the time-out.
    pub fn check(&self) -> Result<()> {
        let waits = self.comm.waits()?;
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        *since = waits.map(|number| match *since {
            Some((known, start)) if known == number => (known, start),
            _ => (number, Instant::now()),
        });
        if since.is_some_and(|(_, start)| start.elapsed() > self.timeout) {
            let seconds = self.timeout.as_secs_f64();
            bail!(CommFailed, "no answer for {seconds} s: messages of NCCL from other ranks");
        }
        Ok(())
    }

    pub fn abort(&self) {
        self.comm.abort();
    }
}
