//! Reductions summed over all ranks: by the kernels themselves if GPUs can access each other's memory, by NCCL if the
//! devices are connected by it, else through MPI.

use std::sync::{Arc, Mutex};

use super::peers::{lock, Peers, SumInbox};
use super::Geometry;
use crate::backend::args::SumArgs;
use crate::backend::families::{Kernel, Sums};
use crate::backend::{Device, Reduction, Work, LARGEST_SUM};
use crate::bail;
use crate::error::Result;

/// Number of values that a reduction writes into the memory of every other rank: its sums and a flag for each batch
/// (kernels/sums.h). All ranks make the same calls, so that they have the same number.
fn inbox_numbers(kernel: &Kernel, work: Work) -> Option<i64> {
    let (width, _) = kernel.kind.numbers()?;
    i64::try_from((width + 1).checked_mul(work.batches)?).ok()
}

impl Geometry {
    /// Runs a reduction and sums its results over all ranks. For kernels with maxima use `reduce_here`.
    pub(crate) fn reduce<K: Sums>(
        &self,
        device: &Device,
        kernel: K,
        args: &K::Args,
        work: Work,
    ) -> Result<Vec<f64>> {
        let comm = self.comm();
        let through_inboxes = self.through_inboxes::<K, _>(device, work, |over| {
            comm.sum_beside(|flag| {
                device.reduce_over(kernel, args, work, Some(&SumArgs { flag, ..over }))
            })
        })?;
        if let Some(sums) = through_inboxes {
            self.peers(device)?.check(comm)?;
            return Ok(sums);
        }
        if let Some(peers) = self.adds::<K>(device, work)? {
            let sums = comm.sum_beside(|flag| {
                let started = self.start_across(device, &peers, (kernel, args, work), flag)?;
                device.finish(&started)
            })?;
            peers.check(comm)?;
            return Ok(sums);
        }
        let mut sums = self.reduce_here(device, kernel, args, work)?;
        comm.sum(&mut sums)?;
        Ok(sums)
    }

    /// Launches a reduction whose kernel adds up the sums of all ranks in each other's memory; None if the GPUs cannot
    /// access it.
    fn through_inboxes<K: Sums, T>(
        &self,
        device: &Device,
        work: Work,
        launch: impl FnOnce(SumArgs) -> Result<T>,
    ) -> Result<Option<T>> {
        if device.is_cpu() || self.comm().size() == 1 {
            return Ok(None);
        }
        let peers = self.peers(device)?;
        // Sums that do not fit the shared memory are added up as for GPUs without access to each other's memory.
        let numbers = inbox_numbers(K::KERNEL, work);
        let fits = |inbox: &&Mutex<SumInbox>| {
            numbers.is_some_and(|numbers| numbers <= lock(inbox).args.inbox_numbers)
        };
        let Some(inbox) = peers.inbox.as_ref().filter(fits) else { return Ok(None) };
        let mut inbox = lock(inbox);
        inbox.number = inbox.number.wrapping_add(1);
        peers.awaited_on(device);
        launch(SumArgs { inbox_tag: i64::from(inbox.number), ..inbox.args }).map(Some)
    }

    /// Whether ranks add up through their hosts; None as long as they have not found out. All ranks call this.
    pub(crate) fn adds_by_hosts(&self, device: &Device) -> Result<Option<bool>> {
        if device.is_cpu() || self.comm().size() == 1 {
            return Ok(Some(self.comm().size() > 1));
        }
        let peers = self.peers(device)?;
        Ok(peers.found.then(|| peers.inbox.is_none() && !peers.adds(self.comm())))
    }

    /// The connection by which the devices of all ranks add up these sums (NCCL); None if they do not.
    fn adds<K: Sums>(&self, device: &Device, work: Work) -> Result<Option<Arc<Peers>>> {
        // A rank without elements takes part, as other ranks may have some.
        if device.is_cpu() || self.comm().size() == 1 || work.batches == 0 {
            return Ok(None);
        }
        let fits = K::KERNEL
            .kind
            .numbers()
            .is_some_and(|(width, maxima)| maxima == 0 && width * work.batches < LARGEST_SUM);
        Ok(Some(self.peers(device)?).filter(|peers| fits && peers.adds(self.comm())))
    }

    fn start_across<K: Sums>(
        &self,
        device: &Device,
        peers: &Arc<Peers>,
        (kernel, args, work): (K, &K::Args, Work),
        flag: f64,
    ) -> Result<Reduction> {
        peers.awaited_on(device);
        let Some(devices) = &peers.devices else { bail!(Internal, "devices are not connected") };
        devices.start_sums(device, kernel, args, work, flag)
    }

    /// Starts a reduction over all ranks without waiting, if there is one rank or GPUs exchange sums among
    /// themselves; otherwise returns None. Reductions must be finished in the same order on all ranks.
    pub(crate) fn start<K: Sums>(
        &self,
        device: &Device,
        kernel: K,
        args: &K::Args,
        work: Work,
    ) -> Result<Option<Reduction>> {
        let comm = self.comm();
        if comm.size() == 1 {
            return device.start(kernel, args, work).map(Some);
        }
        if let Some(peers) = self.adds::<K>(device, work)? {
            let flag = comm.flag_of_host()?;
            return self.start_across(device, &peers, (kernel, args, work), flag).map(Some);
        }
        self.through_inboxes::<K, _>(device, work, |over| {
            let flag = comm.flag_of_host()?;
            device.start_over(kernel, args, work, Some(&SumArgs { flag, ..over }))
        })
    }

    pub(crate) fn finish(&self, device: &Device, started: &Reduction) -> Result<Vec<f64>> {
        let (sums, flag) = device.finish(started)?;
        self.comm().note_flag(flag);
        self.check_messages(device)?;
        Ok(sums)
    }

    /// Runs a reduction over the sites of this rank only.
    pub(crate) fn reduce_here<K: Sums>(
        &self,
        device: &Device,
        kernel: K,
        args: &K::Args,
        work: Work,
    ) -> Result<Vec<f64>> {
        let sums = device.reduce(kernel, args, work)?;
        self.check_messages(device)?;
        Ok(sums)
    }

    /// Waits for a reduction over the sites of this rank only, which [`Device::start`] has started.
    pub(crate) fn finish_here(&self, device: &Device, started: &Reduction) -> Result<Vec<f64>> {
        let (sums, _) = device.finish(started)?;
        self.check_messages(device)?;
        Ok(sums)
    }

    /// An error if a message for which kernels waited has not arrived.
    fn check_messages(&self, device: &Device) -> Result<()> {
        if !device.is_cpu() && self.halo_mask() != 0 {
            self.peers(device)?.check(self.comm())?;
        }
        Ok(())
    }
}

/// Combines the results (sum, maximum) of all batches and ranks.
pub(crate) fn sum_and_max(geometry: &Geometry, v: &[f64]) -> Result<(f64, f64)> {
    let (mut sum, mut max) = ([0.0], [f64::NAN]);
    for pair in v.chunks_exact(2) {
        sum[0] += pair[0];
        max[0] = max[0].max(pair[1]);
    }
    geometry.comm().sum(&mut sum)?;
    geometry.comm().max(&mut max)?;
    Ok((sum[0], max[0]))
}

#[cfg(test)]
mod tests {
    use super::super::peer_memory::SHARED_PAGE;
    use super::super::peers::NUMBER_BYTES;
    use super::*;
    use crate::backend::kernels;

    /// The shared memory of two ranks holds 2^15 numbers of each rank; larger reductions are summed through MPI.
    #[test]
    fn sums_go_through_inboxes_where_they_fit() {
        let capacity = (SHARED_PAGE / (2 * 2 * NUMBER_BYTES)) as i64;
        let numbers = |batches| {
            let work = Work { n: 1, batches, lanes: 1 };
            inbox_numbers(&kernels::BlasSum::ROW, work).expect("a reduction")
        };
        assert!(numbers(2 * 12) <= capacity);
        assert!(numbers(8192) <= capacity && numbers(8193) > capacity);
        let one = Work { n: 1, batches: 1, lanes: 1 };
        assert_eq!(inbox_numbers(&kernels::Blas::ROW, one), None);
    }
}
