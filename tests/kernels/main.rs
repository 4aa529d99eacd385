//! Parts of kernels that only GPUs use, compiled for the host: C++ programs of this folder.

#[path = "../common/programs.rs"]
mod programs;

use std::path::Path;
use std::process::Command;

use programs::{root, run, tool, WARNINGS};

/// Compiles and runs a program that includes kernel headers.
fn passes(name: &str) {
    let Some(tool) = tool("CXX", "c++") else { return };
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels");
    std::fs::create_dir_all(&work).expect("a writable build tree");
    std::fs::write(work.join("plaq_args.h"), plaq::backend::args::cpp_args(&|_| true))
        .expect("the same");
    let program = work.join(name);
    let mut words = tool.split(' ');
    let mut cxx = Command::new(words.next().expect("a compiler"));
    cxx.args(words).arg("-std=c++17").args(WARNINGS).args(["-g", "-O1"]);
    cxx.args(["-fsanitize=address,undefined", "-fno-sanitize-recover"]);
    cxx.arg("-I").arg(root().join("kernels")).arg("-I").arg(&work);
    cxx.arg(root().join(format!("tests/kernels/{name}.cc"))).arg("-o").arg(&program);
    run(&mut cxx, &format!("compiling {name}.cc"));
    run(&mut Command::new(&program), name);
}

#[test]
fn regions() {
    passes("regions");
}
