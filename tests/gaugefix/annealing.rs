//! Tests of simulated annealing and stochastic relaxation: the distribution at a temperature, and random numbers that
//! belong to sites, so that threads and halos change nothing.

use plaq::comm::Comm;
use plaq::ops::gaugefix::Schedule;

use super::common::{devices, over_ranks, ranks};
use super::reference::philox::philox4x32_10;
use super::*;

fn constant(temperature: f64, steps: usize, microcanonical: usize) -> Method {
    Method::Annealing(Schedule {
        hot: temperature,
        cold: temperature,
        steps,
        microcanonical,
        logarithmic: false,
    })
}

/// The heat bath satisfies the Schwinger-Dyson equation from the invariance of the measure under g(x) -> exp(i e T_a)
/// g(x) for the weight exp(S/T), S the sum of link functionals: <sum_a (d_a S)^2> / T = -<sum_a d_a d_a S>, tr T_a
/// T_b = delta_ab / 2. Traces: the squares are tr Delta^2 / 2 = N theta / 2, and the Casimir (N^2 - 1) / 2N times the
/// 2 d links of a site gives <theta> = 2 T d <F> (N^2 - 1) / N with d directions. Abelian: |V_ii|^2 is 1/N and a
/// matrix element of the adjoint representation, whose Casimir is N; the squares are sum |X_12|^2 = N theta, so that
/// <theta> = 2 T d (N <F> - 1).
#[test]
fn heat_bath_satisfies_the_schwinger_dyson_equation() {
    if let Some(device) = devices().pop() {
        for (recon, n) in [(Recon::R18, 3.0), (Recon::Su2, 2.0)] {
            let chains = [
                ([4, 4, 4, 4], [(0.3, Working::Double), (1.4, Working::Mixed)]),
                ([2, 6, 4, 2], [(1.4, Working::Double), (8.0, Working::Double)]),
            ];
            for (extents, temperatures) in chains {
                let extents = over_ranks(extents);
                let geometry = common::geometry(extents, &device);
                let mut u = GaugeField::new(&device, &geometry, Precision::F64, recon).unwrap();
                u.set_random(91).unwrap();
                for condition in [
                    Condition::Landau,
                    Condition::Coulomb { time: 0 },
                    Condition::MaximallyAbelian { residual: false },
                ] {
                    for (temperature, precision) in temperatures {
                        let params = GaugeFixParams {
                            method: constant(temperature, 2200, 1),
                            max_iterations: 1,
                            check_every: 1,
                            precision,
                            random_start: true,
                            ..relaxing(condition)
                        };
                        let (_, told) = watched(&u, &params);
                        let heated: Vec<Quality> = told
                            .iter()
                            .filter(|p| p.temperature.is_some())
                            .map(|p| p.quality)
                            .collect();
                        assert_eq!(heated.len(), 2200);
                        let expected = |f: f64| match condition {
                            Condition::Landau => 8.0 * temperature * f * (n * n - 1.0) / n,
                            Condition::Coulomb { .. } => 6.0 * temperature * f * (n * n - 1.0) / n,
                            Condition::MaximallyAbelian { .. } => 8.0 * temperature * (n * f - 1.0),
                        };
                        // Means over bins of 50 sweeps, so that autocorrelations are inside of bins.
                        let bins: Vec<f64> = heated[200..]
                            .chunks(50)
                            .map(|c| {
                                c.iter().map(|q| q.theta - expected(q.functional)).sum::<f64>()
                                    / c.len() as f64
                            })
                            .collect();
                        let count = bins.len() as f64;
                        let mean = bins.iter().sum::<f64>() / count;
                        let spread = bins.iter().map(|b| (b - mean).powi(2)).sum::<f64>();
                        let error = (spread / (count * (count - 1.0))).sqrt();
                        let theta = heated[200..].iter().map(|q| q.theta).sum::<f64>() / 2000.0;
                        let what = format!("SU({n}) {extents:?} {condition:?} T={temperature}");
                        println!("{what} {precision:?}: {mean:.5} +- {error:.5} of {theta:.5}");
                        assert!(error < 0.03 * theta, "{what}: {error} of {theta}");
                        assert!(mean.abs() < 5.0 * error, "{what}: {mean} +- {error}");
                    }
                }
            }
        }
    }
}

#[test]
fn microcanonical_sweeps_keep_the_functional() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([4, 6, 4, 8]), &device);
        for recon in [Recon::R18, Recon::Su2] {
            let mut u = GaugeField::new(&device, &geometry, Precision::F64, recon).unwrap();
            u.set_random(92).unwrap();
            for condition in conditions() {
                for precision in [Working::Double, Working::Single] {
                    let first = |microcanonical| {
                        let params = GaugeFixParams {
                            method: constant(1.0, 1, microcanonical),
                            max_iterations: 1,
                            check_every: 1,
                            precision,
                            ..relaxing(condition)
                        };
                        watched(&u, &params).1[0]
                    };
                    let (none, ten) = (first(0), first(10));
                    assert_eq!((none.sweeps, ten.sweeps), (1, 11));
                    assert_eq!(none.temperature, Some(1.0));
                    let (a, b) = (none.quality, ten.quality);
                    let tol = if precision == Working::Double { 1e-13 } else { 1e-5 };
                    let off = (a.functional - b.functional).abs();
                    assert!(off < tol, "{condition:?} {precision:?}: {a:?} {b:?}");
                    assert!((a.theta - b.theta).abs() > 1e-4, "{condition:?}: {a:?} {b:?}");
                }
            }
        }
    }
}

#[test]
fn schedules_run_from_hot_to_cold() {
    let (linear, logarithmic) = [false, true]
        .map(|logarithmic| Schedule {
            hot: 4.0,
            cold: 0.25,
            steps: 5,
            microcanonical: 0,
            logarithmic,
        })
        .into();
    let all = |s: Schedule| (0..5).map(|n| s.temperature(n)).collect::<Vec<_>>();
    assert_eq!(all(linear), [4.0, 3.0625, 2.125, 1.1875, 0.25]);
    for (found, expected) in all(logarithmic).into_iter().zip([4.0, 2.0, 1.0, 0.5, 0.25]) {
        assert!((found - expected).abs() < 1e-14);
    }
}

/// Four numbers in (0, 1) as kernels/philox.h defines them.
fn uniforms(seed: u64, lex: usize, sweep: u32) -> [f64; 4] {
    const PURPOSE: u32 = 5;
    let key = [seed as u32, (seed >> 32) as u32];
    let words = |block| philox4x32_10([lex as u32, PURPOSE << 16, sweep, block], key);
    let (high, low) = (words(0), words(1));
    std::array::from_fn(|k| {
        ((u64::from(high[k]) << 20 | u64::from(low[k]) >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    })
}

/// Stochastic relaxation sets every subgroup to its best value or to the square of it, chosen by the site's random
/// number.
#[test]
fn stochastic_relaxation_draws_for_every_subgroup() {
    fn check<const N: usize>() {
        let (extents, seed, probability, sweeps) = (over_ranks([4, 6, 2, 8]), 7 << 40 | 3, 0.4, 3);
        let lat = Lattice::new(extents);
        let links = rough::<N>(lat, 0.4, 93);
        for condition in conditions() {
            if condition == (Condition::MaximallyAbelian { residual: true }) {
                continue;
            }
            let mut expected = vec![one(); lat.volume()];
            for sweep in 0..sweeps {
                for x in [0, 1].into_iter().flat_map(|parity| lat.sites_of_parity(parity)) {
                    let chance = uniforms(seed, x, sweep);
                    let main = slowly(condition);
                    let ends = slow::outgoing(lat, &links, &expected, main, x);
                    for (k, &(i, j)) in slow::pairs::<N>().iter().enumerate() {
                        let out: Vec<Matrix<N>> =
                            ends.iter().map(|end| mul(&expected[x], end)).collect();
                        let omega = if chance[k] < probability { 2.0 } else { 1.0 };
                        let best = slow::optimum(main, &out, i, j);
                        let h = slow::overrelaxed(best, slow::Step::Exact(omega));
                        expected[x] = mul(&slow::embed(h, i, j), &expected[x]);
                    }
                }
            }
            for device in devices() {
                let geometry = common::geometry(extents, &device);
                let u = field(&device, &geometry, &links, whole::<N>());
                let params = GaugeFixParams {
                    method: Method::StochasticRelaxation { probability },
                    max_iterations: sweeps as usize,
                    check_every: 1,
                    precision: Working::Double,
                    seed,
                    ..relaxing(condition)
                };
                let g = matrices::<N>(&quietly(&u, &params).transformation);
                let off = furthest(&g, &expected);
                assert!(off < 1e-10, "SU({N}) {condition:?} on {}: {off:e}", device.name());
            }
        }
    }
    check::<3>();
    check::<2>();
}

/// Geometries without divisions, and with messages to itself; under mpirun between the ranks.
fn divisions(extents: [usize; 4], device: &Device) -> Vec<Arc<Geometry>> {
    if ranks().size() > 1 {
        return vec![common::geometry(extents, device)];
    }
    let masks: &[u8] =
        if device.is_cpu() { &[0, 1, 2, 4, 8, 0b1001, 0b0110, 0b1111] } else { &[0, 8, 0b1111] };
    masks
        .iter()
        .map(|mask| {
            let comm = Comm::looped(std::array::from_fn(|mu| mask >> mu & 1 == 1));
            Geometry::decomposed(extents, device, &comm).unwrap()
        })
        .collect()
}

#[test]
fn threads_and_halos_change_nothing() {
    let annealing =
        Schedule { hot: 1.4, cold: 0.3, steps: 2, microcanonical: 1, ..Default::default() };
    let methods = [
        Method::Overrelaxation,
        Method::StochasticRelaxation { probability: 0.5 },
        Method::Annealing(annealing),
        Method::Combined { schedule: annealing, probability: 0.5, sweeps: 2 },
    ];
    for extents in [[4, 4, 4, 8], [6, 4, 2, 8]].map(over_ranks) {
        for method in methods {
            for condition in [
                Condition::Landau,
                Condition::Coulomb { time: 3 },
                Condition::Coulomb { time: 1 },
                Condition::MaximallyAbelian { residual: true },
            ] {
                let from = |width: f64, device: &Device, geometry: &Arc<Geometry>| {
                    let mut u =
                        GaugeField::new(device, geometry, Precision::F64, Recon::R18).unwrap();
                    u.set_near_unit(94, width).unwrap();
                    let params = GaugeFixParams {
                        method,
                        max_iterations: 4,
                        check_every: 2,
                        precision: Working::Double,
                        copies: 2,
                        random_start: true,
                        seed: 9,
                        ..relaxing(condition)
                    };
                    let fixed = quietly(&u, &params);
                    (matrices::<3>(&fixed.transformation), fixed.report.best.total.quality())
                };
                let run = |device: &Device, geometry: &Arc<Geometry>| from(0.6, device, geometry);
                let one = Device::cpu(1).unwrap();
                let plain = run(&one, &common::geometry(extents, &one));
                // Sweeps are chaotic: `grown` is ten times what one rounding of the links becomes. A GPU rounds every
                // operation in its own way, and so may be as far away as ten such roundings.
                let nudged =
                    from(0.6 * (1.0 + f64::EPSILON), &one, &common::geometry(extents, &one));
                let grown = 10.0 * furthest(&nudged.0, &plain.0);
                for device in devices() {
                    let what = format!("{extents:?} {method:?} {condition:?} {}", device.name());
                    if device.is_cpu() {
                        let again = run(&device, &common::geometry(extents, &device));
                        assert!(again == plain, "{what}: threads change bits");
                    }
                    for geometry in divisions(extents, &device) {
                        let found = run(&device, &geometry);
                        // A CPU computes the same bits however the lattice is divided, if the undivided lattice has as
                        // many lanes as a part: kernels for different numbers of lanes round differently.
                        let plain = match device.is_cpu() && ranks().size() == 1 {
                            true => &run(
                                &device,
                                &Geometry::with_lanes(extents, geometry.lanes()).unwrap(),
                            ),
                            false => &plain,
                        };
                        let off = furthest(&found.0, &plain.0);
                        let bound = if device.is_cpu() { 0.0 } else { grown.max(1e-9) };
                        assert!(off <= bound, "{what} {:04b}: {off:e}", geometry.halo_mask());
                        assert!((found.1.functional - plain.1.functional).abs() < 1e-12, "{what}");
                    }
                }
                let other = {
                    let geometry = common::geometry(extents, &one);
                    let mut u =
                        GaugeField::new(&one, &geometry, Precision::F64, Recon::R18).unwrap();
                    u.set_near_unit(94, 0.6).unwrap();
                    let params = GaugeFixParams {
                        max_iterations: 4,
                        precision: Working::Double,
                        random_start: true,
                        seed: 10,
                        ..relaxing(condition)
                    };
                    matrices::<3>(&quietly(&u, &params).transformation)
                };
                assert!(furthest(&other, &plain.0) > 0.1, "the seed does nothing");
            }
        }
    }
}

/// Slow annealing finds higher maxima on a rough field than relaxation from a random start.
#[test]
fn annealing_finds_higher_maxima() {
    let device = devices().pop().unwrap();
    let geometry = common::geometry(over_ranks([8; 4]), &device);
    let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_random(95).unwrap();
    let abelian = Condition::MaximallyAbelian { residual: false };
    for (condition, steps, more) in [(Condition::Landau, 1000, 1e-4), (abelian, 300, 1e-3)] {
        let mean = |method| {
            let params = GaugeFixParams {
                method,
                copies: 4,
                random_start: true,
                stop: theta_below(1e-8),
                ..relaxing(condition)
            };
            let report = quietly(&u, &params).report;
            report.copies.iter().map(|c| c.total.functional).sum::<f64>() / 4.0
        };
        let schedule = Schedule { hot: 2.0, cold: 0.02, steps, ..Default::default() };
        let relaxed = mean(Method::Overrelaxation);
        let annealed = mean(Method::Annealing(schedule));
        println!("{condition:?}: {relaxed} {annealed}");
        assert!(annealed > relaxed + more, "{condition:?}: {relaxed} {annealed}");
    }
}
