//! Ranks that share a lattice: process grid, messages, sums. One rank needs nothing of this
//! machine; many talk through MPI.

mod exchange;
mod failure;
mod grid;
mod launcher;
mod mpi;
mod outcomes;
mod part;
mod silent;
mod transport;

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use crate::bail;
use crate::error::{host_array, Error, Result, Status};
use crate::refuse;
use grid::Grid;
use transport::{Side, Transport, Verdict};

pub(crate) use exchange::Repeated;
pub(crate) use exchange::CHUNK as LARGEST_MESSAGE;
pub use exchange::{Owner, Pending};
pub(crate) use grid::coordinates;
pub use grid::RankMap;
pub use launcher::{launched, Launched};
pub use mpi::{host, CommAddress, Communicator};

/// Default time after which a rank that waits for another gives up, if neither the host nor PLAQ_COMM_TIMEOUT sets one.
/// It is long enough for a host that writes files between two calls.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A message to one rank and the one of equal length expected from another. Addresses are of memory that the
/// transport can reach and stay valid until the exchange is finished; 0 means none.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub to: usize,
    pub from: usize,
    /// Tells apart messages between the same two ranks; 0 to 32767.
    pub tag: i32,
    pub send: u64,
    pub recv: u64,
    pub bytes: usize,
}

/// Numbers of what a rank exchanges through MPI, by which tests check costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommCounts {
    /// Messages sent to other ranks.
    pub messages: u64,
    /// Sums over all ranks.
    pub sums: u64,
}

/// Settings of the ranks besides their grid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Time after which a rank that waits for another gives up; `None`: PLAQ_COMM_TIMEOUT in seconds, or 300 s.
    pub timeout: Option<Duration>,
    /// Sums are added in the order of ranks: the same bits whatever MPI does, on a fixed grid.
    pub reproducible: bool,
    /// Directions in which one rank has halos to itself, for tests.
    pub looped: [bool; 4],
}

/// Lets a waiting thread hear of ranks that failed, as long as the Comm exists.
#[derive(Debug)]
pub(crate) struct Listener {
    transport: Weak<Transport>,
    /// The value of [`Comm::failures`] when this listener was made.
    failures: u64,
}

impl Listener {
    /// Checks for failures as [`Comm::watch`] does; a thread that must not call MPI hears nothing.
    pub fn watch(&self) -> Result<()> {
        match self.transport.upgrade().map(|t| t.ready(Side::Data)) {
            Some(Err(e)) if e.status != Status::MpiThread => Err(e),
            _ => Ok(()),
        }
    }

    /// Gives up on all ranks as [`Comm::fail`] does.
    pub fn fail(&self, error: &Error) -> Error {
        match self.transport.upgrade() {
            Some(transport) => transport.fail(error),
            None => error.clone(),
        }
    }

    /// Whether a failure has ended a guarded call since this listener was made.
    pub fn new_failures(&self) -> bool {
        self.transport.upgrade().is_some_and(|t| t.failures() != self.failures)
    }
}

/// The state of the limit of time around a solve, which [`Comm::end_clock`] restores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock((bool, bool));

/// Places where the ranks run: machines, hosts and cores.
#[derive(Clone, Debug)]
struct Places {
    /// The machine of each rank, whose cores and GPUs it shares with other ranks there.
    machines: Vec<usize>,
    /// The host of each rank: ranks of one host may reach each other's memory. A host is a machine, or a part of one
    /// where `PLAQ_RANKS_PER_HOST` says so.
    hosts: Vec<usize>,
    /// Number of ranks that may run on exactly this rank's cores.
    core_sharers: usize,
    /// Cores on which a rank may run, whatever the number of its threads, divided by the ranks that may run on exactly
    /// these; less than 1 where ranks share one. The least of all ranks.
    cores: f64,
}

impl Places {
    fn alone() -> Places {
        Places { machines: vec![0], hosts: vec![0], core_sharers: 1, cores: 1.0 }
    }

    /// The places of some of these ranks.
    fn of(&self, members: &[usize]) -> Places {
        let some = |all: &[usize]| members.iter().map(|&rank| all[rank]).collect();
        Places { machines: some(&self.machines), hosts: some(&self.hosts), ..*self }
    }
}

/// The ranks in the same group as this one, ascending.
fn together(groups: &[usize], rank: usize) -> Vec<usize> {
    (0..groups.len()).filter(|&other| groups[other] == groups[rank]).collect()
}

/// Data that the layer above keeps as long as its ranks exist.
pub trait CommCache: Any + Debug + Send + Sync {
    fn any(&self) -> &dyn Any;
    /// Closes, at the end, what it opened of other ranks' memory; returns whether others may have opened its own.
    fn release(&self) -> bool;
}

/// The ranks of a lattice, x fastest in the process grid unless the host maps them otherwise.
#[derive(Debug)]
pub struct Comm {
    rank: usize,
    grid: Grid,
    coords: [usize; 4],
    /// The ranks one step backward and forward in each direction.
    neighbours: [[usize; 2]; 4],
    /// The directions in which fields have halos.
    split: [bool; 4],
    places: Places,
    /// The ranks of this rank's machine and of its host, ascending.
    node: Vec<usize>,
    host: Vec<usize>,
    reproducible: bool,
    /// The connection to other ranks; None with one rank, and where nobody is spoken to.
    transport: Option<Arc<Transport>>,
    /// For the ranks of a dry run: the ranks that they were made from, which speak.
    origin: Option<silent::Origin>,
    /// The ranks of dry runs that were made from these.
    silent: silent::Silent,
    cache: OnceLock<Box<dyn CommCache>>,
    /// The coarser process grids that were asked for so far.
    coarser: part::Coarser,
}

impl Comm {
    /// One rank: the whole lattice, periodic, without halos.
    pub fn single() -> Arc<Comm> {
        Self::looped([false; 4])
    }

    /// One rank whose halos in the directions of `split` come from itself: the same results as
    /// `single` by the way that many ranks take.
    pub fn looped(split: [bool; 4]) -> Arc<Comm> {
        let grid = Grid { extents: [1; 4], ranks: vec![0] };
        Arc::new(Self::new(0, grid, split, Places::alone(), false, None))
    }

    /// The ranks of the host's communicator, which is duplicated; every rank of it calls this
    /// with the same `grid` (zeros: all ranks along t), `map` and options.
    ///
    /// # Errors
    /// On every rank: `ProcessGrid` (the grid's product is not the number of ranks, the map no
    /// permutation, or ranks were given different ones), `InvalidArgument` (time-out, PLAQ_RANKS_PER_HOST),
    /// `CommFailed`. On this rank only: `MpiMissing`, `MpiState`, `MpiThread`, `NullPointer`.
    pub fn mpi(
        communicator: Communicator,
        grid: [i32; 4],
        map: &RankMap,
        options: &Options,
    ) -> Result<Arc<Comm>> {
        let timeout = timeout(options);
        let transport =
            Transport::open(communicator, timeout.as_ref().map_or(TIMEOUT, |seconds| *seconds))?;
        let mine = timeout.and_then(|_| Grid::new(grid, map, transport.size));
        let mine = mine.and_then(|grid| Ok((grid, ranks_per_host()?)));
        let (grid, per_host) = agree(&transport, mine)?;
        let hash = |bytes: &[u8]| *blake3::hash(bytes).as_bytes();
        let mut facts = hash(&grid.bytes()).to_vec();
        facts.extend(hash(&[options.reproducible as u8]));
        facts.extend(hash(transport.node().as_bytes()));
        facts.extend(hash(&mpi::cores()));
        let group = per_host.map_or(0, |ranks| transport.rank / ranks);
        facts.extend(hash(format!("{} {group}", transport.node()).as_bytes()));
        let all = transport.all_gather(&facts)?;
        let fact = |rank: usize, i: usize| &all[(5 * rank + i) * 32..][..32];
        for rank in 1..transport.size {
            if fact(rank, 0) != fact(0, 0) || fact(rank, 1) != fact(0, 1) {
                bail!(
                    ProcessGrid,
                    "ranks 0 and {rank} were given different process grids, maps or kinds of sums"
                );
            }
        }
        let rank = transport.rank;
        // A group has the number of its first rank.
        let groups = |i: usize| -> Vec<usize> {
            let first = |rank| (0..rank).find(|&r| fact(r, i) == fact(rank, i)).unwrap_or(rank);
            (0..transport.size).map(first).collect()
        };
        let (machines, hosts) = (groups(2), groups(4));
        let near = together(&machines, rank);
        let core_sharers = near.iter().filter(|&&r| fact(r, 3) == fact(rank, 3)).count();
        // Where the system names no cores, those of which it tells the number.
        let own = match mpi::cores().iter().map(|byte| byte.count_ones() as usize).sum() {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            own => own,
        };
        let cores = transport.all_gather(&(own as f64 / core_sharers as f64).to_ne_bytes())?;
        let cores = cores.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
        let cores = cores.fold(f64::INFINITY, f64::min);
        let places = Places { machines, hosts, core_sharers, cores };
        let split = std::array::from_fn(|mu| grid.extents[mu] > 1 || options.looped[mu]);
        let transport = (transport.size > 1).then_some(transport);
        Ok(Arc::new(Self::new(rank, grid, split, places, options.reproducible, transport)))
    }

    fn new(
        rank: usize,
        grid: Grid,
        split: [bool; 4],
        places: Places,
        reproducible: bool,
        transport: Option<Arc<Transport>>,
    ) -> Comm {
        let coords = grid.coords(rank);
        let neighbours = std::array::from_fn(|mu| {
            let step = |steps: usize| {
                let mut at = coords;
                at[mu] = (at[mu] + steps) % grid.extents[mu];
                grid.rank(at)
            };
            [step(grid.extents[mu] - 1), step(1)]
        });
        Comm {
            rank,
            grid,
            coords,
            neighbours,
            split,
            node: together(&places.machines, rank),
            host: together(&places.hosts, rank),
            places,
            reproducible,
            transport,
            origin: None,
            silent: Default::default(),
            cache: OnceLock::new(),
            coarser: Default::default(),
        }
    }

    pub fn rank(&self) -> usize {
        self.rank
    }
    pub fn size(&self) -> usize {
        self.grid.ranks.len()
    }
    /// Number of ranks in each direction.
    pub fn grid(&self) -> [usize; 4] {
        self.grid.extents
    }
    /// Coordinates of this rank in the grid.
    pub fn coords(&self) -> [usize; 4] {
        self.coords
    }
    /// Coordinates of any rank in the grid.
    pub fn coords_of(&self, rank: usize) -> [usize; 4] {
        self.grid.coords(rank)
    }
    /// The rank at these coordinates of the grid.
    pub fn rank_at(&self, coords: [usize; 4]) -> usize {
        self.grid.rank(coords)
    }
    /// Data of one type that the layer above keeps as long as these ranks exist; made at the first call.
    pub fn cache<T: CommCache + Default>(&self) -> &T {
        let cache = self.cache.get_or_init(|| Box::new(T::default()));
        cache.any().downcast_ref().expect("one type keeps things here")
    }
    /// Number of guarded calls that a failure has ended. Whoever counts messages begins anew after each, since ranks
    /// left that call at different places.
    pub fn failures(&self) -> u64 {
        self.transport.as_ref().map_or(0, |t| t.failures())
    }
    /// Time after which a rank that waits for another gives up.
    pub fn timeout(&self) -> Duration {
        self.transport.as_ref().map_or(TIMEOUT, |t| t.timeout)
    }
    /// Whether sums are added in the order of ranks.
    pub(crate) fn reproducible(&self) -> bool {
        self.reproducible
    }
    /// Whether fields have halos in this direction.
    pub fn split(&self, mu: usize) -> bool {
        self.split[mu]
    }
    /// Whether any direction is divided over ranks.
    pub fn divided(&self) -> bool {
        self.split.contains(&true)
    }
    pub fn neighbour(&self, mu: usize, forward: bool) -> usize {
        self.neighbours[mu][forward as usize]
    }
    /// The ranks of this rank's machine, which share its cores and GPUs, ascending.
    pub fn node(&self) -> &[usize] {
        &self.node
    }
    /// The ranks of this rank's host, which may reach each other's memory, ascending: those of its machine, or of the
    /// part of it that `PLAQ_RANKS_PER_HOST` makes.
    pub fn host(&self) -> &[usize] {
        &self.host
    }
    /// Number of hosts that the ranks are on.
    pub fn hosts(&self) -> usize {
        let mut hosts = self.places.hosts.clone();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.len()
    }
    /// Position of this rank among those of its node.
    pub fn node_rank(&self) -> usize {
        self.node().iter().position(|r| *r == self.rank).unwrap_or(0)
    }
    /// Number of ranks that may run on exactly this rank's cores, itself included.
    pub fn core_sharers(&self) -> usize {
        self.places.core_sharers
    }
    /// Number of cores on which the rank that has the fewest may run, its share where ranks may run on the same.
    pub fn cores(&self) -> f64 {
        self.places.cores
    }
    /// Whether two ranks are on the same host.
    pub fn same_host(&self, one: usize, other: usize) -> bool {
        self.places.hosts[one] == self.places.hosts[other]
    }
    /// Whether MPI takes addresses of GPU memory.
    pub fn takes_gpu_memory(&self) -> bool {
        self.transport.as_ref().is_some_and(|t| t.takes_gpu_memory())
    }

    fn transport(&self) -> Option<&Arc<Transport>> {
        self.transport.as_ref()
    }

    /// Extents of a rank's part of the lattice `global`.
    ///
    /// # Errors
    /// `ProcessGrid`: an extent is not a multiple of twice its ranks (parts have even extents).
    pub fn local_extents(&self, global: [usize; 4]) -> Result<[usize; 4]> {
        let grid = self.grid();
        for mu in 0..4 {
            if grid[mu] > 1 && !global[mu].is_multiple_of(2 * grid[mu]) {
                bail!(
                    ProcessGrid,
                    "extent {} of direction {} over {} ranks: every rank needs an even extent",
                    global[mu],
                    ["x", "y", "z", "t"][mu],
                    grid[mu]
                );
            }
        }
        Ok(std::array::from_fn(|mu| global[mu] / grid[mu]))
    }

    /// Starts messages as `start` does, for programs outside of this library.
    ///
    /// # Safety
    /// The addresses of every message have `bytes` bytes, which nobody else uses before
    /// [`Comm::finish`], and which `owner` keeps.
    ///
    /// # Errors
    /// `CommFailed`, `MpiThread`.
    pub unsafe fn start_raw(&self, messages: &[Message], owner: Option<Owner>) -> Result<Pending> {
        self.start(messages, owner)
    }

    /// Sends and receives; returns at once. Every rank calls this and what follows in the same
    /// order. `owner` is kept as long as MPI may use the memory, also if the exchange fails.
    ///
    /// # Errors
    /// `CommFailed`, `MpiThread`.
    pub(crate) fn start(&self, messages: &[Message], owner: Option<Owner>) -> Result<Pending> {
        if self.is_silent() {
            return Ok(Pending::default());
        }
        let others = self.deliver_own(messages);
        match self.transport() {
            None => Ok(Pending::default()),
            Some(transport) => Pending::start(transport, &others, owner),
        }
    }

    /// Starts messages as `start` does, by requests that are kept for the next time.
    ///
    /// # Errors
    /// `CommFailed`, `MpiThread`.
    pub(crate) fn repeat(&self, repeated: &mut Repeated, owner: Option<Owner>) -> Result<Pending> {
        if self.is_silent() {
            return Ok(Pending::default());
        }
        let others = self.deliver_own(repeated.messages());
        match self.transport() {
            None => Ok(Pending::default()),
            Some(transport) => repeated.start(transport, &others, owner),
        }
    }

    /// Copies the messages of this rank to itself; returns the others.
    fn deliver_own(&self, messages: &[Message]) -> Vec<Message> {
        let own = |m: &&Message| m.to == self.rank && m.from == self.rank;
        for m in messages.iter().filter(own) {
            // SAFETY: both ranges have `bytes` bytes, are distinct, and outlive this call.
            unsafe {
                std::ptr::copy_nonoverlapping(m.send as *const u8, m.recv as *mut u8, m.bytes);
            }
        }
        messages.iter().filter(|m| !own(m)).copied().collect()
    }

    /// Numbers of what this rank has exchanged with others through MPI so far.
    pub fn counts(&self) -> CommCounts {
        self.transport.as_ref().map(|t| t.counts()).unwrap_or_default()
    }

    /// Starts further messages, between different ranks, with those under way.
    ///
    /// # Errors
    /// `CommFailed`, `MpiThread`.
    pub(crate) fn add(&self, pending: &mut Pending, messages: &[Message]) -> Result<()> {
        pending.add(messages)
    }

    /// Waits until messages that were started have arrived.
    ///
    /// # Errors
    /// `CommFailed`: another rank failed, or the time is over.
    pub fn finish(&self, pending: Pending) -> Result<()> {
        pending.finish()
    }

    /// Sums over all ranks; every rank gets the same bits.
    pub fn sum(&self, values: &mut [f64]) -> Result<()> {
        match self.transport() {
            None => Ok(()),
            Some(transport) => transport.sum(values, self.reproducible),
        }
    }

    /// For sums that ranks take without [`Comm::sum`]: `body` adds one further number over all ranks to them.
    pub(crate) fn sum_beside<T>(&self, body: impl FnOnce(f64) -> Result<(T, f64)>) -> Result<T> {
        match self.transport() {
            None => Ok(body(0.0)?.0),
            Some(transport) => {
                transport.usable(Side::Data)?;
                transport.with_stop(body)
            }
        }
    }

    /// The further number for sums that are started but not waited for.
    ///
    /// # Errors
    /// `CommFailed`: an earlier call failed.
    pub(crate) fn asked_beside(&self) -> Result<f64> {
        self.transport().map_or(Ok(0.0), |transport| {
            transport.usable(Side::Data)?;
            Ok(transport.requests())
        })
    }
    /// Takes the sum of these further numbers over all ranks, once the sums beside them are known.
    pub(crate) fn told_beside(&self, flag: f64) {
        if let Some(transport) = self.transport() {
            transport.told(flag);
        }
    }

    /// Fails if another rank has failed; for waits that do not go through this Comm.
    pub(crate) fn watch(&self) -> Result<()> {
        self.transport().map_or(Ok(()), |transport| transport.ready(Side::Data))
    }

    /// Whether these ranks speak to nobody, as those of dry runs.
    fn is_silent(&self) -> bool {
        self.origin.is_some()
    }

    /// Writes a line about these ranks to the log; silent ranks write none.
    pub(crate) fn log(&self, line: &dyn std::fmt::Display) {
        if !self.is_silent() {
            log::info!("{line}");
        }
    }

    /// A listener for threads that wait for a device whose kernels wait for these ranks.
    pub(crate) fn listener(&self) -> Listener {
        let transport = self.transport.as_ref().map_or_else(Weak::new, Arc::downgrade);
        Listener { transport, failures: self.failures() }
    }

    /// The largest values over all ranks.
    pub fn max(&self, values: &mut [f64]) -> Result<()> {
        let all = self.all_gather(bytemuck::cast_slice(values))?;
        for theirs in all.chunks_exact(8 * values.len().max(1)) {
            for (v, bytes) in values.iter_mut().zip(theirs.chunks_exact(8)) {
                *v = v.max(f64::from_ne_bytes(bytes.try_into().expect("8 bytes")));
            }
        }
        Ok(())
    }

    /// Whether the guarded call shall end early; `mine` says that this rank wants that. With one rank that is the
    /// answer. With many a request travels with the next [`Comm::sum`] of the call, at no cost, and is granted after
    /// that on all ranks at once.
    pub fn stop(&self, mine: bool) -> bool {
        match self.transport() {
            None => mine,
            Some(transport) => transport.stop(mine),
        }
    }

    /// Whether the time limit of a solve is over, `mine` by this rank's clock. The answer comes as that of
    /// [`Comm::stop`] does, on all ranks at once.
    pub(crate) fn late(&self, mine: bool) -> bool {
        match self.transport() {
            None => mine,
            Some(transport) => transport.late(mine),
        }
    }

    /// Begins a solve with a limit of time on all ranks; a limit around it is suspended.
    pub(crate) fn start_clock(&self) -> Clock {
        Clock(self.transport().map_or((false, false), |t| t.turn_clock((false, false))))
    }
    /// Ends a solve with a limit of time; the limit around it goes on.
    pub(crate) fn end_clock(&self, clock: Clock) {
        if let Some(transport) = self.transport() {
            transport.turn_clock(clock.0);
        }
    }

    /// Collects equally long bytes from every rank, in the order of ranks.
    pub fn all_gather(&self, mine: &[u8]) -> Result<Vec<u8>> {
        match self.transport() {
            None => Ok(mine.repeat(self.size())),
            Some(transport) => transport.all_gather(mine),
        }
    }

    /// The first two ranks that pass the same bytes to this call; `None`: all differ. Silent ranks know of no others
    /// that do.
    ///
    /// # Errors
    /// `CommFailed`, `MpiThread`.
    pub(crate) fn twins(&self, mine: &[u8]) -> Result<Option<(usize, usize)>> {
        if self.is_silent() {
            return Ok(None);
        }
        let all = self.all_gather(mine)?;
        let of = |rank: usize| &all[mine.len() * rank..][..mine.len()];
        let twin = |rank: usize| (0..rank).find(|&other| of(other) == of(rank));
        Ok((1..self.size()).find_map(|rank| Some((twin(rank)?, rank))))
    }

    /// The numbers that the next rank in direction mu passes to this call.
    pub fn shift<T: bytemuck::Pod>(&self, mu: usize, mine: &[T]) -> Result<Vec<T>> {
        let (to, from) = (self.neighbour(mu, false), self.neighbour(mu, true));
        let mut theirs = self.deliver(vec![(to, mine.to_vec())], &[(from, mine.len())])?;
        Ok(theirs.pop().unwrap_or_default())
    }

    /// Sends numbers to some ranks and receives those of others, of known lengths; to and from each rank, itself
    /// included, at most once. Every rank calls this in the same order.
    ///
    /// # Errors
    /// `CommFailed`, `MpiThread`, `OutOfMemory`; `Internal`: what this rank sends itself is not what it
    /// takes.
    pub fn deliver<T: bytemuck::Pod>(
        &self,
        mut sends: Vec<(usize, Vec<T>)>,
        takes: &[(usize, usize)],
    ) -> Result<Vec<Vec<T>>> {
        let own = sends.iter().position(|(to, _)| *to == self.rank);
        let own = own.map(|i| sends.swap_remove(i).1);
        let taken = takes.iter().map(|&(from, n)| match from == self.rank {
            true => Ok(vec![]),
            false => host_array(n, T::zeroed(), "what other ranks send"),
        });
        let mut taken: Vec<Vec<T>> = taken.collect::<Result<_>>()?;
        let message = |rank: usize, send: u64, recv: u64, n: usize| Message {
            to: rank,
            from: rank,
            tag: 8,
            send,
            recv,
            bytes: n * size_of::<T>(),
        };
        let out = sends.iter().map(|(to, v)| message(*to, v.as_ptr() as u64, 0, v.len()));
        let inp = takes.iter().zip(&mut taken).filter(|((from, _), _)| *from != self.rank);
        let inp = inp.map(|((from, n), v)| message(*from, 0, v.as_mut_ptr() as u64, *n));
        let messages: Vec<Message> = out.chain(inp).collect();
        let started = self.start(&messages, None);
        if let Err(e) = started.and_then(|pending| self.finish(pending)) {
            // MPI may still read and write them.
            std::mem::forget((sends, taken));
            return Err(e);
        }
        if let Some(i) = takes.iter().position(|(from, _)| *from == self.rank) {
            match own {
                Some(own) if own.len() == takes[i].1 => taken[i] = own,
                _ => bail!(Internal, "a rank sends itself something else than it takes"),
            }
        }
        Ok(taken)
    }

    /// Fails on all ranks, with the status and message of the failing one, where `mine` failed on one. For places
    /// that all ranks reach whatever happens; the ranks stay able to work.
    pub fn agree<T>(&self, mine: Result<T>) -> Result<T> {
        match self.transport() {
            None => mine,
            Some(transport) => agree(transport, mine),
        }
    }

    /// Runs a call that all ranks make together and that may fail on some of them half-way. It then fails on all
    /// ranks, those that wait for the failed one included, with the status and message of the first that failed, and
    /// the ranks stay able to work. A guard inside of a guard does nothing.
    ///
    /// # Errors
    /// Errors of the body; `CommFailed` if a rank was lost, `Busy` if another thread is inside.
    pub fn guard<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        Self::guard_call(Some(self), "", None, body)
    }

    /// A guarded call with a name and with `digest`, a hash of its parameters: ranks that are in another call or
    /// passed other parameters find out before anything is exchanged, and the Comm is lost. A rank whose arguments
    /// are wrong has no digest.
    pub fn guard_call<T>(
        ranks: Option<&Comm>,
        function: &str,
        digest: Option<u64>,
        body: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        // One call of the body, which is compiled into this for each entry point.
        let (guard, same) = Self::enter_guard(ranks, function, digest)?;
        let mine = same.and_then(|()| body());
        match guard.map_or(Ok(None), |panics| panics.leave_guard(mine.as_ref().err()))? {
            None => mine,
            Some(theirs) => Err(theirs),
        }
    }

    /// Begins a guarded call. Returns the guard that ends it (`None` with one rank or inside of another guarded call)
    /// and whether all ranks are in the same call.
    fn enter_guard<'a>(
        ranks: Option<&'a Comm>,
        function: &str,
        digest: Option<u64>,
    ) -> Result<(Option<Panics<'a>>, Result<()>)> {
        // Failures of a part are of all ranks, whose guarded call this is in.
        let transport = ranks.and_then(Comm::transport).filter(|transport| !transport.is_part());
        match transport {
            Some(transport) if transport.enter_guard()? => {
                let panics = Panics(transport);
                let named = !function.is_empty();
                let same = if named { transport.compare(function, digest) } else { Ok(()) };
                Ok((Some(panics), same))
            }
            _ => Ok((None, Ok(()))),
        }
    }

    /// Fails where ranks pass different values to a call that they are all in; `digest` is the hash of the values.
    ///
    /// # Errors
    /// On all ranks: `InvalidArgument`; `CommFailed`, `MpiThread`.
    pub fn compare(&self, what: &str, digest: u64) -> Result<()> {
        let all = self.all_gather(&digest.to_ne_bytes())?;
        let mut others = all.chunks_exact(8).skip(1);
        if let Some(rank) = others.position(|theirs| theirs != &all[..8]) {
            let rank = rank + 1;
            refuse!(
                InvalidArgument,
                "rank {rank}",
                expected("the {what} that rank 0 passed"),
                found("others")
            );
        }
        Ok(())
    }

    /// Number of the guarded call that runs, the same on all ranks.
    pub fn call(&self) -> i64 {
        self.transport.as_ref().map_or(0, |transport| transport.call_number())
    }

    /// Gives up on all ranks outside of [`Comm::guard`]: waits of the others, and everything later, return
    /// `CommFailed` with this rank's message. Returns the error for this rank to return.
    pub fn fail(&self, error: &Error) -> Error {
        match self.transport() {
            None => error.clone(),
            Some(transport) => transport.fail(error),
        }
    }
}

/// Ends the waits of other ranks if a guarded call panics.
struct Panics<'a>(&'a Transport);

impl Panics<'_> {
    /// Ends the guarded call with this rank's failure, if any; returns another rank's failure where that is what all
    /// return.
    fn leave_guard(self, mine: Option<&Error>) -> Result<Option<Error>> {
        let transport = self.0;
        std::mem::forget(self);
        transport.leave_guard(mine)
    }
}

impl Drop for Panics<'_> {
    fn drop(&mut self) {
        self.0.fail(&Error::new(Status::Internal, "a defect inside plaq"));
    }
}

impl Drop for Comm {
    /// Frees memory that others have opened once they have closed it; else it stays.
    fn drop(&mut self) {
        let Some(cache) = self.cache.take() else { return };
        let alone = |transport: &Arc<Transport>| !transport.everybody_leaves();
        if cache.release() && self.transport.as_ref().is_some_and(alone) {
            std::mem::forget(cache);
        }
    }
}

fn agree<T>(transport: &Transport, mine: Result<T>) -> Result<T> {
    match transport.decide(Side::Data, mine.as_ref().err(), false)?.0 {
        Verdict::Fine | Verdict::Alike => mine,
        Verdict::Of(error) => Err(error),
    }
}

/// Number of ranks that count as a host of their own, for tests; None: those of a machine.
fn ranks_per_host() -> Result<Option<usize>> {
    let Ok(text) = std::env::var("PLAQ_RANKS_PER_HOST") else { return Ok(None) };
    match text.trim().parse() {
        Ok(ranks) if ranks > 0 => Ok(Some(ranks)),
        _ => {
            refuse!(
                InvalidArgument,
                "PLAQ_RANKS_PER_HOST",
                expected("a number of ranks, 1 or more"),
                found("{text:?}")
            )
        }
    }
}

fn timeout(options: &Options) -> Result<Duration> {
    match options.timeout {
        Some(Duration::ZERO) => {
            refuse!(InvalidArgument, "time-out", expected("seconds, more than 0"))
        }
        Some(timeout) => return Ok(timeout),
        None => {}
    }
    let Ok(text) = std::env::var("PLAQ_COMM_TIMEOUT") else { return Ok(TIMEOUT) };
    match text.parse().ok().and_then(|s: f64| Duration::try_from_secs_f64(s).ok()) {
        Some(timeout) if !timeout.is_zero() => Ok(timeout),
        _ => refuse!(InvalidArgument, "PLAQ_COMM_TIMEOUT", expected("seconds"), found("{text:?}")),
    }
}
