//! Messages between ranks through MPI: starting them, persistent requests, and waiting for them.

use std::any::Any;
use std::sync::Arc;

use super::mpi::{Receive, Send, Table};
use super::transport::{Patience, Side, Transport};
use super::Message;
use crate::error::Result;

/// Largest number of bytes of one MPI message, since counts in MPI are 32-bit integers; longer ones are divided.
pub(crate) const CHUNK: usize = 1 << 30;

#[derive(Clone, Copy, Debug)]
struct Wait {
    peer: usize,
    receive: bool,
}

/// Makes an MPI request for every send and receive of `messages`, with the pair of MPI functions that `functions` picks
/// from the table; calls `take` with each request.
fn prepare(
    transport: &Transport,
    comm: i64,
    messages: &[Message],
    functions: impl Fn(&Table) -> (Send, Receive),
    mut take: impl FnMut(i64, Wait),
) -> Result<()> {
    // Receives are posted first, so that arriving messages go directly to their destination.
    for receive in [true, false] {
        for m in messages {
            let (peer, address) = if receive { (m.from, m.recv) } else { (m.to, m.send) };
            let mut at = if address == 0 { m.bytes } else { 0 };
            while at < m.bytes {
                let bytes = CHUNK.min(m.bytes - at);
                let memory = (address as usize + at) as *mut std::ffi::c_void;
                let (n, tag, mut request) = (bytes as i32, m.tag, 0);
                transport.call("starting a message", |t| {
                    let (send, recv) = functions(t);
                    // SAFETY: `bytes` bytes that stay until the request is done with.
                    unsafe {
                        if receive {
                            recv(comm, memory, n, peer as i32, tag, &mut request)
                        } else {
                            send(comm, memory, n, peer as i32, tag, &mut request)
                        }
                    }
                })?;
                take(request, Wait { peer, receive });
                at += bytes;
            }
        }
    }
    Ok(())
}

/// Messages that are sent repeatedly between the same addresses, with persistent requests of MPI. They must have
/// arrived before they are started again.
#[derive(Debug)]
pub(crate) struct Repeated {
    messages: Vec<Message>,
    kept: Option<PersistentRequests>,
}

/// Persistent requests on one communicator for data.
struct PersistentRequests {
    transport: Arc<Transport>,
    comm: i64,
    requests: Vec<i64>,
    waits: Vec<Wait>,
}

impl std::fmt::Debug for PersistentRequests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kept {{ {} requests }}", self.requests.len())
    }
}

impl Repeated {
    pub fn new(messages: Vec<Message>) -> Repeated {
        Repeated { messages, kept: None }
    }
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Starts messages; `others` are the messages to and from other ranks among them.
    pub(super) fn start(
        &mut self,
        transport: &Arc<Transport>,
        others: &[Message],
        owner: Option<Owner>,
    ) -> Result<Pending> {
        let comm = transport.open_data()?;
        // The communicator is a new one if messages on the old one were given up.
        if self.kept.as_ref().is_none_or(|kept| kept.comm != comm) {
            let (transport, requests, waits) = (transport.clone(), vec![], vec![]);
            let mut kept =
                PersistentRequests { transport: transport.clone(), comm, requests, waits };
            prepare(
                &transport,
                comm,
                others,
                |t| (t.send_often, t.receive_often),
                |request, wait| {
                    kept.requests.push(request);
                    kept.waits.push(wait);
                },
            )?;
            self.kept = Some(kept);
        }
        let Some(kept) = &mut self.kept else { return Ok(Pending::default()) };
        let started = transport.call("starting messages", |t| {
            // SAFETY: requests of ours, whose memory the owner keeps.
            unsafe { (t.start_all)(kept.requests.len() as i32, kept.requests.as_mut_ptr()) }
        });
        if let Err(e) = started {
            // MPI may still write to the memory of messages that were started, so that it must not be freed.
            std::mem::forget(owner);
            return Err(e);
        }
        transport.count_messages(kept.waits.iter().filter(|wait| !wait.receive).count() as u64);
        Ok(Pending::new(transport, kept.requests.clone(), kept.waits.clone(), owner))
    }
}

impl Drop for PersistentRequests {
    fn drop(&mut self) {
        // MPI completes requests that are still under way before it frees them.
        for request in self.requests.iter().filter(|_| self.transport.running()) {
            // SAFETY: this value owns the request, and nothing uses it after this call.
            let _ =
                self.transport.call("forgetting a message", |t| unsafe { (t.forget)(*request) });
        }
    }
}

/// A shared pointer that keeps the memory of messages allocated until they are finished. If they never are, it is
/// never dropped, since MPI may still write to that memory.
pub type Owner = Arc<dyn Any + std::marker::Send + Sync>;

/// Messages under way; give them to [`super::Comm::finish`].
#[must_use]
#[derive(Default)]
pub struct Pending {
    transport: Option<Arc<Transport>>,
    requests: Vec<i64>,
    waits: Vec<Wait>,
    owner: Option<Owner>,
    /// Time for which this rank has waited for the messages so far.
    patience: Patience,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending {{ {} of {} open }}", self.open(), self.requests.len())
    }
}

impl Pending {
    /// Makes the pending messages of requests that have been started; further messages may be added.
    fn new(
        transport: &Arc<Transport>,
        requests: Vec<i64>,
        waits: Vec<Wait>,
        owner: Option<Owner>,
    ) -> Pending {
        let (transport, patience) = (Some(transport.clone()), Patience::default());
        Pending { transport, requests, waits, owner, patience }
    }

    /// Starts to send the messages to other ranks and to receive theirs; returns the pending messages.
    pub(super) fn start(
        transport: &Arc<Transport>,
        messages: &[Message],
        owner: Option<Owner>,
    ) -> Result<Pending> {
        let mut pending = Pending::new(transport, vec![], vec![], owner);
        pending.add(messages)?;
        Ok(pending)
    }

    /// Starts further messages and adds them to the pending ones.
    pub(super) fn add(&mut self, messages: &[Message]) -> Result<()> {
        let Some(transport) = self.transport.clone() else { return Ok(()) };
        let comm = transport.open_data()?;
        prepare(
            &transport,
            comm,
            messages,
            |t| (t.send, t.receive),
            |request, wait| {
                self.requests.push(request);
                self.waits.push(wait);
                transport.count_messages(u64::from(!wait.receive));
            },
        )
    }

    fn open(&self) -> usize {
        self.requests.iter().filter(|r| **r != 0).count()
    }

    /// Whether request number i is complete. Requests are numbered in the order of the calls of `start` and `add`, in
    /// each call first the receives, then the sends.
    pub(crate) fn done(&self, i: usize) -> bool {
        self.requests.get(i).is_none_or(|request| *request == 0)
    }

    /// Lets MPI make progress; returns whether all messages have been sent and received. `waiting`: this rank has
    /// nothing else to do; otherwise the time-out starts anew with this call.
    pub(crate) fn look(&mut self, waiting: bool) -> Result<bool> {
        let Some(transport) = self.transport.clone() else { return Ok(true) };
        let waits = &self.waits;
        let what = |requests: &[i64]| {
            let open: Vec<&Wait> =
                requests.iter().zip(waits).filter(|(r, _)| **r != 0).map(|(_, w)| w).collect();
            // A time-out is blamed on a rank that does not send rather than on one that does not receive.
            let first = open.iter().find(|w| w.receive).or(open.first());
            first.map_or_else(String::new, |w| {
                let what = if w.receive { "a message from" } else { "sending a message to" };
                let rank = transport.name(w.peer);
                format!("{what} rank {rank} ({} messages open)", open.len())
            })
        };
        if !waiting {
            self.patience.restart();
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
