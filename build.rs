//! Compiles every kernel for the CPU into one static library per instruction set, and writes files that the crate
//! includes: the header of argument structs, the kernel sources as strings (for GPUs), and the table of CPU functions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

#[path = "src/backend/args.rs"]
#[allow(dead_code)]
mod args;
#[path = "src/backend/families.rs"]
#[allow(dead_code)]
mod families;
#[path = "packaging/older_glibc.rs"]
mod older_glibc;

struct Isa {
    name: &'static str,
    lanes: usize,
    simd_bytes: usize,
    flags: &'static [&'static str],
}

const GENERIC: &str = "generic";

/// The instruction sets for which kernels are compiled, from the plainest to the widest. `generic` has every kernel,
/// for any number of lanes; the others have those for which `families::vectorised` is true. Sets named after a number
/// of lanes are for lattices of which some extents are not divisible into lanes.
fn instruction_sets(arch: &str) -> Vec<Isa> {
    let mut sets = vec![
        Isa { name: GENERIC, lanes: 1, simd_bytes: 1, flags: &["-ftls-model=initial-exec"] },
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
    // PLAQ_CPU_ISAS is a list of sets or `all` (for packages); by default those that this machine can run.
    println!("cargo:rerun-if-env-changed=PLAQ_CPU_ISAS");
    let only = env::var("PLAQ_CPU_ISAS").unwrap_or_else(|_| native(arch));
    if only != "all" {
        sets.retain(|s| s.name == GENERIC || only.split(',').any(|o| o == s.name));
    }
    sets
}

/// The names of the best set that this machine can run and of the sets with fewer lanes; `all` in a cross build.
fn native(arch: &str) -> String {
    if env::var("HOST") != env::var("TARGET") {
        return String::from("all");
    }
    #[cfg(target_arch = "x86_64")]
    if arch == "x86_64" {
        let avx512 = ["avx512f", "avx512bw", "avx512dq", "avx512vl"];
        let flags = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = flags.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
        let has = |flag: &str| line.split_whitespace().any(|f| f == flag);
        let best = match () {
            _ if avx512.iter().all(|f| has(f)) && has("fma") => "avx512",
            _ if has("avx2") && has("fma") => "avx2",
            _ => return String::from("baseline"),
        };
        return format!("{best},lanes2,lanes4,lanes8");
    }
    let _ = arch;
    String::from("baseline")
}

fn main() {
    // Tests read files of the source tree at this path.
    println!("cargo:rustc-env=SOURCE_TREE={}", env!("CARGO_MANIFEST_DIR"));
    older_glibc::link(".");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let arch = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets the architecture");
    for path in [
        "kernels",
        "src/backend/args.rs",
        "src/backend/args_coarse_table.rs",
        "src/backend/args_hadrons_table.rs",
        "src/backend/args_table.rs",
        "src/backend/constants_table.rs",
        "src/backend/families.rs",
        "src/backend/families_table.rs",
    ] {
        println!("cargo:rerun-if-changed={path}");
    }
    fs::write(out.join("plaq_args.h"), args::cpp_args(&|_| true)).expect("write plaq_args.h");
    embed_sources(&out);

    let sets = instruction_sets(&arch);
    compile(&sets, &out);
    fs::write(out.join("cpu_table.rs"), symbol_table(&sets)).expect("write cpu_table.rs");
}

/// A translation unit: kernels of one header for one instruction set. The name of its object file contains a hash of
/// everything on which it depends, so that it is compiled again only if that has changed.
struct Unit {
    set: usize,
    source: PathBuf,
    include: PathBuf,
    flags: &'static [&'static str],
    object: PathBuf,
    /// Estimated time of compilation, in arbitrary units.
    weight: usize,
}

/// Compiles the units whose object files do not exist yet, those that take longest first, and makes a static library of
/// every instruction set for cargo to link.
fn compile(sets: &[Isa], out: &Path) {
    println!("cargo:rerun-if-env-changed=PLAQ_KERNEL_CACHE");
    // OUT_DIR is target/PROFILE/build/PACKAGE/out.
    let target = out.ancestors().nth(4).expect("OUT_DIR lies in cargo's target folder");
    let kept =
        env::var_os("PLAQ_KERNEL_CACHE").map_or_else(|| target.join("plaq-kernels"), PathBuf::from);
    fs::create_dir_all(&kept).expect("create the folder of compiled kernels");
    let headers: BTreeSet<&str> = families::KERNELS.iter().map(|k| k.header).collect();
    let compilers: Vec<cc::Tool> = sets.iter().map(|set| compiler(set).get_compiler()).collect();
    let mut units = Vec::new();
    for (n, set) in sets.iter().enumerate() {
        let identity = compiler_identity(&compilers[n]);
        for header in &headers {
            for (name, lines) in parts(set, header) {
                units.push(unit(n, set, header, &name, &lines, &identity, out, &kept));
            }
        }
    }
    let mut missing: Vec<&Unit> = units.iter().filter(|u| !u.object.exists()).collect();
    missing.sort_by_key(|u| std::cmp::Reverse(u.weight));
    let jobs = env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let next = AtomicUsize::new(0);
    let progress = kept.join("progress");
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..jobs)
            .map(|_| {
                scope.spawn(|| loop {
                    let done = next.fetch_add(1, Ordering::Relaxed);
                    let Some(unit) = missing.get(done) else { break };
                    let name = unit.source.file_stem().expect("a file").to_string_lossy();
                    let line = format!("kernels: {} of {}, {name}\n", done + 1, missing.len());
                    let _ = fs::write(&progress, line);
                    build_unit(unit, &compilers[unit.set]);
                })
            })
            .collect();
        for worker in running {
            worker.join().expect("the kernels compile");
        }
    });
    let _ = fs::remove_file(&progress);
    for (n, set) in sets.iter().enumerate() {
        let name = format!("plaq_kernels_{}", set.name);
        let mut archive = compiler(set);
        archive.objects(units.iter().filter(|u| u.set == n).map(|u| &u.object));
        archive.compile(&name);
        println!("cargo:rustc-link-search=native={}", out.display());
        println!("cargo:rustc-link-lib=static={name}");
    }
}

fn compiler(set: &Isa) -> cc::Build {
    let mut build = cc::Build::new();
    build.cpp(true).cpp_link_stdlib(None).include("kernels").opt_level(2);
    build.flag("-std=c++17").warnings(false).debug(false).cargo_metadata(false);
    // With these flags the compiler's choices do not change rounding. Results must have the same bits for any number of
    // threads, with and without halos, and after a restart, although different instantiations of the same code may run.
    for flag in [
        "-fno-exceptions",
        "-fno-rtti",
        "-ffreestanding",
        "-fvisibility=hidden",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-ffp-contract=off",
        "-Wno-psabi",
        "-Wno-ignored-attributes",
    ] {
        build.flag(flag);
    }
    // Kernels are long sequences of vector instructions without branches, in which these optimisation passes gain
    // nothing but take a third of the compiler's time.
    if build.get_compiler().is_like_gnu() {
        for flag in [
            "-fno-tree-pre",
            "-fno-gcse",
            "-fira-region=one",
            "--param=sccvn-max-alias-queries-per-access=100",
        ] {
            build.flag(flag);
        }
    }
    for flag in set.flags {
        build.flag(flag);
    }
    build
}

/// The translation units of a header for an instruction set, each with its name and the lines that instantiate its
/// kernels: one for every large kernel with vectors, and one for all other kernels.
fn parts(set: &Isa, header: &str) -> Vec<(String, Vec<String>)> {
    let stem = header.trim_end_matches(".h");
    let (mut together, mut alone) = (Vec::new(), Vec::new());
    for (kernel, params) in instances(header).filter(|(k, p)| compiled(set, k, p)) {
        let line = families::instantiate(kernel, &params, set.simd_bytes, set.lanes);
        if set.name != GENERIC && kernel.large {
            alone.push((families::symbol(kernel, &params), vec![line]));
        } else {
            together.push(line);
        }
    }
    if !together.is_empty() {
        alone.push((stem.to_string(), together));
    }
    alone
}

fn compiled(set: &Isa, kernel: &families::Kernel, params: &[&str]) -> bool {
    set.name == GENERIC || families::vectorised(kernel, params, set.lanes)
}

/// Writes the source of a unit and finds the name of its object.
#[allow(clippy::too_many_arguments)]
fn unit(
    n: usize,
    set: &Isa,
    header: &str,
    name: &str,
    lines: &[String],
    identity: &str,
    out: &Path,
    kept: &Path,
) -> Unit {
    let stem = header.trim_end_matches(".h");
    let headers = included(header);
    let words: BTreeSet<&str> = headers
        .values()
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect();
    let include = out.join("args").join(stem);
    let args = args::cpp_args(&|name| words.contains(name));
    fs::create_dir_all(&include).expect("create a folder in OUT_DIR");
    write_if_changed(&include.join("plaq_args.h"), &args);
    let source = out.join(format!("{}_{name}.cpp", set.name));
    let text = translation_unit(set, header, lines);
    write_if_changed(&source, &text);
    // Without these flags operations on vectors in 16 bits, which need more registers than there are, take a third
    // longer, and hops a twentieth longer on some processors (docs/lab/cpu.md).
    let flags: &[&str] = match header {
        "blas.h" if set.name != GENERIC => &["-O3", "-fgcse", "-fira-region=mixed"],
        "wilson.h" if set.lanes == 16 => &[
            "-O3",
            "-fgcse",
            "-fira-region=mixed",
            "-ftree-pre",
            "--param=sccvn-max-alias-queries-per-access=1000",
        ],
        _ => &[],
    };
    let mut hash = DefaultHasher::new();
    (identity, flags, &headers, &args, &text).hash(&mut hash);
    let object = kept.join(format!("{}_{name}-{:016x}.o", set.name, hash.finish()));
    // Kernels of the generic set compile fast; large kernels, which are units of their own, take long.
    let each = match set.name {
        GENERIC => 1,
        _ if name != stem => 100,
        _ => 6,
    };
    Unit { set: n, source, include, flags, object, weight: each * lines.len() }
}

/// The code without comments, by name, of a kernel header, of plaq_dialect.h and of all headers that these include,
/// except plaq_args.h.
fn included(header: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut open = vec![header.to_string(), String::from("plaq_dialect.h")];
    while let Some(name) = open.pop() {
        if name == "plaq_args.h" || all.contains_key(&name) {
            continue;
        }
        let text = fs::read_to_string(Path::new("kernels").join(&name))
            .unwrap_or_else(|e| panic!("kernels/{name}: {e}"));
        for line in text.lines() {
            if let Some(rest) = line.trim().strip_prefix("#include \"") {
                open.push(rest.trim_end_matches('"').to_string());
            }
        }
        // Lines of comments are dropped, so that changing them does not recompile kernels.
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        all.insert(name, code.collect::<Vec<_>>().join("\n"));
    }
    all
}

fn build_unit(unit: &Unit, compiler: &cc::Tool) {
    // If several cargo processes share the folder, one of them compiles the unit and the others wait for its object.
    let lock = fs::File::create(unit.object.with_extension("lock")).expect("create a lock file");
    lock.lock().expect("lock a file");
    if unit.object.exists() {
        return;
    }
    // The object is renamed into place, so that other processes see the complete file or none.
    let part = unit.object.with_extension(format!("{}.part", std::process::id()));
    let mut command = compiler.to_command();
    if compiler.is_like_gnu() {
        command.args(unit.flags);
    }
    command.arg("-I").arg(&unit.include).arg("-c").arg(&unit.source).arg("-o").arg(&part);
    let status = command.status().expect("the C++ compiler runs");
    assert!(status.success(), "{command:?} failed");
    fs::rename(&part, &unit.object).expect("keep the kernels");
}

/// Version of the compiler and its flags as a text, for the hash of a unit.
fn compiler_identity(compiler: &cc::Tool) -> String {
    let version = compiler.to_command().arg("--version").output().expect("the C++ compiler runs");
    let flags = compiler.args().iter().map(|a| a.to_string_lossy());
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

fn translation_unit(set: &Isa, header: &str, lines: &[String]) -> String {
    // Every set has a namespace of its own; otherwise the linker would merge functions that were compiled with
    // different flags and numbers of lanes.
    let kind = match set.name {
        GENERIC => String::from("PLAQ_GENERIC 1"),
        _ => format!("PLAQ_LANES {}", set.lanes),
    };
    let lines = lines.concat();
    let name = set.name;
    format!("#define PLAQ_NS plaq_{name}\n#define {kind}\n#include \"{header}\"\nnamespace PLAQ_NS {{\n{lines}}}\n")
}

/// The text of the table of CPU functions: for each kernel one function for every instruction set, that of the set if
/// the kernel is compiled for it, else the generic one.
fn symbol_table(sets: &[Isa]) -> String {
    let all: Vec<_> = families::KERNELS
        .iter()
        .flat_map(|k| families::combinations(k.params).into_iter().map(move |p| (k, p)))
        .collect();
    let mut s = String::from("extern \"C\" {\n");
    for set in sets {
        for (kernel, params) in all.iter().filter(|(k, p)| compiled(set, k, p)) {
            let sym = families::symbol(kernel, params);
            let _ = writeln!(s, "    fn plaq_{}_{sym}(args: *const core::ffi::c_void, begin: i64, end: i64, batches: i32, lanes: i32, sums: *mut f64);", set.name);
        }
    }
    s.push_str("}\n\n");
    let _ = writeln!(
        s,
        "pub(super) static SETS: &[(&str, usize)] = &{:?};",
        sets.iter().map(|s| (s.name, s.lanes)).collect::<Vec<_>>()
    );
    s.push_str("pub(super) static TABLE: &[(&str, &[CpuKernel])] = &[\n");
    for (kernel, params) in &all {
        let sym = families::symbol(kernel, params);
        let of = |set: &Isa| if compiled(set, kernel, params) { set.name } else { GENERIC };
        let fns: Vec<String> = sets.iter().map(|set| format!("plaq_{}_{sym}", of(set))).collect();
        let _ = writeln!(s, "    ({sym:?}, &[{}]),", fns.join(", "));
    }
    s.push_str("];\n");
    s
}

/// Writes the kernel headers as strings, for NVRTC. Lines of comments become empty lines: line numbers in the
/// compiler's messages stay right, and a change of comments leaves compiled kernels in users' caches valid.
fn embed_sources(out: &Path) {
    let mut s = String::from("pub(super) static HEADERS: &[(&str, &str)] = &[\n");
    for path in kernel_headers(out) {
        let text = fs::read_to_string(&path).expect("existing header");
        let code: String = text
            .lines()
            .map(|line| {
                if line.trim_start().starts_with("//") {
                    "\n".to_string()
                } else {
                    format!("{line}\n")
                }
            })
            .collect();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let _ = writeln!(s, "    ({name:?}, {code:?}),");
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
