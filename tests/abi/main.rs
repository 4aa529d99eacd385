//! The C interface as C programs see it: generated files are current, symbols are the header's,
//! programs run clean under AddressSanitizer and valgrind, misuse gives statuses.
//! `PLAQ_UPDATE=1 cargo test --test abi` writes the generated files.

mod fortran;
mod header;
#[path = "../common/programs.rs"]
mod programs;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use plaq::capi::table::Item;

use programs::{checked, has, library, root, run, tool, WARNINGS};

fn is_current(file: &str, expected: &str) {
    let path = root().join(file);
    if std::env::var_os("PLAQ_UPDATE").is_some() {
        std::fs::write(&path, expected).expect("a writable tree");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{file} is not current: PLAQ_UPDATE=1 cargo test --test abi");
}

#[test]
fn generated_files_are_current() {
    for (file, text) in header::headers() {
        is_current(&format!("include/{file}"), &text);
    }
    is_current("bindings/fortran/plaq.f90", &fortran::module());
    is_current("docs/errors.md", &header::errors());
}

/// The folder for what the tests compile, with the headers as they should be.
fn work() -> &'static Path {
    static WORK: OnceLock<&Path> = OnceLock::new();
    WORK.get_or_init(|| {
        let work = programs::work();
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

#[test]
fn structs_have_the_layout_of_the_header() {
    let Some(tool) = tool("CC", "cc") else { return };
    let file = work().join("layout.c");
    std::fs::write(&file, header::layout_checks()).unwrap();
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
    let declared: BTreeSet<&str> = plaq::capi::items()
        .filter_map(|i| if let Item::Function { name, .. } = i { Some(*name) } else { None })
        .collect();
    assert_eq!(exported, declared);
}

/// A C program of this folder.
fn c_program(name: &str) {
    checked(&format!("tests/abi/{name}.c"), &[work(), &root().join("tests/abi")]);
}

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

/// A driver that lacks functions, and none where the loader looks.
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

/// Every status of docs/errors.md has a test on its message: REFUSED in a program here, or where this says.
#[test]
fn every_status_has_a_test_on_its_message() {
    let elsewhere = [
        ("SUCCESS", "", "no message"),
        ("INTERNAL", "tests/abi/context.c", "REFUSED(PLAQ_INTERNAL"),
        ("NOT_INITIALISED", "tests/clients/milc.c", "PLAQ_NOT_INITIALISED, \"qudaInit\""),
        ("NO_DEVICE", "tests/abi/mistakes.c", "strstr(plaq_last_error(), \"1000\")"),
        (
            "DRIVER_TOO_OLD",
            "tests/abi/mistakes.c",
            "strstr(plaq_last_error(), \"CUDA 12.0 or later\")",
        ),
        ("NVRTC_MISSING", "tests/backends.rs", "Status::NvrtcMissing"),
        ("COMPILE_FAILED", "tests/gpu_compile.rs", "Status::CompileFailed"),
        ("CUFFT_MISSING", "tests/backends.rs", "Status::CufftMissing"),
        ("MPI_THREAD", "tests/comm/scenarios.rs", "Status::MpiThread, \""),
        ("NOT_CONVERGED", "tests/fermion/monomials.rs", "Status::NotConverged"),
        ("SPECTRAL_BOUNDS", "tests/fermion/monomials.rs", "Status::SpectralBounds"),
        ("KERNEL_SPECTRUM", "tests/overlap.rs", "Status::KernelSpectrum"),
    ];
    let read = |file: &Path| std::fs::read_to_string(file).expect("a file of the tree");
    let mut programs = String::new();
    for folder in ["tests/abi", "tests/comm"] {
        for file in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|e| e == "c") {
                programs += &read(&path);
            }
        }
    }
    // Words of macros that end in REFUSED.
    let tested = |name: &str| {
        ["REFUSED(", "READ("].iter().any(|m| programs.contains(&format!("{m}PLAQ_{name}, \"")))
    };
    for (_, name, _) in plaq::error::Status::TABLE {
        match elsewhere.iter().find(|(n, ..)| n == name) {
            Some((_, "", _)) => {}
            Some((_, file, words)) => {
                assert!(read(&root().join(file)).contains(words), "{name}: {file} has no {words}");
            }
            None => assert!(tested(name), "{name}: no test on its message"),
        }
    }
}

/// Not under sanitizers, which have address space, threads and time of their own.
#[test]
fn limits() {
    let Some(tool) = tool("CC", "cc") else { return };
    let folders = [work(), &root().join("tests/abi")];
    let program = programs::build(&tool, "tests/abi/limits.c", &folders, "limits", &[]);
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
