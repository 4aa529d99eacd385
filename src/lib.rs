//! plaq: embeddable lattice QCD. See ARCHITECTURE.md for the map of this tree.

pub mod error;
pub mod io;
