//! What users get wrong at the command line of any program, in C and in Fortran, and the words that they read then.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use super::common::Folder;
use super::programs;
use super::signals::found;

const SMALL: &str = "tests/data/quenched-b6.0-4x4x4x8.ildg";

fn run(program: &Path, arguments: &[&str]) -> Output {
    let device = std::env::var("PLAQ_TEST_DEVICE").unwrap_or("auto".into());
    Command::new(program).args(["--device", &device]).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The files after one that cannot be read are read all the same.
#[test]
fn plaquette_goes_on_after_a_bad_file() {
    static ALL: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let folder = Folder::new("bad-file");
    let bad = folder.0.join("bad.ildg").display().to_string();
    let whole = std::fs::read(SMALL).unwrap();
    std::fs::write(&bad, &whole[..whole.len() / 2]).unwrap();
    for program in ALL.get_or_init(|| programs::find("plaquette")) {
        let out = run(program, &[SMALL, &bad, "absent", SMALL]);
        let (said, told) = (text(&out.stdout), text(&out.stderr));
        assert_eq!(out.status.code(), Some(1), "{said}{told}");
        assert_eq!(said.matches("plaquette           0.5904").count(), 2, "{said}");
        assert!(told.contains("bad.ildg") && told.contains("absent"), "{told}");
        assert!(!told.contains("PANIC") && told.lines().count() == 2, "{told}");
    }
}

/// Before their work programs see that they may write where they shall.
#[test]
fn outputs_are_tried_before_the_work() {
    let folder = Folder::new("outputs");
    let nowhere = folder.0.join("no-folder/result").display().to_string();
    let gauge = ["--gauge", "absent"];
    let kappa = ["--gauge", "absent", "--kappa", "0.1"];
    let cases: [(&str, &[&str], &[&str]); 4] = [
        ("gluon", &gauge, &["--json", "--plot"]),
        ("gaugefix", &gauge, &["--json", "--plot", "--history", "--out", "--transformation"]),
        ("propagator", &kappa, &["--json", "--plot"]),
        ("flow", &gauge, &["--plot"]),
    ];
    for (name, needed, outputs) in cases {
        for program in found(name) {
            for output in outputs {
                // The input is absent too: the output is looked at first.
                let out = run(program, &[needed, &[*output, &nowhere][..]].concat());
                let told = text(&out.stderr);
                assert_eq!(out.status.code(), Some(1), "{program:?} {output}: {told}");
                assert!(told.contains("no-folder/result"), "{program:?} {output}: {told}");
                assert!(!told.contains("absent"), "{program:?} {output}: {told}");
            }
        }
    }
}

/// Options that do not exist, come twice or lack a value; help and version.
#[test]
fn options_are_checked_by_every_program() {
    for name in ["gluon", "gaugefix", "propagator", "flow", "hmc", "heatbath"] {
        for program in found(name) {
            for (arguments, message) in [
                (&["--devise", "cpu"][..], "did you mean --device?"),
                (&["--threads", "1", "--threads=2"], "an option is given twice: --threads"),
                (&["--threads"], "an option needs a value: --threads"),
                (&["cpu"], "unknown option: cpu"),
                (&[], "missing"),
            ] {
                let out = Command::new(program).args(arguments).output().unwrap();
                let told = text(&out.stderr);
                assert_eq!(out.status.code(), Some(2), "{program:?} {arguments:?}: {told}");
                assert!(told.contains(message), "{program:?} {arguments:?}: {told}");
                assert!(told.contains("--help lists the options"), "{told}");
            }
            for (option, word) in
                [("--help", "usage: "), ("-h", "usage: "), ("--version", "plaq 0.")]
            {
                let out = Command::new(program).arg(option).output().unwrap();
                assert!(out.status.success() && text(&out.stdout).starts_with(word), "{program:?}");
            }
        }
    }
}
