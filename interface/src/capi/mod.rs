//! The C interface: `include/plaq.h` and `bindings/fortran/plaq.f90` are generated from the
//! tables of this folder (`cargo run --example interface`). One file per C object; each declares its functions and
//! structs in an `interface!` table and implements them in safe Rust. Only boundary, args,
//! file_name, versioned, the table itself and milc/start (pinned memory) touch raw pointers. The headers in
//! `include/quda` come from tables in the same way.

// Types have the names of C, and the rules for callers of the C functions stand once, at the top of the header.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]

mod args;
#[cfg(all(test, debug_assertions))]
mod backtrace;
mod boundary;
pub mod clover;
pub mod context;
pub mod contract;
mod digest;
pub mod dirac;
pub mod distillation;
pub mod eigen;
pub mod field;
pub mod file;
mod file_name;
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
pub mod loop_sums;
pub mod loops;
pub mod milc;
pub mod momentum;
pub mod multigrid;
pub mod observe;
pub mod openqcd;
pub mod origin;
pub mod overlap;
pub mod overlap_solve;
pub mod path;
pub mod progress;
pub mod propagator;
pub mod quda;
pub mod reweighting;
pub mod schroedinger;
pub mod solve;
pub mod spinor;
pub mod structure;
pub mod table;
mod versioned;

/// Tables of the C interface, in the order of the header.
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
    &origin::MODULE,
    &progress::MODULE,
    &multigrid::MODULE,
    &solve::MODULE,
    &hadron::MODULE,
    &contract::MODULE,
    &structure::MODULE,
    &loops::MODULE,
    &reweighting::MODULE,
    &schroedinger::MODULE,
    &propagator::MODULE,
    &eigen::MODULE,
    &loop_sums::MODULE,
    &distillation::MODULE,
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

/// Headers of QUDA's interface, with those of its functions that plaq implements.
pub const HEADERS: &[table::Header] = &[
    header("quda/enum_quda.h", &[], &[&quda::enums::MODULE, &quda::enums_named::MODULE]),
    table::Header {
        read_as_text: true,
        ..header("quda/quda_constants.h", &[], &[&quda::constants::MODULE])
    },
    header("quda/quda_define.h", &[], &[&quda::define::MODULE]),
    table::Header {
        preamble: COMPLEX,
        conclusion: COMPLEX_AFTERWARDS,
        ..header(
            "quda/quda.h",
            &["stdio.h", "enum_quda.h", "quda_constants.h", "quda_define.h"],
            &[
                &quda::setup::MODULE,
                &quda::links::MODULE,
                &quda::operators::MODULE,
                &quda::invert::MODULE,
                &quda::multigrid::MODULE,
                &quda::eigen::MODULE,
                &quda::laph::MODULE,
                &quda::contract::MODULE,
                &quda::quark_flow::MODULE,
                &quda::gauge::MODULE,
                &quda::dynamics::MODULE,
                &quda::quark_force::MODULE,
                &quda::refused::MODULE,
            ],
        )
    },
    // Hosts only include these headers; they declare little or nothing.
    header("quda/quda_api.h", &[], &[]),
    header("quda/device.h", &[], &[]),
    header("quda/malloc_quda.h", &["stdlib.h"], &[&quda::memory::MODULE]),
    table::Header {
        conclusion: include_str!("quda/cpp/util_quda.h"),
        ..header("quda/util_quda.h", &["stdlib.h", "quda.h"], &[&quda::ranks::MODULE])
    },
    table::Header {
        conclusion: include_str!("quda/cpp/timer.h"),
        ..header("quda/timer.h", &["util_quda.h"], &[])
    },
    table::Header {
        conclusion: include_str!("quda/cpp/color_spinor_field.h"),
        ..header("quda/color_spinor_field.h", &["quda.h"], &[])
    },
    header("quda/quda_milc_interface.h", &["enum_quda.h", "quda.h"], &[&milc::MODULE]),
    table::Header {
        preamble: COMPLEX_OF_1989,
        unless: &[("FLAGS_H", &openqcd::flags::MODULE)],
        ..header("quda/quda_openqcd_interface.h", &[], &[&openqcd::MODULE])
    },
];

const fn header(
    file: &'static str,
    includes: &'static [&'static str],
    modules: &'static [&'static table::Module],
) -> table::Header {
    table::Header {
        file,
        read_as_text: false,
        includes,
        preamble: "",
        conclusion: "",
        unless: &[],
        modules,
    }
}

/// The type of complex numbers in a header, under a name that hosts do not use. Hosts in C of 1989, which has no
/// complex numbers, define both macros, with double2 as their own struct of two doubles.
const COMPLEX: &str = "
#if defined(__CUDACC_RTC__)
#define QUDA_DOUBLE_COMPLEX double2
#else
#define QUDA_DOUBLE_COMPLEX double _Complex
#endif
";
const COMPLEX_AFTERWARDS: &str = "
#undef QUDA_DOUBLE_COMPLEX
";

/// Lines of a header that define openQxD's complex type for hosts in C of 1989, since openQxD does not.
const COMPLEX_OF_1989: &str = "
typedef struct {
  double re, im;
} openqcd_complex_dble;

#ifdef __CUDACC_RTC__
#include <quda.h>
#else
#define __CUDACC_RTC__
#define double2 openqcd_complex_dble
#include <quda.h>
#undef double2
#undef __CUDACC_RTC__
#endif
";

/// The word for a constant: the one in its table, or its name without the prefix that all constants of its type
/// share.
pub(crate) fn word(constant: &str) -> Option<String> {
    MODULES.iter().flat_map(|module| module.items).find_map(|item| match item {
        table::Item::Constants { values, .. } => {
            let place = values.iter().position(|value| value.name == constant)?;
            Some(match values[place].word {
                "" => table::members(values)[place].to_ascii_lowercase(),
                word => word.to_string(),
            })
        }
        _ => None,
    })
}

/// All declarations of all headers.
pub fn items() -> impl Iterator<Item = &'static table::Item> {
    MODULES.iter().copied().chain(HEADERS.iter().flat_map(table::Header::all)).flat_map(|m| m.items)
}
