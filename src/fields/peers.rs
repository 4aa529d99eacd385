//! Memory that kernels of this rank's device share with other ranks: flags by which kernels wait for each other's
//! messages, and memory in which GPUs of one host add up sums.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::devices::Devices;
use super::peer_memory::{all, PeerMemory, SHARED_PAGE};
use super::routes::{DirectFaces, Route};
use crate::backend::args::{SumArgs, MAX_PEERS};
use crate::backend::{Awaited, Buffer, Device, Mapped, Ptr};
use crate::bail;
use crate::comm::{Comm, Listener};
use crate::error::{Error, Result, Status};

/// Bytes of a number with its tag in the memory for sums (kernels/sums.h).
pub(super) const NUMBER_BYTES: usize = 16;
/// The memory of other ranks that the kernels of one device can access, and the connection of the devices by NCCL.
#[derive(Debug)]
pub(super) struct Peers {
    /// A word in host memory: zero as long as all messages arrive; else the code of a message that did not arrive in
    /// time, see `check`.
    pub failed: Mapped,
    /// The route of messages that all ranks request; `reach`: the faces across which kernels can write into a
    /// neighbour's memory.
    pub route: Route,
    pub reach: DirectFaces,
    pub inbox: Option<Mutex<SumInbox>>,
    /// The connected devices of all ranks, if messages are sent by NCCL.
    pub devices: Option<Devices>,
    /// True if all ranks have determined these members together; false if this rank only expects them.
    pub found: bool,
    ranks: Listener,
}

/// Value of `failed` after which kernels no longer wait for messages.
const GIVEN_UP: u32 = 255;

/// The memory into which other ranks write the sums that this rank's kernels add up (kernels/sums.h).
#[derive(Debug)]
pub(super) struct SumInbox {
    _own: Buffer,
    pub args: SumArgs,
    reach: PeerMemory,
    /// Number of the last reduction through the inbox.
    pub number: u32,
}

impl Peers {
    /// Makes the shared memory of a device for flags and sums. All ranks call this.
    pub fn new(device: &Device, comm: &Comm) -> Result<Arc<Peers>> {
        Self::with(device, comm, true)
    }

    /// The shared memory that is expected for a device whose kernels are not run, before the ranks have determined
    /// together which memory is accessible.
    pub fn expected(device: &Device, comm: &Comm) -> Result<Arc<Peers>> {
        Self::with(device, comm, false)
    }

    fn with(device: &Device, comm: &Comm, found: bool) -> Result<Arc<Peers>> {
        let failed = comm.agree(device.mapped(1))?;
        let route = Route::agreed(comm)?;
        let inbox = match route {
            Route::Fastest => SumInbox::new(device, comm, &failed)?.map(Mutex::new),
            _ => None,
        };
        let reach = match &inbox {
            Some(_) => DirectFaces::everything(comm),
            None => DirectFaces::found(device, comm, route)?,
        };
        let reached = all(comm, reach.is_everything(comm))?;
        let devices = Devices::connect(device, comm, route, reached)?;
        let ranks = comm.listener();
        Ok(Arc::new(Peers { failed, route, reach, inbox, devices, found, ranks }))
    }

    /// The counterpart of this value for a stand-in device in a dry run, with the same faces and routes.
    pub fn like_on(&self, device: &Device, comm: &Comm) -> Result<Arc<Peers>> {
        let failed = device.mapped(1)?;
        let inbox = self.inbox.as_ref().map(|inbox| lock(inbox).like_on(device)).transpose()?;
        let inbox = inbox.map(Mutex::new);
        let connected = |_| Devices::try_connect(device, comm, self.route == Route::Nccl);
        let devices = self.devices.as_ref().map(connected).transpose()?;
        let Peers { route, reach, found, .. } = *self;
        let ranks = comm.listener();
        Ok(Arc::new(Peers { failed, route, reach, inbox, devices, found, ranks }))
    }

    /// Whether the devices of these ranks add up sums by NCCL.
    pub fn adds(&self, comm: &Comm) -> bool {
        self.devices.is_some() && !comm.reproducible()
    }

    /// Tells the device, before a kernel that waits for other ranks is launched, which ranks to check while it waits.
    pub fn awaited_on(self: &Arc<Peers>, device: &Device) {
        let peers: Weak<Peers> = Arc::downgrade(self);
        device.awaits(&(peers as Weak<dyn Awaited>));
    }

    /// Closes the memory of other ranks that this rank opened; returns whether others use this rank's memory.
    pub fn release(&self) -> bool {
        if let Some(inbox) = &self.inbox {
            lock(inbox).reach.close();
        }
        self.inbox.is_some() || self.devices.is_some()
    }

    /// Ends all kernels that wait for other ranks; no kernel waits afterwards.
    pub fn end_waits(&self) {
        self.failed.set(0, GIVEN_UP);
        self.devices.iter().for_each(Devices::abort);
    }

    /// Returns an error if a message has not arrived, as results then are wrong, and ends the use of the Comm on all
    /// ranks.
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
    fn check_ranks(&self) -> Result<()> {
        // Kernels that no longer wait need no further action.
        if self.failed.get(0) != 0 {
            self.devices.iter().for_each(Devices::abort);
            return Ok(());
        }
        // Kernels that a failed call has left behind would wait for messages that never come.
        if self.ranks.new_failures() {
            self.end_waits();
            return Ok(());
        }
        let well = self.devices.as_ref().map_or(Ok(()), Devices::check);
        let well = well.map_err(|e| self.ranks.fail(&e));
        self.ranks.watch().and(well).inspect_err(|_| self.end_waits())
    }
}

impl SumInbox {
    fn like_on(&self, device: &Device) -> Result<SumInbox> {
        let own = device.alloc_shared(0)?;
        let reach = PeerMemory::own(self.args.rank as usize, own.ptr());
        Ok(SumInbox { _own: own, args: self.args, reach, number: 0 })
    }

    fn new(device: &Device, comm: &Comm, failed: &Mapped) -> Result<Option<SumInbox>> {
        let ranks = comm.size();
        if ranks == 1 || ranks > MAX_PEERS as usize || comm.hosts() > 1 {
            return Ok(None);
        }
        let everybody: Vec<usize> = (0..ranks).collect();
        let (own, reach) = PeerMemory::new(device, comm, &everybody, SHARED_PAGE)?;
        if !all(comm, everybody.iter().all(|&rank| reach.of(rank).is_some()))? {
            // All ranks close the memory before it is freed.
            drop(reach);
            all(comm, true)?;
            return Ok(None);
        }
        let mut args = SumArgs {
            ranks: ranks as i32,
            rank: comm.rank() as i32,
            inbox_numbers: (own.bytes() / (2 * ranks * NUMBER_BYTES)) as i64,
            nanoseconds: comm.timeout().as_nanos() as i64,
            failed: failed.ptr(),
            ..Default::default()
        };
        (0..ranks).for_each(|rank| args.inbox[rank] = reach.of(rank).unwrap_or(Ptr::NULL));
        Ok(Some(SumInbox { _own: own, args, reach, number: 0 }))
    }
}

/// Locks a mutex, even if another thread panicked while holding it.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
