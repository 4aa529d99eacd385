//! plaq: embeddable lattice QCD. See ARCHITECTURE.md for the map of this tree.
#![warn(clippy::undocumented_unsafe_blocks)]
// Brackets in the documentation are indices and intervals, not links.
#![allow(rustdoc::broken_intra_doc_links)]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

// Its macro names kernels everywhere below.
#[macro_use]
pub mod backend;

pub mod capi;
pub mod comm;
pub mod compose;
pub mod error;
pub mod fields;
pub mod io;
pub mod linop;
pub mod operators;
pub mod ops;
pub mod solvers;

#[cfg(test)]
extern crate self as plaq;
