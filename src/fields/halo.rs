//! The exchange of messages across the faces between neighbouring ranks. Each face has its own route: a kernel writes
//! directly into the memory of another GPU of this host; or NCCL sends from GPU to GPU; or MPI sends, from memory that
//! it can access or from copies in host memory.

mod far;

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use super::peer_memory::{all, PeerMemory};
pub(crate) use super::peers::lock;
use super::peers::Peers;
use super::routes::{face_bit, DirectFaces, FaceRoute};
use super::Geometry;
use crate::backend::args::SignalArgs;
use crate::backend::families::Sites;
use crate::backend::kernels;
use crate::backend::{Buffer, Device, Ptr, Work};
use crate::comm::{Comm, CommCache};
use crate::error::Result;
use crate::params::Key;
use far::{MessageRoute, RemoteFaces};

/// Largest number of exchanges that are kept for a device. A solve in two precisions, with links and their borders,
/// uses less than half as many.
const MAX_EXCHANGES: usize = 16;

/// The exchanges that all fields on the ranks of a `Comm` share, one for each device and size of messages, and the
/// access of each device to the memory of other ranks.
#[derive(Debug, Default)]
struct SharedCache(Mutex<Cache>);
#[derive(Debug, Default)]
struct Cache {
    exchanges: Vec<Exchange>,
    peers: Vec<(Device, Arc<Peers>)>,
    /// The value of `Comm::failures` when these exchanges were made.
    failures: u64,
}
type Exchange = (Device, Faces, Arc<Mutex<HaloExchange>>);

/// Sizes of the messages across the faces of a rank's part, for a number of columns (right-hand sides). A message has
/// the same offset in the send buffer of one rank and in the receive buffer of the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faces {
    /// Bytes of one column in the message across the lower, or the upper, face of each direction; 0: no message.
    column: [usize; 4],
    columns: usize,
}

impl Faces {
    /// Messages of `columns` times `bytes(mu)` bytes across the lower and upper face of every direction mu whose bit is
    /// set in `mask`.
    pub fn new(mask: i32, columns: usize, bytes: impl Fn(usize) -> usize) -> Self {
        let column = |mu: usize| if mask >> mu & 1 == 1 { bytes(mu) } else { 0 };
        Faces { column: std::array::from_fn(column), columns }
    }
    /// Bytes of the message across a face of direction mu, rounded up so that every message begins aligned.
    fn bytes(&self, mu: usize) -> usize {
        (self.columns * self.column[mu]).next_multiple_of(256)
    }
    fn total(&self) -> usize {
        2 * (0..4).map(|mu| self.bytes(mu)).sum::<usize>()
    }
    fn offset(&self, mu: usize, upper: bool) -> u64 {
        let below: usize = (0..mu).map(|nu| self.bytes(nu)).sum();
        (2 * below + if upper { self.bytes(mu) } else { 0 }) as u64
    }
    /// All faces that a message crosses, as (direction, upper).
    fn list(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        let crossed = (0..4).filter(|&mu| self.bytes(mu) > 0);
        crossed.flat_map(|mu| [(mu, false), (mu, true)])
    }
    /// The faces that a message crosses, as a bit mask (`face_bit`).
    fn bits(&self) -> u8 {
        self.list().fold(0, |bits, (mu, upper)| bits | face_bit(mu, upper))
    }
    /// Whether buffers of the sizes in `self` can hold the messages of `other`, with equal bytes per column.
    fn hold(&self, other: &Faces) -> bool {
        self.column == other.column && self.columns >= other.columns
    }
}

/// Access to neighbours across those faces where kernels write directly into the receive buffer of the neighbour and
/// then set a flag there. A receive buffer has two slots, used in turn. A rank writes into a slot again only after it
/// has received the message that the neighbour sent after it had read the slot.
#[derive(Debug)]
struct Direct {
    /// Address of the receive buffer of the rank behind each face, by direction and lower or upper; null if kernels
    /// cannot access it.
    remote: [[Ptr; 2]; 4],
    memory: PeerMemory,
    number: u32,
    /// True if no kernel has been launched yet that waits for the messages with this number.
    ahead: bool,
    peers: Arc<Peers>,
}

/// Buffers and routes of an exchange, used again for all messages with the same bytes per column and at most as many
/// columns as it was made for.
#[derive(Debug)]
pub(crate) struct HaloExchange {
    /// The shared pointer that owns this exchange; messages under way hold it, so that the buffers stay allocated.
    this: Weak<Mutex<HaloExchange>>,
    /// Sizes of the largest messages that fit the buffers.
    faces: Faces,
    /// Number of columns of the messages under way.
    columns: usize,
    recv: Buffer,
    /// The exchange across the faces where kernels write directly to the neighbour; `far` is the exchange by NCCL or
    /// MPI across the other faces.
    near: Option<Direct>,
    far: Option<RemoteFaces>,
    /// Whether on every rank kernels write directly to the neighbour across all faces.
    direct: bool,
}

impl HaloExchange {
    /// An exchange for these messages; `peers`: the ranks to whose memory kernels can write (None on a CPU).
    fn new(
        device: &Device,
        comm: &Comm,
        faces: Faces,
        peers: Option<Arc<Peers>>,
    ) -> Result<Arc<Mutex<Self>>> {
        let bytes = faces.total();
        let direct = |peers: &Arc<Peers>| Direct::new(device, comm, &faces, peers.clone());
        let near = peers.as_ref().map_or(Ok(None), direct)?;
        let (recv, near) = match near {
            Some((recv, near)) => (recv, Some(near)),
            None => (device.alloc_shared(bytes)?, None),
        };
        let reached = |&(mu, upper): &(usize, bool)| {
            near.as_ref().is_some_and(|near| near.remote[mu][upper as usize] != Ptr::NULL)
        };
        let crossed: Vec<(usize, bool)> = faces.list().filter(|face| !reached(face)).collect();
        let make = || {
            let route = MessageRoute::new(device, comm, &crossed, bytes, peers)?;
            Ok(RemoteFaces::new(crossed.clone(), device.alloc_shared(bytes)?, route))
        };
        let far = (!crossed.is_empty()).then(make).transpose();
        let (far, direct) = if device.is_cpu() {
            (far?, false)
        } else {
            let far = comm.agree(far)?;
            let direct = all(comm, far.is_none())?;
            (far, direct)
        };
        Ok(Self::shared(faces, recv, near, far, direct))
    }

    fn shared(
        faces: Faces,
        recv: Buffer,
        near: Option<Direct>,
        far: Option<RemoteFaces>,
        direct: bool,
    ) -> Arc<Mutex<Self>> {
        Arc::new_cyclic(|this| {
            let (this, columns) = (this.clone(), faces.columns);
            Mutex::new(HaloExchange { this, faces, columns, recv, near, far, direct })
        })
    }

    fn held(&self) -> u64 {
        (self.recv.bytes() + self.far.as_ref().map_or(0, |far| far.send.bytes())) as u64
    }

    fn routes(&self, comm: &Comm) -> Vec<FaceRoute> {
        let route = |(mu, upper)| {
            let far = self.far.as_ref().filter(|far| far.faces.contains(&(mu, upper)));
            let route = far.map_or("its memory", |far| far.route.name());
            FaceRoute { mu, upper, rank: comm.neighbour(mu, upper), route }
        };
        self.faces.list().map(route).collect()
    }

    fn slot(&self) -> u64 {
        self.near.as_ref().map_or(0, |near| near.slot(&self.faces))
    }

    /// Begins an exchange of messages with `columns` columns; called before anything is written to the addresses that
    /// `sent` returns.
    pub fn begin(&mut self, comm: &Comm, columns: usize) -> Result<()> {
        self.columns = columns;
        let Some(near) = &mut self.near else { return Ok(()) };
        // Before this rank writes into a slot again, it must have received the message that the reader of the slot
        // sent.
        if near.ahead {
            let received_flags = near.received_flags(comm, &self.recv, &self.faces);
            signal(self.recv.device(), kernels::Await(), &received_flags)?;
        }
        (near.number, near.ahead) = (near.number.wrapping_add(1), false);
        Ok(())
    }

    /// Begins an exchange for a kernel that itself waits for the messages of the exchange before, then writes new ones
    /// to the addresses that `sent` returns; later kernels wait for these. Returns the flags that the kernel sets when
    /// it has written them; None if kernels cannot write to all neighbours.
    pub fn next_sent_flags(&mut self) -> Option<SignalArgs> {
        let near = self.near.as_mut().filter(|_| self.direct)?;
        (near.number, near.ahead) = (near.number.wrapping_add(1), true);
        Some(near.sent_flags(&self.recv, &self.faces))
    }

    /// Address to which the message across a face of this rank is written.
    pub fn sent(&self, mu: usize, upper: bool) -> Ptr {
        let remote = self.near.as_ref().map_or(Ptr::NULL, |near| near.remote[mu][upper as usize]);
        let at = self.message_sizes().offset(mu, upper);
        match &self.far {
            Some(far) if remote == Ptr::NULL => far.send.ptr().offset(at),
            _ => remote.offset(self.slot() + at),
        }
    }

    /// Sizes of the messages under way.
    fn message_sizes(&self) -> Faces {
        Faces { columns: self.columns, ..self.faces }
    }

    /// Address of the message received across a face of this rank. The neighbour sent it across its opposite face,
    /// which determines its offset.
    pub fn received(&self, mu: usize, upper: bool) -> Ptr {
        self.recv.ptr().offset(self.slot() + self.message_sizes().offset(mu, !upper))
    }

    /// Whether kernels of every rank write to all of its neighbours; the same on all ranks.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// The flags for a kernel that packs messages, signals them and waits for those of the neighbours by itself: first
    /// the flags that it sets, then those that it waits for. None if kernels cannot write to all neighbours.
    ///
    /// # Errors
    /// `CommFailed`: another rank failed.
    pub fn signals(&self, comm: &Comm) -> Result<Option<[SignalArgs; 2]>> {
        let (Some(near), None) = (&self.near, &self.far) else { return Ok(None) };
        comm.watch()?;
        let sent_flags = near.sent_flags(&self.recv, &self.faces);
        Ok(Some([sent_flags, near.received_flags(comm, &self.recv, &self.faces)]))
    }

    /// Number of the exchange under way, which kernels write into flags; None if no face is written to directly.
    pub fn number(&self) -> Option<u32> {
        self.near.as_ref().map(|near| near.number)
    }

    /// Sets the flags of the neighbours, after kernels have written messages into their memory.
    pub fn signal_neighbours(&self) -> Result<()> {
        let Some(near) = &self.near else { return Ok(()) };
        let sent_flags = near.sent_flags(&self.recv, &self.faces);
        signal(self.recv.device(), kernels::Signal(), &sent_flags)
    }

    /// Sends the packed messages and waits for those of the neighbours; on a GPU only kernels that are launched
    /// afterwards wait. `meanwhile` runs, or launches kernels, while messages are under way.
    pub fn exchange(&mut self, comm: &Comm, meanwhile: impl FnOnce() -> Result<()>) -> Result<()> {
        comm.watch()?;
        let device = self.recv.device().clone();
        self.signal_neighbours()?;
        match &self.far {
            None => meanwhile()?,
            Some(far) => self.cross(comm, far, meanwhile)?,
        }
        match &self.near {
            Some(near) => signal(
                &device,
                kernels::Await(),
                &near.received_flags(comm, &self.recv, &self.faces),
            ),
            None => Ok(()),
        }
    }
}

impl Direct {
    /// Allocates the receive buffer of this rank and opens those of its neighbours on this host whose memory kernels
    /// can access. None if no rank can access that of a neighbour across any of these faces. All ranks call this.
    fn new(
        device: &Device,
        comm: &Comm,
        faces: &Faces,
        peers: Arc<Peers>,
    ) -> Result<Option<(Buffer, Direct)>> {
        if faces.bits() & peers.reach.any == 0 {
            return Ok(None);
        }
        let near = DirectFaces::near(comm, faces.bits() & peers.reach.own);
        // Two slots and the flags.
        let bytes = 2 * faces.total() + 256;
        let (recv, memory) = PeerMemory::new(device, comm, &near, bytes)?;
        let mut remote = [[Ptr::NULL; 2]; 4];
        for (mu, upper) in faces.list() {
            remote[mu][upper as usize] = memory.of(comm.neighbour(mu, upper)).unwrap_or(Ptr::NULL);
        }
        Ok(Some((recv, Direct { remote, memory, number: 0, ahead: false, peers })))
    }

    /// The `faces` across which kernels write directly, as (direction, upper).
    fn list<'a>(&'a self, faces: &'a Faces) -> impl Iterator<Item = (usize, bool)> + 'a {
        faces.list().filter(|&(mu, upper)| self.remote[mu][upper as usize] != Ptr::NULL)
    }

    fn slot(&self, faces: &Faces) -> u64 {
        u64::from(self.number % 2) * faces.total() as u64
    }

    fn signals(&self, flags: impl Iterator<Item = (usize, Ptr)>) -> SignalArgs {
        let mut args = SignalArgs {
            number: i64::from(self.number),
            failed: self.peers.failed.ptr(),
            ..Default::default()
        };
        flags.for_each(|(k, flag)| args.flag[k] = flag);
        args
    }

    /// The flags in the memory of neighbours that a packing kernel sets after it has written its messages, and the
    /// counter of its finished blocks.
    fn sent_flags(&self, recv: &Buffer, faces: &Faces) -> SignalArgs {
        let end = 2 * faces.total() as u64;
        let flags = self.list(faces).map(|(mu, upper)| {
            let k = 2 * mu + !upper as usize;
            (k, self.remote[mu][upper as usize].offset(end + 4 * k as u64))
        });
        SignalArgs { counter: recv.ptr().offset(end + 128), ..self.signals(flags) }
    }

    /// The flags of this rank that a kernel waits for before it reads the messages of the neighbours.
    fn received_flags(&self, comm: &Comm, recv: &Buffer, faces: &Faces) -> SignalArgs {
        self.peers.awaited_on(recv.device());
        let end = 2 * faces.total() as u64;
        let flags = self.list(faces).map(|(mu, upper)| {
            let k = 2 * mu + upper as usize;
            (k, recv.ptr().offset(end + 4 * k as u64))
        });
        SignalArgs { nanoseconds: comm.timeout().as_nanos() as i64, ..self.signals(flags) }
    }
}

/// Launches a kernel that does nothing but set flags or wait for them.
fn signal(
    device: &Device,
    kernel: impl Sites<Args = SignalArgs>,
    flags: &SignalArgs,
) -> Result<()> {
    device.launch(kernel, flags, Work { n: 8, batches: 1, lanes: 1 })
}

impl Geometry {
    /// The memory of other ranks that the kernels of this device can access. All ranks call this in the same order.
    pub(super) fn peers(&self, device: &Device) -> Result<Arc<Peers>> {
        let comm = device.ranks(self.comm());
        let mut cache = cache(&comm)?;
        if let Some((_, peers)) = cache.peers.iter().find(|(d, _)| d == device) {
            return Ok(peers.clone());
        }
        let peers = Peers::new(device, &comm)?;
        cache.peers.push((device.clone(), peers.clone()));
        Ok(peers)
    }

    /// Whether kernels of every rank write to all of its neighbours. All ranks call this and get the same answer.
    pub(crate) fn reaches_all(&self, device: &Device) -> Result<bool> {
        if device.is_cpu() {
            return Ok(false);
        }
        if self.comm().size() == 1 {
            return Ok(true);
        }
        Ok(self.peers(device)?.inbox.is_some())
    }

    /// Finds out which ranks' GPUs can access each other's memory, as the choice of kernels depends on it; false if
    /// that failed.
    fn finds_peers(&self, device: &Device) -> bool {
        device.is_cpu() || self.comm().size() == 1 || self.peers(device).is_ok()
    }

    /// Compiles the kernels of work as `Device::precompile` does, on every rank by itself. All ranks call this.
    pub fn precompile<T>(
        &self,
        device: &Device,
        dry: Option<&Device>,
        likely: bool,
        key: Key,
        work: impl FnOnce(&Device) -> Result<T>,
    ) {
        if self.finds_peers(device) {
            device.precompile(dry, likely, key, |dry| {
                let _ranks = self.silent_ranks(device, dry)?;
                work(dry)
            });
        }
    }

    /// The ranks of a dry run on the device `dry`, which stands in for `device`. They have the message buffers that
    /// these ranks and their coarser process grids have allocated on `device` so far, and no others.
    ///
    /// # Errors
    /// `ProcessGrid`: never, as parts that are there divide the ranks.
    pub(super) fn silent_ranks(&self, device: &Device, dry: &Device) -> Result<Arc<Comm>> {
        let [from, to] = [device, dry].map(|device| device.ranks(self.comm()));
        copy_messages((&from, device), (&to, dry))?;
        Ok(to)
    }

    /// The smallest existing exchange whose buffers are large enough for these messages, or a new one. All ranks call
    /// this in the same order.
    pub(crate) fn halo_exchange(
        &self,
        device: &Device,
        faces: &Faces,
    ) -> Result<Arc<Mutex<HaloExchange>>> {
        let peers = if device.is_cpu() { None } else { Some(self.peers(device)?) };
        let comm = device.ranks(self.comm());
        let mut cache = cache(&comm)?;
        if let Some(at) = smallest(&cache.exchanges, device, faces) {
            // The last one used is the last in the list.
            let exchange = cache.exchanges.remove(at);
            let halo = exchange.2.clone();
            cache.exchanges.push(exchange);
            return Ok(halo);
        }
        // On a CPU other ranks do not access the buffers, so that those unused for longest are freed: those of this
        // device if it has many exchanges, else those of any device.
        let own = |e: &&Exchange| e.0 == *device;
        let many = cache.exchanges.iter().filter(own).count() >= MAX_EXCHANGES;
        if many || cache.exchanges.len() >= 4 * MAX_EXCHANGES {
            let idle = |e: &Exchange| e.0.is_cpu() && Arc::strong_count(&e.2) == 1;
            let goes = |e: &Exchange| idle(e) && (!many || own(&e));
            if let Some(at) = cache.exchanges.iter().position(goes) {
                cache.exchanges.remove(at);
            }
        }
        let halo = HaloExchange::new(device, &comm, *faces, peers)?;
        let known = routes(&cache, device, &comm);
        let new =
            |face: &&FaceRoute| !known.iter().any(|k| (k.mu, k.upper) == (face.mu, face.upper));
        lock(&halo).routes(&comm).iter().filter(new).for_each(|face| comm.log(face));
        cache.exchanges.push((device.clone(), *faces, halo.clone()));
        Ok(halo)
    }

    /// The routes that messages of this device have taken so far across the faces of this rank's part.
    pub fn crossings(&self, device: &Device) -> Vec<FaceRoute> {
        routes(&exchanges(self.comm()), device, self.comm())
    }

    /// Bytes of device memory that the message buffers of these ranks and of their coarser process grids take.
    pub fn halo_bytes(&self, device: &Device) -> u64 {
        held(self.comm(), device)
    }
}

fn held(comm: &Comm, device: &Device) -> u64 {
    let own = |cache: &Cache| -> u64 {
        let all = cache.exchanges.iter().filter(|(d, _, _)| d == device);
        all.map(|(_, _, halo)| lock(halo).held()).sum()
    };
    let own = own(&exchanges(comm));
    own + comm.parts().iter().map(|part| held(part, device)).sum::<u64>()
}

/// Gives the ranks `to` on the device `dry` message buffers of the sizes that the ranks `from` have on `device`, and
/// drops all others.
fn copy_messages(
    (from, device): (&Arc<Comm>, &Device),
    (to, dry): (&Arc<Comm>, &Device),
) -> Result<()> {
    let known = known_peers(from, device);
    let peers = || known.map_or_else(|| Peers::expected(dry, to), |known| known.like_on(dry, to));
    let peers = if dry.is_cpu() { None } else { Some(peers()?) };
    let faces: Vec<Faces> = {
        let cache = exchanges(from);
        let all = cache.exchanges.iter().filter(|(d, _, _)| d == device);
        all.map(|(_, faces, _)| *faces).collect()
    };
    let empty = Cache { failures: to.failures(), ..Default::default() };
    drop(std::mem::replace(&mut *exchanges(to), empty));
    let made: Vec<Exchange> = faces
        .into_iter()
        .map(|faces| Ok((dry.clone(), faces, HaloExchange::new(dry, to, faces, peers.clone())?)))
        .collect::<Result<_>>()?;
    let mut cache = exchanges(to);
    cache.exchanges = made;
    cache.peers.extend(peers.map(|peers| (dry.clone(), peers)));
    drop(cache);
    for part in from.parts() {
        if let Some(to) = to.coarser(part.grid())? {
            copy_messages((&part, device), (&to, dry))?;
        }
    }
    Ok(())
}

/// The route of messages across each face across which a device has exchanged messages.
fn routes(cache: &Cache, device: &Device, comm: &Comm) -> Vec<FaceRoute> {
    let mut all: Vec<FaceRoute> = vec![];
    for (_, _, halo) in cache.exchanges.iter().filter(|(d, _, _)| d == device) {
        for face in lock(halo).routes(comm) {
            if !all.iter().any(|k| (k.mu, k.upper) == (face.mu, face.upper)) {
                all.push(face);
            }
        }
    }
    all
}

/// Position in the list `all` of the smallest exchange whose buffers are large enough for these messages.
fn smallest(all: &[Exchange], device: &Device, faces: &Faces) -> Option<usize> {
    let fits = |&at: &usize| all[at].0 == *device && all[at].1.hold(faces);
    (0..all.len()).filter(fits).min_by_key(|&at| all[at].1.columns)
}

impl Cache {
    /// Closes the memory of other ranks that this rank has opened; returns whether others may have opened memory of
    /// this rank.
    fn release(&self) -> bool {
        let mut shared = false;
        for (device, _, halo) in &self.exchanges {
            if let Some(near) = &mut lock(halo).near {
                // Nothing to be done about a device that is lost.
                let _ = device.synchronize();
                near.memory.close();
                shared = true;
            }
        }
        for (_, peers) in &self.peers {
            shared |= peers.release();
        }
        shared
    }
}

impl CommCache for SharedCache {
    fn any(&self) -> &dyn Any {
        self
    }
    fn release(&self) -> bool {
        lock(&self.0).release()
    }
}

fn exchanges(comm: &Comm) -> MutexGuard<'_, Cache> {
    lock(&comm.cache::<SharedCache>().0)
}

/// Whether all ranks have already found out which memory of each other the kernels of this device can access.
pub(super) fn knows_peers(comm: &Comm, device: &Device) -> bool {
    device.is_cpu() || known_peers(comm, device).is_some()
}

/// The peers of this device, if they are known.
pub(super) fn known_peers(comm: &Comm, device: &Device) -> Option<Arc<Peers>> {
    let cache = exchanges(comm);
    cache.peers.iter().find(|(d, _)| d == device).map(|(_, peers)| peers.clone())
}

/// The exchanges of these ranks; if a call has failed since they were made they are dropped. All ranks call this in the
/// same order.
fn cache(comm: &Comm) -> Result<MutexGuard<'_, Cache>> {
    let mut cache = exchanges(comm);
    if cache.failures != comm.failures() {
        // Kernels that the call left behind may still write into the old buffers.
        cache.peers.iter().for_each(|(_, peers)| peers.end_waits());
        give_up_parts(comm);
        let drained = cache.exchanges.iter().try_for_each(|(device, _, _)| device.synchronize());
        cache.release();
        comm.agree(drained)?;
        *cache = Cache { failures: comm.failures(), ..Default::default() };
    }
    Ok(cache)
}

/// Ends kernels that wait for ranks of a part of these.
fn give_up_parts(comm: &Comm) {
    for part in comm.parts() {
        exchanges(&part).peers.iter().for_each(|(_, peers)| peers.end_waits());
        give_up_parts(&part);
    }
}
