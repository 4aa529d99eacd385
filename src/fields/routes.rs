//! The routes of messages between GPUs: the route that the user requests, and the routes that are used.

use super::peer_memory::{all, PeerMemory, SHARED_PAGE};
use crate::backend::Device;
use crate::comm::Comm;
use crate::error::Result;
use crate::refuse;

/// The route that `PLAQ_HALO` requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// For each face the fastest available route, in this order: kernels write into the memory of a rank on the same
    /// host; NCCL; MPI from GPU memory; MPI from copies in host memory.
    Fastest,
    /// NCCL, or an error if it is not available.
    Nccl,
    /// MPI from GPU memory, if the MPI library supports that.
    Mpi,
    /// MPI from copies in host memory.
    Staged,
}

impl Route {
    /// The route that `PLAQ_HALO` requests on all ranks. All ranks call this.
    ///
    /// # Errors
    /// On all ranks: `InvalidArgument` if the variable has another value than these on some rank, or if ranks have
    /// different values.
    pub fn agreed(comm: &Comm) -> Result<Route> {
        let own = comm.agree(Self::asked())?;
        let all = comm.all_gather(&[own as u8])?;
        if let Some(rank) = all.iter().position(|&route| route != all[0]) {
            let name = |rank: usize| ["peer", "nccl", "mpi", "staged"][usize::from(all[rank])];
            refuse!(
                InvalidArgument,
                "PLAQ_HALO",
                expected("the same on all ranks"),
                found("{} on rank 0, {} on rank {rank}", name(0), name(rank))
            );
        }
        Ok(own)
    }

    fn asked() -> Result<Route> {
        let Some(asked) = std::env::var_os("PLAQ_HALO") else { return Ok(Route::Fastest) };
        match asked.to_str() {
            Some("" | "peer") => Ok(Route::Fastest),
            Some("nccl") => Ok(Route::Nccl),
            Some("mpi") => Ok(Route::Mpi),
            Some("staged") => Ok(Route::Staged),
            _ => {
                refuse!(
                    InvalidArgument,
                    "PLAQ_HALO",
                    expected("peer, nccl, mpi or staged"),
                    found("{asked:?}")
                )
            }
        }
    }
}

/// Bit masks of the faces across which kernels write into the memory of the neighbour; face (mu, upper) is bit 2 mu +
/// upper.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectFaces {
    /// Faces of this rank.
    pub own: u8,
    /// Faces of any rank.
    pub any: u8,
}

/// The bit of the lower or upper face in direction mu.
pub(super) fn face_bit(mu: usize, upper: bool) -> u8 {
    1 << (2 * mu + upper as usize)
}

impl DirectFaces {
    /// The bits of this rank's faces behind which there is a rank for which `near` is true.
    fn to(comm: &Comm, near: impl Fn(usize) -> bool) -> u8 {
        let faces = (0..4).flat_map(|mu| [(mu, false), (mu, true)]);
        let near = faces.filter(|&(mu, upper)| comm.split(mu) && near(comm.neighbour(mu, upper)));
        near.fold(0, |bits, (mu, upper)| bits | face_bit(mu, upper))
    }

    /// All faces in divided directions, for ranks that can all access each other's memory.
    pub fn everything(comm: &Comm) -> DirectFaces {
        let own = Self::to(comm, |_| true);
        DirectFaces { own, any: own }
    }

    /// The faces across which kernels can write, found by opening memory of the neighbours. All ranks call this.
    pub fn found(device: &Device, comm: &Comm, route: Route) -> Result<DirectFaces> {
        let near = Self::near(comm, u8::MAX);
        let mut own = 0;
        if route == Route::Fastest && !all(comm, near.is_empty())? {
            let (buffer, memory) = PeerMemory::new(device, comm, &near, SHARED_PAGE)?;
            own = Self::to(comm, |rank| memory.of(rank).is_some());
            // Every rank closes the memory of others before it frees its own.
            drop(memory);
            all(comm, true)?;
            drop(buffer);
        }
        let any = comm.all_gather(&[own])?.iter().fold(0, |bits, theirs| bits | theirs);
        Ok(DirectFaces { own, any })
    }

    /// Whether kernels of this rank write across all of its faces.
    pub fn is_everything(&self, comm: &Comm) -> bool {
        self.own == Self::to(comm, |_| true)
    }

    /// The ranks of this rank's host that are behind some of these faces, each once.
    pub fn near(comm: &Comm, faces: u8) -> Vec<usize> {
        let bits = faces & Self::to(comm, |rank| comm.host().contains(&rank));
        let of = |bit: usize| comm.neighbour(bit / 2, bit % 2 == 1);
        let mut ranks: Vec<usize> = (0..8).filter(|bit| bits >> bit & 1 == 1).map(of).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }
}

/// The route of the messages across one face of this rank's part.
#[derive(Clone, Copy, Debug)]
pub struct FaceRoute {
    pub mu: usize,
    pub upper: bool,
    /// The rank on the other side of the face.
    pub rank: usize,
    /// Name of the route: `its memory`, `NCCL`, `MPI`, or `MPI from copies on the host`.
    pub route: &'static str,
}

impl std::fmt::Display for FaceRoute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = if self.upper { "upper" } else { "lower" };
        let mu = ["x", "y", "z", "t"][self.mu];
        write!(f, "{side} face in {mu}: to rank {} by {}", self.rank, self.route)
    }
}
