//! Random calls of the C interface, generated from its tables, and damaged files: nothing that a host
//! passes ends it, short of pointers to memory that is not there. Seeds are fixed; `make fuzz` goes on
//! for as long as PLAQ_FUZZ_SECONDS says, from the seed PLAQ_FUZZ_SEED on.

mod calls;
mod files;
#[path = "../common/programs.rs"]
mod programs;

use std::path::PathBuf;
use std::process::Command;

use programs::{root, run, tool, work};

/// Of each of the fuzzers here.
const SECONDS: u64 = 25;

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

fn seconds() -> u64 {
    variable("PLAQ_FUZZ_SECONDS", SECONDS)
}

fn seed() -> u64 {
    variable("PLAQ_FUZZ_SEED", 7)
}

fn scratch(name: &str) -> PathBuf {
    let folder = work().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a writable build tree");
    folder
}

/// Every function of plaq.h, also those that came after this test.
#[test]
fn calls_of_the_c_interface() {
    let Some(tool) = tool("CC", "cc") else { return };
    std::fs::write(work().join("calls.c"), calls::generate()).expect("a writable build tree");
    let program = work().join("calls");
    let mut words = tool.split(' ');
    let mut cc = Command::new(words.next().expect("a compiler"));
    cc.args(words).args(["-std=gnu99", "-O1", "-g", "-Wall", "-Werror", "-Wno-unused"]);
    for folder in [root().join("include"), root().join("tests/fuzz")] {
        cc.arg("-I").arg(folder);
    }
    cc.arg(work().join("calls.c")).arg(root().join("tests/fuzz/engine.c")).arg("-o").arg(&program);
    cc.arg("-L").arg(work()).args(["-lplaq", "-lm", "-lpthread"]);
    cc.arg(format!("-Wl,-rpath,{}", work().display()));
    run(&mut cc, "compiling the fuzzer");
    let numbers = [seed(), variable("PLAQ_FUZZ_FIRST", 0), seconds(), 150].map(|n| n.to_string());
    let said = run(Command::new(&program).args(&numbers).arg(scratch("files")), "random calls");
    println!("{}", said.trim());
}

#[test]
fn damaged_files() {
    files::attack(seed(), seconds(), &scratch("damaged"));
}
