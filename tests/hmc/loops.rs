//! Tests of arbitrary closed loops: traces, actions and forces against paths that the reference multiplies link by
//! link.

use plaq::error::Status;
use plaq::fields::{GaugeField, MatrixField, MatrixForm, Momenta, Precision, Recon};
use plaq::ops::hmc::gauge_action::{GaugeCoefficients, GaugeForce, LinkAction};
use plaq::ops::hmc::input::hmc_from_toml;
use plaq::ops::hmc::loop_action::{LoopAction, LoopForce};
use plaq::ops::observables::polyakov_loop;
use plaq::ops::paths::{self, displacement, images, PathProducts, Paths};

use super::common::{self, devices, extents_on, over_ranks, tolerance, Lex};
use super::reference::matrix::trace;
use super::reference::rng::Rng;
use super::reference::{hmc as slow, su3, Gauge, Lattice, C};
use super::{check_along, coefficients, links};

/// Random closed paths of up to `max` steps, which go back in a random order; the last path winds around t.
fn random_paths(count: usize, max: usize, extents: [usize; 4], seed: u64) -> Vec<Vec<u8>> {
    let mut rng = Rng::new(seed);
    let mut below = move |n: usize| (rng.bits() % n as u64) as usize;
    let mut all: Vec<Vec<u8>> = (1..count)
        .map(|_| {
            let half = 1 + below(max / 2);
            let there: Vec<u8> = (0..half).map(|_| below(8) as u8).collect();
            let mut back: Vec<u8> = there.iter().map(|s| 7 - s).collect();
            for i in (1..half).rev() {
                back.swap(i, below(i + 1));
            }
            there.into_iter().chain(back).collect()
        })
        .collect();
    all.push(vec![3; extents[3]]);
    all
}

fn signed(path: &[u8]) -> Vec<i32> {
    path.iter().map(|&s| if s < 4 { i32::from(s) } else { i32::from(s) - 8 }).collect()
}

fn slow_trace(lat: Lattice, u: &Gauge, path: &[u8]) -> C {
    let steps = signed(path);
    (0..lat.volume()).map(|x| trace(&slow::path(lat, u, x, &steps))).sum()
}

fn slow_action(lat: Lattice, u: &Gauge, action: &LoopAction) -> f64 {
    let volume = lat.volume() as f64;
    let term = |(path, c): (&[u8], &f64)| c * (volume - slow_trace(lat, u, path).re / 3.0);
    action.loops().iter().zip(action.coefficients()).map(term).sum()
}

/// The one-loop action, and actions of random loops with random coefficients: short loops, and some too long for a
/// force link by link.
fn actions(extents: [usize; 4]) -> Vec<(&'static str, LoopAction)> {
    let mut rng = Rng::new(72);
    let mut random = |paths: Vec<Vec<u8>>| {
        let numbers = paths.iter().map(|_| 2.0 * rng.uniform() - 1.0).collect();
        LoopAction::new(Paths::new(paths).unwrap(), numbers).unwrap()
    };
    let mut short = random_paths(7, 8, extents, 70);
    short.retain(|path| path.len() <= 8);
    let long = random_paths(11, 10, extents, 71);
    assert!(long.iter().any(|path| path.len() > 8));
    vec![
        ("one loop", LoopAction::one_loop_symanzik(6.0, 0.86, 2.0).unwrap()),
        ("short", random(short)),
        ("random", random(long)),
    ]
}

#[test]
fn loops_traces_match_the_reference() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let u = su3::haar_gauge::<3>(lat, 61);
            let list = random_paths(11, 12, extents, 62);
            let expected: Vec<C> = list.iter().map(|p| slow_trace(lat, &u, p)).collect();
            let paths = Paths::new(list).unwrap();
            let size = 3.0 * lat.volume() as f64;
            for precision in [Precision::F64, Precision::F32] {
                let field = links(&device, &geometry, &u, precision);
                let tol = 4.0 * tolerance(precision, 12.0 * 18.0);
                let found = paths::traces(&field, &paths).unwrap();
                for (k, (t, e)) in found.iter().zip(&expected).enumerate() {
                    let off = (t - e).norm() / size;
                    assert!(off < tol, "{extents:?} {precision:?} path {k}: {t}, {e}");
                }
                let line = polyakov_loop(&field, 3).unwrap();
                let off = (found.last().unwrap() / size - line).norm();
                assert!(off < tol, "{extents:?} {precision:?}: {line}");
            }
        }
    }
}

#[test]
fn loops_forces_are_derivatives_of_the_action() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let u = su3::smooth_gauge::<3>(lat, 0.6, 31);
            let v = coefficients(lat, 32);
            for (name, action) in actions(extents) {
                let field = links(&device, &geometry, &u, Precision::F64);
                let mut force =
                    LoopForce::new(&device, &geometry, Precision::F64, action.clone()).unwrap();
                let s = slow_action(lat, &u, &action);
                let found = force.action(&field).unwrap();
                let size: f64 = action.coefficients().iter().map(|c| c.abs()).sum();
                let off = (found - s).abs() / (size * lat.volume() as f64);
                assert!(off < 1e-13, "{name} {extents:?}: {found}, {s}");
                let mut p = Momenta::new(&device, &geometry, Precision::F64).unwrap();
                let report = force.kick(&field, &mut p, 1.0, -1.0).unwrap();
                let f = p.save_lex().unwrap();
                let sizes: Vec<f64> =
                    f.chunks(8).map(|l| l.iter().map(|v| v * v).sum::<f64>()).collect();
                let max = sizes.iter().copied().fold(0.0, f64::max).sqrt();
                let rms = (sizes.iter().sum::<f64>() / sizes.len() as f64).sqrt();
                assert!((report.max / max - 1.0).abs() < 1e-12, "{name}: {report:?}, {max}");
                assert!((report.rms / rms - 1.0).abs() < 1e-12, "{name}: {report:?}, {rms}");
                check_along(&format!("{name} {extents:?}"), &mut force, &u, &p, &v, 1e-3);
            }
        }
    }
}

/// The force of loops on single links is the derivative of the reference's action.
#[test]
fn loops_forces_of_single_links() {
    for device in devices() {
        let extents = over_ranks([2, 6, 4, 2]);
        let geometry = common::geometry(extents, &device);
        let lat = Lattice::new(extents);
        let mut u = su3::haar_gauge::<3>(lat, 33);
        for (name, action) in actions(extents) {
            let field = links(&device, &geometry, &u, Precision::F64);
            let mut force =
                LoopForce::new(&device, &geometry, Precision::F64, action.clone()).unwrap();
            let mut p = Momenta::new(&device, &geometry, Precision::F64).unwrap();
            let max = force.kick(&field, &mut p, 1.0, -1.0).unwrap().max;
            let f = p.save_lex().unwrap();
            for mu in 0..4 {
                let link = (mu * 7919 + 13) % lat.volume() * 4 + mu;
                for a in [mu, 7 - mu] {
                    let s = |u: &_| slow_action(lat, u, &action);
                    let d = slow::derivative(&mut u, link, a, 4e-3, &s);
                    let off = (f[8 * link + a] - d).abs() / max;
                    assert!(off < 1e-8, "{name}, direction {mu}, generator {a}: {off:e}");
                }
            }
        }
    }
}

#[test]
fn loops_of_plaquettes_and_rectangles_are_the_gauge_action() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let u = su3::haar_gauge::<3>(Lattice::new(extents), 51);
            let c = GaugeCoefficients::improved(2.6, -0.331).unwrap();
            let kinds = [
                (vec![0, 1, 7, 6], 2.6 * (1.0 + 8.0 * 0.331)),
                (vec![0, 0, 1, 7, 7, 6], -2.6 * 0.331),
            ];
            let action = LoopAction::symmetric(&kinds).unwrap();
            for precision in [Precision::F64, Precision::F32] {
                let field = links(&device, &geometry, &u, precision);
                let mut usual = GaugeForce::new(&device, &geometry, precision, c).unwrap();
                let mut loops =
                    LoopForce::new(&device, &geometry, precision, action.clone()).unwrap();
                let (a, b) = (usual.action(&field).unwrap(), loops.action(&field).unwrap());
                let tol = 16.0 * tolerance(precision, 18.0);
                assert!((a / b - 1.0).abs() < tol, "{extents:?} {precision:?}: {a}, {b}");
                let mut kicked = [0, 1].map(|_| {
                    let mut p = Momenta::new(&device, &geometry, precision).unwrap();
                    p.set_gaussian(3, 1).unwrap();
                    p
                });
                usual.kick(&field, &mut kicked[0], -0.5, 0.3).unwrap();
                loops.kick(&field, &mut kicked[1], -0.5, 0.3).unwrap();
                let [a, b] = kicked.map(|p| p.save_lex().unwrap());
                let off = common::distance(&a, &b);
                assert!(off < tol, "{extents:?} {precision:?}: {off:e}");
            }
        }
    }
}

#[test]
fn loops_are_gauge_invariant() {
    for device in devices() {
        let extents = over_ranks([2, 6, 4, 4]);
        let geometry = common::geometry(extents, &device);
        let lat = Lattice::new(extents);
        let u = su3::haar_gauge::<3>(lat, 81);
        let g = su3::random_transformation::<3>(lat, 82);
        let other = su3::transform(lat, &u, &g);
        let paths = Paths::new(random_paths(9, 16, extents, 83)).unwrap();
        let found = [&u, &other]
            .map(|u| paths::traces(&links(&device, &geometry, u, Precision::F64), &paths).unwrap());
        let size = 3.0 * lat.volume() as f64;
        for (a, b) in found[0].iter().zip(&found[1]) {
            assert!((a - b).norm() / size < 1e-13, "{a}, {b}");
        }
        // In the opposite sense a loop has the complex conjugate trace.
        let back = paths.iter().map(|p| p.iter().rev().map(|s| 7 - s).collect()).collect();
        let field = links(&device, &geometry, &u, Precision::F64);
        let back = paths::traces(&field, &Paths::new(back).unwrap()).unwrap();
        for (a, b) in found[0].iter().zip(back) {
            assert!((a.conj() - b).norm() / size < 1e-13, "{a}, {b}");
        }
    }
}

/// Staples that are added up path by path, as host programs with tables of paths list them, give the force of the
/// loops.
#[test]
fn loops_gathered_from_staples_make_the_force() {
    for device in devices() {
        let extents = over_ranks([4, 6, 4, 8]);
        let geometry = common::geometry(extents, &device);
        let u = su3::haar_gauge::<3>(Lattice::new(extents), 91);
        let action = LoopAction::one_loop_symanzik(6.0, 0.86, 0.0).unwrap();
        let (mut list, mut numbers) = (vec![], vec![]);
        for (path, c) in action.loops().iter().zip(action.coefficients()) {
            let back: Vec<u8> = path.iter().rev().map(|s| 7 - s).collect();
            for sense in [path.to_vec(), back] {
                for k in (0..sense.len()).filter(|&k| sense[k] < 4) {
                    let mut from = sense.clone();
                    from.rotate_left(k);
                    list.push(from);
                    numbers.push(*c);
                }
            }
        }
        let field = links(&device, &geometry, &u, Precision::F64);
        let mut w =
            MatrixField::new(&device, &geometry, Precision::F64, MatrixForm::General, 4).unwrap();
        let walker = PathProducts::new(&device, &geometry, Precision::F64, list.len()).unwrap();
        walker.gather(&field, &Paths::new(list).unwrap(), &numbers, &mut w).unwrap();
        let mut found = Momenta::new(&device, &geometry, Precision::F64).unwrap();
        // For S = -c / 3 Re tr the force is F_a = c / 3 Im tr T_a W.
        found.add_projection(0.0, 1.0 / 6.0, &w).unwrap();
        let mut expected = Momenta::new(&device, &geometry, Precision::F64).unwrap();
        let mut force = LoopForce::new(&device, &geometry, Precision::F64, action).unwrap();
        force.kick(&field, &mut expected, 0.0, -1.0).unwrap();
        let off = common::distance(&found.save_lex().unwrap(), &expected.save_lex().unwrap());
        assert!(off < 1e-13, "{off:e}");
    }
}

#[test]
fn images_are_counted_once() {
    let counts = [
        (&[0, 1, 7, 6][..], 6),
        (&[0, 0, 1, 7, 7, 6], 12),
        // Bent rectangles and loops around the three axes of a cube: classes of Luescher and Weisz.
        (&[0, 1, 2, 6, 7, 5], 48),
        (&[0, 1, 2, 7, 6, 5], 16),
        (&[3, 3, 3, 3], 4),
    ];
    for (path, count) in counts {
        let all = images(path);
        assert_eq!(all.len(), count, "{path:?}");
        assert!(all.iter().all(|p| p.len() == path.len()));
    }
    let loops = LoopAction::one_loop_symanzik(7.0, 0.9, 1.0).unwrap();
    let (n, log) = (loops.loops().len(), 0.9f64.ln());
    assert_eq!(n, 34);
    let expected = [7.0, -7.0 / (20.0 * 0.81) * (1.0 + 0.5482 * log), 7.0 / 0.81 * 0.02775 * log];
    for (k, e) in [(0, expected[0]), (6, expected[1]), (18, expected[2])] {
        assert!((loops.coefficients()[k] - e).abs() < 1e-14, "{k}");
    }
    assert!(loops.loops().iter().all(|p| displacement(p) == [0; 4]));
}

const TEXT: &str = r#"
length = 0.5
seed = 11
reversibility_every = 1

[[monomial]]
name = "one loop"
type = "gauge"
action = "one_loop_symanzik"
beta = 6.5
u0 = 0.87
flavours = 2

[[monomial]]
name = "chair"
type = "loops"
beta = 2.0
loops = [{ path = "x y z -y -x -z", coefficient = 0.01 }]

[[level]]
integrator = "omelyan2"
steps = 8
monomials = ["one loop", "chair"]
"#;

#[test]
fn loops_in_trajectories() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([4, 4, 4, 4]), &device);
        let start = || {
            let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            u.set_near_unit(9, 0.4).unwrap();
            u
        };
        let mut hmc = hmc_from_toml(&device, &geometry, Precision::F64, TEXT).unwrap();
        let mut u = start();
        let report = hmc.run(&mut u).unwrap();
        assert!(report.reversibility_links.unwrap() < 1e-12, "{report:?}");
        assert!(report.reversibility_hamiltonian.unwrap() < 1e-8, "{report:?}");
        // Twice the number of steps leaves a quarter of Delta H.
        let fine = TEXT.replace("steps = 8", "steps = 16");
        let mut hmc = hmc_from_toml(&device, &geometry, Precision::F64, &fine).unwrap();
        let better = hmc.run(&mut start()).unwrap();
        let ratio = report.delta_h / better.delta_h;
        println!("Delta H {:e} and {:e}", report.delta_h, better.delta_h);
        assert!((ratio - 4.0).abs() < 0.5, "{ratio}");
    }
}

#[test]
fn what_is_no_loop_is_refused() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), device);
    let u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    for bad in [vec![], vec![vec![]], vec![vec![0; 65]], vec![vec![8]], vec![vec![0, 7]; 4097]] {
        assert_eq!(Paths::new(bad).unwrap_err().status, Status::BadParameter);
    }
    let open = Paths::new(vec![vec![0, 1, 7, 7]]).unwrap();
    assert_eq!(paths::traces(&u, &open).unwrap_err().status, Status::BadParameter);
    let action = LoopAction::new(open.clone(), vec![1.0]).unwrap();
    assert!(LoopForce::new(device, &geometry, Precision::F64, action).is_err());
    assert!(LoopAction::new(open.clone(), vec![]).is_err());
    assert!(LoopAction::new(open, vec![f64::NAN]).is_err());
    for u0 in [0.0, 1.5, f64::NAN] {
        assert!(LoopAction::one_loop_symanzik(6.0, u0, 0.0).is_err());
    }
    for (from, to) in [
        ("x y z -y -x -z", "x y"),
        ("x y z -y -x -z", "x y w"),
        ("x y z -y -x -z", ""),
        ("flavours = 2", "anisotropy = 2"),
        ("one_loop_symanzik", "wilson"),
    ] {
        let text = TEXT.replace(from, to);
        let e = hmc_from_toml(device, &geometry, Precision::F64, &text).map(|_| ()).unwrap_err();
        assert!(matches!(e.status, Status::BadParameter | Status::InvalidArgument), "{to}: {e}");
    }
}
