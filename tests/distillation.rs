//! Tests of distillation against the reference on lattices with all numbers of lanes and on all devices: elementals
//! from the computed modes, perambulators from solves for sources made on the host, and sums over slices site by
//! site.

use crate::setup::{complex_numbers, setups, Setup};
use crate::{common, reference};
use std::sync::{Arc, Mutex};

use common::{devices, distance, over_ranks, Lex};
use plaq::compose::{DiracSolver, Modes as OverlapKernelModes, SolveParams};
use plaq::error::Status;
use plaq::fields::{Components, Noise, Precision, Recon};
use plaq::operators::DiracParams;
use plaq::ops::distillation::elementals::{baryon_elementals, meson_elementals, triples, Step};
use plaq::ops::distillation::if_exists::IfExists;
use plaq::ops::distillation::inverse::OverlapInverse;
use plaq::ops::distillation::modes::{Modes, ModesSettings};
use plaq::ops::distillation::noise::{Dilution, NoiseInModes};
use plaq::ops::distillation::perambulator::{generalised, perambulators, Insertion};
use plaq::ops::gamma::Gamma;
use plaq::ops::overlap_settings::{OverlapSettings, OverlapShared, OverlapSolving};
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop, VectorMemory};
use reference::{Lattice, C};

const N: usize = 5;
const MOMENTA: [[i32; 3]; 3] = [[0, 0, 0], [1, 0, -1], [0, 2, 1]];

fn complex(numbers: &[f64]) -> Vec<C> {
    numbers.chunks(2).map(|z| C::new(z[0], z[1])).collect()
}

fn wave(lat: Lattice, x: usize, n: [i32; 3]) -> C {
    let at = lat.coords(x);
    let turns: f64 = (0..3).map(|i| f64::from(n[i]) * at[i] as f64 / lat.extents[i] as f64).sum();
    C::from_polar(1.0, -2.0 * std::f64::consts::PI * turns)
}

/// Computes U_mu(x) v(x + mu), or U_mu(x - mu)^dagger v(x - mu).
fn moved(s: &Setup, v: &[C], mu: usize, forward: bool) -> Vec<C> {
    let (lat, links) = (s.lat, &s.links);
    let at = |k: usize| {
        let (x, i) = (k / 3, k % 3);
        match forward {
            true => (0..3).map(|j| links[4 * x + mu][i][j] * v[3 * lat.forward(x, mu) + j]).sum(),
            false => {
                let y = lat.backward(x, mu);
                (0..3).map(|j| links[4 * y + mu][j][i].conj() * v[3 * y + j]).sum()
            }
        }
    };
    (0..v.len()).map(at).collect::<Vec<C>>()
}

/// Computes the sum of exp(-i p x) a^dagger b over time slice t.
fn product(lat: Lattice, a: &[C], b: &[C], t: usize, n: [i32; 3]) -> C {
    let volume = lat.volume() / lat.extents[3];
    let sites = volume * t..volume * (t + 1);
    let one = |x: usize| -> C {
        wave(lat, x, n) * (0..3).map(|c| a[3 * x + c].conj() * b[3 * x + c]).sum::<C>()
    };
    sites.map(one).sum()
}

fn modes_on(s: &Setup, precision: Precision) -> (Modes, Vec<Vec<C>>) {
    some_modes(s, precision, N)
}

fn some_modes(s: &Setup, precision: Precision, count: usize) -> (Modes, Vec<Vec<C>>) {
    let gauge = s.gauge.to(precision, Recon::R18).unwrap();
    let settings = ModesSettings { count, ..Default::default() };
    let modes = Modes::new(&gauge, None, &settings, &mut no_monitor).unwrap();
    let report = modes.search();
    assert!(report.converged && report.verified, "{report:?}");
    let all = complex(&modes.vectors().get(0, count).unwrap().save_lex().unwrap());
    let vectors: Vec<Vec<C>> = all.chunks(3 * s.lat.volume()).map(<[C]>::to_vec).collect();
    // The rule that fixes the phase of each vector: its first number on every time slice is real and positive.
    let volume = s.lat.volume() / s.lat.extents[3];
    for v in &vectors {
        let first = (0..s.lat.extents[3]).map(|t| v[3 * volume * t]);
        first.for_each(|z| assert!(z.re > 0.0 && z.im.abs() < 1e-5 * z.re, "{z}"));
    }
    (modes, vectors)
}

fn close(found: &[C], expected: &[C], bound: f64, what: &str) {
    let found = distance(&complex_numbers(found), &complex_numbers(expected));
    assert!(found < bound, "{what}: {found:e}");
}

#[test]
fn elementals_equal_sums_over_sites() {
    for s in setups() {
        let (lat, times) = (s.lat, s.lat.extents[3]);
        for (precision, bound) in [(Precision::F64, 1e-12), (Precision::F32, 2e-5)] {
            let (modes, v) = modes_on(&s, precision);
            let operators = [vec![], vec![Step::DerivativeX], vec![Step::ForwardZ, Step::BackY]];
            let found = meson_elementals(&modes, &modes, &operators, &MOMENTA).unwrap();
            let mut right = vec![v.clone(), vec![], vec![]];
            for one in &v {
                let (up, down) = (moved(&s, one, 0, true), moved(&s, one, 0, false));
                right[1].push(up.iter().zip(&down).map(|(a, b)| (a - b) / 2.0).collect());
                right[2].push(moved(&s, &moved(&s, one, 1, false), 2, true));
            }
            let mut expected = vec![];
            for n in MOMENTA {
                for right in &right {
                    for t in 0..times {
                        for a in &v {
                            expected.extend(right.iter().map(|b| product(lat, a, b, t, n)));
                        }
                    }
                }
            }
            close(&found, &expected, bound, "mesons");
            // For baryons: conj(b x c) of two vectors, then the sum over sites as for mesons.
            let cross = |b: &[C], c: &[C]| -> Vec<C> {
                let at = |k: usize| {
                    let (x, i) = (k / 3, k % 3);
                    let (j, k) = (3 * x + (i + 1) % 3, 3 * x + (i + 2) % 3);
                    (b[j] * c[k] - b[k] * c[j]).conj()
                };
                (0..b.len()).map(at).collect()
            };
            let mut expected = vec![];
            for n in MOMENTA {
                for t in 0..times {
                    for a in 0..N {
                        for b in a + 1..N {
                            for c in b + 1..N {
                                expected.push(product(lat, &cross(&v[b], &v[c]), &v[a], t, n));
                            }
                        }
                    }
                }
            }
            assert_eq!(expected.len(), MOMENTA.len() * times * triples(N));
            let none = [vec![], vec![], vec![]];
            let found = baryon_elementals(&modes, &none, &MOMENTA).unwrap();
            close(&found, &expected, bound, "baryons");
            let moved_one = [vec![], vec![], vec![Step::ForwardX]];
            let found = baryon_elementals(&modes, &moved_one, &MOMENTA[1..2]).unwrap();
            let mut expected = vec![];
            for t in 0..times {
                for a in &v {
                    for b in &v {
                        for c in &v {
                            let c = moved(&s, c, 0, true);
                            expected.push(product(lat, &cross(b, &c), a, t, MOMENTA[1]));
                        }
                    }
                }
            }
            close(&found, &expected, bound, "baryons with a step");
        }
    }
}

#[test]
fn perambulators_equal_products_with_solutions() {
    for s in setups() {
        let (lat, times) = (s.lat, s.lat.extents[3]);
        for (precision, bound) in [(Precision::F64, 1e-9), (Precision::F32, 1e-4)] {
            let (modes, v) = modes_on(&s, precision);
            let dirac = DiracParams { mass: 0.5, csw: 1.1, csw_t: 1.1, ..Default::default() };
            let op = Arc::new(s.wilson_in(dirac, precision, Recon::R18));
            let tol = if precision == Precision::F64 { 1e-12 } else { 1e-6 };
            let how = SolverParams {
                kind: SolverKind::BiCgStab,
                stop: Stop::at(tol),
                ..Default::default()
            };
            let params = SolveParams { solver: how, ..Default::default() };
            let solver = DiracSolver::new(op, params).unwrap();
            let t0 = times - 1;
            let mut found = vec![];
            let mut keep = |index: usize, tau: Vec<C>| {
                assert_eq!(index, 0);
                found = tau;
                Ok(())
            };
            let done =
                perambulators(&solver, &modes, &[t0], 3, &mut no_monitor, &mut keep).unwrap();
            assert!(done.whole && done.report.solver.converged);
            // Column 4 b + s has mode b on slice t0 in spin s.
            let (slice, sites) = (lat.volume() / times, lat.volume());
            let column = |b: usize, spin: usize| -> Vec<C> {
                let mut field = vec![C::ZERO; 12 * sites];
                for x in slice * t0..slice * (t0 + 1) {
                    (0..3).for_each(|c| field[12 * x + 3 * spin + c] = v[b][3 * x + c]);
                }
                field
            };
            let columns: Vec<Vec<C>> = (0..4 * N).map(|k| column(k / 4, k % 4)).collect();
            let solutions = |columns: &[Vec<C>]| -> Vec<Vec<C>> {
                let borrowed: Vec<&[C]> = columns.iter().map(Vec::as_slice).collect();
                let b = s.vectors(precision, Components::SPINOR, &borrowed);
                let mut x = b.like(precision).unwrap();
                assert!(solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver.converged);
                complex(&x.save_lex().unwrap()).chunks(12 * sites).map(<[C]>::to_vec).collect()
            };
            let spin = |field: &[C], spin: usize| -> Vec<C> {
                (0..3 * sites).map(|k| field[12 * (k / 3) + 3 * spin + k % 3]).collect()
            };
            let x = solutions(&columns);
            let mut expected = vec![C::ZERO; found.len()];
            for (k, x) in x.iter().enumerate() {
                for sink in 0..4 {
                    let x = spin(x, sink);
                    for t in 0..times {
                        for a in 0..N {
                            let at = ((t * 4 + sink) * 4 + k % 4) * N * N + a * N + k / 4;
                            expected[at] = product(lat, &v[a], &x, t, [0; 3]);
                        }
                    }
                }
            }
            close(&found, &expected, bound, "perambulators");
            if precision == Precision::F32 {
                continue;
            }
            // gamma5-hermiticity relates perambulators between two times to those in the other direction.
            let (mut there, mut back) = (found.clone(), vec![]);
            let mut keep = |_: usize, tau: Vec<C>| {
                back = tau;
                Ok(())
            };
            perambulators(&solver, &modes, &[0], 0, &mut no_monitor, &mut keep).unwrap();
            let five = |s: usize| if s < 2 { 1.0 } else { -1.0 };
            let mut turned = vec![];
            for at in 0..16 * N * N {
                let (sink, source, a, b) = (at / (4 * N * N), at / (N * N) % 4, at / N % N, at % N);
                let from = ((t0 * 4 + source) * 4 + sink) * N * N + b * N + a;
                turned.push(five(sink) * five(source) * back[from].conj());
            }
            there.truncate(16 * N * N);
            close(&there, &turned, bound, "gamma5");
            // Generalised perambulators: Gamma inserted between two solves, for all times together.
            let gamma = Gamma::T;
            let insertion = Insertion { gamma, path: vec![], momentum: [0; 3] };
            let sinks = [t0, 0];
            let (both, done) =
                generalised(&solver, &modes, (t0, &sinks), &[insertion], 0, &mut no_monitor)
                    .unwrap();
            assert!(done.whole && both.len() == 2 * times * 16 * N * N);
            let all = &both[times * 16 * N * N..];
            // In this basis gamma_t exchanges the upper and the lower two spins.
            let swapped = |x: &Vec<C>| -> Vec<C> {
                (0..12 * sites).map(|k| x[12 * (k / 12) + (k % 12 + 6) % 12]).collect()
            };
            let y = solutions(&x.iter().map(swapped).collect::<Vec<_>>());
            for (k, y) in y.iter().enumerate() {
                for sink in 0..4 {
                    for a in 0..N {
                        let at = (sink * 4 + k % 4) * N * N + a * N + k / 4;
                        let sum: C = (0..times).map(|t| all[t * 16 * N * N + at]).sum();
                        let expected = product(lat, &v[a], &spin(y, sink), 0, [0; 3]);
                        assert!((sum - expected).norm() < bound, "{sum} {expected}");
                    }
                }
            }
            // Noise on slice t0 with one spin per column gives sums of the perambulator's columns.
            let noise = NoiseInModes {
                noise: Noise::Z4,
                seed: 3,
                mode: Dilution::None,
                first: 4 * t0,
                count: Some(4),
                ..Default::default()
            };
            let eta = noise.coefficients(&modes).unwrap();
            let (phi, _) = noise.solved(&solver, &modes, 0, &mut no_monitor).unwrap();
            let mut expected = vec![];
            for column in 0..4 {
                for t in 0..times {
                    for sink in 0..4 {
                        for a in 0..N {
                            let at = ((t * 4 + sink) * 4 + column) * N * N + a * N;
                            let start = ((column * times + t0) * 4 + column) * N;
                            expected
                                .push((0..N).map(|b| found[at + b] * eta[start + b]).sum::<C>());
                        }
                    }
                }
            }
            close(&phi, &expected, bound, "noise");
        }
    }
}

/// If the device's memory is too small, slices are searched in several groups and modes are kept on the host: the
/// modes and all results from them are the same bit for bit.
#[test]
fn modes_that_do_not_fit_wait_on_the_host() {
    let several = |s: &Setup| s.geometry.extents()[3] > 2;
    for s in setups().into_iter().filter(several) {
        let times = s.geometry.extents()[3];
        let settings = ModesSettings { count: N, steps: 2, tol: 1e-12, ..Default::default() };
        let whole = Modes::memory(&s.gauge, &settings).unwrap();
        let modes = Modes::new(&s.gauge, None, &settings, &mut no_monitor).unwrap();
        let report = modes.search();
        assert_eq!((whole.slices, modes.vectors().on_device()), (times, N));
        let held = s.device.used().0;
        s.device.limit_memory(held + whole.search * 95 / 100);
        let short = Modes::memory(&s.gauge, &settings).unwrap();
        let (slices, parts) =
            (short.slices, Modes::new(&s.gauge, None, &settings, &mut no_monitor));
        s.device.limit_memory(u64::MAX);
        assert!(slices < times && short.search < whole.search, "{short:?} {whole:?}");
        let parts = parts.unwrap();
        let found = parts.search();
        assert!(found.converged && found.verified && found.applications > 0, "{found:?}");
        let near = |a: &[f64], b: &[f64], bound: f64| {
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < bound), "{a:?} {b:?}");
        };
        near(&found.values, &report.values, 1e-9);
        near(&found.beyond, &report.beyond, 1e-6);
        let momenta = [MOMENTA[1]];
        let elementals = |m: &Modes| {
            meson_elementals(m, m, &[vec![], vec![Step::DerivativeX]], &momenta).unwrap()
        };
        close(&elementals(&parts), &elementals(&modes), 1e-6, "modes of parts");
        let mixed = ModesSettings { mixed: true, ..settings };
        let mixed = Modes::new(&s.gauge, None, &mixed, &mut no_monitor).unwrap();
        let found = mixed.search();
        assert!(found.converged && found.verified, "{found:?}");
        near(&found.values, &report.values, 1e-9);
        close(&elementals(&mixed), &elementals(&modes), 1e-6, "single, refined");
        // The same modes, kept on the device.
        let folder = common::Folder::new("modes");
        let path = folder.0.join("modes");
        parts.save(&path, IfExists::Refuse).unwrap();
        let here = Modes::load(&path, &s.gauge, None).unwrap();
        assert_eq!(here.vectors().on_device(), N);
        let all = ModesSettings { vectors: VectorMemory::Host, ..settings };
        let host = Modes::new(&s.gauge, None, &all, &mut no_monitor).unwrap();
        assert_eq!(host.vectors().on_device(), 1);
        assert_eq!(elementals(&parts), elementals(&here));
        assert_eq!(elementals(&host), elementals(&modes));
        let none = [vec![], vec![], vec![]];
        let baryons = |m: &Modes| baryon_elementals(m, &none, &momenta).unwrap();
        assert_eq!(baryons(&parts), baryons(&here));
    }
}

/// Lines of the overlap operator are those of its propagators, without the contact term and with it, and are
/// gamma5-hermitian; a solve that does not fit is refused before anything is allocated.
#[test]
fn lines_of_the_overlap_operator_are_those_of_its_propagators() {
    const FEW: usize = 2;
    for device in devices() {
        let extents = over_ranks([2, 2, 2, 4]);
        let s = Setup::new(&device, extents, 0.3);
        let (lat, times) = (s.lat, extents[3]);
        let (modes, v) = some_modes(&s, Precision::F64, FEW);
        let settings =
            OverlapSettings { mass: 0.3, modes: Some(8), delta: 1e-7, ..Default::default() };
        let (kernel, target) = settings.kernel(s.gauge.clone()).unwrap();
        let found = settings.modes();
        let found = OverlapKernelModes::find(&kernel, None, &found, None, &mut no_monitor).unwrap();
        let op = Arc::new(settings.operator(kernel, found, target).unwrap());
        let kept = Mutex::new(OverlapShared::default());
        for subtract in [true, false] {
            let how = OverlapSolving { tol: 1e-7, subtract, ..Default::default() };
            let inverse = OverlapInverse::new(&op, how.clone(), None, &kept, 4 * FEW * 2);
            let lines = |times: &[usize], inverse: &OverlapInverse| {
                let mut all = vec![];
                let mut keep = |_: usize, tau: Vec<C>| {
                    all.push(tau);
                    Ok(())
                };
                let done =
                    perambulators(inverse, &modes, times, 0, &mut no_monitor, &mut keep).unwrap();
                assert!(done.whole && done.report.solver.converged);
                all
            };
            let t0 = times - 1;
            // Of the lines with the contact term those back to this time, too.
            let all = lines(&[t0, 0][..2 - usize::from(subtract)], &inverse);
            let solver = how.solver(&op, None, &[0.3], 1, &mut OverlapShared::default()).unwrap();
            let (slice, sites) = (lat.volume() / times, lat.volume());
            let scale = if subtract { 1.0 / (1.0 - 0.3 / (2.0 * op.rho())) } else { 1.0 };
            let contact = if subtract { 1.0 / (2.0 * op.rho()) } else { 0.0 };
            for (b, spin) in [(0, 1), (FEW - 1, 2)] {
                let mut source = vec![C::ZERO; 12 * sites];
                for x in slice * t0..slice * (t0 + 1) {
                    (0..3).for_each(|c| source[12 * x + 3 * spin + c] = v[b][3 * x + c]);
                }
                let field = s.vectors(Precision::F64, Components::SPINOR, &[&source]);
                let mut x = field.like(Precision::F64).unwrap();
                assert!(solver.solve(&mut x, &field, &mut no_monitor).unwrap().converged);
                let x = complex(&x.save_lex().unwrap());
                for sink in 0..4 {
                    let one: Vec<C> = (0..3 * sites)
                        .map(|k| 12 * (k / 3) + 3 * sink + k % 3)
                        .map(|k| scale * (x[k] - contact * source[k]))
                        .collect();
                    for (t, a) in (0..times).flat_map(|t| (0..FEW).map(move |a| (t, a))) {
                        let at = ((t * 4 + sink) * 4 + spin) * FEW * FEW + a * FEW + b;
                        let expected = product(lat, &v[a], &one, t, [0; 3]);
                        assert!((all[0][at] - expected).norm() < 1e-5, "{}", all[0][at] - expected);
                    }
                }
            }
            // Summed over all times the operator 1 between two lines is D^-2, which is in the derivative of D(m)^-1 by
            // m: -(D^-2 - D^-1 / (2 rho)) / (1 - m / (2 rho)).
            if !subtract {
                let insertion =
                    Insertion { gamma: Gamma::new(0).unwrap(), path: vec![], momentum: [0; 3] };
                let (found, done) =
                    generalised(&inverse, &modes, (t0, &[0]), &[insertion], 0, &mut no_monitor)
                        .unwrap();
                assert!(done.whole && found.len() == times * 16 * FEW * FEW);
                // tau(0, t0) = gamma5 tau(t0, 0)^dagger gamma5
                let five = |s: usize| if s < 2 { 1.0 } else { -1.0 };
                for at in 0..16 * FEW * FEW {
                    let (sink, source, a, b) =
                        (at / (4 * FEW * FEW), at / (FEW * FEW) % 4, at / FEW % FEW, at % FEW);
                    let back = all[1][((t0 * 4 + source) * 4 + sink) * FEW * FEW + b * FEW + a];
                    let expected = five(sink) * five(source) * back.conj();
                    assert!((all[0][at] - expected).norm() < 1e-5);
                }
                let step = 1e-2;
                let near: Vec<Vec<C>> = [-step, step]
                    .iter()
                    .map(|step| {
                        let op = Arc::new(op.with_mass(0.3 + step).unwrap());
                        let inverse = OverlapInverse::new(&op, how.clone(), None, &kept, 4 * FEW);
                        lines(&[t0], &inverse).remove(0)
                    })
                    .collect();
                for at in 0..16 * FEW * FEW {
                    let sum: C = (0..times).map(|t| found[t * 16 * FEW * FEW + at]).sum();
                    let factor = 1.0 / (1.0 - 0.3 / (2.0 * op.rho()));
                    let expected = -factor * (sum - all[0][at] / (2.0 * op.rho()));
                    let slope = (near[1][at] - near[0][at]) / (2.0 * step);
                    assert!(
                        (slope - expected).norm() < 1e-3 * (1.0 + slope.norm()),
                        "{slope} {expected}"
                    );
                }
            }
        }
        // Memory is known before the solve, which takes no more.
        let inverse = OverlapInverse::new(&op, OverlapSolving::default(), None, &kept, 4 * FEW);
        let mut keep = |_: usize, _: Vec<C>| Ok(());
        s.device.limit_memory(s.device.used().0 + 1000);
        let short = perambulators(&inverse, &modes, &[0], 0, &mut no_monitor, &mut keep);
        s.device.limit_memory(u64::MAX);
        let e = short.err().unwrap();
        assert_eq!(e.status, Status::OutOfMemory, "{e}");
        assert!(e.to_string().contains("perambulators"), "{e}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let s = &setups()[0];
    let extents = s.lat.extents;
    let all = 3 * extents[0] * extents[1] * extents[2];
    let settings = ModesSettings { count: all + 1, ..Default::default() };
    let e = Modes::new(&s.gauge, None, &settings, &mut no_monitor).err().unwrap();
    assert_eq!(e.status, Status::BadParameter);
    assert!(e.to_string().contains(&all.to_string()), "{e}");
    let (modes, _) = modes_on(s, Precision::F64);
    let other = Setup::new(&s.device, extents, 0.3);
    let op = other.wilson(DiracParams::default());
    let solver = DiracSolver::new(op, SolveParams::default()).unwrap();
    let mut keep = |_: usize, _: Vec<C>| Ok(());
    let e = perambulators(&solver, &modes, &[0], 0, &mut no_monitor, &mut keep).err().unwrap();
    assert_eq!(e.status, Status::FieldMismatch, "{e}");
    let solver =
        DiracSolver::new(s.wilson(DiracParams::default()), SolveParams::default()).unwrap();
    let e = perambulators(&solver, &modes, &[extents[3]], 0, &mut no_monitor, &mut keep);
    assert_eq!(e.err().unwrap().status, Status::InvalidArgument);
}
