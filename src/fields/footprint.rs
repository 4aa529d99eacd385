//! Device memory of work, from a rehearsal of it on a device without memory: what is announced is what the work
//! itself asks for.

use std::sync::Arc;

use super::halo::{forget_stand_ins, knows_peers, new_bytes, with_messages, Asked};
use super::Geometry;
use crate::backend::{Device, Kernels};
use crate::comm::{self, Comm};
use crate::error::Result;

/// Device memory that work takes at its peak, as a rehearsal found it.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    /// Bytes of fields that are there before the work.
    held: u64,
    /// Message buffers that the work asks for, each with the bytes that fields take before it.
    asked: Vec<Asked>,
    /// Largest number of bytes that fields take after the last message buffer was asked for.
    fields: u64,
}

impl Footprint {
    /// Bytes that the work takes on `device`: its fields, and those message buffers for which there is none of that
    /// size yet.
    pub fn bytes(&self, device: &Device) -> u64 {
        let (mut messages, mut max) = (0, 0);
        for a in &self.asked {
            max = max.max(a.fields + messages);
            messages += new_bytes(&a.comm, device.real(), &a.faces);
        }
        max.max(self.fields + messages) - self.held
    }
}

/// Memory that work needs, as a rehearsal found it.
#[derive(Clone, Debug)]
pub struct Needs {
    pub kernels: Kernels,
    /// Largest number of bytes of device memory that it holds at a time.
    pub memory: u64,
    /// Bytes of these that are still held when it is done.
    pub kept: u64,
}

/// Runs `work` and measures the memory that it takes on `device`, a stand-in.
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
    /// Memory needs of `work`, which makes all of its fields on `device`, a stand-in. What is `there` already is made
    /// on it before and not counted. Nothing is launched or compiled. A rank calls this by itself.
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

    /// Rehearses `work` on `device`, a stand-in, on which what is `there` already has been made before. A rank calls
    /// this by itself. With a `name` the kernels of both are compiled, if ranks know what they reach of each other.
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

    /// Messages that larger work has asked for are not counted again in what a part of it requires.
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
        // What is sent and what comes, across two faces.
        let column = 2 * 2 * 4096;
        let part = |columns| stand_in.require(rehearsed(&|| ask(columns)), "a part");
        assert_eq!(rehearsed(&|| ask(2).and_then(|()| part(1))), 2 * column);
        assert_eq!(rehearsed(&|| ask(2).and_then(|()| part(3))), 5 * column);
        assert_eq!(rehearsed(&|| part(1).and_then(|()| ask(1))), column);
    }
}
