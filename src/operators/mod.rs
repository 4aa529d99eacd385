//! Dirac operators: hopping terms and site terms.

mod laplace;
mod wilson;

pub use laplace::Laplace;
pub use wilson::{copy_parity, gamma5, DiracParams, HopCall, SiteTerm, Wilson};
