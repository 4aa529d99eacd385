//! Tests of `hmc` and `flow`: logs and JSON, runs resumed exactly, files that are kept.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use super::common::Folder;
use super::programs::{all as found, job_on, Program};

const INPUT: &str = "length = 0.5\nseed = 4\naccept_until = 20\nreversibility_every = 2\n\
    [run]\nlattice = [4, 4, 2, 4]\nstart = \"hot\"\ncheckpoint = \"chain\"\ncheckpoint_every = 3\n\
    log = \"log.jsonl\"\nconfigurations = \"c\"\nsave_every = 2\nflow_every = 2\nflow_time = 0.1\n\
    [[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"wilson\"\nbeta = 5.5\n\
    [[monomial]]\nname = \"the \\\"quarks\\\"\"\ntype = \"two_flavours\"\noperator = { kappa = 0.1 }\n\
    [[level]]\nintegrator = \"omelyan2\"\nsteps = 3\nmonomials = [\"gauge\", \"the \\\"quarks\\\"\"]\n";

fn run(program: &Program, folder: &Folder, arguments: &[&str]) -> Output {
    let device = std::env::var("PLAQ_TEST_DEVICE").unwrap_or("auto".into());
    let mut command = program.command();
    command.current_dir(&folder.0).args(["--input", "input.toml", "--device", &device]);
    command.args(arguments).output().unwrap()
}

fn fine(program: &Program, folder: &Folder, arguments: &[&str]) {
    let out = run(program, folder, arguments);
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
}

fn kept(program: &Program, folder: &Folder, arguments: &[&str], file: &str) {
    let out = run(program, folder, arguments);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{arguments:?}: {said}");
    assert!(said.contains(&format!("{file}: exists")), "{arguments:?}: {said}");
}

fn folder(program: &Program, name: &str) -> Folder {
    let stem = program.name;
    let folder = Folder::new(&format!("hmc-{name}-{stem}"));
    std::fs::write(folder.0.join("input.toml"), INPUT).unwrap();
    folder
}

/// Lines of the log without their times.
fn log(folder: &Folder) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.0.join("log.jsonl")).unwrap();
    let line = |l: &str| -> Value {
        let mut line: Value = serde_json::from_str(l).unwrap_or_else(|e| panic!("{e} in {l}"));
        assert!(line["seconds"].take().as_f64() > Some(0.0), "{l}");
        for force in line["forces"].as_object_mut().unwrap().values_mut() {
            let all = force["seconds"].take().as_f64();
            let solves = force["solve_seconds"].take().as_f64();
            // Forces of links alone have no solves; for others solves are part of the force's time.
            assert!(solves < all && solves >= Some(0.0), "{l}");
            assert_eq!(solves > Some(0.0), force["force_iterations"].as_i64() > Some(0), "{l}");
        }
        line
    };
    text.lines().map(line).collect()
}

/// The numbers of a configuration's file, without the records with a date before and after them.
fn links(folder: &Folder, name: &str) -> Vec<u8> {
    let bytes = std::fs::read(folder.0.join(name)).unwrap();
    let word = b"ildg-binary-data";
    let at = bytes.windows(word.len()).position(|w| w == word).expect("a configuration");
    bytes[at..].to_vec()
}

#[test]
fn logs_say_what_trajectories_did() {
    for program in found("hmc") {
        let folder = folder(program, "logs");
        fine(program, &folder, &["--trajectories", "4"]);
        let lines = log(&folder);
        assert_eq!(lines.len(), 4);
        for (n, line) in lines.iter().enumerate() {
            assert_eq!(line["trajectory"], n);
            assert_eq!(line["accepted"], true);
            let loops: Vec<f64> =
                line["polyakov"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
            assert!(loops.len() == 2 && loops[0].hypot(loops[1]) < 1.0 && loops[0] != 0.0);
            let (gauge, quarks) = (&line["forces"]["gauge"], &line["forces"]["the \"quarks\""]);
            assert!(gauge["kicks"] == 7 && quarks["kicks"] == 7, "{line}");
            assert!(gauge["rms"].as_f64() > quarks["rms"].as_f64(), "{line}");
            assert!(gauge["max"].as_f64() > gauge["rms"].as_f64(), "{line}");
            assert!(
                gauge["force_iterations"] == 0 && quarks["force_iterations"].as_i64() > Some(7),
                "{line}"
            );
            for there in ["reversibility_links", "reversibility_hamiltonian"] {
                assert_eq!(line[there].is_number(), n % 2 == 0, "{line}");
                assert_eq!(line[there].is_null(), n % 2 == 1, "{line}");
            }
            let flow = line.get("flow");
            assert_eq!(flow.is_some(), n % 2 == 1);
            if let Some(flow) = flow {
                assert!((flow["time"].as_f64().unwrap() - 0.1).abs() < 1e-12, "{flow}");
                assert!(flow["charge"].as_f64().unwrap().abs() < 4.0, "{flow}");
            }
        }
    }
}

/// A run that was killed after it wrote log lines and a configuration newer than its checkpoint goes on as if it had
/// not been killed.
#[test]
fn a_run_goes_on_exactly() {
    for program in found("hmc") {
        let (whole, part) = (folder(program, "whole"), folder(program, "part"));
        fine(program, &whole, &["--trajectories", "6"]);
        fine(program, &part, &["--trajectories", "3"]);
        let file = part.0.join("log.jsonl");
        let mut text = std::fs::read_to_string(&file).unwrap();
        let all = std::fs::read_to_string(whole.0.join("log.jsonl")).unwrap();
        // The log has trajectory 3 already, and a line of trajectory 4 that was cut off.
        text += &format!("{}\n", all.lines().nth(3).unwrap());
        text += &all.lines().nth(4).unwrap()[..40];
        std::fs::write(&file, text).unwrap();
        std::fs::write(part.0.join("c.00003"), "of before").unwrap();
        fine(program, &part, &["--start", "checkpoint", "--trajectories", "3"]);
        assert_eq!(log(&part), log(&whole));
        for name in ["c.00001", "c.00003", "c.00005", "chain"] {
            assert!(links(&part, name) == links(&whole, name), "{name}");
        }
    }
}

/// A checkpoint of another action is refused with the monomial and the parameter that differ.
#[test]
fn another_action_is_named() {
    for program in found("hmc") {
        let folder = folder(program, "action");
        fine(program, &folder, &["--trajectories", "1"]);
        let input = INPUT.replace("kappa = 0.1 ", "kappa = 0.11 ");
        std::fs::write(folder.0.join("input.toml"), input).unwrap();
        let out = run(program, &folder, &["--continue", "yes", "--trajectories", "1"]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(1), "{said}");
        let differs =
            "monomial \"the \"quarks\"\": operator.kappa 0.1 there, 0.11 here; --change-action";
        assert!(said.contains(differs), "{said}");
    }
}

#[test]
fn what_is_there_stays() {
    for program in found("hmc") {
        let folder = folder(program, "keeps");
        let two = ["--trajectories", "2"];
        for name in ["c.00001", "chain", "log.jsonl"] {
            std::fs::write(folder.0.join(name), "mine").unwrap();
            kept(program, &folder, &two, name);
            assert_eq!(std::fs::read(folder.0.join(name)).unwrap(), b"mine");
            std::fs::remove_file(folder.0.join(name)).unwrap();
        }
        fine(program, &folder, &two);
        // A run that starts from a file of links is not one that goes on: files that exist are kept.
        std::fs::copy(folder.0.join("c.00001"), folder.0.join("links")).unwrap();
        kept(program, &folder, &[&two[..], &["--start", "links"]].concat(), "log.jsonl");
        let over = run(program, &folder, &[&two[..], &["--start", "c.00001"]].concat());
        let said = String::from_utf8_lossy(&over.stderr).into_owned();
        assert_eq!(over.status.code(), Some(2), "{said}");
        assert!(said.contains("would be written to c.00001, the file of --start"), "{said}");
        assert_eq!(log(&folder).len(), 2);
        fine(program, &folder, &["--trajectories", "1", "--overwrite", "yes"]);
        assert_eq!(log(&folder).len(), 1);
    }
}

#[test]
fn flows_write_json() {
    let gauge = Path::new("tests/data/quenched-b6.0-4x4x4x8.ildg");
    let run = |program: &Program| {
        job_on(program, gauge, &["--flow", "symanzik", "--time", "0.2", "--every", "4"])
    };
    let all: Vec<Value> = found("flow").iter().map(run).collect();
    for json in &all {
        let of = |name: &str| super::chain::numbers(&json["flow"][name]);
        let times = of("t");
        assert_eq!(json["steps"], 10);
        assert_eq!(times.len(), 4);
        for (t, expected) in times.iter().zip([0.0, 0.08, 0.16, 0.2]) {
            assert!((t - expected).abs() < 1e-12, "{times:?}");
        }
        for name in ["plaquette_spatial", "plaquette_temporal"] {
            let p = of(name);
            assert!(p.len() == 4 && p[0] > 0.5 && p.is_sorted() && p[3] < 1.0, "{name} {p:?}");
        }
        for name in ["energy_spatial", "energy_temporal"] {
            let e = of(name);
            assert!(e.len() == 4 && e.iter().rev().is_sorted() && e[3] > 0.0, "{name} {e:?}");
        }
        assert_eq!(of("charge").len(), 4);
    }
}
