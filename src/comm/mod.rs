//! Ranks that share a lattice: process grid, messages, sums. One rank needs nothing of this
//! machine; many talk through MPI.

mod exchange;
mod failure;
mod grid;
mod launcher;
mod mpi;
mod part;
mod transport;

use std::any::Any;
use std::cell::Cell;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use crate::bail;
use crate::error::{host_array, Error, Result, Status};
use grid::Grid;
use transport::{Side, Transport, Verdict};

pub use exchange::{Owner, Pending};
pub(crate) use grid::coordinates;
pub use grid::RankMap;
pub use launcher::{launched, Launched};
pub use mpi::{host, CommAddress, Communicator};

/// How long a rank waits for another unless the host or PLAQ_COMM_TIMEOUT says otherwise: long
/// enough for a host that writes files between two calls.
const TIMEOUT: Duration = Duration::from_secs(300);

/// One message out and its counterpart in, of equal length; addresses are of memory that the
/// transport can reach, and stay valid until the exchange is finished. An address 0: not that one.
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

/// What may be chosen about ranks besides their grid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How long a rank waits for another; `None`: PLAQ_COMM_TIMEOUT in seconds, or 300 s.
    pub timeout: Option<Duration>,
    /// Sums in the order of ranks: the same bits whatever MPI does, at a fixed grid.
    pub reproducible: bool,
    /// Halos also in these directions with one rank, for tests.
    pub looped: [bool; 4],
}

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` without a word to other ranks: in this thread every call of a [`Comm`] returns as if this
/// rank were alone, with its own numbers and statuses; what others would send is not written. For trials
/// whose results nobody uses.
pub fn silently<T>(work: impl FnOnce() -> T) -> T {
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            SILENT.set(self.0);
        }
    }
    let _back = Back(SILENT.replace(true));
    work()
}

/// Hears of ranks that failed, as long as there is the Comm that it is of.
#[derive(Debug)]
pub(crate) struct Listener {
    transport: Weak<Transport>,
    /// Value of [`Comm::failures`] when this was made.
    failures: u64,
}

impl Listener {
    /// Watches as [`Comm::watch`] does. A thread that must not call MPI hears nothing.
    pub fn watch(&self) -> Result<()> {
        match self.transport.upgrade().filter(|_| !SILENT.get()).map(|t| t.ready(Side::Data)) {
            Some(Err(e)) if e.status != Status::MpiThread => Err(e),
            _ => Ok(()),
        }
    }

    /// Has a failure ended a guarded call since this was made?
    pub fn new_failures(&self) -> bool {
        self.transport.upgrade().is_some_and(|t| t.failures() != self.failures)
    }
}

/// What a solve with a limit of time has to give back when it ends ([`Comm::end_clock`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock((bool, bool));

#[derive(Debug)]
struct Node {
    /// The ranks that share this one's memory, this one among them.
    ranks: Vec<usize>,
    /// How many of them may run on exactly this rank's cores.
    core_sharers: usize,
}

impl Node {
    fn alone() -> Node {
        Node { ranks: vec![0], core_sharers: 1 }
    }
}

/// What the layer above keeps as long as its ranks.
pub trait CommCache: Any + Debug + Send + Sync {
    fn any(&self) -> &dyn Any;
    /// Closes, at the end, what it has opened of other ranks' memory. May others have opened its own?
    fn release(&self) -> bool;
}

/// The ranks of a lattice, x fastest in the process grid unless the host maps them otherwise.
#[derive(Debug)]
pub struct Comm {
    rank: usize,
    grid: Grid,
    coords: [usize; 4],
    /// Rank one step backward and forward in each direction.
    neighbours: [[usize; 2]; 4],
    /// Directions in which fields have halos.
    split: [bool; 4],
    node: Node,
    reproducible: bool,
    /// None: one rank.
    transport: Option<Arc<Transport>>,
    cache: OnceLock<Box<dyn CommCache>>,
    /// Coarser process grids that were asked for.
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
        Arc::new(Self::new(0, grid, split, Node::alone(), false, None))
    }

    /// The ranks of the host's communicator, which is duplicated; every rank of it calls this
    /// with the same `grid` (zeros: all ranks along t), `map` and options.
    ///
    /// # Errors
    /// On every rank: `ProcessGrid` (the grid's product is not the number of ranks, the map no
    /// permutation, or ranks were given different ones), `InvalidArgument` (time-out),
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
        let grid = agree(&transport, mine)?;
        let hash = |bytes: &[u8]| *blake3::hash(bytes).as_bytes();
        let mut facts = hash(&grid.bytes()).to_vec();
        facts.extend(hash(&[options.reproducible as u8]));
        facts.extend(hash(transport.node().as_bytes()));
        facts.extend(hash(&mpi::cores()));
        let all = transport.all_gather(&facts)?;
        let fact = |rank: usize, i: usize| &all[(4 * rank + i) * 32..][..32];
        for rank in 1..transport.size {
            if fact(rank, 0) != fact(0, 0) || fact(rank, 1) != fact(0, 1) {
                bail!(
                    ProcessGrid,
                    "ranks 0 and {rank} were given different process grids, maps or kinds of sums"
                );
            }
        }
        let rank = transport.rank;
        let ranks: Vec<usize> =
            (0..transport.size).filter(|&r| fact(r, 2) == fact(rank, 2)).collect();
        let core_sharers = ranks.iter().filter(|&&r| fact(r, 3) == fact(rank, 3)).count();
        let node = Node { ranks, core_sharers };
        let split = std::array::from_fn(|mu| grid.extents[mu] > 1 || options.looped[mu]);
        let transport = (transport.size > 1).then_some(transport);
        Ok(Arc::new(Self::new(rank, grid, split, node, options.reproducible, transport)))
    }

    fn new(
        rank: usize,
        grid: Grid,
        split: [bool; 4],
        node: Node,
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
            node,
            reproducible,
            transport,
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
    /// Ranks in each direction.
    pub fn grid(&self) -> [usize; 4] {
        self.grid.extents
    }
    /// Place of this rank in the grid.
    pub fn coords(&self) -> [usize; 4] {
        self.coords
    }
    /// Place of any rank in the grid.
    pub fn coords_of(&self, rank: usize) -> [usize; 4] {
        self.grid.coords(rank)
    }
    /// The rank at this place of the grid.
    pub fn rank_at(&self, coords: [usize; 4]) -> usize {
        self.grid.rank(coords)
    }
    /// What the layer above keeps as long as these ranks: of one type, made at the first call.
    pub fn cache<T: CommCache + Default>(&self) -> &T {
        let cache = self.cache.get_or_init(|| Box::new(T::default()));
        cache.any().downcast_ref().expect("one type keeps things here")
    }
    /// How many guarded calls a failure has ended. What counts messages by itself begins anew
    /// with the next of them, as ranks left that call at different places.
    pub fn failures(&self) -> u64 {
        self.transport.as_ref().map_or(0, |t| t.failures())
    }
    /// How long a rank waits for another.
    pub fn timeout(&self) -> Duration {
        self.transport.as_ref().map_or(TIMEOUT, |t| t.timeout)
    }
    /// Do fields have halos in this direction?
    pub fn split(&self, mu: usize) -> bool {
        self.split[mu]
    }
    pub fn neighbour(&self, mu: usize, forward: bool) -> usize {
        self.neighbours[mu][forward as usize]
    }
    /// The ranks of this rank's node, ascending.
    pub fn node(&self) -> &[usize] {
        &self.node.ranks
    }
    /// Place of this rank among those of its node.
    pub fn node_rank(&self) -> usize {
        self.node().iter().position(|r| *r == self.rank).unwrap_or(0)
    }
    /// Ranks that may run on exactly this rank's cores, this one among them.
    pub fn core_sharers(&self) -> usize {
        self.node.core_sharers
    }
    /// Does MPI take addresses of GPU memory?
    pub fn takes_gpu_memory(&self) -> bool {
        self.transport.as_ref().is_some_and(|t| t.takes_gpu_memory())
    }

    /// The way to the others; None: there are none, or none is spoken to.
    fn transport(&self) -> Option<&Arc<Transport>> {
        self.transport.as_ref().filter(|_| !SILENT.get())
    }

    /// Extents of a rank's part of a lattice.
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
        let own = |m: &&Message| m.to == self.rank && m.from == self.rank;
        for m in messages.iter().filter(own) {
            // SAFETY: both ranges have `bytes` bytes, are distinct, and outlive this call.
            unsafe {
                std::ptr::copy_nonoverlapping(m.send as *const u8, m.recv as *mut u8, m.bytes);
            }
        }
        match self.transport() {
            None => Ok(Pending::default()),
            Some(transport) => {
                let others: Vec<Message> = messages.iter().filter(|m| !own(m)).copied().collect();
                Pending::start(transport, &others, owner)
            }
        }
    }

    /// Waits for what was started.
    ///
    /// # Errors
    /// `CommFailed`: another rank failed, or the time is over.
    pub fn finish(&self, pending: Pending) -> Result<()> {
        pending.finish()
    }

    /// Sums over all ranks, the same on each of them.
    pub fn sum(&self, values: &mut [f64]) -> Result<()> {
        match self.transport() {
            None => Ok(()),
            Some(transport) => transport.sum(values, self.reproducible),
        }
    }

    /// Sums that ranks take without [`Comm::sum`]: `body` adds a number over all ranks beside them.
    pub(crate) fn sum_beside<T>(&self, body: impl FnOnce(f64) -> Result<(T, f64)>) -> Result<T> {
        match self.transport() {
            None => Ok(body(0.0)?.0),
            Some(transport) => {
                transport.usable(Side::Data)?;
                transport.with_stop(body)
            }
        }
    }

    /// The number that goes beside sums that nobody waits for yet.
    ///
    /// # Errors
    /// `CommFailed`: an earlier call failed.
    pub(crate) fn asked_beside(&self) -> Result<f64> {
        self.transport().map_or(Ok(0.0), |transport| {
            transport.usable(Side::Data)?;
            Ok(transport.requests())
        })
    }
    /// Takes the sum of these numbers over all ranks, when the sums beside it are known.
    pub(crate) fn told_beside(&self, flag: f64) {
        if let Some(transport) = self.transport() {
            transport.told(flag);
        }
    }

    /// Has another rank failed? For waits that do not go through this Comm.
    pub(crate) fn watch(&self) -> Result<()> {
        self.transport().map_or(Ok(()), |transport| transport.ready(Side::Data))
    }

    /// For waits of a device, whose kernels wait for these ranks.
    pub(crate) fn listener(&self) -> Listener {
        let transport = self.transport.as_ref().map_or_else(Weak::new, Arc::downgrade);
        Listener { transport, failures: self.failures() }
    }

    /// Largest values over all ranks.
    pub fn max(&self, values: &mut [f64]) -> Result<()> {
        let all = self.all_gather(bytemuck::cast_slice(values))?;
        for theirs in all.chunks_exact(8 * values.len().max(1)) {
            for (v, bytes) in values.iter_mut().zip(theirs.chunks_exact(8)) {
                *v = v.max(f64::from_ne_bytes(bytes.try_into().expect("8 bytes")));
            }
        }
        Ok(())
    }

    /// Shall the guarded call end early? `mine`: this rank wants that. With one rank that is the
    /// answer. A request of one rank of many travels with the next [`Comm::sum`] of the call, so that
    /// it costs no message of its own; after that the answer is yes, on all ranks at once.
    pub fn stop(&self, mine: bool) -> bool {
        match self.transport() {
            None => mine,
            Some(transport) => transport.stop(mine),
        }
    }

    /// Is the time of this clock over? `mine`: by this rank's. The answer comes as that of [`Comm::stop`]
    /// does, on all ranks at once.
    pub(crate) fn late(&self, mine: bool) -> bool {
        match self.transport() {
            None => mine,
            Some(transport) => transport.late(mine),
        }
    }

    /// A solve with a limit of time begins, on all ranks; one around it waits.
    pub(crate) fn start_clock(&self) -> Clock {
        Clock(self.transport().map_or((false, false), |t| t.turn_clock((false, false))))
    }
    /// It ends; the one around it goes on.
    pub(crate) fn end_clock(&self, clock: Clock) {
        if let Some(transport) = self.transport() {
            transport.turn_clock(clock.0);
        }
    }

    /// What every rank gives, in the order of ranks; equal lengths.
    pub fn all_gather(&self, mine: &[u8]) -> Result<Vec<u8>> {
        match self.transport() {
            None => Ok(mine.repeat(self.size())),
            Some(transport) => transport.all_gather(mine),
        }
    }

    /// What the next rank in direction mu gives.
    pub fn shift<T: bytemuck::Pod>(&self, mu: usize, mine: &[T]) -> Result<Vec<T>> {
        let (to, from) = (self.neighbour(mu, false), self.neighbour(mu, true));
        let mut theirs = self.deliver(vec![(to, mine.to_vec())], &[(from, mine.len())])?;
        Ok(theirs.pop().unwrap_or_default())
    }

    /// Sends numbers to ranks and takes those of others, of whom it is known how many; to and from each
    /// rank, this one among them, at most once. Every rank calls this in the same order.
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

    /// Fails on all ranks where it failed on one: with that rank's status and message. For
    /// places that all ranks reach whatever happens; the ranks stay able to work.
    pub fn agree<T>(&self, mine: Result<T>) -> Result<T> {
        match self.transport() {
            None => mine,
            Some(transport) => agree(transport, mine),
        }
    }

    /// A call that all ranks make together and that may fail on some of them half-way: then it
    /// fails on all with the status and message of the first that failed, ranks that wait for
    /// the failed one included, and the ranks stay able to work. Guards inside a guard do
    /// nothing.
    ///
    /// # Errors
    /// Errors of the body; `CommFailed` if a rank was lost, `Busy` if another thread is inside.
    pub fn guard<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        Self::guard_call(Some(self), "", None, body)
    }

    /// The same, with ranks or without, for a call that has a name and parameters, of which `digest` is a hash: ranks
    /// that are not in the same call, or passed other parameters, find out before they exchange anything, and lose each
    /// other. A rank that cannot say, because its arguments are wrong, has no digest.
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

    /// Begins a guarded call. Returns the guard that ends it, `None` without other ranks and inside of another guarded
    /// call, and whether all ranks are in the same call.
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

    /// Refuses what ranks pass differently to a call that they are in; `digest` is its hash.
    ///
    /// # Errors
    /// On all ranks: `InvalidArgument`; `CommFailed`, `MpiThread`.
    pub(crate) fn compare(&self, what: &str, digest: u64) -> Result<()> {
        let all = self.all_gather(&digest.to_ne_bytes())?;
        let mut others = all.chunks_exact(8).skip(1);
        if let Some(rank) = others.position(|theirs| theirs != &all[..8]) {
            let rank = rank + 1;
            bail!(
                InvalidArgument,
                "rank {rank}: expected the {what} that rank 0 passed, found others"
            );
        }
        Ok(())
    }

    /// Number of the guarded call that runs: the same on all ranks.
    pub fn call(&self) -> i64 {
        self.transport.as_ref().map_or(0, |transport| transport.call_number())
    }

    /// Gives the ranks up outside of [`Comm::guard`]: the others' waits return `CommFailed` with
    /// this rank's message, and so does everything later. Returns what this rank is to return.
    pub fn fail(&self, error: &Error) -> Error {
        match self.transport() {
            None => error.clone(),
            Some(transport) => transport.fail(error),
        }
    }
}

/// A guarded call that panics takes the other ranks with it: their waits end.
struct Panics<'a>(&'a Transport);

impl Panics<'_> {
    /// Ends the call, which did not panic, with this rank's failure; another one's, where that is what all return.
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
    /// Memory that others have opened is freed when they have closed it, or stays.
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

fn timeout(options: &Options) -> Result<Duration> {
    match options.timeout {
        Some(Duration::ZERO) => bail!(InvalidArgument, "time-out: expected seconds, more than 0"),
        Some(timeout) => return Ok(timeout),
        None => {}
    }
    let Ok(text) = std::env::var("PLAQ_COMM_TIMEOUT") else { return Ok(TIMEOUT) };
    match text.parse().ok().and_then(|s: f64| Duration::try_from_secs_f64(s).ok()) {
        Some(timeout) if !timeout.is_zero() => Ok(timeout),
        _ => bail!(InvalidArgument, "PLAQ_COMM_TIMEOUT: expected seconds, found {text:?}"),
    }
}
