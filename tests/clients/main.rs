//! C programs that call the library as other lattice codes do (MILC, tmLQCD, openQCD, ...), with the array layouts of
//! those codes, on one and on several ranks.

mod misuse;
mod records;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use plaq::capi::table::Item;

use crate::common::{self, milc};
use crate::programs::{self, build, checked, job, mpi_library, root, run, tool, variable};

const CHROMA: &str = "tests/clients/chroma.c";
const CHROMA_PAIRS: &str = "tests/clients/chroma_pairs.c";
const TMLQCD: &str = "tests/clients/tmlqcd.c";
const TMLQCD_PAIRS: &str = "tests/clients/tmlqcd_pairs.c";
const TMLQCD_TRAJECTORIES: &str = "tests/clients/tmlqcd_trajectories.c";
const DEFLATION: &str = "tests/clients/deflation.c";
const MILC: &str = "tests/clients/milc.c";
const REGISTRY: &str = "tests/clients/registry.c";
const TWISTED: &str = "tests/clients/twisted.c";
const LAPH: &str = "tests/clients/laph.cc";
const OPENQXD: &str = "tests/clients/openqxd.c";

fn headers() -> [PathBuf; 2] {
    ["include", "include/quda"].map(|folder| root().join(folder))
}

/// Runs a program on these grids of ranks, on some in its brief form.
fn on_ranks(source: &str, grids: &[(&str, bool)]) {
    if mpi_library().is_none() {
        return;
    }
    let [own, quda] = headers();
    let name = PathBuf::from(source).file_stem().unwrap().to_string_lossy().into_owned() + "_mpi";
    let mpicc = variable("MPICC", "mpicc");
    let program = build(&mpicc, source, &[&own, &quda], &name, &["-DCLIENT_MPI"]);
    let data = root().join("tests/data").to_string_lossy().into_owned();
    let variables = [("PLAQ_TEST_DATA", data.as_str()), ("PLAQ_TEST_BRIEF", "1")];
    for (grid, brief) in grids {
        job(grid, "240", &[program.as_os_str()], &variables[..if *brief { 2 } else { 1 }]);
    }
}

/// Runs a program once, which is numbers above all.
fn replayed(source: &str) {
    let Some(tool) = tool("CC", "cc") else { return };
    let [own, quda] = headers();
    let name = PathBuf::from(source).file_stem().unwrap().to_string_lossy().into_owned();
    let program = build(&tool, source, &[&own, &quda], &name, &[]);
    run(Command::new(program).current_dir(root()), &name);
}

#[test]
fn milc_calls() {
    let [own, quda] = headers();
    checked(MILC, &[&own, &quda]);
}

#[test]
fn sessions_and_wrong_arrays() {
    let [own, quda] = headers();
    checked("tests/clients/session.c", &[&own, &quda]);
}

#[test]
fn tables_of_paths() {
    let [own, quda] = headers();
    checked("tests/clients/paths.c", &[&own, &quda]);
}

#[test]
fn wilson_quarks() {
    let [own, quda] = headers();
    checked("tests/clients/wilson.c", &[&own, &quda]);
}

#[test]
fn deflated_solves() {
    let [own, quda] = headers();
    checked(DEFLATION, &[&own, &quda]);
}

#[test]
fn deflated_solves_on_ranks() {
    on_ranks(DEFLATION, &[("1,1,1,2", false), ("2,1,1,1", true)]);
}

#[test]
fn several_multigrids_at_once() {
    let [own, quda] = headers();
    checked(REGISTRY, &[&own, &quda]);
}

#[test]
fn several_multigrids_at_once_on_ranks() {
    on_ranks(REGISTRY, &[("1,1,1,2", false), ("2,1,1,1", true)]);
}

#[test]
fn charge_density_and_smearing() {
    let [own, quda] = headers();
    checked("tests/clients/smearing.c", &[&own, &quda]);
}

#[test]
fn chroma_calls() {
    let [own, quda] = headers();
    checked(CHROMA, &[&own, &quda]);
}

/// Pairs of results equal Chroma's for its own inputs.
#[test]
fn chroma_pairs() {
    replayed(CHROMA_PAIRS);
}

/// Trajectories equal Chroma's with its random numbers.
#[test]
fn chroma_trajectories() {
    replayed("tests/clients/chroma_trajectories.c");
}

#[test]
fn chroma_pairs_on_ranks() {
    on_ranks(CHROMA_PAIRS, &[("1,1,1,2", false)]);
}

/// Calls of headers and functions that are C++ in QUDA work, and so do perambulators by these calls.
#[test]
fn perambulators() {
    let Some(tool) = tool("CXX", "c++") else { return };
    let [own, quda] = headers();
    let program = build(&tool, LAPH, &[&own, &quda], "laph", &[]);
    let said = run(Command::new(program).current_dir(root()), "laph");
    assert_eq!(said, "agreement\n");
}

#[test]
fn perambulators_on_ranks() {
    if mpi_library().is_none() {
        return;
    }
    let [own, quda] = headers();
    let mpicxx = variable("MPICXX", "mpicxx");
    let flags = ["-DCLIENT_MPI", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"];
    let program = build(&mpicxx, LAPH, &[&own, &quda], "laph_mpi", &flags);
    let data = root().join("tests/data").to_string_lossy().into_owned();
    for grid in ["1,1,1,2", "2,1,1,1"] {
        job(grid, "240", &[program.as_os_str()], &[("PLAQ_TEST_DATA", &data)]);
    }
}

#[test]
fn twisted_quarks() {
    let [own, quda] = headers();
    checked(TWISTED, &[&own, &quda]);
}

/// Twisted quarks agree on several ranks, numbered as in tmLQCD: t slowest, then x.
#[test]
fn twisted_quarks_on_ranks() {
    on_ranks(TWISTED, &[("2,1,1,2", true)]);
}

/// Chroma's calls work on ranks although no call names them: the program has declared its process grid to QMP.
#[test]
fn chroma_calls_on_ranks() {
    on_ranks(CHROMA, &[("1,1,1,2", false), ("2,1,1,1", false)]);
}

#[test]
fn tmlqcd_calls() {
    let [own, quda] = headers();
    checked(TMLQCD, &[&own, &quda]);
}

/// Pairs of results equal tmLQCD's for its own inputs.
#[test]
fn tmlqcd_pairs() {
    replayed(TMLQCD_PAIRS);
}

#[test]
fn tmlqcd_pairs_on_ranks() {
    on_ranks(TMLQCD_PAIRS, &[("1,1,1,2", false)]);
}

/// Trajectories equal tmLQCD's, with random numbers of the program.
#[test]
fn tmlqcd_trajectories() {
    replayed(TMLQCD_TRAJECTORIES);
}

#[test]
fn tmlqcd_trajectories_on_ranks() {
    on_ranks(TMLQCD_TRAJECTORIES, &[("1,1,1,2", true)]);
}

/// tmLQCD's calls work on ranks at the positions that the program's function returns.
#[test]
fn tmlqcd_calls_on_ranks() {
    on_ranks(TMLQCD, &[("1,1,1,2", false), ("2,1,1,1", true)]);
}

/// openQxD's calls work on ranks; its links beyond faces are those that leave a rank's part.
#[test]
fn openqxd_calls_on_ranks() {
    on_ranks(OPENQXD, &[("1,1,1,2", true), ("2,1,1,1", true)]);
}

#[test]
fn openqxd_calls() {
    let [own, quda] = headers();
    checked(OPENQXD, &[&own, &quda]);
}

/// The header of openQxD compiles as C of 1989, which has no complex numbers.
#[test]
fn openqxd_header_is_c_of_1989() {
    let Some(tool) = tool("CC", "cc") else { return };
    let functions =
        plaq::capi::HEADERS.iter().find(|h| h.file.contains("openqcd")).expect("a header");
    let names = functions.modules.iter().flat_map(|m| m.items).filter_map(|item| match item {
        Item::Function { name, .. } => Some(format!("(function)({name})")),
        _ => None,
    });
    let names: Vec<String> = names.collect();
    assert_eq!(names.len(), 29);
    let text = format!(
        "#include <quda_openqcd_interface.h>\ntypedef void (*function)(void);\nfunction all[] = {{{}}};\n\
         double real(openqcd_complex_dble z);\ndouble real(openqcd_complex_dble z) {{ return z.re; }}\n",
        names.join(", ")
    );
    let file = programs::folder("clients").join("openqxd_1989.c");
    std::fs::write(&file, text).expect("a writable build tree");
    let mut words = tool.split(' ');
    let mut cc = Command::new(words.next().expect("a compiler"));
    cc.args(words).args(["-std=c89", "-fsyntax-only"]).args(programs::WARNINGS);
    cc.args(headers().iter().flat_map(|folder| [OsStr::new("-I"), folder.as_os_str()]));
    run(cc.arg(&file), "quda_openqcd_interface.h in C of 1989");
}

/// Names that MILC and similar hosts define: as types and functions, as macros, and as the system's headers have
/// them.
const HOSTS: [(&str, &str, &str); 3] = [
    (
        "types",
        "typedef struct { double real, imag; } double_complex;\ntypedef struct { float real, imag; } complex;\n\
         typedef float Real;\ntypedef struct { complex link[4]; Real phase[4]; } site;\nextern site *lattice;\n\
         enum { I = 2 };\ndouble min(double a, double b);\ndouble max(double a, double b);\n",
        "double_complex z;\nz.real = min(lattice->phase[0], I);\nz.imag = max(lattice->link[0].imag, I);\n\
         return z.real + z.imag;\n",
    ),
    (
        "macros",
        "typedef struct { double real, imag; } host_complex;\ntypedef struct { double phase; } host_site;\n\
         #define double_complex host_complex\n#define complex host_complex\n#define Real double\n#define I 2\n\
         #define min(a, b) ((a) < (b) ? (a) : (b))\n#define max(a, b) ((a) > (b) ? (a) : (b))\n\
         #define site host_site\n#define lattice host_lattice\nextern site *lattice;\n",
        "double_complex z;\ncomplex y;\nReal x = max(lattice->phase, I);\nz.real = x;\ny.real = min(z.real, 1);\n\
         return y.real;\n",
    ),
    (
        "system",
        "#include <complex.h>\n#include <stddef.h>\n#include <stdint.h>\n",
        "double _Complex z = 2;\nreturn sizeof(ptrdiff_t) + sizeof(int32_t) + sizeof z;\n",
    ),
];

/// Hosts' own names work before QUDA's headers and after them; the headers leave no macro behind that QUDA's do not.
#[test]
fn hosts_keep_their_names() {
    let work = programs::folder("clients");
    let compiler = |tool: &str| {
        let mut words = tool.split(' ');
        let mut command = Command::new(words.next().expect("a compiler"));
        command.args(words).args(["-Wall", "-Wextra", "-Werror"]);
        command.args(headers().iter().flat_map(|folder| [OsStr::new("-I"), folder.as_os_str()]));
        command
    };
    let include = |file: &str| format!("#include <{}>\n", file.trim_start_matches("quda/"));
    // In C++ these headers include <vector>, which does not compile with a host's macros min and max.
    let of_cpp = ["quda/util_quda.h", "quda/timer.h"];
    let headers_in = |suffix: &str| -> String {
        let read = |file: &&str| suffix == "c" || !of_cpp.contains(file);
        plaq::capi::HEADERS.iter().map(|h| h.file).filter(read).map(include).collect()
    };
    let kinds =
        [("CC", "cc", "gnu89", "c"), ("CC", "cc", "c99", "c"), ("CXX", "c++", "c++17", "cc")];
    for (name, default, standard, suffix) in kinds {
        let Some(tool) = tool(name, default) else { continue };
        let all = headers_in(suffix);
        for (host, names, uses) in HOSTS {
            for (order, text) in
                [("first", format!("{names}{all}")), ("last", format!("{all}{names}"))]
            {
                let system = "#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n";
                let declared = "double used(void);\n";
                let text = format!("{system}{text}{declared}double used(void) {{\n{uses}}}\n");
                let file = work.join(format!("names_{host}_{order}_{standard}.{suffix}"));
                std::fs::write(&file, text).expect("a writable build tree");
                let mut command = compiler(&tool);
                command.arg(format!("-std={standard}")).arg("-fsyntax-only").arg(&file);
                run(&mut command, &format!("{host} {order} in {standard}"));
            }
        }
        let macros = |text: &str| -> std::collections::BTreeSet<String> {
            let file = work.join(format!("macros.{suffix}"));
            std::fs::write(&file, text).expect("a writable build tree");
            let said = run(compiler(&tool).args(["-E", "-dM"]).arg(&file), "macros");
            let names = said.lines().filter_map(|line| line.split([' ', '(']).nth(1));
            names.map(String::from).collect()
        };
        let system = "#include <stdio.h>\n#include <stdlib.h>\n";
        let (before, after) = (macros(system), macros(&format!("{system}{all}")));
        let theirs = |name: &&String| {
            !["QUDA_", "OPENQCD_", "PLAQ_"].iter().any(|start| name.starts_with(start))
        };
        let left: Vec<&String> = after.difference(&before).filter(theirs).collect();
        assert!(left.is_empty(), "{standard}: the headers leave {left:?} defined");
    }
}

#[test]
fn milc_calls_on_ranks() {
    if mpi_library().is_none() {
        return;
    }
    let [own, quda] = headers();
    let flags = ["-DCLIENT_MPI"];
    let program = build(&variable("MPICC", "mpicc"), MILC, &[&own, &quda], "milc_mpi", &flags);
    for grid in ["1,1,1,2", "2,1,1,1"] {
        job(grid, "120", &[program.as_os_str()], &[]);
    }
    if let Some(file) = common::configuration(milc::ANTIPERIODIC.name) {
        let words = arguments(&milc::ANTIPERIODIC, file);
        let mut all = vec![program.as_os_str()];
        all.extend(words.iter().map(OsStr::new));
        job("1,1,1,2", "120", &all, &[]);
    }
}

/// Errors end the program by default, with a message that says what to do.
#[test]
fn errors_end_the_program() {
    let Some(program) = program("milc_end") else { return };
    let out = Command::new(program).arg("end").output().expect("a program");
    assert_eq!(out.status.code(), Some(1));
    assert!(out.stdout.is_empty());
    let said = String::from_utf8_lossy(&out.stderr);
    for words in ["error in qudaPlaquettePhased", "PLAQ_NOT_INITIALISED", "call qudaInit first"] {
        assert!(said.contains(words), "no \"{words}\" in:\n{said}");
    }
}

fn arguments(milc: &milc::Milc, file: PathBuf) -> Vec<String> {
    let t = milc.mesons.len();
    let angle = milc.antiperiodic as i32;
    let file = file.to_string_lossy().into_owned();
    let numbers = format!("4 4 4 {t} {} {} {angle}", milc.kappa, milc::CSW);
    let words = ["file".into(), file].into_iter();
    words.chain(numbers.split(' ').map(String::from)).collect()
}

/// Results for MILC's own configurations through MILC's calls equal MILC's.
#[test]
fn milc_configurations() {
    let Some(program) = program("milc_file") else { return };
    for milc in [&milc::PERIODIC, &milc::ANTIPERIODIC] {
        let Some(file) = common::configuration(milc.name) else { continue };
        let mut client = Command::new(&program);
        let first = program.with_extension("first");
        let _ = std::fs::remove_file(&first);
        if milc.antiperiodic {
            client.env("PLAQ_FIRST_LAUNCHES", &first);
        }
        let said = run(client.args(arguments(milc, file)), milc.name);
        if milc.antiperiodic {
            // No kernel is launched before it is asked for, and most kernels that are asked for are launched.
            let [all, late, vain] = common::first_launches(&first);
            let said = || std::fs::read_to_string(&first).unwrap();
            assert!(all > 50 && late == 0 && 10 * vain <= all, "{}", said());
        }
        let plaquettes = numbers(&said, "plaquette");
        for (ours, theirs) in plaquettes.iter().zip(milc.plaquettes) {
            assert!((ours - theirs).abs() < 1e-12, "{}: {ours} {theirs}", milc.name);
        }
        let t = milc.mesons.len();
        let rho = numbers(&said, "rho");
        let rho: [Vec<f64>; 3] = std::array::from_fn(|i| rho[i * t..][..t].to_vec());
        milc.check_mesons(&numbers(&said, "pion"), &rho, 1e-7, "through quda_milc_interface.h");
    }
}

/// Functionals of Coulomb and Landau gauge equal those of MILC's own gauge fixing to 1e-6: MILC stops at a change of
/// 1e-7 or 1e-8.
#[test]
fn milc_gauge_fixing() {
    let Some(program) = program("milc_fix") else { return };
    for (name, extents, functionals) in [
        ("milc.lat.sample.l4444", "4 4 4 4", [Some(0.894051297), None]),
        ("milc.lat.sample.l4448", "4 4 4 8", [Some(0.862916095), Some(0.849082229)]),
    ] {
        let Some(file) = common::configuration(name) else { continue };
        let mut command = Command::new(&program);
        let said = run(command.arg("file").arg(file).args(extents.split(' ')), name);
        for (ours, theirs) in numbers(&said, "functional").iter().zip(functionals) {
            assert!(
                theirs.is_none_or(|theirs| *ours >= theirs - 1e-6),
                "{name}: {ours} {theirs:?}"
            );
        }
    }
}

fn program(name: &str) -> Option<PathBuf> {
    let [own, quda] = headers();
    Some(build(&tool("CC", "cc")?, MILC, &[&own, &quda], name, &[]))
}

/// The numbers that a program printed in lines with this name.
fn numbers(said: &str, name: &str) -> Vec<f64> {
    let lines = said.lines().filter_map(|line| line.strip_prefix(name));
    lines.flat_map(str::split_whitespace).map(|n| n.parse().expect("a number")).collect()
}
