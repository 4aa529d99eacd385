//! Sums over all ranks: on boards in each other's memory where GPUs reach it, else through the ranks'
//! transport.

use std::sync::Mutex;

use super::peers::{lock, Board};
use super::Geometry;
use crate::backend::args::SumArgs;
use crate::backend::families::{Kernel, Sums};
use crate::backend::{runs, Device, Started, Work};
use crate::error::Result;

/// Numbers that a reduction writes on the boards: those of each batch, and the flag (kernels/sums.h).
/// The same on all ranks, as their calls are.
fn numbers_on_board(kernel: &Kernel, work: Work) -> Option<i64> {
    let (width, _) = kernel.kind.numbers()?;
    i64::try_from((width + 1).checked_mul(work.batches)?).ok()
}

impl Geometry {
    /// Sums of a reduction over all ranks. Kernels with maxima go through `reduce_here`.
    pub(crate) fn reduce<K: Sums>(
        &self,
        device: &Device,
        kernel: K,
        args: &K::Args,
        work: Work,
    ) -> Result<Vec<f64>> {
        let comm = self.comm();
        if !device.is_cpu() && comm.size() > 1 && runs() {
            let peers = self.peers(device)?;
            // Sums that the board has no room for go the way of devices without one.
            let numbers = numbers_on_board(K::KERNEL, work);
            let fits = |board: &&Mutex<Board>| {
                numbers.is_some_and(|numbers| numbers <= lock(board).args.room)
            };
            if let Some(board) = peers.board.as_ref().filter(fits) {
                let mut board = lock(board);
                board.number = board.number.wrapping_add(1);
                let sums = comm.sum_beside(|flag| {
                    peers.awaited_on(device);
                    let sums = SumArgs { flag, board_tag: i64::from(board.number), ..board.args };
                    device.reduce_over(kernel, args, work, Some(&sums))
                })?;
                peers.check(comm)?;
                return Ok(sums);
            }
        }
        let mut sums = self.reduce_here(device, kernel, args, work)?;
        comm.sum(&mut sums)?;
        Ok(sums)
    }

    /// The same without waiting, where this rank is the only one; else None.
    pub(crate) fn start<K: Sums>(
        &self,
        device: &Device,
        kernel: K,
        args: &K::Args,
        work: Work,
    ) -> Result<Option<Started>> {
        if self.comm().size() > 1 {
            return Ok(None);
        }
        device.start(kernel, args, work).map(Some)
    }

    pub(crate) fn finish(&self, device: &Device, started: &Started) -> Result<Vec<f64>> {
        let sums = device.finish(started)?;
        self.check_messages(device)?;
        Ok(sums)
    }

    /// Sums of a reduction over this rank.
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

    /// Where kernels waited for messages all must have come.
    fn check_messages(&self, device: &Device) -> Result<()> {
        if !device.is_cpu() && self.halo_mask() != 0 && runs() {
            self.peers(device)?.check(self.comm())?;
        }
        Ok(())
    }
}

/// Results of all batches and ranks: pairs (sum, maximum).
pub(crate) fn sum_and_most(geometry: &Geometry, v: &[f64]) -> Result<(f64, f64)> {
    let (mut sum, mut most) = ([0.0], [f64::NAN]);
    for pair in v.chunks_exact(2) {
        sum[0] += pair[0];
        most[0] = most[0].max(pair[1]);
    }
    geometry.comm().sum(&mut sum)?;
    geometry.comm().most(&mut most)?;
    Ok((sum[0], most[0]))
}

#[cfg(test)]
mod tests {
    use super::super::peers::{NUMBER_BYTES, SHARED_PAGE};
    use super::*;
    use crate::backend::kernels;

    /// A board of two ranks has 2^15 numbers for each: the sums of more right-hand sides than that do
    /// not go there.
    #[test]
    fn boards_are_for_what_fits() {
        let room = (SHARED_PAGE / (2 * 2 * NUMBER_BYTES)) as i64;
        let numbers = |batches| {
            let work = Work { n: 1, batches, lanes: 1 };
            numbers_on_board(&kernels::HeavyQuark::ROW, work).expect("a reduction")
        };
        assert!(numbers(2 * 12) <= room);
        assert!(numbers(8192) <= room && numbers(8193) > room);
        let one = Work { n: 1, batches: 1, lanes: 1 };
        assert_eq!(numbers_on_board(&kernels::Blas::ROW, one), None);
    }
}
