//! Tests of fields, operators, solvers and what is made of them: on the CPU and, where there is one, the GPU.
//! `make kit` packs this program for machines without cargo and the source tree.

extern crate plaq_core as plaq;
extern crate plaq_reference as reference;

mod common;
#[path = "common/setup.rs"]
mod setup;

mod actions;
mod backends;
mod boundaries;
mod boundary_files;
mod boundary_quarks;
mod config;
mod correlators;
mod deflation;
mod device_arrays;
mod dirac;
mod distance;
mod distillation;
mod doublet;
mod dry_runs;
mod eigen;
mod eigen_tolerance;
mod faults;
#[path = "fermion/main.rs"]
mod fermion;
mod flow;
#[path = "gaugefix/main.rs"]
mod gaugefix;
mod gluons;
#[path = "hadrons/main.rs"]
mod hadrons;
mod halo;
mod heatbath;
#[path = "hmc/main.rs"]
mod hmc;
#[path = "io/main.rs"]
mod io;
mod laplace;
mod layouts;
mod layouts_staged;
mod loops;
mod memory;
mod monitors;
#[path = "multigrid/main.rs"]
mod multigrid;
mod observables;
mod overlap;
mod overlap_solve;
mod propagator;
mod quark_flow;
mod recon;
mod reweighting;
mod schroedinger;
mod smearing;
mod smoothers;
#[path = "solvers/main.rs"]
mod solvers;
mod structure;
mod threads;
mod transfer_speed;
