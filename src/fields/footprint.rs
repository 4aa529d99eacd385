//! Device memory of work, from a rehearsal of it on a device without memory: what is announced is what the work
//! itself asks for.

use super::halo::{forget_stand_ins, knows_peers, new_bytes, with_messages, Messages};
use super::Geometry;
use crate::backend::{rehearsing, Device};
use crate::comm;
use crate::error::Result;

/// Device memory that work takes at the most.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    /// Of its fields.
    fields: u64,
    messages: Messages,
}

impl Footprint {
    /// Bytes on `device`: of fields, and of messages so far as no exchange of their sizes is there.
    pub fn bytes(&self, device: &Device) -> u64 {
        let messages = self.messages.iter();
        self.fields + messages.map(|(c, faces)| new_bytes(c, device.real(), faces)).sum::<u64>()
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
        let mut fields = 0;
        let (done, messages) = with_messages(|| {
            real.try_out(name, || {
                comm::silently(|| {
                    let there = there()?;
                    let (held, most) = (device.used().0, device.watch_peak());
                    let done = work(there);
                    fields = most.bytes() - held;
                    done
                })
            })
        });
        if outermost {
            messages.iter().for_each(|(comm, _)| forget_stand_ins(comm));
        }
        Ok((done?, Footprint { fields, messages }))
    }
}
