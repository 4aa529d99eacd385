//! A process that compiles kernels for a GPU ends cleanly in every way and at any moment. The process is host.c with
//! an empty cache of kernels. The test needs NVRTC, but no GPU: fake_cuda.c stands for the driver unless
//! `PLAQ_TEST_DEVICE` is cuda. `PLAQ_TEST_ENDS` is the number of ends of each kind (default 5 on a GPU, else 3).

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use plaq::backend::cuda::Nvrtc;

/// Kinds of ends, with the status or the signal that the process ends with.
const KINDS: [(&str, Option<i32>, Option<i32>); 10] = [
    ("return", Some(3), None),
    ("exit", Some(3), None),
    ("quick_exit", Some(3), None),
    ("_exit", Some(3), None),
    ("handler", Some(3), None),
    ("SIGTERM", None, Some(15)),
    ("SIGINT", None, Some(2)),
    ("thread", Some(3), None),
    ("dlclose", Some(3), None),
    ("fork", Some(3), None),
];
/// A time longer than any kernel takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// The folder in which programs are built.
fn work() -> PathBuf {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ends");
    let work = if std::env::var_os("PLAQ_EXAMPLES").is_some() {
        std::env::temp_dir().join(format!("plaq-ends-{}", std::process::id()))
    } else {
        work
    };
    std::fs::create_dir_all(&work).expect("a writable folder");
    work
}

/// Paths of the host program and of the library that it loads: those of the kit, or built here. `None` without a
/// compiler.
fn host(work: &Path) -> Option<(PathBuf, PathBuf)> {
    if let Some(bin) = std::env::var_os("PLAQ_EXAMPLES").map(PathBuf::from) {
        let library = concat!("../lib/libplaq.so.", env!("CARGO_PKG_VERSION_MAJOR"));
        return Some((bin.join("ends_host"), bin.join(library)));
    }
    let host = work.join("host");
    compile(&["-std=gnu99", "-Iinclude", "tests/ends/host.c"], &host, &["-ldl", "-lpthread"])?;
    let exe = std::env::current_exe().expect("a path");
    let library = exe.ancestors().skip(1).take(2).map(|folder| folder.join("libplaq.so"));
    Some((host, library.into_iter().find(|p| p.exists()).expect("libplaq.so beside the test")))
}

fn compile(arguments: &[&str], to: &Path, libraries: &[&str]) -> Option<()> {
    let mut cc = Command::new(std::env::var("CC").unwrap_or("cc".into()));
    cc.current_dir(env!("SOURCE_TREE")).args(["-O1", "-Wall", "-Werror"]).args(arguments);
    let Ok(out) = cc.arg("-o").arg(to).args(libraries).output() else {
        println!("skipped: no C compiler");
        return None;
    };
    assert!(out.status.success(), "{cc:?}: {}", String::from_utf8_lossy(&out.stderr));
    Some(())
}

#[test]
fn processes_end_cleanly_while_kernels_are_compiled() {
    let gpu = std::env::var("PLAQ_TEST_DEVICE").is_ok_and(|d| d == "cuda");
    match Nvrtc::get() {
        Err(e) if std::env::var_os("PLAQ_REQUIRE_NVRTC").is_some() => panic!("{e}"),
        Err(e) if !gpu => return println!("skipped: {e}"),
        _ => {}
    }
    let work = work();
    let Some((host, library)) = host(&work) else { return };
    let driver = work.join("driver");
    if !gpu {
        std::fs::create_dir_all(&driver).expect("a writable folder");
        let fake = driver.join("libcuda.so.1");
        let Some(()) = compile(&["-shared", "-fPIC", "tests/ends/fake_cuda.c"], &fake, &[]) else {
            return;
        };
    }
    let times = std::env::var("PLAQ_TEST_ENDS").ok().and_then(|n| n.parse().ok());
    let times: u64 = times.unwrap_or(if gpu { 5 } else { 3 });
    let mut wrong = Vec::new();
    for (k, (kind, code, signal)) in KINDS.into_iter().enumerate() {
        for n in 0..times {
            let cache = work.join(format!("cache-{kind}-{n}"));
            let _ = std::fs::remove_dir_all(&cache);
            // Pauses spread over the second and a half in which most kernels are compiled.
            let pause = (n * 571 + k as u64 * 233) % 1500;
            let mut job = Command::new(&host);
            job.arg(&library).arg(kind).arg(pause.to_string()).env("PLAQ_CACHE", &cache);
            if !gpu {
                job.env("LD_LIBRARY_PATH", &driver);
            }
            let mut job = job.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a host");
            let start = Instant::now();
            while start.elapsed() < LIMIT && job.try_wait().expect("a process").is_none() {
                std::thread::sleep(Duration::from_millis(10));
            }
            let late = job.try_wait().expect("a process").is_none();
            if late {
                job.kill().expect("a process");
            }
            let out = job.wait_with_output().expect("a process");
            let kernels = std::fs::read_dir(&cache).map_or(0, Iterator::count);
            let found = (out.status.code(), out.status.signal());
            if late || found != (code, signal) {
                let said = String::from_utf8_lossy(&out.stderr).into_owned();
                wrong.push(format!(
                    "{kind} after {pause} ms: {}, {kernels} files {said}",
                    out.status
                ));
            }
            let _ = std::fs::remove_dir_all(&cache);
        }
    }
    assert!(wrong.is_empty(), "{} ends: {}", wrong.len(), wrong.join("\n"));
}
