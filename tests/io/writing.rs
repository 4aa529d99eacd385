//! Tests of writes that are refused or fail: they leave the target unchanged.

use super::lattice::*;
use super::{options, FORMATS};
use plaq::error::Status;
use plaq::io::{
    expect_new, read_gauge, write_file, write_gauge, ByteOrder, FileFormat, WriteOptions,
};
use std::fs;
use std::path::Path;

#[test]
fn refused_writes_leave_the_target() {
    let folder = Folder::new("refused");
    let path = folder.file("target");
    let n = [2, 2, 2, 2];
    let links = Random(8).links(n, 1.0);
    fs::write(&path, "precious").unwrap();
    let good = options(n, &links);
    let refused = |format, options: &WriteOptions, n, links: &[f64]| {
        let status = write_gauge(&path, format, options, n, links).unwrap_err().status;
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        assert_eq!(folder.names(), ["target"]);
        status
    };
    let with = |change: fn(&mut WriteOptions)| {
        let mut options = good.clone();
        change(&mut options);
        options
    };
    use FileFormat::*;
    assert_eq!(refused(Ildg, &good, [2, 2, 2, 4], &links), Status::BadExtents);
    assert_eq!(refused(Ildg, &good, [usize::MAX, 2, 2, 2], &links), Status::BadExtents);
    assert_eq!(refused(Ildg, &good, [0, 2, 2, 2], &[]), Status::BadExtents);
    assert_eq!(refused(OpenQcd, &good, [1, 2, 4, 2], &links), Status::BadExtents);
    let single = with(|o| o.precision_bits = Some(32));
    assert_eq!(refused(OpenQcd, &single, n, &links), Status::Unsupported);
    let double = with(|o| o.precision_bits = Some(64));
    assert_eq!(refused(Milc, &double, n, &links), Status::Unsupported);
    let little = with(|o| o.byte_order = Some(ByteOrder::Little));
    assert_eq!(refused(Ildg, &little, n, &links), Status::Unsupported);
    for options in [
        with(|o| o.plaquette = None),
        with(|o| o.plaquette = Some(f64::NAN)),
        with(|o| o.link_trace = None),
        with(|o| o.creator = Some("two\nlines".into())),
    ] {
        assert_eq!(refused(Nersc, &options, n, &links), Status::InvalidArgument);
    }
    let long = with(|o| o.date = Some("x".repeat(64)));
    assert_eq!(refused(Milc, &long, n, &links), Status::InvalidArgument);
    let nowhere = folder.file("nowhere").join("target");
    let error = write_gauge(&nowhere, Ildg, &good, n, &links).unwrap_err();
    assert_eq!(error.status, Status::FileWrite);
    assert_eq!(
        write_gauge(&folder.0, Ildg, &good, n, &links).unwrap_err().status,
        Status::FileWrite
    );
}

/// A write that fails midway leaves the target unchanged: the test runs itself again under a limit on the size of
/// files.
#[test]
#[cfg(unix)]
fn full_disk_leaves_the_target() {
    const CHILD: &str = "PLAQ_TEST_FULL_DISK";
    let n = [4, 4, 4, 4];
    if let Ok(path) = std::env::var(CHILD) {
        let links = Random(9).links(n, 1.0);
        for format in FORMATS {
            let written = write_gauge(Path::new(&path), format, &options(n, &links), n, &links);
            assert_eq!(written.unwrap_err().status, Status::FileWrite, "{format:?}");
        }
        return;
    }
    let folder = Folder::new("full");
    let path = folder.file("target");
    fs::write(&path, "precious").unwrap();
    let child = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact \"$1\""])
        .arg(std::env::current_exe().unwrap())
        .arg("io::writing::full_disk_leaves_the_target")
        .env(CHILD, &path)
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && report.contains("1 passed"), "{report}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    assert_eq!(folder.names(), ["target"]);
}

#[test]
#[cfg(unix)]
fn a_link_to_the_target_is_followed() {
    let folder = Folder::new("link");
    let (target, alias) = (folder.file("target"), folder.file("alias"));
    fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, &alias).unwrap();
    let n = [2, 2, 2, 2];
    let links = Random(10).links(n, 1.0);
    write_gauge(&alias, FileFormat::Ildg, &options(n, &links), n, &links).unwrap();
    assert!(fs::symlink_metadata(&alias).unwrap().is_symlink());
    assert_eq!(read_gauge(&target, None).unwrap().links, links);
}

/// A file that another process creates meanwhile is not replaced; a file that this process wrote is.
#[test]
fn files_that_appear_meanwhile_stay() {
    let folder = Folder::new("meanwhile");
    let (mine, theirs) = (folder.file("mine"), folder.file("theirs"));
    [&mine, &theirs].into_iter().for_each(|path| expect_new(path));
    fs::write(&theirs, "precious").unwrap();
    let refused = write_file(&theirs, b"result").unwrap_err();
    assert_eq!(refused.status, Status::FileWrite);
    assert!(refused.message().contains("another process has written it"), "{refused}");
    assert_eq!(fs::read(&theirs).unwrap(), b"precious");
    for text in ["first", "second"] {
        write_file(&mine, text.as_bytes()).unwrap();
        assert_eq!(fs::read(&mine).unwrap(), text.as_bytes());
        let mut names = folder.names();
        names.sort();
        assert_eq!(names, ["mine", "theirs"]);
    }
    // A file that existed when it was looked for is replaced.
    expect_new(&mine);
    write_file(&mine, b"third").unwrap();
    assert_eq!(fs::read(&mine).unwrap(), b"third");
}
