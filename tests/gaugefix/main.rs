//! Tests of gauge fixing against the reference: sweeps, reports, transformations.

mod accuracy;
mod annealing;
mod fourier;
mod hot_start;
mod identities;
mod stopping;

use crate::{common, reference};
use std::sync::Arc;

use common::{devices, largest, lattices, over_ranks, storage_factor, tolerance, Lex};
use plaq::backend::Device;
use plaq::error::Status;
use plaq::fields::{GaugeField, Geometry, Group, Precision, Recon, Transformation};
use plaq::ops::gaugefix::{
    fix_gauge, Algorithm, Condition, GaugeFixParams, GaugeFixed, Method, Progress, Quality, Stop,
    Working,
};
use reference::gaugefix as slow;
use reference::matrix::{distance, mul, one, scale, Matrix};
use reference::numbers::{gauge_from, gauge_numbers};
use reference::{su3, Gauge, GaugeN, Lattice, C};

type Form = (Precision, Recon);

fn field<const N: usize>(
    device: &Device,
    geometry: &Arc<Geometry>,
    links: &GaugeN<N>,
    (precision, recon): Form,
) -> GaugeField {
    let mut u = GaugeField::new(device, geometry, precision, recon).unwrap();
    u.load_lex(&gauge_numbers(links)).unwrap();
    u
}

/// The storage of links that keeps every matrix element, in double precision.
fn whole<const N: usize>() -> Form {
    (Precision::F64, if N == 3 { Recon::R18 } else { Recon::Su2 })
}

fn theta_below(theta: f64) -> Stop {
    Stop { theta, theta_max: 0.0, change: 0.0 }
}

/// Default parameters with overrelaxation.
fn relaxing(condition: Condition) -> GaugeFixParams {
    GaugeFixParams { method: Method::Overrelaxation, ..GaugeFixParams::new(condition) }
}

fn quietly(gauge: &GaugeField, params: &GaugeFixParams) -> GaugeFixed {
    fix_gauge(gauge, params, &mut |_| false).unwrap()
}

/// Fixes a gauge field and returns the report with the callback's arguments at each check.
fn watched(gauge: &GaugeField, params: &GaugeFixParams) -> (GaugeFixed, Vec<Progress>) {
    let mut told = vec![];
    let fixed = fix_gauge(gauge, params, &mut |progress| {
        told.push(*progress);
        false
    });
    (fixed.unwrap(), told)
}

/// The matrices of all ranks by lexicographic site.
fn matrices<const N: usize>(g: &Transformation) -> Vec<Matrix<N>> {
    let (geometry, mine) = (g.geometry(), g.to_array().unwrap());
    let comm = geometry.comm();
    let bytes = comm.all_gather(bytemuck::cast_slice(&mine)).unwrap();
    let all: Vec<C> = bytes
        .chunks_exact(16)
        .map(|z| {
            let half = |at: usize| f64::from_ne_bytes(z[at..at + 8].try_into().unwrap());
            C::new(half(0), half(8))
        })
        .collect();
    let (lat, part) = (Lattice::new(geometry.global_extents()), Lattice::new(geometry.extents()));
    let mut out = vec![one(); lat.volume()];
    for (n, z) in all.chunks_exact(N * N).enumerate() {
        let at = comm.coords_of(n / part.volume());
        let x = part.coords(n % part.volume());
        let lex = lat.lex(std::array::from_fn(|mu| at[mu] * part.extents[mu] + x[mu]));
        out[lex] = std::array::from_fn(|i| std::array::from_fn(|j| z[N * i + j]));
    }
    out
}

fn furthest<const N: usize>(a: &[Matrix<N>], b: &[Matrix<N>]) -> f64 {
    assert_eq!(a.len(), b.len());
    largest(a.iter().zip(b).map(|(a, b)| distance(a, b)))
}

fn conditions() -> Vec<Condition> {
    let mut all: Vec<Condition> = (0..4).map(|time| Condition::Coulomb { time }).collect();
    all.push(Condition::Landau);
    all.extend([false, true].map(|residual| Condition::MaximallyAbelian { residual }));
    all
}

/// The reference's name of a condition, which stands for its first functional.
fn slowly(condition: Condition) -> slow::Condition {
    match condition {
        Condition::Landau => slow::Condition::Landau,
        Condition::Coulomb { time } => slow::Condition::Coulomb { time },
        Condition::MaximallyAbelian { .. } => slow::Condition::MaximallyAbelian,
    }
}

/// A smooth field far from its gauge, with matrices in the group to rounding.
fn rough<const N: usize>(lat: Lattice, epsilon: f64, seed: u64) -> GaugeN<N> {
    let g = su3::random_transformation(lat, seed + 1);
    let links = su3::transform(lat, &su3::smooth_gauge::<N>(lat, epsilon, seed), &g);
    links.iter().map(su3::reunitarise).collect()
}

/// Runs `sweeps` sweeps of overrelaxation by the reference from g = 1, and as many of the residual gauge if the
/// condition has one.
fn swept<const N: usize>(
    lat: Lattice,
    links: &GaugeN<N>,
    condition: Condition,
    (omega, sweeps): (f64, usize),
) -> Vec<Matrix<N>> {
    let mut g = vec![one(); lat.volume()];
    let residual = condition == Condition::MaximallyAbelian { residual: true };
    let functionals = [(slowly(condition), true), (slow::Condition::AbelianLandau, residual)];
    for (functional, _) in functionals.into_iter().filter(|(_, wanted)| *wanted) {
        for _ in 0..sweeps {
            slow::sweep(lat, links, &mut g, functional, slow::Step::FirstOrder(omega));
        }
    }
    g
}

/// Links multiplied by random rotations with angles of the size `epsilon`.
fn shaken<const N: usize>(links: &GaugeN<N>, epsilon: f64) -> GaugeN<N> {
    let mut rng = reference::rng::Rng::new(60);
    links
        .iter()
        .map(|u| {
            let turn = scale(C::new(epsilon, 0.0), &su3::random_hermitian(&mut rng));
            mul(&su3::exp_i(&turn), u)
        })
        .collect()
}

/// Compares F and theta of the report with the reference's for the same links and transformation.
fn same_quality(found: &Quality, expected: &slow::Quality, tol: f64, what: &str) {
    let f = (found.functional - expected.functional).abs();
    let theta = (found.theta - expected.theta).abs();
    assert!(f < tol && theta < tol * (1.0 + expected.theta), "{what}: {found:?}, {expected:?}");
    // Rounding of the worst site is not averaged over sites.
    let max = (found.theta_max - expected.theta_max).abs();
    assert!(max < 10.0 * tol * (1.0 + expected.theta_max), "{what}: {found:?}, {expected:?}");
}

/// Checks that the report's numbers are those of the returned links and transformation.
fn report_is_true<const N: usize>(
    lat: Lattice,
    links: &GaugeN<N>,
    g: &[Matrix<N>],
    (condition, fixed): (Condition, &GaugeFixed),
    tol: f64,
    what: &str,
) {
    let best = &fixed.report.best;
    let main = slowly(condition);
    same_quality(&best.total.quality(), &slow::quality_of(lat, links, g, main), tol, what);
    let v = su3::transform(lat, links, g);
    match condition {
        Condition::Coulomb { time } => {
            assert_eq!(best.slices.len(), lat.extents[time], "{what}");
            for (at, found) in best.slices.iter().enumerate() {
                let sites = slow::slice(lat, time, at);
                let expected = slow::quality(lat, &v, main, &sites);
                same_quality(&found.quality(), &expected, tol, &format!("{what} slice {at}"));
            }
        }
        _ => assert!(best.slices.is_empty(), "{what}"),
    }
    assert_eq!(
        best.residual.is_some(),
        condition == Condition::MaximallyAbelian { residual: true },
        "{what}"
    );
    if let Some(found) = best.residual {
        let expected = slow::quality_of(lat, links, g, slow::Condition::AbelianLandau);
        same_quality(&found.quality(), &expected, tol, what);
    }
}

/// Checks that each sweep agrees with the reference, from the same start with the same omega.
fn sweeps_match<const N: usize>(extents: [usize; 4]) {
    const SWEEPS: usize = 3;
    let lat = Lattice::new(extents);
    let links = rough::<N>(lat, 0.4, 61);
    for condition in conditions() {
        let run = (1.6, SWEEPS);
        let expected = swept(lat, &links, condition, run);
        // An update divides by the length of a sum of eight links, which is small on a few sites, and sweeps pass
        // rounding on. The reference, with links that are changed by a few roundings, tells how large the result is.
        let rounding = |p: Precision| {
            let epsilon = 4.0 * p.epsilon();
            furthest(&swept(lat, &shaken(&links, epsilon), condition, run), &expected)
        };
        let allowed = [Precision::F64, Precision::F32].map(|p| 10.0 * rounding(p));
        assert!(allowed[0] < 1e-10 && allowed[1] < 0.1, "{allowed:?}");
        for device in devices().into_iter().filter(|d| serves(d, extents)) {
            let geometry = common::geometry(extents, &device);
            let u = field(&device, &geometry, &links, whole::<N>());
            let before = u.save_lex().unwrap();
            for (precision, allowed) in [Working::Double, Working::Single].into_iter().zip(allowed)
            {
                let params = GaugeFixParams {
                    omega: run.0,
                    stop: theta_below(1e-30),
                    max_iterations: SWEEPS,
                    check_every: 1,
                    precision,
                    ..relaxing(condition)
                };
                let fixed = quietly(&u, &params);
                let what =
                    format!("SU({N}) {extents:?} {condition:?} {precision:?} on {}", device.name());
                let total = fixed.report.best.total;
                assert_eq!((total.iterations, total.converged), (SWEEPS, false), "{what}");
                let g = matrices::<N>(&fixed.transformation);
                let off = furthest(&g, &expected);
                println!("{what}: {off:e} of {allowed:e}");
                assert!(off < allowed, "{what}: {off:e}, allowed {allowed:e}");
                // For any precision of the sweeps the results and reports are in double.
                let tol = tolerance(Precision::F64, 64.0);
                report_is_true(lat, &links, &g, (condition, &fixed), tol, &what);
                assert!(g.iter().all(|m| su3::unitarity_violation(m) < tol), "{what}");
                let made: GaugeN<N> = gauge_from(&fixed.gauge.save_lex().unwrap());
                assert!(furthest(&made, &su3::transform(lat, &links, &g)) < tol, "{what}");
                // The given field is unchanged.
                assert!(u.save_lex().unwrap() == before, "{what}");
            }
        }
    }
}

/// More lattices to test. 6 x 4 x 2 x 8 has lanes in two directions only. A GPU, which has no lanes and compiles
/// kernels for every lattice and condition, gets two lattices.
fn more_lattices() -> Vec<[usize; 4]> {
    lattices().into_iter().chain([over_ranks([6, 4, 2, 8])]).collect()
}
fn serves(device: &Device, extents: [usize; 4]) -> bool {
    device.is_cpu() || [[4, 6, 4, 8], [6, 4, 2, 8]].map(over_ranks).contains(&extents)
}

#[test]
fn sweeps_match_the_reference_su3() {
    more_lattices().into_iter().for_each(sweeps_match::<3>);
}

#[test]
fn sweeps_match_the_reference_su2() {
    more_lattices().into_iter().for_each(sweeps_match::<2>);
}

/// Links of every storage are fixed and returned in the same storage; results differ only by its rounding.
#[test]
fn every_storage_of_links_is_fixed() {
    let extents = over_ranks([4, 4, 4, 8]);
    let lat = Lattice::new(extents);
    for device in devices() {
        let geometry = common::geometry(extents, &device);
        let links = rough::<3>(lat, 0.4, 63);
        for precision in [Precision::F64, Precision::F32] {
            for recon in Recon::SU3 {
                let u = field(&device, &geometry, &links, (precision, recon));
                let params = GaugeFixParams {
                    stop: theta_below(1e-9),
                    precision: Working::Mixed,
                    ..relaxing(Condition::Landau)
                };
                let fixed = quietly(&u, &params);
                let what = format!("{precision:?} {recon:?} on {}", device.name());
                assert!(fixed.report.best.total.converged, "{what}");
                assert_eq!((fixed.gauge.precision(), fixed.gauge.recon()), (precision, recon));
                let g = matrices::<3>(&fixed.transformation);
                let tol = storage_factor(recon) * tolerance(precision, 64.0);
                let stored: GaugeN<3> = gauge_from(&u.save_lex().unwrap());
                assert!(furthest(&stored, &links) < tol, "{what}");
                let made: GaugeN<3> = gauge_from(&fixed.gauge.save_lex().unwrap());
                assert!(furthest(&made, &su3::transform(lat, &stored, &g)) < tol, "{what}");
                let f = slow::quality_of(lat, &links, &g, slow::Condition::Landau).functional;
                assert!((fixed.report.best.total.functional - f).abs() < tol, "{what}");
            }
        }
    }
}

#[test]
fn transformations_are_what_they_say() {
    fn check<const N: usize>(group: Group, recons: &[Recon]) {
        for device in devices() {
            for extents in more_lattices().into_iter().filter(|&e| serves(&device, e)) {
                let geometry = common::geometry(extents, &device);
                let lat = Lattice::new(extents);
                let make = |p| {
                    matrices::<N>(
                        &Transformation::random(&device, &geometry, p, group, (5, 2)).unwrap(),
                    )
                };
                let unit = Transformation::unit(&device, &geometry, Precision::F32, group).unwrap();
                assert_eq!(furthest(&matrices::<N>(&unit), &vec![one(); lat.volume()]), 0.0);
                let g = make(Precision::F64);
                assert!(g.iter().all(|m| su3::unitarity_violation(m) < 1e-13));
                assert!(furthest(&g, &make(Precision::F32)) < tolerance(Precision::F32, 8.0));
                // Another stream gives other matrices on each site, and the mean trace is that of the Haar measure.
                let other =
                    Transformation::random(&device, &geometry, Precision::F64, group, (5, 3));
                let other = matrices::<N>(&other.unwrap());
                assert!(g.iter().zip(&other).all(|(a, b)| distance(a, b) > 1e-3));
                assert!((1..g.len()).all(|x| distance(&g[x], &g[0]) > 1e-3));
                let mean = g.iter().map(reference::matrix::trace).sum::<C>() / g.len() as f64;
                assert!(mean.norm() < 5.0 / (g.len() as f64).sqrt());
                let links: GaugeN<N> =
                    su3::haar_gauge::<N>(lat, 64).iter().map(su3::reunitarise).collect();
                for precision in [Precision::F64, Precision::F32] {
                    for &recon in recons {
                        let u = field(&device, &geometry, &links, (precision, recon));
                        let t = Transformation::random(
                            &device,
                            &geometry,
                            Precision::F64,
                            group,
                            (5, 2),
                        );
                        let v = t.unwrap().apply(&u).unwrap();
                        assert_eq!((v.precision(), v.recon()), (precision, recon));
                        let v: GaugeN<N> = gauge_from(&v.save_lex().unwrap());
                        let off = furthest(&v, &su3::transform(lat, &links, &g));
                        assert!(
                            off < tolerance(precision, 64.0),
                            "{precision:?} {recon:?} {off:e}"
                        );
                    }
                }
            }
        }
    }
    check::<3>(Group::Su3, &[Recon::R18, Recon::R12]);
    check::<2>(Group::Su2, &[Recon::Su2]);
}

#[test]
fn wrong_transformations_are_refused() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4; 4]), device);
    let half = Transformation::unit(device, &geometry, Precision::F16, Group::Su3);
    assert_eq!(half.unwrap_err().status, Status::Unsupported);
    let g = Transformation::unit(device, &geometry, Precision::F64, Group::Su3).unwrap();
    let mut two = GaugeField::new(device, &geometry, Precision::F64, Recon::Su2).unwrap();
    two.set_unit().unwrap();
    assert_eq!(g.apply(&two).unwrap_err().status, Status::FieldMismatch);
    let other = common::geometry(over_ranks([4, 4, 4, 8]), device);
    let mut long = GaugeField::new(device, &other, Precision::F64, Recon::R18).unwrap();
    long.set_unit().unwrap();
    assert_eq!(g.apply(&long).unwrap_err().status, Status::FieldMismatch);
}
