//! Messages and sums by NCCL on a CUDA stream of their own, concurrently with kernels.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::driver::{
    cu, Current, Driver, Handle, EVENT_NO_TIMING, HIGHEST_PRIORITY, NOT_READY, STREAM_NON_BLOCKING,
};
use super::nccl::{in_background, Ring};
use super::Cuda;
use crate::backend::{Backend, DeviceComm, DeviceMessage, Place, Ptr, LARGEST_SUM};
use crate::error::Result;

/// Bytes of a first message to each neighbour, sent only so that NCCL connects the two ranks.
const FIRST_MESSAGE: usize = 256;
/// Numbers of doubles in first sums, computed only so that NCCL makes the connections for sums of every size.
const SUMS: [usize; 5] = [1, 8, 64, 512, LARGEST_SUM];
/// Time limit for a call that NCCL completes in the background.
const BACKGROUND: Duration = Duration::from_secs(300);

/// A stream for messages, and its events.
struct Stream {
    driver: &'static Driver,
    context: Handle,
    /// The stream of the device's kernels.
    kernels: Handle,
    messages: Handle,
}

/// Messages that were started together, or a sum: an event after the kernels before them, and one after the messages.
#[derive(Clone, Copy)]
struct Start {
    number: u64,
    before: Handle,
    after: Handle,
}

/// Messages that may not have completed yet, in the order of their starts, and events that can be used again.
#[derive(Default)]
struct PendingMessages {
    started: u64,
    starts: VecDeque<Start>,
    /// Event after the last messages; None if they are known to be complete.
    last: Option<Handle>,
    events: Vec<Handle>,
}

pub struct Messages {
    ring: Arc<Ring>,
    stream: Stream,
    under_way: Mutex<PendingMessages>,
}
// SAFETY: streams and events belong to no thread, and a driver may be called from any.
unsafe impl Send for Messages {}
// SAFETY: a driver may be called from any thread, and NCCL's communicator is behind a lock.
unsafe impl Sync for Messages {}

impl PendingMessages {
    fn add(&mut self, before: Handle, after: Handle) {
        self.started += 1;
        self.starts.push_back(Start { number: self.started, before, after });
    }
}

impl Stream {
    fn new(cuda: &Cuda) -> Result<Stream> {
        let (d, none) = (cuda.driver, std::ptr::null_mut());
        // From here on, drop releases what has been made.
        let mut stream =
            Stream { driver: d, context: cuda.context, kernels: cuda.stream, messages: none };
        // The stream has the highest priority, so that kernels that move messages are scheduled before others.
        let messages = &mut stream.messages;
        cu!(
            d,
            stream_create_urgent(messages, STREAM_NON_BLOCKING, HIGHEST_PRIORITY),
            "creating a stream"
        )?;
        Ok(stream)
    }

    /// Whether all work before an event is done.
    fn passed(&self, event: Handle) -> Result<bool> {
        // SAFETY: an event of ours.
        match unsafe { (self.driver.event_query)(event) } {
            0 => Ok(true),
            NOT_READY => Ok(false),
            code => Err(self.driver.error(code, "waiting for messages")),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let Ok(_current) = Current::enter(self.driver, self.context) else { return };
        let d = self.driver;
        if !self.messages.is_null() {
            let _ = cu!(d, stream_destroy(self.messages), "");
        }
    }
}

impl Messages {
    fn lock(&self) -> MutexGuard<'_, PendingMessages> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An event that is not in use.
    fn event(&self, under_way: &mut PendingMessages) -> Result<Handle> {
        if let Some(event) = under_way.events.pop() {
            return Ok(event);
        }
        let mut event = std::ptr::null_mut();
        cu!(self.stream.driver, event_create(&mut event, EVENT_NO_TIMING), "creating an event")?;
        Ok(event)
    }

    /// Connects this device to those of the other ranks; the context must be current.
    pub fn connect(
        cuda: &Cuda,
        rendezvous: &[u8],
        place: &Place,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Messages> {
        let stream = Stream::new(cuda)?;
        let mut neighbours = place.neighbours.to_vec();
        neighbours.sort_unstable();
        neighbours.dedup();
        let n = neighbours.len();
        let bytes = (2 * n * FIRST_MESSAGE).max(8 * LARGEST_SUM) as u64;
        let scratch = cuda.alloc(bytes, true)?;
        cuda.synchronize()?;
        let greeting = |k: usize| DeviceMessage {
            rank: neighbours[k % n],
            at: scratch.offset((k * FIRST_MESSAGE) as u64),
            bytes: FIRST_MESSAGE,
        };
        let greetings: Vec<DeviceMessage> = (0..2 * n).map(greeting).collect();
        let messages =
            match Self::meet(cuda, &stream, rendezvous, place, (greetings, scratch), check) {
                Ok(ring) => Messages { ring, stream, under_way: Mutex::default() },
                Err(e) => {
                    // The thread that waits for the others may still use it.
                    std::mem::forget(stream);
                    return Err(e);
                }
            };
        let done = messages.event(&mut messages.lock())?;
        cu!(cuda.driver, event_record(done, messages.stream.messages), "recording a message")?;
        while !messages.stream.passed(done)? {
            if let Err(e) = check() {
                messages.abort();
                return Err(e);
            }
        }
        messages.lock().events.push(done);
        // SAFETY: the memory was allocated above, and nothing uses it any more.
        unsafe { cuda.free(scratch, bytes, true) };
        Ok(messages)
    }

    /// Connects to the other ranks and puts on the stream a first message to and from each neighbour and first sums.
    /// All this runs in a thread of its own, as NCCL waits for other ranks without limit.
    fn meet(
        cuda: &Cuda,
        stream: &Stream,
        rendezvous: &[u8],
        place: &Place,
        (greetings, scratch): (Vec<DeviceMessage>, Ptr),
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Arc<Ring>> {
        let (driver, rendezvous, Place { rank, ranks, .. }) =
            (cuda.driver, rendezvous.to_vec(), *place);
        let (context, messages) = (cuda.context as usize, stream.messages as usize);
        let at = scratch;
        let work = move || {
            let _current = Current::enter(driver, context as Handle)?;
            let ring = Ring::join(&rendezvous, rank, ranks, BACKGROUND)?;
            let (sends, receives) = greetings.split_at(greetings.len() / 2);
            // SAFETY: the memory stays allocated until the stream has completed this operation.
            unsafe { ring.exchange(messages as Handle, sends, receives)? };
            // NCCL makes connections in the first call of each kind, which depends on the number of values. After these
            // sums no later call waits for other ranks.
            for n in SUMS {
                // SAFETY: the memory stays allocated until the stream has completed this operation.
                unsafe { ring.sum(messages as Handle, at, n)? };
            }
            Ok(Arc::new(ring))
        };
        let late = move |ring: Arc<Ring>| {
            ring.abort(move || Current::enter(driver, context as Handle));
        };
        in_background(check, work, late)
    }
}

impl DeviceComm for Messages {
    unsafe fn start(&self, sends: &[DeviceMessage], receives: &[DeviceMessage]) -> Result<()> {
        let Stream { driver, context, kernels, messages } = self.stream;
        let _current = Current::enter(driver, context)?;
        let mut under_way = self.lock();
        let [before, after] = [self.event(&mut under_way)?, self.event(&mut under_way)?];
        cu!(driver, event_record(before, kernels), "recording a kernel")?;
        cu!(driver, stream_wait(messages, before, 0), "ordering messages")?;
        self.ring.exchange(messages, sends, receives)?;
        cu!(driver, event_record(after, messages), "recording messages")?;
        under_way.add(before, after);
        under_way.last = Some(after);
        Ok(())
    }

    unsafe fn sum(&self, at: Ptr, n: usize) -> Result<()> {
        let Stream { driver, context, kernels, .. } = self.stream;
        let _current = Current::enter(driver, context)?;
        let mut under_way = self.lock();
        let [before, after] = [self.event(&mut under_way)?, self.event(&mut under_way)?];
        cu!(driver, event_record(before, kernels), "recording a kernel")?;
        self.ring.sum(kernels, at, n)?;
        cu!(driver, event_record(after, kernels), "recording sums")?;
        under_way.add(before, after);
        Ok(())
    }

    fn wait_for_messages(&self) -> Result<()> {
        let Stream { driver, context, kernels, .. } = self.stream;
        let _current = Current::enter(driver, context)?;
        let Some(last) = self.lock().last else { return Ok(()) };
        cu!(driver, stream_wait(kernels, last, 0), "ordering a kernel")
    }

    fn waits(&self) -> Result<Option<u64>> {
        let _current = Current::enter(self.stream.driver, self.stream.context)?;
        self.ring.check()?;
        let mut under_way = self.lock();
        while let Some(first) = under_way.starts.front().copied() {
            if !self.stream.passed(first.after)? {
                return Ok(self.stream.passed(first.before)?.then_some(first.number));
            }
            under_way.starts.pop_front();
            under_way.last = under_way.last.filter(|last| *last != first.after);
            under_way.events.extend([first.before, first.after]);
        }
        Ok(None)
    }

    fn abort(&self) {
        let (driver, context) = (self.stream.driver, self.stream.context as usize);
        self.ring.abort(move || Current::enter(driver, context as Handle));
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        // The communicator must be destroyed before its stream.
        if let Ok(_current) = Current::enter(self.stream.driver, self.stream.context) {
            let d = self.stream.driver;
            let _ = cu!(d, stream_synchronize(self.stream.messages), "");
            let PendingMessages { starts, events, .. } = std::mem::take(&mut *self.lock());
            let started = starts.into_iter().flat_map(|start| [start.before, start.after]);
            for event in events.into_iter().chain(started) {
                let _ = cu!(d, event_destroy(event), "");
            }
        }
    }
}
