//! The routes of messages between GPUs: the one that is requested, and the one that is used.

use crate::error::Result;
use crate::refuse;

/// The route that `PLAQ_HALO` requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// For each face the fastest available one of: the memory of a rank on the same host, NCCL, an MPI that takes GPU
    /// memory, copies on the host.
    Fastest,
    /// NCCL, or an error if it is not available.
    Nccl,
    /// An MPI that takes GPU memory, if there is one.
    Mpi,
    /// Copies on the host.
    Staged,
}

impl Route {
    /// # Errors
    /// `InvalidArgument`: the variable has another value.
    pub fn asked() -> Result<Route> {
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

/// The way of messages across a face.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    pub mu: usize,
    pub upper: bool,
    /// The rank on the other side of the face.
    pub rank: usize,
    /// Name of the route: `its memory`, `NCCL`, `MPI`, or `MPI from copies on the host`.
    pub way: &'static str,
}

impl std::fmt::Display for Crossing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = if self.upper { "upper" } else { "lower" };
        let mu = ["x", "y", "z", "t"][self.mu];
        write!(f, "{side} face in {mu}: to rank {} by {}", self.rank, self.way)
    }
}
