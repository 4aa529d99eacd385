//! Transfers between pageable host memory and the device through page-locked chunks. Threads of the host copy between
//! the chunks and the host's arrays, each with two chunks: while one is being transferred, the thread copies the
//! other.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

use super::driver::{
    cu, Current, Driver, Handle, EVENT_NO_TIMING, HOST_PORTABLE_MAPPED, STREAM_NON_BLOCKING,
};
use super::waits::{Awaitable, WatchedRanks};
use crate::backend::{Downloads, Piece, Rows};
use crate::bail;
use crate::error::Result;

/// Largest and smallest number of bytes that a thread copies at a time: large enough that pauses between transfers are
/// negligible, small enough that many threads have work.
const CHUNK: usize = 2 << 20;
const LEAST: usize = 256 << 10;
/// Largest number of copying threads: one copies about 5 GB/s, structs of the host at half that rate, and the bus
/// transfers 25 to 55 GB/s.
const MAX_THREADS: usize = 16;
/// Name of a wait for a transfer in error messages.
const TRANSFER: &str = "a transfer";
/// Number of chunks of memory that a thread has.
const DEPTH: usize = 2;

struct Chunk {
    host: *mut u8,
    /// Event recorded after the last transfer that used this chunk.
    done: Handle,
}

pub struct Staging {
    driver: &'static Driver,
    context: Handle,
    /// The stream of the device's kernels and of uploads.
    stream: Handle,
    /// The stream of downloads, which run concurrently with kernels.
    copies: Handle,
    /// Events recorded after the kernels that write the current and the next pieces of a download.
    made: [Handle; 2],
    /// Event recorded after the downloads for which a kernel must wait.
    taken: Handle,
    chunks: Vec<Chunk>,
    /// The chunk with which the next transfer begins, so that small transfers of consecutive calls overlap.
    turn: usize,
    pool: rayon::ThreadPool,
}
// SAFETY: page-locked memory, streams and events belong to no thread; a mutex guards the whole.
unsafe impl Send for Staging {}
// SAFETY: in a transfer every chunk is used by one thread.
unsafe impl Sync for Staging {}

/// A guard that counts a thread as ended when it is dropped, also by a panic.
struct EndGuard<'a>(&'a AtomicUsize);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The state of a download: the current pieces, how much of them is done, and the next pieces.
struct Queue<'s, 'a> {
    source: &'s mut Downloads<'a>,
    now: Vec<Piece<'a>>,
    piece: usize,
    begin: usize,
    next: Vec<Piece<'a>>,
    round: usize,
}

fn bytes_of(pieces: &[Piece]) -> usize {
    pieces.iter().map(|(_, rows)| rows.bytes()).sum()
}

impl Staging {
    /// Makes memory and streams for transfers; the context must be current, here and in the functions below.
    pub fn new(driver: &'static Driver, context: Handle, stream: Handle) -> Result<Staging> {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = cores.min(MAX_THREADS);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("plaq-copy-{i}"))
            .build();
        let pool = match pool {
            Ok(pool) => pool,
            Err(e) => bail!(OutOfMemory, "cannot start threads for transfers: {e}"),
        };
        let none = std::ptr::null_mut();
        // From here on, drop releases what has been made.
        let mut staging = Staging {
            driver,
            context,
            stream,
            copies: none,
            made: [none; 2],
            taken: none,
            chunks: Vec::new(),
            turn: 0,
            pool,
        };
        let copies = &mut staging.copies;
        cu!(driver, stream_create(copies, STREAM_NON_BLOCKING), "creating a stream")?;
        for event in staging.made.iter_mut().chain([&mut staging.taken]) {
            cu!(driver, event_create(event, EVENT_NO_TIMING), "creating an event")?;
        }
        for _ in 0..DEPTH * threads {
            let mut host = none;
            cu!(
                driver,
                host_alloc(&mut host, CHUNK, HOST_PORTABLE_MAPPED),
                "allocating {} KiB of page-locked memory",
                CHUNK >> 10
            )?;
            staging.chunks.push(Chunk { host: host.cast(), done: none });
            let done = &mut staging.chunks.last_mut().expect("just pushed").done;
            cu!(driver, event_create(done, EVENT_NO_TIMING), "creating an event")?;
        }
        Ok(staging)
    }

    /// Number of bytes that a thread copies at a time, for a transfer of this size.
    fn chunk(&self, bytes: usize) -> usize {
        let share = bytes.div_ceil(self.pool.current_num_threads());
        share.next_multiple_of(4096).clamp(LEAST, CHUNK)
    }

    /// Calls `work` on `threads` threads, or on all if there are fewer, each with its own chunks and a function that
    /// waits for these. Only the calling thread checks other ranks for failures, also while other threads work.
    fn share(
        &self,
        threads: usize,
        waits: &WatchedRanks,
        work: impl Fn([&Chunk; DEPTH], &dyn Fn(&Chunk) -> Result<()>) -> Result<()> + Sync,
    ) -> Result<()> {
        let d = self.driver;
        let threads = threads.clamp(1, self.pool.current_num_threads());
        let own = |thread: usize| {
            let at = |i| (self.turn + DEPTH * thread + i) % self.chunks.len();
            std::array::from_fn(|i| &self.chunks[at(i)])
        };
        if threads == 1 {
            return work(own(0), &|chunk| {
                waits.wait_for(d, Awaitable::Event(chunk.done), TRANSFER)
            });
        }
        let (outcome, left) = (Mutex::new(Ok(())), AtomicUsize::new(threads));
        let mut watched = Ok(());
        self.pool.in_place_scope(|scope| {
            for thread in 0..threads {
                let (own, work, outcome, left) = (&own, &work, &outcome, &left);
                scope.spawn(move |_| {
                    let _ends = EndGuard(left);
                    let wait = |chunk: &Chunk| Awaitable::Event(chunk.done).block(d, TRANSFER);
                    let current = Current::enter(d, self.context);
                    let done = current.and_then(|_current| work(own(thread), &wait));
                    if done.is_err() {
                        *outcome.lock().unwrap_or_else(|e| e.into_inner()) = done;
                    }
                });
            }
            // The end of the scope waits for them.
            let done = || {
                std::thread::yield_now();
                Ok(left.load(Ordering::Acquire) == 0)
            };
            watched = waits.wait(done, || Ok(()));
        });
        watched.and(outcome.into_inner().unwrap_or_else(|e| e.into_inner()))
    }

    /// Copies pieces to the device. Returns when the host's rows have been read; kernels launched later find the pieces
    /// on the device.
    pub fn upload(&mut self, pieces: &[Piece], waits: &WatchedRanks) -> Result<()> {
        let d = self.driver;
        self.turn = (self.turn + 1) % self.chunks.len();
        let this = &*self;
        let chunk = this.chunk(bytes_of(pieces));
        // (piece, first byte) of every chunk.
        let starts = |(i, piece): (usize, &Piece)| {
            (0..piece.1.bytes()).step_by(chunk).map(move |begin| (i, begin))
        };
        let parts: Vec<(usize, usize)> = pieces.iter().enumerate().flat_map(starts).collect();
        let next = AtomicUsize::new(0);
        this.share(parts.len(), waits, |chunks, wait| {
            for own in chunks.iter().cycle() {
                let Some(&(i, begin)) = parts.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    break;
                };
                let (dst, src) = pieces[i];
                let range = begin..(begin + chunk).min(src.bytes());
                let (at, bytes) = (dst.0 + begin as u64, range.len());
                wait(own)?;
                // SAFETY: the chunk has room and no transfer in flight, the range lies inside.
                unsafe { src.gather(range, own.host) };
                let from = own.host.cast();
                cu!(d, copy_to_device(at, from, bytes, this.stream), "uploading {bytes} bytes")?;
                cu!(d, event_record(own.done, this.stream), "recording an upload")?;
            }
            Ok(())
        })
    }

    /// Copies to the host all pieces that `source` names; returns when they have arrived.
    pub fn download(&mut self, source: &mut Downloads, waits: &WatchedRanks) -> Result<()> {
        let d = self.driver;
        self.turn = (self.turn + 1) % self.chunks.len();
        let this = &*self;
        let (now, next) = (Vec::new(), Vec::new());
        let mut queue = Queue { source, now, piece: 0, begin: 0, next, round: 0 };
        this.make(&mut queue)?;
        this.advance(&mut queue)?;
        let bytes = bytes_of(&queue.now);
        let at_a_time = this.chunk(bytes);
        // The lock keeps launches and transfers in order.
        let queue = Mutex::new(queue);
        let failed = AtomicBool::new(false);
        let fetch = |chunk: &Chunk| -> Result<Option<(Rows, Range<usize>)>> {
            let mut q = queue.lock().unwrap_or_else(|e| e.into_inner());
            while q.now.get(q.piece).is_some_and(|(_, rows)| q.begin >= rows.bytes()) {
                (q.piece, q.begin) = (q.piece + 1, 0);
                if q.piece == q.now.len() {
                    this.advance(&mut q)?;
                }
            }
            let Some(&(src, rows)) = q.now.get(q.piece) else { return Ok(None) };
            if failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let range = q.begin..(q.begin + at_a_time).min(rows.bytes());
            let (at, bytes) = (src.0 + range.start as u64, range.len());
            q.begin = range.end;
            let (to, stream) = (chunk.host.cast(), this.copies);
            cu!(d, copy_to_host(to, at, bytes, stream), "downloading {bytes} bytes")?;
            cu!(d, event_record(chunk.done, stream), "recording a download")?;
            Ok(Some((rows, range)))
        };
        let work = |chunks: [&Chunk; DEPTH], wait: &dyn Fn(&Chunk) -> Result<()>| -> Result<()> {
            chunks.into_iter().try_for_each(wait)?;
            let mut ahead: Option<(&Chunk, Rows, Range<usize>)> = None;
            for chunk in chunks.into_iter().cycle() {
                let fetched = fetch(chunk)?.map(|(rows, range)| (chunk, rows, range));
                let arriving = std::mem::replace(&mut ahead, fetched);
                if let Some((chunk, rows, range)) = arriving {
                    wait(chunk)?;
                    // SAFETY: the transfer into this chunk is complete.
                    unsafe { rows.scatter(range, chunk.host) };
                } else if ahead.is_none() {
                    break;
                }
            }
            Ok(())
        };
        this.share(bytes.div_ceil(at_a_time), waits, |chunks, wait| {
            let done = work(chunks, wait);
            failed.fetch_or(done.is_err(), Ordering::Relaxed);
            done
        })
    }

    /// Requests the next pieces.
    fn make(&self, q: &mut Queue) -> Result<()> {
        q.next = (q.source)()?;
        let made = self.made[q.round % 2];
        q.round += 1;
        cu!(self.driver, event_record(made, self.stream), "recording a kernel")
    }

    /// Continues with the next pieces when the transfers of the current ones have been ordered, and requests those
    /// after them.
    fn advance(&self, q: &mut Queue) -> Result<()> {
        let d = self.driver;
        // The kernel that `make` launches overwrites the device memory of the current pieces.
        cu!(d, event_record(self.taken, self.copies), "recording downloads")?;
        cu!(d, stream_wait(self.stream, self.taken, 0), "ordering a kernel")?;
        q.now = std::mem::take(&mut q.next);
        (q.piece, q.begin) = (0, 0);
        let made = self.made[(q.round + 1) % 2];
        cu!(d, stream_wait(self.copies, made, 0), "ordering a download")?;
        if !q.now.is_empty() {
            self.make(q)?;
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let d = self.driver;
        if !self.copies.is_null() {
            let _ = cu!(d, stream_synchronize(self.copies), "");
            let _ = cu!(d, stream_destroy(self.copies), "");
        }
        for chunk in &self.chunks {
            if !chunk.done.is_null() {
                let _ = cu!(d, event_synchronize(chunk.done), "");
            }
            let _ = cu!(d, host_free(chunk.host.cast()), "");
        }
        let events = self.chunks.iter().map(|c| c.done).chain(self.made).chain([self.taken]);
        for event in events.filter(|e| !e.is_null()) {
            let _ = cu!(d, event_destroy(event), "");
        }
    }
}
