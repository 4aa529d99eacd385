//! Tests of mesons with all Gammas and of baryons by name.

use std::sync::Arc;

use plaq::compose::{DiracSolver, SolveParams};
use plaq::error::Status;
use plaq::fields::{GaugeField, Precision, Recon, SpinorField};
use plaq::operators::{Boundary, DiracParams, Wilson};
use plaq::ops::contract::{baryon, mesons, Baryon, Closing, Projection, Sink};
use plaq::ops::gamma::Gamma;
use plaq::ops::propagator::{propagator, propagator_of, COLUMNS};
use plaq::ops::source::{Sequential, Source};
use plaq::ops::structure::spin::Projector;
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop};

use super::common::{self, devices, tolerance, Lex};
use super::reference::contract::{self, closed, gamma_of, vertices, Operator};
use super::reference::correlators::Propagator;
use super::reference::gamma::gammas;
use super::reference::matrix::{one, product};
use super::reference::{gamma, Lattice, C};
use super::{field, lattices, numbers, random_columns};

/// The largest possible |C| of correlators from columns of these norms, per time slice.
fn bounds(lat: Lattice, columns: &[&Propagator]) -> Vec<f64> {
    let mut out = vec![0.0; lat.extents[3]];
    for x in 0..lat.volume() {
        let norm = |s: &Propagator| {
            let n2: f64 = s.iter().flat_map(|c| c[x].iter().flatten()).map(|z| z.norm_sqr()).sum();
            n2.sqrt()
        };
        out[lat.coords(x)[3]] += columns.iter().map(|s| norm(s)).product::<f64>();
    }
    out
}

fn compare(found: &[C], wanted: &[C], bounds: &[f64], start: usize, bound: f64, what: &str) {
    for (t, z) in found.iter().enumerate() {
        let at = (start + t) % wanted.len();
        let off = (z - wanted[at]).norm() / bounds[at];
        assert!(off < bound, "{what} t={t}: {z} {} {off:e}", wanted[at]);
    }
}

#[test]
fn mesons_of_random_columns_agree_with_the_reference() {
    let pairs = (0..16).map(|g| (g, g)).chain([(15, 7), (3, 9), (8, 12), (1, 0), (6, 14)]);
    let pairs: Vec<(usize, usize)> = pairs.collect();
    for (k, extents) in lattices().into_iter().enumerate() {
        let lat = Lattice::new(extents);
        let origin = [1, 0, 1, extents[3] - 1];
        let momentum = if k % 2 == 0 { [1, -2, 3] } else { [0; 3] };
        for count in [12, 4] {
            let s = [random_columns(lat, count, 7), random_columns(lat, count, 300)];
            let top = bounds(lat, &[&s[0], &s[1]]);
            let sink = Sink::new(origin, momentum);
            let wanted: Vec<Vec<C>> = pairs
                .iter()
                .map(|&(a, b)| {
                    let gammas = [&gamma_of(a), &gamma_of(b)];
                    contract::meson(lat, [&s[0], &s[1]], gammas, (momentum, origin))
                })
                .collect();
            for device in devices() {
                for precision in Precision::ALL {
                    let load = |s: &Propagator| {
                        let mut f = field(&device, extents, precision, count as usize);
                        f.load_lex(&numbers(s)).unwrap();
                        f
                    };
                    let [a, b] = [load(&s[0]), load(&s[1])];
                    let found = mesons(&a, &b, sink).unwrap();
                    for (&(x, y), wanted) in pairs.iter().zip(&wanted) {
                        let gamma = |n: usize| Gamma::new(n as i32).unwrap();
                        let c = found.correlator(gamma(x), gamma(y));
                        let what = format!("{extents:?} {precision:?} {x} {y}");
                        compare(&c, wanted, &top, origin[3], tolerance(precision, 30.0), &what);
                    }
                }
            }
        }
    }
}

const U: usize = 0;
const D: usize = 1;
const S: usize = 2;
const R3: f64 = 0.577_350_269_189_625_8;
const R6: f64 = 0.408_248_290_463_863;

/// Baryons with their operators, and whether they belong to the decuplet.
const BARYONS: [(Baryon, Operator, bool); 8] = [
    (Baryon::Nucleon, &[(1.0, [U, D, U])], false),
    (Baryon::Sigma, &[(1.0, [U, S, U])], false),
    (Baryon::Xi, &[(1.0, [S, U, S])], false),
    (Baryon::Lambda, &[(2.0 * R6, [U, D, S]), (R6, [U, S, D]), (-R6, [D, S, U])], false),
    (Baryon::Delta, &[(1.0, [U, U, U])], true),
    (Baryon::SigmaStar, &[(2.0 * R3, [U, S, U]), (R3, [U, U, S])], true),
    (Baryon::XiStar, &[(2.0 * R3, [S, U, S]), (R3, [S, S, U])], true),
    (Baryon::Omega, &[(1.0, [S, S, S])], true),
];

#[test]
fn baryons_of_random_columns_agree_with_the_reference() {
    for (extents, momentum) in [([2, 6, 4, 2], [1, -1, 2]), ([2, 2, 4, 4], [0; 3])] {
        let extents = common::over_ranks(extents);
        let lat = Lattice::new(extents);
        let origin = [1, 0, 1, 1];
        let [light, strange] = [random_columns(lat, 12, 1), random_columns(lat, 12, 40)];
        let top = bounds(lat, &[&light, &light, &light]);
        let [nucleon, ref axes @ ..] = vertices();
        let gamma = gammas(gamma::Basis::DeGrandRossi);
        for (name, operator, decuplet) in BARYONS {
            let reference = |vertices| {
                let quarks = [&light, &light, &strange];
                contract::baryon(lat, quarks, operator, vertices, (momentum, origin))
            };
            let sum = |all: Vec<(f64, Vec<C>)>| -> Vec<C> {
                let at = |t: usize| all.iter().map(|(w, c)| *w * c[t]).sum();
                (0..extents[3]).map(at).collect()
            };
            for (parity, projection) in [(1, Projection::Trace), (-1, Projection::ThreeHalves)] {
                let three_halves = projection == Projection::ThreeHalves;
                if three_halves && (!decuplet || momentum != [0; 3]) {
                    continue;
                }
                let mut parts = Vec::new();
                if !decuplet {
                    let all = reference([&nucleon, &nucleon]);
                    parts.push((1.0, closed(&all, f64::from(parity), &one())));
                } else {
                    for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                        if i != j && !three_halves {
                            continue;
                        }
                        let all = reference([&axes[j], &axes[i]]);
                        let mut add = |weight: f64, e| {
                            parts.push((weight / 3.0, closed(&all, f64::from(parity), &e)));
                        };
                        if i == j {
                            add(1.0, one());
                        }
                        if three_halves {
                            add(-1.0 / 3.0, product(&[&gamma[i], &gamma[j]]));
                        }
                    }
                }
                let wanted = sum(parts);
                for device in devices() {
                    for precision in Precision::ALL {
                        let load = |s: &Propagator| {
                            let mut f = field(&device, extents, precision, 12);
                            f.load_lex(&numbers(s)).unwrap();
                            f
                        };
                        let [l, s] = [load(&light), load(&strange)];
                        let projector = Projector::Unpolarised;
                        let boundary = [Boundary::PERIODIC; 2];
                        let closing = Closing { parity, projector, projection, boundary };
                        let found =
                            baryon(name, &l, Some(&s), (origin, momentum), closing).unwrap();
                        let what = format!("{extents:?} {precision:?} {name:?} {projection:?}");
                        compare(
                            &found,
                            &wanted,
                            &top,
                            origin[3],
                            tolerance(precision, 60.0),
                            &what,
                        );
                        // Over an antiperiodic boundary the product of three quarks changes its sign.
                        let closing = Closing { boundary: [Boundary::ANTIPERIODIC; 2], ..closing };
                        let anti = baryon(name, &l, Some(&s), (origin, momentum), closing).unwrap();
                        for (t, (a, b)) in found.iter().zip(&anti).enumerate() {
                            let over = origin[3] + t >= extents[3];
                            assert_eq!(*a, if over { -b } else { *b });
                        }
                    }
                }
            }
        }
    }
}

/// A solver for quarks of this mass on links near the unit matrix.
fn solver(device: &plaq::backend::Device, extents: [usize; 4], mass: f64) -> DiracSolver {
    let geometry = common::geometry(extents, device);
    let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(3, 0.1).unwrap();
    let dirac = DiracParams { mass, ..Default::default() };
    let op = Arc::new(Wilson::new(Arc::new(u), dirac).unwrap());
    let kind = SolverKind::BiCgStab;
    let solver = SolverParams { kind, stop: Stop::at(1e-13), ..Default::default() };
    DiracSolver::new(op, SolveParams { solver, ..Default::default() }).unwrap()
}

fn quark(solver: &DiracSolver, origin: [usize; 4]) -> SpinorField {
    let (x, report) = propagator(solver, Source::point(origin), COLUMNS, &mut no_monitor).unwrap();
    assert!(report.solver.converged);
    x
}

/// Correlators of each flavour multiplet are equal if all quarks have one mass. Diagonal correlators of smooth links
/// are positive. With two masses, correlators of heavier hadrons are smaller; this holds for the charge density,
/// which vanishes at zero temperature for equal masses, only because this lattice is short. Results are the same on
/// any number of ranks.
#[test]
fn multiplets_and_signs() {
    let extents = [4, 4, 4, 8];
    let origin = [1, 2, 3, 5];
    for device in devices() {
        let light = quark(&solver(&device, extents, 0.5), origin);
        let heavy = quark(&solver(&device, extents, 0.8), origin);
        let sink = Sink::new(origin, [0; 3]);
        let of = |name, strange: &SpinorField| -> Vec<f64> {
            let closed = Closing::plain(Boundary::ANTIPERIODIC);
            let all = baryon(name, &light, Some(strange), (origin, [0; 3]), closed).unwrap();
            all.iter().map(|z| z.re).collect()
        };
        let same = |a: Baryon, b: Baryon| {
            for (t, (x, y)) in of(a, &light).iter().zip(of(b, &light)).enumerate() {
                assert!((x - y).abs() < 1e-11 * x.abs(), "{a:?} {b:?} t={t}: {x:e} {y:e}");
            }
        };
        for b in [Baryon::Sigma, Baryon::Xi, Baryon::Lambda] {
            same(Baryon::Nucleon, b);
        }
        for b in [Baryon::SigmaStar, Baryon::XiStar, Baryon::Omega] {
            same(Baryon::Delta, b);
        }
        for name in Baryon::ALL {
            let (all, split) = (of(name, &light), of(name, &heavy));
            for t in 1..extents[3] / 2 {
                assert!(all[t] > 0.0, "{name:?} t={t}: {:e}", all[t]);
                let strange = !matches!(name, Baryon::Nucleon | Baryon::Delta);
                assert!(!strange || split[t] < all[t], "{name:?} t={t}");
            }
        }
        let [ll, lh] = [&light, &heavy].map(|other| mesons(&light, other, sink).unwrap());
        for g in Gamma::all() {
            let (a, b) = (ll.correlator(g, g), lh.correlator(g, g));
            for t in 1..extents[3] {
                assert!(a[t].re > 0.0, "{g:?} t={t}: {:e}", a[t].re);
                assert!(a[t].im.abs() < 1e-2 * a[t].re, "{g:?} t={t}: {:e}", a[t]);
                assert!(b[t].re < a[t].re, "{g:?} t={t}: {:e} {:e}", b[t].re, a[t].re);
            }
        }
    }
}

/// A second solve with all of a propagator as source gives minus its derivative by the mass: d D^-1 / dm = -D^-1
/// D^-1.
#[test]
fn a_sequential_propagator_is_the_derivative_by_the_mass() {
    let extents = common::over_ranks([4, 4, 2, 6]);
    let device = devices().remove(0);
    let (mass, step) = (0.5, 1e-4);
    let at = |m| solver(&device, extents, m);
    // In kappa normalisation M = 2 kappa D, so that solutions carry a factor (2 kappa)^-1 = m + 4.
    let columns = |m: f64| quark(&at(m), [1, 0, 1, 2]).save_lex().unwrap();
    let s = quark(&at(mass), [1, 0, 1, 2]);
    let all = Sequential { time: None, gamma: Gamma::ONE, momentum: [0; 3], origin: [0; 3] };
    let mut b = s.like(Precision::F64).unwrap();
    all.set(&mut b, &s).unwrap();
    let (second, report) = propagator_of(&at(mass), &b, 5, &mut no_monitor).unwrap();
    assert!(report.solver.converged && report.solver.residual.len() == 12);
    let found = second.save_lex().unwrap();
    let scale = 1.0 / (mass + 4.0);
    let (up, down) = (columns(mass + step), columns(mass - step));
    let top = found.iter().fold(0.0f64, |m, x| m.max(x.abs())) * scale * scale;
    for ((x, u), d) in found.iter().zip(&up).zip(&down) {
        let derivative = (u / (mass + step + 4.0) - d / (mass - step + 4.0)) / (2.0 * step);
        // The error of the difference is of second order in the step.
        assert!((x * scale * scale + derivative).abs() < 1e-6 * top, "{x} {derivative}");
    }
}

#[test]
fn refusals_name_what_is_wrong() {
    let device = devices().remove(0);
    let extents = common::over_ranks([4; 4]);
    let f = field(&device, extents, Precision::F32, 12);
    let five = field(&device, extents, Precision::F32, 5);
    let sink = Sink::at_rest(0);
    let late = Sink::at_rest(extents[3]);
    let (argument, mismatch) = (Status::InvalidArgument, Status::FieldMismatch);
    assert_eq!(mesons(&f, &f, late).unwrap_err().status, argument);
    assert_eq!(mesons(&five, &five, sink).unwrap_err().status, mismatch);
    assert_eq!(mesons(&f, &five, sink).unwrap_err().status, mismatch);
    let run = |name, strange: Option<&SpinorField>, sink: Sink, parity, projection| {
        let closed = Closing { parity, projection, ..Closing::plain(Boundary::PERIODIC) };
        baryon(name, &f, strange, (sink.origin, sink.momentum), closed).unwrap_err()
    };
    let trace = Projection::Trace;
    assert_eq!(run(Baryon::Nucleon, None, late, 1, trace).status, argument);
    let e = run(Baryon::Nucleon, None, sink, 0, trace);
    assert!(e.status == argument && e.message().contains("parity"), "{e}");
    let e = run(Baryon::Sigma, None, sink, 1, trace);
    assert!(e.status == argument && e.message().contains("strange"), "{e}");
    assert_eq!(run(Baryon::Sigma, Some(&five), sink, 1, trace).status, mismatch);
    let halves = Projection::ThreeHalves;
    assert_eq!(run(Baryon::Nucleon, None, sink, 1, halves).status, argument);
    let moving = Sink { momentum: [1, 0, 0], ..sink };
    assert_eq!(run(Baryon::Delta, None, moving, 1, halves).status, argument);
}
