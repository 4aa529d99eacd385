//! Dirac operators: hopping terms and site terms.

mod wilson;

pub use wilson::{copy_parity, gamma5, DiracParams, HopCall, SiteTerm, Wilson};
