//! Output of the program agrees with the pages that document it, and completions of shells with the tables of
//! options.

use std::collections::HashSet;
use std::process::{Command, Stdio};

use plaq::capi::table::Item;
use serde_json::Value;

use super::common::Folder;
use super::programs::{plaq, NAMES};

const SMALL: &str = "tests/data/quenched-b6.0-4x4x4x8.ildg";

/// Keys whose members have names from the input: monomials, averages, gammas and momenta.
const NAMED: [&str; 4] = ["forces", "averages", "mesons", "baryons"];

fn keys(value: &Value, under: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                if !NAMED.contains(&under) {
                    all.push(key.clone());
                }
                let inside = if matches!(under, "mesons" | "baryons") { under } else { key };
                keys(value, inside, all);
            }
        }
        Value::Array(items) => items.iter().for_each(|value| keys(value, under, all)),
        _ => {}
    }
}

/// The text of a chapter of a page, with the text before the first chapter.
fn chapter(page: &str, name: &str) -> String {
    let mut parts = page.split("\n## ");
    let head = parts.next().unwrap();
    let found = parts.find(|p| p.starts_with(name)).unwrap_or_else(|| panic!("no chapter {name}"));
    format!("{head}{found}")
}

/// The members of the structs of C that a page names.
fn members_of(page: &str) -> HashSet<&'static str> {
    let items = plaq::capi::MODULES.iter().flat_map(|module| module.items);
    let named = items.filter_map(|item| match item {
        Item::Struct { name, fields, .. } if page.contains(&format!("`{name}`")) => Some(*fields),
        _ => None,
    });
    named.flatten().map(|field| field.name).collect()
}

/// Every key of every subcommand's JSON, and of a line of hmc's log, is described in its chapter of docs/json.md.
#[test]
fn keys_of_json_are_described() {
    let page = std::fs::read_to_string("docs/json.md").unwrap();
    let folder = Folder::new("json-keys");
    let json = folder.0.join("out.json").display().to_string();
    let input = folder.0.join("input.toml").display().to_string();
    let text = std::fs::read_to_string("examples-c/hmc/wilson.toml").unwrap();
    std::fs::write(&input, format!("reversibility_every = 1\n{text}")).unwrap();
    let jobs: [(&str, &[&str]); 11] = [
        ("plaquette", &[SMALL, "--wilson-loops", "1,2", "--json"]),
        ("heatbath", &["--lattice", "4,4,2,2", "--beta", "6", "--thermalise", "1", "--json"]),
        ("hmc", &[&input, "--trajectories", "1", "--log"]),
        ("propagator", &[SMALL, "--kappa", "0.12", "--json"]),
        ("propagator", &[SMALL, "--kappa", "0.12", "--solver", "multigrid", "--json"]),
        ("gaugefix", &[SMALL, "--condition", "maximally_abelian", "--residual", "yes", "--json"]),
        ("gaugefix", &[SMALL, "--condition", "coulomb", "--json"]),
        ("gluon", &[SMALL, "--fix", "yes", "--json"]),
        ("flow", &[SMALL, "--time", "0.1", "--json"]),
        (
            "reweight",
            &[SMALL, "--kappa", "0.12", "--kind", "rational", "--interval", "0.01,3", "--json"],
        ),
        (
            "overlap",
            &[
                SMALL,
                "--task",
                "modes",
                "--modes",
                "4",
                "--delta",
                "1e-3",
                "--locality",
                "yes",
                "--json",
            ],
        ),
    ];
    for (name, arguments) in jobs {
        let mut job = Command::new(plaq());
        job.arg(name).args(arguments).arg(&json).stdout(Stdio::null()).stderr(Stdio::piped());
        let done = job.output().unwrap();
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let text = std::fs::read_to_string(&json).unwrap();
        std::fs::remove_file(&json).unwrap();
        let found: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(found["schema"], 4, "{name}: {text}");
        assert!(name == "hmc" || found["subcommand"] == name, "{name}: {text}");
        let (mut all, chapter) = (vec![], chapter(&page, name));
        keys(&found, "", &mut all);
        assert!(all.len() > 5, "{name}: {all:?}");
        for key in all {
            let described = chapter.contains(&format!("`{key}`"));
            assert!(described || members_of(&chapter).contains(&*key), "{name}: {key}");
        }
    }
}

/// The completion for each installed shell parses and knows options and words; every subcommand has its manual page.
#[test]
fn shells_and_man_pages_have_the_tables() {
    let run = |arguments: &[&str]| {
        let out = Command::new(plaq()).args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let folder = Folder::new("completion");
    for shell in ["bash", "zsh", "fish"] {
        let (status, script, _) = run(&["completion", shell]);
        assert_eq!(status, Some(0));
        assert!(NAMES.iter().all(|name| script.contains(name)), "{shell}");
        assert!(script.contains("bicgstab") && script.contains("sink-smear"), "{shell}: {script}");
        let file = folder.0.join(shell);
        std::fs::write(&file, &script).unwrap();
        match Command::new(shell).arg("-n").arg(&file).output() {
            Ok(out) => assert!(out.status.success(), "{shell}: {out:?}"),
            Err(e) => println!("{shell} is not here: {e}"),
        }
    }
    let file = folder.0.join("bash").display().to_string();
    let complete = |words: &str, count: usize| {
        let script = format!(
            "source {file}; COMP_WORDS=({words}); COMP_CWORD={count}; _plaq; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let out = Command::new("bash").args(["-c", &script]).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    assert_eq!(complete("plaq prop", 1), "propagator\n");
    assert_eq!(complete("plaq propagator --sink", 2), "--sink-smear\n");
    assert_eq!(complete("plaq gaugefix --condition cou", 3), "coulomb\n");
    for name in NAMES {
        let (status, page, _) = run(&["man", name]);
        assert_eq!(status, Some(0));
        assert!(page.starts_with(&format!(".TH PLAQ-{} 1", name.to_uppercase())), "{page}");
        let help = run(&[name, "--help"]).1;
        let options =
            help.lines().filter(|l| l.starts_with("  --") && !l.contains("--help")).count();
        assert_eq!(page.matches("\n.TP\n").count(), options, "{name}: {page}");
    }
    assert!(run(&["man"]).1.contains(".B propagator"));
    for (arguments, told) in [
        (&["completion", "bahs"][..], "did you mean bash?"),
        (&["completion"], "expected one of bash, zsh, fish"),
        (&["man", "propagater"], "did you mean propagator?"),
    ] {
        let (status, _, text) = run(arguments);
        assert!(status == Some(2) && text.contains(told), "{text}");
    }
}
