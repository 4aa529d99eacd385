//! What users get wrong at the command line of any program, in C and in Fortran, and the words that they read then.

use std::path::Path;
use std::process::{Command, Output};

use super::common::Folder;
use super::programs::{all, NAMES};
use super::signals::INPUT;

const SMALL: &str = "tests/data/quenched-b6.0-4x4x4x8.ildg";

fn run(program: &Path, arguments: &[&str]) -> Output {
    let device = std::env::var("PLAQ_TEST_DEVICE").unwrap_or("auto".into());
    Command::new(program).args(["--device", &device]).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A job of each program that stops at its configuration, which is absent.
fn jobs(input: &str) -> [(&'static str, Vec<&str>); NAMES.len()] {
    [
        ("plaquette", vec!["absent"]),
        ("heatbath", vec!["--start", "absent", "--beta", "6"]),
        ("gaugefix", vec!["--gauge", "absent"]),
        ("gluon", vec!["--gauge", "absent", "--fix", "yes"]),
        ("flow", vec!["--gauge", "absent"]),
        ("propagator", vec!["--gauge", "absent", "--kappa", "0.1"]),
        ("hmc", vec!["--input", input, "--start", "absent"]),
        ("overlap", vec!["--gauge", "absent", "--task", "propagator"]),
    ]
}

/// As one of several processes a program for one rank says so and stops.
#[test]
fn programs_for_one_rank_notice_mpirun() {
    let folder = Folder::new("one-of-several");
    let input = folder.0.join("input.toml").display().to_string();
    std::fs::write(&input, INPUT).unwrap();
    for (name, arguments) in jobs(&input) {
        for program in all(name) {
            for variable in
                ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"]
            {
                for (ranks, status) in [("2", 2), ("1", 1)] {
                    let mut job = Command::new(program);
                    let out = job.args(&arguments).env(variable, ranks).output().unwrap();
                    let told = text(&out.stderr);
                    assert_eq!(out.status.code(), Some(status), "{program:?} {variable}: {told}");
                    let all = [variable, "_mpi", "built for one rank"].map(|w| told.contains(w));
                    assert_eq!(all, [status == 2; 3], "{program:?}: {told}");
                }
            }
        }
    }
}

/// The sources in C and in Fortran; the kit has none.
fn sources(name: &str) -> [&'static str; 2] {
    macro_rules! sources {
        ($($name:literal),*) => {
            [$(($name, [
                include_str!(concat!("../../examples-c/", $name, ".c")),
                include_str!(concat!("../../examples-c/", $name, ".f90")),
            ])),*]
        };
    }
    let sources = sources!(
        "plaquette",
        "heatbath",
        "gaugefix",
        "gluon",
        "flow",
        "propagator",
        "hmc",
        "overlap"
    );
    sources.iter().find(|(n, _)| *n == name).expect("a source").1
}

/// The list between quotation marks that a C source calls OPTIONS.
fn options_of(name: &str) -> Vec<String> {
    let list = sources(name)[0].split_once("OPTIONS[] =").expect("a list of options").1;
    let list = list.split_once(';').expect("its end").0;
    list.split(['"', ' ', '\n']).filter(|w| w.starts_with("--")).map(String::from).collect()
}

/// --help has a meaning for every option, and an example; Fortran's is C's.
#[test]
fn help_says_what_every_option_means() {
    for name in NAMES {
        let options = options_of(name);
        assert!(options.len() > 2, "{name}: {options:?}");
        let help = |program| {
            let help = text(&Command::new(program).arg("--help").output().unwrap().stdout);
            for option in &options {
                let meant = |line: &str| {
                    let words: Vec<&str> = line.split([' ', ',', ':']).collect();
                    let at = words.iter().position(|w| w == option);
                    line.starts_with("  ") && at.is_some_and(|k| words.len() > k + 2)
                };
                assert!(help.lines().any(meant), "{program:?} {option}: {help}");
            }
            let example = help.lines().filter(|l| l.starts_with("example: ")).count();
            assert!(example == 1 && help.starts_with("usage: "), "{program:?}: {help}");
            help.replace(&format!("{name}_f"), name)
        };
        let all: Vec<String> = all(name).iter().map(help).collect();
        assert!(all.iter().all(|h| *h == all[0]), "{all:?}");
    }
}

/// A value that an option does not take: what it takes, and which one may be meant.
#[test]
fn values_are_refused_with_what_is_expected() {
    let jobs = jobs("absent");
    for (name, option, value, message) in [
        ("gaugefix", "--method", "anealing", "did you mean annealing?"),
        ("gaugefix", "--precision", "sngle", "expected one of single, mixed, double"),
        ("propagator", "--solver", "bicgstap", "did you mean bicgstab?"),
        (
            "propagator",
            "--source",
            "ball,3",
            "did you mean wall? expected one of point, wall, volume",
        ),
        ("propagator", "--source", "xyz", "--source: xyz; expected one of point, wall, volume"),
        ("propagator", "--baryons", "nuclon", "did you mean nucleon?"),
        ("plaquette", "--device", "cudaa", "did you mean cuda?"),
        ("overlap", "--source", "pont,1", "did you mean point?"),
        ("propagator", "--source", "point,1,2", "--source point: 1,2; expected 4 whole numbers"),
        ("propagator", "--gauge", "a:b:a", "--gauge: a; expected each configuration once"),
        ("propagator", "--momenta", "1,0", "expected 3 whole numbers with commas between"),
        ("propagator", "--source-smear", "0.3", "expected a weight and a number of steps"),
        ("gluon", "--stop-theta", "small", "--stop-theta: small; expected a number"),
        ("gluon", "--stop-theta", "-1", "--stop-theta: expected 0 or more"),
        ("gaugefix", "--stop-theta", "-1", "--stop-theta: expected 0 or more"),
        ("heatbath", "--overrelax", "-1", "--overrelax: -1; expected a whole number, not negative"),
        ("propagator", "--threads", "-4", "--threads: -4; expected a whole number, not negative"),
        ("propagator", "--rhs", "4294967297", "--rhs: 4294967297; expected at most 2147483647"),
        ("flow", "--every", "4294967297", "--every: 4294967297; expected at most 2147483647"),
        ("overlap", "--low", "4294967304", "--low: 4294967304; expected at most 2147483647"),
        ("flow", "--time", "-1", "--time: expected 0 to 1e9 steps"),
        ("flow", "--plot", "flow.png", "--plot: flow.png; expected a name that ends in .svg"),
    ] {
        let (_, job) = jobs.iter().find(|(n, _)| *n == name).expect("a job");
        let job: Vec<&str> = job.chunks(2).filter(|p| p[0] != option).flatten().copied().collect();
        for program in all(name) {
            let out = Command::new(program).args([option, value]).args(&job).output().unwrap();
            let told = text(&out.stderr);
            assert_eq!(out.status.code(), Some(2), "{program:?} {option} {value}: {told}");
            assert!(told.contains(message), "{program:?} {option} {value}: {told}");
        }
    }
}

/// Options without those that they need, or beside those that leave them nothing to do.
#[test]
fn options_without_effect_are_refused() {
    let jobs = jobs("absent");
    for (name, more, message) in [
        ("propagator", "--seed 3", "--seed: only with --noise z2 or z4"),
        ("propagator", "--seed=3 --noise none", "--seed: only"),
        ("propagator", "--seed 3 --noise z4", ""),
        ("propagator", "--mg-post 3", "--mg-post: only with --solver mg or --error"),
        ("propagator", "--mg-post 3 --error 0", "--mg-post: only"),
        ("propagator", "--mg-post 3 --error 1e-12", ""),
        ("propagator", "--tol 1e-8 --load x", "--tol: not with --load"),
        ("propagator", "--continue no", ""),
        ("gaugefix", "--omega 1.5", ""),
        (
            "gaugefix",
            "--omega 1.5 --method stochastic",
            "--omega: only with --method overrelaxation",
        ),
        ("gaugefix", "--time 1", "--time: only with --condition coulomb"),
        ("gluon", "--seed 4", "--seed: only with --copies"),
        ("heatbath", "--overwrite yes", "--overwrite: only with --out or --plot or --json"),
        ("overlap", "--wilson-mass 0.1", "--wilson-mass: only with --preconditioner"),
        ("overlap", "--preconditioner wilson", ""),
        ("overlap", "--preconditioner wilson --solver cg", "only with --solver auto or gcr"),
    ] {
        let (_, job) = jobs.iter().find(|(n, _)| *n == name).expect("a job");
        for program in all(name) {
            let out = Command::new(program).args(job).args(more.split(' ')).output().unwrap();
            let told = text(&out.stderr);
            let status = if message.is_empty() { 1 } else { 2 };
            assert_eq!(out.status.code(), Some(status), "{program:?} {more}: {told}");
            assert!(told.contains(message), "{program:?} {more}: {told}");
        }
    }
}

/// The rows of what options need are the same in C and in Fortran, and name options that there are.
#[test]
fn needs_name_options() {
    let mut count = 0;
    for name in NAMES {
        let rows = |source: &'static str, quote: char| -> Vec<&str> {
            let words = source.split(quote).skip(1).step_by(2);
            words.filter(|w| w.starts_with("--") && w.contains(": ")).collect()
        };
        let [c, fortran] = sources(name);
        let table = |source: &'static str, begin, end| {
            source.split_once(begin).map_or("", |(_, rest)| rest.split_once(end).unwrap().0)
        };
        let c = rows(table(c, "NEEDS[] =", ';'), '"');
        assert_eq!(c, rows(table(fortran, ":: needs(", ']'), '\''), "{name}");
        let options = options_of(name);
        for word in c.iter().flat_map(|row| row.split([' ', ':', '='])) {
            let known = match word.trim_start_matches('!').split_once('*') {
                Some((begin, _)) => options.iter().any(|o| o.starts_with(begin)),
                None => options.iter().any(|o| o == word.trim_start_matches('!')),
            };
            assert!(known || !word.contains("--"), "{name}: {word}");
        }
        count += c.len();
    }
    assert!(count > 20);
}

/// A key of [run] that hmc does not have.
#[test]
fn keys_of_a_run_are_checked() {
    let folder = Folder::new("keys");
    let input = folder.0.join("input.toml").display().to_string();
    std::fs::write(&input, INPUT.replace("start =", "begin =")).unwrap();
    for program in all("hmc") {
        let out = run(program, &["--input", &input]);
        let told = text(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{program:?}: {told}");
        assert!(told.contains("run.begin: expected one of lattice, start"), "{program:?}: {told}");
    }
}

/// In a file progress is whole lines, without what moves a terminal's cursor.
#[test]
fn progress_in_a_file_is_lines() {
    let solve = ["--kappa", "0.12", "--tol", "1e-12"];
    for (name, arguments) in [
        ("heatbath", "--lattice 4,4,4,4 --beta 6.0 --thermalise 30".split(' ').collect::<Vec<_>>()),
        ("flow", vec!["--gauge", SMALL, "--time", "0.2"]),
        ("gaugefix", vec!["--gauge", SMALL]),
        ("propagator", [&["--gauge", SMALL][..], &solve].concat()),
    ] {
        for program in all(name) {
            let out = run(program, &arguments);
            let told = text(&out.stderr);
            assert!(out.status.success(), "{program:?}: {told}");
            assert!(!told.contains(['\r', '\x1b']), "{program:?}: {told:?}");
            assert!(told.is_empty() || told.ends_with('\n'), "{program:?}: {told:?}");
            let last = ["sweep 30 of 30", "t 0.2000, ", "gaugefix on ", " iterations, residual "];
            assert!(last.iter().any(|l| told.contains(l)), "{program:?}: {told:?}");
        }
    }
}

/// The files after one that cannot be read are read all the same.
#[test]
fn plaquette_goes_on_after_a_bad_file() {
    let folder = Folder::new("bad-file");
    let bad = folder.0.join("bad.ildg").display().to_string();
    let whole = std::fs::read(SMALL).unwrap();
    std::fs::write(&bad, &whole[..whole.len() / 2]).unwrap();
    for program in all("plaquette") {
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
    let nowhere = folder.0.join("no-folder/result.svg").display().to_string();
    let gauge = ["--gauge", "absent"];
    let kappa = ["--gauge", "absent", "--kappa", "0.1"];
    let mg = [&kappa[..], &["--solver", "mg"]].concat();
    let heatbath = ["--start", "absent", "--beta", "6"];
    let cases: [(&str, &[&str], &[&str]); 7] = [
        ("gluon", &gauge, &["--json", "--plot"]),
        ("gaugefix", &gauge, &["--json", "--plot", "--history", "--out", "--transformation"]),
        ("propagator", &kappa, &["--json", "--plot", "--save"]),
        ("propagator", &mg, &["--save-multigrid"]),
        ("overlap", &gauge, &["--json", "--save-modes"]),
        ("heatbath", &heatbath, &["--json", "--plot"]),
        ("flow", &gauge, &["--plot"]),
    ];
    for (name, needed, outputs) in cases {
        for program in all(name) {
            for output in outputs {
                // What is there stays until there is something better.
                let kept = folder.0.join("kept.svg").display().to_string();
                std::fs::write(&kept, "of another run").unwrap();
                let overwrite: &[&str] =
                    if name == "heatbath" { &["--overwrite", "yes"] } else { &[] };
                let out = run(program, &[needed, &[*output, &kept], overwrite].concat());
                assert_eq!(out.status.code(), Some(1), "{program:?} {output}");
                assert_eq!(
                    std::fs::read_to_string(&kept).unwrap(),
                    "of another run",
                    "{program:?}"
                );
                let left = std::fs::read_dir(&folder.0).unwrap().count();
                assert_eq!(left, 1, "{program:?} {output} leaves a part");
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
    for name in NAMES {
        for program in all(name) {
            for (arguments, message) in [
                (&["--devise", "cpu"][..], "did you mean --device?"),
                (&["--threads", "1", "--threads=2"], "an option is given twice: --threads"),
                (&["--threads"], "an option needs a value: --threads"),
                (&["cpu"], "unknown option: cpu"),
                (&[], "missing"),
            ] {
                // What is no option is a file to plaquette.
                if name == "plaquette" && arguments == ["cpu"] {
                    continue;
                }
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
