//! `propagator` against MILC's numbers. Real configurations come from `PLAQ_CONFIGS`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use super::common;
use super::common::milc::{self, Milc, CSW};
use super::programs::{self, job_on};

fn programs() -> &'static [PathBuf] {
    static ALL: OnceLock<Vec<PathBuf>> = OnceLock::new();
    ALL.get_or_init(|| programs::find("propagator"))
}

/// Runs a program on a configuration; its JSON. None where the configuration is absent.
fn job(program: &Path, gauge: &str, arguments: &[&str]) -> Option<Value> {
    Some(job_on(program, &common::configuration(gauge)?, arguments))
}

fn numbers(json: &Value, group: &str, name: &str) -> Vec<f64> {
    let list = json[group][name].as_array().unwrap_or_else(|| panic!("{group}.{name}: {json}"));
    list.iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
}

/// `gauge`: MILC's configuration, perhaps in another format.
fn agrees_with_milc(milc: &Milc, gauge: &str) {
    let (kappa, csw) = (milc.kappa.to_string(), CSW.to_string());
    let time = if milc.antiperiodic { "antiperiodic" } else { "periodic" };
    let arguments = ["--kappa", &kappa, "--csw", &csw, "--time-bc", time];
    for program in programs() {
        let mut first: Option<Value> = None;
        for (solver, precision) in [("cg", "single"), ("bicgstab", "double"), ("cgne", "half")] {
            let solver = ["--solver", solver, "--precision", precision, "--tol", "1e-12"];
            let Some(json) = job(program, gauge, &[&arguments[..], &solver].concat()) else {
                return;
            };
            assert_eq!(json["solver"]["converged"], true, "{json}");
            assert!(json["solver"]["residual"].as_f64().unwrap() <= 1e-12);
            // Links that were put back into the group: 1e-7 of those of the file.
            for (name, theirs) in ["spatial", "temporal"].iter().zip(milc.plaquettes) {
                let ours = 3.0 * json["plaquette"][name].as_f64().unwrap();
                assert!((ours - theirs).abs() < 1e-6, "{name}: {ours} {theirs}");
            }
            let pion = numbers(&json, "correlators", "pion");
            let rho = ["rho_x", "rho_y", "rho_z"].map(|n| numbers(&json, "correlators", n));
            milc.check_mesons(&pion, &rho, 1e-6, &solver.join(" "));
            // Every correlator is the same from every solver.
            let known = first.get_or_insert_with(|| json.clone());
            for name in ["pion", "rho_x", "rho_y", "rho_z", "nucleon"] {
                let (a, b) =
                    (numbers(&json, "correlators", name), numbers(known, "correlators", name));
                let scale = |t: usize| pion[t].powf(if name == "nucleon" { 1.5 } else { 1.0 });
                for t in 0..a.len() {
                    assert!((a[t] - b[t]).abs() < 1e-9 * scale(t), "{name} t={t}: {a:?} {b:?}");
                }
            }
        }
    }
}

#[test]
fn milc_periodic() {
    for gauge in ["milc.lat.sample.l4444", "milc.lat.sample.l4444.ildg"] {
        agrees_with_milc(&milc::PERIODIC, gauge);
    }
}

#[test]
fn milc_antiperiodic() {
    agrees_with_milc(&milc::ANTIPERIODIC, milc::ANTIPERIODIC.name);
}

/// Mass normalisation is the propagator times 2 kappa.
#[test]
fn normalisations_differ_by_two_kappa() {
    for program in programs() {
        let common = ["--kappa", "0.1", "--source", "point,1,2,3,1", "--tol", "1e-12"];
        let run = |n: &str| {
            let arguments = [&common[..], &["--normalisation", n]].concat();
            job(program, "milc.lat.sample.l4444", &arguments)
        };
        let (Some(kappa), Some(mass)) = (run("kappa"), run("mass")) else { return };
        for (name, power) in [("pion", 2), ("rho_y", 2), ("nucleon", 3)] {
            let pairs = numbers(&kappa, "correlators", name);
            for (k, m) in pairs.iter().zip(numbers(&mass, "correlators", name)) {
                assert!((m - k * 0.2f64.powi(power)).abs() < 1e-9 * m.abs(), "{name}: {k:e} {m:e}");
            }
        }
    }
}

/// Columns that are solved for a few at a time are those of all at once.
#[test]
fn right_hand_sides_at_a_time_change_nothing() {
    let gauge = Path::new("tests/data/quenched-b6.0-4x4x4x8.ildg");
    for program in programs() {
        let common = ["--kappa", "0.12", "--csw", "1.2", "--solver", "bicgstab", "--tol", "1e-12"];
        let run = |n: &str| job_on(program, gauge, &[&common[..], &["--rhs", n]].concat());
        let (all, some) = (run("12"), run("5"));
        for (json, rhs) in [(&all, 12), (&some, 5)] {
            assert_eq!(json["solver"]["rhs"], rhs);
            assert_eq!(json["solver"]["converged"], true, "{json}");
            assert_eq!(numbers(json, "solver", "residuals").len(), 12);
            let (all, solves) = (&json["seconds"]["propagator"], &json["solver"]["seconds"]);
            assert!(all.as_f64() >= solves.as_f64() && solves.as_f64() > Some(0.0), "{json}");
            assert!(json["seconds"]["load"].as_f64() > Some(0.0), "{json}");
        }
        let memory = |json: &Value| json["solver"]["memory_peak"].as_i64().unwrap();
        assert!(memory(&some) < memory(&all), "{some} {all}");
        let pion = numbers(&all, "correlators", "pion");
        for (name, power) in
            [("pion", 1.0), ("rho_x", 1.0), ("rho_y", 1.0), ("rho_z", 1.0), ("nucleon", 1.5)]
        {
            let pairs = numbers(&all, "correlators", name);
            for (t, (a, b)) in pairs.iter().zip(numbers(&some, "correlators", name)).enumerate() {
                let off = (a - b).abs() / pion[t].powf(power);
                assert!(off < 1e-9, "{name} t={t}: {a:e} {b:e}");
            }
        }
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_a_message() {
    for program in programs() {
        for (arguments, status, message) in [
            (&["--kappa", "0.1"][..], 2, "--gauge"),
            (&["--gauge", "absent", "--kappa", "0.1"], 1, "absent"),
            (&["--gauge", "absent", "--kappa", "x"], 2, "--kappa"),
            (&["--gauge", "absent", "--kapa", "0.1"], 2, "--kapa"),
            (&["--gauge", "absent", "--kappa", "0.1", "--source", "point,1"], 2, "--source"),
            (&["--gauge", "absent", "--kappa", "0.1", "--rhs", "0"], 2, "--rhs"),
            (&["--gauge", "absent", "--kappa", "0.1", "--rhs", "13"], 2, "--rhs"),
        ] {
            let out = Command::new(program).args(arguments).output().unwrap();
            let text = String::from_utf8_lossy(&out.stderr).into_owned();
            assert_eq!(out.status.code(), Some(status), "{arguments:?}: {text}");
            assert!(text.contains(message), "{arguments:?}: {text}");
        }
    }
}
