//! Tests of `propagator` against results of MILC. Configurations of MILC are in the folder `PLAQ_CONFIGS`.

use std::path::Path;

use serde_json::Value;

use super::common;
use super::common::milc::{self, Milc, CSW};
use super::programs::{self, job_on, Program};

pub fn programs() -> &'static [Program] {
    programs::all("propagator")
}

/// Runs a program on a configuration and returns its JSON, or `None` if the configuration is absent.
fn job(program: &Program, gauge: &str, arguments: &[&str]) -> Option<Value> {
    Some(job_on(program, &common::configuration(gauge)?, arguments))
}

fn numbers(json: &Value, group: &str, name: &str) -> Vec<f64> {
    let list = json[group][name].as_array().unwrap_or_else(|| panic!("{group}.{name}: {json}"));
    list.iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
}

/// Checks correlators of `gauge`, MILC's configuration in its own or another format, against MILC's results.
fn agrees_with_milc(milc: &Milc, gauge: &str) {
    let (kappa, csw) = (milc.kappa.to_string(), CSW.to_string());
    let time = if milc.antiperiodic { "antiperiodic" } else { "periodic" };
    // MILC's propagators are inverses of 2 kappa D.
    let quark = ["--kappa", &kappa, "--csw", &csw, "--boundary", time];
    let arguments = [&quark[..], &["--normalisation", "kappa"]].concat();
    for program in programs() {
        let mut first: Option<Value> = None;
        for (solver, precision) in [("cg", "single"), ("bicgstab", "double"), ("cgne", "half")] {
            let solver = ["--solver", solver, "--precision", precision, "--tol", "1e-12"];
            let Some(json) = job(program, gauge, &[&arguments[..], &solver].concat()) else {
                return;
            };
            assert_eq!(json["solver"]["converged"], true, "{json}");
            assert!(json["solver"]["residual"].as_f64().unwrap() <= 1e-12);
            // Links put back into SU(3) differ from those of the file by about 1e-7.
            for (name, theirs) in ["spatial", "temporal"].iter().zip(milc.plaquettes) {
                let ours = 3.0 * json["plaquette"][name].as_f64().unwrap();
                assert!((ours - theirs).abs() < 1e-6, "{name}: {ours} {theirs}");
            }
            let pion = numbers(&json, "correlators", "pion");
            let rho = ["rho_x", "rho_y", "rho_z"].map(|n| numbers(&json, "correlators", n));
            milc.check_mesons(&pion, &rho, 1e-6, &solver.join(" "));
            // All solvers give the same correlators.
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

/// The propagator in mass normalisation is 2 kappa times that in kappa normalisation.
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

/// The pion of a heavy quark is right to the tolerance at all times, for sources at several times; without distance
/// preconditioning it is not.
#[test]
fn heavy_quarks_are_right_at_all_times() {
    let gauge = Path::new("tests/data/quenched-b6.0-4x4x4x8.ildg");
    for program in programs() {
        let pion = |tol: &str, more: &[&str]| {
            let sources = "point,0,0,0,0:point,1,2,3,5";
            let common =
                ["--kappa", "0.02", "--solver", "bicgstab", "--source", sources, "--tol", tol];
            let json = job_on(program, gauge, &[&common[..], more].concat());
            assert_eq!(json["solver"]["converged"], true, "{json}");
            numbers(&json, "correlators", "pion")
        };
        let exact = pion("1e-14", &["--precision", "double"]);
        let off = |found: Vec<f64>| {
            found.iter().zip(&exact).fold(0.0, |m: f64, (f, e)| m.max((f / e - 1.0).abs()))
        };
        let plain = off(pion("1e-4", &[]));
        let weighted = off(pion("1e-4", &["--distance-alpha", "3"]));
        assert!(plain > 0.1 && weighted < 1e-3, "{plain:e} {weighted:e}");
    }
}

/// Solving a few columns at a time gives the same result as solving all at once.
#[test]
fn right_hand_sides_at_a_time_change_nothing() {
    let gauge = Path::new("tests/data/quenched-b6.0-4x4x4x8.ildg");
    for program in programs() {
        let common = ["--kappa", "0.12", "--csw", "1.2", "--solver", "bicgstab", "--tol", "1e-12"];
        let run = |n: &str| job_on(program, gauge, &[&common[..], &["--columns", n]].concat());
        let (all, some) = (run("12"), run("5"));
        for (json, rhs) in [(&all, 12), (&some, 5)] {
            assert_eq!(json["solver"]["columns"], rhs);
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

/// The numbers of every entry of a JSON list, with the entry's other members as its label.
fn entries(json: &Value, list: &str) -> Vec<(String, Vec<f64>)> {
    let all = json[list].as_array().unwrap_or_else(|| panic!("{list}: {json}"));
    let entry = |e: &Value| {
        let numbers = |part: &str| {
            let list = e[part].as_array().unwrap().iter();
            list.map(|v| v.as_f64().unwrap()).collect::<Vec<f64>>()
        };
        let mut name = e.clone();
        name["re"] = Value::Null;
        name["im"] = Value::Null;
        (name.to_string(), [numbers("re"), numbers("im")].concat())
    };
    all.iter().map(entry).collect()
}

const SMALL: &str = "tests/data/quenched-b6.0-4x4x4x8.ildg";

/// Every kernel is asked for before it is launched. The default solver asks for hardly any kernel in vain; with
/// another solver, the kernels of the default one are asked for in vain.
#[test]
fn kernels_are_asked_for_before_they_are_launched() {
    let folder = common::Folder::new("first-launches");
    let other = ["--solver", "bicgstab", "--precision", "half", "--columns", "5"];
    for (name, arguments, max) in [("default", &[][..], 0.1), ("other", &other[..], 0.5)] {
        let file = folder.0.join(name);
        let mut job = programs()[0].command();
        let device = std::env::var("PLAQ_TEST_DEVICE").unwrap_or("auto".into());
        job.args(["--gauge", SMALL, "--kappa", "0.12", "--csw", "1.2", "--device", &device]);
        programs::run(job.args(arguments).env("PLAQ_FIRST_LAUNCHES", &file));
        let [all, late, vain] = common::first_launches(&file);
        let said = || std::fs::read_to_string(&file).unwrap();
        assert!(all > 30 && late == 0, "{name}: {}", said());
        assert!(vain as f64 <= max * all as f64, "{name}: {}", said());
    }
}

/// Results for several sources are the average of results for single ones; saved propagators give the same results.
#[test]
fn sources_momenta_and_files() {
    let folder = common::Folder::new("quarks");
    for program in programs() {
        let quarks = ["--kappa", "0.12", "--kappa-strange", "0.11"];
        let hadrons = ["--momenta", "0,0,0:1,0,-1", "--baryons", "nucleon,xi_star"];
        let smearing =
            ["--source-smear", "0.3,4", "--sink-smear", "0.2,3", "--smear-links", "0.5,2"];
        let run = |sources: &str, more: &[&str]| {
            let all = [&quarks[..], &hadrons, &smearing, &["--source", sources], more].concat();
            job_on(program, Path::new(SMALL), &all)
        };
        let file = folder.0.join("quark");
        let file = file.to_str().unwrap();
        let (one, other) = ("point,0,0,0,0", "point,2,1,3,5");
        let both = format!("{one}:{other}");
        let tol = ["--tol", "1e-12"];
        let all = run(&both, &[&tol[..], &["--save", file]].concat());
        let single = [run(one, &tol), run(other, &tol)];
        let again = run(&both, &["--load", file]);
        assert_eq!(all["sources"].as_array().unwrap().len(), 2);
        assert_eq!(all["kappa_strange"], 0.11);
        // Mesons: pairs of quarks, momenta, gammas; baryons: momenta, names.
        assert_eq!(all["mesons"].as_array().unwrap().len(), 3 * 2 * 16);
        assert_eq!(all["baryons"].as_array().unwrap().len(), 2 * 2);
        for list in ["mesons", "baryons"] {
            assert_eq!(all[list], again[list]);
            let parts = single.each_ref().map(|json| entries(json, list));
            for (k, (name, found)) in entries(&all, list).iter().enumerate() {
                let [(a_name, a), (b_name, b)] = [&parts[0][k], &parts[1][k]];
                assert!(name == a_name && name == b_name);
                let top = found.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                for ((x, a), b) in found.iter().zip(a).zip(b) {
                    assert!((x - (a + b) / 2.0).abs() < 1e-9 * top, "{name}: {x:e} {a:e} {b:e}");
                }
            }
        }
        let at = |quarks: &str| -> f64 {
            let of = |e: &&Value| e["quarks"] == quarks && e["gamma"] == 15;
            all["mesons"].as_array().unwrap().iter().find(of).unwrap()["re"][3].as_f64().unwrap()
        };
        assert!(at("ll") > at("ls") && at("ls") > at("ss") && at("ss") > 0.0);
        assert_eq!(all["correlators"]["pion"][3].as_f64().unwrap(), at("ll"));
        // A saved propagator is refused for other sources and quarks, and so is a file that does not exist.
        let none = format!("{file}.7");
        for (arguments, message) in [
            (["--kappa", "0.12", "--source", other, "--load", file], "at most 1e-10 (--tol)"),
            (
                ["--kappa", "0.125", "--source", one, "--load", file],
                "its kappa is 0.12, expected 0.125",
            ),
            (["--kappa", "0.12", "--source", one, "--load", &none], "quark.7"),
        ] {
            let out = program.command().args(["--gauge", SMALL]).args(arguments).output();
            let out = out.unwrap();
            let text = String::from_utf8_lossy(&out.stderr).into_owned();
            assert_eq!(out.status.code(), Some(1), "{arguments:?}: {text}");
            assert!(text.contains(message), "{arguments:?}: {text}");
        }
    }
}

/// The average over noise tends to the sum over positions of the source: the average of four vectors comes near, and
/// two vectors differ.
#[test]
fn noise_sums_over_the_positions_of_the_source() {
    for program in programs() {
        let run = |source: &str, more: &[&str]| {
            let all = [&["--kappa", "0.1", "--source", source][..], more].concat();
            numbers(&job_on(program, Path::new(SMALL), &all), "correlators", "pion")
        };
        let noise: Vec<Vec<f64>> = ["1", "2", "3", "4"]
            .map(|seed| run("wall,2", &["--noise", "z4", "--seed", seed]))
            .into();
        assert!(noise[0][1] != noise[1][1]);
        // Four points that represent all 64 positions.
        let points = run("point,0,0,0,2:point,2,2,0,2:point,2,0,2,2:point,0,2,2,2", &[]);
        for t in 0..2 {
            let mean = noise.iter().map(|c| c[t]).sum::<f64>() / 4.0;
            let ratio = mean / (64.0 * points[t]);
            assert!((ratio - 1.0).abs() < 0.2, "t={t}: {ratio}");
        }
    }
}

#[test]
fn options_of_hadrons_are_checked() {
    for program in programs() {
        for (arguments, message) in [
            (&["--noise", "z3"][..], "expected one of none, z2, z4"),
            (&["--baryons", "nucleon,proton"], "sigma_star"),
            (&["--baryons", "all,nucleon"], "all and none stand alone"),
            (&["--noise", "z2", "--baryons", "nucleon"], "--baryons"),
            (&["--momenta", "1,2"], "--momenta"),
            (&["--momenta", "1,2,3:"], "--momenta"),
            (&["--source", "point,0,0,0,0:ball,3"], "--source"),
            (&["--source-smear", "0.3"], "--source-smear"),
            (&["--sink-smear", "-1,4"], "--sink-smear"),
            (&["--save", "a", "--load", "b"], "--load"),
            (&["--kappa-strange", "-0.1"], "--kappa-strange"),
            (&["--source", "volume"], "expected --noise"),
            (&["--source", "volume:wall,1", "--noise", "z2"], "stands alone"),
            (&["--dilute", "spin,colour"], "only with --noise z2 or z4"),
            (&["--noise", "z2", "--dilute", "spin"], "expected spin and colour"),
            (&["--noise", "z2", "--dilute", "spin,color"], "did you mean colour?"),
            (&["--noise", "z2", "--source", "wall,1", "--dilute", "spin,colour,time"], "time"),
            (&["--noise", "z2", "--dilute", "spin,colour,parity"], "parity"),
            (&["--sequential", "3,16,0,0,0"], "--sequential"),
            (&["--sequential", "3,15,0"], "--sequential"),
            (&["--sequential", "3,15,0,0,0", "--sink-smear", "0.3,2"], "--sequential"),
            (&["--sequential", "3,15,0,0,0", "--kappa-strange", "0.1"], "--sequential"),
        ] {
            let out = program
                .command()
                .args(["--gauge", "absent", "--kappa", "0.1"])
                .args(arguments)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&out.stderr).into_owned();
            assert_eq!(out.status.code(), Some(2), "{arguments:?}: {text}");
            assert!(text.contains(message), "{arguments:?}: {text}");
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
            (&["--gauge", "absent", "--kappa", "0.1,"], 2, "--kappa: 0.1,"),
            (&["--gauge", "absent", "--kappa", "0.1,-1"], 2, "positive"),
            (&["--gauge", "absent", "--kappa", "0.1,0.2,0.1"], 2, "twice"),
            (
                &["--gauge", "absent", "--kappa", "0.1,0.2", "--kappa-strange", "0.1"],
                2,
                "one --kappa",
            ),
            (&["--gauge", "absent", "--kapa", "0.1"], 2, "--kapa"),
            (&["--gauge", "absent", "--kappa", "0.1", "--source", "point,1"], 2, "--source"),
            (
                &["--gauge", SMALL, "--kappa", "0.1", "--source", "point,0,0,0,0:wall,8"],
                2,
                "--source: wall,8; expected a place on the lattice 4,4,4,8",
            ),
            (
                &["--gauge", SMALL, "--kappa", "0.1", "--sequential", "8,15,0,0,0"],
                2,
                "--sequential: time 8; expected a place on the lattice",
            ),
            (&["--gauge", "absent", "--kappa", "0.1", "--columns", "-1"], 2, "--columns"),
            (&["--gauge", "absent", "--kappa", "0.1", "--columns", "13"], 2, "--columns"),
        ] {
            let out = program.command().args(arguments).output().unwrap();
            let text = String::from_utf8_lossy(&out.stderr).into_owned();
            assert_eq!(out.status.code(), Some(status), "{arguments:?}: {text}");
            assert!(text.contains(message), "{arguments:?}: {text}");
        }
    }
}
