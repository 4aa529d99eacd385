//! `util_quda.h`: the ranks of the host's process grid; in C++ these functions are in namespace quda.

use std::ffi::{c_int, c_void};

use super::session;
use crate::capi::args::Raw;
use crate::capi::table::interface;
use crate::comm::Comm;
use crate::error::Result;
use crate::refuse;

interface! {
    "Ranks"
    calls {
        /// Number of this rank.
        plaq_quda_comm_rank() -> c_int = alone rank;
        /// Gives the number of ranks.
        plaq_quda_comm_size() -> c_int = alone size;
        /// Gives this rank's coordinate in the process grid in direction `dim`: 0 to 3 are x, y, z, t.
        plaq_quda_comm_coords(dim: c_int) -> c_int = alone coords;
        /// Gives the number of ranks in direction `dim`.
        plaq_quda_comm_dim(dim: c_int) -> c_int = alone dim_of;
        /// Waits for all ranks; all of them call it.
        plaq_quda_comm_barrier() = alone barrier;
        /// Copies bytes of rank `root` to all ranks; all of them call it.
        plaq_quda_comm_broadcast(data: Raw<*mut c_void>, nbytes: usize, root: c_int) = alone broadcast;
        /// Frees the communicator of these functions; to be called after endQuda and before MPI_Finalize.
        plaq_quda_comm_finalize() = alone finalize;
    }
}

fn rank() -> Result<c_int> {
    Ok(session::communicator()?.rank() as c_int)
}

fn size() -> Result<c_int> {
    Ok(session::communicator()?.size() as c_int)
}

fn direction(dim: c_int) -> Result<usize> {
    match usize::try_from(dim) {
        Ok(mu) if mu < 4 => Ok(mu),
        _ => refuse!(InvalidArgument, "dim", expected("0 to 3"), found("{dim}")),
    }
}

fn coords(dim: c_int) -> Result<c_int> {
    let mu = direction(dim)?;
    Ok(session::communicator()?.coords()[mu] as c_int)
}

fn dim_of(dim: c_int) -> Result<c_int> {
    let mu = direction(dim)?;
    Ok(session::communicator()?.grid()[mu] as c_int)
}

fn barrier() -> Result<()> {
    session::communicator()?.agree(Ok(()))
}

/// Largest number of bytes in one message.
const PIECE: usize = 1 << 24;

fn broadcast(data: *mut c_void, nbytes: usize, root: c_int) -> Result<()> {
    let comm = session::communicator()?;
    let Some(root) = usize::try_from(root).ok().filter(|root| *root < comm.size()) else {
        refuse!(InvalidArgument, "root", expected("0 to {}", comm.size() - 1), found("{root}"));
    };
    if comm.size() == 1 || nbytes == 0 {
        return Ok(());
    }
    if data.is_null() {
        refuse!(NullPointer, "data", expected("{nbytes} bytes"), found("NULL"));
    }
    // SAFETY: the host's bytes, of which it says how many there are.
    let bytes = unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), nbytes) };
    bytes.chunks_mut(PIECE).try_for_each(|piece| pass(&comm, piece, root))
}

fn pass(comm: &Comm, piece: &mut [u8], root: usize) -> Result<()> {
    if comm.rank() == root {
        let others = (0..comm.size()).filter(|rank| *rank != root);
        let sends = others.map(|rank| (rank, piece.to_vec())).collect();
        return comm.deliver(sends, &[]).map(|_| ());
    }
    let taken = comm.deliver(vec![], &[(root, piece.len())])?;
    piece.copy_from_slice(&taken[0]);
    Ok(())
}

fn finalize() -> Result<()> {
    session::give_communicator_back();
    Ok(())
}
