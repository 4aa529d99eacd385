//! Compiles every kernel for the CPU, one static library per instruction set, and writes the
//! tables that the crate includes: argument header, kernel sources, symbol table.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "src/backend/args.rs"]
#[allow(dead_code)]
mod args;
#[path = "src/backend/families.rs"]
#[allow(dead_code)]
mod families;

struct Isa {
    name: &'static str,
    lanes: usize,
    simd_bytes: usize,
    flags: &'static [&'static str],
}

/// From the plainest to the widest; `scalar` serves lattices that do not split over lanes, the sets
/// named after a number of lanes those that split in some directions only.
fn instruction_sets(arch: &str) -> Vec<Isa> {
    let mut sets = vec![
        Isa { name: "scalar", lanes: 1, simd_bytes: 1, flags: &[] },
        Isa { name: "baseline", lanes: 16, simd_bytes: 16, flags: &[] },
    ];
    if arch == "x86_64" {
        sets.push(Isa { name: "avx2", lanes: 16, simd_bytes: 32, flags: &["-mavx2", "-mfma"] });
        sets.push(Isa {
            name: "avx512",
            lanes: 16,
            simd_bytes: 64,
            flags: &[
                "-mavx512f",
                "-mavx512bw",
                "-mavx512dq",
                "-mavx512vl",
                "-mfma",
                "-mprefer-vector-width=512",
            ],
        });
        for (name, lanes) in [("lanes2", 2), ("lanes4", 4), ("lanes8", 8)] {
            sets.push(Isa { name, lanes, simd_bytes: 32, flags: &["-mavx2", "-mfma"] });
        }
    }
    // Developers may build fewer sets; the library then reports only those.
    println!("cargo:rerun-if-env-changed=PLAQ_CPU_ISAS");
    if let Ok(only) = env::var("PLAQ_CPU_ISAS") {
        sets.retain(|s| s.name == "scalar" || only.split(',').any(|o| o == s.name));
    }
    sets
}

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let arch = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets the architecture");
    for path in [
        "kernels",
        "src/backend/args.rs",
        "src/backend/args_table.rs",
        "src/backend/families.rs",
        "src/backend/families_table.rs",
    ] {
        println!("cargo:rerun-if-changed={path}");
    }
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        let major = env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets the version");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libplaq.so.{major}");
    }
    fs::write(out.join("plaq_args.h"), args::cpp_args()).expect("write plaq_args.h");
    embed_sources(&out);

    let sets = instruction_sets(&arch);
    // Sets compile side by side: their largest files take minutes and would wait for each other.
    std::thread::scope(|scope| {
        let running: Vec<_> = sets.iter().map(|set| scope.spawn(|| compile(set, &out))).collect();
        for set in running {
            set.join().expect("a set of kernels compiles");
        }
    });
    fs::write(out.join("cpu_table.rs"), symbol_table(&sets)).expect("write cpu_table.rs");
}

/// Compiles one set into a static library and tells cargo to link it. Cargo runs this script anew
/// for every profile and command; as flags and sources are the same, they share the library in
/// `target/plaq-kernels`.
fn compile(set: &Isa, out: &Path) {
    let headers: BTreeSet<&str> = families::KERNELS.iter().map(|k| k.header).collect();
    let mut build = cc::Build::new();
    build.cpp(true).cpp_link_stdlib(None).include("kernels").include(out).opt_level(3);
    build.flag("-std=c++17").warnings(false).debug(false).cargo_metadata(false);
    for flag in [
        "-fno-exceptions",
        "-fno-rtti",
        "-ffreestanding",
        "-fvisibility=hidden",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-fno-signed-zeros",
        "-ffp-contract=fast",
        "-Wno-psabi",
        "-Wno-ignored-attributes",
    ] {
        build.flag(flag);
    }
    for flag in set.flags {
        build.flag(flag);
    }
    let mut key = compiler_identity(&build, out);
    for header in kernel_headers(out) {
        key.push_str(&fs::read_to_string(header).expect("a readable kernel header"));
    }
    for header in &headers {
        let file = out.join(format!("{}_{}.cpp", set.name, header.trim_end_matches(".h")));
        let text = translation_unit(set, header);
        key.push_str(&text);
        write_if_changed(&file, &text);
        build.file(file);
    }

    let mut hash = DefaultHasher::new();
    key.hash(&mut hash);
    let name = format!("plaq_kernels_{}", set.name);
    // OUT_DIR is target/PROFILE/build/PACKAGE/out.
    let target = out.ancestors().nth(4).expect("OUT_DIR lies in cargo's target folder");
    let kept = target.join("plaq-kernels").join(format!("{}-{:016x}", set.name, hash.finish()));
    let archive = format!("lib{name}.a");
    if !kept.join(&archive).exists() {
        build.compile(&name);
        fs::create_dir_all(&kept).expect("create a folder in target");
        // Renamed into place: another cargo may look for it at any time.
        let part = kept.join(format!("{archive}.{}", std::process::id()));
        fs::copy(out.join(&archive), &part).expect("copy the kernels");
        fs::rename(&part, kept.join(&archive)).expect("keep the kernels");
    }
    println!("cargo:rustc-link-search=native={}", kept.display());
    println!("cargo:rustc-link-lib=static={name}");
}

/// Compiler, version and flags, without the folder that differs between cargo's commands.
fn compiler_identity(build: &cc::Build, out: &Path) -> String {
    let compiler = build.get_compiler();
    let version = compiler.to_command().arg("--version").output().expect("the C++ compiler runs");
    let flags = compiler
        .args()
        .iter()
        .map(|a| a.to_string_lossy())
        .filter(|a| Path::new(a.as_ref()) != out);
    flags.fold(String::from_utf8_lossy(&version.stdout).into_owned(), |all, flag| all + " " + &flag)
}

fn instances(
    header: &str,
) -> impl Iterator<Item = (&'static families::Kernel, Vec<&'static str>)> + '_ {
    families::KERNELS
        .iter()
        .filter(move |k| k.header == header)
        .flat_map(|k| families::combinations(k.params).into_iter().map(move |p| (k, p)))
}

fn translation_unit(set: &Isa, header: &str) -> String {
    // Sets differ in flags and lane counts, so a namespace each keeps the linker from merging.
    let mut s = format!(
        "#define PLAQ_NS plaq_{}\n#define PLAQ_LANES {}\n#include \"{header}\"\nnamespace PLAQ_NS {{\n",
        set.name, set.lanes
    );
    for (kernel, params) in instances(header) {
        s.push_str(&families::instantiate(kernel, &params, set.simd_bytes, set.lanes));
    }
    s.push_str("}\n");
    s
}

fn symbol_table(sets: &[Isa]) -> String {
    let symbols: Vec<String> = families::KERNELS
        .iter()
        .flat_map(|k| {
            families::combinations(k.params).into_iter().map(move |p| families::symbol(k, &p))
        })
        .collect();
    let mut s = String::from("extern \"C\" {\n");
    for set in sets {
        for sym in &symbols {
            let _ = writeln!(s, "    fn plaq_{}_{sym}(args: *const core::ffi::c_void, begin: i64, end: i64, batches: i32, sums: *mut f64);", set.name);
        }
    }
    s.push_str("}\n\n");
    let _ = writeln!(
        s,
        "pub(super) static SETS: &[(&str, usize)] = &{:?};",
        sets.iter().map(|s| (s.name, s.lanes)).collect::<Vec<_>>()
    );
    s.push_str("pub(super) static TABLE: &[(&str, &[CpuKernel])] = &[\n");
    for sym in &symbols {
        let fns: Vec<String> = sets.iter().map(|set| format!("plaq_{}_{sym}", set.name)).collect();
        let _ = writeln!(s, "    ({sym:?}, &[{}]),", fns.join(", "));
    }
    s.push_str("];\n");
    s
}

/// Kernel headers as strings, for NVRTC.
fn embed_sources(out: &Path) {
    let mut s = String::from("pub(super) static HEADERS: &[(&str, &str)] = &[\n");
    for path in kernel_headers(out) {
        let full = fs::canonicalize(&path).expect("existing header");
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let _ = writeln!(s, "    ({name:?}, include_str!({full:?})),");
    }
    s.push_str("];\n");
    fs::write(out.join("kernel_sources.rs"), s).expect("write kernel_sources.rs");
}

fn kernel_headers(out: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = fs::read_dir("kernels")
        .expect("kernels/ is part of the crate")
        .map(|e| e.expect("readable entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "h"))
        .collect();
    names.sort();
    names.push(out.join("plaq_args.h"));
    names
}

fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).expect("write to OUT_DIR");
    }
}
