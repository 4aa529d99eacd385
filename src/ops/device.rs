//! The choice of the device of a rank.

use crate::backend::Device;
use crate::bail;
use crate::comm::Comm;
use crate::error::{words, Result};
use crate::fields::layout_on;
use crate::params::choices;

/// The kind of device to compute on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// CUDA if there is a usable GPU, else the CPU.
    Auto,
    Cpu,
    Cuda,
}

words!(DeviceKind {
    Auto => "PLAQ_DEVICE_AUTO",
    Cpu => "PLAQ_DEVICE_CPU",
    Cuda => "PLAQ_DEVICE_CUDA",
});

choices! {
    /// Kind of the device that a context uses.
    names DeviceKind: plaq_device {
        /// CUDA if there is a usable GPU, else the CPU.
        Auto = 0, PLAQ_DEVICE_AUTO, "auto";
        /// The CPU.
        Cpu = 1, PLAQ_DEVICE_CPU, "cpu";
        /// An NVIDIA GPU, by CUDA.
        Cuda = 2, PLAQ_DEVICE_CUDA, "cuda";
    }
}

/// Opens the device of this rank. `ordinal` numbers GPUs; `None` takes the rank's number on its node modulo the
/// visible GPUs. `threads` is for the CPU; 0 takes as many as this process may use, shared with ranks on the same
/// cores.
///
/// # Errors
/// `NoDevice`, `DriverMissing`, `DriverTooOld`, `NvrtcMissing`.
pub fn device_of_rank(
    kind: DeviceKind,
    ordinal: Option<usize>,
    threads: usize,
    comm: &Comm,
) -> Result<Device> {
    let threads = match threads {
        0 if comm.core_sharers() > 1 => {
            let all = std::thread::available_parallelism().map_or(1, |n| n.get());
            (all / comm.core_sharers()).max(1)
        }
        threads => threads,
    };
    crate::backend::cuda::share_machine(comm.node().len());
    let ordinal = match ordinal {
        Some(ordinal) => ordinal,
        None if comm.node_rank() == 0 => 0,
        None => comm.node_rank() % Device::cuda_count().unwrap_or(1).max(1),
    };
    match kind {
        DeviceKind::Cpu => Device::cpu(threads),
        DeviceKind::Cuda => Device::cuda(ordinal),
        DeviceKind::Auto => match Device::cuda(ordinal) {
            Err(e) if e.status.is_missing_device() => {
                log::info!("using the CPU: {}", e.message());
                Device::cpu(threads)
            }
            device => device,
        },
    }
}

/// Refuses ranks whose devices have different layouts of fields, since neighbours exchange messages in the layout of
/// the memory; ranks on CPUs exchange the numbers of their threads, from which costs are estimated. All ranks call this
/// before they make fields.
pub fn check_same_layout(comm: &Comm, device: &Device) -> Result<()> {
    const NAME: usize = 64;
    let form = layout_on(device);
    let mut mine = blake3::hash(form.as_bytes()).as_bytes().to_vec();
    let name = format!("{} with {form}", device.name());
    mine.extend(name.bytes().chain(std::iter::repeat(0)).take(NAME));
    let all = comm.all_gather(&mine)?;
    let of = |rank: usize| all[rank * mine.len()..][..mine.len()].split_at(mine.len() - NAME);
    let name = |rank: usize| String::from_utf8_lossy(of(rank).1).trim_end_matches('\0').to_string();
    if let Some(rank) = (1..comm.size()).find(|&rank| of(rank).0 != of(0).0) {
        bail!(Unsupported, sentence("ranks of one lattice must lay out fields alike: rank 0 computes on {}, rank {rank} on {}", name(0), name(rank)), hint("choose the same device for all, and with PLAQ_CPU_ISA an instruction set that all processors have"));
    }
    if let Some(threads) = device.threads() {
        let all = comm.all_gather(&threads.to_ne_bytes())?;
        let all = all.as_chunks().0.iter().map(|bytes| usize::from_ne_bytes(*bytes));
        comm.compute_with(all.min().unwrap_or(threads));
    }
    Ok(())
}
