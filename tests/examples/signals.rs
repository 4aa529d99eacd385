//! Ctrl-C and SIGTERM end subcommands at their next point to stop, with status 3 and a message; pictures are still
//! drawn.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::common::Folder;
use super::programs::all;

const GAUGE: &str = "tests/data/quenched-b6.0-8x8x8x8.nersc";
pub const INPUT: &str =
    "length = 1.0\nseed = 1\naccept_until = 20\n[run]\nlattice = [4, 4, 4, 4]\nstart = \"hot\"\n\
    [[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"wilson\"\nbeta = 5.7\n\
    [[level]]\nintegrator = \"omelyan2\"\nsteps = 6\nmonomials = [\"gauge\"]\n";

fn device() -> String {
    std::env::var("PLAQ_TEST_DEVICE").unwrap_or("auto".into())
}

/// Whether the process `id` has its own handler for SIGTERM.
fn watches(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|l| l.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|l| u64::from_str_radix(l.trim(), 16).ok());
    caught.is_some_and(|mask| mask >> 14 & 1 == 1)
}

/// Jobs that would run for hours.
fn endless(input: &str) -> [(&'static str, Vec<&str>); 10] {
    let fixing = ["--gauge", GAUGE, "--tol", "1e-300", "--max-iterations", "100000000"];
    [
        ("heatbath", "--lattice 8,8,8,8 --beta 6.0 --thermalise 10000000".split(' ').collect()),
        ("gaugefix", fixing.to_vec()),
        ("gluon", vec!["--gauge", GAUGE, "--fix", "yes", "--copies", "1000000"]),
        ("flow", vec!["--gauge", GAUGE, "--time", "2000", "--step", "0.01"]),
        ("hmc", vec!["--input", input, "--trajectories", "10000000"]),
        ("plaquette", vec![GAUGE; 20_000]),
        ("loops", vec!["--gauge", GAUGE, "--kappa", "0.12", "--error", "1e-9"]),
        (
            "reweight",
            "--kappa 0.12 --mu 0.1 --vectors 1000000 --gauge".split(' ').chain([GAUGE]).collect(),
        ),
        ("overlap", vec!["--gauge", GAUGE, "--task", "index", "--low", "1000"]),
        ("propagator", {
            let solve = ["--kappa", "0.3", "--tol", "1e-15", "--max-iterations", "100000000"];
            [&["--gauge", GAUGE][..], &solve].concat()
        }),
    ]
}

#[test]
fn signals_end_programs_cleanly() {
    let folder = Folder::new("signals");
    let input = folder.0.join("input.toml");
    std::fs::write(&input, INPUT).unwrap();
    let input = input.display().to_string();
    for (name, arguments) in endless(&input) {
        for (program, signal) in all(name).iter().flat_map(|p| [(p, "-TERM"), (p, "-INT")]) {
            let mut job = program.command();
            job.args(["--device", &device()]).args(&arguments);
            let mut job = job.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let start = Instant::now();
            while !watches(job.id()) && start.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(20));
            }
            // The signal is sent twice, as `timeout` does: to the process and to its group.
            let (id, twice) = (job.id().to_string(), "kill $0 $1; kill $0 $1 2> /dev/null; true");
            let alive = job.try_wait().unwrap().is_none();
            Command::new("sh").args(["-c", twice, signal, &id]).status().unwrap();
            let out = job.wait_with_output().unwrap();
            let said = [out.stdout, out.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(alive, "{program:?} ended by itself: {said}");
            assert_eq!(out.status.code(), Some(3), "{program:?}: {said}");
            assert!(said.contains("INTERRUPTED"), "{program:?}: {said}");
        }
    }
}

/// A run of HMC whose time limit is over ends between trajectories, writes a checkpoint and can be resumed.
#[test]
fn a_limit_of_time_ends_trajectories() {
    let folder = Folder::new("time-limit");
    for program in all("hmc") {
        let name = program.name;
        let input = folder.0.join(format!("{name}.toml"));
        let checkpoint = folder.0.join(name);
        let place = format!("[run]\ncheckpoint = \"{}\"\n", checkpoint.display());
        std::fs::write(&input, INPUT.replace("[run]\n", &place)).unwrap();
        let run = |arguments: &[&str]| {
            let mut job = program.command();
            job.arg("--input").arg(&input).args(["--device", &device()]).args(arguments);
            let out = job.output().unwrap();
            let said = String::from_utf8_lossy(&out.stdout).into_owned();
            assert!(out.status.success(), "{said} {}", String::from_utf8_lossy(&out.stderr));
            said
        };
        let limited = run(&["--trajectories", "100000000", "--seconds", "2"]);
        let place =
            limited.lines().find_map(|l| l.strip_prefix("# the time is over after trajectory "));
        let last: u64 = place.unwrap_or_else(|| panic!("{limited}")).trim().parse().unwrap();
        let more = run(&["--trajectories", "1", "--start", "checkpoint"]);
        assert!(more.contains(&format!("trajectories from {} on", last + 1)), "{more}");
    }
}

#[test]
fn pictures_are_drawn() {
    let folder = Folder::new("twin-pictures");
    let input = folder.0.join("input.toml");
    std::fs::write(&input, INPUT).unwrap();
    let input = input.display().to_string();
    let small = "tests/data/quenched-b6.0-4x4x4x8.ildg";
    let heatbath = "--lattice 4,4,2,4 --beta 5.5 --thermalise 10 --separation 1 --overrelax 0 --configurations 80";
    let cases = [
        ("heatbath", heatbath.split(' ').collect::<Vec<_>>(), "class=\"mean\""),
        ("gaugefix", vec!["--gauge", small], "log10 theta"),
        ("gluon", vec!["--gauge", small, "--fix", "yes"], "p^2 D"),
        ("flow", vec!["--gauge", small, "--time", "0.5"], "0.3</text>"),
        ("hmc", vec!["--input", &input, "--trajectories", "4"], "accepted so far"),
    ];
    for (name, arguments, word) in cases {
        for program in all(name) {
            let file = folder.0.join(name).with_extension("svg");
            let mut job = program.command();
            job.args(&arguments).args(["--device", &device(), "--plot"]).arg(&file);
            let out = job.output().unwrap();
            assert!(out.status.success(), "{program:?}: {}", String::from_utf8_lossy(&out.stderr));
            let svg = std::fs::read_to_string(&file).unwrap();
            assert!(svg.contains(word) && svg.ends_with("</svg>\n"), "{svg}");
        }
    }
}
