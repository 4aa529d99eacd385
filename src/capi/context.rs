//! Contexts: a device and what lives on it.

use std::sync::{Arc, OnceLock};

use super::args::{choose, Handle, Out, Params, Raw, Report, TextOut};
use super::handles::{self, HandleType};
use super::table::interface;
use crate::backend::Device;
use crate::bail;
use crate::error::Result;

/// What a `plaq_context` stands for.
#[derive(Debug)]
pub struct Context {
    device: Device,
    /// Of its handle; what the context owns is found by it.
    id: OnceLock<i64>,
}

impl Context {
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// A handle for an object that dies with this context.
    pub(crate) fn adopt<H: HandleType>(&self, object: H::Object) -> Result<H> {
        handles::insert(Arc::new(object), self.id.get().copied().unwrap_or_default())
    }

    /// Refuses objects of another context.
    pub(crate) fn check_same(&self, other: &Context, argument: &str) -> Result<()> {
        if !std::ptr::eq(self, other) {
            bail!(WrongContext, "{argument}: expected an object of the same context as the others");
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
pub enum DeviceKind {
    Auto,
    Cpu,
    Cuda,
}

interface! {
    "Context: a device and everything on it"
    handles {
        /// A device with its memory and threads. Fields and operators belong to a context and
        /// die with it; several contexts live side by side.
        plaq_context: Context = 1,
    }
    constants {
        /// Where a context computes.
        plaq_device: DeviceKind {
            /// CUDA if there is a usable GPU, else the CPU.
            PLAQ_DEVICE_AUTO = 0 => DeviceKind::Auto,
            PLAQ_DEVICE_CPU = 1 => DeviceKind::Cpu,
            PLAQ_DEVICE_CUDA = 2 => DeviceKind::Cuda,
        }
    }
    params {
        /// How to make a context.
        plaq_context_params, plaq_context_params_init {
            device: plaq_device = PLAQ_DEVICE_AUTO,
            /// Which GPU, counted from 0.
            ordinal: i32 = 0,
            /// Threads of the CPU back end; 0: as many as this process may use.
            threads: i32 = 0,
            /// Must be 0.
            reserved: i32 = 0,
        }
    }
    reports {
        /// What a context is and holds. Sizes in bytes.
        plaq_context_report, plaq_context_report_init {
            /// PLAQ_DEVICE_CPU or PLAQ_DEVICE_CUDA.
            device: plaq_device,
            /// Most virtual nodes (SIMD lanes) that a lattice is divided over.
            lanes: i32,
            memory_total: i64,
            memory_free: i64,
            /// Held by the fields of this context now, and the most so far.
            memory_used: i64,
            memory_peak: i64,
        }
    }
    functions {
        /// Makes a context. Errors: NO_DEVICE, DRIVER_MISSING, DRIVER_TOO_OLD, NVRTC_MISSING.
        plaq_context_create(params: Params<plaq_context_params>, context: Out<plaq_context>) = create;
        /// Destroys a context and all its objects. The zero handle is accepted.
        plaq_context_destroy(context: Raw<plaq_context>) = destroy;
        /// Name of the device, e.g. "NVIDIA H200", into a buffer of `capacity` bytes.
        plaq_context_name(context: Handle<plaq_context>, name: TextOut, capacity: i64) = device_name;
        /// Device and memory.
        plaq_context_describe(context: Handle<plaq_context>, report: Report<plaq_context_report>) = describe;
        /// Lets memory_peak start again from memory_used.
        plaq_context_reset_peak(context: Handle<plaq_context>) = reset_peak;
        /// Waits until everything asked of the device is done.
        plaq_context_synchronize(context: Handle<plaq_context>) = synchronize;
    }
}

fn create(params: &plaq_context_params, context: &mut Out<plaq_context>) -> Result<()> {
    let p = params;
    if !(0..=4096).contains(&p.threads) {
        bail!(InvalidArgument, "params.threads: expected 0 to 4096, found {}", p.threads);
    }
    if p.ordinal < 0 {
        bail!(InvalidArgument, "params.ordinal: expected 0 or more, found {}", p.ordinal);
    }
    if p.reserved != 0 {
        bail!(InvalidArgument, "params.reserved: expected 0, found {}", p.reserved);
    }
    let device = open(choose(p.device, "params.device")?, p.ordinal as usize, p.threads as usize)?;
    log::info!("context on {}", device.name());
    let object = Arc::new(Context { device, id: OnceLock::new() });
    let handle: plaq_context = handles::insert(object.clone(), 0)?;
    let _ = object.id.set(handle.id());
    context.set(handle);
    Ok(())
}

fn open(kind: DeviceKind, ordinal: usize, threads: usize) -> Result<Device> {
    match kind {
        DeviceKind::Cpu => Device::cpu(threads),
        DeviceKind::Cuda => Device::cuda(ordinal),
        DeviceKind::Auto => match Device::cuda(ordinal) {
            Err(e) if e.status.is_missing_device() => {
                log::info!("using the CPU: {}", e.message);
                Device::cpu(threads)
            }
            device => device,
        },
    }
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
        device: if device.is_cpu() { PLAQ_DEVICE_CPU } else { PLAQ_DEVICE_CUDA },
        lanes: device.max_lanes() as i32,
        memory_total: total as i64,
        memory_free: free as i64,
        memory_used: used as i64,
        memory_peak: peak as i64,
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
