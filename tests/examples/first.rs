//! Compiling, rehearsing and measuring launch shapes, which a GPU does in first calls only, change no result.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::common::Folder;
use super::programs::{all, job_with};

/// A JSON value without its times.
fn timeless(value: Value) -> Value {
    match value {
        Value::Object(all) => {
            let kept = all.into_iter().filter(|(name, _)| !name.contains("seconds"));
            Value::Object(kept.map(|(name, v)| (name, timeless(v))).collect())
        }
        Value::Array(all) => Value::Array(all.into_iter().map(timeless).collect()),
        other => other,
    }
}

#[test]
fn first_runs_give_what_later_ones_give() {
    if std::env::var("PLAQ_TEST_DEVICE").as_deref() != Ok("cuda") {
        println!("left out on the CPU, whose kernels are compiled");
        return;
    }
    let gauge = Path::new("tests/data/quenched-b6.0-8x8x8x8.nersc");
    // Solving for the columns one by one gives enough launches for trials of launch shapes.
    let propagator = ["--kappa", "0.13", "--csw", "1.769", "--baryons", "none", "--columns", "1"];
    for (name, options) in [
        ("propagator", [&propagator[..], &["--solver", "mg"]].concat()),
        (
            "propagator",
            [&propagator[..], &["--solver", "bicgstab", "--precision", "half"]].concat(),
        ),
        ("gaugefix", vec!["--condition", "landau"]),
    ] {
        let folder = Folder::new("first-runs");
        let cache = folder.0.join("cache");
        let run = |tune| {
            let variables = [("PLAQ_CACHE", cache.to_str().unwrap()), ("PLAQ_TUNE", tune)];
            timeless(job_with(&all(name)[0], gauge, &options, &variables))
        };
        let first = run("");
        // Shapes of all kernels are tried from their first launches on, as soon as they have been compiled beside the
        // work. A run that ends earlier leaves what it has compiled to the next one.
        let found = || cache.join("tune.json").exists();
        let start = Instant::now();
        while !found() && start.elapsed() < Duration::from_secs(60) {
            assert_eq!(first, run("0"), "{name} {options:?}");
        }
        assert!(found(), "{name} {options:?}: nothing was measured");
        assert_eq!(first, run(""), "{name} {options:?}");
    }
}
