//! Memory of the host that is short: a solve is refused before work begins, or runs with fewer columns at a time.

use std::process::{Command, Output};

use super::common::Folder;
use super::programs::{plaq, run};

/// A subcommand of the program.
fn job(name: &str, arguments: &str) -> Command {
    let mut command = Command::new(plaq());
    command.arg(name).args(arguments.split(' '));
    command
}

/// Runs a job that may map this many MiB. Its threads share one heap: when they reserve address space for further ones
/// is up to chance.
fn limited(job: &Command, mib: usize) -> Output {
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -c 0; ulimit -v {}; exec \"$0\" \"$@\"", mib << 10)]);
    limited.arg(job.get_program()).args(job.get_args()).env("MALLOC_ARENA_MAX", "1");
    limited.current_dir(env!("SOURCE_TREE")).output().unwrap()
}

/// The least limit in MiB, to 4, with which a job runs to its end.
fn least_limit(job: &Command) -> usize {
    let ends = |mib: usize| limited(job, mib).status.success();
    let mut enough = 64;
    while !ends(enough) {
        enough *= 2;
        assert!(enough <= 1 << 15, "{job:?} does not run in {enough} MiB");
    }
    let mut short = 0;
    while enough - short > 4 {
        let middle = (short + enough) / 2;
        *(if ends(middle) { &mut enough } else { &mut short }) = middle;
    }
    enough
}

#[test]
fn short_memory_is_noticed_before_work() {
    let folder = Folder::new("short-memory");
    let propagator = |extents: &str| {
        let out = folder.0.join(extents).display().to_string();
        let start = format!("--lattice {extents} --beta 6 --start cold --thermalise 1");
        run(job("heatbath", &start).args(["--device", "cpu", "--out", &out, "--format", "nersc"]));
        let asked = "--kappa 0.1 --tol 1e-2 --baryons none --device cpu --threads 2";
        let mut job = job("propagator", asked);
        job.args(["--gauge", &format!("{out}.00001")]);
        job
    };
    // What the program, its libraries and its threads map on this machine; the lattice adds little.
    let base = least_limit(&propagator("4,4,4,8"));
    let propagator = propagator("12,12,12,24");
    let (mut refused, mut fewer) = (0, 0);
    // Up to the limit with which all columns are solved for together.
    for more in (40..).step_by(20) {
        assert!(
            more < 4000,
            "{base} MiB and {more} more: {refused} refused, {fewer} with fewer columns"
        );
        let out = limited(&propagator, base + more);
        let [shown, told] =
            [&out.stdout, &out.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
        if out.status.success() {
            if !shown.contains(" at a time") {
                break;
            }
            fewer += 1;
            continue;
        }
        // The links may not fit either.
        assert!(
            !told.contains("this solve") && !told.contains("refused"),
            "{base} + {more} MiB: {told}"
        );
        refused +=
            usize::from(told.contains("this propagator needs") && told.contains("are available"));
    }
    assert!(refused > 1 && fewer > 1, "{refused} refused, {fewer} with fewer columns");
}
