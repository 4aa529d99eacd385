//! plaq: embeddable lattice QCD. See ARCHITECTURE.md for the map of this tree.
//!
//! A quenched configuration and its plaquette, 0.5937 at beta = 6.0 on large lattices:
//!
//! ```
//! use plaq_core::backend::Device;
//! use plaq_core::fields::{GaugeField, Geometry, Precision, Recon};
//! use plaq_core::ops::{observables::plaquette, quenched::Quenched};
//!
//! let device = Device::cuda(0).or_else(|_| Device::cpu(0))?;
//! let geometry = Geometry::new([4, 4, 4, 8], &device)?;
//! let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18)?;
//! links.set_unit()?;
//! assert_eq!(plaquette(&links)?.total, 1.0);
//! Quenched::new(6.0, 1)?.run(&mut links, 20)?;
//! assert!((plaquette(&links)?.total - 0.594).abs() < 0.03);
//! # Ok::<(), plaq_core::error::Error>(())
//! ```
#![warn(clippy::undocumented_unsafe_blocks)]
// Brackets in the documentation are indices and intervals, not links.
#![allow(rustdoc::broken_intra_doc_links)]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

pub mod backend;
pub mod comm;
pub mod compose;
pub mod error;
pub mod fields;
pub mod io;
mod library;
pub mod linop;
pub mod operators;
pub mod ops;
pub mod params;
pub mod solvers;

#[cfg(test)]
extern crate self as plaq;
