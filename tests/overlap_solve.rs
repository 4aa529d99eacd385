//! Inverses of the overlap operator, its low modes and index.

mod common;
mod reference;

use std::sync::Arc;

use common::{devices, distance, over_ranks};
use plaq::backend::Device;
use plaq::compose::{
    ModeParams, Overlap, OverlapAlgorithm, OverlapModes, OverlapPreconditioner, OverlapSolveParams,
    OverlapSolver, SignParams,
};
use plaq::error::Status;
use plaq::fields::{blas, GaugeField, Noise, Precision, Recon, SpinorField};
use plaq::linop::LinOp;
use plaq::operators::DiracParams;
use plaq::solvers::unwatched;
use reference::numbers::gauge_numbers;
use reference::{matrix, spinor, su3, Gauge, Lattice, C};

const S: f64 = 0.4;

/// One thread, or a GPU: lattices this small gain nothing from more.
fn plain_devices() -> Vec<Device> {
    devices().into_iter().filter(|d| !d.is_cpu() || d.name().ends_with("1 thread")).collect()
}

fn operator(device: &Device, extents: [usize; 4], u: &Gauge, mass: f64) -> Arc<Overlap> {
    let geometry = common::geometry(extents, device);
    let mut links = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    links.load_lex(&gauge_numbers(u)).unwrap();
    let kernel = Overlap::kernel(Arc::new(links), S, DiracParams::default()).unwrap();
    let modes = ModeParams { count: Some(16), ..Default::default() };
    let sign = SignParams { delta: 1e-8, ..Default::default() };
    Arc::new(Overlap::build(kernel, mass, &modes, sign, &mut unwatched).unwrap())
}

fn smooth(extents: [usize; 4], seed: u64) -> Gauge {
    su3::smooth_gauge(Lattice::new(extents), 0.4, seed).iter().map(su3::reunitarise).collect()
}

fn residual(op: &Overlap, x: &SpinorField, b: &SpinorField) -> f64 {
    let n = b.nrhs();
    let mut r = b.like(b.precision()).unwrap();
    op.apply(&mut r, x).unwrap();
    blas::axpby(&blas::uniform(n, 1.0), b, &blas::uniform(n, -1.0), &mut r).unwrap();
    let pairs = blas::norm2(&r).unwrap().into_iter().zip(blas::norm2(b).unwrap());
    pairs.map(|(r, b)| (r / b).sqrt()).fold(0.0, f64::max)
}

fn noise(op: &Overlap, n: usize) -> SpinorField {
    let mut b = op.shape().field(n).unwrap();
    b.set_noise(Noise::Normal, 5, 0).unwrap();
    b
}

#[test]
fn every_algorithm_solves_in_every_precision() {
    for device in plain_devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let op = operator(&device, extents, &smooth(extents, 3), 0.4);
        let b = noise(&op, 2);
        use OverlapAlgorithm::*;
        for algorithm in [ChiralCg, Sumr, Gcr] {
            let mut plain = 0;
            for (sloppy, relax) in [
                (None, false),
                (None, true),
                (Some((Precision::F32, Recon::R12)), true),
                (Some((Precision::F16, Recon::R12)), true),
            ] {
                let params = OverlapSolveParams {
                    algorithm,
                    tol: 1e-6,
                    sloppy,
                    relax,
                    nkrylov: 40,
                    ..Default::default()
                };
                let solver = OverlapSolver::new(op.clone(), None, params).unwrap();
                let mut x = op.shape().field(2).unwrap();
                let report = solver.solve(&mut x, &b, &mut unwatched).unwrap();
                let what = format!("{algorithm:?} {sloppy:?} {relax}: {report:?}");
                assert!(report.converged, "{what}");
                let found = residual(&op, &x, &b);
                assert!(
                    found <= 1.01e-6
                        && (found - report.residual.iter().fold(0.0f64, |m, &r| m.max(r))).abs()
                            < 1e-12,
                    "{found:e} {what}"
                );
                if plain == 0 {
                    plain = report.iterations;
                }
                let most = if sloppy.is_some_and(|s| s.0 == Precision::F16) { 5 } else { 3 };
                assert!(report.iterations <= most * plain + 10, "{plain} {what}");
            }
        }
    }
}

/// A source of one chirality takes one sector only: half the iterations, half the work.
#[test]
fn a_chiral_source_costs_half() {
    for device in plain_devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let lat = Lattice::new(extents);
        let op = operator(&device, extents, &smooth(extents, 3), 0.4);
        let mut b = op.shape().field(1).unwrap();
        b.load_lex(&reference::numbers::field_numbers(&spinor::point(lat, 3, 1, 2))).unwrap();
        let params = OverlapSolveParams { tol: 1e-6, relax: false, ..Default::default() };
        let solver = OverlapSolver::new(op.clone(), None, params).unwrap();
        let mut x = op.shape().field(1).unwrap();
        let point = solver.solve(&mut x, &b, &mut unwatched).unwrap();
        assert!(point.converged && residual(&op, &x, &b) < 1.01e-6, "{point:?}");
        let full = solver.solve(&mut x, &noise(&op, 1), &mut unwatched).unwrap();
        assert!(10 * point.iterations < 7 * full.iterations, "{point:?} {full:?}");
    }
}

#[test]
fn several_masses_are_what_each_is_alone() {
    for device in plain_devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let op = operator(&device, extents, &smooth(extents, 3), 0.1);
        let b = noise(&op, 1);
        let params = OverlapSolveParams { tol: 1e-6, ..Default::default() };
        let solver = OverlapSolver::new(op.clone(), None, params.clone()).unwrap();
        let masses = [0.1, 0.25, 0.7];
        let mut xs: Vec<SpinorField> =
            masses.iter().map(|_| op.shape().field(1).unwrap()).collect();
        let report = solver.solve_masses(&masses, &mut xs, &b, &mut unwatched).unwrap();
        assert!(report.converged, "{report:?}");
        for (&m, x) in masses.iter().zip(&xs) {
            let alone = Arc::new(op.with_mass(m).unwrap());
            assert!(residual(&alone, x, &b) < 1.01e-6);
            let solver = OverlapSolver::new(alone, None, params.clone()).unwrap();
            let mut y = op.shape().field(1).unwrap();
            solver.solve(&mut y, &b, &mut unwatched).unwrap();
            let d = distance(&x.save_lex().unwrap(), &y.save_lex().unwrap());
            assert!(d < 1e-4, "{m}: {d:e}");
        }
    }
}

#[test]
fn low_modes_and_a_wilson_preconditioner_save_iterations() {
    for device in plain_devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let op = operator(&device, extents, &smooth(extents, 6), 0.03);
        let b = noise(&op, 1);
        let run = |modes: Option<Arc<OverlapModes>>, params: OverlapSolveParams| {
            let solver = OverlapSolver::new(op.clone(), modes, params).unwrap();
            let mut x = op.shape().field(1).unwrap();
            let report = solver.solve(&mut x, &b, &mut unwatched).unwrap();
            assert!(report.converged && residual(&op, &x, &b) < 1.01e-6, "{report:?}");
            report.iterations
        };
        let cg = OverlapSolveParams { tol: 1e-6, ..Default::default() };
        let modes = Arc::new(OverlapModes::find(&op, 4, 1e-8, &mut unwatched).unwrap());
        let (plain, deflated) = (run(None, cg.clone()), run(Some(modes), cg.clone()));
        assert!(deflated < plain, "{deflated} {plain}");
        let gcr = OverlapSolveParams { algorithm: OverlapAlgorithm::Gcr, nkrylov: 60, ..cg };
        let preconditioner =
            OverlapPreconditioner::Wilson { mass: 0.05, tol: 1e-2, max_iterations: 200 };
        let without = run(None, gcr.clone());
        let with = run(None, OverlapSolveParams { preconditioner, ..gcr });
        assert!(with < without, "{with} {without}");
    }
}

/// Constant fields in the planes xy and zt with one quantum each and colours 1, -1, 0: charge of modulus
/// two, and one more for the trivial colour none.
fn flux(extents: [usize; 4], quanta: [f64; 2]) -> Gauge {
    let lat = Lattice::new(extents);
    let unit = std::f64::consts::TAU;
    let mut u: Gauge = su3::unit_gauge(lat);
    for lex in 0..lat.volume() {
        let x = lat.coords(lex);
        for (plane, quantum) in quanta.iter().enumerate() {
            let (a, b) = (2 * plane, 2 * plane + 1);
            let f = unit * quantum / (extents[a] * extents[b]) as f64;
            let angles = [
                (b, f * x[a] as f64),
                (a, if x[a] + 1 == extents[a] { -f * (extents[a] * x[b]) as f64 } else { 0.0 }),
            ];
            for (mu, angle) in angles {
                let mut m = matrix::one::<3>();
                (m[0][0], m[1][1]) = (C::from_polar(1.0, angle), C::from_polar(1.0, -angle));
                u[lex * 4 + mu] = matrix::mul(&u[lex * 4 + mu], &m);
            }
        }
    }
    u
}

/// The index theorem, for either sign and for none; zero modes have one chirality.
#[test]
fn the_index_is_the_charge() {
    for device in plain_devices() {
        let extents = over_ranks([4, 4, 4, 4]);
        let share: f64 = extents.iter().zip([4usize; 4]).map(|(&l, k)| (l / k) as f64).product();
        for quanta in [[1.0, 1.0], [1.0, -1.0], [1.0, 0.0]] {
            // The same plaquettes on several ranks.
            let quanta = [quanta[0], quanta[1] * share];
            let u = flux(extents, quanta);
            let geometry = common::geometry(extents, &device);
            let mut links =
                GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            links.load_lex(&gauge_numbers(&u)).unwrap();
            let charge = plaq::ops::observables::field_strength(&links).unwrap().charge;
            let op = operator(&device, extents, &u, 0.0);
            let count = 2 * share as usize + 2;
            let modes = OverlapModes::find(&op, count, 1e-7, &mut unwatched).unwrap();
            let expect = 2.0 * quanta[0] * quanta[1];
            assert!((charge - expect).abs() < 0.25 * expect.abs().max(0.1), "{charge} {expect}");
            assert_eq!(modes.index(), expect as i64, "{:?} {:?}", modes.values(), modes.zeros());
            assert!(modes.zeros().contains(&0), "{:?}", modes.values());
            // What is not zero comes with both chiralities.
            let [z, w] = modes.zeros();
            let other = (modes.values()[0][z], modes.values()[1][w]);
            assert!((other.0 - other.1).abs() < 1e-6, "{:?}", modes.values());
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let device = &plain_devices()[0];
    let extents = over_ranks([4, 2, 2, 4]);
    let op = operator(device, extents, &smooth(extents, 3), 0.4);
    let status = |params| OverlapSolver::new(op.clone(), None, params).err().unwrap().status;
    let good = OverlapSolveParams::default();
    assert_eq!(status(OverlapSolveParams { tol: 0.0, ..good.clone() }), Status::BadParameter);
    assert_eq!(status(OverlapSolveParams { tol: 1e-14, ..good.clone() }), Status::BadParameter);
    assert_eq!(status(OverlapSolveParams { nkrylov: 0, ..good.clone() }), Status::BadParameter);
    let preconditioner = OverlapPreconditioner::Wilson { mass: 0.1, tol: 0.1, max_iterations: 10 };
    assert_eq!(status(OverlapSolveParams { preconditioner, ..good.clone() }), Status::Unsupported);
    let solver = OverlapSolver::new(op.clone(), None, good).unwrap();
    let b = noise(&op, 1);
    let mut short = op.shape().field(2).unwrap();
    let error = solver.solve(&mut short, &b, &mut unwatched).unwrap_err();
    assert_eq!(error.status, Status::FieldMismatch);
    let mut x = op.shape().field(1).unwrap();
    let error = solver.solve_masses(&[], &mut [], &b, &mut unwatched).unwrap_err();
    assert_eq!(error.status, Status::BadParameter);
    let mut stop = |_: &plaq::solvers::Progress| std::ops::ControlFlow::Break(());
    let report = solver.solve(&mut x, &b, &mut stop).unwrap();
    assert!(report.stopped && !report.converged);
}
