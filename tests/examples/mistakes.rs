//! Mistakes of users at the command line of each subcommand, and the messages that they get.

use std::process::{Command, Output, Stdio};

use super::common::Folder;
use super::programs::{all, plaq, Program, NAMES};
use super::signals::INPUT;

const SMALL: &str = "tests/data/quenched-b6.0-4x4x4x8.ildg";

fn run(program: &Program, arguments: &[&str]) -> Output {
    let device = std::env::var("PLAQ_TEST_DEVICE").unwrap_or("auto".into());
    program.command().args(["--device", &device]).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// For each program a job that ends at its configuration, which does not exist.
fn jobs(input: &str) -> [(&'static str, Vec<&str>); NAMES.len()] {
    [
        ("plaquette", vec!["absent"]),
        ("heatbath", vec!["--start", "absent", "--beta", "6"]),
        ("gaugefix", vec!["--gauge", "absent"]),
        ("gluon", vec!["--gauge", "absent", "--fix", "yes"]),
        ("flow", vec!["--gauge", "absent"]),
        ("propagator", vec!["--gauge", "absent", "--kappa", "0.1"]),
        ("distillation", vec!["--gauge", "absent", "--out", "distilled.h5"]),
        ("loops", vec!["--gauge", "absent", "--kappa", "0.1", "--vectors", "1"]),
        ("reweight", vec!["absent", "--kappa", "0.1", "--mu", "0.1"]),
        ("schroedinger", vec!["absent", "--kappa", "0.1"]),
        ("hmc", vec!["--input", input, "--start", "absent"]),
        ("overlap", vec!["--gauge", "absent", "--task", "propagator"]),
        ("convert", vec!["absent", "--out", "converted"]),
    ]
}

/// A run that a launcher started as one of several, without its MPI library, says so and stops.
#[test]
fn runs_notice_mpirun() {
    let folder = Folder::new("one-of-several");
    let input = folder.0.join("input.toml").display().to_string();
    std::fs::write(&input, INPUT).unwrap();
    for (name, arguments) in jobs(&input) {
        for program in all(name) {
            for variable in
                ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"]
            {
                for (ranks, status) in [("2", 2), ("1", 1)] {
                    let mut job = program.command();
                    job.env("PLAQ_MPI_LIBRARY", folder.0.join("libplaq_mpi.so"));
                    let out = job.args(&arguments).env(variable, ranks).output().unwrap();
                    let told = text(&out.stderr);
                    assert_eq!(out.status.code(), Some(status), "{program:?} {variable}: {told}");
                    let all = [variable, "one of 2 processes", "libplaq_mpi.so"];
                    assert_eq!(
                        all.map(|w| told.contains(w)),
                        [status == 2; 3],
                        "{program:?}: {told}"
                    );
                }
            }
            // The environment says that a launcher started this process, but not how many there are.
            let mut job = program.command();
            job.env("PLAQ_MPI_LIBRARY", folder.0.join("libplaq_mpi.so")).env("PMIX_RANK", "0");
            let out = job.args(&arguments).output().unwrap();
            assert_eq!(out.status.code(), Some(2), "{program:?}: {}", text(&out.stderr));
        }
    }
}

/// --help has a sentence for every option, and an example.
#[test]
fn help_says_what_every_option_means() {
    for name in NAMES {
        for program in all(name) {
            let help = text(&program.command().arg("--help").output().unwrap().stdout);
            let lines: Vec<&str> = help.lines().collect();
            let mut options = 0;
            for (k, line) in lines.iter().enumerate().filter(|(_, l)| l.starts_with("  --")) {
                if line.contains("--help") {
                    continue;
                }
                options += 1;
                let more = lines[k + 1..].iter().take_while(|l| l.starts_with("   "));
                let words = line.split_whitespace().count()
                    + more.map(|l| l.split_whitespace().count()).sum::<usize>();
                assert!(words > 4, "{line}: {help}");
            }
            let example = help.lines().filter(|l| l.starts_with("example: plaq ")).count();
            assert!(options > 5 && example == 1 && help.starts_with("usage: plaq "), "{help}");
        }
    }
}

/// A call of the program without a subcommand, or with an unknown one, is refused.
#[test]
fn subcommands_are_checked() {
    let run = |arguments: &[&str]| Command::new(plaq()).args(arguments).output().unwrap();
    let out = run(&["--help"]);
    assert!(out.status.success(), "{out:?}");
    assert!(NAMES.iter().all(|n| text(&out.stdout).contains(&format!("  {n} "))), "{out:?}");
    assert!(text(&run(&["--version"]).stdout).starts_with("plaq 0."));
    for (arguments, message) in
        [(&["propagater"][..], "did you mean propagator?"), (&[], "a subcommand is missing")]
    {
        let out = run(arguments);
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains(message), "{}", text(&out.stderr));
    }
}

/// A write to full standard output ends the program with a status.
#[test]
fn a_full_disk_is_noticed() {
    for (name, arguments) in [
        ("plaquette", &[SMALL][..]),
        ("gluon", &[SMALL, "--fix", "as-is"]),
        ("heatbath", &["--help"]),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let out = all(name)[0].command().args(arguments).stdout(full).output().unwrap();
        let told = text(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{name}: {told}");
        assert!(told.contains("standard output: "), "{name}: {told}");
    }
    let out = all("plaquette")[0].command().args([SMALL, "--json", "/dev/full"]).output().unwrap();
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
}

/// Results are written to files although the reader of the standard output has ended, as that of `| head` does.
#[test]
fn files_need_no_reader_of_standard_output() {
    let folder = Folder::new("unread");
    let quark = ["--kappa", "0.12", "--tol", "1e-4"];
    let noise = ["--kappa", "0.12", "--vectors", "1"];
    for (name, options) in [("plaquette", &[][..]), ("propagator", &quark), ("loops", &noise)] {
        let json = folder.0.join(format!("{name}.json"));
        let mut command = all(name)[0].command();
        command.args([SMALL, "--json", json.to_str().unwrap()]).args(options);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let out = child.wait_with_output().unwrap();
        let told = text(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{name}: {told}");
        assert!(told.contains("standard output: "), "{name}: {told}");
        let written = std::fs::read_to_string(&json).unwrap();
        assert!(written.contains(&format!("\"subcommand\": \"{name}\"")), "{name}: {written:.80}");
    }
}

/// A goal that was not reached is named in the table; Gammas are given by name.
#[test]
fn loops_say_what_they_did_not_reach() {
    let run = |gamma: &str| {
        let options = ["--kappa", "0.12", "--vectors", "2", "--error", "1e-3", "--gamma", gamma];
        all("loops")[0].command().arg(SMALL).args(options).output().unwrap()
    };
    let found = text(&run("5T").stdout);
    let end = found.lines().find(|line| line.starts_with("# error ")).unwrap();
    assert!(end.contains("of Gamma 5T") && end.ends_with("NOT REACHED: 0.001"), "{end}");
    for wrong in ["7", "15", "T5"] {
        let told = text(&run(wrong).stderr);
        assert!(told.contains("--gamma: ") && told.contains("expected one of 1, X, Y"), "{told}");
    }
}

/// Closed standard output ends the program with a status before any work; with closed standard error the work is
/// done.
#[test]
fn closed_streams_are_noticed() {
    for (name, arguments) in [("plaquette", &[SMALL][..]), ("heatbath", &["--help"])] {
        let closed = |which: &str| {
            let job = all(name)[0].command();
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("exec \"$0\" \"$@\" {which}")]).arg(job.get_program());
            shell.args(job.get_args()).args(arguments).output().unwrap()
        };
        let out = closed(">&-");
        let told = text(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{name}: {told}");
        assert!(told.contains("standard output: expected one that is open"), "{name}: {told}");
        let out = closed("2>&-");
        assert!(out.status.success() && !out.stdout.is_empty(), "{name}");
    }
}

/// A value that an option does not accept is refused with the accepted ones, and with the one that may be meant.
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
        ("propagator", "--source", "wall", "--source: wall; expected wall,T with the time slice T"),
        ("propagator", "--source", "xyz", "--source: xyz; expected one of point, wall, volume"),
        ("propagator", "--baryons", "nuclon", "did you mean nucleon?"),
        ("plaquette", "--device", "cudaa", "did you mean cuda?"),
        ("propagator", "--algorithm", "cg", "--algorithm: its name is --solver now"),
        ("flow", "--kind", "wilson", "unknown option: --kind: did you mean --flow?"),
        ("overlap", "--source", "pont,1", "did you mean point?"),
        ("propagator", "--source", "point,1,2", "--source point: 1,2; expected 4 whole numbers"),
        ("propagator", "--gauge", "a:b:a", "--gauge: a; expected each configuration once"),
        ("propagator", "--momenta", "1,0", "expected 3 whole numbers with commas between"),
        ("propagator", "--source-smear", "0.3", "expected a weight and a number of steps"),
        ("gaugefix", "--direction", "u", "--direction: u; expected one of x, y, z, t"),
        ("gaugefix", "--time", "2", "--time: its name is --direction now"),
        ("gluon", "--tol", "small", "--tol: small; expected a number"),
        ("gluon", "--tol", "-1", "--tol: expected 0 or more"),
        ("loops", "--hopping", "17", "--hopping"),
        ("loops", "--traces", "all", "--traces: all"),
        ("reweight", "--kind", "mass", "--kind: mass"),
        ("reweight", "--vectors", "0", "--vectors"),
        (
            "schroedinger",
            "--solver",
            "mg",
            "--solver: mg; did you mean cg? expected one of auto, cg",
        ),
        ("schroedinger", "--solver", "multigrid", "bicgstab, gcr, block-gcr, mr"),
        ("loops", "--minus-kappa", "0.1", "--minus-kappa: expected another hopping parameter"),
        ("gaugefix", "--tol", "-1", "--tol: expected 0 or more"),
        (
            "heatbath",
            "--overrelax",
            "-1",
            "--overrelax: expected a whole number, not negative, found -1",
        ),
        ("propagator", "--threads", "-4", "--threads: -4; expected a whole number, not negative"),
        ("propagator", "--columns", "4294967297", "--columns: expected 0 to 12, found 4294967297"),
        ("flow", "--every", "4294967297", "--every: expected at most 2147483647, found 4294967297"),
        ("overlap", "--low", "4294967304", "--low: 4294967304; expected at most 2147483647"),
        ("propagator", "--rhs", "4", "--rhs: its name is --columns now"),
        ("gaugefix", "--stop-theta", "1e-9", "--stop-theta: its name is --tol now"),
        (
            "propagator",
            "--boundary",
            "open",
            "--boundary: expected periodic, antiperiodic, or four",
        ),
        ("flow", "--time", "-1", "--time: expected 0 to 1000000, found -1"),
        ("propagator", "--mg-levels", "7", "--mg-levels: expected 2 to 5, found 7"),
        ("propagator", "--mg-blocks", "2,2,2", "--mg-blocks: expected 4 values, found 3"),
        (
            "propagator",
            "--mg-gather",
            "-2",
            "--mg-gather: expected a whole number, not negative, or auto, found -2",
        ),
        ("propagator", "--sums", "one", "--sums: one; expected one of separate, fused, auto"),
        ("propagator", "--mg-cycle", "x", "--mg-cycle: x; expected one of v, w, k"),
        (
            "flow",
            "--plot",
            "flow.gif",
            "--plot: flow.gif; expected a name that ends in .svg or .pdf or .png",
        ),
    ] {
        let (_, job) = jobs.iter().find(|(n, _)| *n == name).expect("a job");
        let job: Vec<&str> = job.chunks(2).filter(|p| p[0] != option).flatten().copied().collect();
        for program in all(name) {
            let out = program.command().args([option, value]).args(&job).output().unwrap();
            let told = text(&out.stderr);
            assert_eq!(out.status.code(), Some(2), "{program:?} {option} {value}: {told}");
            assert!(told.contains(message), "{program:?} {option} {value}: {told}");
        }
    }
}

/// Words of starts and directions are taken in capitals, and a direction by its number, too.
#[test]
fn words_are_taken_in_capitals() {
    let folder = Folder::new("capitals");
    let input = folder.0.join("input.toml").display().to_string();
    std::fs::write(&input, INPUT).unwrap();
    let coulomb = ["--gauge", SMALL, "--condition", "Coulomb", "--max-iterations", "3"];
    let heatbath = ["--lattice", "2,2,2,2", "--beta", "6", "--thermalise", "1"];
    let hmc = ["--input", &input, "--trajectories", "1"];
    for (name, job, option, words) in [
        ("heatbath", &heatbath[..], "--start", &["HOT", "Hot", "COLD"][..]),
        ("hmc", &hmc, "--start", &["HOT", "Cold"]),
        ("gaugefix", &coulomb, "--direction", &["X", "t", "2"]),
    ] {
        for word in words {
            for program in all(name) {
                let mut command = program.command();
                let out = command.args(job).args([option, word]);
                let out = out.output().unwrap();
                let told = text(&out.stderr);
                // Gauge fixing does not converge.
                assert!(matches!(out.status.code(), Some(0 | 3)), "{program:?} {word}: {told}");
            }
        }
    }
}

/// Names of files in other encodings than UTF-8, also in a list, are refused by what they are.
#[test]
fn names_that_are_no_utf_8_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new("latin-1");
    let name = OsStr::from_bytes(b"caf\xe9");
    let list = folder.0.join("list");
    std::fs::write(&list, b"# configurations\ncaf\xe9\n").unwrap();
    for program in all("plaquette") {
        let out = program.command().arg(name).output().unwrap();
        let told = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{told}");
        assert!(told.contains("\"caf\\xE9\": expected a name in UTF-8"), "{told}");
        let out = program.command().arg(format!("@{}", list.display())).output().unwrap();
        let told = text(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{told}");
        assert!(
            told.contains("list: line 2: expected text in UTF-8, found the byte 0xe9"),
            "{told}"
        );
    }
}

/// Configurations of another lattice or with other boundaries in time are refused beside the first one before any work:
/// both files are named.
#[test]
fn configurations_of_one_run_are_of_one_kind() {
    let folder = Folder::new("of-one-run");
    let large = "tests/data/quenched-b6.0-8x8x8x8.nersc";
    let open = folder.0.join("open.openqcd");
    // The file's links with those of the last slice in time set to zero. The plaquette of the header need not match,
    // since these files are refused before links are read.
    let mut bytes = std::fs::read("tests/data/openqcd-b6.0-4x4x4x8.openqcd").unwrap();
    let closed = folder.0.join("closed.openqcd");
    std::fs::write(&closed, &bytes).unwrap();
    open_last_slice(&mut bytes);
    std::fs::write(&open, &bytes).unwrap();
    let [open, closed] = [open, closed].map(|path| path.display().to_string());
    for (name, more) in [
        ("flow", "--time 0.01"),
        ("loops", "--kappa 0.1 --vectors 1"),
        ("reweight", "--kappa 0.1 --mu 0.1 --vectors 1"),
    ] {
        for program in all(name) {
            let jobs: [(&str, &str, [&str; 2]); 2] = [
                (SMALL, large, ["the lattice of", "8 x 8 x 8 x 8"]),
                (&closed, &open, ["periodic in time", "open boundaries in time"]),
            ];
            for (first, second, words) in jobs {
                let arguments =
                    [&[first, second], &more.split(' ').collect::<Vec<_>>()[..]].concat();
                let out = run(program, &arguments);
                let told = text(&out.stderr);
                assert_eq!(out.status.code(), Some(1), "{program:?}: {told}");
                for word in [first, second].into_iter().chain(words) {
                    assert!(told.contains(word), "{program:?}: no {word} in {told}");
                }
                assert!(!text(&out.stdout).contains("t^2 E"), "{program:?} has worked before");
            }
        }
    }
}

/// Sets the temporal links of the last slice of an openQCD file of 4 x 4 x 4 x 8 sites to zero: after the header of
/// four extents and the plaquette each odd site has eight links, forward and back in t, x, y, z, of 18 doubles.
fn open_last_slice(bytes: &mut [u8]) {
    let [t, x, y, z] = [8, 4, 4, 4];
    let (header, link) = (16 + 8, 18 * 8);
    let mut site = 0;
    for at in 0..t * x * y * z {
        let c = [at / (x * y * z), at / (y * z) % x, at / z % y, at % z];
        if c.iter().sum::<usize>() % 2 == 0 {
            continue;
        }
        let start = header + site * 8 * link;
        // The temporal link from the last slice is stored at this site, or at its neighbour behind.
        if c[0] == t - 1 {
            bytes[start..start + link].fill(0);
        }
        if c[0] == 0 {
            bytes[start + link..start + 2 * link].fill(0);
        }
        site += 1;
    }
}

/// Options without others that they need, and options that others make useless, are refused.
#[test]
fn options_without_effect_are_refused() {
    let jobs = jobs("absent");
    for (name, more, message) in [
        ("propagator", "--seed 3", "--seed: only with --noise z2 or z4"),
        ("propagator", "--seed=3 --noise none", "--seed: only"),
        ("propagator", "--seed 3 --noise z4", ""),
        (
            "propagator",
            "--mg-post 3",
            "--mg-post: only with --solver multigrid or block-multigrid or --error",
        ),
        ("propagator", "--mg-post 3 --error 0", "--mg-post: only"),
        ("propagator", "--mg-post 3 --error 1e-12", ""),
        ("propagator", "--columns 8 --load x", "--columns: not with --load"),
        ("propagator", "--continue no", ""),
        ("gaugefix", "--omega 1.5", ""),
        (
            "gaugefix",
            "--omega 1.5 --method stochastic",
            "--omega: only with --method auto or overrelaxation",
        ),
        ("gaugefix", "--direction 1", "--direction: only with --condition coulomb"),
        ("gluon", "--seed 4", "--seed: only with --copies"),
        ("loops", "--space-levels 2", "--space-levels: only with --space multigrid"),
        ("loops", "--continue yes", "--continue: only with --state"),
        ("loops", "--error 0.1 --mg-post 3", "--mg-post: only with --solver multigrid"),
        ("loops", "--error 0.1 --nkrylov 3", "--nkrylov: only with --solver gcr"),
        ("reweight", "--poles 3", "--poles: only with --kind rational"),
        ("reweight", "--shifts 2", "--shifts: only with --kind rational"),
        ("heatbath", "--overwrite yes", "--overwrite: only with --out or --plot or --json"),
        ("overlap", "--wilson-mass 0.1", "--wilson-mass: only with --preconditioner"),
        ("overlap", "--preconditioner wilson", ""),
        ("overlap", "--preconditioner wilson --solver cg", "only with --solver auto or gcr"),
    ] {
        let (_, job) = jobs.iter().find(|(n, _)| *n == name).expect("a job");
        for program in all(name) {
            let out = program.command().args(job).args(more.split(' ')).output().unwrap();
            let told = text(&out.stderr);
            let status = if message.is_empty() { 1 } else { 2 };
            assert_eq!(out.status.code(), Some(status), "{program:?} {more}: {told}");
            assert!(told.contains(message), "{program:?} {more}: {told}");
        }
    }
}

/// An unknown key of [run] in hmc's input is refused.
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

/// Progress that goes to a file is whole lines, without control sequences of a terminal.
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

/// Files after an unreadable one are still read.
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

/// A later file of a list that is absent, or none of a configuration, is noticed before the first is worked on.
#[test]
fn all_files_are_tried_before_the_work() {
    let quark = ["--kappa", "0.1"];
    for (name, more) in [
        ("flow", vec![]),
        ("propagator", quark.to_vec()),
        ("loops", [&quark[..], &["--vectors", "1"]].concat()),
        ("reweight", [&quark[..], &["--mu", "0.1"]].concat()),
        ("schroedinger", quark.to_vec()),
    ] {
        for (last, message) in [("absent", "absent: No such file"), ("Cargo.toml", "Cargo.toml: ")]
        {
            for program in all(name) {
                let arguments = [&[SMALL, last][..], &more].concat();
                let out = run(program, &arguments);
                let (said, told) = (text(&out.stdout), text(&out.stderr));
                assert_eq!(out.status.code(), Some(1), "{program:?} {last}: {said}{told}");
                assert!(told.contains(message), "{program:?}: {told}");
                assert!(!said.contains("quenched"), "{program:?} {last}: {said}");
                assert!(!told.contains("iteration"), "{program:?} {last}: {told}");
            }
        }
    }
}

/// Programs check before their work that they may write their output files.
#[test]
fn outputs_are_tried_before_the_work() {
    let folder = Folder::new("outputs");
    let nowhere = folder.0.join("no-folder/result.svg").display().to_string();
    let gauge = ["--gauge", "absent"];
    let kappa = ["--gauge", "absent", "--kappa", "0.1"];
    let mg = [&kappa[..], &["--solver", "mg"]].concat();
    let heatbath = ["--start", "absent", "--beta", "6"];
    let distilled = folder.0.join("distilled.h5").display().to_string();
    let distillation = ["--gauge", "absent", "--out", &distilled];
    let loops = [&kappa[..], &["--vectors", "1"]].concat();
    let cases: [(&str, &[&str], &[&str]); 9] = [
        ("gluon", &gauge, &["--json", "--plot"]),
        ("gaugefix", &gauge, &["--json", "--plot", "--history", "--out", "--transformation"]),
        ("propagator", &kappa, &["--json", "--plot", "--save"]),
        ("propagator", &mg, &["--save-multigrid"]),
        ("overlap", &gauge, &["--json", "--save-modes"]),
        ("distillation", &distillation, &["--json", "--save-modes"]),
        ("loops", &loops, &["--json", "--state"]),
        ("heatbath", &heatbath, &["--json", "--plot"]),
        ("flow", &gauge, &["--json", "--plot"]),
    ];
    for (name, needed, outputs) in cases {
        for program in all(name) {
            for output in outputs {
                // An existing output file stays until there is a result to replace it.
                let kept = folder.0.join("kept.svg").display().to_string();
                std::fs::write(&kept, "of another run").unwrap();
                let out = run(program, &[needed, &[*output, &kept]].concat());
                let told = text(&out.stderr);
                assert_eq!(out.status.code(), Some(1), "{program:?} {output}");
                assert!(told.contains("kept.svg: exists"), "{program:?} {output}: {told}");
                let overwrite = ["--overwrite", "yes"];
                let out = run(program, &[needed, &[*output, &kept], &overwrite].concat());
                assert_eq!(out.status.code(), Some(1), "{program:?} {output}");
                assert_eq!(
                    std::fs::read_to_string(&kept).unwrap(),
                    "of another run",
                    "{program:?}"
                );
                let left = std::fs::read_dir(&folder.0).unwrap().count();
                assert_eq!(left, 1, "{program:?} {output} leaves a part");
                // The input does not exist either, but the output is checked first.
                let out = run(program, &[needed, &[*output, &nowhere][..]].concat());
                let told = text(&out.stderr);
                assert_eq!(out.status.code(), Some(1), "{program:?} {output}: {told}");
                assert!(told.contains("no-folder/result"), "{program:?} {output}: {told}");
                assert!(!told.contains("absent"), "{program:?} {output}: {told}");
            }
        }
    }
}

/// Options that do not exist, come twice or lack a value are refused; help and version are printed.
#[test]
fn options_are_checked_by_every_program() {
    for name in NAMES {
        for program in all(name) {
            for (arguments, message) in [
                (&["--devise", "cpu"][..], "did you mean --device?"),
                (&["--threads", "1", "--threads=2"], "an option is given twice: --threads"),
                (&["--threads"], "an option needs a value: --threads"),
                (&["--cpu"], "unknown option: --cpu"),
                (&[], "missing"),
            ] {
                let out = program.command().args(arguments).output().unwrap();
                let told = text(&out.stderr);
                assert_eq!(out.status.code(), Some(2), "{program:?} {arguments:?}: {told}");
                assert!(told.contains(message), "{program:?} {arguments:?}: {told}");
                assert!(told.contains("--help lists the options"), "{told}");
            }
            for (option, word) in
                [("--help", "usage: "), ("-h", "usage: "), ("--version", "plaq 0.")]
            {
                let out = program.command().arg(option).output().unwrap();
                assert!(out.status.success() && text(&out.stdout).starts_with(word), "{program:?}");
            }
        }
    }
}

/// Faults of a file that could be read are printed as warnings, unless warnings are turned off.
#[test]
fn the_log_is_told() {
    let folder = Folder::new("log");
    let damaged = folder.0.join("longer.ildg");
    let mut bytes = std::fs::read(SMALL).unwrap();
    bytes.push(b'\n');
    std::fs::write(&damaged, bytes).unwrap();
    let file = damaged.display().to_string();
    let warning = "plaq: warn: ";
    for program in all("plaquette") {
        for (arguments, told) in [(vec![], true), (vec!["--verbosity", "off"], false)] {
            let out = run(program, &[&[file.as_str()], &arguments[..]].concat());
            let text = text(&out.stderr);
            assert!(out.status.success(), "{text}");
            let lines =
                text.lines().filter(|l| l.starts_with(warning) && l.contains("last LIME record"));
            assert_eq!(lines.count(), usize::from(told), "{arguments:?}: {text}");
        }
        let out = run(program, &[SMALL]);
        assert!(!text(&out.stderr).contains(warning), "{}", text(&out.stderr));
        let out = run(program, &[SMALL, "--verbosity", "loud"]);
        assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
    }
}
