//! The example program `propagator`, in C and in Fortran, against MILC's numbers.
//!
//! The programs are those of the folder `PLAQ_EXAMPLES` (the kit's bin/), else they are compiled
//! here. Real configurations come from `PLAQ_CONFIGS`.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

use common::milc::{self, Milc, CSW};
use serde_json::Value;

fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success())
}

fn run(command: &mut Command) {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.success(), "{command:?}: {}\n{stdout}\n{stderr}", out.status);
}

/// A folder of the build tree with the library under the names that linker and loader use.
fn compiled(name: &str, compiler: &str, arguments: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("propagator_example").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let exe = std::env::current_exe().unwrap();
    let library = exe.ancestors().skip(1).take(2).map(|d| d.join("libplaq.so"));
    let library = library.into_iter().find(|p| p.exists()).expect("libplaq.so beside the test");
    for soname in ["libplaq.so", concat!("libplaq.so.", env!("CARGO_PKG_VERSION_MAJOR"))] {
        let link = folder.join(soname);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&library, &link).unwrap();
    }
    let program = folder.join(name);
    let mut command = Command::new(compiler);
    command.args(arguments).arg("-o").arg(&program).arg("-L").arg(&folder);
    command.arg(format!("-Wl,-rpath,{}", folder.display())).args(["-lplaq", "-lm"]);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    if name.ends_with("_f") {
        command.arg("-J").arg(&folder);
    }
    run(&mut command);
    program
}

/// The programs that can run here, compiled once.
fn programs() -> &'static [PathBuf] {
    static ALL: OnceLock<Vec<PathBuf>> = OnceLock::new();
    ALL.get_or_init(find_programs)
}

fn find_programs() -> Vec<PathBuf> {
    if let Some(folder) = std::env::var_os("PLAQ_EXAMPLES") {
        let all = ["propagator", "propagator_f"].map(|n| Path::new(&folder).join(n));
        let there: Vec<PathBuf> = all.into_iter().filter(|p| p.exists()).collect();
        assert!(!there.is_empty(), "PLAQ_EXAMPLES: {folder:?} has no propagator");
        return there;
    }
    let mut all = Vec::new();
    let (cc, fc) = (std::env::var("CC"), std::env::var("FC"));
    let (cc, fc) = (cc.unwrap_or("cc".into()), fc.unwrap_or("gfortran".into()));
    if has(&cc) {
        all.push(compiled(
            "propagator",
            &cc,
            &["-std=c99", "-O1", "-Iinclude", "examples-c/propagator.c"],
        ));
    } else {
        println!("skipped: no C compiler");
    }
    if has(&fc) {
        let sources = ["bindings/fortran/plaq.f90", "examples-c/propagator.f90"];
        all.push(compiled(
            "propagator_f",
            &fc,
            &["-std=f2018", "-O1", "-Iexamples-c/alone", sources[0], sources[1]],
        ));
    } else {
        println!("skipped: no Fortran compiler");
    }
    all
}

/// Runs a program on a configuration; its JSON. None where the configuration is absent.
fn job(program: &Path, gauge: &str, arguments: &[&str]) -> Option<Value> {
    let gauge = common::configuration(gauge)?;
    let stem = program.file_name().unwrap().to_str().unwrap();
    // Tests run side by side.
    static JOBS: AtomicUsize = AtomicUsize::new(0);
    let number = JOBS.fetch_add(1, Ordering::Relaxed);
    let json = format!("plaq-{}-{stem}-{number}.json", std::process::id());
    let json = std::env::temp_dir().join(json);
    let device = match std::env::var("PLAQ_TEST_DEVICE").as_deref() {
        Ok("cuda") => "cuda",
        Ok("cpu") => "cpu",
        _ => "auto",
    };
    let mut command = Command::new(program);
    command.arg("--gauge").arg(&gauge).args(["--device", device]).args(arguments);
    run(command.arg("--json").arg(&json));
    let text = std::fs::read_to_string(&json).unwrap();
    std::fs::remove_file(&json).unwrap();
    Some(serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e} in\n{text}")))
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

#[test]
fn what_cannot_be_done_is_refused_with_a_message() {
    for program in programs() {
        for (arguments, status, message) in [
            (&["--kappa", "0.1"][..], 2, "--gauge"),
            (&["--gauge", "absent", "--kappa", "0.1"], 1, "absent"),
            (&["--gauge", "absent", "--kappa", "x"], 2, "--kappa"),
            (&["--gauge", "absent", "--kapa", "0.1"], 2, "--kapa"),
            (&["--gauge", "absent", "--kappa", "0.1", "--source", "point,1"], 2, "--source"),
        ] {
            let out = Command::new(program).args(arguments).output().unwrap();
            let text = String::from_utf8_lossy(&out.stderr).into_owned();
            assert_eq!(out.status.code(), Some(status), "{arguments:?}: {text}");
            assert!(text.contains(message), "{arguments:?}: {text}");
        }
    }
}
