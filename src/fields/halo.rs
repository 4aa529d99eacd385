//! What crosses the faces between ranks: the messages of one exchange. Each face has its own route:
//! straight from the packing kernel into the memory of a GPU of this host; from GPU to GPU by NCCL; or
//! through messages of MPI from memory that it reaches or from copies on the host.

mod far;

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use super::peer_memory::{all, PeerMemory};
pub(crate) use super::peers::lock;
use super::peers::Peers;
use super::routes::{face_bit, Crossing, DirectFaces};
use super::Geometry;
use crate::backend::args::SignalArgs;
use crate::backend::families::Sites;
use crate::backend::kernels;
use crate::backend::{Buffer, Device, Ptr, Work};
use crate::comm::{Comm, CommCache};
use crate::error::Result;
use crate::params::Key;
use far::{Far, Way};

/// Number of exchanges that are kept at a time: solves in two precisions with links and borders take less than half
/// of them.
const MAX_EXCHANGES: usize = 16;

/// What all fields on the ranks of a `Comm` share: its exchanges, one for each device and kind of messages, and the
/// flags that kernels wait for.
#[derive(Debug, Default)]
struct SharedCache(Mutex<Cache>);
#[derive(Debug, Default)]
struct Cache {
    exchanges: Vec<Exchange>,
    peers: Vec<(Device, Arc<Peers>)>,
    /// The number of failed calls (`Comm::failures`) when this was made.
    failures: u64,
}
type Exchange = (Device, Faces, Arc<Mutex<HaloExchange>>);

/// Sizes of the messages across lower and upper faces, each for a number of columns; a message has the same place in
/// what is sent and in what is received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faces {
    /// Bytes of a column across either face of a direction; 0: no message goes there.
    column: [usize; 4],
    columns: usize,
}

impl Faces {
    /// Messages of `columns` times `bytes(mu)` across both faces of every direction of `mask`.
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
    /// The same as bits.
    fn bits(&self) -> u8 {
        self.list().fold(0, |bits, (mu, upper)| bits | face_bit(mu, upper))
    }
    /// Whether these buffers have room for messages of the same kind with as many or fewer columns.
    fn hold(&self, other: &Faces) -> bool {
        self.column == other.column && self.columns >= other.columns
    }
}

/// Faces across which kernels write straight into the memory of the neighbour, and then set its flag. Two slots are
/// used in turn: a rank writes into a slot again only after the message that its reader sent after reading it.
#[derive(Debug)]
struct Direct {
    /// The receive buffer of the rank behind each face; null where kernels do not reach it.
    there: [[Ptr; 2]; 4],
    memory: PeerMemory,
    number: u32,
    /// True while nothing waits for the messages of this number.
    ahead: bool,
    peers: Arc<Peers>,
}

/// Buffers and routes of one kind of messages, used again and again with as many columns as it was made for or fewer.
#[derive(Debug)]
pub(crate) struct HaloExchange {
    /// The shared pointer that owns this exchange, for messages under way.
    me: Weak<Mutex<HaloExchange>>,
    /// Largest messages that there is room for.
    faces: Faces,
    /// Number of columns of the messages under way.
    columns: usize,
    recv: Buffer,
    /// The exchange across those faces across which kernels write by themselves; `far` is that across all others.
    near: Option<Direct>,
    far: Option<Far>,
    /// Whether kernels of every rank write across all faces.
    direct: bool,
}

impl HaloExchange {
    /// An exchange for these faces; `peers` tells which ranks' memory kernels may write to.
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
            near.as_ref().is_some_and(|near| near.there[mu][upper as usize] != Ptr::NULL)
        };
        let crossed: Vec<(usize, bool)> = faces.list().filter(|face| !reached(face)).collect();
        let make = || {
            let way = Way::new(device, comm, &crossed, bytes, peers)?;
            Ok(Far::new(crossed.clone(), device.alloc_shared(bytes)?, way))
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
        far: Option<Far>,
        direct: bool,
    ) -> Arc<Mutex<Self>> {
        Arc::new_cyclic(|me| {
            let (me, columns) = (me.clone(), faces.columns);
            Mutex::new(HaloExchange { me, faces, columns, recv, near, far, direct })
        })
    }

    fn held(&self) -> u64 {
        (self.recv.bytes() + self.far.as_ref().map_or(0, |far| far.send.bytes())) as u64
    }

    fn ways(&self, comm: &Comm) -> Vec<Crossing> {
        let way = |(mu, upper)| {
            let far = self.far.as_ref().filter(|far| far.faces.contains(&(mu, upper)));
            let way = far.map_or("its memory", |far| far.way.name());
            Crossing { mu, upper, rank: comm.neighbour(mu, upper), way }
        };
        self.faces.list().map(way).collect()
    }

    fn slot(&self) -> u64 {
        self.near.as_ref().map_or(0, |near| near.slot(&self.faces))
    }

    /// Begins an exchange of `columns` columns; called before anything is written to where `sent` points.
    pub fn begin(&mut self, comm: &Comm, columns: usize) -> Result<()> {
        self.columns = columns;
        let Some(near) = &mut self.near else { return Ok(()) };
        // Who writes into a slot again must have seen what its reader sent after reading it.
        if near.ahead {
            let arrivals = near.arrivals(comm, &self.recv, &self.faces);
            signal(self.recv.device(), kernels::Await(), &arrivals)?;
        }
        (near.number, near.ahead) = (near.number.wrapping_add(1), false);
        Ok(())
    }

    /// Begins an exchange for a kernel that waits for the last messages by itself before it writes into `sent`, and
    /// whose messages later kernels wait for. Returns the flags that it sets. None where kernels cannot write to all
    /// neighbours.
    pub fn go_on(&mut self) -> Option<SignalArgs> {
        let near = self.near.as_mut().filter(|_| self.direct)?;
        (near.number, near.ahead) = (near.number.wrapping_add(1), true);
        Some(near.departures(&self.recv, &self.faces))
    }

    /// Address to which the message across a face of this rank is written.
    pub fn sent(&self, mu: usize, upper: bool) -> Ptr {
        let there = self.near.as_ref().map_or(Ptr::NULL, |near| near.there[mu][upper as usize]);
        let at = self.now().offset(mu, upper);
        match &self.far {
            Some(far) if there == Ptr::NULL => far.send.ptr().offset(at),
            _ => there.offset(self.slot() + at),
        }
    }

    /// The messages under way.
    fn now(&self) -> Faces {
        Faces { columns: self.columns, ..self.faces }
    }

    /// Address of the message that came across a face: the neighbour sent it across its opposite one.
    pub fn received(&self, mu: usize, upper: bool) -> Ptr {
        self.recv.ptr().offset(self.slot() + self.now().offset(mu, !upper))
    }

    /// Whether kernels of every rank write to all of its neighbours; the same on all ranks.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// The flags that a kernel sets and waits for, if it packs, tells neighbours and waits for them by itself. None
    /// where kernels cannot write to all neighbours.
    ///
    /// # Errors
    /// `CommFailed`: another rank failed.
    pub fn signals(&self, comm: &Comm) -> Result<Option<[SignalArgs; 2]>> {
        let (Some(near), None) = (&self.near, &self.far) else { return Ok(None) };
        comm.watch()?;
        let departures = near.departures(&self.recv, &self.faces);
        Ok(Some([departures, near.arrivals(comm, &self.recv, &self.faces)]))
    }

    /// Number of the exchange under way, where kernels pass it on from rank to rank.
    pub fn number(&self) -> Option<u32> {
        self.near.as_ref().map(|near| near.number)
    }

    /// Tells neighbours that the messages which kernels packed for them are there.
    pub fn depart(&self) -> Result<()> {
        let Some(near) = &self.near else { return Ok(()) };
        let departures = near.departures(&self.recv, &self.faces);
        signal(self.recv.device(), kernels::Signal(), &departures)
    }

    /// Sends what is packed and waits for what comes; on a GPU what is launched afterwards waits. `meanwhile` runs,
    /// or is launched, while messages are under way.
    pub fn exchange(&mut self, comm: &Comm, meanwhile: impl FnOnce() -> Result<()>) -> Result<()> {
        comm.watch()?;
        let device = self.recv.device().clone();
        self.depart()?;
        match &self.far {
            None => meanwhile()?,
            Some(far) => self.cross(comm, far, meanwhile)?,
        }
        match &self.near {
            Some(near) => {
                signal(&device, kernels::Await(), &near.arrivals(comm, &self.recv, &self.faces))
            }
            None => Ok(()),
        }
    }
}

impl Direct {
    /// The receive buffer of this rank, and access to those of its neighbours on this host, as far as they can be
    /// reached; None if no rank reaches any across these faces. All ranks call this.
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
        let mut there = [[Ptr::NULL; 2]; 4];
        for (mu, upper) in faces.list() {
            there[mu][upper as usize] = memory.of(comm.neighbour(mu, upper)).unwrap_or(Ptr::NULL);
        }
        Ok(Some((recv, Direct { there, memory, number: 0, ahead: false, peers })))
    }

    /// The faces across which kernels write, with their messages.
    fn list<'a>(&'a self, faces: &'a Faces) -> impl Iterator<Item = (usize, bool)> + 'a {
        faces.list().filter(|&(mu, upper)| self.there[mu][upper as usize] != Ptr::NULL)
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

    /// The flags at the neighbours that a packing kernel sets after it has written its messages, and its counter.
    fn departures(&self, recv: &Buffer, faces: &Faces) -> SignalArgs {
        let end = 2 * faces.total() as u64;
        let flags = self.list(faces).map(|(mu, upper)| {
            let k = 2 * mu + !upper as usize;
            (k, self.there[mu][upper as usize].offset(end + 4 * k as u64))
        });
        SignalArgs { counter: recv.ptr().offset(end + 128), ..self.signals(flags) }
    }

    /// The flags of this rank that a kernel waits for before it reads the messages of the neighbours.
    fn arrivals(&self, comm: &Comm, recv: &Buffer, faces: &Faces) -> SignalArgs {
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
    /// Flags and boards that kernels of this device share with other ranks. All ranks call this in the same order.
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
        Ok(self.peers(device)?.board.is_some())
    }

    /// Finds out what ranks reach each other, on which depends which kernels they take.
    fn finds_peers(&self, device: &Device) -> bool {
        device.is_cpu() || self.comm().size() == 1 || self.peers(device).is_ok()
    }

    /// Compiles the kernels of work as `Device::foresee` does, on every rank by itself. All ranks call this.
    pub fn foresee<T>(
        &self,
        device: &Device,
        dry: Option<&Device>,
        likely: bool,
        key: Key,
        work: impl FnOnce(&Device) -> Result<T>,
    ) {
        if self.finds_peers(device) {
            device.foresee(dry, likely, key, |dry| {
                let _ranks = self.silent_ranks(device, dry)?;
                work(dry)
            });
        }
    }

    /// The ranks of a dry run on `dry`, which stands in for `device`: message buffers that are there for these ranks
    /// and their parts are there on `dry`, and no others.
    ///
    /// # Errors
    /// `ProcessGrid`: never, as parts that are there divide the ranks.
    pub(super) fn silent_ranks(&self, device: &Device, dry: &Device) -> Result<Arc<Comm>> {
        let [from, to] = [device, dry].map(|device| device.ranks(self.comm()));
        copy_messages((&from, device), (&to, dry))?;
        Ok(to)
    }

    /// The exchange of these messages, the smallest in which they have room. All ranks call this in the same order.
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
        // On a CPU nobody else knows of the buffers: those that were not used for long go.
        // Those of this device, or where devices come and go the oldest of all.
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
        let known = ways(&cache, device, &comm);
        let new =
            |face: &&Crossing| !known.iter().any(|k| (k.mu, k.upper) == (face.mu, face.upper));
        lock(&halo).ways(&comm).iter().filter(new).for_each(|face| comm.log(face));
        cache.exchanges.push((device.clone(), *faces, halo.clone()));
        Ok(halo)
    }

    /// The ways that messages have taken across the faces of this rank's part so far.
    pub fn crossings(&self, device: &Device) -> Vec<Crossing> {
        ways(&exchanges(self.comm()), device, self.comm())
    }

    /// Device memory that buffers for messages of these ranks and their parts hold.
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

/// Makes for some ranks on a device the message buffers that others have on theirs, and no others.
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

/// The way of messages across each face that a device has exchanged any across.
fn ways(cache: &Cache, device: &Device, comm: &Comm) -> Vec<Crossing> {
    let mut all: Vec<Crossing> = vec![];
    for (_, _, halo) in cache.exchanges.iter().filter(|(d, _, _)| d == device) {
        for face in lock(halo).ways(comm) {
            if !all.iter().any(|k| (k.mu, k.upper) == (face.mu, face.upper)) {
                all.push(face);
            }
        }
    }
    all
}

/// Position in a list of the smallest exchange that has room for these messages.
fn smallest(all: &[Exchange], device: &Device, faces: &Faces) -> Option<usize> {
    let fits = |&at: &usize| all[at].0 == *device && all[at].1.hold(faces);
    (0..all.len()).filter(fits).min_by_key(|&at| all[at].1.columns)
}

impl Cache {
    /// Closes the memory of other ranks that kernels of this rank reached; returns whether others reached its own.
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

/// Whether all ranks know by now what kernels of this device reach of each other.
pub(super) fn knows_peers(comm: &Comm, device: &Device) -> bool {
    device.is_cpu() || known_peers(comm, device).is_some()
}

/// The peers of this device, if they are known.
pub(super) fn known_peers(comm: &Comm, device: &Device) -> Option<Arc<Peers>> {
    let cache = exchanges(comm);
    cache.peers.iter().find(|(d, _)| d == device).map(|(_, peers)| peers.clone())
}

/// The exchanges of these ranks; those of before a failed call are dropped. All ranks call this in the same order.
fn cache(comm: &Comm) -> Result<MutexGuard<'_, Cache>> {
    let mut cache = exchanges(comm);
    if cache.failures != comm.failures() {
        // Kernels that the call left behind may still write into the old buffers.
        cache.peers.iter().for_each(|(_, peers)| peers.give_up());
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
        exchanges(&part).peers.iter().for_each(|(_, peers)| peers.give_up());
        give_up_parts(&part);
    }
}
