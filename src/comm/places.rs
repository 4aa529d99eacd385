//! Machines, hosts and cores on which the ranks run.

use std::sync::OnceLock;

/// Machines, hosts and cores on which the ranks run.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The machine of each rank, as the number of the first rank on that machine. Ranks of one machine share its cores
    /// and GPUs.
    pub machines: Vec<usize>,
    /// The host of each rank, as the number of the first rank on that host. Ranks of one host can access each other's
    /// memory. A host is a machine, or the part of it that `PLAQ_RANKS_PER_HOST` ranks make up.
    pub hosts: Vec<usize>,
    /// Number of ranks that may run on exactly the same cores as this rank, itself included.
    pub core_sharers: usize,
    /// Cores on which a rank may run, divided by the ranks that may run on exactly these; less than 1 where ranks share
    /// one. The least of all ranks.
    cores: f64,
    /// Number of threads of a rank's CPU, the least of all ranks; not set before ranks have exchanged these numbers.
    threads: OnceLock<usize>,
}

impl Places {
    pub fn new(machines: Vec<usize>, hosts: Vec<usize>, core_sharers: usize, cores: f64) -> Places {
        Places { machines, hosts, core_sharers, cores, threads: OnceLock::new() }
    }

    pub fn alone() -> Places {
        Places::new(vec![0], vec![0], 1, 1.0)
    }

    /// The places of those ranks whose numbers are in `members`, in that order.
    pub fn of(&self, members: &[usize]) -> Places {
        let some = |all: &[usize]| members.iter().map(|&rank| all[rank]).collect();
        Places { machines: some(&self.machines), hosts: some(&self.hosts), ..self.clone() }
    }

    /// Number of cores that the rank which has the fewest computes on.
    pub fn cores(&self) -> f64 {
        match self.threads.get() {
            Some(&threads) => self.cores.min(threads as f64),
            None => self.cores,
        }
    }

    /// Takes note of the least number of threads of a rank's CPU.
    pub fn compute_with(&self, threads: usize) {
        let _ = self.threads.set(threads);
    }
}

/// The ranks in the same group as `rank`, ascending; `groups` has the group of every rank.
pub(super) fn together(groups: &[usize], rank: usize) -> Vec<usize> {
    (0..groups.len()).filter(|&other| groups[other] == groups[rank]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cores on which no thread runs do not count, for a part of the ranks either.
    #[test]
    fn cores_need_threads() {
        for (own, threads, cores) in [(8.0, 2, 2.0), (8.0, 16, 8.0), (0.5, 2, 0.5)] {
            let places = Places::new(vec![0, 0], vec![0, 0], 1, own);
            assert_eq!(places.cores(), own);
            places.compute_with(threads);
            assert_eq!([places.cores(), places.of(&[1]).cores()], [cores; 2]);
        }
    }
}
