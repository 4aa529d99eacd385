//! The ranks that a test runs on: one, or under mpirun (scripts/ranks.sh) as many as
//! `PLAQ_TEST_GRID` (e.g. 1,1,2,2) has places. `PLAQ_TEST_HALO` (e.g. 1,0,0,1) gives also the
//! directions with one rank halos.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use plaq::comm::{host, Comm, Communicator, Options, RankMap};
use plaq::error::Status;

pub fn ranks() -> Arc<Comm> {
    static RANKS: OnceLock<Arc<Comm>> = OnceLock::new();
    thread_local! {
        static OWN: Arc<Comm> = make();
    }
    // Message buffers belong to a Comm, which frees the oldest if there are many, and tests count bytes. So a rank with
    // halos to itself has one Comm for each test, which runs in a thread of its own, named after the test.
    let test = std::thread::current().name().is_some_and(|name| name != "main");
    let alone = std::env::var_os("PLAQ_TEST_GRID").is_none();
    if test && alone && std::env::var_os("PLAQ_TEST_HALO").is_some() {
        return OWN.with(Arc::clone);
    }
    RANKS.get_or_init(make).clone()
}

fn make() -> Arc<Comm> {
    let looped = four("PLAQ_TEST_HALO").unwrap_or([0; 4]).map(|n| n != 0);
    let Some(grid) = four("PLAQ_TEST_GRID") else { return Comm::looped(looped) };
    start_mpi(2);
    let options = Options { looped, ..Default::default() };
    Comm::mpi(Communicator::World, grid, &RankMap::Default, &options).expect("ranks")
}

fn four(variable: &str) -> Option<[i32; 4]> {
    let text = std::env::var(variable).ok()?;
    let numbers: Option<Vec<i32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let four = numbers.and_then(|n| n.try_into().ok());
    Some(four.unwrap_or_else(|| panic!("{variable}: expected four numbers, found {text}")))
}

static FAILED: AtomicBool = AtomicBool::new(false);

/// Starts MPI for this test program, as a host program would, at the first test, and ends it when the program ends.
/// `level` is MPI's level of thread support, 0 to 3.
pub fn start_mpi(level: i32) {
    match host::init(level) {
        Err(e) if e.status == Status::MpiState => return,
        done => done.expect("MPI"),
    }
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        FAILED.store(true, Ordering::SeqCst);
        others(info);
    }));
    // SAFETY: `end_mpi` is a function without arguments.
    assert_eq!(unsafe { libc::atexit(end_mpi) }, 0);
}

extern "C" fn end_mpi() {
    // If this rank failed, others may wait for it: then only mpirun can end them.
    if FAILED.load(Ordering::SeqCst) || host::finalize().is_err() {
        // SAFETY: the process ends.
        unsafe { libc::_exit(101) };
    }
}
