//! Tests of the updates of all shifts of a multi-shift solve in one launch, against updates one by one.

use std::sync::Arc;

use plaq::backend::Device;
use plaq::compose::{DiracSolver, Solution, SolveParams};
use plaq::fields::{blas, Components, Noise, Precision, RhsOrder, Subset, VectorField};
use plaq::linop::{LinOp, Normal};
use plaq::solvers::shifts::{sum, update, Step};
use plaq::solvers::{multishift, no_monitor, Shift, SolverParams, Stop, System};

use super::reference::spinor;
use super::{parameter_sets, setups, Setup, C};

fn noise(
    s: &Setup,
    shape: (Components, RhsOrder),
    precision: Precision,
    nrhs: usize,
    seed: u64,
) -> VectorField {
    let make = |precision| {
        let (device, subset) = (&s.device, Subset::Even);
        VectorField::with_components(device, &s.geometry, precision, subset, nrhs, shape).unwrap()
    };
    let mut exact = make(Precision::F64);
    exact.set_noise(Noise::Normal, seed, 0).unwrap();
    let mut field = make(precision);
    blas::copy(&mut field, &exact).unwrap();
    field
}

/// Steps in which some right-hand sides have converged, and in others only some shifts.
fn steps(shifts: usize, nrhs: usize) -> Vec<Step> {
    let number = |k: usize, i: usize, n: usize| (1.3 * k as f64 + 0.7 * i as f64 + n as f64).sin();
    let one = |k: usize, n: usize| {
        let value = |i: usize| match (k + i) % 5 {
            3 => 0.0,
            4 if n == 0 => 0.0,
            _ => number(k, i, n),
        };
        (0..nrhs).map(value).collect()
    };
    (0..shifts).map(|k| Step { a: one(k, 0), c: one(k, 1), d: one(k, 2) }).collect()
}

fn left(step: &Step, i: usize) -> bool {
    step.a[i] == 0.0 && step.c[i] == 0.0 && step.d[i] == 0.0
}

fn complex(v: &[f64]) -> Vec<C> {
    blas::complex(v)
}

#[test]
fn all_shifts_at_once_are_the_shifts_one_by_one() {
    let pairs = [
        (Precision::F64, Precision::F64),
        (Precision::F32, Precision::F32),
        (Precision::F32, Precision::F64),
        (Precision::F16, Precision::F64),
        (Precision::F16, Precision::F32),
        (Precision::F16, Precision::F16),
    ];
    for s in setups() {
        for components in [Components::SPINOR, Components::COLOUR, Components::of(1, 5)] {
            for order in [RhsOrder::Slowest, RhsOrder::Fastest] {
                for (low, high) in pairs {
                    let fixed = low == Precision::F16;
                    let fastest = order == RhsOrder::Fastest;
                    if (fixed && (components.colours == 5 || fastest))
                        || (fastest && s.geometry.lanes() > 1)
                    {
                        continue;
                    }
                    for (shifts, nrhs) in [(1, 1), (3, 2), (30, 1), (7, 35)] {
                        compare(&s, (components, order), (low, high), shifts, nrhs);
                    }
                }
            }
        }
    }
}

fn compare(
    s: &Setup,
    shape: (Components, RhsOrder),
    (low, high): (Precision, Precision),
    shifts: usize,
    nrhs: usize,
) {
    let what = format!("{shape:?} {low:?} {high:?} {shifts} {nrhs}");
    let r = noise(s, shape, low, nrhs, 1);
    let many = |precision, seed| -> Vec<VectorField> {
        (0..shifts).map(|k| noise(s, shape, precision, nrhs, seed + k as u64)).collect()
    };
    let steps = steps(shifts, nrhs);
    let (mut xs, mut ps) = (many(high, 100), many(low, 200));
    let mut total = noise(s, shape, high, nrhs, 300);
    let mut others = many(low, 200);
    let (mut want_xs, mut want_ps) = (many(high, 100), many(low, 200));
    let mut want_total = noise(s, shape, high, nrhs, 300);
    for ((x, p), step) in want_xs.iter_mut().zip(&mut want_ps).zip(&steps) {
        blas::axpy(&complex(&step.a), p, x).unwrap();
        blas::axpy(&complex(&step.a), p, &mut want_total).unwrap();
        let c: Vec<C> = (0..nrhs)
            .map(|i| if left(step, i) { C::ONE } else { C::new(step.c[i], 0.0) })
            .collect();
        blas::axpby(&complex(&step.d), &r, &c, p).unwrap();
    }
    update(
        &mut xs.iter_mut().collect::<Vec<_>>(),
        &mut ps.iter_mut().collect::<Vec<_>>(),
        &steps,
        &r,
    )
    .unwrap();
    sum(&mut total, &mut others.iter_mut().collect::<Vec<_>>(), &steps, &r).unwrap();
    let close = |found: &VectorField, want: &VectorField, roundings: f64| {
        let mut difference = want.like(Precision::F64).unwrap();
        blas::copy(&mut difference, want).unwrap();
        blas::axpy(&blas::uniform(nrhs, -1.0), found, &mut difference).unwrap();
        let (d, n) = (blas::norm2(&difference).unwrap(), blas::norm2(want).unwrap());
        // A unit of 16 bits is that of the largest number of a site. A pass over all shifts reads it in single
        // precision, an operation on a double x alone in double.
        let read = if low == Precision::F16 { Precision::F32.epsilon() } else { 0.0 };
        let bound = roundings * (found.precision().epsilon() + read);
        for (d, n) in d.iter().zip(&n) {
            assert!((d / n).sqrt() <= bound, "{what}: {:e}", (d / n).sqrt());
        }
    };
    for k in 0..shifts {
        close(&xs[k], &want_xs[k], 2.0);
        close(&ps[k], &want_ps[k], 4.0);
        close(&others[k], &want_ps[k], 4.0);
    }
    close(&total, &want_total, 2.0 * shifts as f64);
}

/// Iterations with many shifts make as many launches as those with one.
#[test]
fn all_shifts_take_one_launch() {
    let s = &setups()[0];
    let op: Arc<dyn LinOp> =
        Arc::new(Normal::mdag_m(s.wilson_12(parameter_sets()[0], Precision::F64)));
    let low: Arc<dyn LinOp> =
        Arc::new(Normal::mdag_m(s.wilson_12(parameter_sets()[0], Precision::F32)));
    let source = spinor::random(s.lat, 3);
    let b = s.spinors(Precision::F64, Subset::Full, &[&source, &source]);
    let launches = |device: &Device, system: &System, shifts: usize, iterations: usize| {
        let shifts: Vec<Shift> = (0..shifts)
            .map(|k| Shift { sigma: 0.01 * k as f64, tol: 1e-14, heavy_quark: 0.0 })
            .collect();
        let ask =
            SolverParams { stop: Stop { iterations, ..Stop::default() }, ..Default::default() };
        let mut xs: Vec<_> = shifts.iter().map(|_| b.like(Precision::F64).unwrap()).collect();
        let before = device.counts().launches;
        let mut watch = no_monitor;
        let r = multishift(system, &ask, &shifts, false, &mut xs, &b, &mut watch).unwrap().0;
        assert_eq!(r.iterations, iterations);
        device.counts().launches - before
    };
    for system in [System::new(op.clone()), System::with_sloppy(op, low)] {
        let each = |shifts: usize| {
            launches(&s.device, &system, shifts, 6) - launches(&s.device, &system, shifts, 3)
        };
        let (one, twelve) = (each(1), each(12));
        println!("3 iterations: {one} launches with 1 shift, {twelve} with 12");
        assert_eq!(one, twelve);
    }
}

/// If memory is short, multi-shift solves work on parts of the shifts, with the same solutions.
#[test]
fn shifts_are_solved_in_parts_where_memory_is_short() {
    for s in setups() {
        let op = s.wilson_12(parameter_sets()[0], Precision::F64);
        let solver = SolverParams { stop: Stop::at(1e-10), ..Default::default() };
        let solution = Solution::MatPcDagMatPc;
        let solver =
            DiracSolver::new(op, SolveParams { solver, solution, ..Default::default() }).unwrap();
        let fields: Vec<_> = (0..5).map(|i| spinor::random(s.lat, 70 + i)).collect();
        let b = s.spinors(Precision::F64, Subset::Even, &fields.iter().collect::<Vec<_>>());
        let shift = |sigma| Shift { sigma, tol: 1e-9, heavy_quark: 0.0 };
        let shifts = [shift(0.1), shift(0.7)];
        let solve = |limit: Option<u64>| {
            let mut xs = [b.like(Precision::F64).unwrap(), b.like(Precision::F64).unwrap()];
            let held = s.device.used().0;
            s.device.limit_memory(limit.map_or(u64::MAX, |bytes| held + bytes));
            let watch = s.device.watch_peak();
            let done = solver.multishift(&shifts, &mut xs, &b, &mut no_monitor);
            s.device.limit_memory(u64::MAX);
            let (all, each) = done.unwrap();
            assert!(all.solver.converged && each.iter().all(|r| r.converged));
            assert!(all.solver.residual.len() == 5 && each.iter().all(|r| r.residual.len() == 5));
            (all.columns, watch.bytes() - held, xs.map(|x| s.columns(&x)))
        };
        // A first solve allocates the buffers for messages, which stay.
        solve(None);
        let (columns, all, expected) = solve(None);
        assert_eq!(columns, 5);
        let (columns, part, found) = solve(Some(all - 1));
        assert!(columns < 5 && part < all, "{columns}: {part} of {all}");
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!(spinor::relative_distance(found, expected) < 1e-8);
        }
    }
}
