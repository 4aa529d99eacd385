//! How libplaq.so is linked: its name for the loader, and the C library that it runs with.

use std::env;

fn main() {
    // Where tests and tools find the tree.
    println!("cargo:rustc-env=SOURCE_TREE={}/..", env!("CARGO_MANIFEST_DIR"));
    let arch = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets the architecture");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        let major = env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets the version");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libplaq.so.{major}");
        if arch == "x86_64" && env::var("CARGO_CFG_TARGET_ENV").as_deref() == Ok("gnu") {
            for_older_glibc();
        }
    }
}

/// What is linked runs with the C library of packaging/glibc.c, and with the libgcc_s.so.1 of that time: what that lacks,
/// conversions of 16-bit numbers, is linked in from GCC's archive.
fn for_older_glibc() {
    let source = "../packaging/glibc.c";
    println!("cargo:rerun-if-changed={source}");
    let mut build = cc::Build::new();
    build.file(source).opt_level(2).debug(false).cargo_metadata(false);
    for object in build.compile_intermediates() {
        println!("cargo:rustc-link-arg={}", object.display());
    }
    println!("cargo:rustc-link-arg=-Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,--pop-state");
    println!("cargo:rustc-link-lib=gcc");
}
