//! Tests of solvers that take fewer sums over the ranks in an iteration: they reach the residuals that they reach with
//! one sum after the other.

use std::sync::Arc;

use plaq::backend::Device;
use plaq::comm::{Comm, Communicator, Options, RankMap};
use plaq::compose::{DiracSolver, Solution, SolveParams, SolverSettings};
use plaq::error::{Result, Status};
use plaq::fields::{blas, Components, Geometry, Precision, Recon, RhsOrder, SpinorField, Subset};
use plaq::linop::{LinOp, Normal, Shape};
use plaq::operators::{DiracParams, Normalisation, QuarkAction};
use plaq::ops::device::check_same_layout;
use plaq::solvers::{
    no_monitor, solve, IterationSums, SolverKind, SolverParams, SolverReport, Stop, System,
};

use super::common::{over_ranks, Lex};
use super::reference::numbers::field_numbers;
use super::reference::{spinor, Field, Lattice};
use super::{parameter_sets, ranks, residual, setups, Setup};

const KINDS: [SolverKind; 4] =
    [SolverKind::Cg, SolverKind::Cgnr, SolverKind::Cgne, SolverKind::BiCgStab];
const BOTH: [IterationSums; 2] = [IterationSums::Separate, IterationSums::Fused];

/// A solve of M x = b, or M^dagger M x = b by CG, with columns that converge at different times: one is zero, one has a
/// good first guess, and norms differ. Returns the report and the residuals of the reference.
fn solved(
    s: &Setup,
    params: &DiracParams,
    sloppy: Option<Precision>,
    ask: &SolverParams,
) -> (SolverReport, Vec<f64>) {
    let precise = s.wilson_12(*params, Precision::F64);
    let of = |op: Arc<dyn LinOp>| -> Arc<dyn LinOp> {
        match ask.kind {
            SolverKind::Cg => Arc::new(Normal::mdag_m(op)),
            _ => op,
        }
    };
    let low = sloppy.map(|p| of(Arc::new(precise.to(p, Recon::R12).unwrap())));
    let system = System { sloppy: low, ..System::new(of(precise)) };
    let point = spinor::point(s.lat, 0, 1, 2);
    let small = spinor::scale(1e-7.into(), &spinor::random(s.lat, 61));
    let (first, zero) = (spinor::random(s.lat, 60), spinor::zero(s.lat));
    let guessed = spinor::random(s.lat, 62);
    let fields = [&first, &zero, &guessed, &small, &point];
    let b = s.spinors(Precision::F64, Subset::Full, &fields);
    let mut x = b.like(Precision::F64).unwrap();
    let rough = SolverParams { stop: Stop::at(1e-6), sums: None, ..ask.clone() };
    solve(&system, &rough, &mut x, &b, &mut no_monitor).unwrap();
    let mut numbers = s.columns(&x);
    (0..numbers.len()).filter(|i| *i != 2).for_each(|i| numbers[i] = spinor::zero(s.lat));
    let mut x = s.spinors(Precision::F64, Subset::Full, &numbers);
    let ask = SolverParams { initial_guess: true, ..ask.clone() };
    let report = solve(&system, &ask, &mut x, &b, &mut no_monitor).unwrap();
    let solution = if ask.kind == SolverKind::Cg { Solution::MatDagMat } else { Solution::Mat };
    let equation = SolveParams { solution, ..Default::default() };
    let dirac = s.dirac(params);
    let found = |(x, b): (&Field, &&Field)| match std::ptr::eq(*b, &zero) {
        true => spinor::norm2(x),
        false => residual(&dirac, &equation, x, b),
    };
    let found = s.columns(&x).iter().zip(&fields).map(found).collect();
    (report, found)
}

/// Several ranks, each of which computes the whole reference, test the smaller lattice.
fn small_setups() -> Vec<Setup> {
    setups().into_iter().skip((ranks().size() > 1).into()).collect()
}

/// Solvers of quark actions take the sums that they are asked for, and refuse a choice where the algorithm has none.
#[test]
fn solvers_take_the_sums_asked_for() {
    use SolverKind::{Auto, BiCgStab, BlockGcr, Cgne, Cgnr, Gcr, Mr};
    for s in small_setups() {
        let op: Arc<dyn QuarkAction> = s.wilson_12(parameter_sets()[1], Precision::F64);
        let solver = |solver, sums, max_iterations| {
            let settings = SolverSettings {
                solver,
                sums,
                max_iterations,
                tol: 1e-30,
                sloppy_precision: Some(Precision::F64),
                ..Default::default()
            };
            DiracSolver::new(op.clone(), settings.params(&op, Normalisation::Kappa)?)
        };
        let alone = SolverSettings { fall_back: false, ..Default::default() };
        assert!(!alone.params(&op, Normalisation::Kappa).unwrap().solver.fall_back);
        for (kind, sums) in [Gcr, BlockGcr, Mr].into_iter().flat_map(|k| BOTH.map(|s| (k, s))) {
            let e = solver(kind, Some(sums), 3).err().unwrap();
            assert_eq!(e.status, Status::Unsupported, "{e}");
            assert!(e.message().starts_with("sums: expected 0 (automatic) with"), "{e}");
            assert!(e.message().contains(&format!("found {sums}")), "{e}");
            assert!(solver(kind, None, 3).is_ok());
        }
        let comm = op.links().geometry().comm().clone();
        let b = s.spinors(Precision::F64, Subset::Full, &[&spinor::random(s.lat, 60)]);
        for (kind, expected) in [(Cgne, [2, 1]), (Cgnr, [3, 1]), (BiCgStab, [3, 2]), (Auto, [3, 2])]
        {
            for (sums, expected) in BOTH.into_iter().zip(expected) {
                let taken = |iterations| {
                    let solver = solver(kind, Some(sums), iterations).unwrap();
                    let mut x = b.like(Precision::F64).unwrap();
                    let before = comm.counts().sums;
                    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
                    assert_eq!(report.solver.iterations, iterations, "{kind:?}");
                    comm.counts().sums - before
                };
                let [few, more] = [3, 9].map(taken);
                let ranks = u64::from(comm.size() > 1);
                assert_eq!(more - few, 6 * expected * ranks, "{kind:?} {sums:?}: {few} and {more}");
            }
        }
    }
}

/// Ranks whose CPUs have one thread compute on one core at most, however many they may run on.
#[test]
fn ranks_tell_their_threads() {
    if ranks().size() == 1 {
        return println!("skipped: one rank");
    }
    let grid = ranks().grid().map(|n| n as i32);
    let options = Options::default();
    let comm = Comm::mpi(Communicator::World, grid, &RankMap::Default, &options).unwrap();
    check_same_layout(&comm, &Device::cpu(if comm.rank() == 0 { 1 } else { 2 }).unwrap()).unwrap();
    assert!(comm.cores() <= 1.0, "{}", comm.cores());
}

/// Near a singular operator, in one precision and two: as many iterations within 5 %, and the same tolerance.
#[test]
fn fused_sums_take_as_many_iterations() {
    for s in small_setups() {
        for params in [DiracParams { mass: -0.55, ..parameter_sets()[0] }, parameter_sets()[3]] {
            for kind in KINDS {
                for sloppy in [None, Some(Precision::F32)] {
                    let ask = |fused| SolverParams {
                        kind,
                        stop: Stop::at(1e-11),
                        sums: Some(fused),
                        ..Default::default()
                    };
                    let [apart, fused] = BOTH.map(|fused| solved(&s, &params, sloppy, &ask(fused)));
                    let what = format!("{:?} {kind:?} {sloppy:?} {}", s.lat.extents, params.mass);
                    let [few, many] = [&fused, &apart].map(|found| found.0.iterations);
                    println!("{what}: {few} iterations for {many}, {:?}", fused.1);
                    for (report, found) in [&apart, &fused] {
                        assert!(
                            report.converged && report.fallback.is_none(),
                            "{what}: {report:?}"
                        );
                        assert!(found.iter().all(|r| *r <= 1.01e-11), "{what}: {found:?}");
                    }
                    assert!(few as f64 <= 1.05 * many as f64 + 1.0, "{what}: {few} for {many}");
                }
            }
        }
    }
}

/// Asked for more than double precision can give, solves are fixed at the same residual.
#[test]
fn fused_sums_reach_the_last_digits() {
    for s in small_setups() {
        let params = DiracParams { mass: -0.55, ..parameter_sets()[0] };
        for kind in KINDS {
            for sloppy in [None, Some(Precision::F32)] {
                let ask = |fused| SolverParams {
                    kind,
                    stop: Stop { iterations: 500, ..Stop::at(1e-18) },
                    sums: Some(fused),
                    fall_back: false,
                    ..Default::default()
                };
                let [apart, fused] = BOTH.map(|fused| solved(&s, &params, sloppy, &ask(fused)).1);
                println!("{:?} {kind:?} {sloppy:?}: {fused:?} for {apart:?}", s.lat.extents);
                for (fused, apart) in fused.iter().zip(&apart) {
                    assert!(
                        *fused <= 3.0 * apart + 1e-16,
                        "{kind:?} {sloppy:?}: {fused:e} {apart:e}"
                    );
                }
            }
        }
    }
}

/// An operator that is one number on even sites and another on odd ones.
struct Parities {
    shape: Shape,
    lat: Lattice,
    numbers: [f64; 2],
}

impl LinOp for Parities {
    fn shape(&self) -> Shape {
        self.shape.clone()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let mut numbers = inp.save_lex()?;
        let column = numbers.len() / inp.nrhs();
        for (parity, factor) in self.numbers.into_iter().enumerate() {
            for lex in self.lat.sites_of_parity(parity) {
                let sites = numbers.chunks_mut(column).map(|c| &mut c[24 * lex..24 * (lex + 1)]);
                sites.flatten().for_each(|z| *z *= factor);
            }
        }
        out.load_lex(&numbers)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        0.0
    }
    fn bytes(&self, _nrhs: usize) -> f64 {
        0.0
    }
}

/// CG on this operator of two numbers, for a few random columns.
fn of_two_numbers(shape: Shape, numbers: [f64; 2], ask: &SolverParams) -> Result<SolverReport> {
    let lat = Lattice::new(shape.geometry.global_extents());
    let fields: Vec<f64> =
        (0..6).flat_map(|seed| field_numbers(&spinor::random(lat, 70 + seed))).collect();
    let Shape { device, geometry, precision, .. } = &shape;
    let mut b = SpinorField::new(device, geometry, *precision, Subset::Full, 6)?;
    b.load_lex(&fields)?;
    let mut x = b.like(*precision)?;
    let op = Arc::new(Parities { shape: shape.clone(), lat, numbers });
    solve(&System::new(op), ask, &mut x, &b, &mut no_monitor)
}

fn iterations(iterations: usize, sums: Option<IterationSums>) -> SolverParams {
    let stop = Stop { iterations, ..Stop::at(1e-30) };
    SolverParams { kind: SolverKind::Cg, stop, sums, ..Default::default() }
}

/// Directions without positive curvature are refused alike. With 3 and -1 it is the second one, whose curvature comes
/// from the recurrence: fused sums then make no step and restart, in every iteration.
#[test]
fn fused_sums_refuse_indefinite_operators() {
    for s in small_setups() {
        for precision in [Precision::F64, Precision::F32] {
            let shape = s.shape(precision, Components::SPINOR);
            let report =
                of_two_numbers(shape, [3.0, -1.0], &iterations(10, Some(IterationSums::Fused)))
                    .unwrap();
            assert!(!report.converged && report.restarts == 9, "{report:?}");
            let [apart, fused] = BOTH.map(|fused| {
                let shape = s.shape(precision, Components::SPINOR);
                of_two_numbers(shape, [1.0, -2.0], &iterations(100, Some(fused))).unwrap_err()
            });
            assert_eq!(apart.status, Status::SolverBreakdown, "{apart}");
            assert_eq!(fused.status, Status::SolverBreakdown, "{fused}");
            assert_eq!(fused.message(), apart.message());
            assert!(apart.message().contains("no positive curvature"), "{apart}");
        }
    }
}

/// The second direction is along the low mode of two, where nothing of <s, M s> is left by the recurrence of the
/// curvature but rounding.
#[test]
fn fused_sums_find_small_curvatures() {
    for s in small_setups() {
        for fused in BOTH {
            let shape = s.shape(Precision::F32, Components::SPINOR);
            let report = of_two_numbers(shape, [1.0, 1e-12], &iterations(2, Some(fused))).unwrap();
            assert_eq!((report.iterations, report.restarts), (2, 0), "{fused}: {report:?}");
        }
    }
}

/// Sums in the order of ranks have the same bits wherever the ranks are, and are not fused.
#[test]
fn sums_in_order_are_not_fused() {
    if ranks().size() == 1 {
        return println!("skipped: one rank");
    }
    let grid = ranks().grid().map(|n| n as i32);
    let device = Device::cpu(1).unwrap();
    let given = std::env::var_os("PLAQ_RANKS_PER_HOST");
    for per_host in ["1", "2"] {
        std::env::set_var("PLAQ_RANKS_PER_HOST", per_host);
        let options = Options { reproducible: true, ..Default::default() };
        let comm = Comm::mpi(Communicator::World, grid, &RankMap::Default, &options).unwrap();
        match &given {
            Some(given) => std::env::set_var("PLAQ_RANKS_PER_HOST", given),
            None => std::env::remove_var("PLAQ_RANKS_PER_HOST"),
        }
        let geometry = Geometry::decomposed(over_ranks([2, 2, 2, 2]), &device, &comm).unwrap();
        let sums = |most| {
            let shape = Shape {
                device: device.clone(),
                geometry: geometry.clone(),
                precision: Precision::F64,
                subset: Subset::Full,
                components: Components::SPINOR,
                order: RhsOrder::Slowest,
            };
            let before = comm.counts().sums;
            let report = of_two_numbers(shape, [1.0, 3.0], &iterations(most, None)).unwrap();
            assert_eq!(report.iterations, most);
            comm.counts().sums - before
        };
        let [few, more] = [1, 2].map(sums);
        assert_eq!(more - few, 2, "{per_host}: {few} and {more} sums");
    }
}

/// Products that share one sum over the ranks are those found one after the other, with norms that come twice.
#[test]
fn products_share_a_sum() {
    if ranks().size() == 1 {
        return println!("skipped: one rank");
    }
    for s in small_setups() {
        let columns =
            |seed| -> Vec<Field> { (0..40u64).map(|i| spinor::random(s.lat, seed + i)).collect() };
        let [u, v] = [1, 60].map(|seed| s.spinors(Precision::F64, Subset::Full, &columns(seed)));
        let pairs = [(&u, &u), (&v, &u), (&u, &v), (&v, &v), (&v, &u)];
        let found = blas::dots_norms(&pairs).unwrap();
        for ((x, y), (dots, norms)) in pairs.into_iter().zip(found) {
            let (expect, squares) = blas::dot_norm(x, y).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-13 * b.abs();
            assert!(norms.iter().zip(&squares).all(|(a, b)| near(*a, *b)), "{norms:?}");
            if !std::ptr::eq(x, y) {
                let size = squares[0];
                assert!(dots.iter().zip(&expect).all(|(a, b)| (a - b).norm() <= 1e-13 * size));
            }
        }
    }
}
