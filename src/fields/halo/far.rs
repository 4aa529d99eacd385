//! Messages across those faces where kernels cannot write to the neighbour's memory: NCCL sends them from device to
//! device, or MPI sends them, from device memory that it can access or in chunks from copies in host memory.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::{lock, HaloExchange};
use crate::backend::cpu::while_working;
use crate::backend::{Buffer, Device, Mapped, MessagePiece};
use crate::comm::{Comm, Message, Owner, Pending, Repeated, LARGEST_MESSAGE};
use crate::error::Result;
use crate::fields::peers::Peers;
use crate::fields::routes::Route;

/// Largest number of chunks in which a message is copied to the host and sent, and smallest size of a chunk in bytes.
/// The first chunk travels while later ones are copied.
const CHUNKS: usize = 4;
const SMALLEST: usize = 256 << 10;
/// Largest number of bytes of a message that MPI sends at once, without further calls while it is under way.
const SHORT: usize = 32 << 10;

/// The faces across which kernels cannot write, as (direction, upper), the send buffer of their messages and the route
/// by which these are sent.
#[derive(Debug)]
pub(super) struct RemoteFaces {
    pub faces: Vec<(usize, bool)>,
    pub send: Buffer,
    pub route: MessageRoute,
    /// The half of the receive buffer on the host that was used last.
    half: AtomicBool,
    /// Persistent MPI messages, by their number of columns and the address of the receive buffer; those used last are
    /// at the end.
    repeated: Mutex<Vec<((usize, u64), Repeated)>>,
}

/// Largest number of sets of persistent MPI messages that an exchange keeps.
const MAX_PERSISTENT: usize = 8;

#[derive(Debug)]
pub(super) enum MessageRoute {
    /// The devices of the ranks send and receive by NCCL.
    Devices(Arc<Peers>),
    /// MPI sends from and receives into device memory.
    Mpi,
    /// MPI sends and receives copies in host memory: the send buffer, then the receive buffer. The latter has two
    /// halves, used in turn, as one may still be copied to the device when the next exchange begins.
    Staged([Mapped; 2]),
}

/// A message to rank `to` behind a face and the message from rank `from` behind the opposite face, both at offset `at`
/// (bytes) in the send and the receive buffer; None for a face across which kernels write directly.
#[derive(Clone, Copy)]
struct FaceMessage {
    tag: i32,
    to: Option<usize>,
    from: Option<usize>,
    at: u64,
    bytes: usize,
}

impl MessageRoute {
    pub fn new(
        device: &Device,
        comm: &Comm,
        crossed: &[(usize, bool)],
        bytes: usize,
        peers: Option<Arc<Peers>>,
    ) -> Result<MessageRoute> {
        let route = peers.as_ref().map(|peers| peers.route);
        if let Some(peers) = peers.filter(|peers| peers.devices.is_some()) {
            return Ok(MessageRoute::Devices(peers));
        }
        // MPI is not used for messages of a rank to itself in GPU memory.
        let own = crossed.iter().any(|&(mu, upper)| comm.neighbour(mu, upper) == comm.rank());
        let takes = comm.takes_gpu_memory() && !own && route != Some(Route::Staged);
        if device.is_cpu() || takes {
            return Ok(MessageRoute::Mpi);
        }
        let copy = |bytes: usize| device.mapped(bytes.div_ceil(4));
        Ok(MessageRoute::Staged([copy(bytes)?, copy(2 * bytes)?]))
    }

    pub fn name(&self) -> &'static str {
        match self {
            MessageRoute::Devices(_) => "NCCL",
            MessageRoute::Mpi => "MPI",
            MessageRoute::Staged(_) => "MPI from copies on the host",
        }
    }
}

impl RemoteFaces {
    pub fn new(faces: Vec<(usize, bool)>, send: Buffer, route: MessageRoute) -> RemoteFaces {
        RemoteFaces { faces, send, route, half: AtomicBool::new(false), repeated: Mutex::default() }
    }
}

impl HaloExchange {
    /// Sends the packed messages across these faces and receives those of the neighbours; `meanwhile` runs, or launches
    /// kernels, while they are under way. On a GPU kernels that are launched afterwards wait for the messages.
    pub(super) fn cross(
        &self,
        comm: &Comm,
        far: &RemoteFaces,
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let device = self.recv.device();
        let memory = [far.send.ptr().0, self.recv.ptr().offset(self.slot()).0];
        match &far.route {
            MessageRoute::Devices(peers) => self.by_devices(comm, far, peers, meanwhile),
            MessageRoute::Mpi if device.is_cpu() => {
                let pending = RefCell::new(self.start(comm, far, memory)?);
                // Without this MPI would not go on with long messages before it is waited for. What fails here fails
                // again below.
                let go_on = || _ = pending.borrow_mut().look(false);
                let long = self.travels(comm, far).iter().any(|message| message.bytes > SHORT);
                if long {
                    while_working(&go_on, meanwhile)?;
                } else {
                    meanwhile()?;
                }
                comm.finish(pending.into_inner())
            }
            MessageRoute::Mpi => {
                device.mark()?;
                meanwhile()?;
                // Messages are received only after kernels that may still read the receive buffer have ended.
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
            MessageRoute::Staged(copies) => self.staged(comm, far, copies, meanwhile),
        }
    }

    /// Exchanges the packed messages by NCCL, from device to device.
    fn by_devices(
        &self,
        comm: &Comm,
        far: &RemoteFaces,
        peers: &Arc<Peers>,
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let Some(devices) = &peers.devices else { return meanwhile() };
        // Messages between two ranks come in the order of the faces of the one that sends.
        let travels = self.travels(comm, far);
        let piece = |rank: Option<usize>, at, bytes| Some(MessagePiece { rank: rank?, at, bytes });
        let sends: Vec<_> = travels.iter().filter_map(|m| piece(m.to, m.at, m.bytes)).collect();
        let slot = self.slot();
        let receives: Vec<_> =
            travels.iter().filter_map(|m| piece(m.from, slot + m.at, m.bytes)).collect();
        peers.awaited_on(self.recv.device());
        devices.start((&far.send, &sends), (&self.recv, &receives))?;
        // Later kernels must wait for the messages even if `meanwhile` failed.
        let done = meanwhile();
        devices.wait_for_messages()?;
        done
    }

    /// The messages across far faces. Where both faces of a direction lead to the same rank one message holds both.
    fn travels(&self, comm: &Comm, far: &RemoteFaces) -> Vec<FaceMessage> {
        let (faces, mut all) = (self.message_sizes(), vec![]);
        for mu in (0..4).filter(|&mu| faces.bytes(mu) > 0) {
            let behind =
                |upper| far.faces.contains(&(mu, upper)).then_some(comm.neighbour(mu, upper));
            let (lower, upper) = (behind(false), behind(true));
            let message = |is_upper: bool, to, from, bytes| FaceMessage {
                tag: 2 * mu as i32 + is_upper as i32,
                to,
                from,
                at: faces.offset(mu, is_upper),
                bytes,
            };
            let bytes = faces.bytes(mu);
            match lower == upper {
                true => all.push(message(false, lower, lower, 2 * bytes)),
                false => {
                    all.push(message(false, lower, upper, bytes));
                    all.push(message(true, upper, lower, bytes));
                }
            }
        }
        all.retain(|message| message.to.is_some() || message.from.is_some());
        all
    }

    /// All messages across far faces, divided into chunks that are copied and sent one by one.
    fn chunks(&self, comm: &Comm, far: &RemoteFaces) -> Vec<FaceMessage> {
        let mut all = vec![];
        for message in self.travels(comm, far) {
            let bytes = message.bytes;
            let chunk = bytes.div_ceil(CHUNKS).next_multiple_of(4096).max(SMALLEST);
            let chunk = chunk.min(LARGEST_MESSAGE);
            for from in (0..bytes).step_by(chunk) {
                let at = message.at + from as u64;
                all.push(FaceMessage { at, bytes: chunk.min(bytes - from), ..message });
            }
        }
        all
    }

    /// Exchanges messages through copies in host memory: each chunk is sent as soon as it has been copied from the
    /// device, and copied to the device as soon as it has been received.
    fn staged(
        &self,
        comm: &Comm,
        far: &RemoteFaces,
        [out, inp]: &[Mapped; 2],
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let device = self.recv.device();
        let here = self.recv.ptr().offset(self.slot());
        let half = if far.half.fetch_xor(true, Ordering::Relaxed) { 1 } else { 0 };
        let half = half * self.faces.total() as u64;
        let chunks = self.chunks(comm, far);
        let own = Some(comm.rank());
        let message = |c: &FaceMessage, rank: usize, send: u64, recv: u64| Message {
            to: rank,
            from: rank,
            tag: c.tag,
            send,
            recv,
            bytes: c.bytes,
        };
        let sends: Vec<(&FaceMessage, usize)> =
            chunks.iter().filter_map(|c| Some((c, c.to?))).collect();
        let receives: Vec<(&FaceMessage, usize)> =
            chunks.iter().filter(|c| c.from != own).filter_map(|c| Some((c, c.from?))).collect();
        let asked: Vec<Message> = receives
            .iter()
            .map(|(c, from)| message(c, *from, 0, inp.host() + half + c.at))
            .collect();
        let owner = self.this.upgrade().map(|this| this as Owner);
        let pieces: Vec<(u64, usize)> = sends.iter().map(|(c, _)| (c.at, c.bytes)).collect();
        let mut pending = comm.start(&asked, owner)?;
        device.start_download(out, far.send.ptr(), &pieces)?;
        meanwhile()?;
        let (mut sent, mut arrived) = (0, vec![false; receives.len()]);
        let mut go_on = || -> Result<bool> {
            while sent < sends.len() && device.downloaded(sent + 1)? {
                let (chunk, to) = sends[sent];
                if chunk.to == own {
                    // A message to this rank itself arrives across its opposite face.
                    device.start_upload((out, chunk.at), here.offset(chunk.at), chunk.bytes)?;
                } else {
                    let from = out.host() + chunk.at;
                    comm.add(&mut pending, &[message(chunk, to, from, 0)])?;
                }
                sent += 1;
            }
            let all = sent == sends.len();
            let done = pending.look(all)?;
            for (i, (chunk, _)) in receives.iter().enumerate() {
                if !arrived[i] && pending.done(i) {
                    let from = (inp, half + chunk.at);
                    device.start_upload(from, here.offset(chunk.at), chunk.bytes)?;
                    arrived[i] = true;
                }
            }
            Ok(all && done)
        };
        // MPI may need the context of the GPU from which the copies are.
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

    /// Starts the MPI messages of the far faces; `send` and `recv` are the addresses of the send and receive buffer.
    fn start(&self, comm: &Comm, far: &RemoteFaces, [send, recv]: [u64; 2]) -> Result<Pending> {
        let key = (self.columns, recv);
        let mut all = lock(&far.repeated);
        let mut repeated = match all.iter().position(|(k, _)| *k == key) {
            Some(at) => all.remove(at).1,
            None => {
                // Address 0 where there is no message to send, or none to receive.
                let place = |base: u64, at: u64, rank: Option<usize>| rank.map_or(0, |_| base + at);
                let message = |m: FaceMessage| Message {
                    to: m.to.unwrap_or_default(),
                    from: m.from.unwrap_or_default(),
                    tag: m.tag,
                    send: place(send, m.at, m.to),
                    recv: place(recv, m.at, m.from),
                    bytes: m.bytes,
                };
                Repeated::new(self.travels(comm, far).into_iter().map(message).collect())
            }
        };
        let pending = comm.repeat(&mut repeated, self.this.upgrade().map(|this| this as Owner))?;
        if all.len() == MAX_PERSISTENT {
            all.remove(0);
        }
        all.push((key, repeated));
        Ok(pending)
    }
}
