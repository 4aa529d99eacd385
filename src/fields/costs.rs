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
    /// Bytes of device memory that a rank reads or writes in a second while all ranks work.
    pub memory: f64,
    /// Operations on single numbers of a rank in a second while all ranks work.
    pub flops: f64,
    /// Factor by which a rank is faster where it works alone on the cores that it shares with others.
    pub alone: f64,
    /// Further seconds of a message from and to the memory of the host.
    pub copy: f64,
}

impl Costs {
    /// The costs of these ranks with devices like this one. Where sums have the same bits in every run, costs are the
    /// same on whatever hosts and cores the ranks are: those of one host with a core for each.
    pub fn new(device: &Device, comm: &Comm) -> Costs {
        let ranks = comm.size();
        let (hosts, cores) = match comm.reproducible() {
            true => (false, 1.0),
            false => (comm.hosts() > 1, comm.cores()),
        };
        match device.is_cpu() {
            true => {
                // A rank that shares its core has to wait for its turn.
                let turn = if cores < 1.0 { 40e-6 } else { 0.0 };
                Costs {
                    ranks,
                    hosts,
                    near: Way { latency: 3e-6 + turn, bandwidth: 4e9 },
                    far: Way { latency: 25e-6 + turn, bandwidth: 4e9 },
                    launch: 2e-6,
                    memory: 8e9 * cores,
                    flops: 20e9 * cores,
                    alone: (1.0 / cores).max(1.0),
                    copy: 0.0,
                }
            }
            false => Costs {
                ranks,
                hosts,
                near: Way { latency: 4e-6, bandwidth: 150e9 },
                far: Way { latency: 20e-6, bandwidth: 40e9 },
                launch: 3.4e-6,
                memory: 3e12,
                flops: 30e12,
                alone: 1.0,
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
    /// Seconds in which a rank reads or writes these bytes of device memory while all ranks work.
    pub fn passing(&self, bytes: f64) -> f64 {
        bytes / self.memory
    }
    /// Seconds in which a rank does these operations and reads or writes these bytes while so many ranks work.
    pub fn working(&self, flops: f64, bytes: f64, ranks: usize) -> f64 {
        let faster = (self.ranks as f64 / ranks as f64).min(self.alone);
        (flops / self.flops).max(self.passing(bytes)) / faster
    }
}
