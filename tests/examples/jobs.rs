//! Tests of subcommands' options and of their effect on the JSON.

use std::path::Path;

use serde_json::Value;

use super::chain;
use super::common::Folder;
use super::programs::{all, job_on, run, Program};
use super::propagator::programs;

const SMALL: &str = "tests/data/quenched-b6.0-4x4x4x8.ildg";

/// Keys whose values depend on time or on the last bits of an iteration.
const APART: [&str; 9] = [
    "seconds",
    "setup_seconds",
    "residual",
    "residual_hq",
    "residuals",
    "memory_peak",
    "reduction",
    "iterations",
    // The errors of --error are as large as the tolerance allows.
    "errors",
];

fn numbers(list: &[Value]) -> Option<Vec<f64>> {
    list.iter().map(|v| if v.is_null() { Some(f64::NAN) } else { v.as_f64() }).collect()
}

/// Checks that two JSON values have the same members in the same order, and numbers that agree to rounding of the
/// largest in their list.
pub fn same(a: &Value, b: &Value, at: &str) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let names = |m: &serde_json::Map<String, Value>| {
                m.keys().filter(|k| !APART.contains(&k.as_str())).cloned().collect::<Vec<_>>()
            };
            assert_eq!(names(a), names(b), "{at}");
            names(a).iter().for_each(|k| same(&a[k], &b[k], &format!("{at}.{k}")));
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{at}");
            if let (Some(a), Some(b)) = (numbers(a), numbers(b)) {
                let top = a.iter().fold(0.0f64, |m, x| if x.is_nan() { m } else { m.max(x.abs()) });
                for (t, (x, y)) in a.iter().zip(&b).enumerate() {
                    let apart = (x - y).abs();
                    assert!(
                        apart <= 1e-9 * top || (x.is_nan() && y.is_nan()),
                        "{at}[{t}]: {x} {y}"
                    );
                }
            } else {
                a.iter()
                    .zip(b)
                    .enumerate()
                    .for_each(|(k, (x, y))| same(x, y, &format!("{at}[{k}]")));
            }
        }
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            assert!((x - y).abs() <= 1e-9 * x.abs(), "{at}: {x} {y}");
        }
        _ => assert_eq!(a, b, "{at}"),
    }
}

/// Runs a job of `propagator` with these options, where `@` stands for a folder, and returns its JSON.
fn job(name: &str, arguments: &[&str]) -> Value {
    let folder = Folder::new(&format!("jobs-{name}"));
    job_in(&folder, arguments)
}

fn job_in(folder: &Folder, arguments: &[&str]) -> Value {
    job_on_gauge(folder, "", arguments)
}

/// Runs a job on another configuration than the usual one, and returns its JSON.
fn job_on_gauge(folder: &Folder, gauge: &str, arguments: &[&str]) -> Value {
    let common = ["--kappa", "0.12", "--tol", "1e-12"];
    job_of(&programs()[0], folder, gauge, &[&common[..], arguments].concat())
}

fn job_of(program: &Program, folder: &Folder, gauge: &str, arguments: &[&str]) -> Value {
    let own = format!("{}/", folder.0.display());
    let arguments: Vec<String> = arguments.iter().map(|a| a.replace('@', &own)).collect();
    let arguments: Vec<&str> = arguments.iter().map(|a| a.as_str()).collect();
    let gauge = if gauge.is_empty() { SMALL } else { gauge };
    job_on(program, Path::new(gauge), &arguments)
}

#[test]
fn sources() {
    let sources = "point,0,0,0,0:point,1,2,3,4:wall,3";
    let all = job("sources", &["--source", sources, "--source-momentum", "1,0,-1"]);
    assert_eq!(all["sources"].as_array().unwrap().len(), 3);
}

/// Every subcommand with a quark takes coefficients of its hops and of its clover term in time, and its mass in place of
/// kappa = 1 / (2 m + 2 sum of hop).
#[test]
fn anisotropic_quarks() {
    let hop = ["--csw", "1.1", "--csw-t", "0.9", "--hop", "0.5,0.5,0.5,1", "--tol", "1e-12"];
    let run = |name: &str, more: &[&str]| {
        let job = job_on(&all(name)[0], Path::new(SMALL), &[&hop[..], more].concat());
        assert_eq!(job["action"]["csw_t"], 0.9, "{name}");
        assert_eq!(job["action"]["hop"], serde_json::json!([0.5, 0.5, 0.5, 1.0]), "{name}");
        assert!((job["action"]["mass"].as_f64().unwrap() - 0.625).abs() < 1e-12, "{name}");
        assert!((job["action"]["kappa"].as_f64().unwrap() - 0.16).abs() < 1e-12, "{name}");
        job
    };
    let pion = |job: &Value| numbers(job["correlators"]["pion"].as_array().unwrap()).unwrap();
    let by_kappa = run("propagator", &["--kappa", "0.16"]);
    let by_mass = run("propagator", &["--mass", "0.625"]);
    same(&by_kappa["correlators"], &by_mass["correlators"], "correlators");
    let isotropic = ["--csw", "1.1", "--mass", "0.625", "--tol", "1e-12"];
    let isotropic = job_on(&all("propagator")[0], Path::new(SMALL), &isotropic);
    assert!(pion(&isotropic).iter().zip(pion(&by_mass)).all(|(a, b)| (a / b - 1.0).abs() > 1e-3));
    run("loops", &["--mass", "0.625", "--vectors", "1"]);
    run("reweight", &["--mass", "0.625", "--mu", "0.1", "--vectors", "1"]);
}

#[test]
fn noise() {
    for (kind, source) in [("z2", "wall,2"), ("z4", "wall,all")] {
        let c = job(kind, &["--noise", kind, "--seed", "7", "--source", source]);
        assert_eq!(c["sources"][0]["noise"], kind);
        assert_eq!(c["sources"].as_array().unwrap().len(), if kind == "z4" { 8 } else { 1 });
    }
}

/// Results of parts of a volume add up to those of the volume: even and odd sites on average, and time slices as
/// walls.
#[test]
fn volumes_in_parts() {
    let run =
        |name: &str, more: &[&str]| job(name, &[&["--noise", "z2", "--seed", "5"], more].concat());
    let walls = run("walls", &["--source", "wall,all"]);
    let in_time = run("in-time", &["--source", "volume", "--dilute", "spin,colour,time"]);
    same(&walls["mesons"], &in_time["mesons"], "mesons");
    let whole = run("whole", &["--source", "volume"]);
    let parts = run("parts", &["--source", "volume", "--dilute", "spin,colour,parity"]);
    let sites = |c: &Value| {
        c["sources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["sites"].as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(sites(&whole), ["all"]);
    assert_eq!(sites(&parts), ["even", "odd"]);
    assert_eq!(parts["sources"][1]["kind"], "volume");
    // Both results estimate the same correlator; they differ by the noise that the parts do not share.
    let pion = |c: &Value| numbers(c["correlators"]["pion"].as_array().unwrap()).unwrap();
    for (t, (a, b)) in pion(&whole).iter().zip(pion(&parts)).enumerate() {
        assert!((a - 2.0 * b).abs() < 0.2 * a.abs() && *a != 2.0 * b, "t={t}: {a} {b}");
    }
}

/// The sequential propagator with the identity at all sinks is minus the derivative of the propagator by the mass.
#[test]
fn sequential_propagators() {
    let mass = ["--normalisation", "mass"];
    let one = [&["--sequential", "-1,0,0,0,0"][..], &mass].concat();
    let c = job("sequential", &one);
    assert_eq!(c["sequential"]["time"], -1);
    assert_eq!(c["mesons"].as_array().unwrap().len(), 3 * 16);
    let of = |c: &Value, quarks: &str| -> Vec<f64> {
        let is = |m: &&Value| m["quarks"] == quarks && m["gamma"] == 15;
        let found = c["mesons"].as_array().unwrap().iter().find(is).unwrap();
        numbers(found["re"].as_array().unwrap()).unwrap()
    };
    let h = 1e-3;
    let at = |m: f64| {
        let kappa = (0.5 / (0.5 / 0.12 + m)).to_string();
        let arguments = [&["--kappa", &kappa, "--tol", "1e-12"][..], &mass].concat();
        of(&job_on(&programs()[0], Path::new(SMALL), &arguments), "ll")
    };
    let (more, less) = (at(h), at(-h));
    for (t, x) in of(&c, "ls").iter().enumerate() {
        let slope = (more[t] - less[t]) / (2.0 * h);
        assert!((slope + 2.0 * x).abs() < 1e-4 * slope.abs(), "t={t}: {slope} {x}");
    }
    let moving = ["--sequential", "3,8,1,0,-1", "--momenta", "0,0,0:1,0,0", "--source", "wall,1"];
    let moving = job("sequential-p", &moving);
    assert_eq!(moving["sequential"]["momentum"], serde_json::json!([1, 0, -1]));
    assert!(of(&moving, "ls") != of(&moving, "ll"));
}

#[test]
fn smearing() {
    let links = ["--smear-links", "0.5,2"];
    job("smear", &[&["--source-smear", "0.3,5", "--sink-smear", "0.2,4"][..], &links].concat());
    job("smear-sink", &["--sink-smear", "0.2,4"]);
}

#[test]
fn momenta_masses_and_baryons() {
    let two = ["--momenta", "0,0,0:1,0,-1", "--kappa-strange", "0.11", "--baryons", "all"];
    let c = job("hadrons", &[&two[..], &["--csw", "1.1"]].concat());
    assert_eq!(c["mesons"].as_array().unwrap().len(), 3 * 2 * 16);
    assert_eq!(c["baryons"].as_array().unwrap().len(), 2 * 8);
    job("names", &["--baryons", "delta,omega,nucleon", "--normalisation", "mass"]);
}

/// Saved propagators are read again instead of solving.
#[test]
fn files() {
    let folder = Folder::new("jobs-files");
    let two = ["--source", "point,0,0,0,0:wall,2", "--kappa-strange", "0.11"];
    let saved = job_in(&folder, &[&two[..], &["--save", "@quark"]].concat());
    let loaded = job_in(&folder, &[&two[..], &["--load", "@quark"]].concat());
    same(&saved["mesons"], &loaded["mesons"], "mesons");
    same(&saved["baryons"], &loaded["baryons"], "baryons");
}

#[test]
fn multigrid() {
    let folder = Folder::new("jobs-multigrid");
    let solver = ["--solver", "mg", "--precision", "double", "--csw", "1.2"];
    let save = [&solver[..], &["--save-multigrid", "@null"]].concat();
    let c = job_in(&folder, &save);
    assert_eq!(c["solver"]["name"], "multigrid");
    assert!(c["multigrid"]["levels"].as_array().unwrap().len() > 1);
    job_in(&folder, &[&solver[..], &["--load-multigrid", "@null"]].concat());
}

/// Results for every one of several kappas are those of a run with it alone, heavy quarks first, and multigrid keeps
/// its null vectors.
#[test]
fn several_kappas() {
    let folder = Folder::new("jobs-kappas");
    let solver = ["--solver", "mg", "--precision", "double", "--csw", "1.2", "--tol", "1e-12"];
    let smearing = ["--source-smear", "0.3,2", "--smear-links", "0.5,1", "--plot", "@masses.svg"];
    let run = |kappa: &str| {
        let arguments = [&["--kappa", kappa][..], &solver, &smearing].concat();
        job_of(&programs()[0], &folder, "", &arguments)
    };
    let all = run("0.13,0.125");
    let picture = std::fs::read_to_string(folder.0.join("masses.svg")).unwrap();
    assert!(["pion, 0.125<", "pion, 0.13<"].iter().all(|name| picture.contains(name)));
    let runs = all["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for (one, (kappa, refresh)) in runs.iter().zip([("0.125", "none"), ("0.13", "keep")]) {
        assert_eq!(one["multigrid"]["refresh"], refresh);
        let alone = run(kappa);
        assert_eq!(alone["multigrid"]["refresh"], "none");
        for part in ["job", "action", "plaquette", "correlators"] {
            same(&one[part], &alone[part], part);
        }
    }
}

/// A run that is started again with more kappas computes only the new ones.
#[test]
fn kappas_are_added() {
    let folder = Folder::new("jobs-more-kappas");
    let json = folder.0.join("out.json");
    let mut files = vec![];
    for kappas in ["0.12", "0.13,0.12", "0.11,0.12,0.13"] {
        let mut job = programs()[0].command();
        job.args(["--gauge", SMALL, "--kappa", kappas, "--continue", "yes", "--json"]).arg(&json);
        let out = job.output().unwrap();
        assert!(out.status.success(), "{out:?}");
        files.push(serde_json::from_slice::<Value>(&std::fs::read(&json).unwrap()).unwrap());
    }
    let old = |run: &Value| run["configurations"]["sources_taken_over"].as_i64().unwrap();
    let all = |file: &Value| file["runs"].as_array().unwrap().iter().map(old).collect::<Vec<_>>();
    assert_eq!([all(&files[1]), all(&files[2])], [vec![1, 0], vec![0, 1, 1]]);
    same(&files[0]["mesons"], &files[2]["runs"][1]["mesons"], "mesons");
}

#[test]
fn solvers() {
    for solver in ["bicgstab", "gcr", "cgne"] {
        job(solver, &["--solver", solver, "--columns", "5", "--boundary", "periodic"]);
    }
}

/// Every choice of multigrid's cycle is accepted, and errors of solutions are reported.
#[test]
fn cycles_and_errors() {
    let levels = ["--mg-smoother", "red-black", "--mg-post", "3", "--mg-coarsest", "direct"];
    let others = ["--mg-cycle", "v", "--mg-deep-cycle", "w", "--mg-coarse-smoother", "mr"];
    let steps = [
        "--mg-coarse-post",
        "6",
        "--mg-precision",
        "half",
        "--mg-links",
        "single",
        "--mg-vectors",
        "20",
    ];
    let solves = ["--mg-tol", "0.3", "--mg-iterations", "6", "--mg-coarsest-tol", "0.2"];
    let setup = ["--mg-setup", "15", "--mg-refinements", "2", "--nkrylov", "6"];
    let solver = ["--solver", "mg", "--csw", "1.2"];
    job("levels", &[&solver[..], &levels].concat());
    job("modes", &[&solver[..], &others, &steps, &solves, &setup, &["--mg-modes", "2"]].concat());
    let shape = ["--mg-levels", "3", "--mg-blocks", "2,2,2,2:1,2,2,1", "--mg-setup", "15"];
    let made = ["--mg-setup-solver", "cg", "--mg-setup-columns", "5", "--mg-vectors", "6"];
    let links = ["--mg-links", "quarter"];
    let c = job("shape", &[&solver[..], &shape, &made, &links].concat());
    let blocks: Vec<_> =
        c["multigrid"]["levels"].as_array().unwrap().iter().map(|l| &l["block"]).collect();
    assert_eq!(format!("{blocks:?}").matches("Number(2)").count(), 6, "{blocks:?}");
    assert_eq!(blocks.len(), 3);
    let c = job("error", &["--solver", "bicgstab", "--error", "1e-13"]);
    let errors = chain::numbers(&c["solver"]["errors"]);
    assert!(errors.len() == 12 && errors.iter().all(|e| *e > 0.0 && *e < 1e-9), "{errors:?}");
}

/// Runs the overlap subcommand; returns its JSON and the picture.
fn overlap(name: &str, arguments: &[&str]) -> (Value, String) {
    let folder = Folder::new(&format!("jobs-overlap-{name}"));
    let common = ["--modes", "6", "--plot", "@plot.svg"];
    let json = job_of(&all("overlap")[0], &folder, "", &[&common[..], arguments].concat());
    (json, std::fs::read_to_string(folder.0.join("plot.svg")).unwrap())
}

/// The program finds the overlap operator's modes at both ends of the spectrum and its locality, and draws them.
#[test]
fn overlap_modes() {
    let arguments = ["--task", "modes", "--high", "3", "--locality", "yes", "--delta", "1e-4"];
    let (c, picture) = overlap("modes", &arguments);
    let value = |list: &Value, k: usize| list[k]["value"].as_f64().unwrap();
    let (low, high) = (&c["kernel"]["low"], &c["kernel"]["high"]);
    assert_eq!(high.as_array().unwrap().len(), 3);
    for k in 0..3 {
        let gap = high[k]["gap"].as_f64().unwrap();
        assert!(gap >= 0.0 && high[k]["residual"].as_f64().unwrap() < 1e-2, "{high}");
        assert!(k == 0 || value(high, k) <= value(high, k - 1));
    }
    let locality = chain::numbers(&c["locality"]);
    assert_eq!(locality.len(), 11);
    assert!(locality[0] > 1.0 && locality[10] < 1e-1 * locality[0], "{locality:?}");
    // The picture has a disc for each positive eigenvalue, and one in the legend.
    let count = low.as_array().unwrap().len();
    let positive = (0..count).filter(|&k| value(low, k) > 0.0).count();
    assert!(count >= 6 && picture.ends_with("</svg>\n"));
    assert_eq!(picture.matches("<circle").count(), positive + 1, "{picture}");
}

#[test]
fn overlap_index_by_zolotarev() {
    let arguments = ["--task", "index", "--low", "1", "--sign", "zolotarev", "--delta", "1e-3"];
    let (c, picture) = overlap("index", &arguments);
    assert_eq!(c["operator"]["sign"], "zolotarev");
    let zeros = chain::numbers(&c["overlap"]["zeros"]);
    assert_eq!(c["index"].as_f64().unwrap(), zeros[1] - zeros[0]);
    // Eigenvalues are exact up to the error of the sign function times (2 rho)^2.
    let error = c["operator"]["error_bound"].as_f64().unwrap();
    assert!(error < 2e-3, "{error}");
    for name in ["plus", "minus"] {
        let values = chain::numbers(&c["overlap"]["low"][name]);
        let residuals = chain::numbers(&c["overlap"]["low"][&format!("{name}_residuals")]);
        assert!(values.len() == 1 && values.iter().all(|v| *v < 7.84), "{values:?}");
        assert!(residuals.iter().all(|r| *r <= 7.85 * error), "{residuals:?}");
    }
    // The picture has the circle of all eigenvalues and one low eigenvalue of positive chirality, a disc; each also in
    // the legend.
    assert_eq!(picture.matches("<polyline").count(), 2, "{picture}");
    assert_eq!(picture.matches("<circle").count(), 2, "{picture}");
    assert!(picture.contains("positive chirality") && picture.contains("index "), "{picture}");
}

/// Correlators of two masses satisfy the identity that the sum of the pion's is the condensate over the mass.
#[test]
fn overlap_propagators_of_two_masses() {
    let arguments = [
        "--task",
        "propagator",
        "--mass",
        "0.4,0.6",
        "--low",
        "0",
        "--tol",
        "1e-4",
        "--delta",
        "1e-4",
    ];
    let (c, _) = overlap("propagator", &arguments);
    assert_eq!(c["solver"]["converged"], true);
    let all = c["correlators"].as_array().unwrap();
    assert_eq!(all.len(), 2);
    for (one, mass) in all.iter().zip([0.4, 0.6]) {
        let condensate = one["condensate"].as_f64().unwrap();
        let pion = chain::numbers(&one["pion"]);
        assert_eq!(one["mass"], mass);
        let sum = mass * pion.iter().sum::<f64>();
        assert!((sum - condensate).abs() < 1e-2 * condensate, "{sum} {condensate}");
        for name in ["rho_x", "rho_y", "rho_z", "nucleon"] {
            assert_eq!(chain::numbers(&one[name]).len(), 8);
        }
        let masses = chain::numbers(&one["effective_mass"]["pion"]);
        assert!(masses.len() == 8 && masses[1] > 0.1 && masses[1] < 5.0, "{masses:?}");
    }
}

/// Averages over several configurations have errors, and a picture.
#[test]
fn several_configurations() {
    let folder = Folder::new("jobs-several");
    let files = chain::configurations(&folder).join(":");
    let more = ["--bin", "2", "--source", "point,0,0,0,0:wall,3", "--plot", "@masses.svg"];
    let c = job_on_gauge(&folder, &files, &more);
    assert_eq!(c["configurations"]["bins"], 2);
    let picture = std::fs::read_to_string(folder.0.join("masses.svg")).unwrap();
    assert!(picture.contains("class=\"error\"") && picture.ends_with("</svg>\n"), "{picture}");
    assert!(picture.contains(", 5 configurations: effective masses"), "{picture}");
}

/// Between boundaries masses go from each slice to the next one farther from the source, before it as behind it.
#[test]
fn masses_between_boundaries_go_outward() {
    let folder = Folder::new("jobs-open");
    let options =
        "--lattice 4,4,4,8 --boundary-time open --beta 6.0 --thermalise 5 --configurations 1 --out";
    let out = folder.0.join("open");
    run(all("heatbath")[0].command().args(options.split(' ')).arg(&out));
    let gauge = format!("{}.00001", out.display());
    let c = job_on_gauge(&folder, &gauge, &["--source", "point,0,0,0,4"]);
    let pion = chain::numbers(&c["correlators"]["pion"]);
    let masses = chain::numbers(&c["effective_mass"]["pion"]);
    // Time t from the source is slice (4 + t) mod 8; slices 0 and 7 are boundaries.
    for (t, farther) in [(0, 1), (1, 2), (7, 6), (6, 5)] {
        let expected = (pion[t] / pion[farther]).ln();
        assert!(expected > 0.0 && (masses[t] - expected).abs() < 1e-12, "{t}: {masses:?}");
    }
    assert!(masses[2..6].iter().all(|mass| mass.is_nan()), "{masses:?}");
}

/// A fit uses the times that were asked for, also beyond the lattice's middle: a fit to the sum for two masses lies
/// between the masses.
#[test]
fn masses_are_fitted_to_the_times_asked_for() {
    let folder = Folder::new("jobs-fit");
    let files = chain::configurations(&folder).join(":");
    for [from, to] in [[1, 2], [2, 4], [4, 5], [5, 6]] {
        let c = job_on_gauge(&folder, &files, &["--fit", &format!("{from},{to}")]);
        let masses = chain::numbers(&c["effective_mass"]["pion"])[from..=to].to_vec();
        let fit = &c["fits"]["pion"];
        assert!(fit["from"] == from && fit["to"] == to, "{fit}");
        let mass = fit["mass"].as_f64().unwrap();
        let least = masses.iter().copied().fold(f64::INFINITY, f64::min);
        let most = masses.iter().copied().fold(0.0, f64::max);
        assert!(
            least < mass && mass < most && fit["error"].as_f64().unwrap() > 0.0,
            "{fit} {masses:?}"
        );
    }
}

/// Runs subcommands whose input is not --gauge FILE and checks their JSON.
#[test]
fn reports_of_other_programs() {
    let folder = Folder::new("jobs-reports");
    let small = std::fs::canonicalize(SMALL).unwrap().display().to_string();
    let chain = "--lattice 4,2,6,4 --beta 5.9 --start cold --thermalise 2 --separation 1 --configurations 3 --out b";
    let device = std::env::var("PLAQ_TEST_DEVICE").unwrap_or("auto".into());
    for (name, arguments, list) in [
        ("plaquette", vec![small.as_str(), "absent", &small], "files"),
        ("heatbath", chain.split(' ').collect(), "configurations"),
    ] {
        let own = folder.0.join(name);
        std::fs::create_dir_all(&own).unwrap();
        let mut job = all(name)[0].command();
        job.current_dir(&own).args(["--device", &device, "--json", "out.json"]);
        let out = job.args(&arguments).output().unwrap();
        // One of the given files cannot be read.
        assert_eq!(out.status.code(), Some((name == "plaquette") as i32), "{out:?}");
        let text = std::fs::read_to_string(own.join("out.json")).unwrap();
        let report: Value =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e} in\n{text}"));
        let entries = report[list].as_array().unwrap();
        assert_eq!(entries.len(), if name == "plaquette" { 2 } else { 3 }, "{report}");
        assert_eq!(report["stopped"], false);
        assert_eq!(report["refused"], if name == "plaquette" { 1.into() } else { Value::Null });
    }
    let text = std::fs::read_to_string(folder.0.join("heatbath/out.json")).unwrap();
    let first: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(first["lattice"], serde_json::json!([4, 2, 6, 4]));
    assert_eq!(first["configurations"][2]["file"], "b.00003");
    assert_eq!(first["configurations"][2]["sweeps"], 4);
}
