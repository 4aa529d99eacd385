//! The device memory that work needs, found by a rehearsal on a stand-in device: the work's own allocations are
//! counted.

use super::halo::knows_peers;
use super::Geometry;
use crate::backend::{Device, Kernels};
use crate::error::Result;
use crate::params::Key;

/// Memory and kernels that work needs, as found by a rehearsal.
#[derive(Clone, Debug)]
pub struct Needs {
    pub kernels: Kernels,
    /// Largest number of bytes of device memory that it uses at a time.
    pub memory: u64,
    /// Number of these bytes that are still in use when the work has ended.
    pub kept: u64,
}

/// Runs `work`; returns its result and the largest number of bytes that it takes on the device in addition to those in
/// use before.
fn measured<T>(device: &Device, work: impl FnOnce() -> Result<T>) -> Result<(T, u64)> {
    let (before, peak) = (device.used().0, device.watch_peak());
    let done = work()?;
    Ok((done, peak.bytes() - before))
}

impl Geometry {
    /// The memory and kernels that `work` needs on `device`. The work makes all of its fields on the stand-in device
    /// `dry`, where `there` has before made the objects that exist already. These are not counted, and neither are
    /// message buffers that `device` has. Nothing is launched or compiled. A rank calls this by itself.
    ///
    /// # Errors
    /// Errors of both, so far as they do not come from made-up sums; `Internal` where one panics.
    pub(crate) fn needs<A, T>(
        &self,
        (device, dry): (&Device, &Device),
        there: impl FnOnce() -> Result<A>,
        work: impl FnOnce(A) -> Result<T>,
    ) -> Result<Needs> {
        let _ranks = self.silent_ranks(device, dry)?;
        let mut found = (0, 0);
        let kernels = dry.kernels_of(there, |there| {
            let before = dry.used().0;
            let (done, memory) = measured(dry, || work(there))?;
            found = (memory, dry.used().0.saturating_sub(before));
            Ok(done)
        })?;
        Ok(Needs { kernels, memory: found.0, kept: found.1 })
    }

    /// Rehearses `work` on `dry`, a stand-in for `device`, where `there` has before made the objects that exist
    /// already. Returns the result of `work` and the largest number of bytes of device memory that it takes at a time,
    /// not counting these objects and message buffers that `device` has. With a `key` the kernels are compiled, if it
    /// is known which memory of each other the ranks can access. A rank calls this by itself.
    ///
    /// # Errors
    /// Errors of `there` and `work`.
    pub(crate) fn footprint<A, T>(
        &self,
        (device, dry): (&Device, &Device),
        key: Option<Key>,
        there: impl FnOnce() -> Result<A>,
        work: impl FnOnce(A) -> Result<T>,
    ) -> Result<(T, u64)> {
        let alone = self.comm().size() == 1 && self.halo_mask() == 0;
        let key = key.filter(|_| alone || knows_peers(self.comm(), device));
        dry.try_out(key, || {
            let _ranks = self.silent_ranks(device, dry)?;
            let there = there()?;
            measured(dry, || work(there))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Comm;
    use crate::fields::halo::Faces;

    /// Message buffers that larger work has requested are not counted again for a part of it.
    #[test]
    fn messages_of_a_part_count_once() {
        let device = Device::cpu(1).unwrap();
        let comm = Comm::looped([false, false, false, true]);
        let geometry = Geometry::decomposed([4; 4], &device, &comm).unwrap();
        let faces = |columns| Faces::new(8, columns, |_| 4096);
        let ask = |dry: &Device, columns| geometry.halo_exchange(dry, &faces(columns)).map(drop);
        let rehearsed = |device: &Device, work: &dyn Fn(&Device) -> Result<()>| {
            let dry = device.stand_in();
            let both = (device, &dry);
            let done = geometry.footprint(both, None, || Ok(()), |()| work(&dry));
            done.unwrap().1
        };
        // Bytes of a column in send and receive buffers of two faces.
        let column = 2 * 2 * 4096;
        let part =
            |dry: &Device, columns| dry.require(rehearsed(dry, &|dry| ask(dry, columns)), "a part");
        let first = |n, m| rehearsed(&device, &|dry| ask(dry, n).and_then(|()| part(dry, m)));
        assert_eq!(first(2, 1), 2 * column);
        assert_eq!(first(2, 3), 5 * column);
        let last = rehearsed(&device, &|dry| part(dry, 1).and_then(|()| ask(dry, 1)));
        assert_eq!(last, column);
        // Message buffers that exist already are not counted.
        ask(&device, 2).unwrap();
        assert_eq!((first(2, 1), first(2, 3)), (0, 3 * column));
    }
}
