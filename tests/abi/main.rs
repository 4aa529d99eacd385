//! The C interface as C programs see it: generated files are current, symbols are the header's,
//! programs run clean under AddressSanitizer and valgrind, misuse gives statuses.

#[path = "../../tools/interface/fields.rs"]
mod fields;
#[path = "../../tools/interface/files.rs"]
mod files;
#[path = "../../tools/interface/fortran.rs"]
mod fortran;
#[path = "../../tools/interface/header.rs"]
mod header;
#[path = "../../tools/interface/parameters.rs"]
mod parameters;
#[path = "../../tools/interface/python.rs"]
mod python;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use plaq::capi::table::Item;

use crate::programs::{self, checked, has, library, root, run, tool, WARNINGS};

#[test]
fn generated_files_are_current() {
    for (file, text) in files::all() {
        let found = std::fs::read_to_string(root().join(&file)).unwrap_or_default();
        assert!(found == text, "{file} is not current: cargo run --example interface");
    }
}

/// Every function, struct and enum of plaq.h, every member and every value is described by a sentence that says what it
/// is or does and begins with its subject, and no member is there to keep a place.
#[test]
fn members_and_values_have_a_sentence() {
    let sentence = |what: String, doc: &[&str]| {
        let text: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
        let text = text.join(" ");
        assert!(text.len() > 1 && text.ends_with('.'), "{what}: {text}");
        let first = text.split(' ').next().unwrap_or_default();
        assert!(!["What", "Where", "How", "Which"].contains(&first), "{what}: {text}");
    };
    for item in plaq::capi::MODULES.iter().flat_map(|module| module.items) {
        match item {
            Item::Struct { name, doc, .. }
            | Item::Constants { name, doc, .. }
            | Item::Function { name, doc, .. } => {
                sentence(name.to_string(), doc);
            }
            _ => {}
        }
        match item {
            Item::Struct { name, fields, .. } => {
                for field in *fields {
                    assert_ne!(field.name, "reserved", "{name}");
                    sentence(format!("{name}.{}", field.name), field.doc);
                }
            }
            Item::Constants { name, values, .. } => {
                values.iter().for_each(|v| sentence(format!("{name}: {}", v.name), v.doc));
            }
            _ => {}
        }
    }
}

/// Functions are named after their object, `load` and `save` of arrays of the host and `read` and `write` of files.
#[test]
fn functions_are_named_after_object_and_verb() {
    let items = || plaq::capi::MODULES.iter().flat_map(|module| module.items);
    let handles = items().filter_map(|item| match item {
        Item::Handle { name, .. } => name.strip_prefix("plaq_"),
        _ => None,
    });
    // Names in functions that are not handles: the library itself, numbers and texts of the host, named matrices.
    let others = [
        "version",
        "last_error",
        "status",
        "log",
        "input",
        "path",
        "correlator",
        "source",
        "diquark",
        "projector",
        "quda",
    ];
    let objects: BTreeSet<&str> = handles.chain(others).collect();
    for item in items() {
        let Item::Function { name, args, .. } = item else { continue };
        let rest = name.strip_prefix("plaq_").expect("a name of this library");
        // Functions that fill in defaults are named after their struct.
        if rest.ends_with("_init") {
            continue;
        }
        let named = |object: &&str| {
            rest.strip_prefix(*object).is_some_and(|verb| verb.is_empty() || verb.starts_with('_'))
        };
        assert!(objects.iter().any(named), "{name}");
        let words: Vec<&str> = rest.split('_').collect();
        let has = |word: &str| words.contains(&word);
        let file = args.iter().any(|a| a.name == "file");
        assert_eq!(file, has("read") || has("write"), "{name}");
        let data = args.iter().any(|a| a.name == "data");
        assert_eq!(data, has("load") || has("save"), "{name}");
    }
}

/// The folder for programs that the tests compile, with copies of the current headers.
fn work() -> &'static Path {
    static WORK: OnceLock<PathBuf> = OnceLock::new();
    WORK.get_or_init(|| {
        let work = programs::folder("abi");
        std::fs::create_dir_all(work.join("quda")).expect("a writable build tree");
        for (file, text) in header::headers() {
            std::fs::write(work.join(file), text).expect("a writable build tree");
        }
        work
    })
}

fn compiler(tool: &str) -> Command {
    let mut words = tool.split(' ');
    let mut command = Command::new(words.next().expect("a compiler"));
    command.args(words).arg("-I").arg(work()).arg("-I").arg(work().join("quda"));
    command.arg("-I").arg(root().join("tests/abi"));
    command
}

/// Source of a C file that compiles only if sizes and offsets of structs are those of the library.
fn layout_checks() -> String {
    let mut s = String::from("#include <stddef.h>\n");
    for (file, _) in header::headers() {
        let _ = writeln!(s, "#include \"{file}\"");
    }
    let mut check = |claim: String, number: usize| {
        let _ = writeln!(s, "typedef char check_{number}_is_right[({claim}) ? 1 : -1];");
    };
    let mut number = 0;
    for item in plaq::capi::items() {
        if let Item::Struct { name, size, fields, .. } = item {
            number += 1;
            check(format!("sizeof({name}) == {size}"), number);
            for field in *fields {
                number += 1;
                let member = field.name.trim_start_matches("r#");
                check(format!("offsetof({name}, {member}) == {}", field.offset), number);
            }
        }
    }
    s.push_str("typedef int not_empty;\n");
    s
}

#[test]
fn header_is_clean_c99_and_cpp() {
    let source = work().join("only_header");
    let includes: String =
        header::headers().iter().map(|(file, _)| format!("#include \"{file}\"\n")).collect();
    for (variable, default, standard, suffix) in
        [("CC", "cc", "-std=c99", "c"), ("CXX", "c++", "-std=c++11", "cc")]
    {
        let Some(tool) = tool(variable, default) else { continue };
        let file = source.with_extension(suffix);
        std::fs::write(&file, format!("{includes}int main(void) {{ return 0; }}\n")).unwrap();
        run(
            compiler(&tool).arg(standard).args(WARNINGS).arg("-fsyntax-only").arg(&file),
            &format!("{tool} on the header"),
        );
    }
}

/// PLAQ_INIT in C and in C++ makes structs of the right size with their defaults.
#[test]
fn structs_are_initialised_in_c_and_cpp() {
    let text = "#include \"plaq.h\"\nint main(void) {\n  PLAQ_INIT(plaq_gauge_params, p);\n  \
        PLAQ_INIT(plaq_solve_report, r);\n  return p.struct_size != sizeof p || p.precision != \
        PLAQ_PRECISION_DOUBLE || r.struct_size != sizeof r || r.iterations;\n}\n";
    for (variable, default, standard, suffix) in
        [("CC", "cc", "-std=c99", "c"), ("CXX", "c++", "-std=c++11", "cc")]
    {
        let Some(tool) = tool(variable, default) else { continue };
        let (file, program) = (work().join(format!("init.{suffix}")), work().join(suffix));
        std::fs::write(&file, text).unwrap();
        let mut build = compiler(&tool);
        build.arg(standard).args(WARNINGS).arg(&file).arg("-o").arg(&program);
        run(build.arg("-L").arg(work()).arg("-lplaq"), &format!("{tool} on PLAQ_INIT"));
        run(Command::new(&program).env("LD_LIBRARY_PATH", work()), &format!("PLAQ_INIT by {tool}"));
    }
}

#[test]
fn structs_have_the_layout_of_the_header() {
    let Some(tool) = tool("CC", "cc") else { return };
    let file = work().join("layout.c");
    std::fs::write(&file, layout_checks()).unwrap();
    run(compiler(&tool).args(["-std=c99", "-fsyntax-only"]).arg(&file), "sizes and offsets");
}

#[test]
fn exported_symbols_are_the_header() {
    if !has("nm") {
        return eprintln!("skipped: no nm here");
    }
    let out = Command::new("nm").args(["-D", "--defined-only"]).arg(library()).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let exported: BTreeSet<&str> = text.lines().filter_map(|l| l.split(' ').next_back()).collect();
    let mut declared: BTreeSet<&str> = plaq::capi::items()
        .filter_map(|i| if let Item::Function { name, .. } = i { Some(*name) } else { None })
        .collect();
    // The function for the executable `plaq` is not part of the interface.
    declared.insert("plaq_program_main");
    assert_eq!(exported, declared);
}

#[test]
fn older_c_libraries_have_all_symbols() {
    if !has("readelf") {
        return println!("skipped: no readelf here");
    }
    let mut glibc = Command::new(root().join("scripts/glibc.sh"));
    let found = run(glibc.arg(library()).arg(std::env::current_exe().unwrap()), "glibc.sh");
    assert!(!cfg!(target_arch = "x86_64") || found.trim() == "2.28", "{found}");
}

/// Compiles and runs a C program of this folder once; later calls for the same program return its first result.
fn c_program(name: &'static str) {
    static DONE: Mutex<BTreeMap<&str, Arc<OnceLock<()>>>> = Mutex::new(BTreeMap::new());
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    let once = done.entry(name).or_default().clone();
    drop(done);
    let source = format!("tests/abi/{name}.c");
    once.get_or_init(|| checked(&source, &[work(), &root().join("tests/abi")]));
}

/// The programs that record which statuses' messages they checked.
const PROGRAMS: [&str; 16] = [
    "context",
    "fields",
    "dirac",
    "laplace",
    "doublet",
    "paths",
    "force",
    "solve",
    "observe",
    "faults",
    "mistakes",
    "hmc",
    "modes",
    "hadron",
    "smear",
    "multigrid",
];

#[test]
fn library_and_context() {
    c_program("context");
}

#[test]
fn fields() {
    c_program("fields");
}

#[test]
fn dirac_operators() {
    c_program("dirac");
}

#[test]
fn laplacians() {
    c_program("laplace");
}

#[test]
fn doublets() {
    c_program("doublet");
}

#[test]
fn closed_paths() {
    c_program("paths");
}

#[test]
fn fermion_forces() {
    c_program("force");
}

#[test]
fn solvers() {
    c_program("solve");
}

#[test]
fn observables_and_files() {
    c_program("observe");
}

#[test]
fn faults() {
    c_program("faults");
}

#[test]
fn mistakes() {
    c_program("mistakes");
}

/// Drivers that lack functions, and a driver that the loader does not find, give a status.
#[test]
fn drivers_that_cannot_be_used() {
    let Some(tool) = tool("CC", "cc") else { return };
    let folders = [work(), &root().join("tests/abi")];
    let program = programs::build(&tool, "tests/abi/mistakes.c", &folders, "devices", &[]);
    let fake = work().join("fake-driver");
    std::fs::create_dir_all(&fake).unwrap();
    std::fs::write(fake.join("cuda.c"), "int cuInit(unsigned f) { return (int)f; }\n").unwrap();
    let mut words = tool.split(' ');
    let mut cc = Command::new(words.next().expect("a compiler"));
    cc.args(words).args(["-shared", "-fPIC"]).arg(fake.join("cuda.c"));
    run(cc.arg("-o").arg(fake.join("libcuda.so.1")), "a driver that lacks functions");
    let devices = |folder: &Path| {
        let mut command = Command::new(&program);
        run(command.arg("devices").env("LD_LIBRARY_PATH", folder), "mistakes.c, devices")
    };
    assert_eq!(devices(&fake).trim(), "PLAQ_DRIVER_TOO_OLD");
    let found = devices(work());
    assert!(["PLAQ_DRIVER_MISSING", "PLAQ_NO_DEVICE"].contains(&found.trim()), "{found}");
}

/// The message of every status of docs/errors.md is checked, by a program here that ran or by the test that `REFUSED`
/// names. Tests begin in the order of their names, and this one comes after those of the programs: otherwise it would
/// run the programs while their tests wait on idle cores.
#[test]
fn statuses_have_tests_on_their_messages() {
    let elsewhere = [
        ("SUCCESS", "", "no message"),
        ("NOT_INITIALISED", "tests/clients/milc.c", "PLAQ_NOT_INITIALISED, \"qudaInit\""),
        ("NO_DEVICE", "tests/abi/mistakes.c", "strstr(plaq_last_error(), \"1000\")"),
        ("DRIVER_MISSING", "tests/abi/mistakes.c", "REFUSED(PLAQ_DRIVER_MISSING, \"install"),
        (
            "DRIVER_TOO_OLD",
            "tests/abi/mistakes.c",
            "strstr(plaq_last_error(), \"CUDA 12.0 or later\")",
        ),
        ("INTERNAL", "tests/abi/context.c", "REFUSED(PLAQ_INTERNAL, \"boundary.rs"),
        ("DEVICE_LOST", "tests/abi/limits.c", "REFUSED(PLAQ_DEVICE_LOST, \"was forked"),
        ("MPI_STATE", "tests/comm/host.c", "REFUSED(PLAQ_MPI_STATE, \"MPI_COMM_NULL"),
        ("COMM_FAILED", "tests/comm/host.c", "REFUSED(PLAQ_COMM_FAILED, \"no answer"),
        ("NVRTC_MISSING", "tests/backends.rs", "Status::NvrtcMissing"),
        ("COMPILE_FAILED", "tests/gpu_compile.rs", "Status::CompileFailed"),
        ("CUFFT_MISSING", "tests/backends.rs", "Status::CufftMissing"),
        ("NCCL_MISSING", "tests/backends.rs", "Status::NcclMissing"),
        ("MPI_THREAD", "tests/comm/scenarios.rs", "Status::MpiThread, \""),
        ("NOT_CONVERGED", "tests/fermion/monomials.rs", "Status::NotConverged"),
        ("SPECTRAL_BOUNDS", "tests/fermion/monomials.rs", "Status::SpectralBounds"),
        ("KERNEL_SPECTRUM", "tests/overlap.rs", "Status::KernelSpectrum"),
    ];
    if tool("CC", "cc").is_none() {
        return;
    }
    let read = |file: &Path| std::fs::read_to_string(file).expect("a file of the tree");
    let told: BTreeSet<String> = PROGRAMS
        .iter()
        .flat_map(|name| {
            c_program(name);
            let told = read(&work().join(format!("{name}.told")));
            told.lines().map(String::from).collect::<Vec<_>>()
        })
        .collect();
    for (_, name, _) in plaq::error::Status::TABLE {
        match elsewhere.iter().find(|(n, ..)| n == name) {
            Some((_, "", _)) => {}
            Some((_, file, words)) => {
                assert!(read(&root().join(file)).contains(words), "{name}: {file} has no {words}");
            }
            None => {
                assert!(told.contains(&format!("PLAQ_{name}")), "{name}: no test on its message")
            }
        }
    }
}

/// Limits on address space, threads and time are kept. Sanitizers need more of each, so this does not run under them.
#[test]
fn limits() {
    let Some(tool) = tool("CC", "cc") else { return };
    let folders = [work(), &root().join("tests/abi")];
    // The name is not "limits", since C++ would include that file from the same folder.
    let program = programs::build(&tool, "tests/abi/limits.c", &folders, "limits_of_memory", &[]);
    run(Command::new(program).current_dir(work()), "limits.c");
}

#[test]
fn hybrid_monte_carlo() {
    c_program("hmc");
}

#[test]
fn eigenvectors_and_overlap() {
    c_program("modes");
}

#[test]
fn smearing() {
    c_program("smear");
}

#[test]
fn multigrid() {
    c_program("multigrid");
}

#[test]
fn calls_end() {
    c_program("ends");
}

#[test]
fn propagators() {
    c_program("hadron");
}

#[test]
fn fortran_module() {
    let Some(tool) = tool("FC", "gfortran") else { return };
    let folder = work().join("fortran");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("program");
    let mut fc = Command::new(tool);
    fc.current_dir(&folder).args(["-std=f2018", "-Wall", "-Wextra", "-pedantic", "-Werror", "-g"]);
    fc.arg(root().join("bindings/fortran/plaq.f90")).arg(root().join("tests/abi/program.f90"));
    fc.arg("-o").arg(&program).arg("-L").arg(work()).arg("-lplaq");
    run(&mut fc, "compiling Fortran");
    run(Command::new(&program).env("LD_LIBRARY_PATH", work()), "program.f90");
}
