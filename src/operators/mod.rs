//! Dirac operators: hopping terms and site terms.

mod chiral;
mod kernel;
mod wilson;

pub use chiral::{chiral_sum, one_and_gamma5, Chiral};
pub use kernel::{HermitianWilson, KernelSquare};
pub use wilson::{copy_parity, gamma5, DiracParams, HopCall, SiteTerm, Wilson};
