//! Device memory of work, found by a rehearsal on a device without memory, so that what is announced is what the work
//! itself allocates.

use std::sync::Arc;

use super::halo::{forget_stand_ins, knows_peers, new_bytes, with_messages, Asked};
use super::Geometry;
use crate::backend::{Device, Kernels};
use crate::comm::{self, Comm};
use crate::error::Result;

/// Largest amount of device memory that work takes, as found by a rehearsal.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    /// Bytes of the fields that exist before the work.
    held: u64,
    /// Message buffers that the work requests, each with the bytes of fields at that moment.
    asked: Vec<Asked>,
    /// Largest number of bytes of fields after the last message buffer was requested.
    fields: u64,
}

impl Footprint {
    /// Bytes that the work takes on `device`: its fields, and message buffers unless the device has some of that size
    /// already.
    pub fn bytes(&self, device: &Device) -> u64 {
        let (mut messages, mut max) = (0, 0);
        for a in &self.asked {
            max = max.max(a.fields + messages);
            messages += new_bytes(&a.comm, device.real(), &a.faces);
        }
        max.max(self.fields + messages) - self.held
    }
}

/// Memory and kernels that work needs, as found by a rehearsal.
#[derive(Clone, Debug)]
pub struct Needs {
    pub kernels: Kernels,
    /// Largest number of bytes of device memory that it uses at a time.
    pub memory: u64,
    /// Number of these bytes that are still in use when it is done.
    pub kept: u64,
}

/// Runs `work` and measures the memory that it takes on the stand-in `device`.
fn measured<T>(
    device: &Device,
    comms: &mut Vec<Arc<Comm>>,
    work: impl FnOnce() -> Result<T>,
) -> Result<(T, Footprint)> {
    let held = device.used().0;
    let (done, asked, fields) = with_messages(device, work);
    comms.extend(asked.iter().map(|a| a.comm.clone()));
    Ok((done?, Footprint { held, asked, fields }))
}

impl Geometry {
    /// The memory that `work` needs if it makes all of its fields on the stand-in `device`. Objects made by `there`
    /// exist before and are not counted. Nothing is launched or compiled, and no other ranks take part.
    ///
    /// # Errors
    /// Errors of both, so far as they do not come from made-up sums; `Internal` where one panics.
    pub(crate) fn needs<A, T>(
        &self,
        device: &Device,
        there: impl FnOnce() -> Result<A>,
        work: impl FnOnce(A) -> Result<T>,
    ) -> Result<Needs> {
        let mut comms = vec![self.comm().clone()];
        let mut found = None;
        let kernels = comm::silently(|| {
            device.kernels_of(there, |there| {
                let (done, taken) = measured(device, &mut comms, || work(there))?;
                let kept = device.used().0.saturating_sub(taken.held);
                found = Some((taken.bytes(device.real()), kept));
                Ok(done)
            })
        });
        comms.iter().for_each(|comm| forget_stand_ins(comm, device));
        let (kernels, (memory, kept)) = (kernels?, found.unwrap_or_default());
        Ok(Needs { kernels, memory, kept })
    }

    /// Rehearses `work` on the stand-in `device`, on which `there` has made the objects that exist before. No other
    /// ranks take part. If a `name` is given the kernels of both are compiled, provided that ranks know which of
    /// their memory they can reach.
    ///
    /// # Errors
    /// Errors of `there` and `work`.
    pub(crate) fn footprint<A, T>(
        &self,
        device: &Device,
        name: Option<impl FnOnce() -> String>,
        there: impl FnOnce() -> Result<A>,
        work: impl FnOnce(A) -> Result<T>,
    ) -> Result<(T, Footprint)> {
        let real = device.real();
        let alone = self.comm().size() == 1 && self.halo_mask() == 0;
        let name = name.filter(|_| alone || knows_peers(self.comm(), real));
        let mut comms = vec![self.comm().clone()];
        let done = device.try_out(name, || {
            comm::silently(|| {
                let there = there()?;
                measured(device, &mut comms, || work(there))
            })
        });
        comms.iter().for_each(|comm| forget_stand_ins(comm, device));
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::halo::Faces;

    /// Message buffers that larger work has requested are not counted again for a part of it.
    #[test]
    fn messages_of_a_part_count_once() {
        let device = Device::cpu(1).unwrap();
        let comm = Comm::looped([false, false, false, true]);
        let geometry = Geometry::decomposed([4; 4], &device, &comm).unwrap();
        let stand_in = device.stand_in();
        let faces = |columns| Faces::new(8, columns, |_| 4096);
        let rehearsed = |work: &dyn Fn() -> Result<()>| {
            let done =
                geometry.footprint(&stand_in, None::<fn() -> String>, || Ok(()), |()| work());
            done.unwrap().1.bytes(&device)
        };
        let ask = |columns| geometry.halo_exchange(&stand_in, &faces(columns)).map(drop);
        // Bytes of a column that are sent and received across two faces.
        let column = 2 * 2 * 4096;
        let part = |columns| stand_in.require(rehearsed(&|| ask(columns)), "a part");
        assert_eq!(rehearsed(&|| ask(2).and_then(|()| part(1))), 2 * column);
        assert_eq!(rehearsed(&|| ask(2).and_then(|()| part(3))), 5 * column);
        assert_eq!(rehearsed(&|| part(1).and_then(|()| ask(1))), column);
    }
}
