//! Memory of the host that is short: a solve is refused before work begins, or runs with fewer columns at a time.

use std::process::Command;

use super::common::Folder;
use super::programs::{plaq, run};

/// A subcommand of the program.
fn job(name: &str, arguments: &str) -> Command {
    let mut command = Command::new(plaq());
    command.arg(name).args(arguments.split(' '));
    command
}

#[test]
fn short_memory_is_noticed_before_work() {
    let folder = Folder::new("short-memory");
    let out = folder.0.join("links").display().to_string();
    let lattice = "--lattice 12,12,12,24 --beta 6 --start cold --thermalise 1 --device cpu";
    run(job("heatbath", lattice).args(["--out", &out, "--format", "nersc"]));
    let mut propagator =
        job("propagator", "--kappa 0.1 --tol 1e-2 --baryons none --device cpu --threads 2");
    propagator.args(["--gauge", &format!("{out}.00001")]);
    let (mut solved, mut refused, mut fewer) = (0, 0, 0);
    for kib in [225, 262, 287, 300, 325, 350, 400, 525].map(|thousand| thousand * 1000) {
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit -v {kib}; exec \"$0\" \"$@\"")]);
        limited.arg(propagator.get_program()).args(propagator.get_args());
        let out = limited.current_dir(env!("SOURCE_TREE")).output().unwrap();
        let [shown, told] =
            [&out.stdout, &out.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
        if out.status.success() {
            solved += 1;
            fewer += usize::from(shown.contains(" at a time"));
            continue;
        }
        // With very little memory the program, its library or the links may not fit either.
        assert!(!told.contains("this solve") && !told.contains("refused"), "{kib} KiB: {told}");
        refused +=
            usize::from(told.contains("this propagator needs") && told.contains("are available"));
    }
    assert!(solved > 2 && refused > 1 && fewer > 0, "{solved} {refused} {fewer}");
}
