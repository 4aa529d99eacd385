//! Dirac operators: hopping terms and site terms.

mod chiral;
mod coarse;
mod even_odd;
mod force;
mod kernel;
mod laplace;
mod site;
mod tensor;
mod wilson;

pub use chiral::{chiral_sum, one_and_gamma5, Chiral};
pub use coarse::{CoarseOperator, LinkPrecision};
pub use even_odd::EvenOdd;
pub use force::ForceTerms;
pub use kernel::{HermitianWilson, KernelSquare};
pub use laplace::Laplace;
pub use site::{copy_parity, gamma5, Gamma5};
pub(crate) use tensor::TensorHop;
pub(crate) use wilson::Version;
pub use wilson::{DiracParams, HopCall, HopSum, SiteTerm, Wilson};
