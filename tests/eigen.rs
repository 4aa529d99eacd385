//! Tests of operations on many vectors, and of eigensolvers against a dense matrix and each other.

use crate::{common, reference};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use common::{devices, distance, extents_on, largest, over_ranks, ranks, tolerance, Lex};
use num_complex::Complex64;
use plaq::backend::Device;
use plaq::error::Status;
use plaq::fields::{
    basis, blas, GaugeField, Noise, Precision, Recon, SpinorField, Subset, VectorSet,
};
use plaq::linop::{LinOp, Normal, Shape};
use plaq::operators::{DiracParams, EvenOdd, HermitianWilson, KernelSquare, Wilson};
use plaq::solvers::{
    self, EigenParams, EigenReport, End, Filter, RitzParams, StoppedBy, VectorMemory,
};
use reference::numbers::gauge_numbers;
use reference::{overlap, su3, Gauge, Lattice};

const FLOATS: [Precision; 2] = [Precision::F64, Precision::F32];

/// The complex numbers of each vector, as the host computes with them.
fn vectors(f: &SpinorField) -> Vec<Vec<Complex64>> {
    let numbers = f.save_lex().unwrap();
    let one = numbers.len() / f.nrhs();
    let complex = |v: &[f64]| v.chunks(2).map(|z| Complex64::new(z[0], z[1])).collect();
    numbers.chunks(one).map(complex).collect()
}

fn numbers(v: &[Vec<Complex64>]) -> Vec<f64> {
    v.iter().flatten().flat_map(|z| [z.re, z.im]).collect()
}

fn coefficients(n: usize, seed: u64) -> Vec<Complex64> {
    let mut rng = reference::rng::Rng::new(seed);
    (0..n).map(|_| 0.3 * rng.gaussian()).collect()
}

#[test]
fn operations_on_many_vectors_are_what_the_host_computes() {
    for device in devices() {
        for extents in extents_on(&device).into_iter().map(over_ranks) {
            let geometry = common::geometry(extents, &device);
            for precision in FLOATS {
                for subset in [Subset::Full, Subset::Odd] {
                    let noise = |n, seed| {
                        let mut f =
                            SpinorField::new(&device, &geometry, precision, subset, n).unwrap();
                        f.set_noise(Noise::Normal, seed, 0).unwrap();
                        f
                    };
                    let (v, mut w) = (noise(7, 1), noise(5, 2));
                    let (hv, hw) = (vectors(&v), vectors(&w));
                    let sites = hv[0].len() as f64;
                    let bound = tolerance(precision, 60.0);
                    // Products of vectors 1..7 with 2..5.
                    let g = basis::dots(&v, 1..7, &w, 2..5).unwrap();
                    for (k, z) in g.iter().enumerate() {
                        let (i, j) = (1 + k / 3, 2 + k % 3);
                        let expect: Complex64 =
                            hv[i].iter().zip(&hw[j]).map(|(x, y)| x.conj() * y).sum();
                        assert!((z - expect).norm() < bound * sites, "{i} {j}: {z} {expect}");
                    }
                    // w_j = 0.5 w_j + sum v_i c_ij.
                    for alpha in [0.0, 1.0, -0.5] {
                        let c = coefficients(6 * 3, 5);
                        basis::combine(&v, 1..7, &c, alpha, &mut w, 2..5).unwrap();
                        let mut expect = hw.clone();
                        for j in 0..3 {
                            for (x, e) in expect[2 + j].iter_mut().enumerate() {
                                let sum: Complex64 =
                                    (0..6).map(|i| c[3 * i + j] * hv[1 + i][x]).sum();
                                *e = alpha * *e + sum;
                            }
                        }
                        let found = distance(&w.save_lex().unwrap(), &numbers(&expect));
                        assert!(found < bound, "{precision:?} {subset:?} {alpha}: {found:e}");
                        w = noise(5, 2);
                    }
                    // Five of the vectors 1..7 become combinations; 0 and the last ones stay.
                    let mut r = noise(7, 1);
                    let c = coefficients(6 * 5, 6);
                    basis::rotate(&mut r, 1..7, &c).unwrap();
                    let mut expect = hv.clone();
                    for j in 0..5 {
                        for (x, e) in expect[1 + j].iter_mut().enumerate() {
                            *e = (0..6).map(|i| c[5 * i + j] * hv[1 + i][x]).sum();
                        }
                    }
                    let found = distance(&r.save_lex().unwrap(), &numbers(&expect));
                    assert!(found < bound, "{precision:?} {subset:?}: {found:e}");
                }
            }
        }
    }
}

/// Operations give the same results whether none, some or nearly all of the vectors are on the host.
#[test]
fn vectors_on_the_host_are_those_of_a_field() {
    for device in devices() {
        for extents in extents_on(&device).into_iter().map(over_ranks).take(3) {
            let geometry = common::geometry(extents, &device);
            for (precision, here) in FLOATS.into_iter().flat_map(|p| [23, 9, 1].map(|n| (p, n))) {
                let noise = |n, seed| {
                    let mut f =
                        SpinorField::new(&device, &geometry, precision, Subset::Full, n).unwrap();
                    f.set_noise(Noise::Normal, seed, 0).unwrap();
                    f
                };
                let (v, w) = (noise(23, 1), noise(3, 2));
                let first = v.like_with(precision, here).unwrap();
                let mut set = VectorSet::new(first, 23 - here);
                set.put(0, &v, 0, 23).unwrap();
                assert_eq!((set.count(), set.on_device()), (23, here));
                let bits = |f: &SpinorField| f.save_lex().unwrap();
                assert!(bits(&set.get(0, 23).unwrap()) == bits(&v));
                // The same bits on a CPU, wherever vectors are; a GPU's blocks, which a sum is made of, depend on how
                // many products there are.
                let sites = bits(&w).len() as f64 / 3.0;
                let bound = if device.is_cpu() { 0.0 } else { tolerance(precision, 60.0) * sites };
                let near = |a: &[Complex64], b: &[Complex64]| {
                    a.iter().zip(b).all(|(a, b)| (a - b).norm() <= bound)
                };
                let g = basis::dots(&v, 4..22, &w, 1..3).unwrap();
                assert!(near(&set.dots(4..22, &w, 1..3).unwrap(), &g), "{precision:?} {here}");
                let g = basis::dots(&v, 4..22, &v, 4..22).unwrap();
                assert!(near(&set.gram(4..22).unwrap(), &g), "{precision:?} {here}");
                let c = coefficients(18 * 2, 5);
                for alpha in [0.0, 1.0, -0.5] {
                    let (mut x, mut y) = (noise(3, 2), noise(3, 2));
                    basis::combine(&v, 4..22, &c, alpha, &mut x, 0..2).unwrap();
                    set.combine(4..22, &c, alpha, &mut y, 0..2).unwrap();
                    assert!(distance(&bits(&y), &bits(&x)) < tolerance(precision, 60.0));
                }
                let (mut x, c) = (noise(23, 1), coefficients(18 * 11, 6));
                basis::rotate(&mut x, 4..22, &c).unwrap();
                set.rotate(4..22, &c).unwrap();
                let off = distance(&bits(&set.get(0, 23).unwrap()), &bits(&x));
                assert!(off < tolerance(precision, 60.0), "{precision:?} {here}: {off:e}");
                set.put(2, &w, 1, 2).unwrap();
                assert!(bits(&set.get(2, 2).unwrap()) == bits(&w)[bits(&w).len() / 3..]);
                let single = set.to(Precision::F32).unwrap();
                assert_eq!((single.count(), single.on_device()), (23, here));
                let expect = bits(&set.get(0, 7).unwrap());
                assert!(distance(&bits(&single.get(0, 7).unwrap()), &expect) < 1e-6);
                assert_eq!(set.get(20, 4).unwrap_err().status, Status::FieldMismatch);
                let held = |n: usize| (n * v.held() / 23) as u64;
                let before = device.used().0;
                let set = set.cut(7, here % 2 == 0).unwrap();
                assert_eq!((set.count(), set.on_device()), (7, here.min(7)));
                assert_eq!(before - device.used().0, held(here - here.min(7)));
                assert!(bits(&set.into_field().unwrap()) == expect);
            }
        }
    }
}

/// A search that is short of memory has less room, and keeps some of its vectors on the host if memory is shorter
/// still: eigenvalues are those of a dense matrix, residuals are recomputed, no more memory is taken than there is,
/// and all ranks choose alike even if only one is short.
#[test]
fn short_memory_finds_the_same_vectors() {
    let many = ranks().size() > 1;
    let last = ranks().rank() + 1 == ranks().size();
    let extents = over_ranks(SMALL);
    let u = if many { su3::smooth_gauge(Lattice::new(extents), 0.5, 3) } else { links() };
    let u: Gauge = u.iter().map(su3::reunitarise).collect();
    for device in devices() {
        let op = square(&device, extents, &u, Precision::F64);
        let params = EigenParams { count: 14, tol: 1e-11, ..Default::default() };
        let unlimited =
            solvers::eigen(&op, None, &params, None, &mut solvers::no_monitor).unwrap().1;
        assert!(unlimited.converged && unlimited.verified, "{unlimited:?}");
        let expect = if many { &unlimited.values[..] } else { &dense()[..14] };
        let (full, least) = (unlimited.max_vectors, params.count + 16);
        let memory = |max_vectors| {
            solvers::eigen_memory(&op, &EigenParams { max_vectors, ..params.clone() }).unwrap()
        };
        let (max, few) = (memory(full), memory(least));
        assert!(few < max && full > least + 2, "{few} {max} {full}");
        let vector = op.shape().bytes(1);
        for (vectors, limit, room, on_host) in [
            (VectorMemory::Auto, max, full..full + 1, 0..1),
            (VectorMemory::Auto, max - 1, least..full, 0..1),
            (VectorMemory::Device, few, least..least + 1, 0..1),
            (VectorMemory::Auto, few - 1, least..least + 1, 1..least),
            (VectorMemory::Auto, few - 10 * vector, least..least + 1, 10..least + 3),
            (VectorMemory::Host, max, full..full + 1, full + 2..full + 3),
        ] {
            let params = EigenParams { vectors, ..params.clone() };
            let held = device.used().0;
            device.limit_memory(if last { held + limit } else { u64::MAX });
            let found = solvers::eigen_set(&op, None, &params, None, &mut solvers::no_monitor);
            device.limit_memory(u64::MAX);
            let (set, r) = found.unwrap();
            let what = format!("{vectors:?} {limit} of {max}: {r:?}");
            assert!(r.converged && r.verified && room.contains(&r.max_vectors), "{what}");
            let waiting = r.max_vectors + 3 - r.on_device;
            assert!(on_host.contains(&waiting), "{waiting} {on_host:?} {what}");
            let mine = (r.max_vectors * 1000 + r.on_device).to_ne_bytes();
            assert!(ranks().all_gather(&mine).unwrap().chunks(8).all(|theirs| theirs == mine));
            assert_eq!(set.on_device(), params.count.min(r.on_device), "{what}");
            for (k, value) in expect.iter().enumerate() {
                assert!((r.values[k] - value).abs() < r.bounds[k] + 1e-10, "{k} {what}");
            }
            let (residual, off) = verify(&op, &set.into_field().unwrap(), &r.values);
            let said = largest(r.residuals.iter().copied());
            assert!((residual - said).abs() < 1e-12 && off < 1e-10, "{residual:e} {off:e} {what}");
            assert!(residual < 1e-11 * r.largest, "{what}");
        }
        let refused = |vectors, limit: u64| {
            let params = EigenParams { vectors, ..params.clone() };
            let held = device.used().0;
            device.limit_memory(if last { held + limit } else { u64::MAX });
            device.reset_peak();
            let found = solvers::eigen_set(&op, None, &params, None, &mut solvers::no_monitor);
            device.limit_memory(u64::MAX);
            assert_eq!(found.err().unwrap().status, Status::OutOfMemory);
            assert_eq!(device.used().1, held);
        };
        refused(VectorMemory::Device, few - 1);
        refused(VectorMemory::Auto, 5 * vector);
        refused(VectorMemory::Host, 5 * vector);
    }
}

/// A rotation of many vectors, which works on the sites in pieces, equals one linear combination of whole vectors.
#[test]
fn a_rotation_in_pieces_is_one_combination() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([8, 8, 8, 8]), &device);
        let mut v = SpinorField::new(&device, &geometry, Precision::F64, Subset::Full, 9).unwrap();
        v.set_noise(Noise::Normal, 3, 0).unwrap();
        let c = coefficients(9 * 9, 7);
        let mut w = v.like(Precision::F64).unwrap();
        basis::combine(&v, 0..9, &c, 0.0, &mut w, 0..9).unwrap();
        basis::rotate(&mut v, 0..9, &c).unwrap();
        let minus = blas::uniform(9, -1.0);
        blas::axpy(&minus, &w, &mut v).unwrap();
        assert!(blas::norm2(&v).unwrap().iter().all(|&d| d == 0.0));
    }
}

#[test]
fn vectors_that_do_not_fit_are_refused() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), device);
    let new = |p, s| SpinorField::new(device, &geometry, p, s, 2).unwrap();
    let v = new(Precision::F64, Subset::Full);
    let refused = |w: &SpinorField| basis::dots(&v, 0..2, w, 0..2).unwrap_err().status;
    assert_eq!(refused(&new(Precision::F32, Subset::Full)), Status::FieldMismatch);
    assert_eq!(refused(&new(Precision::F64, Subset::Even)), Status::FieldMismatch);
    assert_eq!(basis::dots(&v, 0..3, &v, 0..1).unwrap_err().status, Status::FieldMismatch);
    let half = new(Precision::F16, Subset::Full);
    assert_eq!(basis::dots(&half, 0..1, &half, 0..1).unwrap_err().status, Status::Unsupported);
    let mut w = new(Precision::F64, Subset::Full);
    let c = [Complex64::ONE; 3];
    assert_eq!(
        basis::combine(&v, 0..2, &c, 1.0, &mut w, 0..2).unwrap_err().status,
        Status::InvalidArgument
    );
    assert_eq!(basis::rotate(&mut w, 0..2, &c).unwrap_err().status, Status::InvalidArgument);
}

pub(crate) const SMALL: [usize; 4] = [2, 2, 2, 4];

pub(crate) fn links() -> Gauge {
    let lat = Lattice::new(SMALL);
    su3::smooth_gauge(lat, 0.5, 3).iter().map(su3::reunitarise).collect()
}

/// Eigenvalues of Q^2 on the small lattice, ascending.
pub(crate) fn dense() -> &'static [f64] {
    static VALUES: OnceLock<Vec<f64>> = OnceLock::new();
    VALUES.get_or_init(|| {
        let params = reference::dirac::Params::wilson(-1.4);
        let (values, _) = overlap::kernel(Lattice::new(SMALL), &links(), params).eigen();
        let mut squares: Vec<f64> = values.iter().map(|l| l * l).collect();
        squares.sort_by(f64::total_cmp);
        squares
    })
}

pub(crate) fn square(
    device: &Device,
    extents: [usize; 4],
    links: &Gauge,
    precision: Precision,
) -> KernelSquare {
    let geometry = common::geometry(extents, device);
    let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.load_lex(&gauge_numbers(links)).unwrap();
    let params = DiracParams { mass: -1.4, ..Default::default() };
    let op = Wilson::new(Arc::new(u), params).unwrap().to(precision, Recon::R12).unwrap();
    KernelSquare(Arc::new(HermitianWilson::new(Arc::new(op)).unwrap()))
}

/// The residual |A v - lambda v| of every vector, and the largest violation of orthonormality.
pub(crate) fn verify(op: &dyn LinOp, v: &SpinorField, values: &[f64]) -> (f64, f64) {
    let n = v.nrhs();
    let mut r = v.like(v.precision()).unwrap();
    op.apply(&mut r, v).unwrap();
    let minus: Vec<f64> = values.iter().map(|l| -l).collect();
    blas::axpy(&blas::complex(&minus), v, &mut r).unwrap();
    let residual = largest(blas::norm2(&r).unwrap().into_iter().map(f64::sqrt));
    let g = basis::dots(v, 0..n, v, 0..n).unwrap();
    let off = |k: usize| (g[k] - if k / n == k % n { 1.0 } else { 0.0 }).norm();
    (residual, largest((0..n * n).map(off)))
}

#[test]
fn lanczos_finds_both_ends_of_a_dense_spectrum() {
    if common::ranks().size() > 1 {
        return;
    }
    let exact = dense();
    for device in devices() {
        for precision in FLOATS {
            let op = square(&device, SMALL, &links(), precision);
            for (end, block, filter) in [
                (End::Smallest, 1, Filter::Auto),
                (End::Smallest, 3, Filter::Auto),
                (End::Smallest, 1, Filter::Plain),
                (End::Smallest, 2, Filter::Chebyshev { degree: 12, from: 1.5, to: 40.0 }),
                (End::Largest, 1, Filter::Plain),
                (End::Largest, 2, Filter::Auto),
            ] {
                let tol = if precision == Precision::F64 { 1e-11 } else { 2e-6 };
                let params =
                    EigenParams { end, count: 9, block, tol, filter, ..Default::default() };
                let (v, report) =
                    solvers::eigen(&op, None, &params, None, &mut solvers::no_monitor).unwrap();
                let what = format!("{precision:?} {end:?} {block} {filter:?}: {report:?}");
                assert!(report.converged, "{what}");
                let top = exact[exact.len() - 1];
                let (residual, off) = verify(&op, &v, &report.values);
                assert!(
                    residual < 2.0 * tol * top && off < 1e3 * precision.epsilon(),
                    "{what} {off:e}"
                );
                for k in 0..9 {
                    let expect =
                        if end == End::Smallest { exact[k] } else { exact[exact.len() - 1 - k] };
                    let error = (report.values[k] - expect).abs();
                    // Rounding of either operator beside the residual's bound, and of the dense products.
                    let rounding = 40.0 * precision.epsilon() + exact.len() as f64 * f64::EPSILON;
                    let bound = report.bounds[k] + rounding * top;
                    assert!(error < bound, "{k}: {error:e} > {bound:e}, {what}");
                }
                assert!(report.largest >= 0.999 * top || filter != Filter::Auto);
            }
        }
    }
}

/// A search takes saved vectors as they are; starting with half of them it finds the others.
#[test]
fn a_search_goes_on_from_saved_vectors() {
    for device in devices() {
        let extents = over_ranks([4, 4, 2, 4]);
        let lat = Lattice::new(extents);
        let u: Gauge = su3::smooth_gauge(lat, 0.5, 4).iter().map(su3::reunitarise).collect();
        let op = square(&device, extents, &u, Precision::F64);
        let params = EigenParams { count: 8, tol: 1e-10, ..Default::default() };
        let run = |params: &EigenParams, guess: Option<&SpinorField>| {
            solvers::eigen(&op, None, params, guess, &mut solvers::no_monitor).unwrap()
        };
        let (v, first) = run(&params, None);
        assert!(first.converged, "{first:?}");
        let (_, again) = run(&EigenParams { verify: false, ..params.clone() }, Some(&v));
        assert!(again.converged && again.restarts == 0, "{again:?}");
        let mut half = op.shape().field(4).unwrap();
        half.copy_rhs(0, &v, 0, 4).unwrap();
        let (_, more) = run(&params, Some(&half));
        assert!(more.converged, "{more:?}");
        for (a, b) in first.values.iter().zip(&more.values) {
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
    }
}

/// Eigenvalues of high multiplicity are all found: on unit links every eigenvalue of Q^2 is at least twelvefold.
#[test]
fn eigenvalues_of_high_multiplicity_are_all_found() {
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 4]);
        let lat = Lattice::new(extents);
        let op = square(&device, extents, &su3::unit_gauge(lat), Precision::F64);
        let mut exact: Vec<f64> = (0..lat.volume())
            .flat_map(|k| {
                let p: Vec<f64> = (0..4)
                    .map(|mu| {
                        let half = if mu == 3 { 0.5 } else { 0.0 };
                        std::f64::consts::TAU * (lat.coords(k)[mu] as f64 + half)
                            / extents[mu] as f64
                    })
                    .collect();
                let w = p.iter().map(|p| 1.0 - p.cos()).sum::<f64>() - 1.4;
                vec![w * w + p.iter().map(|p| p.sin().powi(2)).sum::<f64>(); 12]
            })
            .collect();
        exact.sort_by(f64::total_cmp);
        for (count, block) in [(14, 6), (14, 1), (40, 1), (100, 3)] {
            let params = EigenParams { count, block, tol: 1e-10, ..Default::default() };
            let (_, report) =
                solvers::eigen(&op, None, &params, None, &mut solvers::no_monitor).unwrap();
            assert!(report.converged && report.verified, "{report:?}");
            for (k, v) in report.values.iter().enumerate() {
                assert!((v - exact[k]).abs() < 1e-8, "{count} {block} {k}: {v} {}", exact[k]);
            }
        }
        let params = RitzParams { count: 14, tol: 1e-8, ..Default::default() };
        let (_, report) = solvers::ritz(&op, &params, None, &mut solvers::no_monitor).unwrap();
        assert!(report.converged && report.verified, "{report:?}");
        let off = report.values.iter().zip(&exact).map(|(v, e)| (v - e).abs());
        assert!(largest(off) < 1e-8, "{report:?}");
    }
}

/// The operator M^dagger M of the Schur complement on links near the unit matrix, and all of its eigenvalues in
/// ascending order.
fn schur(extents: [usize; 4]) -> (Normal, Vec<f64>) {
    let device = &devices()[0];
    let geometry = common::geometry(extents, device);
    let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(1, 0.3).unwrap();
    let params = DiracParams { mass: -0.3, csw: 1.0, csw_t: 1.0, ..Default::default() };
    let wilson = Arc::new(Wilson::new(Arc::new(u), params).unwrap());
    let op = Normal::mdag_m(Arc::new(EvenOdd::new(wilson, 0, true)));
    // Images of unit vectors: those of odd sites vanish.
    let all = 12 * Lattice::new(extents).volume();
    let mut unit = op.shape().field(all).unwrap();
    let one = |k: usize| if k % (2 * all) == 2 * (k / (2 * all)) { 1.0 } else { 0.0 };
    unit.load_lex(&(0..2 * all * all).map(one).collect::<Vec<f64>>()).unwrap();
    let mut image = op.shape().field(all).unwrap();
    op.apply(&mut image, &unit).unwrap();
    let columns = vectors(&image);
    let own: Vec<usize> = (0..all).filter(|&k| columns[k][k] != Complex64::ZERO).collect();
    let n = own.len();
    assert_eq!(n, all / 2);
    let a = own.iter().flat_map(|&i| own.iter().map(move |&j| (i, j)));
    let a = a.map(|(i, j)| columns[j][i]).collect();
    let (mut values, _) = overlap::Dense { n, a }.eigen();
    values.sort_by(f64::total_cmp);
    (op, values)
}

/// Searches find the lowest or largest eigenvalues without a gap for any number of vectors up to the dimension.
/// Eigenvalues 40 and 60 of 192 are also known from another program.
#[test]
fn no_eigenvalue_is_missing() {
    if ranks().size() > 1 {
        return;
    }
    let (op, exact) = schur(SMALL);
    let n = exact.len();
    assert!((exact[39] - 0.50208).abs() < 1e-5 && (exact[59] - 0.66201).abs() < 1e-5);
    let check = |params: EigenParams| {
        let (v, r) = solvers::eigen(&op, None, &params, None, &mut solvers::no_monitor).unwrap();
        let what = format!("{params:?} {r:?}");
        assert!(r.converged && r.verified, "{what}");
        for (k, value) in r.values.iter().enumerate() {
            let expect = if params.end == End::Smallest { exact[k] } else { exact[n - 1 - k] };
            assert!((value - expect).abs() < 1e-8 * exact[n - 1], "{k}: {value} {expect} {what}");
        }
        let (residual, off) = verify(&op, &v, &r.values);
        assert!(residual < 2e-10 * exact[n - 1] && off < 1e-11, "{residual:e} {off:e} {what}");
    };
    for end in [End::Smallest, End::Largest] {
        for count in [1, 20, 40, 60, 90, 140, 189, 192] {
            check(EigenParams { count, end, ..Default::default() });
        }
    }
    // With room for fewer vectors than half of the dimension: a wide part of the spectrum by Lanczos, and Chebyshev
    // filters whose interval holds some wanted eigenvalues, or misses some or all of the unwanted ones.
    let (low, high) = (exact[0], exact[n - 1]);
    for (degree, from, to) in [
        (0, 0.0, 0.0),
        (1, 0.0, 0.0),
        (8, exact[10], high),
        (9, exact[70], exact[120]),
        (8, 0.5 * low, 2.0 * high),
        (12, 2.0 * high, 3.0 * high),
    ] {
        let filter = match degree {
            0 => Filter::Auto,
            1 => Filter::Plain,
            _ => Filter::Chebyshev { degree, from, to },
        };
        check(EigenParams { count: 60, max_vectors: 90, filter, ..Default::default() });
        check(EigenParams { count: 8, filter, end: End::Largest, ..Default::default() });
    }
    let more = EigenParams { count: n + 1, ..Default::default() };
    let error = solvers::eigen(&op, None, &more, None, &mut solvers::no_monitor).unwrap_err();
    assert_eq!(error.status, Status::BadParameter);
    // What has not been looked at is not called verified; what could not be is not called converged.
    let unasked = EigenParams { count: 4, verify: false, ..Default::default() };
    let (_, r) = solvers::eigen(&op, None, &unasked, None, &mut solvers::no_monitor).unwrap();
    assert!(r.converged && !r.verified, "{r:?}");
    let (v, _) = solvers::eigen(
        &op,
        None,
        &EigenParams { count: 5, ..unasked },
        None,
        &mut solvers::no_monitor,
    )
    .unwrap();
    let mut wrong = op.shape().field(4).unwrap();
    wrong.copy_rhs(0, &v, 1, 4).unwrap();
    let few = EigenParams { count: 4, max_restarts: 1, ..Default::default() };
    let (_, r) = solvers::eigen(&op, None, &few, Some(&wrong), &mut solvers::no_monitor).unwrap();
    assert!(!r.converged && !r.verified, "{r:?}");
    let enough = EigenParams { max_restarts: 50, ..few };
    let (_, r) =
        solvers::eigen(&op, None, &enough, Some(&wrong), &mut solvers::no_monitor).unwrap();
    assert!(r.converged && (r.values[0] - low).abs() < 1e-8 * high, "{r:?}");
}

/// A search finds some of the many copies of the largest eigenvalue of P^dagger P on unit links, with space for only
/// a few copies more; and a single copy in a few products.
#[test]
fn a_part_of_a_level_of_high_multiplicity() {
    for device in devices() {
        let extents = over_ranks([4, 4, 4, 8]);
        let geometry = common::geometry(extents, &device);
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_unit().unwrap();
        let params = DiracParams { mass: 1.0, ..Default::default() };
        let kappa = 0.5 / (params.mass + 4.0);
        let wilson = Arc::new(Wilson::new(Arc::new(u), params).unwrap());
        let op = Normal::mdag_m(Arc::new(EvenOdd::new(wilson, 0, true)));
        let lat = Lattice::new(extents);
        // P = 1 - kappa^2 h^2 with h = 2 sum cos p + 2 i sqrt(sum sin^2 p) and its conjugate.
        let value = |k: usize| {
            let x = lat.coords(k);
            let p = |mu: usize| {
                let half = if mu == 3 { 0.5 } else { 0.0 };
                std::f64::consts::TAU * (x[mu] as f64 + half) / extents[mu] as f64
            };
            let re = (0..4).map(|mu| p(mu).cos()).sum::<f64>();
            let im = (0..4).map(|mu| p(mu).sin().powi(2)).sum::<f64>().sqrt();
            let h = 2.0 * kappa * Complex64::new(re, im);
            (1.0 - h * h).norm_sqr()
        };
        let all: Vec<f64> = (0..lat.volume()).map(value).collect();
        let max = all.iter().copied().fold(0.0, f64::max);
        // Six for each momentum, of which p and p + pi are the same vector.
        assert!(6 * all.iter().filter(|v| max - **v < 1e-9).count() >= 72);
        for filter in [Filter::Plain, Filter::Auto] {
            let one = EigenParams { end: End::Largest, filter, tol: 1e-10, ..Default::default() };
            for (count, max_vectors) in [(30, 64), (1, 96)] {
                let params = EigenParams { count, max_vectors, max_restarts: 100, ..one.clone() };
                let (v, r) =
                    solvers::eigen(&op, None, &params, None, &mut solvers::no_monitor).unwrap();
                assert!(r.converged && r.verified, "{r:?}");
                assert!(r.values.iter().all(|v| (v - max).abs() < 1e-9), "{max} {r:?}");
                let (residual, off) = verify(&op, &v, &r.values);
                assert!(residual < 2e-10 && off < 1e-11, "{residual:e} {off:e}");
                assert!(count > 1 || filter == Filter::Auto || r.applications < 300, "{r:?}");
            }
        }
    }
}

/// All eigenvectors of a small operator are found, in double and in single precision.
#[test]
fn all_eigenvectors_of_a_small_operator() {
    if ranks().size() > 1 {
        return;
    }
    let (op, exact) = schur([2, 2, 2, 2]);
    for count in [90, 93, 96] {
        let params = EigenParams { count, ..Default::default() };
        let (_, r) = solvers::eigen(&op, None, &params, None, &mut solvers::no_monitor).unwrap();
        assert!(r.converged && r.stopped_by == Some(StoppedBy::Residual), "{r:?}");
        let off = r.values.iter().zip(&exact).map(|(a, b)| (a - b).abs());
        assert!(largest(off) < 1e-11 * exact[95], "{r:?}");
        let params = RitzParams { count, tol: 1e-9, ..Default::default() };
        let (_, r) = solvers::ritz(&op, &params, None, &mut solvers::no_monitor).unwrap();
        assert!(r.converged && r.verified && r.values.len() == count, "{r:?}");
    }
    let single = square(&devices()[0], SMALL, &links(), Precision::F32);
    let params = EigenParams { count: 384, ..Default::default() };
    let (_, r) = solvers::eigen(&single, None, &params, None, &mut solvers::no_monitor).unwrap();
    assert!(r.converged, "{r:?}");
    let off = r.values.iter().zip(dense()).map(|(a, b)| (a - b).abs());
    assert!(largest(off) < 1e-5 * dense()[383]);
}

/// Minimising the Ritz functional finds one vector with the eigenvalue that Lanczos finds, at either end of the
/// spectrum, in about as many products.
#[test]
fn the_ritz_functional_takes_about_as_many_products_as_lanczos() {
    for device in devices().iter().step_by(2) {
        let extents = over_ranks([4, 4, 4, 8]);
        let geometry = common::geometry(extents, device);
        let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_near_unit(1, 0.4).unwrap();
        let params = DiracParams { mass: 0.2, ..Default::default() };
        let op = Normal::mdag_m(Arc::new(Wilson::new(Arc::new(u), params).unwrap()));
        for end in [End::Smallest, End::Largest] {
            let lanczos = EigenParams { count: 1, end, tol: 1e-10, ..Default::default() };
            let (_, a) =
                solvers::eigen(&op, None, &lanczos, None, &mut solvers::no_monitor).unwrap();
            let tol = 1e-10 * a.largest;
            let params = RitzParams { end, tol, ..Default::default() };
            let (v, b) = solvers::ritz(&op, &params, None, &mut solvers::no_monitor).unwrap();
            println!("{end:?}: {} products, Lanczos {}", b.applications, a.applications);
            assert!(a.converged && b.converged && b.verified, "{a:?} {b:?}");
            let params = RitzParams { verify: false, ..params };
            let (_, alone) = solvers::ritz(&op, &params, None, &mut solvers::no_monitor).unwrap();
            println!("without verification: {} products", alone.applications);
            assert!(alone.converged && !alone.verified, "{alone:?}");
            assert!(alone.applications < 1500 && b.applications < 4000, "{alone:?} {b:?}");
            assert!((a.values[0] - b.values[0]).abs() < 1e-9 * a.largest, "{a:?} {b:?}");
            let (residual, _) = verify(&op, &v, &b.values);
            assert!(residual < 1.1 * tol, "{residual:e} {tol:e}");
        }
    }
}

#[test]
fn the_ritz_functional_and_lanczos_agree_within_their_bounds() {
    for device in devices() {
        let extents = over_ranks([2, 2, 4, 4]);
        let lat = Lattice::new(extents);
        let u: Gauge = su3::smooth_gauge(lat, 0.5, 9).iter().map(su3::reunitarise).collect();
        let op = square(&device, extents, &u, Precision::F64);
        let lanczos = EigenParams { count: 3, tol: 1e-11, ..Default::default() };
        let (_, a) = solvers::eigen(&op, None, &lanczos, None, &mut solvers::no_monitor).unwrap();
        let ritz = RitzParams { count: 3, tol: 1e-5, ..Default::default() };
        let (v, b) = solvers::ritz(&op, &ritz, None, &mut solvers::no_monitor).unwrap();
        assert!(a.converged && b.converged, "{a:?} {b:?}");
        let (residual, off) = verify(&op, &v, &b.values);
        assert!(residual < 1.1e-5 && off < 1e-12, "{residual:e} {off:e}");
        for k in 0..3 {
            let bound = a.bounds[k] + b.bounds[k] + 1e-12;
            assert!((a.values[k] - b.values[k]).abs() < bound, "{k} {:?} {:?}", a, b);
        }
        let largest = RitzParams { end: End::Largest, count: 2, tol: 1e-3, ..ritz };
        let (_, c) = solvers::ritz(&op, &largest, None, &mut solvers::no_monitor).unwrap();
        assert!(c.converged && c.values[0] >= c.values[1] && c.values[0] <= a.largest, "{c:?}");
    }
}

#[test]
fn an_operator_in_single_precision_inside_gives_the_same_modes() {
    for device in devices() {
        let extents = over_ranks([4, 4, 2, 4]);
        let lat = Lattice::new(extents);
        let u: Gauge = su3::smooth_gauge(lat, 0.5, 4).iter().map(su3::reunitarise).collect();
        let op = square(&device, extents, &u, Precision::F64);
        let cheap = square(&device, extents, &u, Precision::F32);
        let params = EigenParams { count: 6, tol: 1e-6, ..Default::default() };
        let run = |cheap: Option<&dyn LinOp>| {
            solvers::eigen(&op, cheap, &params, None, &mut solvers::no_monitor).unwrap().1
        };
        let (a, b) = (run(None), run(Some(&cheap)));
        assert!(a.converged && b.converged, "{b:?}");
        for k in 0..6 {
            assert!((a.values[k] - b.values[k]).abs() < a.bounds[k] + b.bounds[k] + 1e-12);
        }
    }
}

/// An operator that sleeps for a given time in each product.
struct Slow(KernelSquare, Duration);

impl LinOp for Slow {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> plaq::error::Result<()> {
        std::thread::sleep(self.1 * inp.nrhs() as u32);
        self.0.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        self.0.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.0.bytes(nrhs)
    }
}

/// The time limit of one rank ends a search on all ranks after the same step, and the results agree with the report.
#[test]
fn time_is_over_on_all_ranks_at_once() {
    let extents = over_ranks([4, 2, 2, 4]);
    let u = su3::smooth_gauge(Lattice::new(extents), 0.5, 4);
    let u: Gauge = u.iter().map(su3::reunitarise).collect();
    let last = ranks().rank() + 1 == ranks().size();
    for device in devices().iter().step_by(2) {
        let op = square(device, extents, &u, Precision::F64);
        let slow = Slow(square(device, extents, &u, Precision::F64), Duration::from_millis(4));
        // Lanczos in its first steps and later, the Ritz functional.
        let run = |op: &dyn LinOp, method: usize, max_seconds: f64| {
            let lanczos = EigenParams { count: 3, max_seconds, ..Default::default() };
            let ritz = RitzParams { count: 3, tol: 1e-6, max_seconds, ..Default::default() };
            match method {
                2 => solvers::ritz(op, &ritz, None, &mut solvers::no_monitor).unwrap(),
                _ => solvers::eigen(op, None, &lanczos, None, &mut solvers::no_monitor).unwrap(),
            }
        };
        for (method, seconds) in [(0, 0.03), (1, 0.4), (2, 0.15)] {
            let (v, r) = run(&slow, method, if last { seconds } else { 1e6 });
            let what = format!("{method} {r:?}");
            assert!(
                r.stopped && !r.converged && r.stopped_by == Some(StoppedBy::Seconds),
                "{what}"
            );
            // A block of Lanczos is as many applications as its polynomial has degrees.
            let max = (seconds / 0.004) as usize + r.degree + 16;
            assert!(r.applications > 3 && r.applications <= max as u64, "{max} {what}");
            let n = v.nrhs();
            assert!(n <= 3 && r.values.len() == n && r.residuals.len() == n, "{what}");
            let (residual, off) = verify(&op, &v, &r.values);
            let said = largest(r.residuals.iter().copied());
            assert!((residual - said).abs() < 1e-8 * said && off < 1e-10, "{residual:e} {what}");
            let mine = r.applications.to_ne_bytes();
            let all = ranks().all_gather(&mine).unwrap();
            assert!(all.chunks(8).all(|theirs| theirs == mine), "{what}");
        }
        // Enough time changes nothing.
        let same = |a: &EigenReport, b: &EigenReport| {
            (&a.values, a.applications, a.stopped_by) == (&b.values, b.applications, b.stopped_by)
        };
        for method in [0, 2] {
            let (a, b) = (run(&op, method, 1e6).1, run(&op, method, f64::INFINITY).1);
            assert!(a.converged && !a.stopped && same(&a, &b), "{a:?} {b:?}");
            assert_eq!(a.stopped_by, Some(StoppedBy::Residual));
        }
        // Too few restarts are another limit.
        let few = EigenParams { count: 3, max_restarts: 1, ..Default::default() };
        let (_, r) = solvers::eigen(&op, None, &few, None, &mut solvers::no_monitor).unwrap();
        assert!(!r.converged && r.stopped_by == Some(StoppedBy::Iterations), "{r:?}");
    }
}

#[test]
fn what_cannot_be_is_refused_and_callbacks_stop() {
    let device = &devices()[0];
    let extents = over_ranks([4, 2, 2, 4]);
    let u = su3::smooth_gauge(Lattice::new(extents), 0.5, 4);
    let u: Gauge = u.iter().map(su3::reunitarise).collect();
    let op = square(device, extents, &u, Precision::F64);
    let status = |params: EigenParams| {
        solvers::eigen(&op, None, &params, None, &mut solvers::no_monitor).unwrap_err().status
    };
    let good = EigenParams::default();
    assert_eq!(status(EigenParams { count: 0, ..good.clone() }), Status::BadParameter);
    assert_eq!(status(EigenParams { count: 1 << 30, ..good.clone() }), Status::BadParameter);
    assert_eq!(status(EigenParams { tol: -1.0, ..good.clone() }), Status::BadParameter);
    for max_seconds in [-1.0, f64::NAN] {
        assert_eq!(status(EigenParams { max_seconds, ..good.clone() }), Status::BadParameter);
        let ritz = RitzParams { max_seconds, ..Default::default() };
        let error = solvers::ritz(&op, &ritz, None, &mut solvers::no_monitor).unwrap_err();
        assert_eq!(error.status, Status::BadParameter);
    }
    let upside_down = Filter::Chebyshev { degree: 8, from: 2.0, to: 1.0 };
    assert_eq!(status(EigenParams { filter: upside_down, ..good.clone() }), Status::BadParameter);
    let half = square(device, extents, &u, Precision::F16);
    let error = solvers::eigen(&half, None, &good, None, &mut solvers::no_monitor).unwrap_err();
    assert_eq!(error.status, Status::Unsupported);
    let error = solvers::eigen(&*half.0.op().clone(), None, &good, None, &mut solvers::no_monitor)
        .unwrap_err();
    assert_eq!(error.status, Status::Unsupported);
    let mut stop = |_: &solvers::Progress| std::ops::ControlFlow::Break(());
    let (_, report) = solvers::eigen(&op, None, &good, None, &mut stop).unwrap();
    assert!(report.stopped && !report.converged && report.restarts <= 2, "{report:?}");
    assert_eq!(report.stopped_by, Some(StoppedBy::Callback));
    // Of a large basis it hears before the basis is full.
    let mut heard = vec![];
    let mut stop = |p: &solvers::Progress| {
        heard.push(p.iteration);
        std::ops::ControlFlow::Break(())
    };
    let many = EigenParams { count: 20, filter: Filter::Plain, ..good };
    let (_, report) = solvers::eigen(&op, None, &many, None, &mut stop).unwrap();
    assert!(report.stopped && heard == [0], "{heard:?} {report:?}");
}
