//! Tests of `heatbath`: existing files are kept, and streams are resumed.

use std::process::Output;

use super::common::Folder;
use super::programs::{self, Program};

pub fn programs() -> &'static [Program] {
    programs::all("heatbath")
}

fn run(program: &Program, folder: &Folder, arguments: &[&str]) -> Output {
    let device = std::env::var("PLAQ_TEST_DEVICE").unwrap_or("auto".into());
    let mut command = program.command();
    command.current_dir(&folder.0).args(["--device", &device]).args(arguments);
    command.output().unwrap()
}

fn fine(program: &Program, folder: &Folder, arguments: &[&str]) {
    let out = run(program, folder, arguments);
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
}

fn refused(program: &Program, folder: &Folder, arguments: &[&str], status: i32, message: &str) {
    let out = run(program, folder, arguments);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(status), "{arguments:?}: {text}");
    assert!(text.contains(message), "{arguments:?}: {text}");
}

/// The part of a configuration's file from the links on, which follows a record with a date.
fn links(folder: &Folder, name: &str) -> Vec<u8> {
    let bytes = std::fs::read(folder.0.join(name)).unwrap();
    let begin: [&[u8]; 2] = [b"ildg-binary-data", b"END_HEADER"];
    let at = begin.iter().find_map(|b| bytes.windows(b.len()).position(|w| w == *b));
    bytes[at.expect("a configuration")..].to_vec()
}

const RUN: [&str; 8] =
    ["--lattice", "4,2,6,4", "--beta", "5.9", "--thermalise", "3", "--separation", "2"];

/// Four configurations of one run equal two of a first run and two of a run that goes on from them, bit for bit.
#[test]
fn a_stream_goes_on_bit_for_bit() {
    for (k, program) in programs().iter().enumerate() {
        let folder = Folder::new(&format!("stream-{k}"));
        for format in ["ildg", "nersc3x3"] {
            let stem = |s: &str| format!("{s}-{format}");
            let (all, part) = (stem("all"), stem("part"));
            let seed = ["--seed", "77", "--overrelax=2", "--format", format];
            let count = |n| [&seed[..], &["--configurations", n]].concat();
            fine(program, &folder, &[&RUN[..], &count("4"), &["--out", &all]].concat());
            fine(program, &folder, &[&RUN[..], &count("2"), &["--out", &part]].concat());
            let from = format!("{part}.00002");
            let onward = ["--continue", &from, "--configurations=2", "--format", format];
            for (other, program) in programs().iter().enumerate() {
                let out = format!("{}{other}", stem("on"));
                fine(program, &folder, &[&onward[..], &["--out", &out]].concat());
                for n in ["00003", "00004"] {
                    let (a, b) = (format!("{all}.{n}"), format!("{out}.{n}"));
                    assert!(links(&folder, &a) == links(&folder, &b), "{a} {b}");
                }
            }
            let first = links(&folder, &format!("{all}.00002"));
            assert!(first == links(&folder, &from));
            assert!(first != links(&folder, &format!("{all}.00003")));
        }
    }
}

#[test]
fn what_is_there_stays() {
    for (k, program) in programs().iter().enumerate() {
        let folder = Folder::new(&format!("keeps-{k}"));
        let out = [&RUN[..], &["--configurations", "2", "--out", "c"]].concat();
        // The last of the output files exists already: the job ends before it begins.
        std::fs::write(folder.0.join("c.00002"), "mine").unwrap();
        refused(program, &folder, &out, 1, "c.00002: exists");
        assert!(!folder.0.join("c.00001").exists());
        assert_eq!(std::fs::read(folder.0.join("c.00002")).unwrap(), b"mine");
        fine(program, &folder, &[&out[..], &["--overwrite", "yes"]].concat());
        assert!(std::fs::metadata(folder.0.join("c.00002")).unwrap().len() > 1000);
        refused(program, &folder, &[&out[..], &["--overwrite", "perhaps"]].concat(), 2, "no, yes");
        let nowhere = [&RUN[..], &["--out", "absent/c"]].concat();
        refused(program, &folder, &nowhere, 1, "absent/c.00001");
    }
}

#[test]
fn a_stream_that_cannot_go_on_is_refused() {
    for (k, program) in programs().iter().enumerate() {
        let folder = Folder::new(&format!("refuses-{k}"));
        for format in ["ildg", "nersc", "openqcd"] {
            fine(program, &folder, &[&RUN[..], &["--out", format, "--format", format]].concat());
        }
        for (arguments, status, message) in [
            (&["--continue", "ildg.00001", "--lattice", "4,4,4,4"][..], 1, "[4, 2, 6, 4]"),
            (&["--continue", "ildg.00001", "--beta", "6.0"], 2, "--continue has 5.9;"),
            (
                &["--continue", "ildg.00001", "--seed", "2"],
                2,
                "--seed: 2; the file of --continue has 0;",
            ),
            (&["--continue", "ildg.00001", "--overrelax", "1"], 2, "--overrelax"),
            (&["--continue", "ildg.00001", "--start", "cold"], 2, "--start"),
            (&["--continue", "ildg.00001", "--thermalise", "5"], 2, "--thermalise"),
            (&["--continue", "nersc.00001"], 1, "all rows of the links"),
            (&["--continue", "openqcd.00001"], 1, "no record of heatbath"),
            (&["--continue", "absent"], 1, "absent"),
            (&["--start", "ildg.00001", "--beta", "6", "--lattice", "4,4,4,4"], 1, "[4, 2, 6, 4]"),
            (&["--lattice", "4,4,4,4"], 2, "--beta"),
            (&["--lattice", "4,4,4,3", "--beta", "6"], 1, "extent t is 3"),
            (&["--lattice", "4,4,4,4", "--beta", "6", "--beta=6"], 2, "given twice"),
            (&["--latice", "4,4,4,4"], 2, "did you mean --lattice?"),
            (&["--lattice", "4,4,4,4", "--beta"], 2, "needs a value"),
            (
                &["--lattice", "4,4,4,4", "--beta", "6", "--out", "x", "--format", "IDLG"],
                2,
                "nersc_3x3, ildg",
            ),
        ] {
            refused(program, &folder, arguments, status, message);
        }
        for help in ["-h", "--help", "--version"] {
            let out = run(program, &folder, &[help]);
            assert!(out.status.success() && !out.stdout.is_empty(), "{help}");
        }
    }
}

/// A boundary that a file of MILC does not tell is said to be lost, and times of the lattice are those of its slices.
#[test]
fn lost_boundaries_are_told() {
    let folder = Folder::new("heatbath-boundaries");
    let bounds = ["--boundary-time", "open_sf", "--phi-prime", "-2.1,0.8,1.3"];
    let program = &programs()[0];
    let make = ["--lattice", "4,4,4,4", "--beta", "6", "--thermalise", "1", "--out", "open_sf"];
    fine(program, &folder, &[&make[..], &bounds[..]].concat());
    let convert = &programs::all("convert")[0];
    for (format, lost) in [("milc", true), ("ildg", false)] {
        let to = ["open_sf.00001", "--out", format, "--format", format];
        let out = run(convert, &folder, &to);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{said}");
        let warns = said.lines().count() == 1 && said.contains("boundary_time open_sf");
        assert_eq!(warns, lost, "{format}: {said}");
    }
    let propagator = &programs::all("propagator")[0];
    let quark = ["open_sf.00001", "--kappa", "0.11", "--tol", "1e-6"];
    for (source, words) in [
        ("volume", "# t = 0 is slice 0, that of the lower boundary; the upper one is at slice 4"),
        ("wall,1", "# t = 0 is slice 1, 1 above the boundary at slice 0 and 3 below that at 4; slice 0 is t = 3"),
    ] {
        let source = ["--source", source, "--noise", "z4"];
        let out = run(propagator, &folder, &[&quark[..], &source].concat());
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success() && said.lines().any(|line| line == words), "{said}");
    }
    let distillation = &programs::all("distillation")[0];
    let tau = ["open_sf.00001", "--kappa", "0.11", "--modes", "2", "--out", "tau.h5"];
    let message = "--times: 0; expected times of slices where quarks do not vanish";
    refused(distillation, &folder, &tau, 2, message);
}
