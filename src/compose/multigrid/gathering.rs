//! The ranks on which each level of multigrid is stored: coarse levels may be gathered on fewer
//! ranks.

use super::level_costs::{seconds, LevelGrid, Ranks};
use super::MultigridParams;
use crate::backend::Device;
use crate::bail;
use crate::comm::{coordinates, Comm};
use crate::error::{Error, Result, Status};
use crate::fields::{Costs, Geometry};

/// The ranks on which a level is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelRanks {
    /// Extents of the whole level.
    pub global: [usize; 4],
    /// Number of ranks in each direction, before and after the level is gathered.
    pub outer: [usize; 4],
    pub grid: [usize; 4],
    /// Whether this rank has a part of the level before it is gathered.
    pub outer_part: bool,
    /// Whether this rank has a part of the level after it is gathered.
    pub part: bool,
}

impl LevelRanks {
    pub fn ranks(&self) -> usize {
        self.grid.iter().product()
    }
    pub fn gathered(&self) -> bool {
        self.outer != self.grid
    }
}

/// The process grids of all levels of a lattice with these extents on a grid of ranks, from the finest on. A coarse
/// level is gathered on fewer ranks, by the smallest divisor of its process grid in each direction for which a rank's
/// part of it is divisible by the aggregates of the step to the next level and has at least as many sites as
/// [`MultigridParams`]`::gather` asks for; where there is none, on one rank in this direction.
///
/// # Errors
/// `BadExtents`: aggregates that do not divide the finest level's part of a rank, or a whole coarse level.
fn grids(
    params: &MultigridParams,
    mut global: [usize; 4],
    mut grid: [usize; 4],
) -> Result<Vec<LevelGrid>> {
    let mut all = vec![LevelGrid { global, outer: grid, grid }];
    for (l, level) in params.steps().iter().enumerate() {
        let part: [usize; 4] = std::array::from_fn(|mu| global[mu] / grid[mu]);
        let divides = |mu: usize| level.block[mu] > 0 && part[mu].is_multiple_of(level.block[mu]);
        if !(0..4).all(divides) {
            bail!(
                BadExtents,
                "level {l}: aggregates of {:?} sites do not divide the {part:?} sites of a rank",
                level.block
            );
        }
        (0..4).for_each(|mu| global[mu] /= level.block[mu]);
        let outer = grid;
        if params.gathers() {
            let least = params.gather.unwrap_or(1);
            let next = params.steps().get(l + 1).map_or([1; 4], |next| next.block);
            for mu in 0..4 {
                let fits = |ranks: &usize| {
                    let part = global[mu] / ranks;
                    outer[mu].is_multiple_of(*ranks)
                        && (*ranks == 1 || part >= least)
                        && next[mu] > 0
                        && part.is_multiple_of(next[mu])
                };
                let Some(ranks) = (1..=outer[mu]).rev().find(fits) else {
                    bail!(
                        BadExtents,
                        "level {}: aggregates of {next:?} sites do not divide {global:?}, gathered or not",
                        l + 1
                    );
                };
                grid[mu] = ranks;
            }
        }
        all.push(LevelGrid { global, outer, grid });
    }
    Ok(all)
}

/// The ranks of all levels, from the finest on.
///
/// # Errors
/// `BadExtents`: aggregates that do not divide the finest level's part of a rank, or a whole coarse level.
pub(super) fn places(params: &MultigridParams, geometry: &Geometry) -> Result<Vec<LevelRanks>> {
    let comm = geometry.comm();
    let (all, coords) = (comm.grid(), comm.coords());
    let has_part =
        |grid: [usize; 4]| (0..4).all(|mu| coords[mu].is_multiple_of(all[mu] / grid[mu]));
    let place = |LevelGrid { global, outer, grid }| LevelRanks {
        global,
        outer,
        grid,
        outer_part: has_part(outer),
        part: has_part(grid),
    };
    Ok(grids(params, geometry.global_extents(), all)?.into_iter().map(place).collect())
}

/// The value of [`MultigridParams`]`::gather` that is asked for, or with which a cycle is expected to be fastest. It
/// depends only on numbers that are equal on all ranks, and so is equal on all ranks.
pub(super) fn chosen(params: &MultigridParams, geometry: &Geometry, device: &Device) -> usize {
    let comm = geometry.comm();
    let costs = Costs::new(device, comm);
    let crosses = |grid, mu| costs.hosts && crosses_hosts(comm, grid, mu);
    let ranks = Ranks { grid: comm.grid(), crosses: &crosses, gpus: !device.is_cpu() };
    params.gather.unwrap_or_else(|| fastest(params, geometry.global_extents(), &ranks, &costs))
}

/// The value of [`MultigridParams`]`::gather` with which a cycle is expected to be fastest, the smallest of several.
fn fastest(params: &MultigridParams, global: [usize; 4], ranks: &Ranks, costs: &Costs) -> usize {
    let with = |gather| {
        let params = MultigridParams { gather: Some(gather), ..params.clone() };
        grids(&params, global, ranks.grid).map(|grids| seconds(&params, &grids, ranks, costs))
    };
    // A level's grid changes with `gather` only at numbers of sites that a part of the level can have: no others are
    // tried.
    let Ok(levels) = grids(params, global, ranks.grid) else { return 1 };
    let parts = |extent: usize, ranks: usize| {
        (1..=ranks).filter(move |n| ranks.is_multiple_of(*n)).map(move |n| extent / n)
    };
    let coarse = levels.iter().skip(1);
    let mut all: Vec<usize> =
        coarse.flat_map(|l| (0..4).flat_map(|mu| parts(l.global[mu], ranks.grid[mu]))).collect();
    all.push(1);
    all.retain(|n| *n > 0);
    all.sort_unstable();
    all.dedup();
    let timed = all.into_iter().filter_map(|n| Some((n, with(n).ok()?)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(1, |(n, _)| n)
}

/// Whether neighbours in direction mu of the coarser process grid `grid`, which consists of the first rank of each
/// block of ranks, are on different hosts anywhere.
fn crosses_hosts(comm: &Comm, grid: [usize; 4], mu: usize) -> bool {
    let all = comm.grid();
    let rank = |at: [usize; 4]| {
        comm.rank_at(std::array::from_fn(|nu| at[nu] % grid[nu] * (all[nu] / grid[nu])))
    };
    (0..grid.iter().product()).any(|place| {
        let at = coordinates(grid, place);
        let mut next = at;
        next[mu] += 1;
        !comm.same_host(rank(at), rank(next))
    })
}

/// Whether every rank that works on the level meets this error itself: errors found by sums over these ranks, in
/// vectors and matrices. Errors of memory and messages happen on single ranks, which have to be communicated to the
/// others.
pub(super) fn found_together(error: &Error) -> bool {
    use Status::{BadExtents, BadParameter, NotFinite, Unsupported};
    matches!(error.status, BadExtents | BadParameter | NotFinite | Unsupported)
}

/// Makes the process grids of all levels. All ranks call this.
pub(super) fn divide(geometry: &Geometry, places: &[LevelRanks]) -> Result<()> {
    let mut comm = geometry.comm().clone();
    for place in places.iter().filter(|place| place.gathered()) {
        match comm.coarser(place.grid)? {
            Some(part) => comm = part,
            None => break,
        }
    }
    Ok(())
}

/// Number of unknowns of the coarsest level's system on all ranks, for one flavour.
pub(super) fn coarsest_unknowns(geometry: &Geometry, params: &MultigridParams) -> u64 {
    let places = places(params, geometry).unwrap_or_default();
    let (Some(place), Some(level)) = (places.last(), params.steps().last()) else { return 0 };
    let sites: usize = place.global.iter().product();
    let parity = place.global.iter().all(|l| *l == 1 || l.is_multiple_of(2));
    let solved = if parity { sites.div_ceil(2) } else { sites };
    (solved * 2 * level.vectors) as u64
}

#[cfg(test)]
mod tests {
    use super::super::LevelParams;
    use super::*;
    use crate::fields::Connection;

    /// Number of ranks that hold a level if it is gathered for the fastest cycle at these costs.
    fn ranks_of(level: usize, global: [usize; 4], grid: [usize; 4], costs: Costs) -> usize {
        let step = |block| LevelParams { block, ..Default::default() };
        let levels = vec![step([4; 4]), step([2; 4])];
        let params = MultigridParams { gather: None, ..MultigridParams::with_levels(levels) };
        // Ranks on different hosts are neighbours in t only.
        let crosses = |_, mu| mu == 3 && costs.hosts;
        let ranks = Ranks { grid, crosses: &crosses, gpus: false };
        let gather = Some(fastest(&params, global, &ranks, &costs));
        let grids = grids(&MultigridParams { gather, ..params }, global, grid).unwrap();
        grids[level].grid.iter().product()
    }

    fn costs(latency: f64) -> Costs {
        let way = |factor: f64| Connection { latency: factor * latency, bandwidth: 10e9 };
        Costs {
            ranks: 16,
            near: way(1.0),
            far: way(10.0),
            hosts: true,
            launch: 3e-6,
            memory: 100e9,
            flops: 300e9,
            alone: 1.0,
            copy: 0.0,
        }
    }

    /// Greater latencies, slower messages and smaller lattices need fewer ranks, faster devices likewise; without
    /// latencies and launches all ranks work.
    #[test]
    fn the_model_weighs_work_and_messages() {
        let (global, grid) = ([32, 32, 32, 64], [1, 1, 2, 8]);
        for level in [1, 2] {
            let latencies = [0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2];
            let on = latencies.map(|latency| ranks_of(level, global, grid, costs(latency)));
            assert!(on.is_sorted_by(|a, b| a >= b), "level {level}: {on:?}");
            let free = Connection { latency: 0.0, bandwidth: f64::INFINITY };
            let free = Costs { near: free, far: free, launch: 0.0, ..costs(0.0) };
            assert_eq!(ranks_of(level, global, grid, free), 16);
            assert_eq!(on[6], 1, "level {level}: {on:?}");
            let on = [16, 32, 64].map(|l| ranks_of(level, [l, l, l, 2 * l], grid, costs(1e-5)));
            assert!(on.is_sorted(), "level {level}: {on:?}");
            let on = [1e11, 1e12, 1e13, 1e14]
                .map(|flops| Costs { flops, memory: flops, ..costs(1e-5) })
                .map(|costs| ranks_of(level, global, grid, costs));
            assert!(on.is_sorted_by(|a, b| a >= b), "level {level}: {on:?}");
            // Ranks that share their cores are not missed where they wait.
            let alone = [1.0, 2.0, 4.0, 16.0].map(|alone| Costs { alone, ..costs(1e-5) });
            let on = alone.map(|costs| ranks_of(level, global, grid, costs));
            assert!(on.is_sorted_by(|a, b| a >= b), "level {level}: {on:?}");
            // On one host at least as many ranks work as on several hosts.
            let near = Costs { hosts: false, ..costs(1e-5) };
            assert!(
                ranks_of(level, global, grid, near) >= ranks_of(level, global, grid, costs(1e-5))
            );
        }
        assert!(ranks_of(2, global, grid, costs(1e-5)) <= ranks_of(1, global, grid, costs(1e-5)));
    }
}
