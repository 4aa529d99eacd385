//! Messages across faces that kernels do not write across: from device to device by themselves (NCCL), or by MPI, from
//! memory that it reaches or in chunks through copies on the host.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use super::HaloExchange;
use crate::backend::cpu::while_working;
use crate::backend::{Buffer, Device, Mapped, MessagePiece};
use crate::comm::{Comm, Message, Owner, Pending, LARGEST_MESSAGE};
use crate::error::Result;
use crate::fields::peers::Peers;
use crate::fields::routes::Route;

/// Largest number of chunks in which a message is copied to the host and sent, and smallest size of a chunk in bytes.
/// The first chunk travels while later ones are copied.
const CHUNKS: usize = 4;
const SMALLEST: usize = 256 << 10;
/// Largest number of bytes of a message that MPI sends away at once.
const SHORT: usize = 32 << 10;

/// The faces that kernels do not write across, and how messages cross them.
#[derive(Debug)]
pub(super) struct Far {
    pub faces: Vec<(usize, bool)>,
    pub send: Buffer,
    pub way: Way,
    /// The half of what is received on the host that was used last.
    half: AtomicBool,
}

#[derive(Debug)]
pub(super) enum Way {
    /// The devices of the ranks send and receive by themselves.
    Devices(Arc<Peers>),
    /// MPI reaches the memory of the device.
    Mpi,
    /// MPI sends and receives copies on the host. Of those received there are two, in turn: one may still be on its way
    /// to the device when the next exchange begins.
    Staged([Mapped; 2]),
}

/// A part of the message across a face.
struct Chunk {
    mu: usize,
    upper: bool,
    at: u64,
    bytes: usize,
}

impl Way {
    pub fn new(
        device: &Device,
        comm: &Comm,
        crossed: &[(usize, bool)],
        bytes: usize,
        peers: Option<Arc<Peers>>,
    ) -> Result<Way> {
        if let Some(peers) = peers.filter(|peers| peers.devices.is_some()) {
            return Ok(Way::Devices(peers));
        }
        // MPI is not asked to copy inside of one GPU.
        let own = crossed.iter().any(|&(mu, upper)| comm.neighbour(mu, upper) == comm.rank());
        let takes = comm.takes_gpu_memory() && !own && Route::asked()? != Route::Staged;
        if device.is_cpu() || takes {
            return Ok(Way::Mpi);
        }
        let copy = |bytes: usize| device.mapped(bytes.div_ceil(4));
        Ok(Way::Staged([copy(bytes)?, copy(2 * bytes)?]))
    }

    pub fn name(&self) -> &'static str {
        match self {
            Way::Devices(_) => "NCCL",
            Way::Mpi => "MPI",
            Way::Staged(_) => "MPI from copies on the host",
        }
    }
}

impl Far {
    pub fn new(faces: Vec<(usize, bool)>, send: Buffer, way: Way) -> Far {
        Far { faces, send, way, half: AtomicBool::new(false) }
    }
}

impl HaloExchange {
    /// Sends what is packed across these faces and receives what comes; `meanwhile` runs, or is launched, beside it.
    /// On a GPU what is launched afterwards waits.
    pub(super) fn cross(
        &self,
        comm: &Comm,
        far: &Far,
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let device = self.recv.device();
        let memory = [far.send.ptr().0, self.recv.ptr().offset(self.slot()).0];
        match &far.way {
            Way::Devices(peers) => self.by_devices(comm, far, peers, meanwhile),
            Way::Mpi if device.is_cpu() => {
                let pending = RefCell::new(self.start(comm, far, memory)?);
                // Without this MPI would not go on with long messages before it is waited for. What fails here fails
                // again below.
                let go_on = || _ = pending.borrow_mut().look(false);
                let long = far.faces.iter().any(|&(mu, _)| self.sent_bytes(mu) > SHORT);
                if long {
                    while_working(&go_on, meanwhile)?;
                } else {
                    meanwhile()?;
                }
                comm.finish(pending.into_inner())
            }
            Way::Mpi => {
                device.mark()?;
                meanwhile()?;
                // Nothing is received to where kernels may still read.
                for round in 1u64.. {
                    if device.downloaded(0)? {
                        break;
                    }
                    if round.is_multiple_of(64) {
                        comm.watch()?;
                        std::thread::yield_now();
                    }
                }
                // MPI copies to and from a GPU in the context that is current.
                device.inside(&mut || comm.finish(self.start(comm, far, memory)?))
            }
            Way::Staged(copies) => self.staged(comm, far, copies, meanwhile),
        }
    }

    /// Has the devices send what is packed and receive what comes.
    fn by_devices(
        &self,
        comm: &Comm,
        far: &Far,
        peers: &Arc<Peers>,
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let Some(devices) = &peers.devices else { return meanwhile() };
        // Messages between two ranks come in the order of the faces of the one that sends.
        let [mut sends, mut receives] = [const { vec![] }; 2];
        for (mu, upper) in self.faces.list() {
            let bytes = self.sent_bytes(mu);
            if far.faces.contains(&(mu, upper)) {
                let (rank, at) = (comm.neighbour(mu, upper), self.faces.offset(mu, upper));
                sends.push(MessagePiece { rank, at, bytes });
            }
            if far.faces.contains(&(mu, !upper)) {
                let at = self.slot() + self.faces.offset(mu, !upper);
                receives.push(MessagePiece { rank: comm.neighbour(mu, !upper), at, bytes });
            }
        }
        peers.awaited_on(self.recv.device());
        devices.start((&far.send, &sends), (&self.recv, &receives))?;
        // Kernels follow the messages also where others could not be launched.
        let done = meanwhile();
        devices.arrive()?;
        done
    }

    /// The chunks of all messages across far faces.
    fn chunks(&self, far: &Far) -> Vec<Chunk> {
        let mut all = vec![];
        for &(mu, upper) in &far.faces {
            let bytes = self.sent_bytes(mu);
            let chunk = bytes.div_ceil(CHUNKS).next_multiple_of(4096).max(SMALLEST);
            let chunk = chunk.min(LARGEST_MESSAGE);
            for from in (0..bytes).step_by(chunk) {
                let at = self.faces.offset(mu, upper) + from as u64;
                all.push(Chunk { mu, upper, at, bytes: chunk.min(bytes - from) });
            }
        }
        all
    }

    /// Sends copies on the host of what is packed, and copies to the device what comes: each chunk goes on as soon as
    /// it is there.
    fn staged(
        &self,
        comm: &Comm,
        far: &Far,
        [out, inp]: &[Mapped; 2],
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let device = self.recv.device();
        let here = self.recv.ptr().offset(self.slot());
        let half = if far.half.fetch_xor(true, Ordering::Relaxed) { 1 } else { 0 };
        let half = half * self.faces.total() as u64;
        let chunks = self.chunks(far);
        let own = |c: &Chunk| comm.neighbour(c.mu, c.upper) == comm.rank();
        // What is sent or received across a face, which has the tag of the face that it leaves by.
        let message = |c: &Chunk, send: u64, recv: u64| Message {
            to: comm.neighbour(c.mu, c.upper),
            from: comm.neighbour(c.mu, c.upper),
            tag: 2 * c.mu as i32 + (c.upper == (send != 0)) as i32,
            send,
            recv,
            bytes: c.bytes,
        };
        let receives: Vec<&Chunk> = chunks.iter().filter(|c| !own(c)).collect();
        let asked: Vec<Message> =
            receives.iter().map(|c| message(c, 0, inp.host() + half + c.at)).collect();
        let owner = self.me.upgrade().map(|me| me as Owner);
        let pieces: Vec<(u64, usize)> = chunks.iter().map(|c| (c.at, c.bytes)).collect();
        let mut pending = comm.start(&asked, owner)?;
        device.start_download(out, far.send.ptr(), &pieces)?;
        meanwhile()?;
        let (mut sent, mut arrived) = (0, vec![false; receives.len()]);
        let mut go_on = || -> Result<bool> {
            while sent < chunks.len() && device.downloaded(sent + 1)? {
                let chunk = &chunks[sent];
                let from = out.host() + chunk.at;
                if own(chunk) {
                    // Across the other face it comes in.
                    let bytes = chunk.at - self.faces.offset(chunk.mu, chunk.upper);
                    let at = self.faces.offset(chunk.mu, !chunk.upper) + bytes;
                    device.start_upload((out, chunk.at), here.offset(at), chunk.bytes)?;
                } else {
                    comm.add(&mut pending, &[message(chunk, from, 0)])?;
                }
                sent += 1;
            }
            let all = sent == chunks.len();
            let done = pending.look(all)?;
            for (i, chunk) in receives.iter().enumerate() {
                if !arrived[i] && pending.done(i) {
                    let from = (inp, half + chunk.at);
                    device.start_upload(from, here.offset(chunk.at), chunk.bytes)?;
                    arrived[i] = true;
                }
            }
            Ok(all && done)
        };
        // MPI may ask for the context of a GPU that copies are of.
        device.inside(&mut || {
            while !go_on()? {
                // Ranks may share this core.
                std::thread::yield_now();
            }
            Ok(())
        })?;
        comm.finish(pending)?;
        device.after_uploads()
    }

    /// Starts the MPI messages of the far faces between these two addresses.
    fn start(&self, comm: &Comm, far: &Far, [send, recv]: [u64; 2]) -> Result<Pending> {
        let faces = &self.faces;
        let place = |base: u64, mu: usize, upper: bool| {
            let crossed = far.faces.contains(&(mu, upper));
            if crossed {
                base + faces.offset(mu, upper)
            } else {
                0
            }
        };
        let message = |(mu, upper)| Message {
            to: comm.neighbour(mu, upper),
            from: comm.neighbour(mu, !upper),
            tag: 2 * mu as i32 + upper as i32,
            send: place(send, mu, upper),
            recv: place(recv, mu, !upper),
            bytes: self.sent_bytes(mu),
        };
        let travels = |m: &Message| m.send != 0 || m.recv != 0;
        let messages: Vec<Message> = faces.list().map(message).filter(travels).collect();
        comm.start(&messages, self.me.upgrade().map(|me| me as Owner))
    }
}
