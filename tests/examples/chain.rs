//! Tests of `propagator` over several configurations: averages, jackknife errors, resumed runs.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::common::Folder;
use super::programs::{job_on, Program};
use super::{heatbath, propagator};

const COUNT: usize = 5;

/// Part of a folder's name that tells programs apart.
fn stem(program: &Program) -> String {
    program.name.to_string()
}

/// Writes configurations in a folder and returns their names.
pub fn configurations(folder: &Folder) -> Vec<String> {
    let out = heatbath::programs()[0]
        .command()
        .current_dir(&folder.0)
        .args(["--lattice", "4,2,4,8", "--beta", "5.8", "--thermalise", "20", "--separation", "5"])
        .args(["--configurations", &COUNT.to_string(), "--out", "c", "--device", "cpu"])
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    (1..=COUNT).map(|n| folder.0.join(format!("c.{n:05}")).display().to_string()).collect()
}

pub fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list}"));
    list.iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
}

fn mean(of: &[&Vec<f64>]) -> Vec<f64> {
    (0..of[0].len()).map(|t| of.iter().map(|c| c[t]).sum::<f64>() / of.len() as f64).collect()
}

/// Effective mass arcosh[(C(t-1) + C(t+1)) / 2 C(t)] for all times but the first and last.
fn cosh_mass(c: &[f64]) -> Vec<f64> {
    let inside = 1..c.len() - 1;
    inside.map(|t| ((c[t - 1] + c[t + 1]) / (2.0 * c[t])).acosh()).collect()
}

/// The mean and the jackknife error sqrt((B - 1)/B sum (v_b - v)^2) of a function, over the B bins [from, to).
fn errors(all: &[Vec<f64>], bins: &[(usize, usize)], of: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let without: Vec<Vec<f64>> = bins
        .iter()
        .map(|&(from, to)| {
            let rest: Vec<&Vec<f64>> =
                (0..all.len()).filter(|c| !(from..to).contains(c)).map(|c| &all[c]).collect();
            of(&mean(&rest))
        })
        .collect();
    let n = bins.len() as f64;
    (0..without[0].len())
        .map(|t| {
            let mean = without.iter().map(|v| v[t]).sum::<f64>() / n;
            let sum: f64 = without.iter().map(|v| (v[t] - mean).powi(2)).sum();
            (sum * (n - 1.0) / n).sqrt()
        })
        .collect()
}

fn close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (t, (a, b)) in found.iter().zip(expected).enumerate() {
        // These are differences of correlators, each with noise of 1e-12.
        assert!((a - b).abs() <= 1e-7 * b.abs(), "{what} t={t}: {a:e} {b:e}");
    }
}

#[test]
fn errors_are_those_of_the_jackknife() {
    propagator::programs().iter().for_each(jackknife);
}

fn jackknife(program: &Program) {
    let folder = Folder::new(&format!("jackknife-{}", stem(program)));
    let files = configurations(&folder);
    let common = ["--kappa", "0.11", "--tol", "1e-12", "--source", "point,0,0,0,0:point,2,0,2,4"];
    let single: Vec<Value> = files.iter().map(|f| job_on(program, f.as_ref(), &common)).collect();
    let list = folder.0.join("list");
    std::fs::write(&list, files.join("\n")).unwrap();
    let together = files.join(":");
    for (gauge, bin, bins) in [
        (together, "1", &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)][..]),
        (format!("@{}", list.display()), "2", &[(0, 2), (2, 5)]),
    ] {
        let all = job_on(program, gauge.as_ref(), &[&common[..], &["--bin", bin]].concat());
        assert_eq!(all["configurations"]["done"], COUNT);
        assert_eq!(all["configurations"]["bins"], bins.len());
        assert_eq!(all["samples"].as_array().unwrap().len(), 2 * COUNT);
        let each = |group: &str, name: &str| -> Vec<Vec<f64>> {
            single.iter().map(|c| numbers(&c[group][name])).collect()
        };
        for name in ["pion", "nucleon"] {
            let of = each("correlators", name);
            let average = mean(&of.iter().collect::<Vec<_>>());
            close(&numbers(&all["correlators"][name]), &average, name);
            let error = errors(&of, bins, |c| c.to_vec());
            close(&numbers(&all["correlators_error"][name]), &error, name);
        }
        let pion = each("correlators", "pion");
        let average = cosh_mass(&mean(&pion.iter().collect::<Vec<_>>()));
        let found = |group: &str| numbers(&all[group]["pion"])[1..7].to_vec();
        close(&found("effective_mass"), &average, "mass");
        close(&found("effective_mass_error"), &errors(&pion, bins, cosh_mass), "error of the mass");
        let entry = |json: &Value, part: &str| numbers(&json["mesons"][5][part]);
        let of: Vec<Vec<f64>> = single.iter().map(|c| entry(c, "re")).collect();
        close(&entry(&all, "re_error"), &errors(&of, bins, |c| c.to_vec()), "a meson");
    }
    // A single configuration has no statistical error.
    assert!(single[0].get("correlators_error").is_none());
}

/// A run that SIGTERM ended after some propagators and that is started again gives the same bits as an uninterrupted
/// run.
#[test]
fn a_run_that_was_stopped_goes_on() {
    propagator::programs().iter().for_each(goes_on);
}

fn goes_on(program: &Program) {
    let folder = Folder::new(&format!("goes-on-{}", stem(program)));
    let files = configurations(&folder).join(":");
    let json = folder.0.join("out.json");
    let common = ["--kappa", "0.12", "--source", "point,0,0,0,0:Wall,3", "--tol", "1e-11"];
    let all = job_on(program, files.as_ref(), &common);
    let command = || {
        let device = std::env::var("PLAQ_TEST_DEVICE").unwrap_or("auto".into());
        let mut command = program.command();
        command.args(["--gauge", &files, "--device", &device, "--continue", "yes", "--json"]);
        command.arg(&json).args(common).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let read = || -> Value { serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap() };
    let mut child = command().spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let done = lines.by_ref().filter(|l| l.as_ref().unwrap().contains(" iterations, residual"));
    assert_eq!(done.take(3).count(), 3);
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    lines.for_each(drop);
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&out.stdout).contains("INTERRUPTED"));
    let some = read()["samples"].as_array().unwrap().len();
    assert!((3..2 * COUNT).contains(&some), "{some}");

    let out = command().output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{said}");
    assert_eq!(said.matches(": skipped, ").count(), some, "{said}");
    let found = read();
    assert_eq!(found["job"], all["job"]);
    // On a GPU the tuner may choose other launch shapes in each process, which round differently.
    if std::env::var("PLAQ_TEST_DEVICE").as_deref() != Ok("cuda") {
        for part in
            ["mesons", "baryons", "correlators", "correlators_error", "effective_mass_error"]
        {
            assert_eq!(found[part], all[part], "{part}");
        }
        assert_eq!(found["samples"], all["samples"]);
        assert_eq!(found["plaquette"], all["plaquette"]);
    }
    let pion = |json: &Value| numbers(&json["correlators"]["pion"]);
    close(&pion(&found), &pion(&all), "pion");
    assert_eq!(found["configurations"]["sources_taken_over"], some);

    // Nothing is left to do. Then: the output of another run, and a file of another kind.
    let out = command().output().unwrap();
    assert!(out.status.success());
    assert!(!String::from_utf8_lossy(&out.stderr).contains("iteration"));
    for (arguments, message) in [
        (&["--csw", "1"][..], "of another run: csw 0.0 there, 1.0 here"),
        (
            &["--noise", "z2", "--seed", "3"],
            "of another run: noise \"none\" there, \"z2\" here; seed ",
        ),
    ] {
        let out = command().args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(1), "{text}");
        assert!(text.contains(message), "{text}");
    }
    std::fs::write(&json, "{}").unwrap();
    let out = command().output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("not the JSON"));
}

/// Noise on walls at all times, which is noise on the volume diluted in time, equals the walls' noise one by one.
#[test]
fn walls_at_all_times_are_those_one_by_one() {
    let folder = Folder::new("walls");
    let file = &configurations(&folder)[0];
    for program in propagator::programs() {
        let run = |source: &str| {
            let noise = ["--kappa", "0.1", "--noise", "z4", "--seed", "5", "--source", source];
            job_on(program, file.as_ref(), &noise)
        };
        let walls: Vec<String> = (0..8).map(|t| format!("wall,{t}")).collect();
        let (all, each) = (run("wall,all"), run(&walls.join(":")));
        assert_eq!(all["sources"], each["sources"]);
        assert_eq!(all["mesons"], each["mesons"]);
    }
}

/// A run that is started again with one more configuration computes only the new one.
#[test]
fn a_run_goes_on_with_more_configurations() {
    let folder = Folder::new("takes-over");
    let files = configurations(&folder);
    let common = ["--kappa", "0.1", "--csw", "1.3", "--tol", "1e-11", "--baryons", "delta,nucleon"];
    for program in propagator::programs() {
        let json = folder.0.join("out.json");
        let run = |gauge: &str, more: &[&str]| {
            let mut command = program.command();
            command.args(["--gauge", gauge, "--json"]).arg(&json).args(common).args(more);
            let out = command.output().unwrap();
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            let found = std::fs::read(&json).unwrap();
            serde_json::from_slice::<Value>(&found).unwrap()
        };
        let some = run(&files[..2].join(":"), &[]);
        let all = run(&files[..3].join(":"), &["--continue", "yes"]);
        assert_eq!(all["configurations"]["sources_taken_over"], 2);
        assert_eq!(all["configurations"]["done"], 3);
        for c in 0..2 {
            assert_eq!(all["samples"][c]["numbers"], some["samples"][c]["numbers"]);
        }
    }
}

#[test]
fn what_cannot_go_on_is_refused() {
    propagator::programs().iter().for_each(refusals);
}

fn refusals(program: &Program) {
    for (arguments, status, message) in [
        (&["--continue", "yes"][..], 2, "--json"),
        (&["--continue", "maybe", "--json", "absent/folder.json"], 2, "no, yes"),
        (&["--bin", "0"], 2, "--bin"),
        (&["--gauge", "@absent"], 1, "absent"),
        (&["--source", "wall,all:wall,1"], 2, "stands alone"),
        (&["--json", "absent/folder.json"], 1, "absent/folder.json"),
        (&["--plot", "absent/folder.svg"], 1, "absent/folder.svg"),
        (&["--error", "1e-12", "--gauge", "a:b"], 2, "one configuration"),
    ] {
        let mut command = program.command();
        command.args(["--kappa", "0.1"]).args(arguments);
        if !arguments.contains(&"--gauge") {
            command.args(["--gauge", "absent"]);
        }
        let out = command.output().unwrap();
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(status), "{arguments:?}: {text}");
        assert!(text.contains(message), "{arguments:?}: {text}");
    }
}
