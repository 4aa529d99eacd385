//! Device memory of set-ups and cycles, before anything is allocated.

use super::galerkin::COLUMNS;
use super::params::{SetupSolver, COLUMNS_FROM, KRYLOV, SETUP_KRYLOV, SMOOTHED, STEPS, UNITS};
use super::schwarz::Schwarz;
use super::transfer::{indexable, short_vectors};
use super::{gathering, smoother_links, Coarsest, Cycle, MultigridParams, Smoother};
use crate::error::Result;
use crate::fields::domains::Domains;
use crate::fields::halo::Faces;
use crate::fields::krylov::LeastSquares;
use crate::fields::{Geometry, HalfColumns, Precision, SpinorField, Subset};
use crate::operators::{SiteTerm, TensorHop, Wilson};

/// A level: sites of this rank, those of solves, components, and where the level is gathered this rank's
/// sites of it before.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub sites: u64,
    pub solved: u64,
    pub components: u64,
    pub entry: u64,
}

/// Right-hand sides of `n` that the finest level smooths at a time, in columns for tensor cores or without them.
pub(super) fn together(n: usize, columns: bool) -> usize {
    n.div_ceil(n.div_ceil(if columns { TensorHop::MOST } else { SMOOTHED }))
}

/// Are so many smoothed in columns where there are tensor cores: of fewer links would be read for too few.
pub(super) fn in_columns(n: usize) -> bool {
    n >= COLUMNS_FROM
}

/// How the finest level is smoothed.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// The solution where it belongs, in single precision.
    pub direct: bool,
    /// Many right-hand sides in columns.
    pub columns: bool,
}

/// Has an operator's smoother tensor cores to work with?
fn has_columns(op: &Wilson, params: &MultigridParams) -> bool {
    let gauge = op.gauge();
    params.short_powers() && !gauge.device().is_cpu() && gauge.geometry().halo_mask() == 0
}

/// Vectors that so many steps of the finest level's smoother keep.
pub(super) fn directions(params: &MultigridParams, steps: usize) -> usize {
    match params.smoother {
        Smoother::CaGcr => steps.clamp(1, STEPS) + params.short_powers() as usize,
        Smoother::Gcr if steps > 1 => 2 * steps.min(STEPS),
        Smoother::SchwarzAdditive | Smoother::SchwarzMultiplicative => 3,
        _ => 1,
    }
}

/// The same of a coarse level.
fn coarse_directions(params: &MultigridParams, steps: usize) -> usize {
    match params.coarse_smoother {
        Smoother::CaGcr => steps.min(STEPS),
        Smoother::Gcr => 1 + 2 * steps.min(KRYLOV),
        Smoother::SchwarzAdditive | Smoother::SchwarzMultiplicative => 3,
        Smoother::Mr | Smoother::Richardson => 1,
    }
}

/// The same of the coarsest level's solver.
fn coarsest_directions(params: &MultigridParams, steps: usize) -> usize {
    match params.coarsest {
        Coarsest::CaGcr => steps.min(STEPS) + if params.coarsest_modes > 0 { 2 } else { 0 },
        Coarsest::Gcr => 1 + 2 * steps.min(KRYLOV),
        Coarsest::BiCgStab => 5 + (params.coarsest_modes > 0) as usize,
        Coarsest::Direct => 0,
    }
}

/// Unknowns of the coarsest level's system on all ranks.
pub(super) fn coarsest_unknowns(geometry: &Geometry, params: &MultigridParams) -> u64 {
    let places = gathering::places(params, geometry).unwrap_or_default();
    let (Some(place), Some(level)) = (places.last(), params.levels.last()) else { return 0 };
    let sites: usize = place.global.iter().product();
    let parity = place.global.iter().all(|l| *l == 1 || l.is_multiple_of(2));
    let solved = if parity { sites.div_ceil(2) } else { sites };
    (solved * 2 * level.vectors) as u64
}

/// Vectors of a cycle on `nrhs` right-hand sides; `part` bytes for spinors on even sites of those that are
/// smoothed at a time.
pub(super) fn cycle(
    params: &MultigridParams,
    sizes: &[Size],
    part: u64,
    nrhs: usize,
    Form { direct, columns }: Form,
) -> u64 {
    let most = params.levels[0].pre.max(params.levels[0].post);
    let steps = directions(params, most) as u64;
    let real = params.precision.bytes() as u64;
    let bytes = |sites: u64, size: &Size| sites * size.components * 2 * real * nrhs as u64;
    // Beside powers in 16 bits x and r are in single precision, and take turns with two vectors of the
    // operator's; where r does not change it is one of these.
    let (x, r) = (if direct && params.levels[0].pre == 0 { 0 } else { 2 }, 2);
    let around = match params.short_powers() {
        true if params.levels[0].pre == 0 && most <= STEPS => x + 2,
        true => x + r + 2,
        false => 2,
    };
    // The last: the even-odd operator's.
    let mut sum = (around + steps + 1) * part + bytes(sizes[0].solved, &sizes[0]);
    let together = together(nrhs, columns);
    if columns && in_columns(together) {
        // Powers have no units, and an odd vector of their own.
        let power = HalfColumns::bytes_of(sizes[0].solved as usize, together) as u64;
        sum = sum + (steps + 1) * power - steps * part;
    }
    if params.smoother.has_domains() {
        // The operator inside of domains has a temporary of its own.
        sum += part + Domains::sums_bytes(sizes[0].solved, params.smoother_precision(), together);
    }
    for (l, size) in sizes.iter().enumerate().skip(1) {
        sum += 2 * bytes(size.entry, size);
        if size.sites == 0 {
            continue;
        }
        // Those of a solve, then of its cycles.
        let mut solved = 2;
        if l + 1 == sizes.len() {
            solved += coarsest_directions(params, params.coarsest_iterations);
        } else {
            solved += match params.cycle_of(l) {
                Cycle::V => 1,
                Cycle::W => 1 + 2 * 2,
                Cycle::K => 1 + 2 * params.iterations.min(KRYLOV),
            };
            let step = &params.levels[l];
            solved += 1 + coarse_directions(params, step.pre.max(step.post));
            if params.coarse_smoother.has_domains() {
                sum += Domains::sums_bytes(size.solved, params.precision, nrhs);
            }
        }
        sum += 3 * bytes(size.sites, size)
            + solved as u64 * bytes(size.solved, size)
            + bytes(size.sites - size.solved, size)
            + 3 * LeastSquares::bytes(nrhs) as u64;
    }
    sum
}

/// The levels that parameters make of an operator's lattice.
fn sizes(op: &Wilson, params: &MultigridParams) -> Vec<Size> {
    let geometry = op.gauge().geometry();
    let sites = geometry.volume() as u64;
    let mut all = vec![Size { sites, solved: sites / 2, components: 12, entry: 0 }];
    // What cannot be divided is refused in a moment.
    let places = gathering::places(params, geometry).unwrap_or_default();
    for (level, place) in params.levels.iter().zip(places.iter().skip(1)) {
        let on = |grid, part| if part { place.sites(grid) as u64 } else { 0 };
        let sites = on(place.grid, place.part);
        let entry = if place.gathered() { on(place.outer, place.outer_part) } else { 0 };
        let parity = place.global.iter().all(|l| *l == 1 || l.is_multiple_of(2));
        let solved = if parity { sites.div_ceil(2) } else { sites };
        all.push(Size { sites, solved, components: 2 * level.vectors as u64, entry });
    }
    let none = Size { sites: 0, solved: 0, components: 0, entry: 0 };
    all.resize(params.levels.len() + 1, none);
    all
}

/// Refuses null vectors of more numbers than a kernel of a GPU counts.
pub(super) fn check_indices(op: &Wilson, params: &MultigridParams) -> Result<()> {
    if op.gauge().device().is_cpu() {
        return Ok(());
    }
    let sizes = sizes(op, params);
    let mut levels = params.levels.iter().zip(&sizes);
    levels.try_for_each(|(level, size)| indexable(level.vectors, size.components, size.sites))
}

/// What messages between ranks add during set-up.
fn halos(op: &Wilson, params: &MultigridParams) -> u64 {
    let geometry = op.gauge().geometry();
    let own = params.smoother_precision();
    let wide = if params.short_powers() { Precision::F32 } else { own };
    let n = params.levels[0].vectors;
    let (count, hops) = (params.setup_columns.min(n), COLUMNS.min(n));
    let smoothed = |n: usize| {
        let together = together(n, has_columns(op, params));
        [together, n - (n - 1) / together * together]
    };
    let links = geometry.spinor_faces(op.gauge().precision(), 1);
    let mut faces: Vec<Faces> =
        vec![geometry.spinor_faces(wide, count), geometry.spinor_faces(wide, hops), links];
    let at_once = if params.refinements > 0 { vec![count, 1] } else { vec![1] };
    let smoothed = at_once.iter().flat_map(|n| smoothed(*n));
    faces.extend(smoothed.map(|n| geometry.spinor_faces(own, n)));
    if params.smoother.has_domains() {
        // Of the links without those between domains.
        let site = 4 * smoother_links(op).reals() * own.bytes();
        faces.extend((0..4).map(|mu| geometry.border_faces(mu, site)));
    }
    let places = gathering::places(params, geometry).unwrap_or_default();
    for (l, place) in places.iter().enumerate().skip(1).filter(|(_, place)| place.part) {
        let part: [usize; 4] = std::array::from_fn(|mu| place.global[mu] / place.grid[mu]);
        let mask = (0..4).filter(|&mu| place.grid[mu] > 1).map(|mu| 1 << mu).sum();
        let per_site = 2 * params.levels[l - 1].vectors * 2 * params.precision.bytes();
        let sites = |mu: usize| part.iter().product::<usize>() / part[mu];
        // The next level's operator from this one's, or what the coarsest level's solver finds out; then as the
        // cycle does.
        let columns = match params.levels.get(l) {
            Some(next) => COLUMNS.min(next.vectors),
            None if params.coarsest == Coarsest::Direct => UNITS,
            None => params.coarsest_modes,
        };
        for n in at_once.iter().chain(&[columns]) {
            faces.push(Faces::new(mask, |mu| sites(mu) * per_site * n));
        }
    }
    geometry.new_halo_bytes(op.gauge().device(), &faces)
}

/// What a set-up takes at most, the smoother's operator included.
pub(super) fn setup(op: &Wilson, params: &MultigridParams) -> u64 {
    let geometry = op.gauge().geometry();
    let (real, some) = (params.precision.bytes() as u64, COLUMNS as u64);
    let own = params.smoother_precision();
    let wide = if params.short_powers() { Precision::F32 } else { own };
    let spinors = |subset, n: usize| SpinorField::bytes(geometry, wide, subset, n) as u64;
    let smoothed = |n: usize| SpinorField::bytes(geometry, own, Subset::Even, n) as u64;
    let n = params.levels[0].vectors;
    let count = params.setup_columns.min(n);
    let (half, full) = (spinors(Subset::Even, count), spinors(Subset::Full, count));
    let hops = spinors(Subset::Full, COLUMNS.min(n));
    let sizes = sizes(op, params);
    let mut low = op.bytes_as(own, smoother_links(op)) + Schwarz::held(params, op);
    if params.short_powers() {
        low += op.bytes_as(wide, smoother_links(op));
    }
    let columns = has_columns(op, params);
    if columns {
        low += TensorHop::bytes(geometry, !op.is_one(SiteTerm::Inverse));
    }
    // Null vectors of the finest level from random ones: x, b, what the solver keeps and the even-odd operator's.
    let solver = match params.setup_solver {
        SetupSolver::Gcr => 1 + 2 * SETUP_KRYLOV.min(params.setup_iterations) as u64,
        _ => 5,
    };
    let vector = |size: &Size| size.sites * size.components * 2 * real;
    let first = n as u64 * vector(&sizes[0]);
    let tables = |size: &Size| size.sites * 44;
    let mut most = tables(&sizes[0]) + first + (3 + solver) * half;
    // Then level by level.
    let (mut held, mut saved, mut largest, mut shortened) = (0, 0, 0, 0);
    for (l, level) in params.levels.iter().enumerate() {
        let (fine, coarse, n) = (&sizes[l], &sizes[l + 1], level.vectors as u64);
        if fine.sites == 0 {
            break;
        }
        // Of the transfer's coarse side, then of the level where it lives.
        let entry =
            Size { sites: if coarse.entry > 0 { coarse.entry } else { coarse.sites }, ..*coarse };
        let (vectors, tests) = (n * vector(fine), n * vector(&entry));
        let gram = n * entry.sites * coarse.components * 16;
        held += tables(fine) + if coarse.entry > 0 { tables(&entry) } else { 0 };
        // The coarse level's are there, too.
        let coarse_tables = tables(coarse);
        most = most.max(held + coarse_tables + 2 * vectors + tests + gram.max(tests));
        held += vectors + tests;
        if params.links().scaled() {
            shortened += short_vectors(params.links(), fine.solved, fine.components, n);
        }
        let of = |sites: u64| sites * coarse.components * coarse.components * 2 * real;
        let (matrix, outer) = (of(coarse.sites), of(entry.sites));
        let columns = some.min(n) * vector(fine);
        let hops = if l == 0 { 2 * columns + 2 * hops } else { 5 * columns };
        let scratch = (coarse.sites.div_ceil(4) * coarse.components * (coarse.components * 16 + 4))
            .max(matrix);
        most = most.max(
            held + coarse_tables
                + (9 * outer + hops).max(9 * outer + matrix).max(10 * matrix + scratch),
        );
        held += 10 * matrix;
        if params.links().scaled() {
            // Made one level after the other.
            let short = 8 * matrix / real * params.links().bytes() as u64 + 32 * coarse.sites;
            (saved, largest) = (saved + 8 * matrix - short, short.max(largest));
        }
        if coarse.entry > 0 {
            // The restricted vectors on their way.
            most = most.max(held + 2 * n * vector(coarse));
        }
    }
    most = most.max(held + largest);
    held -= saved;
    held += tables(&sizes[sizes.len() - 1]);
    if params.coarse_smoother.has_domains() {
        let inner = &sizes[1..sizes.len() - 1];
        held += inner.iter().map(|s| Domains::tables(s.sites, s.solved, true)).sum::<u64>();
    }
    // What the coarsest level's solver finds out, while it does so and then.
    let last = &sizes[sizes.len() - 1];
    let unknowns = last.solved * last.components;
    let mode = params.coarsest_modes as u64 * unknowns * 2 * real;
    let odd =
        params.coarsest_modes as u64 * (last.sites - last.solved) * last.components * 2 * real;
    let searching = match params.coarsest_modes {
        0 => 0,
        k => {
            let sums = 16 * (k * k) as u64 + LeastSquares::bytes(k) as u64;
            (2 + STEPS as u64) * mode + odd + sums
        }
    };
    // The last hierarchy has null vectors in few bits, too.
    most = most.max(held + shortened + searching);
    held += 2 * mode;
    if params.coarsest_modes > 0 {
        held += LeastSquares::bytes(params.coarsest_modes) as u64;
    }
    if params.coarsest == Coarsest::Direct {
        held += unknowns * coarsest_unknowns(geometry, params) * 2 * real;
    }
    // The cycle improves the vectors.
    if params.refinements > 0 {
        let taken = count as u64 * vector(&sizes[0]);
        let together = together(count, columns);
        let form = Form { direct: true, columns };
        let during = |some: usize| cycle(params, &sizes, smoothed(some), count, form);
        // After the cycle there is one field more, but of its own those for the last right-hand sides.
        let last = count - (count - 1) / together * together;
        let around = taken + 2 * full + 4 * half;
        most = most.max(held + first + around + during(together).max(full + during(last)));
    }
    // It is tried on a random vector.
    let one = smoothed(1);
    let form = Form { direct: false, columns };
    let tried = held + shortened + 12 * one + cycle(params, &sizes, one, 1, form);
    low + halos(op, params) + most.max(tried)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    /// 48^3 x 96 sites hold 16 vectors of spinors in 31 bits, not 17.
    #[test]
    fn null_vectors_that_indices_do_not_reach() {
        let sites = 48 * 48 * 48 * 96;
        indexable(16, 12, sites).unwrap();
        let e = indexable(17, 12, sites).unwrap_err();
        assert_eq!(e.status, Status::Unsupported, "{e}");
        assert!(e.message.contains("17 null vectors") && e.message.contains("16 vectors"), "{e}");
    }
}
