//! The devices of all ranks, which send each other messages without their hosts (NCCL).

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::routes::Route;
use crate::backend::families::Sums;
use crate::backend::{Buffer, Connected, Device, MessagePiece, Place, Started, Work};
use crate::bail;
use crate::comm::Comm;
use crate::error::Result;
use crate::refuse;

/// Bytes of a meeting (ncclUniqueId).
const MEETING_BYTES: usize = 128;

/// The ranks behind all faces of this rank's part, each once.
fn neighbours(comm: &Comm) -> Vec<usize> {
    let split = (0..4).filter(|&mu| comm.split(mu));
    let mut all: Vec<usize> =
        split.flat_map(|mu| [false, true].map(|upper| comm.neighbour(mu, upper))).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The devices of all ranks, connected.
#[derive(Debug)]
pub(super) struct Devices {
    comm: Connected,
    timeout: Duration,
    /// The number of the messages that are waited for, and since when.
    since: Mutex<Option<(u64, Instant)>>,
}

impl Devices {
    /// Connects the devices of all ranks, where some faces need that (not all are `reached`) or `route` asks for it,
    /// and every rank has a device of its own. All ranks call this.
    ///
    /// # Errors
    /// `CommFailed`; on all ranks, where `PLAQ_HALO` asks for it and it cannot be: `NcclMissing`, `Unsupported`.
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

    /// Connects them or says on all ranks alike why not; `asked`: by `PLAQ_HALO`.
    pub fn try_connect(device: &Device, comm: &Comm, asked: bool) -> Result<Devices> {
        let identity = comm.agree(device.identity())?;
        if let Some((one, other)) = comm.twins(&identity)? {
            refuse!(
                Unsupported,
                if asked { "PLAQ_HALO=nccl" } else { "NCCL" },
                expected("a GPU of its own for every rank"),
                found("one for ranks {one} and {other}")
            );
        }
        let meeting = match comm.rank() {
            0 => device.meeting(),
            _ => Ok(Vec::new()),
        };
        let mut meeting = comm.agree(meeting)?;
        // Ranks send equally many bytes; those of rank 0 count.
        meeting.resize(MEETING_BYTES, 0);
        let meetings = comm.all_gather(&meeting)?;
        let connected = Self::meet(device, comm, &meetings[..MEETING_BYTES])?;
        Ok(Devices { comm: connected, timeout: comm.timeout(), since: Mutex::default() })
    }

    /// Meets the other ranks. One that cannot ends the waits of the others at once, and all return its error.
    fn meet(device: &Device, comm: &Comm, meeting: &[u8]) -> Result<Connected> {
        let outcomes = RefCell::new(comm.outcomes()?);
        let followed = Cell::new(false);
        // Half of the time in which the others have to hear of the outcome.
        let (start, limit) = (Instant::now(), comm.timeout() / 2);
        let goes_on = || {
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
        let made = device.connect(meeting, &place, &goes_on);
        let all_made = outcomes.into_inner().tell(made.is_ok())?;
        match made {
            Ok(connected) if all_made => return Ok(connected),
            Ok(connected) => {
                connected.abort();
                comm.agree(Ok(()))?;
            }
            // The first to fail says why.
            Err(_) if followed.get() => comm.agree(Ok(()))?,
            Err(e) => comm.agree(Err(e))?,
        }
        bail!(Internal, "no rank says why it was not connected by NCCL")
    }

    /// Starts messages from one buffer and into another, which follow what is launched so far.
    pub fn start(
        &self,
        sends: (&Buffer, &[MessagePiece]),
        receives: (&Buffer, &[MessagePiece]),
    ) -> Result<()> {
        self.comm.start(sends, receives)
    }

    /// Starts a reduction whose sums the devices of all ranks add up; `flag` beside them.
    pub fn start_sums<K: Sums>(
        &self,
        device: &Device,
        kernel: K,
        args: &K::Args,
        work: Work,
        flag: f64,
    ) -> Result<Started> {
        device.start_across(kernel, args, work, flag, &self.comm)
    }

    /// Orders later launches after the messages.
    pub fn arrive(&self) -> Result<()> {
        self.comm.arrive()
    }

    /// Fails if messages failed, or have been waited for too long.
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
