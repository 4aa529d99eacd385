//! Random calls of the C interface, generated from its tables, and damaged files: nothing that a host
//! passes ends it, short of pointers to memory that is not there. Seeds are fixed; `make fuzz` goes on
//! for as long as PLAQ_FUZZ_SECONDS says, from the seed PLAQ_FUZZ_SEED on.

mod calls;
mod files;
#[path = "../common/programs.rs"]
mod programs;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

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

/// The fuzzer of calls, compiled from the tables as they are now.
fn compiled() -> Option<PathBuf> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let tool = tool("CC", "cc")?;
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
    Some(program)
}

fn command(program: &Path, seconds: u64, folder: &str) -> Command {
    let numbers = [seed(), variable("PLAQ_FUZZ_FIRST", 0), seconds, 150].map(|n| n.to_string());
    let mut command = Command::new(program);
    command.args(&numbers).arg(scratch(folder));
    command
}

/// Every function of plaq.h, also those that came after this test.
#[test]
fn calls_of_the_c_interface() {
    let Some(program) = compiled() else { return };
    println!("{}", run(&mut command(&program, seconds(), "files"), "random calls").trim());
}

/// What it looks for it finds: a defect in one function, which debug builds can be asked for.
#[test]
fn a_defect_is_found() {
    if !cfg!(debug_assertions) {
        return println!("skipped: no defects in release builds");
    }
    let Some(program) = compiled() else { return };
    let mut with_defect = command(&program, 10, "files_of_defect");
    let out = with_defect.env("PLAQ_TEST_PANIC", "plaq_spinor_create").output().expect("a program");
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(!out.status.success() && said.contains("an internal error"), "{said}");
}

#[test]
fn damaged_files() {
    files::attack(seed(), seconds(), &scratch("damaged"));
}
