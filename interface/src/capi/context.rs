//! Contexts: a device, and the objects on it.

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::args::{choose, number_of, numbers, Local, Out, Params, Raw, Report, TextOut};
use super::handles::{self, HandleType};
use super::table::interface;
use crate::backend::Device;
use crate::comm::{self, Comm, RankMap};
use crate::error::Result;
use crate::ops::device::{check_same_layout, device_of_rank, DeviceKind};
use crate::params::{Host, InC as _};
use crate::refuse;

/// The object behind the handle `plaq_context`.
#[derive(Debug)]
pub struct Context {
    device: Device,
    comm: Arc<Comm>,
    /// Id of the context's handle, by which the objects that it owns are found.
    id: OnceLock<i64>,
}

impl Context {
    /// Opens a context: first its ranks, then the device of this rank. All ranks of the communicator call it
    /// together.
    pub(crate) fn open(params: &plaq_context_params) -> Result<Arc<Context>> {
        let comm = ranks(params)?;
        let device = comm.agree(device(params, &comm))?;
        check_same_layout(&comm, &device)?;
        log::info!("context on {}, rank {} of {}", device.name(), comm.rank(), comm.size());
        Ok(Arc::new(Context { device, comm, id: OnceLock::new() }))
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }
    pub(crate) fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }
    /// The context itself; objects of all other kinds have a method of the same name.
    pub(crate) fn context(&self) -> &Context {
        self
    }

    /// Makes a handle for an object that is destroyed with this context.
    pub(crate) fn adopt<H: HandleType>(&self, object: H::Object) -> Result<H> {
        handles::insert(Arc::new(object), self.id.get().copied().unwrap_or_default())
    }

    /// Refuses objects that belong to another context.
    pub(crate) fn check_same(&self, other: &Context, argument: &str) -> Result<()> {
        if !std::ptr::eq(self, other) {
            refuse!(
                WrongContext,
                "{argument}",
                expected("an object of the same context as the others")
            );
        }
        Ok(())
    }
}

crate::params::choices! {
    /// Ways of passing the ranks that share a lattice (docs/mpi.md).
    pub enum CommunicatorKind: plaq_communicator {
        /// One rank, without MPI.
        None = 0, PLAQ_COMMUNICATOR_NONE, "none";
        /// The address of an MPI_Comm, in `communicator`.
        C = 1, PLAQ_COMMUNICATOR_C, "c";
        /// The Fortran integer of a communicator, in `communicator_fortran`.
        Fortran = 2, PLAQ_COMMUNICATOR_FORTRAN, "fortran";
        /// The ranks of MPI_COMM_WORLD.
        World = 3, PLAQ_COMMUNICATOR_WORLD, "world";
    }
}

crate::params::parameters! {
    /// Parameters of a context.
    pub struct ContextParams: plaq_context_params {
        /// Kind of device on which the context computes.
        device: DeviceKind = DeviceKind::Auto;
        /// Number of the GPU, counted from 0; -1: the rank's number on its node, modulo the visible ones.
        ordinal: Option<usize> = None, within(0, i32::MAX as i64);
        /// Number of threads of the CPU back end; 0: as many as this process may use, divided among ranks on the same
        /// cores.
        threads: usize = 0, within(0, 4096);
        /// The way in which the ranks are passed.
        communicator_kind: CommunicatorKind = CommunicatorKind::None;
        /// Address of the host's MPI_Comm; plaq duplicates the communicator.
        communicator: Host<*mut c_void> = Host(std::ptr::null_mut());
        /// The communicator as an integer of Fortran.
        communicator_fortran: i32 = 0;
        /// True: sums over ranks have the same bits in every run with the same process grid.
        reproducible: bool = false;
        /// Number of ranks in the directions x, y, z, t; zeros: all ranks in t.
        grid: [i32; 4] = [0; 4];
        /// The rank at each place of the process grid, x fastest; NULL: rank n is at place n, unless there is a
        /// `rank_callback`.
        rank_table: Host<*const i32> = Host(std::ptr::null());
        /// A function that returns the rank at a place of the process grid; NULL: `rank_table` is used.
        rank_callback: Host<plaq_rank_callback> = Host(plaq_rank_callback(None));
        /// Address that is passed to `rank_callback`.
        rank_user: Host<*mut c_void> = Host(std::ptr::null_mut());
        /// Seconds that a rank waits for another one before the call fails; 0: PLAQ_COMM_TIMEOUT, or 300.
        timeout: f64 = 0.0;
        /// Largest number of bytes that the fields of this context may take on the device; 0: limited only by the
        /// device's memory. Calls that would exceed it fail with OUT_OF_MEMORY.
        memory_limit: u64 = 0, within(0, i64::MAX);
        /// The CUstream (cudaStream_t) on which the host works with device arrays that it passes: calls run after the
        /// work on that stream. NULL: the legacy default stream. Frameworks with streams of their own (CuPy, PyTorch,
        /// JAX) must pass theirs, here or in plaq_layout_params.
        stream: Host<*mut c_void> = Host(std::ptr::null_mut());
    }
}

interface! {
    "Context: a device and everything on it"
    handles {
        /// A device with its memory and threads. Fields and operators belong to a context and are destroyed with it;
        /// there may be several contexts at a time.
        plaq_context: Context = 1,
    }
    choices {
        plaq_device = DeviceKind;
        plaq_communicator = CommunicatorKind;
    }
    callbacks {
        /// Returns the rank at four coordinates of the process grid.
        plaq_rank_callback(coords: *const i32, user: *mut c_void) -> i32;
    }
    tables {
        plaq_context_params, plaq_context_params_init;
    }
    reports {
        /// Description of a context; sizes are in bytes.
        plaq_context_report, plaq_context_report_init {
            /// Kind of device, PLAQ_DEVICE_CPU or PLAQ_DEVICE_CUDA.
            device: plaq_device,
            /// Largest number of lanes (virtual nodes) into which a lattice is divided for SIMD vectors.
            lanes: i32,
            /// Bytes of memory that the device has.
            memory_total: i64,
            /// Bytes of the device's memory that are free.
            memory_free: i64,
            /// Bytes of device memory that the fields of this context take now.
            memory_used: i64,
            /// Largest number of bytes that the fields of this context have taken so far.
            memory_peak: i64,
            /// Number of ranks.
            ranks: i32,
            /// Number of this rank, counted from 0.
            rank: i32,
            /// Number of ranks in x, y, z, t.
            grid: [i32; 4],
            /// Coordinates of this rank in the process grid.
            coords: [i32; 4],
        }
    }
    functions {
        /// Makes a context; all ranks of its communicator do so together. Errors: NO_DEVICE,
        /// DRIVER_MISSING, DRIVER_TOO_OLD, NVRTC_MISSING, PROCESS_GRID, MPI_MISSING, MPI_STATE,
        /// MPI_THREAD, COMM_FAILED.
        plaq_context_create(params: Params<plaq_context_params>, context: Out<plaq_context>) = create;
        /// Destroys a context and all its objects. The zero handle is accepted.
        plaq_context_destroy(context: Raw<plaq_context>) = destroy;
        /// Writes the name of the device, e.g. "NVIDIA H200", into a buffer of `capacity` bytes.
        plaq_context_name(context: Local<plaq_context>, name: TextOut, capacity: i64) = device_name;
        /// Describes the device, its memory and the ranks of a context.
        plaq_context_describe(context: Local<plaq_context>, report: Report<plaq_context_report>) = describe;
        /// Resets memory_peak to memory_used.
        plaq_context_reset_peak(context: Local<plaq_context>) = reset_peak;
        /// Waits until the device has finished all its work.
        plaq_context_synchronize(context: Local<plaq_context>) = synchronize;
    }
}

fn create(params: &plaq_context_params, context: &mut Out<plaq_context>) -> Result<()> {
    let object = Context::open(params)?;
    let handle: plaq_context = handles::insert(object.clone(), 0)?;
    let _ = object.id.set(handle.id());
    context.set(handle);
    Ok(())
}

/// The ranks of the communicator; called before anything that could fail on some ranks only.
fn ranks(p: &plaq_context_params) -> Result<Arc<Comm>> {
    let communicator = match choose(p.communicator_kind, "params.communicator_kind")? {
        CommunicatorKind::None if !(0.0..f64::INFINITY).contains(&p.timeout) => {
            refuse!(
                InvalidArgument,
                "params.timeout",
                expected("0 or more"),
                found("{}", p.timeout)
            )
        }
        CommunicatorKind::None if p.grid.iter().all(|n| (0..2).contains(n)) => {
            return Ok(Comm::single())
        }
        CommunicatorKind::None => refuse!(
            ProcessGrid,
            "params.grid",
            expected("one rank without params.communicator_kind"),
            found("{:?}", p.grid)
        ),
        CommunicatorKind::C => {
            // SAFETY: NULL or the host's address of its MPI_Comm, as the header asks.
            comm::Communicator::C(unsafe { comm::CommAddress::new(p.communicator) })
        }
        CommunicatorKind::Fortran => comm::Communicator::Fortran(p.communicator_fortran),
        CommunicatorKind::World => comm::Communicator::World,
    };
    let places = p.grid.iter().try_fold(1i32, |n, &e| n.checked_mul(e));
    let table = numbers(p.rank_table, places.map_or(0, |n| n.max(0) as usize));
    let call = |coords: [i32; 4]| match p.rank_callback.0 {
        // SAFETY: the host has passed this function, together with the pointer.
        Some(callback) => unsafe { callback(coords.as_ptr(), p.rank_user) },
        None => -1,
    };
    let map = match &table {
        Some(table) => RankMap::Table(table),
        None if p.rank_callback.0.is_some() => RankMap::Function(&call),
        None => RankMap::Default,
    };
    let timeout = Some(p.timeout).filter(|t| *t != 0.0);
    // A time that is not possible becomes zero, which is refused on all ranks.
    let timeout = timeout.map(|t| Duration::try_from_secs_f64(t).unwrap_or_default());
    let reproducible = p.reproducible != 0;
    let options = comm::Options { timeout, reproducible, ..Default::default() };
    Comm::mpi(communicator, p.grid, &map, &options)
}

/// Opens the device of this rank.
fn device(p: &plaq_context_params, comm: &Comm) -> Result<Device> {
    let p = ContextParams::from_c(p, "params")?;
    let device = device_of_rank(p.device, p.ordinal, p.threads, comm)?;
    if p.memory_limit > 0 {
        device.limit_memory(p.memory_limit);
    }
    // SAFETY: NULL or a stream of the host that lives as long as the context, as the header asks.
    unsafe { device.set_host_stream(p.stream.0 as u64) };
    Ok(device)
}

fn destroy(context: plaq_context) -> Result<()> {
    handles::remove(context, "context")
}

fn device_name(context: &Arc<Context>, name: &mut TextOut, capacity: i64) -> Result<()> {
    name.set(&context.device.name(), capacity)
}

fn describe(context: &Arc<Context>, report: &mut Report<plaq_context_report>) -> Result<()> {
    let device = &context.device;
    let (free, total) = device.memory()?;
    let (used, peak) = device.used();
    report.set(plaq_context_report {
        device: if device.is_cpu() {
            number_of(DeviceKind::Cpu)
        } else {
            number_of(DeviceKind::Cuda)
        },
        lanes: device.max_lanes() as i32,
        memory_total: total as i64,
        memory_free: free as i64,
        memory_used: used as i64,
        memory_peak: peak as i64,
        ranks: context.comm.size() as i32,
        rank: context.comm.rank() as i32,
        grid: context.comm.grid().map(|n| n as i32),
        coords: context.comm.coords().map(|n| n as i32),
        ..Default::default()
    });
    Ok(())
}

fn reset_peak(context: &Arc<Context>) -> Result<()> {
    context.device.reset_peak();
    Ok(())
}

fn synchronize(context: &Arc<Context>) -> Result<()> {
    context.device.synchronize()
}
