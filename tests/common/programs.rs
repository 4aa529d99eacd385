//! C programs that are linked to the library and run, alone or on many ranks.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use plaq::backend::cpu::instruction_sets;

pub const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

pub fn root() -> &'static Path {
    Path::new(env!("SOURCE_TREE"))
}

/// A folder of the build tree for the programs that tests of a module compile. It has the library under its own name
/// and under its DT_SONAME, and the reference.
pub fn folder(module: &str) -> PathBuf {
    static MADE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(module);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if made.insert(module.to_string()) {
        std::fs::create_dir_all(&folder).expect("a writable build tree");
        for (name, library) in [
            ("libplaq.so", library()),
            (concat!("libplaq.so.", env!("CARGO_PKG_VERSION_MAJOR")), library()),
            ("libplaq_reference.so", built("libplaq_reference.so")),
        ] {
            let link = folder.join(name);
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(&library, &link).expect("a writable build tree");
        }
    }
    folder
}

/// Name of the module that a C source belongs to: `abi` for tests/abi/solve.c.
fn folder_of(source: &str) -> PathBuf {
    let module = Path::new(source).parent().and_then(Path::file_name).expect("a module");
    folder(&module.to_string_lossy())
}

/// Path of a library that cargo builds for this test and puts beside it or one folder up.
fn built(name: &str) -> PathBuf {
    let exe = std::env::current_exe().expect("a path");
    let found = exe.ancestors().skip(1).take(2).map(|d| d.join(name)).find(|p| p.exists());
    found.unwrap_or_else(|| panic!("{name} is not beside {}", exe.display()))
}

pub fn library() -> PathBuf {
    built("libplaq.so")
}

pub fn variable(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.into())
}

pub fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success())
}

/// The command of a compiler, possibly behind ccache, or `None` with a printed message if there is none.
pub fn tool(name: &str, default: &str) -> Option<String> {
    let tool = variable(name, default);
    let found = has(tool.split(' ').next_back().unwrap_or_default());
    if !found {
        println!("skipped: no {tool} here");
    }
    found.then_some(tool)
}

/// Runs a command and returns its output; if the command fails, panics with `what` and the output.
pub fn run(command: &mut Command, what: &str) -> String {
    let out = command.output().unwrap_or_else(|e| panic!("{what}: {e}"));
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.success(), "{what}: {}\n{stdout}\n{stderr}", out.status);
    stdout
}

/// Compiles a C source, or a C++ source if its name ends in .cpp, with headers from `includes`, to a program of the
/// given name.
pub fn build(
    compiler: &str,
    source: &str,
    includes: &[&Path],
    name: &str,
    flags: &[&str],
) -> PathBuf {
    let work = folder_of(source);
    let program = work.join(name);
    let mut words = compiler.split(' ');
    let mut cc = Command::new(words.next().expect("a compiler"));
    // QUDA's headers use the complex numbers of C, which C++ compilers have only as an extension.
    let language: &[&str] = match source.ends_with(".cc") {
        true => &["-std=c++17", "-Wall", "-Wextra", "-Werror"],
        false => &[&["-std=c99"], &WARNINGS[..]].concat(),
    };
    cc.args(words).args(language).args(["-g", "-O1"]).args(flags);
    cc.args(includes.iter().flat_map(|folder| [OsStr::new("-I"), folder.as_os_str()]));
    cc.arg("-I").arg(root().join("tests/reference"));
    cc.arg(root().join(source)).arg("-o").arg(&program).arg("-L").arg(&work);
    cc.args(["-lplaq", "-Wl,--as-needed", "-lplaq_reference", "-Wl,--no-as-needed"]);
    cc.args(["-lm", "-lpthread"]).arg(format!("-Wl,-rpath,{}", work.display()));
    run(&mut cc, &format!("compiling {source}"));
    program
}

/// The set of kernels that a program uses under valgrind: kernels of 16 lanes without fused multiply-add, since
/// valgrind computes each of these by a call. On lattices of fewer lanes kernels of one lane take less time than
/// those with fused multiply-add, but two or three times as much per site as those of 16 lanes.
fn set_under_valgrind(name: &str) -> &'static str {
    let small_lattice =
        ["modes", "multigrid", "deflation", "twisted", "wilson", "registry"].contains(&name);
    match instruction_sets().contains(&"baseline") {
        true if !small_lattice => "baseline",
        _ => "generic",
    }
}

/// Runs a C program completely under AddressSanitizer with leak check, and in a short version under valgrind.
pub fn checked(source: &str, includes: &[&Path]) {
    let Some(tool) = tool("CC", "cc") else { return };
    let name = Path::new(source).file_stem().expect("a file").to_string_lossy().into_owned();
    let build = |suffix: &str, flags: &[&str]| {
        build(&tool, source, includes, &format!("{name}{suffix}"), flags)
    };
    let work = folder_of(source);
    let command = |program: &Path| {
        let mut command = Command::new(program);
        command.current_dir(&work);
        command.env("PLAQ_TEST_DEBUG", if cfg!(debug_assertions) { "1" } else { "0" });
        command
    };
    if has("valgrind") {
        let set = set_under_valgrind(&name);
        let lanes: &[&str] = if set == "generic" { &[] } else { &["-DLANES"] };
        let plain = build("", &[&["-DIN_BRIEF"], lanes].concat());
        let mut valgrind = command(Path::new("valgrind"));
        // Under valgrind, which would take sixty times as long, programs leave out parts that are mainly arithmetic,
        // and compute the others to few digits. Programs of clients are brief, but not rough, on several ranks too.
        valgrind.env("PLAQ_TEST_BRIEF", "1").env("PLAQ_TEST_ROUGH", "1");
        valgrind.env("PLAQ_CPU_ISA", set);
        valgrind.args(["-q", "--error-exitcode=9", "--leak-check=full"]);
        // Stacks of pool threads that are about to end are no leak.
        valgrind.args(["--errors-for-leak-kinds=definite", "--show-leak-kinds=definite"]);
        run(valgrind.arg(&plain), &format!("{name} under valgrind"));
    }
    let asan = build("_asan", &["-fsanitize=address", "-fno-omit-frame-pointer"]);
    let told = work.join(format!("{name}.told"));
    let _ = std::fs::remove_file(&told);
    let mut asan = command(&asan);
    asan.env("ASAN_OPTIONS", "detect_leaks=1").env("PLAQ_TEST_TOLD", told);
    run(&mut asan, &format!("{name} under ASan"));
}

/// Path of plaq's library for MPI, or `None` if there is no MPI.
pub fn mpi_library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || {
        let (mpicc, mpirun) = (variable("MPICC", "mpicc"), variable("MPIRUN", "mpirun"));
        if !has(&mpicc) || !has(&mpirun) {
            println!("skipped: no {mpicc} or no {mpirun}");
            return None;
        }
        let library = folder("comm").join("libplaq_mpi.so");
        let mut cc = Command::new(mpicc);
        cc.arg("-std=c99").args(WARNINGS).args(["-O1", "-fPIC", "-fvisibility=hidden", "-shared"]);
        cc.arg("-o").arg(&library).arg(root().join("mpi/plaq_mpi.c"));
        run(&mut cc, "compiling plaq_mpi.c");
        Some(library)
    };
    LIBRARY.get_or_init(make).as_deref()
}

/// Runs a program on the ranks of this process grid, for at most this time. Jobs run one at a time: their waits have
/// deadlines, and the machine may be small.
pub fn job(grid: &str, seconds: &str, program: &[&OsStr], env: &[(&str, &str)]) {
    static ONE: Mutex<()> = Mutex::new(());
    let Some(library) = mpi_library() else { return };
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut job = Command::new(root().join("scripts/ranks.sh"));
    job.arg(grid).args(program).current_dir(folder("comm"));
    job.env("PLAQ_MPI_LIBRARY", library).env("PLAQ_TEST_SECONDS", seconds);
    run(job.envs(env.iter().copied()), &format!("{program:?} on {grid}, {env:?}"));
}
