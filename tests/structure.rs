//! Tests of operators between two propagators, three quarks and sequential sources against sums site by site.

use std::f64::consts::PI;

use plaq::backend::Device;
use plaq::compose::{DiracSolver, SolveParams};
use plaq::error::Status;
use plaq::fields::{blas, GaugeField, Precision, Recon, SpinorField, Subset};
use plaq::operators::{Boundary, DiracParams};
use plaq::ops::contract::{mesons, Sink};
use plaq::ops::gamma::Gamma as GammaName;
use plaq::ops::propagator::{propagator, COLUMNS};
use plaq::ops::source::Source;
use plaq::ops::structure::insertions::{conserved_current, insertions, Lines};
use plaq::ops::structure::lines::Factor;
use plaq::ops::structure::sequential::{
    through_baryon, through_meson, through_operator, Replaced, SliceWave,
};
use plaq::ops::structure::spin::Spin;
use plaq::ops::structure::three_quarks::{Pairing, ThreeQuarks};
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop};

use crate::common::{devices, over_ranks, ranks, tolerance, Lex};
use crate::reference::contract::{meson, wave};
use crate::reference::correlators::Propagator;
use crate::reference::gamma::Gamma;
use crate::reference::numbers::field_numbers;
use crate::reference::{spinor, structure, su3, Lattice, C};
use crate::setup::Setup;

fn columns(lat: Lattice, count: u64, seed: u64) -> Propagator {
    (0..count).map(|i| spinor::random(lat, seed + i)).collect()
}

/// Extents of one lattice that splits over SIMD lanes and one that does not.
fn lattices() -> [[usize; 4]; 2] {
    [[4, 2, 6, 4], [2, 4, 2, 8]].map(over_ranks)
}

fn factors(line: &[i32]) -> Vec<Factor> {
    line.iter().map(|&n| Factor::from_number(n).unwrap()).collect()
}

/// Checks that two arrays differ by at most `bound` times the largest magnitude.
fn close(found: &[C], wanted: &[C], bound: f64, what: &str) {
    // Errors are relative to the largest value, or to 1, since some lines of unit links are exactly 0.
    let top = wanted.iter().map(|z| z.norm()).fold(1.0, f64::max);
    for (t, (a, b)) in found.iter().zip(wanted).enumerate() {
        assert!((a - b).norm() <= bound * top, "{what} t={t}: {a} {b}");
    }
}

fn by_source(by_time: &[C], start: usize, across: C) -> Vec<C> {
    let times = by_time.len();
    let at =
        |t: usize| by_time[(start + t) % times] * if start + t < times { C::ONE } else { across };
    (0..times).map(at).collect()
}

const LINES: [&[i32]; 8] =
    [&[], &[2], &[2, 2], &[5, 5], &[0, 3, 3, 7], &[11], &[10, 9], &[8, 3, 11]];

#[test]
fn operators_along_lines_agree_with_their_definition() {
    let momenta = [[0, 0, 0], [1, -1, 2]];
    for extents in lattices() {
        let lat = Lattice::new(extents);
        let origin = [1, 0, 1, extents[3] - 1];
        let boundary = 0.7;
        for device in devices() {
            let setup = Setup::new(&device, extents, 0.6);
            let phased = structure::with_phase(lat, &setup.links, boundary);
            let unit = structure::with_phase(lat, &su3::unit_gauge(lat), boundary);
            let [back, forward] = [columns(lat, 2, 11), columns(lat, 2, 31)];
            for (precision, links) in [
                (Precision::F64, Some(&setup.gauge)),
                (Precision::F32, Some(&setup.gauge)),
                (Precision::F64, None),
            ] {
                let [b, f] = [&back, &forward].map(|c| setup.spinors(precision, Subset::Full, c));
                let lines = Lines {
                    back: &b,
                    forward: &f,
                    links,
                    boundary: [Boundary([0.0, 0.0, 0.0, boundary]); 2],
                    origin,
                };
                let operators: Vec<_> = LINES.iter().map(|line| factors(line)).collect();
                let found = insertions(lines, &operators, &momenta).unwrap();
                let u = if links.is_some() { &phased } else { &unit };
                let bound = tolerance(precision, 3000.0);
                let times = extents[3];
                for (l, line) in LINES.iter().enumerate() {
                    for (gamma, p) in [(0, 1), (6, 0), (15, 1), (9, 1)] {
                        let place = (momenta[p], origin);
                        let wanted =
                            structure::insertion(lat, u, [&back, &forward], (line, gamma), place);
                        let at = ((16 * l + gamma) * momenta.len() + p) * times;
                        let what = format!("{extents:?} {precision:?} {line:?} {gamma}");
                        close(
                            &found[at..at + times],
                            &by_source(&wanted, origin[3], C::ONE),
                            bound,
                            &what,
                        );
                    }
                }
                let found = conserved_current(lines, &momenta).unwrap();
                for (mu, p) in [(0, 1), (2, 0), (3, 0), (3, 1)] {
                    let wanted =
                        structure::current(lat, u, [&back, &forward], mu, (momenta[p], origin));
                    let at = (mu * momenta.len() + p) * times;
                    let what = format!("{extents:?} {precision:?} current {mu}");
                    close(
                        &found[at..at + times],
                        &by_source(&wanted, origin[3], C::ONE),
                        bound,
                        &what,
                    );
                }
            }
            // Paths with a step directly back are left out.
            let f = setup.spinors(Precision::F64, Subset::Full, &forward);
            let lines = Lines {
                back: &f,
                forward: &f,
                links: Some(&setup.gauge),
                boundary: [Boundary::PERIODIC; 2],
                origin,
            };
            let found =
                insertions(lines, &[factors(&[]), factors(&[1, 3, 4, 6])], &momenta).unwrap();
            let (local, around) = found.split_at(found.len() / 2);
            assert_eq!(local, around);
        }
    }
}

fn random_matrix(seed: u64) -> Gamma {
    let numbers = spinor::random(Lattice::new([2, 2, 2, 2]), seed);
    std::array::from_fn(|r| std::array::from_fn(|c| numbers[r][c][0]))
}

#[test]
fn three_quarks_and_their_sequential_sources_agree_with_the_definition() {
    let boundary = [1.0, 0.5, 0.4 / PI].map(|t| Boundary([0.0, 0.0, 0.0, t]));
    let across = -C::I * C::from_polar(1.0, 0.4);
    let momentum = [1, 0, -1];
    // With many ranks, each of which computes the slow reference, only the first lattice is tested.
    let all = [[2, 2, 2, 2], [2, 4, 2, 4]];
    let some = if ranks().size() == 1 { &all[..] } else { &all[..1] };
    for extents in some.iter().map(|&extents| over_ranks(extents)) {
        let lat = Lattice::new(extents);
        let origin = [1, 1, 0, extents[3] - 1];
        let sink_time = (origin[3] + 1) % extents[3];
        let quarks = [1, 40, 80].map(|seed| columns(lat, 12, seed));
        let other = columns(lat, 12, 200);
        let [sink, source, projector] = [5, 6, 7].map(random_matrix);
        let spins = [sink, source, projector].map(Spin);
        let setups: Vec<Setup> =
            devices().iter().map(|device| Setup::new(device, extents, 0.6)).collect();
        for (number, Pairing(to)) in Pairing::ALL.into_iter().enumerate() {
            let given = [&quarks[0], &quarks[1], &quarks[2]];
            let at = (momentum, origin);
            let reference = |given| structure::three_quarks(lat, given, to, [&sink, &source], at);
            let wanted = reference(given);
            // tr[P C] is linear in the propagator of each line: with `other` in place of one of them it is the scalar
            // product of that line's sequential source and `other`.
            let replaced = [0, 1, 2].map(|line| {
                let mut given = given;
                given[line] = &other;
                let m = reference(given)[sink_time];
                let trace: C = (0..16).map(|k| projector[k / 4][k % 4] * m[k % 4][k / 4]).sum();
                1.5 * trace * across
            });
            for (setup, precision) in setups
                .iter()
                .flat_map(|s| [Precision::F64, Precision::F32].map(|precision| (s, precision)))
            {
                let bound = tolerance(precision, 3000.0);
                let load = |c: &Propagator| setup.spinors(precision, Subset::Full, c);
                let fields = [0, 1, 2].map(|k| load(&quarks[k]));
                let quarks = [&fields[0], &fields[1], &fields[2]];
                let three = ThreeQuarks { quarks, origin, boundary };
                let momenta = [[0; 3], momentum];
                let pairing = [Pairing(to)];
                let found = three.pairings([spins[0], spins[1]], &pairing, &momenta).unwrap();
                for s in 0..16 {
                    let wanted: Vec<C> = wanted.iter().map(|m| m[s / 4][s % 4]).collect();
                    let found: Vec<C> = found[0][1].iter().map(|m| m[s]).collect();
                    let what = format!("{extents:?} {precision:?} {to:?} {s}");
                    close(&found, &by_source(&wanted, origin[3], across), bound, &what);
                }
                for (line, wanted) in replaced.iter().enumerate() {
                    let mut source = load(&other);
                    let term = Replaced { pairing: Pairing(to), line, weight: 1.5 };
                    let time = Some(sink_time);
                    let wave = SliceWave { time, momentum, origin, shift: [0.0; 4] };
                    through_baryon(&mut source, three, spins, &[term], (wave, true)).unwrap();
                    let found = product(setup, &source, &other);
                    let off = (found - wanted).norm();
                    assert!(off < bound * wanted.norm(), "{number} {line}: {found} {wanted}");
                }
            }
        }
    }
}

/// Computes the sum over columns of <gamma5 source, S>.
fn product(setup: &Setup, source: &SpinorField, s: &Propagator) -> C {
    let turned: Vec<_> = s.iter().map(spinor::apply_gamma5).collect();
    let turned = setup.spinors(source.precision(), Subset::Full, &turned);
    blas::dot(source, &turned).unwrap().iter().sum()
}

#[test]
fn sources_through_mesons_and_operators_agree_with_their_definition() {
    let extents = over_ranks([4, 2, 2, 4]);
    let lat = Lattice::new(extents);
    let (origin, momentum, boundary) = ([1, 1, 0, 2], [2, -1, 1], [0.0, 0.0, 0.0, 0.7]);
    let [antiquark, other] = [columns(lat, 12, 3), columns(lat, 12, 50)];
    let [a, b] = [5, 6].map(random_matrix);
    for device in devices() {
        let setup = Setup::new(&device, extents, 0.6);
        let u = structure::with_phase(lat, &setup.links, boundary[3]);
        for precision in [Precision::F64, Precision::F32] {
            let bound = tolerance(precision, 1000.0);
            let from = setup.spinors(precision, Subset::Full, &antiquark);
            let mut to = setup.spinors(precision, Subset::Full, &other);
            let wave_at = |time| SliceWave { time, momentum, origin, shift: [0.0; 4] };
            through_meson(&mut to, &from, [Spin(a), Spin(b)], wave_at(Some(1))).unwrap();
            let wanted = meson(lat, [&other, &antiquark], [&a, &b], (momentum, origin))[1];
            let found = product(&setup, &to, &other);
            assert!((found - wanted).norm() < bound * wanted.norm(), "{found} {wanted}");
            for (time, path) in [(None, vec![]), (Some(3), vec![3u8, 3, 5]), (None, vec![3, 0])] {
                let links = (!path.is_empty()).then_some(&setup.gauge);
                through_operator(&mut to, &from, Spin(a), wave_at(time), (links, &path, boundary))
                    .unwrap();
                for (k, field) in antiquark.iter().enumerate() {
                    let mut moved = field.clone();
                    for &step in path.iter().rev() {
                        let (mu, ahead) = if step < 4 { (step, true) } else { (7 - step, false) };
                        moved = structure::carried(lat, &u, &moved, mu.into(), ahead);
                    }
                    let wanted = (0..lat.volume()).map(|x| {
                        let here = time.is_none_or(|t| lat.coords(x)[3] == t);
                        let [px, py, pz] = momentum;
                        let w = if here { wave(lat, x, [px, py, pz, 0], origin) } else { C::ZERO };
                        let at = |s: usize, c: usize| -> C {
                            (0..4).map(|r| w * a[s][r] * moved[x][r][c]).sum()
                        };
                        std::array::from_fn(|s| std::array::from_fn(|c| at(s, c)))
                    });
                    let wanted: Vec<_> = wanted.collect();
                    let mut one = to.like_with(precision, 1).unwrap();
                    one.copy_rhs(0, &to, k, 1).unwrap();
                    let found = one.save_lex().unwrap();
                    let off = crate::common::distance(&found, &field_numbers(&wanted));
                    assert!(off < bound, "{time:?} {path:?}: {off:e}");
                }
            }
        }
    }
}

#[test]
fn momenta_of_hadrons_shift_by_the_sum_of_their_phases() {
    let shift = |quarks: &[[f64; 4]], antiquarks: &[[f64; 4]]| {
        let of = |all: &[[f64; 4]]| all.iter().map(|&b| Boundary(b)).collect::<Vec<_>>();
        Boundary::of_hadron(&of(quarks), &of(antiquarks)).momentum_shift()
    };
    let quark = [1.0 / 3.0, 2.0 / 3.0, 1.0, 1.0];
    assert_eq!(shift(&[quark], &[quark]), [0.0; 4]);
    // Sums of three are 1, 2 and 3 up to rounding.
    let [x, y, z, t] = shift(&[quark; 3], &[]);
    assert!((x - 1.0).abs() < 1e-15 && y == 0.0 && (z - 1.0).abs() < 1e-15 && t == 0.0);
    let [x, y, z, _] = shift(&[[0.75, -1.25, 2.5, 1.0]], &[[0.0, 0.0, 1.25, 0.0]]);
    assert_eq!([x, y, z], [0.75, 0.75, -0.75]);
}

/// Correlators of a source at `origin` on links that are moved by as much: of a meson and of three quarks with different
/// boundaries, and of operators that change the first quark into the third.
fn correlators_of_moved_links(device: &Device, extents: [usize; 4], origin: [usize; 4]) -> Vec<C> {
    let (lat, links) = (Lattice::new(extents), Setup::new(device, extents, 0.6).links);
    let from = |lex: usize| {
        let x = lat.coords(lex);
        lat.lex(std::array::from_fn(|mu| (x[mu] + extents[mu] - origin[mu]) % extents[mu]))
    };
    let shifted = (0..4 * lat.volume()).map(|k| links[4 * from(k / 4) + k % 4]);
    let moved = Setup::of(device, extents, shifted.collect());
    let boundary =
        [[0.3, 0.0, -0.7, 1.0], [0.9, 1.0, 0.0, 1.0], [0.0, 0.4, 0.6, 1.0]].map(Boundary);
    let solvers = boundary.map(|boundary| {
        let op = moved.wilson(DiracParams {
            mass: 0.6,
            boundary: boundary.phases(),
            ..Default::default()
        });
        let stop = Stop::at(1e-13);
        let solver = SolverParams { kind: SolverKind::BiCgStab, stop, ..Default::default() };
        DiracSolver::new(op, SolveParams { solver, ..Default::default() }).unwrap()
    });
    let fields = [0, 1, 2].map(|k| {
        propagator(&solvers[k], Source::point(origin), COLUMNS, &mut no_monitor).unwrap().0
    });
    let (times, mut all) = (extents[3], vec![]);
    for momentum in [[0; 3], [1, 0, -1]] {
        let together = Boundary::of_hadron(&boundary[..1], &boundary[1..2]);
        let sink = Sink { origin, momentum, boundary: together };
        let lines = mesons(&fields[0], &fields[1], sink).unwrap();
        GammaName::all().for_each(|gamma| all.extend(lines.correlator(gamma, gamma)));
        let quarks = ThreeQuarks { quarks: [&fields[0], &fields[1], &fields[2]], origin, boundary };
        let spins = [5, 6, 7].map(random_matrix).map(Spin);
        let pairing = Pairing::ALL[1];
        let found = quarks.pairings([spins[0], spins[1]], &[pairing], &[momentum]).unwrap();
        all.extend(found[0][0].iter().flatten());
        // Through the sink, two slices after the source, to operators with a momentum.
        let time = (origin[3] + 2) % times;
        let mut to = fields[0].like(Precision::F64).unwrap();
        let term = Replaced { pairing, line: 2, weight: 1.0 };
        let wave = SliceWave { time: Some(time), momentum, origin, shift: [0.0; 4] };
        through_baryon(&mut to, quarks, spins, &[term], (wave, time < origin[3])).unwrap();
        let mut back = to.like(Precision::F64).unwrap();
        assert!(solvers[2].solve(&mut back, &to, &mut no_monitor).unwrap().solver.converged);
        let (back, forward, links) = (&back, &fields[0], Some(&moved.gauge));
        let lines = Lines { back, forward, links, boundary: [boundary[0], boundary[2]], origin };
        let operators = [&[][..], &[1], &[5, 5]].map(factors);
        all.extend(insertions(lines, &operators, &[[0; 3], [0, 1, 1]]).unwrap());
    }
    all
}

/// Quarks whose phases in space do not cancel have shifted momenta, with which sums over sites project, so that these do
/// not depend on the place of the source.
#[test]
fn correlators_with_phases_in_space_do_not_depend_on_the_position() {
    let extents = over_ranks([4, 2, 4, 4]);
    for device in devices() {
        let wanted = correlators_of_moved_links(&device, extents, [0; 4]);
        let moved = correlators_of_moved_links(&device, extents, [3, 1, 2, 3]);
        // Correlators differ in size; each is compared with its own largest value.
        for (k, (a, b)) in wanted.chunks(extents[3]).zip(moved.chunks(extents[3])).enumerate() {
            let top = a.iter().map(|z| z.norm()).fold(0.0, f64::max);
            let off = a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            assert!(off < 1e-8 * top, "correlator {k}: {a:?} {b:?}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let extents = over_ranks([2, 2, 2, 4]);
    let lat = Lattice::new(extents);
    for device in devices() {
        let setup = Setup::new(&device, extents, 0.6);
        let field = |count| setup.spinors(Precision::F64, Subset::Full, &columns(lat, count, 1));
        let [one, two, whole] = [1, 2, 12].map(field);
        let lines = Lines {
            back: &one,
            forward: &one,
            links: Some(&setup.gauge),
            boundary: [Boundary::PERIODIC; 2],
            origin: [0; 4],
        };
        let refused = |lines, line: &[i32], status: Status, word: &str| {
            let error = insertions(lines, &[factors(line)], &[[0; 3]]).unwrap_err();
            assert!(error.status == status && error.to_string().contains(word), "{error}");
        };
        refused(Lines { back: &two, ..lines }, &[], Status::FieldMismatch, "back");
        refused(
            Lines { origin: [0, 0, 0, extents[3]], ..lines },
            &[],
            Status::InvalidArgument,
            "position",
        );
        let long = vec![2; extents[2] + 1];
        refused(lines, &long, Status::InvalidArgument, "longer");
        refused(lines, &[8, 8, 8, 8], Status::InvalidArgument, "derivatives");
        assert!(Factor::from_number(12).is_err());
        let one_spin = Spin::diagonal(C::ONE);
        let three = ThreeQuarks {
            quarks: [&whole, &one, &whole],
            origin: [0; 4],
            boundary: [Boundary::PERIODIC; 3],
        };
        let error = three.pairings([one_spin; 2], &Pairing::ALL, &[[0; 3]]).unwrap_err();
        assert!(error.to_string().contains("second"), "{error}");
        let su2 = GaugeField::new(&device, &setup.geometry, Precision::F64, Recon::Su2).unwrap();
        let links = std::sync::Arc::new(su2);
        refused(Lines { links: Some(&links), ..lines }, &[2], Status::Unsupported, "SU(3)");
    }
}
