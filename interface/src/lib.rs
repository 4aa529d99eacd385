//! The library `libplaq.so`: plaq's C interface (`capi`) on top of the core and, with the feature `program`, the
//! program `plaq` (`app`), whose executable calls `program`.
#![warn(clippy::undocumented_unsafe_blocks)]
// Brackets in the documentation are indices and intervals, not links.
#![allow(rustdoc::broken_intra_doc_links)]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

pub use plaq_core::{
    backend, bail, comm, compose, error, fields, io, linop, operators, ops, params, refuse,
    refused, solvers,
};

#[cfg(feature = "program")]
pub mod app;
pub mod capi;
#[cfg(feature = "program")]
pub mod program;
