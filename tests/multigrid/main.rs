//! Tests of multigrid: transfer and coarse operators against the operator of the reference, and hierarchies by their
//! solves.

mod automatic;
mod doublet;
mod gathered;
mod short;
mod solvers;
mod twist;
mod updates;

use crate::setup::{reference_params, Setup};
use crate::{common, reference};
use std::sync::Arc;

use common::{devices, distance, largest, over_ranks, ranks, Lex};
use plaq::backend::Device;
use plaq::comm::Comm;
use plaq::compose::multigrid::{
    shortened, Cycle, FineOperator, LevelParams, Multigrid, MultigridParams, Smoother, Transfer,
    Update,
};
use plaq::compose::{DiracSolver, Solution, SolveParams, SolveReport};
use plaq::error::Status;
use plaq::fields::{
    CoarseField, CoarseGrid, Gather, GaugeField, Geometry, Noise, Precision, Recon, SpinorField,
    Subset,
};
use plaq::linop::{Schur, Shape};
use plaq::operators::{CoarseOperator, DiracParams, LinkPrecision, Wilson};
use plaq::ops::config::{load_gauge, LoadOptions};
use plaq::ops::eigenvectors::save_vectors;
use plaq::ops::null_space::{load_multigrid, save_multigrid};
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop, VectorMemory};
use reference::dirac::{Dirac, Params};
use reference::numbers::{field_from, gauge_numbers};
use reference::{su3, Lattice, C};

fn twisted_clover() -> DiracParams {
    DiracParams {
        mass: 0.1,
        csw: 1.1,
        csw_t: 0.9,
        cf: 1.0,
        cf_prime: 1.0,
        mu: 0.17,
        rho: 0.0,
        hop: [0.8, 0.8, 0.8, 1.0],
        boundary: [C::ONE, C::from_polar(1.0, 0.4), C::ONE, -C::ONE],
        ..Default::default()
    }
}

/// Null vectors on the host, of all ranks together: [site][component][vector] in lexicographic order.
struct Host {
    lat: Lattice,
    block: [usize; 4],
    components: usize,
    n: usize,
    v: Vec<C>,
}

/// The numbers of a field on all ranks by lexicographic index, [site][component * nrhs + rhs].
fn whole(f: &CoarseField) -> Vec<C> {
    let (grid, per_site) = (f.grid(), f.components() * f.nrhs());
    let mine = f.save().unwrap();
    let (local, global) = (Lattice::new(grid.extents()), Lattice::new(grid.global_extents()));
    let mut all = vec![C::ZERO; global.volume() * per_site];
    let mut sums = vec![0.0; 2 * all.len()];
    let origin: [usize; 4] = std::array::from_fn(|mu| ranks().coords()[mu] * local.extents[mu]);
    for lex in 0..local.volume() {
        let x = local.coords(lex);
        let to = global.lex(std::array::from_fn(|mu| x[mu] + origin[mu]));
        for i in 0..2 * per_site {
            sums[to * 2 * per_site + i] = mine[grid.site(lex) * 2 * per_site + i];
        }
    }
    ranks().sum(&mut sums).unwrap();
    for (z, v) in all.iter_mut().zip(sums.chunks(2)) {
        *z = C::new(v[0], v[1]);
    }
    all
}

/// Copies this rank's part of numbers on the whole lattice into a field.
fn scatter(f: &mut CoarseField, all: &[C]) {
    let (grid, per_site) = (f.grid().clone(), f.components() * f.nrhs());
    let (local, global) = (Lattice::new(grid.extents()), Lattice::new(grid.global_extents()));
    let mut mine = vec![0.0; local.volume() * per_site * 2];
    for lex in 0..local.volume() {
        let x = local.coords(lex);
        let from: [usize; 4] =
            std::array::from_fn(|mu| x[mu] + ranks().coords()[mu] * local.extents[mu]);
        for i in 0..per_site {
            let z = all[global.lex(from) * per_site + i];
            mine[(grid.site(lex) * per_site + i) * 2] = z.re;
            mine[(grid.site(lex) * per_site + i) * 2 + 1] = z.im;
        }
    }
    f.load(&mine).unwrap();
}

impl Host {
    fn new(transfer: &Transfer) -> Self {
        let v = transfer.vectors().unwrap();
        let lat = Lattice::new(v.grid().global_extents());
        let coarse = transfer.coarse().global_extents();
        let block = std::array::from_fn(|mu| lat.extents[mu] / coarse[mu]);
        Host { lat, block, components: v.components(), n: v.nrhs(), v: whole(v) }
    }
    fn coarse(&self) -> Lattice {
        Lattice::new(std::array::from_fn(|mu| self.lat.extents[mu] / self.block[mu]))
    }
    fn parent(&self, lex: usize) -> usize {
        let x = self.lat.coords(lex);
        self.coarse().lex(std::array::from_fn(|mu| x[mu] / self.block[mu]))
    }
    fn each(&self, mut f: impl FnMut(usize, usize, C)) {
        for lex in 0..self.lat.volume() {
            for c in 0..self.components {
                let chirality = c / (self.components / 2);
                for i in 0..self.n {
                    let row = (self.parent(lex) * 2 + chirality) * self.n + i;
                    let at = lex * self.components + c;
                    f(at, row, self.v[at * self.n + i]);
                }
            }
        }
    }
    fn prolong(&self, coarse: &[C]) -> Vec<C> {
        let mut fine = vec![C::ZERO; self.lat.volume() * self.components];
        self.each(|at, row, v| fine[at] += v * coarse[row]);
        fine
    }
    /// Checks P^dagger P = 1.
    fn is_orthonormal(&self, tolerance: f64, what: &str) {
        for i in 0..self.n {
            for j in 0..=i {
                let mut sums = vec![C::ZERO; 2 * self.coarse().volume()];
                for lex in 0..self.lat.volume() {
                    for c in 0..self.components {
                        let at = (lex * self.components + c) * self.n;
                        sums[2 * self.parent(lex) + 2 * c / self.components] +=
                            self.v[at + i].conj() * self.v[at + j];
                    }
                }
                let one = if i == j { C::ONE } else { C::ZERO };
                let worst = largest(sums.iter().map(|z| (z - one).norm()));
                assert!(worst < tolerance, "{what}: <{i}, {j}> off by {worst:e}");
            }
        }
    }
    fn restrict(&self, fine: &[C]) -> Vec<C> {
        let mut coarse = vec![C::ZERO; self.coarse().volume() * 2 * self.n];
        self.each(|at, row, v| coarse[row] += v.conj() * fine[at]);
        coarse
    }
}

fn numbers(z: &[C]) -> Vec<f64> {
    z.iter().flat_map(|z| [z.re, z.im]).collect()
}

fn random_numbers(n: usize, seed: u64) -> Vec<C> {
    let mut rng = reference::rng::Rng::new(seed);
    (0..n).map(|_| rng.gaussian()).collect()
}

fn null_vectors(s: &Setup, n: usize, precision: Precision) -> CoarseField {
    let grid = CoarseGrid::finest(&s.geometry, s.gauge.device()).unwrap();
    let mut v = CoarseField::new(&grid, precision, Subset::Full, 12, n).unwrap();
    let count = grid.global_volume() * 12 * n;
    scatter(&mut v, &random_numbers(count, 3));
    v
}

/// Checks P^dagger P = 1, that P and R agree with the host, and that the coarse operator equals R M P.
fn level(device: &Device, extents: [usize; 4], block: [usize; 4], n: usize, precision: Precision) {
    let s = Setup::new(device, over_ranks(extents), 0.35);
    let what = format!("{} {extents:?} {block:?} {n} {precision:?}", device.name());
    let p = twisted_clover();
    let op = s.wilson(p);
    let transfer = Transfer::new(null_vectors(&s, n, precision), block).unwrap();
    let host = Host::new(&transfer);
    let tolerance = if precision == Precision::F64 { 1e-12 } else { 2e-5 };
    host.is_orthonormal(tolerance, &what);
    let low = Arc::new(op.to(precision, Recon::R18).unwrap());
    let coarse = FineOperator::Dirac(low).coarsened(&transfer, precision).unwrap();
    let lat = s.lat;
    let dirac = Dirac::new(lat, &s.links, reference_params(&p));
    let image = |fine: &Vec<C>| -> Vec<C> {
        let field = dirac.apply(&field_from(&numbers(fine)));
        let scale = 2.0 * reference_params(&p).kappa();
        field.iter().flatten().flatten().map(|z| scale * z).collect()
    };
    for nrhs in [1, 3, 8] {
        let rows = host.coarse().volume() * 2 * n;
        let columns: Vec<Vec<C>> = (0..nrhs).map(|j| random_numbers(rows, 50 + j)).collect();
        let together = |columns: &[Vec<C>]| -> Vec<C> {
            (0..columns[0].len()).flat_map(|i| columns.iter().map(move |c| c[i])).collect()
        };
        let nrhs = nrhs as usize;
        let mut x = coarse.field(Subset::Full, nrhs).unwrap();
        scatter(&mut x, &together(&columns));
        // Prolongation P against the host.
        let mut fine = transfer.fine_field(Subset::Full, nrhs).unwrap();
        transfer.prolong(&mut fine, &x).unwrap();
        let prolonged: Vec<Vec<C>> = columns.iter().map(|c| host.prolong(c)).collect();
        let found = distance(&numbers(&whole(&fine)), &numbers(&together(&prolonged)));
        assert!(found < tolerance, "{what}, {nrhs}: prolongation off by {found:e}");
        // Restriction R: R P = 1.
        let mut back = x.like(nrhs).unwrap();
        transfer.restrict(&mut back, &fine).unwrap();
        let found = distance(&numbers(&whole(&back)), &numbers(&together(&columns)));
        assert!(found < tolerance, "{what}, {nrhs}: P^dagger P off by {found:e}");
        // The coarse operator against R M P on the host.
        let expected: Vec<Vec<C>> = prolonged.iter().map(|f| host.restrict(&image(f))).collect();
        coarse.apply(&mut back, &x).unwrap();
        let found = distance(&numbers(&whole(&back)), &numbers(&together(&expected)));
        assert!(found < 5.0 * tolerance, "{what}, {nrhs}: R M P off by {found:e}");
    }
    let second = |x: &Vec<C>| host.restrict(&image(&host.prolong(x)));
    coarser(&coarse, &second, &format!("{what}, coarser"), precision);
    schur(&coarse, &what, tolerance);
}

/// A transfer operator from a coarse operator to the next level, with aggregates and random null vectors.
fn next_transfer(op: &CoarseOperator) -> Transfer {
    let grid = op.grid();
    let block = grid.extents().map(|l| if l % 3 == 0 { 3 } else { l.min(2) });
    let mut v = op.field(Subset::Full, 3).unwrap();
    let count = grid.global_volume() * op.rows() * 3;
    scatter(&mut v, &random_numbers(count, 4));
    Transfer::new(v, block).unwrap()
}

/// Checks the third level as `level` checks the second; `image` is the second level's operator on the host.
fn coarser(
    op: &CoarseOperator,
    image: &dyn Fn(&Vec<C>) -> Vec<C>,
    what: &str,
    precision: Precision,
) {
    let tolerance = if precision == Precision::F64 { 1e-11 } else { 1e-4 };
    let transfer = next_transfer(op);
    let host = Host::new(&transfer);
    host.is_orthonormal(tolerance, what);
    let fine = Arc::new(copy_of(op));
    let coarse = FineOperator::Coarse(fine).coarsened(&transfer, precision).unwrap();
    let columns: Vec<Vec<C>> =
        (0..2).map(|j| random_numbers(host.coarse().volume() * 6, 9 + j)).collect();
    let together = |columns: &[Vec<C>]| -> Vec<C> {
        (0..columns[0].len()).flat_map(|i| columns.iter().map(move |c| c[i])).collect()
    };
    let mut x = coarse.field(Subset::Full, 2).unwrap();
    scatter(&mut x, &together(&columns));
    let mut out = x.like(2).unwrap();
    coarse.apply(&mut out, &x).unwrap();
    let expected: Vec<Vec<C>> =
        columns.iter().map(|c| host.restrict(&image(&host.prolong(c)))).collect();
    let found = distance(&numbers(&whole(&out)), &numbers(&together(&expected)));
    assert!(found < tolerance, "{what}: R M P off by {found:e}");
}

/// Coarse operators on the second and the third level are gamma5-hermitian: <y, gamma5 M x> = <gamma5 M y, x>, since
/// aggregates do not mix chiralities.
#[test]
fn coarse_operators_are_gamma5_hermitian() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([4, 4, 4, 8]), 0.35);
        let op = s.wilson(DiracParams { mu: 0.0, ..twisted_clover() });
        let transfer = Transfer::new(null_vectors(&s, 5, Precision::F64), [2, 2, 4, 2]).unwrap();
        let second = FineOperator::Dirac(op).coarsened(&transfer, Precision::F64).unwrap();
        let third = FineOperator::Coarse(Arc::new(copy_of(&second)))
            .coarsened(&next_transfer(&second), Precision::F64)
            .unwrap();
        for (level, op) in [(2, &second), (3, &third)] {
            let rows = op.rows();
            let product = |from: u64, with: u64| {
                let numbers = |seed| random_numbers(op.grid().global_volume() * rows, seed);
                let mut x = op.field(Subset::Full, 1).unwrap();
                scatter(&mut x, &numbers(from));
                let mut image = x.like(1).unwrap();
                op.apply(&mut image, &x).unwrap();
                let (image, y) = (whole(&image), numbers(with));
                let sign = |i: usize| if i % rows < rows / 2 { 1.0 } else { -1.0 };
                (0..y.len()).map(|i| sign(i) * y[i].conj() * image[i]).sum::<C>()
            };
            let (one, other) = (product(31, 32), product(32, 31).conj());
            let apart = (one - other).norm() / one.norm();
            println!("{} level {level}: {apart:.1e} apart", device.name());
            assert!(apart < 1e-11, "level {level}: {one} {other}");
        }
    }
}

fn copy_of(op: &CoarseOperator) -> CoarseOperator {
    op.duplicate().unwrap()
}

/// Checks that a solution of the Schur complement's system gives one on all sites: S x_e = source, then M x = b.
fn schur(op: &CoarseOperator, what: &str, tolerance: f64) {
    let n = 2;
    let mut x = op.field(Subset::Full, n).unwrap();
    let count = op.grid().global_volume() * op.rows() * n;
    scatter(&mut x, &random_numbers(count, 12));
    let mut b = x.like(n).unwrap();
    op.apply(&mut b, &x).unwrap();
    let mut part = op.field(op.subset(), n).unwrap();
    let numbers = x.save().unwrap();
    part.load(&numbers[..part.range().1 * op.rows() * n * 2]).unwrap();
    let mut image = part.like(n).unwrap();
    let mut odd = op.field(Subset::Odd, n).unwrap();
    op.schur(&mut image, &part, &mut odd).unwrap();
    let mut source = part.like(n).unwrap();
    let mut scaled = x.like(n).unwrap();
    op.prepare(&mut source, &mut scaled, &b).unwrap();
    let found = distance(&image.save().unwrap(), &source.save().unwrap());
    assert!(found < 100.0 * tolerance, "{what}: source of the Schur complement off by {found:e}");
    let mut back = x.like(n).unwrap();
    op.reconstruct(&mut back, &part, &scaled).unwrap();
    let found = distance(&back.save().unwrap(), &x.save().unwrap());
    assert!(found < 100.0 * tolerance, "{what}: reconstruction off by {found:e}");
}

#[test]
fn coarse_operators_are_those_of_the_reference() {
    for device in devices() {
        level(&device, [4, 4, 4, 12], [4, 4, 4, 4], 5, Precision::F64);
        level(&device, [4, 4, 4, 8], [2, 2, 4, 2], 7, Precision::F64);
        level(&device, [6, 2, 4, 4], [3, 1, 2, 2], 4, Precision::F64);
        level(&device, [4, 4, 4, 8], [2, 4, 2, 4], 12, Precision::F32);
        level(&device, [4, 4, 4, 8], [2, 2, 4, 4], 32, Precision::F32);
        level(&device, [4, 4, 4, 8], [4, 4, 4, 4], 40, Precision::F64);
    }
}

fn solve(
    op: &Arc<Wilson>,
    multigrid: Option<&Arc<Multigrid>>,
    nrhs: usize,
    solution: Solution,
) -> SolveReport {
    solve_on(Schur::EVEN_SYMMETRIC, op, multigrid, nrhs, solution)
}

fn solve_on(
    form: Schur,
    op: &Arc<Wilson>,
    multigrid: Option<&Arc<Multigrid>>,
    nrhs: usize,
    solution: Solution,
) -> SolveReport {
    let kind = if multigrid.is_some() { SolverKind::Gcr } else { SolverKind::BiCgStab };
    let solver = SolverParams { kind, nkrylov: 4, stop: Stop::at(1e-10), ..Default::default() };
    let params = SolveParams { solver, solution, even_odd: Some(form), ..Default::default() };
    let solver =
        DiracSolver::new(op.clone(), params).unwrap().with_multigrid(multigrid.cloned()).unwrap();
    let gauge = op.gauge();
    let field = |precision| {
        SpinorField::new(gauge.device(), gauge.geometry(), precision, solver.subset(), nrhs)
            .unwrap()
    };
    let (mut x, mut b) = (field(Precision::F64), field(Precision::F64));
    b.set_noise(Noise::Normal, 5, 0).unwrap();
    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
    assert!(report.solver.converged, "{:?}", report.solver.residual);
    report
}

/// Links of DDalphaAMG's sample of 8^4 sites are solved with its parameters.
#[test]
fn sample_of_ddalphaamg() {
    let Some(path) = common::configuration("ddalphaamg.8x8x8x8b6.0000id3n1") else { return };
    for device in devices() {
        let (f64, whole) = (Precision::F64, Recon::R18);
        let options = LoadOptions::default();
        let gauge = load_gauge(&device, &ranks(), &path, f64, whole, &options).unwrap().gauge;
        let geometry = gauge.geometry().clone();
        let params = DiracParams { mass: -0.5, csw: 1.0, csw_t: 1.0, ..Default::default() };
        let op = Arc::new(Wilson::new(Arc::new(gauge), params).unwrap());
        let plain = solve(&op, None, 1, Solution::Mat);
        println!("BiCGStab: {} iterations, {:.2} s", plain.solver.iterations, plain.solver.seconds);
        let params = MultigridParams::for_lattice(&geometry);
        let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
        let made = multigrid.report();
        let one = solve(&op, Some(&multigrid), 1, Solution::Mat);
        let report = multigrid.report();
        let many = solve(&op, Some(&multigrid), 3, Solution::Mat);
        println!(
            "{} levels: set-up {:.2} s, reduction {:.3}; {} iterations, {:.2} s, levels {:?}; 3 columns {} \
             iterations, {:.2} s",
            report.levels.len(),
            made.setup_seconds,
            made.reduction,
            one.solver.iterations,
            one.solver.seconds,
            report.levels.iter().map(|l| (l.iterations, l.seconds)).collect::<Vec<_>>(),
            many.solver.iterations,
            many.solver.seconds,
        );
        assert!(one.solver.iterations <= 11);
    }
}

/// Hierarchies of two and three levels with several aggregates and numbers of null vectors solve in few iterations
/// near the critical mass.
#[test]
fn hierarchies_solve_in_few_iterations() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([8, 4, 4, 8]), 0.5);
        let params = DiracParams { mass: -0.25, csw: 1.0, csw_t: 1.0, ..Default::default() };
        let op = s.wilson(params);
        let plain = solve(&op, None, 1, Solution::Mat);
        println!("BiCGStab: {} iterations", plain.solver.iterations);
        let level = |block, vectors| LevelParams { block, vectors, pre: 0, post: 4 };
        let (half, quarter) = (Some(LinkPrecision::Half), Some(LinkPrecision::Quarter));
        let cases = [
            (Cycle::K, half, vec![level([4, 4, 4, 4], 24)]),
            (Cycle::K, None, vec![level([4, 2, 2, 4], 7)]),
            (Cycle::K, quarter, vec![level([2, 2, 2, 2], 7), level([2, 2, 1, 2], 9)]),
            (Cycle::V, None, vec![level([2, 2, 2, 2], 8), level([2, 2, 2, 2], 8)]),
            (Cycle::W, quarter, vec![level([2, 2, 2, 2], 8), level([2, 2, 2, 2], 8)]),
        ];
        for (cycle, link_precision, levels) in cases {
            let what = format!("{} {cycle:?} {link_precision:?} {levels:?}", device.name());
            let base = MultigridParams::with_levels(levels);
            let params = MultigridParams { cycle, link_precision, ..base };
            let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
            for (solution, nrhs) in [(Solution::Mat, 1), (Solution::Mat, 3), (Solution::MatDag, 2)]
            {
                let found = solve(&op, Some(&multigrid), nrhs, solution);
                println!("{what}: {solution:?} {nrhs}: {} iterations", found.solver.iterations);
                assert!(found.solver.iterations <= 25, "{what}: {}", found.solver.iterations);
            }
        }
    }
}

/// Systems on the other parity and of the other form, and their adjoints, take about as many iterations.
#[test]
fn every_form_takes_few_iterations() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([8, 4, 4, 8]), 0.5);
        let op = s.wilson(DiracParams { mass: -0.25, csw: 1.0, csw_t: 1.0, ..Default::default() });
        let level = LevelParams { block: [4, 4, 4, 4], vectors: 24, pre: 0, post: 4 };
        let params = MultigridParams::with_levels(vec![level]);
        let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
        for solution in [Solution::Mat, Solution::MatPc, Solution::MatPcDag] {
            for (parity, symmetric) in [(0, true), (1, true), (0, false), (1, false)] {
                let form = Schur { parity, symmetric };
                let found = solve_on(form, &op, Some(&multigrid), 2, solution);
                let n = found.solver.iterations;
                println!("{} {solution:?} {form}: {n} iterations", device.name());
                assert!(n <= 10, "{} {solution:?} {form}: {n}", device.name());
            }
        }
    }
}

/// Columns of block GCR help each other when cycles reduce the residual little, in all forms of the system, and take
/// the announced memory.
#[test]
fn blocks_take_multigrid_in_fewer_iterations() {
    let path = "tests/data/quenched-b6.0-8x8x8x8.nersc";
    for device in devices() {
        let (f64, whole) = (Precision::F64, Recon::R18);
        let options = LoadOptions::default();
        let gauge = load_gauge(&device, &ranks(), path.as_ref(), f64, whole, &options).unwrap();
        let p = DiracParams { csw: 1.769, csw_t: 1.769, ..Default::default() };
        let op = Arc::new(Wilson::new(Arc::new(gauge.gauge), p.with_kappa(0.1347)).unwrap());
        let level = LevelParams { block: [4, 4, 4, 4], vectors: 12, pre: 0, post: 4 };
        let params = MultigridParams::with_levels(vec![level]);
        let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
        for (even_odd, solution) in [
            (Schur::EVEN_SYMMETRIC, Solution::Mat),
            (Schur { parity: 1, symmetric: false }, Solution::MatDag),
            (Schur { parity: 0, symmetric: false }, Solution::MatPc),
        ] {
            let run = |kind, nrhs| {
                let stop = Stop::at(1e-10);
                let solver = SolverParams { kind, nkrylov: 8, stop, ..Default::default() };
                let even_odd = Some(even_odd);
                let params = SolveParams { solver, solution, even_odd, ..Default::default() };
                let solver = DiracSolver::new(op.clone(), params).unwrap();
                let solver = solver.with_multigrid(Some(multigrid.clone())).unwrap();
                let (device, geometry) = (op.gauge().device(), op.gauge().geometry());
                let mut b = SpinorField::new(device, geometry, f64, solver.subset(), nrhs).unwrap();
                let mut x = b.like(f64).unwrap();
                b.set_noise(Noise::Normal, 5, 0).unwrap();
                let (announced, held) = (solver.memory(nrhs).unwrap(), device.used().0);
                device.limit_memory(held + announced);
                let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
                device.limit_memory(u64::MAX);
                assert!(report.solver.converged && report.solver.fallback.is_none(), "{report:?}");
                let taken = report.memory_peak - held;
                assert!(report.columns == nrhs && taken <= announced, "{taken} of {announced}");
                (report.solver.iterations, solver.describe(nrhs))
            };
            let (each, _) = run(SolverKind::Gcr, 12);
            let (block, described) = run(SolverKind::BlockGcr, 12);
            println!("{} {solution:?} {even_odd}: {block} for {each}: {described}", device.name());
            assert!(6 * block < 5 * each, "{block} for {each}");
            assert!(described.contains("fallback(block GCR in single(multigrid 2 levels), Bi"));
        }
    }
}

/// Null vectors that were saved to the host build the same hierarchy again.
#[test]
fn null_vectors_can_be_kept() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([4, 4, 4, 8]), 0.5);
        let op = s.wilson(DiracParams { mass: -0.2, csw: 1.0, csw_t: 1.0, ..Default::default() });
        let level = LevelParams { block: [2, 2, 2, 4], vectors: 6, pre: 2, post: 3 };
        let params = MultigridParams {
            coarse_precision: Precision::F64,
            smoother: Smoother::Mr,
            ..MultigridParams::with_levels(vec![level])
        };
        let first = Arc::new(Multigrid::new(&*op, &params).unwrap());
        let vectors = first.vectors(Precision::F64).unwrap();
        let second = Arc::new(Multigrid::with_vectors(&*op, &params, &vectors).unwrap());
        let iterations =
            [&first, &second].map(|m| solve(&op, Some(m), 2, Solution::Mat).solver.iterations);
        assert_eq!(iterations[0], iterations[1]);
        assert!((first.report().reduction / second.report().reduction - 1.0).abs() < 0.01);
    }
}

/// A hierarchy from a file is the one that was saved, also with other aggregates; a file that is not its null space
/// is refused with a message that names it.
#[test]
fn null_space_in_a_file() {
    for device in devices() {
        let folder = common::Folder::new("null-space");
        let path = folder.0.join("null.lime");
        let mass = DiracParams { mass: -0.2, csw: 1.0, csw_t: 1.0, ..Default::default() };
        let s = Setup::new(&device, over_ranks([4, 4, 4, 8]), 0.5);
        let op = s.wilson(mass);
        let level = LevelParams { block: [2, 2, 2, 4], vectors: 6, pre: 0, post: 3 };
        let next = LevelParams { block: [1, 2, 2, 1], vectors: 7, ..level };
        let params =
            MultigridParams { setup_columns: 8, ..MultigridParams::with_levels(vec![level, next]) };
        let first = Arc::new(Multigrid::new(&*op, &params).unwrap());
        save_multigrid(&path, &first).unwrap();
        let again = Arc::new(load_multigrid(&path, &*op, &params, &mut no_monitor).unwrap());
        let iterations =
            |m: &Arc<Multigrid>| solve(&op, Some(m), 2, Solution::Mat).solver.iterations;
        assert_eq!(iterations(&again), iterations(&first));
        let [found, expect] = [&again, &first].map(|m| m.vectors(Precision::F64).unwrap());
        let found = distance(&found.save_lex().unwrap(), &expect.save_lex().unwrap());
        // The file keeps the null vectors in 16 bits.
        assert!(found < 5e-4, "vectors off by {found:e}");
        assert!((first.report().reduction / again.report().reduction - 1.0).abs() < 0.01);
        // A set-up from a file uses no random vectors: another seed gives the same hierarchy.
        let other = LevelParams { block: [2; 4], ..level };
        let other = MultigridParams { seed: 9, ..MultigridParams::with_levels(vec![other]) };
        let other = Arc::new(load_multigrid(&path, &*op, &other, &mut no_monitor).unwrap());
        assert!(iterations(&other) <= iterations(&first) + 5);
        // Hierarchies in double are kept in double.
        let double = MultigridParams { coarse_precision: Precision::F64, ..params.clone() };
        let wide = folder.0.join("double.lime");
        save_multigrid(&wide, &Multigrid::new(&*op, &double).unwrap()).unwrap();
        let length = |p: &std::path::Path| std::fs::metadata(p).unwrap().len();
        assert!(length(&path) < 6 * length(&wide) / 10);

        let status = |path: &std::path::Path, op: &Arc<Wilson>, params: &MultigridParams| {
            load_multigrid(path, &**op, params, &mut no_monitor).map(|_| ()).unwrap_err().status
        };
        let five = LevelParams { vectors: 5, ..level };
        let five = MultigridParams::with_levels(vec![five]);
        assert_eq!(status(&path, &op, &five), Status::FieldMismatch);
        let larger = Setup::new(&device, over_ranks([4, 4, 8, 8]), 0.5).wilson(mass);
        assert_eq!(status(&path, &larger, &params), Status::FileExtents);
        let foreign = folder.0.join("foreign.lime");
        let vectors = first.vectors(Precision::F32).unwrap();
        save_vectors(&foreign, "eigen", vec![], &[&vectors]).unwrap();
        assert_eq!(status(&foreign, &op, &params), Status::FileFormat);
        assert_eq!(status(&folder.0.join("absent"), &op, &params), Status::FileOpen);
        let used = device.used().0;
        device.limit_memory(used + Multigrid::memory(&*op, &params).unwrap() / 2);
        let refused = status(&path, &op, &params);
        device.limit_memory(u64::MAX);
        assert_eq!(refused, Status::OutOfMemory);
        // A file with a flipped bit in its data, and one whose end is missing.
        let whole = std::fs::read(&path).unwrap();
        let name = b"scidac-binary-data";
        let data = whole.windows(name.len()).position(|w| w == name).unwrap() + 4000;
        let broken = folder.0.join("broken.lime");
        let cases = [
            (data, whole.len(), Status::FileChecksum),
            (0, whole.len() - 40, Status::FileTruncated),
            (0, whole.len() / 2, Status::FileTruncated),
        ];
        for (at, end, expect) in cases {
            common::on_rank_0(|| {
                let mut bytes = whole.clone();
                if at > 0 {
                    bytes[at] ^= 1;
                }
                std::fs::write(&broken, &bytes[..end]).unwrap();
            });
            assert_eq!(status(&broken, &op, &params), expect, "{at} {end}");
        }
        assert_eq!(device.used().0, used, "memory that refused files left behind");
    }
}

/// Impossible parameters are refused with a message that names them, and a failed update leaves the hierarchy as it
/// was.
#[test]
fn impossible_hierarchies_are_refused() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([4, 4, 4, 8]), 0.5);
        let op = s.wilson(DiracParams { mass: 0.1, ..Default::default() });
        let level = |block, vectors| LevelParams { block, vectors, pre: 0, post: 2 };
        let refused = |levels: Vec<LevelParams>, status: Status| {
            let params = MultigridParams { refinements: 0, ..MultigridParams::with_levels(levels) };
            match Multigrid::new(&*op, &params) {
                Ok(_) => panic!("{params:?} was not refused"),
                Err(e) => assert_eq!(e.status, status, "{e}"),
            }
        };
        refused(vec![], Status::BadParameter);
        refused(vec![level([3, 2, 2, 2], 4)], Status::BadExtents);
        refused(vec![level([2, 2, 2, 2], 0)], Status::BadParameter);
        refused(vec![level([1, 1, 1, 2], 20)], Status::BadParameter);
        // Given null vectors that depend linearly on each other.
        let params = MultigridParams::with_levels(vec![level([2, 2, 2, 2], 4)]);
        let params = MultigridParams { setup_columns: 8, ..params };
        let mut vectors =
            SpinorField::new(&device, &s.geometry, Precision::F64, Subset::Full, 4).unwrap();
        match Multigrid::with_vectors(&*op, &params, &vectors) {
            Ok(_) => panic!("zero vectors were not refused"),
            Err(e) => assert_eq!(e.status, Status::NotFinite, "{e}"),
        }
        for i in 0..4 {
            let mut one =
                SpinorField::new(&device, &s.geometry, Precision::F64, Subset::Full, 1).unwrap();
            one.set_noise(Noise::Normal, 5, i % 2).unwrap();
            vectors.copy_rhs(i as usize, &one, 0, 1).unwrap();
        }
        match Multigrid::with_vectors(&*op, &params, &vectors) {
            Ok(_) => panic!("dependent vectors were not refused"),
            Err(e) => assert_eq!(e.status, Status::BadParameter, "{e}"),
        }
        let (_, max) = device.memory().unwrap();
        let need = Multigrid::memory(&*op, &params).unwrap();
        device.limit_memory(device.used().0 + need / 2);
        let found = Multigrid::new(&*op, &params).map(|_| ()).unwrap_err();
        device.limit_memory(u64::MAX);
        assert_eq!(found.status, Status::OutOfMemory, "{found} of {max}");
        device.reset_peak();
        let before = device.used().0;
        let made = Multigrid::new(&*op, &params).unwrap();
        let taken = device.used().1 - before;
        assert!(taken <= need, "took {taken} bytes, announced {need}");
        drop(made);
    }
}

/// A set-up takes the memory that it announces, to a few per cent: with V cycles and without low modes, since K
/// cycles and the solves for low modes may end before their last step, and then take fewer vectors.
#[test]
fn announced_memory_is_taken() {
    for device in devices() {
        // Buffers for messages between GPUs are whole pages of 2 MiB, so that GPUs get a larger lattice.
        let extent = if device.is_cpu() { 8 } else { 16 };
        let s = Setup::new(&device, over_ranks([extent; 4]), 0.5);
        let op = s.wilson(DiracParams { mass: 0.1, csw: 1.0, csw_t: 1.0, ..Default::default() });
        let level = |n| LevelParams { block: [2; 4], vectors: n, pre: 0, post: 4 };
        let (here, host) = (VectorMemory::Device, VectorMemory::Host);
        for (levels, links, setup_vectors) in [
            (vec![level(16)], LinkPrecision::Single, here),
            (vec![level(8), level(8)], LinkPrecision::Quarter, here),
            (vec![level(8), level(8)], LinkPrecision::Quarter, host),
            (vec![level(2)], LinkPrecision::Half, here),
        ] {
            let params = MultigridParams {
                cycle: Cycle::V,
                setup_vectors,
                link_precision: Some(links),
                coarsest_modes: Some(0),
                setup_iterations: 2,
                refinements: 1,
                ..MultigridParams::with_levels(levels)
            };
            let need = Multigrid::memory(&*op, &params).unwrap();
            device.reset_peak();
            let before = device.used().0;
            let made = Multigrid::new(&*op, &params).unwrap();
            let taken = device.used().1 - before;
            drop(made);
            println!("{}: took {taken} bytes, announced {need}", device.name());
            assert!(taken <= need && need as f64 <= 1.05 * taken as f64, "{taken} {need}");
        }
    }
}

/// Cycles take the memory that they announce, to a tenth, beside that for one right-hand side, which is there from
/// the set-up and is freed. A second announcement is no larger.
#[test]
fn cycles_take_what_they_announce() {
    for device in devices() {
        let extent = if device.is_cpu() { 8 } else { 16 };
        let s = Setup::new(&device, over_ranks([extent; 4]), 0.5);
        let op = s.wilson(DiracParams { mass: 0.1, csw: 1.0, csw_t: 1.0, ..Default::default() });
        let level = |pre| LevelParams { block: [2; 4], vectors: 6, pre, post: 4 };
        for (pre, smoother) in [(0, Precision::F16), (2, Precision::F32)] {
            let params = MultigridParams {
                cycle: Cycle::V,
                coarsest_iterations: 6,
                setup_iterations: 2,
                refinements: 0,
                smoother_precision: Some(smoother),
                ..MultigridParams::with_levels(vec![level(pre); 2])
            };
            let (geometry, even) = (&s.geometry, Subset::Even);
            for nrhs in [12, 16] {
                let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
                let mut b =
                    SpinorField::new(&device, geometry, Precision::F32, even, nrhs).unwrap();
                b.set_noise(Noise::Normal, 5, 0).unwrap();
                let mut x = b.like(Precision::F32).unwrap();
                let inverse = multigrid.inverse(Schur::EVEN_SYMMETRIC, Shape::of(&b));
                let [one, need] = [1, nrhs].map(|n| inverse.memory(n, false).unwrap());
                let before = device.used().0;
                device.reset_peak();
                inverse.apply(&mut x, &b).unwrap();
                let taken = device.used().1 - before;
                println!("{} {smoother}: took {taken}, announced {need}, {one}", device.name());
                assert!(taken <= need && need as f64 <= 1.1 * (taken + one) as f64);
                assert!(inverse.memory(nrhs, false).unwrap() <= need);
            }
        }
    }
}

/// A cycle waits for sums only if a tolerance is set.
#[test]
fn cycles_do_not_wait_for_sums() {
    if ranks().size() > 1 {
        return;
    }
    for device in devices() {
        let s = Setup::new(&device, [8, 4, 4, 8], 0.5);
        let op = s.wilson(DiracParams { mass: 0.1, csw: 1.0, csw_t: 1.0, ..Default::default() });
        let level = LevelParams { block: [2; 4], vectors: 4, pre: 0, post: 8 };
        for (cycle, coarsest) in [(Cycle::V, 6), (Cycle::W, 6), (Cycle::K, 64)] {
            let params = MultigridParams {
                cycle,
                coarsest_iterations: coarsest,
                setup_iterations: 4,
                refinements: 0,
                ..MultigridParams::with_levels(vec![level; 2])
            };
            let multigrid = Arc::new(Multigrid::new(&*op, &params).unwrap());
            let even = SpinorField::new(&device, &s.geometry, Precision::F32, Subset::Even, 1);
            let mut b = even.unwrap();
            b.set_noise(Noise::Normal, 5, 0).unwrap();
            let mut x = b.like(Precision::F32).unwrap();
            let inverse = multigrid.inverse(Schur::EVEN_SYMMETRIC, Shape::of(&b));
            inverse.apply(&mut x, &b).unwrap();
            let done = || [1, 2].map(|l| multigrid.report().levels[l].iterations);
            let (before, count) = (device.counts(), done());
            inverse.apply(&mut x, &b).unwrap();
            let now = device.counts();
            let (launches, waits) = (now.launches - before.launches, now.waits - before.waits);
            // `gcr` is the number of iterations of GCR on the second level, each with 8 steps of its smoother. The
            // coarsest level asks for sums after six steps and then after about twelve.
            let gcr = (done()[0] - count[0]) / 9;
            let coarsest = done()[1] - count[1];
            let max = match cycle {
                Cycle::V => 0,
                Cycle::W => 1,
                Cycle::K => gcr + coarsest / 6,
            };
            println!(
                "{} {cycle:?}: {launches} launches, {waits} waits, {gcr} iterations, {coarsest} below",
                device.name()
            );
            assert!(waits <= max, "{cycle:?}: {waits} waits, expected {max}");
        }
    }
}
