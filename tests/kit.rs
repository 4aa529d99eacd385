//! The tests of the device in one program, for `make kit`: the kernels are in it once.
//! `cargo test` builds each of them for itself and leaves this out.
#![allow(clippy::duplicate_mod)]

#[path = "backends.rs"]
mod backends;
#[path = "config.rs"]
mod config;
#[path = "correlators.rs"]
mod correlators;
#[path = "device_arrays.rs"]
mod device_arrays;
#[path = "dirac.rs"]
mod dirac;
#[path = "eigen.rs"]
mod eigen;
#[path = "examples/main.rs"]
mod examples;
#[path = "faults.rs"]
mod faults;
#[path = "fermion/main.rs"]
mod fermion;
#[path = "flow.rs"]
mod flow;
#[path = "gaugefix/main.rs"]
mod gaugefix;
#[path = "hadrons/main.rs"]
mod hadrons;
#[path = "halo.rs"]
mod halo;
#[path = "heatbath.rs"]
mod heatbath;
#[path = "hmc/main.rs"]
mod hmc;
#[path = "io/main.rs"]
mod io;
#[path = "laplace.rs"]
mod laplace;
#[path = "layouts.rs"]
mod layouts;
#[path = "layouts_staged.rs"]
mod layouts_staged;
#[path = "memory.rs"]
mod memory;
#[path = "multigrid/main.rs"]
mod multigrid;
#[path = "observables.rs"]
mod observables;
#[path = "overlap.rs"]
mod overlap;
#[path = "overlap_solve.rs"]
mod overlap_solve;
#[path = "propagator.rs"]
mod propagator;
#[path = "recon.rs"]
mod recon;
#[path = "reference_selfcheck/main.rs"]
mod reference_selfcheck;
#[path = "smearing.rs"]
mod smearing;
#[path = "smoothers.rs"]
mod smoothers;
#[path = "solvers/main.rs"]
mod solvers;
#[path = "transfer_speed.rs"]
mod transfer_speed;
