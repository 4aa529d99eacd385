//! A model of the time that a rank's work and messages between ranks take. Algorithms are chosen by it where all ranks
//! must make the same choice, so that measured times cannot be used. Its constants are those of present machines, right
//! within a factor of two or three (docs/mpi.md).

use crate::backend::Device;
use crate::comm::Comm;

/// Latency and bandwidth of messages between two ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Connection {
    /// Seconds that a message of a few bytes takes.
    pub latency: f64,
    /// Bytes per second of long messages.
    pub bandwidth: f64,
}

/// The constants of the model; all ranks have the same numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// Number of ranks.
    pub ranks: usize,
    /// Messages between ranks of one host; `far`: between ranks of different hosts.
    pub near: Connection,
    pub far: Connection,
    /// Whether ranks are on several hosts.
    pub hosts: bool,
    /// Seconds that the launch of a kernel takes.
    pub launch: f64,
    /// Bytes of device memory that a rank reads or writes in a second while all ranks work.
    pub memory: f64,
    /// Floating-point operations of a rank per second while all ranks work.
    pub flops: f64,
    /// Factor by which a rank is faster while the ranks with which it shares its cores are idle; 1 if it shares none.
    pub alone: f64,
    /// Seconds that a message takes in addition if it is copied through host memory.
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
                    near: Connection { latency: 3e-6 + turn, bandwidth: 4e9 },
                    far: Connection { latency: 25e-6 + turn, bandwidth: 4e9 },
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
                near: Connection { latency: 4e-6, bandwidth: 150e9 },
                far: Connection { latency: 20e-6, bandwidth: 40e9 },
                launch: 3.4e-6,
                memory: 3e12,
                flops: 30e12,
                alone: 1.0,
                copy: 15e-6,
            },
        }
    }

    /// Seconds of a sum of a few numbers over `ranks` ranks, on several `hosts` or on one: one message for each factor
    /// of two in the number of ranks.
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
    /// Seconds in which a rank reads or writes `bytes` bytes of device memory while all ranks work.
    pub fn memory_seconds(&self, bytes: f64) -> f64 {
        bytes / self.memory
    }
    /// Seconds in which a rank does `flops` operations and reads or writes `bytes` bytes while only `ranks` ranks work.
    pub fn working(&self, flops: f64, bytes: f64, ranks: usize) -> f64 {
        let faster = (self.ranks as f64 / ranks as f64).min(self.alone);
        (flops / self.flops).max(self.memory_seconds(bytes)) / faster
    }
}
