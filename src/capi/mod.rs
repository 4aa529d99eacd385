//! The C interface: `include/plaq.h` and `bindings/fortran/plaq.f90` are generated from the
//! tables of this folder (`cargo run --example interface`). One file per C object; each declares its functions and
//! structs in an `interface!` table and implements them in safe Rust. Only boundary, args,
//! versioned, the table itself and milc/start (pinned memory) touch raw pointers. The headers in
//! `include/quda` come from tables in the same way.

// C's names; and what callers of the C functions must keep to stands once, atop the header.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]

mod args;
mod boundary;
pub mod clover;
pub mod context;
pub mod contract;
mod digest;
pub mod dirac;
pub mod eigen;
pub mod field;
pub mod file;
pub mod flow;
pub mod force;
pub mod gauge;
pub mod gaugefix;
pub mod hadron;
mod handles;
pub mod hmc;
pub mod hmc_parts;
pub mod laplace;
pub mod layout;
pub mod library;
pub mod milc;
pub mod momentum;
pub mod multigrid;
pub mod observe;
pub mod overlap;
pub mod overlap_solve;
pub mod path;
pub mod program;
pub mod propagator;
pub mod quda;
pub mod solve;
pub mod spinor;
pub mod table;
mod versioned;

/// Every table, in the order of the header.
pub const MODULES: &[&table::Module] = &[
    &library::MODULE,
    &context::MODULE,
    &field::MODULE,
    &layout::MODULE,
    &gauge::MODULE,
    &file::MODULE,
    &spinor::MODULE,
    &observe::MODULE,
    &clover::MODULE,
    &dirac::MODULE,
    &laplace::MODULE,
    &multigrid::MODULE,
    &solve::MODULE,
    &hadron::MODULE,
    &contract::MODULE,
    &propagator::MODULE,
    &eigen::MODULE,
    &overlap::MODULE,
    &overlap_solve::MODULE,
    &gaugefix::MODULE,
    &momentum::MODULE,
    &path::MODULE,
    &force::MODULE,
    &hmc::MODULE,
    &hmc_parts::MODULE,
    &flow::MODULE,
    &quda::calls::MODULE,
];

/// QUDA's headers, as far as plaq stands in for it.
pub const HEADERS: &[table::Header] = &[
    table::Header { file: "quda/enum_quda.h", includes: &[], modules: &[&quda::enums::MODULE] },
    table::Header {
        file: "quda/quda_constants.h",
        includes: &[],
        modules: &[&quda::constants::MODULE],
    },
    table::Header { file: "quda/quda_define.h", includes: &[], modules: &[&quda::define::MODULE] },
    table::Header {
        file: "quda/quda.h",
        includes: &["stddef.h", "enum_quda.h", "quda_constants.h", "quda_define.h"],
        modules: &[&quda::gauge::MODULE],
    },
    table::Header {
        file: "quda/quda_milc_interface.h",
        includes: &["stddef.h", "enum_quda.h", "quda.h"],
        modules: &[&milc::MODULE],
    },
];

/// What all headers declare.
pub fn items() -> impl Iterator<Item = &'static table::Item> {
    let compatible = HEADERS.iter().flat_map(|h| h.modules);
    MODULES.iter().chain(compatible).flat_map(|m| m.items)
}
