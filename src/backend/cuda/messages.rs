//! Messages by NCCL on a separate stream, concurrent with kernels.

use std::collections::VecDeque;
use std::sync::mpsc::{channel, RecvTimeoutError, SendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use super::compiling::without_signals;
use super::driver::{
    cu, Current, Driver, Handle, EVENT_NO_TIMING, NOT_READY, STREAM_NON_BLOCKING, URGENT,
};
use super::nccl::Ring;
use super::Cuda;
use crate::backend::{Backend, DeviceComm, Parcel, Place};
use crate::bail;
use crate::error::Result;

/// Bytes of the first message to each neighbour, which makes NCCL connect the two ranks.
const GREETING: usize = 256;
/// Interval at which this rank checks, while it waits for other ranks, whether they have failed.
const ASK: Duration = Duration::from_millis(1);
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

/// Messages that were started together, with events after the kernels before them, and after the messages.
#[derive(Clone, Copy)]
struct Start {
    number: u64,
    before: Handle,
    after: Handle,
}

/// Messages that may not have completed yet, in the order of their starts, and events that can be used again.
#[derive(Default)]
struct UnderWay {
    started: u64,
    starts: VecDeque<Start>,
    events: Vec<Handle>,
}

pub struct Messages {
    ring: Arc<Ring>,
    stream: Stream,
    under_way: Mutex<UnderWay>,
}
// SAFETY: streams and events belong to no thread, and a driver may be called from any.
unsafe impl Send for Messages {}
// SAFETY: as above; NCCL's communicator is behind a lock.
unsafe impl Sync for Messages {}

impl Stream {
    fn new(cuda: &Cuda) -> Result<Stream> {
        let (d, none) = (cuda.driver, std::ptr::null_mut());
        // From here on, drop releases what has been made.
        let mut stream =
            Stream { driver: d, context: cuda.context, kernels: cuda.stream, messages: none };
        // Urgent: kernels that move messages go ahead of those that they run beside.
        let messages = &mut stream.messages;
        cu!(d, stream_create_urgent(messages, STREAM_NON_BLOCKING, URGENT), "creating a stream")?;
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
    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An event that is not in use.
    fn event(&self, under_way: &mut UnderWay) -> Result<Handle> {
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
        meeting: &[u8],
        place: &Place,
        goes_on: &dyn Fn() -> Result<()>,
    ) -> Result<Messages> {
        let stream = Stream::new(cuda)?;
        let mut neighbours = place.neighbours.to_vec();
        neighbours.sort_unstable();
        neighbours.dedup();
        let n = neighbours.len();
        let bytes = (2 * n * GREETING) as u64;
        let scratch = cuda.alloc(bytes, true)?;
        cuda.synchronize()?;
        let greeting = |k: usize| Parcel {
            rank: neighbours[k % n],
            at: scratch.offset((k * GREETING) as u64),
            bytes: GREETING,
        };
        let greetings: Vec<Parcel> = (0..2 * n).map(greeting).collect();
        let messages = match Self::meet(cuda, &stream, meeting, place, greetings, goes_on) {
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
            if let Err(e) = goes_on() {
                messages.abort();
                return Err(e);
            }
        }
        messages.lock().events.push(done);
        // SAFETY: allocated above; nothing uses it any more.
        unsafe { cuda.free(scratch, bytes, true) };
        Ok(messages)
    }

    /// Joins the other ranks, in a thread of its own since NCCL waits for them without limit, and puts a first
    /// message to and from each neighbour on the stream.
    fn meet(
        cuda: &Cuda,
        stream: &Stream,
        meeting: &[u8],
        place: &Place,
        greetings: Vec<Parcel>,
        goes_on: &dyn Fn() -> Result<()>,
    ) -> Result<Arc<Ring>> {
        let (driver, meeting, Place { rank, ranks, .. }) = (cuda.driver, meeting.to_vec(), *place);
        let (context, messages) = (cuda.context as usize, stream.messages as usize);
        let (sender, receiver) = channel();
        let join = move || {
            let joined = Current::enter(driver, context as Handle).and_then(|_current| {
                let ring = Ring::join(&meeting, rank, ranks, BACKGROUND)?;
                let (sends, receives) = greetings.split_at(greetings.len() / 2);
                // SAFETY: memory that stays until the stream has passed this.
                unsafe { ring.exchange(messages as Handle, sends, receives)? };
                Ok(Arc::new(ring))
            });
            // The receiver has given up, so the connection is ended.
            if let Err(SendError(Ok(ring))) = sender.send(joined) {
                ring.abort();
            }
        };
        let named = Builder::new().name("plaq-nccl".into());
        if let Err(e) = without_signals(|| named.spawn(join)) {
            bail!(CommFailed, "cannot start a thread: {e}");
        }
        loop {
            match receiver.recv_timeout(ASK) {
                Ok(joined) => return joined,
                Err(RecvTimeoutError::Timeout) => goes_on()?,
                Err(RecvTimeoutError::Disconnected) => {
                    bail!(Internal, "the thread that joins other ranks has ended")
                }
            }
        }
    }
}

impl DeviceComm for Messages {
    unsafe fn start(&self, sends: &[Parcel], receives: &[Parcel]) -> Result<()> {
        let Stream { driver, context, kernels, messages } = self.stream;
        let _current = Current::enter(driver, context)?;
        let mut under_way = self.lock();
        let [before, after] = [self.event(&mut under_way)?, self.event(&mut under_way)?];
        cu!(driver, event_record(before, kernels), "recording a kernel")?;
        cu!(driver, stream_wait(messages, before, 0), "ordering messages")?;
        self.ring.exchange(messages, sends, receives)?;
        cu!(driver, event_record(after, messages), "recording messages")?;
        under_way.started += 1;
        let number = under_way.started;
        under_way.starts.push_back(Start { number, before, after });
        Ok(())
    }

    fn arrive(&self) -> Result<()> {
        let Stream { driver, context, kernels, .. } = self.stream;
        let _current = Current::enter(driver, context)?;
        let Some(last) = self.lock().starts.back().copied() else { return Ok(()) };
        cu!(driver, stream_wait(kernels, last.after, 0), "ordering a kernel")
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
            under_way.events.extend([first.before, first.after]);
        }
        Ok(None)
    }

    fn abort(&self) {
        if let Ok(_current) = Current::enter(self.stream.driver, self.stream.context) {
            self.ring.abort();
        }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        // The ring ends before its stream.
        if let Ok(_current) = Current::enter(self.stream.driver, self.stream.context) {
            let d = self.stream.driver;
            let _ = cu!(d, stream_synchronize(self.stream.messages), "");
            let UnderWay { starts, events, .. } = std::mem::take(&mut *self.lock());
            let started = starts.into_iter().flat_map(|start| [start.before, start.after]);
            for event in events.into_iter().chain(started) {
                let _ = cu!(d, event_destroy(event), "");
            }
        }
    }
}
