//! Device memory of work, from a rehearsal of it on a device without memory: what is announced is what the work
//! itself asks for.

use std::cell::RefCell;
use std::sync::Arc;

use super::halo::{forget_stand_ins, knows_peers, new_bytes, Faces};
use super::Geometry;
use crate::backend::{rehearsing, Device};
use crate::comm::{self, Comm};
use crate::error::Result;

/// Device memory that work takes at the most.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    /// Of its fields.
    fields: u64,
    messages: Messages,
}

/// Of which ranks, and their different sizes.
type Messages = Vec<(Arc<Comm>, Vec<Faces>)>;

thread_local! {
    /// Messages that the work whose memory this thread looks for has asked for.
    static ASKED: RefCell<Option<Messages>> = const { RefCell::new(None) };
}

/// A rehearsal asks for messages of these sizes.
pub(super) fn asked(comm: &Arc<Comm>, faces: &Faces) {
    ASKED.with_borrow_mut(|all| {
        let Some(all) = all else { return };
        match all.iter_mut().find(|(c, _)| Arc::ptr_eq(c, comm)) {
            Some((_, list)) if list.contains(faces) => {}
            Some((_, list)) => list.push(*faces),
            None => all.push((comm.clone(), vec![*faces])),
        }
    });
}

impl Footprint {
    /// Bytes on `device`: of fields, and of messages so far as no exchange of their sizes is there.
    pub fn bytes(&self, device: &Device) -> u64 {
        let new = |(comm, faces): &(Arc<Comm>, Vec<Faces>)| new_bytes(comm, device.real(), faces);
        self.fields + self.messages.iter().map(new).sum::<u64>()
    }
}

impl Geometry {
    /// Rehearses `work` on `device`, a stand-in, after what is `there` already has been made on it. A rank does this by
    /// itself. With a `name` the kernels of both are compiled where ranks know of each other.
    ///
    /// # Errors
    /// Those of `there` and `work`.
    pub(crate) fn footprint<A, T>(
        &self,
        device: &Device,
        name: Option<impl FnOnce() -> String>,
        there: impl FnOnce() -> Result<A>,
        work: impl FnOnce(A) -> Result<T>,
    ) -> Result<(T, Footprint)> {
        let (real, outermost) = (device.real(), !rehearsing());
        let alone = self.comm().size() == 1 && self.halo_mask() == 0;
        let name = name.filter(|_| alone || knows_peers(self.comm(), real));
        let before = ASKED.replace(Some(vec![]));
        let mut fields = 0;
        let done = real.try_out(name, || {
            comm::silently(|| {
                let there = there()?;
                let (held, most) = (device.used().0, device.watch_peak());
                let done = work(there);
                fields = most.bytes() - held;
                done
            })
        });
        let messages = ASKED.replace(before).unwrap_or_default();
        if outermost {
            messages.iter().for_each(|(comm, _)| forget_stand_ins(comm));
        }
        Ok((done?, Footprint { fields, messages }))
    }
}
