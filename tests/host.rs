//! Tests that need compilers, MPI or the source tree, and tests of the reference itself.

extern crate plaq_reference as reference;

mod common;
#[path = "common/programs.rs"]
mod programs;

#[path = "abi/main.rs"]
mod abi;
mod architecture;
#[path = "clients/main.rs"]
mod clients;
#[path = "comm/main.rs"]
mod comm;
#[path = "fuzz/main.rs"]
mod fuzz;
mod gpu_compile;
#[path = "kernels/main.rs"]
mod kernels;
mod parameters;
#[path = "reference_selfcheck/main.rs"]
mod reference_selfcheck;
