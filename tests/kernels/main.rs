//! Tests of parts of kernels compiled for the host, by C++ programs of this folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::{root, run, tool, WARNINGS};

fn work(name: &str) -> PathBuf {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels").join(name);
    std::fs::create_dir_all(&work).expect("a writable build tree");
    work
}

/// Compiles and runs a program that includes kernel headers, and checks that it succeeds.
fn passes(name: &str) {
    let Some(tool) = tool("CXX", "c++") else { return };
    let work = work("regions");
    std::fs::write(work.join("plaq_args.h"), plaq::backend::args::cpp_args(&|_| true))
        .expect("the same");
    let program = work.join(name);
    let mut words = tool.split(' ');
    let mut cxx = Command::new(words.next().expect("a compiler"));
    cxx.args(words).arg("-std=c++17").args(WARNINGS).args(["-g", "-O1"]);
    cxx.args(["-fsanitize=address,undefined", "-fno-sanitize-recover"]);
    cxx.arg("-I").arg(root().join("kernels")).arg("-I").arg(&work);
    cxx.arg(root().join(format!("tests/kernels/{name}.cc"))).arg("-o").arg(&program);
    run(&mut cxx, &format!("compiling {name}.cc"));
    run(&mut Command::new(&program), name);
}

#[test]
fn regions() {
    passes("regions");
}

/// Copies kernel headers without a GPU's assembler instructions, which stand on lines of their own. Instructions that
/// copy into shared memory are replaced by plain copies.
fn without_assembly(to: &Path) {
    for entry in std::fs::read_dir(root().join("kernels")).expect("kernel headers") {
        let entry = entry.expect("a kernel header");
        let text = std::fs::read_to_string(entry.path()).expect("a text");
        let line = |line: &str| match line.find("asm") {
            Some(_) if line.contains("cp.async.ca") => {
                "if (wanted) __builtin_memcpy((char*)to + offset, from, BYTES);".into()
            }
            Some(at) if line.contains("{ asm") && line.ends_with('}') => {
                line[..at].to_string() + "}"
            }
            Some(_) if line.trim_start().starts_with("asm") => String::new(),
            _ => line.to_string(),
        };
        let text: Vec<String> = text.lines().map(line).collect();
        std::fs::write(to.join(entry.file_name()), text.join("\n")).expect("the same");
    }
    let args = plaq::backend::args::cpp_args(&|_| true);
    let args = args
        .lines()
        .filter(|line| !line.contains("PLAQ_AT(S, M) __INTADDR__") && !line.starts_with("#undef"));
    std::fs::write(to.join("plaq_args.h"), args.collect::<Vec<_>>().join("\n")).expect("the same");
}

/// Elementary functions are accurate, as compiled for processors with their flags and for GPUs.
#[test]
fn math() {
    let Some(tool) = tool("CXX", "c++") else { return };
    let work = work("math");
    without_assembly(&work);
    for (name, flag) in [("cpu", "-DCPU"), ("gpu", "-DGPU")] {
        let mut words = tool.split(' ');
        let mut cxx = Command::new(words.next().expect("a compiler"));
        cxx.args(words).args(["-std=c++17", "-O2", "-w", "-fno-math-errno", "-fno-trapping-math"]);
        cxx.args(["-ffp-contract=off", "-march=native", flag]);
        cxx.arg("-I").arg(&work).arg("-I").arg(root().join("tests/kernels"));
        let program = work.join(name);
        cxx.arg(root().join("tests/kernels/math.cc")).arg("-o").arg(&program);
        run(&mut cxx, "compiling math.cc");
        run(&mut Command::new(&program), &format!("elementary functions, {name}"));
    }
}

/// A hop of both parities in one launch equals one launch for each, in the code that a GPU runs: for one right-hand
/// side and several, for blocks that fill slices and blocks that do not, and with site terms.
#[test]
fn parities() {
    let Some(tool) = tool("CXX", "c++") else { return };
    let work = work("parities");
    without_assembly(&work);
    let one = plaq::backend::args::SITE_ONE;
    let clover = plaq::backend::args::SITE_CLOVER;
    for (storage, nrhs, extents, [site_hop, site_y]) in [
        ("f32", 1, [16, 16, 4, 6], [clover, one]),
        ("f64", 1, [4, 6, 2, 10], [one, one]),
        ("f16", 2, [16, 8, 4, 2], [one, clover]),
    ] {
        let compile = |name: &str, parity: i32| {
            let mut words = tool.split(' ');
            let mut cxx = Command::new(words.next().expect("a compiler"));
            cxx.args(words).args(["-std=c++17", "-O1", "-w"]);
            cxx.arg("-I").arg(&work).arg("-I").arg(root().join("tests/kernels"));
            let volume = extents.iter().product::<i32>() / 2;
            let mut spec =
                |name: &str, value: i32| _ = cxx.arg(format!("-DPLAQ_SPEC_{name}={value}"));
            for (k, x) in ["x", "y", "z", "t"].iter().zip(extents) {
                spec(&format!("Geom_{k}"), x);
                spec(&format!("Geom_lane_{k}"), 1);
            }
            spec("Geom_halos", 0);
            spec("FieldView_volume", volume);
            for name in ["region", "complex_phase"] {
                spec(&format!("HopArgs_{name}"), 0);
            }
            for name in ["dagger", "with_y", "with_z", "with_own"] {
                spec(&format!("HopArgs_{name}"), 1);
            }
            for name in ["step_in", "step_out", "step_y", "step_z"] {
                spec(&format!("HopArgs_{name}"), 2);
            }
            spec("Bounds_kind", 0);
            spec("HopArgs_phase_mask", 8);
            spec("HopArgs_nrhs", nrhs);
            spec("HopArgs_site_hop", site_hop);
            spec("HopArgs_site_y", site_y);
            spec("HopArgs_parity", parity);
            // Constants of other kernels in these headers, for branches on them.
            spec("SiteOpArgs_site", one);
            spec("ConvertArgs_links", 4);
            for name in ["storage_from", "storage_to"] {
                spec(&format!("ConvertArgs_{name}"), plaq::backend::args::R18);
            }
            cxx.args(["-DPLAQ_BLOCK=64", "-DPLAQ_MIN_BLOCKS=1", "-DPLAQ_OVERLAPS=0"]);
            cxx.args([format!("-DSTORAGE={storage}"), format!("-DPLAQ_NS=of_{name}")]);
            cxx
        };
        let object = |name: &str| work.join(format!("{name}.o"));
        let source = |name: &str| root().join(format!("tests/kernels/{name}.cc"));
        for (name, parity) in [("even", 0), ("odd", 1), ("both", plaq::backend::args::PARITY_BOTH)]
        {
            let mut cxx = compile(name, parity);
            cxx.arg(format!("-DKERNEL={name}")).arg("-c").arg(source("hop"));
            run(cxx.arg("-o").arg(object(name)), "compiling hop.cc");
        }
        let program = work.join("parities");
        let mut cxx = compile("host", 0);
        cxx.arg(source("parities")).args(["even", "odd", "both"].map(object)).arg("-pthread");
        run(cxx.arg("-o").arg(&program), "compiling parities.cc");
        run(&mut Command::new(&program), &format!("parities, {storage}, {nrhs}"));
    }
}
