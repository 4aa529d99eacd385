//! Random calls of the C interface, generated from its tables, and damaged files: no argument of a host makes plaq
//! crash, except pointers to memory that does not exist. Seeds are fixed; `make fuzz` runs for PLAQ_FUZZ_SECONDS
//! seconds from the seed PLAQ_FUZZ_SEED.

mod calls;
mod files;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::programs::{folder, job, mpi_library, root, run, tool, variable as variable_or};

/// Time limit of each fuzzer in seconds.
const SECONDS: u64 = 20;
/// Number of episodes, the same on every machine that is fast enough.
const EPISODES: u64 = 60;

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

fn seconds() -> u64 {
    variable("PLAQ_FUZZ_SECONDS", SECONDS)
}

fn episodes() -> u64 {
    if seconds() > SECONDS {
        i64::MAX as u64 / 2
    } else {
        EPISODES
    }
}

fn seed() -> u64 {
    variable("PLAQ_FUZZ_SEED", 7)
}

fn work() -> PathBuf {
    folder("fuzz")
}

fn scratch(name: &str) -> PathBuf {
    let folder = work().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a writable build tree");
    folder
}

/// The fuzzer of calls, compiled from the current tables: for plaq.h, for plaq.h with `ranks` on many ranks, or for
/// QUDA's headers.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Calls,
    Ranks,
    Quda,
}

/// Lock held while generated files are written and compiled.
static COMPILER: Mutex<()> = Mutex::new(());

/// Path of a file with the generated part.
fn written(kind: Kind) -> PathBuf {
    let (name, text) = match kind {
        Kind::Quda => ("quda.c", calls::generate_quda()),
        _ => ("calls.c", calls::generate()),
    };
    let source = work().join(name);
    std::fs::write(&source, text).expect("a writable build tree");
    source
}

/// Writes the generated calls for scripts/tsan.sh, which compiles them with its own options.
#[test]
fn the_calls_are_written() {
    let _one = COMPILER.lock();
    let text = std::fs::read_to_string(written(Kind::Calls)).expect("a file");
    assert!(text.contains("call_plaq_solver_solve"));
}

fn compiled(kind: Kind) -> Option<PathBuf> {
    let _one = COMPILER.lock();
    let (name, tool) = match kind {
        Kind::Calls => ("calls", tool("CC", "cc")?),
        Kind::Ranks => ("ranks", variable_or("MPICC", "mpicc")),
        Kind::Quda => ("quda", tool("CC", "cc")?),
    };
    let source = written(kind);
    let program = work().join(name);
    let mut words = tool.split(' ');
    let mut cc = Command::new(words.next().expect("a compiler"));
    cc.args(words).args(["-std=gnu99", "-O1", "-g", "-Wall", "-Werror", "-Wno-unused"]);
    for folder in ["include", "include/quda", "tests/fuzz"] {
        cc.arg("-I").arg(root().join(folder));
    }
    if kind == Kind::Ranks {
        cc.arg("-DFUZZ_RANKS");
    }
    cc.arg(source).arg(root().join("tests/fuzz/engine.c"));
    if kind == Kind::Quda {
        cc.arg(root().join("tests/fuzz/quda.c"));
    }
    cc.arg("-o").arg(&program).arg("-L").arg(work()).args(["-lplaq", "-lm", "-lpthread", "-ldl"]);
    cc.arg(format!("-Wl,-rpath,{}", work().display()));
    run(&mut cc, "compiling the fuzzer");
    Some(program)
}

/// Arguments of the fuzzer except the number of threads, with its own folder for files.
fn arguments(seconds: u64, calls: u64, folder: &str) -> Vec<OsString> {
    let numbers = [seed(), variable("PLAQ_FUZZ_FIRST", 0), episodes(), seconds, calls];
    let mut words: Vec<OsString> = numbers.iter().map(|n| n.to_string().into()).collect();
    words.push(scratch(folder).into());
    words
}

fn command(program: &Path, seconds: u64, folder: &str) -> Command {
    let mut command = Command::new(program);
    command.args(arguments(seconds, 150, folder));
    command
}

/// Random calls of every function of plaq.h give statuses and no crash. With PLAQ_TEST_DEVICE=cuda they run on a GPU,
/// with arrays in its memory.
#[test]
fn calls_of_the_c_interface() {
    if std::env::var("PLAQ_TEST_DEVICE").as_deref() != Ok("cuda") {
        println!("skipped: device arrays, without a GPU");
    }
    let Some(program) = compiled(Kind::Calls) else { return };
    println!("{}", run(&mut command(&program, seconds(), "files"), "random calls").trim());
}

/// Random calls of four threads that share contexts and objects give statuses and no crash.
#[test]
fn calls_of_several_threads() {
    let Some(program) = compiled(Kind::Calls) else { return };
    let mut threads = command(&program, seconds(), "files_of_threads");
    println!("{}", run(threads.arg("4"), "random calls of threads").trim());
}

#[test]
fn calls_of_qudas_interface() {
    let Some(program) = compiled(Kind::Quda) else { return };
    println!("{}", run(&mut command(&program, seconds(), "files_of_quda"), "QUDA's calls").trim());
}

/// The same random calls on all ranks, one of which now and then deviates, give statuses and no crash.
#[test]
fn calls_of_ranks() {
    if mpi_library().is_none() {
        return;
    }
    let Some(program) = compiled(Kind::Ranks) else { return };
    let grids = if seconds() > SECONDS { &["1,1,1,2", "1,1,2,2"][..] } else { &["1,1,1,2"] };
    for grid in grids {
        let arguments = arguments(seconds(), 100, "files_of_ranks");
        let words: Vec<&OsStr> = [program.as_os_str()]
            .into_iter()
            .chain(arguments.iter().map(|a| a.as_os_str()))
            .collect();
        job(grid, &(seconds() + 180).to_string(), &words, &[]);
    }
}

/// The fuzzer finds a defect that debug builds can have on request in one function.
#[test]
fn a_defect_is_found() {
    if !cfg!(debug_assertions) {
        return println!("skipped: no defects in release builds");
    }
    let Some(program) = compiled(Kind::Calls) else { return };
    let mut with_defect = command(&program, 10, "files_of_defect");
    let out = with_defect.env("PLAQ_TEST_PANIC", "plaq_spinor_create").output().expect("a program");
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(!out.status.success() && said.contains("an internal error"), "{said}");
}

#[test]
fn damaged_files() {
    files::attack(seed(), episodes().saturating_mul(50), seconds(), &scratch("damaged"));
}
