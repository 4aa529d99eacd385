//! Compiles every kernel for the CPU, one static library per instruction set, and writes the
//! tables that the crate includes: argument header, kernel sources, symbol table.

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

/// From the plainest to the widest; `generic` has every kernel, for any number of lanes, the others
/// those that `families::vectorised` names. The sets named after a number of lanes serve lattices
/// that split in some directions only.
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
    // What this machine runs, `all` for packages, or a list; the library reports what it has.
    println!("cargo:rerun-if-env-changed=PLAQ_CPU_ISAS");
    let only = env::var("PLAQ_CPU_ISAS").unwrap_or_else(|_| native(arch));
    if only != "all" {
        sets.retain(|s| s.name == GENERIC || only.split(',').any(|o| o == s.name));
    }
    sets
}

/// The best set of this machine, and those of fewer lanes; all sets in a cross build.
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
    // Where tests find the tree.
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

/// One family header for one instruction set, and where its object is kept: under a hash of
/// everything that goes into it, so that another family, profile or command compiles nothing anew.
struct Unit {
    set: usize,
    source: PathBuf,
    include: PathBuf,
    flags: &'static [&'static str],
    object: PathBuf,
    /// Estimated work.
    weight: usize,
}

/// Compiles what is not kept yet, the largest first, and archives every set for cargo to link.
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
    // What these let the compiler choose changes no bit: promised are the same ones for any number of threads, with and
    // without halos, and after a restart, where other copies of the same code run.
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
    // Kernels are straight lines of vectors: passes that take a third of the compiler's time gain nothing there.
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

/// The instantiations of a set from a header in translation units, each with a name: one, and one for
/// every large kernel with vectors.
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
    // Sites of vectors in 16 bits take more registers than there are, and a third more time without these.
    // Hops take a twentieth more without all passes on some processors (docs/lab/cpu.md).
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
    // The generic set has little code, what stands alone much.
    let each = match set.name {
        GENERIC => 1,
        _ if name != stem => 100,
        _ => 6,
    };
    Unit { set: n, source, include, flags, object, weight: each * lines.len() }
}

/// The code, without comments, of a kernel header and of all those that it includes, plaq_args.h the dialect.
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
        // Comments compile nothing.
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        all.insert(name, code.collect::<Vec<_>>().join("\n"));
    }
    all
}

fn build_unit(unit: &Unit, compiler: &cc::Tool) {
    // One cargo compiles it, others that share the folder wait and take it.
    let lock = fs::File::create(unit.object.with_extension("lock")).expect("create a lock file");
    lock.lock().expect("lock a file");
    if unit.object.exists() {
        return;
    }
    // Renamed into place: a reader sees all of it or nothing.
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

/// Compiler, version and flags.
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
    // Sets differ in flags and lane counts, so a namespace each keeps the linker from merging.
    let kind = match set.name {
        GENERIC => String::from("PLAQ_GENERIC 1"),
        _ => format!("PLAQ_LANES {}", set.lanes),
    };
    let lines = lines.concat();
    let name = set.name;
    format!("#define PLAQ_NS plaq_{name}\n#define {kind}\n#include \"{header}\"\nnamespace PLAQ_NS {{\n{lines}}}\n")
}

/// The functions of each kernel, one for every set: its own, or else the generic one.
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

/// Kernel headers as strings, for NVRTC: lines of comments are empty, so that the compiler's messages name the right
/// lines, and a change of words leaves compiled kernels in users' caches valid.
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
