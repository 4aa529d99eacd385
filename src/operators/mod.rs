//! Dirac operators: hopping terms and site terms.

mod coarse;
mod wilson;

pub use coarse::CoarseOperator;
pub use wilson::{copy_parity, gamma5, DiracParams, HopCall, SiteTerm, Wilson};
