//! The default context of QUDA's interface: device, ranks and lattice of the host's simulation.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::resident::Resident;
use super::topology::{self, Grid};
use super::uploads::Solves;
use crate::bail;
use crate::capi::context::{plaq_context_params, CommunicatorKind, Context};
use crate::capi::library::log_here;
use crate::comm::{Comm, CommAddress, Communicator, Options, RankMap};
use crate::error::Result;
use crate::fields::Geometry;
use crate::refuse;

/// All objects that exist from the initialisation of QUDA's interface to its end.
pub struct Session {
    pub context: Arc<Context>,
    pub geometry: Arc<Geometry>,
    pub solves: Mutex<Solves>,
    resident: Mutex<Resident>,
    /// Extents of the whole lattice, and number of ranks in each direction.
    shape: [[c_int; 4]; 2],
    /// Threads that copy the host's arrays.
    pub threads: rayon::ThreadPool,
}

impl Session {
    pub fn resident(&self) -> MutexGuard<'_, Resident> {
        lock(&self.resident)
    }
}

/// Largest number of threads that copy the host's arrays; more do not copy memory faster.
const MAX_THREADS: usize = 16;

/// Starts the threads that copy the host's arrays, as many as this rank's share of the cores.
fn threads(comm: &Comm) -> Result<rayon::ThreadPool> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let count = (cores / comm.core_sharers()).clamp(1, MAX_THREADS);
    let name = |i| format!("plaq-read-{i}");
    match rayon::ThreadPoolBuilder::new().num_threads(count).thread_name(name).build() {
        Ok(threads) => Ok(threads),
        Err(e) => bail!(OutOfMemory, "cannot start threads: {e}"),
    }
}

static SESSION: Mutex<Option<Arc<Session>>> = Mutex::new(None);
/// The address of the host's MPI_Comm; None: not set.
static COMMUNICATOR: Mutex<Option<usize>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

static GRID: Mutex<Option<Grid>> = Mutex::new(None);
/// The device set by `initQuda`, until the lattice is known.
static DEVICE: Mutex<Option<c_int>> = Mutex::new(None);

pub fn set_grid(grid: Grid) -> Result<()> {
    if let Some(session) = current().filter(|s| s.shape[1] != grid.extents) {
        refuse!(
            InvalidArgument,
            "dims",
            expected("{:?} as before", session.shape[1]),
            found("{:?}", grid.extents),
            hint("call endQuda before another process grid")
        );
    }
    *lock(&GRID) = Some(grid);
    give_communicator_back();
    Ok(())
}

/// Stores the device, for the session that is opened with the first lattice.
pub fn set_device(number: c_int) -> Result<()> {
    if number < -1 {
        refuse!(
            InvalidArgument,
            "device",
            expected("-1 or the number of a GPU"),
            found("{number}")
        );
    }
    *lock(&DEVICE) = Some(number);
    Ok(())
}

/// The session for this rank's part of a lattice, which is opened unless it exists.
pub fn with_part(part: [c_int; 4]) -> Result<Arc<Session>> {
    if let Some(session) = current() {
        let was: [c_int; 4] = std::array::from_fn(|mu| session.shape[0][mu] / session.shape[1][mu]);
        if was != part {
            refuse!(
                InvalidArgument,
                "param.X",
                expected("{was:?} as before"),
                found("{part:?}"),
                hint("call endQuda before another lattice")
            );
        }
        return Ok(session);
    }
    let Some(number) = *lock(&DEVICE) else {
        bail!(
            NotInitialised,
            sentence("the library is not initialised"),
            hint("call initQuda first")
        );
    };
    let grid = declared_grid()?;
    let lattice = std::array::from_fn(|mu| part[mu].saturating_mul(grid.extents[mu]));
    open(lattice, grid.extents, number, Some(&grid.ranks))?;
    get()
}

/// The process grid set by the host, or declared to QMP, whose communicator is then used; without either a single
/// rank.
fn declared_grid() -> Result<Grid> {
    if let Some(grid) = lock(&GRID).clone() {
        return Ok(grid);
    }
    Ok(match topology::declared()? {
        Some((grid, communicator)) => {
            lock(&COMMUNICATOR).get_or_insert(communicator as usize);
            grid
        }
        None => Grid { extents: [1; 4], ranks: vec![0] },
    })
}

/// Ranks that the host used before it set a lattice, for the context that is opened later.
static RANKS: Mutex<Option<Arc<Comm>>> = Mutex::new(None);

/// The ranks of the default context, or before it exists those of its future grid.
pub fn communicator() -> Result<Arc<Comm>> {
    if let Some(comm) = ranks() {
        return Ok(comm);
    }
    let mut kept = lock(&RANKS);
    if let Some(comm) = &*kept {
        return Ok(comm.clone());
    }
    let grid = declared_grid()?;
    let comm = match grid.extents {
        [1, 1, 1, 1] => Comm::single(),
        extents => {
            let communicator = match *lock(&COMMUNICATOR) {
                Some(address) => {
                    // SAFETY: the address of its MPI_Comm that the host has passed.
                    Communicator::C(unsafe { CommAddress::new(address as *mut c_void) })
                }
                None => Communicator::World,
            };
            Comm::mpi(communicator, extents, &RankMap::Table(&grid.ranks), &Options::default())?
        }
    };
    *kept = Some(comm.clone());
    Ok(comm)
}

/// Frees what [`communicator`] made.
pub fn give_communicator_back() {
    *lock(&RANKS) = None;
}

/// The default context, if it exists.
pub fn current() -> Option<Arc<Session>> {
    lock(&SESSION).clone()
}

/// The default context; if there is none, an error that says how to open it.
pub fn get() -> Result<Arc<Session>> {
    match current() {
        Some(session) => Ok(session),
        None => {
            bail!(
                NotInitialised,
                sentence("the library is not initialised"),
                hint("call qudaInit first, or initQuda")
            )
        }
    }
}

/// The ranks of the default context, if it exists.
pub fn ranks() -> Option<Arc<Comm>> {
    current().map(|session| session.context.comm().clone())
}

pub fn set_communicator(communicator: *mut c_void) {
    *lock(&COMMUNICATOR) = (!communicator.is_null()).then_some(communicator as usize);
}

/// Opens the default context; if it exists already it must be for the same lattice. `device`: GPU of a single rank,
/// or -1. `ranks`: the rank at each place of the grid, of MPI_COMM_WORLD if the host has not passed a communicator.
pub fn open(
    lattice: [c_int; 4],
    grid: [c_int; 4],
    device: c_int,
    ranks: Option<&[c_int]>,
) -> Result<()> {
    let shape = [lattice, grid];
    if let Some(session) = current() {
        for (name, was, is) in [("latsize", 0, lattice), ("machsize", 1, grid)] {
            let was = session.shape[was];
            if was != is {
                refuse!(
                    InvalidArgument,
                    "input.layout.{name}",
                    expected("{was:?} as in the qudaInit that is in force"),
                    found("{is:?}"),
                    hint("call qudaFinalize before qudaInit with another lattice")
                );
            }
        }
        return Ok(());
    }
    for mu in 0..4 {
        let axis = ["x", "y", "z", "t"][mu];
        if grid[mu] < 1 {
            refuse!(
                ProcessGrid,
                "machsize in {axis}",
                expected("1 rank or more"),
                found("{}", grid[mu])
            );
        }
        if lattice[mu] < 2 || lattice[mu] % (2 * grid[mu]) != 0 {
            refuse!(
                BadExtents,
                "latsize in {axis}",
                expected(
                    "a multiple of {} (an even number of sites on each of {} ranks)",
                    2 * grid[mu],
                    grid[mu]
                ),
                found("{}", lattice[mu])
            );
        }
    }
    let communicator = lock(&COMMUNICATOR).unwrap_or(0) as *mut c_void;
    let single = grid == [1; 4];
    let world = communicator.is_null() && ranks.is_some();
    if !single && communicator.is_null() && !world {
        refuse!(
            ProcessGrid,
            "machsize",
            expected("1 rank without a communicator"),
            found("{grid:?}"),
            hint("call qudaSetMPICommHandle before qudaInit")
        );
    }
    let params = plaq_context_params {
        // Ranks take the GPUs of their machine in turn, whatever number the host names.
        ordinal: if single { device.max(-1) } else { -1 },
        communicator_kind: match (single, world) {
            (true, _) => CommunicatorKind::None.into(),
            (_, true) => CommunicatorKind::World.into(),
            (_, false) => CommunicatorKind::C.into(),
        },
        communicator,
        grid,
        rank_table: ranks.filter(|_| !single).map_or(std::ptr::null(), <[c_int]>::as_ptr),
        ..Default::default()
    };
    let context = Context::open(&params)?;
    let lattice = lattice.map(|l| l as usize);
    let (comm, device) = (context.comm(), context.device());
    let made = || Ok((Geometry::decomposed(lattice, device, comm)?, threads(comm)?));
    let (geometry, threads) = comm.guard(made)?;
    let (solves, resident) = (Mutex::default(), Mutex::default());
    log_here(comm.rank() == 0);
    let session = Session { context, geometry, solves, resident, shape, threads };
    *lock(&SESSION) = Some(Arc::new(session));
    Ok(())
}

/// Frees everything; `initQuda` may follow.
pub fn close() {
    *lock(&DEVICE) = None;
    let session = lock(&SESSION).take();
    if let Some(session) = &session {
        let [up, down] = session.context.device().counts().host_bytes;
        log::info!("arrays of the host: {up} bytes read, {down} bytes written");
    }
    log_here(false);
    drop(session);
}
