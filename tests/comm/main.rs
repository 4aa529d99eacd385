//! Ranks through MPI. The tests start themselves again under mpirun; in each rank the test
//! `rank` then runs the scenarios that `PLAQ_TEST_SCENARIO` names. `MPICC` and `MPIRUN` choose the
//! MPI.

mod scenarios;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use crate::programs::{build, folder, has, job, mpi_library, root, run, tool, variable};

fn work() -> PathBuf {
    folder("comm")
}

/// Runs scenarios on the ranks of this grid.
fn scenario(names: &str, grid: &str) {
    let exe = std::env::current_exe().expect("a path");
    let words = ["--exact", "comm::rank", "--nocapture", "--test-threads=1"].map(OsStr::new);
    let program: Vec<&OsStr> = [exe.as_os_str()].into_iter().chain(words).collect();
    job(grid, "120", &program, &[("PLAQ_TEST_SCENARIO", names)]);
}

/// Compiles a program of this folder as the host and runs it on four ranks; plaq's library for MPI is found beside
/// libplaq.
fn host(variable_of_compiler: &str, default: &str, sources: &[&str], flags: &[&str]) {
    if mpi_library().is_none() {
        return;
    }
    let compiler = variable(variable_of_compiler, default);
    if !has(&compiler) {
        return println!("skipped: no {compiler}");
    }
    let program = work().join(default).with_extension("host");
    let mut build = Command::new(compiler);
    build.current_dir(work()).args(flags).args(["-Wall", "-Wextra", "-Werror", "-g"]);
    build.args(
        ["include", "tests/abi"].map(|folder| format!("-I{}", root().join(folder).display())),
    );
    build.args(sources.iter().map(|s| root().join(s))).arg("-o").arg(&program);
    build.arg("-L").arg(work()).arg("-lplaq").arg(format!("-Wl,-rpath,{}", work().display()));
    run(&mut build, &format!("compiling {sources:?}"));
    job(
        "1,1,2,2",
        "120",
        &[OsStr::new("env"), OsStr::new("-u"), OsStr::new("PLAQ_MPI_LIBRARY"), program.as_os_str()],
        &[],
    );
}

#[test]
fn c_host() {
    host("MPICC", "mpicc", &["tests/comm/host.c"], &["-std=c99"]);
}

/// Ranks that make different calls, or calls with different parameters, end alike.
#[test]
fn different_calls_end_alike() {
    if mpi_library().is_none() {
        return;
    }
    let folders = [root().join("include"), root().join("tests/abi")];
    let folders = [folders[0].as_path(), folders[1].as_path()];
    let compiler = variable("MPICC", "mpicc");
    let program = build(&compiler, "tests/comm/different.c", &folders, "different", &[]);
    let objects = "stale order zero leak communicators extents links group seed nrhs subset";
    let others =
        "precision object count kappa csw tol solver iterations format label input finalize";
    let contexts = "storage operator solution sloppy coefficients shifts tols file destruction files grid sums device alone null late threads";
    let environments = "patience generic baseline junk abandoned";
    for (grid, cases) in [
        ("1,1,1,2", objects),
        ("1,1,1,2", others),
        ("1,1,1,2", contexts),
        ("1,1,1,2", environments),
        ("1,1,1,3", "stale nrhs order"),
    ] {
        let mut words = vec![program.as_os_str()];
        words.extend(cases.split(' ').map(OsStr::new));
        job(grid, "120", &words, &[]);
    }
}

#[test]
fn fortran_host() {
    host("MPIFC", "mpif90", &["bindings/fortran/plaq.f90", "tests/comm/host.f90"], &["-std=f2018"]);
}

/// Runs the scenarios in each rank; does nothing in the first process.
#[test]
fn rank() {
    if let Ok(names) = std::env::var("PLAQ_TEST_SCENARIO") {
        names.split(' ').for_each(scenarios::run);
    }
}

/// Scenarios after which ranks can go on, run one after the other in one job for each grid. The last one may lose a
/// part of the ranks; with 17 ranks votes are counted by MPI.
const TOGETHER: [(&str, &str); 10] = [
    ("1,1,1,1", "sums exchange wrong_grids parts"),
    ("1,1,1,2", "sums silent wrong_grids parts agree guard ways part_fails"),
    ("2,1,1,2", "sums silent wrong_grids parts agree guard ways part_fails"),
    ("1,4,1,1", "sums wrong_grids agree guard"),
    ("2,1,1,1", "exchange"),
    ("1,2,1,2", "exchange maps"),
    ("1,1,4,1", "exchange"),
    ("1,1,1,3", "exchange part_fails"),
    ("1,3,2,1", "parts"),
    ("17,1,1,1", "agree"),
];

#[test]
fn what_ranks_do_together() {
    TOGETHER.iter().for_each(|(grid, names)| scenario(names, grid));
}

/// Hosts are groups of ranks if the environment says so, and every rank refuses a value that is no number.
#[test]
fn hosts_are_groups_of_ranks() {
    let groups = |grid: &str, per_host: &str| {
        let exe = std::env::current_exe().expect("a path");
        let words = ["--exact", "comm::rank", "--nocapture", "--test-threads=1"].map(OsStr::new);
        let program: Vec<&OsStr> = [exe.as_os_str()].into_iter().chain(words).collect();
        let env = [("PLAQ_TEST_SCENARIO", "hosts"), ("PLAQ_TEST_PER_HOST", per_host)];
        job(grid, "120", &program, &env);
    };
    groups("1,1,2,2", "2");
    groups("1,1,1,5", "2");
    groups("1,1,1,2", "none");
}

#[test]
fn a_rank_that_fails_releases_the_others() {
    ["1,1,1,2", "2,1,1,2", "1,4,1,1"].iter().for_each(|grid| scenario("fail", grid));
}

#[test]
fn a_rank_that_hangs_or_stops_ends_in_a_time_out() {
    scenario("hang", "1,1,1,2");
    scenario("stop", "1,1,1,4");
}

fn open_mpi() -> bool {
    run(Command::new(variable("MPIRUN", "mpirun")).arg("--version"), "mpirun").contains("Open MPI")
}

/// Runs a scenario in which a rank ends; with `recovers` mpirun lets the others go on. Returns whether the job
/// succeeded, whether rank 0 printed COMM_FAILED, and the output.
fn ends(grid: &str, name: &str, recovers: bool) -> (bool, bool, String) {
    // Options of Open MPI that let the other ranks go on when one dies.
    let lenient = ["OMPI_MCA_orte_abort_on_non_zero_status", "OMPI_MCA_orte_enable_recovery"];
    let mut job = Command::new(root().join("scripts/ranks.sh"));
    job.arg(grid).arg(std::env::current_exe().expect("a path"));
    job.args(["--exact", "comm::rank", "--nocapture", "--test-threads=1"]).current_dir(work());
    job.env("PLAQ_MPI_LIBRARY", mpi_library().expect("there is one"));
    job.env("PLAQ_TEST_SCENARIO", name);
    // Scenarios wait three seconds; a busy machine may need longer to start.
    job.env("PLAQ_TEST_SECONDS", "60").env("PLAQ_COMM_TIMEOUT", "30");
    if recovers {
        job.env(lenient[0], "0").env(lenient[1], "1");
    }
    if grid != "1,1,1,2" {
        job.env("PLAQ_RANKS_PER_HOST", "2").env("PLAQ_TEST_NCCL", work().join("libnccl.so"));
    }
    let out = job.output().expect("a job");
    let said = [out.stdout, out.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let said = said.concat();
    assert!(!said.contains("timed out after 60 s"), "{name} hangs:\n{said}");
    (out.status.success(), said.contains("rank 0: CommFailed"), said)
}

/// If a rank dies between two messages, exchanges on the other ranks end with an error instead of waiting for ever;
/// here with devices that stand in for GPUs, for each way in which messages travel.
#[test]
fn a_rank_that_dies_between_messages_of_devices() {
    if mpi_library().is_none() {
        return;
    }
    let Some(cc) = tool("CC", "cc") else { return };
    let mut words = cc.split(' ');
    let mut cc = Command::new(words.next().expect("a compiler"));
    cc.args(words).args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]);
    cc.arg(root().join("tests/comm/nccl.c")).arg("-o").arg(work().join("libnccl.so"));
    run(cc.arg("-lpthread"), "compiling tests/comm/nccl.c");
    for way in ["staged", "shared", "connected"] {
        let (success, failed, said) = ends("1,1,1,4", way, open_mpi());
        assert!(failed || (!success && !open_mpi()), "{way}: {said}");
    }
}

/// When a rank is killed, or ends by itself in the middle of a solve, mpirun ends the job. If mpirun is told to let
/// the others go on, their solve ends with COMM_FAILED. No rank waits for ever.
#[test]
fn a_rank_that_dies_in_a_solve() {
    if mpi_library().is_none() {
        return;
    }
    for name in ["killed", "exits", "leaves"] {
        let (success, failed, said) = ends("1,1,1,2", name, false);
        assert!(failed || !success, "{name}: {said}");
        println!("{name}: {}", if failed { "COMM_FAILED" } else { "mpirun ended the job" });
        // For the remaining ranks a rank that leaves looks like one that was killed.
        if open_mpi() && name != "leaves" {
            let (_, failed, said) = ends("1,1,1,2", name, true);
            assert!(failed, "{name}, mpirun lets the others go on: {said}");
        }
    }
}

#[test]
fn thread_levels() {
    for level in ["single", "funneled", "serialized", "multiple"] {
        scenario(level, "1,1,1,2");
    }
}

/// A missing library for MPI gives a status with a message that says what to do.
#[test]
fn a_missing_library_is_a_status() {
    let missing = work().join("nowhere.so");
    let exe = std::env::current_exe().expect("a path");
    let mut alone = Command::new(exe);
    alone.args(["--exact", "comm::rank", "--nocapture"]).env("PLAQ_TEST_SCENARIO", "missing");
    run(alone.env("PLAQ_MPI_LIBRARY", missing), "without the library");
}
