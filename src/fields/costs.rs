//! A model of the seconds that work of a rank and messages between ranks take, by which algorithms are chosen where
//! ranks have to choose alike: constants of present machines, good to a factor of two or three (docs/mpi.md).

use crate::backend::Device;
use crate::comm::Comm;

/// A way between two ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Way {
    /// Seconds of a message of a few bytes.
    pub latency: f64,
    /// Bytes a second.
    pub bandwidth: f64,
}

/// Seconds of a rank's work and messages, the same numbers on all ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// Number of ranks.
    pub ranks: usize,
    /// The way between ranks of one host, and between hosts.
    pub near: Way,
    pub far: Way,
    /// Whether ranks are on several hosts.
    pub hosts: bool,
    /// Seconds of a launch.
    pub launch: f64,
    /// Bytes of device memory that are read or written in a second.
    pub memory: f64,
    /// Operations on single numbers in a second.
    pub flops: f64,
    /// Further seconds of a message from and to the memory of the host.
    pub copy: f64,
}

impl Costs {
    /// The costs of these ranks with devices like this one.
    pub fn new(device: &Device, comm: &Comm) -> Costs {
        let (ranks, hosts) = (comm.size(), comm.hosts() > 1);
        match device.is_cpu() {
            true => Costs {
                ranks,
                hosts,
                near: Way { latency: 3e-6, bandwidth: 4e9 },
                far: Way { latency: 25e-6, bandwidth: 4e9 },
                launch: 2e-6,
                memory: 8e9 * comm.cores(),
                flops: 20e9 * comm.cores(),
                copy: 0.0,
            },
            false => Costs {
                ranks,
                hosts,
                near: Way { latency: 4e-6, bandwidth: 150e9 },
                far: Way { latency: 20e-6, bandwidth: 40e9 },
                launch: 3.4e-6,
                memory: 3e12,
                flops: 30e12,
                copy: 15e-6,
            },
        }
    }

    /// Seconds of a sum of a few numbers over this many ranks, on several hosts or one: a message for each doubling.
    pub fn sum_over(&self, ranks: usize, hosts: bool) -> f64 {
        let way = if hosts { self.far } else { self.near };
        if ranks == 1 {
            return 0.0;
        }
        self.copy + way.latency * f64::from(ranks.next_power_of_two().ilog2())
    }
    /// Seconds of a sum of a few numbers over all ranks.
    pub fn sum(&self) -> f64 {
        self.sum_over(self.ranks, self.hosts)
    }
    /// Seconds in which these bytes of device memory are read or written.
    pub fn passing(&self, bytes: f64) -> f64 {
        bytes / self.memory
    }
}
