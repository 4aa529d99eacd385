//! How libplaq.so is linked: its name for the loader, and the C library that it runs with. Tests are told whether it is
//! optimised.

use std::env;

#[path = "../packaging/older_glibc.rs"]
mod older_glibc;

fn main() {
    // Where tests and tools find the tree.
    println!("cargo:rustc-env=SOURCE_TREE={}/..", env!("CARGO_MANIFEST_DIR"));
    println!("cargo:rustc-env=OPT_LEVEL={}", env::var("OPT_LEVEL").expect("cargo sets the level"));
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        let major = env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets the version");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libplaq.so.{major}");
    }
    older_glibc::link("..");
}
