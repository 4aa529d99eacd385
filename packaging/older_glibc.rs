//! Link arguments of build scripts for programs that run with older C libraries than that of the machine.

use std::env;

/// What is linked runs with the C library of `packaging/glibc.c`, and with the libgcc_s.so.1 of that time: what that
/// lacks, conversions of 16-bit numbers, is linked in from GCC's archive. `root`: folder of the repository. On Linux with
/// x86-64 and GNU's C library; elsewhere nothing changes.
pub fn link(root: &str) {
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if (target("OS"), target("ARCH"), target("ENV"))
        != ("linux".into(), "x86_64".into(), "gnu".into())
    {
        return;
    }
    let source = format!("{root}/packaging/glibc.c");
    println!("cargo:rerun-if-changed={source}");
    println!("cargo:rerun-if-changed={root}/packaging/older_glibc.rs");
    let mut build = cc::Build::new();
    build.file(source).opt_level(2).debug(false).cargo_metadata(false);
    for object in build.compile_intermediates() {
        println!("cargo:rustc-link-arg={}", object.display());
    }
    println!("cargo:rustc-link-arg=-Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,--pop-state");
    println!("cargo:rustc-link-lib=gcc");
}
