//! Finds and runs the programs: those in the folder `PLAQ_EXAMPLES` (the kit's bin/), or else programs compiled here.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

use serde_json::Value;

pub fn run(command: &mut Command) {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.success(), "{command:?}: {}\n{stdout}\n{stderr}", out.status);
}

/// Compiles a program in a folder of the build tree that holds the library under the names that linker and loader
/// use.
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
    command.current_dir(env!("SOURCE_TREE"));
    run(&mut command);
    program
}

/// Names of all subcommands.
pub const NAMES: [&str; 13] = [
    "plaquette",
    "heatbath",
    "gaugefix",
    "gluon",
    "flow",
    "propagator",
    "distillation",
    "loops",
    "reweight",
    "schroedinger",
    "hmc",
    "overlap",
    "convert",
];

/// A subcommand of the program `plaq`.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    pub name: &'static str,
}

impl Program {
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.arg(self.name);
        command
    }
}

/// The program `plaq`, compiled once.
pub fn plaq() -> &'static Path {
    static PLAQ: OnceLock<PathBuf> = OnceLock::new();
    PLAQ.get_or_init(|| match std::env::var_os("PLAQ_EXAMPLES") {
        Some(folder) => {
            let program = Path::new(&folder).join("plaq");
            program.canonicalize().unwrap_or_else(|e| panic!("PLAQ_EXAMPLES: {program:?}: {e}"))
        }
        None => {
            let cc = std::env::var("CC").unwrap_or("cc".into());
            compiled("plaq", &cc, &["-std=c99", "-O1", "interface/src/app/main.c"])
        }
    })
}

/// A list with this subcommand alone.
pub fn all(name: &str) -> &'static [Program] {
    static ALL: [OnceLock<Vec<Program>>; NAMES.len()] = [const { OnceLock::new() }; NAMES.len()];
    let k = NAMES.iter().position(|n| *n == name).expect("a subcommand of NAMES");
    ALL[k].get_or_init(|| vec![Program { path: plaq().to_path_buf(), name: NAMES[k] }])
}

/// Runs a program on a configuration and returns its JSON.
pub fn job_on(program: &Program, gauge: &Path, arguments: &[&str]) -> Value {
    job_with(program, gauge, arguments, &[])
}

/// Does as `job_on`, with environment variables.
pub fn job_with(
    program: &Program,
    gauge: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Value {
    let stem = program.name;
    // Tests run at the same time, so that each job needs a file of its own.
    static JOBS: AtomicUsize = AtomicUsize::new(0);
    let number = JOBS.fetch_add(1, Ordering::Relaxed);
    let json = format!("plaq-{}-{stem}-{number}.json", std::process::id());
    let json = std::env::temp_dir().join(json);
    let device = match std::env::var("PLAQ_TEST_DEVICE").as_deref() {
        Ok("cuda") => "cuda",
        Ok("cpu") => "cpu",
        _ => "auto",
    };
    let mut command = program.command();
    command.envs(variables.iter().copied());
    command.arg("--gauge").arg(gauge).args(["--device", device]).args(arguments);
    run(command.arg("--json").arg(&json).args(["--overwrite", "yes"]));
    let text = std::fs::read_to_string(&json).unwrap();
    std::fs::remove_file(&json).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e} in\n{text}"))
}
