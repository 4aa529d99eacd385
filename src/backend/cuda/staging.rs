//! Transfers between pageable host memory and the device through two page-locked chunks: while
//! one crosses the bus, host threads copy the other.

use std::ffi::c_void;

use rayon::prelude::*;

use super::driver::{cu, DevicePtr, Driver, Handle, EVENT_NO_TIMING, HOST_PORTABLE_MAPPED};
use crate::bail;
use crate::error::Result;

/// Large enough that launch latencies vanish, small enough to overlap on mid-size fields.
const CHUNK: usize = 8 << 20;
/// One thread copies some 10 GB/s, the bus moves 25 to 55.
const MOST_THREADS: usize = 8;
/// Below this a second thread does not pay.
const PIECE: usize = 512 << 10;

struct Chunk {
    host: *mut c_void,
    /// Recorded after the last transfer that used this chunk.
    done: Handle,
}

pub struct Staging {
    driver: &'static Driver,
    chunks: Vec<Chunk>,
    /// Uploads take the chunks in turn, also from call to call: small ones overlap as well.
    uploads: usize,
    pool: rayon::ThreadPool,
}
// SAFETY: page-locked memory and events belong to no thread; a mutex guards the whole.
unsafe impl Send for Staging {}

impl Staging {
    /// The context must be current, here and in the calls below.
    pub fn new(driver: &'static Driver) -> Result<Staging> {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(cores.min(MOST_THREADS))
            .thread_name(|i| format!("plaq-copy-{i}"))
            .build();
        let pool = match pool {
            Ok(pool) => pool,
            Err(e) => bail!(OutOfMemory, "cannot start threads for transfers: {e}"),
        };
        let mut staging = Staging { driver, chunks: Vec::new(), uploads: 0, pool };
        for _ in 0..2 {
            let mut host = std::ptr::null_mut();
            cu!(
                driver,
                host_alloc(&mut host, CHUNK, HOST_PORTABLE_MAPPED),
                "allocating {} MiB of page-locked memory",
                CHUNK >> 20
            )?;
            staging.chunks.push(Chunk { host, done: std::ptr::null_mut() });
            let done = &mut staging.chunks.last_mut().expect("just pushed").done;
            cu!(driver, event_create(done, EVENT_NO_TIMING), "creating an event")?;
        }
        Ok(staging)
    }

    /// Returns when `src` has been read; the device has it in the order of the stream.
    pub fn upload(&mut self, dst: DevicePtr, src: &[u8], stream: Handle) -> Result<()> {
        let d = self.driver;
        for (i, piece) in src.chunks(CHUNK).enumerate() {
            let chunk = &self.chunks[self.uploads % 2];
            self.uploads += 1;
            cu!(d, event_synchronize(chunk.done), "waiting for an upload")?;
            // SAFETY: the chunk has CHUNK bytes and no transfer in flight.
            let staged =
                unsafe { std::slice::from_raw_parts_mut(chunk.host.cast::<u8>(), piece.len()) };
            self.copy(staged, piece);
            let at = dst + (i * CHUNK) as u64;
            let bytes = piece.len();
            cu!(d, copy_to_device(at, chunk.host, bytes, stream), "uploading {bytes} bytes")?;
            cu!(d, event_record(chunk.done, stream), "recording an upload")?;
        }
        Ok(())
    }

    /// Returns when `dst` is filled.
    pub fn download(&mut self, dst: &mut [u8], src: DevicePtr, stream: Handle) -> Result<()> {
        let d = self.driver;
        let total = dst.len();
        let count = total.div_ceil(CHUNK);
        let fetch = |i: usize| {
            let (chunk, bytes) = (&self.chunks[i % 2], CHUNK.min(total - i * CHUNK));
            let at = src + (i * CHUNK) as u64;
            cu!(d, copy_to_host(chunk.host, at, bytes, stream), "downloading {bytes} bytes")?;
            cu!(d, event_record(chunk.done, stream), "recording a download")
        };
        if count > 0 {
            fetch(0)?;
        }
        for (i, piece) in dst.chunks_mut(CHUNK).enumerate() {
            if i + 1 < count {
                fetch(i + 1)?;
            }
            let chunk = &self.chunks[i % 2];
            cu!(d, event_synchronize(chunk.done), "waiting for a download")?;
            // SAFETY: the transfer into the first piece.len() bytes of this chunk is complete.
            let staged =
                unsafe { std::slice::from_raw_parts(chunk.host.cast::<u8>(), piece.len()) };
            self.copy(piece, staged);
        }
        Ok(())
    }

    fn copy(&self, dst: &mut [u8], src: &[u8]) {
        if dst.len() <= PIECE {
            return dst.copy_from_slice(src);
        }
        let piece = dst.len().div_ceil(self.pool.current_num_threads()).max(PIECE);
        self.pool.install(|| {
            let pairs = dst.par_chunks_mut(piece).zip(src.par_chunks(piece));
            pairs.for_each(|(d, s)| d.copy_from_slice(s));
        });
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        for chunk in &self.chunks {
            if !chunk.done.is_null() {
                let _ = cu!(self.driver, event_synchronize(chunk.done), "");
                let _ = cu!(self.driver, event_destroy(chunk.done), "");
            }
            let _ = cu!(self.driver, host_free(chunk.host), "");
        }
    }
}
