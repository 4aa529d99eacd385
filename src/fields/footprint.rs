//! Device memory of work, from a rehearsal of it on a device without memory: what is announced is what the work
//! itself asks for.

use super::halo::{forget_stand_ins, knows_peers, new_bytes, with_messages, Asked};
use super::Geometry;
use crate::backend::{runs, Device};
use crate::comm;
use crate::error::Result;

/// Device memory that work takes at most.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    /// Bytes of fields that are there before the work.
    held: u64,
    /// Exchanges that the work asks for, with what fields take before each.
    asked: Vec<Asked>,
    /// Bytes of fields after the last of them, at most.
    fields: u64,
}

impl Footprint {
    /// Bytes on `device`: of fields, and of messages so far as no exchange of their sizes is there.
    pub fn bytes(&self, device: &Device) -> u64 {
        let (mut messages, mut most) = (0, 0);
        for a in &self.asked {
            most = most.max(a.fields + messages);
            messages += new_bytes(&a.comm, device.real(), &[a.faces]);
        }
        most.max(self.fields + messages) - self.held
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
        let (real, outermost) = (device.real(), runs());
        let alone = self.comm().size() == 1 && self.halo_mask() == 0;
        let name = name.filter(|_| alone || knows_peers(self.comm(), real));
        let mut comms = vec![self.comm().clone()];
        let done = real.try_out(name, || {
            comm::silently(|| {
                let there = there()?;
                let held = device.used().0;
                let (done, asked, fields) = with_messages(device, || work(there));
                comms.extend(asked.iter().map(|a| a.comm.clone()));
                Ok((done?, Footprint { held, asked, fields }))
            })
        });
        if outermost {
            comms.iter().for_each(|comm| forget_stand_ins(comm));
        }
        done
    }
}
