//! The programs in C and in Fortran have the same options and the same JSON.

use std::path::Path;

use serde_json::Value;

use super::chain;
use super::common::Folder;
use super::programs::{has_both, job_on};
use super::propagator::programs;

const SMALL: &str = "tests/data/quenched-b6.0-4x4x4x8.ildg";

/// What depends on the clock or on the last bits of an iteration.
const APART: [&str; 9] = [
    "seconds",
    "setup_seconds",
    "residual",
    "residual_hq",
    "residuals",
    "memory_peak",
    "reduction",
    "iterations",
    // Of --error: as large as the tolerance lets it.
    "errors",
];

fn numbers(list: &[Value]) -> Option<Vec<f64>> {
    list.iter().map(|v| if v.is_null() { Some(f64::NAN) } else { v.as_f64() }).collect()
}

/// Members in the same order; numbers to rounding of the largest in their list.
fn same(a: &Value, b: &Value, at: &str) {
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

/// Both programs with the same options, where `@` stands for a folder of each; C's JSON.
fn both(name: &str, arguments: &[&str]) -> Option<Value> {
    let folder = Folder::new(&format!("twins-{name}"));
    both_in(&folder, arguments)
}

fn both_in(folder: &Folder, arguments: &[&str]) -> Option<Value> {
    both_on(folder, "", arguments)
}

/// On other configurations than the usual one.
fn both_on(folder: &Folder, gauge: &str, arguments: &[&str]) -> Option<Value> {
    if !has_both(programs()) {
        return None;
    }
    let common = ["--kappa", "0.12", "--tol", "1e-12"];
    let run = |program: &Path, own: &str| {
        let own = folder.0.join(own);
        std::fs::create_dir_all(&own).unwrap();
        let arguments: Vec<String> =
            arguments.iter().map(|a| a.replace('@', &format!("{}/", own.display()))).collect();
        let arguments: Vec<&str> = arguments.iter().map(|a| a.as_str()).collect();
        let gauge = if gauge.is_empty() { SMALL } else { gauge };
        job_on(program, Path::new(gauge), &[&common[..], &arguments].concat())
    };
    let (c, f) = (run(&programs()[0], "c"), run(&programs()[1], "f"));
    same(&c, &f, "");
    Some(c)
}

#[test]
fn sources() {
    let sources = "point,0,0,0,0:point,1,2,3,4:wall,3";
    let all = both("sources", &["--source", sources, "--source-momentum", "1,0,-1"]);
    assert!(all.is_none_or(|c| c["sources"].as_array().unwrap().len() == 3));
}

#[test]
fn noise() {
    for (kind, source) in [("z2", "wall,2"), ("z4", "wall,all")] {
        let Some(c) = both(kind, &["--noise", kind, "--seed", "7", "--source", source]) else {
            return;
        };
        assert_eq!(c["sources"][0]["noise"], kind);
        assert_eq!(c["sources"].as_array().unwrap().len(), if kind == "z4" { 8 } else { 1 });
    }
}

#[test]
fn smearing() {
    let links = ["--smear-links", "0.5,2"];
    both("smear", &[&["--source-smear", "0.3,5", "--sink-smear", "0.2,4"][..], &links].concat());
    both("smear-sink", &["--sink-smear", "0.2,4"]);
}

#[test]
fn momenta_masses_and_baryons() {
    let two = ["--momenta", "0,0,0:1,0,-1", "--kappa-strange", "0.11", "--baryons", "all"];
    let Some(c) = both("hadrons", &[&two[..], &["--csw", "1.1"]].concat()) else { return };
    assert_eq!(c["mesons"].as_array().unwrap().len(), 3 * 2 * 16);
    assert_eq!(c["baryons"].as_array().unwrap().len(), 2 * 8);
    both("names", &["--baryons", "delta,omega,nucleon", "--normalisation", "mass"]);
}

/// Each reads the other's files, too: they are under the same names in folders of both.
#[test]
fn files() {
    let folder = Folder::new("twins-files");
    let two = ["--source", "point,0,0,0,0:wall,2", "--kappa-strange", "0.11"];
    let Some(saved) = both_in(&folder, &[&two[..], &["--save", "@quark"]].concat()) else { return };
    for (c, f) in [("c", "swap"), ("f", "c"), ("swap", "f")] {
        std::fs::rename(folder.0.join(c), folder.0.join(f)).unwrap();
    }
    let loaded = both_in(&folder, &[&two[..], &["--load", "@quark"]].concat()).unwrap();
    same(&saved["mesons"], &loaded["mesons"], "mesons");
    same(&saved["baryons"], &loaded["baryons"], "baryons");
}

#[test]
fn multigrid() {
    let folder = Folder::new("twins-multigrid");
    let solver = ["--solver", "mg", "--precision", "double", "--csw", "1.2"];
    let save = [&solver[..], &["--save-multigrid", "@null"]].concat();
    let Some(c) = both_in(&folder, &save) else { return };
    assert_eq!(c["solver"]["name"], "mg");
    assert!(c["multigrid"]["levels"].as_array().unwrap().len() > 1);
    both_in(&folder, &[&solver[..], &["--load-multigrid", "@null"]].concat());
}

#[test]
fn solvers() {
    for solver in ["bicgstab", "gcr", "cgne"] {
        both(solver, &["--solver", solver, "--rhs", "5", "--time-bc", "periodic"]);
    }
}

/// The choices of multigrid's cycle, and how far a solution is off.
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
    let setup = ["--mg-setup", "15", "--mg-refinements", "2", "--krylov", "6"];
    let solver = ["--solver", "mg", "--csw", "1.2"];
    if both("levels", &[&solver[..], &levels].concat()).is_none() {
        return;
    }
    both("modes", &[&solver[..], &others, &steps, &solves, &setup, &["--mg-modes", "2"]].concat());
    let shape = ["--mg-levels", "3", "--mg-aggregate", "2,2,2,2:1,2,2,1", "--mg-setup", "15"];
    let made = ["--mg-setup-solver", "cg", "--mg-setup-columns", "5", "--mg-vectors", "6"];
    let c = both("shape", &[&solver[..], &shape, &made].concat()).unwrap();
    let blocks: Vec<_> =
        c["multigrid"]["levels"].as_array().unwrap().iter().map(|l| &l["block"]).collect();
    assert_eq!(format!("{blocks:?}").matches("Number(2)").count(), 6, "{blocks:?}");
    assert_eq!(blocks.len(), 3);
    let c = both("error", &["--solver", "bicgstab", "--error", "1e-13"]).unwrap();
    let errors = chain::numbers(&c["solver"]["errors"]);
    assert!(errors.len() == 12 && errors.iter().all(|e| *e > 0.0 && *e < 1e-9), "{errors:?}");
}

/// Averages with their errors, and the picture.
#[test]
fn several_configurations() {
    let folder = Folder::new("twins-several");
    let files = chain::configurations(&folder).join(":");
    let more = ["--bin", "2", "--source", "point,0,0,0,0:wall,3", "--plot", "@masses.svg"];
    let Some(c) = both_on(&folder, &files, &more) else { return };
    assert_eq!(c["configurations"]["bins"], 2);
    let picture =
        |own: &str| std::fs::read_to_string(folder.0.join(own).join("masses.svg")).unwrap();
    // Coordinates may differ by a unit of their last place.
    let words = |own: &str| -> Vec<String> {
        let text = picture(own).replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', " ");
        text.split_whitespace().map(String::from).collect()
    };
    let (c, f) = (words("c"), words("f"));
    assert_eq!(c.len(), f.len());
    assert!(c.iter().zip(&f).filter(|(a, b)| a != b).count() <= 3, "{c:?} {f:?}");
}
