//! Dirac operators: hopping terms and site terms.

mod force;
mod laplace;
mod wilson;

pub use force::ForceTerms;
pub use laplace::Laplace;
pub use wilson::{copy_parity, gamma5, DiracParams, HopCall, SiteTerm, Wilson};
