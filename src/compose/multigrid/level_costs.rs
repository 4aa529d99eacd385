//! The model by which levels are gathered: seconds that the coarse levels of a cycle take on given ranks, from their
//! launches, arithmetic, memory traffic, messages and sums (docs/multigrid.md).

use super::params::{Coarsest, Cycle, LevelParams, MultigridParams, STEPS};
use crate::fields::{Connection, Costs, Precision};

/// Number of right-hand sides that the model is for: between those of one solve and of a propagator.
const COLUMNS: f64 = 4.0;
/// Number of iterations that GCR takes in a K cycle.
const ITERATIONS: f64 = 3.0;
/// Number of launches that go with an application of a coarse operator, those of vectors included.
const LAUNCHES: f64 = 4.0;

/// Extents of a whole level, and the number of ranks in each direction before and after the level is gathered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelGrid {
    pub global: [usize; 4],
    pub outer: [usize; 4],
    pub grid: [usize; 4],
}

/// The ranks of the finest level.
pub(super) struct Ranks<'a> {
    pub grid: [usize; 4],
    /// Whether neighbours in a direction of a coarser grid are on different hosts.
    pub crosses: &'a dyn Fn([usize; 4], usize) -> bool,
    pub gpus: bool,
}

/// Seconds of all coarse levels in a cycle.
pub(super) fn seconds(
    params: &MultigridParams,
    grids: &[LevelGrid],
    ranks: &Ranks,
    costs: &Costs,
) -> f64 {
    let steps = params.steps();
    let (mut visits, mut all) = (1.0, 0.0);
    for (l, grid) in grids.iter().enumerate().skip(1) {
        let work = Work::of(params, l, steps.get(l));
        let level = Level { grid, components: 2.0 * steps[l - 1].vectors as f64, ranks, costs };
        all += visits * (work.applications * level.application(params) + level.gathering());
        all += visits * work.sums * level.sum();
        visits *= work.iterations;
    }
    all
}

/// The work of one visit of a level.
struct Work {
    /// Iterations, each with a visit of the next level.
    iterations: f64,
    applications: f64,
    sums: f64,
}

impl Work {
    fn of(params: &MultigridParams, level: usize, step: Option<&LevelParams>) -> Work {
        let Some(step) = step else {
            // A Krylov solver takes at most two blocks of steps, within which there are no sums.
            let applications = match params.coarsest {
                Coarsest::Direct => 1.0,
                _ => params.coarsest_iterations.min(2 * STEPS) as f64,
            };
            return Work { iterations: 0.0, applications, sums: 3.0 };
        };
        let iterations = match params.cycle_of(level) {
            Cycle::V => 1.0,
            Cycle::W => 2.0,
            Cycle::K => ITERATIONS.min(params.iterations as f64),
        };
        let smoothing = step.pre + step.post;
        let sums = 2 + smoothing.div_ceil(STEPS);
        let applications = iterations * (smoothing + 2) as f64;
        Work { iterations, applications, sums: iterations * sums as f64 }
    }
}

/// A level on its ranks.
struct Level<'a> {
    grid: &'a LevelGrid,
    /// Complex numbers of a site.
    components: f64,
    ranks: &'a Ranks<'a>,
    costs: &'a Costs,
}

impl Level<'_> {
    /// Seconds of an application of the level's operator.
    fn application(&self, params: &MultigridParams) -> f64 {
        let (costs, n) = (self.costs, self.components);
        // Each site has eight matrices, and a complex product with its addition takes eight operations.
        let sites = self.sites(self.grid.grid);
        let flops = 8.0 * 8.0 * n * n * COLUMNS * sites;
        let link = match params.coarse_precision {
            Precision::F64 => 16.0,
            _ if self.ranks.gpus => 2.0,
            _ => 4.0,
        };
        let bytes = 8.0 * link * n * n * sites;
        let own = costs.working(flops, bytes, self.grid.grid.iter().product());
        costs.launch * LAUNCHES + own + self.messages()
    }

    /// Seconds of the messages of an application: in each of its two hops half of the sites of a face are sent and
    /// received.
    fn messages(&self) -> f64 {
        let grid = self.grid.grid;
        let sites = self.sites(grid);
        let divided = (0..4).filter(|&mu| grid[mu] > 1);
        divided
            .map(|mu| {
                let connection = self.connection(mu);
                let face = sites / (self.grid.global[mu] / grid[mu]) as f64;
                // If there are two ranks in the direction, both faces lead to the same rank.
                let messages = if grid[mu] == 2 { 1.0 } else { 2.0 };
                2.0 * messages * connection.latency + 2.0 * self.bytes(face) / connection.bandwidth
            })
            .sum()
    }

    /// Seconds of a sum over the ranks of the level.
    fn sum(&self) -> f64 {
        let grid = self.grid.grid;
        let hosts = (0..4).any(|mu| grid[mu] > 1 && (self.ranks.crosses)(grid, mu));
        self.costs.sum_over(grid.iter().product(), hosts)
    }

    /// Seconds in which sources come from the ranks that the level above is on, and solutions go back.
    fn gathering(&self) -> f64 {
        let LevelGrid { outer, grid, .. } = *self.grid;
        let others = (0..4).map(|mu| outer[mu] / grid[mu]).product::<usize>() - 1;
        if others == 0 {
            return 0.0;
        }
        let hosts = (0..4).any(|mu| outer[mu] > grid[mu] && (self.ranks.crosses)(outer, mu));
        let connection = if hosts { self.costs.far } else { self.costs.near };
        let doublings = f64::from((others + 1).next_power_of_two().ilog2());
        let bytes = others as f64 * self.bytes(self.sites(outer) / 2.0);
        2.0 * (2.0 * self.costs.copy
            + doublings * connection.latency
            + bytes / connection.bandwidth)
    }

    /// The slowest connection between neighbours in direction mu.
    fn connection(&self, mu: usize) -> Connection {
        match (self.ranks.crosses)(self.grid.grid, mu) {
            true => self.costs.far,
            false => self.costs.near,
        }
    }

    /// Number of sites of a rank where the level is on this process grid.
    fn sites(&self, grid: [usize; 4]) -> f64 {
        (0..4).map(|mu| self.grid.global[mu] as f64 / grid[mu] as f64).product()
    }

    /// Bytes of `COLUMNS` right-hand sides on this number of sites, in single precision.
    fn bytes(&self, sites: f64) -> f64 {
        8.0 * self.components * COLUMNS * sites
    }
}
