//! Communication through two duplicates of the host's MPI communicator: one for data, one for control messages, by
//! which ranks report failures. Every wait polls, receives such reports and has a deadline, so that no rank waits for
//! ever.

mod requests;
mod wait;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use super::failure::Failure;
use super::mpi::{Communicator, Mpi, Table, Threads};
use super::CommCounts;
use crate::bail;
use crate::error::{Error, Result, Status};
use crate::refuse;
use wait::pause;
pub(super) use wait::Patience;

/// MPI tag of the messages that report a failure, on the control communicator.
const FAILURE: i32 = 1;
/// For at most FEW ranks and SHORT numbers it is faster to gather all numbers on every rank and add them there than to
/// use MPI's own sum.
const FEW: usize = 16;
const SHORT: usize = 64;
/// Number of bytes by which ranks describe a guarded call to each other: a hash and the beginning of its name.
const NAME: usize = 72;
/// Longest time for which a rank that drops its Comm waits for the other ranks to do the same.
const DROP_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest time for which a rank tries to send the messages that report its failure.
const FAILURE_LIMIT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Transport {
    mpi: &'static Mpi,
    threads: Threads,
    pub rank: usize,
    pub size: usize,
    pub timeout: Duration,
    control: i64,
    data: Mutex<Data>,
    /// If this transport connects a part of the ranks: the transport of all ranks, which agree on failures.
    whole: Option<Parent>,
    /// State of guarded calls; not used in the transport of a part of the ranks.
    state: Mutex<CallState>,
    /// Number of messages sent so far; `sums`: number of sums over ranks.
    messages: AtomicU64,
    sums: AtomicU64,
}

/// The MPI communicator for data, and how many times it has been replaced by a new one so far.
#[derive(Clone, Copy, Debug)]
struct Data {
    comm: i64,
    renewals: u64,
}

/// For a Comm on a part of the ranks: the transport of all ranks.
#[derive(Debug)]
struct Parent {
    transport: Arc<Transport>,
    /// Numbers of the part's ranks among all ranks.
    ranks: Vec<usize>,
}

#[derive(Debug, Default)]
struct CallState {
    /// Number of guarded calls so far. All ranks make these calls together, so that they have the same number.
    call: i64,
    /// The thread that is inside a guarded call.
    guarded: Option<ThreadId>,
    /// The failure of another rank in this guarded call.
    interrupted: Option<Error>,
    lost: Option<Error>,
    /// True if this rank wants the guarded call to end early. `stop_agreed`: a sum over ranks has shown that some rank
    /// wants it.
    stop_asked: bool,
    stop_agreed: bool,
    /// True if the time limit of a solve has passed by this rank's clock. `late_agreed`: a sum over ranks has shown
    /// that it has passed on some rank.
    late_asked: bool,
    late_agreed: bool,
    /// True if messages on a communicator for data, of all ranks or of a part, were given up before they had arrived.
    unfinished: bool,
    /// Number of times that a new communicator for data replaced one with unfinished messages. Comms on parts of the
    /// ranks replace theirs when they next use them.
    renewals: u64,
    /// Number of guarded calls that ended with a failure; the same on all ranks.
    failures: u64,
    /// Reported failures of other ranks in guarded calls that this rank has not begun yet.
    early: Vec<Failure>,
    /// The failure of this rank that it has not reported to the other ranks yet. It is reported only if they do not end
    /// the call by themselves.
    unreported: Option<Failure>,
}

/// The communicator whose messages a wait is for. A wait for data ends when any failure is reported; a wait for control
/// messages ends only if the Comm can no longer be used.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    Data,
    Control,
}

/// The result of a guarded call on which all ranks agreed at its end.
pub(super) enum Agreement {
    Fine,
    /// Every rank failed with the same status; each keeps its own message.
    Alike,
    /// The error of the first rank that failed.
    Of(Error),
}

impl std::fmt::Debug for Mpi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mpi")
    }
}

impl Transport {
    /// Duplicates the host's MPI communicator for data and for control messages; every rank of it calls this.
    pub fn open(host: Communicator, timeout: Duration) -> Result<Arc<Transport>> {
        let mpi = Mpi::load()?;
        let host = mpi.handle(host)?;
        let threads = Threads::found(mpi)?;
        let control = duplicate(mpi, &threads, host, timeout)?;
        let data = duplicate(mpi, &threads, control, timeout)?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: a communicator of ours.
        let code = unsafe { (mpi.table.rank_and_size)(control, &mut rank, &mut size) };
        mpi.check(code, "rank and size")?;
        Ok(Arc::new(Transport {
            mpi,
            threads,
            rank: rank as usize,
            size: size as usize,
            timeout,
            control,
            data: Mutex::new(Data { comm: data, renewals: 0 }),
            whole: None,
            state: Mutex::default(),
            messages: AtomicU64::new(0),
            sums: AtomicU64::new(0),
        }))
    }

    /// The transport of the ranks `members`, which include this one if it has a colour. All ranks call this, after they
    /// have exchanged their colours.
    pub fn part(
        self: &Arc<Transport>,
        colour: Option<i32>,
        key: i32,
        members: &[usize],
    ) -> Result<Option<Arc<Transport>>> {
        let data = self.open_data()?;
        let mut control = 0;
        self.call("splitting the communicator", |t| {
            // SAFETY: a communicator of ours and a place for the new one.
            unsafe { (t.split)(data, colour.unwrap_or(-1), key, &mut control) }
        })?;
        if colour.is_none() || control == 0 {
            return Ok(None);
        }
        let (mpi, threads) = (self.mpi, self.threads);
        let renewals = self.state().renewals;
        let rank = members.iter().position(|&r| r == self.rank);
        self.call("error handler", |t| {
            // SAFETY: the communicator was made above and exists.
            unsafe { (t.errors_return)(control) }
        })?;
        let made = duplicate(mpi, &threads, control, self.timeout);
        let (Some(rank), Ok(comm)) = (rank, made) else {
            return Err(self.connection_lost("a part of the ranks did not come together".into()));
        };
        let (transport, names) = match &self.whole {
            Some(whole) => (&whole.transport, members.iter().map(|&r| whole.ranks[r]).collect()),
            None => (self, members.to_vec()),
        };
        Ok(Some(Arc::new(Transport {
            mpi,
            threads,
            rank,
            size: members.len(),
            timeout: self.timeout,
            control,
            data: Mutex::new(Data { comm, renewals }),
            whole: Some(Parent { transport: transport.clone(), ranks: names }),
            state: Mutex::default(),
            messages: AtomicU64::new(0),
            sums: AtomicU64::new(0),
        })))
    }

    /// The transport of all ranks, to whom failures belong together.
    fn all(&self) -> &Transport {
        self.whole.as_ref().map_or(self, |whole| &whole.transport)
    }

    pub fn is_part(&self) -> bool {
        self.whole.is_some()
    }

    /// The number of a rank of this part among all ranks.
    pub fn name(&self, rank: usize) -> usize {
        self.whole.as_ref().and_then(|whole| whole.ranks.get(rank)).copied().unwrap_or(rank)
    }

    /// Whether MPI still runs.
    pub fn running(&self) -> bool {
        self.mpi.running()
    }

    pub fn node(&self) -> String {
        self.mpi.node()
    }

    pub fn takes_gpu_memory(&self) -> bool {
        self.mpi.takes_gpu_memory()
    }

    fn state(&self) -> MutexGuard<'_, CallState> {
        self.all().state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn data(&self) -> MutexGuard<'_, Data> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The MPI communicator for data or for control messages, on which new messages may be started. Fails if another
    /// rank has reported a failure.
    fn ready_on(&self, side: Side) -> Result<i64> {
        match side {
            Side::Data => self.open_data(),
            Side::Control => self.ready(side).map(|()| self.control),
        }
    }

    /// The MPI communicator for data. That of a part of the ranks is replaced here if that of all ranks has been
    /// replaced since.
    pub fn open_data(&self) -> Result<i64> {
        self.ready(Side::Data)?;
        let renewals = self.state().renewals;
        let mut data = *self.data();
        if self.is_part() && data.renewals != renewals {
            let comm = duplicate(self.mpi, &self.threads, self.control, self.timeout)
                .map_err(|e| self.fail(&e))?;
            data = Data { comm, renewals };
            *self.data() = data;
        }
        Ok(data.comm)
    }

    /// Calls one function of MPI, from a thread that may call MPI. An error that MPI reports ends the use of this Comm.
    pub fn call(&self, what: &str, call: impl FnOnce(&Table) -> i32) -> Result<()> {
        let turn = self.threads.enter()?;
        let code = call(self.mpi.table);
        drop(turn);
        self.mpi.check(code, what).map_err(|e| self.fail(&e))
    }

    /// Fails if a failure has been reported, or if MPI has been finalized.
    pub fn usable(&self, side: Side) -> Result<()> {
        self.mpi.check_running()?;
        let state = self.state();
        let interrupted = state.interrupted.as_ref().filter(|_| side == Side::Data);
        match state.lost.as_ref().or(interrupted) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    pub fn test(&self, requests: &mut [i64]) -> Result<bool> {
        let mut open = 0;
        self.call("testing messages", |t| {
            // SAFETY: these are requests that this library has started.
            unsafe { (t.test)(requests.len() as i32, requests.as_mut_ptr(), &mut open) }
        })?;
        Ok(open == 0)
    }

    /// Runs a collective operation of MPI. If it does not end in time its buffers are never freed, as MPI may still use
    /// them.
    fn collective<B>(
        &self,
        side: Side,
        what: &str,
        mut buffers: B,
        start: impl FnOnce(&Table, i64, &mut B, *mut i64) -> i32,
    ) -> Result<B> {
        let comm = self.ready_on(side)?;
        let mut request = [0];
        let done = self
            .call(what, |t| start(t, comm, &mut buffers, request.as_mut_ptr()))
            .and_then(|()| {
                let others = |_: &[i64]| format!("{what} with {} other ranks", self.size - 1);
                self.wait(side, &mut request, &others)
            });
        if let Err(e) = done {
            std::mem::forget(buffers);
            self.state().unfinished = true;
            return Err(e);
        }
        Ok(buffers)
    }

    /// Replaces each value by its sum over all ranks, added in the order of ranks if `in_order` is true or if this is
    /// not slower. The number of ranks that want to stop is summed along.
    pub fn sum(&self, values: &mut [f64], in_order: bool) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        if self.is_part() {
            return self.plain_sum(values, in_order);
        }
        self.with_stop(|stop| {
            let mut all = values.to_vec();
            all.push(stop);
            self.plain_sum(&mut all, in_order)?;
            let stops = all.pop().unwrap_or(0.0);
            values.copy_from_slice(&all);
            Ok(((), stops))
        })
    }

    pub fn failures(&self) -> u64 {
        self.state().failures
    }

    pub fn count_messages(&self, n: u64) {
        self.messages.fetch_add(n, Ordering::Relaxed);
    }
    pub fn counts(&self) -> CommCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        CommCounts { messages: read(&self.messages), sums: read(&self.sums) }
    }

    fn plain_sum(&self, values: &mut [f64], in_order: bool) -> Result<()> {
        self.sums.fetch_add(1, Ordering::Relaxed);
        if in_order || (self.size <= FEW && values.len() <= SHORT) {
            let all: Vec<f64> = self.gather_words(Side::Data, values)?;
            for (i, value) in values.iter_mut().enumerate() {
                *value = all.iter().skip(i).step_by(all.len() / self.size).sum();
            }
            return Ok(());
        }
        let (n, mine) = (count(values.len(), "sum")?, values.to_vec());
        let buffers = (mine, vec![0.0; values.len()]);
        let (_, all) = self.collective(Side::Data, "sum", buffers, |t, comm, b, request| {
            // SAFETY: two buffers of n numbers, kept until the request is complete.
            unsafe { (t.sum)(comm, b.0.as_ptr(), b.1.as_mut_ptr(), n, request) }
        })?;
        values.copy_from_slice(&all);
        Ok(())
    }

    fn maximum(&self, side: Side, values: Vec<i64>) -> Result<Vec<i64>> {
        if self.size <= FEW {
            let all: Vec<i64> = self.gather_words(side, &values)?;
            let largest = |i: usize| all.iter().skip(i).step_by(values.len()).copied().max();
            return Ok((0..values.len()).filter_map(largest).collect());
        }
        let n = count(values.len(), "maximum")?;
        let buffers = (values.clone(), values);
        let start = |t: &Table, comm, b: &mut (Vec<i64>, Vec<i64>), request| {
            // SAFETY: two buffers of n numbers, kept until the request is complete.
            unsafe { (t.maximum)(comm, b.0.as_ptr(), b.1.as_mut_ptr(), n, request) }
        };
        Ok(self.collective(side, "agreement", buffers, start)?.1)
    }

    fn gather_words<T: bytemuck::Pod>(&self, side: Side, mine: &[T]) -> Result<Vec<T>> {
        let all = self.gather(side, bytemuck::cast_slice(mine))?;
        Ok(all.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
    }

    pub fn all_gather(&self, mine: &[u8]) -> Result<Vec<u8>> {
        self.gather(Side::Data, mine)
    }

    fn gather(&self, side: Side, mine: &[u8]) -> Result<Vec<u8>> {
        // Open MPI refuses to gather nothing.
        if mine.is_empty() {
            return Ok(Vec::new());
        }
        let n = count(mine.len(), "all_gather")?;
        let buffers = (mine.to_vec(), vec![0u8; self.size * mine.len()]);
        let start = |t: &Table, comm, b: &mut (Vec<u8>, Vec<u8>), request| {
            // SAFETY: n bytes, and n for each rank, kept until the request is complete.
            unsafe { (t.gather)(comm, b.0.as_ptr().cast(), b.1.as_mut_ptr().cast(), n, request) }
        };
        Ok(self.collective(side, "gathering", buffers, start)?.1)
    }

    fn broadcast(&self, side: Side, data: Vec<u8>, root: usize) -> Result<Vec<u8>> {
        let n = count(data.len(), "broadcast")?;
        self.collective(side, "broadcast", data, |t, comm, b, request| {
            // SAFETY: n bytes, kept until the request is complete.
            unsafe { (t.broadcast)(comm, b.as_mut_ptr().cast(), n, root as i32, request) }
        })
    }

    /// Finds out on all ranks whether any of them failed, and whether messages may be left over on the communicator for
    /// data. All ranks call this.
    pub fn decide(
        &self,
        side: Side,
        mine: Option<&Error>,
        unfinished: bool,
    ) -> Result<(Agreement, bool)> {
        let status = mine.map_or(0, |e| e.status as i64);
        let failed = mine.is_some();
        let votes = vec![
            if failed { (self.size - self.rank) as i64 } else { 0 },
            unfinished as i64,
            !failed as i64,
            if failed { status } else { i64::MIN },
            if failed { -status } else { i64::MIN },
        ];
        let found = self.maximum(side, votes)?;
        let [first, unfinished, some_did_not, highest, minus_lowest] = found[..] else {
            bail!(Internal, "an agreement of {} words", found.len());
        };
        let unfinished = unfinished != 0;
        if first == 0 {
            return Ok((Agreement::Fine, unfinished));
        }
        let alike = some_did_not == 0 && highest == -minus_lowest;
        if alike {
            return Ok((Agreement::Alike, unfinished));
        }
        let root = self.size - first as usize;
        let failure =
            mine.map_or_else(Failure::default, |e| Failure::new(self.name(self.rank), 0, false, e));
        let failure = Failure::read(&self.broadcast(side, failure.bytes(), root)?);
        Ok((Agreement::Of(failure.error()), true))
    }

    /// Sends the report of a failure to every other rank; gives up after `FAILURE_LIMIT`.
    fn tell(&self, failure: &Failure) {
        if let Some(whole) = &self.whole {
            return whole.transport.tell(failure);
        }
        let bytes = failure.bytes();
        let mut requests = vec![0i64; self.size];
        let sent = requests.iter_mut().enumerate().filter(|(to, _)| *to != self.rank).try_for_each(
            |(to, request)| {
                self.call("message of a failure", |t| {
                    let n = bytes.len() as i32;
                    // SAFETY: n bytes, kept until the request is complete.
                    unsafe {
                        (t.send)(
                            self.control,
                            bytes.as_ptr().cast(),
                            n,
                            to as i32,
                            FAILURE,
                            request,
                        )
                    }
                })
            },
        );
        let start = Instant::now();
        for round in 0.. {
            match self.test(&mut requests) {
                Ok(true) => return,
                Ok(false) if sent.is_ok() && start.elapsed() < FAILURE_LIMIT => pause(round, start),
                _ => break,
            }
        }
        std::mem::forget(bytes);
    }

    /// Fails if another rank has reported a failure; called before new messages are started.
    pub fn ready(&self, side: Side) -> Result<()> {
        self.usable(side)?;
        self.listen()?;
        self.usable(side)
    }

    /// Receives the reports of failures that have arrived.
    fn listen(&self) -> Result<()> {
        loop {
            let mut bytes = [0u8; Failure::BYTES];
            let mut source = -1;
            self.call("failures", |t| {
                // SAFETY: the function gets a buffer and its size.
                unsafe {
                    let capacity = bytes.len() as i32;
                    (t.take)(
                        self.all().control,
                        FAILURE,
                        bytes.as_mut_ptr().cast(),
                        capacity,
                        &mut source,
                    )
                }
            })?;
            if source < 0 {
                return Ok(());
            }
            let failure = Failure::read(&bytes);
            let mut state = self.state();
            if failure.lost {
                state.lost.get_or_insert(failure.loss());
            } else if failure.call == state.call && state.guarded.is_some() {
                state.interrupted.get_or_insert(failure.loss());
            } else if failure.call > state.call {
                state.early.push(failure);
            }
        }
    }

    /// Ends the use of this Comm on all ranks because of `error`; returns the error for this rank to return.
    pub fn fail(&self, error: &Error) -> Error {
        let failure = {
            let mut state = self.state();
            if let Some(lost) = &state.lost {
                return lost.clone();
            }
            let failure = Failure::new(self.all().rank, state.call, true, error);
            state.lost = Some(failure.loss());
            failure
        };
        self.tell(&failure);
        failure.loss()
    }

    fn connection_lost(&self, message: String) -> Error {
        self.fail(&Error::new(Status::CommFailed, message))
    }

    /// Enters a guarded call; returns false if this thread is inside of a guarded call already.
    pub fn enter_guard(&self) -> Result<bool> {
        self.ready(Side::Control)?;
        let mut state = self.state();
        match state.guarded {
            Some(thread) if thread == std::thread::current().id() => return Ok(false),
            Some(_) => bail!(Busy, "another thread is in a call that all ranks make together"),
            None => {}
        }
        state.call += 1;
        (state.stop_asked, state.stop_agreed) = (false, false);
        state.guarded = Some(std::thread::current().id());
        let call = state.call;
        state.interrupted = state.early.iter().find(|n| n.call == call).map(Failure::loss);
        state.early.retain(|n| n.call > call);
        Ok(true)
    }

    /// Called when the Comm is dropped: whether all ranks get here within the time `DROP_TIMEOUT`.
    pub fn everybody_leaves(&self) -> bool {
        let Data { comm, renewals } = *self.data();
        let lost = {
            let state = self.state();
            state.lost.is_some() || (self.is_part() && state.renewals != renewals)
        };
        // MPI may still use a lost communicator, or may have been finalized before this Comm is dropped.
        if lost || !self.mpi.running() {
            return false;
        }
        let mut buffers = Box::new(([0u8; 1], vec![0u8; self.size]));
        let mut request = [0i64];
        let started = self.threads.enter().is_ok_and(|_turn| {
            let (mine, all) = (buffers.0.as_ptr().cast(), buffers.1.as_mut_ptr().cast());
            // SAFETY: a byte for each rank, kept until the request is complete.
            unsafe { (self.mpi.table.gather)(comm, mine, all, 1, request.as_mut_ptr()) == 0 }
        });
        let start = Instant::now();
        for round in 0u64.. {
            let mut open = 1;
            let tested = started
                && self.threads.enter().is_ok_and(|_turn| {
                    // SAFETY: a request of ours.
                    unsafe { (self.mpi.table.test)(1, request.as_mut_ptr(), &mut open) == 0 }
                });
            if !tested || start.elapsed() > DROP_TIMEOUT.min(self.timeout) {
                break;
            }
            if open == 0 {
                return true;
            }
            pause(round, start);
        }
        std::mem::forget(buffers);
        false
    }

    pub fn call_number(&self) -> i64 {
        self.state().call
    }

    /// Called at the beginning of a guarded call: fails unless all ranks are in the same call with the same parameters.
    ///
    /// # Errors
    /// On all ranks: `InvalidArgument` if parameters differ; `CommFailed`, with the names of the calls, if ranks are in
    /// different calls, after which the Comm cannot be used any more.
    pub fn compare(&self, function: &str, digest: Option<u64>) -> Result<()> {
        let call = hash(&[function.as_bytes(), &self.call_number().to_ne_bytes()]);
        // The largest value of a word and of its complement over all ranks show whether all ranks have the same word.
        let mut words = vec![call, !call];
        words.extend(digest.map_or([i64::MIN; 2], |d| [d as i64 >> 1, !(d as i64 >> 1)]));
        let max = self.maximum(Side::Control, words)?;
        let [call, not_call, digest_most, not_digest] = max[..] else {
            bail!(Internal, "a comparison of {} words", max.len());
        };
        let same_call = call == !not_call;
        let known = digest_most != i64::MIN;
        if same_call && (!known || digest_most == !not_digest) {
            return Ok(());
        }
        let mut mine = [0u8; NAME];
        let name = &function.as_bytes()[..function.len().min(NAME - 8)];
        mine[..8].copy_from_slice(&digest.unwrap_or(0).to_ne_bytes());
        mine[8..8 + name.len()].copy_from_slice(name);
        let all = self.gather(Side::Control, &mine)?;
        let of = |rank: usize| {
            let (digest, name) = all[rank * NAME..][..NAME].split_at(8);
            (digest.to_vec(), String::from_utf8_lossy(name).trim_end_matches('\0').to_string())
        };
        let (first_digest, first) = of(0);
        let other = (1..self.size).map(|rank| (rank, of(rank)));
        if same_call {
            let rank = other.into_iter().find(|(_, (digest, _))| *digest != first_digest);
            let rank = rank.map_or(1, |(rank, _)| rank);
            refuse!(
                InvalidArgument,
                "rank {rank}",
                expected("the parameters and objects that rank 0 passed to {first}"),
                found("others")
            );
        }
        let message = match other.into_iter().find(|(_, (_, name))| *name != first) {
            Some((rank, (_, name))) => {
                format!("ranks are not in the same call: rank 0 called {first}, rank {rank} {name}")
            }
            None => format!("ranks are not in the same call: not all of them made each {first}"),
        };
        Err(self.connection_lost(message))
    }

    /// Records that messages were given up. At the end of a guarded call the communicator is then replaced; outside of
    /// guarded calls the Comm cannot be used any more, as a later exchange could receive these messages.
    pub fn left_unfinished(&self) {
        let guarded = {
            let mut state = self.state();
            state.unfinished = true;
            state.guarded.is_some()
        };
        if !guarded {
            self.connection_lost("an exchange of messages was given up".into());
        }
    }

    /// Ends a guarded call, in which this rank failed with `mine` or succeeded (None). All ranks get the same status;
    /// the failure of another rank is returned if there was one. Ranks that still wait inside of the call are informed
    /// of the failure. Afterwards the Comm can be used as before.
    pub fn leave_guard(&self, mine: Option<&Error>) -> Result<Option<Error>> {
        let agreement = self.agreement(mine);
        let mut state = self.state();
        state.guarded = None;
        state.interrupted = None;
        Ok(match agreement? {
            Agreement::Fine | Agreement::Alike => None,
            Agreement::Of(error) => Some(error),
        })
    }

    /// Agrees with all ranks on the outcome of a guarded call.
    fn agreement(&self, mine: Option<&Error>) -> Result<Agreement> {
        self.usable(Side::Control)?;
        let (interrupted, unfinished) = {
            let state = self.state();
            (state.interrupted.is_some(), state.unfinished)
        };
        // An error of this rank after it has heard of another rank's failure is a consequence of that failure.
        let own = mine.filter(|_| !interrupted);
        if let Some(error) = own {
            let mut state = self.state();
            state.unreported = Some(Failure::new(self.rank, state.call, false, error));
        }
        let decided = self.decide(Side::Control, own, unfinished);
        self.state().unreported = None;
        let (agreement, unfinished) = decided?;
        if !matches!(agreement, Agreement::Fine) {
            self.state().failures += 1;
        }
        if unfinished {
            // No rank is inside of the call any more. A new communicator is made, and unfinished messages stay in the
            // old one.
            let data = duplicate(self.mpi, &self.threads, self.control, self.timeout)
                .map_err(|e| self.fail(&e))?;
            let renewals = {
                let mut state = self.state();
                state.unfinished = false;
                state.renewals += 1;
                state.renewals
            };
            *self.data() = Data { comm: data, renewals };
        }
        Ok(agreement)
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        // Collectively or not at all: a rank that keeps its own, or comes late, leaves these as they are.
        if !self.everybody_leaves() {
            return;
        }
        let Ok(_turn) = self.threads.enter() else { return };
        for comm in [self.data().comm, self.control] {
            // SAFETY: this value owns these duplicates, and no message is under way on them.
            unsafe { (self.mpi.table.release)(comm) };
        }
    }
}

/// Hash of a list of byte strings; it also depends on where one string ends and the next begins.
fn hash(parts: &[&[u8]]) -> i64 {
    let mut all = blake3::Hasher::new();
    for part in parts {
        all.update(&part.len().to_ne_bytes());
        all.update(part);
    }
    let word =
        all.finalize().as_bytes().first_chunk().map_or(0, |b: &[u8; 8]| i64::from_ne_bytes(*b));
    // Halved: the least number says that there is none.
    word >> 1
}

fn count(n: usize, what: &str) -> Result<i32> {
    match i32::try_from(n) {
        Ok(n) => Ok(n),
        Err(_) => {
            refuse!(Unsupported, "{what}", expected("at most {} elements", i32::MAX), found("{n}"))
        }
    }
}

/// Duplicates the MPI communicator `comm` for plaq's own messages; a collective operation that fails after `timeout`.
fn duplicate(mpi: &Mpi, threads: &Threads, comm: i64, timeout: Duration) -> Result<i64> {
    let mut out = Box::new(0i64);
    let mut request = 0i64;
    let start = Instant::now();
    {
        let _turn = threads.enter()?;
        // SAFETY: a place that stays until the request is complete.
        let code = unsafe { (mpi.table.duplicate)(comm, &mut *out, &mut request) };
        mpi.check(code, "duplicating the communicator")?;
    }
    for round in 0.. {
        let mut open = 0;
        {
            let _turn = threads.enter()?;
            // SAFETY: this is one request that this library has started.
            let code = unsafe { (mpi.table.test)(1, &mut request, &mut open) };
            mpi.check(code, "duplicating the communicator")?;
        }
        if open == 0 {
            break;
        }
        if start.elapsed() >= timeout {
            std::mem::forget(out);
            bail!(CommFailed, sentence("no answer for {} s: duplicating the communicator, which all its ranks have to do", timeout.as_secs_f64()), hint("one that cannot, as it finds no libplaq_mpi.so, says so itself"));
        }
        pause(round, start);
    }
    let _turn = threads.enter()?;
    // SAFETY: the communicator was made above and exists.
    mpi.check(unsafe { (mpi.table.errors_return)(*out) }, "error handler")?;
    Ok(*out)
}
