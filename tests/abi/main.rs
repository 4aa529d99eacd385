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
