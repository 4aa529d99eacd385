//! The ranks among which a lattice is divided: process grid, messages, sums. Several ranks communicate through MPI;
//! a single rank needs no MPI.

mod exchange;
mod failure;
mod grid;
mod launcher;
mod listener;
mod mpi;
mod outcomes;
mod part;
mod places;
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
use places::{together, Places};
use transport::{Agreement, Side, Transport};

pub(crate) use exchange::Repeated;
pub(crate) use exchange::CHUNK as LARGEST_MESSAGE;
pub use exchange::{Owner, Pending};
pub(crate) use grid::coordinates;
pub use grid::RankMap;
pub use launcher::{launched, Launched};
pub(crate) use listener::Listener;
pub use mpi::{host, CommAddress, Communicator};

/// Default time after which a rank that waits for another gives up, if neither the host nor PLAQ_COMM_TIMEOUT sets one.
/// It is long enough for a host that writes files between two calls.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A message of `bytes` bytes from address `send` to rank `to`, and one of the same length from rank `from` that is
/// received at address `recv`. An address 0: nothing is sent, or received. Both must be in memory that MPI can access,
/// and stay valid until the exchange is finished.
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

/// Numbers of messages and sums that a rank has exchanged through MPI; tests check costs by these numbers.
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
    /// True: sums over ranks are added in the order of ranks, so that on a given process grid results have the same
    /// bits with every MPI library.
    pub reproducible: bool,
    /// Directions in which a rank exchanges halos with itself although the process grid has one rank in them, for
    /// tests.
    pub looped: [bool; 4],
}

/// The state of the time limit of an enclosing solve, which [`Comm::end_clock`] restores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock((bool, bool));

/// Data that code above this module attaches to a Comm and that live as long as the Comm.
pub trait CommCache: Any + Debug + Send + Sync {
    fn any(&self) -> &dyn Any;
    /// Called when the Comm ends: closes the memory of other ranks that this rank has opened, and returns whether
    /// other ranks may have opened memory of this one.
    fn release(&self) -> bool;
}

/// The ranks among which a lattice is divided. They are numbered with x fastest in the process grid, unless the host
/// program maps them otherwise.
#[derive(Debug)]
pub struct Comm {
    rank: usize,
    grid: Grid,
    coords: [usize; 4],
    /// The ranks one step backward and forward in each direction.
    neighbours: [[usize; 2]; 4],
    /// True for the directions in which fields have halos.
    split: [bool; 4],
    places: Places,
    /// The ranks on this rank's machine, ascending; `host`: those on its host.
    node: Vec<usize>,
    host: Vec<usize>,
    reproducible: bool,
    /// The connection to other ranks; None for a single rank, and for ranks of a dry run, which exchange nothing.
    transport: Option<Arc<Transport>>,
    /// The communicating ranks from which these were made, in a dry run; else None.
    origin: Option<silent::Origin>,
    /// The ranks of dry runs that [`Comm::silent`] has made from these ranks.
    silent: silent::Silent,
    cache: OnceLock<Box<dyn CommCache>>,
    /// The coarser process grids made so far by [`Comm::coarser`].
    coarser: part::Coarser,
}

impl Comm {
    /// One rank: the whole lattice, periodic, without halos.
    pub fn single() -> Arc<Comm> {
        Self::looped([false; 4])
    }

    /// One rank that exchanges halos with itself in the directions of `split`. Results are those of `single`, computed
    /// by the code for several ranks.
    pub fn looped(split: [bool; 4]) -> Arc<Comm> {
        let grid = Grid { extents: [1; 4], ranks: vec![0] };
        Arc::new(Self::new(0, grid, split, Places::alone(), false, None))
    }

    /// The ranks of the host program's MPI communicator, which is duplicated. Every rank of it calls this with the same
    /// `grid` (number of ranks in x, y, z, t; all zero: all ranks along t), `map` and options.
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
        // A group of ranks has the number of its first rank.
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
        let places = Places::new(machines, hosts, core_sharers, cores);
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
    /// The data that code above this module attaches to these ranks, made at the first call. All calls for one Comm
    /// name the same type T.
    pub fn cache<T: CommCache + Default>(&self) -> &T {
        let cache = self.cache.get_or_init(|| Box::new(T::default()));
        cache.any().downcast_ref().expect("one type keeps things here")
    }
    /// Number of guarded calls that a failure has ended so far. Counters of messages start again after each such call,
    /// as the ranks left it at different places.
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
    /// Whether fields have halos in any direction.
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
    /// The ranks of this rank's host, ascending, which can access each other's memory: those of its machine, or of the
    /// part of it that `PLAQ_RANKS_PER_HOST` ranks make up.
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
    /// Position of this rank among the ranks of its machine, from 0.
    pub fn node_rank(&self) -> usize {
        self.node().iter().position(|r| *r == self.rank).unwrap_or(0)
    }
    /// Number of ranks that may run on exactly this rank's cores, itself included.
    pub fn core_sharers(&self) -> usize {
        self.places.core_sharers
    }
    /// Number of cores that the rank which has the fewest computes on: those on which it may run, its share where ranks
    /// may run on the same, but no more than its device has threads.
    pub fn cores(&self) -> f64 {
        self.places.cores()
    }
    /// Takes note of the number of threads of a rank's CPU device, the least of all ranks, before fields are made.
    pub(crate) fn compute_with(&self, threads: usize) {
        self.places.compute_with(threads);
    }
    /// Whether two ranks are on the same host.
    pub fn same_host(&self, one: usize, other: usize) -> bool {
        self.places.hosts[one] == self.places.hosts[other]
    }
    /// Whether MPI can send from and receive into GPU memory.
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

    /// Starts sending and receiving messages as `Comm::start` does, for code outside of this crate.
    ///
    /// # Safety
    /// Both addresses of every message refer to `bytes` bytes, which nobody else uses before [`Comm::finish`] returns,
    /// and which `owner` keeps allocated.
    ///
    /// # Errors
    /// `CommFailed`, `MpiThread`.
    pub unsafe fn start_raw(&self, messages: &[Message], owner: Option<Owner>) -> Result<Pending> {
        self.start(messages, owner)
    }

    /// Starts sending and receiving messages and returns at once. All ranks make the calls that exchange data in the
    /// same order. `owner`, which keeps the memory of the messages allocated, is dropped only when MPI no longer uses
    /// it, also if the exchange fails.
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

    /// Starts messages as [`Comm::start`] does, with persistent MPI requests that are used again the next time.
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

    /// Copies the messages that this rank sends to itself; returns those to or from other ranks.
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

    /// Numbers of messages and sums that this rank has exchanged with others through MPI so far.
    pub fn counts(&self) -> CommCounts {
        self.transport.as_ref().map(|t| t.counts()).unwrap_or_default()
    }

    /// Starts further messages between different ranks and adds them to `pending`, the messages under way.
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

    /// For sums over ranks that do not go through [`Comm::sum`], such as those of GPUs. `body` gets a number of this
    /// rank (a request to stop), sums it over all ranks along with its own sums, and returns its result and that sum.
    pub(crate) fn sum_beside<T>(&self, body: impl FnOnce(f64) -> Result<(T, f64)>) -> Result<T> {
        match self.transport() {
            None => Ok(body(0.0)?.0),
            Some(transport) => {
                transport.usable(Side::Data)?;
                transport.with_stop(body)
            }
        }
    }

    /// The number (a request to stop) that is to be summed over all ranks along with sums that are started without
    /// waiting for them; see [`Comm::sum_beside`].
    ///
    /// # Errors
    /// `CommFailed`: an earlier call failed.
    pub(crate) fn flag_of_host(&self) -> Result<f64> {
        self.transport().map_or(Ok(0.0), |transport| {
            transport.usable(Side::Data)?;
            Ok(transport.requests())
        })
    }
    /// Called with the sum over all ranks of the numbers that [`Comm::flag_of_host`] returned, once it is known.
    pub(crate) fn note_flag(&self, flag: f64) {
        if let Some(transport) = self.transport() {
            transport.note_requests(flag);
        }
    }

    /// Returns an error if another rank has failed; called in waits that do not go through this Comm.
    pub(crate) fn watch(&self) -> Result<()> {
        self.transport().map_or(Ok(()), |transport| transport.ready(Side::Data))
    }

    /// Whether these are the ranks of a dry run, which exchange nothing.
    fn is_silent(&self) -> bool {
        self.origin.is_some()
    }

    /// Writes a line about these ranks to the log, except in a dry run.
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

    /// Replaces each value by the largest of its values on all ranks.
    pub fn max(&self, values: &mut [f64]) -> Result<()> {
        let all = self.all_gather(bytemuck::cast_slice(values))?;
        for theirs in all.chunks_exact(8 * values.len().max(1)) {
            for (v, bytes) in values.iter_mut().zip(theirs.chunks_exact(8)) {
                *v = v.max(f64::from_ne_bytes(bytes.try_into().expect("8 bytes")));
            }
        }
        Ok(())
    }

    /// Whether the guarded call shall end early; `mine`: whether this rank wants that. With one rank the answer is
    /// `mine`. With several ranks the request is summed along with the next [`Comm::sum`] of the call, without an extra
    /// message, and the answer is yes on all ranks after that sum.
    pub fn stop(&self, mine: bool) -> bool {
        match self.transport() {
            None => mine,
            Some(transport) => transport.stop(mine),
        }
    }

    /// Whether the time limit of a solve has passed; `mine`: whether it has by this rank's clock. As for
    /// [`Comm::stop`], all ranks get the same answer, after the next sum.
    pub(crate) fn out_of_time(&self, mine: bool) -> bool {
        match self.transport() {
            None => mine,
            Some(transport) => transport.out_of_time(mine),
        }
    }

    /// Called on all ranks at the start of a solve with a time limit. The time limit of an enclosing solve is suspended
    /// until [`Comm::end_clock`].
    pub(crate) fn start_clock(&self) -> Clock {
        Clock(self.transport().map_or((false, false), |t| t.turn_clock((false, false))))
    }
    /// Called at the end of a solve with a time limit; the time limit of an enclosing solve applies again.
    pub(crate) fn end_clock(&self, clock: Clock) {
        if let Some(transport) = self.transport() {
            transport.turn_clock(clock.0);
        }
    }

    /// Returns the bytes that the ranks pass to this call, one after the other in the order of ranks. All ranks pass
    /// equally many.
    pub fn all_gather(&self, mine: &[u8]) -> Result<Vec<u8>> {
        match self.transport() {
            None => Ok(mine.repeat(self.size())),
            Some(transport) => transport.all_gather(mine),
        }
    }

    /// Two ranks that pass the same bytes to this call, the first such pair; `None`: all ranks pass different bytes. In
    /// a dry run always `None`.
    ///
    /// # Errors
    /// `CommFailed`, `MpiThread`.
    pub(crate) fn ranks_with_equal(&self, mine: &[u8]) -> Result<Option<(usize, usize)>> {
        if self.is_silent() {
            return Ok(None);
        }
        let all = self.all_gather(mine)?;
        let of = |rank: usize| &all[mine.len() * rank..][..mine.len()];
        let twin = |rank: usize| (0..rank).find(|&other| of(other) == of(rank));
        Ok((1..self.size()).find_map(|rank| Some((twin(rank)?, rank))))
    }

    /// Returns the numbers that the forward neighbour in direction mu passes to this call; all pass equally many.
    pub fn shift<T: bytemuck::Pod>(&self, mu: usize, mine: &[T]) -> Result<Vec<T>> {
        let (to, from) = (self.neighbour(mu, false), self.neighbour(mu, true));
        let mut theirs = self.deliver(vec![(to, mine.to_vec())], &[(from, mine.len())])?;
        Ok(theirs.pop().unwrap_or_default())
    }

    /// Sends the numbers of each pair (rank, numbers) of `sends` and returns the numbers received for each pair (rank,
    /// count) of `takes`. A rank, which may be this one, occurs at most once in each list. All ranks call this.
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
            // MPI may still read and write this memory, so that it must not be freed.
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

    /// If `mine` is an error on some rank, returns the error of the first such rank on all ranks. All ranks must call
    /// this, also after failures; the Comm remains usable.
    pub fn agree<T>(&self, mine: Result<T>) -> Result<T> {
        match self.transport() {
            None => mine,
            Some(transport) => agree(transport, mine),
        }
    }

    /// Runs `body` on all ranks. If it fails on some of them, it fails on all, including those that wait for the failed
    /// rank, with the status and message of the first that failed; the Comm remains usable. Inside of another guarded
    /// call this only runs `body`.
    ///
    /// # Errors
    /// Errors of the body; `CommFailed` if a rank was lost, `Busy` if another thread is inside.
    pub fn guard<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        Self::guard_call(Some(self), "", None, body)
    }

    /// Like [`Comm::guard`], for a function with a name and a hash `digest` of its parameters (`None` on a rank whose
    /// arguments are invalid). Before `body` runs, ranks compare both; the call fails on all ranks if they differ, and
    /// if ranks are in different functions the Comm cannot be used any more.
    pub fn guard_call<T>(
        ranks: Option<&Comm>,
        function: &str,
        digest: Option<u64>,
        body: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        // `body` is inlined here once for every entry point, therefore it is called in one place only.
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
        // A part of the ranks has no guarded calls of its own: its failures belong to the guarded call of all ranks.
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

    /// Fails on all ranks if they pass different hashes `digest`; `what` names in the message the values whose hash it
    /// is. All ranks call this.
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

    /// Number of the guarded call that is running, counted from the start; the same on all ranks.
    pub fn call(&self) -> i64 {
        self.transport.as_ref().map_or(0, |transport| transport.call_number())
    }

    /// Ends the use of this Comm on all ranks after a failure outside of [`Comm::guard`]: on other ranks, waits and all
    /// later calls return `CommFailed` with this rank's message. Returns the error for this rank to return.
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
    /// Ends the guarded call, in which this rank failed with `mine` or succeeded; returns the error of another rank if
    /// all ranks have to return that one.
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
    /// Frees memory that other ranks have opened if all ranks get here in time; otherwise it stays allocated, as they
    /// may still access it.
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
        Agreement::Fine | Agreement::Alike => mine,
        Agreement::Of(error) => Err(error),
    }
}

/// Number of ranks that are treated as one host (PLAQ_RANKS_PER_HOST), for tests; None: all ranks of a machine.
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
