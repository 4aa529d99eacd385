//! Tests of pictures: bars show the errors in the JSON, and the mean of a history is the mean of its values.

use std::path::Path;

use super::chain::{configurations, numbers};
use super::common::Folder;
use super::programs::job_on;
use super::{heatbath, propagator};

/// Midpoints and lengths of the bars of one colour in an SVG.
fn bars(svg: &str, colour: &str) -> Vec<(f64, f64)> {
    let lines = svg.lines().filter(|l| l.contains("class=\"error\"") && l.contains(colour));
    lines
        .map(|l| {
            let path = l.split("d=\"M").nth(1).unwrap().split('"').next().unwrap();
            let (top, rest) = path.split_once("h6m-3 0V").unwrap();
            let top: f64 = top.split(' ').nth(1).unwrap().parse().unwrap();
            let bottom: f64 = rest.split_once('m').unwrap().0.parse().unwrap();
            (0.5 * (top + bottom), bottom - top)
        })
        .collect()
}

#[test]
fn bars_of_effective_masses_are_their_errors() {
    let folder = Folder::new("bars");
    let files = configurations(&folder);
    for program in propagator::programs() {
        let plot = folder.0.join("masses.svg").display().to_string();
        let run = |gauge: &str| {
            let json = job_on(program, Path::new(gauge), &["--kappa", "0.11", "--plot", &plot]);
            (json, std::fs::read_to_string(&plot).unwrap())
        };
        let (_, svg) = run(&files[0]);
        assert!(svg.contains("<circle") && !svg.contains("class=\"error\""), "{svg}");
        let (json, svg) = run(&files.join(":"));
        assert!(svg.ends_with("</svg>\n"));
        let masses = numbers(&json["effective_mass"]["pion"])[1..4].to_vec();
        let errors = numbers(&json["effective_mass_error"]["pion"])[1..4].to_vec();
        let drawn = bars(&svg, "#0072b2");
        assert_eq!(drawn.len(), 3, "{svg}");
        // The axis of masses is linear: the heights of two masses give its unit.
        let unit = (drawn[2].0 - drawn[0].0) / (masses[0] - masses[2]);
        assert!(unit > 0.0);
        for ((_, length), error) in drawn.iter().zip(errors) {
            assert!((length - 2.0 * error * unit).abs() < 0.3, "{length} {error} {unit}");
        }
    }
}

/// The picture shows mean, error and autocorrelation time of all sweeps after thermalisation.
#[test]
fn the_mean_of_a_history() {
    let program = &heatbath::programs()[0];
    let folder = Folder::new("history");
    let run = |count: &str| {
        let out = program
            .command()
            .current_dir(&folder.0)
            .args(["--lattice", "4,4,2,4", "--beta", "5.5", "--thermalise", "10", "--separation"])
            .args(["1", "--overrelax", "0", "--configurations", count, "--plot", "history.svg"])
            .args(["--overwrite", "yes", "--device", "cpu"])
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let svg = std::fs::read_to_string(folder.0.join("history.svg")).unwrap();
        (String::from_utf8(out.stdout).unwrap(), svg)
    };
    let (text, svg) = run("400");
    let rows = text.lines().filter(|l| !l.starts_with('#'));
    let v: Vec<f64> = rows.map(|l| l.split_whitespace().nth(2).unwrap().parse().unwrap()).collect();
    assert_eq!(v.len(), 400);
    let n = v.len() as f64;
    let mean = v.iter().sum::<f64>() / n;
    let gamma = |t: usize| {
        let pairs = v.iter().zip(&v[t..]).map(|(a, b)| (a - mean) * (b - mean));
        pairs.sum::<f64>() / (n - t as f64)
    };
    let (mut tau, mut t) = (0.5, 0);
    while t == 0 || (t as f64) < 6.0 * tau {
        t += 1;
        tau = f64::max(tau + gamma(t) / gamma(0), 0.5);
    }
    let error = (2.0 * tau * gamma(0) / n).sqrt();
    let line = text.lines().find(|l| l.starts_with("# plaquette of 400 sweeps")).expect(&text);
    let found: Vec<f64> = line.split([' ', ',']).filter_map(|w| w.parse().ok()).collect();
    let [_, m, e, a] = found[..] else { panic!("{line}") };
    assert!((m - mean).abs() < 1e-11, "{line} {mean}");
    assert!((e / error - 1.0).abs() < 0.01 && (a - tau).abs() < 0.01, "{line} {error} {tau}");
    assert!(tau > 0.6, "the test sees no autocorrelation: {tau}");
    assert_eq!(svg.matches("class=\"mean\"").count(), 1);
    let (text, svg) = run("10");
    assert!(!text.contains("sweeps: mean") && !svg.contains("class=\"mean\""), "{text}");
}
