//! The device of a rank.

use crate::backend::Device;
use crate::comm::Comm;
use crate::error::{words, Result};

/// Where to compute.
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

/// Opens this rank's device. `ordinal` counts GPUs; `None`: the rank's number on its node, modulo the visible
/// ones. `threads` of the CPU; 0: as many as this process may use, shared with the ranks that may use the
/// same cores.
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
                log::info!("using the CPU: {}", e.message);
                Device::cpu(threads)
            }
            device => device,
        },
    }
}
