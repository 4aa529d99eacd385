//! Finds and runs the programs: those of the folder `PLAQ_EXAMPLES` (the kit's bin/), else they are
//! compiled here.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

use serde_json::Value;

fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success())
}

pub fn run(command: &mut Command) {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.success(), "{command:?}: {}\n{stdout}\n{stderr}", out.status);
}

/// A folder of the build tree with the library under the names that linker and loader use.
fn compiled(name: &str, compiler: &str, arguments: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples").join(name);
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

/// All programs that have a twin.
pub const NAMES: [&str; 8] =
    ["plaquette", "heatbath", "gaugefix", "gluon", "flow", "propagator", "hmc", "overlap"];

/// The C program `name` and its Fortran twin, as far as they can run here; compiled once.
pub fn all(name: &str) -> &'static [PathBuf] {
    static ALL: [OnceLock<Vec<PathBuf>>; NAMES.len()] = [const { OnceLock::new() }; NAMES.len()];
    let k = NAMES.iter().position(|n| *n == name).expect("a program of NAMES");
    ALL[k].get_or_init(|| find(name))
}

fn find(name: &str) -> Vec<PathBuf> {
    let twin = format!("{name}_f");
    if let Some(folder) = std::env::var_os("PLAQ_EXAMPLES") {
        let all = [name, &twin].map(|n| Path::new(&folder).join(n));
        let there: Vec<PathBuf> = all.into_iter().filter(|p| p.exists()).collect();
        assert!(!there.is_empty(), "PLAQ_EXAMPLES: {folder:?} has no {name}");
        return there;
    }
    let mut all = Vec::new();
    let (cc, fc) = (std::env::var("CC"), std::env::var("FC"));
    let (cc, fc) = (cc.unwrap_or("cc".into()), fc.unwrap_or("gfortran".into()));
    if has(&cc) {
        let source = format!("examples-c/{name}.c");
        all.push(compiled(name, &cc, &["-std=c99", "-O1", "-Iinclude", &source]));
    } else {
        println!("skipped: no C compiler");
    }
    if has(&fc) {
        let source = format!("examples-c/{name}.f90");
        let module = "bindings/fortran/plaq.f90";
        let options = ["-std=f2018", "-O1", "-Iexamples-c/alone", module, &source];
        all.push(compiled(&twin, &fc, &options));
    } else {
        println!("skipped: no Fortran compiler");
    }
    all
}

/// Runs a program on a configuration; its JSON.
pub fn job_on(program: &Path, gauge: &Path, arguments: &[&str]) -> Value {
    job_with(program, gauge, arguments, &[])
}

/// The same with variables of the environment.
pub fn job_with(
    program: &Path,
    gauge: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Value {
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
    command.envs(variables.iter().copied());
    command.arg("--gauge").arg(gauge).args(["--device", device]).args(arguments);
    run(command.arg("--json").arg(&json));
    let text = std::fs::read_to_string(&json).unwrap();
    std::fs::remove_file(&json).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e} in\n{text}"))
}

/// C's and Fortran's, in this order; says so where one is absent, past the test runner, which keeps what
/// tests that pass print.
pub fn has_both(programs: &[PathBuf]) -> bool {
    if programs.len() < 2 {
        let _ = writeln!(std::io::stdout(), "skipped: not both of C and Fortran: {programs:?}");
    }
    programs.len() == 2
}
