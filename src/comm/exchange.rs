//! Messages under way.

use std::any::Any;
use std::sync::Arc;

use super::transport::{Patience, Side, Transport};
use super::Message;
use crate::error::Result;

/// Largest number of bytes of one MPI message, whose counts have 32 bits.
pub(crate) const CHUNK: usize = 1 << 30;

#[derive(Clone, Copy, Debug)]
struct Wait {
    peer: usize,
    receive: bool,
}

/// What keeps the memory of messages alive until they are finished; for ever if they never are, since MPI may then
/// still write to it.
pub type Owner = Arc<dyn Any + Send + Sync>;

/// Messages under way; give them to [`super::Comm::finish`].
#[must_use]
#[derive(Default)]
pub struct Pending {
    transport: Option<Arc<Transport>>,
    requests: Vec<i64>,
    waits: Vec<Wait>,
    owner: Option<Owner>,
    /// Time for which this rank has waited for the messages.
    patience: Patience,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending {{ {} of {} open }}", self.open(), self.requests.len())
    }
}

impl Pending {
    /// Starts sending to and receiving from other ranks.
    pub(super) fn start(
        transport: &Arc<Transport>,
        messages: &[Message],
        owner: Option<Owner>,
    ) -> Result<Pending> {
        let mut pending = Pending {
            transport: Some(transport.clone()),
            requests: Vec::with_capacity(2 * messages.len()),
            waits: Vec::with_capacity(2 * messages.len()),
            owner,
            patience: Patience::default(),
        };
        pending.add(messages)?;
        Ok(pending)
    }

    /// Starts further messages between the ranks of those before.
    pub(super) fn add(&mut self, messages: &[Message]) -> Result<()> {
        let Some(transport) = self.transport.clone() else { return Ok(()) };
        let comm = transport.open_data()?;
        // Receives first, so that what arrives finds its place.
        for receive in [true, false] {
            for m in messages {
                let (peer, address) = if receive { (m.from, m.recv) } else { (m.to, m.send) };
                let mut at = if address == 0 { m.bytes } else { 0 };
                while at < m.bytes {
                    let bytes = CHUNK.min(m.bytes - at);
                    let memory = (address as usize + at) as *mut std::ffi::c_void;
                    let (n, tag, mut request) = (bytes as i32, m.tag, 0);
                    transport.call("starting a message", |t| {
                        let (send, recv) = (t.send, t.receive);
                        // SAFETY: `bytes` bytes that stay until the exchange is finished.
                        unsafe {
                            if receive {
                                recv(comm, memory, n, peer as i32, tag, &mut request)
                            } else {
                                send(comm, memory, n, peer as i32, tag, &mut request)
                            }
                        }
                    })?;
                    self.requests.push(request);
                    self.waits.push(Wait { peer, receive });
                    at += bytes;
                }
            }
        }
        Ok(())
    }

    fn open(&self) -> usize {
        self.requests.iter().filter(|r| **r != 0).count()
    }

    /// Whether message number i has been sent or received: the receives of a call of `start` or `add` count before its
    /// sends.
    pub(crate) fn done(&self, i: usize) -> bool {
        self.requests.get(i).is_none_or(|request| *request == 0)
    }

    /// Lets MPI go on with the messages; returns whether all have been sent and received. The time that this rank waits
    /// for others begins anew where it is not `waiting` for them alone.
    pub(crate) fn look(&mut self, waiting: bool) -> Result<bool> {
        let Some(transport) = self.transport.clone() else { return Ok(true) };
        let waits = &self.waits;
        let what = |requests: &[i64]| {
            let open: Vec<&Wait> =
                requests.iter().zip(waits).filter(|(r, _)| **r != 0).map(|(_, w)| w).collect();
            // Who does not send is to blame rather than who does not receive.
            let first = open.iter().find(|w| w.receive).or(open.first());
            first.map_or_else(String::new, |w| {
                let what = if w.receive { "a message from" } else { "sending a message to" };
                let rank = transport.name(w.peer);
                format!("{what} rank {rank} ({} messages open)", open.len())
            })
        };
        if !waiting {
            self.patience.begin_anew();
        }
        transport.look(Side::Data, &mut self.requests, &mut self.patience, &what)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        let Some(transport) = self.transport.clone() else { return Ok(()) };
        if self.requests.is_empty() {
            return Ok(());
        }
        transport.usable(Side::Data)?;
        self.patience = Patience::default();
        while !self.look(true)? {
            self.patience.pause();
        }
        self.requests.clear();
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let Some(transport) = self.transport.take() else { return };
        if self.open() == 0 {
            return;
        }
        for (request, wait) in self.requests.iter_mut().zip(&self.waits) {
            if *request != 0 && wait.receive && transport.running() {
                // SAFETY: a request of ours.
                let _ = transport.call("giving up a message", |t| unsafe { (t.cancel)(request) });
            }
        }
        if self.open() > 0 {
            std::mem::forget(self.owner.take());
        }
        transport.left_unfinished();
    }
}
