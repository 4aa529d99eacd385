//! What crosses the faces between ranks: the messages of one exchange, and the faces of spinors in
//! them. Three routes: through memory that MPI reaches (a CPU), through copies on the host, or
//! straight from the packing kernel into the memory of the GPU behind the face.

use std::sync::{Arc, Mutex, MutexGuard, Weak};

use super::peers::{shared_bytes, Peers, Reach};
use super::{Geometry, Precision};
use crate::backend::args::{HaloView, SignalArgs};
use crate::backend::{Buffer, Device, Ptr, Work};
use crate::comm::{Comm, Message, Owner, Pending};
use crate::error::Result;

/// Reals of a projected spinor.
const PROJECTED_REALS: usize = 12;

/// What belongs to the ranks of a `Comm`: exchanges, made once for each device and sizes of messages,
/// and what waits on a device have in common.
#[derive(Debug, Default)]
struct Shelf(Mutex<Made>);
#[derive(Debug, Default)]
pub(super) struct Made {
    exchanges: Vec<Exchange>,
    pub peers: Vec<(Device, Arc<Peers>)>,
    /// Of `Comm::failures`.
    failures: u64,
}
type Exchange = (Device, Faces, Arc<Mutex<Mail>>);

/// Bytes of the message across each lower or upper face, 0 where none goes; the same place in what
/// is sent and in what comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Faces {
    bytes: [usize; 4],
}

impl Faces {
    /// Messages of `bytes(mu)` across both faces of every direction of `mask`.
    pub fn new(mask: i32, bytes: impl Fn(usize) -> usize) -> Self {
        // Whole lines, so that every message begins aligned.
        let padded = |mu: usize| bytes(mu).next_multiple_of(256);
        Faces { bytes: std::array::from_fn(|mu| if mask >> mu & 1 == 1 { padded(mu) } else { 0 }) }
    }
    fn total(&self) -> usize {
        2 * self.bytes.iter().sum::<usize>()
    }
    fn offset(&self, mu: usize, upper: bool) -> u64 {
        let below: usize = self.bytes[..mu].iter().sum();
        (2 * below + if upper { self.bytes[mu] } else { 0 }) as u64
    }
    /// Every face that a message crosses.
    fn list(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        let crossed = (0..4).filter(|&mu| self.bytes[mu] > 0);
        crossed.flat_map(|mu| [(mu, false), (mu, true)])
    }
}

/// How messages travel.
#[derive(Debug)]
enum Route {
    /// The transport reaches this memory.
    Reached(Buffer),
    /// What is sent, and copies on the host of what is sent and of what comes.
    Staged(Buffer, [Vec<u8>; 2]),
    Direct(Direct),
}

/// Kernels write into the memory of the rank behind the face, and then its flag. Two slots taken in
/// turn: who writes into a slot again has seen the message that its reader sent after reading it.
#[derive(Debug)]
struct Direct {
    /// The receive buffer of the rank behind each face.
    there: [[Ptr; 2]; 4],
    _reach: Reach,
    number: u32,
    peers: Arc<Peers>,
}

/// One exchange, again and again.
#[derive(Debug)]
pub(crate) struct Mail {
    /// What owns this, for messages under way.
    me: Weak<Mutex<Mail>>,
    faces: Faces,
    recv: Buffer,
    route: Route,
}

impl Mail {
    fn new(
        device: &Device,
        comm: &Comm,
        faces: Faces,
        peers: Option<Arc<Peers>>,
    ) -> Result<Arc<Mutex<Self>>> {
        let bytes = faces.total();
        let (recv, route) = if device.is_cpu() {
            (device.alloc(bytes)?, Route::Reached(device.alloc(bytes)?))
        } else if let Some((recv, direct)) =
            peers.map_or(Ok(None), |peers| Direct::new(device, comm, &faces, peers))?
        {
            (recv, Route::Direct(direct))
        } else {
            let host = [vec![0; bytes], vec![0; bytes]];
            (device.alloc(bytes)?, Route::Staged(device.alloc(bytes)?, host))
        };
        Ok(Arc::new_cyclic(|me| Mutex::new(Mail { me: me.clone(), faces, recv, route })))
    }

    fn held(&self) -> u64 {
        let sent = match &self.route {
            Route::Reached(send) | Route::Staged(send, _) => send.bytes(),
            Route::Direct(_) => 0,
        };
        (self.recv.bytes() + sent) as u64
    }

    fn slot(&self) -> u64 {
        match &self.route {
            Route::Direct(direct) => direct.slot(&self.faces),
            _ => 0,
        }
    }

    /// To be called before what `sent` points to is written.
    pub fn begin(&mut self) {
        if let Route::Direct(direct) = &mut self.route {
            direct.number = direct.number.wrapping_add(1);
        }
    }

    /// Where the face of this rank is written.
    pub fn sent(&self, mu: usize, upper: bool) -> Ptr {
        match &self.route {
            Route::Reached(send) | Route::Staged(send, _) => {
                send.ptr().offset(self.faces.offset(mu, upper))
            }
            Route::Direct(direct) => {
                let there = direct.there[mu][upper as usize];
                there.offset(self.slot() + self.faces.offset(mu, !upper))
            }
        }
    }

    /// Where what came across that face is.
    pub fn received(&self, mu: usize, upper: bool) -> Ptr {
        self.recv.ptr().offset(self.slot() + self.faces.offset(mu, upper))
    }

    /// Where kernels write to other ranks: what one that packs, tells them and waits for them by
    /// itself is to signal and to await.
    ///
    /// # Errors
    /// `CommFailed`: another rank failed.
    pub fn signals(&self, comm: &Comm) -> Result<Option<[SignalArgs; 2]>> {
        let Route::Direct(direct) = &self.route else { return Ok(None) };
        comm.finish(comm.start(&[], None)?)?;
        let departures = direct.departures(&self.recv, &self.faces);
        Ok(Some([departures, direct.arrivals(comm, &self.recv, &self.faces)]))
    }

    /// Sends what is packed.
    pub fn start(&mut self, comm: &Comm) -> Result<Pending> {
        let [send, recv] = match &mut self.route {
            Route::Reached(send) => [send.ptr().0, self.recv.ptr().0],
            Route::Staged(send, [out, inp]) => {
                send.download(out)?;
                [out.as_ptr() as u64, inp.as_ptr() as u64]
            }
            Route::Direct(direct) => {
                let flags = direct.departures(&self.recv, &self.faces);
                signal(self.recv.device(), "signal", &flags)?;
                return comm.start(&[], None);
            }
        };
        let faces = &self.faces;
        let message = |(mu, upper)| Message {
            to: comm.neighbour(mu, upper),
            from: comm.neighbour(mu, !upper),
            tag: 2 * mu as i32 + upper as i32,
            send: send + faces.offset(mu, upper),
            recv: recv + faces.offset(mu, !upper),
            bytes: faces.bytes[mu],
        };
        let messages: Vec<Message> = faces.list().map(message).collect();
        comm.start(&messages, self.me.upgrade().map(|me| me as Owner))
    }

    /// Waits for what comes; on a GPU what is launched after it does.
    pub fn finish(&mut self, comm: &Comm, pending: Pending) -> Result<()> {
        comm.finish(pending)?;
        match &mut self.route {
            Route::Reached(_) => Ok(()),
            Route::Staged(_, [_, inp]) => self.recv.upload(inp),
            Route::Direct(direct) => {
                let flags = direct.arrivals(comm, &self.recv, &self.faces);
                signal(self.recv.device(), "await", &flags)
            }
        }
    }
}

impl Direct {
    /// The receive buffer and the route; None where ranks do not reach their neighbours' memory. All
    /// ranks call this and take the same route.
    fn new(
        device: &Device,
        comm: &Comm,
        faces: &Faces,
        peers: Arc<Peers>,
    ) -> Result<Option<(Buffer, Direct)>> {
        let neighbours: Vec<usize> =
            faces.list().map(|(mu, upper)| comm.neighbour(mu, upper)).collect();
        // Two slots and the flags.
        let bytes = 2 * faces.total() + 256;
        let Some((recv, reach)) = Reach::new(device, comm, &neighbours, bytes)? else {
            return Ok(None);
        };
        let of = |mu: usize| [false, true].map(|upper| reach.of(comm.neighbour(mu, upper)));
        let there = std::array::from_fn(of);
        Ok(Some((recv, Direct { there, _reach: reach, number: 0, peers })))
    }

    fn slot(&self, faces: &Faces) -> u64 {
        u64::from(self.number % 2) * faces.total() as u64
    }

    fn signals(&self, flags: impl Iterator<Item = (usize, Ptr)>) -> SignalArgs {
        let mut args = SignalArgs {
            number: i64::from(self.number),
            failed: self.peers.failed(),
            ..Default::default()
        };
        flags.for_each(|(k, flag)| args.flag[k] = flag);
        args
    }

    /// Flags behind the slots, then the counter of the packing kernel.
    fn departures(&self, recv: &Buffer, faces: &Faces) -> SignalArgs {
        let end = 2 * faces.total() as u64;
        let flags = faces.list().map(|(mu, upper)| {
            let k = 2 * mu + !upper as usize;
            (k, self.there[mu][upper as usize].offset(end + 4 * k as u64))
        });
        SignalArgs { counter: recv.ptr().offset(end + 128), ..self.signals(flags) }
    }

    fn arrivals(&self, comm: &Comm, recv: &Buffer, faces: &Faces) -> SignalArgs {
        let end = 2 * faces.total() as u64;
        let flags = faces.list().map(|(mu, upper)| {
            let k = 2 * mu + upper as usize;
            (k, recv.ptr().offset(end + 4 * k as u64))
        });
        SignalArgs { nanoseconds: comm.timeout().as_nanos() as i64, ..self.signals(flags) }
    }
}

/// A kernel that does nothing but set flags or wait for them.
fn signal(device: &Device, name: &str, flags: &SignalArgs) -> Result<()> {
    device.launch(name, &[], flags, Work { n: 8, batches: 1, lanes: 1 })
}

impl Geometry {
    /// The exchange of messages of these sizes. All ranks call this in the same order.
    pub(crate) fn mail(&self, device: &Device, faces: &Faces) -> Result<Arc<Mutex<Mail>>> {
        let peers = if device.is_cpu() { None } else { Some(self.peers(device)?) };
        let mut made = made(self.comm())?;
        let old = made.exchanges.iter().find(|(d, f, _)| d == device && f == faces);
        if let Some((_, _, mail)) = old {
            return Ok(mail.clone());
        }
        let mail = Mail::new(device, self.comm(), *faces, peers)?;
        made.exchanges.push((device.clone(), *faces, mail.clone()));
        Ok(mail)
    }

    /// Device memory that buffers for messages hold.
    pub fn halo_bytes(&self, device: &Device) -> u64 {
        let made = exchanges(self.comm());
        made.exchanges
            .iter()
            .filter(|(d, _, _)| d == device)
            .map(|(_, _, mail)| lock(mail).held())
            .sum()
    }

    /// What buffers for the faces of spinors will add at most.
    pub(crate) fn new_halo_bytes(&self, device: &Device, precision: Precision, nrhs: usize) -> u64 {
        let faces = self.spinor_faces(precision, nrhs);
        let made = exchanges(self.comm());
        if faces.total() == 0 || made.exchanges.iter().any(|(d, f, _)| d == device && *f == faces) {
            0
        } else {
            let bytes = 2 * faces.total() + 256;
            (if device.is_cpu() { bytes } else { shared_bytes(bytes) }) as u64
        }
    }

    fn spinor_plane(&self, precision: Precision, mu: usize) -> [usize; 2] {
        let sites = self.room(self.face_rows(mu) * self.lanes());
        [
            sites * PROJECTED_REALS * precision.bytes(),
            if precision.has_norm() { sites * 4 } else { 0 },
        ]
    }

    /// Messages with the projected spinors of all faces.
    pub(crate) fn spinor_faces(&self, precision: Precision, nrhs: usize) -> Faces {
        let bytes = |mu: usize| nrhs * self.spinor_plane(precision, mu).iter().sum::<usize>();
        Faces::new(self.halo_mask(), bytes)
    }

    /// How kernels see these messages where they begin at `at(mu, upper)`: all right-hand sides,
    /// then their units.
    pub(crate) fn spinor_halo(
        &self,
        precision: Precision,
        nrhs: usize,
        at: impl Fn(usize, bool) -> Ptr,
    ) -> HaloView {
        let mut view = HaloView::default();
        for mu in (0..4).filter(|mu| self.halo_mask() >> mu & 1 == 1) {
            let [data, norm] = self.spinor_plane(precision, mu);
            (view.plane_bytes[mu], view.norm_bytes[mu]) = (data as i64, norm as i64);
            for upper in [false, true] {
                let k = 2 * mu + upper as usize;
                view.data[k] = at(mu, upper);
                view.norm[k] = view.data[k].offset((nrhs * data) as u64);
            }
        }
        view
    }
}

fn exchanges(comm: &Comm) -> MutexGuard<'_, Made> {
    lock(&comm.shelf::<Shelf>().0)
}

/// What was made since the last failed call. All ranks call this in the same order.
pub(super) fn made(comm: &Comm) -> Result<MutexGuard<'_, Made>> {
    let mut made = exchanges(comm);
    if made.failures != comm.failures() {
        // Kernels that the call left behind may still write into the old buffers.
        made.peers.iter().for_each(|(_, peers)| peers.give_up());
        let drained = made.exchanges.iter().try_for_each(|(device, _, _)| device.synchronize());
        comm.agree(drained)?;
        *made = Made { failures: comm.failures(), ..Default::default() };
    }
    Ok(made)
}

/// The exchange, for this thread alone until it is complete.
pub(crate) fn lock<T>(mail: &Mutex<T>) -> MutexGuard<'_, T> {
    mail.lock().unwrap_or_else(|e| e.into_inner())
}
