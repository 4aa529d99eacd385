//! plaq: embeddable lattice QCD. See ARCHITECTURE.md for the map of this tree.

pub mod backend;
pub mod capi;
pub mod error;
pub mod fields;
pub mod io;
